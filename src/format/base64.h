// Base64 (RFC 4648 section 4) without padding and in its canonical form only: one text for each byte string.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace stockade::format {

// ceil(4 * length / 3)
inline constexpr uint64_t base64_length(uint64_t length) { return length / 3 * 4 + (length % 3 * 4 + 2) / 3; }

// Writes the text of `bytes`, base64_length(bytes.size()) characters; or appends it. Neither direction has a branch or a table look-up that depends on the content: wrapped keys
// pass through here.
void encode_base64(std::span<const uint8_t> bytes, char* text);
void append_base64(std::string& text, std::span<const uint8_t> bytes);

// Appends the bytes of `text`. False, with `bytes` as it was, for a character outside the alphabet (also '=' and white
// space), an impossible length, or bits that are left over and not zero.
bool decode_base64(std::string_view text, std::vector<uint8_t>& bytes);

}  // namespace stockade::format
