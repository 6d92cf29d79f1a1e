// RSA keys as numbers: checked once, when they are made, with everything cached that their use needs again and again.
// What they look like in files is the business of key_files.h.
#pragma once

#include <cstdint>
#include <memory>

#include "base/bytes.h"
#include "base/random.h"
#include "base/status.h"
#include "bignum/bignum_variants.h"
#include "bignum/modexp.h"
#include "rsa/arena.h"
#include "rsa/blinding.h"

namespace stockade::rsa {

using bignum::Limb;

inline constexpr uint32_t least_bits = 2048;         // of a modulus
inline constexpr uint32_t legacy_least_bits = 1024;  // for verifying what was signed long ago
inline constexpr uint32_t most_exponent_bits = 256;  // of e: FIPS 186-5 A.1.1
inline constexpr uint32_t most_exponent_limbs = most_exponent_bits / bignum::limb_bits;

// Big-endian, leading zeros allowed.
struct PublicNumbers {
  Bytes n, e;
};
struct PrivateNumbers {
  Bytes n, e, d, p, q, dp, dq, qinv;
};

class PublicKey {
 public:
  // `fewest_bits` is least_bits or legacy_least_bits. Keeps nothing of the numbers' memory. RSA_SIZE (fewer than
  // `fewest_bits` or more than 16,384), RSA_MODULUS, RSA_EXPONENT, MEMORY.
  static Status make(const PublicNumbers& numbers, uint32_t fewest_bits, const bignum::Variant* row, PublicKey& key);

  const bignum::Variant* row() const { return row_; }
  // Nobody has asked for that row: batches may be given to another one that is known to be quicker.
  bool any_row() const { return any_row_; }
  void allow_any_row() { any_row_ = true; }
  const bignum::Modulus& modulus() const { return modulus_; }
  uint32_t bits() const { return modulus_.bits(); }
  uint32_t limbs() const { return modulus_.limbs(); }
  uint64_t bytes() const { return (uint64_t{bits()} + 7) / 8; }  // of the modulus, so of ciphertexts and signatures
  const Limb* exponent() const { return exponent_; }             // most_exponent_limbs
  uint32_t exponent_bits() const { return exponent_bits_; }

 private:
  const bignum::Variant* row_ = nullptr;
  bignum::Modulus modulus_;
  Limb exponent_[most_exponent_limbs] = {};
  uint32_t exponent_bits_ = 0;
  bool any_row_ = false;
};

// Immutable but for its blinding, which locks itself: threads may share a key. All of it is wiped when it goes.
class PrivateKey {
 public:
  // Checks everything: n = p·q with p and q different, not close (FIPS 186-5 A.1.3), no shorter than a quarter of n,
  // and probably prime; d of more than half of n's bits and below n (FIPS 186-5 A.1.1); e·d = 1 modulo p - 1 and q - 1;
  // dp, dq and qinv what RFC 8017 3.2 says. Constant-time in the secret numbers but for their lengths, for what is
  // found wrong, and for how often 2 divides p - 1 and q - 1. `random` gives the bases of the primality tests.
  // RSA_SIZE, RSA_MODULUS, RSA_EXPONENT, RSA_FACTORS, RSA_PRIVATE_EXPONENT, RSA_CRT, RSA_PRIME, RANDOM, MEMORY.
  static Status make(const PrivateNumbers& numbers, const bignum::Variant* row, RandomSource& random,
                     std::unique_ptr<PrivateKey>& key);

  const PublicKey& public_key() const { return public_; }
  const bignum::Variant* row() const { return public_.row(); }
  bool any_row() const { return public_.any_row(); }
  void allow_any_row() { public_.allow_any_row(); }
  const bignum::Modulus& p() const { return p_; }
  const bignum::Modulus& q() const { return q_; }
  const Limb* d() const { return d_; }        // as many limbs as n
  const Limb* dp() const { return dp_; }      // as p
  const Limb* dq() const { return dq_; }      // as q
  const Limb* qinv() const { return qinv_; }  // as p
  Blinding& blinding() const { return blinding_; }

 private:
  PrivateKey() = default;
  Status read(const PrivateNumbers& numbers, const bignum::Variant* row);
  Status check_factors() const;
  Status check_exponents() const;
  Status check_coefficient() const;
  Status check_primes(RandomSource& random) const;

  PublicKey public_;
  bignum::Modulus p_, q_;
  Arena memory_;  // what the next point to
  Limb *d_ = nullptr, *dp_ = nullptr, *dq_ = nullptr, *qinv_ = nullptr;
  mutable Blinding blinding_;
};

// out = number mod (prime - 1), as many limbs as the prime: what an exponent is modulo that prime. MEMORY.
Status reduce_below(const Limb* number, uint32_t limbs, const bignum::Modulus& prime, Limb* out);

}  // namespace stockade::rsa
