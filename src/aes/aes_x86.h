// The wide loops of the rows on AES instructions, written once over a vector `V` of 1, 2 or 4 blocks. Each row file defines
// its V and includes this; everything here is in an unnamed namespace, so code compiled for one instruction set can never
// be linked into another's row.
//
// V provides: T (the register), blocks, bytes; load, store, stream (non-temporal, aligned), load_part, store_part (first n
// blocks); broadcast; exclusive_or, exclusive_or3 (what comes late is last); enc, enc_last, dec, dec_last (FIPS 197 rounds); reversed counters: counter_from,
// counter_add, counter_bytes; shift_in (the blocks before each block of a vector); XTS tweaks: tweak_from, tweak_next (times
// a^blocks), tweak_byte (times a^8), tweak_step (times a^(8·blocks)), tweaks_by_byte, tweak_lane; gather, scatter (one block from or to each of `blocks` lanes).
#pragma once

#include <immintrin.h>

#include <cstdint>

#include "aes/aes_kernels.h"

namespace stockade::aes {
namespace {

#define STOCKADE_INLINE [[gnu::always_inline]] inline

// Vectors in flight: enough independent rounds to cover the latency of one (3 to 4 cycles at 1 or 2 a cycle).
constexpr int step_vectors = 8;

// How far ahead of streaming output the input is fetched: memory answers after some ten steps.
constexpr uint64_t prefetch_bytes = 4096;

STOCKADE_INLINE const uint8_t* encryption_keys(const Schedule& schedule) { return schedule.bytes; }
STOCKADE_INLINE const uint8_t* decryption_keys(const Schedule& schedule) { return schedule.bytes + 240; }

// All rounds but the last, on whitened states (the first key is already in).
template <class V, int N>
STOCKADE_INLINE void middle_rounds_encrypt(const uint8_t* keys, uint32_t rounds, typename V::T (&s)[N]) {
  for (uint32_t round = 1; round < rounds; ++round) {
    const auto key = V::broadcast(keys + 16 * round);
#pragma GCC unroll 8
    for (int i = 0; i < N; ++i) s[i] = V::enc(s[i], key);
  }
}

template <class V, int N>
STOCKADE_INLINE void middle_rounds_decrypt(const uint8_t* keys, uint32_t rounds, typename V::T (&s)[N]) {
  for (uint32_t round = 1; round < rounds; ++round) {
    const auto key = V::broadcast(keys + 16 * round);
#pragma GCC unroll 8
    for (int i = 0; i < N; ++i) s[i] = V::dec(s[i], key);
  }
}

// How a step meets memory.
template <class V>
struct Whole {
  STOCKADE_INLINE auto load(const uint8_t* in) const { return V::load(in); }
  STOCKADE_INLINE void store(uint8_t* out, typename V::T v) const { V::store(out, v); }
};
template <class V>
struct NonTemporal {
  STOCKADE_INLINE auto load(const uint8_t* in) const { return V::load(in); }
  STOCKADE_INLINE void store(uint8_t* out, typename V::T v) const { V::stream(out, v); }
};
template <class V>
struct Part {
  unsigned blocks;
  STOCKADE_INLINE auto load(const uint8_t* in) const { return V::load_part(in, blocks); }
  STOCKADE_INLINE void store(uint8_t* out, typename V::T v) const { V::store_part(out, v, blocks); }
};

// Runs `op` over all blocks: full steps, then 4, 2 and 1 vectors, then a part of one. op.step<N>(io, in, out) does N
// vectors and advances its own chain; op.advance(n, rest) tells it that only n blocks of the last vector counted and that
// `rest` more blocks follow.
template <class V, class Op>
STOCKADE_INLINE void walk(Op& op, const uint8_t* in, uint8_t* out, uint64_t blocks, Stores stores) {
  constexpr uint64_t step_blocks = step_vectors * V::blocks;
  constexpr uint64_t step_bytes = 16 * step_blocks;
  const uint64_t misplaced = reinterpret_cast<uintptr_t>(out) % V::bytes;
  if (stores == Stores::streaming && misplaced % 16 == 0 && blocks >= 2 * step_blocks) {
    if (misplaced != 0) {
      const auto head = static_cast<unsigned>((V::bytes - misplaced) / 16);
      op.template step<1>(Part<V>{head}, in, out);
      op.advance(head, blocks - head);
      in += 16 * head, out += 16 * head, blocks -= head;
    }
    for (; blocks >= step_blocks; blocks -= step_blocks, in += step_bytes, out += step_bytes) {
#pragma GCC unroll 8
      for (uint64_t ahead = 0; ahead < step_bytes; ahead += 64) {
        _mm_prefetch(reinterpret_cast<const char*>(in) + prefetch_bytes + ahead, _MM_HINT_T0);
      }
      op.template step<step_vectors>(NonTemporal<V>{}, in, out);
    }
    _mm_sfence();
  }
  for (; blocks >= step_blocks; blocks -= step_blocks, in += step_bytes, out += step_bytes) {
    op.template step<step_vectors>(Whole<V>{}, in, out);
  }
  if (blocks >= 4 * V::blocks) {
    op.template step<4>(Whole<V>{}, in, out);
    in += 4 * V::bytes, out += 4 * V::bytes, blocks -= 4 * V::blocks;
  }
  if (blocks >= 2 * V::blocks) {
    op.template step<2>(Whole<V>{}, in, out);
    in += 2 * V::bytes, out += 2 * V::bytes, blocks -= 2 * V::blocks;
  }
  if (blocks >= V::blocks) {
    op.template step<1>(Whole<V>{}, in, out);
    in += V::bytes, out += V::bytes, blocks -= V::blocks;
  }
  if (V::blocks > 1 && blocks != 0) {
    op.template step<1>(Part<V>{static_cast<unsigned>(blocks)}, in, out);
    op.advance(static_cast<unsigned>(blocks), 0);
  }
}

template <class V>
struct EcbEncrypt {
  const uint8_t* keys;
  uint32_t rounds;
  template <int N, class Io>
  STOCKADE_INLINE void step(Io io, const uint8_t* in, uint8_t* out) {
    const auto first = V::broadcast(keys);
    const auto last = V::broadcast(keys + 16 * rounds);
    typename V::T s[N];
#pragma GCC unroll 8
    for (int i = 0; i < N; ++i) s[i] = V::exclusive_or(io.load(in + i * V::bytes), first);
    middle_rounds_encrypt<V>(keys, rounds, s);
#pragma GCC unroll 8
    for (int i = 0; i < N; ++i) io.store(out + i * V::bytes, V::enc_last(s[i], last));
  }
  STOCKADE_INLINE void advance(unsigned, uint64_t) {}
};

template <class V>
struct EcbDecrypt {
  const uint8_t* keys;
  uint32_t rounds;
  template <int N, class Io>
  STOCKADE_INLINE void step(Io io, const uint8_t* in, uint8_t* out) {
    const auto first = V::broadcast(keys);
    const auto last = V::broadcast(keys + 16 * rounds);
    typename V::T s[N];
#pragma GCC unroll 8
    for (int i = 0; i < N; ++i) s[i] = V::exclusive_or(io.load(in + i * V::bytes), first);
    middle_rounds_decrypt<V>(keys, rounds, s);
#pragma GCC unroll 8
    for (int i = 0; i < N; ++i) io.store(out + i * V::bytes, V::dec_last(s[i], last));
  }
  STOCKADE_INLINE void advance(unsigned, uint64_t) {}
};

// Counters are kept as little-endian numbers in each block and reversed for the cipher; the caller sees to it that the
// low 64 bits do not wrap within a walk. The last round key is folded into the data: enc_last(s, key ^ data).
template <class V>
struct Ctr {
  const uint8_t* keys;
  uint32_t rounds;
  typename V::T counter;  // of the next V::blocks blocks
  template <int N, class Io>
  STOCKADE_INLINE void step(Io io, const uint8_t* in, uint8_t* out) {
    const auto first = V::broadcast(keys);
    const auto last = V::broadcast(keys + 16 * rounds);
    typename V::T s[N];
#pragma GCC unroll 8
    for (int i = 0; i < N; ++i) {
      s[i] = V::exclusive_or(V::counter_bytes(counter), first);
      counter = V::counter_add(counter);
    }
    middle_rounds_encrypt<V>(keys, rounds, s);
#pragma GCC unroll 8
    for (int i = 0; i < N; ++i) {
      io.store(out + i * V::bytes, V::enc_last(s[i], V::exclusive_or(last, io.load(in + i * V::bytes))));
    }
  }
  STOCKADE_INLINE void advance(unsigned blocks, uint64_t) { counter = V::counter_back(counter, V::blocks - blocks); }
};

// out[i] = D(in[i]) ^ in[i-1], done from the last vector to the first so that in place nothing is read after it is written.
template <class V>
struct CbcDecrypt {
  const uint8_t* keys;
  uint32_t rounds;
  uint8_t* chain;
  template <int N, class Io>
  STOCKADE_INLINE void step(Io io, const uint8_t* in, uint8_t* out) {
    const auto first = V::broadcast(keys);
    const auto last = V::broadcast(keys + 16 * rounds);
    typename V::T s[N];
    const auto head = io.load(in);
#pragma GCC unroll 8
    for (int i = 0; i < N; ++i) s[i] = V::exclusive_or(io.load(in + i * V::bytes), first);
    middle_rounds_decrypt<V>(keys, rounds, s);
    const auto before = V::shift_in(chain, head);
    remember<N>(io, in);
#pragma GCC unroll 8
    for (int i = N - 1; i > 0; --i) {
      const auto previous = V::load(in + i * V::bytes - 16);
      io.store(out + i * V::bytes, V::dec_last(s[i], V::exclusive_or(last, previous)));
    }
    io.store(out, V::dec_last(s[0], V::exclusive_or(last, before)));
  }
  template <int N>
  STOCKADE_INLINE void remember(Part<V> io, const uint8_t* in) {
    V::copy_block(chain, in + 16 * (io.blocks - 1));
  }
  template <int N, class Io>
  STOCKADE_INLINE void remember(Io, const uint8_t* in) {
    V::copy_block(chain, in + N * V::bytes - 16);
  }
  STOCKADE_INLINE void advance(unsigned, uint64_t) {}
};

// out[i] = E(in[i-1]) ^ in[i].
template <class V>
struct CfbDecrypt {
  const uint8_t* keys;
  uint32_t rounds;
  uint8_t* chain;
  template <int N, class Io>
  STOCKADE_INLINE void step(Io io, const uint8_t* in, uint8_t* out) {
    const auto first = V::broadcast(keys);
    const auto last = V::broadcast(keys + 16 * rounds);
    typename V::T s[N];
    s[0] = V::exclusive_or(V::shift_in(chain, io.load(in)), first);
#pragma GCC unroll 8
    for (int i = 1; i < N; ++i) s[i] = V::exclusive_or(V::load(in + i * V::bytes - 16), first);
    middle_rounds_encrypt<V>(keys, rounds, s);
    remember<N>(io, in);
#pragma GCC unroll 8
    for (int i = 0; i < N; ++i) {
      io.store(out + i * V::bytes, V::enc_last(s[i], V::exclusive_or(last, io.load(in + i * V::bytes))));
    }
  }
  template <int N>
  STOCKADE_INLINE void remember(Part<V> io, const uint8_t* in) {
    V::copy_block(chain, in + 16 * (io.blocks - 1));
  }
  template <int N, class Io>
  STOCKADE_INLINE void remember(Io, const uint8_t* in) {
    V::copy_block(chain, in + N * V::bytes - 16);
  }
  STOCKADE_INLINE void advance(unsigned, uint64_t) {}
};

// IEEE 1619 §5.3. `tweaks` holds the tweaks of the next step_vectors vectors, as far as the message needs them. A full step
// moves all of them on at once: by a^(8·blocks), a whole byte shift of each (V::tweaks_by_byte), so that no bit shifts
// compete with the rounds; or from one to the next where that is cheaper.
template <class V, bool encrypting>
struct Xts {
  const uint8_t* keys;
  uint32_t rounds;
  int next;       // index of the tweaks of the next vector
  unsigned lane;  // and of the next block in it
  typename V::T tweaks[step_vectors];

  STOCKADE_INLINE void start(const uint8_t* tweak, uint64_t blocks) {
    next = 0, lane = 0;
    tweaks[0] = V::tweak_from(tweak);
    const uint64_t vectors = blocks / V::blocks + 1;
    if (vectors >= step_vectors) {
      [[maybe_unused]] constexpr int byte_apart =
          8 / V::blocks;  // vectors whose tweaks are a^8 apart: short dependency chains
#pragma GCC unroll 8
      for (int i = 1; i < step_vectors; ++i) {
        if constexpr (V::tweaks_by_byte) {
          tweaks[i] = i < byte_apart ? V::tweak_next(tweaks[i - 1]) : V::tweak_byte(tweaks[i - byte_apart]);
        } else {
          tweaks[i] = V::tweak_next(tweaks[i - 1]);
        }
      }
    } else {
      for (uint64_t i = 1; i < vectors; ++i) tweaks[i] = V::tweak_next(tweaks[i - 1]);
    }
  }
  STOCKADE_INLINE void finish(uint8_t* tweak) const { V::tweak_lane(tweaks[next], lane, tweak); }

  template <int N, class Io>
  STOCKADE_INLINE void step(Io io, const uint8_t* in, uint8_t* out) {
    const auto first = V::broadcast(keys);
    const auto last = V::broadcast(keys + 16 * rounds);
    typename V::T s[N];
    typename V::T t[N];
#pragma GCC unroll 8
    for (int i = 0; i < N; ++i) {
      t[i] = tweaks[N == step_vectors ? i : next + i];
      s[i] = V::exclusive_or(io.load(in + i * V::bytes), V::exclusive_or(t[i], first));
    }
    if constexpr (encrypting) {
      middle_rounds_encrypt<V>(keys, rounds, s);
    } else {
      middle_rounds_decrypt<V>(keys, rounds, s);
    }
#pragma GCC unroll 8
    for (int i = 0; i < N; ++i) {
      const auto mask = V::exclusive_or(last, t[i]);
      io.store(out + i * V::bytes, encrypting ? V::enc_last(s[i], mask) : V::dec_last(s[i], mask));
    }
    if constexpr (N < step_vectors) {
      next += N;
    } else if constexpr (V::tweaks_by_byte) {
#pragma GCC unroll 8
      for (int i = 0; i < N; ++i) tweaks[i] = V::tweak_step(t[i]);
    } else {
      tweaks[0] = V::tweak_next(t[N - 1]);
#pragma GCC unroll 8
      for (int i = 1; i < N; ++i) tweaks[i] = V::tweak_next(tweaks[i - 1]);
    }
  }
  STOCKADE_INLINE void advance(unsigned blocks, uint64_t rest) {
    next -= 1;
    lane = blocks;
    if (rest == 0) return;
    uint8_t tweak[16];
    finish(tweak);
    start(tweak, rest);
  }
};

// Where the messages of up to N·V::blocks lanes lie. Idle lanes repeat the group's first: they compute and store the same
// bytes.
template <class V, int N>
struct LaneGroup {
  static constexpr uint32_t lanes = N * V::blocks;
  const uint8_t* in[lanes];
  uint8_t* out[lanes];
  uint8_t* chain[lanes];
  const uint8_t* keys[lanes];
};

// One block of each lane: state is the chain before and after.
template <class V, int N, bool shared_key>
STOCKADE_INLINE void lane_turn(Chain mode, const typename V::T* keys, uint32_t rounds, const LaneGroup<V, N>& group,
                               uint64_t offset, typename V::T (&state)[N]) {
  // Vector i's key for a round: one for all vectors if shared, else its own.
  const auto key = [keys](uint32_t round, int i) { return shared_key ? keys[round] : keys[round * N + i]; };
  typename V::T s[N];
#pragma GCC unroll 8
  for (int i = 0; i < N; ++i) {
    if (mode == Chain::cbc_encrypt) {
      s[i] = V::exclusive_or3(V::gather(&group.in[i * V::blocks], offset), key(0, i), state[i]);
    } else {
      s[i] = V::exclusive_or(state[i], key(0, i));
    }
  }
  for (uint32_t round = 1; round < rounds; ++round) {
#pragma GCC unroll 8
    for (int i = 0; i < N; ++i) s[i] = V::enc(s[i], key(round, i));
  }
#pragma GCC unroll 8
  for (int i = 0; i < N; ++i) {
    auto last = key(rounds, i);
    if (mode == Chain::cfb_encrypt) last = V::exclusive_or(last, V::gather(&group.in[i * V::blocks], offset));
    state[i] = V::enc_last(s[i], last);
  }
  // All input is read before any output is written: idle lanes read what the group's first lane may overwrite.
#pragma GCC unroll 8
  for (int i = 0; i < N; ++i) {
    s[i] = state[i];
    if (mode == Chain::ofb) s[i] = V::exclusive_or(s[i], V::gather(&group.in[i * V::blocks], offset));
  }
#pragma GCC unroll 8
  for (int i = 0; i < N; ++i) V::scatter(&group.out[i * V::blocks], offset, s[i]);
}

// The round keys of a group: one vector a round if all lanes share a key, else laid out lane by lane.
template <class V, int N, bool shared_key>
STOCKADE_INLINE void lane_keys(const LaneGroup<V, N>& group, uint32_t rounds, typename V::T* keys) {
  for (uint32_t round = 0; round <= rounds; ++round) {
    if constexpr (shared_key) {
      keys[round] = V::broadcast(group.keys[0] + 16 * round);
    } else {
#pragma GCC unroll 8
      for (int i = 0; i < N; ++i) keys[round * N + i] = V::gather(&group.keys[i * V::blocks], 16 * round);
    }
  }
}

// G groups of N vectors take turns, so that one group's latency hides behind another's work.
template <class V, int N, int G, bool shared_key>
void run_lane_groups(Chain mode, Lane* lanes, uint32_t count, uint64_t blocks) {
  using Group = LaneGroup<V, N>;
  const uint32_t rounds = lanes[0].schedule->rounds;
  typename V::T keys[G][15 * (shared_key ? 1 : N)];
  typename V::T state[G][N];
  Group groups[G];
  for (uint32_t i = 0; i < G * Group::lanes; ++i) {
    Group& group = groups[i / Group::lanes];
    const uint32_t position = i % Group::lanes;
    Lane& lane = lanes[i < count ? i : i - position];
    group.in[position] = lane.in;
    group.out[position] = lane.out;
    group.chain[position] = lane.chain;
    group.keys[position] = encryption_keys(*lane.schedule);
  }
  // Keeps the pointers in memory: there are far more of them than registers.
  __asm__ __volatile__("" : : "r"(groups) : "memory");
#pragma GCC unroll 2
  for (int g = 0; g < G; ++g) {
    lane_keys<V, N, shared_key>(groups[g], rounds, keys[g]);
#pragma GCC unroll 8
    for (int i = 0; i < N; ++i) state[g][i] = V::gather(&groups[g].chain[i * V::blocks], 0);
  }
  const auto turns = [&](Chain fixed) __attribute__((always_inline)) {
    for (uint64_t offset = 0; offset < 16 * blocks; offset += 16) {
#pragma GCC unroll 2
      for (int g = 0; g < G; ++g) lane_turn<V, N, shared_key>(fixed, keys[g], rounds, groups[g], offset, state[g]);
    }
  };
  switch (mode) {
    case Chain::cbc_encrypt:
      turns(Chain::cbc_encrypt);
      break;
    case Chain::cfb_encrypt:
      turns(Chain::cfb_encrypt);
      break;
    case Chain::ofb:
      turns(Chain::ofb);
      break;
  }
#pragma GCC unroll 2
  for (int g = 0; g < G; ++g) {
#pragma GCC unroll 8
    for (int i = 0; i < N; ++i) V::scatter(&groups[g].chain[i * V::blocks], 0, state[g][i]);
  }
  __builtin_memset(keys, 0, sizeof keys);
  __asm__ __volatile__("" : : "r"(keys) : "memory");
}

template <class V, int G>
STOCKADE_INLINE void run_lanes(Chain mode, Lane* lanes, uint32_t count, uint64_t blocks) {
  if (count == 0 || blocks == 0) return;
  bool shared = true;
  for (uint32_t i = 1; i < count; ++i) shared &= lanes[i].schedule == lanes[0].schedule;
  const auto go = [&]<int N, int groups>() {
    if (shared) {
      run_lane_groups<V, N, groups, true>(mode, lanes, count, blocks);
    } else {
      run_lane_groups<V, N, groups, false>(mode, lanes, count, blocks);
    }
  };
  // The fewest vectors that hold all lanes: a short batch does not pay for empty ones.
  if (count <= 2 * V::blocks) {
    go.template operator()<2, 1>();
  } else if (count <= 4 * V::blocks) {
    go.template operator()<4, 1>();
  } else if (count <= 8 * V::blocks) {
    go.template operator()<8, 1>();
  } else {
    go.template operator()<8, G>();
  }
}

// The kernels of a row, in the shape of aes_kernels.h.
template <class V>
struct Rows {
  static void ecb_encrypt(const Schedule& schedule, const uint8_t* in, uint8_t* out, uint64_t blocks, Stores stores) {
    EcbEncrypt<V> op{encryption_keys(schedule), schedule.rounds};
    walk<V>(op, in, out, blocks, stores);
  }
  static void ecb_decrypt(const Schedule& schedule, const uint8_t* in, uint8_t* out, uint64_t blocks, Stores stores) {
    EcbDecrypt<V> op{decryption_keys(schedule), schedule.rounds};
    walk<V>(op, in, out, blocks, stores);
  }
  static void cbc_decrypt(const Schedule& schedule, uint8_t chain[16], const uint8_t* in, uint8_t* out, uint64_t blocks,
                          Stores stores) {
    CbcDecrypt<V> op{decryption_keys(schedule), schedule.rounds, chain};
    walk<V>(op, in, out, blocks, stores);
  }
  static void cfb_decrypt(const Schedule& schedule, uint8_t chain[16], const uint8_t* in, uint8_t* out, uint64_t blocks,
                          Stores stores) {
    CfbDecrypt<V> op{encryption_keys(schedule), schedule.rounds, chain};
    walk<V>(op, in, out, blocks, stores);
  }
  static void ctr(const Schedule& schedule, uint8_t counter[16], const uint8_t* in, uint8_t* out, uint64_t blocks,
                  Stores stores) {
    uint64_t words[2];  // big-endian halves of the counter, high first
    __builtin_memcpy(words, counter, 16);
    uint64_t high = __builtin_bswap64(words[0]);
    uint64_t low = __builtin_bswap64(words[1]);
    while (blocks != 0) {
      const uint64_t until_wrap = 0 - low;  // 0: a whole 2^64
      const uint64_t run = until_wrap != 0 && until_wrap < blocks ? until_wrap : blocks;
      Ctr<V> op{encryption_keys(schedule), schedule.rounds, V::counter_from(high, low)};
      walk<V>(op, in, out, run, stores);
      in += 16 * run, out += 16 * run, blocks -= run;
      low += run;
      high += low == 0;
    }
    // One store of 16 bytes: the caller's next load of the counter must not wait for two.
    _mm_storeu_si128(reinterpret_cast<__m128i*>(counter),
                     _mm_set_epi64x(static_cast<long long>(__builtin_bswap64(low)),
                                    static_cast<long long>(__builtin_bswap64(high))));
  }
  static void xts_encrypt(const Schedule& schedule, uint8_t tweak[16], const uint8_t* in, uint8_t* out, uint64_t blocks,
                          Stores stores) {
    Xts<V, true> op;
    op.keys = encryption_keys(schedule), op.rounds = schedule.rounds;
    op.start(tweak, blocks);
    walk<V>(op, in, out, blocks, stores);
    op.finish(tweak);
  }
  static void xts_decrypt(const Schedule& schedule, uint8_t tweak[16], const uint8_t* in, uint8_t* out, uint64_t blocks,
                          Stores stores) {
    Xts<V, false> op;
    op.keys = decryption_keys(schedule), op.rounds = schedule.rounds;
    op.start(tweak, blocks);
    walk<V>(op, in, out, blocks, stores);
    op.finish(tweak);
  }
};

}  // namespace
}  // namespace stockade::aes
