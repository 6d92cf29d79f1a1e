#include "mpi/finalize.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <cerrno>
#include <charconv>

namespace stockade::mpi {

namespace {

bool left = false;

// The text behind a name, up to the end of its line.
std::string_view value_of(std::string_view text, std::string_view name) {
  const size_t found = text.find(name);
  if (found == std::string_view::npos) return {};
  text.remove_prefix(found + name.size());
  text = text.substr(0, text.find('\n'));
  const size_t begin = text.find_first_not_of(" \t");
  return begin == std::string_view::npos ? std::string_view() : text.substr(begin);
}

// The number that a text begins with, which loses it and the character behind it.
uint32_t take_number(std::string_view& text) {
  uint32_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const auto length = static_cast<size_t>(end - text.data());
  text.remove_prefix(length < text.size() ? length + 1 : text.size());
  return error == std::errc() ? number : 0;
}

}  // namespace

bool may_never_finalise(std::string_view library) {
  std::string_view version = value_of(library, "MPICH Version:");
  if (version.empty() || value_of(library, "MPICH Device:") != "ch4:ucx") return false;
  // Built for another protocol than its own.
  if (library.find("--with-pmi") != std::string_view::npos) return false;
  const uint32_t major = take_number(version), minor = take_number(version);
  return major < 4 || (major == 4 && minor < 2);
}

Launcher::Launcher(const char* descriptor) {
  if (descriptor == nullptr) return;
  const std::string_view text = descriptor;
  int fd = -1;
  struct stat status {};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), fd);
  if (error != std::errc() || end != text.data() + text.size() || fd < 0) return;
  if (fstat(fd, &status) == 0 && S_ISSOCK(status.st_mode)) fd_ = fd;
}

bool Launcher::say(std::string_view line) {
  while (there() && !line.empty()) {
    const ssize_t sent = send(fd_, line.data(), line.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno != EINTR) return false;
    if (sent > 0) line.remove_prefix(static_cast<size_t>(sent));
  }
  return there();
}

bool Launcher::has_answer(bool& answer) {
  pollfd event{.fd = fd_, .events = POLLIN, .revents = 0};
  const int count = poll(&event, 1, 1);
  answer = count > 0;
  return count >= 0 || errno == EINTR;
}

bool Launcher::hears(std::string_view line) {
  // An answer may go on behind a space.
  char answer[256];
  size_t length = 0;
  while (length < sizeof answer) {
    const ssize_t got = recv(fd_, answer + length, 1, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    if (answer[length] == '\n') break;
    ++length;
  }
  const std::string_view heard(answer, length);
  return heard.starts_with(line) && (heard.size() == line.size() || heard[line.size()] == ' ');
}

void leave(Launcher& launcher, MPI_Comm communicator) {
  const auto progress = [communicator] {
    int found = 0;
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, communicator, &found, MPI_STATUS_IGNORE);
  };
  left = true;
  // After the first barrier nobody waits for a message any more. After the second nobody looks at the connections, which
  // are cut as the processes end.
  if (launcher.meet(progress) && launcher.meet([] {})) launcher.take_leave();
}

bool has_left() { return left; }

}  // namespace stockade::mpi
