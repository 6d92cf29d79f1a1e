// What is best on this machine: `stockade tune`. Axes: operation, key size, length, candidate. A candidate is a choice such as
// a profile's row has, and is measured through the plan that would follow it, so there is no second way of doing the work.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "runner.h"
#include "tune/profile.h"

namespace stockade::bench {

struct TunePoint {
  tune::Operation operation;
  uint32_t bits;
  uint64_t length;

  bool operator==(const TunePoint&) const = default;
};

// "ctr, 128-bit keys, 65536 bytes".
std::string text_of(const TunePoint& point);

struct TuneSettings {
  bool full = false;  // every length and key size and all candidates
  std::vector<tune::Operation> operations;
  bool by_name = false;         // they were asked for one by one
  uint32_t threads = 1;         // of the CPU, at the most
  uint64_t largest = 64 << 20;  // bytes of a message in host memory
  uint64_t largest_on_gpu = 256 << 20;
  uint64_t largest_for_gpu = 256 << 20;  // in host memory, for GPUs to fetch
  std::vector<uint32_t>
      devices;         // GPUs whose rows are wanted: the first is measured, others of the same kind help with host data
  std::string folder;  // for files; removed by the caller
  Schedule schedule;
  // When that is over, nothing is begun but what the grid still lacks; 0: it takes as long as it takes.
  double seconds = 0;
};

// A candidate that was measured to the end.
struct TuneResult {
  tune::Choice choice;
  Timing timing;
};

struct TuneOutcome {
  TunePoint point;
  tune::Choice best, next;  // the runner-up is another way of doing it, not the same with other luck
  double score = 0;         // of the best, in its fastest round: GB/s, or operations per second
  double next_score = 0;    // 0: there is only one way
  double noise = 0;         // noise_of the best
  uint32_t candidates = 0;  // how many there were
};

// From candidates that stand in order, the most modest first, and were measured in the same rounds: the most modest of those
// that are not slower than the quickest beyond what chance explains, which is counted as 1.5 to 3 %. Of short work the fastest
// rounds are compared: whatever else a machine does, and wherever it puts threads that are woken, only ever adds to a round.
// At least one is measured.
enum class Counts { fastest, median };
size_t decide(const std::vector<TuneResult>& results, Counts counts = Counts::fastest);

// What a short look leaves to be measured to the end, in their order: the `most` quickest of those that did not take more than
// `hopeless` times as long as the quickest, and whatever `stays`; of ways over GPUs always the quickest.
std::vector<size_t> promising(const std::vector<TuneResult>& results, double hopeless, size_t most,
                              const std::function<bool(const tune::Choice&)>& stays);

// How far the median of the rounds is above the fastest, of the median: what a busy machine adds, but for single mishaps.
double noise_of(const Timing& timing);
// More than that and a point is measured again, for longer.
inline constexpr double too_noisy = 0.10;

// The rows that outcomes of one subject amount to: by rising length, without those that say what the one before says, or
// what is no better by more than chance.
std::vector<TuneOutcome> merge(std::vector<TuneOutcome> outcomes);

// What can be measured here: lengths and how many candidates each has.
struct TuneSubject {
  tune::Operation operation;
  uint32_t bits;
  std::vector<uint64_t> lengths;
  std::vector<tune::Choice> candidates;  // at the longest
};
std::vector<TuneSubject> subjects(const TuneSettings& settings);

struct TuneProgress {
  TunePoint point;
  double done = 0;  // share of the whole, as far as it can be foretold
};

struct TuneReport {
  uint64_t points = 0, noisy = 0, again = 0;
  double worst_noise = 0;
};

// Measures every subject. Points in `known` are taken as they are. `on_point` hears what comes next and may throw to stop;
// `on_outcome` gets each point as it is complete. Throws std::runtime_error where a call fails.
TuneReport run_tune(const TuneSettings& settings, const std::vector<TuneOutcome>& known,
                    const std::function<void(const TuneProgress&)>& on_point,
                    const std::function<void(const TuneOutcome&)>& on_outcome);

// One length of a check: `automatic` as the plan in force does it, against each single way.
struct TuneCheck {
  TunePoint point;
  double automatic = 0;  // GB/s, or operations per second
  tune::Choice best;
  double best_score = 0;
  double serial_score = 0;  // 0: not a way here
  double ratio = 0;         // automatic over best
  double chance = 0;        // noise of the two
  bool holds = true;        // not slower by more than 5 %
};

// Sizes between those that are tuned, with the profile in force. Where a point fails, the two are measured against each
// other, and when all others are done the whole point once more, before it counts as failed.
void check_tune(const TuneSettings& settings, const std::function<void(const TuneProgress&)>& on_point,
                const std::function<void(const TuneCheck&)>& on_check);

}  // namespace stockade::bench
