// A fault of the machine: a bit that flips in one half of a private operation of RSA. For programs linked with --wrap
// for the two functions of bignum::Modulus that put the halves together.
#pragma once

#include <cstdint>

namespace stockade::tests {

enum class Half { p, q };

// While this lives, a bit of the power modulo p, or modulo q, flips in the operation `which`, counted from 0, or in
// every one. For keys whose factors have as many limbs each, and for one thread at a time.
class FlippedBit {
 public:
  static constexpr uint64_t every_one = UINT64_MAX;
  FlippedBit(Half half, uint64_t bit, uint64_t which = every_one);
  FlippedBit(const FlippedBit&) = delete;
  FlippedBit& operator=(const FlippedBit&) = delete;
  ~FlippedBit();
  // How many have flipped so far.
  uint64_t flips() const;
};

}  // namespace stockade::tests
