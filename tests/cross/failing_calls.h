// Functions of the operating system and of libcrypto that fail when a test says so. For programs linked with --wrap for
// them.
#pragma once

#include <cstdint>

namespace stockade::tests {

enum class Failing {
  thread,  // pthread_create(3)
  random,  // getrandom(2)
  library  // whatever the library calls of libcrypto that can fail
};

// While this lives, calls of that kind count, on any thread: the `successes` first are made and every one after them fails.
class FailingCalls {
 public:
  FailingCalls(Failing kind, uint64_t successes);
  FailingCalls(const FailingCalls&) = delete;
  FailingCalls& operator=(const FailingCalls&) = delete;
  ~FailingCalls();
  // How many have been refused so far.
  uint64_t refused() const;
};

}  // namespace stockade::tests
