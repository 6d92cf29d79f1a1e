// One message in pieces of any size: OpenSSL's bytes for the whole, and every refusal that stockade.h names.
#include "cipher/stream.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "cross/oracle.h"
#include "cross/random_source.h"

namespace stockade::cipher {
namespace {

using tests::Bytes;

constexpr config::EngineChoice serial_engine{config::Kind::serial, 1};
constexpr config::EngineChoice three_threads{config::Kind::threads, 3};

using Key = std::unique_ptr<CipherKey>;
Key make(stockade_mode mode, const Bytes& bytes) {
  auto key = std::make_unique<CipherKey>();
  EXPECT_EQ(make_key(*key, mode, bytes.data(), bytes.size(), nullptr), STOCKADE_OK);
  return key;
}

struct Case {
  stockade_mode mode;
  stockade_direction direction;
  stockade_padding padding;
};

std::string label(const testing::TestParamInfo<Case>& info) {
  constexpr const char* modes[] = {"ecb", "cbc", "cfb", "ofb", "ctr", "xts", "gcm"};
  return std::string(modes[info.param.mode]) + (info.param.direction == STOCKADE_ENCRYPT ? "_encrypt" : "_decrypt") +
         (info.param.padding == STOCKADE_PADDING_PKCS7 ? "_padded" : "");
}

std::vector<Case> all_cases() {
  std::vector<Case> cases;
  for (int mode = STOCKADE_ECB; mode <= STOCKADE_GCM; ++mode) {
    for (const stockade_direction direction : {STOCKADE_ENCRYPT, STOCKADE_DECRYPT}) {
      cases.push_back({static_cast<stockade_mode>(mode), direction, STOCKADE_PADDING_NONE});
      if (mode <= STOCKADE_CBC) cases.push_back({static_cast<stockade_mode>(mode), direction, STOCKADE_PADDING_PKCS7});
    }
  }
  return cases;
}

class Streams : public testing::TestWithParam<Case> {
 protected:
  // A message for the case, of about this many bytes, and OpenSSL's answer.
  void draw(uint64_t length) {
    const auto [mode, direction, padding] = GetParam();
    key_bytes_ = random_.bytes(mode == STOCKADE_XTS ? 32 * random_.between(1, 2) : 8 * random_.between(2, 4));
    iv_ = random_.bytes(mode == STOCKADE_ECB ? 0 : mode == STOCKADE_GCM ? random_.between(1, 20) : 16);
    if (mode <= STOCKADE_CBC && padding == STOCKADE_PADDING_NONE) length = length / 16 * 16;
    if (mode == STOCKADE_XTS) length = std::max<uint64_t>(length, 16);
    in_ = random_.bytes(length);
    tag_.clear();
    if (mode == STOCKADE_GCM) {
      aad_ = random_.bytes(random_.below(70));
      tests::Sealed sealed = tests::oracle_seal(key_bytes_, iv_, aad_, in_, 16);
      expected_ = std::move(sealed.ciphertext);
      tag_ = std::move(sealed.tag);
      if (direction == STOCKADE_DECRYPT) std::swap(in_, expected_);
    } else if (padding == STOCKADE_PADDING_PKCS7) {
      expected_ = *tests::oracle_padded(mode, STOCKADE_ENCRYPT, key_bytes_, iv_, in_);
      if (direction == STOCKADE_DECRYPT) std::swap(in_, expected_);
    } else {
      expected_ = tests::oracle_crypt(mode, direction, key_bytes_, iv_, in_);
    }
    key_ = make(mode, key_bytes_);
  }

  std::unique_ptr<Stream> start(const config::EngineChoice& engine) {
    auto stream = std::make_unique<Stream>(*key_, GetParam().direction, GetParam().padding, engine);
    EXPECT_EQ(stream->start(iv_.data(), iv_.size()), STOCKADE_OK);
    for (uint64_t done = 0; done < aad_.size();) {
      const uint64_t piece = random_.between(0, std::min<uint64_t>(40, aad_.size() - done));
      EXPECT_EQ(stream->aad(aad_.data() + done, piece), STOCKADE_OK);
      done += piece;
    }
    return stream;
  }

  // Feeds the message in pieces of at most `longest`, each into exactly as much room as it needs.
  void feed(Stream& stream, uint64_t longest, Bytes& out) {
    for (uint64_t done = 0; done < in_.size();) {
      const uint64_t piece = std::min(random_.between(0, longest), in_.size() - done);
      const uint64_t bound = piece == 0 ? 0 : stream.bound(piece);
      Bytes room(bound);
      uint64_t written = 99;
      if (bound != 0) {
        ASSERT_EQ(stream.update(in_.data() + done, piece, room.data(), bound - 1, &written),
                  STOCKADE_ERROR_OUTPUT_SIZE);
        ASSERT_EQ(written, 99U);
      }
      ASSERT_EQ(stream.update(in_.data() + done, piece, room.data(), bound, &written), STOCKADE_OK);
      ASSERT_EQ(written, bound);
      out.insert(out.end(), room.begin(), room.end());
      done += piece;
    }
  }

  Status finish(Stream& stream, Bytes& out, Bytes& tag) {
    Bytes room(stream.bound(0));
    uint64_t written = 0;
    const Status status =
        stream.final(room.data(), room.size(), &written, tag.empty() ? nullptr : tag.data(), tag.size());
    out.insert(out.end(), room.begin(), room.begin() + static_cast<ptrdiff_t>(written));
    return status;
  }

  tests::RandomSource random_;
  Bytes key_bytes_, iv_, aad_, in_, expected_, tag_;
  Key key_;
};
INSTANTIATE_TEST_SUITE_P(All, Streams, testing::ValuesIn(all_cases()), label);

TEST_P(Streams, any_split_gives_the_whole) {
  for (uint64_t round = 0; round < tests::scaled(400); ++round) {
    draw(random_.below(round % 10 == 0 ? 5000 : 200));
    const config::EngineChoice& engine = round % 2 == 0 ? serial_engine : three_threads;
    const std::unique_ptr<Stream> stream = start(engine);
    const uint64_t longest = random_.one_in(2) ? random_.between(1, 40) : random_.between(1, 4000);
    Bytes out, tag = GetParam().direction == STOCKADE_ENCRYPT ? Bytes(tag_.size()) : tag_;
    ASSERT_NO_FATAL_FAILURE(feed(*stream, longest, out));
    ASSERT_EQ(finish(*stream, out, tag), STOCKADE_OK);
    ASSERT_EQ(out, expected_) << in_.size() << " bytes in pieces of at most " << longest;
    ASSERT_EQ(tag, tag_);
  }
}

TEST_P(Streams, in_place_where_nothing_is_held_back) {
  draw(4096);
  const std::unique_ptr<Stream> stream = start(three_threads);
  Bytes data = in_, tag = GetParam().direction == STOCKADE_ENCRYPT ? Bytes(tag_.size()) : tag_;
  uint64_t written = 0;
  ASSERT_EQ(stream->update(data.data(), data.size(), data.data(), data.size(), &written), STOCKADE_OK);
  data.resize(written);
  ASSERT_EQ(finish(*stream, data, tag), STOCKADE_OK);
  EXPECT_EQ(data, expected_);
}

TEST_P(Streams, refuse_overlap) {
  draw(100);
  const std::unique_ptr<Stream> stream = start(serial_engine);
  Bytes data(500);
  uint64_t written = 0;
  const bool writes_nothing = GetParam().mode == STOCKADE_GCM && GetParam().direction == STOCKADE_DECRYPT;
  const Status refusal = writes_nothing ? STOCKADE_OK : STOCKADE_ERROR_OVERLAP;
  EXPECT_EQ(stream->update(data.data(), 100, data.data() + 1, 100, &written), refusal);
  EXPECT_EQ(stream->update(data.data() + 50, 100, data.data(), 100, &written), refusal);
  ASSERT_EQ(stream->update(data.data(), 17, data.data() + 200, 100, &written), STOCKADE_OK);
  const bool holds = written != 17;
  EXPECT_EQ(stream->update(data.data(), 100, data.data(), 100, &written), holds ? refusal : STOCKADE_OK);
}

TEST_P(Streams, end_for_good) {
  draw(64);
  const std::unique_ptr<Stream> stream = start(serial_engine);
  Bytes out, tag = GetParam().direction == STOCKADE_ENCRYPT ? Bytes(tag_.size()) : tag_;
  ASSERT_NO_FATAL_FAILURE(feed(*stream, 64, out));
  ASSERT_EQ(finish(*stream, out, tag), STOCKADE_OK);
  uint64_t written = 0;
  EXPECT_EQ(stream->update(in_.data(), 1, out.data(), out.size(), &written), STOCKADE_ERROR_STATE);
  EXPECT_EQ(stream->final(out.data(), out.size(), &written, nullptr, 0), STOCKADE_ERROR_STATE);
  EXPECT_EQ(stream->aad(in_.data(), 1), GetParam().mode == STOCKADE_GCM ? STOCKADE_ERROR_STATE : STOCKADE_ERROR_MODE);
  EXPECT_EQ(stream->bound(0), 0U);
  EXPECT_EQ(stream->bound(100), 0U);
}

TEST_P(Streams, a_failed_end_is_an_end_unless_room_was_missing) {
  draw(64);
  const std::unique_ptr<Stream> stream = start(serial_engine);
  Bytes out, tag(1);
  ASSERT_NO_FATAL_FAILURE(feed(*stream, 64, out));
  uint64_t written = 0;
  EXPECT_EQ(stream->final(nullptr, 0, &written, tag.data(), 1), STOCKADE_ERROR_TAG_LENGTH);
  EXPECT_EQ(stream->final(nullptr, 0, &written, nullptr, 0), STOCKADE_ERROR_STATE);
}

TEST_P(Streams, the_end_waits_for_room) {
  draw(71);
  const std::unique_ptr<Stream> stream = start(serial_engine);
  Bytes out, tag = GetParam().direction == STOCKADE_ENCRYPT ? Bytes(tag_.size()) : tag_;
  ASSERT_NO_FATAL_FAILURE(feed(*stream, 30, out));
  const uint64_t missing = expected_.size() - out.size();
  EXPECT_LE(missing, stream->bound(0));
  uint8_t* const tag_data = tag.empty() ? nullptr : tag.data();
  Bytes room(missing);
  uint64_t written = 0;
  if (missing != 0) {
    for (int i = 0; i < 2; ++i) {
      ASSERT_EQ(stream->final(room.data(), missing - 1, &written, tag_data, tag.size()), STOCKADE_ERROR_OUTPUT_SIZE);
    }
  }
  ASSERT_EQ(stream->final(room.data(), missing, &written, tag_data, tag.size()), STOCKADE_OK);
  ASSERT_EQ(written, missing);
  out.insert(out.end(), room.begin(), room.end());
  EXPECT_EQ(out, expected_);
}

TEST_P(Streams, an_update_of_nothing_is_one) {
  draw(48);
  const std::unique_ptr<Stream> stream = start(serial_engine);
  uint64_t written = 99;
  EXPECT_EQ(stream->update(nullptr, 0, nullptr, 0, &written), STOCKADE_OK);
  EXPECT_EQ(written, 0U);
  if (GetParam().mode == STOCKADE_GCM) {
    EXPECT_EQ(stream->aad(in_.data(), 1), STOCKADE_ERROR_STATE);
  }
  Bytes out, tag = GetParam().direction == STOCKADE_ENCRYPT ? Bytes(tag_.size()) : tag_;
  ASSERT_NO_FATAL_FAILURE(feed(*stream, 48, out));
  ASSERT_EQ(finish(*stream, out, tag), STOCKADE_OK);
  EXPECT_EQ(out, expected_);
}

TEST(Stream, refuses_wrong_starts) {
  const Bytes iv(17);
  for (int mode = STOCKADE_ECB; mode <= STOCKADE_GCM; ++mode) {
    Bytes bytes(32, 1);
    bytes[0] = 2;
    const Key key = make(static_cast<stockade_mode>(mode), bytes);
    const uint64_t wrong = mode == STOCKADE_GCM ? 0 : 17;
    EXPECT_EQ(Stream(*key, STOCKADE_ENCRYPT, STOCKADE_PADDING_NONE, serial_engine).start(iv.data(), wrong),
              STOCKADE_ERROR_IV_LENGTH);
    if (mode > STOCKADE_CBC) {
      EXPECT_EQ(Stream(*key, STOCKADE_ENCRYPT, STOCKADE_PADDING_PKCS7, serial_engine).start(iv.data(), 16),
                STOCKADE_ERROR_MODE);
    }
  }
}

TEST(Stream, refuses_wrong_ends) {
  const auto end = [](stockade_mode mode, stockade_direction direction, stockade_padding padding, uint64_t length) {
    Bytes bytes(32, 1);
    bytes[0] = 2;
    const Key key = make(mode, bytes);
    Stream stream(*key, direction, padding, serial_engine);
    const Bytes iv(16), in(length);
    EXPECT_EQ(stream.start(iv.data(), mode == STOCKADE_ECB ? 0 : 16), STOCKADE_OK);
    Bytes out(64);
    uint64_t written = 0;
    EXPECT_EQ(stream.update(in.data(), length, out.data(), out.size(), &written), STOCKADE_OK);
    return stream.final(out.data(), out.size(), &written, nullptr, 0);
  };
  for (const stockade_mode mode : {STOCKADE_ECB, STOCKADE_CBC}) {
    EXPECT_EQ(end(mode, STOCKADE_ENCRYPT, STOCKADE_PADDING_NONE, 17), STOCKADE_ERROR_DATA_LENGTH);
    EXPECT_EQ(end(mode, STOCKADE_DECRYPT, STOCKADE_PADDING_NONE, 15), STOCKADE_ERROR_DATA_LENGTH);
    EXPECT_EQ(end(mode, STOCKADE_DECRYPT, STOCKADE_PADDING_PKCS7, 0), STOCKADE_ERROR_DATA_LENGTH);
    EXPECT_EQ(end(mode, STOCKADE_DECRYPT, STOCKADE_PADDING_PKCS7, 31), STOCKADE_ERROR_DATA_LENGTH);
    EXPECT_EQ(end(mode, STOCKADE_DECRYPT, STOCKADE_PADDING_PKCS7, 32), STOCKADE_ERROR_PADDING);
  }
  EXPECT_EQ(end(STOCKADE_XTS, STOCKADE_ENCRYPT, STOCKADE_PADDING_NONE, 0), STOCKADE_ERROR_DATA_LENGTH);
  EXPECT_EQ(end(STOCKADE_XTS, STOCKADE_DECRYPT, STOCKADE_PADDING_NONE, 15), STOCKADE_ERROR_DATA_LENGTH);
  EXPECT_EQ(end(STOCKADE_GCM, STOCKADE_ENCRYPT, STOCKADE_PADDING_NONE, 15), STOCKADE_ERROR_TAG_LENGTH);
}

TEST(Stream, forged_ciphertext_releases_nothing) {
  const Bytes key_bytes(16, 3), iv(12, 4), plain(3000, 5);
  tests::Sealed sealed = tests::oracle_seal(key_bytes, iv, {}, plain, 16);
  sealed.ciphertext[1234] ^= 1;
  const Key key = make(STOCKADE_GCM, key_bytes);
  Stream stream(*key, STOCKADE_DECRYPT, STOCKADE_PADDING_NONE, three_threads);
  ASSERT_EQ(stream.start(iv.data(), iv.size()), STOCKADE_OK);
  Bytes out(plain.size(), 0x77);
  uint64_t written = 99;
  ASSERT_EQ(stream.update(sealed.ciphertext.data(), plain.size(), out.data(), out.size(), &written), STOCKADE_OK);
  EXPECT_EQ(written, 0U);
  EXPECT_EQ(stream.final(out.data(), out.size(), &written, sealed.tag.data(), 16), STOCKADE_ERROR_AUTHENTICATION);
  EXPECT_EQ(out, Bytes(plain.size(), 0x77));
}

TEST(Stream, refuses_more_than_a_mode_may_have) {
  uint8_t byte[64] = {};
  uint64_t written = 0;
  Bytes bytes(32, 1);
  bytes[0] = 2;
  const Key xts = make(STOCKADE_XTS, bytes), gcm = make(STOCKADE_GCM, bytes), ctr = make(STOCKADE_CTR, bytes);
  Stream unit(*xts, STOCKADE_ENCRYPT, STOCKADE_PADDING_NONE, serial_engine);
  ASSERT_EQ(unit.start(byte, 16), STOCKADE_OK);
  EXPECT_EQ(unit.update(byte, (uint64_t{1} << 24) + 1, byte, UINT64_MAX, &written), STOCKADE_ERROR_DATA_TOO_LONG);
  ASSERT_EQ(unit.update(byte, 16, byte + 32, 32, &written), STOCKADE_OK);
  EXPECT_EQ(unit.update(byte, (uint64_t{1} << 24) - 15, byte, UINT64_MAX, &written), STOCKADE_ERROR_DATA_TOO_LONG);
  Stream sealing(*gcm, STOCKADE_ENCRYPT, STOCKADE_PADDING_NONE, serial_engine);
  ASSERT_EQ(sealing.start(byte, 12), STOCKADE_OK);
  EXPECT_EQ(sealing.aad(byte, UINT64_MAX), STOCKADE_ERROR_DATA_TOO_LONG);
  EXPECT_EQ(sealing.update(byte, (uint64_t{1} << 36) - 31, byte, UINT64_MAX, &written), STOCKADE_ERROR_DATA_TOO_LONG);
  Stream counting(*ctr, STOCKADE_ENCRYPT, STOCKADE_PADDING_NONE, serial_engine);
  ASSERT_EQ(counting.start(byte, 16), STOCKADE_OK);
  ASSERT_EQ(counting.update(byte, 32, byte + 32, 32, &written), STOCKADE_OK);
  EXPECT_EQ(counting.update(byte, UINT64_MAX, byte, UINT64_MAX, &written), STOCKADE_ERROR_DATA_TOO_LONG);
}

}  // namespace
}  // namespace stockade::cipher
