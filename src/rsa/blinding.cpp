#include "rsa/blinding.h"

#include <sched.h>

#include <algorithm>
#include <new>

#include "bignum/integer.h"
#include "rsa/key.h"

namespace stockade::rsa {

// At the moment of the fork another thread, which the child does not have, may have held the lock, or been at work on what it
// protects. So nothing of that is locked or read here, and the lock is made again.
void Blinding::begin_anew_after_fork() {
  const uint64_t self = process_number();
  for (uint64_t owner; (owner = process_.load(std::memory_order_acquire)) != self; sched_yield()) {
    if (owner == 0 || !process_.compare_exchange_strong(owner, 0, std::memory_order_acquire)) continue;
    new (&mutex_) std::mutex;
    uses_left_ = 0;
    // Complete if the last that is set of it is there.
    if (inverse_ == nullptr) {
      new (&memory_) Arena;
      factor_ = nullptr;
    }
    process_.store(self, std::memory_order_release);
  }
}

Status Blinding::next(const PublicKey& key, RandomSource& random, Limb* factor, Limb* inverse) {
  begin_anew_after_fork();
  const std::lock_guard lock(mutex_);
  const Status status = uses_left_ == 0 ? draw(key, random) : square(key);
  if (status != STOCKADE_OK) {
    uses_left_ = 0;
    return status;
  }
  --uses_left_;
  const uint32_t limbs = key.limbs();
  std::copy_n(factor_, limbs, factor);
  std::copy_n(inverse_, limbs, inverse);
  return STOCKADE_OK;
}

Status Blinding::square(const PublicKey& key) {
  const bignum::Modulus& n = key.modulus();
  const Status status = n.multiply_montgomery(factor_, factor_, factor_);
  return status == STOCKADE_OK ? n.multiply_montgomery(inverse_, inverse_, inverse_) : status;
}

Status Blinding::draw(const PublicKey& key, RandomSource& random) {
  const bignum::Modulus& n = key.modulus();
  const uint32_t limbs = n.limbs(), wide = limbs + 1;  // 64 bits more, so that the remainder is as good as uniform
  if (factor_ == nullptr) {
    if (!memory_.allocate(2 * limbs)) return STOCKADE_ERROR_MEMORY;
    factor_ = memory_.take(limbs);
    inverse_ = memory_.take(limbs);
  }
  Arena drawn;
  if (!drawn.allocate(wide + limbs)) return STOCKADE_ERROR_MEMORY;
  Limb* const bits = drawn.take(wide);
  Limb* const r = drawn.take(limbs);
  const Status filled = random.fill(reinterpret_cast<uint8_t*>(bits), wide * sizeof(Limb));
  if (filled != STOCKADE_OK) return filled;
  if (const Status status = n.reduce(bits, wide, r); status != STOCKADE_OK) return status;
  Limb exists;
  Status status = bignum::invert(r, n.value(), limbs, inverse_, exists);
  if (status != STOCKADE_OK) return status;
  // Nobody meets a multiple of p or q by chance: the source is broken.
  if (exists == 0) return STOCKADE_ERROR_RANDOM;
  const bignum::Power power = {&n.constants(), r, key.exponent(), key.exponent_bits(), factor_};
  status = key.row()->kernels->modexp_public(&power, 1);
  if (status == STOCKADE_OK) status = n.multiply(factor_, n.constants().r, factor_);
  if (status == STOCKADE_OK) status = n.multiply(inverse_, n.constants().r, inverse_);
  if (status == STOCKADE_OK) uses_left_ = uses_of_r;
  return status;
}

}  // namespace stockade::rsa
