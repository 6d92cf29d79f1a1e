#include "learned_choice.h"

#include <algorithm>
#include <numeric>
#include <stdexcept>

#include "runner.h"

namespace stockade::bench {
namespace {

// The median of every second round from `first` on.
double half_median(const std::vector<double>& rounds, size_t first) {
  std::vector<double> half;
  for (size_t round = first; round < rounds.size(); round += 2) half.push_back(rounds[round]);
  return median(half);
}

}  // namespace

LearnedChoice learn(const std::vector<std::vector<double>>& seconds) {
  std::vector<double> learned, judged;
  for (const std::vector<double>& rounds : seconds) {
    if (rounds.size() < 2 || rounds.size() != seconds[0].size()) throw std::invalid_argument("choices without rounds");
    learned.push_back(half_median(rounds, 0));
    judged.push_back(half_median(rounds, 1));
  }
  if (learned.empty()) throw std::invalid_argument("no choices");
  LearnedChoice found;
  found.choice = static_cast<size_t>(std::min_element(learned.begin(), learned.end()) - learned.begin());
  found.seconds = judged[found.choice];
  const double mean = std::accumulate(judged.begin(), judged.end(), 0.0) / static_cast<double>(judged.size());
  found.gain_over_mean = mean / found.seconds - 1;
  found.gain_over_worst = *std::max_element(judged.begin(), judged.end()) / found.seconds - 1;
  return found;
}

}  // namespace stockade::bench
