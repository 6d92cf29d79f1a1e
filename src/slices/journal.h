// The journal of a file that is made in slices, by one process (--resume) or by many (--part): what a process must know
// to take part, and what is known of each slice. docs/format.md describes it to the byte. A header as of a Stockade file
// wraps the job's file key for whoever may take part; the terms follow, and then a record for each slice, zeros at
// first. All carry MACs under a key derived from the file key.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <thread>
#include <vector>

#include "base/fault.h"
#include "base/forks.h"
#include "base/random.h"
#include "base/secret.h"
#include "base/status.h"
#include "format/recipient.h"
#include "slices/terms.h"

namespace stockade::slices {

// A journal that is to be written: its header and the record of the terms, whose journal_header_length is set. RANDOM,
// LIBRARY, MEMORY, and those of the keyring.
Status compose_journal(const format::Keyring& keyring, RandomSource& random, Terms& terms, std::vector<uint8_t>& bytes);
// Overwrites the file with it, no slice begun, and waits until it is on storage. IO.
Status write_journal(int fd, const Terms& terms, Bytes bytes);

// Reads the terms and authenticates them. TRUNCATED (there is nothing, or not yet), JOURNAL (fault.value: 1 for a
// journal of version 0.4 or older), NO_IDENTITY, PASSPHRASE, WORK_FACTOR, IO, LIBRARY, MEMORY.
Status read_journal(int fd, const format::Keyring& keyring, uint32_t max_work_factor, Terms& terms,
                    stockade_fault& fault);

// What identifies the content of a slice: an HMAC of the GCM tags of its chunks, in order. The tags are a keyed digest of
// the plaintext that sealing makes anyway: without the key, other plaintext meets them with a chance below 2^-117.
struct SliceDigest {
  uint8_t bytes[32];
};

enum class SliceState { never_begun, begun, done };

// Makes storage keep what has been written to a file. Threads that wait at the same time share one fdatasync. Where that
// takes its time, a thread of its own does it, so that those who ask for it can work on meanwhile.
class SyncGroup {
 public:
  explicit SyncGroup(int fd) : fd_(fd) {}
  SyncGroup(const SyncGroup&) = delete;
  SyncGroup& operator=(const SyncGroup&) = delete;
  ~SyncGroup();

  // A ticket for what the caller has written before.
  uint64_t ask();
  // Waits for an fdatasync that began after the ticket was given. IO, also whenever one has failed before: what it was about
  // is lost to later ones.
  Status wait(uint64_t ticket);
  // Whether wait() would return at once; and whether it takes so long that there is something better to do.
  bool is_done(uint64_t ticket);
  bool is_slow();

 private:
  void sync(std::unique_lock<std::mutex>& lock);
  void start_thread();
  void run();

  const int fd_;
  const uint64_t process_ = process_number();
  // Not destroyed in a forked child: that would wait for threads that exist only in the parent.
  struct Waiting {
    std::mutex mutex;
    std::condition_variable wanted, done;  // for the thread; for those who wait
  };
  std::unique_ptr<Waiting> waiting_on_ = std::make_unique<Waiting>();
  std::mutex& mutex_ = waiting_on_->mutex;
  std::condition_variable &wanted_ = waiting_on_->wanted, &done_ = waiting_on_->done;
  uint64_t asked_ = 0, synced_ = 0, waiting_ = 0;
  bool running_ = false, ended_ = false;
  int error_ = 0;
  std::thread thread_;
};

// The records of the slices of one job.
//   record = digest || HMAC(journal key, "begun" or "done" || job id || salt || slice || digest), or zeros
// They guarantee that no two different plaintexts are written to storage under one key and nonce: a slice is only written
// once its digest is recorded as begun, and never if another digest stands there.
class Records {
 public:
  static constexpr uint64_t record_bytes = 64;

  // With `fd` below 0 they are kept in memory only, for a job without a journal. JOURNAL if the file is not the journal of
  // the job with these terms; IO, LIBRARY, MEMORY.
  Status open(int fd, const Terms& terms);

  // From the slice's chunks' tags, 16 bytes each. LIBRARY, MEMORY.
  Status digest(uint64_t slice, Bytes tags, SliceDigest& digest) const;

  // JOURNAL (what stands there is not authentic), IO, LIBRARY.
  Status read(uint64_t slice, SliceState& state, SliceDigest& digest) const;

  // Before a sealed slice is written: records it as begun, where that is allowed. Only once wait() has returned OK for the
  // ticket is this on storage, and the slice may be written. `is_blank` says whether the output is zeros where the slice
  // belongs. INPUT_CHANGED (another plaintext was sealed before), JOURNAL (the record was altered, or the output holds what
  // no record is about), IO (also where the file system has no locks), LIBRARY, and what is_blank returns.
  using BlankCheck = std::function<Status(bool& blank)>;
  Status begin(uint64_t slice, const SliceDigest& digest, const BlankCheck& is_blank, uint64_t& ticket);
  // IO. Without a file there is nothing to wait for.
  Status wait(uint64_t ticket) { return sync_ == nullptr ? STOCKADE_OK : sync_->wait(ticket); }
  bool is_done(uint64_t ticket) { return sync_ == nullptr || sync_->is_done(ticket); }
  bool is_slow() { return sync_ != nullptr && sync_->is_slow(); }

  // Records what is on storage as done. IO, LIBRARY.
  struct Entry {
    uint64_t slice;
    SliceDigest digest;
  };
  Status note_done(std::span<const Entry> entries);
  // Records that a slice is not done after all, though it was begun. IO, LIBRARY.
  Status note_begun(const Entry& entry);

  // Those that are not done, ascending. A record that was altered counts as not done. IO, LIBRARY, MEMORY.
  Status find_missing(std::vector<uint64_t>& slices) const;

 private:
  uint64_t offset_of(uint64_t slice) const { return begin_ + slice * record_bytes; }
  Status make(uint64_t slice, SliceState state, const SliceDigest& digest, uint8_t record[record_bytes]) const;
  Status judge(uint64_t slice, const uint8_t record[record_bytes], SliceState& state, SliceDigest& digest) const;
  Status write(uint64_t slice, SliceState state, const SliceDigest& digest);
  Status admit(uint64_t slice, const SliceDigest& digest, const BlankCheck& is_blank);

  int fd_ = -1;
  uint64_t begin_ = 0, slices_ = 0;
  uint8_t id_[job_id_bytes] = {};
  uint8_t salt_[chunked::salt_bytes] = {};
  Secret<uint8_t[32]> mac_key_;
  std::unique_ptr<SyncGroup> sync_;
  // Without a file: what its records would be. One thread at a time decides what is admitted.
  std::mutex admission_mutex_;
  mutable std::mutex memory_mutex_;
  std::map<uint64_t, std::pair<SliceState, SliceDigest>> memory_;
};

}  // namespace stockade::slices
