// Signals that a failing write raises.
#pragma once

#include <pthread.h>
#include <signal.h>

namespace stockade::io {

// Holds them back; errno says the same without ending the process.
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

}  // namespace stockade::io
