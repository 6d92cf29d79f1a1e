// Files that are read and written whole, by those who time the stages of a file's way.
#pragma once

#include <cstdint>
#include <string>

namespace stockade::bench {

enum FileUse {
  existing_file,
  fresh_file  // whose pages are not there yet, and which must not be there either
};

class OpenFile {
 public:
  // All throw std::runtime_error.
  OpenFile(const std::string& path, FileUse use);
  ~OpenFile();
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  int fd() const { return fd_; }

  void read_all(uint8_t* data, uint64_t size) const;
  void write_all(const uint8_t* data, uint64_t size) const;

 private:
  [[noreturn]] void fail(const char* what) const;
  std::string path_;
  int fd_;
};

// Whether a folder can take so many bytes more.
bool has_room(const std::string& folder, uint64_t bytes);

}  // namespace stockade::bench
