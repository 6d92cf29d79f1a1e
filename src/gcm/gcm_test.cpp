// GCM of every row that this machine runs, whole and in ranges, against OpenSSL.
#include "gcm/gcm.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "cpu/features.h"
#include "cross/oracle.h"
#include "cross/random_source.h"

namespace stockade::gcm {
namespace {

using tests::Bytes;

class GcmOfRow : public testing::TestWithParam<const Variant*> {
 protected:
  std::unique_ptr<Key> make_key(const Bytes& bytes) const {
    auto key = std::make_unique<Key>();
    EXPECT_EQ(expand(*key, GetParam(), bytes.data(), bytes.size()), STOCKADE_OK);
    return key;
  }
  tests::RandomSource random_;
};

std::vector<const Variant*> runnable() {
  std::vector<const Variant*> rows;
  for (const Variant& variant : variants()) {
    if ((variant.needs & ~cpu::usable()) == 0) rows.push_back(&variant);
  }
  return rows;
}
INSTANTIATE_TEST_SUITE_P(Rows, GcmOfRow, testing::ValuesIn(runnable()),
                         [](const auto& row) { return std::string(row.param->name); });

TEST_P(GcmOfRow, whole_messages_of_every_length) {
  for (uint64_t length = 0; length <= 700; ++length) {
    const Bytes key_bytes = random_.bytes(8 * random_.between(2, 4)), in = random_.bytes(length);
    const Bytes iv = random_.bytes(random_.one_in(2) ? 12 : random_.between(1, 70));
    const Bytes aad = random_.bytes(random_.one_in(3) ? 0 : random_.below(100));
    const tests::Sealed expected = tests::oracle_seal(key_bytes, iv, aad, in, 16);
    const auto key = make_key(key_bytes);
    Bytes out = in, tag(16);
    run_message(*key, STOCKADE_ENCRYPT, iv.data(), iv.size(), aad.data(), aad.size(), out.data(), length, out.data(),
                tag.data(), aes::Stores::ordinary);
    ASSERT_EQ(out, expected.ciphertext) << length;
    ASSERT_EQ(tag, expected.tag) << length;
    Bytes opened(length), opened_tag(16);
    run_message(*key, STOCKADE_DECRYPT, iv.data(), iv.size(), aad.data(), aad.size(), out.data(), length, opened.data(),
                opened_tag.data(), aes::Stores::ordinary);
    ASSERT_EQ(opened, in) << length;
    ASSERT_EQ(opened_tag, expected.tag) << length;
  }
}

// Two ranges, hashed from zero by whoever has them and joined.
TEST_P(GcmOfRow, every_split_gives_the_whole) {
  constexpr uint64_t blocks = 70;
  for (const uint64_t rest : {uint64_t{0}, random_.between(1, 15)}) {
    const uint64_t length = 16 * blocks + rest;
    const Bytes key_bytes = random_.bytes(8 * random_.between(2, 4)), in = random_.bytes(length);
    const Bytes iv = random_.bytes(random_.between(1, 40)), aad = random_.bytes(random_.below(60));
    const tests::Sealed expected = tests::oracle_seal(key_bytes, iv, aad, in, 16);
    const auto key = make_key(key_bytes);
    uint8_t j0[16];
    derive_j0(*key, iv.data(), iv.size(), j0);
    for (uint64_t split = 1; split < blocks; ++split) {
      for (const stockade_direction direction : {STOCKADE_ENCRYPT, STOCKADE_DECRYPT}) {
        const bool opening = direction == STOCKADE_DECRYPT;
        Bytes data = opening ? expected.ciphertext : in;
        uint8_t y[16] = {}, later[16] = {}, tag[16];
        const uint64_t begin = 16 * split;
        run_range(*key, direction, j0, split, later, data.data() + begin, data.data() + begin, length - begin,
                  aes::Stores::ordinary);
        hash_padded(*key, y, aad.data(), aad.size());
        run_range(*key, direction, j0, 0, y, data.data(), data.data(), begin, aes::Stores::ordinary);
        append_hash(*key, y, later, blocks - split + (rest != 0));
        finish_tag(*key, j0, y, aad.size(), length, tag);
        ASSERT_EQ(data, opening ? in : expected.ciphertext) << split;
        ASSERT_EQ(Bytes(tag, tag + 16), expected.tag) << split;
      }
    }
  }
}

TEST_P(GcmOfRow, appending_many_blocks_is_hashing_zeros) {
  const auto key = make_key(random_.bytes(16));
  const Bytes zeros(16 * 5000);
  for (const uint64_t blocks : {uint64_t{0}, uint64_t{1}, uint64_t{2}, uint64_t{4999}, random_.below(5000)}) {
    uint8_t hashed[16], appended[16], part[16];
    random_.fill(hashed, sizeof hashed);
    random_.fill(part, sizeof part);
    std::memcpy(appended, hashed, sizeof hashed);
    append_hash(*key, appended, part, blocks);
    hash_padded(*key, hashed, zeros.data(), 16 * blocks);
    xor_bytes(hashed, hashed, part, sizeof hashed);
    ASSERT_EQ(Bytes(appended, appended + 16), Bytes(hashed, hashed + 16)) << blocks;
  }
}

// The counter's low 32 bits wrap without a carry (SP 800-38D §6.2), in the middle of a kernel call. J0 is chosen freely
// here; OpenSSL's CTR gives the key stream of either side of the wrap.
TEST_P(GcmOfRow, counter_wraps_within_32_bits) {
  const Bytes key_bytes = random_.bytes(32), in = random_.bytes(16 * 64);
  const auto key = make_key(key_bytes);
  for (uint32_t before_wrap = 1; before_wrap < 64; ++before_wrap) {
    Bytes j0 = random_.bytes(12);
    j0.resize(16);
    store_be32(j0.data() + 12, 0 - before_wrap - 1);
    Bytes first_iv = j0, second_iv = j0;
    store_be32(first_iv.data() + 12, 0 - before_wrap);
    store_be32(second_iv.data() + 12, 0);
    const Bytes head(in.begin(), in.begin() + 16 * before_wrap), tail(in.begin() + 16 * before_wrap, in.end());
    Bytes expected = tests::oracle_crypt(STOCKADE_CTR, STOCKADE_ENCRYPT, key_bytes, first_iv, head);
    const Bytes rest = tests::oracle_crypt(STOCKADE_CTR, STOCKADE_ENCRYPT, key_bytes, second_iv, tail);
    expected.insert(expected.end(), rest.begin(), rest.end());
    Bytes out(in.size());
    uint8_t y[16] = {};
    run_range(*key, STOCKADE_ENCRYPT, j0.data(), 0, y, in.data(), out.data(), in.size(), aes::Stores::ordinary);
    ASSERT_EQ(out, expected) << before_wrap;
    uint8_t counter[16];
    counter_at(j0.data(), before_wrap, counter);
    ASSERT_EQ(Bytes(counter, counter + 16), second_iv);
  }
}

TEST(Gcm, says_what_it_takes) {
  EXPECT_EQ(check(12, 0, 0, 16), STOCKADE_OK);
  EXPECT_EQ(check(1, max_aad_bytes, max_message_bytes, 12), STOCKADE_OK);
  EXPECT_EQ(check(0, 0, 0, 16), STOCKADE_ERROR_IV_LENGTH);
  EXPECT_EQ(check(12, 0, 0, 11), STOCKADE_ERROR_TAG_LENGTH);
  EXPECT_EQ(check(12, 0, 0, 17), STOCKADE_ERROR_TAG_LENGTH);
  EXPECT_EQ(check(12, 0, max_message_bytes + 1, 16), STOCKADE_ERROR_DATA_TOO_LONG);
  EXPECT_EQ(check(12, max_aad_bytes + 1, 0, 16), STOCKADE_ERROR_DATA_TOO_LONG);
  EXPECT_EQ(max_message_bytes, (uint64_t{1} << 36) - 32);
}

TEST(Gcm, keys_of_other_lengths_are_refused) {
  const Variant* variant = nullptr;
  ASSERT_EQ(choose("portable", cpu::none, &variant), STOCKADE_OK);
  const Bytes bytes(70, 1);
  auto key = std::make_unique<Key>();
  for (uint64_t length = 0; length <= bytes.size(); ++length) {
    const bool right = length == 16 || length == 24 || length == 32;
    ASSERT_EQ(expand(*key, variant, bytes.data(), length), right ? STOCKADE_OK : STOCKADE_ERROR_KEY_LENGTH);
  }
}

}  // namespace
}  // namespace stockade::gcm
