// What memcheck must complain of: the checker is worth nothing if it is blind. Small functions that leak in the two
// ways there are, and the library's own readable rows, which are not constant-time and say so.
#include <cstring>

#include "aes/aes_variants.h"
#include "bignum/bignum_kernels.h"
#include "bignum/integer.h"
#include "bignum/modexp.h"
#include "ct/secrets.h"

namespace stockade::ct {
namespace {

volatile uint32_t seen;

[[gnu::noinline]] void branch_on(uint32_t secret) {
  if ((secret & 4) != 0) seen = 1;
}

[[gnu::noinline]] void index_by(uint32_t secret) {
  static const uint32_t table[16] = {3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3};
  seen = *const_cast<const volatile uint32_t*>(table + (secret & 15));
}

void branch() {
  uint32_t secret = 12;
  make_secret(secret);
  branch_on(secret);
}

void table_index() {
  uint32_t secret = 7;
  make_secret(secret);
  index_by(secret);
}

// As a comparison of tags must not be made.
void early_exit() {
  uint8_t tag[16] = {1, 2, 3}, expected[16] = {1, 2, 3};
  make_secret(tag);
  for (uint32_t i = 0; i < sizeof tag; ++i) {
    if (const_cast<const volatile uint8_t&>(tag[i]) != expected[i]) return;
  }
  seen = 2;
}

void reference_power() {
  const bignum::Limb n[4] = {0xFFFFFFFFFFFFFF43, 1, 2, 0x8000000000000000}, base[4] = {5};
  bignum::Limb exponent[4] = {0x123456789ABCDEF, 77, 88, 99}, result[4];
  bignum::Modulus modulus;
  demand(bignum::Modulus::make(n, 4, modulus) == STOCKADE_OK, "modulus");
  make_secret(exponent);
  const bignum::Power power = {&modulus.constants(), base, exponent, 256, result};
  bignum::kernels_reference.modexp(&power, 1);
}

void reference_aes() {
  uint8_t key[16] = {1, 2, 3}, block[16] = {};
  make_secret(key);
  aes::Schedule schedule;
  aes::kernels_reference.expand(key, sizeof key, schedule);
  aes::kernels_reference.ecb_encrypt(schedule, block, block, 1, aes::Stores::ordinary);
}

// Functions whose results declassified.cpp makes public for callers of the library are not public here.
void verdict_at_another_site() {
  bignum::Limb a[4] = {1, 2, 3, 4};
  const bignum::Limb b[4] = {1, 2, 3, 5};
  make_secret(a);
  if (bignum::is_equal(a, b, 4) != 0) seen = 3;
}

void length_at_another_site() {
  bignum::Limb a[4] = {1, 2, 3};
  make_secret(a);
  if (bignum::bit_length(a, 4) > 100) seen = 4;
}

void order_at_another_site() {
  uint8_t bytes[32] = {1};
  make_secret(bytes);
  bignum::Limb a[4];
  const bignum::Limb b[4] = {1, 2, 3, 5};
  bignum::from_bytes(bytes, sizeof bytes, a, 4);
  if (bignum::is_less(a, b, 4) != 0) seen = 5;
}

}  // namespace

std::span<const Case> leaks() {
  static constexpr Case cases[] = {{"a branch", branch},
                                   {"an index", table_index},
                                   {"a comparison that ends early", early_exit},
                                   {"a power by the row 'reference'", reference_power},
                                   {"AES by the row 'reference'", reference_aes},
                                   {"a verdict that is public elsewhere", verdict_at_another_site},
                                   {"a length that is public elsewhere", length_at_another_site},
                                   {"an order that is public elsewhere", order_at_another_site}};
  return cases;
}

}  // namespace stockade::ct
