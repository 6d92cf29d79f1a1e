// One process's share of a shared job: slices through the pipelines of engine/files.h, one after the other.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/status.h"
#include "engine/engine.h"
#include "format/cobblestone.h"
#include "format/file_job.h"
#include "format/payload_work.h"
#include "format/shared_journal.h"
#include "format/shared_terms.h"

namespace stockade::format {

// That these are regular files, the two that are written readable too, and not one another. An input or output below 0,
// and a journal below 1, is none. IO, MODE, OVERLAP.
Status check_files(int in_fd, int out_fd, int journal_fd);

class SharedRun {
 public:
  SharedRun(const SharedTerms& terms, const PayloadKey& key, stockade_shared_work& work, const engine::Engine& engine,
            const JobPace& pace)
      : terms_(terms), key_(key), work_(work), engine_(engine), pace_(pace) {}

  // stockade_shared_run on a work whose written members are zero.
  Status run();

 private:
  using Clock = std::chrono::steady_clock;

  bool verifies() const { return terms_.kind == STOCKADE_SHARED_VERIFY; }
  Status prepare();
  Status check_input() const;
  Status do_slices();
  Status do_slice(uint64_t slice);
  Status seal(uint64_t slice);
  Status open(uint64_t slice);
  Status verify(uint64_t slice);
  Status transfer(uint64_t slice, engine::FileWork& work);
  Status note(uint64_t slice);
  Status settle();
  void add_fault(const stockade_fault& fault);
  int report(uint64_t done);

  const SharedTerms& terms_;
  const PayloadKey& key_;
  stockade_shared_work& work_;
  const engine::Engine& engine_;
  const JobPace& pace_;

  std::optional<SliceRecords> records_;
  // Done and not recorded yet; when that shall be made up for.
  std::vector<uint64_t> pending_;
  Clock::time_point next_settling_{};
  // Of the slice that is being done: the bytes that the engine had counted when it began.
  std::optional<uint64_t> counted_;
};

}  // namespace stockade::format
