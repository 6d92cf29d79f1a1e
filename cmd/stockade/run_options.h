// The options that every verb with work to do has: who runs it, and what is said meanwhile.
#pragma once

#include <optional>
#include <string>

#include "command_line.h"
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
};

// Whether all work is to be done by GPUs, so that nothing may be given to another engine, however small.
bool is_gpus_alone(const stockade_engine* engine);

// An engine that stays on the calling thread, for work that is one of many.
EngineHandle make_serial_engine();

}  // namespace stockade::cmd
