#include "rsa_material.h"

#include <algorithm>

#include "runner.h"

namespace stockade::bench {
namespace {

constexpr uint64_t seed = 0x57060CADE;

}  // namespace

RsaMaterial::RsaMaterial(uint32_t key_bits, uint64_t digest_count, std::span<const RsaOperation> operations)
    : peer(key_bits), bits(key_bits), size(key_bits / 8), count(digest_count) {
  const auto needs = [&](RsaOperation one, RsaOperation other) {
    return std::any_of(operations.begin(), operations.end(),
                       [&](RsaOperation operation) { return operation == one || operation == other; });
  };
  digests.resize(count * rsa_digest_size);
  outputs.resize(count * size);
  fill(digests.data(), digests.size(), seed);
  if (needs(RsaOperation::sign, RsaOperation::verify)) {
    signatures.resize(count * size);
    for (uint64_t i = 0; i < count; ++i) peer.sign(digest(i), {signatures.data() + i * size, size});
  }
  if (needs(RsaOperation::decrypt, RsaOperation::decrypt)) {
    ciphertexts.resize(count * size);
    for (uint64_t i = 0; i < count; ++i) peer.encrypt(digest(i), {ciphertexts.data() + i * size, size});
  }
}

}  // namespace stockade::bench
