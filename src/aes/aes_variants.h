// The table of AES implementations and the choice among them.
#pragma once

#include <span>
#include <string_view>

#include "aes/aes_kernels.h"
#include "base/status.h"
#include "cpu/features.h"

namespace stockade::aes {

struct Variant {
  const char* name;
  cpu::Features needs;
  uint32_t lanes;  // messages side by side in a sequential mode
  bool automatic;  // may be chosen without being named
  const Kernels* kernels;
};

// Best first.
std::span<const Variant> variants();

// The named row, or for an empty name the best automatic one. UNKNOWN_NAME, UNAVAILABLE.
Status choose(std::string_view name, cpu::Features usable, const Variant** variant);

}  // namespace stockade::aes
