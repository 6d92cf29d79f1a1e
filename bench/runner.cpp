#include "runner.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fstream>
#include <limits>
#include <new>
#include <numeric>
#include <string>
#include <utility>

#include "clock.h"

namespace stockade::bench {
namespace {

double now(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

// Time on the wall and on the calling thread's own clock.
struct Sample {
  double seconds, thread_seconds;
};

Sample time(const Work& work, uint64_t iterations) {
  const double thread_start = now(CLOCK_THREAD_CPUTIME_ID), start = now(CLOCK_MONOTONIC);
  work(iterations);
  const double end = now(CLOCK_MONOTONIC), thread_end = now(CLOCK_THREAD_CPUTIME_ID);
  return {end - start, thread_end - thread_start};
}

// Iterations one by one, and a pause before each.
Sample time_apart(const Work& work, uint64_t iterations, double pause_seconds) {
  const auto seconds = static_cast<time_t>(pause_seconds);
  const timespec pause{seconds, static_cast<long>((pause_seconds - static_cast<double>(seconds)) * 1e9)};
  Sample sum{};
  for (uint64_t i = 0; i < iterations; ++i) {
    nanosleep(&pause, nullptr);
    const Sample one = time(work, 1);
    sum.seconds += one.seconds;
    sum.thread_seconds += one.thread_seconds;
  }
  return sum;
}

// The shortest of three: one that was interrupted would pass for a long one.
double undisturbed(const Work& work, uint64_t iterations) {
  double seconds = time(work, iterations).seconds;
  for (int i = 0; i < 2; ++i) seconds = std::min(seconds, time(work, iterations).seconds);
  return seconds;
}

// Iterations that fill a sample, or 0 if a single one is over the limit. Doubling also warms caches and clock.
uint64_t calibrate(const Work& work, const Schedule& schedule, double limit_seconds) {
  // Twice the limit: the first call may have pages to touch and threads to start.
  if (time(work, 1).seconds > 2 * limit_seconds) return 0;
  for (uint64_t iterations = 1;; iterations *= 2) {
    const double seconds = iterations == 1 ? time(work, 1).seconds : undisturbed(work, iterations);
    if (iterations == 1 && seconds > limit_seconds) return 0;
    if (seconds >= schedule.sample_seconds) return iterations;
    if (seconds >= schedule.sample_seconds / 8 && iterations > 1) {
      const double needed = static_cast<double>(iterations) * schedule.sample_seconds / seconds;
      return std::max<uint64_t>(1, static_cast<uint64_t>(needed + 0.999));
    }
  }
}

}  // namespace

std::vector<Timing> measure(const std::vector<Work>& contenders, const Schedule& schedule) {
  const size_t count = contenders.size();
  std::vector<Timing> timings(count);
  std::vector<std::vector<double>> seconds(count), hertz(count), on_core(count);
  for (size_t i = 0; i < count; ++i) {
    const double limit = i == 0 ? std::numeric_limits<double>::infinity() : schedule.limit_seconds;
    timings[i].iterations = calibrate(contenders[i], schedule, limit);
    if (schedule.pause_seconds > 0 && timings[i].iterations > 1) {
      constexpr double longest_wait = 0.25;
      const auto most = static_cast<uint64_t>(longest_wait / schedule.pause_seconds);
      timings[i].iterations = std::clamp<uint64_t>(most, 1, timings[i].iterations);
    }
  }
  for (uint32_t round = 0; round < schedule.rounds; ++round) {
    for (size_t turn = 0; turn < count; ++turn) {
      // Nobody always follows the same neighbour out of the first place.
      const size_t i = (turn + round) % count;
      if (timings[i].iterations == 0) continue;
      if (schedule.before_sample) schedule.before_sample(i);
      const Sample sample = schedule.pause_seconds > 0
                                ? time_apart(contenders[i], timings[i].iterations, schedule.pause_seconds)
                                : time(contenders[i], timings[i].iterations);
      seconds[i].push_back(sample.seconds / static_cast<double>(timings[i].iterations));
      on_core[i].push_back(std::min(1.0, sample.thread_seconds / sample.seconds));
      hertz[i].push_back(core_hertz());
    }
  }
  for (size_t i = 0; i < count; ++i) {
    if (seconds[i].empty()) continue;
    timings[i].measured = true;
    timings[i].seconds = median(seconds[i]);
    timings[i].low = *std::min_element(seconds[i].begin(), seconds[i].end());
    timings[i].high = *std::max_element(seconds[i].begin(), seconds[i].end());
    timings[i].hertz = median(hertz[i]);
    timings[i].on_core =
        std::accumulate(on_core[i].begin(), on_core[i].end(), 0.0) / static_cast<double>(on_core[i].size());
  }
  return timings;
}

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

Buffer::Buffer(size_t size) : size_(size) {
  constexpr size_t huge_page = size_t{2} << 20;
  const size_t rounded = (size + huge_page - 1) / huge_page * huge_page;
  data_ = static_cast<uint8_t*>(std::aligned_alloc(huge_page, std::max(rounded, huge_page)));
  if (data_ == nullptr) throw std::bad_alloc();
  // Advice only: with small pages the figures are those of small pages.
  madvise(data_, rounded, MADV_HUGEPAGE);
  std::memset(data_, 0, rounded);
}

Buffer::~Buffer() { std::free(data_); }

uint64_t available_memory() {
  uint64_t available = 0;
  std::ifstream lines("/proc/meminfo");
  std::string name, unit;
  for (uint64_t value = 0; lines >> name >> value; std::getline(lines, unit)) {
    if (name == "MemAvailable:") available = value << 10;
  }
  // Of the control group that this process sees as the root: without a limit the file is not there or not a number.
  for (const auto& [most, used] :
       {std::pair{"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current"},
        {"/sys/fs/cgroup/memory/memory.limit_in_bytes", "/sys/fs/cgroup/memory/memory.usage_in_bytes"}}) {
    uint64_t limit = 0, usage = 0;
    if (std::ifstream(most) >> limit && std::ifstream(used) >> usage) {
      available = std::min(available, limit > usage ? limit - usage : 0);
    }
  }
  return available;
}

void fill(uint8_t* data, size_t size, uint64_t seed) {
  // SplitMix64: a counter and a mixer.
  for (size_t i = 0; i < size; i += 8) {
    uint64_t z = seed += 0x9E3779B97F4A7C15;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9;
    z = (z ^ z >> 27) * 0x94D049BB133111EB;
    z ^= z >> 31;
    std::memcpy(data + i, &z, std::min<size_t>(8, size - i));
  }
}

}  // namespace stockade::bench
