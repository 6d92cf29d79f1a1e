// Damaged chunks in words.
#pragma once

#include <cstdint>
#include <string>

namespace stockade::cmd {

// "chunks 3 to 5 damaged: bytes 49152 to 98303 of the plaintext", for `count` neighbouring chunks, of `length` bytes
// with their tags.
std::string damage_text(uint64_t chunk, uint64_t count, uint64_t length);

}  // namespace stockade::cmd
