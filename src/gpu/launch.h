// How kernels are started. A kernel is a value: a struct that holds its arguments and is called with a thread,
//
//   struct SomeKernel {
//     static constexpr uint32_t max_threads = 512;     // of a block: what registers are shared out for
//     static constexpr uint32_t min_blocks = 1;        // of a multiprocessor, likewise
//     static constexpr uint32_t shared_bytes = 65536;  // of a block, at least; may be left out
//     ... arguments, by value ...
//     template <typename Thread>
//     STOCKADE_DEVICE void operator()(const Thread& thread) const;
//   };
//
// A launcher has `Status run(const Grid&, const SomeKernel&)`: DeviceLauncher (gpu/launch.cuh) puts it into a stream of a
// GPU, EmulatedLauncher (gpu/emulator.h) runs it at once on the CPU. Whoever picks kernels and grids is a template over the
// launcher, so that both run the same choice.
#pragma once

#include <cstdint>

namespace stockade::gpu {

struct Grid {
  uint32_t blocks, threads;  // threads per block: a multiple of 32
  uint32_t shared_bytes;     // of dynamic shared memory per block
};

// What a kernel says of its shared memory; 0 if it says nothing.
template <typename Kernel>
inline constexpr uint32_t least_shared_bytes = 0;
template <typename Kernel>
requires requires { uint32_t{Kernel::shared_bytes}; }
inline constexpr uint32_t least_shared_bytes<Kernel> = Kernel::shared_bytes;

// A launch shape: what may be tuned without changing a result.
struct Shape {
  uint32_t threads;                    // per block
  uint32_t blocks_per_thread;          // cipher blocks that a thread works on at a time: 1, 2 or 4
  uint32_t blocks_per_multiprocessor;  // thread blocks of one launch for each multiprocessor
};

// Where a launch goes.
struct Queue {
  void* stream;         // cudaStream_t; null is the default stream
  uint32_t capability;  // compute capability: 90 for 9.0
  uint32_t multiprocessors;
  uint32_t shared_bytes;  // the most dynamic shared memory that a block may have
};

}  // namespace stockade::gpu
