#include "rsa_load.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <random>
#include <thread>

namespace stockade::bench {
namespace {

using Clock = std::chrono::steady_clock;

Clock::duration ticks(std::chrono::duration<double> time) { return std::chrono::duration_cast<Clock::duration>(time); }
double seconds_of(Clock::duration time) { return std::chrono::duration<double>(time).count(); }

// The time that counts.
struct Window {
  explicit Window(const Turn& turn) : begin(Clock::now() + ticks(turn.warm)), end(begin + ticks(turn.seconds)) {}
  bool holds(Clock::time_point time) const { return begin <= time && time < end; }
  Clock::time_point begin, end;
};

bool right(const RsaMaterial& material, uint64_t i, std::span<const uint8_t> signature) {
  const std::span<const uint8_t> expected = material.signature(i);
  return std::equal(expected.begin(), expected.end(), signature.begin(), signature.end());
}

void run_client(Signer& signer, const RsaMaterial& material, uint64_t first, const Window& window, LoadResult& result) {
  std::vector<uint8_t> signature(material.size);
  for (uint64_t i = first % material.count;; i = (i + 1) % material.count) {
    const Clock::time_point start = Clock::now();
    if (start >= window.end) return;
    signer.sign(material.digest(i), signature);
    const Clock::time_point end = Clock::now();
    if (window.holds(end)) result.latencies.push_back(seconds_of(end - start));
    if (!right(material, i, signature)) ++result.wrong;
    signature[0] ^= 1;
  }
}

struct Arrival : Signer::Request {
  Clock::time_point due, end;
  std::atomic<uint64_t>* left;
  std::vector<uint8_t> memory;
};

void note_arrival_done(Signer::Request& request) {
  auto& arrival = static_cast<Arrival&>(request);
  arrival.end = Clock::now();
  // The last that is done with it: then it may be gone.
  std::atomic<uint64_t>& left = *arrival.left;
  left.fetch_sub(1, std::memory_order_release);
}

// In the order in which they are due.
std::vector<Arrival> make_arrivals(const RsaMaterial& material, double per_second, const Window& window,
                                   const Turn& turn, uint64_t seed, std::atomic<uint64_t>& left) {
  std::mt19937_64 random(seed);
  std::exponential_distribution<double> gap(per_second);
  std::vector<Arrival> arrivals;
  const Clock::time_point start = window.begin - ticks(turn.warm);
  double at = gap(random);
  for (; at < (turn.warm + turn.seconds).count(); at += gap(random)) {
    Arrival arrival;
    arrival.due = start + ticks(std::chrono::duration<double>(at));
    arrival.left = &left;
    arrival.memory.resize(material.size);
    arrival.digest = material.digest(arrivals.size() % material.count);
    arrival.done = note_arrival_done;
    arrivals.push_back(std::move(arrival));
  }
  for (Arrival& arrival : arrivals) arrival.signature = arrival.memory;
  return arrivals;
}

}  // namespace

LoadResult closed_loop(Signer& signer, const RsaMaterial& material, uint32_t clients, const Turn& turn) {
  std::vector<LoadResult> results(clients);
  const Window window(turn);
  std::vector<std::jthread> threads;
  for (uint32_t i = 0; i < clients; ++i) {
    threads.emplace_back([&, i] { run_client(signer, material, i, window, results[i]); });
  }
  for (std::jthread& thread : threads) thread.join();
  LoadResult all;
  for (const LoadResult& result : results) {
    all.latencies.insert(all.latencies.end(), result.latencies.begin(), result.latencies.end());
    all.wrong += result.wrong;
  }
  all.per_second = static_cast<double>(all.latencies.size()) / turn.seconds.count();
  return all;
}

LoadResult open_loop(Signer& signer, const RsaMaterial& material, double arrivals_per_second, const Turn& turn,
                     uint64_t seed) {
  // Time to lay out the requests in.
  const Turn later{turn.warm + std::chrono::milliseconds(20), turn.seconds};
  std::atomic<uint64_t> left{0};
  const Window window(later);
  std::vector<Arrival> arrivals = make_arrivals(material, arrivals_per_second, window, turn, seed, left);
  left = arrivals.size();
  for (Arrival& arrival : arrivals) {
    std::this_thread::sleep_until(arrival.due);
    signer.submit(arrival);
  }
  while (left.load(std::memory_order_acquire) != 0) std::this_thread::sleep_for(std::chrono::microseconds(200));
  LoadResult result;
  for (size_t i = 0; i < arrivals.size(); ++i) {
    const Arrival& arrival = arrivals[i];
    if (window.holds(arrival.end)) result.latencies.push_back(seconds_of(arrival.end - arrival.due));
    if (!right(material, i % material.count, arrival.signature)) ++result.wrong;
  }
  result.per_second = static_cast<double>(result.latencies.size()) / turn.seconds.count();
  return result;
}

double quantile(std::vector<double> values, double share) {
  if (values.empty()) return 0;
  const auto rank = static_cast<size_t>(std::ceil(share * static_cast<double>(values.size())));
  const auto at = values.begin() + static_cast<int64_t>(std::clamp<size_t>(rank, 1, values.size()) - 1);
  std::nth_element(values.begin(), at, values.end());
  return *at;
}

}  // namespace stockade::bench
