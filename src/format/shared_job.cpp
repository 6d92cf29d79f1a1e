#include "format/shared_job.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "format/at_offset.h"
#include "format/chunks.h"
#include "format/shared_journal.h"
#include "format/shared_run.h"

namespace stockade::format {
namespace {

Status check_options(const FileFormat& format, int in_fd, const SharedOptions& options) {
  const bool sealing = options.kind == STOCKADE_SHARED_ENCRYPT;
  const Status status = check_format(format, sealing ? STOCKADE_ENCRYPT : STOCKADE_DECRYPT);
  if (status != STOCKADE_OK) return status;
  // Plain Cobblestone has no file key of its own.
  if (format.keyring == nullptr || (sealing && format.armor)) return STOCKADE_ERROR_MODE;
  const bool journal = options.journal_fd > 0;
  if (journal && (options.kind == STOCKADE_SHARED_VERIFY || in_fd < 0)) return STOCKADE_ERROR_MODE;
  if (in_fd < 0 && !sealing) return STOCKADE_ERROR_MODE;
  return STOCKADE_OK;
}

// A regular file whose length is known. IO, MODE.
Status open_input(FileInput& input) {
  Status status = input.open_at_beginning();
  if (status != STOCKADE_OK) return status;
  if (!input.regular()) return STOCKADE_ERROR_MODE;
  if (input.sized()) return STOCKADE_OK;
  uint8_t byte;
  status = input.read_at(0, &byte, 1);
  if (status == STOCKADE_OK) return STOCKADE_ERROR_MODE;
  return status == STOCKADE_ERROR_INPUT_CHANGED ? STOCKADE_OK : status;
}

// Begins the output and, once it is on storage, the journal.
Status write_files(const SharedTerms& terms, int out_fd, int journal_fd, Bytes lead, Bytes journal) {
  if (out_fd >= 0) {
    const uint64_t length = terms.seals() ? terms.file_length() : terms.plain_length();
    if (::ftruncate(out_fd, 0) != 0) return STOCKADE_ERROR_IO;
    const Status status = write_at(out_fd, 0, lead.data(), lead.size());
    if (status != STOCKADE_OK) return status;
    if (::ftruncate(out_fd, static_cast<off_t>(length)) != 0) return STOCKADE_ERROR_IO;
  }
  if (journal.empty()) return STOCKADE_OK;
  const Status status = out_fd >= 0 ? sync_data(out_fd) : STOCKADE_OK;
  return status == STOCKADE_OK ? write_journal(journal_fd, terms, journal) : status;
}

// The journal of a new job, if it is to have one, and its id.
Status prepare(const FileFormat& format, const SharedOptions& options, RandomSource& random, SharedTerms& terms,
               std::vector<uint8_t>& journal) {
  Status status = random.fill(terms.id, sizeof terms.id);
  if (status == STOCKADE_OK && options.journal_fd > 0) {
    const Keyring& keyring = options.journal_keyring != nullptr ? *options.journal_keyring : *format.keyring;
    status = compose_journal(keyring, random, terms, journal);
  }
  return status;
}

}  // namespace

void SharedJob::adopt(const Beginning& beginning) {
  terms_->cipher = beginning.cipher;
  terms_->header_length = beginning.header_length;
  std::memcpy(terms_->preamble, beginning.key->preamble, preamble_bytes);
  std::memcpy(terms_->file_key, *beginning.file_key, file_key_bytes);
  *key_ = *beginning.key;
}

// The payload's key from the terms. MISMATCH if they do not belong together.
Status SharedJob::derive() {
  Beginning beginning;
  beginning.cipher = terms_->cipher;
  std::memcpy(*beginning.file_key, terms_->file_key, file_key_bytes);
  const Status status = derive_from_file_key(beginning, Bytes(terms_->preamble, salt_bytes));
  if (status != STOCKADE_OK) return status;
  *key_ = *beginning.key;
  return equal_constant_time(key_->preamble, terms_->preamble, preamble_bytes) ? STOCKADE_OK : STOCKADE_ERROR_MISMATCH;
}

Status SharedJob::create_sealing(const FileFormat& format, int in_fd, int out_fd, const SharedOptions& options,
                                 RandomSource& random) {
  FileInput input(in_fd, nullptr, nullptr);
  Status status = in_fd >= 0 ? open_input(input) : STOCKADE_OK;
  if (status == STOCKADE_OK) status = check_files(in_fd, out_fd, options.journal_fd);
  if (status != STOCKADE_OK) return status;
  terms_->has_input = in_fd >= 0;
  if (terms_->has_input) terms_->input = identify(input.stat());
  terms_->length = terms_->has_input ? input.length() : options.plain_length;
  if (terms_->length / chunk_bytes >= max_chunks) return STOCKADE_ERROR_TOO_MANY_CHUNKS;
  status = choose_slices(options.slice_bytes, options.processes, *terms_);
  Beginning beginning;
  std::vector<uint8_t> lead, journal;
  if (status == STOCKADE_OK) status = make_beginning(format, random, beginning, lead);
  if (status != STOCKADE_OK) return status;
  adopt(beginning);
  status = prepare(format, options, random, *terms_, journal);
  return status == STOCKADE_OK ? write_files(*terms_, out_fd, options.journal_fd, lead, journal) : status;
}

Status SharedJob::create_opening(const FileFormat& format, int in_fd, int out_fd, const SharedOptions& options,
                                 const engine::Engine& engine, RandomSource& random, stockade_fault& fault) {
  FileInput input(in_fd, nullptr, nullptr);
  Status status = open_input(input);
  if (status == STOCKADE_OK) {
    status = check_files(in_fd, options.kind == STOCKADE_SHARED_VERIFY ? -1 : out_fd, options.journal_fd);
  }
  if (status != STOCKADE_OK) return status;
  Beginning beginning;
  bool armored;
  status = find_beginning(format, input, beginning, &armored, fault);
  if (status != STOCKADE_OK) return status;
  if (armored) return STOCKADE_ERROR_MODE;
  if (options.kind == STOCKADE_SHARED_DECRYPT && (status = check_end(input, beginning, fault)) != STOCKADE_OK) {
    if (status != STOCKADE_ERROR_CHUNK || ::lseek(in_fd, 0, SEEK_SET) < 0) return status;
    // The end is not where the length says. Where the first thing is wrong, only reading from the front can tell.
    stockade_file_job search{};
    const Status found = verify_fd(format, in_fd, search, engine);
    if (found != STOCKADE_OK) fault = search.fault;
    return fault.status;
  }
  terms_->has_input = true;
  terms_->input = identify(input.stat());
  terms_->length = input.length() - beginning.length();
  if (terms_->length / sealed_chunk_bytes >= max_chunks) return STOCKADE_ERROR_TOO_MANY_CHUNKS;
  adopt(beginning);
  std::vector<uint8_t> journal;
  status = choose_slices(options.slice_bytes, options.processes, *terms_);
  if (status == STOCKADE_OK) status = prepare(format, options, random, *terms_, journal);
  if (status != STOCKADE_OK || options.kind == STOCKADE_SHARED_VERIFY) return status;
  return write_files(*terms_, out_fd, options.journal_fd, {}, journal);
}

Status SharedJob::create(const FileFormat& format, int in_fd, int out_fd, const SharedOptions& options,
                         const engine::Engine& engine, RandomSource& random, stockade_fault& fault) {
  fault = make_fault(STOCKADE_OK);
  terms_->kind = options.kind;
  Status status = check_options(format, in_fd, options);
  if (status == STOCKADE_OK) {
    status = options.kind == STOCKADE_SHARED_ENCRYPT
                 ? create_sealing(format, in_fd, out_fd, options, random)
                 : create_opening(format, in_fd, out_fd, options, engine, random, fault);
  }
  if (status != fault.status) fault = make_fault(status);
  return status;
}

Status SharedJob::open_journal(int journal_fd, const Keyring& keyring, uint32_t max_work_factor,
                               stockade_fault& fault) {
  fault = make_fault(STOCKADE_OK);
  struct stat found;
  Status status = ::fstat(journal_fd, &found) == 0 ? STOCKADE_OK : STOCKADE_ERROR_IO;
  if (status == STOCKADE_OK && !S_ISREG(found.st_mode)) status = STOCKADE_ERROR_MODE;
  if (status == STOCKADE_OK) status = read_journal(journal_fd, keyring, max_work_factor, *terms_, fault);
  if (status == STOCKADE_OK) status = derive();
  if (status == STOCKADE_ERROR_MISMATCH) status = STOCKADE_ERROR_JOURNAL;
  if (status != fault.status) fault = make_fault(status);
  return status;
}

Status SharedJob::import_terms(const uint8_t terms[STOCKADE_SHARED_TERMS_BYTES]) {
  const Status status = read_terms(terms, *terms_);
  return status == STOCKADE_OK ? derive() : status;
}

void SharedJob::describe(stockade_shared_info& info) const {
  const SharedTerms& terms = *terms_;
  info = {};
  info.kind = terms.kind;
  info.cipher = terms.cipher;
  info.has_journal = terms.journal_header_length != 0 ? 1 : 0;
  info.slices = terms.slices();
  info.slice_bytes = terms.slice_bytes();
  info.last_slice_bytes = terms.bytes_in(terms.slices() - 1);
  info.plain_length = terms.plain_length();
  info.beginning_length = terms.beginning_length();
  info.file_length = terms.file_length();
}

Status SharedJob::run(stockade_shared_work& work, const engine::Engine& engine, const JobPace& pace) const {
  work.slices = work.in_length = work.out_length = 0;
  work.fault = make_fault(STOCKADE_OK);
  SharedRun run(*terms_, *key_, work, engine, pace);
  const Status status = run.run();
  if (status != work.fault.status) work.fault = make_fault(status);
  return status;
}

Status SharedJob::find_missing(int journal_fd, std::vector<uint64_t>& slices) const {
  if (terms_->journal_header_length == 0) return STOCKADE_ERROR_MODE;
  SliceRecords records;
  const Status status = records.open(journal_fd, *terms_);
  return status == STOCKADE_OK ? records.find_missing(slices) : status;
}

// That what the output begins with is what the job has written there.
Status SharedJob::check_beginning(int out_fd) const {
  std::vector<uint8_t> bytes(terms_->beginning_length());
  uint64_t got;
  const Status status = read_at(out_fd, 0, bytes.data(), bytes.size(), &got);
  if (status != STOCKADE_OK) return status;
  Header header;
  Beginning beginning;
  stockade_fault fault;
  const Status opened = open_beginning_with(terms_->file_key, bytes, header, beginning, fault);
  if (opened == STOCKADE_ERROR_MEMORY || opened == STOCKADE_ERROR_LIBRARY) return opened;
  const bool same = opened == STOCKADE_OK && beginning.length() == bytes.size() &&
                    std::memcmp(beginning.key->preamble, terms_->preamble, preamble_bytes) == 0;
  return same ? STOCKADE_OK : STOCKADE_ERROR_JOURNAL;
}

// Opens the first and the last chunk of each slice: where processes have written side by side, on several machines, one
// may have undone what its neighbour wrote into a page of the file that they share.
Status SharedJob::check_borders(int out_fd, std::vector<uint64_t>& damaged, stockade_fault& fault) const {
  const uint64_t chunks = chunk_count(terms_->file_length() - terms_->header_length);
  std::vector<uint8_t> sealed(sealed_chunk_bytes);
  for (uint64_t slice = 0; slice < terms_->slices(); ++slice) {
    const uint64_t first = slice * terms_->slice_chunks;
    const uint64_t last = slice + 1 < terms_->slices() ? first + terms_->slice_chunks - 1 : chunks - 1;
    for (const uint64_t chunk : {first, last}) {
      const uint64_t offset = terms_->header_length + chunk_offset(chunk);
      const uint64_t length = std::min(sealed_chunk_bytes, terms_->file_length() - offset);
      uint64_t got;
      const Status status = read_at(out_fd, offset, sealed.data(), length, &got);
      if (status != STOCKADE_OK) return status;
      if (got == length && check_chunk(*key_, chunk, sealed.data(), length)) continue;
      if (damaged.empty()) fault = fault_in_chunk(STOCKADE_ERROR_CHUNK, chunk, offset);
      damaged.push_back(slice);
      break;
    }
  }
  return STOCKADE_OK;
}

Status SharedJob::check(int out_fd, int journal_fd, stockade_fault& fault) const {
  const auto end = [&](Status status) {
    fault = make_fault(status);
    return status;
  };
  const SharedTerms& terms = *terms_;
  if (terms.kind == STOCKADE_SHARED_VERIFY) return end(STOCKADE_ERROR_MODE);
  Status status = check_files(-1, out_fd, journal_fd);
  std::vector<uint64_t> slices;
  if (status == STOCKADE_OK && journal_fd > 0) status = find_missing(journal_fd, slices);
  if (status != STOCKADE_OK) return end(status);
  if (!slices.empty()) return end(STOCKADE_ERROR_INCOMPLETE);
  struct stat found;
  if (::fstat(out_fd, &found) != 0) return end(STOCKADE_ERROR_IO);
  const uint64_t length = terms.seals() ? terms.file_length() : terms.plain_length();
  if (static_cast<uint64_t>(found.st_size) != length) return end(STOCKADE_ERROR_JOURNAL);
  if (!terms.seals()) return end(STOCKADE_OK);
  status = check_beginning(out_fd);
  fault = make_fault(STOCKADE_OK);
  if (status == STOCKADE_OK) status = check_borders(out_fd, slices, fault);
  if (status != STOCKADE_OK) return end(status);
  if (slices.empty() || journal_fd <= 0) return fault.status;
  SliceRecords records;
  status = records.open(journal_fd, terms);
  for (const uint64_t slice : slices) {
    if (status == STOCKADE_OK) status = records.forget(slice);
  }
  return status == STOCKADE_OK ? fault.status : end(status);
}

bool SharedJob::is_piece(uint64_t offset, uint64_t length) const {
  const uint64_t plain = terms_->plain_length();
  if (offset % chunk_bytes != 0 || offset > plain || length > plain - offset) return false;
  return offset + length == plain || length % chunk_bytes == 0;
}

uint64_t SharedJob::sealed_length(uint64_t offset, uint64_t length) const {
  if (!is_piece(offset, length)) return 0;
  return format::sealed_length(length, offset + length == terms_->plain_length());
}

Status SharedJob::seal(uint64_t offset, Bytes in, uint8_t* out, const engine::Engine& engine) const {
  if (!terms_->seals()) return STOCKADE_ERROR_MODE;
  if (!is_piece(offset, in.size())) return STOCKADE_ERROR_ARGUMENT;
  const bool last = offset + in.size() == terms_->plain_length();
  return seal_span(engine, *key_, {offset / chunk_bytes, in.data(), in.size(), last, out});
}

Status SharedJob::unseal(uint64_t offset, const uint8_t* in, std::span<uint8_t> out, const engine::Engine& engine,
                         stockade_fault& fault) const {
  const auto end = [&](Status status) {
    fault = make_fault(status);
    return status;
  };
  if (terms_->seals()) return end(STOCKADE_ERROR_MODE);
  if (!is_piece(offset, out.size())) return end(STOCKADE_ERROR_ARGUMENT);
  const uint64_t first = offset / chunk_bytes;
  const bool last = offset + out.size() == terms_->plain_length();
  const uint64_t length = format::sealed_length(out.size(), last);
  uint64_t damaged = UINT64_MAX;
  const Status status = open_span(engine, *key_, {first, in, length, last, out.data()}, &damaged);
  if (status == STOCKADE_OK && damaged == UINT64_MAX) return end(STOCKADE_OK);
  wipe(out.data(), out.size());
  if (status != STOCKADE_OK) return end(status);
  const uint64_t chunk = first + damaged;
  fault = fault_in_chunk(STOCKADE_ERROR_CHUNK, chunk, terms_->header_length + chunk_offset(chunk));
  return fault.status;
}

}  // namespace stockade::format
