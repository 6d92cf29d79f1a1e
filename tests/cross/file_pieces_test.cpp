// A Stockade file in pieces: what fits where, in which order calls may come, and what remains after an error.
#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "cross/file_sample.h"
#include "cross/guarded_memory.h"
#include "cross/handles.h"
#include "cross/random_source.h"

namespace stockade::tests {
namespace {

enum class Kind { stockade, armored, plain };
struct PieceCase {
  Kind kind;
  stockade_direction direction;
};

// One of the three kinds of files in one direction.
class FilePieces : public testing::TestWithParam<PieceCase> {
 protected:
  FilePieces() {
    format_ = GetParam().kind == Kind::plain ? plain_format(key_, context_) : format_for(ring_);
    format_.armor = GetParam().kind == Kind::armored && making();
  }
  bool making() const { return GetParam().direction == STOCKADE_ENCRYPT; }

  // What goes in for a text of so many bytes.
  Bytes input(uint64_t length) const {
    const Bytes text = sample_text(length);
    if (making()) return text;
    const Bytes sealed = seal(format_, text);
    return GetParam().kind == Kind::armored ? in_armor(sealed) : sealed;
  }
  FileHandle file(const stockade_engine* engine = nullptr) const {
    return make_file(GetParam().direction, format_, engine);
  }
  // Whether the output is right for a text of so many bytes.
  void expect_right(const Bytes& out, uint64_t length) const {
    const Bytes text = sample_text(length);
    if (!making()) {
      EXPECT_TRUE(out == text) << out.size();
      return;
    }
    for (const Way& way : ways_to_open()) {
      if (way.means != Means::pull) continue;
      const Opened opened = way.open(format_, out);
      EXPECT_EQ(opened.status, STOCKADE_OK);
      EXPECT_TRUE(opened.text == text);
    }
  }

  // Gives `in` in pieces of what `next` says, each with room for exactly the bound and not a byte more that could be
  // touched.
  template <typename Next>
  Bytes run(const FileHandle& file, const Bytes& in, const Next& next) const {
    Bytes out;
    for (uint64_t done = 0; done < in.size();) {
      const uint64_t length = std::min<uint64_t>(next(), in.size() - done);
      add(
          out, file, length,
          [&](uint8_t* room, uint64_t size, uint64_t* written) {
            return stockade_file_update(file.get(), in.data() + done, length, room, size, written);
          },
          length == 0);
      done += length;
    }
    add(out, file, 0, [&](uint8_t* room, uint64_t size, uint64_t* written) {
      return stockade_file_final(file.get(), room, size, written);
    });
    return out;
  }
  // `nothing` says that the call has nothing to do, and needs no room for what it does not write.
  template <typename Call>
  static void add(Bytes& out, const FileHandle& file, uint64_t length, const Call& call, bool nothing = false) {
    const uint64_t bound = stockade_file_bound(file.get(), length);
    // Not much more than it takes: a header, a chunk that was held back, armor.
    EXPECT_LE(bound, length + length / 2 + 40000);
    // A byte too far ends the process.
    constexpr uint64_t most = 300000;
    static const FencedMemory fenced(most);
    ASSERT_LE(bound, most);
    uint8_t* const room = fenced.back(bound);
    uint64_t written = 77;
    if (bound != 0 && !nothing) {
      EXPECT_EQ(call(room, bound - 1, &written), STOCKADE_ERROR_OUTPUT_SIZE);
      EXPECT_EQ(written, 0U);
      EXPECT_EQ(stockade_file_bound(file.get(), length), bound);
    }
    ASSERT_EQ(call(room, bound, &written), STOCKADE_OK);
    ASSERT_LE(written, bound);
    out.insert(out.end(), room, room + written);
  }

  const Bytes key_ = sample_key(1), context_ = {1, 2, 3};
  const KeyringHandle ring_ = keyring_of({key_});
  stockade_format format_;
};

const PieceCase piece_cases[] = {{Kind::stockade, STOCKADE_ENCRYPT}, {Kind::stockade, STOCKADE_DECRYPT},
                                 {Kind::armored, STOCKADE_ENCRYPT},  {Kind::armored, STOCKADE_DECRYPT},
                                 {Kind::plain, STOCKADE_ENCRYPT},    {Kind::plain, STOCKADE_DECRYPT}};
std::string piece_label(const testing::TestParamInfo<PieceCase>& info) {
  const char* const kinds[] = {"stockade", "armored", "plain"};
  return std::string(kinds[static_cast<int>(info.param.kind)]) +
         (info.param.direction == STOCKADE_ENCRYPT ? "_made" : "_opened");
}
INSTANTIATE_TEST_SUITE_P(All, FilePieces, testing::ValuesIn(piece_cases), piece_label);

// OUTPUT_SIZE takes nothing: each call is first made with a byte too little.
TEST_P(FilePieces, fit_into_their_bound_whatever_their_size) {
  constexpr uint64_t length = 3000;
  const Bytes in = input(length);
  for (uint64_t piece = 1; piece <= 200; ++piece) {
    const FileHandle made = file();
    expect_right(run(made, in, [&] { return piece; }), length);
  }
  // Over the end of a chunk, which armor brings nearer in whole lines.
  const uint64_t long_length = 2 * STOCKADE_CHUNK_BYTES + 5000;
  const Bytes long_in = input(long_length);
  for (const uint64_t piece : {1, 2, 3, 7, 16, 47, 48, 49, 63, 64, 65, 66, 100}) {
    const FileHandle made = file();
    expect_right(run(made, long_in, [&] { return piece; }), long_length);
  }
  for (const uint64_t unit : {uint64_t{1024}, uint64_t{STOCKADE_CHUNK_BYTES}, uint64_t{STOCKADE_SEALED_CHUNK_BYTES},
                              uint64_t{2 * STOCKADE_CHUNK_BYTES}, long_in.size()}) {
    for (const int64_t more : {-17, -16, -1, 0, 1, 15, 16, 17}) {
      const FileHandle made = file();
      expect_right(run(made, long_in, [&] { return unit + static_cast<uint64_t>(more); }), long_length);
    }
  }
}

TEST_P(FilePieces, fit_into_their_bound_in_any_mixture) {
  RandomSource random;
  const uint64_t texts[] = {0, 1, 15, 16, 100, 16383, 16384, 16385, 32768, 100000};
  for (const uint64_t length : texts) {
    const Bytes in = input(length);
    for (uint64_t i = 0; i < scaled(20); ++i) {
      const FileHandle made = file(all_engines()[random.below(all_engines().size())].engine);
      const uint64_t most = random.one_in(2) ? 40000 : 300;
      // Now and then nothing at all.
      expect_right(run(made, in, [&] { return random.one_in(10) ? 0 : random.between(1, most); }), length);
    }
  }
}

TEST_P(FilePieces, that_are_longer_than_any_memory_have_no_bound_that_wraps) {
  const FileHandle made = file();
  uint64_t before = stockade_file_bound(made.get(), 1);
  for (const uint64_t length :
       {uint64_t{1} << 40, uint64_t{1} << 60, (uint64_t{1} << 62) + 1, UINT64_MAX - 20000, UINT64_MAX}) {
    const uint64_t bound = stockade_file_bound(made.get(), length);
    EXPECT_GE(bound, making() ? length : length / 2) << length;
    EXPECT_GE(bound, before) << length;
    before = bound;
  }
  const FencedMemory nothing(0);
  uint64_t written = 77;
  EXPECT_EQ(stockade_file_update(made.get(), nothing.front(), UINT64_MAX, nothing.front(), 1000, &written),
            STOCKADE_ERROR_OUTPUT_SIZE);
  EXPECT_EQ(written, 0U);
}

TEST_P(FilePieces, do_not_overlap_their_output) {
  constexpr uint64_t length = 3000;
  const Bytes in = input(length);
  const FileHandle made = file();
  const uint64_t room = stockade_file_bound(made.get(), in.size());
  Bytes buffer(2 * room + in.size(), 0xEE);
  uint8_t* const middle = buffer.data() + room;
  std::copy(in.begin(), in.end(), middle);
  const Bytes before = buffer;
  for (uint8_t* out : {middle, middle + 1, middle - 1, middle + in.size() - 1, middle - room + 1}) {
    uint64_t written = 77;
    EXPECT_EQ(stockade_file_update(made.get(), middle, in.size(), out, room, &written), STOCKADE_ERROR_OVERLAP);
    EXPECT_EQ(written, 0U);
  }
  EXPECT_TRUE(buffer == before);
  // The file has taken nothing of it and can go on, side by side too.
  uint64_t written = 77;
  ASSERT_EQ(stockade_file_update(made.get(), middle, in.size(), middle + in.size(), room, &written), STOCKADE_OK);
  Bytes out(middle + in.size(), middle + in.size() + written);
  add(out, made, 0,
      [&](uint8_t* end, uint64_t size, uint64_t* more) { return stockade_file_final(made.get(), end, size, more); });
  expect_right(out, length);
}

TEST_P(FilePieces, come_in_order) {
  const Bytes in = input(3000);
  const FileHandle made = file();
  run(made, in, [] { return 1000; });
  Bytes room(stockade_file_bound(made.get(), in.size()) + 40000, 0xEE);
  uint64_t written = 77;
  EXPECT_EQ(stockade_file_update(made.get(), in.data(), in.size(), room.data(), room.size(), &written),
            STOCKADE_ERROR_STATE);
  EXPECT_EQ(written, 0U);
  written = 77;
  EXPECT_EQ(stockade_file_update(made.get(), nullptr, 0, nullptr, 0, &written), STOCKADE_ERROR_STATE);
  written = 77;
  EXPECT_EQ(stockade_file_final(made.get(), room.data(), room.size(), &written), STOCKADE_ERROR_STATE);
  EXPECT_EQ(written, 0U);
  EXPECT_EQ(room, Bytes(room.size(), 0xEE));
}

struct Source {
  const Bytes& bytes;
  uint64_t most;      // at a time
  uint64_t fails_at;  // instead of what begins there
  uint64_t done = 0;
};
int64_t fetch(void* context, void* buffer, uint64_t size) {
  Source& from = *static_cast<Source*>(context);
  if (from.done >= from.fails_at) {
    errno = ENXIO;
    return -1;
  }
  const uint64_t length = std::min({size, from.most, from.bytes.size() - from.done});
  if (length != 0) std::memcpy(buffer, from.bytes.data() + from.done, length);
  from.done += length;
  return static_cast<int64_t>(length);
}

TEST_P(FilePieces, that_are_pulled_have_any_size) {
  RandomSource random;
  for (const uint64_t length : {0, 1, 3000, 16384, 100000}) {
    const Bytes in = input(length);
    for (const uint64_t most : {uint64_t{1} << 30, uint64_t{5000}, uint64_t{37}}) {
      for (const uint64_t size : {1, 100, 16384, 1000000}) {
        if (size == 1 && length > 3000) continue;
        const FileHandle made = file();
        Source source{in, most, UINT64_MAX};
        Bytes out;
        const FencedMemory room(size);
        uint64_t written = 0;
        do {
          ASSERT_EQ(stockade_file_pull(made.get(), fetch, &source, room.front(), size, &written), STOCKADE_OK);
          ASSERT_LE(written, size);
          out.insert(out.end(), room.front(), room.front() + written);
        } while (written == size);
        expect_right(out, length);
        // It stays at its end.
        for (int i = 0; i < 2; ++i) {
          written = 77;
          EXPECT_EQ(stockade_file_pull(made.get(), fetch, &source, room.front(), size, &written), STOCKADE_OK);
          EXPECT_EQ(written, 0U);
        }
        EXPECT_EQ(source.done, in.size());
      }
    }
  }
}

TEST_P(FilePieces, that_cannot_be_fetched_end_it) {
  const Bytes in = input(100000);
  for (const uint64_t fails_at : {uint64_t{0}, uint64_t{500}, in.size() / 2, in.size()}) {
    const FileHandle made = file();
    Source source{in, 500, fails_at};
    Bytes room(200000, 0);
    uint64_t written = 77;
    errno = 0;
    EXPECT_EQ(stockade_file_pull(made.get(), fetch, &source, room.data(), room.size(), &written), STOCKADE_ERROR_IO);
    EXPECT_EQ(errno, ENXIO);
    EXPECT_EQ(written, 0U);
    EXPECT_TRUE(room == Bytes(room.size()));
    stockade_fault fault = {};
    EXPECT_EQ(stockade_file_fault(made.get(), &fault), STOCKADE_OK);
    EXPECT_EQ(fault.status, STOCKADE_ERROR_IO);
    EXPECT_EQ(stockade_file_pull(made.get(), fetch, &source, room.data(), room.size(), &written), STOCKADE_ERROR_STATE);
  }
  // More than was asked for is no answer.
  const FileHandle made = file();
  const auto boast = [](void*, void*, uint64_t size) { return static_cast<int64_t>(size + 1); };
  Bytes room(1000);
  uint64_t written = 77;
  EXPECT_EQ(stockade_file_pull(made.get(), boast, nullptr, room.data(), room.size(), &written), STOCKADE_ERROR_IO);
  EXPECT_EQ(written, 0U);
}

// After an error only the fault is left, and it stays what it was.
TEST(FileFailure, leaves_the_fault_and_nothing_else) {
  const KeyringHandle ring = keyring_of({sample_key(1)});
  const stockade_format format = format_for(ring);
  Bytes sealed = seal(format, sample_text(40000));
  sealed[sample_chunk(1)] ^= 1;
  const FileHandle file = make_file(STOCKADE_DECRYPT, format);
  stockade_fault fault = {};
  EXPECT_EQ(stockade_file_fault(file.get(), &fault), STOCKADE_OK);
  EXPECT_EQ(fault.status, STOCKADE_OK);
  Bytes out(100000, 0xEE);
  uint64_t written = 77;
  ASSERT_EQ(stockade_file_update(file.get(), sealed.data(), sample_chunk(1) + 5, out.data(), out.size(), &written),
            STOCKADE_OK);
  EXPECT_EQ(written, uint64_t{STOCKADE_CHUNK_BYTES});
  const uint64_t rest = sealed.size() - sample_chunk(1) - 5;
  EXPECT_EQ(stockade_file_update(file.get(), &sealed[sample_chunk(1) + 5], rest, out.data(), out.size(), &written),
            STOCKADE_ERROR_CHUNK);
  EXPECT_EQ(written, 0U);
  // Neither the bad chunk nor the good one behind it.
  EXPECT_TRUE(std::all_of(out.begin() + 16384, out.end(), [](uint8_t byte) { return byte == 0 || byte == 0xEE; }));
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(stockade_file_update(file.get(), sealed.data(), 100, out.data(), out.size(), &written),
              STOCKADE_ERROR_STATE);
    EXPECT_EQ(stockade_file_final(file.get(), out.data(), out.size(), &written), STOCKADE_ERROR_STATE);
    Source source{sealed, 100, UINT64_MAX};
    EXPECT_EQ(stockade_file_pull(file.get(), fetch, &source, out.data(), out.size(), &written), STOCKADE_ERROR_STATE);
    EXPECT_EQ(source.done, 0U);
    EXPECT_EQ(stockade_file_fault(file.get(), &fault), STOCKADE_OK);
    EXPECT_EQ(fault.status, STOCKADE_ERROR_CHUNK);
    EXPECT_EQ(fault.chunk, 1U);
    EXPECT_EQ(fault.offset, sample_chunk(1));
  }
}

}  // namespace
}  // namespace stockade::tests
