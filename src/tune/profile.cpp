#include "tune/profile.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <iterator>

namespace stockade::tune {

namespace {

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t' || text.back() == '\r')) text.remove_suffix(1);
  return text;
}

// Takes what stands before the next separator, and that, off the text.
std::string_view take(std::string_view& text, char separator) {
  const size_t end = text.find(separator);
  const std::string_view part = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  return trimmed(part);
}

std::string_view take_word(std::string_view& text) {
  text = trimmed(text);
  const size_t end = std::min(text.find_first_of(" \t"), text.size());
  const std::string_view word = text.substr(0, end);
  text.remove_prefix(end);
  return word;
}

template <typename Number>
bool read_number(std::string_view text, Number& number) {
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && stop == text.data() + text.size() && !text.empty();
}

// For members of any width.
template <typename Number>
bool read_within(std::string_view text, uint64_t least, uint64_t most, Number& number) {
  uint64_t found = 0;
  if (!read_number(text, found) || found < least || found > most) return false;
  number = static_cast<Number>(found);
  return true;
}

template <size_t size>
bool keep(std::string_view text, char (&place)[size]) {
  if (text.empty() || text.size() >= size) return false;
  // All of it: choices are compared byte by byte, and a longer word may have been there before.
  std::memset(place, 0, size);
  std::memcpy(place, text.data(), text.size());
  return true;
}

// What is shown to people has no control characters, so that a file cannot give orders to their terminal.
bool is_text(std::string_view text) {
  return std::none_of(text.begin(), text.end(),
                      [](char c) { return (static_cast<uint8_t>(c) < 0x20 && c != '\t') || c == 0x7F; });
}

// As implementations are called: "ifma".
bool is_name(std::string_view text) {
  return text.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_") == std::string_view::npos;
}

template <typename Enum>
struct Named {
  std::string_view name;
  Enum value;
};
constexpr Named<Runner> runner_names[] = {
    {"serial", Runner::serial}, {"threads", Runner::threads}, {"cuda", Runner::cuda}, {"hybrid", Runner::hybrid}};
constexpr Named<Stores> stores_names[] = {{"ordinary", Stores::ordinary}, {"streaming", Stores::streaming}};
constexpr Named<Layers> layers_names[] = {{"together", Layers::together}, {"halves", Layers::halves}};

template <typename Names, typename Enum>
bool read_name(const Names& names, std::string_view text, Enum& value) {
  const auto* const found =
      std::find_if(std::begin(names), std::end(names), [&](auto& entry) { return entry.name == text; });
  if (found == std::end(names)) return false;
  value = found->value;
  return true;
}

template <typename Names, typename Enum>
std::string_view written_name(const Names& names, Enum value) {
  for (const auto& entry : names) {
    if (entry.value == value) return entry.name;
  }
  return {};
}

bool read_run_bytes(std::string_view value, uint64_t& bytes) {
  return read_within(value, uint64_t{1} << 16, uint64_t{1} << 24, bytes) && (bytes & (bytes - 1)) == 0;
}

// A word such as "workers=2".
bool read_part(std::string_view word, Choice& choice) {
  const size_t equals = word.find('=');
  if (equals == std::string_view::npos) return false;
  const std::string_view name = word.substr(0, equals), value = word.substr(equals + 1);
  if (name == "engine") return read_name(runner_names, value, choice.runner);
  if (name == "stores") return read_name(stores_names, value, choice.stores);
  if (name == "layers") return read_name(layers_names, value, choice.layers);
  if (name == "batch") return read_within(value, 1, 64, choice.batch);
  if (name == "share") return read_within(value, 1, uint64_t{1} << 40, choice.share);
  if (name == "row") return is_name(value) && keep(value, choice.row);
  if (name == "threads") return read_within(value, 32, 1024, choice.threads) && choice.threads % 32 == 0;
  if (name == "blocks") return read_within(value, 1, 4, choice.blocks) && choice.blocks != 3;
  if (name == "per_sm") return read_within(value, 1, 32, choice.per_multiprocessor);
  if (name == "lanes") return read_within(value, 1, 64, choice.lanes);
  if (name == "run") return read_run_bytes(value, choice.run_bytes);
  if (name != "workers") return false;
  choice.workers = all_workers;
  return value == "all" || read_within(value, 1, 4096, choice.workers);
}

// "31.0 GB/s", "1200 /s", with anything before it.
bool read_score(std::string_view text, double& score) {
  const size_t space = text.find_last_of(" \t");
  if (space == std::string_view::npos) return false;
  const std::string_view unit = text.substr(space + 1);
  std::string_view number = trimmed(text.substr(0, space));
  number.remove_prefix(number.find_last_of(" \t") == std::string_view::npos ? 0 : number.find_last_of(" \t") + 1);
  return (unit == "GB/s" || unit == "/s") && read_number(number, score) && score > 0 && std::isfinite(score);
}

// "2026-11-22".
bool is_date(std::string_view text) {
  uint32_t year, month, day;
  return text.size() == 10 && text[4] == '-' && text[7] == '-' && read_within(text.substr(0, 4), 2024, 9999, year) &&
         read_within(text.substr(5, 2), 1, 12, month) && read_within(text.substr(8, 2), 1, 31, day);
}

// Seven hexadecimal digits or more, and "+" where the program had changes that were not committed; or "v" and a version.
bool is_commit(std::string_view text) {
  if (text.starts_with('v'))
    return text.size() > 1 && text.find_first_not_of("0123456789.", 1) == std::string_view::npos;
  if (text.ends_with('+')) text.remove_suffix(1);
  return text.size() >= 7 && text.size() <= 40 && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

bool read_features(std::string_view text, cpu::Features& features) {
  features = cpu::none;
  for (std::string_view word = take_word(text); !word.empty(); word = take_word(text)) {
    const auto* const found = std::find_if(std::begin(cpu::feature_names), std::end(cpu::feature_names),
                                           [&](const cpu::FeatureName& entry) { return word == entry.name; });
    if (found == std::end(cpu::feature_names)) return false;
    features |= found->bit;
  }
  return true;
}

bool before(const Entry& a, const Entry& b) {
  if (a.operation != b.operation) return a.operation < b.operation;
  return a.bits != b.bits ? a.bits < b.bits : a.from < b.from;
}

// Reads line by line.
class Reader {
 public:
  Reader(Profile& profile, Fault& fault) : profile_(profile), fault_(fault) {}

  bool read(std::string_view text, bool head_only) {
    while (!text.empty()) {
      ++fault_.line;
      std::string_view line = take(text, '\n');
      if (begun_ && !is_text(line)) return fail("there is a control character in it");
      if (line.empty() || line.front() == '#') continue;
      if (head_only && begun_ && line.find('|') != std::string_view::npos) return true;
      if (ended_) return fail("something stands behind the end");
      if (!(begun_ ? read_line(line) : read_first(line))) return false;
    }
    if (!begun_) return fail("it is empty");
    return ended_ || fail("its end is missing");
  }

 private:
  bool fail(const char* what) {
    if (fault_.what == nullptr) fault_.what = what;
    return false;
  }

  bool read_first(std::string_view line) {
    begun_ = true;
    if (take_word(line) != "stockade-profile") return fail("this is no profile of Stockade");
    uint32_t version = 0;
    if (!read_number(trimmed(line), version)) return fail("this is no profile of Stockade");
    return version == profile_version || fail("it was written for another version of Stockade");
  }

  bool read_line(std::string_view line) {
    if (line.find('|') != std::string_view::npos) return read_row_line(line);
    const std::string_view name = take_word(line);
    line = trimmed(line);
    if (name == "end") {
      uint32_t rows = 0;
      ended_ = true;
      return (read_number(line, rows) && rows == profile_.entries) ||
             fail("the number of rows is not the one at its end");
    }
    if (name == "machine") return keep(line, profile_.machine) || fail("the machine has no name, or too long a one");
    if (name == "gpu") return keep(line, profile_.gpu) || fail("the GPU has no name, or too long a one");
    if (name == "needs") return read_features(line, profile_.needs) || fail("an instruction set is unknown");
    if (name == "lacks") return read_features(line, profile_.lacks) || fail("an instruction set is unknown");
    if (name == "cores") return read_within(line, 1, 1 << 20, profile_.cores) || fail("the number of cores is none");
    if (name != "fingerprint") return fail("this is neither a row nor anything else that a profile has");
    const bool hexadecimal = line.size() == 16 && line.find_first_not_of("0123456789abcdef") == std::string_view::npos;
    return (hexadecimal && keep(line, profile_.fingerprint)) || fail("the fingerprint is none");
  }

  bool read_row_line(std::string_view line) {
    if (profile_.entries == Profile::most_entries) return fail("there are too many rows");
    Entry row{};
    Provenance provenance;
    if (!read_entry(line, row, provenance, fault_)) return false;
    row.line = fault_.line;
    const Entry* const last = profile_.entries == 0 ? nullptr : &profile_.entry[profile_.entries - 1];
    if (last != nullptr && !before(*last, row)) return fail("the rows are not in order");
    if (on_gpu(row.operation) && profile_.gpu[0] == '\0') return fail("a row about a GPU, and none was named");
    if (last == nullptr || last->operation != row.operation || last->bits != row.bits) {
      if (profile_.groups == Profile::most_groups) return fail("there are too many sizes of keys");
      profile_.group[profile_.groups++] = {row.operation, row.bits, profile_.entries, profile_.entries};
    }
    profile_.entry[profile_.entries++] = row;
    profile_.group[profile_.groups - 1].end = profile_.entries;
    return true;
  }

  Profile& profile_;
  Fault& fault_;
  bool begun_ = false, ended_ = false;
};

}  // namespace

bool read_choice(std::string_view text, Choice& choice, Fault& fault) {
  choice = {};
  uint32_t words = 0;
  for (std::string_view word = take_word(text); !word.empty(); word = take_word(text), ++words) {
    if (read_part(word, choice)) continue;
    fault.what = "a part of the choice is unknown or out of range";
    return false;
  }
  if (words == 0) fault.what = "there is no choice in the row";
  return words != 0;
}

bool read_entry(std::string_view line, Entry& row, Provenance& provenance, Fault& fault) {
  const auto fail = [&fault](const char* what) {
    fault.what = what;
    return false;
  };
  std::string_view subject = take(line, '|');
  const std::string_view operation = take_word(subject);
  const auto* const found = std::find(std::begin(operation_names), std::end(operation_names), operation);
  if (found == std::end(operation_names)) return fail("the operation is unknown");
  row.operation = static_cast<Operation>(found - std::begin(operation_names));
  if (!read_within(take_word(subject), 128, 16384, row.bits)) return fail("the size of the key is none");
  if (!read_number(take_word(subject), row.from)) return fail("the length is none");
  if (!read_choice(subject, row.choice, fault)) return false;
  provenance.score = take(line, '|');
  provenance.runner_up = take(line, '|');
  provenance.machine = take(line, '|');
  provenance.date = take(line, '|');
  provenance.commit = take(line, '|');
  if (!read_score(provenance.score, row.score)) return fail("the row has no score");
  double next = 0;
  if (provenance.runner_up != "-" && !read_score(provenance.runner_up, next)) return fail("the row has no runner-up");
  if (provenance.machine.empty()) return fail("the row does not say on which machine it was measured");
  if (!is_date(provenance.date)) return fail("the row does not say when it was measured");
  if (!is_commit(provenance.commit)) return fail("the row does not say of which commit it was measured");
  return line.empty() || fail("something stands behind the row");
}

void write_choice(const Choice& choice, char* text, size_t size) {
  size_t used = 0;
  text[0] = '\0';
  const auto append = [&](const char* name, std::string_view value) {
    if (used >= size) return;
    const int written = std::snprintf(text + used, size - used, "%s%s=%.*s", used == 0 ? "" : " ", name,
                                      static_cast<int>(value.size()), value.data());
    used += static_cast<size_t>(std::max(written, 0));
  };
  const auto append_number = [&](const char* name, uint64_t value) {
    char digits[24];
    const auto end = std::to_chars(std::begin(digits), std::end(digits), value).ptr;
    if (value != 0) append(name, {digits, static_cast<size_t>(end - digits)});
  };
  if (choice.runner != Runner::unsaid) append("engine", written_name(runner_names, choice.runner));
  if (choice.workers == all_workers) {
    append("workers", "all");
  } else {
    append_number("workers", choice.workers);
  }
  append_number("share", choice.share);
  if (choice.stores != Stores::unsaid) append("stores", written_name(stores_names, choice.stores));
  append_number("batch", choice.batch);
  if (choice.row[0] != '\0') append("row", choice.row);
  if (choice.layers != Layers::unsaid) append("layers", written_name(layers_names, choice.layers));
  append_number("threads", choice.threads);
  append_number("blocks", choice.blocks);
  append_number("per_sm", choice.per_multiprocessor);
  append_number("lanes", choice.lanes);
  append_number("run", choice.run_bytes);
}

namespace {

// What does about the same work for a block, so that its rows serve where there are none.
Operation kin_of(Operation operation) {
  switch (operation) {
    case Operation::ecb:
    case Operation::cbc:
    case Operation::cfb:
      return Operation::ctr;
    case Operation::gpu_cbc:
    case Operation::gpu_cfb:
      return Operation::gpu_ecb;
    default:
      return operation;
  }
}

}  // namespace

std::span<const Entry> Profile::find_all(Operation operation, uint32_t bits) const {
  const Group* nearest = nullptr;
  for (const Group* here = group; here != group + groups; ++here) {
    if (here->operation != operation) continue;
    // By rising bits: the next larger size, or the largest there is.
    nearest = here;
    if (here->bits >= bits) break;
  }
  if (nearest != nullptr) return {entry + nearest->begin, entry + nearest->end};
  const Operation other = kin_of(operation);
  return other == operation ? std::span<const Entry>() : find_all(other, bits);
}

const Entry* Profile::find(Operation operation, uint32_t bits, uint64_t length) const {
  const std::span<const Entry> all = find_all(operation, bits);
  const auto behind = std::upper_bound(all.begin(), all.end(), length,
                                       [](uint64_t value, const Entry& one) { return value < one.from; });
  return behind == all.begin() ? nullptr : &*(behind - 1);
}

namespace {

bool read_text(std::string_view text, bool head_only, Profile& profile, Fault& fault) {
  std::memset(static_cast<void*>(&profile), 0, offsetof(Profile, entry));
  fault = {};
  if (Reader(profile, fault).read(text, head_only)) return true;
  profile.entries = profile.groups = 0;
  return false;
}

}  // namespace

bool read_profile(std::string_view text, Profile& profile, Fault& fault) {
  return read_text(text, false, profile, fault);
}
bool read_head(std::string_view text, Profile& profile, Fault& fault) { return read_text(text, true, profile, fault); }

}  // namespace stockade::tune
