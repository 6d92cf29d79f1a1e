// The C++ wrapper of RSA: what it returns, and what it throws.
#include <gtest/gtest.h>

#include "cross/rsa_sample.h"
#include "stockade/stockade.hpp"

namespace stockade::tests {
namespace {

using Wrapped = stockade::RsaKey;

Bytes bytes_of(const std::vector<std::byte>& made) {
  Bytes bytes(made.size());
  for (size_t i = 0; i < made.size(); ++i) bytes[i] = static_cast<uint8_t>(made[i]);
  return bytes;
}

template <typename Call>
stockade_status thrown_by(Call&& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.status();
  }
  return STOCKADE_OK;
}

TEST(RsaWrapper, signs_verifies_encrypts_and_decrypts) {
  const OracleRsaKey oracle = oracle_rsa_key(2048);
  const Wrapped key = Wrapped::read_private(private_pem(oracle)), half = key.public_half();
  EXPECT_EQ(key.bits(), 2048U);
  EXPECT_TRUE(key.is_private() && !half.is_private());
  EXPECT_EQ(half.public_pem(), public_pem(oracle));
  EXPECT_EQ(key.private_pem(), private_pem(oracle));
  const Bytes message(100, 3), digest = oracle_digest("sha256", message);
  const RsaPadding pkcs1 = {.pkcs1 = true};
  const auto signature = key.sign(message, pkcs1);
  EXPECT_EQ(bytes_of(signature), oracle_sign(oracle, {STOCKADE_RSA_PKCS1V15}, digest));
  EXPECT_EQ(key.sign_digest(digest, pkcs1), signature);
  half.verify(message, signature, pkcs1);
  half.verify_digest(digest, signature, pkcs1);
  half.verify(message, key.sign(message));
  EXPECT_EQ(thrown_by([&] { half.verify(message, signature); }), STOCKADE_ERROR_SIGNATURE);
  EXPECT_EQ(half.capacity(), 190U);
  EXPECT_EQ(bytes_of(key.decrypt(half.encrypt(message))), message);
  EXPECT_EQ(thrown_by([&] { half.decrypt(signature); }), STOCKADE_ERROR_KEY_NOT_PRIVATE);
}

TEST(RsaWrapper, asks_for_passphrases_and_passes_on_what_they_throw) {
  const Wrapped key = Wrapped::read_private(private_pem(oracle_rsa_key(2048)));
  const std::string file = key.private_pem(std::string("secret"));
  const auto opened = Wrapped::read_private(file, {.passphrase = [] { return std::string("secret"); }});
  EXPECT_EQ(opened.private_pem(), key.private_pem());
  EXPECT_EQ(thrown_by([&] { Wrapped::read_private(file); }), STOCKADE_ERROR_PASSPHRASE_NEEDED);
  const auto throwing = [&] {
    Wrapped::read_private(file, {.passphrase = []() -> std::string { throw std::out_of_range("nobody is there"); }});
  };
  EXPECT_THROW(throwing(), std::out_of_range);
}

TEST(RsaWrapper, names_the_type_of_other_keys) {
  const OracleRsaKey curve(EVP_PKEY_Q_keygen(nullptr, nullptr, "ED25519"), EVP_PKEY_free);
  try {
    Wrapped::read_public(public_pem(curve));
    FAIL() << "a key that is not of RSA";
  } catch (const KeyTypeError& error) {
    EXPECT_EQ(error.status(), STOCKADE_ERROR_KEY_TYPE);
    EXPECT_EQ(error.type(), "ED25519");
  }
}

TEST(RsaWrapper, runs_batches_and_a_queue) {
  const OracleRsaKey oracle = oracle_rsa_key(2048);
  const Wrapped key = Wrapped::read_private(private_pem(oracle));
  const Bytes digest(32, 9);
  const RsaPadding pkcs1 = {.pkcs1 = true};
  const Bytes expected = oracle_sign(oracle, {STOCKADE_RSA_PKCS1V15}, digest);
  std::vector<Bytes> out(5, Bytes(256));
  std::vector<stockade_rsa_item> items;
  for (Bytes& one : out)
    items.push_back({key.handle(), digest.data(), 32, one.data(), 256, 0, nullptr, 0, STOCKADE_OK});
  rsa_sign_many(items, pkcs1);
  EXPECT_EQ(out, std::vector<Bytes>(5, expected));
  for (size_t i = 0; i < items.size(); ++i) items[i].signature = out[i].data(), items[i].signature_length = 256;
  rsa_verify_many(items, pkcs1);
  out[3][8] ^= 1;
  EXPECT_EQ(thrown_by([&] { rsa_verify_many(items, pkcs1); }), STOCKADE_ERROR_SIGNATURE);
  EXPECT_EQ(items[3].status, STOCKADE_ERROR_SIGNATURE);
  rsa_encrypt_many(items);
  for (stockade_rsa_item& item : items) item.in = item.out, item.length = 256;
  rsa_decrypt_many(items);
  EXPECT_EQ(Bytes(out[2].begin(), out[2].begin() + 32), digest);
  RsaQueue queue(pkcs1, 4, 100, Engine("threads", 2));
  EXPECT_EQ(bytes_of(queue.sign_digest(key, digest)), expected);
  EXPECT_EQ(bytes_of(queue.decrypt(key, key.encrypt(digest))), digest);
  EXPECT_EQ(queue.statistics().requests, 2U);
}

}  // namespace
}  // namespace stockade::tests
