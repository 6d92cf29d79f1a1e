#include "exit_status.h"

#include <fmt/format.h>

#include <cstdlib>

#include "values.h"

namespace stockade::cmd {

Exit exit_for(stockade_status status, stockade_direction direction) {
  switch (status) {
    case STOCKADE_OK:
      return Exit::ok;
    case STOCKADE_ERROR_ARGUMENT:
    case STOCKADE_ERROR_KEY_LENGTH:
    case STOCKADE_ERROR_WEAK_KEY:
    case STOCKADE_ERROR_IV_LENGTH:
    case STOCKADE_ERROR_TAG_LENGTH:
    case STOCKADE_ERROR_DATA_TOO_LONG:
    case STOCKADE_ERROR_MODE:
    case STOCKADE_ERROR_UNKNOWN_NAME:
      return Exit::usage;
    case STOCKADE_ERROR_DATA_LENGTH:
      return direction == STOCKADE_DECRYPT ? Exit::corrupt : Exit::usage;
    case STOCKADE_ERROR_PADDING:
    case STOCKADE_ERROR_AUTHENTICATION:
      return Exit::corrupt;
    case STOCKADE_ERROR_UNAVAILABLE:
      return Exit::unavailable;
    case STOCKADE_ERROR_CANCELLED:
      return Exit::interrupted;
    case STOCKADE_ERROR_NULL_POINTER:
    case STOCKADE_ERROR_OVERLAP:
    case STOCKADE_ERROR_STATE:
    case STOCKADE_ERROR_OUTPUT_SIZE:
    case STOCKADE_ERROR_IO:
    case STOCKADE_ERROR_INPUT_CHANGED:
    case STOCKADE_ERROR_MEMORY:
      return Exit::io;
  }
  return Exit::io;
}

std::vector<std::string> environment_in_force() {
  std::vector<std::string> variables;
  for (const char* name : {"STOCKADE_FORCE", "STOCKADE_MASK", "STOCKADE_THREADS", "OMP_NUM_THREADS"}) {
    if (const char* value = std::getenv(name)) variables.push_back(fmt::format("{}={}", name, value));
  }
  return variables;
}

Failure environment_failure(stockade_status status) {
  std::vector<std::string> hints;
  if (status == STOCKADE_ERROR_UNAVAILABLE) {
    hints.push_back("'stockade info', without STOCKADE_FORCE, says which rows this machine can run and why");
  } else if (status == STOCKADE_ERROR_UNKNOWN_NAME) {
    hints.push_back("'stockade info', without these variables, lists the rows, the engines and the instruction sets");
  }
  const std::string text = stockade_status_text(status);
  const auto variables = environment_in_force();
  if (variables.empty()) return Failure(exit_for(status), text, hints);
  return Failure(exit_for(status), fmt::format("{}: {}", joined(variables, " "), text), hints);
}

const char exit_status_help[] =
    R"(exit status:
  0    done: the whole input was processed and the output is complete
  1    a file cannot be read or written, or memory ran out
  2    wrong usage: options, key, IV or input that do not fit; a refused overwrite
  3    the input is damaged or was made with another key: bad tag, bad padding
  4    no matching key
  5    a row or engine that was asked for cannot run on this machine
  130  interrupted (128 + signal); no output file is left, as after any failure)";

}  // namespace stockade::cmd
