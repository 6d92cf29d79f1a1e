#include "parallel/parallel_for.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <limits>

#include "parallel/team_size.h"
#include "parallel/thread_pool.h"

namespace stockade::parallel {
namespace {

using Clock = std::chrono::steady_clock;
using Nanoseconds = int64_t;

Nanoseconds now() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now().time_since_epoch()).count();
}

// A team ends with the last member that has come, and where other programs keep the cores busy one that has lost its core may
// wait for it a thousand times longer than the work takes. On a machine that is a guest of another, cores may be far from each
// other for a while, and to begin together takes several times as long. So teams that were slower than their quickest member
// would have been alone, three in a row or one by much, earn a rest, in which the calling thread works alone. (The first team
// after a while may lose only because the data is in one core's cache.) The rest is as long as the loss or a few of them; if
// the next teams lose too, twice as long, up to 128 times. That bounds what can be lost, to a few percent where every team
// loses, and one mishap costs little. To go from one to the other has its price, for the data has to come along, so a rest is
// some calls long; and what it shows of the calling thread's own speed is what the next teams are compared with. Threads that
// share this only make each other's rests shorter or longer.
std::atomic<Nanoseconds> rest_until{0};
std::atomic<uint32_t> rest_calls{0};
std::atomic<uint32_t> rest_factor{0};  // of the last rest, halved by each team that did not lose
std::atomic<uint32_t> losses{0};       // in a row, since the last rest
// What it took a team to begin and to end, and what one member takes for a million bytes, when the rest began.
std::atomic<Nanoseconds> known_overhead{0}, known_pace{0};

// The quickest call of the last rest, and what kind of work that was; no time: there was none yet.
std::atomic<Nanoseconds> seen_alone{0};
std::atomic<uint64_t> seen_bytes{0};
std::atomic<const tune::Entry*> seen_entry{nullptr};

struct Outcome {
  Nanoseconds begun, team, alone;  // when, what it took, and what its quickest member would have needed for all
};

double gain_of_team(double alone, uint32_t workers) { return alone * (1 - 1.0 / workers); }

bool resting(uint64_t bytes, uint32_t workers) {
  const uint32_t calls = rest_calls.load(std::memory_order_relaxed);
  const Nanoseconds until = rest_until.load(std::memory_order_relaxed);
  if (until == 0 || (calls == 0 && now() >= until)) return false;
  const double alone =
      static_cast<double>(bytes) * 1e-6 * static_cast<double>(known_pace.load(std::memory_order_relaxed));
  if (gain_of_team(alone, workers) > static_cast<double>(known_overhead.load(std::memory_order_relaxed))) return false;
  if (calls > 0) rest_calls.store(calls - 1, std::memory_order_relaxed);
  return true;
}

void note_alone(const Plan& plan, Nanoseconds time) {
  const Nanoseconds seen = seen_alone.load(std::memory_order_relaxed);
  const bool same = seen_bytes.load(std::memory_order_relaxed) == plan.at_stake &&
                    seen_entry.load(std::memory_order_relaxed) == plan.entry;
  if (seen != 0 && same && seen <= time) return;
  seen_bytes.store(plan.at_stake, std::memory_order_relaxed);
  seen_entry.store(plan.entry, std::memory_order_relaxed);
  seen_alone.store(std::max<Nanoseconds>(time, 1), std::memory_order_relaxed);
}

// What the calling thread has needed for such work, where that is known, else what the team's quickest member would have.
Nanoseconds alone_for(const Plan& plan, Nanoseconds estimate) {
  const Nanoseconds seen = seen_alone.load(std::memory_order_relaxed);
  const uint64_t bytes = seen_bytes.load(std::memory_order_relaxed);
  if (seen == 0 || seen_entry.load(std::memory_order_relaxed) != plan.entry) return estimate;
  if (plan.at_stake > 2 * bytes || bytes > 2 * plan.at_stake) return estimate;
  return static_cast<Nanoseconds>(static_cast<double>(seen) * static_cast<double>(plan.at_stake) /
                                  static_cast<double>(bytes));
}

void judge(const Plan& plan, Outcome outcome) {
  constexpr uint32_t shortest_factor = 8, longest_factor = 128;
  constexpr uint32_t enough_losses = 3;
  constexpr Nanoseconds much = 1'000'000, longest_rest = 200'000'000;
  const Nanoseconds alone = alone_for(plan, outcome.alone), loss = outcome.team - alone;
  // Less is how one call differs from another.
  if (loss <= alone / 16) {
    const uint32_t before = rest_factor.load(std::memory_order_relaxed);
    if (before != 0) rest_factor.store(before / 2, std::memory_order_relaxed);
    if (losses.load(std::memory_order_relaxed) != 0) losses.store(0, std::memory_order_relaxed);
    return;
  }
  if (losses.fetch_add(1, std::memory_order_relaxed) + 1 < enough_losses && loss < much) return;
  losses.store(0, std::memory_order_relaxed);
  const uint32_t shortest = loss < much ? shortest_factor : 1;
  const uint32_t factor = std::clamp(2 * rest_factor.load(std::memory_order_relaxed), shortest, longest_factor);
  const auto time = static_cast<double>(alone);
  rest_factor.store(factor, std::memory_order_relaxed);
  known_pace.store(static_cast<Nanoseconds>(time * 1e6 / static_cast<double>(plan.at_stake)),
                   std::memory_order_relaxed);
  known_overhead.store(outcome.team - static_cast<Nanoseconds>(time / plan.workers), std::memory_order_relaxed);
  seen_alone.store(0, std::memory_order_relaxed);
  rest_calls.store(factor, std::memory_order_relaxed);
  rest_until.store(now() + std::min(factor * loss, longest_rest), std::memory_order_relaxed);
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

// The work of one team. A member begins with its own share, so that the same data stays with the same core from call to call,
// and then helps with the others': cores of a shared machine are never equally fast, and some members may not come at all.
class SharedWork {
 public:
  SharedWork(uint32_t workers, uint64_t items, uint64_t grain, Body body, void* context)
      : items_(items),
        grain_(grain),
        runs_(items / grain + (items % grain != 0)),
        count_(std::min(workers, max_shares)),
        body_(body),
        context_(context) {
    const uint64_t each = runs_ / count_, longer = runs_ % count_;
    for (uint64_t i = 0; i < count_; ++i) {
      shares_[i].next.store(i * each + std::min(i, longer), std::memory_order_relaxed);
      shares_[i].end = (i + 1) * each + std::min(i + 1, longer);
    }
  }

  void take_part(uint32_t worker) {
    const Nanoseconds entered = now();
    uint64_t done = 0;
    for (uint32_t i = 0; i < count_; ++i) {
      Share& share = shares_[(worker + i) % count_];
      for (uint64_t run = share.next.fetch_add(1, std::memory_order_relaxed); run < share.end;
           run = share.next.fetch_add(1, std::memory_order_relaxed)) {
        const uint64_t begin = run * grain_;
        body_(context_, begin, begin + std::min(grain_, items_ - begin), worker);
        ++done;
      }
    }
    if (done == 0) return;
    const auto part = static_cast<double>(done) / static_cast<double>(runs_);
    keep_smallest(alone_, static_cast<Nanoseconds>(static_cast<double>(now() - entered) / part));
  }

  Nanoseconds alone() const { return alone_.load(std::memory_order_relaxed); }

 private:
  const uint64_t items_, grain_, runs_;
  const uint32_t count_;
  const Body body_;
  void* const context_;
  Share shares_[max_shares];
  std::atomic<Nanoseconds> alone_{std::numeric_limits<Nanoseconds>::max()};
};

Outcome run_shared(uint32_t workers, uint64_t items, uint64_t grain, Body body, void* context) {
  SharedWork work(workers, items, grain, body, context);
  const Nanoseconds begun = now();
  run_on_pool(
      workers, [](void* shared, uint32_t worker) { static_cast<SharedWork*>(shared)->take_part(worker); }, &work);
  return {begun, now() - begun, work.alone()};
}

void run_serial(uint64_t items, uint64_t grain, Body body, void* context) {
  grain = std::max<uint64_t>(grain, 1);
  for (uint64_t begin = 0; begin < items;) {
    const uint64_t end = begin + std::min(grain, items - begin);
    body(context, begin, end, 0);
    begin = end;
  }
}

void run_threads(const Plan& plan, uint64_t items, uint64_t grain, Body body, void* context) {
  grain = std::max<uint64_t>(grain, 1);
  const bool optional = plan.at_stake != 0;
  if (optional && resting(plan.at_stake, plan.workers)) {
    const Nanoseconds begun = now();
    run_serial(items, grain, body, context);
    return note_alone(plan, now() - begun);
  }
  const Outcome outcome = run_shared(plan.workers, items, grain, body, context);
  if (plan.lesson.kind != 0) {
    learn(plan.lesson, outcome.begun, outcome.begun + outcome.team, outcome.alone, plan.at_stake);
  }
  // What a trial loses is no reason to rest.
  if (optional && !plan.lesson.on_trial) judge(plan, outcome);
}

}  // namespace

void parallel_for(const Plan& plan, uint64_t items, uint64_t grain, Body body, void* context) {
  if (plan.kind == config::Kind::serial || plan.workers <= 1) {
    return run_alone(plan, [&] { run_serial(items, grain, body, context); });
  }
  run_threads(plan, items, grain, body, context);
}

void learn_alone(const Plan& plan, void (*work)(void* context), void* context) {
  const Nanoseconds begun = now();
  work(context);
  const Nanoseconds ended = now();
  learn(plan.lesson, begun, ended, ended - begun, plan.at_stake);
  note_alone(plan, ended - begun);
}

}  // namespace stockade::parallel
