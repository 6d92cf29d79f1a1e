// The options that every verb with work to do has: who runs it, and what is said meanwhile.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "command_line.h"
#include "exit_status.h"
#include "handles.h"
#include "ui.h"

namespace stockade::cmd {

struct RunOptions {
  std::optional<std::string> threads, engine, devices, progress;
  bool quiet = false, verbose = false;

  void declare(Command& command);
  void set_verbosity() const { ui::set_verbosity(quiet, verbose); }
  // Both throw Failure.
  ui::When progress_when() const;
  EngineHandle make_engine() const;
  // What make_engine() is made of, for engines that come from elsewhere: the number of threads, 0 where none is given; the
  // GPUs that are named; why an engine cannot be had. The first two throw Failure.
  uint32_t thread_count() const;
  std::vector<uint32_t> device_numbers() const;
  Failure engine_failure(stockade_status status) const;
};

// Whether all work is to be done by GPUs, so that nothing may be given to another engine, however small.
bool is_gpus_alone(const stockade_engine* engine);

// An engine that stays on the calling thread, for work that is one of many.
EngineHandle make_serial_engine();

}  // namespace stockade::cmd
