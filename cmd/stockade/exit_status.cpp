#include "exit_status.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>

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
    case STOCKADE_ERROR_WORK_FACTOR:
    case STOCKADE_ERROR_RSA_SIZE:
    case STOCKADE_ERROR_RSA_MODULUS:
    case STOCKADE_ERROR_RSA_EXPONENT:
    case STOCKADE_ERROR_RSA_FACTORS:
    case STOCKADE_ERROR_RSA_PRIME:
    case STOCKADE_ERROR_RSA_PRIVATE_EXPONENT:
    case STOCKADE_ERROR_RSA_CRT:
    case STOCKADE_ERROR_KEY_FILE:
    case STOCKADE_ERROR_KEY_TYPE:
    case STOCKADE_ERROR_KEY_NOT_PRIVATE:
    case STOCKADE_ERROR_MESSAGE_LENGTH:
      return Exit::usage;
    case STOCKADE_ERROR_DATA_LENGTH:
      return direction == STOCKADE_DECRYPT ? Exit::corrupt : Exit::usage;
    case STOCKADE_ERROR_SCRYPT_NOT_ALONE:
      // In a keyring to encrypt for, or in a header that was read.
      return direction == STOCKADE_DECRYPT ? Exit::corrupt : Exit::usage;
    case STOCKADE_ERROR_TOO_MANY_CHUNKS:
      return direction == STOCKADE_DECRYPT ? Exit::corrupt : Exit::usage;
    case STOCKADE_ERROR_PADDING:
    case STOCKADE_ERROR_AUTHENTICATION:
    case STOCKADE_ERROR_MAGIC:
    case STOCKADE_ERROR_VERSION:
    case STOCKADE_ERROR_CIPHER:
    case STOCKADE_ERROR_HEADER_TOO_LONG:
    case STOCKADE_ERROR_HEADER:
    case STOCKADE_ERROR_HEADER_MAC:
    case STOCKADE_ERROR_COMMITMENT:
    case STOCKADE_ERROR_TRUNCATED:
    case STOCKADE_ERROR_CHUNK:
    case STOCKADE_ERROR_TRAILING_DATA:
    case STOCKADE_ERROR_ARMOR:
    case STOCKADE_ERROR_RSA_LENGTH:
    case STOCKADE_ERROR_RSA_RANGE:
    case STOCKADE_ERROR_DECRYPTION:
    case STOCKADE_ERROR_SIGNATURE:
      return Exit::corrupt;
    case STOCKADE_ERROR_NO_IDENTITY:
    case STOCKADE_ERROR_PASSPHRASE:
    case STOCKADE_ERROR_PASSPHRASE_NEEDED:
      return Exit::no_key;
    case STOCKADE_ERROR_UNAVAILABLE:
    case STOCKADE_ERROR_DEVICE:
    case STOCKADE_ERROR_DEVICE_MEMORY:
    case STOCKADE_ERROR_DEVICE_POINTER:
    case STOCKADE_ERROR_FORKED:
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
    case STOCKADE_ERROR_RANDOM:
    case STOCKADE_ERROR_JOURNAL:
    case STOCKADE_ERROR_LIBRARY:
    case STOCKADE_ERROR_RSA_FAULT:
    case STOCKADE_ERROR_MISMATCH:
    case STOCKADE_ERROR_MPI:
    case STOCKADE_ERROR_INCOMPLETE:
      return Exit::io;
  }
  return Exit::io;
}

Exit graver(Exit a, Exit b) {
  const auto gravity = [](Exit exit) {
    constexpr Exit order[] = {Exit::ok, Exit::usage, Exit::io, Exit::unavailable, Exit::no_key, Exit::corrupt};
    return std::find(std::begin(order), std::end(order), exit) - std::begin(order);
  };
  return gravity(a) < gravity(b) ? b : a;
}

std::vector<std::string> environment_in_force() {
  std::vector<std::string> variables;
  for (const char* name : {"STOCKADE_FORCE", "STOCKADE_MASK", "STOCKADE_THREADS", "OMP_NUM_THREADS", "STOCKADE_DEVICES",
                           "STOCKADE_PROFILE"}) {
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
  1    a file cannot be read or written or changed meanwhile, a journal or plan is
       of another job, parts are missing, or memory or random numbers ran out
  2    wrong usage: options, key, IV or input that do not fit; a refused overwrite
  3    the input is damaged, cut off, no Stockade file, or was made with another
       key: bad tag, bad padding, wrong signature
  4    no matching key, or a wrong passphrase
  5    a row, an engine or a GPU that was asked for cannot run on this machine, or
       a GPU failed at it
  130  interrupted (128 + signal); no output file is left, as after any failure,
       but for what --resume goes on with
With several files, the gravest of 3, 4, 5, 1 and 2, in this order.)";

}  // namespace stockade::cmd
