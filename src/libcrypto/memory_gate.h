// Keeps work that needs much memory from needing it all at once.
#pragma once

#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdint>

namespace stockade::libcrypto {

// Admits work by the memory it takes: what is within it never takes more than `budget` bytes together, but for a single
// demand that is larger: that is alone. It has no lock, and so none that a fork() could leave locked; in a child nothing is
// within it. Work of tenths of a second can wait by looking again every few milliseconds.
class MemoryGate {
 public:
  explicit MemoryGate(uint64_t budget) : budget_(budget) {}

  // Waits until there is room. leave() is due with the same number.
  void enter(uint64_t bytes) {
    while (!try_to_enter(bytes)) {
      constexpr timespec pause{0, 2'000'000};
      ::nanosleep(&pause, nullptr);
    }
  }

  void leave(uint64_t bytes) {
    uint64_t state = state_.load();
    while (!state_.compare_exchange_weak(state, state - units(bytes))) {
    }
  }

 private:
  // KiB, each demand at least one; all that can be counted for a demand beyond that.
  static uint64_t units(uint64_t bytes) { return std::clamp<uint64_t>(bytes >> 10, 1, most_units); }

  bool try_to_enter(uint64_t bytes) {
    const uint64_t process = uint64_t{static_cast<uint32_t>(::getpid())} << 32;
    const uint64_t wanted = units(bytes), budget = units(budget_);
    uint64_t state = state_.load();
    for (;;) {
      // What another process has counted stayed behind when this one was forked.
      const uint64_t used = (state & ~most_units) == process ? state & most_units : 0;
      if (used != 0 && (wanted > budget || used > budget - wanted)) return false;
      if (state_.compare_exchange_weak(state, process | (used + wanted))) return true;
    }
  }

  static constexpr uint64_t most_units = 0xffffffff;
  const uint64_t budget_;
  std::atomic<uint64_t> state_{0};  // the process, and what is within in it
};

}  // namespace stockade::libcrypto
