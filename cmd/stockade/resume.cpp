#include "resume.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>

#include "exit_status.h"
#include "kept_files.h"
#include "ui.h"

namespace stockade::cmd {
namespace {

std::string partial_of(const std::string& path) { return beside(path, "stockade-partial"); }
std::string journal_of(const std::string& path) { return beside(path, "stockade-journal"); }

[[noreturn]] void fail(const char* what, const std::string& path) {
  throw Failure(Exit::io, fmt::format("cannot {} '{}': {}", what, path, ui::system_text(errno)));
}

}  // namespace

bool ResumableOutput::has_journal(const std::string& path) { return access(journal_of(path).c_str(), F_OK) == 0; }

std::array<std::string, 2> ResumableOutput::side_files(const std::string& path) {
  return {partial_of(path), journal_of(path)};
}

ResumableOutput::ResumableOutput(const OutputFile::Options& options)
    : name_("'" + options.path + "'"), path_(options.path), force_(options.force), mode_(options.mode) {
  check_target(options);
  partial_path_ = partial_of(path_);
  journal_path_ = journal_of(path_);
  for (const std::string& own : {partial_path_, journal_path_}) refuse_used(options, own);
  // Another process may finish between our look at its files and our lock.
  while (!open_both()) continue;
}

void ResumableOutput::check_target(const OutputFile::Options& options) {
  const Target target = find_target(path_, name_);
  exists_ = is_taken(path_);
  if (target.found && !S_ISREG(target.found->st_mode)) {
    throw Failure(Exit::usage, fmt::format("the output {} is no regular file, which --resume needs", name_));
  }
  if (target.found) refuse_same(options, *target.found, name_);
  if (path_.ends_with('/')) throw Failure(Exit::usage, fmt::format("the output {} names a directory", name_));
  path_ = target.path;
}

ResumableOutput::~ResumableOutput() {
  if (!kept_ && made_ && partial_.get() >= 0) remove_both();
}

void ResumableOutput::remove_both() {
  // In the order that leaves no journal without its partial for long.
  if (journal_.get() >= 0 && has_name(journal_.get(), journal_path_)) unlink(journal_path_.c_str());
  if (has_name(partial_.get(), partial_path_)) unlink(partial_path_.c_str());
}

// Opens and locks; false where the name meanwhile went to another file, or to none.
bool ResumableOutput::try_to_open(Descriptor& file, const std::string& path, int flags) {
  file = open_side_file(path, O_RDWR | flags);
  if (file.get() < 0) return false;
  if (flock(file.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) fail("lock", path);
    throw Failure(Exit::io, fmt::format("another process is at work on {}", name_));
  }
  return has_name(file.get(), path);
}

bool ResumableOutput::open_both() {
  const bool had_journal = try_to_open(journal_, journal_path_, 0);
  if (!had_journal && journal_.get() >= 0) return false;
  const bool had_partial = try_to_open(partial_, partial_path_, 0);
  if (!had_partial && partial_.get() >= 0) return false;
  if (exists_ && !force_) {
    throw Failure(Exit::usage, fmt::format("the output {} exists", name_), {"replace it with --force"});
  }
  was_begun_ = had_journal && had_partial;
  made_ = !was_begun_;
  if (had_journal && !had_partial && ftruncate(journal_.get(), 0) != 0) fail("write", journal_path_);
  if (!had_partial && !try_to_open(partial_, partial_path_, O_CREAT | O_EXCL)) return false;
  if (!had_journal && !try_to_open(journal_, journal_path_, O_CREAT | O_EXCL)) return false;
  // What a crash leaves of the work can only be taken up by its names.
  try {
    sync_folder(folder_of(path_), "an interrupted run could not be taken up");
  } catch (const Failure&) {
    if (made_) remove_both();
    throw;
  }
  return true;
}

void ResumableOutput::start_over() {
  if (ftruncate(journal_.get(), 0) != 0) fail("write", journal_path_);
  made_ = true;
}

void ResumableOutput::commit() {
  // Whatever fails up to the removal can be done again.
  kept_ = true;
  sync_file(partial_.get(), name_);
  if (!force_ && is_taken(path_)) {
    throw Failure(Exit::usage, fmt::format("the output {} exists", name_), {"replace it with --force"});
  }
  require_name(partial_.get(), partial_path_);
  require_name(journal_.get(), journal_path_);
  unlink(journal_path_.c_str());
  rename_file(partial_path_, path_, force_, name_);
  require_name(partial_.get(), path_);
  keep_file(partial_.get());
  // Until now it was for its owner alone.
  if (fchmod(partial_.get(), mode_) != 0) fail("write", path_);
  sync_folder(folder_of(path_));
}

}  // namespace stockade::cmd
