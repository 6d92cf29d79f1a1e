// Memory that runs out when a test says so. For programs linked with --wrap for the C allocation functions.
#pragma once

#include <cstdint>

namespace stockade::tests {

// While this lives, allocations of C++ code and of the library's C calls, on any thread, count; the `successes` first
// succeed and every one after them fails.
class FailingMemory {
 public:
  explicit FailingMemory(uint64_t successes);
  FailingMemory(const FailingMemory&) = delete;
  FailingMemory& operator=(const FailingMemory&) = delete;
  ~FailingMemory();
  // How many have been refused so far.
  uint64_t refused() const;
};

}  // namespace stockade::tests
