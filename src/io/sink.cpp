#include "io/sink.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/uio.h>

#include <algorithm>
#include <cerrno>

#include "io/descriptor.h"

namespace stockade::io {

Status Sink::open(const TransferOptions& options) {
  fd_ = options.out_fd;
  exists_ = !options.discards_output;
  if (!exists_) {
    by_offset_ = true;
    return STOCKADE_OK;
  }
  if (::fstat(fd_, &stat_) != 0) return STOCKADE_ERROR_IO;
  regular_ = S_ISREG(stat_.st_mode);
  if (!regular_) return STOCKADE_OK;
  const int flags = ::fcntl(fd_, F_GETFL);
  position_ = ::lseek(fd_, 0, SEEK_CUR);
  if (flags < 0 || position_ < 0) return STOCKADE_ERROR_IO;
  // In append mode every write goes to the end of the file, pwrite's too.
  by_offset_ = (flags & O_APPEND) == 0;
  in_turn_ = takes_one_write_at_a_time(fd_);
  start_ = by_offset_ ? position_ : stat_.st_size;
  return STOCKADE_OK;
}

bool Sink::write(uint64_t offset, const uint8_t* data, uint64_t length, JobState& state) {
  std::unique_lock turn(turn_, std::defer_lock);
  if (in_turn_) turn.lock();
  if (!exists_) {
    written_.fetch_add(length, std::memory_order_relaxed);
    return true;
  }
  if (length != 0) touched_.store(true, std::memory_order_relaxed);
  while (length != 0) {
    // A write that has to wait for room can only be ended by a signal, so the waiting is done beforehand.
    if (!regular_ && !await_ready(fd_, POLLOUT, state)) return false;
    const ssize_t n = write_once(offset, data, length);
    if (n > 0) {
      data += n;
      offset += static_cast<uint64_t>(n);
      length -= static_cast<uint64_t>(n);
      written_.fetch_add(static_cast<uint64_t>(n), std::memory_order_relaxed);
    } else if (n < 0 && (errno == EINTR || errno == EAGAIN)) {
      state.tick(errno == EINTR);
    } else {
      state.fail(STOCKADE_ERROR_IO, n == 0 ? EIO : errno);
      return false;
    }
  }
  return true;
}

bool Sink::settle(JobState& state) const {
  if (!regular_ || ::lseek(fd_, start_ + static_cast<off_t>(written()), SEEK_SET) >= 0) return true;
  state.fail(STOCKADE_ERROR_IO, errno);
  return false;
}

void Sink::take_back() {
  if (!regular_ || !touched_.load(std::memory_order_relaxed)) return;
  int result;
  do {
    result = ::ftruncate(fd_, std::min<off_t>(start_, stat_.st_size));
  } while (result != 0 && errno == EINTR);
  if (result == 0) written_.store(0, std::memory_order_relaxed);
  ::lseek(fd_, position_, SEEK_SET);
}

ssize_t Sink::write_once(uint64_t offset, const uint8_t* data, uint64_t length) const {
  if (by_offset_ && regular_) return ::pwrite(fd_, data, length, start_ + static_cast<off_t>(offset));
  if (regular_) return ::write(fd_, data, length);
  // No more than there is room for, where the kernel can do that: a write that waits could only be ended by a signal.
  const iovec piece{const_cast<uint8_t*>(data), length};
  const ssize_t written = ::pwritev2(fd_, &piece, 1, -1, RWF_NOWAIT);
  return written < 0 && (errno == EOPNOTSUPP || errno == ENOSYS || errno == EINVAL) ? ::write(fd_, data, length)
                                                                                    : written;
}

}  // namespace stockade::io
