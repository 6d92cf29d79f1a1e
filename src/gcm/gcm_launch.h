// Which kernels make up an operation of gcm_cuda.h, and on which grids; the same for the GPU and for the emulator.
#pragma once

#include <algorithm>
#include <cstring>

#include "base/bytes.h"
#include "base/secret.h"
#include "gcm/gcm_chunks.h"
#include "gcm/gcm_cuda.h"
#include "gcm/gcm_warp.h"
#include "gcm/ghash_kernels.h"
#include "gcm/ghash_tensor.h"

namespace stockade::gcm {

// The operations with one key on one queue. `Start` says where they run: `on(queue)` is the launcher for a queue, `aes_kernels`
// are AES's entry points by it, and `has_tensor_code` whether kernels were compiled for 9.0a, and not just for its
// instructions that other targets know.
template <typename Start>
class GpuGcm {
 public:
  GpuGcm(const gpu::Queue& queue, const GpuShapes& shapes, const GpuKey& key)
      : queue_(queue), shapes_(shapes), key_(key) {}

  static uint64_t workspace_bytes(const gpu::Queue& queue) { return 2 * sizeof(Element) * most_sums(queue); }

  Status seal(const MessageStart& start, const GpuMessage& message, void* workspace) const {
    const Status status = ctr(start, message, nullptr);
    return status == STOCKADE_OK ? make_tag(start, message, message.out, nullptr, workspace) : status;
  }

  Status open(const MessageStart& start, const GpuMessage& message, uint32_t* refused, void* workspace) const {
    Status status = make_tag(start, message, message.in, refused, workspace);
    if (status == STOCKADE_OK) status = ctr(start, message, refused);
    return status;
  }

  template <bool opening>
  Status run_chunks(const GpuChunks& chunks) const {
    if (chunks.count == 0) return STOCKADE_OK;
    Secret<ChunkArguments> arguments;
    arguments->keys = key_.encrypt;
    std::memcpy(arguments->base_nonce, chunks.base_nonce, sizeof arguments->base_nonce);
    arguments->last_length = chunks.last_length;
    arguments->in = chunks.in;
    arguments->out = chunks.out;
    arguments->first = chunks.first;
    arguments->count = chunks.count;
    arguments->refused = opening ? chunks.refused : nullptr;
    if (has_tensors()) {
      switch (key_.encrypt.rounds) {
        case 10:
          return run_tensor_chunks<10, opening>(*arguments);
        case 12:
          return run_tensor_chunks<12, opening>(*arguments);
        default:
          return run_tensor_chunks<14, opening>(*arguments);
      }
    }
    return with_layout(queue_, [&](auto layout) {
      Secret<ChunksKernel<layout.value, opening>> kernel;
      kernel->chunks = *arguments;
      kernel->h = key_.hash.power[1];
      return launch(warps_grid(queue_, shapes_, chunks.count, kernel->shared_bytes), *kernel);
    });
  }

  template <bool opening>
  static Status run_batch(const gpu::Queue& queue, const GpuShapes& shapes, const GpuBatchMessage* messages,
                          uint64_t count, uint32_t* refused) {
    if (count == 0) return STOCKADE_OK;
    return with_layout(queue, [&](auto layout) {
      const BatchKernel<layout.value, opening> kernel = {messages, count, refused};
      return Start::on(queue).run(warps_grid(queue, shapes, count, kernel.shared_bytes), kernel);
    });
  }

 private:
  // The layout of tables that a thread block can have, as a constant.
  template <typename Run>
  static Status with_layout(const gpu::Queue& queue, const Run& run) {
    using enum aes::Layout;
    if (queue.shared_bytes >= aes::table_bytes(four)) return run(std::integral_constant<aes::Layout, four>());
    return run(std::integral_constant<aes::Layout, two>());
  }

  // For kernels that have a warp for each of `count` things and tables that leave room for one thread block on a
  // multiprocessor. Few things go to many multiprocessors.
  static gpu::Grid warps_grid(const gpu::Queue& queue, const GpuShapes& shapes, uint64_t count, uint32_t shared_bytes) {
    constexpr uint32_t group = 128;  // threads
    const uint64_t each = (count + queue.multiprocessors - 1) / queue.multiprocessors * gpu::warp_lanes;
    const auto threads = static_cast<uint32_t>(std::min<uint64_t>(
        std::clamp(shapes.chunks.threads / group * group, group, 512u), (each + group - 1) / group * group));
    const uint32_t warps = threads / gpu::warp_lanes;
    return {static_cast<uint32_t>(std::min<uint64_t>(queue.multiprocessors, (count + warps - 1) / warps)), threads,
            shared_bytes};
  }

  template <uint32_t rounds, bool opening>
  Status run_tensor_chunks(const ChunkArguments& chunks) const {
    return is_aligned(chunks.in) && is_aligned(chunks.out) ? run_tensor_chunks<rounds, true, opening>(chunks)
                                                           : run_tensor_chunks<rounds, false, opening>(chunks);
  }

  template <uint32_t rounds, bool aligned, bool opening>
  Status run_tensor_chunks(const ChunkArguments& chunks) const {
    Secret<TensorChunksKernel<rounds, aligned, opening>> kernel;
    kernel->chunks = chunks;
    kernel->hash = key_.hash;
    const int64_t padding = gpu_chunk_bytes / 16 - chunks.last_length / 16;
    kernel->last_factor = hash_power(key_.hash, 2 + (chunks.last_length % 16 != 0) - padding);
    return launch(warps_grid(queue_, shapes_, chunks.count, kernel->shared_bytes), *kernel);
  }

  // Of one string: one for each warp that hashes.
  static uint32_t most_sums(const gpu::Queue& queue) { return 64 * queue.multiprocessors; }

  static bool is_aligned(const void* at) { return reinterpret_cast<uintptr_t>(at) % 16 == 0; }

  Status ctr(const MessageStart& start, const GpuMessage& message, const uint32_t* refused) const {
    uint8_t counter[16];
    counter_at(start.j0, 0, counter);
    return Start::aes_kernels.ctr(queue_, shapes_.ctr, key_.encrypt, counter, aes::CounterWidth::bits32, message.in,
                                  message.out, message.length, refused);
  }

  template <typename Kernel>
  Status launch(const gpu::Grid& grid, const Kernel& kernel) const {
    return Start::on(queue_).run(grid, kernel);
  }

  bool has_tensors() const { return Start::has_tensor_code && queue_.capability == 90; }

  Status make_tag(const MessageStart& start, const GpuMessage& message, const uint8_t* ciphertext, uint32_t* refused,
                  void* workspace) const {
    auto* sums = static_cast<Element*>(workspace);
    Secret<FinishKernel> finish;
    const Status status = hash(ciphertext, message.length, 0, sums, finish->strings[1]);
    return status == STOCKADE_OK ? this->finish(start, message, refused, sums, *finish) : status;
  }

  // With the ciphertext's sums on their way: associated data and the tag.
  Status finish(const MessageStart& start, const GpuMessage& message, uint32_t* refused, Element* sums,
                FinishKernel& kernel) const {
    const Status status =
        hash(message.aad, message.aad_length, blocks_in(message.length), sums + most_sums(queue_), kernel.strings[0]);
    if (status != STOCKADE_OK) return status;
    kernel.closing = closing(start, message);
    kernel.tag = message.tag;
    kernel.tag_length = message.tag_length;
    kernel.refused = refused;
    return launch({1, FinishKernel::max_threads, FinishKernel::shared_bytes}, kernel);
  }

  // The block of both lengths in bits times H, plus E(J0).
  Element closing(const MessageStart& start, const GpuMessage& message) const {
    Secret<uint8_t[16]> bytes;
    store_be64(*bytes, 8 * message.aad_length);
    store_be64(*bytes + 8, 8 * message.length);
    Secret<Field128> sum;
    *sum = add(multiply(load_gcm(*bytes), field_of(key_.hash.power[1])), load_gcm(start.mask));
    return element_of(*sum);
  }

  // Queues what hashes a string that has `behind` blocks between it and the block of the lengths.
  Status hash(const uint8_t* data, uint64_t length, uint64_t behind, Element* sums, HashedString& hashed) const {
    const uint64_t whole = length / 16;
    uint64_t padding = 0;
    hashed.count = 0;
    Status status = STOCKADE_OK;
    if (whole != 0) {
      status = is_aligned(data) ? hash_whole(WholeBlocks<true>{data, whole}, sums, hashed.count, padding)
                                : hash_whole(WholeBlocks<false>{data, whole}, sums, hashed.count, padding);
    }
    describe(data, length, behind, padding, sums, hashed);
    return status;
  }

  // All of `hashed` but its count. SP 800-38D §6.4: the last block before that of the lengths counts times H^2.
  void describe(const uint8_t* data, uint64_t length, uint64_t behind, uint64_t padding, const Element* sums,
                HashedString& hashed) const {
    const auto last = static_cast<int64_t>(behind + 2);
    hashed.sums = sums;
    hashed.tail = data + length / 16 * 16;
    hashed.tail_bytes = static_cast<uint32_t>(length % 16);
    // Of what there is none, any factor will do.
    hashed.tail_factor = hashed.tail_bytes != 0 ? hash_power(key_.hash, last) : Element{};
    hashed.factor = length >= 16
                        ? hash_power(key_.hash, last + (hashed.tail_bytes != 0) - static_cast<int64_t>(padding))
                        : Element{};
  }

  template <bool aligned>
  Status hash_whole(const WholeBlocks<aligned>& data, Element* sums, uint32_t& count, uint64_t& padding) const {
    return has_tensors() && data.count >= shapes_.tensor_blocks ? hash_by_tensors(data, sums, count, padding)
                                                                : hash_by_threads(data, sums, count);
  }

  // Blocks of `threads` for `work` units of which a block does `per_block` at a time.
  gpu::Grid grid(uint64_t work, uint32_t per_block, uint32_t threads, uint32_t shared_bytes) const {
    const uint32_t most_blocks = most_sums(queue_) / (threads / gpu::warp_lanes);
    const uint64_t blocks =
        std::min<uint64_t>({(work + per_block - 1) / per_block, most_blocks,
                            uint64_t{queue_.multiprocessors} * shapes_.hash.blocks_per_multiprocessor});
    return {static_cast<uint32_t>(blocks), threads, shared_bytes};
  }

  template <bool aligned>
  Status hash_by_tensors(const WholeBlocks<aligned>& data, Element* sums, uint32_t& count, uint64_t& padding) const {
    using Kernel = HashTensorKernel<aligned>;
    const uint64_t tiles = (data.count + tile_blocks - 1) / tile_blocks;
    // Few tiles go to many multiprocessors, a warp group each.
    const uint64_t full = uint64_t{queue_.multiprocessors} * shapes_.hash.threads / gpu::warp_lanes;
    const uint32_t threads =
        tiles < full ? 128 : std::clamp(shapes_.hash.threads / 128 * 128, 128u, Kernel::max_threads);
    const gpu::Grid grid = this->grid(tiles, threads / gpu::warp_lanes, threads, Kernel::shared_bytes);
    count = grid.blocks * (threads / gpu::warp_lanes);
    padding = tiles * tile_blocks - data.count;
    Secret<Kernel> kernel;
    kernel->data = data;
    kernel->way_back = hash_power(key_.hash, static_cast<int64_t>(tile_blocks) * count);
    kernel->hash = key_.hash;
    kernel->sums = sums;
    return launch(grid, *kernel);
  }

  template <bool aligned>
  Status hash_by_threads(const WholeBlocks<aligned>& data, Element* sums, uint32_t& count) const {
    const uint32_t threads = std::clamp(shapes_.hash.threads / 32 * 32, 32u, HashThreadsKernel<aligned>::max_threads);
    const gpu::Grid grid = this->grid(data.count, threads, threads, 0);
    count = grid.blocks * (threads / gpu::warp_lanes);
    Secret<HashThreadsKernel<aligned>> kernel;
    kernel->data = data;
    kernel->stride = hash_power(key_.hash, static_cast<int64_t>(gpu::warp_lanes) * count);
    kernel->hash = key_.hash;
    kernel->sums = sums;
    return launch(grid, *kernel);
  }

  const gpu::Queue& queue_;
  const GpuShapes& shapes_;
  const GpuKey& key_;
};

// The entry points of GpuKernels.
template <typename Start>
struct GcmLaunches {
  using Gcm = GpuGcm<Start>;

  static Status seal(const gpu::Queue& queue, const GpuShapes& shapes, const GpuKey& key, const MessageStart& start,
                     const GpuMessage& message, void* workspace) {
    return Gcm(queue, shapes, key).seal(start, message, workspace);
  }

  static Status open(const gpu::Queue& queue, const GpuShapes& shapes, const GpuKey& key, const MessageStart& start,
                     const GpuMessage& message, uint32_t* refused, void* workspace) {
    return Gcm(queue, shapes, key).open(start, message, refused, workspace);
  }

  template <bool opening>
  static Status run_chunks(const gpu::Queue& queue, const GpuShapes& shapes, const GpuKey& key,
                           const GpuChunks& chunks) {
    return Gcm(queue, shapes, key).template run_chunks<opening>(chunks);
  }

  static Status seal_batch(const gpu::Queue& queue, const GpuShapes& shapes, const GpuBatchMessage* messages,
                           uint64_t count) {
    return Gcm::template run_batch<false>(queue, shapes, messages, count, nullptr);
  }

  static constexpr GpuKernels kernels = {
      .workspace_bytes = Gcm::workspace_bytes,
      .seal = seal,
      .open = open,
      .seal_chunks = run_chunks<false>,
      .open_chunks = run_chunks<true>,
      .seal_batch = seal_batch,
      .open_batch = Gcm::template run_batch<true>,
  };
};

}  // namespace stockade::gcm
