#include "prompt.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <termios.h>
#include <unistd.h>

#include <cerrno>

#include "exit_status.h"
#include "interrupt.h"
#include "ui.h"

namespace stockade::cmd::ui {
namespace {

constexpr char terminal_name[] = "the terminal";

// No echo while this stands, whatever ends the process.
class WithoutEcho {
 public:
  explicit WithoutEcho(int fd) : fd_(fd), saved_(settings_of(fd)), guard_(fd, saved_) {
    termios quiet = saved_;
    quiet.c_lflag &= ~static_cast<tcflag_t>(ECHO);
    // A person sees that Enter was taken.
    quiet.c_lflag |= ICANON | ECHONL;
    tcsetattr(fd_, TCSAFLUSH, &quiet);
  }
  WithoutEcho(const WithoutEcho&) = delete;
  WithoutEcho& operator=(const WithoutEcho&) = delete;
  ~WithoutEcho() { tcsetattr(fd_, TCSANOW, &saved_); }

 private:
  static termios settings_of(int fd) {
    termios settings{};
    tcgetattr(fd, &settings);
    return settings;
  }

  int fd_;
  termios saved_;
  interrupt::TerminalGuard guard_;
};

}  // namespace

Prompt::Prompt() : terminal_(open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC)) {}

void Prompt::ask_secret(std::string_view question, SecretBytes& answer) {
  const WithoutEcho silence(terminal_.get());
  const std::string shown = ui::escaped(question);
  write_all(terminal_.get(), shown.data(), shown.size(), terminal_name);
  size_t size = 0;
  while (size == 0 || answer.data()[size - 1] != '\n') {
    if (size == answer.capacity()) throw Failure(Exit::usage, "the passphrase is too long");
    const ssize_t got = read(terminal_.get(), answer.data() + size, answer.capacity() - size);
    const int error = errno;
    if (got < 0 && error == EINTR && !interrupt::requested()) continue;
    // No Enter has ended the line.
    if (got <= 0) tell("", "");
    if (interrupt::requested()) throw Failure(Exit::interrupted, interrupt::message);
    if (got == 0) throw Failure(Exit::usage, "no passphrase was given");
    if (got < 0) throw Failure(Exit::io, fmt::format("cannot read from {}: {}", terminal_name, system_text(error)));
    size += static_cast<size_t>(got);
  }
  answer.resize(size - 1);
}

void Prompt::tell(std::string_view text, std::string_view secret) {
  write_all(terminal_.get(), text.data(), text.size(), terminal_name);
  write_all(terminal_.get(), secret.data(), secret.size(), terminal_name);
  write_all(terminal_.get(), "\n", 1, terminal_name);
}

}  // namespace stockade::cmd::ui
