#include "gcm/gcm_variants.h"

namespace stockade::gcm {

namespace {

constexpr Variant rows[] = {
// name, needs, kernels
#if defined(__x86_64__)
    {"vaes512", cpu::aesni | cpu::clmul | cpu::vaes | cpu::vpclmul | cpu::avx2 | cpu::avx512, &kernels_vaes512},
    {"vaes256", cpu::aesni | cpu::clmul | cpu::vaes | cpu::vpclmul | cpu::avx2, &kernels_vaes256},
    {"aesni", cpu::aesni | cpu::clmul, &kernels_aesni},
#endif
    {"portable", cpu::none, &kernels_portable},
};

}  // namespace

std::span<const Variant> variants() { return rows; }

Status choose(std::string_view name, cpu::Features usable, const Variant** variant) {
  for (const Variant& row : rows) {
    const bool runs = (row.needs & ~usable) == 0;
    if (name.empty() ? runs : name == row.name) {
      if (!runs) return STOCKADE_ERROR_UNAVAILABLE;
      *variant = &row;
      return STOCKADE_OK;
    }
  }
  return STOCKADE_ERROR_UNKNOWN_NAME;
}

}  // namespace stockade::gcm
