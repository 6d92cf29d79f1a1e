#include "shared_output.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "cmd/stockade/exit_status.h"
#include "cmd/stockade/ui.h"
#include "stockade/stockade.h"

namespace stockade::cmd {
namespace {

constexpr char folder_hint[] = "the output must be in a folder that all ranks see by the same path";

Descriptor open_again(const char* path) {
  Descriptor file(open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW));
  if (file.get() >= 0) return file;
  throw Failure(Exit::io, fmt::format("cannot open '{}', which rank 0 has made: {}", path, ui::system_text(errno)),
                {folder_hint});
}

void put_path(const std::string& path, char (&out)[PATH_MAX]) {
  if (path.size() >= sizeof out) throw Failure(Exit::io, fmt::format("the path '{}' is too long", path));
  path.copy(out, path.size());
}

}  // namespace

void SharedOutput::make(const OutputFile::Options& options, bool resumable) {
  if (options.path.empty() || options.path == "-") {
    throw Failure(Exit::usage, "many ranks cannot write to standard output", {"name a file with -o FILE"});
  }
  if (resumable) {
    resumable_ = std::make_unique<ResumableOutput>(options);
    return;
  }
  OutputFile::Options named = options;
  named.named_temporary = true;
  plain_ = std::make_unique<OutputFile>(named);
  if (!plain_->private_until_commit()) {
    throw Failure(Exit::usage, fmt::format("the output {} is no regular file", plain_->name()),
                  {"many ranks write to it in no order; name a file with -o FILE"});
  }
}

int SharedOutput::fd() const {
  if (plain_) return plain_->fd();
  return resumable_ ? resumable_->fd() : opened_.get();
}

int SharedOutput::journal_fd() const { return resumable_ ? resumable_->journal_fd() : journal_.get(); }

OutputAddress SharedOutput::address(uint64_t length, bool apart) const {
  OutputAddress address{};
  put_path(resumable_ ? resumable_->partial_path() : plain_->temporary(), address.path);
  if (resumable_) put_path(resumable_->journal_path(), address.journal);
  address.marked = std::min<uint64_t>(length, sizeof address.mark);
  if (stockade_random(address.mark, sizeof address.mark) != STOCKADE_OK) {
    throw Failure(Exit::io, "the system gives no random numbers");
  }
  if (pwrite(fd(), address.mark, address.marked, 0) != static_cast<ssize_t>(address.marked)) {
    throw Failure(Exit::io, fmt::format("cannot write {}: {}", name_, ui::system_text(errno)));
  }
  // Other machines see what the file server has.
  if (apart) sync();
  return address;
}

void SharedOutput::open(const OutputAddress& address) {
  opened_ = open_again(address.path);
  if (address.journal[0] != '\0') journal_ = open_again(address.journal);
  uint8_t found[sizeof address.mark];
  const ssize_t got = pread(opened_.get(), found, address.marked, 0);
  if (got == static_cast<ssize_t>(address.marked) && std::memcmp(found, address.mark, address.marked) == 0) return;
  throw Failure(Exit::io, fmt::format("'{}' is not the file that rank 0 has made under this name", address.path),
                {folder_hint});
}

void SharedOutput::commit() {
  if (resumable_) {
    resumable_->commit();
  } else {
    plain_->commit();
  }
}

}  // namespace stockade::cmd
