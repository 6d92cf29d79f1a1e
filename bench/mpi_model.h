// What many ranks would take, from what few have taken: a sum of terms, each a cost that was measured times how often
// it falls due, fitted to the points of a run.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace stockade::bench {

// seconds = base + step * s(ranks) + bytes / ranks * own + bytes / machines * shared s(ranks) is log2(ranks) where
// ranks agree with one another, as along a tree, and ranks - 1 where one serves all others.
struct MpiCosts {
  double base = 0;    // seconds of a run by one rank without data
  double step = 0;    // seconds for each further step of s(ranks)
  double own = 0;     // seconds for a byte that a rank works on by itself
  double shared = 0;  // seconds for a byte that passes what ranks share: a memory, rank 0's connection, a file system
};

enum class MpiSteps { tree, star };

struct MpiSample {
  uint32_t ranks = 1;
  double bytes = 0;
  double machines = 1;  // 1 as well where all machines share what is shared
  double seconds = 0;
};

struct MpiModel {
  MpiSteps steps = MpiSteps::tree;
  MpiCosts costs;
  // Of the samples that it was fitted to, relative to what was measured.
  double mean_error = 0, worst_error = 0;
  size_t samples = 0;

  double seconds(double ranks, double bytes, double machines) const;
};

// Least squares of the relative errors, with no cost below 0: of all sets of costs that may be other than 0, the one
// that fits best. Of fewer than two samples nothing is known, and all costs are 0.
MpiModel fit(MpiSteps steps, const std::vector<MpiSample>& samples);

}  // namespace stockade::bench
