// For starting threads that a program does not know of.
#pragma once

#include <signal.h>

namespace stockade::parallel {

// While this lives, the calling thread takes no signals but those about what it does itself, and neither will any thread that
// it starts: a signal of the program's is for threads of the program's.
class NoSignals {
 public:
  NoSignals() {
    sigset_t all;
    sigfillset(&all);
    for (const int number : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS, SIGPROF})
      sigdelset(&all, number);
    pthread_sigmask(SIG_BLOCK, &all, &before_);
  }
  NoSignals(const NoSignals&) = delete;
  NoSignals& operator=(const NoSignals&) = delete;
  ~NoSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_;
};

}  // namespace stockade::parallel
