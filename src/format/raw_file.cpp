#include "format/raw_file.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>

#include "aes/modes.h"
#include "aes/padding.h"
#include "base/bytes.h"
#include "base/secret.h"
#include "gcm/gcm.h"

namespace stockade::format {
namespace {

constexpr uint64_t block_bytes = aes::block_bytes;
constexpr uint32_t tag_bytes = 16;
static_assert(engine::file_margin >= block_bytes && engine::file_margin >= tag_bytes);

// ECB, CBC, CFB, OFB and CTR.
class BlockFile final : public engine::FileWork {
 public:
  BlockFile(const aes::Key& key, stockade_direction direction, const void* iv, bool padded)
      : key_(key), direction_(direction), in_order_(!aes::splits(key.mode, direction)), padded_(padded) {
    if (iv != nullptr) std::memcpy(*iv_, iv, block_bytes);
  }

  bool in_order() const { return in_order_; }

  engine::LaneUse lane_use() const override { return in_order_ ? engine::LaneUse::none : engine::LaneUse::worker; }

  void prepare_lanes() override { engine::make_lane_key(key_, *lane_key_); }

  Status check(uint64_t length) override {
    if (!padded_) return aes::check_length(key_.mode, length);
    const bool possible = direction_ == STOCKADE_ENCRYPT || (length != 0 && length % block_bytes == 0);
    return possible ? STOCKADE_OK : STOCKADE_ERROR_DATA_LENGTH;
  }

  Status transform(engine::FileRun& run, const engine::Worker& worker) override {
    const bool ends_padded = padded_ && run.last;
    if (ends_padded && direction_ == STOCKADE_ENCRYPT) {
      const uint64_t used = run.length % block_bytes;
      aes::pad_block(run.data + run.length - used, used);
      run.out_length += block_bytes - used;
    }
    aes::Range range{run.data, run.out, run.out_length, {}};
    if (!in_order_) {
      aes::start_chain(key_, *iv_, run.offset / block_bytes, run.data - block_bytes, range.chain);
    } else if (run.offset == 0) {
      aes::start_chain(key_, *iv_, 0, nullptr, range.chain);
    } else {
      std::memcpy(range.chain, *chain_, block_bytes);
    }
    const Status status = worker.attempt(
        [&](engine::Lane& lane) { return lane.crypt(*lane_key_, direction_, range, worker.crew.keeps_input()); });
    if (status == STOCKADE_OK && range.length != 0) {
      aes::run_range(key_, direction_, range, aes::Stores::ordinary);
    }
    if (in_order_) std::memcpy(*chain_, range.chain, block_bytes);
    wipe(range.chain, block_bytes);
    if (status != STOCKADE_OK) return status;
    if (ends_padded && direction_ == STOCKADE_DECRYPT) {
      const uint32_t padding = aes::padding_length(run.out + run.out_length - block_bytes);
      if (padding == 0) return STOCKADE_ERROR_PADDING;
      run.out_length -= padding;
    }
    return STOCKADE_OK;
  }

  Status finish(uint64_t, const uint8_t*, uint8_t*) override { return STOCKADE_OK; }

 private:
  const aes::Key& key_;
  const stockade_direction direction_;
  const bool in_order_;
  const bool padded_;
  Secret<uint8_t[block_bytes]> iv_;
  Secret<uint8_t[block_bytes]> chain_;
  Secret<engine::LaneKey> lane_key_;
};

// XTS in data units, or with the whole file as one of at most max_unit_bytes. A run holds whole units.
class UnitFile final : public engine::FileWork {
 public:
  UnitFile(const aes::Key& key, stockade_direction direction, const void* iv, uint64_t unit)
      : key_(key), direction_(direction), unit_(unit) {
    std::memcpy(iv_, iv, sizeof iv_);
  }

  uint64_t run_bytes(uint64_t wish) const {
    return unit_ == 0 ? aes::max_unit_bytes : std::max<uint64_t>(1, wish / unit_) * unit_;
  }

  engine::LaneUse lane_use() const override { return engine::LaneUse::worker; }
  void prepare_lanes() override { engine::make_lane_key(key_, *lane_key_); }

  Status check(uint64_t length) override {
    if (unit_ == 0 || length == 0) return aes::check_length(STOCKADE_XTS, length);
    const uint64_t rest = length % unit_;
    return rest == 0 ? STOCKADE_OK : aes::check_length(STOCKADE_XTS, rest);
  }

  Status transform(engine::FileRun& run, const engine::Worker& worker) override {
    if (unit_ == 0 && !run.last) return STOCKADE_ERROR_DATA_TOO_LONG;
    const uint64_t unit = unit_ == 0 ? run.length : unit_;
    if (run.length == 0) return STOCKADE_OK;
    engine::UnitRange range{run.data, run.out, run.length, unit, {}};
    std::memcpy(range.number, iv_, sizeof iv_);
    add_le128(range.number, run.offset / unit);
    const Status status = worker.attempt(
        [&](engine::Lane& lane) { return lane.crypt_units(*lane_key_, direction_, range, worker.crew.keeps_input()); });
    if (status != STOCKADE_OK || range.length == 0) return status;
    aes::run_units(key_, direction_, range.number, unit, range.in, range.out, range.length, aes::Stores::ordinary);
    return STOCKADE_OK;
  }

  Status finish(uint64_t, const uint8_t*, uint8_t*) override { return STOCKADE_OK; }

 private:
  const aes::Key& key_;
  const stockade_direction direction_;
  const uint64_t unit_;
  uint8_t iv_[16];
  Secret<engine::LaneKey> lane_key_;
};

// GCM with its tag behind the ciphertext. Runs are hashed on their own, and their hashes joined in order.
class GcmFile final : public engine::FileWork {
 public:
  GcmFile(const gcm::Key& key, stockade_direction direction, const stockade_raw_options& options)
      : key_(key), direction_(direction), iv_length_(options.iv_length), aad_length_(options.aad_length) {
    gcm::derive_j0(key, static_cast<const uint8_t*>(options.iv), options.iv_length, *j0_);
    if (aad_length_ != 0) gcm::hash_padded(key, *hash_, static_cast<const uint8_t*>(options.aad), aad_length_);
  }

  engine::LaneUse lane_use() const override { return engine::LaneUse::worker; }
  void prepare_lanes() override { engine::make_lane_key(key_, *lane_key_); }

  Status check(uint64_t length) override {
    if (direction_ == STOCKADE_DECRYPT) {
      if (length < tag_bytes) return STOCKADE_ERROR_AUTHENTICATION;
      length -= tag_bytes;
    }
    return gcm::check(iv_length_, aad_length_, length, tag_bytes);
  }

  Status transform(engine::FileRun& run, const engine::Worker& worker) override {
    // Where the length is not known beforehand, the counter must not wrap before the end of the input is seen.
    if (run.offset + run.length > gcm::max_message_bytes) return STOCKADE_ERROR_DATA_TOO_LONG;
    Secret<engine::GcmRange> part;
    *part = {run.data, run.out, run.length, run.offset / block_bytes, {}};
    const Status status = worker.attempt(
        [&](engine::Lane& lane) { return lane.crypt(*lane_key_, direction_, *j0_, *part, worker.crew.keeps_input()); });
    if (status != STOCKADE_OK) return status;
    if (part->length != 0) {
      gcm::run_range(key_, direction_, *j0_, part->first_block, part->y, part->in, part->out, part->length,
                     aes::Stores::ordinary);
    }
    join(run, part->y);
    return STOCKADE_OK;
  }

  Status finish(uint64_t length, const uint8_t* kept, uint8_t* added) override {
    const std::lock_guard lock(mutex_);
    Secret<uint8_t[tag_bytes]> tag;
    gcm::finish_tag(key_, *j0_, *hash_, aad_length_, length, *tag);
    if (direction_ == STOCKADE_ENCRYPT) {
      std::memcpy(added, *tag, tag_bytes);
      return STOCKADE_OK;
    }
    return equal_constant_time(*tag, kept, tag_bytes) ? STOCKADE_OK : STOCKADE_ERROR_AUTHENTICATION;
  }

 private:
  struct Part {
    uint64_t length;
    Secret<uint8_t[block_bytes]> hash;
  };

  // Parts that come before their turn wait; there are about as many of them as workers.
  void join(const engine::FileRun& run, const uint8_t hash[block_bytes]) {
    const std::lock_guard lock(mutex_);
    Part& own = waiting_[run.offset];
    own.length = run.length;
    std::memcpy(*own.hash, hash, block_bytes);
    for (auto part = waiting_.find(joined_); part != waiting_.end(); part = waiting_.find(joined_)) {
      const uint64_t length = part->second.length;
      gcm::append_hash(key_, *hash_, *part->second.hash, (length + block_bytes - 1) / block_bytes);
      waiting_.erase(part);
      joined_ += length;
    }
  }

  const gcm::Key& key_;
  const stockade_direction direction_;
  const uint64_t iv_length_;
  const uint64_t aad_length_;
  Secret<uint8_t[block_bytes]> j0_;

  std::mutex mutex_;
  Secret<uint8_t[block_bytes]> hash_;  // of the associated data and the first joined_ bytes of ciphertext
  uint64_t joined_ = 0;
  std::map<uint64_t, Part> waiting_;  // by offset
  Secret<engine::LaneKey> lane_key_;
};

Status check_options(const engine::CipherKey& key, const stockade_raw_options& options) {
  // A caller in C may have put any number here, and an enum may not hold any number here.
  uint32_t padding;
  static_assert(sizeof padding == sizeof options.padding);
  std::memcpy(&padding, &options.padding, sizeof padding);
  if (padding > STOCKADE_PADDING_PKCS7) return STOCKADE_ERROR_ARGUMENT;
  if (options.unit != 0 && (options.unit < block_bytes || options.unit > aes::max_unit_bytes)) {
    return STOCKADE_ERROR_ARGUMENT;
  }
  if (options.iv == nullptr && options.iv_length != 0) return STOCKADE_ERROR_NULL_POINTER;
  if (options.aad == nullptr && options.aad_length != 0) return STOCKADE_ERROR_NULL_POINTER;
  const bool can_pad = key.mode == STOCKADE_ECB || key.mode == STOCKADE_CBC;
  if (options.padding != STOCKADE_PADDING_NONE && !can_pad) return STOCKADE_ERROR_MODE;
  if (options.unit != 0 && key.mode != STOCKADE_XTS) return STOCKADE_ERROR_MODE;
  if (key.mode == STOCKADE_GCM) return gcm::check(options.iv_length, options.aad_length, 0, tag_bytes);
  return options.aad_length != 0 ? STOCKADE_ERROR_MODE : aes::check_iv(key.mode, options.iv_length);
}

Status run(engine::FileJob& job, engine::FileWork& work, const config::EngineChoice& engine, stockade_raw_options& options) {
  const Status status = engine::run_file(job, work, engine);
  options.in_length = job.in_length;
  options.out_length = job.out_length;
  return status;
}

}  // namespace

Status crypt_fd(const engine::CipherKey& key, stockade_direction direction, int in_fd, int out_fd,
                stockade_raw_options& options, const config::EngineChoice& engine, const FilePace& pace) {
  if (options.struct_size != sizeof options) return STOCKADE_ERROR_ARGUMENT;
  options.in_length = 0;
  options.out_length = 0;
  const Status status = check_options(key, options);
  if (status != STOCKADE_OK) return status;
  engine::FileJob job{};
  job.in_fd = in_fd;
  job.out_fd = out_fd;
  job.run_bytes = std::max(pace.run_bytes / block_bytes, uint64_t{1}) * block_bytes;
  job.progress_interval = pace.progress_interval;
  job.progress = options.progress;
  job.progress_context = options.progress_context;
  if (key.mode == STOCKADE_GCM) {
    GcmFile work(key.gcm, direction, options);
    job.kept_bytes = direction == STOCKADE_DECRYPT ? tag_bytes : 0;
    job.added_bytes = direction == STOCKADE_ENCRYPT ? tag_bytes : 0;
    job.only_regular_output = direction == STOCKADE_DECRYPT;
    return run(job, work, engine, options);
  }
  if (key.mode == STOCKADE_XTS) {
    UnitFile work(key.aes, direction, options.iv, options.unit);
    job.run_bytes = work.run_bytes(pace.run_bytes);
    return run(job, work, engine, options);
  }
  BlockFile work(key.aes, direction, options.iv, options.padding == STOCKADE_PADDING_PKCS7);
  job.in_order = work.in_order();
  return run(job, work, engine, options);
}

}  // namespace stockade::format
