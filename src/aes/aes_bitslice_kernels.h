// Counter mode on bit planes (aes_bitslice.h), as a kernel for gpu/launch.h.
//
// Work is cut into tiles: 1,024 counters that differ in their last 10 bits, whichever message block the first of them
// belongs to. A warp encrypts a tile at a time; bit j of lane l's planes is counter 32·j + l, so that what a warp loads or
// stores at once are 32 blocks in a row. Of the counter's planes 5 are patterns that depend on the lane, 5 patterns over j,
// and 118 all zeros or all ones for the whole warp. Only the key stream is transposed back into words.
//
// Rounds 1 and 2 are hardly computed (the idea of FACE, Park and Lee, TCHES 2018). Among 65,536 counters that differ in
// bytes 14 and 15 alone, a group, these two go into columns 1 and 0 of round 1's result, one each. So
//   - column 0 after SubBytes of round 2 is the same for all tiles of a group: 32 words for each lane (`columns`), and
//   - all that the other columns give to round 2's result is 128 words for each tile, the same for all lanes (`sums`).
// The thread block makes both once for a run of up to 32 tiles of a group, the sums with one tile per lane, and leaves them
// in shared memory; a tile then takes 140 operations for its first two rounds.
#pragma once

#include <cstdint>

#include "aes/aes_bitslice.h"
#include "aes/aes_cuda.h"
#include "gpu/thread.h"

namespace stockade::aes {

// out = in ^ E(counter), E(counter + 1), ... (SP 800-38A §6.5) for any `length`, with a counter of 32 or 128 bits. `in` and
// `out` are the same or do not overlap; at multiples of 16 bytes they are fast. Grid: any, blocks of up to max_threads
// threads with shared_bytes(threads) of shared memory. Constant-time in key, counter and data: no address and no branch
// depends on them.
struct CtrBitsliceKernel {
  static constexpr uint32_t max_threads = 256;  // 255 registers each
  static constexpr uint32_t min_blocks = 1;
  static constexpr uint32_t tile_blocks = 1024;
  static constexpr uint32_t tile_bytes = 16 * tile_blocks;
  static constexpr uint32_t group_tiles = 64;
  static constexpr uint32_t run_tiles = 32;  // a lane each

  RoundKeys keys;
  uint32_t counter[4];  // the first block's, as numbers: counter[3] has the lowest bits
  CounterWidth width;
  const uint8_t* in;
  uint8_t* out;
  uint64_t length;
  const uint32_t* refused;  // as in aes_cuda.h
  // Thread block b works on `share` tiles in a row, blocks before `larger` on `unit` more, as far as there are tiles.
  uint64_t tiles, share;
  uint32_t larger, unit;

  // Shared memory: key planes of rounds 3 and later; S-box of the last counter byte, eight words per lane; `columns`;
  // `sums`, with four words between tiles so that lanes which store theirs meet in few banks; the staging area of each warp.
  static constexpr uint32_t round_bytes = 4 * bitslice::state_planes;
  static constexpr uint32_t last_byte_offset = 11 * round_bytes;
  static constexpr uint32_t columns_offset = last_byte_offset + 4 * 8 * 32;
  static constexpr uint32_t sums_offset = columns_offset + 4 * 32 * 32;
  static constexpr uint32_t sums_stride = round_bytes + 16;
  static constexpr uint32_t staging_offset = sums_offset + run_tiles * sums_stride;
  static constexpr uint32_t staging_bytes = 2048;
  STOCKADE_DEVICE static constexpr uint32_t shared_bytes(uint32_t threads) {
    return staging_offset + threads / 32 * staging_bytes;
  }

  template <typename Thread>
  STOCKADE_DEVICE void operator()(const Thread& thread) const {
    if (refused != nullptr && *refused != 0) return write_zeros(thread);
    prepare_keys(thread);
    prepare_last_byte(thread);
    const uint32_t larger_before = thread.block < larger ? thread.block : larger;
    const uint64_t begin = share * thread.block + uint64_t{unit} * larger_before;
    uint64_t end = begin + share + (thread.block < larger ? unit : 0);
    if (end > tiles) end = tiles;
    for (uint64_t tile = begin; tile < end;) {
      const uint32_t left_in_group = group_tiles - static_cast<uint32_t>((counter[3] >> 10) + tile) % group_tiles;
      uint32_t run = left_in_group < run_tiles ? left_in_group : run_tiles;
      if (end - tile < run) run = static_cast<uint32_t>(end - tile);
      thread.sync_block();  // the tables of the run before are done with
      prepare_run(thread, tile);
      thread.sync_block();
      for (uint32_t i = thread.index / 32; i < run; i += thread.threads / 32) encrypt_tile(thread, tile + i, i);
      tile += run;
    }
    wipe_shared(thread);
  }

 private:
  template <typename Thread>
  STOCKADE_DEVICE static uint32_t* words(const Thread& thread, uint32_t offset) {
    return reinterpret_cast<uint32_t*>(thread.shared() + offset);
  }
  template <typename Thread>
  STOCKADE_DEVICE static gpu::Quad* quads(const Thread& thread, uint32_t offset) {
    return reinterpret_cast<gpu::Quad*>(thread.shared() + offset);
  }

  template <typename Thread>
  STOCKADE_DEVICE void write_zeros(const Thread& thread) const {
    const uint64_t step = uint64_t{thread.threads} * thread.blocks;
    for (uint64_t i = uint64_t{thread.block} * thread.threads + thread.index; i < length; i += step) out[i] = 0;
  }

  // ---- once per thread block ----

  // Shared memory is not cleared before the next kernel finds it.
  template <typename Thread>
  STOCKADE_DEVICE void wipe_shared(const Thread& thread) const {
    thread.sync_block();
    const uint32_t end = shared_bytes(thread.threads) / 4;
    for (uint32_t i = thread.index; i < end; i += thread.threads) words(thread, 0)[i] = 0;
  }

  template <typename Thread>
  STOCKADE_DEVICE void prepare_keys(const Thread& thread) const {
    const uint32_t count = (keys.rounds - 3) * bitslice::state_planes;
    for (uint32_t i = thread.index; i < count; i += thread.threads) {
      words(thread, 0)[i] = bitslice::key_plane(keys.word[12 + i / 32], i % 32);
    }
  }

  // SubBytes of the last counter byte in round 1, which is the same for all tiles.
  template <typename Thread>
  STOCKADE_DEVICE void prepare_last_byte(const Thread& thread) const {
    if (thread.index >= 32) return;
    constexpr uint32_t over_blocks[3] = {0xAAAAAAAA, 0xCCCCCCCC, 0xF0F0F0F0};
    uint32_t byte[bitslice::byte_planes];
    for (uint32_t i = 0; i < bitslice::byte_planes; ++i) {
      const uint32_t plane = i < 5 ? bitslice::plane_of_bit(thread.index, i) : over_blocks[i - 5];
      byte[i] = plane ^ bitslice::plane_of_bit(keys.word[3], 24 + i);
    }
    bitslice::substitute(byte);
    for (uint32_t i = 0; i < bitslice::byte_planes; ++i)
      words(thread, last_byte_offset)[32 * i + thread.index] = byte[i];
  }

  // ---- once per run ----

  struct Number {
    uint32_t word[4];
  };
  // The counter at the beginning of a tile.
  STOCKADE_DEVICE Number tile_counter(uint64_t tile) const {
    const uint64_t low = uint64_t{counter[2]} << 32 | (counter[3] & 0xFFFFFC00), sum = low + (tile << 10);
    if (width == CounterWidth::bits32) return {{counter[0], counter[1], counter[2], static_cast<uint32_t>(sum)}};
    const uint64_t high = (uint64_t{counter[0]} << 32 | counter[1]) + (sum < low ? 1 : 0);
    return {{static_cast<uint32_t>(high >> 32), static_cast<uint32_t>(high), static_cast<uint32_t>(sum >> 32),
             static_cast<uint32_t>(sum)}};
  }

  // A block of which lanes 0 to 15 hold a byte each, packed (bitslice::mix_packed). The whole warp comes.
  template <typename Thread>
  STOCKADE_DEVICE static void pack(const Thread& thread, uint32_t byte, uint32_t planes[bitslice::byte_planes]) {
    for (uint32_t i = 0; i < bitslice::byte_planes; ++i) planes[i] = thread.ballot(byte >> i & 1) & 0xFFFF;
  }
  template <typename Thread>
  STOCKADE_DEVICE void pack_key(const Thread& thread, uint32_t round, uint32_t planes[bitslice::byte_planes]) const {
    const uint32_t lane = thread.index % 32;
    pack(thread, keys.word[4 * round + lane / 4 % 4] >> 8 * (lane % 4), planes);
  }

  // Rounds 1 and 2 of what a group's counters share, packed: `first` is round 1's result without what bytes 14 and 15 bring
  // to columns 1 and 0, `second` the part of round 2's result that comes from columns 2 and 3.
  struct Shared {
    uint32_t first[bitslice::byte_planes], second[bitslice::byte_planes];
  };
  template <typename Thread>
  STOCKADE_DEVICE void shared_by_group(const Thread& thread, const Number& number, Shared& shared) const {
    const uint32_t lane = thread.index % 32, column = lane / 4 % 4;
    const uint32_t word =
        column < 2 ? (column == 0 ? number.word[0] : number.word[1]) : (column == 2 ? number.word[2] : number.word[3]);
    uint32_t state[bitslice::byte_planes], key[bitslice::byte_planes];
    pack(thread, (gpu::swap_bytes(word) ^ keys.word[column]) >> 8 * (lane % 4), state);
    bitslice::substitute(state);
    for (uint32_t& plane : state) plane &= 0x3FFF;
    pack_key(thread, 1, key);
    bitslice::mix_packed(state, key);
    for (uint32_t i = 0; i < bitslice::byte_planes; ++i) shared.first[i] = state[i];
    bitslice::substitute(state);
    for (uint32_t& plane : state) plane &= 0xFF00;
    pack_key(thread, 2, key);
    bitslice::mix_packed(state, key);
    for (uint32_t i = 0; i < bitslice::byte_planes; ++i) shared.second[i] = state[i];
  }

  // The planes of `packed`'s byte, which are all zeros or all ones, with the byte `a` of row `from` as it goes into row
  // `to`.
  STOCKADE_DEVICE static void mix_into(const uint32_t packed[bitslice::byte_planes], uint32_t byte, uint32_t to,
                                       uint32_t from, const uint32_t a[bitslice::byte_planes],
                                       uint32_t result[bitslice::byte_planes]) {
    const uint32_t coefficient = bitslice::mix_coefficient(to, from);
    const uint32_t once = bitslice::plane_of_bit(coefficient, 0), twice = bitslice::plane_of_bit(coefficient, 1);
    for (uint32_t i = 0; i < bitslice::byte_planes; ++i) {
      const uint32_t reduced = i == 1 || i == 3 || i == 4 ? a[7] : 0;
      const uint32_t doubled = a[(i + 7) % 8] ^ reduced;
      result[i] = bitslice::plane_of_bit(packed[i], byte) ^ (a[i] & once) ^ (doubled & twice);
    }
  }

  // Makes `columns` and `sums` of up to 32 tiles from `tile` on, all of one group. Warp w makes row w % 4 of column 0 and of
  // column 1 after round 1.
  template <typename Thread>
  STOCKADE_DEVICE void prepare_run(const Thread& thread, uint64_t tile) const {
    using bitslice::byte_planes;
    const uint32_t lane = thread.index % 32, warp = thread.index / 32;
    if (warp >= 4) return;
    const Number number = tile_counter(tile);
    Shared shared;
    shared_by_group(thread, number, shared);
    uint32_t last[byte_planes], before[byte_planes];
    for (uint32_t i = 0; i < byte_planes; ++i) last[i] = words(thread, last_byte_offset)[32 * i + lane];
    // Byte 14 of the lane's tile. A run stays in its group, so nothing is carried beyond the byte.
    const uint32_t tile_bits = (number.word[3] >> 10) + lane;
    for (uint32_t i = 0; i < byte_planes; ++i) {
      const uint32_t plane = i == 0 ? 0xFF00FF00 : i == 1 ? 0xFFFF0000 : bitslice::plane_of_bit(tile_bits, i - 2);
      before[i] = plane ^ bitslice::plane_of_bit(keys.word[3], 16 + i);
    }
    bitslice::substitute(before);
    const uint32_t step = thread.threads < 128 ? thread.threads / 32 : 4;
    for (uint32_t row = warp; row < 4; row += step) {
      uint32_t a[byte_planes];
      mix_into(shared.first, row, row, 3, last, a);
      bitslice::substitute(a);
      for (uint32_t i = 0; i < byte_planes; ++i) words(thread, columns_offset)[32 * (8 * row + i) + lane] = a[i];

      mix_into(shared.first, 4 + row, row, 2, before, a);
      bitslice::substitute(a);
      const uint32_t column = (5 - row) % 4;  // where ShiftRows takes this byte
      for (uint32_t to = 0; to < 4; ++to) {
        uint32_t sum[byte_planes];
        mix_into(shared.second, 4 * column + to, to, row, a, sum);
        gpu::Quad* at = quads(thread, sums_offset + lane * sums_stride + 4 * (32 * column + 8 * to));
        at[0] = {{sum[0], sum[1], sum[2], sum[3]}};
        at[1] = {{sum[4], sum[5], sum[6], sum[7]}};
      }
    }
  }

  // ---- once per tile ----

  // One row of one column of round 2's result: what the tile's lanes share, and byte `from` of the lane's column 0.
  template <uint32_t to, uint32_t from>
  STOCKADE_DEVICE static void second_row(uint32_t* result, const gpu::Quad* sums,
                                         const uint32_t a[bitslice::byte_planes]) {
    constexpr uint32_t coefficient = bitslice::mix_coefficient(to, from);
    const gpu::Quad low = sums[2 * to], high = sums[2 * to + 1];
    result[8 * to + 0] = bitslice::add_multiple<coefficient, 0>(low.w[0], a);
    result[8 * to + 1] = bitslice::add_multiple<coefficient, 1>(low.w[1], a);
    result[8 * to + 2] = bitslice::add_multiple<coefficient, 2>(low.w[2], a);
    result[8 * to + 3] = bitslice::add_multiple<coefficient, 3>(low.w[3], a);
    result[8 * to + 4] = bitslice::add_multiple<coefficient, 4>(high.w[0], a);
    result[8 * to + 5] = bitslice::add_multiple<coefficient, 5>(high.w[1], a);
    result[8 * to + 6] = bitslice::add_multiple<coefficient, 6>(high.w[2], a);
    result[8 * to + 7] = bitslice::add_multiple<coefficient, 7>(high.w[3], a);
  }
  template <uint32_t row, typename Thread>
  STOCKADE_DEVICE static void second_column(const Thread& thread, uint32_t place,
                                            uint32_t state[bitslice::state_planes]) {
    constexpr uint32_t column = (4 - row) % 4;  // where ShiftRows takes this row of column 0
    uint32_t a[bitslice::byte_planes];
    for (uint32_t i = 0; i < bitslice::byte_planes; ++i) {
      a[i] = words(thread, columns_offset)[32 * (8 * row + i) + thread.index % 32];
    }
    const gpu::Quad* sums = quads(thread, sums_offset + place * sums_stride + 4 * 32 * column);
    second_row<0, row>(state + 32 * column, sums, a);
    second_row<1, row>(state + 32 * column, sums, a);
    second_row<2, row>(state + 32 * column, sums, a);
    second_row<3, row>(state + 32 * column, sums, a);
  }

  template <uint32_t column, typename Thread>
  STOCKADE_DEVICE static void mix(const Thread& thread, uint32_t offset, const uint32_t state[bitslice::state_planes],
                                  uint32_t next[bitslice::state_planes]) {
    uint32_t key[bitslice::column_planes];
    for (uint32_t i = 0; i < 8; ++i) {
      const gpu::Quad quad = quads(thread, offset)[8 * column + i];
      for (uint32_t j = 0; j < 4; ++j) key[4 * i + j] = quad.w[j];
    }
    bitslice::mix_column<column>(next + 32 * column, state, key);
  }

  // Column `column` of the last round's result as words, one per block: ShiftRows, then the transposition.
  template <uint32_t column>
  STOCKADE_DEVICE static void finish_column(const uint32_t state[bitslice::state_planes], uint32_t result[32]) {
    for (uint32_t row = 0; row < 4; ++row) {
      for (uint32_t i = 0; i < 8; ++i) result[8 * row + i] = state[(column + row) % 4 * 32 + 8 * row + i];
    }
    bitslice::transpose(result);
  }

  // `place` is the tile's in its run.
  template <typename Thread>
  STOCKADE_DEVICE void encrypt_tile(const Thread& thread, uint64_t tile, uint32_t place) const {
    using bitslice::state_planes;
    uint32_t state[state_planes];
    second_column<0>(thread, place, state);
    second_column<1>(thread, place, state);
    second_column<2>(thread, place, state);
    second_column<3>(thread, place, state);
    for (uint32_t round = 3;; ++round) {
      bitslice::substitute_state(state);
      if (round == keys.rounds) break;
      const uint32_t offset = (round - 3) * round_bytes;
      uint32_t next[state_planes];
      mix<0>(thread, offset, state, next);
      mix<1>(thread, offset, state, next);
      mix<2>(thread, offset, state, next);
      mix<3>(thread, offset, state, next);
      for (uint32_t i = 0; i < state_planes; ++i) state[i] = next[i];
    }
    uint32_t stream[4][32];
    finish_column<0>(state, stream[0]);
    finish_column<1>(state, stream[1]);
    finish_column<2>(state, stream[2]);
    finish_column<3>(state, stream[3]);

    const uint64_t first =
        tile * tile_bytes - 16 * (counter[3] % tile_blocks);  // may be before the message's beginning
    // Modulo 2^64: numbers wrap around, pointers must not.
    const int64_t distance = static_cast<int64_t>(first);
    const Part part = {in + distance, out + distance, first < length ? 0 : static_cast<uint32_t>(0 - first),
                       length - first < tile_bytes ? static_cast<uint32_t>(length - first) : tile_bytes};
    const bool aligned = ((reinterpret_cast<uintptr_t>(in) | reinterpret_cast<uintptr_t>(out)) & 15) == 0;
    if (!aligned) {
      add_bytes<0>(thread, part, stream);
    } else if (part.begin == 0 && part.end == tile_bytes) {
      add_blocks<true>(thread, part, stream);
    } else {
      add_blocks<false>(thread, part, stream);
    }
  }

  // ---- the data ----

  // A tile's part of the message: its bytes `begin` to `end` - 1, where byte 0, which need not be in the message, is at
  // `in`.
  struct Part {
    const uint8_t* in;
    uint8_t* out;
    uint32_t begin, end;
  };

  // With the round keys of the last AddRoundKey.
  STOCKADE_DEVICE gpu::Quad last_key() const {
    const uint32_t* word = keys.word + 4 * keys.rounds;
    return {{word[0], word[1], word[2], word[3]}};
  }

  // Data at multiples of 16 bytes; `all` if the tile is in the message from end to end.
  template <bool all, typename Thread>
  STOCKADE_DEVICE void add_blocks(const Thread& thread, const Part& part, const uint32_t stream[4][32]) const {
    constexpr uint32_t batch = all ? 4 : 2, batches = 32 / batch;  // of loads: two are on their way
    const gpu::Quad key = last_key();
    const uint32_t lane_first = 16 * (thread.index % 32);
    gpu::Quad* staged = quads(thread, staging_offset + thread.index / 32 * staging_bytes);
    const auto whole = [&](uint32_t at) { return all || (at >= part.begin && at + 16 <= part.end); };
    gpu::Quad data[2][batch];
    for (uint32_t b = 0; b <= batches; ++b) {
      for (uint32_t i = 0; i < batch && b < batches; ++i) {
        const uint32_t at = lane_first + 512 * (batch * b + i);
        if (whole(at)) data[b % 2][i] = thread.load_quad(part.in + at);
      }
      for (uint32_t i = 0; i < batch && b > 0; ++i) {
        const uint32_t j = batch * (b - 1) + i, at = lane_first + 512 * j;
        const gpu::Quad quad = gpu::Quad{{stream[0][j], stream[1][j], stream[2][j], stream[3][j]}} ^ key;
        if (whole(at)) {
          thread.store_quad(part.out + at, data[(b - 1) % 2][i] ^ quad);
        } else if (at < part.end && at + 16 > part.end) {
          *staged = quad;  // the message ends within this lane's block
        }
      }
    }
    if (all || part.end % 16 == 0) return;
    thread.sync_warp();
    const uint32_t at = part.end / 16 * 16 + thread.index % 32;
    if (at < part.end) part.out[at] = part.in[at] ^ reinterpret_cast<const uint8_t*>(staged)[at % 16];
    thread.sync_warp();
  }

  // Data at any address, from the lanes' blocks number j on: the key stream goes through shared memory, so that lanes take
  // bytes in a row.
  template <uint32_t j, typename Thread>
  STOCKADE_DEVICE void add_bytes(const Thread& thread, const Part& part, const uint32_t stream[4][32]) const {
    constexpr uint32_t blocks = staging_bytes / 512;  // of a lane that are staged at a time
    constexpr uint32_t batch = 8;                     // bytes of a lane on their way
    const uint32_t lane = thread.index % 32, offset = staging_offset + thread.index / 32 * staging_bytes;
    const gpu::Quad key = last_key();
    for (uint32_t i = 0; i < blocks; ++i) {
      quads(thread, offset)[32 * i + lane] =
          gpu::Quad{{stream[0][j + i], stream[1][j + i], stream[2][j + i], stream[3][j + i]}} ^ key;
    }
    thread.sync_warp();
    const auto present = [&](uint32_t at) { return at >= part.begin && at < part.end; };
    for (uint32_t place = lane; place < staging_bytes; place += 32 * batch) {
      const uint32_t first = 512 * j + place;
      uint8_t data[batch];
      for (uint32_t i = 0; i < batch; ++i) data[i] = present(first + 32 * i) ? part.in[first + 32 * i] : uint8_t{0};
      for (uint32_t i = 0; i < batch; ++i) {
        if (!present(first + 32 * i)) continue;
        part.out[first + 32 * i] = data[i] ^ thread.shared()[offset + place + 32 * i];
      }
    }
    thread.sync_warp();
    if constexpr (j + blocks < 32) add_bytes<j + blocks>(thread, part, stream);
  }
};

}  // namespace stockade::aes
