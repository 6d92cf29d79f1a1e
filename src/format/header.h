// The text header of a Stockade file: what the bytes before the payload mean. docs/format.md describes it to the byte. It
// knows nothing of keys, but for the MAC over itself; what a stanza means is the business of its recipient_<kind>.cpp.
// Of the functions here those that return a status throw nothing; the others throw std::bad_alloc.
#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/fault.h"
#include "base/status.h"

namespace stockade::format {

inline constexpr uint64_t max_header_bytes = uint64_t{1} << 20;
inline constexpr uint64_t max_stanzas = 1024;
inline constexpr uint64_t header_alignment = 1024;
inline constexpr uint64_t file_key_bytes = 32;
inline constexpr std::string_view magic = "stockade/v1";

// -> kind argument ...
// <base64 of the body: lines of 64 columns, and a shorter one, maybe empty, at the end>
struct Stanza {
  std::string kind;
  std::vector<std::string> arguments;  // the third is all that stands behind the second
  std::vector<uint8_t> body;
};

struct Header {
  stockade_cipher cipher = STOCKADE_COBBLESTONE_256;
  std::vector<Stanza> stanzas;  // in their order, those of unknown kinds and the padding included
  uint8_t mac[32] = {};
};

// "cobblestone-256" or "cobblestone-128".
std::string_view cipher_name(stockade_cipher cipher);

// Reads a header that arrives in pieces, in time proportional to its length: no byte is looked at twice.
//
// What is refused, and with which status, follows from the first byte at which the text cannot be a header any more, or
// from the end of the line or stanza that this byte stands in. So however the text is cut, the outcome is the same, and
// that of every part from the beginning is the same too or TRUNCATED.
class HeaderParser {
 public:
  // `bytes` is the file from its beginning, at least as much of it as in the call before. OK once the header is complete
  // (what stands behind it is not looked at), TRUNCATED while it is not. After any other status nothing more may be asked.
  // MAGIC, VERSION, CIPHER, HEADER_TOO_LONG, HEADER, SCRYPT_NOT_ALONE, TRUNCATED, MEMORY; `fault` is written if not OK.
  Status parse(std::span<const uint8_t> bytes, stockade_fault& fault);

  // Once parse() has returned OK: where the header ends, and what it says.
  uint64_t length() const { return line_start_; }
  Header& header() { return header_; }

 private:
  enum class Line { first, cipher, head, body, done };

  Status parse_lines(std::string_view text);
  Status check_column(char character);
  Status check_head_column(uint64_t column, char character);
  Status end_line(std::string_view text);
  Status end_magic(std::string_view text);
  Status end_cipher(std::string_view text);
  Status end_head(std::string_view text);
  Status end_body(std::string_view text);

  Header header_;
  Line expected_ = Line::first;
  uint64_t line_ = 1;        // of the text, from 1
  uint64_t line_start_ = 0;  // where it begins
  uint64_t position_ = 0;    // up to where the text has been looked at
  uint64_t column_ = 0;      // of `position_` in its line, from 0
  bool closing_ = false;     // the line is the one with the MAC
  char previous_ = 0;        // the character before `position_`
  uint64_t stanza_line_ = 0, stanza_start_ = 0;
  bool stanza_at_fault_ = false;               // the whole stanza is wrong, not the line that happens to be its last
  bool passphrase_ = false;                    // a stanza of scrypt has been seen
  uint64_t recipients_ = 0;                    // stanzas but for padding
  std::set<std::string, std::less<>> single_;  // recipients that no second stanza may name
};

// Reads the header at the start of `bytes`, which may hold more. `*length` is where it ends. For a header that arrives in
// pieces use HeaderParser. `header` and `*length` are written on success, `fault` is otherwise.
// MAGIC, VERSION, CIPHER, HEADER_TOO_LONG, HEADER, SCRYPT_NOT_ALONE, TRUNCATED, MEMORY.
Status parse_header(std::span<const uint8_t> bytes, Header& header, uint64_t* length, stockade_fault& fault);

// The bytes of the header, its MAC line included; of the part that the MAC covers, up to the three hyphens, if not `whole`.
// serialise(parse(x)) == x for every x that is accepted.
std::string serialise_header(const Header& header, bool whole = true);

// Adds "pad" stanzas so that the whole header has exactly `length` bytes. False, with the header as it was, where that is
// not possible: it is longer already, the few bytes that are missing are no sum of two stanzas (1 to 7, 9, 13 or 17), or the
// limits of a header forbid it.
bool pad_header(Header& header, uint64_t length);
// To the next multiple of header_alignment that is possible, if one is.
void pad_header(Header& header);

// Sets the MAC for a file key; or checks it (HEADER_MAC). LIBRARY, MEMORY.
Status seal_header(Header& header, const uint8_t file_key[file_key_bytes]);
Status check_header(const Header& header, const uint8_t file_key[file_key_bytes]);

}  // namespace stockade::format
