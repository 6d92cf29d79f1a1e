// PKCS#7 padding (RFC 5652 §6.3) of a last block.
#pragma once

#include <cstdint>

namespace stockade::aes {

// Fills the block behind its first `used` < 16 bytes.
inline void pad_block(uint8_t block[16], uint64_t used) {
  for (uint64_t i = used; i < 16; ++i) block[i] = static_cast<uint8_t>(16 - used);
}

// How many bytes of padding a last block ends with, 1 to 16, or 0 if it is not padded. Constant-time in the block.
inline uint32_t padding_length(const uint8_t block[16]) {
  const uint32_t length = block[15];
  uint32_t wrong = (length - 1) & ~uint32_t{15};
  for (uint32_t i = 0; i < 16; ++i) {
    const uint32_t is_padding = 0 - ((15 - i - length) >> 31);  // all ones where 15 - i < length
    wrong |= is_padding & (block[i] ^ length);
  }
  const uint32_t is_right = ((wrong | (0 - wrong)) >> 31) - 1;
  return length & is_right;
}

}  // namespace stockade::aes
