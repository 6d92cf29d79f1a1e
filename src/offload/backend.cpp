#include "offload/backend.h"

#include <algorithm>
#include <atomic>

#include "cpu/features.h"
#include "offload/transfer_slot.h"

namespace stockade::offload {

namespace {

constexpr uint32_t max_devices = 64;

Backend built_in() {
  Backend found{};
  found.runtime = &gpu::runtime();
  found.hybrid_stages = (cpu::usable() & cpu::aesni) == 0;
#if defined(STOCKADE_CUDA)
  found.aes = &aes::gpu_kernels_cuda;
  found.gcm = &gcm::gpu_kernels_cuda;
#endif
  return found;
}

std::atomic<const Backend*> replacement{nullptr};

bool runs_kernels(const gpu::DeviceFacts& facts) { return facts.capability >= least_capability; }

}  // namespace

const Backend& backend() {
  if (const Backend* const other = replacement.load(std::memory_order_acquire); other != nullptr) return *other;
  static const Backend own = built_in();
  return own;
}

ScopedBackend::ScopedBackend(const Backend& backend) : before_(replacement.load(std::memory_order_acquire)) {
  TransferSlot::release_idle();
  replacement.store(&backend, std::memory_order_release);
}

ScopedBackend::~ScopedBackend() {
  TransferSlot::release_idle();
  replacement.store(before_, std::memory_order_release);
}

Status usable_devices(uint64_t wanted, uint64_t& devices) {
  devices = 0;
  gpu::Runtime& runtime = *backend().runtime;
  uint32_t count = 0;
  if (const Status status = runtime.count(count); status != STOCKADE_OK) return status;
  for (uint32_t i = 0; i < std::min(count, max_devices); ++i) {
    gpu::DeviceFacts facts;
    if (const Status status = runtime.facts(i, facts); status != STOCKADE_OK) return status;
    if (runs_kernels(facts)) devices |= uint64_t{1} << i;
  }
  if ((wanted & ~devices) != 0) return STOCKADE_ERROR_UNAVAILABLE;
  if (wanted != 0) devices = wanted;
  return devices != 0 ? STOCKADE_OK : STOCKADE_ERROR_UNAVAILABLE;
}

}  // namespace stockade::offload
