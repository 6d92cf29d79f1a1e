#include <algorithm>
#include <atomic>
#include <bit>

#include "aes/padding.h"
#include "base/bytes.h"
#include "cipher/check.h"
#include "cipher/key.h"
#include "cipher/message.h"
#include "cipher/span.h"
#include "config/environment.h"
#include "offload/device_key.h"
#include "offload/executor.h"
#include "offload/policy.h"
#include "offload/transfer_slot.h"

namespace stockade::cipher {

namespace {

constexpr uint64_t block_bytes = aes::block_bytes;
constexpr config::EngineChoice one_thread{config::Kind::serial, 1};

// One whole GCM message, its full tag computed and not compared.
Status run_gcm(const gcm::Key& key, stockade_direction direction, const uint8_t* iv, uint64_t iv_length,
               const uint8_t* aad, uint64_t aad_length, const uint8_t* in, uint64_t length, uint8_t* out,
               uint8_t tag[16], const config::EngineChoice& engine) {
  if (!config::wants_gpus(engine.kind)) {
    const parallel::Plan plan = parallel::make_plan(engine, task_of(STOCKADE_GCM, key, length, true, in == out));
    if (plan.workers == 1) {
      gcm::run_message(key, direction, iv, iv_length, aad, aad_length, in, length, out, tag, plan.stores);
      return STOCKADE_OK;
    }
  }
  Secret<uint8_t[16]> j0, y;
  gcm::derive_j0(key, iv, iv_length, *j0);
  gcm::hash_padded(key, *y, aad, aad_length);
  const Status status = gcm_span(key, direction, *j0, 0, *y, in, out, length, engine);
  if (status == STOCKADE_OK) gcm::finish_tag(key, *j0, *y, aad_length, length, tag);
  return status;
}

// These two stand apart so that `crypt` costs the shortest messages as little as it can: what it does itself needs no
// stack, and a plan would only say "the calling thread".
[[gnu::noinline]] Status crypt_planned(const aes::Key& key, stockade_direction direction, const uint8_t* iv,
                                       const uint8_t* in, uint64_t length, uint8_t* out,
                                       const config::EngineChoice& engine) {
  Secret<uint8_t[16]> chain;
  aes::start_chain(key, iv, 0, nullptr, *chain);
  return crypt_span(key, direction, *chain, in, out, length, engine);
}

[[gnu::noinline]] void crypt_short(const aes::Key& key, stockade_direction direction, const uint8_t* iv,
                                   const uint8_t* in, uint64_t length, uint8_t* out) {
  aes::Range range{in, out, length, {}};
  aes::start_chain(key, iv, 0, nullptr, range.chain);
  aes::run_range(key, direction, range, aes::Stores::ordinary);
  wipe(range.chain, block_bytes);
}

// Few long units: each is cut, one after the other.
Status run_long_units(const aes::Key& key, stockade_direction direction, uint8_t number[16], uint64_t unit,
                      const uint8_t* in, uint8_t* out, uint64_t length, const config::EngineChoice& engine) {
  for (uint64_t done = 0; done < length; done += std::min(unit, length - done)) {
    Secret<uint8_t[16]> chain;
    aes::start_chain(key, number, 0, nullptr, *chain);
    const uint64_t bytes = std::min(unit, length - done);
    const Status status = crypt_span(key, direction, *chain, in + done, out + done, bytes, engine);
    if (status != STOCKADE_OK) return finish_pieces(status, done != 0, out, length);
    add_le128(number, 1);
  }
  return STOCKADE_OK;
}

// Many units: each worker has some.
Status run_many_units(offload::Executor& executor, const aes::Key& key, stockade_direction direction,
                      const uint8_t number[16], uint64_t unit, const uint8_t* in, uint8_t* out, uint64_t length) {
  Secret<offload::DeviceKey> device_key;
  prepare(executor, key, *device_key);
  const parallel::Plan& plan = executor.plan();
  const Pieces pieces(length, unit, plan.workers, executor.piece_bytes(piece_bytes));
  const Status status = executor.run(pieces.count, [&](offload::TransferSlot* slot, uint64_t i) {
    const uint64_t begin = pieces.begin(i);
    offload::UnitRange range{in + begin, out + begin, pieces.begin(i + 1) - begin, unit, {}};
    std::memcpy(range.number, number, sizeof range.number);
    add_le128(range.number, begin / unit);
    const Status done = executor.attempt(slot, [&](offload::TransferSlot& own) {
      return own.crypt_units(*device_key, direction, range, executor.keeps_input());
    });
    if (done == STOCKADE_OK && range.length != 0) {
      aes::run_units(key, direction, range.number, unit, range.in, range.out, range.length, plan.stores);
    }
    return done;
  });
  return finish_pieces(status, true, out, length);
}

}  // namespace

parallel::Plan plan_message(const CipherKey& key, stockade_direction direction, uint64_t length, bool in_place,
                            const config::EngineChoice& engine) {
  const bool splits = key.mode == STOCKADE_GCM || aes::splits(key.mode, direction);
  const parallel::Plan plan = parallel::make_plan(engine, task_of(key.mode, key, length, splits, in_place));
  return config::wants_gpus(engine.kind) ? offload::plan_slots(engine, length, splits, plan) : plan;
}

Status crypt(const CipherKey& key, stockade_direction direction, const uint8_t* iv, uint64_t iv_length,
             const uint8_t* in, uint64_t length, uint8_t* out, const config::EngineChoice& engine) {
  const Status status = check_message(key, iv, iv_length, in, length, out);
  if (status != STOCKADE_OK || length == 0) return status;
  if (engine.kind == config::Kind::threads || config::wants_gpus(engine.kind) || length >= tune::least_split) {
    return crypt_planned(key.aes, direction, iv, in, length, out, engine);
  }
  if (key.mode == STOCKADE_ECB) {
    const aes::Kernels& kernels = *key.aes.variant->kernels;
    const auto run = direction == STOCKADE_ENCRYPT ? kernels.ecb_encrypt : kernels.ecb_decrypt;
    run(key.aes.data, in, out, length / block_bytes, aes::Stores::ordinary);
  } else {
    crypt_short(key.aes, direction, iv, in, length, out);
  }
  return STOCKADE_OK;
}

Status encrypt_padded(const CipherKey& key, const uint8_t* iv, uint64_t iv_length, const uint8_t* in, uint64_t length,
                      uint8_t* out, uint64_t out_size, uint64_t* out_length, const config::EngineChoice& engine) {
  const uint64_t used = length % block_bytes;
  const uint64_t whole = length - used;
  const bool fits = whole <= UINT64_MAX - block_bytes;
  const uint64_t needed = fits ? whole + block_bytes : UINT64_MAX;
  // No buffer can hold what has no length.
  const Status status = check_padded(key, iv, iv_length, in, length, out, fits ? out_size : 0, needed);
  if (status != STOCKADE_OK) return status;
  Secret<uint8_t[16]> chain, last;
  aes::start_chain(key.aes, iv, 0, nullptr, *chain);
  if (used != 0) std::memcpy(*last, in + whole, used);
  aes::pad_block(*last, used);
  if (engine.kind == config::Kind::cuda && !aes::splits(key.mode, STOCKADE_ENCRYPT)) return STOCKADE_ERROR_MODE;
  if (whole != 0) {
    const Status done = crypt_span(key.aes, STOCKADE_ENCRYPT, *chain, in, out, whole, engine);
    if (done != STOCKADE_OK) return done;
  }
  // One block is no work for anybody else.
  crypt_span(key.aes, STOCKADE_ENCRYPT, *chain, *last, out + whole, block_bytes, one_thread);
  *out_length = needed;
  return STOCKADE_OK;
}

Status decrypt_padded(const CipherKey& key, const uint8_t* iv, uint64_t iv_length, const uint8_t* in, uint64_t length,
                      uint8_t* out, uint64_t out_size, uint64_t* out_length, const config::EngineChoice& engine) {
  const Status status = check_padded(key, iv, iv_length, in, length, out, out_size, length);
  if (status == STOCKADE_ERROR_MODE || status == STOCKADE_ERROR_IV_LENGTH) return status;
  if (length == 0 || length % block_bytes != 0) return STOCKADE_ERROR_DATA_LENGTH;
  if (status != STOCKADE_OK) return status;
  Secret<uint8_t[16]> chain;
  aes::start_chain(key.aes, iv, 0, nullptr, *chain);
  const Status done = crypt_span(key.aes, STOCKADE_DECRYPT, *chain, in, out, length, engine);
  if (done != STOCKADE_OK) return done;
  const uint32_t padding = aes::padding_length(out + length - block_bytes);
  if (padding == 0) {
    wipe(out, length);
    return STOCKADE_ERROR_PADDING;
  }
  *out_length = length - padding;
  return STOCKADE_OK;
}

Status crypt_units(const CipherKey& key, stockade_direction direction, const uint8_t* iv, uint64_t iv_length,
                   uint64_t unit, const uint8_t* in, uint64_t length, uint8_t* out,
                   const config::EngineChoice& engine) {
  const Status status = check_units(key, iv, iv_length, unit, in, length, out);
  if (status != STOCKADE_OK) return status;
  uint8_t number[block_bytes];
  std::memcpy(number, iv, sizeof number);
  if (unit >= piece_bytes && length / unit < 4 * uint64_t{engine.threads}) {
    return run_long_units(key.aes, direction, number, unit, in, out, length, engine);
  }
  offload::Executor executor;
  const parallel::Task task{tune::Operation::xts, key.bits, length, granules(length, unit), in == out};
  const Status gathered = executor.acquire(engine, task, offload::home_of(engine, in, out, length));
  if (gathered != STOCKADE_OK) return gathered;
  return run_many_units(executor, key.aes, direction, number, unit, in, out, length);
}

Status seal(const CipherKey& key, const uint8_t* iv, uint64_t iv_length, const uint8_t* aad, uint64_t aad_length,
            const uint8_t* in, uint64_t length, uint8_t* out, uint8_t* tag, uint64_t tag_length,
            const config::EngineChoice& engine) {
  Status status = check_sealed(key, STOCKADE_ENCRYPT, iv, iv_length, aad, aad_length, in, length, out, tag, tag_length);
  if (status != STOCKADE_OK) return status;
  uint8_t full_tag[block_bytes];
  status = run_gcm(key.gcm, STOCKADE_ENCRYPT, iv, iv_length, aad, aad_length, in, length, out, full_tag, engine);
  if (status == STOCKADE_OK) std::memcpy(tag, full_tag, tag_length);
  return status;
}

Status open(const CipherKey& key, const uint8_t* iv, uint64_t iv_length, const uint8_t* aad, uint64_t aad_length,
            const uint8_t* in, uint64_t length, uint8_t* out, const uint8_t* tag, uint64_t tag_length,
            const config::EngineChoice& engine) {
  Status status = check_sealed(key, STOCKADE_DECRYPT, iv, iv_length, aad, aad_length, in, length, out, tag, tag_length);
  if (status != STOCKADE_OK) return status;
  // The right tag of a message that is not authentic is what a forger is after.
  Secret<uint8_t[16]> full_tag;
  status = run_gcm(key.gcm, STOCKADE_DECRYPT, iv, iv_length, aad, aad_length, in, length, out, *full_tag, engine);
  if (status != STOCKADE_OK) return status;
  if (equal_constant_time(*full_tag, tag, tag_length)) return STOCKADE_OK;
  wipe(out, length);
  return STOCKADE_ERROR_AUTHENTICATION;
}

}  // namespace stockade::cipher
