#include "bignum/bignum_variants.h"

namespace stockade::bignum {

namespace {

constexpr Variant rows[] = {
// name, needs, lanes, automatic, kernels, pair_bits
#if defined(__x86_64__)
    {"ifma", cpu::avx2 | cpu::avx512 | cpu::adx | cpu::ifma, 8, true, &kernels_ifma, 1024},
    {"avx2", cpu::avx2 | cpu::adx, 4, true, &kernels_avx2},
    {"adx", cpu::adx, 1, true, &kernels_adx},
#endif
    {"portable", cpu::none, 1, true, &kernels_portable},
    {"reference", cpu::none, 1, false, &kernels_reference},
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

}  // namespace stockade::bignum
