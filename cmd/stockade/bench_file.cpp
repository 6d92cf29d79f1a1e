// stockade bench file: the benchmark of bench/file.cpp as tables or as JSON.
#include <fmt/format.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "bench/aes.h"
#include "bench/file.h"
#include "bench/runner.h"
#include "bench/scratch.h"
#include "bench_machine.h"
#include "command_line.h"
#include "exit_status.h"
#include "interrupt.h"
#include "stockade/stockade.h"
#include "ui.h"
#include "values.h"
#include "verbs.h"

namespace stockade::cmd {
namespace {

struct FileBenchLine {
  std::optional<std::string> only, folder, size, rounds, python;
  bool quick = false, json = false, quiet = false;
};

constexpr uint64_t usual_size = uint64_t{2} << 30, quick_size = uint64_t{256} << 20;
constexpr uint64_t least_size = uint64_t{4} << 20, largest_size = uint64_t{1} << 40;
constexpr char shared_memory[] = "/dev/shm";

std::vector<std::string> read_questions(const FileBenchLine& line) {
  const std::vector<std::string> all(bench::file_questions.begin(), bench::file_questions.end());
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

std::string own_path() {
  char path[PATH_MAX];
  const ssize_t length = readlink("/proc/self/exe", path, sizeof path);
  if (length < 0 || length == sizeof path) throw Failure(Exit::io, "cannot find the path of this program");
  return {path, static_cast<size_t>(length)};
}

bool in_memory(const std::string& folder) {
  struct statfs state {};
  return statfs(folder.c_str(), &state) == 0 && state.f_type == TMPFS_MAGIC;
}

// Bytes that may be written to a folder; 0 where it cannot be used.
uint64_t free_space(const std::string& folder) {
  struct statfs state {};
  if (statfs(folder.c_str(), &state) != 0 || access(folder.c_str(), W_OK | X_OK) != 0) return 0;
  const uint64_t space = state.f_bavail * static_cast<uint64_t>(state.f_bsize);
  if (state.f_type != TMPFS_MAGIC) return space;
  // Not to the last page: the programs that run meanwhile need some as well.
  constexpr uint64_t reserve = uint64_t{1} << 30;
  const uint64_t memory = bench::available_memory();
  return std::min(space, memory > reserve ? memory - reserve : 0);
}

std::string choose_folder(const FileBenchLine& line, uint64_t needed) {
  if (line.folder) {
    // Programs that run in other folders are given paths below this one.
    char path[PATH_MAX];
    struct stat state {};
    if (realpath(line.folder->c_str(), path) == nullptr || stat(path, &state) != 0 || !S_ISDIR(state.st_mode)) {
      throw Failure(Exit::usage, fmt::format("--folder: '{}' is no folder", *line.folder));
    }
    return path;
  }
  if (free_space(shared_memory) >= needed) return shared_memory;
  const char* variable = std::getenv("TMPDIR");
  const std::string folder = variable != nullptr && *variable != '\0' ? variable : "/tmp";
  ui::notice(fmt::format("{} has no room for {}: the files go to '{}'", shared_memory, ui::size_text(needed), folder));
  return folder;
}

// Makes the large file small enough for the folder.
void fit_size(bench::FileSettings& settings, const std::string& folder) {
  const uint64_t wanted = settings.size, space = free_space(folder);
  while (bench::file_space(settings) > space && settings.size / 2 >= least_size) settings.size /= 2;
  if (bench::file_space(settings) > space) {
    throw Failure(Exit::io,
                  fmt::format("'{}' has room for {}, and {} are needed", folder, ui::size_text(space),
                              ui::size_text(bench::file_space(settings))),
                  {"name another with --folder"});
  }
  if (settings.size == wanted) return;
  ui::notice(fmt::format("'{}' has no room for a file of {} and its copies: it has {} instead", folder,
                         ui::size_text(wanted), ui::size_text(settings.size)));
}

bench::FileSettings read_line(const FileBenchLine& line, const Machine& machine) {
  bench::FileSettings settings;
  settings.questions = read_questions(line);
  settings.quick = line.quick;
  settings.rounds = line.quick ? 3 : 5;
  if (line.rounds) settings.rounds = static_cast<uint32_t>(parse_number("--rounds", *line.rounds, 1, 1000));
  settings.size = line.quick ? quick_size : usual_size;
  if (line.size) settings.size = parse_size("--size", *line.size);
  if (settings.size < least_size || settings.size > largest_size) {
    throw Failure(Exit::usage, fmt::format("--size: {} is not within 4MiB and 1024GiB", *line.size));
  }
  settings.threads = machine.machine.threads;
  settings.program = own_path();
  settings.python = bench::find_python(line.python.value_or(""), settings.program);
  if (line.python && settings.python.empty()) {
    throw Failure(Exit::usage, fmt::format("--python: '{}' has no cryptography.cobblestone", *line.python),
                  {"'tools/setup.sh python' makes one that has, build/venv/bin/python3"});
  }
  settings.stop = interrupt::requested;
  return settings;
}

double gigabytes(const bench::FileLine& line) { return static_cast<double>(line.bytes) / 1e9; }

constexpr size_t name_width = 36, column_width = 12;

// What a point has a column for, beside the time.
struct Columns {
  explicit Columns(const bench::FilePoint& point) : files(point.files > 1) {
    for (const bench::FileLine& line : point.lines) {
      bytes = bytes || (!files && line.bytes > 0);
      for (size_t i = 0; i < line.ratios.size(); ++i) {
        if (line.ratios[i] > 0) yardsticks.insert(i);
      }
    }
  }
  bool files, bytes = false;
  std::set<size_t> yardsticks;  // those that were measured
};

size_t ratio_width(const bench::Yardstick& yardstick) { return std::max(column_width, yardstick.contender.size() + 4); }

std::string line_text(const bench::FilePoint& point, const bench::FileLine& line) {
  const Columns columns(point);
  std::string name = line.contender;
  if (line.threads > 1) name += fmt::format(", {} threads", line.threads);
  std::string text = fmt::format("  {:<{}}", name, name_width - 2);
  if (!line.reason.empty()) return fmt::format("{}{:>{}}\n", text, line.reason, column_width);
  const auto column = [&text](const std::string& value) { text += fmt::format("{:>{}}", value, column_width); };
  column(time_text(line.seconds));
  if (columns.bytes) column(figure(gigabytes(line) / line.seconds));
  if (columns.files) column(figure(static_cast<double>(point.files) / line.seconds));
  column(columns.bytes ? figure(line.cpu_seconds / gigabytes(line)) : time_text(line.cpu_seconds));
  for (const size_t i : columns.yardsticks) {
    text += fmt::format("{:>{}}", figure(line.ratios[i]) + "x", ratio_width(point.yardsticks[i]));
  }
  return text + '\n';
}

std::string point_text(const bench::FilePoint& point) {
  const Columns columns(point);
  std::string out = fmt::format("\n{}: {}\n{}\n{:<{}}{:>{}}", point.question, point.name, point.detail, "", name_width,
                                "time", column_width);
  if (columns.bytes) out += fmt::format("{:>{}}", "GB/s", column_width);
  if (columns.files) out += fmt::format("{:>{}}", "files/s", column_width);
  out += fmt::format("{:>{}}", columns.bytes ? "CPU s/GB" : "CPU", column_width);
  for (const size_t i : columns.yardsticks) {
    out += fmt::format("{:>{}}", "/ " + point.yardsticks[i].contender, ratio_width(point.yardsticks[i]));
  }
  out += '\n';
  for (const bench::FileLine& line : point.lines) out += line_text(point, line);
  return out;
}

void append_json(nlohmann::ordered_json& results, const bench::FilePoint& point) {
  using nlohmann::ordered_json;
  for (const bench::FileLine& line : point.lines) {
    ordered_json result{{"question", point.question},
                        {"point", point.name},
                        {"contender", line.contender},
                        {"threads", line.threads},
                        {"measured", line.reason.empty()}};
    if (!line.reason.empty()) {
      result["reason"] = line.reason;
      results.push_back(std::move(result));
      continue;
    }
    result["bytes"] = line.bytes;
    result["files"] = point.files;
    result["files_sampled"] = line.sampled > 0 ? line.sampled : point.files;
    result["seconds_median"] = line.seconds;
    result["seconds_low"] = line.low;
    result["seconds_high"] = line.high;
    result["cpu_seconds"] = line.cpu_seconds;
    result["gigabytes_per_second"] = or_null(gigabytes(line) / line.seconds);
    result["cpu_seconds_per_gigabyte"] = line.bytes > 0 ? or_null(line.cpu_seconds / gigabytes(line)) : ordered_json();
    result["ratios"] = ordered_json::object();
    for (size_t i = 0; i < line.ratios.size(); ++i) {
      result["ratios"][point.yardsticks[i].contender] = or_null(line.ratios[i]);
    }
    results.push_back(std::move(result));
  }
}

nlohmann::ordered_json settings_json(const bench::FileSettings& settings, const std::string& folder) {
  return {{"questions", settings.questions}, {"folder", folder},          {"folder_in_memory", in_memory(folder)},
          {"size", settings.size},           {"rounds", settings.rounds}, {"threads", settings.threads},
          {"quick", settings.quick}};
}

std::string about_text(const bench::FileSettings& settings, const std::string& folder) {
  return fmt::format(R"({:<10}{}{}, {} per copy of the large file

Median of {} rounds in which all contenders take turns. GB = 1e9 bytes of plaintext. CPU: the time of all cores.
"/ X": how many times as fast as X.
)",
                     "folder", folder, in_memory(folder) ? " (in memory)" : "", ui::size_text(settings.size),
                     settings.rounds);
}

void run_bench_file(const FileBenchLine& line) {
  if (line.quiet) ui::set_verbosity(ui::Verbosity::quiet);
  const Machine machine = look_around();
  bench::FileSettings settings = read_line(line, machine);
  const std::string folder = choose_folder(line, bench::file_space(settings));
  fit_size(settings, folder);
  // Before any call of the library that starts threads.
  const bench::ScratchFolder scratch(folder);
  settings.folder = scratch.path();

  nlohmann::ordered_json json = head_json(machine, "stockade-bench-file/1");
  std::vector<std::pair<std::string, std::string>> peers;
  for (const bench::FilePeer& peer : bench::file_peers(settings)) {
    peers.emplace_back("peer", fmt::format("{}: {}", peer.name, peer.version));
    json["peers"][peer.name] = peer.version;
  }
  json["settings"] = settings_json(settings, folder);
  json["results"] = nlohmann::ordered_json::array();
  if (!line.json) ui::print(head_text(machine, "bench file", peers) + about_text(settings, folder));
  ui::StatusLine status(ui::When::automatic);
  const auto on_turn = [&status](const std::string& turn) {
    if (interrupt::requested()) throw Failure(Exit::interrupted, interrupt::message);
    if (status.due()) status.show("measuring " + turn);
  };
  const auto on_point = [&](const bench::FilePoint& point) {
    status.clear();
    if (line.json) {
      append_json(json["results"], point);
    } else {
      ui::print(point_text(point));
    }
  };
  try {
    bench::run_file(settings, on_turn, on_point);
  } catch (const bench::Mismatch& mismatch) {
    throw Failure(Exit::corrupt, mismatch.what(), {"these figures would be worth nothing; please report this"});
  }
  if (line.json) ui::print(ui::json_text(json));
}

}  // namespace

void add_bench_file(Command& bench) {
  Command& file =
      bench.add("file", "[OPTION ...]", "Stockade files against the raw cipher, the disk, and other programs.");
  const auto line = std::make_shared<FileBenchLine>();
  const char* group = "options";
  file.option(group, "--only", "LIST", line->only, "questions: memory, files, start, range, many; default all");
  file.option(group, "--folder", "FOLDER", line->folder,
              "where the files are made, and removed again; default /dev/shm, or TMPDIR if there is no room");
  file.option(group, "--size", "SIZE", line->size,
              "of the large file, which needs three times as much room, four times with age; default 2GiB");
  file.option(group, "--rounds", "N", line->rounds, "turns of each contender, of which the median counts; default 5");
  file.option(group, "--python", "PATH", line->python,
              "a python3 with pyca/cryptography 50 or newer; default build/venv, then the PATH");
  file.flag(group, "--quick", line->quick, "256 MiB, 3 rounds and fewer files: some seconds");
  file.flag(group, "--json", line->json, "as JSON; bench/README.md describes it");
  file.flag("other options", "-q,--quiet", line->quiet, "nothing but the figures and errors");
  file.footer(fmt::format(R"(questions:
  memory  payloads in memory, against the raw cipher and pyca/cryptography
  files   encrypt, decrypt, verify a large file, against the same reads and writes
          without a cipher, openssl and age
  start   from start to exit with a file of 100 bytes
  range   1 MiB out of the large file, against all of it
  many    small files: one command, and a command for each

examples:
  stockade bench file --quick
  stockade bench file --only files,range --folder /mnt/disk --size 20GiB
  stockade bench file --json > $(hostname).json

The full run takes some minutes. Let the machine do nothing else meanwhile.

{})",
                          exit_status_help));
  file.action([line] { run_bench_file(*line); });
}

}  // namespace stockade::cmd
