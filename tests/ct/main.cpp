// Runs every case under memcheck, and fails if memcheck complains of one.
//
// usage: stockade_ct_tests [--leaks]     --leaks: the functions that leak, of each of which memcheck must complain
#include <valgrind/valgrind.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "cpu/features.h"
#include "ct/secrets.h"

namespace {

using namespace stockade;

void print_features() {
  std::printf("ct: features here:");
  for (const cpu::FeatureName& feature : cpu::feature_names) {
    if ((cpu::usable() & feature.bit) != 0) std::printf(" %s", feature.name);
  }
  std::printf("\n");
}

// How many cases were not as expected.
int run(std::span<const ct::Case> cases, bool leak_expected) {
  int wrong = 0;
  for (const ct::Case& item : cases) {
    std::printf("ct: %s\n", item.name);
    std::fflush(stdout);
    const uint64_t before = ct::complaints();
    item.run();
    const uint64_t more = ct::complaints() - before;
    if ((more != 0) == leak_expected) continue;
    std::printf("ct: FAILED: %s: memcheck complains %llu times\n", item.name, static_cast<unsigned long long>(more));
    ++wrong;
  }
  return wrong;
}

}  // namespace

int main(int argc, char** argv) {
  if (RUNNING_ON_VALGRIND == 0) {
    std::fprintf(stderr, "run this under valgrind, as tests/ct/run.sh does\n");
    return 2;
  }
  print_features();
  int wrong;
  if (argc == 2 && std::strcmp(argv[1], "--leaks") == 0) {
    wrong = run(ct::leaks(), true);
  } else {
    wrong = run(ct::bignum_cases(), false) + run(ct::rsa_cases(), false) + run(ct::aes_cases(), false);
  }
  return wrong == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
