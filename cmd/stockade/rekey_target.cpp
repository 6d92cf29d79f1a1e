#include "rekey_target.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdlib>

#include "exit_status.h"
#include "file_failure.h"
#include "interrupt.h"
#include "output_file.h"
#include "stockade/stockade.h"
#include "ui.h"

namespace stockade::cmd {
namespace {

// More than the longest header with what stands behind it.
constexpr size_t most_copy_bytes = (1 << 20) + 4096;

[[noreturn]] void fail(std::string_view what, std::string_view name) {
  throw Failure(Exit::io, fmt::format("cannot {} {}: {}", what, name, ui::system_text(errno)));
}

// The file that a symbolic link points to: the link stays, and what stands beside the file is found beside it.
std::string resolved(const std::string& path) {
  struct stat link {};
  char target[PATH_MAX];
  const bool is_link = lstat(path.c_str(), &link) == 0 && S_ISLNK(link.st_mode);
  return is_link && realpath(path.c_str(), target) != nullptr ? target : path;
}

Input open_for_change(const std::string& path, const std::string& shown) {
  Input input;
  input.name = "'" + shown + "'";
  input.fd = Descriptor(open(path.c_str(), O_RDWR | O_CLOEXEC));
  if (input.fd.get() < 0 || fstat(input.fd.get(), &input.status) != 0) fail("open", input.name);
  if (!input.regular()) {
    throw Failure(Exit::usage, fmt::format("{} is no regular file, and its header cannot be replaced", input.name));
  }
  input.length = static_cast<uint64_t>(input.status.st_size);
  if (flock(input.fd.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    throw Failure(Exit::io, fmt::format("another process is at work on {}", input.name));
  }
  // Another process may have put a copy in its place between our opening and our lock.
  struct stat named {};
  if (stat(path.c_str(), &named) != 0 || !same_file(named, input.status)) {
    throw Failure(Exit::io, fmt::format("{} was replaced by another process", input.name), {"try again"});
  }
  return input;
}

// All that stands in a file of a header's size; nothing where there is none.
std::vector<uint8_t> read_whole(const std::string& path) {
  std::vector<uint8_t> bytes;
  const Descriptor fd(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  if (fd.get() < 0 && errno == ENOENT) return bytes;
  if (fd.get() < 0) fail("open", "'" + path + "'");
  bytes.resize(most_copy_bytes);
  const ssize_t got = pread(fd.get(), bytes.data(), bytes.size(), 0);
  if (got < 0) fail("read", "'" + path + "'");
  bytes.resize(static_cast<size_t>(got));
  return bytes;
}

// Copies a piece from `*position` on to where `to` stands: how much, 0 at the end, -1 on an error.
ssize_t copy_piece(int from, off_t* position, int to) {
  constexpr size_t piece_bytes = 64 << 20;
  const ssize_t copied = copy_file_range(from, position, to, nullptr, piece_bytes, 0);
  if (copied >= 0 || (errno != EXDEV && errno != EINVAL && errno != ENOSYS && errno != EOPNOTSUPP)) return copied;
  // These two file systems want it done by hand.
  std::vector<uint8_t> bytes(1 << 20);
  const ssize_t got = pread(from, bytes.data(), bytes.size(), *position);
  if (got <= 0) return got;
  write_all(to, bytes.data(), static_cast<size_t>(got), "the copy");
  *position += got;
  return got;
}

}  // namespace

RekeyTarget::RekeyTarget(const std::string& path)
    : path_(resolved(path)),
      copy_path_(fmt::format("{}.{}.stockade-header", folder_of(path_), name_in_folder(path_))),
      input_(open_for_change(path_, path)) {}

std::vector<uint8_t> RekeyTarget::read_front(size_t length) const {
  std::vector<uint8_t> bytes(length);
  const ssize_t got = pread(input_.fd.get(), bytes.data(), length, 0);
  if (got < 0) fail("read", name());
  bytes.resize(static_cast<size_t>(got));
  return bytes;
}

void RekeyTarget::write_front(std::span<const uint8_t> bytes) {
  if (lseek(input_.fd.get(), 0, SEEK_SET) != 0) fail("write to", name());
  write_all(input_.fd.get(), bytes.data(), bytes.size(), name());
  sync_file(input_.fd.get(), name());
}

// A whole header that fills the copy but for the bytes that stand behind the header in this file too.
bool RekeyTarget::belongs(std::span<const uint8_t> copy) const {
  const FileHead head = parse_head(copy);
  if (head.status != STOCKADE_OK || copy.size() != head.length() + STOCKADE_PREAMBLE_BYTES) return false;
  const std::vector<uint8_t> front = read_front(copy.size());
  return front.size() == copy.size() && std::equal(copy.begin() + static_cast<ptrdiff_t>(head.length()), copy.end(),
                                                   front.begin() + static_cast<ptrdiff_t>(head.length()));
}

bool RekeyTarget::was_interrupted() {
  const std::vector<uint8_t> copy = read_whole(copy_path_);
  if (access(copy_path_.c_str(), F_OK) != 0) return false;
  if (belongs(copy)) return true;
  // A copy that was not finished means that the file was not touched.
  const FileHead head = parse_head(copy);
  const bool whole = head.status == STOCKADE_OK && copy.size() >= head.length() + STOCKADE_PREAMBLE_BYTES;
  if (!whole && read_head(input_).status == STOCKADE_OK) {
    remove_copy();
    return false;
  }
  throw Failure(Exit::io,
                fmt::format("'{}', left by an interrupted rekey, is not of {} as it is now", copy_path_, name()),
                {"remove it if the file opens with its keys"});
}

void RekeyTarget::restore_header() {
  const std::vector<uint8_t> copy = read_whole(copy_path_);
  if (!belongs(copy)) fail("read", "'" + copy_path_ + "'");
  write_front({copy.data(), copy.size() - STOCKADE_PREAMBLE_BYTES});
  remove_copy();
}

const FileHead& RekeyTarget::read_header() {
  head_ = read_head(input_);
  if (head_.armored) {
    throw Failure(Exit::usage, fmt::format("{} is armored, which rekey does not change", name()),
                  {"decrypt it and encrypt it anew"});
  }
  if (head_.status != STOCKADE_OK) {
    throw file_failure(head_.fault, 0, {STOCKADE_DECRYPT, name(), "", nullptr, {}});
  }
  header_ = read_front(head_.length());
  return head_;
}

void RekeyTarget::write_copy() {
  const std::vector<uint8_t> front = read_front(header_.size() + STOCKADE_PREAMBLE_BYTES);
  const std::string shown = "'" + copy_path_ + "'";
  const Descriptor fd(open(copy_path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (fd.get() < 0) fail("create", shown);
  try {
    write_all(fd.get(), front.data(), front.size(), shown);
    sync_file(fd.get(), shown);
  } catch (...) {
    unlink(copy_path_.c_str());
    throw;
  }
  sync_folder(folder_of(copy_path_));
}

void RekeyTarget::remove_copy() {
  if (unlink(copy_path_.c_str()) != 0) fail("remove", "'" + copy_path_ + "'");
  sync_folder(folder_of(copy_path_));
}

void RekeyTarget::replace_header(std::span<const uint8_t> renewed) {
  write_copy();
  write_front(renewed);
  remove_copy();
}

void RekeyTarget::copy_with_header(std::span<const uint8_t> renewed) {
  OutputFile output({.path = path_, .force = true, .mode = 0600});
  write_all(output.fd(), renewed.data(), renewed.size(), output.name());
  auto position = static_cast<off_t>(header_.size());
  for (;;) {
    if (interrupt::requested()) throw Failure(Exit::interrupted, interrupt::message);
    const ssize_t copied = copy_piece(input_.fd.get(), &position, output.fd());
    if (copied < 0) throw io_failure(errno, name(), name());
    if (copied == 0) break;
  }
  // As they were; a file system that knows neither keeps what it gave.
  if (fchown(output.fd(), input_.status.st_uid, input_.status.st_gid) != 0 && errno != EPERM && errno != EINVAL) {
    fail("write", name());
  }
  if (fchmod(output.fd(), input_.status.st_mode & 07777) != 0) fail("write", name());
  output.commit();
}

}  // namespace stockade::cmd
