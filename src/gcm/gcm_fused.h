// Sealing a long message in one pass (SP 800-38D §7.1 steps 3 and 4): CTR by tables in shared memory, and GHASH of the
// ciphertext on the tensor cores, straight from the registers that are stored.
//
// A team of 8 warps works on 4096 blocks at a time, a stretch: 16 groups of 256 counters, of which warp a has blocks
// 32a to 32a + 31. So each lane meets one last byte of the counter only, whose part in the first two rounds it computes
// once; the other part is one value per 256 counters (aes/aes_table.h), which lanes of one warp compute for the team's
// whole stretch beforehand. Counters need not begin at a multiple of 256: a lane's counter is in its group, or for all
// of the message in the next.
//
// To the hash, a stretch is a tile of each warp (gcm/ghash_tensor.h) with other weights: in step j, X is of group 2j
// and Y of the one after it, so steps are 512 blocks apart, and at the end rows g are to be multiplied by H^(256 +
// 32·(7 - a) + 28 - 4g), rows g + 8 by H^(32·(7 - a) + 28 - 4g).
#pragma once

#include "aes/aes_table.h"
#include "gcm/ghash_tensor.h"

namespace stockade::gcm {

// out = in ^ keystream, and the elements of the ciphertext's whole blocks, one for each warp, with the sum of
// ghash_kernels.h for padding = the zero blocks that fill the last stretch. Of N = blocks·threads / 256 teams every one
// takes each N-th stretch; stretches of zeros in front make their number a multiple of N. way_back = H^(4096·N). in ==
// out is allowed. Preconditions: capability 9.0, `in` and `out` at multiples of 16, a multiple of 256 threads, N <=
// 1023, keys.rounds = rounds. Constant-time.
template <uint32_t rounds>
struct FusedSealKernel {
  static constexpr uint32_t max_threads = 512;
  static constexpr uint32_t min_blocks = 1;
  static constexpr aes::Layout layout = aes::Layout::four;
  static constexpr uint32_t team_threads = 256, team_warps = 8, stretch_blocks = 4096, stretch_groups = 16;
  // Tables, matrices, and for every team two stretches' common parts: one group more than a stretch has.
  static constexpr uint32_t commons = aes::table_bytes(layout) + TensorMemory::matrices_bytes;
  static constexpr uint32_t commons_bytes = (stretch_groups + 1) * 16;
  static constexpr uint32_t shared_bytes = commons + max_threads / team_threads * 2 * commons_bytes;

  aes::RoundKeys keys;
  GpuHashKey hash;
  Element way_back;
  uint32_t counter[4];  // of the first block, words as numbers (big-endian)
  const uint8_t* in;
  uint8_t* out;
  uint64_t length;
  Element* sums;

  // The counter block that is `n` after the first.
  STOCKADE_DEVICE gpu::Quad counter_after(uint64_t n) const {
    return quad_from({{counter[0], counter[1], counter[2], counter[3] + static_cast<uint32_t>(n)}});
  }

  // The common parts of a stretch's groups, by the first lanes of the calling warp. Group 0 is that of the stretch's
  // first counter.
  template <typename Thread>
  STOCKADE_DEVICE void write_commons(const Thread& thread, uint64_t stretch, uint32_t at, uint32_t lane) const {
    const uint32_t group = thread.index % gpu::warp_lanes;
    if (group > stretch_groups) return;
    const gpu::Quad common =
        aes::counter_common<layout>(thread, keys, counter_after(stretch * stretch_blocks + 256 * group), lane);
    *reinterpret_cast<gpu::Quad*>(thread.shared() + at + 16 * group) = common;
  }

  // The bytes behind the last whole block, by one thread.
  template <typename Thread>
  STOCKADE_DEVICE void seal_tail(const Thread& thread, uint32_t lane) const {
    const uint64_t whole = length / 16;
    const gpu::Quad stream = aes::encrypt_block<layout>(thread, keys, counter_after(whole), lane);
    store_bytes(out + 16 * whole, stream ^ load_bytes(in + 16 * whole, length % 16), length % 16);
  }

  template <typename Thread>
  STOCKADE_DEVICE void operator()(const Thread& thread) const {
    if constexpr (Thread::multiplies_bits) run(thread);
  }

  template <typename Thread>
  STOCKADE_DEVICE void run(const Thread& thread) const {
    // What matrices are made from may lie where the tables come.
    const TensorMemory memory{aes::table_bytes(layout), 0};
    make_matrices<512>(thread, memory, hash, way_back);
    aes::fill_tables<aes::Cipher::forward, layout>(thread);
    thread.sync_block();

    const uint32_t lane = aes::lane_offset(thread);
    const uint32_t team_of_block = thread.index / team_threads, warp = thread.index % team_threads / gpu::warp_lanes;
    const uint32_t teams = thread.blocks * (thread.threads / team_threads);
    const uint32_t team = thread.block * (thread.threads / team_threads) + team_of_block;
    const uint32_t place = 32 * warp + thread.index % gpu::warp_lanes;  // in each group
    const gpu::Quad varying = aes::counter_varying<layout>(thread, keys, counter_after(place), lane);
    // Whether the lane's counters are a group further than the stretch's first.
    const uint32_t further = ((counter[3] & 0xFF) + place) >> 8;

    const uint64_t stretches = (length + 16 * stretch_blocks - 1) / (16 * stretch_blocks);
    const uint64_t turns = (stretches + teams - 1) / teams;
    const uint64_t skipped = turns * teams - stretches;  // there are so many in front, of zeros
    uint32_t commons_at = commons + team_of_block * 2 * commons_bytes;
    const uint32_t commons_sum = 2 * commons_at + commons_bytes;  // of both buffers' offsets
    RowSums rows{0, 0};
    STOCKADE_ROLLED
    for (uint64_t turn = 0; turn < turns; ++turn) {
      // Blocks in front of the message have numbers from 2^63 up.
      const uint64_t stretch = turn * teams + team - skipped;
      // Two buffers: whoever writes one is a barrier behind those who still read it.
      if (warp == turn % team_warps) write_commons(thread, stretch, commons_at, lane);
      thread.sync_some(1 + team_of_block, team_threads);
      rows = seal_stretch(thread, memory, stretch * stretch_blocks + place, commons_at + 16 * further, varying, lane, rows);
      commons_at = commons_sum - commons_at;
    }
    if (team == 0 && thread.index == 0 && length % 16 != 0) seal_tail(thread, lane);
    write_sum(thread, rows, team_warps * team + warp, 32 * (team_warps - 1 - warp) + stretch_blocks * (teams - 1 - team));
  }

  // `block` is the lane's of the first group.
  template <typename Thread>
  STOCKADE_DEVICE RowSums seal_stretch(const Thread& thread, TensorMemory memory, uint64_t block, uint32_t common_at,
                                       const gpu::Quad& varying, uint32_t lane, const RowSums& rows) const {
    const uint64_t whole = length / 16;
    gpu::BitSums counts;
    begin_tile(thread, memory, rows, counts);
    gpu::Quad hashed[2];  // may not change until their products are through
    STOCKADE_ROLLED
    for (uint32_t step = 0; step < tile_steps; ++step, block += 512, common_at += 32) {
      gpu::Quad data[2], state[2];
      STOCKADE_UNROLL
      for (uint32_t i = 0; i < 2; ++i) {
        data[i] = block + 256 * i < whole ? thread.load_quad(in + 16 * (block + 256 * i)) : gpu::Quad{};
        state[i] = varying ^ *reinterpret_cast<const gpu::Quad*>(thread.shared() + common_at + 16 * i);
      }
      aes::unrolled_rounds<aes::Cipher::forward, layout, 3, rounds>(thread, keys, state, lane);
      thread.template products_wait<0>();
      STOCKADE_UNROLL
      for (uint32_t i = 0; i < 2; ++i) {
        hashed[i] =
            aes::table_last_round<aes::Cipher::forward, layout>(thread, keys.word + 4 * rounds, state[i], data[i], lane);
        const bool inside = block + 256 * i < whole;
        if (inside) thread.store_quad(out + 16 * (block + 256 * i), hashed[i]);
        // Not by assigning zeros: those could be assigned early, to registers that products still read.
        hashed[i] = masked(hashed[i], inside ? 0xFFFFFFFF : 0);
      }
      add_step(thread, memory, step, hashed[0], hashed[1], counts);
    }
    thread.template products_wait<0>();
    return parities(counts);
  }

  template <typename Thread>
  STOCKADE_DEVICE void write_sum(const Thread& thread, const RowSums& rows, uint32_t at, uint32_t exponent) const {
    const Element sum = sum_of_rows<256>(thread, hash, rows);
    if (thread.index % gpu::warp_lanes == 0) sums[at] = times_power(hash, sum, exponent);
  }
};

}  // namespace stockade::gcm
