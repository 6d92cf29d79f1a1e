#include "offload/make_engine.h"

#include <gtest/gtest.h>

namespace stockade::offload {
namespace {

TEST(Engines, are_made_by_name_and_number) {
  config::EngineChoice made{};
  ASSERT_EQ(make_engine("serial", 7, made), STOCKADE_OK);
  EXPECT_EQ(made.kind, config::Kind::serial);
  EXPECT_EQ(made.threads, 1U);
  ASSERT_EQ(make_engine("threads", 7, made), STOCKADE_OK);
  EXPECT_EQ(made.kind, config::Kind::threads);
  EXPECT_EQ(made.threads, 7U);
  ASSERT_EQ(make_engine("auto", 4096, made), STOCKADE_OK);
  EXPECT_EQ(made.kind, config::Kind::automatic);
  EXPECT_EQ(made.threads, 4096U);
  EXPECT_EQ(make_engine("auto", 4097, made), STOCKADE_ERROR_ARGUMENT);
  EXPECT_EQ(make_engine("", 1, made), STOCKADE_ERROR_UNKNOWN_NAME);
  EXPECT_EQ(make_engine("gpu", 1, made), STOCKADE_ERROR_UNKNOWN_NAME);
}

}  // namespace
}  // namespace stockade::offload
