// What each rank works with: its share of the cores and GPUs of its machine.
#pragma once

#include "cmd/stockade/handles.h"
#include "cmd/stockade/run_options.h"
#include "ranks.h"

namespace stockade::cmd {

// To be called before MPI is started: what is wrong with the options themselves. Throws Failure.
void check_run_options(const RunOptions& options);

// With --devices the ranks of a machine take these GPUs in turn. Collective. Throws Failure.
EngineHandle make_rank_engine(Ranks& ranks, const RunOptions& options);

// "8 ranks on 2 machines", or "1 rank". Collective.
std::string ranks_text(Ranks& ranks);

}  // namespace stockade::cmd
