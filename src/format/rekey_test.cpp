#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "format/recipient_test.h"

namespace stockade::format {
namespace {

std::span<const uint8_t> bytes_of(std::string_view text) {
  return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
}

const FileKey file_key(0x20);

Header parsed(std::string_view text) {
  Header header;
  uint64_t length = 0;
  stockade_fault fault;
  EXPECT_EQ(parse_header(bytes_of(text), header, &length, fault), STOCKADE_OK);
  EXPECT_EQ(length, text.size());
  return header;
}

std::string id_of(uint8_t first) {
  std::string id;
  EXPECT_EQ(key_id(*keys_of({first}).keys[0]->bytes, id), STOCKADE_OK);
  return id;
}

Header header_for(const Keyring& keyring) {
  Header header;
  header.cipher = STOCKADE_COBBLESTONE_128;
  EXPECT_EQ(wrap_file_key(keyring, file_key.bytes, system_random(), header.stanzas), STOCKADE_OK);
  pad_header(header);
  EXPECT_EQ(seal_header(header, file_key.bytes), STOCKADE_OK);
  return header;
}

struct Renewed {
  Status status;
  std::string text;
  stockade_fault fault;
};

Renewed rekey(const Header& header, const Keyring& identities, const std::vector<std::string>& remove,
              const Keyring* add, RandomSource& random = system_random()) {
  const std::vector<std::string_view> names(remove.begin(), remove.end());
  Renewed renewed{STOCKADE_OK, {}, make_fault(STOCKADE_OK)};
  renewed.status = rekey_header(header, serialise_header(header).size(), identities, 0, names, add, random,
                                renewed.text, renewed.fault);
  EXPECT_EQ(renewed.fault.status, renewed.status);
  return renewed;
}

bool opens(const Keyring& keyring, std::string_view text) {
  FileKey opened;
  stockade_fault fault;
  return unwrap_file_key(keyring, parsed(text), 0, opened.bytes, fault) == STOCKADE_OK && opened == file_key;
}

TEST(Rekey, adds_a_key_and_keeps_the_length) {
  const Header header = header_for(keys_of({1}));
  const Keyring add = keys_of({2});
  const Renewed renewed = rekey(header, keys_of({1}), {}, &add);
  ASSERT_EQ(renewed.status, STOCKADE_OK);
  EXPECT_EQ(renewed.text.size(), serialise_header(header).size());
  EXPECT_TRUE(opens(keys_of({1}), renewed.text));
  EXPECT_TRUE(opens(keys_of({2}), renewed.text));
  EXPECT_EQ(parsed(renewed.text).cipher, STOCKADE_COBBLESTONE_128);
}

TEST(Rekey, removes_a_key) {
  const Header header = header_for(keys_of({1, 2, 3}));
  const Renewed renewed = rekey(header, keys_of({2}), {id_of(3), id_of(1)}, nullptr);
  ASSERT_EQ(renewed.status, STOCKADE_OK);
  EXPECT_EQ(renewed.text.size(), serialise_header(header).size());
  EXPECT_FALSE(opens(keys_of({1}), renewed.text));
  EXPECT_TRUE(opens(keys_of({2}), renewed.text));
  EXPECT_FALSE(opens(keys_of({3}), renewed.text));
}

TEST(Rekey, removes_the_key_that_it_was_opened_with) {
  const Keyring add = keys_of({2});
  const Renewed renewed = rekey(header_for(keys_of({1})), keys_of({1}), {id_of(1)}, &add);
  ASSERT_EQ(renewed.status, STOCKADE_OK);
  EXPECT_FALSE(opens(keys_of({1}), renewed.text));
  EXPECT_TRUE(opens(keys_of({2}), renewed.text));
}

TEST(Rekey, wraps_anew_for_a_key_that_is_removed_and_added) {
  const Header header = header_for(keys_of({1}));
  const Keyring add = keys_of({1});
  const Renewed renewed = rekey(header, keys_of({1}), {id_of(1)}, &add);
  ASSERT_EQ(renewed.status, STOCKADE_OK);
  EXPECT_TRUE(opens(keys_of({1}), renewed.text));
  EXPECT_NE(parsed(renewed.text).stanzas[0].arguments[1], header.stanzas[0].arguments[1]);
}

TEST(Rekey, replaces_a_passphrase_by_another_or_by_keys_and_back) {
  const Header header = header_for(passphrase_of("old"));
  const Keyring other = passphrase_of("new", 6);
  const Renewed renewed = rekey(header, passphrase_of("old"), {"scrypt"}, &other);
  ASSERT_EQ(renewed.status, STOCKADE_OK);
  EXPECT_FALSE(opens(passphrase_of("old"), renewed.text));
  EXPECT_TRUE(opens(passphrase_of("new"), renewed.text));

  const Keyring keys = keys_of({1, 2});
  const Renewed keyed = rekey(parsed(renewed.text), passphrase_of("new"), {"scrypt"}, &keys);
  ASSERT_EQ(keyed.status, STOCKADE_OK);
  EXPECT_FALSE(opens(passphrase_of("new"), keyed.text));
  EXPECT_TRUE(opens(keys_of({2}), keyed.text));

  const Renewed back = rekey(parsed(keyed.text), keys_of({1}), {id_of(1), id_of(2)}, &other);
  ASSERT_EQ(back.status, STOCKADE_OK);
  EXPECT_TRUE(opens(passphrase_of("new"), back.text));
}

TEST(Rekey, keeps_what_stays_to_the_byte_and_in_order) {
  Header header = header_for(keys_of({1, 2, 3}));
  header.stanzas.insert(header.stanzas.begin(),
                        {"kind-of-another", {"AAAAAAAAAAAAAAAAAAAAAA"}, std::vector<uint8_t>(256, 3)});
  header.stanzas.insert(header.stanzas.begin() + 2, {"later", {"x", id_of(2), "scrypt"}, {}});
  ASSERT_EQ(seal_header(header, file_key.bytes), STOCKADE_OK);
  const Keyring add = keys_of({4});
  const Renewed renewed = rekey(header, keys_of({1}), {id_of(2)}, &add);
  ASSERT_EQ(renewed.status, STOCKADE_OK);
  const Header after = parsed(renewed.text);
  const size_t kept[] = {0, 1, 2, 4};  // 3 was for the second key
  for (size_t i = 0; i < std::size(kept); ++i) {
    EXPECT_EQ(after.stanzas[i].kind, header.stanzas[kept[i]].kind);
    EXPECT_EQ(after.stanzas[i].arguments, header.stanzas[kept[i]].arguments);
    EXPECT_EQ(after.stanzas[i].body, header.stanzas[kept[i]].body);
  }
  EXPECT_EQ(after.stanzas[4].arguments[0], id_of(4));
  for (size_t i = 5; i < after.stanzas.size(); ++i) EXPECT_EQ(after.stanzas[i].kind, "pad");
  EXPECT_FALSE(opens(keys_of({2}), renewed.text));
  EXPECT_TRUE(opens(keys_of({3}), renewed.text));
}

TEST(Rekey, grows_to_a_multiple_of_1024_where_the_old_length_is_too_short) {
  Keyring add;
  for (uint8_t first = 10; first < 40; ++first) add_key(add, first);
  const Renewed renewed = rekey(header_for(keys_of({1})), keys_of({1}), {}, &add);
  ASSERT_EQ(renewed.status, STOCKADE_OK);
  EXPECT_GT(renewed.text.size(), 1024U);
  EXPECT_EQ(renewed.text.size() % 1024, 0U);
  EXPECT_TRUE(opens(keys_of({39}), renewed.text));
  // And shrinks no more.
  std::vector<std::string> remove;
  for (uint8_t first = 10; first < 40; ++first) remove.push_back(id_of(first));
  const Renewed again = rekey(parsed(renewed.text), keys_of({1}), remove, nullptr);
  ASSERT_EQ(again.status, STOCKADE_OK);
  EXPECT_EQ(again.text.size(), renewed.text.size());
}

TEST(Rekey, that_changes_nobody_keeps_everything_but_the_padding) {
  const Header header = header_for(keys_of({1, 2}));
  const Keyring nobody;
  for (const Keyring* add : {static_cast<const Keyring*>(nullptr), &nobody}) {
    const Renewed renewed = rekey(header, keys_of({1}), {}, add);
    ASSERT_EQ(renewed.status, STOCKADE_OK);
    EXPECT_EQ(renewed.text, serialise_header(header));
  }
}

TEST(Rekey, refuses_what_would_make_no_sense) {
  const Header header = header_for(keys_of({1, 2}));
  const Keyring me = keys_of({1}), second = keys_of({2}), third = keys_of({3}), passphrase = passphrase_of("x");
  const auto status_of = [&](const std::vector<std::string>& remove, const Keyring* add) {
    const Renewed renewed = rekey(header, me, remove, add);
    EXPECT_TRUE(renewed.status == STOCKADE_OK || renewed.text.empty());
    return renewed.status;
  };
  // Who is to go must be there.
  EXPECT_EQ(status_of({id_of(3)}, nullptr), STOCKADE_ERROR_UNKNOWN_NAME);
  EXPECT_EQ(status_of({"scrypt"}, nullptr), STOCKADE_ERROR_UNKNOWN_NAME);
  EXPECT_EQ(status_of({"pad"}, nullptr), STOCKADE_ERROR_UNKNOWN_NAME);
  EXPECT_EQ(status_of({""}, nullptr), STOCKADE_ERROR_UNKNOWN_NAME);
  EXPECT_EQ(status_of({id_of(1).substr(1)}, nullptr), STOCKADE_ERROR_UNKNOWN_NAME);
  EXPECT_EQ(status_of({id_of(1), "x"}, nullptr), STOCKADE_ERROR_UNKNOWN_NAME);
  // Somebody must stay.
  EXPECT_EQ(status_of({id_of(1), id_of(2)}, nullptr), STOCKADE_ERROR_ARGUMENT);
  // Nobody twice.
  EXPECT_EQ(status_of({}, &second), STOCKADE_ERROR_ARGUMENT);
  const Keyring twice = keys_of({3, 3});
  EXPECT_EQ(status_of({}, &twice), STOCKADE_ERROR_ARGUMENT);
  // A passphrase stands alone.
  EXPECT_EQ(status_of({}, &passphrase), STOCKADE_ERROR_SCRYPT_NOT_ALONE);
  EXPECT_EQ(status_of({id_of(1)}, &passphrase), STOCKADE_ERROR_SCRYPT_NOT_ALONE);
  EXPECT_EQ(status_of({id_of(1), id_of(2)}, &passphrase), STOCKADE_OK);
  Keyring both = passphrase_of("x");
  add_key(both, 3);
  EXPECT_EQ(status_of({id_of(1), id_of(2)}, &both), STOCKADE_ERROR_SCRYPT_NOT_ALONE);
  const Header by_passphrase = header_for(passphrase_of("x"));
  EXPECT_EQ(rekey(by_passphrase, passphrase, {}, &third).status, STOCKADE_ERROR_SCRYPT_NOT_ALONE);
  EXPECT_EQ(rekey(by_passphrase, passphrase, {}, &passphrase).status, STOCKADE_ERROR_SCRYPT_NOT_ALONE);
  EXPECT_EQ(rekey(by_passphrase, passphrase, {"scrypt"}, nullptr).status, STOCKADE_ERROR_ARGUMENT);
}

TEST(Rekey, keeps_a_passphrase_away_from_recipients_of_unknown_kinds) {
  Header header = header_for(keys_of({1}));
  header.stanzas.push_back({"later", {}, {}});
  ASSERT_EQ(seal_header(header, file_key.bytes), STOCKADE_OK);
  const Keyring passphrase = passphrase_of("x");
  EXPECT_EQ(rekey(header, keys_of({1}), {id_of(1)}, &passphrase).status, STOCKADE_ERROR_SCRYPT_NOT_ALONE);
  // But they are somebody who stays.
  EXPECT_EQ(rekey(header, keys_of({1}), {id_of(1)}, nullptr).status, STOCKADE_OK);
}

TEST(Rekey, needs_an_identity_and_an_unchanged_header) {
  const Header header = header_for(keys_of({1}));
  const Keyring add = keys_of({2});
  EXPECT_EQ(rekey(header, keys_of({3}), {}, &add).status, STOCKADE_ERROR_NO_IDENTITY);
  EXPECT_EQ(rekey(header, Keyring(), {}, &add).status, STOCKADE_ERROR_NO_IDENTITY);
  Header changed = header;
  changed.cipher = STOCKADE_COBBLESTONE_256;
  EXPECT_EQ(rekey(changed, keys_of({1}), {}, &add).status, STOCKADE_ERROR_HEADER_MAC);
  const Header by_passphrase = header_for(passphrase_of("x", 5));
  EXPECT_EQ(rekey(by_passphrase, passphrase_of("y"), {"scrypt"}, &add).status, STOCKADE_ERROR_PASSPHRASE);
  std::string renewed;
  stockade_fault fault;
  const std::string_view scrypt = "scrypt";
  EXPECT_EQ(
      rekey_header(by_passphrase, 1024, passphrase_of("x"), 4, {&scrypt, 1}, &add, system_random(), renewed, fault),
      STOCKADE_ERROR_WORK_FACTOR);
  EXPECT_EQ(fault.value, 5U);
  EXPECT_TRUE(renewed.empty());
}

TEST(Rekey, stays_within_the_limits_of_a_header) {
  Keyring everyone;
  for (uint32_t i = 0; i < 1024; ++i) {
    uint8_t key[symmetric_key_bytes] = {1};
    std::memcpy(key + 1, &i, sizeof i);
    add_key(everyone, key);
  }
  const Header full = header_for(everyone);
  ASSERT_EQ(full.stanzas.size(), max_stanzas);
  Keyring me;
  add_key(me, *everyone.keys[0]->bytes);
  const Keyring add = keys_of({9});
  EXPECT_EQ(rekey(full, me, {}, &add).status, STOCKADE_ERROR_HEADER_TOO_LONG);

  Header large = header_for(keys_of({1}));
  large.stanzas.push_back({"x", {}, {}});
  ASSERT_TRUE(pad_header(large, max_header_bytes - 100));
  for (Stanza& stanza : large.stanzas) {
    if (stanza.kind == "pad") stanza.kind = "pac";  // nothing that may be dropped
  }
  ASSERT_EQ(seal_header(large, file_key.bytes), STOCKADE_OK);
  EXPECT_EQ(rekey(large, keys_of({1}), {}, &add).status, STOCKADE_ERROR_HEADER_TOO_LONG);
}

TEST(Rekey, says_that_there_is_no_randomness) {
  const Keyring add = keys_of({2});
  CountingSource none(0, 0);
  EXPECT_EQ(rekey(header_for(keys_of({1})), keys_of({1}), {}, &add, none).status, STOCKADE_ERROR_RANDOM);
}

}  // namespace
}  // namespace stockade::format
