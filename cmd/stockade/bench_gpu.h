// stockade bench aes --engine cuda.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "bench/aes.h"
#include "bench/gpu.h"

namespace stockade::cmd {

struct GpuBenchLine {
  std::vector<bench::AesCipher> ciphers;
  std::optional<std::string> sizes, devices, only, folder, lanes, run_bytes, rounds;
  bool quick = false, json = false;
};

// Throws Failure.
void run_bench_gpu(const GpuBenchLine& line);

// A GPU in a line of a report.
std::string device_text(const bench::GpuDevice& device);
// The GPUs of a run as a member of JSON.
nlohmann::ordered_json gpus_json(const bench::GpuMachine& gpus);

// The end of the help of `bench aes`.
extern const char bench_gpu_help[];

}  // namespace stockade::cmd
