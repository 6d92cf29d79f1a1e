// What went wrong with a file, in words: the status and fault of the library, with the names of the files and with hints.
#pragma once

#include <string>
#include <vector>

#include "exit_status.h"
#include "file_head.h"
#include "stockade/stockade.h"

namespace stockade::cmd {

// "cannot write 'out': no space left on device". `error` is errno.
Failure io_failure(int error, const std::string& input, const std::string& output);

struct FileContext {
  stockade_direction direction;
  std::string input;                 // for messages, as is `output`
  std::string output;                // empty where nothing is written
  const FileHead* head = nullptr;    // where known, says whom the file is for
  std::vector<std::string> key_ids;  // of the keys that were tried
};

// `error` is errno, for STOCKADE_ERROR_IO.
Failure file_failure(const stockade_fault& fault, int error, const FileContext& context);

// What to do where a GPU has failed.
extern const char device_hint[];

// The library's sentence for it.
std::string fault_text(const stockade_fault& fault);

}  // namespace stockade::cmd
