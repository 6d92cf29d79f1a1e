// Montgomery arithmetic on 64-bit limbs in plain C++, with the compiler's 128-bit integer for products. Products are
// made whole and then reduced, so that a square has half the products.
#include "bignum/bignum_limbs.h"

namespace stockade::bignum {

namespace {

struct Portable {
  static void multiply(const Limb* a, const Limb* b, uint32_t limbs, Limb* t) {
    bignum::multiply(a, limbs, b, limbs, t);
  }
  static void square(const Limb* a, uint32_t limbs, Limb* t) { bignum::square(a, limbs, t); }

  // Limb by limb from the lowest, the multiple of n that makes it zero (Montgomery 1985).
  static void reduce(const Montgomery& modulus, Limb* t, Limb* out) {
    const uint32_t limbs = modulus.padded;
    Limb carry = 0;
    for (uint32_t i = 0; i < limbs; ++i) {
      const Limb high = add_product(modulus.n, t[i] * modulus.inverse, t + i, limbs);
      const unsigned __int128 sum = static_cast<unsigned __int128>(t[i + limbs]) + high + carry;
      t[i + limbs] = static_cast<Limb>(sum);
      carry = static_cast<Limb>(sum >> limb_bits);
    }
    subtract_masked(t + limbs, modulus.n, 0 - carry, out, limbs);
  }
};

}  // namespace

constinit const Kernels kernels_portable = limb_kernels<Portable>();

}  // namespace stockade::bignum
