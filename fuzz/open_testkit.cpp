// Any bytes as a file of the testkit, head and all: however the data is cut into pieces, the status is the same and so is the
// plaintext, but that a call that fails releases nothing of what it was given.
#include <cstdlib>
#include <string>
#include <string_view>

#include "testkit_file.h"

namespace {

using namespace stockade::testkit;

void require(bool condition) {
  if (!condition) std::abort();
}

// The full check of a private key takes longer than all the rest.
std::optional<std::string> no_identity(const std::string&) { return std::nullopt; }

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  std::string error;
  const auto item = parse_case(text, error);
  require(item || !error.empty());
  if (!item) return 0;
  const Keyring ring = make_keyring(*item, no_identity, error);
  require(ring != nullptr || !error.empty());
  if (ring == nullptr) return 0;
  stockade_format format = make_format(*item, ring.get());
  // A cost that a fuzzer can pay.
  if (format.max_work_factor == 0 || format.max_work_factor > 6) format.max_work_factor = 6;
  const Outcome whole = push(*item, format, item->data.size() + 1);
  const Outcome pieces = push(*item, format, 1 + item->data.size() / 16 + size % 61);
  require(whole.status == pieces.status && pieces.plaintext.starts_with(whole.plaintext));
  require(whole.status != STOCKADE_OK || whole.plaintext == pieces.plaintext);
  return 0;
}
