// Values as people write them on a command line. Each function throws Failure (usage), naming the option.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace stockade::cmd {

// Decodes hex digits of either case without a branch or a table look-up on them; `out` holds text.size() / 2 bytes.
// Returns the index of the first character that is no digit, or text.size(). An odd last digit is only checked.
size_t decode_hex(std::string_view text, std::span<uint8_t> out);

// Writes two digits for each byte, likewise.
void encode_hex(std::span<const uint8_t> bytes, uint8_t* text);

// For what is not secret. `what` is the option's name, such as "--iv".
std::vector<uint8_t> parse_hex(std::string_view what, std::string_view text);

// A count of bytes: "4096", "64KiB", "1MiB", "2GiB" (also in lower case).
uint64_t parse_size(std::string_view what, std::string_view text);

// A whole number between the two, both included.
uint64_t parse_number(std::string_view what, std::string_view text, uint64_t least, uint64_t most);

// The parts between commas; an empty part is an error.
std::vector<std::string> parse_list(std::string_view what, std::string_view text);

// The hint "did you mean '...'?", or none where no candidate is near.
std::vector<std::string> did_you_mean(std::string_view text, std::span<const std::string> candidates);

// "a, b and c"
std::string listed(std::span<const std::string> names);
// The texts with `between` between them.
std::string joined(std::span<const std::string> texts, std::string_view between);

// "1 byte", "2 bytes"
std::string plural(uint64_t count, std::string_view noun);

}  // namespace stockade::cmd
