// Teams: who takes part, that all who came are waited for, and that nobody else is.
#include "parallel/thread_pool.h"

#include <gtest/gtest.h>
#include <pthread.h>
#include <sched.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

namespace stockade::parallel {
namespace {

template <typename Callable>
void run_team_of(uint32_t workers, Callable&& callable) {
  run_on_pool(
      workers,
      [](void* context, uint32_t member) { (*static_cast<std::remove_reference_t<Callable>*>(context))(member); },
      &callable);
}

// Threads that a pinned caller starts are not pinned with it: they go where the first thread of the process may.
TEST(Team, goes_where_the_process_may) {
  cpu_set_t all, one;
  ASSERT_EQ(sched_getaffinity(0, sizeof all, &all), 0);
  if (CPU_COUNT(&all) < 2) GTEST_SKIP() << "one processor";
  int first = 0;
  while (!CPU_ISSET(first, &all)) ++first;
  CPU_ZERO(&one);
  CPU_SET(first, &one);
  std::thread([&] {
    ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
    // More than there are, so that some are started here.
    constexpr uint32_t many = 40;
    std::atomic<uint32_t> others{0}, elsewhere{0};
    run_team_of(many, [&](uint32_t member) {
      if (member != 0) {
        cpu_set_t mine;
        if (sched_getaffinity(0, sizeof mine, &mine) == 0 && !CPU_EQUAL(&mine, &all)) ++elsewhere;
        ++others;
      }
      for (int i = 0; i < 40'000 && others != many - 1; ++i) usleep(50);
    });
    EXPECT_EQ(others, many - 1);
    EXPECT_EQ(elsewhere, 0U);
  }).join();
}

TEST(Team, gives_each_who_comes_a_number_of_its_own) {
  for (const uint32_t workers : {1U, 2U, 3U, 8U, 65U, 130U, 2000U}) {
    for (int repeat = 0; repeat < 50; ++repeat) {
      std::vector<std::atomic<uint32_t>> came(workers);
      const pthread_t caller = pthread_self();
      run_team_of(workers, [&](uint32_t member) {
        ASSERT_LT(member, workers);
        came[member].fetch_add(1);
        EXPECT_EQ(pthread_equal(pthread_self(), caller) != 0, member == 0);
      });
      EXPECT_EQ(came[0], 1U);
      for (const auto& times : came) EXPECT_LE(times, 1U);
    }
  }
}

TEST(Team, comes_together) {
  for (int repeat = 0; repeat < 20; ++repeat) {
    std::atomic<uint32_t> inside{0};
    run_team_of(3, [&](uint32_t) {
      ++inside;
      for (int i = 0; i < 100'000 && inside != 3; ++i) usleep(50);
    });
    EXPECT_EQ(inside, 3U);
    // Awake, just asleep, and asleep for long.
    usleep(repeat % 4 == 0 ? 20'000 : repeat % 4 == 1 ? 250 : 0);
  }
}

TEST(Team, is_waited_for) {
  for (const useconds_t longer : {0U, 100U, 5'000U}) {
    for (int repeat = 0; repeat < 20; ++repeat) {
      std::atomic<bool> joined{false};
      std::atomic<uint32_t> inside{0};
      run_team_of(2, [&](uint32_t member) {
        ++inside;
        if (member == 0) {
          for (int i = 0; i < 100'000 && !joined; ++i) usleep(50);
        } else {
          joined = true;
          usleep(longer);
        }
        --inside;
      });
      EXPECT_TRUE(joined);
      EXPECT_EQ(inside, 0U);
    }
  }
}

// A hundred threads need longer to come than this takes, and nobody waits for those.
TEST(Team, is_not_waited_for_before_it_comes) {
  run_team_of(100, [](uint32_t) { usleep(1000); });
  usleep(20'000);
  uint64_t parts = 0;
  constexpr int calls = 200;
  for (int i = 0; i < calls; ++i) {
    std::atomic<uint64_t> came{0};
    run_team_of(100, [&came](uint32_t) { ++came; });
    parts += came;
  }
  EXPECT_LT(parts, uint64_t{calls} * 100);
}

TEST(Team, within_a_team_is_its_member_alone) {
  std::atomic<uint32_t> outer{0}, inner{0};
  run_team_of(4, [&](uint32_t) {
    ++outer;
    const pthread_t self = pthread_self();
    run_team_of(4, [&](uint32_t member) {
      EXPECT_EQ(member, 0U);
      EXPECT_TRUE(pthread_equal(pthread_self(), self));
      ++inner;
    });
    usleep(200);
  });
  EXPECT_EQ(inner, outer);
  // And the caller has one again.
  std::atomic<uint32_t> inside{0};
  run_team_of(2, [&](uint32_t) {
    ++inside;
    for (int i = 0; i < 100'000 && inside != 2; ++i) usleep(50);
  });
  EXPECT_EQ(inside, 2U);
}

TEST(Team, serves_many_callers_at_once) {
  std::vector<std::thread> callers;
  std::atomic<uint64_t> sum{0};
  for (int caller = 0; caller < 6; ++caller) {
    callers.emplace_back([&sum] {
      for (int call = 0; call < 500; ++call) {
        std::atomic<uint32_t> next{0};
        std::vector<uint32_t> done(64);
        run_team_of(5, [&](uint32_t) {
          for (uint32_t i = next.fetch_add(1); i < done.size(); i = next.fetch_add(1)) ++done[i];
        });
        for (const uint32_t times : done) sum += times;
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(sum, 6U * 500U * 64U);
}

TEST(Team, needs_no_core_when_it_has_nothing_to_do) {
  run_team_of(8, [](uint32_t) { usleep(2000); });
  usleep(50'000);
  const auto processor_time = [] {
    timespec time{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_nsec) * 1e-6;
  };
  const double before = processor_time();
  usleep(300'000);
  EXPECT_LT(processor_time() - before, 30);
}

// A signal of the program's goes to a thread of the program's, but a fault is the thread's own.
TEST(Team, takes_no_signals) {
  std::atomic<uint32_t> blocked{0}, others{0};
  run_team_of(3, [&](uint32_t member) {
    if (member != 0) {
      sigset_t mask;
      pthread_sigmask(SIG_SETMASK, nullptr, &mask);
      if (sigismember(&mask, SIGINT) == 1 && sigismember(&mask, SIGUSR1) == 1 && sigismember(&mask, SIGSEGV) == 0)
        ++blocked;
      ++others;
    }
    for (int i = 0; i < 100'000 && others != 2; ++i) usleep(50);
  });
  EXPECT_EQ(others, 2U);
  EXPECT_EQ(blocked, 2U);
}

}  // namespace
}  // namespace stockade::parallel
