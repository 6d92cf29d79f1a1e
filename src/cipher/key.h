// A key of any mode: what stockade_key holds.
#pragma once

#include <atomic>
#include <cstdint>
#include <new>

#include "aes/modes.h"
#include "base/secret.h"
#include "gcm/gcm.h"
#include "offload/device_key.h"
#include "tune/profile_in_force.h"

namespace stockade::cipher {

// Exactly one of the two is in use, by mode.
struct CipherKey {
  stockade_mode mode;
  uint32_t bits;
  union {
    aes::Key aes;
    gcm::Key gcm;
  };
  const char* row() const { return mode == STOCKADE_GCM ? gcm.variant->name : aes.variant->name; }
};

// What the tuning profile calls a mode.
tune::Operation operation_of(stockade_mode mode);

// KEY_LENGTH, WEAK_KEY, UNKNOWN_NAME, UNAVAILABLE. `force` as in stockade_key_create.
Status make_key(CipherKey& key, stockade_mode mode, const uint8_t* bytes, uint64_t length, const char* force);

}  // namespace stockade::cipher

struct stockade_key {
  stockade::cipher::CipherKey cipher;

  stockade_key() = default;
  stockade_key(const stockade_key&) = delete;
  stockade_key& operator=(const stockade_key&) = delete;
  ~stockade_key() {
    discard(device_key_.load(std::memory_order_relaxed));
    stockade::wipe(&cipher, sizeof cipher);
  }

  // What a GPU's kernels take of the key, made when it is first wanted; null without memory for it. Any number of threads
  // may ask at once: all make it then, and one is kept.
  const stockade::offload::DeviceKey* device_key() const {
    stockade::offload::DeviceKey* found = device_key_.load(std::memory_order_acquire);
    if (found != nullptr) return found;
    auto* const made = new (std::nothrow) stockade::offload::DeviceKey;
    if (made == nullptr) return nullptr;
    if (cipher.mode == STOCKADE_GCM) {
      stockade::offload::make_device_key(cipher.gcm, *made);
    } else {
      stockade::offload::make_device_key(cipher.aes, *made);
    }
    if (device_key_.compare_exchange_strong(found, made, std::memory_order_acq_rel)) return made;
    discard(made);
    return found;
  }

 private:
  static void discard(stockade::offload::DeviceKey* key) {
    if (key != nullptr) stockade::wipe(key, sizeof *key);
    delete key;
  }

  mutable std::atomic<stockade::offload::DeviceKey*> device_key_{nullptr};
};
