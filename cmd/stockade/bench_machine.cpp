#include "bench_machine.h"

#include <fmt/format.h>
#include <sys/utsname.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <system_error>

#include "bench/clock.h"
#include "commit.h"
#include "exit_status.h"
#include "ui.h"
#include "values.h"

namespace stockade::cmd {
namespace {

std::string utc_date() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

// The clock once the core has had some work to speed up for.
double warm_hertz() {
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(100);
  double hertz = bench::core_hertz();
  while (std::chrono::steady_clock::now() < end) hertz = bench::core_hertz();
  return hertz;
}

std::string rows_text(const Machine& machine, std::string_view primitive) {
  std::vector<std::string> parts;
  for (const stockade_row& row : machine.rows) {
    if (primitive != row.primitive) continue;
    parts.push_back(row.chosen      ? fmt::format("{} (chosen)", row.name)
                    : row.available ? row.name
                                    : fmt::format("{} (not here: {})", row.name, row.reason));
  }
  return joined(parts, ", ");
}

std::string first_line(const std::string& path) {
  std::string line;
  std::ifstream file(path);
  std::getline(file, line);
  return line;
}

// What /proc/meminfo says under that name, in bytes; 0 where it says nothing.
uint64_t memory_of(std::string_view wanted) {
  std::ifstream lines("/proc/meminfo");
  std::string name, unit;
  for (uint64_t value = 0; lines >> name >> value; std::getline(lines, unit)) {
    if (name == wanted) return value << 10;
  }
  return 0;
}

// The names that NVIDIA's kernel module lists.
std::vector<std::string> listed_gpus() {
  std::vector<std::string> names;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/driver/nvidia/gpus", error)) {
    std::ifstream lines(entry.path() / "information");
    for (std::string line; std::getline(lines, line);) {
      constexpr std::string_view label = "Model:";
      if (!line.starts_with(label)) continue;
      names.push_back(line.substr(std::min(line.find_first_not_of(" \t", label.size()), line.size())));
    }
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::string clock_text(double hertz) {
  return hertz > 0 ? fmt::format("{:.2f} GHz, measured", hertz / 1e9) : "unknown";
}

}  // namespace

Machine look_around() {
  Machine machine;
  stockade_status status = stockade_machine_get(&machine.machine);
  if (status != STOCKADE_OK) throw environment_failure(status);
  stockade_row row{};
  for (uint32_t i = 0; (status = stockade_row_get(i, &row)) == STOCKADE_OK; ++i) machine.rows.push_back(row);
  if (machine.rows.empty() || status != STOCKADE_ERROR_ARGUMENT) throw environment_failure(status);
  machine.hertz = warm_hertz();
  utsname system{};
  if (uname(&system) == 0) machine.kernel = fmt::format("{} {} {}", system.sysname, system.release, system.machine);
  machine.date = utc_date();
  machine.memory = memory_of("MemTotal:");
  machine.governor = first_line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
  machine.gpus = listed_gpus();
  machine.driver = first_line("/sys/module/nvidia/version");
  return machine;
}

std::string head_text(const Machine& machine, std::string_view benchmark,
                      const std::vector<std::pair<std::string, std::string>>& peers) {
  const auto line = [](std::string_view name, const std::string& value) {
    return fmt::format("{:<10}{}\n", name, ui::escaped(value));
  };
  const auto environment = environment_in_force();
  std::string out = line("stockade", fmt::format("{}, {}, {}", stockade_version(), benchmark, machine.date));
  out += line("machine", fmt::format("{}, {} cores, {}", machine.machine.cpu, machine.machine.cores, machine.kernel));
  out += line("clock", clock_text(machine.hertz));
  out += line("build", stockade_build());
  for (const auto& [name, description] : peers) out += line(name, description);
  out += line("aes rows", rows_text(machine, "aes"));
  out += line("gcm rows", rows_text(machine, "gcm"));
  if (!environment.empty()) out += line("environ", joined(environment, " "));
  return out;
}

nlohmann::ordered_json head_json(const Machine& machine, std::string_view schema) {
  using nlohmann::ordered_json;
  ordered_json json;
  json["schema"] = schema;
  json["date"] = machine.date;
  json["machine"] = {
      {"cpu", machine.machine.cpu},   {"cores", machine.machine.cores}, {"threads", machine.machine.threads},
      {"l1d", machine.machine.l1d},   {"l2", machine.machine.l2},       {"l3", machine.machine.l3},
      {"clock_hz", machine.hertz},    {"kernel", machine.kernel},       {"memory", machine.memory},
      {"governor", machine.governor}, {"gpus", machine.gpus},           {"gpu_driver", machine.driver}};
  json["library"] = {{"version", stockade_version()}, {"build", stockade_build()}, {"commit", built_from()}};
  json["environment"] = environment_in_force();
  for (const stockade_row& row : machine.rows) {
    json["rows"].push_back(ordered_json{{"primitive", row.primitive},
                                        {"name", row.name},
                                        {"available", row.available != 0},
                                        {"chosen", row.chosen != 0},
                                        {"reason", row.reason}});
  }
  return json;
}

uint64_t available_memory() { return memory_of("MemAvailable:"); }

std::string figure(double value) {
  if (value >= 99.95) return fmt::format("{:.0f}", value);
  if (value >= 9.995) return fmt::format("{:.1f}", value);
  return fmt::format("{:.{}f}", value, value >= 0.9995 ? 2 : 3);
}

std::string time_text(double seconds) {
  if (seconds < 0.9995e-6) return figure(seconds * 1e9) + " ns";
  if (seconds < 0.9995e-3) return figure(seconds * 1e6) + " us";
  if (seconds < 0.9995) return figure(seconds * 1e3) + " ms";
  return figure(seconds) + " s";
}

nlohmann::ordered_json or_null(double value) {
  return value > 0 ? nlohmann::ordered_json(value) : nlohmann::ordered_json();
}

}  // namespace stockade::cmd
