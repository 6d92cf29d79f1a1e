// What the C interface signs and encrypts is what OpenSSL verifies and decrypts, and the other way round: every row,
// size, padding and hash.
#include <gtest/gtest.h>
#include <openssl/bio.h>
#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/pem.h>
#include <unistd.h>

#include "cross/handles.h"
#include "cross/random_source.h"
#include "cross/rsa_sample.h"
#include "cross/temporary_file.h"
#include "rsa/rsa_test.h"

namespace stockade::tests {
namespace {

constexpr const char* hashes[] = {"sha1", "sha224", "sha256", "sha384", "sha512", "sha512-224", "sha512-256"};

Bytes sign(const stockade_rsa_key* key, const RsaCase& chosen, const Bytes& digest) {
  const stockade_rsa_options options = chosen.options();
  Bytes signature(stockade_rsa_key_bytes(key));
  uint64_t length = 0;
  EXPECT_EQ(stockade_rsa_sign_digest(key, &options, digest.data(), digest.size(), signature.data(), signature.size(),
                                     &length, nullptr),
            STOCKADE_OK);
  EXPECT_EQ(length, signature.size());
  return signature;
}

stockade_status verify(const stockade_rsa_key* key, const RsaCase& chosen, const Bytes& digest,
                       const Bytes& signature) {
  const stockade_rsa_options options = chosen.options();
  return stockade_rsa_verify_digest(key, &options, digest.data(), digest.size(), signature.data(), signature.size(),
                                    nullptr);
}

Bytes encrypt(const stockade_rsa_key* key, const RsaCase& chosen, const Bytes& message) {
  const stockade_rsa_options options = chosen.options();
  Bytes out(stockade_rsa_key_bytes(key));
  uint64_t length = 0;
  EXPECT_EQ(
      stockade_rsa_encrypt(key, &options, message.data(), message.size(), out.data(), out.size(), &length, nullptr),
      STOCKADE_OK);
  EXPECT_EQ(length, out.size());
  return out;
}

Bytes decrypt(const stockade_rsa_key* key, const RsaCase& chosen, const Bytes& ciphertext) {
  const stockade_rsa_options options = chosen.options();
  Bytes out(stockade_rsa_key_bytes(key), 0xee);
  uint64_t length = 0;
  EXPECT_EQ(stockade_rsa_decrypt(key, &options, ciphertext.data(), ciphertext.size(), out.data(), out.size(), &length,
                                 nullptr),
            STOCKADE_OK);
  out.resize(length);
  return out;
}

std::vector<RsaCase> signature_cases() {
  std::vector<RsaCase> cases;
  for (const char* const hash : hashes) {
    cases.push_back({STOCKADE_RSA_PKCS1V15, hash});
    cases.push_back({STOCKADE_RSA_PSS, hash});
  }
  cases.push_back({STOCKADE_RSA_PSS, "sha256", "sha1"});
  cases.push_back({STOCKADE_RSA_PSS, "sha384", nullptr, STOCKADE_RSA_SALT_MAX});
  cases.push_back({STOCKADE_RSA_PSS, "sha512", nullptr, STOCKADE_RSA_SALT_GIVEN, 0});
  cases.push_back({STOCKADE_RSA_PSS, "sha256", nullptr, STOCKADE_RSA_SALT_GIVEN, 17});
  return cases;
}

// A row and a size of modulus.
class RsaInterchange : public testing::TestWithParam<std::tuple<std::string, uint32_t>> {
 protected:
  RsaInterchange()
      : oracle_(oracle_rsa_key(std::get<1>(GetParam()))),
        private_(read_private(private_pem(oracle_), std::get<0>(GetParam()).c_str())),
        public_(read_public(public_pem(oracle_), std::get<0>(GetParam()).c_str())) {}

  RandomSource random_;
  OracleRsaKey oracle_;
  RsaKey private_, public_;
};

TEST_P(RsaInterchange, key_says_what_it_is) {
  const auto& [row, bits] = GetParam();
  for (const stockade_rsa_key* const key : {private_.get(), public_.get()}) {
    EXPECT_EQ("bignum:" + std::string(stockade_rsa_key_row(key)), row);
    EXPECT_EQ(stockade_rsa_key_bits(key), bits);
    EXPECT_EQ(stockade_rsa_key_bytes(key), bits / 8);
    EXPECT_EQ(stockade_rsa_key_is_private(key), key == private_.get() ? 1 : 0);
  }
}

TEST_P(RsaInterchange, signatures) {
  for (const RsaCase& chosen : signature_cases()) {
    SCOPED_TRACE(std::string(chosen.hash) + " padding " + std::to_string(chosen.padding));
    const Bytes digest = oracle_digest(chosen.hash, random_.bytes(random_.below(300)));
    const Bytes ours = sign(private_.get(), chosen, digest), theirs = oracle_sign(oracle_, chosen, digest);
    EXPECT_TRUE(oracle_verify(oracle_, chosen, digest, ours));
    if (chosen.padding == STOCKADE_RSA_PKCS1V15) {
      EXPECT_EQ(ours, theirs);
    }
    EXPECT_EQ(verify(public_.get(), chosen, digest, theirs), STOCKADE_OK);
    EXPECT_EQ(verify(private_.get(), chosen, digest, theirs), STOCKADE_OK);
    Bytes wrong = theirs;
    wrong[random_.between(1, wrong.size() - 1)] ^= static_cast<uint8_t>(1 << random_.below(8));
    EXPECT_EQ(verify(public_.get(), chosen, digest, wrong), STOCKADE_ERROR_SIGNATURE);
    Bytes other = digest;
    other[random_.below(other.size())] ^= static_cast<uint8_t>(1 << random_.below(8));
    EXPECT_EQ(verify(public_.get(), chosen, other, theirs), STOCKADE_ERROR_SIGNATURE);
  }
}

TEST_P(RsaInterchange, salt_of_any_length_is_taken_when_asked_for) {
  const Bytes digest = oracle_digest("sha256", random_.bytes(10));
  const RsaCase any = {STOCKADE_RSA_PSS, "sha256", nullptr, STOCKADE_RSA_SALT_ANY};
  const RsaCase given = {STOCKADE_RSA_PSS, "sha256", nullptr, STOCKADE_RSA_SALT_GIVEN, random_.below(100)};
  const Bytes theirs = oracle_sign(oracle_, given, digest);
  EXPECT_EQ(verify(public_.get(), any, digest, theirs), STOCKADE_OK);
  EXPECT_EQ(verify(public_.get(), {STOCKADE_RSA_PSS, "sha256", nullptr, STOCKADE_RSA_SALT_GIVEN, 101}, digest, theirs),
            STOCKADE_ERROR_SIGNATURE);
}

TEST_P(RsaInterchange, encryption) {
  std::vector<RsaCase> cases;
  for (const char* const hash : hashes) cases.push_back({STOCKADE_RSA_PSS, hash});
  cases.push_back({STOCKADE_RSA_PSS, "sha256", "sha1"});
  cases.push_back({STOCKADE_RSA_PSS, "sha1", "sha512", STOCKADE_RSA_SALT_DIGEST, 0, "a label"});
  for (const RsaCase& chosen : cases) {
    SCOPED_TRACE(chosen.hash);
    const stockade_rsa_options options = chosen.options();
    uint64_t most = 0;
    ASSERT_EQ(stockade_rsa_capacity(public_.get(), &options, &most), STOCKADE_OK);
    for (const uint64_t length : {uint64_t{1}, random_.between(2, most - 1), most}) {
      const Bytes message = random_.bytes(length);
      EXPECT_EQ(oracle_decrypt(oracle_, chosen, encrypt(public_.get(), chosen, message)), message);
      EXPECT_EQ(decrypt(private_.get(), chosen, oracle_encrypt(oracle_, chosen, message)), message);
    }
  }
  // OpenSSL's decryption has no way to say "empty".
  EXPECT_EQ(decrypt(private_.get(), {}, encrypt(private_.get(), {}, {})), Bytes{});
}

TEST_P(RsaInterchange, bare_numbers_undo_each_other_in_place) {
  Bytes number = random_.bytes(stockade_rsa_key_bytes(public_.get()));
  number[0] = 0;
  Bytes power = number;
  ASSERT_EQ(stockade_rsa_raw_private(private_.get(), power.data(), power.size(), power.data(), power.size(), nullptr),
            STOCKADE_OK);
  EXPECT_NE(power, number);
  ASSERT_EQ(stockade_rsa_raw_public(public_.get(), power.data(), power.size(), power.data(), power.size(), nullptr),
            STOCKADE_OK);
  EXPECT_EQ(power, number);
}

INSTANTIATE_TEST_SUITE_P(Rows, RsaInterchange,
                         testing::Combine(testing::ValuesIn(bignum_rows()), testing::Values(2048, 3072, 4096)),
                         [](const auto& test) {
                           return std::get<0>(test.param).substr(7) + "_" + std::to_string(std::get<1>(test.param));
                         });

// ---- keys and numbers that nobody meets by chance ----

struct EdgeKey {
  std::string name;
  OracleRsaKey oracle;
  bool slow = false;
};

// 2^bits - below. The primes among these were searched for once, which takes minutes.
std::shared_ptr<BIGNUM> below_power_of_two(int bits, unsigned long below) {
  const std::shared_ptr<BIGNUM> number(BN_new(), BN_free);
  BN_set_bit(number.get(), bits);
  BN_sub_word(number.get(), below);
  return number;
}

OracleRsaKey key_of(const std::shared_ptr<BIGNUM>& p, const std::shared_ptr<BIGNUM>& q) {
  return rsa::oracle_key_from(rsa::numbers_from(p.get(), q.get())).pkey;
}

// Factors of different lengths, lengths that are no whole bytes, high limbs of zeros or of ones, a wide e and one of 3,
// and the longest moduli.
const std::vector<EdgeKey>& edge_keys() {
  static const std::vector<EdgeKey> keys = [] {
    std::vector<EdgeKey> made;
    for (const rsa::OracleKey& odd : rsa::odd_keys()) made.push_back({"odd " + std::to_string(made.size()), odd.pkey});
    // With a Mersenne prime each.
    made.push_back({"8192 bits", key_of(below_power_of_two(4423, 1), below_power_of_two(3769, 2271))});
    made.push_back({"16384 bits", key_of(below_power_of_two(9689, 1), below_power_of_two(6695, 1161)), true});
    return made;
  }();
  return keys;
}

Bytes modulus_of(const OracleRsaKey& key) {
  BIGNUM* n = nullptr;
  EXPECT_EQ(EVP_PKEY_get_bn_param(key.get(), OSSL_PKEY_PARAM_RSA_N, &n), 1);
  const std::shared_ptr<BIGNUM> own(n, BN_free);
  return rsa::bytes_of(n);
}

class RsaEdges : public testing::TestWithParam<std::string> {
 protected:
  Bytes power(const RsaKey& key, bool is_private, const Bytes& number) {
    const auto function = is_private ? stockade_rsa_raw_private : stockade_rsa_raw_public;
    Bytes out(number.size());
    EXPECT_EQ(function(key.get(), number.data(), number.size(), out.data(), out.size(), nullptr), STOCKADE_OK);
    return out;
  }

  RandomSource random_;
};

INSTANTIATE_TEST_SUITE_P(Rows, RsaEdges, testing::ValuesIn(bignum_rows()),
                         [](const auto& test) { return test.param.substr(7); });

TEST_P(RsaEdges, every_operation_both_ways) {
  const Bytes digest = oracle_digest("sha256", random_.bytes(50)), message = random_.bytes(32);
  for (const auto& [name, oracle, slow] : edge_keys()) {
    // Sanitizers take half a minute for that one.
    if (slow && test_scale() < 100) continue;
    SCOPED_TRACE(name);
    const RsaKey key = read_private(private_pem(oracle), GetParam().c_str());
    for (const RsaCase& chosen : {RsaCase{STOCKADE_RSA_PKCS1V15}, RsaCase{},
                                  RsaCase{STOCKADE_RSA_PSS, "sha256", "sha512", STOCKADE_RSA_SALT_MAX}}) {
      if (slow && chosen.salt == STOCKADE_RSA_SALT_MAX) continue;
      EXPECT_TRUE(oracle_verify(oracle, chosen, digest, sign(key.get(), chosen, digest)));
      Bytes theirs = oracle_sign(oracle, chosen, digest);
      EXPECT_EQ(verify(key.get(), chosen, digest, theirs), STOCKADE_OK);
      theirs.back() ^= 1;
      EXPECT_EQ(verify(key.get(), chosen, digest, theirs), STOCKADE_ERROR_SIGNATURE);
    }
    for (const RsaCase& chosen : {RsaCase{}, RsaCase{STOCKADE_RSA_PSS, "sha1", "sha384"}}) {
      if (slow && chosen.mask_hash != nullptr) continue;
      EXPECT_EQ(oracle_decrypt(oracle, chosen, encrypt(key.get(), chosen, message)), message);
      EXPECT_EQ(decrypt(key.get(), chosen, oracle_encrypt(oracle, chosen, message)), message);
    }
  }
}

TEST_P(RsaEdges, numbers_at_the_edges) {
  for (const auto& [name, oracle, slow] : edge_keys()) {
    if (slow) continue;
    SCOPED_TRACE(name);
    const RsaKey key = read_private(private_pem(oracle), GetParam().c_str());
    const uint64_t size = stockade_rsa_key_bytes(key.get());
    Bytes zero(size), one(size), last = modulus_of(oracle), drawn = random_.bytes(size);
    ASSERT_EQ(last.size(), size);
    const Bytes n = last;
    one.back() = 1;
    last.back() ^= 1;
    drawn[0] = 0;
    for (const bool is_private : {false, true}) {
      for (const Bytes& fixed : {zero, one, last}) EXPECT_EQ(power(key, is_private, fixed), fixed);
      EXPECT_EQ(power(key, is_private, drawn), oracle_power(oracle, is_private, drawn));
      const auto function = is_private ? stockade_rsa_raw_private : stockade_rsa_raw_public;
      Bytes out(size);
      EXPECT_EQ(function(key.get(), n.data(), size, out.data(), size, nullptr), STOCKADE_ERROR_RSA_RANGE);
    }
    // As ciphertexts they are like all others that are wrong, and as signatures too.
    const Bytes digest(32, 1);
    for (const Bytes& fixed : {zero, one, last}) {
      Bytes out(size, 0xee);
      uint64_t length = 77;
      EXPECT_EQ(stockade_rsa_decrypt(key.get(), nullptr, fixed.data(), size, out.data(), size, &length, nullptr),
                STOCKADE_ERROR_DECRYPTION);
      EXPECT_EQ(length, 0U);
      for (const RsaCase& chosen : {RsaCase{STOCKADE_RSA_PKCS1V15}, RsaCase{}}) {
        EXPECT_EQ(verify(key.get(), chosen, digest, fixed), STOCKADE_ERROR_SIGNATURE);
      }
    }
  }
}

// Of 1,024 bits, which are read for this alone: what was signed long ago, with every padding and hash that fits.
TEST_P(RsaEdges, old_signatures) {
  const OracleRsaKey oracle = oracle_rsa_key(1024);
  const std::string file = public_pem(oracle), force = GetParam();
  stockade_rsa_reading reading = {};
  reading.struct_size = sizeof reading;
  reading.legacy = 1;
  reading.force = force.c_str();
  stockade_rsa_key* made = nullptr;
  ASSERT_EQ(stockade_rsa_key_read_public(&made, file.data(), file.size(), &reading), STOCKADE_OK);
  const RsaKey key(made);
  int compared = 0;
  for (const RsaCase& chosen : signature_cases()) {
    SCOPED_TRACE(std::string(chosen.hash) + " padding " + std::to_string(chosen.padding));
    const Bytes digest = oracle_digest(chosen.hash, random_.bytes(40));
    Bytes theirs = oracle_sign(oracle, chosen, digest);
    if (theirs.empty()) {
      // Too long for the key, says OpenSSL.
      EXPECT_EQ(verify(made, chosen, digest, Bytes(128, 1)), STOCKADE_ERROR_MESSAGE_LENGTH);
      continue;
    }
    EXPECT_EQ(verify(made, chosen, digest, theirs), STOCKADE_OK);
    EXPECT_EQ(power(key, false, theirs), oracle_power(oracle, false, theirs));
    theirs[100] ^= 1;
    EXPECT_EQ(verify(made, chosen, digest, theirs), STOCKADE_ERROR_SIGNATURE);
    ++compared;
  }
  EXPECT_GE(compared, 16);
}

// ---- messages, digests, key files ----

TEST(RsaMessages, are_hashed_and_signed_in_one_call) {
  RandomSource random;
  const OracleRsaKey oracle = oracle_rsa_key(2048);
  const RsaKey key = read_private(private_pem(oracle));
  for (const uint64_t length : {uint64_t{0}, uint64_t{1}, random.below(100000)}) {
    const Bytes message = random.bytes(length);
    for (const RsaCase& chosen : signature_cases()) {
      const stockade_rsa_options options = chosen.options();
      Bytes signature(256);
      uint64_t written = 0;
      ASSERT_EQ(
          stockade_rsa_sign(key.get(), &options, message.data(), length, signature.data(), 256, &written, nullptr),
          STOCKADE_OK);
      EXPECT_TRUE(oracle_verify(oracle, chosen, oracle_digest(chosen.hash, message), signature));
      EXPECT_EQ(stockade_rsa_verify(key.get(), &options, message.data(), length, signature.data(), 256, nullptr),
                STOCKADE_OK);
      signature[100] ^= 1;
      EXPECT_EQ(stockade_rsa_verify(key.get(), &options, message.data(), length, signature.data(), 256, nullptr),
                STOCKADE_ERROR_SIGNATURE);
    }
  }
}

TEST(RsaMessages, have_digests_in_memory_and_in_files) {
  RandomSource random;
  for (const uint64_t length : {uint64_t{0}, uint64_t{1000}, uint64_t{262144}, uint64_t{700001}}) {
    const Bytes message = random.bytes(length);
    for (const char* const hash : hashes) {
      const Bytes expected = oracle_digest(hash, message);
      Bytes digest(64);
      uint64_t written = 0;
      ASSERT_EQ(stockade_digest(hash, message.data(), length, digest.data(), digest.size(), &written), STOCKADE_OK);
      EXPECT_EQ(Bytes(digest.begin(), digest.begin() + static_cast<long>(written)), expected);
      const TemporaryFile file(message);
      file.seek(0);
      ASSERT_EQ(stockade_digest_fd(hash, file.fd(), digest.data(), expected.size(), &written), STOCKADE_OK);
      digest.resize(written);
      EXPECT_EQ(digest, expected) << hash << " of " << length;
    }
  }
}

using WriteFn = stockade_status (*)(const stockade_rsa_key*, const char*, void*, uint64_t, uint64_t*);

std::string written(WriteFn write, const stockade_rsa_key* key, const char* passphrase) {
  std::string file(stockade_rsa_key_file_bound(key), '\0');
  uint64_t length = 0;
  EXPECT_EQ(write(key, passphrase, file.data(), file.size(), &length), STOCKADE_OK);
  EXPECT_EQ(write(key, passphrase, file.data(), length - 1, &length), STOCKADE_ERROR_OUTPUT_SIZE);
  file.resize(length);
  return file;
}

stockade_status write_private(const stockade_rsa_key* key, const char* passphrase, void* out, uint64_t size,
                              uint64_t* length) {
  return stockade_rsa_key_write_private(key, passphrase, passphrase == nullptr ? 0 : std::strlen(passphrase), out, size,
                                        length);
}

stockade_status write_public(const stockade_rsa_key* key, const char*, void* out, uint64_t size, uint64_t* length) {
  return stockade_rsa_key_write_public(key, out, size, length);
}

OracleRsaKey oracle_reads(const std::string& file, const char* passphrase, bool is_private) {
  const std::shared_ptr<BIO> memory(BIO_new_mem_buf(file.data(), static_cast<int>(file.size())), BIO_free);
  void* const secret = const_cast<char*>(passphrase);
  return {is_private ? PEM_read_bio_PrivateKey(memory.get(), nullptr, nullptr, secret)
                     : PEM_read_bio_PUBKEY(memory.get(), nullptr, nullptr, nullptr),
          EVP_PKEY_free};
}

TEST(RsaKeyFiles, that_are_written_are_read_by_openssl) {
  stockade_rsa_key* made = nullptr;
  ASSERT_EQ(stockade_rsa_key_generate(&made, 2048, 0, nullptr), STOCKADE_OK);
  const RsaKey key(made);
  EXPECT_EQ(stockade_rsa_key_bits(made), 2048U);
  EXPECT_EQ(stockade_rsa_key_is_private(made), 1);
  const std::string public_file = written(write_public, made, nullptr);
  const OracleRsaKey oracle = oracle_reads(public_file, nullptr, false);
  ASSERT_NE(oracle, nullptr);
  EXPECT_EQ(public_pem(oracle), public_file);
  for (const char* const passphrase : {static_cast<const char*>(nullptr), "correct horse"}) {
    const OracleRsaKey read = oracle_reads(written(write_private, made, passphrase), passphrase, true);
    ASSERT_NE(read, nullptr);
    EXPECT_EQ(EVP_PKEY_eq(read.get(), oracle.get()), 1);
  }
}

int64_t answer(void* context, void* passphrase, uint64_t size) {
  const std::string& text = *static_cast<const std::string*>(context);
  EXPECT_LE(text.size(), size);
  std::memcpy(passphrase, text.data(), text.size());
  return static_cast<int64_t>(text.size());
}

TEST(RsaKeyFiles, under_a_passphrase_are_opened_by_it_or_by_asking) {
  const RsaKey key = read_private(private_pem(oracle_rsa_key(2048)));
  const std::string file = written(write_private, key.get(), "correct horse");
  stockade_rsa_reading reading = {};
  reading.struct_size = sizeof reading;
  stockade_rsa_key* read = nullptr;
  std::string asked = "correct horse";
  EXPECT_EQ(stockade_rsa_key_read_private(&read, file.data(), file.size(), &reading), STOCKADE_ERROR_PASSPHRASE_NEEDED);
  reading.ask = answer;
  reading.ask_context = &asked;
  ASSERT_EQ(stockade_rsa_key_read_private(&read, file.data(), file.size(), &reading), STOCKADE_OK);
  EXPECT_EQ(written(write_private, RsaKey(read).get(), nullptr), private_pem(oracle_rsa_key(2048)));
  asked = "wrong horse";
  EXPECT_EQ(stockade_rsa_key_read_private(&read, file.data(), file.size(), &reading), STOCKADE_ERROR_PASSPHRASE);
  reading.passphrase = "correct horse";
  reading.passphrase_length = 13;
  ASSERT_EQ(stockade_rsa_key_read_private(&read, file.data(), file.size(), &reading), STOCKADE_OK);
  stockade_rsa_key_free(read);
  reading.passphrase = nullptr;
  reading.passphrase_length = 0;
  reading.ask = [](void*, void*, uint64_t) { return int64_t{-1}; };
  EXPECT_EQ(stockade_rsa_key_read_private(&read, file.data(), file.size(), &reading), STOCKADE_ERROR_PASSPHRASE_NEEDED);
}

TEST(RsaKeyFiles, give_the_public_half_as_a_key_of_its_own) {
  const OracleRsaKey oracle = oracle_rsa_key(3072);
  RsaKey key = read_private(private_pem(oracle), "bignum:portable");
  stockade_rsa_key* half = nullptr;
  ASSERT_EQ(stockade_rsa_key_public(&half, key.get()), STOCKADE_OK);
  const RsaKey own(half);
  key.reset();
  EXPECT_EQ(stockade_rsa_key_is_private(half), 0);
  EXPECT_STREQ(stockade_rsa_key_row(half), "portable");
  EXPECT_EQ(written(write_public, half, nullptr), public_pem(oracle));
}

}  // namespace
}  // namespace stockade::tests
