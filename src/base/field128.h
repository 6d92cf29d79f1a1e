// The field of XTS (IEEE 1619 §5.2) and GCM (SP 800-38D §6.3): polynomials over GF(2) modulo x^128 + x^7 + x^2 + x + 1.
// The two standards differ only in how they store an element. Everything is constant-time in the elements.
#pragma once

#include <bit>
#include <cstdint>

#include "base/bytes.h"

namespace stockade {

// Bit i of (high, low) is the coefficient of x^i.
struct Field128 {
  uint64_t low, high;
};

inline Field128 add(Field128 a, Field128 b) { return {a.low ^ b.low, a.high ^ b.high}; }

inline Field128 times_x(Field128 a) {
  const uint64_t carry = a.high >> 63;
  return {a.low << 1 ^ (0x87 & (0 - carry)), a.high << 1 | a.low >> 63};
}

// The 256-bit polynomial (high, low) modulo the field's: x^128 = x^7 + x^2 + x + 1.
inline Field128 reduce(Field128 low, Field128 high) {
  const uint64_t carry = high.high >> 63 ^ high.high >> 62 ^ high.high >> 57;
  const auto fold = [](uint64_t word) { return word ^ word << 1 ^ word << 2 ^ word << 7; };
  const uint64_t across = high.low >> 63 ^ high.low >> 62 ^ high.low >> 57;
  return {low.low ^ fold(high.low) ^ fold(carry), low.high ^ fold(high.high) ^ across};
}

// The square of a polynomial of degree under 32: its bits with zeros between them.
inline uint64_t spread_bits(uint32_t bits) {
  uint64_t x = bits;
  x = (x | x << 16) & 0x0000FFFF0000FFFF;
  x = (x | x << 8) & 0x00FF00FF00FF00FF;
  x = (x | x << 4) & 0x0F0F0F0F0F0F0F0F;
  x = (x | x << 2) & 0x3333333333333333;
  return (x | x << 1) & 0x5555555555555555;
}

inline Field128 square(Field128 a) {
  const auto half = [](uint64_t word) {
    return Field128{spread_bits(static_cast<uint32_t>(word)), spread_bits(static_cast<uint32_t>(word >> 32))};
  };
  return reduce(half(a.low), half(a.high));
}

// a·b as polynomials of degree under 64. Integer products of operands that keep every fifth bit only: a sum of at most
// 13 ones per position stays within its five bits, and the lowest of them is the sum modulo 2.
inline Field128 multiply_words(uint64_t a, uint64_t b) {
  constexpr uint64_t every_fifth = 0x1084210842108421;  // bits 0, 5, ... 60
  constexpr uint64_t masks[5] = {every_fifth, every_fifth << 1, every_fifth << 2, every_fifth << 3, every_fifth << 4};
  Field128 product{0, 0};
  for (uint32_t k = 0; k < 5; ++k) {
    unsigned __int128 sum = 0;
    for (uint32_t i = 0; i < 5; ++i) {
      sum ^= static_cast<unsigned __int128>(a & masks[i]) * (b & masks[(k + 5 - i) % 5]);
    }
    product.low |= static_cast<uint64_t>(sum) & masks[k];
    product.high |= static_cast<uint64_t>(sum >> 64) & masks[(k + 1) % 5];  // bit 64 + j has (j + 4) % 5 = k
  }
  return product;
}

inline Field128 multiply(Field128 a, Field128 b) {
  const Field128 low = multiply_words(a.low, b.low);
  const Field128 high = multiply_words(a.high, b.high);
  const Field128 middle = add(add(multiply_words(a.low ^ a.high, b.low ^ b.high), low), high);
  return reduce({low.low, low.high ^ middle.low}, {high.low ^ middle.high, high.high});
}

// base^exponent; time depends on the exponent.
inline Field128 power(Field128 base, uint64_t exponent) {
  Field128 result{1, 0};
  for (auto bit = static_cast<uint32_t>(std::bit_width(exponent)); bit-- > 0;) {
    result = square(result);
    if (exponent >> bit & 1) result = multiply(result, base);
  }
  return result;
}

// x^exponent; time depends on the exponent.
inline Field128 power_of_x(uint64_t exponent) {
  Field128 result{1, 0};
  for (auto bit = static_cast<uint32_t>(std::bit_width(exponent)); bit-- > 0;) {
    result = square(result);
    if (exponent >> bit & 1) result = times_x(result);
  }
  return result;
}

// IEEE 1619 §5.2: bit i of byte j is the coefficient of x^(8j + i).
inline Field128 load_xts(const uint8_t bytes[16]) { return {load_le64(bytes), load_le64(bytes + 8)}; }

inline void store_xts(uint8_t bytes[16], Field128 a) {
  store_le64(bytes, a.low);
  store_le64(bytes + 8, a.high);
}

// SP 800-38D §6.3: the same with each byte's bits in the opposite order.
inline uint64_t reverse_bits_of_bytes(uint64_t x) {
  x = (x >> 4 & 0x0F0F0F0F0F0F0F0F) | (x & 0x0F0F0F0F0F0F0F0F) << 4;
  x = (x >> 2 & 0x3333333333333333) | (x & 0x3333333333333333) << 2;
  return (x >> 1 & 0x5555555555555555) | (x & 0x5555555555555555) << 1;
}

inline Field128 load_gcm(const uint8_t bytes[16]) {
  return {reverse_bits_of_bytes(load_le64(bytes)), reverse_bits_of_bytes(load_le64(bytes + 8))};
}

inline void store_gcm(uint8_t bytes[16], Field128 a) {
  store_le64(bytes, reverse_bits_of_bytes(a.low));
  store_le64(bytes + 8, reverse_bits_of_bytes(a.high));
}

}  // namespace stockade
