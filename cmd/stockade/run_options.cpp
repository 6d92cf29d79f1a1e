#include "run_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "exit_status.h"
#include "values.h"

namespace stockade::cmd {

void RunOptions::declare(Command& command) {
  const char *speed = "speed", *other = "other options";
  command.option(speed, "-T,--threads", "N", threads, "at most N threads; 0, the default, is every core");
  command.option(speed, "--engine", "NAME", engine, "auto, serial, threads, cuda (GPUs) or hybrid (GPUs and CPU)");
  command.option(speed, "--devices", "LIST", devices, "with cuda or hybrid: these GPUs, such as 0,2; default all");
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

namespace {

bool wants_gpus(const stockade_engine* engine) {
  const std::string_view name = stockade_engine_name(engine);
  return name == "cuda" || name == "hybrid";
}

std::vector<uint32_t> parse_devices(std::string_view what, const std::string& text) {
  std::vector<uint32_t> numbers;
  for (const std::string& number : parse_list(what, text)) {
    numbers.push_back(static_cast<uint32_t>(parse_number(what, number, 0, 63)));
  }
  return numbers;
}

std::string capability_text(uint32_t capability) { return fmt::format("{}.{}", capability / 10, capability % 10); }

// What is wrong with a GPU that was named; empty if it can be used.
std::string refusal_of(uint32_t number) {
  stockade_device device{};
  if (stockade_device_get(number, &device) != STOCKADE_OK) return fmt::format("there is no GPU {}", number);
  if (device.usable) return {};
  return fmt::format("GPU {}, {}, has compute capability {}, and 7.5 is the least", number, device.name,
                     capability_text(device.capability));
}

// Why an engine of GPUs cannot be had.
Failure gpu_failure(stockade_status status, const std::vector<uint32_t>& named) {
  const std::string absence = stockade_device_absence();
  std::string reason = absence;
  for (size_t i = 0; i < named.size() && reason.empty(); ++i) reason = refusal_of(named[i]);
  if (reason.empty() && status != STOCKADE_ERROR_UNAVAILABLE) reason = stockade_status_text(status);
  if (reason.empty()) reason = "none has compute capability 7.5 or newer";
  const char* hint = absence.empty() ? "'stockade info' lists the GPUs; --engine auto runs on the CPU"
                                     : "--engine auto, the default, runs on the CPU";
  return {Exit::unavailable, fmt::format("no GPU can be used: {}", reason), {hint}};
}

// Which GPUs do the work, or could.
void note_devices(const stockade_engine* engine, const std::vector<uint32_t>& named) {
  std::vector<std::string> texts;
  stockade_device device{};
  for (uint32_t i = 0; stockade_device_get(i, &device) == STOCKADE_OK; ++i) {
    const bool wanted = named.empty() || std::find(named.begin(), named.end(), i) != named.end();
    if (device.usable && wanted) texts.push_back(fmt::format("{} ({})", i, device.name));
  }
  if (texts.empty()) return;
  const std::string gpus = fmt::format("{} {}", texts.size() == 1 ? "GPU" : "GPUs", listed(texts));
  if (wants_gpus(engine)) {
    ui::note(gpus);
  } else if (std::string_view(stockade_engine_name(engine)) == "auto") {
    ui::note(fmt::format("on the CPU, whose cores are faster than the bus to {}: --engine hybrid uses both", gpus));
  }
}

// From the environment, where the command line names none.
std::vector<uint32_t> devices_in_force() {
  const char* const value = std::getenv("STOCKADE_DEVICES");
  return value == nullptr || *value == 0 ? std::vector<uint32_t>() : parse_devices("STOCKADE_DEVICES", value);
}

Failure unknown_engine(const std::string& name) {
  std::vector<std::string> names;
  const char* known = nullptr;
  const char* summary = nullptr;
  for (uint32_t i = 0; stockade_engine_get(i, &known, &summary) == STOCKADE_OK; ++i) names.push_back(known);
  std::vector<std::string> hints = did_you_mean(name, names);
  hints.push_back("the engines are " + listed(names));
  return {Exit::usage, fmt::format("unknown engine '{}'", name), hints};
}

}  // namespace

uint32_t RunOptions::thread_count() const {
  return threads ? static_cast<uint32_t>(parse_number("--threads", *threads, 0, 4096)) : 0;
}

std::vector<uint32_t> RunOptions::device_numbers() const {
  return devices ? parse_devices("--devices", *devices) : std::vector<uint32_t>();
}

Failure RunOptions::engine_failure(stockade_status status) const {
  // Rows are chosen with a key, so an engine that cannot be had is one that wants GPUs.
  if (exit_for(status) == Exit::unavailable) {
    const std::vector<uint32_t> named = device_numbers();
    return gpu_failure(status, named.empty() ? devices_in_force() : named);
  }
  if (!engine) return environment_failure(status);
  if (status == STOCKADE_ERROR_UNKNOWN_NAME) return unknown_engine(*engine);
  return {exit_for(status), fmt::format("--engine {}: {}", *engine, stockade_status_text(status))};
}

EngineHandle RunOptions::make_engine() const {
  const uint32_t count = thread_count();
  const std::vector<uint32_t> named = device_numbers();
  stockade_engine* made = nullptr;
  stockade_status status = stockade_engine_create(&made, engine ? engine->c_str() : nullptr, count);
  if (status != STOCKADE_OK) throw engine_failure(status);
  EngineHandle handle(made);
  if (devices) {
    if (!wants_gpus(made)) throw Failure(Exit::usage, "--devices belongs to --engine cuda or hybrid");
    status = stockade_engine_set_devices(made, named.data(), static_cast<uint32_t>(named.size()));
    if (status != STOCKADE_OK) throw gpu_failure(status, named);
  }
  if (ui::verbose()) note_devices(made, named.empty() ? devices_in_force() : named);
  return handle;
}

bool is_gpus_alone(const stockade_engine* engine) { return std::string_view(stockade_engine_name(engine)) == "cuda"; }

EngineHandle make_serial_engine() {
  stockade_engine* made = nullptr;
  if (const auto status = stockade_engine_create(&made, "serial", 1); status != STOCKADE_OK) {
    throw environment_failure(status);
  }
  return EngineHandle(made);
}

}  // namespace stockade::cmd
