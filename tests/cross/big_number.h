// What the tests of modular arithmetic share: numbers as vectors of limbs, and the same numbers in OpenSSL.
#pragma once

#include <openssl/bn.h>

#include <memory>
#include <ostream>
#include <stdexcept>
#include <utility>
#include <vector>

#include "bignum/bignum_kernels.h"
#include "cross/random_source.h"

namespace stockade::bignum::tests {

using stockade::tests::RandomSource;
using stockade::tests::scaled;

using Limbs = std::vector<Limb>;

inline uint32_t count_of(const Limbs& limbs) { return static_cast<uint32_t>(limbs.size()); }

// A number of OpenSSL's, from limbs and back.
class Oracle {
 public:
  Oracle() : number_(checked(BN_new()), BN_clear_free) {}
  explicit Oracle(Limb word) : Oracle() { BN_set_word(get(), word); }
  explicit Oracle(const Limbs& limbs) : Oracle(limbs.data(), count_of(limbs)) {}
  Oracle(const Limb* limbs, uint32_t count)
      : number_(
            checked(BN_lebin2bn(reinterpret_cast<const unsigned char*>(limbs), static_cast<int>(count * 8), nullptr)),
            BN_clear_free) {}
  BIGNUM* get() const { return number_.get(); }
  Limbs limbs(uint32_t count) const {
    Limbs out(count);
    if (BN_bn2lebinpad(get(), reinterpret_cast<unsigned char*>(out.data()), static_cast<int>(count * 8)) < 0) {
      throw std::runtime_error("the number has more limbs");
    }
    return out;
  }
  uint32_t bits() const { return static_cast<uint32_t>(BN_num_bits(get())); }

 private:
  static BIGNUM* checked(BIGNUM* number) {
    if (number == nullptr) throw std::bad_alloc();
    return number;
  }
  std::unique_ptr<BIGNUM, void (*)(BIGNUM*)> number_;
};

inline BN_CTX* context() {
  static const std::unique_ptr<BN_CTX, void (*)(BN_CTX*)> made(BN_CTX_new(), BN_CTX_free);
  return made.get();
}

inline void require(int result) {
  if (result != 1) throw std::runtime_error("OpenSSL refused a number");
}

// Below 2^bits. Sometimes with long runs of ones and of zeros, which carry far.
inline Limbs random_limbs(RandomSource& random, uint32_t bits, uint32_t limbs) {
  Limbs out(limbs);
  const uint64_t kind = random.below(4);
  for (uint32_t i = 0; i < limbs && i * limb_bits < bits; ++i) {
    const Limb word = random.next();
    out[i] = kind != 0 || random.one_in(3) ? word : word & 1 ? ~Limb{0} : 0;
    const uint32_t left = bits - i * limb_bits;
    if (left < limb_bits) out[i] &= (Limb{1} << left) - 1;
  }
  return out;
}

// Odd, of exactly that many bits, at least two.
inline Limbs random_odd(RandomSource& random, uint32_t bits) {
  Limbs out = random_limbs(random, bits, (bits + limb_bits - 1) / limb_bits);
  out[0] |= 1;
  out[(bits - 1) / limb_bits] |= Limb{1} << (bits - 1) % limb_bits;
  return out;
}

// Below n, as long as n.
inline Limbs random_below(RandomSource& random, const Limbs& n) {
  const Limbs wide = random_limbs(random, (count_of(n) + 1) * limb_bits, count_of(n) + 1);
  const Oracle rest;
  require(BN_mod(rest.get(), Oracle(wide).get(), Oracle(n).get(), context()));
  return rest.limbs(count_of(n));
}

inline Limbs expect_power(const Limbs& base, const Limbs& exponent, const Limbs& n) {
  const Oracle out;
  require(BN_mod_exp(out.get(), Oracle(base).get(), Oracle(exponent).get(), Oracle(n).get(), context()));
  return out.limbs(count_of(n));
}

inline Limbs expect_product(const Limbs& a, const Limbs& b, const Limbs& n) {
  const Oracle out;
  require(BN_mod_mul(out.get(), Oracle(a).get(), Oracle(b).get(), Oracle(n).get(), context()));
  return out.limbs(count_of(n));
}

}  // namespace stockade::bignum::tests
