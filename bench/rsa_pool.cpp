#include "rsa_pool.h"

#include <algorithm>
#include <exception>
#include <utility>

namespace stockade::bench {

PeerPool::PeerPool(const RsaPeer& peer, uint32_t threads) {
  std::vector<RsaPeer> copies;
  while (copies.size() < threads) copies.push_back(peer.copy());
  for (RsaPeer& copy : copies) {
    workers_.emplace_back([this, own = std::move(copy)]() mutable { work(std::move(own)); });
  }
}

PeerPool::~PeerPool() {
  {
    const Lock lock(mutex_);
    stopping_ = true;
  }
  wakened_.notify_all();
  for (std::thread& worker : workers_) worker.join();
}

void PeerPool::sign(std::span<const uint8_t> digest, std::span<uint8_t> signature) {
  Waiting request;
  request.digest = digest;
  request.signature = signature;
  // Without `done` somebody waits.
  request.done = nullptr;
  Lock lock(mutex_);
  requests_.push_back(&request);
  wakened_.notify_one();
  request.wakened.wait(lock, [&] { return request.finished; });
}

void PeerPool::submit(Request& request) {
  const Lock lock(mutex_);
  requests_.push_back(&request);
  wakened_.notify_one();
}

Signer::Counts PeerPool::counts() const {
  const Lock lock(mutex_);
  return {done_, done_};
}

void PeerPool::work(RsaPeer peer) {
  Lock lock(mutex_);
  while (true) {
    wakened_.wait(lock, [&] { return stopping_ || !requests_.empty(); });
    if (requests_.empty()) return;
    Request& request = *requests_.front();
    requests_.pop_front();
    lock.unlock();
    try {
      peer.sign(request.digest, request.signature);
    } catch (const std::exception&) {
      // Then it is no signature, which whoever asked will see.
      std::fill(request.signature.begin(), request.signature.end(), uint8_t{0});
    }
    const bool waited_for = request.done == nullptr;
    if (!waited_for) request.done(request);
    lock.lock();
    ++done_;
    if (!waited_for) continue;
    auto& waiting = static_cast<Waiting&>(request);
    waiting.finished = true;
    // Under the lock, without which it cannot go on: its condition must not be gone by then.
    waiting.wakened.notify_one();
  }
}

}  // namespace stockade::bench
