// The bitsliced counter mode, run by the emulator, against OpenSSL; and its parts against what FIPS 197 says of them.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "aes/aes_bitslice.h"
#include "aes/aes_bitslice_kernels.h"
#include "aes/aes_bitslice_launch.h"
#include "aes/aes_cuda.h"
#include "cross/oracle.h"
#include "cross/random_source.h"
#include "gpu/emulator.h"

namespace stockade::aes {
namespace {

using tests::Bytes;
using tests::oracle_crypt;
using tests::RandomSource;
using tests::scaled;

constexpr uint32_t all_key_bytes[] = {16, 24, 32};

// ---- GF(2^8) by its definition (FIPS 197 §4) ----

uint32_t multiply(uint32_t a, uint32_t b) {
  uint32_t product = 0;
  for (; b != 0; b >>= 1) {
    if (b & 1) product ^= a;
    a = (a << 1) ^ (a >> 7) * 0x11B;
  }
  return product;
}

// §5.1.1
uint32_t substituted(uint32_t value) {
  uint32_t inverse = 0;
  for (uint32_t candidate = 1; candidate < 256; ++candidate) {
    if (multiply(value, candidate) == 1) inverse = candidate;
  }
  uint32_t result = 0x63;
  for (uint32_t i = 0; i < 5; ++i) result ^= (inverse << i | inverse >> (8 - i)) & 0xFF;
  return result;
}

TEST(AesBitslice, SubstitutesEveryByte) {
  for (uint32_t first = 0; first < 256; first += 32) {
    uint32_t planes[8] = {};
    for (uint32_t j = 0; j < 32; ++j) {
      for (uint32_t i = 0; i < 8; ++i) planes[i] |= ((first + j) >> i & 1) << j;
    }
    bitslice::substitute(planes);
    for (uint32_t j = 0; j < 32; ++j) {
      uint32_t result = 0;
      for (uint32_t i = 0; i < 8; ++i) result |= (planes[i] >> j & 1) << i;
      EXPECT_EQ(result, substituted(first + j)) << first + j;
    }
  }
}

TEST(AesBitslice, TransposesBits) {
  RandomSource random;
  uint32_t before[32], after[32];
  for (uint32_t& word : before) word = static_cast<uint32_t>(random.next());
  std::copy_n(before, 32, after);
  bitslice::transpose(after);
  for (uint32_t j = 0; j < 32; ++j) {
    for (uint32_t k = 0; k < 32; ++k) ASSERT_EQ(after[j] >> k & 1, before[k] >> j & 1) << j << " " << k;
  }
}

// ShiftRows, MixColumns and AddRoundKey (§5.1.2 to §5.1.4) of one block.
Bytes mixed(const Bytes& state, const uint8_t key[16]) {
  Bytes result(16);
  for (uint32_t c = 0; c < 4; ++c) {
    for (uint32_t r = 0; r < 4; ++r) {
      uint32_t sum = key[4 * c + r];
      for (uint32_t k = 0; k < 4; ++k) {
        const uint32_t row = (r + k) % 4;
        sum ^= multiply(state[4 * ((c + row) % 4) + row], k == 0 ? 2 : k == 1 ? 3 : 1);
      }
      result[4 * c + r] = static_cast<uint8_t>(sum);
    }
  }
  return result;
}

template <uint32_t column>
void expect_mixed_column(const uint32_t state[128], const uint8_t key[16], const std::vector<Bytes>& expected) {
  uint32_t word, planes[32], out[32];
  std::memcpy(&word, key + 4 * column, 4);
  for (uint32_t i = 0; i < 32; ++i) planes[i] = bitslice::key_plane(word, i);
  bitslice::mix_column<column>(out, state, planes);
  for (uint32_t i = 0; i < 32; ++i) {
    for (uint32_t j = 0; j < 32; ++j) {
      ASSERT_EQ(out[i] >> j & 1, uint32_t{expected[j][4 * column + i / 8]} >> i % 8 & 1)
          << column << " " << i << " " << j;
    }
  }
}

TEST(AesBitslice, MixesColumnsAndAddsTheKey) {
  RandomSource random;
  for (uint64_t repeat = scaled(20); repeat > 0; --repeat) {
    const Bytes key = random.bytes(16);
    std::vector<Bytes> expected;
    uint32_t state[128] = {};
    for (uint32_t j = 0; j < 32; ++j) {
      const Bytes block = random.bytes(16);
      for (uint32_t i = 0; i < 128; ++i) state[i] |= (uint32_t{block[i / 8]} >> i % 8 & 1) << j;
      expected.push_back(mixed(block, key.data()));
    }
    expect_mixed_column<0>(state, key.data(), expected);
    expect_mixed_column<1>(state, key.data(), expected);
    expect_mixed_column<2>(state, key.data(), expected);
    expect_mixed_column<3>(state, key.data(), expected);
  }
}

TEST(AesBitslice, MixesAPackedBlock) {
  RandomSource random;
  for (uint64_t repeat = scaled(100); repeat > 0; --repeat) {
    const Bytes block = random.bytes(16), key = random.bytes(16), expected = mixed(block, key.data());
    uint32_t planes[8] = {}, key_planes[8] = {};
    for (uint32_t i = 0; i < 128; ++i) {
      planes[i % 8] |= (uint32_t{block[i / 8]} >> i % 8 & 1) << i / 8;
      key_planes[i % 8] |= (uint32_t{key[i / 8]} >> i % 8 & 1) << i / 8;
    }
    bitslice::mix_packed(planes, key_planes);
    for (uint32_t i = 0; i < 128; ++i) {
      ASSERT_EQ(planes[i % 8] >> i / 8 & 1, uint32_t{expected[i / 8]} >> i % 8 & 1) << i;
    }
  }
}

// ---- whole messages ----

gpu::Queue queue(uint32_t multiprocessors) {
  return {.stream = nullptr, .capability = 90, .multiprocessors = multiprocessors, .shared_bytes = 227 << 10};
}

struct Case {
  uint32_t key_bytes;
  uint64_t length;
  CounterWidth width = CounterWidth::bits128;
  uint32_t in_offset = 0, out_offset = 0;  // from a multiple of 16 bytes
  bool in_place = false;
  uint32_t multiprocessors = 2;
  gpu::Shape shape = ctr_bitsliced_shape;
};

std::string describe(const Case& test, const Bytes& counter) {
  std::string text = "key " + std::to_string(test.key_bytes) + ", length " + std::to_string(test.length) +
                     ", offsets " + std::to_string(test.in_offset) + " " + std::to_string(test.out_offset) +
                     ", threads " + std::to_string(test.shape.threads) + ", counter";
  for (const uint8_t byte : counter) text += " " + std::to_string(byte);
  return text;
}

// Counter mode by OpenSSL; with 32 bits, the part after the wrap has a counter of its own.
Bytes expected_ctr(const Bytes& key, const Bytes& counter, CounterWidth width, const Bytes& in) {
  if (width == CounterWidth::bits128) return oracle_crypt(STOCKADE_CTR, STOCKADE_ENCRYPT, key, counter, in);
  const uint32_t low =
      uint32_t{counter[12]} << 24 | uint32_t{counter[13]} << 16 | uint32_t{counter[14]} << 8 | counter[15];
  const uint64_t until_wrap = std::min<uint64_t>(in.size(), 16 * ((uint64_t{1} << 32) - low));
  const auto middle = in.begin() + static_cast<int64_t>(until_wrap);
  Bytes result = oracle_crypt(STOCKADE_CTR, STOCKADE_ENCRYPT, key, counter, Bytes(in.begin(), middle));
  Bytes wrapped = counter;
  std::fill(wrapped.begin() + 12, wrapped.end(), uint8_t{0});
  const Bytes rest = oracle_crypt(STOCKADE_CTR, STOCKADE_ENCRYPT, key, wrapped, Bytes(middle, in.end()));
  result.insert(result.end(), rest.begin(), rest.end());
  return result;
}

// Memory at a chosen distance from a multiple of 16 bytes, with a margin that must stay as it is.
class Placed {
 public:
  Placed(uint32_t offset, uint64_t length, RandomSource& random) : quads_((offset + length + 2 * margin) / 16 + 1) {
    random.fill(reinterpret_cast<uint8_t*>(quads_.data()), 16 * quads_.size());
    start_ = margin + offset;
    length_ = length;
    before_ = all();
  }
  uint8_t* data() { return reinterpret_cast<uint8_t*>(quads_.data()) + start_; }
  Bytes content() { return Bytes(data(), data() + length_); }
  bool margin_kept() {
    Bytes now = all();
    std::copy_n(before_.begin() + static_cast<int64_t>(start_), length_, now.begin() + static_cast<int64_t>(start_));
    return now == before_;
  }

 private:
  static constexpr uint64_t margin = 64;
  Bytes all() const {
    const auto* bytes = reinterpret_cast<const uint8_t*>(quads_.data());
    return Bytes(bytes, bytes + 16 * quads_.size());
  }
  std::vector<gpu::Quad> quads_;
  uint64_t start_, length_;
  Bytes before_;
};

void expect_right(const Case& test, const Bytes& counter, RandomSource& random) {
  SCOPED_TRACE(describe(test, counter));
  const Bytes key = random.bytes(test.key_bytes);
  RoundKeys encrypt, decrypt;
  gpu_expand(key.data(), test.key_bytes, encrypt, decrypt);
  Placed in(test.in_offset, test.length, random), out(test.out_offset, test.length, random);
  const Bytes plain = in.content();
  uint8_t* to = test.in_place ? in.data() : out.data();
  const gpu::EmulatedLauncher launcher{random.next()};
  ASSERT_EQ(launch_ctr_bitsliced(launcher, queue(test.multiprocessors), test.shape, encrypt, counter.data(), test.width,
                                 in.data(), to, test.length, nullptr),
            STOCKADE_OK);
  ASSERT_EQ(Bytes(to, to + test.length), expected_ctr(key, counter, test.width, plain));
  EXPECT_TRUE(in.margin_kept() && out.margin_kept());
}

Bytes counter_of(uint64_t high, uint64_t low) {
  Bytes counter(16);
  for (uint32_t i = 0; i < 8; ++i) {
    counter[7 - i] = static_cast<uint8_t>(high >> 8 * i);
    counter[15 - i] = static_cast<uint8_t>(low >> 8 * i);
  }
  return counter;
}

TEST(CtrBitsliced, EveryShortLength) {
  RandomSource random;
  for (uint64_t length = 0; length <= 200; ++length) {
    const uint32_t key_bytes = all_key_bytes[length % 3];
    expect_right({.key_bytes = key_bytes, .length = length}, random.bytes(16), random);
  }
}

TEST(CtrBitsliced, AroundWarpsTilesAndRuns) {
  RandomSource random;
  for (const uint64_t length : {512, 4096, 16384, 32768, 65536}) {
    for (const int64_t difference : {-17, -16, -1, 0, 1, 15, 16, 17}) {
      const uint64_t near = length + static_cast<uint64_t>(difference);
      for (const uint64_t low : {uint64_t{0}, random.next()}) {
        expect_right({.key_bytes = all_key_bytes[random.below(3)], .length = near}, counter_of(random.next(), low),
                     random);
      }
    }
  }
}

// More tiles than a run and than a group have, on few thread blocks.
TEST(CtrBitsliced, LongMessages) {
  RandomSource random;
  for (const uint32_t key_bytes : all_key_bytes) {
    const uint64_t length = (1 << 20) + random.between(1, 300000);
    expect_right({.key_bytes = key_bytes, .length = length, .multiprocessors = 1}, random.bytes(16), random);
  }
}

// A counter that is about to carry out of its lowest 8, 10, 16, 32, 64 and 128 bits.
TEST(CtrBitsliced, CountersWrap) {
  RandomSource random;
  for (const CounterWidth width : {CounterWidth::bits32, CounterWidth::bits128}) {
    for (const uint32_t bits : {8, 10, 16, 32, 64, 128}) {
      uint64_t high = random.next(), low = random.next();
      const uint64_t ones = ~uint64_t{0};
      low = bits >= 64 ? ones : low | ((uint64_t{1} << bits) - 1);
      if (bits == 128) high = ones;
      for (const uint64_t before : {uint64_t{0}, random.below(1200)}) {
        const Case test = {
            .key_bytes = all_key_bytes[random.below(3)], .length = random.between(30000, 50000), .width = width};
        expect_right(test, counter_of(high, low - before), random);
      }
    }
  }
}

TEST(CtrBitsliced, EveryAlignment) {
  RandomSource random;
  for (uint32_t in_offset = 0; in_offset < 16; ++in_offset) {
    for (const uint32_t out_offset : {0u, in_offset, static_cast<uint32_t>(random.below(16))}) {
      const Case test = {
          .key_bytes = 16, .length = random.between(1, 40000), .in_offset = in_offset, .out_offset = out_offset};
      expect_right(test, random.bytes(16), random);
    }
  }
}

TEST(CtrBitsliced, InPlace) {
  RandomSource random;
  for (const uint32_t key_bytes : all_key_bytes) {
    for (const uint32_t offset : {0, 5}) {
      const Case test = {
          .key_bytes = key_bytes, .length = random.between(33000, 50000), .in_offset = offset, .in_place = true};
      expect_right(test, random.bytes(16), random);
    }
  }
}

TEST(CtrBitsliced, EveryShape) {
  RandomSource random;
  for (const uint32_t threads : {32, 64, 96, 128, 160, 256, 1024}) {
    for (const uint32_t multiprocessors : {1, 3}) {
      Case test = {.key_bytes = all_key_bytes[random.below(3)], .length = random.between(200000, 250000)};
      test.multiprocessors = multiprocessors;
      test.shape = {threads, 1, static_cast<uint32_t>(random.between(1, 2))};
      expect_right(test, random.bytes(16), random);
    }
  }
}

TEST(CtrBitsliced, RandomMessages) {
  RandomSource random;
  for (uint64_t repeat = scaled(40); repeat > 0; --repeat) {
    Case test = {.key_bytes = all_key_bytes[random.below(3)], .length = random.between(1, 60000)};
    test.width = random.one_in(2) ? CounterWidth::bits32 : CounterWidth::bits128;
    test.in_offset = static_cast<uint32_t>(random.one_in(2) ? 0 : random.below(16));
    test.out_offset = static_cast<uint32_t>(random.one_in(2) ? 0 : random.below(16));
    test.in_place = random.one_in(3);
    test.multiprocessors = static_cast<uint32_t>(random.between(1, 5));
    test.shape.threads = static_cast<uint32_t>(32 * random.between(1, 8));
    expect_right(test, random.bytes(16), random);
  }
}

TEST(CtrBitsliced, WritesZerosWhereRefused) {
  RandomSource random;
  const Bytes key = random.bytes(16), counter = random.bytes(16);
  RoundKeys encrypt, decrypt;
  gpu_expand(key.data(), 16, encrypt, decrypt);
  for (const uint32_t refused : {0u, 1u, 0x80000000u}) {
    Placed in(0, 20001, random), out(3, 20001, random);
    const gpu::EmulatedLauncher launcher{random.next()};
    ASSERT_EQ(
        launch_ctr_bitsliced(launcher, queue(2), ctr_bitsliced_shape, encrypt, counter.data(), CounterWidth::bits128,
                             refused != 0 ? nullptr : in.data(), out.data(), 20001, &refused),
        STOCKADE_OK);
    EXPECT_EQ(out.content(),
              refused != 0 ? Bytes(20001) : expected_ctr(key, counter, CounterWidth::bits128, in.content()));
    EXPECT_TRUE(out.margin_kept());
  }
}

// Every tile belongs to one thread block, and no grid is larger than the shape allows.
TEST(CtrBitsliced, GridsShareOutAllTiles) {
  RandomSource random;
  for (uint64_t repeat = 0; repeat < 10000; ++repeat) {
    const uint64_t tiles = random.between(1, uint64_t{1} << random.between(0, 50));
    const uint32_t multiprocessors = static_cast<uint32_t>(random.between(1, 200));
    const gpu::Shape shape = {static_cast<uint32_t>(32 * random.between(1, 32)), 1,
                              static_cast<uint32_t>(random.between(1, 8))};
    const CtrBitsliceGrid grid = ctr_bitsliced_grid(queue(multiprocessors), shape, tiles);
    ASSERT_TRUE(grid.blocks >= 1 && grid.blocks <= multiprocessors * shape.blocks_per_multiprocessor);
    ASSERT_TRUE(grid.threads >= 32 && grid.threads <= CtrBitsliceKernel::max_threads && grid.threads % 32 == 0);
    const uint64_t shared_out = grid.share * grid.blocks + uint64_t{grid.larger} * grid.unit;
    ASSERT_TRUE(shared_out >= tiles && shared_out - tiles < grid.unit) << tiles;
  }
}

}  // namespace
}  // namespace stockade::aes
