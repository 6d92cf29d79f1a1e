// The header at the beginning of a Stockade file, read without a key.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "handles.h"
#include "input_file.h"
#include "stockade/stockade.h"

namespace stockade::cmd {

// One stanza of a header other than its padding.
struct Recipient {
  std::string kind;          // "key", "rsa-oaep-sha256", "scrypt", or one that this program does not know
  std::string id;            // of a key; empty for a passphrase
  uint32_t work_factor = 0;  // of a passphrase: log2 N
  std::string text() const;  // "key BvMCBRzzCno", "RSA key ...", "a passphrase"
};

struct FileHead {
  stockade_status status = STOCKADE_ERROR_TRUNCATED;  // OK: `header` is there
  stockade_fault fault{};
  HeaderHandle header;
  bool armored = false;

  std::vector<Recipient> recipients() const;
  bool has_passphrase() const;
  uint64_t length() const { return stockade_header_length(header.get()); }
};

// Each recipient as Recipient::text() has it.
std::vector<std::string> recipient_texts(const FileHead& head);

// What `bytes`, the beginning of a file, say. Status TRUNCATED if they end before the header does.
FileHead parse_head(std::span<const uint8_t> bytes);

// Leaves the input as it is. Status TRUNCATED also where the input shows too little of itself.
FileHead read_head(const Input& input);

// "cobblestone-256"
const char* cipher_name(stockade_cipher cipher);
// Nothing means the default. Throws Failure (usage).
stockade_cipher parse_file_cipher(const std::optional<std::string>& text);

}  // namespace stockade::cmd
