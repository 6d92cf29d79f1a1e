// RSA by OpenSSL in the same process: a fresh key, and one EVP context for each operation, reused.
#pragma once

#include <openssl/evp.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace stockade::bench {

// Signatures are PKCS#1 v1.5 with SHA-256, which have no random part and so can be compared; encryption is OAEP with
// SHA-256 throughout.
class RsaPeer {
 public:
  // Throws std::runtime_error, as do all.
  explicit RsaPeer(uint32_t bits);

  // The same key in memory of its own, for another thread.
  RsaPeer copy() const;

  std::vector<uint8_t> private_key() const;  // DER
  void sign(std::span<const uint8_t> digest, std::span<uint8_t> signature);
  bool verify(std::span<const uint8_t> digest, std::span<const uint8_t> signature);
  void encrypt(std::span<const uint8_t> message, std::span<uint8_t> ciphertext);
  // The length of the message; `message` has room for as many bytes as the modulus.
  uint64_t decrypt(std::span<const uint8_t> ciphertext, std::span<uint8_t> message);
  // in^d and in^e mod n, without padding.
  void decrypt_raw(std::span<const uint8_t> in, std::span<uint8_t> out);
  void encrypt_raw(std::span<const uint8_t> in, std::span<uint8_t> out);

 private:
  struct Free {
    void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
    void operator()(EVP_PKEY_CTX* context) const { EVP_PKEY_CTX_free(context); }
  };
  using Context = std::unique_ptr<EVP_PKEY_CTX, Free>;
  explicit RsaPeer(EVP_PKEY* key);
  Context make_context(int (*start)(EVP_PKEY_CTX*), int padding) const;

  std::unique_ptr<EVP_PKEY, Free> key_;
  Context sign_, verify_, encrypt_, decrypt_, encrypt_raw_, decrypt_raw_;
};

// Keys alone, each call from nothing. They throw std::runtime_error where OpenSSL fails or refuses.
void peer_generate_key(uint32_t bits);
// A private key with EVP_PKEY_check, a public one as it is read.
void peer_load_private(const std::string& pem);
void peer_load_public(const std::string& pem);

}  // namespace stockade::bench
