// RSA keys on their way in: public ones of recipients, private ones of who opens files.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "exit_status.h"
#include "passphrase.h"
#include "stockade/stockade.h"

namespace stockade::cmd {

// A public key, or a private one whose public half is meant, and where it stands: "the key file 'alice.pem'".
struct RsaText {
  std::string where;
  std::unique_ptr<SecretBytes> bytes;
};

// The content of a file, or for "ssh-rsa AAAA..." the line itself. Throws Failure.
RsaText read_rsa_text(const std::string& source);

// The keys of a file that holds any number of them: in PEM, and `ssh-rsa` lines. Lines that are empty or begin with # are
// passed over. Throws Failure, also where there is none.
std::vector<RsaText> read_rsa_texts(const std::string& path);

// What kept a key from being read. `type` is the library's word for its kind.
Failure rsa_key_failure(stockade_status status, const std::string& where, const char* type);

// Passphrases of encrypted private keys. What was given serves all of them; else a person is asked, and what opened one
// key is tried on the next.
class KeyPassphrases {
 public:
  // `given` is empty or must outlive this.
  KeyPassphrases(const Passphrase& given, bool no_input) : given_(given), no_input_(no_input) {}

  // Reads the private key in `path`: calls read(content, length, reading), again with a passphrase where it returns
  // PASSPHRASE_NEEDED. Throws Failure.
  using Read = std::function<stockade_status(const void*, uint64_t, stockade_rsa_reading*)>;
  void read(const std::string& path, const Read& read);

 private:
  stockade_status try_known(const SecretBytes& content, stockade_rsa_reading& reading, const Read& read) const;

  const Passphrase& given_;
  std::vector<std::unique_ptr<Passphrase>> asked_;
  bool no_input_;
};

}  // namespace stockade::cmd
