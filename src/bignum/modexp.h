// A modulus with its Montgomery constants, made once and used for many powers and products. Powers themselves are
// computed by a row of the table, bignum_variants.h: choose(...)->kernels->modexp(tasks, count) with tasks over
// `constants()`.
#pragma once

#include "base/secret.h"
#include "base/status.h"
#include "bignum/bignum_kernels.h"

namespace stockade::bignum {

// An odd n > 1. Secret: what it holds is wiped with it. Immutable once made, so that threads may share it. Everything
// here is constant-time in n and in the numbers, except in n's length in bits, which is public.
class Modulus {
 public:
  Modulus() = default;  // empty: only to be assigned to
  Modulus(Modulus&& other) noexcept;
  Modulus& operator=(Modulus&& other) noexcept;
  ~Modulus();

  // `n` has `limbs` limbs, high zero ones allowed. ARGUMENT if n is even, below 3 or longer than most_bits; MEMORY.
  static Status make(const Limb* n, uint32_t limbs, Modulus& modulus);

  uint32_t bits() const { return constants_.bits; }
  uint32_t limbs() const { return constants_.limbs; }  // of the value, without high zero limbs, and of all residues
  const Limb* value() const { return constants_.n; }
  const Montgomery& constants() const { return constants_; }  // as long as this object lives and is not assigned to

  // out = wide mod n, for a number of any length; `limbs()` limbs. MEMORY.
  Status reduce(const Limb* wide, uint32_t wide_limbs, Limb* out) const;
  // out = a·b mod n for plain a, b of `limbs()` limbs, of which b is below n; out may be a or b. MEMORY.
  Status multiply(const Limb* a, const Limb* b, Limb* out) const;
  // out = a·b/R mod n, R = 2^(64·padded), likewise, at half the price: one factor is wanted with a factor R of its own,
  // which constants().r gives it.
  Status multiply_montgomery(const Limb* a, const Limb* b, Limb* out) const;
  // out = a + b mod n, a - b mod n for a, b below n; out may be a or b.
  void add(const Limb* a, const Limb* b, Limb* out) const;
  void subtract(const Limb* a, const Limb* b, Limb* out) const;

 private:
  Status multiply(const Limb* a, const Limb* b, bool plain, Limb* out) const;

  SecretBuffer memory_;  // what constants_ points to
  Montgomery constants_{};
};

}  // namespace stockade::bignum
