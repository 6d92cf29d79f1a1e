// Modular exponentiation as a textbook has it: products limb by limb (Knuth, The Art of Computer Programming 2, 4.3.1,
// algorithm M), remainders by long division (algorithm D), powers bit by bit from the right. Not constant-time: chosen
// by name only, as the oracle of the other rows and as the serial baseline of the study.
#include <bit>
#include <cstdint>

#include "bignum/bignum_kernels.h"

namespace stockade::bignum {

namespace {

using Wide = unsigned __int128;

constexpr Limb low(Wide word) { return static_cast<Limb>(word); }
constexpr Limb high(Wide word) { return static_cast<Limb>(word >> limb_bits); }
constexpr Wide join(Limb upper, Limb lower) { return Wide{upper} << limb_bits | lower; }

void copy(const Limb* from, Limb* to, uint32_t limbs) {
  for (uint32_t i = 0; i < limbs; ++i) to[i] = from[i];
}

// product = a·b, 2·limbs limbs (algorithm M).
void multiply(const Limb* a, const Limb* b, uint32_t limbs, Limb* product) {
  for (uint32_t i = 0; i < 2 * limbs; ++i) product[i] = 0;
  for (uint32_t i = 0; i < limbs; ++i) {
    Limb carry = 0;
    for (uint32_t j = 0; j < limbs; ++j) {
      const Wide sum = Wide{a[j]} * b[i] + product[i + j] + carry;
      product[i + j] = low(sum);
      carry = high(sum);
    }
    product[i + limbs] = carry;
  }
}

// number·2^shift in place, shift < 64, the highest limb large enough.
void shift_left(Limb* number, uint32_t limbs, uint32_t shift) {
  for (uint32_t i = limbs; i-- > 0;) {
    const Limb below = i == 0 ? 0 : number[i - 1];
    number[i] = high(join(number[i], below) << shift);
  }
}

void shift_right(Limb* number, uint32_t limbs, uint32_t shift) {
  for (uint32_t i = 0; i < limbs; ++i) {
    const Limb above = i + 1 == limbs ? 0 : number[i + 1];
    number[i] = low(join(above, number[i]) >> shift);
  }
}

// Algorithm D, step D3: a digit of the quotient of u[limbs .. 0] by v[limbs-1 .. 0], too large by 1 at most.
Limb estimate_quotient(const Limb* u, const Limb* v, uint32_t limbs) {
  const Limb first = v[limbs - 1], second = limbs < 2 ? 0 : v[limbs - 2];
  const Limb third = limbs < 2 ? 0 : u[limbs - 2];
  const Wide top = join(u[limbs], u[limbs - 1]);
  Wide quotient = top / first, rest = top % first;
  while (high(quotient) != 0 || quotient * second > join(low(rest), third)) {
    --quotient;
    rest += first;
    if (high(rest) != 0) break;
  }
  return low(quotient);
}

// Steps D4 to D6: u[limbs .. 0] -= quotient·v, once less if that is too much.
void subtract_multiple(Limb* u, const Limb* v, uint32_t limbs, Limb quotient) {
  Limb carry = 0, borrow = 0;
  for (uint32_t i = 0; i <= limbs; ++i) {
    const Wide product = Wide{quotient} * (i == limbs ? 0 : v[i]) + carry;
    const Wide difference = Wide{u[i]} - low(product) - borrow;
    carry = high(product);
    u[i] = low(difference);
    borrow = high(difference) & 1;
  }
  if (borrow == 0) return;
  carry = 0;
  for (uint32_t i = 0; i <= limbs; ++i) {
    const Wide sum = Wide{u[i]} + (i == limbs ? 0 : v[i]) + carry;
    u[i] = low(sum);
    carry = high(sum);
  }
}

// out = product mod n (algorithm D), for a product of 2·limbs limbs with room for one more. `divisor` is working
// memory.
void remainder(const Montgomery& modulus, Limb* product, Limb* divisor, Limb* out) {
  const uint32_t limbs = modulus.limbs;
  const auto shift = static_cast<uint32_t>(std::countl_zero(modulus.n[limbs - 1]));
  copy(modulus.n, divisor, limbs);
  shift_left(divisor, limbs, shift);
  product[2 * limbs] = 0;
  shift_left(product, 2 * limbs + 1, shift);
  for (uint32_t i = limbs + 1; i-- > 0;) {
    subtract_multiple(product + i, divisor, limbs, estimate_quotient(product + i, divisor, limbs));
  }
  shift_right(product, limbs, shift);
  copy(product, out, limbs);
}

// Montgomery form with R = 1: numbers as they are.
uint32_t words(const Montgomery& modulus) { return modulus.limbs; }
uint32_t scratch_words(const Montgomery& modulus) { return 3 * modulus.limbs + 1; }

void enter(const Montgomery& modulus, const Limb* plain, Limb* out, Limb*) { copy(plain, out, modulus.limbs); }
void leave(const Montgomery& modulus, const Limb* a, Limb* plain, Limb*) { copy(a, plain, modulus.limbs); }

void multiply_modulo(const Montgomery& modulus, const Limb* a, const Limb* b, Limb* out, Limb* scratch) {
  multiply(a, b, modulus.limbs, scratch);
  remainder(modulus, scratch, scratch + 2 * modulus.limbs + 1, out);
}

void square_modulo(const Montgomery& modulus, const Limb* a, Limb* out, Limb* scratch) {
  multiply_modulo(modulus, a, a, out, scratch);
}

// The product of base^(2^i) over the ones of the exponent.
Status power(const Power& task) {
  const Montgomery& modulus = *task.modulus;
  const uint32_t limbs = modulus.limbs;
  Scratch memory(2 * size_t{limbs} + scratch_words(modulus));
  if (memory.words == nullptr) return STOCKADE_ERROR_MEMORY;
  Limb* const product = memory.words;
  Limb* const square = product + limbs;
  Limb* const scratch = square + limbs;
  for (uint32_t i = 0; i < limbs; ++i) product[i] = i == 0;
  copy(task.base, square, limbs);
  for (uint32_t i = 0; i < task.exponent_bits; ++i) {
    if ((task.exponent[i / limb_bits] >> i % limb_bits & 1) != 0) {
      multiply_modulo(modulus, product, square, product, scratch);
    }
    square_modulo(modulus, square, square, scratch);
  }
  copy(product, task.result, limbs);
  return STOCKADE_OK;
}

Status modexp(const Power* tasks, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    if (const Status status = power(tasks[i]); status != STOCKADE_OK) return status;
  }
  return STOCKADE_OK;
}

}  // namespace

constinit const Kernels kernels_reference = {
    modexp, modexp, {words, scratch_words, enter, leave, multiply_modulo, square_modulo}};

}  // namespace stockade::bignum
