// stockade bench studies: the tables of bench/studies.cpp, as text or as JSON.
#include "bench_studies.h"

#include <fmt/format.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>

#include "bench/aes.h"
#include "bench/peer_openssl.h"
#include "bench/scratch.h"
#include "bench/studies_mpi.h"
#include "bench_gpu.h"
#include "bench_machine.h"
#include "bench_rsa_report.h"
#include "exit_status.h"
#include "interrupt.h"
#include "ui.h"
#include "values.h"
#include "verbs.h"

namespace stockade::cmd {
namespace {

using nlohmann::ordered_json;

struct StudiesLine {
  std::optional<std::string> only, folder, largest, rounds;
  bool quick = false, json = false, quiet = false;
};

constexpr uint64_t kib = uint64_t{1} << 10, mib = kib << 10, gib = mib << 10;
constexpr char shared_memory[] = "/dev/shm";

std::vector<std::string> read_studies(const StudiesLine& line) {
  const std::vector<std::string> all(bench::study_names.begin(), bench::study_names.end());
  if (!line.only) return all;
  std::vector<std::string> studies = parse_list("--only", *line.only);
  for (std::string& study : studies) {
    if (study.size() == 2 && study[0] == 'S') study[0] = 's';
    if (std::find(all.begin(), all.end(), study) != all.end()) continue;
    std::vector<std::string> hints = did_you_mean(study, all);
    hints.push_back("the studies are " + listed(all));
    throw Failure(Exit::usage, fmt::format("--only: unknown study '{}'", study), hints);
  }
  return studies;
}

std::vector<uint64_t> powers(uint64_t first, uint64_t factor, uint64_t last) {
  std::vector<uint64_t> sizes;
  for (uint64_t size = first; size <= last; size *= factor) sizes.push_back(size);
  return sizes;
}

// With the sizes of web pages over TLS, of text and with pictures, in whole blocks.
std::vector<uint64_t> launch_sizes(uint64_t last) {
  std::vector<uint64_t> sizes = powers(64, 4, std::min(last, 16 * mib));
  for (const uint64_t size : {35 * kib, 150 * kib}) sizes.push_back(size);
  if (last >= 256 * mib) sizes.push_back(256 * mib);
  std::sort(sizes.begin(), sizes.end());
  return sizes;
}

void read_sizes(const StudiesLine& line, bench::StudySettings& settings) {
  const bool quick = line.quick;
  settings.mode_sizes = powers(256, quick ? 64 : 4, quick ? mib : 256 * mib);
  settings.launch_sizes =
      quick ? std::vector<uint64_t>{64, 1 * kib, 35 * kib, 150 * kib, 1 * mib} : launch_sizes(256 * mib);
  settings.engine_sizes = quick ? powers(64, 256, 4 * mib) : powers(64, 16, gib);
  settings.profile_sizes = quick ? powers(64 * kib, 16, mib) : powers(64 * kib, 16, 256 * mib);
  if (!quick) settings.profile_sizes.push_back(gib);
  settings.table_sizes = quick ? powers(kib, 64, 64 * kib) : powers(kib, 16, 16 * mib);
  settings.stage_sizes = quick ? std::vector<uint64_t>{1'000, 1'000'000, 10'000'000}
                               : std::vector<uint64_t>{1'000, 1'000'000, 10'000'000, 100'000'000, 1'000'000'000};
  settings.sum_counts = quick ? powers(1, 64, 4096) : powers(1, 64, 262'144);
  for (uint32_t threads = 64; threads <= 1024; threads += quick ? 192 : 32) settings.block_threads.push_back(threads);
  if (!line.largest) return;
  const uint64_t largest = parse_size("--largest", *line.largest);
  if (largest < kib) throw Failure(Exit::usage, fmt::format("--largest: {} is less than 1KiB", *line.largest));
  for (auto* sizes : {&settings.mode_sizes, &settings.launch_sizes, &settings.engine_sizes, &settings.profile_sizes,
                      &settings.table_sizes, &settings.stage_sizes}) {
    // Each table keeps its smallest.
    const uint64_t least = sizes->front();
    std::erase_if(*sizes, [&](uint64_t size) { return size > largest && size != least; });
  }
  std::erase_if(settings.sum_counts,
                [&](uint64_t count) { return count > 1 && 2 * count * bench::big_sum_bytes > largest; });
}

std::string own_path() {
  char path[PATH_MAX];
  const ssize_t length = readlink("/proc/self/exe", path, sizeof path);
  return length < 0 || length == sizeof path ? std::string() : std::string(path, static_cast<size_t>(length));
}

bench::StudySettings read_line(const StudiesLine& line, const Machine& machine) {
  bench::StudySettings settings;
  settings.studies = read_studies(line);
  read_sizes(line, settings);
  settings.threads = machine.machine.threads;
  settings.schedule.rounds = line.quick ? 3 : 5;
  settings.schedule.sample_seconds = line.quick ? 0.002 : 0.005;
  // Whatever is slow by design has a limit of its own.
  settings.schedule.limit_seconds = 60;
  settings.textbook_seconds = line.quick ? 0.05 : 0.5;
  if (line.rounds) settings.schedule.rounds = static_cast<uint32_t>(parse_number("--rounds", *line.rounds, 1, 1000));
  if (line.quick) settings.launch_rounds = 6;
  if (line.quick) settings.warm_seconds = 0.01;
  settings.big_sums = bench::big_sums_of_cuda();
  settings.stop = interrupt::requested;
  bench::find_mpi(settings, own_path(), line.quick);
  return settings;
}

// A folder in memory where it has room for the largest file three times.
std::string choose_folder(const StudiesLine& line, const bench::StudySettings& settings) {
  if (line.folder) {
    if (std::filesystem::is_directory(*line.folder)) return *line.folder;
    throw Failure(Exit::usage, fmt::format("--folder: '{}' is no folder", *line.folder));
  }
  struct statvfs state {};
  const uint64_t needed = 3 * settings.stage_sizes.back() + mib;
  const bool usable = statvfs(shared_memory, &state) == 0 && access(shared_memory, W_OK | X_OK) == 0;
  if (usable && uint64_t{state.f_bavail} * state.f_frsize >= needed) return shared_memory;
  const char* variable = std::getenv("TMPDIR");
  const std::string folder = variable != nullptr && *variable != '\0' ? variable : "/tmp";
  ui::notice(fmt::format("{} has no room for {}: the files go to '{}'", shared_memory, ui::size_text(needed), folder));
  return folder;
}

void look_for_gpus(bench::StudySettings& settings) {
  try {
    settings.gpus = bench::look_at_gpus({});
    settings.gpus.devices.resize(1);
  } catch (const std::runtime_error& reason) {
    // One that fails when it is asked what it is counts as none, and the rest is measured.
    settings.gpus = {};
    settings.no_gpu = reason.what();
  }
}

std::string about_text(const bench::StudySettings& settings) {
  return fmt::format(R"(
Medians of {} rounds in which all contenders take turns; each output was first compared with OpenSSL's or the CPU's. 12.3x: times
as fast as what the table names. ~12.3x: as textbook code would be, from its largest size that takes no longer than {} s.
n/a: not available here. -: not measured. Both have their reason below the table.
)",
                     settings.schedule.rounds, settings.textbook_seconds);
}

std::string studies_head(const Machine& machine, const bench::StudySettings& settings) {
  std::vector<std::pair<std::string, std::string>> lines = {{"peer", bench::peer_version() + ", EVP, same process"}};
  for (const bench::GpuDevice& device : settings.gpus.devices) {
    lines.emplace_back(fmt::format("gpu {}", device.number), device_text(device));
  }
  if (settings.gpus.devices.empty()) lines.emplace_back("gpu", "none: " + settings.no_gpu);
  lines.emplace_back("mpi", settings.run_mpi ? fmt::format("stockade-mpi, {}", plural(settings.threads, "rank"))
                                             : "none: " + settings.no_mpi);
  return head_text(machine, "bench studies", lines);
}

ordered_json report_json(const Machine& machine, const bench::StudySettings& settings) {
  ordered_json json = head_json(machine, "stockade-bench-studies/1");
  json["peer"] = bench::peer_version();
  json["gpus"] = gpus_json(settings.gpus);
  json["driver"] = {{"version", settings.gpus.driver}, {"cuda", settings.gpus.driver_cuda}};
  json["cuda"] = settings.gpus.cuda;
  json["settings"] = {{"studies", settings.studies},
                      {"rounds", settings.schedule.rounds},
                      {"launch_rounds", settings.launch_rounds},
                      {"sample_seconds", settings.schedule.sample_seconds},
                      {"textbook_seconds", settings.textbook_seconds},
                      {"threads", settings.threads},
                      {"folder", settings.folder},
                      {"no_gpu", settings.no_gpu},
                      {"no_mpi", settings.no_mpi}};
  json["results"] = ordered_json::array();
  return json;
}

void measure(const StudiesLine& line, const Machine& machine, const bench::StudySettings& settings) {
  ordered_json json = report_json(machine, settings);
  if (!line.json) ui::print(studies_head(machine, settings) + about_text(settings));
  ui::StatusLine status(ui::When::automatic);
  bench::StudyListener listener;
  listener.on_point = [&status](const std::string& point) {
    if (interrupt::requested()) throw Failure(Exit::interrupted, interrupt::message);
    if (status.due()) status.show("measuring " + point);
  };
  listener.on_table = [&](const bench::StudyTable& table) {
    status.clear();
    line.json ? append_json(json["results"], table) : ui::print(table_text(table));
  };
  listener.on_gains = [&](const std::vector<bench::LaunchGain>& gains) {
    status.clear();
    line.json ? void(json["gains"] = gains_json(gains)) : ui::print(gains_text(gains));
  };
  listener.on_ablation = [&](const bench::Ablation& ablation) {
    status.clear();
    line.json ? void(json["ablation"] = ablation_json(ablation)) : ui::print(ablation_text(ablation));
  };
  try {
    bench::run_studies(settings, listener);
  } catch (const bench::Mismatch& mismatch) {
    throw Failure(Exit::corrupt, mismatch.what(), {"these figures would be worth nothing; please report this"});
  }
  if (line.json) ui::print(ui::json_text(json));
}

void run_bench(const StudiesLine& line) {
  if (line.quiet) ui::set_verbosity(ui::Verbosity::quiet);
  const Machine machine = look_around();
  bench::StudySettings settings = read_line(line, machine);
  // Before the driver is asked for anything: it starts threads, and the folder has a second process to watch over it.
  std::optional<bench::ScratchFolder> scratch;
  if (std::find(settings.studies.begin(), settings.studies.end(), "s4") != settings.studies.end()) {
    scratch.emplace(choose_folder(line, settings));
    settings.folder = scratch->path();
  }
  look_for_gpus(settings);
  measure(line, machine, settings);
}

}  // namespace

void add_bench_studies(Command& bench) {
  Command& studies = bench.add("studies", "[OPTION ...]",
                               "The tables of five published studies of parallel AES and RSA, with what is here.");
  const auto line = std::make_shared<StudiesLine>();
  const char* group = "options";
  studies.option(group, "--only", "LIST", line->only, "studies, below; default all");
  studies.option(group, "--largest", "SIZE", line->largest, "leave out larger messages and files; default up to 1GiB");
  studies.option(group, "--folder", "FOLDER", line->folder,
                 "where s4 has its files; default /dev/shm, or TMPDIR if there is no room");
  studies.option(group, "--rounds", "N", line->rounds,
                 "turns of each contender, of which the median counts; default 5");
  studies.flag(group, "--quick", line->quick, "few and small sizes and short samples: some seconds");
  studies.flag(group, "--json", line->json, "as JSON; bench/README.md describes it");
  studies.flag("other options", "-q,--quiet", line->quiet, "nothing but the figures and errors");
  studies.footer(fmt::format(R"(the studies:
  s1  ECB and CTR from 256 B to 256 MiB: textbook code, one core, all cores, a GPU
  s2  threads per block of a GPU's kernels, and what the best of them gain
  s3  serial, threads, MPI, a GPU and OpenSSL; a GPU's copies and kernels; tables
  s4  the stages of a file: load, copy in, process, copy out, store
  s5  RSA layer by layer; sums of big numbers on a GPU and on the CPU

What is not there, a GPU or MPI, keeps its line, which says why. What has no room
in memory or in the folder, and textbook code on long messages, is left out.

examples:
  stockade bench studies --quick
  stockade bench studies --only s1,s3 --largest 64MiB
  stockade bench studies --json > $(hostname)-studies.json

The full run takes some minutes. Let the machine do nothing else meanwhile.

{})",
                             exit_status_help));
  studies.action([line] { run_bench(*line); });
}

}  // namespace stockade::cmd
