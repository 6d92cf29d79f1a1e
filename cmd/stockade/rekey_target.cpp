#include "rekey_target.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "exit_status.h"
#include "file_failure.h"
#include "interrupt.h"
#include "output_file.h"
#include "side_file.h"
#include "stockade/stockade.h"
#include "ui.h"

namespace stockade::cmd {
namespace {

// More than the longest header with what stands behind it.
constexpr size_t most_copy_bytes = (1 << 20) + 4096;

[[noreturn]] void fail(std::string_view what, std::string_view name) {
  throw Failure(Exit::io, fmt::format("cannot {} {}: {}", what, name, ui::system_text(errno)));
}

Input open_for_change(const Target& target, const std::string& shown) {
  Input input;
  input.name = "'" + shown + "'";
  if (!target.found) {
    errno = ENOENT;
    fail("open", input.name);
  }
  if (!S_ISREG(target.found->st_mode)) {
    throw Failure(Exit::usage, fmt::format("{} is no regular file, and its header cannot be replaced", input.name));
  }
  // The path has been followed already: a link found here now was put there meanwhile, and is refused.
  input.fd = Descriptor(open(target.path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY));
  if (input.fd.get() < 0 || fstat(input.fd.get(), &input.status) != 0) fail("open", input.name);
  input.length = static_cast<uint64_t>(input.status.st_size);
  if (flock(input.fd.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    throw Failure(Exit::io, fmt::format("another process is at work on {}", input.name));
  }
  // Another process may have put a copy in its place between our opening and our lock.
  if (!same_file(*target.found, input.status) || !has_name(input.fd.get(), target.path)) {
    throw Failure(Exit::io, fmt::format("{} was replaced by another process", input.name), {"try again"});
  }
  return input;
}

constexpr char unchanged[] = "the file is unchanged";

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

RekeyTarget::RekeyTarget(const std::string& path) : RekeyTarget(find_target(path, "'" + path + "'"), path) {}

RekeyTarget::RekeyTarget(const Target& target, const std::string& shown)
    : path_(target.path), copy_path_(beside(path_, "stockade-header")), input_(open_for_change(target, shown)) {}

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
  // What this process has changed is no change by another.
  if (fstat(input_.fd.get(), &input_.status) != 0) fail("read", name());
}

void RekeyTarget::check_kind() const {
  constexpr size_t sector_bytes = 512;
  const std::vector<uint8_t> front = read_front(sector_bytes);
  // After a power failure the beginning of a file that was being written may be zeros, which only a copy can mend.
  const bool lost =
      front.size() == sector_bytes && std::all_of(front.begin(), front.end(), [](uint8_t byte) { return byte == 0; });
  const FileHead head = parse_head(front);
  if (head.armored) refuse_armor();
  if (!lost && (head.status == STOCKADE_ERROR_MAGIC || head.status == STOCKADE_ERROR_VERSION)) {
    throw file_failure(head.fault, 0, {STOCKADE_DECRYPT, name(), "", nullptr, {}});
  }
}

void RekeyTarget::refuse_armor() const {
  throw Failure(Exit::usage, fmt::format("{} is armored, which rekey does not change", name()),
                {"decrypt it and encrypt it anew"});
}

std::optional<std::vector<uint8_t>> RekeyTarget::read_copy() const {
  const Descriptor fd = open_side_file(copy_path_, O_RDONLY);
  if (fd.get() < 0) return std::nullopt;
  std::vector<uint8_t> bytes(most_copy_bytes);
  size_t length = 0;
  while (length < bytes.size()) {
    const ssize_t got = pread(fd.get(), bytes.data() + length, bytes.size() - length, static_cast<off_t>(length));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail("read", "'" + copy_path_ + "'");
    if (got == 0) break;
    length += static_cast<size_t>(got);
  }
  // It may stand in memory alone, after a process was killed: it is on the disk before the file is touched again.
  sync_file(fd.get(), "'" + copy_path_ + "'");
  sync_folder(folder_of(copy_path_), unchanged);
  bytes.resize(length);
  return bytes;
}

void RekeyTarget::restore_header(std::span<const uint8_t> copy) {
  check_unchanged();
  write_front(copy.first(copy.size() - STOCKADE_PREAMBLE_BYTES));
  remove_copy();
}

void RekeyTarget::check_unchanged() const {
  struct stat now {};
  if (fstat(input_.fd.get(), &now) != 0) fail("read", name());
  const auto same_time = [](const timespec& a, const timespec& b) {
    return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
  };
  const struct stat& then = input_.status;
  if (now.st_size != then.st_size || !same_time(now.st_mtim, then.st_mtim) || !same_time(now.st_ctim, then.st_ctim)) {
    throw Failure(Exit::io, fmt::format("{} changed while it was being rekeyed", name()),
                  {"try again when nothing else writes to it"});
  }
  if (!has_name(input_.fd.get(), path_)) {
    throw Failure(Exit::io, fmt::format("{} was replaced by another process", name()), {"try again"});
  }
}

const FileHead& RekeyTarget::read_header() {
  head_ = read_head(input_);
  if (head_.armored) refuse_armor();
  if (head_.status != STOCKADE_OK) {
    throw file_failure(head_.fault, 0, {STOCKADE_DECRYPT, name(), "", nullptr, {}});
  }
  header_ = read_front(head_.length());
  return head_;
}

void RekeyTarget::write_copy() {
  const std::vector<uint8_t> front = read_front(header_.size() + STOCKADE_PREAMBLE_BYTES);
  const std::string shown = "'" + copy_path_ + "'";
  const Descriptor fd = open_side_file(copy_path_, O_WRONLY | O_CREAT | O_EXCL);
  if (fd.get() < 0) {
    throw Failure(Exit::io, fmt::format("{} came into being meanwhile", shown), {"try again"});
  }
  try {
    write_all(fd.get(), front.data(), front.size(), shown);
    sync_file(fd.get(), shown);
    sync_folder(folder_of(copy_path_), unchanged);
  } catch (...) {
    unlink(copy_path_.c_str());
    throw;
  }
}

void RekeyTarget::remove_copy() {
  if (unlink(copy_path_.c_str()) != 0) fail("remove", "'" + copy_path_ + "'");
  sync_folder(folder_of(copy_path_),
              fmt::format("the file has its header, but a power failure may bring back '{}'", copy_path_));
}

void RekeyTarget::replace_header(std::span<const uint8_t> renewed) {
  check_unchanged();
  write_copy();
  try {
    // The copy took its time.
    check_unchanged();
  } catch (...) {
    unlink(copy_path_.c_str());
    throw;
  }
  write_front(renewed);
  remove_copy();
}

void RekeyTarget::copy_with_header(std::span<const uint8_t> renewed) {
  OutputFile output({.path = path_, .force = true, .mode = 0600, .replaces_source = true});
  write_all(output.fd(), renewed.data(), renewed.size(), output.name());
  auto position = static_cast<off_t>(header_.size());
  for (;;) {
    if (interrupt::requested()) throw Failure(Exit::interrupted, interrupt::message);
    const ssize_t copied = copy_piece(input_.fd.get(), &position, output.fd());
    if (copied < 0) throw io_failure(errno, name(), name());
    if (copied == 0) break;
  }
  // As they were; a file system that knows neither keeps what it gave. A stranger's file that becomes this user's must not
  // bring rights with it: the set-id bits never, and those of others only with the owner and the group that gave them.
  mode_t mode = input_.status.st_mode & 0777;
  if (fchown(output.fd(), input_.status.st_uid, input_.status.st_gid) != 0) {
    if (errno != EPERM && errno != EINVAL) fail("write", name());
    if (input_.status.st_uid != geteuid()) mode &= 0700;
    mode &= ~(input_.status.st_gid == getegid() ? 0U : 070U);
  }
  if (fchmod(output.fd(), mode) != 0) fail("write", name());
  // With a change made meanwhile the copy would be neither the old file nor the new one.
  output.make_durable();
  check_unchanged();
  output.commit();
  if (input_.status.st_nlink > 1) {
    ui::warning(fmt::format("{} had {} names (hard links); the others keep the old header", name(),
                            static_cast<uint64_t>(input_.status.st_nlink)));
  }
}

}  // namespace stockade::cmd
