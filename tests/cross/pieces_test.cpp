// Messages that arrive in pieces: whatever the split, the bytes are OpenSSL's for the whole.
#include <gtest/gtest.h>

#include <algorithm>
#include <ostream>

#include "cross/guarded_memory.h"
#include "cross/handles.h"
#include "cross/message.h"
#include "cross/oracle.h"
#include "cross/random_source.h"

namespace stockade::tests {
namespace {

struct Target {
  stockade_mode mode;
  Row row;
};
std::ostream& operator<<(std::ostream& stream, const Target& target) {
  return stream << target.row << " " << mode_name(target.mode);
}
std::vector<Target> targets(std::initializer_list<stockade_mode> modes) {
  std::vector<Target> list;
  for (const stockade_mode mode : modes) {
    for (const Row& row : rows_for(mode)) list.push_back({mode, row});
  }
  return list;
}
std::string target_label(const testing::TestParamInfo<Target>& info) {
  return info.param.row.name + "_" + mode_name(info.param.mode);
}

// How a message is cut: the length of each piece, zeros among them.
std::vector<uint64_t> random_split(uint64_t length, uint64_t longest, RandomSource& random) {
  std::vector<uint64_t> pieces;
  while (length != 0) {
    const uint64_t piece = random.one_in(6) ? 0 : std::min(length, random.between(1, longest));
    pieces.push_back(piece);
    length -= piece;
  }
  if (random.one_in(3)) pieces.push_back(0);
  return pieces;
}

struct Job {
  const Message& message;
  stockade_direction direction;
  const stockade_key* key;
  const stockade_engine* engine;
  stockade_padding padding;
  std::vector<uint64_t> pieces;
  bool in_place;  // the whole message in one buffer, only where each piece is written at once
};

bool written_at_once(const Job& job) {
  switch (job.message.mode) {
    case STOCKADE_CTR:
    case STOCKADE_OFB:
    case STOCKADE_CFB:
      return true;
    case STOCKADE_GCM:
      return job.direction == STOCKADE_ENCRYPT;
    default:
      return false;
  }
}

class Pieces : public testing::TestWithParam<Target> {
 protected:
  stockade_mode mode() const { return GetParam().mode; }
  const Row& row() const { return GetParam().row; }

  void feed_aad(stockade_stream* stream, const Bytes& aad) {
    uint64_t done = 0;
    for (const uint64_t piece : random_split(aad.size(), 50, random_)) {
      ASSERT_EQ(stockade_stream_aad(stream, aad.data() + done, piece), STOCKADE_OK);
      done += piece;
    }
  }

  // Feeds one piece into exactly the room that the stream asks for, now and then after an attempt with too little.
  void feed(const Job& job, stockade_stream* stream, const uint8_t* in, uint64_t piece, uint8_t* out,
            uint64_t& written) {
    const uint64_t bound = stockade_stream_bound(stream, piece);
    uint64_t count = 0;
    if (bound != 0 && !job.in_place && random_.one_in(4)) {
      CanaryBuffer small(0, 0);
      const stockade_status status = stockade_stream_update(stream, in, piece, small.data(), 0, &count);
      ASSERT_TRUE(small.intact());
      if (status == STOCKADE_OK) {
        ASSERT_EQ(count, 0U);
        return;
      }
      ASSERT_EQ(status, STOCKADE_ERROR_OUTPUT_SIZE);
    }
    if (job.in_place) {
      ASSERT_EQ(stockade_stream_update(stream, out + written, piece, out + written, bound, &count), STOCKADE_OK);
    } else {
      CanaryBuffer room(bound, random_.below(64));
      ASSERT_EQ(stockade_stream_update(stream, in, piece, room.data(), bound, &count), STOCKADE_OK);
      ASSERT_TRUE(room.intact());
      ASSERT_LE(count, bound);
      std::copy(room.data(), room.data() + count, out + written);
    }
    if (written_at_once(job)) {
      ASSERT_EQ(count, piece);
    }
    written += count;
  }

  void finish(stockade_stream* stream, Bytes& tag, uint8_t* out, uint64_t& written) {
    const uint64_t bound = stockade_stream_bound(stream, 0);
    uint64_t count = 0;
    uint8_t* tag_bytes = tag.empty() ? nullptr : tag.data();
    if (bound > 0 && random_.one_in(3)) {
      const stockade_status status = stockade_stream_final(stream, nullptr, 0, &count, tag_bytes, tag.size());
      if (status == STOCKADE_OK) {
        ASSERT_EQ(count, 0U);
        return;
      }
      ASSERT_EQ(status, STOCKADE_ERROR_OUTPUT_SIZE);
    }
    CanaryBuffer room(bound, random_.below(64));
    ASSERT_EQ(stockade_stream_final(stream, room.data(), bound, &count, tag_bytes, tag.size()), STOCKADE_OK);
    ASSERT_TRUE(room.intact());
    ASSERT_LE(count, bound);
    std::copy(room.data(), room.data() + count, out + written);
    written += count;
  }

  void check(const Job& job) {
    const Message& m = job.message;
    SCOPED_TRACE(m.describe(job.direction) + (job.padding == STOCKADE_PADDING_PKCS7 ? ", padded, " : ", ") +
                 std::to_string(job.pieces.size()) + " pieces" + (job.in_place ? ", in place" : ""));
    const Stream stream = make_stream(job.key, job.direction, m.iv, job.padding, job.engine);
    if (m.mode == STOCKADE_GCM) {
      ASSERT_NO_FATAL_FAILURE(feed_aad(stream.get(), m.aad));
    }
    const Bytes &in = m.input(job.direction), &expected = m.output(job.direction);
    Bytes out(std::max(in.size(), expected.size()) + 64);
    if (job.in_place) std::copy(in.begin(), in.end(), out.begin());
    uint64_t done = 0, written = 0;
    for (const uint64_t piece : job.pieces) {
      ASSERT_NO_FATAL_FAILURE(feed(job, stream.get(), in.data() + done, piece, out.data(), written));
      done += piece;
      ASSERT_LE(written, expected.size());
      // What was given out is right already.
      ASSERT_TRUE(same_bytes(out.data(), expected.data(), written));
    }
    Bytes tag = job.direction == STOCKADE_ENCRYPT ? Bytes(m.tag.size()) : m.tag;
    ASSERT_NO_FATAL_FAILURE(finish(stream.get(), tag, out.data(), written));
    ASSERT_EQ(written, expected.size());
    ASSERT_TRUE(same_bytes(out.data(), expected.data(), written));
    ASSERT_EQ(tag, m.tag);
  }

  void check_both(const Message& message, const NamedEngine& engine, stockade_padding padding, uint64_t longest) {
    SCOPED_TRACE(engine.name);
    const Key key = make_key(mode(), message.key, row());
    for (const stockade_direction direction : both_directions) {
      Job job = {message, direction, key.get(), engine.engine, padding, {}, false};
      job.pieces = random_split(message.input(direction).size(), longest, random_);
      job.in_place = written_at_once(job) && random_.one_in(2);
      ASSERT_NO_FATAL_FAILURE(check(job));
    }
  }

  RandomSource random_;
};
INSTANTIATE_TEST_SUITE_P(Rows, Pieces,
                         testing::ValuesIn(targets({STOCKADE_ECB, STOCKADE_CBC, STOCKADE_CFB, STOCKADE_OFB,
                                                    STOCKADE_CTR, STOCKADE_XTS, STOCKADE_GCM})),
                         target_label);
class PiecesOfBlocks : public Pieces {};
INSTANTIATE_TEST_SUITE_P(Rows, PiecesOfBlocks, testing::ValuesIn(targets({STOCKADE_ECB, STOCKADE_CBC})), target_label);
class PiecesOfGcm : public Pieces {};
INSTANTIATE_TEST_SUITE_P(Rows, PiecesOfGcm, testing::ValuesIn(targets({STOCKADE_GCM})), target_label);

TEST_P(Pieces, of_any_size) {
  for (uint64_t i = scaled(row().slow() ? 20 : 300); i > 0; --i) {
    const uint32_t bits = key_sizes(mode())[i % key_sizes(mode()).size()];
    const Message message = random_message(mode(), bits, random_length(mode(), random_), random_);
    constexpr uint64_t longest[] = {1, 7, 16, 33, 200, 4000};
    ASSERT_NO_FATAL_FAILURE(check_both(message, all_engines()[random_.below(all_engines().size())],
                                       STOCKADE_PADDING_NONE, longest[random_.below(std::size(longest))]));
  }
}

TEST_P(Pieces, long_enough_for_every_worker) {
  const uint64_t length = row().slow() ? 20000 : 1200000 + random_.below(100);
  const Message message = random_message(mode(), key_sizes(mode()).back(), allowed_length(mode(), length), random_);
  for (const NamedEngine& engine : all_engines()) {
    ASSERT_NO_FATAL_FAILURE(check_both(message, engine, STOCKADE_PADDING_NONE, message.length() / 3));
  }
}

// Whole blocks of ECB and CBC are written at once, so each piece may replace its input.
TEST_P(PiecesOfBlocks, in_place) {
  for (const stockade_direction direction : both_directions) {
    const Message message = random_message(mode(), 256, 16 * 200, random_);
    const Key key = make_key(mode(), message.key, row());
    const Stream stream = make_stream(key.get(), direction, message.iv);
    Bytes buffer = message.input(direction);
    uint64_t done = 0, count = 0;
    while (done < buffer.size()) {
      const uint64_t piece = std::min<uint64_t>(16 * random_.between(1, 20), buffer.size() - done);
      ASSERT_EQ(stockade_stream_update(stream.get(), buffer.data() + done, piece, buffer.data() + done, piece, &count),
                STOCKADE_OK);
      ASSERT_EQ(count, piece);
      done += piece;
    }
    ASSERT_EQ(stockade_stream_final(stream.get(), nullptr, 0, &count, nullptr, 0), STOCKADE_OK);
    EXPECT_EQ(count, 0U);
    EXPECT_EQ(buffer, message.output(direction));
  }
}

TEST_P(PiecesOfBlocks, padded) {
  for (uint64_t i = scaled(row().slow() ? 20 : 200); i > 0; --i) {
    Message message;
    message.mode = mode();
    message.key = random_.bytes(8 * random_.between(2, 4));
    message.iv = random_.bytes(iv_bytes(mode()));
    message.plaintext = random_.bytes(random_.below(300));
    message.ciphertext = *oracle_padded(mode(), STOCKADE_ENCRYPT, message.key, message.iv, message.plaintext);
    ASSERT_NO_FATAL_FAILURE(check_both(message, all_engines()[random_.below(all_engines().size())],
                                       STOCKADE_PADDING_PKCS7, random_.between(1, 60)));
  }
}

// A GCM stream that is opened under a wrong tag gives out nothing.
TEST_P(PiecesOfGcm, of_a_forged_message_release_nothing) {
  for (const uint64_t length : {0, 1, 16, 1000, 100000}) {
    Message message = random_message(mode(), 128, length, random_);
    message.tag[random_.below(message.tag.size())] ^= 1;
    const Key key = make_key(mode(), message.key, row());
    const Stream stream = make_stream(key.get(), STOCKADE_DECRYPT, message.iv);
    ASSERT_NO_FATAL_FAILURE(feed_aad(stream.get(), message.aad));
    uint64_t done = 0, count = 0;
    for (const uint64_t piece : random_split(length, length / 3 + 1, random_)) {
      ASSERT_EQ(stockade_stream_update(stream.get(), message.ciphertext.data() + done, piece, nullptr, 0, &count),
                STOCKADE_OK);
      ASSERT_EQ(count, 0U);
      done += piece;
    }
    CanaryBuffer room(stockade_stream_bound(stream.get(), 0), 0);
    const Bytes before(room.data(), room.data() + room.size());
    count = 0;
    ASSERT_EQ(
        stockade_stream_final(stream.get(), room.data(), room.size(), &count, message.tag.data(), message.tag.size()),
        STOCKADE_ERROR_AUTHENTICATION);
    EXPECT_EQ(count, 0U);
    ASSERT_TRUE(room.intact());
    const Bytes after(room.data(), room.data() + room.size());
    EXPECT_TRUE(after == before || after == Bytes(room.size(), 0));
  }
}

}  // namespace
}  // namespace stockade::tests
