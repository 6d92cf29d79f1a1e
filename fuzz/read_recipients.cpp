// Any bytes as a recipients file: every line is a key, part of one, or passed over as empty or a comment, so nobody who is
// named is left out in silence; and what is taken for a key, the library accepts or refuses with a status of its contract.
#include <algorithm>
#include <cstdlib>
#include <string_view>

#include "recipients_text.h"
#include "stockade/stockade.h"

namespace {

void require(bool condition) {
  if (!condition) std::abort();
}

bool is_passed_over(std::string_view line) {
  const size_t first = line.find_first_not_of(" \t\r");
  return first == std::string_view::npos || line[first] == '#';
}

void check_passed_over(std::string_view lines) {
  while (!lines.empty()) {
    const size_t end = std::min(lines.find('\n'), lines.size());
    require(is_passed_over(lines.substr(0, end)));
    lines.remove_prefix(std::min(end + 1, lines.size()));
  }
}

void add(std::string_view key) {
  stockade_keyring* ring = nullptr;
  require(stockade_keyring_create(&ring) == STOCKADE_OK);
  stockade_rsa_reading reading{};
  reading.struct_size = sizeof reading;
  char id[23] = "untouched";
  const stockade_status status = stockade_keyring_add_rsa_public(ring, key.data(), key.size(), &reading, id);
  switch (status) {
    case STOCKADE_OK:
      require(std::string_view(id).size() == 22);
      break;
    case STOCKADE_ERROR_RSA_SIZE:
    case STOCKADE_ERROR_RSA_MODULUS:
    case STOCKADE_ERROR_RSA_EXPONENT:
    case STOCKADE_ERROR_KEY_FILE:
    case STOCKADE_ERROR_TRUNCATED:
    case STOCKADE_ERROR_TRAILING_DATA:
    case STOCKADE_ERROR_KEY_TYPE:
    case STOCKADE_ERROR_PASSPHRASE_NEEDED:
      break;
    default:
      require(false);
  }
  stockade_keyring_free(ring);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view file(reinterpret_cast<const char*>(data), size);
  size_t end = 0, line = 1;
  for (const auto& key : stockade::cmd::split_recipients(file)) {
    const size_t begin = static_cast<size_t>(key.text.data() - file.data());
    require(begin >= end && !key.text.empty() && begin + key.text.size() <= file.size());
    check_passed_over(file.substr(end, begin - end));
    line += static_cast<size_t>(
        std::count(file.begin() + static_cast<long>(end), file.begin() + static_cast<long>(begin), '\n'));
    require(line == key.line);
    line += static_cast<size_t>(std::count(key.text.begin(), key.text.end(), '\n'));
    end = begin + key.text.size();
    require(end == file.size() || key.text.back() == '\n');
    add(key.text);
  }
  check_passed_over(file.substr(end));
  return 0;
}
