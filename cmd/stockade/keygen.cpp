// stockade keygen: a new key, readable by nobody else, and of an RSA key the public half.
#include <fmt/format.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "command_line.h"
#include "exit_status.h"
#include "handles.h"
#include "keyring_input.h"
#include "output_file.h"
#include "passphrase.h"
#include "secret_bytes.h"
#include "stockade/stockade.h"
#include "ui.h"
#include "values.h"
#include "verbs.h"

namespace stockade::cmd {
namespace {

struct KeygenLine {
  bool symmetric = false, force = false, quiet = false;
  std::optional<std::string> rsa_bits, output;
  PassphraseOptions passphrase;
};

constexpr size_t key_length = 32;

void check(stockade_status status) {
  if (status == STOCKADE_ERROR_UNKNOWN_NAME || status == STOCKADE_ERROR_UNAVAILABLE) throw environment_failure(status);
  if (status != STOCKADE_OK) throw Failure(exit_for(status), stockade_status_text(status));
}

void write_key(OutputFile& output, const SecretBytes& text) {
  write_all(output.fd(), text.data(), text.size(), output.name());
}

// "key.pub.pem" for "key.pem", and for "key".
std::string public_name(std::string name) {
  constexpr std::string_view suffix = ".pem";
  if (name.ends_with(suffix)) name.resize(name.size() - suffix.size());
  return name + ".pub.pem";
}

// Returns the key's id.
std::string write_rsa_key(const KeygenLine& line, const stockade_rsa_key* key, const Passphrase& passphrase,
                          OutputFile& private_file, OutputFile& public_file) {
  auto made = std::make_unique<SecretBytes>(stockade_rsa_key_file_bound(key));
  SecretBytes& text = *made;
  uint64_t length = 0;
  check(stockade_rsa_key_write_private(key, line.passphrase.given() ? passphrase.data() : nullptr, passphrase.size(),
                                       text.data(), text.capacity(), &length));
  text.resize(length);
  write_key(private_file, text);
  check(stockade_rsa_key_write_public(key, text.data(), text.capacity(), &length));
  text.resize(length);
  write_key(public_file, text);
  return read_rsa_id({public_file.name(), std::move(made)});
}

void make_rsa_key(const KeygenLine& line) {
  const auto bits = static_cast<uint32_t>(parse_number("--rsa", *line.rsa_bits, 2048, 16384));
  if (bits % 2 != 0) throw Failure(Exit::usage, "--rsa: the number of bits must be even");
  if (!line.output || *line.output == "-") {
    throw Failure(Exit::usage, "an RSA key is written to two files", {"name that of the private key with -o KEY"});
  }
  // What cannot be written is known before a key is made.
  OutputFile private_file({.path = *line.output, .force = line.force, .mode = 0600, .text = true});
  const std::string name = public_name(*line.output);
  OutputFile public_file({.path = name, .force = line.force, .text = true});
  Passphrase passphrase;
  if (line.passphrase.given()) line.passphrase.read(Purpose::encrypt, "passphrase of the key", false, passphrase);
  stockade_rsa_key* made = nullptr;
  check(stockade_rsa_key_generate(&made, bits, 0, nullptr));
  const RsaKeyHandle key(made);
  const std::string id = write_rsa_key(line, key.get(), passphrase, private_file, public_file);
  private_file.commit();
  public_file.commit();
  ui::notice(fmt::format("RSA key {}, public half in '{}'", id, name));
}

void make_symmetric_key(const KeygenLine& line) {
  SecretBytes key, text;
  key.resize(key_length);
  if (stockade_random(key.data(), key_length) != STOCKADE_OK) {
    throw Failure(Exit::io, "the system gives no random numbers");
  }
  char id[12];
  if (const auto status = stockade_key_id(key.data(), key_length, id); status != STOCKADE_OK) {
    throw Failure(exit_for(status), stockade_status_text(status));
  }
  encode_hex({key.data(), key.size()}, text.data());
  text.resize(2 * key.size());
  text.data()[text.size()] = '\n';
  text.resize(text.size() + 1);
  OutputFile output({.path = line.output.value_or(""), .force = line.force, .mode = 0600, .text = true});
  write_key(output, text);
  output.commit();
  ui::notice(fmt::format("key {}", id));
}

void run_keygen(const KeygenLine& line) {
  ui::set_verbosity(line.quiet, false);
  if (line.symmetric && line.rsa_bits) throw Failure(Exit::usage, "--symmetric and --rsa exclude each other");
  if (line.rsa_bits) return make_rsa_key(line);
  if (!line.symmetric) {
    throw Failure(Exit::usage, "what kind of key is to be made is missing",
                  {"--symmetric makes a key of 32 bytes", "--rsa 3072 makes an RSA key of so many bits"});
  }
  if (line.passphrase.given()) throw Failure(Exit::usage, "a passphrase is for the key file of --rsa only");
  make_symmetric_key(line);
}

}  // namespace

void add_keygen(Command& root) {
  root.add("keygen", "(--symmetric [-o KEY] | --rsa BITS -o KEY) [-f]", "Makes a key.")
      .when_named([](Command& command) {
        const auto line = std::make_shared<KeygenLine>();
        command.flag("options", "--symmetric", line->symmetric,
                     "a key of 32 random bytes: whoever has it can encrypt and decrypt");
        command.option(
            "options", "--rsa", "BITS", line->rsa_bits,
            "an RSA key of 2048 to 16384 bits: whoever has its public half can encrypt for it, or verify its "
            "signatures");
        command.option("options", "-o,--output", "KEY", line->output,
                       "the file to write, readable by you alone; - or nothing is standard output");
        command.flag("options", "-f,--force", line->force,
                     "replace an existing file: what it opened stays shut for ever");
        line->passphrase.declare(command, "protection of an RSA key's file", Purpose::encrypt);
        command.flag("other options", "-q,--quiet", line->quiet, "say nothing but errors");
        command.footer(
            fmt::format(R"(The file holds a symmetric key as 64 hex digits. An RSA key is in PKCS#8 (PEM), and its
public half stands beside it: that of key.pem is key.pub.pem. The note on standard
error is the key's id, the name by which files that are encrypted for it call it; it
is no secret.
Keep a copy of the key where the files are not: without it they are lost.

examples:
  stockade keygen --symmetric -o backup.key
  stockade encrypt -k backup.key disk.img
  stockade keygen --rsa 3072 -p -o alice.pem
  stockade encrypt -r alice.pub.pem report.pdf

{})",
                        exit_status_help));
        command.action([line] { run_keygen(*line); });
      });
}

}  // namespace stockade::cmd
