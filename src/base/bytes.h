// Spans of bytes, byte order, fixed-size copies, and overlap of byte ranges.
#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

namespace stockade {

using Bytes = std::span<const uint8_t>;

inline Bytes bytes_of(std::string_view text) { return {reinterpret_cast<const uint8_t*>(text.data()), text.size()}; }

inline uint64_t load_be64(const uint8_t* bytes) {
  uint64_t value;
  std::memcpy(&value, bytes, 8);
  return __builtin_bswap64(value);
}

inline void store_be64(uint8_t* bytes, uint64_t value) {
  value = __builtin_bswap64(value);
  std::memcpy(bytes, &value, 8);
}

inline uint32_t load_be32(const uint8_t* bytes) {
  uint32_t value;
  std::memcpy(&value, bytes, 4);
  return __builtin_bswap32(value);
}

inline void store_be32(uint8_t* bytes, uint32_t value) {
  value = __builtin_bswap32(value);
  std::memcpy(bytes, &value, 4);
}

inline uint64_t load_le64(const uint8_t* bytes) {
  uint64_t value;
  std::memcpy(&value, bytes, 8);
  return value;
}

inline void store_le64(uint8_t* bytes, uint64_t value) { std::memcpy(bytes, &value, 8); }

// Two 8-byte words as they lie in memory, in one store: a load of all 16 bytes soon after must not wait for two of them.
inline void store_words(uint8_t bytes[16], uint64_t first, uint64_t second) {
  using Words = uint64_t __attribute__((vector_size(16)));
  const Words words = {first, second};
  std::memcpy(bytes, &words, 16);
}

// out = a ^ b for `length` bytes; out may be a or b.
inline void xor_bytes(uint8_t* out, const uint8_t* a, const uint8_t* b, uint64_t length) {
  for (uint64_t i = 0; i < length; ++i) out[i] = a[i] ^ b[i];
}

// The 128-bit big-endian number in `counter` plus `n`, modulo 2^128 (SP 800-38A appendix B.1).
inline void add_be128(uint8_t counter[16], uint64_t n) {
  const uint64_t low = load_be64(counter + 8);
  store_be64(counter + 8, low + n);
  if (low + n < low) store_be64(counter, load_be64(counter) + 1);
}

// The 128-bit little-endian number in `number` plus `n`, modulo 2^128 (IEEE 1619: data unit numbers).
inline void add_le128(uint8_t number[16], uint64_t n) {
  const uint64_t low = load_le64(number);
  store_le64(number, low + n);
  if (low + n < low) store_le64(number + 8, load_le64(number + 8) + 1);
}

// True if the ranges share a byte. Equal non-empty ranges overlap too.
inline bool ranges_overlap(const void* a, uint64_t a_length, const void* b, uint64_t b_length) {
  const auto x = reinterpret_cast<uintptr_t>(a);
  const auto y = reinterpret_cast<uintptr_t>(b);
  if (a_length == 0 || b_length == 0) return false;
  return x < y ? y - x < a_length : x - y < b_length;
}

}  // namespace stockade
