// How a raw key comes in, and how it leaves no copy behind.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "secret_bytes.h"

namespace stockade::cmd {

// The value of --key, taken out of argv before anything else copies it and overwritten there with asterisks, so that it is
// no longer seen in the process list. `size` may be above `digits.size()`: then it was too long to keep.
struct KeyArgument {
  bool given = false;
  size_t size = 0;
  SecretBytes digits;
};
void take_key_argument(int argc, char** argv, KeyArgument& argument);

// The key of `length` bytes for `cipher`, which messages name: "... but aes-128-ctr takes a key of 16 bytes". Both throw
// Failure.
void key_from_argument(const KeyArgument& argument, size_t length, std::string_view cipher, SecretBytes& key);
// `path` holds exactly `length` raw bytes, or their hex digits with at most one line end after them; "-" is stdin.
void key_from_file(const std::string& path, size_t length, std::string_view cipher, SecretBytes& key);

}  // namespace stockade::cmd
