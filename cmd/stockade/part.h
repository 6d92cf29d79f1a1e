// One part of a file that is made or opened in parts: 'encrypt --part' and 'decrypt --part'.
#pragma once

#include "crypt_files.h"

namespace stockade::cmd {

// What --part, --plan and --plan-key have to be, on a line that has one of them. Throws Failure.
void run_part(const CryptLine& line);

}  // namespace stockade::cmd
