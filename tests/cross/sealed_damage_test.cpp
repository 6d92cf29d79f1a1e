// Stockade files that somebody or something has changed: each is refused, and never is a byte released that was not
// authenticated.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <functional>
#include <thread>

#include "cross/handles.h"
#include "cross/random_source.h"
#include "cross/temporary_file.h"

namespace stockade::tests {
namespace {

constexpr uint64_t chunk = STOCKADE_CHUNK_BYTES, sealed_chunk = STOCKADE_SEALED_CHUNK_BYTES;

struct KeyringDeleter {
  void operator()(stockade_keyring* ring) const { stockade_keyring_free(ring); }
};
struct FileDeleter {
  void operator()(stockade_file* file) const { stockade_file_free(file); }
};
struct ReaderDeleter {
  void operator()(stockade_reader* reader) const { stockade_reader_free(reader); }
};

int read_from_memory(void* context, uint64_t offset, void* buffer, uint64_t length) {
  const auto& bytes = *static_cast<const Bytes*>(context);
  if (offset > bytes.size() || length > bytes.size() - offset) return -1;
  std::copy_n(bytes.begin() + static_cast<std::ptrdiff_t>(offset), length, static_cast<uint8_t*>(buffer));
  return 0;
}

struct Range {
  uint64_t chunk, count, offset, length;
};
int note_range(void* context, uint64_t first, uint64_t count, uint64_t offset, uint64_t length) {
  static_cast<std::vector<Range>*>(context)->push_back({first, count, offset, length});
  return 0;
}

class SealedDamage : public testing::Test {
 protected:
  SealedDamage() {
    stockade_keyring* ring = nullptr;
    EXPECT_EQ(stockade_keyring_create(&ring), STOCKADE_OK);
    ring_.reset(ring);
    const Bytes key(32, 9);
    EXPECT_EQ(stockade_keyring_add_key(ring, key.data(), key.size()), STOCKADE_OK);
    format_.struct_size = sizeof format_;
    format_.keyring = ring;
  }

  Bytes seal(const Bytes& text) const {
    const auto file = make(STOCKADE_ENCRYPT);
    Bytes out(stockade_file_bound(file.get(), text.size()) + stockade_file_bound(file.get(), 0) + chunk);
    uint64_t written = 0, last = 0;
    EXPECT_EQ(stockade_file_update(file.get(), text.data(), text.size(), out.data(), out.size(), &written),
              STOCKADE_OK);
    EXPECT_EQ(stockade_file_final(file.get(), out.data() + written, out.size() - written, &last), STOCKADE_OK);
    out.resize(written + last);
    return out;
  }

  std::unique_ptr<stockade_file, FileDeleter> make(stockade_direction direction) const {
    stockade_file* file = nullptr;
    EXPECT_EQ(stockade_file_create(&file, direction, &format_, nullptr), STOCKADE_OK);
    return std::unique_ptr<stockade_file, FileDeleter>(file);
  }

  struct Opened {
    stockade_status status;
    stockade_fault fault;
    Bytes text;  // what was released before
  };

  // In pieces of `piece` bytes.
  Opened open(const Bytes& sealed, uint64_t piece) const {
    const auto file = make(STOCKADE_DECRYPT);
    Opened opened{};
    Bytes out;
    for (uint64_t done = 0; opened.status == STOCKADE_OK && done <= sealed.size(); done += piece) {
      const uint64_t length = std::min<uint64_t>(piece, sealed.size() - done);
      out.resize(stockade_file_bound(file.get(), length) + 1);
      uint64_t written = 0;
      opened.status =
          length != 0 ? stockade_file_update(file.get(), sealed.data() + done, length, out.data(), out.size(), &written)
                      : stockade_file_final(file.get(), out.data(), out.size(), &written);
      opened.text.insert(opened.text.end(), out.begin(), out.begin() + static_cast<std::ptrdiff_t>(written));
      if (length == 0) break;
      if (length < piece) done = sealed.size() - piece;
    }
    stockade_file_fault(file.get(), &opened.fault);
    return opened;
  }

  Opened open_file(const Bytes& sealed) const {
    const TemporaryFile in(sealed), out;
    Opened opened{};
    stockade_file_job job{};
    job.struct_size = sizeof job;
    opened.status = stockade_file_decrypt_fd(in.fd(), out.fd(), &format_, &job, nullptr);
    opened.fault = job.fault;
    opened.text = out.content();
    return opened;
  }

  Opened open_reader(Bytes sealed) const {
    Opened opened{};
    stockade_reader* made = nullptr;
    opened.status =
        stockade_reader_create(&made, read_from_memory, &sealed, sealed.size(), &format_, nullptr, &opened.fault);
    const std::unique_ptr<stockade_reader, ReaderDeleter> reader(made);
    if (opened.status != STOCKADE_OK) return opened;
    opened.text.resize(stockade_reader_length(made));
    uint64_t got = 0;
    opened.status = stockade_reader_read_at(made, 0, opened.text.data(), opened.text.size(), &got, &opened.fault);
    opened.text.resize(got);
    return opened;
  }

  struct Verified {
    stockade_status status;
    stockade_fault fault;
    std::vector<Range> ranges;
    uint64_t intact;
  };
  Verified verify(const Bytes& sealed) const {
    const TemporaryFile in(sealed);
    Verified verified{};
    stockade_file_job job{};
    job.struct_size = sizeof job;
    job.damage = note_range;
    job.damage_context = &verified.ranges;
    verified.status = stockade_file_verify_fd(in.fd(), &format_, &job, nullptr);
    verified.fault = job.fault;
    verified.intact = job.out_length;
    return verified;
  }

  // Every way of reading refuses it; a file gets nothing, a stream at most whole chunks of the truth.
  void expect_refused(const Bytes& sealed, const Bytes& text, const char* what) {
    for (const uint64_t piece : {uint64_t{1} << 20, uint64_t{1000}}) {
      const Opened opened = open(sealed, piece);
      ASSERT_NE(opened.status, STOCKADE_OK) << what;
      ASSERT_EQ(opened.fault.status, opened.status) << what;
      ASSERT_EQ(opened.text.size() % chunk, 0U) << what;
      ASSERT_LE(opened.text.size(), text.size()) << what;
      ASSERT_TRUE(std::equal(opened.text.begin(), opened.text.end(), text.begin())) << what;
    }
    const Opened from_file = open_file(sealed);
    ASSERT_NE(from_file.status, STOCKADE_OK) << what;
    ASSERT_TRUE(from_file.text.empty()) << what;
    const Opened read = open_reader(sealed);
    ASSERT_NE(read.status, STOCKADE_OK) << what;
    ASSERT_TRUE(read.text.empty()) << what;
    ASSERT_NE(verify(sealed).status, STOCKADE_OK) << what;
  }

  uint64_t header_length(const Bytes& sealed) const {
    stockade_header* header = nullptr;
    EXPECT_EQ(stockade_header_parse(&header, sealed.data(), sealed.size(), nullptr), STOCKADE_OK);
    const uint64_t length = stockade_header_length(header);
    stockade_header_free(header);
    return length;
  }

  std::unique_ptr<stockade_keyring, KeyringDeleter> ring_;
  stockade_format format_{};
};

TEST_F(SealedDamage, truncation_at_every_byte_of_a_small_file) {
  RandomSource random;
  const Bytes text = random.bytes(300), sealed = seal(text);
  for (uint64_t length = 0; length < sealed.size(); ++length) {
    const Bytes cut(sealed.begin(), sealed.begin() + static_cast<std::ptrdiff_t>(length));
    const Opened opened = open(cut, 1 << 20);
    // Where the last chunk is cut inside, nothing can tell this from damage.
    const uint64_t chunk_begin = header_length(sealed) + STOCKADE_PREAMBLE_BYTES;
    const auto expected = length < chunk_begin + 16 ? STOCKADE_ERROR_TRUNCATED : STOCKADE_ERROR_CHUNK;
    ASSERT_EQ(opened.status, expected) << length;
    ASSERT_EQ(open_file(cut).status, expected) << length;
    ASSERT_EQ(open_reader(cut).status, expected) << length;
    ASSERT_EQ(verify(cut).status, expected) << length;
    expect_refused(cut, text, "truncated");
  }
}

TEST_F(SealedDamage, truncation_around_every_chunk_of_a_large_file) {
  RandomSource random;
  const Bytes text = random.bytes(40 * chunk + 100), sealed = seal(text);
  const uint64_t payload = header_length(sealed) + STOCKADE_PREAMBLE_BYTES;
  for (uint64_t i = 0; i <= 40; ++i) {
    for (const int64_t step : {-1, 0, 1, 15, 16}) {
      const uint64_t length = payload + i * sealed_chunk + static_cast<uint64_t>(step);
      const Bytes cut(sealed.begin(), sealed.begin() + static_cast<std::ptrdiff_t>(length));
      expect_refused(cut, text, "truncated");
      const bool at_a_boundary = (length - payload) % sealed_chunk < 16;
      if (length >= payload) {
        ASSERT_EQ(open_file(cut).status, at_a_boundary ? STOCKADE_ERROR_TRUNCATED : STOCKADE_ERROR_CHUNK) << length;
      }
    }
  }
}

TEST_F(SealedDamage, a_flipped_bit_anywhere) {
  RandomSource random;
  const Bytes text = random.bytes(20000);
  Bytes sealed = seal(text);
  for (uint64_t i = 0; i < sealed.size(); i += i < 1200 ? 1 : 97) {
    const auto bit = static_cast<uint8_t>(1 << random.below(8));
    sealed[i] ^= bit;
    expect_refused(sealed, text, "bit flipped");
    sealed[i] ^= bit;
  }
  EXPECT_EQ(open(sealed, 1000).text, text);
}

TEST_F(SealedDamage, chunks_that_are_not_where_they_belong) {
  RandomSource random;
  const Bytes text = random.bytes(6 * chunk + 5), sealed = seal(text), other = seal(text);
  const auto at = [&](uint64_t i) {
    return static_cast<std::ptrdiff_t>(header_length(sealed) + STOCKADE_PREAMBLE_BYTES + i * sealed_chunk);
  };
  const auto expect_at = [&](const Bytes& changed, uint64_t first_bad, const char* what) {
    expect_refused(changed, text, what);
    const Opened opened = open(changed, 1 << 20);
    ASSERT_EQ(opened.status, STOCKADE_ERROR_CHUNK) << what;
    EXPECT_EQ(opened.fault.chunk, first_bad) << what;
    EXPECT_EQ(opened.fault.offset, static_cast<uint64_t>(at(first_bad))) << what;
  };
  Bytes changed = sealed;
  std::swap_ranges(changed.begin() + at(1), changed.begin() + at(2), changed.begin() + at(4));
  expect_at(changed, 1, "swapped");
  const Verified verified = verify(changed);
  ASSERT_EQ(verified.ranges.size(), 2U);
  EXPECT_EQ(verified.ranges[0].chunk, 1U);
  EXPECT_EQ(verified.ranges[0].count, 1U);
  EXPECT_EQ(verified.ranges[1].chunk, 4U);
  EXPECT_EQ(verified.ranges[1].offset, static_cast<uint64_t>(at(4)));
  EXPECT_EQ(verified.ranges[1].length, sealed_chunk);
  EXPECT_EQ(verified.intact, text.size() - 2 * chunk);

  changed = sealed;
  changed.insert(changed.begin() + at(3), sealed.begin() + at(2), sealed.begin() + at(3));
  expect_at(changed, 3, "duplicated");
  changed = sealed;
  changed.erase(changed.begin() + at(2), changed.begin() + at(3));
  expect_at(changed, 2, "removed");
  changed = sealed;
  std::copy(other.begin() + at(2), other.begin() + at(4), changed.begin() + at(2));
  expect_at(changed, 2, "of another file");
  EXPECT_EQ(verify(changed).ranges.at(0).count, 2U);
  // The other file's payload behind this file's header.
  changed = sealed;
  std::copy(other.begin() + at(0) - STOCKADE_PREAMBLE_BYTES, other.end(),
            changed.begin() + at(0) - STOCKADE_PREAMBLE_BYTES);
  expect_refused(changed, text, "another file's payload");
  EXPECT_EQ(open(changed, 1 << 20).status, STOCKADE_ERROR_COMMITMENT);
}

TEST_F(SealedDamage, data_after_the_last_chunk) {
  RandomSource random;
  for (const uint64_t length : {uint64_t{0}, uint64_t{1}, uint64_t{16}, uint64_t{1000}, 3 * chunk + 77}) {
    const Bytes text = random.bytes(length), sealed = seal(text);
    for (const uint64_t extra : {1, 15, 16, 17, 5000, 16400, 40000}) {
      Bytes longer = sealed;
      const Bytes more = random.bytes(extra);
      longer.insert(longer.end(), more.begin(), more.end());
      expect_refused(longer, text, "longer");
      const Opened opened = open(longer, 1 << 20);
      ASSERT_EQ(opened.status, STOCKADE_ERROR_TRAILING_DATA) << length << " and " << extra;
      EXPECT_EQ(opened.fault.offset, sealed.size());
    }
  }
}

TEST_F(SealedDamage, random_mutations) {
  RandomSource random;
  // A damaged chunk is searched for its end, which takes long for a whole one: so most files have a short one only.
  const Bytes short_text = random.bytes(1000), long_text = random.bytes(chunk + 100), other_text = random.bytes(chunk);
  const Bytes short_sealed = seal(short_text), long_sealed = seal(long_text), other = seal(other_text);
  uint64_t unchanged = 0;
  const uint64_t cases = scaled(100000);
  for (uint64_t i = 0; i < cases; ++i) {
    const bool is_long = random.one_in(8);
    const Bytes &text = is_long ? long_text : short_text, &sealed = is_long ? long_sealed : short_sealed;
    Bytes changed = sealed;
    for (uint64_t edits = random.between(1, 3); edits != 0; --edits) {
      if (changed.empty()) break;
      const uint64_t begin = random.below(changed.size()), length = random.between(1, random.one_in(4) ? 20000 : 20);
      const auto first = changed.begin() + static_cast<std::ptrdiff_t>(begin);
      const auto last =
          changed.begin() + static_cast<std::ptrdiff_t>(std::min<uint64_t>(begin + length, changed.size()));
      switch (random.below(5)) {
        case 0:
          *first = static_cast<uint8_t>(*first ^ random.between(1, 255));
          break;
        case 1:
          changed.erase(first, last);
          break;
        case 2: {
          const Bytes copy(first, last);
          changed.insert(changed.begin() + static_cast<std::ptrdiff_t>(random.below(changed.size() + 1)), copy.begin(),
                         copy.end());
          break;
        }
        case 3:
          std::copy_n(other.begin() + static_cast<std::ptrdiff_t>(std::min<uint64_t>(begin, other.size() - 1)),
                      std::min<uint64_t>(static_cast<uint64_t>(last - first),
                                         other.size() - std::min<uint64_t>(begin, other.size() - 1)),
                      first);
          break;
        default:
          changed.resize(begin);
      }
    }
    const Opened opened = open(changed, random.one_in(2) ? 1 << 20 : random.between(500, 40000));
    if (changed == sealed) {
      ++unchanged;
      ASSERT_EQ(opened.status, STOCKADE_OK);
      continue;
    }
    ASSERT_NE(opened.status, STOCKADE_OK) << "case " << i;
    ASSERT_NE(opened.fault.status, STOCKADE_OK);
    ASSERT_EQ(opened.text.size() % chunk, 0U);
    ASSERT_LE(opened.text.size(), text.size());
    // So much of the other file may have been copied over this one that it is the beginning of that one now.
    ASSERT_TRUE(std::equal(opened.text.begin(), opened.text.end(), text.begin()) || opened.text == other_text)
        << "case " << i;
  }
  EXPECT_LT(unchanged, cases / 10 + 1);
}

TEST_F(SealedDamage, a_pipe_may_get_earlier_chunks_and_the_call_then_fails) {
  RandomSource random;
  const Bytes text = random.bytes(200 * chunk + 9);
  Bytes sealed = seal(text);
  const uint64_t bad = header_length(sealed) + STOCKADE_PREAMBLE_BYTES + 150 * sealed_chunk + 7;
  sealed[bad] ^= 1;
  const TemporaryFile in(sealed);
  int ends[2];
  ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
  Bytes got;
  std::thread drain([&] {
    Bytes piece(65536);
    for (ssize_t n; (n = read(ends[0], piece.data(), piece.size())) > 0;) {
      got.insert(got.end(), piece.begin(), piece.begin() + n);
    }
  });
  stockade_file_job job{};
  job.struct_size = sizeof job;
  EXPECT_EQ(stockade_file_decrypt_fd(in.fd(), ends[1], &format_, &job, nullptr), STOCKADE_ERROR_CHUNK);
  EXPECT_EQ(job.fault.chunk, 150U);
  close(ends[1]);
  drain.join();
  close(ends[0]);
  EXPECT_LE(got.size(), 150 * chunk);
  EXPECT_TRUE(std::equal(got.begin(), got.end(), text.begin()));
}

}  // namespace
}  // namespace stockade::tests
