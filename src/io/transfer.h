// Whole files through a transform: segments of a file are read, transformed, and written where they belong. What the bytes
// mean is the business of the Transform. Three ways, by what the two ends are and what the engine has to offer:
//  - one worker: read, transform and write in turn on the calling thread;
//  - regular files and a transform that can be split: every worker reads and writes its own segments by offset;
//  - anything else: a reader, the workers and an in-order writer (the calling thread) overlap over a ring of buffers.
//    The engine's number of threads is that of the workers, for the other two mostly wait.
// A worker with a transfer slot has it transform its segments, which then are longer. Where it reads and writes by offset,
// it does so in the slot's own pinned memory, and the device copies from and to there; the ring's buffers are copied once
// more.
#pragma once

#include <cstdint>

#include "base/status.h"
#include "cipher/transform.h"
#include "config/environment.h"

namespace stockade::io {

struct TransferOptions {
  int in_fd;
  int out_fd;
  bool discards_output;  // there is no out_fd: the transform is all
  // At least segment_margin. Where there are slots, several such segments are transformed as one.
  uint64_t segment_bytes;
  // Of output for a segment of segment_bytes, in a buffer of its own; 0: as many, in place. If the job is in_order, it is the most
  // that a segment may become.
  uint64_t out_segment_bytes;
  uint32_t kept_bytes;         // 0 to segment_margin: the end of the input that is not for the transform
  uint32_t added_bytes;        // 0 to segment_margin: put behind the output by `finish`
  bool in_order;               // each segment needs the state that the one before it left
  bool only_regular_output;    // output must be revocable: MODE for anything but a regular file
  uint32_t progress_interval;  // milliseconds between two calls of `progress`
  stockade_progress progress;  // may be null; also called at the start and at the end
  void* progress_context;
  // Where the input of the job begins: for regular files, this many bytes behind the position; for others, with bytes that
  // have been read already.
  uint64_t in_skip;
  const uint8_t* prefix;
  uint64_t prefix_length;
  // What the output begins with, before the first segment.
  const uint8_t* lead;
  uint64_t lead_length;
};

struct TransferResult {
  uint64_t in_length;   // bytes read, behind in_skip
  uint64_t out_length;  // bytes that stand there now, lead included
};

// Runs from the current positions of both descriptors to the end of the input, and leaves both there. On an error a
// regular output that has been touched is cut back to where the transfer began, and positions are left where they were as
// far as they can be. SIGPIPE and SIGXFSZ do not reach the process from the writes made here.
// Errors: those of `transform`, and IO (with errno), INPUT_CHANGED, CANCELLED, MEMORY, MODE, OVERLAP (one file for both
// ends); with `cuda` UNAVAILABLE, DEVICE, DEVICE_MEMORY, FORKED.
Status run_transfer(const TransferOptions& options, cipher::Transform& transform, const config::EngineChoice& engine,
                    TransferResult& result);

}  // namespace stockade::io
