// stockade bench aes: the benchmark of bench/aes.cpp as a table or as JSON.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "bench/aes.h"
#include "bench/peer_openssl.h"
#include "bench_gpu.h"
#include "bench_machine.h"
#include "bench_rsa.h"
#include "cipher_names.h"
#include "command_line.h"
#include "exit_status.h"
#include "interrupt.h"
#include "stockade/stockade.h"
#include "ui.h"
#include "values.h"
#include "verbs.h"

namespace stockade::cmd {
namespace {

struct BenchLine {
  std::optional<std::string> ciphers, sizes, threads, rounds, rows, pause;
  std::optional<std::string> engine, devices, only, folder, lanes, run_bytes;
  bool quick = false, json = false, quiet = false;
};

constexpr uint64_t large = 256 << 20;
constexpr uint64_t largest_size = uint64_t{1} << 30;

// "aes-256-gcm", or a part of such names: "gcm", "aes-256"; "all".
bool selects(const std::string& item, const std::string& name) {
  return item == "all" || item == name || name.ends_with("-" + item) || name.starts_with(item + "-");
}

std::vector<bench::AesCipher> read_ciphers(const BenchLine& line) {
  std::vector<std::string> items{"all"};
  if (line.ciphers) {
    items = parse_list("--cipher", *line.ciphers);
  } else if (line.quick || line.engine) {
    items = {"aes-128", "aes-256"};
  }
  const auto all = ciphers();
  for (const std::string& item : items) {
    // Throws with the names there are.
    if (std::none_of(all.begin(), all.end(), [&](const Cipher& c) { return selects(item, c.name); }))
      parse_cipher(item);
  }
  std::vector<bench::AesCipher> chosen;
  for (const Cipher& cipher : all) {
    const bool wanted =
        std::any_of(items.begin(), items.end(), [&](const auto& item) { return selects(item, cipher.name); });
    if (wanted) chosen.push_back({cipher.name, cipher.mode, cipher.bits});
  }
  return chosen;
}

std::vector<uint64_t> read_sizes(const BenchLine& line) {
  if (!line.sizes) {
    return line.quick ? std::vector<uint64_t>{1 << 10, 16 << 10, 1 << 20}
                      : std::vector<uint64_t>{64, 1 << 10, 16 << 10, 1 << 20, large};
  }
  std::vector<uint64_t> sizes;
  for (const std::string& item : parse_list("--sizes", *line.sizes)) {
    const uint64_t size = parse_size("--sizes", item);
    if (size == 0 || size > largest_size) {
      throw Failure(Exit::usage, fmt::format("--sizes: {} is not within 1 byte and 1GiB", item));
    }
    sizes.push_back(size);
  }
  return sizes;
}

std::vector<uint32_t> read_threads(const BenchLine& line, const Machine& machine) {
  std::vector<uint32_t> threads;
  for (const std::string& item : parse_list("--threads", line.threads.value_or("1,N"))) {
    const bool all = item == "N" || item == "n";
    const auto count = all ? machine.machine.threads : static_cast<uint32_t>(parse_number("--threads", item, 1, 4096));
    if (std::find(threads.begin(), threads.end(), count) == threads.end()) threads.push_back(count);
  }
  // One thread first: the others are compared with it.
  std::sort(threads.begin(), threads.end());
  return threads;
}

// Of ciphers, that is.
std::vector<std::string> read_rows(const BenchLine& line, const Machine& machine) {
  std::vector<stockade_row> known = machine.rows;
  std::erase_if(known, [](const stockade_row& row) { return std::string_view(row.primitive) == "bignum"; });
  std::vector<std::string> rows;
  if (!line.rows) {
    for (const stockade_row& row : known) {
      if (line.quick && row.chosen) rows.push_back(row.name);
    }
    return rows;
  }
  std::vector<std::string> names;
  for (const stockade_row& row : known) {
    if (std::find(names.begin(), names.end(), row.name) == names.end()) names.push_back(row.name);
  }
  for (const std::string& item : parse_list("--row", *line.rows)) {
    if (std::find(names.begin(), names.end(), item) == names.end()) {
      std::vector<std::string> hints = did_you_mean(item, names);
      hints.push_back("the rows are " + listed(names));
      throw Failure(Exit::usage, fmt::format("unknown row '{}'", item), hints);
    }
    for (const stockade_row& row : known) {
      if (item == row.name && !row.available) {
        throw Failure(Exit::unavailable,
                      fmt::format("the {} row '{}' cannot run here: {}", row.primitive, item, row.reason));
      }
    }
    rows.push_back(item);
  }
  return rows;
}

bench::AesSettings read_line(const BenchLine& line, const Machine& machine) {
  bench::AesSettings settings;
  settings.ciphers = read_ciphers(line);
  settings.sizes = read_sizes(line);
  settings.selective_size = line.sizes ? 0 : large;
  settings.threads = read_threads(line, machine);
  settings.rows = read_rows(line, machine);
  if (line.quick) settings.schedule.sample_seconds = 0.002;
  if (line.rounds) settings.schedule.rounds = static_cast<uint32_t>(parse_number("--rounds", *line.rounds, 1, 1000));
  if (line.pause) {
    settings.schedule.pause_seconds = 1e-6 * static_cast<double>(parse_number("--pause", *line.pause, 1, 1'000'000));
  }
  return settings;
}

constexpr size_t name_width = 24, figure_width = 7, cell_width = 3 * figure_width;

std::string cell_text(const bench::AesCell& cell, bool several_threads) {
  if (!cell.timing.measured) return fmt::format("{:>{}}", "not measured", cell_width);
  std::string second;
  if (several_threads) {
    if (cell.speedup > 0) second = fmt::format("({:.2f})", cell.speedup);
  } else if (cell.cycles_per_byte > 0) {
    second = figure(cell.cycles_per_byte);
  }
  const std::string ratio = cell.ratio > 0 ? figure(cell.ratio) + "x" : std::string();
  return fmt::format("{:>{}}{:>{}}{:>{}}", figure(cell.gigabytes_per_second), figure_width, second, figure_width, ratio,
                     figure_width);
}

std::string short_size(uint64_t bytes) {
  for (const auto& [shift, unit] : {std::pair{30, "GiB"}, {20, "MiB"}, {10, "KiB"}}) {
    if (bytes >> shift > 0 && bytes % (uint64_t{1} << shift) == 0) return fmt::format("{} {}", bytes >> shift, unit);
  }
  return fmt::format("{} B", bytes);
}

std::string block_text(const bench::AesBlock& block) {
  std::string title = block.cipher.name + " " + block.operation;
  if (block.streams > 1) title += fmt::format(" x {}", block.streams);
  std::string out = fmt::format("\n{:<{}}", title, name_width);
  for (const uint64_t size : block.sizes) out += fmt::format("{:>{}}", short_size(size), cell_width);
  out += fmt::format("\n{:<{}}", "", name_width);
  for (size_t i = 0; i < block.sizes.size(); ++i) {
    out += fmt::format("{:>{}}{:>{}}{:>{}}", "GB/s", figure_width, "c/B", figure_width, "ratio", figure_width);
  }
  out += '\n';
  for (const bench::AesLine& line : block.lines) {
    const std::string name =
        line.threads > 1 ? fmt::format("{}, {} threads", line.contender, line.threads) : line.contender;
    std::string text = fmt::format("  {:<{}}", name, name_width - 2);
    for (const bench::AesCell& cell : line.cells) text += cell_text(cell, line.threads > 1);
    out += text.substr(0, text.find_last_not_of(' ') + 1) + '\n';
  }
  return out;
}

std::string about_text(const bench::AesSettings& settings) {
  return fmt::format(R"(
Median of {} rounds in which all contenders take turns; out of place, no padding; each output was first compared with
OpenSSL's. GB = 1e9 bytes. c/B: cycles of the core clock per byte. ratio: throughput over OpenSSL's on one thread.
(1.93): speed-up over one thread of the same row; a chain of blocks has no such line. "x {}": that many messages per call.
XTS: units of {} bytes. not measured: 'reference' above 64 KiB unless --row names it; over {} s for one call.
)",
                     settings.schedule.rounds, bench::many_streams, bench::xts_unit, settings.schedule.limit_seconds);
}

nlohmann::ordered_json report_json(const Machine& machine, const bench::AesSettings& settings) {
  nlohmann::ordered_json json = head_json(machine, "stockade-bench-aes/1");
  json["peer"] = bench::peer_version();
  json["settings"] = {{"rounds", settings.schedule.rounds},
                      {"sample_seconds", settings.schedule.sample_seconds},
                      {"limit_seconds", settings.schedule.limit_seconds},
                      {"xts_unit", bench::xts_unit}};
  json["results"] = nlohmann::ordered_json::array();
  return json;
}

void append_json(nlohmann::ordered_json& results, const bench::AesBlock& block) {
  for (const bench::AesLine& line : block.lines) {
    for (size_t i = 0; i < block.sizes.size(); ++i) {
      const bench::AesCell& cell = line.cells[i];
      nlohmann::ordered_json result{{"cipher", block.cipher.name},     {"operation", block.operation},
                                    {"streams", block.streams},        {"message_bytes", block.sizes[i]},
                                    {"contender", line.contender},     {"threads", line.threads},
                                    {"measured", cell.timing.measured}};
      if (cell.timing.measured) {
        result["iterations"] = cell.timing.iterations;
        result["seconds_median"] = cell.timing.seconds;
        result["seconds_low"] = cell.timing.low;
        result["seconds_high"] = cell.timing.high;
        result["on_core"] = cell.timing.on_core;
        result["gigabytes_per_second"] = cell.gigabytes_per_second;
        result["cycles_per_byte"] = or_null(cell.cycles_per_byte);
        result["ratio_to_openssl"] = or_null(cell.ratio);
        result["speedup_over_one_thread"] = or_null(cell.speedup);
      } else {
        result["reason"] = cell.reason;
      }
      results.push_back(std::move(result));
    }
  }
}

// Gathers how far the machine was ours.
class Disturbance {
 public:
  void add(const bench::AesBlock& block) {
    for (const bench::AesLine& line : block.lines) {
      for (const bench::AesCell& cell : line.cells) {
        // With several threads the caller also waits for the others.
        if (line.threads > 1 || !cell.timing.measured) continue;
        sum_ += cell.timing.on_core;
        count_ += 1;
      }
    }
  }
  void report() const {
    const double share = count_ > 0 ? sum_ / count_ : 1;
    if (share > 0.97) return;
    ui::notice(
        fmt::format("the benchmark had its core for {:.0f} % of the time only: something else runs here, and the "
                    "figures suffer from it",
                    100 * share));
  }

 private:
  double sum_ = 0, count_ = 0;
};

// Options that mean something with GPUs only, or with the CPU's rows only.
void check_engine(const BenchLine& line) {
  if (line.engine && *line.engine != "cuda") {
    throw Failure(Exit::usage, fmt::format("--engine: '{}' is not cuda", *line.engine),
                  {"without --engine the CPU's rows are measured; cuda has hybrid and threads beside it"});
  }
  const auto refuse = [](const std::optional<std::string>& value, const char* name, const char* where) {
    if (value) throw Failure(Exit::usage, fmt::format("{} has no meaning {} --engine cuda", name, where));
  };
  if (line.engine) {
    refuse(line.rows, "--row", "with");
    refuse(line.threads, "--threads", "with");
    refuse(line.pause, "--pause", "with");
  } else {
    refuse(line.devices, "--devices", "without");
    refuse(line.only, "--only", "without");
    refuse(line.folder, "--folder", "without");
    refuse(line.lanes, "--lanes", "without");
    refuse(line.run_bytes, "--run-bytes", "without");
  }
}

void run_bench(const BenchLine& line) {
  if (line.quiet) ui::set_verbosity(ui::Verbosity::quiet);
  check_engine(line);
  if (line.engine) {
    return run_bench_gpu({read_ciphers(line), line.sizes, line.devices, line.only, line.folder, line.lanes,
                          line.run_bytes, line.rounds, line.quick, line.json});
  }
  const Machine machine = look_around();
  const bench::AesSettings settings = read_line(line, machine);
  nlohmann::ordered_json json = report_json(machine, settings);
  if (!line.json) {
    const std::string peer = bench::peer_version() + ", EVP, same process, one thread, context reused";
    ui::print(head_text(machine, "bench aes", {{"peer", peer}}) + about_text(settings));
  }
  ui::StatusLine status(ui::When::automatic);
  const auto on_point = [&status](const std::string& point) {
    if (interrupt::requested()) throw Failure(Exit::interrupted, interrupt::message);
    if (status.due()) status.show("measuring " + point);
  };
  Disturbance disturbance;
  const auto on_block = [&](const bench::AesBlock& block) {
    status.clear();
    disturbance.add(block);
    if (line.json) {
      append_json(json["results"], block);
    } else {
      ui::print(block_text(block));
    }
  };
  try {
    bench::run_aes(settings, on_point, on_block);
  } catch (const bench::Mismatch& mismatch) {
    throw Failure(Exit::corrupt, mismatch.what(), {"these figures would be worth nothing; please report this"});
  }
  if (line.json) ui::print(ui::json_text(json));
  disturbance.report();
}

void add_bench_aes(Command& bench) {
  Command& aes =
      bench.add("aes", "[OPTION ...]", "Every AES mode, row and message size, with OpenSSL in the same run.");
  const auto line = std::make_shared<BenchLine>();
  const char* group = "options";
  aes.option(group, "--cipher", "LIST", line->ciphers,
             "names such as aes-256-gcm, or parts of them: gcm, aes-256; default all");
  aes.option(group, "--sizes", "LIST", line->sizes,
             "bytes per message; default 64,1KiB,16KiB,1MiB, and 256MiB for CTR and GCM");
  aes.option(group, "--threads", "LIST", line->threads, "numbers of threads, N being every core; default 1,N");
  aes.option(group, "--row", "LIST", line->rows, "these rows only; default every row that this machine can run");
  aes.option(group, "--engine", "NAME", line->engine,
             "cuda: GPUs instead, from 64KiB to 4GiB, with key sizes 128 and 256");
  aes.option(group, "--devices", "LIST", line->devices, "GPUs by number, such as 0,1; default all");
  aes.option(group, "--only", "LIST", line->only, "questions of --engine cuda, below; default all");
  aes.option(group, "--folder", "FOLDER", line->folder,
             "where the question 'stages' has its files; default /dev/shm, or TMPDIR if there is no room");
  aes.option(group, "--lanes", "N", line->lanes, "transfers of a GPU in flight at a time; default what is built in");
  aes.option(group, "--run-bytes", "SIZE", line->run_bytes, "bytes of such a transfer, a power of two");
  aes.option(group, "--rounds", "N", line->rounds, "turns of each contender, of which the median counts; default 7");
  aes.option(group, "--pause", "US", line->pause,
             "microseconds of sleep before each message: calls that come seldom; default none");
  aes.flag(group, "--quick", line->quick,
           "the chosen rows, three sizes, two key sizes and short samples: some seconds");
  aes.flag(group, "--json", line->json, "as JSON; bench/README.md describes it");
  aes.flag("other options", "-q,--quiet", line->quiet, "nothing but the figures and errors");
  aes.footer(fmt::format(R"({}

examples:
  stockade bench aes --quick
  stockade bench aes --cipher ctr,gcm --sizes 16KiB,256MiB --threads 1,2,4,N
  stockade bench aes --engine cuda --only device --cipher aes-128
  stockade bench aes --json > $(hostname).json

The full run takes about two minutes. Let the machine do nothing else meanwhile.

{})",
                         bench_gpu_help, exit_status_help));
  aes.action([line] { run_bench(*line); });
}

}  // namespace

void add_bench(Command& root) {
  root.add("bench", "aes|file|rsa|studies|compare ...", "Measures this machine against OpenSSL.")
      .when_named([](Command& bench) {
        bench.footer("'stockade bench aes --help', and so for the others, has the options and examples.");
        add_bench_aes(bench);
        add_bench_file(bench);
        add_bench_rsa(bench);
        add_bench_studies(bench);
        add_bench_compare(bench);
      });
}

}  // namespace stockade::cmd
