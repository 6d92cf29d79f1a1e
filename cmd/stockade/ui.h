// The command's one voice. Nothing else in cmd/ writes to the terminal: stdout carries data, tables and help, stderr
// carries "stockade: error: ...", hints, notes and progress.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

namespace stockade::cmd::ui {

enum class Verbosity { quiet, normal, verbose };
void set_verbosity(Verbosity chosen);

void error(std::string_view message);
void hint(std::string_view message);
// Something worth knowing on the way; silent with --quiet.
void notice(std::string_view message);
// What --verbose adds.
void note(std::string_view message);
// Text on stdout. Throws Failure (io) where it cannot be written.
void print(std::string_view text);
// Only async-signal-safe calls: may be used in a signal handler.
void error_from_signal_handler(const char* message, size_t length);

// The system's words for an errno value, lower case: "no space left on device".
std::string system_text(int error_number);
// "1.50 GiB"
std::string size_text(uint64_t bytes);
// "3.21 GB/s", GB = 1e9 bytes; empty where no time has passed.
std::string rate_text(uint64_t bytes, double seconds);

enum class When { automatic, always, never };

// A line on stderr that replaces itself, for a terminal; with `always` and no terminal, one line each second.
class StatusLine {
 public:
  explicit StatusLine(When when);
  ~StatusLine() { clear(); }
  StatusLine(const StatusLine&) = delete;
  StatusLine& operator=(const StatusLine&) = delete;

  bool enabled() const { return enabled_; }
  // True where a new text would be shown, so that the caller need not make it in vain.
  bool due() const;
  void show(const std::string& text);
  void clear();

 private:
  bool enabled_, animated_;
  std::chrono::steady_clock::time_point next_;
};

// Bytes done of a long job: silent for the first second.
class Progress {
 public:
  Progress(When when, std::string engine);
  // `total` is 0 where unknown.
  void update(uint64_t done, uint64_t total);
  void clear() { line_.clear(); }
  double seconds() const;

 private:
  StatusLine line_;
  std::string engine_;
  std::chrono::steady_clock::time_point start_;
};

}  // namespace stockade::cmd::ui
