// Base blinding: what a private operation computes with is multiplied by r^e before and by 1/r afterwards (modulo n),
// so that nobody who chooses its input knows what it works on.
#pragma once

#include <cstdint>
#include <mutex>

#include "base/random.h"
#include "base/status.h"
#include "bignum/bignum_kernels.h"
#include "rsa/arena.h"

namespace stockade::rsa {

class PublicKey;

// The pair of one key, in Montgomery form: it is applied by Modulus::multiply_montgomery. Each use squares it, which costs
// two products; after so many uses a new r is drawn.
class Blinding {
 public:
  static constexpr uint32_t uses_of_r = 32;

  // factor = r^e·R, inverse = R/r mod n, as many limbs as n has; a pair that nobody has had before. Threads may share it.
  // RANDOM, MEMORY.
  Status next(const PublicKey& key, RandomSource& random, bignum::Limb* factor, bignum::Limb* inverse);

 private:
  Status draw(const PublicKey& key, RandomSource& random);
  Status square(const PublicKey& key);

  std::mutex mutex_;
  Arena memory_;  // what the next point to
  bignum::Limb *factor_ = nullptr, *inverse_ = nullptr;
  uint32_t uses_left_ = 0;
};

}  // namespace stockade::rsa
