// What becomes of a replacement of a header that was interrupted, decided from bytes alone.
#pragma once

#include <cstdint>

#include "base/bytes.h"
#include "base/fault.h"
#include "base/status.h"
#include "format/recipient.h"

namespace stockade::format {

// stockade_header_remedy: reads nothing but its arguments and changes nothing but `remedy` and `fault`, whatever the bytes
// are. MAGIC (also for armor), VERSION, NO_IDENTITY, PASSPHRASE, WORK_FACTOR, RSA_FAULT, RANDOM, LIBRARY, MEMORY.
Status find_remedy(Bytes front, Bytes copy, const Keyring& identities, uint32_t max_work_factor,
                   stockade_remedy& remedy, stockade_fault& fault);

}  // namespace stockade::format
