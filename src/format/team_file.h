// One Stockade file, or plain Cobblestone, by all ranks of a team: each seals what it has and writes it to its place,
// or reads what it wants. Rank 0 alone has the keyring.
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <span>
#include <string>

#include "base/bytes.h"
#include "base/random.h"
#include "base/secret.h"
#include "base/status.h"
#include "engine/engine.h"
#include "engine/mpi.h"
#include "format/fault.h"
#include "format/sealed_file.h"

namespace stockade::format {

// What rank 0 tells the others. Lives in Secret<>.
struct TeamFileTerms {
  bool has_keyring;
  stockade_cipher cipher;
  uint32_t key_length;
  uint8_t key[file_key_bytes];  // the file key, or of plain Cobblestone the input key
  uint8_t preamble[preamble_bytes];
  uint64_t header_length, context_length;
  uint64_t file_length;  // of a file that is read
  uint64_t name;         // of the temporary, of one that is written
};

// A file of this rank's that is closed when it goes.
class TeamDescriptor {
 public:
  TeamDescriptor() = default;
  TeamDescriptor(const TeamDescriptor&) = delete;
  TeamDescriptor& operator=(const TeamDescriptor&) = delete;
  ~TeamDescriptor() { close(); }
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
struct TeamWriting {
  const char* path;
  const FileFormat* format;
  Bytes bytes;
  uint64_t offset;
};
Status write_team_file(engine::Team& team, Status refused, const TeamWriting& writing, const engine::Engine& engine,
                       RandomSource& random, stockade_fault& fault);

// stockade_mpi_reader.
class TeamReader {
 public:
  TeamReader(engine::Team& team, const engine::Engine& engine) : team_(team), engine_(engine) {}

  // `format` is read on rank 0 only.
  Status open(Status refused, const char* path, const FileFormat* format, stockade_fault& fault);
  uint64_t length() const { return length_; }
  // Wipes all of `out` on an error.
  Status read_at(Status refused, uint64_t offset, std::span<uint8_t> out, uint64_t* read, stockade_fault& fault) const;

 private:
  Status open_first(const char* path, const FileFormat& format, TeamFileTerms& terms, stockade_fault& fault);
  Status open_own(const char* path, const TeamFileTerms& terms);
  Status read_own(uint64_t offset, std::span<uint8_t> out, stockade_fault& fault) const;

  engine::Team& team_;
  const engine::Engine engine_;
  TeamDescriptor file_;
  Beginning beginning_;
  uint64_t length_ = 0, chunks_ = 0, file_length_ = 0;
};

}  // namespace stockade::format
