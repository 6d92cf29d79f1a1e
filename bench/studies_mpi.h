// S3's column of MPI: `stockade-mpi bench` as a process of its own, with as many ranks as there are cores.
#pragma once

#include <string>

#include "studies.h"

namespace stockade::bench {

// Looks for stockade-mpi beside `program` and on the PATH, and for mpirun, and sets run_mpi, or no_mpi where there is none.
void find_mpi(StudySettings& settings, const std::string& program, bool quick);

}  // namespace stockade::bench
