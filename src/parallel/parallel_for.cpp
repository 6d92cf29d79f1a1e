#include "parallel/parallel_for.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <limits>

#include "parallel/backoff.h"
#include "parallel/thread_pool.h"

namespace stockade::parallel {
namespace {

void keep_smallest(std::atomic<Nanoseconds>& smallest, Nanoseconds value) {
  Nanoseconds known = smallest.load(std::memory_order_relaxed);
  while (value < known && !smallest.compare_exchange_weak(known, value, std::memory_order_relaxed)) {
  }
}

constinit Backoff backoff;

// A contiguous share of the runs, and the next of them that is not taken.
struct alignas(64) Share {
  std::atomic<uint64_t> next{0};
  uint64_t end = 0;
};
constexpr uint32_t max_shares = 64;

// The work of one call. A worker begins with its own share, so that the same data stays with the same core from call to call,
// and then helps with the others': cores of a shared machine are never equally fast, and some workers may not come at all.
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

Backoff::Outcome run_shared(uint32_t workers, uint64_t items, uint64_t grain, Body body, void* context) {
  SharedWork work(workers, items, grain, body, context);
  const Nanoseconds begun = now();
  run_on_pool(
      workers, [](void* shared, uint32_t worker) { static_cast<SharedWork*>(shared)->take_part(worker); }, &work);
  return {now() - begun, work.alone()};
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
  if (optional && backoff.is_on(plan)) {
    const Nanoseconds begun = now();
    run_serial(items, grain, body, context);
    return backoff.note_alone(plan, now() - begun);
  }
  const Backoff::Outcome outcome = run_shared(plan.workers, items, grain, body, context);
  if (optional) backoff.note(plan, outcome);
}

}  // namespace

void parallel_for(const Plan& plan, uint64_t items, uint64_t grain, Body body, void* context) {
  if (plan.kind == config::Kind::serial || plan.workers <= 1) return run_serial(items, grain, body, context);
  run_threads(plan, items, grain, body, context);
}

}  // namespace stockade::parallel
