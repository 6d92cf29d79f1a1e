// STOCKADE_ERROR_MEMORY of Stockade files: whichever allocation of the library or of libcrypto is the one that fails, the
// call says so or does without, and loses nothing.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <thread>

#include "cross/failing_memory.h"
#include "cross/file_sample.h"
#include "cross/handles.h"
#include "cross/temporary_file.h"

namespace stockade::tests {
namespace {

constexpr auto nothing = [] {};

class FileMemory : public testing::Test {
 protected:
  const Bytes key_ = sample_key(1), text_ = sample_text(40000);
  const KeyringHandle ring_ = keyring_of({key_}), phrase_ = keyring_of("swordfish");
  const stockade_format keyed_ = format_for(ring_), locked_ = format_for(phrase_), plain_ = plain_format(key_, {});
};

TEST_F(FileMemory, counts_that_of_libcrypto) { ASSERT_TRUE(libcrypto_counts()); }

TEST_F(FileMemory, of_a_keyring) {
  stockade_keyring* made = nullptr;
  EXPECT_GE(sweep([&] { return stockade_keyring_create(&made); }, [&] { EXPECT_EQ(made, nullptr); }), 1);
  const KeyringHandle ring(made);
  ASSERT_NE(made, nullptr);
  EXPECT_GE(sweep([&] { return stockade_keyring_add_key(made, key_.data(), key_.size()); }, nothing), 2);
  // One key, however often it was tried.
  const Bytes file = seal(format_for(ring), text_);
  stockade_header* header = nullptr;
  ASSERT_EQ(stockade_header_parse(&header, file.data(), file.size(), nullptr), STOCKADE_OK);
  const HeaderHandle owner(header);
  stockade_stanza stanza = {};
  int keys = 0;
  for (uint32_t i = 0; stockade_header_stanza(header, i, &stanza) == STOCKADE_OK; ++i) {
    keys += std::strcmp(stanza.kind, "key") == 0;
  }
  EXPECT_EQ(keys, 1);
  // A passphrase that could not be kept has not taken the place of the old one.
  const Bytes locked = seal(locked_, text_);
  EXPECT_GE(sweep([&] { return stockade_keyring_add_passphrase(phrase_.get(), "Swordfish", 9, 1); },
                  [&] { EXPECT_EQ(ways_to_open()[0].open(locked_, locked).status, STOCKADE_OK); }),
            1);
  EXPECT_EQ(ways_to_open()[0].open(locked_, locked).status, STOCKADE_ERROR_PASSPHRASE);
}

TEST_F(FileMemory, of_a_name) {
  char id[12] = "untouched";
  EXPECT_GE(
      sweep([&] { return stockade_key_id(key_.data(), key_.size(), id); }, [&] { EXPECT_STREQ(id, "untouched"); }), 2);
}

TEST_F(FileMemory, of_a_file_that_is_begun) {
  stockade_format armored = keyed_;
  armored.armor = 1;
  for (const stockade_format* format : {&keyed_, &locked_, &plain_, static_cast<const stockade_format*>(&armored)}) {
    for (const stockade_direction direction : both_directions) {
      stockade_file* file = nullptr;
      EXPECT_GE(sweep([&] { return stockade_file_create(&file, direction, format, nullptr); },
                      [&] { EXPECT_EQ(file, nullptr); }),
                direction == STOCKADE_ENCRYPT ? 5 : 1);
      ASSERT_NE(file, nullptr);
      stockade_file_free(file);
    }
  }
}

// One file in one direction, made anew after each failure.
class MemoryOfPieces {
 public:
  MemoryOfPieces(const stockade_format& format, stockade_direction direction, const Bytes& in, const Bytes& expected)
      : format_(format), direction_(direction), in_(in), expected_(expected), out_(in.size() * 2 + 10000) {
    renew();
  }
  int push() {
    return sweep(
        [&] {
          stockade_status status =
              add(stockade_file_bound(file_.get(), in_.size()), [&](uint8_t* room, uint64_t size, uint64_t* written) {
                return stockade_file_update(file_.get(), in_.data(), in_.size(), room, size, written);
              });
          if (status != STOCKADE_OK) return status;
          return add(stockade_file_bound(file_.get(), 0), [&](uint8_t* room, uint64_t size, uint64_t* written) {
            return stockade_file_final(file_.get(), room, size, written);
          });
        },
        [&] { expect_failed(); });
  }
  int pull() {
    return sweep(
        [&] {
          return add(out_.size() - used_, [&](uint8_t* room, uint64_t size, uint64_t* written) {
            return stockade_file_pull(file_.get(), fetch, this, room, size, written);
          });
        },
        [&] { expect_failed(); });
  }
  void expect_right() const {
    const Bytes out(out_.begin(), out_.begin() + static_cast<long>(used_));
    if (direction_ == STOCKADE_DECRYPT) {
      EXPECT_TRUE(out == expected_);
    } else {
      EXPECT_TRUE(ways_to_open()[0].open(format_, out).text == expected_);
    }
  }

 private:
  template <typename Call>
  stockade_status add(uint64_t size, const Call& call) {
    uint64_t written = 77;
    const stockade_status status = call(out_.data() + used_, size, &written);
    used_ += written;
    return status;
  }
  void renew() {
    file_ = make_file(direction_, format_);
    used_ = fetched_ = 0;
    std::fill(out_.begin(), out_.end(), 0);
  }
  void expect_failed() {
    stockade_fault fault = {};
    ASSERT_EQ(stockade_file_fault(file_.get(), &fault), STOCKADE_OK);
    EXPECT_TRUE(fault.status == STOCKADE_ERROR_MEMORY || fault.status == STOCKADE_ERROR_LIBRARY) << describe(fault);
    uint64_t written = 77;
    EXPECT_EQ(stockade_file_final(file_.get(), out_.data(), out_.size(), &written), STOCKADE_ERROR_STATE);
    // What calls before have written, and nothing of the failed one.
    EXPECT_TRUE(
        std::all_of(out_.begin() + static_cast<long>(used_), out_.end(), [](uint8_t byte) { return byte == 0; }));
    renew();
  }
  static int64_t fetch(void* context, void* buffer, uint64_t size) {
    MemoryOfPieces& self = *static_cast<MemoryOfPieces*>(context);
    const uint64_t length = std::min<uint64_t>({size, self.in_.size() - self.fetched_, 30000});
    if (length != 0) std::memcpy(buffer, self.in_.data() + self.fetched_, length);
    self.fetched_ += length;
    return static_cast<int64_t>(length);
  }

  const stockade_format format_;
  const stockade_direction direction_;
  const Bytes in_, expected_;
  Bytes out_;
  uint64_t used_ = 0, fetched_ = 0;
  FileHandle file_;
};

TEST_F(FileMemory, of_pieces) {
  stockade_format armored = keyed_;
  armored.armor = 1;
  for (const stockade_format* format : {&keyed_, &locked_, &plain_, static_cast<const stockade_format*>(&armored)}) {
    const Bytes sealed = seal(*format, text_);
    MemoryOfPieces pushed(*format, STOCKADE_ENCRYPT, text_, text_), pulled(*format, STOCKADE_ENCRYPT, text_, text_);
    MemoryOfPieces opened(*format, STOCKADE_DECRYPT, sealed, text_), fetched(*format, STOCKADE_DECRYPT, sealed, text_);
    // Sealing what is there takes no memory but that of the armor.
    EXPECT_EQ(pushed.push() != 0, format == &armored);
    EXPECT_GE(pulled.pull(), 2);
    EXPECT_GE(opened.push(), 3);
    EXPECT_GE(fetched.pull(), 5);
    for (const MemoryOfPieces* each : {&pushed, &pulled, &opened, &fetched}) each->expect_right();
  }
}

TEST_F(FileMemory, of_a_reader) {
  const Bytes text = sample_text(10 * 1024 * 1024);
  for (const stockade_format* format : {&keyed_, &locked_, &plain_}) {
    Bytes sealed = seal(*format, text);
    stockade_reader* made = nullptr;
    stockade_fault fault = {};
    EXPECT_GE(sweep(
                  [&] {
                    return stockade_reader_create(&made, read_bytes_at, &sealed, sealed.size(), format,
                                                  all_engines()[1].engine, &fault);
                  },
                  [&] {
                    EXPECT_EQ(made, nullptr);
                    EXPECT_TRUE(fault.status == STOCKADE_ERROR_MEMORY || fault.status == STOCKADE_ERROR_LIBRARY);
                  }),
              5);
    const ReaderHandle reader(made);
    // A part of a chunk, whole chunks, and more than is fetched at a time. The reader can be asked again.
    for (const auto& [offset, length] : {std::pair(100, 100), {16384, 2 * 16384}, {5, 9 * 1024 * 1024}}) {
      Bytes out(static_cast<size_t>(length), 0xEE);
      uint64_t got = 77;
      EXPECT_GE(sweep(
                    [&, at = static_cast<uint64_t>(offset)] {
                      return stockade_reader_read_at(made, at, out.data(), out.size(), &got, &fault);
                    },
                    [&] {
                      EXPECT_EQ(fault.status, STOCKADE_ERROR_MEMORY);
                      EXPECT_EQ(got, 0U);
                      EXPECT_TRUE(std::all_of(out.begin(), out.end(), [](uint8_t b) { return b == 0 || b == 0xEE; }));
                      std::fill(out.begin(), out.end(), 0xEE);
                      got = 77;
                    }),
                1);
      EXPECT_EQ(got, out.size());
      EXPECT_TRUE(std::equal(out.begin(), out.end(), text.begin() + offset));
    }
  }
}

// --- from descriptor to descriptor ---------------------------------------------------------------------------------

struct JobCase {
  const char* name;
  bool armored, to_pipe, with_journal;
  const char* engine;
  uint64_t length;
};
const JobCase job_cases[] = {
    {"short", false, false, false, "serial", 1000},       {"serial", false, false, false, "serial", 3000000},
    {"threads", false, false, false, "threads", 3000000}, {"pipe", false, true, false, "threads", 3000000},
    {"armored", true, false, false, "threads", 1000000},  {"armored_pipe", true, true, false, "threads", 1000000},
    {"journal", false, false, true, "threads", 3000000},
};
class MemoryOfFileJobs : public testing::TestWithParam<JobCase> {
 protected:
  // Runs a job as often as it takes; what came out at last.
  template <typename Function>
  Bytes run(const Function& function, const Bytes& content) {
    const TemporaryFile in(content), out, journal;
    stockade_format format = format_;
    format.armor = GetParam().armored;
    const Engine engine = make_engine(GetParam().engine, 3);
    int ends[2] = {-1, out.fd()};
    if (GetParam().to_pipe) {
      EXPECT_EQ(pipe2(ends, O_CLOEXEC), 0);
    }
    // What comes through the pipe is counted, on a thread that was made while there was memory.
    std::thread drain([&] {
      static uint8_t buffer[65536];
      while (GetParam().to_pipe && read(ends[0], buffer, sizeof buffer) > 0) {
      }
    });
    stockade_file_job job = file_job();
    if (GetParam().with_journal) job.journal_fd = journal.fd();
    EXPECT_GE(
        sweep(
            [&]() -> stockade_status {
              lseek(in.fd(), 0, SEEK_SET);
              if (!GetParam().to_pipe && (ftruncate(out.fd(), 0) != 0 || lseek(out.fd(), 0, SEEK_SET) != 0)) {
                return STOCKADE_ERROR_IO;
              }
              if (ftruncate(journal.fd(), 0) != 0) return STOCKADE_ERROR_IO;
              return function(in.fd(), ends[1], &format, &job, engine.get());
            },
            [&] {
              EXPECT_TRUE(job.fault.status == STOCKADE_ERROR_MEMORY || job.fault.status == STOCKADE_ERROR_LIBRARY);
              if (!GetParam().with_journal) {
                EXPECT_EQ(out.size(), 0U);
              }
            }),
        5);
    if (GetParam().to_pipe) close(ends[1]);
    drain.join();
    if (GetParam().to_pipe) close(ends[0]);
    EXPECT_EQ(job.fault.status, STOCKADE_OK);
    return out.content();
  }
  static stockade_status verify(int in_fd, int, const stockade_format* format, stockade_file_job* job,
                                const stockade_engine* engine) {
    return stockade_file_verify_fd(in_fd, format, job, engine);
  }

  const KeyringHandle ring_ = keyring_of({sample_key(1)});
  const stockade_format format_ = format_for(ring_);
};
std::string job_label(const testing::TestParamInfo<JobCase>& info) { return info.param.name; }
INSTANTIATE_TEST_SUITE_P(All, MemoryOfFileJobs, testing::ValuesIn(job_cases), job_label);

TEST_P(MemoryOfFileJobs, whichever_allocation_fails) {
  const Bytes text = sample_text(GetParam().length);
  Bytes sealed = seal(format_, text);
  if (GetParam().armored) sealed = in_armor(sealed);
  const Bytes made = run(stockade_file_encrypt_fd, text), opened = run(stockade_file_decrypt_fd, sealed);
  if (!GetParam().to_pipe) {
    // What was written at last is right, whatever was done without memory before.
    EXPECT_TRUE(ways_to_open()[0].open(format_, made).text == text);
    EXPECT_TRUE(opened == text);
  }
  if (!GetParam().to_pipe && !GetParam().with_journal) run(verify, sealed);
}

TEST_F(FileMemory, of_a_list_of_damages) {
  Bytes bad = seal(keyed_, sample_text(1000000));
  for (uint64_t chunk = 0; chunk < 61; chunk += 2) bad[sample_chunk(chunk)] ^= 1;
  const TemporaryFile in(bad);
  stockade_file_job job = file_job();
  std::atomic<int> damages = 0;
  job.damage = [](void* context, uint64_t, uint64_t, uint64_t, uint64_t) {
    ++*static_cast<std::atomic<int>*>(context);
    return 0;
  };
  job.damage_context = &damages;
  // That the file is damaged is success here.
  sweep(
      [&] {
        lseek(in.fd(), 0, SEEK_SET);
        damages = 0;
        const stockade_status status = stockade_file_verify_fd(in.fd(), &keyed_, &job, all_engines()[0].engine);
        return status == STOCKADE_ERROR_CHUNK ? STOCKADE_OK : status;
      },
      nothing);
  EXPECT_EQ(damages, 31);
}

// --- headers -------------------------------------------------------------------------------------------------------

TEST_F(FileMemory, of_a_header) {
  const Bytes file = seal(keyed_, text_);
  stockade_header* header = nullptr;
  stockade_fault fault = {};
  EXPECT_GE(sweep([&] { return stockade_header_parse(&header, file.data(), file.size(), &fault); },
                  [&] {
                    EXPECT_EQ(header, nullptr);
                    EXPECT_EQ(fault.status, STOCKADE_ERROR_MEMORY);
                  }),
            5);
  ASSERT_NE(header, nullptr);
  stockade_header_free(header);
}

TEST_F(FileMemory, of_armor) {
  const Bytes armored = in_armor(seal(keyed_, text_));
  Bytes out(armored.size(), 0xEE);
  uint64_t length = 77;
  stockade_fault fault = {};
  EXPECT_GE(sweep(
                [&] {
                  return stockade_armor_decode(armored.data(), armored.size(), 1, out.data(), out.size(), &length,
                                               &fault);
                },
                [&] {
                  EXPECT_EQ(fault.status, STOCKADE_ERROR_MEMORY);
                  EXPECT_EQ(length, 77U);
                  EXPECT_EQ(out, Bytes(out.size(), 0xEE));
                }),
            1);
  EXPECT_EQ(length, seal(keyed_, text_).size());
}

TEST_F(FileMemory, of_other_recipients) {
  const Bytes file = seal(keyed_, text_);
  const KeyringHandle other = keyring_of({sample_key(2)});
  char id[12];
  ASSERT_EQ(stockade_key_id(key_.data(), key_.size(), id), STOCKADE_OK);
  const char* const remove[] = {id};
  for (const KeyringHandle* add : {&other, &phrase_}) {
    Bytes out(sample_header, 0xEE);
    uint64_t length = 77;
    stockade_fault fault = {};
    EXPECT_GE(sweep(
                  [&] {
                    return stockade_header_rekey(file.data(), file.size(), ring_.get(), 0, remove, 1, add->get(),
                                                 out.data(), out.size(), &length, &fault);
                  },
                  [&] {
                    EXPECT_TRUE(fault.status == STOCKADE_ERROR_MEMORY || fault.status == STOCKADE_ERROR_LIBRARY);
                    EXPECT_EQ(length, 77U);
                    EXPECT_EQ(out, Bytes(sample_header, 0xEE));
                  }),
              20);
    EXPECT_EQ(length, sample_header);
    Bytes changed = file;
    std::copy(out.begin(), out.end(), changed.begin());
    EXPECT_EQ(ways_to_open()[0].open(format_for(*add), changed).text, text_);
  }
}

TEST_F(FileMemory, is_not_needed_for_many_jobs) {
  std::atomic<uint64_t> sum = 0;
  const auto item = [](void* context, uint64_t index) {
    *static_cast<std::atomic<uint64_t>*>(context) += index;
    return 0;
  };
  for (const NamedEngine& engine : all_engines()) {
    // Once before, for what the runtime of the threads allocates when they start.
    ASSERT_EQ(stockade_for_each(1000, item, &sum, engine.engine), STOCKADE_OK);
    sum = 0;
    EXPECT_EQ(sweep([&] { return stockade_for_each(1000, item, &sum, engine.engine); }, nothing), 0);
    EXPECT_EQ(sum, 499500U);
  }
}

}  // namespace
}  // namespace stockade::tests
