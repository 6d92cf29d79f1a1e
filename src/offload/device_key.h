// Keys as kernels take them.
#pragma once

#include <cstdint>

#include "aes/aes_cuda.h"
#include "aes/modes.h"
#include "gcm/gcm.h"
#include "gcm/gcm_cuda.h"
#include "gpu/runtime.h"

namespace stockade::offload {

// A key as kernels take it; made once for a job.
struct DeviceKey {
  const aes::Key* aes = nullptr;  // the one of the two that the job has
  const gcm::Key* gcm = nullptr;
  aes::RoundKeys encrypt, decrypt, tweak;
  gcm::GpuKey gcm_key;
};
void make_device_key(const aes::Key& key, DeviceKey& device_key);
void make_device_key(const gcm::Key& key, DeviceKey& device_key);

// The key's variant of aes::GpuCtrFn, with the backend's kernels. `gpu`: whose profile counts; null: none.
Status launch_ctr(const aes::Key& key, const gpu::Queue& queue, const char* gpu, const aes::RoundKeys& encrypt,
                  const uint8_t counter[16], const uint8_t* in, uint8_t* out, uint64_t length);

}  // namespace stockade::offload
