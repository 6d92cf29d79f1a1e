// The contract between AES rows and everything that calls them. Kernel files include only this header, <cstdint> and
// intrinsics, so nothing here has a body that could be compiled with a kernel's instruction set.
//
// Common to all kernels: blocks are 16 bytes; `in` and `out` may be the same pointer or must not overlap; no alignment is
// required; `blocks` may be 0. Every row but `reference` is constant-time in key and data.
#pragma once

#include <cstdint>

namespace stockade::aes {

// A key schedule in the layout of the row that made it; only that row reads `bytes`.
struct alignas(64) Schedule {
  uint8_t bytes[960];
  uint32_t rounds;  // 10, 12 or 14 (FIPS 197 figure 4)
};

// How output leaves the core. `streaming` asks for non-temporal stores: for output larger than the caches, out of place.
// A kernel may ignore it (where `out` is not 16-byte aligned, for instance) and ends with a store fence if it does not.
enum class Stores : uint32_t { ordinary, streaming };

// The modes whose blocks depend on one another (SP 800-38A 6.2, 6.3, 6.4), in the direction that cannot be split.
enum class Chain : uint32_t { cbc_encrypt, cfb_encrypt, ofb };

// One message among several that a kernel works on side by side. The kernel advances nothing here but `chain`.
struct Lane {
  const Schedule* schedule;
  const uint8_t* in;
  uint8_t* out;
  uint8_t chain[16];  // CBC, CFB: the previous ciphertext block; OFB: the previous key stream block
};

// The most lanes any row asks for.
inline constexpr uint32_t max_lanes = 32;

// FIPS 197 §5.2 key expansion of 16, 24 or 32 key bytes, for both directions.
using ExpandFn = void (*)(const uint8_t* key, uint32_t key_bytes, Schedule& schedule);
// The 4·(rounds + 1) words w of FIPS 197 §5.2 that the schedule was made of, their first byte in the low bits; the rest of
// `words` is left alone. For engines whose kernels have a layout of their own. Constant-time in every row.
using RoundKeysFn = void (*)(const Schedule& schedule, uint32_t words[60]);
// SP 800-38A §6.1: out[i] = E(in[i]), or D.
using EcbFn = void (*)(const Schedule& schedule, const uint8_t* in, uint8_t* out, uint64_t blocks, Stores stores);
// One message of a sequential mode. `chain` is read and left as the next call needs it.
using SequentialFn = void (*)(Chain mode, const Schedule& schedule, uint8_t chain[16], const uint8_t* in, uint8_t* out,
                              uint64_t blocks);
// The same for `count` <= the row's lanes messages at once, each `blocks` long, all schedules with the same rounds.
using LanesFn = void (*)(Chain mode, Lane* lanes, uint32_t count, uint64_t blocks);
// CBC decryption (§6.2: out[i] = D(in[i]) ^ in[i-1]) and CFB-128 decryption (§6.3: out[i] = E(in[i-1]) ^ in[i]), where
// in[-1] is `chain`; `chain` is left as the last ciphertext block.
using ChainedFn = void (*)(const Schedule& schedule, uint8_t chain[16], const uint8_t* in, uint8_t* out,
                           uint64_t blocks, Stores stores);
// §6.5: out[i] = in[i] ^ E(counter + i), 128-bit big-endian with wrap; `counter` is left at counter + blocks.
using CtrFn = void (*)(const Schedule& schedule, uint8_t counter[16], const uint8_t* in, uint8_t* out, uint64_t blocks,
                       Stores stores);
// IEEE 1619 §5.3: out[i] = E(in[i] ^ T·a^i) ^ T·a^i, or D; `tweak` is the already encrypted T, left at T·a^blocks.
using XtsFn = void (*)(const Schedule& schedule, uint8_t tweak[16], const uint8_t* in, uint8_t* out, uint64_t blocks,
                       Stores stores);

struct Kernels {
  ExpandFn expand;
  EcbFn ecb_encrypt, ecb_decrypt;
  SequentialFn sequential;
  LanesFn lanes;
  ChainedFn cbc_decrypt, cfb_decrypt;
  CtrFn ctr;
  XtsFn xts_encrypt, xts_decrypt;
  RoundKeysFn round_keys;
};

// One definition in each row's own file; a row whose file is not compiled for this machine's architecture is not listed.
extern const Kernels kernels_reference;
extern const Kernels kernels_portable;
extern const Kernels kernels_aesni;
extern const Kernels kernels_vaes256;
extern const Kernels kernels_vaes512;

// Shared with the portable row of GCM (aes_portable.cpp).
void aes_expand_portable(const uint8_t* key, uint32_t key_bytes, Schedule& schedule);
void aes_round_keys_portable(const Schedule& schedule, uint32_t words[60]);
void aes_ecb_encrypt_portable(const Schedule& schedule, const uint8_t* in, uint8_t* out, uint64_t blocks,
                              Stores stores);

// FIPS 197 §5.2 for the GPU's rows (aes_gpu.cpp): the first 4·(rounds + 1) words, each with its first byte in the low bits.
void aes_expand_words_portable(const uint8_t* key, uint32_t key_bytes, uint32_t words[60]);

// Shared by the three rows on AES instructions (aes_aesni.cpp): the schedule is rounds + 1 encryption round keys of 16
// bytes from byte 0, then rounds + 1 keys of the equivalent inverse cipher (FIPS 197 §5.3.5) from byte 240.
void aes_expand_aesni(const uint8_t* key, uint32_t key_bytes, Schedule& schedule);
void aes_round_keys_aesni(const Schedule& schedule, uint32_t words[60]);
void aes_sequential_aesni(Chain mode, const Schedule& schedule, uint8_t chain[16], const uint8_t* in, uint8_t* out,
                          uint64_t blocks);
void aes_ecb_encrypt_aesni(const Schedule& schedule, const uint8_t* in, uint8_t* out, uint64_t blocks, Stores stores);
// Of vaes256, and of vaes512 up to 16 lanes: registers of two blocks have two AES units and the shorter chains. Sapphire
// Rapids, 16 messages of 16 KiB, AES-128-CBC: 13.9 GB/s, on four-block registers 12.7, on two-block registers with
// AVX-512's three-way exclusive-or 12.8.
void aes_lanes_vaes256(Chain mode, Lane* lanes, uint32_t count, uint64_t blocks);

}  // namespace stockade::aes
