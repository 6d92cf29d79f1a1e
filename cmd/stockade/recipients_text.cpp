#include "recipients_text.h"

#include <algorithm>

namespace stockade::cmd {
namespace {

// Of the key that a text begins with: its PEM block, or a line.
size_t key_length(std::string_view text) {
  size_t end = 0;
  if (text.starts_with("-----BEGIN ")) end = std::min(text.find("-----END "), text.size());
  return std::min(text.find('\n', end), text.size() - 1) + 1;
}

bool is_skipped(std::string_view line) {
  const size_t first = line.find_first_not_of(" \t\r\n");
  return first == std::string_view::npos || line[first] == '#';
}

}  // namespace

std::vector<RecipientText> split_recipients(std::string_view file) {
  std::vector<RecipientText> keys;
  for (size_t line = 1; !file.empty();) {
    const std::string_view key = file.substr(0, key_length(file));
    file.remove_prefix(key.size());
    if (!is_skipped(key)) keys.push_back({line, key});
    line += static_cast<size_t>(std::count(key.begin(), key.end(), '\n'));
  }
  return keys;
}

}  // namespace stockade::cmd
