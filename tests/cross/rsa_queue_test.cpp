// The queue for RSA requests as they come: every answer is right, nobody waits longer than promised, and nothing is
// forgotten at the end.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "cross/handles.h"
#include "cross/random_source.h"
#include "cross/rsa_sample.h"

namespace stockade::tests {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

struct QueueDeleter {
  void operator()(stockade_rsa_queue* queue) const { stockade_rsa_queue_free(queue); }
};
using Queue = std::unique_ptr<stockade_rsa_queue, QueueDeleter>;

Queue make_queue(uint32_t largest_batch, std::chrono::microseconds deadline, uint32_t threads,
                 const RsaCase& chosen = {STOCKADE_RSA_PKCS1V15}) {
  const Engine engine = make_engine("threads", threads);
  const stockade_rsa_queue_options options = {sizeof options, largest_batch, static_cast<uint32_t>(deadline.count()),
                                              chosen.options()};
  stockade_rsa_queue* made = nullptr;
  EXPECT_EQ(stockade_rsa_queue_create(&made, &options, engine.get()), STOCKADE_OK);
  return Queue(made);
}

stockade_rsa_queue_statistics statistics_of(const Queue& queue) {
  stockade_rsa_queue_statistics found = {};
  EXPECT_EQ(stockade_rsa_queue_statistics_get(queue.get(), &found), STOCKADE_OK);
  return found;
}

stockade_rsa_item item_for(const stockade_rsa_key* key, const Bytes& in, Bytes& out) {
  out.assign(stockade_rsa_key_bytes(key), 0xee);
  return {key, in.data(), in.size(), out.data(), out.size(), 0, nullptr, 0, STOCKADE_ERROR_STATE};
}

class RsaQueue : public testing::Test {
 protected:
  const RsaCase pkcs1_ = {STOCKADE_RSA_PKCS1V15};
  OracleRsaKey oracle_ = oracle_rsa_key(2048);
  RsaKey key_ = read_private(private_pem(oracle_));
};

TEST_F(RsaQueue, answers_eight_threads_rightly_whatever_its_shape) {
  RandomSource random;
  for (const uint32_t batch : {1U, 3U, 8U}) {
    for (const uint32_t workers : {1U, 2U}) {
      const Queue queue = make_queue(batch, 300us, workers);
      std::atomic<uint32_t> wrong{0};
      std::vector<std::thread> threads;
      for (uint32_t t = 0; t < 8; ++t) {
        threads.emplace_back([&, t] {
          for (uint32_t i = 0; i < 6; ++i) {
            const Bytes text(32, static_cast<uint8_t>(t * 8 + i));
            const bool signs = (t + i) % 2 == 0;
            const Bytes in = signs ? text : oracle_encrypt(oracle_, {}, text);
            Bytes out;
            stockade_rsa_item item = item_for(key_.get(), in, out);
            const auto function = signs ? stockade_rsa_queue_sign : stockade_rsa_queue_decrypt;
            bool right = function(queue.get(), &item) == STOCKADE_OK && item.status == STOCKADE_OK;
            out.resize(item.out_length);
            right = right && out == (signs ? oracle_sign(oracle_, pkcs1_, text) : text);
            if (!right) ++wrong;
          }
        });
      }
      for (std::thread& thread : threads) thread.join();
      EXPECT_EQ(wrong, 0U) << "batches of " << batch << " on " << workers;
      const stockade_rsa_queue_statistics found = statistics_of(queue);
      EXPECT_EQ(found.requests, 48U);
      EXPECT_LE(found.largest, batch);
      EXPECT_GE(found.batches * batch, 48U);
      EXPECT_GT(found.median_ns, 0U);
      EXPECT_GE(found.p99_ns, found.median_ns);
    }
  }
}

TEST_F(RsaQueue, does_a_lone_request_at_once) {
  const Queue queue = make_queue(64, 10s, 2);
  const Bytes digest(32, 7);
  Bytes out;
  for (int i = 0; i < 3; ++i) {
    stockade_rsa_item item = item_for(key_.get(), digest, out);
    const Clock::time_point begun = Clock::now();
    ASSERT_EQ(stockade_rsa_queue_sign(queue.get(), &item), STOCKADE_OK);
    EXPECT_LT(Clock::now() - begun, 5s);
    EXPECT_EQ(out, oracle_sign(oracle_, pkcs1_, digest));
  }
  EXPECT_EQ(statistics_of(queue).batches, 3U);
}

// What a callback is to find.
struct Expected {
  std::atomic<uint32_t>* done;
  std::atomic<uint32_t>* wrong;
  Bytes in, out;
  stockade_status status;
};

void check(void* context, stockade_rsa_item* item) {
  const auto& expected = *static_cast<const Expected*>(context);
  if (item->status != expected.status || item->in != expected.in.data()) ++*expected.wrong;
  ++*expected.done;
}

TEST_F(RsaQueue, ends_only_when_everything_that_was_submitted_is_done) {
  constexpr uint32_t count = 100;
  std::atomic<uint32_t> done{0}, wrong{0};
  std::vector<Expected> expected(count);
  std::vector<stockade_rsa_item> items;
  for (uint32_t i = 0; i < count; ++i) {
    // Every tenth is of no length that the hash gives.
    const bool good = i % 10 != 0;
    expected[i] = {&done,
                   &wrong,
                   Bytes(good ? 32 : 31, static_cast<uint8_t>(i)),
                   {},
                   good ? STOCKADE_OK : STOCKADE_ERROR_ARGUMENT};
  }
  for (Expected& one : expected) items.push_back(item_for(key_.get(), one.in, one.out));
  {
    const Queue queue = make_queue(64, 10s, 2);
    for (uint32_t i = 0; i < count; ++i) {
      ASSERT_EQ(stockade_rsa_queue_submit_sign(queue.get(), &items[i], check, &expected[i]), STOCKADE_OK);
    }
  }
  EXPECT_EQ(done, count);
  EXPECT_EQ(wrong, 0U);
  for (uint32_t i = 0; i < count; ++i) {
    if (i % 10 == 0) continue;
    EXPECT_EQ(expected[i].out, oracle_sign(oracle_, pkcs1_, expected[i].in));
  }
}

// Submits a request of its own once.
struct Chain {
  stockade_rsa_queue* queue;
  stockade_rsa_item* next;
  std::atomic<uint32_t> done{0};
};

TEST_F(RsaQueue, lets_a_callback_submit) {
  const Bytes digest(32, 1);
  Bytes out, next_out;
  stockade_rsa_item item = item_for(key_.get(), digest, out), next = item_for(key_.get(), digest, next_out);
  Queue queue = make_queue(8, 100us, 1);
  Chain chain = {queue.get(), &next};
  const stockade_rsa_done last = [](void* context, stockade_rsa_item*) { ++static_cast<Chain*>(context)->done; };
  static const stockade_rsa_done last_of_all = last;
  const stockade_rsa_done first = [](void* context, stockade_rsa_item*) {
    auto& own = *static_cast<Chain*>(context);
    ++own.done;
    EXPECT_EQ(stockade_rsa_queue_submit_sign(own.queue, own.next, last_of_all, context), STOCKADE_OK);
  };
  ASSERT_EQ(stockade_rsa_queue_submit_sign(queue.get(), &item, first, &chain), STOCKADE_OK);
  queue.reset();
  EXPECT_EQ(chain.done, 2U);
  EXPECT_EQ(out, next_out);
}

TEST_F(RsaQueue, keeps_a_copy_of_its_padding) {
  Queue queue;
  {
    std::string label = "a label that goes";
    queue = make_queue(4, 0us, 1, {STOCKADE_RSA_PSS, "sha256", nullptr, STOCKADE_RSA_SALT_DIGEST, 0, label});
    label.assign(label.size(), '?');
  }
  const RsaCase chosen = {STOCKADE_RSA_PSS, "sha256", nullptr, STOCKADE_RSA_SALT_DIGEST, 0, "a label that goes"};
  const Bytes message(20, 3), ciphertext = oracle_encrypt(oracle_, chosen, message);
  Bytes out;
  stockade_rsa_item item = item_for(key_.get(), ciphertext, out);
  ASSERT_EQ(stockade_rsa_queue_decrypt(queue.get(), &item), STOCKADE_OK);
  EXPECT_EQ(Bytes(out.begin(), out.begin() + static_cast<long>(item.out_length)), message);
}

TEST_F(RsaQueue, has_defaults_and_refuses_what_makes_no_sense) {
  stockade_rsa_queue* made = nullptr;
  ASSERT_EQ(stockade_rsa_queue_create(&made, nullptr, nullptr), STOCKADE_OK);
  const Queue queue(made);
  const Bytes digest(32, 9);
  Bytes out;
  stockade_rsa_item item = item_for(key_.get(), digest, out);
  ASSERT_EQ(stockade_rsa_queue_sign(made, &item), STOCKADE_OK);
  EXPECT_TRUE(oracle_verify(oracle_, {}, digest, out));
  const stockade_rsa_queue_options usual = {sizeof usual, 0, 0, {}};
  const auto status_of = [&](auto change) {
    stockade_rsa_queue_options options = usual;
    change(options);
    stockade_rsa_queue* none = nullptr;
    const stockade_status status = stockade_rsa_queue_create(&none, &options, nullptr);
    stockade_rsa_queue_free(none);
    return status;
  };
  EXPECT_EQ(status_of([](auto&) {}), STOCKADE_OK);
  EXPECT_EQ(status_of([](auto& options) { options.struct_size = 8; }), STOCKADE_ERROR_ARGUMENT);
  EXPECT_EQ(status_of([](auto& options) { options.largest_batch = 4097; }), STOCKADE_ERROR_ARGUMENT);
  EXPECT_EQ(status_of([](auto& options) { options.deadline_us = 10000001; }), STOCKADE_ERROR_ARGUMENT);
  EXPECT_EQ(status_of([](auto& options) { options.padding.hash = "md5"; }), STOCKADE_ERROR_ARGUMENT);
  EXPECT_EQ(status_of([](auto& options) {
              options.padding.struct_size = sizeof options.padding;
              options.padding.hash = "md5";
            }),
            STOCKADE_ERROR_UNKNOWN_NAME);
  EXPECT_EQ(stockade_rsa_queue_create(nullptr, nullptr, nullptr), STOCKADE_ERROR_NULL_POINTER);
  EXPECT_EQ(stockade_rsa_queue_sign(nullptr, &item), STOCKADE_ERROR_NULL_POINTER);
  EXPECT_EQ(stockade_rsa_queue_decrypt(made, nullptr), STOCKADE_ERROR_NULL_POINTER);
  EXPECT_EQ(stockade_rsa_queue_submit_sign(made, &item, nullptr, nullptr), STOCKADE_ERROR_NULL_POINTER);
  EXPECT_EQ(stockade_rsa_queue_submit_decrypt(made, nullptr, check, nullptr), STOCKADE_ERROR_NULL_POINTER);
  EXPECT_EQ(stockade_rsa_queue_statistics_get(made, nullptr), STOCKADE_ERROR_NULL_POINTER);
  stockade_rsa_queue_free(nullptr);
}

}  // namespace
}  // namespace stockade::tests
