#include <algorithm>

#include "cpu/machine.h"
#include "engine/engine.h"

namespace stockade::engine {

namespace {

constexpr const char* above_split = "are above the split size of 131072";
constexpr const char* below_split = "are below the split size of 131072";
static_assert(split_bytes == 131072, "the two sentences name the number");

// Output beyond half of the last cache would push everything else out of it and still not be there when it is read. The
// upper bound is for machines that report a cache which they share with many others: there, ordinary stores to memory
// that is not in the core's own caches lost from 8 MiB on with one worker, and from 16 MiB on with sixteen.
uint64_t streaming_bytes() {
  constexpr uint64_t lowest = uint64_t{8} << 20, highest = uint64_t{16} << 20;
  static const uint64_t found = std::clamp(cpu::machine().l3 / 2, lowest, highest);
  return found;
}

}  // namespace

Plan make_plan(const Engine& engine, uint64_t bytes, uint64_t parts, bool in_place) {
  if (engine.kind == Kind::automatic && bytes < split_bytes) {
    return {Kind::serial, 1, aes::Stores::ordinary, below_split};
  }
  const auto stores = !in_place && bytes > streaming_bytes() ? aes::Stores::streaming : aes::Stores::ordinary;
  if (engine.kind == Kind::serial) return {Kind::serial, 1, stores, "and an engine of one thread that was asked for"};
  if (engine.threads <= 1) return {Kind::serial, 1, stores, "and one thread to run on"};
  if (parts <= 1) return {Kind::serial, 1, stores, "that cannot be cut"};
  auto workers = static_cast<uint32_t>(std::min<uint64_t>(engine.threads, parts));
  if (engine.kind != Kind::automatic)
    return {Kind::threads, workers, stores, "and an engine that cuts whatever it can"};
  workers = static_cast<uint32_t>(std::min<uint64_t>(workers, 1 + bytes / split_bytes));
  return {Kind::threads, workers, stores, above_split, bytes};
}

void run(const Plan& plan, uint64_t items, uint64_t grain, Body body, void* context) {
  if (plan.kind == Kind::serial || plan.workers <= 1) return run_serial(items, grain, body, context);
  run_threads(plan, items, grain, body, context);
}

}  // namespace stockade::engine
