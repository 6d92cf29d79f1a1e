#include "format/fault_text.h"
#include "base/fault.h"

#include <gtest/gtest.h>

#include <cstring>
#include <new>
#include <set>
#include <string>

namespace stockade::format {
namespace {

std::string text_of(const stockade_fault& fault) {
  const uint64_t length = describe(fault, nullptr, 0);
  std::string text(length + 1, 'x');
  EXPECT_EQ(describe(fault, text.data(), text.size()), length);
  EXPECT_EQ(text.back(), '\0');
  text.pop_back();
  return text;
}

TEST(Fault, says_where) {
  const struct {
    stockade_fault fault;
    std::string_view text;
  } cases[] = {
      {fault_in_chunk(STOCKADE_ERROR_CHUNK, 12, 197880), "chunk 12 at offset 197880 is damaged"},
      {fault_in_chunk(STOCKADE_ERROR_CHUNK, UINT64_MAX - 1, 0), "chunk 18446744073709551614 at offset 0 is damaged"},
      {{STOCKADE_ERROR_CHUNK, 4, 65656, 0, 1}, "chunk 4 at offset 65656 is the last one, and damaged or cut short"},
      {fault_in_chunk(STOCKADE_ERROR_CHUNK, 3, nowhere), "chunk 3 is damaged"},
      {make_fault(STOCKADE_ERROR_CHUNK), "a chunk is damaged"},
      {fault_in_line(STOCKADE_ERROR_TRUNCATED, 5, 300), "the file is truncated: it ends inside the header"},
      {fault_in_armor(STOCKADE_ERROR_TRUNCATED, 5),
       "the file is truncated: its armor ends in line 5, without an end line"},
      {fault_in_chunk(STOCKADE_ERROR_TRUNCATED, 2, 33880),
       "the file is truncated: it ends with chunk 2, which begins at offset 33880 and is not complete"},
      {fault_at(STOCKADE_ERROR_TRUNCATED, 1030), "the file is truncated: it ends too early, at offset 1030"},
      {make_fault(STOCKADE_ERROR_TRUNCATED), "the file is truncated: it ends too early"},
      {fault_at(STOCKADE_ERROR_TRAILING_DATA, 99), "data after the last chunk, from offset 99"},
      {fault_in_armor(STOCKADE_ERROR_TRAILING_DATA, 7), "data after the end of the armor, from line 7"},
      {make_fault(STOCKADE_ERROR_TRAILING_DATA), "data after the end of the file"},
      {fault_in_line(STOCKADE_ERROR_HEADER, 3, 35), "line 3 of the header is malformed"},
      {make_fault(STOCKADE_ERROR_HEADER), "the header is malformed"},
      {fault_in_line(STOCKADE_ERROR_SCRYPT_NOT_ALONE, 6, 99),
       "line 6 of the header puts a passphrase beside another recipient"},
      {make_fault(STOCKADE_ERROR_SCRYPT_NOT_ALONE), "a passphrase cannot stand beside another recipient"},
      {fault_in_armor(STOCKADE_ERROR_ARMOR, 2), "line 2 of the armor is malformed"},
      {make_fault(STOCKADE_ERROR_ARMOR), "an armored file can be read from front to back only"},
      {{STOCKADE_ERROR_WORK_FACTOR, nowhere, nowhere, 0, 25}, "work factor 25 is above the limit"},
  };
  for (const auto& test : cases) EXPECT_EQ(text_of(test.fault), test.text);
}

TEST(Fault, has_one_sentence_for_every_status_of_a_file) {
  std::set<std::string> sentences;
  for (int status = STOCKADE_ERROR_MAGIC; status <= STOCKADE_ERROR_LIBRARY; ++status) {
    const std::string text = text_of(make_fault(static_cast<Status>(status)));
    EXPECT_GT(text.size(), 10U);
    EXPECT_NE(text, "unknown status");
    EXPECT_TRUE(text[0] >= 'a' && text[0] <= 'z') << text;
    EXPECT_NE(text.back(), '.') << text;
    EXPECT_TRUE(sentences.insert(text).second) << text;
  }
}

TEST(Fault, has_the_text_of_the_status_elsewhere) {
  EXPECT_EQ(text_of(make_fault(STOCKADE_ERROR_IO)), stockade_status_text(STOCKADE_ERROR_IO));
  EXPECT_EQ(text_of(make_fault(STOCKADE_ERROR_MEMORY)), stockade_status_text(STOCKADE_ERROR_MEMORY));
}

TEST(Fault, is_cut_where_there_is_no_room) {
  char text[8];
  std::memset(text, 'x', sizeof text);
  EXPECT_EQ(describe(make_fault(STOCKADE_ERROR_CHUNK), text, 6), std::string_view("a chunk is damaged").size());
  EXPECT_EQ(std::string(text, sizeof text), std::string("a chu\0xx", 8));
}

}  // namespace
}  // namespace stockade::format
