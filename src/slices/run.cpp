#include "slices/run.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/planted_fault.h"
#include "base/without_throwing.h"
#include "cipher/chunk_span.h"
#include "cipher/transform.h"
#include "format/sealed_file.h"
#include "io/descriptor.h"
#include "io/write_signals.h"

namespace stockade::slices {

using namespace format;  // NOLINT(google-build-using-namespace): slices are made of what it has

namespace {

// What the slices of all workers may take of memory, unless that is less than two.
constexpr uint64_t memory_limit = uint64_t{1} << 30;
// What may wait for its record, unless that is less than two for each worker.
constexpr uint64_t waiting_limit = uint64_t{32} << 20;
// A batch grows to this many slices for each worker: large enough that waiting for its last one costs little, and small at
// first, so that processes that share few slices all get some.
constexpr uint64_t batch_slices_for_each = 32;

// Tells a network file system that others write to the file as well, until it is closed: with a lock that is not about
// the whole of it, Linux's NFS client sends the bytes that were written, and not the pages that hold them, in which it
// would undo what others have written meanwhile. A process that wants the file alone finds it locked. Where there are no
// locks nothing is lost here: Records::begin refuses to seal there.
void share(int fd) {
  struct flock first_byte {};
  first_byte.l_type = F_RDLCK;
  first_byte.l_whence = SEEK_SET;
  first_byte.l_len = 1;
  ::fcntl(fd, F_OFD_SETLKW, &first_byte);
}

// Appends the tags of sealed chunks in a row, of which the last may be shorter.
void append_tags(const uint8_t* sealed, uint64_t length, std::vector<uint8_t>& tags) {
  for (uint64_t begin = 0; begin < length; begin += chunked::sealed_chunk_bytes) {
    const uint64_t chunk = std::min(chunked::sealed_chunk_bytes, length - begin);
    if (chunk < chunked::tag_bytes) return;
    const uint8_t* const end = sealed + begin + chunk;
    tags.insert(tags.end(), end - chunked::tag_bytes, end);
  }
}

bool is_zero(const uint8_t* bytes, uint64_t length) {
  return std::all_of(bytes, bytes + length, [](uint8_t byte) { return byte == 0; });
}

}  // namespace

Run::Run(const Terms& terms, const chunked::PayloadKey& key, Records& memory, stockade_shared_work& work,
         const config::EngineChoice& engine, const JobPace& pace, Purpose purpose)
    : terms_(terms), key_(key), work_(work), engine_(engine), pace_(pace), purpose_(purpose), records_(&memory) {}

Run::~Run() = default;

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
      if (other->fd >= 0 && io::same_file(other->stat, file.stat)) return STOCKADE_ERROR_OVERLAP;
    }
  }
  return STOCKADE_OK;
}

Status check_beginning(const Terms& terms, int out_fd) {
  std::vector<uint8_t> bytes(terms.beginning_length());
  uint64_t got;
  const Status status = io::read_at(out_fd, 0, bytes.data(), bytes.size(), &got);
  if (status != STOCKADE_OK) return status;
  Header header;
  Beginning beginning;
  stockade_fault fault;
  const Status opened = open_beginning_with(terms.file_key, bytes, header, beginning, fault);
  if (opened == STOCKADE_ERROR_MEMORY || opened == STOCKADE_ERROR_LIBRARY) return opened;
  const bool same = opened == STOCKADE_OK && beginning.length() == bytes.size() && header.cipher == terms.cipher &&
                    std::memcmp(beginning.key->preamble, terms.preamble, chunked::preamble_bytes) == 0;
  return same ? STOCKADE_OK : STOCKADE_ERROR_JOURNAL;
}

Status Run::check_input() const {
  struct stat now;
  if (::fstat(work_.in_fd, &now) != 0) return STOCKADE_ERROR_IO;
  return is_same(input_, identify(now)) ? STOCKADE_OK : STOCKADE_ERROR_INPUT_CHANGED;
}

Status Run::prepare() {
  const int journal_fd = work_.journal_fd > 0 ? work_.journal_fd : -1;
  const bool reads_input = purpose_ == Purpose::make;
  if (reads_input ? !terms_.has_input || work_.in_fd < 0 : verifies() || journal_fd < 0) return STOCKADE_ERROR_MODE;
  if (verifies() ? journal_fd >= 0 : work_.out_fd < 0) return STOCKADE_ERROR_MODE;
  Status status = check_files(reads_input ? work_.in_fd : -1, verifies() ? -1 : work_.out_fd, journal_fd);
  if (status == STOCKADE_OK && reads_input) {
    struct stat now;
    if (::fstat(work_.in_fd, &now) != 0) return STOCKADE_ERROR_IO;
    input_ = identify(now);
    const bool accepted = work_.accept_changed_input != 0 && input_.size == terms_.input.size;
    if (!accepted && !is_same(terms_.input, input_)) return STOCKADE_ERROR_INPUT_CHANGED;
  }
  if (status == STOCKADE_OK && terms_.seals()) status = check_beginning(terms_, work_.out_fd);
  if (status != STOCKADE_OK || verifies()) return status;
  one_write_at_a_time_ = io::takes_one_write_at_a_time(work_.out_fd);
  if (journal_fd < 0) return STOCKADE_OK;
  records_ = &file_;
  return file_.open(journal_fd, terms_);
}

Status Run::run() {
  Status status = prepare();
  if (status != STOCKADE_OK) return status;
  if (purpose_ == Purpose::make && !verifies()) {
    share(work_.out_fd);
    if (records_ == &file_) share(work_.journal_fd);
  }
  // Looking for holes moves the position, which is the caller's.
  const off_t position = verifies() ? -1 : ::lseek(work_.out_fd, 0, SEEK_CUR);
  next_settling_ = Clock::now() + std::chrono::milliseconds(pace_.checkpoint_interval);
  status = do_slices();
  // All that follows is the parent's business.
  if (in_child()) return STOCKADE_ERROR_FORKED;
  // What is sealed and recorded is written, also where the job is stopped, and not read and sealed once more by the next.
  if (status != STOCKADE_ERROR_IO) {
    const io::WriteSignals held;
    const Status written = write_sealed(0);
    if (written == STOCKADE_ERROR_IO) note_error(errno);
    if (status == STOCKADE_OK) status = written;
  }
  // What is done is recorded, whatever ended the work.
  const int error = error_;
  const Status settled = settle(true);
  if (status == STOCKADE_OK) {
    status = settled;
  } else {
    error_ = error;
  }
  if (status == STOCKADE_OK) status = advance(0, true);
  if (position >= 0) ::lseek(work_.out_fd, position, SEEK_SET);
  if (status == STOCKADE_ERROR_IO) errno = error_;
  if (status != STOCKADE_OK) return status;
  if (work_.fault.status == STOCKADE_OK && incomplete_) return STOCKADE_ERROR_INCOMPLETE;
  return work_.fault.status;
}

Status Run::do_slices() {
  // One at hand and two that wait.
  const uint64_t room = 3 * terms_.slice_chunks * chunked::sealed_chunk_bytes;
  config::EngineChoice engine = engine_;
  engine.threads =
      static_cast<uint32_t>(std::min<uint64_t>(engine.threads, std::max<uint64_t>(2, memory_limit / room)));
  // As for whole files (io/transfer.cpp): the profile is about jobs that write.
  const bool writes = purpose_ == Purpose::make && !verifies();
  const uint64_t bytes = work_.total != 0 ? std::min(work_.total, terms_.length) : terms_.length;
  offload::Executor executor;
  Status status = executor.acquire(engine, {tune::Operation::files, writes ? 256U : 0U, bytes, terms_.slices(), true},
                                   offload::Home::file);
  if (status != STOCKADE_OK) return status;
  if (executor.slots() != 0) offload::make_device_key(key_.gcm, *device_key_);
  const uint64_t slot_chunks = offload::TransferSlot::capacity(executor.piece_bytes(0)) / chunked::sealed_chunk_bytes;
  piece_chunks_ =
      std::clamp<uint64_t>(executor.slots() != 0 ? slot_chunks : pace_.segment_chunks, 1, terms_.slice_chunks);
  const uint64_t workers = executor.plan().workers;
  most_sealed_ = std::max<uint64_t>(2 * workers, waiting_limit / terms_.slice_bytes());
  const uint64_t most = workers == 1 ? 1 : batch_slices_for_each * workers;
  for (uint64_t size = workers;; size = std::min(2 * size, most)) {
    std::vector<uint64_t> slices;
    while (slices.size() < size) {
      const uint64_t slice = work_.next(work_.next_context);
      if (slice == STOCKADE_NO_SLICE) break;
      if (slice >= terms_.slices()) return STOCKADE_ERROR_ARGUMENT;
      slices.push_back(slice);
    }
    if (slices.empty()) return STOCKADE_OK;
    const bool last = slices.size() < size;
    if ((status = do_batch(executor, slices)) != STOCKADE_OK || last) return status;
  }
}

Status Run::do_batch(offload::Executor& executor, const std::vector<uint64_t>& slices) {
  const Status status = executor.run(slices.size(), [&](offload::TransferSlot* slot, uint64_t i) {
    return without_throwing([&] {
      const io::WriteSignals held;
      std::unique_ptr<Room> room = borrow_room();
      const Status done = do_slice({executor, slot}, slices[i], room);
      const int error = errno;
      if (room != nullptr) return_room(std::move(room));
      if (done == STOCKADE_ERROR_IO) note_error(error);
      return done;
    });
  });
  // Reported in the order in which they were asked for, and by the thread that asked.
  for (const uint64_t slice : slices) {
    const auto found = damages_.find(slice);
    if (found == damages_.end() || work_.damage == nullptr) continue;
    for (const cipher::CheckTransform::Damage& damage : found->second) {
      if (work_.damage(work_.damage_context, damage.chunk, damage.count, damage.offset, damage.length) != 0) {
        return STOCKADE_ERROR_CANCELLED;
      }
    }
  }
  damages_.clear();
  return status;
}

std::unique_ptr<Run::Room> Run::borrow_room() {
  const std::lock_guard lock(rooms_mutex_);
  if (rooms_.empty()) return std::make_unique<Room>();
  std::unique_ptr<Room> room = std::move(rooms_.back());
  rooms_.pop_back();
  return room;
}

void Run::return_room(std::unique_ptr<Room> room) {
  const std::lock_guard lock(rooms_mutex_);
  rooms_.push_back(std::move(room));
}

void Run::note_error(int error) {
  const std::lock_guard lock(mutex_);
  if (error_ == 0) error_ = error;
}

// Makes room for a piece of input or output, and for as much of a slice as is wanted at once.
Status Run::Room::prepare(uint64_t piece_chunks, uint64_t out_chunks) {
  // The last slice may be a chunk longer than the others.
  const uint64_t in_bytes = (piece_chunks + 1) * chunked::sealed_chunk_bytes,
                 out_bytes = (out_chunks + 1) * chunked::sealed_chunk_bytes;
  tags.clear();
  if (in.size() < in_bytes && !in.allocate(in_bytes)) return STOCKADE_ERROR_MEMORY;
  return out.size() < out_bytes && !out.allocate(out_bytes) ? STOCKADE_ERROR_MEMORY : STOCKADE_OK;
}

Status Run::do_slice(const offload::Worker& worker, uint64_t slice, std::unique_ptr<Room>& room) {
  if (in_child()) return STOCKADE_ERROR_FORKED;
  if (verifies()) return verify(worker, slice, *room);
  SliceState state;
  SliceDigest digest;
  Status status = records_->read(slice, state, digest);
  if (status == STOCKADE_ERROR_JOURNAL && !terms_.seals()) {
    // Opening puts no nonce at stake: a record that was altered is none.
    status = STOCKADE_OK;
    state = SliceState::never_begun;
  }
  if (status != STOCKADE_OK) return at_slice(status, slice);
  const bool is_recorded = purpose_ == Purpose::make ? state != SliceState::never_begun : state == SliceState::done;
  if (!is_recorded) {
    if (purpose_ == Purpose::make) return make(worker, slice, room);
    const std::lock_guard lock(mutex_);
    incomplete_ = true;
    return STOCKADE_OK;
  }
  bool intact = false;
  status = read_back(worker, slice, *room, digest, intact);
  if (status != STOCKADE_OK) return status;
  if (purpose_ == Purpose::read_back) return conclude_read_back(slice, digest, intact);
  if (!intact && !is_planted(Fault::resume_trusts_output)) return make(worker, slice, room);
  {
    const std::lock_guard lock(mutex_);
    resumed_ += terms_.bytes_in(slice);
  }
  status = advance(terms_.bytes_in(slice));
  if (status != STOCKADE_OK) return status;
  if (state == SliceState::begun) return note(slice, digest);
  const std::lock_guard lock(mutex_);
  ++work_.slices;
  return STOCKADE_OK;
}

Status Run::conclude_read_back(uint64_t slice, const SliceDigest& digest, bool intact) {
  if (intact) {
    const std::lock_guard lock(mutex_);
    ++work_.slices;
    work_.out_length += terms_.seals() ? terms_.sealed_bytes_in(slice) : terms_.plain_bytes_in(slice);
  } else {
    if (const Status status = records_->note_begun({slice, digest}); status != STOCKADE_OK) return status;
    add_fault(fault_in_chunk(STOCKADE_ERROR_CHUNK, terms_.first_chunk(slice),
                             terms_.seals() ? terms_.sealed_offset(slice) : terms_.plain_offset(slice)));
  }
  return advance(terms_.bytes_in(slice));
}

Status Run::make(const offload::Worker& worker, uint64_t slice, std::unique_ptr<Room>& room) {
  const Status status = terms_.seals() ? seal(worker, slice, room) : open(worker, slice, *room);
  if (status != STOCKADE_OK) return status;
  const std::lock_guard lock(mutex_);
  work_.in_length += terms_.bytes_in(slice);
  work_.out_length += terms_.seals() ? terms_.sealed_bytes_in(slice) : terms_.plain_bytes_in(slice);
  return STOCKADE_OK;
}

// Exactly what the terms say is there.
Status Run::read_input(uint64_t offset, uint8_t* data, uint64_t length) const {
  uint64_t got;
  const Status status = io::read_at(work_.in_fd, offset, data, length, &got);
  return status == STOCKADE_OK && got < length ? STOCKADE_ERROR_INPUT_CHANGED : status;
}

Status Run::seal(const offload::Worker& worker, uint64_t slice, std::unique_ptr<Room>& borrowed) {
  Room& room = *borrowed;
  Status status = room.prepare(piece_chunks_, terms_.slice_chunks);
  if (status != STOCKADE_OK) return status;
  const uint64_t length = terms_.bytes_in(slice), piece = piece_chunks_ * chunked::chunk_bytes;
  uint8_t* to = room.out.data();
  for (uint64_t done = 0, now = 0; done == 0 || done < length; done += now) {
    now = std::min(piece, length - done);
    const bool last = terms_.is_last(slice) && done + now == length;
    const uint64_t first = terms_.first_chunk(slice) + done / chunked::chunk_bytes;
    status = read_input(terms_.plain_offset(slice) + done, room.in.data(), now);
    if (status == STOCKADE_OK)
      status = cipher::seal_span(worker, key_, *device_key_, {first, room.in.data(), now, last, to});
    if (status == STOCKADE_OK) status = advance(now);
    if (status != STOCKADE_OK) return status;
    const uint64_t sealed = chunked::sealed_length(now, last);
    append_tags(to, sealed, room.tags);
    to += sealed;
    if (now == 0) break;
  }
  SliceDigest digest;
  uint64_t ticket = 0;
  status = check_input();
  if (status == STOCKADE_OK) status = records_->digest(slice, room.tags, digest);
  if (status == STOCKADE_OK) {
    status = records_->begin(
        slice, digest, [&](bool& blank) { return is_blank(slice, room, blank); }, ticket);
  }
  if (status == STOCKADE_OK && records_->is_slow()) {
    // While storage takes the record, the next slice can be sealed.
    {
      const std::lock_guard lock(sealed_mutex_);
      sealed_.push_back({slice, ticket, digest, std::move(borrowed)});
    }
    return write_sealed(most_sealed_);
  }
  if (status == STOCKADE_OK) status = records_->wait(ticket);
  if (status == STOCKADE_OK)
    return write_slice(slice, digest, terms_.sealed_offset(slice), room, terms_.sealed_bytes_in(slice));
  const int error = errno;
  // What must not be written does not stay in memory either.
  wipe(room.out.data(), terms_.sealed_bytes_in(slice));
  errno = error;
  return at_slice(status, slice);
}

// Writes slices whose records are on storage, and waits for those that are not where more than `most_left` are left.
Status Run::write_sealed(uint64_t most_left) {
  for (;;) {
    Sealed next;
    {
      const std::lock_guard lock(sealed_mutex_);
      if (sealed_.empty()) return STOCKADE_OK;
      if (sealed_.size() <= most_left && !records_->is_done(sealed_.front().ticket)) return STOCKADE_OK;
      next = std::move(sealed_.front());
      sealed_.pop_front();
    }
    Status status = records_->wait(next.ticket);
    if (status == STOCKADE_OK) {
      status = write_slice(next.slice, next.digest, terms_.sealed_offset(next.slice), *next.room,
                           terms_.sealed_bytes_in(next.slice));
    }
    if (status != STOCKADE_OK) return status;
    return_room(std::move(next.room));
  }
}

Status Run::open(const offload::Worker& worker, uint64_t slice, Room& room) {
  Status status = room.prepare(piece_chunks_, terms_.slice_chunks);
  if (status != STOCKADE_OK) return status;
  cipher::OpenTransform transform(key_, terms_.header_length);
  if (worker.executor.slots() != 0) transform.prepare_device_key();
  const uint64_t length = terms_.bytes_in(slice), piece = piece_chunks_ * chunked::sealed_chunk_bytes;
  const uint64_t begin = terms_.first_chunk(slice) * chunked::sealed_chunk_bytes;
  uint8_t* to = room.out.data();
  for (uint64_t done = 0, now = 0; done < length; done += now) {
    now = std::min(piece, length - done);
    cipher::Segment segment{begin + done, room.in.data(), now, terms_.is_last(slice) && done + now == length, to, 0};
    status = read_input(terms_.beginning_length() + segment.offset, room.in.data(), now);
    if (status == STOCKADE_OK) status = transform.apply(segment, worker);
    if (status != STOCKADE_OK && transform.fault().status == status) add_fault(transform.fault());
    if (status == STOCKADE_OK) status = advance(now);
    if (status != STOCKADE_OK) return status;
    append_tags(room.in.data(), now, room.tags);
    to += segment.out_length;
  }
  SliceDigest digest;
  status = check_input();
  if (status == STOCKADE_OK) status = records_->digest(slice, room.tags, digest);
  if (status != STOCKADE_OK) return at_slice(status, slice);
  return write_slice(slice, digest, terms_.plain_offset(slice), room, static_cast<uint64_t>(to - room.out.data()));
}

Status Run::verify(const offload::Worker& worker, uint64_t slice, Room& room) {
  Status status = room.prepare(piece_chunks_, 0);
  if (status != STOCKADE_OK) return status;
  cipher::CheckTransform transform(key_, terms_.header_length);
  if (worker.executor.slots() != 0) transform.prepare_device_key();
  const uint64_t length = terms_.bytes_in(slice), piece = piece_chunks_ * chunked::sealed_chunk_bytes;
  const uint64_t begin = terms_.first_chunk(slice) * chunked::sealed_chunk_bytes;
  for (uint64_t done = 0, now = 0; done == 0 || done < length; done += now) {
    now = std::min(piece, length - done);
    cipher::Segment segment{
        begin + done, room.in.data(), now, terms_.is_last(slice) && done + now == length, nullptr, 0};
    status = read_input(terms_.beginning_length() + segment.offset, room.in.data(), now);
    if (status == STOCKADE_OK) status = transform.apply(segment, worker);
    if (status == STOCKADE_OK) status = advance(now);
    if (status != STOCKADE_OK) return status;
    if (now == 0) break;
  }
  if ((status = check_input()) != STOCKADE_OK) return status;
  add_fault(transform.fault());
  const std::lock_guard lock(mutex_);
  work_.in_length += length;
  work_.out_length += transform.intact_bytes();
  ++work_.slices;
  damages_[slice] = transform.damages();
  return STOCKADE_OK;
}

// Whether what stands in the output for a slice is what its record says.
Status Run::read_back(const offload::Worker& worker, uint64_t slice, Room& room, const SliceDigest& wanted,
                      bool& intact) {
  intact = true;
  Status status = room.prepare(piece_chunks_, piece_chunks_);
  if (status == STOCKADE_OK) {
    status =
        terms_.seals() ? read_back_sealed(worker, slice, room, intact) : read_back_opened(worker, slice, room, intact);
  }
  if (status != STOCKADE_OK || !intact) return status;
  SliceDigest found;
  status = records_->digest(slice, room.tags, found);
  intact = status == STOCKADE_OK && equal_constant_time(found.bytes, wanted.bytes, sizeof found.bytes);
  return status;
}

Status Run::read_back_sealed(const offload::Worker& worker, uint64_t slice, Room& room, bool& intact) {
  const uint64_t length = terms_.sealed_bytes_in(slice), piece = piece_chunks_ * chunked::sealed_chunk_bytes;
  for (uint64_t done = 0, now = 0; intact && done < length; done += now) {
    now = std::min(piece, length - done);
    uint64_t got;
    Status status = io::read_at(work_.out_fd, terms_.sealed_offset(slice) + done, room.in.data(), now, &got);
    if (status == STOCKADE_OK) status = advance(0);
    if (status != STOCKADE_OK) return status;
    intact = got == now;
    if (!intact) return STOCKADE_OK;
    const uint64_t first = terms_.first_chunk(slice) + done / chunked::sealed_chunk_bytes;
    status = check_span(worker, {first, room.in.data(), now, terms_.is_last(slice) && done + now == length, nullptr},
                        intact);
    if (status != STOCKADE_OK) return status;
    append_tags(room.in.data(), now, room.tags);
  }
  return STOCKADE_OK;
}

Status Run::check_span(const offload::Worker& worker, const cipher::ChunkSpan& span, bool& intact) const {
  std::vector<uint32_t> refused;
  const Status status = cipher::open_span(worker, key_, *device_key_, span, refused);
  for (uint64_t i = 0; status == STOCKADE_OK && intact && i < span.sealed_count(); ++i) {
    const uint8_t* const chunk = span.in + i * chunked::sealed_chunk_bytes;
    const uint64_t length = std::min(chunked::sealed_chunk_bytes, span.length - i * chunked::sealed_chunk_bytes);
    intact = i < refused.size() ? refused[i] == 0 : chunked::check_chunk(key_, span.first + i, chunk, length);
  }
  return status;
}

// Sealed once more, in memory only, the plaintext has the tags that it was opened with.
Status Run::read_back_opened(const offload::Worker& worker, uint64_t slice, Room& room, bool& intact) {
  const uint64_t length = terms_.plain_bytes_in(slice), piece = piece_chunks_ * chunked::chunk_bytes;
  for (uint64_t done = 0, now = 0; done == 0 || done < length; done += now) {
    now = std::min(piece, length - done);
    uint64_t got;
    Status status = io::read_at(work_.out_fd, terms_.plain_offset(slice) + done, room.in.data(), now, &got);
    if (status == STOCKADE_OK) status = advance(0);
    if (status != STOCKADE_OK) return status;
    intact = got == now;
    if (!intact) return STOCKADE_OK;
    const bool last = terms_.is_last(slice) && done + now == length;
    const uint64_t first = terms_.first_chunk(slice) + done / chunked::chunk_bytes;
    status = cipher::seal_span(worker, key_, *device_key_, {first, room.in.data(), now, last, room.out.data()});
    if (status != STOCKADE_OK) return status;
    append_tags(room.out.data(), chunked::sealed_length(now, last), room.tags);
    wipe(room.out.data(), chunked::sealed_length(now, last));
    if (now == 0) break;
  }
  return STOCKADE_OK;
}

// Whether nothing but zeros stands in the output where a slice belongs.
Status Run::is_blank(uint64_t slice, Room& room, bool& blank) const {
  uint64_t at = terms_.sealed_offset(slice);
  const uint64_t end = at + terms_.sealed_bytes_in(slice);
  blank = true;
  while (blank && at < end) {
    const off_t data = ::lseek(work_.out_fd, static_cast<off_t>(at), SEEK_DATA);
    // Behind it there are holes only, or the end of the file.
    if (data < 0 && errno == ENXIO) return STOCKADE_OK;
    if (data >= 0) at = static_cast<uint64_t>(data);
    if (at >= end) return STOCKADE_OK;
    uint64_t got;
    const Status status =
        io::read_at(work_.out_fd, at, room.in.data(), std::min<uint64_t>(room.in.size(), end - at), &got);
    if (status != STOCKADE_OK || got == 0) return status;
    blank = is_zero(room.in.data(), got);
    at += got;
  }
  return STOCKADE_OK;
}

// Writes what is in the room's memory, and notes it.
Status Run::write_slice(uint64_t slice, const SliceDigest& digest, uint64_t offset, Room& room, uint64_t length) {
  std::unique_lock turn(write_turn_, std::defer_lock);
  if (one_write_at_a_time_) turn.lock();
  const Status status = io::write_at(work_.out_fd, offset, room.out.data(), length);
  if (one_write_at_a_time_) turn.unlock();
  return status == STOCKADE_OK ? note(slice, digest) : status;
}

Status Run::note(uint64_t slice, const SliceDigest& digest) {
  {
    const std::lock_guard lock(mutex_);
    pending_.push_back({slice, digest});
  }
  return settle(false);
}

// Records what has been written as done: now, or now and then, so that a slow disk spends a fifth of its time on that at
// most. One worker does it while the others go on.
Status Run::settle(bool now) {
  const Clock::time_point begin = Clock::now();
  std::vector<Records::Entry> entries;
  {
    const std::lock_guard lock(mutex_);
    if (pending_.empty() || (!now && (settling_ || begin < next_settling_))) return STOCKADE_OK;
    settling_ = true;
    entries.swap(pending_);
  }
  // Without a journal nothing is synced here: that is left to the caller.
  Status status = records_ == &file_ ? io::sync_data(work_.out_fd) : STOCKADE_OK;
  if (status == STOCKADE_OK) status = records_->note_done(entries);
  if (status == STOCKADE_ERROR_IO) note_error(errno);
  const Clock::time_point end = Clock::now();
  const std::chrono::milliseconds interval{pace_.checkpoint_interval};
  const std::lock_guard lock(mutex_);
  settling_ = false;
  next_settling_ = end + std::max<Clock::duration>(interval, 4 * (end - begin));
  if (status == STOCKADE_OK) work_.slices += entries.size();
  return status;
}

void Run::add_fault(const stockade_fault& fault) {
  const std::lock_guard lock(mutex_);
  if (fault.status == STOCKADE_OK) return;
  if (work_.fault.status == STOCKADE_OK || fault.offset < work_.fault.offset) work_.fault = fault;
}

// Says which slice a refusal is about.
Status Run::at_slice(Status status, uint64_t slice) {
  if (status == STOCKADE_ERROR_INPUT_CHANGED || status == STOCKADE_ERROR_JOURNAL) {
    add_fault(fault_in_chunk(status, terms_.first_chunk(slice), nowhere));
  }
  return status;
}

// Counts bytes of input, and reports them if it is time to. A thread that finds another one reporting goes on. CANCELLED.
Status Run::advance(uint64_t bytes, bool now) {
  done_.fetch_add(bytes, std::memory_order_acq_rel);
  if (work_.progress == nullptr) return STOCKADE_OK;
  const std::unique_lock lock(progress_mutex_, std::try_to_lock);
  if (!lock.owns_lock()) return STOCKADE_OK;
  const Clock::time_point time = Clock::now();
  if (!now && time - last_progress_ < std::chrono::milliseconds(pace_.progress_interval)) return STOCKADE_OK;
  last_progress_ = time;
  const int wish = work_.progress(work_.progress_context, done_.load(std::memory_order_acquire), work_.total);
  // A process that was forked there must not seal what its parent seals.
  if (in_child()) return STOCKADE_ERROR_FORKED;
  return wish != 0 ? STOCKADE_ERROR_CANCELLED : STOCKADE_OK;
}

}  // namespace stockade::slices
