#include "bench/mpi_model.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

namespace stockade::bench {
namespace {

// Samples that follow the formula of the header, written out here once more.
std::vector<MpiSample> samples_of(MpiSteps steps, const MpiCosts& costs, double machines_of_rank) {
  std::vector<MpiSample> samples;
  for (const uint32_t ranks : {1u, 2u, 4u, 8u}) {
    for (const double bytes : {65536.0, 1e6, 1e8}) {
      const double machines = std::max(1.0, ranks * machines_of_rank);
      const double s = steps == MpiSteps::tree ? std::log2(ranks) : ranks - 1.0;
      const double seconds = costs.base + costs.step * s + bytes / ranks * costs.own + bytes / machines * costs.shared;
      samples.push_back({.ranks = ranks, .bytes = bytes, .machines = machines, .seconds = seconds});
    }
  }
  return samples;
}

void expect_near(double expected, double found) { EXPECT_NEAR(expected, found, 1e-6 * expected + 1e-18); }

TEST(MpiModel, FindsTheCostsThatSamplesFollow) {
  const unsigned seed = std::random_device()();
  SCOPED_TRACE(seed);
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> factor(0.5, 2);
  for (const MpiSteps steps : {MpiSteps::tree, MpiSteps::star}) {
    for (int i = 0; i < 100; ++i) {
      const MpiCosts costs = {2e-5 * factor(random), 1e-5 * factor(random), 3e-10 * factor(random),
                              5e-11 * factor(random)};
      const MpiModel model = fit(steps, samples_of(steps, costs, i % 2 == 0 ? 0 : 0.5));
      expect_near(costs.base, model.costs.base);
      expect_near(costs.step, model.costs.step);
      expect_near(costs.own, model.costs.own);
      expect_near(costs.shared, model.costs.shared);
      EXPECT_LT(model.worst_error, 1e-6);
      EXPECT_EQ(model.samples, 12u);
      const double predicted = costs.base + costs.step * (steps == MpiSteps::tree ? 10 : 1023) +
                               1e12 / 1024 * costs.own + 1e12 / 16 * costs.shared;
      expect_near(predicted, model.seconds(1024, 1e12, 16));
    }
  }
}

TEST(MpiModel, HasNoCostBelowZero) {
  const unsigned seed = std::random_device()();
  SCOPED_TRACE(seed);
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> noise(0.7, 1.3);
  for (int i = 0; i < 200; ++i) {
    // Without a shared cost the noise alone would make it negative half of the time.
    std::vector<MpiSample> samples = samples_of(MpiSteps::tree, {1e-5, 0, 3e-10, 0}, 0);
    for (MpiSample& sample : samples) sample.seconds *= noise(random);
    const MpiModel model = fit(MpiSteps::tree, samples);
    for (const double cost : {model.costs.base, model.costs.step, model.costs.own, model.costs.shared}) {
      EXPECT_GE(cost, 0);
    }
    EXPECT_GT(model.worst_error, 0);
    EXPECT_GE(model.worst_error, model.mean_error);
    EXPECT_LT(model.mean_error, 0.3);
  }
}

TEST(MpiModel, SaysNothingOfWhatWasNotSeen) {
  EXPECT_EQ(fit(MpiSteps::tree, {}).samples, 0u);
  EXPECT_EQ(fit(MpiSteps::tree, {{.ranks = 1, .bytes = 1, .machines = 1, .seconds = 1}}).costs.base, 0);
  // Of one rank alone nobody can tell what is shared; the time is still right.
  std::vector<MpiSample> samples;
  for (const double bytes : {1e4, 1e6, 1e8}) {
    samples.push_back({.ranks = 1, .bytes = bytes, .machines = 1, .seconds = 1e-5 + bytes * 4e-10});
  }
  const MpiModel model = fit(MpiSteps::tree, samples);
  EXPECT_LT(model.worst_error, 1e-6);
  EXPECT_EQ(model.costs.step, 0);
  expect_near(4e-10, model.costs.own + model.costs.shared);
}

}  // namespace
}  // namespace stockade::bench
