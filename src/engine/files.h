// Whole files through the engines: runs of a file are read, transformed, and written where they belong. What the bytes
// mean is the business of a FileWork. Three ways, by what the two ends are and what the engine has to offer:
//  - one worker: read, transform and write in turn on the calling thread;
//  - regular files and work that can be split: every worker reads and writes its own runs by offset;
//  - anything else: a reader, the workers and an in-order writer (the calling thread) overlap over a ring of buffers.
//    The engine's number of threads is that of the workers, for the other two mostly wait.
// A worker with a lane (engine/cuda.h) has it transform its runs, which then are longer. Where it reads and writes by offset,
// it does so in the lane's own pinned memory, and the device copies from and to there; the ring's buffers are copied once more.
#pragma once

#include <sys/stat.h>

#include <cstdint>

#include "base/status.h"
#include "engine/cuda.h"
#include "config/environment.h"

namespace stockade::engine {

// A run has this many bytes of the input before it in reach (a CBC or CFB chain block), may grow by this many at the
// end of the file (padding), and this many may be kept from the end of the input, or put behind the output (a tag).
inline constexpr uint64_t file_margin = 16;
// The last of several runs has at least this many bytes, `kept` ones included. So a run other than the last never
// decides about the end of the message.
inline constexpr uint64_t file_reserve = 32;

// A piece of the input on its way to the output. All runs but the last have FileJob::run_bytes bytes; the last is up to
// file_reserve longer or any amount shorter. An empty input is one empty run.
struct FileRun {
  uint64_t offset;  // of the first byte, from where the input began
  uint8_t* data;    // in place: file_margin bytes before it hold the input before this run (unless the offset is 0)
  uint64_t length;
  bool last;
  // Where the output goes: `data` itself; or, with FileJob::out_run_bytes or in a lane's memory, a buffer of its own.
  uint8_t* out;
  // Of the output: out_run_bytes, but for the last run the same as `length`. `transform` may change that of the last run,
  // by up to file_margin upwards (with out_run_bytes: to whatever corresponds to `length`, and file_margin more).
  uint64_t out_length;
};

// What a work does with the GPUs of an engine.
enum class LaneUse {
  none,    // nothing can be done there: `cuda` refuses the job with MODE, and `hybrid` does it with the CPU
  worker,  // `transform` uses the lane of the worker that calls it; not for jobs that are in_order
  inside   // it has been given the engine itself, and the workers need no lanes
};

// The meaning of the bytes. `check` and `finish` are called once each, `finish` last.
class FileWork {
 public:
  virtual ~FileWork() = default;
  // Whether an input of this length, kept bytes included, can be done at all; at least that it has FileJob::kept_bytes.
  // Comes before anything is written if the length is known (regular files), else with the end of the input.
  virtual Status check(uint64_t length) = 0;
  virtual LaneUse lane_use() const = 0;
  // Called once before all runs if there are workers with lanes: makes what these need of the key.
  virtual void prepare_lanes() {}
  // Transforms a run from `data` to `out`, with the lane of `worker` if it has one, and by itself what that leaves.
  // Unless the job is in_order, called by many threads at once and in any order.
  virtual Status transform(FileRun& run, const Worker& worker) = 0;
  // After all runs: `length` bytes were given to `transform`; `kept` are the FileJob::kept_bytes that followed them.
  // Writes FileJob::added_bytes to `added`.
  virtual Status finish(uint64_t length, const uint8_t* kept, uint8_t* added) = 0;
};

// Small enough that reading, cipher and writing find a run in the second-level cache, large enough that calls are
// cheap.
inline constexpr uint64_t default_run_bytes = uint64_t{256} << 10;

// The index of the last run of an input of that length.
constexpr uint64_t last_run(uint64_t length, uint64_t run_bytes) {
  return length > file_reserve ? (length - file_reserve) / run_bytes : 0;
}

// Whether one of the two would meet what is written to the other.
bool same_file(const struct stat& a, const struct stat& b);

struct FileJob {
  int in_fd;
  int out_fd;
  bool discards_output;  // there is no out_fd: the work is all
  // At least file_margin. Where there are lanes, several such runs are transformed as one.
  uint64_t run_bytes;
  // Of output for a run of run_bytes, in a buffer of its own; 0: as many, in place. If the job is in_order, it is the most
  // that a run may become.
  uint64_t out_run_bytes;
  uint32_t kept_bytes;         // 0 to file_margin: the end of the input that is not for `transform`
  uint32_t added_bytes;        // 0 to file_margin: put behind the output by `finish`
  bool in_order;               // each run needs the state that the one before it left
  bool only_regular_output;    // output must be revocable: MODE for anything but a regular file
  uint32_t progress_interval;  // milliseconds between two calls of `progress`
  stockade_progress progress;  // may be null; also called at the start and at the end
  void* progress_context;
  // Where the input of the job begins: for regular files, this many bytes behind the position; for others, with bytes that
  // have been read already.
  uint64_t in_skip;
  const uint8_t* prefix;
  uint64_t prefix_length;
  // What the output begins with, before the first run.
  const uint8_t* lead;
  uint64_t lead_length;
  uint64_t in_length;   // written: bytes read, behind in_skip
  uint64_t out_length;  // written: bytes that stand there now, lead included
};

// Runs the job from the current positions of both descriptors to the end of the input, and leaves both there. On an
// error a regular output that has been touched is cut back to where the job began, and positions are left where they
// were as far as they can be. SIGPIPE and SIGXFSZ do not reach the process from the writes made here.
// Errors: those of `work`, and IO (with errno), INPUT_CHANGED, CANCELLED, MEMORY, MODE, OVERLAP (one file for both
// ends); with `cuda` UNAVAILABLE, DEVICE, DEVICE_MEMORY, FORKED.
Status run_file(FileJob& job, FileWork& work, const config::EngineChoice& engine);

}  // namespace stockade::engine
