// From the start of MPI to its end: what runs between them, and what becomes of its failures.
#pragma once

#include <functional>

#include "ranks.h"

namespace stockade::cmd {

class Session {
 public:
  Session(int argc, char** argv) : argc_(argc), argv_(argv) {}

  // Starts MPI, which makes one rank of a process that no launcher has started, runs the work, on rank 0 says what went
  // wrong with it, and ends MPI. Throws Failure where MPI cannot be started.
  void run(const std::function<void(Ranks&)>& work);
  // Of this process, once something was run; the same on all ranks.
  int exit_status() const { return exit_status_; }

 private:
  int argc_;
  char** argv_;
  int exit_status_ = 0;
};

// Says what has failed and returns the exit status for it.
int report(const Failure& failure);

}  // namespace stockade::cmd
