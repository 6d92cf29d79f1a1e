// Memory for numbers that are needed for a while: taken at once, handed out piece by piece, wiped when it goes.
#pragma once

#include <cstddef>

#include "base/secret.h"
#include "bignum/bignum_kernels.h"

namespace stockade::rsa {

class Arena {
 public:
  // False if the allocation failed. What was taken before is gone.
  bool allocate(size_t limbs) {
    used_ = 0;
    return memory_.allocate(limbs * sizeof(bignum::Limb));
  }
  // No more than was allocated, in all; null if the allocation failed.
  bignum::Limb* take(size_t limbs) {
    if (memory_.data() == nullptr) return nullptr;
    bignum::Limb* const taken = reinterpret_cast<bignum::Limb*>(memory_.data()) + used_;
    used_ += limbs;
    return taken;
  }

 private:
  SecretBuffer memory_;
  size_t used_ = 0;
};

}  // namespace stockade::rsa
