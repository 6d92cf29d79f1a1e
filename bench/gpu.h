// AES on GPUs: `stockade bench aes --engine cuda`. Axes: question, operation, message size, form. Every output is compared
// with that of the CPU's rows before anything is timed.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "aes.h"

namespace stockade::bench {

// device: data in a GPU's memory. host: data in host memory, through the engines. stages: one file, step by step.
// several: one GPU, two, and so on to all, each with a message of its own, and one message for all of them.
inline constexpr std::array<const char*, 4> gpu_questions = {"device", "host", "stages", "several"};

struct GpuSettings {
  std::vector<std::string> questions;
  std::vector<AesCipher> ciphers;
  // Bytes of a message; device: halved where a GPU has not three times as much free memory, or the machine not four times.
  std::vector<uint64_t> device_sizes, host_sizes, stage_sizes;
  uint64_t several_size = 0;
  std::vector<uint32_t> devices;  // by number, at least one
  uint32_t rounds = 7;            // samples at the least, of which the median counts
  // A processor raises its clock when there is work, and a short message gives it little. device: so much work goes before
  // each figure; device and host: more samples are taken, or a sample is more calls, until there is so much to measure.
  double warm_seconds = 0.05, sample_seconds = 0.02;
  uint32_t sample_calls = 64;  // device: at the most, in a sample of short messages
  uint32_t threads = 1;        // of the CPU
  // host, stages and several: buffers of a GPU in flight, and the bytes of one (Backend); 0 for what is built in.
  uint32_t lanes = 0;
  uint64_t run_bytes = 0;
  std::string folder;  // stages: for the files, which the caller removes
};

struct GpuDevice {
  uint32_t number;
  std::string name, bus;
  uint32_t capability;  // 90 for 9.0
  uint32_t multiprocessors;
  uint64_t memory;  // bytes
  double hertz;     // the highest clock of its cores; 0 where unknown
};

struct GpuMachine {
  std::vector<GpuDevice> devices;
  // Versions; empty where unknown. CUDA's are what the driver can do and what this build uses.
  std::string driver, driver_cuda, cuda;
};

// The message says why there is no such GPU; it completes "no GPU can be used: ...".
struct NoGpu : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// The GPUs of those numbers; of none: those of STOCKADE_DEVICES, or all that can be used. Throws NoGpu.
GpuMachine look_at_gpus(const std::vector<uint32_t>& numbers);

// One figure. Where `reason` is not empty nothing was measured.
struct GpuCell {
  std::string reason;
  uint64_t samples = 0;
  double seconds = 0, low = 0, high = 0;  // of one message: the median, the fastest, the slowest
  double gigabytes_per_second = 0;        // GB = 1e9 bytes, from the median
  // device: from the call to the moment at which the caller knows that the work is done, by the host's clock, the median;
  // 0 elsewhere.
  double finish_seconds = 0;
  double ratio = 0;  // several: over one GPU; 0 elsewhere
};

struct GpuLine {
  std::string cipher, operation;  // "aes-128-ctr", "encrypt"
  std::string form;               // "in place", "hybrid, pageable", "copy in"; may be empty
  uint32_t devices = 1;
  std::vector<GpuCell> cells;  // one for each size of the table
};

struct GpuTable {
  std::string question, title;
  std::vector<uint64_t> sizes;
  std::vector<GpuLine> lines;
};

// `on_point` hears what is about to be measured and may throw to stop; `on_table` gets each table as it is complete. Throws
// Mismatch (aes.h) where an output differs from the CPU's, std::runtime_error where a call fails.
void run_gpu(const GpuSettings& settings, const std::function<void(const std::string&)>& on_point,
             const std::function<void(const GpuTable&)>& on_table);

// Whether `device` has a line for the cipher: OFB and what else is a chain of blocks has none.
bool runs_on_gpus(const AesCipher& cipher);

}  // namespace stockade::bench
