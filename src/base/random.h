// Random bytes from the operating system, and the place where a test puts its own.
#pragma once

#include <cstdint>

#include "base/status.h"

namespace stockade {

// Where salts and file keys come from. What one file draws, it draws in one order, so that a test with a fixed source
// gets the same file every time.
class RandomSource {
 public:
  virtual ~RandomSource() = default;
  // RANDOM.
  virtual Status fill(uint8_t* out, uint64_t length) = 0;
};

// getrandom(2). The only source outside tests.
RandomSource& system_random();

}  // namespace stockade
