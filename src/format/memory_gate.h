// Keeps work that needs much memory from needing it all at once.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>

namespace stockade::format {

// Admits work by the memory it takes, first come, first served, so that a large demand is not starved by small ones. What
// is within it never takes more than `budget` bytes together, but for a single demand that is larger: that is alone.
class MemoryGate {
 public:
  explicit MemoryGate(uint64_t budget) : budget_(budget) {}

  // Waits for its turn. leave() is due with the same number.
  void enter(uint64_t bytes) {
    std::unique_lock lock(mutex_);
    const uint64_t ticket = tickets_++;
    changed_.wait(lock,
                  [&] { return ticket == serving_ && (used_ == 0 || (bytes <= budget_ && used_ <= budget_ - bytes)); });
    used_ += bytes;
    ++serving_;
    changed_.notify_all();
  }

  void leave(uint64_t bytes) {
    const std::lock_guard lock(mutex_);
    used_ -= bytes;
    changed_.notify_all();
  }

 private:
  const uint64_t budget_;
  std::mutex mutex_;
  std::condition_variable changed_;
  uint64_t tickets_ = 0, serving_ = 0, used_ = 0;
};

}  // namespace stockade::format
