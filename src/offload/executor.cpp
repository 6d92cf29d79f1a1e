#include "offload/executor.h"

#include <algorithm>
#include <bit>

#include "offload/slot_pool.h"

namespace stockade::offload {

Status Executor::acquire(const config::EngineChoice& engine, const parallel::Task& task, Home home) {
  const config::EngineChoice cores{config::Kind::automatic, engine.threads};
  config::Kind kind = engine.kind;
  // A file's reads and writes are as slow with GPUs as without.
  if (home != Home::file && task.parts > 1 && may_use_gpus(engine, task.bytes)) {
    const tune::Entry* const row = transfer_entry(backend(), home, task.bytes);
    const tune::Runner best = row == nullptr ? tune::Runner::unsaid : row->choice.runner;
    if (best == tune::Runner::cuda || best == tune::Runner::hybrid) kind = config::Kind::hybrid;
  }
  if (!config::wants_gpus(kind)) {
    plan_ = parallel::make_plan(engine, task);
    return STOCKADE_OK;
  }
  cpu_ = kind == config::Kind::hybrid;
  const bool asked = kind == engine.kind;
  const bool worthwhile =
      !cpu_ || !asked || (task.bytes >= backend().hybrid_from && (home != Home::ordinary || backend().hybrid_stages));
  const Status status = worthwhile && task.parts != 0 ? take_slots(engine, task, home) : STOCKADE_OK;
  if (status != STOCKADE_OK && !cpu_) return status;
  if (slot_count_ == 0) {
    plan_ = parallel::make_plan(cores, task);
    return STOCKADE_OK;
  }
  plan_ = parallel::make_plan({config::Kind::threads, engine.threads}, task);
  plan_.kind = kind;
  plan_.workers = cpu_ ? hybrid_workers(slot_count_, plan_) : slot_count_;
  return STOCKADE_OK;
}

Status Executor::take_slots(const config::EngineChoice& engine, const parallel::Task& task, Home home) {
  const Backend own = informed(backend(), home, task.bytes);
  uint64_t devices = 0;
  if (const Status status = usable_devices(engine.devices, devices); status != STOCKADE_OK) return status;
  const uint64_t wanted = slots_for(own, devices, task.bytes, task.parts, home, cpu_);
  const uint64_t longest = run_bytes_for(own, home);
  const uint64_t share = std::clamp(task.bytes / wanted + 1, std::min(own.least_run, longest), longest);
  Status failure = STOCKADE_OK;
  uint64_t left_out = 0;
  for (uint64_t taken = 0; taken < wanted && left_out != devices;) {
    // In turn, so that few slots are of many devices.
    for (uint64_t rest = devices & ~left_out; rest != 0 && taken < wanted; rest &= rest - 1) {
      const auto device = static_cast<uint32_t>(std::countr_zero(rest));
      TransferSlot* slot = nullptr;
      const Status status = TransferSlot::take(device, std::min(std::bit_ceil(share), longest), &slot);
      if (status == STOCKADE_OK) {
        slots_[slot_count_++] = slot;
        ++taken;
        continue;
      }
      if (failure == STOCKADE_OK) failure = status;
      if (!is_lack_of_memory(status) && !cpu_) return status;
      left_out |= uint64_t{1} << device;
    }
  }
  return slot_count_ != 0 ? STOCKADE_OK : failure;
}

Executor::~Executor() {
  if (slot_count_ == 0) return;
  // All at once, for there are megabytes to wipe.
  const parallel::Plan together{config::Kind::threads, slot_count_, aes::Stores::ordinary, ""};
  parallel::parallel_for(together, slot_count_, 1, [&](uint64_t begin, uint64_t end, uint32_t) {
    for (uint64_t i = begin; i < end; ++i) TransferSlot::give_back(slots_[i], lost(*slots_[i]));
  });
}

uint64_t Executor::piece_bytes(uint64_t cpu_bytes) const {
  if (slot_count_ == 0) return cpu_bytes;
  uint64_t longest = 0;
  for (uint32_t i = 0; i < slot_count_; ++i) longest = std::max(longest, slots_[i]->run_bytes());
  // A core takes as long for a piece as a slot does for several; no worker should wait for the last of them.
  return cpu_ ? std::clamp(longest / 4, cpu_bytes, std::max(cpu_bytes, longest)) : longest;
}

void Executor::note(Status status) {
  Status none = STOCKADE_OK;
  failure_.compare_exchange_strong(none, status, std::memory_order_acq_rel);
}

void Executor::note_lost(Status status) {
  Status none = STOCKADE_OK;
  slot_failure_.compare_exchange_strong(none, status, std::memory_order_acq_rel);
}

}  // namespace stockade::offload
