#include "rsa/batch.h"

#include <algorithm>

namespace stockade::rsa {
namespace {

using engine::Engine;
using engine::Plan;

// What engine::make_plan calls bytes: as many as AES takes for them, in which a power with a private exponent grows
// with the cube of the modulus and one with a public exponent with its square.
uint64_t private_cost(const PublicKey& key) { return uint64_t{key.limbs()} * key.limbs() * key.limbs() * 32; }
uint64_t public_cost(const PublicKey& key) { return uint64_t{key.limbs()} * key.limbs() * 64; }

uint64_t cost_of(const PrivateKey* key) { return private_cost(key->public_key()); }
uint64_t cost_of(const PublicKey* key) { return public_cost(*key); }

// A private operation is two powers.
uint64_t filling(const PrivateKey* key) { return std::max(1U, key->row()->lanes / 2); }
uint64_t filling(const PublicKey* key) { return key->row()->lanes; }

// Calls run(part) for disjoint parts of the batch.
template <typename Item, typename Run>
Status run_parts(const Engine& engine, std::span<Item> batch, Run run) {
  if (batch.empty()) return STOCKADE_OK;
  uint64_t cost = 0;
  for (const Item& item : batch) cost += cost_of(item.key);
  const Plan plan = engine::make_plan(engine, cost, batch.size(), true);
  const uint64_t grain = operations_at_a_time(batch.size(), filling(batch[0].key), plan.workers);
  engine::run(plan, batch.size(), grain,
              [&](uint64_t begin, uint64_t end, uint32_t) { run(batch.subspan(begin, end - begin)); });
  const auto failed =
      std::find_if(batch.begin(), batch.end(), [](const Item& item) { return item.status != STOCKADE_OK; });
  return failed == batch.end() ? STOCKADE_OK : failed->status;
}

}  // namespace

uint64_t operations_at_a_time(uint64_t count, uint64_t filling, uint32_t workers) {
  if (workers <= 1) return group_size;
  const uint64_t share = (count + workers - 1) / workers;
  if (share <= filling) return std::max<uint64_t>(share, 1);
  const uint64_t wanted = std::clamp(share / 4, filling, group_size);
  return (wanted + filling - 1) / filling * filling;
}

Status run_private(const Engine& engine, std::span<PrivateOperation> operations, RandomSource& random) {
  return run_parts(engine, operations, [&](std::span<PrivateOperation> part) { run_private(part, random); });
}

Status run_public(const Engine& engine, std::span<PublicOperation> operations) {
  return run_parts(engine, operations, [](std::span<PublicOperation> part) { run_public(part); });
}

Status sign_many(const Engine& engine, const SignaturePadding& padding, std::span<Signing> batch,
                 RandomSource& random) {
  return run_parts(engine, batch, [&](std::span<Signing> part) { sign_many(padding, part, random); });
}

Status verify_many(const Engine& engine, const SignaturePadding& padding, std::span<Verification> batch) {
  return run_parts(engine, batch, [&](std::span<Verification> part) { verify_many(padding, part); });
}

Status encrypt_many(const Engine& engine, const Oaep& oaep, std::span<Encryption> batch, RandomSource& random) {
  return run_parts(engine, batch, [&](std::span<Encryption> part) { encrypt_many(oaep, part, random); });
}

Status decrypt_many(const Engine& engine, const Oaep& oaep, std::span<Decryption> batch, RandomSource& random) {
  return run_parts(engine, batch, [&](std::span<Decryption> part) { decrypt_many(oaep, part, random); });
}

}  // namespace stockade::rsa
