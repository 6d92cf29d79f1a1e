// stockade_raw_encrypt_fd and stockade_raw_decrypt_fd: regular files and pipes on both ends, every mode, the same bytes as
// OpenSSL.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <ostream>
#include <thread>

#include "base/sanitizers.h"
#include "cross/handles.h"
#include "cross/message.h"
#include "cross/oracle.h"
#include "cross/random_source.h"
#include "cross/temporary_file.h"

namespace stockade::tests {
namespace {

constexpr uint64_t kib = 1024, mib = 1024 * kib;

enum class End { file, file_from_the_middle, appended_file, pipe };

struct Ends {
  End in, out;
};
std::ostream& operator<<(std::ostream& stream, const Ends& ends) {
  return stream << static_cast<int>(ends.in) << " to " << static_cast<int>(ends.out);
}

const Bytes before_input = Bytes(777, 0x11), before_output = Bytes(55, 0x22);

// The end that is read: a file, positioned behind some other bytes perhaps, or a pipe that another thread fills in
// small and odd portions.
class Input {
 public:
  Input(End end, const Bytes& content) : end_(end) {
    Bytes bytes = content;
    if (end == End::file_from_the_middle) bytes.insert(bytes.begin(), before_input.begin(), before_input.end());
    if (end != End::pipe) {
      write_exactly(file_.fd(), 0, bytes.data(), bytes.size());
      if (end == End::file_from_the_middle) file_.seek(before_input.size());
      return;
    }
    if (pipe2(ends_, O_CLOEXEC) != 0) throw std::runtime_error("pipe");
    writer_ = std::thread([this, bytes] {
      uint64_t done = 0;
      while (done < bytes.size()) {
        const uint64_t portion = std::min<uint64_t>(bytes.size() - done, done % 3 == 0 ? 100003 : 5001);
        const ssize_t count = write(ends_[1], bytes.data() + done, portion);
        if (count <= 0) break;
        done += static_cast<uint64_t>(count);
      }
      close(ends_[1]);
    });
  }
  ~Input() {
    if (end_ != End::pipe) return;
    close(ends_[0]);
    writer_.join();
  }
  int fd() const { return end_ == End::pipe ? ends_[0] : file_.fd(); }

 private:
  End end_;
  TemporaryFile file_;
  int ends_[2] = {-1, -1};
  std::thread writer_;
};

// The end that is written.
class Output {
 public:
  explicit Output(End end) : end_(end) {
    if (end == End::pipe) {
      if (pipe2(ends_, O_CLOEXEC) != 0) throw std::runtime_error("pipe");
      reader_ = std::thread([this] {
        uint8_t buffer[65536];
        for (ssize_t count; (count = read(ends_[0], buffer, sizeof buffer)) > 0;) {
          taken_.insert(taken_.end(), buffer, buffer + count);
        }
        close(ends_[0]);
      });
      return;
    }
    if (end == End::file) return;
    write_exactly(file_.fd(), 0, before_output.data(), before_output.size());
    file_.seek(before_output.size());
    if (end == End::appended_file) appending_ = file_.reopen(O_RDWR | O_APPEND);
  }
  ~Output() {
    finish();
    if (appending_ >= 0) close(appending_);
  }
  int fd() const { return end_ == End::pipe ? ends_[1] : appending_ >= 0 ? appending_ : file_.fd(); }
  // What was written, without what stood there before; ends the pipe.
  Bytes content() {
    finish();
    if (end_ == End::pipe) return taken_;
    Bytes bytes = file_.content();
    if (end_ == End::file) return bytes;
    const auto old_end = bytes.begin() + static_cast<long>(before_output.size());
    EXPECT_EQ(Bytes(bytes.begin(), old_end), before_output);
    bytes.erase(bytes.begin(), old_end);
    return bytes;
  }
  // The position behind what was written; of no meaning for a pipe.
  uint64_t position() const { return static_cast<uint64_t>(lseek(fd(), 0, SEEK_CUR)); }

 private:
  void finish() {
    if (!reader_.joinable()) return;
    close(ends_[1]);
    reader_.join();
  }

  End end_;
  TemporaryFile file_;
  int appending_ = -1;
  int ends_[2] = {-1, -1};
  std::thread reader_;
  Bytes taken_;
};

struct Progress {
  uint64_t calls = 0, done = 0, total = 0;
  bool ordered = true;
};
int note_progress(void* context, uint64_t done, uint64_t total) {
  auto& progress = *static_cast<Progress*>(context);
  progress.ordered &= done >= progress.done && (progress.calls == 0 || total == progress.total);
  progress.done = done;
  progress.total = total;
  ++progress.calls;
  return 0;
}

struct Job {
  const stockade_key* key;
  stockade_direction direction;
  const Bytes &iv, &aad, &in, &out;
  stockade_padding padding;
  uint64_t unit;
};

void check(const Job& job, const Ends& ends, const stockade_engine* engine) {
  Input input(ends.in, job.in);
  Output output(ends.out);
  Progress progress;
  stockade_raw_options options = {};
  options.struct_size = sizeof options;
  options.iv = job.iv.data();
  options.iv_length = job.iv.size();
  options.aad = job.aad.data();
  options.aad_length = job.aad.size();
  options.padding = job.padding;
  options.unit = job.unit;
  options.progress = note_progress;
  options.progress_context = &progress;
  const auto function = job.direction == STOCKADE_ENCRYPT ? stockade_raw_encrypt_fd : stockade_raw_decrypt_fd;
  ASSERT_EQ(function(job.key, input.fd(), output.fd(), &options, engine), STOCKADE_OK);
  if (ends.out != End::pipe) {
    EXPECT_EQ(output.position(), job.out.size() + (ends.out == End::file ? 0 : before_output.size()));
  }
  const Bytes written = output.content();
  ASSERT_EQ(written.size(), job.out.size());
  ASSERT_TRUE(same_bytes(written.data(), job.out.data(), written.size()));
  EXPECT_EQ(options.in_length, job.in.size());
  EXPECT_EQ(options.out_length, job.out.size());
  EXPECT_TRUE(progress.ordered);
  EXPECT_GE(progress.calls, 1U);
  EXPECT_EQ(progress.done, job.in.size());
  EXPECT_EQ(progress.total, ends.in == End::pipe ? 0 : job.in.size());
}

class Files : public testing::TestWithParam<stockade_mode> {
 protected:
  stockade_mode mode() const { return GetParam(); }
  bool slow() const { return rows_for(mode()).front().slow_in(mode()); }

  // The content of the file for a message: for GCM the tag stands behind the ciphertext.
  Message any_message(uint64_t length) {
    Message message = random_message(mode(), key_sizes(mode()).back(), allowed_length(mode(), length), random_);
    if (mode() == STOCKADE_GCM) {
      message.tag.resize(16);
      seal_by_openssl(message);
    }
    return message;
  }
  void check_message(const Message& message, const Ends& ends, const stockade_engine* engine, uint64_t unit = 0) {
    const Key key = make_key(mode(), message.key);
    Bytes sealed = message.ciphertext;
    sealed.insert(sealed.end(), message.tag.begin(), message.tag.end());
    for (const stockade_direction direction : both_directions) {
      if (direction == STOCKADE_DECRYPT && mode() == STOCKADE_GCM && ends.out == End::pipe) continue;
      SCOPED_TRACE(testing::Message() << message.describe(direction) << ", ends " << ends);
      const bool encrypting = direction == STOCKADE_ENCRYPT;
      ASSERT_NO_FATAL_FAILURE(
          check({key.get(), direction, message.iv, message.aad, encrypting ? message.plaintext : sealed,
                 encrypting ? sealed : message.plaintext, STOCKADE_PADDING_NONE, unit},
                ends, engine));
    }
  }

  RandomSource random_;
};
std::string mode_label(const testing::TestParamInfo<stockade_mode>& info) { return mode_name(info.param); }
INSTANTIATE_TEST_SUITE_P(Modes, Files, testing::ValuesIn(all_modes), mode_label);
class FilesOfUnits : public Files {};
INSTANTIATE_TEST_SUITE_P(Modes, FilesOfUnits, testing::Values(STOCKADE_XTS), mode_label);
class PaddedFiles : public Files {};
INSTANTIATE_TEST_SUITE_P(Modes, PaddedFiles, testing::Values(STOCKADE_ECB, STOCKADE_CBC), mode_label);

constexpr Ends all_ends[] = {
    {End::file, End::file},          {End::file_from_the_middle, End::file_from_the_middle},
    {End::file, End::appended_file}, {End::file, End::pipe},
    {End::pipe, End::file},          {End::pipe, End::pipe},
};

TEST_P(Files, of_every_kind_and_length) {
  std::vector<uint64_t> lengths = {0, 1, 15, 16, 17, 31, 32, 33, 1000, 65537};
  if (!slow()) {
    std::vector<uint64_t> places = {256 * kib, 512 * kib, mib};
    // One of them, another each time, where time is short.
    if (test_scale() < 100) places = {places[random_.below(3)]};
    for (const uint64_t around : places) {
      lengths.insert(lengths.end(),
                     {around - 17, around - 16, around - 1, around, around + 1, around + 16, around + 33});
    }
  }
  for (const uint64_t length : lengths) {
    const Message message = any_message(length);
    for (const Ends& ends : all_ends) {
      for (const NamedEngine& engine : {all_engines()[0], all_engines()[2]}) {
        if (STOCKADE_THREAD_SANITIZER && engine.name == "serial") continue;  // which races with nobody
        SCOPED_TRACE(engine.name);
        ASSERT_NO_FATAL_FAILURE(check_message(message, ends, engine.engine));
      }
    }
  }
}

TEST_P(Files, of_many_runs) {
  const Message message = any_message(slow() ? 600 * kib + 7 : 3 * mib + 7);
  for (const Ends& ends : all_ends) {
    for (const NamedEngine& engine : all_engines()) {
      SCOPED_TRACE(engine.name);
      if ((slow() || test_scale() < 100) && engine.name != "threads x2") continue;
      ASSERT_NO_FATAL_FAILURE(check_message(message, ends, engine.engine));
    }
  }
}

TEST_P(FilesOfUnits, of_any_size) {
  for (const uint64_t unit : {16, 100, 512, 4096, 300000}) {
    for (const uint64_t units : {1, 2, 64, 700}) {
      if (unit * units > (slow() ? 30000 : 4 * mib)) continue;
      for (const uint64_t rest : {0, 16, 40}) {
        if (rest > unit) continue;
        Message message = any_message(unit * units + rest);
        message.ciphertext = oracle_units(STOCKADE_ENCRYPT, message.key, message.iv, unit, message.plaintext);
        for (const Ends& ends : {all_ends[0], all_ends[4]}) {
          SCOPED_TRACE(unit);
          ASSERT_NO_FATAL_FAILURE(check_message(message, ends, all_engines()[units % 3].engine, unit));
        }
      }
    }
  }
}

TEST_P(PaddedFiles, of_every_kind_and_length) {
  for (const uint64_t length : {uint64_t{0}, uint64_t{1}, uint64_t{15}, uint64_t{16}, uint64_t{17}, 256 * kib - 16,
                                256 * kib - 1, 256 * kib, 256 * kib + 5, 3 * mib + 3}) {
    if (slow() && length > 1000) continue;
    const Bytes key_bytes = random_.bytes(16), iv = random_.bytes(iv_bytes(mode())), plaintext = random_.bytes(length);
    const Bytes ciphertext = *oracle_padded(mode(), STOCKADE_ENCRYPT, key_bytes, iv, plaintext), no_aad;
    const Key key = make_key(mode(), key_bytes);
    for (const Ends& ends : all_ends) {
      for (const NamedEngine& engine : {all_engines()[0], all_engines()[1]}) {
        SCOPED_TRACE(testing::Message() << length << " bytes, " << engine.name << ", ends " << ends);
        ASSERT_NO_FATAL_FAILURE(
            check({key.get(), STOCKADE_ENCRYPT, iv, no_aad, plaintext, ciphertext, STOCKADE_PADDING_PKCS7, 0}, ends,
                  engine.engine));
        ASSERT_NO_FATAL_FAILURE(
            check({key.get(), STOCKADE_DECRYPT, iv, no_aad, ciphertext, plaintext, STOCKADE_PADDING_PKCS7, 0}, ends,
                  engine.engine));
      }
    }
  }
}

}  // namespace
}  // namespace stockade::tests
