// AES on bit planes, for kernels (gpu/thread.h): a thread encrypts 32 blocks at once, in boolean operations of three inputs.
//
// Plane i of a byte's position holds bit i of that byte of all 32 blocks, one block in each bit of the word. A state is
// 16 · 8 = 128 planes, which all stay in registers. SubBytes is a circuit, ShiftRows a choice of names, and neither branches
// nor addresses depend on key or data: constant-time by construction.
//
// Round keys become planes that are all zeros or all ones, and never cost an instruction of their own: MixColumns has sums
// of two where the hardware adds three words at a time, and the key's planes go in there (mix_column, key_plane).
#pragma once

#include <cstdint>

#include "gpu/thread.h"

namespace stockade::aes::bitslice {

using gpu::logic3;

inline constexpr uint32_t byte_planes = 8;     // bit 0 (least significant) first
inline constexpr uint32_t column_planes = 32;  // row 0 first
inline constexpr uint32_t state_planes = 128;  // of rows and columns (FIPS 197 §3.4): 32·column + 8·row + bit

// All ones if `bit` of the word is set.
STOCKADE_DEVICE uint32_t plane_of_bit(uint32_t word, uint32_t bit) { return 0 - (word >> bit & 1); }

STOCKADE_DEVICE uint32_t exclusive_or(uint32_t a, uint32_t b, uint32_t c) { return logic3<0x96>(a, b, c); }

// SubBytes of one byte (FIPS 197 §5.1.1, the constant 0x63 included): 70 functions of three inputs, in place. Found by a
// random walk over circuits, which began with the logic of Boyar and Peralta ("A new combinational logic minimization
// technique with applications to cryptology", SEA 2010). A step took one gate and replaced it by another function of any
// three signals that do not depend on it, such that no input of the 256 changed an output, while gates that nobody used any
// more fell away.
STOCKADE_DEVICE void substitute(uint32_t q[byte_planes]) {
  const uint32_t x0 = q[0], x1 = q[1], x2 = q[2], x3 = q[3], x4 = q[4], x5 = q[5], x6 = q[6], x7 = q[7];
  const uint32_t t0 = logic3<0x66>(x2, x2, x4);
  const uint32_t t1 = logic3<0x3c>(x1, x7, x1);
  const uint32_t t2 = logic3<0x3c>(t0, t1, t0);
  const uint32_t t3 = logic3<0x96>(x3, x6, t2);
  const uint32_t t4 = logic3<0x3c>(x4, x7, x4);
  const uint32_t t5 = logic3<0x0c>(t3, t4, t3);
  const uint32_t t6 = logic3<0x96>(x2, x5, t4);
  const uint32_t t7 = logic3<0x6a>(t0, t6, t5);
  const uint32_t t8 = logic3<0x96>(t4, t3, t6);
  const uint32_t t9 = logic3<0x96>(x5, x6, t8);
  const uint32_t t10 = logic3<0x3c>(x0, t9, x0);
  const uint32_t t11 = logic3<0x96>(x7, t8, t10);
  const uint32_t t12 = logic3<0x99>(t4, t4, t11);
  const uint32_t t13 = logic3<0xa5>(t2, t12, t12);
  const uint32_t t14 = logic3<0xa0>(t2, t9, t9);
  const uint32_t t15 = logic3<0x6c>(t10, t14, t13);
  const uint32_t t16 = logic3<0x96>(t3, t15, t7);
  const uint32_t t17 = logic3<0x3c>(t9, t6, t9);
  const uint32_t t18 = logic3<0x96>(t8, t10, t17);
  const uint32_t t19 = logic3<0x96>(t0, t3, t6);
  const uint32_t t20 = logic3<0xb4>(t5, t8, t19);
  const uint32_t t21 = logic3<0x6a>(t1, t17, t20);
  const uint32_t t22 = logic3<0x1e>(t21, t18, t11);
  const uint32_t t23 = logic3<0xa9>(t1, t17, t7);
  const uint32_t t24 = logic3<0x66>(t1, t1, t11);
  const uint32_t t25 = logic3<0x59>(x1, t24, t23);
  const uint32_t t26 = logic3<0x6c>(t25, t22, t16);
  const uint32_t t27 = logic3<0x9a>(x0, t12, t14);
  const uint32_t t28 = logic3<0x69>(t19, t20, t27);
  const uint32_t t29 = logic3<0x8d>(t28, t16, t26);
  const uint32_t t30 = logic3<0xb8>(t25, t28, t29);
  const uint32_t t31 = logic3<0x63>(t16, t28, t30);
  const uint32_t t32 = logic3<0x79>(t30, t31, t29);
  const uint32_t t33 = logic3<0x98>(t25, t26, t32);
  const uint32_t t34 = logic3<0xc0>(x0, t33, x0);
  const uint32_t t35 = logic3<0xb4>(t25, t22, t32);
  const uint32_t t36 = logic3<0x99>(t33, t33, t35);
  const uint32_t t37 = logic3<0x50>(t13, t36, t36);
  const uint32_t t38 = logic3<0x6a>(t2, t35, t37);
  const uint32_t t39 = logic3<0x99>(t31, t31, t36);
  const uint32_t t40 = logic3<0x3c>(t29, t33, t29);
  const uint32_t t41 = logic3<0x60>(t6, t40, t39);
  const uint32_t t42 = logic3<0x6a>(t8, t39, t41);
  const uint32_t t43 = logic3<0x60>(t0, t40, t39);
  const uint32_t t44 = logic3<0x6a>(t4, t40, t43);
  const uint32_t t45 = logic3<0x28>(t18, t17, t31);
  const uint32_t t46 = logic3<0x96>(t45, t44, t42);
  const uint32_t t47 = logic3<0x96>(t42, t46, t38);
  const uint32_t t48 = logic3<0x9a>(t10, t36, t47);
  const uint32_t t49 = logic3<0x88>(t18, t18, t29);
  const uint32_t t50 = logic3<0x96>(t49, t48, t34);
  const uint32_t t51 = logic3<0x60>(t17, t29, t31);
  const uint32_t t52 = logic3<0x6a>(t9, t35, t51);
  const uint32_t t53 = logic3<0x3c>(t48, t52, t48);
  const uint32_t t54 = logic3<0x28>(t6, t8, t40);
  const uint32_t t55 = logic3<0x96>(t41, t51, t54);
  const uint32_t t56 = logic3<0x69>(t55, t45, t53);
  const uint32_t t57 = logic3<0x6a>(t24, t31, t49);
  const uint32_t t58 = logic3<0x60>(t1, t29, t31);
  const uint32_t t59 = logic3<0x96>(t52, t34, t58);
  const uint32_t t60 = logic3<0x69>(t44, t59, t57);
  const uint32_t t61 = logic3<0x28>(x2, x7, t39);
  const uint32_t t62 = logic3<0x78>(t59, t29, t11);
  const uint32_t t63 = logic3<0x66>(t62, t62, t46);
  const uint32_t t64 = logic3<0x69>(t53, t56, t63);
  const uint32_t t65 = logic3<0x69>(t43, t64, t61);
  const uint32_t t66 = logic3<0x66>(t55, t55, t47);
  const uint32_t t67 = logic3<0x78>(t63, t33, t12);
  const uint32_t t68 = logic3<0x96>(t33, t37, t67);
  const uint32_t t69 = logic3<0x69>(t57, t58, t46);
  q[0] = t60;
  q[1] = t69;
  q[2] = t68;
  q[3] = t50;
  q[4] = t53;
  q[5] = t65;
  q[6] = t56;
  q[7] = t66;
}

// FIPS 197 §5.1.3 of one output bit: coefficient · a, where `a` are the eight planes of a byte and the coefficient is 1, 2
// or 3, added to `sum`. Twice a moves every bit one up, and the highest comes back in bits 0, 1, 3 and 4.
template <uint32_t coefficient, uint32_t bit>
STOCKADE_DEVICE uint32_t add_multiple(uint32_t sum, const uint32_t a[byte_planes]) {
  constexpr bool reduced = bit == 1 || bit == 3 || bit == 4;
  constexpr uint32_t below = (bit + 7) % 8;
  if constexpr (coefficient == 1) {
    return sum ^ a[bit];
  } else if constexpr (coefficient == 2) {
    return reduced ? exclusive_or(sum, a[below], a[7]) : sum ^ a[below];
  } else {
    return reduced ? exclusive_or(sum ^ a[7], a[below], a[bit]) : exclusive_or(sum, a[below], a[bit]);
  }
}

// What MixColumns multiplies a byte of row `from` by where it goes into row `to`.
STOCKADE_DEVICE constexpr uint32_t mix_coefficient(uint32_t to, uint32_t from) {
  return from == to ? 2 : from == (to + 1) % 4 ? 3 : 1;
}

// ---- MixColumns and AddRoundKey ----
//
// A column of MixColumns is 32 sums. 67 additions of two or three planes make them; again a random walk found these, which
// gave nodes other terms and kept what saved additions. It counted a round key's bit as an addition too, unless an addition
// of two planes had room for it. All have: a key plane goes into one of 33 such additions, where it reaches some set of
// output bits, and these 32 sets are independent. So the 32 key planes are those sums of the key's bits that make every
// output bit's right.

// Which bits of a round key's column, its first byte lowest, are added up for the key plane of each place.
STOCKADE_DEVICE_TABLE uint32_t key_places[column_planes] = {
    0x40a0e020, 0x50b0e038, 0x50b0e028, 0x52b2e238, 0x53a2f228, 0x40b0f020, 0x41a1e030, 0x41a1e021,
    0x52b1e238, 0x40a0e220, 0x51b2e22a, 0x44a4e620, 0x44a4e220, 0x40a0e624, 0x50b0e030, 0x40004060,
    0x40004040, 0x40206020, 0x40206060, 0xc0a0e020, 0xc02060a0, 0x41b0f121, 0x40a0e838, 0x50105070,
    0x40204040, 0xc020e030, 0x4020a0b0, 0x44a0e220, 0x5ca4fa38, 0x58b8e838, 0xc04040c0, 0x60206060};

// What mix_column wants as key[place]. A template so that nvcc makes no host function of what reads a device's table.
template <typename Word>
STOCKADE_DEVICE Word key_plane(Word column, uint32_t place) {
  return plane_of_bit(gpu::count_ones(column & key_places[place]), 0);
}

// FIPS 197 §5.1.2, §5.1.3 and §5.1.4 for one column of the result: 32 planes of `out` from all the planes of `state`, with
// 32 words from key_plane. `out` is apart from `state`.
template <uint32_t column>
STOCKADE_DEVICE void mix_column(uint32_t out[column_planes], const uint32_t state[state_planes],
                                const uint32_t key[column_planes]) {
  uint32_t a[4][byte_planes];
  for (uint32_t r = 0; r < 4; ++r) {
    for (uint32_t i = 0; i < byte_planes; ++i) a[r][i] = state[(column + r) % 4 * 32 + 8 * r + i];
  }
  const uint32_t t0 = exclusive_or(a[1][7], a[2][7], key[0]);
  const uint32_t t1 = exclusive_or(a[0][7], a[1][7], key[1]);
  const uint32_t t2 = exclusive_or(t1, t0, key[2]);
  const uint32_t t3 = exclusive_or(a[0][0], a[1][0], key[3]);
  const uint32_t t4 = exclusive_or(t2, t3, key[4]);
  const uint32_t t5 = exclusive_or(a[2][7], a[3][7], key[5]);
  const uint32_t t6 = exclusive_or(t4, t5, a[2][0]);
  const uint32_t t7 = exclusive_or(t2, t6, a[3][0]);
  const uint32_t t8 = exclusive_or(a[2][0], t7, key[6]);
  const uint32_t t9 = exclusive_or(t0, t8, a[1][0]);
  const uint32_t t10 = exclusive_or(t9, t6, key[7]);
  const uint32_t t11 = exclusive_or(a[3][1], t8, a[2][0]);
  const uint32_t t12 = exclusive_or(a[1][1], t11, key[8]);
  const uint32_t t13 = exclusive_or(t3, t12, a[0][1]);
  const uint32_t t14 = exclusive_or(a[0][1], a[2][1], key[9]);
  const uint32_t t15 = exclusive_or(t14, t7, t1);
  const uint32_t t16 = exclusive_or(t13, t15, key[10]);
  const uint32_t t17 = exclusive_or(a[1][1], a[1][2], key[11]);
  const uint32_t t18 = exclusive_or(a[2][2], a[3][2], key[12]);
  const uint32_t t19 = exclusive_or(t17, t18, a[2][1]);
  const uint32_t t20 = exclusive_or(t14, t19, key[13]);
  const uint32_t t21 = exclusive_or(a[1][2], t19, a[0][2]);
  const uint32_t t22 = exclusive_or(t19, t21, t1);
  const uint32_t t23 = exclusive_or(a[1][3], a[2][3], key[14]);
  const uint32_t t24 = exclusive_or(t22, t23, a[3][3]);
  const uint32_t t25 = exclusive_or(a[1][3], t2, a[0][3]);
  const uint32_t t26 = exclusive_or(a[3][4], t25, a[2][4]);
  const uint32_t t27 = exclusive_or(t0, t26, a[1][4]);
  const uint32_t t28 = exclusive_or(a[0][4], a[1][4], key[15]);
  const uint32_t t29 = exclusive_or(a[2][5], a[3][5], key[16]);
  const uint32_t t30 = exclusive_or(a[1][5], t28, t29);
  const uint32_t t31 = exclusive_or(a[1][6], a[3][6], key[17]);
  const uint32_t t32 = exclusive_or(a[0][5], a[1][5], key[18]);
  const uint32_t t33 = exclusive_or(t31, t32, a[2][6]);
  const uint32_t t34 = exclusive_or(a[3][6], t0, key[19]);
  const uint32_t t35 = exclusive_or(a[0][6], t31, key[20]);
  const uint32_t t36 = exclusive_or(t34, t35, a[3][7]);
  const uint32_t t37 = exclusive_or(t4, t10, key[21]);
  const uint32_t t38 = exclusive_or(t11, t14, t9);
  const uint32_t t39 = exclusive_or(t25, t24, key[22]);
  const uint32_t t40 = exclusive_or(a[0][2], a[2][2], t39);
  const uint32_t t41 = exclusive_or(t28, t23, key[23]);
  const uint32_t t42 = exclusive_or(t41, t27, t25);
  const uint32_t t43 = exclusive_or(a[2][4], t30, key[24]);
  const uint32_t t44 = exclusive_or(t32, t43, a[0][4]);
  const uint32_t t45 = exclusive_or(a[2][6], t35, key[25]);
  const uint32_t t46 = exclusive_or(a[1][6], t45, key[26]);
  const uint32_t t47 = exclusive_or(a[1][5], a[2][5], t46);
  const uint32_t t48 = exclusive_or(t45, t36, t2);
  const uint32_t t49 = exclusive_or(t31, t48, t0);
  const uint32_t t50 = exclusive_or(t17, t21, key[27]);
  const uint32_t t51 = exclusive_or(a[2][2], a[3][1], t50);
  const uint32_t t52 = exclusive_or(a[3][3], t5, a[1][3]);
  const uint32_t t53 = exclusive_or(t52, t18, key[28]);
  const uint32_t t54 = exclusive_or(a[0][3], t53, key[29]);
  const uint32_t t55 = exclusive_or(t41, t52, a[3][4]);
  const uint32_t t56 = exclusive_or(a[3][4], t43, a[2][5]);
  const uint32_t t57 = exclusive_or(t28, t56, a[0][5]);
  const uint32_t t58 = exclusive_or(t35, t29, key[30]);
  const uint32_t t59 = exclusive_or(t12, t38, t1);
  const uint32_t t60 = exclusive_or(t18, t51, t14);
  const uint32_t t61 = exclusive_or(t22, t40, t53);
  const uint32_t t62 = exclusive_or(t55, t26, t23);
  const uint32_t t63 = exclusive_or(t44, t56, key[31]);
  const uint32_t t64 = a[2][6] ^ t33;
  const uint32_t t65 = exclusive_or(t29, t47, t64);
  const uint32_t t66 = exclusive_or(a[0][7], t34, a[0][6]);
  out[0] = t10;
  out[1] = t16;
  out[2] = t20;
  out[3] = t24;
  out[4] = t27;
  out[5] = t30;
  out[6] = t33;
  out[7] = t36;
  out[8] = t37;
  out[9] = t38;
  out[10] = t21;
  out[11] = t40;
  out[12] = t42;
  out[13] = t44;
  out[14] = t47;
  out[15] = t49;
  out[16] = t8;
  out[17] = t13;
  out[18] = t51;
  out[19] = t54;
  out[20] = t55;
  out[21] = t57;
  out[22] = t58;
  out[23] = t48;
  out[24] = t6;
  out[25] = t59;
  out[26] = t60;
  out[27] = t61;
  out[28] = t62;
  out[29] = t63;
  out[30] = t65;
  out[31] = t66;
}

// SubBytes of a whole state, in place.
STOCKADE_DEVICE void substitute_state(uint32_t state[state_planes]) {
  for (uint32_t byte = 0; byte < 16; ++byte) substitute(state + byte_planes * byte);
}

// ---- from planes to words ----

// Where `mask` is set, bits of a, elsewhere of b.
STOCKADE_DEVICE uint32_t choose(uint32_t mask, uint32_t a, uint32_t b) { return logic3<0xCA>(mask, a, b); }

// One step of a transposition: a's bits whose number has `distance` set change places with b's bits that are `distance`
// lower. distance is 1, 2 or 4.
template <uint32_t distance>
STOCKADE_DEVICE void exchange_bits(uint32_t& a, uint32_t& b) {
  constexpr uint32_t mask = distance == 4 ? 0x0F0F0F0F : distance == 2 ? 0x33333333 : 0x55555555;
  const uint32_t upper = choose(mask, a >> distance, b);
  // (a & mask) + ((b & mask) << distance): b and `upper` differ in the masked bits alone, where they are b's and those that
  // a gives away. Multiplications go through a pipe of their own, which has nothing else to do.
  a += (b - upper) * (1u << distance);
  b = upper;
}

// The matrix of 32 by 32 bits is transposed: bit k of word j was bit j of word k.
STOCKADE_DEVICE void transpose(uint32_t m[32]) {
  for (uint32_t i = 0; i < 16; ++i) {
    const uint32_t a = m[i], b = m[i + 16];
    m[i] = gpu::permute_bytes(a, b, 0x5410);
    m[i + 16] = gpu::permute_bytes(a, b, 0x7632);
  }
  for (uint32_t i = 0; i < 32; ++i) {
    if (i & 8) continue;
    const uint32_t a = m[i], b = m[i + 8];
    m[i] = gpu::permute_bytes(a, b, 0x6240);
    m[i + 8] = gpu::permute_bytes(a, b, 0x7351);
  }
  for (uint32_t i = 0; i < 32; ++i) {
    if ((i & 4) == 0) exchange_bits<4>(m[i], m[i + 4]);
  }
  for (uint32_t i = 0; i < 32; ++i) {
    if ((i & 2) == 0) exchange_bits<2>(m[i], m[i + 2]);
  }
  for (uint32_t i = 0; i < 32; ++i) {
    if ((i & 1) == 0) exchange_bits<1>(m[i], m[i + 1]);
  }
}

// ---- one block, packed: eight words whose bit 4·column + row is a byte's bit ----

// All four rows of MixColumns after ShiftRows, key added.
STOCKADE_DEVICE void mix_packed(uint32_t state[byte_planes], const uint32_t key[byte_planes]) {
  uint32_t a[byte_planes], t[byte_planes], next[byte_planes];
  for (uint32_t i = 0; i < byte_planes; ++i) {
    a[i] = 0;
    for (uint32_t r = 0; r < 4; ++r) {  // column c takes row r from column c + r
      const uint32_t row = state[i] & 0x1111u << r;
      a[i] |= (row >> 4 * r | row << (16 - 4 * r)) & 0xFFFF;
    }
    next[i] = (a[i] >> 1 & 0x7777) | (a[i] << 3 & 0x8888);
    t[i] = a[i] ^ next[i];
  }
  for (uint32_t i = 0; i < byte_planes; ++i) {
    const uint32_t opposite = (t[i] >> 2 & 0x3333) | (t[i] << 2 & 0xCCCC);
    const uint32_t reduced = i == 1 || i == 3 || i == 4 ? t[7] : 0;
    state[i] = exclusive_or(t[(i + 7) % 8], next[i], opposite) ^ reduced ^ key[i];
  }
}

}  // namespace stockade::aes::bitslice
