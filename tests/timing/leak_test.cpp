#include "timing/leak_test.h"

#include <x86intrin.h>

#include <algorithm>
#include <cmath>
#include <cstring>

namespace stockade::timing {
namespace {

constexpr uint64_t least_count = 200;  // numbers in a class, below which t says nothing
constexpr size_t thresholds = 30;

// Later loads and stores wait for the first reading, and the second reading waits for what was measured.
uint64_t before() {
  _mm_mfence();
  _mm_lfence();
  const uint64_t time = __rdtsc();
  _mm_lfence();
  return time;
}

uint64_t after() {
  unsigned processor;
  const uint64_t time = __rdtscp(&processor);
  _mm_lfence();
  return time;
}

double one_sample(const Operation& operation, uint32_t which) {
  operation.prepare(which);
  const uint64_t begin = before();
  operation.run();
  return static_cast<double>(after() - begin);
}

}  // namespace

void WelchTest::add(uint32_t which, double value) {
  Moments& moments = classes_[which];
  moments.count += 1;
  const double distance = value - moments.mean;
  moments.mean += distance / moments.count;
  moments.squares += distance * (value - moments.mean);
}

double WelchTest::t() const {
  const auto& [a, b] = classes_;
  if (a.count < least_count || b.count < least_count) return 0;
  const double variance = a.squares / (a.count - 1) / a.count + b.squares / (b.count - 1) / b.count;
  return variance > 0 ? (a.mean - b.mean) / std::sqrt(variance) : 0;
}

Result measure(const Operation& operation, uint64_t samples, uint64_t seed) {
  Random random(seed);
  const auto draw = [&random] { return static_cast<uint32_t>(random.next() >> 63); };
  // These warm caches and predictors, say where thresholds lie, and are not tested themselves.
  std::vector<double> first(std::clamp<uint64_t>(samples / 100, 1000, 10000));
  for (double& time : first) time = one_sample(operation, draw());
  std::sort(first.begin(), first.end());
  // More of them where the distribution is dense: the k-th keeps 1 - 2^(-10 (k + 1) / thresholds) of all samples.
  std::vector<double> limits(thresholds);
  for (size_t k = 0; k < thresholds; ++k) {
    const double kept = 1 - std::pow(0.5, 10.0 * static_cast<double>(k + 1) / thresholds);
    limits[k] = first[static_cast<size_t>(kept * static_cast<double>(first.size() - 1))];
  }
  const double median = first[first.size() / 2];

  WelchTest all, spread;
  std::vector<WelchTest> cropped(thresholds), carried(thresholds);
  uint32_t which = draw();
  for (uint64_t i = 0; i < samples; ++i) {
    const uint32_t former = which;
    which = draw();
    const double time = one_sample(operation, which);
    all.add(which, time);
    // Of samples without the long tail, whose fourth powers would drown everything.
    if (time < limits[thresholds - 1]) spread.add(which, (time - median) * (time - median));
    for (size_t k = 0; k < thresholds; ++k) {
      if (time >= limits[k]) continue;
      cropped[k].add(which, time);
      carried[k].add(former, time);
    }
  }
  Result result{samples, 0, all.difference(), median, 0};
  const auto consider = [&result](const WelchTest& test) {
    if (std::abs(test.t()) <= std::abs(result.largest_t)) return;
    result.largest_t = test.t();
    result.difference = test.difference();
  };
  consider(all);
  for (const WelchTest& test : cropped) consider(test);
  // Its means are of squares, so it says nothing about the difference.
  if (std::abs(spread.t()) > std::abs(result.largest_t)) result.largest_t = spread.t();
  for (const WelchTest& test : carried) {
    if (std::abs(test.t()) > std::abs(result.carried_t)) result.carried_t = test.t();
  }
  return result;
}

uint64_t Random::next() {
  state_ ^= state_ >> 12;
  state_ ^= state_ << 25;
  state_ ^= state_ >> 27;
  return state_ * 0x2545F4914F6CDD1D;
}

void Random::fill(void* out, uint64_t bytes) {
  for (uint64_t done = 0; done < bytes; done += 8) {
    const uint64_t word = next();
    std::memcpy(static_cast<uint8_t*>(out) + done, &word, std::min<uint64_t>(8, bytes - done));
  }
}

void pick(uint32_t which, const void* first, const void* second, void* out, uint64_t bytes) {
  auto mask = static_cast<uint8_t>(0 - which);
  // The compiler must not turn the mask into a branch.
  __asm__ __volatile__("" : "+r"(mask));
  const auto *a = static_cast<const uint8_t*>(first), *b = static_cast<const uint8_t*>(second);
  auto* result = static_cast<uint8_t*>(out);
  for (uint64_t i = 0; i < bytes; ++i) result[i] = static_cast<uint8_t>((a[i] & ~mask) | (b[i] & mask));
}

}  // namespace stockade::timing
