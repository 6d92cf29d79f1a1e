// OpenSSL as a server would use it: a pool of threads that takes requests in turn and signs one at a time.
#pragma once

#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>

#include "rsa_load.h"

namespace stockade::bench {

class PeerPool : public Signer {
 public:
  // Each thread has a copy of the key.
  PeerPool(const RsaPeer& peer, uint32_t threads);
  ~PeerPool() override;
  PeerPool(const PeerPool&) = delete;
  PeerPool& operator=(const PeerPool&) = delete;

  void sign(std::span<const uint8_t> digest, std::span<uint8_t> signature) override;
  void submit(Request& request) override;
  Counts counts() const override;

 private:
  struct Waiting : Request {
    std::condition_variable wakened;
    bool finished = false;
  };
  using Lock = std::unique_lock<std::mutex>;

  void work(RsaPeer peer);

  std::vector<std::thread> workers_;
  mutable std::mutex mutex_;  // of all that follows
  std::condition_variable wakened_;
  std::deque<Request*> requests_;
  uint64_t done_ = 0;
  bool stopping_ = false;
};

}  // namespace stockade::bench
