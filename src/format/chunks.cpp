#include "format/chunks.h"

#include <algorithm>
#include <atomic>

#include "base/secret.h"
#include "format/fault.h"

namespace stockade::format {
namespace {

// Chunks that a worker of the CPU takes at a time.
constexpr uint64_t grain_chunks = 4;

engine::ChunkRange range_of(const PayloadKey& key, const ChunkSpan& span) {
  return {span.in, span.out, span.first, 0, 0, key.base_nonce, nullptr};
}

// A span cut into pieces of several chunks for the workers of a crew.
class Pieces {
 public:
  Pieces(const engine::Crew& crew, const ChunkSpan& span, uint64_t count, uint64_t in_bytes, uint64_t out_bytes)
      : span_(span), in_bytes_(in_bytes), out_bytes_(out_bytes) {
    const uint64_t longest = engine::Lane::capacity(crew.piece_bytes(0)) / sealed_chunk_bytes;
    const uint64_t share = (count + crew.plan().workers - 1) / crew.plan().workers;
    each_ = crew.lanes() == 0 ? grain_chunks : std::max<uint64_t>(1, std::min(longest, share));
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

Status seal_span(const engine::Worker& worker, const PayloadKey& key, const engine::LaneKey& lane_key,
                 const ChunkSpan& span) {
  engine::ChunkRange range = range_of(key, span);
  range.count = span.length / chunk_bytes + (span.last ? 1 : 0);
  range.last_length = static_cast<uint32_t>(span.last ? span.length % chunk_bytes : chunk_bytes);
  const Status status = worker.attempt([&](engine::Lane& lane) { return lane.seal_chunks(lane_key, range); });
  if (status != STOCKADE_OK || range.count == 0) return status;
  const uint64_t rest = span.length - static_cast<uint64_t>(range.in - span.in);
  seal_chunks(key, range.first, range.in, rest, span.last, range.out);
  return STOCKADE_OK;
}

Status open_span(const engine::Worker& worker, const PayloadKey& key, const engine::LaneKey& lane_key,
                 const ChunkSpan& span, std::vector<uint32_t>& refused) {
  const uint64_t count = span.sealed_count();
  refused.clear();
  if (count == 0) return STOCKADE_OK;
  if (worker.lane != nullptr) refused.resize(count);
  engine::ChunkRange range = range_of(key, span);
  range.count = count;
  const uint64_t before_last = (count - 1) * sealed_chunk_bytes;
  range.last_length = static_cast<uint32_t>(std::min(sealed_chunk_bytes, span.length - before_last) - tag_bytes);
  range.refused = refused.data();
  const Status status = worker.attempt([&](engine::Lane& lane) { return lane.open_chunks(lane_key, range); });
  refused.resize(count - range.count);
  return status;
}

Status open_span(const engine::Worker& worker, const PayloadKey& key, const engine::LaneKey& lane_key,
                 const ChunkSpan& span, uint64_t* damaged) {
  *damaged = UINT64_MAX;
  std::vector<uint32_t> refused;
  const Status status = open_span(worker, key, lane_key, span, refused);
  if (status != STOCKADE_OK) return status;
  for (uint64_t i = 0; i < span.sealed_count(); ++i) {
    const uint64_t length = std::min(sealed_chunk_bytes, span.length - i * sealed_chunk_bytes);
    const bool intact = i < refused.size() ? refused[i] == 0
                                           : open_chunk(key, span.first + i, span.in + i * sealed_chunk_bytes, length,
                                                        span.out + i * chunk_bytes);
    if (intact) continue;
    *damaged = i;
    return STOCKADE_OK;
  }
  return STOCKADE_OK;
}

namespace {

parallel::Task task_of(const PayloadKey& key, uint64_t chunks) {
  return {tune::Operation::chunks,      key.gcm().bits, chunks * chunk_bytes, chunks, false, 0,
          engine::row_number(key.gcm())};
}

}  // namespace

Status seal_span(const config::EngineChoice& engine, const PayloadKey& key, const ChunkSpan& span) {
  const uint64_t count = span.length / chunk_bytes + (span.last ? 1 : 0);
  if (count == 0) return STOCKADE_OK;
  engine::Crew crew;
  const Status status =
      crew.gather(engine, task_of(key, count), engine::home_of(engine, span.in, span.out, span.length));
  if (status != STOCKADE_OK) return status;
  Secret<engine::LaneKey> lane_key;
  if (crew.lanes() != 0) engine::make_lane_key(key.gcm(), *lane_key);
  const Pieces pieces(crew, span, count, chunk_bytes, sealed_chunk_bytes);
  return crew.run(pieces.count(), [&](engine::Lane* lane, uint64_t i) {
    return seal_span({crew, lane}, key, *lane_key, pieces[i]);
  });
}

Status open_span(const config::EngineChoice& engine, const PayloadKey& key, const ChunkSpan& span, uint64_t* damaged) {
  *damaged = UINT64_MAX;
  const uint64_t count = span.sealed_count();
  if (count == 0) return STOCKADE_OK;
  engine::Crew crew;
  const Status status =
      crew.gather(engine, task_of(key, count), engine::home_of(engine, span.in, span.out, span.length));
  if (status != STOCKADE_OK) return status;
  Secret<engine::LaneKey> lane_key;
  if (crew.lanes() != 0) engine::make_lane_key(key.gcm(), *lane_key);
  const Pieces pieces(crew, span, count, sealed_chunk_bytes, chunk_bytes);
  std::atomic<uint64_t> first{UINT64_MAX};
  const Status opened = crew.run(pieces.count(), [&](engine::Lane* lane, uint64_t i) {
    return without_throwing([&] {
      uint64_t in_piece;
      const Status done = open_span({crew, lane}, key, *lane_key, pieces[i], &in_piece);
      if (in_piece != UINT64_MAX) lower(first, pieces.first_chunk(i) + in_piece);
      return done;
    });
  });
  *damaged = first.load();
  return opened;
}

}  // namespace stockade::format
