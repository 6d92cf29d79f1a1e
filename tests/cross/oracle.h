// The same operations by OpenSSL's libcrypto, the independent implementation that every result is held against.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "stockade/stockade.h"

namespace stockade::tests {

using Bytes = std::vector<uint8_t>;

// One message of any mode but GCM, without padding. Throws std::runtime_error if OpenSSL refuses the input.
Bytes oracle_crypt(stockade_mode mode, stockade_direction direction, const Bytes& key, const Bytes& iv,
                   const uint8_t* in, uint64_t length);
inline Bytes oracle_crypt(stockade_mode mode, stockade_direction direction, const Bytes& key, const Bytes& iv,
                          const Bytes& in) {
  return oracle_crypt(mode, direction, key, iv, in.data(), in.size());
}

// ECB and CBC with PKCS#7 padding; decryption gives nothing where the padding is wrong.
std::optional<Bytes> oracle_padded(stockade_mode mode, stockade_direction direction, const Bytes& key, const Bytes& iv,
                                   const Bytes& in);

// XTS over data units of `unit` bytes, each with its own number.
Bytes oracle_units(stockade_direction direction, const Bytes& key, const Bytes& first, uint64_t unit, const Bytes& in);

struct Sealed {
  Bytes ciphertext, tag;
};
Sealed oracle_seal(const Bytes& key, const Bytes& iv, const Bytes& aad, const uint8_t* in, uint64_t length,
                   uint64_t tag_length);
inline Sealed oracle_seal(const Bytes& key, const Bytes& iv, const Bytes& aad, const Bytes& in, uint64_t tag_length) {
  return oracle_seal(key, iv, aad, in.data(), in.size(), tag_length);
}
// Nothing where the tag does not match.
std::optional<Bytes> oracle_open(const Bytes& key, const Bytes& iv, const Bytes& aad, const Bytes& in,
                                 const Bytes& tag);

// SHA-256.
Bytes digest(const uint8_t* bytes, uint64_t length);

}  // namespace stockade::tests
