// The first call of a process, in which the library looks at the machine and the environment, while memory is short: a
// status, no exception, and no lasting harm. A program of its own, for what was looked at once is kept.
#include <gtest/gtest.h>

#include "cross/failing_memory.h"
#include "stockade/stockade.h"

namespace stockade::tests {
namespace {

constexpr uint8_t key_bytes[16] = {};

stockade_status make_key() {
  stockade_key* key = nullptr;
  const stockade_status status = stockade_key_create(&key, STOCKADE_CTR, key_bytes, sizeof key_bytes, nullptr);
  stockade_key_free(key);
  return status;
}

stockade_status make_engine() {
  stockade_engine* engine = nullptr;
  const stockade_status status = stockade_engine_create(&engine, nullptr, 0);
  stockade_engine_free(engine);
  return status;
}

stockade_status list_rows() {
  stockade_row row;
  return stockade_row_get(0, &row);
}

stockade_status describe_machine() {
  stockade_machine machine;
  return stockade_machine_get(&machine);
}

stockade_status list_features() {
  stockade_feature feature;
  return stockade_feature_get(0, &feature);
}

using Call = stockade_status (*)();
struct NamedCall {
  const char* name;
  Call call;
};
constexpr NamedCall calls[] = {{"stockade_engine_create", make_engine},
                               {"stockade_row_get", list_rows},
                               {"stockade_machine_get", describe_machine},
                               {"stockade_feature_get", list_features},
                               {"stockade_key_create", make_key}};

// What a call does with so much memory: its status, or -1 for an exception, which a C caller could not survive.
int outcome(Call call, uint64_t successes) {
  const FailingMemory memory(successes);
  try {
    return call();
  } catch (...) {
    return -1;
  }
}

TEST(FirstCall, survives_a_lack_of_memory) {
  for (uint64_t successes = 0; successes < 40; ++successes) {
    for (const auto& [name, call] : calls) {
      const int status = outcome(call, successes);
      EXPECT_TRUE(status == STOCKADE_OK || status == STOCKADE_ERROR_MEMORY)
          << name << " after " << successes << " allocations: " << status;
    }
  }
  for (const auto& [name, call] : calls) EXPECT_EQ(call(), STOCKADE_OK) << name;
}

}  // namespace
}  // namespace stockade::tests

// Not that of the other programs, which begins with a call of the library.
int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
