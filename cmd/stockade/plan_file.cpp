#include "plan_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <numeric>

#include "file_failure.h"
#include "file_job.h"
#include "input_file.h"
#include "kept_files.h"
#include "side_file.h"
#include "ui.h"

namespace stockade::cmd {
namespace {

constexpr uint32_t default_max_work_factor = 20;

[[noreturn]] void fail(const char* what, const std::string& name) {
  throw Failure(Exit::io, fmt::format("cannot {} {}: {}", what, name, ui::system_text(errno)));
}

}  // namespace

void PlanOptions::declare(Command& command, const char* group) {
  command.option(group, "--plan", "FILE", plan,
                 "the plan, which 'stockade plan' makes and every part reads and writes");
  command.option(group, "--plan-key", "KEY", key,
                 "who can use the plan: the key in this file instead of those that open the Stockade file");
}

const std::string& PlanOptions::path() const {
  if (!plan) throw Failure(Exit::usage, "the plan is missing", {"name it with --plan FILE"});
  if (*plan == "-") throw Failure(Exit::usage, "a plan is a file, and not standard input or output");
  return *plan;
}

Plan::Plan(const PlanOptions& options, const KeyOptions& keys) : path_(options.path()), name_("'" + path_ + "'") {
  fd_ = open_side_file(path_, O_RDWR);
  if (fd_.get() < 0) {
    errno = ENOENT;
    fail("open", name_);
  }
  keep_file(fd_.get());
  Input input;
  input.name = name_;
  input.fd = Descriptor(fcntl(fd_.get(), F_DUPFD_CLOEXEC, 3));
  if (input.fd.get() < 0 || fstat(fd_.get(), &input.status) != 0) fail("read", name_);
  input.length = static_cast<uint64_t>(input.status.st_size);
  head_ = read_head(input);
  if (head_.status != STOCKADE_OK || head_.armored) {
    throw failure({STOCKADE_ERROR_JOURNAL, UINT64_MAX, UINT64_MAX, 0, 0}, 0);
  }
  const uint32_t cost = keys.work_factor
                            ? std::max(default_max_work_factor, parse_work_factor("--work-factor", keys.work_factor))
                            : keys.read_max_work_factor();
  if (options.key) {
    Recipients ring;
    ring.add_key_file(*options.key);
    open_with(ring.get(), cost);
    return;
  }
  Identities identities(keys);
  key_ids_ = identities.key_ids();
  open_with(identities.keyring_for(head_, name_), cost);
}

void Plan::open_with(const stockade_keyring* keyring, uint32_t max_work_factor) {
  stockade_shared_job* opened = nullptr;
  stockade_fault fault{};
  errno = 0;
  if (stockade_shared_open_journal(&opened, fd_.get(), keyring, max_work_factor, &fault) != STOCKADE_OK) {
    throw failure(fault, errno);
  }
  job_.reset(opened);
  stockade_shared_info_get(opened, &info_);
}

Failure Plan::failure(const stockade_fault& fault, int error) const {
  switch (fault.status) {
    case STOCKADE_ERROR_TRUNCATED:
    case STOCKADE_ERROR_JOURNAL:
      if (is_old_journal(fault)) {
        return {Exit::io,
                fmt::format("{} was made by version 0.4 or older, whose work is not taken up", name_),
                {"'stockade plan --force' begins anew"}};
      }
      return {Exit::io, fmt::format("{} is damaged, or no plan", name_), {"'stockade plan' makes a new one"}};
    default:
      return file_failure(
          fault, error,
          {.direction = STOCKADE_DECRYPT, .input = name_, .output = "", .head = &head_, .key_ids = key_ids_});
  }
}

std::vector<uint64_t> Plan::missing() const {
  std::vector<uint64_t> slices(info_.slices);
  uint64_t count = 0;
  errno = 0;
  const stockade_status status = stockade_shared_missing(job_.get(), fd_.get(), slices.data(), slices.size(), &count);
  if (status != STOCKADE_OK) throw failure({status, UINT64_MAX, UINT64_MAX, 0, 0}, errno);
  slices.resize(count);
  return slices;
}

std::vector<uint64_t> Plan::all() const {
  std::vector<uint64_t> slices(info_.slices);
  std::iota(slices.begin(), slices.end(), 0);
  return slices;
}

uint64_t Plan::plain_slice_bytes() const {
  const bool sealed = direction() == STOCKADE_DECRYPT;
  return sealed ? info_.slice_bytes / STOCKADE_SEALED_CHUNK_BYTES * STOCKADE_CHUNK_BYTES : info_.slice_bytes;
}

void Plan::remove() const {
  if (has_name(fd_.get(), path_)) unlink(path_.c_str());
  sync_folder(folder_of(path_), fmt::format("the work is done, but a power failure may bring back {}", name_));
}

PartedOutput::PartedOutput(const OutputFile::Options& options)
    : name_("'" + options.path + "'"), path_(options.path), force_(options.force) {
  if (path_.empty() || path_ == "-") {
    throw Failure(Exit::usage, "parts need an output with a name", {"name it with -o FILE"});
  }
  const Target target = find_target(path_, name_);
  if (path_.ends_with('/')) throw Failure(Exit::usage, fmt::format("the output {} names a directory", name_));
  if (target.found && !S_ISREG(target.found->st_mode)) {
    throw Failure(Exit::usage, fmt::format("the output {} is no regular file, which parts need", name_));
  }
  if (target.found) refuse_same(options, *target.found, name_);
  path_ = target.path;
  parts_path_ = beside(path_, "stockade-parts");
  // What is to be thrown away stands until there is something new.
  made_path_ = force_ ? beside(path_, "stockade-new-parts") : parts_path_;
  parts_name_ = "'" + parts_path_ + "'";
  for (const std::string& own : {parts_path_, made_path_}) refuse_used(options, own);
}

PartedOutput::~PartedOutput() {
  if (made_ && has_name(fd_.get(), made_path_)) unlink(made_path_.c_str());
}

void PartedOutput::check_target() const {
  struct stat found {};
  if (stat(path_.c_str(), &found) == 0) refuse_kept(found, name_);
  if (!force_ && is_taken(path_)) {
    throw Failure(Exit::usage, fmt::format("the output {} exists", name_), {"replace it with --force"});
  }
}

void PartedOutput::make() {
  check_target();
  if (force_) unlink(made_path_.c_str());
  fd_ = open_side_file(made_path_, O_RDWR | O_CREAT | O_EXCL);
  if (fd_.get() >= 0) {
    // Only now is the name this process's own, to be removed by a signal: another plan's parts may have it.
    doomed_.emplace(made_path_.c_str());
    made_ = true;
    return;
  }
  throw Failure(Exit::usage, fmt::format("there is a plan for {} already: {} exists", name_, parts_name_),
                {"join its parts, or throw them away with --force"});
}

void PartedOutput::keep() {
  require_name(fd_.get(), made_path_);
  // Those who still write to older parts write to nothing from now on.
  if (force_) rename_file(made_path_, parts_path_, true, parts_name_);
  sync_folder(folder_of(parts_path_));
  made_ = false;
  doomed_.reset();
}

void PartedOutput::open() {
  fd_ = open_side_file(parts_path_, O_RDWR);
  if (fd_.get() < 0) refuse_missing();
}

void PartedOutput::refuse_missing() const {
  std::vector<std::string> hints = {fmt::format("'stockade plan' makes it, for the same -o {}", path_)};
  if (access(path_.c_str(), F_OK) == 0) hints = {fmt::format("{} is there: it may have been joined already", name_)};
  throw Failure(Exit::io, fmt::format("there are no parts of {}: {} is missing", name_, parts_name_), hints);
}

// Parts share a lock on the first byte; 'join' has it alone.
bool PartedOutput::lock(short type, int command) const {
  struct flock first_byte {};
  first_byte.l_type = type;
  first_byte.l_whence = SEEK_SET;
  first_byte.l_len = 1;
  return fcntl(fd_.get(), command, &first_byte) == 0;
}

void PartedOutput::open_shared() {
  open();
  // Where locks do not work the library does without, too.
  if (!lock(F_RDLCK, F_OFD_SETLKW) && interrupt::requested()) throw Failure(Exit::interrupted, interrupt::message);
  // It may have been joined between our opening and our lock: then it is the output, and no longer ours to write to.
  if (!has_name(fd_.get(), parts_path_)) refuse_missing();
}

void PartedOutput::open_alone() {
  open();
  check_target();
  if (!lock(F_WRLCK, F_OFD_SETLK) && (errno == EAGAIN || errno == EACCES)) {
    throw Failure(Exit::io, fmt::format("another process is at work on {}", name_));
  }
}

void PartedOutput::commit(mode_t mode) {
  sync_file(fd_.get(), name_);
  require_name(fd_.get(), parts_path_);
  rename_file(parts_path_, path_, force_, name_);
  require_name(fd_.get(), path_);
  keep_file(fd_.get());
  // Until now it was for its owner alone.
  if (fchmod(fd_.get(), mode) != 0) fail("write", name_);
  sync_folder(folder_of(path_));
}

}  // namespace stockade::cmd
