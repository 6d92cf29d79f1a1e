#include "aes/aes_variants.h"

namespace stockade::aes {

namespace {

constexpr Variant rows[] = {
// name, needs, lanes, automatic, kernels
#if defined(__x86_64__)
    {"vaes512", cpu::aesni | cpu::vaes | cpu::vpclmul | cpu::avx2 | cpu::avx512, 32, true, &kernels_vaes512},
    {"vaes256", cpu::aesni | cpu::vaes | cpu::vpclmul | cpu::avx2, 16, true, &kernels_vaes256},
    {"aesni", cpu::aesni, 16, true, &kernels_aesni},
#endif
    {"portable", cpu::none, 16, true, &kernels_portable},
    {"reference", cpu::none, 16, false, &kernels_reference},
};

}  // namespace

std::span<const Variant> variants() { return rows; }

Status choose(std::string_view name, cpu::Features usable, const Variant** variant) {
  for (const Variant& row : rows) {
    const bool runs = (row.needs & ~usable) == 0;
    if (name.empty() ? runs && row.automatic : name == row.name) {
      if (!runs) return STOCKADE_ERROR_UNAVAILABLE;
      *variant = &row;
      return STOCKADE_OK;
    }
  }
  return STOCKADE_ERROR_UNKNOWN_NAME;
}

}  // namespace stockade::aes
