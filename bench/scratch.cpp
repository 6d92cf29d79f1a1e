#include "scratch.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <system_error>

namespace stockade::bench {
namespace {

[[noreturn]] void fail(int error, const std::string& what) {
  throw std::system_error(error, std::generic_category(), what);
}

// The second process. It is in a session of its own, so that Ctrl-C does not reach it, and holds none of the streams, so
// that nobody waits for their end because of it.
[[noreturn]] void remove_at_the_end(const std::string& path, int lifeline) {
  setsid();
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) signal(number, SIG_IGN);
  const int null = open("/dev/null", O_RDWR);
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) dup2(null, stream);
  char byte;
  while (read(lifeline, &byte, 1) < 0 && errno == EINTR) {
  }
  // Whoever was writing into the folder may need a moment to end as well.
  for (int attempt = 0; attempt < 50; ++attempt) {
    std::error_code error;
    std::filesystem::remove_all(path, error);
    if (!std::filesystem::exists(path, error)) break;
    usleep(100'000);
  }
  _exit(0);
}

}  // namespace

ScratchFolder::ScratchFolder(const std::string& parent) : path_(parent + "/stockade-bench-XXXXXX") {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) fail(errno, "cannot make a pipe");
  if (mkdtemp(path_.data()) == nullptr) {
    const int error = errno;
    close(ends[0]);
    close(ends[1]);
    fail(error, "cannot make a folder in '" + parent + "'");
  }
  remover_ = fork();
  if (remover_ == 0) {
    close(ends[1]);
    remove_at_the_end(path_, ends[0]);
  }
  const int error = errno;
  close(ends[0]);
  lifeline_ = ends[1];
  if (remover_ < 0) {
    close(lifeline_);
    rmdir(path_.c_str());
    fail(error, "cannot start a process");
  }
}

ScratchFolder::~ScratchFolder() {
  close(lifeline_);
  while (waitpid(remover_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

}  // namespace stockade::bench
