// The decision for one job: how many workers, and why.
#pragma once

#include <cstdint>

#include "aes/aes_kernels.h"
#include "config/environment.h"
#include "tune/profile_in_force.h"

namespace stockade::parallel {

// Of work whose number of workers is learned while it is done (engine/team_size.h).
struct Lesson {
  uint64_t kind = 0;             // which work that is; 0: nothing is learned
  uint16_t known = 0, most = 0;  // workers of the profile's entry, more than one, and that there could be
  uint16_t workers = 0;          // that do it now; 1: the calling thread
  bool on_trial = false;         // whether those are not the best known ones
};

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
  Lesson lesson = {};
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
  // A number, below 4096, of what the pace depends on besides: what is learned of work done another way is nothing to go by.
  uint16_t way = 0;
};

// Asks the tuning profile what an automatic engine does, and where stores go. What engines with GPUs do with the CPU is planned
// as for `threads`.
Plan make_plan(const config::EngineChoice& engine, const Task& task);

}  // namespace stockade::parallel
