// stockade bench aes --engine cuda: the benchmark of bench/gpu.cpp as tables or as JSON.
#include "bench_gpu.h"

#include <fmt/format.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "bench/gpu.h"
#include "bench/scratch.h"
#include "bench_machine.h"
#include "exit_status.h"
#include "interrupt.h"
#include "ui.h"
#include "values.h"

namespace stockade::cmd {
namespace {

using nlohmann::ordered_json;

constexpr uint64_t kib = uint64_t{1} << 10, mib = kib << 10, gib = mib << 10;
constexpr uint64_t largest_size = 64 * gib;
constexpr char shared_memory[] = "/dev/shm";

std::vector<std::string> read_questions(const GpuBenchLine& line) {
  const std::vector<std::string> all(bench::gpu_questions.begin(), bench::gpu_questions.end());
  if (!line.only) return all;
  const auto questions = parse_list("--only", *line.only);
  for (const std::string& question : questions) {
    if (std::find(all.begin(), all.end(), question) != all.end()) continue;
    std::vector<std::string> hints = did_you_mean(question, all);
    hints.push_back("the questions are " + listed(all));
    throw Failure(Exit::usage, fmt::format("--only: unknown question '{}'", question), hints);
  }
  return questions;
}

void read_sizes(const GpuBenchLine& line, bench::GpuSettings& settings) {
  if (line.sizes) {
    std::vector<uint64_t> sizes;
    for (const std::string& item : parse_list("--sizes", *line.sizes)) {
      const uint64_t size = parse_size("--sizes", item);
      if (size == 0 || size > largest_size) {
        throw Failure(Exit::usage, fmt::format("--sizes: {} is not within 1 byte and 64GiB", item));
      }
      sizes.push_back(size);
    }
    settings.device_sizes = settings.host_sizes = settings.stage_sizes = sizes;
    settings.several_size = *std::max_element(sizes.begin(), sizes.end());
  } else if (line.quick) {
    settings.device_sizes = settings.host_sizes = {64 * kib, mib, 16 * mib};
    settings.stage_sizes = {1'000, 1'000'000, 10'000'000};
    settings.several_size = 256 * mib;
  } else {
    settings.device_sizes = {64 * kib, mib, 16 * mib, 256 * mib, 4 * gib};
    settings.host_sizes = {64 * kib, mib, 16 * mib, gib};
    settings.stage_sizes = {1'000, 1'000'000, 10'000'000, 100'000'000, 1'000'000'000};
    settings.several_size = 2 * gib;
  }
}

std::vector<bench::AesCipher> read_ciphers(const GpuBenchLine& line) {
  std::vector<bench::AesCipher> ciphers = line.ciphers;
  std::erase_if(ciphers, [](const bench::AesCipher& cipher) { return !bench::runs_on_gpus(cipher); });
  if (ciphers.empty()) throw Failure(Exit::usage, "--cipher: nothing of this can be cut into parts for a GPU");
  return ciphers;
}

std::vector<uint32_t> read_devices(const GpuBenchLine& line) {
  std::vector<uint32_t> devices;
  if (!line.devices) return devices;
  for (const std::string& item : parse_list("--devices", *line.devices)) {
    devices.push_back(static_cast<uint32_t>(parse_number("--devices", item, 0, 63)));
  }
  return devices;
}

uint64_t read_run_bytes(const std::string& text) {
  const uint64_t bytes = parse_size("--run-bytes", text);
  if (std::has_single_bit(bytes) && bytes >= 64 * kib && bytes <= 16 * mib) return bytes;
  throw Failure(Exit::usage, fmt::format("--run-bytes: {} is not a power of two within 64KiB and 16MiB", text));
}

bench::GpuSettings read_line(const GpuBenchLine& line, const Machine& machine) {
  bench::GpuSettings settings;
  settings.questions = read_questions(line);
  settings.ciphers = read_ciphers(line);
  read_sizes(line, settings);
  settings.devices = read_devices(line);
  if (line.rounds) settings.rounds = static_cast<uint32_t>(parse_number("--rounds", *line.rounds, 1, 1000));
  if (line.lanes) settings.lanes = static_cast<uint32_t>(parse_number("--lanes", *line.lanes, 1, 64));
  if (line.run_bytes) settings.run_bytes = read_run_bytes(*line.run_bytes);
  settings.threads = machine.machine.threads;
  return settings;
}

// For the largest input and both outputs.
uint64_t needed_space(const bench::GpuSettings& settings) {
  return 3 * *std::max_element(settings.stage_sizes.begin(), settings.stage_sizes.end()) + mib;
}

// A folder in memory, where it has room.
std::string choose_folder(const GpuBenchLine& line, const bench::GpuSettings& settings) {
  if (line.folder) {
    if (std::filesystem::is_directory(*line.folder)) return *line.folder;
    throw Failure(Exit::usage, fmt::format("--folder: '{}' is no folder", *line.folder));
  }
  struct statvfs state {};
  const bool usable = statvfs(shared_memory, &state) == 0 && access(shared_memory, W_OK | X_OK) == 0;
  if (usable && uint64_t{state.f_bavail} * state.f_frsize >= needed_space(settings)) return shared_memory;
  const char* variable = std::getenv("TMPDIR");
  return variable != nullptr && *variable != '\0' ? variable : "/tmp";
}

bench::GpuMachine look_for_gpus(const bench::GpuSettings& settings) {
  try {
    return bench::look_at_gpus(settings.devices);
  } catch (const bench::NoGpu& reason) {
    throw Failure(Exit::unavailable, fmt::format("--engine cuda: no GPU can be used: {}", reason.what()),
                  {"'stockade info' says what this machine has"});
  }
}

std::string short_size(uint64_t bytes) {
  for (const auto& [unit, name] : {std::pair{gib, "GiB"}, {mib, "MiB"}, {kib, "KiB"}}) {
    if (bytes >= unit && bytes % unit == 0) return fmt::format("{} {}", bytes / unit, name);
  }
  for (const auto& [unit, name] : {std::pair{1'000'000, "MB"}, {1'000, "KB"}}) {
    const auto size = static_cast<uint64_t>(unit);
    if (bytes >= size && bytes % size == 0) return fmt::format("{} {}", bytes / size, name);
  }
  return fmt::format("{} B", bytes);
}

std::string or_unknown(const std::string& text) { return text.empty() ? "unknown" : text; }

std::string gpu_head_text(const Machine& machine, const bench::GpuMachine& gpus) {
  std::vector<std::pair<std::string, std::string>> lines;
  for (const bench::GpuDevice& device : gpus.devices) {
    lines.emplace_back(fmt::format("gpu {}", device.number), device_text(device));
  }
  lines.emplace_back("driver", fmt::format("{}, for CUDA {}", or_unknown(gpus.driver), or_unknown(gpus.driver_cuda)));
  lines.emplace_back("cuda", or_unknown(gpus.cuda));
  return head_text(machine, "bench aes --engine cuda", lines);
}

std::string about_text(const bench::GpuSettings& settings) {
  return fmt::format(R"(
Medians of {} samples or more; no padding, no associated data; each output was first compared with the CPU's. GB = 1e9 bytes.
device   GB/s: by the GPU's clock, between events before and behind a call, or behind several that follow one another where
         messages are short. us: one call by the host's clock, until the caller knows that all is done. XTS: units of {} bytes.
         chunks: a Cobblestone payload's.
host     whole calls by the host's clock; the rounds rotate. threads: the CPU alone, on {}.
stages   milliseconds. total: the sum of what stands above it. overlapped: as 'stockade raw encrypt --engine cuda' does it.
several  (1.95): speed-up over one GPU.
)",
                     settings.rounds, bench::xts_unit, plural(settings.threads, "thread"));
}

constexpr size_t name_width = 42, figure_width = 9;

// Two figures of a cell: what each question's tables have.
struct Columns {
  const char *first, *second;
};

Columns columns_of(const std::string& question) {
  if (question == "stages") return {"ms", ""};
  return {"GB/s", question == "device" ? "us" : ""};
}

size_t cell_width(const std::string& question) { return question == "host" ? 14 : 2 * figure_width; }

std::string cell_text(const std::string& question, const bench::GpuCell& cell) {
  const size_t width = cell_width(question);
  if (!cell.reason.empty()) return fmt::format("{:>{}}", "not measured", width);
  if (question == "stages") return fmt::format("{:>{}}", figure(cell.seconds * 1e3), width);
  const std::string speed = figure(cell.gigabytes_per_second);
  if (question == "host") return fmt::format("{:>{}}", speed, width);
  const std::string second =
      question == "device" ? figure(cell.finish_seconds * 1e6) : fmt::format("({:.2f})", cell.ratio);
  return fmt::format("{:>{}}{:>{}}", speed, figure_width, second, figure_width);
}

std::string line_name(const bench::GpuLine& line, const std::string& question) {
  if (question == "stages") return line.form;
  std::string name = line.cipher + " " + line.operation;
  if (!line.form.empty()) name += ", " + line.form;
  return name;
}

std::string table_text(const bench::GpuTable& table) {
  const size_t width = cell_width(table.question);
  const Columns columns = columns_of(table.question);
  const std::string& cipher = table.lines.front().cipher;
  std::string out = fmt::format("\n{}: {}\n{:<{}}", table.question, table.title,
                                table.question == "stages" ? cipher : "", name_width);
  for (const uint64_t size : table.sizes) out += fmt::format("{:>{}}", short_size(size), width);
  out += fmt::format("\n{:<{}}", "", name_width);
  for (size_t i = 0; i < table.sizes.size(); ++i) {
    const size_t second = table.question == "device" || table.question == "several" ? figure_width : 0;
    out += fmt::format("{:>{}}{:>{}}", columns.first, width - second, columns.second, second);
  }
  out = out.substr(0, out.find_last_not_of(' ') + 1) + '\n';
  for (const bench::GpuLine& line : table.lines) {
    std::string text = fmt::format("  {:<{}}", line_name(line, table.question), name_width - 2);
    for (const bench::GpuCell& cell : line.cells) text += cell_text(table.question, cell);
    out += text + '\n';
  }
  return out;
}

ordered_json report_json(const Machine& machine, const bench::GpuMachine& gpus, const bench::GpuSettings& settings) {
  ordered_json json = head_json(machine, "stockade-bench-gpu/1");
  json["gpus"] = gpus_json(gpus);
  json["driver"] = {{"version", gpus.driver}, {"cuda", gpus.driver_cuda}};
  json["cuda"] = gpus.cuda;
  json["settings"] = {{"questions", settings.questions}, {"rounds", settings.rounds},
                      {"threads", settings.threads},     {"lanes", settings.lanes},
                      {"run_bytes", settings.run_bytes}, {"folder", settings.folder},
                      {"xts_unit", bench::xts_unit}};
  json["results"] = ordered_json::array();
  return json;
}

void append_json(ordered_json& results, const bench::GpuTable& table) {
  for (const bench::GpuLine& line : table.lines) {
    for (size_t i = 0; i < table.sizes.size(); ++i) {
      const bench::GpuCell& cell = line.cells[i];
      ordered_json result{{"question", table.question},
                          {"title", table.title},
                          {"cipher", line.cipher},
                          {"operation", line.operation},
                          {"form", line.form},
                          {"gpus", line.devices},
                          {"message_bytes", table.sizes[i]},
                          {"measured", cell.reason.empty()}};
      if (cell.reason.empty()) {
        result["samples"] = cell.samples;
        result["seconds_median"] = cell.seconds;
        result["seconds_low"] = cell.low;
        result["seconds_high"] = cell.high;
        result["gigabytes_per_second"] = or_null(cell.gigabytes_per_second);
        result["finish_seconds"] = or_null(cell.finish_seconds);
        result["ratio_to_one_gpu"] = or_null(cell.ratio);
      } else {
        result["reason"] = cell.reason;
      }
      results.push_back(std::move(result));
    }
  }
}

void measure(const GpuBenchLine& line, const Machine& machine, const bench::GpuMachine& gpus,
             const bench::GpuSettings& settings) {
  ordered_json json = report_json(machine, gpus, settings);
  if (!line.json) ui::print(gpu_head_text(machine, gpus) + about_text(settings));
  ui::StatusLine status(ui::When::automatic);
  const auto on_point = [&status](const std::string& point) {
    if (interrupt::requested()) throw Failure(Exit::interrupted, interrupt::message);
    if (status.due()) status.show("measuring " + point);
  };
  const auto on_table = [&](const bench::GpuTable& table) {
    status.clear();
    if (line.json) {
      append_json(json["results"], table);
    } else {
      ui::print(table_text(table));
    }
  };
  try {
    bench::run_gpu(settings, on_point, on_table);
  } catch (const bench::Mismatch& mismatch) {
    throw Failure(Exit::corrupt, mismatch.what(), {"these figures would be worth nothing; please report this"});
  }
  if (line.json) ui::print(ui::json_text(json));
}

}  // namespace

std::string device_text(const bench::GpuDevice& device) {
  std::string text =
      fmt::format("{}, {}, compute capability {}.{}, {} multiprocessors, {}", device.name, device.bus,
                  device.capability / 10, device.capability % 10, device.multiprocessors, ui::size_text(device.memory));
  if (device.hertz > 0) text += fmt::format(", up to {:.2f} GHz", device.hertz / 1e9);
  return text;
}

ordered_json gpus_json(const bench::GpuMachine& gpus) {
  ordered_json json = ordered_json::array();
  for (const bench::GpuDevice& device : gpus.devices) {
    json.push_back({{"number", device.number},
                    {"name", device.name},
                    {"bus", device.bus},
                    {"capability", device.capability},
                    {"multiprocessors", device.multiprocessors},
                    {"memory", device.memory},
                    {"clock_hz", or_null(device.hertz)}});
  }
  return json;
}

void run_bench_gpu(const GpuBenchLine& line) {
  const Machine machine = look_around();
  bench::GpuSettings settings = read_line(line, machine);
  // Before the driver is asked for anything: it starts threads, and the folder has a second process to watch over it.
  std::optional<bench::ScratchFolder> scratch;
  std::string folder;
  if (std::find(settings.questions.begin(), settings.questions.end(), "stages") != settings.questions.end()) {
    folder = choose_folder(line, settings);
    scratch.emplace(folder);
    settings.folder = scratch->path();
  }
  const bench::GpuMachine gpus = look_for_gpus(settings);
  if (scratch && !line.folder && folder != shared_memory) {
    ui::notice(fmt::format("{} has no room for {}: the files go to '{}'", shared_memory,
                           ui::size_text(needed_space(settings)), folder));
  }
  settings.devices.clear();
  for (const bench::GpuDevice& device : gpus.devices) settings.devices.push_back(device.number);
  measure(line, machine, gpus, settings);
}

const char bench_gpu_help[] =
    R"(questions of --engine cuda:
  device   data in a GPU's memory: every operation, one message at a time
  host     data in host memory: the engines cuda, hybrid and threads
  stages   a file, step by step: load, copy in, kernel, copy out, store
  several  all GPUs at once, where there are two or more)";

}  // namespace stockade::cmd
