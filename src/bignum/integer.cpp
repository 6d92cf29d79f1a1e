#include "bignum/integer.h"

#include <algorithm>
#include <cstring>

#include "base/bytes.h"

namespace stockade::bignum {

namespace {

using Wide = unsigned __int128;
using SignedWide = __int128;

// ---- greatest common divisors by division steps (Bernstein and Yang, TCHES 2019, 398-453) ----
//
// (delta, f, g), f odd, goes to (1 - delta, g, (g - f)/2) where delta > 0 and g is odd, and otherwise to (1 + delta, f,
// (g + (g mod 2)·f)/2). After a number of steps that depends on the numbers' length only, g is 0 and f is the greatest
// common divisor but for its sign. Steps look at the lowest bits only, so 62 of them are done on one word and then
// applied to the whole numbers as a matrix. Numbers here are signed: words of 62 bits, of which the highest has the
// sign.

constexpr uint32_t step_bits = 62;
constexpr uint64_t step_mask = (uint64_t{1} << step_bits) - 1;

constexpr uint32_t step_words(uint32_t limbs) { return (limbs * limb_bits + 2) / step_bits + 1; }

// Theorem 11.2, for numbers below 2^bits.
constexpr uint32_t step_count(uint32_t bits) { return bits < 46 ? (49 * bits + 80) / 17 : (49 * bits + 57) / 17; }

// 62 steps: 2^62·(f, g) after them is (u·f + v·g, q·f + r·g).
struct Steps {
  int64_t u, v, q, r;
};

Steps divide_steps(int64_t& delta, uint64_t f, uint64_t g) {
  uint64_t u = 1, v = 0, q = 0, r = 1;
  const auto exchange = [](uint64_t mask, uint64_t& x, uint64_t& y) {
    // (x, y) becomes (y, -x).
    const uint64_t difference = (x ^ y) & mask;
    x ^= difference;
    y ^= difference;
    y = (y ^ mask) - mask;
  };
  for (uint32_t i = 0; i < step_bits; ++i) {
    const uint64_t odd = hidden(0 - (g & 1));
    const uint64_t positive = hidden(static_cast<uint64_t>(-delta) >> 63);
    const uint64_t swap = odd & (0 - positive);
    delta = static_cast<int64_t>((static_cast<uint64_t>(delta) ^ swap) - swap) + 1;
    exchange(swap, f, g);
    exchange(swap, u, q);
    exchange(swap, v, r);
    g = (g + (f & odd)) >> 1;
    q += u & odd;
    r += v & odd;
    u <<= 1;
    v <<= 1;
  }
  return {static_cast<int64_t>(u), static_cast<int64_t>(v), static_cast<int64_t>(q), static_cast<int64_t>(r)};
}

void to_steps(const Limb* a, uint32_t limbs, int64_t* out, uint32_t words) {
  for (uint32_t i = 0; i < words; ++i) {
    const uint32_t from = i * step_bits, index = from / limb_bits, shift = from % limb_bits;
    uint64_t word = index < limbs ? a[index] >> shift : 0;
    if (shift > limb_bits - step_bits && index + 1 < limbs) word |= a[index + 1] << (limb_bits - shift);
    out[i] = static_cast<int64_t>(word & step_mask);
  }
}

// Of a number that is not negative.
void from_steps(const int64_t* a, uint32_t words, Limb* out, uint32_t limbs) {
  for (uint32_t i = 0; i < limbs; ++i) {
    const uint32_t from = i * limb_bits, index = from / step_bits, skipped = from % step_bits;
    Limb limb = static_cast<uint64_t>(a[index]) >> skipped;
    for (uint32_t at = step_bits - skipped, next = index + 1; at < limb_bits && next < words; at += step_bits, ++next) {
      limb |= static_cast<uint64_t>(a[next]) << at;
    }
    out[i] = limb;
  }
}

// (f, g) = (u·f + v·g, q·f + r·g) / 2^62, exactly.
void apply(const Steps& steps, int64_t* f, int64_t* g, uint32_t words) {
  SignedWide x = 0, y = 0;
  for (uint32_t i = 0; i < words; ++i) {
    x += SignedWide{steps.u} * f[i] + SignedWide{steps.v} * g[i];
    y += SignedWide{steps.q} * f[i] + SignedWide{steps.r} * g[i];
    if (i != 0) {
      f[i - 1] = static_cast<int64_t>(static_cast<uint64_t>(x) & step_mask);
      g[i - 1] = static_cast<int64_t>(static_cast<uint64_t>(y) & step_mask);
    }
    x >>= step_bits;
    y >>= step_bits;
  }
  f[words - 1] = static_cast<int64_t>(x);
  g[words - 1] = static_cast<int64_t>(y);
}

// The same modulo n, for d and e between -2n and n, where they stay: n is added to negative ones first, and then as
// often, below 2^62 times, taken away as the division by 2^62 needs to be exact. `inverse` is 1/n modulo 2^62.
void apply_modulo(const Steps& steps, int64_t* d, int64_t* e, const int64_t* n, uint64_t inverse, uint32_t words) {
  const int64_t d_negative = d[words - 1] >> 63, e_negative = e[words - 1] >> 63;
  int64_t d_times = (steps.u & d_negative) + (steps.v & e_negative);
  int64_t e_times = (steps.q & d_negative) + (steps.r & e_negative);
  SignedWide x = SignedWide{steps.u} * d[0] + SignedWide{steps.v} * e[0];
  SignedWide y = SignedWide{steps.q} * d[0] + SignedWide{steps.r} * e[0];
  const auto excess = [inverse](SignedWide sum, int64_t times) {
    return static_cast<int64_t>((inverse * static_cast<uint64_t>(sum) + static_cast<uint64_t>(times)) & step_mask);
  };
  d_times -= excess(x, d_times);
  e_times -= excess(y, e_times);
  x += SignedWide{n[0]} * d_times;
  y += SignedWide{n[0]} * e_times;
  x >>= step_bits;
  y >>= step_bits;
  for (uint32_t i = 1; i < words; ++i) {
    x += SignedWide{steps.u} * d[i] + SignedWide{steps.v} * e[i] + SignedWide{n[i]} * d_times;
    y += SignedWide{steps.q} * d[i] + SignedWide{steps.r} * e[i] + SignedWide{n[i]} * e_times;
    d[i - 1] = static_cast<int64_t>(static_cast<uint64_t>(x) & step_mask);
    e[i - 1] = static_cast<int64_t>(static_cast<uint64_t>(y) & step_mask);
    x >>= step_bits;
    y >>= step_bits;
  }
  d[words - 1] = static_cast<int64_t>(x);
  e[words - 1] = static_cast<int64_t>(y);
}

// a = (a ^ sign) - sign + (n & add), carried: negation under one mask, addition of n under another.
void adjust(int64_t* a, int64_t negate, const int64_t* n, int64_t add_n, uint32_t words) {
  int64_t carry = 0;
  for (uint32_t i = 0; i < words; ++i) {
    const int64_t word = (a[i] ^ negate) - negate + (n == nullptr ? 0 : n[i] & add_n) + carry;
    const bool last = i + 1 == words;
    a[i] = last ? word : static_cast<int64_t>(static_cast<uint64_t>(word) & step_mask);
    carry = word >> step_bits;
  }
}

Limb is_one(const int64_t* a, uint32_t words) {
  uint64_t difference = static_cast<uint64_t>(a[0]) ^ 1;
  for (uint32_t i = 1; i < words; ++i) difference |= static_cast<uint64_t>(a[i]);
  return zero_mask(difference);
}

// Shifts by a count that is secret, at most limbs·64: by each power of two or not.
template <typename Shift>
void shift_secretly(Shift shift, Limb* a, uint32_t count, uint32_t limbs, Limb* working) {
  for (uint32_t step = 1; step <= limbs * limb_bits; step *= 2) {
    shift(a, step, working, limbs);
    select(0 - hidden(Limb{(count & step) != 0}), working, a, a, limbs);
  }
}

uint32_t trailing_zeros(const Limb* a, const Limb* b, uint32_t limbs) {
  Limb count = 0, going = ~Limb{0};
  for (uint32_t i = 0; i < limbs; ++i) {
    const Limb word = a[i] | b[i];
    const Limb zero = zero_mask(word);
    // In the lowest one alone, the zeros below are as many as its number.
    const auto zeros = static_cast<Limb>(__builtin_ctzll(word | Limb{1} << 63));
    count += going & choose_limb(zero, limb_bits, zeros);
    going &= zero;
  }
  return static_cast<uint32_t>(count);
}

}  // namespace

// ---- masks ----

Limb is_zero(const Limb* a, uint32_t limbs) {
  Limb bits = 0;
  for (uint32_t i = 0; i < limbs; ++i) bits |= a[i];
  return zero_mask(bits);
}

Limb is_equal(const Limb* a, const Limb* b, uint32_t limbs) {
  Limb bits = 0;
  for (uint32_t i = 0; i < limbs; ++i) bits |= a[i] ^ b[i];
  return zero_mask(bits);
}

Limb is_less(const Limb* a, const Limb* b, uint32_t limbs) {
  Limb borrow = 0;
  for (uint32_t i = 0; i < limbs; ++i) {
    borrow = static_cast<Limb>((Wide{a[i]} - b[i] - borrow) >> limb_bits) & 1;
  }
  return 0 - hidden(borrow);
}

Limb is_word(const Limb* a, uint32_t limbs, Limb word) {
  return limbs == 0 ? zero_mask(word) : zero_mask(a[0] ^ word) & is_zero(a + 1, limbs - 1);
}

void select(Limb mask, const Limb* a, const Limb* b, Limb* out, uint32_t limbs) {
  for (uint32_t i = 0; i < limbs; ++i) out[i] = choose_limb(mask, a[i], b[i]);
}

// ---- sums, products, shifts ----

Limb add_masked(const Limb* a, const Limb* b, Limb mask, Limb* out, uint32_t limbs) {
  Limb carry = 0;
  for (uint32_t i = 0; i < limbs; ++i) {
    const Wide sum = Wide{a[i]} + (b[i] & mask) + carry;
    out[i] = static_cast<Limb>(sum);
    carry = static_cast<Limb>(sum >> limb_bits);
  }
  return carry;
}

Limb subtract_masked(const Limb* a, const Limb* b, Limb mask, Limb* out, uint32_t limbs) {
  Limb borrow = 0;
  for (uint32_t i = 0; i < limbs; ++i) {
    const Wide difference = Wide{a[i]} - (b[i] & mask) - borrow;
    out[i] = static_cast<Limb>(difference);
    borrow = static_cast<Limb>(difference >> limb_bits) & 1;
  }
  return borrow;
}

Limb add(const Limb* a, const Limb* b, Limb* out, uint32_t limbs) { return add_masked(a, b, ~Limb{0}, out, limbs); }

Limb subtract(const Limb* a, const Limb* b, Limb* out, uint32_t limbs) {
  return subtract_masked(a, b, ~Limb{0}, out, limbs);
}

Limb add_word(const Limb* a, Limb word, Limb* out, uint32_t limbs) {
  for (uint32_t i = 0; i < limbs; ++i) {
    const Wide sum = Wide{a[i]} + word;
    out[i] = static_cast<Limb>(sum);
    word = static_cast<Limb>(sum >> limb_bits);
  }
  return word;
}

Limb subtract_word(const Limb* a, Limb word, Limb* out, uint32_t limbs) {
  for (uint32_t i = 0; i < limbs; ++i) {
    const Wide difference = Wide{a[i]} - word;
    out[i] = static_cast<Limb>(difference);
    word = static_cast<Limb>(difference >> limb_bits) & 1;
  }
  return word;
}

Limb add_product(const Limb* a, Limb word, Limb* out, uint32_t limbs) {
  Limb carry = 0;
  // Unrolled, since one step is few instructions: a product of 64 limbs takes a quarter less time.
#pragma GCC unroll 4
  for (uint32_t i = 0; i < limbs; ++i) {
    const Wide sum = Wide{a[i]} * word + out[i] + carry;
    out[i] = static_cast<Limb>(sum);
    carry = static_cast<Limb>(sum >> limb_bits);
  }
  return carry;
}

void multiply(const Limb* a, uint32_t a_limbs, const Limb* b, uint32_t b_limbs, Limb* out) {
  std::memset(out, 0, a_limbs * sizeof(Limb));
  for (uint32_t i = 0; i < b_limbs; ++i) out[i + a_limbs] = add_product(a, b[i], out + i, a_limbs);
}

void square(const Limb* a, uint32_t limbs, Limb* out) {
  // Products of different limbs once; then twice that, and the squares of the limbs.
  std::memset(out, 0, limbs * sizeof(Limb));
  for (uint32_t i = 0; i < limbs; ++i) out[i + limbs] = add_product(a + i + 1, a[i], out + 2 * i + 1, limbs - i - 1);
  Limb carry = 0, shifted = 0;
  for (uint32_t i = 0; i < limbs; ++i) {
    const Wide squared = Wide{a[i]} * a[i];
    const Limb low = out[2 * i], high = out[2 * i + 1];
    const Wide low_sum = Wide{low << 1 | shifted} + static_cast<Limb>(squared) + carry;
    const Wide high_sum =
        Wide{high << 1 | low >> 63} + static_cast<Limb>(squared >> limb_bits) + static_cast<Limb>(low_sum >> limb_bits);
    out[2 * i] = static_cast<Limb>(low_sum);
    out[2 * i + 1] = static_cast<Limb>(high_sum);
    carry = static_cast<Limb>(high_sum >> limb_bits);
    shifted = high >> 63;
  }
}

void shift_left(const Limb* a, uint32_t bits, Limb* out, uint32_t limbs) {
  const uint32_t whole = bits / limb_bits, part = bits % limb_bits;
  for (uint32_t i = limbs; i-- > 0;) {
    const Limb upper = i >= whole ? a[i - whole] : 0;
    const Limb lower = i >= whole + 1 ? a[i - whole - 1] : 0;
    out[i] = part == 0 ? upper : upper << part | lower >> (limb_bits - part);
  }
}

void shift_right(const Limb* a, uint32_t bits, Limb* out, uint32_t limbs) {
  const uint32_t whole = bits / limb_bits, part = bits % limb_bits;
  for (uint32_t i = 0; i < limbs; ++i) {
    const Limb lower = whole < limbs - i ? a[i + whole] : 0;
    const Limb upper = whole + 1 < limbs - i ? a[i + whole + 1] : 0;
    out[i] = part == 0 ? lower : lower >> part | upper << (limb_bits - part);
  }
}

uint32_t bit_length(const Limb* a, uint32_t limbs) {
  Limb length = 0;
  for (uint32_t i = 0; i < limbs; ++i) {
    const auto here = static_cast<Limb>(limb_bits - __builtin_clzll(a[i] | 1));
    length = choose_limb(zero_mask(a[i]), length, Limb{i} * limb_bits + here);
  }
  return static_cast<uint32_t>(length);
}

// ---- bytes ----

Limb from_bytes(const uint8_t* bytes, uint64_t length, Limb* out, uint32_t limbs) {
  std::fill_n(out, limbs, Limb{0});
  uint8_t lost = 0;
  const uint64_t whole = std::min<uint64_t>(length / 8, limbs);
  for (uint64_t i = 0; i < whole; ++i) out[i] = load_be64(bytes + length - 8 * (i + 1));
  for (uint64_t i = 8 * whole; i < length; ++i) {
    const uint8_t byte = bytes[length - 1 - i];
    if (i / 8 < limbs) {
      out[i / 8] |= Limb{byte} << i % 8 * 8;
    } else {
      lost |= byte;
    }
  }
  return zero_mask(lost);
}

Limb to_bytes(const Limb* a, uint32_t limbs, uint8_t* bytes, uint64_t length) {
  const uint64_t held = uint64_t{limbs} * 8;
  Limb lost = 0;
  const uint64_t whole = std::min<uint64_t>(length / 8, limbs);
  for (uint64_t i = 0; i < whole; ++i) store_be64(bytes + length - 8 * (i + 1), a[i]);
  for (uint64_t i = 8 * whole; i < std::max(length, held); ++i) {
    const auto byte = static_cast<uint8_t>(i < held ? a[i / 8] >> i % 8 * 8 : 0);
    if (i < length) {
      bytes[length - 1 - i] = byte;
    } else {
      lost |= byte;
    }
  }
  return zero_mask(lost);
}

// ---- division ----

namespace {

// Division by a public word through its reciprocal: the division instruction's time may depend on a secret dividend.
struct Divider {
  explicit Divider(uint32_t word) : divisor(word), reciprocal(~uint64_t{0} / word) {}
  // x / divisor for x < 2^64; x becomes the remainder. The estimate is too small by 2 at most.
  uint64_t divide(uint64_t& x) const {
    auto quotient = static_cast<uint64_t>((Wide{x} * reciprocal) >> 64);
    x -= quotient * divisor;
    for (uint32_t i = 0; i < 2; ++i) {
      const uint64_t enough = hidden(((x - divisor) >> 63) ^ 1);
      quotient += enough;
      x -= divisor & (0 - enough);
    }
    return quotient;
  }
  uint64_t divisor, reciprocal;
};

}  // namespace

uint32_t divide_word(const Limb* a, uint32_t limbs, uint32_t divisor, Limb* quotient) {
  const Divider divider(divisor);
  uint64_t rest = 0;
  for (uint32_t i = limbs; i-- > 0;) {
    const Limb limb = a[i];
    rest = rest << 32 | limb >> 32;
    const uint64_t high = divider.divide(rest);
    rest = rest << 32 | (limb & 0xFFFFFFFF);
    quotient[i] = high << 32 | divider.divide(rest);
  }
  return static_cast<uint32_t>(rest);
}

uint32_t remainder_word(const Limb* a, uint32_t limbs, uint32_t divisor) {
  const Divider divider(divisor);
  uint64_t rest = 0;
  for (uint32_t i = limbs; i-- > 0;) {
    rest = rest << 32 | a[i] >> 32;
    divider.divide(rest);
    rest = rest << 32 | (a[i] & 0xFFFFFFFF);
    divider.divide(rest);
  }
  return static_cast<uint32_t>(rest);
}

Status divide(const Limb* a, uint32_t a_limbs, const Limb* b, uint32_t b_limbs, Limb* quotient, Limb* remainder) {
  Scratch memory(size_t{a_limbs} + b_limbs);
  if (memory.words == nullptr) return STOCKADE_ERROR_MEMORY;
  Limb* const rest = memory.words;
  Limb* const bits = rest + b_limbs;  // of a, which make room for those of the quotient
  std::fill_n(rest, b_limbs, Limb{0});
  std::copy_n(a, a_limbs, bits);
  for (uint32_t i = a_limbs * limb_bits; i-- > 0;) {
    const Limb lost = b_limbs == 0 ? 0 : rest[b_limbs - 1] >> 63;
    shift_left(rest, 1, rest, b_limbs);
    rest[0] |= bit(bits, i);
    const Limb borrow = subtract(rest, b, rest, b_limbs);
    const Limb too_much = borrow & (lost ^ 1);
    add_masked(rest, b, 0 - hidden(too_much), rest, b_limbs);
    bits[i / limb_bits] &= ~(Limb{1} << i % limb_bits);
    bits[i / limb_bits] |= (too_much ^ 1) << i % limb_bits;
  }
  if (quotient != nullptr) std::copy_n(bits, a_limbs, quotient);
  if (remainder != nullptr) std::copy_n(rest, b_limbs, remainder);
  return STOCKADE_OK;
}

// ---- common divisors ----

Status gcd(const Limb* a, const Limb* b, uint32_t limbs, Limb* out) {
  const uint32_t words = step_words(limbs);
  Scratch memory(3 * size_t{limbs} + 2 * size_t{words});
  if (memory.words == nullptr) return STOCKADE_ERROR_MEMORY;
  Limb* const x = memory.words;
  Limb* const y = x + limbs;
  Limb* const working = y + limbs;
  auto* const f = reinterpret_cast<int64_t*>(working + limbs);
  int64_t* const g = f + words;

  // Powers of two in both come out first; then one of the two is odd, and takes the first place.
  const uint32_t twos = trailing_zeros(a, b, limbs);
  std::copy_n(a, limbs, x);
  std::copy_n(b, limbs, y);
  shift_secretly(shift_right, x, twos, limbs, working);
  shift_secretly(shift_right, y, twos, limbs, working);
  const Limb in_order = 0 - hidden(limbs == 0 ? 0 : x[0] & 1);
  select(in_order, x, y, working, limbs);
  to_steps(working, limbs, f, words);
  select(in_order, y, x, working, limbs);
  to_steps(working, limbs, g, words);

  int64_t delta = 1;
  for (uint32_t done = 0; done < step_count(limbs * limb_bits); done += step_bits) {
    const Steps steps = divide_steps(delta, static_cast<uint64_t>(f[0]), static_cast<uint64_t>(g[0]));
    apply(steps, f, g, words);
  }
  adjust(f, f[words - 1] >> 63, nullptr, 0, words);
  from_steps(f, words, x, limbs);
  shift_secretly(shift_left, x, twos, limbs, working);
  std::copy_n(x, limbs, out);
  return STOCKADE_OK;
}

Status invert(const Limb* a, const Limb* n, uint32_t limbs, Limb* out, Limb& exists) {
  const uint32_t words = step_words(limbs);
  Scratch memory(5 * size_t{words});
  if (memory.words == nullptr) return STOCKADE_ERROR_MEMORY;
  auto* const f = reinterpret_cast<int64_t*>(memory.words);
  int64_t* const g = f + words;
  int64_t* const d = g + words;
  int64_t* const e = d + words;
  int64_t* const modulus = e + words;
  to_steps(n, limbs, f, words);
  to_steps(a, limbs, g, words);
  to_steps(n, limbs, modulus, words);
  std::fill_n(d, 2 * words, int64_t{0});
  e[0] = 1;
  uint64_t inverse = n[0];
  for (uint32_t right = 3; right < step_bits; right *= 2) inverse *= 2 - n[0] * inverse;

  // Throughout, f = d·a and g = e·a modulo n.
  int64_t delta = 1;
  for (uint32_t done = 0; done < step_count(limbs * limb_bits); done += step_bits) {
    const Steps steps = divide_steps(delta, static_cast<uint64_t>(f[0]), static_cast<uint64_t>(g[0]));
    apply_modulo(steps, d, e, modulus, inverse, words);
    apply(steps, f, g, words);
  }
  const int64_t f_negative = f[words - 1] >> 63;
  adjust(f, f_negative, nullptr, 0, words);
  exists = is_one(f, words);
  adjust(d, 0, modulus, d[words - 1] >> 63, words);
  adjust(d, f_negative, nullptr, 0, words);
  adjust(d, 0, modulus, d[words - 1] >> 63, words);
  from_steps(d, words, out, limbs);
  for (uint32_t i = 0; i < limbs; ++i) out[i] &= exists;
  return STOCKADE_OK;
}

}  // namespace stockade::bignum
