// stockade bench compare: which times of one run differ from those of another.
#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "bench/compare.h"
#include "bench_machine.h"
#include "command_line.h"
#include "exit_status.h"
#include "ui.h"
#include "values.h"
#include "verbs.h"

namespace stockade::cmd {
namespace {

using bench::Comparison;
using bench::Difference;
using nlohmann::ordered_json;

struct CompareLine {
  std::vector<std::string> files;
  std::optional<std::string> threshold;
  bool json = false;
};

constexpr double usual_threshold = 0.05, largest_threshold = 10;
constexpr size_t time_width = 11, share_width = 10;

// A share of one.
double read_threshold(const CompareLine& line) {
  if (!line.threshold) return usual_threshold;
  const std::string& text = *line.threshold;
  double percent = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), percent);
  if (error != std::errc() || end != text.data() + text.size() ||
      !(percent >= 0 && percent / 100 <= largest_threshold)) {
    throw Failure(Exit::usage, fmt::format("--threshold: '{}' is not a number from 0 to 1000", text));
  }
  return percent / 100;
}

// What bench/README.md calls `collected`, or "".
std::string commit_of(const bench::ResultFile& file) {
  const ordered_json collected = file.json.value("collected", ordered_json::object());
  if (!collected.is_object()) return "";
  const ordered_json commit = collected.value("commit", ordered_json());
  return commit.is_string() ? commit.get<std::string>() : "";
}

std::string text_of(const ordered_json& holder, const char* name) {
  const ordered_json value = holder.value(name, ordered_json());
  return value.is_string() ? value.get<std::string>() : "unknown";
}

std::string head_line(const char* name, const bench::ResultFile& file) {
  const std::string commit = commit_of(file);
  return fmt::format("{:<8}{}: {}, {}, {}\n", name, ui::escaped(file.path),
                     ui::escaped(text_of(file.json["machine"], "cpu")), ui::escaped(text_of(file.json, "date")),
                     commit.empty() ? "commit not recorded" : "commit " + ui::escaped(commit));
}

std::string change_text(double share) { return fmt::format("{:+.1f} %", share * 100); }
std::string share_text(double share) { return fmt::format("{:.1f} %", share * 100); }

std::string list_text(const char* title, const std::vector<const Difference*>& differences) {
  if (differences.empty()) return "";
  std::string text = fmt::format("\n{}: {}\n{:>{}}{:>{}}{:>{}}{:>{}}\n", title, differences.size(), "before",
                                 time_width, "after", time_width, "time", share_width, "bound", share_width);
  for (const Difference* one : differences) {
    text += fmt::format("{:>{}}{:>{}}{:>{}}{:>{}}  {}\n", time_text(one->before.median), time_width,
                        time_text(one->after.median), time_width, change_text(one->change), share_width,
                        one->bound ? share_text(*one->bound) : "none", share_width, ui::escaped(one->name));
  }
  return text;
}

std::string only_text(const std::string& path, const std::vector<std::string>& names) {
  if (names.empty()) return "";
  constexpr size_t most = 5;
  std::string text = fmt::format("\nonly in {}: {}\n", ui::escaped(path), names.size());
  for (size_t i = 0; i < names.size() && i < most; ++i) text += "  " + ui::escaped(names[i]) + "\n";
  return names.size() > most ? text + fmt::format("  and {} more\n", names.size() - most) : text;
}

std::string explanation(const Comparison& found, double threshold) {
  std::string text = fmt::format(
      R"(The bound is what the spread of both runs allows, so that of 20 comparisons without a change one reports any,
and at least {}.
)",
      share_text(threshold));
  std::vector<std::string> moved;
  for (const auto& [group, share] : found.peers_moved) {
    moved.push_back(share_text(share) + (group.empty() ? "" : fmt::format(" ({})", ui::escaped(group))));
  }
  if (!moved.empty()) {
    text += fmt::format("The peers, the same code in both runs, moved by up to {}; less never counts.\n",
                        joined(moved, ", "));
  }
  return text +
         "What hits all rounds of a point alike is in no spread: measure again before you believe a difference.\n";
}

std::string report_text(const bench::ResultFile& before, const bench::ResultFile& after, double threshold,
                        const Comparison& found) {
  const auto slower = found.slower(), faster = found.faster(), unjudged = found.unjudged();
  std::string text = head_line("before", before) + head_line("after", after);
  for (const std::string& note : found.notes) text += "note: " + ui::escaped(note) + "\n";
  text += list_text("slower, beyond the bound", slower);
  text += list_text("faster, beyond the bound", faster);
  text += list_text("not judged, because a file has no spread", unjudged);
  text += only_text(before.path, found.gone) + only_text(after.path, found.added);
  return text +
         fmt::format("\n{} slower, {} faster, {} within the bound, {} not judged\n", slower.size(), faster.size(),
                     found.within().size(), unjudged.size()) +
         explanation(found, threshold);
}

const char* verdict_on(const Difference& one) {
  if (one.peer) return "peer";
  if (!one.bound) return "not judged";
  return one.slower() ? "slower" : one.faster() ? "faster" : "within";
}

ordered_json run_json(const bench::ResultFile& file) {
  return {{"file", file.path},
          {"cpu", text_of(file.json["machine"], "cpu")},
          {"date", text_of(file.json, "date")},
          {"commit", commit_of(file)}};
}

ordered_json report_json(const bench::ResultFile& before, const bench::ResultFile& after, double threshold,
                         const Comparison& found) {
  ordered_json json{{"schema", "stockade-bench-compare/1"},
                    {"kind", before.kind},
                    {"before", run_json(before)},
                    {"after", run_json(after)},
                    {"notes", found.notes},
                    {"threshold", threshold},
                    {"peers_moved", ordered_json::object()},
                    {"slower", found.slower().size()},
                    {"faster", found.faster().size()},
                    {"within", found.within().size()},
                    {"not_judged", found.unjudged().size()},
                    {"differences", ordered_json::array()},
                    {"only_before", found.gone},
                    {"only_after", found.added}};
  for (const auto& [group, share] : found.peers_moved) json["peers_moved"][group.empty() ? "all" : group] = share;
  for (const Difference& one : found.differences) {
    json["differences"].push_back({{"axes", one.axes},
                                   {"seconds_before", one.before.median},
                                   {"seconds_after", one.after.median},
                                   {"change", one.change},
                                   {"bound", one.bound ? ordered_json(*one.bound) : ordered_json()},
                                   {"verdict", verdict_on(one)}});
  }
  return json;
}

// What a refused file means for the exit status: 1 is kept for a regression.
Failure failure_of(const bench::RefusedResult& refused) {
  const bool damaged = refused.reason == bench::RefusedResult::Reason::damaged;
  return Failure(damaged ? Exit::corrupt : Exit::usage, refused.what());
}

void run_compare(const CompareLine& line) {
  const double threshold = read_threshold(line);
  if (line.files.size() != 2) {
    throw Failure(Exit::usage, fmt::format("two result files are needed, and {} given", line.files.size()),
                  {"'stockade bench aes --json > before.json' makes one", "see 'stockade bench compare --help'"});
  }
  size_t regressions = 0;
  try {
    const bench::ResultFile before = bench::read_result_file(line.files[0]);
    const bench::ResultFile after = bench::read_result_file(line.files[1]);
    const Comparison found = bench::compare(before, after, threshold);
    regressions = found.slower().size();
    ui::print(line.json ? ui::json_text(report_json(before, after, threshold, found))
                        : report_text(before, after, threshold, found));
  } catch (const bench::RefusedResult& refused) {
    throw failure_of(refused);
  }
  if (regressions > 0) {
    throw Failure(Exit::regression, fmt::format("{} took longer beyond the bound", plural(regressions, "measurement")));
  }
}

}  // namespace

void add_bench_compare(Command& bench) {
  Command& compare = bench.add("compare", "[OPTION ...] BEFORE.json AFTER.json",
                               "Which times of one run differ from those of another by more than noise.");
  const auto line = std::make_shared<CompareLine>();
  compare.operands("operands", "FILE", line->files, "two results of the same benchmark with --json");
  compare.option("options", "--threshold", "PERCENT", line->threshold,
                 "changes up to this never count, for machines drift from run to run; default 5");
  compare.flag("options", "--json", line->json, "as JSON; bench/README.md describes it");
  compare.footer(R"(Measurements are paired by what they are of, such as cipher, size and threads. The median
of one differs from that of the other if their ratio is beyond what the fastest and the
slowest rounds of both explain; of 20 comparisons without a change one reports any. What
OpenSSL and other peers moved by, the same code in both runs, never counts either.

examples:
  stockade bench aes --json > before.json
  stockade bench aes --json > after.json
  stockade bench compare before.json after.json

exit status:
  0    nothing took longer beyond its bound
  1    something did
  2    wrong usage: options, a file that cannot be read, of another benchmark, of a
       newer version, or with nothing in common
  3    a file is damaged)");
  compare.action([line] { run_compare(*line); });
}

}  // namespace stockade::cmd
