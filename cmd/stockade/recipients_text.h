// The text of a recipients file: PEM blocks and ssh-rsa lines, one below the other.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

namespace stockade::cmd {

// One key's PEM block or line, with what ends it, and where it begins; the first line is 1.
struct RecipientText {
  size_t line;
  std::string_view text;
};

// The keys of a recipients file, in order. Lines that are empty or begin with # are passed over; a PEM block without an end
// goes on to the end of the file.
std::vector<RecipientText> split_recipients(std::string_view file);

}  // namespace stockade::cmd
