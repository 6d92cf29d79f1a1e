// Tuning for GPUs, on an emulated one: every subject is measured to its end, and what is found can be a row of a profile.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "gpu/runtime_emulated.h"
#include "offload/backend.h"
#include "tune.h"
#include "tune/profile_in_force.h"
#include "tune_profile.h"

namespace stockade::bench {
namespace {

constexpr uint64_t kib = 1024;

class TuningOfGpus : public testing::Test {
 protected:
  TuningOfGpus() {
    settings_.threads = 2;
    settings_.devices = {0};
    settings_.largest_on_gpu = settings_.largest_for_gpu = 4 * kib;
    settings_.schedule.rounds = 1;
    settings_.schedule.sample_seconds = 0;
    settings_.schedule.limit_seconds = 5;
    backend_.pinned = backend_.staged = {2, 64 * kib};
    backend_.hybrid_stages = true;
    backend_.least_run = 16 * kib;
    backend_.slot_bytes = 16 * kib;
    backend_.hybrid_from = kib;
  }

  std::vector<TuneOutcome> tune() {
    const offload::ScopedBackend scope(backend_);
    std::vector<TuneOutcome> found;
    run_tune(
        settings_, {}, [](const TuneProgress&) {}, [&found](const TuneOutcome& outcome) { found.push_back(outcome); });
    return found;
  }

  TuneSettings settings_;

  gpu::EmulatedRuntime runtime_{{gpu::EmulatedDevice{}}};
  offload::Backend backend_{&runtime_, &aes::gpu_kernels_emulated, &gcm::gpu_kernels_emulated};
};

// Points between those of the grid are measured wherever luck puts them, so each has to be one that every mode can do.
TEST_F(TuningOfGpus, measures_shapes_of_every_operation_at_whole_blocks) {
  using tune::Operation;
  for (const Operation operation : {Operation::gpu_ecb, Operation::gpu_cbc, Operation::gpu_cfb, Operation::gpu_ctr,
                                    Operation::gpu_xts, Operation::gpu_gcm}) {
    settings_.operations = {operation};
    settings_.by_name = true;
    // Two of them go on to what lies between the grid's points.
    settings_.seconds = operation == Operation::gpu_ecb || operation == Operation::gpu_xts ? 20 : 0.1;
    const std::vector<TuneOutcome> found = tune();
    ASSERT_GE(found.size(), 2U) << name_of(operation);
    for (const TuneOutcome& outcome : found) {
      EXPECT_EQ(outcome.point.length % 16, 0U) << text_of(outcome.point);
      EXPECT_GT(outcome.score, 0) << text_of(outcome.point);
      EXPECT_GE(outcome.best.threads, 64) << text_of(outcome.point);
      EXPECT_GE(outcome.candidates, 28U) << text_of(outcome.point);
    }
  }
}

TEST_F(TuningOfGpus, measures_how_host_data_comes_to_them) {
  settings_.operations = {tune::Operation::gpu_pinned, tune::Operation::gpu_staged};
  const std::vector<TuneOutcome> found = tune();
  ASSERT_GE(found.size(), 2U);
  for (const TuneOutcome& outcome : found) {
    EXPECT_GT(outcome.score, 0) << text_of(outcome.point);
    EXPECT_NE(outcome.best.lanes, 0) << "whoever asks for GPUs has their best ring: " << text_of(outcome.point);
  }
}

TEST_F(TuningOfGpus, is_checked) {
  settings_.operations = {tune::Operation::gpu_ctr};
  settings_.largest_on_gpu = 16 * kib;
  const offload::ScopedBackend scope(backend_);
  const tune::ScopedProfile none(nullptr);
  uint64_t points = 0;
  check_tune(
      settings_, [](const TuneProgress&) {},
      [&points](const TuneCheck& check) {
        ++points;
        EXPECT_GT(check.automatic, 0) << text_of(check.point);
        EXPECT_GT(check.best_score, 0) << text_of(check.point);
      });
  EXPECT_GT(points, 0U);
}

}  // namespace
}  // namespace stockade::bench
