// The Stockade file once more, written down plainly over OpenSSL's HMAC and AES-GCM: what the format's code is held against.
#pragma once

#include <openssl/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "base/random.h"
#include "stockade/stockade.h"

namespace stockade::tests {

using Bytes = std::vector<uint8_t>;

// Draws 0, 1, 2, ... from `first` on, modulo 256.
class CountingRandom final : public stockade::RandomSource {
 public:
  explicit CountingRandom(uint8_t first) : next_(first) {}
  stockade_status fill(uint8_t* out, uint64_t length) override {
    for (uint64_t i = 0; i < length; ++i) out[i] = next_++;
    return STOCKADE_OK;
  }

 private:
  uint8_t next_;
};

Bytes oracle_hkdf_expand(const Bytes& key, const Bytes& info, uint64_t length);
std::string oracle_base64(const Bytes& bytes);

// Payload: salt, commitment, chunks.
Bytes oracle_payload(stockade_cipher cipher, const Bytes& input_key, const Bytes& salt, const Bytes& context,
                     const Bytes& plaintext);

// The lines of a stanza for an RSA key, with the seed of OAEP given.
std::string oracle_rsa_stanza(const EVP_PKEY* key, const Bytes& seed, const Bytes& file_key);

// A file with these stanzas, without the padding, which comes behind them.
Bytes oracle_file_of(stockade_cipher cipher, const std::string& stanzas, const Bytes& file_key, const Bytes& salt,
                     const Bytes& plaintext);

// A file for the symmetric keys `keys`, with what is random given: the file key, a salt of 16 bytes for each key, the
// payload's salt.
Bytes oracle_file(stockade_cipher cipher, const std::vector<Bytes>& keys, const Bytes& file_key,
                  const std::vector<Bytes>& key_salts, const Bytes& salt, const Bytes& plaintext);

}  // namespace stockade::tests
