#include "format/header.h"

#include <gtest/gtest.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <cstring>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "cross/random_source.h"
#include "format/recipient.h"

namespace stockade::format {
namespace {

using namespace std::string_literals;

std::span<const uint8_t> bytes_of(std::string_view text) {
  return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
}

// What came of a text: everything that a caller gets to see.
struct Outcome {
  Status status = STOCKADE_OK;
  uint64_t line = 0, offset = 0, length = 0;
  std::string again;  // the header, serialised
  bool operator==(const Outcome&) const = default;
};

std::ostream& operator<<(std::ostream& stream, const Outcome& outcome) {
  return stream << stockade_status_name(outcome.status) << " (" << outcome.status << "), line " << outcome.line
                << ", offset " << outcome.offset << ", length " << outcome.length << ", header:\n"
                << outcome.again;
}

Outcome outcome_of(std::string_view text) {
  Header header;
  stockade_fault fault = make_fault(STOCKADE_OK);
  Outcome outcome;
  outcome.status = parse_header(bytes_of(text), header, &outcome.length, fault);
  EXPECT_EQ(fault.status, outcome.status);
  EXPECT_EQ(fault.chunk, nowhere);
  if (outcome.status == STOCKADE_OK) {
    outcome.again = serialise_header(header);
  } else {
    outcome.line = fault.line;
    outcome.offset = fault.offset;
  }
  return outcome;
}

// The same by a parser that gets to see `step` more bytes each time.
Outcome outcome_in_steps(std::string_view text, uint64_t step) {
  HeaderParser parser;
  Outcome outcome;
  stockade_fault fault = make_fault(STOCKADE_OK);
  for (uint64_t length = std::min(step, text.size());; length = std::min(length + step, text.size())) {
    outcome.status = parser.parse(bytes_of(text.substr(0, length)), fault);
    if (outcome.status != STOCKADE_ERROR_TRUNCATED || length == text.size()) break;
  }
  if (outcome.status == STOCKADE_OK) {
    outcome.length = parser.length();
    outcome.again = serialise_header(parser.header());
  } else {
    outcome.line = fault.line;
    outcome.offset = fault.offset;
  }
  return outcome;
}

// 256 bytes in six lines, the last of 22 characters.
std::string body_of_rsa_stanza() {
  std::string text;
  for (int i = 0; i < 5; ++i) text += std::string(64, 'A') + "\n";
  return text + std::string(22, 'A') + "\n";
}

const std::string body = std::string(64, 'A') + "\n\n";  // 48 zero bytes
const std::string salt = std::string(22, 'A');
const std::string mac_line = "--- " + std::string(43, 'A') + "\n";
const std::string start = "stockade/v1\ncipher cobblestone-256\n";
const std::string key_stanza = "-> key AAAAAAAAAAA " + salt + "\n" + body;
const std::string scrypt_stanza = "-> scrypt " + salt + " 17\n" + body;
const std::string rsa_body = body_of_rsa_stanza();
const std::string rsa_stanza = "-> rsa-oaep-sha256 " + salt + "\n" + rsa_body;
const std::string other_rsa_stanza = "-> rsa-oaep-sha256 B" + salt.substr(1) + "\n" + rsa_body;
const std::string pad_stanza = "-> pad\nAAAA\n";
const std::string unknown_stanza = "-> kind-of-another AAAAAAAAAAAAAAAAAAAAAA\n" + std::string(64, 'B') + "\nBBBB\n";

const std::vector<std::string> good_headers = {
    start + mac_line,
    "stockade/v1\ncipher cobblestone-128\n" + key_stanza + mac_line,
    start + key_stanza + key_stanza + pad_stanza + pad_stanza + key_stanza + mac_line,
    start + rsa_stanza + other_rsa_stanza + key_stanza + mac_line,
    start + scrypt_stanza + mac_line,
    start + pad_stanza + scrypt_stanza + pad_stanza + mac_line,
    start + unknown_stanza + key_stanza + mac_line,
    start + "-> !~ \" # $ % & ' ( ) * + , - . / : ; < = > ? @ [ \\ ] ^ _ ` { | }\n\n" + mac_line,
    start + "-> x\n" + std::string(64, 'C') + "\n" + std::string(64, 'C') + "\n\n" + mac_line,
    start + "-> -> --- stockade/v1\n//8\n" + mac_line,
    start + "-> scrypt-like " + salt + " 99\n\n" + key_stanza + mac_line,
};

TEST(Header, gives_back_the_bytes_that_it_accepts) {
  for (const std::string& text : good_headers) {
    const Outcome outcome = outcome_of(text + "payload");
    EXPECT_EQ(outcome.status, STOCKADE_OK) << outcome << "\nof\n" << text;
    EXPECT_EQ(outcome.length, text.size());
    EXPECT_EQ(outcome.again, text);
  }
}

TEST(Header, says_what_stands_in_it) {
  const std::string text = "stockade/v1\ncipher cobblestone-128\n"s + unknown_stanza + "-> key BAAAAAAAAAA " + salt +
                           "\n" + body + "-> pad\n\n--- /" + std::string(42, 'A') + "\n";
  Header header;
  uint64_t length = 0;
  stockade_fault fault;
  ASSERT_EQ(parse_header(bytes_of(text), header, &length, fault), STOCKADE_OK);
  EXPECT_EQ(length, text.size());
  EXPECT_EQ(header.cipher, STOCKADE_COBBLESTONE_128);
  ASSERT_EQ(header.stanzas.size(), 3U);
  EXPECT_EQ(header.stanzas[0].kind, "kind-of-another");
  EXPECT_EQ(header.stanzas[0].arguments, std::vector<std::string>{"AAAAAAAAAAAAAAAAAAAAAA"});
  EXPECT_EQ(header.stanzas[0].body.size(), 51U);
  EXPECT_EQ(header.stanzas[0].body[0], 0x04);
  EXPECT_EQ(header.stanzas[1].kind, "key");
  EXPECT_EQ(header.stanzas[1].arguments, (std::vector<std::string>{"BAAAAAAAAAA", salt}));
  EXPECT_EQ(header.stanzas[1].body, std::vector<uint8_t>(48, 0));
  EXPECT_EQ(header.stanzas[2].kind, "pad");
  EXPECT_TRUE(header.stanzas[2].arguments.empty());
  EXPECT_TRUE(header.stanzas[2].body.empty());
  EXPECT_EQ(header.mac[0], 0xFC);
  EXPECT_EQ(header.mac[1], 0);
}

TEST(Header, cut_short_is_truncated_and_says_where) {
  for (const std::string& text : good_headers) {
    for (uint64_t length = 0; length < text.size(); ++length) {
      const std::string_view part = std::string_view(text).substr(0, length);
      const Outcome outcome = outcome_of(part);
      EXPECT_EQ(outcome.status, STOCKADE_ERROR_TRUNCATED) << outcome << "\nof\n" << part;
      EXPECT_EQ(outcome.offset, length);
      EXPECT_EQ(outcome.line, 1U + static_cast<uint64_t>(std::count(part.begin(), part.end(), '\n')));
    }
  }
}

struct Malformed {
  std::string text;
  Status status;
  uint64_t line;
};

std::vector<Malformed> malformed() {
  constexpr Status bad = STOCKADE_ERROR_HEADER, alone = STOCKADE_ERROR_SCRYPT_NOT_ALONE;
  constexpr Status magic_ = STOCKADE_ERROR_MAGIC, version = STOCKADE_ERROR_VERSION, cipher = STOCKADE_ERROR_CIPHER;
  const std::string v1 = "stockade/v1\n";
  const auto key = [](const std::string& id, const std::string& salt_, const std::string& end) {
    return start + "-> key " + id + " " + salt_ + end;
  };
  const auto scrypt = [](const std::string& arguments) {
    return start + "-> scrypt " + arguments + "\n" + body + mac_line;
  };
  const std::string id(11, 'A');
  return {
      // The first line.
      {"\n", magic_, 1},
      {"x", magic_, 1},
      {"Stockade/v1\n", magic_, 1},
      {" stockade/v1\n", magic_, 1},
      {"stockade/", STOCKADE_ERROR_TRUNCATED, 1},
      {"stockade\n", magic_, 1},
      {"stockade/w", magic_, 1},
      {"\xEF\xBB\xBFstockade/v1\n", magic_, 1},
      {"-----BEGIN STOCKADE FILE-----\n", magic_, 1},
      {std::string(1, '\0'), magic_, 1},
      {"stockade/v\n", version, 1},
      {"stockade/v2\n", version, 1},
      {"stockade/v10\n", version, 1},
      {"stockade/v1.1\n", version, 1},
      {"stockade/v0", version, 1},
      {"stockade/v1\r\n", bad, 1},
      {"stockade/v1 \n", bad, 1},
      {"stockade/v1\0"s, bad, 1},
      // The second.
      {v1 + "\n", bad, 2},
      {v1 + "x", bad, 2},
      {v1 + "Cipher cobblestone-256\n", bad, 2},
      {v1 + "cipher\n", bad, 2},
      {v1 + "cipher \n", bad, 2},
      {v1 + "cipher  cobblestone-256\n", bad, 2},
      {v1 + "cipher\tcobblestone-256\n", bad, 2},
      {v1 + "cipher cobblestone-256 \n", bad, 2},
      {v1 + "cipher cobblestone-256\r\n", bad, 2},
      {v1 + "cipher cobblestone-256 cobblestone-128\n", bad, 2},
      {v1 + "cipher c\x7F\n", bad, 2},
      {v1 + "cipher c\x80\n", bad, 2},
      {v1 + "cipher cobblestone-25\n", cipher, 2},
      {v1 + "cipher cobblestone-2560\n", cipher, 2},
      {v1 + "cipher COBBLESTONE-256\n", cipher, 2},
      {v1 + "cipher aes\n", cipher, 2},
      {v1 + key_stanza, bad, 2},
      {v1 + mac_line, bad, 2},
      // The head of a stanza.
      {start + "\n", bad, 3},
      {start + " -> key", bad, 3},
      {start + "key", bad, 3},
      {start + "-\n", bad, 3},
      {start + "-x", bad, 3},
      {start + "->\n", bad, 3},
      {start + "->key", bad, 3},
      {start + "-> \n", bad, 3},
      {start + "->  key", bad, 3},
      {start + "->\tkey", bad, 3},
      {start + "-> x \n", bad, 3},
      {start + "-> x  y\n", bad, 3},
      {start + "-> x\ty\n", bad, 3},
      {start + "-> x\r\n", bad, 3},
      {start + "-> x y\x7F\n", bad, 3},
      {start + "-> x \xC3\xA4\n", bad, 3},
      {start + "-> x\0\n"s, bad, 3},
      {start + "cipher cobblestone-256\n", bad, 3},
      {start + "# comment\n", bad, 3},
      // Its body.
      {start + "-> x\n=", bad, 4},
      {start + "-> x\nAAA=\n", bad, 4},
      {start + "-> x\nAA==\n", bad, 4},
      {start + "-> x\nA\n", bad, 4},
      {start + "-> x\nAB\n", bad, 4},
      {start + "-> x\nAAB\n", bad, 4},
      {start + "-> x\nAAAA \n", bad, 4},
      {start + "-> x\nAAAA\r\n", bad, 4},
      {start + "-> x\n AAAA\n", bad, 4},
      {start + "-> x\nAA-_\n", bad, 4},
      {start + "-> x\n" + std::string(65, 'A') + "\n", bad, 4},
      {start + "-> x\n" + std::string(64, 'A') + "\n" + mac_line, bad, 5},
      {start + "-> x\n" + std::string(64, 'A') + "\n-> y", bad, 5},
      {start + "-> x\n" + std::string(64, 'A') + "\n" + std::string(61, 'A') + "\n", bad, 5},
      {start + "-> x\nAAAA\nAAAA\n", bad, 5},
      {start + "-> x\n\n\n", bad, 5},
      {start + "-> x\n" + mac_line, bad, 4},
      // The last line.
      {start + "---\n", bad, 3},
      {start + "--- \n", bad, 3},
      {start + "---A", bad, 3},
      {start + "--> x\n", bad, 3},
      {start + "----", bad, 3},
      {start + "---  A", bad, 3},
      {start + "--- " + std::string(42, 'A') + "\n", bad, 3},
      {start + "--- " + std::string(44, 'A') + "\n", bad, 3},
      {start + "--- " + std::string(43, 'A') + "=\n", bad, 3},
      {start + "--- " + std::string(43, 'A') + "\r\n", bad, 3},
      {start + "--- " + std::string(43, 'A') + " \n", bad, 3},
      {start + "--- " + std::string(42, 'A') + "B\n", bad, 3},
      {start + "--- " + std::string(42, 'A') + "-\n", bad, 3},
      // A symmetric key's stanza: the line is that of its head.
      {start + "-> key\n" + body, bad, 3},
      {key(id, "", "\n" + body), bad, 3},
      {start + "-> key " + id + "\n" + body, bad, 3},
      {key(id, salt, " x\n" + body), bad, 3},
      {key(id + "A", salt, "\n" + body), bad, 3},
      {key(id.substr(1), salt, "\n" + body), bad, 3},
      {key("AAAAAAAAAAB", salt, "\n" + body), bad, 3},
      {key("AAAAAAAAAA!", salt, "\n" + body), bad, 3},
      {key(id, salt + "A", "\n" + body), bad, 3},
      {key(id, salt.substr(1), "\n" + body), bad, 3},
      {key(id, salt.substr(1) + "B", "\n" + body), bad, 3},
      {key(id, salt, "\n" + std::string(63, 'A') + "\n"), bad, 3},
      {key(id, salt, "\n\n"), bad, 3},
      {key(id, salt, "\n" + std::string(64, 'A') + "\nAA\n"), bad, 3},
      {start + key_stanza + "-> key x\n" + body, bad, 6},
      // An RSA key's: a second one for a key that has one.
      {start + rsa_stanza + rsa_stanza + mac_line, bad, 10},
      {start + rsa_stanza + key_stanza + other_rsa_stanza + rsa_stanza + mac_line, bad, 20},
      {start + other_rsa_stanza + rsa_stanza + other_rsa_stanza, bad, 17},
      {start + "-> rsa-oaep-sha256 " + salt + "\n" + body, bad, 3},
      // A passphrase's.
      {scrypt(salt), bad, 3},
      {scrypt("17 " + salt), bad, 3},
      {scrypt(salt + " 17 1"), bad, 3},
      {scrypt(salt + " 0"), bad, 3},
      {scrypt(salt + " 017"), bad, 3},
      {scrypt(salt + " +17"), bad, 3},
      {scrypt(salt + " -1"), bad, 3},
      {scrypt(salt + " 1e1"), bad, 3},
      {scrypt(salt + " 0x11"), bad, 3},
      {scrypt(salt + " 64"), bad, 3},
      {scrypt(salt + " 100"), bad, 3},
      {scrypt(salt + " 4294967313"), bad, 3},
      {scrypt(salt + " 18446744073709551633"), bad, 3},
      {scrypt(salt.substr(1) + " 17"), bad, 3},
      {scrypt(salt + "A 17"), bad, 3},
      {start + "-> scrypt " + salt + " 17\nAAAA\n", bad, 3},
      // Padding.
      {start + "-> pad x\nAAAA\n", bad, 3},
      // A passphrase beside another recipient.
      {start + scrypt_stanza + key_stanza + mac_line, alone, 6},
      {start + key_stanza + scrypt_stanza + mac_line, alone, 6},
      {start + scrypt_stanza + scrypt_stanza + mac_line, alone, 6},
      {start + scrypt_stanza + pad_stanza + "-> x\n", alone, 8},
      {start + "-> x\n\n" + pad_stanza + scrypt_stanza + mac_line, alone, 7},
  };
}

// The line begins where so many line ends have gone by.
uint64_t offset_of_line(std::string_view text, uint64_t line) {
  uint64_t offset = 0;
  for (; line > 1; --line) offset = text.find('\n', offset) + 1;
  return offset;
}

TEST(Header, refuses_what_is_malformed_and_says_in_which_line) {
  for (const Malformed& test : malformed()) {
    const Outcome outcome = outcome_of(test.text);
    EXPECT_EQ(outcome.status, test.status) << outcome << "\nof\n" << test.text;
    EXPECT_EQ(outcome.line, test.line) << test.text;
    const bool truncated = test.status == STOCKADE_ERROR_TRUNCATED;
    EXPECT_EQ(outcome.offset, truncated ? test.text.size() : offset_of_line(test.text, test.line)) << test.text;
  }
}

TEST(Header, work_factors_are_decimal_numbers_from_1_to_63) {
  for (int log2_n = 1; log2_n <= 63; ++log2_n) {
    const std::string text = start + "-> scrypt " + salt + " " + std::to_string(log2_n) + "\n" + body + mac_line;
    Header header;
    uint64_t length;
    stockade_fault fault;
    ASSERT_EQ(parse_header(bytes_of(text), header, &length, fault), STOCKADE_OK) << log2_n;
    EXPECT_EQ(stanza_work_factor(header.stanzas[0]), static_cast<uint32_t>(log2_n));
  }
}

// However the text is cut, and of every part from the beginning.
void expect_consistent(const std::string& text) {
  const Outcome whole = outcome_of(text);
  for (const uint64_t step : {1, 2, 3, 64, 65, 66}) EXPECT_EQ(outcome_in_steps(text, step), whole) << text;
  for (uint64_t length = 0; length < text.size(); ++length) {
    const Outcome part = outcome_of(std::string_view(text).substr(0, length));
    if (part.status == STOCKADE_ERROR_TRUNCATED) continue;
    EXPECT_EQ(part, whole) << length << " bytes of\n" << text;
  }
}

TEST(Header, parts_and_pieces_have_the_outcome_of_the_whole) {
  for (const std::string& text : good_headers) expect_consistent(text + "\n-> what stands behind it\n");
  for (const Malformed& test : malformed()) expect_consistent(test.text);
}

TEST(Header, changed_anywhere_is_refused_or_given_back_as_it_is) {
  tests::RandomSource random;
  uint64_t accepted = 0, refused = 0;
  for (uint64_t i = tests::scaled(3000); i > 0; --i) {
    std::string text = good_headers[random.below(good_headers.size())];
    for (uint64_t changes = random.below(3); changes > 0; --changes) {
      const uint64_t place = random.below(text.size());
      constexpr std::string_view likely = "\n\r ->A=/\0\x80";
      const char value = random.one_in(2) ? likely[random.below(likely.size())] : static_cast<char>(random.next());
      switch (random.below(3)) {
        case 0:
          text[place] = value;
          break;
        case 1:
          text.erase(place, 1);
          break;
        default:
          text.insert(place, 1, value);
          break;
      }
    }
    const Outcome outcome = outcome_of(text);
    EXPECT_EQ(outcome_in_steps(text, random.between(1, 90)), outcome) << text;
    if (outcome.status != STOCKADE_OK) {
      ++refused;
      continue;
    }
    EXPECT_EQ(outcome.again, text.substr(0, outcome.length));
    ++accepted;
  }
  EXPECT_GT(accepted, 0U);
  EXPECT_GT(refused, 0U);
}

std::string repeated(std::string_view text, uint64_t count) {
  std::string all;
  for (; count > 0; --count) all += text;
  return all;
}

TEST(Header, has_at_most_1024_stanzas) {
  for (const std::string& stanza : {key_stanza, pad_stanza, unknown_stanza}) {
    const std::string most = start + repeated(stanza, 1024);
    EXPECT_EQ(outcome_of(most + mac_line).status, STOCKADE_OK);
    EXPECT_EQ(outcome_of(most + "-").status, STOCKADE_ERROR_TRUNCATED);
    const Outcome outcome = outcome_of(most + "->");
    EXPECT_EQ(outcome.status, STOCKADE_ERROR_HEADER_TOO_LONG);
    EXPECT_EQ(outcome.offset, most.size());
    EXPECT_EQ(outcome_of(most + "-x").status, STOCKADE_ERROR_HEADER);
  }
}

// A header of exactly `length` bytes.
std::string header_of(uint64_t length) {
  Header header;
  EXPECT_TRUE(pad_header(header, length));
  return serialise_header(header);
}

TEST(Header, has_at_most_a_mebibyte) {
  const std::string most = header_of(max_header_bytes);
  ASSERT_EQ(most.size(), max_header_bytes);
  EXPECT_EQ(outcome_of(most).status, STOCKADE_OK);
  EXPECT_EQ(outcome_of(most + "x").status, STOCKADE_OK);
  EXPECT_EQ(outcome_of(most.substr(0, most.size() - 1)).status, STOCKADE_ERROR_TRUNCATED);

  // One byte more in an argument makes it one too long.
  std::string over = header_of(max_header_bytes - 20);
  over.insert(start.size(), "-> x " + std::string(14, 'y') + "\n\n");
  ASSERT_EQ(over.size(), max_header_bytes + 1);
  const Outcome outcome = outcome_of(over);
  EXPECT_EQ(outcome.status, STOCKADE_ERROR_HEADER_TOO_LONG);
  EXPECT_EQ(outcome_of(over.substr(0, max_header_bytes)), outcome);
  EXPECT_EQ(outcome_of(over.substr(0, max_header_bytes - 1)).status, STOCKADE_ERROR_TRUNCATED);
}

TEST(Header, without_an_end_is_refused_at_a_mebibyte) {
  const std::string body_line = std::string(64, 'A') + "\n";
  for (const std::string& endless :
       {"stockade/v1\ncipher " + std::string(max_header_bytes, 'x'), start + "-> " + std::string(max_header_bytes, 'x'),
        start + "-> x" + repeated(" y", max_header_bytes / 2),
        start + "-> x\n" + repeated(body_line, max_header_bytes / 64)}) {
    const Outcome outcome = outcome_of(endless.substr(0, max_header_bytes));
    EXPECT_EQ(outcome.status, STOCKADE_ERROR_HEADER_TOO_LONG);
    EXPECT_EQ(outcome_of(endless.substr(0, max_header_bytes - 1)).status, STOCKADE_ERROR_TRUNCATED);
  }
}

// A parser that began anew each time would be busy with this for hours.
TEST(Header, that_arrives_byte_by_byte_costs_no_more_than_at_once) {
  const std::string text = start + repeated(key_stanza, 1022) + header_of(900000).substr(start.size());
  const Outcome outcome = outcome_in_steps(text, 1);
  EXPECT_EQ(outcome.status, STOCKADE_OK);
  EXPECT_EQ(outcome.length, text.size());
  EXPECT_TRUE(outcome.again == text);  // too long to be printed
}

TEST(Header, can_be_padded_to_every_length_but_a_few) {
  const std::set<uint64_t> impossible = {1, 2, 3, 4, 5, 6, 7, 9, 13, 17};
  for (const std::string& stanzas : {std::string(), key_stanza}) {
    Header header;
    uint64_t length;
    stockade_fault fault;
    ASSERT_EQ(parse_header(bytes_of(start + stanzas + mac_line), header, &length, fault), STOCKADE_OK);
    for (uint64_t missing = 0; missing <= 3000; ++missing) {
      Header padded = header;
      const bool possible = pad_header(padded, length + missing);
      EXPECT_EQ(possible, !impossible.contains(missing)) << missing;
      const std::string text = serialise_header(padded);
      EXPECT_EQ(text.size(), possible ? length + missing : length);
      EXPECT_LE(padded.stanzas.size(), header.stanzas.size() + 2);
      const Outcome outcome = outcome_of(text);
      EXPECT_EQ(outcome.status, STOCKADE_OK);
      EXPECT_EQ(outcome.again, text);
    }
  }
}

TEST(Header, cannot_be_padded_to_less_or_beyond_its_limits) {
  Header header;
  const uint64_t length = serialise_header(header).size();
  EXPECT_FALSE(pad_header(header, length - 1));
  EXPECT_FALSE(pad_header(header, 0));
  EXPECT_FALSE(pad_header(header, max_header_bytes + 1024));
  EXPECT_TRUE(header.stanzas.empty());

  header.stanzas.resize(max_stanzas - 1, {"x", {}, {}});
  const uint64_t long_ = serialise_header(header).size();
  EXPECT_FALSE(pad_header(header, long_ + 21));  // 10 and 11: two stanzas
  EXPECT_EQ(header.stanzas.size(), max_stanzas - 1);
  EXPECT_TRUE(pad_header(header, long_ + 20));
  EXPECT_EQ(header.stanzas.size(), max_stanzas);
  EXPECT_FALSE(pad_header(header, long_ + 40));
  pad_header(header);
  EXPECT_EQ(header.stanzas.size(), max_stanzas);
  EXPECT_EQ(outcome_of(serialise_header(header)).status, STOCKADE_OK);
}

TEST(Header, is_padded_to_the_next_multiple_of_1024_that_is_possible) {
  const uint64_t bare = start.size() + mac_line.size() + "-> \n\n"s.size();
  for (uint64_t length = 1024 - 30; length <= 1024 + 30; ++length) {
    Header header;
    header.stanzas.push_back({std::string(length - bare, 'x'), {}, {}});
    ASSERT_EQ(serialise_header(header).size(), length);
    pad_header(header);
    const uint64_t missing = 1024 - length;
    const bool next =
        length <= 1024 && (missing == 0 || missing == 8 || (missing > 9 && missing != 13 && missing != 17));
    EXPECT_EQ(serialise_header(header).size(), next ? 1024U : 2048U) << length;
  }
}

std::vector<uint8_t> oracle_mac(const std::string& covered, const std::vector<uint8_t>& file_key) {
  // One block of HKDF-Expand: HMAC-SHA-512(file key, info || 1), of which 32 bytes are taken.
  const std::string info = "stockade/v1 header\x01";
  std::vector<uint8_t> mac_key(64), mac(32);
  HMAC(EVP_sha512(), file_key.data(), 32, bytes_of(info).data(), info.size(), mac_key.data(), nullptr);
  HMAC(EVP_sha256(), mac_key.data(), 32, bytes_of(covered).data(), covered.size(), mac.data(), nullptr);
  return mac;
}

TEST(Header, has_a_mac_over_everything_up_to_the_hyphens) {
  const std::vector<uint8_t> file_key = tests::RandomSource().bytes(32);
  for (const std::string& text : good_headers) {
    Header header;
    uint64_t length;
    stockade_fault fault;
    ASSERT_EQ(parse_header(bytes_of(text), header, &length, fault), STOCKADE_OK);
    EXPECT_EQ(check_header(header, file_key.data()), STOCKADE_ERROR_HEADER_MAC);
    ASSERT_EQ(seal_header(header, file_key.data()), STOCKADE_OK);
    EXPECT_EQ(check_header(header, file_key.data()), STOCKADE_OK);
    const std::string covered = text.substr(0, text.size() - mac_line.size() + 3);
    EXPECT_EQ(serialise_header(header, false), covered);
    EXPECT_EQ(std::vector<uint8_t>(header.mac, header.mac + 32), oracle_mac(covered, file_key));
    for (uint8_t& byte : header.mac) {
      byte ^= 0x10;
      EXPECT_EQ(check_header(header, file_key.data()), STOCKADE_ERROR_HEADER_MAC);
      byte ^= 0x10;
    }
    EXPECT_EQ(check_header(header, file_key.data()), STOCKADE_OK);
  }
}

}  // namespace
}  // namespace stockade::format
