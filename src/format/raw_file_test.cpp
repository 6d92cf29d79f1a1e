#include "format/raw_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <functional>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "base/sanitizers.h"
#include "cipher/message.h"

namespace stockade::format {
namespace {

using Bytes = std::vector<uint8_t>;

constexpr config::EngineChoice serial_engine{config::Kind::serial, 1};
constexpr config::EngineChoice three_threads{config::Kind::threads, 3};
// Small enough for files of many segments, and progress after each.
constexpr uint64_t small_segment = 256;
constexpr FilePace small_pace{small_segment, 0};

Bytes random_bytes(uint64_t length) {
  static std::mt19937_64 generator{std::random_device{}()};
  Bytes bytes(length);
  for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(generator());
  return bytes;
}

class Fd {
 public:
  explicit Fd(int fd) : fd_(fd) { EXPECT_GE(fd, 0) << std::strerror(errno); }
  Fd(Fd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Fd& operator=(Fd&&) = delete;
  ~Fd() { close(); }
  void close() {
    if (fd_ >= 0) ::close(fd_);
    fd_ = -1;
  }
  int get() const { return fd_; }

 private:
  int fd_;
};

void write_all(int fd, const uint8_t* data, uint64_t length, uint64_t piece) {
  while (length != 0) {
    const ssize_t n = ::write(fd, data, std::min(length, piece));
    if (n < 0) return;  // the other end has gone
    data += n;
    length -= static_cast<uint64_t>(n);
  }
}

Bytes read_all(int fd) {
  Bytes all;
  uint8_t piece[1000];
  for (ssize_t n; (n = ::read(fd, piece, sizeof piece)) > 0;) all.insert(all.end(), piece, piece + n);
  return all;
}

// A regular file without a name.
Fd make_file(const Bytes& content) {
  Fd file(::memfd_create("raw_file_test", MFD_CLOEXEC));
  write_all(file.get(), content.data(), content.size(), content.size());
  EXPECT_EQ(0, ::lseek(file.get(), 0, SEEK_SET));
  return file;
}

Bytes content_of(int fd) {
  struct stat stat;
  EXPECT_EQ(0, ::fstat(fd, &stat));
  Bytes content(static_cast<uint64_t>(stat.st_size));
  EXPECT_EQ(static_cast<ssize_t>(content.size()), ::pread(fd, content.data(), content.size(), 0));
  return content;
}

off_t position_of(int fd) { return ::lseek(fd, 0, SEEK_CUR); }

struct Pipe {
  Fd out, in;  // to read from, to write to
  static Pipe make() {
    int ends[2];
    EXPECT_EQ(0, ::pipe2(ends, O_CLOEXEC));
    return {Fd(ends[0]), Fd(ends[1])};
  }
};

// What a file is run with.
struct Case {
  stockade_mode mode;
  stockade_padding padding = STOCKADE_PADDING_NONE;
  uint64_t unit = 0;

  std::string name() const {
    static const char* const names[] = {"ecb", "cbc", "cfb", "ofb", "ctr", "xts", "gcm"};
    return std::string(names[mode]) + (padding == STOCKADE_PADDING_PKCS7 ? "_padded" : "") +
           (unit != 0 ? "_unit" + std::to_string(unit) : "");
  }
};

// A fresh key and IV, with the one-message calls as the oracle.
class Subject {
 public:
  explicit Subject(const Case& subject)
      : case_(subject),
        iv_(random_bytes(subject.mode == STOCKADE_ECB   ? 0
                         : subject.mode == STOCKADE_GCM ? 13
                                                        : 16)) {
    // A tweak and a counter whose low words are about to carry.
    if (subject.mode == STOCKADE_XTS) std::fill_n(iv_.begin(), 8, uint8_t{0xff});
    if (subject.mode == STOCKADE_CTR) std::fill(iv_.begin() + 1, iv_.end(), uint8_t{0xff});
    if (subject.mode == STOCKADE_GCM) aad_ = random_bytes(21);
    const Bytes bytes = random_bytes(subject.mode == STOCKADE_XTS ? 64 : 16);
    EXPECT_EQ(STOCKADE_OK, cipher::make_key(key_, subject.mode, bytes.data(), bytes.size(), nullptr));
  }

  stockade_raw_options options() const {
    stockade_raw_options options{};
    options.struct_size = sizeof options;
    options.iv = iv_.data();
    options.iv_length = iv_.size();
    options.aad = aad_.data();
    options.aad_length = aad_.size();
    options.padding = case_.padding;
    options.unit = case_.unit;
    return options;
  }

  Status crypt(stockade_direction direction, int in, int out, stockade_raw_options& options,
               const config::EngineChoice& engine, const FilePace& pace = small_pace) const {
    return crypt_fd(key_, direction, in, out, options, engine, pace);
  }

  // Whole blocks without padding, under the same key.
  Bytes encrypt_blocks(const Bytes& plain) const {
    Bytes cipher(plain.size());
    EXPECT_EQ(STOCKADE_OK, cipher::crypt(key_, STOCKADE_ENCRYPT, iv_.data(), iv_.size(), plain.data(), plain.size(),
                                         cipher.data(), serial_engine));
    return cipher;
  }

  // What the file should become.
  Status expect(stockade_direction direction, const Bytes& in, Bytes& out) const {
    const bool encrypt = direction == STOCKADE_ENCRYPT;
    const uint8_t* const iv = iv_.data();
    out.assign(in.size() + 16, 0);
    uint64_t length = in.size();
    Status status;
    if (case_.mode == STOCKADE_GCM && encrypt) {
      status = cipher::seal(key_, iv, iv_.size(), aad_.data(), aad_.size(), in.data(), length, out.data(),
                            out.data() + length, 16, serial_engine);
      length += 16;
    } else if (case_.mode == STOCKADE_GCM) {
      if (length < 16) return STOCKADE_ERROR_AUTHENTICATION;
      length -= 16;
      status = cipher::open(key_, iv, iv_.size(), aad_.data(), aad_.size(), in.data(), length, out.data(),
                            in.data() + length, 16, serial_engine);
    } else if (case_.padding == STOCKADE_PADDING_PKCS7) {
      const auto run = encrypt ? cipher::encrypt_padded : cipher::decrypt_padded;
      status = run(key_, iv, iv_.size(), in.data(), length, out.data(), out.size(), &length, serial_engine);
    } else if (case_.unit != 0) {
      status = cipher::crypt_units(key_, direction, iv, iv_.size(), case_.unit, in.data(), length, out.data(),
                                   serial_engine);
    } else {
      status = cipher::crypt(key_, direction, iv, iv_.size(), in.data(), length, out.data(), serial_engine);
    }
    out.resize(length);
    return status;
  }

 private:
  const Case case_;
  cipher::CipherKey key_;
  Bytes iv_, aad_;
};

enum class End { regular, pipe };

// One file through the pipeline: the input behind 13 bytes that are not its own, the output behind 7.
class FileTrip {
 public:
  Status status = STOCKADE_OK;
  Bytes out;
  stockade_raw_options options{};

  FileTrip(const Subject& subject, stockade_direction direction, const Bytes& in, End from, End to,
           const config::EngineChoice& engine, int out_flags = 0) {
    options = subject.options();
    std::optional<Pipe> feed, drain;
    std::thread feeder, drainer;
    const Bytes strange = random_bytes(13);
    Bytes whole = strange;
    whole.insert(whole.end(), in.begin(), in.end());
    const Fd in_file = make_file(whole), out_file = make_file({1, 2, 3, 4, 5, 6, 7});
    ::lseek(in_file.get(), 13, SEEK_SET);
    if (out_flags == 0) ::lseek(out_file.get(), 7, SEEK_SET);
    EXPECT_EQ(0, ::fcntl(out_file.get(), F_SETFL, out_flags));
    if (from == End::pipe) {
      feed.emplace(Pipe::make());
      feeder = std::thread([&] {
        write_all(feed->in.get(), in.data(), in.size(), 77);
        feed->in.close();
      });
    }
    if (to == End::pipe) {
      drain.emplace(Pipe::make());
      drainer = std::thread([&] { out = read_all(drain->out.get()); });
    }
    status = subject.crypt(direction, feed ? feed->out.get() : in_file.get(), drain ? drain->in.get() : out_file.get(),
                           options, engine);
    // A job that has failed may have left bytes in the pipe.
    if (feed) read_all(feed->out.get());
    if (feed) feeder.join();
    if (drain) drain->in.close();
    if (drain) drainer.join();
    if (from == End::regular) check_input(in_file.get(), whole.size());
    if (to == End::regular) take_output(out_file.get(), out_flags);
  }

 private:
  void check_input(int fd, uint64_t size) const {
    EXPECT_EQ(status == STOCKADE_OK ? static_cast<off_t>(size) : 13, position_of(fd));
  }

  void take_output(int fd, int flags) {
    out = content_of(fd);
    ASSERT_LE(7U, out.size());
    EXPECT_EQ(0, std::memcmp(out.data(), "\1\2\3\4\5\6\7", 7));
    if (status == STOCKADE_OK) {
      EXPECT_EQ(static_cast<off_t>(out.size()), position_of(fd));
    } else if (flags == 0) {
      EXPECT_EQ(7, position_of(fd));
    }
    out.erase(out.begin(), out.begin() + 7);
  }
};

class RawFile : public testing::TestWithParam<Case> {
 protected:
  static std::vector<uint64_t> lengths() {
    constexpr uint64_t run = small_segment;
    std::vector<uint64_t> lengths = {0,
                                     1,
                                     15,
                                     16,
                                     17,
                                     31,
                                     32,
                                     33,
                                     47,
                                     run - 16,
                                     run - 1,
                                     run,
                                     run + 1,
                                     run + 16,
                                     run + 31,
                                     run + 32,
                                     run + 33,
                                     2 * run,
                                     5 * run + 7,
                                     6 * run + 32,
                                     9 * run + 48,
                                     20 * run + 160,
                                     70001};
    // Runs and units need not agree.
    for (const uint64_t unit : {uint64_t{16}, uint64_t{100}, uint64_t{512}, uint64_t{1000}}) {
      for (const uint64_t more : {0, 1, 15, 16, 17, 33}) lengths.push_back(3 * unit + more);
    }
    return lengths;
  }

  static void check(const Subject& subject, stockade_direction direction, const Bytes& in) {
    Bytes expected;
    const Status status = subject.expect(direction, in, expected);
    for (const auto& [from, to] : {std::pair{End::regular, End::regular}, std::pair{End::pipe, End::regular},
                                   std::pair{End::regular, End::pipe}, std::pair{End::pipe, End::pipe}}) {
      const bool refused = GetParam().mode == STOCKADE_GCM && direction == STOCKADE_DECRYPT && to == End::pipe;
      for (const config::EngineChoice& engine : {serial_engine, three_threads}) {
        SCOPED_TRACE(testing::Message() << in.size() << " bytes, " << (direction == STOCKADE_ENCRYPT ? "en" : "de")
                                        << "crypted, " << (from == End::pipe ? "pipe" : "regular") << " to "
                                        << (to == End::pipe ? "pipe" : "regular") << ", threads " << engine.threads);
        const FileTrip trip(subject, direction, in, from, to, engine);
        ASSERT_EQ(refused ? STOCKADE_ERROR_MODE : status, trip.status);
        if (trip.status == STOCKADE_OK) {
          ASSERT_EQ(expected, trip.out);
          EXPECT_EQ(in.size(), trip.options.in_length);
          EXPECT_EQ(expected.size(), trip.options.out_length);
        } else if (to == End::regular) {
          EXPECT_TRUE(trip.out.empty());
          EXPECT_EQ(0U, trip.options.out_length);
        }
      }
    }
  }
};

TEST_P(RawFile, EqualsOneMessageCalls) {
  for (const uint64_t length : lengths()) {
    const Subject subject(GetParam());
    const Bytes plain = random_bytes(length);
    Bytes cipher;
    check(subject, STOCKADE_ENCRYPT, plain);
    const Status status = subject.expect(STOCKADE_ENCRYPT, plain, cipher);
    check(subject, STOCKADE_DECRYPT, status == STOCKADE_OK ? cipher : plain);
    if (HasFatalFailure()) return;
  }
}

TEST_P(RawFile, Appends) {
  const Subject subject(GetParam());
  for (const config::EngineChoice& engine : {serial_engine, three_threads}) {
    const Bytes plain = random_bytes(8000);
    Bytes cipher;
    ASSERT_EQ(STOCKADE_OK, subject.expect(STOCKADE_ENCRYPT, plain, cipher));
    const FileTrip trip(subject, STOCKADE_ENCRYPT, plain, End::regular, End::regular, engine, O_APPEND);
    EXPECT_EQ(STOCKADE_OK, trip.status);
    EXPECT_EQ(cipher, trip.out);
    const FileTrip back(subject, STOCKADE_DECRYPT, cipher, End::pipe, End::regular, engine, O_APPEND);
    EXPECT_EQ(STOCKADE_OK, back.status);
    EXPECT_EQ(plain, back.out);
  }
}

// The default pace, with files about and above a segment.
TEST_P(RawFile, RunsOfTheDefaultSize) {
  const Subject subject(GetParam());
  const config::EngineChoice automatic{config::Kind::automatic, 2};
  for (const uint64_t length : {cipher::default_segment_bytes, 5 * cipher::default_segment_bytes + 4000}) {
    const Bytes plain = random_bytes(length);
    Bytes cipher;
    ASSERT_EQ(STOCKADE_OK, subject.expect(STOCKADE_ENCRYPT, plain, cipher));
    const Fd in = make_file(plain), middle = make_file({}), out = make_file({});
    stockade_raw_options options = subject.options();
    ASSERT_EQ(STOCKADE_OK, subject.crypt(STOCKADE_ENCRYPT, in.get(), middle.get(), options, automatic, FilePace{}));
    EXPECT_EQ(cipher, content_of(middle.get()));
    ::lseek(middle.get(), 0, SEEK_SET);
    ASSERT_EQ(STOCKADE_OK, subject.crypt(STOCKADE_DECRYPT, middle.get(), out.get(), options, automatic, FilePace{}));
    EXPECT_EQ(plain, content_of(out.get()));
  }
}

INSTANTIATE_TEST_SUITE_P(Modes, RawFile,
                         testing::Values(Case{STOCKADE_ECB}, Case{STOCKADE_ECB, STOCKADE_PADDING_PKCS7},
                                         Case{STOCKADE_CBC}, Case{STOCKADE_CBC, STOCKADE_PADDING_PKCS7},
                                         Case{STOCKADE_CFB}, Case{STOCKADE_OFB}, Case{STOCKADE_CTR}, Case{STOCKADE_XTS},
                                         Case{STOCKADE_XTS, STOCKADE_PADDING_NONE, 16},
                                         Case{STOCKADE_XTS, STOCKADE_PADDING_NONE, 100},
                                         Case{STOCKADE_XTS, STOCKADE_PADDING_NONE, 512},
                                         Case{STOCKADE_XTS, STOCKADE_PADDING_NONE, 1000}, Case{STOCKADE_GCM}),
                         [](const testing::TestParamInfo<Case>& set) { return set.param.name(); });

// Jobs that fail, each in all three ways that a file can take.
struct Way {
  const char* name;
  stockade_mode mode;  // CTR can be split, OFB goes through the ring of buffers
  config::EngineChoice engine;
};

class RawFileFailure : public testing::TestWithParam<Way> {
 protected:
  static constexpr uint64_t length = 50000;
  const Subject subject_{Case{GetParam().mode}};
  const Bytes plain_ = random_bytes(length);
  stockade_raw_options options_ = subject_.options();
  std::function<int(uint64_t, uint64_t)> on_progress_;
  FilePace pace_ = small_pace;

  Status encrypt(int in, int out) {
    options_.progress = [](void* context, uint64_t done, uint64_t total) {
      auto* const test = static_cast<RawFileFailure*>(context);
      return test->on_progress_ ? test->on_progress_(done, total) : 0;
    };
    options_.progress_context = this;
    errno = 0;
    return subject_.crypt(STOCKADE_ENCRYPT, in, out, options_, GetParam().engine, pace_);
  }

  // Whatever was there before, and nothing of the job.
  static void expect_taken_back(const Fd& out, const Bytes& before) { EXPECT_EQ(before, content_of(out.get())); }
};

TEST_P(RawFileFailure, FullDevice) {
  const Fd in = make_file(plain_);
  const Fd full(::open("/dev/full", O_WRONLY | O_CLOEXEC));
  EXPECT_EQ(STOCKADE_ERROR_IO, encrypt(in.get(), full.get()));
  EXPECT_EQ(ENOSPC, errno);
  EXPECT_EQ(0, position_of(in.get()));
}

TEST_P(RawFileFailure, FileSizeLimit) {
  const Fd in = make_file(plain_);
  const Fd out = make_file({9, 9, 9});
  ::lseek(out.get(), 3, SEEK_SET);
  rlimit before;
  ASSERT_EQ(0, ::getrlimit(RLIMIT_FSIZE, &before));
  rlimit limited = before;
  limited.rlim_cur = 30001;
  ASSERT_EQ(0, ::setrlimit(RLIMIT_FSIZE, &limited));
  // SIGXFSZ has its default disposition, which would end the process.
  const Status status = encrypt(in.get(), out.get());
  const int error = errno;
  ASSERT_EQ(0, ::setrlimit(RLIMIT_FSIZE, &before));
  EXPECT_EQ(STOCKADE_ERROR_IO, status);
  EXPECT_EQ(EFBIG, error);
  EXPECT_EQ(0U, options_.out_length);
  expect_taken_back(out, {9, 9, 9});
}

TEST_P(RawFileFailure, ClosedPipe) {
  const Fd in = make_file(plain_);
  Pipe pipe = Pipe::make();
  pipe.out.close();
  EXPECT_EQ(STOCKADE_ERROR_IO, encrypt(in.get(), pipe.in.get()));
  EXPECT_EQ(EPIPE, errno);
  sigset_t pending;
  ASSERT_EQ(0, ::sigpending(&pending));
  EXPECT_EQ(0, sigismember(&pending, SIGPIPE));
}

// The writer fails while the reader waits for an input that neither comes nor ends.
TEST_P(RawFileFailure, ClosedPipeWithStalledInput) {
  Pipe feed = Pipe::make(), drain = Pipe::make();
  write_all(feed.in.get(), plain_.data(), 10 * small_segment, plain_.size());
  drain.out.close();
  EXPECT_EQ(STOCKADE_ERROR_IO, encrypt(feed.out.get(), drain.in.get()));
  EXPECT_EQ(EPIPE, errno);
}

TEST_P(RawFileFailure, UnreadableInput) {
  const Fd out = make_file({});
  const Fd directory(::open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  EXPECT_EQ(STOCKADE_ERROR_IO, encrypt(directory.get(), out.get()));
  EXPECT_EQ(EISDIR, errno);
  EXPECT_EQ(STOCKADE_ERROR_IO, encrypt(-1, out.get()));
  EXPECT_EQ(EBADF, errno);
  const Fd in = make_file(plain_);
  EXPECT_EQ(STOCKADE_ERROR_IO, encrypt(in.get(), -1));
  EXPECT_EQ(EBADF, errno);
}

TEST_P(RawFileFailure, WrongDirectionOfDescriptors) {
  const Fd both = make_file(plain_), out = make_file({});
  const std::string path = "/proc/self/fd/" + std::to_string(both.get());
  const Fd write_only(::open(path.c_str(), O_WRONLY | O_CLOEXEC)),
      read_only(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  EXPECT_EQ(STOCKADE_ERROR_IO, encrypt(write_only.get(), out.get()));
  EXPECT_EQ(EBADF, errno);
  const Fd in = make_file(plain_);
  EXPECT_EQ(STOCKADE_ERROR_IO, encrypt(in.get(), read_only.get()));
  EXPECT_EQ(EBADF, errno);
  EXPECT_EQ(plain_, content_of(both.get()));
}

TEST_P(RawFileFailure, ShrinkingInput) {
  const Fd in = make_file(plain_), out = make_file({});
  on_progress_ = [&](uint64_t, uint64_t) { return ::ftruncate(in.get(), length / 2); };
  EXPECT_EQ(STOCKADE_ERROR_INPUT_CHANGED, encrypt(in.get(), out.get()));
  expect_taken_back(out, {});
}

TEST_P(RawFileFailure, GrowingInput) {
  const Fd in = make_file(plain_), out = make_file({});
  on_progress_ = [&](uint64_t, uint64_t) { return ::ftruncate(in.get(), length + 1); };
  EXPECT_EQ(STOCKADE_ERROR_INPUT_CHANGED, encrypt(in.get(), out.get()));
  expect_taken_back(out, {});
}

TEST_P(RawFileFailure, OverwrittenInput) {
  const Fd in = make_file(plain_), out = make_file({});
  // Longer than the granularity of file times.
  std::this_thread::sleep_for(std::chrono::milliseconds(30));
  on_progress_ = [&](uint64_t, uint64_t) { return ::pwrite(in.get(), "x", 1, length / 2) == 1 ? 0 : 1; };
  EXPECT_EQ(STOCKADE_ERROR_INPUT_CHANGED, encrypt(in.get(), out.get()));
  expect_taken_back(out, {});
}

TEST_P(RawFileFailure, Cancel) {
  for (const uint64_t after : {uint64_t{0}, length / 2, length}) {
    const Fd in = make_file(plain_), out = make_file({5});
    ::lseek(out.get(), 1, SEEK_SET);
    std::atomic<uint32_t> calls_after{0};
    on_progress_ = [&](uint64_t done, uint64_t) { return done >= after ? static_cast<int>(++calls_after) : 0; };
    EXPECT_EQ(STOCKADE_ERROR_CANCELLED, encrypt(in.get(), out.get()));
    EXPECT_EQ(1U, calls_after) << "called again after it asked to stop";
    expect_taken_back(out, {5});
  }
}

TEST_P(RawFileFailure, CancelWithStalledInput) {
  Pipe feed = Pipe::make();
  const Fd out = make_file({});
  write_all(feed.in.get(), plain_.data(), 10 * small_segment, plain_.size());
  const auto start = std::chrono::steady_clock::now();
  on_progress_ = [&](uint64_t, uint64_t total) {
    EXPECT_EQ(0U, total);
    return std::chrono::steady_clock::now() - start > std::chrono::milliseconds(50);
  };
  EXPECT_EQ(STOCKADE_ERROR_CANCELLED, encrypt(feed.out.get(), out.get()));
  expect_taken_back(out, {});
}

// A signal interrupts a write to a pipe that nobody empties, and the callback then asks to stop.
TEST_P(RawFileFailure, CancelWithStalledOutput) {
  static std::atomic<bool> interrupted;
  interrupted = false;
  struct sigaction action {
  }, before;
  action.sa_handler = [](int) { interrupted = true; };
  ASSERT_EQ(0, ::sigaction(SIGUSR1, &action, &before));
  const Fd in = make_file(random_bytes(1 << 20));
  pace_.segment_bytes = cipher::default_segment_bytes;  // more than the pipe can hold
  Pipe drain = Pipe::make();
  on_progress_ = [](uint64_t, uint64_t) { return interrupted.load() ? 1 : 0; };
  const pthread_t caller = ::pthread_self();
  std::thread user([&] {
    // Full means that the caller stands in a write, or is about to.
    while (::poll(nullptr, 0, 20) == 0) {
      pollfd entry{drain.in.get(), POLLOUT, 0};
      if (::poll(&entry, 1, 0) == 0) break;
    }
    ::poll(nullptr, 0, 50);
    ::pthread_kill(caller, SIGUSR1);
  });
  EXPECT_EQ(STOCKADE_ERROR_CANCELLED, encrypt(in.get(), drain.in.get()));
  user.join();
  ASSERT_EQ(0, ::sigaction(SIGUSR1, &before, nullptr));
}

TEST_P(RawFileFailure, SameFile) {
  const Fd file = make_file(plain_);
  EXPECT_EQ(STOCKADE_ERROR_OVERLAP, encrypt(file.get(), file.get()));
  const Fd again(::open(("/proc/self/fd/" + std::to_string(file.get())).c_str(), O_RDWR | O_CLOEXEC));
  EXPECT_EQ(STOCKADE_ERROR_OVERLAP, encrypt(file.get(), again.get()));
  EXPECT_EQ(plain_, content_of(file.get()));
}

TEST_P(RawFileFailure, ProgressCountsToTheEnd) {
  const Fd in = make_file(plain_), out = make_file({});
  std::vector<uint64_t> seen;
  on_progress_ = [&](uint64_t done, uint64_t total) {
    EXPECT_EQ(length, total);
    seen.push_back(done);
    return 0;
  };
  EXPECT_EQ(STOCKADE_OK, encrypt(in.get(), out.get()));
  ASSERT_LE(3U, seen.size());
  EXPECT_EQ(0U, seen.front());
  EXPECT_EQ(length, seen.back());
  EXPECT_TRUE(std::is_sorted(seen.begin(), seen.end()));
}

TEST_P(RawFileFailure, NonBlockingPipes) {
  const Bytes plain = random_bytes(300000);
  Pipe feed = Pipe::make(), drain = Pipe::make();
  ASSERT_EQ(0, ::fcntl(feed.out.get(), F_SETFL, O_NONBLOCK));
  ASSERT_EQ(0, ::fcntl(drain.in.get(), F_SETFL, O_NONBLOCK));
  std::thread feeder([&] {
    ::poll(nullptr, 0, 20);
    write_all(feed.in.get(), plain.data(), plain.size(), plain.size());
    feed.in.close();
  });
  Bytes out, expected;
  std::thread drainer([&] {
    ::poll(nullptr, 0, 60);
    out = read_all(drain.out.get());
  });
  EXPECT_EQ(STOCKADE_OK, encrypt(feed.out.get(), drain.in.get()));
  drain.in.close();
  feeder.join();
  drainer.join();
  ASSERT_EQ(STOCKADE_OK, subject_.expect(STOCKADE_ENCRYPT, plain, expected));
  EXPECT_EQ(expected, out);
}

// Such files say that they are empty.
TEST_P(RawFileFailure, FileOfUnknownLength) {
  const Fd in(::open("/proc/version", O_RDONLY | O_CLOEXEC)), out = make_file({});
  const Bytes content = read_all(in.get());
  ASSERT_FALSE(content.empty());
  ::lseek(in.get(), 0, SEEK_SET);
  Bytes expected;
  ASSERT_EQ(STOCKADE_OK, subject_.expect(STOCKADE_ENCRYPT, content, expected));
  EXPECT_EQ(STOCKADE_OK, encrypt(in.get(), out.get()));
  EXPECT_EQ(expected, content_of(out.get()));
}

TEST_P(RawFileFailure, PositionsBehindTheEnd) {
  const Fd in = make_file(plain_), out = make_file({1, 2});
  ::lseek(in.get(), length + 10, SEEK_SET);
  ::lseek(out.get(), 5, SEEK_SET);
  EXPECT_EQ(STOCKADE_OK, encrypt(in.get(), out.get()));
  EXPECT_EQ((Bytes{1, 2}), content_of(out.get()));
  ::lseek(in.get(), length - 1, SEEK_SET);
  EXPECT_EQ(STOCKADE_OK, encrypt(in.get(), out.get()));
  EXPECT_EQ(6U, content_of(out.get()).size());
  ::lseek(in.get(), 0, SEEK_SET);
  ::lseek(out.get(), 100, SEEK_SET);
  on_progress_ = [](uint64_t done, uint64_t) { return done > length / 2 ? 1 : 0; };
  EXPECT_EQ(STOCKADE_ERROR_CANCELLED, encrypt(in.get(), out.get()));
  EXPECT_EQ(6U, content_of(out.get()).size());
}

INSTANTIATE_TEST_SUITE_P(Ways, RawFileFailure,
                         testing::Values(Way{"in_turn", STOCKADE_CTR, serial_engine},
                                         Way{"by_offset", STOCKADE_CTR, three_threads},
                                         Way{"ring", STOCKADE_OFB, three_threads}),
                         [](const testing::TestParamInfo<Way>& set) { return set.param.name; });

// Memory for `stacks` more threads and little else; ends the process with whether a job of many threads still succeeds.
[[noreturn]] void encrypt_with_few_threads(uint64_t stacks) {
  constexpr uint64_t stack_bytes = uint64_t{256} << 20;
  pthread_attr_t attributes;
  ::pthread_attr_init(&attributes);
  ::pthread_attr_setstacksize(&attributes, stack_bytes);
  ::pthread_setattr_default_np(&attributes);
  const Subject subject(Case{STOCKADE_CTR});
  const Bytes plain = random_bytes(60000);
  Bytes expected;
  bool good = subject.expect(STOCKADE_ENCRYPT, plain, expected) == STOCKADE_OK;
  Pipe feed = Pipe::make();
  write_all(feed.in.get(), plain.data(), plain.size(), plain.size());
  feed.in.close();
  const Fd out = make_file({}), pages(::open("/proc/self/statm", O_RDONLY | O_CLOEXEC));
  const Bytes text = read_all(pages.get());
  const uint64_t mapped = std::stoull(std::string(text.begin(), text.end())) * static_cast<uint64_t>(::getpagesize());
  const rlimit limit{mapped + stacks * stack_bytes + stack_bytes / 2, RLIM_INFINITY};
  good = good && ::setrlimit(RLIMIT_AS, &limit) == 0;
  stockade_raw_options options = subject.options();
  good = good && subject.crypt(STOCKADE_ENCRYPT, feed.out.get(), out.get(), options, three_threads) == STOCKADE_OK;
  std::_Exit(good && content_of(out.get()) == expected ? 0 : 1);
}

TEST(RawFileDeathTest, FewerThreadsThanWishedFor) {
#if STOCKADE_ADDRESS_SANITIZER || STOCKADE_THREAD_SANITIZER
  GTEST_SKIP() << "sanitizers need more address space than the limit leaves";
#endif
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  for (const uint64_t stacks : {0, 1, 2, 3}) {
    EXPECT_EXIT(encrypt_with_few_threads(stacks), testing::ExitedWithCode(0), "") << stacks;
  }
}

class RawFileErrors : public testing::TestWithParam<config::EngineChoice> {
 protected:
  static constexpr uint64_t length = 20 * small_segment;

  // Runs `in` into a regular file, from a file and from a pipe, and expects that nothing is left of it.
  static void expect_error(Status expected, const Subject& subject, stockade_direction direction, const Bytes& in) {
    for (const End from : {End::regular, End::pipe}) {
      for (const int flags : {0, O_APPEND}) {
        const FileTrip trip(subject, direction, in, from, End::regular, GetParam(), flags);
        EXPECT_EQ(expected, trip.status);
        EXPECT_TRUE(trip.out.empty()) << trip.out.size() << " bytes left";
      }
    }
  }
};

TEST_P(RawFileErrors, Authentication) {
  const Subject subject(Case{STOCKADE_GCM});
  Bytes cipher;
  ASSERT_EQ(STOCKADE_OK, subject.expect(STOCKADE_ENCRYPT, random_bytes(length), cipher));
  for (const uint64_t at : {uint64_t{0}, length / 2, length - 1, length, length + 15}) {
    Bytes wrong = cipher;
    wrong[at] ^= 0x10;
    expect_error(STOCKADE_ERROR_AUTHENTICATION, subject, STOCKADE_DECRYPT, wrong);
  }
  for (const uint64_t cut : {uint64_t{1}, uint64_t{16}, length, length + 16}) {
    const Bytes shorter(cipher.begin(), cipher.end() - static_cast<ptrdiff_t>(cut));
    expect_error(STOCKADE_ERROR_AUTHENTICATION, subject, STOCKADE_DECRYPT, shorter);
  }
}

TEST_P(RawFileErrors, UnrevocableGcmOutput) {
  const Subject subject(Case{STOCKADE_GCM});
  Bytes cipher;
  ASSERT_EQ(STOCKADE_OK, subject.expect(STOCKADE_ENCRYPT, random_bytes(length), cipher));
  const Fd in = make_file(cipher), null(::open("/dev/null", O_WRONLY | O_CLOEXEC));
  stockade_raw_options options = subject.options();
  EXPECT_EQ(STOCKADE_ERROR_MODE, subject.crypt(STOCKADE_DECRYPT, in.get(), null.get(), options, GetParam()));
}

TEST_P(RawFileErrors, Padding) {
  for (const stockade_mode mode : {STOCKADE_ECB, STOCKADE_CBC}) {
    const Subject subject(Case{mode, STOCKADE_PADDING_PKCS7});
    for (const uint64_t size : {uint64_t{16}, length}) {
      // The two bytes that a message ends with.
      for (const auto& [before, last] : {std::pair{0, 0}, std::pair{17, 17}, std::pair{1, 2}, std::pair{255, 255}}) {
        Bytes plain(size, 7);
        plain[size - 2] = static_cast<uint8_t>(before);
        plain[size - 1] = static_cast<uint8_t>(last);
        expect_error(STOCKADE_ERROR_PADDING, subject, STOCKADE_DECRYPT, subject.encrypt_blocks(plain));
      }
      Bytes first_byte(size, 16);
      first_byte[size - 16] = 15;
      expect_error(STOCKADE_ERROR_PADDING, subject, STOCKADE_DECRYPT, subject.encrypt_blocks(first_byte));
    }
  }
}

TEST_P(RawFileErrors, DataLength) {
  for (const stockade_mode mode : {STOCKADE_ECB, STOCKADE_CBC}) {
    for (const stockade_direction direction : {STOCKADE_ENCRYPT, STOCKADE_DECRYPT}) {
      expect_error(STOCKADE_ERROR_DATA_LENGTH, Subject(Case{mode}), direction, random_bytes(length + 15));
    }
    const Subject padded(Case{mode, STOCKADE_PADDING_PKCS7});
    for (const uint64_t size : {uint64_t{0}, uint64_t{15}, length + 1}) {
      expect_error(STOCKADE_ERROR_DATA_LENGTH, padded, STOCKADE_DECRYPT, random_bytes(size));
    }
  }
  const Subject units(Case{STOCKADE_XTS, STOCKADE_PADDING_NONE, 64});
  for (const uint64_t size : {uint64_t{15}, length + 1, length + 15}) {
    expect_error(STOCKADE_ERROR_DATA_LENGTH, units, STOCKADE_ENCRYPT, random_bytes(size));
    expect_error(STOCKADE_ERROR_DATA_LENGTH, units, STOCKADE_DECRYPT, random_bytes(size));
  }
}

// A length that is known to be wrong is refused before the output is touched.
TEST_P(RawFileErrors, NothingIsWrittenForAKnownWrongLength) {
  const Subject subject(Case{STOCKADE_CBC});
  const Fd in = make_file(random_bytes(length + 1)), out = make_file({1, 2, 3});
  stockade_raw_options options = subject.options();
  EXPECT_EQ(STOCKADE_ERROR_DATA_LENGTH, subject.crypt(STOCKADE_ENCRYPT, in.get(), out.get(), options, GetParam()));
  EXPECT_EQ((Bytes{1, 2, 3}), content_of(out.get()));
}

TEST_P(RawFileErrors, DataTooLong) {
  const Subject whole(Case{STOCKADE_XTS});
  expect_error(STOCKADE_ERROR_DATA_TOO_LONG, whole, STOCKADE_ENCRYPT, Bytes(aes::max_unit_bytes + 1));
  expect_error(STOCKADE_ERROR_DATA_TOO_LONG, whole, STOCKADE_DECRYPT, Bytes(aes::max_unit_bytes + 100));
  const Fd in = make_file({}), out = make_file({});
  for (const stockade_direction direction : {STOCKADE_ENCRYPT, STOCKADE_DECRYPT}) {
    const uint64_t tag = direction == STOCKADE_DECRYPT ? 16 : 0;
    ASSERT_EQ(0, ::ftruncate(in.get(), static_cast<off_t>(gcm::max_message_bytes + tag + 1)));
    const Subject subject(Case{STOCKADE_GCM});
    stockade_raw_options options = subject.options();
    EXPECT_EQ(STOCKADE_ERROR_DATA_TOO_LONG, subject.crypt(direction, in.get(), out.get(), options, GetParam()));
    EXPECT_TRUE(content_of(out.get()).empty());
  }
}

TEST_P(RawFileErrors, LargestUnit) {
  for (const uint64_t unit : {uint64_t{0}, aes::max_unit_bytes}) {
    const Subject subject(Case{STOCKADE_XTS, STOCKADE_PADDING_NONE, unit});
    const Bytes plain = random_bytes(aes::max_unit_bytes + (unit == 0 ? 0 : 1000));
    Bytes cipher;
    ASSERT_EQ(STOCKADE_OK, subject.expect(STOCKADE_ENCRYPT, plain, cipher));
    for (const End from : {End::regular, End::pipe}) {
      const Fd in = make_file(plain), out = make_file({});
      stockade_raw_options options = subject.options();
      ASSERT_EQ(STOCKADE_OK, subject.crypt(STOCKADE_ENCRYPT, in.get(), out.get(), options, GetParam())) << int(from);
      EXPECT_TRUE(cipher == content_of(out.get()));
    }
  }
}

TEST_P(RawFileErrors, Options) {
  const Fd in = make_file(random_bytes(length)), out = make_file({});
  const auto status = [&](stockade_mode mode, const std::function<void(stockade_raw_options&)>& change) {
    const Subject subject(Case{mode});
    stockade_raw_options options = subject.options();
    change(options);
    return subject.crypt(STOCKADE_ENCRYPT, in.get(), out.get(), options, GetParam());
  };
  EXPECT_EQ(STOCKADE_ERROR_ARGUMENT,
            status(STOCKADE_CTR, [](stockade_raw_options& options) { options.struct_size -= 8; }));
  EXPECT_EQ(STOCKADE_ERROR_ARGUMENT, status(STOCKADE_CBC, [](stockade_raw_options& options) {
              std::memset(&options.padding, 1, sizeof options.padding);
            }));
  EXPECT_EQ(STOCKADE_ERROR_ARGUMENT, status(STOCKADE_XTS, [](stockade_raw_options& options) { options.unit = 15; }));
  EXPECT_EQ(STOCKADE_ERROR_ARGUMENT,
            status(STOCKADE_XTS, [](stockade_raw_options& options) { options.unit = aes::max_unit_bytes + 1; }));
  EXPECT_EQ(STOCKADE_ERROR_NULL_POINTER,
            status(STOCKADE_CTR, [](stockade_raw_options& options) { options.iv = nullptr; }));
  EXPECT_EQ(STOCKADE_ERROR_NULL_POINTER,
            status(STOCKADE_GCM, [](stockade_raw_options& options) { options.aad = nullptr; }));
  EXPECT_EQ(STOCKADE_ERROR_MODE,
            status(STOCKADE_CTR, [](stockade_raw_options& options) { options.padding = STOCKADE_PADDING_PKCS7; }));
  EXPECT_EQ(STOCKADE_ERROR_MODE, status(STOCKADE_CTR, [](stockade_raw_options& options) { options.unit = 512; }));
  EXPECT_EQ(STOCKADE_ERROR_MODE, status(STOCKADE_CTR, [](stockade_raw_options& options) {
              options.aad = &options;
              options.aad_length = 1;
            }));
  EXPECT_EQ(STOCKADE_ERROR_IV_LENGTH,
            status(STOCKADE_CTR, [](stockade_raw_options& options) { options.iv_length = 12; }));
  EXPECT_EQ(STOCKADE_ERROR_IV_LENGTH,
            status(STOCKADE_GCM, [](stockade_raw_options& options) { options.iv_length = 0; }));
  EXPECT_EQ(STOCKADE_ERROR_IV_LENGTH, status(STOCKADE_ECB, [](stockade_raw_options& options) {
              options.iv = &options;
              options.iv_length = 16;
            }));
  EXPECT_TRUE(content_of(out.get()).empty());
}

INSTANTIATE_TEST_SUITE_P(Engines, RawFileErrors, testing::Values(serial_engine, three_threads),
                         [](const testing::TestParamInfo<config::EngineChoice>& set) {
                           return set.param.threads == 1 ? "serial" : "threads";
                         });

}  // namespace
}  // namespace stockade::format
