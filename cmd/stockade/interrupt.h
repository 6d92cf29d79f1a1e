// Ctrl-C and its kin: first a polite request that the work sees through its progress callback, then, where the work is
// stuck in a system call, the end. Either way the temporary outputs are gone, the terminal echoes again, and the exit
// status is 128 + signal. SIGUSR1 asks for a line of progress.
#pragma once

#include <termios.h>

#include <cstddef>

namespace stockade::cmd::interrupt {

// Handles SIGINT, SIGTERM and SIGHUP unless they are ignored already (as under nohup), and ignores SIGPIPE and SIGXFSZ, so
// that a closed pipe and a file-size limit are write errors like any other.
void install();

// True once a signal has come.
bool requested();
// 128 + the signal's number.
int exit_status();
// Says that the process was interrupted, with the hint, unless that has been said: a second signal, which `timeout` sends too, may
// come at any moment. From here on no time limit ends the process.
void answer();
// The text of the message for it.
extern const char message[];

// True once for each SIGUSR1.
bool take_report_request();

// As many files as may be doomed at a time.
inline constexpr size_t max_doomed = 256;

// While this stands, the file is removed should the process have to end at once. Beyond max_doomed of them at a time, and for
// a path that is too long for any file, it has no effect.
class Doomed {
 public:
  explicit Doomed(const char* path);
  Doomed(const Doomed&) = delete;
  Doomed& operator=(const Doomed&) = delete;
  ~Doomed();

 private:
  size_t slot_;
};

// While this stands, the terminal gets these settings back should the process have to end at once.
class TerminalGuard {
 public:
  TerminalGuard(int fd, const termios& settings);
  TerminalGuard(const TerminalGuard&) = delete;
  TerminalGuard& operator=(const TerminalGuard&) = delete;
  ~TerminalGuard();

 private:
  struct Saved {
    int fd;
    termios settings;
  };
  friend void restore_terminal();
  Saved saved_;
};

// What follows the message as a hint, for as long as the work at hand can be taken up again; null for nothing. The text
// must stay.
void set_hint(const char* text);
const char* hint();

}  // namespace stockade::cmd::interrupt
