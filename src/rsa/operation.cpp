#include "rsa/operation.h"

#include <algorithm>
#include <array>

#include "base/secret.h"
#include "bignum/integer.h"
#include "rsa/arena.h"

namespace stockade::rsa {
namespace {

using bignum::Modulus;
using bignum::Power;

// Powers side by side in lanes are neighbours of one size.
void put_sizes_together(std::span<Power> powers) {
  std::sort(powers.begin(), powers.end(),
            [](const Power& a, const Power& b) { return a.modulus->digits < b.modulus->digits; });
}

template <typename Operation>
Status first_failure(std::span<Operation> operations) {
  const auto failed = std::find_if(operations.begin(), operations.end(),
                                   [](const Operation& operation) { return operation.status != STOCKADE_OK; });
  return failed == operations.end() ? STOCKADE_OK : failed->status;
}

// Calls run(group) for groups of at most group_size operations whose keys have chosen one row.
template <typename Operation, typename Run>
Status run_in_groups(std::span<Operation> operations, Run run) {
  for (std::span<Operation> rest = operations; !rest.empty();) {
    const auto* const row = rest[0].key->row();
    uint64_t count = 1;
    while (count < std::min<uint64_t>(rest.size(), group_size) && rest[count].key->row() == row) ++count;
    run(rest.first(count), *row);
    rest = rest.subspan(count);
  }
  return first_failure(operations);
}

// Lengths, and the number itself.
Status read_number(const PublicKey& key, Bytes in, std::span<const uint8_t> out, Limb* number) {
  if (in.size() != key.bytes()) return STOCKADE_ERROR_RSA_LENGTH;
  if (out.size() < key.bytes()) return STOCKADE_ERROR_OUTPUT_SIZE;
  bignum::from_bytes(in.data(), in.size(), number, key.limbs());
  // What is compared came from outside, or is an encoded message, which is always below.
  const bool below = bignum::is_less(number, key.modulus().value(), key.limbs()) != 0;
  return below ? STOCKADE_OK : STOCKADE_ERROR_RSA_RANGE;
}

// ---- public operations ----

void run_public_group(std::span<PublicOperation> group, const bignum::Variant& row) {
  size_t limbs = 0;
  for (const PublicOperation& operation : group) limbs += operation.key->limbs();
  Arena arena;
  Status status = arena.allocate(limbs) ? STOCKADE_OK : STOCKADE_ERROR_MEMORY;
  std::array<Limb*, group_size> numbers{};
  std::array<Power, group_size> powers{};
  size_t count = 0;
  for (size_t i = 0; i < group.size(); ++i) {
    const PublicKey& key = *group[i].key;
    numbers[i] = arena.take(key.limbs());
    group[i].status = status == STOCKADE_OK ? read_number(key, group[i].in, group[i].out, numbers[i]) : status;
    if (group[i].status != STOCKADE_OK) continue;
    powers[count++] = {&key.modulus().constants(), numbers[i], key.exponent(), key.exponent_bits(), numbers[i]};
  }
  put_sizes_together({powers.data(), count});
  status = row.kernels->modexp_public(powers.data(), count);
  for (size_t i = 0; i < group.size(); ++i) {
    PublicOperation& operation = group[i];
    if (operation.status == STOCKADE_OK) operation.status = status;
    if (operation.status == STOCKADE_OK) {
      bignum::to_bytes(numbers[i], operation.key->limbs(), operation.out.data(), operation.key->bytes());
    } else {
      std::fill(operation.out.begin(), operation.out.end(), uint8_t{0});
    }
  }
}

// ---- private operations ----

// The numbers of one private operation. `blinded` is the input times r^e and is kept for the check.
struct Halves {
  Limb *blinded, *inverse, *result, *check;  // as many limbs as n (`result`: as p and q together)
  Limb *p_power, *q_power, *p_scratch;       // as p, q, p
};

size_t limbs_for(const PrivateKey& key) {
  return 3 * key.public_key().limbs() + 3 * key.p().limbs() + 2 * key.q().limbs();
}

Halves take_halves(Arena& arena, const PrivateKey& key) {
  const uint32_t n = key.public_key().limbs(), p = key.p().limbs(), q = key.q().limbs();
  return {arena.take(n), arena.take(n), arena.take(p + q), arena.take(n), arena.take(p), arena.take(q), arena.take(p)};
}

// The input, blinded, modulo p and modulo q.
Status begin(const PrivateOperation& operation, RandomSource& random, const Halves& halves) {
  const PrivateKey& key = *operation.key;
  const PublicKey& public_key = key.public_key();
  Status status = read_number(public_key, operation.in, operation.out, halves.blinded);
  if (status == STOCKADE_OK) status = key.blinding().next(public_key, random, halves.check, halves.inverse);
  if (status == STOCKADE_OK) {
    status = public_key.modulus().multiply_montgomery(halves.blinded, halves.check, halves.blinded);
  }
  if (status == STOCKADE_OK) status = key.p().reduce(halves.blinded, public_key.limbs(), halves.p_power);
  if (status == STOCKADE_OK) status = key.q().reduce(halves.blinded, public_key.limbs(), halves.q_power);
  return status;
}

// RFC 8017 5.1.2 step 2b: result = m2 + q·((m1 - m2)·qinv mod p).
Status recombine(const PrivateKey& key, const Halves& halves) {
  const Modulus &p = key.p(), &q = key.q();
  const uint32_t p_limbs = p.limbs(), q_limbs = q.limbs();
  if (const Status status = p.reduce(halves.q_power, q_limbs, halves.p_scratch); status != STOCKADE_OK) return status;
  p.subtract(halves.p_power, halves.p_scratch, halves.p_scratch);
  const Status status = p.multiply(halves.p_scratch, key.qinv(), halves.p_scratch);
  if (status != STOCKADE_OK) return status;
  bignum::multiply(halves.p_scratch, p_limbs, q.value(), q_limbs, halves.result);
  const Limb carry = bignum::add(halves.result, halves.q_power, halves.result, q_limbs);
  bignum::add_word(halves.result + q_limbs, carry, halves.result + q_limbs, p_limbs);
  return STOCKADE_OK;
}

// Whether result^e is what was asked for; if so, the result without its blinding. A number with an error in one half
// would tell the factors (Boneh, DeMillo, Lipton 1997), so it is neither written nor described.
Status finish(const PrivateOperation& operation, const Halves& halves) {
  const PublicKey& key = operation.key->public_key();
  if (bignum::is_equal(halves.check, halves.blinded, key.limbs()) == 0) return STOCKADE_ERROR_RSA_FAULT;
  const Status status = key.modulus().multiply_montgomery(halves.result, halves.inverse, halves.result);
  if (status != STOCKADE_OK) return status;
  bignum::to_bytes(halves.result, key.limbs(), operation.out.data(), key.bytes());
  return STOCKADE_OK;
}

// A step over all operations of a group that have not failed yet.
template <typename Step>
void for_good(std::span<PrivateOperation> group, Step step) {
  for (size_t i = 0; i < group.size(); ++i) {
    if (group[i].status == STOCKADE_OK) group[i].status = step(group[i], i);
  }
}

void run_private_steps(std::span<PrivateOperation> group, const bignum::Variant& row, RandomSource& random,
                       const Arrangement& arrangement, Arena& arena) {
  std::array<Halves, group_size> halves{};
  std::array<Power, 2 * group_size> powers{};
  size_t count = 0;
  for_good(group, [&](const PrivateOperation& operation, size_t i) {
    const PrivateKey& key = *operation.key;
    halves[i] = take_halves(arena, key);
    const Status status = begin(operation, random, halves[i]);
    if (status != STOCKADE_OK) return status;
    const bignum::Montgomery &p = key.p().constants(), &q = key.q().constants();
    powers[count++] = {&p, halves[i].p_power, key.dp(), p.bits, halves[i].p_power};
    powers[count++] = {&q, halves[i].q_power, key.dq(), q.bits, halves[i].q_power};
    return STOCKADE_OK;
  });
  put_sizes_together({powers.data(), count});
  Status status = run_powers(row, {powers.data(), count}, arrangement);
  count = 0;
  for_good(group, [&](const PrivateOperation& operation, size_t i) {
    const Status combined = status == STOCKADE_OK ? recombine(*operation.key, halves[i]) : status;
    if (combined != STOCKADE_OK) return combined;
    const PublicKey& key = operation.key->public_key();
    powers[count++] = {&key.modulus().constants(), halves[i].result, key.exponent(), key.exponent_bits(),
                       halves[i].check};
    return STOCKADE_OK;
  });
  put_sizes_together({powers.data(), count});
  status = row.kernels->modexp_public(powers.data(), count);
  for_good(group, [&](const PrivateOperation& operation, size_t i) {
    return status == STOCKADE_OK ? finish(operation, halves[i]) : status;
  });
}

void run_private_group(std::span<PrivateOperation> group, const bignum::Variant& row, RandomSource& random,
                       const Arrangement& arrangement) {
  size_t limbs = 0;
  for (const PrivateOperation& operation : group) limbs += limbs_for(*operation.key);
  Arena arena;
  const Status memory = arena.allocate(limbs) ? STOCKADE_OK : STOCKADE_ERROR_MEMORY;
  for (PrivateOperation& operation : group) operation.status = memory;
  if (memory == STOCKADE_OK) run_private_steps(group, row, random, arrangement, arena);
  for (const PrivateOperation& operation : group) {
    if (operation.status != STOCKADE_OK) wipe(operation.out.data(), operation.out.size());
  }
}

// ---- messages ----

// Room for as many encoded messages as a group has, each as long as its modulus.
template <typename Operation, typename KeyOf>
bool allocate_encoded(std::span<Operation> group, KeyOf public_key_of, SecretBuffer& memory,
                      std::array<std::span<uint8_t>, group_size>& encoded) {
  size_t size = 0;
  for (const Operation& operation : group) size += public_key_of(operation).bytes();
  if (!memory.allocate(size)) return false;
  uint8_t* next = memory.data();
  for (size_t i = 0; i < group.size(); ++i) {
    encoded[i] = {next, public_key_of(group[i]).bytes()};
    next += encoded[i].size();
  }
  return true;
}

const PublicKey& public_key_of(const PublicKey* key) { return *key; }
const PublicKey& public_key_of(const PrivateKey* key) { return key->public_key(); }

// What every kind of message has in common: `prepare` gives the operation on numbers for an item and the memory of its
// encoded message, or says why there is none; `run` does those that there are; `conclude` gives the item's status from
// that of its operation, and is called for every item.
template <typename Operation, typename Item, typename Prepare, typename Run, typename Conclude>
Status run_messages(std::span<Item> batch, Prepare prepare, Run run, Conclude conclude) {
  return run_in_groups(batch, [&](std::span<Item> group, const bignum::Variant&) {
    SecretBuffer memory;
    std::array<std::span<uint8_t>, group_size> encoded;
    std::array<Operation, group_size> operations;
    std::array<size_t, group_size> places{};  // of the items' operations
    const auto key_of = [](const Item& item) -> const PublicKey& { return public_key_of(item.key); };
    const bool allocated = allocate_encoded(group, key_of, memory, encoded);
    size_t count = 0;
    for (size_t i = 0; i < group.size(); ++i) {
      group[i].status = allocated ? prepare(group[i], encoded[i], operations[count]) : STOCKADE_ERROR_MEMORY;
      if (group[i].status == STOCKADE_OK) places[i] = count++;
    }
    run(std::span<Operation>(operations.data(), count));
    for (size_t i = 0; i < group.size(); ++i) {
      if (group[i].status == STOCKADE_OK) group[i].status = operations[places[i]].status;
      group[i].status = conclude(group[i], encoded[i]);
    }
  });
}

Status encode(const SignaturePadding& padding, const PublicKey& key, Bytes digest, RandomSource& random,
              std::span<uint8_t> encoded) {
  const Pss* const pss = std::get_if<Pss>(&padding);
  if (pss != nullptr) return pss_encode(*pss, digest, key.bits(), random, encoded);
  return pkcs1_encode(*std::get_if<Pkcs1>(&padding), digest, encoded);
}

Status verify(const SignaturePadding& padding, const PublicKey& key, Bytes digest, std::span<uint8_t> encoded) {
  const Pss* const pss = std::get_if<Pss>(&padding);
  if (pss != nullptr) return pss_verify(*pss, digest, key.bits(), encoded);
  return pkcs1_verify(*std::get_if<Pkcs1>(&padding), digest, encoded);
}

}  // namespace

Status run_private(std::span<PrivateOperation> operations, RandomSource& random, const Arrangement& arrangement) {
  return run_in_groups(operations, [&](std::span<PrivateOperation> group, const bignum::Variant& row) {
    run_private_group(group, row, random, arrangement);
  });
}

Status run_public(std::span<PublicOperation> operations) { return run_in_groups(operations, run_public_group); }

Status sign_many(const SignaturePadding& padding, std::span<Signing> batch, RandomSource& random,
                 const Arrangement& arrangement) {
  return run_messages<PrivateOperation>(
      batch,
      [&](Signing& item, std::span<uint8_t> encoded, PrivateOperation& operation) {
        if (item.signature.size() < encoded.size()) return STOCKADE_ERROR_OUTPUT_SIZE;
        operation = {item.key, encoded, item.signature.first(encoded.size())};
        return encode(padding, item.key->public_key(), item.digest, random, encoded);
      },
      [&](std::span<PrivateOperation> operations) { run_private(operations, random, arrangement); },
      [](Signing& item, std::span<uint8_t>) {
        if (item.status != STOCKADE_OK) wipe(item.signature.data(), item.signature.size());
        return item.status;
      });
}

Status verify_many(const SignaturePadding& padding, std::span<Verification> batch) {
  return run_messages<PublicOperation>(
      batch,
      [](Verification& item, std::span<uint8_t> encoded, PublicOperation& operation) {
        operation = {item.key, item.signature, encoded};
        return STOCKADE_OK;
      },
      [](std::span<PublicOperation> operations) { run_public(operations); },
      [&](Verification& item, std::span<uint8_t> encoded) {
        return item.status == STOCKADE_OK ? verify(padding, *item.key, item.digest, encoded) : item.status;
      });
}

Status encrypt_many(const Oaep& oaep, std::span<Encryption> batch, RandomSource& random) {
  return run_messages<PublicOperation>(
      batch,
      [&](Encryption& item, std::span<uint8_t> encoded, PublicOperation& operation) {
        if (item.ciphertext.size() < encoded.size()) return STOCKADE_ERROR_OUTPUT_SIZE;
        operation = {item.key, encoded, item.ciphertext.first(encoded.size())};
        return oaep_encode(oaep, item.message, random, encoded);
      },
      [](std::span<PublicOperation> operations) { run_public(operations); },
      [](Encryption& item, std::span<uint8_t>) {
        if (item.status != STOCKADE_OK) wipe(item.ciphertext.data(), item.ciphertext.size());
        return item.status;
      });
}

Status decrypt_many(const Oaep& oaep, std::span<Decryption> batch, RandomSource& random,
                    const Arrangement& arrangement) {
  return run_messages<PrivateOperation>(
      batch,
      [](Decryption& item, std::span<uint8_t> encoded, PrivateOperation& operation) {
        operation = {item.key, item.ciphertext, encoded};
        return STOCKADE_OK;
      },
      [&](std::span<PrivateOperation> operations) { run_private(operations, random, arrangement); },
      [&](Decryption& item, std::span<uint8_t> encoded) {
        item.length = 0;
        if (item.status == STOCKADE_OK) return oaep_decode(oaep, encoded, item.message, item.length);
        wipe(item.message.data(), item.message.size());
        return item.status;
      });
}

}  // namespace stockade::rsa
