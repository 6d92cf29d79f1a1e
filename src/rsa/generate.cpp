#include "rsa/generate.h"

#include <algorithm>
#include <array>
#include <vector>

#include "base/without_throwing.h"
#include "bignum/integer.h"
#include "libcrypto/library.h"
#include "rsa/arena.h"
#include "rsa/primality.h"

namespace stockade::rsa {
namespace {

using bignum::Modulus;

constexpr uint32_t candidates_at_once = 16;  // a multiple of every row's lanes

// ---- small primes ----

constexpr uint32_t sieve_end = 8192;

// The odd primes below sieve_end, and products of neighbours that fit into 32 bits: one remainder does for several
// primes.
struct SmallPrimes {
  struct Product {
    uint32_t value;
    uint32_t first, last;  // its primes, by index
  };
  std::array<uint16_t, 1027> primes{};
  std::array<Product, 1027> products{};
  uint32_t product_count = 0;
};

constexpr SmallPrimes find_small_primes() {
  SmallPrimes found;
  std::array<bool, sieve_end> composite{};
  uint32_t count = 0;
  for (uint32_t i = 3; i < sieve_end; i += 2) {
    if (composite[i]) continue;
    found.primes[count++] = static_cast<uint16_t>(i);
    for (uint32_t j = i * i; j < sieve_end; j += 2 * i) composite[j] = true;
  }
  for (uint32_t i = 0; i < count;) {
    uint64_t value = 1;
    const uint32_t first = i;
    for (; i < count && value * found.primes[i] <= UINT32_MAX; ++i) value *= found.primes[i];
    found.products[found.product_count++] = {static_cast<uint32_t>(value), first, i};
  }
  return found;
}

constexpr SmallPrimes small_primes = find_small_primes();
static_assert(small_primes.primes.back() == 8191);

// A prime is worth its division as long as it saves more in tests, whose cost grows faster with the size.
uint32_t sieve_limit(uint32_t bits) { return std::min(bits * (bits / 1024 + 1) / 2, sieve_end); }

// False for a multiple of a small prime. A number that is none takes the same time as any other.
bool survives_sieve(const Limb* candidate, uint32_t limbs, uint32_t limit) {
  for (uint32_t i = 0; i < small_primes.product_count; ++i) {
    const SmallPrimes::Product& product = small_primes.products[i];
    if (small_primes.primes[product.first] > limit) break;
    const uint32_t remainder = bignum::remainder_word(candidate, limbs, product.value);
    for (uint32_t j = product.first; j < product.last; ++j) {
      const Limb word = remainder;
      if (bignum::remainder_word(&word, 1, small_primes.primes[j]) == 0) return false;
    }
  }
  return true;
}

// ---- primes ----

// The prime factors of e: p - 1 must be a multiple of none.
std::vector<uint32_t> prime_factors(uint32_t number) {
  std::vector<uint32_t> factors;
  for (uint32_t i = 3; uint64_t{i} * i <= number; i += 2) {
    if (number % i != 0) continue;
    factors.push_back(i);
    while (number % i == 0) number /= i;
  }
  if (number > 1) factors.push_back(number);
  return factors;
}

// Finds primes for one key, and knows how many candidates it has taken for that.
class PrimeSearch {
 public:
  PrimeSearch(uint32_t bits, const std::vector<uint32_t>& exponent_factors, const bignum::Variant& row,
              RandomSource& random)
      : modulus_bits_(bits),
        bits_(bits / 2),
        limbs_((bits_ + bignum::limb_bits - 1) / bignum::limb_bits),
        exponent_factors_(exponent_factors),
        row_(row),
        random_(random),
        candidates_left_(uint64_t{20} * bits) {}

  // Two primes in the order in which they were drawn. RANDOM, MEMORY.
  Status find(Modulus& p, Modulus& q) {
    uint32_t found = 0;
    while (found < 2) {
      std::array<Modulus, candidates_at_once> candidates;
      std::array<Round, candidates_at_once> rounds;
      Status status = draw(candidates);
      for (uint32_t i = 0; i < candidates_at_once; ++i) rounds[i] = {&candidates[i], false};
      if (status == STOCKADE_OK) status = run_rounds(row_, rounds, random_);
      for (uint32_t i = 0; i < candidates_at_once && found < 2 && status == STOCKADE_OK; ++i) {
        if (!rounds[i].passed) continue;
        bool prime = false;
        status = confirm(candidates[i], prime);
        if (prime) (found++ == 0 ? p : q) = std::move(candidates[i]);
      }
      if (status != STOCKADE_OK) return status;
    }
    return STOCKADE_OK;
  }

 private:
  // Candidates that have survived the sieve.
  Status draw(std::array<Modulus, candidates_at_once>& candidates) {
    Arena memory;
    if (!memory.allocate(limbs_)) return STOCKADE_ERROR_MEMORY;
    Limb* const candidate = memory.take(limbs_);
    for (Modulus& modulus : candidates) {
      do {
        if (candidates_left_-- == 0) return STOCKADE_ERROR_RANDOM;
        const Status status = random_.fill(reinterpret_cast<uint8_t*>(candidate), limbs_ * sizeof(Limb));
        if (status != STOCKADE_OK) return status;
        bignum::shift_right(candidate, limbs_ * bignum::limb_bits - bits_, candidate, limbs_);
        candidate[0] |= 1;
      } while (!is_acceptable(candidate));
      if (const Status status = Modulus::make(candidate, limbs_, modulus); status != STOCKADE_OK) return status;
    }
    return STOCKADE_OK;
  }

  // A.1.3 steps 4.4 and 4.5: above sqrt(2)·2^(bits - 1), so that a product of two has twice the bits; p - 1 prime to e.
  bool is_acceptable(const Limb* candidate) const {
    constexpr Limb root_of_two = 0xB504F333F9DE6484;  // times 2^-63, rounded down
    const uint32_t shift = bits_ % bignum::limb_bits;
    Limb top = candidate[limbs_ - 1];
    if (shift != 0) top = top << (bignum::limb_bits - shift) | candidate[limbs_ - 2] >> shift;
    if (top <= root_of_two) return false;
    const bool prime_to_e = std::none_of(exponent_factors_.begin(), exponent_factors_.end(), [&](uint32_t factor) {
      return bignum::remainder_word(candidate, limbs_, factor) == 1;
    });
    return prime_to_e && survives_sieve(candidate, limbs_, sieve_limit(bits_));
  }

  // The rounds that are left for a candidate that has passed the first.
  Status confirm(const Modulus& candidate, bool& prime) {
    std::array<Round, 8> rounds;
    const uint32_t count = rounds_for_generation(modulus_bits_) - 1;
    std::fill_n(rounds.begin(), count, Round{&candidate, false});
    const Status status = run_rounds(row_, std::span(rounds).first(count), random_);
    prime = status == STOCKADE_OK &&
            std::all_of(rounds.begin(), rounds.begin() + count, [](const Round& round) { return round.passed; });
    return status;
  }

  const uint32_t modulus_bits_, bits_, limbs_;
  const std::vector<uint32_t>& exponent_factors_;
  const bignum::Variant& row_;
  RandomSource& random_;
  uint64_t candidates_left_;
};

// ---- exponents ----

// The numbers of a key as they are computed: limbs first, then bytes. p and q have as many limbs each, the others twice
// that.
struct Parts {
  Limb *n, *d, *p, *q, *dp, *dq, *qinv, *e, *work;

  static constexpr uint32_t halves = 3 * 2 + 5;
  bool allocate(uint32_t half) {
    if (!memory.allocate(halves * half + 1)) return false;
    for (Limb** part : {&n, &d, &work}) *part = memory.take(2 * half);
    for (Limb** part : {&p, &q, &dp, &dq, &qinv}) *part = memory.take(half);
    e = memory.take(1);
    return true;
  }

  Arena memory;
};

// out = lcm(p - 1, q - 1), 2·half limbs. Uses dp, dq and qinv to work with.
Status common_multiple(Parts& parts, uint32_t half, Limb* out) {
  bignum::subtract_word(parts.p, 1, parts.dp, half);
  bignum::subtract_word(parts.q, 1, parts.dq, half);
  if (const Status status = bignum::gcd(parts.dp, parts.dq, half, parts.qinv); status != STOCKADE_OK) return status;
  bignum::multiply(parts.dp, half, parts.dq, half, parts.work);
  return bignum::divide(parts.work, 2 * half, parts.qinv, half, out, nullptr);
}

// d = 1/e mod l, where e is short: (1 + k·l) / e for that k below e which makes it a whole number, k = -1/l mod e.
Status invert_exponent(const Limb* l, uint32_t limbs, uint32_t exponent, Limb* d) {
  const Limb e = exponent, remainder = bignum::remainder_word(l, limbs, exponent);
  Limb inverse, exists;
  if (const Status status = bignum::invert(&remainder, &e, 1, &inverse, exists); status != STOCKADE_OK) return status;
  Arena memory;
  if (!memory.allocate(limbs + 1)) return STOCKADE_ERROR_MEMORY;
  Limb* const product = memory.take(limbs + 1);
  const Limb k = e - inverse;
  bignum::multiply(l, limbs, &k, 1, product);
  bignum::add_word(product, 1, product, limbs + 1);
  bignum::divide_word(product, limbs + 1, exponent, product);
  std::copy_n(product, limbs, d);
  return STOCKADE_OK;
}

Status compute_parts(const Modulus& p, const Modulus& q, uint32_t exponent, Parts& parts) {
  const uint32_t half = p.limbs();
  if (!parts.allocate(half)) return STOCKADE_ERROR_MEMORY;
  std::copy_n(p.value(), half, parts.p);
  std::copy_n(q.value(), half, parts.q);
  *parts.e = exponent;
  bignum::multiply(parts.p, half, parts.q, half, parts.n);
  Status status = common_multiple(parts, half, parts.d);
  if (status == STOCKADE_OK) status = invert_exponent(parts.d, 2 * half, exponent, parts.d);
  if (status == STOCKADE_OK) status = reduce_below(parts.d, 2 * half, p, parts.dp);
  if (status == STOCKADE_OK) status = reduce_below(parts.d, 2 * half, q, parts.dq);
  if (status == STOCKADE_OK) status = p.reduce(parts.q, half, parts.work);
  Limb exists;
  return status == STOCKADE_OK ? bignum::invert(parts.work, parts.p, half, parts.qinv, exists) : status;
}

// With all its checks, as for a key from a file: what a fault of the machine has spoilt is not handed out.
Status make_key(const Parts& parts, uint32_t half, const bignum::Variant* row, RandomSource& random,
                std::unique_ptr<PrivateKey>& key) {
  const uint64_t bytes = half * sizeof(Limb);
  SecretBuffer memory((Parts::halves + 1) * bytes);
  if (memory.data() == nullptr) return STOCKADE_ERROR_MEMORY;
  uint8_t* next = memory.data();
  const auto to_bytes = [&next](const Limb* part, uint32_t limbs) {
    const Bytes written(next, limbs * sizeof(Limb));
    bignum::to_bytes(part, limbs, next, written.size());
    next += written.size();
    return written;
  };
  const PrivateNumbers numbers = {to_bytes(parts.n, 2 * half), to_bytes(parts.e, 1),      to_bytes(parts.d, 2 * half),
                                  to_bytes(parts.p, half),     to_bytes(parts.q, half),   to_bytes(parts.dp, half),
                                  to_bytes(parts.dq, half),    to_bytes(parts.qinv, half)};
  return PrivateKey::make(numbers, row, random, key);
}

}  // namespace

Status generate_key(uint32_t bits, uint32_t exponent, const bignum::Variant* row, RandomSource& random,
                    std::unique_ptr<PrivateKey>& key) {
  if (bits < least_bits || bits > bignum::most_bits) return STOCKADE_ERROR_RSA_SIZE;
  if (bits % 2 != 0) return STOCKADE_ERROR_ARGUMENT;
  if (exponent < usual_exponent || exponent % 2 == 0) return STOCKADE_ERROR_RSA_EXPONENT;
  return without_throwing([&] {
    const std::vector<uint32_t> factors = prime_factors(exponent);
    PrimeSearch search(bits, factors, *row, random);
    for (;;) {
      Modulus p, q;
      Parts parts;
      Status status = search.find(p, q);
      if (status == STOCKADE_OK) status = compute_parts(p, q, exponent, parts);
      if (status == STOCKADE_OK) status = make_key(parts, p.limbs(), row, random, key);
      // p and q too close (A.1.3 step 5.5), or d too short (A.1.1 step 3): other primes, which nobody will ever see
      // drawn.
      if (status != STOCKADE_ERROR_RSA_FACTORS && status != STOCKADE_ERROR_RSA_PRIVATE_EXPONENT) return status;
    }
  });
}

}  // namespace stockade::rsa
