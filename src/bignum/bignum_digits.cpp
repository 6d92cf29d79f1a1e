// Between limbs of 64 bits and digits of 52, one digit to a word.
#include "bignum/bignum_kernels.h"

namespace stockade::bignum {

void limbs_to_digits(const Limb* limbs, uint32_t limb_count, uint64_t* digits, uint32_t digit_count) {
  constexpr uint64_t digit_mask = (uint64_t{1} << digit_bits) - 1;
  for (uint32_t i = 0; i < digit_count; ++i) {
    const uint32_t from = i * digit_bits, index = from / limb_bits, shift = from % limb_bits;
    uint64_t digit = index < limb_count ? limbs[index] >> shift : 0;
    if (shift > limb_bits - digit_bits && index + 1 < limb_count) digit |= limbs[index + 1] << (limb_bits - shift);
    digits[i] = digit & digit_mask;
  }
}

void digits_to_limbs(const uint64_t* digits, uint32_t digit_count, Limb* limbs, uint32_t limb_count) {
  for (uint32_t i = 0; i < limb_count; ++i) {
    const uint32_t from = i * limb_bits;
    uint32_t index = from / digit_bits;
    const uint32_t skipped = from % digit_bits;
    Limb limb = index < digit_count ? digits[index] >> skipped : 0;
    for (uint32_t at = digit_bits - skipped; at < limb_bits; at += digit_bits) {
      if (++index < digit_count) limb |= digits[index] << at;
    }
    limbs[i] = limb;
  }
}

}  // namespace stockade::bignum
