#include "cipher/span.h"

#include <algorithm>
#include <atomic>
#include <cstring>

#include "base/bytes.h"
#include "base/secret.h"
#include "offload/policy.h"

namespace stockade::cipher {

namespace {

constexpr uint64_t block_bytes = aes::block_bytes;
// A piece of GCM costs a power of H beside its bytes, so those are longer.
constexpr uint64_t gcm_piece_bytes = uint64_t{1} << 20;
constexpr uint64_t pieces_per_worker = 16;

Status run_pieces(offload::Executor& executor, const aes::Key& key, stockade_direction direction, uint8_t chain[16],
                  const uint8_t* in, uint8_t* out, uint64_t length) {
  Secret<offload::DeviceKey> device_key;
  prepare(executor, key, *device_key);
  const parallel::Plan& plan = executor.plan();
  const bool chained = key.mode == STOCKADE_CBC || key.mode == STOCKADE_CFB;
  const bool keep = chained && in == out;
  const Pieces pieces(length, granule_bytes, keep ? std::min<uint64_t>(plan.workers, max_kept_chains) : plan.workers,
                      executor.piece_bytes(piece_bytes));
  uint8_t kept[max_kept_chains][block_bytes];
  for (uint64_t i = 1; keep && i < pieces.count; ++i) {
    std::memcpy(kept[i], in + pieces.begin(i) - block_bytes, block_bytes);
  }
  Secret<uint8_t[16]> last_chain;
  const Status status = executor.run(pieces.count, [&](offload::TransferSlot* slot, uint64_t i) {
    const uint64_t begin = pieces.begin(i);
    aes::Range range{in + begin, out + begin, pieces.begin(i + 1) - begin, {}};
    const uint8_t* const before = i == 0 || !chained ? chain : keep ? kept[i] : in + begin - block_bytes;
    std::memcpy(range.chain, before, block_bytes);
    aes::skip_blocks(key.mode, range.chain, begin / block_bytes);
    const Status done = executor.attempt(slot, [&](offload::TransferSlot& own) {
      return own.crypt(*device_key, direction, range, executor.keeps_input());
    });
    if (done == STOCKADE_OK && range.length != 0) aes::run_range(key, direction, range, plan.stores);
    if (i + 1 == pieces.count) std::memcpy(*last_chain, range.chain, block_bytes);
    wipe(range.chain, block_bytes);
    return done;
  });
  if (status == STOCKADE_OK) std::memcpy(chain, *last_chain, block_bytes);
  return finish_pieces(status, true, out, length);
}

// Each piece is hashed from zero and multiplied by the power of H that the blocks behind it call for; the sum of those
// is the hash of all pieces, in whatever order they end.
Status run_gcm_pieces(offload::Executor& executor, const gcm::Key& key, stockade_direction direction,
                      const uint8_t j0[16], uint64_t first_block, uint8_t y[16], const uint8_t* in, uint8_t* out,
                      uint64_t length) {
  Secret<offload::DeviceKey> device_key;
  prepare(executor, key, *device_key);
  const parallel::Plan& plan = executor.plan();
  const Pieces pieces(length, granule_bytes, plan.workers, executor.piece_bytes(gcm_piece_bytes));
  std::atomic<uint64_t> sum[2] = {0, 0};
  const Status status = executor.run(pieces.count, [&](offload::TransferSlot* slot, uint64_t i) {
    constexpr uint8_t zero[block_bytes] = {};
    const uint64_t begin = pieces.begin(i), end = pieces.begin(i + 1);
    Secret<offload::GcmRange> part;
    *part = {in + begin, out + begin, end - begin, first_block + begin / block_bytes, {}};
    if (i == 0) std::memcpy(part->y, y, block_bytes);
    const Status done = executor.attempt(slot, [&](offload::TransferSlot& own) {
      return own.crypt(*device_key, direction, j0, *part, executor.keeps_input());
    });
    if (done != STOCKADE_OK) return done;
    if (part->length != 0) {
      gcm::run_range(key, direction, j0, part->first_block, part->y, part->in, part->out, part->length, plan.stores);
    }
    gcm::append_hash(key, part->y, zero, (length - end + block_bytes - 1) / block_bytes);
    sum[0].fetch_xor(load_le64(part->y), std::memory_order_relaxed);
    sum[1].fetch_xor(load_le64(part->y + 8), std::memory_order_relaxed);
    return STOCKADE_OK;
  });
  if (status == STOCKADE_OK) {
    store_le64(y, sum[0].load(std::memory_order_relaxed));
    store_le64(y + 8, sum[1].load(std::memory_order_relaxed));
  }
  wipe(sum, sizeof sum);
  return finish_pieces(status, true, out, length);
}

}  // namespace

Pieces::Pieces(uint64_t length_, uint64_t granule_, uint64_t workers, uint64_t target)
    : length(length_), granule(granule_) {
  const uint64_t all = granules(length, granule);
  const uint64_t wanted = std::clamp(length / target, workers, pieces_per_worker * workers);
  count = std::min({all, wanted, std::max(workers, max_kept_chains)});
  each = all / count;
  longer = all % count;  // the first so many have one granule more
}

Status finish_pieces(Status status, bool begun, uint8_t* out, uint64_t length) {
  if (status != STOCKADE_OK && begun) wipe(out, length);
  return status;
}

Status crypt_span(const aes::Key& key, stockade_direction direction, uint8_t chain[16], const uint8_t* in, uint8_t* out,
                  uint64_t length, const config::EngineChoice& engine) {
  const bool splits = aes::splits(key.mode, direction);
  if (engine.kind == config::Kind::cuda && !splits) return STOCKADE_ERROR_MODE;
  offload::Executor executor;
  // No part at all can be a slot's where each block needs the one before it.
  parallel::Task task = task_of(key.mode, key, length, splits, in == out);
  if (!splits && config::wants_gpus(engine.kind)) task.parts = 0;
  if (const Status status = executor.acquire(engine, task, offload::home_of(engine, in, out, length));
      status != STOCKADE_OK) {
    return status;
  }
  const parallel::Plan& plan = executor.plan();
  if (plan.workers > 1 || executor.slots() != 0) return run_pieces(executor, key, direction, chain, in, out, length);
  aes::Range range{in, out, length, {}};
  std::memcpy(range.chain, chain, block_bytes);
  aes::run_range(key, direction, range, plan.stores);
  std::memcpy(chain, range.chain, block_bytes);
  wipe(range.chain, block_bytes);
  return STOCKADE_OK;
}

Status gcm_span(const gcm::Key& key, stockade_direction direction, const uint8_t j0[16], uint64_t first_block,
                uint8_t y[16], const uint8_t* in, uint8_t* out, uint64_t length, const config::EngineChoice& engine) {
  offload::Executor executor;
  const parallel::Task task = task_of(STOCKADE_GCM, key, length, true, in == out);
  const Status status = executor.acquire(engine, task, offload::home_of(engine, in, out, length));
  if (status != STOCKADE_OK) return status;
  const parallel::Plan& plan = executor.plan();
  if (plan.workers > 1 || executor.slots() != 0) {
    return run_gcm_pieces(executor, key, direction, j0, first_block, y, in, out, length);
  }
  gcm::run_range(key, direction, j0, first_block, y, in, out, length, plan.stores);
  return STOCKADE_OK;
}

}  // namespace stockade::cipher
