// The journal of a resumable job: a file beside the output that says what has been done, and whose it is. It begins with a
// header as of a Stockade file, which wraps the job's file key for whoever may resume it. Two records of fixed length
// follow, written in turn, so that one of them is always whole; each carries a MAC under a key derived from the file key.
#pragma once

#include <sys/stat.h>

#include <cstdint>

#include "base/random.h"
#include "base/secret.h"
#include "base/status.h"
#include "format/fault.h"
#include "format/recipient.h"

namespace stockade::format {

// What a record says.
struct JournalState {
  uint64_t direction;
  uint64_t runs;       // done, with all before them
  uint64_t run_bytes;  // of the input
  // The input, as it was when the job began.
  uint64_t input_size, device, inode;
  int64_t modified_seconds, modified_nanoseconds;
  int64_t changed_seconds, changed_nanoseconds;
  uint8_t salt[24];  // of the payload
};

void describe_input(const struct stat& input, JournalState& state);
bool same_input(const JournalState& a, const JournalState& b);

class Journal {
 public:
  explicit Journal(int fd) : fd_(fd) {}

  // Whether there is something to go on from: a whole record of a job that had come beyond its first runs. Reads and
  // authenticates it. OK with `found` false for an empty or torn journal. JOURNAL, NO_IDENTITY, PASSPHRASE, WORK_FACTOR,
  // IO, LIBRARY, MEMORY.
  Status open(const Keyring& keyring, uint32_t max_work_factor, bool* found, stockade_fault& fault);
  // Begins anew with a file key. IO, RANDOM, LIBRARY, MEMORY, and those of the keyring.
  Status create(const Keyring& keyring, stockade_cipher cipher, const uint8_t file_key[file_key_bytes],
                RandomSource& random, const JournalState& state);
  // Writes the next record and waits until it is on storage. IO, LIBRARY.
  Status advance(uint64_t runs);

  const JournalState& state() const { return state_; }
  const uint8_t* file_key() const { return *file_key_; }

 private:
  struct Record;
  Status derive();
  Status write_record(uint64_t sequence);
  Status read_record(uint64_t slot, Record& record, bool* whole, bool* valid);

  const int fd_;
  uint64_t header_length_ = 0;
  uint64_t sequence_ = 0;
  JournalState state_{};
  Secret<uint8_t[file_key_bytes]> file_key_;
  Secret<uint8_t[32]> mac_key_;
};

}  // namespace stockade::format
