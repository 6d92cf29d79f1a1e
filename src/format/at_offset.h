// Reads and writes at an offset of a regular file, through interruptions and short counts.
#pragma once

#include <cstdint>

#include "base/status.h"

namespace stockade::format {

// `*got` is less than `length` only where the file ends. IO.
Status read_at(int fd, uint64_t offset, uint8_t* out, uint64_t length, uint64_t* got);
// All of it. IO.
Status write_at(int fd, uint64_t offset, const uint8_t* in, uint64_t length);
// Waits until the data is on storage. A file system that has nothing to synchronise is fine. IO.
Status sync_data(int fd);

}  // namespace stockade::format
