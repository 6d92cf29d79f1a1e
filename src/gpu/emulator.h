// Runs a kernel's body on the CPU, for tests: every thread of a block is a fibre, and fibres take turns, in an order that a
// seed decides, wherever threads must wait for one another. A barrier that not all come to is an error.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "base/status.h"
#include "gpu/launch.h"
#include "gpu/thread.h"

namespace stockade::gpu {

class EmulatedBlock;

class EmulatedThread {
 public:
  uint32_t index, threads, block, blocks;

  EmulatedThread(EmulatedBlock& home, uint32_t index_, uint32_t threads_, uint32_t block_, uint32_t blocks_)
      : index(index_), threads(threads_), block(block_), blocks(blocks_), home_(&home) {}

  uint8_t* shared() const;
  uint32_t shared_word(uint32_t offset) const;

  void sync_block() const;
  void sync_warp() const;
  void sync_some(uint32_t barrier, uint32_t count) const;
  uint32_t shuffle(uint32_t value, uint32_t lane) const;
  uint32_t shuffle_xor(uint32_t value, uint32_t mask) const { return shuffle(value, (index & 31) ^ mask); }
  uint32_t ballot(uint32_t value) const;

  Quad load_quad(const uint8_t* at) const;
  void store_quad(uint8_t* at, Quad quad) const;
  uint32_t atomic_add(uint32_t* at, uint32_t value) const;
  uint32_t atomic_xor(uint32_t* at, uint32_t value) const;
  void fence() const {}

  static constexpr bool multiplies_bits = true;
  void matrices_written() const {}
  void products_begin() const {}
  void products_commit() const {}
  template <uint32_t pending>
  void products_wait() const {}
  void multiply_bits(BitSums& sums, const uint32_t (&a)[4], uint32_t offset, bool accumulate) const;

 private:
  EmulatedBlock* home_;
};

// Runs body(thread) for every thread of the grid, one block after another. Shared memory begins as noise. Throws
// std::logic_error where threads wait for ever, a pointer is not aligned, or shared memory is read past its end.
void emulate(const Grid& grid, const std::function<void(const EmulatedThread&)>& body, uint64_t seed = 1);

struct EmulatedLauncher {
  uint64_t seed = 1;

  template <typename Kernel>
  Status run(const Grid& grid, const Kernel& kernel) const {
    if (grid.threads > Kernel::max_threads) return STOCKADE_ERROR_DEVICE;
    emulate(
        grid, [&](const EmulatedThread& thread) { kernel(thread); }, seed);
    return STOCKADE_OK;
  }
};

}  // namespace stockade::gpu
