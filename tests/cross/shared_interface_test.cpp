// stockade_shared_: null pointers, values out of range, the statuses that are its own, and memory that runs out. What
// the bytes are is tested in src/slices/sliced_file_test.cpp.
#include <gtest/gtest.h>
#include <cstddef>
#include <cstring>
#include <iterator>

#include <algorithm>
#include <memory>

#include "cross/failing_memory.h"
#include "cross/file_sample.h"
#include "cross/temporary_file.h"

namespace stockade::tests {
namespace {

using SharedHandle = std::unique_ptr<stockade_shared_job, HandleDeleter<stockade_shared_free>>;

constexpr auto null_pointer = STOCKADE_ERROR_NULL_POINTER, argument = STOCKADE_ERROR_ARGUMENT;
constexpr uint64_t slice_bytes = 256 << 10;

// All slices from `next` to below `end`.
struct Range {
  uint64_t next, end;
  static uint64_t take(void* self) {
    Range& range = *static_cast<Range*>(self);
    return range.next < range.end ? range.next++ : STOCKADE_NO_SLICE;
  }
};

class SharedInterface : public testing::Test {
 protected:
  static stockade_shared_options options(stockade_shared_kind kind, int journal_fd = -1) {
    stockade_shared_options options{};
    options.struct_size = sizeof options;
    options.kind = kind;
    options.slice_bytes = slice_bytes;
    options.journal_fd = journal_fd;
    return options;
  }
  static stockade_shared_work work(const TemporaryFile& in, const TemporaryFile& out, Range& range,
                                   int journal_fd = -1) {
    stockade_shared_work work{};
    work.struct_size = sizeof work;
    work.in_fd = in.fd();
    work.out_fd = out.fd();
    work.journal_fd = journal_fd;
    work.next = Range::take;
    work.next_context = &range;
    return work;
  }
  SharedHandle make(stockade_shared_kind kind, const TemporaryFile& in, const TemporaryFile& out, int journal_fd = -1) {
    stockade_shared_job* job = nullptr;
    const stockade_shared_options wish = options(kind, journal_fd);
    EXPECT_EQ(stockade_shared_create(&job, in.fd(), out.fd(), &format_, &wish, nullptr, nullptr), STOCKADE_OK);
    return SharedHandle(job);
  }

  const Bytes text_ = sample_text(3 * slice_bytes + 5);
  const KeyringHandle ring_ = keyring_of({sample_key(1)});
  const stockade_format format_ = format_for(ring_);
  const TemporaryFile in_{text_}, out_, journal_;
  stockade_fault fault_ = {};
};

TEST_F(SharedInterface, makes_and_opens_a_file) {
  const SharedHandle job = make(STOCKADE_SHARED_ENCRYPT, in_, out_, journal_.fd());
  ASSERT_NE(job, nullptr);
  stockade_shared_info info;
  ASSERT_EQ(stockade_shared_info_get(job.get(), &info), STOCKADE_OK);
  EXPECT_EQ(info.slices, 3U);
  EXPECT_EQ(info.slice_bytes, slice_bytes);
  EXPECT_EQ(info.last_slice_bytes, slice_bytes + 5);
  EXPECT_EQ(info.plain_length, text_.size());
  EXPECT_EQ(info.has_journal, 1);
  Range range{1, 3};
  stockade_shared_work share = work(in_, out_, range, journal_.fd());
  ASSERT_EQ(stockade_shared_run(job.get(), &share, nullptr), STOCKADE_OK);
  EXPECT_EQ(share.slices, 2U);
  EXPECT_EQ(share.in_length, 2 * slice_bytes + 5);
  EXPECT_EQ(stockade_shared_check(job.get(), out_.fd(), journal_.fd(), &fault_), STOCKADE_ERROR_INCOMPLETE);
  EXPECT_EQ(fault_.status, STOCKADE_ERROR_INCOMPLETE);
  uint64_t missing[4] = {77, 77, 77, 77}, count = 0;
  ASSERT_EQ(stockade_shared_missing(job.get(), journal_.fd(), missing, 4, &count), STOCKADE_OK);
  EXPECT_EQ(count, 1U);
  EXPECT_EQ(missing[0], 0U);
  EXPECT_EQ(missing[1], 77U);
  // Another process, which has the terms.
  Bytes terms(STOCKADE_SHARED_TERMS_BYTES);
  ASSERT_EQ(stockade_shared_export(job.get(), terms.data()), STOCKADE_OK);
  stockade_shared_job* imported = nullptr;
  ASSERT_EQ(stockade_shared_import(&imported, terms.data()), STOCKADE_OK);
  const SharedHandle other(imported);
  range = {0, 1};
  ASSERT_EQ(stockade_shared_run(other.get(), &share, nullptr), STOCKADE_OK);
  EXPECT_EQ(stockade_shared_check(other.get(), out_.fd(), journal_.fd(), nullptr), STOCKADE_OK);
  // Any other way opens it.
  for (const Way& way : ways_to_open()) {
    const Opened opened = way.open(format_, out_.content());
    EXPECT_EQ(opened.status, STOCKADE_OK) << way.name;
    EXPECT_EQ(opened.text, way.releases() ? text_ : Bytes()) << way.name;
  }
  terms[0] ^= 1;
  stockade_shared_job* none = nullptr;
  EXPECT_EQ(stockade_shared_import(&none, terms.data()), STOCKADE_ERROR_MISMATCH);
  EXPECT_EQ(none, nullptr);
}

TEST_F(SharedInterface, null_pointers) {
  stockade_shared_job* job = nullptr;
  const stockade_shared_options wish = options(STOCKADE_SHARED_ENCRYPT);
  EXPECT_EQ(stockade_shared_create(nullptr, in_.fd(), out_.fd(), &format_, &wish, nullptr, &fault_), null_pointer);
  EXPECT_EQ(fault_.status, null_pointer);
  EXPECT_EQ(stockade_shared_create(&job, in_.fd(), out_.fd(), nullptr, &wish, nullptr, nullptr), null_pointer);
  EXPECT_EQ(stockade_shared_create(&job, in_.fd(), out_.fd(), &format_, nullptr, nullptr, nullptr), null_pointer);
  EXPECT_EQ(stockade_shared_open_journal(nullptr, journal_.fd(), ring_.get(), 0, nullptr), null_pointer);
  EXPECT_EQ(stockade_shared_open_journal(&job, journal_.fd(), nullptr, 0, nullptr), null_pointer);
  EXPECT_EQ(job, nullptr);
  EXPECT_EQ(out_.size(), 0U);
  Bytes terms(STOCKADE_SHARED_TERMS_BYTES);
  uint8_t room[16400];
  uint64_t count = 0;
  stockade_shared_info info;
  Range range{0, 0};
  stockade_shared_work share = work(in_, out_, range);
  EXPECT_EQ(stockade_shared_import(&job, nullptr), null_pointer);
  EXPECT_EQ(stockade_shared_import(nullptr, terms.data()), null_pointer);
  EXPECT_EQ(stockade_shared_export(nullptr, terms.data()), null_pointer);
  EXPECT_EQ(stockade_shared_info_get(nullptr, &info), null_pointer);
  EXPECT_EQ(stockade_shared_run(nullptr, &share, nullptr), null_pointer);
  EXPECT_EQ(stockade_shared_missing(nullptr, 0, nullptr, 0, &count), null_pointer);
  EXPECT_EQ(stockade_shared_check(nullptr, 0, 0, nullptr), null_pointer);
  EXPECT_EQ(stockade_shared_sealed_length(nullptr, 0, 0), 0U);
  EXPECT_EQ(stockade_shared_seal(nullptr, 0, nullptr, 0, room, nullptr), null_pointer);
  EXPECT_EQ(stockade_shared_unseal(nullptr, 0, room, 0, nullptr, nullptr, nullptr), null_pointer);
  stockade_shared_free(nullptr);

  const SharedHandle made = make(STOCKADE_SHARED_ENCRYPT, in_, out_);
  EXPECT_EQ(stockade_shared_export(made.get(), nullptr), null_pointer);
  EXPECT_EQ(stockade_shared_info_get(made.get(), nullptr), null_pointer);
  EXPECT_EQ(stockade_shared_run(made.get(), nullptr, nullptr), null_pointer);
  EXPECT_EQ(stockade_shared_missing(made.get(), 0, nullptr, 1, &count), null_pointer);
  EXPECT_EQ(stockade_shared_missing(made.get(), 0, nullptr, 0, nullptr), null_pointer);
  EXPECT_EQ(stockade_shared_seal(made.get(), 0, nullptr, 16384, room, nullptr), null_pointer);
  EXPECT_EQ(stockade_shared_seal(made.get(), 0, room, 16384, nullptr, nullptr), null_pointer);
  share.next = nullptr;
  EXPECT_EQ(stockade_shared_run(made.get(), &share, nullptr), null_pointer);
}

TEST_F(SharedInterface, values_out_of_range) {
  stockade_shared_job* job = nullptr;
  const auto status_of = [&](const stockade_shared_options& wish) {
    const stockade_status status = stockade_shared_create(&job, in_.fd(), out_.fd(), &format_, &wish, nullptr, &fault_);
    EXPECT_EQ(fault_.status, status);
    EXPECT_EQ(job, nullptr);
    return status;
  };
  stockade_shared_options wish = options(STOCKADE_SHARED_ENCRYPT);
  wish.struct_size -= 1;
  EXPECT_EQ(status_of(wish), argument);
  wish = options(static_cast<stockade_shared_kind>(3));
  EXPECT_EQ(status_of(wish), argument);
  wish = options(STOCKADE_SHARED_ENCRYPT);
  wish.slice_bytes = 1000;
  EXPECT_EQ(status_of(wish), argument);
  // In memory the length is whatever is said.
  wish = options(STOCKADE_SHARED_ENCRYPT);
  wish.plain_length = (uint64_t{1} << 26) * slice_bytes + 32;
  EXPECT_EQ(stockade_shared_create(&job, -1, -1, &format_, &wish, nullptr, nullptr), argument) << "too many slices";
  wish.slice_bytes = 0;
  wish.plain_length = uint64_t{1} << 52;
  EXPECT_EQ(stockade_shared_create(&job, -1, -1, &format_, &wish, nullptr, nullptr), STOCKADE_ERROR_TOO_MANY_CHUNKS);
  EXPECT_EQ(job, nullptr);
  EXPECT_EQ(out_.size(), 0U);

  const SharedHandle made = make(STOCKADE_SHARED_ENCRYPT, in_, out_);
  Range range{3, 4};
  stockade_shared_work share = work(in_, out_, range);
  EXPECT_EQ(stockade_shared_run(made.get(), &share, nullptr), argument) << "there is no slice 3";
  EXPECT_EQ(share.fault.status, argument);
  share.struct_size += 1;
  EXPECT_EQ(stockade_shared_run(made.get(), &share, nullptr), argument);
  // A caller that was built with version 0.4.0 has a shorter structure, behind which nothing is read or written.
  struct Old {
    alignas(stockade_shared_work) uint8_t bytes[offsetof(stockade_shared_work, accept_changed_input)];
    uint8_t behind[16];
  } old;
  Range one{0, 1};
  share = work(in_, out_, one);
  share.struct_size = sizeof old.bytes;
  std::memcpy(old.bytes, &share, sizeof old.bytes);
  std::memset(old.behind, 0xEE, sizeof old.behind);
  EXPECT_EQ(stockade_shared_run(made.get(), reinterpret_cast<stockade_shared_work*>(old.bytes), nullptr), STOCKADE_OK);
  std::memcpy(&share, old.bytes, sizeof old.bytes);
  EXPECT_EQ(share.slices, 1U);
  EXPECT_TRUE(std::all_of(std::begin(old.behind), std::end(old.behind), [](uint8_t byte) { return byte == 0xEE; }));
  Bytes room(20000);
  EXPECT_EQ(stockade_shared_seal(made.get(), 1, text_.data(), 16384, room.data(), nullptr), argument);
  EXPECT_EQ(stockade_shared_seal(made.get(), 0, room.data(), 16384, room.data() + 1, nullptr), STOCKADE_ERROR_OVERLAP);
  EXPECT_EQ(stockade_shared_unseal(made.get(), 0, text_.data(), 16384, room.data(), nullptr, &fault_),
            STOCKADE_ERROR_MODE);
  EXPECT_EQ(fault_.status, STOCKADE_ERROR_MODE);
}

TEST_F(SharedInterface, memory_that_runs_out) {
  const stockade_shared_options wish = options(STOCKADE_SHARED_ENCRYPT, journal_.fd());
  stockade_shared_job* job = nullptr;
  const auto nothing_made = [&] { EXPECT_EQ(job, nullptr); };
  EXPECT_GE(sweep([&] { return stockade_shared_create(&job, in_.fd(), out_.fd(), &format_, &wish, nullptr, nullptr); },
                  nothing_made),
            5);
  const SharedHandle made(job);
  ASSERT_NE(made, nullptr);
  Range range{0, 3};
  stockade_shared_work share = work(in_, out_, range, journal_.fd());
  EXPECT_GE(sweep([&] { return stockade_shared_run(made.get(), &share, nullptr); }, [&] { range.next = 0; }), 3);
  uint64_t count = 0;
  EXPECT_GE(sweep([&] { return stockade_shared_missing(made.get(), journal_.fd(), nullptr, 0, &count); }, [] {}), 2);
  EXPECT_EQ(count, 0U);
  EXPECT_GE(sweep([&] { return stockade_shared_check(made.get(), out_.fd(), journal_.fd(), nullptr); }, [] {}), 3);
  job = nullptr;
  EXPECT_GE(
      sweep([&] { return stockade_shared_open_journal(&job, journal_.fd(), ring_.get(), 0, nullptr); }, nothing_made),
      3);
  stockade_shared_free(job);
  Bytes terms(STOCKADE_SHARED_TERMS_BYTES);
  ASSERT_EQ(stockade_shared_export(made.get(), terms.data()), STOCKADE_OK);
  job = nullptr;
  EXPECT_GE(sweep([&] { return stockade_shared_import(&job, terms.data()); }, nothing_made), 1);
  stockade_shared_free(job);
  const Opened opened = ways_to_open()[0].open(format_, out_.content());
  EXPECT_EQ(opened.text, text_);
}

}  // namespace
}  // namespace stockade::tests
