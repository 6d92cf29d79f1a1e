// Chunks of a payload, in runs through a transfer slot.
#include <algorithm>
#include <cstring>

#include "offload/transfer_slot.h"

namespace stockade::offload {

namespace {

constexpr uint64_t block_bytes = aes::block_bytes;
constexpr uint64_t chunk_bytes = gcm::gpu_chunk_bytes;
constexpr uint64_t sealed_chunk_bytes = chunk_bytes + block_bytes;

}  // namespace

template <bool opening>
Status TransferSlot::run_chunks(const DeviceKey& key, ChunkRange& range) {
  const gcm::GpuShapes shapes = gcm::default_shapes(key.gcm->bits / 8, facts_.capability);
  const uint64_t most = capacity(run_bytes_) / sealed_chunk_bytes;
  if (most == 0) return STOCKADE_ERROR_DEVICE_MEMORY;
  while (range.count != 0) {
    const uint64_t count = std::min(range.count, most);
    const uint32_t last_length = count == range.count ? range.last_length : gcm::gpu_chunk_bytes;
    const uint64_t plain = (count - 1) * chunk_bytes + last_length;
    const uint64_t in_length = opening ? plain + count * block_bytes : plain;
    const uint64_t out_length = opening ? plain : plain + count * block_bytes;
    gcm::GpuChunks chunks{device_in_.data(), device_out_.data(), range.first, count, last_length, {}, nullptr};
    std::memcpy(chunks.base_nonce, range.base_nonce, sizeof chunks.base_nonce);
    chunks.refused = opening ? reinterpret_cast<uint32_t*>(notes()) : nullptr;
    // What no kernel has judged is refused, not what was in the place before.
    if (opening) std::memset(notes(), 0xFF, count * sizeof(uint32_t));
    const auto kernel = opening ? backend_.gcm->open_chunks : backend_.gcm->seal_chunks;
    const Status status = run({range.in, in_length, range.out, out_length, true},
                              [&] { return kernel(queue(), shapes, key.gcm_key, chunks); });
    if (status != STOCKADE_OK) return status;
    if (opening) {
      std::memcpy(range.refused, notes(), count * sizeof(uint32_t));
      range.refused += count;
    }
    range.in += in_length;
    if (range.out != nullptr) range.out += out_length;
    range.first += count;
    range.count -= count;
  }
  return STOCKADE_OK;
}

Status TransferSlot::seal_chunks(const DeviceKey& key, ChunkRange& range) { return run_chunks<false>(key, range); }
Status TransferSlot::open_chunks(const DeviceKey& key, ChunkRange& range) { return run_chunks<true>(key, range); }

}  // namespace stockade::offload
