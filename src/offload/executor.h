// The workers of one job on data in host memory: threads, some of which drive a transfer slot of a GPU. Several devices share
// the work as fast as each can, because workers take one piece after another. A worker without a slot uses the CPU: that is the
// engine `hybrid`.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/status.h"
#include "config/environment.h"
#include "offload/policy.h"
#include "offload/transfer_slot.h"
#include "parallel/parallel_for.h"

namespace stockade::offload {

// The workers of one job, some of them with slots.
class Executor {
 public:
  Executor() = default;
  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;
  ~Executor();

  // For data at `home`. With the engines of the CPU this is make_plan, takes nothing and cannot fail; but an automatic one is
  // `hybrid` where the profile says so and the process has used a GPU before. With `cuda`: UNAVAILABLE, DEVICE, DEVICE_MEMORY,
  // MEMORY, FORKED; with `hybrid` a device that is not available is left out.
  Status acquire(const config::EngineChoice& engine, const parallel::Task& task, Home home);

  const parallel::Plan& plan() const { return plan_; }
  uint32_t slots() const { return slot_count_; }
  // Null for a worker without one.
  TransferSlot* slot(uint32_t worker) const { return worker < slot_count_ ? slots_[worker] : nullptr; }
  // How much a worker should be given at a time, where a CPU's worker would take `cpu_bytes`.
  uint64_t piece_bytes(uint64_t cpu_bytes) const;
  // Whether a piece that a slot has failed at must be left as it was.
  bool keeps_input() const { return cpu_; }

  // Calls body(slot, i) once for each i below `count`, in any order and by all workers; `slot` is null for a worker without
  // one. The first status that is not OK is returned, and ends the calls.
  template <typename Body>
  Status run(uint64_t count, Body&& body) {
    parallel::parallel_for(plan_, count, 1, [&](uint64_t begin, uint64_t end, uint32_t worker) {
      for (uint64_t i = begin; i < end && failure() == STOCKADE_OK; ++i) {
        if (const Status status = body(slot(worker), i); status != STOCKADE_OK) {
          note(status);
        }
      }
    });
    return failure();
  }

  // Has on_slot(slot) work if the worker has a slot and its device has not failed before. OK means that whatever is left is
  // the caller's to do with the CPU: all, or nothing, or with `hybrid` what a device has failed at. Anything else is the
  // failure of the job.
  template <typename OnSlot>
  Status attempt(TransferSlot* slot, OnSlot&& on_slot) {
    if (slot != nullptr && !lost(*slot)) {
      const Status status = on_slot(*slot);
      if (status == STOCKADE_OK) return status;
      lose(*slot);
      note_lost(status);
    }
    if (cpu_) return STOCKADE_OK;
    const Status status = slot_failure_.load(std::memory_order_acquire);
    return status != STOCKADE_OK ? status : STOCKADE_ERROR_DEVICE;
  }

 private:
  Status take_slots(const config::EngineChoice& engine, const parallel::Task& task, Home home);
  Status failure() const { return failure_.load(std::memory_order_acquire); }
  void note(Status status);
  void note_lost(Status status);
  bool lost(const TransferSlot& slot) const {
    return (lost_.load(std::memory_order_acquire) >> slot.device() & 1) != 0;
  }
  void lose(const TransferSlot& slot) { lost_.fetch_or(uint64_t{1} << slot.device(), std::memory_order_acq_rel); }

  parallel::Plan plan_{config::Kind::serial, 1, aes::Stores::ordinary, ""};
  bool cpu_ = true;
  uint32_t slot_count_ = 0;
  TransferSlot* slots_[max_slots];
  std::atomic<uint64_t> lost_{0};  // devices, as a mask
  std::atomic<Status> failure_{STOCKADE_OK}, slot_failure_{STOCKADE_OK};
};

// One of a executor's workers, as what is to be done sees it.
struct Worker {
  Executor& executor;
  TransferSlot* slot;  // null for one without

  template <typename OnSlot>
  Status attempt(OnSlot&& on_slot) const {
    return executor.attempt(slot, on_slot);
  }
};

}  // namespace stockade::offload
