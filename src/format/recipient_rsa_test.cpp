#include <gtest/gtest.h>
#include <openssl/evp.h>
#include <openssl/rsa.h>
#include <openssl/sha.h>
#include <openssl/x509.h>

#include <memory>
#include <string>
#include <vector>

#include "cross/random_source.h"
#include "format/base64.h"
#include "format/recipient_test.h"
#include "rsa/rsa_test.h"

namespace stockade::format {
namespace {

using Buffer = std::vector<uint8_t>;

constexpr uint32_t key_sizes[] = {2048, 3072, 4096};

rsa::PublicKey public_key(const rsa::OracleKey& oracle, const bignum::Variant* row = rsa::test_row()) {
  rsa::PublicKey key;
  EXPECT_EQ(rsa::PublicKey::make(oracle.numbers.public_view(), rsa::least_bits, row, key), STOCKADE_OK);
  return key;
}

// Who makes files for these keys, and who opens those of one of them.
Keyring recipients_of(const std::vector<uint32_t>& sizes, const bignum::Variant* row = rsa::test_row()) {
  Keyring keyring;
  for (const uint32_t bits : sizes) {
    EXPECT_EQ(add_rsa_key(keyring, public_key(rsa::oracle_key(bits), row)), STOCKADE_OK);
  }
  return keyring;
}

Keyring identity_of(uint32_t bits, const bignum::Variant* row = rsa::test_row()) {
  Keyring keyring;
  EXPECT_EQ(add_rsa_key(keyring, rsa::make_key(rsa::oracle_key(bits).numbers, row)), STOCKADE_OK);
  return keyring;
}

FileKey random_file_key(tests::RandomSource& random) {
  FileKey file_key;
  random.fill(file_key.bytes, file_key_bytes);
  return file_key;
}

Header sealed_header(const Keyring& keyring, const FileKey& file_key) {
  Header header;
  EXPECT_EQ(wrap_file_key(keyring, file_key.bytes, system_random(), header.stanzas), STOCKADE_OK);
  EXPECT_EQ(seal_header(header, file_key.bytes), STOCKADE_OK);
  return header;
}

struct Opened {
  Status status;
  FileKey file_key;
};

Opened open(const Keyring& keyring, const Header& header) {
  Opened opened{STOCKADE_OK, FileKey(0xEE)};
  stockade_fault fault = make_fault(STOCKADE_OK);
  opened.status = unwrap_file_key(keyring, header, 0, opened.file_key.bytes, fault);
  EXPECT_EQ(fault.status, opened.status);
  EXPECT_TRUE(opened.status == STOCKADE_OK || opened.file_key == FileKey());
  return opened;
}

// OpenSSL with the parameters of a stanza, of which a test may change one.
struct Oracle {
  const EVP_MD* hash = EVP_sha256();
  const EVP_MD* mask_hash = EVP_sha256();
  std::string label = "stockade/v1";

  Buffer run(const rsa::OracleKey& key, bool encrypt, const uint8_t* in, size_t length) const {
    const std::unique_ptr<EVP_PKEY_CTX, decltype(&EVP_PKEY_CTX_free)> context(EVP_PKEY_CTX_new(key.pkey.get(), nullptr),
                                                                              EVP_PKEY_CTX_free);
    EXPECT_EQ((encrypt ? EVP_PKEY_encrypt_init : EVP_PKEY_decrypt_init)(context.get()), 1);
    EXPECT_EQ(EVP_PKEY_CTX_set_rsa_padding(context.get(), RSA_PKCS1_OAEP_PADDING), 1);
    EXPECT_EQ(EVP_PKEY_CTX_set_rsa_oaep_md(context.get(), hash), 1);
    EXPECT_EQ(EVP_PKEY_CTX_set_rsa_mgf1_md(context.get(), mask_hash), 1);
    void* const copy = OPENSSL_memdup(label.data(), label.size());
    EXPECT_EQ(EVP_PKEY_CTX_set0_rsa_oaep_label(context.get(), copy, static_cast<int>(label.size())), 1);
    Buffer out(2048);
    size_t size = out.size();
    EXPECT_EQ((encrypt ? EVP_PKEY_encrypt : EVP_PKEY_decrypt)(context.get(), out.data(), &size, in, length), 1);
    out.resize(size);
    return out;
  }
};

std::string oracle_id(const rsa::OracleKey& key) {
  uint8_t* der = nullptr;
  const int length = i2d_PUBKEY(key.pkey.get(), &der);
  uint8_t digest[32];
  SHA256(der, static_cast<size_t>(length), digest);
  OPENSSL_free(der);
  std::string text(25, 0);
  text.resize(EVP_EncodeBlock(reinterpret_cast<uint8_t*>(text.data()), digest, 16));
  return text.substr(0, 22);
}

Header header_of(const rsa::OracleKey& key, const Buffer& body, const FileKey& file_key) {
  Header header;
  header.stanzas.push_back({std::string(rsa_kind), {oracle_id(key)}, body});
  EXPECT_EQ(seal_header(header, file_key.bytes), STOCKADE_OK);
  return header;
}

TEST(RsaStanza, is_opened_by_openssl) {
  tests::RandomSource random;
  for (const uint32_t bits : key_sizes) {
    const FileKey file_key = random_file_key(random);
    const Header header = sealed_header(recipients_of({bits}), file_key);
    ASSERT_EQ(header.stanzas.size(), 1U);
    EXPECT_EQ(header.stanzas[0].kind, "rsa-oaep-sha256");
    EXPECT_EQ(header.stanzas[0].arguments, std::vector{oracle_id(rsa::oracle_key(bits))});
    const Buffer& body = header.stanzas[0].body;
    EXPECT_EQ(body.size(), bits / 8);
    const Buffer message = Oracle().run(rsa::oracle_key(bits), false, body.data(), body.size());
    EXPECT_EQ(message, Buffer(file_key.bytes, file_key.bytes + file_key_bytes));
  }
}

TEST(RsaStanza, of_openssl_is_opened_on_every_row) {
  tests::RandomSource random;
  for (const uint32_t bits : key_sizes) {
    const FileKey file_key = random_file_key(random);
    const rsa::OracleKey& key = rsa::oracle_key(bits);
    const Buffer body = Oracle().run(key, true, file_key.bytes, file_key_bytes);
    for (const bignum::Variant* row : rsa::test_rows()) {
      const Opened opened = open(identity_of(bits, row), header_of(key, body, file_key));
      EXPECT_EQ(opened.status, STOCKADE_OK) << row->name;
      EXPECT_EQ(opened.file_key, file_key) << row->name;
    }
  }
}

// 342, 512 and 683 characters: of 3,072 bits the last line is empty.
TEST(RsaStanza, stands_in_a_header_as_the_format_says) {
  for (const uint32_t bits : key_sizes) {
    const Header header = sealed_header(recipients_of({bits}), FileKey(3));
    const Buffer& body = header.stanzas[0].body;
    std::string base64(body.size() * 2, 0);
    base64.resize(EVP_EncodeBlock(reinterpret_cast<uint8_t*>(base64.data()), body.data(), static_cast<int>(bits / 8)));
    base64.erase(base64.find_last_not_of('=') + 1);
    std::string expected =
        "stockade/v1\ncipher cobblestone-256\n-> rsa-oaep-sha256 " + oracle_id(rsa::oracle_key(bits)) + "\n";
    for (size_t i = 0; i <= base64.size(); i += 64) expected += base64.substr(i, 64) + "\n";
    const std::string text = serialise_header(header);
    EXPECT_EQ(text.substr(0, expected.size()), expected);
    EXPECT_EQ(text.substr(expected.size(), 4), "--- ");
    Header parsed;
    uint64_t length;
    stockade_fault fault;
    ASSERT_EQ(parse_header({reinterpret_cast<const uint8_t*>(text.data()), text.size()}, parsed, &length, fault),
              STOCKADE_OK);
    EXPECT_EQ(serialise_header(parsed), text);
    EXPECT_EQ(open(identity_of(bits), parsed).file_key, FileKey(3));
  }
}

TEST(RsaStanza, of_another_shape_is_malformed) {
  const std::string id = oracle_id(rsa::oracle_key(2048));
  const auto valid = [](std::vector<std::string> arguments, uint64_t body_bytes) {
    return is_rsa_stanza_valid({std::string(rsa_kind), std::move(arguments), Buffer(body_bytes)});
  };
  EXPECT_TRUE(valid({id}, 256));
  EXPECT_TRUE(valid({id}, 2048));
  EXPECT_FALSE(valid({id}, 255));
  EXPECT_FALSE(valid({id}, 2049));
  EXPECT_FALSE(valid({}, 256));
  EXPECT_FALSE(valid({id, id}, 256));
  EXPECT_FALSE(valid({id.substr(1)}, 256));
  EXPECT_FALSE(valid({id + "A"}, 256));
  EXPECT_FALSE(valid({id.substr(1) + "-"}, 256));
}

TEST(RsaRecipients, each_open_the_file_alone_and_beside_symmetric_keys) {
  tests::RandomSource random;
  const FileKey file_key = random_file_key(random);
  Keyring everyone = recipients_of({2048, 3072, 4096});
  add_key(everyone, uint8_t{1});
  const Header header = sealed_header(everyone, file_key);
  ASSERT_EQ(header.stanzas.size(), 4U);
  EXPECT_EQ(header.stanzas[0].kind, key_kind);
  for (const uint32_t bits : key_sizes) EXPECT_EQ(open(identity_of(bits), header).file_key, file_key);
  EXPECT_EQ(open(keys_of({1}), header).file_key, file_key);
  Keyring others = identity_of(3072);
  add_key(others, uint8_t{77});
  EXPECT_EQ(open(others, header).file_key, file_key);
}

TEST(RsaRecipients, that_are_not_meant_do_not_open_the_file) {
  const Header header = sealed_header(recipients_of({2048, 4096}), FileKey(9));
  EXPECT_EQ(open(identity_of(3072), header).status, STOCKADE_ERROR_NO_IDENTITY);
  EXPECT_EQ(open(keys_of({1}), header).status, STOCKADE_ERROR_NO_IDENTITY);
  EXPECT_EQ(open(recipients_of({2048}), header).status, STOCKADE_ERROR_NO_IDENTITY);
  // Under the id of a key that it was not made for.
  Header forged = header;
  forged.stanzas[0].arguments[0] = oracle_id(rsa::oracle_key(3072));
  EXPECT_EQ(open(identity_of(3072), forged).status, STOCKADE_ERROR_HEADER_MAC);
}

TEST(RsaRecipients, refuse_a_damaged_stanza) {
  tests::RandomSource random;
  const Header header = sealed_header(recipients_of({2048}), FileKey(9));
  const Keyring keyring = identity_of(2048);
  for (uint64_t i = tests::scaled(100); i > 0; --i) {
    Header damaged = header;
    damaged.stanzas[0].body[random.below(256)] ^= static_cast<uint8_t>(1 << random.below(8));
    EXPECT_EQ(open(keyring, damaged).status, STOCKADE_ERROR_HEADER_MAC);
  }
  for (const Buffer& body : {Buffer(256, 0), Buffer(256, 0xff), rsa::oracle_key(2048).numbers.n, Buffer(384, 1)}) {
    Header damaged = header;
    damaged.stanzas[0].body = body;
    EXPECT_EQ(open(keyring, damaged).status, STOCKADE_ERROR_HEADER_MAC);
  }
}

// `count` private keys that are one, under ids of their own.
Keyring many_identities(uint32_t count) {
  Keyring keyring;
  for (uint32_t i = 0; i < count; ++i) {
    keyring.rsa_keys.push_back(std::make_unique<Keyring::RsaKey>());
    const uint8_t id[16] = {static_cast<uint8_t>(i)};
    append_base64(keyring.rsa_keys.back()->id, id);
    keyring.rsa_keys.back()->private_key = rsa::make_key(rsa::oracle_key(2048).numbers);
  }
  return keyring;
}

TEST(RsaRecipients, try_at_most_sixteen_stanzas_of_a_header) {
  const FileKey file_key(9);
  const Keyring keyring = many_identities(most_private_operations + 1);
  // A header in which only stanza `good` opens.
  const auto header_with = [&](uint32_t good) {
    Header header = sealed_header(keyring, file_key);
    for (uint32_t i = 0; i < header.stanzas.size(); ++i) {
      if (i != good) header.stanzas[i].body[7] ^= 1;
    }
    EXPECT_EQ(seal_header(header, file_key.bytes), STOCKADE_OK);
    return header;
  };
  EXPECT_EQ(open(keyring, header_with(0)).file_key, file_key);
  EXPECT_EQ(open(keyring, header_with(most_private_operations - 1)).file_key, file_key);
  EXPECT_EQ(open(keyring, header_with(most_private_operations)).status, STOCKADE_ERROR_HEADER_MAC);
  // A symmetric key behind them costs next to nothing, and is tried.
  Header header = header_with(most_private_operations);
  Keyring both = many_identities(most_private_operations + 1);
  add_key(both, uint8_t{1});
  ASSERT_EQ(wrap_file_key(keys_of({1}), file_key.bytes, system_random(), header.stanzas), STOCKADE_OK);
  ASSERT_EQ(seal_header(header, file_key.bytes), STOCKADE_OK);
  EXPECT_EQ(open(both, header).file_key, file_key);
}

TEST(RsaRecipients, refuse_what_was_wrapped_in_another_way) {
  const rsa::OracleKey& key = rsa::oracle_key(2048);
  const Keyring keyring = identity_of(2048);
  const FileKey file_key(9);
  const auto status_of = [&](const Oracle& oracle, size_t length) {
    return open(keyring, header_of(key, oracle.run(key, true, file_key.bytes, length), file_key)).status;
  };
  EXPECT_EQ(status_of({}, file_key_bytes), STOCKADE_OK);
  EXPECT_EQ(status_of({}, file_key_bytes - 1), STOCKADE_ERROR_HEADER_MAC);
  EXPECT_EQ(status_of({.label = "stockade/v2"}, file_key_bytes), STOCKADE_ERROR_HEADER_MAC);
  EXPECT_EQ(status_of({.hash = EVP_sha1()}, file_key_bytes), STOCKADE_ERROR_HEADER_MAC);
  EXPECT_EQ(status_of({.mask_hash = EVP_sha1()}, file_key_bytes), STOCKADE_ERROR_HEADER_MAC);
}

TEST(RsaRecipients, stand_in_a_ring_once) {
  Keyring keyring = recipients_of({2048, 3072});
  EXPECT_EQ(add_rsa_key(keyring, public_key(rsa::oracle_key(2048))), STOCKADE_ERROR_ARGUMENT);
  EXPECT_EQ(add_rsa_key(keyring, rsa::make_key(rsa::oracle_key(3072).numbers)), STOCKADE_ERROR_ARGUMENT);
  EXPECT_EQ(keyring.rsa_keys.size(), 2U);
}

TEST(RsaRecipients, are_not_wrapped_for_where_that_is_not_possible) {
  const auto status_of = [](const Keyring& keyring, uint64_t before, RandomSource& random) {
    std::vector<Stanza> stanzas(before);
    const Status status = wrap_file_key(keyring, FileKey(1).bytes, random, stanzas);
    EXPECT_EQ(stanzas.size(), status == STOCKADE_OK ? before + keyring.rsa_keys.size() : before);
    return status;
  };
  rsa::EmptySource empty;
  EXPECT_EQ(status_of(recipients_of({2048}), 0, empty), STOCKADE_ERROR_RANDOM);
  EXPECT_EQ(status_of(recipients_of({2048, 3072}), 1022, system_random()), STOCKADE_OK);
  EXPECT_EQ(status_of(recipients_of({2048, 3072}), 1023, system_random()), STOCKADE_ERROR_HEADER_TOO_LONG);
  Keyring both = passphrase_of("x");
  ASSERT_EQ(add_rsa_key(both, public_key(rsa::oracle_key(2048))), STOCKADE_OK);
  EXPECT_EQ(status_of(both, 0, system_random()), STOCKADE_ERROR_SCRYPT_NOT_ALONE);
}

TEST(RsaRecipients, are_compared_by_id_where_nothing_can_be_opened) {
  const Header header = sealed_header(recipients_of({2048, 3072}), FileKey(9));
  const auto same = [&](const Keyring& keyring) {
    bool found = false;
    EXPECT_EQ(same_recipients(keyring, header, 0, &found), STOCKADE_OK);
    return found;
  };
  EXPECT_TRUE(same(recipients_of({2048, 3072})));
  EXPECT_TRUE(same(recipients_of({3072, 2048})));
  EXPECT_FALSE(same(recipients_of({2048})));
  EXPECT_FALSE(same(recipients_of({2048, 4096})));
  EXPECT_FALSE(same(identity_of(2048)));
  Keyring mixed = identity_of(2048);
  ASSERT_EQ(add_rsa_key(mixed, public_key(rsa::oracle_key(3072))), STOCKADE_OK);
  EXPECT_TRUE(same(mixed));
}

TEST(RsaRecipients, change_by_rekey) {
  const FileKey file_key(9);
  Header header = sealed_header(recipients_of({2048}), file_key);
  pad_header(header);
  ASSERT_EQ(seal_header(header, file_key.bytes), STOCKADE_OK);
  const Keyring add = recipients_of({3072}), again = recipients_of({2048});
  const std::string id = oracle_id(rsa::oracle_key(2048));
  const std::string_view remove[] = {id};
  std::string renewed;
  stockade_fault fault;
  const auto rekey = [&](std::span<const std::string_view> removed, const Keyring* added) {
    return rekey_header(header, 1024, identity_of(2048), 0, removed, added, system_random(), renewed, fault);
  };
  // No writer makes a second stanza for one key.
  EXPECT_EQ(rekey({}, &again), STOCKADE_ERROR_ARGUMENT);
  EXPECT_EQ(rekey(remove, nullptr), STOCKADE_ERROR_ARGUMENT);
  ASSERT_EQ(rekey(remove, &add), STOCKADE_OK);
  EXPECT_EQ(renewed.size(), 1024U);
  Header changed;
  uint64_t length;
  ASSERT_EQ(parse_header({reinterpret_cast<const uint8_t*>(renewed.data()), renewed.size()}, changed, &length, fault),
            STOCKADE_OK);
  EXPECT_EQ(open(identity_of(3072), changed).file_key, file_key);
  EXPECT_EQ(open(identity_of(2048), changed).status, STOCKADE_ERROR_NO_IDENTITY);
}

}  // namespace
}  // namespace stockade::format
