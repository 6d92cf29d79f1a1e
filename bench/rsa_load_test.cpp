// The clients of the benchmark of RSA's queue: they count what there is to count and see every wrong signature; and
// OpenSSL's pool gives right ones.
#include "rsa_load.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <thread>

#include "rsa_pool.h"

namespace stockade::bench {
namespace {

using namespace std::chrono_literals;

const RsaMaterial& material() {
  static const RsaMaterial made(2048, 8, std::array{RsaOperation::sign});
  return made;
}

// Knows the signatures, and takes its time; gives every so-manyth a wrong one.
class KnowingSigner : public Signer {
 public:
  explicit KnowingSigner(std::chrono::microseconds time, uint64_t wrong_each = 0)
      : time_(time), wrong_each_(wrong_each) {}
  void sign(std::span<const uint8_t> digest, std::span<uint8_t> signature) override {
    std::this_thread::sleep_for(time_);
    for (uint64_t i = 0; i < material().count; ++i) {
      if (std::ranges::equal(material().digest(i), digest))
        std::ranges::copy(material().signature(i), signature.begin());
    }
    if (++requests_ % std::max<uint64_t>(wrong_each_, 1) == 0 && wrong_each_ != 0) signature.back() ^= 1;
  }
  void submit(Request& request) override {
    sign(request.digest, request.signature);
    request.done(request);
  }
  Counts counts() const override { return {requests_, requests_}; }

 private:
  std::chrono::microseconds time_;
  uint64_t wrong_each_;
  std::atomic<uint64_t> requests_{0};
};

TEST(RsaLoad, quantile_is_the_smallest_value_with_that_share_below_or_at_it) {
  EXPECT_EQ(quantile({}, 0.5), 0);
  EXPECT_EQ(quantile({7}, 0.5), 7);
  EXPECT_EQ(quantile({3, 1, 2}, 0.5), 2);
  EXPECT_EQ(quantile({4, 3, 2, 1}, 0.5), 2);
  EXPECT_EQ(quantile({4, 3, 2, 1}, 0), 1);
  EXPECT_EQ(quantile({4, 3, 2, 1}, 1), 4);
  std::vector<double> hundred(100);
  for (size_t i = 0; i < hundred.size(); ++i) hundred[i] = static_cast<double>(100 - i);
  EXPECT_EQ(quantile(hundred, 0.99), 99);
  EXPECT_EQ(quantile(hundred, 0.991), 100);
}

TEST(RsaLoad, clients_count_what_ends_in_the_time_that_counts) {
  KnowingSigner signer(2ms);
  const LoadResult result = closed_loop(signer, material(), 3, {60ms, 100ms});
  EXPECT_EQ(result.wrong, 0U);
  ASSERT_FALSE(result.latencies.empty());
  // Those of the beginning are not among them, and nobody can be quicker than the signer.
  EXPECT_LT(result.latencies.size(), signer.counts().requests);
  EXPECT_GE(*std::min_element(result.latencies.begin(), result.latencies.end()), 0.002);
  EXPECT_LE(result.latencies.size(), 3U * 51);
  EXPECT_DOUBLE_EQ(result.per_second, static_cast<double>(result.latencies.size()) / 0.1);
}

TEST(RsaLoad, clients_see_every_wrong_signature) {
  KnowingSigner signer(1ms, 4);
  const LoadResult result = closed_loop(signer, material(), 2, {0ms, 50ms});
  EXPECT_EQ(result.wrong, signer.counts().requests / 4);
  EXPECT_NE(result.wrong, 0U);
}

TEST(RsaLoad, arrivals_are_as_many_as_asked_for_and_the_same_for_a_seed) {
  KnowingSigner one(0us), same(0us), other(0us), wrong(0us, 5);
  const Turn turn{10ms, 200ms};
  const LoadResult result = open_loop(one, material(), 2000, turn, 1);
  EXPECT_EQ(result.wrong, 0U);
  // 420 on average; the deviation of a Poisson process is its root.
  EXPECT_NEAR(static_cast<double>(one.counts().requests), 420, 6 * 20.5);
  open_loop(same, material(), 2000, turn, 1);
  EXPECT_EQ(same.counts().requests, one.counts().requests);
  const uint64_t seen = open_loop(wrong, material(), 2000, turn, 1).wrong;
  EXPECT_EQ(seen, wrong.counts().requests / 5);
}

TEST(RsaLoad, a_late_answer_to_one_delays_those_that_were_due_meanwhile) {
  // It answers one at a time and needs five times as long as there is, so they pile up, and the last waited longest.
  KnowingSigner signer(1ms);
  const LoadResult result = open_loop(signer, material(), 5000, {0ms, 40ms}, 2);
  ASSERT_FALSE(result.latencies.empty());
  EXPECT_GT(*std::max_element(result.latencies.begin(), result.latencies.end()), 0.015);
}

TEST(RsaLoad, the_pool_of_openssl_signs_rightly) {
  PeerPool pool(material().peer, 2);
  EXPECT_EQ(closed_loop(pool, material(), 5, {0ms, 50ms}).wrong, 0U);
  const uint64_t before = pool.counts().requests;
  EXPECT_NE(before, 0U);
  EXPECT_EQ(open_loop(pool, material(), 500, {0ms, 50ms}, 3).wrong, 0U);
  EXPECT_GT(pool.counts().requests, before);
}

}  // namespace
}  // namespace stockade::bench
