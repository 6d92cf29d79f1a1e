// decrypt --range: some bytes out of the middle.
#pragma once

#include <cstdint>
#include <string>

#include "file_failure.h"
#include "input_file.h"
#include "stockade/stockade.h"
#include "ui.h"

namespace stockade::cmd {

struct Range {
  uint64_t offset = 0, length = 0;
};

// "OFF:LEN", sizes as of parse_size; without LEN to the end. Throws Failure (usage).
Range parse_range(const std::string& text);

struct RangeJob {
  const Input& input;
  const FileHead& head;
  const stockade_format& format;
  Range range;
  int out_fd;
  const FileContext& context;
  ui::Progress& progress;
  const stockade_engine* engine;
};

// Writes the bytes of the range. A regular file that is not armored is read where they are, and its last chunk, which
// proves its length; anything else from front to end. Throws Failure, (usage) for an offset beyond the end; a length beyond
// it is cut.
void decrypt_range(const RangeJob& job);

}  // namespace stockade::cmd
