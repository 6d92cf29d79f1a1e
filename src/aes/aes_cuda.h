// AES on a GPU, as its host sees it: round keys, the kernels' entry points and their launch shapes. Plain C++; the same
// entry points exist twice, on a GPU (aes_cuda.cu) and in the emulator (aes_emulated.cpp, for tests).
//
// Common to all entry points. `in`, `out`, `workspace` and `refused` are device memory; keys, counters, initialisation
// vectors and unit numbers are host memory and are read before the call returns. `in` and `out` may be the same pointer or
// must not overlap, and need no alignment: at multiples of 16 bytes (both) they are fast, else the data moves byte by byte.
// Length 0 launches nothing. Work is put into the queue's stream; nothing is allocated and nothing waits. No result depends
// on the shape. There is no secret-dependent branch, and the one kind of secret-dependent address is that of the tables in
// shared memory, where every lane has a copy in a bank of its own (aes_table.h). DEVICE if a launch is refused; XTS:
// DATA_LENGTH if a unit is shorter or longer than may be.
#pragma once

#include <cstdint>
#include <span>

#include "base/status.h"
#include "gpu/launch.h"

namespace stockade::aes {

// Round keys in the order in which rounds use them, four words each, words with their first byte in the low bits (FIPS 197
// §5.2). Those for decryption are of the equivalent inverse cipher (§5.3.5). Kernels take them by value, so that they are
// operands from the constant bank. A secret: whoever makes one wipes it.
struct RoundKeys {
  uint32_t word[60];
  uint32_t rounds;  // 10, 12, 14
};

// 16, 24 or 32 bytes of key. Constant-time.
void gpu_expand(const uint8_t* key, uint32_t key_bytes, RoundKeys& encrypt, RoundKeys& decrypt);

// How far a counter block counts: as one 128-bit big-endian number (SP 800-38A appendix B.1), or in its last 32 bits alone
// (inc32 of SP 800-38D §6.2). Both wrap.
enum class CounterWidth : uint32_t { bits32 = 32, bits128 = 128 };

enum class GpuOperation : uint32_t {
  ecb_encrypt,
  ecb_decrypt,
  ctr,
  cbc_decrypt,
  cfb_decrypt,
  xts_encrypt,
  xts_decrypt
};

// out = in ^ E(counter), E(counter + 1), ... for any `length`. If `refused` is not null and the word there is not 0 when the
// kernel runs, zeros are written instead and `in` is not read.
using GpuCtrFn = Status (*)(const gpu::Queue& queue, const gpu::Shape& shape, const RoundKeys& encrypt,
                            const uint8_t counter[16], CounterWidth width, const uint8_t* in, uint8_t* out,
                            uint64_t length, const uint32_t* refused);
// SP 800-38A §6.1: every block by itself; `length` is a multiple of 16. `keys` are those of the direction.
using GpuEcbFn = Status (*)(const gpu::Queue& queue, const gpu::Shape& shape, const RoundKeys& keys, const uint8_t* in,
                            uint8_t* out, uint64_t length);
// SP 800-38A §6.2 (`keys` for decryption, `length` a multiple of 16) and §6.3 with whole blocks of feedback (`keys` for
// encryption, any length). `workspace`: gpu_workspace_bytes, at a multiple of 16; touched in place only.
using GpuChainedFn = Status (*)(const gpu::Queue& queue, const gpu::Shape& shape, const RoundKeys& keys,
                                const uint8_t iv[16], const uint8_t* in, uint8_t* out, uint64_t length,
                                uint8_t* workspace);
// IEEE 1619 §5.3 and §5.4, with ciphertext stealing, over data units of `unit` bytes (16 to 2^24) in a row. The last may
// be shorter, but not under 16 bytes. `number` is the 128-bit little-endian number of the first; the next have the next
// numbers. `data` are keys of the direction, `tweak` those for encryption always. `workspace`: gpu_workspace_bytes, at a
// multiple of 16.
using GpuXtsFn = Status (*)(const gpu::Queue& queue, const gpu::Shape& shape, const RoundKeys& data,
                            const RoundKeys& tweak, const uint8_t number[16], uint64_t unit, const uint8_t* in,
                            uint8_t* out, uint64_t length, uint8_t* workspace);

struct GpuKernels {
  GpuEcbFn ecb_encrypt, ecb_decrypt;
  GpuCtrFn ctr;
  GpuChainedFn cbc_decrypt, cfb_decrypt;
  GpuXtsFn xts_encrypt, xts_decrypt;
  GpuCtrFn ctr_bitsliced;  // the same function without any table (aes_bitslice_launch.h has its shape)
};

// Counter mode has two implementations. The first is what keys have unless another is asked for by name.
struct GpuCtrVariant {
  const char* name;
  GpuCtrFn GpuKernels::*ctr;
  // For a device of that compute capability and a message of that length.
  gpu::Shape (*shape)(uint32_t capability, uint64_t length);
};
std::span<const GpuCtrVariant> gpu_ctr_variants();

extern const GpuKernels gpu_kernels_cuda;      // where CUDA is built in
extern const GpuKernels gpu_kernels_emulated;  // in tests

// Device memory that an operation on `length` bytes needs; 0 for most. `unit`: XTS only. It holds secrets of the message
// afterwards (XTS: encrypted unit numbers).
uint64_t gpu_workspace_bytes(GpuOperation operation, const gpu::Queue& queue, const gpu::Shape& shape, uint64_t length,
                             uint64_t unit);

// The shape that a device of this compute capability (90 for 9.0) is given where nothing better is known. `length` in bytes
// counts for CTR alone, so what gpu_workspace_bytes says does not depend on it.
gpu::Shape default_shape(GpuOperation operation, uint32_t capability, uint64_t length = UINT64_MAX);

}  // namespace stockade::aes
