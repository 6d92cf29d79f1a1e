// Arithmetic on non-negative integers of fixed length: arrays of 64-bit limbs, least significant first.
//
// Constant-time in the values: time and addresses depend on the lengths, and on shift counts and word divisors, which
// are public. A truth is returned as a mask, all ones or zero, so that callers can select by it instead of branching.
// `out` may be an input where the function says so; otherwise it overlaps none. Lengths may be 0 where that makes
// sense.
#pragma once

#include <cstdint>

#include "base/status.h"
#include "bignum/bignum_kernels.h"

namespace stockade::bignum {

// ---- masks ----

// The compiler may not learn that the value is a truth, and so not make a branch of it.
inline Limb hidden(Limb word) {
  __asm__("" : "+r"(word));
  return word;
}

inline Limb zero_mask(Limb word) { return hidden((~word & (word - 1)) >> 63) * ~Limb{0}; }  // word == 0
inline Limb equal_mask(Limb a, Limb b) { return zero_mask(a ^ b); }
inline Limb choose_limb(Limb mask, Limb a, Limb b) { return b ^ (mask & (a ^ b)); }  // mask ? a : b

Limb is_zero(const Limb* a, uint32_t limbs);
Limb is_equal(const Limb* a, const Limb* b, uint32_t limbs);
Limb is_less(const Limb* a, const Limb* b, uint32_t limbs);  // a < b
Limb is_word(const Limb* a, uint32_t limbs, Limb word);      // a == word

// out = mask ? a : b. `out` may be a or b.
void select(Limb mask, const Limb* a, const Limb* b, Limb* out, uint32_t limbs);

// ---- sums, products, shifts ----

// out = a + b, a - b modulo 2^(64·limbs); the carry or borrow (0 or 1) is returned. `out` may be a or b.
Limb add(const Limb* a, const Limb* b, Limb* out, uint32_t limbs);
Limb subtract(const Limb* a, const Limb* b, Limb* out, uint32_t limbs);
// The same with one word. `out` may be a.
Limb add_word(const Limb* a, Limb word, Limb* out, uint32_t limbs);
Limb subtract_word(const Limb* a, Limb word, Limb* out, uint32_t limbs);
// out = a + (mask ? b : 0), a - (mask ? b : 0).
Limb add_masked(const Limb* a, const Limb* b, Limb mask, Limb* out, uint32_t limbs);
Limb subtract_masked(const Limb* a, const Limb* b, Limb mask, Limb* out, uint32_t limbs);

// out = a·b, a_limbs + b_limbs limbs.
void multiply(const Limb* a, uint32_t a_limbs, const Limb* b, uint32_t b_limbs, Limb* out);
// out = a², 2·limbs limbs.
void square(const Limb* a, uint32_t limbs, Limb* out);
// out += a·word; the limb that follows is returned.
Limb add_product(const Limb* a, Limb word, Limb* out, uint32_t limbs);

// out = a·2^bits modulo 2^(64·limbs), floor(a / 2^bits), for any public count. `out` may be a.
void shift_left(const Limb* a, uint32_t bits, Limb* out, uint32_t limbs);
void shift_right(const Limb* a, uint32_t bits, Limb* out, uint32_t limbs);

// The length in bits, 0 for 0. (The result is as secret as a is.)
uint32_t bit_length(const Limb* a, uint32_t limbs);
// Bit number `index`, which is public: 0 or 1.
inline Limb bit(const Limb* a, uint32_t index) { return a[index / limb_bits] >> index % limb_bits & 1; }

// ---- bytes ----

// Big-endian bytes to limbs. Mask: the number fits. What does not fit is dropped.
Limb from_bytes(const uint8_t* bytes, uint64_t length, Limb* out, uint32_t limbs);
// `length` bytes, big-endian, with leading zeros. Mask: the number fits.
Limb to_bytes(const Limb* a, uint32_t limbs, uint8_t* bytes, uint64_t length);

// ---- division ----

// a mod divisor, and quotient = floor(a / divisor) as well (may be a). 0 < divisor < 2^32, public.
uint32_t remainder_word(const Limb* a, uint32_t limbs, uint32_t divisor);
uint32_t divide_word(const Limb* a, uint32_t limbs, uint32_t divisor, Limb* quotient);

// quotient = floor(a / b) of a_limbs limbs, remainder = a mod b of b_limbs limbs, bit by bit: for key set-up, where b
// is even or used once (otherwise Modulus::reduce). Either output may be null. For b = 0 the outputs say nothing.
// MEMORY.
Status divide(const Limb* a, uint32_t a_limbs, const Limb* b, uint32_t b_limbs, Limb* quotient, Limb* remainder);

// ---- common divisors ----

// out = gcd(a, b), any a and b of at most most_limbs limbs; gcd(a, 0) = a. MEMORY.
Status gcd(const Limb* a, const Limb* b, uint32_t limbs, Limb* out);

// out = 1/a mod n for odd n >= 3 and any a of `limbs` <= most_limbs limbs. `exists` is the mask of gcd(a, n) = 1; where
// it is zero, `out` is 0. MEMORY.
Status invert(const Limb* a, const Limb* n, uint32_t limbs, Limb* out, Limb& exists);

}  // namespace stockade::bignum
