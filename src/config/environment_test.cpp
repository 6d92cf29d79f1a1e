#include "config/environment.h"

#include <gtest/gtest.h>

#include <string>

#include "aes/aes_cuda.h"
#include "aes/aes_variants.h"
#include "bignum/bignum_variants.h"
#include "gcm/gcm_variants.h"

namespace stockade::config {
namespace {

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

}  // namespace
}  // namespace stockade::config
