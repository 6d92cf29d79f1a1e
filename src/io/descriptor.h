// Reads and writes at an offset of a regular file, through interruptions and short counts; and what is to be known of a
// descriptor beforehand.
#pragma once

#include <sys/stat.h>

#include <cstdint>

#include "base/status.h"

namespace stockade::io {

// `*got` is less than `length` only where the file ends. IO.
Status read_at(int fd, uint64_t offset, uint8_t* out, uint64_t length, uint64_t* got);
// All of it. IO.
Status write_at(int fd, uint64_t offset, const uint8_t* in, uint64_t length);
// Waits until the data is on storage. A file system that has nothing to synchronise is fine. IO.
Status sync_data(int fd);

// Whether one of the two would meet what is written to the other.
bool same_file(const struct stat& a, const struct stat& b);

// Whether the file lies on a file system that lets one write at a time into a file, and makes the others wait for it in a
// loop that burns their cores.
bool takes_one_write_at_a_time(int fd);

}  // namespace stockade::io
