// SharedJob of stockade.hpp.
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <vector>

#include "cross/file_sample.h"
#include "cross/temporary_file.h"
#include "stockade/stockade.hpp"

namespace stockade::tests {
namespace {

static_assert(!std::is_copy_constructible_v<SharedJob> && std::is_nothrow_move_assignable_v<SharedJob>);

constexpr uint64_t slice_bytes = 256 << 10;

// The status that `call` throws; STOCKADE_OK if it does not.
template <typename Call>
stockade_status thrown(const Call& call) {
  try {
    call();
  } catch (const Error& error) {
    EXPECT_EQ(error.fault().status, error.status());
    return error.status();
  }
  return STOCKADE_OK;
}

// Hands out slices of a list.
std::function<std::optional<uint64_t>()> from(std::vector<uint64_t> slices) {
  std::reverse(slices.begin(), slices.end());
  return [slices]() mutable -> std::optional<uint64_t> {
    if (slices.empty()) return {};
    const uint64_t slice = slices.back();
    slices.pop_back();
    return slice;
  };
}

class SharedWrapper : public testing::Test {
 protected:
  SharedWrapper() {
    ring_.add_key(sample_key(1));
    format_.keyring = &ring_;
  }
  const Bytes text_ = sample_text(4 * slice_bytes - 1);
  Keyring ring_;
  Format format_;
  const TemporaryFile in_{text_}, out_, journal_, back_;
};

TEST_F(SharedWrapper, makes_opens_and_verifies) {
  const SharedJob job(in_.fd(), out_.fd(), format_, {.slice_bytes = slice_bytes, .journal_fd = journal_.fd()});
  EXPECT_EQ(job.info().slices, 4U);
  EXPECT_EQ(job.missing(journal_.fd()), (std::vector<uint64_t>{0, 1, 2, 3}));
  SharedWork work{.in_fd = in_.fd(), .out_fd = out_.fd(), .journal_fd = journal_.fd(), .next = from({3, 1})};
  uint64_t last = 0;
  work.total = 2 * slice_bytes - 1;
  work.progress = [&](uint64_t done, uint64_t total) {
    EXPECT_EQ(total, 2 * slice_bytes - 1);
    last = done;
    return true;
  };
  EXPECT_EQ(job.run(work).slices, 2U);
  EXPECT_EQ(last, 2 * slice_bytes - 1);
  EXPECT_EQ(thrown([&] { job.check(out_.fd(), journal_.fd()); }), STOCKADE_ERROR_INCOMPLETE);
  const SharedJob later = SharedJob::from_journal(journal_.fd(), ring_);
  const SharedResult result = later.run({.in_fd = in_.fd(),
                                         .out_fd = out_.fd(),
                                         .journal_fd = journal_.fd(),
                                         .next = from(later.missing(journal_.fd()))});
  EXPECT_EQ(result.in_length, 2 * slice_bytes);
  later.check(out_.fd(), journal_.fd());

  const SharedJob opening(out_.fd(), back_.fd(), format_, {.kind = SharedKind::decrypt, .slice_bytes = slice_bytes});
  SharedJob::Terms terms;
  opening.write_terms(terms);
  const SharedJob elsewhere = SharedJob::from_terms(terms);
  elsewhere.run({.in_fd = out_.fd(), .out_fd = back_.fd(), .next = from({2, 0, 3, 1})});
  EXPECT_EQ(back_.content(), text_);
  terms[3] ^= std::byte{1};
  EXPECT_EQ(thrown([&] { SharedJob::from_terms(terms); }), STOCKADE_ERROR_MISMATCH);

  Bytes damaged = out_.content();
  damaged[sample_chunk(20)] ^= 1;
  const TemporaryFile bad(damaged);
  const SharedJob verifying(bad.fd(), -1, format_, {.kind = SharedKind::verify, .slice_bytes = slice_bytes});
  std::vector<Damage> damage;
  EXPECT_EQ(thrown([&] {
              verifying.run({.in_fd = bad.fd(), .next = from({0, 1, 2, 3}), .damage = &damage});
            }),
            STOCKADE_ERROR_CHUNK);
  ASSERT_EQ(damage.size(), 1U);
  EXPECT_EQ(damage[0].chunk, 20U);
}

TEST_F(SharedWrapper, lets_exceptions_through) {
  const SharedJob job(in_.fd(), out_.fd(), format_, {.slice_bytes = slice_bytes});
  SharedWork work{.in_fd = in_.fd(), .out_fd = out_.fd(), .next = from({0})};
  work.progress = [](uint64_t, uint64_t) -> bool { throw std::domain_error("progress"); };
  EXPECT_THROW(job.run(work), std::domain_error);
  work.progress = [](uint64_t, uint64_t) { return false; };
  work.next = from({0});
  EXPECT_EQ(thrown([&] { job.run(work); }), STOCKADE_ERROR_CANCELLED);
  work.next = []() -> std::optional<uint64_t> { throw std::range_error("next"); };
  EXPECT_THROW(job.run(work), std::range_error);
  EXPECT_EQ(thrown([&] { SharedJob::from_journal(journal_.fd(), ring_); }), STOCKADE_ERROR_TRUNCATED);
}

TEST_F(SharedWrapper, seals_and_opens_in_memory) {
  const SharedJob job(-1, out_.fd(), format_, {.plain_length = text_.size()});
  const uint64_t middle = 5 * STOCKADE_CHUNK_BYTES;
  for (const uint64_t begin : {uint64_t{0}, middle}) {
    const uint64_t end = begin == 0 ? middle : text_.size();
    const Bytes piece(text_.begin() + static_cast<long>(begin), text_.begin() + static_cast<long>(end));
    Bytes sealed(job.sealed_length(begin, piece.size()));
    Bytes shorter(sealed.size() - 1);
    EXPECT_EQ(thrown([&] { job.seal(begin, piece, shorter); }), STOCKADE_ERROR_OUTPUT_SIZE);
    job.seal(begin, piece, sealed);
    const uint64_t place = job.info().beginning_length + begin / STOCKADE_CHUNK_BYTES * STOCKADE_SEALED_CHUNK_BYTES;
    write_exactly(out_.fd(), place, sealed.data(), sealed.size());
  }
  job.check(out_.fd());
  const Opened opened = ways_to_open()[0].open(format_.native(), out_.content());
  EXPECT_EQ(opened.text, text_);
  const SharedJob opening(out_.fd(), -1, format_, {.kind = SharedKind::decrypt});
  Bytes sealed(opening.sealed_length(middle, STOCKADE_CHUNK_BYTES)), plain(STOCKADE_CHUNK_BYTES);
  read_exactly(out_.fd(), opening.info().beginning_length + 5 * STOCKADE_SEALED_CHUNK_BYTES, sealed.data(),
               sealed.size());
  opening.unseal(middle, sealed, plain);
  EXPECT_TRUE(std::equal(plain.begin(), plain.end(), text_.begin() + static_cast<long>(middle)));
  sealed[7] ^= 1;
  EXPECT_EQ(thrown([&] { opening.unseal(middle, sealed, plain); }), STOCKADE_ERROR_CHUNK);
  sealed.pop_back();
  EXPECT_EQ(thrown([&] { opening.unseal(middle, sealed, plain); }), STOCKADE_ERROR_ARGUMENT);
}

}  // namespace
}  // namespace stockade::tests
