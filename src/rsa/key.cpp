#include "rsa/key.h"

#include <algorithm>
#include <new>

#include "bignum/integer.h"
#include "rsa/primality.h"

namespace stockade::rsa {
namespace {

Bytes without_leading_zeros(Bytes number) {
  return {std::find_if(number.begin(), number.end(), [](uint8_t byte) { return byte != 0; }), number.end()};
}

uint32_t limbs_for(Bytes number) { return static_cast<uint32_t>((number.size() + 7) / 8); }

// A public number's length in bits, or a secret one's where that is no secret.
uint64_t bits_of(Bytes number) {
  number = without_leading_zeros(number);
  return number.empty() ? 0 : 8 * number.size() - static_cast<uint64_t>(__builtin_clz(number[0]) - 24);
}

bool is_odd(Bytes number) { return !number.empty() && (number.back() & 1) != 0; }

// A number that has been found to be odd and of a size that is allowed.
Status read_modulus(Bytes number, bignum::Modulus& modulus) {
  number = without_leading_zeros(number);
  const uint32_t limbs = limbs_for(number);
  Arena memory;
  if (!memory.allocate(limbs)) return STOCKADE_ERROR_MEMORY;
  Limb* const value = memory.take(limbs);
  bignum::from_bytes(number.data(), number.size(), value, limbs);
  return bignum::Modulus::make(value, limbs, modulus);
}

Status check_public(const PublicNumbers& numbers, uint32_t fewest_bits) {
  const uint64_t bits = bits_of(numbers.n), exponent_bits = bits_of(numbers.e);
  if (bits < fewest_bits || bits > bignum::most_bits) return STOCKADE_ERROR_RSA_SIZE;
  if (!is_odd(numbers.n)) return STOCKADE_ERROR_RSA_MODULUS;
  const bool fits = exponent_bits >= 2 && exponent_bits <= most_exponent_bits;
  return fits && is_odd(numbers.e) ? STOCKADE_OK : STOCKADE_ERROR_RSA_EXPONENT;
}

// Whether half = d mod (prime - 1), in `matches`, and e·d = 1 mod (prime - 1), in `inverts`; as masks.
Status check_half(const PublicKey& key, const Limb* d, const bignum::Modulus& prime, const Limb* half, Limb& matches,
                  Limb& inverts) {
  const uint32_t limbs = prime.limbs(), wide = limbs + most_exponent_limbs;
  Arena memory;
  if (!memory.allocate(2 * limbs + wide)) return STOCKADE_ERROR_MEMORY;
  Limb* const reduced = memory.take(limbs);
  Limb* const one = memory.take(limbs);
  Limb* const product = memory.take(wide);
  if (const Status status = reduce_below(d, key.limbs(), prime, reduced); status != STOCKADE_OK) return status;
  bignum::multiply(reduced, limbs, key.exponent(), most_exponent_limbs, product);
  if (const Status status = reduce_below(product, wide, prime, one); status != STOCKADE_OK) return status;
  matches = bignum::is_equal(reduced, half, limbs);
  inverts = bignum::is_word(one, limbs, 1);
  return STOCKADE_OK;
}

}  // namespace

Status reduce_below(const Limb* number, uint32_t limbs, const bignum::Modulus& prime, Limb* out) {
  Arena memory;
  if (!memory.allocate(prime.limbs())) return STOCKADE_ERROR_MEMORY;
  Limb* const below = memory.take(prime.limbs());
  bignum::subtract_word(prime.value(), 1, below, prime.limbs());
  return bignum::divide(number, limbs, below, prime.limbs(), nullptr, out);
}

Status PublicKey::make(const PublicNumbers& numbers, uint32_t fewest_bits, const bignum::Variant* row, PublicKey& key) {
  if (const Status status = check_public(numbers, fewest_bits); status != STOCKADE_OK) return status;
  if (const Status status = read_modulus(numbers.n, key.modulus_); status != STOCKADE_OK) return status;
  const Bytes e = without_leading_zeros(numbers.e);
  bignum::from_bytes(e.data(), e.size(), key.exponent_, most_exponent_limbs);
  key.exponent_bits_ = static_cast<uint32_t>(bits_of(e));
  key.row_ = row;
  return STOCKADE_OK;
}

Status PrivateKey::make(const PrivateNumbers& numbers, const bignum::Variant* row, RandomSource& random,
                        std::unique_ptr<PrivateKey>& key) {
  std::unique_ptr<PrivateKey> made(new (std::nothrow) PrivateKey);
  if (!made) return STOCKADE_ERROR_MEMORY;
  Status status = made->read(numbers, row);
  if (status == STOCKADE_OK) status = made->check_factors();
  if (status == STOCKADE_OK) status = made->check_exponents();
  if (status == STOCKADE_OK) status = made->check_coefficient();
  if (status == STOCKADE_OK) status = made->check_primes(random);
  if (status == STOCKADE_OK) key = std::move(made);
  return status;
}

// Takes the numbers in, as far as their lengths and the factors' lowest bits allow.
Status PrivateKey::read(const PrivateNumbers& numbers, const bignum::Variant* row) {
  if (const Status status = PublicKey::make({numbers.n, numbers.e}, least_bits, row, public_); status != STOCKADE_OK) {
    return status;
  }
  const uint64_t p_bits = bits_of(numbers.p), q_bits = bits_of(numbers.q), bits = public_.bits();
  const bool lengths_fit = p_bits + q_bits == bits || p_bits + q_bits == bits + 1;
  if (!lengths_fit || std::min(p_bits, q_bits) < bits / 4) return STOCKADE_ERROR_RSA_FACTORS;
  if (!is_odd(numbers.p) || !is_odd(numbers.q)) return STOCKADE_ERROR_RSA_FACTORS;
  if (const Status status = read_modulus(numbers.p, p_); status != STOCKADE_OK) return status;
  if (const Status status = read_modulus(numbers.q, q_); status != STOCKADE_OK) return status;
  const uint32_t n_limbs = public_.limbs(), p_limbs = p_.limbs(), q_limbs = q_.limbs();
  if (!memory_.allocate(n_limbs + 2 * p_limbs + q_limbs)) return STOCKADE_ERROR_MEMORY;
  d_ = memory_.take(n_limbs);
  dp_ = memory_.take(p_limbs);
  dq_ = memory_.take(q_limbs);
  qinv_ = memory_.take(p_limbs);
  const auto take = [](Bytes number, Limb* out, uint32_t limbs) {
    return bignum::from_bytes(number.data(), number.size(), out, limbs);
  };
  if (take(numbers.d, d_, n_limbs) == 0) return STOCKADE_ERROR_RSA_PRIVATE_EXPONENT;
  const Limb fit = take(numbers.dp, dp_, p_limbs) & take(numbers.dq, dq_, q_limbs) & take(numbers.qinv, qinv_, p_limbs);
  return fit != 0 ? STOCKADE_OK : STOCKADE_ERROR_RSA_CRT;
}

// n = p·q; |p - q| > 2^(bits/2 - 100) (FIPS 186-5 A.1.3 step 5.5), which p = q is not.
Status PrivateKey::check_factors() const {
  const uint32_t p_limbs = p_.limbs(), q_limbs = q_.limbs(), wide = p_limbs + q_limbs;
  Arena memory;
  if (!memory.allocate(3 * wide)) return STOCKADE_ERROR_MEMORY;
  Limb* const a = memory.take(wide);
  Limb* const b = memory.take(wide);
  Limb* const c = memory.take(wide);
  bignum::multiply(p_.value(), p_limbs, q_.value(), q_limbs, a);
  std::fill_n(b, wide, Limb{0});
  std::copy_n(public_.modulus().value(), public_.limbs(), b);
  if (bignum::is_equal(a, b, wide) == 0) return STOCKADE_ERROR_RSA_FACTORS;
  std::fill_n(a, wide, Limb{0});
  std::fill_n(b, wide, Limb{0});
  std::copy_n(p_.value(), p_limbs, a);
  std::copy_n(q_.value(), q_limbs, b);
  const Limb negative = Limb{0} - bignum::subtract(a, b, c, wide);
  bignum::subtract(b, a, a, wide);
  bignum::select(negative, a, c, c, wide);
  bignum::shift_right(c, public_.bits() / 2 - 100, c, wide);
  return bignum::is_zero(c, wide) == 0 ? STOCKADE_OK : STOCKADE_ERROR_RSA_FACTORS;
}

// FIPS 186-5 A.1.1: 2^(bits/2) < d < n here, for many make d below (p - 1)(q - 1) and not below their least common
// multiple.
Status PrivateKey::check_exponents() const {
  const uint32_t limbs = public_.limbs();
  Arena memory;
  if (!memory.allocate(limbs)) return STOCKADE_ERROR_MEMORY;
  Limb* const high = memory.take(limbs);
  bignum::shift_right(d_, (public_.bits() + 1) / 2, high, limbs);
  const Limb is_short = bignum::is_zero(high, limbs);
  if ((is_short | ~bignum::is_less(d_, public_.modulus().value(), limbs)) != 0) {
    return STOCKADE_ERROR_RSA_PRIVATE_EXPONENT;
  }
  Limb p_matches, p_inverts, q_matches, q_inverts;
  Status status = check_half(public_, d_, p_, dp_, p_matches, p_inverts);
  if (status == STOCKADE_OK) status = check_half(public_, d_, q_, dq_, q_matches, q_inverts);
  if (status != STOCKADE_OK) return status;
  if ((p_inverts & q_inverts) == 0) return STOCKADE_ERROR_RSA_PRIVATE_EXPONENT;
  return (p_matches & q_matches) != 0 ? STOCKADE_OK : STOCKADE_ERROR_RSA_CRT;
}

// q·qinv = 1 mod p.
Status PrivateKey::check_coefficient() const {
  const uint32_t limbs = p_.limbs();
  if (bignum::is_less(qinv_, p_.value(), limbs) == 0) return STOCKADE_ERROR_RSA_CRT;
  Arena memory;
  if (!memory.allocate(limbs)) return STOCKADE_ERROR_MEMORY;
  Limb* const product = memory.take(limbs);
  Status status = p_.reduce(q_.value(), q_.limbs(), product);
  if (status == STOCKADE_OK) status = p_.multiply(product, qinv_, product);
  if (status != STOCKADE_OK) return status;
  return bignum::is_word(product, limbs, 1) != 0 ? STOCKADE_OK : STOCKADE_ERROR_RSA_CRT;
}

Status PrivateKey::check_primes(RandomSource& random) const {
  Round rounds[2 * rounds_for_loading];
  for (uint32_t i = 0; i < rounds_for_loading; ++i) {
    rounds[i] = {&p_, false};
    rounds[rounds_for_loading + i] = {&q_, false};
  }
  if (const Status status = run_rounds(*row(), rounds, random); status != STOCKADE_OK) return status;
  const bool prime = std::all_of(std::begin(rounds), std::end(rounds), [](const Round& round) { return round.passed; });
  return prime ? STOCKADE_OK : STOCKADE_ERROR_RSA_PRIME;
}

}  // namespace stockade::rsa
