// The input of a job on descriptors, until its beginning is known; and the end of one whose length is.
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <vector>

#include "base/bytes.h"
#include "base/fault.h"
#include "base/status.h"
#include "format/sealed_file.h"

namespace stockade::format {

class FileInput {
 public:
  // `progress` is asked whether the job shall stop while a stream has nothing to read; it may be null.
  FileInput(int fd, stockade_progress progress, void* context) : fd_(fd), progress_(progress), context_(context) {}

  // It begins at the descriptor's position; or, for regular files, at their beginning. IO.
  Status open();
  Status open_at_beginning();

  const struct stat& stat() const { return stat_; }
  uint64_t position() const { return position_; }
  bool regular() const { return S_ISREG(stat_.st_mode); }
  // Files such as those of /proc say that they are empty and are not.
  bool sized() const { return regular() && length() != 0; }
  uint64_t length() const {
    const auto size = static_cast<uint64_t>(stat_.st_size);
    return size > position_ ? size - position_ : 0;
  }
  Bytes bytes() const { return bytes_; }
  bool ended() const { return ended_; }

  // Gets more of it: from a stream what there is, up to `count` bytes. IO, CANCELLED.
  Status fetch(uint64_t count);
  // Bytes at an offset from where the input began. Only for regular files. IO, INPUT_CHANGED.
  Status read_at(uint64_t offset, uint8_t* out, uint64_t length) const;

 private:
  ssize_t read_once(uint8_t* out, uint64_t count, uint64_t had) const;
  Status await() const;

  const int fd_;
  const stockade_progress progress_;
  void* const context_;
  struct stat stat_ {};
  uint64_t position_ = 0;
  std::vector<uint8_t> bytes_;
  bool ended_ = false;
};

// Fetches until the beginning of the file is known, or that it is armored.
Status find_beginning(const FileFormat& format, FileInput& input, Beginning& beginning, bool* armored,
                      stockade_fault& fault);

// The length of a regular file, and its last chunk, before anything is released: a file that was cut or added to is
// refused at once.
Status check_end(const FileInput& input, const Beginning& beginning, stockade_fault& fault);

}  // namespace stockade::format
