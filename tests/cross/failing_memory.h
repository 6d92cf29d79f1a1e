// Memory that runs out when a test says so. For programs linked with --wrap for the functions that allocate.
#pragma once

#include <cstdint>

namespace stockade::tests {

// While this lives, the allocations of the library and the test count, on any thread: the `successes` first succeed and
// every one after them fails.
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
