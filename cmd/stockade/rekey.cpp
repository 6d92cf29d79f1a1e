// stockade rekey: other recipients for a Stockade file, by a new header alone.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "command_line.h"
#include "exit_status.h"
#include "file_failure.h"
#include "file_head.h"
#include "input_file.h"
#include "interrupt.h"
#include "keyring_input.h"
#include "output_file.h"
#include "rekey_target.h"
#include "stockade/stockade.h"
#include "ui.h"
#include "values.h"
#include "verbs.h"

namespace stockade::cmd {
namespace {

struct RekeyLine {
  KeyOptions keys;
  std::vector<std::string> add, add_recipients, add_recipients_files, remove, files;
  PassphraseOptions add_passphrase;
  std::optional<std::string> work_factor;
  bool restore = false, quiet = false, verbose = false;
};

struct Change {
  Recipients add;
  std::vector<std::string> remove;  // ids, and "scrypt"
};

constexpr size_t id_length = 11, rsa_id_length = 22;
// No symmetric key's file is longer, and no RSA key's shorter.
constexpr off_t longest_symmetric_file = 128;
// No header is longer.
constexpr size_t most_header_bytes = 1 << 20;

[[noreturn]] void refuse(std::string message, std::vector<std::string> hints = {}) {
  throw Failure(Exit::usage, std::move(message), std::move(hints));
}

// As headers call it.
// Whether it is what `inspect` shows of a key: 8 or 16 bytes in base64, without padding.
bool is_id(std::string_view text) {
  constexpr std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  if (text.size() != id_length && text.size() != rsa_id_length) return false;
  if (text.find_first_not_of(digits) != std::string_view::npos) return false;
  const size_t unused_bits = text.size() == id_length ? 2 : 4;
  return digits.find(text.back()) % (size_t{1} << unused_bits) == 0;
}

std::string removal_id(const std::string& text) {
  if (text == "passphrase") return "scrypt";
  struct stat found {};
  const bool exists = stat(text.c_str(), &found) == 0;
  if (is_id(text)) {
    // A file with such a name could otherwise decide who is removed.
    if (exists) {
      refuse(fmt::format("--remove: '{}' has the form of an id, and a file of that name exists", text),
             {fmt::format("name the file as ./{}, or work in another folder", text)});
    }
    return text;
  }
  if (exists || text == "-") {
    if (S_ISREG(found.st_mode) && found.st_size > longest_symmetric_file) return read_rsa_id(text);
    SecretBytes key;
    return read_key(text, key);
  }
  if (text.starts_with("ssh-rsa ")) return read_rsa_id(text);
  refuse(fmt::format("--remove: '{}' is neither a key file nor the id of a key nor 'passphrase'", text),
         {"'stockade inspect FILE' lists the ids"});
}

Change read_change(const RekeyLine& line) {
  const bool adds = !line.add.empty() || !line.add_recipients.empty() || !line.add_recipients_files.empty();
  const bool changes = adds || !line.remove.empty() || line.add_passphrase.given();
  if (changes && line.restore) refuse("--restore changes no recipients", {"leave it out, or leave the changes out"});
  if (!changes && !line.restore) {
    refuse("nothing to change", {"--add KEY, --add-recipient PUB and --remove KEY say what is to be done"});
  }
  const uint32_t work_factor = parse_work_factor("--work-factor", line.work_factor);
  if (work_factor != 0 && !line.add_passphrase.given()) refuse("--work-factor applies to a new passphrase only");
  Change change;
  for (const std::string& text : line.remove) change.remove.push_back(removal_id(text));
  for (const std::string& path : line.add) change.add.add_key_file(path);
  for (const std::string& source : line.add_recipients) change.add.add_rsa(source);
  for (const std::string& path : line.add_recipients_files) change.add.add_rsa_file(path);
  if (line.add_passphrase.given()) {
    Passphrase passphrase;
    line.add_passphrase.read(Purpose::encrypt, "new passphrase", line.keys.no_input, passphrase);
    change.add.add_passphrase(passphrase, work_factor);
  }
  return change;
}

Failure rekey_failure(const stockade_fault& fault, const FileContext& context, const Recipients& added) {
  std::vector<std::string> present;
  bool has_added = false;
  for (const Recipient& recipient : context.head->recipients()) {
    present.push_back(recipient.text());
    has_added = has_added || added.has_key(recipient.id);
  }
  switch (fault.status) {
    case STOCKADE_ERROR_UNKNOWN_NAME:
      return {Exit::usage,
              fmt::format("{} is not for what --remove names", context.input),
              {"it is for " + listed(present)}};
    case STOCKADE_ERROR_ARGUMENT:
      return {Exit::usage,
              has_added ? context.input + " is for the added key already"
                        : fmt::format("nobody could open {} any more", context.input),
              {"it is for " + listed(present)}};
    case STOCKADE_ERROR_SCRYPT_NOT_ALONE:
      return {Exit::usage,
              fmt::format("{} would have a passphrase beside another recipient", context.input),
              {"a file that opens with a passphrase opens with nothing else; remove the others"}};
    default:
      return file_failure(fault, errno, context);
  }
}

class Rekey {
 public:
  explicit Rekey(const RekeyLine& line) : change_(read_change(line)), identities_(line.keys), restore_(line.restore) {}

  void one(const std::string& path) {
    RekeyTarget target(path);
    target.check_kind();
    if (const auto copy = target.read_copy()) {
      settle(target, *copy);
    } else if (restore_) {
      ui::notice(fmt::format("{}: no interrupted rekey has left anything to restore", target.name()));
    }
    if (restore_) return;
    const std::vector<uint8_t> renewed = renew(target);
    if (renewed.size() == target.header().size()) {
      target.replace_header(renewed);
      ui::note(fmt::format("{}: the header was replaced in place", target.name()));
    } else {
      target.copy_with_header(renewed);
      ui::note(fmt::format("{}: copied, for the header has {} bytes now", target.name(), renewed.size()));
    }
  }

 private:
  // After an interruption the file has its old header, its new one, or parts of both; the old one is saved too, or a part
  // of it where the file was not touched yet. The copy decides nothing before it is proved to be of this file, and the new
  // header may be the only one that somebody has a key for, so nothing is given up before it is certain which it is.
  void settle(RekeyTarget& target, const std::vector<uint8_t>& copy) {
    switch (remedy(target, copy)) {
      case STOCKADE_REMEDY_KEEP:
        target.remove_copy();
        return ui::notice(fmt::format("{}: an earlier rekey was interrupted; the header is whole", target.name()));
      case STOCKADE_REMEDY_CHOOSE:
        if (!restore_) refuse_unopened(target);
        [[fallthrough]];
      case STOCKADE_REMEDY_RESTORE:
        target.restore_header(copy);
        return ui::notice(fmt::format("{}: an earlier rekey was interrupted; its old header is back", target.name()));
      case STOCKADE_REMEDY_FOREIGN:
        break;
    }
    throw Failure(
        Exit::io,
        fmt::format("'{}', left by an interrupted rekey, is not of {} as it is now", target.copy_name(), target.name()),
        {"remove it if the file opens with its keys"});
  }

  [[noreturn]] static void refuse_unopened(const RekeyTarget& target) {
    throw Failure(
        Exit::no_key,
        fmt::format("an earlier rekey of {} was interrupted, and what was given does not open the header that it has "
                    "now; the old one is in '{}'",
                    target.name(), target.copy_name()),
        {"give a key or passphrase for which the file was to be rekeyed",
         "if there is none, 'stockade rekey --restore' with a key of the old header puts that back"});
  }

  stockade_remedy remedy(RekeyTarget& target, const std::vector<uint8_t>& copy) {
    const std::vector<uint8_t> front = target.read_front(most_header_bytes + STOCKADE_PREAMBLE_BYTES);
    FileHead head = parse_head(front);
    // For the passphrase that may have to be asked for.
    if (head.status != STOCKADE_OK) head = parse_head(copy);
    stockade_remedy found = STOCKADE_REMEDY_FOREIGN;
    stockade_fault fault{};
    fault.status = stockade_header_remedy(front.data(), front.size(), copy.data(), copy.size(),
                                          identities_.keyring_for(head, target.name()), identities_.max_work_factor(),
                                          &found, &fault);
    if (fault.status == STOCKADE_OK) return found;
    if (fault.status == STOCKADE_ERROR_NO_IDENTITY || fault.status == STOCKADE_ERROR_PASSPHRASE) {
      refuse_unopened(target);
    }
    throw file_failure(fault, 0, {STOCKADE_DECRYPT, target.name(), "", &head, identities_.key_ids()});
  }

  std::vector<uint8_t> renew(RekeyTarget& target) {
    const FileHead& head = target.read_header();
    const FileContext context{STOCKADE_DECRYPT, target.name(), target.name(), &head, identities_.key_ids()};
    std::vector<const char*> remove;
    for (const std::string& id : change_.remove) remove.push_back(id.c_str());
    std::vector<uint8_t> renewed(most_header_bytes);
    uint64_t length = 0;
    stockade_fault fault{};
    fault.status = stockade_header_rekey(
        target.header().data(), target.header().size(), identities_.keyring_for(head, target.name()),
        identities_.max_work_factor(), remove.data(), static_cast<uint32_t>(remove.size()),
        change_.add.empty() ? nullptr : change_.add.get(), renewed.data(), renewed.size(), &length, &fault);
    if (fault.status != STOCKADE_OK) throw rekey_failure(fault, context, change_.add);
    renewed.resize(length);
    return renewed;
  }

  Change change_;
  Identities identities_;
  bool restore_;
};

void run_rekey(const RekeyLine& line) {
  ui::set_verbosity(line.quiet, line.verbose);
  if (line.files.empty()) refuse("a file is missing");
  Rekey rekey(line);
  if (line.files.size() == 1) return rekey.one(line.files[0]);
  size_t failed = 0;
  Exit gravest = Exit::ok;
  for (const std::string& path : line.files) {
    if (interrupt::requested()) throw Failure(Exit::interrupted, interrupt::message);
    try {
      rekey.one(path);
    } catch (const Failure& failure) {
      gravest = graver(gravest, failure.exit);
      ++failed;
      ui::error(failure.message);
      for (const std::string& hint : failure.hints) ui::hint(hint);
    }
  }
  if (failed > 0) throw Failure(gravest, fmt::format("{} of {} files failed", failed, line.files.size()));
}

constexpr char help_text[] = R"(rekey does not revoke: the key that the payload is encrypted with stays the same, and
whoever could open the file before may have kept it, or a copy of the old file. To
shut somebody out for certain, decrypt the file and encrypt it anew.

Only the header is written. If the new one fits into the old one's place, that
happens in place, and .FILE.stockade-header beside the file keeps the old header
until the new one is on the disk; should rekey be interrupted, the next one puts
it back first, and rekey --restore does nothing else. The copy counts only if it is a
file of yours alone and the given key or passphrase proves that it is of this file. Else the file is copied. The work takes the same time for a file of
any size in the first case.

examples:
  stockade rekey -k old.key --add new.key --remove old.key disk.img.stk
  stockade rekey -k my.key --remove BvMCBRzzCno /mnt/usb/*.stk
  stockade rekey -p --remove passphrase --add my.key letter.stk
  stockade rekey -k my.key --restore disk.img.stk
  stockade rekey -i alice.pem --add-recipient bob.pub.pem reports.tar.stk
)";

}  // namespace

void add_rekey(Command& root) {
  root.add("rekey", "(-k KEY ... | -i PRIV ... | -p) [--add KEY] [--add-recipient PUB] [--remove KEY] FILE ...",
           "Changes who can open Stockade files, without encrypting them anew.")
      .when_named([](Command& command) {
        const auto line = std::make_shared<RekeyLine>();
        line->keys.declare(command, Purpose::decrypt);
        command.options("changes", "--add", "KEY", line->add, "add the key in this file; may be repeated");
        command.options("changes", "--add-recipient", "PUB", line->add_recipients,
                        "add the RSA public key in this file: PEM or DER, a certificate, or an ssh-rsa line; may be "
                        "repeated");
        command.options("changes", "--add-recipients-file", "FILE", line->add_recipients_files,
                        "add all RSA public keys in this file");
        line->add_passphrase.declare_addition(command, "changes");
        command.option("changes", "--work-factor", "N", line->work_factor,
                       "of an added passphrase: log2 of scrypt's cost, 1 to 30; default 17");
        command.options("changes", "--remove", "KEY", line->remove,
                        "remove a key, by its file (of an RSA key the public half will do) or its id, or the word "
                        "passphrase; may be repeated");
        command.flag("changes", "--restore", line->restore,
                     "change nothing, but finish what an interrupted rekey has left");
        command.operands("files", "FILE", line->files, "the files to change");
        command.flag("other options", "-q,--quiet", line->quiet, "say nothing but errors");
        command.flag("other options", "-v,--verbose", line->verbose, "say how it was done");
        command.footer(fmt::format("{}\n{}", help_text, exit_status_help));
        command.action([line] { run_rekey(*line); });
      });
}

}  // namespace stockade::cmd
