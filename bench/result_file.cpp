#include "result_file.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <set>

namespace stockade::bench {
namespace {

using nlohmann::ordered_json;
using Reason = RefusedResult::Reason;
using Names = std::vector<const char*>;

// The newest version of each schema that is understood.
struct Schema {
  const char* name;
  uint64_t version;
};
constexpr Schema schemas[] = {{"aes", 1}, {"file", 1}, {"gpu", 1}, {"mpi", 1}, {"rsa", 1}, {"studies", 1}};

// A time of a result, or a rate, which is turned into the time of one.
struct Figure {
  const char* name;  // the value of the axis `figure`; empty where a result has one figure
  const char *median, *low, *high;
  bool is_rate = false;
  bool with_clients_only = false;  // what comes at times of its own comes at a given rate
};

// What a result of each kind is told by, and what it holds.
struct Kind {
  const char* name;
  Names axes;
  Names optional_axes = {};  // left out where they are absent, null or empty
  std::vector<Figure> figures = {{"", "seconds_median", "seconds_low", "seconds_high"}};
  const char* rounds = "";       // a member of a result; empty: `rounds` in the settings
  bool may_lack_spread = false;  // as files of earlier commits do
  const char* group = "";        // the axis that makes groups, see Measurement
};

const std::vector<Kind>& kinds() {
  static const std::vector<Kind> all = {
      {.name = "aes", .axes = {"cipher", "operation", "streams", "message_bytes", "contender", "threads"}},
      {.name = "gpu",
       .axes = {"question", "title", "cipher", "operation", "form", "gpus", "message_bytes"},
       .rounds = "samples"},
      {.name = "rsa", .axes = {"bits", "operation", "contender", "threads", "batch"}},
      {.name = "rsa-queue",
       .axes = {"bits", "operation", "contender", "threads", "clients"},
       .optional_axes = {"arrivals"},
       .figures = {{"signing", "operations_per_second", "operations_per_second_low", "operations_per_second_high", true,
                    true},
                   {"latency", "latency_seconds_median", "latency_seconds_median_low", "latency_seconds_median_high"},
                   {"latency p99", "latency_seconds_p99", "latency_seconds_p99_low", "latency_seconds_p99_high"}},
       .may_lack_spread = true,
       .group = "figure"},
      {.name = "rsa-keys",
       .axes = {"bits", "operation", "contender"},
       .rounds = "runs",
       .may_lack_spread = true,
       .group = "operation"},
      {.name = "rsa-ablation", .axes = {"layers", "threads"}},
      {.name = "file", .axes = {"question", "point", "contender", "threads"}, .optional_axes = {"bytes", "files"}},
      {.name = "mpi", .axes = {"form", "scaling", "ranks", "threads", "bytes"}, .optional_axes = {"machines"}},
      {.name = "studies",
       .axes = {"study", "table", "title", "cipher", "operation", "contender", "stage", "threads", "message_bytes"},
       .optional_axes = {"threads_per_block"},
       .rounds = "samples"},
  };
  return all;
}

// Code that is not Stockade's.
constexpr std::array<std::string_view, 8> peers = {
    "openssl", "openssl, loop", "memcpy", "reads and writes", "reads", "age", "pyca/cryptography", "sh"};

// empty() of JSON is about arrays and objects.
bool is_empty_text(const ordered_json& value) {
  return value.is_string() && value.get_ref<const std::string&>().empty();
}

std::string text_of(const ordered_json& value) { return value.is_string() ? value.get<std::string>() : value.dump(); }

class Reader {
 public:
  explicit Reader(const std::string& path) : path_(path) {}

  [[noreturn]] void damaged(const std::string& text) const {
    throw RefusedResult(Reason::damaged, path_ + ": " + text);
  }
  [[noreturn]] void unfit(const std::string& text) const { throw RefusedResult(Reason::unfit, path_ + ": " + text); }

  ordered_json parse(std::string_view text) const {
    try {
      return ordered_json::parse(text);
    } catch (const ordered_json::exception&) {
      damaged("damaged, or no JSON");
    }
  }

  // What the schema names; its version is one that is understood.
  std::string family(const ordered_json& json) const {
    if (!json.is_object() || !json.contains("schema") || !json["schema"].is_string()) {
      unfit("not a result of 'stockade bench --json': it has no 'schema'");
    }
    const std::string schema = json["schema"];
    for (const Schema& known : schemas) {
      const std::string name = std::string("stockade-bench-") + known.name + "/";
      if (!schema.starts_with(name)) continue;
      const uint64_t version = version_of(schema.substr(name.size()));
      if (version > known.version) {
        unfit("schema '" + schema + "' is newer than this program, which reads version " +
              std::to_string(known.version) + ": use the stockade that wrote the file");
      }
      if (version > 0) return known.name;
    }
    std::string list;
    for (const Schema& known : schemas) {
      list += (list.empty() ? "stockade-bench-" : ", stockade-bench-") + std::string(known.name) + "/" +
              std::to_string(known.version);
    }
    unfit("unknown schema '" + schema + "'; this program reads " + list);
  }

  const ordered_json& object(const ordered_json& json, const char* name) const {
    if (!json.contains(name) || !json[name].is_object()) damaged(std::string("it has no object '") + name + "'");
    return json[name];
  }

  const ordered_json& results(const ordered_json& json, const std::string& kind) const {
    const bool ablation = kind == "rsa-ablation";
    const ordered_json& holder = ablation ? object(json, "ablation") : json;
    const char* const name = ablation ? "layers" : "results";
    if (!holder.contains(name) || !holder[name].is_array()) damaged(std::string("it has no list '") + name + "'");
    return holder[name];
  }

  std::vector<Measurement> measurements(const Kind& kind, const ordered_json& list,
                                        const ordered_json& settings) const {
    std::vector<Measurement> found;
    std::set<std::string> seen;
    for (size_t i = 0; i < list.size(); ++i) {
      const std::string place = "result " + std::to_string(i);
      if (!list[i].is_object()) damaged(place + " is no object");
      if (!list[i].value("measured", ordered_json(true)).is_boolean())
        damaged(place + ": 'measured' is no truth value");
      if (!list[i].value("measured", true)) continue;
      const ordered_json axes = axes_of(kind, list[i], place);
      if (!seen.insert(axes.dump()).second) damaged(place + " is there twice: " + axes_text(axes));
      for (const Figure& figure : kind.figures) {
        if (figure.with_clients_only && list[i]["clients"] == 0) continue;
        Measurement one{axes, spread_of(kind, figure, list[i], settings, place), is_peer(axes)};
        if (*figure.name != '\0') one.axes["figure"] = figure.name;
        if (*kind.group != '\0') one.group = text_of(one.axes[kind.group]);
        found.push_back(std::move(one));
      }
    }
    if (found.empty()) damaged("it holds no measurement");
    return found;
  }

 private:
  // 0 where it is no version.
  static uint64_t version_of(const std::string& text) {
    constexpr size_t most_digits = 6;
    if (text.empty() || text.size() > most_digits || text[0] == '0') return 0;
    if (text.find_first_not_of("0123456789") != std::string::npos) return 0;
    return std::stoull(text);
  }

  static bool is_peer(const ordered_json& axes) {
    return std::ranges::any_of(std::array{"contender", "layers"}, [&](const char* name) {
      return axes.contains(name) && axes[name].is_string() &&
             std::ranges::find(peers, axes[name].get<std::string_view>()) != peers.end();
    });
  }

  ordered_json axes_of(const Kind& kind, const ordered_json& result, const std::string& place) const {
    ordered_json axes = ordered_json::object();
    for (const char* name : kind.axes) {
      if (!result.contains(name) || !(result[name].is_string() || result[name].is_number_unsigned())) {
        damaged(place + " has no text or whole number '" + name + "'");
      }
      axes[name] = result[name];
    }
    for (const char* name : kind.optional_axes) {
      if (!result.contains(name) || result[name].is_null() || is_empty_text(result[name])) continue;
      if (!result[name].is_string() && !result[name].is_number_unsigned()) {
        damaged(place + ": '" + name + "' is no text or whole number");
      }
      axes[name] = result[name];
    }
    // What earlier commits have instead of `arrivals`: a measured rate, which no other run has.
    if (result.contains("arrivals_per_second") && !result.contains("arrivals") &&
        result["arrivals_per_second"].is_number()) {
      axes["arrivals_per_second"] = result["arrivals_per_second"];
    }
    return axes;
  }

  double number(const ordered_json& result, const char* name, const std::string& place) const {
    if (!result.contains(name) || !result[name].is_number() || !(result[name].get<double>() > 0)) {
      damaged(place + ": '" + name + "' is no number above 0");
    }
    return result[name];
  }

  Spread spread_of(const Kind& kind, const Figure& figure, const ordered_json& result, const ordered_json& settings,
                   const std::string& place) const {
    Spread spread;
    spread.median = number(result, figure.median, place);
    if (!kind.may_lack_spread || (result.contains(figure.low) && !result[figure.low].is_null())) {
      spread.low = number(result, figure.low, place);
      spread.high = number(result, figure.high, place);
      if (spread.low > spread.median || spread.median > spread.high) {
        damaged(place + ": '" + figure.median + "' is not between '" + figure.low + "' and '" + figure.high + "'");
      }
      const ordered_json& holder = *kind.rounds != '\0' ? result : settings;
      const char* const name = *kind.rounds != '\0' ? kind.rounds : "rounds";
      if (!holder.contains(name) || !holder[name].is_number_unsigned()) {
        damaged(place + ": '" + name + "', how many rounds there were, is no whole number");
      }
      spread.rounds = holder[name];
    }
    if (!figure.is_rate) return spread;
    Spread inverse{1 / spread.median, 0, 0, spread.rounds};
    if (spread.low > 0) {
      inverse.low = 1 / spread.high;
      inverse.high = 1 / spread.low;
    }
    return inverse;
  }

  const std::string& path_;
};

// bench rsa answers four questions with one schema.
std::string kind_of(const std::string& family, const ordered_json& json) {
  if (family != "rsa") return family;
  if (json.contains("ablation")) return "rsa-ablation";
  const ordered_json none = ordered_json::array(), results = json.value("results", none);
  if (!results.is_array() || results.empty() || !results[0].is_object()) return family;
  if (results[0].contains("clients")) return "rsa-queue";
  return results[0].contains("runs") ? "rsa-keys" : family;
}

}  // namespace

double ResultFile::share_on_core() const {
  double sum = 0, count = 0;
  for (const ordered_json& result : kind == "rsa-ablation" ? json["ablation"]["layers"] : json["results"]) {
    if (!result.value("measured", true) || result.value("threads", ordered_json(1)) != 1) continue;
    if (!result.contains("on_core") || !result["on_core"].is_number()) continue;
    sum += result["on_core"].get<double>();
    count += 1;
  }
  return count > 0 ? sum / count : 1;
}

std::string axes_text(const ordered_json& axes) {
  std::string text;
  for (const auto& [name, value] : axes.items()) {
    if (is_empty_text(value)) continue;
    std::string words = name;
    std::ranges::replace(words, '_', ' ');
    text += (text.empty() ? "" : ", ") + words + " " + text_of(value);
  }
  return text;
}

ResultFile read_result_text(const std::string& path, std::string_view text) {
  const Reader reader(path);
  ResultFile file{path, {}, reader.parse(text), {}};
  file.kind = kind_of(reader.family(file.json), file.json);
  reader.object(file.json, "machine");
  const ordered_json& settings = reader.object(file.json, "settings");
  const auto kind = std::ranges::find(kinds(), file.kind, [](const Kind& one) { return std::string(one.name); });
  file.measurements = reader.measurements(*kind, reader.results(file.json, file.kind), settings);
  return file;
}

ResultFile read_result_file(const std::string& path) {
  const auto refuse = [&](int number) {
    std::string words = std::strerror(number);
    words[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(words[0])));
    throw RefusedResult(Reason::unreadable, path + ": " + words);
  };
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rb"), std::fclose);
  if (file == nullptr) refuse(errno);
  std::string text;
  char piece[1 << 16];
  while (const size_t count = std::fread(piece, 1, sizeof piece, file.get())) text.append(piece, count);
  if (std::ferror(file.get()) != 0) refuse(errno);
  return read_result_text(path, text);
}

}  // namespace stockade::bench
