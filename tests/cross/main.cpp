// Entry of the test programs: says the seed, and refuses to run under a forced row that this machine lacks.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>

#include "cross/random_source.h"
#include "stockade/stockade.h"

namespace {

// CTest is told that this exit status means "skipped".
constexpr int skipped = 77;

}  // namespace

int main(int argc, char** argv) {
  // What the machine's owner has tuned is nobody's expectation here, in child processes neither.
  setenv("STOCKADE_PROFILE", "none", 0);
  setenv("HOME", "/nonexistent", 1);
  unsetenv("XDG_CONFIG_HOME");
  // Before GoogleTest, which asks for the rows when it makes the parametrised tests.
  stockade_row row;
  const stockade_status status = stockade_row_get(0, &row);
  const char* force = std::getenv("STOCKADE_FORCE");
  if (status == STOCKADE_ERROR_UNAVAILABLE) {
    std::printf("skipped: this machine cannot run STOCKADE_FORCE=%s\n", force == nullptr ? "" : force);
    return skipped;
  }
  if (status != STOCKADE_OK) {
    std::printf("STOCKADE_FORCE=%s: %s\n", force == nullptr ? "" : force, stockade_status_text(status));
    return EXIT_FAILURE;
  }
  testing::InitGoogleTest(&argc, argv);
  std::printf("STOCKADE_TEST_SEED=%llu STOCKADE_TEST_SCALE=%llu\n",
              static_cast<unsigned long long>(stockade::tests::test_seed()),
              static_cast<unsigned long long>(stockade::tests::test_scale()));
  return RUN_ALL_TESTS();
}
