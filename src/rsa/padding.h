// What turns a message or a digest into a number for RSA and back (RFC 8017): OAEP for encryption, PSS and PKCS#1 v1.5
// for signatures. PKCS#1 v1.5 encryption is not offered: its decryption cannot be made safe for those who call it.
//
// An encoded message has as many bytes as the modulus; `modulus_bits` says how many of their bits are used. Nothing
// here throws. What is secret (messages, seeds, encoded messages for decryption) is handled in constant time but for
// lengths of inputs; what libcrypto's hashes do is theirs.
#pragma once

#include <cstdint>
#include <span>

#include "base/bytes.h"
#include "base/random.h"
#include "base/status.h"
#include "libcrypto/hash.h"

namespace stockade::rsa {

inline uint64_t bytes_for_bits(uint32_t bits) { return (uint64_t{bits} + 7) / 8; }

// ---- encryption: RSAES-OAEP, RFC 8017 7.1 ----

struct Oaep {
  libcrypto::Hash hash = libcrypto::Hash::sha256;
  libcrypto::Hash mask_hash = libcrypto::Hash::sha256;  // MGF1's
  Bytes label = {};
};

// The most bytes that a message can have; -1 where the modulus is too short for the hash.
int64_t oaep_capacity(const Oaep& oaep, uint64_t modulus_bytes);

// MESSAGE_LENGTH, RANDOM, LIBRARY, MEMORY.
Status oaep_encode(const Oaep& oaep, Bytes message, RandomSource& random, std::span<uint8_t> encoded);

// Decodes in place: `encoded` is wiped. `message` has room for oaep_capacity bytes, all of which are written: the
// message, then zeros. DECRYPTION says that anything at all was wrong, in the same time as success and with `message`
// zero and `length` 0; so do LIBRARY and MEMORY. MESSAGE_LENGTH (the modulus is too short for the hash), OUTPUT_SIZE.
Status oaep_decode(const Oaep& oaep, std::span<uint8_t> encoded, std::span<uint8_t> message, uint64_t& length);

// ---- signatures: RSASSA-PSS, RFC 8017 8.1 ----

struct SaltLength {
  enum class Kind : uint32_t {
    digest,  // as long as the digest
    most,    // as long as the modulus allows
    given,   // `bytes`
    any,     // verification: whatever the signature has; signing: `most`
  };
  Kind kind = Kind::digest;
  uint64_t bytes = 0;
};

struct Pss {
  libcrypto::Hash hash = libcrypto::Hash::sha256;
  libcrypto::Hash mask_hash = libcrypto::Hash::sha256;  // MGF1's
  SaltLength salt = {};
};

// ARGUMENT (the digest is not one of the hash), MESSAGE_LENGTH, RANDOM, LIBRARY, MEMORY.
Status pss_encode(const Pss& pss, Bytes digest, uint32_t modulus_bits, RandomSource& random,
                  std::span<uint8_t> encoded);
// Uses `encoded` up. SIGNATURE, ARGUMENT, MESSAGE_LENGTH, LIBRARY, MEMORY.
Status pss_verify(const Pss& pss, Bytes digest, uint32_t modulus_bits, std::span<uint8_t> encoded);

// ---- signatures: RSASSA-PKCS1-v1_5, RFC 8017 8.2 ----

struct Pkcs1 {
  libcrypto::Hash hash = libcrypto::Hash::sha256;
};

// ARGUMENT, MESSAGE_LENGTH.
Status pkcs1_encode(const Pkcs1& pkcs1, Bytes digest, std::span<uint8_t> encoded);
// Compares with the one encoding that there is, so that nothing has to be parsed. SIGNATURE, ARGUMENT, MESSAGE_LENGTH.
Status pkcs1_verify(const Pkcs1& pkcs1, Bytes digest, Bytes encoded);

}  // namespace stockade::rsa
