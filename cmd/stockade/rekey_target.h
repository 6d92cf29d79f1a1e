// A Stockade file whose header is to be replaced, so that no moment is left at which a crash would lose the header.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "file_head.h"
#include "input_file.h"

namespace stockade::cmd {

// For FILE in some folder the write-ahead copy is .FILE.stockade-header. It holds the old header and, to tell which file it
// belongs to, the first bytes of the payload: salt and commitment, which no two files share. It is on the disk before the
// file is touched and goes once the file is.
class RekeyTarget {
 public:
  // Opens and locks. Throws Failure.
  explicit RekeyTarget(const std::string& path);

  const std::string& name() const { return input_.name; }

  // Whether an interrupted replacement has left the old header. What else it may have left is tidied up. Throws Failure.
  bool was_interrupted();
  const std::string& copy_name() const { return copy_path_; }
  // The two ends of such a replacement: the old header comes back, or its copy goes. Throw Failure.
  void restore_header();
  void remove_copy();
  // What the file begins with, whatever it is; and so many bytes of it. Throw Failure (io).
  FileHead peek_header() const { return read_head(input_); }
  std::vector<uint8_t> read_front(size_t length) const;
  // Throws Failure.
  const FileHead& read_header();
  const std::vector<uint8_t>& header() const { return header_; }

  // Writes a header of the same length over the old one. Throws Failure.
  void replace_header(std::span<const uint8_t> renewed);
  // Puts a copy of the file with another header in its place. Throws Failure.
  void copy_with_header(std::span<const uint8_t> renewed);

 private:
  void write_front(std::span<const uint8_t> bytes);
  bool belongs(std::span<const uint8_t> copy) const;
  void write_copy();

  std::string path_, copy_path_;
  Input input_;
  FileHead head_;
  std::vector<uint8_t> header_;
};

}  // namespace stockade::cmd
