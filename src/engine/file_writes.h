// What writes to files have in common, whoever makes them.
#pragma once

#include <linux/magic.h>
#include <pthread.h>
#include <signal.h>
#include <sys/vfs.h>

#include <cstdint>

namespace stockade::engine {

// Holds back the signals that a failing write raises; errno says the same without ending the process.
class WriteSignals {
 public:
  WriteSignals() {
    sigemptyset(&raised_);
    sigset_t pending;
    sigpending(&pending);
    for (const int number : {SIGPIPE, SIGXFSZ}) {
      if (sigismember(&pending, number) == 0) sigaddset(&raised_, number);
    }
    pthread_sigmask(SIG_BLOCK, &raised_, &before_);
  }
  WriteSignals(const WriteSignals&) = delete;
  WriteSignals& operator=(const WriteSignals&) = delete;
  ~WriteSignals() {
    const timespec at_once{};
    while (sigtimedwait(&raised_, nullptr, &at_once) > 0) {
    }
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }

 private:
  sigset_t raised_, before_;
};

// Whether the file lies on a file system that lets one write at a time into a file, and makes the others wait for it in a
// loop that burns their cores.
inline bool takes_one_write_at_a_time(int fd) {
  constexpr long xfs_magic = 0x58465342;
  struct statfs found;
  if (::fstatfs(fd, &found) != 0) return false;
  const auto type = static_cast<long>(found.f_type);
  return type == TMPFS_MAGIC || type == EXT4_SUPER_MAGIC || type == BTRFS_SUPER_MAGIC || type == xfs_magic ||
         type == OVERLAYFS_SUPER_MAGIC;
}

}  // namespace stockade::engine
