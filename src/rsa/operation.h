// What RSA computes, for one operation and for many. A batch of N private operations is 2N powers of half the size in
// one call of a row, so that its lanes are filled; with one operation they are the two halves of one key.
//
// Every batch may hold operations of many keys. Any part of a batch is a batch, so whoever has more than one core runs
// disjoint subspans at once; or, with fewer operations than cores, says by an Arrangement how the powers of each are
// divided. An operation reports its own status, and the batch returns that of its first operation
// that is not OK; an operation that fails leaves zeros in its output and does not touch the others. Nothing here
// throws.
#pragma once

#include <cstdint>
#include <span>
#include <variant>

#include "base/bytes.h"
#include "base/random.h"
#include "base/status.h"
#include "rsa/key.h"
#include "rsa/padding.h"
#include "rsa/powers.h"

namespace stockade::rsa {

// ---- numbers (RFC 8017 5.1 and 5.2) ----

// Operations that are computed together; larger batches are cut into as many. A multiple of every row's lanes.
inline constexpr uint64_t group_size = 64;

// out = in^d mod n. Both have as many bytes as the modulus, big-endian, and may be the same.
struct PrivateOperation {
  const PrivateKey* key;
  Bytes in;
  std::span<uint8_t> out;
  Status status = STOCKADE_OK;
};

// Blinded, and checked against the public key before anything is written. RSA_LENGTH, RSA_RANGE, OUTPUT_SIZE,
// RSA_FAULT, RANDOM, MEMORY.
Status run_private(std::span<PrivateOperation> operations, RandomSource& random, const Arrangement& arrangement = {});

// out = in^e mod n, likewise.
struct PublicOperation {
  const PublicKey* key;
  Bytes in;
  std::span<uint8_t> out;
  Status status = STOCKADE_OK;
};

// RSA_LENGTH, RSA_RANGE, OUTPUT_SIZE, MEMORY.
Status run_public(std::span<PublicOperation> operations);

// ---- messages ----

using SignaturePadding = std::variant<Pss, Pkcs1>;

struct Signing {
  const PrivateKey* key;
  Bytes digest;
  std::span<uint8_t> signature;  // as many bytes as the modulus
  Status status = STOCKADE_OK;
};

// Those of run_private and of the padding.
Status sign_many(const SignaturePadding& padding, std::span<Signing> batch, RandomSource& random,
                 const Arrangement& arrangement = {});

struct Verification {
  const PublicKey* key;
  Bytes digest;
  Bytes signature;
  Status status = STOCKADE_OK;
};

// OK says that the signature is right. SIGNATURE, RSA_LENGTH, RSA_RANGE, and those of the padding.
Status verify_many(const SignaturePadding& padding, std::span<Verification> batch);

struct Encryption {
  const PublicKey* key;
  Bytes message;
  std::span<uint8_t> ciphertext;  // as many bytes as the modulus
  Status status = STOCKADE_OK;
};

// Those of run_public and of the padding.
Status encrypt_many(const Oaep& oaep, std::span<Encryption> batch, RandomSource& random);

struct Decryption {
  const PrivateKey* key;
  Bytes ciphertext;
  std::span<uint8_t> message;  // room for oaep_capacity bytes; zeros come behind the message
  uint64_t length = 0;         // of the message
  Status status = STOCKADE_OK;
};

// DECRYPTION, and those of run_private and of the padding.
Status decrypt_many(const Oaep& oaep, std::span<Decryption> batch, RandomSource& random,
                    const Arrangement& arrangement = {});

}  // namespace stockade::rsa
