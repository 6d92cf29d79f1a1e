#include "cross/test_device.h"
#include "gpu/runtime_emulated.h"

namespace stockade::tests {

// Its runtime looks at every pointer and call, and counts what a real device would not forgive; the kernels go past it.
const TestDevice& test_device() {
  static gpu::EmulatedRuntime runtime{{gpu::EmulatedDevice{}}};
  static const TestDevice device{true, runtime, aes::gpu_kernels_emulated, gcm::gpu_kernels_emulated};
  return device;
}

}  // namespace stockade::tests
