// Part of a message, over the workers of an engine.
#pragma once

#include <cstdint>

#include "cipher/key.h"
#include "config/environment.h"
#include "offload/executor.h"

namespace stockade::cipher {

// Part of a message, from a block boundary on: `chain` belongs to its first block and is left for the block behind it.
// Only the end of a message may have a length that is no multiple of 16 (XTS: and is then at least 17 long). Engines of the
// CPU cannot fail here. With `cuda`: MODE for what must be done block after block, UNAVAILABLE, DEVICE, DEVICE_MEMORY, MEMORY,
// FORKED; `out` is then all zeros, or as it was where nothing had been written.
Status crypt_span(const aes::Key& key, stockade_direction direction, uint8_t chain[16], const uint8_t* in, uint8_t* out,
                  uint64_t length, const config::EngineChoice& engine);

// The same for GCM, from data block `first_block`; the ciphertext is added to the hash `y`.
Status gcm_span(const gcm::Key& key, stockade_direction direction, const uint8_t j0[16], uint64_t first_block,
                uint8_t y[16], const uint8_t* in, uint8_t* out, uint64_t length, const config::EngineChoice& engine);

// Messages are cut at multiples of this: whole cache lines and whole steps of every kernel.
inline constexpr uint64_t granule_bytes = 16 * aes::block_bytes;
// Long messages are cut into more pieces than there are workers, for those are never equally fast and do not begin at the
// same moment.
inline constexpr uint64_t piece_bytes = uint64_t{128} << 10;
// In-place decryption of CBC and CFB keeps one block per piece from before the work, on the stack.
inline constexpr uint64_t max_kept_chains = 512;

inline uint64_t granules(uint64_t length, uint64_t granule) { return length < granule ? 1 : length / granule; }

// `length` bytes cut at multiples of `granule`, nearly equal; the last piece takes the incomplete granule too, so that
// it is never shorter than a granule unless it is all there is.
struct Pieces {
  uint64_t length, granule, count, each, longer;

  Pieces(uint64_t length_, uint64_t granule_, uint64_t workers, uint64_t target = piece_bytes);
  uint64_t begin(uint64_t piece) const {
    return piece == count ? length : (piece * each + (piece < longer ? piece : longer)) * granule;
  }
};

// A message that is cut at granules, as the tuning profile knows it.
template <typename Key>
parallel::Task task_of(stockade_mode mode, const Key& key, uint64_t length, bool splits, bool in_place) {
  return {operation_of(mode), key.bits, length, splits ? granules(length, granule_bytes) : 1, in_place};
}

// The key for the slots of a executor that has any.
template <typename Key>
void prepare(const offload::Executor& executor, const Key& key, offload::DeviceKey& device_key) {
  if (executor.slots() != 0) offload::make_device_key(key, device_key);
}

// Half of an output is no output: on an error it is wiped, if anything was written. Before that there is nothing to take back,
// and an input in its place stays.
Status finish_pieces(Status status, bool begun, uint8_t* out, uint64_t length);

}  // namespace stockade::cipher
