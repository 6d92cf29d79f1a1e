// stockade rsa: signatures and small messages under an RSA key, as other software reads and writes them; one, or many in
// one batch.
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "command_line.h"
#include "exit_status.h"
#include "handles.h"
#include "input_file.h"
#include "interrupt.h"
#include "kept_files.h"
#include "output_file.h"
#include "passphrase.h"
#include "rsa_key_input.h"
#include "run_options.h"
#include "secret_bytes.h"
#include "stockade/stockade.h"
#include "ui.h"
#include "values.h"
#include "verbs.h"

namespace stockade::cmd {
namespace {

enum class Operation { sign, verify, encrypt, decrypt };

// The command line as it was written; absent where it was not.
struct RsaLine {
  Operation operation = Operation::sign;
  std::optional<std::string> key, padding, hash, salt_length, signature, label, batch, input, output;
  PassphraseOptions passphrase;
  RunOptions run;  // of which only the threads can be named
  bool no_input = false, legacy = false, force = false, quiet = false;

  bool is_private() const { return operation == Operation::sign || operation == Operation::decrypt; }
  bool is_signature() const { return operation == Operation::sign || operation == Operation::verify; }
};

struct Job {
  std::string where;  // for messages
  std::unique_ptr<SecretBytes> in, signature, out;
};

constexpr size_t most_key_bytes = 2048, most_digest_bytes = 64;

[[noreturn]] void refuse(std::string message, std::vector<std::string> hints = {}) {
  throw Failure(Exit::usage, std::move(message), std::move(hints));
}

void check(stockade_status status, const std::string& where) {
  if (status == STOCKADE_ERROR_UNKNOWN_NAME || status == STOCKADE_ERROR_UNAVAILABLE) throw environment_failure(status);
  if (status != STOCKADE_OK)
    throw Failure(exit_for(status), fmt::format("{}: {}", where, stockade_status_text(status)));
}

// All of a file that fits into an RSA operation.
std::unique_ptr<SecretBytes> read_small(const Input& input) {
  auto content = std::make_unique<SecretBytes>(most_key_bytes + 1);
  read_secret(input.fd.get(), input.name, *content);
  if (content->size() > most_key_bytes) {
    refuse(fmt::format("{} is too long for RSA, which takes one small message", input.name),
           {"'stockade encrypt -r PUB' encrypts files of any size"});
  }
  return content;
}

// An input that no output of this command may replace.
Input open_kept(const std::string& path, bool quiet) {
  Input input = open_input(path, quiet);
  keep_file(input.fd.get());
  return input;
}

std::string read_list(const std::string& path) {
  const Input input = open_kept(path, false);
  std::string text;
  std::vector<char> buffer(1 << 16);
  for (;;) {
    const ssize_t got = read(input.fd.get(), buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR && !interrupt::requested()) continue;
    if (got < 0) throw Failure(Exit::io, fmt::format("cannot read {}: {}", input.name, ui::system_text(errno)));
    if (got == 0) return text;
    text.append(buffer.data(), static_cast<size_t>(got));
  }
}

// Null where the text is not the hex digits of exactly `length` bytes.
std::unique_ptr<SecretBytes> bytes_of_hex(std::string_view text, size_t length) {
  if (text.size() != 2 * length) return nullptr;
  auto bytes = std::make_unique<SecretBytes>(length);
  if (decode_hex(text, {bytes->data(), length}) != text.size()) return nullptr;
  bytes->resize(length);
  return bytes;
}

class RsaWork {
 public:
  explicit RsaWork(const RsaLine& line) : line_(line), engine_(line.run.make_engine()) {
    read_options();
    read_key();
  }

  void one() {
    std::vector<Job> jobs;
    const Input input = open_input(line_.input.value_or("-"), line_.quiet);
    jobs.push_back({.where = input.name, .in = operand(input), .signature = nullptr, .out = nullptr});
    if (line_.signature) jobs[0].signature = read_small(open_kept(*line_.signature, line_.quiet));
    std::optional<OutputFile> output;
    if (line_.operation != Operation::verify) {
      output.emplace(OutputFile::Options{
          .path = line_.output.value_or(""), .force = line_.force, .mode = mode(), .input = &input.status});
    }
    const std::vector<stockade_rsa_item> items = run(jobs);
    check_item(items[0], jobs[0]);
    if (!output) return ui::notice(fmt::format("the signature of {} is right", input.name));
    write_all(output->fd(), jobs[0].out->data(), items[0].out_length, output->name());
    output->commit();
  }

  void batch() {
    std::vector<Job> jobs = read_jobs(*line_.batch);
    const std::vector<stockade_rsa_item> items = run(jobs);
    if (line_.operation != Operation::verify) {
      for (size_t i = 0; i < jobs.size(); ++i) check_item(items[i], jobs[i]);
    }
    OutputFile output({.path = line_.output.value_or(""), .force = line_.force, .mode = mode(), .text = true});
    size_t wrong = 0;
    for (size_t i = 0; i < jobs.size(); ++i) {
      const bool right = items[i].status == STOCKADE_OK;
      wrong += right ? 0 : 1;
      write_result(items[i], jobs[i], output);
    }
    output.commit();
    if (wrong > 0) {
      throw Failure(Exit::corrupt, fmt::format("{} of {} are wrong", wrong, plural(jobs.size(), "signature")));
    }
  }

 private:
  mode_t mode() const { return line_.operation == Operation::decrypt ? 0600 : 0666; }

  void read_options();
  void read_key();
  size_t digest_length() const;

  // What the operation takes from a file: its digest, or its content.
  std::unique_ptr<SecretBytes> operand(const Input& input) const {
    if (!line_.is_signature()) return read_small(input);
    auto digest = std::make_unique<SecretBytes>(most_digest_bytes);
    uint64_t length = 0;
    errno = 0;
    const auto status = stockade_digest_fd(options_.hash, input.fd.get(), digest->data(), digest->capacity(), &length);
    if (status == STOCKADE_ERROR_IO) {
      throw Failure(Exit::io, fmt::format("cannot read {}: {}", input.name, ui::system_text(errno)));
    }
    check(status, input.name);
    digest->resize(length);
    return digest;
  }

  // A word of a list: hex digits of `length` bytes, or the name of a file.
  std::unique_ptr<SecretBytes> word(std::string_view text, size_t length) const {
    auto bytes = bytes_of_hex(text, length);
    if (!bytes) return operand(open_kept(std::string(text), true));
    // A file with such a name could otherwise pass for a message that it is not.
    if (access(std::string(text).c_str(), F_OK) == 0) {
      refuse(fmt::format("'{}' is {} in hex, and a file of that name exists", text, plural(length, "byte")),
             {fmt::format("name the file as ./{}, or work in another folder", text)});
    }
    return bytes;
  }

  std::vector<Job> read_jobs(const std::string& list) const;
  Job read_job(std::string_view text, std::string where) const;
  std::vector<stockade_rsa_item> run(std::vector<Job>& jobs) const;
  void check_item(const stockade_rsa_item& item, const Job& job) const;
  void write_result(const stockade_rsa_item& item, const Job& job, const OutputFile& output) const;

  const RsaLine& line_;
  const EngineHandle engine_;
  stockade_rsa_options options_{};
  std::vector<uint8_t> label_;
  RsaKeyHandle key_;
};

void RsaWork::read_options() {
  options_.struct_size = sizeof options_;
  options_.hash = line_.hash ? line_.hash->c_str() : "sha256";
  uint8_t digest[most_digest_bytes];
  uint64_t length = 0;
  const auto known = stockade_digest(options_.hash, nullptr, 0, digest, sizeof digest, &length);
  const bool old = line_.operation == Operation::sign && length < 32;
  if (known == STOCKADE_ERROR_UNKNOWN_NAME || old) {
    refuse(fmt::format("--hash: '{}' is no hash function that this takes", options_.hash),
           {"the hash functions are sha256, sha384 and sha512"});
  }
  check(known, "--hash");
  const std::string padding = line_.padding.value_or("pss");
  if (padding != "pss" && padding != "pkcs1v15") {
    refuse(fmt::format("--padding: '{}' is neither pss nor pkcs1v15", padding));
  }
  options_.padding = padding == "pss" ? STOCKADE_RSA_PSS : STOCKADE_RSA_PKCS1V15;
  if (line_.salt_length && padding != "pss") refuse("--salt-length belongs to --padding pss");
  const std::string salt = line_.salt_length.value_or("digest");
  if (salt == "digest" || salt == "max" || (salt == "any" && line_.operation == Operation::verify)) {
    options_.salt = salt == "digest" ? STOCKADE_RSA_SALT_DIGEST
                    : salt == "max"  ? STOCKADE_RSA_SALT_MAX
                                     : STOCKADE_RSA_SALT_ANY;
  } else {
    options_.salt = STOCKADE_RSA_SALT_GIVEN;
    options_.salt_length = parse_number("--salt-length", salt, 0, most_key_bytes);
  }
  if (line_.label) label_ = parse_hex("--label", *line_.label);
  options_.label = label_.empty() ? nullptr : label_.data();
  options_.label_length = label_.size();
}

void RsaWork::read_key() {
  Passphrase passphrase;
  take_environment_passphrase(line_.is_private() && !line_.passphrase.given() ? &passphrase : nullptr);
  stockade_rsa_key* made = nullptr;
  if (!line_.is_private()) {
    stockade_rsa_reading reading{};
    reading.struct_size = sizeof reading;
    reading.legacy = line_.legacy ? 1 : 0;
    const RsaText text = read_rsa_text(*line_.key);
    const auto status = stockade_rsa_key_read_public(&made, text.bytes->data(), text.bytes->size(), &reading);
    if (status != STOCKADE_OK) throw rsa_key_failure(status, text.where, reading.type);
  } else {
    if (line_.passphrase.given()) {
      line_.passphrase.read(Purpose::decrypt, "passphrase of the key", line_.no_input, passphrase);
    }
    KeyPassphrases(passphrase, line_.no_input).read(*line_.key, [&](const void* file, uint64_t length, auto* reading) {
      return stockade_rsa_key_read_private(&made, file, length, reading);
    });
  }
  key_.reset(made);
}

size_t RsaWork::digest_length() const {
  uint8_t digest[most_digest_bytes];
  uint64_t length = 0;
  check(stockade_digest(options_.hash, nullptr, 0, digest, sizeof digest, &length), "--hash");
  return length;
}

std::vector<Job> RsaWork::read_jobs(const std::string& list) const {
  const std::string text = read_list(list);
  std::vector<Job> jobs;
  std::string_view rest = text;
  for (size_t number = 1; !rest.empty(); ++number) {
    const size_t length = std::min(rest.find('\n'), rest.size());
    const std::string_view line = rest.substr(0, length);
    rest.remove_prefix(std::min(length + 1, rest.size()));
    if (!line.empty()) jobs.push_back(read_job(line, fmt::format("line {} of {}", number, input_name(list))));
  }
  if (jobs.empty()) refuse(fmt::format("{} holds no lines", input_name(list)));
  return jobs;
}

Job RsaWork::read_job(std::string_view text, std::string where) const {
  Job job{.where = std::move(where), .in = nullptr, .signature = nullptr, .out = nullptr};
  switch (line_.operation) {
    case Operation::sign:
      job.in = word(text, digest_length());
      break;
    case Operation::verify: {
      const size_t space = text.rfind(' ');
      if (space == std::string_view::npos) {
        refuse(job.where + " is not a digest or file, a space, and a signature");
      }
      job.in = word(text.substr(0, space), digest_length());
      const std::string_view signature = text.substr(space + 1);
      job.signature = bytes_of_hex(signature, stockade_rsa_key_bytes(key_.get()));
      if (!job.signature) job.signature = read_small(open_kept(std::string(signature), true));
      break;
    }
    case Operation::encrypt:
      job.in = operand(open_kept(std::string(text), true));
      break;
    case Operation::decrypt:
      job.in = word(text, stockade_rsa_key_bytes(key_.get()));
      break;
  }
  return job;
}

std::vector<stockade_rsa_item> RsaWork::run(std::vector<Job>& jobs) const {
  std::vector<stockade_rsa_item> items(jobs.size());
  for (size_t i = 0; i < jobs.size(); ++i) {
    Job& job = jobs[i];
    stockade_rsa_item& item = items[i];
    item = {};
    item.key = key_.get();
    item.in = job.in->data();
    item.length = job.in->size();
    if (job.signature) {
      item.signature = job.signature->data();
      item.signature_length = job.signature->size();
    } else {
      job.out = std::make_unique<SecretBytes>(stockade_rsa_key_bytes(key_.get()));
      item.out = job.out->data();
      item.out_size = job.out->capacity();
    }
  }
  using Many = stockade_status (*)(stockade_rsa_item*, uint64_t, const stockade_rsa_options*, const stockade_engine*);
  constexpr Many many[] = {stockade_rsa_sign_many, stockade_rsa_verify_many, stockade_rsa_encrypt_many,
                           stockade_rsa_decrypt_many};
  many[static_cast<size_t>(line_.operation)](items.data(), items.size(), &options_, engine_.get());
  return items;
}

void RsaWork::check_item(const stockade_rsa_item& item, const Job& job) const {
  uint64_t most = 0;
  if (item.status == STOCKADE_ERROR_MESSAGE_LENGTH && line_.operation == Operation::encrypt &&
      stockade_rsa_capacity(key_.get(), &options_, &most) == STOCKADE_OK) {
    refuse(fmt::format("{} has {}, and this key takes at most {}", job.where, plural(job.in->size(), "byte"), most),
           {"'stockade encrypt -r PUB' encrypts files of any size"});
  }
  check(item.status, job.where);
}

void RsaWork::write_result(const stockade_rsa_item& item, const Job& job, const OutputFile& output) const {
  if (line_.operation == Operation::verify) {
    const std::string text = item.status == STOCKADE_OK ? "right\n" : "wrong\n";
    return write_all(output.fd(), text.data(), text.size(), output.name());
  }
  SecretBytes text(2 * item.out_length + 1);
  encode_hex({job.out->data(), item.out_length}, text.data());
  text.data()[2 * item.out_length] = '\n';
  write_all(output.fd(), text.data(), text.capacity(), output.name());
}

void run_rsa(const RsaLine& line) {
  ui::set_verbosity(line.quiet, false);
  if (!line.key) {
    if (line.is_private()) refuse("a private key is missing", {"name it with -i PRIV"});
    refuse("a public key is missing", {"name it with -r PUB"});
  }
  const int readers = (line.key == "-" ? 1 : 0) + (line.passphrase.reads_stdin() ? 1 : 0) +
                      (line.signature == "-" ? 1 : 0) + (line.batch.value_or(line.input.value_or("-")) == "-" ? 1 : 0);
  if (readers > 1) {
    refuse("key, passphrase and input cannot all come from standard input", {"name a file for all but one of them"});
  }
  if (line.batch && (line.input || line.signature)) refuse("--batch takes everything from its list");
  if (line.operation == Operation::verify && !line.batch && !line.signature) {
    refuse("a signature is missing", {"name its file with --signature SIG"});
  }
  RsaWork work(line);
  if (line.batch) return work.batch();
  work.one();
}

constexpr char sign_text[] = R"(The signature is that of 'openssl dgst -sign', or with --padding pss that of
'openssl dgst -sigopt rsa_padding_mode:pss -sign'.

batch:
  Each line of the list is the digest of a message, in hex, or the name of a file. For
  each there is a line of output, in the same order: the signature in hex. All of them
  are computed together, which is several times as fast as one by one.

examples:
  stockade rsa sign -i alice.pem -o report.sig report.pdf
  stockade rsa sign -i alice.pem --batch digests.txt > signatures.txt
)";
constexpr char verify_text[] = R"(A signature is right if the exit status is 0, and only then; 3 says that it is wrong.
A PSS signature has to have a salt as long as the digest, unless --salt-length says
otherwise: 'openssl dgst' signs with the longest that the key allows (max).

batch:
  Each line of the list is a digest in hex or the name of a file, a space, and the
  signature, in hex or as a file. For each there is a line of output: right, or wrong.

examples:
  stockade rsa verify -r alice.pub.pem --signature report.sig report.pdf
)";
constexpr char encrypt_text[] =
    R"(One small message, such as a key: of 190 bytes for 2048 bits and SHA-256. What comes out
is what 'openssl pkeyutl -encrypt -pkeyopt rsa_padding_mode:oaep -pkeyopt
rsa_oaep_md:sha256' gives. Files of any size are the business of 'stockade encrypt'.

batch:
  Each line of the list is the name of a file. For each there is a line of output, in
  the same order: what it is encrypted to, in hex.

examples:
  stockade rsa encrypt -r alice.pub.pem -o secret.rsa secret
)";
constexpr char decrypt_text[] = R"(Opens what 'stockade rsa encrypt' or 'openssl pkeyutl -encrypt' with OAEP has made.
Whatever is wrong with it, the message is the same.

batch:
  Each line of the list is what is to be decrypted, in hex, or the name of a file. For
  each there is a line of output, in the same order: the message in hex.

examples:
  stockade rsa decrypt -i alice.pem -o secret secret.rsa
)";

void declare_padding(Command& command, RsaLine& line) {
  const char* group = "format";
  const char* const hashes = line.is_signature() ? "sha256 (the default), sha384 or sha512"
                                                 : "sha256 (the default), sha384, sha512; sha1 is openssl's default";
  command.option(group, "--hash", "NAME", line.hash, hashes);
  if (!line.is_signature()) {
    command.option(group, "--label", "HEX", line.label, "what the message is bound to; default nothing");
    return;
  }
  command.option(group, "--padding", "NAME", line.padding, "pss (the default) or pkcs1v15");
  command.option(group, "--salt-length", "N", line.salt_length,
                 line.operation == Operation::verify
                     ? "of pss: digest, as long as the digest (the default); max, as long as the key allows; any; or a "
                       "number of bytes"
                     : "of pss: digest, as long as the digest (the default); max, as long as the key allows; or a "
                       "number of bytes");
}

void declare_key(Command& command, RsaLine& line) {
  if (line.is_private()) {
    command.option("key", "-i,--identity", "PRIV", line.key, "the RSA private key");
    line.passphrase.declare(command, "key", Purpose::decrypt);
    command.flag("key", "--no-input", line.no_input, "never ask at the terminal");
    return;
  }
  command.option("key", "-r,--recipient", "PUB", line.key,
                 "the RSA public key: PEM or DER, a certificate, or an ssh-rsa line");
  if (line.operation == Operation::verify) {
    command.flag("key", "--legacy", line.legacy, "also a key of 1024 to 2047 bits, for what was signed long ago");
  }
}

void add_operation(Command& parent, Operation operation, const char* name, const char* usage, const char* description,
                   const char* text) {
  Command& command = parent.add(name, usage, description);
  const auto line = std::make_shared<RsaLine>();
  line->operation = operation;
  declare_key(command, *line);
  declare_padding(command, *line);
  command.operand("files", "IN", line->input, "the file to read; - or nothing is standard input");
  if (operation == Operation::verify) {
    command.option("files", "--signature", "SIG", line->signature, "the file with the signature");
  }
  command.option("files", "--batch", "LIST", line->batch, "many at once, a line of this file for each");
  command.option("files", "-o,--output", "OUT", line->output, "the file to write; - or nothing is standard output");
  command.flag("files", "-f,--force", line->force, "replace an existing output");
  command.option("other options", "-T,--threads", "N", line->run.threads, "at most N threads; 0, the default, is all");
  command.flag("other options", "-q,--quiet", line->quiet, "say nothing but errors");
  command.footer(fmt::format("{}\n{}", text, exit_status_help));
  command.action([line] { run_rsa(*line); });
}

}  // namespace

void add_rsa(Command& root) {
  root.add("rsa", "sign|verify|encrypt|decrypt ...", "Signs, verifies, encrypts and decrypts with an RSA key alone.")
      .when_named([](Command& command) {
        add_operation(command, Operation::sign, "sign", "-i PRIV [OPTION ...] [IN | --batch LIST]",
                      "Signs a file, or many.", sign_text);
        add_operation(command, Operation::verify, "verify", "-r PUB [OPTION ...] (--signature SIG [IN] | --batch LIST)",
                      "Says whether a signature is right, or many.", verify_text);
        add_operation(command, Operation::encrypt, "encrypt", "-r PUB [OPTION ...] [IN | --batch LIST]",
                      "Encrypts one small message, or many, with OAEP.", encrypt_text);
        add_operation(command, Operation::decrypt, "decrypt", "-i PRIV [OPTION ...] [IN | --batch LIST]",
                      "Decrypts one small message, or many.", decrypt_text);
        command.footer("'stockade rsa sign --help' has the options and exit status.");
      });
}

}  // namespace stockade::cmd
