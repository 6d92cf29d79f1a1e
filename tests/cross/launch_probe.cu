#include "cross/launch_probe.h"
#include "gpu/launch.cuh"

namespace stockade::tests {

namespace {

struct ProbeKernel {
  static constexpr uint32_t max_threads = probe_max_threads;
  static constexpr uint32_t min_blocks = 1;

  uint32_t* word;

  template <typename Thread>
  STOCKADE_DEVICE void operator()(const Thread& thread) const {
    thread.atomic_add(word, 1);
  }
};

}  // namespace

Status launch_probe(const gpu::Queue& queue, const gpu::Grid& grid, uint32_t* word) {
  return gpu::DeviceLauncher{queue}.run(grid, ProbeKernel{word});
}

}  // namespace stockade::tests
