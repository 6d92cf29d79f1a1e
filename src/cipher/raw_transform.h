// The modes of operation as transforms of a file: the bytes of the mode and nothing else, but for a GCM tag.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>

#include "aes/modes.h"
#include "base/secret.h"
#include "cipher/transform.h"
#include "gcm/gcm.h"
#include "offload/device_key.h"

namespace stockade::cipher {

// ECB, CBC, CFB, OFB and CTR.
class BlockTransform final : public Transform {
 public:
  BlockTransform(const aes::Key& key, stockade_direction direction, const void* iv, bool padded);

  // Whether each segment needs the state that the one before it left.
  bool in_order() const { return in_order_; }

  Status check(uint64_t length) override;
  GpuUse gpu_use() const override { return in_order_ ? GpuUse::none : GpuUse::worker; }
  void prepare_device_key() override { offload::make_device_key(key_, *device_key_); }
  Status apply(Segment& segment, const offload::Worker& worker) override;
  Status finish(uint64_t, const uint8_t*, uint8_t*) override { return STOCKADE_OK; }

 private:
  const aes::Key& key_;
  const stockade_direction direction_;
  const bool in_order_;
  const bool padded_;
  Secret<uint8_t[aes::block_bytes]> iv_;
  Secret<uint8_t[aes::block_bytes]> chain_;
  Secret<offload::DeviceKey> device_key_;
};

// XTS in data units, or with the whole file as one of at most max_unit_bytes (`unit` is 0). A segment holds whole units.
class UnitTransform final : public Transform {
 public:
  UnitTransform(const aes::Key& key, stockade_direction direction, const void* iv, uint64_t unit);

  // Bytes of a segment, as near to those that are wanted as units allow.
  uint64_t segment_bytes(uint64_t wanted) const;

  Status check(uint64_t length) override;
  GpuUse gpu_use() const override { return GpuUse::worker; }
  void prepare_device_key() override { offload::make_device_key(key_, *device_key_); }
  Status apply(Segment& segment, const offload::Worker& worker) override;
  Status finish(uint64_t, const uint8_t*, uint8_t*) override { return STOCKADE_OK; }

 private:
  const aes::Key& key_;
  const stockade_direction direction_;
  const uint64_t unit_;
  uint8_t iv_[aes::block_bytes];
  Secret<offload::DeviceKey> device_key_;
};

// GCM: the tag comes from `finish`, or goes into it. Segments are hashed on their own, and their hashes joined in order.
class GcmTransform final : public Transform {
 public:
  static constexpr uint32_t tag_bytes = 16;

  GcmTransform(const gcm::Key& key, stockade_direction direction, const void* iv, uint64_t iv_length, const void* aad,
               uint64_t aad_length);

  Status check(uint64_t length) override;
  GpuUse gpu_use() const override { return GpuUse::worker; }
  void prepare_device_key() override { offload::make_device_key(key_, *device_key_); }
  Status apply(Segment& segment, const offload::Worker& worker) override;
  Status finish(uint64_t length, const uint8_t* kept, uint8_t* added) override;

 private:
  struct Part {
    uint64_t length;
    Secret<uint8_t[aes::block_bytes]> hash;
  };

  void join(const Segment& segment, const uint8_t hash[aes::block_bytes]);

  const gcm::Key& key_;
  const stockade_direction direction_;
  const uint64_t iv_length_;
  const uint64_t aad_length_;
  Secret<uint8_t[aes::block_bytes]> j0_;

  std::mutex mutex_;
  Secret<uint8_t[aes::block_bytes]> hash_;  // of the associated data and the first joined_ bytes of ciphertext
  uint64_t joined_ = 0;
  std::map<uint64_t, Part> waiting_;  // by offset
  Secret<offload::DeviceKey> device_key_;
};

}  // namespace stockade::cipher
