// GHASH on the tensor cores of compute capability 9.0 (SP 800-38D §6.4).
//
// The hash is linear in each block: X·H^e is a matrix of bits, made of H^e, times the bits of X. The tensor cores count
// the ones that rows of data and columns of a matrix have in common; sums of such counts are right modulo 2, so parity
// is taken once per tile.
//
// A tile is 512 consecutive blocks of one warp, in 8 steps of 64. In a step, lane 4g + s has the blocks X = 4g + s and
// Y = 32 + 4g + s, which makes them word s of rows g and g + 8 of the left operand (gpu/thread.h): one word of each
// after another, in two products of two words. So the matrix's words s and s + 4 hold the rows of "multiply by H^e", e
// = 64·(7 - step) + 3 - s, and row g adds up X_4g ·H^3 + ... + X_(4g+3) over all steps. What is left of each row is to
// be multiplied by H^(60 - 4g), or H^(28 - 4g) for Y, at the very end. Between tiles, a row's sum goes back as left
// operand of one more product, by H^(blocks from one tile of the warp to its next).
//
// Columns are in such an order that lane s ends up with word s of its rows, in the order of bits in memory.
#pragma once

#include "gcm/ghash_kernels.h"

namespace stockade::gcm {

inline constexpr uint32_t step_blocks = 64, tile_steps = 8, tile_blocks = step_blocks * tile_steps;

// Where the matrices lie in shared memory: two for each step, and the one of the way back, from `matrices` on (a
// multiple of 128); and what they are made from, which may be overwritten afterwards, from `sources` on (a multiple of
// 4).
struct TensorMemory {
  static constexpr uint32_t matrices_bytes = (2 * tile_steps + 1) * gpu::bit_matrix_bytes;
  static constexpr uint32_t powers = 4 * tile_steps + 1;
  static constexpr uint32_t source_words = 40;  // of a power: 32, spread over the banks
  static constexpr uint32_t sources_bytes = powers * source_words * 4;

  uint32_t matrices, sources;
};

STOCKADE_DEVICE uint32_t reverse_bits(uint32_t x) {
  x = (x >> 1 & 0x55555555) | (x & 0x55555555) << 1;
  x = (x >> 2 & 0x33333333) | (x & 0x33333333) << 2;
  x = (x >> 4 & 0x0F0F0F0F) | (x & 0x0F0F0F0F) << 4;
  return gpu::swap_bytes(x);
}

// Row n of "multiply by G" has at k the coefficient of x^n in x^k·G. With b_k the coefficient of x^127 in x^k·G, which
// goes over to x^0, x^1, x^2 and x^7 in the step to k + 1, and then up by one with every step, that is
//   G[n - k] + b[k - 1 - n] + b[k - n] (n >= 1) + b[k + 1 - n] (n >= 2) + b[k + 6 - n] (n >= 7),
// terms with an index below 0 being none, and
//   b[k] = G[127 - k] + G[248 - k] + G[253 - k] + G[254 - k], terms with an index above 127 being none.
// As numbers whose top bit is k = 0: with r = G reversed, b = r ^ r >> 121 ^ r >> 126 ^ r >> 127, and row n is the
// upper half of the 256 bits (r << 128 ^ f) << (127 - n), where f is b for n = 0 and b ^ b << 1 ^ b << 2 ^ b << 7 for n
// >= 7. This writes the 256 bits, most significant word first, for the four cases of f.
STOCKADE_DEVICE void write_row_source(const Element& g, uint32_t* words) {
  const uint32_t r[4] = {reverse_bits(g.w[3]), reverse_bits(g.w[2]), reverse_bits(g.w[1]), reverse_bits(g.w[0])};
  const uint32_t b[4] = {r[0], r[1], r[2], r[3] ^ r[0] >> 25 ^ r[0] >> 30 ^ r[0] >> 31};
  uint32_t f[5] = {0, b[0], b[1], b[2], b[3]};
  STOCKADE_UNROLL
  for (uint32_t form = 0; form < 4; ++form) {
    if (form != 0) {
      const uint32_t up = form == 3 ? 7 : form;
      for (uint32_t i = 0; i < 5; ++i) {
        f[i] ^= gpu::shift_left(i == 4 ? 0 : b[i], i == 0 ? 0 : b[i - 1], up);
      }
    }
    uint32_t* to = words + 8 * form;
    to[0] = r[0];
    to[1] = r[1];
    to[2] = r[2];
    to[3] = r[3] ^ f[0];
    for (uint32_t i = 1; i < 5; ++i) to[3 + i] = f[i];
  }
}

// The row as a Quad: word and bit as in memory.
template <typename Thread>
STOCKADE_DEVICE gpu::Quad read_row(const Thread& thread, uint32_t source, uint32_t n) {
  const uint32_t form = n >= 7 ? 3 : n >= 2 ? 2 : n;
  const uint32_t at = source + 32 * form + (127 - n) / 32 * 4;
  gpu::Quad row;
  uint32_t high = thread.shared_word(at);
  STOCKADE_UNROLL
  for (uint32_t i = 0; i < 4; ++i) {
    const uint32_t low = thread.shared_word(at + 4 * (i + 1));
    row.w[i] = gpu::swap_bytes(gpu::shift_left(low, high, (127 - n) % 32));
    high = low;
  }
  return row;
}

// The coefficient that a column of the matrices gives: column 8i + 2s + e is bit 2i + e of word s.
STOCKADE_DEVICE uint32_t coefficient_of_column(uint32_t column) {
  const uint32_t bit = column / 8 * 2 + column % 2;
  return 32 * (column / 2 % 4) + (bit ^ 7);
}

// The block's matrices, for steps that are `apart` blocks apart: e = apart·(7 - step) + 3 - s. `way_back` is H^(blocks
// from a tile of a warp to its next). All threads must come; the block must have at least 64. Constant-time.
template <uint32_t apart, typename Thread>
STOCKADE_DEVICE void make_matrices(const Thread& thread, TensorMemory memory, const GpuHashKey& hash,
                                   const Element& way_back) {
  constexpr uint32_t source_bytes = 4 * TensorMemory::source_words;
  uint8_t* shared = thread.shared();
  if (thread.index < TensorMemory::powers) {
    const uint32_t s = thread.index % 4, behind = apart * (tile_steps - 1 - thread.index / 4);
    static_assert(apart % 32 == 0 && apart * tile_steps <= 64 * 64);
    const Element power = thread.index == 4 * tile_steps
                              ? way_back
                              : multiply(hash.power[64 + behind / 64], hash.power[behind % 64 + 3 - s]);
    write_row_source(power, reinterpret_cast<uint32_t*>(shared + memory.sources + source_bytes * thread.index));
  }
  thread.sync_block();
  // Neighbouring threads have the neighbouring words s and then the neighbouring columns: their stores do not share a
  // bank.
  STOCKADE_ROLLED
  for (uint32_t i = thread.index; i < 128 * 4 * tile_steps; i += thread.threads) {
    const uint32_t s = i % 4, column = i / 4 % 128, step = i / 512;
    const gpu::Quad row =
        read_row(thread, memory.sources + source_bytes * (4 * step + s), coefficient_of_column(column));
    uint8_t* matrix = shared + memory.matrices + 2 * gpu::bit_matrix_bytes * step;
    STOCKADE_UNROLL
    for (uint32_t word = 0; word < 4; ++word) {
      const uint32_t at = word / 2 * gpu::bit_matrix_bytes + gpu::bit_matrix_offset(column, s + word % 2 * 4);
      *reinterpret_cast<uint32_t*>(matrix + at) = row.w[word];
    }
  }
  STOCKADE_ROLLED
  for (uint32_t column = thread.index; column < 128; column += thread.threads) {
    const gpu::Quad row =
        read_row(thread, memory.sources + source_bytes * 4 * tile_steps, coefficient_of_column(column));
    uint8_t* matrix = shared + memory.matrices + 2 * tile_steps * gpu::bit_matrix_bytes;
    STOCKADE_UNROLL
    for (uint32_t word = 0; word < 8; ++word) {
      *reinterpret_cast<uint32_t*>(matrix + gpu::bit_matrix_offset(column, word)) = word < 4 ? row.w[word & 3] : 0;
    }
  }
  thread.matrices_written();
  thread.sync_block();
}

// A lane's word of the sums of its two rows.
struct RowSums {
  uint32_t x, y;
};

// The counts' lowest bits as the two words: two counts, below 2^16 each, side by side, sixteen such pairs one bit apart.
STOCKADE_DEVICE RowSums parities(const gpu::BitSums& sums) {
  uint32_t words[2] = {0, 0};
  STOCKADE_UNROLL
  for (uint32_t bit = 16; bit-- > 0;) {
    STOCKADE_UNROLL
    for (uint32_t row = 0; row < 2; ++row) {
      const uint32_t at = bit / 2 * 4 + 2 * row + bit % 2;
      const uint32_t pair = gpu::permute_bytes(sums.sum[at], sums.sum[at + 32], 0x5410);
      words[row] = words[row] << 1 | (pair & 0x00010001);
    }
  }
  return {words[0], words[1]};
}

// Begins a tile: sums = the rows' sums so far, moved on to the tile. The warp group must come.
template <typename Thread>
STOCKADE_DEVICE void begin_tile(const Thread& thread, TensorMemory memory, const RowSums& rows, gpu::BitSums& sums) {
  thread.products_begin();
  thread.multiply_bits(sums, {rows.x, rows.y, 0, 0}, memory.matrices + 2 * tile_steps * gpu::bit_matrix_bytes, false);
  thread.products_commit();
}

// Adds a step's two blocks of each lane. They may not change before the products have been waited for.
template <typename Thread>
STOCKADE_DEVICE void add_step(const Thread& thread, TensorMemory memory, uint32_t step, const gpu::Quad& x,
                              const gpu::Quad& y, gpu::BitSums& sums) {
  const uint32_t matrices = memory.matrices + 2 * gpu::bit_matrix_bytes * step;
  thread.products_begin();
  thread.multiply_bits(sums, {x.w[0], y.w[0], x.w[1], y.w[1]}, matrices, true);
  thread.multiply_bits(sums, {x.w[2], y.w[2], x.w[3], y.w[3]}, matrices + gpu::bit_matrix_bytes, true);
  thread.products_commit();
}

// Row g's sum for lanes 4g, that of row g + 8 for lanes 4g + 1, 0 for others.
template <typename Thread>
STOCKADE_DEVICE Element gather_row(const Thread& thread, const RowSums& rows) {
  const uint32_t g = thread.index % gpu::warp_lanes / 4, s = thread.index % 4;
  Element row;
  STOCKADE_UNROLL
  for (uint32_t i = 0; i < 4; ++i) {
    const uint32_t x = thread.shuffle(rows.x, 4 * g + i), y = thread.shuffle(rows.y, 4 * g + i);
    row.w[i] = s == 0 ? gpu::swap_bytes(x) : s == 1 ? gpu::swap_bytes(y) : 0;
  }
  return row;
}

// The warp's whole sum from those of its rows, where Y lies `apart` blocks behind X: rows g and g + 8 are multiplied by
// H^(apart + 28 - 4g) and H^(28 - 4g). Every lane gets it.
template <uint32_t apart, typename Thread>
STOCKADE_DEVICE Element sum_of_rows(const Thread& thread, const GpuHashKey& hash, const RowSums& rows) {
  const uint32_t g = thread.index % gpu::warp_lanes / 4;
  const bool of_x = thread.index % 4 == 0;
  Element row = gather_row(thread, rows);
  if constexpr (apart + 28 < 64) {
    row = multiply(row, hash.power[(of_x ? apart : 0) + 28 - 4 * g]);
  } else {
    static_assert(apart % 64 == 0);
    row = multiply(multiply(row, hash.power[28 - 4 * g]), hash.power[of_x ? 64 + apart / 64 : 0]);
  }
  return sum_of_warp(thread, row);
}

// The hash's sum over `data`. Of W = blocks·threads / 32 warps, every one takes each W-th tile, so that the grid goes
// through memory together; zero tiles in front make their number a multiple of W, zero blocks behind fill the last
// tile. Writes W elements, whose sum is that of ghash_kernels.h with padding = the zero blocks behind. way_back =
// H^(512·W). Preconditions: capability 9.0, a multiple of 128 threads, W <= 8192, data.count > 0. Constant-time.
template <bool aligned>
struct HashTensorKernel {
  static constexpr uint32_t max_threads = 512;
  static constexpr uint32_t min_blocks = 1;
  static constexpr uint32_t shared_bytes = TensorMemory::matrices_bytes + TensorMemory::sources_bytes;
  static constexpr uint32_t loads_ahead = aligned ? 3 : 1;  // what registers allow

  WholeBlocks<aligned> data;
  Element way_back;
  GpuHashKey hash;
  Element* sums;

  struct Step {
    gpu::Quad x, y;
  };

  template <typename Thread>
  STOCKADE_DEVICE Step load(const Thread& thread, uint64_t first) const {
    const uint64_t block = first + thread.index % gpu::warp_lanes;
    return {data.load(thread, block), data.load(thread, block + 32)};
  }

  template <typename Thread>
  STOCKADE_DEVICE void operator()(const Thread& thread) const {
    if constexpr (Thread::multiplies_bits) run(thread);
  }

  template <typename Thread>
  STOCKADE_DEVICE void run(const Thread& thread) const {
    const TensorMemory memory{0, TensorMemory::matrices_bytes};
    make_matrices<step_blocks>(thread, memory, hash, way_back);
    const uint32_t warps = thread.blocks * (thread.threads / gpu::warp_lanes);
    const uint32_t warp = (thread.block * thread.threads + thread.index) / gpu::warp_lanes;
    const uint64_t tiles = (data.count + tile_blocks - 1) / tile_blocks;
    const uint64_t rounds = (tiles + warps - 1) / warps;
    uint64_t first = (tiles + warp - rounds * warps) * tile_blocks;  // from 2^63 up for a tile of zeros in front
    constexpr uint32_t ring = loads_ahead + 1;
    Step steps[ring];
    STOCKADE_UNROLL
    for (uint32_t i = 0; i < loads_ahead; ++i) steps[i] = load(thread, first + step_blocks * i);
    RowSums rows{0, 0};
    STOCKADE_ROLLED
    for (uint64_t round = 0; round < rounds; ++round) {
      const uint64_t following = first + uint64_t{warps} * tile_blocks;
      gpu::BitSums counts;
      begin_tile(thread, memory, rows, counts);
      STOCKADE_UNROLL
      for (uint32_t step = 0; step < tile_steps; ++step) {
        add_step(thread, memory, step, steps[step % ring].x, steps[step % ring].y, counts);
        // The step before this one is through, and its registers are free for one of those to come.
        thread.template products_wait<1>();
        const uint32_t ahead = step + loads_ahead;
        const uint64_t base =
            ahead < tile_steps ? first + step_blocks * ahead : following + step_blocks * (ahead - tile_steps);
        steps[ahead % ring] = load(thread, base);
      }
      thread.template products_wait<0>();
      rows = parities(counts);
      first = following;
    }
    const Element sum = sum_of_rows<32>(thread, hash, rows);
    if (thread.index % gpu::warp_lanes == 0) sums[warp] = times_power(hash, sum, tile_blocks * (warps - 1 - warp));
  }
};

}  // namespace stockade::gcm
