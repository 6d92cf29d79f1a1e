// Whom a file is made for, and by whom one is opened: the keyrings that the options of a command line describe.
#pragma once

#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "command_line.h"
#include "file_head.h"
#include "handles.h"
#include "passphrase.h"
#include "rsa_key_input.h"

namespace stockade::cmd {

struct KeyOptions {
  std::vector<std::string> key_files;
  std::vector<std::string> recipients, recipients_files;  // RSA, to encrypt
  std::vector<std::string> identities;                    // RSA, to decrypt
  PassphraseOptions passphrase;
  std::optional<std::string> work_factor;      // to encrypt
  std::optional<std::string> max_work_factor;  // to decrypt
  bool no_input = false;

  void declare(Command& command, Purpose purpose);
  // Whether any key is named.
  bool names_keys() const;
  // Whether nothing that is named opens what it encrypts.
  bool names_public_keys_only() const;
  // How many of the sources are standard input.
  int stdin_readers() const;
  // 0 where it is not given. Throws Failure.
  uint32_t read_max_work_factor() const;
};

// A key of 32 bytes from a file, with the name by which headers call it. Throws Failure.
std::string read_key(const std::string& path, SecretBytes& key);

// The name by which headers call the RSA key in a file or line. Throws Failure.
std::string read_rsa_id(const std::string& source);
std::string read_rsa_id(const RsaText& text);

// The recipients of a file to be made. Throws Failure, also where there are none.
KeyringHandle make_recipients(const KeyOptions& options);

// Recipients from several sources, each key once.
class Recipients {
 public:
  Recipients();
  void add_key_file(const std::string& path);
  // A public key in a file of its own, or an `ssh-rsa` line.
  void add_rsa(const std::string& source);
  // All in a file of many.
  void add_rsa_file(const std::string& path);
  void add_passphrase(const Passphrase& passphrase, uint32_t work_factor);
  bool empty() const { return names_.empty() && !has_passphrase_; }
  bool has_key(const std::string& id) const;
  const stockade_keyring* get() const { return keyring_.get(); }
  KeyringHandle release() { return std::move(keyring_); }

 private:
  struct Name {
    std::string id, where;
  };
  void add_rsa_text(const RsaText& text);
  void add_name(const std::string& id, const std::string& where);

  KeyringHandle keyring_;
  std::vector<Name> names_;
  bool has_passphrase_ = false;
};

uint32_t parse_work_factor(const char* what, const std::optional<std::string>& text);

// What opens files. May be used by many threads.
class Identities {
 public:
  // Throws Failure.
  explicit Identities(const KeyOptions& options);
  // The keyring for the file with this head. Where it takes a passphrase and none was named, a person is asked, once for
  // all files. Throws Failure where there is nothing to open it with.
  const stockade_keyring* keyring_for(const FileHead& head, const std::string& name);
  const std::vector<std::string>& key_ids() const { return key_ids_; }
  uint32_t max_work_factor() const { return max_work_factor_; }

 private:
  void add_rsa(const std::string& path, KeyPassphrases& passphrases);

  KeyringHandle given_;
  std::vector<std::string> key_ids_;
  bool has_passphrase_ = false;
  bool no_input_;
  uint32_t max_work_factor_;
  std::mutex asking_;
  KeyringHandle asked_;
};

}  // namespace stockade::cmd
