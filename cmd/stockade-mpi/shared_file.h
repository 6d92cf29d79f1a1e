// One Stockade file made, opened or verified by all ranks.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cmd/stockade/file_failure.h"
#include "cmd/stockade/handles.h"
#include "cmd/stockade/input_file.h"
#include "cmd/stockade/secret_bytes.h"
#include "cmd/stockade/ui.h"
#include "ranks.h"
#include "stockade/stockade.h"

namespace stockade::cmd {

// To be called before MPI is started: what is wrong with the path itself. Throws Failure.
void check_input_path(const std::optional<std::string>& path);

// Opens a regular file on every rank, the same on all. Collective. Throws Failure.
Input open_shared_input(Ranks& ranks, const std::string& path);

// The terms of a job, which hold its key, on their way to other ranks. Both throw Failure.
void export_job(const stockade_shared_job* job, SecretBytes& terms);
SharedJobHandle import_job(const SecretBytes& terms);

struct SlicesWork {
  const stockade_shared_job* job;
  const Input& input;
  int out_fd = -1, journal_fd = -1;
  bool dynamic = true;
  bool accept_changed_input = false;
  const FileContext& context;
  ui::Progress& progress;
  stockade_damage damage = nullptr;
  void* damage_context = nullptr;
};

// Of all ranks together.
struct SlicesDone {
  uint64_t in_length = 0, out_length = 0;
  uint64_t least = 0, most = 0;  // bytes of input that a rank has done
};

// Runs the slices on all ranks. `judge` says what the outcome on this rank means: it throws Failure, or accepts it.
// Collective. Throws Failure.
using Judge = std::function<void(const stockade_shared_work& work, int error)>;
SlicesDone run_slices(Ranks& ranks, const SlicesWork& work, const stockade_engine* engine, const Judge& judge);

// What is wrong with a file, and where in it.
FailureAt failure_at(const stockade_fault& fault, int error, const FileContext& context);

// "8 ranks on 2 machines, 160 slices of 64.00 MiB, dynamic; each threads x4, row vaes512". Collective.
std::string shared_plan_text(Ranks& ranks, const stockade_shared_info& info, bool dynamic, const std::string& plan);

}  // namespace stockade::cmd
