// The fused loops of the GCM rows on AES and carry-less multiply instructions, written once over a vector `V` of 1, 2 or 4
// blocks; see aes/aes_x86.h for the pattern and for the cipher part of V. In addition V provides: reverse (bytes of each
// block), counter32_from, counter32_add, counter8_add, multiply (carry-less, by halves), exclusive_or3, swap_halves, fold_lanes (exclusive-or of all
// blocks), first_block (a block as the lowest of a vector of zeros), karatsuba (which of two ways to multiply is cheaper).
//
// Arithmetic: GCM numbers the bits of a block from the left, so a byte-reversed block read as an integer is the polynomial
// with its coefficients reflected. The product of two reflected polynomials comes out one bit too low; multiplying by
// H·x^-1 instead of H ("twisted" powers) puts it right, and reduction is modulo x^128 + x^127 + x^126 + x^121 + 1, two
// multiplications by the constant 0xc2 << 56.
#pragma once

#include <immintrin.h>

#include <cstdint>

#include "gcm/gcm_kernels.h"

namespace stockade::gcm {
namespace {

#define STOCKADE_INLINE [[gnu::always_inline]] inline

constexpr int step_vectors = 8;
constexpr uint64_t prefetch_bytes = 4096;  // as in aes/aes_x86.h
constexpr unsigned powers = 32;

// HashKey: powers H^32 .. H^1 from byte 0 (so that a run of n blocks starts at power n), then for each the exclusive-or of
// its halves, in both halves, from byte 512.
STOCKADE_INLINE const uint8_t* powers_for(const HashKey& hash_key, uint64_t blocks) {
  return hash_key.bytes + 16 * (powers - blocks);
}

// An unreduced product, or a sum of them.
template <class V>
struct Product {
  typename V::T low, middle, high;
};

// x·p for the blocks of a vector; `at` is where their powers are. Karatsuba's middle still holds low and high.
template <class V>
STOCKADE_INLINE Product<V> multiply(typename V::T x, const uint8_t* at) {
  const auto p = V::load(at);
  Product<V> product;
  product.low = V::template multiply<0x00>(x, p);
  product.high = V::template multiply<0x11>(x, p);
  if constexpr (V::karatsuba) {
    const auto halves = V::exclusive_or(x, V::swap_halves(x));
    product.middle = V::template multiply<0x00>(halves, V::load(at + 512));
  } else {
    product.middle = V::exclusive_or(V::template multiply<0x01>(x, p), V::template multiply<0x10>(x, p));
  }
  return product;
}

template <class V>
STOCKADE_INLINE void add(Product<V>& sum, const Product<V>& a) {
  sum.low = V::exclusive_or(sum.low, a.low);
  sum.middle = V::exclusive_or(sum.middle, a.middle);
  sum.high = V::exclusive_or(sum.high, a.high);
}

template <class V>
STOCKADE_INLINE typename V::T reduce(Product<V> sum) {
  const auto constant = V::polynomial();
  if constexpr (V::karatsuba) sum.middle = V::exclusive_or3(sum.middle, sum.low, sum.high);
  // middle sits 64 bits up: its low half belongs to low's high half, its high half to high's low half. The two folds move
  // low up by 128 bits.
  const auto fold = V::template multiply<0x00>(sum.low, constant);
  const auto middle = V::exclusive_or3(sum.middle, fold, V::swap_halves(sum.low));
  const auto again = V::template multiply<0x00>(middle, constant);
  return V::exclusive_or3(sum.high, again, V::swap_halves(middle));
}

// The hash y, byte-reversed, after a run of `blocks` <= 32 blocks with one reduction.
template <class V>
STOCKADE_INLINE __m128i hash_run(const HashKey& hash_key, __m128i y, const uint8_t* in, uint64_t blocks) {
  const uint8_t* at = powers_for(hash_key, blocks);
  Product<V> sum{V::zero(), V::zero(), V::zero()};
  auto carry = V::first_block(y);
  for (; blocks >= V::blocks; blocks -= V::blocks, in += V::bytes, at += V::bytes) {
    add<V>(sum, multiply<V>(V::exclusive_or(V::reverse(V::load(in)), carry), at));
    carry = V::zero();
  }
  if (V::blocks > 1 && blocks != 0) {
    const auto part = V::reverse(V::load_part(in, static_cast<unsigned>(blocks)));
    // Powers past the end meet blocks of zeros; the table goes on with readable bytes.
    add<V>(sum, multiply<V>(V::exclusive_or(part, carry), at));
  }
  return V::fold_lanes(reduce<V>(sum));
}

// Counter blocks for GCM (SP 800-38D §6.2: only the last 32 bits count). `blocks_` are the next ones, reversed to numbers;
// `low_` is the last 32 bits of the first, to see carries coming.
template <class V>
class Counter {
 public:
  STOCKADE_INLINE Counter(__m128i reversed, uint32_t low) : blocks_(V::counter32_from(reversed)), low_(low) {}

  // The next N vectors in the standard's byte order, whitened with `first`.
  template <int N>
  STOCKADE_INLINE void take(typename V::T (&s)[N], typename V::T first) {
    constexpr uint32_t taken = N * V::blocks;
    if (N == step_vectors && (low_ & 0xff) <= 256 - taken) {
      // No carry leaves the last byte: count there, without reversing each vector.
      auto block = V::reverse(blocks_);
#pragma GCC unroll 8
      for (int i = 0; i < N; ++i) {
        s[i] = V::exclusive_or(block, first);
        block = V::counter8_add(block);
      }
      blocks_ = V::counter32_add(blocks_, taken);
    } else {
#pragma GCC unroll 8
      for (int i = 0; i < N; ++i) {
        s[i] = V::exclusive_or(V::reverse(blocks_), first);
        blocks_ = V::counter32_add(blocks_, V::blocks);
      }
    }
    low_ += taken;
  }
  // Gives back the last n blocks that were taken.
  STOCKADE_INLINE void give_back(uint32_t n) {
    blocks_ = V::counter32_add(blocks_, 0 - n);
    low_ -= n;
  }

 private:
  typename V::T blocks_;
  uint32_t low_;
};

// Rounds from..to - 1 on all of s.
template <class V, int N>
STOCKADE_INLINE void encrypt_rounds(const uint8_t* keys, uint32_t from, uint32_t to, typename V::T (&s)[N]) {
  for (uint32_t round = from; round < to; ++round) {
    const auto key = V::broadcast(keys + 16 * round);
#pragma GCC unroll 8
    for (int i = 0; i < N; ++i) s[i] = V::enc(s[i], key);
  }
}

// N vectors of counter mode.
template <class V, int N, class Io>
STOCKADE_INLINE void crypt_step(const uint8_t* keys, uint32_t rounds, Counter<V>& counter, Io io, const uint8_t* in,
                                uint8_t* out) {
  typename V::T s[N];
  counter.take(s, V::broadcast(keys));
  encrypt_rounds<V>(keys, 1, rounds, s);
  const auto last = V::broadcast(keys + 16 * rounds);
#pragma GCC unroll 8
  for (int i = 0; i < N; ++i) {
    io.store(out + i * V::bytes, V::enc_last(s[i], V::exclusive_or(last, io.load(in + i * V::bytes))));
  }
}

template <class V>
struct Whole {
  STOCKADE_INLINE auto load(const uint8_t* in) const { return V::load(in); }
  STOCKADE_INLINE void store(uint8_t* out, typename V::T v) const { V::store(out, v); }
};
template <class V>
struct Part {
  unsigned blocks;
  STOCKADE_INLINE auto load(const uint8_t* in) const { return V::load_part(in, blocks); }
  STOCKADE_INLINE void store(uint8_t* out, typename V::T v) const { V::store_part(out, v, blocks); }
};

// A full step of counter mode with the hash of one step's worth of ciphertext at `hashed` spread over its rounds. The
// vector that carries y comes last, so that the previous step's reduction has time to end. Returns the new y.
template <class V, uint32_t rounds, bool streaming>
STOCKADE_INLINE __m128i fused_step(const uint8_t* keys, const HashKey& hash_key, Counter<V>& counter, __m128i y,
                                   const uint8_t* hashed, const uint8_t* in, uint8_t* out, uint8_t* kept) {
  constexpr int N = step_vectors;
  const uint8_t* const at = powers_for(hash_key, N * V::blocks);
  typename V::T s[N];
  counter.take(s, V::broadcast(keys));
  Product<V> sum{V::zero(), V::zero(), V::zero()};
  Product<V> pending{V::zero(), V::zero(), V::zero()};
#pragma GCC unroll 8
  for (int i = 0; i < N; ++i) {
    const auto key = V::broadcast(keys + 16 * (i + 1));
#pragma GCC unroll 8
    for (int j = 0; j < N; ++j) s[j] = V::enc(s[j], key);
    const int turn = N - 1 - i;
    auto x = V::reverse(V::load(hashed + turn * V::bytes));
    if (turn == 0) x = V::exclusive_or(x, V::first_block(y));
    const auto product = multiply<V>(x, at + turn * V::bytes);
    // Two products join the sum at a time where three-way exclusive-or is one instruction.
    if (i == 0) {
      sum = product;
    } else if (!V::three_way) {
      add<V>(sum, product);
    } else if (i % 2 != 0) {
      pending = product;
    } else {
      sum.low = V::exclusive_or3(sum.low, pending.low, product.low);
      sum.middle = V::exclusive_or3(sum.middle, pending.middle, product.middle);
      sum.high = V::exclusive_or3(sum.high, pending.high, product.high);
    }
    // Holds rounds and products in this order: the compiler would group them.
    V::in_order(s[0], sum.low);
  }
  if (V::three_way) add<V>(sum, pending);
  encrypt_rounds<V>(keys, N + 1, rounds, s);
  const auto last = V::broadcast(keys + 16 * rounds);
#pragma GCC unroll 8
  for (int i = 0; i < N; ++i) {
    const auto result = V::enc_last(s[i], V::exclusive_or(last, V::load(in + i * V::bytes)));
    if constexpr (streaming) {
      V::stream(out + i * V::bytes, result);
      if (kept != nullptr) V::store(kept + i * V::bytes, result);
    } else {
      V::store(out + i * V::bytes, result);
    }
  }
  return V::fold_lanes(reduce<V>(sum));
}

// What is left after the full steps: less than step_vectors vectors.
template <class V>
STOCKADE_INLINE void crypt_rest(const uint8_t* keys, uint32_t rounds, Counter<V>& counter, const uint8_t* in,
                                uint8_t* out, uint64_t blocks) {
  const auto go = [&]<int N>() __attribute__((always_inline)) {
    crypt_step<V, N>(keys, rounds, counter, Whole<V>{}, in, out);
    in += N * V::bytes, out += N * V::bytes, blocks -= N * V::blocks;
  };
  if (blocks >= 4 * V::blocks) go.template operator()<4>();
  if (blocks >= 2 * V::blocks) go.template operator()<2>();
  if (blocks >= V::blocks) go.template operator()<1>();
  if (V::blocks > 1 && blocks != 0) {
    crypt_step<V, 1>(keys, rounds, counter, Part<V>{static_cast<unsigned>(blocks)}, in, out);
  }
}

STOCKADE_INLINE __m128i reverse_block(__m128i block) {
  return _mm_shuffle_epi8(block, _mm_set_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15));
}
STOCKADE_INLINE __m128i load_block(const uint8_t* in) { return _mm_loadu_si128(reinterpret_cast<const __m128i*>(in)); }
STOCKADE_INLINE void store_block(uint8_t* out, __m128i v) { _mm_storeu_si128(reinterpret_cast<__m128i*>(out), v); }

// Where a message stands.
template <class V>
struct Position {
  const uint8_t* in;
  uint8_t* out;
  uint64_t blocks;
  Counter<V> counter;
  __m128i y;
  STOCKADE_INLINE void advance(uint64_t n) { in += 16 * n, out += 16 * n, blocks -= n; }
};

// The full steps. Opening hashes what it decrypts, sealing is one step behind with the hash.
template <class V, uint32_t rounds, bool opening, bool streaming>
void crypt_steps(const uint8_t* keys, const HashKey& hash_key, Position<V>& position) {
  constexpr uint64_t step_blocks = step_vectors * V::blocks;
  constexpr uint64_t step_bytes = 16 * step_blocks;
  Position<V> at = position;
  // Ciphertext that went past the caches, kept to be hashed. It is no secret.
  alignas(64) uint8_t kept[streaming && !opening ? step_bytes : 1];
  if constexpr (!opening) {
    if (at.blocks < step_blocks) return;
    crypt_step<V, step_vectors>(keys, rounds, at.counter, Whole<V>{}, at.in, at.out);
    if constexpr (streaming) __builtin_memcpy(kept, at.out, step_bytes);
    at.advance(step_blocks);
  }
  while (at.blocks >= step_blocks) {
    if constexpr (streaming) {
#pragma GCC unroll 8
      for (uint64_t ahead = 0; ahead < step_bytes; ahead += 64) {
        _mm_prefetch(reinterpret_cast<const char*>(at.in) + prefetch_bytes + ahead, _MM_HINT_T0);
      }
    }
    const uint8_t* const hashed = opening ? at.in : streaming ? kept : at.out - step_bytes;
    at.y = fused_step<V, rounds, streaming>(keys, hash_key, at.counter, at.y, hashed, at.in, at.out,
                                            opening ? nullptr : kept);
    at.advance(step_blocks);
  }
  if constexpr (!opening) at.y = hash_run<V>(hash_key, at.y, streaming ? kept : at.out - step_bytes, step_blocks);
  if constexpr (streaming) _mm_sfence();
  position = at;
}

template <class V, bool opening, bool streaming>
STOCKADE_INLINE void crypt_steps(const aes::Schedule& schedule, const HashKey& hash_key, Position<V>& position) {
  switch (schedule.rounds) {
    case 10:
      return crypt_steps<V, 10, opening, streaming>(schedule.bytes, hash_key, position);
    case 12:
      return crypt_steps<V, 12, opening, streaming>(schedule.bytes, hash_key, position);
    default:
      return crypt_steps<V, 14, opening, streaming>(schedule.bytes, hash_key, position);
  }
}

// SP 800-38D §7.1 and §7.2, whole blocks.
template <class V, bool opening>
STOCKADE_INLINE void crypt(const aes::Schedule& schedule, const HashKey& hash_key, uint8_t counter_block[16],
                           uint8_t y_block[16], const uint8_t* in, uint8_t* out, uint64_t blocks, aes::Stores stores) {
  const uint8_t* const keys = schedule.bytes;
  const uint32_t rounds = schedule.rounds;
  uint32_t low;
  __builtin_memcpy(&low, counter_block + 12, 4);
  low = __builtin_bswap32(low);
  const uint32_t next = __builtin_bswap32(low + static_cast<uint32_t>(blocks));
  Position<V> at{in, out, blocks, Counter<V>(reverse_block(load_block(counter_block)), low),
                 reverse_block(load_block(y_block))};
  constexpr uint64_t step_blocks = step_vectors * V::blocks;
  const uint64_t misplaced = reinterpret_cast<uintptr_t>(out) % V::bytes;
  if (stores == aes::Stores::streaming && misplaced % 16 == 0 && blocks >= 4 * step_blocks) {
    if (misplaced != 0) {
      const auto head = static_cast<unsigned>((V::bytes - misplaced) / 16);
      if (opening) at.y = hash_run<V>(hash_key, at.y, at.in, head);
      crypt_step<V, 1>(keys, rounds, at.counter, Part<V>{head}, at.in, at.out);
      if (!opening) at.y = hash_run<V>(hash_key, at.y, at.out, head);
      at.counter.give_back(V::blocks - head);
      at.advance(head);
    }
    crypt_steps<V, opening, true>(schedule, hash_key, at);
  } else if (blocks >= step_blocks) {
    crypt_steps<V, opening, false>(schedule, hash_key, at);
  }
  if (at.blocks != 0) {
    if (opening) at.y = hash_run<V>(hash_key, at.y, at.in, at.blocks);
    crypt_rest<V>(keys, rounds, at.counter, at.in, at.out, at.blocks);
    if (!opening) at.y = hash_run<V>(hash_key, at.y, at.out, at.blocks);
  }
  store_block(y_block, reverse_block(at.y));
  __builtin_memcpy(counter_block + 12, &next, 4);
}

// The product of two blocks in twisted form, for the powers.
STOCKADE_INLINE __m128i multiply_blocks(__m128i a, __m128i b) {
  const __m128i constant = _mm_set1_epi64x(static_cast<long long>(0xc200000000000000));
  const __m128i low = _mm_clmulepi64_si128(a, b, 0x00);
  const __m128i high = _mm_clmulepi64_si128(a, b, 0x11);
  __m128i middle = _mm_xor_si128(_mm_clmulepi64_si128(a, b, 0x01), _mm_clmulepi64_si128(a, b, 0x10));
  middle =
      _mm_xor_si128(middle, _mm_xor_si128(_mm_clmulepi64_si128(low, constant, 0x00), _mm_shuffle_epi32(low, 0x4e)));
  const __m128i again = _mm_clmulepi64_si128(middle, constant, 0x00);
  return _mm_xor_si128(high, _mm_xor_si128(again, _mm_shuffle_epi32(middle, 0x4e)));
}

// The kernels of a row, in the shape of gcm_kernels.h.
template <class V>
struct Rows {
  static void init(const aes::Schedule& schedule, HashKey& hash_key) {
    __m128i h = load_block(schedule.bytes);
    for (uint32_t round = 1; round < schedule.rounds; ++round) {
      h = _mm_aesenc_si128(h, load_block(schedule.bytes + 16 * round));
    }
    h = reverse_block(_mm_aesenclast_si128(h, load_block(schedule.bytes + 16 * schedule.rounds)));
    // Times x^-1 in reflected form: one bit to the left, and the bit that leaves comes back as the polynomial.
    const __m128i top = _mm_shuffle_epi32(_mm_srai_epi32(h, 31), 0xff);
    const __m128i carry = _mm_slli_si128(_mm_srli_epi64(h, 63), 8);
    h = _mm_or_si128(_mm_slli_epi64(h, 1), carry);
    h = _mm_xor_si128(h, _mm_and_si128(top, _mm_set_epi64x(static_cast<long long>(0xc200000000000000), 1)));

    __m128i power[powers + 1];
    power[1] = h;
    for (unsigned i = 2; i <= powers; ++i) power[i] = multiply_blocks(power[i / 2], power[i - i / 2]);
    for (unsigned i = 1; i <= powers; ++i) {
      uint8_t* const at = hash_key.bytes + 16 * (powers - i);
      store_block(at, power[i]);
      store_block(at + 512, _mm_xor_si128(power[i], _mm_shuffle_epi32(power[i], 0x4e)));
    }
    __builtin_memset(hash_key.bytes + 1024, 0, sizeof hash_key.bytes - 1024);
    __builtin_memset(power, 0, sizeof power);
    __asm__ __volatile__("" : : "r"(power) : "memory");
  }
  static void ghash(const HashKey& hash_key, uint8_t y_block[16], const uint8_t* in, uint64_t blocks) {
    __m128i y = reverse_block(load_block(y_block));
    for (; blocks >= powers; blocks -= powers, in += 16 * powers) y = hash_run<V>(hash_key, y, in, powers);
    if (blocks != 0) y = hash_run<V>(hash_key, y, in, blocks);
    store_block(y_block, reverse_block(y));
  }
  static void seal(const aes::Schedule& schedule, const HashKey& hash_key, uint8_t counter[16], uint8_t y[16],
                   const uint8_t* in, uint8_t* out, uint64_t blocks, aes::Stores stores) {
    crypt<V, false>(schedule, hash_key, counter, y, in, out, blocks, stores);
  }
  static void open(const aes::Schedule& schedule, const HashKey& hash_key, uint8_t counter[16], uint8_t y[16],
                   const uint8_t* in, uint8_t* out, uint64_t blocks, aes::Stores stores) {
    crypt<V, true>(schedule, hash_key, counter, y, in, out, blocks, stores);
  }
};

}  // namespace
}  // namespace stockade::gcm
