// Starts kernels on a GPU; for .cu files only.
#pragma once

#include <cuda_runtime.h>

#include <atomic>

#include "base/status.h"
#include "gpu/launch.h"
#include "gpu/thread.h"

namespace stockade::gpu {

// Shared memory that a block may have where code for this compute capability is at home (CUDA C++ Programming Guide, "Technical
// Specifications per Compute Capability"), so far as there are kernels that want more.
STOCKADE_DEVICE constexpr uint32_t most_shared_bytes(uint32_t capability) {
  return capability == 75 ? 64 << 10 : capability == 86 || capability == 89 ? 99 << 10 : UINT32_MAX;
}

// In code for devices that it is too large for, a kernel has no body, which saves most of the time of compiling.
template <typename Kernel>
__global__ void __launch_bounds__(Kernel::max_threads, Kernel::min_blocks)
    grid_kernel(const __grid_constant__ Kernel kernel) {
#if defined(__CUDA_ARCH__)
  if constexpr (least_shared_bytes<Kernel> <= most_shared_bytes(__CUDA_ARCH__ / 10)) kernel(DeviceThread());
#endif
}

// Stream-ordered: returns when the launch is queued. DEVICE.
struct DeviceLauncher {
  const Queue& queue;

  template <typename Kernel>
  Status run(const Grid& grid, const Kernel& kernel) const {
    const auto function = reinterpret_cast<const void*>(&grid_kernel<Kernel>);
    constexpr uint32_t free_of_asking = 48 << 10;
    if (grid.shared_bytes > free_of_asking && !ask_for_shared(function, least_shared_bytes<Kernel>, asked<Kernel>)) {
      return STOCKADE_ERROR_DEVICE;
    }
    void* arguments[] = {const_cast<Kernel*>(&kernel)};
    // The returned code, not cudaGetLastError: that would take away the error of somebody's earlier work.
    const cudaError_t error = cudaLaunchKernel(function, dim3(grid.blocks), dim3(grid.threads), arguments,
                                               grid.shared_bytes, static_cast<cudaStream_t>(queue.stream));
    return error == cudaSuccess ? STOCKADE_OK : STOCKADE_ERROR_DEVICE;
  }

 private:
  // Devices, as a mask, on which a kernel may have all the shared memory there is: asking each time would take longer than
  // the launch.
  template <typename Kernel>
  static inline std::atomic<uint64_t> asked{0};

  bool ask_for_shared(const void* function, uint32_t least, std::atomic<uint64_t>& devices) const {
    int device;
    if (cudaGetDevice(&device) != cudaSuccess) return false;
    const uint64_t bit = device < 64 ? uint64_t{1} << device : 0;
    if ((devices.load(std::memory_order_relaxed) & bit) != 0) return true;
    // PTX for devices with little shared memory also runs on those with more: there, a launch of nothing would succeed.
    cudaFuncAttributes code;
    if (cudaFuncGetAttributes(&code, function) != cudaSuccess) return false;
    if (least > most_shared_bytes(static_cast<uint32_t>(code.ptxVersion))) return false;
    const cudaError_t error = cudaFuncSetAttribute(function, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                                   static_cast<int>(queue.shared_bytes));
    if (error == cudaSuccess) devices.fetch_or(bit, std::memory_order_relaxed);
    return error == cudaSuccess;
  }
};

}  // namespace stockade::gpu
