// What the tests of recipients share: keyrings, and randomness that is known beforehand.
#pragma once

#include <cstring>
#include <memory>
#include <string_view>
#include <vector>

#include "format/recipient.h"

namespace stockade::format {

// The bytes first, first + 1, ... in the order in which they are asked for; no more than `limit` calls succeed.
class CountingSource final : public RandomSource {
 public:
  explicit CountingSource(uint8_t first, uint64_t limit = UINT64_MAX) : next_(first), limit_(limit) {}
  Status fill(uint8_t* out, uint64_t length) override {
    if (limit_-- == 0) return STOCKADE_ERROR_RANDOM;
    for (uint64_t i = 0; i < length; ++i) out[i] = next_++;
    return STOCKADE_OK;
  }

 private:
  uint8_t next_;
  uint64_t limit_;
};

inline void add_key(Keyring& keyring, const uint8_t* bytes) {
  keyring.keys.push_back(std::make_unique<Keyring::SymmetricKey>());
  std::memcpy(*keyring.keys.back()->bytes, bytes, symmetric_key_bytes);
}

// A key of the bytes first, first + 1, ...
inline void add_key(Keyring& keyring, uint8_t first) {
  uint8_t bytes[symmetric_key_bytes];
  CountingSource(first).fill(bytes, sizeof bytes);
  add_key(keyring, bytes);
}

inline Keyring keys_of(std::vector<uint8_t> firsts) {
  Keyring keyring;
  for (const uint8_t first : firsts) add_key(keyring, first);
  return keyring;
}

// With a work factor that takes no time.
inline Keyring passphrase_of(std::string_view passphrase, uint32_t work_factor = 4) {
  Keyring keyring;
  if (!keyring.passphrase.allocate(passphrase.size())) throw std::bad_alloc();
  std::memcpy(keyring.passphrase.data(), passphrase.data(), passphrase.size());
  keyring.passphrase_length = passphrase.size();
  keyring.work_factor = work_factor;
  return keyring;
}

struct FileKey {
  uint8_t bytes[file_key_bytes];
  explicit FileKey(uint8_t first) { CountingSource(first).fill(bytes, sizeof bytes); }
  FileKey() : bytes{} {}
  bool operator==(const FileKey&) const = default;
};

}  // namespace stockade::format
