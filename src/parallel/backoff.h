// Working alone for a while, where several workers were seen to be slower.
//
// A call ends with the last worker that has come, and where other programs keep the cores busy one that has lost its core may
// be waited for a thousand times longer than the work takes. On a virtual machine, cores may be far from each other for a
// while, and to begin together takes several times as long. So calls that took longer than their fastest worker alone would
// have, three in a row or one by much, begin a backoff, in which the calling thread works alone. (The first call after a while
// may lose only because the data is in one core's cache.) It lasts as long as the loss or a few times that; if the next calls
// lose too, twice as long, up to 128 times. That bounds what can be lost, to a few percent where every call loses, and one
// mishap costs little. Changing over has its price, for the data moves to another core's cache, so a backoff lasts some calls;
// their times are what the next calls are compared with.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

#include "parallel/plan.h"

namespace stockade::parallel {

using Nanoseconds = int64_t;

inline Nanoseconds now() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

// One for a process. Any number of threads may call it at once: they only make each other's backoffs shorter or longer.
class Backoff {
 public:
  // What a call took with all its workers, and what its fastest worker would have needed for all of the work.
  struct Outcome {
    Nanoseconds together, alone;
  };

  // Whether the calling thread does this work alone.
  bool is_on(const Plan& plan);
  // The time of such a call.
  void note_alone(const Plan& plan, Nanoseconds time);
  // A call by several workers.
  void note(const Plan& plan, Outcome outcome);

 private:
  Nanoseconds alone_for(const Plan& plan, Nanoseconds estimate) const;

  std::atomic<Nanoseconds> until_{0};
  std::atomic<uint32_t> calls_{0};
  std::atomic<uint32_t> factor_{0};  // of the last backoff, halved by each call that did not lose
  std::atomic<uint32_t> losses_{0};  // in a row, since the last backoff
  // What it took to begin and to end together, and what one worker takes for a million bytes, when the backoff began.
  std::atomic<Nanoseconds> overhead_{0}, pace_{0};
  // The fastest call alone since then, and what kind of work that was; 0: there was none yet.
  std::atomic<Nanoseconds> seen_alone_{0};
  std::atomic<uint64_t> seen_bytes_{0};
  std::atomic<const tune::Entry*> seen_entry_{nullptr};
};

}  // namespace stockade::parallel
