// GCM for any 64-bit machine: the bitsliced AES composed with a GHASH on integer multiplications. Constant-time in key and
// data wherever the machine's multiplication is.
//
// Products of polynomials over GF(2) come from integer products whose operands keep one bit in four: a position then sums
// up at most 16 ones, whose lowest bit is the sum modulo 2 and whose carry out of the four bits (for 16) can only happen
// at position 60, where it leaves the word. So the low word of a product of words is right, and the high word is had from
// the operands in reversed bit order: for polynomials of degree under 64, rev(a)·rev(b) is a·b reversed in 127 bits.

#include <cstdint>
#include <cstring>

#include "base/bytes.h"
#include "base/field128.h"
#include "base/secret.h"
#include "gcm/gcm_kernels.h"

namespace stockade::gcm {

namespace {

constexpr uint64_t block_bytes = 16;
constexpr uint32_t group = 8;         // blocks per reduction, each times its own power of H
constexpr uint64_t run_blocks = 256;  // CTR and GHASH take turns on data that stays in the first cache

constexpr uint64_t every_fourth = 0x1111111111111111;

// A word as a polynomial in y of degree 3 over the polynomials in x^4: c[k] = bits k, k + 4, ... moved to 0, 4, ... What is
// kept are the nine evaluations that two levels of Karatsuba multiply: c0, c1, c0 + c1, c2, c3, c2 + c3, c0 + c2, c1 + c3
// and the sum of all.
struct Digits {
  uint64_t v[9];
};

[[gnu::always_inline]] inline Digits from_digits(uint64_t c0, uint64_t c1, uint64_t c2, uint64_t c3) {
  const uint64_t even = c0 ^ c2, odd = c1 ^ c3;
  return {{c0, c1, c0 ^ c1, c2, c3, c2 ^ c3, even, odd, even ^ odd}};
}

[[gnu::always_inline]] inline Digits digits(uint64_t word) {
  return from_digits(word & every_fourth, word >> 1 & every_fourth, word >> 2 & every_fourth, word >> 3 & every_fourth);
}

// The digits of rev(word), from word with its sixteen digits of four bits in reversed order.
[[gnu::always_inline]] inline Digits reversed_digits(uint64_t word) {
  return from_digits(word >> 3 & every_fourth, word >> 2 & every_fourth, word >> 1 & every_fourth, word & every_fourth);
}

// The low word of the polynomial product whose nine integer products, or sums of several such, are p.
uint64_t low_word(const Digits& products) {
  const auto& p = products.v;
  const uint64_t low = p[2] ^ p[0] ^ p[1];
  const uint64_t high = p[5] ^ p[3] ^ p[4];
  const uint64_t middle[3] = {p[6] ^ p[0] ^ p[3], p[8] ^ p[6] ^ p[7] ^ low ^ high, p[7] ^ p[1] ^ p[4]};
  const uint64_t c[7] = {p[0], low, p[1] ^ middle[0], middle[1], p[3] ^ middle[2], high, p[4]};
  uint64_t word = 0;
  for (uint32_t k = 0; k < 7; ++k) word ^= (c[k] & every_fourth) << k;
  return word;
}

// The words that a block of 16 bytes brings into a product of 128 bits by Karatsuba, a1·x^64 + a0: first rev(a0), rev(a1)
// and their sum, which are the bytes as they come (SP 800-38D §6.3 has the coefficient of x^0 in the top bit of the first
// byte), then a0, a1 and their sum for reversed_digits.
struct Words {
  uint64_t reversed[3];
  uint64_t plain[3];
};

uint64_t swap_digits(uint64_t word) {
  const uint64_t x = __builtin_bswap64(word);
  return (x >> 4 & 0x0f0f0f0f0f0f0f0f) | (x & 0x0f0f0f0f0f0f0f0f) << 4;
}

Words words_of(uint64_t first, uint64_t second) {
  const uint64_t a0 = swap_digits(first), a1 = swap_digits(second);
  return {{first, second, first ^ second}, {a0, a1, a0 ^ a1}};
}

// A power of H, ready to be multiplied. An array of them begins with H^1.
struct Factor {
  Digits reversed[3];
  Digits plain[3];
};

// The layout of HashKey: H^1 to H^8 in the standard's byte order.
static_assert(group * block_bytes <= sizeof(HashKey::bytes));

// The factors for messages of `blocks`.
void prepare(const HashKey& hash_key, uint64_t blocks, Factor* factors) {
  for (uint32_t i = 0; i < group && i < blocks; ++i) {
    const uint8_t* bytes = hash_key.bytes + block_bytes * i;
    const Words words = words_of(load_be64(bytes), load_be64(bytes + 8));
    for (uint32_t k = 0; k < 3; ++k) {
      factors[i].reversed[k] = digits(words.reversed[k]);
      factors[i].plain[k] = reversed_digits(words.plain[k]);
    }
  }
}

[[gnu::always_inline]] inline void add_products(Digits& sums, const Digits& a, const Digits& b) {
  for (uint32_t i = 0; i < 9; ++i) sums.v[i] ^= a.v[i] * b.v[i];
}

// The sum of a_i·H^(count - i) over the blocks i from 0, with 1 <= count <= group.
Field128 multiply_group(const Factor* factors, const Words blocks[group], uint32_t count) {
  uint64_t low[3], high[3];
  for (uint32_t k = 0; k < 3; ++k) {
    Digits plain{}, reversed{};
    for (uint32_t i = 0; i < count; ++i) {
      const Factor& factor = factors[count - 1 - i];
      add_products(plain, reversed_digits(blocks[i].plain[k]), factor.plain[k]);
    }
    for (uint32_t i = 0; i < count; ++i) {
      const Factor& factor = factors[count - 1 - i];
      add_products(reversed, digits(blocks[i].reversed[k]), factor.reversed[k]);
    }
    low[k] = low_word(plain);
    high[k] = __builtin_bswap64(reverse_bits_of_bytes(low_word(reversed))) >> 1;
  }
  const uint64_t middle_low = low[2] ^ low[0] ^ low[1];
  const uint64_t middle_high = high[2] ^ high[0] ^ high[1];
  return reduce({low[0], high[0] ^ middle_low}, {low[1] ^ middle_high, high[1]});
}

// SP 800-38D §6.4, from a prepared key.
void hash(const Factor* factors, uint8_t y[16], const uint8_t* in, uint64_t blocks) {
  while (blocks > 0) {
    const uint32_t count = blocks < group ? static_cast<uint32_t>(blocks) : group;
    Words words[group];
    words[0] = words_of(load_be64(in) ^ load_be64(y), load_be64(in + 8) ^ load_be64(y + 8));
    for (uint32_t i = 1; i < count; ++i) {
      words[i] = words_of(load_be64(in + block_bytes * i), load_be64(in + block_bytes * i + 8));
    }
    store_gcm(y, multiply_group(factors, words, count));
    in += block_bytes * count;
    blocks -= count;
  }
}

void init(const aes::Schedule& schedule, HashKey& hash_key) {
  const uint8_t zero[block_bytes] = {};
  aes::aes_ecb_encrypt_portable(schedule, zero, hash_key.bytes, 1, aes::Stores::ordinary);
  Secret<Field128[2]> powers;  // H and H^i
  (*powers)[0] = (*powers)[1] = load_gcm(hash_key.bytes);
  for (uint32_t i = 1; i < group; ++i) {
    (*powers)[1] = multiply((*powers)[1], (*powers)[0]);
    store_gcm(hash_key.bytes + block_bytes * i, (*powers)[1]);
  }
}

void ghash(const HashKey& hash_key, uint8_t y[16], const uint8_t* in, uint64_t blocks) {
  if (blocks <= 1) {
    Secret<Factor> factor;  // the usual last block of lengths needs no more
    prepare(hash_key, blocks, &*factor);
    hash(&*factor, y, in, blocks);
  } else {
    Secret<Factor[group]> factors;
    prepare(hash_key, blocks, *factors);
    hash(*factors, y, in, blocks);
  }
}

// CTR whose counter wraps in its last 32 bits (inc32, SP 800-38D §6.2), by that which wraps in 128.
void ctr32(const aes::Schedule& schedule, uint8_t counter[16], const uint8_t* in, uint8_t* out, uint64_t blocks) {
  while (blocks > 0) {
    const uint64_t before_wrap = (uint64_t{1} << 32) - load_be32(counter + 12);
    const uint64_t n = blocks < before_wrap ? blocks : before_wrap;
    uint8_t fixed[12];
    std::memcpy(fixed, counter, sizeof fixed);
    aes::kernels_portable.ctr(schedule, counter, in, out, n, aes::Stores::ordinary);
    std::memcpy(counter, fixed, sizeof fixed);
    in += block_bytes * n;
    out += block_bytes * n;
    blocks -= n;
  }
}

template <bool opening>
void crypt(const aes::Schedule& schedule, const HashKey& hash_key, uint8_t counter[16], uint8_t y[16],
           const uint8_t* in, uint8_t* out, uint64_t blocks, aes::Stores) {
  Secret<Factor[group]> factors;
  prepare(hash_key, blocks, *factors);
  while (blocks > 0) {
    const uint64_t n = blocks < run_blocks ? blocks : run_blocks;
    if (opening) hash(*factors, y, in, n);
    ctr32(schedule, counter, in, out, n);
    if (!opening) hash(*factors, y, out, n);
    in += block_bytes * n;
    out += block_bytes * n;
    blocks -= n;
  }
}

}  // namespace

const Kernels kernels_portable = {
    .expand = aes::aes_expand_portable,
    .ecb_encrypt = aes::aes_ecb_encrypt_portable,
    .init = init,
    .ghash = ghash,
    .seal = crypt<false>,
    .open = crypt<true>,
    .round_keys = aes::aes_round_keys_portable,
};

}  // namespace stockade::gcm
