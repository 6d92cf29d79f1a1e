#include "rsa/padding.h"

#include <gtest/gtest.h>
#include <openssl/evp.h>
#include <openssl/rsa.h>

#include <algorithm>
#include <vector>

#include "cross/random_source.h"
#include "rsa/rsa_test.h"

// The oracle's paddings alone, without a key around them, are among what OpenSSL 3 calls deprecated.
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

namespace stockade::rsa {
namespace {

const EVP_MD* oracle_of(libcrypto::Hash hash) { return EVP_get_digestbyname(libcrypto::hash_name(hash)); }

libcrypto::Hash any_hash(tests::RandomSource& random) {
  return static_cast<libcrypto::Hash>(random.below(libcrypto::hash_count));
}

// ---- OAEP ----

struct OaepCase {
  Oaep oaep;
  Buffer label, message, encoded;
};

OaepCase any_oaep(tests::RandomSource& random, bool empty_message = false) {
  OaepCase test;
  test.label = random.bytes(random.one_in(2) ? 0 : random.below(100));
  test.oaep = {any_hash(random), any_hash(random), test.label};
  const uint64_t taken = 2 * libcrypto::digest_bytes(test.oaep.hash) + 2;
  test.encoded.resize(random.between(taken, taken + (random.one_in(4) ? 4 : 400)));
  const auto capacity = static_cast<uint64_t>(oaep_capacity(test.oaep, test.encoded.size()));
  test.message = random.bytes(empty_message ? 0 : random.one_in(4) ? capacity : random.between(0, capacity));
  return test;
}

std::pair<Status, Buffer> decoded(const OaepCase& test) {
  Buffer encoded = test.encoded;
  Buffer message(static_cast<size_t>(oaep_capacity(test.oaep, encoded.size())), 0xAA);
  uint64_t length = 77;
  const Status status = oaep_decode(test.oaep, encoded, message, length);
  EXPECT_EQ(encoded, Buffer(encoded.size(), 0));
  EXPECT_TRUE(std::all_of(message.begin() + static_cast<int64_t>(length), message.end(),
                          [](uint8_t byte) { return byte == 0; }));
  message.resize(length);
  return {status, message};
}

int oracle_decode(const OaepCase& test, Buffer& message) {
  message.resize(test.encoded.size());
  const auto length = static_cast<int>(test.encoded.size());
  const int got = RSA_padding_check_PKCS1_OAEP_mgf1(message.data(), length, test.encoded.data(), length, length,
                                                    test.label.data(), static_cast<int>(test.label.size()),
                                                    oracle_of(test.oaep.hash), oracle_of(test.oaep.mask_hash));
  message.resize(static_cast<size_t>(std::max(got, 0)));
  return got;
}

TEST(OaepPadding, is_decoded_by_libcrypto_and_by_itself) {
  tests::RandomSource random;
  TestSource source(random);
  for (uint64_t i = tests::scaled(2000); i > 0; --i) {
    OaepCase test = any_oaep(random, random.one_in(8));
    ASSERT_EQ(oaep_encode(test.oaep, test.message, source, test.encoded), STOCKADE_OK);
    Buffer message;
    ASSERT_EQ(oracle_decode(test, message), static_cast<int>(test.message.size()));
    EXPECT_EQ(message, test.message);
    EXPECT_EQ(decoded(test), std::pair(STOCKADE_OK, test.message));
  }
}

TEST(OaepPadding, decodes_what_libcrypto_encodes) {
  tests::RandomSource random;
  for (uint64_t i = tests::scaled(2000); i > 0; --i) {
    OaepCase test = any_oaep(random, random.one_in(8));
    ASSERT_EQ(RSA_padding_add_PKCS1_OAEP_mgf1(test.encoded.data(), static_cast<int>(test.encoded.size()),
                                              test.message.data(), static_cast<int>(test.message.size()),
                                              test.label.data(), static_cast<int>(test.label.size()),
                                              oracle_of(test.oaep.hash), oracle_of(test.oaep.mask_hash)),
              1);
    EXPECT_EQ(decoded(test), std::pair(STOCKADE_OK, test.message));
  }
}

// Whatever is wrong, there is one answer.
TEST(OaepPadding, has_one_answer_to_all_that_is_wrong) {
  tests::RandomSource random;
  TestSource source(random);
  const auto refused = std::pair(STOCKADE_ERROR_DECRYPTION, Buffer());
  for (uint64_t i = tests::scaled(300); i > 0; --i) {
    OaepCase test = any_oaep(random);
    ASSERT_EQ(oaep_encode(test.oaep, test.message, source, test.encoded), STOCKADE_OK);
    OaepCase bad = test;
    bad.encoded[0] = static_cast<uint8_t>(random.between(1, 255));
    EXPECT_EQ(decoded(bad), refused);
    bad = test;
    bad.encoded[random.below(bad.encoded.size())] ^= static_cast<uint8_t>(1 << random.below(8));
    EXPECT_EQ(decoded(bad), refused);
    bad = test;
    bad.label.push_back(0);
    bad.oaep.label = bad.label;
    EXPECT_EQ(decoded(bad), refused);
    bad = test;
    bad.encoded = random.bytes(bad.encoded.size());
    EXPECT_EQ(decoded(bad), refused);
  }
}

// Encodes a block that may be anything, with the masks that it should have.
Buffer with_block(const OaepCase& test, const Buffer& block, tests::RandomSource& random) {
  const uint64_t digest_length = libcrypto::digest_bytes(test.oaep.hash);
  Buffer seed = random.bytes(digest_length), masked = block;
  EXPECT_EQ(libcrypto::mask_with(test.oaep.mask_hash, seed, masked), STOCKADE_OK);
  EXPECT_EQ(libcrypto::mask_with(test.oaep.mask_hash, masked, seed), STOCKADE_OK);
  Buffer encoded(1, 0);
  encoded.insert(encoded.end(), seed.begin(), seed.end());
  encoded.insert(encoded.end(), masked.begin(), masked.end());
  return encoded;
}

TEST(OaepPadding, agrees_with_libcrypto_about_blocks_of_every_kind) {
  tests::RandomSource random;
  uint64_t accepted = 0;
  for (uint64_t i = tests::scaled(3000); i > 0; --i) {
    OaepCase test = any_oaep(random);
    const uint64_t digest_length = libcrypto::digest_bytes(test.oaep.hash);
    Buffer block(test.encoded.size() - 1 - digest_length);
    const Bytes label[] = {test.label};
    ASSERT_EQ(libcrypto::hash_parts(test.oaep.hash, label, block.data()), STOCKADE_OK);
    // Bytes of which each may be the separator, or what must not stand before it.
    for (size_t at = digest_length; at < block.size(); ++at) {
      block[at] = random.one_in(12) ? static_cast<uint8_t>(random.below(3)) : uint8_t{0};
    }
    if (random.one_in(8)) block[random.below(digest_length)] ^= 1;
    test.encoded = with_block(test, block, random);
    Buffer expected;
    const int length = oracle_decode(test, expected);
    const auto [status, message] = decoded(test);
    ASSERT_EQ(status, length < 0 ? STOCKADE_ERROR_DECRYPTION : STOCKADE_OK);
    EXPECT_EQ(message, expected);
    accepted += status == STOCKADE_OK ? 1 : 0;
  }
  EXPECT_GT(accepted, tests::scaled(3000) / 20);
}

TEST(OaepPadding, takes_as_much_as_it_says) {
  tests::RandomSource random;
  TestSource source(random);
  for (uint32_t hash = 0; hash < libcrypto::hash_count; ++hash) {
    const Oaep oaep{static_cast<libcrypto::Hash>(hash), libcrypto::Hash::sha256, {}};
    const uint64_t taken = 2 * libcrypto::digest_bytes(oaep.hash) + 2;
    EXPECT_EQ(oaep_capacity(oaep, taken - 1), -1);
    EXPECT_EQ(oaep_capacity(oaep, 0), -1);
    EXPECT_EQ(oaep_capacity(oaep, taken), 0);
    EXPECT_EQ(oaep_capacity(oaep, taken + 9), 9);
    Buffer encoded(taken + 9), message(10);
    EXPECT_EQ(oaep_encode(oaep, Bytes(message).first(9), source, encoded), STOCKADE_OK);
    EXPECT_EQ(oaep_encode(oaep, message, source, encoded), STOCKADE_ERROR_MESSAGE_LENGTH);
    uint64_t length;
    EXPECT_EQ(oaep_decode(oaep, encoded, std::span(message).first(8), length), STOCKADE_ERROR_OUTPUT_SIZE);
    encoded.resize(taken - 1);
    EXPECT_EQ(oaep_encode(oaep, {}, source, encoded), STOCKADE_ERROR_MESSAGE_LENGTH);
    EXPECT_EQ(oaep_decode(oaep, encoded, message, length), STOCKADE_ERROR_MESSAGE_LENGTH);
    EmptySource empty;
    encoded.resize(taken);
    EXPECT_EQ(oaep_encode(oaep, {}, empty, encoded), STOCKADE_ERROR_RANDOM);
  }
}

// ---- PSS ----

// libcrypto asks a key for the length of its modulus, and for nothing else.
class OracleSize {
 public:
  explicit OracleSize(uint32_t bits) : rsa_(RSA_new()) {
    BIGNUM* const n = BN_new();
    BN_set_bit(n, static_cast<int>(bits) - 1);
    BN_set_bit(n, 0);
    RSA_set0_key(rsa_, n, BN_dup(BN_value_one()), nullptr);
  }
  ~OracleSize() { RSA_free(rsa_); }
  OracleSize(const OracleSize&) = delete;
  OracleSize& operator=(const OracleSize&) = delete;
  RSA* get() const { return rsa_; }

 private:
  RSA* rsa_;
};

constexpr SaltLength any_salt{SaltLength::Kind::any};

uint32_t any_bits(tests::RandomSource& random) { return static_cast<uint32_t>(random.between(1100, 1140)); }

int oracle_salt(SaltLength salt) {
  switch (salt.kind) {
    case SaltLength::Kind::digest:
      return RSA_PSS_SALTLEN_DIGEST;
    case SaltLength::Kind::most:
      return RSA_PSS_SALTLEN_MAX;
    case SaltLength::Kind::given:
      return static_cast<int>(salt.bytes);
    default:
      return RSA_PSS_SALTLEN_AUTO;
  }
}

bool oracle_verifies(const Pss& pss, const Buffer& digest, uint32_t bits, const Buffer& encoded) {
  const OracleSize key(bits);
  return RSA_verify_PKCS1_PSS_mgf1(key.get(), digest.data(), oracle_of(pss.hash), oracle_of(pss.mask_hash),
                                   encoded.data(), oracle_salt(pss.salt)) == 1;
}

Status verified(const Pss& pss, const Buffer& digest, uint32_t bits, Buffer encoded) {
  return pss_verify(pss, digest, bits, encoded);
}

Pss any_pss(tests::RandomSource& random) {
  const libcrypto::Hash hash = any_hash(random);
  constexpr SaltLength::Kind kinds[] = {SaltLength::Kind::digest, SaltLength::Kind::most, SaltLength::Kind::given};
  return {hash, any_hash(random), {kinds[random.below(3)], random.below(60)}};
}

TEST(PssPadding, verifies_with_libcrypto_and_with_itself) {
  tests::RandomSource random;
  TestSource source(random);
  for (uint64_t i = tests::scaled(1000); i > 0; --i) {
    const Pss pss = any_pss(random);
    const uint32_t bits = any_bits(random);
    const Buffer digest = random.bytes(libcrypto::digest_bytes(pss.hash));
    Buffer encoded(bytes_for_bits(bits), 0xAA);
    ASSERT_EQ(pss_encode(pss, digest, bits, source, encoded), STOCKADE_OK);
    EXPECT_TRUE(oracle_verifies(pss, digest, bits, encoded)) << bits;
    EXPECT_EQ(verified(pss, digest, bits, encoded), STOCKADE_OK) << bits;
    Pss loose = pss;
    loose.salt = any_salt;
    EXPECT_EQ(verified(loose, digest, bits, encoded), STOCKADE_OK);
    loose.salt = {SaltLength::Kind::given, 61};
    EXPECT_EQ(verified(loose, digest, bits, encoded),
              pss.salt.kind == SaltLength::Kind::most && digest.size() + 2 + 61 == bytes_for_bits(bits - 1)
                  ? STOCKADE_OK
                  : STOCKADE_ERROR_SIGNATURE);
  }
}

TEST(PssPadding, verifies_what_libcrypto_encodes) {
  tests::RandomSource random;
  for (uint64_t i = tests::scaled(1000); i > 0; --i) {
    const Pss pss = any_pss(random);
    const uint32_t bits = any_bits(random);
    const Buffer digest = random.bytes(libcrypto::digest_bytes(pss.hash));
    Buffer encoded(bytes_for_bits(bits));
    const OracleSize key(bits);
    ASSERT_EQ(RSA_padding_add_PKCS1_PSS_mgf1(key.get(), encoded.data(), digest.data(), oracle_of(pss.hash),
                                             oracle_of(pss.mask_hash), oracle_salt(pss.salt)),
              1);
    EXPECT_EQ(verified(pss, digest, bits, encoded), STOCKADE_OK) << bits;
    Buffer other = digest;
    other[random.below(other.size())] ^= static_cast<uint8_t>(1 << random.below(8));
    EXPECT_EQ(verified(pss, other, bits, encoded), STOCKADE_ERROR_SIGNATURE);
  }
}

TEST(PssPadding, sees_every_changed_bit_as_libcrypto_does) {
  tests::RandomSource random;
  TestSource source(random);
  for (const uint32_t bits : {1024U, 1025U, 1026U, 1031U, 1032U}) {
    const Pss pss{libcrypto::Hash::sha256, libcrypto::Hash::sha256, any_salt};
    const Buffer digest = random.bytes(32);
    Buffer encoded(bytes_for_bits(bits));
    ASSERT_EQ(pss_encode(pss, digest, bits, source, encoded), STOCKADE_OK);
    for (size_t bit = 0; bit < 8 * encoded.size(); ++bit) {
      encoded[bit / 8] ^= static_cast<uint8_t>(1 << bit % 8);
      ASSERT_EQ(verified(pss, digest, bits, encoded), STOCKADE_ERROR_SIGNATURE) << bits << ", bit " << bit;
      ASSERT_FALSE(oracle_verifies(pss, digest, bits, encoded));
      encoded[bit / 8] ^= static_cast<uint8_t>(1 << bit % 8);
    }
  }
}

TEST(PssPadding, refuses_what_does_not_fit) {
  tests::RandomSource random;
  TestSource source(random);
  const Buffer digest(64, 1);
  Pss pss{libcrypto::Hash::sha512, libcrypto::Hash::sha512, {SaltLength::Kind::digest}};
  // RFC 8017 9.1.1: the least is 8 digest + 8 salt + 9 bits, of a modulus that has one more.
  Buffer encoded(bytes_for_bits(1034));
  EXPECT_EQ(pss_encode(pss, digest, 1034, source, encoded), STOCKADE_OK);
  encoded.resize(bytes_for_bits(1024));
  EXPECT_EQ(pss_encode(pss, digest, 1024, source, encoded), STOCKADE_ERROR_MESSAGE_LENGTH);
  EXPECT_EQ(verified(pss, digest, 1024, encoded), STOCKADE_ERROR_MESSAGE_LENGTH);
  pss.salt = {SaltLength::Kind::given, 62};
  EXPECT_EQ(pss_encode(pss, digest, 1024, source, encoded), STOCKADE_OK);
  EXPECT_EQ(verified(pss, digest, 1024, encoded), STOCKADE_OK);
  pss.salt.bytes = 63;
  EXPECT_EQ(pss_encode(pss, digest, 1024, source, encoded), STOCKADE_ERROR_MESSAGE_LENGTH);
  pss.salt.bytes = UINT64_MAX;
  EXPECT_EQ(pss_encode(pss, digest, 1024, source, encoded), STOCKADE_ERROR_MESSAGE_LENGTH);
  EXPECT_EQ(verified(pss, digest, 1024, encoded), STOCKADE_ERROR_MESSAGE_LENGTH);
  pss.salt = any_salt;
  Buffer tiny(65);
  EXPECT_EQ(pss_encode(pss, digest, 520, source, tiny), STOCKADE_ERROR_MESSAGE_LENGTH);
  EXPECT_EQ(pss_encode(pss, Bytes(digest).first(63), 1024, source, encoded), STOCKADE_ERROR_ARGUMENT);
  EXPECT_EQ(pss_verify(pss, Bytes(digest).first(63), 1024, encoded), STOCKADE_ERROR_ARGUMENT);
  EmptySource empty;
  EXPECT_EQ(pss_encode(pss, digest, 1024, empty, encoded), STOCKADE_ERROR_RANDOM);
}

// ---- PKCS#1 v1.5 ----

TEST(Pkcs1Padding, has_the_prefixes_of_rfc_8017) {
  // RFC 8017 9.2 note 1, as the sender would write the whole block down.
  const Buffer sha1 = {0x30, 0x21, 0x30, 0x09, 0x06, 0x05, 0x2b, 0x0e, 0x03, 0x02, 0x1a, 0x05, 0x00, 0x04, 0x14};
  const Bytes prefix = libcrypto::digest_info_prefix(libcrypto::Hash::sha1);
  EXPECT_EQ(Buffer(prefix.begin(), prefix.end()), sha1);
  for (uint32_t number = 0; number < libcrypto::hash_count; ++number) {
    const auto hash = static_cast<libcrypto::Hash>(number);
    Buffer encoded(200), digest(libcrypto::digest_bytes(hash), 0x5a);
    ASSERT_EQ(pkcs1_encode({hash}, digest, encoded), STOCKADE_OK);
    Buffer expected(200 - digest.size() - libcrypto::digest_info_prefix(hash).size(), 0xff);
    expected.front() = expected.back() = 0;
    expected[1] = 1;
    expected.insert(expected.end(), libcrypto::digest_info_prefix(hash).begin(),
                    libcrypto::digest_info_prefix(hash).end());
    expected.insert(expected.end(), digest.begin(), digest.end());
    EXPECT_EQ(encoded, expected);
    EXPECT_EQ(pkcs1_verify({hash}, digest, encoded), STOCKADE_OK);
    for (size_t bit = 0; bit < 8 * encoded.size(); ++bit) {
      encoded[bit / 8] ^= static_cast<uint8_t>(1 << bit % 8);
      ASSERT_EQ(pkcs1_verify({hash}, digest, encoded), STOCKADE_ERROR_SIGNATURE) << bit;
      encoded[bit / 8] ^= static_cast<uint8_t>(1 << bit % 8);
    }
  }
}

// Bleichenbacher 2006: less padding, and what pleases the forger behind the digest.
TEST(Pkcs1Padding, refuses_anything_behind_the_digest) {
  const Buffer digest(32, 0x77);
  Buffer encoded(128), moved(128);
  ASSERT_EQ(pkcs1_encode({libcrypto::Hash::sha256}, digest, encoded), STOCKADE_OK);
  std::copy(encoded.begin() + 20, encoded.end(), moved.begin());
  moved[0] = 0;
  moved[1] = 1;
  EXPECT_EQ(pkcs1_verify({libcrypto::Hash::sha256}, digest, moved), STOCKADE_ERROR_SIGNATURE);
}

TEST(Pkcs1Padding, refuses_what_does_not_fit) {
  const Buffer digest(32, 0x77);
  const uint64_t least = 11 + 19 + 32;
  Buffer encoded(least);
  EXPECT_EQ(pkcs1_encode({libcrypto::Hash::sha256}, digest, encoded), STOCKADE_OK);
  EXPECT_EQ(pkcs1_encode({libcrypto::Hash::sha384}, digest, encoded), STOCKADE_ERROR_ARGUMENT);
  EXPECT_EQ(pkcs1_verify({libcrypto::Hash::sha384}, digest, encoded), STOCKADE_ERROR_ARGUMENT);
  encoded.resize(least - 1);
  EXPECT_EQ(pkcs1_encode({libcrypto::Hash::sha256}, digest, encoded), STOCKADE_ERROR_MESSAGE_LENGTH);
  EXPECT_EQ(pkcs1_verify({libcrypto::Hash::sha256}, digest, encoded), STOCKADE_ERROR_MESSAGE_LENGTH);
}

}  // namespace
}  // namespace stockade::rsa
