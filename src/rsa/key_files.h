// RSA keys in files: what the readers take is recognised by itself, in PEM (RFC 7468) or DER.
//
//   private   PKCS#1 (RFC 8017 A.1.2), also as OpenSSL's old PEM files encrypt it; PKCS#8 (RFC 5958), also encrypted
//   public    PKCS#1, SubjectPublicKeyInfo, an X.509 certificate (RFC 5280), an `ssh-rsa` line (RFC 4253 6.6)
//
// libcrypto parses and decrypts, in a library context of our own. What is read must be all of the input: only white
// space may follow, and behind a certificate those of its chain, which are not read. Nothing here throws; secrets that
// pass through are wiped.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/random.h"
#include "base/secret.h"
#include "base/status.h"
#include "rsa/key.h"

namespace stockade::rsa {

// Asked once for an encrypted key; what it leaves in the buffer, all of it, is the passphrase. Its status is passed on.
using AskPassphrase = std::function<Status(SecretBuffer& passphrase)>;

// KEY_TYPE: `type` names it, such as "EC", "ED25519", "ssh-ed25519", "RSA-PSS", "OpenSSH private key". KEY_FILE,
// TRUNCATED, TRAILING_DATA, PASSPHRASE_NEEDED, those of PublicKey::make, LIBRARY, MEMORY. Of a private key that is not
// encrypted the public half is taken.
Status read_public_key(Bytes file, uint32_t fewest_bits, const bignum::Variant* row, PublicKey& key, std::string& type);

// Also KEY_NOT_PRIVATE, PASSPHRASE_NEEDED (`ask` is empty), PASSPHRASE (the wrong one), and those of PrivateKey::make.
Status read_private_key(Bytes file, const AskPassphrase& ask, const bignum::Variant* row, RandomSource& random,
                        std::unique_ptr<PrivateKey>& key, std::string& type);

// PKCS#8 in PEM. MEMORY.
Status write_private_key(const PrivateKey& key, SecretBuffer& pem);
// The same under a passphrase: PBES2 (RFC 8018 6.2) with AES-256-CBC and PBKDF2, HMAC-SHA-256 and so many iterations.
// RANDOM, LIBRARY, MEMORY.
inline constexpr uint32_t passphrase_iterations = 600'000;
Status write_private_key(const PrivateKey& key, Bytes passphrase, RandomSource& random, SecretBuffer& pem,
                         uint32_t iterations = passphrase_iterations);

// SubjectPublicKeyInfo. MEMORY.
Status write_public_key(const PublicKey& key, std::string& pem);
Status write_public_key_der(const PublicKey& key, std::vector<uint8_t>& der);

}  // namespace stockade::rsa
