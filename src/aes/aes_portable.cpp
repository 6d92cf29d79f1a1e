// AES in boolean operations on bit planes, for any 64-bit machine: constant-time in key and data, without a table.
//
// Eight blocks are worked on at once. Plane i of the state holds bit i of all their bytes, as two words of 64 bits with
// four blocks each: the byte in row r and column c (FIPS 197 §3.4) of block 4h + b is bit 16r + 4c + b of word h.
//
// ShiftRows is never carried out ("fixslicing", Adomnicai and Peyrin, TCHES 2021/1). With SR for ShiftRows, what is kept
// after round j is Q_j = SR^-j(S_j) of the standard's state S_j. SubBytes commutes with SR, the round key becomes SR^-j of
// itself when the schedule is made, and MixColumns, which adds up the bytes of rows r + k in column c, finds them in
// columns c + jk of Q: as SR^4 = 1 there are four forms of it. All rounds but the first add 0x63 to their key, which is
// the constant that SubBytes lacks here: MixColumns and ShiftRows leave a state of equal bytes as it is. The inverse
// cipher (§5.3) runs the same steps backwards with the same keys.

#include <cstdint>
#include <cstring>

#include "aes/aes_kernels.h"
#include "base/bytes.h"
#include "base/secret.h"

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the positions above take the low byte of a word first");

namespace stockade::aes {

namespace {

constexpr uint64_t block_bytes = 16;
constexpr uint32_t group = 8;   // blocks of a state
constexpr uint32_t planes = 8;  // bits of a byte

// A plane, or a block as it lies in memory: two words.
using Plane = uint64_t __attribute__((vector_size(16)));
using Plane32 = uint32_t __attribute__((vector_size(16)));
using Plane16 = uint16_t __attribute__((vector_size(16)));
using Plane8 = uint8_t __attribute__((vector_size(16)));

// p[0] holds the least significant bits.
struct State {
  Plane p[planes];
};

// Elements `index` of a and b put one behind the other: those of b follow those of a.
template <typename View, int... index>
[[gnu::always_inline]] inline Plane pick(Plane a, Plane b) {
#if defined(__clang__)
  return (Plane)__builtin_shufflevector((View)a, (View)b, index...);
#else
  return (Plane)__builtin_shuffle((View)a, (View)b, View{index...});
#endif
}

// ---- the S-box as a circuit ----

// The linear forms of an input byte that the inversion in GF(2^8) takes. y[1] to y[21] are those of Boyar and Peralta, "A
// new combinational logic minimization technique with applications to cryptology" (SEA 2010); y[0] is their x7.
template <typename T>
struct Forms {
  T y[22];
};

template <typename T>
struct Products {
  T z[18];
};

// The non-linear part of their circuit: inversion in a tower of GF(2^4), as 18 products whose sums are the output bits.
template <typename T>
[[gnu::always_inline]] inline Products<T> invert(const Forms<T>& forms) {
  const auto& y = forms.y;
  const T a0 = y[12] & y[15], a1 = y[13] & y[16], a2 = y[9] & y[11];
  const T b0 = (y[3] & y[6]) ^ a0, b1 = (y[4] & y[0]) ^ a0;
  const T b2 = (y[5] & y[1]) ^ a1, b3 = (y[2] & y[7]) ^ a1;
  const T b4 = (y[14] & y[17]) ^ a2, b5 = (y[8] & y[10]) ^ a2;
  // An element of GF(2^4), whose inverse is wanted.
  const T c0 = b0 ^ b4 ^ y[20], c1 = b1 ^ b5 ^ y[19], c2 = b2 ^ b4 ^ y[21], c3 = b3 ^ b5 ^ y[18];
  const T d0 = c0 ^ c1, d1 = c0 & c2, d2 = c3 ^ d1;
  const T i1 = (d0 & d2) ^ c1;
  const T i3 = ((c2 ^ c3) & (c1 ^ d1)) ^ c3;
  const T d3 = c3 & (d2 ^ i3);
  const T i2 = d3 ^ c2 ^ i3;
  const T i0 = d0 ^ (i1 & (d2 ^ d3));
  const T e0 = i1 ^ i3, e1 = i1 ^ i0, e2 = i3 ^ i2, e3 = i0 ^ i2, e4 = e0 ^ e3;
  return {{e2 & y[15], i2 & y[6], i3 & y[0], e1 & y[16], i0 & y[1], i1 & y[7], e0 & y[11], e4 & y[17], e3 & y[10],
           e2 & y[12], i2 & y[3], i3 & y[4], e1 & y[13], i0 & y[5], i1 & y[2], e0 & y[9], e4 & y[14], e3 & y[8]}};
}

// FIPS 197 §5.1.1 without the constant 0x63, on planes q[0] (least significant) to q[7].
template <typename T>
[[gnu::always_inline]] inline void sub_bytes(T q[planes]) {
  const T x0 = q[7], x1 = q[6], x2 = q[5], x3 = q[4], x4 = q[3], x5 = q[2], x6 = q[1], x7 = q[0];
  Forms<T> forms;
  auto& y = forms.y;
  y[0] = x7;
  y[14] = x3 ^ x5;
  y[13] = x0 ^ x6;
  y[9] = x0 ^ x3;
  y[8] = x0 ^ x5;
  const T u0 = x1 ^ x2;
  y[1] = u0 ^ x7;
  y[4] = y[1] ^ x3;
  y[12] = y[13] ^ y[14];
  y[2] = y[1] ^ x0;
  y[5] = y[1] ^ x6;
  y[3] = y[5] ^ y[8];
  const T u1 = x4 ^ y[12];
  y[15] = u1 ^ x5;
  y[20] = u1 ^ x1;
  y[6] = y[15] ^ x7;
  y[10] = y[15] ^ u0;
  y[11] = y[20] ^ y[9];
  y[7] = x7 ^ y[11];
  y[17] = y[10] ^ y[11];
  y[19] = y[10] ^ y[8];
  y[16] = u0 ^ y[11];
  y[21] = y[13] ^ y[16];
  y[18] = x0 ^ y[16];

  const Products<T> products = invert(forms);
  const auto& z = products.z;
  const T v0 = z[15] ^ z[16], v1 = z[5] ^ z[13], v2 = z[7] ^ z[8], v3 = z[0] ^ z[3];
  const T v4 = z[2] ^ z[12] ^ v3;
  const T v5 = z[4] ^ v0;
  const T v6 = z[3] ^ z[6] ^ z[7];
  const T v7 = v2 ^ v5;
  const T v8 = z[9] ^ z[10] ^ v5;
  const T v9 = z[4] ^ v6;
  const T v10 = z[14] ^ v4 ^ v7;
  const T v11 = z[1] ^ v8;
  const T s3 = v3 ^ v11;
  q[7] = v6 ^ v8;
  q[6] = v9 ^ s3;
  q[5] = z[16] ^ z[17] ^ v9 ^ v10;
  q[4] = s3;
  q[3] = z[2] ^ z[5] ^ v11;
  q[2] = z[10] ^ z[11] ^ v10;
  q[1] = z[12] ^ v1 ^ v7;
  q[0] = v1 ^ v0 ^ v4;
}

// FIPS 197 §5.3.2 for bytes to which 0x63 has been added already. With L for the linear map of §5.1.1 this is the inversion
// of L^-1(q), so the forms are those of sub_bytes after L^-1 and the output bits are sums of its products, again through
// L^-1; both were reduced to few additions by a search.
template <typename T>
[[gnu::always_inline]] inline void inv_sub_bytes(T q[planes]) {
  const T x0 = q[7], x1 = q[6], x2 = q[5], x3 = q[4], x4 = q[3], x5 = q[2], x6 = q[1], x7 = q[0];
  Forms<T> forms;
  auto& y = forms.y;
  y[8] = x0 ^ x1;
  y[6] = x3 ^ y[8];
  y[14] = x4 ^ y[6];
  y[9] = x3 ^ x4;
  y[1] = x7 ^ y[9];
  y[10] = y[6] ^ y[1];
  y[13] = x6 ^ y[1];
  y[12] = y[14] ^ y[13];
  y[18] = x2 ^ y[9];
  y[3] = x0 ^ x3;
  y[4] = y[12] ^ y[3];
  y[2] = y[9] ^ y[4];
  y[7] = x2 ^ y[4];
  y[21] = x6 ^ y[7];
  y[16] = y[1] ^ y[7];
  y[19] = x3 ^ y[1];
  y[5] = x0 ^ y[6];
  const T u = x0 ^ x5;
  y[20] = y[2] ^ u;
  y[0] = x2 ^ u;
  y[11] = y[9] ^ y[20];
  y[17] = y[10] ^ y[11];
  y[15] = y[6] ^ y[0];

  const Products<T> products = invert(forms);
  const auto& z = products.z;
  const T v0 = z[13] ^ z[12] ^ z[16], v1 = z[11] ^ z[17], v2 = z[0] ^ z[2], v3 = z[3] ^ z[5], v4 = z[3] ^ z[4];
  const T v5 = v0 ^ z[6] ^ z[15];
  const T v6 = z[9] ^ v1;
  const T v7 = v2 ^ z[10] ^ v3;
  const T v8 = z[8] ^ v5;
  const T s0 = v3 ^ v8;
  const T s5 = z[0] ^ z[1] ^ v4 ^ s0;
  const T s2 = z[14] ^ v7 ^ z[11] ^ z[13] ^ s5;
  const T s6 = v4 ^ z[7] ^ v5;
  q[7] = s0;
  q[6] = v0 ^ v6 ^ s2;
  q[5] = s2;
  q[4] = v2 ^ v8;
  q[3] = z[16] ^ v1 ^ v7 ^ s6;
  q[2] = s5;
  q[1] = s6;
  q[0] = z[15] ^ v6;
}

// ---- the other steps ----

// Every byte replaced by that of row r + 1 and column c + j.
template <uint32_t j>
[[gnu::always_inline]] inline Plane next_row(Plane x) {
  const Plane y = pick<Plane16, 1, 2, 3, 0, 5, 6, 7, 4>(x, x);
  if constexpr (j == 0) return y;
  return (Plane)((Plane16)y >> 4 * j | (Plane16)y << (16 - 4 * j) % 16);
}

// Every byte replaced by that of row r + 2 and column c + 2j.
template <uint32_t j>
[[gnu::always_inline]] inline Plane second_row(Plane x) {
  const Plane y = pick<Plane32, 1, 0, 3, 2>(x, x);
  if constexpr (j % 2 == 0) return y;
  return (Plane)((Plane16)y >> 8 | (Plane16)y << 8);
}

// FIPS 197 §5.1.3 in the form for round j modulo 4. With a' for the next row, the column is 2(a + a') + a' + (a + a')''.
template <uint32_t j>
[[gnu::always_inline]] inline void mix_columns(Plane p[planes]) {
  Plane next[planes], sum[planes];
  for (uint32_t i = 0; i < planes; ++i) {
    next[i] = next_row<j>(p[i]);
    sum[i] = p[i] ^ next[i];
  }
  for (uint32_t i = 0; i < planes; ++i) {
    p[i] = next[i] ^ second_row<j>(sum[i]) ^ sum[(i + 7) % 8];
    if (i == 1 || i == 3 || i == 4) p[i] ^= sum[7];
  }
}

// §5.3.3: its matrix is that of mix_columns times the circulant of (5, 0, 4, 0), which adds 4(a + a'').
template <uint32_t j>
[[gnu::always_inline]] inline void inv_mix_columns(Plane p[planes]) {
  Plane sum[planes];
  for (uint32_t i = 0; i < planes; ++i) sum[i] = p[i] ^ second_row<j>(p[i]);
  const Plane top = sum[6] ^ sum[7];
  p[0] ^= sum[6];
  p[1] ^= top;
  p[2] ^= sum[0] ^ sum[7];
  p[3] ^= sum[1] ^ sum[6];
  p[4] ^= sum[2] ^ top;
  p[5] ^= sum[3] ^ sum[7];
  p[6] ^= sum[4];
  p[7] ^= sum[5];
  mix_columns<j>(p);
}

// SR^2, which is its own inverse: rows 1 and 3 by two columns. What separates Q from S after 10 or 14 rounds.
[[gnu::always_inline]] inline void shift_rows_twice(Plane p[planes]) {
  constexpr Plane16 odd_rows = {0, 0xff, 0, 0xff, 0, 0xff, 0, 0xff};
  for (uint32_t i = 0; i < planes; ++i) {
    const Plane16 x = (Plane16)p[i];
    const Plane16 swap = ((x >> 8) ^ x) & odd_rows;
    p[i] = (Plane)(x ^ swap ^ swap << 8);
  }
}

// One key for the eight blocks. The schedule holds a word for each plane of each round key, in which the four blocks of a
// word have the same bits.
struct SharedKeys {
  const uint8_t* words;

  Plane plane(uint32_t round, uint32_t i) const {
    uint64_t word;
    std::memcpy(&word, words + 8 * (planes * round + i), sizeof word);
    return Plane{word, word};
  }
};

// The planes of up to eight keys, each in its own block's positions.
struct LaneKeys {
  State round_keys[15];

  Plane plane(uint32_t round, uint32_t i) const { return round_keys[round].p[i]; }
};

template <typename Keys>
[[gnu::always_inline]] inline void add_round_key(Plane p[planes], const Keys& keys, uint32_t round) {
  for (uint32_t i = 0; i < planes; ++i) p[i] ^= keys.plane(round, i);
}

// Round j modulo 4 of FIPS 197 §5.1, all but the last one.
template <uint32_t j, typename Keys>
[[gnu::always_inline]] inline void encrypt_round(Plane p[planes], const Keys& keys, uint32_t round) {
  sub_bytes(p);
  mix_columns<j>(p);
  add_round_key(p, keys, round);
}

template <typename Keys>
[[gnu::noinline]] void encrypt(const Keys& keys, uint32_t rounds, State& state) {
  State s = state;
  add_round_key(s.p, keys, 0);
  for (uint32_t round = 1;; round += 4) {
    encrypt_round<1>(s.p, keys, round);
    if (round + 1 == rounds) break;
    encrypt_round<2>(s.p, keys, round + 1);
    encrypt_round<3>(s.p, keys, round + 2);
    if (round + 3 == rounds) break;
    encrypt_round<0>(s.p, keys, round + 3);
  }
  sub_bytes(s.p);
  add_round_key(s.p, keys, rounds);
  if (rounds % 4 != 0) shift_rows_twice(s.p);
  state = s;
}

// The inverse of encrypt_round.
template <uint32_t j>
[[gnu::always_inline]] inline void decrypt_round(Plane p[planes], const SharedKeys& keys, uint32_t round) {
  add_round_key(p, keys, round);
  inv_mix_columns<j>(p);
  inv_sub_bytes(p);
}

// FIPS 197 §5.3, round by round the inverse of encrypt().
[[gnu::noinline]] void decrypt(const SharedKeys& keys, uint32_t rounds, State& state) {
  State s = state;
  if (rounds % 4 != 0) shift_rows_twice(s.p);
  add_round_key(s.p, keys, rounds);
  inv_sub_bytes(s.p);
  uint32_t round = rounds - 1;
  if (round % 4 == 3) {
    decrypt_round<3>(s.p, keys, round--);
    decrypt_round<2>(s.p, keys, round--);
  }
  for (;; round -= 4) {
    decrypt_round<1>(s.p, keys, round);
    if (round == 1) break;
    decrypt_round<0>(s.p, keys, round - 1);
    decrypt_round<3>(s.p, keys, round - 2);
    decrypt_round<2>(s.p, keys, round - 3);
  }
  add_round_key(s.p, keys, 0);
  state = s;
}

// ---- blocks to planes and back ----

// Exchanges the bits of a that `mask` << `shift` selects with those of b that `mask` selects.
template <uint32_t shift>
[[gnu::always_inline]] inline void exchange(Plane& a, Plane& b, uint64_t mask) {
  const Plane difference = ((a >> shift) ^ b) & mask;
  b ^= difference;
  a ^= difference << shift;
}

// In each byte lane: bit n of word i becomes bit i of word n.
[[gnu::always_inline]] inline void transpose(Plane p[8]) {
  for (uint32_t i = 0; i < 8; i += 2) exchange<1>(p[i], p[i + 1], 0x5555555555555555);
  for (uint32_t i = 0; i < 8; ++i) {
    if ((i & 2) == 0) exchange<2>(p[i], p[i + 2], 0x3333333333333333);
  }
  for (uint32_t i = 0; i < 4; ++i) exchange<4>(p[i], p[i + 4], 0x0f0f0f0f0f0f0f0f);
}

// A block with columns 0 and 2 interleaved byte by byte in its low word, and columns 1 and 3 in its high word.
[[gnu::always_inline]] inline Plane interleave(Plane block) {
  const Plane high = pick<Plane, 1, 1>(block, block);
  return pick<Plane8, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23>(block, high);
}

[[gnu::always_inline]] inline Plane separate(Plane x) {
  const Plane odd = (Plane)((Plane16)x >> 8);
  return pick<Plane8, 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30>(x, odd);
}

// Byte 2r + c/2 of word 4(c mod 2) + b is the byte of row r, column c and block b, so its bits go to 16r + 4c + b.
[[gnu::always_inline]] inline void to_planes(const Plane blocks[group], State& state) {
  for (uint32_t b = 0; b < 4; ++b) {
    const Plane x = interleave(blocks[b]), y = interleave(blocks[b + 4]);
    state.p[b] = pick<Plane, 0, 2>(x, y);
    state.p[b + 4] = pick<Plane, 1, 3>(x, y);
  }
  transpose(state.p);
}

[[gnu::always_inline]] inline void to_blocks(const State& state, Plane blocks[group]) {
  State s = state;
  transpose(s.p);
  for (uint32_t b = 0; b < 4; ++b) {
    blocks[b] = separate(pick<Plane, 0, 2>(s.p[b], s.p[b + 4]));
    blocks[b + 4] = separate(pick<Plane, 1, 3>(s.p[b], s.p[b + 4]));
  }
}

template <typename Keys>
[[gnu::always_inline]] inline void encrypt_blocks(const Keys& keys, uint32_t rounds, Plane blocks[group]) {
  State state;
  to_planes(blocks, state);
  encrypt(keys, rounds, state);
  to_blocks(state, blocks);
}

void encrypt_blocks(const Schedule& schedule, Plane blocks[group]) {
  encrypt_blocks(SharedKeys{schedule.bytes}, schedule.rounds, blocks);
}

void decrypt_blocks(const Schedule& schedule, Plane blocks[group]) {
  State state;
  to_planes(blocks, state);
  decrypt(SharedKeys{schedule.bytes}, schedule.rounds, state);
  to_blocks(state, blocks);
}

// ---- key schedule ----

// FIPS 197 §5.2, SubWord: the 8 x 8 bits of the word are transposed so that byte i is plane i.
uint32_t sub_word(uint32_t word) {
  const auto transposed = [](uint64_t x) {
    const auto exchanged = [&x](uint32_t shift, uint64_t mask) {
      const uint64_t difference = (x >> shift ^ x) & mask;
      x ^= difference ^ difference << shift;
    };
    exchanged(7, 0x00aa00aa00aa00aa);
    exchanged(14, 0x0000cccc0000cccc);
    exchanged(28, 0x00000000f0f0f0f0);
    return x;
  };
  const uint64_t bits = transposed(word);
  uint32_t q[planes];
  for (uint32_t i = 0; i < planes; ++i) q[i] = static_cast<uint32_t>(bits >> 8 * i & 0xf);
  sub_bytes(q);
  uint64_t image = 0;
  for (uint32_t i = 0; i < planes; ++i) image |= uint64_t{q[i]} << 8 * i;
  return static_cast<uint32_t>(transposed(image)) ^ 0x63636363;
}

// §5.2, algorithm 2: the words of the schedule with their first byte in the low bits.
struct ExpandedKey {
  uint32_t w[4 * 15];
};

void expand_words(const uint8_t* key, uint32_t key_bytes, uint32_t rounds, ExpandedKey& expanded) {
  const uint32_t nk = key_bytes / 4;
  uint32_t* w = expanded.w;
  std::memcpy(w, key, key_bytes);
  uint32_t round_constant = 1;
  for (uint32_t i = nk; i < 4 * (rounds + 1); ++i) {
    uint32_t temp = w[i - 1];
    if (i % nk == 0) {
      temp = sub_word(temp >> 8 | temp << 24) ^ round_constant;
      // x_time of a public value.
      round_constant = (round_constant << 1) ^ (round_constant >> 7) * 0x11b;
    } else if (nk > 6 && i % nk == 4) {
      temp = sub_word(temp);
    }
    w[i] = w[i - nk] ^ temp;
  }
}

// Round key `round` as a block: SR^-round of it, and 0x63 in all but the first.
Plane round_key_block(const ExpandedKey& expanded, uint32_t round) {
  const uint32_t* w = expanded.w + 4 * round;
  uint32_t columns[4] = {};
  for (uint32_t c = 0; c < 4; ++c) {
    for (uint32_t r = 0; r < 4; ++r) columns[c] |= w[(c - r * round) % 4] & 0xffU << 8 * r;
    if (round > 0) columns[c] ^= 0x63636363;
  }
  Plane block;
  std::memcpy(&block, columns, sizeof block);
  return block;
}

// ---- modes ----

[[gnu::always_inline]] inline Plane load(const uint8_t* in) {
  Plane block;
  std::memcpy(&block, in, sizeof block);
  return block;
}

[[gnu::always_inline]] inline void store(uint8_t* out, Plane block) { std::memcpy(out, &block, sizeof block); }

uint32_t group_of(uint64_t blocks) { return blocks < group ? static_cast<uint32_t>(blocks) : group; }

// Calls crypt(in, out, n) for n = up to eight blocks after another.
template <typename Crypt>
[[gnu::always_inline]] inline void in_groups(const uint8_t* in, uint8_t* out, uint64_t blocks, Crypt crypt) {
  while (blocks > 0) {
    const uint32_t n = group_of(blocks);
    crypt(in, out, n);
    in += block_bytes * n;
    out += block_bytes * n;
    blocks -= n;
  }
}

template <void (*crypt)(const Schedule&, Plane*)>
void ecb(const Schedule& schedule, const uint8_t* in, uint8_t* out, uint64_t blocks, Stores) {
  in_groups(in, out, blocks, [&](const uint8_t* from, uint8_t* to, uint32_t n) {
    Plane x[group] = {};
    for (uint32_t i = 0; i < n; ++i) x[i] = load(from + block_bytes * i);
    crypt(schedule, x);
    for (uint32_t i = 0; i < n; ++i) store(to + block_bytes * i, x[i]);
  });
}

// One block of a sequential mode for up to eight lanes whose chain values are `chain`.
template <typename Keys>
[[gnu::always_inline]] inline void sequential_step(Chain mode, const Keys& keys, uint32_t rounds, Plane chain[group],
                                                   const Lane* lanes, uint32_t count, uint64_t offset) {
  Plane x[group] = {};
  for (uint32_t i = 0; i < count; ++i) x[i] = load(lanes[i].in + offset);
  if (mode == Chain::cbc_encrypt) {
    for (uint32_t i = 0; i < group; ++i) chain[i] ^= x[i];
  }
  encrypt_blocks(keys, rounds, chain);
  for (uint32_t i = 0; i < count; ++i) {
    const Plane result = mode == Chain::cbc_encrypt ? chain[i] : chain[i] ^ x[i];
    if (mode == Chain::cfb_encrypt) chain[i] = result;
    store(lanes[i].out + offset, result);
  }
}

template <typename Keys>
void run_lanes(Chain mode, const Keys& keys, Lane* lanes, uint32_t count, uint64_t blocks) {
  Plane chain[group] = {};
  for (uint32_t i = 0; i < count; ++i) chain[i] = load(lanes[i].chain);
  const uint32_t rounds = lanes[0].schedule->rounds;
  for (uint64_t block = 0; block < blocks; ++block) {
    sequential_step(mode, keys, rounds, chain, lanes, count, block_bytes * block);
  }
  for (uint32_t i = 0; i < count; ++i) store(lanes[i].chain, chain[i]);
}

// The mask of block `slot` of eight.
Plane slot_mask(uint32_t slot) {
  const uint64_t word = uint64_t{0x1111111111111111} << slot % 4;
  return slot < 4 ? Plane{word, 0} : Plane{0, word};
}

void combine_keys(const Lane* lanes, uint32_t count, LaneKeys& keys) {
  for (uint32_t slot = 0; slot < count; ++slot) {
    const SharedKeys own{lanes[slot].schedule->bytes};
    const Plane mask = slot_mask(slot);
    for (uint32_t round = 0; round <= lanes[slot].schedule->rounds; ++round) {
      for (uint32_t i = 0; i < planes; ++i) keys.round_keys[round].p[i] |= own.plane(round, i) & mask;
    }
  }
}

void run_group(Chain mode, Lane* lanes, uint32_t count, uint64_t blocks) {
  bool shared = true;
  for (uint32_t i = 1; i < count; ++i) shared = shared && lanes[i].schedule == lanes[0].schedule;
  if (shared) {
    run_lanes(mode, SharedKeys{lanes[0].schedule->bytes}, lanes, count, blocks);
  } else {
    Secret<LaneKeys> keys;
    combine_keys(lanes, count, *keys);
    run_lanes(mode, *keys, lanes, count, blocks);
  }
}

void run_all_lanes(Chain mode, Lane* lanes, uint32_t count, uint64_t blocks) {
  for (uint32_t first = 0; first < count; first += group) {
    run_group(mode, lanes + first, group_of(count - first), blocks);
  }
}

void sequential(Chain mode, const Schedule& schedule, uint8_t chain[16], const uint8_t* in, uint8_t* out,
                uint64_t blocks) {
  Lane lane;
  lane.schedule = &schedule;
  lane.in = in;
  lane.out = out;
  std::memcpy(lane.chain, chain, sizeof lane.chain);
  run_lanes(mode, SharedKeys{schedule.bytes}, &lane, 1, blocks);
  std::memcpy(chain, lane.chain, sizeof lane.chain);
}

void cbc_decrypt(const Schedule& schedule, uint8_t chain[16], const uint8_t* in, uint8_t* out, uint64_t blocks,
                 Stores) {
  Plane previous = load(chain);
  in_groups(in, out, blocks, [&](const uint8_t* from, uint8_t* to, uint32_t n) {
    Plane ciphertext[group] = {}, x[group];
    for (uint32_t i = 0; i < n; ++i) ciphertext[i] = load(from + block_bytes * i);
    std::memcpy(x, ciphertext, sizeof x);
    decrypt_blocks(schedule, x);
    for (uint32_t i = 0; i < n; ++i) store(to + block_bytes * i, x[i] ^ (i == 0 ? previous : ciphertext[i - 1]));
    previous = ciphertext[n - 1];
  });
  store(chain, previous);
}

void cfb_decrypt(const Schedule& schedule, uint8_t chain[16], const uint8_t* in, uint8_t* out, uint64_t blocks,
                 Stores) {
  Plane previous = load(chain);
  in_groups(in, out, blocks, [&](const uint8_t* from, uint8_t* to, uint32_t n) {
    Plane ciphertext[group], x[group] = {};
    for (uint32_t i = 0; i < n; ++i) {
      ciphertext[i] = load(from + block_bytes * i);
      x[i] = i == 0 ? previous : ciphertext[i - 1];
    }
    encrypt_blocks(schedule, x);
    for (uint32_t i = 0; i < n; ++i) store(to + block_bytes * i, x[i] ^ ciphertext[i]);
    previous = ciphertext[n - 1];
  });
  store(chain, previous);
}

void ctr(const Schedule& schedule, uint8_t counter[16], const uint8_t* in, uint8_t* out, uint64_t blocks, Stores) {
  in_groups(in, out, blocks, [&](const uint8_t* from, uint8_t* to, uint32_t n) {
    Plane x[group];
    const uint64_t high = load_be64(counter), low = load_be64(counter + 8);
    for (uint32_t i = 0; i < group; ++i) {
      x[i] = Plane{__builtin_bswap64(high + (low + i < low ? 1 : 0)), __builtin_bswap64(low + i)};
    }
    encrypt_blocks(schedule, x);
    for (uint32_t i = 0; i < n; ++i) store(to + block_bytes * i, x[i] ^ load(from + block_bytes * i));
    add_be128(counter, n);
  });
}

// IEEE 1619 §5.2: the tweak times a, the first byte being the least significant.
Plane times_alpha(Plane tweak) {
  const uint64_t low = tweak[0], high = tweak[1];
  return Plane{low << 1 ^ (0x87 & (0 - (high >> 63))), high << 1 | low >> 63};
}

template <void (*crypt)(const Schedule&, Plane*)>
void xts(const Schedule& schedule, uint8_t tweak[16], const uint8_t* in, uint8_t* out, uint64_t blocks, Stores) {
  Plane next = load(tweak);
  in_groups(in, out, blocks, [&](const uint8_t* from, uint8_t* to, uint32_t n) {
    Plane tweaks[group], x[group] = {};
    for (uint32_t i = 0; i < n; ++i) {
      tweaks[i] = next;
      x[i] = load(from + block_bytes * i) ^ next;
      next = times_alpha(next);
    }
    crypt(schedule, x);
    for (uint32_t i = 0; i < n; ++i) store(to + block_bytes * i, x[i] ^ tweaks[i]);
  });
  store(tweak, next);
}

}  // namespace

void aes_expand_portable(const uint8_t* key, uint32_t key_bytes, Schedule& schedule) {
  const uint32_t rounds = key_bytes / 4 + 6;
  Secret<ExpandedKey> expanded;
  expand_words(key, key_bytes, rounds, *expanded);
  struct Slices {
    Plane blocks[group];
    State state;
  };
  Secret<Slices> slices;
  for (uint32_t first = 0; first <= rounds; first += group) {
    const uint32_t count = group_of(rounds + 1 - first);
    for (uint32_t i = 0; i < count; ++i) slices->blocks[i] = round_key_block(*expanded, first + i);
    to_planes(slices->blocks, slices->state);
    for (uint32_t i = 0; i < count; ++i) {
      for (uint32_t bit = 0; bit < planes; ++bit) {
        const uint64_t own = slices->state.p[bit][i / 4] >> i % 4 & 0x1111111111111111;
        store_le64(schedule.bytes + 8 * (planes * (first + i) + bit), own * 0xf);
      }
    }
  }
  schedule.rounds = rounds;
}

void aes_expand_words_portable(const uint8_t* key, uint32_t key_bytes, uint32_t words[60]) {
  const uint32_t rounds = key_bytes / 4 + 6;
  Secret<ExpandedKey> expanded;
  expand_words(key, key_bytes, rounds, *expanded);
  std::memcpy(words, expanded->w, 16 * (rounds + 1));
}

// Undoes round_key_block and the planes: the byte in row r and column c is at bit 16r + 4c of each plane's word.
void aes_round_keys_portable(const Schedule& schedule, uint32_t words[60]) {
  for (uint32_t round = 0; round <= schedule.rounds; ++round) {
    uint32_t* const w = words + 4 * round;
    for (uint32_t c = 0; c < 4; ++c) {
      w[c] = 0;
      for (uint32_t r = 0; r < 4; ++r) {
        uint32_t byte = round > 0 ? 0x63 : 0;
        for (uint32_t bit = 0; bit < planes; ++bit) {
          const uint64_t plane = load_le64(schedule.bytes + 8 * (planes * round + bit));
          byte ^= static_cast<uint32_t>(plane >> (16 * r + 4 * ((c + r * round) % 4)) & 1) << bit;
        }
        w[c] |= byte << 8 * r;
      }
    }
  }
}

void aes_ecb_encrypt_portable(const Schedule& schedule, const uint8_t* in, uint8_t* out, uint64_t blocks,
                              Stores stores) {
  ecb<encrypt_blocks>(schedule, in, out, blocks, stores);
}

const Kernels kernels_portable = {
    .expand = aes_expand_portable,
    .ecb_encrypt = aes_ecb_encrypt_portable,
    .ecb_decrypt = ecb<decrypt_blocks>,
    .sequential = sequential,
    .lanes = run_all_lanes,
    .cbc_decrypt = cbc_decrypt,
    .cfb_decrypt = cfb_decrypt,
    .ctr = ctr,
    .xts_encrypt = xts<encrypt_blocks>,
    .xts_decrypt = xts<decrypt_blocks>,
    .round_keys = aes_round_keys_portable,
};

}  // namespace stockade::aes
