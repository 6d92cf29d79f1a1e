#include "stage_file.h"

#include <fcntl.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <stdexcept>

namespace stockade::bench {

OpenFile::OpenFile(const std::string& path, FileUse use)
    : path_(path),
      fd_(open(path.c_str(), (use == fresh_file ? O_RDWR | O_CREAT | O_EXCL : O_RDONLY) | O_CLOEXEC, 0600)) {
  if (fd_ < 0) fail("open");
}

OpenFile::~OpenFile() { close(fd_); }

void OpenFile::read_all(uint8_t* data, uint64_t size) const {
  for (uint64_t done = 0; done < size;) {
    const ssize_t got = read(fd_, data + done, size - done);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) fail("read");
    done += static_cast<uint64_t>(got);
  }
}

void OpenFile::write_all(const uint8_t* data, uint64_t size) const {
  for (uint64_t done = 0; done < size;) {
    const ssize_t put = write(fd_, data + done, size - done);
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) fail("write");
    done += static_cast<uint64_t>(put);
  }
}

void OpenFile::fail(const char* what) const {
  throw std::runtime_error(std::string("cannot ") + what + " '" + path_ + "': " + std::strerror(errno));
}

bool has_room(const std::string& folder, uint64_t bytes) {
  struct statvfs state {};
  if (statvfs(folder.c_str(), &state) != 0) return false;
  return bytes + (uint64_t{1} << 20) <= uint64_t{state.f_bavail} * state.f_frsize;
}

}  // namespace stockade::bench
