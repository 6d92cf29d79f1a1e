#include "io/source.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace stockade::io {

Status Source::open(const TransferOptions& options) {
  fd_ = options.in_fd;
  if (::fstat(fd_, &stat_) != 0) return STOCKADE_ERROR_IO;
  regular_ = S_ISREG(stat_.st_mode);
  prefix_ = options.prefix;
  prefix_left_ = options.prefix_length;
  if (!regular_) return STOCKADE_OK;
  const off_t position = ::lseek(fd_, 0, SEEK_CUR);
  if (position < 0) return STOCKADE_ERROR_IO;
  start_ = static_cast<uint64_t>(position) + options.in_skip;
  const auto size = static_cast<uint64_t>(stat_.st_size);
  length_ = size > start_ ? size - start_ : 0;
  return STOCKADE_OK;
}

bool Source::read_at(uint64_t offset, uint8_t* data, uint64_t length, JobState& state) const {
  uint64_t got = 0;
  if (!read_regular(offset, data, length, &got, state)) return false;
  if (got < length) state.fail(STOCKADE_ERROR_INPUT_CHANGED);
  return got == length;
}

bool Source::read_next(uint8_t* data, uint64_t length, uint64_t* got, JobState& state) {
  *got = 0;
  if (sized()) {
    *got = std::min(length, length_ - next_);
    if (!read_at(next_, data, *got, state)) return false;
  } else if (regular_) {
    if (!read_regular(next_, data, length, got, state)) return false;
  } else if (!read_stream(data, length, got, state)) {
    return false;
  }
  next_ += *got;
  return true;
}

bool Source::check_unchanged(JobState& state) const {
  if (!regular_) return true;
  struct stat now;
  if (::fstat(fd_, &now) != 0) {
    state.fail(STOCKADE_ERROR_IO, errno);
    return false;
  }
  const auto same_time = [](const timespec& one, const timespec& other) {
    return one.tv_sec == other.tv_sec && one.tv_nsec == other.tv_nsec;
  };
  // Anyone can set the time of modification back, but not that of the last change.
  const bool same =
      now.st_size == stat_.st_size && same_time(now.st_mtim, stat_.st_mtim) && same_time(now.st_ctim, stat_.st_ctim);
  if (!same) state.fail(STOCKADE_ERROR_INPUT_CHANGED);
  return same;
}

bool Source::settle(uint64_t length, JobState& state) const {
  if (!regular_ || ::lseek(fd_, static_cast<off_t>(start_ + length), SEEK_SET) >= 0) return true;
  state.fail(STOCKADE_ERROR_IO, errno);
  return false;
}

bool Source::read_regular(uint64_t offset, uint8_t* data, uint64_t length, uint64_t* got, JobState& state) const {
  while (*got < length) {
    const ssize_t n = ::pread(fd_, data + *got, length - *got, static_cast<off_t>(start_ + offset + *got));
    if (n == 0) return true;
    if (n > 0) {
      *got += static_cast<uint64_t>(n);
    } else if (errno != EINTR) {
      state.fail(STOCKADE_ERROR_IO, errno);
      return false;
    }
  }
  return true;
}

bool Source::read_stream(uint8_t* data, uint64_t length, uint64_t* got, JobState& state) {
  *got = std::min(length, prefix_left_);
  if (*got != 0) std::memcpy(data, prefix_, *got);
  prefix_ += *got;
  prefix_left_ -= *got;
  while (*got < length) {
    if (!await_ready(fd_, POLLIN, state)) return false;
    const ssize_t n = ::read(fd_, data + *got, length - *got);
    if (n == 0) return true;
    if (n > 0) {
      *got += static_cast<uint64_t>(n);
    } else if (errno != EINTR && errno != EAGAIN) {
      state.fail(STOCKADE_ERROR_IO, errno);
      return false;
    }
  }
  return true;
}

}  // namespace stockade::io
