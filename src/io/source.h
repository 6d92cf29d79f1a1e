// The end of a transfer that is read: a regular file by offset, anything else in turn.
#pragma once

#include <sys/stat.h>

#include <cstdint>

#include "io/job_state.h"
#include "io/transfer.h"

namespace stockade::io {

class Source {
 public:
  // IO.
  Status open(const TransferOptions& options);

  const struct stat& stat() const { return stat_; }
  bool regular() const { return regular_; }
  // Whether the length is known. Files such as those of /proc say that they are empty and are not.
  bool sized() const { return length_ != 0; }
  // 0 when unknown.
  uint64_t length() const { return length_; }

  // Exactly `length` bytes from `offset`. Only for sized sources.
  bool read_at(uint64_t offset, uint8_t* data, uint64_t length, JobState& state) const;

  // The next bytes in turn: `length` unless the input ends before that.
  bool read_next(uint8_t* data, uint64_t length, uint64_t* got, JobState& state);

  // Whether a regular file is still as it was when the job began.
  bool check_unchanged(JobState& state) const;

  // Moves the position, which reading by offset leaves alone, behind what was read.
  bool settle(uint64_t length, JobState& state) const;

 private:
  bool read_regular(uint64_t offset, uint8_t* data, uint64_t length, uint64_t* got, JobState& state) const;

  bool read_stream(uint8_t* data, uint64_t length, uint64_t* got, JobState& state);

  int fd_ = -1;
  struct stat stat_ {};
  bool regular_ = false;
  const uint8_t* prefix_ = nullptr;
  uint64_t prefix_left_ = 0;
  uint64_t start_ = 0;
  uint64_t length_ = 0;
  uint64_t next_ = 0;
};

}  // namespace stockade::io
