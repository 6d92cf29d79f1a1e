#include <algorithm>
#include <atomic>
#include <bit>

#include "aes/padding.h"
#include "base/bytes.h"
#include "engine/cipher.h"
#include "engine/cuda.h"

namespace stockade::engine {

namespace {

constexpr uint64_t block_bytes = aes::block_bytes;
constexpr config::EngineChoice one_thread{config::Kind::serial, 1};

// Pieces begin at multiples of this: whole cache lines and whole steps of every kernel.
constexpr uint64_t granule_bytes = 16 * block_bytes;

// Long messages are cut into more pieces than there are workers, for those are never equally fast and do not begin at the
// same moment. A piece of GCM costs a power of H beside its bytes, so those are longer.
constexpr uint64_t piece_bytes = uint64_t{128} << 10;
constexpr uint64_t gcm_piece_bytes = uint64_t{1} << 20;
constexpr uint64_t pieces_per_worker = 16;

// In-place decryption of CBC and CFB keeps one block per piece from before the work, on the stack.
constexpr uint64_t max_kept_chains = 512;

uint64_t granules(uint64_t length, uint64_t granule) { return std::max<uint64_t>(1, length / granule); }

// `length` bytes cut at multiples of `granule`, nearly equal; the last piece takes the incomplete granule too, so that
// it is never shorter than a granule unless it is all there is.
struct Pieces {
  uint64_t length, granule, count, each, longer;

  Pieces(uint64_t length_, uint64_t granule_, uint64_t workers, uint64_t target = piece_bytes)
      : length(length_), granule(granule_) {
    const uint64_t all = granules(length, granule);
    const uint64_t wanted = std::clamp(length / target, workers, pieces_per_worker * workers);
    count = std::min({all, wanted, std::max(workers, max_kept_chains)});
    each = all / count;
    longer = all % count;  // the first so many have one granule more
  }
  uint64_t begin(uint64_t piece) const {
    return piece == count ? length : (piece * each + std::min(piece, longer)) * granule;
  }
};

// A message that is cut at granules, as experience knows it.
template <typename Key>
parallel::Task task_of(stockade_mode mode, const Key& key, uint64_t length, bool splits, bool in_place) {
  return {experience_of(mode), key.bits, length, splits ? granules(length, granule_bytes) : 1, in_place, 0,
          row_number(key)};
}

bool overlaps(const uint8_t* in, uint64_t in_length, const uint8_t* out, uint64_t out_length) {
  return in != out && ranges_overlap(in, in_length, out, out_length);
}

// The key for the lanes of a crew that has any.
template <typename Key>
void prepare(const Crew& crew, const Key& key, LaneKey& lane_key) {
  if (crew.lanes() != 0) make_lane_key(key, lane_key);
}

// Half of an output is no output. Before anything was written there is nothing to take back, and an input in its place stays.
Status finish_pieces(Status status, bool begun, uint8_t* out, uint64_t length) {
  if (status != STOCKADE_OK && begun) wipe(out, length);
  return status;
}

Status run_pieces(Crew& crew, const aes::Key& key, stockade_direction direction, uint8_t chain[16], const uint8_t* in,
                  uint8_t* out, uint64_t length) {
  Secret<LaneKey> lane_key;
  prepare(crew, key, *lane_key);
  const parallel::Plan& plan = crew.plan();
  const bool chained = key.mode == STOCKADE_CBC || key.mode == STOCKADE_CFB;
  const bool keep = chained && in == out;
  const Pieces pieces(length, granule_bytes, keep ? std::min<uint64_t>(plan.workers, max_kept_chains) : plan.workers,
                      crew.piece_bytes(piece_bytes));
  uint8_t kept[max_kept_chains][block_bytes];
  for (uint64_t i = 1; keep && i < pieces.count; ++i) {
    std::memcpy(kept[i], in + pieces.begin(i) - block_bytes, block_bytes);
  }
  Secret<uint8_t[16]> last_chain;
  const Status status = crew.run(pieces.count, [&](Lane* lane, uint64_t i) {
    const uint64_t begin = pieces.begin(i);
    aes::Range range{in + begin, out + begin, pieces.begin(i + 1) - begin, {}};
    const uint8_t* const before = i == 0 || !chained ? chain : keep ? kept[i] : in + begin - block_bytes;
    std::memcpy(range.chain, before, block_bytes);
    aes::skip_blocks(key.mode, range.chain, begin / block_bytes);
    const Status done =
        crew.attempt(lane, [&](Lane& own) { return own.crypt(*lane_key, direction, range, crew.keeps_input()); });
    if (done == STOCKADE_OK && range.length != 0) aes::run_range(key, direction, range, plan.stores);
    if (i + 1 == pieces.count) std::memcpy(*last_chain, range.chain, block_bytes);
    wipe(range.chain, block_bytes);
    return done;
  });
  if (status == STOCKADE_OK) std::memcpy(chain, *last_chain, block_bytes);
  return finish_pieces(status, true, out, length);
}

// Each piece is hashed from zero and multiplied by the power of H that the blocks behind it call for; the sum of those
// is the hash of all, whoever comes first.
Status run_gcm_pieces(Crew& crew, const gcm::Key& key, stockade_direction direction, const uint8_t j0[16],
                      uint64_t first_block, uint8_t y[16], const uint8_t* in, uint8_t* out, uint64_t length) {
  Secret<LaneKey> lane_key;
  prepare(crew, key, *lane_key);
  const parallel::Plan& plan = crew.plan();
  const Pieces pieces(length, granule_bytes, plan.workers, crew.piece_bytes(gcm_piece_bytes));
  std::atomic<uint64_t> sum[2] = {0, 0};
  const Status status = crew.run(pieces.count, [&](Lane* lane, uint64_t i) {
    constexpr uint8_t zero[block_bytes] = {};
    const uint64_t begin = pieces.begin(i), end = pieces.begin(i + 1);
    Secret<GcmRange> part;
    *part = {in + begin, out + begin, end - begin, first_block + begin / block_bytes, {}};
    if (i == 0) std::memcpy(part->y, y, block_bytes);
    const Status done =
        crew.attempt(lane, [&](Lane& own) { return own.crypt(*lane_key, direction, j0, *part, crew.keeps_input()); });
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

// One whole GCM message, its full tag computed and not compared.
Status run_gcm(const gcm::Key& key, stockade_direction direction, const uint8_t* iv, uint64_t iv_length,
               const uint8_t* aad, uint64_t aad_length, const uint8_t* in, uint64_t length, uint8_t* out,
               uint8_t tag[16], const config::EngineChoice& engine) {
  if (!config::wants_gpus(engine.kind)) {
    const parallel::Plan plan = parallel::make_plan(engine, task_of(STOCKADE_GCM, key, length, true, in == out));
    // Where one worker is compared with teams, it has to do what they do.
    if (plan.workers == 1 && plan.lesson.kind == 0) {
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

Status check_padded(const CipherKey& key, const uint8_t* iv, uint64_t iv_length, const uint8_t* in, uint64_t length,
                    const uint8_t* out, uint64_t out_size, uint64_t out_needed) {
  if (key.mode != STOCKADE_ECB && key.mode != STOCKADE_CBC) return STOCKADE_ERROR_MODE;
  if (const Status status = aes::check_iv(key.mode, iv_length); status != STOCKADE_OK) return status;
  if (out_size < out_needed) return STOCKADE_ERROR_OUTPUT_SIZE;
  if (overlaps(in, length, out, out_needed) || ranges_overlap(iv, iv_length, out, out_needed)) {
    return STOCKADE_ERROR_OVERLAP;
  }
  return STOCKADE_OK;
}

Status check_units(const CipherKey& key, const uint8_t* iv, uint64_t iv_length, uint64_t unit, const uint8_t* in,
                   uint64_t length, const uint8_t* out) {
  if (key.mode != STOCKADE_XTS) return STOCKADE_ERROR_MODE;
  if (unit < block_bytes || unit > aes::max_unit_bytes) return STOCKADE_ERROR_ARGUMENT;
  if (const Status status = aes::check_iv(key.mode, iv_length); status != STOCKADE_OK) return status;
  const uint64_t last = length % unit;
  if (length < block_bytes || (last != 0 && last < block_bytes)) return STOCKADE_ERROR_DATA_LENGTH;
  if (overlaps(in, length, out, length) || ranges_overlap(iv, iv_length, out, length)) return STOCKADE_ERROR_OVERLAP;
  return STOCKADE_OK;
}

// These two stand apart so that `crypt` costs the shortest messages as little as it can: what it does itself needs no
// stack, and a plan would only say "the calling thread".
[[gnu::noinline]] Status crypt_planned(const aes::Key& key, stockade_direction direction, const uint8_t* iv,
                                       const uint8_t* in, uint64_t length, uint8_t* out, const config::EngineChoice& engine) {
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
Status run_many_units(Crew& crew, const aes::Key& key, stockade_direction direction, const uint8_t number[16],
                      uint64_t unit, const uint8_t* in, uint8_t* out, uint64_t length) {
  Secret<LaneKey> lane_key;
  prepare(crew, key, *lane_key);
  const parallel::Plan& plan = crew.plan();
  const Pieces pieces(length, unit, plan.workers, crew.piece_bytes(piece_bytes));
  const Status status = crew.run(pieces.count, [&](Lane* lane, uint64_t i) {
    const uint64_t begin = pieces.begin(i);
    UnitRange range{in + begin, out + begin, pieces.begin(i + 1) - begin, unit, {}};
    std::memcpy(range.number, number, sizeof range.number);
    add_le128(range.number, begin / unit);
    const Status done =
        crew.attempt(lane, [&](Lane& own) { return own.crypt_units(*lane_key, direction, range, crew.keeps_input()); });
    if (done == STOCKADE_OK && range.length != 0) {
      aes::run_units(key, direction, range.number, unit, range.in, range.out, range.length, plan.stores);
    }
    return done;
  });
  return finish_pieces(status, true, out, length);
}

}  // namespace

Status make_key(CipherKey& key, stockade_mode mode, const uint8_t* bytes, uint64_t length, const char* force) {
  const config::Environment& wish = config::environment();
  if (wish.status != STOCKADE_OK) return wish.status;
  std::string_view row = mode == STOCKADE_GCM ? wish.gcm_row : wish.aes_row, gpu_row = wish.gpu_ctr_row;
  config::Environment forced{};
  if (force != nullptr) {
    // A key has no engine, so a name for one would silently do nothing.
    if (std::string_view(force).find("engine:") != std::string_view::npos) return STOCKADE_ERROR_UNKNOWN_NAME;
    if (const Status status = config::parse_force(force, forced); status != STOCKADE_OK) return status;
    const std::string_view forced_row = mode == STOCKADE_GCM ? forced.gcm_row : forced.aes_row;
    if (!forced_row.empty()) row = forced_row;
    if (!forced.gpu_ctr_row.empty()) gpu_row = forced.gpu_ctr_row;
  }
  key.mode = mode;
  Status status;
  if (mode == STOCKADE_GCM) {
    const gcm::Variant* variant = nullptr;
    status = gcm::choose(row, wish.usable, &variant);
    if (status == STOCKADE_OK) status = gcm::expand(key.gcm, variant, bytes, length);
    if (status == STOCKADE_OK) key.bits = key.gcm.bits;
  } else {
    const aes::Variant* variant = nullptr;
    status = aes::choose(row, wish.usable, &variant);
    if (status == STOCKADE_OK) status = aes::expand(key.aes, variant, mode, bytes, length);
    if (status == STOCKADE_OK) key.bits = key.aes.bits;
    for (const aes::GpuCtrVariant& entry : aes::gpu_ctr_variants()) {
      if (gpu_row == entry.name) key.aes.gpu_ctr = &entry;
    }
  }
  return status;
}

parallel::Plan plan_message(const CipherKey& key, stockade_direction direction, uint64_t length, bool in_place,
                  const config::EngineChoice& engine) {
  const bool splits = key.mode == STOCKADE_GCM || aes::splits(key.mode, direction);
  const parallel::Plan plan = parallel::make_plan(engine, task_of(key.mode, key, length, splits, in_place));
  return config::wants_gpus(engine.kind) ? plan_lanes(engine, length, splits, plan) : plan;
}

Status check_message(const CipherKey& key, const uint8_t* iv, uint64_t iv_length, const uint8_t* in, uint64_t length,
                     const uint8_t* out) {
  // No operating system gives out a longer buffer.
  constexpr uint64_t most_bytes = uint64_t{1} << 47;
  if (key.mode == STOCKADE_GCM) return STOCKADE_ERROR_MODE;
  if (const Status status = aes::check_iv(key.mode, iv_length); status != STOCKADE_OK) return status;
  if (const Status status = aes::check_length(key.mode, length); status != STOCKADE_OK) return status;
  if (length > most_bytes) return STOCKADE_ERROR_DATA_TOO_LONG;
  if (overlaps(in, length, out, length) || ranges_overlap(iv, iv_length, out, length)) return STOCKADE_ERROR_OVERLAP;
  return STOCKADE_OK;
}

Status crypt_span(const aes::Key& key, stockade_direction direction, uint8_t chain[16], const uint8_t* in, uint8_t* out,
                  uint64_t length, const config::EngineChoice& engine) {
  const bool splits = aes::splits(key.mode, direction);
  if (engine.kind == config::Kind::cuda && !splits) return STOCKADE_ERROR_MODE;
  Crew crew;
  // No part at all can be a lane's where each block needs the one before it.
  parallel::Task task = task_of(key.mode, key, length, splits, in == out);
  if (!splits && config::wants_gpus(engine.kind)) task.parts = 0;
  if (const Status status = crew.gather(engine, task, home_of(engine, in, out, length)); status != STOCKADE_OK) {
    return status;
  }
  const parallel::Plan& plan = crew.plan();
  if (plan.workers > 1 || crew.lanes() != 0) return run_pieces(crew, key, direction, chain, in, out, length);
  aes::Range range{in, out, length, {}};
  std::memcpy(range.chain, chain, block_bytes);
  parallel::run_alone(plan, [&] { aes::run_range(key, direction, range, plan.stores); });
  std::memcpy(chain, range.chain, block_bytes);
  wipe(range.chain, block_bytes);
  return STOCKADE_OK;
}

Status gcm_span(const gcm::Key& key, stockade_direction direction, const uint8_t j0[16], uint64_t first_block,
                uint8_t y[16], const uint8_t* in, uint8_t* out, uint64_t length, const config::EngineChoice& engine) {
  Crew crew;
  const parallel::Task task = task_of(STOCKADE_GCM, key, length, true, in == out);
  const Status status = crew.gather(engine, task, home_of(engine, in, out, length));
  if (status != STOCKADE_OK) return status;
  const parallel::Plan& plan = crew.plan();
  if (plan.workers > 1 || crew.lanes() != 0) {
    return run_gcm_pieces(crew, key, direction, j0, first_block, y, in, out, length);
  }
  parallel::run_alone(plan, [&] { gcm::run_range(key, direction, j0, first_block, y, in, out, length, plan.stores); });
  return STOCKADE_OK;
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
                   uint64_t unit, const uint8_t* in, uint64_t length, uint8_t* out, const config::EngineChoice& engine) {
  const Status status = check_units(key, iv, iv_length, unit, in, length, out);
  if (status != STOCKADE_OK) return status;
  uint8_t number[block_bytes];
  std::memcpy(number, iv, sizeof number);
  if (unit >= piece_bytes && length / unit < 4 * uint64_t{engine.threads}) {
    return run_long_units(key.aes, direction, number, unit, in, out, length, engine);
  }
  Crew crew;
  // Short units take much longer than long ones.
  const auto way = static_cast<uint16_t>(row_number(key.aes) | std::bit_width(unit) << 4);
  const parallel::Task task{tune::Operation::xts, key.bits, length, granules(length, unit), in == out, 0, way};
  const Status gathered = crew.gather(engine, task, home_of(engine, in, out, length));
  if (gathered != STOCKADE_OK) return gathered;
  return run_many_units(crew, key.aes, direction, number, unit, in, out, length);
}

Status check_sealed(const CipherKey& key, stockade_direction direction, const uint8_t* iv, uint64_t iv_length,
                    const uint8_t* aad, uint64_t aad_length, const uint8_t* in, uint64_t length, const uint8_t* out,
                    const uint8_t* tag, uint64_t tag_length) {
  if (key.mode != STOCKADE_GCM) return STOCKADE_ERROR_MODE;
  if (const Status status = gcm::check(iv_length, aad_length, length, tag_length); status != STOCKADE_OK) {
    return status;
  }
  if (overlaps(in, length, out, length) || ranges_overlap(iv, iv_length, out, length) ||
      ranges_overlap(aad, aad_length, out, length) || ranges_overlap(tag, tag_length, out, length)) {
    return STOCKADE_ERROR_OVERLAP;
  }
  // A tag that is written is output too.
  const bool writes_over = direction == STOCKADE_ENCRYPT && (ranges_overlap(tag, tag_length, in, length) ||
                                                             ranges_overlap(tag, tag_length, iv, iv_length) ||
                                                             ranges_overlap(tag, tag_length, aad, aad_length));
  return writes_over ? STOCKADE_ERROR_OVERLAP : STOCKADE_OK;
}

Status seal(const CipherKey& key, const uint8_t* iv, uint64_t iv_length, const uint8_t* aad, uint64_t aad_length,
            const uint8_t* in, uint64_t length, uint8_t* out, uint8_t* tag, uint64_t tag_length, const config::EngineChoice& engine) {
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

}  // namespace stockade::engine
