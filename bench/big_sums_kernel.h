// The kernel of big_sums.h and its launch by any launcher (gpu/launch.h).
#pragma once

#include <algorithm>
#include <cstdint>

#include "bench/big_sums.h"
#include "gpu/launch.h"
#include "gpu/thread.h"

namespace stockade::bench {

// A warp adds a number at a time, each of its lanes a limb. No lane waits for the carry of the one before: the limbs that
// overflow and those that would pass a carry on make two words of 32 bits, and one addition of these carries through all.
struct BigSumKernel {
  static constexpr uint32_t max_threads = 256, min_blocks = 1;

  const uint64_t *a, *b;
  uint64_t* out;
  uint32_t* carries;
  uint64_t count;

  template <typename Thread>
  STOCKADE_DEVICE void operator()(const Thread& thread) const {
    const uint32_t lane = thread.index % gpu::warp_lanes, warps_of_block = thread.threads / gpu::warp_lanes;
    const uint64_t warps = uint64_t{thread.blocks} * warps_of_block;
    for (uint64_t i = uint64_t{thread.block} * warps_of_block + thread.index / gpu::warp_lanes; i < count; i += warps) {
      const uint64_t at = big_sum_limbs * i + lane, limb = a[at], sum = limb + b[at];
      const uint64_t overflows = thread.ballot(sum < limb), passes = thread.ballot(sum == ~uint64_t{0});
      // A limb that overflows is not all ones, so these add without disturbing one another. Bit l: limb l is given a carry.
      const uint64_t carried = (2 * overflows + passes) ^ passes;
      out[at] = sum + (carried >> lane & 1);
      if (lane == 0) carries[i] = static_cast<uint32_t>(carried >> 32);
    }
  }
};

template <typename Launcher>
Status launch_big_sums(const Launcher& launcher, const gpu::Queue& queue, const BigSumKernel& kernel) {
  if (kernel.count == 0) return STOCKADE_OK;
  constexpr uint64_t warps = BigSumKernel::max_threads / gpu::warp_lanes;
  const uint64_t wanted = (kernel.count + warps - 1) / warps, most = 8 * uint64_t{std::max(queue.multiprocessors, 1U)};
  return launcher.run({static_cast<uint32_t>(std::min(wanted, most)), BigSumKernel::max_threads, 0}, kernel);
}

}  // namespace stockade::bench
