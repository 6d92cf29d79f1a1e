// GCM on a GPU: the kernels' instances for nvcc.
#include "gcm/gcm_launch.h"
#include "gpu/launch.cuh"

namespace stockade::gcm {

namespace {

struct OnDevice {
  static gpu::DeviceLauncher on(const gpu::Queue& queue) { return {queue}; }
  static constexpr const aes::GpuKernels& aes_kernels = aes::gpu_kernels_cuda;
  // CMake says what is compiled for: nothing that the host's compiler sees does.
#if defined(STOCKADE_CUDA_SM90A)
  static constexpr bool has_tensor_code = true;
#else
  static constexpr bool has_tensor_code = false;
#endif
};

}  // namespace

const GpuKernels gpu_kernels_cuda = GcmLaunches<OnDevice>::kernels;

}  // namespace stockade::gcm
