// One Stockade file, or plain Cobblestone, by all ranks of a communicator: each seals what it has and writes it to its place,
// or reads what it wants. Rank 0 alone has the keyring.
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <span>
#include <string>

#include "base/bytes.h"
#include "base/fault.h"
#include "base/random.h"
#include "base/secret.h"
#include "base/status.h"
#include "config/environment.h"
#include "format/sealed_file.h"
#include "mpi/communicator.h"

namespace stockade::mpi {

// What rank 0 tells the others. Lives in Secret<>.
struct FileTerms {
  bool has_keyring;
  stockade_cipher cipher;
  uint32_t key_length;
  uint8_t key[format::file_key_bytes];  // the file key, or of plain Cobblestone the input key
  uint8_t preamble[chunked::preamble_bytes];
  uint64_t header_length, context_length;
  uint64_t file_length;  // of a file that is read
  uint64_t name;         // of the temporary, of one that is written
};

// A file of this rank's that is closed when it goes.
class RankFile {
 public:
  RankFile() = default;
  RankFile(const RankFile&) = delete;
  RankFile& operator=(const RankFile&) = delete;
  ~RankFile() { close(); }
  int get() const { return fd_; }
  // IO.
  Status open(const std::string& path, int flags, mode_t mode = 0);
  // IO: of a write that is reported late.
  Status close();

 private:
  int fd_ = -1;
};

// Everything below is collective, and its functions return the same status on all ranks, with the fault of the rank
// that it comes from. `refused` is OK, or what is wrong with this rank's arguments already; then the others are not
// looked at.

// stockade_mpi_file_write. `format` is read on rank 0 only.
struct FileWriting {
  const char* path;
  const format::FileFormat* format;
  Bytes bytes;
  uint64_t offset;
};
Status write_file(Communicator& communicator, Status refused, const FileWriting& writing,
                  const config::EngineChoice& engine, RandomSource& random, stockade_fault& fault);

// stockade_mpi_reader.
class FileReader {
 public:
  FileReader(Communicator& communicator, const config::EngineChoice& engine)
      : communicator_(communicator), engine_(engine) {}

  // `format` is read on rank 0 only.
  Status open(Status refused, const char* path, const format::FileFormat* format, stockade_fault& fault);
  uint64_t length() const { return length_; }
  // Wipes all of `out` on an error.
  Status read_at(Status refused, uint64_t offset, std::span<uint8_t> out, uint64_t* read, stockade_fault& fault) const;

 private:
  Status open_first(const char* path, const format::FileFormat& format, FileTerms& terms, stockade_fault& fault);
  Status open_own(const char* path, const FileTerms& terms);
  Status read_own(uint64_t offset, std::span<uint8_t> out, stockade_fault& fault) const;

  Communicator& communicator_;
  const config::EngineChoice engine_;
  RankFile file_;
  format::Beginning beginning_;
  uint64_t length_ = 0, chunks_ = 0, file_length_ = 0;
};

}  // namespace stockade::mpi
