#include "process.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <sstream>
#include <stdexcept>
#include <utility>

namespace stockade::bench {
namespace {

[[noreturn]] void fail(const std::string& program, const std::string& what) {
  throw std::runtime_error("'" + program + "' " + what);
}

struct FileActions {
  FileActions() { posix_spawn_file_actions_init(&actions); }
  ~FileActions() { posix_spawn_file_actions_destroy(&actions); }
  FileActions(const FileActions&) = delete;
  FileActions& operator=(const FileActions&) = delete;
  void open(int fd, const char* path, int flags) { posix_spawn_file_actions_addopen(&actions, fd, path, flags, 0); }
  void take(int fd, int from) { posix_spawn_file_actions_adddup2(&actions, from, fd); }
  posix_spawn_file_actions_t actions;
};

pid_t spawn(const ProcessCall& call, const FileActions& files) {
  std::vector<char*> arguments;
  for (const std::string& word : call.words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  // What this process ignores would stay ignored.
  sigset_t usual;
  sigemptyset(&usual);
  sigaddset(&usual, SIGPIPE);
  sigaddset(&usual, SIGXFSZ);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setsigdefault(&attributes, &usual);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
  pid_t pid = -1;
  const int error = posix_spawn(&pid, arguments[0], &files.actions, &attributes, arguments.data(), environ);
  posix_spawnattr_destroy(&attributes);
  if (error != 0) fail(call.words[0], std::string("cannot be started: ") + std::strerror(error));
  return pid;
}

double seconds_of(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
}

std::string words_for(int status) {
  if (WIFSIGNALED(status)) return "was ended by signal " + std::to_string(WTERMSIG(status));
  return "failed with exit status " + std::to_string(WEXITSTATUS(status));
}

}  // namespace

std::string find_program(const std::string& name) {
  const char* path = std::getenv("PATH");
  std::istringstream folders(path != nullptr ? path : "/usr/local/bin:/usr/bin:/bin");
  for (std::string folder; std::getline(folders, folder, ':');) {
    const std::string candidate = (folder.empty() ? "." : folder) + "/" + name;
    if (access(candidate.c_str(), X_OK) == 0) return candidate;
  }
  return {};
}

Usage run_process(const ProcessCall& call, const Stop& stop) {
  FileActions files;
  files.open(STDIN_FILENO, "/dev/null", O_RDONLY);
  files.open(STDOUT_FILENO, "/dev/null", O_WRONLY);
  if (!call.folder.empty()) posix_spawn_file_actions_addchdir_np(&files.actions, call.folder.c_str());
  const auto start = std::chrono::steady_clock::now();
  const pid_t pid = spawn(call, files);
  int status = 0;
  rusage usage{};
  while (wait4(pid, &status, 0, &usage) < 0) {
    if (errno != EINTR) fail(call.words[0], std::string("cannot be waited for: ") + std::strerror(errno));
    if (stop()) kill(pid, SIGTERM);
  }
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
  if (stop()) fail(call.words[0], "was stopped");
  if (status != 0) fail(call.words[0], words_for(status));
  return {elapsed.count(), seconds_of(usage.ru_utime) + seconds_of(usage.ru_stime)};
}

std::string output_of(const ProcessCall& call, const Stop& stop) {
  int from[2];
  if (pipe2(from, O_CLOEXEC) != 0) fail(call.words[0], std::strerror(errno));
  std::string output;
  int status = 0;
  try {
    FileActions files;
    files.open(STDIN_FILENO, "/dev/null", O_RDONLY);
    files.take(STDOUT_FILENO, from[1]);
    files.open(STDERR_FILENO, "/dev/null", O_WRONLY);
    const pid_t pid = spawn(call, files);
    close(std::exchange(from[1], -1));
    char bytes[4096];
    for (ssize_t got = 0; (got = read(from[0], bytes, sizeof bytes)) != 0;) {
      if (got > 0) output.append(bytes, static_cast<size_t>(got));
      if (got < 0 && errno != EINTR) break;
      if (stop()) kill(pid, SIGTERM);
    }
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
  } catch (...) {
    close(from[0]);
    if (from[1] >= 0) close(from[1]);
    throw;
  }
  close(from[0]);
  if (stop()) fail(call.words[0], "was stopped");
  if (status != 0) fail(call.words[0], words_for(status));
  return output;
}

Coprocess::Coprocess(const std::vector<std::string>& words) : name_(words[0]) {
  int to[2], from[2];
  if (pipe2(to, O_CLOEXEC) != 0) fail(name_, std::strerror(errno));
  if (pipe2(from, O_CLOEXEC) != 0) {
    close(to[0]);
    close(to[1]);
    fail(name_, std::strerror(errno));
  }
  in_ = to[1];
  out_ = from[0];
  try {
    FileActions files;
    files.take(STDIN_FILENO, to[0]);
    files.take(STDOUT_FILENO, from[1]);
    files.open(STDERR_FILENO, "/dev/null", O_WRONLY);
    pid_ = spawn({words}, files);
  } catch (...) {
    for (const int fd : {to[0], to[1], from[0], from[1]}) close(fd);
    throw;
  }
  close(to[0]);
  close(from[1]);
}

Coprocess::~Coprocess() {
  close(in_);
  close(out_);
  kill(pid_, SIGTERM);
  while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

std::string Coprocess::read_line() {
  for (;;) {
    if (const size_t end = unread_.find('\n'); end != std::string::npos) {
      const std::string line = unread_.substr(0, end);
      unread_.erase(0, end + 1);
      return line;
    }
    char bytes[4096];
    const ssize_t got = read(out_, bytes, sizeof bytes);
    // An interruption ends the benchmark as well.
    if (got <= 0) fail(name_, "does not answer");
    unread_.append(bytes, static_cast<size_t>(got));
  }
}

std::string Coprocess::ask(const std::string& line) {
  const std::string text = line + "\n";
  if (write(in_, text.data(), text.size()) != static_cast<ssize_t>(text.size())) fail(name_, "does not listen");
  return read_line();
}

std::string first_line_of(const std::vector<std::string>& words) {
  try {
    return Coprocess(words).read_line();
  } catch (const std::runtime_error&) {
    return {};
  }
}

}  // namespace stockade::bench
