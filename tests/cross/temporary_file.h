// Files that are gone when the test ends.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace stockade::tests {

using Bytes = std::vector<uint8_t>;

// An open file for reading and writing without a name, in TMPDIR or /tmp. Throws std::runtime_error if it cannot be
// made.
class TemporaryFile {
 public:
  TemporaryFile();
  // Holding `content`, positioned at its begin.
  explicit TemporaryFile(const Bytes& content);
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile();
  int fd() const { return fd_; }
  uint64_t size() const;
  // Everything, from the begin, whatever the position.
  Bytes content() const;
  void seek(uint64_t offset) const;
  uint64_t position() const;
  // Changes the length.
  void resize(uint64_t length) const;
  // A second descriptor for the same file, of the caller, opened with `flags`.
  int reopen(int flags) const;

 private:
  int fd_;
};

// The folder in which they are made.
std::string temporary_folder();

// Exactly `length` bytes at `offset`; throws std::runtime_error if there are not so many.
void read_exactly(int fd, uint64_t offset, uint8_t* bytes, uint64_t length);
void write_exactly(int fd, uint64_t offset, const uint8_t* bytes, uint64_t length);

}  // namespace stockade::tests
