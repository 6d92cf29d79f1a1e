// OpenSSL in the same process: one EVP context per key, reused for every message with only the IV set anew.
#pragma once

#include <openssl/evp.h>

#include <cstdint>
#include <memory>
#include <string>

#include "stockade/stockade.h"

namespace stockade::bench {

// "OpenSSL 3.0.19 27 Jan 2026"
std::string peer_version();

class OpensslPeer {
 public:
  // Throws std::runtime_error where libcrypto has no such cipher.
  OpensslPeer(stockade_mode mode, uint32_t bits, stockade_direction direction, const uint8_t* key);

  // The same cipher and direction with another key of that size. False where libcrypto reports an error.
  bool rekey(const uint8_t* key);

  // One message without padding. `iv` has 16 bytes (GCM: 12, ECB: unused). GCM writes or reads a tag of 16 bytes.
  // False where libcrypto reports an error.
  bool message(const uint8_t* iv, const uint8_t* in, uint64_t length, uint8_t* out, uint8_t* tag);

  // XTS: units of `unit` bytes, the tweak of each one more than the last (a little-endian number).
  bool units(const uint8_t* iv, uint64_t unit, const uint8_t* in, uint64_t length, uint8_t* out);

 private:
  bool update(const uint8_t* in, uint64_t length, uint8_t* out);

  struct Free {
    void operator()(EVP_CIPHER_CTX* context) const { EVP_CIPHER_CTX_free(context); }
  };
  std::unique_ptr<EVP_CIPHER_CTX, Free> context_;
  stockade_mode mode_;
  bool decrypts_;
};

}  // namespace stockade::bench
