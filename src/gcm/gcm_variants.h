// The table of GCM implementations and the choice among them.
#pragma once

#include <span>
#include <string_view>

#include "base/status.h"
#include "cpu/features.h"
#include "gcm/gcm_kernels.h"

namespace stockade::gcm {

struct Variant {
  const char* name;
  cpu::Features needs;
  const Kernels* kernels;
};

// Best first.
std::span<const Variant> variants();

// The named row, or for an empty name the best one. UNKNOWN_NAME, UNAVAILABLE.
Status choose(std::string_view name, cpu::Features usable, const Variant** variant);

}  // namespace stockade::gcm
