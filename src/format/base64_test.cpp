#include "format/base64.h"

#include <gtest/gtest.h>
#include <openssl/evp.h>

#include <string>
#include <vector>

#include "cross/random_source.h"

namespace stockade::format {
namespace {

using Bytes = std::vector<uint8_t>;

constexpr std::string_view alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

std::string encoded(const Bytes& bytes) {
  std::string text;
  append_base64(text, bytes);
  return text;
}

// libcrypto's, without its padding.
std::string oracle(const Bytes& bytes) {
  std::string text(bytes.size() / 3 * 4 + 5, '\0');
  const int length =
      EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()), bytes.data(), static_cast<int>(bytes.size()));
  text.resize(static_cast<size_t>(length));
  while (text.ends_with('=')) text.pop_back();
  return text;
}

bool is_refused(std::string_view text) {
  const Bytes before{1, 2, 3};
  Bytes bytes = before;
  const bool accepted = decode_base64(text, bytes);
  EXPECT_TRUE(accepted || bytes == before);
  return !accepted;
}

TEST(Base64, has_the_examples_of_rfc_4648) {
  constexpr struct {
    std::string_view bytes, text;  // section 10, without padding
  } examples[] = {{"", ""},           {"f", "Zg"},          {"fo", "Zm8"},         {"foo", "Zm9v"},
                  {"foob", "Zm9vYg"}, {"fooba", "Zm9vYmE"}, {"foobar", "Zm9vYmFy"}};
  for (const auto& example : examples) {
    const Bytes bytes(example.bytes.begin(), example.bytes.end());
    EXPECT_EQ(encoded(bytes), example.text);
    Bytes back;
    EXPECT_TRUE(decode_base64(example.text, back));
    EXPECT_EQ(back, bytes);
  }
}

TEST(Base64, is_that_of_libcrypto_at_every_length) {
  tests::RandomSource random;
  for (uint64_t length = 0; length < 300; ++length) {
    const Bytes bytes = random.bytes(length);
    const std::string text = encoded(bytes);
    EXPECT_EQ(text, oracle(bytes));
    EXPECT_EQ(text.size(), base64_length(length));
    Bytes back{7};
    ASSERT_TRUE(decode_base64(text, back));
    ASSERT_EQ(back.size(), length + 1);
    EXPECT_EQ(back[0], 7);
    EXPECT_EQ(Bytes(back.begin() + 1, back.end()), bytes);
  }
}

TEST(Base64, appends) {
  std::string text = "before ";
  append_base64(text, Bytes{'f', 'o'});
  EXPECT_EQ(text, "before Zm8");
}

TEST(Base64, takes_the_characters_of_the_alphabet_and_no_others_at_every_place) {
  for (size_t length : {4U, 8U, 12U, 16U, 20U, 24U}) {
    for (size_t place = 0; place < length; ++place) {
      for (int value = 0; value < 256; ++value) {
        std::string text(length, 'A');
        text[place] = static_cast<char>(value);
        const bool known = alphabet.find(static_cast<char>(value)) != std::string_view::npos;
        EXPECT_EQ(is_refused(text), !known) << value << " at " << place << " of " << length;
      }
    }
  }
}

TEST(Base64, refuses_bits_that_are_left_over) {
  for (const std::string& before : {std::string(), std::string("AAAA"), std::string("AAAAAAAA")}) {
    for (size_t value = 0; value < alphabet.size(); ++value) {
      EXPECT_EQ(is_refused(before + "A" + alphabet[value]), value % 16 != 0) << alphabet[value];
      EXPECT_EQ(is_refused(before + "AA" + alphabet[value]), value % 4 != 0) << alphabet[value];
      EXPECT_FALSE(is_refused(before + "AAA" + alphabet[value])) << alphabet[value];
    }
  }
}

TEST(Base64, refuses_lengths_that_no_bytes_have) {
  for (size_t length = 1; length < 80; length += 4) EXPECT_TRUE(is_refused(std::string(length, 'A'))) << length;
}

TEST(Base64, refuses_padding_and_white_space) {
  for (const std::string_view text : {"Zg==", "Zm8=", "Zg=", "=", "Zm9v\n", " Zm9", "Zm9v Zg", "Zm9v\r\nZg"}) {
    EXPECT_TRUE(is_refused(text)) << text;
  }
}

}  // namespace
}  // namespace stockade::format
