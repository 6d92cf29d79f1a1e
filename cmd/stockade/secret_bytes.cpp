#include "secret_bytes.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <mutex>
#include <set>
#include <utility>

#include "exit_status.h"
#include "interrupt.h"
#include "kept_files.h"
#include "output_file.h"
#include "ui.h"

namespace stockade::cmd {
namespace {

[[noreturn]] void fail(const std::string& what) {
  throw Failure(Exit::io, fmt::format("cannot read {}: {}", what, ui::system_text(errno)));
}

// What stands below these is a descriptor of this process or a device, whoever may open it.
bool names_descriptor(std::string_view path) { return path.starts_with("/dev/") || path.starts_with("/proc/"); }

bool is_first_warning_of(const struct stat& file) {
  static std::mutex mutex;
  static std::set<std::pair<dev_t, ino_t>> warned;
  const std::lock_guard lock(mutex);
  return warned.emplace(file.st_dev, file.st_ino).second;
}

void warn_if_open_to_others(int fd, const std::string& what) {
  struct stat file {};
  if (fstat(fd, &file) != 0 || !S_ISREG(file.st_mode) || (file.st_mode & 077) == 0 || !is_first_warning_of(file))
    return;
  const char* const may = (file.st_mode & 022) == 0   ? "read"
                          : (file.st_mode & 044) == 0 ? "written"
                                                      : "read and written";
  ui::warning(fmt::format("{} can be {} by others than its owner (mode {:04o})", what, may, file.st_mode & 07777));
}

}  // namespace

SecretBytes::SecretBytes(size_t capacity) : capacity_(capacity), bytes_(new uint8_t[capacity]()) {}

void SecretBytes::clear() {
  explicit_bzero(bytes_.get(), capacity_);
  size_ = 0;
}

bool SecretBytes::equals(const SecretBytes& other) const {
  uint32_t difference = size_ == other.size_ ? 0 : 1;
  for (size_t i = 0; i < std::min(size_, other.size_); ++i) {
    difference |= static_cast<uint32_t>(bytes_[i] ^ other.bytes_[i]);
    // Without the barrier the compiler may leave the loop at the first difference.
    __asm__ __volatile__("" : "+r"(difference));
  }
  return difference == 0;
}

void read_secret(int fd, const std::string& what, SecretBytes& content) {
  size_t size = 0;
  while (size < content.capacity()) {
    const ssize_t got = read(fd, content.data() + size, content.capacity() - size);
    if (got == 0) break;
    if (got > 0) size += static_cast<size_t>(got);
    if (got < 0 && (errno != EINTR || interrupt::requested())) fail(what);
  }
  content.resize(size);
}

void read_secret_file(const std::string& path, const std::string& what, SecretBytes& content, bool is_public) {
  if (path == "-") return read_secret(STDIN_FILENO, what, content);
  const Descriptor fd(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (fd.get() < 0) fail(what);
  if (!is_public && !names_descriptor(path)) warn_if_open_to_others(fd.get(), what);
  keep_file(fd.get());
  read_secret(fd.get(), what, content);
}

std::string_view without_line_end(std::string_view text) {
  if (!text.ends_with('\n')) return text;
  text.remove_suffix(1);
  if (text.ends_with('\r')) text.remove_suffix(1);
  return text;
}

}  // namespace stockade::cmd
