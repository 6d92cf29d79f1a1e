#include "format/recipient_test.h"

#include <gtest/gtest.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/sha.h>

#include <algorithm>
#include <string>
#include <vector>

#include "cross/oracle.h"
#include "cross/random_source.h"
#include "format/base64.h"

namespace stockade::format {
namespace {

using Bytes = std::vector<uint8_t>;

std::span<const uint8_t> bytes_of(std::string_view text) {
  return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
}

Bytes joined(std::string text, const Bytes& bytes) {
  text.append(bytes.begin(), bytes.end());
  return {text.begin(), text.end()};
}

Bytes decoded(std::string_view text) {
  Bytes bytes;
  EXPECT_TRUE(decode_base64(text, bytes)) << text;
  return bytes;
}

// The first block of HKDF-Expand with SHA-512: HMAC(key, info || 1).
Bytes oracle_expand(const uint8_t* key, Bytes info) {
  info.push_back(1);
  Bytes block(64);
  HMAC(EVP_sha512(), key, 32, info.data(), info.size(), block.data(), nullptr);
  block.resize(32);
  return block;
}

Header sealed_header(const Keyring& keyring, const FileKey& file_key, uint8_t first_random = 0x40) {
  CountingSource random(first_random);
  Header header;
  EXPECT_EQ(wrap_file_key(keyring, file_key.bytes, random, header.stanzas), STOCKADE_OK);
  EXPECT_EQ(seal_header(header, file_key.bytes), STOCKADE_OK);
  return header;
}

struct Opened {
  Status status;
  FileKey file_key;
  stockade_fault fault;
};

Opened open(const Keyring& keyring, const Header& header, uint32_t max_work_factor = 0) {
  Opened opened{STOCKADE_OK, FileKey(0xEE), make_fault(STOCKADE_OK)};
  opened.status = unwrap_file_key(keyring, header, max_work_factor, opened.file_key.bytes, opened.fault);
  EXPECT_EQ(opened.fault.status, opened.status);
  EXPECT_TRUE(opened.status == STOCKADE_OK || opened.file_key == FileKey());
  return opened;
}

Opened open_text(const Keyring& keyring, std::string_view text) {
  Header header;
  uint64_t length;
  stockade_fault fault = make_fault(STOCKADE_OK);
  const Status status = parse_header(bytes_of(text), header, &length, fault);
  return status == STOCKADE_OK ? open(keyring, header) : Opened{status, FileKey(), fault};
}

// Made by Python from docs/format.md: the key 00 01 ... 1f, the file key 20 ... 3f, and salts 40 ... 4f, 50 ... 5f.
constexpr std::string_view two_keys =
    "stockade/v1\n"
    "cipher cobblestone-128\n"
    "-> key 601mUUlszgA QEFCQ0RFRkdISUpLTE1OTw\n"
    "xNQylNXp47fjlbOk5Miq64okuCAjCtGEbty747rKlNrzsz3CgzFGRprbQ86X2+M8\n"
    "\n"
    "-> key H9Z+6ah6y9M UFFSU1RVVldYWVpbXF1eXw\n"
    "T9xvE1zEc6QN0l+Em0JPnZ5e0OXYicI3o010lOgzOyVY1awJScq8bH43UM84mf/i\n"
    "\n"
    "--- E6guYZ9s/vVRVFwXlnL7zlxBhlgYez3IUb619BPmO7U\n";
constexpr std::string_view one_passphrase =
    "stockade/v1\n"
    "cipher cobblestone-256\n"
    "-> scrypt QEFCQ0RFRkdISUpLTE1OTw 4\n"
    "lLTnYDyP0jNqwRinKBFEIK4kwkfD/+sHMoyqywwlvzMvJrZRC5EoplSQNGMLUB4c\n"
    "\n"
    "--- tL3g0QCEcwZdRTze2r0xwBjQrNzs1OUHmnRgtF6j/q0\n";

TEST(Recipients, are_wrapped_for_as_another_implementation_does) {
  Keyring keyring = keys_of({0x00});
  const uint8_t zeros[symmetric_key_bytes] = {};
  add_key(keyring, zeros);
  Header header = sealed_header(keyring, FileKey(0x20));
  header.cipher = STOCKADE_COBBLESTONE_128;
  ASSERT_EQ(seal_header(header, FileKey(0x20).bytes), STOCKADE_OK);
  EXPECT_EQ(serialise_header(header), two_keys);
  EXPECT_EQ(serialise_header(sealed_header(passphrase_of("correct horse"), FileKey(0x20))), one_passphrase);
}

TEST(Recipients, open_what_another_implementation_made) {
  for (const auto& [keyring, text] :
       {std::pair(keys_of({0x00}), two_keys), std::pair(passphrase_of("correct horse"), one_passphrase)}) {
    const Opened opened = open_text(keyring, text);
    EXPECT_EQ(opened.status, STOCKADE_OK);
    EXPECT_EQ(opened.file_key, FileKey(0x20));
  }
}

TEST(Recipients, have_an_id_of_eleven_characters) {
  tests::RandomSource random;
  for (uint64_t i = tests::scaled(50); i > 0; --i) {
    const Bytes key = random.bytes(32);
    std::string id;
    ASSERT_EQ(key_id(key, id), STOCKADE_OK);
    EXPECT_EQ(id.size(), 11U);
    const Bytes message = joined("stockade/v1 key id", key);
    Bytes digest(32);
    SHA256(message.data(), message.size(), digest.data());
    digest.resize(8);
    EXPECT_EQ(decoded(id), digest);
  }
}

TEST(KeyStanza, is_aes_256_gcm_under_a_key_from_hkdf) {
  tests::RandomSource random;
  for (uint64_t i = tests::scaled(50); i > 0; --i) {
    Keyring keyring;
    add_key(keyring, random.bytes(32).data());
    const FileKey file_key(static_cast<uint8_t>(random.next()));
    Stanza stanza;
    ASSERT_EQ(wrap_for_key(*keyring.keys[0], file_key.bytes, system_random(), stanza), STOCKADE_OK);
    ASSERT_TRUE(is_key_stanza_valid(stanza));
    const Bytes wrap_key =
        oracle_expand(*keyring.keys[0]->bytes, joined("stockade/v1 key wrap", decoded(stanza.arguments[1])));
    const tests::Sealed sealed = tests::oracle_seal(wrap_key, Bytes(12, 0), {}, file_key.bytes, file_key_bytes, 16);
    Bytes body = sealed.ciphertext;
    body.insert(body.end(), sealed.tag.begin(), sealed.tag.end());
    EXPECT_EQ(stanza.body, body);
    FileKey opened_key;
    bool opened = false;
    ASSERT_EQ(unwrap_with_key(*keyring.keys[0], stanza, opened_key.bytes, &opened), STOCKADE_OK);
    EXPECT_TRUE(opened);
    EXPECT_EQ(opened_key, file_key);
  }
}

TEST(ScryptStanza, is_aes_256_gcm_under_a_key_from_scrypt) {
  for (uint32_t work_factor = 1; work_factor <= 12; ++work_factor) {
    const Keyring keyring = passphrase_of("a passphrase", work_factor);
    const FileKey file_key(7);
    Stanza stanza;
    ASSERT_EQ(wrap_for_passphrase(keyring, file_key.bytes, system_random(), stanza), STOCKADE_OK);
    ASSERT_TRUE(is_scrypt_stanza_valid(stanza));
    EXPECT_EQ(stanza_work_factor(stanza), work_factor);
    const Bytes salt = joined("stockade/v1 scrypt", decoded(stanza.arguments[0]));
    Bytes wrap_key(32);
    ASSERT_EQ(EVP_PBE_scrypt("a passphrase", 12, salt.data(), salt.size(), uint64_t{1} << work_factor, 8, 1, 0,
                             wrap_key.data(), 32),
              1);
    const tests::Sealed sealed = tests::oracle_seal(wrap_key, Bytes(12, 0), {}, file_key.bytes, file_key_bytes, 16);
    Bytes body = sealed.ciphertext;
    body.insert(body.end(), sealed.tag.begin(), sealed.tag.end());
    EXPECT_EQ(stanza.body, body);
    FileKey opened_key;
    bool opened = false;
    ASSERT_EQ(unwrap_with_passphrase(keyring, stanza, opened_key.bytes, &opened), STOCKADE_OK);
    EXPECT_TRUE(opened);
    EXPECT_EQ(opened_key, file_key);
  }
}

TEST(Recipients, that_do_not_open_a_stanza_write_nothing) {
  const FileKey file_key(7);
  for (int wrong_bit = 0; wrong_bit < 48 * 8; ++wrong_bit) {
    const Keyring keyring = keys_of({1});
    Stanza stanza = sealed_header(keyring, file_key).stanzas[0];
    stanza.body[wrong_bit / 8] ^= static_cast<uint8_t>(1 << wrong_bit % 8);
    FileKey opened_key(0xEE);
    bool opened = true;
    ASSERT_EQ(unwrap_with_key(*keyring.keys[0], stanza, opened_key.bytes, &opened), STOCKADE_OK);
    EXPECT_FALSE(opened);
    EXPECT_EQ(opened_key, FileKey(0xEE));
  }
}

TEST(Recipients, each_open_the_file_alone_and_in_any_company) {
  const FileKey file_key(9);
  const Header header = sealed_header(keys_of({1, 2, 3}), file_key);
  for (const uint8_t first : std::vector<uint8_t>{1, 2, 3}) {
    EXPECT_EQ(open(keys_of({first}), header).file_key, file_key);
    EXPECT_EQ(open(keys_of({77, first, 78}), header).file_key, file_key);
    Keyring both = passphrase_of("a passphrase");
    add_key(both, first);
    EXPECT_EQ(open(both, header).file_key, file_key);
  }
  const Header by_passphrase = sealed_header(passphrase_of("a passphrase"), file_key);
  Keyring both = passphrase_of("a passphrase");
  add_key(both, 1);
  EXPECT_EQ(open(both, by_passphrase).file_key, file_key);
}

TEST(Recipients, that_do_not_fit_say_why) {
  const FileKey file_key(9);
  const Header by_key = sealed_header(keys_of({1}), file_key);
  EXPECT_EQ(open(keys_of({2}), by_key).status, STOCKADE_ERROR_NO_IDENTITY);
  EXPECT_EQ(open(passphrase_of("x"), by_key).status, STOCKADE_ERROR_NO_IDENTITY);
  EXPECT_EQ(open(Keyring(), by_key).status, STOCKADE_ERROR_NO_IDENTITY);
  const Header by_passphrase = sealed_header(passphrase_of("x"), file_key);
  EXPECT_EQ(open(passphrase_of("y"), by_passphrase).status, STOCKADE_ERROR_PASSPHRASE);
  EXPECT_EQ(open(passphrase_of("x "), by_passphrase).status, STOCKADE_ERROR_PASSPHRASE);
  EXPECT_EQ(open(keys_of({1}), by_passphrase).status, STOCKADE_ERROR_NO_IDENTITY);
  Header nobody;
  ASSERT_EQ(seal_header(nobody, file_key.bytes), STOCKADE_OK);
  EXPECT_EQ(open(keys_of({1}), nobody).status, STOCKADE_ERROR_NO_IDENTITY);
  pad_header(nobody);
  EXPECT_EQ(open(passphrase_of("x"), nobody).status, STOCKADE_ERROR_NO_IDENTITY);
}

TEST(Recipients, refuse_a_work_factor_over_the_cap_before_the_work) {
  const FileKey file_key(9);
  Header header = sealed_header(passphrase_of("x", 5), file_key);
  EXPECT_EQ(open(passphrase_of("x"), header, 5).status, STOCKADE_OK);
  const Opened capped = open(passphrase_of("x"), header, 4);
  EXPECT_EQ(capped.status, STOCKADE_ERROR_WORK_FACTOR);
  EXPECT_EQ(capped.fault.value, 5U);
  // It would take longer than any test, and more memory than there is.
  for (const uint32_t log2_n : {21U, 40U, 63U}) {
    header.stanzas[0].arguments[1] = std::to_string(log2_n);
    const Opened opened = open(passphrase_of("x"), header);
    EXPECT_EQ(opened.status, STOCKADE_ERROR_WORK_FACTOR);
    EXPECT_EQ(opened.fault.value, log2_n);
    EXPECT_EQ(open(keys_of({1}), header).status, STOCKADE_ERROR_NO_IDENTITY);
  }
}

TEST(Recipients, tell_a_changed_header_from_one_that_is_not_for_them) {
  const FileKey file_key(9);
  const Header sealed = sealed_header(keys_of({1, 2}), file_key);
  const auto status_of = [&](const auto& change) {
    Header header = sealed;
    change(header);
    return open(keys_of({1}), header).status;
  };
  constexpr Status changed = STOCKADE_ERROR_HEADER_MAC;
  EXPECT_EQ(status_of([](Header&) {}), STOCKADE_OK);
  EXPECT_EQ(status_of([](Header& header) { header.cipher = STOCKADE_COBBLESTONE_128; }), changed);
  EXPECT_EQ(status_of([](Header& header) { header.mac[31] ^= 1; }), changed);
  EXPECT_EQ(status_of([](Header& header) { header.stanzas[0].body[0] ^= 1; }), changed);
  EXPECT_EQ(status_of([](Header& header) { header.stanzas[1].body[0] ^= 1; }), changed);
  EXPECT_EQ(status_of([](Header& header) { header.stanzas.pop_back(); }), changed);
  EXPECT_EQ(status_of([](Header& header) { std::swap(header.stanzas[0], header.stanzas[1]); }), changed);
  EXPECT_EQ(status_of([](Header& header) { header.stanzas.push_back(header.stanzas[0]); }), changed);
  EXPECT_EQ(status_of([](Header& header) { header.stanzas.insert(header.stanzas.begin(), header.stanzas[1]); }),
            changed);
  EXPECT_EQ(status_of([](Header& header) { header.stanzas.push_back({"pad", {}, {}}); }), changed);
  EXPECT_EQ(status_of([](Header& header) { header.stanzas.push_back({"unknown", {}, {}}); }), changed);
  EXPECT_EQ(status_of([](Header& header) { header.stanzas.erase(header.stanzas.begin()); }),
            STOCKADE_ERROR_NO_IDENTITY);
  EXPECT_EQ(status_of([](Header& header) { header.stanzas[0].arguments[0] = "AAAAAAAAAAA"; }),
            STOCKADE_ERROR_NO_IDENTITY);
  // One that bears the key's id and is not for it, before the one that is: the MAC has the last word.
  EXPECT_EQ(status_of([](Header& header) {
              header.stanzas.insert(header.stanzas.begin(), header.stanzas[0]);
              header.stanzas[0].body[5] ^= 1;
            }),
            changed);
}

TEST(Recipients, of_which_several_stanzas_bear_the_id_open_the_one_that_is_theirs) {
  const FileKey file_key(9);
  Header header = sealed_header(keys_of({1}), file_key);
  header.stanzas.insert(header.stanzas.begin(), header.stanzas[0]);
  header.stanzas[0].body[5] ^= 1;
  ASSERT_EQ(seal_header(header, file_key.bytes), STOCKADE_OK);
  EXPECT_EQ(open(keys_of({1}), header).file_key, file_key);
}

TEST(Recipients, of_an_unknown_kind_are_passed_over) {
  const FileKey file_key(9);
  Header header = sealed_header(keys_of({1}), file_key);
  header.stanzas.insert(header.stanzas.begin(), {"kind-of-another", {"AAAAAAAAAAAAAAAAAAAAAA"}, Bytes(256, 3)});
  header.stanzas.push_back({"later", {"1", "2", "3"}, {}});
  ASSERT_EQ(seal_header(header, file_key.bytes), STOCKADE_OK);
  EXPECT_EQ(open_text(keys_of({1}), serialise_header(header)).file_key, file_key);
}

// Every bit of a file's header matters.
TEST(Recipients, refuse_a_header_with_any_bit_changed) {
  for (const auto& [keyring, text] : {std::pair(keys_of({0x00}), std::string(two_keys)),
                                      std::pair(passphrase_of("correct horse"), std::string(one_passphrase))}) {
    for (uint64_t bit = 0; bit < text.size() * 8; ++bit) {
      std::string changed = text;
      changed[bit / 8] = static_cast<char>(changed[bit / 8] ^ 1 << bit % 8);
      const Opened opened = open_text(keyring, changed);
      EXPECT_NE(opened.status, STOCKADE_OK) << "bit " << bit;
      EXPECT_EQ(opened.file_key, FileKey()) << "bit " << bit;
    }
  }
}

TEST(Recipients, are_wrapped_for_in_their_order_with_one_draw_each) {
  std::vector<Stanza> stanzas(1);
  CountingSource random(0, 2);
  ASSERT_EQ(wrap_file_key(keys_of({5, 6}), FileKey(1).bytes, random, stanzas), STOCKADE_OK);
  ASSERT_EQ(stanzas.size(), 3U);
  EXPECT_EQ(decoded(stanzas[1].arguments[1])[0], 0);
  EXPECT_EQ(decoded(stanzas[2].arguments[1])[0], 16);
  std::string id;
  ASSERT_EQ(key_id(*keys_of({6}).keys[0]->bytes, id), STOCKADE_OK);
  EXPECT_EQ(stanzas[2].arguments[0], id);
}

TEST(Recipients, are_not_wrapped_for_where_that_is_not_possible) {
  const auto status_of = [](const Keyring& keyring, uint64_t before, uint64_t draws) {
    CountingSource random(0, draws);
    std::vector<Stanza> stanzas(before);
    const Status status = wrap_file_key(keyring, FileKey(1).bytes, random, stanzas);
    EXPECT_EQ(stanzas.size(), status == STOCKADE_OK ? before + keyring.keys.size() : before);
    return status;
  };
  EXPECT_EQ(status_of(Keyring(), 0, 9), STOCKADE_ERROR_NO_IDENTITY);
  Keyring both = passphrase_of("x");
  add_key(both, 1);
  EXPECT_EQ(status_of(both, 0, 9), STOCKADE_ERROR_SCRYPT_NOT_ALONE);
  EXPECT_EQ(status_of(keys_of({1, 2}), 0, 0), STOCKADE_ERROR_RANDOM);
  EXPECT_EQ(status_of(keys_of({1, 2}), 0, 1), STOCKADE_ERROR_RANDOM);
  EXPECT_EQ(status_of(passphrase_of("x"), 0, 0), STOCKADE_ERROR_RANDOM);
  EXPECT_EQ(status_of(passphrase_of("x", 63), 0, 1), STOCKADE_ERROR_MEMORY);
  EXPECT_EQ(status_of(keys_of({1, 2}), 1022, 9), STOCKADE_OK);
  EXPECT_EQ(status_of(keys_of({1, 2}), 1023, 9), STOCKADE_ERROR_HEADER_TOO_LONG);
}

TEST(Recipients, up_to_1024_open_one_file) {
  Keyring everyone;
  for (uint32_t i = 0; i < 1024; ++i) {
    uint8_t key[symmetric_key_bytes] = {};
    std::memcpy(key, &i, sizeof i);
    add_key(everyone, key);
  }
  const FileKey file_key(9);
  const std::string text = serialise_header(sealed_header(everyone, file_key));
  Keyring last;
  add_key(last, *everyone.keys.back()->bytes);
  EXPECT_EQ(open_text(last, text).file_key, file_key);
}

bool is_same(const Keyring& keyring, const Header& header, uint32_t max_work_factor = 0) {
  bool same = true;
  EXPECT_EQ(same_recipients(keyring, header, max_work_factor, &same), STOCKADE_OK);
  return same;
}

TEST(Recipients, are_the_same_if_all_are_and_none_besides) {
  const FileKey file_key(9);
  Header header = sealed_header(keys_of({1, 2}), file_key);
  pad_header(header);
  ASSERT_EQ(seal_header(header, file_key.bytes), STOCKADE_OK);
  EXPECT_TRUE(is_same(keys_of({1, 2}), header));
  EXPECT_TRUE(is_same(keys_of({2, 1}), header));
  EXPECT_FALSE(is_same(keys_of({1}), header));
  EXPECT_FALSE(is_same(keys_of({1, 2, 3}), header));
  EXPECT_FALSE(is_same(keys_of({1, 1}), header));
  EXPECT_FALSE(is_same(keys_of({3}), header));
  EXPECT_FALSE(is_same(passphrase_of("x"), header));
  EXPECT_FALSE(is_same(Keyring(), header));
  Keyring both = passphrase_of("x");
  add_key(both, 1);
  add_key(both, 2);
  EXPECT_FALSE(is_same(both, header));

  Header changed = header;
  changed.mac[0] ^= 1;
  EXPECT_FALSE(is_same(keys_of({1, 2}), changed));
  header.stanzas.push_back({"unknown", {}, {}});
  ASSERT_EQ(seal_header(header, file_key.bytes), STOCKADE_OK);
  EXPECT_FALSE(is_same(keys_of({1, 2}), header));
}

TEST(Recipients, are_the_same_if_the_passphrase_opens_the_file) {
  const Header header = sealed_header(passphrase_of("x", 5), FileKey(9));
  EXPECT_TRUE(is_same(passphrase_of("x", 9), header));
  EXPECT_FALSE(is_same(passphrase_of("y", 5), header));
  EXPECT_FALSE(is_same(passphrase_of("x", 5), header, 4));
  EXPECT_FALSE(is_same(keys_of({1}), header));
}

}  // namespace
}  // namespace stockade::format
