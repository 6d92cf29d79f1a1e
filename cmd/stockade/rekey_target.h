// A Stockade file whose header is to be replaced, so that no moment is left at which a crash would lose the header.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "file_head.h"
#include "input_file.h"
#include "output_file.h"

namespace stockade::cmd {

// For FILE in some folder the write-ahead copy is .FILE.stockade-header. It holds the old header and, to tell which file it
// belongs to, the first bytes of the payload: salt and commitment, which no two files share. It is on the disk before the
// file is touched and goes once the file is.
class RekeyTarget {
 public:
  // Opens and locks. Throws Failure.
  explicit RekeyTarget(const std::string& path);

  const std::string& name() const { return input_.name; }

  // Throws Failure for a file that is armored, or none of ours, whatever stands beside it. A front that the disk has lost
  // passes.
  void check_kind() const;
  // What an interrupted replacement has saved, if anything: not yet to be trusted. Throws Failure, also where the copy is not
  // a file of this user alone.
  std::optional<std::vector<uint8_t>> read_copy() const;
  const std::string& copy_name() const { return copy_path_; }
  // The two ends of such a replacement: the header of the copy, which was found authentic, comes back, or the copy goes.
  // Throw Failure.
  void restore_header(std::span<const uint8_t> copy);
  void remove_copy();
  // So many bytes of what the file begins with. Throws Failure (io).
  std::vector<uint8_t> read_front(size_t length) const;
  // Throws Failure.
  const FileHead& read_header();
  const std::vector<uint8_t>& header() const { return header_; }

  // Writes a header of the same length over the old one. Throws Failure.
  void replace_header(std::span<const uint8_t> renewed);
  // Puts a copy of the file with another header in its place. Throws Failure.
  void copy_with_header(std::span<const uint8_t> renewed);

 private:
  RekeyTarget(const Target& target, const std::string& shown);
  void write_front(std::span<const uint8_t> bytes);
  [[noreturn]] void refuse_armor() const;
  // Throws Failure where somebody else has changed or replaced the file since it was opened.
  void check_unchanged() const;
  void write_copy();

  std::string path_, copy_path_;
  Input input_;
  FileHead head_;
  std::vector<uint8_t> header_;
};

}  // namespace stockade::cmd
