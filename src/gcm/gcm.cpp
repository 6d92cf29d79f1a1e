#include "gcm/gcm.h"

#include <cstring>

#include "base/bytes.h"
#include "base/field128.h"
#include "base/secret.h"

namespace stockade::gcm {

namespace {

constexpr uint64_t block_bytes = 16;

}  // namespace

Status expand(Key& key, const Variant* variant, const uint8_t* bytes, uint64_t length) {
  if (length != 16 && length != 24 && length != 32) return STOCKADE_ERROR_KEY_LENGTH;
  key.variant = variant;
  key.bits = static_cast<uint32_t>(8 * length);
  const Kernels& kernels = *variant->kernels;
  kernels.expand(bytes, static_cast<uint32_t>(length), key.schedule);
  kernels.init(key.schedule, key.hash_key);
  const uint8_t zero[block_bytes] = {};
  kernels.ecb_encrypt(key.schedule, zero, key.h, 1, aes::Stores::ordinary);
  return STOCKADE_OK;
}

Status check(uint64_t iv_length, uint64_t aad_length, uint64_t length, uint64_t tag_length) {
  if (iv_length == 0 || iv_length > max_aad_bytes) return STOCKADE_ERROR_IV_LENGTH;
  if (tag_length < 12 || tag_length > 16) return STOCKADE_ERROR_TAG_LENGTH;
  return length > max_message_bytes || aad_length > max_aad_bytes ? STOCKADE_ERROR_DATA_TOO_LONG : STOCKADE_OK;
}

void derive_j0(const Key& key, const uint8_t* iv, uint64_t iv_length, uint8_t j0[16]) {
  if (iv_length == 12) {
    uint32_t last;
    std::memcpy(&last, iv + 8, 4);
    store_words(j0, load_le64(iv), last | uint64_t{1} << 56);
    return;
  }
  std::memset(j0, 0, block_bytes);
  hash_padded(key, j0, iv, iv_length);
  uint8_t lengths[block_bytes] = {};
  store_be64(lengths + 8, 8 * iv_length);
  key.variant->kernels->ghash(key.hash_key, j0, lengths, 1);
}

void counter_at(const uint8_t j0[16], uint64_t block, uint8_t counter[16]) {
  const uint64_t second = load_be64(j0 + 8);
  const uint64_t low = static_cast<uint32_t>(second + 1 + block);
  store_words(counter, load_le64(j0), __builtin_bswap64((second & 0xffffffff00000000) | low));
}

void run_range(const Key& key, stockade_direction direction, const uint8_t j0[16], uint64_t first_block, uint8_t y[16],
               const uint8_t* in, uint8_t* out, uint64_t length, aes::Stores stores) {
  const Kernels& kernels = *key.variant->kernels;
  const bool opening = direction == STOCKADE_DECRYPT;
  uint8_t counter[block_bytes];
  counter_at(j0, first_block, counter);
  const uint64_t blocks = length / block_bytes;
  const auto crypt = opening ? kernels.open : kernels.seal;
  if (blocks != 0) crypt(key.schedule, key.hash_key, counter, y, in, out, blocks, stores);
  const uint64_t rest = length % block_bytes;
  if (rest == 0) return;
  in += blocks * block_bytes;
  out += blocks * block_bytes;
  Secret<uint8_t[block_bytes]> key_stream;
  kernels.ecb_encrypt(key.schedule, counter, *key_stream, 1, aes::Stores::ordinary);
  uint8_t ciphertext[block_bytes] = {};
  if (opening) std::memcpy(ciphertext, in, rest);
  xor_bytes(out, in, *key_stream, rest);
  if (!opening) std::memcpy(ciphertext, out, rest);
  kernels.ghash(key.hash_key, y, ciphertext, 1);
}

void hash_padded(const Key& key, uint8_t y[16], const uint8_t* in, uint64_t length) {
  const uint64_t blocks = length / block_bytes;
  if (blocks != 0) key.variant->kernels->ghash(key.hash_key, y, in, blocks);
  const uint64_t rest = length % block_bytes;
  if (rest == 0) return;
  uint8_t last[block_bytes] = {};
  std::memcpy(last, in + blocks * block_bytes, rest);
  key.variant->kernels->ghash(key.hash_key, y, last, 1);
}

void append_hash(const Key& key, uint8_t y[16], const uint8_t part[16], uint64_t blocks) {
  Secret<Field128> shifted;
  *shifted = multiply(load_gcm(y), power(load_gcm(key.h), blocks));
  store_gcm(y, add(*shifted, load_gcm(part)));
}

void finish_tag(const Key& key, const uint8_t j0[16], const uint8_t y[16], uint64_t aad_length, uint64_t length,
                uint8_t tag[16]) {
  const Kernels& kernels = *key.variant->kernels;
  uint8_t lengths[block_bytes];
  store_words(lengths, __builtin_bswap64(8 * aad_length), __builtin_bswap64(8 * length));
  Secret<uint8_t[block_bytes]> hash, mask;
  std::memcpy(*hash, y, block_bytes);
  kernels.ghash(key.hash_key, *hash, lengths, 1);
  kernels.ecb_encrypt(key.schedule, j0, *mask, 1, aes::Stores::ordinary);
  xor_bytes(tag, *hash, *mask, block_bytes);
}

void run_message(const Key& key, stockade_direction direction, const uint8_t* iv, uint64_t iv_length,
                 const uint8_t* aad, uint64_t aad_length, const uint8_t* in, uint64_t length, uint8_t* out,
                 uint8_t tag[16], aes::Stores stores) {
  Secret<uint8_t[block_bytes]> j0;
  derive_j0(key, iv, iv_length, *j0);
  Secret<uint8_t[block_bytes]> y;
  hash_padded(key, *y, aad, aad_length);
  run_range(key, direction, *j0, 0, *y, in, out, length, stores);
  finish_tag(key, *j0, *y, aad_length, length, tag);
}

}  // namespace stockade::gcm
