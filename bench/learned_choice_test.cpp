#include "learned_choice.h"

#include <gtest/gtest.h>

#include <random>
#include <stdexcept>

namespace stockade::bench {
namespace {

TEST(LearnedChoice, gains_are_over_the_mean_and_the_worst) {
  // Means of 2, 3 and 4 seconds: the best is 1.5 times as fast as the mean of all, and twice as fast as the worst.
  const LearnedChoice found = learn({{4, 4, 4, 4}, {2, 2, 2, 2}, {3, 3, 3, 3}});
  EXPECT_EQ(found.choice, 1U);
  EXPECT_DOUBLE_EQ(found.seconds, 2);
  EXPECT_DOUBLE_EQ(found.gain_over_mean, 0.5);
  EXPECT_DOUBLE_EQ(found.gain_over_worst, 1);
}

TEST(LearnedChoice, is_made_in_one_half_and_judged_in_the_other) {
  // The first looks best in the rounds that are learned from, and is the worst in those that judge.
  const LearnedChoice found = learn({{1, 8, 1, 8}, {2, 2, 2, 2}, {2, 5, 2, 5}});
  EXPECT_EQ(found.choice, 0U);
  EXPECT_DOUBLE_EQ(found.seconds, 8);
  EXPECT_DOUBLE_EQ(found.gain_over_mean, 5.0 / 8 - 1);
  EXPECT_DOUBLE_EQ(found.gain_over_worst, 0);
}

TEST(LearnedChoice, medians_pass_over_a_slow_round) {
  const LearnedChoice found = learn({{1, 1, 90, 90, 1, 1}, {2, 2, 2, 2, 2, 2}});
  EXPECT_EQ(found.choice, 0U);
  EXPECT_DOUBLE_EQ(found.gain_over_worst, 1);
}

TEST(LearnedChoice, noise_gains_nothing_on_average) {
  std::mt19937_64 random(7);
  std::normal_distribution<double> noise(1, 0.05);
  double sum = 0;
  constexpr int runs = 400;
  for (int run = 0; run < runs; ++run) {
    std::vector<std::vector<double>> seconds(31, std::vector<double>(8));
    for (auto& rounds : seconds) {
      for (double& value : rounds) value = noise(random);
    }
    sum += learn(seconds).gain_over_mean;
  }
  // The best of 31 medians of four lies two deviations of such a median below the mean: 5 % if it were judged by itself.
  EXPECT_LT(sum / runs, 0.01);
  EXPECT_GT(sum / runs, -0.01);
}

TEST(LearnedChoice, wants_rounds_to_judge_in) {
  EXPECT_THROW(learn({}), std::invalid_argument);
  EXPECT_THROW(learn({{1}}), std::invalid_argument);
  EXPECT_THROW(learn({{1, 2}, {1, 2, 3}}), std::invalid_argument);
}

}  // namespace
}  // namespace stockade::bench
