// A Stockade file is a function of the file key, the salts and the plaintext: it does not depend on who made it, how the
// input was cut, or between which kinds of descriptors it went; and it is what the oracle makes of them.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <numeric>
#include <thread>

#include "capi/handles.h"
#include "cipher/key.h"
#include "cross/handles.h"
#include "cross/oracle.h"
#include "cross/random_source.h"
#include "cross/sealed_oracle.h"
#include "cross/temporary_file.h"
#include "format/file_job.h"
#include "format/file_stream.h"
#include "format/reader.h"
#include "rsa/rsa_test.h"

namespace stockade::tests {
namespace {

constexpr stockade_cipher both_ciphers[] = {STOCKADE_COBBLESTONE_256, STOCKADE_COBBLESTONE_128};
constexpr uint8_t first_random = 17;

Bytes counting(uint8_t first, uint64_t length) {
  Bytes bytes(length);
  std::iota(bytes.begin(), bytes.end(), first);
  return bytes;
}

// Not periodic within a chunk or a run.
Bytes fixed_text(uint64_t length) {
  Bytes bytes(length);
  uint32_t state = 1;
  for (uint8_t& byte : bytes) {
    state = state * 1664525 + 1013904223;
    byte = static_cast<uint8_t>(state >> 24);
  }
  return bytes;
}

std::string hex_digest(const Bytes& bytes) {
  std::string digits;
  for (const uint8_t byte : digest(bytes.data(), bytes.size())) {
    char two[3];
    std::snprintf(two, sizeof two, "%02x", byte);
    digits += two;
  }
  return digits;
}

const Bytes key_bytes = counting(100, 32);

class SealedSameBytes : public testing::Test {
 protected:
  SealedSameBytes() {
    auto key = std::make_unique<format::Keyring::SymmetricKey>();
    std::copy(key_bytes.begin(), key_bytes.end(), *key->bytes);
    ring_.keys.push_back(std::move(key));
    format_.keyring = &ring_;
  }

  Bytes expected(const Bytes& plaintext) const {
    const auto file_key = counting(first_random, 32), key_salt = counting(first_random + 32, 16),
               salt = counting(first_random + 48, 24);
    return oracle_file(format_.cipher, {key_bytes}, file_key, {key_salt}, salt, plaintext);
  }

  // From descriptor to descriptor.
  Bytes encrypt(int in_fd, const TemporaryFile& out, const config::EngineChoice& engine, uint64_t segment_chunks) {
    stockade_file_job job{};
    job.journal_fd = -1;
    CountingRandom random(first_random);
    out.resize(0);
    out.seek(0);
    EXPECT_EQ(format::encrypt_fd(format_, in_fd, out.fd(), job, engine, random, {.segment_chunks = segment_chunks}),
              STOCKADE_OK);
    EXPECT_EQ(job.out_length, out.size());
    return out.content();
  }

  Bytes stream(stockade_direction direction, const Bytes& in, const config::EngineChoice& engine, RandomSource& cuts) {
    format::FileStream stream(format_, direction, engine);
    CountingRandom random(first_random);
    EXPECT_EQ(stream.start(random), STOCKADE_OK);
    Bytes out, piece;
    for (uint64_t done = 0, length = 0, written = 0; done < in.size(); done += length) {
      length = std::min(in.size() - done, cuts.one_in(2) ? cuts.below(100) : cuts.below(300000));
      piece.resize(stream.bound(length));
      const Status status = stream.update({in.data() + done, length}, piece, &written);
      EXPECT_EQ(status, STOCKADE_OK);
      if (status != STOCKADE_OK) return out;
      out.insert(out.end(), piece.begin(), piece.begin() + static_cast<std::ptrdiff_t>(written));
    }
    piece.resize(stream.bound(0));
    uint64_t written = 0;
    EXPECT_EQ(stream.finish(piece, &written), STOCKADE_OK);
    out.insert(out.end(), piece.begin(), piece.begin() + static_cast<std::ptrdiff_t>(written));
    return out;
  }

  format::Keyring ring_;
  format::FileFormat format_;
};

// The lengths at which something changes: chunks, runs of chunks, and the last run's reserve.
std::vector<uint64_t> lengths() {
  std::vector<uint64_t> found = {0, 1, 15, 16, 17, 4096, 100000};
  for (const uint64_t edge : {16384, 32768, 49152, 65536, 262144, 262176, 524288}) {
    for (const int64_t step : {-33, -32, -31, -1, 0, 1, 31, 32, 33})
      found.push_back(edge + static_cast<uint64_t>(step));
  }
  return found;
}

TEST_F(SealedSameBytes, in_every_engine_and_every_cut) {
  RandomSource cuts;
  for (const stockade_cipher cipher : both_ciphers) {
    format_.cipher = cipher;
    for (const uint64_t length : lengths()) {
      const Bytes text = fixed_text(length), sealed = expected(text);
      const TemporaryFile in(text), out, in_sealed(sealed);
      for (const NamedEngine& named : all_engines()) {
        SCOPED_TRACE(testing::Message() << length << " bytes, " << named.name);
        const config::EngineChoice& engine = named.engine->wish;
        for (const uint64_t segment_chunks : {uint64_t{1}, uint64_t{3}, uint64_t{16}}) {
          in.seek(0);
          ASSERT_EQ(encrypt(in.fd(), out, engine, segment_chunks), sealed);
          stockade_file_job job{};
          in_sealed.seek(0);
          out.resize(0);
          out.seek(0);
          ASSERT_EQ(
              format::decrypt_fd(format_, in_sealed.fd(), out.fd(), job, engine, {.segment_chunks = segment_chunks}),
              STOCKADE_OK);
          ASSERT_EQ(out.content(), text);
          in_sealed.seek(0);
          ASSERT_EQ(format::verify_fd(format_, in_sealed.fd(), job, engine, {.segment_chunks = segment_chunks}),
                    STOCKADE_OK);
          ASSERT_EQ(job.out_length, length);
        }
        ASSERT_EQ(stream(STOCKADE_ENCRYPT, text, engine, cuts), sealed);
        ASSERT_EQ(stream(STOCKADE_DECRYPT, sealed, engine, cuts), text);
      }
    }
  }
}

// The seed of OAEP is drawn between the file key and the salt of the payload, once for each key.
TEST_F(SealedSameBytes, for_rsa_keys_in_every_engine_and_row) {
  RandomSource cuts;
  const Bytes file_key = counting(first_random, 32);
  std::string stanzas;
  uint8_t next = first_random + 32;
  for (const uint32_t bits : {2048U, 3072U}) {
    stanzas += oracle_rsa_stanza(rsa::oracle_key(bits).pkey.get(), counting(next, 32), file_key);
    next += 32;
  }
  for (const uint64_t length : {0, 16384, 300000}) {
    const Bytes text = fixed_text(length);
    const Bytes sealed = oracle_file_of(format_.cipher, stanzas, file_key, counting(next, 24), text);
    const TemporaryFile in(text), out, in_sealed(sealed);
    for (const bignum::Variant* const row : rsa::test_rows()) {
      format::Keyring ring;
      for (const uint32_t bits : {2048U, 3072U}) {
        ASSERT_EQ(format::add_rsa_key(ring, rsa::make_key(rsa::oracle_key(bits).numbers, row)), STOCKADE_OK);
      }
      format_.keyring = &ring;
      for (const NamedEngine& named : all_engines()) {
        SCOPED_TRACE(testing::Message() << length << " bytes, " << row->name << ", " << named.name);
        const config::EngineChoice& engine = named.engine->wish;
        in.seek(0);
        ASSERT_EQ(encrypt(in.fd(), out, engine, 16), sealed);
        stockade_file_job job{};
        in_sealed.seek(0);
        out.resize(0);
        out.seek(0);
        ASSERT_EQ(format::decrypt_fd(format_, in_sealed.fd(), out.fd(), job, engine), STOCKADE_OK);
        ASSERT_EQ(out.content(), text);
        ASSERT_EQ(stream(STOCKADE_ENCRYPT, text, engine, cuts), sealed);
        ASSERT_EQ(stream(STOCKADE_DECRYPT, sealed, engine, cuts), text);
      }
    }
  }
}

// One number for all machines, rows and thread counts: a row is forced from outside this program.
TEST_F(SealedSameBytes, have_one_hash) {
  const struct {
    stockade_cipher cipher;
    const char* hash;
  } cases[] = {{STOCKADE_COBBLESTONE_256, "d7487d9b444cb50a91f4e3ee90e0b3be64d699b7ae9d723bf61960b4a98a5199"},
               {STOCKADE_COBBLESTONE_128, "5acc8dbcf0ae324779b62c03e74ae8265a2d7e53e95b56cac9d8163833fd9c9a"}};
  const Bytes text = fixed_text(3000000);
  const TemporaryFile in(text), out;
  for (const auto& [cipher, hash] : cases) {
    format_.cipher = cipher;
    ASSERT_EQ(hex_digest(expected(text)), hash) << "the oracle's file";
    for (const uint32_t threads : {1, 2, 3, 8}) {
      in.seek(0);
      const Bytes made = encrypt(in.fd(), out, {config::Kind::threads, threads}, 16);
      EXPECT_EQ(hex_digest(made), hash) << threads << " threads";
    }
  }
}

// Feeds a pipe from a thread, in pieces, and reads one.
class Feeder {
 public:
  Feeder(const Bytes& content, uint64_t piece) {
    EXPECT_EQ(pipe2(ends_, O_CLOEXEC), 0);
    thread_ = std::thread([this, &content, piece] {
      for (uint64_t done = 0; done < content.size();) {
        const ssize_t n = write(ends_[1], content.data() + done, std::min(piece, content.size() - done));
        if (n <= 0) break;
        done += static_cast<uint64_t>(n);
      }
      close(ends_[1]);
    });
  }
  ~Feeder() {
    close(ends_[0]);
    thread_.join();
  }
  int fd() const { return ends_[0]; }

 private:
  int ends_[2] = {};
  std::thread thread_;
};

TEST_F(SealedSameBytes, through_pipes) {
  for (const uint64_t length : {0, 1, 16384, 262144, 262160, 262176, 262177, 2000000}) {
    const Bytes text = fixed_text(length), sealed = expected(text);
    for (const NamedEngine& named : all_engines()) {
      for (const uint64_t piece : {uint64_t{17}, uint64_t{5000}, uint64_t{1} << 20}) {
        if (piece == 17 && length > 300000) continue;
        SCOPED_TRACE(testing::Message() << length << " bytes in pieces of " << piece << ", " << named.name);
        const TemporaryFile out;
        {
          const Feeder pipe(text, piece);
          ASSERT_EQ(encrypt(pipe.fd(), out, named.engine->wish, 16), sealed);
        }
        const Feeder pipe(sealed, piece);
        stockade_file_job job{};
        out.resize(0);
        out.seek(0);
        ASSERT_EQ(format::decrypt_fd(format_, pipe.fd(), out.fd(), job, named.engine->wish), STOCKADE_OK);
        ASSERT_EQ(out.content(), text);
      }
    }
  }
}

int read_from_memory(void* context, uint64_t offset, void* buffer, uint64_t length) {
  const auto& bytes = *static_cast<const Bytes*>(context);
  if (offset > bytes.size() || length > bytes.size() - offset) return -1;
  std::copy_n(bytes.begin() + static_cast<std::ptrdiff_t>(offset), length, static_cast<uint8_t*>(buffer));
  return 0;
}

TEST_F(SealedSameBytes, at_any_place) {
  RandomSource random;
  for (const uint64_t length : {0, 1, 16383, 16384, 16385, 1000000, 6000000}) {
    const Bytes text = fixed_text(length);
    Bytes sealed = expected(text);
    for (const NamedEngine& named : all_engines()) {
      format::Reader reader(read_from_memory, &sealed, sealed.size(), named.engine->wish);
      stockade_fault fault;
      ASSERT_EQ(reader.open(format_, fault), STOCKADE_OK);
      ASSERT_EQ(reader.length(), length);
      for (uint64_t i = 0; i < scaled(100); ++i) {
        const uint64_t offset = random.below(length + 2), wish = random.below(i == 0 ? 6000001 : 50000);
        Bytes part(wish, 0xaa);
        uint64_t got = 0;
        ASSERT_EQ(reader.read_at(offset, part, &got, fault), STOCKADE_OK);
        ASSERT_EQ(got, offset >= length ? 0 : std::min(wish, length - offset));
        ASSERT_TRUE(std::equal(part.begin(), part.begin() + static_cast<std::ptrdiff_t>(got),
                               text.begin() + static_cast<std::ptrdiff_t>(std::min(offset, length))));
        ASSERT_TRUE(std::all_of(part.begin() + static_cast<std::ptrdiff_t>(got), part.end(),
                                [](uint8_t byte) { return byte == 0xaa; }));
      }
    }
  }
}

TEST_F(SealedSameBytes, with_armor_around_them) {
  RandomSource cuts;
  for (const uint64_t length : {0, 1, 100, 16384, 300000, 1000000}) {
    const Bytes text = fixed_text(length);
    format_.armor = true;
    Bytes armored;
    const TemporaryFile in(text), out;
    for (const NamedEngine& named : all_engines()) {
      in.seek(0);
      armored = encrypt(in.fd(), out, named.engine->wish, 16);
      ASSERT_EQ(stream(STOCKADE_ENCRYPT, text, named.engine->wish, cuts), armored);
      ASSERT_EQ(stream(STOCKADE_DECRYPT, armored, named.engine->wish, cuts), text);
      const TemporaryFile in_armored(armored);
      stockade_file_job job{};
      out.resize(0);
      out.seek(0);
      ASSERT_EQ(format::decrypt_fd(format_, in_armored.fd(), out.fd(), job, named.engine->wish), STOCKADE_OK);
      ASSERT_EQ(out.content(), text);
    }
    const std::string lines(armored.begin(), armored.end());
    format_.armor = false;
    const Bytes plain = expected(text);
    std::string base64 = oracle_base64(plain), body = "-----BEGIN STOCKADE FILE-----\n";
    while (base64.size() % 4 != 0) base64 += '=';
    for (uint64_t i = 0; i < base64.size(); i += 64) body += base64.substr(i, 64) + "\n";
    ASSERT_EQ(lines, body + "-----END STOCKADE FILE-----\n");
  }
}

}  // namespace
}  // namespace stockade::tests
