// What a signal handler removes is what was announced, even where the text of the announcement has changed since.
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <string>

#include "cmd/stockade/interrupt.h"

namespace {

using stockade::cmd::interrupt::Doomed;

bool make(const std::string& path) {
  const int fd = open(path.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
  return fd >= 0 && close(fd) == 0;
}

// As another thread does that frees a path, whose memory then goes to the path of a file that is to stay.
[[noreturn]] void die_after_reuse(const std::string& temporary, const std::string& precious) {
  stockade::cmd::interrupt::install();
  { const Doomed former(precious.c_str()); }
  std::string text = temporary;
  const Doomed doomed(text.c_str());
  text.replace(0, text.size(), precious);
  // The second one ends the process at once.
  raise(SIGTERM);
  raise(SIGTERM);
  _exit(1);
}

bool exists(const std::string& path) { return access(path.c_str(), F_OK) == 0; }

}  // namespace

int main() {
  char folder[] = "/tmp/stockade-doomed.XXXXXX";
  if (mkdtemp(folder) == nullptr) return 1;
  // Of one length, so that the text keeps its place.
  const std::string temporary = std::string(folder) + "/temporary", precious = std::string(folder) + "/precious!";
  if (!make(temporary) || !make(precious)) return 1;
  const pid_t child = fork();
  if (child == 0) die_after_reuse(temporary, precious);
  int status = 0;
  const bool ended = waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 128 + SIGTERM;
  if (!ended) std::puts("the process did not end as one that was interrupted");
  const bool removed = !exists(temporary), kept = exists(precious);
  if (!removed) std::puts("the temporary file was not removed");
  if (!kept) std::puts("a file that was not announced any more was removed");
  unlink(temporary.c_str());
  unlink(precious.c_str());
  rmdir(folder);
  return ended && removed && kept ? 0 : 1;
}
