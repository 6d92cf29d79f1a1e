// The two handles of stockade.h that other handles and messages point to.
#pragma once

#include <atomic>
#include <new>

#include "base/secret.h"
#include "engine/cipher.h"
#include "engine/cuda.h"
#include "config/environment.h"

struct stockade_key {
  stockade::engine::CipherKey cipher;

  stockade_key() = default;
  stockade_key(const stockade_key&) = delete;
  stockade_key& operator=(const stockade_key&) = delete;
  ~stockade_key() {
    discard(lane_key_.load(std::memory_order_relaxed));
    stockade::wipe(&cipher, sizeof cipher);
  }

  // What a GPU's kernels take of the key, made when it is first wanted; null without memory for it. Any number of threads
  // may ask at once: all make it then, and one is kept.
  const stockade::engine::LaneKey* lane_key() const {
    stockade::engine::LaneKey* found = lane_key_.load(std::memory_order_acquire);
    if (found != nullptr) return found;
    auto* const made = new (std::nothrow) stockade::engine::LaneKey;
    if (made == nullptr) return nullptr;
    if (cipher.mode == STOCKADE_GCM) {
      make_lane_key(cipher.gcm, *made);
    } else {
      make_lane_key(cipher.aes, *made);
    }
    if (lane_key_.compare_exchange_strong(found, made, std::memory_order_acq_rel)) return made;
    discard(made);
    return found;
  }

 private:
  static void discard(stockade::engine::LaneKey* key) {
    if (key != nullptr) stockade::wipe(key, sizeof *key);
    delete key;
  }

  mutable std::atomic<stockade::engine::LaneKey*> lane_key_{nullptr};
};

struct stockade_engine {
  stockade::config::EngineChoice wish;
};
