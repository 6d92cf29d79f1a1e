#include "offload/policy.h"

#include <algorithm>
#include <bit>

#include "cpu/machine.h"

namespace stockade::offload {

// Each slot has its share of the job, but a small job has few. `shared`: the cores have work of their own.
uint64_t slots_for(const Backend& own, uint64_t devices, uint64_t length, uint64_t parts, Home home, bool shared) {
  const auto count = static_cast<uint32_t>(std::popcount(devices));
  uint32_t each = own.pinned.slots;
  if (home == Home::ordinary && !shared) {
    each = std::clamp(cpu::machine().cores / count, each, std::max(each, own.staged.slots));
  }
  const uint64_t all = std::min<uint64_t>(uint64_t{count} * each, max_slots);
  return std::clamp<uint64_t>(std::min(parts, length / own.slot_bytes), 1, all);
}

// Lanes' workers sleep most of the time, but more threads than cores would wait for one another at the end. One at least has
// no slot.
uint32_t hybrid_workers(uint32_t slots, const parallel::Plan& cpu) { return std::max(cpu.workers, slots + 1); }

// The profile's entry for data in host memory and a machine's first GPU; null where there is none. `bits` are counted as
// 256: data moves alike whatever the key.
const tune::Entry* transfer_entry(const Backend& own, Home home, uint64_t length) {
  gpu::DeviceFacts facts;
  if (home == Home::file || own.runtime->facts(0, facts) != STOCKADE_OK) return nullptr;
  const auto operation = home == Home::pinned ? tune::Operation::gpu_pinned : tune::Operation::gpu_staged;
  return tune::find(operation, 256, length, facts.name);
}

// The backend with the slots that the profile has found to be better.
Backend informed(const Backend& own, Home home, uint64_t length) {
  Backend known = own;
  const tune::Entry* const row = transfer_entry(own, home, length);
  if (row == nullptr) return known;
  SlotShape& ring = home == Home::pinned ? known.pinned : known.staged;
  if (row->choice.run_bytes != 0) ring.run_bytes = row->choice.run_bytes;
  if (row->choice.lanes == 0) return known;
  // slots_for has a range between the two where data is staged.
  known.pinned.slots = known.staged.slots = row->choice.lanes;
  return known;
}

uint64_t run_bytes_for(const Backend& own, Home home) {
  return home == Home::pinned ? own.pinned.run_bytes : own.staged.run_bytes;
}

// Whether an automatic engine may use GPUs for such a message: the profile has an entry for it, and the process has
// looked for them before. To start a driver takes longer than most jobs.
bool may_use_gpus(const config::EngineChoice& engine, uint64_t length) {
  return engine.kind == config::Kind::automatic && engine.threads >= 1 && length >= tune::gpus_from() &&
         backend().runtime->known() != 0;
}

parallel::Plan plan_slots(const config::EngineChoice& engine, uint64_t length, bool splits, parallel::Plan cpu) {
  const Backend& own = backend();
  const bool alone = engine.kind == config::Kind::cuda;
  uint64_t devices = 0;
  const bool present = usable_devices(engine.devices, devices) == STOCKADE_OK;
  if (!present || !splits || (!alone && length < own.hybrid_from)) {
    if (!alone) return cpu;
    return {config::Kind::cuda, 1, aes::Stores::ordinary,
            present ? "in a mode that no GPU can cut" : "and no GPU to run on"};
  }
  const auto slots = static_cast<uint32_t>(slots_for(own, devices, length, UINT64_MAX, Home::file, !alone));
  if (alone) return {config::Kind::cuda, slots, aes::Stores::ordinary, "and GPUs that were asked for"};
  return {config::Kind::hybrid, hybrid_workers(slots, cpu), cpu.stores, "are enough for GPUs and cores together"};
}

gpu::Shape known_shape(tune::Operation operation, uint32_t bits, uint64_t length, const char* gpu,
                       const gpu::Shape& otherwise) {
  const tune::Entry* const row = tune::find(operation, bits, length, gpu);
  return row == nullptr ? otherwise : shape_of(*row, otherwise);
}

gpu::Shape shape_of(const tune::Entry& row, const gpu::Shape& otherwise) {
  gpu::Shape shape = otherwise;
  if (row.choice.threads != 0) shape.threads = row.choice.threads;
  if (row.choice.blocks != 0) shape.blocks_per_thread = row.choice.blocks;
  if (row.choice.per_multiprocessor != 0) shape.blocks_per_multiprocessor = row.choice.per_multiprocessor;
  return shape;
}

Home home_of(const config::EngineChoice& engine, const void* in, const void* out, uint64_t length) {
  if (!config::wants_gpus(engine.kind) && !may_use_gpus(engine, length)) return Home::ordinary;
  gpu::Runtime& runtime = *backend().runtime;
  const bool pinned =
      gpu::is_pinned(runtime, in, length) && (in == out || out == nullptr || gpu::is_pinned(runtime, out, length));
  return pinned ? Home::pinned : Home::ordinary;
}

}  // namespace stockade::offload
