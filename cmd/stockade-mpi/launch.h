// What a launcher (mpirun, mpiexec, srun) says in the environment, before MPI is started, and what makes of it the
// right and a short start.
#pragma once

#include <cstdint>

namespace stockade::cmd {

// This process' rank; 0 where no launcher says it.
uint32_t launched_rank();

// Chooses Open MPI's drivers where nobody has. Where all ranks are on one machine, those for shared memory and TCP: to
// open the drivers of every network that it was built for takes longer than all else that a short job does. Where they
// are on several, all but one for one-sided messages, which before Open MPI 5 is chosen over TCP and then fails. To be
// called before MPI is started.
void choose_drivers();

// Open MPI takes its leave of the launcher in several short messages on a connection of this machine, of which each but
// the first waits 40 ms for the acknowledgement of the one before (Nagle's algorithm). To be called once MPI has
// started.
void shorten_end();

}  // namespace stockade::cmd
