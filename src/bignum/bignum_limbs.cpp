#include "bignum/bignum_limbs.h"

namespace stockade::bignum {

void subtract_once(const Montgomery& modulus, const Limb* a, Limb* out) {
  const Limb keep = is_less(a, modulus.n, modulus.padded);
  subtract_masked(a, modulus.n, ~keep, out, modulus.padded);
}

namespace {

// The parts of the entries from limb `at` on: `vectors` stay in registers while the entries go by.
template <uint32_t vectors>
void select_part(const Limb* table, uint32_t count, uint32_t index, uint32_t limbs, Limb* out) {
  using Words = uint32_t __attribute__((vector_size(16)));
  const Words wanted = {index, index, index, index}, one = {1, 1, 1, 1};
  Words number = {}, sum[vectors];
  for (Words& part : sum) part = Words{};
  for (uint32_t i = 0; i < count; ++i, table += limbs, number += one) {
    auto mask = reinterpret_cast<Words>(number == wanted);
    __asm__("" : "+x"(mask));
    for (uint32_t k = 0; k < vectors; ++k) {
      Words words;
      std::memcpy(&words, table + 2 * k, sizeof words);
      sum[k] |= words & mask;
    }
  }
  for (uint32_t k = 0; k < vectors; ++k) std::memcpy(out + 2 * k, &sum[k], sizeof sum[k]);
}

}  // namespace

void select_entry(const Limb* table, uint32_t count, uint32_t index, uint32_t limbs, Limb* out) {
  uint32_t at = 0;
  for (; at + 16 <= limbs; at += 16) select_part<8>(table + at, count, index, limbs, out + at);
  if (at < limbs) select_part<4>(table + at, count, index, limbs, out + at);
}

}  // namespace stockade::bignum
