// stockade tune: measures what is best on this machine, and keeps it as the user's profile.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "bench/aes.h"
#include "bench/gpu.h"
#include "bench/scratch.h"
#include "bench/tune.h"
#include "bench/tune_profile.h"
#include "bench/tune_work.h"
#include "bench_machine.h"
#include "command_line.h"
#include "commit.h"
#include "exit_status.h"
#include "interrupt.h"
#include "stockade/stockade.h"
#include "ui.h"
#include "values.h"
#include "verbs.h"

namespace stockade::cmd {
namespace {

using Clock = std::chrono::steady_clock;

// A quick run is one that a person waits for: two minutes with the last point that it has begun.
constexpr double quick_seconds = 105;

struct TuneLine {
  std::optional<std::string> engines, operations, devices, largest, folder, output, profile;
  bool quick = false, full = false, dry_run = false, show = false, check = false, anew = false, built_in = false;
  bool json = false, quiet = false;
};

// ---- what is asked for ----

void check_line(const TuneLine& line) {
  const auto refuse = [](bool both, const char* a, const char* b) {
    if (both) throw Failure(Exit::usage, fmt::format("{} and {} exclude each other", a, b));
  };
  refuse(line.quick && line.full, "--quick", "--full");
  refuse(line.show && line.check, "--show", "--check");
  refuse(line.show && line.dry_run, "--show", "--dry-run");
  refuse(line.check && line.dry_run, "--check", "--dry-run");
  if (line.json && !line.show && !line.check) {
    throw Failure(Exit::usage, "--json belongs to --show and --check",
                  {"what a run that measures writes is the profile"});
  }
  refuse(line.show && line.output, "--show", "--output");
  refuse(line.check && line.output, "--check", "--output");
  if (line.built_in && !line.output) {
    throw Failure(Exit::usage, "--built-in needs --output",
                  {"it makes a profile for all machines of this class, such as a file in profiles/"});
  }
}

// Whether rows about the CPU, and about GPUs, are wanted.
struct Sides {
  bool cpu = true, gpus = true;
  bool gpus_by_name = false;
};

Sides read_engines(const TuneLine& line) {
  if (!line.engines) return {};
  Sides sides{false, false, false};
  for (const std::string& item : parse_list("--engine", *line.engines)) {
    if (item == "threads" || item == "serial" || item == "cpu") {
      sides.cpu = true;
    } else if (item == "cuda" || item == "hybrid") {
      sides.gpus = sides.gpus_by_name = true;
    } else {
      throw Failure(Exit::usage, fmt::format("--engine: '{}' is neither threads nor cuda", item));
    }
  }
  return sides;
}

// The GPUs that are of the same kind as the first: others would need a profile of their own.
std::vector<uint32_t> read_devices(const TuneLine& line, const Sides& sides) {
  if (!sides.gpus) return {};
  std::vector<uint32_t> numbers;
  for (const std::string& item : line.devices ? parse_list("--devices", *line.devices) : std::vector<std::string>{}) {
    numbers.push_back(static_cast<uint32_t>(parse_number("--devices", item, 0, 63)));
  }
  try {
    const bench::GpuMachine found = bench::look_at_gpus(numbers);
    numbers.clear();
    for (const bench::GpuDevice& device : found.devices) {
      if (device.name == found.devices[0].name) numbers.push_back(device.number);
    }
    return numbers;
  } catch (const bench::NoGpu& none) {
    if (sides.gpus_by_name || line.devices)
      throw Failure(Exit::unavailable, fmt::format("no GPU can be used: {}", none.what()));
    return {};
  }
}

std::vector<tune::Operation> read_operations(const TuneLine& line, const Sides& sides, bool gpus) {
  std::vector<tune::Operation> all;
  for (uint32_t i = 0; i < tune::operations; ++i) {
    const auto operation = static_cast<tune::Operation>(i);
    if (tune::on_gpu(operation) ? gpus : sides.cpu) all.push_back(operation);
  }
  if (!line.operations) return all;
  std::vector<std::string> names;
  for (const tune::Operation operation : all) names.emplace_back(name_of(operation));
  std::vector<tune::Operation> chosen;
  for (const std::string& item : parse_list("--operations", *line.operations)) {
    const auto found = std::find(names.begin(), names.end(), item);
    if (found == names.end()) {
      std::vector<std::string> hints = did_you_mean(item, names);
      hints.push_back("the operations here are " + listed(names));
      throw Failure(Exit::usage, fmt::format("--operations: unknown operation '{}'", item), hints);
    }
    chosen.push_back(all[static_cast<size_t>(found - names.begin())]);
  }
  std::sort(chosen.begin(), chosen.end());
  chosen.erase(std::unique(chosen.begin(), chosen.end()), chosen.end());
  return chosen;
}

uint64_t read_largest(const TuneLine& line) {
  // Input, output and what an operation needs beside, and as much again for everybody else.
  const uint64_t most = std::max<uint64_t>(available_memory() / 4, uint64_t{1} << 20);
  uint64_t wanted = line.full ? uint64_t{4} << 30 : uint64_t{64} << 20;
  if (line.largest) {
    wanted = parse_size("--largest", *line.largest);
    if (wanted < (uint64_t{1} << 20)) throw Failure(Exit::usage, "--largest: less than 1MiB");
    if (wanted > most) {
      ui::notice(fmt::format("--largest: {} do not fit into this machine's free memory; it is {} instead",
                             ui::size_text(wanted), ui::size_text(most)));
    }
  }
  uint64_t largest = uint64_t{1} << 20;
  while (largest * 2 <= std::min(wanted, most)) largest *= 2;
  return largest;
}

bench::TuneSettings read_settings(const TuneLine& line, const Machine& machine) {
  const Sides sides = read_engines(line);
  bench::TuneSettings settings;
  settings.full = line.full;
  settings.devices = read_devices(line, sides);
  settings.operations = read_operations(line, sides, !settings.devices.empty());
  // A check is about all of them.
  settings.by_name = line.operations || line.check;
  // Then rows about GPUs, of whatever kind, are none of its business.
  if (std::none_of(settings.operations.begin(), settings.operations.end(), tune::on_gpu)) settings.devices.clear();
  settings.threads = machine.machine.threads;
  settings.largest = read_largest(line);
  // Bytes from which on the best shape is the same.
  settings.largest_on_gpu = uint64_t{line.full ? 1024U : 256U} << 20;
  settings.largest_for_gpu = uint64_t{line.full ? 1024U : 256U} << 20;
  settings.schedule.rounds = line.full ? 9 : 4;
  settings.schedule.sample_seconds = line.full ? 0.005 : 0.0015;
  settings.schedule.limit_seconds = 5;
  settings.seconds = line.full ? 0 : quick_seconds;
  return settings;
}

// ---- measuring ----

std::string length_text(const bench::TunePoint& point) {
  const bool counts = point.operation == tune::Operation::rsa_private || point.operation == tune::Operation::rsa_public;
  return counts ? fmt::format("{} at a time", point.length) : ui::size_text(point.length);
}

std::string point_text(const bench::TunePoint& point) {
  return fmt::format("{}, {} bits, {}", name_of(point.operation), point.bits, length_text(point));
}

std::string duration_text(double seconds) {
  if (seconds < 90) return fmt::format("{:.0f} s", seconds);
  if (seconds < 5400) return fmt::format("{:.0f} min", seconds / 60);
  return fmt::format("{:.1f} h", seconds / 3600);
}

// A line about where it is, with the time that is left.
class Display {
 public:
  Display() : status_(ui::When::automatic), begun_(Clock::now()) {}
  void show(const bench::TuneProgress& progress) {
    if (interrupt::requested()) throw Failure(Exit::interrupted, interrupt::message);
    if (!status_.due()) return;
    const double gone = std::chrono::duration<double>(Clock::now() - begun_).count();
    std::string text = fmt::format("{:.0f} %  {}", 100 * progress.done, point_text(progress.point));
    if (progress.done > 0.02)
      text += fmt::format("  {} left", duration_text(gone / progress.done * (1 - progress.done)));
    status_.show(text);
  }
  void clear() { status_.clear(); }
  double seconds() const { return std::chrono::duration<double>(Clock::now() - begun_).count(); }

 private:
  ui::StatusLine status_;
  Clock::time_point begun_;
};

// Roughly: a core does some 8 bytes in a nanosecond, and an operation of RSA with 4096 bits in a millisecond.
double run_seconds(const bench::TuneSubject& subject, uint64_t length) {
  const double size = std::pow(subject.bits / 4096.0, 3);
  if (subject.operation == tune::Operation::rsa_private) return static_cast<double>(length) * 1e-3 * size;
  if (subject.operation == tune::Operation::rsa_public) return static_cast<double>(length) * 3e-5 * size;
  return static_cast<double>(length) / 8e9;
}

// A first look at each candidate, then the rounds of about half of them, each sample with a millisecond before it and some runs to
// find out how many it takes; and a team that falls asleep in each round.
double expected_seconds(const bench::TuneSettings& settings, const bench::TuneSubject& subject) {
  const double sample = settings.schedule.sample_seconds, rounds = settings.schedule.rounds, before = 0.001;
  const auto candidates = static_cast<double>(subject.candidates.size());
  const double look = candidates * (sample + 2 * before + 3 * sample);
  const double measured = candidates / 2 * (rounds * (sample + before) + 3 * sample);
  double seconds = 0;
  for (const uint64_t length : subject.lengths)
    seconds += look + measured + (2 + rounds) * 0.006 + 10 * candidates * run_seconds(subject, length);
  // Once more, and the points between two that differ.
  return 2.2 * seconds;
}

void show_plan(const bench::TuneSettings& settings, const std::string& path) {
  std::string out =
      fmt::format("{:<12}{:>5}  {:<30}{:>8}  {}\n", "operation", "bits", "lengths", "points", "candidates");
  double seconds = 0;
  for (const bench::TuneSubject& subject : bench::subjects(settings)) {
    const std::string lengths =
        fmt::format("{} to {}", length_text({subject.operation, subject.bits, subject.lengths.front()}),
                    length_text({subject.operation, subject.bits, subject.lengths.back()}));
    out += fmt::format("{:<12}{:>5}  {:<30}{:>8}  {}\n", name_of(subject.operation), subject.bits, lengths,
                       subject.lengths.size(), subject.candidates.size());
    seconds += expected_seconds(settings, subject);
  }
  ui::print(out + fmt::format("\nAt the longest length these are the candidates:\n"));
  std::map<std::string, std::string> shown;
  for (const bench::TuneSubject& subject : bench::subjects(settings)) {
    if (!shown.emplace(name_of(subject.operation), "").second) continue;
    std::string text = fmt::format("  {}\n", name_of(subject.operation));
    const size_t most = subject.candidates.size() > 24 ? 8 : subject.candidates.size();
    for (size_t i = 0; i < most; ++i) text += fmt::format("    {}\n", bench::choice_text(subject.candidates[i]));
    if (most < subject.candidates.size()) text += fmt::format("    and {} more\n", subject.candidates.size() - most);
    ui::print(text);
  }
  // A quick run goes on with the places where choices change.
  if (settings.seconds > 0) seconds = std::min(3 * seconds, settings.seconds);
  ui::print(fmt::format("\nNothing was measured. It would take about {} and write {}.\n", duration_text(seconds),
                        path.empty() ? "nothing: there is no folder for a profile" : "'" + ui::escaped(path) + "'"));
}

std::string date_of(const Machine& machine) { return machine.date.substr(0, 10); }

void say_how_noisy(const bench::TuneReport& report) {
  if (report.again == 0) return;
  ui::notice(fmt::format("the machine was busy: {} of {} were measured again, for longer", report.again,
                         plural(report.points, "point")));
  if (report.noisy == 0) return;
  ui::notice(
      fmt::format("{} had medians more than {:.0f} % above their fastest rounds all the same, the worst {:.0f} %: run "
                  "it again on a quieter machine",
                  plural(report.noisy, "point"), 100 * bench::too_noisy, 100 * report.worst_noise));
}

// Whether two profiles are for the same machines.
bool of_the_same(const bench::ProfileHead& a, const bench::ProfileHead& b) {
  return std::tie(a.fingerprint, a.needs, a.lacks, a.cores) == std::tie(b.fingerprint, b.needs, b.lacks, b.cores);
}

// Rows of the profile that is there about what was not measured now.
std::vector<bench::ProfileRow> rows_to_keep(const std::string& path, const bench::ProfileHead& head,
                                            const std::vector<bench::TuneOutcome>& outcomes) {
  std::vector<bench::ProfileRow> kept;
  try {
    const std::optional<bench::ProfileFile> before = bench::read_profile_file(path);
    if (!before) return kept;
    if (!of_the_same(before->head, head)) {
      ui::notice(fmt::format("'{}' is replaced: it was for other machines", path));
      return kept;
    }
    for (const bench::ProfileRow& row : before->rows) {
      const bool measured = std::any_of(outcomes.begin(), outcomes.end(), [&row](const bench::TuneOutcome& outcome) {
        return outcome.point.operation == row.row.operation;
      });
      // Of another GPU than the one that was measured now.
      const bool foreign = tune::on_gpu(row.row.operation) && !head.gpu.empty() && before->head.gpu != head.gpu;
      if (!measured && !foreign) kept.push_back(row);
    }
  } catch (const std::runtime_error& error) {
    ui::notice(fmt::format("'{}' is replaced: {}", path, error.what()));
  }
  return kept;
}

std::string gpu_before(const std::string& path) {
  try {
    const std::optional<bench::ProfileFile> before = bench::read_profile_file(path);
    return before ? before->head.gpu : std::string();
  } catch (const std::runtime_error&) {
    return {};
  }
}

std::string path_for(const TuneLine& line) {
  const std::string path = line.output ? *line.output : bench::user_profile_path();
  return path;
}

// What the library would do with it: files are encrypted there.
std::string folder_for_files(const TuneLine& line) { return line.folder ? *line.folder : "/dev/shm"; }

bool wants_files(const bench::TuneSettings& settings) {
  return std::find(settings.operations.begin(), settings.operations.end(), tune::Operation::files) !=
         settings.operations.end();
}

// What an interrupted run must have been about to be gone on with.
std::string description(const bench::TuneSettings& settings, const bench::ProfileHead& head, const TuneLine& line) {
  std::vector<std::string> names;
  for (const tune::Operation operation : settings.operations) names.emplace_back(name_of(operation));
  return fmt::format("{} {} {} {} {} {} {} {}", head.fingerprint.empty() ? "class" : head.fingerprint, built_from(),
                     settings.full ? "full" : "quick", settings.largest, settings.threads, head.gpu, joined(names, ","),
                     wants_files(settings) ? folder_for_files(line) : std::string());
}

// For files, if any are wanted. Before any call of the library that starts threads.
void make_folder(const TuneLine& line, bench::TuneSettings& settings, std::optional<bench::ScratchFolder>& scratch) {
  if (!wants_files(settings)) return;
  try {
    settings.folder = scratch.emplace(folder_for_files(line)).path();
  } catch (const std::runtime_error& error) {
    throw Failure(Exit::io, error.what(), {"--folder names another place for files"});
  }
  if (bench::make_tune_work(settings, tune::Operation::files, 256)->lengths().empty()) {
    ui::notice(fmt::format("there is no room for files in '{}': --folder names another place", folder_for_files(line)));
  }
}

// What is forced would be measured, and then count for runs that force nothing.
void refuse_forced_rows() {
  const char* const force = std::getenv("STOCKADE_FORCE");
  if (force == nullptr || force[0] == '\0') return;
  for (const std::string& item : parse_list("STOCKADE_FORCE", force)) {
    if (item.starts_with("engine:")) continue;
    throw Failure(Exit::usage, fmt::format("STOCKADE_FORCE: '{}' would be measured, not what is best", item),
                  {"tune without it; STOCKADE_MASK makes this another machine, with a profile of its own"});
  }
}

// A profile of a class is of one of processors or of one of GPUs: a machine may have either without the other.
void refuse_both_classes(const bench::TuneSettings& settings) {
  const auto& all = settings.operations;
  if (std::none_of(all.begin(), all.end(), tune::on_gpu) || std::all_of(all.begin(), all.end(), tune::on_gpu)) return;
  throw Failure(Exit::usage, "--built-in is about processors or about GPUs",
                {"add --engine threads or --engine cuda, and make a file for each"});
}

void measure(const TuneLine& line, const Machine& machine, bench::TuneSettings& settings) {
  const std::string path = path_for(line);
  if (path.empty()) {
    throw Failure(Exit::io, "there is no folder for a profile",
                  {"set HOME or XDG_CONFIG_HOME, or STOCKADE_PROFILE to a file's name other than 'none'"});
  }
  refuse_forced_rows();
  if (line.built_in) refuse_both_classes(settings);
  std::optional<bench::ScratchFolder> scratch;
  make_folder(line, settings, scratch);

  bench::ProfileHead head =
      bench::head_of_this_machine(settings.devices.empty() ? "" : bench::gpu_name(settings.devices[0]), line.built_in);
  std::optional<bench::PartialProfile> partial;
  try {
    bench::check_readable(head, date_of(machine), built_from());
    partial.emplace(path, description(settings, head, line), line.anew);
  } catch (const std::runtime_error& error) {
    throw Failure(
        Exit::io, error.what(),
        {"nothing was measured", "--output writes another file, and STOCKADE_PROFILE names one that is used"});
  }
  std::vector<bench::TuneOutcome> outcomes;
  for (const bench::ProfileRow& row : partial->rows()) {
    const bench::TuneOutcome outcome = bench::outcome_of(row);
    std::erase_if(outcomes, [&](const bench::TuneOutcome& before) { return before.point == outcome.point; });
    outcomes.push_back(outcome);
  }
  if (!outcomes.empty()) {
    ui::notice(fmt::format("going on with an interrupted run: {} already; --anew begins again",
                           plural(outcomes.size(), "point")));
  }
  const std::vector<bench::TuneOutcome> known = outcomes;
  interrupt::set_hint("what has been measured is kept: the same command goes on with it");
  Display display;
  const auto on_outcome = [&](const bench::TuneOutcome& outcome) {
    std::erase_if(outcomes, [&](const bench::TuneOutcome& before) { return before.point == outcome.point; });
    outcomes.push_back(outcome);
    partial->add(bench::row_of(outcome, head.machine, date_of(machine), built_from()));
    if (ui::verbose()) {
      display.clear();
      ui::note(
          fmt::format("{}: {}, {}{}", point_text(outcome.point), bench::choice_text(outcome.best),
                      bench::score_text(outcome.point.operation, outcome.score),
                      outcome.noise > bench::too_noisy ? fmt::format(" (noise {:.0f} %)", 100 * outcome.noise) : ""));
    }
  };
  const bench::TuneReport report = bench::run_tune(
      settings, known, [&](const auto& progress) { display.show(progress); }, on_outcome);
  display.clear();
  interrupt::set_hint(nullptr);

  std::vector<bench::ProfileRow> rows = rows_to_keep(path, head, outcomes);
  if (head.gpu.empty() && !rows.empty()) head.gpu = gpu_before(path);
  std::map<std::pair<tune::Operation, uint32_t>, std::vector<bench::TuneOutcome>> subjects;
  for (const bench::TuneOutcome& outcome : outcomes)
    subjects[{outcome.point.operation, outcome.point.bits}].push_back(outcome);
  for (const auto& [subject, points] : subjects) {
    for (const bench::TuneOutcome& outcome : bench::merge(points)) {
      rows.push_back(bench::row_of(outcome, head.machine, date_of(machine), built_from()));
    }
  }
  try {
    bench::write_profile_file(path, bench::text_of(head, rows));
  } catch (const std::runtime_error& error) {
    throw Failure(Exit::io, error.what(), {"what has been measured is kept beside it"});
  }
  partial->remove();
  say_how_noisy(report);
  ui::print(fmt::format("{}: {} from {} in {}\n", ui::escaped(path), plural(rows.size(), "row"),
                        plural(outcomes.size(), "point"), duration_text(display.seconds())));
  if (!line.output && bench::user_profile_path() == path) ui::note("'stockade tune --show' explains it");
}

// ---- showing ----

// "2 threads, output around the caches"
std::string words(const tune::Choice& choice) {
  std::vector<std::string> parts;
  switch (choice.runner) {
    case tune::Runner::serial:
      parts.emplace_back("one thread");
      break;
    case tune::Runner::threads:
      parts.push_back(choice.workers == 0 || choice.workers == tune::all_workers
                          ? std::string("all threads")
                          : fmt::format("{} threads", choice.workers));
      break;
    case tune::Runner::cuda:
      parts.emplace_back("GPUs");
      break;
    case tune::Runner::hybrid:
      parts.emplace_back("GPUs and cores together");
      break;
    case tune::Runner::unsaid:
      break;
  }
  if (choice.share != 0) parts.push_back(fmt::format("{} for each", ui::size_text(choice.share)));
  if (choice.stores == tune::Stores::streaming) parts.emplace_back("output around the caches");
  if (choice.batch > 1) parts.push_back(fmt::format("{} runs as one", choice.batch));
  if (choice.row[0] != '\0') parts.push_back(fmt::format("row {}", choice.row));
  if (choice.layers == tune::Layers::halves) parts.emplace_back("two threads for each operation");
  if (choice.threads != 0) parts.push_back(fmt::format("{} threads a block", choice.threads));
  if (choice.blocks != 0) parts.push_back(fmt::format("{} of 16 bytes a thread", choice.blocks));
  if (choice.per_multiprocessor != 0) parts.push_back(fmt::format("{} a multiprocessor", choice.per_multiprocessor));
  if (choice.lanes != 0)
    parts.push_back(fmt::format("{} transfers of {} in flight", choice.lanes, ui::size_text(choice.run_bytes)));
  return joined(parts, ", ");
}

nlohmann::ordered_json row_json(const bench::ProfileRow& row) {
  return {{"operation", name_of(row.row.operation)},
          {"bits", row.row.bits},
          {"from", row.row.from},
          {"choice", bench::choice_text(row.row.choice)},
          {"score", row.score},
          {"runner_up", row.runner_up},
          {"machine", row.machine},
          {"date", row.date},
          {"commit", row.commit}};
}

void show_file(const bench::ProfileFile& file, const std::string& what) {
  std::string out =
      fmt::format("{}: {}, measured on {}\n", what, ui::escaped(file.path), ui::escaped(file.head.machine));
  const bench::ProfileRow* before = nullptr;
  for (const bench::ProfileRow& row : file.rows) {
    const bool first =
        before == nullptr || before->row.operation != row.row.operation || before->row.bits != row.row.bits;
    if (first) out += fmt::format("\n{}, keys of {} bits\n", name_of(row.row.operation), row.row.bits);
    out += fmt::format("  from {}: {}\n", length_text({row.row.operation, row.row.bits, row.row.from}),
                       words(row.row.choice));
    std::string reason = row.score;
    const bench::TuneOutcome outcome = bench::outcome_of(row);
    if (outcome.next_score > 0) {
      reason += fmt::format(", {:.2f} times the next best ({}: {})", outcome.score / outcome.next_score,
                            words(outcome.next), bench::score_text(row.row.operation, outcome.next_score));
    }
    out +=
        fmt::format("    {}; line {}, {}, {}\n", reason, row.row.line, ui::escaped(row.date), ui::escaped(row.commit));
    before = &row;
  }
  ui::print(out);
}

void show(const TuneLine& line) {
  stockade_experience experience{};
  if (const stockade_status status = stockade_experience_get(&experience); status != STOCKADE_OK)
    throw environment_failure(status);
  nlohmann::ordered_json json{{"schema", "stockade-experience/1"},     {"path", experience.path},
                              {"fingerprint", experience.fingerprint}, {"user", nlohmann::ordered_json()},
                              {"problem", nlohmann::ordered_json()},   {"built_in", nlohmann::ordered_json()}};
  std::vector<std::pair<std::string, bench::ProfileFile>> files;
  if (experience.user != nullptr) {
    if (auto file = bench::read_profile_file(experience.path)) files.emplace_back("user", std::move(*file));
  }
  if (experience.built_in != nullptr) {
    if (auto file = bench::built_in_profile(experience.built_in)) files.emplace_back("built_in", std::move(*file));
  }
  if (line.json) {
    if (experience.problem != nullptr) json["problem"] = experience.problem;
    for (const auto& [what, file] : files) {
      json[what] = {{"name", file.name}, {"machine", file.head.machine}, {"rows", nlohmann::ordered_json::array()}};
      for (const bench::ProfileRow& row : file.rows) json[what]["rows"].push_back(row_json(row));
    }
    return ui::print(ui::json_text(json));
  }
  if (experience.user == nullptr) {
    ui::print(experience.path[0] == '\0' ? "There is no profile of yours.\n"
              : experience.problem != nullptr
                  ? fmt::format("Your profile '{}' is not used.\n", ui::escaped(experience.path))
                  : fmt::format("There is no profile of yours: 'stockade tune' would write '{}'.\n",
                                ui::escaped(experience.path)));
  }
  for (const auto& [what, file] : files) {
    show_file(file, what == "user"               ? "Your profile"
                    : experience.user != nullptr ? "\nFor what yours does not know, built in"
                                                 : "Built in for machines like this");
  }
  if (files.empty()) {
    ui::print("Nothing is built in for machines like this: a message is split where each thread has 32 KiB of it.\n");
  }
}

// ---- checking ----

void check(const TuneLine& line, const Machine& machine, bench::TuneSettings& settings) {
  std::optional<bench::ScratchFolder> scratch;
  make_folder(line, settings, scratch);
  nlohmann::ordered_json json = head_json(machine, "stockade-tune-check/1");
  stockade_experience experience{};
  stockade_experience_get(&experience);
  json["experience"] = {{"user", experience.user == nullptr ? nlohmann::ordered_json() : experience.user},
                        {"built_in", experience.built_in == nullptr ? nlohmann::ordered_json() : experience.built_in}};
  json["results"] = nlohmann::ordered_json::array();
  if (!line.json) {
    ui::print(head_text(machine, "tune --check",
                        {{"profile", experience.user != nullptr ? experience.user : "no user's profile"},
                         {"built in", experience.built_in != nullptr ? experience.built_in : "none for this class"}}));
    ui::print(fmt::format("\n{:<12}{:>5}{:>14}{:>12}{:>12}{:>8}  {}\n", "operation", "bits", "length", "auto", "best",
                          "ratio", "best single choice"));
  }
  Display display;
  uint64_t points = 0, failed = 0;
  double worst = 10;
  bench::check_tune(
      settings, [&](const auto& progress) { display.show(progress); },
      [&](const bench::TuneCheck& found) {
        display.clear();
        ++points;
        failed += found.holds ? 0 : 1;
        worst = std::min(worst, found.ratio);
        if (line.json) {
          json["results"].push_back({{"operation", name_of(found.point.operation)},
                                     {"bits", found.point.bits},
                                     {"length", found.point.length},
                                     {"automatic", found.automatic},
                                     {"best", bench::choice_text(found.best)},
                                     {"best_score", found.best_score},
                                     {"serial_score", or_null(found.serial_score)},
                                     {"ratio", found.ratio},
                                     {"holds", found.holds}});
          return;
        }
        ui::print(fmt::format("{:<12}{:>5}{:>14}{:>12}{:>12}{:>8.3f}  {}{}\n", name_of(found.point.operation),
                              found.point.bits, length_text(found.point),
                              bench::score_text(found.point.operation, found.automatic),
                              bench::score_text(found.point.operation, found.best_score), found.ratio,
                              bench::choice_text(found.best), found.holds ? "" : "   <- slower"));
      });
  display.clear();
  json["points"] = points;
  json["failed"] = failed;
  if (line.json) {
    ui::print(ui::json_text(json));
  } else {
    ui::print(fmt::format("\n{}, the worst at {:.3f} of the best single choice; {} under 0.95\n",
                          plural(points, "point"), worst, failed));
  }
  if (failed != 0) {
    throw Failure(
        Exit::io,
        fmt::format("auto is more than 5 % slower than the best single choice at {}", plural(failed, "point")),
        {"'stockade tune' measures this machine anew"});
  }
}

void run_tune(const TuneLine& line) {
  if (line.quiet) ui::set_verbosity(ui::Verbosity::quiet);
  check_line(line);
  if (line.show) return show(line);
  const Machine machine = look_around();
  bench::TuneSettings settings = read_settings(line, machine);
  if (settings.operations.empty()) throw Failure(Exit::usage, "there is nothing to measure");
  if (line.dry_run) {
    settings.folder = folder_for_files(line);
    return show_plan(settings, path_for(line));
  }
  try {
    if (line.check) return check(line, machine, settings);
    measure(line, machine, settings);
  } catch (const bench::Mismatch& mismatch) {
    throw Failure(Exit::corrupt, mismatch.what(), {"nothing was kept of this; please report it"});
  }
}

}  // namespace

void add_tune(Command& root) {
  Command& tune =
      root.add("tune", "[--quick|--full] [OPTION ...]", "Measures what is quickest on this machine, for later runs.");
  const auto line = std::make_shared<TuneLine>();
  const char* group = "options";
  tune.flag(group, "--quick", line->quick, "few lengths and key sizes: within two minutes (the default)");
  tune.flag(group, "--full", line->full, "all of them, and every candidate: up to an hour");
  tune.option(group, "--engine", "LIST", line->engines,
              "threads: rows about the CPU; cuda: rows about GPUs; default both");
  tune.option(group, "--operations", "LIST", line->operations, "such as ctr,gcm,rsa-private; default all");
  tune.option(group, "--devices", "LIST", line->devices, "GPUs by number, such as 0,1; default all");
  tune.option(group, "--largest", "SIZE", line->largest,
              "of a message in memory; default 64MiB, with --full 4GiB, if it fits");
  tune.option(group, "--folder", "FOLDER", line->folder, "where files are made and removed again; default /dev/shm");
  tune.option(group, "-o,--output", "FILE", line->output, "write this profile instead of the user's");
  tune.flag(group, "--built-in", line->built_in, "a profile for all machines of this class, as they are built in");
  tune.flag(group, "--anew", line->anew, "do not go on with a run that was interrupted");
  tune.flag(group, "--dry-run", line->dry_run, "only say what would be measured");
  tune.flag("instead of measuring anew", "--show", line->show, "explain each choice that is known");
  tune.flag("instead of measuring anew", "--check", line->check,
            "compare what is chosen with every single way, at sizes between those that were tuned");
  tune.flag("instead of measuring anew", "--json", line->json, "with --show and --check: as JSON");
  tune.flag("other options", "-q,--quiet", line->quiet, "nothing but results and errors");
  tune.footer(
      fmt::format(R"(The profile is one for this machine, its cores and instruction sets; 'stockade info' and --show
say which is in use. STOCKADE_PROFILE=FILE names another, STOCKADE_PROFILE=none does without any.
What is chosen changes speed only, never a result; --engine and STOCKADE_FORCE stand above it.
Ctrl-C keeps what has been measured, and the same command goes on with it.

examples:
  stockade tune
  stockade tune --show
  stockade tune --check
  stockade tune --full --engine threads --operations gcm,files

Let the machine do nothing else meanwhile.

{})",
                  exit_status_help));
  tune.action([line] { run_tune(*line); });
}

}  // namespace stockade::cmd
