// Memory that runs out when a test says so. For programs linked with --wrap for the functions that allocate.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>

#include "stockade/stockade.h"

namespace stockade::tests {

// While this lives, the allocations of the library, of libcrypto and of the test count, on any thread: the `successes`
// first succeed and every one after them fails.
class FailingMemory {
 public:
  explicit FailingMemory(uint64_t successes);
  FailingMemory(const FailingMemory&) = delete;
  FailingMemory& operator=(const FailingMemory&) = delete;
  ~FailingMemory();
  // How many have been refused so far.
  uint64_t refused() const;
};

// Whether those of libcrypto count, which is decided before it makes any.
bool libcrypto_counts();

// Makes the first, second, ... allocation fail and every one after it, until the call needs no more; behind the first
// `each` those whose numbers double. Returns how often it failed: with STOCKADE_ERROR_MEMORY, or where libcrypto does
// not say what it lacked, STOCKADE_ERROR_LIBRARY. `call` must not allocate itself.
template <typename Call, typename AfterFailure>
int sweep(const Call& call, const AfterFailure& after_failure, uint64_t each = 2000) {
  int said = 0;
  for (uint64_t successes = 0; successes < uint64_t{1} << 32; successes += successes < each ? 1 : successes) {
    stockade_status status;
    uint64_t refused;
    {
      const FailingMemory memory(successes);
      status = call();
      refused = memory.refused();
    }
    if (status == STOCKADE_ERROR_MEMORY || status == STOCKADE_ERROR_LIBRARY) {
      ++said;
      EXPECT_NE(refused, 0U);
      after_failure();
      continue;
    }
    EXPECT_EQ(status, STOCKADE_OK) << stockade_status_name(status) << " after " << successes << " allocations";
    if (refused == 0 || status != STOCKADE_OK) return said;
  }
  ADD_FAILURE() << "never enough memory";
  return said;
}

}  // namespace stockade::tests
