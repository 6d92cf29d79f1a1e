#include "format/payload_work.h"

#include <algorithm>

#include "format/chunks.h"

namespace stockade::format {
namespace {

// Calls body(chunk, its place in the run, in, length with tag, whether it is the payload's last) for each chunk of a run of
// ciphertext. The last run may end in less than a tag, which is no chunk.
template <typename Body>
void for_each_chunk(const engine::FileRun& run, Body&& body) {
  const uint64_t first = run.offset / sealed_chunk_bytes;
  for (uint64_t done = 0, i = 0; done < run.length; done += sealed_chunk_bytes, ++i) {
    const uint64_t length = std::min(sealed_chunk_bytes, run.length - done);
    const bool last = run.last && length < sealed_chunk_bytes;
    if (length < tag_bytes || !body(first + i, i, run.data + done, length, last)) return;
  }
}

// For open_span.
ChunkSpan span_of(const engine::FileRun& run, uint8_t* out) {
  return {run.offset / sealed_chunk_bytes, run.data, run.length, run.last, out};
}

}  // namespace

Status SealWork::check(uint64_t length) {
  return length / chunk_bytes < max_chunks ? STOCKADE_OK : STOCKADE_ERROR_TOO_MANY_CHUNKS;
}

Status SealWork::transform(engine::FileRun& run, const engine::Worker& worker) {
  const uint64_t first = run.offset / chunk_bytes;
  // Where the length is not known beforehand, this is where the limit is met.
  Status status = check(run.offset + run.length);
  if (status != STOCKADE_OK) return status;
  status = seal_span(worker, key_, *lane_key_, {first, run.data, run.length, run.last, run.out});
  if (status != STOCKADE_OK) return status;
  run.out_length = sealed_length(run.length, run.last);
  return STOCKADE_OK;
}

Status CheckWork::check(uint64_t length) {
  if (length / sealed_chunk_bytes < max_chunks) return STOCKADE_OK;
  note(make_fault(STOCKADE_ERROR_TOO_MANY_CHUNKS));
  return STOCKADE_ERROR_TOO_MANY_CHUNKS;
}

bool ChunkWork::comes_first(uint64_t chunk) {
  const std::lock_guard lock(mutex_);
  return fault_.status == STOCKADE_OK || file_offset(chunk) < fault_.offset;
}

void ChunkWork::note(const stockade_fault& fault) {
  const std::lock_guard lock(mutex_);
  if (fault_.status == STOCKADE_OK || fault.offset < fault_.offset) fault_ = fault;
}

void ChunkWork::note(uint64_t chunk, const uint8_t* in, uint64_t rest, bool last) {
  stockade_fault fault = fault_in_chunk(STOCKADE_ERROR_CHUNK, chunk, file_offset(chunk));
  fault.value = last ? 1 : 0;
  if (const uint64_t end = find_end(key_, chunk, in, rest)) {
    fault = fault_at(STOCKADE_ERROR_TRAILING_DATA, file_offset(chunk) + end);
  }
  note(fault);
}

Status OpenWork::check(uint64_t length) {
  uint64_t plain;
  const Status status = plaintext_length(length + preamble_bytes, &plain);
  const uint64_t end = file_offset(0) + length;
  if (status != STOCKADE_OK) note(fault_at(status, end));
  return status;
}

Status OpenWork::transform(engine::FileRun& run, const engine::Worker& worker) {
  std::vector<uint32_t> refused;
  const Status status = open_span(worker, key_, *lane_key_, span_of(run, run.out), refused);
  if (status != STOCKADE_OK) return status;
  uint8_t* out = run.out;
  bool intact = true;
  for_each_chunk(run, [&](uint64_t chunk, uint64_t i, const uint8_t* in, uint64_t length, bool last) {
    intact = i < refused.size() ? refused[i] == 0 : open_chunk(key_, chunk, in, length, out);
    if (!intact) note(chunk, in, length, last);
    out += length - tag_bytes;
    return intact;
  });
  if (!intact) return fault().status;
  run.out_length = static_cast<uint64_t>(out - run.out);
  return STOCKADE_OK;
}

Status CheckWork::transform(engine::FileRun& run, const engine::Worker& worker) {
  std::vector<uint32_t> refused;
  const Status status = open_span(worker, key_, *lane_key_, span_of(run, nullptr), refused);
  if (status != STOCKADE_OK) return status;
  std::vector<Damage> found;
  uint64_t intact = 0;
  bool ended = false;
  for_each_chunk(run, [&](uint64_t chunk, uint64_t i, const uint8_t* in, uint64_t length, bool last) {
    ended = last;
    if (i < refused.size() ? refused[i] == 0 : check_chunk(key_, chunk, in, length)) {
      intact += length - tag_bytes;
      return true;
    }
    // Only what comes before all that is known is looked at more closely.
    if (comes_first(chunk)) note(chunk, in, length, last);
    if (found.empty() || found.back().chunk + found.back().count != chunk) {
      found.push_back({chunk, 0, file_offset(chunk), 0});
    }
    found.back().count += 1;
    found.back().length += length;
    return true;
  });
  if (run.last && !ended) note(fault_at(STOCKADE_ERROR_TRUNCATED, file_offset(0) + run.offset + run.length));
  add(found, intact);
  return STOCKADE_OK;
}

void CheckWork::add(const std::vector<Damage>& found, uint64_t intact) {
  const std::lock_guard lock(list_mutex_);
  damages_.insert(damages_.end(), found.begin(), found.end());
  intact_bytes_ += intact;
}

std::vector<CheckWork::Damage> CheckWork::damages() {
  std::sort(damages_.begin(), damages_.end(), [](const Damage& a, const Damage& b) { return a.chunk < b.chunk; });
  std::vector<Damage> joined;
  for (const Damage& damage : damages_) {
    if (!joined.empty() && joined.back().chunk + joined.back().count == damage.chunk) {
      joined.back().count += damage.count;
      joined.back().length += damage.length;
    } else {
      joined.push_back(damage);
    }
  }
  return joined;
}

}  // namespace stockade::format
