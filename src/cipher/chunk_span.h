// Chunks of a payload in a row, by one worker of an executor or by all workers of an engine: with slots where there are
// some, else with the functions of chunked/payload.h.
#pragma once

#include <cstdint>
#include <vector>

#include "base/status.h"
#include "chunked/payload.h"
#include "config/environment.h"
#include "offload/device_key.h"
#include "offload/executor.h"

namespace stockade::cipher {

// Chunks from number `first` on. `in` holds plaintext to be sealed, or sealed chunks to be opened; `out` does not
// overlap it.
struct ChunkSpan {
  uint64_t first;
  const uint8_t* in;
  uint64_t length;  // of `in`; whole chunks unless it is the last
  bool last;        // the payload ends behind it
  uint8_t* out;     // opening with a slot: may be null, where the plaintext is not wanted

  // How many there are to be opened. What is shorter than a tag is no chunk.
  uint64_t sealed_count() const {
    return length / chunked::sealed_chunk_bytes + (length % chunked::sealed_chunk_bytes >= chunked::tag_bytes ? 1 : 0);
  }
};

// Seals a span: the worker's slot does it, or the CPU what that leaves. The same bytes as seal_chunks of chunked/payload.h.
// With the engine `cuda`: what a device fails with.
Status seal_span(const offload::Worker& worker, const chunked::PayloadKey& key, const offload::DeviceKey& device_key,
                 const ChunkSpan& span);

// Has the worker's slot open a span. `refused` gets a word for each chunk, from the first on, that it has come to: 0 if
// the chunk is authentic; else zeros stand for its plaintext. What is behind those is left to the CPU. Errors as above.
Status open_span(const offload::Worker& worker, const chunked::PayloadKey& key, const offload::DeviceKey& device_key,
                 const ChunkSpan& span, std::vector<uint32_t>& refused);

// The same, and the CPU opens what is left: `damaged` becomes the first chunk of the span, from 0, that is not
// authentic, or UINT64_MAX; chunks behind it may not have been opened. May throw std::bad_alloc.
Status open_span(const offload::Worker& worker, const chunked::PayloadKey& key, const offload::DeviceKey& device_key,
                 const ChunkSpan& span, uint64_t* damaged);

// The same by all workers of an engine; `damaged` becomes the first chunk in the span that is not authentic, or
// UINT64_MAX. Errors: with `cuda` those of Executor::acquire and what a device fails with; `out` is then to be
// wiped.
Status seal_span(const config::EngineChoice& engine, const chunked::PayloadKey& key, const ChunkSpan& span);
Status open_span(const config::EngineChoice& engine, const chunked::PayloadKey& key, const ChunkSpan& span,
                 uint64_t* damaged);

}  // namespace stockade::cipher
