// Chunks of a Cobblestone payload (gcm_cuda.h: GpuChunks) on compute capability 9.0: a warp for each chunk, AES by
// tables in shared memory, GHASH on the tensor cores straight from registers. A chunk is two tiles
// (gcm/ghash_tensor.h); the last one is filled up with zero blocks, and what these multiply the hash by is taken back
// at the end.
//
// In a step, a lane's two blocks are 256 apart and steps are 32 apart: so both counters of a lane have the same last
// byte, whose part in the first two rounds is computed once for both. The other part is one value for 256 counters
// (aes/aes_table.h), so five for a chunk, whose counters are 2 to 1025; five lanes compute them beforehand.
#pragma once

#include "gcm/gcm_warp.h"
#include "gcm/ghash_tensor.h"

namespace stockade::gcm {

// Seals; or opens: hashes a chunk, compares, and only then goes through it again for the plaintext, or zeros. way_back
// = hash.power[64·8] = H^512. `last_factor` is H^(2 - padding), or H^(3 - padding) if the last chunk has a part of a
// block at its end, where padding is what its whole blocks lack of 1024. Preconditions: capability 9.0, a multiple of
// 128 threads, keys.rounds = rounds. Constant-time.
template <uint32_t rounds, bool aligned, bool opening>
struct TensorChunksKernel {
  static constexpr uint32_t max_threads = 512;
  static constexpr uint32_t min_blocks = 1;
  static constexpr aes::Layout layout = aes::Layout::four;
  static constexpr uint32_t groups = 5;  // of counters with all bytes equal but the last
  static constexpr uint32_t commons = aes::table_bytes(layout) + TensorMemory::matrices_bytes;
  static constexpr uint32_t shared_bytes = commons + max_threads / gpu::warp_lanes * groups * 16;
  static constexpr uint32_t tiles = gpu_chunk_bytes / (16 * tile_blocks);
  static constexpr uint32_t group_warps = 4;

  ChunkArguments chunks;
  GpuHashKey hash;
  Element last_factor;

  // One chunk of the calling warp; without bytes where a group has more warps than chunks are left.
  struct Chunk {
    const uint8_t* in;
    uint8_t* out;
    uint32_t length, whole;  // bytes, blocks
    gpu::Quad j0;
    bool exists, last;
  };

  STOCKADE_DEVICE Chunk chunk_of(uint64_t number) const {
    constexpr uint64_t plain_step = gpu_chunk_bytes, sealed_step = gpu_chunk_bytes + ChunkArguments::tag_bytes;
    const bool exists = number < chunks.count;
    const uint32_t length = exists ? chunks.length_of(number) : 0;
    return {chunks.in + number * (opening ? sealed_step : plain_step),
            chunks.out + number * (opening ? plain_step : sealed_step),
            length,
            length / 16,
            chunk_j0(chunks.base_nonce, chunks.first + number),
            exists,
            number + 1 == chunks.count};
  }

  // J0 + 1 + block; a chunk's counters do not wrap.
  STOCKADE_DEVICE static gpu::Quad counter_of(const Chunk& chunk, uint32_t block) {
    return {{chunk.j0.w[0], chunk.j0.w[1], chunk.j0.w[2], gpu::swap_bytes(block + 2)}};
  }

  template <typename Thread>
  STOCKADE_DEVICE void operator()(const Thread& thread) const {
    if constexpr (Thread::multiplies_bits) run(thread);
  }

  template <typename Thread>
  STOCKADE_DEVICE void run(const Thread& thread) const {
    // What matrices are made from may lie where the tables come.
    const TensorMemory memory{aes::table_bytes(layout), 0};
    make_matrices<32>(thread, memory, hash, hash.power[64 + tile_steps]);
    aes::fill_tables<aes::Cipher::forward, layout>(thread);
    thread.sync_block();
    const uint32_t lane = aes::lane_offset(thread);
    const uint32_t warps = thread.threads / gpu::warp_lanes, warp = thread.index / gpu::warp_lanes;
    // All warps go round equally often: those of a group multiply together.
    STOCKADE_ROLLED
    for (uint64_t base = thread.block * warps; base < chunks.count; base += uint64_t{thread.blocks} * warps) {
      const Chunk chunk = chunk_of(base + warp);
      write_commons(thread, chunk, lane);
      RowSums rows{0, 0};
      STOCKADE_ROLLED
      for (uint32_t tile = 0; tile < tiles; ++tile) {
        rows =
            opening ? hash_tile(thread, memory, chunk, tile, rows) : seal_tile(thread, memory, chunk, tile, lane, rows);
      }
      const uint32_t different = finish(thread, chunk, base + warp, lane, sum_of_rows<256>(thread, hash, rows));
      if (opening) release(thread, chunk, lane, different == 0);
    }
  }

  // A lane's first block in a step; the second is 256 further.
  template <typename Thread>
  STOCKADE_DEVICE static uint32_t block_of(const Thread& thread, uint32_t tile, uint32_t step) {
    return tile_blocks * tile + 32 * step + thread.index % gpu::warp_lanes;
  }

  // Where the warp keeps its commons.
  template <typename Thread>
  STOCKADE_DEVICE static uint32_t commons_of(const Thread& thread) {
    return commons + thread.index / gpu::warp_lanes * groups * 16;
  }

  template <typename Thread>
  STOCKADE_DEVICE void write_commons(const Thread& thread, const Chunk& chunk, uint32_t lane) const {
    const uint32_t group = thread.index % gpu::warp_lanes;
    thread.sync_warp();
    if (group < groups) {
      const gpu::Quad counter = {{chunk.j0.w[0], chunk.j0.w[1], chunk.j0.w[2], gpu::swap_bytes(256 * group)}};
      *reinterpret_cast<gpu::Quad*>(thread.shared() + commons_of(thread) + 16 * group) =
          aes::counter_common<layout>(thread, chunks.keys, counter, lane);
    }
    thread.sync_warp();
  }

  // The states after round 2 of a lane's two blocks.
  template <typename Thread>
  STOCKADE_DEVICE void begin_blocks(const Thread& thread, const Chunk& chunk, uint32_t block, uint32_t lane,
                                    gpu::Quad (&state)[2]) const {
    const gpu::Quad varying = aes::counter_varying<layout>(thread, chunks.keys, counter_of(chunk, block), lane);
    const auto* common = reinterpret_cast<const gpu::Quad*>(thread.shared() + commons_of(thread)) + (block + 2) / 256;
    state[0] = varying ^ common[0];
    state[1] = varying ^ common[1];
  }

  template <typename Thread>
  STOCKADE_DEVICE gpu::Quad load(const Thread& thread, const Chunk& chunk, uint32_t block) const {
    return block < chunk.whole ? load_block<aligned>(thread, chunk.in + 16 * block) : gpu::Quad{};
  }

  template <typename Thread>
  STOCKADE_DEVICE RowSums seal_tile(const Thread& thread, TensorMemory memory, const Chunk& chunk, uint32_t tile,
                                    uint32_t lane, const RowSums& rows) const {
    gpu::BitSums counts;
    begin_tile(thread, memory, rows, counts);
    gpu::Quad hashed[2];  // may not change until their products are through
    STOCKADE_ROLLED
    for (uint32_t step = 0; step < tile_steps; ++step) {
      const uint32_t block = block_of(thread, tile, step);
      gpu::Quad data[2], state[2];
      STOCKADE_UNROLL
      for (uint32_t i = 0; i < 2; ++i) data[i] = load(thread, chunk, block + 256 * i);
      begin_blocks(thread, chunk, block, lane, state);
      aes::unrolled_rounds<aes::Cipher::forward, layout, 3, rounds>(thread, chunks.keys, state, lane);
      thread.template products_wait<0>();
      STOCKADE_UNROLL
      for (uint32_t i = 0; i < 2; ++i) {
        hashed[i] = aes::table_last_round<aes::Cipher::forward, layout>(thread, chunks.keys.word + 4 * rounds, state[i],
                                                                        data[i], lane);
        const bool inside = block + 256 * i < chunk.whole;
        if (inside) store_block<aligned>(thread, chunk.out + 16 * (block + 256 * i), hashed[i]);
        hashed[i] = masked(hashed[i], inside ? 0xFFFFFFFF : 0);
      }
      add_step(thread, memory, step, hashed[0], hashed[1], counts);
    }
    thread.template products_wait<0>();
    return parities(counts);
  }

  template <typename Thread>
  STOCKADE_DEVICE RowSums hash_tile(const Thread& thread, TensorMemory memory, const Chunk& chunk, uint32_t tile,
                                    const RowSums& rows) const {
    gpu::BitSums counts;
    begin_tile(thread, memory, rows, counts);
    constexpr uint32_t together = 2;  // steps: what registers allow
    STOCKADE_UNROLL
    for (uint32_t first = 0; first < tile_steps; first += together) {
      gpu::Quad data[together][2];
      STOCKADE_UNROLL
      for (uint32_t i = 0; i < 2 * together; ++i) {
        data[i / 2][i % 2] = load(thread, chunk, block_of(thread, tile, first + i / 2) + 256 * (i % 2));
      }
      STOCKADE_UNROLL
      for (uint32_t i = 0; i < together; ++i) add_step(thread, memory, first + i, data[i][0], data[i][1], counts);
      thread.template products_wait<0>();
    }
    return parities(counts);
  }

  // The bytes behind the last whole block as they are hashed; when sealing they are sealed here, with `stream`.
  STOCKADE_DEVICE Element ciphertext_of_tail(const Chunk& chunk, const gpu::Quad& stream) const {
    const uint32_t tail = chunk.length % 16;
    gpu::Quad ciphertext = load_bytes(chunk.in + 16 * chunk.whole, tail);
    if (!opening) {
      store_bytes(chunk.out + 16 * chunk.whole, ciphertext ^ stream, tail);
      ciphertext = load_bytes(chunk.out + 16 * chunk.whole, tail);
    }
    return element_from(ciphertext);
  }

  // The tag, written or compared; every lane gets 0 for equality.
  template <typename Thread>
  STOCKADE_DEVICE uint32_t finish(const Thread& thread, const Chunk& chunk, uint64_t number, uint32_t lane,
                                  const Element& sum) const {
    const uint32_t my = thread.index % gpu::warp_lanes;
    // Lane 0 encrypts J0, lane 1 the counter of what is behind the last whole block.
    const gpu::Quad stream =
        aes::encrypt_block<layout>(thread, chunks.keys, my == 1 ? counter_of(chunk, chunk.whole) : chunk.j0, lane);
    // Lane 0 has the sum of the blocks, lane 1 what is behind them, lane 2 the lengths: one product, of different things.
    Element part = my == 0 ? sum : Element{};
    if (my == 1) part = ciphertext_of_tail(chunk, stream);
    if (my == 2) part.w[3] = 8 * chunk.length;
    part = multiply(part, my == 0 && chunk.last ? last_factor : hash.power[my == 2 ? 1 : 2]);
    if (my == 0) part = part ^ element_from(stream);
    const Element tag = sum_of_warp(thread, part);
    if (!chunk.exists) return 0;
    uint8_t* at = (opening ? const_cast<uint8_t*>(chunk.in) : chunk.out) + chunk.length;
    return write_or_compare(thread, tag, at, ChunkArguments::tag_bytes, opening ? chunks.refused + number : nullptr);
  }

  // The plaintext, or zeros.
  template <typename Thread>
  STOCKADE_DEVICE void release(const Thread& thread, const Chunk& chunk, uint32_t lane, bool authentic) const {
    STOCKADE_ROLLED
    for (uint32_t step = 0; step < tiles * tile_steps; ++step) {
      const uint32_t block = block_of(thread, step / tile_steps, step % tile_steps);
      const gpu::Quad data[2] = {load(thread, chunk, block), load(thread, chunk, block + 256)};
      gpu::Quad state[2];
      begin_blocks(thread, chunk, block, lane, state);
      aes::finish_blocks<aes::Cipher::forward, layout, rounds, 3>(thread, chunks.keys, state, data, lane);
      STOCKADE_UNROLL
      for (uint32_t i = 0; i < 2; ++i) {
        const gpu::Quad plain = masked(state[i], authentic ? 0xFFFFFFFF : 0);
        if (block + 256 * i < chunk.whole) store_block<aligned>(thread, chunk.out + 16 * (block + 256 * i), plain);
      }
    }
    const uint32_t tail = chunk.length % 16;
    if (tail == 0 || thread.index % gpu::warp_lanes != 0) return;
    const gpu::Quad stream = aes::encrypt_block<layout>(thread, chunks.keys, counter_of(chunk, chunk.whole), lane);
    const gpu::Quad plain = load_bytes(chunk.in + 16 * chunk.whole, tail) ^ stream;
    store_bytes(chunk.out + 16 * chunk.whole, masked(plain, authentic ? 0xFFFFFFFF : 0), tail);
  }
};

}  // namespace stockade::gcm
