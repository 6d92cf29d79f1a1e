#include "parallel/plan.h"

#include <algorithm>

#include "cpu/machine.h"

namespace stockade::parallel {
namespace {

constexpr const char* above_split = "are above the split size of 32768";
constexpr const char* below_split = "are below the split size of 32768";
static_assert(split_bytes == 32768, "the two sentences name the number");
constexpr const char* known = "are known to be quickest so";

// Output beyond half of the last cache would push everything else out of it and still not be there when it is read. The
// upper bound is for machines that report a cache which they share with many others: there, ordinary stores to memory
// that is not in the core's own caches lost from 8 MiB on with one worker, and from 16 MiB on with sixteen.
uint64_t streaming_bytes() {
  constexpr uint64_t lowest = uint64_t{8} << 20, highest = uint64_t{16} << 20;
  static const uint64_t found = std::clamp(cpu::machine().l3 / 2, lowest, highest);
  return found;
}

const tune::Entry* find_entry(const Task& task) {
  const uint64_t length = task.length != 0 ? task.length : task.bytes;
  if (task.bits == 0 || (task.length == 0 && length < tune::least_split)) return nullptr;
  // It was had with the rows that are best here; others may be many times slower.
  const bool ciphers_forced = !config::environment().aes_row.empty() || !config::environment().gcm_row.empty();
  const bool numbers_forced = !config::environment().bignum_row.empty();
  if (task.operation < tune::Operation::rsa_private ? ciphers_forced : numbers_forced) return nullptr;
  return tune::find(task.operation, task.bits, length);
}

aes::Stores stores_for(const Task& task, const tune::Choice& choice) {
  if (task.in_place) return aes::Stores::ordinary;
  if (choice.stores == tune::Stores::ordinary) return aes::Stores::ordinary;
  if (choice.stores == tune::Stores::streaming) return aes::Stores::streaming;
  return task.bytes > streaming_bytes() ? aes::Stores::streaming : aes::Stores::ordinary;
}

// So many that each has its share.
uint32_t workers_for(const Task& task, const tune::Choice& choice) {
  if (choice.runner == tune::Runner::serial) return 1;
  const uint64_t most = choice.workers == 0 ? tune::all_workers : choice.workers;
  const uint64_t beyond_first = choice.share == 0 ? most - 1 : task.bytes / choice.share;
  return static_cast<uint32_t>(1 + std::min(most - 1, beyond_first));
}

}  // namespace

Plan make_plan(const config::EngineChoice& engine, const Task& task) {
  const tune::Entry* const entry = find_entry(task);
  const bool decides = entry != nullptr && entry->choice.runner != tune::Runner::unsaid;
  const tune::Choice& choice = decides ? entry->choice : tune::fall_back;
  const auto stores = stores_for(task, entry != nullptr ? entry->choice : tune::fall_back);
  const auto alone = [&](const char* why, bool by_entry = false) {
    return Plan{config::Kind::serial, 1, stores, why, entry, 0, by_entry};
  };
  if (engine.kind == config::Kind::serial) return alone("and an engine of one thread that was asked for");
  if (engine.threads <= 1) return alone("and one thread to run on");
  if (task.parts <= 1) return alone("that cannot be cut");
  auto workers = static_cast<uint32_t>(std::min<uint64_t>(engine.threads, task.parts));
  if (engine.kind != config::Kind::automatic) {
    return {config::Kind::threads, workers, stores, "and an engine that cuts whatever it can", entry};
  }
  workers = std::min(workers, workers_for(task, choice));
  if (workers == 1) return alone(decides ? known : below_split, decides);
  return {config::Kind::threads, workers, stores, decides ? known : above_split, entry, task.bytes, decides};
}

}  // namespace stockade::parallel
