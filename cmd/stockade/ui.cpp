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
#include <system_error>

#include "exit_status.h"

namespace stockade::cmd::ui {
namespace {

using Clock = std::chrono::steady_clock;

Verbosity verbosity = Verbosity::normal;
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
  while (!text.empty()) {
    const ssize_t written = write(fd, text.data(), text.size());
    if (written < 0 && errno != EINTR) return errno;
    if (written > 0) text.remove_prefix(static_cast<size_t>(written));
  }
  return 0;
}

void say(std::string_view word, const char* colour, std::string_view message) {
  std::string line;
  if (line_shown.exchange(false)) line += erase_line;
  if (coloured()) {
    line += fmt::format("stockade: {}{}:\033[0m {}\n", colour, word, message);
  } else {
    line += fmt::format("stockade: {}: {}\n", word, message);
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

void set_verbosity(Verbosity chosen) { verbosity = chosen; }

void error(std::string_view message) { say("error", "\033[1;31m", message); }

void hint(std::string_view message) { say("hint", "\033[1;36m", message); }

void notice(std::string_view message) {
  if (verbosity != Verbosity::quiet) say("note", "\033[1m", message);
}

void note(std::string_view message) {
  if (verbosity == Verbosity::verbose) say("note", "\033[1m", message);
}

void print(std::string_view text) {
  if (const int error = write_all(STDOUT_FILENO, text)) {
    throw Failure(Exit::io, "cannot write to standard output: " + system_text(error));
  }
}

void error_from_signal_handler(const char* message, size_t length) {
  // The outcome of these writes changes nothing: the process is about to end.
  if (line_shown.load()) [[maybe_unused]]
    auto erased = write(STDERR_FILENO, erase_line, sizeof erase_line - 1);
  constexpr char prefix[] = "stockade: error: ";
  [[maybe_unused]] auto written = write(STDERR_FILENO, prefix, sizeof prefix - 1);
  written = write(STDERR_FILENO, message, length);
  written = write(STDERR_FILENO, "\n", 1);
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

void StatusLine::clear() {
  if (line_shown.exchange(false)) write_all(STDERR_FILENO, erase_line);
}

Progress::Progress(When when, std::string engine) : line_(when), engine_(std::move(engine)), start_(Clock::now()) {}

void Progress::update(uint64_t done, uint64_t total) {
  if (!line_.due()) return;
  const double elapsed = seconds();
  std::string text = size_text(done);
  if (total > 0) {
    text += fmt::format(" of {}  {:3.0f} %", size_text(total),
                        100.0 * static_cast<double>(done) / static_cast<double>(total));
  }
  text += "  " + rate_text(done, elapsed);
  if (total > 0 && done > 0) {
    const double left = elapsed * static_cast<double>(total - std::min(done, total)) / static_cast<double>(done);
    text += "  ETA " + duration_text(left);
  }
  line_.show(text + "  " + engine_);
}

double Progress::seconds() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }

}  // namespace stockade::cmd::ui
