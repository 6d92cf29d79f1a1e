// The digest of what a file holds.
#pragma once

#include <cstdint>

#include "base/status.h"
#include "rsa/hash.h"

namespace stockade::rsa {

// Of everything from the descriptor's position to its end; `digest` takes digest_bytes(hash). IO (errno holds the
// reason), LIBRARY, MEMORY.
Status hash_file(Hash hash, int fd, uint8_t* digest);

}  // namespace stockade::rsa
