// A fault as a sentence for the user.
#pragma once

#include <cstdint>

#include "base/fault.h"

namespace stockade::format {

// stockade_fault_text: as snprintf, the length of the whole sentence, of which `size` - 1 bytes and a zero are written.
uint64_t describe(const stockade_fault& fault, char* text, uint64_t size);

}  // namespace stockade::format
