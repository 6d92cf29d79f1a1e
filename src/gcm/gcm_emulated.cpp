// GCM on a GPU, run by the emulator: the same kernels, choices and grids as gcm_cuda.cu's.
#include "gcm/gcm_launch.h"
#include "gpu/emulator.h"

namespace stockade::gcm {

namespace {

struct OnEmulator {
  static gpu::EmulatedLauncher on(const gpu::Queue&) { return {}; }
  static constexpr const aes::GpuKernels& aes_kernels = aes::gpu_kernels_emulated;
  static constexpr bool has_tensor_code = true;
};

}  // namespace

const GpuKernels gpu_kernels_emulated = GcmLaunches<OnEmulator>::kernels;

}  // namespace stockade::gcm
