// The journal of a shared job: what a process must know to take part in it, and which slices are done. docs/format.md
// describes it to the byte, as the plan file. A header as of a Stockade file wraps the job's file key for whoever may
// take part; a record with the terms follows, then one for each slice, which is zero until the slice is done. All carry
// MACs under a key derived from the file key. Records never change but for that, so processes need no lock to write
// them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/random.h"
#include "base/secret.h"
#include "base/status.h"
#include "format/fault.h"
#include "format/recipient.h"
#include "format/shared_terms.h"

namespace stockade::format {

// A journal that is to be written: its header and the record of the terms, whose journal_header_length is set. RANDOM,
// LIBRARY, MEMORY, and those of the keyring.
Status compose_journal(const Keyring& keyring, RandomSource& random, SharedTerms& terms, std::vector<uint8_t>& bytes);
// Overwrites the file with it, no slice done, and waits until it is on storage. IO.
Status write_journal(int fd, const SharedTerms& terms, Bytes bytes);

// Reads the terms and authenticates them. TRUNCATED (there is nothing, or not yet), JOURNAL, NO_IDENTITY, PASSPHRASE,
// WORK_FACTOR, IO, LIBRARY, MEMORY.
Status read_journal(int fd, const Keyring& keyring, uint32_t max_work_factor, SharedTerms& terms,
                    stockade_fault& fault);

// The records of the slices.
class SliceRecords {
 public:
  static constexpr uint64_t record_bytes = 32;

  // JOURNAL if the file is not the journal of the job with these terms; IO, LIBRARY.
  Status open(int fd, const SharedTerms& terms);

  // Records that these are done, or `slice` that it is not, and waits until that is on storage. IO, LIBRARY.
  Status note(std::span<const uint64_t> slices);
  Status forget(uint64_t slice);
  // Those without an authentic record, ascending. IO, LIBRARY.
  Status find_missing(std::vector<uint64_t>& slices) const;

 private:
  uint64_t offset_of(uint64_t slice) const { return begin_ + slice * record_bytes; }
  Status make(uint64_t slice, uint8_t record[record_bytes]) const;

  int fd_ = -1;
  uint64_t begin_ = 0, slices_ = 0;
  uint8_t id_[job_id_bytes] = {};
  uint8_t salt_[salt_bytes] = {};
  Secret<uint8_t[32]> mac_key_;
};

}  // namespace stockade::format
