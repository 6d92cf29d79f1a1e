// FIPS 197 line by line: the oracle of the other rows and the serial baseline. The functions carry the standard's names in
// snake case, and the state is its 4 x 4 array of bytes. This is the one row that looks the S-box up in a table, so it is
// not constant-time and is never chosen unless it is named.

#include <cstdint>
#include <cstring>

#include "aes/aes_kernels.h"
#include "base/bytes.h"

namespace stockade::aes {

namespace {

constexpr uint32_t block_bytes = 16;
constexpr uint32_t columns = 4;

// s[r][c] of FIPS 197 §3.4: row r, column c.
struct State {
  uint8_t s[4][columns];
};

// w[i] of §5.2: a word is four bytes, the first one first.
struct Word {
  uint8_t a[4];
};

// §4.2: b times x modulo x^8 + x^4 + x^3 + x + 1.
constexpr uint8_t x_time(uint8_t b) { return static_cast<uint8_t>((b << 1) ^ ((b & 0x80) != 0 ? 0x1b : 0x00)); }

// §4.2: b times c in GF(2^8).
constexpr uint8_t times(uint8_t b, uint8_t c) {
  uint8_t sum = 0;
  for (; c != 0; c = static_cast<uint8_t>(c >> 1), b = x_time(b)) {
    if ((c & 1) != 0) sum = static_cast<uint8_t>(sum ^ b);
  }
  return sum;
}

// §4.4: b^254, which is the inverse of b, and 0 for 0. As 254 = 2 + 4 + ... + 128, by squaring.
constexpr uint8_t inverse(uint8_t b) {
  uint8_t power = 1;
  for (uint32_t i = 0; i < 7; ++i) {
    b = times(b, b);
    power = times(power, b);
  }
  return power;
}

struct Boxes {
  uint8_t forward[256];
  uint8_t backward[256];
};

// §5.1.1, and §5.3.2 as its inverse.
constexpr Boxes make_boxes() {
  Boxes boxes{};
  for (uint32_t value = 0; value < 256; ++value) {
    const uint32_t b = inverse(static_cast<uint8_t>(value));
    const uint32_t twice = b << 8 | b;
    const uint32_t image = (b ^ twice >> 4 ^ twice >> 5 ^ twice >> 6 ^ twice >> 7 ^ 0x63) & 0xff;
    boxes.forward[value] = static_cast<uint8_t>(image);
    boxes.backward[image] = static_cast<uint8_t>(value);
  }
  return boxes;
}

constexpr Boxes boxes = make_boxes();

// ---- key schedule ----

// §5.2.
Word rot_word(Word w) { return {{w.a[1], w.a[2], w.a[3], w.a[0]}}; }

// §5.2.
Word sub_word(Word w) {
  for (uint8_t& byte : w.a) byte = boxes.forward[byte];
  return w;
}

Word operator^(const Word& x, const Word& y) {
  Word sum;
  xor_bytes(sum.a, x.a, y.a, sizeof sum.a);
  return sum;
}

Word word_at(const Schedule& schedule, uint32_t i) {
  Word w;
  std::memcpy(w.a, schedule.bytes + 4 * i, sizeof w.a);
  return w;
}

void set_word(Schedule& schedule, uint32_t i, const Word& w) { std::memcpy(schedule.bytes + 4 * i, w.a, sizeof w.a); }

// §5.2, algorithm 2. The schedule is w[0], w[1], ... in order.
void key_expansion(const uint8_t* key, uint32_t key_bytes, Schedule& schedule) {
  const uint32_t nk = key_bytes / 4;
  schedule.rounds = nk + 6;
  std::memcpy(schedule.bytes, key, key_bytes);
  uint8_t round_constant = 1;
  for (uint32_t i = nk; i < 4 * (schedule.rounds + 1); ++i) {
    Word temp = word_at(schedule, i - 1);
    if (i % nk == 0) {
      const Word rcon = {{round_constant, 0, 0, 0}};  // table 5
      temp = sub_word(rot_word(temp)) ^ rcon;
      round_constant = x_time(round_constant);
    } else if (nk > 6 && i % nk == 4) {
      temp = sub_word(temp);
    }
    set_word(schedule, i, word_at(schedule, i - nk) ^ temp);
  }
}

void round_keys(const Schedule& schedule, uint32_t words[60]) {
  std::memcpy(words, schedule.bytes, 16 * (schedule.rounds + 1));
}

// ---- cipher ----

// §5.1.4.
void add_round_key(State& state, const Schedule& schedule, uint32_t round) {
  for (uint32_t c = 0; c < columns; ++c) {
    const Word w = word_at(schedule, 4 * round + c);
    for (uint32_t r = 0; r < 4; ++r) state.s[r][c] ^= w.a[r];
  }
}

// §5.1.1.
void sub_bytes(State& state) {
  for (auto& row : state.s) {
    for (uint8_t& byte : row) byte = boxes.forward[byte];
  }
}

// §5.1.2.
void shift_rows(State& state) {
  const State old = state;
  for (uint32_t r = 0; r < 4; ++r) {
    for (uint32_t c = 0; c < columns; ++c) state.s[r][c] = old.s[r][(c + r) % columns];
  }
}

// §5.1.3.
void mix_columns(State& state) {
  for (uint32_t c = 0; c < columns; ++c) {
    uint8_t a[4], twice[4];
    for (uint32_t r = 0; r < 4; ++r) {
      a[r] = state.s[r][c];
      twice[r] = x_time(a[r]);
    }
    state.s[0][c] = static_cast<uint8_t>(twice[0] ^ twice[1] ^ a[1] ^ a[2] ^ a[3]);
    state.s[1][c] = static_cast<uint8_t>(a[0] ^ twice[1] ^ twice[2] ^ a[2] ^ a[3]);
    state.s[2][c] = static_cast<uint8_t>(a[0] ^ a[1] ^ twice[2] ^ twice[3] ^ a[3]);
    state.s[3][c] = static_cast<uint8_t>(twice[0] ^ a[0] ^ a[1] ^ a[2] ^ twice[3]);
  }
}

// §5.3.2.
void inv_sub_bytes(State& state) {
  for (auto& row : state.s) {
    for (uint8_t& byte : row) byte = boxes.backward[byte];
  }
}

// §5.3.1.
void inv_shift_rows(State& state) {
  const State old = state;
  for (uint32_t r = 0; r < 4; ++r) {
    for (uint32_t c = 0; c < columns; ++c) state.s[r][c] = old.s[r][(c - r) % columns];
  }
}

// The multiples of a byte that §5.3.3 asks for.
struct Multiples {
  uint32_t nine, eleven, thirteen, fourteen;
};

Multiples multiples(uint8_t b) {
  const uint8_t twice = x_time(b), four = x_time(twice);
  const uint32_t eight = x_time(four);
  const uint32_t nine = eight ^ b;
  return {nine, nine ^ twice, nine ^ four, eight ^ four ^ twice};
}

// §5.3.3.
void inv_mix_columns(State& state) {
  for (uint32_t c = 0; c < columns; ++c) {
    const Multiples a0 = multiples(state.s[0][c]), a1 = multiples(state.s[1][c]);
    const Multiples a2 = multiples(state.s[2][c]), a3 = multiples(state.s[3][c]);
    state.s[0][c] = static_cast<uint8_t>(a0.fourteen ^ a1.eleven ^ a2.thirteen ^ a3.nine);
    state.s[1][c] = static_cast<uint8_t>(a0.nine ^ a1.fourteen ^ a2.eleven ^ a3.thirteen);
    state.s[2][c] = static_cast<uint8_t>(a0.thirteen ^ a1.nine ^ a2.fourteen ^ a3.eleven);
    state.s[3][c] = static_cast<uint8_t>(a0.eleven ^ a1.thirteen ^ a2.nine ^ a3.fourteen);
  }
}

// §3.4: s[r][c] = in[r + 4c].
State state_of(const uint8_t in[block_bytes]) {
  State state;
  for (uint32_t i = 0; i < block_bytes; ++i) state.s[i % 4][i / 4] = in[i];
  return state;
}

// §3.4: out[r + 4c] = s[r][c].
void put(const State& state, uint8_t out[block_bytes]) {
  for (uint32_t i = 0; i < block_bytes; ++i) out[i] = state.s[i % 4][i / 4];
}

// §5.1, algorithm 1.
void cipher(const Schedule& schedule, const uint8_t in[block_bytes], uint8_t out[block_bytes]) {
  State state = state_of(in);
  add_round_key(state, schedule, 0);
  for (uint32_t round = 1; round < schedule.rounds; ++round) {
    sub_bytes(state);
    shift_rows(state);
    mix_columns(state);
    add_round_key(state, schedule, round);
  }
  sub_bytes(state);
  shift_rows(state);
  add_round_key(state, schedule, schedule.rounds);
  put(state, out);
}

// §5.3, algorithm 3.
void inv_cipher(const Schedule& schedule, const uint8_t in[block_bytes], uint8_t out[block_bytes]) {
  State state = state_of(in);
  add_round_key(state, schedule, schedule.rounds);
  for (uint32_t round = schedule.rounds - 1; round > 0; --round) {
    inv_shift_rows(state);
    inv_sub_bytes(state);
    add_round_key(state, schedule, round);
    inv_mix_columns(state);
  }
  inv_shift_rows(state);
  inv_sub_bytes(state);
  add_round_key(state, schedule, 0);
  put(state, out);
}

// ---- modes ----

void ecb_encrypt(const Schedule& schedule, const uint8_t* in, uint8_t* out, uint64_t blocks, Stores) {
  for (; blocks > 0; --blocks, in += block_bytes, out += block_bytes) cipher(schedule, in, out);
}

void ecb_decrypt(const Schedule& schedule, const uint8_t* in, uint8_t* out, uint64_t blocks, Stores) {
  for (; blocks > 0; --blocks, in += block_bytes, out += block_bytes) inv_cipher(schedule, in, out);
}

// SP 800-38A §6.2, §6.3, §6.4.
void sequential(Chain mode, const Schedule& schedule, uint8_t chain[16], const uint8_t* in, uint8_t* out,
                uint64_t blocks) {
  for (; blocks > 0; --blocks, in += block_bytes, out += block_bytes) {
    if (mode == Chain::cbc_encrypt) {
      xor_bytes(chain, chain, in, block_bytes);
      cipher(schedule, chain, chain);
      std::memcpy(out, chain, block_bytes);
    } else {
      cipher(schedule, chain, chain);
      uint8_t result[block_bytes];
      xor_bytes(result, chain, in, block_bytes);
      std::memcpy(out, result, block_bytes);
      if (mode == Chain::cfb_encrypt) std::memcpy(chain, result, block_bytes);
    }
  }
}

void lanes(Chain mode, Lane* lanes, uint32_t count, uint64_t blocks) {
  for (uint32_t i = 0; i < count; ++i) {
    sequential(mode, *lanes[i].schedule, lanes[i].chain, lanes[i].in, lanes[i].out, blocks);
  }
}

void cbc_decrypt(const Schedule& schedule, uint8_t chain[16], const uint8_t* in, uint8_t* out, uint64_t blocks,
                 Stores) {
  for (; blocks > 0; --blocks, in += block_bytes, out += block_bytes) {
    uint8_t ciphertext[block_bytes], result[block_bytes];
    std::memcpy(ciphertext, in, block_bytes);
    inv_cipher(schedule, ciphertext, result);
    xor_bytes(out, result, chain, block_bytes);
    std::memcpy(chain, ciphertext, block_bytes);
  }
}

void cfb_decrypt(const Schedule& schedule, uint8_t chain[16], const uint8_t* in, uint8_t* out, uint64_t blocks,
                 Stores) {
  for (; blocks > 0; --blocks, in += block_bytes, out += block_bytes) {
    uint8_t key_stream[block_bytes];
    cipher(schedule, chain, key_stream);
    std::memcpy(chain, in, block_bytes);
    xor_bytes(out, chain, key_stream, block_bytes);
  }
}

void ctr(const Schedule& schedule, uint8_t counter[16], const uint8_t* in, uint8_t* out, uint64_t blocks, Stores) {
  for (; blocks > 0; --blocks, in += block_bytes, out += block_bytes) {
    uint8_t key_stream[block_bytes];
    cipher(schedule, counter, key_stream);
    xor_bytes(out, in, key_stream, block_bytes);
    add_be128(counter, 1);
  }
}

// IEEE 1619 §5.2: the tweak times a; its first byte is the least significant.
void times_alpha(uint8_t tweak[16]) {
  const uint8_t top = tweak[15];
  for (uint32_t i = 15; i > 0; --i) tweak[i] = static_cast<uint8_t>(tweak[i] << 1 | tweak[i - 1] >> 7);
  tweak[0] = static_cast<uint8_t>(tweak[0] << 1 ^ ((top & 0x80) != 0 ? 0x87 : 0x00));
}

// IEEE 1619 §5.3.1 and §5.4.1, from the encrypted tweak on.
void xts(void (*block_cipher)(const Schedule&, const uint8_t*, uint8_t*), const Schedule& schedule, uint8_t tweak[16],
         const uint8_t* in, uint8_t* out, uint64_t blocks) {
  for (; blocks > 0; --blocks, in += block_bytes, out += block_bytes) {
    uint8_t block[block_bytes];
    xor_bytes(block, in, tweak, block_bytes);
    block_cipher(schedule, block, block);
    xor_bytes(out, block, tweak, block_bytes);
    times_alpha(tweak);
  }
}

void xts_encrypt(const Schedule& schedule, uint8_t tweak[16], const uint8_t* in, uint8_t* out, uint64_t blocks,
                 Stores) {
  xts(cipher, schedule, tweak, in, out, blocks);
}

void xts_decrypt(const Schedule& schedule, uint8_t tweak[16], const uint8_t* in, uint8_t* out, uint64_t blocks,
                 Stores) {
  xts(inv_cipher, schedule, tweak, in, out, blocks);
}

}  // namespace

const Kernels kernels_reference = {
    .expand = key_expansion,
    .ecb_encrypt = ecb_encrypt,
    .ecb_decrypt = ecb_decrypt,
    .sequential = sequential,
    .lanes = lanes,
    .cbc_decrypt = cbc_decrypt,
    .cfb_decrypt = cfb_decrypt,
    .ctr = ctr,
    .xts_encrypt = xts_encrypt,
    .xts_decrypt = xts_decrypt,
    .round_keys = round_keys,
};

}  // namespace stockade::aes
