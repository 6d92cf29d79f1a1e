// The probabilistic primality test of Miller and Rabin (FIPS 186-5 B.3.1), for many candidates and bases side by side.
#pragma once

#include <cstdint>
#include <span>

#include "base/random.h"
#include "base/status.h"
#include "bignum/bignum_variants.h"
#include "bignum/modexp.h"

namespace stockade::rsa {

// One round: a candidate and one random base. A candidate that shall have several rounds stands there several times.
struct Round {
  const bignum::Modulus* candidate;
  bool passed;  // false: composite; true: prime, or the base is one of the at most 1 in 4 that do not show it
};

// Runs all rounds. Constant-time in candidates that pass but for how often 2 divides the candidate less 1. RANDOM,
// MEMORY.
Status run_rounds(const bignum::Variant& row, std::span<Round> rounds, RandomSource& random);

// FIPS 186-5 Table B.1: rounds for a factor of a generated modulus of that many bits, whatever the candidates were
// chosen by.
uint32_t rounds_for_generation(uint32_t modulus_bits);

// Rounds for a factor that somebody else has chosen. A composite number made to deceive passes with a chance of 4^-16;
// who hands over such a key knows its secrets anyway.
inline constexpr uint32_t rounds_for_loading = 16;

}  // namespace stockade::rsa
