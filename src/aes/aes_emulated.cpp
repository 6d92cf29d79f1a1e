// AES on a GPU, run by the emulator: the same kernels, choices and grids as aes_cuda.cu's.
#include "aes/aes_launch.h"
#include "gpu/emulator.h"

namespace stockade::aes {

namespace {

struct OnEmulator {
  static gpu::EmulatedLauncher on(const gpu::Queue&) { return {}; }
};

}  // namespace

const GpuKernels gpu_kernels_emulated = TableLaunches<OnEmulator>::kernels;

}  // namespace stockade::aes
