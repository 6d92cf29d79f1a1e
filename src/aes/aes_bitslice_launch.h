// Starts the bitsliced counter mode (aes_bitslice_kernels.h) by any launcher (gpu/launch.h).
#pragma once

#include <algorithm>
#include <cstdint>

#include "aes/aes_bitslice_kernels.h"
#include "aes/aes_cuda.h"
#include "base/secret.h"
#include "base/status.h"
#include "gpu/launch.h"

namespace stockade::aes {

// What a multiprocessor of any compute capability since 7.5 has registers for: eight warps of 255 registers. The work of a
// thread is 32 blocks whatever the shape says. Two thread blocks, so that one computes while the other waits at its
// barriers.
inline constexpr gpu::Shape ctr_bitsliced_shape = {
    .threads = 128, .blocks_per_thread = 32, .blocks_per_multiprocessor = 2};

// The grid for a message of `tiles` tiles, and what each of its thread blocks takes.
struct CtrBitsliceGrid {
  uint32_t blocks, threads;
  uint64_t share;
  uint32_t larger, unit;
};

// Shares differ by one tile per warp at most. Where there are fewer tiles than warps, thread blocks become smaller before
// they become fewer: a tile then has a multiprocessor's scheduler for itself.
inline CtrBitsliceGrid ctr_bitsliced_grid(const gpu::Queue& queue, const gpu::Shape& shape, uint64_t tiles) {
  const uint64_t places = std::max<uint64_t>(1, uint64_t{queue.multiprocessors} * shape.blocks_per_multiprocessor);
  const uint64_t most_warps = std::clamp<uint32_t>(shape.threads, 32, CtrBitsliceKernel::max_threads) / 32;
  const uint64_t warps = std::clamp<uint64_t>((tiles + places - 1) / places, 1, most_warps);
  const uint64_t units = (tiles + warps - 1) / warps;
  const uint64_t blocks = std::min(units, places);
  return {.blocks = static_cast<uint32_t>(blocks),
          .threads = static_cast<uint32_t>(32 * warps),
          .share = units / blocks * warps,
          .larger = static_cast<uint32_t>(units % blocks),
          .unit = static_cast<uint32_t>(warps)};
}

// GpuCtrFn of aes_cuda.h. `shape.blocks_per_thread` is not used.
template <typename Launcher>
Status launch_ctr_bitsliced(const Launcher& launcher, const gpu::Queue& queue, const gpu::Shape& shape,
                            const RoundKeys& encrypt, const uint8_t counter[16], CounterWidth width, const uint8_t* in,
                            uint8_t* out, uint64_t length, const uint32_t* refused) {
  if (length == 0) return STOCKADE_OK;
  Secret<CtrBitsliceKernel> kernel;
  kernel->keys = encrypt;
  for (uint32_t i = 0; i < 16; ++i) kernel->counter[i / 4] = kernel->counter[i / 4] << 8 | counter[i];
  kernel->width = width;
  kernel->in = in;
  kernel->out = out;
  kernel->length = length;
  kernel->refused = refused;
  constexpr uint64_t tile_blocks = CtrBitsliceKernel::tile_blocks;
  kernel->tiles = (kernel->counter[3] % tile_blocks + (length - 1) / 16) / tile_blocks + 1;
  const CtrBitsliceGrid grid = ctr_bitsliced_grid(queue, shape, kernel->tiles);
  kernel->share = grid.share;
  kernel->larger = grid.larger;
  kernel->unit = grid.unit;
  return launcher.run({grid.blocks, grid.threads, CtrBitsliceKernel::shared_bytes(grid.threads)}, *kernel);
}

}  // namespace stockade::aes
