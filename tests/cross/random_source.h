// Random test input that can be had again: everything follows from one seed, STOCKADE_TEST_SEED or a fresh one, which
// is printed when the tests start.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace stockade::tests {

using Bytes = std::vector<uint8_t>;

// STOCKADE_TEST_SEED, or drawn once for the process.
uint64_t test_seed();

// STOCKADE_TEST_SCALE in percent of the usual number of random cases; less by default under a sanitizer.
uint64_t test_scale();

// `count` random cases at full scale are this many now; at least one.
uint64_t scaled(uint64_t count);

// A sequence of its own for each `purpose`, so that a test draws the same whichever others run.
class RandomSource {
 public:
  explicit RandomSource(std::string_view purpose);
  // The running test's name is the purpose.
  RandomSource();

  uint64_t next();
  // Uniform in [0, limit); limit must not be 0.
  uint64_t below(uint64_t limit) { return next() % limit; }
  // Uniform in [first, last].
  uint64_t between(uint64_t first, uint64_t last) { return first + below(last - first + 1); }
  bool one_in(uint64_t n) { return below(n) == 0; }
  void fill(uint8_t* bytes, uint64_t length);
  Bytes bytes(uint64_t length);

 private:
  uint64_t state_;
};

}  // namespace stockade::tests
