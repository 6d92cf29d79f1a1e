// GCM (SP 800-38D) on a GPU: what the host prepares, and the operations. All data pointers are device memory; every
// call queues kernels in a stream and returns, allocates nothing and waits for nothing. Pointers may have any
// alignment, 16-byte aligned ones are fast. Constant-time in key and data but for lengths.
#pragma once

#include <cstdint>

#include "aes/aes_cuda.h"
#include "base/field128.h"
#include "base/status.h"
#include "gcm/gcm.h"
#include "gpu/launch.h"

namespace stockade::gcm {

// An element of the field as GPUs hold it: the block's bytes as four big-endian words, so that the coefficient of x^k
// (SP 800-38D §6.3) is bit 31 - k % 32 of word k / 32.
struct alignas(16) Element {
  uint32_t w[4];
};

// Powers of the hash subkey H: power[64·d + i] = H^(i·64^d) for digits i < 64 of an exponent, the last digit d = 3
// below 16. A secret; passed to kernels by value.
struct GpuHashKey {
  static constexpr uint32_t digit_bits = 6;
  Element power[3 * 64 + 16];
  Element inverse;  // 1 / H, or 0 for H = 0
};
inline constexpr uint64_t max_table_exponent = (uint64_t{1} << 22) - 1;

// Everything that a kernel needs to know of a key. Lives in Secret<>.
struct GpuKey {
  aes::RoundKeys encrypt;
  GpuHashKey hash;
};

// The powers of a hash subkey in the standard's byte order. Constant-time.
void gpu_prepare(const uint8_t h[16], GpuHashKey& hash);
// All of it. Constant-time.
void gpu_prepare(const Key& key, GpuKey& gpu_key);

Element element_of(Field128 a);
Field128 field_of(const Element& element);
// H^exponent, also for a negative one; time depends on the exponent.
Element hash_power(const GpuHashKey& hash, int64_t exponent);

// What one message's nonce makes: the pre-counter block and its encryption. Lives in Secret<>.
struct MessageStart {
  uint8_t j0[16];
  uint8_t mask[16];
};
void start_message(const Key& key, const uint8_t* iv, uint64_t iv_length, MessageStart& start);

// One message. `in`, `out` and `aad` are device pointers; out == in is allowed.
struct GpuMessage {
  const uint8_t* in;
  uint8_t* out;
  uint64_t length;
  const uint8_t* aad;
  uint64_t aad_length;
  uint8_t* tag;         // written when sealing, read when opening
  uint32_t tag_length;  // 12 to 16
};

// Launch shapes of the parts: what may be tuned without changing a result.
struct GpuShapes {
  gpu::Shape ctr, hash, chunks;  // `chunks` is for batches too; hash, chunks: blocks_per_thread has no meaning
  uint64_t tensor_blocks;        // from how many blocks on the tensor cores hash, where there are such
};
// The policy row for a compute capability, for messages of `length` bytes.
GpuShapes default_shapes(uint32_t key_bytes, uint32_t capability, uint64_t length = UINT64_MAX);

// The chunks of a Cobblestone payload (chunked/payload.h): `count` of them from number `first` on, chunk_bytes of
// plaintext each, the last one `last_length` <= chunk_bytes. Plaintext is packed; sealed chunks are each followed by
// their 16-byte tag and packed as well. Not in place.
inline constexpr uint32_t gpu_chunk_bytes = STOCKADE_CHUNK_BYTES;
struct GpuChunks {
  const uint8_t* in;
  uint8_t* out;
  uint64_t first, count;
  uint32_t last_length;
  uint8_t base_nonce[12];
  uint32_t* refused;  // opening: `count` words, 0 for an authentic chunk; the plaintext of others is zeros
};

// One message of a batch; lies in device memory. A secret.
struct GpuBatchMessage {
  Element h;
  uint8_t j0[16];  // derive_j0
  aes::RoundKeys encrypt;
  GpuMessage message;
};
void describe_message(const Key& key, const uint8_t* iv, uint64_t iv_length, const GpuMessage& message,
                      GpuBatchMessage& described);

struct GpuKernels {
  // Bytes of device memory (16-byte aligned) that seal and open work in; the same for every length.
  // It holds secrets of the message afterwards.
  uint64_t (*workspace_bytes)(const gpu::Queue& queue);
  // The ciphertext to message.out, the tag to message.tag.
  Status (*seal)(const gpu::Queue& queue, const GpuShapes& shapes, const GpuKey& key, const MessageStart& start,
                 const GpuMessage& message, void* workspace);
  // Leaves 0 in *refused (device memory) and the plaintext in message.out, or something else and zeros: no part of the
  // plaintext is written before the tag has been found right.
  Status (*open)(const gpu::Queue& queue, const GpuShapes& shapes, const GpuKey& key, const MessageStart& start,
                 const GpuMessage& message, uint32_t* refused, void* workspace);
  Status (*seal_chunks)(const gpu::Queue& queue, const GpuShapes& shapes, const GpuKey& key, const GpuChunks& chunks);
  Status (*open_chunks)(const gpu::Queue& queue, const GpuShapes& shapes, const GpuKey& key, const GpuChunks& chunks);
  // `count` messages, each by one warp, with keys of any lengths. Messages of similar length should be neighbours.
  // Opening leaves a word for each in `refused` as open does.
  Status (*seal_batch)(const gpu::Queue& queue, const GpuShapes& shapes, const GpuBatchMessage* messages,
                       uint64_t count);
  Status (*open_batch)(const gpu::Queue& queue, const GpuShapes& shapes, const GpuBatchMessage* messages,
                       uint64_t count, uint32_t* refused);
};

extern const GpuKernels gpu_kernels_cuda;
extern const GpuKernels gpu_kernels_emulated;  // on host memory, for tests

}  // namespace stockade::gcm
