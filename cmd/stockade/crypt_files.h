// What 'encrypt' and 'decrypt' share: from their options to the finished files.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "command_line.h"
#include "keyring_input.h"
#include "output_names.h"
#include "plan_file.h"
#include "run_options.h"
#include "stockade/stockade.h"

namespace stockade::cmd {

// The command line as it was written; absent where it was not.
struct CryptLine {
  stockade_direction direction = STOCKADE_ENCRYPT;
  KeyOptions keys;
  std::optional<std::string> cipher;  // to encrypt
  bool armor = false;                 // to encrypt
  std::optional<std::string> range;   // to decrypt
  OutputChoice output;
  std::vector<std::string> inputs;
  bool force = false, resume = false, accept_changed_input = false;
  std::optional<std::string> resume_key;  // to encrypt
  std::optional<std::string> part;
  bool check = false;  // with a part: read back what is done
  PlanOptions plan;
  RunOptions run;

  bool decrypting() const { return direction == STOCKADE_DECRYPT; }
  Purpose purpose() const { return decrypting() ? Purpose::decrypt : Purpose::encrypt; }

  // The options of both; they stand apart so that the verb's own can stand between.
  void declare_files(Command& command);
  void declare_parts(Command& command);
};

// Throws Failure.
void run_crypt(const CryptLine& line);

}  // namespace stockade::cmd
