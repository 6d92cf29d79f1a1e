// GCM (SP 800-38D) over whole messages and ranges of messages.
#pragma once

#include <cstdint>

#include "base/status.h"
#include "gcm/gcm_variants.h"

namespace stockade::gcm {

inline constexpr uint64_t max_message_bytes = (uint64_t{1} << 36) - 32;  // §5.2.1.1
inline constexpr uint64_t max_aad_bytes = (uint64_t{1} << 61) - 1;

// The owner wipes it.
struct Key {
  const Variant* variant;
  uint32_t bits;
  aes::Schedule schedule;
  HashKey hash_key;
  uint8_t h[16];  // the hash subkey in the standard's byte order, for combining partial hashes
};

// KEY_LENGTH.
Status expand(Key& key, const Variant* variant, const uint8_t* bytes, uint64_t length);

// IV_LENGTH, TAG_LENGTH, DATA_TOO_LONG.
Status check(uint64_t iv_length, uint64_t aad_length, uint64_t length, uint64_t tag_length);

// §7.1 step 2: the pre-counter block of an IV of any length.
void derive_j0(const Key& key, const uint8_t* iv, uint64_t iv_length, uint8_t j0[16]);

// The counter block of data block `block` (from 0): inc32(j0) + block in the low 32 bits.
void counter_at(const uint8_t j0[16], uint64_t block, uint8_t counter[16]);

// Seals or opens the bytes that start at block `first_block` and adds them to the hash `y`. A partial last block, zero
// padded for the hash, is allowed at the end of the message only.
void run_range(const Key& key, stockade_direction direction, const uint8_t j0[16], uint64_t first_block, uint8_t y[16],
               const uint8_t* in, uint8_t* out, uint64_t length, aes::Stores stores);

// y = GHASH continued over `length` bytes, zero padded to whole blocks.
void hash_padded(const Key& key, uint8_t y[16], const uint8_t* in, uint64_t length);

// y = y·H^blocks ^ part: puts the hash of a later range of `blocks` blocks (started from zero) behind y.
void append_hash(const Key& key, uint8_t y[16], const uint8_t part[16], uint64_t blocks);

// The full tag from the hash of AAD and ciphertext: lengths, last multiplication, E(J0).
void finish_tag(const Key& key, const uint8_t j0[16], const uint8_t y[16], uint64_t aad_length, uint64_t length,
                uint8_t tag[16]);

// One whole message on the calling thread; writes the full 16-byte tag of the ciphertext and compares nothing.
void run_message(const Key& key, stockade_direction direction, const uint8_t* iv, uint64_t iv_length,
                 const uint8_t* aad, uint64_t aad_length, const uint8_t* in, uint64_t length, uint8_t* out,
                 uint8_t tag[16], aes::Stores stores);

}  // namespace stockade::gcm
