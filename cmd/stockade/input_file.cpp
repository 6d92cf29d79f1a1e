#include "input_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>

#include "exit_status.h"
#include "interrupt.h"
#include "stockade/stockade.h"
#include "ui.h"

namespace stockade::cmd {
namespace {

using Clock = std::chrono::steady_clock;

constexpr size_t first_look = 4096;
// A header has at most 1 MiB, in armor four thirds of that.
constexpr size_t longest_look = 3 << 19;
// Of what stands in a pipe.
constexpr size_t longest_stream_look = 1 << 16;
// Long enough for whoever writes a header in pieces. A pipe may be full with fewer bytes than its size, so it is no good
// to wait for ever.
constexpr auto patience = std::chrono::seconds(1);
constexpr int pause_milliseconds = 5;

size_t bytes_waiting(int fd) {
  int count = 0;
  return ioctl(fd, FIONREAD, &count) == 0 && count > 0 ? static_cast<size_t>(count) : 0;
}

// Waits for the first byte, the end, or a signal.
void wait_for_byte(int fd) {
  pollfd wait{fd, POLLIN, 0};
  while (poll(&wait, 1, -1) < 0 && errno == EINTR && !interrupt::requested()) continue;
}

bool writers_gone(int fd) {
  pollfd state{fd, POLLRDHUP, 0};
  return poll(&state, 1, 0) > 0 && (state.revents & (POLLHUP | POLLRDHUP | POLLERR)) != 0;
}

}  // namespace

std::string input_name(const std::string& path) { return path == "-" ? "standard input" : "'" + path + "'"; }

Input open_input(const std::string& path, bool quiet) {
  Input input;
  input.name = input_name(path);
  input.fd =
      Descriptor(path == "-" ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3) : open(path.c_str(), O_RDONLY | O_CLOEXEC));
  // A descriptor that can only be written is as good as none.
  if (path == "-" && input.fd.get() >= 0 && (fcntl(input.fd.get(), F_GETFL) & O_ACCMODE) == O_WRONLY) {
    input.fd.reset();
    errno = EBADF;
  }
  if (input.fd.get() < 0 || fstat(input.fd.get(), &input.status) != 0) {
    throw Failure(Exit::io, fmt::format("cannot open {}: {}", input.name, ui::system_text(errno)));
  }
  if (S_ISDIR(input.status.st_mode)) throw Failure(Exit::io, fmt::format("the input {} is a directory", input.name));
  if (input.regular()) {
    const off_t position = path == "-" ? lseek(input.fd.get(), 0, SEEK_CUR) : 0;
    input.start = static_cast<uint64_t>(position);
    if (position < input.status.st_size) input.length = static_cast<uint64_t>(input.status.st_size - position);
  }
  if (!quiet && S_ISCHR(input.status.st_mode) && isatty(input.fd.get())) {
    ui::notice("reading from the terminal; end with Ctrl-D");
  }
  return input;
}

Preview::Preview(const Input& input) : input_(input) {}

bool Preview::look_further() {
  if (input_.regular()) return look_into_file();
  if (S_ISFIFO(input_.status.st_mode) || S_ISSOCK(input_.status.st_mode)) return look_into_stream();
  return false;
}

bool Preview::look_into_file() {
  const size_t before = bytes_.size();
  const size_t size = std::min(before == 0 ? first_look : 4 * before, longest_look);
  if (before == size) return false;
  bytes_.resize(size);
  const ssize_t got =
      pread(input_.fd.get(), bytes_.data() + before, size - before, static_cast<off_t>(input_.start + before));
  bytes_.resize(before + static_cast<size_t>(std::max<ssize_t>(got, 0)));
  return bytes_.size() > before;
}

size_t Preview::peek(void* buffer, size_t size) {
  if (S_ISSOCK(input_.status.st_mode)) {
    return static_cast<size_t>(std::max<ssize_t>(recv(input_.fd.get(), buffer, size, MSG_PEEK | MSG_DONTWAIT), 0));
  }
  if (copy_in_.get() < 0) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return 0;
    copy_out_ = Descriptor(ends[0]);
    copy_in_ = Descriptor(ends[1]);
  }
  const ssize_t copied = tee(input_.fd.get(), copy_in_.get(), size, SPLICE_F_NONBLOCK);
  size_t got = 0;
  while (copied > 0 && got < static_cast<size_t>(copied)) {
    const ssize_t part = read(copy_out_.get(), static_cast<char*>(buffer) + got, static_cast<size_t>(copied) - got);
    if (part <= 0) break;
    got += static_cast<size_t>(part);
  }
  return got;
}

bool Preview::look_into_stream() {
  const size_t before = bytes_.size();
  wait_for_byte(input_.fd.get());
  const auto deadline = Clock::now() + patience;
  for (;;) {
    // In this order, so that what comes before the end is not missed.
    const bool last = writers_gone(input_.fd.get());
    const size_t waiting = std::min(bytes_waiting(input_.fd.get()), longest_stream_look);
    if (waiting > before) {
      bytes_.resize(waiting);
      const size_t seen = peek(bytes_.data(), waiting);
      bytes_.resize(std::max(seen, before));
      return seen > before;
    }
    if (last || before == longest_stream_look || Clock::now() >= deadline || interrupt::requested()) return false;
    poll(nullptr, 0, pause_milliseconds);
  }
}

bool looks_like_stockade_file(const Input& input) {
  constexpr size_t enough = 64;
  Preview preview(input);
  // Its first line tells.
  while (preview.look_further()) {
    const auto& bytes = preview.bytes();
    if (bytes.size() >= enough || std::find(bytes.begin(), bytes.end(), '\n') != bytes.end()) break;
  }
  return stockade_file_detect(preview.bytes().data(), std::min(preview.bytes().size(), enough)) != 0;
}

}  // namespace stockade::cmd
