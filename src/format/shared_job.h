// One Stockade file by many processes: each does slices of it, which need nothing from one another, so that the bytes
// are those that format/file_job.h would write from the same file key and salt. What a process must know for that are
// the job's terms. They are handed on in memory (write_terms), or in a journal (shared_journal.h), which also says
// which slices are done.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/random.h"
#include "base/secret.h"
#include "base/status.h"
#include "engine/engine.h"
#include "format/file_input.h"
#include "format/file_job.h"
#include "format/sealed_file.h"
#include "format/shared_terms.h"

namespace stockade::format {

// stockade_shared_options, with its handles resolved.
struct SharedOptions {
  stockade_shared_kind kind = STOCKADE_SHARED_ENCRYPT;
  uint32_t processes = 1;
  uint64_t slice_bytes = 0;
  uint64_t plain_length = 0;
  int journal_fd = -1;                       // 0 or less: none
  const Keyring* journal_keyring = nullptr;  // never null where there is a journal
};

// What stockade_shared_job holds. The functions are those of stockade.h, which says what they do and which statuses
// they return; a `fault` is written where that is not OK. Once it has been created, opened or imported, a job can be
// shared by threads.
class SharedJob {
 public:
  // Draws what is random in this order: what make_beginning draws, the job's id, what the journal's stanzas need.
  Status create(const FileFormat& format, int in_fd, int out_fd, const SharedOptions& options,
                const engine::Engine& engine, RandomSource& random, stockade_fault& fault);
  Status open_journal(int journal_fd, const Keyring& keyring, uint32_t max_work_factor, stockade_fault& fault);
  Status import_terms(const uint8_t terms[STOCKADE_SHARED_TERMS_BYTES]);
  void export_terms(uint8_t terms[STOCKADE_SHARED_TERMS_BYTES]) const { write_terms(*terms_, terms); }

  void describe(stockade_shared_info& info) const;
  Status run(stockade_shared_work& work, const engine::Engine& engine, const JobPace& pace = {}) const;
  Status find_missing(int journal_fd, std::vector<uint64_t>& slices) const;
  Status check(int out_fd, int journal_fd, stockade_fault& fault) const;

  uint64_t sealed_length(uint64_t offset, uint64_t length) const;
  Status seal(uint64_t offset, Bytes in, uint8_t* out, const engine::Engine& engine) const;
  Status unseal(uint64_t offset, const uint8_t* in, std::span<uint8_t> out, const engine::Engine& engine,
                stockade_fault& fault) const;

 private:
  Status create_sealing(const FileFormat& format, int in_fd, int out_fd, const SharedOptions& options,
                        RandomSource& random);
  Status create_opening(const FileFormat& format, int in_fd, int out_fd, const SharedOptions& options,
                        const engine::Engine& engine, RandomSource& random, stockade_fault& fault);
  void adopt(const Beginning& beginning);
  Status derive();
  // Whether offset and length are those of whole chunks of the plaintext.
  bool is_piece(uint64_t offset, uint64_t length) const;
  Status check_beginning(int out_fd) const;
  Status check_borders(int out_fd, std::vector<uint64_t>& damaged, stockade_fault& fault) const;

  Secret<SharedTerms> terms_;
  Secret<PayloadKey> key_;
};

}  // namespace stockade::format
