// Ranges, data units and streams of every row that this machine runs, against OpenSSL.
#include "aes/modes.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "aes/padding.h"
#include "base/bytes.h"
#include "base/field128.h"
#include "cpu/features.h"
#include "cross/oracle.h"
#include "cross/random_source.h"

namespace stockade::aes {
namespace {

using tests::Bytes;

constexpr Mode all_modes[] = {STOCKADE_ECB, STOCKADE_CBC, STOCKADE_CFB, STOCKADE_OFB, STOCKADE_CTR, STOCKADE_XTS};
constexpr Direction both_directions[] = {STOCKADE_ENCRYPT, STOCKADE_DECRYPT};

bool may_end_partially(Mode mode) { return mode != STOCKADE_ECB && mode != STOCKADE_CBC; }

// One message with OpenSSL's answer.
struct Case {
  Mode mode;
  Direction direction;
  Bytes key_bytes, iv, in, expected;
  std::unique_ptr<Key> key = std::make_unique<Key>();

  Case(const Variant& variant, Mode mode_, Direction direction_, uint64_t length, tests::RandomSource& random)
      : mode(mode_), direction(direction_) {
    const uint64_t bits = mode == STOCKADE_XTS ? 128 * random.between(1, 2) : 64 * random.between(2, 4);
    key_bytes = random.bytes(bits / 8 * (mode == STOCKADE_XTS ? 2 : 1));
    iv = random.bytes(mode == STOCKADE_ECB ? 0 : 16);
    if (mode == STOCKADE_CTR && random.one_in(2)) std::fill(iv.begin(), iv.begin() + 15, uint8_t{0xff});
    in = random.bytes(length);
    expected = tests::oracle_crypt(mode, direction, key_bytes, iv, in);
    EXPECT_EQ(expand(*key, &variant, mode, key_bytes.data(), key_bytes.size()), STOCKADE_OK);
    EXPECT_EQ(key->bits, bits);
  }

  // The message as ranges that begin at these blocks, the first of them 0. In place all chains are taken first, and the
  // ranges are run from the last to the first.
  Bytes run(const std::vector<uint64_t>& starts, bool in_place, Stores stores) const {
    Bytes out = in_place ? in : Bytes(in.size());
    std::vector<Range> ranges;
    for (size_t i = 0; i < starts.size(); ++i) {
      const uint64_t begin = starts[i] * block_bytes;
      const uint64_t end = i + 1 < starts.size() ? starts[i + 1] * block_bytes : in.size();
      const uint8_t* const source = in_place ? out.data() : in.data();
      Range range{source + begin, out.data() + begin, end - begin, {}};
      start_chain(*key, iv.data(), starts[i], begin == 0 ? nullptr : source + begin - block_bytes, range.chain);
      ranges.push_back(range);
    }
    for (size_t i = ranges.size(); i-- > 0;) run_range(*key, direction, ranges[i], stores);
    return out;
  }
};

class ModesOfRow : public testing::TestWithParam<const Variant*> {
 protected:
  const Variant& row() const { return *GetParam(); }
  bool slow() const { return !row().automatic; }
  tests::RandomSource random_;
};

std::vector<const Variant*> runnable() {
  std::vector<const Variant*> rows;
  for (const Variant& variant : variants()) {
    if ((variant.needs & ~cpu::usable()) == 0) rows.push_back(&variant);
  }
  return rows;
}
INSTANTIATE_TEST_SUITE_P(Rows, ModesOfRow, testing::ValuesIn(runnable()),
                         [](const auto& row) { return std::string(row.param->name); });

TEST_P(ModesOfRow, every_split_gives_the_whole) {
  const uint64_t blocks = slow() ? 12 : 70;
  for (const Mode mode : all_modes) {
    for (const Direction direction : both_directions) {
      if (!splits(mode, direction)) continue;
      SCOPED_TRACE("mode " + std::to_string(mode) + " direction " + std::to_string(direction));
      for (const uint64_t rest : {uint64_t{0}, random_.between(1, 15)}) {
        if (rest != 0 && !may_end_partially(mode)) continue;
        const Case message(row(), mode, direction, 16 * blocks + rest, random_);
        for (uint64_t split = 1; split < blocks; ++split) {
          const bool in_place = random_.one_in(2);
          const Stores stores = !in_place && random_.one_in(3) ? Stores::streaming : Stores::ordinary;
          ASSERT_EQ(message.run({0, split}, in_place, stores), message.expected) << split;
        }
        const uint64_t middle = random_.between(2, blocks - 2);
        ASSERT_EQ(message.run({0, 1, middle, blocks - 1}, true, Stores::ordinary), message.expected) << middle;
      }
    }
  }
}

TEST_P(ModesOfRow, every_length_in_one_range) {
  for (const Mode mode : all_modes) {
    for (const Direction direction : both_directions) {
      SCOPED_TRACE("mode " + std::to_string(mode) + " direction " + std::to_string(direction));
      const uint64_t step = may_end_partially(mode) ? 1 : 16;
      const uint64_t longest = slow() ? 80 : 600;
      for (uint64_t length = mode == STOCKADE_XTS ? 16 : step; length <= longest; length += step) {
        const Case message(row(), mode, direction, length, random_);
        ASSERT_EQ(message.run({0}, false, Stores::ordinary), message.expected) << length;
        ASSERT_EQ(message.run({0}, true, Stores::ordinary), message.expected) << length;
      }
    }
  }
}

// The chain that a range leaves is the one that the next begins with.
TEST_P(ModesOfRow, ranges_follow_one_another) {
  for (const Mode mode : all_modes) {
    for (const Direction direction : both_directions) {
      const Case message(row(), mode, direction, 16 * 20, random_);
      Bytes out(message.in.size());
      Range range{message.in.data(), out.data(), 0, {}};
      start_chain(*message.key, message.iv.data(), 0, nullptr, range.chain);
      for (uint64_t done = 0; done < out.size(); done += range.length) {
        range.in = message.in.data() + done;
        range.out = out.data() + done;
        range.length = std::min<uint64_t>(16 * random_.between(1, 5), out.size() - done);
        run_range(*message.key, direction, range, Stores::ordinary);
      }
      ASSERT_EQ(out, message.expected) << "mode " << mode << " direction " << direction;
    }
  }
}

TEST_P(ModesOfRow, units_are_numbered_messages) {
  for (int i = 0; i < (slow() ? 10 : 60); ++i) {
    const uint64_t unit = random_.between(16, slow() ? 50 : 700);
    const uint64_t units = random_.between(0, slow() ? 4 : 70);
    const uint64_t rest = random_.one_in(2) && unit > 17 ? random_.between(16, unit - 1) : units == 0 ? unit : 0;
    const Direction direction = both_directions[i % 2];
    const Bytes key_bytes = random_.bytes(i % 3 == 0 ? 32 : 64), in = random_.bytes(units * unit + rest);
    Bytes number = random_.bytes(16);
    if (i % 4 == 0) std::fill(number.begin() + 1, number.end(), uint8_t{0xff});  // the number wraps on the way
    auto key = std::make_unique<Key>();
    ASSERT_EQ(expand(*key, &row(), STOCKADE_XTS, key_bytes.data(), key_bytes.size()), STOCKADE_OK);
    Bytes out = in;
    run_units(*key, direction, number.data(), unit, out.data(), out.data(), out.size(), Stores::ordinary);
    ASSERT_EQ(out, tests::oracle_units(direction, key_bytes, number, unit, in)) << unit << " in " << in.size();
  }
}

struct StreamCase {
  std::unique_ptr<Case> message;
  Bytes out;
  StreamMessage stream;
};

TEST_P(ModesOfRow, streams_side_by_side_are_those_alone) {
  constexpr std::pair<Mode, Direction> sequential[] = {{STOCKADE_CBC, STOCKADE_ENCRYPT},
                                                       {STOCKADE_CFB, STOCKADE_ENCRYPT},
                                                       {STOCKADE_OFB, STOCKADE_ENCRYPT},
                                                       {STOCKADE_OFB, STOCKADE_DECRYPT}};
  for (const auto& [mode, direction] : sequential) {
    for (uint64_t round = 0; round < (slow() ? 8U : 60U); ++round) {
      const bool in_place = round % 2 == 1;
      std::vector<StreamCase> cases;
      // One number of rounds in a call: only messages of the first one's key size are kept.
      for (uint64_t left = random_.between(1, slow() ? 6 : 4 * row().lanes); left > 0; --left) {
        const uint64_t blocks = random_.one_in(8) ? 0 : random_.between(1, slow() ? 4 : 30);
        const uint64_t rest = may_end_partially(mode) && random_.one_in(2) ? random_.between(1, 15) : 0;
        auto message = std::make_unique<Case>(row(), mode, direction, 16 * blocks + rest, random_);
        if (!cases.empty() && cases[0].message->key->bits != message->key->bits) continue;
        Bytes out = in_place ? message->in : Bytes(message->in.size());
        cases.push_back({std::move(message), std::move(out), {}});
      }
      std::vector<StreamMessage*> pointers;
      for (StreamCase& one : cases) {
        one.stream = {one.message->key.get(),
                      {},
                      in_place ? one.out.data() : one.message->in.data(),
                      one.out.data(),
                      one.out.size()};
        std::memcpy(one.stream.iv, one.message->iv.data(), block_bytes);
        pointers.push_back(&one.stream);
      }
      run_streams(mode, direction, pointers.data(), pointers.size());
      for (size_t i = 0; i < cases.size(); ++i) {
        ASSERT_EQ(cases[i].out, cases[i].message->expected)
            << "mode " << mode << " message " << i << " of " << cases.size() << (in_place ? " in place" : "");
      }
    }
  }
}

TEST(Modes, skipping_is_stepping) {
  tests::RandomSource random;
  uint8_t tweak[16], counter[16];
  random.fill(tweak, sizeof tweak);
  std::fill(counter, counter + 16, uint8_t{0xff});
  counter[15] = 0xf0;
  Bytes tweak_start(tweak, tweak + 16), counter_start(counter, counter + 16);
  for (uint64_t blocks = 0; blocks <= uint64_t{1} << 20; ++blocks) {
    if (blocks < 300 || blocks % 65521 == 0 || blocks == uint64_t{1} << 20) {
      Bytes tweak_skipped = tweak_start, counter_skipped = counter_start;
      skip_blocks(STOCKADE_XTS, tweak_skipped.data(), blocks);
      skip_blocks(STOCKADE_CTR, counter_skipped.data(), blocks);
      ASSERT_EQ(tweak_skipped, Bytes(tweak, tweak + 16)) << blocks;
      ASSERT_EQ(counter_skipped, Bytes(counter, counter + 16)) << blocks;
    }
    store_xts(tweak, times_x(load_xts(tweak)));
    for (int i = 15; i >= 0 && ++counter[i] == 0; --i) {
    }
  }
}

TEST(Modes, keys_of_other_lengths_are_refused) {
  const Variant* variant = nullptr;
  ASSERT_EQ(choose("portable", cpu::none, &variant), STOCKADE_OK);
  tests::RandomSource random;
  const Bytes bytes = random.bytes(70);
  auto key = std::make_unique<Key>();
  for (const Mode mode : all_modes) {
    for (uint64_t length = 0; length <= bytes.size(); ++length) {
      const bool right =
          mode == STOCKADE_XTS ? length == 32 || length == 64 : length == 16 || length == 24 || length == 32;
      ASSERT_EQ(expand(*key, variant, mode, bytes.data(), length), right ? STOCKADE_OK : STOCKADE_ERROR_KEY_LENGTH);
    }
  }
  for (const uint64_t half : {16, 32}) {
    Bytes weak = random.bytes(half);
    weak.insert(weak.end(), weak.begin(), weak.end());
    EXPECT_EQ(expand(*key, variant, STOCKADE_XTS, weak.data(), weak.size()), STOCKADE_ERROR_WEAK_KEY);
    weak.back() ^= 1;
    EXPECT_EQ(expand(*key, variant, STOCKADE_XTS, weak.data(), weak.size()), STOCKADE_OK);
  }
}

TEST(Modes, say_what_they_take) {
  for (const Mode mode : all_modes) {
    for (const uint64_t length : {0, 1, 12, 15, 16, 17, 32}) {
      const bool right = length == (mode == STOCKADE_ECB ? 0U : 16U);
      EXPECT_EQ(check_iv(mode, length), right ? STOCKADE_OK : STOCKADE_ERROR_IV_LENGTH);
    }
  }
  for (const uint64_t length : {0, 1, 15, 16, 17, 31, 32}) {
    const Status blocks_only = length % 16 == 0 ? STOCKADE_OK : STOCKADE_ERROR_DATA_LENGTH;
    EXPECT_EQ(check_length(STOCKADE_ECB, length), blocks_only);
    EXPECT_EQ(check_length(STOCKADE_CBC, length), blocks_only);
    EXPECT_EQ(check_length(STOCKADE_XTS, length), length >= 16 ? STOCKADE_OK : STOCKADE_ERROR_DATA_LENGTH);
    for (const Mode mode : {STOCKADE_CFB, STOCKADE_OFB, STOCKADE_CTR})
      EXPECT_EQ(check_length(mode, length), STOCKADE_OK);
  }
  EXPECT_EQ(check_length(STOCKADE_XTS, max_unit_bytes), STOCKADE_OK);
  EXPECT_EQ(check_length(STOCKADE_XTS, max_unit_bytes + 1), STOCKADE_ERROR_DATA_TOO_LONG);
  EXPECT_EQ(check_length(STOCKADE_XTS, UINT64_MAX), STOCKADE_ERROR_DATA_TOO_LONG);
  EXPECT_EQ(check_length(STOCKADE_CTR, UINT64_MAX), STOCKADE_OK);
}

TEST(Padding, is_recognised_only_where_it_is_right) {
  for (uint32_t last = 0; last < 256; ++last) {
    for (uint32_t run = 1; run <= 16; ++run) {
      // A block that ends with `run` bytes of value `last`, the byte before them another.
      uint8_t block[16] = {};
      for (uint32_t i = 0; i < 16; ++i) block[i] = static_cast<uint8_t>(i < 16 - run ? last + 1 : last);
      EXPECT_EQ(padding_length(block), last >= 1 && last <= run ? last : 0) << last << " x" << run;
    }
  }
  for (uint64_t used = 0; used < 16; ++used) {
    uint8_t block[16] = {};
    pad_block(block, used);
    EXPECT_EQ(padding_length(block), 16 - used);
    for (uint64_t i = used; i < 15; ++i) {
      block[i] ^= 0x10;
      EXPECT_EQ(padding_length(block), 0U);
      block[i] ^= 0x10;
    }
  }
}

}  // namespace
}  // namespace stockade::aes
