// What the threads of a transfer share: its first failure, and how far it has come.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>

#include "base/forks.h"
#include "base/status.h"
#include "io/transfer.h"

namespace stockade::io {

using Clock = std::chrono::steady_clock;

// How long a thread may sleep before it looks whether the job has been stopped.
inline constexpr std::chrono::milliseconds patience{100};

class JobState {
 public:
  JobState(const TransferOptions& options, uint64_t total)
      : progress_(options.progress),
        context_(options.progress_context),
        interval_(options.progress_interval),
        total_(total) {}

  // Whether this is a process that was forked from the job's.
  bool in_child() const { return process_ != process_number(); }

  bool stopped() const { return stopped_.load(std::memory_order_acquire); }
  uint64_t done() const { return done_.load(std::memory_order_acquire); }

  // Stops the job. The first failure is the one that is reported.
  void fail(Status status, int error = 0);
  Status failure(int* error);

  void add(uint64_t bytes) {
    done_.fetch_add(bytes, std::memory_order_acq_rel);
    tick();
  }

  // Reports progress if it is time to, or `now`. A thread that finds another one reporting goes on with its work.
  void tick(bool now = false);

 private:
  const uint64_t process_ = process_number();
  const stockade_progress progress_;
  void* const context_;
  const std::chrono::milliseconds interval_;
  const uint64_t total_;
  std::atomic<uint64_t> done_{0};
  std::atomic<bool> stopped_{false};
  std::mutex failure_mutex_;
  Status status_ = STOCKADE_OK;
  int error_ = 0;
  std::mutex progress_mutex_;
  Clock::time_point last_{};
};

// Waits until a descriptor that is not a regular file can be used. False if the job has stopped meanwhile.
bool await_ready(int fd, short event, JobState& state);

}  // namespace stockade::io
