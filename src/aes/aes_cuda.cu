// AES on a GPU: the table kernels' instances for nvcc.
#include "aes/aes_launch.h"
#include "gpu/launch.cuh"

namespace stockade::aes {

namespace {

struct OnDevice {
  static gpu::DeviceLauncher on(const gpu::Queue& queue) { return {queue}; }
};

}  // namespace

const GpuKernels gpu_kernels_cuda = TableLaunches<OnDevice>::kernels;

}  // namespace stockade::aes
