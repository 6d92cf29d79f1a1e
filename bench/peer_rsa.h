// RSA by OpenSSL in the same process: a fresh key, and one EVP context for each operation, reused.
#pragma once

#include <openssl/evp.h>

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace stockade::bench {

// PKCS#1 v1.5 with SHA-256, whose signatures have no random part and so can be compared.
class RsaPeer {
 public:
  // Throws std::runtime_error, as do all.
  explicit RsaPeer(uint32_t bits);

  std::vector<uint8_t> private_key() const;  // DER
  void sign(std::span<const uint8_t> digest, std::span<uint8_t> signature);
  bool verify(std::span<const uint8_t> digest, std::span<const uint8_t> signature);
  // in^d and in^e mod n, without padding.
  void decrypt_raw(std::span<const uint8_t> in, std::span<uint8_t> out);
  void encrypt_raw(std::span<const uint8_t> in, std::span<uint8_t> out);

 private:
  struct Free {
    void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
    void operator()(EVP_PKEY_CTX* context) const { EVP_PKEY_CTX_free(context); }
  };
  using Context = std::unique_ptr<EVP_PKEY_CTX, Free>;
  Context make_context(int (*start)(EVP_PKEY_CTX*), int padding) const;

  std::unique_ptr<EVP_PKEY, Free> key_;
  Context sign_, verify_, decrypt_, encrypt_;
};

}  // namespace stockade::bench
