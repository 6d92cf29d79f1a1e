// What the processor offers, as far as the operating system saves the registers, less what STOCKADE_MASK hides.
#pragma once

#include <cstdint>
#include <string_view>

namespace stockade::cpu {

using Features = uint32_t;

inline constexpr Features none = 0;
inline constexpr Features aesni = 1U << 0;    // AES-NI with SSSE3 and SSE4.1
inline constexpr Features clmul = 1U << 1;    // PCLMULQDQ
inline constexpr Features avx2 = 1U << 2;     // AVX2 with BMI2 and FMA, ymm state saved
inline constexpr Features vaes = 1U << 3;     // VAES on ymm (and on zmm where avx512 is there)
inline constexpr Features vpclmul = 1U << 4;  // VPCLMULQDQ
inline constexpr Features avx512 = 1U << 5;   // AVX-512 F, BW, DQ and VL, zmm state saved
inline constexpr Features adx = 1U << 6;      // ADX and BMI2
inline constexpr Features ifma = 1U << 7;     // AVX-512 IFMA, where avx512 is there

struct FeatureName {
  const char* name;
  Features bit;
};
// One entry for each bit above, in that order.
inline constexpr FeatureName feature_names[] = {
    {"aesni", aesni},     {"clmul", clmul},   {"avx2", avx2}, {"vaes", vaes},
    {"vpclmul", vpclmul}, {"avx512", avx512}, {"adx", adx},   {"ifma", ifma},
};

// What the probe found. Constant for the life of the process.
Features detected();

// The bits hidden by STOCKADE_MASK (names separated by commas), and whether every name in it was known.
struct Mask {
  Features hidden;
  bool valid;
};
Mask parse_mask(std::string_view text);
Mask environment_mask();

// detected() without the hidden ones.
inline Features usable() { return detected() & ~environment_mask().hidden; }

}  // namespace stockade::cpu
