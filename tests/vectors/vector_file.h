// Reader of the vector files; README.md beside it describes the format.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stockade/stockade.h"

namespace stockade::tests {

using Bytes = std::vector<uint8_t>;

enum class VectorMode { cipher, key_expansion };
enum class Procedure { direct, monte_carlo_encrypt, monte_carlo_decrypt };

struct Vector {
  int line = 0;  // of its first field
  std::string name;
  VectorMode kind = VectorMode::cipher;
  stockade_mode mode = STOCKADE_ECB;
  Procedure procedure = Procedure::direct;
  stockade_status result = STOCKADE_OK;
  bool padded = false;
  Bytes key, iv, aad, plaintext, ciphertext, tag, first_round_key, last_round_key;
};

struct VectorFile {
  std::string source;
  std::vector<Vector> vectors;
};

// The parsed text, or nothing and in `error` the line and what is wrong with it.
std::optional<VectorFile> parse_vectors(std::string_view text, std::string& error);

// The same for a file; one that cannot be read is an error too.
std::optional<VectorFile> load_vectors(const std::filesystem::path& path, std::string& error);

}  // namespace stockade::tests
