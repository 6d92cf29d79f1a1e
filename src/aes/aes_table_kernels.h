// The table kernels of AES's modes. All of them: blocks are 16 bytes; a kernel with `aligned` wants `in` and `out` at
// multiples of 16 bytes, the other moves bytes; `in` may be `out`. Any grid works, of whole warps. Timing does not depend on
// key or data for the reason that aes_table.h gives.
//
// Work is dealt to warps in tiles of 32 lanes by `blocks` blocks: a lane has every thirty-second block of its tile, so that
// each of a warp's accesses to global memory is 512 bytes in a row.
#pragma once

#include <cstdint>

#include "aes/aes_table.h"
#include "gpu/launch.h"
#include "gpu/thread.h"

namespace stockade::aes {

// ---- blocks and tiles in global memory ----

// 16 bytes at any address.
STOCKADE_DEVICE gpu::Quad load_unaligned(const uint8_t* at) {
  gpu::Quad quad{};
  for (uint32_t i = 0; i < 16; ++i) quad.w[i / 4] |= uint32_t{at[i]} << 8 * (i % 4);
  return quad;
}

STOCKADE_DEVICE void store_unaligned(uint8_t* at, const gpu::Quad& quad) {
  for (uint32_t i = 0; i < 16; ++i) at[i] = static_cast<uint8_t>(quad.w[i / 4] >> 8 * (i % 4));
}

// The `bytes` (0 to 16) at `at`, zeros behind them: they are shifted in, the last one first, by a loop that keeps this rare
// case short.
STOCKADE_DEVICE gpu::Quad load_bytes(const uint8_t* at, uint32_t bytes) {
  gpu::Quad quad{};
  STOCKADE_ROLLED
  while (bytes > 0) {
    quad = {{quad.w[0] << 8 | at[--bytes], gpu::shift_left(quad.w[0], quad.w[1], 8),
             gpu::shift_left(quad.w[1], quad.w[2], 8), gpu::shift_left(quad.w[2], quad.w[3], 8)}};
  }
  return quad;
}

STOCKADE_DEVICE void store_bytes(uint8_t* at, gpu::Quad quad, uint32_t bytes) {
  STOCKADE_ROLLED
  for (uint32_t i = 0; i < bytes; ++i) {
    at[i] = static_cast<uint8_t>(quad.w[0]);
    quad = {{gpu::shift_left(quad.w[0], quad.w[1], 24), gpu::shift_left(quad.w[1], quad.w[2], 24),
             gpu::shift_left(quad.w[2], quad.w[3], 24), quad.w[3] >> 8}};
  }
}

template <bool aligned, typename Thread>
STOCKADE_DEVICE gpu::Quad load_block(const Thread& thread, const uint8_t* at) {
  if constexpr (aligned) return thread.load_quad(at);
  return load_unaligned(at);
}

template <bool aligned, typename Thread>
STOCKADE_DEVICE void store_block(const Thread& thread, uint8_t* at, const gpu::Quad& quad) {
  if constexpr (aligned) {
    thread.store_quad(at, quad);
  } else {
    store_unaligned(at, quad);
  }
}

// A tile of a message of `length` bytes, as one lane sees it: the lane's first block is `first`, the others follow at
// distances of 32. The tile may stand out at both ends of the message; `first` of a block before the message is negative,
// modulo 2^64, and so its distance is one with a sign: numbers wrap around, pointers must not.
template <uint32_t blocks, bool aligned>
struct Tile {
  uint64_t first;
  uint64_t length;
  bool whole;  // the same for all lanes: no block of the tile is missing

  template <typename Thread>
  STOCKADE_DEVICE Tile(const Thread& thread, uint64_t tile_first, uint64_t message_length)
      : first(tile_first + thread.index % 32), length(message_length) {
    const uint64_t message_blocks = length / 16;
    whole = tile_first < message_blocks && message_blocks - tile_first >= 32 * blocks;
  }

  // Bytes of the lane's block i.
  STOCKADE_DEVICE uint32_t bytes(uint32_t i) const {
    const uint64_t block = first + 32 * i;
    if (block >= length / 16 + 1) return 0;
    const uint64_t left = length - 16 * block;
    return left < 16 ? static_cast<uint32_t>(left) : 16;
  }

  template <typename Thread>
  STOCKADE_DEVICE void load(const Thread& thread, const uint8_t* in, gpu::Quad (&data)[blocks]) const {
    if (whole) {
      for (uint32_t i = 0; i < blocks; ++i) data[i] = load_block<aligned>(thread, in + 16 * first + 512 * i);
    } else {
      for (uint32_t i = 0; i < blocks; ++i)
        data[i] = load_bytes(in + static_cast<int64_t>(16 * (first + 32 * i)), bytes(i));
    }
  }

  template <typename Thread>
  STOCKADE_DEVICE void store(const Thread& thread, uint8_t* out, const gpu::Quad (&data)[blocks]) const {
    if (whole) {
      for (uint32_t i = 0; i < blocks; ++i) store_block<aligned>(thread, out + 16 * first + 512 * i, data[i]);
    } else {
      for (uint32_t i = 0; i < blocks; ++i)
        store_bytes(out + static_cast<int64_t>(16 * (first + 32 * i)), data[i], bytes(i));
    }
  }
};

// A warp's number in the grid. Neighbours are in different thread blocks, so that little work is spread over all
// multiprocessors. The shuffle says what the compiler cannot know: that it is one number for all lanes, so that loops over
// it are uniform and the tables' address can stay in a uniform register.
template <typename Thread>
STOCKADE_DEVICE uint64_t warp_number(const Thread& thread) {
  return uint64_t{thread.shuffle(thread.index / 32, 0)} * thread.blocks + thread.block;
}

template <typename Thread>
STOCKADE_DEVICE uint64_t warp_count(const Thread& thread) {
  return uint64_t{thread.threads / 32} * thread.blocks;
}

template <typename Thread>
STOCKADE_DEVICE gpu::Quad shuffle_quad(const Thread& thread, const gpu::Quad& quad, uint32_t lane) {
  return {{thread.shuffle(quad.w[0], lane), thread.shuffle(quad.w[1], lane), thread.shuffle(quad.w[2], lane),
           thread.shuffle(quad.w[3], lane)}};
}

// Registers are shared out for 512 threads where a thread works on four blocks, else for 1024.
constexpr uint32_t table_kernel_threads(uint32_t blocks) { return blocks == 4 ? 512 : 1024; }

// ---- ECB ----

// SP 800-38A §6.1: out[i] = E(in[i]), or D, for length / 16 blocks.
template <Cipher cipher, Layout layout, uint32_t rounds, uint32_t blocks, bool aligned>
struct EcbTableKernel {
  static constexpr uint32_t max_threads = table_kernel_threads(blocks);
  static constexpr uint32_t min_blocks = 1;
  static constexpr uint32_t shared_bytes = table_bytes(layout);

  RoundKeys keys;
  const uint8_t* in;
  uint8_t* out;
  uint64_t length;  // a multiple of 16
  uint64_t tiles;   // of 32 * blocks blocks, the last one perhaps not whole

  template <typename Thread>
  STOCKADE_DEVICE void operator()(const Thread& thread) const {
    fill_tables<cipher, layout>(thread);
    thread.sync_block();
    const uint64_t warps = warp_count(thread);
    for (uint64_t i = warp_number(thread); i < tiles; i += warps) crypt_tile(thread, i);
  }

  template <typename Thread>
  STOCKADE_DEVICE void crypt_tile(const Thread& thread, uint64_t index) const {
    const Tile<blocks, aligned> tile(thread, 32 * blocks * index, length);
    gpu::Quad state[blocks];
    tile.load(thread, in, state);
    crypt_blocks<cipher, layout, rounds>(thread, keys, state, lane_offset(thread));
    tile.store(thread, out, state);
  }
};

// ---- CTR ----

// How CTR deals its work. Counters that differ in the last byte only are a group; `groups_per_run` groups after another,
// beginning at a multiple of their size, are a run: within it bytes 0 to 13 of the counter stand still, carries never
// happen, and at most five bits of byte 14 move, so that each lane can hold what one group shares (counter_common). A warp
// takes a part of a run: in every group of it the same 32 * blocks last bytes, of which a lane keeps counter_varying.
struct CtrPlan {
  Counter base;  // the first counter of the first run, at or below the message's first
  CounterWidth width;
  uint32_t skip;            // counters between the two
  uint32_t groups_per_run;  // a power of two up to 32
  uint64_t parts;           // runs * (8 / blocks)
};

// SP 800-38A §6.5: out = in ^ E(counter), E(counter + 1), ...; `length` bytes, more than 0. Where *refused is not 0: zeros.
template <Layout layout, uint32_t rounds, uint32_t blocks, bool aligned>
struct CtrTableKernel {
  static constexpr uint32_t max_threads = table_kernel_threads(blocks);
  static constexpr uint32_t min_blocks = 1;
  static constexpr uint32_t shared_bytes = table_bytes(layout);

  RoundKeys keys;
  CtrPlan plan;
  const uint8_t* in;
  uint8_t* out;
  uint64_t length;
  const uint32_t* refused;  // may be null

  template <typename Thread>
  STOCKADE_DEVICE void operator()(const Thread& thread) const {
    if (refused != nullptr && *refused != 0) {
      write_zeros(thread);
      return;
    }
    fill_tables<Cipher::forward, layout>(thread);
    thread.sync_block();
    constexpr uint32_t parts_of_run = 8 / blocks;
    const uint64_t warps = warp_count(thread);
    for (uint64_t i = warp_number(thread); i < plan.parts; i += warps) {
      run_part(thread, i / parts_of_run, static_cast<uint32_t>(i % parts_of_run));
    }
  }

  template <typename Thread>
  STOCKADE_DEVICE void run_part(const Thread& thread, uint64_t run, uint32_t part) const {
    const uint32_t lane = lane_offset(thread);
    const uint64_t run_first = run * (256 * plan.groups_per_run);  // counted from plan.base
    const gpu::Quad start = counter_block(advance(plan.base, run_first, plan.width));
    const uint32_t first_byte15 = 32 * blocks * part + thread.index % 32;
    gpu::Quad varying[blocks];
    for (uint32_t i = 0; i < blocks; ++i) {
      const gpu::Quad block = {{start.w[0], start.w[1], start.w[2], start.w[3] | (first_byte15 + 32 * i) << 24}};
      varying[i] = counter_varying<layout>(thread, keys, block, lane);
    }
    const uint32_t own_group = thread.index & (plan.groups_per_run - 1);
    const gpu::Quad common = counter_common<layout>(
        thread, keys, {{start.w[0], start.w[1], start.w[2], start.w[3] | own_group << 16}}, lane);

    // The tile's first block in the message, negative modulo 2^64 before it.
    uint64_t first = run_first + 32 * blocks * part - plan.skip;
    for (uint32_t group = 0; group < plan.groups_per_run; ++group, first += 256) {
      const Tile<blocks, aligned> tile(thread, first, length);
      if (!tile.whole && outside(first)) continue;
      gpu::Quad data[blocks], state[blocks];
      tile.load(thread, in, data);
      const gpu::Quad shared = shuffle_quad(thread, common, group);
      for (uint32_t i = 0; i < blocks; ++i) state[i] = varying[i] ^ shared;
      finish_blocks<Cipher::forward, layout, rounds, 3>(thread, keys, state, data, lane);
      tile.store(thread, out, state);
    }
  }

  // Whether no block of a tile belongs to the message.
  STOCKADE_DEVICE bool outside(uint64_t first) const {
    const uint64_t message_blocks = length / 16 + (length % 16 != 0);
    return first >= message_blocks && 0 - first >= 32 * blocks;
  }

  template <typename Thread>
  STOCKADE_DEVICE void write_zeros(const Thread& thread) const {
    const uint64_t count = (length + 512 * blocks - 1) / (512 * blocks);
    const gpu::Quad zeros[blocks] = {};
    for (uint64_t i = warp_number(thread); i < count; i += warp_count(thread)) {
      Tile<blocks, aligned>(thread, 32 * blocks * i, length).store(thread, out, zeros);
    }
  }
};

// ---- CBC and CFB decryption ----

// How chained modes deal their work: a warp owns a run of tiles in a row, so that in place it never reads what another has
// overwritten; only the block before its run has to be saved first.
struct ChainedPlan {
  uint64_t runs;
  uint64_t tiles_per_run;  // of the later runs; the first `longer_runs` have one more
  uint64_t longer_runs;

  STOCKADE_DEVICE uint64_t first_tile(uint64_t run) const {
    return run * tiles_per_run + (run < longer_runs ? run : longer_runs);
  }
};

// saved[run] = the block before the run, for all runs but the first.
struct SaveBlocksKernel {
  static constexpr uint32_t max_threads = 256;
  static constexpr uint32_t min_blocks = 1;

  ChainedPlan plan;
  uint32_t tile_bytes;
  const uint8_t* in;
  uint8_t* saved;

  template <typename Thread>
  STOCKADE_DEVICE void operator()(const Thread& thread) const {
    const uint64_t threads = uint64_t{thread.threads} * thread.blocks;
    for (uint64_t run = uint64_t{thread.block} * thread.threads + thread.index; run < plan.runs; run += threads) {
      if (run > 0) thread.store_quad(saved + 16 * run, load_bytes(in + plan.first_tile(run) * tile_bytes - 16, 16));
    }
  }
};

// SP 800-38A §6.2, out[i] = D(in[i]) ^ in[i-1], or (cipher forward) §6.3, out[i] = E(in[i-1]) ^ in[i]; in[-1] is `iv`.
template <Cipher cipher, Layout layout, uint32_t rounds, uint32_t blocks, bool aligned>
struct ChainedTableKernel {
  static constexpr uint32_t max_threads = table_kernel_threads(blocks);
  static constexpr uint32_t min_blocks = 1;
  static constexpr uint32_t shared_bytes = table_bytes(layout);

  RoundKeys keys;
  ChainedPlan plan;
  gpu::Quad iv;
  const uint8_t* in;
  uint8_t* out;
  uint64_t length;       // CBC: a multiple of 16
  const uint8_t* saved;  // SaveBlocksKernel's, or null where `in` is not `out`

  template <typename Thread>
  STOCKADE_DEVICE void operator()(const Thread& thread) const {
    fill_tables<cipher, layout>(thread);
    thread.sync_block();
    const uint64_t warps = warp_count(thread);
    for (uint64_t i = warp_number(thread); i < plan.runs; i += warps) decrypt_run(thread, i);
  }

  template <typename Thread>
  STOCKADE_DEVICE void decrypt_run(const Thread& thread, uint64_t run) const {
    const uint32_t lane = lane_offset(thread);
    const uint64_t end = plan.first_tile(run + 1);
    // In lane 0: the block before its next one. The others look at their neighbour's.
    gpu::Quad before = before_run(thread, run);
    for (uint64_t i = plan.first_tile(run); i < end; ++i) {
      const Tile<blocks, aligned> tile(thread, 32 * blocks * i, length);
      gpu::Quad data[blocks], previous[blocks];
      tile.load(thread, in, data);
      for (uint32_t block = 0; block < blocks; ++block) {
        // Lane 0 is given lane 31's block, which precedes its next one.
        const gpu::Quad neighbour = shuffle_quad(thread, data[block], (thread.index + 31) % 32);
        previous[block] = lane == 0 ? before : neighbour;
        before = neighbour;
      }
      if constexpr (cipher == Cipher::inverse) {
        crypt_blocks<cipher, layout, rounds>(thread, keys, data, previous, lane);
        tile.store(thread, out, data);
      } else {
        crypt_blocks<cipher, layout, rounds>(thread, keys, previous, data, lane);
        tile.store(thread, out, previous);
      }
    }
  }

  template <typename Thread>
  STOCKADE_DEVICE gpu::Quad before_run(const Thread& thread, uint64_t run) const {
    if (run == 0) return iv;
    if (saved != nullptr) return thread.load_quad(saved + 16 * run);
    return load_block<aligned>(thread, in + plan.first_tile(run) * (512 * blocks) - 16);
  }
};

// ---- XTS ----

// Tweaks are elements of GF(2^128), IEEE 1619 §5.2: bit i of word j is the coefficient of x^(32j + i), and a = x. All of
// the following is constant-time in the element.

// t · a^n, n below 32.
STOCKADE_DEVICE gpu::Quad times_alpha(const gpu::Quad& t, uint32_t n) {
  const uint32_t over = gpu::shift_left(t.w[3], 0, n);
  return {{gpu::shift_left(0, t.w[0], n) ^ over ^ over << 1 ^ over << 2 ^ over << 7,
           gpu::shift_left(t.w[0], t.w[1], n) ^ over >> 31 ^ over >> 30 ^ over >> 25,
           gpu::shift_left(t.w[1], t.w[2], n), gpu::shift_left(t.w[2], t.w[3], n)}};
}

// t · a^32.
STOCKADE_DEVICE gpu::Quad times_alpha_32(const gpu::Quad& t) {
  const uint32_t over = t.w[3];
  return {{over ^ over << 1 ^ over << 2 ^ over << 7, t.w[0] ^ over >> 31 ^ over >> 30 ^ over >> 25, t.w[1], t.w[2]}};
}

// t · p by Horner's rule over p's bits.
STOCKADE_DEVICE gpu::Quad multiply(const gpu::Quad& t, const gpu::Quad& p) {
  gpu::Quad product{};
  for (uint32_t word = 4; word-- > 0;) {
    uint32_t bits = p.w[word];
    STOCKADE_ROLLED
    for (uint32_t i = 0; i < 32; ++i, bits <<= 1) {
      const uint32_t all = 0 - (bits >> 31);
      product = times_alpha(product, 1) ^ gpu::Quad{{t.w[0] & all, t.w[1] & all, t.w[2] & all, t.w[3] & all}};
    }
  }
  return product;
}

// How XTS deals its work. A row is 32 blocks of a data unit after another, one for each lane; a piece is up to
// `rows_per_piece` rows of a unit, whose first tweak TweakKernel has left in the workspace; a run is some pieces, for one
// warp. The two blocks of a unit that share ciphertext stealing belong to no row: StealKernel does them.
struct XtsPlan {
  uint64_t unit;             // bytes
  uint64_t length;           // bytes of all units
  uint64_t full_units;       // the last unit may be shorter
  uint32_t rows_per_piece;   // a power of two up to 32
  uint32_t pieces_per_unit;  // of a full one, whose last piece may have no block in it
  uint64_t pieces;
  uint32_t pieces_per_run;
  uint64_t runs;
  uint64_t first_steal;  // units from here on
  uint64_t steals;       // as many end in a partial block

  STOCKADE_DEVICE uint64_t bytes_of_unit(uint64_t index) const {
    return index < full_units ? unit : length - full_units * unit;
  }
  // Blocks in rows.
  STOCKADE_DEVICE static uint32_t row_blocks(uint64_t bytes) {
    return static_cast<uint32_t>(bytes / 16) - (bytes % 16 != 0 ? 1 : 0);
  }
};

// Powers of a that lie at most this far apart are looked up: piece i of a unit begins at a^(i · 32 · rows_per_piece) =
// low[i % 64] · high[i / 64].
inline constexpr uint32_t piece_powers = 64;

// The first tweaks: tweaks[i] = E(number of piece i's unit) · a^(its first block), then for each unit that ends in a
// partial block the tweak of its last whole one.
struct TweakKernel {
  static constexpr uint32_t max_threads = 256;
  static constexpr uint32_t min_blocks = 1;
  static constexpr Layout layout = Layout::two;
  static constexpr uint32_t shared_bytes = table_bytes(layout);

  RoundKeys keys;
  XtsPlan plan;
  uint64_t number_low, number_high;  // of the first unit
  gpu::Quad low[piece_powers], high[piece_powers];
  gpu::Quad steal, last_steal;  // of the last whole block of a full unit, of the last unit
  uint8_t* tweaks;

  template <typename Thread>
  STOCKADE_DEVICE void operator()(const Thread& thread) const {
    fill_tables<Cipher::forward, layout>(thread);
    thread.sync_block();
    const uint64_t threads = uint64_t{thread.threads} * thread.blocks;
    const uint64_t count = plan.pieces + plan.steals;
    for (uint64_t i = uint64_t{thread.block} * thread.threads + thread.index; i < count; i += threads) {
      thread.store_quad(tweaks + 16 * i, i < plan.pieces ? of_piece(thread, i) : of_steal(thread, i - plan.pieces));
    }
  }

  template <typename Thread>
  STOCKADE_DEVICE gpu::Quad of_piece(const Thread& thread, uint64_t piece) const {
    const uint64_t unit = piece / plan.pieces_per_unit;
    const auto index = static_cast<uint32_t>(piece % plan.pieces_per_unit);
    gpu::Quad tweak = of_unit(thread, unit);
    if (plan.pieces_per_unit > 1) tweak = multiply(tweak, low[index % piece_powers]);
    if (plan.pieces_per_unit > piece_powers) tweak = multiply(tweak, high[index / piece_powers]);
    return tweak;
  }

  template <typename Thread>
  STOCKADE_DEVICE gpu::Quad of_steal(const Thread& thread, uint64_t index) const {
    const uint64_t unit = plan.first_steal + index;
    return multiply(of_unit(thread, unit), unit < plan.full_units ? steal : last_steal);
  }

  template <typename Thread>
  STOCKADE_DEVICE gpu::Quad of_unit(const Thread& thread, uint64_t unit) const {
    const uint64_t first = number_low + unit;
    const uint64_t second = number_high + (first < unit ? 1 : 0);
    const gpu::Quad number = {{static_cast<uint32_t>(first), static_cast<uint32_t>(first >> 32),
                               static_cast<uint32_t>(second), static_cast<uint32_t>(second >> 32)}};
    return encrypt_block<layout>(thread, keys, number, lane_offset(thread));
  }
};

// IEEE 1619 §5.3.1 and §5.4.1: out[j] = E(in[j] ^ t·a^j) ^ t·a^j, or D, for all blocks in rows.
template <Cipher cipher, Layout layout, uint32_t rounds, uint32_t blocks, bool aligned>
struct XtsTableKernel {
  static constexpr uint32_t max_threads = table_kernel_threads(blocks);
  static constexpr uint32_t min_blocks = 1;
  static constexpr uint32_t shared_bytes = table_bytes(layout);

  RoundKeys keys;
  XtsPlan plan;
  const uint8_t* in;
  uint8_t* out;
  const uint8_t* tweaks;  // TweakKernel's

  // Where a warp stands among its rows.
  struct Place {
    uint64_t piece, end;               // of the run
    uint64_t unit_at;                  // the unit's first byte
    uint32_t unit_blocks, index, row;  // blocks in rows; the piece's number in its unit; the row's in its piece
  };

  template <typename Thread>
  STOCKADE_DEVICE void operator()(const Thread& thread) const {
    fill_tables<cipher, layout>(thread);
    thread.sync_block();
    const uint64_t warps = warp_count(thread);
    for (uint64_t i = warp_number(thread); i < plan.runs; i += warps) crypt_run(thread, i);
  }

  template <typename Thread>
  STOCKADE_DEVICE void crypt_run(const Thread& thread, uint64_t run) const {
    const uint32_t lane = lane_offset(thread);
    Place place = first_place(run);
    gpu::Quad tweak{};
    while (place.piece < place.end) {
      gpu::Quad state[blocks], tweak_of[blocks];
      uint64_t at[blocks];
      bool present[blocks];
      for (uint32_t i = 0; i < blocks; ++i) {
        state[i] = {};
        present[i] = false;
        at[i] = 0;
        if (place.piece < place.end) {
          if (place.row == 0) {
            tweak = times_alpha(thread.load_quad(tweaks + 16 * place.piece), thread.index % 32);
          } else {
            tweak = times_alpha_32(tweak);
          }
          const uint32_t block = (place.index * plan.rows_per_piece + place.row) * 32 + thread.index % 32;
          present[i] = block < place.unit_blocks;
          at[i] = place.unit_at + 16 * block;
          if (present[i]) state[i] = load_block<aligned>(thread, in + at[i]);
          next_row(place);
        }
        tweak_of[i] = tweak;
        state[i] = state[i] ^ tweak;
      }
      crypt_blocks<cipher, layout, rounds>(thread, keys, state, tweak_of, lane);
      for (uint32_t i = 0; i < blocks; ++i) {
        if (present[i]) store_block<aligned>(thread, out + at[i], state[i]);
      }
    }
  }

  STOCKADE_DEVICE Place first_place(uint64_t run) const {
    Place place;
    place.piece = run * plan.pieces_per_run;
    place.end = plan.pieces - place.piece < plan.pieces_per_run ? plan.pieces : place.piece + plan.pieces_per_run;
    const uint64_t unit = place.piece / plan.pieces_per_unit;
    place.unit_at = unit * plan.unit;
    place.unit_blocks = XtsPlan::row_blocks(plan.bytes_of_unit(unit));
    place.index = static_cast<uint32_t>(place.piece % plan.pieces_per_unit);
    place.row = 0;
    return place;
  }

  STOCKADE_DEVICE void next_row(Place& place) const {
    ++place.row;
    const uint32_t blocks_before = (place.index * plan.rows_per_piece + place.row) * 32;
    if (place.row < plan.rows_per_piece && blocks_before < place.unit_blocks) return;
    ++place.piece;
    ++place.index;
    place.row = 0;
    if (place.index < plan.pieces_per_unit) return;
    place.index = 0;
    place.unit_at += plan.unit;
    const uint64_t left = plan.length - place.unit_at;
    place.unit_blocks = XtsPlan::row_blocks(left < plan.unit ? left : plan.unit);
  }
};

// IEEE 1619 §5.3.2 and §5.4.2, ciphertext stealing: the last whole block and the partial one behind it, a thread per unit.
template <Cipher cipher>
struct StealKernel {
  static constexpr uint32_t max_threads = 256;
  static constexpr uint32_t min_blocks = 1;
  static constexpr Layout layout = Layout::two;
  static constexpr uint32_t shared_bytes = table_bytes(layout);

  RoundKeys keys;
  XtsPlan plan;
  const uint8_t* in;
  uint8_t* out;
  const uint8_t* tweaks;  // of the last whole blocks

  template <typename Thread>
  STOCKADE_DEVICE void operator()(const Thread& thread) const {
    fill_tables<cipher, layout>(thread);
    thread.sync_block();
    const uint64_t threads = uint64_t{thread.threads} * thread.blocks;
    for (uint64_t i = uint64_t{thread.block} * thread.threads + thread.index; i < plan.steals; i += threads) {
      crypt_end(thread, plan.first_steal + i, thread.load_quad(tweaks + 16 * i));
    }
  }

  template <typename Thread>
  STOCKADE_DEVICE void crypt_end(const Thread& thread, uint64_t unit, const gpu::Quad& tweak) const {
    const uint64_t bytes = plan.bytes_of_unit(unit);
    const uint64_t at = unit * plan.unit + bytes / 16 * 16 - 16;
    const auto rest = static_cast<uint32_t>(bytes % 16);
    const gpu::Quad next = times_alpha(tweak, 1);
    const bool forward = cipher == Cipher::forward;
    const gpu::Quad partial = load_bytes(in + at + 16, rest);
    const gpu::Quad stolen = crypt(thread, load_bytes(in + at, 16), forward ? tweak : next);
    // The partial block filled up with the end of the other's result.
    gpu::Quad filled;
    for (uint32_t i = 0; i < 4; ++i) {
      const uint32_t own = rest >= 4 * i + 4 ? 4 : rest > 4 * i ? rest - 4 * i : 0;
      const uint32_t mask = own == 4 ? 0xFFFFFFFF : (1u << 8 * own) - 1;
      filled.w[i] = (partial.w[i] & mask) | (stolen.w[i] & ~mask);
    }
    store_bytes(out + at + 16, stolen, rest);
    store_bytes(out + at, crypt(thread, filled, forward ? next : tweak), 16);
  }

  template <typename Thread>
  STOCKADE_DEVICE gpu::Quad crypt(const Thread& thread, const gpu::Quad& block, const gpu::Quad& tweak) const {
    gpu::Quad state[1] = {block ^ tweak};
    const gpu::Quad with[1] = {tweak};
    crypt_blocks<cipher, layout, any_rounds>(thread, keys, state, with, lane_offset(thread));
    return state[0];
  }
};

}  // namespace stockade::aes
