// The first ranks of a run, while the others sleep: what a point with fewer ranks is measured with.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "bench/handles.h"
#include "stockade/stockade_mpi.h"

namespace stockade::bench {

using Team = std::unique_ptr<stockade_mpi_team, Free<stockade_mpi_team_free>>;

// The cores that ranks of this machine may use together. Collective over all ranks.
std::vector<int> shared_cores();

class MpiGroup {
 public:
  // Collective over all ranks.
  explicit MpiGroup(uint32_t ranks);
  ~MpiGroup();
  MpiGroup(const MpiGroup&) = delete;
  MpiGroup& operator=(const MpiGroup&) = delete;

  bool member() const { return communicator_ != MPI_COMM_NULL; }
  // Of members.
  MPI_Comm communicator() const { return communicator_; }
  stockade_mpi_team* team() const { return team_.get(); }
  uint32_t rank() const { return stockade_mpi_rank(team_.get()); }
  uint32_t size() const { return ranks_; }
  uint32_t local_rank() const { return stockade_mpi_local_rank(team_.get()); }
  uint32_t local_size() const { return stockade_mpi_local_size(team_.get()); }
  uint32_t machines() const { return machines_; }

  // Gives each of this process' threads the cores of its rank: `threads` of them, other than those of its neighbours as
  // far as there are enough.
  void pin(const std::vector<int>& cores, uint32_t threads) const;

 private:
  uint32_t ranks_, machines_ = 1;
  MPI_Comm communicator_ = MPI_COMM_NULL;
  Team team_;
};

// Returns once all ranks of the run are here. Who waits sleeps, so that the others have its core.
void meet_quietly();

// From one moment in which all are ready to the moment in which the last is done: seconds, on every member.
double time_together(const MpiGroup& group, const std::function<void()>& work);

// The mean of what the members have.
double mean_of(const MpiGroup& group, double mine);

}  // namespace stockade::bench
