#include "side_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <stdexcept>

#include "exit_status.h"
#include "src/base/planted_fault.h"
#include "ui.h"

namespace stockade::cmd {
namespace {

[[noreturn]] void fail(const char* what, const std::string& path, int error) {
  throw Failure(Exit::io, fmt::format("cannot {} '{}': {}", what, path, ui::system_text(error)));
}

[[noreturn]] void refuse(const std::string& path, const std::string& why) {
  throw Failure(Exit::io, fmt::format("'{}' is not a file of this user alone: {}", path, why),
                {"remove it if it is not wanted, or work in a folder that only you can write to"});
}

// errno of open() for what cannot be a regular file that was checked before.
bool is_other_kind(int error) { return error == ELOOP || error == ENXIO || error == ENODEV || error == EISDIR; }

}  // namespace

std::string beside(const std::string& path, const char* suffix) {
  return fmt::format("{}.{}.{}", folder_of(path), name_in_folder(path), suffix);
}

void require_own(int fd, const std::string& path) {
  if (is_planted(Fault::rekey_trusts_side_file)) return;
  struct stat found {};
  if (fstat(fd, &found) != 0) fail("open", path, errno);
  if (!S_ISREG(found.st_mode)) refuse(path, "it is not a regular file");
  if (found.st_uid != geteuid()) refuse(path, fmt::format("its owner is user {}", found.st_uid));
  if ((found.st_mode & 077) != 0) {
    refuse(path, fmt::format("its mode is {:04o}, which lets others in", static_cast<unsigned>(found.st_mode & 07777)));
  }
  if (found.st_nlink != 1) refuse(path, fmt::format("it has {} names", found.st_nlink));
}

Descriptor open_side_file(const std::string& path, int flags) {
  const bool makes = (flags & O_CREAT) != 0;
  if (makes != ((flags & O_EXCL) != 0) || (flags & O_TRUNC) != 0) throw std::logic_error("flags of a side file");
  if (!makes) {
    // Even opening may have effects on a device. What takes the name between here and open() is seen by require_own().
    struct stat found {};
    if (lstat(path.c_str(), &found) != 0) {
      if (errno == ENOENT) return Descriptor();
      fail("open", path, errno);
    }
    if (is_planted(Fault::rekey_trusts_side_file)) return Descriptor(open(path.c_str(), flags | O_CLOEXEC));
    if (!S_ISREG(found.st_mode)) refuse(path, S_ISLNK(found.st_mode) ? "it is a link" : "it is not a regular file");
    if (found.st_uid != geteuid()) refuse(path, fmt::format("its owner is user {}", found.st_uid));
  }
  Descriptor file(open(path.c_str(), flags | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0600));
  if (file.get() < 0) {
    if (errno == (makes ? EEXIST : ENOENT)) return file;
    if (is_other_kind(errno)) refuse(path, "it is not a regular file");
    fail(makes ? "create" : "open", path, errno);
  }
  try {
    require_own(file.get(), path);
    const int status = fcntl(file.get(), F_GETFL);
    if (status < 0 || fcntl(file.get(), F_SETFL, status & ~O_NONBLOCK) != 0) fail("open", path, errno);
  } catch (...) {
    if (makes) unlink(path.c_str());
    throw;
  }
  return file;
}

}  // namespace stockade::cmd
