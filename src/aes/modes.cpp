#include "aes/modes.h"

#include <algorithm>

#include "aes/aes_cuda.h"
#include "base/bytes.h"
#include "base/field128.h"
#include "base/secret.h"

namespace stockade::aes {

namespace {

// in ^ E(chain) for the `length` < 16 bytes that end a message (SP 800-38A §6.3 to §6.5).
void xor_last_block(const Key& key, const uint8_t chain[16], const uint8_t* in, uint8_t* out, uint64_t length) {
  Secret<uint8_t[16]> key_stream;
  key.variant->kernels->ecb_encrypt(key.data, chain, *key_stream, 1, Stores::ordinary);
  xor_bytes(out, in, *key_stream, length);
}

// IEEE 1619 §5.3.2 and §5.4.2: the last whole block and the `rest` bytes behind it. `tweak` belongs to the whole block.
// Encryption uses the tweaks in their order, decryption the second one first.
void steal(const Key& key, Direction direction, uint8_t tweak[16], const uint8_t* in, uint8_t* out, uint64_t rest) {
  const Kernels& kernels = *key.variant->kernels;
  Secret<uint8_t[16]> block;
  Secret<uint8_t[32]> result;
  if (direction == STOCKADE_ENCRYPT) {
    kernels.xts_encrypt(key.data, tweak, in, *block, 1, Stores::ordinary);
  } else {
    Secret<uint8_t[16]> second;
    store_xts(*second, times_x(load_xts(tweak)));
    kernels.xts_decrypt(key.data, *second, in, *block, 1, Stores::ordinary);
  }
  std::memcpy(*result + 16, *block, rest);
  std::memcpy(*block, in + 16, rest);
  const auto last = direction == STOCKADE_ENCRYPT ? kernels.xts_encrypt : kernels.xts_decrypt;
  last(key.data, tweak, *block, *result, 1, Stores::ordinary);
  std::memcpy(out, *result, 16 + rest);
}

void run_xts(const Key& key, Direction direction, uint8_t tweak[16], const uint8_t* in, uint8_t* out, uint64_t length,
             Stores stores) {
  const uint64_t rest = length % block_bytes;
  const uint64_t blocks = length / block_bytes - (rest != 0);
  const Kernels& kernels = *key.variant->kernels;
  const auto run = direction == STOCKADE_ENCRYPT ? kernels.xts_encrypt : kernels.xts_decrypt;
  run(key.data, tweak, in, out, blocks, stores);
  if (rest != 0) steal(key, direction, tweak, in + blocks * block_bytes, out + blocks * block_bytes, rest);
}

void run_chained(const Key& key, Direction direction, Range& range, uint64_t blocks, Stores stores) {
  const Kernels& kernels = *key.variant->kernels;
  const bool cbc = key.mode == STOCKADE_CBC;
  if (direction == STOCKADE_ENCRYPT) {
    kernels.sequential(cbc ? Chain::cbc_encrypt : Chain::cfb_encrypt, key.data, range.chain, range.in, range.out,
                       blocks);
  } else {
    const auto run = cbc ? kernels.cbc_decrypt : kernels.cfb_decrypt;
    run(key.data, range.chain, range.in, range.out, blocks, stores);
  }
}

}  // namespace

Status expand(Key& key, const Variant* variant, Mode mode, const uint8_t* bytes, uint64_t length) {
  const bool xts = mode == STOCKADE_XTS;
  const uint64_t half = xts ? length / 2 : length;
  if (xts ? length != 32 && length != 64 : half != 16 && half != 24 && half != 32) return STOCKADE_ERROR_KEY_LENGTH;
  if (xts && equal_constant_time(bytes, bytes + half, half)) return STOCKADE_ERROR_WEAK_KEY;
  key.variant = variant;
  key.mode = mode;
  key.bits = static_cast<uint32_t>(8 * half);
  key.gpu_ctr = &gpu_ctr_variants()[0];
  variant->kernels->expand(bytes, static_cast<uint32_t>(half), key.data);
  if (xts) variant->kernels->expand(bytes + half, static_cast<uint32_t>(half), key.tweak);
  return STOCKADE_OK;
}

bool splits(Mode mode, Direction direction) {
  if (mode == STOCKADE_CBC || mode == STOCKADE_CFB) return direction == STOCKADE_DECRYPT;
  return mode != STOCKADE_OFB;
}

void start_chain(const Key& key, const uint8_t iv[16], uint64_t first_block, const uint8_t* previous,
                 uint8_t chain[16]) {
  switch (key.mode) {
    case STOCKADE_ECB:
      std::memset(chain, 0, block_bytes);
      return;
    case STOCKADE_XTS:
      key.variant->kernels->ecb_encrypt(key.tweak, iv, chain, 1, Stores::ordinary);
      break;
    case STOCKADE_CBC:
    case STOCKADE_CFB:
      std::memcpy(chain, first_block == 0 ? iv : previous, block_bytes);
      return;
    default:
      std::memcpy(chain, iv, block_bytes);
  }
  skip_blocks(key.mode, chain, first_block);
}

void skip_blocks(Mode mode, uint8_t chain[16], uint64_t blocks) {
  if (blocks == 0) return;
  if (mode == STOCKADE_CTR) add_be128(chain, blocks);
  if (mode == STOCKADE_XTS) store_xts(chain, multiply(load_xts(chain), power_of_x(blocks)));
}

void run_range(const Key& key, Direction direction, Range& range, Stores stores) {
  const Kernels& kernels = *key.variant->kernels;
  const uint64_t blocks = range.length / block_bytes;
  switch (key.mode) {
    case STOCKADE_ECB: {
      const auto run = direction == STOCKADE_ENCRYPT ? kernels.ecb_encrypt : kernels.ecb_decrypt;
      return run(key.data, range.in, range.out, blocks, stores);
    }
    case STOCKADE_XTS:
      return run_xts(key, direction, range.chain, range.in, range.out, range.length, stores);
    case STOCKADE_CTR:
      kernels.ctr(key.data, range.chain, range.in, range.out, blocks, stores);
      break;
    case STOCKADE_OFB:
      kernels.sequential(Chain::ofb, key.data, range.chain, range.in, range.out, blocks);
      break;
    default:
      run_chained(key, direction, range, blocks, stores);
  }
  const uint64_t done = blocks * block_bytes;
  if (done != range.length) {
    xor_last_block(key, range.chain, range.in + done, range.out + done, range.length - done);
  }
}

void run_units(const Key& key, Direction direction, const uint8_t number[16], uint64_t unit, const uint8_t* in,
               uint8_t* out, uint64_t length, Stores stores) {
  // One block at a time would leave the core waiting for each tweak; several at once cost little more than one.
  constexpr uint64_t batch = 32;
  Secret<uint8_t[batch][block_bytes]> tweaks;
  uint8_t next[16];
  std::memcpy(next, number, sizeof next);
  while (length != 0) {
    const uint64_t units = std::min(batch, (length - 1) / unit + 1);
    for (uint64_t i = 0; i < units; ++i) {
      std::memcpy((*tweaks)[i], next, sizeof next);
      add_le128(next, 1);
    }
    key.variant->kernels->ecb_encrypt(key.tweak, (*tweaks)[0], (*tweaks)[0], units, Stores::ordinary);
    for (uint64_t i = 0; i < units; ++i) {
      const uint64_t bytes = std::min(unit, length);
      run_xts(key, direction, (*tweaks)[i], in, out, bytes, stores);
      in += bytes;
      out += bytes;
      length -= bytes;
    }
  }
}

}  // namespace stockade::aes
