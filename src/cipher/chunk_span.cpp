#include "cipher/chunk_span.h"

#include <algorithm>
#include <atomic>

#include "base/fault.h"
#include "base/secret.h"
#include "base/without_throwing.h"
#include "cipher/key.h"

namespace stockade::cipher {
namespace {

// Chunks that a worker of the CPU takes at a time.
constexpr uint64_t grain_chunks = 4;

offload::ChunkRange range_of(const chunked::PayloadKey& key, const ChunkSpan& span) {
  return {span.in, span.out, span.first, 0, 0, key.base_nonce, nullptr};
}

// A span cut into pieces of several chunks for the workers of a executor.
class Pieces {
 public:
  Pieces(const offload::Executor& executor, const ChunkSpan& span, uint64_t count, uint64_t in_bytes,
         uint64_t out_bytes)
      : span_(span), in_bytes_(in_bytes), out_bytes_(out_bytes) {
    const uint64_t longest = offload::TransferSlot::capacity(executor.piece_bytes(0)) / chunked::sealed_chunk_bytes;
    const uint64_t share = (count + executor.plan().workers - 1) / executor.plan().workers;
    each_ = executor.slots() == 0 ? grain_chunks : std::max<uint64_t>(1, std::min(longest, share));
    pieces_ = std::max<uint64_t>(1, (count + each_ - 1) / each_);
  }

  uint64_t count() const { return pieces_; }
  uint64_t first_chunk(uint64_t piece) const { return piece * each_; }
  ChunkSpan operator[](uint64_t piece) const {
    const uint64_t begin = first_chunk(piece);
    const bool last = piece + 1 == pieces_;
    const uint64_t length = last ? span_.length - begin * in_bytes_ : each_ * in_bytes_;
    return {span_.first + begin, span_.in + begin * in_bytes_, length, span_.last && last,
            span_.out + begin * out_bytes_};
  }

 private:
  const ChunkSpan& span_;
  const uint64_t in_bytes_, out_bytes_;  // of a chunk
  uint64_t each_ = 0, pieces_ = 0;
};

void lower(std::atomic<uint64_t>& least, uint64_t value) {
  uint64_t known = least.load(std::memory_order_relaxed);
  while (value < known && !least.compare_exchange_weak(known, value, std::memory_order_relaxed)) {
  }
}

}  // namespace

Status seal_span(const offload::Worker& worker, const chunked::PayloadKey& key, const offload::DeviceKey& device_key,
                 const ChunkSpan& span) {
  offload::ChunkRange range = range_of(key, span);
  range.count = span.length / chunked::chunk_bytes + (span.last ? 1 : 0);
  range.last_length = static_cast<uint32_t>(span.last ? span.length % chunked::chunk_bytes : chunked::chunk_bytes);
  const Status status =
      worker.attempt([&](offload::TransferSlot& slot) { return slot.seal_chunks(device_key, range); });
  if (status != STOCKADE_OK || range.count == 0) return status;
  const uint64_t rest = span.length - static_cast<uint64_t>(range.in - span.in);
  chunked::seal_chunks(key, range.first, range.in, rest, span.last, range.out);
  return STOCKADE_OK;
}

Status open_span(const offload::Worker& worker, const chunked::PayloadKey& key, const offload::DeviceKey& device_key,
                 const ChunkSpan& span, std::vector<uint32_t>& refused) {
  const uint64_t count = span.sealed_count();
  refused.clear();
  if (count == 0) return STOCKADE_OK;
  if (worker.slot != nullptr) refused.resize(count);
  offload::ChunkRange range = range_of(key, span);
  range.count = count;
  const uint64_t before_last = (count - 1) * chunked::sealed_chunk_bytes;
  range.last_length =
      static_cast<uint32_t>(std::min(chunked::sealed_chunk_bytes, span.length - before_last) - chunked::tag_bytes);
  range.refused = refused.data();
  const Status status =
      worker.attempt([&](offload::TransferSlot& slot) { return slot.open_chunks(device_key, range); });
  refused.resize(count - range.count);
  return status;
}

Status open_span(const offload::Worker& worker, const chunked::PayloadKey& key, const offload::DeviceKey& device_key,
                 const ChunkSpan& span, uint64_t* damaged) {
  *damaged = UINT64_MAX;
  std::vector<uint32_t> refused;
  const Status status = open_span(worker, key, device_key, span, refused);
  if (status != STOCKADE_OK) return status;
  for (uint64_t i = 0; i < span.sealed_count(); ++i) {
    const uint64_t length = std::min(chunked::sealed_chunk_bytes, span.length - i * chunked::sealed_chunk_bytes);
    const bool intact = i < refused.size()
                            ? refused[i] == 0
                            : chunked::open_chunk(key, span.first + i, span.in + i * chunked::sealed_chunk_bytes,
                                                  length, span.out + i * chunked::chunk_bytes);
    if (intact) continue;
    *damaged = i;
    return STOCKADE_OK;
  }
  return STOCKADE_OK;
}

namespace {

parallel::Task task_of(const chunked::PayloadKey& key, uint64_t chunks) {
  return {tune::Operation::chunks, key.gcm.bits, chunks * chunked::chunk_bytes, chunks, false};
}

}  // namespace

Status seal_span(const config::EngineChoice& engine, const chunked::PayloadKey& key, const ChunkSpan& span) {
  const uint64_t count = span.length / chunked::chunk_bytes + (span.last ? 1 : 0);
  if (count == 0) return STOCKADE_OK;
  offload::Executor executor;
  const Status status =
      executor.acquire(engine, task_of(key, count), offload::home_of(engine, span.in, span.out, span.length));
  if (status != STOCKADE_OK) return status;
  Secret<offload::DeviceKey> device_key;
  if (executor.slots() != 0) offload::make_device_key(key.gcm, *device_key);
  const Pieces pieces(executor, span, count, chunked::chunk_bytes, chunked::sealed_chunk_bytes);
  return executor.run(pieces.count(), [&](offload::TransferSlot* slot, uint64_t i) {
    return seal_span({executor, slot}, key, *device_key, pieces[i]);
  });
}

Status open_span(const config::EngineChoice& engine, const chunked::PayloadKey& key, const ChunkSpan& span,
                 uint64_t* damaged) {
  *damaged = UINT64_MAX;
  const uint64_t count = span.sealed_count();
  if (count == 0) return STOCKADE_OK;
  offload::Executor executor;
  const Status status =
      executor.acquire(engine, task_of(key, count), offload::home_of(engine, span.in, span.out, span.length));
  if (status != STOCKADE_OK) return status;
  Secret<offload::DeviceKey> device_key;
  if (executor.slots() != 0) offload::make_device_key(key.gcm, *device_key);
  const Pieces pieces(executor, span, count, chunked::sealed_chunk_bytes, chunked::chunk_bytes);
  std::atomic<uint64_t> first{UINT64_MAX};
  const Status opened = executor.run(pieces.count(), [&](offload::TransferSlot* slot, uint64_t i) {
    return without_throwing([&] {
      uint64_t in_piece;
      const Status done = open_span({executor, slot}, key, *device_key, pieces[i], &in_piece);
      if (in_piece != UINT64_MAX) lower(first, pieces.first_chunk(i) + in_piece);
      return done;
    });
  });
  *damaged = first.load();
  return opened;
}

}  // namespace stockade::cipher
