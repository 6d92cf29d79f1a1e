// The three things that can be done to a payload, as work for engine/files.h: its runs are run_chunks chunks each.
#pragma once

#include <cstdint>
#include <mutex>
#include <vector>

#include "engine/cuda.h"
#include "engine/files.h"
#include "format/cobblestone.h"
#include "format/fault.h"

namespace stockade::format {

// Plaintext to chunks.
class SealWork final : public engine::FileWork {
 public:
  explicit SealWork(const PayloadKey& key) : key_(key) {}
  Status check(uint64_t length) override;
  engine::LaneUse lane_use() const override { return engine::LaneUse::worker; }
  void prepare_lanes() override { engine::make_lane_key(key_.gcm(), *lane_key_); }
  Status transform(engine::FileRun& run, const engine::Worker& worker) override;
  Status finish(uint64_t, const uint8_t*, uint8_t*) override { return STOCKADE_OK; }

 private:
  const PayloadKey& key_;
  Secret<engine::LaneKey> lane_key_;
};

// What the two readers of chunks share: the chunks of a run, and the words for one that is bad.
class ChunkWork : public engine::FileWork {
 public:
  ChunkWork(const PayloadKey& key, uint64_t header_length) : key_(key), header_length_(header_length) {}
  // The first thing wrong, by place in the file.
  const stockade_fault& fault() const { return fault_; }
  engine::LaneUse lane_use() const override { return engine::LaneUse::worker; }
  void prepare_lanes() override { engine::make_lane_key(key_.gcm(), *lane_key_); }

 protected:
  uint64_t file_offset(uint64_t chunk) const { return header_length_ + chunk_offset(chunk); }
  // Notes a chunk that does not open, of which `rest` bytes from its start are at hand, all there are if `last`.
  void note(uint64_t chunk, const uint8_t* in, uint64_t rest, bool last);
  void note(const stockade_fault& fault);
  // Whether nothing is known to be wrong before a chunk.
  bool comes_first(uint64_t chunk);

  const PayloadKey& key_;
  Secret<engine::LaneKey> lane_key_;

 private:
  const uint64_t header_length_;
  std::mutex mutex_;
  stockade_fault fault_ = make_fault(STOCKADE_OK);
};

// Chunks to plaintext; the first bad one ends it.
class OpenWork final : public ChunkWork {
 public:
  using ChunkWork::ChunkWork;
  Status check(uint64_t length) override;
  Status transform(engine::FileRun& run, const engine::Worker& worker) override;
  Status finish(uint64_t, const uint8_t*, uint8_t*) override { return STOCKADE_OK; }
};

// Chunks to a list of the bad ones.
class CheckWork final : public ChunkWork {
 public:
  using ChunkWork::ChunkWork;
  // Only for what cannot be looked at; what is cut short is, up to its end.
  Status check(uint64_t length) override;
  Status transform(engine::FileRun& run, const engine::Worker& worker) override;
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

}  // namespace stockade::format
