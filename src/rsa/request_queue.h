// Requests that come one by one from any number of threads and are computed in batches. The owner of the queue defines what
// a request is and how a batch of them is computed.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

#include "base/status.h"

namespace stockade::rsa {

// One request; the caller derives from it. It belongs to the queue until it is done.
struct Request {
  // Called by a worker without any lock when the request is done, and the last that the queue does with it; not used by
  // submit_and_wait.
  void (*done)(Request& request) = nullptr;

 private:
  friend class RequestQueue;
  Request* next_ = nullptr;
  std::chrono::steady_clock::time_point submitted_;
  std::condition_variable* waiter_ = nullptr;
  bool finished_ = false;
};

// While nothing is being computed a request is computed at once. While something is, and without a deadline, a worker that
// has nothing to do takes its share of what waits: batches come about by themselves where all workers are busy, and are as
// small as can be where they are not. With a deadline such a worker takes what has gathered once it fills a batch or the
// oldest request has waited for so long, which keeps cores free for others; whoever ends the last computation takes it at
// once.
class RequestQueue {
 public:
  struct Limits {
    uint32_t batch;                      // at least 1
    std::chrono::microseconds deadline;  // 0: none, requests wait for a worker only
    uint32_t workers;                    // at least 1
  };
  // Computes `count` requests in the order in which they were submitted. `alone`: nothing else is being computed.
  using RunBatch = void (*)(void* context, Request* const* batch, uint64_t count, bool alone);

  // How long the last requests took from request to completion is kept of so many.
  static constexpr uint64_t latencies_kept = 4096;
  struct Statistics {
    uint64_t requests, batches, largest_batch;
    std::chrono::nanoseconds median, p99;  // 0 while nothing is done
  };

  RequestQueue() = default;
  RequestQueue(const RequestQueue&) = delete;
  RequestQueue& operator=(const RequestQueue&) = delete;
  // Computes everything that has been submitted. Nobody may submit any more but `done` of what is computed.
  ~RequestQueue();

  // Once, and before anything else. MEMORY: no memory, or no more threads.
  Status start(const Limits& limits, RunBatch run, void* context);

  void submit(Request& request);
  void submit_and_wait(Request& request);
  Statistics statistics() const;

 private:
  using Clock = std::chrono::steady_clock;
  using Lock = std::unique_lock<std::mutex>;

  void enqueue(Request& request);
  void work(std::vector<Request*>& batch);
  bool ready() const;
  uint64_t share() const;
  void take(std::vector<Request*>& batch);
  void finish(std::vector<Request*>& batch);
  void stop();

  Limits limits_{};
  RunBatch run_ = nullptr;
  void* context_ = nullptr;
  std::vector<std::thread> workers_;

  mutable std::mutex mutex_;  // of all that follows
  std::condition_variable wakened_;
  Request *first_ = nullptr, *last_ = nullptr;
  uint64_t waiting_ = 0;    // requests from first_ on
  uint32_t computing_ = 0;  // workers with a batch
  bool stopping_ = false;
  uint64_t requests_ = 0, batches_ = 0, largest_batch_ = 0;
  std::vector<Clock::duration> latencies_;  // a ring, of which the first `requests_` are set
};

}  // namespace stockade::rsa
