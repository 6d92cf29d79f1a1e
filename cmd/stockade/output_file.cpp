#include "output_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/magic.h>
#include <sys/random.h>
#include <sys/statfs.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <climits>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "exit_status.h"
#include "kept_files.h"
#include "ui.h"

namespace stockade::cmd {
namespace {

[[noreturn]] void fail(std::string_view what, std::string_view name, int error) {
  throw Failure(Exit::io, fmt::format("cannot {} {}: {}", what, name, ui::system_text(error)));
}

// N of /dev/fd/N and its other spellings; -1 for any other path. Opening such a path anew would start at offset 0 of a
// file that the shell has opened for appending, so the descriptor itself is used.
int descriptor_number(std::string_view path) {
  if (path == "/dev/stdout") return STDOUT_FILENO;
  if (path == "/dev/stderr") return STDERR_FILENO;
  for (const std::string_view folder : {"/dev/fd/", "/proc/self/fd/"}) {
    if (!path.starts_with(folder)) continue;
    int number = -1;
    const char* end = path.data() + path.size();
    if (std::from_chars(path.data() + folder.size(), end, number).ptr == end) return number;
  }
  return -1;
}

// How a process names a file that it has open and that has no name.
std::string descriptor_path(int fd) { return fmt::format("/proc/self/fd/{}", fd); }

// The umask of this process, which can otherwise only be read by changing it for all threads; nothing before Linux 4.7.
std::optional<mode_t> current_umask() {
  const Descriptor file(open("/proc/self/status", O_RDONLY | O_CLOEXEC));
  char text[512];
  const ssize_t got = file.get() < 0 ? -1 : read(file.get(), text, sizeof text);
  if (got <= 0) return {};
  constexpr std::string_view label = "\nUmask:\t";
  const std::string_view status(text, static_cast<size_t>(got));
  const size_t at = status.find(label);
  if (at == std::string_view::npos) return {};
  unsigned mask = 0;
  const char* begin = status.data() + at + label.size();
  const auto end = std::from_chars(begin, status.data() + status.size(), mask, 8);
  return end.ptr == begin ? std::nullopt : std::optional<mode_t>(mask);
}

std::string random_name() {
  uint64_t bits = 0;
  if (getrandom(&bits, sizeof bits, 0) != sizeof bits) throw Failure(Exit::io, "the system gives no random numbers");
  return fmt::format(".stockade-{:016x}", bits);
}

}  // namespace

Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
  if (this != &other) {
    reset();
    fd_ = other.release();
  }
  return *this;
}

int Descriptor::release() { return std::exchange(fd_, -1); }

int Descriptor::reset() {
  const int fd = release();
  return fd >= 0 && close(fd) != 0 ? errno : 0;
}

OutputFile::OutputFile(const Options& options)
    : name_(options.path.empty() || options.path == "-" ? "standard output" : "'" + options.path + "'"),
      path_(options.path),
      force_(options.force),
      replaces_source_(options.replaces_source) {
  const bool to_stdout = options.path.empty() || options.path == "-";
  const int number = to_stdout ? STDOUT_FILENO : descriptor_number(options.path);
  struct stat found {};
  if (number >= 0) {
    if (options.path.empty() && !options.text && isatty(number)) {
      throw Failure(Exit::usage, "refusing to write binary data to a terminal",
                    {"name a file with -o FILE, or force it with -o -"});
    }
    if (fstat(number, &found) != 0) fail("write to", name_, errno);
    if ((fcntl(number, F_GETFL) & O_ACCMODE) == O_RDONLY) fail("write to", name_, EBADF);
    refuse_same(options, found, name_);
    fd_ = Descriptor(fcntl(number, F_DUPFD_CLOEXEC, 3));
    if (fd_.get() < 0) fail("write to", name_, errno);
    return;
  }
  const Target target = find_target(path_, name_);
  if (target.found) {
    if (S_ISDIR(target.found->st_mode)) {
      throw Failure(Exit::usage, fmt::format("the output {} is a directory", name_));
    }
    refuse_same(options, *target.found, name_);
    if (!S_ISREG(target.found->st_mode)) {
      open_special(options, target.file, *target.found);
      return;
    }
  }
  if (!force_ && is_taken(path_)) {
    throw Failure(Exit::usage, fmt::format("the output {} exists", name_), {"replace it with --force"});
  }
  path_ = target.path;
  open_temporary(options);
}

OutputFile::~OutputFile() {
  if (!temporary_.empty()) unlink(temporary_.c_str());
}

void OutputFile::open_special(const Options& options, const Descriptor& seen, const struct stat& found) {
  if (S_ISBLK(found.st_mode) && !options.force) {
    throw Failure(Exit::usage, fmt::format("the output {} is a block device", name_), {"overwrite it with --force"});
  }
  // The owner of a pipe decides who reads from it.
  if (S_ISFIFO(found.st_mode) && found.st_uid != geteuid() && found.st_uid != 0) {
    throw Failure(Exit::usage, fmt::format("the output {} is a pipe of another user", name_),
                  {"to write there all the same, redirect standard output"});
  }
  // What was seen is opened, and not what has its name by now.
  fd_ = Descriptor(open(descriptor_path(seen.get()).c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY));
  if (fd_.get() < 0 && errno == ENOENT) fd_ = Descriptor(open(path_.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY));
  if (fd_.get() < 0) fail("write to", name_, errno);
  struct stat opened {};
  if (fstat(fd_.get(), &opened) != 0) fail("write to", name_, errno);
  if (opened.st_dev != found.st_dev || opened.st_ino != found.st_ino || opened.st_mode != found.st_mode) {
    throw Failure(Exit::io, fmt::format("the output {} was replaced meanwhile", name_));
  }
}

void OutputFile::open_temporary(const Options& options) {
  if (path_.ends_with('/')) throw Failure(Exit::usage, fmt::format("the output {} names a directory", name_));
  if (!options.named_temporary && open_nameless(options)) return;
  temporary_ = folder_of(path_) + random_name();
  // Announced before it is made, so that no moment is left in which it would survive a signal.
  doomed_.emplace(temporary_.c_str());
  fd_ = Descriptor(open(temporary_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, options.mode));
  if (fd_.get() >= 0) return;
  const int error = errno;
  doomed_.reset();
  temporary_.clear();
  fail("create", name_, error);
}

// False where the file system has no files without names, or there is no way to give them one.
bool OutputFile::open_nameless(const Options& options) {
  const std::string folder = folder_of(path_);
  Descriptor file(
      open(folder.empty() ? "." : folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, static_cast<unsigned>(options.mode)));
  if (file.get() < 0 || access(descriptor_path(file.get()).c_str(), F_OK) != 0) return false;
  // Before Linux 6.0 such a file is made without regard to the umask on file systems that have no access control lists. Where
  // the folder has a list for new files, that decides instead.
  const std::optional<mode_t> mask = current_umask();
  struct stat made {};
  if (!mask || fstat(file.get(), &made) != 0) return false;
  if ((made.st_mode & *mask) != 0 &&
      getxattr(folder.empty() ? "." : folder.c_str(), "system.posix_acl_default", nullptr, 0) < 0 &&
      fchmod(file.get(), made.st_mode & 07777 & ~*mask) != 0) {
    return false;
  }
  fd_ = std::move(file);
  nameless_ = true;
  return true;
}

void OutputFile::link_nameless() {
  const std::string from = descriptor_path(fd_.get());
  const auto link_to = [&](const std::string& to) {
    return linkat(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), AT_SYMLINK_FOLLOW) == 0 ? 0 : errno;
  };
  int error = link_to(path_);
  if (error == 0) return;
  if (error == EEXIST && !force_) {
    throw Failure(Exit::usage, fmt::format("the output {} came into being meanwhile", name_),
                  {"replace it with --force"});
  }
  // A link cannot replace a file, but a name can be given to this one for a moment that does.
  temporary_ = folder_of(path_) + random_name();
  doomed_.emplace(temporary_.c_str());
  if (error == EEXIST) error = link_to(temporary_);
  if (error == EPERM || error == EACCES || error == EOPNOTSUPP || error == ENOSYS || error == EINVAL ||
      error == EXDEV || error == EMLINK || error == ENOENT) {
    // There are files without names here, but no links to them: a module of the kernel may forbid that, or the file system
    // not know it. The work is not lost for it.
    error = copy_nameless();
  }
  if (error == 0) return;
  doomed_.reset();
  temporary_.clear();
  fail("create", name_, error);
}

// 0, or errno where no file can be made.
int OutputFile::copy_nameless() {
  struct stat status {};
  if (fstat(fd_.get(), &status) != 0) return errno;
  Descriptor copy(open(temporary_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (copy.get() < 0) return errno;
  nameless_ = false;
  copy_spool(fd_.get(), copy.get(), name_);
  if (fchmod(copy.get(), status.st_mode & 07777) != 0) fail("write", name_, errno);
  sync_file(copy.get(), name_);
  fd_ = std::move(copy);
  return 0;
}

void OutputFile::commit() {
  make_durable();
  const bool named = private_until_commit();
  give_name();
  if (named) sync_folder(folder_of(path_));
}

void OutputFile::make_durable() {
  if (private_until_commit()) sync_file(fd_.get(), name_);
}

void OutputFile::give_name() {
  if (nameless_) {
    // What a close has to report, it reports while there is no name yet.
    Descriptor other(fcntl(fd_.get(), F_DUPFD_CLOEXEC, 3));
    if (const int error = other.reset()) fail("write", name_, error);
    link_nameless();
    if (!replaces_source_) keep_file(fd_.get());
    nameless_ = false;
    if (temporary_.empty()) {
      fd_.reset();
      return;
    }
  }
  if (!replaces_source_) keep_file(fd_.get());
  if (const int error = fd_.reset()) fail(temporary_.empty() ? "write to" : "write", name_, error);
  if (temporary_.empty()) return;
  rename_file(temporary_, path_, force_, name_);
  doomed_.reset();
  temporary_.clear();
}

void write_back(std::span<OutputFile* const> files) {
  std::set<dev_t> done;
  for (const OutputFile* file : files) {
    struct stat status {};
    if (fstat(file->fd(), &status) != 0 || !file->private_until_commit()) continue;
    // Its outcome is not known for each file, and before Linux 5.8 not at all.
    if (done.insert(status.st_dev).second) syncfs(file->fd());
  }
}

std::string folder_of(std::string_view path) { return std::string(path.substr(0, path.rfind('/') + 1)); }

std::string_view name_in_folder(std::string_view path) { return path.substr(path.rfind('/') + 1); }

bool same_file(const struct stat& a, const struct stat& b) {
  if (S_ISBLK(a.st_mode) && S_ISBLK(b.st_mode)) return a.st_rdev == b.st_rdev;
  return S_ISREG(a.st_mode) && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

void refuse_same(const OutputFile::Options& options, const struct stat& found, const std::string& name) {
  refuse_kept(found, name);
  if (options.input != nullptr && same_file(*options.input, found)) {
    throw Failure(Exit::usage, fmt::format("input and output are the same file, {}", name),
                  {"write to another name, then rename it"});
  }
}

namespace {

// Where a link leads, given the open link itself; nothing where only the kernel knows, as with those of /proc.
std::optional<std::string> read_link(int link, const std::string& path, const struct stat& found,
                                     const std::string& name) {
  const std::string folder = folder_of(path);
  struct stat where {};
  if (stat(folder.empty() ? "." : folder.c_str(), &where) != 0) fail("write to", name, errno);
  if (found.st_uid != geteuid() && found.st_uid != 0 && found.st_uid != where.st_uid) {
    throw Failure(Exit::usage, fmt::format("the output {} is a link of another user", name),
                  {"remove it, or write to another name"});
  }
  struct statfs system {};
  if (fstatfs(link, &system) == 0 && system.f_type == PROC_SUPER_MAGIC) return {};
  char text[PATH_MAX];
  const ssize_t length = readlinkat(link, "", text, sizeof text);
  if (length <= 0 || length == ssize_t{sizeof text}) fail("write to", name, length < 0 ? errno : ENAMETOOLONG);
  return (text[0] == '/' ? "" : folder) + std::string(text, static_cast<size_t>(length));
}

}  // namespace

Target find_target(const std::string& path, const std::string& name) {
  constexpr int most_links = 40;
  std::string at = path;
  Descriptor file;
  struct stat found {};
  for (int links = 0;; ++links) {
    file = Descriptor(open(at.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
    if (file.get() < 0 && errno == ENOENT) return {path, Descriptor(), {}};
    if (file.get() < 0 || fstat(file.get(), &found) != 0) fail("write to", name, errno);
    if (!S_ISLNK(found.st_mode)) break;
    if (links == most_links) fail("write to", name, ELOOP);
    if (const auto next = read_link(file.get(), at, found, name)) {
      at = *next;
      continue;
    }
    file = Descriptor(open(at.c_str(), O_PATH | O_CLOEXEC));
    if (file.get() < 0 || fstat(file.get(), &found) != 0) fail("write to", name, errno);
    break;
  }
  if (at == path) return {path, std::move(file), found};
  // The file's own name: no link on the way to it may lead elsewhere later.
  char real[PATH_MAX];
  const ssize_t length = readlink(descriptor_path(file.get()).c_str(), real, sizeof real);
  std::string followed(real, length <= 0 || length == ssize_t{sizeof real} ? 0 : static_cast<size_t>(length));
  if (!has_name(file.get(), followed)) followed = at;
  return {followed, std::move(file), found};
}

bool is_taken(const std::string& path) {
  struct stat found {};
  return lstat(path.c_str(), &found) == 0;
}

bool has_name(int fd, const std::string& path) {
  struct stat open_file {
  }, named{};
  return fstat(fd, &open_file) == 0 && lstat(path.c_str(), &named) == 0 && same_file(open_file, named);
}

void require_name(int fd, const std::string& path) {
  if (has_name(fd, path)) return;
  throw Failure(Exit::io, fmt::format("'{}' was removed or replaced while it was written", path),
                {"two commands must not write one output at the same time"});
}

void refuse_kept(const struct stat& found, const std::string& name) {
  if (!is_kept(found)) return;
  throw Failure(Exit::usage, fmt::format("the output {} is a file that this command needs or has made", name),
                {"write to another name"});
}

void refuse_used(const OutputFile::Options& options, const std::string& own) {
  struct stat found {};
  if (stat(own.c_str(), &found) != 0) return;
  refuse_kept(found, "'" + own + "'");
  if (options.input == nullptr || !same_file(*options.input, found)) return;
  throw Failure(Exit::usage, fmt::format("the input is '{}', in which the output would grow", own),
                {"rename the input, or write to another name"});
}

void rename_file(const std::string& from, const std::string& to, bool replace, const std::string& name) {
  if (replace) {
    struct stat replaced {};
    if (stat(to.c_str(), &replaced) == 0) refuse_kept(replaced, name);
    if (rename(from.c_str(), to.c_str()) != 0) fail("create", name, errno);
    return;
  }
  // A file that came into being meanwhile must win, so a plain rename will not do.
  int outcome = renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE);
  if (outcome != 0 && (errno == EINVAL || errno == ENOSYS)) {
    // This file system does not know the flag; a hard link refuses an existing name as well.
    outcome = link(from.c_str(), to.c_str());
    if (outcome == 0) unlink(from.c_str());
  }
  if (outcome == 0) return;
  if (errno == EEXIST) {
    throw Failure(Exit::usage, fmt::format("the output {} came into being meanwhile", name),
                  {"replace it with --force"});
  }
  fail("create", name, errno);
}

void sync_folder(const std::string& folder, std::string_view consequence) {
  const auto cannot = [](int error) {
    return error == EINVAL || error == ENOSYS || error == EOPNOTSUPP || error == EROFS || error == EACCES ||
           error == EPERM;
  };
  const Descriptor opened(open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if ((opened.get() >= 0 && fsync(opened.get()) == 0) || cannot(errno)) return;
  const std::string reason = ui::system_text(errno);
  throw Failure(Exit::io, fmt::format("cannot write the folder '{}': {}", folder.empty() ? "." : folder, reason),
                {std::string(consequence)});
}

void sync_file(int fd, const std::string& name) {
  // EINVAL: a file system that has nothing to synchronise.
  if (fsync(fd) != 0 && errno != EINVAL) fail("write", name, errno);
}

void write_all(int fd, const void* bytes, size_t length, const std::string& name) {
  for (const char* next = static_cast<const char*>(bytes); length > 0;) {
    const ssize_t written = write(fd, next, length);
    if (written >= 0) {
      next += written;
      length -= static_cast<size_t>(written);
    } else if (errno != EINTR || interrupt::requested()) {
      fail("write to", name, errno);
    }
  }
}

Descriptor make_spool() {
  const char* variable = std::getenv("TMPDIR");
  const std::string folder = variable != nullptr && *variable != '\0' ? variable : "/tmp";
  Descriptor spool(open(folder.c_str(), O_TMPFILE | O_RDWR | O_EXCL | O_CLOEXEC, 0600));
  if (spool.get() >= 0) return spool;
  std::string name = folder + "/stockade-XXXXXX";
  spool = Descriptor(mkostemp(name.data(), O_CLOEXEC));
  if (spool.get() < 0) fail("make a temporary file in", "'" + folder + "'", errno);
  unlink(name.c_str());
  return spool;
}

void copy_spool(int from, int to, const std::string& to_name) {
  // Plaintext passes through, so the buffer is wiped however the function is left.
  struct Buffer {
    ~Buffer() { explicit_bzero(bytes.data(), bytes.size()); }
    std::vector<char> bytes = std::vector<char>(1 << 20);
  } buffer;
  off_t position = 0;
  for (;;) {
    const ssize_t got = pread(from, buffer.bytes.data(), buffer.bytes.size(), position);
    if (got < 0) fail("read", "the temporary file", errno);
    if (got == 0) break;
    write_all(to, buffer.bytes.data(), static_cast<size_t>(got), to_name);
    position += got;
  }
}

}  // namespace stockade::cmd
