#include "cpu/features.h"

#include <cstdlib>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace stockade::cpu {

namespace {

#if defined(__x86_64__)

struct Leaf {
  uint32_t eax, ebx, ecx, edx;
};

// All zero where the processor has no such leaf.
Leaf cpuid(uint32_t leaf, uint32_t subleaf) {
  Leaf result{};
  if (__get_cpuid_count(leaf, subleaf, &result.eax, &result.ebx, &result.ecx, &result.edx) == 0) return Leaf{};
  return result;
}

// XCR0: the register states that the operating system saves (Intel SDM volume 1, 13.3). Only with OSXSAVE.
uint64_t saved_states() {
  uint32_t low, high;
  __asm__ __volatile__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return uint64_t{high} << 32 | low;
}

constexpr bool has(uint64_t word, uint64_t bits) { return (word & bits) == bits; }

Features probe() {
  const Leaf basic = cpuid(1, 0);
  const Leaf extended = cpuid(7, 0);
  constexpr uint64_t ymm_states = 1U << 1 | 1U << 2;                         // SSE, AVX
  constexpr uint64_t zmm_states = ymm_states | 1U << 5 | 1U << 6 | 1U << 7;  // opmask, ZMM_Hi256, Hi16_ZMM
  const uint64_t states = has(basic.ecx, bit_OSXSAVE) ? saved_states() : 0;
  const bool ymm = has(states, ymm_states) && has(basic.ecx, bit_AVX);
  const bool zmm = has(states, zmm_states);

  Features found = none;
  if (has(basic.ecx, bit_AES | bit_SSSE3 | bit_SSE4_1)) found |= aesni;
  if (has(basic.ecx, bit_PCLMUL)) found |= clmul;
  // Row files for AVX2 are compiled with BMI2 and FMA, which came to every processor with it.
  if (ymm && has(basic.ecx, bit_FMA) && has(extended.ebx, bit_AVX2 | bit_BMI2)) found |= avx2;
  if (ymm && has(extended.ecx, bit_VAES)) found |= vaes;
  if (ymm && has(extended.ecx, bit_VPCLMULQDQ)) found |= vpclmul;
  if (ymm && zmm && has(extended.ebx, bit_AVX512F | bit_AVX512BW | bit_AVX512DQ | bit_AVX512VL)) found |= avx512;
  if (has(extended.ebx, bit_ADX | bit_BMI2)) found |= adx;
  if (has(found, avx512) && has(extended.ebx, bit_AVX512IFMA)) found |= ifma;
  return found;
}

#else

Features probe() { return none; }

#endif

Features named(std::string_view name) {
  for (const FeatureName& feature : feature_names) {
    if (name == feature.name) return feature.bit;
  }
  return none;
}

}  // namespace

Features detected() {
  static const Features found = probe();
  return found;
}

Mask parse_mask(std::string_view text) {
  Mask mask{none, true};
  if (text.empty()) return mask;
  for (;;) {
    const size_t comma = text.find(',');
    const Features bit = named(text.substr(0, comma));
    mask.hidden |= bit;
    mask.valid = mask.valid && bit != none;
    if (comma == std::string_view::npos) return mask;
    text.remove_prefix(comma + 1);
  }
}

Mask environment_mask() {
  const char* text = std::getenv("STOCKADE_MASK");
  return parse_mask(text == nullptr ? std::string_view{} : std::string_view{text});
}

}  // namespace stockade::cpu
