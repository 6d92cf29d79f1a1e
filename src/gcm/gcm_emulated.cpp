// GCM's GPU kernels on the CPU, for tests.
#include "gcm/gcm_launch.h"
#include "gpu/emulator.h"

namespace stockade::gcm {

namespace {

constexpr gpu::EmulatedLauncher launcher;

using Gcm = GpuGcm<gpu::EmulatedLauncher>;

Gcm gcm(const gpu::Queue& queue, const GpuShapes& shapes, const GpuKey& key) {
  return {launcher, aes::gpu_kernels_emulated, true, queue, shapes, key};
}

Status seal(const gpu::Queue& queue, const GpuShapes& shapes, const GpuKey& key, const MessageStart& start,
            const GpuMessage& message, void* workspace) {
  return gcm(queue, shapes, key).seal(start, message, workspace);
}

Status open(const gpu::Queue& queue, const GpuShapes& shapes, const GpuKey& key, const MessageStart& start,
            const GpuMessage& message, uint32_t* refused, void* workspace) {
  return gcm(queue, shapes, key).open(start, message, refused, workspace);
}

template <bool opening>
Status run_chunks(const gpu::Queue& queue, const GpuShapes& shapes, const GpuKey& key, const GpuChunks& chunks) {
  return gcm(queue, shapes, key).run_chunks<opening>(chunks);
}

Status seal_batch(const gpu::Queue& queue, const GpuShapes& shapes, const GpuBatchMessage* messages, uint64_t count) {
  return Gcm::run_batch<false>(launcher, queue, shapes, messages, count, nullptr);
}

Status open_batch(const gpu::Queue& queue, const GpuShapes& shapes, const GpuBatchMessage* messages, uint64_t count,
                  uint32_t* refused) {
  return Gcm::run_batch<true>(launcher, queue, shapes, messages, count, refused);
}

}  // namespace

const GpuKernels gpu_kernels_emulated = {
    .workspace_bytes = Gcm::workspace_bytes,
    .seal = seal,
    .open = open,
    .seal_chunks = run_chunks<false>,
    .open_chunks = run_chunks<true>,
    .seal_batch = seal_batch,
    .open_batch = open_batch,
};

}  // namespace stockade::gcm
