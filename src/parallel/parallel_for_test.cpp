#include "parallel/parallel_for.h"

#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace stockade::parallel {
namespace {

// Counts how often each item is run, and that no worker runs two calls at once.
struct Tally {
  explicit Tally(uint64_t items, uint32_t workers) : runs(items), busy(workers) {}
  std::vector<std::atomic<uint32_t>> runs;
  std::vector<std::atomic<uint32_t>> busy;

  void run_all(const Plan& plan, uint64_t grain) {
    parallel_for(plan, runs.size(), grain, [&](uint64_t begin, uint64_t end, uint32_t worker) {
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
    const Plan plan{workers == 1 ? config::Kind::serial : config::Kind::threads, workers, aes::Stores::ordinary, ""};
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
  const Plan plan{config::Kind::threads, 4, aes::Stores::ordinary, ""};
  std::vector<std::unique_ptr<Tally>> tallies;
  for (int i = 0; i < 3; ++i) tallies.push_back(std::make_unique<Tally>(100, 4));
  parallel_for(plan, 3, 1, [&](uint64_t begin, uint64_t end, uint32_t) {
    for (uint64_t i = begin; i < end; ++i) tallies[i]->run_all(plan, 7);
  });
}

// A team that lost far more time than its work took is not tried again at once unless it was asked for.
TEST(Run, rests_after_a_loss_unless_workers_were_asked_for) {
  const Plan optional{config::Kind::threads, 2, aes::Stores::ordinary, "", nullptr, 1};
  std::atomic<bool> joined{false};
  parallel_for(optional, 3, 1, [&](uint64_t, uint64_t, uint32_t worker) {
    if (worker == 0) {
      for (int i = 0; i < 5000 && !joined; ++i) usleep(1000);
    } else if (!joined.exchange(true)) {
      usleep(500'000);
    }
  });
  if (!joined) GTEST_SKIP() << "no second worker within five seconds";
  const pthread_t caller = pthread_self();
  uint64_t sum = 0;
  parallel_for(optional, 100, 1, [&](uint64_t begin, uint64_t, uint32_t) {
    EXPECT_TRUE(pthread_equal(pthread_self(), caller));
    sum += begin;
  });
  EXPECT_EQ(sum, 4950U);
  Plan forced = optional;
  forced.at_stake = 0;
  std::atomic<uint32_t> inside{0};
  bool met = false;
  parallel_for(forced, 2, 1, [&](uint64_t, uint64_t, uint32_t worker) {
    ++inside;
    for (int i = 0; i < 5000 && inside != 2; ++i) usleep(1000);
    if (worker == 0) met = inside == 2;
  });
  EXPECT_TRUE(met) << "no team was made";
}

// Losses that one cold cache explains count only where they come in a row.
TEST(Run, rests_after_several_small_losses) {
  const Plan optional{config::Kind::threads, 2, aes::Stores::ordinary, "", nullptr, 1};
  // One that the second worker makes last; whether it has come at all.
  const auto lose = [&optional] {
    std::atomic<bool> joined{false};
    parallel_for(optional, 3, 1, [&](uint64_t, uint64_t, uint32_t worker) {
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
  const Plan plan{config::Kind::threads, 2, aes::Stores::ordinary, ""};
  Tally(100, 2).run_all(plan, 1);
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    alarm(20);
    uint64_t sum = 0;
    parallel_for(plan, 100, 1, [&sum](uint64_t begin, uint64_t end, uint32_t) {
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
}  // namespace stockade::parallel
