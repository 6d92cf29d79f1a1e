// Every value of stockade_status that is about RSA, produced through the C interface by what it is meant for, and bad
// arguments to every function of RSA's but those of the queue. RSA_FAULT needs a fault in the machine, which
// rsa_fault_test.cpp makes, and RANDOM, LIBRARY and MEMORY a machine that refuses, as in rsa_refusal_test.cpp. Of the
// values for keys the readers' own tests, key_test.cpp and key_files_test.cpp, try many more causes.
#include <gtest/gtest.h>
#include <openssl/bn.h>
#include <openssl/ec.h>
#include <openssl/pem.h>

#include <cerrno>

#include "cross/handles.h"
#include "cross/random_source.h"
#include "cross/rsa_sample.h"
#include "rsa/der.h"
#include "rsa/rsa_test.h"

namespace stockade::tests {
namespace {

stockade_status read_status(bool is_private, const Bytes& file, stockade_rsa_reading* reading = nullptr) {
  stockade_rsa_key* key = nullptr;
  const auto function = is_private ? stockade_rsa_key_read_private : stockade_rsa_key_read_public;
  const stockade_status status = function(&key, file.data(), file.size(), reading);
  EXPECT_EQ(key != nullptr, status == STOCKADE_OK);
  stockade_rsa_key_free(key);
  return status;
}

Bytes bytes_of(const std::string& text) { return {text.begin(), text.end()}; }

// PKCS#1 in DER of any numbers.
Bytes der_of(std::initializer_list<Bytes> numbers) {
  rsa::DerWriter writer;
  EXPECT_TRUE(writer.allocate(1 << 16));
  for (auto number = std::rbegin(numbers); number != std::rend(numbers); ++number) writer.put_integer(*number);
  writer.put_header(0x30, writer.length());
  return {writer.written().begin(), writer.written().end()};
}

Bytes private_der(const rsa::Numbers& n) { return der_of({{0}, n.n, n.e, n.d, n.p, n.q, n.dp, n.dq, n.qinv}); }
Bytes public_der(const rsa::Numbers& n) { return der_of({n.n, n.e}); }

class RsaStatus : public testing::Test {
 protected:
  // Of a private key with one number changed.
  stockade_status changed(Bytes rsa::Numbers::*number, uint8_t flip = 2) {
    rsa::Numbers numbers = rsa::oracle_key(2048).numbers;
    (numbers.*number).back() ^= flip;
    return read_status(true, private_der(numbers));
  }
  stockade_status sign(const stockade_rsa_options& options, uint64_t digest_length, uint64_t size = 256) {
    return stockade_rsa_sign_digest(private_.get(), &options, buffer_.data(), digest_length, out_.data(), size,
                                    &written_, nullptr);
  }
  stockade_status decrypt(const Bytes& ciphertext, uint64_t size = 256) {
    return stockade_rsa_decrypt(private_.get(), nullptr, ciphertext.data(), ciphertext.size(), out_.data(), size,
                                &written_, nullptr);
  }
  stockade_status encrypt(uint64_t length) {
    return stockade_rsa_encrypt(public_.get(), nullptr, buffer_.data(), length, out_.data(), out_.size(), &written_,
                                nullptr);
  }

  RandomSource random_;
  OracleRsaKey oracle_ = oracle_rsa_key(2048);
  RsaKey private_ = read_private(private_pem(oracle_)), public_ = read_public(public_pem(oracle_));
  Bytes buffer_ = Bytes(4096, 1), out_ = Bytes(4096);
  uint64_t written_ = 0;
};

// ---- keys ----

TEST_F(RsaStatus, of_numbers_that_make_no_key) {
  const rsa::Numbers good = rsa::oracle_key(2048).numbers;
  EXPECT_EQ(read_status(true, private_der(good)), STOCKADE_OK);
  EXPECT_EQ(read_status(false, public_der(good)), STOCKADE_OK);
  EXPECT_EQ(changed(&rsa::Numbers::n, 1), STOCKADE_ERROR_RSA_MODULUS);
  EXPECT_EQ(changed(&rsa::Numbers::n), STOCKADE_ERROR_RSA_FACTORS);
  EXPECT_EQ(changed(&rsa::Numbers::p), STOCKADE_ERROR_RSA_FACTORS);
  EXPECT_EQ(changed(&rsa::Numbers::e, 1), STOCKADE_ERROR_RSA_EXPONENT);
  EXPECT_EQ(changed(&rsa::Numbers::d), STOCKADE_ERROR_RSA_PRIVATE_EXPONENT);
  EXPECT_EQ(changed(&rsa::Numbers::dp), STOCKADE_ERROR_RSA_CRT);
  EXPECT_EQ(changed(&rsa::Numbers::dq), STOCKADE_ERROR_RSA_CRT);
  EXPECT_EQ(changed(&rsa::Numbers::qinv), STOCKADE_ERROR_RSA_CRT);
}

TEST_F(RsaStatus, of_a_factor_that_is_no_prime) {
  // p = a·b for primes, and d as if p were one: e·d = 1 modulo p - 1, too.
  const auto q = rsa::random_prime(1024);
  const std::shared_ptr<BN_CTX> context(BN_CTX_new(), BN_CTX_free);
  const std::shared_ptr<BIGNUM> p(BN_new(), BN_free), n(BN_new(), BN_free);
  do {
    const auto a = rsa::random_prime(512), b = rsa::random_prime(512);
    BN_mul(p.get(), a.get(), b.get(), context.get());
    BN_mul(n.get(), p.get(), q.get(), context.get());
  } while (BN_num_bits(n.get()) != 2048 || BN_mod_word(p.get(), 65537) <= 1);
  EXPECT_EQ(read_status(true, private_der(rsa::numbers_from(p.get(), q.get()))), STOCKADE_ERROR_RSA_PRIME);
}

TEST_F(RsaStatus, of_a_size_that_is_not_allowed) {
  const Bytes small = bytes_of(public_pem(oracle_rsa_key(1024))), tiny = bytes_of(public_pem(oracle_rsa_key(512)));
  EXPECT_EQ(read_status(false, small), STOCKADE_ERROR_RSA_SIZE);
  EXPECT_EQ(read_status(true, bytes_of(private_pem(oracle_rsa_key(1024)))), STOCKADE_ERROR_RSA_SIZE);
  stockade_rsa_reading legacy = {};
  legacy.struct_size = sizeof legacy;
  legacy.legacy = 1;
  EXPECT_EQ(read_status(false, tiny, &legacy), STOCKADE_ERROR_RSA_SIZE);
  EXPECT_EQ(read_status(true, bytes_of(private_pem(oracle_rsa_key(1024))), &legacy), STOCKADE_ERROR_RSA_SIZE);
  stockade_rsa_key* made = nullptr;
  ASSERT_EQ(stockade_rsa_key_read_public(&made, small.data(), small.size(), &legacy), STOCKADE_OK);
  const RsaKey key(made);
  // It verifies, and that is all.
  const Bytes digest(32, 5), signature = oracle_sign(oracle_rsa_key(1024), {}, digest);
  EXPECT_EQ(stockade_rsa_verify_digest(made, nullptr, digest.data(), 32, signature.data(), 128, nullptr), STOCKADE_OK);
  EXPECT_EQ(stockade_rsa_encrypt(made, nullptr, digest.data(), 32, out_.data(), 128, &written_, nullptr),
            STOCKADE_ERROR_RSA_SIZE);
  EXPECT_EQ(stockade_rsa_key_generate(&made, 2046, 0, nullptr), STOCKADE_ERROR_RSA_SIZE);
  EXPECT_EQ(stockade_rsa_key_generate(&made, 16386, 0, nullptr), STOCKADE_ERROR_RSA_SIZE);
  EXPECT_EQ(stockade_rsa_key_generate(&made, 2049, 0, nullptr), STOCKADE_ERROR_ARGUMENT);
  for (const uint32_t exponent : {1U, 3U, 65536U, 65538U}) {
    EXPECT_EQ(stockade_rsa_key_generate(&made, 2048, exponent, nullptr), STOCKADE_ERROR_RSA_EXPONENT);
  }
}

TEST_F(RsaStatus, of_files_that_are_no_key) {
  const Bytes file = bytes_of(private_pem(oracle_)), der = private_der(rsa::oracle_key(2048).numbers);
  EXPECT_EQ(read_status(true, {}), STOCKADE_ERROR_TRUNCATED);
  EXPECT_EQ(read_status(false, Bytes(300, 'x')), STOCKADE_ERROR_KEY_FILE);
  EXPECT_EQ(read_status(true, bytes_of(public_pem(oracle_))), STOCKADE_ERROR_KEY_NOT_PRIVATE);
  EXPECT_EQ(read_status(true, Bytes(der.begin(), der.end() - 1)), STOCKADE_ERROR_TRUNCATED);
  Bytes longer = der;
  longer.push_back(7);
  EXPECT_EQ(read_status(true, longer), STOCKADE_ERROR_TRAILING_DATA);
  EXPECT_EQ(read_status(false, file), STOCKADE_OK);
}

TEST_F(RsaStatus, of_keys_of_another_type_which_are_named) {
  const OracleRsaKey curve(EVP_EC_gen("P-256"), EVP_PKEY_free);
  stockade_rsa_reading reading = {};
  reading.struct_size = sizeof reading;
  for (const bool is_private : {false, true}) {
    const Bytes file = bytes_of(is_private ? private_pem(curve) : public_pem(curve));
    EXPECT_EQ(read_status(is_private, file), STOCKADE_ERROR_KEY_TYPE);
    EXPECT_EQ(read_status(is_private, file, &reading), STOCKADE_ERROR_KEY_TYPE);
    EXPECT_STREQ(reading.type, "EC");
  }
  EXPECT_EQ(read_status(false, bytes_of(public_pem(oracle_)), &reading), STOCKADE_OK);
  EXPECT_STREQ(reading.type, "");
}

TEST_F(RsaStatus, of_rows_that_are_asked_for_by_force) {
  const Bytes file = bytes_of(public_pem(oracle_));
  stockade_rsa_reading reading = {};
  reading.struct_size = sizeof reading;
  for (const char* const force : {"bignum:vaes512", "rsa:portable", "engine:serial", "bignum"}) {
    reading.force = force;
    EXPECT_EQ(read_status(false, file, &reading), STOCKADE_ERROR_UNKNOWN_NAME) << force;
    stockade_rsa_key* key = nullptr;
    EXPECT_EQ(stockade_rsa_key_generate(&key, 2048, 0, force), STOCKADE_ERROR_UNKNOWN_NAME) << force;
  }
  stockade_row row;
  for (uint32_t i = 0; stockade_row_get(i, &row) == STOCKADE_OK; ++i) {
    if (std::string(row.primitive) != "bignum") continue;
    const std::string force = "bignum:" + std::string(row.name);
    reading.force = force.c_str();
    EXPECT_EQ(read_status(false, file, &reading), row.available ? STOCKADE_OK : STOCKADE_ERROR_UNAVAILABLE);
  }
}

// ---- operations ----

TEST_F(RsaStatus, of_options_that_make_no_sense) {
  const stockade_rsa_options usual = {
      sizeof usual, STOCKADE_RSA_PSS, STOCKADE_RSA_SALT_DIGEST, 0, nullptr, nullptr, nullptr, 0};
  EXPECT_EQ(sign(usual, 32), STOCKADE_OK);
  const auto with = [&](auto change) {
    stockade_rsa_options options = usual;
    change(options);
    const stockade_status status = sign(options, 32);
    uint64_t capacity = 0;
    EXPECT_EQ(stockade_rsa_capacity(public_.get(), &options, &capacity), status);
    return status;
  };
  EXPECT_EQ(with([](auto& options) { options.struct_size = 0; }), STOCKADE_ERROR_ARGUMENT);
  EXPECT_EQ(with([](auto& options) { options.padding = out_of_range<stockade_rsa_padding>(2); }),
            STOCKADE_ERROR_ARGUMENT);
  EXPECT_EQ(with([](auto& options) { options.salt = out_of_range<stockade_rsa_salt>(-1); }), STOCKADE_ERROR_ARGUMENT);
  EXPECT_EQ(with([](auto& options) { options.hash = "sha3-256"; }), STOCKADE_ERROR_UNKNOWN_NAME);
  EXPECT_EQ(with([](auto& options) { options.mask_hash = ""; }), STOCKADE_ERROR_UNKNOWN_NAME);
  EXPECT_EQ(with([](auto& options) { options.label_length = 1; }), STOCKADE_ERROR_NULL_POINTER);
}

TEST_F(RsaStatus, of_signing) {
  const RsaCase long_salt = {STOCKADE_RSA_PSS, "sha256", nullptr, STOCKADE_RSA_SALT_GIVEN, 223};
  EXPECT_EQ(sign(long_salt.options(), 32), STOCKADE_ERROR_MESSAGE_LENGTH);
  for (const RsaCase& chosen : {RsaCase{}, RsaCase{STOCKADE_RSA_PKCS1V15}}) {
    const stockade_rsa_options options = chosen.options();
    EXPECT_EQ(sign(options, 31), STOCKADE_ERROR_ARGUMENT);
    EXPECT_EQ(sign(options, 33), STOCKADE_ERROR_ARGUMENT);
    EXPECT_EQ(sign(options, 32, 255), STOCKADE_ERROR_OUTPUT_SIZE);
    EXPECT_EQ(
        stockade_rsa_sign_digest(public_.get(), &options, buffer_.data(), 32, out_.data(), 256, &written_, nullptr),
        STOCKADE_ERROR_KEY_NOT_PRIVATE);
    EXPECT_EQ(
        stockade_rsa_sign_digest(private_.get(), &options, out_.data() + 3, 32, out_.data(), 256, &written_, nullptr),
        STOCKADE_ERROR_OVERLAP);
    EXPECT_EQ(stockade_rsa_sign(private_.get(), &options, out_.data() + 3, 32, out_.data(), 256, &written_, nullptr),
              STOCKADE_ERROR_OVERLAP);
  }
}

TEST_F(RsaStatus, of_verifying) {
  const Bytes digest(32, 5), signature = oracle_sign(oracle_, {}, digest);
  const auto verify = [&](const Bytes& tried) {
    return stockade_rsa_verify_digest(public_.get(), nullptr, digest.data(), 32, tried.data(), tried.size(), nullptr);
  };
  EXPECT_EQ(verify(signature), STOCKADE_OK);
  EXPECT_EQ(verify(Bytes(signature.begin(), signature.end() - 1)), STOCKADE_ERROR_RSA_LENGTH);
  EXPECT_EQ(verify({}), STOCKADE_ERROR_RSA_LENGTH);
  EXPECT_EQ(verify(Bytes(256, 0xff)), STOCKADE_ERROR_RSA_RANGE);
  EXPECT_EQ(verify(Bytes(256, 0)), STOCKADE_ERROR_SIGNATURE);
  EXPECT_EQ(stockade_rsa_verify_digest(public_.get(), nullptr, digest.data(), 31, signature.data(), 256, nullptr),
            STOCKADE_ERROR_ARGUMENT);
}

TEST_F(RsaStatus, of_encrypting_and_decrypting) {
  EXPECT_EQ(encrypt(190), STOCKADE_OK);
  EXPECT_EQ(encrypt(191), STOCKADE_ERROR_MESSAGE_LENGTH);
  Bytes ciphertext = oracle_encrypt(oracle_, {}, Bytes(20, 8));
  EXPECT_EQ(decrypt(ciphertext, 190), STOCKADE_OK);
  EXPECT_EQ(written_, 20U);
  EXPECT_EQ(decrypt(ciphertext, 189), STOCKADE_ERROR_OUTPUT_SIZE);
  EXPECT_EQ(written_, 0U);
  ciphertext.pop_back();
  EXPECT_EQ(decrypt(ciphertext), STOCKADE_ERROR_RSA_LENGTH);
  EXPECT_EQ(decrypt(Bytes(256, 0xff)), STOCKADE_ERROR_RSA_RANGE);
  // Another label, another hash, and no ciphertext at all: one answer.
  const RsaCase other_label = {STOCKADE_RSA_PSS, "sha256", nullptr, STOCKADE_RSA_SALT_DIGEST, 0, "x"};
  for (const Bytes& wrong : {oracle_encrypt(oracle_, other_label, Bytes(20, 8)),
                             oracle_encrypt(oracle_, {STOCKADE_RSA_PSS, "sha1"}, Bytes(20, 8)), Bytes(256, 0)}) {
    out_.assign(256, 0xee);
    EXPECT_EQ(decrypt(wrong, 190), STOCKADE_ERROR_DECRYPTION);
    EXPECT_EQ(written_, 0U);
    EXPECT_EQ(Bytes(out_.begin(), out_.begin() + 190), Bytes(190, 0));
  }
  out_.assign(4096, 0);
  EXPECT_EQ(stockade_rsa_decrypt(public_.get(), nullptr, buffer_.data(), 256, out_.data(), 256, &written_, nullptr),
            STOCKADE_ERROR_KEY_NOT_PRIVATE);
  const RsaCase wide = {STOCKADE_RSA_PSS, "sha512"};
  stockade_rsa_options options = wide.options();
  uint64_t capacity = 0;
  EXPECT_EQ(stockade_rsa_capacity(public_.get(), &options, &capacity), STOCKADE_OK);
  EXPECT_EQ(capacity, 126U);
  const Bytes small = bytes_of(public_pem(oracle_rsa_key(1024)));
  stockade_rsa_reading legacy = {};
  legacy.struct_size = sizeof legacy;
  legacy.legacy = 1;
  stockade_rsa_key* made = nullptr;
  ASSERT_EQ(stockade_rsa_key_read_public(&made, small.data(), small.size(), &legacy), STOCKADE_OK);
  EXPECT_EQ(stockade_rsa_capacity(RsaKey(made).get(), &options, &capacity), STOCKADE_ERROR_MESSAGE_LENGTH);
}

TEST_F(RsaStatus, of_bare_numbers) {
  const auto of_public = [&](const Bytes& in, uint64_t size) {
    return stockade_rsa_raw_public(public_.get(), in.data(), in.size(), out_.data(), size, nullptr);
  };
  const auto of_private = [&](const Bytes& in, uint64_t size) {
    return stockade_rsa_raw_private(private_.get(), in.data(), in.size(), out_.data(), size, nullptr);
  };
  EXPECT_EQ(of_public(Bytes(255, 1), 256), STOCKADE_ERROR_RSA_LENGTH);
  EXPECT_EQ(of_private(Bytes(257, 1), 256), STOCKADE_ERROR_RSA_LENGTH);
  EXPECT_EQ(of_public(Bytes(256, 255), 256), STOCKADE_ERROR_RSA_RANGE);
  EXPECT_EQ(of_private(Bytes(256, 255), 256), STOCKADE_ERROR_RSA_RANGE);
  EXPECT_EQ(of_public(Bytes(256, 1), 255), STOCKADE_ERROR_OUTPUT_SIZE);
  EXPECT_EQ(of_private(Bytes(256, 1), 255), STOCKADE_ERROR_OUTPUT_SIZE);
  EXPECT_EQ(stockade_rsa_raw_private(public_.get(), buffer_.data(), 256, out_.data(), 256, nullptr),
            STOCKADE_ERROR_KEY_NOT_PRIVATE);
  EXPECT_EQ(stockade_rsa_raw_public(public_.get(), out_.data() + 1, 256, out_.data(), 256, nullptr),
            STOCKADE_ERROR_OVERLAP);
}

TEST_F(RsaStatus, of_digests) {
  EXPECT_EQ(stockade_digest(nullptr, buffer_.data(), 3, out_.data(), 32, &written_), STOCKADE_OK);
  EXPECT_EQ(written_, 32U);
  EXPECT_EQ(stockade_digest("sha512", buffer_.data(), 3, out_.data(), 63, &written_), STOCKADE_ERROR_OUTPUT_SIZE);
  EXPECT_EQ(stockade_digest("md5", buffer_.data(), 3, out_.data(), 64, &written_), STOCKADE_ERROR_UNKNOWN_NAME);
  EXPECT_EQ(stockade_digest(nullptr, nullptr, 3, out_.data(), 64, &written_), STOCKADE_ERROR_NULL_POINTER);
  EXPECT_EQ(stockade_digest(nullptr, nullptr, 0, nullptr, 64, &written_), STOCKADE_ERROR_NULL_POINTER);
  EXPECT_EQ(stockade_digest(nullptr, nullptr, 0, out_.data(), 64, nullptr), STOCKADE_ERROR_NULL_POINTER);
  errno = 0;
  EXPECT_EQ(stockade_digest_fd(nullptr, -1, out_.data(), 64, &written_), STOCKADE_ERROR_IO);
  EXPECT_EQ(errno, EBADF);
}

TEST_F(RsaStatus, of_null_pointers) {
  stockade_rsa_key* key = nullptr;
  const uint8_t* const in = buffer_.data();
  uint8_t* const out = out_.data();
  const stockade_rsa_key* const both[] = {private_.get(), nullptr};
  EXPECT_EQ(stockade_rsa_key_read_public(nullptr, in, 1, nullptr), STOCKADE_ERROR_NULL_POINTER);
  EXPECT_EQ(stockade_rsa_key_read_private(&key, nullptr, 1, nullptr), STOCKADE_ERROR_NULL_POINTER);
  EXPECT_EQ(stockade_rsa_key_generate(nullptr, 2048, 0, nullptr), STOCKADE_ERROR_NULL_POINTER);
  EXPECT_EQ(stockade_rsa_key_public(nullptr, both[0]), STOCKADE_ERROR_NULL_POINTER);
  EXPECT_EQ(stockade_rsa_key_public(&key, nullptr), STOCKADE_ERROR_NULL_POINTER);
  EXPECT_EQ(stockade_rsa_key_write_private(nullptr, nullptr, 0, out, 4096, &written_), STOCKADE_ERROR_NULL_POINTER);
  EXPECT_EQ(stockade_rsa_key_write_private(both[0], nullptr, 1, out, 4096, &written_), STOCKADE_ERROR_NULL_POINTER);
  EXPECT_EQ(stockade_rsa_key_write_private(both[0], "", 0, out, 4096, &written_), STOCKADE_ERROR_ARGUMENT);
  EXPECT_EQ(stockade_rsa_key_write_private(public_.get(), nullptr, 0, out, 4096, &written_),
            STOCKADE_ERROR_KEY_NOT_PRIVATE);
  EXPECT_EQ(stockade_rsa_key_write_public(both[0], nullptr, 4096, &written_), STOCKADE_ERROR_NULL_POINTER);
  EXPECT_EQ(stockade_rsa_key_write_public(both[0], out, 4096, nullptr), STOCKADE_ERROR_NULL_POINTER);
  EXPECT_EQ(stockade_rsa_key_bits(nullptr) + stockade_rsa_key_bytes(nullptr) + stockade_rsa_key_file_bound(nullptr),
            0U);
  EXPECT_EQ(stockade_rsa_key_is_private(nullptr), 0);
  EXPECT_STREQ(stockade_rsa_key_row(nullptr), "");
  stockade_rsa_key_free(nullptr);
  for (const auto function :
       {stockade_rsa_sign_digest, stockade_rsa_sign, stockade_rsa_encrypt, stockade_rsa_decrypt}) {
    EXPECT_EQ(function(nullptr, nullptr, in, 32, out, 256, &written_, nullptr), STOCKADE_ERROR_NULL_POINTER);
    EXPECT_EQ(function(both[0], nullptr, nullptr, 32, out, 256, &written_, nullptr), STOCKADE_ERROR_NULL_POINTER);
    EXPECT_EQ(function(both[0], nullptr, in, 32, nullptr, 256, &written_, nullptr), STOCKADE_ERROR_NULL_POINTER);
    EXPECT_EQ(function(both[0], nullptr, in, 32, out, 256, nullptr, nullptr), STOCKADE_ERROR_NULL_POINTER);
  }
  for (const auto function : {stockade_rsa_verify_digest, stockade_rsa_verify}) {
    EXPECT_EQ(function(nullptr, nullptr, in, 32, in, 256, nullptr), STOCKADE_ERROR_NULL_POINTER);
    EXPECT_EQ(function(both[0], nullptr, nullptr, 32, in, 256, nullptr), STOCKADE_ERROR_NULL_POINTER);
    EXPECT_EQ(function(both[0], nullptr, in, 32, nullptr, 256, nullptr), STOCKADE_ERROR_NULL_POINTER);
  }
  for (const auto function : {stockade_rsa_raw_public, stockade_rsa_raw_private}) {
    EXPECT_EQ(function(nullptr, in, 256, out, 256, nullptr), STOCKADE_ERROR_NULL_POINTER);
    EXPECT_EQ(function(both[0], nullptr, 256, out, 256, nullptr), STOCKADE_ERROR_NULL_POINTER);
    EXPECT_EQ(function(both[0], in, 256, nullptr, 256, nullptr), STOCKADE_ERROR_NULL_POINTER);
  }
  for (const auto function :
       {stockade_rsa_sign_many, stockade_rsa_verify_many, stockade_rsa_encrypt_many, stockade_rsa_decrypt_many}) {
    EXPECT_EQ(function(nullptr, 1, nullptr, nullptr), STOCKADE_ERROR_NULL_POINTER);
    EXPECT_EQ(function(nullptr, 0, nullptr, nullptr), STOCKADE_OK);
  }
  EXPECT_EQ(stockade_rsa_capacity(nullptr, nullptr, &written_), STOCKADE_ERROR_NULL_POINTER);
  EXPECT_EQ(stockade_rsa_capacity(both[0], nullptr, nullptr), STOCKADE_ERROR_NULL_POINTER);
}

}  // namespace
}  // namespace stockade::tests
