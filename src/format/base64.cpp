#include "format/base64.h"

#include <algorithm>
#include <cstring>

#include "base/bytes.h"

namespace stockade::format {
namespace {

// Eight characters or eight six-bit values are the bytes of one word, the first in its highest byte; the functions work on
// all of them at once, and no sum or difference leaves its byte.
constexpr uint64_t every_byte = 0x0101010101010101;

constexpr uint64_t group_characters = 8, group_bytes = 6;

// 1 in each byte that is at least `limit`. Bytes and limit are below 128.
inline uint64_t at_least(uint64_t bytes, uint64_t limit) {
  return (bytes + (128 - limit) * every_byte) >> 7 & every_byte;
}

// 48 bits to eight values of six bits, and back.
inline uint64_t spread(uint64_t bits) {
  bits = (bits & 0x0000FFFFFF000000) << 8 | (bits & 0x0000000000FFFFFF);
  bits = (bits & 0x00FFF00000FFF000) << 4 | (bits & 0x00000FFF00000FFF);
  return (bits & 0x0FC00FC00FC00FC0) << 2 | (bits & 0x003F003F003F003F);
}

inline uint64_t gather(uint64_t values) {
  values = (values >> 2 & 0x0FC00FC00FC00FC0) | (values & 0x003F003F003F003F);
  values = (values >> 4 & 0x00FFF00000FFF000) | (values & 0x00000FFF00000FFF);
  return (values >> 8 & 0x0000FFFFFF000000) | (values & 0x0000000000FFFFFF);
}

// A-Z a-z 0-9 + /
inline uint64_t to_characters(uint64_t values) {
  return values + 'A' * every_byte + at_least(values, 26) * ('a' - 26 - 'A') -
         at_least(values, 52) * ('a' - 26 - '0' + 52) - at_least(values, 62) * ('0' - 52 - ('+' - 62)) +
         at_least(values, 63) * ('/' - 1 - '+');
}

// Adds to `wrong` a bit for each byte that is no character of the alphabet.
inline uint64_t to_values(uint64_t characters, uint64_t& wrong) {
  const uint64_t seven_bits = characters & 0x7F * every_byte;
  const auto between = [&](uint64_t first, uint64_t last) {
    return at_least(seven_bits, first) - at_least(seven_bits, last + 1);
  };
  const uint64_t upper = between('A', 'Z'), lower = between('a', 'z'), digit = between('0', '9');
  const uint64_t plus = between('+', '+'), slash = between('/', '/');
  wrong |= (characters >> 7 & every_byte) | (every_byte ^ (upper | lower | digit | plus | slash));
  return (seven_bits - upper * 'A' - lower * ('a' - 26) + digit * (52 - '0') + plus * (62 - '+') + slash * (63 - '/')) &
         0x3F * every_byte;
}

constexpr uint64_t decoded_length(uint64_t characters) { return characters / 4 * 3 + characters % 4 * 3 / 4; }

}  // namespace

void append_base64(std::string& text, std::span<const uint8_t> bytes) {
  const uint64_t start = text.size();
  text.resize(start + base64_length(bytes.size()));
  encode_base64(bytes, text.data() + start);
}

// The loops read or write two bytes more than a group has where there are as many: through a buffer of six bytes they
// would wait for their own stores.
void encode_base64(std::span<const uint8_t> bytes, char* text) {
  const uint8_t* from = bytes.data();
  uint64_t left = bytes.size();
  uint8_t characters[group_characters];
  for (; left >= group_bytes + 2; left -= group_bytes, from += group_bytes, text += group_characters) {
    store_be64(characters, to_characters(spread(load_be64(from) >> 16)));
    std::memcpy(text, characters, group_characters);
  }
  while (left != 0) {
    const uint64_t used = std::min(left, group_bytes);
    uint8_t group[8] = {};
    std::memcpy(group, from, used);
    store_be64(characters, to_characters(spread(load_be64(group) >> 16)));
    std::memcpy(text, characters, base64_length(used));
    left -= used;
    from += used;
    text += base64_length(used);
  }
}

bool decode_base64(std::string_view text, std::vector<uint8_t>& bytes) {
  if (text.size() % 4 == 1) return false;
  const uint64_t start = bytes.size();
  bytes.resize(start + decoded_length(text.size()));
  uint8_t* to = bytes.data() + start;
  uint64_t wrong = 0;
  uint8_t group[group_characters];
  for (; text.size() >= group_characters + 4; text.remove_prefix(group_characters), to += group_bytes) {
    std::memcpy(group, text.data(), group_characters);
    store_be64(to, gather(to_values(load_be64(group), wrong)) << 16);
  }
  while (!text.empty()) {
    const uint64_t used = std::min(text.size(), group_characters);
    std::memset(group, 'A', sizeof group);  // the character of the value 0
    std::memcpy(group, text.data(), used);
    store_be64(group, gather(to_values(load_be64(group), wrong)) << 16);
    const uint64_t length = decoded_length(used);
    std::memcpy(to, group, length);
    for (uint64_t i = length; i < group_bytes; ++i) wrong |= group[i];  // bits that are left over
    text.remove_prefix(used);
    to += length;
  }
  if (wrong == 0) return true;
  bytes.resize(start);
  return false;
}

}  // namespace stockade::format
