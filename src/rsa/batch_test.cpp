// Batches on engines: the pieces cover a batch once, and what they compute is what one thread computes.
#include "rsa/batch.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <ctime>

#include "cross/random_source.h"
#include "rsa/rsa_test.h"

namespace stockade::rsa {
namespace {

using config::EngineChoice;
using config::Kind;

constexpr EngineChoice engines[] = {{Kind::serial, 1}, {Kind::automatic, 3}, {Kind::threads, 2}, {Kind::threads, 5}};

TEST(BatchPieces, fill_lanes_and_leave_nobody_idle) {
  // One thread is given as many as are computed together.
  EXPECT_EQ(operations_at_a_time(1000, 8, 1), group_size);
  // Fewer than fill the lanes of all: each has the same.
  EXPECT_EQ(operations_at_a_time(1, 8, 2), 1U);
  EXPECT_EQ(operations_at_a_time(5, 8, 2), 3U);
  EXPECT_EQ(operations_at_a_time(16, 8, 2), 8U);
  for (const uint64_t filling : {1, 2, 4, 8}) {
    for (const uint32_t workers : {2, 3, 16, 128}) {
      for (uint64_t count = 1; count < 3000; count += 7) {
        const uint64_t pieces = operations_at_a_time(count, filling, workers);
        ASSERT_GE(pieces, 1U);
        ASSERT_LE(pieces, group_size);
        ASSERT_TRUE(pieces % filling == 0 || pieces < filling) << count << " " << filling << " " << workers;
        // Nobody has more than a share, filled up.
        ASSERT_LT(pieces, (count + workers - 1) / workers + filling);
      }
    }
  }
}

// Every fifth has something wrong with it.
bool is_good(uint64_t i) { return i % 5 != 3; }

TEST(Batches, of_numbers_are_the_same_on_every_engine_and_row) {
  tests::RandomSource random;
  for (const bignum::Variant* const row : test_rows()) {
    if (row->name == std::string("reference")) continue;
    const auto key = make_key(oracle_key(2048).numbers, row), other = make_key(oracle_key(3072).numbers, row);
    const uint64_t count = 37;
    std::vector<Buffer> in, expected;
    for (uint64_t i = 0; i < count; ++i) {
      in.push_back(random.bytes(i % 7 == 0 ? 384 : 256));
      std::fill_n(in.back().begin(), 8, is_good(i) ? uint8_t{0} : uint8_t{0xff});
    }
    for (const EngineChoice& engine : engines) {
      std::vector<Buffer> out(count, Buffer(384));
      std::vector<PrivateOperation> operations;
      for (uint64_t i = 0; i < count; ++i) {
        const PrivateKey* const used = i % 7 == 0 ? other.get() : key.get();
        operations.push_back({used, in[i], std::span(out[i]).first(in[i].size())});
      }
      EXPECT_EQ(run_private(engine, operations, system_random()), STOCKADE_ERROR_RSA_RANGE);
      std::vector<Buffer> back(count, Buffer(384));
      std::vector<PublicOperation> inverse;
      for (uint64_t i = 0; i < count; ++i) {
        EXPECT_EQ(operations[i].status, is_good(i) ? STOCKADE_OK : STOCKADE_ERROR_RSA_RANGE);
        inverse.push_back(
            {&operations[i].key->public_key(), operations[i].out, std::span(back[i]).first(in[i].size())});
      }
      EXPECT_EQ(run_public(engine, inverse), STOCKADE_OK);
      for (uint64_t i = 0; i < count; ++i) {
        back[i].resize(in[i].size());
        EXPECT_EQ(back[i] == in[i], is_good(i)) << row->name << " " << i;
      }
      if (expected.empty()) expected = out;
      EXPECT_EQ(out, expected) << row->name;
    }
  }
}

// With more workers than powers, each power may have a worker of its own.
TEST(Batches, that_are_short_are_the_same_on_every_engine) {
  tests::RandomSource random;
  const auto small = make_key(oracle_key(2048).numbers), large = make_key(oracle_key(3072).numbers);
  for (const uint64_t count : {1, 2, 3}) {
    std::vector<Buffer> in, expected;
    for (uint64_t i = 0; i < count; ++i) {
      in.push_back(random.bytes(i % 2 == 0 ? 384 : 256));
      in[i][0] = 0;
    }
    for (const uint32_t threads : {1, 2, 4, 16}) {
      std::vector<Buffer> out;
      std::vector<PrivateOperation> operations;
      for (const Buffer& number : in) out.emplace_back(number.size());
      for (uint64_t i = 0; i < count; ++i)
        operations.push_back({i % 2 == 0 ? large.get() : small.get(), in[i], out[i]});
      EXPECT_EQ(run_private({Kind::automatic, threads}, operations, system_random()), STOCKADE_OK);
      if (expected.empty()) expected = out;
      EXPECT_EQ(out, expected) << threads;
    }
    // What was checked against the public key inside comes back here too.
    for (uint64_t i = 0; i < count; ++i) {
      Buffer back(in[i].size());
      PublicOperation inverse{&(i % 2 == 0 ? large : small)->public_key(), expected[i], back};
      EXPECT_EQ(run_public({&inverse, 1}), STOCKADE_OK);
      EXPECT_EQ(back, in[i]);
    }
  }
}

// A profile of one row, which says that private operations are done by that row.
std::unique_ptr<tune::Profile> profile_with(const std::string& row) {
  auto profile = std::make_unique<tune::Profile>();
  tune::Fault fault;
  const std::string text = "stockade-profile 1\nrsa-private 2048 1 engine=threads workers=all row=" + row +
                           " | 900 /s | - | somewhere | 2026-11-22 | 0123456\nend 1\n";
  EXPECT_TRUE(tune::read_profile(text, *profile, fault)) << fault.what;
  return profile;
}

TEST(Batches, are_the_same_whatever_variant_the_profile_names) {
  tests::RandomSource random;
  const auto small = make_key(oracle_key(2048).numbers), large = make_key(oracle_key(3072).numbers);
  small->allow_any_row();
  large->allow_any_row();
  constexpr uint64_t count = 11;
  std::vector<Buffer> in, expected;
  for (uint64_t i = 0; i < count; ++i) {
    in.push_back(random.bytes(i % 3 == 0 ? 384 : 256));
    in[i][0] = 0;
  }
  for (const char* row : {"ifma", "avx2", "adx", "portable", "reference", "none"}) {
    const auto profile = profile_with(row);
    const tune::ScopedProfile scoped(profile.get());
    std::vector<Buffer> out;
    std::vector<PrivateOperation> operations;
    for (const Buffer& number : in) out.emplace_back(number.size());
    for (uint64_t i = 0; i < count; ++i) operations.push_back({i % 3 == 0 ? large.get() : small.get(), in[i], out[i]});
    EXPECT_EQ(run_private({Kind::automatic, 3}, operations, system_random()), STOCKADE_OK);
    if (expected.empty()) expected = out;
    EXPECT_EQ(out, expected) << row;
  }
}

// Experience takes no row that is not chosen without being named, for such a one may not be constant-time.
TEST(Batches, are_never_done_by_a_row_that_has_to_be_asked_for) {
  for (const bignum::Variant& row : bignum::variants()) {
    const auto profile = profile_with(row.name);
    const bool usable = row.automatic && (row.needs & ~config::environment().usable) == 0;
    EXPECT_EQ(known_row(&profile->entry[0].choice), usable ? &row : nullptr) << row.name;
  }
  EXPECT_EQ(known_row(&profile_with("none")->entry[0].choice), nullptr);
  EXPECT_EQ(known_row(nullptr), nullptr);
}

TEST(Batches, of_nothing_are_no_work) {
  for (const EngineChoice& engine : engines) {
    EXPECT_EQ(run_private(engine, {}, system_random()), STOCKADE_OK);
    EXPECT_EQ(run_public(engine, {}), STOCKADE_OK);
    EXPECT_EQ(sign_many(engine, Pss{}, {}, system_random()), STOCKADE_OK);
  }
}

}  // namespace
}  // namespace stockade::rsa
