#include "rsa/padding.h"

#include <algorithm>
#include <cstring>

#include "base/secret.h"

namespace stockade::rsa {
namespace {

// Of two bytes: 0xff where they are equal, else 0.
uint8_t equal_byte(uint8_t a, uint8_t b) {
  uint32_t difference = static_cast<uint32_t>(a ^ b);
  // The compiler shall not know that this is about to be a truth.
  __asm__("" : "+r"(difference));
  return static_cast<uint8_t>((difference - 1) >> 8);
}

// 0xff where the strings are equal, else 0.
uint8_t equal_bytes(const uint8_t* a, const uint8_t* b, uint64_t length) {
  uint8_t difference = 0;
  for (uint64_t i = 0; i < length; ++i) difference |= a[i] ^ b[i];
  return equal_byte(difference, 0);
}

// Moves the bytes `distance` places to the front, zeros come behind; in a time that depends on the size only: one pass
// for each bit that a distance up to the size can have.
void shift_to_front(std::span<uint8_t> bytes, uint64_t distance) {
  for (uint64_t step = 1; step <= bytes.size(); step <<= 1) {
    uint64_t wanted = distance & step;
    __asm__("" : "+r"(wanted));
    const auto mask = static_cast<uint8_t>(0 - static_cast<uint8_t>((wanted | (0 - wanted)) >> 63));
    for (uint64_t i = 0; i < bytes.size(); ++i) {
      const uint8_t from = i + step < bytes.size() ? bytes[i + step] : uint8_t{0};
      bytes[i] = static_cast<uint8_t>((bytes[i] & ~mask) | (from & mask));
    }
  }
}

// DB of RFC 8017 7.1.2: hash of the label, zeros, one 01, message. Where its 01 stands behind the hash, in bytes, and
// whether all is as it should be (0xff).
uint8_t parse_oaep_block(std::span<const uint8_t> block, const uint8_t* label_digest, uint64_t digest_length,
                         uint64_t& separator) {
  uint8_t good = equal_bytes(block.data(), label_digest, digest_length);
  uint8_t searching = 0xff;
  separator = 0;
  for (uint64_t i = digest_length; i < block.size(); ++i) {
    const uint8_t is_zero = equal_byte(block[i], 0), is_one = equal_byte(block[i], 1);
    // Up to the 01 there may be zeros only.
    good &= static_cast<uint8_t>(~searching | is_zero | is_one);
    searching &= static_cast<uint8_t>(~is_one);
    separator += searching & 1;
  }
  return good & static_cast<uint8_t>(~searching);
}

// The two masks of OAEP in the order in which decryption takes them off.
Status unmask(libcrypto::Hash mask_hash, std::span<uint8_t> seed, std::span<uint8_t> block) {
  const Status status = libcrypto::mask_with(mask_hash, block, seed);
  return status == STOCKADE_OK ? libcrypto::mask_with(mask_hash, seed, block) : status;
}

uint64_t longest_salt(const Pss& pss, uint64_t pss_bytes) {
  const uint64_t taken = libcrypto::digest_bytes(pss.hash) + 2;
  return pss_bytes < taken ? 0 : pss_bytes - taken;
}

// The part of an encoded message that PSS knows of: one byte less than the modulus has where that begins with a single
// bit, for PSS leaves the highest bit free (RFC 8017 8.1.1).
std::span<uint8_t> pss_part(std::span<uint8_t> encoded, uint32_t modulus_bits) {
  return encoded.last(bytes_for_bits(modulus_bits - 1));
}

// The bits of the first byte that may be set.
uint8_t pss_first_mask(uint32_t modulus_bits) {
  return static_cast<uint8_t>(0xff >> (8 * bytes_for_bits(modulus_bits - 1) - (modulus_bits - 1)));
}

// H of RFC 8017 9.1.1 step 6.
Status pss_hash(libcrypto::Hash hash, Bytes digest, Bytes salt, uint8_t* out) {
  const uint8_t zeros[8] = {};
  const Bytes parts[] = {zeros, digest, salt};
  return libcrypto::hash_parts(hash, parts, out);
}

Status check_pss(const Pss& pss, Bytes digest, uint64_t pss_bytes) {
  const uint64_t digest_length = libcrypto::digest_bytes(pss.hash);
  if (digest.size() != digest_length) return STOCKADE_ERROR_ARGUMENT;
  if (pss_bytes < digest_length + 2) return STOCKADE_ERROR_MESSAGE_LENGTH;
  const uint64_t longest = longest_salt(pss, pss_bytes);
  const bool fits = pss.salt.kind == SaltLength::Kind::digest  ? digest_length <= longest
                    : pss.salt.kind == SaltLength::Kind::given ? pss.salt.bytes <= longest
                                                               : true;
  return fits ? STOCKADE_OK : STOCKADE_ERROR_MESSAGE_LENGTH;
}

// What the signer takes, and what the verifier demands unless it takes any.
uint64_t salt_bytes(const Pss& pss, uint64_t pss_bytes) {
  switch (pss.salt.kind) {
    case SaltLength::Kind::digest:
      return libcrypto::digest_bytes(pss.hash);
    case SaltLength::Kind::given:
      return pss.salt.bytes;
    default:
      return longest_salt(pss, pss_bytes);
  }
}

}  // namespace

int64_t oaep_capacity(const Oaep& oaep, uint64_t modulus_bytes) {
  const auto taken = static_cast<int64_t>(2 * libcrypto::digest_bytes(oaep.hash) + 2);
  return std::max<int64_t>(static_cast<int64_t>(modulus_bytes) - taken, -1);
}

Status oaep_encode(const Oaep& oaep, Bytes message, RandomSource& random, std::span<uint8_t> encoded) {
  const int64_t capacity = oaep_capacity(oaep, encoded.size());
  if (capacity < 0 || message.size() > static_cast<uint64_t>(capacity)) return STOCKADE_ERROR_MESSAGE_LENGTH;
  const uint64_t digest_length = libcrypto::digest_bytes(oaep.hash);
  const std::span<uint8_t> seed = encoded.subspan(1, digest_length), block = encoded.subspan(1 + digest_length);
  if (const Status status = random.fill(seed.data(), seed.size()); status != STOCKADE_OK) return status;
  const Bytes label[] = {oaep.label};
  if (const Status status = libcrypto::hash_parts(oaep.hash, label, block.data()); status != STOCKADE_OK) return status;
  encoded[0] = 0;
  const std::span<uint8_t> tail = block.last(message.size() + 1);
  std::fill(block.begin() + static_cast<int64_t>(digest_length), block.end() - static_cast<int64_t>(tail.size()),
            uint8_t{0});
  tail[0] = 1;
  std::copy(message.begin(), message.end(), tail.begin() + 1);
  const Status status = libcrypto::mask_with(oaep.mask_hash, seed, block);
  return status == STOCKADE_OK ? libcrypto::mask_with(oaep.mask_hash, block, seed) : status;
}

Status oaep_decode(const Oaep& oaep, std::span<uint8_t> encoded, std::span<uint8_t> message, uint64_t& length) {
  length = 0;
  wipe(message.data(), message.size());
  const int64_t capacity = oaep_capacity(oaep, encoded.size());
  if (capacity < 0) return STOCKADE_ERROR_MESSAGE_LENGTH;
  if (message.size() < static_cast<uint64_t>(capacity)) return STOCKADE_ERROR_OUTPUT_SIZE;
  const uint64_t digest_length = libcrypto::digest_bytes(oaep.hash);
  const std::span<uint8_t> seed = encoded.subspan(1, digest_length), block = encoded.subspan(1 + digest_length);
  uint8_t label_digest[libcrypto::most_digest_bytes];
  const Bytes label[] = {oaep.label};
  Status status = libcrypto::hash_parts(oaep.hash, label, label_digest);
  if (status == STOCKADE_OK) status = unmask(oaep.mask_hash, seed, block);
  if (status == STOCKADE_OK) {
    uint64_t separator;
    uint8_t good = parse_oaep_block(block, label_digest, digest_length, separator);
    good &= equal_byte(encoded[0], 0);
    const std::span<uint8_t> room = block.subspan(digest_length + 1);
    shift_to_front(room, separator);
    for (uint64_t i = 0; i < room.size(); ++i) message[i] = room[i] & good;
    length = (room.size() - separator) & (0 - static_cast<uint64_t>(good & 1));
    // From here on the outcome is no secret.
    status = good != 0 ? STOCKADE_OK : STOCKADE_ERROR_DECRYPTION;
  }
  wipe(encoded.data(), encoded.size());
  return status;
}

Status pss_encode(const Pss& pss, Bytes digest, uint32_t modulus_bits, RandomSource& random,
                  std::span<uint8_t> encoded) {
  const std::span<uint8_t> part = pss_part(encoded, modulus_bits);
  if (const Status status = check_pss(pss, digest, part.size()); status != STOCKADE_OK) return status;
  const uint64_t digest_length = libcrypto::digest_bytes(pss.hash), salt_length = salt_bytes(pss, part.size());
  const std::span<uint8_t> block = part.first(part.size() - digest_length - 1);
  const std::span<uint8_t> salt = block.last(salt_length), hashed = part.subspan(block.size(), digest_length);
  std::fill(encoded.begin(), encoded.end(), uint8_t{0});
  if (const Status status = random.fill(salt.data(), salt.size()); status != STOCKADE_OK) return status;
  block[block.size() - salt_length - 1] = 1;
  Status status = pss_hash(pss.hash, digest, salt, hashed.data());
  if (status == STOCKADE_OK) status = libcrypto::mask_with(pss.mask_hash, hashed, block);
  if (status != STOCKADE_OK) return status;
  part[0] &= pss_first_mask(modulus_bits);
  part.back() = 0xbc;
  return STOCKADE_OK;
}

Status pss_verify(const Pss& pss, Bytes digest, uint32_t modulus_bits, std::span<uint8_t> encoded) {
  const std::span<uint8_t> part = pss_part(encoded, modulus_bits);
  if (const Status status = check_pss(pss, digest, part.size()); status != STOCKADE_OK) return status;
  if (encoded.size() != part.size() && encoded[0] != 0) return STOCKADE_ERROR_SIGNATURE;
  if (part.back() != 0xbc || (part[0] & ~pss_first_mask(modulus_bits)) != 0) return STOCKADE_ERROR_SIGNATURE;
  const uint64_t digest_length = libcrypto::digest_bytes(pss.hash);
  const std::span<uint8_t> block = part.first(part.size() - digest_length - 1);
  const Bytes hashed = part.subspan(block.size(), digest_length);
  if (const Status status = libcrypto::mask_with(pss.mask_hash, hashed, block); status != STOCKADE_OK) return status;
  block[0] &= pss_first_mask(modulus_bits);
  const auto one = std::find_if(block.begin(), block.end(), [](uint8_t byte) { return byte != 0; });
  if (one == block.end() || *one != 1) return STOCKADE_ERROR_SIGNATURE;
  const Bytes salt(one + 1, block.end());
  if (pss.salt.kind != SaltLength::Kind::any && salt.size() != salt_bytes(pss, part.size())) {
    return STOCKADE_ERROR_SIGNATURE;
  }
  uint8_t expected[libcrypto::most_digest_bytes];
  if (const Status status = pss_hash(pss.hash, digest, salt, expected); status != STOCKADE_OK) return status;
  return std::memcmp(expected, hashed.data(), digest_length) == 0 ? STOCKADE_OK : STOCKADE_ERROR_SIGNATURE;
}

Status pkcs1_encode(const Pkcs1& pkcs1, Bytes digest, std::span<uint8_t> encoded) {
  if (digest.size() != libcrypto::digest_bytes(pkcs1.hash)) return STOCKADE_ERROR_ARGUMENT;
  const Bytes prefix = libcrypto::digest_info_prefix(pkcs1.hash);
  const uint64_t tail = prefix.size() + digest.size();
  if (encoded.size() < tail + 11) return STOCKADE_ERROR_MESSAGE_LENGTH;
  const uint64_t padding = encoded.size() - tail - 3;
  encoded[0] = 0;
  encoded[1] = 1;
  std::fill_n(encoded.begin() + 2, padding, uint8_t{0xff});
  encoded[2 + padding] = 0;
  std::copy(digest.begin(), digest.end(), std::copy(prefix.begin(), prefix.end(), encoded.end() - tail));
  return STOCKADE_OK;
}

Status pkcs1_verify(const Pkcs1& pkcs1, Bytes digest, Bytes encoded) {
  if (digest.size() != libcrypto::digest_bytes(pkcs1.hash)) return STOCKADE_ERROR_ARGUMENT;
  const Bytes prefix = libcrypto::digest_info_prefix(pkcs1.hash);
  const uint64_t tail = prefix.size() + digest.size();
  if (encoded.size() < tail + 11) return STOCKADE_ERROR_MESSAGE_LENGTH;
  SecretBuffer expected(encoded.size());
  if (expected.data() == nullptr) return STOCKADE_ERROR_MEMORY;
  const Status status = pkcs1_encode(pkcs1, digest, {expected.data(), expected.size()});
  if (status != STOCKADE_OK) return status;
  const bool same = std::equal(encoded.begin(), encoded.end(), expected.data());
  return same ? STOCKADE_OK : STOCKADE_ERROR_SIGNATURE;
}

}  // namespace stockade::rsa
