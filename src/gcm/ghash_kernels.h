// GHASH (SP 800-38D §6.4) of a long string, in parts: what every path shares, and the path that multiplies in its
// threads.
//
// For blocks X_0 ... X_(n-1) the hash paths leave elements whose sum is X_0·H^(n-1) + ... + X_(n-1), times H^padding
// where they append zero blocks; FinishKernel puts such sums together. One element per warp, by plain stores: no order
// of arrival matters, and nothing must be zero beforehand.
#pragma once

#include "gcm/ghash_element.h"

namespace stockade::gcm {

// Bytes from `at` on: 16 of them, or fewer with zeros behind.
STOCKADE_DEVICE gpu::Quad load_bytes(const uint8_t* at, uint32_t count) {
  gpu::Quad quad{};
  for (uint32_t i = 0; i < 16; ++i) {
    if (i < count) quad.w[i / 4] |= uint32_t{at[i]} << 8 * (i % 4);
  }
  return quad;
}
STOCKADE_DEVICE void store_bytes(uint8_t* at, const gpu::Quad& quad, uint32_t count) {
  for (uint32_t i = 0; i < 16; ++i) {
    if (i < count) at[i] = static_cast<uint8_t>(quad.w[i / 4] >> 8 * (i % 4));
  }
}

STOCKADE_DEVICE gpu::Quad masked(const gpu::Quad& quad, uint32_t mask) {
  return {{quad.w[0] & mask, quad.w[1] & mask, quad.w[2] & mask, quad.w[3] & mask}};
}

// A block of 16 bytes at any place.
template <bool aligned, typename Thread>
STOCKADE_DEVICE gpu::Quad load_block(const Thread& thread, const uint8_t* at) {
  return aligned ? thread.load_quad(at) : load_bytes(at, 16);
}
template <bool aligned, typename Thread>
STOCKADE_DEVICE void store_block(const Thread& thread, uint8_t* at, const gpu::Quad& quad) {
  if (aligned) {
    thread.store_quad(at, quad);
  } else {
    store_bytes(at, quad, 16);
  }
}

// The whole blocks of a string; blocks outside it, in front too (numbers from 2^63 up), are zeros. What is left of it
// behind them FinishKernel takes.
template <bool aligned>
struct WholeBlocks {
  const uint8_t* data;
  uint64_t count;

  // A block that has others on both sides, by the aligned words that hold it and some bytes of the neighbours.
  STOCKADE_DEVICE gpu::Quad inner_block(const uint8_t* at) const {
    const auto misplaced = static_cast<uint32_t>(reinterpret_cast<uintptr_t>(at) & 3);
    // Where it is 0, the upper word of each pair is the wanted one.
    const auto* words = reinterpret_cast<const uint32_t*>(at - (misplaced == 0 ? 4 : misplaced));
    gpu::Quad quad;
    uint32_t low = words[0];
    STOCKADE_UNROLL
    for (uint32_t i = 0; i < 4; ++i) {
      const uint32_t high = words[i + 1];
      quad.w[i] = gpu::shift_left(low, high, (32 - 8 * misplaced) & 31);
      low = high;
    }
    return quad;
  }

  template <typename Thread>
  STOCKADE_DEVICE gpu::Quad load(const Thread& thread, uint64_t block) const {
    if (block >= count) return gpu::Quad{};
    const uint8_t* at = data + 16 * block;
    if (aligned) return thread.load_quad(at);
    return block == 0 || block + 1 == count ? load_bytes(at, 16) : inner_block(at);
  }
};

// The hash's sum over `data`, with integer multiplications: thread i of K = blocks·threads takes every K-th block and
// Horner's rule in `stride` = H^K; zero blocks in front make the number a multiple of K. Writes K / 32 elements.
// Precondition: K <= 2^22, data.count > 0. Constant-time.
template <bool aligned>
struct HashThreadsKernel {
  static constexpr uint32_t max_threads = 256;
  static constexpr uint32_t min_blocks = 3;

  WholeBlocks<aligned> data;
  Element stride;
  GpuHashKey hash;
  Element* sums;

  template <typename Thread>
  STOCKADE_DEVICE void operator()(const Thread& thread) const {
    const uint32_t all = thread.blocks * thread.threads;
    const uint32_t me = thread.block * thread.threads + thread.index;
    const uint64_t rounds = (data.count + all - 1) / all;
    uint64_t block = data.count + me - rounds * all;
    Element sum = element_from(data.load(thread, block));
    STOCKADE_ROLLED
    for (uint64_t round = 1; round < rounds; ++round) {
      block += all;
      const gpu::Quad next = data.load(thread, block);
      sum = multiply(sum, stride) ^ element_from(next);
    }
    // 32 neighbours share all digits of their exponents but the lowest.
    const uint32_t exponent = all - 1 - me;
    sum = sum_of_warp(thread, multiply(sum, hash.power[exponent & 63]));
    if (thread.index % gpu::warp_lanes != 0) return;
    sums[me / gpu::warp_lanes] = times_power(hash, sum, exponent & ~63u);
  }
};

// One warp, all of whose lanes have the full tag. Writes its first bytes to `at`, or where `refused` is not null
// compares them with those there; every lane gets 0 for equality.
template <typename Thread>
STOCKADE_DEVICE uint32_t write_or_compare(const Thread& thread, const Element& full, uint8_t* at, uint32_t length,
                                          uint32_t* refused) {
  const uint32_t lane = thread.index % gpu::warp_lanes;
  const uint32_t low = (lane & 4) == 0 ? full.w[0] : full.w[1], high = (lane & 4) == 0 ? full.w[2] : full.w[3];
  const uint32_t value = ((lane & 8) == 0 ? low : high) >> 8 * (3 - lane % 4) & 0xFF;
  if (refused == nullptr) {
    if (lane < length) at[lane] = static_cast<uint8_t>(value);
    return 0;
  }
  const uint32_t different = thread.ballot(lane < length ? value ^ at[lane] : 0);
  if (lane == 0) *refused = different;
  return different;
}

// A hashed string: its elements, the bytes behind its last whole block, and what both are to be multiplied by.
struct HashedString {
  const Element* sums;
  uint32_t count;
  const uint8_t* tail;
  uint32_t tail_bytes;  // below 16
  Element factor, tail_factor;
};

// The tag (SP 800-38D §7.1 steps 5 and 6) of hashed associated data and ciphertext: the sum of both strings' elements
// and tails times their factors, plus `closing` = the lengths' block times H plus E(J0). Sealing writes it to `tag`;
// opening compares it with `tag` and leaves 0 in *refused for equality, else a difference. One thread block of 256.
// Constant-time, the comparison too.
struct FinishKernel {
  static constexpr uint32_t max_threads = 256;
  static constexpr uint32_t min_blocks = 1;
  static constexpr uint32_t warps = max_threads / gpu::warp_lanes;
  static constexpr uint32_t shared_bytes = 2 * warps * sizeof(Element);

  HashedString strings[2];  // associated data, ciphertext
  Element closing;
  uint8_t* tag;
  uint32_t tag_length;
  uint32_t* refused;  // null when sealing

  template <typename Thread>
  STOCKADE_DEVICE Element sum_of_mine(const Thread& thread, const HashedString& string) const {
    Element sum{};
    STOCKADE_ROLLED
    for (uint32_t i = thread.index; i < string.count; i += thread.threads) sum = sum ^ string.sums[i];
    return sum_of_warp(thread, sum);
  }

  // What lane l < 4 of the first warp multiplies: a string's sum for even l, its tail for odd.
  STOCKADE_DEVICE Element product_of_lane(const Element* sums_of_warps, uint32_t lane) const {
    const HashedString& string = strings[lane / 2];
    Element a{};
    if (lane % 2 == 0) {
      STOCKADE_ROLLED
      for (uint32_t i = 0; i < warps; ++i) a = a ^ sums_of_warps[lane / 2 * warps + i];
      return multiply(a, string.factor);
    }
    for (uint32_t i = 0; i < 16; ++i) {
      if (i < string.tail_bytes) a.w[i / 4] |= uint32_t{string.tail[i]} << 8 * (3 - i % 4);
    }
    return multiply(a, string.tail_factor);
  }

  template <typename Thread>
  STOCKADE_DEVICE void operator()(const Thread& thread) const {
    auto* shared = reinterpret_cast<Element*>(thread.shared());
    const uint32_t warp = thread.index / gpu::warp_lanes;
    for (uint32_t i = 0; i < 2; ++i) {
      const Element sum = sum_of_mine(thread, strings[i]);
      if (thread.index % gpu::warp_lanes == 0) shared[i * warps + warp] = sum;
    }
    thread.sync_block();
    if (warp != 0) return;
    Element all{};
    if (thread.index < 4) all = product_of_lane(shared, thread.index);
    all = closing ^ sum_of_warp(thread, all);
    write_or_compare(thread, all, tag, tag_length, refused);
  }
};

}  // namespace stockade::gcm
