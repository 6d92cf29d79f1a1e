// Who does which slice: a fixed share each, or whoever is free takes the next.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ranks.h"

namespace stockade::cmd {

// "dynamic", "static" or nothing. Throws Failure.
void check_schedule(const std::optional<std::string>& text);

// What a good text says. Nothing means dynamic on one machine, where a free rank has its next slice at once. Between
// machines many MPI libraries let it wait until rank 0 is between two slices of its own, so there it means static.
// Collective.
bool is_dynamic(Ranks& ranks, const std::optional<std::string>& text);

// For --help.
extern const char schedule_help[];

class Schedule {
 public:
  // The same number of slices on all ranks. Where MPI has no shared counter, shares are fixed and stop() ends the work
  // of this rank alone. Collective.
  Schedule(Ranks& ranks, uint64_t slices, bool dynamic);
  // Collective.
  ~Schedule();
  Schedule(const Schedule&) = delete;
  Schedule& operator=(const Schedule&) = delete;

  // This rank's next one; nothing once all are taken or a rank has called stop(). Not collective, nor is stop().
  std::optional<uint64_t> next();
  void stop();
  bool dynamic() const { return dynamic_; }

 private:
  uint64_t take_ticket();

  Ranks& ranks_;
  const uint64_t slices_;
  bool dynamic_ = false;
  std::chrono::steady_clock::time_point next_look_;
  uint64_t begin_ = 0, end_ = 0;
  stockade_mpi_counter* counter_ = nullptr;
};

}  // namespace stockade::cmd
