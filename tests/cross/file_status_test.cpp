// Every status of a file that is not as it should be, from every function that can meet it, with the fault that says where
// and the sentence that tells people. What the functions do with bad arguments is in file_argument_test.cpp.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <optional>

#include "cross/file_sample.h"
#include "cross/temporary_file.h"

namespace stockade::tests {
namespace {

constexpr uint64_t text_bytes = 40000;  // two whole chunks and a shorter one
constexpr uint64_t file_bytes = sample_chunk(2) + text_bytes % STOCKADE_CHUNK_BYTES + 16;
constexpr uint64_t max_chunks = uint64_t{1} << 38;

Bytes bytes_of(std::string_view text) { return Bytes(text.begin(), text.end()); }
std::string text_of(const Bytes& bytes) { return std::string(bytes.begin(), bytes.end()); }

// The last chunk of a file may have been cut short rather than damaged.
stockade_fault fault_in(uint64_t chunk, uint64_t offset, bool last) {
  return {STOCKADE_ERROR_CHUNK, chunk, offset, 0, last ? uint64_t{1} : 0};
}

bool same(const stockade_fault& a, const stockade_fault& b) { return describe(a) == describe(b); }

class FileFaults : public testing::Test {
 protected:
  Bytes flipped(uint64_t offset, uint8_t bits = 1) const {
    Bytes file = file_;
    file[offset] ^= bits;
    return file;
  }
  Bytes cut(uint64_t length) const { return Bytes(file_.begin(), file_.begin() + static_cast<std::ptrdiff_t>(length)); }
  Bytes followed_by(const Bytes& more) const {
    Bytes file = file_;
    file.insert(file.end(), more.begin(), more.end());
    return file;
  }
  // The header up to its first stanza, with other text behind it.
  static Bytes header_with(std::string_view stanzas) {
    return bytes_of("stockade/v1\ncipher cobblestone-256\n" + std::string(stanzas));
  }

  using Choice = std::optional<stockade_fault> (*)(const Way& way);
  static std::optional<stockade_fault> all_ways(const Way&) { return {}; }

  // Every way to open the file meets this fault, but where `other` names another one. What was released before is true.
  void expect(const stockade_format& format, const Bytes& file, const stockade_fault& fault, const char* sentence,
              Choice other = all_ways) {
    EXPECT_EQ(fault_sentence(fault), sentence);
    for (const Way& way : ways_to_open()) {
      // Which has another answer to what is certainly armored.
      if (way.means == Means::reader && stockade_file_detect(file.data(), file.size()) != 0 && file[0] == '-') continue;
      const Opened opened = way.open(format, file);
      const stockade_fault expected = other(way).value_or(fault);
      EXPECT_EQ(opened.status, expected.status) << way.name;
      EXPECT_TRUE(same(opened.fault, expected)) << way.name << ": " << describe(opened.fault);
      ASSERT_LE(opened.text.size(), text_.size()) << way.name;
      EXPECT_TRUE(std::equal(opened.text.begin(), opened.text.end(), text_.begin())) << way.name;
    }
  }
  void expect(const Bytes& file, const stockade_fault& fault, const char* sentence, Choice other = all_ways) {
    expect(format_, file, fault, sentence, other);
  }

  // The functions that look at the header alone meet it too.
  void expect_of_header(const Bytes& file, const stockade_fault& fault, const char* sentence) {
    expect(file, fault, sentence);
    stockade_header* header = nullptr;
    stockade_fault found = {};
    EXPECT_EQ(stockade_header_parse(&header, file.data(), file.size(), &found), fault.status);
    EXPECT_EQ(header, nullptr);
    EXPECT_TRUE(same(found, fault)) << "parse: " << describe(found);
    expect_of_rekey(format_.keyring, 0, file, fault);
  }
  static void expect_of_rekey(const stockade_keyring* identities, uint32_t max_work_factor, const Bytes& file,
                              const stockade_fault& fault) {
    stockade_fault found = {};
    Bytes out(4096, 0xEE);
    uint64_t written = 77;
    EXPECT_EQ(stockade_header_rekey(file.data(), file.size(), identities, max_work_factor, nullptr, 0, nullptr,
                                    out.data(), out.size(), &written, &found),
              fault.status);
    EXPECT_TRUE(same(found, fault)) << "rekey: " << describe(found);
    EXPECT_EQ(written, 77U);
    EXPECT_EQ(out, Bytes(4096, 0xEE));
  }

  const Bytes key_ = sample_key(1), text_ = sample_text(text_bytes);
  const KeyringHandle ring_ = keyring_of({key_});
  const stockade_format format_ = format_for(ring_);
  const Bytes file_ = seal(format_, text_);
  const std::string header_ = text_of(file_).substr(0, sample_header);
};

TEST_F(FileFaults, none_in_a_good_file) {
  ASSERT_EQ(file_.size(), file_bytes);
  for (const Bytes& file : {file_, in_armor(file_)}) {
    for (const Way& way : ways_to_open()) {
      if (file != file_ && way.means == Means::reader) continue;
      const Opened opened = way.open(format_, file);
      EXPECT_EQ(opened.status, STOCKADE_OK) << way.name;
      EXPECT_TRUE(same(opened.fault, fault_of(STOCKADE_OK))) << way.name << describe(opened.fault);
      EXPECT_EQ(opened.text, way.releases() ? text_ : Bytes()) << way.name;
    }
  }
  EXPECT_EQ(fault_sentence(fault_of(STOCKADE_OK)), stockade_status_text(STOCKADE_OK));
}

// --- what the header says ------------------------------------------------------------------------------------------

TEST_F(FileFaults, magic) {
  const char* const sentence = "this is not a Stockade file";
  for (const char* text : {"x", "hello\n", "stockade v1\n", "Stockade/v1\n", "\n", "stockade\n"}) {
    expect_of_header(bytes_of(text), fault_of(STOCKADE_ERROR_MAGIC, 0, 1), sentence);
  }
  expect_of_header(Bytes(5000), fault_of(STOCKADE_ERROR_MAGIC, 0, 1), sentence);
  Bytes marked = file_;
  marked.insert(marked.begin(), {0xEF, 0xBB, 0xBF});
  expect_of_header(marked, fault_of(STOCKADE_ERROR_MAGIC, 0, 1), sentence);
}

TEST_F(FileFaults, version) {
  for (const char* version : {"stockade/v2\n", "stockade/v10\n", "stockade/v1.1\n", "stockade/vx\n"}) {
    expect_of_header(bytes_of(version + header_.substr(12)), fault_of(STOCKADE_ERROR_VERSION, 0, 1),
                     "this is a Stockade file of a version that is not known here; only version 1 is");
  }
}

TEST_F(FileFaults, cipher) {
  for (const char* cipher : {"cobblestone-512", "cobblestone-25", "Cobblestone-256", "x"}) {
    const std::string text = std::string("stockade/v1\ncipher ") + cipher + "\n" + header_.substr(35);
    expect_of_header(bytes_of(text), fault_of(STOCKADE_ERROR_CIPHER, 12, 2),
                     "the header names a cipher that is not known here");
  }
}

TEST_F(FileFaults, header_for_a_malformed_line) {
  constexpr uint64_t stanzas = 35;  // where they begin
  const std::string rest = header_.substr(stanzas);
  // Carriage returns, whatever the line.
  expect_of_header(bytes_of("stockade/v1\r\n"), fault_of(STOCKADE_ERROR_HEADER, 0, 1),
                   "line 1 of the header is malformed");
  expect_of_header(bytes_of("stockade/v1\ncipher cobblestone-256\r\n" + rest), fault_of(STOCKADE_ERROR_HEADER, 12, 2),
                   "line 2 of the header is malformed");
  expect_of_header(bytes_of("stockade/v1\nciphers cobblestone-256\n" + rest), fault_of(STOCKADE_ERROR_HEADER, 12, 2),
                   "line 2 of the header is malformed");
  for (const char* line :
       {"", "->", "-> ", "-> x ", "->  x", "-> x  y", "-> \tx", "=> x", "-> x\x7f", "---", "--- AAAA"}) {
    expect_of_header(header_with(std::string(line) + "\n" + rest), fault_of(STOCKADE_ERROR_HEADER, stanzas, 3),
                     "line 3 of the header is malformed");
  }
  // The line behind a stanza's first one.
  for (const char* body : {"A", "AB", "AAA=", "A A", "*", "-> x", "--- "}) {
    expect_of_header(header_with("-> unknown\n" + std::string(body) + "\n" + rest),
                     fault_of(STOCKADE_ERROR_HEADER, stanzas + 11, 4), "line 4 of the header is malformed");
  }
}

TEST_F(FileFaults, header_for_a_stanza_that_is_not_of_its_kind) {
  const std::string body(64, 'A'), id = "AAAAAAAAAAA", salt = "AAAAAAAAAAAAAAAAAAAAAA";
  const std::string stanzas[] = {
      "-> key " + id + "\n" + body + "\n\n",
      "-> key " + id + " " + salt + " 1\n" + body + "\n\n",
      "-> key " + id + "A " + salt + "\n" + body + "\n\n",
      "-> key " + salt + " " + id + "\n" + body + "\n\n",
      "-> key " + id + " " + salt + "\nAAAA\n",
      "-> scrypt " + salt + "\n" + body + "\n\n",
      "-> scrypt " + salt + " 0\n" + body + "\n\n",
      "-> scrypt " + salt + " 01\n" + body + "\n\n",
      "-> scrypt " + salt + " 64\n" + body + "\n\n",
      "-> scrypt " + salt + " 1x\n" + body + "\n\n",
      "-> scrypt " + salt + " 1\nAAAA\n",
      "-> pad 1\n\n",
  };
  // The whole stanza is at fault, so it is where it begins; here behind a good one of two lines.
  for (const std::string& stanza : stanzas) {
    expect_of_header(header_with("-> pad\n\n" + stanza + "-> pad\n\n"), fault_of(STOCKADE_ERROR_HEADER, 35 + 8, 5),
                     "line 5 of the header is malformed");
  }
}

TEST_F(FileFaults, header_too_long) {
  const char* const sentence = "the header is longer than 1 MiB or has more than 1024 stanzas";
  // One stanza too many: known as soon as its line begins.
  std::string many;
  for (int i = 0; i < 1025; ++i) many += "-> x\n\n";
  expect_of_header(header_with(many), fault_of(STOCKADE_ERROR_HEADER_TOO_LONG, 35 + 1024 * 6, 3 + 1024 * 2), sentence);
  // One body that goes on.
  std::string line(64, 'A');
  line += '\n';
  std::string body = "-> x\n";
  while (body.size() <= uint64_t{1} << 20) body += line;
  const uint64_t last_line = ((uint64_t{1} << 20) - 40) / 65;
  expect_of_header(header_with(body), fault_of(STOCKADE_ERROR_HEADER_TOO_LONG, 40 + last_line * 65, 4 + last_line),
                   sentence);
  // A line that goes on.
  expect_of_header(header_with("-> " + std::string(1 << 20, 'x')), fault_of(STOCKADE_ERROR_HEADER_TOO_LONG, 35, 3),
                   sentence);
}

TEST_F(FileFaults, scrypt_not_alone) {
  const std::string body = std::string(64, 'A') + "\n\n", salt = "AAAAAAAAAAAAAAAAAAAAAA";
  const std::string scrypt = "-> scrypt " + salt + " 1\n" + body, key = "-> key AAAAAAAAAAA " + salt + "\n" + body;
  const char* const sentence = "line 6 of the header puts a passphrase beside another recipient";
  const stockade_status status = STOCKADE_ERROR_SCRYPT_NOT_ALONE;
  expect_of_header(header_with(scrypt + scrypt), fault_of(status, 35 + scrypt.size(), 6), sentence);
  expect_of_header(header_with(scrypt + key), fault_of(status, 35 + scrypt.size(), 6), sentence);
  expect_of_header(header_with(key + scrypt), fault_of(status, 35 + key.size(), 6), sentence);
  // Even one of a kind that nobody knows.
  expect_of_header(header_with("-> x\n\n-> x\n" + scrypt), fault_of(STOCKADE_ERROR_HEADER, 35 + 6 + 5, 6),
                   "line 6 of the header is malformed");
  expect_of_header(header_with("-> x\n\n-> pad\nAA\n" + scrypt.substr(0, 36)), fault_of(status, 35 + 6 + 10, 7),
                   "line 7 of the header puts a passphrase beside another recipient");
}

TEST_F(FileFaults, truncated_inside_the_header) {
  const std::vector<uint64_t> lengths = {1, 5, 11, 12, 20, 34, 35, 36, 40, 100, 500, 1022, 1023};
  for (const uint64_t length : lengths) {
    const uint64_t line =
        1 + static_cast<uint64_t>(std::count(header_.begin(), header_.begin() + static_cast<long>(length), '\n'));
    expect_of_header(cut(length), fault_of(STOCKADE_ERROR_TRUNCATED, length, line),
                     "the file is truncated: it ends inside the header");
  }
}

// --- who can open it -----------------------------------------------------------------------------------------------

TEST_F(FileFaults, no_identity) {
  const char* const sentence = "none of the keys given opens this file";
  const stockade_fault fault = fault_of(STOCKADE_ERROR_NO_IDENTITY);
  const KeyringHandle other = keyring_of({sample_key(2), sample_key(3)}), phrase = keyring_of("swordfish");
  for (const KeyringHandle* ring : {&other, &phrase}) {
    expect(format_for(*ring), file_, fault, sentence);
    expect_of_rekey(ring->get(), 0, file_, fault);
  }
  // A file with a passphrase, and keys only.
  const Bytes locked = seal(format_for(phrase), text_);
  expect(format_, locked, fault, sentence);
  expect_of_rekey(ring_.get(), 0, locked, fault);
}

TEST_F(FileFaults, passphrase) {
  const KeyringHandle phrase = keyring_of("swordfish"), wrong = keyring_of("Swordfish");
  const Bytes locked = seal(format_for(phrase), text_);
  const stockade_fault fault = fault_of(STOCKADE_ERROR_PASSPHRASE);
  expect(format_for(wrong), locked, fault, "the passphrase does not open this file");
  expect_of_rekey(wrong.get(), 0, locked, fault);
  // Keys beside it in the ring do not matter, and the right one opens it.
  const Bytes key = sample_key(1);
  ASSERT_EQ(stockade_keyring_add_key(wrong.get(), key.data(), key.size()), STOCKADE_OK);
  expect(format_for(wrong), locked, fault, "the passphrase does not open this file");
  ASSERT_EQ(stockade_keyring_add_passphrase(wrong.get(), "swordfish", 9, 0), STOCKADE_OK);
  for (const Way& way : ways_to_open()) EXPECT_EQ(way.open(format_for(wrong), locked).status, STOCKADE_OK) << way.name;
}

TEST_F(FileFaults, work_factor) {
  const KeyringHandle phrase = keyring_of("swordfish", 3);
  const stockade_format format = format_for(phrase);
  const Bytes locked = seal(format, text_);
  const std::string text = text_of(locked);
  const auto with_factor = [&](const char* factor) {
    std::string changed = text;
    changed.replace(changed.find('\n', 35) - 1, 1, factor);
    return bytes_of(changed);
  };
  stockade_fault fault = fault_of(STOCKADE_ERROR_WORK_FACTOR);
  for (const auto& [factor, value, sentence] :
       {std::tuple("21", 21U, "work factor 21 is above the limit"), {"63", 63U, "work factor 63 is above the limit"}}) {
    fault.value = value;
    expect(format, with_factor(factor), fault, sentence);
    expect_of_rekey(phrase.get(), 0, with_factor(factor), fault);
  }
  // Limits of the caller.
  fault.value = 3;
  stockade_format limited = format;
  limited.max_work_factor = 2;
  expect(limited, locked, fault, "work factor 3 is above the limit");
  expect_of_rekey(phrase.get(), 2, locked, fault);
  limited.max_work_factor = 3;
  for (const Way& way : ways_to_open()) EXPECT_EQ(way.open(limited, locked).status, STOCKADE_OK) << way.name;
  // What no machine has the memory for, where the caller allows it.
  limited.max_work_factor = 63;
  expect(limited, with_factor("63"), fault_of(STOCKADE_ERROR_MEMORY), "out of memory");
}

TEST_F(FileFaults, header_mac) {
  const char* const sentence = "the header was changed after it was made";
  const stockade_fault fault = fault_of(STOCKADE_ERROR_HEADER_MAC);
  const uint64_t body = header_.find('\n', 35) + 1, mac = header_.rfind("--- ") + 4, pad = header_.find("-> pad\n") + 7;
  // The wrapped key, the padding, the MAC.
  for (const uint64_t offset : {body, pad, mac}) {
    std::string changed = header_;
    changed[offset] = changed[offset] == 'B' ? 'C' : 'B';
    const Bytes file = bytes_of(changed + text_of(file_).substr(sample_header));
    expect(file, fault, sentence);
    expect_of_rekey(ring_.get(), 0, file, fault);
  }
  // A stanza more, and another cipher.
  const std::string rest = text_of(file_).substr(35);
  expect(header_with("-> x\n\n" + rest), fault, sentence);
  expect(bytes_of("stockade/v1\ncipher cobblestone-128\n" + rest), fault, sentence);
}

// --- the payload ---------------------------------------------------------------------------------------------------

TEST_F(FileFaults, commitment) {
  const char* const sentence = "the payload was made with another key, or its beginning is damaged";
  for (const uint64_t offset : {uint64_t{0}, uint64_t{23}, uint64_t{24}, uint64_t{55}}) {
    expect(flipped(sample_header + offset), fault_of(STOCKADE_ERROR_COMMITMENT, sample_header + 24), sentence);
  }
  // Another file's payload behind this header.
  Bytes mixed = seal(format_, text_);
  std::copy_n(file_.begin(), sample_header, mixed.begin());
  expect(mixed, fault_of(STOCKADE_ERROR_COMMITMENT, sample_header + 24), sentence);
}

TEST_F(FileFaults, truncated_inside_the_payload) {
  const auto at = [](uint64_t length) { return fault_of(STOCKADE_ERROR_TRUNCATED, length); };
  const auto sentence = [](uint64_t length) {
    return "the file is truncated: it ends too early, at offset " + std::to_string(length);
  };
  for (const uint64_t length :
       {sample_header, sample_header + 1, sample_chunk(0) - 1, sample_chunk(0), sample_chunk(0) + 15, sample_chunk(1),
        sample_chunk(1) + 15, sample_chunk(2), sample_chunk(2) + 15}) {
    expect(cut(length), at(length), sentence(length).c_str());
    expect(in_armor(cut(length)), at(length), sentence(length).c_str());
  }
}

TEST_F(FileFaults, chunk) {
  for (const uint64_t index : {0, 1, 2}) {
    const uint64_t begin = sample_chunk(index);
    const std::string sentence = "chunk " + std::to_string(index) + " at offset " + std::to_string(begin) +
                                 (index == 2 ? " is the last one, and damaged or cut short" : " is damaged");
    for (const uint64_t offset : {begin, begin + 5000, std::min(begin + STOCKADE_SEALED_CHUNK_BYTES, file_bytes) - 1}) {
      expect(flipped(offset), fault_in(index, begin, index == 2), sentence.c_str());
      expect(in_armor(flipped(offset)), fault_in(index, begin, index == 2), sentence.c_str());
    }
  }
  // What ends inside a chunk cannot be told from damage.
  expect(cut(file_bytes - 1), fault_in(2, sample_chunk(2), true),
         "chunk 2 at offset 33880 is the last one, and damaged or cut short");
  expect(cut(sample_chunk(1) + 16), fault_in(1, sample_chunk(1), true),
         "chunk 1 at offset 17480 is the last one, and damaged or cut short");
  // The first of several; the reader looks at the last one, and then at those that it is asked for.
  Bytes two = flipped(sample_chunk(0));
  two[file_bytes - 1] ^= 1;
  expect(two, fault_in(0, sample_chunk(0), false), "chunk 0 at offset 1080 is damaged",
         [](const Way& way) -> std::optional<stockade_fault> {
           if (way.sees_the_end_only()) return fault_in(2, sample_chunk(2), true);
           return {};
         });
}

TEST_F(FileFaults, trailing_data) {
  const char* const sentence = "data after the last chunk, from offset 41128";
  const stockade_fault fault = fault_of(STOCKADE_ERROR_TRAILING_DATA, file_bytes);
  for (const uint64_t length : {1, 15, 16, 17, 1000}) {
    expect(followed_by(Bytes(length, 7)), fault, sentence);
    expect(in_armor(followed_by(Bytes(length, 7))), fault, sentence);
  }
  expect(followed_by(file_), fault, sentence, [](const Way& way) -> std::optional<stockade_fault> {
    // Another last chunk, which is not this payload's.
    if (way.sees_the_end_only()) return fault_in(4, sample_chunk(4), true);
    return {};
  });
}

TEST_F(FileFaults, armor) {
  const std::string good = text_of(in_armor(file_));
  constexpr uint64_t first = 30, width = 65;  // where its first line of data begins; a line of it
  const auto line_fault = [](uint64_t line) { return fault_of(STOCKADE_ERROR_ARMOR, UINT64_MAX, line); };
  const auto with = [&](uint64_t offset, std::string_view text) {
    std::string changed = good;
    changed.replace(offset, text.size(), text);
    return bytes_of(changed);
  };
  expect(with(first, "*"), line_fault(2), "line 2 of the armor is malformed");
  expect(with(first + 99 * width + 64, " "), line_fault(101), "line 101 of the armor is malformed");
  expect(with(first + 9 * width + 63, "="), line_fault(11), "line 11 of the armor is malformed");
  expect(with(first + 9 * width + 63, "\r"), line_fault(11), "line 11 of the armor is malformed");
  expect(with(first + 9 * width + 60, "\n"), line_fault(12), "line 12 of the armor is malformed");
  // Another end line.
  const uint64_t lines = static_cast<uint64_t>(std::count(good.begin(), good.end(), '\n'));
  expect(with(good.size() - 28, "-----end"), line_fault(lines),
         ("line " + std::to_string(lines) + " of the armor is malformed").c_str());
  // Cut off, anywhere.
  for (const uint64_t length :
       {first, first + 1, first + width, first + 99 * width + 7, good.size() - 28, good.size() - 1}) {
    const std::string begin = good.substr(0, length);
    const uint64_t line = 1 + static_cast<uint64_t>(std::count(begin.begin(), begin.end(), '\n'));
    const std::string sentence =
        "the file is truncated: its armor ends in line " + std::to_string(line) + ", without an end line";
    expect(bytes_of(begin), fault_of(STOCKADE_ERROR_TRUNCATED, UINT64_MAX, line), sentence.c_str());
  }
  // Followed by something.
  const std::string sentence = "data after the end of the armor, from line " + std::to_string(lines + 1);
  for (const char* more : {"\n", "x", "-----BEGIN STOCKADE FILE-----\n"}) {
    expect(bytes_of(good + more), fault_of(STOCKADE_ERROR_TRAILING_DATA, UINT64_MAX, lines + 1), sentence.c_str());
  }
}

TEST_F(FileFaults, armor_where_any_place_is_to_be_read) {
  const Opened opened = ways_to_open()[5].open(format_, in_armor(file_));
  ASSERT_EQ(ways_to_open()[5].means, Means::reader);
  EXPECT_EQ(opened.status, STOCKADE_ERROR_ARMOR);
  EXPECT_TRUE(same(opened.fault, fault_of(STOCKADE_ERROR_ARMOR))) << describe(opened.fault);
  EXPECT_EQ(fault_sentence(opened.fault), "an armored file can be read from front to back only");
  EXPECT_EQ(opened.text, Bytes());
}

TEST_F(FileFaults, armor_decoded_by_itself) {
  const Bytes good = in_armor(file_);
  const auto decode = [](const Bytes& in, int whole, const stockade_fault& expected) {
    Bytes out(in.size() / 4 * 3 + 3, 0xEE);
    uint64_t length = 77;
    stockade_fault fault = {};
    const stockade_status status =
        stockade_armor_decode(in.data(), in.size(), whole, out.data(), out.size(), &length, &fault);
    EXPECT_EQ(status, expected.status);
    EXPECT_TRUE(same(fault, expected)) << describe(fault);
    if (status == STOCKADE_OK) {
      out.resize(length);
    } else {
      EXPECT_EQ(length, 77U);
      EXPECT_EQ(out, Bytes(out.size(), 0xEE));
    }
    return out;
  };
  EXPECT_EQ(decode(good, 1, fault_of(STOCKADE_OK)), file_);
  EXPECT_EQ(decode(good, 0, fault_of(STOCKADE_OK)), file_);
  // The beginning of one gives the lines that are complete.
  const Bytes begin(good.begin(), good.begin() + 30 + 65 * 10 + 5);
  EXPECT_EQ(decode(begin, 0, fault_of(STOCKADE_OK)), Bytes(file_.begin(), file_.begin() + 480));
  decode(begin, 1, fault_of(STOCKADE_ERROR_TRUNCATED, UINT64_MAX, 12));
  EXPECT_EQ(decode(Bytes(), 0, fault_of(STOCKADE_OK)), Bytes());
  decode(Bytes(), 1, fault_of(STOCKADE_ERROR_TRUNCATED, UINT64_MAX, 1));
  Bytes changed = good;
  changed[35] = '?';
  decode(changed, 1, fault_of(STOCKADE_ERROR_ARMOR, UINT64_MAX, 2));
  decode(file_, 0, fault_of(STOCKADE_ERROR_ARMOR, UINT64_MAX, 1));
  changed = good;
  changed.push_back('\n');
  const uint64_t lines = static_cast<uint64_t>(std::count(good.begin(), good.end(), '\n'));
  decode(changed, 0, fault_of(STOCKADE_ERROR_TRAILING_DATA, UINT64_MAX, lines + 1));
}

TEST_F(FileFaults, truncated_before_anything_says_what_it_is) {
  const Bytes armored = in_armor(file_);
  expect({}, fault_of(STOCKADE_ERROR_TRUNCATED, 0, 1), "the file is truncated: it ends inside the header");
  for (const uint64_t length : {1, 8, 29}) {
    expect(Bytes(armored.begin(), armored.begin() + static_cast<long>(length)),
           fault_of(STOCKADE_ERROR_TRUNCATED, length),
           ("the file is truncated: it ends too early, at offset " + std::to_string(length)).c_str());
  }
}

// --- plain Cobblestone ---------------------------------------------------------------------------------------------

TEST_F(FileFaults, of_plain_cobblestone) {
  const Bytes context = bytes_of("a context"), other = bytes_of("another"), wrong = sample_key(2);
  for (const uint64_t key_bytes : {32, 16}) {
    const Bytes key(key_.begin(), key_.begin() + static_cast<long>(key_bytes));
    const stockade_format format = plain_format(key, context);
    const Bytes file = seal(format, text_);
    ASSERT_EQ(file.size(), file_bytes - sample_header);
    for (const Way& way : ways_to_open()) {
      const Opened opened = way.open(format, file);
      EXPECT_EQ(opened.status, STOCKADE_OK) << way.name;
      EXPECT_EQ(opened.text, way.releases() ? text_ : Bytes()) << way.name;
    }
    const char* const mismatch = "the payload was made with another key, or its beginning is damaged";
    const stockade_fault commitment = fault_of(STOCKADE_ERROR_COMMITMENT, 24);
    expect(plain_format(key, other), file, commitment, mismatch);
    expect(plain_format(key, {}), file, commitment, mismatch);
    expect(plain_format(Bytes(wrong.begin(), wrong.begin() + static_cast<long>(key_bytes)), context), file, commitment,
           mismatch);
    expect(format, file_, commitment, mismatch);
    Bytes changed = file;
    changed[56 + STOCKADE_SEALED_CHUNK_BYTES] ^= 1;
    expect(format, changed, fault_in(1, 16456, false), "chunk 1 at offset 16456 is damaged");
    changed = file;
    changed.push_back(0);
    expect(format, changed, fault_of(STOCKADE_ERROR_TRAILING_DATA, file.size()),
           "data after the last chunk, from offset 40104");
    for (const uint64_t length : {0, 55, 56, 71, 16456}) {
      changed.assign(file.begin(), file.begin() + static_cast<long>(length));
      expect(format, changed, fault_of(STOCKADE_ERROR_TRUNCATED, length),
             ("the file is truncated: it ends too early, at offset " + std::to_string(length)).c_str());
    }
  }
}

// --- too many chunks -----------------------------------------------------------------------------------------------

constexpr uint64_t longest_payload = STOCKADE_PREAMBLE_BYTES + max_chunks * STOCKADE_SEALED_CHUNK_BYTES - 1;

TEST(TooManyChunks, for_a_length) {
  uint64_t length = 77;
  EXPECT_EQ(stockade_plaintext_length(longest_payload, &length), STOCKADE_OK);
  EXPECT_EQ(length, (uint64_t{1} << 52) - 1);
  for (const uint64_t payload : {longest_payload + 1, longest_payload + 16, longest_payload + 17, UINT64_MAX}) {
    length = 77;
    EXPECT_EQ(stockade_plaintext_length(payload, &length), STOCKADE_ERROR_TOO_MANY_CHUNKS) << payload;
    EXPECT_EQ(length, 77U);
  }
  // Lengths that no payload has, however many chunks.
  for (const uint64_t payload : {0, 55, 56, 71, 56 + 16400, 56 + 16400 + 15}) {
    EXPECT_EQ(stockade_plaintext_length(payload, &length), STOCKADE_ERROR_TRUNCATED) << payload;
  }
  EXPECT_EQ(stockade_plaintext_length(72, &length), STOCKADE_OK);
  EXPECT_EQ(length, 0U);
  EXPECT_EQ(stockade_plaintext_length(56 + 16399, &length), STOCKADE_OK);
  EXPECT_EQ(length, 16383U);
  EXPECT_EQ(stockade_plaintext_length(56 + 16400 + 16, &length), STOCKADE_OK);
  EXPECT_EQ(length, 16384U);
}

TEST(TooManyChunks, for_a_range) {
  constexpr uint64_t most = uint64_t{1} << 52;
  uint64_t offset = 77, length = 77;
  for (const auto& [begin, count] : {std::pair(most, uint64_t{1}),
                                     {most + 1, uint64_t{0}},
                                     {most - 1, uint64_t{2}},
                                     {uint64_t{0}, most + 1},
                                     {uint64_t{1}, UINT64_MAX},
                                     {UINT64_MAX, UINT64_MAX}}) {
    EXPECT_EQ(stockade_ciphertext_range(1024, begin, count, &offset, &length), STOCKADE_ERROR_TOO_MANY_CHUNKS);
    EXPECT_EQ(offset, 77U);
    EXPECT_EQ(length, 77U);
  }
  EXPECT_EQ(stockade_ciphertext_range(1024, most - 1, 1, &offset, &length), STOCKADE_OK);
  EXPECT_EQ(offset, 1080 + (max_chunks - 1) * STOCKADE_SEALED_CHUNK_BYTES);
  EXPECT_EQ(length, uint64_t{STOCKADE_SEALED_CHUNK_BYTES});
  EXPECT_EQ(stockade_ciphertext_range(0, 0, most, &offset, &length), STOCKADE_OK);
  EXPECT_EQ(offset, 56U);
  EXPECT_EQ(length, max_chunks * STOCKADE_SEALED_CHUNK_BYTES);
}

// What a callback shows: the beginning of a real file, and zeros as far as the eye can see.
int read_endless(void* context, uint64_t offset, void* buffer, uint64_t length) {
  const Bytes& file = *static_cast<const Bytes*>(context);
  std::memset(buffer, 0, length);
  const uint64_t there = offset < file.size() ? std::min(length, file.size() - offset) : 0;
  if (there != 0) std::memcpy(buffer, file.data() + offset, there);
  return 0;
}

TEST_F(FileFaults, too_many_chunks_for_a_reader) {
  const Bytes key = sample_key(5);
  const stockade_format plain = plain_format(key, {});
  for (const auto& [format, header] : {std::pair(format_, sample_header), {plain, uint64_t{0}}}) {
    Bytes file = seal(format, text_);
    const auto create = [&, given = &format](uint64_t length) {
      stockade_reader* reader = nullptr;
      stockade_fault fault = {};
      const stockade_status status =
          stockade_reader_create(&reader, read_endless, &file, length, given, nullptr, &fault);
      EXPECT_EQ(reader, nullptr);
      EXPECT_EQ(fault.status, status);
      return fault;
    };
    for (const uint64_t length : {header + longest_payload + 1, header + longest_payload + 20, UINT64_MAX}) {
      const stockade_fault fault = create(length);
      EXPECT_TRUE(same(fault, fault_of(STOCKADE_ERROR_TOO_MANY_CHUNKS))) << describe(fault);
      EXPECT_EQ(fault_sentence(fault), "the payload has more than 2^38 chunks");
    }
    // One byte less: the last of 2^38 chunks is looked at, where it has to be.
    const uint64_t last = header + 56 + (max_chunks - 1) * STOCKADE_SEALED_CHUNK_BYTES;
    const stockade_fault fault = create(header + longest_payload);
    EXPECT_TRUE(same(fault, fault_in(max_chunks - 1, last, true))) << describe(fault);
  }
}

// A file without a name in memory, of which only what is written takes room.
class SparseFile {
 public:
  explicit SparseFile(const Bytes& begin) : fd_(memfd_create("stockade", MFD_CLOEXEC)) {
    write_exactly(fd_, 0, begin.data(), begin.size());
  }
  SparseFile(const SparseFile&) = delete;
  SparseFile& operator=(const SparseFile&) = delete;
  ~SparseFile() { close(fd_); }
  bool resize(uint64_t length) const { return ftruncate(fd_, static_cast<off_t>(length)) == 0; }
  int fd() const { return fd_; }

 private:
  int fd_;
};

int stop_at_once(void*, uint64_t, uint64_t) { return 1; }

TEST_F(FileFaults, too_many_chunks_for_a_file) {
  const SparseFile plain({}), sealed(file_);
  ASSERT_TRUE(plain.resize(uint64_t{1} << 52));
  ASSERT_TRUE(sealed.resize(sample_header + longest_payload + 1));
  const TemporaryFile out;
  stockade_file_job job = file_job();
  // It could never be done: the callback is there for the case that it is begun.
  job.progress = stop_at_once;
  EXPECT_EQ(stockade_file_encrypt_fd(plain.fd(), out.fd(), &format_, &job, nullptr), STOCKADE_ERROR_TOO_MANY_CHUNKS);
  EXPECT_TRUE(same(job.fault, fault_of(STOCKADE_ERROR_TOO_MANY_CHUNKS))) << describe(job.fault);
  EXPECT_EQ(stockade_file_decrypt_fd(sealed.fd(), out.fd(), &format_, &job, nullptr), STOCKADE_ERROR_TOO_MANY_CHUNKS);
  EXPECT_TRUE(same(job.fault, fault_of(STOCKADE_ERROR_TOO_MANY_CHUNKS))) << describe(job.fault);
  EXPECT_EQ(stockade_file_verify_fd(sealed.fd(), &format_, &job, nullptr), STOCKADE_ERROR_TOO_MANY_CHUNKS);
  EXPECT_TRUE(same(job.fault, fault_of(STOCKADE_ERROR_TOO_MANY_CHUNKS))) << describe(job.fault);
  EXPECT_EQ(out.size(), 0U);
  // One byte less is not too many.
  ASSERT_TRUE(plain.resize((uint64_t{1} << 52) - 1));
  EXPECT_EQ(stockade_file_encrypt_fd(plain.fd(), out.fd(), &format_, &job, nullptr), STOCKADE_ERROR_CANCELLED);
}

// --- sentences -----------------------------------------------------------------------------------------------------

TEST(FaultText, is_there_for_every_status) {
  for (int value = 0; value <= STOCKADE_ERROR_INCOMPLETE; ++value) {
    const auto status = static_cast<stockade_status>(value);
    const std::string bare = fault_sentence(fault_of(status));
    const std::string placed = fault_sentence({status, 7, 1234, 0, 5}),
                      lined = fault_sentence(fault_of(status, 1234, 9));
    for (const std::string& text : {bare, placed, lined}) {
      EXPECT_FALSE(text.empty()) << value;
      EXPECT_NE(text.back(), '.') << text;
      EXPECT_EQ(text.find("18446744073709551615"), std::string::npos) << text;
      EXPECT_LT(text.size(), 200U) << text;
    }
    // Statuses that are not about files have their usual words.
    if (value < STOCKADE_ERROR_MAGIC || value > STOCKADE_ERROR_LIBRARY) {
      EXPECT_EQ(bare, stockade_status_text(status));
    }
  }
}

TEST(FaultText, fits_where_it_is_put) {
  const stockade_fault fault = fault_in(12, 197880, false);
  const std::string whole = "chunk 12 at offset 197880 is damaged";
  for (size_t size = 1; size < 64; ++size) {
    char text[64];
    std::memset(text, '#', sizeof text);
    ASSERT_EQ(stockade_fault_text(&fault, text, size), STOCKADE_OK);
    EXPECT_EQ(std::string(text), whole.substr(0, size - 1));
    for (size_t i = size; i < sizeof text; ++i) ASSERT_EQ(text[i], '#') << size;
  }
}

TEST_F(FileFaults, detection_by_the_first_bytes) {
  const Bytes armored = in_armor(file_);
  const auto detect = [](const Bytes& bytes, size_t length) { return stockade_file_detect(bytes.data(), length); };
  for (size_t length = 0; length <= 64; ++length) {
    EXPECT_EQ(detect(file_, length), length >= 11) << length;
    EXPECT_EQ(detect(armored, length), length >= 30) << length;
  }
  EXPECT_EQ(detect(bytes_of("stockade/v2\n"), 12), 1);
  EXPECT_EQ(detect(bytes_of("stockade/vx\n"), 12), 0);
  EXPECT_EQ(detect(bytes_of("Stockade/v1\n"), 12), 0);
  EXPECT_EQ(detect(bytes_of("-----BEGIN STOCKADE KEY-----\n1"), 30), 0);
}

}  // namespace
}  // namespace stockade::tests
