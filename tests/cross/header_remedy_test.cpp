// What is to be done after an interrupted replacement of a header, through the C interface: for every state in which a power
// cut may leave the copy or the file.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "cross/file_sample.h"

namespace stockade::tests {
namespace {

constexpr uint64_t sector = 512;

class HeaderRemedy : public testing::Test {
 protected:
  HeaderRemedy() {
    front_ = seal(format_for(old_ring_), sample_text(100));
    copy_ = Bytes(front_.begin(), front_.begin() + sample_header + STOCKADE_PREAMBLE_BYTES);
    renewed_ = front_;
    Bytes header(1 << 16);
    uint64_t length = 0;
    char id[12];
    const Bytes old_key = sample_key(1);
    EXPECT_EQ(stockade_key_id(old_key.data(), old_key.size(), id), STOCKADE_OK);
    const char* removed[] = {id};
    EXPECT_EQ(stockade_header_rekey(front_.data(), sample_header, old_ring_.get(), 0, removed, 1, new_ring_.get(),
                                    header.data(), header.size(), &length, nullptr),
              STOCKADE_OK);
    EXPECT_EQ(length, sample_header);
    std::copy_n(header.begin(), sample_header, renewed_.begin());
  }

  struct Answer {
    stockade_status status;
    stockade_remedy remedy;
    bool operator==(const Answer&) const = default;
  };
  Answer ask(const Bytes& front, const Bytes& copy, const KeyringHandle& ring) {
    Answer answer{STOCKADE_OK, STOCKADE_REMEDY_FOREIGN};
    stockade_fault fault;
    answer.status = stockade_header_remedy(front.data(), front.size(), copy.data(), copy.size(), ring.get(), 0,
                                           &answer.remedy, &fault);
    EXPECT_EQ(fault.status, answer.status);
    return answer;
  }
  void expect(stockade_remedy remedy, const Bytes& front, const Bytes& copy, const KeyringHandle& ring) {
    const Answer answer = ask(front, copy, ring);
    EXPECT_EQ(answer.status, STOCKADE_OK);
    EXPECT_EQ(answer.remedy, remedy);
  }

  const KeyringHandle old_ring_ = keyring_of({sample_key(1)}), new_ring_ = keyring_of({sample_key(2)}),
                      both_ring_ = keyring_of({sample_key(1), sample_key(2)}),
                      other_ring_ = keyring_of({sample_key(9)});
  Bytes front_, copy_, renewed_;
};

TEST_F(HeaderRemedy, nothing_was_written_yet) { expect(STOCKADE_REMEDY_KEEP, front_, copy_, old_ring_); }

TEST_F(HeaderRemedy, everything_was_written) {
  expect(STOCKADE_REMEDY_KEEP, renewed_, copy_, new_ring_);
  expect(STOCKADE_REMEDY_KEEP, renewed_, copy_, both_ring_);
  // Whoever opens only the copy decides.
  expect(STOCKADE_REMEDY_CHOOSE, renewed_, copy_, old_ring_);
}

TEST_F(HeaderRemedy, header_torn_at_every_byte) {
  for (uint64_t cut = 1; cut < sample_header; ++cut) {
    Bytes torn = front_;
    std::copy_n(renewed_.begin(), cut, torn.begin());
    if (torn == front_ || torn == renewed_) continue;
    // What both headers begin and end with may have been all that was written.
    const Answer with_old = ask(torn, copy_, old_ring_), with_new = ask(torn, copy_, new_ring_);
    const Answer restore{STOCKADE_OK, STOCKADE_REMEDY_RESTORE};
    EXPECT_EQ(with_old.status, STOCKADE_OK) << cut;
    EXPECT_EQ(with_old.remedy, restore.remedy) << cut;
    // Nobody whom the copy does not know may have it restored.
    EXPECT_FALSE(with_new == restore) << cut;
    EXPECT_FALSE(ask(torn, copy_, other_ring_) == restore) << cut;
  }
}

TEST_F(HeaderRemedy, first_sector_lost) {
  Bytes lost = renewed_;
  std::fill_n(lost.begin(), sector, uint8_t{0});
  expect(STOCKADE_REMEDY_RESTORE, lost, copy_, old_ring_);
}

TEST_F(HeaderRemedy, copy_of_every_length) {
  // While the copy is made the file is whole.
  for (uint64_t length = 0; length < copy_.size(); ++length) {
    const Bytes torn(copy_.begin(), copy_.begin() + static_cast<long>(length));
    expect(STOCKADE_REMEDY_KEEP, front_, torn, old_ring_);
    // Beside a damaged file it is worth nothing, and stays.
    Bytes damaged = front_;
    damaged[700] ^= 1;
    const Answer answer = ask(damaged, torn, old_ring_);
    EXPECT_EQ(answer.status, STOCKADE_OK) << length;
    EXPECT_EQ(answer.remedy, STOCKADE_REMEDY_FOREIGN) << length;
  }
}

TEST_F(HeaderRemedy, sectors_of_the_copy_lost) {
  for (uint64_t at = 0; at < copy_.size(); at += sector) {
    Bytes torn = copy_;
    std::fill_n(torn.begin() + static_cast<long>(at), std::min(sector, copy_.size() - at), uint8_t{0});
    expect(STOCKADE_REMEDY_KEEP, front_, torn, old_ring_);
  }
}

TEST_F(HeaderRemedy, copy_that_is_not_of_this_file) {
  const Bytes other = seal(format_for(old_ring_), sample_text(100));
  const Bytes foreign(other.begin(), other.begin() + static_cast<long>(copy_.size()));
  expect(STOCKADE_REMEDY_FOREIGN, front_, foreign, old_ring_);
  Bytes damaged = front_;
  damaged[700] ^= 1;
  expect(STOCKADE_REMEDY_FOREIGN, damaged, foreign, old_ring_);
  // An authentic header of another file, with this one's preamble behind it.
  Bytes grafted = foreign;
  std::copy_n(copy_.begin() + sample_header, STOCKADE_PREAMBLE_BYTES, grafted.begin() + sample_header);
  expect(STOCKADE_REMEDY_FOREIGN, damaged, grafted, old_ring_);
  // One bit anywhere.
  for (uint64_t at = 0; at < copy_.size(); at += 7) {
    Bytes flipped = copy_;
    flipped[at] ^= 4;
    const Answer answer = ask(damaged, flipped, old_ring_);
    // In the stanza it is that of somebody else.
    EXPECT_TRUE((answer == Answer{STOCKADE_OK, STOCKADE_REMEDY_FOREIGN}) || answer.status == STOCKADE_ERROR_NO_IDENTITY)
        << at;
  }
}

TEST_F(HeaderRemedy, nobody_here_opens_either) {
  EXPECT_EQ(ask(renewed_, copy_, other_ring_).status, STOCKADE_ERROR_NO_IDENTITY);
}

TEST_F(HeaderRemedy, arguments) {
  stockade_remedy remedy = STOCKADE_REMEDY_CHOOSE;
  stockade_fault fault;
  EXPECT_EQ(stockade_header_remedy(nullptr, 1, copy_.data(), copy_.size(), old_ring_.get(), 0, &remedy, &fault),
            STOCKADE_ERROR_NULL_POINTER);
  EXPECT_EQ(
      stockade_header_remedy(front_.data(), front_.size(), copy_.data(), copy_.size(), nullptr, 0, &remedy, &fault),
      STOCKADE_ERROR_NULL_POINTER);
  EXPECT_EQ(stockade_header_remedy(front_.data(), front_.size(), copy_.data(), copy_.size(), old_ring_.get(), 0,
                                   nullptr, &fault),
            STOCKADE_ERROR_NULL_POINTER);
  EXPECT_EQ(remedy, STOCKADE_REMEDY_CHOOSE);
  EXPECT_EQ(ask(in_armor(front_), copy_, old_ring_).status, STOCKADE_ERROR_MAGIC);
}

}  // namespace
}  // namespace stockade::tests
