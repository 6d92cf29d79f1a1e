#include "offload/slot_pool.h"

#include <new>

namespace stockade::offload {

SlotPool& slot_pool() {
  alignas(SlotPool) static unsigned char place[sizeof(SlotPool)];
  static SlotPool* const made = new (place) SlotPool;
  return *made;
}

void TransferSlot::release_idle() { slot_pool().release(SlotPool::every_device); }

Status TransferSlot::take(uint32_t device, uint64_t run_bytes, TransferSlot** slot) {
  *slot = nullptr;
  // A forked child has a copy of the list, but not of what is behind it.
  uint32_t devices = 0;
  if (const Status status = backend().runtime->count(devices); status != STOCKADE_OK) return status;
  if (TransferSlot* const idle = slot_pool().find(device, run_bytes); idle != nullptr) {
    *slot = idle;
    return STOCKADE_OK;
  }
  auto* const made = new (std::nothrow) TransferSlot(backend(), device);
  if (made == nullptr) return STOCKADE_ERROR_MEMORY;
  const Status status = made->make(run_bytes);
  if (status == STOCKADE_OK) {
    *slot = made;
  } else {
    delete made;
  }
  return status;
}

void TransferSlot::give_back(TransferSlot* slot, bool lost) {
  if (lost || !slot->wipe_used()) {
    delete slot;
  } else {
    delete slot_pool().add(slot);
  }
}

}  // namespace stockade::offload
