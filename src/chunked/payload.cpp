#include "chunked/payload.h"

#include <algorithm>
#include <cstring>

#include "base/bytes.h"
#include "config/environment.h"
#include "gcm/gcm_variants.h"
#include "libcrypto/derive.h"

namespace stockade::chunked {
namespace {

constexpr std::string_view label = "c2sp.org/chunked-encryption@v1+";
constexpr uint64_t nonce_bytes = 12;
constexpr uint64_t block_bytes = 16;

std::string_view aead_name(stockade_cipher cipher) {
  return cipher == STOCKADE_COBBLESTONE_128 ? "AEAD_AES_128_GCM" : "AEAD_AES_256_GCM";
}

void chunk_nonce(const PayloadKey& key, uint64_t index, uint8_t nonce[nonce_bytes]) {
  std::memcpy(nonce, key.base_nonce, nonce_bytes);
  store_be64(nonce + 4, load_be64(nonce + 4) ^ index);
}

void tag_of(const PayloadKey& key, const uint8_t j0[block_bytes], const uint8_t* ciphertext, uint64_t length,
            uint8_t tag[tag_bytes]) {
  Secret<uint8_t[block_bytes]> y;
  gcm::hash_padded(key.gcm, *y, ciphertext, length);
  gcm::finish_tag(key.gcm, j0, *y, 0, length, tag);
}

}  // namespace

uint64_t input_key_bytes(stockade_cipher cipher) { return cipher == STOCKADE_COBBLESTONE_128 ? 16 : 32; }

Status derive_payload_key(PayloadKey& key, stockade_cipher cipher, Bytes input_key, Bytes salt, Bytes context) {
  const uint64_t key_bytes = input_key_bytes(cipher);
  if (input_key.size() != key_bytes) return STOCKADE_ERROR_KEY_LENGTH;
  constexpr uint8_t zero[1] = {0};
  const Bytes info[] = {bytes_of(label), bytes_of(aead_name(cipher)), zero, salt, context};
  Secret<uint8_t[32 + nonce_bytes + commitment_bytes]> derived;
  const uint64_t derived_bytes = key_bytes + nonce_bytes + commitment_bytes;
  Status status = libcrypto::hkdf_expand(input_key, info, {*derived, derived_bytes});
  if (status != STOCKADE_OK) return status;
  const config::Environment& asked = config::environment();
  const gcm::Variant* variant = nullptr;
  status = asked.status != STOCKADE_OK ? asked.status : gcm::choose(asked.gcm_row, asked.usable, &variant);
  if (status == STOCKADE_OK) status = gcm::expand(key.gcm, variant, *derived, key_bytes);
  if (status != STOCKADE_OK) return status;
  std::memcpy(key.base_nonce, *derived + key_bytes, nonce_bytes);
  std::memcpy(key.preamble, salt.data(), salt_bytes);
  std::memcpy(key.preamble + salt_bytes, *derived + key_bytes + nonce_bytes, commitment_bytes);
  return STOCKADE_OK;
}

void seal_chunk(const PayloadKey& key, uint64_t index, const uint8_t* in, uint64_t length, uint8_t* out) {
  uint8_t nonce[nonce_bytes];
  chunk_nonce(key, index, nonce);
  gcm::run_message(key.gcm, STOCKADE_ENCRYPT, nonce, nonce_bytes, nullptr, 0, in, length, out, out + length,
                   aes::Stores::ordinary);
}

bool open_chunk(const PayloadKey& key, uint64_t index, const uint8_t* in, uint64_t length, uint8_t* out) {
  uint8_t nonce[nonce_bytes];
  chunk_nonce(key, index, nonce);
  Secret<uint8_t[tag_bytes]> tag;
  const uint64_t plain = length - tag_bytes;
  gcm::run_message(key.gcm, STOCKADE_DECRYPT, nonce, nonce_bytes, nullptr, 0, in, plain, out, *tag,
                   aes::Stores::ordinary);
  if (equal_constant_time(*tag, in + plain, tag_bytes)) return true;
  wipe(out, plain);
  return false;
}

bool check_chunk(const PayloadKey& key, uint64_t index, const uint8_t* in, uint64_t length) {
  uint8_t nonce[nonce_bytes];
  chunk_nonce(key, index, nonce);
  Secret<uint8_t[block_bytes]> j0;
  gcm::derive_j0(key.gcm, nonce, nonce_bytes, *j0);
  Secret<uint8_t[tag_bytes]> tag;
  tag_of(key, *j0, in, length - tag_bytes, *tag);
  return equal_constant_time(*tag, in + length - tag_bytes, tag_bytes);
}

uint64_t sealed_length(uint64_t length, bool last) {
  return length + (length / chunk_bytes + (last ? 1 : 0)) * tag_bytes;
}

uint64_t seal_chunks(const PayloadKey& key, uint64_t first, const uint8_t* in, uint64_t length, bool last,
                     uint8_t* out) {
  const uint64_t whole = length / chunk_bytes;
  for (uint64_t i = 0; i < whole; ++i) {
    seal_chunk(key, first + i, in + i * chunk_bytes, chunk_bytes, out + i * sealed_chunk_bytes);
  }
  if (last) {
    seal_chunk(key, first + whole, in + whole * chunk_bytes, length % chunk_bytes, out + whole * sealed_chunk_bytes);
  }
  return sealed_length(length, last);
}

Status plaintext_length(uint64_t payload_length, uint64_t* length) {
  if (payload_length < preamble_bytes + tag_bytes) return STOCKADE_ERROR_TRUNCATED;
  const uint64_t whole = (payload_length - preamble_bytes) / sealed_chunk_bytes;
  const uint64_t rest = (payload_length - preamble_bytes) % sealed_chunk_bytes;
  if (whole >= max_chunks) return STOCKADE_ERROR_TOO_MANY_CHUNKS;
  if (rest < tag_bytes) return STOCKADE_ERROR_TRUNCATED;
  *length = whole * chunk_bytes + rest - tag_bytes;
  return STOCKADE_OK;
}

uint64_t find_end(const PayloadKey& key, uint64_t index, const uint8_t* in, uint64_t length) {
  uint8_t nonce[nonce_bytes];
  chunk_nonce(key, index, nonce);
  Secret<uint8_t[block_bytes]> j0, y, hash;
  Secret<uint8_t[tag_bytes]> mask;
  gcm::derive_j0(key.gcm, nonce, nonce_bytes, *j0);
  // The tag of nothing is E(J0), for the hash of a block of zeros is zero.
  gcm::finish_tag(key.gcm, *j0, *y, 0, 0, *mask);
  // `y` is the hash of all whole blocks before a candidate; a last chunk has fewer than chunk_bytes.
  for (uint64_t n = 0; n + tag_bytes < length && n < chunk_bytes; ++n) {
    const uint64_t part = n % block_bytes;
    if (part == 0 && n != 0) gcm::hash_padded(key.gcm, *y, in + n - block_bytes, block_bytes);
    uint8_t end[2 * block_bytes] = {};
    std::memcpy(end, in + n - part, part);
    uint8_t* const lengths = end + (part == 0 ? 0 : block_bytes);
    store_be64(lengths + 8, 8 * n);
    std::memcpy(*hash, *y, block_bytes);
    gcm::hash_padded(key.gcm, *hash, end, static_cast<uint64_t>(lengths - end) + block_bytes);
    xor_bytes(*hash, *hash, *mask, block_bytes);
    if (equal_constant_time(*hash, in + n, tag_bytes)) return n + tag_bytes;
  }
  return 0;
}

}  // namespace stockade::chunked
