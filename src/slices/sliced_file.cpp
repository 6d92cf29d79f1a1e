#include "slices/sliced_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "cipher/chunk_span.h"
#include "io/descriptor.h"

namespace stockade::slices {

using namespace format;  // NOLINT(google-build-using-namespace): slices are made of what it has

namespace {

Status check_options(const FileFormat& format, int in_fd, const Options& options) {
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

// Cuts a file to nothing, also on storage.
bool clear_file(int fd) {
  struct stat found;
  if (::fstat(fd, &found) != 0) return false;
  return found.st_size == 0 || (::ftruncate(fd, 0) == 0 && io::sync_data(fd) == STOCKADE_OK);
}

// Begins the output and, once that is on storage, the journal. Whatever stood in either before belongs to another key.
Status write_files(const Terms& terms, int out_fd, const Options& options, Bytes lead, Bytes journal) {
  // The journal of another job must not be found beside this one's output.
  if (!journal.empty() && !clear_file(options.journal_fd)) return STOCKADE_ERROR_IO;
  if (out_fd >= 0) {
    if (::ftruncate(out_fd, 0) != 0) return STOCKADE_ERROR_IO;
    const Status status = io::write_at(out_fd, 0, lead.data(), lead.size());
    if (status != STOCKADE_OK) return status;
    const auto length = static_cast<off_t>(terms.output_length());
    if (options.extends_output && ::ftruncate(out_fd, length) != 0) return STOCKADE_ERROR_IO;
  }
  if (journal.empty()) return STOCKADE_OK;
  const Status status = out_fd >= 0 ? io::sync_data(out_fd) : STOCKADE_OK;
  return status == STOCKADE_OK ? write_journal(options.journal_fd, terms, journal) : status;
}

// The journal of a new job, if it is to have one, and its id.
Status prepare(const FileFormat& format, const Options& options, RandomSource& random, Terms& terms,
               std::vector<uint8_t>& journal) {
  Status status = random.fill(terms.id, sizeof terms.id);
  if (status == STOCKADE_OK && options.journal_fd > 0) {
    const Keyring& keyring = options.journal_keyring != nullptr ? *options.journal_keyring : *format.keyring;
    status = compose_journal(keyring, random, terms, journal);
  }
  return status;
}

}  // namespace

void SlicedFile::adopt(const Beginning& beginning) {
  terms_->cipher = beginning.cipher;
  terms_->header_length = beginning.header_length;
  std::memcpy(terms_->preamble, beginning.key->preamble, chunked::preamble_bytes);
  std::memcpy(terms_->file_key, *beginning.file_key, file_key_bytes);
  *key_ = *beginning.key;
}

// The records of a job without a journal, once its terms are known.
Status SlicedFile::begin_memory() { return memory_.open(-1, *terms_); }

// The payload's key from the terms. MISMATCH if they do not belong together.
Status SlicedFile::derive() {
  Beginning beginning;
  beginning.cipher = terms_->cipher;
  std::memcpy(*beginning.file_key, terms_->file_key, file_key_bytes);
  const Status status = derive_from_file_key(beginning, Bytes(terms_->preamble, chunked::salt_bytes));
  if (status != STOCKADE_OK) return status;
  *key_ = *beginning.key;
  return equal_constant_time(key_->preamble, terms_->preamble, chunked::preamble_bytes) ? STOCKADE_OK
                                                                                        : STOCKADE_ERROR_MISMATCH;
}

Status SlicedFile::create_sealing(const FileFormat& format, int in_fd, int out_fd, const Options& options,
                                  RandomSource& random) {
  FileInput input(in_fd, nullptr, nullptr);
  Status status = in_fd >= 0 ? open_input(input) : STOCKADE_OK;
  if (status == STOCKADE_OK) status = check_files(in_fd, out_fd, options.journal_fd);
  if (status != STOCKADE_OK) return status;
  terms_->has_input = in_fd >= 0;
  if (terms_->has_input) terms_->input = identify(input.stat());
  terms_->length = terms_->has_input ? input.length() : options.plain_length;
  if (terms_->length / chunked::chunk_bytes >= chunked::max_chunks) return STOCKADE_ERROR_TOO_MANY_CHUNKS;
  status = choose_slices(options.slice_bytes, options.processes, *terms_);
  Beginning beginning;
  std::vector<uint8_t> lead, journal;
  if (status == STOCKADE_OK) status = make_beginning(format, random, beginning, lead);
  if (status != STOCKADE_OK) return status;
  adopt(beginning);
  status = prepare(format, options, random, *terms_, journal);
  return status == STOCKADE_OK ? write_files(*terms_, out_fd, options, lead, journal) : status;
}

Status SlicedFile::create_opening(const FileFormat& format, int in_fd, int out_fd, const Options& options,
                                  const config::EngineChoice& engine, RandomSource& random, stockade_fault& fault) {
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
  if (terms_->length / chunked::sealed_chunk_bytes >= chunked::max_chunks) return STOCKADE_ERROR_TOO_MANY_CHUNKS;
  adopt(beginning);
  std::vector<uint8_t> journal;
  status = choose_slices(options.slice_bytes, options.processes, *terms_);
  if (status == STOCKADE_OK) status = prepare(format, options, random, *terms_, journal);
  if (status != STOCKADE_OK || options.kind == STOCKADE_SHARED_VERIFY) return status;
  return write_files(*terms_, out_fd, options, {}, journal);
}

Status SlicedFile::create(const FileFormat& format, int in_fd, int out_fd, const Options& options,
                          const config::EngineChoice& engine, RandomSource& random, stockade_fault& fault) {
  fault = make_fault(STOCKADE_OK);
  terms_->kind = options.kind;
  Status status = check_options(format, in_fd, options);
  if (status == STOCKADE_OK) {
    status = options.kind == STOCKADE_SHARED_ENCRYPT
                 ? create_sealing(format, in_fd, out_fd, options, random)
                 : create_opening(format, in_fd, out_fd, options, engine, random, fault);
  }
  if (status == STOCKADE_OK) status = begin_memory();
  if (status != fault.status) fault = make_fault(status);
  return status;
}

Status SlicedFile::open_journal(int journal_fd, const Keyring& keyring, uint32_t max_work_factor,
                                stockade_fault& fault) {
  fault = make_fault(STOCKADE_OK);
  struct stat found;
  Status status = ::fstat(journal_fd, &found) == 0 ? STOCKADE_OK : STOCKADE_ERROR_IO;
  if (status == STOCKADE_OK && !S_ISREG(found.st_mode)) status = STOCKADE_ERROR_MODE;
  if (status == STOCKADE_OK) status = read_journal(journal_fd, keyring, max_work_factor, *terms_, fault);
  if (status == STOCKADE_OK) status = derive();
  if (status == STOCKADE_ERROR_MISMATCH) status = STOCKADE_ERROR_JOURNAL;
  if (status == STOCKADE_OK) status = begin_memory();
  if (status != fault.status) fault = make_fault(status);
  return status;
}

Status SlicedFile::import_terms(const uint8_t terms[STOCKADE_SHARED_TERMS_BYTES]) {
  Status status = read_terms(terms, *terms_);
  if (status == STOCKADE_OK) status = derive();
  return status == STOCKADE_OK ? begin_memory() : status;
}

void SlicedFile::describe(stockade_shared_info& info) const {
  const Terms& terms = *terms_;
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

Status SlicedFile::work(stockade_shared_work& work, const config::EngineChoice& engine, const JobPace& pace,
                        Purpose purpose, uint64_t* resumed) const {
  work.slices = work.in_length = work.out_length = 0;
  work.fault = make_fault(STOCKADE_OK);
  Run run(*terms_, *key_, memory_, work, engine, pace, purpose);
  const Status status = run.run();
  if (status != work.fault.status) work.fault = make_fault(status);
  if (resumed != nullptr) *resumed = run.resumed_bytes();
  return status;
}

Status SlicedFile::run(stockade_shared_work& shared, const config::EngineChoice& engine, const JobPace& pace,
                       uint64_t* resumed) const {
  return work(shared, engine, pace, Purpose::make, resumed);
}

Status SlicedFile::read_back(stockade_shared_work& shared, const config::EngineChoice& engine,
                             const JobPace& pace) const {
  return work(shared, engine, pace, Purpose::read_back, nullptr);
}

Status SlicedFile::find_missing(int journal_fd, std::vector<uint64_t>& slices) const {
  if (terms_->journal_header_length == 0) return STOCKADE_ERROR_MODE;
  Records records;
  const Status status = records.open(journal_fd, *terms_);
  return status == STOCKADE_OK ? records.find_missing(slices) : status;
}

// Opens the first and the last chunk of each slice: where processes have written side by side, on several machines, one
// may have undone what its neighbour wrote into a page of the file that they share.
Status SlicedFile::check_borders(int out_fd, std::vector<uint64_t>& damaged, stockade_fault& fault) const {
  const uint64_t chunks = chunked::chunk_count(terms_->file_length() - terms_->header_length);
  std::vector<uint8_t> sealed(chunked::sealed_chunk_bytes);
  for (uint64_t slice = 0; slice < terms_->slices(); ++slice) {
    const uint64_t first = slice * terms_->slice_chunks;
    const uint64_t last = slice + 1 < terms_->slices() ? first + terms_->slice_chunks - 1 : chunks - 1;
    for (const uint64_t chunk : {first, last}) {
      const uint64_t offset = terms_->header_length + chunked::chunk_offset(chunk);
      const uint64_t length = std::min(chunked::sealed_chunk_bytes, terms_->file_length() - offset);
      uint64_t got;
      const Status status = io::read_at(out_fd, offset, sealed.data(), length, &got);
      if (status != STOCKADE_OK) return status;
      if (got == length && chunked::check_chunk(*key_, chunk, sealed.data(), length)) continue;
      if (damaged.empty()) fault = fault_in_chunk(STOCKADE_ERROR_CHUNK, chunk, offset);
      damaged.push_back(slice);
      break;
    }
  }
  return STOCKADE_OK;
}

Status SlicedFile::check(int out_fd, int journal_fd, stockade_fault& fault) const {
  const auto end = [&](Status status) {
    fault = make_fault(status);
    return status;
  };
  const Terms& terms = *terms_;
  if (terms.kind == STOCKADE_SHARED_VERIFY) return end(STOCKADE_ERROR_MODE);
  Status status = check_files(-1, out_fd, journal_fd);
  std::vector<uint64_t> slices;
  if (status == STOCKADE_OK && journal_fd > 0) status = find_missing(journal_fd, slices);
  if (status != STOCKADE_OK) return end(status);
  if (!slices.empty()) return end(STOCKADE_ERROR_INCOMPLETE);
  struct stat found;
  if (::fstat(out_fd, &found) != 0) return end(STOCKADE_ERROR_IO);
  if (static_cast<uint64_t>(found.st_size) != terms.output_length()) return end(STOCKADE_ERROR_JOURNAL);
  if (!terms.seals()) return end(STOCKADE_OK);
  status = check_beginning(terms, out_fd);
  fault = make_fault(STOCKADE_OK);
  if (status == STOCKADE_OK) status = check_borders(out_fd, slices, fault);
  if (status != STOCKADE_OK) return end(status);
  if (slices.empty() || journal_fd <= 0) return fault.status;
  Records records;
  status = records.open(journal_fd, terms);
  for (const uint64_t slice : slices) {
    SliceState state;
    Records::Entry entry{slice, {}};
    if (status == STOCKADE_OK) status = records.read(slice, state, entry.digest);
    if (status == STOCKADE_OK) status = records.note_begun(entry);
  }
  return status == STOCKADE_OK ? fault.status : end(status);
}

bool SlicedFile::is_piece(uint64_t offset, uint64_t length) const {
  const uint64_t plain = terms_->plain_length();
  if (offset % chunked::chunk_bytes != 0 || offset > plain || length > plain - offset) return false;
  return offset + length == plain || length % chunked::chunk_bytes == 0;
}

uint64_t SlicedFile::sealed_length(uint64_t offset, uint64_t length) const {
  if (!is_piece(offset, length)) return 0;
  return chunked::sealed_length(length, offset + length == terms_->plain_length());
}

Status SlicedFile::seal(uint64_t offset, Bytes in, uint8_t* out, const config::EngineChoice& engine) const {
  if (!terms_->seals()) return STOCKADE_ERROR_MODE;
  if (!is_piece(offset, in.size())) return STOCKADE_ERROR_ARGUMENT;
  const bool last = offset + in.size() == terms_->plain_length();
  return cipher::seal_span(engine, *key_, {offset / chunked::chunk_bytes, in.data(), in.size(), last, out});
}

Status SlicedFile::unseal(uint64_t offset, const uint8_t* in, std::span<uint8_t> out,
                          const config::EngineChoice& engine, stockade_fault& fault) const {
  const auto end = [&](Status status) {
    fault = make_fault(status);
    return status;
  };
  if (terms_->seals()) return end(STOCKADE_ERROR_MODE);
  if (!is_piece(offset, out.size())) return end(STOCKADE_ERROR_ARGUMENT);
  const uint64_t first = offset / chunked::chunk_bytes;
  const bool last = offset + out.size() == terms_->plain_length();
  const uint64_t length = chunked::sealed_length(out.size(), last);
  uint64_t damaged = UINT64_MAX;
  const Status status = cipher::open_span(engine, *key_, {first, in, length, last, out.data()}, &damaged);
  if (status == STOCKADE_OK && damaged == UINT64_MAX) return end(STOCKADE_OK);
  wipe(out.data(), out.size());
  if (status != STOCKADE_OK) return end(status);
  const uint64_t chunk = first + damaged;
  fault = fault_in_chunk(STOCKADE_ERROR_CHUNK, chunk, terms_->header_length + chunked::chunk_offset(chunk));
  return fault.status;
}

}  // namespace stockade::slices
