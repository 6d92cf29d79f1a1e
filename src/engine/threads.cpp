#include <omp.h>
#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <limits>

#include "engine/engine.h"

namespace stockade::engine {

namespace {

// The OpenMP runtime's threads do not survive fork(), and its next team in the child would wait for them for ever. So a
// child of a process that has had a team works on the thread that it has.
std::atomic<bool> had_team{false};
std::atomic<bool> lost_team{false};

void note_team() {
  if (had_team.load(std::memory_order_relaxed)) return;
  static const int registered = pthread_atfork(nullptr, nullptr, [] { lost_team.store(had_team.load()); });
  if (registered == 0) had_team.store(true);
}

using Clock = std::chrono::steady_clock;
using Nanoseconds = int64_t;

Nanoseconds now() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now().time_since_epoch()).count();
}

// A team ends with its last member, and where other programs keep the cores busy a member may wait for one a thousand
// times longer than the work takes. So a team that made things slower earns a rest, in which the calling thread works
// alone. The rest is as long as the loss; if the next team loses too, twice as long, up to sixteen times. That bounds
// what can be lost on a busy machine, and one mishap on an idle one costs little.
std::atomic<Nanoseconds> last_loss{0};
std::atomic<Nanoseconds> rest_until{0};
std::atomic<uint32_t> rest_factor{1};

bool resting(uint64_t bytes) {
  const Nanoseconds until = rest_until.load(std::memory_order_relaxed);
  if (until == 0 || now() >= until) return false;
  // A core does some eight bytes in a nanosecond, so this is what two of them would save.
  const uint64_t gain = bytes / 16;
  return gain < 2 * static_cast<uint64_t>(last_loss.load(std::memory_order_relaxed));
}

void judge(Nanoseconds loss) {
  constexpr Nanoseconds negligible = 20'000, longest_rest = 200'000'000;
  if (loss < negligible) return;
  const Nanoseconds time = now();
  const bool again = time - rest_until.load(std::memory_order_relaxed) < 4 * loss;
  const uint32_t factor = again ? std::min(16U, 2 * rest_factor.load(std::memory_order_relaxed)) : 1;
  rest_factor.store(factor, std::memory_order_relaxed);
  last_loss.store(loss, std::memory_order_relaxed);
  rest_until.store(time + std::min(factor * loss, longest_rest), std::memory_order_relaxed);
}

void keep_smallest(std::atomic<Nanoseconds>& smallest, Nanoseconds value) {
  Nanoseconds known = smallest.load(std::memory_order_relaxed);
  while (value < known && !smallest.compare_exchange_weak(known, value, std::memory_order_relaxed)) {
  }
}

// A contiguous share of the runs, and the next of them that nobody has taken.
struct alignas(64) Share {
  std::atomic<uint64_t> next{0};
  uint64_t end = 0;
};
constexpr uint32_t max_shares = 64;

// Runs the work with a team and returns how much longer that took than its quickest member would have needed for all.
// A member begins with its own share, so that the same data stays with the same core from call to call, and then helps
// with the others': cores of a shared machine are never equally fast. A team smaller than asked for (OMP_THREAD_LIMIT, a
// nested region) does the same work.
Nanoseconds run_team(uint32_t workers, uint64_t items, uint64_t grain, Body body, void* context) {
  const uint64_t runs = items / grain + (items % grain != 0);
  const uint32_t count = std::min(workers, max_shares);
  Share shares[max_shares];
  const uint64_t each = runs / count, longer = runs % count;
  for (uint64_t i = 0; i < count; ++i) {
    shares[i].next.store(i * each + std::min(i, longer), std::memory_order_relaxed);
    shares[i].end = (i + 1) * each + std::min(i + 1, longer);
  }
  std::atomic<Nanoseconds> alone{std::numeric_limits<Nanoseconds>::max()};
  const Nanoseconds begun = now();
#pragma omp parallel num_threads(static_cast <int>(workers))
  {
    const auto worker = static_cast<uint32_t>(omp_get_thread_num());
    const Nanoseconds entered = now();
    uint64_t done = 0;
    for (uint32_t i = 0; i < count; ++i) {
      Share& share = shares[(worker + i) % count];
      for (uint64_t run = share.next.fetch_add(1, std::memory_order_relaxed); run < share.end;
           run = share.next.fetch_add(1, std::memory_order_relaxed)) {
        const uint64_t begin = run * grain;
        body(context, begin, begin + std::min(grain, items - begin), worker);
        ++done;
      }
    }
    if (done != 0) {
      const auto part = static_cast<double>(done) / static_cast<double>(runs);
      keep_smallest(alone, static_cast<Nanoseconds>(static_cast<double>(now() - entered) / part));
    }
  }
  return now() - begun - alone.load(std::memory_order_relaxed);
}

}  // namespace

void run_threads(const Plan& plan, uint64_t items, uint64_t grain, Body body, void* context) {
  grain = std::max<uint64_t>(grain, 1);
  const bool optional = plan.at_stake != 0;
  if (lost_team.load(std::memory_order_relaxed) || (optional && resting(plan.at_stake))) {
    return run_serial(items, grain, body, context);
  }
  note_team();
  const Nanoseconds loss = run_team(plan.workers, items, grain, body, context);
  if (optional) judge(loss);
}

}  // namespace stockade::engine
