// The command's one voice. Nothing else in cmd/ writes to the terminal: stdout carries data, tables and help, stderr
// carries "stockade: error: ...", hints, notes and progress.
#pragma once

#include <chrono>
#include <cstdint>
#include <mutex>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace stockade::cmd::ui {

enum class Verbosity { quiet, normal, verbose };
void set_verbosity(Verbosity chosen);
void set_verbosity(bool quiet, bool verbose);
bool verbose();

// What comes from outside, such as the name of a file, as it may stand on a terminal and in a report: control characters,
// marks that change the direction or the look of what follows, and bytes that are no UTF-8 are written as \n, \x1b or
// \u{202e}, a backslash as two. All that is said on stderr goes through it, and so does what print() writes, but for the ends
// of lines and for backslashes.
std::string escaped(std::string_view text);

// A document, all of it in ASCII, and the end of its line. Text that is no UTF-8, as the name of a file may be, has U+FFFD
// where that is: JSON cannot hold it.
std::string json_text(const nlohmann::ordered_json& json, int indent = 2);

// Whether this process says anything at all, as it does unless it is one of several that have one voice.
void set_speaking(bool speaks);

void error(std::string_view message);
void hint(std::string_view message);
// Something that may be a danger and stops nothing; silent with --quiet.
void warning(std::string_view message);
// Something worth knowing on the way; silent with --quiet.
void notice(std::string_view message);
// What --verbose adds.
void note(std::string_view message);
// Text in lines on stdout; a name in it must be escaped() already, as it may hold the end of a line. Throws Failure (io)
// where it cannot be written.
void print(std::string_view text);
// An error and, where it is not null, a hint. Only async-signal-safe calls: may be used in a signal handler.
void end_from_signal_handler(const char* message, const char* hint);

// The system's words for an errno value, lower case: "no space left on device".
std::string system_text(int error_number);
// "1.50 GiB"
std::string size_text(uint64_t bytes);
// The same for 2^log2 bytes, and "2^70 bytes" where a number of 64 bits cannot hold them.
std::string power_text(uint32_t log2);
// "3.21 GB/s", GB = 1e9 bytes; empty where no time has passed.
std::string rate_text(uint64_t bytes, double seconds);

enum class When { automatic, always, never, json };

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
  // Whether or not it is due or enabled, with a line of its own.
  void show_once(const std::string& text);
  void clear();

 private:
  bool enabled_, animated_;
  std::chrono::steady_clock::time_point next_;
};

// Bytes done of a long job, over all of its files: a line that is silent for the first second, or JSON, one object per
// line, at most ten a second. May be used by many threads.
class Progress {
 public:
  struct Work {
    std::string engine;
    uint64_t files = 1;
    uint64_t total = 0;  // of all files; 0 where unknown
  };
  Progress(When when, Work work);

  // `name` is the file at hand from now on.
  void start_file(const std::string& name);
  // Bytes of the file at hand, and its length or 0, which counts where the work has no total.
  void update(uint64_t done, uint64_t total);
  void end_file(uint64_t bytes);
  // The work is done: the last JSON object says so.
  void finish();
  void clear() { line_.clear(); }
  double seconds() const;

 private:
  using Clock = std::chrono::steady_clock;
  void report(uint64_t done, uint64_t total);
  std::string text(uint64_t done, uint64_t total) const;
  void show_json(uint64_t done, uint64_t total, bool finished);

  std::mutex mutex_;
  StatusLine line_;
  bool json_;
  Work work_;
  std::string file_;
  uint64_t files_done_ = 0, bytes_before_ = 0;
  Clock::time_point start_, next_json_;
};

}  // namespace stockade::cmd::ui
