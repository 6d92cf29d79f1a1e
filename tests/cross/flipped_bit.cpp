#include "cross/flipped_bit.h"

#include <atomic>

#include "bignum/modexp.h"

namespace stockade::tests {
namespace {

using bignum::Limb;
using bignum::Modulus;

constexpr int nothing = -1;
std::atomic<int> armed{nothing};
std::atomic<uint64_t> position{0}, wanted{0}, seen{0}, flipped{0};

// The power is the library's own memory, which it has just written.
void maybe_flip(Half half, const Limb* power) {
  if (armed.load() != static_cast<int>(half)) return;
  const uint64_t number = seen.fetch_add(1);
  if (wanted.load() != FlippedBit::every_one && wanted.load() != number) return;
  const_cast<Limb*>(power)[position / bignum::limb_bits] ^= Limb{1} << position % bignum::limb_bits;
  flipped.fetch_add(1);
}

}  // namespace

FlippedBit::FlippedBit(Half half, uint64_t bit, uint64_t which) {
  position.store(bit);
  wanted.store(which);
  seen.store(0);
  flipped.store(0);
  armed.store(static_cast<int>(half));
}

FlippedBit::~FlippedBit() { armed.store(nothing); }

uint64_t FlippedBit::flips() const { return flipped.load(); }

}  // namespace stockade::tests

using stockade::bignum::Limb;
using stockade::bignum::Modulus;
using stockade::tests::Half;
using stockade::tests::maybe_flip;

// Recombination (RFC 8017 5.1.2 step 2b) reduces the power modulo q by p, and subtracts the outcome from the power
// modulo p. What is reduced elsewhere is longer than the modulus.
extern "C" {

stockade_status __real__ZNK8stockade6bignum7Modulus6reduceEPKmjPm(const Modulus* self, const Limb* wide,
                                                                  uint32_t wide_limbs, Limb* out);
stockade_status __wrap__ZNK8stockade6bignum7Modulus6reduceEPKmjPm(const Modulus* self, const Limb* wide,
                                                                  uint32_t wide_limbs, Limb* out) {
  if (wide_limbs <= self->limbs()) maybe_flip(Half::q, wide);
  return __real__ZNK8stockade6bignum7Modulus6reduceEPKmjPm(self, wide, wide_limbs, out);
}

void __real__ZNK8stockade6bignum7Modulus8subtractEPKmS3_Pm(const Modulus* self, const Limb* a, const Limb* b,
                                                           Limb* out);
void __wrap__ZNK8stockade6bignum7Modulus8subtractEPKmS3_Pm(const Modulus* self, const Limb* a, const Limb* b,
                                                           Limb* out) {
  maybe_flip(Half::p, a);
  __real__ZNK8stockade6bignum7Modulus8subtractEPKmS3_Pm(self, a, b, out);
}

}  // extern "C"
