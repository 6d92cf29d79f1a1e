#include "clock.h"

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace stockade::bench {
namespace {

// `rounds` times 32 additions, each of which needs the one before. Register plus register: some processors carry out an
// addition of a constant while renaming, in no time at all.
#if defined(__x86_64__)
#define STOCKADE_ADD "add %1, %0\n\t"
#elif defined(__aarch64__)
#define STOCKADE_ADD "add %0, %0, %1\n\t"
#endif

#ifdef STOCKADE_ADD
#define STOCKADE_ADD8 \
  STOCKADE_ADD STOCKADE_ADD STOCKADE_ADD STOCKADE_ADD STOCKADE_ADD STOCKADE_ADD STOCKADE_ADD STOCKADE_ADD
constexpr int chain_rounds = 1250, chain_length = chain_rounds * 32;

void add_chain() {
  uint64_t sum = 1;
  uint64_t step = 3;
  for (int i = 0; i < chain_rounds; ++i) {
    __asm__ __volatile__(STOCKADE_ADD8 STOCKADE_ADD8 STOCKADE_ADD8 STOCKADE_ADD8 : "+r"(sum) : "r"(step));
  }
}
#undef STOCKADE_ADD8
#undef STOCKADE_ADD
#else
constexpr int chain_length = 0;
void add_chain() {}
#endif

}  // namespace

double core_hertz() {
  if (chain_length == 0) return 0;
  using Clock = std::chrono::steady_clock;
  double best = 0;
  // Whatever interrupts a chain makes it longer, so the shortest of a few is the core alone.
  for (int i = 0; i < 4; ++i) {
    const auto start = Clock::now();
    add_chain();
    const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
    best = std::max(best, chain_length / seconds);
  }
  return best;
}

}  // namespace stockade::bench
