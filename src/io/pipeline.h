// The stages that a segment goes through, and the ways to order them: in turn on one thread; by offset, where every worker
// reads and writes its own segments (by_offset.cpp); in order, where a reader, workers and a writer overlap (ordered.h).
#pragma once

#include <atomic>
#include <cstdint>

#include "base/secret.h"
#include "cipher/transform.h"
#include "io/job_state.h"
#include "io/sink.h"
#include "io/source.h"
#include "io/transfer.h"
#include "offload/executor.h"

namespace stockade::io {

// Keeps the data of a buffer aligned behind the segment_margin bytes before it.
inline constexpr uint64_t buffer_lead = 64;

// Of output for a segment of segment_bytes.
inline uint64_t out_bytes(const TransferOptions& options) {
  return options.out_segment_bytes != 0 ? options.out_segment_bytes : options.segment_bytes;
}

// A buffer with the segment that it holds.
struct Buffer {
  SecretBuffer memory;
  SecretBuffer out_memory;  // unless the work is done in place
  cipher::Segment segment;
  uint64_t taken;  // bytes of the input in this segment, kept ones included
};

// One transfer: the three stages that a segment goes through, and the ways to order them.
class Pipeline {
 public:
  Pipeline(const TransferOptions& options, cipher::Transform& transform, Source& source, Sink& sink,
           offload::Executor& executor)
      : options_(options),
        transform_(transform),
        source_(source),
        sink_(sink),
        executor_(executor),
        state_(options, source.length()) {}

  Status run(TransferResult& result);

  // The stages. False if the job has failed; the state knows why. `worker` is its number in the executor.
  bool fill(Buffer& buffer);
  bool apply(Buffer& buffer, uint32_t worker);
  bool put(Buffer& buffer);

  JobState& state() { return state_; }

 private:
  // The most that one segment can hold.
  uint64_t capacity() const {
    const uint64_t most = options_.segment_bytes + cipher::segment_reserve;
    return source_.sized() ? std::min(most, source_.length()) : most;
  }
  uint64_t buffer_bytes() const { return buffer_lead + capacity() + cipher::segment_margin; }
  uint64_t out_buffer_bytes() const {
    if (options_.out_segment_bytes == 0) return 0;
    if (options_.in_order) return options_.out_segment_bytes;
    return capacity() * options_.out_segment_bytes / options_.segment_bytes + cipher::segment_reserve +
           cipher::segment_margin;
  }
  uint64_t count_segments() const { return cipher::last_segment(source_.length(), options_.segment_bytes) + 1; }
  uint64_t out_offset(const cipher::Segment& segment) const {
    return options_.lead_length + segment.offset / options_.segment_bytes * out_bytes(options_);
  }
  bool prepare(Buffer& buffer);
  bool borrow(Buffer& buffer, offload::TransferSlot& slot);
  bool fill_at(uint64_t index, uint64_t segments, Buffer& buffer);
  void move();
  void move_in_turn(Buffer& buffer);
  void move_by_offset(parallel::Plan plan);
  void move_claimed(uint32_t worker);
  void conclude();

  const TransferOptions& options_;
  cipher::Transform& transform_;
  Source& source_;
  Sink& sink_;
  offload::Executor& executor_;
  JobState state_;

  // Of workers that claim their segments.
  std::atomic<uint64_t> next_segment_{0};

  // Of the reading side: where the next segment begins, and the bytes read ahead of it behind those before it.
  uint64_t offset_ = 0;
  uint64_t ahead_ = 0;
  Secret<uint8_t[cipher::segment_margin + cipher::segment_reserve]> carry_;

  // Of the last segment.
  uint64_t transformed_ = 0;
  uint64_t end_ = 0;
  Secret<uint8_t[cipher::segment_margin]> kept_;
};

}  // namespace stockade::io
