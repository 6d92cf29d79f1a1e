// What the command lines of raw encryption say: which mode, key and IV, and what went wrong with them in words.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cipher_names.h"
#include "command_line.h"
#include "exit_status.h"
#include "handles.h"
#include "input_file.h"
#include "key_input.h"
#include "run_options.h"
#include "stockade/stockade.h"

namespace stockade::cmd {

// The command line as it was written; absent where it was not.
struct RawLine {
  stockade_direction direction = STOCKADE_ENCRYPT;
  const KeyArgument* key = nullptr;
  std::optional<std::string> cipher, key_file, iv, aad, padding, data_unit, output, input;
  // take_key_argument has taken the value; what the parser finds in its place is of no use.
  std::optional<std::string> key_place;
  bool force = false;
  RunOptions run;

  // The options of the cipher; those of the files stand apart.
  void declare_cipher(Command& command);
};

// The same, read and checked.
struct RawJob {
  const Cipher* cipher;
  std::vector<uint8_t> iv, aad;
  stockade_padding padding = STOCKADE_PADDING_NONE;
  uint64_t unit = 0;
};

// All three throw Failure.
RawJob read_raw_line(const RawLine& line);
void read_raw_key(const RawLine& line, const Cipher& cipher, SecretBytes& bytes);
KeyHandle make_raw_key(const RawLine& line, const Cipher& cipher);

// Why no key could be made of bytes of the right length.
Failure raw_key_failure(stockade_status status);

// How a message of that length, or a long one where it is unknown (0), is run: in the library's words, with the reason
// after a colon.
std::string raw_plan_text(const stockade_key* key, stockade_direction direction, uint64_t length,
                          const stockade_engine* engine);

// `error` is errno, for STOCKADE_ERROR_IO.
Failure raw_failure(stockade_status status, int error, const RawLine& line, const RawJob& job, const Input& input,
                    const std::string& output_name);

// A part of the help.
extern const char raw_key_help[];

}  // namespace stockade::cmd
