#include "cipher/raw_transform.h"

#include <algorithm>
#include <cstring>

#include "aes/padding.h"
#include "base/bytes.h"

namespace stockade::cipher {
namespace {

constexpr uint64_t block_bytes = aes::block_bytes;
static_assert(segment_margin >= block_bytes && segment_margin >= GcmTransform::tag_bytes);

}  // namespace

BlockTransform::BlockTransform(const aes::Key& key, stockade_direction direction, const void* iv, bool padded)
    : key_(key), direction_(direction), in_order_(!aes::splits(key.mode, direction)), padded_(padded) {
  if (iv != nullptr) std::memcpy(*iv_, iv, block_bytes);
}

Status BlockTransform::check(uint64_t length) {
  if (!padded_) return aes::check_length(key_.mode, length);
  const bool possible = direction_ == STOCKADE_ENCRYPT || (length != 0 && length % block_bytes == 0);
  return possible ? STOCKADE_OK : STOCKADE_ERROR_DATA_LENGTH;
}

Status BlockTransform::apply(Segment& segment, const offload::Worker& worker) {
  const bool ends_padded = padded_ && segment.last;
  if (ends_padded && direction_ == STOCKADE_ENCRYPT) {
    const uint64_t used = segment.length % block_bytes;
    aes::pad_block(segment.data + segment.length - used, used);
    segment.out_length += block_bytes - used;
  }
  aes::Range range{segment.data, segment.out, segment.out_length, {}};
  if (!in_order_) {
    aes::start_chain(key_, *iv_, segment.offset / block_bytes, segment.data - block_bytes, range.chain);
  } else if (segment.offset == 0) {
    aes::start_chain(key_, *iv_, 0, nullptr, range.chain);
  } else {
    std::memcpy(range.chain, *chain_, block_bytes);
  }
  const Status status = worker.attempt([&](offload::TransferSlot& slot) {
    return slot.crypt(*device_key_, direction_, range, worker.executor.keeps_input());
  });
  if (status == STOCKADE_OK && range.length != 0) {
    aes::run_range(key_, direction_, range, aes::Stores::ordinary);
  }
  if (in_order_) std::memcpy(*chain_, range.chain, block_bytes);
  wipe(range.chain, block_bytes);
  if (status != STOCKADE_OK) return status;
  if (ends_padded && direction_ == STOCKADE_DECRYPT) {
    const uint32_t padding = aes::padding_length(segment.out + segment.out_length - block_bytes);
    if (padding == 0) return STOCKADE_ERROR_PADDING;
    segment.out_length -= padding;
  }
  return STOCKADE_OK;
}

UnitTransform::UnitTransform(const aes::Key& key, stockade_direction direction, const void* iv, uint64_t unit)
    : key_(key), direction_(direction), unit_(unit) {
  std::memcpy(iv_, iv, sizeof iv_);
}

uint64_t UnitTransform::segment_bytes(uint64_t wanted) const {
  return unit_ == 0 ? aes::max_unit_bytes : std::max<uint64_t>(1, wanted / unit_) * unit_;
}

Status UnitTransform::check(uint64_t length) {
  if (unit_ == 0 || length == 0) return aes::check_length(STOCKADE_XTS, length);
  const uint64_t rest = length % unit_;
  return rest == 0 ? STOCKADE_OK : aes::check_length(STOCKADE_XTS, rest);
}

Status UnitTransform::apply(Segment& segment, const offload::Worker& worker) {
  if (unit_ == 0 && !segment.last) return STOCKADE_ERROR_DATA_TOO_LONG;
  const uint64_t unit = unit_ == 0 ? segment.length : unit_;
  if (segment.length == 0) return STOCKADE_OK;
  offload::UnitRange range{segment.data, segment.out, segment.length, unit, {}};
  std::memcpy(range.number, iv_, sizeof iv_);
  add_le128(range.number, segment.offset / unit);
  const Status status = worker.attempt([&](offload::TransferSlot& slot) {
    return slot.crypt_units(*device_key_, direction_, range, worker.executor.keeps_input());
  });
  if (status != STOCKADE_OK || range.length == 0) return status;
  aes::run_units(key_, direction_, range.number, unit, range.in, range.out, range.length, aes::Stores::ordinary);
  return STOCKADE_OK;
}

GcmTransform::GcmTransform(const gcm::Key& key, stockade_direction direction, const void* iv, uint64_t iv_length,
                           const void* aad, uint64_t aad_length)
    : key_(key), direction_(direction), iv_length_(iv_length), aad_length_(aad_length) {
  gcm::derive_j0(key, static_cast<const uint8_t*>(iv), iv_length, *j0_);
  if (aad_length != 0) gcm::hash_padded(key, *hash_, static_cast<const uint8_t*>(aad), aad_length);
}

Status GcmTransform::check(uint64_t length) {
  if (direction_ == STOCKADE_DECRYPT) {
    if (length < tag_bytes) return STOCKADE_ERROR_AUTHENTICATION;
    length -= tag_bytes;
  }
  return gcm::check(iv_length_, aad_length_, length, tag_bytes);
}

Status GcmTransform::apply(Segment& segment, const offload::Worker& worker) {
  // Where the length is not known beforehand, the counter must not wrap before the end of the input is seen.
  if (segment.offset + segment.length > gcm::max_message_bytes) return STOCKADE_ERROR_DATA_TOO_LONG;
  Secret<offload::GcmRange> part;
  *part = {segment.data, segment.out, segment.length, segment.offset / block_bytes, {}};
  const Status status = worker.attempt([&](offload::TransferSlot& slot) {
    return slot.crypt(*device_key_, direction_, *j0_, *part, worker.executor.keeps_input());
  });
  if (status != STOCKADE_OK) return status;
  if (part->length != 0) {
    gcm::run_range(key_, direction_, *j0_, part->first_block, part->y, part->in, part->out, part->length,
                   aes::Stores::ordinary);
  }
  join(segment, part->y);
  return STOCKADE_OK;
}

// Parts that come before their turn wait; there are about as many of them as workers.
void GcmTransform::join(const Segment& segment, const uint8_t hash[block_bytes]) {
  const std::lock_guard lock(mutex_);
  Part& own = waiting_[segment.offset];
  own.length = segment.length;
  std::memcpy(*own.hash, hash, block_bytes);
  for (auto part = waiting_.find(joined_); part != waiting_.end(); part = waiting_.find(joined_)) {
    const uint64_t length = part->second.length;
    gcm::append_hash(key_, *hash_, *part->second.hash, (length + block_bytes - 1) / block_bytes);
    waiting_.erase(part);
    joined_ += length;
  }
}

Status GcmTransform::finish(uint64_t length, const uint8_t* kept, uint8_t* added) {
  const std::lock_guard lock(mutex_);
  Secret<uint8_t[tag_bytes]> tag;
  gcm::finish_tag(key_, *j0_, *hash_, aad_length_, length, *tag);
  if (direction_ == STOCKADE_ENCRYPT) {
    std::memcpy(added, *tag, tag_bytes);
    return STOCKADE_OK;
  }
  return equal_constant_time(*tag, kept, tag_bytes) ? STOCKADE_OK : STOCKADE_ERROR_AUTHENTICATION;
}

}  // namespace stockade::cipher
