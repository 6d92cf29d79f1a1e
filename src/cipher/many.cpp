#include <algorithm>
#include <bit>
#include <optional>
#include <span>

#include "base/bytes.h"
#include "cipher/check.h"
#include "cipher/key.h"
#include "cipher/many.h"
#include "cipher/message.h"
#include "config/environment.h"
#include "offload/backend.h"
#include "offload/executor.h"
#include "offload/transfer_slot.h"

namespace stockade::cipher {

namespace {

constexpr config::EngineChoice one_thread{config::Kind::serial, 1};

// Messages are looked at several times before they are run, so they are taken in chunks that stay in a core's own
// cache.
constexpr uint64_t chunk_messages = 1024;
constexpr uint64_t least_chunk = 64;
// What a message costs beside its bytes: checks, chain set-up, a partly filled kernel.
constexpr uint64_t message_cost = 256;
// Messages of a chunk are handed to workers in runs that cost about this much.
constexpr uint64_t run_cost = uint64_t{64} << 10;
// A message from here on may be cut if it is a large part of all the work.
constexpr uint64_t large_bytes = uint64_t{128} << 10;

const uint8_t* bytes(const void* pointer) { return static_cast<const uint8_t*>(pointer); }

bool is_sequential(const stockade_message& message, stockade_direction direction) {
  const stockade_mode mode = message.key->cipher.mode;
  return mode != STOCKADE_GCM && !aes::splits(mode, direction);
}

parallel::Task task_of(uint64_t cost, uint64_t parts) { return {tune::Operation::messages, 256, cost, parts, true}; }

uint64_t cost_of(const stockade_message& message) {
  constexpr uint64_t most = uint64_t{1} << 40;  // sums of refused lengths must not wrap
  return std::min(message.length, most) + message_cost;
}

// What stays the same throughout one call.
struct Job {
  stockade_direction direction;
  // Splitting messages of this many bytes and more are cut, the others run whole. Without it, all of them do.
  std::optional<uint64_t> cut_from;
  bool sequential_only = false;  // the others have been run

  bool cuts(const stockade_message& message) const { return splits(message) && is_long(message); }
  bool runs_whole(const stockade_message& message) const {
    return !sequential_only && splits(message) && !is_long(message);
  }

 private:
  bool splits(const stockade_message& message) const {
    return message.status == STOCKADE_OK && !is_sequential(message, direction);
  }
  bool is_long(const stockade_message& message) const { return cut_from && message.length >= *cut_from; }
};

// Messages of the sequential modes that can share a kernel call have one mode, one row and one number of rounds.
constexpr uint32_t group_limit = 256;
static_assert(STOCKADE_CFB == STOCKADE_CBC + 1 && STOCKADE_OFB == STOCKADE_CBC + 2);
uint32_t group_of(const CipherKey& key) {
  const auto row = static_cast<uint32_t>(key.aes.variant - aes::variants().data());
  return (row * 3 + (key.bits - 128) / 64) * 3 + (key.mode - STOCKADE_CBC);
}

// Longer messages have higher classes: exact under 512 blocks, then 256 to every doubling.
constexpr uint32_t length_classes = 256 * 54;
uint32_t length_class(uint64_t length) {
  const uint64_t blocks = length / aes::block_bytes;
  const auto width = static_cast<uint32_t>(std::bit_width(blocks));
  if (width <= 9) return static_cast<uint32_t>(blocks);
  return (width - 8) * 256 + static_cast<uint32_t>(blocks >> (width - 9) & 255);
}

// What the first look at a chunk finds.
struct Survey {
  uint64_t whole_count = 0;
  uint64_t whole_cost = 0;
  uint64_t sequential_count = 0;
  bool group_seen[group_limit] = {};
};

Survey survey(const Job& job, stockade_message* messages, uint64_t count) {
  Survey found;
  for (uint64_t i = 0; i < count; ++i) {
    stockade_message& message = messages[i];
    if (message.status != STOCKADE_OK) continue;
    if (!is_sequential(message, job.direction)) {
      if (!job.runs_whole(message)) continue;
      ++found.whole_count;
      found.whole_cost += cost_of(message);
      continue;
    }
    const CipherKey& key = message.key->cipher;
    message.status =
        check_message(key, bytes(message.iv), message.iv_length, bytes(message.in), message.length, bytes(message.out));
    if (message.status != STOCKADE_OK || message.length == 0) continue;
    ++found.sequential_count;
    found.group_seen[group_of(key)] = true;
  }
  return found;
}

void run_one(stockade_direction direction, stockade_message& message, const config::EngineChoice& engine) {
  const CipherKey& key = message.key->cipher;
  auto* const out = static_cast<uint8_t*>(message.out);
  auto* const tag = static_cast<uint8_t*>(message.tag);
  if (key.mode != STOCKADE_GCM) {
    message.status =
        crypt(key, direction, bytes(message.iv), message.iv_length, bytes(message.in), message.length, out, engine);
  } else if (direction == STOCKADE_ENCRYPT) {
    message.status = seal(key, bytes(message.iv), message.iv_length, bytes(message.aad), message.aad_length,
                          bytes(message.in), message.length, out, tag, message.tag_length, engine);
  } else {
    message.status = open(key, bytes(message.iv), message.iv_length, bytes(message.aad), message.aad_length,
                          bytes(message.in), message.length, out, tag, message.tag_length, engine);
  }
}

void run_whole(const Job& job, stockade_message* messages, uint64_t count, const Survey& found,
               const config::EngineChoice& engine) {
  const parallel::Plan plan = parallel::make_plan(engine, task_of(found.whole_cost, found.whole_count));
  const uint64_t mean_cost = found.whole_cost / found.whole_count;
  parallel::parallel_for(plan, count, std::max<uint64_t>(1, run_cost / mean_cost),
                         [&](uint64_t begin, uint64_t end, uint32_t) {
                           for (uint64_t i = begin; i < end; ++i) {
                             if (job.runs_whole(messages[i])) run_one(job.direction, messages[i], one_thread);
                           }
                         });
}

// Puts a chunk's messages of one group into `order`, longest first, and returns how many there are.
uint64_t order_group(uint32_t group, const Job& job, stockade_message* messages, uint64_t count,
                     stockade_message** order, uint64_t& cost) {
  struct Member {
    stockade_message* message;
    uint32_t length;
  } members[chunk_messages];
  uint64_t total = 0;
  uint32_t highest = 0, lowest = length_classes;
  bool ordered = true;
  cost = 0;
  for (uint64_t i = 0; i < count; ++i) {
    stockade_message& message = messages[i];
    if (message.status != STOCKADE_OK || message.length == 0 || !is_sequential(message, job.direction)) continue;
    if (group_of(message.key->cipher) != group) continue;
    const uint32_t length = length_class(message.length);
    ordered = ordered && length <= lowest;
    lowest = std::min(lowest, length);
    highest = std::max(highest, length);
    members[total] = {&message, length};
    order[total++] = &message;
    cost += cost_of(message);
  }
  if (ordered) return total;
  uint16_t starts[length_classes + 1];  // by how far a class is below the highest
  std::fill(starts, starts + (highest - lowest + 1), uint16_t{0});
  for (uint64_t i = 0; i < total; ++i) ++starts[highest - members[i].length];
  uint16_t before = 0;
  for (uint32_t i = 0; i <= highest - lowest; ++i) {
    const uint16_t here = starts[i];
    starts[i] = before;
    before = static_cast<uint16_t>(before + here);
  }
  for (uint64_t i = 0; i < total; ++i) order[starts[highest - members[i].length]++] = members[i].message;
  return total;
}

// Runs each `stride`-th message of the order from `first` on: workers that stride side by side have the same mix of
// lengths.
void run_strided(stockade_direction direction, stockade_message* const* order, uint64_t count, uint64_t first,
                 uint64_t stride) {
  aes::StreamMessage streams[chunk_messages];
  aes::StreamMessage* pointers[chunk_messages];
  uint64_t filled = 0;
  for (; first < count; first += stride, ++filled) {
    const stockade_message& message = *order[first];
    aes::StreamMessage& stream = streams[filled];
    stream.key = &message.key->cipher.aes;
    std::memcpy(stream.iv, message.iv, sizeof stream.iv);
    stream.in = bytes(message.in);
    stream.out = static_cast<uint8_t*>(message.out);
    stream.length = message.length;
    pointers[filled] = &stream;
  }
  aes::run_streams(streams[0].key->mode, direction, pointers, filled);
}

void run_sequential(const Job& job, stockade_message* messages, uint64_t count, const Survey& found,
                    const config::EngineChoice& engine) {
  stockade_message* order[chunk_messages];
  for (uint32_t group = 0; group < group_limit; ++group) {
    if (!found.group_seen[group]) continue;
    uint64_t cost = 0;
    const uint64_t members = order_group(group, job, messages, count, order, cost);
    // Half-filled lanes take as long as full ones: fewer messages than that are no work for another worker.
    const uint32_t lanes = order[0]->key->cipher.aes.variant->lanes;
    const uint64_t least = engine.kind == config::Kind::threads ? 1 : std::max<uint64_t>(1, lanes / 2);
    const parallel::Plan plan = parallel::make_plan(engine, task_of(cost, (members + least - 1) / least));
    const uint64_t strides = std::min<uint64_t>(members, plan.workers);
    parallel::parallel_for(plan, strides, 1, [&](uint64_t begin, uint64_t end, uint32_t) {
      for (uint64_t i = begin; i < end; ++i) run_strided(job.direction, order, members, i, strides);
    });
  }
}

// At most chunk_messages, but for those that are cut.
void run_chunk(const Job& job, stockade_message* messages, uint64_t count, const config::EngineChoice& engine) {
  const Survey found = survey(job, messages, count);
  if (found.whole_count != 0) run_whole(job, messages, count, found, engine);
  if (found.sequential_count != 0) run_sequential(job, messages, count, found, engine);
}

// Decides which messages are cut, runs those, and returns what the others cost. A message that would keep one worker
// busy long after the others have finished is better done by all of them.
uint64_t run_cut(Job& job, stockade_message* messages, uint64_t count, const config::EngineChoice& engine) {
  uint64_t cost = 0;
  for (uint64_t i = 0; i < count; ++i) {
    if (messages[i].status == STOCKADE_OK) cost += cost_of(messages[i]);
  }
  job.cut_from = std::max(large_bytes, cost / (4 * uint64_t{engine.threads}));
  for (uint64_t i = 0; i < count; ++i) {
    if (!job.cuts(messages[i])) continue;
    cost -= cost_of(messages[i]);
    run_one(job.direction, messages[i], engine);
  }
  return cost;
}

// All but those that are cut.
void run_uncut(const Job& job, stockade_message* messages, uint64_t count, uint64_t cost,
               const config::EngineChoice& engine) {
  if (count <= chunk_messages) return run_chunk(job, messages, count, engine);
  const uint64_t chunk = std::clamp(count / (8 * uint64_t{engine.threads}), least_chunk, chunk_messages);
  const parallel::Plan plan = parallel::make_plan(engine, task_of(cost, (count + chunk - 1) / chunk));
  parallel::parallel_for(plan, count, chunk, [&](uint64_t begin, uint64_t end, uint32_t) {
    run_chunk(job, messages + begin, end - begin, one_thread);
  });
}

// ---- with slots ----

// Messages that a worker takes at a time.
constexpr uint64_t most_packed = 128;

Status check_one(stockade_direction direction, const stockade_message& message) {
  const CipherKey& key = message.key->cipher;
  const auto* const out = static_cast<const uint8_t*>(message.out);
  if (key.mode != STOCKADE_GCM) {
    return check_message(key, bytes(message.iv), message.iv_length, bytes(message.in), message.length, out);
  }
  return check_sealed(key, direction, bytes(message.iv), message.iv_length, bytes(message.aad), message.aad_length,
                      bytes(message.in), message.length, out, bytes(message.tag), message.tag_length);
}

offload::PackedMessage describe(stockade_message& message) {
  const CipherKey& key = message.key->cipher;
  const bool gcm = key.mode == STOCKADE_GCM;
  offload::PackedMessage packed{};
  packed.aes = gcm ? nullptr : &key.aes;
  packed.gcm = gcm ? &key.gcm : nullptr;
  packed.in = bytes(message.in);
  packed.out = static_cast<uint8_t*>(message.out);
  packed.length = message.length;
  packed.aad = bytes(message.aad);
  packed.aad_length = message.aad_length;
  packed.tag = static_cast<uint8_t*>(message.tag);
  packed.tag_length = message.tag_length;
  packed.status = &message.status;
  packed.iv = bytes(message.iv);
  packed.iv_length = message.iv_length;
  return packed;
}

// At most most_packed.
void run_packed(offload::Executor& executor, offload::TransferSlot* slot, const Job& job, stockade_message* messages,
                uint64_t count, const config::EngineChoice& engine) {
  offload::PackedMessage packed[most_packed];
  stockade_message* sources[most_packed];
  uint64_t filled = 0;
  for (uint64_t i = 0; i < count; ++i) {
    if (!job.runs_whole(messages[i])) continue;
    messages[i].status = check_one(job.direction, messages[i]);
    if (messages[i].status != STOCKADE_OK) continue;
    sources[filled] = &messages[i];
    packed[filled++] = describe(messages[i]);
  }
  for (uint64_t i = 0; i < filled;) {
    uint64_t done = 0;
    const Status status = executor.attempt(
        slot, [&](offload::TransferSlot& own) { return own.pack(job.direction, packed + i, filled - i, &done); });
    if (status != STOCKADE_OK) {
      for (; i < filled; ++i) sources[i]->status = status;
      return;
    }
    if (done == 0) {
      // For a core, or too long for this slot's buffers.
      run_one(job.direction, *sources[i], executor.keeps_input() ? one_thread : engine);
      done = 1;
    }
    i += done;
  }
}

// Messages that no slot can run, and what is left for the CPU anyway.
void run_sequential_ones(Job job, stockade_message* messages, uint64_t count, const config::EngineChoice& engine) {
  if (engine.kind == config::Kind::hybrid) {
    job.sequential_only = true;
    run_uncut(job, messages, count, UINT64_MAX, {config::Kind::automatic, engine.threads});
    return;
  }
  for (uint64_t i = 0; i < count; ++i) {
    stockade_message& message = messages[i];
    if (message.status != STOCKADE_OK || !is_sequential(message, job.direction)) continue;
    message.status = check_one(job.direction, message);
    if (message.status == STOCKADE_OK) message.status = STOCKADE_ERROR_MODE;
  }
}

void run_with_slots(stockade_direction direction, stockade_message* messages, uint64_t count,
                    const config::EngineChoice& engine) {
  Job job{direction, offload::backend().pinned.run_bytes / 8};
  uint64_t cost = 0, whole = 0;
  for (uint64_t i = 0; i < count; ++i) {
    if (job.cuts(messages[i])) {
      run_one(direction, messages[i], engine);
    } else if (job.runs_whole(messages[i])) {
      cost += cost_of(messages[i]);
      ++whole;
    }
  }
  if (whole != 0) {
    offload::Executor executor;
    const Status status = executor.acquire(engine, task_of(cost, whole), offload::Home::ordinary);
    const uint64_t workers = executor.plan().workers;
    const uint64_t chunk = std::clamp<uint64_t>(count / (4 * workers), 1, most_packed);
    if (status == STOCKADE_OK && executor.slots() == 0) {
      return run_uncut(job, messages, count, cost, {config::Kind::automatic, engine.threads});
    }
    if (status == STOCKADE_OK) {
      executor.run((count + chunk - 1) / chunk, [&](offload::TransferSlot* slot, uint64_t i) {
        run_packed(executor, slot, job, messages + i * chunk, std::min(chunk, count - i * chunk), engine);
        return STOCKADE_OK;
      });
    } else {
      for (uint64_t i = 0; i < count; ++i) {
        if (job.runs_whole(messages[i])) messages[i].status = status;
      }
    }
  }
  run_sequential_ones(job, messages, count, engine);
}

}  // namespace

void crypt_many(stockade_direction direction, stockade_message* messages, uint64_t count,
                const config::EngineChoice& engine) {
  if (config::wants_gpus(engine.kind)) return run_with_slots(direction, messages, count, engine);
  Job job{direction, std::nullopt};
  const uint64_t cost = engine.threads > 1 ? run_cut(job, messages, count, engine) : 0;
  run_uncut(job, messages, count, cost, engine);
}

}  // namespace stockade::cipher
