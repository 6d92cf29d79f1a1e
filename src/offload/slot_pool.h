// The slots that no job has: memory of a device and pinned memory take milliseconds to get, so slots outlive their job.
#pragma once

#include <cstdint>
#include <mutex>

#include "offload/transfer_slot.h"

namespace stockade::offload {

struct SlotPool {
  std::mutex mutex;
  TransferSlot* idle = nullptr;

  // One of that device, for runs at least as long; null for none.
  TransferSlot* find(uint32_t device, uint64_t run_bytes) {
    const std::lock_guard lock(mutex);
    for (TransferSlot** at = &idle; *at != nullptr; at = &(*at)->next_) {
      TransferSlot* const slot = *at;
      if (slot->device_ != device || slot->run_bytes_ < run_bytes) continue;
      *at = slot->next_;
      slot->next_ = nullptr;
      return slot;
    }
    return nullptr;
  }
  // Keeps the slot, but no more of its device than one job would have: the smallest goes. Returns the one that has to.
  TransferSlot* add(TransferSlot* slot) {
    const std::lock_guard lock(mutex);
    uint32_t count = 0;
    TransferSlot** smallest = nullptr;
    slot->next_ = idle;
    idle = slot;
    for (TransferSlot** at = &idle; *at != nullptr; at = &(*at)->next_) {
      if ((*at)->device_ != slot->device_) continue;
      ++count;
      if (smallest == nullptr || (*at)->run_bytes_ < (*smallest)->run_bytes_) smallest = at;
    }
    if (count <= std::max(slot->backend_.pinned.slots, slot->backend_.staged.slots)) return nullptr;
    TransferSlot* const removed = *smallest;
    *smallest = removed->next_;
    return removed;
  }
  // Gives up those of one device, or of all. Returns whether there were any.
  bool release(uint32_t device) {
    TransferSlot* released = nullptr;
    {
      const std::lock_guard lock(mutex);
      for (TransferSlot** at = &idle; *at != nullptr;) {
        TransferSlot* const slot = *at;
        if (device != every_device && slot->device_ != device) {
          at = &slot->next_;
          continue;
        }
        *at = slot->next_;
        slot->next_ = released;
        released = slot;
      }
    }
    const bool any = released != nullptr;
    while (released != nullptr) {
      TransferSlot* const next = released->next_;
      delete released;
      released = next;
    }
    return any;
  }

  static constexpr uint32_t every_device = UINT32_MAX;
};

// Never destroyed: at the end of the process the driver may be gone before it.
SlotPool& slot_pool();

constexpr bool is_lack_of_memory(Status status) {
  return status == STOCKADE_ERROR_DEVICE_MEMORY || status == STOCKADE_ERROR_MEMORY;
}

}  // namespace stockade::offload
