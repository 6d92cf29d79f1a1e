// Times contenders against each other: rounds in which each has a turn, so that whatever the machine does meanwhile
// (other guests, its clock) falls on all of them alike.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace stockade::bench {

// Runs the operation that many times. Called with small counts first.
using Work = std::function<void(uint64_t iterations)>;

struct Schedule {
  uint32_t rounds = 7;
  double sample_seconds = 0.005;  // at least this much work per turn
  double limit_seconds = 0.25;    // who needs more than this for one iteration is not measured
  // Before each iteration, outside the clock: for calls that come seldom, whose threads have gone to sleep meanwhile.
  double pause_seconds = 0;
  // Called with a contender's number before each of its samples, outside the clock: for what the one before has left behind.
  std::function<void(size_t)> before_sample;
};

struct Timing {
  bool measured = false;
  uint64_t iterations = 0;   // per sample
  double seconds = 0;        // per iteration: the median of the rounds
  double low = 0, high = 0;  // the fastest and the slowest round
  double hertz = 0;          // median of the core clock right after each sample; 0 where unknown
  // Share of the samples' time in which the calling thread had a core: well below 1 on a machine that is busy elsewhere.
  double on_core = 0;
};

// The first contender is the yardstick: it is measured however slow it is.
std::vector<Timing> measure(const std::vector<Work>& contenders, const Schedule& schedule);

// The middle value, or the mean of the two in the middle; 0 of none.
double median(std::vector<double> values);

// Memory aligned to 2 MiB, on huge pages where the system grants them, every page touched.
class Buffer {
 public:
  explicit Buffer(size_t size);
  ~Buffer();
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  uint8_t* data() { return data_; }
  size_t size() const { return size_; }

 private:
  uint8_t* data_;
  size_t size_;
};

// Bytes that a program may take before the system has to swap, or a control group has to end it.
uint64_t available_memory();

// The same bytes for the same seed, on every machine.
void fill(uint8_t* data, size_t size, uint64_t seed);

}  // namespace stockade::bench
