#include "cross/temporary_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <stdexcept>

namespace stockade::tests {

std::string temporary_folder() {
  const char* folder = std::getenv("TMPDIR");
  return folder == nullptr || *folder == '\0' ? "/tmp" : folder;
}

TemporaryFile::TemporaryFile() {
  std::string path = temporary_folder() + "/stockade_test_XXXXXX";
  fd_ = mkostemp(path.data(), O_CLOEXEC);
  if (fd_ < 0) throw std::runtime_error("cannot make a file in " + temporary_folder());
  unlink(path.c_str());
}

TemporaryFile::TemporaryFile(const Bytes& content) : TemporaryFile() {
  write_exactly(fd_, 0, content.data(), content.size());
}

TemporaryFile::~TemporaryFile() { close(fd_); }

uint64_t TemporaryFile::size() const {
  struct stat found;
  if (fstat(fd_, &found) != 0) throw std::runtime_error("fstat");
  return static_cast<uint64_t>(found.st_size);
}

Bytes TemporaryFile::content() const {
  Bytes bytes(size());
  read_exactly(fd_, 0, bytes.data(), bytes.size());
  return bytes;
}

void TemporaryFile::seek(uint64_t offset) const {
  if (lseek(fd_, static_cast<off_t>(offset), SEEK_SET) < 0) throw std::runtime_error("lseek");
}

uint64_t TemporaryFile::position() const {
  const off_t found = lseek(fd_, 0, SEEK_CUR);
  if (found < 0) throw std::runtime_error("lseek");
  return static_cast<uint64_t>(found);
}

void TemporaryFile::resize(uint64_t length) const {
  if (ftruncate(fd_, static_cast<off_t>(length)) != 0) throw std::runtime_error("ftruncate");
}

int TemporaryFile::reopen(int flags) const {
  const std::string path = "/proc/self/fd/" + std::to_string(fd_);
  const int fd = open(path.c_str(), flags | O_CLOEXEC);
  if (fd < 0) throw std::runtime_error("open " + path);
  return fd;
}

void read_exactly(int fd, uint64_t offset, uint8_t* bytes, uint64_t length) {
  while (length != 0) {
    const ssize_t count = pread(fd, bytes, length, static_cast<off_t>(offset));
    if (count <= 0) throw std::runtime_error("pread");
    bytes += count;
    offset += static_cast<uint64_t>(count);
    length -= static_cast<uint64_t>(count);
  }
}

void write_exactly(int fd, uint64_t offset, const uint8_t* bytes, uint64_t length) {
  while (length != 0) {
    const ssize_t count = pwrite(fd, bytes, length, static_cast<off_t>(offset));
    if (count <= 0) throw std::runtime_error("pwrite");
    bytes += count;
    offset += static_cast<uint64_t>(count);
    length -= static_cast<uint64_t>(count);
  }
}

}  // namespace stockade::tests
