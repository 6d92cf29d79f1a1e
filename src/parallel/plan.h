// The decision for one job: how many workers, and why. The tuning profile's entry decides, else the fall-back rule; nothing
// adjusts that later but the backoff (backoff.h), for calls whose workers were not asked for.
#pragma once

#include <cstdint>

#include "aes/aes_kernels.h"
#include "config/environment.h"
#include "tune/profile_in_force.h"

namespace stockade::parallel {

// The decision for one job.
struct Plan {
  config::Kind kind;  // not automatic
  uint32_t workers;   // 1 for serial
  aes::Stores stores;
  const char* why;  // static text that ends the sentence "N bytes ..."
  // What is known of the job by measurement; null: nothing.
  const tune::Entry* entry = nullptr;
  // What the work must be worth, in bytes, where the calling thread may do it all while the machine has no core to
  // spare for others; 0 where the workers were asked for.
  uint64_t at_stake = 0;
  bool by_entry = false;  // the entry has decided
};

// Where no profile knows better, each worker beyond the first must bring this much; shorter work stays on the calling
// thread unless workers are asked for.
inline constexpr uint64_t split_bytes = tune::fall_back.share;

// What is to be planned.
struct Task {
  tune::Operation operation;
  uint32_t bits;   // of the key; 0: no profile has entries for it
  uint64_t bytes;  // of work in all
  uint64_t parts;  // the most pieces it can be cut into
  bool in_place;   // whether output replaces input
  // The length by which the profile is asked, where that is not `bytes`.
  uint64_t length = 0;
};

// Asks the tuning profile what an automatic engine does, and where stores go. What engines with GPUs do with the CPU is planned
// as for `threads`.
Plan make_plan(const config::EngineChoice& engine, const Task& task);

}  // namespace stockade::parallel
