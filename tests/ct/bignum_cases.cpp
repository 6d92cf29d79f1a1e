// Powers, products and inverses of secret numbers modulo secret moduli, at sizes small enough for valgrind.
#include <algorithm>
#include <cstring>
#include <vector>

#include "base/random.h"
#include "bignum/bignum_variants.h"
#include "bignum/integer.h"
#include "bignum/modexp.h"
#include "cpu/features.h"
#include "ct/secrets.h"

namespace stockade::ct {
namespace {

using bignum::Limb;
using Number = std::vector<Limb>;

Number random_number(uint32_t limbs) {
  Number number(limbs);
  demand(system_random().fill(reinterpret_cast<uint8_t*>(number.data()), limbs * sizeof(Limb)) == STOCKADE_OK,
         "random");
  return number;
}

// Odd and of full length, both of which are known of a prime; all other bits are secret.
Number secret_modulus(uint32_t limbs) {
  Number n = random_number(limbs);
  n.front() |= 1;
  n.back() |= Limb{1} << 63;
  for (Limb& limb : n) make_secret(limb);
  make_secret_but(n.front(), limbs == 1 ? 1 | Limb{1} << 63 : 1);
  return n;
}

// Below every modulus of that length with the highest bit set.
Number secret_number(uint32_t limbs) {
  Number number = random_number(limbs);
  number.back() >>= 1;
  make_secret(number.data(), limbs * sizeof(Limb));
  return number;
}

bool is_secret_number(const Number& number) { return is_secret(number.data(), number.size() * sizeof(Limb)); }

bignum::Modulus make_modulus(const Number& n) {
  bignum::Modulus modulus;
  const Status status = bignum::Modulus::make(n.data(), static_cast<uint32_t>(n.size()), modulus);
  demand(status == STOCKADE_OK, "modulus");
  demand(is_secret(modulus.constants().rr, n.size() * sizeof(Limb)), "secret that reached the constants");
  return modulus;
}

// `count` powers by the row's kernel, of a size that fills its steps and of one that does not.
void powers(const bignum::Kernels& kernels, size_t count) {
  for (const uint32_t limbs : {8U, 9U, 16U}) {
    std::vector<bignum::Modulus> moduli;
    std::vector<Number> bases, exponents;
    std::vector<bignum::Power> tasks;
    for (size_t i = 0; i < count; ++i) {
      moduli.push_back(make_modulus(secret_modulus(limbs)));
      bases.push_back(secret_number(limbs));
      exponents.push_back(secret_number(2));
    }
    for (size_t i = 0; i < count; ++i) {
      tasks.push_back({&moduli[i].constants(), bases[i].data(), exponents[i].data(), 128, bases[i].data()});
    }
    demand(kernels.modexp(tasks.data(), count) == STOCKADE_OK, "power");
    for (const Number& result : bases) demand(is_secret_number(result), "secret that reached the result");
    // Public are the exponents only.
    for (const Number& exponent : exponents) make_public(exponent.data(), 2 * sizeof(Limb));
    demand(kernels.modexp_public(tasks.data(), count) == STOCKADE_OK, "power");
  }
}

// The rows on AVX-512 cannot be tested, because valgrind does not know its instructions. It knows those of ADX, though
// it does not say so.
void powers_of(const char* name) {
  for (const bignum::Variant& row : bignum::variants()) {
    const bool runs = (row.needs & ~(cpu::usable() | ((cpu::usable() & cpu::avx2) != 0 ? cpu::adx : 0))) == 0;
    if (std::strcmp(row.name, name) != 0 || !runs) continue;
    for (size_t count = 1; count <= row.lanes + 1; ++count) powers(*row.kernels, count);
  }
}

void portable_powers() { powers_of("portable"); }
void adx_powers() { powers_of("adx"); }
void avx2_powers() { powers_of("avx2"); }

void products() {
  for (const uint32_t limbs : {1U, 9U, 16U, 33U}) {
    const bignum::Modulus modulus = make_modulus(secret_modulus(limbs));
    const Number a = secret_number(limbs), b = secret_number(limbs);
    Number product(limbs), remainder(limbs);
    demand(modulus.multiply(a.data(), b.data(), product.data()) == STOCKADE_OK, "product");
    for (const uint32_t wide_limbs : {1U, limbs, limbs + 1, 2 * limbs + 3}) {
      const Number wide = secret_number(wide_limbs);
      demand(modulus.reduce(wide.data(), wide_limbs, remainder.data()) == STOCKADE_OK, "remainder");
      demand(is_secret_number(remainder), "secret that reached the remainder");
    }
    modulus.add(product.data(), remainder.data(), product.data());
    modulus.subtract(product.data(), remainder.data(), product.data());
    demand(is_secret_number(product), "secret that reached the product");
  }
}

void inverses() {
  for (const uint32_t limbs : {1U, 4U, 17U}) {
    const Number n = secret_modulus(limbs), a = secret_number(limbs);
    Number inverse(limbs), divisor(limbs);
    Limb exists;
    demand(bignum::invert(a.data(), n.data(), limbs, inverse.data(), exists) == STOCKADE_OK, "inverse");
    demand(bignum::gcd(a.data(), n.data(), limbs, divisor.data()) == STOCKADE_OK, "divisor");
    demand(is_secret_number(inverse) && is_secret_number(divisor), "secret that reached the result");
  }
}

void integers() {
  const Number a = secret_number(9), b = secret_number(4);
  Number quotient(9), remainder(4), wide(18);
  demand(bignum::divide(a.data(), 9, b.data(), 4, quotient.data(), remainder.data()) == STOCKADE_OK, "quotient");
  bignum::square(a.data(), 9, wide.data());
  bignum::shift_right(wide.data(), 77, wide.data(), 18);
  bignum::shift_left(wide.data(), 13, wide.data(), 18);
  uint32_t rest = bignum::divide_word(a.data(), 9, 65537, quotient.data());
  rest += bignum::remainder_word(a.data(), 9, 3);
  demand(is_secret(&rest, sizeof rest), "secret that reached the remainder of a word");
  uint8_t bytes[80];
  Limb fits = bignum::to_bytes(quotient.data(), 9, bytes, sizeof bytes);
  fits &= bignum::from_bytes(bytes, sizeof bytes, wide.data(), 18);
  make_public(fits);
  demand(fits != 0, "room for the bytes");
  demand(is_secret_number(wide) && is_secret_number(remainder), "secret that reached the integers");
}

}  // namespace

std::span<const Case> bignum_cases() {
  static constexpr Case cases[] = {
      {"powers by the row 'portable'", portable_powers}, {"powers by the row 'adx'", adx_powers},
      {"powers by the row 'avx2'", avx2_powers},         {"products modulo n", products},
      {"inverses and common divisors", inverses},        {"division, shifts, bytes", integers}};
  return cases;
}

}  // namespace stockade::ct
