#include "mpi/file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>
#include <vector>

#include "base/without_throwing.h"
#include "cipher/chunk_span.h"
#include "format/file_input.h"
#include "io/descriptor.h"
#include "mpi/chunk_distribution.h"
#include "mpi/chunk_runs.h"

namespace stockade::mpi {

namespace {

// What all ranks say about what they have done, each with errno as `mine` has left it; where it is an error, `fault`
// becomes that of the rank it comes from.
Status settle(Communicator& communicator, Status mine, stockade_fault& fault) {
  const int error = errno;
  uint32_t rank = UINT32_MAX;
  if (fault.status != mine) fault = make_fault(mine);
  const Status agreed = communicator.agree(mine, error, &rank);
  if (agreed == STOCKADE_OK || rank == UINT32_MAX) {
    fault = make_fault(agreed);
    return agreed;
  }
  const int agreed_error = errno;
  const Status told = communicator.broadcast(&fault, sizeof fault, rank);
  errno = agreed_error;
  return told == STOCKADE_OK ? agreed : told;
}

Status describe_beginning(const format::FileFormat& format, const format::Beginning& beginning, FileTerms& terms) {
  terms.has_keyring = format.keyring != nullptr;
  terms.cipher = beginning.cipher;
  const Bytes key = terms.has_keyring ? Bytes(*beginning.file_key, format::file_key_bytes) : format.key;
  if (key.size() > sizeof terms.key) return STOCKADE_ERROR_KEY_LENGTH;
  terms.key_length = static_cast<uint32_t>(key.size());
  std::memcpy(terms.key, key.data(), key.size());
  std::memcpy(terms.preamble, beginning.key->preamble, sizeof terms.preamble);
  terms.header_length = beginning.header_length;
  terms.context_length = terms.has_keyring ? 0 : format.context.size();
  return STOCKADE_OK;
}

// What rank 0 has described, as the others need it.
Status adopt_beginning(const FileTerms& terms, Bytes context, format::Beginning& beginning, stockade_fault& fault) {
  beginning.cipher = terms.cipher;
  const Bytes preamble(terms.preamble, sizeof terms.preamble);
  if (!terms.has_keyring) {
    format::FileFormat plain;
    plain.key = {terms.key, terms.key_length};
    plain.context = context;
    plain.cipher = terms.cipher;
    return format::open_beginning(plain, preamble, beginning, fault);
  }
  std::memcpy(*beginning.file_key, terms.key, format::file_key_bytes);
  beginning.header_length = terms.header_length;
  const Status status = format::derive_from_file_key(beginning, preamble.first(chunked::salt_bytes));
  if (status != STOCKADE_OK) return status;
  const bool same = equal_constant_time(beginning.key->preamble, terms.preamble, sizeof terms.preamble);
  return same ? STOCKADE_OK : STOCKADE_ERROR_MISMATCH;
}

// Hands on what rank 0 knows of the file. Collective, and settled but for what the last step returns on each rank.
Status share_beginning(Communicator& communicator, const format::FileFormat* format, FileTerms& terms,
                       format::Beginning& beginning, stockade_fault& fault) {
  Status status = communicator.broadcast(&terms, sizeof terms, 0);
  if (status != STOCKADE_OK) return status;
  std::vector<uint8_t> context;
  if (terms.context_length != 0) {
    status = without_throwing([&] {
      context.resize(terms.context_length);
      return STOCKADE_OK;
    });
    if (status = settle(communicator, status, fault); status != STOCKADE_OK) return status;
    if (communicator.rank() == 0) std::memcpy(context.data(), format->context.data(), context.size());
    if (status = communicator.broadcast(context.data(), context.size(), 0); status != STOCKADE_OK) return status;
  }
  if (communicator.rank() == 0) return STOCKADE_OK;
  status = adopt_beginning(terms, context, beginning, fault);
  // A header, or a key, is rank 0's; that it does not fit here is no fault of the file's.
  fault = make_fault(status);
  return status;
}

std::string folder_of(const std::string& path) { return path.substr(0, path.rfind('/') + 1); }

std::string temporary_name(const std::string& path, uint64_t name) {
  char text[32];
  std::snprintf(text, sizeof text, ".stockade-%016llx", static_cast<unsigned long long>(name));
  return folder_of(path) + text;
}

// One rank's part in the making of a file, step by step. Rank 0 makes the temporary, and removes it unless it got its
// name.
//
// Ranks write by pwrite(2), not through MPI-IO: each of them has one stretch of whole chunks, which collective
// buffering would only copy once more. Two ranks of Open MPI 4.1.4 and MPICH 4.0.2 on one machine, ms in memory
// (tmpfs): 2 x 64 MiB by pwrite(2) 51.8 and 51.3, by MPI_File_write_at_all 52.3 and 51.2, with its buffering enforced
// 51.6 and 74.7; 2 x 256 KiB 0.17 and 0.17, 0.30 and 0.19, 0.30 and 0.22.
class FileWriter {
 public:
  FileWriter(Communicator& communicator, const FileWriting& writing, const config::EngineChoice& engine)
      : communicator_(communicator), writing_(writing), engine_(engine), messages_(communicator) {}
  FileWriter(const FileWriter&) = delete;
  FileWriter& operator=(const FileWriter&) = delete;
  ~FileWriter() {
    if (made_) ::unlink(temporary_.c_str());
  }

  Status run(Status refused, RandomSource& random, stockade_fault& fault) {
    const bool first = communicator_.rank() == 0;
    Status status = refused;
    if (status == STOCKADE_OK) {
      status = without_throwing([&] {
        pieces_.resize(communicator_.size());
        return first ? begin(random) : STOCKADE_OK;
      });
    }
    if (status = settle(communicator_, status, fault); status != STOCKADE_OK) return status;
    const Extent own{writing_.offset, writing_.bytes.size()};
    if (status = communicator_.gather(&own, sizeof own, pieces_.data()); status != STOCKADE_OK) return status;
    status = share_beginning(communicator_, writing_.format, *terms_, beginning_, fault);
    if (status == STOCKADE_OK) status = without_throwing([&] { return prepare(); });
    if (status = settle(communicator_, status, fault); status != STOCKADE_OK) return status;
    status = work(fault);
    if (status = settle(communicator_, status, fault); status != STOCKADE_OK) return status;
    return settle(communicator_, first ? give_name() : STOCKADE_OK, fault);
  }

 private:
  // Rank 0: a temporary with everything before the first chunk.
  Status begin(RandomSource& random) {
    const format::FileFormat& format = *writing_.format;
    if (format.armor) return STOCKADE_ERROR_MODE;
    std::vector<uint8_t> bytes;
    Status status = format::make_beginning(format, random, beginning_, bytes);
    if (status == STOCKADE_OK) status = describe_beginning(format, beginning_, *terms_);
    uint8_t name[sizeof terms_->name];
    if (status == STOCKADE_OK) status = system_random().fill(name, sizeof name);
    if (status != STOCKADE_OK) return status;
    std::memcpy(&terms_->name, name, sizeof name);
    struct stat found {};
    if (::stat(writing_.path, &found) == 0 && S_ISDIR(found.st_mode)) {
      errno = EISDIR;
      return STOCKADE_ERROR_IO;
    }
    temporary_ = temporary_name(writing_.path, terms_->name);
    if (status = file_.open(temporary_, O_RDWR | O_CREAT | O_EXCL, 0666); status != STOCKADE_OK) return status;
    made_ = true;
    return io::write_at(file_.get(), 0, bytes.data(), bytes.size());
  }

  // Everything that can fail before data moves.
  Status prepare() {
    if (const Status status = layout_.make(std::move(pieces_)); status != STOCKADE_OK) return status;
    head_ = layout_.head(communicator_.rank());
    tails_ = layout_.tails(communicator_.rank());
    messages_.reserve(tails_.size() + 1);
    if (!tails_.empty() && !shared_chunk_.allocate(chunked::chunk_bytes)) return STOCKADE_ERROR_MEMORY;
    if (communicator_.rank() == 0) return STOCKADE_OK;
    return file_.open(temporary_name(writing_.path, terms_->name), O_RDWR);
  }

  // What was sent must arrive, whatever becomes of the rest.
  Status work(stockade_fault& fault) {
    if (const Status status = start_exchange(); status != STOCKADE_OK) return status;
    Status status = without_throwing([&] { return seal_own(fault); });
    const int error = errno;
    if (const Status arrived = messages_.wait(); arrived != STOCKADE_OK) return arrived;
    errno = error;
    if (status == STOCKADE_OK) status = without_throwing([&] { return seal_shared(fault); });
    if (status == STOCKADE_OK && ::fsync(file_.get()) != 0 && errno != EINVAL) status = STOCKADE_ERROR_IO;
    return status == STOCKADE_OK ? file_.close() : status;
  }

  Status start_exchange() {
    const uint64_t begin = shared_index() * chunked::chunk_bytes;
    for (const ChunkDistribution::Fragment& tail : tails_) {
      const Status status = messages_.receive(tail.rank, shared_chunk_.data() + (tail.offset - begin), tail.length);
      if (status != STOCKADE_OK) return status;
    }
    return head_.length == 0 ? STOCKADE_OK : messages_.send(head_.rank, writing_.bytes.data(), head_.length);
  }

  // The chunks that lie in this rank's piece from end to end.
  Status seal_own(stockade_fault& fault) {
    const auto [first, end] = layout_.duty(communicator_.rank());
    if (first == end) return STOCKADE_OK;
    const uint64_t own_end = tails_.empty() ? end : shared_index();
    const uint64_t begin = first * chunked::chunk_bytes,
                   length = std::min(own_end * chunked::chunk_bytes, layout_.length()) - begin;
    return seal(first, own_end - first, writing_.bytes.data() + (begin - writing_.offset), length, fault);
  }

  // The chunk that begins in this rank's piece and ends in another's.
  Status seal_shared(stockade_fault& fault) {
    if (tails_.empty()) return STOCKADE_OK;
    const uint64_t index = shared_index(), begin = index * chunked::chunk_bytes;
    const uint64_t own = layout_.piece(communicator_.rank()).end() - begin;
    std::memcpy(shared_chunk_.data(), writing_.bytes.data() + (begin - writing_.offset), own);
    return seal(index, 1, shared_chunk_.data(), std::min(chunked::chunk_bytes, layout_.length() - begin), fault);
  }
  uint64_t shared_index() const { return layout_.duty(communicator_.rank()).end - 1; }

  // `count` chunks of `length` bytes in all, from chunk `first` on, to their place in the file.
  Status seal(uint64_t first, uint64_t count, const uint8_t* in, uint64_t length, stockade_fault& fault) {
    const chunked::PayloadKey& key = *beginning_.key;
    return run_chunks_by_workers(
        engine_, key, count, chunked::sealed_chunk_bytes, fault, [&](const ChunkRun& run, stockade_fault&) {
          const uint64_t skipped = run.first * chunked::chunk_bytes;
          const bool last = first + run.first + run.count == layout_.chunks();
          const cipher::ChunkSpan span{first + run.first, in + skipped,
                                       std::min(run.count * chunked::chunk_bytes, length - skipped), last, run.buffer};
          const Status status = cipher::seal_span(run.worker, key, run.device_key, span);
          return status != STOCKADE_OK
                     ? status
                     : io::write_at(file_.get(), beginning_.header_length + chunked::chunk_offset(span.first),
                                    run.buffer, chunked::sealed_length(span.length, last));
        });
  }

  Status give_name() {
    if (::rename(temporary_.c_str(), writing_.path) != 0) return STOCKADE_ERROR_IO;
    made_ = false;
    const std::string folder = folder_of(temporary_);
    RankFile opened;
    const Status status = opened.open(folder.empty() ? "." : folder, O_RDONLY | O_DIRECTORY);
    if (status != STOCKADE_OK) {
      // A folder in which names may be made but not read cannot be synced.
      return errno == EACCES ? STOCKADE_OK : status;
    }
    // File systems that sync no folders say so.
    const bool synced = ::fsync(opened.get()) == 0 || errno == EINVAL || errno == ENOSYS || errno == EOPNOTSUPP;
    return synced ? STOCKADE_OK : STOCKADE_ERROR_IO;
  }

  Communicator& communicator_;
  const FileWriting& writing_;
  const config::EngineChoice& engine_;
  std::vector<Extent> pieces_;
  ChunkDistribution layout_;
  ChunkDistribution::Fragment head_{};
  std::vector<ChunkDistribution::Fragment> tails_;
  SecretBuffer shared_chunk_;
  Secret<FileTerms> terms_;
  format::Beginning beginning_;
  std::string temporary_;
  bool made_ = false;
  RankFile file_;
  // Goes first: what it refers to is above.
  PendingMessages messages_;
};

}  // namespace

Status RankFile::open(const std::string& path, int flags, mode_t mode) {
  close();
  do {
    fd_ = ::open(path.c_str(), flags | O_CLOEXEC, mode);
  } while (fd_ < 0 && errno == EINTR);
  return fd_ >= 0 ? STOCKADE_OK : STOCKADE_ERROR_IO;
}

Status RankFile::close() {
  const int fd = std::exchange(fd_, -1);
  return fd < 0 || ::close(fd) == 0 ? STOCKADE_OK : STOCKADE_ERROR_IO;
}

Status write_file(Communicator& communicator, Status refused, const FileWriting& writing,
                  const config::EngineChoice& engine, RandomSource& random, stockade_fault& fault) {
  fault = make_fault(STOCKADE_OK);
  FileWriter writer(communicator, writing, engine);
  return writer.run(refused, random, fault);
}

Status FileReader::open(Status refused, const char* path, const format::FileFormat* format, stockade_fault& fault) {
  Secret<FileTerms> terms;
  fault = make_fault(STOCKADE_OK);
  const bool first = communicator_.rank() == 0;
  Status status = refused;
  if (status == STOCKADE_OK && first) {
    status = without_throwing([&] { return open_first(path, *format, *terms, fault); });
  }
  if (status = settle(communicator_, status, fault); status != STOCKADE_OK) return status;
  status = share_beginning(communicator_, format, *terms, beginning_, fault);
  if (status == STOCKADE_OK) status = without_throwing([&] { return open_own(path, *terms); });
  return settle(communicator_, status, fault);
}

// Rank 0: unwraps the key, and opens the last chunk, so that the length can be trusted.
Status FileReader::open_first(const char* path, const format::FileFormat& format, FileTerms& terms,
                              stockade_fault& fault) {
  Status status = format::check_format(format, STOCKADE_DECRYPT);
  if (status == STOCKADE_OK) status = file_.open(path, O_RDONLY | O_NONBLOCK);
  if (status != STOCKADE_OK) return status;
  format::FileInput input(file_.get(), nullptr, nullptr);
  if (status = input.open_at_beginning(); status != STOCKADE_OK) return status;
  if (!input.regular()) return STOCKADE_ERROR_MODE;
  bool armored = false;
  status = format::find_beginning(format, input, beginning_, &armored, fault);
  if (status != STOCKADE_OK || armored) return armored ? STOCKADE_ERROR_ARMOR : status;
  if (status = format::check_end(input, beginning_, fault); status != STOCKADE_OK) return status;
  terms.file_length = input.length();
  return describe_beginning(format, beginning_, terms);
}

Status FileReader::open_own(const char* path, const FileTerms& terms) {
  struct stat found {};
  Status status = file_.get() >= 0 ? STOCKADE_OK : file_.open(path, O_RDONLY);
  if (status != STOCKADE_OK) return status;
  if (::fstat(file_.get(), &found) != 0) return STOCKADE_ERROR_IO;
  if (static_cast<uint64_t>(found.st_size) != terms.file_length) return STOCKADE_ERROR_INPUT_CHANGED;
  const uint64_t payload = terms.file_length - beginning_.header_length;
  if (status = chunked::plaintext_length(payload, &length_); status != STOCKADE_OK) return status;
  chunks_ = chunked::chunk_count(payload);
  file_length_ = terms.file_length;
  return STOCKADE_OK;
}

Status FileReader::read_at(Status refused, uint64_t offset, std::span<uint8_t> out, uint64_t* read,
                           stockade_fault& fault) const {
  fault = make_fault(STOCKADE_OK);
  const uint64_t left = offset < length_ ? length_ - offset : 0;
  const auto wanted = out.first(refused == STOCKADE_OK ? std::min<uint64_t>(out.size(), left) : 0);
  Status status = refused;
  if (status == STOCKADE_OK) status = without_throwing([&] { return read_own(offset, wanted, fault); });
  status = settle(communicator_, status, fault);
  const bool good = status == STOCKADE_OK;
  if (!good && refused == STOCKADE_OK) wipe(out.data(), out.size());
  *read = good ? wanted.size() : 0;
  return status;
}

Status FileReader::read_own(uint64_t offset, std::span<uint8_t> out, stockade_fault& fault) const {
  if (out.empty()) return STOCKADE_OK;
  const chunked::PayloadKey& key = *beginning_.key;
  const uint64_t first = offset / chunked::chunk_bytes, end = (offset + out.size() - 1) / chunked::chunk_bytes + 1;
  const auto one = [&](const ChunkRun& run, stockade_fault& found) {
    const uint64_t chunk = first + run.first, place = beginning_.header_length + chunked::chunk_offset(chunk);
    const uint64_t bytes = std::min(run.count * chunked::sealed_chunk_bytes, file_length_ - place);
    uint64_t got = 0;
    Status status = io::read_at(file_.get(), place, run.buffer, bytes, &got);
    if (status == STOCKADE_OK && got < bytes) status = STOCKADE_ERROR_INPUT_CHANGED;
    if (status != STOCKADE_OK) return status;
    // Straight to where it is wanted, unless some of it is not.
    const uint64_t begin = chunk * chunked::chunk_bytes, length = bytes - run.count * chunked::tag_bytes;
    const uint64_t from = std::max(begin, offset), to = std::min(begin + length, offset + out.size());
    const bool whole = from == begin && to == begin + length;
    uint8_t* const plain = whole ? out.data() + (begin - offset) : run.buffer + run.count * chunked::sealed_chunk_bytes;
    uint64_t damaged = UINT64_MAX;
    const cipher::ChunkSpan span{chunk, run.buffer, bytes, chunk + run.count == chunks_, plain};
    if (status = cipher::open_span(run.worker, key, run.device_key, span, &damaged); status != STOCKADE_OK)
      return status;
    if (damaged != UINT64_MAX) {
      found = fault_in_chunk(STOCKADE_ERROR_CHUNK, chunk + damaged,
                             beginning_.header_length + chunked::chunk_offset(chunk + damaged));
      return found.status;
    }
    if (!whole) std::memcpy(out.data() + (from - offset), plain + (from - begin), to - from);
    return STOCKADE_OK;
  };
  return run_chunks_by_workers(engine_, key, end - first, chunked::sealed_chunk_bytes + chunked::chunk_bytes, fault,
                               one);
}

}  // namespace stockade::mpi
