#include "format/at_offset.h"

#include <unistd.h>

#include <cerrno>

namespace stockade::format {

Status read_at(int fd, uint64_t offset, uint8_t* out, uint64_t length, uint64_t* got) {
  *got = 0;
  while (*got < length) {
    const ssize_t n = ::pread(fd, out + *got, length - *got, static_cast<off_t>(offset + *got));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return STOCKADE_ERROR_IO;
    if (n == 0) break;
    *got += static_cast<uint64_t>(n);
  }
  return STOCKADE_OK;
}

Status write_at(int fd, uint64_t offset, const uint8_t* in, uint64_t length) {
  while (length != 0) {
    const ssize_t n = ::pwrite(fd, in, length, static_cast<off_t>(offset));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) {
      if (n == 0) errno = EIO;
      return STOCKADE_ERROR_IO;
    }
    in += n;
    offset += static_cast<uint64_t>(n);
    length -= static_cast<uint64_t>(n);
  }
  return STOCKADE_OK;
}

Status sync_data(int fd) { return ::fdatasync(fd) == 0 || errno == EINVAL ? STOCKADE_OK : STOCKADE_ERROR_IO; }

}  // namespace stockade::format
