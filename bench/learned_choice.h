// What a tuning profile is worth: the choice that was best before, against choices made without it.
#pragma once

#include <cstddef>
#include <vector>

namespace stockade::bench {

struct LearnedChoice {
  size_t choice = 0;   // the index of the best
  double seconds = 0;  // that it took in the rounds in which nothing was learned, the median
  // How much faster it was in those rounds than the mean and than the slowest of all choices: 0.1 for a time that is 1.1 times
  // as long. Below 0 where the choice was made by noise.
  double gain_over_mean = 0, gain_over_worst = 0;
};

// `seconds[c][r]` is what choice c took in round r; all have as many rounds, at least two. Rounds with an even index are learned
// from, the others judge: the best of many times of one and the same round is too good by its luck.
LearnedChoice learn(const std::vector<std::vector<double>>& seconds);

}  // namespace stockade::bench
