#include "io/descriptor.h"

#include <linux/magic.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <cerrno>

namespace stockade::io {

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

bool same_file(const struct stat& a, const struct stat& b) {
  if (S_ISBLK(a.st_mode) && S_ISBLK(b.st_mode)) return a.st_rdev == b.st_rdev;
  return (S_ISREG(a.st_mode) || S_ISFIFO(a.st_mode)) && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

bool takes_one_write_at_a_time(int fd) {
  constexpr long xfs_magic = 0x58465342;
  struct statfs found;
  if (::fstatfs(fd, &found) != 0) return false;
  const auto type = static_cast<long>(found.f_type);
  return type == TMPFS_MAGIC || type == EXT4_SUPER_MAGIC || type == BTRFS_SUPER_MAGIC || type == xfs_magic ||
         type == OVERLAYFS_SUPER_MAGIC;
}

}  // namespace stockade::io
