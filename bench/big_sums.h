// Sums of many big numbers on a GPU, as the study of RSA tried one and gave it up. For the benchmark alone: no part of the
// library, which adds where the numbers are.
#pragma once

#include <cstdint>

#include "base/status.h"
#include "gpu/launch.h"

namespace stockade::bench {

// Bits of a number: a limb of 64 for each lane of a warp.
inline constexpr uint32_t big_sum_bits = 2048, big_sum_limbs = big_sum_bits / 64, big_sum_bytes = big_sum_bits / 8;

// out[i] = a[i] + b[i] modulo 2^2048 and carries[i] = what goes beyond, 0 or 1, for `count` numbers of 32 limbs, least
// significant first, that lie one behind the other in the GPU's memory. `out` may be `a` or `b`. Puts a launch into the
// queue's stream. DEVICE.
using BigSums = Status (*)(const gpu::Queue& queue, const uint64_t* a, const uint64_t* b, uint64_t* out,
                           uint32_t* carries, uint64_t count);

// Null where CUDA is not built in.
BigSums big_sums_of_cuda();

}  // namespace stockade::bench
