// One message cut for many workers, and many messages handed out: the bytes are OpenSSL's whoever ran them.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "cipher/key.h"
#include "cipher/many.h"
#include "cipher/message.h"
#include "cross/oracle.h"
#include "cross/random_source.h"

namespace stockade::cipher {
namespace {

using tests::Bytes;

constexpr config::EngineChoice engines[] = {{config::Kind::serial, 1},
                                            {config::Kind::threads, 2},
                                            {config::Kind::threads, 3},
                                            {config::Kind::threads, 8},
                                            {config::Kind::automatic, 4}};
constexpr config::EngineChoice serial_engine = engines[0];
constexpr stockade_direction both_directions[] = {STOCKADE_ENCRYPT, STOCKADE_DECRYPT};
constexpr stockade_mode plain_modes[] = {STOCKADE_ECB, STOCKADE_CBC, STOCKADE_CFB,
                                         STOCKADE_OFB, STOCKADE_CTR, STOCKADE_XTS};

std::string name(const config::EngineChoice& engine) {
  return std::string(config::kind_name(engine.kind)) + std::to_string(engine.threads);
}

using Key = std::unique_ptr<stockade_key>;
Key make(stockade_mode mode, const Bytes& bytes, const char* force = nullptr) {
  auto key = std::make_unique<stockade_key>();
  EXPECT_EQ(make_key(key->cipher, mode, bytes.data(), bytes.size(), force), STOCKADE_OK);
  return key;
}

class Messages : public testing::Test {
 protected:
  // The row that is written for readers is slower by two orders of magnitude.
  static bool slow() { return config::environment().aes_row == "reference"; }
  Bytes key_bytes(stockade_mode mode) {
    return random_.bytes(mode == STOCKADE_XTS ? 32 * random_.between(1, 2) : 8 * random_.between(2, 4));
  }
  Bytes iv(stockade_mode mode) { return random_.bytes(mode == STOCKADE_ECB ? 0 : 16); }
  // Around the places where a message is cut, whole blocks where the mode has nothing else.
  uint64_t length_for(stockade_mode mode, uint64_t near) {
    const uint64_t length = near + random_.below(35);
    if (mode == STOCKADE_ECB || mode == STOCKADE_CBC) return length / 16 * 16;
    return mode == STOCKADE_XTS ? std::max<uint64_t>(length, 16) : length;
  }
  tests::RandomSource random_;
};

TEST_F(Messages, are_the_same_on_every_engine) {
  for (const stockade_mode mode : plain_modes) {
    for (const stockade_direction direction : both_directions) {
      for (const uint64_t near : {0, 16, 240, 256, 512, 768, 2048, 5000, 131072, 1500000}) {
        if (slow() && near > 200000) continue;
        const Bytes bytes = key_bytes(mode), start = iv(mode), in = random_.bytes(length_for(mode, near));
        const Bytes expected = tests::oracle_crypt(mode, direction, bytes, start, in);
        const Key key = make(mode, bytes);
        for (const config::EngineChoice& engine : engines) {
          SCOPED_TRACE("mode " + std::to_string(mode) + " direction " + std::to_string(direction) + " length " +
                       std::to_string(in.size()) + " " + name(engine));
          Bytes out(in.size()), same = in;
          ASSERT_EQ(crypt(key->cipher, direction, start.data(), start.size(), in.data(), in.size(), out.data(), engine),
                    STOCKADE_OK);
          ASSERT_EQ(out, expected);
          ASSERT_EQ(
              crypt(key->cipher, direction, start.data(), start.size(), same.data(), same.size(), same.data(), engine),
              STOCKADE_OK);
          ASSERT_EQ(same, expected) << "in place";
        }
      }
    }
  }
}

// More workers than the number of blocks that in-place decryption keeps.
TEST_F(Messages, are_the_same_with_absurdly_many_workers) {
  for (const stockade_mode mode : {STOCKADE_CBC, STOCKADE_CFB, STOCKADE_CTR}) {
    const Bytes bytes = key_bytes(mode), start = iv(mode);
    Bytes data = random_.bytes(256 * 700);
    const Bytes expected = tests::oracle_crypt(mode, STOCKADE_DECRYPT, bytes, start, data);
    const Key key = make(mode, bytes);
    ASSERT_EQ(crypt(key->cipher, STOCKADE_DECRYPT, start.data(), start.size(), data.data(), data.size(), data.data(),
                    {config::Kind::threads, 600}),
              STOCKADE_OK);
    ASSERT_EQ(data, expected);
  }
}

TEST_F(Messages, larger_than_any_cache_are_the_same) {
  const char* const force = slow() ? "aes:portable" : nullptr;
  const Bytes in = random_.bytes((uint64_t{17} << 20) + 5);
  const Bytes bytes = random_.bytes(16), start = random_.bytes(16);
  const Key ctr = make(STOCKADE_CTR, bytes, force), gcm = make(STOCKADE_GCM, bytes);
  const Bytes expected = tests::oracle_crypt(STOCKADE_CTR, STOCKADE_ENCRYPT, bytes, start, in);
  const tests::Sealed sealed = tests::oracle_seal(bytes, start, {}, in, 16);
  for (const config::EngineChoice& engine : {serial_engine, engines[2]}) {
    ASSERT_EQ(plan_message(ctr->cipher, STOCKADE_ENCRYPT, in.size(), false, engine).stores, aes::Stores::streaming);
    Bytes out(in.size() + 1), tag(16);  // the second time not 16-byte aligned
    for (const uint64_t shift : {0, 1}) {
      ASSERT_EQ(
          crypt(ctr->cipher, STOCKADE_ENCRYPT, start.data(), 16, in.data(), in.size(), out.data() + shift, engine),
          STOCKADE_OK);
      ASSERT_EQ(std::memcmp(out.data() + shift, expected.data(), in.size()), 0) << name(engine) << shift;
    }
    ASSERT_EQ(seal(gcm->cipher, start.data(), 16, nullptr, 0, in.data(), in.size(), out.data(), tag.data(), 16, engine),
              STOCKADE_OK);
    ASSERT_EQ(std::memcmp(out.data(), sealed.ciphertext.data(), in.size()), 0) << name(engine);
    ASSERT_EQ(tag, sealed.tag);
  }
}

TEST_F(Messages, sealed_and_opened_on_every_engine) {
  for (const uint64_t near : {0, 16, 240, 512, 1000, 5000, 131072, 1500000}) {
    const uint64_t length = near + random_.below(35);
    const Bytes bytes = key_bytes(STOCKADE_GCM), start = random_.bytes(random_.between(1, 30));
    const Bytes aad = random_.bytes(random_.below(40)), in = random_.bytes(length);
    const uint64_t tag_length = random_.between(12, 16);
    const tests::Sealed expected = tests::oracle_seal(bytes, start, aad, in, tag_length);
    const Key key = make(STOCKADE_GCM, bytes);
    for (const config::EngineChoice& engine : engines) {
      SCOPED_TRACE(std::to_string(length) + " " + name(engine));
      Bytes data = in, tag(tag_length);
      ASSERT_EQ(seal(key->cipher, start.data(), start.size(), aad.data(), aad.size(), data.data(), length, data.data(),
                     tag.data(), tag_length, engine),
                STOCKADE_OK);
      ASSERT_EQ(data, expected.ciphertext);
      ASSERT_EQ(tag, expected.tag);
      Bytes opened(length, 0x77);
      ASSERT_EQ(open(key->cipher, start.data(), start.size(), aad.data(), aad.size(), data.data(), length,
                     opened.data(), tag.data(), tag_length, engine),
                STOCKADE_OK);
      ASSERT_EQ(opened, in);
      tag[random_.below(tag_length)] ^= static_cast<uint8_t>(1U << random_.below(8));
      ASSERT_EQ(open(key->cipher, start.data(), start.size(), aad.data(), aad.size(), data.data(), length, data.data(),
                     tag.data(), tag_length, engine),
                STOCKADE_ERROR_AUTHENTICATION);
      ASSERT_EQ(data, Bytes(length)) << "plaintext was left";
    }
  }
}

TEST_F(Messages, of_units_short_and_long) {
  for (const uint64_t unit : {uint64_t{16}, uint64_t{512}, uint64_t{4096}, uint64_t{100000}, uint64_t{1} << 20}) {
    for (const uint64_t length : {unit, unit + 16, 5 * unit, 3 * unit + (unit > 16 ? unit - 1 : 0)}) {
      const Bytes bytes = key_bytes(STOCKADE_XTS), first = random_.bytes(16), in = random_.bytes(length);
      const Key key = make(STOCKADE_XTS, bytes);
      if (slow() && length > 200000) continue;
      for (const stockade_direction direction : both_directions) {
        const Bytes expected = tests::oracle_units(direction, bytes, first, unit, in);
        for (const config::EngineChoice& engine : engines) {
          SCOPED_TRACE(std::to_string(unit) + " in " + std::to_string(length) + " " + name(engine));
          Bytes data = in;
          ASSERT_EQ(
              crypt_units(key->cipher, direction, first.data(), 16, unit, data.data(), length, data.data(), engine),
              STOCKADE_OK);
          ASSERT_EQ(data, expected);
        }
      }
    }
  }
}

TEST_F(Messages, padded_and_unpadded) {
  for (const stockade_mode mode : {STOCKADE_ECB, STOCKADE_CBC}) {
    for (const uint64_t length : {0, 1, 15, 16, 17, 32, 1000, 150000}) {
      const Bytes bytes = key_bytes(mode), start = iv(mode), in = random_.bytes(length);
      const Bytes expected = *tests::oracle_padded(mode, STOCKADE_ENCRYPT, bytes, start, in);
      const Key key = make(mode, bytes);
      for (const config::EngineChoice& engine : engines) {
        Bytes data = in;
        data.resize(expected.size());
        uint64_t written = 0;
        ASSERT_EQ(encrypt_padded(key->cipher, start.data(), start.size(), data.data(), length, data.data(), data.size(),
                                 &written, engine),
                  STOCKADE_OK);
        ASSERT_EQ(written, data.size());
        ASSERT_EQ(data, expected);
        ASSERT_EQ(decrypt_padded(key->cipher, start.data(), start.size(), data.data(), written, data.data(), written,
                                 &written, engine),
                  STOCKADE_OK);
        ASSERT_EQ(Bytes(data.begin(), data.begin() + static_cast<ptrdiff_t>(written)), in);
      }
    }
  }
}

TEST_F(Messages, refuse_overlap_of_output_with_any_input) {
  Bytes buffer(400);
  uint8_t* const data = buffer.data();
  const Key ctr = make(STOCKADE_CTR, Bytes(16)), gcm = make(STOCKADE_GCM, Bytes(16));
  const auto run_ctr = [&](uint64_t iv_at, uint64_t in_at, uint64_t out_at) {
    return crypt(ctr->cipher, STOCKADE_ENCRYPT, data + iv_at, 16, data + in_at, 100, data + out_at, serial_engine);
  };
  EXPECT_EQ(run_ctr(300, 0, 0), STOCKADE_OK);
  EXPECT_EQ(run_ctr(300, 0, 100), STOCKADE_OK);
  for (const uint64_t distance : {1, 16, 99}) {
    EXPECT_EQ(run_ctr(300, 0, distance), STOCKADE_ERROR_OVERLAP);
    EXPECT_EQ(run_ctr(300, distance, 0), STOCKADE_ERROR_OVERLAP);
  }
  EXPECT_EQ(run_ctr(99, 200, 0), STOCKADE_ERROR_OVERLAP);
  const auto run_seal = [&](uint64_t iv_at, uint64_t aad_at, uint64_t in_at, uint64_t out_at, uint64_t tag_at) {
    return seal(gcm->cipher, data + iv_at, 12, data + aad_at, 20, data + in_at, 100, data + out_at, data + tag_at, 16,
                serial_engine);
  };
  EXPECT_EQ(run_seal(300, 320, 0, 100, 350), STOCKADE_OK);
  EXPECT_EQ(run_seal(300, 320, 0, 0, 100), STOCKADE_OK);
  EXPECT_EQ(run_seal(300, 320, 0, 50, 350), STOCKADE_ERROR_OVERLAP);
  EXPECT_EQ(run_seal(110, 320, 0, 100, 350), STOCKADE_ERROR_OVERLAP);
  EXPECT_EQ(run_seal(300, 199, 0, 100, 350), STOCKADE_ERROR_OVERLAP);
  EXPECT_EQ(run_seal(300, 320, 0, 100, 199), STOCKADE_ERROR_OVERLAP);
  EXPECT_EQ(run_seal(300, 320, 0, 100, 99), STOCKADE_ERROR_OVERLAP);
  EXPECT_EQ(run_seal(300, 320, 0, 100, 311), STOCKADE_ERROR_OVERLAP);
  EXPECT_EQ(run_seal(300, 320, 0, 100, 339), STOCKADE_ERROR_OVERLAP);
}

TEST_F(Messages, refuse_lengths_before_overlap) {
  uint8_t byte[64];
  const Key xts = make(STOCKADE_XTS, random_.bytes(32)), gcm = make(STOCKADE_GCM, Bytes(16));
  EXPECT_EQ(crypt(xts->cipher, STOCKADE_ENCRYPT, byte, 16, byte, UINT64_MAX, byte + 1, serial_engine),
            STOCKADE_ERROR_DATA_TOO_LONG);
  EXPECT_EQ(seal(gcm->cipher, byte, 12, nullptr, 0, byte, UINT64_MAX, byte + 1, byte, 16, serial_engine),
            STOCKADE_ERROR_DATA_TOO_LONG);
  uint64_t written = 0;
  const Key cbc = make(STOCKADE_CBC, Bytes(16));
  EXPECT_EQ(encrypt_padded(cbc->cipher, byte, 16, byte, UINT64_MAX, byte + 1, UINT64_MAX, &written, serial_engine),
            STOCKADE_ERROR_OUTPUT_SIZE);
}

TEST_F(Messages, keys_name_their_row) {
  Key key = std::make_unique<stockade_key>();
  const Bytes bytes(16);
  const auto status = [&](stockade_mode mode, const char* force) {
    return make_key(key->cipher, mode, bytes.data(), bytes.size(), force);
  };
  EXPECT_EQ(status(STOCKADE_CTR, "aes:reference,gcm:portable"), STOCKADE_OK);
  EXPECT_STREQ(key->cipher.row(), "reference");
  EXPECT_EQ(status(STOCKADE_GCM, "aes:reference,gcm:portable"), STOCKADE_OK);
  EXPECT_STREQ(key->cipher.row(), "portable");
  EXPECT_EQ(status(STOCKADE_CTR, "aes:nothing"), STOCKADE_ERROR_UNKNOWN_NAME);
  EXPECT_EQ(status(STOCKADE_CTR, "engine:serial"), STOCKADE_ERROR_UNKNOWN_NAME);
  EXPECT_EQ(status(STOCKADE_XTS, nullptr), STOCKADE_ERROR_KEY_LENGTH);
}

// One message among many, with OpenSSL's answer.
struct Entry {
  Key key;
  Bytes iv, aad, in, out, tag, expected, expected_tag;
};

TEST_F(Messages, many_at_once_are_those_alone) {
  constexpr stockade_mode modes[] = {STOCKADE_ECB, STOCKADE_CBC, STOCKADE_CFB, STOCKADE_OFB,
                                     STOCKADE_CTR, STOCKADE_XTS, STOCKADE_GCM};
  for (const config::EngineChoice& engine : engines) {
    for (const stockade_direction direction : both_directions) {
      std::vector<Entry> entries;
      const uint64_t long_one = random_.below(300);
      for (uint64_t i = 0; i < 300; ++i) {
        const stockade_mode mode = modes[random_.below(7)];
        Entry entry;
        const Bytes bytes = key_bytes(mode);
        entry.key = make(mode, bytes, random_.one_in(3) ? "aes:portable,gcm:portable" : nullptr);
        entry.in = random_.bytes(length_for(mode, i == long_one ? (slow() ? 200000 : 900000) : random_.below(3000)));
        if (mode == STOCKADE_GCM) {
          entry.iv = random_.bytes(12);
          entry.aad = random_.bytes(random_.below(30));
          tests::Sealed sealed = tests::oracle_seal(bytes, entry.iv, entry.aad, entry.in, 16);
          entry.expected = std::move(sealed.ciphertext);
          entry.expected_tag = entry.tag = std::move(sealed.tag);
          if (direction == STOCKADE_DECRYPT) std::swap(entry.expected, entry.in);
        } else {
          entry.iv = iv(mode);
          entry.expected = tests::oracle_crypt(mode, direction, bytes, entry.iv, entry.in);
        }
        entry.out.resize(entry.in.size());
        if (direction == STOCKADE_ENCRYPT) std::fill(entry.tag.begin(), entry.tag.end(), uint8_t{0});
        entries.push_back(std::move(entry));
      }
      std::vector<stockade_message> calls;
      for (Entry& e : entries) {
        calls.push_back({e.key.get(), e.iv.data(), e.iv.size(), e.aad.data(), e.aad.size(), e.in.data(), e.in.size(),
                         e.out.data(), e.tag.data(), e.tag.size(), STOCKADE_OK});
      }
      calls[7].iv_length = 99;
      if (calls[7].key->cipher.mode == STOCKADE_GCM) calls[7].iv_length = 0;
      calls[8].status = STOCKADE_ERROR_STATE;  // was refused before; is left alone
      crypt_many(direction, calls.data(), calls.size(), engine);
      EXPECT_EQ(calls[7].status, STOCKADE_ERROR_IV_LENGTH);
      EXPECT_EQ(calls[8].status, STOCKADE_ERROR_STATE);
      for (size_t i = 0; i < entries.size(); ++i) {
        if (i == 7 || i == 8) {
          ASSERT_EQ(entries[i].out, Bytes(entries[i].in.size()));
          continue;
        }
        SCOPED_TRACE(name(engine) + " message " + std::to_string(i) + " mode " +
                     std::to_string(entries[i].key->cipher.mode));
        ASSERT_EQ(calls[i].status, STOCKADE_OK);
        ASSERT_EQ(entries[i].out, entries[i].expected);
        ASSERT_EQ(entries[i].tag, entries[i].expected_tag);
      }
    }
  }
}

}  // namespace
}  // namespace stockade::cipher
