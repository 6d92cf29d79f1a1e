// One or two powers with their digits along the lanes of AVX-512 IFMA: for the two halves of one RSA operation, which
// leave most lanes of the kernel in bignum/bignum_lanes.h empty. The two are interleaved, each in the latency of the
// other.
//
// Columns stand still: column c of a product is lane c % 8 of vector c / 8, of `lo` for low halves and, one column
// higher, of `hi`. Row i adds b[i]·a, with `a` loaded i digits higher from between zeros. Reduction is that of the
// other kernel: digit x of column i comes back as x·fold at column i + 2, for fold = 2^(-52·2) mod n, so that a digit
// has two rows' time to be found and spread over a vector; the last two columns are cleared by Montgomery's quotients.
// `fold` is kept once for each position in a vector, because a load across cache lines costs two.
//
// Constant-time in moduli, bases, exponents and results. Sums and results are bounded as in bignum_ifma.cpp.
#pragma once

#include <immintrin.h>

#include <cstddef>
#include <cstdint>

#include "bignum/bignum_kernels.h"
#include "bignum/bignum_lanes.h"

namespace stockade::bignum {
namespace {

class IfmaPair {
  using T = __m512i;
  static constexpr uint32_t lanes = 8;
  // The rows' vectors and where the result begins, below, are those of these lengths.
  static constexpr uint32_t fewest_digits = 18;
  static constexpr uint32_t most_digits_here = 20;
  static constexpr uint32_t ahead = 2;    // digits between one that is taken away and where it comes back
  static constexpr uint32_t vectors = 5;  // of columns
  static constexpr uint32_t value_words = 24;
  static constexpr uint32_t padded_words = lanes + value_words + 2 * lanes;  // with zeros on both sides
  static constexpr uint32_t exponent_window_bits = 5;
  static constexpr uint32_t entries = 1U << exponent_window_bits;

  // One power's numbers. Of a padded number this is where its digits begin.
  struct Half {
    uint64_t* n;
    uint64_t* power;
    uint64_t* factor;
    uint64_t* table;  // `entries` of value_words
    T* fold;          // four vectors for each of 0 to 7 digits by which it is moved up
    uint64_t inverse;
  };
  struct Columns {
    T lo[vectors + 1];
    T hi[vectors + 1];
    T carry;
    T taken[ahead];  // the digits taken away last, the oldest first, each over a vector
  };

 public:
  // Whether powers of this shape can be done here.
  static bool fits(const Shape& shape) {
    return shape.has_square && shape.digits >= fewest_digits && shape.digits <= most_digits_here;
  }

  static Status modexp(const Shape& shape, const Power* tasks, uint32_t count) {
    constexpr size_t half_words = 3 * padded_words + entries * value_words + lanes * 4 * lanes;
    Scratch scratch(2 * half_words + 2 * (most_limbs + 1));
    if (scratch.words == nullptr) return STOCKADE_ERROR_MEMORY;
    IfmaPair pair;
    pair.digits_ = shape.digits;
    for (uint32_t g = 0; g < 2; ++g) {
      pair.tasks_[g] = &tasks[g < count ? g : 0];
      pair.half_[g] = lay_out(scratch.words + g * half_words, half_words);
      pair.load_modulus(g);
    }
    pair.fill_tables();
    pair.raise();
    for (uint32_t g = 0; g < count; ++g) pair.store(g, scratch.words + 2 * half_words);
    return STOCKADE_OK;
  }

 private:
  static Half lay_out(uint64_t* words, size_t count) {
    for (size_t i = 0; i < count; ++i) words[i] = 0;
    Half half{};
    half.table = words;
    half.fold = reinterpret_cast<T*>(words + entries * value_words);
    half.n = words + entries * value_words + lanes * 4 * lanes + lanes;
    half.power = half.n + padded_words;
    half.factor = half.power + padded_words;
    return half;
  }

  void load_modulus(uint32_t g) {
    const Montgomery& modulus = *tasks_[g]->modulus;
    Half& half = half_[g];
    half.inverse = modulus.inverse52;
    for (uint32_t i = 0; i < digits_; ++i) half.n[i] = modulus.n52[i];
    // Two steps of Montgomery's reduction of 1.
    uint64_t* const fold = half.factor;
    fold[0] = 1;
    constexpr uint64_t mask = (uint64_t{1} << digit_bits) - 1;
    for (uint32_t step = 0; step < ahead; ++step) {
      const uint64_t quotient = fold[0] * half.inverse & mask;
      uint64_t carry = 0;
      for (uint32_t i = 0; i < digits_; ++i) {
        const unsigned __int128 sum = static_cast<unsigned __int128>(quotient) * half.n[i] + fold[i] + carry;
        if (i > 0) fold[i - 1] = static_cast<uint64_t>(sum) & mask;
        carry = static_cast<uint64_t>(sum >> digit_bits);
      }
      fold[digits_ - 1] = carry;
    }
    for (uint32_t i = 0; i < 4 * lanes; ++i) {
      half.fold[i] = _mm512_loadu_si512(fold + i % 4 * lanes - i / 4);
    }
  }

  // Row i of both products into the `N` vectors from R on: the multiplier's digit i and the digit taken away `ahead`
  // columns ago.
  template <uint32_t R, uint32_t N>
  STOCKADE_INLINE static void add_row(Columns& c, const Half& half, const uint64_t* a, uint64_t digit, uint32_t i) {
    const T multiplier = _mm512_set1_epi64(static_cast<long long>(digit));
    const uint64_t* const shifted = a + static_cast<ptrdiff_t>(R * lanes) - i;
    const T* const fold = half.fold + i % lanes * 4;
#pragma GCC unroll 4
    for (uint32_t j = 0; j < N; ++j) {
      const T x = _mm512_loadu_si512(shifted + j * lanes);
      c.lo[R + j] = _mm512_madd52lo_epu64(c.lo[R + j], x, multiplier);
      c.hi[R + j] = _mm512_madd52hi_epu64(c.hi[R + j], x, multiplier);
    }
#pragma GCC unroll 4
    for (uint32_t j = 0; j < N; ++j) {
      c.lo[R + j] = _mm512_madd52lo_epu64(c.lo[R + j], fold[j], c.taken[0]);
      c.hi[R + j] = _mm512_madd52hi_epu64(c.hi[R + j], fold[j], c.taken[0]);
    }
  }

  // Column i = 8R + lane with what was carried into it, in every lane.
  template <uint32_t R>
  STOCKADE_INLINE static T column(const Columns& c, uint32_t lane) {
    const T low = _mm512_permutexvar_epi64(_mm512_set1_epi64(lane), c.lo[R]);
    const T high = _mm512_maskz_permutexvar_epi64(static_cast<__mmask8>(lane == 0 ? 0 : 0xff),
                                                  _mm512_set1_epi64(static_cast<long long>(lane) - 1), c.hi[R]);
    return _mm512_add_epi64(_mm512_add_epi64(low, c.carry), high);
  }

  template <uint32_t R, uint32_t N>
  STOCKADE_INLINE void take_rows(Columns (&c)[2], const uint64_t* const (&a)[2], const uint64_t* const (&b)[2],
                                 uint32_t to) const {
    if constexpr (R > 0) {
      // The highest column of `hi` behind belongs to the first one here.
#pragma GCC unroll 2
      for (uint32_t g = 0; g < 2; ++g) {
        c[g].carry = _mm512_add_epi64(c[g].carry, _mm512_permutexvar_epi64(_mm512_set1_epi64(7), c[g].hi[R - 1]));
      }
    }
    for (uint32_t i = R * lanes; i < to; ++i) {
#pragma GCC unroll 2
      for (uint32_t g = 0; g < 2; ++g) {
        add_row<R, N>(c[g], half_[g], a[g], b[g][i], i);
        const T value = column<R>(c[g], i - R * lanes);
        c[g].taken[0] = c[g].taken[1];
        c[g].taken[1] = value;
        c[g].carry = _mm512_srli_epi64(value, digit_bits);
      }
    }
  }

  // The last two rows: q = -column/n modulo 2^52, and q·n is added.
  STOCKADE_INLINE void clear_rows(Columns (&c)[2], const uint64_t* const (&a)[2], const uint64_t* const (&b)[2]) const {
    constexpr uint32_t R = 2;
    for (uint32_t i = digits_ - ahead; i < digits_; ++i) {
#pragma GCC unroll 2
      for (uint32_t g = 0; g < 2; ++g) {
        add_row<R, 3>(c[g], half_[g], a[g], b[g][i], i);
        c[g].taken[0] = c[g].taken[1];
        const T value = column<R>(c[g], i - R * lanes);
        const T quotient = _mm512_madd52lo_epu64(_mm512_setzero_si512(), value,
                                                 _mm512_set1_epi64(static_cast<long long>(half_[g].inverse)));
        const uint64_t* const n = half_[g].n + R * lanes - i;
#pragma GCC unroll 3
        for (uint32_t j = 0; j < 3; ++j) {
          const T x = _mm512_loadu_si512(n + j * lanes);
          c[g].lo[R + j] = _mm512_madd52lo_epu64(c[g].lo[R + j], x, quotient);
          c[g].hi[R + j] = _mm512_madd52hi_epu64(c[g].hi[R + j], x, quotient);
        }
        const T lowest = _mm512_set1_epi64(static_cast<long long>(half_[g].n[0]));
        c[g].carry = _mm512_srli_epi64(_mm512_madd52lo_epu64(value, quotient, lowest), digit_bits);
      }
    }
  }

  // Columns from `digits_` on to digits below 2^52.
  STOCKADE_INLINE void settle(const Columns& c, uint64_t* out) const {
    const T lane = _mm512_set_epi64(7, 6, 5, 4, 3, 2, 1, 0);
    const T low_from = _mm512_add_epi64(lane, _mm512_set1_epi64(digits_ % lanes));
    const T high_from = _mm512_add_epi64(lane, _mm512_set1_epi64((digits_ - 1) % lanes));
    const T mask = _mm512_set1_epi64((1LL << digit_bits) - 1);
    T value[3], over[3];
#pragma GCC unroll 3
    for (uint32_t j = 0; j < 3; ++j) {
      value[j] = _mm512_add_epi64(_mm512_permutex2var_epi64(c.lo[2 + j], low_from, c.lo[3 + j]),
                                  _mm512_permutex2var_epi64(c.hi[2 + j], high_from, c.hi[3 + j]));
    }
    value[0] = _mm512_mask_add_epi64(value[0], 1, value[0], c.carry);
#pragma GCC unroll 3
    for (uint32_t j = 0; j < 3; ++j) over[j] = _mm512_srli_epi64(value[j], digit_bits);
    uint32_t above = 0, full = 0;
#pragma GCC unroll 3
    for (uint32_t j = 0; j < 3; ++j) {
      const T behind = _mm512_alignr_epi64(over[j], j == 0 ? _mm512_setzero_si512() : over[j - 1], 7);
      value[j] = _mm512_add_epi64(_mm512_and_si512(value[j], mask), behind);
      above |= static_cast<uint32_t>(_mm512_cmpgt_epu64_mask(value[j], mask)) << (j * lanes);
      full |= static_cast<uint32_t>(_mm512_cmpeq_epi64_mask(value[j], mask)) << (j * lanes);
    }
    // What is carried now is 0 or 1 and runs through digits of all ones, as an addition of the masks does.
    const uint32_t ones = ((above << 1) + full) ^ full;
#pragma GCC unroll 3
    for (uint32_t j = 0; j < 3; ++j) {
      const T next =
          _mm512_mask_add_epi64(value[j], static_cast<__mmask8>(ones >> (j * lanes)), value[j], _mm512_set1_epi64(1));
      _mm512_store_si512(out + j * lanes, _mm512_and_si512(next, mask));
    }
  }

  // out = a·b/R mod n, both at once; `a` is padded, out may be a factor.
  [[gnu::noinline]] void multiply(const uint64_t* const (&a)[2], const uint64_t* const (&b)[2],
                                  uint64_t* const (&out)[2]) const {
    Columns c[2];
#pragma GCC unroll 2
    for (uint32_t g = 0; g < 2; ++g) {
#pragma GCC unroll 6
      for (uint32_t j = 0; j <= vectors; ++j) c[g].lo[j] = c[g].hi[j] = _mm512_setzero_si512();
      c[g].carry = c[g].taken[0] = c[g].taken[1] = _mm512_setzero_si512();
    }
    take_rows<0, 4>(c, a, b, 8);
    take_rows<1, 4>(c, a, b, 16);
    take_rows<2, 3>(c, a, b, digits_ - ahead);
    clear_rows(c, a, b);
#pragma GCC unroll 2
    for (uint32_t g = 0; g < 2; ++g) settle(c[g], out[g]);
  }

  void multiply_powers(const uint64_t* b0, const uint64_t* b1) const {
    multiply({half_[0].power, half_[1].power}, {b0, b1}, {half_[0].power, half_[1].power});
  }
  void square_powers() const { multiply_powers(half_[0].power, half_[1].power); }
  uint64_t* entry(uint32_t g, uint32_t i) const { return half_[g].table + i * value_words; }

  // base^i in Montgomery form; the base itself stays in `factor` on the way.
  void fill_tables() const {
    for (uint32_t g = 0; g < 2; ++g) {
      const Montgomery& modulus = *tasks_[g]->modulus;
      for (uint32_t i = 0; i < digits_; ++i) {
        entry(g, 0)[i] = modulus.r52[i];
        half_[g].factor[i] = modulus.rr52[i];
      }
      limbs_to_digits(tasks_[g]->base, modulus.limbs, half_[g].power, digits_);
    }
    multiply({half_[0].factor, half_[1].factor}, {half_[0].power, half_[1].power}, {half_[0].factor, half_[1].factor});
    for (uint32_t i = 1; i < entries; ++i) {
      if (i == 1) {
        for (uint32_t g = 0; g < 2; ++g) copy(half_[g].factor, entry(g, 1));
      } else {
        multiply({half_[0].factor, half_[1].factor}, {entry(0, i - 1), entry(1, i - 1)}, {entry(0, i), entry(1, i)});
      }
    }
  }
  static void copy(const uint64_t* from, uint64_t* to) {
    for (uint32_t i = 0; i < value_words; ++i) to[i] = from[i];
  }

  void select(uint32_t g, uint32_t from, uint64_t* out) const {
    const Power& task = *tasks_[g];
    const T index = _mm512_set1_epi64(exponent_window(task.exponent, task.exponent_bits, from, exponent_window_bits));
    T found[3];
    for (T& part : found) part = _mm512_setzero_si512();
    for (uint32_t i = 0; i < entries; ++i) {
      const __mmask8 here = _mm512_cmpeq_epi64_mask(index, _mm512_set1_epi64(i));
#pragma GCC unroll 3
      for (uint32_t j = 0; j < 3; ++j) {
        found[j] = _mm512_mask_mov_epi64(found[j], here, _mm512_load_si512(entry(g, i) + j * lanes));
      }
    }
    for (uint32_t j = 0; j < 3; ++j) _mm512_store_si512(out + j * lanes, found[j]);
  }

  // Fixed windows from the top; then out of Montgomery form.
  void raise() const {
    uint32_t bits = tasks_[0]->exponent_bits;
    if (tasks_[1]->exponent_bits > bits) bits = tasks_[1]->exponent_bits;
    uint32_t from = bits == 0 ? 0 : (bits - 1) / exponent_window_bits * exponent_window_bits;
    for (uint32_t g = 0; g < 2; ++g) select(g, from, half_[g].power);
    while (from != 0) {
      from -= exponent_window_bits;
      for (uint32_t i = 0; i < exponent_window_bits; ++i) square_powers();
      for (uint32_t g = 0; g < 2; ++g) select(g, from, half_[g].factor);
      multiply_powers(half_[0].factor, half_[1].factor);
    }
    for (uint32_t g = 0; g < 2; ++g) {
      for (uint32_t i = 0; i < value_words; ++i) half_[g].factor[i] = i == 0;
    }
    multiply_powers(half_[0].factor, half_[1].factor);
  }

  void store(uint32_t g, Limb* scratch) const {
    const Montgomery& modulus = *tasks_[g]->modulus;
    digits_to_limbs(half_[g].power, digits_, scratch, modulus.limbs + 1);
    for (int i = 0; i < 2; ++i) subtract_modulus(scratch, modulus.n, modulus.limbs, scratch + modulus.limbs + 1);
    for (uint32_t i = 0; i < modulus.limbs; ++i) tasks_[g]->result[i] = scratch[i];
  }

  uint32_t digits_ = 0;
  const Power* tasks_[2] = {};
  Half half_[2] = {};
};

}  // namespace
}  // namespace stockade::bignum
