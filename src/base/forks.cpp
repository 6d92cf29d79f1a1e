#include "base/forks.h"

#include <pthread.h>
#include <unistd.h>

#include <atomic>

namespace stockade {
namespace {

// How many forks lie between the process that asked first and this one.
std::atomic<uint64_t> forks{0};

bool counts_forks() noexcept {
  static const bool counted =
      pthread_atfork(nullptr, nullptr, [] { forks.fetch_add(1, std::memory_order_relaxed); }) == 0;
  return counted;
}

}  // namespace

uint64_t process_number() noexcept {
  // Without memory for the handler the system is asked each time.
  if (!counts_forks()) return uint64_t{1} << 63 | static_cast<uint64_t>(getpid());
  return forks.load(std::memory_order_relaxed) + 1;
}

}  // namespace stockade
