#include "base/forks.h"

#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <new>

namespace stockade {
namespace {

// The last number that was given, in memory that a child inherits.
std::atomic<uint64_t> last_number{0};

// This process's number, in memory that the kernel hands to every child as zeros (since Linux 4.14). Null where there is none.
std::atomic<uint64_t>* own_number() noexcept {
  static std::atomic<uint64_t>* const number = []() noexcept -> std::atomic<uint64_t>* {
    const auto size = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    void* const page = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED) return nullptr;
    if (madvise(page, size, MADV_WIPEONFORK) == 0) return new (page) std::atomic<uint64_t>(0);
    munmap(page, size);
    return nullptr;
  }();
  return number;
}

}  // namespace

uint64_t process_number() noexcept {
  std::atomic<uint64_t>* const own = own_number();
  // Then the system is asked each time.
  if (own == nullptr) return uint64_t{1} << 63 | static_cast<uint64_t>(getpid());
  uint64_t number = own->load(std::memory_order_acquire);
  if (number != 0) return number;
  // The last number is raised first, so that a child that is made in between has a higher one too.
  const uint64_t next = last_number.fetch_add(1) + 1;
  return own->compare_exchange_strong(number, next) ? next : number;
}

}  // namespace stockade
