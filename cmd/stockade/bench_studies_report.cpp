#include <fmt/format.h>

#include <algorithm>

#include "bench_machine.h"
#include "bench_studies.h"
#include "ui.h"

namespace stockade::cmd {
namespace {

using bench::StudyCell;
using bench::StudyLine;
using bench::StudyTable;
using nlohmann::ordered_json;

// More lines than these stand below one another, with the sizes as columns.
constexpr size_t most_columns = 7;
constexpr size_t name_width = 30, size_width = 12, figure_width = 9, ratio_width = 9;

std::string short_size(uint64_t bytes, bool counts_numbers) {
  if (counts_numbers) return fmt::format("{}", bytes);
  for (const auto& [unit, name] : {std::pair{uint64_t{1} << 30, "GiB"},
                                   {uint64_t{1} << 20, "MiB"},
                                   {uint64_t{1} << 10, "KiB"},
                                   {uint64_t{1'000'000'000}, "GB"},
                                   {uint64_t{1'000'000}, "MB"},
                                   {uint64_t{1'000}, "KB"}}) {
    if (bytes >= unit && bytes % unit == 0) return fmt::format("{} {}", bytes / unit, name);
  }
  return fmt::format("{} B", bytes);
}

std::string line_name(const StudyLine& line) {
  if (line.block_threads != 0) return fmt::format("{} threads per block", line.block_threads);
  std::string name = line.contender;
  if (!line.stage.empty()) name += ": " + line.stage;
  return name;
}

// "12.3x"; "~12.3x" where the yardstick's time is not its own.
std::string ratio_text(const StudyCell& cell) {
  if (cell.ratio <= 0) return {};
  return fmt::format("{}{}x", cell.ratio_scaled ? "~" : "", figure(cell.ratio));
}

std::string time_text(double seconds) {
  for (const auto& [unit, name] : {std::pair{1.0, "s"}, {1e-3, "ms"}, {1e-6, "us"}}) {
    if (seconds >= 0.9995 * unit) return fmt::format("{} {}", figure(seconds / unit), name);
  }
  return fmt::format("{} ns", figure(seconds * 1e9));
}

std::string figure_text(const StudyCell& cell) {
  if (cell.reason.starts_with("not available")) return "n/a";
  return cell.reason.empty() ? time_text(cell.seconds) : "-";
}

// Why there is not a single figure, where the reason is the same everywhere.
std::string common_reason(const StudyTable& table) {
  const std::string reason = table.lines.front().cells.front().reason;
  for (const StudyLine& line : table.lines) {
    for (const StudyCell& cell : line.cells) {
      if (cell.reason != reason) return {};
    }
  }
  return reason;
}

std::string trimmed(const std::string& text) { return text.substr(0, text.find_last_not_of(' ') + 1) + '\n'; }

// Sizes below one another, the contenders beside one another.
std::string by_size(const StudyTable& table) {
  const size_t width = figure_width + (table.yardstick.empty() ? 0 : ratio_width);
  std::string out, header = fmt::format("{:<{}}", table.counts_numbers ? "numbers" : "", size_width);
  for (const StudyLine& line : table.lines) {
    const std::string name = line.stage.empty() ? line.contender : line.stage;
    header += fmt::format(" {:>{}}", name, std::max(width, name.size()));
  }
  out += trimmed(header);
  for (size_t i = 0; i < table.sizes.size(); ++i) {
    std::string text = fmt::format("{:<{}}", short_size(table.sizes[i], table.counts_numbers), size_width);
    for (const StudyLine& line : table.lines) {
      const std::string name = line.stage.empty() ? line.contender : line.stage;
      std::string cell = fmt::format("{:>{}}", figure_text(line.cells[i]), figure_width);
      if (!table.yardstick.empty()) cell += fmt::format("{:>{}}", ratio_text(line.cells[i]), ratio_width);
      text += fmt::format(" {:>{}}", cell, std::max(width, name.size()));
    }
    out += trimmed(text);
  }
  return out;
}

std::string by_line(const StudyTable& table) {
  std::string out = fmt::format("{:<{}}", "", name_width);
  for (const uint64_t size : table.sizes) {
    out += fmt::format("{:>{}}", short_size(size, table.counts_numbers), figure_width);
  }
  out = trimmed(out);
  for (const StudyLine& line : table.lines) {
    std::string text = fmt::format("{:<{}}", line_name(line), name_width);
    for (const StudyCell& cell : line.cells) text += fmt::format("{:>{}}", figure_text(cell), figure_width);
    out += trimmed(text);
  }
  return out;
}

// Why there is no figure, each reason once.
std::string reasons_text(const StudyTable& table) {
  std::vector<std::pair<std::string, std::string>> told;
  for (const StudyLine& line : table.lines) {
    for (const StudyCell& cell : line.cells) {
      if (cell.reason.empty()) continue;
      const std::string who = line.block_threads != 0 ? "cuda" : line.contender;
      // How long it would take differs from size to size, and the first says enough.
      const bool slow = cell.reason.starts_with("would take");
      const auto same = [&](const auto& one) {
        return one.first == who && (one.second == cell.reason || (slow && one.second.starts_with("would take")));
      };
      if (std::none_of(told.begin(), told.end(), same)) told.emplace_back(who, cell.reason);
    }
  }
  std::string out;
  for (const auto& [who, reason] : told) out += fmt::format("  {}: {}\n", who, reason);
  return out;
}

}  // namespace

std::string table_text(const StudyTable& table) {
  std::string out = fmt::format("\n{} {}: {}", table.study, table.name, table.title);
  const bool compares = !table.yardstick.empty() && table.lines.size() <= most_columns;
  out += compares ? fmt::format("; x: over {}\n", table.yardstick) : "\n";
  if (const std::string reason = common_reason(table); !reason.empty()) {
    return out + fmt::format("  {}: {}\n", table.lines.front().contender, reason);
  }
  out += table.lines.size() > most_columns ? by_line(table) : by_size(table);
  return out + reasons_text(table);
}

std::string gains_text(const std::vector<bench::LaunchGain>& gains) {
  std::string out =
      "\ns2 gain: the best number of threads per block, learned in one half of the rounds and judged in the other\n";
  out += fmt::format("{:<20}{:>10}{:>10}{:>10}{:>10}{:>12}{:>12}\n", "", "message", "best", "built in", "us",
                     "over mean", "over worst");
  for (const bench::LaunchGain& gain : gains) {
    out += fmt::format("{:<20}{:>10}{:>10}{:>10}{:>10}{:>10.1f} %{:>10.1f} %\n", gain.cipher,
                       short_size(gain.message_bytes, false), gain.block_threads, gain.built_in_threads,
                       figure(gain.seconds * 1e6), 100 * gain.gain_over_mean, 100 * gain.gain_over_worst);
  }
  return out;
}

void append_json(ordered_json& results, const StudyTable& table) {
  for (const StudyLine& line : table.lines) {
    for (size_t i = 0; i < table.sizes.size(); ++i) {
      const StudyCell& cell = line.cells[i];
      const uint64_t bytes = table.sizes[i] * (table.counts_numbers ? 2 * bench::big_sum_bytes : 1);
      ordered_json result{{"study", table.study},        {"table", table.name},
                          {"title", table.title},        {"cipher", line.cipher},
                          {"operation", line.operation}, {"contender", line.contender},
                          {"stage", line.stage},         {"threads", line.threads},
                          {"message_bytes", bytes},      {"measured", cell.reason.empty()}};
      if (line.block_threads != 0) result["threads_per_block"] = line.block_threads;
      if (table.counts_numbers) result["numbers"] = table.sizes[i];
      if (cell.reason.empty()) {
        result["samples"] = cell.samples;
        result["seconds_median"] = cell.seconds;
        result["seconds_low"] = cell.low;
        result["seconds_high"] = cell.high;
        result["gigabytes_per_second"] = static_cast<double>(bytes) / cell.seconds / 1e9;
        result["yardstick"] = table.yardstick;
        result["ratio"] = or_null(cell.ratio);
        result["ratio_scaled"] = cell.ratio_scaled;
      } else {
        result["reason"] = cell.reason;
      }
      results.push_back(std::move(result));
    }
  }
}

ordered_json gains_json(const std::vector<bench::LaunchGain>& gains) {
  ordered_json json = ordered_json::array();
  for (const bench::LaunchGain& gain : gains) {
    json.push_back({{"cipher", gain.cipher},
                    {"operation", gain.operation},
                    {"message_bytes", gain.message_bytes},
                    {"threads_per_block", gain.block_threads},
                    {"built_in_threads_per_block", gain.built_in_threads},
                    {"choices", gain.choices},
                    {"seconds_median", gain.seconds},
                    {"gain_over_mean", gain.gain_over_mean},
                    {"gain_over_worst", gain.gain_over_worst}});
  }
  return json;
}

}  // namespace stockade::cmd
