#include "run_options.h"

#include <fmt/format.h>

#include <vector>

#include "exit_status.h"
#include "values.h"

namespace stockade::cmd {

void RunOptions::declare(Command& command) {
  const char *speed = "speed", *other = "other options";
  command.option(speed, "-T,--threads", "N", threads, "at most N threads; 0, the default, is every core");
  command.option(speed, "--engine", "NAME", engine, "auto, serial or threads");
  command.option(other, "--progress", "WHEN", progress,
                 "auto (on a terminal, after a second), always, never, or json: an object per line on standard error");
  command.flag(other, "-q,--quiet", quiet, "say nothing but errors");
  command.flag(other, "-v,--verbose", verbose, "say how the work is done and how fast it was");
}

ui::When RunOptions::progress_when() const {
  if (!progress || *progress == "auto") return ui::When::automatic;
  if (*progress == "always") return ui::When::always;
  if (*progress == "json") return ui::When::json;
  if (*progress == "never") return ui::When::never;
  throw Failure(Exit::usage, fmt::format("--progress: '{}' is none of auto, always, never and json", *progress));
}

EngineHandle RunOptions::make_engine() const {
  const uint64_t count = threads ? parse_number("--threads", *threads, 0, 4096) : 0;
  stockade_engine* made = nullptr;
  const stockade_status status =
      stockade_engine_create(&made, engine ? engine->c_str() : nullptr, static_cast<uint32_t>(count));
  if (status == STOCKADE_OK) return EngineHandle(made);
  if (!engine) throw environment_failure(status);
  if (status != STOCKADE_ERROR_UNKNOWN_NAME) {
    throw Failure(exit_for(status), fmt::format("--engine {}: {}", *engine, stockade_status_text(status)));
  }
  std::vector<std::string> names;
  const char* known = nullptr;
  const char* summary = nullptr;
  for (uint32_t i = 0; stockade_engine_get(i, &known, &summary) == STOCKADE_OK; ++i) names.push_back(known);
  std::vector<std::string> hints = did_you_mean(*engine, names);
  hints.push_back("the engines are " + listed(names));
  throw Failure(Exit::usage, fmt::format("unknown engine '{}'", *engine), hints);
}

EngineHandle make_serial_engine() {
  stockade_engine* made = nullptr;
  if (const auto status = stockade_engine_create(&made, "serial", 1); status != STOCKADE_OK) {
    throw environment_failure(status);
  }
  return EngineHandle(made);
}

}  // namespace stockade::cmd
