// How far two medians may be apart by chance.
//
// A run keeps of each measurement the median, the fastest and the slowest of n rounds. For n normal values the expected
// range is d2(n) standard deviations, so the logarithm of slowest/fastest divided by d2(n) estimates the relative
// deviation of one round, and 1.2533/sqrt(n) of that is the standard error of a median. The difference of two medians, as
// a logarithm, is then judged with Student's t: the degrees of freedom of a deviation that comes from a range are close
// to 0.9 (n - 1) up to ten rounds (a little less is taken), and two of them are joined as Welch and Satterthwaite do.
//
// Outliers are slow ones mostly. They widen the range, and so the bound: a disturbed run hides a change rather than
// inventing one.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>

namespace stockade::bench {

// The median of some rounds, in any unit, with the least and the greatest of them. `low` 0: not known.
struct Spread {
  double median = 0, low = 0, high = 0;
  uint64_t rounds = 0;
};

// d2: the expected range of `count` standard normal values, 0 for one.
double expected_range(uint64_t count);

// The probability that Student's t with so many degrees of freedom is above a value >= 0.
double student_tail(double value, double freedom);

// The value that Student's t exceeds with this probability, which is below one half.
double student_quantile(double probability, double freedom);

// Remembers what it has computed: the comparisons of one pair of runs ask for the same few values again and again.
class Noise {
 public:
  // How far apart the logarithms of two medians are by chance, but for this probability to one side. Nothing where one
  // of them has no spread to judge by.
  std::optional<double> bound(const Spread& a, const Spread& b, double probability);

 private:
  // Of the logarithm of a median; nothing where the rounds do not tell.
  std::optional<double> standard_error(const Spread& spread);

  std::map<uint64_t, double> ranges_;
  std::map<std::pair<double, double>, double> quantiles_;
};

}  // namespace stockade::bench
