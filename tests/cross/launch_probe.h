// A kernel that does next to nothing, for tests of how kernels are launched.
#pragma once

#include <cstdint>

#include "base/status.h"
#include "gpu/launch.h"

namespace stockade::tests {

inline constexpr uint32_t probe_max_threads = 64;

// Adds 1 to the word for every thread of the grid. `word` is device memory.
Status launch_probe(const gpu::Queue& queue, const gpu::Grid& grid, uint32_t* word);

}  // namespace stockade::tests
