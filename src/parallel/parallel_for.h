// A range of independent items, done by the workers of a plan. What an item is, is the caller's business.
#pragma once

#include <cstdint>
#include <type_traits>

#include "parallel/plan.h"

namespace stockade::parallel {

// Calls body(context, begin, end, worker) until [0, items) is covered, in runs of about `grain` items; workers are
// numbered from 0 to plan.workers - 1 and each runs one call at a time. Returns when all are done.
using Body = void (*)(void* context, uint64_t begin, uint64_t end, uint32_t worker);
void parallel_for(const Plan& plan, uint64_t items, uint64_t grain, Body body, void* context);

// The same with anything callable as body(begin, end, worker).
template <typename Callable>
void parallel_for(const Plan& plan, uint64_t items, uint64_t grain, Callable&& callable) {
  parallel_for(
      plan, items, grain,
      [](void* context, uint64_t begin, uint64_t end, uint32_t worker) {
        (*static_cast<std::remove_reference_t<Callable>*>(context))(begin, end, worker);
      },
      &callable);
}

// Whether what such work takes is of interest just now; and work() on the calling thread, against the clock.
bool listens(const Lesson& lesson);
void learn_alone(const Plan& plan, void (*work)(void* context), void* context);

// Where a plan has one worker: all of it, done by work() on the calling thread.
template <typename Work>
void run_alone(const Plan& plan, Work&& work) {
  if (plan.lesson.kind == 0 || !listens(plan.lesson)) return work();
  learn_alone(
      plan, [](void* context) { (*static_cast<std::remove_reference_t<Work>*>(context))(); }, &work);
}

}  // namespace stockade::parallel
