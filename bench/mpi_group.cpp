#include "mpi_group.h"

#include <dirent.h>
#include <sched.h>
#include <time.h>

#include <algorithm>
#include <cstdlib>
#include <exception>

#include "bench/turns.h"

namespace stockade::bench {
namespace {

void pin_task(pid_t task, const cpu_set_t& set) {
  // A core that is gone meanwhile leaves the thread where it is.
  sched_setaffinity(task, sizeof set, &set);
}

void pin_all_tasks(const cpu_set_t& set) {
  DIR* const folder = opendir("/proc/self/task");
  if (folder == nullptr) return pin_task(0, set);
  while (const dirent* entry = readdir(folder)) {
    if (entry->d_name[0] != '.') pin_task(std::atoi(entry->d_name), set);
  }
  closedir(folder);
}

}  // namespace

std::vector<int> shared_cores() {
  MPI_Comm machine = MPI_COMM_NULL;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &machine);
  cpu_set_t mine, all;
  CPU_ZERO(&mine);
  sched_getaffinity(0, sizeof mine, &mine);
  MPI_Allreduce(&mine, &all, sizeof mine, MPI_BYTE, MPI_BOR, machine);
  MPI_Comm_free(&machine);
  std::vector<int> cores;
  for (int core = 0; core < CPU_SETSIZE; ++core) {
    if (CPU_ISSET(core, &all)) cores.push_back(core);
  }
  return cores;
}

MpiGroup::MpiGroup(uint32_t ranks) : ranks_(ranks) {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const bool inside = static_cast<uint32_t>(rank) < ranks;
  MPI_Comm_split(MPI_COMM_WORLD, inside ? 0 : MPI_UNDEFINED, rank, &communicator_);
  if (!inside) return;
  stockade_mpi_team* made = nullptr;
  check(stockade_mpi_team_create(&made, communicator_), "stockade_mpi_team_create");
  team_.reset(made);
  uint32_t heads = local_rank() == 0 ? 1 : 0;
  MPI_Allreduce(&heads, &machines_, 1, MPI_UINT32_T, MPI_SUM, communicator_);
}

MpiGroup::~MpiGroup() {
  // The others may be elsewhere, and the run is about to be ended.
  if (std::uncaught_exceptions() > 0) {
    static_cast<void>(team_.release());
    return;
  }
  team_.reset();
  if (communicator_ != MPI_COMM_NULL) MPI_Comm_free(&communicator_);
}

void MpiGroup::pin(const std::vector<int>& cores, uint32_t threads) const {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (uint32_t i = 0; i < threads; ++i) CPU_SET(cores[(local_rank() * threads + i) % cores.size()], &set);
  pin_all_tasks(set);
}

void meet_quietly() {
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Ibarrier(MPI_COMM_WORLD, &request);
  const timespec moment = {0, 1'000'000};
  for (int done = 0; done == 0;) {
    MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    if (done == 0) nanosleep(&moment, nullptr);
  }
}

double time_together(const MpiGroup& group, const std::function<void()>& work) {
  MPI_Barrier(group.communicator());
  const double begin = MPI_Wtime();
  work();
  const double mine = MPI_Wtime() - begin;
  double longest = 0;
  MPI_Allreduce(&mine, &longest, 1, MPI_DOUBLE, MPI_MAX, group.communicator());
  return longest;
}

double mean_of(const MpiGroup& group, double mine) {
  double sum = 0;
  MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, group.communicator());
  return sum / group.size();
}

}  // namespace stockade::bench
