// stockade bench aes --engine cuda.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bench/aes.h"

namespace stockade::cmd {

struct GpuBenchLine {
  std::vector<bench::AesCipher> ciphers;
  std::optional<std::string> sizes, devices, only, folder, lanes, run_bytes, rounds;
  bool quick = false, json = false;
};

// Throws Failure.
void run_bench_gpu(const GpuBenchLine& line);

// The end of the help of `bench aes`.
extern const char bench_gpu_help[];

}  // namespace stockade::cmd
