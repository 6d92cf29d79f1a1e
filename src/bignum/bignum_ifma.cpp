// Modular powers with AVX-512 IFMA: eight side by side, digits of 52 bits, unsigned. Constant-time in moduli, bases,
// exponents and results. The method is in bignum/bignum_lanes.h.
//
// `lo` and `hi` of a column sum at most 2·digits halves below 2^52 each, and a carry: below 2^62 for the longest
// modulus. Results: with n < R/16 and factors below 3n, of a product less than 9n²/R < 0.6n is left, of the digits
// taken away less than n (they are below 2^(s·W), and fold at most n) and a part in 2^260, of q·n less than n: below
// 3n again.
#include <immintrin.h>

#include <cstdint>

#include "bignum/bignum_ifma_pair.h"
#include "bignum/bignum_kernels.h"
#include "bignum/bignum_lanes.h"

namespace stockade::bignum {
namespace {

struct Ifma {
  using T = __m512i;
  static constexpr uint32_t lanes = 8;
  static constexpr uint32_t width = 5;
  static constexpr uint32_t widest_window = 4;  // 5 gains nothing and takes 40 KB at 1,024 bits
  static constexpr bool doubles_sums = true;    // twice a digit would not be one

  struct Column {
    T lo;
    T hi;
  };
  struct Entered {
    Entered() {}
  };

  Ifma() = default;
  explicit Ifma(uint32_t) {}

  static Shape shape(const Montgomery& modulus) {
    const uint32_t digits = (modulus.bits + 4 + digit_bits - 1) / digit_bits;
    return {digit_bits, digits, modulus.limbs, digits == modulus.digits};
  }

  static uint32_t least_lanes(const Shape& shape) { return IfmaPair::fits(shape) ? 3 : 2; }
  static Status few(const Shape& shape, const Power* tasks, uint32_t count) {
    return IfmaPair::fits(shape) ? IfmaPair::modexp(shape, tasks, count) : kernels_adx.modexp(tasks, count);
  }

  static T zero() { return _mm512_setzero_si512(); }
  static T one() { return _mm512_set1_epi64(1); }
  static T mask() { return _mm512_set1_epi64((1LL << digit_bits) - 1); }
  static T sum(T a, T b) { return _mm512_add_epi64(a, b); }

  STOCKADE_INLINE static Column empty() { return {zero(), zero()}; }
  STOCKADE_INLINE static void product(Column& c, T x, T y) {
    c.lo = _mm512_madd52lo_epu64(c.lo, x, y);
    c.hi = _mm512_madd52hi_epu64(c.hi, x, y);
  }
  static const T* doubled(const T* a, uint32_t, T*) { return a; }
  STOCKADE_INLINE static void twice(Column& c) {
    c.lo = _mm512_add_epi64(c.lo, c.lo);
    c.hi = _mm512_add_epi64(c.hi, c.hi);
  }
  template <uint32_t W>
  STOCKADE_INLINE static void settle(const Column (&c)[W], T& carry, T (&digit)[W]) {
#pragma GCC unroll 8
    for (uint32_t j = 0; j < W; ++j) {
      const T value = _mm512_add_epi64(c[j].lo, carry);
      digit[j] = _mm512_and_si512(value, mask());
      carry = _mm512_add_epi64(c[j].hi, _mm512_srli_epi64(value, digit_bits));
    }
  }
  static T quotient(T value, T inverse) {
    return _mm512_and_si512(_mm512_madd52lo_epu64(zero(), value, inverse), mask());
  }
  // Quotient by quotient, each of the lowest digit of -1/n only: IFMA's latency is short.
  template <uint32_t W>
  STOCKADE_INLINE static void finish(Column (&c)[W], T& carry, const T* n, const T* inverse, T (&q)[W]) {
#pragma GCC unroll 8
    for (uint32_t j = 0; j < W; ++j) {
      c[j].lo = _mm512_add_epi64(c[j].lo, carry);
      q[j] = _mm512_madd52lo_epu64(zero(), c[j].lo, inverse[0]);
#pragma GCC unroll 8
      for (uint32_t i = j; i < W; ++i) product(c[i], q[j], n[i - j]);
      carry = _mm512_add_epi64(c[j].hi, _mm512_srli_epi64(c[j].lo, digit_bits));
    }
  }

  static void admit(T*, uint32_t) {}
  static void release(T*, const T*, uint32_t) {}

  static T bits_at(const T* exponents, uint32_t from, uint32_t count) {
    const T* const at = exponents + from / limb_bits;
    const T low = _mm512_srl_epi64(at[0], _mm_cvtsi32_si128(static_cast<int>(from % limb_bits)));
    const T high = _mm512_sll_epi64(at[1], _mm_cvtsi32_si128(static_cast<int>(limb_bits - from % limb_bits)));
    return _mm512_and_si512(_mm512_or_si512(low, high), _mm512_set1_epi64((1LL << count) - 1));
  }
  // out = entry `index` of each lane; out is no part of the table. The last digits are read again to make a whole step.
  static constexpr uint32_t step = 8;
  static void select(const T* table, uint32_t entries, uint32_t digits, T index, T* out) {
    for (uint32_t from = 0; from < digits; from += step) {
      const uint32_t at = from + step <= digits ? from : digits - step;
      select_digits(table + at, entries, digits, index, out + at);
    }
  }
  STOCKADE_INLINE static void select_digits(const T* table, uint32_t entries, uint32_t digits, T index, T* out) {
    T found[step];
#pragma GCC unroll 8
    for (uint32_t i = 0; i < step; ++i) found[i] = zero();
    for (uint32_t entry = 0; entry < entries; ++entry) {
      const __mmask8 here = _mm512_cmpeq_epi64_mask(index, _mm512_set1_epi64(entry));
#pragma GCC unroll 8
      for (uint32_t i = 0; i < step; ++i) found[i] = _mm512_mask_mov_epi64(found[i], here, table[entry * digits + i]);
    }
#pragma GCC unroll 8
    for (uint32_t i = 0; i < step; ++i) out[i] = found[i];
  }
};

}  // namespace

const Kernels kernels_ifma = LaneRow<Ifma>::kernels;

}  // namespace stockade::bignum
