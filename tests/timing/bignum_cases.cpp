// Powers by each row's kernel modulo 1,024-bit numbers, as two halves of an RSA-2048 operation and as many as the row has
// lanes.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "bignum/bignum_variants.h"
#include "bignum/modexp.h"
#include "cpu/features.h"
#include "timing/leak_test.h"

namespace stockade::timing {
namespace {

using bignum::Limb;

constexpr uint32_t limbs = 16;
constexpr uint32_t bytes = limbs * sizeof(Limb);

struct Powers {
  explicit Powers(const bignum::Variant& row, size_t tasks) : kernels(row.kernels), count(tasks) {
    moduli.resize(count);
    bases.resize(count * limbs);
    exponents.resize(count * limbs);
    results.resize(count * limbs);
    for (size_t i = 0; i < count; ++i) {
      Limb n[limbs];
      random.fill(n, bytes);
      n[0] |= 1;
      n[limbs - 1] |= Limb{1} << 63;
      if (bignum::Modulus::make(n, limbs, moduli[i]) != STOCKADE_OK) std::abort();
    }
    random.fill(exponents.data(), count * bytes);
    for (size_t i = 0; i < count; ++i) {
      tasks_.push_back(
          {&moduli[i].constants(), &bases[i * limbs], &exponents[i * limbs], limbs * 64, &results[i * limbs]});
    }
  }
  void random_bases(Limb* out) {
    random.fill(out, count * bytes);
    for (size_t i = 0; i < count; ++i) out[i * limbs + limbs - 1] >>= 1;
  }
  void run() const {
    if (kernels->modexp(tasks_.data(), count) != STOCKADE_OK) std::abort();
  }

  Random random{0x5eed};
  const bignum::Kernels* kernels;
  size_t count;
  std::vector<bignum::Modulus> moduli;
  std::vector<Limb> bases, exponents, results;

 private:
  std::vector<bignum::Power> tasks_;
};

Operation one_or_random_base(const bignum::Variant& row, size_t count) {
  auto powers = std::make_shared<Powers>(row, count);
  // All powers of 1 are 1, whose residues are as unlike random ones as any.
  std::vector<Limb> fixed(count * limbs), other(count * limbs);
  for (size_t i = 0; i < count; ++i) fixed[i * limbs] = 1;
  return {[=](uint32_t which) mutable {
            powers->random_bases(other.data());
            pick(which, fixed.data(), other.data(), powers->bases.data(), count * bytes);
          },
          [=] { powers->run(); }};
}

Operation fixed_or_random_base(const bignum::Variant& row, size_t count) {
  auto powers = std::make_shared<Powers>(row, count);
  std::vector<Limb> fixed(count * limbs), other(count * limbs);
  powers->random_bases(fixed.data());
  return {[=](uint32_t which) mutable {
            powers->random_bases(other.data());
            pick(which, fixed.data(), other.data(), powers->bases.data(), count * bytes);
          },
          [=] { powers->run(); }};
}

Operation two_fixed_bases(const bignum::Variant& row, size_t count) {
  auto powers = std::make_shared<Powers>(row, count);
  std::vector<Limb> first(count * limbs), second(count * limbs);
  powers->random_bases(first.data());
  powers->random_bases(second.data());
  return {[=](uint32_t which) { pick(which, first.data(), second.data(), powers->bases.data(), count * bytes); },
          [=] { powers->run(); }};
}

Operation light_or_heavy_exponent(const bignum::Variant& row, size_t count) {
  auto powers = std::make_shared<Powers>(row, count);
  std::vector<Limb> light(count * limbs), heavy(count * limbs, ~Limb{0});
  for (size_t i = 0; i < count; ++i) light[i * limbs + limbs - 1] = Limb{1} << 63;
  return {[=](uint32_t which) {
            powers->random_bases(powers->bases.data());
            pick(which, light.data(), heavy.data(), powers->exponents.data(), count * bytes);
          },
          [=] { powers->run(); }};
}

}  // namespace

std::vector<Case> bignum_cases() {
  std::vector<Case> cases;
  for (const bignum::Variant& row : bignum::variants()) {
    if (!row.automatic || (row.needs & ~cpu::usable()) != 0) continue;
    cases.push_back({"2 powers", row.name, "fixed base, random base", fixed_or_random_base(row, 2)});
    cases.push_back({"2 powers", row.name, "two fixed bases", two_fixed_bases(row, 2)});
    // The bases of private operations are blinded.
    cases.push_back({"2 powers, not blinded", row.name, "base 1, random base", one_or_random_base(row, 2), false});
    cases.push_back({"2 powers", row.name, "exponent with 1 bit set, with all", light_or_heavy_exponent(row, 2)});
    if (row.lanes <= 2) continue;
    cases.push_back({"full lanes", row.name, "fixed base, random base", fixed_or_random_base(row, row.lanes)});
    cases.push_back(
        {"full lanes", row.name, "exponent with 1 bit set, with all", light_or_heavy_exponent(row, row.lanes)});
  }
  return cases;
}

}  // namespace stockade::timing
