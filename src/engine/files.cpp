#include "engine/files.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/stat.h>
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

#include "base/secret.h"

namespace stockade::engine {
namespace {

using Clock = std::chrono::steady_clock;

// How long a thread may sleep before it looks whether the job has been stopped.
constexpr std::chrono::milliseconds patience{100};
// What a job with an input of unknown length is planned as.
constexpr uint64_t unknown_bytes = uint64_t{1} << 40;
// All buffers of a job together, unless that is less than three. Only XTS data units of megabytes come near.
constexpr uint64_t memory_limit = uint64_t{256} << 20;
// Keeps the data of a buffer aligned behind the file_margin bytes before it.
constexpr uint64_t lead = 64;

// What the threads of a job share: its first failure, and how far it has come.
class Monitor {
 public:
  Monitor(const FileJob& job, uint64_t total)
      : progress_(job.progress), context_(job.progress_context), interval_(job.progress_interval), total_(total) {}

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
    if (progress_(context_, done(), total_) != 0) fail(STOCKADE_ERROR_CANCELLED);
  }

 private:
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

// Holds back the signals that a failing write raises; errno says the same without ending the process.
class WriteSignals {
 public:
  WriteSignals() {
    sigemptyset(&raised_);
    sigset_t pending;
    sigpending(&pending);
    for (const int number : {SIGPIPE, SIGXFSZ}) {
      if (sigismember(&pending, number) == 0) sigaddset(&raised_, number);
    }
    pthread_sigmask(SIG_BLOCK, &raised_, &before_);
  }
  WriteSignals(const WriteSignals&) = delete;
  WriteSignals& operator=(const WriteSignals&) = delete;
  ~WriteSignals() {
    const timespec at_once{};
    while (sigtimedwait(&raised_, nullptr, &at_once) > 0) {
    }
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }

 private:
  sigset_t raised_, before_;
};

// Threads that are started while this lives leave all signals to the threads of the host, but for those that report a
// fault in the thread itself.
class NoSignals {
 public:
  NoSignals() {
    sigset_t all;
    sigfillset(&all);
    for (const int number : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT}) sigdelset(&all, number);
    pthread_sigmask(SIG_BLOCK, &all, &before_);
  }
  NoSignals(const NoSignals&) = delete;
  NoSignals& operator=(const NoSignals&) = delete;
  ~NoSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_;
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
  Status open(int fd) {
    fd_ = fd;
    if (::fstat(fd, &stat_) != 0) return STOCKADE_ERROR_IO;
    regular_ = S_ISREG(stat_.st_mode);
    if (!regular_) return STOCKADE_OK;
    const off_t position = ::lseek(fd, 0, SEEK_CUR);
    if (position < 0) return STOCKADE_ERROR_IO;
    start_ = static_cast<uint64_t>(position);
    const auto size = static_cast<uint64_t>(stat_.st_size);
    length_ = size > start_ ? size - start_ : 0;
    return STOCKADE_OK;
  }

  const struct stat& stat() const { return stat_; }
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

  bool read_stream(uint8_t* data, uint64_t length, uint64_t* got, Monitor& monitor) const {
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
  uint64_t start_ = 0;
  uint64_t length_ = 0;
  uint64_t next_ = 0;
};

// The end that is written.
class Sink {
 public:
  // IO.
  Status open(int fd) {
    fd_ = fd;
    if (::fstat(fd, &stat_) != 0) return STOCKADE_ERROR_IO;
    regular_ = S_ISREG(stat_.st_mode);
    if (!regular_) return STOCKADE_OK;
    const int flags = ::fcntl(fd, F_GETFL);
    position_ = ::lseek(fd, 0, SEEK_CUR);
    if (flags < 0 || position_ < 0) return STOCKADE_ERROR_IO;
    // In append mode every write goes to the end of the file, pwrite's too.
    by_offset_ = (flags & O_APPEND) == 0;
    start_ = by_offset_ ? position_ : stat_.st_size;
    return STOCKADE_OK;
  }

  const struct stat& stat() const { return stat_; }
  bool regular() const { return regular_; }
  bool by_offset() const { return by_offset_; }
  uint64_t written() const { return written_.load(std::memory_order_relaxed); }

  // IO if the file could not be cut back later. Where it ends stays the same.
  Status check_revocable() const { return ::ftruncate(fd_, stat_.st_size) == 0 ? STOCKADE_OK : STOCKADE_ERROR_IO; }

  // Unless by_offset(), `offset` is what has been written so far.
  bool write(uint64_t offset, const uint8_t* data, uint64_t length, Monitor& monitor) {
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
    if (by_offset_) return ::pwrite(fd_, data, length, start_ + static_cast<off_t>(offset));
    return ::write(fd_, data, length);
  }

  int fd_ = -1;
  struct stat stat_ {};
  bool regular_ = false;
  bool by_offset_ = false;
  off_t position_ = 0;
  off_t start_ = 0;
  std::atomic<bool> touched_{false};
  std::atomic<uint64_t> written_{0};
};

// Reading one end would meet what is written to the other.
bool same_file(const struct stat& a, const struct stat& b) {
  if (S_ISBLK(a.st_mode) && S_ISBLK(b.st_mode)) return a.st_rdev == b.st_rdev;
  return (S_ISREG(a.st_mode) || S_ISFIFO(a.st_mode)) && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

// A buffer with the run that it holds.
struct Slot {
  SecretBuffer memory;
  FileRun run;
  uint64_t taken;  // bytes of the input in this run, kept ones included
};

// One job: the three stages that a run goes through, and the ways to order them.
class Transfer {
 public:
  Transfer(FileJob& job, FileWork& work, Source& source, Sink& sink)
      : job_(job), work_(work), source_(source), sink_(sink), monitor_(job, source.length()) {}

  Status run(const Engine& engine);

  // The stages. False if the job has failed; the monitor knows why.
  bool fill(Slot& slot);
  bool apply(Slot& slot);
  bool put(Slot& slot);

  Monitor& monitor() { return monitor_; }

 private:
  // The most that one run can hold.
  uint64_t capacity() const {
    const uint64_t most = job_.run_bytes + file_reserve;
    return source_.sized() ? std::min(most, source_.length()) : most;
  }
  uint64_t slot_bytes() const { return lead + capacity() + file_margin; }
  // Of a sized source: as many as `fill` would make.
  uint64_t count_runs() const {
    return 1 + (source_.length() > file_reserve ? (source_.length() - file_reserve) / job_.run_bytes : 0);
  }
  bool prepare(Slot& slot);
  bool fill_at(uint64_t index, uint64_t runs, Slot& slot);
  void move(const Engine& engine);
  void move_in_turn(Slot& slot);
  void move_by_offset(Plan plan);
  void move_claimed(std::atomic<uint64_t>& next, uint64_t runs);
  void conclude();

  FileJob& job_;
  FileWork& work_;
  Source& source_;
  Sink& sink_;
  Monitor monitor_;

  // Of the reading side: where the next run begins, and the bytes read ahead of it behind those before it.
  uint64_t offset_ = 0;
  uint64_t ahead_ = 0;
  Secret<uint8_t[file_margin + file_reserve]> carry_;

  // Of the last run.
  uint64_t transformed_ = 0;
  uint64_t end_ = 0;
  Secret<uint8_t[file_margin]> kept_;
};

// Calls what may allocate in the standard library.
template <typename Callable>
Status guarded(Callable&& callable) {
  try {
    return callable();
  } catch (const std::bad_alloc&) {
    return STOCKADE_ERROR_MEMORY;
  }
}

bool Transfer::prepare(Slot& slot) {
  if (slot.memory.data() == nullptr && !slot.memory.allocate(slot_bytes())) {
    monitor_.fail(STOCKADE_ERROR_MEMORY);
    return false;
  }
  slot.run.data = slot.memory.data() + lead;
  return true;
}

// Reads file_reserve bytes further than a run goes, which shows whether it is the last one.
bool Transfer::fill(Slot& slot) {
  if (!prepare(slot)) return false;
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
  const uint64_t before = index == 0 ? 0 : file_margin;
  return source_.read_at(run.offset - before, run.data - before, before + run.length, monitor_);
}

bool Transfer::apply(Slot& slot) {
  FileRun& run = slot.run;
  const Status status = guarded([&] {
    if (run.last) {
      const Status checked = source_.sized() ? STOCKADE_OK : work_.check(run.offset + run.length);
      if (checked != STOCKADE_OK) return checked;
      run.length -= job_.kept_bytes;
      std::memcpy(*kept_, run.data + run.length, job_.kept_bytes);
      transformed_ = run.offset + run.length;
    }
    return work_.transform(run);
  });
  if (status != STOCKADE_OK) monitor_.fail(status);
  if (run.last) end_ = run.offset + run.length;
  return status == STOCKADE_OK;
}

bool Transfer::put(Slot& slot) {
  if (!sink_.write(slot.run.offset, slot.run.data, slot.run.length, monitor_)) return false;
  monitor_.add(slot.taken);
  return !monitor_.stopped();
}

// `slot` is filled.
void Transfer::move_in_turn(Slot& slot) {
  while (apply(slot) && put(slot) && !slot.run.last && fill(slot)) {
  }
}

// Claims runs rather than dividing them beforehand, so that the file is read and written nearly in order.
void Transfer::move_claimed(std::atomic<uint64_t>& next, uint64_t runs) {
  const WriteSignals held;
  Slot slot{};
  if (!prepare(slot)) return;
  while (!monitor_.stopped()) {
    const uint64_t index = next.fetch_add(1, std::memory_order_relaxed);
    if (index >= runs || !fill_at(index, runs, slot) || !apply(slot) || !put(slot)) return;
  }
}

void Transfer::move_by_offset(Plan plan) {
  const uint64_t runs = count_runs();
  std::atomic<uint64_t> next{0};
  engine::run(plan, plan.workers, 1, [&](uint64_t, uint64_t, uint32_t) { move_claimed(next, runs); });
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
    const NoSignals held;
    const std::lock_guard lock(mutex_);
    try {
      threads_.emplace_back([this] { read_runs(); });
      while (threads_.size() <= workers) threads_.emplace_back([this] { transform_runs(); });
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

  void transform_runs() {
    while (Place* const place = claim()) {
      if (!transfer_.apply(place->slot)) return close();
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

void Transfer::move(const Engine& engine) {
  const bool sized = source_.sized();
  const uint64_t most = std::max<uint64_t>(1, memory_limit / slot_bytes());
  Plan plan = make_plan(engine, sized ? source_.length() : unknown_bytes, sized ? count_runs() : unknown_bytes, true);
  plan.workers = static_cast<uint32_t>(std::clamp<uint64_t>(plan.workers, 1, most));
  if (plan.workers > 1 && sized && sink_.by_offset() && !job_.in_order) return move_by_offset(plan);
  Slot first{};
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
  const Status status = guarded([&] { return work_.finish(transformed_, *kept_, *added); });
  if (status != STOCKADE_OK) return monitor_.fail(status);
  if (!sink_.write(end_, *added, job_.added_bytes, monitor_)) return;
  if (source_.settle(monitor_.done(), monitor_)) sink_.settle(monitor_);
}

Status Transfer::run(const Engine& engine) {
  monitor_.tick(true);
  if (!monitor_.stopped()) {
    const WriteSignals held;
    const Status status = guarded([&] {
      move(engine);
      return STOCKADE_OK;
    });
    if (status != STOCKADE_OK) monitor_.fail(status);
    if (!monitor_.stopped()) conclude();
  }
  int error;
  const Status status = monitor_.failure(&error);
  if (status != STOCKADE_OK) sink_.take_back();
  job_.in_length = monitor_.done();
  job_.out_length = sink_.written();
  if (status == STOCKADE_ERROR_IO) errno = error;
  return status;
}

}  // namespace

Status run_file(FileJob& job, FileWork& work, const Engine& engine) {
  job.in_length = 0;
  job.out_length = 0;
  Source source;
  Sink sink;
  Status status = source.open(job.in_fd);
  if (status == STOCKADE_OK) status = sink.open(job.out_fd);
  if (status != STOCKADE_OK) return status;
  if (job.only_regular_output && !sink.regular()) return STOCKADE_ERROR_MODE;
  if (same_file(source.stat(), sink.stat())) return STOCKADE_ERROR_OVERLAP;
  if (source.sized()) status = work.check(source.length());
  if (status == STOCKADE_OK && job.only_regular_output) status = sink.check_revocable();
  return status == STOCKADE_OK ? Transfer(job, work, source, sink).run(engine) : status;
}

}  // namespace stockade::engine
