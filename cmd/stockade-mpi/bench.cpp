// stockade-mpi bench: the benchmark of bench/mpi.cpp as tables or as JSON, and what its model says of many ranks.
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "bench/mpi.h"
#include "cmd/stockade/bench_machine.h"
#include "cmd/stockade/cipher_names.h"
#include "cmd/stockade/command_line.h"
#include "cmd/stockade/exit_status.h"
#include "cmd/stockade/interrupt.h"
#include "cmd/stockade/ui.h"
#include "cmd/stockade/values.h"
#include "verbs.h"

namespace stockade::cmd {
namespace {

using bench::MpiFit;
using bench::MpiForm;
using bench::MpiPoint;
using bench::MpiReport;
using nlohmann::ordered_json;

struct BenchLine {
  std::optional<std::string> cipher, only, ranks, threads, sizes, folder, rounds, per_machine;
  bool quick = false, json = false, quiet = false;
};

// For which the model is asked.
constexpr double predicted_ranks[] = {64, 1024, 16384};
constexpr double predicted_strong = 0x1p40, predicted_strong_root = 0x1p30, predicted_weak = 0x1p30;

constexpr MpiForm all_forms[] = {MpiForm::distributed, MpiForm::root, MpiForm::file, MpiForm::device};

std::vector<MpiForm> read_forms(const BenchLine& line) {
  if (!line.only) return {MpiForm::distributed, MpiForm::root, MpiForm::file};
  std::vector<std::string> names;
  for (const MpiForm form : all_forms) names.emplace_back(form_name(form));
  std::vector<MpiForm> forms;
  for (const std::string& name : parse_list("--only", *line.only)) {
    const auto found = std::find(names.begin(), names.end(), name);
    if (found == names.end()) {
      std::vector<std::string> hints = did_you_mean(name, names);
      hints.push_back("the questions are " + listed(names));
      throw Failure(Exit::usage, fmt::format("--only: unknown question '{}'", name), hints);
    }
    forms.push_back(all_forms[found - names.begin()]);
  }
  return forms;
}

std::vector<uint32_t> read_numbers(const char* what, const std::optional<std::string>& text, uint64_t most) {
  std::vector<uint32_t> numbers;
  if (!text) return numbers;
  for (const std::string& number : parse_list(what, *text)) {
    numbers.push_back(static_cast<uint32_t>(parse_number(what, number, 1, most)));
  }
  return numbers;
}

std::vector<uint64_t> read_sizes(const BenchLine& line) {
  if (!line.sizes) {
    if (line.quick) return {uint64_t{64} << 10, uint64_t{4} << 20, uint64_t{32} << 20};
    return {uint64_t{64} << 10, uint64_t{1} << 20, uint64_t{16} << 20, uint64_t{256} << 20};
  }
  std::vector<uint64_t> sizes;
  for (const std::string& text : parse_list("--sizes", *line.sizes)) {
    sizes.push_back(parse_size("--sizes", text));
    if (sizes.back() >= 1 << 10 && sizes.back() <= uint64_t{1} << 30) continue;
    throw Failure(Exit::usage, fmt::format("--sizes: {} is not within 1KiB and 1GiB", text));
  }
  return sizes;
}

std::string choose_folder(const BenchLine& line) {
  const char* const shared_memory = "/dev/shm";
  if (line.folder) return *line.folder;
  if (access(shared_memory, W_OK | X_OK) == 0) return shared_memory;
  const char* const variable = std::getenv("TMPDIR");
  return variable != nullptr && *variable != '\0' ? variable : "/tmp";
}

bench::MpiCipher read_cipher(const BenchLine& line) {
  if (!line.cipher) return {};
  const Cipher& cipher = parse_cipher(*line.cipher);
  if (cipher.mode == STOCKADE_GCM || cipher.mode == STOCKADE_CTR || cipher.mode == STOCKADE_ECB) {
    return {cipher.name, cipher.mode, cipher.bits};
  }
  throw Failure(Exit::usage, fmt::format("--cipher: {} is no cipher of messages over ranks", cipher.name),
                {"these are GCM, CTR and ECB, such as aes-128-ctr"});
}

bench::MpiSettings read_line(const BenchLine& line) {
  constexpr uint32_t most_ranks = 1 << 20, most_threads = 4096;
  bench::MpiSettings settings;
  settings.forms = read_forms(line);
  settings.ranks = read_numbers("--ranks", line.ranks, most_ranks);
  settings.threads = read_numbers("--threads", line.threads, most_threads);
  settings.sizes = read_sizes(line);
  settings.cipher = read_cipher(line);
  settings.folder = choose_folder(line);
  settings.rounds = line.quick ? 3 : 7;
  if (line.rounds) settings.rounds = static_cast<uint32_t>(parse_number("--rounds", *line.rounds, 1, 1000));
  settings.stop = interrupt::requested;
  return settings;
}

void check_ranks(Ranks& ranks, const std::vector<uint32_t>& counts) {
  ranks.everywhere([&] {
    for (const uint32_t count : counts) {
      if (count <= ranks.size()) continue;
      throw Failure(Exit::usage, fmt::format("--ranks: {} are asked for, and {} were started", count, ranks.size()));
    }
  });
}

std::string rate_of(double bytes, double seconds) { return seconds > 0 ? figure(bytes / seconds / 1e9) : "-"; }

std::string percent(double share) { return share > 0 ? fmt::format("{:.0f} %", share * 100) : "-"; }

std::string title_of(MpiForm form, const std::string& cipher) {
  switch (form) {
    case MpiForm::distributed:
      return "distributed: " + cipher + " of one message of which each rank has a piece in memory";
    case MpiForm::root:
      return "root: " + cipher + " of one message in the memory of rank 0, which sends pieces and gets them back";
    case MpiForm::device:
      return "device: AES-128-CTR of a message in the memory of each rank's GPU";
    default:
      return "file: a Stockade file made of a file, in slices that ranks take as they are free";
  }
}

std::string point_text(const MpiPoint& point) {
  const auto bytes = static_cast<double>(point.bytes);
  return fmt::format("{:>6} {:>5} {:>7} {:>11} {:>10} {:>8} {:>8} {:>8} {:>8} {:>9} {:>8} {}\n",
                     point.weak ? "weak" : "strong", point.ranks, point.threads, ui::size_text(point.bytes),
                     time_text(point.seconds), rate_of(bytes, point.seconds),
                     point.speedup > 0 ? figure(point.speedup) : "-", percent(point.efficiency), percent(point.in_mpi),
                     rate_of(bytes, point.copy_seconds), rate_of(bytes, point.moving_seconds),
                     point.oversubscribed ? "more threads than cores" : "");
}

std::string links_text(const bench::MpiLinks& links) {
  std::string text;
  if (links.latency > 0) {
    text += fmt::format("an empty message takes {}, 4 MiB move at {} GB/s; ", time_text(links.latency),
                        figure(links.bandwidth / 1e9));
  }
  return text + fmt::format("all agree in {}, 512 bytes reach all in {}, a number of the shared counter takes {}",
                            time_text(links.agreement), time_text(links.broadcast), time_text(links.number));
}

std::string tables_text(const MpiReport& report, const bench::MpiSettings& settings) {
  std::string text;
  for (const MpiForm form : settings.forms) {
    text += fmt::format("\n{}\n", title_of(form, settings.cipher.name));
    if (form == MpiForm::file) text += fmt::format("files in '{}'\n", settings.folder);
    text += fmt::format("{:>6} {:>5} {:>7} {:>11} {:>10} {:>8} {:>8} {:>8} {:>8} {:>9} {:>8}\n", "", "ranks", "threads",
                        "bytes", "time", "GB/s", "speed-up", "effic.", "in MPI", "copy GB/s", "MPI GB/s");
    for (const MpiPoint& point : report.points) {
      if (point.form == form) text += point_text(point);
    }
  }
  return text;
}

// A guess that the model makes.
struct Prediction {
  bool weak;
  double ranks, machines, bytes, seconds, efficiency;
};

class Forecast {
 public:
  Forecast(const MpiReport& report, const MpiFit& fit, uint32_t per_machine) : report_(report), fit_(fit) {
    per_machine_ = per_machine > 0 ? per_machine : std::max(1u, report.cores / fit.threads);
  }

  std::vector<Prediction> all() const {
    std::vector<Prediction> predictions;
    const bool root = fit_.form == MpiForm::root;
    for (const bool weak : {false, true}) {
      if (weak && root) continue;
      const double one = weak ? predicted_weak : root ? predicted_strong_root : predicted_strong;
      for (const double ranks : predicted_ranks) predictions.push_back(predict(weak, ranks, weak ? one * ranks : one));
    }
    return predictions;
  }

  std::vector<std::string> assumptions() const;

 private:
  Prediction predict(bool weak, double ranks, double bytes) const {
    const double machines =
        fit_.form == MpiForm::distributed ? std::max(1.0, ranks / static_cast<double>(per_machine_)) : 1;
    const double seconds = fit_.model.seconds(ranks, bytes, machines);
    const double alone = fit_.model.seconds(1, weak ? bytes / ranks : bytes, 1);
    return {weak, ranks, machines, bytes, seconds, weak ? alone / seconds : alone / seconds / ranks};
  }

  const MpiReport& report_;
  const MpiFit& fit_;
  uint32_t per_machine_;
};

std::vector<std::string> Forecast::assumptions() const {
  const bench::MpiCosts& costs = fit_.model.costs;
  std::vector<std::string> lines;
  uint32_t most = 1;
  for (const MpiPoint& point : report_.points) {
    if (!point.oversubscribed && point.form == fit_.form) most = std::max(most, point.ranks);
  }
  lines.push_back(fmt::format("all ranks have cores like those here, {} each, and find them idle", fit_.threads));
  const std::string step = time_text(costs.step);
  lines.push_back(
      fit_.form == MpiForm::root
          ? fmt::format("each further rank costs {}, as here; another network has another figure", step)
          : fmt::format("each doubling of the ranks costs {}, as here; another network has another figure", step));
  if (costs.shared == 0) {
    lines.push_back(fmt::format("nothing that ranks share is a limit: none was seen with {}", plural(most, "rank")));
  } else if (fit_.form == MpiForm::distributed) {
    lines.push_back(fmt::format("the {} ranks of a machine share what its memory gives, {} GB/s of messages here",
                                per_machine_, figure(1 / costs.shared / 1e9)));
  } else {
    lines.push_back(fmt::format("all bytes pass {}, at {} GB/s as here, however many ranks there are",
                                fit_.form == MpiForm::root ? "rank 0" : "one file system",
                                figure(1 / costs.shared / 1e9)));
  }
  lines.push_back(fmt::format("what was seen with up to {} goes on as it began; the start of MPI is not counted",
                              plural(most, "rank")));
  return lines;
}

std::string rate_text_of(double seconds_per_byte) {
  return seconds_per_byte > 0 ? figure(1 / seconds_per_byte / 1e9) + " GB/s" : "no limit";
}

std::string fit_text(const MpiReport& report, const MpiFit& fit, uint32_t per_machine) {
  const bench::MpiModel& model = fit.model;
  std::string text = fmt::format("\nmodel of {} with {} per rank, fitted to {}\n", form_name(fit.form),
                                 plural(fit.threads, "thread"), plural(model.samples, "point"));
  text += fmt::format("  {} for a run, {} for each {}, {} for each rank, {} for what ranks share\n",
                      time_text(model.costs.base), time_text(model.costs.step),
                      model.steps == bench::MpiSteps::tree ? "doubling of the ranks" : "further rank",
                      rate_text_of(model.costs.own), rate_text_of(model.costs.shared));
  text += fmt::format("  it misses the points that it was fitted to by {:.0f} % on average, by {:.0f} % at the worst\n",
                      model.mean_error * 100, model.worst_error * 100);
  const Forecast forecast(report, fit, per_machine);
  for (const Prediction& guess : forecast.all()) {
    text += fmt::format("  {:>6} {:>6.0f} ranks {:>12} {:>10} {:>9} GB/s, efficiency {:>5}\n",
                        guess.weak ? "weak" : "strong", guess.ranks, ui::size_text(static_cast<uint64_t>(guess.bytes)),
                        time_text(guess.seconds), rate_of(guess.bytes, guess.seconds), percent(guess.efficiency));
  }
  for (const std::string& line : forecast.assumptions()) text += fmt::format("  assumed: {}\n", line);
  return text;
}

ordered_json point_json(const MpiPoint& point) {
  const auto bytes = static_cast<double>(point.bytes);
  return {{"form", form_name(point.form)},
          {"scaling", point.weak ? "weak" : "strong"},
          {"ranks", point.ranks},
          {"threads", point.threads},
          {"machines", point.machines},
          {"bytes", point.bytes},
          {"oversubscribed", point.oversubscribed},
          {"seconds_median", point.seconds},
          {"seconds_low", point.low},
          {"seconds_high", point.high},
          {"gigabytes_per_second", bytes / point.seconds / 1e9},
          {"speedup", or_null(point.speedup)},
          {"efficiency", or_null(point.efficiency)},
          {"share_in_mpi", point.in_mpi},
          {"copy_seconds", point.copy_seconds},
          {"moving_seconds", or_null(point.moving_seconds)}};
}

ordered_json fit_json(const MpiReport& report, const MpiFit& fit, uint32_t per_machine) {
  const bench::MpiModel& model = fit.model;
  const Forecast forecast(report, fit, per_machine);
  ordered_json json = {{"form", form_name(fit.form)},
                       {"threads", fit.threads},
                       {"points", model.samples},
                       {"seconds_base", model.costs.base},
                       {"steps", model.steps == bench::MpiSteps::tree ? "log2(ranks)" : "ranks - 1"},
                       {"seconds_per_step", model.costs.step},
                       {"seconds_per_byte_of_a_rank", model.costs.own},
                       {"seconds_per_byte_shared", model.costs.shared},
                       {"error_mean", model.mean_error},
                       {"error_worst", model.worst_error},
                       {"assumptions", forecast.assumptions()},
                       {"predictions", ordered_json::array()}};
  for (const Prediction& guess : forecast.all()) {
    json["predictions"].push_back({{"scaling", guess.weak ? "weak" : "strong"},
                                   {"ranks", guess.ranks},
                                   {"machines", guess.machines},
                                   {"bytes", guess.bytes},
                                   {"seconds", guess.seconds},
                                   {"efficiency", guess.efficiency}});
  }
  return json;
}

ordered_json report_json(const Machine& machine, const MpiReport& report, const bench::MpiSettings& settings,
                         uint32_t per_machine) {
  ordered_json json = head_json(machine, "stockade-bench-mpi/1");
  json["mpi"] = {{"library", stockade_mpi_library()},
                 {"ranks", report.ranks},
                 {"machines", report.machines},
                 {"ranks_per_machine", report.ranks_per_machine},
                 {"cores", report.cores},
                 {"message_seconds", or_null(report.links.latency)},
                 {"message_bytes_per_second", or_null(report.links.bandwidth)},
                 {"agreement_seconds", report.links.agreement},
                 {"broadcast_seconds", report.links.broadcast},
                 {"counter_seconds", report.links.number}};
  json["settings"] = {{"rounds", settings.rounds}, {"folder", settings.folder}, {"cipher", settings.cipher.name}};
  json["results"] = ordered_json::array();
  for (const MpiPoint& point : report.points) json["results"].push_back(point_json(point));
  json["models"] = ordered_json::array();
  for (const MpiFit& fit : report.fits) json["models"].push_back(fit_json(report, fit, per_machine));
  return json;
}

void print_report(const BenchLine& line, const Machine& machine, const MpiReport& report,
                  const bench::MpiSettings& settings, uint32_t per_machine) {
  if (line.json) return ui::print(ui::json_text(report_json(machine, report, settings, per_machine)));
  std::string text = head_text(machine, "bench mpi", {{"mpi", stockade_mpi_library()}});
  text += fmt::format("{:<10}{} on {}, {} here\n", "ranks", report.ranks, plural(report.machines, "machine"),
                      plural(report.cores, "core"));
  text += fmt::format("{:<10}{}\n", "links", links_text(report.links));
  text += tables_text(report, settings);
  for (const MpiFit& fit : report.fits) text += fit_text(report, fit, per_machine);
  ui::print(text);
}

void run_bench(Session& session, const BenchLine& line) {
  ui::set_verbosity(line.quiet, false);
  bench::MpiSettings settings = read_line(line);
  constexpr uint64_t most_per_machine = 1 << 16;
  const auto per_machine = static_cast<uint32_t>(
      line.per_machine ? parse_number("--per-machine", *line.per_machine, 1, most_per_machine) : 0);
  session.run([&](Ranks& ranks) {
    check_ranks(ranks, settings.ranks);
    Machine machine;
    ranks.on_first([&] { machine = look_around(); });
    ui::StatusLine status(ui::When::automatic);
    settings.on_turn = [&](const std::string& text) {
      if (status.due()) status.show(text);
    };
    const MpiReport report = bench::measure_mpi(settings);
    status.clear();
    ranks.on_first([&] { print_report(line, machine, report, settings, per_machine); });
  });
}

constexpr char help_text[] = R"(what is measured:
  Strong scaling has the same bytes whatever the number of ranks, weak scaling so many
  for each of them. The ranks of a point are the first of those that were started; the
  others sleep meanwhile. Each rank is pinned to cores of its own as far as there are
  enough. In turns with every point the same bytes are moved without encryption:
  'copy' in memory or from file to file, 'MPI' from rank 0 to all and back.

the model:
  seconds = base + step x log2(ranks) + bytes of a rank x own + bytes x shared, and
  with 'root' ranks - 1 instead of the logarithm; fitted by least squares of relative
  errors to the points with no more threads than cores. It says what 64, 1,024 and
  16,384 ranks would take, on what assumptions, and how far it misses what was measured.

examples:
  mpirun -n 4 stockade-mpi bench --quick
  srun -N 8 -n 64 stockade-mpi bench --folder /scratch --json > mpi.json
)";

}  // namespace

void add_bench(Command& root, Session& session) {
  root.add("bench", "[OPTION ...]",
           "Measures how work scales over ranks and threads, and says what many ranks would do.")
      .when_named([&session](Command& command) {
        const auto line = std::make_shared<BenchLine>();
        const char* what = "what";
        command.option(what, "--only", "LIST", line->only,
                       "of distributed, root, file and device, which is GPUs; default the first three");
        command.option(what, "--cipher", "NAME", line->cipher,
                       "of distributed and root: GCM, CTR or ECB; default aes-256-gcm");
        command.option(what, "--ranks", "LIST", line->ranks, "such as 1,2,4; default 1, doubled up to all, and all");
        command.option(what, "--threads", "LIST", line->threads,
                       "of each rank; default 1, doubled as far as there are cores");
        command.option(what, "--sizes", "LIST", line->sizes, "bytes, such as 1MiB,256MiB; at most 1GiB");
        command.option(what, "--folder", "DIR", line->folder, "for files, seen by all ranks; default /dev/shm");
        command.option(what, "--rounds", "N", line->rounds, "of which the median counts; default 7, with --quick 3");
        command.option(what, "--per-machine", "N", line->per_machine,
                       "ranks on each machine of a prediction; default what has room on this one");
        command.flag(what, "--quick", line->quick, "smaller and fewer");
        command.flag("other options", "--json", line->json, "as JSON, which bench/README.md describes");
        command.flag("other options", "-q,--quiet", line->quiet, "no progress");
        command.footer(fmt::format("{}\n{}", help_text, exit_status_help));
        command.action([line, &session] { run_bench(session, *line); });
      });
}

}  // namespace stockade::cmd
