#include "cipher/payload_transform.h"

#include <algorithm>

#include "cipher/chunk_span.h"

namespace stockade::cipher {
namespace {

// Calls body(chunk, its place in the run, in, length with tag, whether it is the payload's last) for each chunk of a run of
// ciphertext. The last run may end in less than a tag, which is no chunk.
template <typename Body>
void for_each_chunk(const Segment& segment, Body&& body) {
  const uint64_t first = segment.offset / chunked::sealed_chunk_bytes;
  for (uint64_t done = 0, i = 0; done < segment.length; done += chunked::sealed_chunk_bytes, ++i) {
    const uint64_t length = std::min(chunked::sealed_chunk_bytes, segment.length - done);
    const bool last = segment.last && length < chunked::sealed_chunk_bytes;
    if (length < chunked::tag_bytes || !body(first + i, i, segment.data + done, length, last)) return;
  }
}

// For open_span.
ChunkSpan span_of(const Segment& segment, uint8_t* out) {
  return {segment.offset / chunked::sealed_chunk_bytes, segment.data, segment.length, segment.last, out};
}

}  // namespace

Status SealTransform::check(uint64_t length) {
  return length / chunked::chunk_bytes < chunked::max_chunks ? STOCKADE_OK : STOCKADE_ERROR_TOO_MANY_CHUNKS;
}

Status SealTransform::apply(Segment& segment, const offload::Worker& worker) {
  const uint64_t first = segment.offset / chunked::chunk_bytes;
  // Where the length is not known beforehand, this is where the limit is met.
  Status status = check(segment.offset + segment.length);
  if (status != STOCKADE_OK) return status;
  status = seal_span(worker, key_, *device_key_, {first, segment.data, segment.length, segment.last, segment.out});
  if (status != STOCKADE_OK) return status;
  segment.out_length = chunked::sealed_length(segment.length, segment.last);
  return STOCKADE_OK;
}

Status CheckTransform::check(uint64_t length) {
  if (length / chunked::sealed_chunk_bytes < chunked::max_chunks) return STOCKADE_OK;
  note(make_fault(STOCKADE_ERROR_TOO_MANY_CHUNKS));
  return STOCKADE_ERROR_TOO_MANY_CHUNKS;
}

bool ChunkTransform::comes_first(uint64_t chunk) {
  const std::lock_guard lock(mutex_);
  return fault_.status == STOCKADE_OK || file_offset(chunk) < fault_.offset;
}

void ChunkTransform::note(const stockade_fault& fault) {
  const std::lock_guard lock(mutex_);
  if (fault_.status == STOCKADE_OK || fault.offset < fault_.offset) fault_ = fault;
}

void ChunkTransform::note(uint64_t chunk, const uint8_t* in, uint64_t rest, bool last) {
  stockade_fault fault = fault_in_chunk(STOCKADE_ERROR_CHUNK, chunk, file_offset(chunk));
  fault.value = last ? 1 : 0;
  if (const uint64_t end = chunked::find_end(key_, chunk, in, rest)) {
    fault = fault_at(STOCKADE_ERROR_TRAILING_DATA, file_offset(chunk) + end);
  }
  note(fault);
}

Status OpenTransform::check(uint64_t length) {
  uint64_t plain;
  const Status status = chunked::plaintext_length(length + chunked::preamble_bytes, &plain);
  const uint64_t end = file_offset(0) + length;
  if (status != STOCKADE_OK) note(fault_at(status, end));
  return status;
}

Status OpenTransform::apply(Segment& segment, const offload::Worker& worker) {
  std::vector<uint32_t> refused;
  const Status status = open_span(worker, key_, *device_key_, span_of(segment, segment.out), refused);
  if (status != STOCKADE_OK) return status;
  uint8_t* out = segment.out;
  bool intact = true;
  for_each_chunk(segment, [&](uint64_t chunk, uint64_t i, const uint8_t* in, uint64_t length, bool last) {
    intact = i < refused.size() ? refused[i] == 0 : chunked::open_chunk(key_, chunk, in, length, out);
    if (!intact) note(chunk, in, length, last);
    out += length - chunked::tag_bytes;
    return intact;
  });
  if (!intact) return fault().status;
  segment.out_length = static_cast<uint64_t>(out - segment.out);
  return STOCKADE_OK;
}

Status CheckTransform::apply(Segment& segment, const offload::Worker& worker) {
  std::vector<uint32_t> refused;
  const Status status = open_span(worker, key_, *device_key_, span_of(segment, nullptr), refused);
  if (status != STOCKADE_OK) return status;
  std::vector<Damage> found;
  uint64_t intact = 0;
  bool ended = false;
  for_each_chunk(segment, [&](uint64_t chunk, uint64_t i, const uint8_t* in, uint64_t length, bool last) {
    ended = last;
    if (i < refused.size() ? refused[i] == 0 : chunked::check_chunk(key_, chunk, in, length)) {
      intact += length - chunked::tag_bytes;
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
  if (segment.last && !ended)
    note(fault_at(STOCKADE_ERROR_TRUNCATED, file_offset(0) + segment.offset + segment.length));
  add(found, intact);
  return STOCKADE_OK;
}

void CheckTransform::add(const std::vector<Damage>& found, uint64_t intact) {
  const std::lock_guard lock(list_mutex_);
  damages_.insert(damages_.end(), found.begin(), found.end());
  intact_bytes_ += intact;
}

std::vector<CheckTransform::Damage> CheckTransform::damages() {
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

}  // namespace stockade::cipher
