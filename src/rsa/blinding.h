// Base blinding: what a private operation computes with is multiplied by r^e before and by 1/r afterwards (modulo n),
// so that nobody who chooses its input knows what it works on.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>

#include "base/forks.h"
#include "base/random.h"
#include "base/status.h"
#include "bignum/bignum_kernels.h"
#include "rsa/arena.h"

namespace stockade::rsa {

class PublicKey;

// The pair of one key, in Montgomery form: it is applied by Modulus::multiply_montgomery. Each use squares it, which costs
// two products; after so many uses a new r is drawn, and in a process that was forked its first use draws one: two processes
// with one sequence of pairs would blind with the same, which is what a server does that reads its key and then forks.
class Blinding {
 public:
  static constexpr uint32_t uses_of_r = 32;

  // factor = r^e·R, inverse = R/r mod n, as many limbs as n has; a pair that nobody has had before. Threads may share it.
  // RANDOM, MEMORY.
  Status next(const PublicKey& key, RandomSource& random, bignum::Limb* factor, bignum::Limb* inverse);

 private:
  Status draw(const PublicKey& key, RandomSource& random);
  Status square(const PublicKey& key);
  void begin_anew_after_fork();

  std::atomic<uint64_t> process_{process_number()};  // whose pairs these are; 0 while one of its threads begins anew
  std::mutex mutex_;
  Arena memory_;  // what the next point to
  bignum::Limb *factor_ = nullptr, *inverse_ = nullptr;
  uint32_t uses_left_ = 0;
};

}  // namespace stockade::rsa
