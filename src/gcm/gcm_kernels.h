// The contract between GCM rows and everything that calls them; the same rules as aes/aes_kernels.h.
#pragma once

#include <cstdint>

#include "aes/aes_kernels.h"

namespace stockade::gcm {

// Powers of the hash subkey H = E(0) (SP 800-38D §6.3), in the layout of the row that made them.
struct alignas(64) HashKey {
  uint8_t bytes[1088];
};

// H and its powers from the schedule.
using InitFn = void (*)(const aes::Schedule& schedule, HashKey& hash_key);
// SP 800-38D §6.4: Y = (Y ^ X_1)·H, ... over whole blocks; `y` is in the standard's byte order.
using GhashFn = void (*)(const HashKey& hash_key, uint8_t y[16], const uint8_t* in, uint64_t blocks);
// CTR with a 32-bit counter (inc32, §6.2) fused with GHASH of the ciphertext, whole blocks. `counter` is the block for the
// first 16 bytes and is left at the next; `y` as for GhashFn. `open` hashes `in`, `seal` hashes `out`.
using CryptFn = void (*)(const aes::Schedule& schedule, const HashKey& hash_key, uint8_t counter[16], uint8_t y[16],
                         const uint8_t* in, uint8_t* out, uint64_t blocks, aes::Stores stores);
struct Kernels {
  aes::ExpandFn expand;
  aes::EcbFn ecb_encrypt;  // for E(J0) and partial blocks
  InitFn init;
  GhashFn ghash;
  CryptFn seal, open;
  aes::RoundKeysFn round_keys;
};

extern const Kernels kernels_portable;
extern const Kernels kernels_aesni;
extern const Kernels kernels_vaes256;
extern const Kernels kernels_vaes512;

}  // namespace stockade::gcm
