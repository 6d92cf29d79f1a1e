// The payload: C2SP chunked encryption (c2sp.org/chunked-encryption), instances Cobblestone-256 and Cobblestone-128.
//   key || base nonce || commitment = HKDF-Expand(SHA-512, input key, label || AEAD || 0x00 || salt || context)
//   payload = salt || commitment || chunk 0 || chunk 1 || ...
// Chunk k is AES-GCM over 16,384 bytes of plaintext, the last chunk over fewer (maybe none), without associated data,
// under the nonce base XOR k. So every chunk can be sealed and opened by itself, from its index alone.
#pragma once

#include <cstdint>

#include "base/bytes.h"
#include "base/secret.h"
#include "base/status.h"
#include "gcm/gcm.h"

namespace stockade::chunked {

inline constexpr uint64_t chunk_bytes = STOCKADE_CHUNK_BYTES;
inline constexpr uint64_t tag_bytes = 16;
inline constexpr uint64_t sealed_chunk_bytes = STOCKADE_SEALED_CHUNK_BYTES;
inline constexpr uint64_t salt_bytes = 24;
inline constexpr uint64_t commitment_bytes = 32;
inline constexpr uint64_t preamble_bytes = STOCKADE_PREAMBLE_BYTES;
inline constexpr uint64_t max_chunks = uint64_t{1} << 38;
static_assert(sealed_chunk_bytes == chunk_bytes + tag_bytes && preamble_bytes == salt_bytes + commitment_bytes);

// What all chunks of a payload share. Lives in Secret<>.
struct PayloadKey {
  gcm::Key gcm;
  uint8_t base_nonce[12];
  uint8_t preamble[preamble_bytes];  // salt || commitment, as the payload begins
};

// 32 or 16.
uint64_t input_key_bytes(stockade_cipher cipher);

// KEY_LENGTH, LIBRARY, and those of a bad environment.
Status derive_payload_key(PayloadKey& key, stockade_cipher cipher, Bytes input_key, Bytes salt, Bytes context);

// Writes length + tag_bytes bytes. Constant-time in key and data, like all below.
void seal_chunk(const PayloadKey& key, uint64_t index, const uint8_t* in, uint64_t length, uint8_t* out);

// Opens `length` bytes, tag included, at least tag_bytes. False if the tag is wrong; then `out` is wiped.
bool open_chunk(const PayloadKey& key, uint64_t index, const uint8_t* in, uint64_t length, uint8_t* out);

// The same without the plaintext.
bool check_chunk(const PayloadKey& key, uint64_t index, const uint8_t* in, uint64_t length);

// Seals `length` bytes from chunk `first` on, cut into chunks of chunk_bytes. `last` says that the payload ends here: then
// a chunk of fewer bytes, maybe none, is made of the rest; else `length` is whole chunks. Returns the bytes written.
uint64_t seal_chunks(const PayloadKey& key, uint64_t first, const uint8_t* in, uint64_t length, bool last,
                     uint8_t* out);
// Bytes that seal_chunks writes.
uint64_t sealed_length(uint64_t length, bool last);

// A chunk is looked for in a payload from behind its preamble.
inline constexpr uint64_t chunk_offset(uint64_t index) { return preamble_bytes + index * sealed_chunk_bytes; }

// Bytes of plaintext in a payload of that length. TRUNCATED, TOO_MANY_CHUNKS.
Status plaintext_length(uint64_t payload_length, uint64_t* length);
// Its number of chunks, for a length that plaintext_length accepts.
inline constexpr uint64_t chunk_count(uint64_t payload_length) {
  return (payload_length - preamble_bytes) / sealed_chunk_bytes + 1;
}

// For `length` bytes that are no chunk: whether they begin with a last chunk that something follows, and where it ends
// (tag included). Tells appended data from damage; takes about a millisecond. 0 if not.
uint64_t find_end(const PayloadKey& key, uint64_t index, const uint8_t* in, uint64_t length);

}  // namespace stockade::chunked
