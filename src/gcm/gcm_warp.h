// GCM messages of one warp each, with AES tables in shared memory and GHASH by integer multiplications: batches of
// messages that have each its own key, and chunks where there are no tensor cores for them.
#pragma once

#include "aes/aes_table.h"
#include "gcm/ghash_kernels.h"

namespace stockade::gcm {

struct WarpMessage : GpuMessage {
  Element h;
  gpu::Quad j0;
  uint32_t* refused;  // null when sealing
};

STOCKADE_DEVICE uint64_t blocks_in(uint64_t length) { return length / 16 + (length % 16 != 0); }

// SP 800-38D §7.1 and §7.2 for one message by the calling warp.
//
// The blocks that are hashed - of the associated data, of the ciphertext, of the lengths - are dealt out one to a lane,
// 32 at a time, such that the last one comes to lane 31: zeros go in front. Lanes follow Horner's rule in H^32, and
// their sums are joined in pairs with H, H^2, ... H^16. Whoever has the block of the lengths encrypts J0 in the place
// of a counter.
template <aes::Layout layout, bool opening, typename Thread>
class WarpGcm {
 public:
  STOCKADE_DEVICE WarpGcm(const Thread& thread, const aes::RoundKeys& keys, const WarpMessage& message)
      : thread_(thread),
        keys_(keys),
        message_(message),
        lane_(aes::lane_offset(thread)),
        number_(thread.index % gpu::warp_lanes),
        aad_blocks_(blocks_in(message.aad_length)),
        data_blocks_(blocks_in(message.length)) {}

  STOCKADE_DEVICE void run() {
    Element stride = message_.h;
    STOCKADE_ROLLED
    for (uint32_t i = 0; i < 5; ++i) stride = square(stride);
    const uint64_t all = aad_blocks_ + data_blocks_ + 1;
    const uint64_t rounds = (all + gpu::warp_lanes - 1) / gpu::warp_lanes;
    uint64_t at = all + number_ - rounds * gpu::warp_lanes;  // from 2^63 up: zeros
    Element sum{};
    gpu::Quad mask{};
    STOCKADE_ROLLED
    for (uint64_t round = 0; round < rounds; ++round, at += gpu::warp_lanes) {
      const bool last = round + 1 == rounds;
      const gpu::Quad block = hashed_block(at, last, mask);
      sum = (round == 0 ? sum : multiply(sum, stride)) ^ element_from(block);
    }
    Element tag = multiply(join(sum), message_.h);
    STOCKADE_UNROLL
    for (uint32_t i = 0; i < 4; ++i) tag.w[i] ^= gpu::swap_bytes(thread_.shuffle(mask.w[i], 31));
    const uint32_t different = write_or_compare(thread_, tag, message_.tag, message_.tag_length, message_.refused);
    if (opening) release(different == 0);
  }

 private:
  // The block to be hashed at `at`; in sealing, it is made here. `mask` is E(J0) for lane 31 in the last round.
  STOCKADE_DEVICE gpu::Quad hashed_block(uint64_t at, bool last, gpu::Quad& mask) {
    const uint64_t block = at - aad_blocks_;
    const bool of_data = at < aad_blocks_ + data_blocks_ && at >= aad_blocks_;
    gpu::Quad data = of_data            ? load(message_.in, block, message_.length)
                     : at < aad_blocks_ ? load(message_.aad, at, message_.aad_length)
                                        : gpu::Quad{};
    if (!opening || last) {
      const bool of_lengths = at == aad_blocks_ + data_blocks_;
      const gpu::Quad stream = key_stream(of_lengths ? ~uint64_t{0} : block);
      if (of_lengths) mask = stream;
      if (!opening && of_data) {
        data = data ^ stream;
        data = store(block, data);
      }
    }
    if (at != aad_blocks_ + data_blocks_) return data;
    const uint64_t aad_bits = 8 * message_.aad_length, data_bits = 8 * message_.length;
    return quad_from({{static_cast<uint32_t>(aad_bits >> 32), static_cast<uint32_t>(aad_bits),
                       static_cast<uint32_t>(data_bits >> 32), static_cast<uint32_t>(data_bits)}});
  }

  // Of data block `block`; that of -1 is E(J0).
  STOCKADE_DEVICE gpu::Quad key_stream(uint64_t block) const {
    gpu::Quad counter = message_.j0;
    counter.w[3] = gpu::swap_bytes(gpu::swap_bytes(counter.w[3]) + static_cast<uint32_t>(block + 1));
    return aes::encrypt_block<layout>(thread_, keys_, counter, lane_);
  }

  STOCKADE_DEVICE gpu::Quad load(const uint8_t* data, uint64_t block, uint64_t length) const {
    const uint8_t* at = data + 16 * block;
    const uint64_t rest = length - 16 * block;
    if (rest >= 16 && (reinterpret_cast<uintptr_t>(at) & 15) == 0) return thread_.load_quad(at);
    return load_bytes(at, rest < 16 ? static_cast<uint32_t>(rest) : 16);
  }

  // Returns what was stored, with zeros behind the message's end.
  STOCKADE_DEVICE gpu::Quad store(uint64_t block, const gpu::Quad& quad) const {
    uint8_t* at = message_.out + 16 * block;
    const uint64_t rest = message_.length - 16 * block;
    if (rest >= 16 && (reinterpret_cast<uintptr_t>(at) & 15) == 0) {
      thread_.store_quad(at, quad);
      return quad;
    }
    const uint32_t count = rest < 16 ? static_cast<uint32_t>(rest) : 16;
    store_bytes(at, quad, count);
    gpu::Quad kept{};
    STOCKADE_UNROLL
    for (uint32_t i = 0; i < 16; ++i) {
      if (i < count) kept.w[i / 4] |= quad.w[i / 4] & 0xFFu << 8 * (i % 4);
    }
    return kept;
  }

  // Every lane's sum times H^(31 - lane), added up.
  STOCKADE_DEVICE Element join(Element sum) const {
    Element power = message_.h;
    STOCKADE_ROLLED
    for (uint32_t bit = 1; bit < gpu::warp_lanes; bit *= 2) {
      const Element other = shuffle_xor(thread_, sum, bit);
      const bool second = (number_ & bit) != 0;
      Element earlier, later;
      STOCKADE_UNROLL
      for (uint32_t i = 0; i < 4; ++i) {
        earlier.w[i] = second ? other.w[i] : sum.w[i];
        later.w[i] = second ? sum.w[i] : other.w[i];
      }
      sum = multiply(earlier, power) ^ later;
      power = square(power);
    }
    return sum;
  }

  // The plaintext, or zeros.
  STOCKADE_DEVICE void release(bool authentic) const {
    STOCKADE_ROLLED
    for (uint64_t block = number_; block < data_blocks_; block += gpu::warp_lanes) {
      gpu::Quad plain{};
      if (authentic) plain = load(message_.in, block, message_.length) ^ key_stream(block);
      store(block, plain);
    }
  }

  const Thread& thread_;
  const aes::RoundKeys& keys_;
  const WarpMessage message_;
  const uint32_t lane_, number_;
  const uint64_t aad_blocks_, data_blocks_;
};

// `count` messages with keys of their own (gcm_cuda.h: GpuBatchMessage); opening writes one word each to `refused`. A
// warp takes one after another. in == out is allowed. Constant-time but for lengths.
template <aes::Layout layout, bool opening>
struct BatchKernel {
  static constexpr uint32_t max_threads = 512;
  static constexpr uint32_t min_blocks = 1;
  static constexpr uint32_t shared_bytes = aes::table_bytes(layout);

  const GpuBatchMessage* messages;
  uint64_t count;
  uint32_t* refused;

  template <typename Thread>
  STOCKADE_DEVICE void operator()(const Thread& thread) const {
    aes::fill_tables<aes::Cipher::forward, layout>(thread);
    thread.sync_block();
    const uint32_t warps = thread.blocks * (thread.threads / gpu::warp_lanes);
    const uint32_t warp = (thread.block * thread.threads + thread.index) / gpu::warp_lanes;
    STOCKADE_ROLLED
    for (uint64_t i = warp; i < count; i += warps) {
      const GpuBatchMessage& m = messages[i];
      const WarpMessage message = {m.message, m.h, load_bytes(m.j0, 16), opening ? refused + i : nullptr};
      WarpGcm<layout, opening, Thread>(thread, m.encrypt, message).run();
    }
  }
};

// The nonce of a chunk as its pre-counter block: the base nonce XOR the index as 12 big-endian bytes, then 1.
STOCKADE_DEVICE gpu::Quad chunk_j0(const uint32_t (&base_nonce)[3], uint64_t index) {
  return {{base_nonce[0], base_nonce[1] ^ gpu::swap_bytes(static_cast<uint32_t>(index >> 32)),
           base_nonce[2] ^ gpu::swap_bytes(static_cast<uint32_t>(index)), gpu::swap_bytes(1)}};
}

// What both kernels for chunks are given.
struct ChunkArguments {
  aes::RoundKeys keys;
  uint32_t base_nonce[3];  // words as in memory
  uint32_t last_length;
  const uint8_t* in;
  uint8_t* out;
  uint64_t first, count;
  uint32_t* refused;  // null when sealing

  static constexpr uint32_t tag_bytes = 16;
  STOCKADE_DEVICE uint32_t length_of(uint64_t chunk) const {
    return chunk + 1 == count ? last_length : gpu_chunk_bytes;
  }
};

// Chunks of a payload (gcm_cuda.h: GpuChunks), a warp for each. Constant-time.
template <aes::Layout layout, bool opening>
struct ChunksKernel {
  static constexpr uint32_t max_threads = 512;
  static constexpr uint32_t min_blocks = 1;
  static constexpr uint32_t shared_bytes = aes::table_bytes(layout);

  ChunkArguments chunks;
  Element h;

  template <typename Thread>
  STOCKADE_DEVICE void operator()(const Thread& thread) const {
    aes::fill_tables<aes::Cipher::forward, layout>(thread);
    thread.sync_block();
    constexpr uint64_t plain_step = gpu_chunk_bytes, sealed_step = gpu_chunk_bytes + ChunkArguments::tag_bytes;
    const uint32_t warps = thread.blocks * (thread.threads / gpu::warp_lanes);
    const uint32_t warp = (thread.block * thread.threads + thread.index) / gpu::warp_lanes;
    STOCKADE_ROLLED
    for (uint64_t i = warp; i < chunks.count; i += warps) {
      const uint8_t* in = chunks.in + i * (opening ? sealed_step : plain_step);
      uint8_t* out = chunks.out + i * (opening ? plain_step : sealed_step);
      const uint32_t length = chunks.length_of(i);
      // The tag is read only when opening.
      uint8_t* tag = (opening ? const_cast<uint8_t*>(in) : out) + length;
      const WarpMessage message = {{in, out, length, nullptr, 0, tag, ChunkArguments::tag_bytes},
                                   h,
                                   chunk_j0(chunks.base_nonce, chunks.first + i),
                                   opening ? chunks.refused + i : nullptr};
      WarpGcm<layout, opening, Thread>(thread, chunks.keys, message).run();
    }
  }
};

}  // namespace stockade::gcm
