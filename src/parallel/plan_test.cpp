#include "parallel/plan.h"

#include <gtest/gtest.h>

#include <optional>
#include <string_view>

#include "tune/profile_in_force.h"

namespace stockade::parallel {
namespace {

constexpr uint64_t kib = 1024, mib = 1024 * kib;
constexpr config::EngineChoice automatic_of_8{config::Kind::automatic, 8};

// Without a profile, so that what is tested is the same on every machine.
Plan plan_of(const config::EngineChoice& engine, uint64_t bytes, uint64_t parts, bool in_place) {
  const tune::ScopedProfile none(nullptr);
  return make_plan(engine, {tune::Operation::ctr, 128, bytes, parts, in_place});
}

TEST(Plans, keep_small_inputs_on_one_thread) {
  for (const uint64_t bytes : {uint64_t{0}, uint64_t{1}, uint64_t{64}, 16 * kib, 32 * kib - 1}) {
    const Plan plan = plan_of(automatic_of_8, bytes, 1 + bytes / 16, false);
    EXPECT_EQ(plan.kind, config::Kind::serial) << bytes;
    EXPECT_EQ(plan.workers, 1U) << bytes;
    EXPECT_EQ(plan.stores, aes::Stores::ordinary) << bytes;
  }
}

TEST(Plans, give_every_worker_enough) {
  uint32_t before = 1;
  for (uint64_t bytes = 32 * kib; bytes < 4 * mib; bytes += 16 * kib) {
    const Plan plan = plan_of(automatic_of_8, bytes, bytes / 16, false);
    EXPECT_EQ(plan.kind, config::Kind::threads) << bytes;
    EXPECT_GE(plan.workers, before) << bytes;
    EXPECT_GE(plan.workers, 2U) << bytes;
    EXPECT_LE(plan.workers, 8U) << bytes;
    EXPECT_LE(plan.workers, 1 + bytes / (32 * kib)) << bytes;
    before = plan.workers;
  }
  EXPECT_EQ(before, 8U);
  EXPECT_EQ(plan_of(automatic_of_8, UINT64_MAX, UINT64_MAX, false).workers, 8U);
}

TEST(Plans, never_have_more_workers_than_parts) {
  for (const config::Kind kind : {config::Kind::automatic, config::Kind::threads}) {
    EXPECT_EQ(plan_of({kind, 8}, 64 * mib, 3, true).workers, 3U);
    for (const uint64_t parts : {0, 1}) {
      const Plan plan = plan_of({kind, 8}, 64 * mib, parts, true);
      EXPECT_EQ(plan.kind, config::Kind::serial);
      EXPECT_EQ(plan.workers, 1U);
    }
  }
}

TEST(Plans, obey) {
  EXPECT_EQ(plan_of({config::Kind::serial, 1}, 64 * mib, 1000, false).kind, config::Kind::serial);
  EXPECT_EQ(plan_of({config::Kind::automatic, 1}, 64 * mib, 1000, false).kind, config::Kind::serial);
  EXPECT_EQ(plan_of({config::Kind::threads, 1}, 64 * mib, 1000, false).kind, config::Kind::serial);
  const Plan tiny = plan_of({config::Kind::threads, 5}, 32, 2, false);
  EXPECT_EQ(tiny.kind, config::Kind::threads);
  EXPECT_EQ(tiny.workers, 2U);
}

TEST(Plans, stream_what_no_cache_can_hold) {
  for (const config::EngineChoice& engine : {automatic_of_8, config::EngineChoice{config::Kind::serial, 1},
                                             config::EngineChoice{config::Kind::threads, 2}}) {
    EXPECT_EQ(plan_of(engine, 8 * mib, 1000, false).stores, aes::Stores::ordinary);
    EXPECT_EQ(plan_of(engine, 16 * mib + 1, 1000, false).stores, aes::Stores::streaming);
    EXPECT_EQ(plan_of(engine, 16 * mib + 1, 1000, true).stores, aes::Stores::ordinary);
  }
}

TEST(Plans, always_say_why) {
  for (const config::Kind kind : {config::Kind::automatic, config::Kind::serial, config::Kind::threads}) {
    for (const uint32_t threads : {1, 8}) {
      for (const uint64_t bytes : {uint64_t{16}, 64 * mib}) {
        for (const uint64_t parts : {1, 100}) EXPECT_STRNE(plan_of({kind, threads}, bytes, parts, true).why, "");
      }
    }
  }
}

// Plans that ask a profile of these rows.
class KnownPlans : public testing::Test {
 protected:
  KnownPlans() : profile_(std::make_unique<tune::Profile>()) {
    constexpr std::string_view text = R"(stockade-profile 1
fingerprint 0123456789abcdef
ctr 128 16384 engine=serial stores=ordinary | 17.0 GB/s | - | somewhere | 2026-11-22 | 0123456
ctr 128 65536 engine=threads workers=2 stores=ordinary | 30.0 GB/s | engine=serial 17.0 GB/s | somewhere | 2026-11-22 | 0123456
ctr 128 1048576 engine=threads workers=all stores=streaming | 99.0 GB/s | - | somewhere | 2026-11-22 | 0123456
xts 128 16384 stores=streaming | 9.0 GB/s | - | somewhere | 2026-11-22 | 0123456
gcm 256 16384 engine=threads workers=all share=32768 | 9.0 GB/s | - | somewhere | 2026-11-22 | 0123456
rsa-private 2048 1 engine=serial layers=together | 900 /s | - | somewhere | 2026-11-22 | 0123456
rsa-private 2048 4 engine=threads workers=3 | 900 /s | - | somewhere | 2026-11-22 | 0123456
end 7
)";
    tune::Fault fault;
    if (!tune::read_profile(text, *profile_, fault)) throw std::logic_error(fault.what);
    scoped_.emplace(profile_.get());
  }
  void SetUp() override {
    const config::Environment& wish = config::environment();
    const bool forced = !wish.aes_row.empty() || !wish.gcm_row.empty() || !wish.bignum_row.empty();
    if (forced) GTEST_SKIP() << "where rows are forced no profile is asked";
  }

  std::unique_ptr<tune::Profile> profile_;
  std::optional<tune::ScopedProfile> scoped_;
};

TEST_F(KnownPlans, are_followed_by_an_automatic_engine) {
  const auto plan = [](uint64_t bytes) {
    return make_plan(automatic_of_8, {tune::Operation::ctr, 128, bytes, 1000, false});
  };
  EXPECT_EQ(plan(16 * kib).workers, 1U);
  EXPECT_EQ(plan(64 * kib - 1).workers, 1U);
  EXPECT_EQ(plan(64 * kib).workers, 2U);
  EXPECT_EQ(plan(64 * kib).entry, &profile_->entry[1]);
  EXPECT_TRUE(plan(64 * kib).by_entry);
  EXPECT_EQ(plan(64 * kib).at_stake, 64 * kib);
  EXPECT_EQ(plan(mib).workers, 8U);
  EXPECT_EQ(plan(mib).stores, aes::Stores::streaming);
  // What none of the rows is about.
  EXPECT_EQ(plan(16 * kib - 1).entry, nullptr);
  EXPECT_EQ(make_plan(automatic_of_8, {tune::Operation::chunks, 128, 96 * kib, 1000, false}).workers, 4U);
  EXPECT_EQ(make_plan(automatic_of_8, {tune::Operation::ctr, 0, 96 * kib, 1000, false}).workers, 4U);
}

TEST_F(KnownPlans, give_each_worker_its_share) {
  const auto workers = [](uint64_t bytes) {
    return make_plan(automatic_of_8, {tune::Operation::gcm, 256, bytes, 1000, false}).workers;
  };
  EXPECT_EQ(workers(32 * kib - 1), 1U);
  EXPECT_EQ(workers(64 * kib), 3U);
  EXPECT_EQ(workers(mib), 8U);
  // No number of shares is none.
  profile_->entry[4].choice.share = 1;
  EXPECT_EQ(workers(UINT64_MAX), 8U);
}

// Jobs that no profile is about, such as reading a file without writing one.
TEST_F(KnownPlans, are_not_asked_for_without_a_size_of_key) {
  const Task reading{tune::Operation::gcm, 0, mib, 1000, true},
      writing{tune::Operation::gcm, 256, 32 * kib, 1000, true};
  EXPECT_EQ(make_plan(automatic_of_8, reading).entry, nullptr);
  EXPECT_EQ(make_plan(automatic_of_8, reading).workers, 8U);
  EXPECT_EQ(make_plan(automatic_of_8, writing).workers, 2U);
}

TEST_F(KnownPlans, are_of_the_nearest_size_of_key) {
  EXPECT_EQ(make_plan(automatic_of_8, {tune::Operation::ctr, 256, 64 * kib, 1000, false}).workers, 2U);
  EXPECT_EQ(make_plan(automatic_of_8, {tune::Operation::gcm, 128, mib, 1000, false}).workers, 8U);
}

TEST_F(KnownPlans, stand_below_what_was_asked_for) {
  EXPECT_EQ(make_plan({config::Kind::serial, 1}, {tune::Operation::ctr, 128, mib, 1000, false}).kind,
            config::Kind::serial);
  EXPECT_EQ(make_plan({config::Kind::threads, 8}, {tune::Operation::ctr, 128, 64 * kib, 1000, false}).workers, 8U);
  EXPECT_EQ(make_plan({config::Kind::automatic, 1}, {tune::Operation::ctr, 128, mib, 1000, false}).workers, 1U);
  EXPECT_EQ(make_plan({config::Kind::automatic, 3}, {tune::Operation::ctr, 128, mib, 1000, false}).workers, 3U);
  EXPECT_EQ(make_plan(automatic_of_8, {tune::Operation::ctr, 128, mib, 1, false}).workers, 1U);
  EXPECT_EQ(make_plan(automatic_of_8, {tune::Operation::ctr, 128, mib, 1000, true}).stores, aes::Stores::ordinary);
}

TEST_F(KnownPlans, that_speak_of_stores_alone_leave_the_workers_as_usual) {
  const Plan plan = make_plan(automatic_of_8, {tune::Operation::xts, 128, 64 * kib, 1000, false});
  EXPECT_EQ(plan.stores, aes::Stores::streaming);
  EXPECT_EQ(plan.workers, 3U);
  EXPECT_FALSE(plan.by_entry);
}

TEST_F(KnownPlans, of_operations_are_looked_up_by_their_number) {
  const auto plan = [](uint64_t count) {
    return make_plan(automatic_of_8, {tune::Operation::rsa_private, 2048, 100 * mib, count, true, count});
  };
  EXPECT_EQ(plan(3).workers, 1U);
  EXPECT_EQ(plan(4).workers, 3U);
}

}  // namespace
}  // namespace stockade::parallel
