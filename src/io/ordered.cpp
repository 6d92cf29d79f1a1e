#include "io/ordered.h"

#include <exception>
#include <utility>

#include "parallel/no_signals.h"

namespace stockade::io {

bool OrderedPipeline::run(Buffer& first, uint32_t workers) {
  places_[0].buffer = std::move(first);
  places_[0].state = filled;
  const bool started = start(workers);
  if (started) write_segments();
  for (std::thread& thread : threads_) thread.join();
  if (!started) first = std::move(places_[0].buffer);
  return started;
}

bool OrderedPipeline::start(uint32_t workers) {
  threads_.reserve(workers + 1);
  const parallel::NoSignals held;
  const std::lock_guard lock(mutex_);
  try {
    threads_.emplace_back([this] { read_segments(); });
    while (threads_.size() <= workers) {
      threads_.emplace_back([this, worker = static_cast<uint32_t>(threads_.size() - 1)] { apply_segments(worker); });
    }
  } catch (const std::exception&) {
    closed_ = threads_.size() < 2;
  }
  return !closed_;
}

void OrderedPipeline::read_segments() {
  for (uint64_t i = 1;; ++i) {
    Place* const place = await(i, empty);
    if (place == nullptr) return;
    if (!pipeline_.fill(place->buffer)) return close();
    const bool last = place->buffer.segment.last;
    pass(*place, filled);
    if (last) return;
  }
}

void OrderedPipeline::apply_segments(uint32_t worker) {
  while (Place* const place = claim()) {
    if (!pipeline_.apply(place->buffer, worker)) return close();
    pass(*place, transformed);
  }
}

void OrderedPipeline::write_segments() {
  for (uint64_t i = 0;; ++i) {
    Place* const place = await(i, transformed);
    if (place == nullptr) return;
    if (!pipeline_.put(place->buffer)) return close();
    if (place->buffer.segment.last) return;
    pass(*place, empty);
  }
}

OrderedPipeline::Place* OrderedPipeline::await(uint64_t index, State state) {
  Place& place = places_[index % places_.size()];
  std::unique_lock lock(mutex_);
  while (!closed_ && place.state != state) {
    if (changed_[state].wait_for(lock, patience) == std::cv_status::no_timeout) continue;
    lock.unlock();
    pipeline_.state().tick();
    if (pipeline_.state().stopped()) close();
    lock.lock();
  }
  return closed_ ? nullptr : &place;
}

OrderedPipeline::Place* OrderedPipeline::claim() {
  std::unique_lock lock(mutex_);
  Place* place;
  do {
    place = &places_[next_ % places_.size()];
    if (closed_ || ended_) return nullptr;
    if (place->state == filled) break;
    changed_[filled].wait(lock);
  } while (true);
  ++next_;
  place->state = busy;
  ended_ = place->buffer.segment.last;
  if (ended_) changed_[filled].notify_all();
  return place;
}

void OrderedPipeline::pass(Place& place, State state) {
  const std::lock_guard lock(mutex_);
  place.state = state;
  changed_[state].notify_one();
}

void OrderedPipeline::close() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
  for (std::condition_variable& condition : changed_) condition.notify_all();
}

}  // namespace stockade::io
