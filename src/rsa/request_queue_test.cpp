// The queue that batches requests: when it computes what, that everything is done once, and what it tells of itself.
#include "rsa/request_queue.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <set>

namespace stockade::rsa {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;
using Limits = RequestQueue::Limits;

struct Item : Request {
  std::atomic<uint32_t> computed{0}, called{0};
};

// Notes what is computed, and holds batches up while its gate is shut.
class Recorder {
 public:
  struct Batch {
    uint64_t count;
    bool alone;
    Clock::time_point begun;
  };

  static void run(void* context, Request* const* batch, uint64_t count, bool alone) {
    auto& own = *static_cast<Recorder*>(context);
    std::unique_lock lock(own.mutex_);
    own.batches_.push_back({count, alone, Clock::now()});
    own.begun_.notify_all();
    own.opened_.wait(lock, [&] { return own.open_; });
    for (uint64_t i = 0; i < count; ++i) ++static_cast<Item*>(batch[i])->computed;
  }
  void shut() {
    const std::unique_lock lock(mutex_);
    open_ = false;
  }
  void open() {
    const std::unique_lock lock(mutex_);
    open_ = true;
    opened_.notify_all();
  }
  // Once so many batches have begun.
  std::vector<Batch> wait_for(uint64_t batches) {
    std::unique_lock lock(mutex_);
    EXPECT_TRUE(begun_.wait_for(lock, 20s, [&] { return batches_.size() >= batches; }));
    return batches_;
  }
  uint64_t batches() {
    const std::unique_lock lock(mutex_);
    return batches_.size();
  }

 private:
  std::mutex mutex_;
  std::condition_variable begun_, opened_;
  bool open_ = true;
  std::vector<Batch> batches_;
};

void count_call(Request& request) { ++static_cast<Item&>(request).called; }

std::vector<std::unique_ptr<Item>> requests(uint32_t count) {
  std::vector<std::unique_ptr<Item>> made;
  for (uint32_t i = 0; i < count; ++i) {
    made.push_back(std::make_unique<Item>());
    made.back()->done = count_call;
  }
  return made;
}

class RequestQueueTest : public testing::Test {
 protected:
  void start(const Limits& limits) { ASSERT_EQ(queue_->start(limits, Recorder::run, &recorder_), STOCKADE_OK); }

  Recorder recorder_;
  std::unique_ptr<RequestQueue> queue_ = std::make_unique<RequestQueue>();
};

TEST_F(RequestQueueTest, a_lone_one_is_computed_at_once) {
  start({100, 60s, 2});
  for (uint32_t i = 1; i <= 3; ++i) {
    Item request;
    queue_->submit_and_wait(request);
    EXPECT_EQ(request.computed, 1U);
    EXPECT_EQ(recorder_.batches(), i);
  }
  EXPECT_TRUE(recorder_.wait_for(3).back().alone);
}

TEST_F(RequestQueueTest, gather_while_the_only_worker_is_busy_and_go_together) {
  start({100, 0us, 1});
  auto made = requests(10);
  recorder_.shut();
  queue_->submit(*made[0]);
  recorder_.wait_for(1);
  for (uint32_t i = 1; i < 10; ++i) queue_->submit(*made[i]);
  recorder_.open();
  queue_.reset();
  const auto batches = recorder_.wait_for(2);
  ASSERT_EQ(batches.size(), 2U);
  EXPECT_EQ(batches[1].count, 9U);
}

TEST_F(RequestQueueTest, are_shared_by_workers_with_nothing_to_do) {
  start({100, 0us, 4});
  auto made = requests(4);
  recorder_.shut();
  for (uint32_t i = 0; i < 4; ++i) {
    queue_->submit(*made[i]);
    // While there are others to take the next, each worker has begun with what there was.
    EXPECT_EQ(recorder_.wait_for(i + 1)[i].count, 1U);
  }
  recorder_.open();
  queue_.reset();
}

TEST_F(RequestQueueTest, go_when_a_batch_is_full) {
  start({4, 60s, 2});
  auto made = requests(5);
  recorder_.shut();
  queue_->submit(*made[0]);
  recorder_.wait_for(1);
  for (uint32_t i = 1; i < 4; ++i) queue_->submit(*made[i]);
  std::this_thread::sleep_for(20ms);
  EXPECT_EQ(recorder_.batches(), 1U);
  queue_->submit(*made[4]);
  const auto batches = recorder_.wait_for(2);
  EXPECT_EQ(batches[1].count, 4U);
  EXPECT_FALSE(batches[1].alone);
  recorder_.open();
  queue_.reset();
}

TEST_F(RequestQueueTest, go_at_the_deadline_of_the_oldest) {
  constexpr auto deadline = 100ms;
  start({4, deadline, 2});
  auto made = requests(3);
  recorder_.shut();
  queue_->submit(*made[0]);
  recorder_.wait_for(1);
  const Clock::time_point submitted = Clock::now();
  queue_->submit(*made[1]);
  std::this_thread::sleep_for(20ms);
  queue_->submit(*made[2]);
  const auto batches = recorder_.wait_for(2);
  EXPECT_EQ(batches[1].count, 2U);
  EXPECT_GE(batches[1].begun - submitted, deadline);
  // A busy machine may be late, but not by this much.
  EXPECT_LT(batches[1].begun - submitted, deadline + 5s);
  recorder_.open();
  queue_.reset();
}

TEST_F(RequestQueueTest, go_when_nothing_else_is_being_computed_any_more) {
  start({4, 60s, 2});
  auto made = requests(3);
  recorder_.shut();
  queue_->submit(*made[0]);
  recorder_.wait_for(1);
  queue_->submit(*made[1]);
  queue_->submit(*made[2]);
  recorder_.open();
  const auto batches = recorder_.wait_for(2);
  EXPECT_EQ(batches[1].count, 2U);
  EXPECT_TRUE(batches[1].alone);
  queue_.reset();
}

TEST_F(RequestQueueTest, are_all_done_before_the_queue_ends) {
  start({7, 60s, 3});
  auto made = requests(1000);
  for (const auto& request : made) queue_->submit(*request);
  queue_.reset();
  for (const auto& request : made) {
    ASSERT_EQ(request->computed, 1U);
    ASSERT_EQ(request->called, 1U);
  }
}

TEST_F(RequestQueueTest, of_many_threads_are_each_computed_once) {
  start({8, 50us, 3});
  std::atomic<uint32_t> wrong{0};
  std::vector<std::thread> threads;
  for (uint32_t t = 0; t < 8; ++t) {
    threads.emplace_back([&] {
      for (uint32_t i = 0; i < 500; ++i) {
        Item request;
        queue_->submit_and_wait(request);
        if (request.computed != 1) ++wrong;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0U);
  const RequestQueue::Statistics found = queue_->statistics();
  EXPECT_EQ(found.requests, 4000U);
  EXPECT_EQ(found.batches, recorder_.batches());
  EXPECT_LE(found.largest_batch, 8U);
}

TEST_F(RequestQueueTest, are_counted_and_timed) {
  start({8, 0us, 1});
  const RequestQueue::Statistics none = queue_->statistics();
  EXPECT_EQ(none.requests, 0U);
  EXPECT_EQ(none.p99.count(), 0);
  recorder_.shut();
  Item slow;
  slow.done = count_call;
  queue_->submit(slow);
  recorder_.wait_for(1);
  std::this_thread::sleep_for(30ms);
  recorder_.open();
  for (uint32_t i = 0; i < 20; ++i) {
    Item quick;
    queue_->submit_and_wait(quick);
  }
  const RequestQueue::Statistics found = queue_->statistics();
  EXPECT_EQ(found.requests, 21U);
  EXPECT_LT(found.median, 30ms);
  EXPECT_GE(found.p99, found.median);
  EXPECT_LE(found.batches, 21U);
  // More than are kept.
  for (uint64_t i = 0; i < RequestQueue::latencies_kept; ++i) {
    Item quick;
    queue_->submit_and_wait(quick);
  }
  EXPECT_EQ(queue_->statistics().requests, 21U + RequestQueue::latencies_kept);
}

}  // namespace
}  // namespace stockade::rsa
