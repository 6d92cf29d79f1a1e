#include "keyring_input.h"

#include <fmt/format.h>

#include <algorithm>

#include "exit_status.h"
#include "key_input.h"
#include "values.h"

namespace stockade::cmd {
namespace {

constexpr size_t key_length = 32;

KeyringHandle make_keyring() {
  stockade_keyring* keyring = nullptr;
  if (stockade_keyring_create(&keyring) != STOCKADE_OK) throw std::bad_alloc();
  return KeyringHandle(keyring);
}

void check(stockade_status status) {
  if (status != STOCKADE_OK) throw Failure(exit_for(status), stockade_status_text(status));
}

void add_passphrase_to(stockade_keyring* keyring, const Passphrase& passphrase, uint32_t work_factor) {
  check(stockade_keyring_add_passphrase(keyring, passphrase.data(), passphrase.size(), work_factor));
}

// The key's id. One that the ring holds already is left to the caller.
std::string add_public_key(stockade_keyring* keyring, const RsaText& text) {
  stockade_rsa_reading reading{};
  reading.struct_size = sizeof reading;
  char id[23] = {};
  const auto status = stockade_keyring_add_rsa_public(keyring, text.bytes->data(), text.bytes->size(), &reading, id);
  if (status == STOCKADE_ERROR_PASSPHRASE_NEEDED) {
    throw Failure(Exit::usage, fmt::format("{} is an encrypted private key, where a public one is wanted", text.where),
                  {"'openssl pkey -pubout' makes a file of its public half"});
  }
  const bool again = status == STOCKADE_ERROR_ARGUMENT && id[0] != 0;
  if (status != STOCKADE_OK && !again) throw rsa_key_failure(status, text.where, reading.type);
  return id;
}

}  // namespace

void KeyOptions::declare(Command& command, Purpose purpose) {
  const char* group = "keys";
  const bool encrypting = purpose == Purpose::encrypt;
  command.options(group, "-k,--key-file", "KEY", key_files,
                  encrypting ? "encrypt for the key in this file, which 'keygen' makes; with several, each of them "
                               "opens the output"
                             : "open with the key in this file; of several, the one that fits");
  if (encrypting) {
    command.options(group, "-r,--recipient", "PUB", recipients,
                    "encrypt for the RSA public key in this file: PEM or DER, a certificate, or an ssh-rsa line, which "
                    "may also stand here itself");
    command.options(group, "-R,--recipients-file", "FILE", recipients_files,
                    "encrypt for all RSA public keys in this file: ssh-rsa lines and PEM, one below the other");
  } else {
    command.options(group, "-i,--identity", "PRIV", identities,
                    "open with the RSA private key in this file; if it is encrypted, the passphrase is asked for once");
  }
  passphrase.declare(command, group, purpose);
  if (encrypting) {
    command.option(group, "--work-factor", "N", work_factor,
                   "log2 of scrypt's cost, 1 to 30; 17, the default, takes 128 MiB, and each step doubles it");
  } else {
    command.option(group, "--max-work-factor", "N", max_work_factor,
                   "refuse a passphrase's cost above this; default 20, which takes 1 GiB");
  }
  command.flag(group, "--no-input", no_input, "never ask at the terminal");
}

int KeyOptions::stdin_readers() const {
  int readers = passphrase.reads_stdin() ? 1 : 0;
  for (const auto* files : {&key_files, &recipients, &recipients_files, &identities}) {
    readers += static_cast<int>(std::count(files->begin(), files->end(), "-"));
  }
  return readers;
}

bool KeyOptions::names_keys() const {
  return !key_files.empty() || !recipients.empty() || !recipients_files.empty() || !identities.empty();
}

bool KeyOptions::names_public_keys_only() const {
  return key_files.empty() && !(recipients.empty() && recipients_files.empty());
}

uint32_t KeyOptions::read_max_work_factor() const { return parse_work_factor("--max-work-factor", max_work_factor); }

uint32_t parse_work_factor(const char* what, const std::optional<std::string>& text) {
  return text ? static_cast<uint32_t>(parse_number(what, *text, 1, 30)) : 0;
}

std::string read_key(const std::string& path, SecretBytes& key) {
  key_from_file(path, key_length, "a Stockade file", key);
  char id[12];
  check(stockade_key_id(key.data(), key.size(), id));
  return id;
}

std::string read_rsa_id(const std::string& source) { return read_rsa_id(read_rsa_text(source)); }

std::string read_rsa_id(const RsaText& text) {
  const KeyringHandle ring = make_keyring();
  return add_public_key(ring.get(), text);
}

Recipients::Recipients() : keyring_(make_keyring()) {}

bool Recipients::has_key(const std::string& id) const {
  return std::any_of(names_.begin(), names_.end(), [&](const Name& name) { return name.id == id; });
}

void Recipients::add_name(const std::string& id, const std::string& where) {
  for (const Name& name : names_) {
    if (name.id == id)
      throw Failure(Exit::usage, fmt::format("{} and {} hold the same key, {}", name.where, where, id));
  }
  names_.push_back({id, where});
}

void Recipients::add_key_file(const std::string& path) {
  SecretBytes key;
  add_name(read_key(path, key), fmt::format("the key file '{}'", path));
  check(stockade_keyring_add_key(keyring_.get(), key.data(), key.size()));
}

void Recipients::add_rsa_text(const RsaText& text) { add_name(add_public_key(keyring_.get(), text), text.where); }

void Recipients::add_rsa(const std::string& source) { add_rsa_text(read_rsa_text(source)); }

void Recipients::add_rsa_file(const std::string& path) {
  for (const RsaText& text : read_rsa_texts(path)) add_rsa_text(text);
}

void Recipients::add_passphrase(const Passphrase& passphrase, uint32_t work_factor) {
  add_passphrase_to(keyring_.get(), passphrase, work_factor);
  has_passphrase_ = true;
}

KeyringHandle make_recipients(const KeyOptions& options) {
  if (options.passphrase.given() && options.names_keys()) {
    throw Failure(Exit::usage, "a file that opens with a passphrase opens with nothing else",
                  {"leave out the keys or the passphrase"});
  }
  const uint32_t work_factor = parse_work_factor("--work-factor", options.work_factor);
  Recipients recipients;
  for (const std::string& path : options.key_files) recipients.add_key_file(path);
  for (const std::string& source : options.recipients) recipients.add_rsa(source);
  for (const std::string& path : options.recipients_files) recipients.add_rsa_file(path);
  Passphrase passphrase;
  take_environment_passphrase(!options.names_keys() && !options.passphrase.given() ? &passphrase : nullptr);
  if (options.passphrase.given()) {
    options.passphrase.read(Purpose::encrypt, "passphrase", options.no_input, passphrase);
  }
  if (passphrase.size() > 0) recipients.add_passphrase(passphrase, work_factor);
  if (recipients.empty()) {
    throw Failure(Exit::usage, "there is nobody to encrypt for",
                  {"make a key with 'stockade keygen --symmetric -o KEY' and name it with -k KEY",
                   "or name the RSA public keys of those who shall open it with -r PUB",
                   "or protect the file with a passphrase: -p"});
  }
  if (work_factor != 0 && passphrase.size() == 0) {
    throw Failure(Exit::usage, "--work-factor applies to passphrases only");
  }
  return recipients.release();
}

Identities::Identities(const KeyOptions& options)
    : given_(make_keyring()), no_input_(options.no_input), max_work_factor_(options.read_max_work_factor()) {
  for (const std::string& path : options.key_files) {
    SecretBytes key;
    const std::string id = read_key(path, key);
    if (std::find(key_ids_.begin(), key_ids_.end(), id) != key_ids_.end()) continue;
    check(stockade_keyring_add_key(given_.get(), key.data(), key.size()));
    key_ids_.push_back(id);
  }
  Passphrase passphrase;
  // It may be that of an encrypted key.
  const bool wanted = options.key_files.empty() || !options.identities.empty();
  take_environment_passphrase(wanted && !options.passphrase.given() ? &passphrase : nullptr);
  if (options.passphrase.given()) {
    options.passphrase.read(Purpose::decrypt, "passphrase", options.no_input, passphrase);
  }
  has_passphrase_ = passphrase.size() > 0;
  if (has_passphrase_) add_passphrase_to(given_.get(), passphrase, 0);
  KeyPassphrases passphrases(passphrase, no_input_);
  for (const std::string& path : options.identities) add_rsa(path, passphrases);
}

void Identities::add_rsa(const std::string& path, KeyPassphrases& passphrases) {
  passphrases.read(path, [&](const void* file, uint64_t length, stockade_rsa_reading* reading) {
    char id[23] = {};
    const auto status = stockade_keyring_add_rsa_private(given_.get(), file, length, reading, id);
    if (status == STOCKADE_OK) key_ids_.emplace_back(id);
    // Named twice.
    return status == STOCKADE_ERROR_ARGUMENT && id[0] != 0 ? STOCKADE_OK : status;
  });
}

const stockade_keyring* Identities::keyring_for(const FileHead& head, const std::string& name) {
  if (head.has_passphrase() && !has_passphrase_) {
    const std::lock_guard lock(asking_);
    if (!asked_) {
      Passphrase passphrase;
      if (!ask_passphrase(fmt::format("passphrase for {}: ", name), no_input_, passphrase)) {
        throw Failure(Exit::no_key, fmt::format("{} opens with a passphrase only, and none is given", name),
                      {"ask for it with -p, or read it with --passphrase-file FILE or --passphrase-fd N"});
      }
      asked_ = make_keyring();
      add_passphrase_to(asked_.get(), passphrase, 0);
    }
    return asked_.get();
  }
  if (key_ids_.empty() && !has_passphrase_) {
    std::vector<std::string> hints;
    if (head.header) hints.push_back("the file is for " + listed(recipient_texts(head)));
    hints.push_back("name a key file with -k KEY, or an RSA private key with -i PRIV");
    throw Failure(Exit::no_key, fmt::format("no key is given to open {} with", name), hints);
  }
  return given_.get();
}

}  // namespace stockade::cmd
