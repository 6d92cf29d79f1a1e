// What the benchmarks of RSA compute with: OpenSSL's key of one size, digests, and what OpenSSL makes of them. A digest
// is also the message that is encrypted.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "peer_rsa.h"
#include "rsa.h"

namespace stockade::bench {

inline constexpr uint64_t rsa_digest_size = 32;

struct RsaMaterial {
  // OpenSSL makes signatures where `operations` has one that needs them, and so ciphertexts.
  RsaMaterial(uint32_t bits, uint64_t count, std::span<const RsaOperation> operations);

  std::span<const uint8_t> digest(uint64_t i) const { return {digests.data() + i * rsa_digest_size, rsa_digest_size}; }
  std::span<const uint8_t> signature(uint64_t i) const { return {signatures.data() + i * size, size}; }
  std::span<const uint8_t> ciphertext(uint64_t i) const { return {ciphertexts.data() + i * size, size}; }
  std::span<uint8_t> output(uint64_t i) { return {outputs.data() + i * size, size}; }

  RsaPeer peer;
  uint32_t bits;
  uint64_t size;   // bytes of the modulus
  uint64_t count;  // of digests
  std::vector<uint8_t> digests, signatures, ciphertexts, outputs;
};

}  // namespace stockade::bench
