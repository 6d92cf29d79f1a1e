#include "rsa/batch.h"
#include "parallel/parallel_for.h"

#include <algorithm>
#include <bit>
#include <optional>

namespace stockade::rsa {
namespace {

using config::EngineChoice;
using parallel::Plan;

// What make_plan calls bytes: as many as AES takes for them, in which a power with a private exponent grows
// with the cube of the modulus and one with a public exponent with its square.
uint64_t private_cost(const PublicKey& key) { return uint64_t{key.limbs()} * key.limbs() * key.limbs() * 32; }
uint64_t public_cost(const PublicKey& key) { return uint64_t{key.limbs()} * key.limbs() * 64; }

uint64_t cost_of(const PrivateKey* key) { return private_cost(key->public_key()); }
uint64_t cost_of(const PublicKey* key) { return public_cost(*key); }

// A private operation is two powers.
uint64_t filling(const PrivateKey*, const bignum::Variant& row) { return std::max(1U, row.lanes / 2); }
uint64_t filling(const PublicKey*, const bignum::Variant& row) { return row.lanes; }

template <typename Item>
uint64_t cost_of_all(std::span<Item> batch) {
  uint64_t cost = 0;
  for (const Item& item : batch) cost += cost_of(item.key);
  return cost;
}

tune::Operation tuned_operation(const PrivateKey*) { return tune::Operation::rsa_private; }
tune::Operation tuned_operation(const PublicKey*) { return tune::Operation::rsa_public; }
uint32_t bits_of(const PrivateKey* key) { return key->public_key().bits(); }
uint32_t bits_of(const PublicKey* key) { return key->bits(); }

// Work for as many as `parts`.
template <typename Item>
parallel::Task task_of(std::span<Item> batch, uint64_t parts) {
  const auto* const key = batch[0].key;
  return {tuned_operation(key), bits_of(key), cost_of_all(batch), parts, true, batch.size()};
}

// The profile's entry for a batch; null where there is none, or where the keys' variant was asked for.
template <typename Item>
const tune::Choice* known_choice(std::span<Item> batch) {
  const auto* const key = batch[0].key;
  const tune::Entry* const row = tune::find(tuned_operation(key), bits_of(key), batch.size());
  if (row == nullptr) return nullptr;
  const bool free = std::all_of(batch.begin(), batch.end(), [](const Item& item) { return item.key->any_row(); });
  return free ? &row->choice : nullptr;
}

template <typename Item>
Status first_failure(std::span<Item> batch) {
  const auto failed =
      std::find_if(batch.begin(), batch.end(), [](const Item& item) { return item.status != STOCKADE_OK; });
  return failed == batch.end() ? STOCKADE_OK : failed->status;
}

// How the powers of each operation shall be divided, where that is better than giving each operation to one worker: by
// the profile; or there are workers enough for all powers, and the row has nothing that is better still. Or as STOCKADE_FORCE
// says.
template <typename Item>
std::optional<Arrangement> divide(const EngineChoice& engine, std::span<Item> batch, const tune::Choice* known) {
  const std::optional<Layers> forced = find_layers(config::environment().rsa_layers);
  const uint64_t powers = 2 * batch.size();
  const bool few = powers <= engine.threads;
  const bool paired = batch[0].key->q().bits() <= batch[0].key->row()->pair_bits;
  Layers layers = few && !paired ? Layers::halves : Layers::together;
  if (known != nullptr && known->layers == tune::Layers::together) layers = Layers::together;
  if (known != nullptr && known->layers == tune::Layers::halves && few) layers = Layers::halves;
  layers = forced.value_or(layers);
  if (layers == Layers::together) return std::nullopt;
  const Plan plan = parallel::make_plan(engine, task_of(batch, most_workers(layers, powers)));
  if (!forced && plan.workers == 1) return std::nullopt;
  return Arrangement{layers, plan, known_row(known)};
}

// Calls run(part) for disjoint parts of the batch. `row`: the one that shall run them, null for the keys' own.
template <typename Item, typename Run>
Status run_parts(const EngineChoice& engine, std::span<Item> batch, const bignum::Variant* row, Run run) {
  const Plan plan = parallel::make_plan(engine, task_of(batch, batch.size()));
  const uint64_t lanes = filling(batch[0].key, row == nullptr ? *batch[0].key->row() : *row);
  const uint64_t grain = operations_at_a_time(batch.size(), lanes, plan.workers);
  parallel::parallel_for(plan, batch.size(), grain,
                         [&](uint64_t begin, uint64_t end, uint32_t) { run(batch.subspan(begin, end - begin)); });
  return first_failure(batch);
}

template <typename Item, typename Run>
Status run_public_parts(const EngineChoice& engine, std::span<Item> batch, Run run) {
  return batch.empty() ? STOCKADE_OK : run_parts(engine, batch, nullptr, run);
}

// The same for private operations, calling run(part, arrangement).
template <typename Item, typename Run>
Status run_private_parts(const EngineChoice& engine, std::span<Item> batch, Run run) {
  if (batch.empty()) return STOCKADE_OK;
  const tune::Choice* const known = known_choice(batch);
  if (const std::optional<Arrangement> divided = divide(engine, batch, known)) return run(batch, *divided);
  Arrangement arrangement;
  arrangement.row = known_row(known);
  return run_parts(engine, batch, arrangement.row, [&](std::span<Item> part) { run(part, arrangement); });
}

}  // namespace

const bignum::Variant* known_row(const tune::Choice* choice) {
  const bignum::Variant* row = nullptr;
  if (choice == nullptr || choice->row[0] == '\0') return nullptr;
  const Status status = bignum::choose(choice->row, config::environment().usable, &row);
  return status == STOCKADE_OK && row->automatic ? row : nullptr;
}

uint64_t operations_at_a_time(uint64_t count, uint64_t filling, uint32_t workers) {
  if (workers <= 1) return group_size;
  const uint64_t share = (count + workers - 1) / workers;
  if (share <= filling) return std::max<uint64_t>(share, 1);
  const uint64_t wanted = std::clamp(share / 4, filling, group_size);
  return (wanted + filling - 1) / filling * filling;
}

Status run_private(const EngineChoice& engine, std::span<PrivateOperation> operations, RandomSource& random) {
  return run_private_parts(engine, operations, [&](std::span<PrivateOperation> part, const Arrangement& arrangement) {
    return run_private(part, random, arrangement);
  });
}

Status run_public(const EngineChoice& engine, std::span<PublicOperation> operations) {
  return run_public_parts(engine, operations, [](std::span<PublicOperation> part) { run_public(part); });
}

Status sign_many(const EngineChoice& engine, const SignaturePadding& padding, std::span<Signing> batch,
                 RandomSource& random) {
  return run_private_parts(engine, batch, [&](std::span<Signing> part, const Arrangement& arrangement) {
    return sign_many(padding, part, random, arrangement);
  });
}

Status verify_many(const EngineChoice& engine, const SignaturePadding& padding, std::span<Verification> batch) {
  return run_public_parts(engine, batch, [&](std::span<Verification> part) { verify_many(padding, part); });
}

Status encrypt_many(const EngineChoice& engine, const Oaep& oaep, std::span<Encryption> batch, RandomSource& random) {
  return run_public_parts(engine, batch, [&](std::span<Encryption> part) { encrypt_many(oaep, part, random); });
}

Status decrypt_many(const EngineChoice& engine, const Oaep& oaep, std::span<Decryption> batch, RandomSource& random) {
  return run_private_parts(engine, batch, [&](std::span<Decryption> part, const Arrangement& arrangement) {
    return decrypt_many(oaep, part, random, arrangement);
  });
}

}  // namespace stockade::rsa
