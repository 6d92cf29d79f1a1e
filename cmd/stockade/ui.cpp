#include "ui.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cctype>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <nlohmann/json.hpp>
#include <system_error>
#include <utility>

#include "exit_status.h"
#include "interrupt.h"

namespace stockade::cmd::ui {
namespace {

using Clock = std::chrono::steady_clock;

Verbosity verbosity = Verbosity::normal;
bool speaking = true;
// Whether a status line stands on the terminal and must be erased before anything else is written.
std::atomic<bool> line_shown = false;

constexpr char erase_line[] = "\r\033[K";

bool dumb_terminal() {
  const char* term = std::getenv("TERM");
  return term == nullptr || std::string_view(term) == "dumb";
}

bool coloured() {
  const char* no_color = std::getenv("NO_COLOR");
  static const bool result = isatty(STDERR_FILENO) && !dumb_terminal() && (no_color == nullptr || *no_color == '\0');
  return result;
}

// 0 or errno. What fails on stderr is let go: nowhere is left to complain to.
int write_all(int fd, std::string_view text) {
  if (!speaking) return 0;
  while (!text.empty()) {
    const ssize_t written = write(fd, text.data(), text.size());
    if (written < 0 && errno != EINTR) return errno;
    if (written > 0) text.remove_prefix(static_cast<size_t>(written));
  }
  return 0;
}

// A character of UTF-8 (RFC 3629) at the front of `text`: its length, and which one it is; length 0 where there is none.
struct Character {
  size_t length;
  uint32_t code;
};

Character first_character(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<uint8_t>(text[i]); };
  const uint8_t lead = byte(0);
  if (lead < 0x80) return {1, lead};
  const size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || text.size() < length) return {0, 0};
  uint32_t code = lead & (0xFFU >> (length + 1));
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return {0, 0};
    code = code << 6 | (byte(i) & 0x3FU);
  }
  const bool is_longer_than_it_must_be = (length == 3 && code < 0x800) || (length == 4 && code < 0x10000);
  const bool is_half_of_a_pair = code >= 0xD800 && code < 0xE000;
  return is_longer_than_it_must_be || is_half_of_a_pair || code > 0x10FFFF ? Character{0, 0} : Character{length, code};
}

// Of Unicode's categories Cc, Cf, Zl and Zp: what acts on a terminal or on the order of the characters around it, or cannot
// be seen.
bool is_unsafe(uint32_t code) {
  constexpr std::pair<uint32_t, uint32_t> ranges[] = {
      {0x00, 0x1F},       {0x7F, 0x9F},       {0xAD, 0xAD},       {0x600, 0x605},     {0x61C, 0x61C},
      {0x6DD, 0x6DD},     {0x70F, 0x70F},     {0x890, 0x891},     {0x8E2, 0x8E2},     {0x180E, 0x180E},
      {0x200B, 0x200F},   {0x2028, 0x202E},   {0x2060, 0x206F},   {0xFEFF, 0xFEFF},   {0xFFF9, 0xFFFB},
      {0xFFFE, 0xFFFF},   {0x110BD, 0x110BD}, {0x110CD, 0x110CD}, {0x13430, 0x1343F}, {0x1BCA0, 0x1BCA3},
      {0x1D173, 0x1D17A}, {0xE0000, 0xE0FFF}};
  return std::any_of(std::begin(ranges), std::end(ranges),
                     [code](const auto& range) { return code >= range.first && code <= range.second; });
}

std::string escape(std::string_view text, bool keeps_lines) {
  std::string out;
  while (!text.empty()) {
    const Character character = first_character(text);
    const size_t length = std::max<size_t>(character.length, 1);
    if (character.length == 0) {
      out += fmt::format("\\x{:02x}", static_cast<uint8_t>(text[0]));
    } else if (character.code == '\\' && !keeps_lines) {
      // So that a name with a backslash in it does not look like one with what follows stands for.
      out += "\\\\";
    } else if (!is_unsafe(character.code) || (keeps_lines && character.code == '\n')) {
      out += text.substr(0, length);
    } else if (character.code == '\n' || character.code == '\r' || character.code == '\t') {
      out += character.code == '\n' ? "\\n" : character.code == '\r' ? "\\r" : "\\t";
    } else if (character.code < 0x80) {
      out += fmt::format("\\x{:02x}", character.code);
    } else {
      out += fmt::format("\\u{{{:x}}}", character.code);
    }
    text.remove_prefix(length);
  }
  return out;
}

void say(std::string_view word, const char* colour, std::string_view message) {
  std::string line;
  if (line_shown.exchange(false)) line += erase_line;
  if (coloured()) {
    line += fmt::format("stockade: {}{}:\033[0m {}\n", colour, word, escaped(message));
  } else {
    line += fmt::format("stockade: {}: {}\n", word, escaped(message));
  }
  write_all(STDERR_FILENO, line);
}

size_t terminal_width() {
  winsize size{};
  return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

std::string duration_text(double seconds) {
  const auto whole = static_cast<uint64_t>(std::llround(seconds));
  if (whole >= 3600) return fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
  return fmt::format("{}:{:02}", whole / 60, whole % 60);
}

}  // namespace

std::string escaped(std::string_view text) { return escape(text, false); }

std::string json_text(const nlohmann::ordered_json& json, int indent) {
  return json.dump(indent, ' ', true, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

void set_verbosity(Verbosity chosen) { verbosity = chosen; }

void set_verbosity(bool quiet, bool verbose) {
  verbosity = quiet ? Verbosity::quiet : verbose ? Verbosity::verbose : Verbosity::normal;
}

bool verbose() { return verbosity == Verbosity::verbose; }

void set_speaking(bool speaks) { speaking = speaks; }

void error(std::string_view message) { say("error", "\033[1;31m", message); }

void hint(std::string_view message) { say("hint", "\033[1;36m", message); }

void warning(std::string_view message) {
  if (verbosity != Verbosity::quiet) say("warning", "\033[1;33m", message);
}

void notice(std::string_view message) {
  if (verbosity != Verbosity::quiet) say("note", "\033[1m", message);
}

void note(std::string_view message) {
  if (verbosity == Verbosity::verbose) say("note", "\033[1m", message);
}

void print(std::string_view text) {
  if (const int error = write_all(STDOUT_FILENO, escape(text, true))) {
    throw Failure(Exit::io, "cannot write to standard output: " + system_text(error));
  }
}

void end_from_signal_handler(const char* message, const char* hint) {
  if (!speaking) return;
  // The outcome of these writes changes nothing: the process is about to end.
  const auto put = [](const char* text) {
    [[maybe_unused]] auto written = write(STDERR_FILENO, text, std::strlen(text));
  };
  if (line_shown.load()) put(erase_line);
  put("stockade: error: ");
  put(message);
  put("\n");
  if (hint == nullptr) return;
  put("stockade: hint: ");
  put(hint);
  put("\n");
}

std::string system_text(int error_number) {
  std::string text = std::generic_category().message(error_number);
  if (text.size() > 1 && std::islower(static_cast<unsigned char>(text[1]))) {
    text[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(text[0])));
  }
  return text;
}

std::string size_text(uint64_t bytes) {
  if (bytes < 1024) return fmt::format("{} B", bytes);
  static constexpr const char* units[] = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  auto value = static_cast<double>(bytes) / 1024;
  size_t unit = 0;
  // 1023.995 would be printed as 1024.00.
  for (; value >= 1023.995 && unit + 1 < std::size(units); ++unit) value /= 1024;
  return fmt::format("{:.2f} {}", value, units[unit]);
}

std::string power_text(uint32_t log2) {
  return log2 < 64 ? size_text(uint64_t{1} << log2) : fmt::format("2^{} bytes", log2);
}

std::string rate_text(uint64_t bytes, double seconds) {
  return seconds > 0 ? fmt::format("{:.2f} GB/s", static_cast<double>(bytes) / seconds / 1e9) : std::string();
}

StatusLine::StatusLine(When when) {
  animated_ = isatty(STDERR_FILENO) && !dumb_terminal();
  enabled_ = verbosity != Verbosity::quiet && (when == When::always || (when == When::automatic && animated_));
  next_ = Clock::now() + std::chrono::seconds(1);
}

bool StatusLine::due() const { return enabled_ && Clock::now() >= next_; }

void StatusLine::show(const std::string& text) {
  if (!enabled_) return;
  next_ = Clock::now() + std::chrono::milliseconds(animated_ ? 100 : 1000);
  if (animated_) {
    // A line that wraps could not be erased again.
    write_all(STDERR_FILENO, erase_line + text.substr(0, terminal_width() - 1));
    line_shown = true;
  } else {
    write_all(STDERR_FILENO, text + "\n");
  }
}

void StatusLine::show_once(const std::string& text) {
  clear();
  write_all(STDERR_FILENO, text + "\n");
}

void StatusLine::clear() {
  if (line_shown.exchange(false)) write_all(STDERR_FILENO, erase_line);
}

Progress::Progress(When when, Work work)
    : line_(when), json_(when == When::json), work_(std::move(work)), start_(Clock::now()), next_json_(start_) {}

void Progress::start_file(const std::string& name) {
  const std::lock_guard lock(mutex_);
  file_ = name;
}

void Progress::update(uint64_t done, uint64_t total) {
  const std::lock_guard lock(mutex_);
  report(bytes_before_ + done, work_.total == 0 && work_.files == 1 ? total : work_.total);
}

void Progress::end_file(uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  bytes_before_ += bytes;
  ++files_done_;
  report(bytes_before_, work_.total);
}

void Progress::finish() {
  line_.clear();
  const std::lock_guard lock(mutex_);
  if (json_) show_json(bytes_before_, bytes_before_, true);
}

void Progress::report(uint64_t done, uint64_t total) {
  if (interrupt::take_report_request()) line_.show_once(text(done, total));
  if (json_ && Clock::now() >= next_json_) {
    next_json_ = Clock::now() + std::chrono::milliseconds(100);
    show_json(done, total, false);
  }
  if (line_.due()) line_.show(text(done, total));
}

std::string Progress::text(uint64_t done, uint64_t total) const {
  const double elapsed = seconds();
  std::string text = work_.files > 1 ? fmt::format("{} of {} files  ", files_done_, work_.files) : std::string();
  text += size_text(done);
  if (total > 0) {
    text += fmt::format(" of {}  {:3.0f} %", size_text(total),
                        100.0 * static_cast<double>(done) / static_cast<double>(total));
  }
  text += "  " + rate_text(done, elapsed);
  if (total > 0 && done > 0) {
    const double left = elapsed * static_cast<double>(total - std::min(done, total)) / static_cast<double>(done);
    text += "  ETA " + duration_text(left);
  }
  return text + "  " + work_.engine;
}

void Progress::show_json(uint64_t done, uint64_t total, bool finished) {
  using nlohmann::ordered_json;
  const double elapsed = seconds();
  const bool names_one = !finished || work_.files == 1;
  const ordered_json object = {{"file", names_one ? ordered_json(file_) : ordered_json()},
                               {"files_done", files_done_},
                               {"files", work_.files},
                               {"bytes", done},
                               {"total", total > 0 || finished ? ordered_json(total) : ordered_json()},
                               {"seconds", elapsed},
                               {"gb_per_second", elapsed > 0 ? static_cast<double>(done) / elapsed / 1e9 : 0.0},
                               {"engine", work_.engine},
                               {"done", finished}};
  write_all(STDERR_FILENO, json_text(object, -1));
}

double Progress::seconds() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }

}  // namespace stockade::cmd::ui
