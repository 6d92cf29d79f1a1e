// Sums of big numbers on a GPU: the kernel's instance for nvcc.
#include "bench/big_sums_kernel.h"
#include "gpu/launch.cuh"

namespace stockade::bench {
namespace {

Status add(const gpu::Queue& queue, const uint64_t* a, const uint64_t* b, uint64_t* out, uint32_t* carries,
           uint64_t count) {
  return launch_big_sums(gpu::DeviceLauncher{queue}, queue, BigSumKernel{a, b, out, carries, count});
}

}  // namespace

BigSums big_sums_of_cuda() { return add; }

}  // namespace stockade::bench
