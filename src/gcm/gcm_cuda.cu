// GCM on NVIDIA GPUs.
#include "gcm/gcm_launch.h"
#include "gpu/launch.cuh"

namespace stockade::gcm {

namespace {

// Whether code for 9.0a is among what is compiled: CMake says so, for nothing that the host's compiler sees does.
#if defined(STOCKADE_CUDA_SM90A)
constexpr bool has_tensor_code = true;
#else
constexpr bool has_tensor_code = false;
#endif

using Gcm = GpuGcm<gpu::DeviceLauncher>;

Status seal(const gpu::Queue& queue, const GpuShapes& shapes, const GpuKey& key, const MessageStart& start,
            const GpuMessage& message, void* workspace) {
  const gpu::DeviceLauncher launcher{queue};
  return Gcm(launcher, aes::gpu_kernels_cuda, has_tensor_code, queue, shapes, key).seal(start, message, workspace);
}

Status open(const gpu::Queue& queue, const GpuShapes& shapes, const GpuKey& key, const MessageStart& start,
            const GpuMessage& message, uint32_t* refused, void* workspace) {
  const gpu::DeviceLauncher launcher{queue};
  return Gcm(launcher, aes::gpu_kernels_cuda, has_tensor_code, queue, shapes, key).open(start, message, refused, workspace);
}

template <bool opening>
Status run_chunks(const gpu::Queue& queue, const GpuShapes& shapes, const GpuKey& key, const GpuChunks& chunks) {
  const gpu::DeviceLauncher launcher{queue};
  return Gcm(launcher, aes::gpu_kernels_cuda, has_tensor_code, queue, shapes, key).run_chunks<opening>(chunks);
}

Status seal_batch(const gpu::Queue& queue, const GpuShapes& shapes, const GpuBatchMessage* messages, uint64_t count) {
  const gpu::DeviceLauncher launcher{queue};
  return Gcm::run_batch<false>(launcher, queue, shapes, messages, count, nullptr);
}

Status open_batch(const gpu::Queue& queue, const GpuShapes& shapes, const GpuBatchMessage* messages, uint64_t count,
                  uint32_t* refused) {
  const gpu::DeviceLauncher launcher{queue};
  return Gcm::run_batch<true>(launcher, queue, shapes, messages, count, refused);
}

}  // namespace

const GpuKernels gpu_kernels_cuda = {
    .workspace_bytes = Gcm::workspace_bytes,
    .seal = seal,
    .open = open,
    .seal_chunks = run_chunks<false>,
    .open_chunks = run_chunks<true>,
    .seal_batch = seal_batch,
    .open_batch = open_batch,
};

}  // namespace stockade::gcm
