// The block modes over whole messages and ranges of messages: every parallel mode is a function of (key, block index,
// block), so any range of blocks can be done by anyone once its chain value is known.
#pragma once

#include <cstdint>

#include "aes/aes_variants.h"
#include "base/status.h"

namespace stockade::aes {

using Mode = stockade_mode;  // all but STOCKADE_GCM here
using Direction = stockade_direction;

inline constexpr uint64_t block_bytes = 16;
// SP 800-38E §4: a data unit has at most 2^20 blocks.
inline constexpr uint64_t max_unit_bytes = uint64_t{1} << 24;

// A schedule (XTS: two) with the row that made it. The owner wipes it.
struct GpuCtrVariant;

struct Key {
  const Variant* variant;
  Mode mode;
  uint32_t bits;  // 128, 192, 256
  Schedule data;
  Schedule tweak;                // XTS only
  const GpuCtrVariant* gpu_ctr;  // CTR on GPUs (aes_cuda.h)
};

// KEY_LENGTH, WEAK_KEY. The row has been chosen by the caller.
Status expand(Key& key, const Variant* variant, Mode mode, const uint8_t* bytes, uint64_t length);

// Length of IV and data as the mode demands them, without padding. IV_LENGTH; DATA_LENGTH, DATA_TOO_LONG.
inline Status check_iv(Mode mode, uint64_t iv_length) {
  return iv_length == (mode == STOCKADE_ECB ? 0 : block_bytes) ? STOCKADE_OK : STOCKADE_ERROR_IV_LENGTH;
}

inline Status check_length(Mode mode, uint64_t length) {
  if (mode == STOCKADE_XTS) {
    if (length > max_unit_bytes) return STOCKADE_ERROR_DATA_TOO_LONG;
    return length < block_bytes ? STOCKADE_ERROR_DATA_LENGTH : STOCKADE_OK;
  }
  const bool whole_blocks = mode == STOCKADE_ECB || mode == STOCKADE_CBC;
  return whole_blocks && length % block_bytes != 0 ? STOCKADE_ERROR_DATA_LENGTH : STOCKADE_OK;
}

// ECB, CTR, CBC- and CFB-decryption, XTS: may be split at block boundaries. Else one range from the start.
bool splits(Mode mode, Direction direction);

// A range of one message. `in` and `out` point at its first byte, `length` bytes, which start at block `first_block` of
// the message. Only the last range of a message may have a length that is no multiple of 16 (XTS: then at least 17, so
// that it holds the two blocks that share the ciphertext stealing, IEEE 1619 §5.3.2).
struct Range {
  const uint8_t* in;
  uint8_t* out;
  uint64_t length;
  uint8_t chain[16];  // counter, previous block or tweak that belongs to the range's first block; see start_chain
};

// The chain value for a range that starts at `first_block`: CTR: iv + first_block; XTS: E_tweak(iv)·a^first_block;
// CBC, CFB: the ciphertext block before it (`previous`, ignored for block 0, where it is the iv); OFB: the iv (block 0
// only). For in-place decryption all chains must be taken before any range is run.
void start_chain(const Key& key, const uint8_t iv[16], uint64_t first_block, const uint8_t* previous,
                 uint8_t chain[16]);

// CTR and XTS: moves a chain value on by `blocks`.
void skip_blocks(Mode mode, uint8_t chain[16], uint64_t blocks);

// Runs one range on the calling thread; `chain` is left ready for the next range if the length was a multiple of 16.
void run_range(const Key& key, Direction direction, Range& range, Stores stores);

// XTS data units in a row, `length` bytes in units of `unit`; the last may be shorter but not under 16 bytes. `number`
// is the 128-bit little-endian number of the first.
void run_units(const Key& key, Direction direction, const uint8_t number[16], uint64_t unit, const uint8_t* in,
               uint8_t* out, uint64_t length, Stores stores);

// One message of a sequential mode among many (SP 800-38A: CBC and CFB encryption, OFB).
struct StreamMessage {
  const Key* key;
  uint8_t iv[16];
  const uint8_t* in;
  uint8_t* out;
  uint64_t length;
};

// Runs `count` messages of one sequential mode, one row and one number of rounds side by side in the row's lanes, in
// their order; fastest where messages of like length stand together, longest first. Any lengths, partial last blocks for
// CFB and OFB.
void run_streams(Mode mode, Direction direction, StreamMessage* const* messages, uint64_t count);

}  // namespace stockade::aes
