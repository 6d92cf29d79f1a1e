#include "format/shared_run.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "engine/files.h"
#include "format/at_offset.h"

namespace stockade::format {
namespace {

// Whether anything but a hole may be in a part of a file. Its ends are left out: they share a page with their
// neighbours.
bool may_hold_data(int fd, uint64_t begin, uint64_t length) {
  constexpr uint64_t page = uint64_t{64} << 10;  // on any machine
  if (length <= 2 * page) return true;
  const off_t data = ::lseek(fd, static_cast<off_t>(begin + page), SEEK_DATA);
  if (data < 0) return errno != ENXIO;
  return static_cast<uint64_t>(data) < begin + length - page;
}

// Tells a network file system that others write to the file as well, until it is closed: with a lock that is not about
// the whole of it, Linux's NFS client sends the bytes that were written, and not the pages that hold them, in which it
// would undo what others have written meanwhile. Whoever wants the file alone finds it locked, or is waited for. Where
// there are no locks it is no loss.
void share(int fd) {
  struct flock first_byte {};
  first_byte.l_type = F_RDLCK;
  first_byte.l_whence = SEEK_SET;
  first_byte.l_len = 1;
  ::fcntl(fd, F_OFD_SETLKW, &first_byte);
}

}  // namespace

Status check_files(int in_fd, int out_fd, int journal_fd) {
  struct File {
    int fd;
    bool written;
    struct stat stat;
  } files[] = {{in_fd, false, {}}, {out_fd, true, {}}, {journal_fd > 0 ? journal_fd : -1, true, {}}};
  for (File& file : files) {
    if (file.fd < 0) continue;
    if (::fstat(file.fd, &file.stat) != 0) return STOCKADE_ERROR_IO;
    if (!S_ISREG(file.stat.st_mode)) return STOCKADE_ERROR_MODE;
    const int flags = ::fcntl(file.fd, F_GETFL);
    if (flags < 0) return STOCKADE_ERROR_IO;
    if (file.written && ((flags & O_ACCMODE) != O_RDWR || (flags & O_APPEND) != 0)) return STOCKADE_ERROR_MODE;
    for (const File* other = files; other != &file; ++other) {
      if (other->fd >= 0 && engine::same_file(other->stat, file.stat)) return STOCKADE_ERROR_OVERLAP;
    }
  }
  return STOCKADE_OK;
}

Status SharedRun::check_input() const {
  struct stat now;
  if (::fstat(work_.in_fd, &now) != 0) return STOCKADE_ERROR_IO;
  return is_same(terms_.input, identify(now)) ? STOCKADE_OK : STOCKADE_ERROR_INPUT_CHANGED;
}

Status SharedRun::prepare() {
  if (!terms_.has_input) return STOCKADE_ERROR_MODE;
  const int journal_fd = work_.journal_fd > 0 ? work_.journal_fd : -1;
  if (verifies() && journal_fd >= 0) return STOCKADE_ERROR_MODE;
  Status status = work_.in_fd >= 0 && (verifies() || work_.out_fd >= 0) ? STOCKADE_OK : STOCKADE_ERROR_MODE;
  if (status == STOCKADE_OK) status = check_files(work_.in_fd, verifies() ? -1 : work_.out_fd, journal_fd);
  if (status == STOCKADE_OK) status = check_input();
  if (status == STOCKADE_OK && terms_.seals()) {
    uint8_t preamble[preamble_bytes];
    uint64_t got;
    status = read_at(work_.out_fd, terms_.header_length, preamble, sizeof preamble, &got);
    const bool same = got == sizeof preamble && std::memcmp(preamble, terms_.preamble, sizeof preamble) == 0;
    if (status == STOCKADE_OK && !same) status = STOCKADE_ERROR_JOURNAL;
  }
  if (status == STOCKADE_OK && journal_fd >= 0) status = records_.emplace().open(journal_fd, terms_);
  return status;
}

Status SharedRun::run() {
  Status status = prepare();
  if (status != STOCKADE_OK) return status;
  if (!verifies()) share(work_.out_fd);
  if (records_) share(work_.journal_fd);
  next_settling_ = Clock::now() + std::chrono::milliseconds(pace_.checkpoint_interval);
  status = do_slices();
  const int error = errno;
  // What is done is not lost, whatever comes after it.
  const Status settled = settle();
  if (status == STOCKADE_OK) return settled != STOCKADE_OK ? settled : work_.fault.status;
  errno = error;
  return status;
}

Status SharedRun::do_slices() {
  for (;;) {
    const uint64_t slice = work_.next(work_.next_context);
    if (slice == STOCKADE_NO_SLICE) return STOCKADE_OK;
    if (slice >= terms_.slices()) return STOCKADE_ERROR_ARGUMENT;
    Status status = do_slice(slice);
    if (status == STOCKADE_OK) status = check_input();
    if (status == STOCKADE_OK) status = note(slice);
    if (status != STOCKADE_OK) return status;
  }
}

Status SharedRun::do_slice(uint64_t slice) {
  switch (terms_.kind) {
    case STOCKADE_SHARED_ENCRYPT:
      return seal(slice);
    case STOCKADE_SHARED_DECRYPT:
      return open(slice);
    case STOCKADE_SHARED_VERIFY:
      return verify(slice);
  }
  return STOCKADE_ERROR_ARGUMENT;
}

Status SharedRun::seal(uint64_t slice) {
  SealWork work(key_);
  const uint64_t chunks_begin = terms_.beginning_length();
  const uint64_t begin = chunks_begin + slice * terms_.slice_chunks * sealed_chunk_bytes;
  const uint64_t length = sealed_length(terms_.bytes_in(slice), slice + 1 == terms_.slices());
  // Of an earlier attempt at it, which may have sealed other plaintext.
  if (may_hold_data(work_.out_fd, begin, length)) work.expect(work_.out_fd, chunks_begin, begin + length);
  const Status status = transfer(slice, work);
  if (status == STOCKADE_OK) work_.out_length += length;
  return status;
}

Status SharedRun::open(uint64_t slice) {
  OpenWork work(key_, terms_.header_length);
  const Status status = transfer(slice, work);
  if (work.fault().status == status) add_fault(work.fault());
  if (status != STOCKADE_OK) return status;
  const uint64_t most = terms_.slice_chunks * chunk_bytes;
  work_.out_length += slice + 1 < terms_.slices() ? most : terms_.plain_length() - slice * most;
  return STOCKADE_OK;
}

Status SharedRun::verify(uint64_t slice) {
  CheckWork work(key_, terms_.header_length);
  const Status status = transfer(slice, work);
  if (status != STOCKADE_OK) {
    if (work.fault().status == status) add_fault(work.fault());
    return status;
  }
  add_fault(work.fault());
  work_.out_length += work.intact_bytes();
  if (work_.damage == nullptr) return STOCKADE_OK;
  for (const CheckWork::Damage& damage : work.damages()) {
    if (work_.damage(work_.damage_context, damage.chunk, damage.count, damage.offset, damage.length) != 0) {
      return STOCKADE_ERROR_CANCELLED;
    }
  }
  return STOCKADE_OK;
}

void SharedRun::add_fault(const stockade_fault& fault) {
  if (fault.status == STOCKADE_OK) return;
  if (work_.fault.status == STOCKADE_OK || fault.offset < work_.fault.offset) work_.fault = fault;
}

int SharedRun::report(uint64_t done) {
  if (!counted_) counted_ = done;
  return work_.progress(work_.progress_context, work_.in_length + done - *counted_, work_.total);
}

Status SharedRun::transfer(uint64_t slice, engine::FileWork& work) {
  const uint64_t runs = terms_.slice_chunks / pace_.run_chunks;
  const uint64_t plain_run = pace_.run_chunks * chunk_bytes, sealed_run = pace_.run_chunks * sealed_chunk_bytes;
  engine::FileJob made{};
  made.in_fd = work_.in_fd;
  made.out_fd = work_.out_fd;
  made.discards_output = verifies();
  made.run_bytes = terms_.seals() ? plain_run : sealed_run;
  made.out_run_bytes = verifies() ? 0 : terms_.seals() ? sealed_run : plain_run;
  made.in_skip = terms_.seals() ? 0 : terms_.beginning_length();
  made.lead_length = terms_.seals() ? terms_.beginning_length() : 0;
  made.first_run = slice * runs;
  made.end_run = made.first_run + runs;
  made.keeps_output = true;
  made.progress_interval = pace_.progress_interval;
  if (work_.progress != nullptr) {
    made.progress = [](void* self, uint64_t done, uint64_t) { return static_cast<SharedRun*>(self)->report(done); };
    made.progress_context = this;
  }
  counted_.reset();
  const Status status = engine::run_file(made, work, engine_);
  if (status == STOCKADE_OK) work_.in_length += terms_.bytes_in(slice);
  return status;
}

// Records slices now and then, so that a slow disk spends a fifth of its time on that at most.
Status SharedRun::note(uint64_t slice) {
  if (!records_) {
    ++work_.slices;
    return STOCKADE_OK;
  }
  pending_.push_back(slice);
  // The disk begins now, so that there is less to wait for later.
  ::sync_file_range(work_.out_fd, 0, 0, SYNC_FILE_RANGE_WRITE);
  return Clock::now() < next_settling_ ? STOCKADE_OK : settle();
}

Status SharedRun::settle() {
  if (pending_.empty()) return STOCKADE_OK;
  const Clock::time_point begin = Clock::now();
  Status status = sync_data(work_.out_fd);
  if (status == STOCKADE_OK) status = records_->note(pending_);
  if (status != STOCKADE_OK) return status;
  work_.slices += pending_.size();
  pending_.clear();
  const Clock::time_point end = Clock::now();
  const std::chrono::milliseconds interval{pace_.checkpoint_interval};
  next_settling_ = end + std::max<Clock::duration>(interval, 4 * (end - begin));
  return STOCKADE_OK;
}

}  // namespace stockade::format
