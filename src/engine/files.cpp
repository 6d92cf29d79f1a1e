#include "engine/files.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <exception>
#include <mutex>
#include <new>
#include <thread>
#include <vector>

#include "base/forks.h"
#include "base/secret.h"
#include "base/without_throwing.h"
#include "engine/file_writes.h"
#include "parallel/no_signals.h"

namespace stockade::engine {
namespace {

using Clock = std::chrono::steady_clock;

// How long a thread may sleep before it looks whether the job has been stopped.
constexpr std::chrono::milliseconds patience{100};
// What a job with an input of unknown length is planned as.
constexpr uint64_t unknown_bytes = uint64_t{1} << 40;
// All buffers of a job together but those of lanes, unless that is less than three. Only XTS data units of megabytes, and runs
// as long as lanes like them, come near.
constexpr uint64_t memory_limit = uint64_t{256} << 20;
// Keeps the data of a buffer aligned behind the file_margin bytes before it.
constexpr uint64_t lead = 64;

// What the threads of a job share: its first failure, and how far it has come.
class Monitor {
 public:
  Monitor(const FileJob& job, uint64_t total)
      : progress_(job.progress), context_(job.progress_context), interval_(job.progress_interval), total_(total) {}

  // Whether this is a process that was forked from the job's.
  bool in_child() const { return process_ != process_number(); }

  bool stopped() const { return stopped_.load(std::memory_order_acquire); }
  uint64_t done() const { return done_.load(std::memory_order_acquire); }

  // Stops the job. The first failure is the one that is reported.
  void fail(Status status, int error = 0) {
    const std::lock_guard lock(failure_mutex_);
    if (status_ != STOCKADE_OK) return;
    status_ = status;
    error_ = error;
    stopped_.store(true, std::memory_order_release);
  }

  Status failure(int* error) {
    const std::lock_guard lock(failure_mutex_);
    *error = error_;
    return status_;
  }

  void add(uint64_t bytes) {
    done_.fetch_add(bytes, std::memory_order_acq_rel);
    tick();
  }

  // Reports progress if it is time to, or `now`. A thread that finds another one reporting goes on with its work.
  void tick(bool now = false) {
    if (progress_ == nullptr) return;
    const std::unique_lock lock(progress_mutex_, std::try_to_lock);
    if (!lock.owns_lock() || stopped()) return;
    const Clock::time_point time = Clock::now();
    if (!now && time - last_ < interval_) return;
    last_ = time;
    const int wish = progress_(context_, done(), total_);
    // A process that was forked there must not seal what its parent seals.
    if (in_child()) {
      fail(STOCKADE_ERROR_FORKED);
    } else if (wish != 0) {
      fail(STOCKADE_ERROR_CANCELLED);
    }
  }

 private:
  const uint64_t process_ = process_number();
  const stockade_progress progress_;
  void* const context_;
  const std::chrono::milliseconds interval_;
  const uint64_t total_;
  std::atomic<uint64_t> done_{0};
  std::atomic<bool> stopped_{false};
  std::mutex failure_mutex_;
  Status status_ = STOCKADE_OK;
  int error_ = 0;
  std::mutex progress_mutex_;
  Clock::time_point last_{};
};

// Waits until a descriptor that is not a regular file can be used. False if the job has stopped meanwhile.
bool await_ready(int fd, short event, Monitor& monitor) {
  while (!monitor.stopped()) {
    pollfd entry{fd, event, 0};
    const int ready = ::poll(&entry, 1, static_cast<int>(patience.count()));
    if (ready > 0) return true;
    if (ready < 0 && errno != EINTR && errno != EAGAIN) {
      monitor.fail(STOCKADE_ERROR_IO, errno);
    } else {
      // An interruption may be the user's wish to stop, so it is not left to the interval.
      monitor.tick(ready < 0);
    }
  }
  return false;
}

// The end that is read.
class Source {
 public:
  // IO.
  Status open(const FileJob& job) {
    fd_ = job.in_fd;
    if (::fstat(fd_, &stat_) != 0) return STOCKADE_ERROR_IO;
    regular_ = S_ISREG(stat_.st_mode);
    prefix_ = job.prefix;
    prefix_left_ = job.prefix_length;
    if (!regular_) return STOCKADE_OK;
    const off_t position = ::lseek(fd_, 0, SEEK_CUR);
    if (position < 0) return STOCKADE_ERROR_IO;
    start_ = static_cast<uint64_t>(position) + job.in_skip;
    const auto size = static_cast<uint64_t>(stat_.st_size);
    length_ = size > start_ ? size - start_ : 0;
    return STOCKADE_OK;
  }

  const struct stat& stat() const { return stat_; }
  bool regular() const { return regular_; }
  // Whether the length is known. Files such as those of /proc say that they are empty and are not.
  bool sized() const { return length_ != 0; }
  // 0 when unknown.
  uint64_t length() const { return length_; }

  // Exactly `length` bytes from `offset`. Only for sized sources.
  bool read_at(uint64_t offset, uint8_t* data, uint64_t length, Monitor& monitor) const {
    uint64_t got = 0;
    if (!read_regular(offset, data, length, &got, monitor)) return false;
    if (got < length) monitor.fail(STOCKADE_ERROR_INPUT_CHANGED);
    return got == length;
  }

  // The next bytes in turn: `length` unless the input ends before that.
  bool read_next(uint8_t* data, uint64_t length, uint64_t* got, Monitor& monitor) {
    *got = 0;
    if (sized()) {
      *got = std::min(length, length_ - next_);
      if (!read_at(next_, data, *got, monitor)) return false;
    } else if (regular_) {
      if (!read_regular(next_, data, length, got, monitor)) return false;
    } else if (!read_stream(data, length, got, monitor)) {
      return false;
    }
    next_ += *got;
    return true;
  }

  // Whether a regular file is still as it was when the job began.
  bool check_unchanged(Monitor& monitor) const {
    if (!regular_) return true;
    struct stat now;
    if (::fstat(fd_, &now) != 0) {
      monitor.fail(STOCKADE_ERROR_IO, errno);
      return false;
    }
    const bool same = now.st_size == stat_.st_size && now.st_mtim.tv_sec == stat_.st_mtim.tv_sec &&
                      now.st_mtim.tv_nsec == stat_.st_mtim.tv_nsec;
    if (!same) monitor.fail(STOCKADE_ERROR_INPUT_CHANGED);
    return same;
  }

  // Moves the position, which reading by offset leaves alone, behind what was read.
  bool settle(uint64_t length, Monitor& monitor) const {
    if (!regular_ || ::lseek(fd_, static_cast<off_t>(start_ + length), SEEK_SET) >= 0) return true;
    monitor.fail(STOCKADE_ERROR_IO, errno);
    return false;
  }

 private:
  bool read_regular(uint64_t offset, uint8_t* data, uint64_t length, uint64_t* got, Monitor& monitor) const {
    while (*got < length) {
      const ssize_t n = ::pread(fd_, data + *got, length - *got, static_cast<off_t>(start_ + offset + *got));
      if (n == 0) return true;
      if (n > 0) {
        *got += static_cast<uint64_t>(n);
      } else if (errno != EINTR) {
        monitor.fail(STOCKADE_ERROR_IO, errno);
        return false;
      }
    }
    return true;
  }

  bool read_stream(uint8_t* data, uint64_t length, uint64_t* got, Monitor& monitor) {
    *got = std::min(length, prefix_left_);
    if (*got != 0) std::memcpy(data, prefix_, *got);
    prefix_ += *got;
    prefix_left_ -= *got;
    while (*got < length) {
      if (!await_ready(fd_, POLLIN, monitor)) return false;
      const ssize_t n = ::read(fd_, data + *got, length - *got);
      if (n == 0) return true;
      if (n > 0) {
        *got += static_cast<uint64_t>(n);
      } else if (errno != EINTR && errno != EAGAIN) {
        monitor.fail(STOCKADE_ERROR_IO, errno);
        return false;
      }
    }
    return true;
  }

  int fd_ = -1;
  struct stat stat_ {};
  bool regular_ = false;
  const uint8_t* prefix_ = nullptr;
  uint64_t prefix_left_ = 0;
  uint64_t start_ = 0;
  uint64_t length_ = 0;
  uint64_t next_ = 0;
};

uint64_t out_run_bytes(const FileJob& job) { return job.out_run_bytes != 0 ? job.out_run_bytes : job.run_bytes; }

// The end that is written.
class Sink {
 public:
  // IO.
  Status open(const FileJob& job) {
    fd_ = job.out_fd;
    exists_ = !job.discards_output;
    if (!exists_) {
      by_offset_ = true;
      return STOCKADE_OK;
    }
    if (::fstat(fd_, &stat_) != 0) return STOCKADE_ERROR_IO;
    regular_ = S_ISREG(stat_.st_mode);
    if (!regular_) return STOCKADE_OK;
    const int flags = ::fcntl(fd_, F_GETFL);
    position_ = ::lseek(fd_, 0, SEEK_CUR);
    if (flags < 0 || position_ < 0) return STOCKADE_ERROR_IO;
    // In append mode every write goes to the end of the file, pwrite's too.
    by_offset_ = (flags & O_APPEND) == 0;
    in_turn_ = takes_one_write_at_a_time(fd_);
    start_ = by_offset_ ? position_ : stat_.st_size;
    return STOCKADE_OK;
  }

  bool exists() const { return exists_; }
  const struct stat& stat() const { return stat_; }
  bool regular() const { return regular_; }
  // Whether writes may come in any order.
  bool by_offset() const { return by_offset_; }
  uint64_t written() const { return written_.load(std::memory_order_relaxed); }

  // IO if the file could not be cut back later. Where it ends stays the same.
  Status check_revocable() const { return ::ftruncate(fd_, stat_.st_size) == 0 ? STOCKADE_OK : STOCKADE_ERROR_IO; }

  // Unless by_offset(), `offset` is what has been written so far. `waited` grows by the time spent for another write to end.
  bool write(uint64_t offset, const uint8_t* data, uint64_t length, Monitor& monitor,
             Clock::duration* waited = nullptr) {
    std::unique_lock turn(turn_, std::defer_lock);
    if (in_turn_ && !turn.try_lock()) {
      const Clock::time_point begin = Clock::now();
      turn.lock();
      if (waited != nullptr) *waited += Clock::now() - begin;
    }
    if (!exists_) {
      written_.fetch_add(length, std::memory_order_relaxed);
      return true;
    }
    if (length != 0) touched_.store(true, std::memory_order_relaxed);
    while (length != 0) {
      // A write that has to wait for room can only be ended by a signal, so the waiting is done beforehand.
      if (!regular_ && !await_ready(fd_, POLLOUT, monitor)) return false;
      const ssize_t n = write_once(offset, data, length);
      if (n > 0) {
        data += n;
        offset += static_cast<uint64_t>(n);
        length -= static_cast<uint64_t>(n);
        written_.fetch_add(static_cast<uint64_t>(n), std::memory_order_relaxed);
      } else if (n < 0 && (errno == EINTR || errno == EAGAIN)) {
        monitor.tick(errno == EINTR);
      } else {
        monitor.fail(STOCKADE_ERROR_IO, n == 0 ? EIO : errno);
        return false;
      }
    }
    return true;
  }

  bool settle(Monitor& monitor) const {
    if (!regular_ || ::lseek(fd_, start_ + static_cast<off_t>(written()), SEEK_SET) >= 0) return true;
    monitor.fail(STOCKADE_ERROR_IO, errno);
    return false;
  }

  // Cuts a regular file that has been written to back to where the job began.
  void take_back() {
    if (!regular_ || !touched_.load(std::memory_order_relaxed)) return;
    int result;
    do {
      result = ::ftruncate(fd_, std::min<off_t>(start_, stat_.st_size));
    } while (result != 0 && errno == EINTR);
    if (result == 0) written_.store(0, std::memory_order_relaxed);
    ::lseek(fd_, position_, SEEK_SET);
  }

 private:
  ssize_t write_once(uint64_t offset, const uint8_t* data, uint64_t length) const {
    if (by_offset_ && regular_) return ::pwrite(fd_, data, length, start_ + static_cast<off_t>(offset));
    if (regular_) return ::write(fd_, data, length);
    // No more than there is room for, where the kernel can do that: a write that waits could only be ended by a signal.
    const iovec piece{const_cast<uint8_t*>(data), length};
    const ssize_t written = ::pwritev2(fd_, &piece, 1, -1, RWF_NOWAIT);
    return written < 0 && (errno == EOPNOTSUPP || errno == ENOSYS || errno == EINVAL) ? ::write(fd_, data, length)
                                                                                      : written;
  }

  int fd_ = -1;
  bool exists_ = true;
  bool in_turn_ = false;
  std::mutex turn_;
  struct stat stat_ {};
  bool regular_ = false;
  bool by_offset_ = false;
  off_t position_ = 0;
  off_t start_ = 0;
  std::atomic<bool> touched_{false};
  std::atomic<uint64_t> written_{0};
};

// A buffer with the run that it holds.
struct Slot {
  SecretBuffer memory;
  SecretBuffer out_memory;  // unless the work is done in place
  FileRun run;
  uint64_t taken;  // bytes of the input in this run, kept ones included
};

// One job: the three stages that a run goes through, and the ways to order them.
class Transfer {
 public:
  Transfer(FileJob& job, FileWork& work, Source& source, Sink& sink, Crew& crew)
      : job_(job), work_(work), source_(source), sink_(sink), crew_(crew), monitor_(job, source.length()) {}

  Status run();

  // The stages. False if the job has failed; the monitor knows why. `worker` is its number in the crew.
  bool fill(Slot& slot);
  bool apply(Slot& slot, uint32_t worker);
  bool put(Slot& slot, Clock::duration* waited = nullptr);

  Monitor& monitor() { return monitor_; }

 private:
  class Presence;

  // The most that one run can hold.
  uint64_t capacity() const {
    const uint64_t most = job_.run_bytes + file_reserve;
    return source_.sized() ? std::min(most, source_.length()) : most;
  }
  uint64_t slot_bytes() const { return lead + capacity() + file_margin; }
  uint64_t out_slot_bytes() const {
    if (job_.out_run_bytes == 0) return 0;
    if (job_.in_order) return job_.out_run_bytes;
    return capacity() * job_.out_run_bytes / job_.run_bytes + file_reserve + file_margin;
  }
  uint64_t count_runs() const { return last_run(source_.length(), job_.run_bytes) + 1; }
  uint64_t out_offset(const FileRun& run) const {
    return job_.lead_length + run.offset / job_.run_bytes * out_run_bytes(job_);
  }
  bool prepare(Slot& slot);
  bool borrow(Slot& slot, Lane& lane);
  bool fill_at(uint64_t index, uint64_t runs, Slot& slot);
  void move();
  void move_in_turn(Slot& slot);
  void move_by_offset(parallel::Plan plan);
  void move_claimed(uint32_t worker);
  void step_aside(Clock::duration pause);
  void call_back();
  void conclude();

  FileJob& job_;
  FileWork& work_;
  Source& source_;
  Sink& sink_;
  Crew& crew_;
  Monitor monitor_;

  // Of workers that claim their runs.
  std::atomic<uint64_t> next_run_{0};
  // Workers that are there, and of these the ones that have stepped aside, because more of them than the output can take only
  // wait for one another.
  static constexpr uint32_t least_workers = 2;
  std::mutex aside_mutex_;
  std::condition_variable aside_changed_;
  uint32_t workers_ = 0, aside_ = 0;
  bool called_back_ = false;

  // Of the reading side: where the next run begins, and the bytes read ahead of it behind those before it.
  uint64_t offset_ = 0;
  uint64_t ahead_ = 0;
  Secret<uint8_t[file_margin + file_reserve]> carry_;

  // Of the last run.
  uint64_t transformed_ = 0;
  uint64_t end_ = 0;
  Secret<uint8_t[file_margin]> kept_;
};

bool Transfer::prepare(Slot& slot) {
  if (slot.memory.data() == nullptr && !slot.memory.allocate(slot_bytes())) {
    monitor_.fail(STOCKADE_ERROR_MEMORY);
    return false;
  }
  if (out_slot_bytes() != 0 && slot.out_memory.data() == nullptr && !slot.out_memory.allocate(out_slot_bytes())) {
    monitor_.fail(STOCKADE_ERROR_MEMORY);
    return false;
  }
  slot.run.data = slot.memory.data() + lead;
  slot.run.out = out_slot_bytes() != 0 ? slot.out_memory.data() : slot.run.data;
  return true;
}

// Puts the buffers of a slot into the memory of a lane. False if that is too small.
bool Transfer::borrow(Slot& slot, Lane& lane) {
  const Lane::HostRoom room = lane.lend();
  if (slot_bytes() > room.size || std::max(slot_bytes() - lead, out_slot_bytes()) > room.size) return false;
  slot.run.data = room.in + lead;
  slot.run.out = room.out;
  return true;
}

// Reads file_reserve bytes further than a run goes, which shows whether it is the last one.
bool Transfer::fill(Slot& slot) {
  if (slot.run.data == nullptr && !prepare(slot)) return false;
  FileRun& run = slot.run;
  std::memcpy(run.data - file_margin, *carry_, file_margin + ahead_);
  uint64_t got;
  if (!source_.read_next(run.data + ahead_, job_.run_bytes + file_reserve - ahead_, &got, monitor_)) return false;
  got += ahead_;
  run.offset = offset_;
  run.last = got < job_.run_bytes + file_reserve;
  run.length = run.last ? got : job_.run_bytes;
  slot.taken = run.length;
  if (!run.last) {
    std::memcpy(*carry_, run.data + run.length - file_margin, file_margin + file_reserve);
    ahead_ = file_reserve;
  }
  offset_ += run.length;
  return true;
}

bool Transfer::fill_at(uint64_t index, uint64_t runs, Slot& slot) {
  FileRun& run = slot.run;
  run.offset = index * job_.run_bytes;
  run.last = index == runs - 1;
  run.length = run.last ? source_.length() - run.offset : job_.run_bytes;
  slot.taken = run.length;
  const uint64_t before = index == 0 || job_.out_run_bytes != 0 ? 0 : file_margin;
  return source_.read_at(run.offset - before, run.data - before, before + run.length, monitor_);
}

bool Transfer::apply(Slot& slot, uint32_t worker) {
  FileRun& run = slot.run;
  const Status status = without_throwing([&] {
    if (run.last) {
      const Status checked = source_.sized() ? STOCKADE_OK : work_.check(run.offset + run.length);
      if (checked != STOCKADE_OK) return checked;
      run.length -= job_.kept_bytes;
      std::memcpy(*kept_, run.data + run.length, job_.kept_bytes);
      transformed_ = run.offset + run.length;
    }
    run.out_length = job_.out_run_bytes != 0 && !run.last ? job_.out_run_bytes : run.length;
    return work_.transform(run, {crew_, crew_.lane(worker)});
  });
  if (status != STOCKADE_OK) monitor_.fail(status);
  if (run.last) end_ = out_offset(run) + run.out_length;
  return status == STOCKADE_OK;
}

bool Transfer::put(Slot& slot, Clock::duration* waited) {
  // Runs in order may be of any length, and one thread writes them all.
  const uint64_t offset = job_.in_order ? sink_.written() : out_offset(slot.run);
  if (!sink_.write(offset, slot.run.out, slot.run.out_length, monitor_, waited)) return false;
  monitor_.add(slot.taken);
  return !monitor_.stopped();
}

// `slot` is filled.
void Transfer::move_in_turn(Slot& slot) {
  while (apply(slot, 0) && put(slot) && !slot.run.last && fill(slot)) {
  }
}

// Whoever comes late, or takes the place of one who did not come, needs no buffers then.
// Sleeps for a while, unless so many do already that too few would be left.
void Transfer::step_aside(Clock::duration pause) {
  std::unique_lock lock(aside_mutex_);
  if (workers_ - aside_ <= least_workers) return;
  ++aside_;
  const Clock::time_point end = Clock::now() + pause;
  // A job that is stopped is not announced to those who sleep.
  while (!called_back_ && !monitor_.stopped() && Clock::now() < end) {
    aside_changed_.wait_until(lock, std::min(end, Clock::now() + patience));
  }
  --aside_;
}

// One worker more, while this lives.
class Transfer::Presence {
 public:
  explicit Presence(Transfer& transfer) : transfer_(transfer) {
    const std::lock_guard lock(transfer_.aside_mutex_);
    ++transfer_.workers_;
  }
  Presence(const Presence&) = delete;
  Presence& operator=(const Presence&) = delete;
  ~Presence() {
    const std::lock_guard lock(transfer_.aside_mutex_);
    --transfer_.workers_;
  }

 private:
  Transfer& transfer_;
};

void Transfer::call_back() {
  const std::lock_guard lock(aside_mutex_);
  called_back_ = true;
  aside_changed_.notify_all();
}

// Tells a worker from its own times that there are too many: several runs in succession in which it waited for others'
// writes for more than half of the time that it worked. It then steps aside, each time for longer.
class Crowding {
 public:
  // How long to step aside; zero to go on.
  Clock::duration note(Clock::duration waited, Clock::duration worked) {
    streak_ = waited > worked / 2 ? streak_ + 1 : 0;
    if (streak_ < enough) return {};
    streak_ = 0;
    const Clock::duration pause = next_;
    next_ = std::min<Clock::duration>(2 * next_, std::chrono::seconds(1));
    return pause;
  }

 private:
  static constexpr uint32_t enough = 4;
  uint32_t streak_ = 0;
  Clock::duration next_ = std::chrono::milliseconds(20);
};

// Claims runs rather than dividing them beforehand, so that the file is read and written nearly in order.
void Transfer::move_claimed(uint32_t worker) {
  const uint64_t runs = count_runs();
  if (next_run_.load() >= runs) return;
  const WriteSignals held;
  const Presence present(*this);
  Slot slot{};
  Lane* const lane = crew_.lane(worker);
  if ((lane == nullptr || !borrow(slot, *lane)) && !prepare(slot)) return;
  Crowding crowding;
  while (!monitor_.stopped()) {
    const uint64_t index = next_run_.fetch_add(1);
    if (index >= runs) break;
    const Clock::time_point begin = Clock::now();
    Clock::duration waited{};
    if (!fill_at(index, runs, slot) || !apply(slot, worker) || !put(slot, &waited)) return;
    const Clock::duration pause = crowding.note(waited, Clock::now() - begin - waited);
    if (pause != Clock::duration{}) step_aside(pause);
  }
  call_back();
}

void Transfer::move_by_offset(parallel::Plan plan) {
  parallel::parallel_for(plan, plan.workers, 1, [&](uint64_t begin, uint64_t end, uint32_t) {
    for (uint64_t worker = begin; worker < end; ++worker) move_claimed(static_cast<uint32_t>(worker));
  });
}

// Buffers in a ring: run i lives in slot i modulo their number, so that the reader, the workers (who claim runs in
// order) and the writer follow one another around it.
class Ring {
 public:
  Ring(Transfer& transfer, uint64_t slots) : transfer_(transfer), slots_(slots) {}

  // Moves all runs, of which `first` is filled and not the last. False, with nothing done, if no threads can be had.
  bool run(Slot& first, uint32_t workers) {
    slots_[0].slot = std::move(first);
    slots_[0].state = filled;
    const bool started = start(workers);
    if (started) write_runs();
    for (std::thread& thread : threads_) thread.join();
    if (!started) first = std::move(slots_[0].slot);
    return started;
  }

 private:
  enum State : uint32_t { empty, filled, transformed, states, busy };
  struct Place {
    Slot slot{};
    State state = empty;
  };

  // False if there is no reader or no worker. Threads take no run before the lock is given back, so that then nothing
  // has been read or transformed. Fewer workers than wished for will do.
  bool start(uint32_t workers) {
    threads_.reserve(workers + 1);
    const parallel::NoSignals held;
    const std::lock_guard lock(mutex_);
    try {
      threads_.emplace_back([this] { read_runs(); });
      while (threads_.size() <= workers) {
        threads_.emplace_back([this, worker = static_cast<uint32_t>(threads_.size() - 1)] { transform_runs(worker); });
      }
    } catch (const std::exception&) {
      closed_ = threads_.size() < 2;
    }
    return !closed_;
  }

  void read_runs() {
    for (uint64_t i = 1;; ++i) {
      Place* const place = await(i, empty);
      if (place == nullptr) return;
      if (!transfer_.fill(place->slot)) return close();
      const bool last = place->slot.run.last;
      pass(*place, filled);
      if (last) return;
    }
  }

  void transform_runs(uint32_t worker) {
    while (Place* const place = claim()) {
      if (!transfer_.apply(place->slot, worker)) return close();
      pass(*place, transformed);
    }
  }

  void write_runs() {
    for (uint64_t i = 0;; ++i) {
      Place* const place = await(i, transformed);
      if (place == nullptr) return;
      if (!transfer_.put(place->slot)) return close();
      if (place->slot.run.last) return;
      pass(*place, empty);
    }
  }

  // The place of run `index` once it is in `state`; null if the job has failed.
  Place* await(uint64_t index, State state) {
    Place& place = slots_[index % slots_.size()];
    std::unique_lock lock(mutex_);
    while (!closed_ && place.state != state) {
      if (changed_[state].wait_for(lock, patience) == std::cv_status::no_timeout) continue;
      lock.unlock();
      transfer_.monitor().tick();
      if (transfer_.monitor().stopped()) close();
      lock.lock();
    }
    return closed_ ? nullptr : &place;
  }

  // The next run to be transformed; null if there will be none.
  Place* claim() {
    std::unique_lock lock(mutex_);
    Place* place;
    do {
      place = &slots_[next_ % slots_.size()];
      if (closed_ || ended_) return nullptr;
      if (place->state == filled) break;
      changed_[filled].wait(lock);
    } while (true);
    ++next_;
    place->state = busy;
    ended_ = place->slot.run.last;
    if (ended_) changed_[filled].notify_all();
    return place;
  }

  void pass(Place& place, State state) {
    const std::lock_guard lock(mutex_);
    place.state = state;
    changed_[state].notify_one();
  }

  void close() {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    for (std::condition_variable& condition : changed_) condition.notify_all();
  }

  Transfer& transfer_;
  std::vector<Place> slots_;
  std::vector<std::thread> threads_;
  std::mutex mutex_;
  std::condition_variable changed_[states];
  uint64_t next_ = 0;
  bool ended_ = false;   // the last run has been claimed
  bool closed_ = false;  // nothing more is to be done
};

void Transfer::move() {
  const uint64_t most = std::max<uint64_t>(1, memory_limit / (slot_bytes() + out_slot_bytes()));
  if (!sink_.write(0, job_.lead, job_.lead_length, monitor_)) return;
  parallel::Plan plan = crew_.plan();
  if (source_.sized() && sink_.by_offset() && !job_.in_order && plan.workers > 1) {
    // Lanes bring buffers with them.
    const uint64_t others = std::min<uint64_t>(plan.workers - crew_.lanes(), most);
    plan.workers = static_cast<uint32_t>(std::max<uint64_t>(crew_.lanes() + others, 1));
    return move_by_offset(plan);
  }
  plan.workers = static_cast<uint32_t>(std::clamp<uint64_t>(plan.workers, 1, most));
  Slot first{};
  const bool alone = plan.workers == 1 && crew_.lanes() != 0;
  if (alone && !borrow(first, *crew_.lane(0))) first = {};
  if (!fill(first)) return;
  if (plan.workers > 1 && !first.run.last) {
    const uint32_t workers = job_.in_order ? 1 : plan.workers;
    // One more for the reader and one for the writer, and as many again so that none waits for another's pace.
    const uint64_t slots = std::clamp<uint64_t>(2 * uint64_t{workers} + 2, 3, std::max<uint64_t>(3, most));
    if (Ring(*this, slots).run(first, workers)) return;
  }
  move_in_turn(first);
}

void Transfer::conclude() {
  monitor_.tick(true);
  if (monitor_.stopped() || !source_.check_unchanged(monitor_)) return;
  Secret<uint8_t[file_margin]> added;
  const Status status = without_throwing([&] { return work_.finish(transformed_, *kept_, *added); });
  if (status != STOCKADE_OK) return monitor_.fail(status);
  if (job_.added_bytes != 0 && !sink_.write(end_, *added, job_.added_bytes, monitor_)) return;
  if (source_.settle(monitor_.done(), monitor_) && sink_.exists()) sink_.settle(monitor_);
}

Status Transfer::run() {
  monitor_.tick(true);
  if (!monitor_.stopped()) {
    const WriteSignals held;
    const Status status = without_throwing([&] {
      if (crew_.lanes() != 0) work_.prepare_lanes();
      move();
      return STOCKADE_OK;
    });
    if (status != STOCKADE_OK) monitor_.fail(status);
    if (!monitor_.stopped()) conclude();
  }
  int error;
  const Status status = monitor_.failure(&error);
  // What the parent has written is the parent's.
  if (status != STOCKADE_OK && !monitor_.in_child()) sink_.take_back();
  job_.in_length = monitor_.done();
  job_.out_length = sink_.written();
  if (status == STOCKADE_ERROR_IO) errno = error;
  return status;
}

// The workers of a job. MODE, and those of Crew::gather.
Status gather(Crew& crew, const FileJob& job, const FileWork& work, const Source& source, const config::EngineChoice& engine) {
  const uint64_t length = source.sized() ? source.length() : unknown_bytes;
  const uint64_t runs = source.sized() ? last_run(length, job.run_bytes) + 1 : unknown_bytes;
  // Whatever the cipher: files of one are as quick to read and to write as those of another. Experience is of jobs that write,
  // which a file system does not let many do at once; those that only read are as quick as there are cores.
  const parallel::Task task{tune::Operation::files, job.discards_output ? 0U : 256U, length, runs, true};
  if (!config::wants_gpus(engine.kind) || work.lane_use() == LaneUse::worker) return crew.gather(engine, task, Home::file);
  if (work.lane_use() == LaneUse::none && engine.kind == config::Kind::cuda) return STOCKADE_ERROR_MODE;
  return crew.gather({config::Kind::automatic, engine.threads}, task, Home::file);
}

// How many of the job's runs are done as one: as long as lanes like them, but all workers shall have some.
uint64_t runs_at_once(const Crew& crew, const FileJob& job, const Source& source) {
  uint64_t longest = 1;
  if (crew.lanes() != 0) {
    longest = Lane::capacity(crew.piece_bytes(job.run_bytes)) / std::max(job.run_bytes, out_run_bytes(job));
  } else if (crew.plan().row != nullptr && crew.plan().row->choice.batch != 0) {
    longest = crew.plan().row->choice.batch;
  }
  if (longest == 1 || !source.sized()) return 1;
  return std::max<uint64_t>(1, std::min(longest, source.length() / crew.plan().workers / job.run_bytes));
}

}  // namespace

bool same_file(const struct stat& a, const struct stat& b) {
  if (S_ISBLK(a.st_mode) && S_ISBLK(b.st_mode)) return a.st_rdev == b.st_rdev;
  return (S_ISREG(a.st_mode) || S_ISFIFO(a.st_mode)) && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

Status run_file(FileJob& job, FileWork& work, const config::EngineChoice& engine) {
  job.in_length = 0;
  job.out_length = 0;
  Source source;
  Sink sink;
  Status status = source.open(job);
  if (status == STOCKADE_OK) status = sink.open(job);
  if (status != STOCKADE_OK) return status;
  if (job.only_regular_output && !sink.regular()) return STOCKADE_ERROR_MODE;
  if (sink.exists() && same_file(source.stat(), sink.stat())) return STOCKADE_ERROR_OVERLAP;
  if (source.sized()) status = work.check(source.length());
  if (status == STOCKADE_OK && job.only_regular_output) status = sink.check_revocable();
  Crew crew;
  if (status == STOCKADE_OK) status = gather(crew, job, work, source, engine);
  if (status != STOCKADE_OK) return status;
  const uint64_t at_once = runs_at_once(crew, job, source);
  FileJob wider = job;
  wider.run_bytes *= at_once;
  wider.out_run_bytes *= at_once;
  status = Transfer(wider, work, source, sink, crew).run();
  job.in_length = wider.in_length;
  job.out_length = wider.out_length;
  return status;
}

}  // namespace stockade::engine
