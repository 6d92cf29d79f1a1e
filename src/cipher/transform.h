// What is done to a file, segment by segment. The pipelines of src/io move the segments and know nothing of what their bytes
// mean; a Transform knows that, and nothing of files.
#pragma once

#include <cstdint>

#include "base/status.h"
#include "offload/executor.h"

namespace stockade::cipher {

// A segment has this many bytes of the input before it in reach (a CBC or CFB chain block), may grow by this many at the
// end of the file (padding), and this many may be kept from the end of the input, or put behind the output (a tag).
inline constexpr uint64_t segment_margin = 16;
// The last of several segments has at least this many bytes, `kept` ones included. So a segment other than the last never
// decides about the end of the message.
inline constexpr uint64_t segment_reserve = 32;

// Small enough that reading, cipher and writing find a segment in the second-level cache, large enough that calls are
// cheap.
inline constexpr uint64_t default_segment_bytes = uint64_t{256} << 10;

// The index of the last segment of an input of that length.
constexpr uint64_t last_segment(uint64_t length, uint64_t segment_bytes) {
  return length > segment_reserve ? (length - segment_reserve) / segment_bytes : 0;
}

// A piece of the input on its way to the output. All segments but the last have the job's segment_bytes; the last is up to
// segment_reserve longer or any amount shorter. An empty input is one empty segment.
struct Segment {
  uint64_t offset;  // of the first byte, from where the input began
  uint8_t*
      data;  // in place: segment_margin bytes before it hold the input before this segment (unless the offset is 0)
  uint64_t length;
  bool last;
  // Where the output goes: `data` itself, or a buffer of its own where the job asks for one or a slot's memory is used.
  uint8_t* out;
  // Of the output: the job's out_segment_bytes, but for the last segment the same as `length`. `apply` may change that of
  // the last segment, by up to segment_margin upwards (with out_segment_bytes: to whatever corresponds to `length`, and
  // segment_margin more).
  uint64_t out_length;
};

// What a transform does with the GPUs of an engine.
enum class GpuUse {
  none,    // nothing can be done there: `cuda` refuses the job with MODE, and `hybrid` does it with the CPU
  worker,  // `apply` uses the slot of the worker that calls it; not for jobs that are in_order
  inside   // it has been given the engine itself, and the workers need no slots
};

// The meaning of the bytes. `check` and `finish` are called once each, `finish` last.
class Transform {
 public:
  virtual ~Transform() = default;
  // Whether an input of this length, kept bytes included, can be done at all; at least that it has the job's kept_bytes.
  // Comes before anything is written if the length is known (regular files), else with the end of the input.
  virtual Status check(uint64_t length) = 0;
  virtual GpuUse gpu_use() const = 0;
  // Called once before all segments if there are workers with slots: makes what these need of the key.
  virtual void prepare_device_key() {}
  // Transforms a segment from `data` to `out`, with the slot of `worker` if it has one, and by itself what that leaves.
  // Unless the job is in_order, called by many threads at once and in any order.
  virtual Status apply(Segment& segment, const offload::Worker& worker) = 0;
  // After all segments: `length` bytes were given to `apply`; `kept` are the kept_bytes that followed them. Writes the
  // job's added_bytes to `added`.
  virtual Status finish(uint64_t length, const uint8_t* kept, uint8_t* added) = 0;
};

}  // namespace stockade::cipher
