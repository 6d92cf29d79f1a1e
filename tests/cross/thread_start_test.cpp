// Threads that cannot be started: the work is done by those that there are.
#include <gtest/gtest.h>
#include <unistd.h>

#include "cross/failing_calls.h"
#include "cross/handles.h"
#include "cross/random_source.h"

namespace stockade::tests {
namespace {

TEST(ThreadStart, is_done_without_where_it_fails) {
  RandomSource random;
  const Bytes plain = random.bytes(uint64_t{4} << 20), secret = random.bytes(16), iv = random.bytes(16);
  const Key key = make_key(STOCKADE_CTR, secret);
  const auto encrypt = [&](const stockade_engine* engine) {
    Bytes out(plain.size());
    EXPECT_EQ(stockade_encrypt(key.get(), iv.data(), iv.size(), plain.data(), plain.size(), out.data(), engine),
              STOCKADE_OK);
    return out;
  };
  const Bytes expected = encrypt(make_engine("serial", 1).get());
  {
    // None at first; then, after it has been tried again, some.
    const FailingCalls failing(Failing::thread, 0);
    EXPECT_EQ(encrypt(make_engine("threads", 600).get()), expected);
    const uint64_t refused = failing.refused();
    EXPECT_GE(refused, 1U);
    // It is not tried at every call.
    EXPECT_EQ(encrypt(make_engine("threads", 600).get()), expected);
    EXPECT_EQ(failing.refused(), refused);
  }
  usleep(1'100'000);
  const FailingCalls failing(Failing::thread, 2);
  EXPECT_EQ(encrypt(make_engine("threads", 600).get()), expected);
  EXPECT_GE(failing.refused(), 1U);
}

}  // namespace
}  // namespace stockade::tests
