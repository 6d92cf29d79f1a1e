// The names that --cipher takes.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "stockade/stockade.h"

namespace stockade::cmd {

struct Cipher {
  std::string name;  // "aes-256-gcm"
  stockade_mode mode;
  uint32_t bits;
  // Bytes of key: an XTS key is two.
  size_t key_length() const { return bits / 8 * (mode == STOCKADE_XTS ? 2 : 1); }
  bool pads() const { return mode == STOCKADE_ECB || mode == STOCKADE_CBC; }
};

// Every one that exists, by mode, then key size.
std::span<const Cipher> ciphers();

// Letters of either case. Throws Failure (usage), which lists what exists and what may have been meant.
const Cipher& parse_cipher(std::string_view text);

}  // namespace stockade::cmd
