#include "key_input.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "exit_status.h"
#include "values.h"

namespace stockade::cmd {
namespace {

void take(char* value, KeyArgument& argument) {
  argument.given = true;
  argument.size = std::strlen(value);
  argument.digits.resize(std::min(argument.size, argument.digits.capacity()));
  std::memcpy(argument.digits.data(), value, argument.digits.size());
  // The C library's own wipe writes zeros, which would shorten the argument; the parser must still see one.
  explicit_bzero(value, argument.size);
  std::memset(value, '*', argument.size);
}

std::string wrong_length(std::string_view what, size_t found, std::string_view cipher, size_t length) {
  return fmt::format("{} holds {}, but {} takes a key of {} bytes ({} hex digits)", what, plural(found, "byte"), cipher,
                     length, 2 * length);
}

// Hex digits of a key of `length` bytes. Messages say where, never what.
void decode_key(std::string_view what, std::string_view digits, size_t length, std::string_view cipher,
                SecretBytes& key) {
  const size_t good = decode_hex(digits, {key.data(), key.capacity()});
  if (good < digits.size()) {
    throw Failure(Exit::usage, fmt::format("{}: character {} is not a hex digit", what, good + 1));
  }
  if (digits.size() % 2 != 0) {
    throw Failure(Exit::usage, fmt::format("{}: {} are not whole bytes", what, plural(digits.size(), "hex digit")));
  }
  if (digits.size() != 2 * length) throw Failure(Exit::usage, wrong_length(what, digits.size() / 2, cipher, length));
  key.resize(length);
}

bool all_hex(std::string_view text) {
  SecretBytes ignored;
  return decode_hex(text, {ignored.data(), ignored.capacity()}) == text.size();
}

}  // namespace

void take_key_argument(int argc, char** argv, KeyArgument& argument) {
  constexpr std::string_view name = "--key";
  for (int i = 1; i < argc && std::string_view(argv[i]) != "--"; ++i) {
    const std::string_view word = argv[i];
    if (word == name && i + 1 < argc) {
      take(argv[++i], argument);
    } else if (word.size() > name.size() && word.starts_with(name) && word[name.size()] == '=') {
      take(argv[i] + name.size() + 1, argument);
    }
  }
}

void key_from_argument(const KeyArgument& argument, size_t length, std::string_view cipher, SecretBytes& key) {
  if (argument.size > argument.digits.capacity()) {
    throw Failure(Exit::usage, wrong_length("--key", argument.size / 2, cipher, length));
  }
  decode_key("--key", argument.digits.text(), length, cipher, key);
}

void key_from_file(const std::string& path, size_t length, std::string_view cipher, SecretBytes& key) {
  const std::string what = fmt::format("the key file '{}'", path);
  SecretBytes content;
  read_secret_file(path, what, content);
  if (content.size() == content.capacity()) {
    throw Failure(Exit::usage, fmt::format("{} is too long: {} takes {} raw bytes or {} hex digits", what, cipher,
                                           length, 2 * length));
  }
  std::string_view text = content.text();
  if (text.size() == length && !all_hex(text)) {
    std::memcpy(key.data(), content.data(), length);
    key.resize(length);
    return;
  }
  text = without_line_end(text);
  // Digits alone are hex text whatever their number: as raw bytes they would be half a key that looks like a whole one.
  if (all_hex(text) && !text.empty()) return decode_key(what, text, length, cipher, key);
  if (text.size() == 2 * length) {
    // Hex text with a slip is likelier than raw bytes of twice the length: the message names the place.
    return decode_key(what, text, length, cipher, key);
  }
  throw Failure(Exit::usage, wrong_length(what, content.size(), cipher, length));
}

}  // namespace stockade::cmd
