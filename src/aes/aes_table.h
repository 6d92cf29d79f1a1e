// AES by tables in a GPU's shared memory, for kernels (gpu/thread.h) to build upon.
//
// The tables. A full round (FIPS 197 §5.1, SubBytes, ShiftRows, MixColumns, AddRoundKey) turns columns x_0 ... x_3 into
//   y_j = T_0[byte 0 of x_j] ^ T_1[byte 1 of x_j+1] ^ T_2[byte 2 of x_j+2] ^ T_3[byte 3 of x_j+3] ^ k_j  (indices modulo 4),
// where T_0[v] is the column (2·S[v], S[v], S[v], 3·S[v]) and T_r is T_0 rotated by r bytes. Of the equivalent inverse
// cipher (§5.3.5) a round is the same with column indices j - 1, j - 2, j - 3, and D_0[v] = (14, 9, 13, 11)·S^-1[v].
//
// Why timing tells nothing. Every entry stands there 32 times, once in each bank, and a lane reads its own bank only: a
// warp's load takes one pass whatever the 32 entries are. Rows are 256 bytes long: 32 copies of T_0[v], then 32 of T_1[v];
// T_2 and T_3 follow 64 KiB further in the same way. So the address of a lookup is the state's byte in bits 8 to 15 above
// four times the lane, which is one byte permutation, and which table it is stands in the load's own offset.
//
// Layout `two` leaves T_2 and T_3 out, for devices whose blocks cannot have 128 KiB: T_2[a] ^ T_3[b] is T_0[a] ^ T_1[b]
// rotated by two bytes.
//
// The last round. Encryption takes S[v] out of T_0[v]. Decryption looks up a full round's sums, which are InvMixColumns of
// the columns wanted, and applies MixColumns to them: that saves a table of S^-1.
#pragma once

#include <cstdint>

#include "aes/aes_cuda.h"
#include "gpu/thread.h"

namespace stockade::aes {

enum class Cipher : uint32_t { forward, inverse };
enum class Layout : uint32_t { four, two };

// The tables lie at the beginning of the block's shared memory, at a multiple of 128 bytes; what else a kernel keeps there
// comes behind.
STOCKADE_DEVICE constexpr uint32_t table_bytes(Layout layout) { return (layout == Layout::four ? 128u : 64u) << 10; }

// A number of rounds that is known only when a kernel runs: rounds are then a loop, which is slower but short.
inline constexpr uint32_t any_rounds = 0;

// ---- making the tables ----

struct SubstitutionBoxes {
  uint8_t forward[256], backward[256];
};

// FIPS 197 §5.1.1: S[v] is the affine image of 1/v. Powers of 3 run through all of GF(2^8) but 0, those of 1/3 through
// their inverses.
constexpr SubstitutionBoxes make_substitution_boxes() {
  SubstitutionBoxes boxes{};
  uint32_t power = 1, inverse = 1;
  for (uint32_t i = 0; i < 256; ++i) {
    const uint32_t value = i == 255 ? 0 : power;
    const uint32_t b = i == 255 ? 0 : inverse;
    const uint32_t twice = b << 8 | b;
    const uint32_t image = (b ^ twice >> 4 ^ twice >> 5 ^ twice >> 6 ^ twice >> 7 ^ 0x63) & 0xFF;
    boxes.forward[value] = static_cast<uint8_t>(image);
    boxes.backward[image] = static_cast<uint8_t>(value);
    power ^= (power << 1) ^ (power >> 7) * 0x11B;
    // 1/3 = 0xF6: the sum of the powers 2^1, 2^2, 2^4, 2^5, 2^6 and 2^7.
    uint32_t quotient = 0, term = inverse;
    for (uint32_t bit = 0; bit < 8; ++bit) {
      if (0xF6 >> bit & 1) quotient ^= term;
      term = (term << 1) ^ (term >> 7) * 0x11B;
    }
    inverse = quotient;
  }
  return boxes;
}

STOCKADE_DEVICE_TABLE SubstitutionBoxes substitution_boxes = make_substitution_boxes();

// Each byte of a word doubled in GF(2^8).
STOCKADE_DEVICE uint32_t double_bytes(uint32_t word) {
  return (word << 1 & 0xFEFEFEFE) ^ (word >> 7 & 0x01010101) * 0x1B;
}

STOCKADE_DEVICE uint32_t rotate_bytes(uint32_t word, uint32_t bytes) { return gpu::rotate_left(word, 8 * bytes); }

// FIPS 197 §5.1.3 on one column.
STOCKADE_DEVICE uint32_t mix_column(uint32_t x) {
  const uint32_t next = gpu::permute_bytes(x, 0, 0x0321);
  const uint32_t sum = x ^ next;
  return double_bytes(sum) ^ next ^ gpu::permute_bytes(sum, 0, 0x1032);
}

// T_0[v] from S[v], or D_0[v] from S^-1[v].
template <Cipher cipher>
STOCKADE_DEVICE uint32_t table_entry(uint32_t image) {
  const uint32_t two = double_bytes(image);
  if constexpr (cipher == Cipher::forward) {
    return two | image << 8 | image << 16 | (two ^ image) << 24;
  } else {
    const uint32_t four = double_bytes(two), eight = double_bytes(four);
    return (eight ^ four ^ two) | (eight ^ image) << 8 | (eight ^ four ^ image) << 16 | (eight ^ two ^ image) << 24;
  }
}

// Fills the tables; all threads of the block must come, and sync_block() afterwards before anyone looks something up. A warp
// stores 512 bytes at a time without a conflict: two rows of T_0 and T_1, and what they become in T_2 and T_3.
template <Cipher cipher, Layout layout, typename Thread>
STOCKADE_DEVICE void fill_tables(const Thread& thread) {
  constexpr uint32_t quads = (64u << 10) / 16;  // of T_0 and T_1, or of T_2 and T_3
  const uint8_t* box = cipher == Cipher::forward ? substitution_boxes.forward : substitution_boxes.backward;
  auto* shared = reinterpret_cast<gpu::Quad*>(thread.shared());
  // Bytes are on their way for several steps while the first are waited for: that is most of what a short message takes.
  STOCKADE_UNROLL_BY(4)
  for (uint32_t i = thread.index; i < quads; i += thread.threads) {
    const uint32_t entry = rotate_bytes(table_entry<cipher>(box[i / 16]), i / 8 % 2);
    shared[i] = {{entry, entry, entry, entry}};
    if constexpr (layout == Layout::four) {
      const uint32_t further = rotate_bytes(entry, 2);
      shared[quads + i] = {{further, further, further, further}};
    }
  }
}

// ---- lookups ----

// What a thread adds to every row's address: pass it to the functions below as `lane`.
template <typename Thread>
STOCKADE_DEVICE uint32_t lane_offset(const Thread& thread) {
  return 4 * (thread.index % gpu::warp_lanes);
}

// T_table[byte `byte` of x]; tables 2 and 3 exist in layout `four` alone.
template <uint32_t table, uint32_t byte, typename Thread>
STOCKADE_DEVICE uint32_t look_up(const Thread& thread, uint32_t x, uint32_t lane) {
  return thread.shared_word(gpu::permute_bytes(x, lane, 0x5504 | byte << 4) +
                            (table % 2 * 128 + table / 2 * (64u << 10)));
}

// Column j - that is, T_0[byte 0 of a] ^ T_1[byte 1 of b] ^ T_2[byte 2 of c] ^ T_3[byte 3 of d] ^ key.
template <Layout layout, typename Thread>
STOCKADE_DEVICE uint32_t table_column(const Thread& thread, uint32_t a, uint32_t b, uint32_t c, uint32_t d,
                                      uint32_t key, uint32_t lane) {
  const uint32_t first = look_up<0, 0>(thread, a, lane), second = look_up<1, 1>(thread, b, lane);
  if constexpr (layout == Layout::four) {
    return first ^ second ^ key ^ look_up<2, 2>(thread, c, lane) ^ look_up<3, 3>(thread, d, lane);
  } else {
    const uint32_t rotated = look_up<0, 2>(thread, c, lane) ^ look_up<1, 3>(thread, d, lane);
    return first ^ second ^ key ^ gpu::permute_bytes(rotated, 0, 0x1032);
  }
}

// The columns that meet in column j of a round's result: x_j, x_j+1, x_j+2, x_j+3, or backwards.
template <Cipher cipher>
STOCKADE_DEVICE constexpr uint32_t source_column(uint32_t j, uint32_t row) {
  return (cipher == Cipher::forward ? j + row : j - row) % 4;
}

// One full round; `key` is its four words. FIPS 197 §5.1, or §5.3.5.
template <Cipher cipher, Layout layout, typename Thread>
STOCKADE_DEVICE gpu::Quad table_round(const Thread& thread, const uint32_t* key, const gpu::Quad& x, uint32_t lane) {
  gpu::Quad y;
  for (uint32_t j = 0; j < 4; ++j) {
    y.w[j] = table_column<layout>(thread, x.w[j], x.w[source_column<cipher>(j, 1)], x.w[source_column<cipher>(j, 2)],
                                  x.w[source_column<cipher>(j, 3)], key[j], lane);
  }
  return y;
}

// S[byte 0 of a], S[byte 1 of b], S[byte 2 of c], S[byte 3 of d]: byte 1 of T_0[v] is S[v].
template <typename Thread>
STOCKADE_DEVICE uint32_t substituted_column(const Thread& thread, uint32_t a, uint32_t b, uint32_t c, uint32_t d,
                                            uint32_t lane) {
  const uint32_t low = gpu::permute_bytes(look_up<0, 0>(thread, a, lane), look_up<0, 1>(thread, b, lane), 0x0051);
  const uint32_t high = gpu::permute_bytes(look_up<0, 2>(thread, c, lane), look_up<0, 3>(thread, d, lane), 0x5100);
  return gpu::permute_bytes(low, high, 0x7610);
}

// The last round, with `with` added to its result: the input block in CTR, a tweak in XTS.
template <Cipher cipher, Layout layout, typename Thread>
STOCKADE_DEVICE gpu::Quad table_last_round(const Thread& thread, const uint32_t* key, const gpu::Quad& x,
                                           const gpu::Quad& with, uint32_t lane) {
  gpu::Quad y;
  for (uint32_t j = 0; j < 4; ++j) {
    const uint32_t b = x.w[source_column<cipher>(j, 1)], c = x.w[source_column<cipher>(j, 2)],
                   d = x.w[source_column<cipher>(j, 3)];
    uint32_t column;
    if constexpr (cipher == Cipher::forward) {
      column = substituted_column(thread, x.w[j], b, c, d, lane);
    } else {
      column = mix_column(table_column<layout>(thread, x.w[j], b, c, d, 0, lane));
    }
    y.w[j] = column ^ key[j] ^ with.w[j];
  }
  return y;
}

// ---- the ciphers ----

// Full rounds `round` to `rounds` - 1 of all blocks, side by side, as straight code: round keys are then operands at fixed
// places of the constant bank.
template <Cipher cipher, Layout layout, uint32_t round, uint32_t rounds, uint32_t blocks, typename Thread>
STOCKADE_DEVICE void unrolled_rounds(const Thread& thread, const RoundKeys& keys, gpu::Quad (&state)[blocks],
                                     uint32_t lane) {
  if constexpr (round < rounds) {
    for (uint32_t i = 0; i < blocks; ++i) {
      state[i] = table_round<cipher, layout>(thread, keys.word + 4 * round, state[i], lane);
    }
    unrolled_rounds<cipher, layout, round + 1, rounds>(thread, keys, state, lane);
  }
}

// From the states after round `first` - 1 (FIPS 197's count; round 0 is the first AddRoundKey) to the cipher's results with
// `with` added to them. `rounds` is keys.rounds, or any_rounds. `state` and `with` may be the same.
template <Cipher cipher, Layout layout, uint32_t rounds, uint32_t first, uint32_t blocks, typename Thread>
STOCKADE_DEVICE void finish_blocks(const Thread& thread, const RoundKeys& keys, gpu::Quad (&state)[blocks],
                                   const gpu::Quad (&with)[blocks], uint32_t lane) {
  uint32_t last = rounds;
  if constexpr (rounds != any_rounds) {
    unrolled_rounds<cipher, layout, first, rounds>(thread, keys, state, lane);
  } else {
    last = keys.rounds;
    STOCKADE_ROLLED
    for (uint32_t round = first; round < last; ++round) {
      for (uint32_t i = 0; i < blocks; ++i) {
        state[i] = table_round<cipher, layout>(thread, keys.word + 4 * round, state[i], lane);
      }
    }
  }
  for (uint32_t i = 0; i < blocks; ++i) {
    state[i] = table_last_round<cipher, layout>(thread, keys.word + 4 * last, state[i], with[i], lane);
  }
}

STOCKADE_DEVICE gpu::Quad round_key(const RoundKeys& keys, uint32_t round) {
  const uint32_t* key = keys.word + 4 * round;
  return {{key[0], key[1], key[2], key[3]}};
}

// state[i] = E(state[i]) ^ with[i], or D: FIPS 197 §5.1, §5.3.5.
template <Cipher cipher, Layout layout, uint32_t rounds, uint32_t blocks, typename Thread>
STOCKADE_DEVICE void crypt_blocks(const Thread& thread, const RoundKeys& keys, gpu::Quad (&state)[blocks],
                                  const gpu::Quad (&with)[blocks], uint32_t lane) {
  for (uint32_t i = 0; i < blocks; ++i) state[i] = state[i] ^ round_key(keys, 0);
  finish_blocks<cipher, layout, rounds, 1>(thread, keys, state, with, lane);
}

// The same without `with`.
template <Cipher cipher, Layout layout, uint32_t rounds, uint32_t blocks, typename Thread>
STOCKADE_DEVICE void crypt_blocks(const Thread& thread, const RoundKeys& keys, gpu::Quad (&state)[blocks],
                                  uint32_t lane) {
  const gpu::Quad nothing[blocks] = {};
  crypt_blocks<cipher, layout, rounds>(thread, keys, state, nothing, lane);
}

// E(block) for one block, of any number of rounds: for what happens once per run or per message.
template <Layout layout, typename Thread>
STOCKADE_DEVICE gpu::Quad encrypt_block(const Thread& thread, const RoundKeys& keys, const gpu::Quad& block,
                                        uint32_t lane) {
  gpu::Quad state[1] = {block};
  crypt_blocks<Cipher::forward, layout, any_rounds>(thread, keys, state, lane);
  return state[0];
}

// ---- counters ----

// A counter block as a number: its bytes are `high` and `low` in big-endian order.
struct Counter {
  uint64_t high, low;
};

STOCKADE_DEVICE Counter advance(Counter counter, uint64_t n, CounterWidth width) {
  const uint64_t low = counter.low + n;
  if (width == CounterWidth::bits32) {
    return {counter.high, (counter.low & 0xFFFFFFFF00000000) | (low & 0xFFFFFFFF)};
  }
  return {counter.high + (low < n ? 1 : 0), low};
}

STOCKADE_DEVICE gpu::Quad counter_block(Counter counter) {
  return {
      {gpu::swap_bytes(static_cast<uint32_t>(counter.high >> 32)), gpu::swap_bytes(static_cast<uint32_t>(counter.high)),
       gpu::swap_bytes(static_cast<uint32_t>(counter.low >> 32)), gpu::swap_bytes(static_cast<uint32_t>(counter.low))}};
}

// What counters share in the first two rounds. Byte 15 of the counter comes into column 0 of round 1 beside bytes 0, 5 and
// 10, and column 0 comes into every column of round 2 by one lookup. So the state after round 2 is the sum of
//  - `counter_common`, which depends on all bytes but 0, 5, 10 and 15: equal for counters that differ in the last byte only;
//  - `counter_varying`, which depends on bytes 0, 5, 10 and 15: a thread that meets one last byte again and again, while
//    bytes 0 to 13 stand still, computes it once.
// `finish_blocks<..., 3>` goes on from that sum.
template <Layout layout, typename Thread>
STOCKADE_DEVICE gpu::Quad counter_common(const Thread& thread, const RoundKeys& keys, const gpu::Quad& block,
                                         uint32_t lane) {
  const gpu::Quad x = block ^ round_key(keys, 0);
  const uint32_t* k = keys.word + 4;
  const uint32_t y1 = table_column<layout>(thread, x.w[1], x.w[2], x.w[3], x.w[0], k[1], lane);
  const uint32_t y2 = table_column<layout>(thread, x.w[2], x.w[3], x.w[0], x.w[1], k[2], lane);
  const uint32_t y3 = table_column<layout>(thread, x.w[3], x.w[0], x.w[1], x.w[2], k[3], lane);
  const auto t0 = [&](uint32_t y) { return look_up<0, 0>(thread, y, lane); };
  const auto t1 = [&](uint32_t y) { return look_up<1, 1>(thread, y, lane); };
  const auto t2 = [&](uint32_t y) {
    if constexpr (layout == Layout::four) return look_up<2, 2>(thread, y, lane);
    return rotate_bytes(look_up<0, 2>(thread, y, lane), 2);
  };
  const auto t3 = [&](uint32_t y) {
    if constexpr (layout == Layout::four) return look_up<3, 3>(thread, y, lane);
    return rotate_bytes(look_up<1, 3>(thread, y, lane), 2);
  };
  return gpu::Quad{
             {t1(y1) ^ t2(y2) ^ t3(y3), t0(y1) ^ t1(y2) ^ t2(y3), t0(y2) ^ t1(y3) ^ t3(y1), t0(y3) ^ t2(y1) ^ t3(y2)}} ^
         round_key(keys, 2);
}

template <Layout layout, typename Thread>
STOCKADE_DEVICE gpu::Quad counter_varying(const Thread& thread, const RoundKeys& keys, const gpu::Quad& block,
                                          uint32_t lane) {
  const gpu::Quad x = block ^ round_key(keys, 0);
  const uint32_t y = table_column<layout>(thread, x.w[0], x.w[1], x.w[2], x.w[3], keys.word[4], lane);
  const uint32_t t0 = look_up<0, 0>(thread, y, lane), t1 = look_up<1, 1>(thread, y, lane);
  if constexpr (layout == Layout::four) {
    return {{t0, look_up<3, 3>(thread, y, lane), look_up<2, 2>(thread, y, lane), t1}};
  } else {
    return {{t0, rotate_bytes(look_up<1, 3>(thread, y, lane), 2), rotate_bytes(look_up<0, 2>(thread, y, lane), 2), t1}};
  }
}

}  // namespace stockade::aes
