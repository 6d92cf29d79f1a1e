#include "rsa/primality.h"

#include <algorithm>

#include "bignum/integer.h"
#include "rsa/arena.h"

namespace stockade::rsa {
namespace {

using bignum::Limb;
using bignum::Modulus;

constexpr size_t rounds_at_once = 64;

// How often 2 divides candidate - 1.
uint32_t twos_below(const Modulus& candidate) {
  uint32_t twos = 0;
  // The candidate is odd and above 1, so a set bit is found.
  for (twos = 1; bignum::bit(candidate.value(), twos) == 0; ++twos) {
    if (twos + 1 == candidate.bits()) break;
  }
  return twos;
}

// FIPS 186-5 B.3.1 step 4.1 without its rejections: 64 bits more than the candidate has are reduced, and that one of
// the three trivial bases comes of it has a chance below 2^-500. They prove nothing of a prime and condemn none but by
// 0.
Status draw_base(const Modulus& candidate, RandomSource& random, Limb* wide, Limb* base) {
  const uint32_t limbs = candidate.limbs() + 1;
  const Status status = random.fill(reinterpret_cast<uint8_t*>(wide), limbs * sizeof(Limb));
  return status == STOCKADE_OK ? candidate.reduce(wide, limbs, base) : status;
}

// Steps 4.3 to 4.6 for z = base^m, candidate - 1 = 2^twos · m: whether 1 comes first or -1 comes on the way.
Status judge(const Modulus& candidate, Limb* z, Limb* minus_one, bool& passed) {
  const uint32_t limbs = candidate.limbs(), twos = twos_below(candidate);
  bignum::subtract_word(candidate.value(), 1, minus_one, limbs);
  Limb good = bignum::is_word(z, limbs, 1) | bignum::is_equal(z, minus_one, limbs);
  for (uint32_t i = 1; i < twos; ++i) {
    if (const Status status = candidate.multiply(z, z, z); status != STOCKADE_OK) return status;
    good |= bignum::is_equal(z, minus_one, limbs);
  }
  passed = good != 0;
  return STOCKADE_OK;
}

Status run_some(const bignum::Variant& row, std::span<Round> rounds, RandomSource& random) {
  uint32_t widest = 0;
  for (const Round& round : rounds) widest = std::max(widest, round.candidate->limbs() + 1);
  // An exponent and a base for each, and one number to work with.
  Arena memory;
  if (!memory.allocate((2 * rounds.size() + 1) * widest)) return STOCKADE_ERROR_MEMORY;
  bignum::Power powers[rounds_at_once];
  Limb* const scratch = memory.take(widest);
  for (size_t i = 0; i < rounds.size(); ++i) {
    const Modulus& candidate = *rounds[i].candidate;
    Limb* const exponent = memory.take(widest);
    Limb* const base = memory.take(widest);
    if (const Status status = draw_base(candidate, random, scratch, base); status != STOCKADE_OK) return status;
    bignum::shift_right(candidate.value(), twos_below(candidate), exponent, candidate.limbs());
    powers[i] = {&candidate.constants(), base, exponent, candidate.bits(), base};
  }
  if (const Status status = row.kernels->modexp(powers, rounds.size()); status != STOCKADE_OK) return status;
  for (size_t i = 0; i < rounds.size(); ++i) {
    const Status status = judge(*rounds[i].candidate, powers[i].result, scratch, rounds[i].passed);
    if (status != STOCKADE_OK) return status;
  }
  return STOCKADE_OK;
}

}  // namespace

Status run_rounds(const bignum::Variant& row, std::span<Round> rounds, RandomSource& random) {
  while (!rounds.empty()) {
    const std::span<Round> some = rounds.first(std::min(rounds.size(), rounds_at_once));
    if (const Status status = run_some(row, some, random); status != STOCKADE_OK) return status;
    rounds = rounds.subspan(some.size());
  }
  return STOCKADE_OK;
}

uint32_t rounds_for_generation(uint32_t modulus_bits) { return modulus_bits >= 3072 ? 4 : 5; }

}  // namespace stockade::rsa
