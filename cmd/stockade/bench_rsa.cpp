// stockade bench rsa: the benchmarks of bench/rsa.h.
#include "bench_rsa.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "bench/aes.h"
#include "bench/peer_openssl.h"
#include "bench/rsa.h"
#include "bench_machine.h"
#include "bench_rsa_report.h"
#include "exit_status.h"
#include "interrupt.h"
#include "stockade/stockade.h"
#include "ui.h"
#include "values.h"

namespace stockade::cmd {
namespace {

using nlohmann::ordered_json;

struct RsaBenchLine {
  std::optional<std::string> bits, operations, batches, threads, rows, clients, rounds;
  bool ablation = false, queue = false, keys = false, without_ifma = false;
  bool quick = false, json = false, quiet = false;

  // What is asked instead of the usual.
  const char* question() const { return ablation ? "--ablation" : queue ? "--queue" : keys ? "--keys" : ""; }
};

// ---- without AVX-512 IFMA ----

// libcrypto asks the processor once, when it is loaded, and this variable takes bit 21 of EBX of CPUID's leaf 7 away:
// AVX512_IFMA. So the program starts anew with it; with it, it has been started anew.
constexpr char peer_variable[] = "OPENSSL_ia32cap", peer_without_ifma[] = ":~0x200000";
constexpr char mask_variable[] = "STOCKADE_MASK", mask_without_ifma[] = "ifma";

std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

std::vector<std::string> own_words() {
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  std::vector<std::string> words;
  for (std::string word; std::getline(file, word, '\0');) words.push_back(word);
  return words;
}

// Returns in the process that goes without.
void go_without_ifma() {
  const std::string set = variable(peer_variable);
  if (set == peer_without_ifma) return;
  if (!set.empty()) throw Failure(Exit::usage, fmt::format("--without-ifma: {} is set already", peer_variable));
  const std::string masked = variable(mask_variable);
  const std::string mask = masked.empty() ? mask_without_ifma : masked + "," + mask_without_ifma;
  std::vector<std::string> words = own_words();
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  if (setenv(peer_variable, peer_without_ifma, 1) == 0 && setenv(mask_variable, mask.c_str(), 1) == 0) {
    execv("/proc/self/exe", pointers.data());
  }
  throw Failure(Exit::io, "--without-ifma: cannot start anew: " + ui::system_text(errno));
}

// ---- the line ----

template <typename Number>
std::vector<Number> sorted_once(std::vector<Number> numbers) {
  std::sort(numbers.begin(), numbers.end());
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
  return numbers;
}

// The names of a list, each one of `known`.
std::vector<std::string> read_names(const char* option, const std::string& what, const std::string& list,
                                    const std::vector<std::string>& known) {
  std::vector<std::string> names = parse_list(option, list);
  for (const std::string& name : names) {
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    std::vector<std::string> hints = did_you_mean(name, known);
    hints.push_back(fmt::format("the {}s are {}", what, listed(known)));
    throw Failure(Exit::usage, fmt::format("{}: unknown {} '{}'", option, what, name), hints);
  }
  return names;
}

std::vector<uint32_t> read_bits(const RsaBenchLine& line) {
  std::vector<uint32_t> all;
  for (const std::string& item : parse_list("--bits", line.bits.value_or(line.quick ? "2048" : "2048,3072,4096"))) {
    const auto bits = static_cast<uint32_t>(parse_number("--bits", item, 2048, 8192));
    if (bits % 64 != 0) throw Failure(Exit::usage, fmt::format("--bits: '{}' is not a multiple of 64", item));
    all.push_back(bits);
  }
  return all;
}

std::vector<bench::RsaOperation> read_operations(const RsaBenchLine& line) {
  const std::vector<std::string> known(bench::rsa_operation_names.begin(), bench::rsa_operation_names.end());
  std::vector<bench::RsaOperation> operations;
  for (const std::string& name :
       read_names("--operations", "operation", line.operations.value_or("sign,verify"), known)) {
    operations.push_back(static_cast<bench::RsaOperation>(std::find(known.begin(), known.end(), name) - known.begin()));
  }
  return operations;
}

std::vector<uint64_t> read_batches(const RsaBenchLine& line) {
  std::vector<uint64_t> batches;
  for (const std::string& item : parse_list("--batch", line.batches.value_or(line.quick ? "1,8,64" : "1,8,64,1024"))) {
    batches.push_back(parse_number("--batch", item, 1, 65536));
  }
  return sorted_once(std::move(batches));
}

std::vector<uint32_t> read_threads(const RsaBenchLine& line, const Machine& machine) {
  std::vector<uint32_t> threads;
  for (const std::string& item : parse_list("--threads", line.threads.value_or(line.queue ? "N" : "1,2,N"))) {
    const bool all = item == "N" || item == "n";
    threads.push_back(all ? machine.machine.threads : static_cast<uint32_t>(parse_number("--threads", item, 1, 4096)));
  }
  return sorted_once(std::move(threads));
}

std::vector<uint32_t> read_clients(const RsaBenchLine& line) {
  std::vector<uint32_t> clients;
  for (const std::string& item : parse_list("--clients", line.clients.value_or("1,4,16,64"))) {
    clients.push_back(static_cast<uint32_t>(parse_number("--clients", item, 1, 1024)));
  }
  return sorted_once(std::move(clients));
}

std::vector<std::string> read_rows(const RsaBenchLine& line, const Machine& machine) {
  if (!line.rows) return {};
  std::vector<stockade_row> rows = machine.rows;
  std::erase_if(rows, [](const stockade_row& row) { return std::string_view(row.primitive) != "bignum"; });
  std::vector<std::string> known;
  for (const stockade_row& row : rows) known.emplace_back(row.name);
  std::vector<std::string> names = read_names("--row", "row", *line.rows, known);
  for (const stockade_row& row : rows) {
    if (row.available || std::find(names.begin(), names.end(), row.name) == names.end()) continue;
    throw Failure(Exit::unavailable, fmt::format("the bignum row '{}' cannot run here: {}", row.name, row.reason));
  }
  return names;
}

uint32_t read_rounds(const RsaBenchLine& line, uint32_t usual) {
  if (line.rounds) return static_cast<uint32_t>(parse_number("--rounds", *line.rounds, 1, 1000));
  if (!line.keys) return usual;
  return line.quick ? 11 : 51;
}

bench::RsaSettings read_line(const RsaBenchLine& line, const Machine& machine) {
  bench::RsaSettings settings;
  settings.bits = read_bits(line);
  settings.operations = read_operations(line);
  settings.batches = read_batches(line);
  settings.threads = read_threads(line, machine);
  settings.clients = read_clients(line);
  settings.rows = read_rows(line, machine);
  settings.chosen_row_only = line.quick;
  settings.schedule.limit_seconds = 2;
  settings.schedule.sample_seconds = line.quick ? 0.005 : 0.02;
  settings.schedule.rounds = read_rounds(line, settings.schedule.rounds);
  if (line.quick) settings.turn_seconds = 0.05;
  return settings;
}

void refuse_what_has_no_meaning(const RsaBenchLine& line) {
  if (line.ablation + line.queue + line.keys > 1) {
    throw Failure(Exit::usage, "--ablation, --queue and --keys ask for different things: give one of them");
  }
  const std::pair<bool, const char*> unused[] = {
      {line.bits && line.ablation, "--bits"},
      {line.threads && (line.ablation || line.keys), "--threads"},
      {line.rows && line.ablation, "--row"},
      {line.operations && (line.ablation || line.queue || line.keys), "--operations"},
      {line.batches && (line.ablation || line.queue || line.keys), "--batch"}};
  for (const auto& [given, name] : unused) {
    if (given) throw Failure(Exit::usage, fmt::format("{} has no meaning with {}", name, line.question()));
  }
  if (line.clients && !line.queue) throw Failure(Exit::usage, "--clients has no meaning without --queue");
}

// ---- the head of the report ----

std::string about_text(const bench::RsaSettings& settings, const RsaBenchLine& line) {
  const uint32_t rounds = settings.schedule.rounds;
  if (line.ablation) {
    return fmt::format(R"(
Median of {} rounds in which all contenders take turns; each result was first compared with the message. Without blinding
and without the check of the result; OpenSSL has both. serial: both halves, binary, row reference. AVX: both halves in the
lanes of a vector row. TT: one thread squares, one multiplies. OMP: the halves on two threads.
)",
                       rounds);
  }
  if (line.queue) {
    return fmt::format(R"(
{} rounds in which all contenders take turns; PKCS#1 v1.5 with SHA-256, one key; every signature was compared with OpenSSL's.
Rows sign behind the queue, OpenSSL in a pool of as many threads, one request at a time. Clients ask again as soon as they
have their signature; "/s": requests at random times, on average a share of what the named one did with the most clients.
sign/s: median of the rounds. ratio: to OpenSSL's. p50, p99: from asking to having it, over all rounds. batch: requests that
were computed together, on average.
)",
                       rounds);
  }
  if (line.keys) {
    return fmt::format(R"(
{} runs in which all contenders take turns, on one thread; OpenSSL agreed with every key that was made. load private: PKCS#8
in PEM, with every check (OpenSSL: EVP_PKEY_check). load public: SubjectPublicKeyInfo in PEM. ratio: of the medians.
)",
                       rounds);
  }
  return fmt::format(R"(
Median of {} rounds in which all contenders take turns; one key; signatures are PKCS#1 v1.5, encryption is OAEP, with SHA-256;
each result was first compared with OpenSSL's. Columns: operations per call. ops/s: operations per second. ratio: to
OpenSSL's, one by one on one thread. not measured: over {} s for one call.
)",
                     rounds, settings.schedule.limit_seconds);
}

std::string peer_text(const RsaBenchLine& line) {
  std::string text = bench::peer_version() + ", EVP, same process";
  if (!line.queue) text += line.keys ? ", one thread" : ", one thread, context reused";
  const std::string hidden = variable(peer_variable);
  if (hidden == peer_without_ifma) text += ", without AVX-512 IFMA";
  if (!hidden.empty()) text += fmt::format(" ({}={})", peer_variable, hidden);
  return text;
}

ordered_json report_json(const Machine& machine, const bench::RsaSettings& settings) {
  ordered_json json = head_json(machine, "stockade-bench-rsa/1");
  json["peer"] = bench::peer_version();
  json["peer_ia32cap"] = variable(peer_variable);
  json["peer_without_ifma"] = variable(peer_variable) == peer_without_ifma;
  json["settings"] = {{"rounds", settings.schedule.rounds},
                      {"sample_seconds", settings.schedule.sample_seconds},
                      {"limit_seconds", settings.schedule.limit_seconds},
                      {"turn_seconds", settings.turn_seconds}};
  return json;
}

// ---- the run ----

// Measures what the line asks for; tables are printed as they come, JSON is filled.
void measure(const RsaBenchLine& line, const bench::RsaSettings& settings, ordered_json& json) {
  ui::StatusLine status(ui::When::automatic);
  const auto on_point = [&status](const std::string& point) {
    if (interrupt::requested()) throw Failure(Exit::interrupted, interrupt::message);
    if (status.due()) status.show("measuring " + point);
  };
  const auto report = [&](const auto& found, const auto& text) {
    status.clear();
    line.json ? append_json(json["results"], found) : ui::print(text(found));
  };
  if (line.ablation) {
    const bench::Ablation ablation = bench::run_rsa_ablation(settings.schedule, on_point);
    status.clear();
    if (!line.json) return ui::print(ablation_text(ablation));
    json["ablation"] = ablation_json(ablation);
    return;
  }
  json["results"] = ordered_json::array();
  if (line.queue) {
    bench::run_rsa_queue(settings, on_point, [&](const bench::RsaLoad& load) { report(load, load_text); });
  } else if (line.keys) {
    bench::run_rsa_keys(settings, on_point, [&](const bench::RsaKeyTable& table) { report(table, keys_text); });
  } else {
    const auto text = [&](const bench::RsaTable& table) { return table_text(table, settings); };
    bench::run_rsa(settings, on_point, [&](const bench::RsaTable& table) { report(table, text); });
  }
}

void run_bench(const RsaBenchLine& line) {
  if (line.quiet) ui::set_verbosity(ui::Verbosity::quiet);
  refuse_what_has_no_meaning(line);
  if (line.without_ifma) go_without_ifma();
  const Machine machine = look_around();
  const bench::RsaSettings settings = read_line(line, machine);
  ordered_json json = report_json(machine, settings);
  if (!line.json) {
    ui::print(head_text(machine, "bench rsa", {{"peer", peer_text(line)}}) + about_text(settings, line));
  }
  try {
    measure(line, settings, json);
  } catch (const bench::Mismatch& mismatch) {
    throw Failure(Exit::corrupt, mismatch.what(), {"these figures would be worth nothing; please report this"});
  }
  if (line.json) ui::print(ui::json_text(json));
}

void add_options(Command& rsa, RsaBenchLine& line) {
  const char* group = "options";
  rsa.option(group, "--bits", "LIST", line.bits, "sizes of the key, 2048 to 8192; default 2048,3072,4096");
  rsa.option(group, "--operations", "LIST", line.operations, "sign, verify, encrypt, decrypt; default sign,verify");
  rsa.option(group, "--batch", "LIST", line.batches, "operations per call; default 1,8,64,1024");
  rsa.option(group, "--threads", "LIST", line.threads,
             "numbers of threads, N being every core; default 1,2,N, with --queue N");
  rsa.option(group, "--row", "LIST", line.rows,
             "these rows only; default every row that this machine can run, with --queue and --keys the chosen one");
  rsa.option(group, "--rounds", "N", line.rounds,
             "turns of each contender, of which the median counts; default 7, with --keys 51");
  rsa.flag(group, "--without-ifma", line.without_ifma,
           "as on a processor without AVX-512 IFMA: neither OpenSSL nor Stockade uses it");
  rsa.flag(group, "--quick", line.quick, "the chosen row, RSA-2048 and batches up to 64: some seconds");
  rsa.flag(group, "--json", line.json, "as JSON; bench/README.md describes it");
  group = "instead of batches";
  rsa.flag(group, "--queue", line.queue,
           "the queue for requests as they come, under load, and OpenSSL in a pool of as many threads");
  rsa.option(group, "--clients", "LIST", line.clients,
             "with --queue: how many ask for signatures at a time; default 1,4,16,64");
  rsa.flag(group, "--keys", line.keys, "making keys, and loading them from PEM files with every check");
  rsa.flag(group, "--ablation", line.ablation,
           "one decryption with RSA-2048 without and with each parallel layer, and its parts");
  rsa.flag("other options", "-q,--quiet", line.quiet, "nothing but the figures and errors");
}

}  // namespace

void add_bench_rsa(Command& bench) {
  Command& rsa =
      bench.add("rsa", "[OPTION ...]", "RSA one by one, in batches and as requests come, and its keys, with OpenSSL.");
  const auto line = std::make_shared<RsaBenchLine>();
  add_options(rsa, *line);
  rsa.footer(fmt::format(R"(examples:
  stockade bench rsa --quick
  stockade bench rsa --bits 2048 --batch 1,64 --threads 1
  stockade bench rsa --operations encrypt,decrypt --without-ifma
  stockade bench rsa --queue --clients 1,64
  stockade bench rsa --keys

The full runs take some minutes each. Let the machine do nothing else meanwhile.

{})",
                         exit_status_help));
  rsa.action([line] { run_bench(*line); });
}

}  // namespace stockade::cmd
