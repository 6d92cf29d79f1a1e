// Who runs the work: names, plans, and that every item is run exactly once.
#include "engine/engine.h"

#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <vector>

#include "aes/aes_cuda.h"
#include "aes/aes_variants.h"
#include "bignum/bignum_variants.h"
#include "gcm/gcm_variants.h"
#include "tune/experience.h"

namespace stockade::engine {
namespace {

constexpr uint64_t kib = 1024, mib = 1024 * kib;
constexpr Engine automatic_of_8{Kind::automatic, 8};

TEST(Force, takes_every_name_that_exists) {
  for (const auto& row : aes::variants()) {
    Environment found{};
    EXPECT_EQ(parse_force(std::string("aes:") + row.name, found), STOCKADE_OK);
    EXPECT_EQ(found.aes_row, row.name);
    EXPECT_EQ(found.gcm_row, "");
  }
  for (const auto& row : gcm::variants()) {
    Environment found{};
    EXPECT_EQ(parse_force(std::string("gcm:") + row.name, found), STOCKADE_OK);
    EXPECT_EQ(found.gcm_row, row.name);
  }
  for (const auto& row : bignum::variants()) {
    Environment found{};
    EXPECT_EQ(parse_force(std::string("bignum:") + row.name, found), STOCKADE_OK);
    EXPECT_EQ(found.bignum_row, row.name);
    EXPECT_EQ(found.aes_row, "");
  }
  for (const auto& row : aes::gpu_ctr_variants()) {
    Environment found{};
    EXPECT_EQ(parse_force(std::string("gpu-ctr:") + row.name, found), STOCKADE_OK);
    EXPECT_EQ(found.gpu_ctr_row, row.name);
  }
  for (const Kind kind : {Kind::automatic, Kind::serial, Kind::threads, Kind::cuda, Kind::hybrid}) {
    Environment found{};
    EXPECT_EQ(parse_force(std::string("engine:") + kind_name(kind), found), STOCKADE_OK);
    EXPECT_EQ(found.kind, kind);
  }
}

TEST(Force, takes_nothing_and_several_and_the_last_counts) {
  Environment found{};
  EXPECT_EQ(parse_force("", found), STOCKADE_OK);
  EXPECT_EQ(parse_force("aes:portable,engine:threads,gcm:portable,aes:reference,engine:serial", found), STOCKADE_OK);
  EXPECT_EQ(found.aes_row, "reference");
  EXPECT_EQ(found.gcm_row, "portable");
  EXPECT_EQ(found.kind, Kind::serial);
}

TEST(Force, refuses_names_that_do_not_exist) {
  for (const char* text :
       {"aes", "aes:", ":", ",", "aes:nothing", "gcm:reference", "bignum:vaes256", "engine:gpu", "rsa:portable",
        "gpu-ctr:portable", "aes:portable,", ",aes:portable", "aes:portable,,gcm:portable", "AES:portable",
        " aes:portable", "aes:portable ", "aes:portable:x", "aes:portable;gcm:portable"}) {
    Environment found{};
    EXPECT_EQ(parse_force(text, found), STOCKADE_ERROR_UNKNOWN_NAME) << text;
  }
}

TEST(Engines, are_made_by_name_and_number) {
  Engine made{};
  ASSERT_EQ(make_engine("serial", 7, made), STOCKADE_OK);
  EXPECT_EQ(made.kind, Kind::serial);
  EXPECT_EQ(made.threads, 1U);
  ASSERT_EQ(make_engine("threads", 7, made), STOCKADE_OK);
  EXPECT_EQ(made.kind, Kind::threads);
  EXPECT_EQ(made.threads, 7U);
  ASSERT_EQ(make_engine("auto", 4096, made), STOCKADE_OK);
  EXPECT_EQ(made.kind, Kind::automatic);
  EXPECT_EQ(made.threads, 4096U);
  EXPECT_EQ(make_engine("auto", 4097, made), STOCKADE_ERROR_ARGUMENT);
  EXPECT_EQ(make_engine("", 1, made), STOCKADE_ERROR_UNKNOWN_NAME);
  EXPECT_EQ(make_engine("gpu", 1, made), STOCKADE_ERROR_UNKNOWN_NAME);
}

// Without experience, so that what is tested is the same on every machine.
Plan plan_of(const Engine& engine, uint64_t bytes, uint64_t parts, bool in_place) {
  const tune::ScopedProfile none(nullptr);
  return make_plan(engine, {tune::Operation::ctr, 128, bytes, parts, in_place});
}

TEST(Plans, keep_small_inputs_on_one_thread) {
  for (const uint64_t bytes : {uint64_t{0}, uint64_t{1}, uint64_t{64}, 16 * kib, 128 * kib - 1}) {
    const Plan plan = plan_of(automatic_of_8, bytes, 1 + bytes / 16, false);
    EXPECT_EQ(plan.kind, Kind::serial) << bytes;
    EXPECT_EQ(plan.workers, 1U) << bytes;
    EXPECT_EQ(plan.stores, aes::Stores::ordinary) << bytes;
  }
}

TEST(Plans, give_every_worker_enough) {
  uint32_t before = 1;
  for (uint64_t bytes = 128 * kib; bytes < 4 * mib; bytes += 16 * kib) {
    const Plan plan = plan_of(automatic_of_8, bytes, bytes / 16, false);
    EXPECT_EQ(plan.kind, Kind::threads) << bytes;
    EXPECT_GE(plan.workers, before) << bytes;
    EXPECT_GE(plan.workers, 2U) << bytes;
    EXPECT_LE(plan.workers, 8U) << bytes;
    EXPECT_LE(plan.workers, bytes / (64 * kib)) << bytes;
    before = plan.workers;
  }
  EXPECT_EQ(before, 8U);
  EXPECT_EQ(plan_of(automatic_of_8, UINT64_MAX, UINT64_MAX, false).workers, 8U);
}

TEST(Plans, never_have_more_workers_than_parts) {
  for (const Kind kind : {Kind::automatic, Kind::threads}) {
    EXPECT_EQ(plan_of({kind, 8}, 64 * mib, 3, true).workers, 3U);
    for (const uint64_t parts : {0, 1}) {
      const Plan plan = plan_of({kind, 8}, 64 * mib, parts, true);
      EXPECT_EQ(plan.kind, Kind::serial);
      EXPECT_EQ(plan.workers, 1U);
    }
  }
}

TEST(Plans, obey) {
  EXPECT_EQ(plan_of({Kind::serial, 1}, 64 * mib, 1000, false).kind, Kind::serial);
  EXPECT_EQ(plan_of({Kind::automatic, 1}, 64 * mib, 1000, false).kind, Kind::serial);
  EXPECT_EQ(plan_of({Kind::threads, 1}, 64 * mib, 1000, false).kind, Kind::serial);
  const Plan tiny = plan_of({Kind::threads, 5}, 32, 2, false);
  EXPECT_EQ(tiny.kind, Kind::threads);
  EXPECT_EQ(tiny.workers, 2U);
}

TEST(Plans, stream_what_no_cache_can_hold) {
  for (const Engine& engine : {automatic_of_8, Engine{Kind::serial, 1}, Engine{Kind::threads, 2}}) {
    EXPECT_EQ(plan_of(engine, 8 * mib, 1000, false).stores, aes::Stores::ordinary);
    EXPECT_EQ(plan_of(engine, 16 * mib + 1, 1000, false).stores, aes::Stores::streaming);
    EXPECT_EQ(plan_of(engine, 16 * mib + 1, 1000, true).stores, aes::Stores::ordinary);
  }
}

TEST(Plans, always_say_why) {
  for (const Kind kind : {Kind::automatic, Kind::serial, Kind::threads}) {
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
    const Environment& wish = environment();
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
  EXPECT_EQ(plan(64 * kib).row, &profile_->row[1]);
  EXPECT_TRUE(plan(64 * kib).by_row);
  EXPECT_EQ(plan(64 * kib).at_stake, 64 * kib);
  EXPECT_EQ(plan(mib).workers, 8U);
  EXPECT_EQ(plan(mib).stores, aes::Stores::streaming);
  // What none of the rows is about.
  EXPECT_EQ(plan(16 * kib - 1).row, nullptr);
  EXPECT_EQ(make_plan(automatic_of_8, {tune::Operation::chunks, 128, 96 * kib, 1000, false}).workers, 1U);
  EXPECT_EQ(make_plan(automatic_of_8, {tune::Operation::ctr, 0, 96 * kib, 1000, false}).workers, 1U);
}

TEST_F(KnownPlans, give_each_worker_its_share) {
  const auto workers = [](uint64_t bytes) {
    return make_plan(automatic_of_8, {tune::Operation::gcm, 256, bytes, 1000, false}).workers;
  };
  EXPECT_EQ(workers(32 * kib - 1), 1U);
  EXPECT_EQ(workers(64 * kib), 3U);
  EXPECT_EQ(workers(mib), 8U);
  // No number of shares is none.
  profile_->row[4].choice.share = 1;
  EXPECT_EQ(workers(UINT64_MAX), 8U);
}

// Jobs that experience says nothing about, such as reading a file without writing one.
TEST_F(KnownPlans, are_not_asked_for_without_a_size_of_key) {
  const Task reading{tune::Operation::gcm, 0, mib, 1000, true},
      writing{tune::Operation::gcm, 256, 32 * kib, 1000, true};
  EXPECT_EQ(make_plan(automatic_of_8, reading).row, nullptr);
  EXPECT_EQ(make_plan(automatic_of_8, reading).workers, 8U);
  EXPECT_EQ(make_plan(automatic_of_8, writing).workers, 2U);
}

TEST_F(KnownPlans, are_of_the_nearest_size_of_key) {
  EXPECT_EQ(make_plan(automatic_of_8, {tune::Operation::ctr, 256, 64 * kib, 1000, false}).workers, 2U);
  EXPECT_EQ(make_plan(automatic_of_8, {tune::Operation::gcm, 128, mib, 1000, false}).workers, 8U);
}

TEST_F(KnownPlans, stand_below_what_was_asked_for) {
  EXPECT_EQ(make_plan({Kind::serial, 1}, {tune::Operation::ctr, 128, mib, 1000, false}).kind, Kind::serial);
  EXPECT_EQ(make_plan({Kind::threads, 8}, {tune::Operation::ctr, 128, 64 * kib, 1000, false}).workers, 8U);
  EXPECT_EQ(make_plan({Kind::automatic, 1}, {tune::Operation::ctr, 128, mib, 1000, false}).workers, 1U);
  EXPECT_EQ(make_plan({Kind::automatic, 3}, {tune::Operation::ctr, 128, mib, 1000, false}).workers, 3U);
  EXPECT_EQ(make_plan(automatic_of_8, {tune::Operation::ctr, 128, mib, 1, false}).workers, 1U);
  EXPECT_EQ(make_plan(automatic_of_8, {tune::Operation::ctr, 128, mib, 1000, true}).stores, aes::Stores::ordinary);
}

TEST_F(KnownPlans, that_speak_of_stores_alone_leave_the_workers_as_usual) {
  const Plan plan = make_plan(automatic_of_8, {tune::Operation::xts, 128, 256 * kib, 1000, false});
  EXPECT_EQ(plan.stores, aes::Stores::streaming);
  EXPECT_EQ(plan.workers, 3U);
  EXPECT_FALSE(plan.by_row);
}

TEST_F(KnownPlans, of_operations_are_looked_up_by_their_number) {
  const auto plan = [](uint64_t count) {
    return make_plan(automatic_of_8, {tune::Operation::rsa_private, 2048, 100 * mib, count, true, count});
  };
  EXPECT_EQ(plan(3).workers, 1U);
  EXPECT_EQ(plan(4).workers, 3U);
}

// Counts how often each item is run, and that no worker runs two calls at once.
struct Tally {
  explicit Tally(uint64_t items, uint32_t workers) : runs(items), busy(workers) {}
  std::vector<std::atomic<uint32_t>> runs;
  std::vector<std::atomic<uint32_t>> busy;

  void run_all(const Plan& plan, uint64_t grain) {
    run(plan, runs.size(), grain, [&](uint64_t begin, uint64_t end, uint32_t worker) {
      ASSERT_LT(worker, busy.size());
      EXPECT_EQ(busy[worker].fetch_add(1), 0U);
      EXPECT_LT(begin, end);
      EXPECT_LE(end - begin, std::max<uint64_t>(grain, 1));
      ASSERT_LE(end, runs.size());
      for (uint64_t i = begin; i < end; ++i) runs[i].fetch_add(1, std::memory_order_relaxed);
      busy[worker].fetch_sub(1);
    });
    for (size_t i = 0; i < runs.size(); ++i) ASSERT_EQ(runs[i].load(), 1U) << i;
  }
};

TEST(Run, covers_every_item_once) {
  for (const uint32_t workers : {1, 2, 3, 7, 16}) {
    const Plan plan{workers == 1 ? Kind::serial : Kind::threads, workers, aes::Stores::ordinary, ""};
    for (const uint64_t items : {0, 1, 2, 3, 7, 16, 17, 1000, 1023}) {
      for (const uint64_t grain : {0, 1, 2, 3, 64, 5000}) {
        SCOPED_TRACE(std::to_string(workers) + " workers, " + std::to_string(items) + " items in runs of " +
                     std::to_string(grain));
        Tally(items, workers).run_all(plan, grain);
      }
    }
  }
}

TEST(Run, works_inside_another_team) {
  const Plan plan{Kind::threads, 4, aes::Stores::ordinary, ""};
  std::vector<std::unique_ptr<Tally>> tallies;
  for (int i = 0; i < 3; ++i) tallies.push_back(std::make_unique<Tally>(100, 4));
  run(plan, 3, 1, [&](uint64_t begin, uint64_t end, uint32_t) {
    for (uint64_t i = begin; i < end; ++i) tallies[i]->run_all(plan, 7);
  });
}

// A team that lost far more time than its work took is not tried again at once where nobody asked for it.
TEST(Run, rests_after_a_loss_unless_workers_were_asked_for) {
  const Plan optional{Kind::threads, 2, aes::Stores::ordinary, "", nullptr, 1};
  std::atomic<bool> joined{false};
  run(optional, 3, 1, [&](uint64_t, uint64_t, uint32_t worker) {
    if (worker == 0) {
      for (int i = 0; i < 5000 && !joined; ++i) usleep(1000);
    } else if (!joined.exchange(true)) {
      usleep(500'000);
    }
  });
  if (!joined) GTEST_SKIP() << "no second worker within five seconds";
  const pthread_t caller = pthread_self();
  uint64_t sum = 0;
  run(optional, 100, 1, [&](uint64_t begin, uint64_t, uint32_t) {
    EXPECT_TRUE(pthread_equal(pthread_self(), caller));
    sum += begin;
  });
  EXPECT_EQ(sum, 4950U);
  Plan forced = optional;
  forced.at_stake = 0;
  std::atomic<uint32_t> inside{0};
  bool met = false;
  run(forced, 2, 1, [&](uint64_t, uint64_t, uint32_t worker) {
    ++inside;
    for (int i = 0; i < 5000 && inside != 2; ++i) usleep(1000);
    if (worker == 0) met = inside == 2;
  });
  EXPECT_TRUE(met) << "no team was made";
}

// Losses that one cold cache explains count only where they come in a row.
TEST(Run, rests_after_several_small_losses) {
  const Plan optional{Kind::threads, 2, aes::Stores::ordinary, "", nullptr, 1};
  // One that the second worker makes last; whether it has come at all.
  const auto lose = [&optional] {
    std::atomic<bool> joined{false};
    run(optional, 3, 1, [&](uint64_t, uint64_t, uint32_t worker) {
      if (worker == 0) {
        for (int i = 0; i < 500 && !joined; ++i) usleep(100);
      } else if (!joined.exchange(true)) {
        usleep(300);
      }
    });
    return joined.load();
  };
  // Rests of tests before this one end, and with them their losses.
  usleep(250'000);
  uint32_t teams = 0, alone = 0;
  for (int i = 0; i < 60 && alone == 0; ++i) lose() ? ++teams : ++alone;
  EXPECT_GE(teams, 1U);
  EXPECT_EQ(alone, 1U) << "no rest after " << teams << " teams that lost";
}

// A team's threads are gone in a child; one that waited for them would never end.
TEST(Run, works_in_a_child_of_fork) {
  const Plan plan{Kind::threads, 2, aes::Stores::ordinary, ""};
  Tally(100, 2).run_all(plan, 1);
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    alarm(20);
    uint64_t sum = 0;
    run(plan, 100, 1, [&sum](uint64_t begin, uint64_t end, uint32_t) {
      for (uint64_t i = begin; i < end; ++i) sum += i;
    });
    _exit(sum == 4950 ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status)) << "signal " << WTERMSIG(status);
  EXPECT_EQ(WEXITSTATUS(status), 0);
  Tally(100, 2).run_all(plan, 1);  // the parent still has its team
}

}  // namespace
}  // namespace stockade::engine
