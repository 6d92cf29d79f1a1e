#include "chunked/payload.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "cross/random_source.h"
#include "cross/sealed_oracle.h"

namespace stockade::chunked {
namespace {

constexpr uint64_t chunk = chunk_bytes, sealed = sealed_chunk_bytes;

TEST(Cobblestone, lengths_of_payloads) {
  const struct {
    uint64_t payload;
    Status status;
    uint64_t plaintext;
  } cases[] = {
      {0, STOCKADE_ERROR_TRUNCATED, 0},
      {55, STOCKADE_ERROR_TRUNCATED, 0},
      {56, STOCKADE_ERROR_TRUNCATED, 0},
      {71, STOCKADE_ERROR_TRUNCATED, 0},
      {72, STOCKADE_OK, 0},
      {73, STOCKADE_OK, 1},
      {56 + sealed - 1, STOCKADE_OK, chunk - 1},
      {56 + sealed, STOCKADE_ERROR_TRUNCATED, 0},
      {56 + sealed + 15, STOCKADE_ERROR_TRUNCATED, 0},
      {56 + sealed + 16, STOCKADE_OK, chunk},
      {56 + 7 * sealed, STOCKADE_ERROR_TRUNCATED, 0},
      {56 + 7 * sealed + 116, STOCKADE_OK, 7 * chunk + 100},
      {56 + (max_chunks - 1) * sealed + 16, STOCKADE_OK, (max_chunks - 1) * chunk},
      {56 + max_chunks * sealed - 1, STOCKADE_OK, max_chunks * chunk - 1},
      {56 + max_chunks * sealed, STOCKADE_ERROR_TOO_MANY_CHUNKS, 0},
      {56 + max_chunks * sealed + 16, STOCKADE_ERROR_TOO_MANY_CHUNKS, 0},
      {UINT64_MAX, STOCKADE_ERROR_TOO_MANY_CHUNKS, 0},
  };
  for (const auto& [payload, status, plaintext] : cases) {
    uint64_t length = 0;
    EXPECT_EQ(plaintext_length(payload, &length), status) << payload;
    EXPECT_EQ(length, plaintext) << payload;
    if (status != STOCKADE_OK) continue;
    EXPECT_EQ(preamble_bytes + sealed_length(plaintext, true), payload);
    EXPECT_EQ(chunk_count(payload), plaintext / chunk + 1);
  }
}

class CobblestoneChunk : public testing::TestWithParam<stockade_cipher> {
 protected:
  CobblestoneChunk() {
    input_key_ = random_.bytes(input_key_bytes(GetParam()));
    salt_ = random_.bytes(salt_bytes);
    context_ = random_.bytes(random_.below(50));
    EXPECT_EQ(derive_payload_key(*key_, GetParam(), input_key_, salt_, context_), STOCKADE_OK);
  }
  tests::RandomSource random_;
  tests::Bytes input_key_, salt_, context_;
  Secret<PayloadKey> key_;
};

INSTANTIATE_TEST_SUITE_P(Ciphers, CobblestoneChunk,
                         testing::Values(STOCKADE_COBBLESTONE_256, STOCKADE_COBBLESTONE_128));

TEST_P(CobblestoneChunk, payload_is_the_oracles) {
  for (const uint64_t length : {uint64_t{0}, uint64_t{1}, chunk - 1, chunk, chunk + 1, 5 * chunk, 300 * chunk + 17}) {
    const tests::Bytes text = random_.bytes(length);
    tests::Bytes payload(preamble_bytes + sealed_length(length, true));
    std::copy_n(key_->preamble, preamble_bytes, payload.begin());
    EXPECT_EQ(seal_chunks(*key_, 0, text.data(), length, true, payload.data() + preamble_bytes),
              payload.size() - preamble_bytes);
    EXPECT_EQ(payload, tests::oracle_payload(GetParam(), input_key_, salt_, context_, text)) << length;
  }
}

TEST_P(CobblestoneChunk, needs_a_key_of_its_length) {
  for (const uint64_t length : {0, 15, 17, 24, 31, 33, 64}) {
    Secret<PayloadKey> key;
    EXPECT_EQ(derive_payload_key(*key, GetParam(), tests::Bytes(length), salt_, {}), STOCKADE_ERROR_KEY_LENGTH);
  }
}

// The counter goes beyond one, two and four bytes, up to the last chunk that there may be.
TEST_P(CobblestoneChunk, opens_at_its_index_only) {
  const tests::Bytes text = random_.bytes(1000);
  tests::Bytes sealed_text(text.size() + tag_bytes), out(text.size());
  for (const uint64_t index : {uint64_t{0}, uint64_t{255}, uint64_t{256}, uint64_t{65535}, uint64_t{65536},
                               uint64_t{1} << 32, max_chunks - 1}) {
    seal_chunk(*key_, index, text.data(), text.size(), sealed_text.data());
    ASSERT_TRUE(check_chunk(*key_, index, sealed_text.data(), sealed_text.size()));
    ASSERT_TRUE(open_chunk(*key_, index, sealed_text.data(), sealed_text.size(), out.data()));
    EXPECT_EQ(out, text);
    for (const uint64_t other : {index + 1, index ^ 256, index ^ (uint64_t{1} << 32)}) {
      EXPECT_FALSE(check_chunk(*key_, other, sealed_text.data(), sealed_text.size()));
      EXPECT_FALSE(open_chunk(*key_, other, sealed_text.data(), sealed_text.size(), out.data()));
      EXPECT_EQ(out, tests::Bytes(out.size())) << "what was not authenticated is wiped";
    }
  }
}

TEST_P(CobblestoneChunk, end_is_found_before_what_was_added) {
  for (const uint64_t length :
       {uint64_t{0}, uint64_t{1}, uint64_t{15}, uint64_t{16}, uint64_t{17}, uint64_t{1000}, chunk - 16, chunk - 1}) {
    const tests::Bytes text = random_.bytes(length);
    tests::Bytes chunk_and_more(sealed_length(length, true) + random_.between(1, 100));
    random_.fill(chunk_and_more.data(), chunk_and_more.size());
    const uint64_t end = seal_chunks(*key_, 5, text.data(), length, true, chunk_and_more.data());
    EXPECT_EQ(find_end(*key_, 5, chunk_and_more.data(), chunk_and_more.size()), end) << length;
    EXPECT_EQ(find_end(*key_, 6, chunk_and_more.data(), chunk_and_more.size()), 0U) << length;
    chunk_and_more[end - 1] ^= 1;
    EXPECT_EQ(find_end(*key_, 5, chunk_and_more.data(), chunk_and_more.size()), 0U) << length;
  }
}

}  // namespace
}  // namespace stockade::chunked
