// One Stockade file made or opened in slices, which need nothing from one another: by one process that can go on after
// it was interrupted (slices/resume.h), or by many. The bytes are those that format/file_job.h would write from the same
// file key and salt. What a process must know are the job's terms. They are handed on in memory (write_terms), or in a
// journal, which also says what is known of each slice.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/random.h"
#include "base/secret.h"
#include "base/status.h"
#include "config/environment.h"
#include "format/file_input.h"
#include "format/file_job.h"
#include "format/sealed_file.h"
#include "slices/journal.h"
#include "slices/run.h"
#include "slices/terms.h"

namespace stockade::slices {

// stockade_shared_options, with its handles resolved.
struct Options {
  stockade_shared_kind kind = STOCKADE_SHARED_ENCRYPT;
  uint32_t processes = 1;
  uint64_t slice_bytes = 0;
  uint64_t plain_length = 0;
  int journal_fd = -1;                               // 0 or less: none
  const format::Keyring* journal_keyring = nullptr;  // null: the format's
  // Give the output its length at once. Otherwise it grows, so that a disk or a limit that has no room for it is met
  // where it ends, with all that fits done.
  bool extends_output = true;
};

// What stockade_shared_job holds. The functions are those of stockade.h, which says what they do and which statuses
// they return; a `fault` is written where that is not OK. Once it has been created, opened or imported, a job can be
// shared by threads.
class SlicedFile {
 public:
  // Draws what is random in this order: what make_beginning draws, the job's id, what the journal's stanzas need.
  Status create(const format::FileFormat& format, int in_fd, int out_fd, const Options& options,
                const config::EngineChoice& engine, RandomSource& random, stockade_fault& fault);
  Status open_journal(int journal_fd, const format::Keyring& keyring, uint32_t max_work_factor, stockade_fault& fault);
  Status import_terms(const uint8_t terms[STOCKADE_SHARED_TERMS_BYTES]);
  void export_terms(uint8_t terms[STOCKADE_SHARED_TERMS_BYTES]) const { write_terms(*terms_, terms); }

  void describe(stockade_shared_info& info) const;
  const Terms& terms() const { return *terms_; }
  // `resumed` becomes the bytes of input in slices that an earlier run had made; it may be null.
  Status run(stockade_shared_work& work, const config::EngineChoice& engine, const format::JobPace& pace = {},
             uint64_t* resumed = nullptr) const;
  Status read_back(stockade_shared_work& work, const config::EngineChoice& engine,
                   const format::JobPace& pace = {}) const;
  Status find_missing(int journal_fd, std::vector<uint64_t>& slices) const;
  Status check(int out_fd, int journal_fd, stockade_fault& fault) const;

  uint64_t sealed_length(uint64_t offset, uint64_t length) const;
  Status seal(uint64_t offset, Bytes in, uint8_t* out, const config::EngineChoice& engine) const;
  Status unseal(uint64_t offset, const uint8_t* in, std::span<uint8_t> out, const config::EngineChoice& engine,
                stockade_fault& fault) const;

 private:
  Status create_sealing(const format::FileFormat& format, int in_fd, int out_fd, const Options& options,
                        RandomSource& random);
  Status create_opening(const format::FileFormat& format, int in_fd, int out_fd, const Options& options,
                        const config::EngineChoice& engine, RandomSource& random, stockade_fault& fault);
  void adopt(const format::Beginning& beginning);
  Status derive();
  Status begin_memory();
  // Whether offset and length are those of whole chunks of the plaintext.
  bool is_piece(uint64_t offset, uint64_t length) const;
  Status check_borders(int out_fd, std::vector<uint64_t>& damaged, stockade_fault& fault) const;

  Status work(stockade_shared_work& work, const config::EngineChoice& engine, const format::JobPace& pace,
              Purpose purpose, uint64_t* resumed) const;

  Secret<Terms> terms_;
  Secret<chunked::PayloadKey> key_;
  // Of a job without a journal: what this process knows of its slices.
  mutable Records memory_;
};

}  // namespace stockade::slices
