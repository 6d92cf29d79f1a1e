// Key generation after FIPS 186-5 A.1.3: both factors are probable primes, each a random number of its own.
#pragma once

#include <cstdint>
#include <memory>

#include "base/random.h"
#include "base/status.h"
#include "rsa/key.h"

namespace stockade::rsa {

inline constexpr uint32_t usual_exponent = 65537;

// A key of exactly `bits` bits, 2,048 to 16,384 and even, with sqrt(2)·2^(bits/2 - 1) < p, q < 2^(bits/2), both far
// enough apart, and d = 1/e modulo the least common multiple of p - 1 and q - 1. `exponent` is odd and above 2^16
// (A.1.1). Candidates are sieved by small primes and then tested side by side on the row. What is secret in the end is
// treated in constant time but for how often 2 divides p - 1 and q - 1; candidates that are rejected are no secrets.
// RSA_SIZE, ARGUMENT (odd `bits`), RSA_EXPONENT, RANDOM (also: no primes are found in what the source gives), MEMORY.
Status generate_key(uint32_t bits, uint32_t exponent, const bignum::Variant* row, RandomSource& random,
                    std::unique_ptr<PrivateKey>& key);

}  // namespace stockade::rsa
