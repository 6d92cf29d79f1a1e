#include "file_failure.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>

#include "side_file.h"
#include "ui.h"
#include "values.h"

namespace stockade::cmd {
namespace {

// Write errors that no read gives.
bool is_write_error(int error) {
  return error == ENOSPC || error == EDQUOT || error == EFBIG || error == EPIPE || error == EROFS;
}

Failure no_identity(const FileContext& context) {
  std::vector<std::string> hints;
  if (context.head != nullptr && context.head->header) {
    hints.push_back("the file is for " + listed(recipient_texts(*context.head)));
    if (context.head->has_passphrase()) hints.push_back("give the passphrase with -p or --passphrase-file");
  }
  if (!context.key_ids.empty()) {
    hints.push_back(
        fmt::format("{} given: {}", context.key_ids.size() == 1 ? "the key" : "the keys", listed(context.key_ids)));
  }
  const char* what = context.key_ids.empty() ? "what was given does not open" : "no key that was given opens";
  return {Exit::no_key, fmt::format("{} {}", what, context.input), hints};
}

Failure work_factor(const stockade_fault& fault, const FileContext& context) {
  std::string hint = fmt::format("if you trust it: --max-work-factor {}", fault.value);
  // N blocks of 128 * r bytes, r being 8.
  hint += fmt::format(", which takes {} of memory", ui::power_text(static_cast<uint32_t>(fault.value) + 10));
  return {Exit::usage, fmt::format("{}: {}", context.input, fault_text(fault)), {hint}};
}

// Where the output is a pipe or a terminal, the chunks before are out already.
std::vector<std::string> damage_hints(const stockade_fault& fault, const FileContext& context) {
  if (context.output != "standard output" || fault.chunk == UINT64_MAX || fault.chunk == 0) return {};
  return {"what has been written is authentic, but not the whole"};
}

// A header that is damaged beside what an interrupted rekey has left.
std::vector<std::string> header_hints(const FileContext& context) {
  const std::string& shown = context.input;
  if (context.direction != STOCKADE_DECRYPT || shown.size() < 3 || shown.front() != '\'') return {};
  const std::string copy = beside(shown.substr(1, shown.size() - 2), "stockade-header");
  struct stat found {};
  if (lstat(copy.c_str(), &found) != 0) return {};
  return {
      fmt::format("an interrupted rekey has left '{}': 'stockade rekey --restore' with the same keys puts the old "
                  "header back",
                  copy)};
}

}  // namespace

const char device_hint[] = "--engine hybrid goes on with the CPU where a GPU fails";

std::string fault_text(const stockade_fault& fault) {
  char text[256];
  return stockade_fault_text(&fault, text, sizeof text) == STOCKADE_OK ? text : stockade_status_text(fault.status);
}

Failure io_failure(int error, const std::string& input, const std::string& output) {
  const std::string reason = ui::system_text(error);
  if (output.empty()) return {Exit::io, fmt::format("cannot read {}: {}", input, reason)};
  if (is_write_error(error)) return {Exit::io, fmt::format("cannot write {}: {}", output, reason)};
  return {Exit::io, fmt::format("cannot read {} or write {}: {}", input, output, reason)};
}

Failure file_failure(const stockade_fault& fault, int error, const FileContext& context) {
  const Exit exit = exit_for(fault.status, context.direction);
  switch (fault.status) {
    case STOCKADE_ERROR_IO:
      return io_failure(error, context.input, context.output);
    case STOCKADE_ERROR_INPUT_CHANGED:
      return {exit, fmt::format("{} changed while it was read", context.input)};
    case STOCKADE_ERROR_NO_IDENTITY:
      return no_identity(context);
    case STOCKADE_ERROR_PASSPHRASE:
      return {exit, fmt::format("the passphrase does not open {}", context.input)};
    case STOCKADE_ERROR_WORK_FACTOR:
      return work_factor(fault, context);
    case STOCKADE_ERROR_MEMORY:
      return {exit, "out of memory"};
    // Only the environment can have named these.
    case STOCKADE_ERROR_UNKNOWN_NAME:
    case STOCKADE_ERROR_UNAVAILABLE:
      return environment_failure(fault.status);
    case STOCKADE_ERROR_TRUNCATED:
    case STOCKADE_ERROR_CHUNK:
    case STOCKADE_ERROR_TRAILING_DATA:
      return {exit, fmt::format("{}: {}", context.input, fault_text(fault)), damage_hints(fault, context)};
    case STOCKADE_ERROR_MAGIC:
    case STOCKADE_ERROR_HEADER:
    case STOCKADE_ERROR_HEADER_MAC:
    case STOCKADE_ERROR_CIPHER:
    case STOCKADE_ERROR_SCRYPT_NOT_ALONE:
    case STOCKADE_ERROR_HEADER_TOO_LONG:
      return {exit, fmt::format("{}: {}", context.input, fault_text(fault)), header_hints(context)};
    case STOCKADE_ERROR_DEVICE:
    case STOCKADE_ERROR_DEVICE_MEMORY:
    case STOCKADE_ERROR_FORKED:
      return {exit, fmt::format("{}: {}", context.input, fault_text(fault)), {device_hint}};
    default:
      return {exit, fmt::format("{}: {}", context.input, fault_text(fault))};
  }
}

}  // namespace stockade::cmd
