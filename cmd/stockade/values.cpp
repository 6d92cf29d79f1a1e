#include "values.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <numeric>

#include "exit_status.h"

namespace stockade::cmd {
namespace {

// 0 to 15, or above where the character is no hex digit. `between` is all ones or zero: the sign bit of either difference
// says that the character lies outside.
uint32_t digit_value(char character) {
  const auto c = static_cast<uint32_t>(static_cast<unsigned char>(character));
  const auto between = [c](uint32_t low, uint32_t high) { return (((c - low) | (high - c)) >> 31) - 1; };
  const uint32_t decimal = between('0', '9'), upper = between('A', 'F'), lower = between('a', 'f');
  const uint32_t value = (decimal & (c - '0')) | (upper & (c - 'A' + 10)) | (lower & (c - 'a' + 10));
  return value | (~(decimal | upper | lower) & 0x100);
}

// The number at the start of `text`, which is cut off. False where there is none or it is too large.
bool take_number(std::string_view& text, uint64_t& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc()) return false;
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  return true;
}

// Edits that turn one into the other: insert, delete, replace, or swap two neighbours.
size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::vector<size_t>> d(a.size() + 1, std::vector<size_t>(b.size() + 1));
  for (size_t i = 0; i <= a.size(); ++i) d[i][0] = i;
  std::iota(d[0].begin(), d[0].end(), size_t{0});
  for (size_t i = 1; i <= a.size(); ++i) {
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t replace = d[i - 1][j - 1] + (a[i - 1] != b[j - 1] ? 1 : 0);
      d[i][j] = std::min({d[i - 1][j] + 1, d[i][j - 1] + 1, replace});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
    }
  }
  return d[a.size()][b.size()];
}

}  // namespace

size_t decode_hex(std::string_view text, std::span<uint8_t> out) {
  for (size_t i = 0; i < text.size(); i += 2) {
    const uint32_t high = digit_value(text[i]);
    if (high > 15) return i;
    if (i + 1 == text.size()) break;
    const uint32_t low = digit_value(text[i + 1]);
    if (low > 15) return i + 1;
    out[i / 2] = static_cast<uint8_t>(high << 4 | low);
  }
  return text.size();
}

void encode_hex(std::span<const uint8_t> bytes, uint8_t* text) {
  const auto digit = [](uint32_t value) {
    return static_cast<uint8_t>('0' + value + ((0u - ((9u - value) >> 31)) & ('a' - '0' - 10)));
  };
  for (const uint8_t byte : bytes) {
    *text++ = digit(byte >> 4);
    *text++ = digit(byte & 15u);
  }
}

std::vector<uint8_t> parse_hex(std::string_view what, std::string_view text) {
  std::vector<uint8_t> bytes(text.size() / 2);
  if (const size_t good = decode_hex(text, bytes); good < text.size()) {
    throw Failure(Exit::usage, fmt::format("{}: character {} is not a hex digit", what, good + 1));
  }
  if (text.size() % 2 != 0) {
    throw Failure(Exit::usage, fmt::format("{}: {} hex digits are not whole bytes", what, text.size()));
  }
  return bytes;
}

uint64_t parse_size(std::string_view what, std::string_view text) {
  static constexpr struct {
    std::string_view suffix;
    unsigned shift;
  } units[] = {{"", 0}, {"b", 0}, {"kib", 10}, {"mib", 20}, {"gib", 30}};
  std::string_view rest = text;
  uint64_t number = 0;
  if (take_number(rest, number)) {
    std::string suffix(rest);
    std::transform(suffix.begin(), suffix.end(), suffix.begin(), [](unsigned char c) { return std::tolower(c); });
    for (const auto& unit : units) {
      if (suffix == unit.suffix && number <= UINT64_MAX >> unit.shift) return number << unit.shift;
    }
  }
  throw Failure(Exit::usage, fmt::format("{}: '{}' is not a size", what, text),
                {"a size is a number of bytes, or one with KiB, MiB or GiB, such as 64KiB"});
}

uint64_t parse_number(std::string_view what, std::string_view text, uint64_t least, uint64_t most) {
  std::string_view rest = text;
  uint64_t number = 0;
  if (take_number(rest, number) && rest.empty() && number >= least && number <= most) return number;
  throw Failure(Exit::usage, fmt::format("{}: '{}' is not a whole number from {} to {}", what, text, least, most));
}

std::vector<std::string> parse_list(std::string_view what, std::string_view text) {
  std::vector<std::string> parts;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(',', begin), text.size());
    if (end == begin) throw Failure(Exit::usage, fmt::format("{}: '{}' has an empty part", what, text));
    parts.emplace_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

std::vector<std::string> did_you_mean(std::string_view text, std::span<const std::string> candidates) {
  std::string best;
  size_t best_distance = std::max<size_t>(2, text.size() / 3) + 1;
  for (const std::string& candidate : candidates) {
    const size_t d = distance(text, candidate);
    if (d < best_distance && d < candidate.size()) {
      best_distance = d;
      best = candidate;
    }
  }
  if (best.empty()) return {};
  return {fmt::format("did you mean '{}'?", best)};
}

std::string listed(std::span<const std::string> names) {
  std::string text;
  for (size_t i = 0; i < names.size(); ++i) {
    if (i > 0) text += i + 1 == names.size() ? " and " : ", ";
    text += names[i];
  }
  return text;
}

std::string joined(std::span<const std::string> texts, std::string_view between) {
  std::string all;
  for (size_t i = 0; i < texts.size(); ++i) {
    if (i > 0) all += between;
    all += texts[i];
  }
  return all;
}

std::string plural(uint64_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

}  // namespace stockade::cmd
