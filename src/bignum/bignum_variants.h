// The table of implementations of modular exponentiation and the choice among them.
#pragma once

#include <span>
#include <string_view>

#include "base/status.h"
#include "bignum/bignum_kernels.h"
#include "cpu/features.h"

namespace stockade::bignum {

struct Variant {
  const char* name;
  cpu::Features needs;
  uint32_t lanes;  // powers side by side
  bool automatic;  // may be chosen without being named
  const Kernels* kernels;
  // Two powers of moduli up to this length are done by one call sooner than by two threads; 0: none.
  uint32_t pair_bits = 0;
};

// Best first.
std::span<const Variant> variants();

// The named row, or for an empty name the best automatic one. UNKNOWN_NAME, UNAVAILABLE.
Status choose(std::string_view name, cpu::Features usable, const Variant** variant);

}  // namespace stockade::bignum
