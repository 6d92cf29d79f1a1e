// AES with AES-NI: one block to a register. Constant-time in key and data. Also the key schedule and the one-message
// sequential modes of all rows on AES instructions: neither gains from wider registers.
#include <immintrin.h>

#include <cstdint>

#include "aes/aes_kernels.h"
#include "aes/aes_x86.h"

namespace stockade::aes {
namespace {

struct Xmm {
  using T = __m128i;
  static constexpr unsigned blocks = 1;
  static constexpr unsigned bytes = 16;

  static T load(const uint8_t* in) { return _mm_loadu_si128(reinterpret_cast<const __m128i*>(in)); }
  static void store(uint8_t* out, T v) { _mm_storeu_si128(reinterpret_cast<__m128i*>(out), v); }
  static void stream(uint8_t* out, T v) { _mm_stream_si128(reinterpret_cast<__m128i*>(out), v); }
  // There is no part of one block; walk() never asks for it.
  static T load_part(const uint8_t* in, unsigned) { return load(in); }
  static void store_part(uint8_t* out, T v, unsigned) { store(out, v); }
  static void copy_block(uint8_t* to, const uint8_t* from) { store(to, load(from)); }
  static T broadcast(const uint8_t* key) { return load(key); }
  static T exclusive_or(T a, T b) { return _mm_xor_si128(a, b); }
  static T exclusive_or3(T a, T b, T c) { return _mm_xor_si128(_mm_xor_si128(a, b), c); }
  static T enc(T s, T key) { return _mm_aesenc_si128(s, key); }
  static T enc_last(T s, T key) { return _mm_aesenclast_si128(s, key); }
  static T dec(T s, T key) { return _mm_aesdec_si128(s, key); }
  static T dec_last(T s, T key) { return _mm_aesdeclast_si128(s, key); }

  static T counter_from(uint64_t high, uint64_t low) {
    return _mm_set_epi64x(static_cast<long long>(high), static_cast<long long>(low));
  }
  static T counter_add(T counter) { return _mm_add_epi64(counter, _mm_set_epi64x(0, 1)); }
  static T counter_back(T counter, unsigned n) {
    return _mm_sub_epi64(counter, _mm_set_epi64x(0, static_cast<long long>(n)));
  }
  static T counter_bytes(T counter) {
    return _mm_shuffle_epi8(counter, _mm_set_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15));
  }
  static T shift_in(const uint8_t* before, T) { return load(before); }

  static T tweak_from(const uint8_t* tweak) { return load(tweak); }
  // Times a: the carry of bit 127 comes back as 0x87, that of bit 63 as bit 64.
  static T tweak_next(T t) {
    const T carry = _mm_shuffle_epi32(_mm_srai_epi32(t, 31), 0x13);
    return exclusive_or(_mm_add_epi64(t, t), _mm_and_si128(carry, _mm_set_epi32(0, 1, 0, 0x87)));
  }
  // One block a vector: every tweak follows from the one before.
  static constexpr bool tweaks_by_byte = false;
  static void tweak_lane(T t, unsigned, uint8_t* tweak) { store(tweak, t); }

  static T gather(const uint8_t* const* from, uint64_t offset) { return load(from[0] + offset); }
  static void scatter(uint8_t* const* to, uint64_t offset, T v) { store(to[0] + offset, v); }
};

// Two groups of eight registers give the 16 lanes of the row.
void aes_lanes_aesni(Chain mode, Lane* lanes, uint32_t count, uint64_t blocks) {
  run_lanes<Xmm, 2>(mode, lanes, count, blocks);
}

// SubWord of FIPS 197 §5.2: with all four columns equal, ShiftRows changes nothing.
uint32_t sub_word(uint32_t word) {
  const __m128i columns = _mm_set1_epi32(static_cast<int>(word));
  return static_cast<uint32_t>(_mm_cvtsi128_si32(_mm_aesenclast_si128(columns, _mm_setzero_si128())));
}

// The block that leaves a round chain is needed twice: as output and, whitened with the first key and mixed with the next
// input, as the next state. Folding both masks into the last round key keeps every exclusive-or off the critical path.
template <uint32_t rounds, Chain mode>
void sequential(const uint8_t* key_bytes, uint8_t chain[16], const uint8_t* in, uint8_t* out, uint64_t blocks) {
  const auto key = [key_bytes](uint32_t round) {
    return _mm_load_si128(reinterpret_cast<const __m128i*>(key_bytes + 16 * round));
  };
  const __m128i first = key(0);
  const __m128i last = key(rounds);
  const __m128i turn = _mm_xor_si128(first, last);
  __m128i state = _mm_xor_si128(Xmm::load(chain), first);
  if (mode == Chain::cbc_encrypt) state = _mm_xor_si128(state, Xmm::load(in));
  __m128i result = _mm_setzero_si128();
  for (uint64_t i = 0; i < blocks; ++i) {
#pragma GCC unroll 16
    for (uint32_t round = 1; round < rounds; ++round) state = _mm_aesenc_si128(state, key(round));
    if (mode == Chain::cbc_encrypt) {
      result = _mm_aesenclast_si128(state, last);
      // The block after the last does not exist; its place is taken by any readable one.
      const __m128i next = Xmm::load(in + 16 * (i + 1 < blocks ? i + 1 : i));
      state = _mm_aesenclast_si128(state, _mm_xor_si128(turn, next));
      Xmm::store(out + 16 * i, result);
    } else if (mode == Chain::cfb_encrypt) {
      const __m128i data = Xmm::load(in + 16 * i);
      result = _mm_aesenclast_si128(state, _mm_xor_si128(last, data));
      state = _mm_aesenclast_si128(state, _mm_xor_si128(turn, data));
      Xmm::store(out + 16 * i, result);
    } else {
      result = _mm_aesenclast_si128(state, last);
      state = _mm_aesenclast_si128(state, turn);
      Xmm::store(out + 16 * i, _mm_xor_si128(result, Xmm::load(in + 16 * i)));
    }
  }
  Xmm::store(chain, result);
}

template <uint32_t rounds>
void sequential(Chain mode, const uint8_t* keys, uint8_t chain[16], const uint8_t* in, uint8_t* out, uint64_t blocks) {
  switch (mode) {
    case Chain::cbc_encrypt:
      return sequential<rounds, Chain::cbc_encrypt>(keys, chain, in, out, blocks);
    case Chain::cfb_encrypt:
      return sequential<rounds, Chain::cfb_encrypt>(keys, chain, in, out, blocks);
    case Chain::ofb:
      return sequential<rounds, Chain::ofb>(keys, chain, in, out, blocks);
  }
}

}  // namespace

// FIPS 197 §5.2, word by word, and §5.3.5 for the inverse keys.
void aes_expand_aesni(const uint8_t* key, uint32_t key_bytes, Schedule& schedule) {
  const uint32_t nk = key_bytes / 4;
  schedule.rounds = nk + 6;
  uint32_t* const w = reinterpret_cast<uint32_t*>(schedule.bytes);
  __builtin_memcpy(w, key, key_bytes);
  uint32_t round_constant = 1;
  for (uint32_t i = nk; i < 4 * (schedule.rounds + 1); ++i) {
    uint32_t temp = w[i - 1];
    if (i % nk == 0) {
      temp = sub_word((temp >> 8) | (temp << 24)) ^ round_constant;
      round_constant = (round_constant << 1) ^ (round_constant >> 7) * 0x11b;
    } else if (nk > 6 && i % nk == 4) {
      temp = sub_word(temp);
    }
    w[i] = w[i - nk] ^ temp;
  }
  const uint8_t* const forward = schedule.bytes;
  uint8_t* const inverse = schedule.bytes + 240;
  Xmm::copy_block(inverse, forward + 16 * schedule.rounds);
  for (uint32_t round = 1; round < schedule.rounds; ++round) {
    Xmm::store(inverse + 16 * round, _mm_aesimc_si128(Xmm::load(forward + 16 * (schedule.rounds - round))));
  }
  Xmm::copy_block(inverse + 16 * schedule.rounds, forward);
}

void aes_round_keys_aesni(const Schedule& schedule, uint32_t words[60]) {
  __builtin_memcpy(words, schedule.bytes, 16 * (schedule.rounds + 1));
}

void aes_sequential_aesni(Chain mode, const Schedule& schedule, uint8_t chain[16], const uint8_t* in, uint8_t* out,
                          uint64_t blocks) {
  if (blocks == 0) return;
  const uint8_t* const keys = encryption_keys(schedule);
  switch (schedule.rounds) {
    case 10:
      return sequential<10>(mode, keys, chain, in, out, blocks);
    case 12:
      return sequential<12>(mode, keys, chain, in, out, blocks);
    default:
      return sequential<14>(mode, keys, chain, in, out, blocks);
  }
}

void aes_ecb_encrypt_aesni(const Schedule& schedule, const uint8_t* in, uint8_t* out, uint64_t blocks, Stores stores) {
  Rows<Xmm>::ecb_encrypt(schedule, in, out, blocks, stores);
}

const Kernels kernels_aesni = {
    aes_expand_aesni,       aes_ecb_encrypt_aesni,  Rows<Xmm>::ecb_decrypt, aes_sequential_aesni,
    aes_lanes_aesni,        Rows<Xmm>::cbc_decrypt, Rows<Xmm>::cfb_decrypt, Rows<Xmm>::ctr,
    Rows<Xmm>::xts_encrypt, Rows<Xmm>::xts_decrypt, aes_round_keys_aesni,
};

}  // namespace stockade::aes
