// Modular powers with AVX2 and FMA: four side by side, digits of s = 43 to 48 bits, signed, in double precision.
// Constant-time in moduli, bases, exponents and results. The method is in bignum/bignum_lanes.h.
//
// A column's `hi` is a sum kept at 1.5·2^(52+s) and so rounded to multiples of 2^s: hi' = fma(x, y, hi) takes the
// upper part of a product, and fma(x, y, hi - hi') is exactly what rounding left behind, at most 2^(s-1); `lo` sums
// that. So a product is two FMAs, which run on two of the four pipes of a Zen core, and two additions, which run on
// the other two. (Emmart, Zheng and Weems, ARITH 2018, round toward zero and add both halves' bit patterns as
// integers: digits of 52 bits, but five operations.)
//
// Digits are balanced, |digit| <= 2^(s-1) and a little: a column settles without a chain of carries, each digit
// passing what is above it to its neighbour once. With N products to a column `lo` is exact for N·2^(s-1) <= 2^53, and
// `hi` for N·2^(2s-2) <= 2^(51+s), that is N <= 2^(53-s). The highest digits of n and of factors are below 2^(s-4), so
// that of 2·digits products the three with one of them count for less than one: N <= 2·digits - 2. Results: with n <
// R/32 and factors within 2n of 0, of a product 4n²/R < n/8 is left, of the digits taken away n/2 and of q·n n/2, each
// and a little: within 2n again.
#include <immintrin.h>

#include <cstdint>

#include "bignum/bignum_kernels.h"
#include "bignum/bignum_lanes.h"

namespace stockade::bignum {
namespace {

struct DoubleFma {
  using T = __m256d;
  static constexpr uint32_t lanes = 4;
  static constexpr uint32_t width = 6;
  static constexpr uint32_t widest_window = 5;
  static constexpr bool doubles_sums = false;

  struct Column {
    T lo;
    T hi;
  };

  // Rounding to nearest with every exception masked, whatever the caller has set and gets back.
  struct Entered {
    Entered() : saved(_mm_getcsr()) { set(0x1f80); }
    ~Entered() { set(saved); }
    Entered(const Entered&) = delete;
    Entered& operator=(const Entered&) = delete;
    static void set(uint32_t control) { __asm__ __volatile__("ldmxcsr %0" : : "m"(control) : "memory"); }
    uint32_t saved;
  };

  T base;  // 1.5·2^(52+s)
  T down;  // 2^-s

  DoubleFma() = default;
  explicit DoubleFma(uint32_t radix_bits)
      : base(power_of_two(52 + static_cast<int>(radix_bits), 1LL << 51)),
        down(power_of_two(-static_cast<int>(radix_bits), 0)) {}
  static T power_of_two(int exponent, long long fraction) {
    return _mm256_castsi256_pd(_mm256_set1_epi64x((exponent + 1023LL) << 52 | fraction));
  }

  static Shape shape(const Montgomery& modulus) {
    Shape shape{48, 0, modulus.limbs, false};
    for (;; --shape.radix_bits) {
      shape.digits = (modulus.bits + 5 + shape.radix_bits - 1) / shape.radix_bits;
      if (2 * shape.digits - 2 <= 1U << (53 - shape.radix_bits)) return shape;
    }
  }

  static uint32_t least_lanes(const Shape&) { return 2; }
  static Status few(const Shape&, const Power* tasks, uint32_t count) { return kernels_adx.modexp(tasks, count); }

  static T zero() { return _mm256_setzero_pd(); }
  static T one() { return _mm256_set1_pd(1.0); }
  static T sum(T a, T b) { return _mm256_add_pd(a, b); }

  STOCKADE_INLINE Column empty() const { return {zero(), base}; }
  // hi' = x·y + hi, lo += x·y + (hi - hi'). As assembly, because compilers unfold it into more copies than there are
  // registers.
  STOCKADE_INLINE static void product(Column& c, T x, const T& y) {
    T left;
    __asm__(
        "vmovapd %0, %2\n\tvfmadd231pd %4, %3, %0\n\tvsubpd %0, %2, %2\n\tvfmadd231pd %4, %3, %2\n\t"
        "vaddpd %2, %1, %1"
        : "+x"(c.hi), "+x"(c.lo), "=&x"(left)
        : "x"(x), "m"(y));
  }
  STOCKADE_INLINE T high(const Column& c) const { return _mm256_sub_pd(c.hi, base); }
  STOCKADE_INLINE static const T* doubled(const T* a, uint32_t digits, T* out) {
    for (uint32_t i = 0; i < digits; ++i) out[i] = _mm256_add_pd(a[i], a[i]);
    return out;
  }
  STOCKADE_INLINE static void twice(Column&) {}
  // The multiple of 2^s next to value.
  STOCKADE_INLINE T upper(T value) const { return _mm256_sub_pd(_mm256_add_pd(value, base), base); }

  template <uint32_t W>
  STOCKADE_INLINE void settle(const Column (&c)[W], T& carry, T (&digit)[W]) const {
    T above = zero();
#pragma GCC unroll 8
    for (uint32_t j = 0; j < W; ++j) {
      const T value = j == 0 ? _mm256_add_pd(c[0].lo, carry) : _mm256_fmadd_pd(high(c[j - 1]), down, c[j].lo);
      const T up = upper(value);
      digit[j] = _mm256_fmadd_pd(above, down, _mm256_sub_pd(value, up));
      above = up;
    }
    carry = _mm256_mul_pd(_mm256_add_pd(high(c[W - 1]), above), down);
  }
  STOCKADE_INLINE T quotient(T value, T inverse) const {
    const T low = _mm256_sub_pd(value, upper(value));
    const T hi = _mm256_fmadd_pd(low, inverse, base);
    return _mm256_fmadd_pd(low, inverse, _mm256_sub_pd(base, hi));
  }
  // All quotients at once, as the product of the settled digits and -1/n modulo 2^(s·W): one after the other they would
  // wait for one another for longer. digits + q·n is a multiple of 2^(s·W), so that its two highest columns, rounded,
  // tell what it leaves above: fewer than 8 roundings of sums below 2^(2s+1) are off by less than 2^(2s-50).
  template <uint32_t W>
  STOCKADE_INLINE void finish(const Column (&c)[W], T& carry, const T* n, const T* inverse, T (&q)[W]) const {
    T low[W];
    settle(c, carry, low);
    Column product_columns[W];
    clear<DoubleFma, W>(*this, product_columns);
    add_rising<DoubleFma, W>(*this, product_columns, low, inverse, 0);
    T dropped = zero();
    settle(product_columns, dropped, q);

    T sums[2] = {_mm256_mul_pd(q[0], n[W - 2]), _mm256_fmadd_pd(q[0], n[W - 1], low[W - 1])};
#pragma GCC unroll 8
    for (uint32_t i = 1; i < W; ++i) {
      if (i < W - 1) sums[0] = _mm256_fmadd_pd(q[i], n[W - 2 - i], sums[0]);
      sums[1] = _mm256_fmadd_pd(q[i], n[W - 1 - i], sums[1]);
    }
    carry = _mm256_fmadd_pd(upper(_mm256_fmadd_pd(sums[0], down, sums[1])), down, carry);
  }

  // Words below 2^s to balanced digits; the highest one is below 2^(s-1) by then.
  void admit(T* a, uint32_t digits) const {
    const __m256i exponent = _mm256_set1_epi64x((52 + 1023LL) << 52);
    T above = zero();
    for (uint32_t i = 0; i < digits; ++i) {
      const __m256i word = _mm256_castpd_si256(a[i]);
      const T value =
          _mm256_sub_pd(_mm256_castsi256_pd(_mm256_or_si256(word, exponent)), _mm256_castsi256_pd(exponent));
      const T up = upper(value);
      a[i] = _mm256_fmadd_pd(above, down, _mm256_sub_pd(value, up));
      above = up;
    }
  }
  // a + 2n, so that the value is not negative.
  static void release(T* a, const T* n, uint32_t digits) {
    const T offset = power_of_two(52, 1LL << 51);
    for (uint32_t i = 0; i < digits; ++i) {
      const T value = _mm256_add_pd(_mm256_add_pd(a[i], _mm256_add_pd(n[i], n[i])), offset);
      a[i] = _mm256_castsi256_pd(_mm256_sub_epi64(_mm256_castpd_si256(value), _mm256_castpd_si256(offset)));
    }
  }

  static __m256i bits_at(const T* exponents, uint32_t from, uint32_t count) {
    const T* const at = exponents + from / limb_bits;
    const __m128i shift = _mm_cvtsi32_si128(static_cast<int>(from % limb_bits));
    const __m128i rest = _mm_cvtsi32_si128(static_cast<int>(limb_bits - from % limb_bits));
    const __m256i bits = _mm256_or_si256(_mm256_srl_epi64(_mm256_castpd_si256(at[0]), shift),
                                         _mm256_sll_epi64(_mm256_castpd_si256(at[1]), rest));
    return _mm256_and_si256(bits, _mm256_set1_epi64x((1LL << count) - 1));
  }
  // out = entry `index` of each lane; out is no part of the table. The last digits are read again to make a whole step.
  static constexpr uint32_t step = 8;
  static void select(const T* table, uint32_t entries, uint32_t digits, __m256i index, T* out) {
    for (uint32_t from = 0; from < digits; from += step) {
      const uint32_t at = from + step <= digits ? from : digits - step;
      select_digits(table + at, entries, digits, index, out + at);
    }
  }
  STOCKADE_INLINE static void select_digits(const T* table, uint32_t entries, uint32_t digits, __m256i index, T* out) {
    T found[step];
#pragma GCC unroll 8
    for (uint32_t i = 0; i < step; ++i) found[i] = zero();
    for (uint32_t entry = 0; entry < entries; ++entry) {
      const T here = _mm256_castsi256_pd(_mm256_cmpeq_epi64(index, _mm256_set1_epi64x(entry)));
#pragma GCC unroll 8
      for (uint32_t i = 0; i < step; ++i) found[i] = _mm256_blendv_pd(found[i], table[entry * digits + i], here);
    }
#pragma GCC unroll 8
    for (uint32_t i = 0; i < step; ++i) out[i] = found[i];
  }
};

}  // namespace

const Kernels kernels_avx2 = LaneRow<DoubleFma>::kernels;

}  // namespace stockade::bignum
