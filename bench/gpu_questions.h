// What each file of a question gives to run_gpu, and what they share.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "gpu.h"
#include "gpu/runtime.h"
#include "handles.h"
#include "runner.h"
#include "turns.h"

namespace stockade::bench {

using OnGpuPoint = std::function<void(const std::string&)>;
using OnTable = std::function<void(const GpuTable&)>;

void ask_device(const GpuSettings& settings, const OnGpuPoint& on_point, const OnTable& on_table);
void ask_host(const GpuSettings& settings, const OnGpuPoint& on_point, const OnTable& on_table);
void ask_stages(const GpuSettings& settings, const OnGpuPoint& on_point, const OnTable& on_table);
void ask_several(const GpuSettings& settings, const OnGpuPoint& on_point, const OnTable& on_table);

// What all work of a run is done with and on: a key, an IV and `bytes` of input, and room for an output.
struct HostData {
  explicit HostData(uint64_t bytes);
  Buffer plain, expected;
  uint8_t key[64], iv[16], tag[16];
};

// The engine with those GPUs only. Throws std::runtime_error.
Engine make_gpu_engine(const char* name, uint32_t threads, const std::vector<uint32_t>& devices);
Key make_cipher_key(const AesCipher& cipher, const uint8_t* bytes);
uint64_t iv_bytes(const AesCipher& cipher);

// The figures of one message of `bytes` from the times of all samples.
GpuCell cell_of(const std::vector<double>& seconds, uint64_t bytes);

// Bytes of this machine's memory.
uint64_t host_memory();

// Seconds of a clock that only goes forward.
double clock_seconds();

// "0, 1 and 2" would be too long for sixteen of them: "0-15".
std::string devices_text(const std::vector<uint32_t>& devices);

}  // namespace stockade::bench
