#include "parallel/backoff.h"

#include <algorithm>

namespace stockade::parallel {
namespace {

constexpr auto relaxed = std::memory_order_relaxed;

double gain_of_several(double alone, uint32_t workers) { return alone * (1 - 1.0 / workers); }

}  // namespace

bool Backoff::is_on(const Plan& plan) {
  const uint32_t calls = calls_.load(relaxed);
  const Nanoseconds until = until_.load(relaxed);
  if (until == 0 || (calls == 0 && now() >= until)) return false;
  // Work so long that even what was lost would be made up for is not held back.
  const double alone = static_cast<double>(plan.at_stake) * 1e-6 * static_cast<double>(pace_.load(relaxed));
  if (gain_of_several(alone, plan.workers) > static_cast<double>(overhead_.load(relaxed))) return false;
  if (calls > 0) calls_.store(calls - 1, relaxed);
  return true;
}

void Backoff::note_alone(const Plan& plan, Nanoseconds time) {
  const Nanoseconds seen = seen_alone_.load(relaxed);
  const bool same = seen_bytes_.load(relaxed) == plan.at_stake && seen_entry_.load(relaxed) == plan.entry;
  if (seen != 0 && same && seen <= time) return;
  seen_bytes_.store(plan.at_stake, relaxed);
  seen_entry_.store(plan.entry, relaxed);
  seen_alone_.store(std::max<Nanoseconds>(time, 1), relaxed);
}

// What the calling thread has needed for such work, where that is known, else the estimate.
Nanoseconds Backoff::alone_for(const Plan& plan, Nanoseconds estimate) const {
  const Nanoseconds seen = seen_alone_.load(relaxed);
  const uint64_t bytes = seen_bytes_.load(relaxed);
  if (seen == 0 || seen_entry_.load(relaxed) != plan.entry) return estimate;
  if (plan.at_stake > 2 * bytes || bytes > 2 * plan.at_stake) return estimate;
  return static_cast<Nanoseconds>(static_cast<double>(seen) * static_cast<double>(plan.at_stake) /
                                  static_cast<double>(bytes));
}

void Backoff::note(const Plan& plan, Outcome outcome) {
  constexpr uint32_t shortest_factor = 8, longest_factor = 128;
  constexpr uint32_t enough_losses = 3;
  constexpr Nanoseconds much = 1'000'000, longest = 200'000'000;
  const Nanoseconds alone = alone_for(plan, outcome.alone), loss = outcome.together - alone;
  // Less is how one call differs from another.
  if (loss <= alone / 16) {
    const uint32_t before = factor_.load(relaxed);
    if (before != 0) factor_.store(before / 2, relaxed);
    if (losses_.load(relaxed) != 0) losses_.store(0, relaxed);
    return;
  }
  if (losses_.fetch_add(1, relaxed) + 1 < enough_losses && loss < much) return;
  losses_.store(0, relaxed);
  const uint32_t shortest = loss < much ? shortest_factor : 1;
  const uint32_t factor = std::clamp(2 * factor_.load(relaxed), shortest, longest_factor);
  const auto time = static_cast<double>(alone);
  factor_.store(factor, relaxed);
  pace_.store(static_cast<Nanoseconds>(time * 1e6 / static_cast<double>(plan.at_stake)), relaxed);
  overhead_.store(outcome.together - static_cast<Nanoseconds>(time / plan.workers), relaxed);
  seen_alone_.store(0, relaxed);
  calls_.store(factor, relaxed);
  until_.store(now() + std::min(factor * loss, longest), relaxed);
}

}  // namespace stockade::parallel
