#include "bench_rsa_report.h"

#include <fmt/format.h>

#include "bench_machine.h"

namespace stockade::cmd {
namespace {

using nlohmann::ordered_json;

constexpr size_t name_width = 24, figure_width = 10, ratio_width = 8;

std::string line_name(const std::string& name, uint32_t threads) {
  return threads > 1 ? fmt::format("{}, {} threads", name, threads) : name;
}

std::string cell_text(const bench::RsaCell& cell) {
  if (!cell.timing.measured) return fmt::format("{:>{}}", "not measured", figure_width + ratio_width);
  return fmt::format("{:>{}.0f}{:>{}}", cell.per_second, figure_width, figure(cell.ratio) + "x", ratio_width);
}

std::string milliseconds(double seconds) { return figure(seconds * 1e3); }

std::string load_name(const bench::RsaLoad& load) {
  if (load.clients == 0) return fmt::format("{:.0f}/s, {}", load.arrivals_per_second, load.arrivals);
  return load.clients == 1 ? "1 client" : fmt::format("{} clients", load.clients);
}

void append_timing(ordered_json& result, const bench::Timing& timing) {
  result["measured"] = timing.measured;
  if (!timing.measured) return;
  result["iterations"] = timing.iterations;
  result["seconds_median"] = timing.seconds;
  result["seconds_low"] = timing.low;
  result["seconds_high"] = timing.high;
  result["on_core"] = timing.on_core;
}

// The figure under its name, and beside it NAME_low and NAME_high.
void append_spread(ordered_json& result, const std::string& name, const bench::RsaSpread& spread) {
  result[name] = spread.figure;
  result[name + "_low"] = or_null(spread.low);
  result[name + "_high"] = spread.high;
}

}  // namespace

std::string table_text(const bench::RsaTable& table, const bench::RsaSettings& settings) {
  std::string out = fmt::format("\n{:<{}}", fmt::format("RSA-{} {}", table.bits, table.operation), name_width);
  for (const uint64_t batch : settings.batches) out += fmt::format("{:>{}}", batch, figure_width + ratio_width);
  out += fmt::format("\n{:<{}}", "", name_width);
  for (size_t i = 0; i < settings.batches.size(); ++i) {
    out += fmt::format("{:>{}}{:>{}}", "ops/s", figure_width, "ratio", ratio_width);
  }
  out += '\n';
  for (const bench::RsaLine& line : table.lines) {
    out += fmt::format("  {:<{}}", line_name(line.contender, line.threads), name_width - 2);
    for (const bench::RsaCell& cell : line.cells) out += cell_text(cell);
    out += '\n';
  }
  return out;
}

std::string load_text(const bench::RsaLoad& load) {
  std::string out = fmt::format("\n{:<{}}", fmt::format("RSA-{} sign, {}", load.bits, load_name(load)), 2 * name_width);
  out += fmt::format("{:>{}}{:>{}}", "sign/s", figure_width, "ratio", ratio_width);
  for (const char* column : {"p50 ms", "p99 ms", "batch"}) out += fmt::format("{:>{}}", column, figure_width);
  out += '\n';
  for (const bench::RsaLoadLine& line : load.lines) {
    out += fmt::format("  {:<{}}", line_name(line.contender, load.threads), 2 * name_width - 2);
    if (line.reason.empty()) {
      const std::string ratio = line.ratio > 0 ? figure(line.ratio) + "x" : "";
      out += fmt::format("{:>{}.0f}{:>{}}", line.per_second.figure, figure_width, ratio, ratio_width);
      for (const std::string& text :
           {milliseconds(line.median_seconds.figure), milliseconds(line.p99_seconds.figure), figure(line.mean_batch)}) {
        out += fmt::format("{:>{}}", text, figure_width);
      }
    } else {
      out += fmt::format("{:>{}}", line.reason, figure_width + ratio_width);
    }
    out += '\n';
  }
  return out;
}

std::string keys_text(const bench::RsaKeyTable& table) {
  std::string out = fmt::format("\n{:<{}}", fmt::format("RSA-{} keys", table.bits), name_width);
  for (const char* column : {"runs", "median ms", "p90 ms", "ratio"})
    out += fmt::format("{:>{}}", column, figure_width);
  out += '\n';
  for (const bench::RsaKeyLine& line : table.lines) {
    out += fmt::format("  {:<{}}{:>{}}", fmt::format("{}, {}", line.operation, line.contender), name_width - 2,
                       line.runs, figure_width);
    for (const std::string& text :
         {milliseconds(line.seconds.figure), milliseconds(line.p90_seconds), figure(line.ratio) + "x"}) {
      out += fmt::format("{:>{}}", text, figure_width);
    }
    out += '\n';
  }
  return out;
}

std::string ablation_text(const bench::Ablation& ablation) {
  const std::string row = ablation.vector_row.empty() ? "no vector row here" : ablation.vector_row;
  std::string out = fmt::format("\n{:<{}}{:>{}}{:>{}}{:>{}}\n", fmt::format("RSA-{} decryption", ablation.bits),
                                name_width, "threads", figure_width, "ms", figure_width, "ratio", figure_width);
  for (const bench::AblationLine& line : ablation.lines) {
    out += fmt::format("  {:<{}}{:>{}}", line.layers, name_width - 2, line.threads, figure_width);
    if (line.timing.measured) {
      out += fmt::format("{:>{}}{:>{}}", figure(line.timing.seconds * 1e3), figure_width, figure(line.ratio) + "x",
                         figure_width);
    } else {
      out += fmt::format("{:>{}}", "not measured", 2 * figure_width);
    }
    out += '\n';
  }
  out += fmt::format("AVX: row {}\n\n{:<{}}", row, "its parts, one thread", name_width);
  for (const char* column : {"Mp ms", "Mq ms", "squarings", "products", "set-up us", "product us", "square us"}) {
    out += fmt::format("{:>{}}", column, figure_width + 1);
  }
  out += '\n';
  for (const bench::AblationPart& part : ablation.parts) {
    out += fmt::format("  {:<{}}", part.row, name_width - 2);
    for (const std::string& text :
         {figure(part.p_seconds * 1e3), figure(part.q_seconds * 1e3), std::to_string(part.squarings),
          std::to_string(part.multiplications), figure(part.setup_seconds * 1e6), figure(part.multiply_seconds * 1e6),
          figure(part.square_seconds * 1e6)}) {
      out += fmt::format("{:>{}}", text, figure_width + 1);
    }
    out += '\n';
  }
  return out;
}

void append_json(ordered_json& results, const bench::RsaTable& table) {
  for (const bench::RsaLine& line : table.lines) {
    for (const bench::RsaCell& cell : line.cells) {
      ordered_json result{{"bits", table.bits},
                          {"operation", table.operation},
                          {"contender", line.contender},
                          {"threads", line.threads},
                          {"batch", cell.batch}};
      append_timing(result, cell.timing);
      if (cell.timing.measured) {
        result["operations_per_second"] = cell.per_second;
        result["ratio_to_openssl"] = cell.ratio;
      } else {
        result["reason"] = cell.reason;
      }
      results.push_back(std::move(result));
    }
  }
}

void append_json(ordered_json& results, const bench::RsaLoad& load) {
  for (const bench::RsaLoadLine& line : load.lines) {
    ordered_json result{{"bits", load.bits},           {"operation", "sign"},
                        {"contender", line.contender}, {"threads", load.threads},
                        {"clients", load.clients},     {"arrivals_per_second", or_null(load.arrivals_per_second)},
                        {"arrivals", load.arrivals},   {"measured", line.reason.empty()}};
    if (line.reason.empty()) {
      result["requests"] = line.requests;
      append_spread(result, "operations_per_second", line.per_second);
      result["ratio_to_openssl"] = or_null(line.ratio);
      append_spread(result, "latency_seconds_median", line.median_seconds);
      append_spread(result, "latency_seconds_p99", line.p99_seconds);
      result["mean_batch"] = line.mean_batch;
    } else {
      result["reason"] = line.reason;
    }
    results.push_back(std::move(result));
  }
}

void append_json(ordered_json& results, const bench::RsaKeyTable& table) {
  for (const bench::RsaKeyLine& line : table.lines) {
    results.push_back({{"bits", table.bits},
                       {"operation", line.operation},
                       {"contender", line.contender},
                       {"runs", line.runs},
                       {"seconds_median", line.seconds.figure},
                       {"seconds_low", line.seconds.low},
                       {"seconds_high", line.seconds.high},
                       {"seconds_p90", line.p90_seconds},
                       {"ratio_to_openssl", line.ratio}});
  }
}

ordered_json ablation_json(const bench::Ablation& ablation) {
  ordered_json json{{"bits", ablation.bits},
                    {"vector_row", ablation.vector_row},
                    {"layers", ordered_json::array()},
                    {"parts", ordered_json::array()}};
  for (const bench::AblationLine& line : ablation.lines) {
    ordered_json result{{"layers", line.layers}, {"threads", line.threads}};
    append_timing(result, line.timing);
    result["ratio_to_serial"] = or_null(line.ratio);
    json["layers"].push_back(std::move(result));
  }
  for (const bench::AblationPart& part : ablation.parts) {
    json["parts"].push_back({{"row", part.row},
                             {"p_seconds", part.p_seconds},
                             {"q_seconds", part.q_seconds},
                             {"squarings", part.squarings},
                             {"multiplications", part.multiplications},
                             {"setup_seconds", part.setup_seconds},
                             {"multiply_seconds", part.multiply_seconds},
                             {"square_seconds", part.square_seconds}});
  }
  return json;
}

}  // namespace stockade::cmd
