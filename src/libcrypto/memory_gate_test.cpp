#include "libcrypto/memory_gate.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "cross/random_source.h"

namespace stockade::libcrypto {
namespace {

// Long enough for a thread that may go on to have done so.
constexpr std::chrono::milliseconds a_while{50};
constexpr uint64_t kib = 1024;

class Visitor {
 public:
  Visitor(MemoryGate& gate, uint64_t bytes)
      : thread_([this, &gate, bytes] {
          gate.enter(bytes);
          inside_ = true;
        }) {}
  ~Visitor() { thread_.join(); }
  bool inside() const { return inside_; }
  void await() const {
    while (!inside_) std::this_thread::yield();
  }

 private:
  std::atomic<bool> inside_ = false;
  std::thread thread_;
};

TEST(MemoryGate, never_lets_more_in_than_the_budget) {
  MemoryGate gate(100 * kib);
  std::atomic<uint64_t> used = 0, most = 0;
  const uint64_t visits = tests::scaled(2000);
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 6; ++thread) {
    threads.emplace_back([&, thread] {
      tests::RandomSource random("visitor " + std::to_string(thread));
      for (uint64_t i = 0; i < visits; ++i) {
        const uint64_t bytes = kib * random.between(1, 100);
        gate.enter(bytes);
        const uint64_t now = used += bytes;
        for (uint64_t seen = most; seen < now && !most.compare_exchange_weak(seen, now);) {
        }
        std::this_thread::yield();
        used -= bytes;
        gate.leave(bytes);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_LE(most, 100 * kib);
  EXPECT_GT(most, 0U);
}

TEST(MemoryGate, lets_a_demand_over_the_budget_in_alone) {
  MemoryGate gate(100 * kib);
  gate.enter(1);
  {
    Visitor large(gate, UINT64_MAX / 2);
    std::this_thread::sleep_for(a_while);
    EXPECT_FALSE(large.inside());
    gate.leave(1);
    large.await();
  }
  {
    Visitor small(gate, 1);
    std::this_thread::sleep_for(a_while);
    EXPECT_FALSE(small.inside());
    gate.leave(UINT64_MAX / 2);
    small.await();
  }
  gate.leave(1);
}

// The thread that is within at the moment of a fork() does not leave in the child.
TEST(MemoryGate, is_empty_in_a_child) {
  MemoryGate gate(100 * kib);
  gate.enter(100 * kib);
  const pid_t child = fork();
  if (child == 0) {
    alarm(10);
    gate.enter(60 * kib);
    gate.enter(40 * kib);
    gate.leave(60 * kib);
    gate.enter(50 * kib);
    _exit(0);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  gate.leave(100 * kib);
  gate.enter(1);
  gate.leave(1);
}

}  // namespace
}  // namespace stockade::libcrypto
