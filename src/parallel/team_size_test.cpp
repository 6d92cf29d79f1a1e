// How many workers work is given, where that is learned: on machines whose speed is given by a formula.
#include "parallel/team_size.h"

#include <gtest/gtest.h>
#include <pthread.h>
#include <time.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <string>

#include "tune/profile_in_force.h"

namespace stockade::parallel {
namespace {

constexpr int64_t microsecond = 1'000, millisecond = 1'000'000, second = 1'000'000'000;

// A machine on which nothing takes time but calls and the pauses between them.
struct Machine {
  TeamSize size;
  int64_t time = 0;
  int64_t busy = 0;  // of that, what calls took
  uint32_t least = UINT32_MAX, most = 0;
  std::function<int64_t(uint32_t workers)> duration;
  bool sees_alone = true;
  bool steady = true;  // calls between rounds are all alike, and need not be made one by one
  int64_t calls = 0;

  Machine(uint32_t known, uint32_t most_workers, std::function<int64_t(uint32_t)> duration_)
      : size(known, most_workers, 0, duration_(known)), duration(std::move(duration_)) {}

  void call(int64_t pause = 0) {
    const uint32_t workers = size.workers();
    least = std::min(least, workers);
    most = std::max(most, workers);
    const int64_t took = duration(workers);
    size.note({workers, time, time + took, sees_alone ? duration(1) : 0, 1000});
    time += took + pause;
    busy += took;
    ++calls;
    if (!steady || size.deaf_until() <= time) return;
    const int64_t each = duration(size.workers()), more = (size.deaf_until() - time) / (each + pause);
    time += more * (each + pause);
    busy += more * each;
    calls += more;
  }
  void run_until(int64_t end, int64_t pause = 0) {
    while (time < end) call(pause);
  }
  // Whom it has between trials.
  uint32_t settled() {
    for (int i = 0; i < 100'000 && size.on_trial(); ++i) call();
    return size.workers();
  }
};

// What so many need that begin together in `start` and divide `work`.
std::function<int64_t(uint32_t)> divided(int64_t work, int64_t start) {
  return [=](uint32_t workers) { return work / workers + start * (workers - 1); };
}

uint32_t best_of(const std::function<int64_t(uint32_t)>& duration, uint32_t most) {
  uint32_t best = most;
  for (uint32_t workers = 1; workers < most; workers *= 2) {
    if (duration(workers) < duration(best)) best = workers;
  }
  return best;
}

TEST(TeamSize, is_what_is_known_until_something_else_is_quicker_by_far) {
  for (const uint32_t known : {1U, 2U, 5U, 8U, 12U}) {
    Machine machine(known, 12, [known](uint32_t workers) { return workers == known ? 10'000 : 9'700; });
    machine.run_until(second);
    EXPECT_EQ(machine.settled(), known);
  }
}

TEST(TeamSize, becomes_the_quickest_one_wherever_it_begins) {
  for (const int64_t work : {20, 60, 200, 1'000, 10'000}) {
    const auto duration = divided(work * microsecond, 700);
    for (const uint32_t most : {2U, 3U, 12U, 16U, 64U}) {
      for (uint32_t known = 1; known <= most; known = known * 3 / 2 + 1) {
        SCOPED_TRACE(std::to_string(work) + " us by " + std::to_string(known) + " of " + std::to_string(most));
        Machine machine(known, most, duration);
        machine.run_until(60 * second);
        const int64_t found = duration(machine.settled());
        // Its neighbours are not quicker by more than what is worth a change.
        for (const uint32_t other : {machine.settled() / 2, std::min(2 * machine.settled(), most)}) {
          if (other == 0) continue;
          EXPECT_LT(static_cast<double>(found), static_cast<double>(duration(other)) / 0.95 + 1);
        }
        EXPECT_GE(machine.least, 1U);
        EXPECT_LE(machine.most, most);
      }
    }
  }
}

// Half as many take twice as long, twice as many too: the worst that a trial can be as a rule.
TEST(TeamSize, costs_little_where_experience_is_right) {
  for (const int64_t call : {3, 10, 100, 1'000}) {
    for (const int64_t pause : {0, 50, 1'000}) {
      Machine machine(8, 16, [call](uint32_t workers) { return (workers == 8 ? call : 2 * call) * microsecond; });
      machine.run_until(5 * second, pause * microsecond);
      EXPECT_LT(static_cast<double>(machine.busy), 1.025 * static_cast<double>(machine.calls * call * microsecond))
          << call << " us with pauses of " << pause;
      EXPECT_EQ(machine.settled(), 8U);
    }
  }
}

TEST(TeamSize, is_found_within_some_milliseconds) {
  // 4 workers where 8 would be quicker by a third, in calls of 9 us.
  Machine machine(4, 16, [](uint32_t workers) { return workers == 8 ? 6'000 : 9'000; });
  machine.run_until(4 * millisecond);
  EXPECT_EQ(machine.settled(), 8U);
}

TEST(TeamSize, follows_a_machine_that_changes) {
  const auto here = divided(60 * microsecond, 700), there = divided(60 * microsecond, 9'000);
  Machine machine(8, 16, here);
  for (int i = 0; i < 6; ++i) {
    machine.duration = i % 2 == 0 ? here : there;
    machine.run_until(machine.time + second);
    EXPECT_EQ(machine.settled(), best_of(machine.duration, 16)) << i;
  }
}

// Two are no quicker than four, but one is.
TEST(TeamSize, may_be_one_where_the_next_smaller_one_is_no_better) {
  Machine machine(4, 16, [](uint32_t workers) { return workers == 1 ? 3'600 : workers == 2 ? 4'800 : 4'500; });
  machine.run_until(10 * millisecond);
  EXPECT_EQ(machine.settled(), 1U);
}

// What the calling thread would need is known well enough to leave out trials that would cost more than they could bring.
TEST(TeamSize, is_not_one_in_trials_that_would_take_long) {
  Machine machine(8, 16, divided(500 * microsecond, 1'000));
  machine.run_until(second);
  EXPECT_EQ(machine.least, 4U);
}

// What happens to single calls is nobody's merit.
TEST(TeamSize, is_not_changed_by_mishaps) {
  uint64_t number = 0;
  Machine machine(8, 16, [&number](uint32_t) {
    number = number * 6364136223846793005 + 1442695040888963407;
    return (number >> 33) % 5 == 0 ? 80'000 : 8'000 + static_cast<int64_t>((number >> 40) % 200);
  });
  machine.steady = false;
  machine.run_until(3 * second);
  EXPECT_EQ(machine.settled(), 8U);
}

// Workers that were asleep take 150 us until they are there.
TEST(TeamSize, waits_for_workers_that_were_asleep) {
  struct {
    uint32_t awake = 4;
    int64_t woken = 0;
  } team;
  Machine machine(4, 8, [](uint32_t) { return 9'000; });
  machine.duration = [&](uint32_t workers) {
    if (workers > team.awake) team.woken = machine.time + 150 * microsecond;
    team.awake = workers;
    return workers == 8 && machine.time >= team.woken ? 5'000 : 9'000;
  };
  machine.sees_alone = false;
  machine.run_until(20 * millisecond);
  EXPECT_EQ(machine.settled(), 8U);
}

TEST(TeamSize, counts_no_calls_by_others) {
  TeamSize size(4, 8, 0, 10);
  for (int64_t i = 0; i < 100'000; ++i) size.note({8, i * microsecond, i * microsecond + 10, 10, 1});
  EXPECT_EQ(size.workers(), 4U);
  EXPECT_FALSE(size.on_trial());
}

// A process that was stopped, or had nothing to do, begins again instead of drawing conclusions.
TEST(TeamSize, does_not_wait_for_what_a_long_pause_took) {
  Machine machine(4, 16, [](uint32_t workers) { return workers == 8 ? 6'000 : 9'000; });
  machine.run_until(1'200 * microsecond);
  ASSERT_TRUE(machine.size.on_trial());
  machine.time += 8 * 3600 * second;
  machine.run_until(machine.time + 10 * millisecond);
  EXPECT_EQ(machine.settled(), 8U);
}

// Calls of two lengths that differ four times, in any order.
TEST(TeamSize, is_not_changed_by_calls_that_are_not_alike) {
  uint64_t number = 1;
  uint32_t changes = 0;
  Machine machine(8, 16, [&number](uint32_t workers) {
    number = number * 6364136223846793005 + 1442695040888963407;
    return (number >> 40 & 1 ? 40'000 : 10'000) * (workers == 8 ? 10 : 13) / 10;
  });
  machine.steady = false;
  uint32_t before = 8;
  while (machine.time < 20 * second) {
    machine.call();
    changes += !machine.size.on_trial() && machine.size.workers() != before;
    if (!machine.size.on_trial()) before = machine.size.workers();
  }
  EXPECT_LT(static_cast<double>(machine.busy), 1.03 * 25'000 * static_cast<double>(machine.calls))
      << changes << " changes";
}

// ---- plans ----

constexpr config::EngineChoice automatic{config::Kind::automatic, 4};

// Work that nothing has been learned of yet.
Task new_task() {
  static uint32_t bits = 256;
  bits += 64;
  return {tune::Operation::ctr, bits, uint64_t{3} << 20, 1000, false};
}

TEST(TeamSizes, are_learned_by_automatic_engines_while_they_work) {
  const Task task = new_task();
  const Plan first = make_plan(automatic, task);
  if (first.lesson.known != 4) GTEST_SKIP() << "experience has " << first.workers << " workers here";
  EXPECT_EQ(first.workers, 4U);
  EXPECT_FALSE(first.lesson.on_trial);
  Plan plan = first;
  // Four are slow, two are not, and one is quicker still. A machine that is busy may have the team rest for most of the time.
  const time_t end = time(nullptr) + 60;
  while ((plan.workers != 1 || plan.lesson.on_trial) && time(nullptr) < end) {
    parallel_for(plan, 1, 1, [&](uint64_t, uint64_t, uint32_t) {
      const timespec time = {0, 200'000 * static_cast<long>(plan.workers)};
      nanosleep(&time, nullptr);
    });
    plan = make_plan(automatic, task);
    EXPECT_EQ(plan.workers, plan.lesson.workers);
    EXPECT_LE(plan.workers, 4U);
  }
  EXPECT_EQ(plan.workers, 1U);
  EXPECT_EQ(plan.kind, config::Kind::serial);
  EXPECT_STREQ(plan.why, "have been quickest so of late");
  EXPECT_FALSE(plan.by_entry);
  const pthread_t caller = pthread_self();
  parallel_for(plan, 100, 1, [&](uint64_t, uint64_t, uint32_t) { EXPECT_TRUE(pthread_equal(pthread_self(), caller)); });
  // Other work is another thing.
  const auto untouched = [](const Task& other) {
    const Plan found = make_plan(automatic, other);
    return found.lesson.kind == 0 || found.workers == found.lesson.known;
  };
  Task other = task;
  other.operation = tune::Operation::ecb;
  EXPECT_TRUE(untouched(other));
  other = task;
  other.bytes *= 2;
  EXPECT_TRUE(untouched(other));
  other = task;
  other.way = 1;
  EXPECT_TRUE(untouched(other));
  EXPECT_EQ(make_plan(automatic, task).workers, 1U);
}

TEST(TeamSizes, are_not_learned_where_somebody_has_decided) {
  const Task task = new_task();
  EXPECT_EQ(make_plan({config::Kind::threads, 4}, task).lesson.kind, 0U);
  EXPECT_EQ(make_plan({config::Kind::serial, 1}, task).lesson.kind, 0U);
  EXPECT_EQ(make_plan({config::Kind::automatic, 1}, task).lesson.kind, 0U);
  const tune::ScopedProfile none(nullptr);
  const Plan plan = make_plan(automatic, task);
  EXPECT_EQ(plan.workers, 4U);
  EXPECT_EQ(plan.lesson.kind, 0U);
}

TEST(TeamSizes, are_not_learned_where_there_are_no_teams) {
  const Task task = new_task();
  std::atomic<uint32_t> lessons{0};
  parallel_for({config::Kind::threads, 2, aes::Stores::ordinary, ""}, 2, 1,
               [&](uint64_t, uint64_t, uint32_t) { lessons += make_plan(automatic, task).lesson.kind != 0; });
  EXPECT_EQ(lessons, 0U);
}

TEST(TeamSizes, are_not_learned_of_files_and_what_is_longer_than_any_trial_should_be) {
  const Task task = new_task();
  Task other = task;
  other.operation = tune::Operation::files;
  EXPECT_EQ(make_plan(automatic, other).lesson.kind, 0U);
  other = task;
  other.bytes = uint64_t{1} << 30;
  EXPECT_EQ(make_plan(automatic, other).lesson.kind, 0U);
}

}  // namespace
}  // namespace stockade::parallel
