#include "noise.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace stockade::bench {
namespace {

// Beyond ten rounds the range of normal values says little more than with ten.
constexpr uint64_t useful_rounds = 10;

double normal_share_below(double value) { return std::erfc(-value / std::numbers::sqrt2) / 2; }

double student_density(double value, double freedom) {
  const double log_scale =
      std::lgamma((freedom + 1) / 2) - std::lgamma(freedom / 2) - std::log(freedom * std::numbers::pi) / 2;
  return std::exp(log_scale - (freedom + 1) / 2 * std::log1p(value * value / freedom));
}

double freedom_of(uint64_t rounds) { return 0.85 * static_cast<double>(std::min(rounds, useful_rounds) - 1); }

}  // namespace

double expected_range(uint64_t count) {
  // The integral of 1 - F^n - (1 - F)^n from -8 to 8, by the trapezoidal rule.
  constexpr int steps = 1600;
  constexpr double width = 16.0 / steps;
  const auto n = static_cast<double>(count);
  double total = 0;
  for (int i = 1; i < steps; ++i) {
    const double below = normal_share_below(-8 + i * width);
    total += 1 - std::pow(below, n) - std::pow(1 - below, n);
  }
  return total * width;
}

double student_tail(double value, double freedom) {
  // With x = sqrt(freedom) tan(a) the whole tail becomes a finite interval of a.
  constexpr int steps = 400;
  const double root = std::sqrt(freedom);
  const double start = std::atan(value / root);
  const double width = (std::numbers::pi / 2 - start) / steps;
  double total = 0;
  for (int i = 0; i < steps; ++i) {
    const double angle = start + (i + 0.5) * width;
    const double cosine = std::cos(angle);
    total += student_density(root * std::tan(angle), freedom) * root / (cosine * cosine);
  }
  return total * width;
}

double student_quantile(double probability, double freedom) {
  double low = 0, high = 1;
  while (student_tail(high, freedom) > probability) high *= 2;
  // Each step halves what is left; a double has no more digits than that.
  for (int i = 0; i < 60; ++i) {
    const double middle = (low + high) / 2;
    (student_tail(middle, freedom) > probability ? low : high) = middle;
  }
  return high;
}

std::optional<double> Noise::standard_error(const Spread& spread) {
  if (spread.rounds < 2 || spread.low <= 0) return std::nullopt;
  const auto [range, absent] = ranges_.try_emplace(spread.rounds);
  if (absent) range->second = expected_range(spread.rounds);
  // Of the median over that of the mean, for many normal values.
  const double median_factor = std::sqrt(std::numbers::pi / 2);
  return median_factor * std::log(spread.high / spread.low) / range->second /
         std::sqrt(static_cast<double>(spread.rounds));
}

std::optional<double> Noise::bound(const Spread& a, const Spread& b, double probability) {
  const std::optional<double> first = standard_error(a), second = standard_error(b);
  if (!first || !second) return std::nullopt;
  const double together = std::hypot(*first, *second);
  if (together == 0) return 0;
  const double parts = std::pow(*first, 4) / freedom_of(a.rounds) + std::pow(*second, 4) / freedom_of(b.rounds);
  // To one decimal, so that few values are asked for.
  const double freedom = std::max(1.0, std::round(std::pow(together, 4) / parts * 10) / 10);
  const auto [quantile, absent] = quantiles_.try_emplace({probability, freedom});
  if (absent) quantile->second = student_quantile(probability, freedom);
  return quantile->second * together;
}

}  // namespace stockade::bench
