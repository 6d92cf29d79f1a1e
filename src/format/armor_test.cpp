#include "format/armor.h"

#include <gtest/gtest.h>
#include <openssl/bio.h>
#include <openssl/pem.h>

#include <string>
#include <vector>

#include "cross/random_source.h"

namespace stockade::format {
namespace {

using Bytes = std::vector<uint8_t>;

std::string text_of(const Bytes& bytes) { return {bytes.begin(), bytes.end()}; }
Bytes bytes_of(std::string_view text) { return {text.begin(), text.end()}; }

// In pieces that `next_length` asks for; and no piece makes more than it may.
template <typename NextLength>
std::string armored(const Bytes& bytes, const NextLength& next_length) {
  ArmorEncoder encoder;
  Bytes out;
  std::span<const uint8_t> left = bytes;
  while (!left.empty()) {
    const uint64_t length = std::min<uint64_t>(next_length(), left.size());
    const uint64_t before = out.size();
    encoder.update(left.first(length), out);
    EXPECT_LE(out.size() - before, ArmorEncoder::bound(length));
    left = left.subspan(length);
  }
  const uint64_t before = out.size();
  encoder.finish(out);
  EXPECT_LE(out.size() - before, ArmorEncoder::bound(0));
  return text_of(out);
}

std::string armored(const Bytes& bytes) {
  return armored(bytes, [&] { return bytes.size(); });
}

struct Outcome {
  Status status = STOCKADE_OK;
  uint64_t line = 0;
  Bytes bytes;
  bool operator==(const Outcome&) const = default;
};

std::ostream& operator<<(std::ostream& stream, const Outcome& outcome) {
  return stream << stockade_status_name(outcome.status) << " (" << outcome.status << "), line " << outcome.line << ", "
                << outcome.bytes.size() << " bytes";
}

template <typename NextLength>
Outcome decoded(std::string_view text, const NextLength& next_length) {
  ArmorDecoder decoder;
  Outcome outcome;
  stockade_fault fault = make_fault(STOCKADE_OK);
  while (!text.empty() && outcome.status == STOCKADE_OK) {
    const std::string_view piece = text.substr(0, next_length());
    const Bytes in = bytes_of(piece);
    outcome.status = decoder.update(in, outcome.bytes, fault);
    text.remove_prefix(piece.size());
  }
  if (outcome.status == STOCKADE_OK) outcome.status = decoder.finish(fault);
  EXPECT_EQ(fault.status, outcome.status);
  EXPECT_EQ(fault.offset, nowhere);
  outcome.line = fault.line;
  return outcome;
}

Outcome decoded(std::string_view text) {
  return decoded(text, [&] { return text.size(); });
}

TEST(Armor, is_the_pem_of_libcrypto) {
  tests::RandomSource random;
  for (uint64_t length = 1; length < 300; ++length) {
    const Bytes bytes = random.bytes(length);
    BIO* const bio = BIO_new(BIO_s_mem());
    ASSERT_GT(PEM_write_bio(bio, "STOCKADE FILE", "", bytes.data(), static_cast<long>(length)), 0);
    char* text = nullptr;
    const long text_length = BIO_get_mem_data(bio, &text);
    EXPECT_EQ(armored(bytes), std::string(text, static_cast<size_t>(text_length)));
    BIO_free(bio);
  }
}

TEST(Armor, is_undone_at_every_length) {
  tests::RandomSource random;
  for (uint64_t length = 1; length < 300; ++length) {
    const Bytes bytes = random.bytes(length);
    EXPECT_EQ(decoded(armored(bytes)), (Outcome{STOCKADE_OK, 0, bytes}));
  }
}

TEST(Armor, does_not_depend_on_the_pieces) {
  tests::RandomSource random;
  for (const uint64_t length : {1, 47, 48, 49, 96, 1000, 100000}) {
    const Bytes bytes = random.bytes(length);
    const std::string text = armored(bytes);
    for (const uint64_t piece : {1, 2, 3, 47, 48, 49, 64, 65, 66, 4096}) {
      EXPECT_EQ(armored(bytes, [&] { return piece; }), text);
      EXPECT_EQ(decoded(text, [&] { return piece; }), (Outcome{STOCKADE_OK, 0, bytes}));
    }
    const auto any = [&] { return random.between(1, 200); };
    EXPECT_EQ(armored(bytes, any), text);
    EXPECT_EQ(decoded(text, any), (Outcome{STOCKADE_OK, 0, bytes}));
  }
}

// A Stockade file is never empty, and armor around nothing has no last line of base64.
TEST(Armor, around_nothing_is_malformed) {
  const std::string text = std::string(armor_begin) + std::string(armor_end);
  EXPECT_EQ(decoded(text), (Outcome{STOCKADE_ERROR_ARMOR, 2, {}}));
  EXPECT_EQ(decoded(text, [] { return 1; }), (Outcome{STOCKADE_ERROR_ARMOR, 2, {}}));
  ArmorDecoder decoder;
  Bytes out;
  stockade_fault fault;
  EXPECT_EQ(decoder.update({}, out, fault), STOCKADE_OK);
}

const std::string full_line = std::string(64, 'A') + "\n";
const std::string begin(armor_begin), end(armor_end);

struct Malformed {
  std::string text;
  Status status;
  uint64_t line;
};

std::vector<Malformed> malformed() {
  constexpr Status bad = STOCKADE_ERROR_ARMOR, cut = STOCKADE_ERROR_TRUNCATED, behind = STOCKADE_ERROR_TRAILING_DATA;
  const std::string line63 = std::string(63, 'A') + "\n";
  return {
      // Before it, and its first line.
      {"", cut, 1},
      {"x", bad, 1},
      {"\n" + begin, bad, 1},
      {" " + begin, bad, 1},
      {"text\n" + begin + end, bad, 1},
      {"\xEF\xBB\xBF" + begin, bad, 1},
      {"-----BEGIN STOCKADE FILE-----\r\n", bad, 1},
      {"-----BEGIN STOCKADE FILE----- \n", bad, 1},
      {"-----BEGIN STOCKADE FILE----\n", bad, 1},
      {"-----BEGIN PGP MESSAGE-----\n", bad, 1},
      {"-----BEGIN stockade file-----\n", bad, 1},
      {"----BEGIN", bad, 1},
      {end, bad, 1},
      {"stockade/v1\n", bad, 1},
      // Its lines.
      {begin + "\n" + end, bad, 2},
      {begin + full_line + "\n" + end, bad, 3},
      {begin + "AAAA\nAAAA\n" + end, bad, 3},
      {begin + "AAA=\nAAAA\n" + end, bad, 3},
      {begin + line63 + full_line, bad, 2},
      {begin + std::string(60, 'A') + "\n" + full_line + end, bad, 3},
      {begin + std::string(63, 'A') + "=\n" + full_line + end, bad, 3},
      {begin + std::string(65, 'A') + "\n", bad, 2},
      {begin + std::string(68, 'A') + "\n", bad, 2},
      {begin + std::string(1000, 'A'), bad, 2},
      {begin + "AAA\n" + end, bad, 2},
      {begin + "AA\n" + end, bad, 2},
      {begin + "A\n" + end, bad, 2},
      {begin + "AA=\n" + end, bad, 2},
      {begin + "A===\n" + end, bad, 2},
      {begin + "====\n" + end, bad, 2},
      {begin + "AA=A\n" + end, bad, 2},
      {begin + "AAAA=\n" + end, bad, 2},
      {begin + "AB==\n" + end, bad, 2},
      {begin + "AAB=\n" + end, bad, 2},
      {begin + "AA-_\n" + end, bad, 2},
      {begin + "AAAA\r\n" + end, bad, 2},
      {begin + "AAAA \n" + end, bad, 2},
      {begin + " AAAA\n" + end, bad, 2},
      {begin + "AAA\t\n" + end, bad, 2},
      {begin + full_line.substr(0, 64) + "\r\n" + end, bad, 2},
      {begin + "Proc-Type: 4,ENCRYPTED\n\n" + full_line + end, bad, 2},
      {begin + begin, bad, 2},
      // Its last line.
      {begin, cut, 2},
      {begin.substr(0, 29 - 1), cut, 1},
      {begin + full_line, cut, 3},
      {begin + full_line.substr(0, 30), cut, 2},
      {begin + "AAAA\n" + end.substr(0, end.size() - 1), cut, 3},
      {begin + "AAAA\n-----END PGP MESSAGE-----\n", bad, 3},
      {begin + "AAAA\n-----END STOCKADE FILE-----\r\n", bad, 3},
      {begin + "AAAA\n-----END STOCKADE FILE----\n", bad, 3},
      {begin + "AAAA\n-----END STOCKADE FILE----- \n", bad, 3},
      {begin + "AAAA\nB", bad, 3},
      {begin + "AAAA\n\n" + end, bad, 3},
      // Behind it.
      {begin + "AAAA\n" + end + "\n", behind, 4},
      {begin + "AAAA\n" + end + "x", behind, 4},
      {begin + "AAAA\n" + end + begin + "AAAA\n" + end, behind, 4},
  };
}

TEST(Armor, refuses_what_is_malformed_however_it_is_cut) {
  for (const Malformed& test : malformed()) {
    const Outcome outcome = decoded(test.text);
    EXPECT_EQ(outcome.status, test.status) << outcome << "\nof\n" << test.text;
    EXPECT_EQ(outcome.line, test.line) << test.text;
    for (const uint64_t piece : {1, 2, 7, 64, 65}) {
      const Outcome in_pieces = decoded(test.text, [&] { return piece; });
      EXPECT_EQ(in_pieces.status, test.status) << test.text;
      EXPECT_EQ(in_pieces.line, test.line) << test.text;
    }
  }
}

TEST(Armor, cut_short_is_truncated) {
  const std::string text = armored(tests::RandomSource().bytes(150));
  for (uint64_t length = 0; length < text.size(); ++length) {
    EXPECT_EQ(decoded(text.substr(0, length)).status, STOCKADE_ERROR_TRUNCATED) << length;
  }
}

TEST(Armor, changed_anywhere_is_refused_or_gives_other_bytes) {
  const Bytes bytes = tests::RandomSource().bytes(100);
  const std::string text = armored(bytes);
  for (uint64_t bit = 0; bit < text.size() * 8; ++bit) {
    std::string changed = text;
    changed[bit / 8] = static_cast<char>(changed[bit / 8] ^ 1 << bit % 8);
    const Outcome outcome = decoded(changed);
    EXPECT_TRUE(outcome.status != STOCKADE_OK || outcome.bytes != bytes) << "bit " << bit;
    if (outcome.status == STOCKADE_OK) {
      EXPECT_EQ(armored(outcome.bytes), changed);
    }
  }
}

}  // namespace
}  // namespace stockade::format
