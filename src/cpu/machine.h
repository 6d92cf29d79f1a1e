// Cores that this process may use, caches, and the processor's own name.
#pragma once

#include <cstdint>

namespace stockade::cpu {

struct Machine {
  char name[64];
  uint32_t cores;
  uint64_t l1d, l2, l3;  // bytes of data cache seen by one core; 0 when unknown
};

// Read once and kept.
const Machine& machine();

}  // namespace stockade::cpu
