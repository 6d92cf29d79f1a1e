// Does the time of an operation depend on which of two classes its input belongs to? Measured as in O. Reparaz,
// J. Balasch and I. Verbauwhede, "Dude, is my code constant time?" (DATE 2017): each sample draws its class at random, and
// Welch's t-test compares the two sets of durations, once as they are, once for each of several thresholds above which
// samples are dropped (interrupts and other programs add long tails), and once for the squared distance from the mean.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

namespace stockade::timing {

// A t beyond this, in either direction, counts as a leak.
inline constexpr double t_limit = 4.5;

// Welch's t of two sets of numbers, whose means and variances are updated with each number (Welford's method).
class WelchTest {
 public:
  void add(uint32_t which, double value);
  // 0 where there are too few numbers for a verdict.
  double t() const;
  double difference() const { return classes_[0].mean - classes_[1].mean; }

 private:
  struct Moments {
    double count = 0, mean = 0, squares = 0;
  };
  Moments classes_[2];
};

struct Operation {
  // Makes the input of class 0 or 1. Both classes must be made by the same instructions and in the same memory; `pick`
  // below does that. Not measured.
  std::function<void(uint32_t which)> prepare;
  // Measured.
  std::function<void()> run;
};

struct Result {
  uint64_t samples = 0;
  double largest_t = 0;      // the one of greatest magnitude, with its sign
  double difference = 0;     // of the means of what the largest t compares, class 0 less class 1, in cycles
  double median_cycles = 0;  // of the time stamp counter, both classes together
  // As largest_t, by the class of the sample before. Code leaves no trace of a class in the time of the next sample, whose class
  // was drawn anew; a clock that follows the power which data take does.
  double carried_t = 0;
  bool leaks() const { return largest_t > t_limit || largest_t < -t_limit; }
};

Result measure(const Operation& operation, uint64_t samples, uint64_t seed);

// Pseudo-random numbers (xorshift64*) for classes and inputs.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed | 1) {}
  uint64_t next();
  void fill(void* out, uint64_t bytes);

 private:
  uint64_t state_;
};

// out = which == 0 ? first : second, by a mask: both inputs are read and the same instructions run for either class.
void pick(uint32_t which, const void* first, const void* second, void* out, uint64_t bytes);

// A named comparison of two classes on one implementation row.
struct Case {
  const char* name;
  const char* row;
  // What the two classes are.
  const char* classes;
  Operation operation;
  // False where nobody can choose between the classes: measured for the table in docs/side_channels.md, no failure.
  bool decides = true;
};
std::vector<Case> bignum_cases();
std::vector<Case> rsa_cases();
std::vector<Case> gcm_cases();

}  // namespace stockade::timing
