#include "format/header.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include "base/secret.h"
#include "base/without_throwing.h"
#include "format/base64.h"
#include "format/recipient.h"
#include "libcrypto/derive.h"

namespace stockade::format {
namespace {

constexpr std::string_view cipher_names[] = {"cobblestone-256", "cobblestone-128"};  // by stockade_cipher
constexpr std::string_view magic_stem = "stockade/v";                                // of every version
constexpr std::string_view cipher_prefix = "cipher ";
constexpr std::string_view stanza_prefix = "-> ";
constexpr std::string_view mac_prefix = "--- ";
constexpr uint64_t covered_prefix = 3;  // the hyphens of the last line, which the MAC covers
constexpr uint64_t mac_bytes = 32;
constexpr uint64_t columns = 64;

bool is_graphic(char character) { return character >= 33 && character <= 126; }

// Headers are public: this is no place for constant time.
bool is_base64(char c) {
  return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '+' || c == '/';
}

// A stanza with more arguments than any kind has keeps the last of them together: half a million strings take long to make.
Stanza parse_head(std::string_view words) {
  constexpr size_t most_arguments = 3;
  Stanza stanza;
  uint64_t space = words.find(' ');
  stanza.kind = words.substr(0, space);
  while (space != std::string_view::npos) {
    words.remove_prefix(space + 1);
    space = stanza.arguments.size() + 1 < most_arguments ? words.find(' ') : std::string_view::npos;
    stanza.arguments.emplace_back(words.substr(0, space));
  }
  return stanza;
}

void append_stanza(std::string& text, const Stanza& stanza) {
  text.append(stanza_prefix).append(stanza.kind);
  for (const std::string& argument : stanza.arguments) text.append(1, ' ').append(argument);
  text += '\n';
  constexpr uint64_t line_bytes = columns / 4 * 3;
  std::span<const uint8_t> body = stanza.body;
  for (; body.size() >= line_bytes; body = body.subspan(line_bytes)) {
    append_base64(text, body.first(line_bytes));
    text += '\n';
  }
  append_base64(text, body);
  text += '\n';
}

}  // namespace

std::string_view cipher_name(stockade_cipher cipher) { return cipher_names[cipher]; }

Status HeaderParser::parse(std::span<const uint8_t> bytes, stockade_fault& fault) {
  // Nothing behind the longest header that is allowed can belong to one.
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()),
                              std::min<uint64_t>(bytes.size(), max_header_bytes));
  const Status status = without_throwing([&] { return parse_lines(text); });
  if (status == STOCKADE_OK) return status;
  if (status == STOCKADE_ERROR_TRUNCATED) {
    fault = fault_in_line(status, line_, text.size());
  } else if (status == STOCKADE_ERROR_MEMORY) {
    fault = make_fault(status);
  } else if (stanza_at_fault_) {
    fault = fault_in_line(status, stanza_line_, stanza_start_);
  } else {
    fault = fault_in_line(status, line_, line_start_);
  }
  return status;
}

Status HeaderParser::parse_lines(std::string_view text) {
  while (expected_ != Line::done) {
    if (position_ == text.size()) {
      return position_ == max_header_bytes ? STOCKADE_ERROR_HEADER_TOO_LONG : STOCKADE_ERROR_TRUNCATED;
    }
    const char character = text[position_];
    if (character != '\n') {
      if (const Status status = check_column(character); status != STOCKADE_OK) return status;
      previous_ = character;
      ++column_;
      ++position_;
      continue;
    }
    const Status status = end_line(text.substr(line_start_, position_ - line_start_));
    if (status != STOCKADE_OK) return status;
    line_start_ = ++position_;
    column_ = 0;
    ++line_;
  }
  return STOCKADE_OK;
}

// Whether a line may go on with this character.
Status HeaderParser::check_column(char character) {
  switch (expected_) {
    case Line::first:
      if (column_ < magic.size() && character == magic[column_]) return STOCKADE_OK;
      if (column_ < magic_stem.size()) return STOCKADE_ERROR_MAGIC;
      // A version has any name, but a carriage return behind ours is no other version.
      return column_ == magic_stem.size() || is_graphic(character) ? STOCKADE_ERROR_VERSION : STOCKADE_ERROR_HEADER;
    case Line::cipher:
      if (column_ < cipher_prefix.size()) {
        return character == cipher_prefix[column_] ? STOCKADE_OK : STOCKADE_ERROR_HEADER;
      }
      return is_graphic(character) ? STOCKADE_OK : STOCKADE_ERROR_HEADER;
    case Line::head:
      return check_head_column(column_, character);
    case Line::body:
      return column_ < columns && is_base64(character) ? STOCKADE_OK : STOCKADE_ERROR_HEADER;
    case Line::done:
      break;
  }
  return STOCKADE_OK;
}

Status HeaderParser::check_head_column(uint64_t column, char character) {
  if (column == 1) {
    closing_ = character == mac_prefix[1];
    // Seen here, and not at the end of a line that may never come.
    const bool one_more = character == stanza_prefix[1];
    if (one_more && header_.stanzas.size() == max_stanzas) return STOCKADE_ERROR_HEADER_TOO_LONG;
  }
  const std::string_view prefix = closing_ ? mac_prefix : stanza_prefix;
  bool possible;
  if (column < prefix.size()) {
    possible = character == prefix[column];
  } else if (closing_) {
    possible = is_base64(character) && column < mac_prefix.size() + base64_length(mac_bytes);
  } else {
    possible = is_graphic(character) || (character == ' ' && previous_ != ' ');
  }
  return possible ? STOCKADE_OK : STOCKADE_ERROR_HEADER;
}

Status HeaderParser::end_line(std::string_view text) {
  switch (expected_) {
    case Line::first:
      return end_magic(text);
    case Line::cipher:
      return end_cipher(text);
    case Line::head:
      return end_head(text);
    case Line::body:
      return end_body(text);
    case Line::done:
      break;
  }
  return STOCKADE_OK;
}

Status HeaderParser::end_magic(std::string_view text) {
  if (text.size() < magic_stem.size()) return STOCKADE_ERROR_MAGIC;
  if (text != magic) return STOCKADE_ERROR_VERSION;
  expected_ = Line::cipher;
  return STOCKADE_OK;
}

Status HeaderParser::end_cipher(std::string_view text) {
  if (text.size() <= cipher_prefix.size()) return STOCKADE_ERROR_HEADER;
  text.remove_prefix(cipher_prefix.size());
  for (const stockade_cipher cipher : {STOCKADE_COBBLESTONE_256, STOCKADE_COBBLESTONE_128}) {
    if (text != cipher_name(cipher)) continue;
    header_.cipher = cipher;
    expected_ = Line::head;
    return STOCKADE_OK;
  }
  return STOCKADE_ERROR_CIPHER;
}

Status HeaderParser::end_head(std::string_view text) {
  if (closing_ && text.size() > mac_prefix.size()) {
    std::vector<uint8_t> mac;
    if (!decode_base64(text.substr(mac_prefix.size()), mac) || mac.size() != mac_bytes) return STOCKADE_ERROR_HEADER;
    std::copy(mac.begin(), mac.end(), header_.mac);
    expected_ = Line::done;
    return STOCKADE_OK;
  }
  if (closing_ || text.size() <= stanza_prefix.size() || previous_ == ' ') return STOCKADE_ERROR_HEADER;
  Stanza stanza = parse_head(text.substr(stanza_prefix.size()));
  if (stanza.kind != pad_kind) {
    const bool passphrase = stanza.kind == scrypt_kind;
    if (passphrase_ || (passphrase && recipients_ != 0)) return STOCKADE_ERROR_SCRYPT_NOT_ALONE;
    passphrase_ = passphrase;
    ++recipients_;
  }
  header_.stanzas.push_back(std::move(stanza));
  stanza_line_ = line_;
  stanza_start_ = line_start_;
  expected_ = Line::body;
  return STOCKADE_OK;
}

Status HeaderParser::end_body(std::string_view text) {
  Stanza& stanza = header_.stanzas.back();
  if (!decode_base64(text, stanza.body)) return STOCKADE_ERROR_HEADER;
  if (text.size() == columns) return STOCKADE_OK;
  const StanzaKind* const kind = find_kind(stanza.kind);
  stanza_at_fault_ = kind != nullptr && !kind->is_valid(stanza);
  if (!stanza_at_fault_ && kind != nullptr && kind->once) {
    stanza_at_fault_ = !single_.emplace(kind->recipient(stanza)).second;
  }
  if (stanza_at_fault_) return STOCKADE_ERROR_HEADER;
  expected_ = Line::head;
  return STOCKADE_OK;
}

Status parse_header(std::span<const uint8_t> bytes, Header& header, uint64_t* length, stockade_fault& fault) {
  HeaderParser parser;
  const Status status = parser.parse(bytes, fault);
  if (status != STOCKADE_OK) return status;
  header = std::move(parser.header());
  *length = parser.length();
  return STOCKADE_OK;
}

std::string serialise_header(const Header& header, bool whole) {
  std::string text;
  text.append(magic).append(1, '\n');
  text.append(cipher_prefix).append(cipher_name(header.cipher)).append(1, '\n');
  for (const Stanza& stanza : header.stanzas) append_stanza(text, stanza);
  if (!whole) return text.append(mac_prefix.substr(0, covered_prefix));
  text.append(mac_prefix);
  append_base64(text, header.mac);
  text += '\n';
  return text;
}

namespace {

Stanza make_pad(uint64_t body_length) { return {std::string(pad_kind), {}, std::vector<uint8_t>(body_length, 0)}; }

constexpr uint64_t empty_pad_bytes = stanza_prefix.size() + pad_kind.size() + 2;  // with its two line ends

// Bytes of text of a pad whose body has `length` bytes.
uint64_t pad_bytes(uint64_t length) {
  const uint64_t characters = base64_length(length);
  return empty_pad_bytes + characters + characters / columns;
}

// The length of the body that makes a pad of exactly `bytes` bytes: base64 never has 4n + 1 characters, and no text ends
// with the line end of a full line.
std::optional<uint64_t> pad_body(uint64_t bytes) {
  if (bytes < empty_pad_bytes) return std::nullopt;
  const uint64_t lines = (bytes - empty_pad_bytes) / (columns + 1);
  const uint64_t length = (bytes - empty_pad_bytes - lines) * 3 / 4;
  return pad_bytes(length) == bytes ? std::optional(length) : std::nullopt;
}

}  // namespace

bool pad_header(Header& header, uint64_t length) {
  const uint64_t present = serialise_header(header).size();
  if (present == length) return true;
  if (present > length || length > max_header_bytes || header.stanzas.size() >= max_stanzas) return false;
  const uint64_t missing = length - present;
  if (const auto body = pad_body(missing)) {
    header.stanzas.push_back(make_pad(*body));
    return true;
  }
  if (header.stanzas.size() + 2 > max_stanzas) return false;
  // What the short first one does not make possible, a longer one does not either: lengths repeat every line.
  for (uint64_t first = 0; first < columns; ++first) {
    const uint64_t bytes = pad_bytes(first);
    if (bytes > missing) return false;
    const auto second = pad_body(missing - bytes);
    if (!second) continue;
    header.stanzas.push_back(make_pad(first));
    header.stanzas.push_back(make_pad(*second));
    return true;
  }
  return false;
}

void pad_header(Header& header) {
  const uint64_t present = serialise_header(header).size();
  const uint64_t next = (present + header_alignment - 1) / header_alignment * header_alignment;
  // What two stanzas cannot fill is shorter than header_alignment, so the second multiple is always possible.
  if (!pad_header(header, next)) pad_header(header, next + header_alignment);
}

namespace {

Status header_mac(const Header& header, const uint8_t file_key[file_key_bytes], uint8_t mac[mac_bytes]) {
  Secret<uint8_t[32]> mac_key;
  const Bytes info = bytes_of("stockade/v1 header");
  const Status status = libcrypto::hkdf_expand({file_key, file_key_bytes}, {&info, 1}, *mac_key);
  if (status != STOCKADE_OK) return status;
  return without_throwing(
      [&] { return libcrypto::hmac_sha256(*mac_key, bytes_of(serialise_header(header, false)), mac); });
}

}  // namespace

Status seal_header(Header& header, const uint8_t file_key[file_key_bytes]) {
  return header_mac(header, file_key, header.mac);
}

Status check_header(const Header& header, const uint8_t file_key[file_key_bytes]) {
  Secret<uint8_t[mac_bytes]> mac;
  const Status status = header_mac(header, file_key, *mac);
  if (status != STOCKADE_OK) return status;
  return equal_constant_time(*mac, header.mac, mac_bytes) ? STOCKADE_OK : STOCKADE_ERROR_HEADER_MAC;
}

}  // namespace stockade::format
