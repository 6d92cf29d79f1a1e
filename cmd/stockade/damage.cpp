#include "damage.h"

#include <fmt/format.h>

#include <algorithm>

#include "stockade/stockade.h"

namespace stockade::cmd {

std::string damage_text(uint64_t chunk, uint64_t count, uint64_t length) {
  constexpr uint64_t tag_bytes = STOCKADE_SEALED_CHUNK_BYTES - STOCKADE_CHUNK_BYTES;
  const std::string chunks =
      count == 1 ? fmt::format("chunk {}", chunk) : fmt::format("chunks {} to {}", chunk, chunk + count - 1);
  const uint64_t bytes = length - std::min(length, count * tag_bytes);
  if (bytes == 0) return chunks + " damaged: no bytes of the plaintext, but its end";
  const uint64_t begin = chunk * STOCKADE_CHUNK_BYTES;
  return fmt::format("{} damaged: bytes {} to {} of the plaintext", chunks, begin, begin + bytes - 1);
}

}  // namespace stockade::cmd
