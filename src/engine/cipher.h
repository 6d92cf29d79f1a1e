// Messages under a key of any mode, distributed over an engine's workers: one at a time, many at once, or in pieces
// (engine/stream.h).
#pragma once

#include <cstdint>

#include "aes/modes.h"
#include "base/secret.h"
#include "config/environment.h"
#include "parallel/plan.h"
#include "gcm/gcm.h"

namespace stockade::engine {

// What stockade_key holds. Exactly one of the two is in use, by mode.
struct CipherKey {
  stockade_mode mode;
  uint32_t bits;
  union {
    aes::Key aes;
    gcm::Key gcm;
  };
  const char* row() const { return mode == STOCKADE_GCM ? gcm.variant->name : aes.variant->name; }
};

// Where the key's row stands in its table, below 16.
inline uint8_t row_number(const aes::Key& key) { return static_cast<uint8_t>(key.variant - aes::variants().data()); }
inline uint8_t row_number(const gcm::Key& key) { return static_cast<uint8_t>(key.variant - gcm::variants().data()); }
inline uint8_t row_number(const CipherKey& key) {
  return key.mode == STOCKADE_GCM ? row_number(key.gcm) : row_number(key.aes);
}

// KEY_LENGTH, WEAK_KEY, UNKNOWN_NAME, UNAVAILABLE. `force` as in stockade_key_create.
Status make_key(CipherKey& key, stockade_mode mode, const uint8_t* bytes, uint64_t length, const char* force);

// Who would run one message of `length` bytes. Of an engine with GPUs the plan names the most lanes that it would have.
parallel::Plan plan_message(const CipherKey& key, stockade_direction direction, uint64_t length, bool in_place,
                  const config::EngineChoice& engine);

// The one-message calls of stockade.h. Null pointers have been refused; everything else is checked here.
Status crypt(const CipherKey& key, stockade_direction direction, const uint8_t* iv, uint64_t iv_length,
             const uint8_t* in, uint64_t length, uint8_t* out, const config::EngineChoice& engine);
Status encrypt_padded(const CipherKey& key, const uint8_t* iv, uint64_t iv_length, const uint8_t* in, uint64_t length,
                      uint8_t* out, uint64_t out_size, uint64_t* out_length, const config::EngineChoice& engine);
Status decrypt_padded(const CipherKey& key, const uint8_t* iv, uint64_t iv_length, const uint8_t* in, uint64_t length,
                      uint8_t* out, uint64_t out_size, uint64_t* out_length, const config::EngineChoice& engine);
Status crypt_units(const CipherKey& key, stockade_direction direction, const uint8_t* iv, uint64_t iv_length,
                   uint64_t unit, const uint8_t* in, uint64_t length, uint8_t* out, const config::EngineChoice& engine);
Status seal(const CipherKey& key, const uint8_t* iv, uint64_t iv_length, const uint8_t* aad, uint64_t aad_length,
            const uint8_t* in, uint64_t length, uint8_t* out, uint8_t* tag, uint64_t tag_length, const config::EngineChoice& engine);
Status open(const CipherKey& key, const uint8_t* iv, uint64_t iv_length, const uint8_t* aad, uint64_t aad_length,
            const uint8_t* in, uint64_t length, uint8_t* out, const uint8_t* tag, uint64_t tag_length,
            const config::EngineChoice& engine);

// What crypt and crypt_many refuse in a message that is not GCM: MODE, IV_LENGTH, DATA_LENGTH, DATA_TOO_LONG, OVERLAP.
Status check_message(const CipherKey& key, const uint8_t* iv, uint64_t iv_length, const uint8_t* in, uint64_t length,
                     const uint8_t* out);

// What seal and open refuse: MODE, IV_LENGTH, TAG_LENGTH, DATA_TOO_LONG, OVERLAP.
Status check_sealed(const CipherKey& key, stockade_direction direction, const uint8_t* iv, uint64_t iv_length,
                    const uint8_t* aad, uint64_t aad_length, const uint8_t* in, uint64_t length, const uint8_t* out,
                    const uint8_t* tag, uint64_t tag_length);

// Part of a message, from a block boundary on: `chain` belongs to its first block and is left for the block behind it.
// Only the end of a message may have a length that is no multiple of 16 (XTS: and is then at least 17 long). Engines of the
// CPU cannot fail here. With `cuda`: MODE for what must be done block after block, UNAVAILABLE, DEVICE, DEVICE_MEMORY, MEMORY,
// FORKED; `out` is then all zeros, or as it was where nothing had been written.
Status crypt_span(const aes::Key& key, stockade_direction direction, uint8_t chain[16], const uint8_t* in, uint8_t* out,
                  uint64_t length, const config::EngineChoice& engine);

// The same for GCM, from data block `first_block`; the ciphertext is added to the hash `y`.
Status gcm_span(const gcm::Key& key, stockade_direction direction, const uint8_t j0[16], uint64_t first_block,
                uint8_t y[16], const uint8_t* in, uint8_t* out, uint64_t length, const config::EngineChoice& engine);

// stockade_encrypt_many and stockade_decrypt_many for the messages whose status is OK on entry, and which have a key
// and no null pointers; others are left alone. Writes each message's status. Engines of the CPU allocate nothing. With
// `cuda`, messages that must be done block after block end with MODE, and those that a device fails at with its status.
void crypt_many(stockade_direction direction, stockade_message* messages, uint64_t count, const config::EngineChoice& engine);

}  // namespace stockade::engine
