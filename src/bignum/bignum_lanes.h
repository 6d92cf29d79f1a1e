// Powers side by side: one to each 64-bit lane of a vector, written once over a vector `V`. Each row file defines its
// V and includes this; everything here is in an unnamed namespace, so code compiled for one instruction set can never
// be linked into another's row. Lanes have a modulus, a base and an exponent of their own and share only their
// lengths.
//
// A number is `digits` digits in radix 2^s, one to a vector, R = 2^(s·digits). A product is computed column by column,
// W = V::width columns at a time in registers (product scanning): for each a[i] the products with W neighbours
// b[k-i+j]. A column sums the low halves of its products in `lo` and the high halves, which belong to the next column,
// in `hi`.
//
// Reduction does without Montgomery's chain of quotients, except in the last block. Of a·b the lowest W digits are
// taken away and come back through `fold` = 2^(-s·W) mod n: digit x of column i is x·fold at column i + W, modulo n.
// So the digits of a block act on later blocks only, and as many products are due as with quotients. That ends W
// digits short of R; the last W digits are cleared by adding q·n with q = -digits/n modulo 2^(s·W), as ever
// (V::finish).
//
// V provides
//   T (the register), lanes, width, widest_window (of an exponent, so that the table of powers stays near)
//   shape(modulus), least_lanes(shape) (fewer powers are faster by `few`), few; Entered (alive while V computes)
//   V(s); Column {lo, hi}, empty, product
//   doubles_sums: to double products, `twice` of a sum, or else `doubled` of all digits of a factor
//   settle (columns and a carry to digits and a carry), finish (the last block to the digits q and the carry beyond)
//   zero, one, sum; quotient (-value/n modulo 2^s, from -1/n)
//   admit (words below 2^s to digits), release (digits to signed words with a value from 0 to below 4n)
//   bits_at (of exponents, for each lane), select (the entry for each lane, by a scan of the table)
#pragma once

#include <cstddef>
#include <cstdint>

#include "bignum/bignum_kernels.h"

namespace stockade::bignum {
namespace {

#define STOCKADE_INLINE [[gnu::always_inline]] inline

// What powers must agree in to stand side by side.
struct Shape {
  uint32_t radix_bits;  // s
  uint32_t digits;
  uint32_t limbs;   // of the modulus
  bool has_square;  // Montgomery::rr52 is R^2 mod n here too
  bool operator==(const Shape&) const = default;
};

template <class V>
struct Modulo {
  using T = typename V::T;
  V v;
  uint32_t digits;
  T* n;        // `digits`
  T* fold;     // `digits`: 2^(-s·width) mod n
  T* inverse;  // `width`: -1/n modulo 2^(s·width)
  T* q;        // `digits`, and `width` zeros before them
  T* twice;    // `digits`: of a factor that is squared
};

// ---- sums of products: column[j] += ... for 0 <= j < W ----

// x[i]·y[j - i] for from <= i < to.
template <class V, uint32_t W>
STOCKADE_INLINE void add_rows(const V& v, typename V::Column (&column)[W], const typename V::T* x,
                              const typename V::T* y, int32_t from, int32_t to) {
  for (int32_t i = from; i < to; ++i) {
    const typename V::T factor = x[i];
#pragma GCC unroll 8
    for (uint32_t j = 0; j < W; ++j) v.product(column[j], factor, y[static_cast<int32_t>(j) - i]);
  }
}

// x[i]·y[j - i] for first <= i <= j: the corner where y begins.
template <class V, uint32_t W>
STOCKADE_INLINE void add_rising(const V& v, typename V::Column (&column)[W], const typename V::T* x,
                                const typename V::T* y, uint32_t first) {
#pragma GCC unroll 8
  for (uint32_t i = first; i < W; ++i) {
    const typename V::T factor = x[i];
#pragma GCC unroll 8
    for (uint32_t j = i; j < W; ++j) v.product(column[j], factor, y[j - i]);
  }
}

// x[i]·y_end[j - i - 1] for j <= i <= W - 2: the corner where y ends.
template <class V, uint32_t W>
STOCKADE_INLINE void add_falling(const V& v, typename V::Column (&column)[W], const typename V::T* x,
                                 const typename V::T* y_end) {
#pragma GCC unroll 8
  for (uint32_t i = 0; i + 1 < W; ++i) {
    const typename V::T factor = x[i];
#pragma GCC unroll 8
    for (uint32_t j = 0; j <= i; ++j)
      v.product(column[j], factor, y_end[static_cast<int32_t>(j) - static_cast<int32_t>(i) - 1]);
  }
}

// Columns k to k + W - 1 of a·b: low for k < digits, high for digits <= k < 2·digits - width, top for the last `width`.
template <class V>
struct Product {
  const typename V::T* a;
  const typename V::T* b;

  template <uint32_t W>
  STOCKADE_INLINE void low(const V& v, typename V::Column (&column)[W], uint32_t k) const {
    add_rows<V, W>(v, column, a, b + k, 0, static_cast<int32_t>(k) + 1);
    add_rising<V, W>(v, column, a + k, b, 1);
  }
  template <uint32_t W>
  STOCKADE_INLINE void high(const V& v, typename V::Column (&column)[W], uint32_t k, uint32_t digits) const {
    add_falling<V, W>(v, column, a + (k - digits + 1), b + digits);
    add_rows<V, W>(v, column, a, b + k, static_cast<int32_t>(k - digits + W), static_cast<int32_t>(digits));
  }
  template <uint32_t W>
  STOCKADE_INLINE void top(const V& v, typename V::Column (&column)[W], uint32_t digits) const {
    add_falling<V, W>(v, column, a + (digits - W + 1), b + digits);
  }
};

// The same of a²: products of two different digits once and doubled, in a factor or in the sum, then the squares.
template <class V>
struct Square {
  const typename V::T* a;
  const typename V::T* twice;  // V::doubled(a)

  // a[m+x]·a[m+y] with x + y = j + P, where k = 2m + P; those with x < P came with the rows.
  template <uint32_t W, uint32_t P>
  STOCKADE_INLINE void add_middle(const V& v, typename V::Column (&column)[W], uint32_t k) const {
    const typename V::T* const middle = a + k / 2;
    const typename V::T* const middle_twice = twice + k / 2;
#pragma GCC unroll 8
    for (uint32_t x = P; 2 * x < W - 1 + P; ++x) {
      const typename V::T factor = middle_twice[x];
#pragma GCC unroll 8
      for (uint32_t j = 2 * x + 1 - P; j < W; ++j) v.product(column[j], factor, middle[j + P - x]);
    }
#pragma GCC unroll 8
    for (uint32_t j = 0; j < W; ++j) v.twice(column[j]);
#pragma GCC unroll 8
    for (uint32_t j = P; j < W; j += 2) v.product(column[j], middle[(j + P) / 2], middle[(j + P) / 2]);
  }
  // Sums that get doubled must be complete by then. Otherwise the corner comes first: its chains of sums are long, and
  // the rows hide them.
  template <uint32_t W>
  STOCKADE_INLINE void add_from(const V& v, typename V::Column (&column)[W], uint32_t k, int32_t from) const {
    const auto to = static_cast<int32_t>((k + 1) / 2);
    if constexpr (V::doubles_sums) add_rows<V, W>(v, column, twice, a + k, from, to);
    if (k % 2 == 0) {
      add_middle<W, 0>(v, column, k);
    } else {
      add_middle<W, 1>(v, column, k);
    }
    if constexpr (!V::doubles_sums) add_rows<V, W>(v, column, twice, a + k, from, to);
  }
  template <uint32_t W>
  STOCKADE_INLINE void low(const V& v, typename V::Column (&column)[W], uint32_t k) const {
    add_from<W>(v, column, k, 0);
  }
  template <uint32_t W>
  STOCKADE_INLINE void high(const V& v, typename V::Column (&column)[W], uint32_t k, uint32_t digits) const {
    add_falling<V, W>(v, column, twice + (k - digits + 1), a + digits);
    add_from<W>(v, column, k, static_cast<int32_t>(k - digits + W));
  }
  template <uint32_t W>
  STOCKADE_INLINE void top(const V& v, typename V::Column (&column)[W], uint32_t digits) const {
    const typename V::T* const last = a + (digits - 1);
    const typename V::T* const last_twice = twice + (digits - 1);
#pragma GCC unroll 8
    for (uint32_t j = 0; j + 2 < W; ++j) {
#pragma GCC unroll 8
      for (uint32_t x = 0; 2 * x < W - 2 - j; ++x) v.product(column[j], *(last_twice - x), *(last - (W - 2 - j - x)));
    }
#pragma GCC unroll 8
    for (uint32_t j = 0; j + 2 < W; ++j) v.twice(column[j]);
#pragma GCC unroll 8
    for (uint32_t j = W % 2; j + 1 < W; j += 2)
      v.product(column[j], *(last - (W - 2 - j) / 2), *(last - (W - 2 - j) / 2));
  }
};

// ---- Montgomery products ----
//
// Code stays small: square and multiply, used in turn, slow down with it, each alone hardly. What lost on row avx2
// (AMD Zen 5, 2026-11-22, 1,024 bits): the first high block's products between the steps of V::finish (a tenth), rows
// unrolled by two (a tenth), `digits` a constant (a tenth; unrolled, more), blocks of seven columns (a twentieth).

template <class V, uint32_t W>
STOCKADE_INLINE void clear(const V& v, typename V::Column (&column)[W]) {
#pragma GCC unroll 8
  for (uint32_t j = 0; j < W; ++j) column[j] = v.empty();
}

template <class V, uint32_t W>
STOCKADE_INLINE void put(const typename V::T (&digit)[W], typename V::T* out) {
#pragma GCC unroll 8
  for (uint32_t j = 0; j < W; ++j) out[j] = digit[j];
}

// Columns k to k + W - 1 < digits: what they hold becomes q. Of the first block alone W may be less than the width.
template <class V, uint32_t W, class Source>
STOCKADE_INLINE void low_block(const Modulo<V>& m, const Source& source, uint32_t k, typename V::T& carry) {
  typename V::Column column[W];
  clear<V, W>(m.v, column);
  source.template low<W>(m.v, column, k);
  if (k > 0) {
    const int32_t known = static_cast<int32_t>(k) - static_cast<int32_t>(V::width);
    add_rows<V, W>(m.v, column, m.q, m.fold + known, 0, known + 1);
    add_rising<V, W>(m.v, column, m.q + known, m.fold, 1);
  }
  if (W < V::width || k + V::width < m.digits) {
    typename V::T digit[W];
    m.v.settle(column, carry, digit);
    put<V, W>(digit, m.q + k);
  } else if constexpr (W == V::width) {
    typename V::T digit[W];
    m.v.finish(column, carry, m.n, m.inverse, digit);
    put<V, W>(digit, m.q + k);
  }
}

// Columns k to k + W - 1 for digits <= k < 2·digits - width: digits of the result.
template <class V, uint32_t W, class Source>
STOCKADE_INLINE void high_block(const Modulo<V>& m, const Source& source, uint32_t k, typename V::T& carry,
                                typename V::T* out) {
  const uint32_t digits = m.digits;
  typename V::Column column[W];
  clear<V, W>(m.v, column);
  const int32_t first = static_cast<int32_t>(k - digits) - static_cast<int32_t>(V::width);
  // See Square::add_from for the order.
  if (!V::doubles_sums && k > digits) add_falling<V, W>(m.v, column, m.q + (first + 1), m.fold + digits);
  source.template high<W>(m.v, column, k, digits);
  if (V::doubles_sums && k > digits) add_falling<V, W>(m.v, column, m.q + (first + 1), m.fold + digits);
  const int32_t from = first + static_cast<int32_t>(W);
  add_rows<V, W>(m.v, column, m.q, m.fold + (k - V::width), from > 0 ? from : 0,
                 static_cast<int32_t>(digits - V::width));
  add_rows<V, W>(m.v, column, m.q + (digits - V::width), m.n + (k - digits + V::width), 0,
                 static_cast<int32_t>(V::width));
  typename V::T digit[W];
  m.v.settle(column, carry, digit);
  put<V, W>(digit, out + (k - digits));
}

// The last `width` columns.
template <class V, class Source>
STOCKADE_INLINE void top_block(const Modulo<V>& m, const Source& source, typename V::T& carry, typename V::T* out) {
  constexpr uint32_t W = V::width;
  const uint32_t digits = m.digits;
  typename V::Column column[W];
  clear<V, W>(m.v, column);
  source.template top<W>(m.v, column, digits);
  add_falling<V, W>(m.v, column, m.q + (digits - 2 * W + 1), m.fold + digits);
  add_falling<V, W>(m.v, column, m.q + (digits - W + 1), m.n + digits);
  typename V::T digit[W];
  m.v.settle(column, carry, digit);
  put<V, W>(digit, out + (digits - W));
}

// What `digits` leaves modulo the width is one narrow block, the first of the low columns and the last but one of the
// high ones: where columns are short, because few columns make long chains.
template <class V, uint32_t W, class Source>
STOCKADE_INLINE void narrow_low_block(const Modulo<V>& m, const Source& source, uint32_t rest, typename V::T& carry) {
  if constexpr (W < V::width) {
    if (rest == W) return low_block<V, W>(m, source, 0, carry);
    narrow_low_block<V, W + 1>(m, source, rest, carry);
  }
}
template <class V, uint32_t W, class Source>
STOCKADE_INLINE void narrow_high_block(const Modulo<V>& m, const Source& source, uint32_t rest, typename V::T& carry,
                                       typename V::T* out) {
  if constexpr (W < V::width) {
    if (rest == W) return high_block<V, W>(m, source, 2 * m.digits - V::width - W, carry, out);
    narrow_high_block<V, W + 1>(m, source, rest, carry, out);
  }
}

// out = a·b/R mod n (not fully reduced); out may be a factor. digits >= 2·width.
template <class V, class Source>
STOCKADE_INLINE void montgomery(const Modulo<V>& m, const Source& source, typename V::T* out) {
  constexpr uint32_t width = V::width;
  const uint32_t digits = m.digits, rest = digits % width;
  typename V::T carry = m.v.zero();
  narrow_low_block<V, 1>(m, source, rest, carry);
  for (uint32_t k = rest; k < digits; k += width) low_block<V, width>(m, source, k, carry);
  for (uint32_t k = digits; k < 2 * digits - width - rest; k += width) {
    high_block<V, width>(m, source, k, carry, out);
  }
  narrow_high_block<V, 1>(m, source, rest, carry, out);
  top_block(m, source, carry, out);
}

template <class V>
[[gnu::noinline]] void multiply(const Modulo<V>& m, const typename V::T* a, const typename V::T* b,
                                typename V::T* out) {
  montgomery<V>(m, Product<V>{a, b}, out);
}

template <class V>
[[gnu::noinline]] void square(const Modulo<V>& m, const typename V::T* a, typename V::T* out) {
  montgomery<V>(m, Square<V>{a, m.v.doubled(a, m.digits, m.twice)}, out);
}

// inverse and fold, by `width` single steps of Montgomery's reduction of 1: the quotients are the one, what is left is
// the other. `first_inverse` is -1/n modulo 2^s.
template <class V>
void prepare(const Modulo<V>& m, typename V::T first_inverse) {
  for (uint32_t i = 0; i < m.digits; ++i) m.fold[i] = i == 0 ? m.v.one() : m.v.zero();
  for (uint32_t i = 0; i < V::width; ++i) {
    m.inverse[i] = m.v.quotient(m.fold[0], first_inverse);
    m.q[static_cast<int32_t>(i) - static_cast<int32_t>(V::width)] = m.v.zero();
    typename V::T carry = m.v.zero();
    for (uint32_t j = 0; j < m.digits; ++j) {
      typename V::Column column[1] = {m.v.empty()};
      m.v.product(column[0], m.inverse[i], m.n[j]);
      column[0].lo = m.v.sum(column[0].lo, m.fold[j]);
      typename V::T digit[1];
      m.v.settle(column, carry, digit);
      if (j > 0) m.fold[j - 1] = digit[0];
    }
    m.fold[m.digits - 1] = carry;
  }
}

// ---- between limbs and lanes ----

// An array of each lane: `count` words of `word_bits` bits each.
template <class V>
struct Numbers {
  const uint64_t* words[V::lanes];
  uint32_t count;
  uint32_t word_bits;
};

template <class V>
STOCKADE_INLINE uint64_t* lane_words(typename V::T* a) {
  return reinterpret_cast<uint64_t*>(a);
}

template <class V>
void load(const V& v, uint32_t radix_bits, uint32_t digits, const Numbers<V>& numbers, typename V::T* out) {
  const uint64_t mask = (uint64_t{1} << radix_bits) - 1;
  const uint32_t word_bits = numbers.word_bits;
  uint64_t* const words = lane_words<V>(out);
  for (uint32_t i = 0; i < digits; ++i) {
    const uint32_t index = i * radix_bits / word_bits, shift = i * radix_bits % word_bits;
    for (uint32_t lane = 0; lane < V::lanes; ++lane) {
      const uint64_t* const from = numbers.words[lane];
      uint64_t digit = index < numbers.count ? from[index] >> shift : 0;
      if (shift > word_bits - radix_bits && index + 1 < numbers.count) digit |= from[index + 1] << (word_bits - shift);
      words[i * V::lanes + lane] = digit & mask;
    }
  }
  v.admit(out, digits);
}

// 2^exponent in every lane.
template <class V>
void load_power_of_two(const V& v, uint32_t radix_bits, uint32_t digits, uint32_t exponent, typename V::T* out) {
  uint64_t* const words = lane_words<V>(out);
  for (uint32_t i = 0; i < digits * V::lanes; ++i) {
    words[i] = i / V::lanes == exponent / radix_bits ? uint64_t{1} << exponent % radix_bits : 0;
  }
  v.admit(out, digits);
}

// a = a >= n ? a - n : a, for n of `limbs` limbs and a of one more.
inline void subtract_modulus(Limb* a, const Limb* n, uint32_t limbs, Limb* difference) {
  Limb borrow = 0;
  for (uint32_t i = 0; i <= limbs; ++i) {
    const Limb subtrahend = i < limbs ? n[i] : 0;
    const Limb part = a[i] - subtrahend;
    difference[i] = part - borrow;
    borrow = static_cast<Limb>(a[i] < subtrahend) | static_cast<Limb>(part < borrow);
  }
  Limb keep = 0 - borrow;
  // Opaque from here on: Clang would otherwise choose between two addresses by it.
  __asm__("" : "+r"(keep));
  for (uint32_t i = 0; i <= limbs; ++i) a[i] = (a[i] & keep) | (difference[i] & ~keep);
}

// The results of the lanes with a task, below n. `a` is overwritten; `scratch` holds 2·(limbs + 1) limbs.
template <class V>
void store(const Modulo<V>& m, const Shape& shape, typename V::T* a, const Power* tasks, uint32_t count,
           Limb* scratch) {
  m.v.release(a, m.n, m.digits);
  const uint64_t* const words = lane_words<V>(a);
  const uint32_t radix_bits = shape.radix_bits, limbs = shape.limbs;
  const uint64_t mask = (uint64_t{1} << radix_bits) - 1;
  for (uint32_t lane = 0; lane < count; ++lane) {
    for (uint32_t i = 0; i <= limbs; ++i) scratch[i] = 0;
    int64_t carry = 0;
    for (uint32_t i = 0; i < m.digits; ++i) {
      const int64_t value = static_cast<int64_t>(words[i * V::lanes + lane]) + carry;
      const uint64_t digit = static_cast<uint64_t>(value) & mask;
      carry = value >> radix_bits;
      const uint32_t index = i * radix_bits / limb_bits, shift = i * radix_bits % limb_bits;
      if (index <= limbs) scratch[index] |= digit << shift;
      if (shift > limb_bits - radix_bits && index < limbs) scratch[index + 1] |= digit >> (limb_bits - shift);
    }
    for (int i = 0; i < 3; ++i) subtract_modulus(scratch, tasks[lane].modulus->n, limbs, scratch + limbs + 1);
    for (uint32_t i = 0; i < limbs; ++i) tasks[lane].result[i] = scratch[i];
  }
}

// ---- powers ----

// Public exponents up to this length go bit by bit, without a scan.
constexpr uint32_t short_exponent = 64;

// Powers of one shape and one length of exponents: as many tasks at a time as V has lanes, or fewer. What comes of the
// moduli alone is kept for the next tasks, which often are about the same ones.
template <class V>
class LanePowers {
  using T = typename V::T;

 public:
  LanePowers(const Shape& shape, uint32_t exponent_bits, bool exponents_public)
      : shape_(shape),
        exponent_bits_(exponent_bits),
        exponent_limbs_(exponent_bits / limb_bits + 2),
        width_(window_of(exponent_bits, exponents_public)),
        by_bits_(goes_by_bits(exponent_bits, exponents_public)),
        scratch_(size_t{vectors()} * V::lanes) {
    if (scratch_.words != nullptr) share_out();
  }
  LanePowers(const LanePowers&) = delete;
  LanePowers& operator=(const LanePowers&) = delete;

  bool has_memory() const { return scratch_.words != nullptr; }

  // The tasks' exponents have at most as many bits as the constructor was told.
  void run(const Power* tasks, uint32_t count) {
    tasks_ = tasks;
    count_ = count;
    const typename V::Entered entered;
    m_.v = V(shape_.radix_bits);
    if (!has_same_moduli()) load_modulus();
    load_exponents();
    fill_table();
    if (by_bits_) {
      power_by_bits();
    } else {
      power_by_windows();
    }
    store(m_, shape_, power_, tasks_, count_, last_);
  }

 private:
  static bool goes_by_bits(uint32_t exponent_bits, bool exponents_public) {
    return exponents_public && exponent_bits <= short_exponent;
  }
  static uint32_t window_of(uint32_t exponent_bits, bool exponents_public) {
    const uint32_t width = goes_by_bits(exponent_bits, exponents_public) ? 1 : window_bits(exponent_bits);
    return width < V::widest_window ? width : V::widest_window;
  }
  uint32_t vectors() const {
    const uint32_t last = (2 * (shape_.limbs + 1) + V::lanes - 1) / V::lanes;
    return (7 + entries()) * shape_.digits + 2 * V::width + exponent_limbs_ + last;
  }
  void share_out() {
    const uint32_t digits = shape_.digits;
    T* next = reinterpret_cast<T*>(scratch_.words);
    const auto take = [&next](uint32_t size) {
      T* const taken = next;
      next += size;
      return taken;
    };
    m_.digits = digits;
    m_.n = take(digits);
    m_.fold = take(digits);
    m_.inverse = take(V::width);
    m_.q = take(V::width + digits) + V::width;
    m_.twice = take(digits);
    rr_ = take(digits);
    power_ = take(digits);
    factor_ = take(digits);
    exponents_ = take(exponent_limbs_);
    table_ = take(entries() * digits);
    last_ = lane_words<V>(next);
  }

  // Whether the moduli are those of the last tasks; from now on they are.
  bool has_same_moduli() {
    bool same = true;
    for (uint32_t lane = 0; lane < V::lanes; ++lane) {
      const Montgomery* const modulus = tasks_[lane < count_ ? lane : 0].modulus;
      same = same && modulus == moduli_[lane];
      moduli_[lane] = modulus;
    }
    return same;
  }

  uint32_t entries() const { return 1U << width_; }
  T* entry(uint32_t i) { return table_ + size_t{i} * shape_.digits; }

  // One array of each task. Lanes without a task repeat the first, so that every lane has an odd modulus.
  template <class Member>
  Numbers<V> gather(const Member& member, uint32_t count, uint32_t word_bits) const {
    Numbers<V> numbers{{}, count, word_bits};
    for (uint32_t lane = 0; lane < V::lanes; ++lane) numbers.words[lane] = member(tasks_[lane < count_ ? lane : 0]);
    return numbers;
  }
  void load_number(const Numbers<V>& numbers, uint32_t digits, T* out) const {
    load<V>(m_.v, shape_.radix_bits, digits, numbers, out);
  }
  void load_power_of_two(uint32_t exponent, T* out) const {
    ::stockade::bignum::load_power_of_two<V>(m_.v, shape_.radix_bits, shape_.digits, exponent, out);
  }
  void load_base(T* out) const {
    load_number(gather([](const Power& task) { return task.base; }, shape_.limbs, limb_bits), shape_.digits, out);
  }

  void load_modulus() {
    const auto n = [](const Power& task) { return task.modulus->n; };
    const auto inverse = [](const Power& task) { return &task.modulus->inverse; };
    load_number(gather(n, shape_.limbs, limb_bits), shape_.digits, m_.n);
    load_number(gather(inverse, 1, limb_bits), 1, rr_);
    prepare<V>(m_, rr_[0]);
    if (shape_.has_square) {
      const auto rr52 = [](const Power& task) { return task.modulus->rr52; };
      load_number(gather(rr52, shape_.digits, digit_bits), shape_.digits, rr_);
    } else {
      const auto rr = [](const Power& task) { return task.modulus->rr; };
      load_number(gather(rr, shape_.limbs, limb_bits), shape_.digits, rr_);
      raise_square();
    }
  }

  // From (2^(64·padded))^2 mod n to R^2 mod n, R = 2^r. A product of 2^a and 2^b is 2^(a + b - r).
  void raise_square() {
    const uint32_t r = shape_.radix_bits * shape_.digits;
    for (uint32_t have = 2 * limb_bits * tasks_[0].modulus->padded; have != 2 * r;) {
      if (have < 2 * r) {
        square(m_, rr_, rr_);
        have = 2 * have - r;
      } else {
        const uint32_t exponent = have <= 3 * r ? 3 * r - have : 0;
        load_power_of_two(exponent, factor_);
        multiply(m_, rr_, factor_, rr_);
        have = have + exponent - r;
      }
    }
  }

  void load_exponents() {
    uint64_t* const words = lane_words<V>(exponents_);
    for (uint32_t lane = 0; lane < V::lanes; ++lane) {
      const Power& task = tasks_[lane < count_ ? lane : 0];
      const uint32_t limbs = (task.exponent_bits + limb_bits - 1) / limb_bits;
      for (uint32_t i = 0; i < exponent_limbs_; ++i) words[i * V::lanes + lane] = i < limbs ? task.exponent[i] : 0;
    }
  }

  // base^i in Montgomery form. Public exponents that all lanes share never ask for base^0.
  void fill_table() {
    if (by_bits_ && agree()) {
      for (uint32_t i = 0; i < m_.digits; ++i) entry(0)[i] = m_.v.zero();
    } else {
      load_power_of_two(0, factor_);
      multiply(m_, rr_, factor_, entry(0));
    }
    load_base(entry(1));
    multiply(m_, entry(1), rr_, entry(1));
    for (uint32_t i = 2; i < entries(); i += 2) {
      square(m_, entry(i / 2), entry(i));
      multiply(m_, entry(i), entry(1), entry(i + 1));
    }
  }

  void select(uint32_t from, T* out) const {
    V::select(table_, entries(), shape_.digits, V::bits_at(exponents_, from, width_), out);
  }
  void leave() {
    load_power_of_two(0, factor_);
    multiply(m_, power_, factor_, power_);
  }

  // Fixed windows from the top (Handbook of Applied Cryptography 14.82), the table read whole for each.
  void power_by_windows() {
    uint32_t from = exponent_bits_ == 0 ? 0 : (exponent_bits_ - 1) / width_ * width_;
    select(from, power_);
    while (from != 0) {
      from -= width_;
      for (uint32_t i = 0; i < width_; ++i) square(m_, power_, power_);
      select(from, factor_);
      multiply(m_, power_, factor_, power_);
    }
    leave();
  }

  // In how many lanes the bit is one.
  uint32_t ones(uint32_t bit) const {
    uint32_t count = 0;
    for (uint32_t lane = 0; lane < V::lanes; ++lane) {
      const uint64_t word = lane_words<V>(exponents_)[bit / limb_bits * V::lanes + lane];
      count += static_cast<uint32_t>(word >> bit % limb_bits & 1);
    }
    return count;
  }

  // Whether the exponents are the same and not 0. Of public ones only.
  bool agree() const {
    uint32_t all = 0;
    for (uint32_t bit = 0; bit < exponent_bits_; ++bit) {
      const uint32_t count = ones(bit);
      if (count != 0 && count != V::lanes) return false;
      all |= count;
    }
    return all != 0;
  }

  // Public exponents, bit by bit from the top. The last product takes the base, or 1, as it is, which leads out of
  // Montgomery form.
  void power_by_bits() {
    uint32_t bit = exponent_bits_;
    while (bit > 1 && ones(bit - 1) == 0) --bit;
    if (bit > 0) --bit;
    select(bit, power_);
    if (bit == 0) return leave();
    while (bit-- > 1) {
      square(m_, power_, power_);
      if (ones(bit) == 0) continue;
      select(bit, factor_);
      multiply(m_, power_, factor_, power_);
    }
    square(m_, power_, power_);
    load_power_of_two(0, entry(0));
    load_base(entry(1));
    select(0, factor_);
    multiply(m_, power_, factor_, power_);
  }

  const Shape shape_;
  const uint32_t exponent_bits_, exponent_limbs_, width_;
  const bool by_bits_;
  Scratch scratch_;
  const Power* tasks_ = nullptr;
  uint32_t count_ = 0;
  const Montgomery* moduli_[V::lanes] = {};
  Modulo<V> m_{};
  T *rr_ = nullptr, *power_ = nullptr, *factor_ = nullptr, *exponents_ = nullptr, *table_ = nullptr;
  Limb* last_ = nullptr;
};

// The row: vectors as full as neighbours of one shape allow. Too small a modulus and too few powers go to V::few or,
// when exponents are public, to row adx.
template <class V>
struct LaneRow {
  static Status modexp(const Power* tasks, size_t count) { return run(tasks, count, false); }
  static Status modexp_public(const Power* tasks, size_t count) { return run(tasks, count, true); }

  static Status run(const Power* tasks, size_t count, bool exponents_public) {
    for (size_t done = 0; done < count;) {
      const Shape shape = V::shape(*tasks[done].modulus);
      size_t alike = 1;
      while (done + alike < count && V::shape(*tasks[done + alike].modulus) == shape) ++alike;
      const Status status = run_alike(shape, tasks + done, alike, exponents_public);
      if (status != STOCKADE_OK) return status;
      done += alike;
    }
    return STOCKADE_OK;
  }

  static Status run_alike(const Shape& shape, const Power* tasks, size_t count, bool exponents_public) {
    const size_t rest = count % V::lanes;
    const bool few = shape.digits < 2 * V::width, few_rest = rest != 0 && rest < V::least_lanes(shape);
    const size_t side_by_side = few ? 0 : few_rest ? count - rest : count;
    if (side_by_side != 0) {
      LanePowers<V> powers(shape, longest_exponent(tasks, side_by_side), exponents_public);
      if (!powers.has_memory()) return STOCKADE_ERROR_MEMORY;
      for (size_t done = 0; done < side_by_side; done += V::lanes) {
        const size_t left = side_by_side - done;
        powers.run(tasks + done, static_cast<uint32_t>(left < V::lanes ? left : V::lanes));
      }
    }
    for (size_t done = side_by_side; done < count; done += V::lanes) {
      const auto left = static_cast<uint32_t>(count - done < V::lanes ? count - done : V::lanes);
      const Status status =
          exponents_public ? kernels_adx.modexp_public(tasks + done, left) : V::few(shape, tasks + done, left);
      if (status != STOCKADE_OK) return status;
    }
    return STOCKADE_OK;
  }

  static uint32_t longest_exponent(const Power* tasks, size_t count) {
    uint32_t longest = 0;
    for (size_t i = 0; i < count; ++i) {
      if (tasks[i].exponent_bits > longest) longest = tasks[i].exponent_bits;
    }
    return longest;
  }

  // Single products are row adx's.
  static uint32_t words(const Montgomery& modulus) { return kernels_adx.residues.words(modulus); }
  static uint32_t scratch_words(const Montgomery& modulus) { return kernels_adx.residues.scratch_words(modulus); }
  static void enter(const Montgomery& modulus, const Limb* plain, uint64_t* out, uint64_t* scratch) {
    kernels_adx.residues.enter(modulus, plain, out, scratch);
  }
  static void leave(const Montgomery& modulus, const uint64_t* a, Limb* plain, uint64_t* scratch) {
    kernels_adx.residues.leave(modulus, a, plain, scratch);
  }
  static void multiply(const Montgomery& modulus, const uint64_t* a, const uint64_t* b, uint64_t* out,
                       uint64_t* scratch) {
    kernels_adx.residues.multiply(modulus, a, b, out, scratch);
  }
  static void square(const Montgomery& modulus, const uint64_t* a, uint64_t* out, uint64_t* scratch) {
    kernels_adx.residues.square(modulus, a, out, scratch);
  }

  static constexpr Kernels kernels = {modexp, modexp_public, {words, scratch_words, enter, leave, multiply, square}};
};

}  // namespace
}  // namespace stockade::bignum
