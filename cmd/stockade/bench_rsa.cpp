// stockade bench rsa: the benchmark of bench/rsa.cpp and the ablation of bench/rsa_ablation.cpp as tables or as JSON.
#include "bench_rsa.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "bench/aes.h"
#include "bench/peer_openssl.h"
#include "bench/rsa.h"
#include "bench_machine.h"
#include "exit_status.h"
#include "interrupt.h"
#include "stockade/stockade.h"
#include "ui.h"
#include "values.h"

namespace stockade::cmd {
namespace {

using nlohmann::ordered_json;

struct RsaBenchLine {
  std::optional<std::string> bits, batches, threads, rounds;
  bool ablation = false, quick = false, json = false, quiet = false;
};

std::vector<uint32_t> read_bits(const RsaBenchLine& line) {
  std::vector<uint32_t> all;
  for (const std::string& item : parse_list("--bits", line.bits.value_or(line.quick ? "2048" : "2048,3072,4096"))) {
    const auto bits = static_cast<uint32_t>(parse_number("--bits", item, 2048, 8192));
    if (bits % 64 != 0) throw Failure(Exit::usage, fmt::format("--bits: '{}' is not a multiple of 64", item));
    all.push_back(bits);
  }
  return all;
}

std::vector<uint64_t> read_batches(const RsaBenchLine& line) {
  std::vector<uint64_t> batches;
  for (const std::string& item : parse_list("--batch", line.batches.value_or(line.quick ? "1,8,64" : "1,8,64,1024"))) {
    batches.push_back(parse_number("--batch", item, 1, 65536));
  }
  std::sort(batches.begin(), batches.end());
  batches.erase(std::unique(batches.begin(), batches.end()), batches.end());
  return batches;
}

std::vector<uint32_t> read_threads(const RsaBenchLine& line, const Machine& machine) {
  std::vector<uint32_t> threads;
  for (const std::string& item : parse_list("--threads", line.threads.value_or("1,N"))) {
    const bool all = item == "N" || item == "n";
    threads.push_back(all ? machine.machine.threads : static_cast<uint32_t>(parse_number("--threads", item, 1, 4096)));
  }
  std::sort(threads.begin(), threads.end());
  threads.erase(std::unique(threads.begin(), threads.end()), threads.end());
  return threads;
}

bench::RsaSettings read_line(const RsaBenchLine& line, const Machine& machine) {
  bench::RsaSettings settings;
  settings.bits = read_bits(line);
  settings.batches = read_batches(line);
  settings.threads = read_threads(line, machine);
  settings.chosen_row_only = line.quick;
  settings.schedule.limit_seconds = 2;
  settings.schedule.sample_seconds = line.quick ? 0.005 : 0.02;
  if (line.rounds) settings.schedule.rounds = static_cast<uint32_t>(parse_number("--rounds", *line.rounds, 1, 1000));
  return settings;
}

// ---- text ----

constexpr size_t name_width = 24, figure_width = 10, ratio_width = 8;

std::string about_text(const bench::RsaSettings& settings, bool ablation) {
  if (ablation) {
    return fmt::format(R"(
Median of {} rounds in which all contenders take turns; each result was first compared with the message. Without blinding
and without the check of the result; OpenSSL has both. serial: both halves, binary, row reference. AVX: both halves in the
lanes of a vector row. TT: one thread squares, one multiplies. OMP: the halves on two threads.
)",
                       settings.schedule.rounds);
  }
  return fmt::format(R"(
Median of {} rounds in which all contenders take turns; PKCS#1 v1.5 with SHA-256, one key; each signature was first compared
with OpenSSL's. Columns: operations per call. ops/s: operations per second. ratio: to OpenSSL's, one by one on one thread.
not measured: over {} s for one call.
)",
                     settings.schedule.rounds, settings.schedule.limit_seconds);
}

std::string line_name(const std::string& name, uint32_t threads) {
  return threads > 1 ? fmt::format("{}, {} threads", name, threads) : name;
}

std::string cell_text(const bench::RsaCell& cell) {
  if (!cell.timing.measured) return fmt::format("{:>{}}", "not measured", figure_width + ratio_width);
  return fmt::format("{:>{}.0f}{:>{}}", cell.per_second, figure_width, figure(cell.ratio) + "x", ratio_width);
}

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

// ---- JSON ----

ordered_json report_json(const Machine& machine, const bench::RsaSettings& settings) {
  ordered_json json = head_json(machine, "stockade-bench-rsa/1");
  json["peer"] = bench::peer_version();
  json["settings"] = {{"rounds", settings.schedule.rounds},
                      {"sample_seconds", settings.schedule.sample_seconds},
                      {"limit_seconds", settings.schedule.limit_seconds}};
  return json;
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

// ---- the run ----

void run_bench(const RsaBenchLine& line) {
  if (line.quiet) ui::set_verbosity(ui::Verbosity::quiet);
  if (line.ablation && (line.bits || line.batches || line.threads)) {
    throw Failure(Exit::usage, "--bits, --batch and --threads have no meaning with --ablation");
  }
  const Machine machine = look_around();
  const bench::RsaSettings settings = read_line(line, machine);
  ordered_json json = report_json(machine, settings);
  if (!line.json) {
    const std::string peer = bench::peer_version() + ", EVP, same process, one thread, context reused";
    ui::print(head_text(machine, "bench rsa", {{"peer", peer}}) + about_text(settings, line.ablation));
  }
  ui::StatusLine status(ui::When::automatic);
  const auto on_point = [&status](const std::string& point) {
    if (interrupt::requested()) throw Failure(Exit::interrupted, interrupt::message);
    if (status.due()) status.show("measuring " + point);
  };
  const auto on_table = [&](const bench::RsaTable& table) {
    status.clear();
    line.json ? append_json(json["results"], table) : ui::print(table_text(table, settings));
  };
  try {
    if (line.ablation) {
      const bench::Ablation ablation = bench::run_rsa_ablation(settings.schedule, on_point);
      status.clear();
      if (line.json) {
        json["ablation"] = ablation_json(ablation);
      } else {
        ui::print(ablation_text(ablation));
      }
    } else {
      json["results"] = ordered_json::array();
      bench::run_rsa(settings, on_point, on_table);
    }
  } catch (const bench::Mismatch& mismatch) {
    throw Failure(Exit::corrupt, mismatch.what(), {"these figures would be worth nothing; please report this"});
  }
  if (line.json) ui::print(json.dump(2) + "\n");
}

}  // namespace

void add_bench_rsa(Command& bench) {
  Command& rsa = bench.add("rsa", "[OPTION ...]", "Signing and verifying, one by one and in batches, with OpenSSL.");
  const auto line = std::make_shared<RsaBenchLine>();
  const char* group = "options";
  rsa.option(group, "--bits", "LIST", line->bits, "sizes of the key, 2048 to 8192; default 2048,3072,4096");
  rsa.option(group, "--batch", "LIST", line->batches, "operations per call; default 1,8,64,1024");
  rsa.option(group, "--threads", "LIST", line->threads, "numbers of threads, N being every core; default 1,N");
  rsa.option(group, "--rounds", "N", line->rounds, "turns of each contender, of which the median counts; default 7");
  rsa.flag(group, "--ablation", line->ablation,
           "instead: one decryption with RSA-2048 without and with each parallel layer, and its parts");
  rsa.flag(group, "--quick", line->quick, "the chosen row, RSA-2048 and batches up to 64: some seconds");
  rsa.flag(group, "--json", line->json, "as JSON; bench/README.md describes it");
  rsa.flag("other options", "-q,--quiet", line->quiet, "nothing but the figures and errors");
  rsa.footer(fmt::format(R"(examples:
  stockade bench rsa --quick
  stockade bench rsa --bits 2048 --batch 1,64 --threads 1
  stockade bench rsa --ablation

The full run takes some minutes. Let the machine do nothing else meanwhile.

{})",
                         exit_status_help));
  rsa.action([line] { run_bench(*line); });
}

}  // namespace stockade::cmd
