// GPU kernels that OpenSSL computes, on the host memory that emulated devices are made of: for tests of what stands around
// kernels, which have tests of their own and are slow to emulate.
#pragma once

#include "aes/aes_cuda.h"
#include "cross/random_source.h"
#include "gcm/gcm_cuda.h"
#include "gpu/runtime_emulated.h"

namespace stockade::tests {

// The first bytes of round keys.
Bytes words_as_bytes(const uint32_t* words, uint64_t bytes);

// Whose launches these are, from now on: planned faults of it reach them. Null for nobody's.
void launch_on(gpu::EmulatedRuntime* runtime);

const aes::GpuKernels& oracle_aes_kernels();
const gcm::GpuKernels& oracle_gcm_kernels();

}  // namespace stockade::tests
