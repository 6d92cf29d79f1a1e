// What a Stockade file, or plain Cobblestone, begins with: header, salt and commitment, and the key that comes of them.
// FileStream, Reader and the jobs on descriptors all start here.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/fault.h"
#include "base/random.h"
#include "base/secret.h"
#include "base/status.h"
#include "chunked/payload.h"
#include "format/recipient.h"

namespace stockade::format {

// What stockade_format says, with its handles resolved.
struct FileFormat {
  const Keyring* keyring = nullptr;  // null: plain Cobblestone
  Bytes key, context;
  stockade_cipher cipher = STOCKADE_COBBLESTONE_256;
  bool armor = false;
  uint32_t max_work_factor = 0;
};

// NO_IDENTITY, SCRYPT_NOT_ALONE (to make a file), KEY_LENGTH, MODE, ARGUMENT.
Status check_format(const FileFormat& format, stockade_direction direction);

struct Beginning {
  Secret<chunked::PayloadKey> key;
  Secret<uint8_t[file_key_bytes]> file_key;  // zeros for plain Cobblestone
  stockade_cipher cipher = STOCKADE_COBBLESTONE_256;
  uint64_t header_length = 0;
  uint64_t length() const { return header_length + chunked::preamble_bytes; }
};

// The key of a Stockade file's payload from its file key, its cipher and the payload's salt. LIBRARY, and those of a bad
// environment.
Status derive_from_file_key(Beginning& beginning, Bytes salt);

// Draws what is random, in this order: file key, what its stanzas need, payload salt. `bytes` is what the file begins
// with. RANDOM, LIBRARY, MEMORY, and those of check_format.
Status make_beginning(const FileFormat& format, RandomSource& random, Beginning& beginning,
                      std::vector<uint8_t>& bytes);

// Whether bytes (as many as there are) are an armored file, or could become one.
bool looks_armored(Bytes bytes);
bool may_be_armored(Bytes bytes);

// Opens what a file begins with, which may arrive in pieces: no byte of a header is looked at twice, and no key is tried before
// all of the beginning is there.
class BeginningOpener {
 public:
  // `bytes` is the file from its beginning, at least as much of it as in the call before. TRUNCATED if it ends too early; more
  // bytes may follow. Once enough bytes are there, the outcome does not depend on how many more there are. After another
  // status nothing more may be asked.
  Status open(const FileFormat& format, Bytes bytes, Beginning& beginning, stockade_fault& fault);

 private:
  HeaderParser parser_;
};

// The same in one call.
Status open_beginning(const FileFormat& format, Bytes bytes, Beginning& beginning, stockade_fault& fault);
// The same where the file key is known from elsewhere and only the header's MAC is to be checked.
Status open_beginning_with(const uint8_t file_key[file_key_bytes], Bytes bytes, Header& header, Beginning& beginning,
                           stockade_fault& fault);

}  // namespace stockade::format
