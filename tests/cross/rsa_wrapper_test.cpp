// The C++ wrapper of RSA: what it returns, and what it throws.
#include <gtest/gtest.h>
#include <openssl/ec.h>

#include "cross/file_sample.h"
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

TEST(RsaWrapper, keeps_keys_in_a_ring) {
  const OracleRsaKey first = oracle_rsa_key(2048, 1), second = oracle_rsa_key(3072, 1);
  std::string first_id, second_id, again;
  Keyring to, from, locked;
  to.add_rsa_public(public_pem(first), {}, &first_id).add_rsa_public(public_pem(second), {}, &second_id);
  from.add_rsa_private(private_pem(second), {}, &again);
  EXPECT_EQ(first_id.size(), 22U);
  EXPECT_EQ(again, second_id);
  const Bytes text = sample_text(40000);
  FileStream maker(Direction::encrypt, {.keyring = &to});
  Bytes file(maker.bound(text.size()) + maker.bound(0));
  const std::size_t length = maker.update(text, file);
  file.resize(length + maker.finish(std::span(file).subspan(length)));
  const auto stanzas = Header(file).stanzas();
  ASSERT_GE(stanzas.size(), 2U);
  for (const std::size_t i : {0U, 1U}) {
    EXPECT_EQ(stanzas[i].kind, "rsa-oaep-sha256");
    EXPECT_EQ(stanzas[i].arguments, i == 0 ? first_id : second_id);
  }
  // Whose file is encrypted is asked for, once.
  const std::string encrypted = Wrapped::read_private(private_pem(first)).private_pem(std::string("secret"));
  int asked = 0;
  const RsaReading asking = {.passphrase = [&asked] {
    ++asked;
    return std::string("secret");
  }};
  locked.add_rsa_private(encrypted, asking);
  EXPECT_EQ(asked, 1);
  for (const Keyring* const ring : {&from, &locked}) {
    FileStream opener(Direction::decrypt, {.keyring = ring});
    Bytes out(opener.bound(file.size()) + opener.bound(0));
    const std::size_t got = opener.update(file, out);
    out.resize(got + opener.finish(std::span(out).subspan(got)));
    EXPECT_EQ(out, text);
  }
}

TEST(RsaWrapper, keeps_no_other_keys_in_a_ring) {
  const OracleRsaKey oracle = oracle_rsa_key(2048, 1), curve(EVP_EC_gen("P-256"), EVP_PKEY_free);
  Keyring ring;
  ring.add_rsa_public(public_pem(oracle));
  EXPECT_EQ(thrown_by([&] { ring.add_rsa_private(private_pem(oracle)); }), STOCKADE_ERROR_ARGUMENT);
  EXPECT_EQ(thrown_by([&] { ring.add_rsa_public(public_pem(oracle_rsa_key(1024))); }), STOCKADE_ERROR_RSA_SIZE);
  EXPECT_EQ(thrown_by([&] { ring.add_rsa_public(public_pem(oracle_rsa_key(1024)), {.legacy = true}); }),
            STOCKADE_ERROR_ARGUMENT);
  EXPECT_EQ(thrown_by([&] { ring.add_rsa_private(public_pem(oracle)); }), STOCKADE_ERROR_KEY_NOT_PRIVATE);
  const auto throwing = [&] {
    const std::string encrypted = Wrapped::read_private(private_pem(oracle)).private_pem(std::string("secret"));
    ring.add_rsa_private(encrypted, {.passphrase = []() -> std::string { throw std::out_of_range("nobody"); }});
  };
  EXPECT_THROW(throwing(), std::out_of_range);
  try {
    ring.add_rsa_private(private_pem(curve));
    FAIL() << "a key that is not of RSA";
  } catch (const KeyTypeError& error) {
    EXPECT_EQ(error.type(), "EC");
  }
}

}  // namespace
}  // namespace stockade::tests
