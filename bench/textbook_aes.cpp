#include "textbook_aes.h"

#include <array>
#include <bit>
#include <cstring>

namespace stockade::bench {
namespace {

constexpr uint8_t times_x(uint8_t a) { return static_cast<uint8_t>(a << 1 ^ (a & 0x80 ? 0x1B : 0)); }

constexpr uint8_t product(uint8_t a, uint8_t b) {
  uint8_t sum = 0;
  for (; b != 0; b >>= 1, a = times_x(a)) sum ^= b & 1 ? a : 0;
  return sum;
}

using Bytes = std::array<uint8_t, 256>;

// FIPS 197 §5.1.1: the inverse, which is the power 254 = 2 + 4 + ... + 128, and the affine map.
constexpr Bytes make_s_box() {
  Bytes box{};
  for (uint32_t value = 0; value < 256; ++value) {
    uint8_t square = product(static_cast<uint8_t>(value), static_cast<uint8_t>(value)), inverse = square;
    for (int i = 0; i < 6; ++i) {
      square = product(square, square);
      inverse = product(inverse, square);
    }
    uint8_t mapped = 0x63;
    for (int turn = 0; turn < 5; ++turn) mapped ^= std::rotl(inverse, turn);
    box[value] = mapped;
  }
  return box;
}

std::array<Bytes, 256> make_products() {
  std::array<Bytes, 256> table{};
  for (uint32_t a = 0; a < 256; ++a) {
    for (uint32_t b = 0; b < 256; ++b) table[a][b] = product(static_cast<uint8_t>(a), static_cast<uint8_t>(b));
  }
  return table;
}

constexpr Bytes s_box = make_s_box();
// Made when they are first used: every start of the command would pay for them.
const std::array<Bytes, 256>& products() {
  static const std::array<Bytes, 256> table = make_products();
  return table;
}

// Entry x of table i: what byte x in row i of a column makes of that column.
using Words = std::array<uint32_t, 256>;
std::array<Words, 4> make_t_tables() {
  std::array<Words, 4> tables{};
  for (uint32_t value = 0; value < 256; ++value) {
    const uint8_t s = s_box[value];
    const uint32_t word = uint32_t{times_x(s)} | uint32_t{s} << 8 | uint32_t{s} << 16 |
                          uint32_t{static_cast<uint8_t>(times_x(s) ^ s)} << 24;
    for (int row = 0; row < 4; ++row) tables[static_cast<size_t>(row)][value] = std::rotl(word, 8 * row);
  }
  return tables;
}
const std::array<Words, 4>& t_tables() {
  static const std::array<Words, 4> tables = make_t_tables();
  return tables;
}

uint32_t load_word(const uint8_t* bytes) {
  uint32_t word;
  std::memcpy(&word, bytes, sizeof word);
  return word;
}

void add_round_key(uint8_t* state, const uint8_t* round_key) {
  for (int i = 0; i < 16; ++i) state[i] ^= round_key[i];
}

// SubBytes and ShiftRows: byte (row, column) lies at row + 4 · column.
void substitute_and_shift(uint8_t* state) {
  uint8_t shifted[16];
  for (int column = 0; column < 4; ++column) {
    for (int row = 0; row < 4; ++row) shifted[row + 4 * column] = s_box[state[row + 4 * ((column + row) % 4)]];
  }
  std::memcpy(state, shifted, sizeof shifted);
}

void mix_columns(const std::array<Bytes, 256>& table, uint8_t* state) {
  const Bytes &two = table[2], &three = table[3];
  for (int column = 0; column < 4; ++column) {
    uint8_t* const c = state + 4 * column;
    const uint8_t a = c[0], b = c[1], d = c[2], e = c[3];
    c[0] = two[a] ^ three[b] ^ d ^ e;
    c[1] = a ^ two[b] ^ three[d] ^ e;
    c[2] = a ^ b ^ two[d] ^ three[e];
    c[3] = three[a] ^ b ^ d ^ two[e];
  }
}

}  // namespace

TableKey expand_table_key(const uint8_t* key, uint32_t key_bytes) {
  TableKey made{};
  made.rounds = key_bytes / 4 + 6;
  std::memcpy(made.bytes, key, key_bytes);
  uint8_t constant = 1;
  for (uint32_t at = key_bytes; at < 16 * (made.rounds + 1); at += 4) {
    uint8_t word[4];
    std::memcpy(word, made.bytes + at - 4, 4);
    if (at % key_bytes == 0) {
      const uint8_t first = word[0];
      for (int i = 0; i < 3; ++i) word[i] = s_box[word[i + 1]];
      word[3] = s_box[first];
      word[0] ^= constant;
      constant = times_x(constant);
    } else if (key_bytes == 32 && at % 32 == 16) {
      for (uint8_t& byte : word) byte = s_box[byte];
    }
    for (uint32_t i = 0; i < 4; ++i) made.bytes[at + i] = made.bytes[at + i - key_bytes] ^ word[i];
  }
  return made;
}

void encrypt_by_products(const TableKey& key, const uint8_t* in, uint8_t* out, uint64_t length) {
  const std::array<Bytes, 256>& table = products();
  for (uint64_t at = 0; at < length; at += 16) {
    uint8_t state[16];
    std::memcpy(state, in + at, sizeof state);
    add_round_key(state, key.bytes);
    for (uint32_t round = 1; round < key.rounds; ++round) {
      substitute_and_shift(state);
      mix_columns(table, state);
      add_round_key(state, key.bytes + 16 * round);
    }
    substitute_and_shift(state);
    add_round_key(state, key.bytes + 16 * key.rounds);
    std::memcpy(out + at, state, sizeof state);
  }
}

void encrypt_by_t_tables(const TableKey& key, const uint8_t* in, uint8_t* out, uint64_t length) {
  const std::array<Words, 4>& tables = t_tables();
  for (uint64_t at = 0; at < length; at += 16) {
    uint32_t column[4], next[4];
    for (uint32_t j = 0; j < 4; ++j) column[j] = load_word(in + at + 4 * j) ^ load_word(key.bytes + 4 * j);
    for (uint32_t round = 1; round < key.rounds; ++round) {
      for (uint32_t j = 0; j < 4; ++j) {
        next[j] = tables[0][column[j] & 0xFF] ^ tables[1][column[(j + 1) % 4] >> 8 & 0xFF] ^
                  tables[2][column[(j + 2) % 4] >> 16 & 0xFF] ^ tables[3][column[(j + 3) % 4] >> 24] ^
                  load_word(key.bytes + 16 * round + 4 * j);
      }
      std::memcpy(column, next, sizeof column);
    }
    for (uint32_t j = 0; j < 4; ++j) {
      const uint32_t word = uint32_t{s_box[column[j] & 0xFF]} | uint32_t{s_box[column[(j + 1) % 4] >> 8 & 0xFF]} << 8 |
                            uint32_t{s_box[column[(j + 2) % 4] >> 16 & 0xFF]} << 16 |
                            uint32_t{s_box[column[(j + 3) % 4] >> 24]} << 24;
      next[j] = word ^ load_word(key.bytes + 16 * key.rounds + 4 * j);
    }
    std::memcpy(out + at, next, sizeof next);
  }
}

}  // namespace stockade::bench
