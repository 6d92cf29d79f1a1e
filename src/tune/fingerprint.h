// What makes two machines the same for tuning profile: the processor's name, the cores that the process may use and the
// instruction sets that it may use. GPUs are not part of it, because to ask for them a driver must be started; rows about
// them name theirs instead.
#pragma once

#include <cstdint>
#include <string_view>

#include "cpu/features.h"

namespace stockade::tune {

struct Fingerprint {
  char text[17];     // 16 hexadecimal digits
  char machine[96];  // in words: "AMD EPYC 9R14, 2 cores"
};

// Of any machine.
Fingerprint fingerprint_of(std::string_view processor, uint32_t cores, cpu::Features features);
// Of this one, for this process.
const Fingerprint& fingerprint();

}  // namespace stockade::tune
