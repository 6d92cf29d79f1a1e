// The three things that are done to a payload: chunks are sealed, opened, or only checked. A segment is whole chunks.
#pragma once

#include <cstdint>
#include <mutex>
#include <vector>

#include "base/fault.h"
#include "chunked/payload.h"
#include "cipher/transform.h"
#include "offload/device_key.h"
#include "offload/executor.h"

namespace stockade::cipher {

// Plaintext to chunks.
class SealTransform final : public Transform {
 public:
  explicit SealTransform(const chunked::PayloadKey& key) : key_(key) {}
  Status check(uint64_t length) override;
  GpuUse gpu_use() const override { return GpuUse::worker; }
  void prepare_device_key() override { offload::make_device_key(key_.gcm, *device_key_); }
  Status apply(Segment& segment, const offload::Worker& worker) override;
  Status finish(uint64_t, const uint8_t*, uint8_t*) override { return STOCKADE_OK; }

 private:
  const chunked::PayloadKey& key_;
  Secret<offload::DeviceKey> device_key_;
};

// What the two readers of chunks share: the chunks of a run, and the words for one that is bad.
class ChunkTransform : public Transform {
 public:
  ChunkTransform(const chunked::PayloadKey& key, uint64_t header_length) : key_(key), header_length_(header_length) {}
  // The first thing wrong, by place in the file.
  const stockade_fault& fault() const { return fault_; }
  GpuUse gpu_use() const override { return GpuUse::worker; }
  void prepare_device_key() override { offload::make_device_key(key_.gcm, *device_key_); }

 protected:
  uint64_t file_offset(uint64_t chunk) const { return header_length_ + chunked::chunk_offset(chunk); }
  // Notes a chunk that does not open, of which `rest` bytes from its start are at hand, all there are if `last`.
  void note(uint64_t chunk, const uint8_t* in, uint64_t rest, bool last);
  void note(const stockade_fault& fault);
  // Whether nothing is known to be wrong before a chunk.
  bool comes_first(uint64_t chunk);

  const chunked::PayloadKey& key_;
  Secret<offload::DeviceKey> device_key_;

 private:
  const uint64_t header_length_;
  std::mutex mutex_;
  stockade_fault fault_ = make_fault(STOCKADE_OK);
};

// Chunks to plaintext; the first bad one ends it.
class OpenTransform final : public ChunkTransform {
 public:
  using ChunkTransform::ChunkTransform;
  Status check(uint64_t length) override;
  Status apply(Segment& segment, const offload::Worker& worker) override;
  Status finish(uint64_t, const uint8_t*, uint8_t*) override { return STOCKADE_OK; }
};

// Chunks to a list of the bad ones.
class CheckTransform final : public ChunkTransform {
 public:
  using ChunkTransform::ChunkTransform;
  // Only for what cannot be looked at; what is cut short is, up to its end.
  Status check(uint64_t length) override;
  Status apply(Segment& segment, const offload::Worker& worker) override;
  Status finish(uint64_t, const uint8_t*, uint8_t*) override { return STOCKADE_OK; }

  struct Damage {
    uint64_t chunk, count, offset, length;
  };
  // In order, neighbours joined.
  std::vector<Damage> damages();
  uint64_t intact_bytes() const { return intact_bytes_; }

 private:
  void add(const std::vector<Damage>& found, uint64_t intact);

  std::mutex list_mutex_;
  std::vector<Damage> damages_;
  uint64_t intact_bytes_ = 0;
};

}  // namespace stockade::cipher
