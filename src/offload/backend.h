// Which GPUs there are, with which kernels, and what may be tuned without changing a result.
#pragma once

#include <cstdint>

#include "aes/aes_cuda.h"
#include "base/status.h"
#include "gcm/gcm_cuda.h"
#include "gpu/runtime.h"

namespace stockade::offload {

// The slots of a device, and the bytes of their largest runs: a power of two up to 2^24.
struct SlotShape {
  uint32_t slots;
  uint64_t run_bytes;
};

// NVIDIA H200 and 16 cores, 2026-11-22, GB/s of AES-128-CTR over 4 GiB, from host memory to host memory. Pinned, 4, 8 and 16
// slots: 49.0, 48.8 and 47.5 in runs of 8 MiB, 48.2, 47.6 and 47.4 in runs of 4 MiB. Ordinary memory: 13.8, 20.6 and 23.4 in
// runs of 8 MiB, 13.0, 21.9 and 34.3 in runs of 4 MiB, 12.8, 22.8 and 30.0 in runs of 2 MiB. Files of 1 GiB, in memory: bound
// by what writes them, with 4 slots 2.7 to 3.0, with 16 slots 2.5 to 2.7.
struct Backend {
  gpu::Runtime* runtime;
  const aes::GpuKernels* aes;
  const gcm::GpuKernels* gcm;
  SlotShape pinned{4, uint64_t{8} << 20};
  // Where workers copy, a device has its share of the cores as slots, but no fewer than for pinned memory and no more than so
  // many. Files have as many slots as pinned memory, and runs of this length.
  SlotShape staged{16, uint64_t{4} << 20};
  // Whether `hybrid` uses devices for data in ordinary memory: a core that has AES instructions encrypts faster than it
  // copies to and fro.
  bool hybrid_stages = false;
  // A device without memory for a slot of such runs is not used. Payloads need 32 KiB, so that a sealed chunk fits.
  uint64_t least_run = uint64_t{64} << 10;
  uint64_t slot_bytes =
      uint64_t{256} << 10;  // a slot costs its transfers' start-up; a job brings each at least this much
  uint64_t hybrid_from = uint64_t{256} << 20;  // `hybrid` does shorter jobs with the CPU alone
};
const Backend& backend();

// For tests: all jobs that begin while this lives use that backend. No job may be running when it begins or ends.
class ScopedBackend {
 public:
  explicit ScopedBackend(const Backend& backend);
  ScopedBackend(const ScopedBackend&) = delete;
  ScopedBackend& operator=(const ScopedBackend&) = delete;
  ~ScopedBackend();

 private:
  const Backend* const before_;
};

// Kernels are built for compute capability 7.5 and what came after it.
inline constexpr uint32_t least_capability = 75;

// Of the devices in the bit mask `wanted` (0: all), those that can be used. UNAVAILABLE if there is none, or if the mask names
// one that does not exist or cannot be used; FORKED, DEVICE.
Status usable_devices(uint64_t wanted, uint64_t& devices);

}  // namespace stockade::offload
