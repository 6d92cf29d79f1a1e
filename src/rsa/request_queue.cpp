#include "rsa/request_queue.h"

#include <algorithm>
#include <exception>
#include <utility>

namespace stockade::rsa {

RequestQueue::~RequestQueue() { stop(); }

Status RequestQueue::start(const Limits& limits, RunBatch run, void* context) {
  limits_ = limits;
  run_ = run;
  context_ = context;
  try {
    latencies_.resize(latencies_kept);
    workers_.reserve(limits.workers);
    while (workers_.size() < limits.workers) {
      std::vector<Request*> batch;
      batch.reserve(limits.batch);
      workers_.emplace_back([this, room = std::move(batch)]() mutable { work(room); });
    }
  } catch (const std::exception&) {
    stop();
    return STOCKADE_ERROR_MEMORY;
  }
  return STOCKADE_OK;
}

void RequestQueue::stop() {
  {
    const Lock lock(mutex_);
    stopping_ = true;
  }
  wakened_.notify_all();
  for (std::thread& worker : workers_) worker.join();
  workers_.clear();
}

void RequestQueue::enqueue(Request& request) {
  request.next_ = nullptr;
  request.submitted_ = Clock::now();
  request.finished_ = false;
  (first_ == nullptr ? first_ : last_->next_) = &request;
  last_ = &request;
  ++waiting_;
  // With a deadline one worker watches that of the first, and another is wanted when a batch is full.
  const bool wanted = limits_.deadline.count() == 0 || waiting_ == 1 || waiting_ % limits_.batch == 0;
  if (wanted) wakened_.notify_one();
}

void RequestQueue::submit(Request& request) {
  const Lock lock(mutex_);
  request.waiter_ = nullptr;
  enqueue(request);
}

void RequestQueue::submit_and_wait(Request& request) {
  std::condition_variable waiter;
  Lock lock(mutex_);
  request.waiter_ = &waiter;
  enqueue(request);
  waiter.wait(lock, [&] { return request.finished_; });
}

bool RequestQueue::ready() const {
  return computing_ == 0 || stopping_ || waiting_ >= limits_.batch ||
         Clock::now() >= first_->submitted_ + limits_.deadline;
}

// How many requests a worker takes: as many as are left to each worker that has nothing to do, itself included.
uint64_t RequestQueue::share() const {
  if (limits_.deadline.count() != 0) return limits_.batch;
  const uint64_t idle = limits_.workers - computing_;
  return std::min<uint64_t>(limits_.batch, (waiting_ + idle - 1) / idle);
}

void RequestQueue::take(std::vector<Request*>& batch) {
  batch.clear();
  const uint64_t most = share();
  while (first_ != nullptr && batch.size() < most) batch.push_back(std::exchange(first_, first_->next_));
  waiting_ -= batch.size();
  // What is left needs somebody to watch over it.
  if (waiting_ != 0) wakened_.notify_one();
}

void RequestQueue::work(std::vector<Request*>& batch) {
  Lock lock(mutex_);
  while (true) {
    if (waiting_ == 0) {
      if (stopping_) return;
      wakened_.wait(lock);
    } else if (!ready()) {
      wakened_.wait_until(lock, first_->submitted_ + limits_.deadline);
    } else {
      take(batch);
      const bool alone = computing_++ == 0;
      lock.unlock();
      run_(context_, batch.data(), batch.size(), alone);
      lock.lock();
      --computing_;
      finish(batch);
      if (batch.empty()) continue;
      // While those who are called take their time, another worker looks after what has gathered.
      if (waiting_ != 0) wakened_.notify_one();
      lock.unlock();
      for (Request* const request : batch) request->done(*request);
      lock.lock();
    }
  }
}

// Whoever waits is told under the lock, without which it cannot go on: its condition must not be gone by then. Leaves
// those in `batch` for whom nobody waits.
void RequestQueue::finish(std::vector<Request*>& batch) {
  const Clock::time_point now = Clock::now();
  ++batches_;
  largest_batch_ = std::max<uint64_t>(largest_batch_, batch.size());
  for (Request* const request : batch) latencies_[requests_++ % latencies_kept] = now - request->submitted_;
  const auto waited_for =
      std::partition(batch.begin(), batch.end(), [](const Request* request) { return request->waiter_ == nullptr; });
  for (auto at = waited_for; at != batch.end(); ++at) {
    (*at)->finished_ = true;
    (*at)->waiter_->notify_one();
  }
  batch.erase(waited_for, batch.end());
}

RequestQueue::Statistics RequestQueue::statistics() const {
  Clock::duration sorted[latencies_kept];
  Lock lock(mutex_);
  Statistics found{requests_, batches_, largest_batch_, {}, {}};
  const uint64_t kept = std::min(requests_, latencies_kept);
  std::copy_n(latencies_.begin(), kept, sorted);
  lock.unlock();
  if (kept == 0) return found;
  std::sort(sorted, sorted + kept);
  found.median = sorted[(kept - 1) / 2];
  found.p99 = sorted[(kept - 1) * 99 / 100];
  return found;
}

}  // namespace stockade::rsa
