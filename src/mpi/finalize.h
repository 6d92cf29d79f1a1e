// The end of MPI where MPI_Finalize may never return. Compiled once for each MPI library, as all of this folder.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <string_view>

#include "base/status.h"

namespace stockade::mpi {

// Whether the MPI library that calls itself `library` (MPI_Get_library_version, all of it) may wait forever in
// MPI_Finalize, and can be left without: MPICH before 4.2 with UCX. There each rank asks the ranks that it has written to
// by TCP whether all has arrived, waits for their answers, and then in the launcher's barrier, where it answers nobody.
// Whoever asks it later waits forever.
bool may_never_finalise(std::string_view library);

// The launcher's end of MPICH's own protocol (PMI 1): lines of text over a socket, whose number is in PMI_FD.
class Launcher {
 public:
  // Null and texts that name no socket stand for no launcher.
  explicit Launcher(const char* descriptor);

  bool there() const { return fd_ >= 0; }
  // Waits until all ranks are here, and calls progress() meanwhile. False without a launcher that answers.
  template <typename Progress>
  bool meet(Progress&& progress) {
    bool done = false;
    if (!say("cmd=barrier_in\n")) return false;
    while (!done) {
      progress();
      if (!has_answer(done)) return false;
    }
    return hears("cmd=barrier_out");
  }
  // What MPI_Finalize tells it: that the process may end.
  bool take_leave() { return say("cmd=finalize\n") && hears("cmd=finalize_ack"); }

 private:
  bool say(std::string_view line);
  // Waits a moment for an answer.
  bool has_answer(bool& answer);
  bool hears(std::string_view line);

  int fd_ = -1;
};

// Ends MPI for this process without MPI_Finalize: nobody goes before all have got what was sent to them. Collective.
void leave(Launcher& launcher, MPI_Comm communicator);
// Whether that has been done; MPI must not be called then.
bool has_left();

}  // namespace stockade::mpi
