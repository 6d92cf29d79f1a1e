#include <algorithm>
#include <cstring>
#include <utility>

#include "bignum/bignum_limbs.h"
#include "bignum/integer.h"
#include "bignum/modexp.h"
#include "cpu/features.h"

namespace stockade::bignum {

namespace {

// Products of single numbers are left to the better of the two rows whose radix is that of numbers outside.
const Residues& residues() {
#if defined(__x86_64__)
  static const Residues& best = (cpu::usable() & cpu::adx) != 0 ? kernels_adx.residues : kernels_portable.residues;
  return best;
#else
  return kernels_portable.residues;
#endif
}

constexpr uint32_t round_up(uint32_t count) { return (count + block_limbs - 1) / block_limbs * block_limbs; }

// x = 2x mod n, `times` times over, for x < n.
void double_modulo(const Montgomery& modulus, Limb* x, uint32_t times) {
  const uint32_t limbs = modulus.padded;
  for (uint32_t i = 0; i < times; ++i) {
    const Limb carry = add(x, x, x, limbs);
    const Limb borrow = subtract(x, modulus.n, x, limbs);
    add_masked(x, modulus.n, 0 - (borrow & ~carry), x, limbs);
  }
}

// -1/n modulo 2^64: each step of Newton's doubles the bits that are right, of which n itself has three.
Limb negative_inverse(Limb n) {
  Limb inverse = n;
  for (uint32_t right = 3; right < limb_bits; right *= 2) inverse *= 2 - n * inverse;
  return 0 - inverse;
}

// 2^bits mod n, which is 2^bits - n because n has just that many.
void power_of_two(const Montgomery& modulus, Limb* out) {
  std::memset(out, 0, modulus.padded * sizeof(Limb));
  subtract(out, modulus.n, out, modulus.padded);
  for (uint32_t i = 0; i < modulus.padded; ++i) {
    const uint32_t from = i * limb_bits;
    const uint32_t kept = std::clamp(modulus.bits, from, from + limb_bits) - from;
    out[i] &= kept == 0 ? 0 : ~Limb{0} >> (limb_bits - kept);
  }
}

// R mod n, and R^2 mod n from R·2^padded by six squarings in Montgomery form.
void make_limb_constants(const Montgomery& modulus, Limb* r, Limb* rr, Limb* scratch) {
  power_of_two(modulus, r);
  double_modulo(modulus, r, modulus.padded * limb_bits - modulus.bits);
  std::memcpy(rr, r, modulus.padded * sizeof(Limb));
  double_modulo(modulus, rr, modulus.padded);
  for (uint32_t i = 0; i < 6; ++i) residues().square(modulus, rr, rr, scratch);
  // A square may be anything below R; a product by something below n is below 2n.
  residues().multiply(modulus, rr, r, rr, scratch);
  subtract_once(modulus, rr, rr);
}

// R52 mod n and its square, made in limbs. `square` and `root` are working memory of `padded` limbs.
void make_digit_constants(const Montgomery& modulus, uint64_t* r52, uint64_t* rr52, Limb* root, Limb* square,
                          Limb* scratch) {
  power_of_two(modulus, root);
  double_modulo(modulus, root, modulus.digits * digit_bits - modulus.bits);
  limbs_to_digits(root, modulus.limbs, r52, modulus.digits);
  residues().square(modulus, root, square, scratch);
  residues().multiply(modulus, square, modulus.rr, square, scratch);
  subtract_once(modulus, square, square);
  limbs_to_digits(square, modulus.limbs, rr52, modulus.digits);
}

}  // namespace

Modulus::Modulus(Modulus&& other) noexcept
    : memory_(std::move(other.memory_)), constants_(std::exchange(other.constants_, {})) {}

Modulus& Modulus::operator=(Modulus&& other) noexcept {
  if (this != &other) {
    memory_ = std::move(other.memory_);
    constants_ = std::exchange(other.constants_, {});
  }
  return *this;
}

Modulus::~Modulus() { wipe(&constants_, sizeof constants_); }

Status Modulus::make(const Limb* n, uint32_t limbs, Modulus& modulus) {
  const uint32_t bits = bit_length(n, limbs);
  if (bits < 2 || bits > most_bits || (n[0] & 1) == 0) return STOCKADE_ERROR_ARGUMENT;
  Modulus made;
  Montgomery& constants = made.constants_;
  constants.bits = bits;
  constants.limbs = (bits + limb_bits - 1) / limb_bits;
  constants.padded = round_up(constants.limbs);
  constants.digits = (bits + 2 + digit_bits - 1) / digit_bits;
  constants.inverse = negative_inverse(n[0]);
  constants.inverse52 = constants.inverse & ((uint64_t{1} << digit_bits) - 1);

  const uint32_t padded = constants.padded, padded_digits = round_up(constants.digits);
  const size_t words = 3 * (size_t{padded} + padded_digits);
  Scratch working(2 * padded + residues().scratch_words(constants));
  if (!made.memory_.allocate(words * sizeof(uint64_t)) || working.words == nullptr) return STOCKADE_ERROR_MEMORY;
  auto* const memory = reinterpret_cast<uint64_t*>(made.memory_.data());
  std::memset(memory, 0, words * sizeof(uint64_t));
  uint64_t* const digits = memory + 3 * size_t{padded};
  std::memcpy(memory, n, constants.limbs * sizeof(Limb));
  limbs_to_digits(memory, constants.limbs, digits, constants.digits);
  constants.n = memory;
  constants.r = memory + padded;
  constants.rr = memory + 2 * padded;
  constants.n52 = digits;
  constants.r52 = digits + padded_digits;
  constants.rr52 = digits + 2 * padded_digits;
  Limb* const scratch = working.words + 2 * padded;
  make_limb_constants(constants, memory + padded, memory + 2 * padded, scratch);
  make_digit_constants(constants, digits + padded_digits, digits + 2 * padded_digits, working.words,
                       working.words + padded, scratch);
  modulus = std::move(made);
  return STOCKADE_OK;
}

Status Modulus::reduce(const Limb* wide, uint32_t wide_limbs, Limb* out) const {
  const uint32_t padded = constants_.padded;
  Scratch memory(2 * padded + residues().scratch_words(constants_));
  if (memory.words == nullptr) return STOCKADE_ERROR_MEMORY;
  Limb* const sum = memory.words;
  Limb* const part = sum + padded;
  Limb* const scratch = part + padded;
  std::memset(sum, 0, padded * sizeof(Limb));
  // Horner's rule in powers of R. A part below R times R mod n, over R, is the part modulo n, below 2n.
  const uint32_t parts = (wide_limbs + padded - 1) / padded;
  for (uint32_t i = parts; i-- > 0;) {
    const uint32_t from = i * padded, count = std::min(padded, wide_limbs - from);
    std::memset(part, 0, padded * sizeof(Limb));
    std::memcpy(part, wide + from, count * sizeof(Limb));
    residues().multiply(constants_, part, constants_.r, part, scratch);
    subtract_once(constants_, part, part);
    if (i + 1 != parts) {
      residues().multiply(constants_, sum, constants_.rr, sum, scratch);
      subtract_once(constants_, sum, sum);
    }
    add(sum, part, sum);
  }
  std::memcpy(out, sum, constants_.limbs * sizeof(Limb));
  return STOCKADE_OK;
}

Status Modulus::multiply(const Limb* a, const Limb* b, Limb* out) const { return multiply(a, b, true, out); }

Status Modulus::multiply_montgomery(const Limb* a, const Limb* b, Limb* out) const {
  return multiply(a, b, false, out);
}

Status Modulus::multiply(const Limb* a, const Limb* b, bool plain, Limb* out) const {
  const uint32_t padded = constants_.padded, limbs = constants_.limbs;
  Scratch memory(2 * padded + residues().scratch_words(constants_));
  if (memory.words == nullptr) return STOCKADE_ERROR_MEMORY;
  Limb* const product = memory.words;
  Limb* const factor = product + padded;
  Limb* const scratch = factor + padded;
  std::memset(memory.words, 0, 2 * padded * sizeof(Limb));
  std::memcpy(product, a, limbs * sizeof(Limb));
  std::memcpy(factor, b, limbs * sizeof(Limb));
  if (plain) residues().multiply(constants_, product, constants_.rr, product, scratch);
  residues().multiply(constants_, product, factor, product, scratch);
  subtract_once(constants_, product, product);
  std::memcpy(out, product, limbs * sizeof(Limb));
  return STOCKADE_OK;
}

void Modulus::add(const Limb* a, const Limb* b, Limb* out) const {
  const Limb carry = bignum::add(a, b, out, constants_.limbs);
  const Limb borrow = bignum::subtract(out, constants_.n, out, constants_.limbs);
  add_masked(out, constants_.n, 0 - (borrow & ~carry), out, constants_.limbs);
}

void Modulus::subtract(const Limb* a, const Limb* b, Limb* out) const {
  const Limb borrow = bignum::subtract(a, b, out, constants_.limbs);
  add_masked(out, constants_.n, 0 - borrow, out, constants_.limbs);
}

}  // namespace stockade::bignum
