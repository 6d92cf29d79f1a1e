// Arithmetic in GHASH's field for one thread (SP 800-38D §6.3), modulo x^128 + x^7 + x^2 + x + 1. Constant-time wherever
// the machine's 32-bit multiplication is, as it is on every NVIDIA GPU.
//
// An Element's four words, read as one number of 128 bits, are the polynomial in reversed order: the coefficient of x^0
// is the top bit. Products of polynomials commute with reversing, so numbers are multiplied as they are, without
// carries; the 255 bits of a product, moved up by one, are the 256 coefficients in reversed order again.
#pragma once

#include "gcm/gcm_cuda.h"
#include "gpu/thread.h"

namespace stockade::gcm {

STOCKADE_DEVICE Element operator^(const Element& a, const Element& b) {
  return {{a.w[0] ^ b.w[0], a.w[1] ^ b.w[1], a.w[2] ^ b.w[2], a.w[3] ^ b.w[3]}};
}

STOCKADE_DEVICE Element element_from(const gpu::Quad& quad) {
  return {
      {gpu::swap_bytes(quad.w[0]), gpu::swap_bytes(quad.w[1]), gpu::swap_bytes(quad.w[2]), gpu::swap_bytes(quad.w[3])}};
}
STOCKADE_DEVICE gpu::Quad quad_from(const Element& a) {
  return {{gpu::swap_bytes(a.w[0]), gpu::swap_bytes(a.w[1]), gpu::swap_bytes(a.w[2]), gpu::swap_bytes(a.w[3])}};
}

// a·b of 32-bit polynomials, from integer products of operands that keep every fourth bit: a position sums up at most
// eight ones, which stay within its four bits, and the lowest of them is the sum modulo 2.
STOCKADE_DEVICE uint64_t multiply_carryless(uint32_t a, uint32_t b) {
  constexpr uint32_t mask = 0x11111111;
  const uint32_t a0 = a & mask, a1 = a & mask << 1, a2 = a & mask << 2, a3 = a & mask << 3;
  const uint32_t b0 = b & mask, b1 = b & mask << 1, b2 = b & mask << 2, b3 = b & mask << 3;
  const auto wide = [](uint32_t x, uint32_t y) { return uint64_t{x} * y; };
  const uint64_t c0 = wide(a0, b0) ^ wide(a1, b3) ^ wide(a2, b2) ^ wide(a3, b1);
  const uint64_t c1 = wide(a0, b1) ^ wide(a1, b0) ^ wide(a2, b3) ^ wide(a3, b2);
  const uint64_t c2 = wide(a0, b2) ^ wide(a1, b1) ^ wide(a2, b0) ^ wide(a3, b3);
  const uint64_t c3 = wide(a0, b3) ^ wide(a1, b2) ^ wide(a2, b1) ^ wide(a3, b0);
  constexpr uint64_t masks = 0x1111111111111111;
  return (c0 & masks) | (c1 & masks << 1) | (c2 & masks << 2) | (c3 & masks << 3);
}

// 128 bits, most significant word first.
STOCKADE_DEVICE Element multiply_carryless(uint32_t a_high, uint32_t a_low, uint32_t b_high, uint32_t b_low) {
  const uint64_t high = multiply_carryless(a_high, b_high), low = multiply_carryless(a_low, b_low);
  const uint64_t middle = multiply_carryless(a_high ^ a_low, b_high ^ b_low) ^ high ^ low;
  return {{static_cast<uint32_t>(high >> 32), static_cast<uint32_t>(high) ^ static_cast<uint32_t>(middle >> 32),
           static_cast<uint32_t>(low >> 32) ^ static_cast<uint32_t>(middle), static_cast<uint32_t>(low)}};
}

// The field's element whose 256 coefficients, in reversed order, are p·2 for p < 2^255, most significant word first. The
// coefficient of x^(128 + k) goes to x^k, x^(k+1), x^(k+2) and x^(k+7); what those push past x^127 goes round once more.
STOCKADE_DEVICE Element reduce(const uint32_t (&p)[8]) {
  uint32_t c[8];
  STOCKADE_UNROLL
  for (uint32_t i = 0; i < 7; ++i) c[i] = gpu::shift_left(p[i + 1], p[i], 1);
  c[7] = p[7] << 1;
  c[4] ^= c[7] << 31 ^ c[7] << 30 ^ c[7] << 25;
  Element result;
  STOCKADE_UNROLL
  for (uint32_t i = 0; i < 4; ++i) {
    const uint32_t low = c[4 + i], high = i == 0 ? 0 : c[3 + i];
    const uint32_t first = c[i] ^ low ^ gpu::shift_left(low, high, 31);
    result.w[i] = first ^ gpu::shift_left(low, high, 30) ^ gpu::shift_left(low, high, 25);
  }
  return result;
}

// Two levels of Karatsuba: 9 products of words.
STOCKADE_DEVICE Element multiply(const Element& a, const Element& b) {
  const Element high = multiply_carryless(a.w[0], a.w[1], b.w[0], b.w[1]);
  const Element low = multiply_carryless(a.w[2], a.w[3], b.w[2], b.w[3]);
  const Element both =
      multiply_carryless(a.w[0] ^ a.w[2], a.w[1] ^ a.w[3], b.w[0] ^ b.w[2], b.w[1] ^ b.w[3]) ^ high ^ low;
  return reduce({high.w[0], high.w[1], high.w[2] ^ both.w[0], high.w[3] ^ both.w[1], low.w[0] ^ both.w[2],
                 low.w[1] ^ both.w[3], low.w[2], low.w[3]});
}

// The square of a 16-bit polynomial: its bits with zeros between them.
STOCKADE_DEVICE uint32_t spread_half(uint32_t x) {
  x = (x | x << 8) & 0x00FF00FF;
  x = (x | x << 4) & 0x0F0F0F0F;
  x = (x | x << 2) & 0x33333333;
  return (x | x << 1) & 0x55555555;
}

STOCKADE_DEVICE Element square(const Element& a) {
  return reduce({spread_half(a.w[0] >> 16), spread_half(a.w[0] & 0xFFFF), spread_half(a.w[1] >> 16),
                 spread_half(a.w[1] & 0xFFFF), spread_half(a.w[2] >> 16), spread_half(a.w[2] & 0xFFFF),
                 spread_half(a.w[3] >> 16), spread_half(a.w[3] & 0xFFFF)});
}

// ---- a warp's elements; all lanes must come ----

template <typename Thread>
STOCKADE_DEVICE Element shuffle_xor(const Thread& thread, const Element& a, uint32_t mask) {
  Element result;
  STOCKADE_UNROLL
  for (uint32_t i = 0; i < 4; ++i) result.w[i] = thread.shuffle_xor(a.w[i], mask);
  return result;
}

// Every lane gets the sum.
template <typename Thread>
STOCKADE_DEVICE Element sum_of_warp(const Thread& thread, Element a) {
  STOCKADE_ROLLED
  for (uint32_t mask = 16; mask != 0; mask >>= 1) a = a ^ shuffle_xor(thread, a, mask);
  return a;
}

// a·H^e for e < 2^22 that is no secret. The digit that the lanes of a warp differ in should be the lowest.
STOCKADE_DEVICE Element times_power(const GpuHashKey& hash, Element a, uint32_t exponent) {
  STOCKADE_ROLLED
  for (uint32_t table = 0; exponent != 0; table += 64, exponent >>= GpuHashKey::digit_bits) {
    if ((exponent & 63) != 0) a = multiply(a, hash.power[table + (exponent & 63)]);
  }
  return a;
}

}  // namespace stockade::gcm
