// The end of a transfer that is written, and cut back if the transfer fails.
#pragma once

#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <mutex>

#include "io/job_state.h"
#include "io/transfer.h"

namespace stockade::io {

class Sink {
 public:
  // IO.
  Status open(const TransferOptions& options);

  bool exists() const { return exists_; }
  const struct stat& stat() const { return stat_; }
  bool regular() const { return regular_; }
  // Whether writes may come in any order.
  bool by_offset() const { return by_offset_; }
  uint64_t written() const { return written_.load(std::memory_order_relaxed); }

  // IO if the file could not be cut back later. Where it ends stays the same.
  Status check_revocable() const { return ::ftruncate(fd_, stat_.st_size) == 0 ? STOCKADE_OK : STOCKADE_ERROR_IO; }

  // Unless by_offset(), `offset` is what has been written so far.
  bool write(uint64_t offset, const uint8_t* data, uint64_t length, JobState& state);

  bool settle(JobState& state) const;

  // Cuts a regular file that has been written to back to where the job began.
  void take_back();

 private:
  ssize_t write_once(uint64_t offset, const uint8_t* data, uint64_t length) const;

  int fd_ = -1;
  bool exists_ = true;
  bool in_turn_ = false;
  std::mutex turn_;
  struct stat stat_ {};
  bool regular_ = false;
  bool by_offset_ = false;
  off_t position_ = 0;
  off_t start_ = 0;
  std::atomic<bool> touched_{false};
  std::atomic<uint64_t> written_{0};
};

}  // namespace stockade::io
