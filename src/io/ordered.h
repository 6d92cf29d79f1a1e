// What must be read or written in order: a reader, workers and a writer overlap over a ring of buffers.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

#include "io/pipeline.h"

namespace stockade::io {

// Segment i lives in buffer i modulo their number, so that the reader, the workers (who claim segments in
// order) and the writer follow one another around it.
class OrderedPipeline {
 public:
  OrderedPipeline(Pipeline& pipeline, uint64_t buffers) : pipeline_(pipeline), places_(buffers) {}

  // Moves all segments, of which `first` is filled and not the last. False, with nothing done, if no thread can be started.
  bool run(Buffer& first, uint32_t workers);

 private:
  enum State : uint32_t { empty, filled, transformed, states, busy };
  struct Place {
    Buffer buffer{};
    State state = empty;
  };

  // False if there is no reader or no worker. Threads take no segment before the lock is given back, so that then nothing
  // has been read or transformed. Fewer workers than wished for will do.
  bool start(uint32_t workers);

  void read_segments();
  void apply_segments(uint32_t worker);
  void write_segments();

  // The place of segment `index` once it is in `state`; null if the job has failed.
  Place* await(uint64_t index, State state);

  // The next segment to be transformed; null if there will be none.
  Place* claim();

  void pass(Place& place, State state);
  void close();

  Pipeline& pipeline_;
  std::vector<Place> places_;
  std::vector<std::thread> threads_;
  std::mutex mutex_;
  std::condition_variable changed_[states];
  uint64_t next_ = 0;
  bool ended_ = false;   // the last segment has been claimed
  bool closed_ = false;  // nothing more is to be done
};

}  // namespace stockade::io
