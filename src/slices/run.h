// One process's share of a file in slices: every worker does whole slices, each in its own memory.
//
// Sealing a slice: read it once, and seal it in memory; record its digest as begun (Records::begin); only then write it,
// from that memory. What happens to the output or the journal afterwards can cost the slice, but cannot bring a second
// plaintext under its nonces. Opening a slice needs no record beforehand. In both directions a slice whose record says that
// it was begun is read back first, and done again only if it is not what the record is about.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "base/forks.h"
#include "base/secret.h"
#include "base/status.h"
#include "chunked/payload.h"
#include "cipher/chunk_span.h"
#include "cipher/payload_transform.h"
#include "config/environment.h"
#include "format/file_job.h"
#include "offload/device_key.h"
#include "offload/executor.h"
#include "slices/journal.h"
#include "slices/terms.h"

namespace stockade::slices {

// That these are regular files, the two that are written readable too, and not one another. An input or output below 0,
// and a journal below 1, is none. IO, MODE, OVERLAP.
Status check_files(int in_fd, int out_fd, int journal_fd);

// That what the output of a sealing job begins with is what the job has written there. JOURNAL, IO, LIBRARY, MEMORY.
Status check_beginning(const Terms& terms, int out_fd);

// What is done with slices: made, or only read back and compared with their records.
enum class Purpose { make, read_back };

class Run {
 public:
  // `memory` has the records of a job without a journal.
  Run(const Terms& terms, const chunked::PayloadKey& key, Records& memory, stockade_shared_work& work,
      const config::EngineChoice& engine, const format::JobPace& pace, Purpose purpose);
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;
  ~Run();

  // stockade_shared_run or stockade_shared_read_back, on a work whose written members are zero.
  Status run();
  // Bytes of input in slices that a former run had made.
  uint64_t resumed_bytes() const { return resumed_; }

 private:
  using Clock = std::chrono::steady_clock;

  // What a worker needs of memory: a piece of the input, a slice of the output, and the tags of its chunks.
  struct Room {
    Status prepare(uint64_t piece_chunks, uint64_t out_chunks);
    SecretBuffer in, out;
    std::vector<uint8_t> tags;
  };

  // A slice that is sealed and recorded, and waits for its record to be on storage.
  struct Sealed {
    uint64_t slice, ticket;
    SliceDigest digest;
    std::unique_ptr<Room> room;
  };

  bool verifies() const { return terms_.kind == STOCKADE_SHARED_VERIFY; }
  Status prepare();
  Status check_input() const;
  Status do_slices();
  Status do_batch(offload::Executor& executor, const std::vector<uint64_t>& slices);
  Status do_slice(const offload::Worker& worker, uint64_t slice, std::unique_ptr<Room>& room);

  Status make(const offload::Worker& worker, uint64_t slice, std::unique_ptr<Room>& room);
  Status seal(const offload::Worker& worker, uint64_t slice, std::unique_ptr<Room>& room);
  Status write_sealed(uint64_t most_left);
  Status open(const offload::Worker& worker, uint64_t slice, Room& room);
  Status verify(const offload::Worker& worker, uint64_t slice, Room& room);
  Status read_input(uint64_t offset, uint8_t* data, uint64_t length) const;
  Status is_blank(uint64_t slice, Room& room, bool& blank) const;
  Status write_slice(uint64_t slice, const SliceDigest& digest, uint64_t offset, Room& room, uint64_t length);

  Status read_back(const offload::Worker& worker, uint64_t slice, Room& room, const SliceDigest& wanted, bool& intact);
  Status read_back_sealed(const offload::Worker& worker, uint64_t slice, Room& room, bool& intact);
  Status read_back_opened(const offload::Worker& worker, uint64_t slice, Room& room, bool& intact);
  Status check_span(const offload::Worker& worker, const cipher::ChunkSpan& span, bool& intact) const;
  Status conclude_read_back(uint64_t slice, const SliceDigest& digest, bool intact);

  std::unique_ptr<Room> borrow_room();
  void return_room(std::unique_ptr<Room> room);
  Status note(uint64_t slice, const SliceDigest& digest);
  Status settle(bool now);
  void add_fault(const stockade_fault& fault);
  Status at_slice(Status status, uint64_t slice);
  void note_error(int error);
  Status advance(uint64_t bytes, bool now = false);
  // Whether this is a process that was forked from the one that made this.
  bool in_child() const { return process_ != process_number(); }

  const Terms& terms_;
  const chunked::PayloadKey& key_;
  stockade_shared_work& work_;
  const config::EngineChoice& engine_;
  const format::JobPace& pace_;
  const Purpose purpose_;

  Records file_;           // of a job with a journal
  Records* records_;       // those that count
  InputIdentity input_{};  // as it must stay while this runs
  Secret<offload::DeviceKey> device_key_;
  uint64_t piece_chunks_ = 0;
  bool one_write_at_a_time_ = false;
  std::mutex write_turn_;

  std::mutex sealed_mutex_;
  std::deque<Sealed> sealed_;
  uint64_t most_sealed_ = 0;  // that wait at a time

  std::mutex rooms_mutex_;
  std::vector<std::unique_ptr<Room>> rooms_;  // that no worker has at the moment

  // Of all workers, as are the written members of work_.
  std::mutex mutex_;
  std::map<uint64_t, std::vector<cipher::CheckTransform::Damage>> damages_;
  uint64_t resumed_ = 0;
  bool incomplete_ = false;              // a slice that was to be read back is not done
  int error_ = 0;                        // errno of the first failure
  std::vector<Records::Entry> pending_;  // written, and not recorded as done yet
  Clock::time_point next_settling_{};
  bool settling_ = false;

  const uint64_t process_ = process_number();
  std::mutex progress_mutex_;
  std::atomic<uint64_t> done_{0};
  Clock::time_point last_progress_{};
};

}  // namespace stockade::slices
