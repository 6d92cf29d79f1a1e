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

}  // namespace stockade::parallel
