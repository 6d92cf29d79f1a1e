// What kernels must not compile for themselves: their working memory, and how an exponent is cut into windows.
#include <cstdlib>

#include "base/secret.h"
#include "bignum/bignum_kernels.h"

namespace stockade::bignum {

Scratch::Scratch(size_t count) : words(nullptr), bytes_((count * sizeof(uint64_t) + 63) / 64 * 64) {
  words = static_cast<uint64_t*>(std::aligned_alloc(64, bytes_));
}

Scratch::~Scratch() {
  if (words != nullptr) wipe(words, bytes_);
  std::free(words);
}

// Squarings are given; products are 2^w for the table and bits/w for the windows, each of which scans the table.
uint32_t window_bits(uint32_t exponent_bits) {
  if (exponent_bits <= 24) return 2;
  if (exponent_bits <= 80) return 3;
  if (exponent_bits <= 240) return 4;
  return exponent_bits <= 1400 ? 5 : 6;
}

uint32_t exponent_window(const Limb* exponent, uint32_t exponent_bits, uint32_t from, uint32_t width) {
  if (from >= exponent_bits) return 0;
  const uint32_t index = from / limb_bits, shift = from % limb_bits;
  const uint32_t limbs = (exponent_bits + limb_bits - 1) / limb_bits;
  Limb window = exponent[index] >> shift;
  if (shift + width > limb_bits && index + 1 < limbs) window |= exponent[index + 1] << (limb_bits - shift);
  return static_cast<uint32_t>(window) & ((1U << width) - 1);
}

}  // namespace stockade::bignum
