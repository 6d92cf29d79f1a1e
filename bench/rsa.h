// RSA on every row and OpenSSL: `stockade bench rsa`. Axes: size of the key, operation, operations at once, contender,
// threads. And where the time of one decryption goes: `--ablation`, in rsa_ablation.cpp.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "runner.h"

namespace stockade::bench {

struct RsaSettings {
  std::vector<uint32_t> bits;     // of moduli
  std::vector<uint64_t> batches;  // operations per call
  std::vector<uint32_t> threads;  // 1 first
  bool chosen_row_only = false;   // else every row that may be chosen by itself and can run here
  Schedule schedule;
};

// One figure. Where `reason` is not empty nothing was measured.
struct RsaCell {
  uint64_t batch = 0;
  Timing timing;  // of the batch
  std::string reason;
  double per_second = 0;  // operations
  double ratio = 0;       // to OpenSSL's one by one on one thread
};

struct RsaLine {
  std::string contender;  // "openssl" or a row
  uint32_t threads = 1;
  std::vector<RsaCell> cells;  // OpenSSL: one, for it has no batches
};

// All figures of one operation with a key of one size: "sign" or "verify".
struct RsaTable {
  uint32_t bits = 0;
  std::string operation;
  std::vector<RsaLine> lines;
};

// One way to decrypt with RSA-2048, by the layers that it is made of.
struct AblationLine {
  std::string layers;  // "serial", "AVX", "TT", "OMP", and these joined by " + "; or a name
  uint32_t threads = 1;
  Timing timing;
  double ratio = 0;  // to serial
};

// One half of such a decryption, by the products that it is made of.
struct AblationPart {
  std::string row;
  double p_seconds = 0, q_seconds = 0;          // the powers modulo p and q, by binary exponentiation from the right
  uint64_t squarings = 0, multiplications = 0;  // in both
  double setup_seconds = 0;                     // Montgomery's constants of p
  double multiply_seconds = 0, square_seconds = 0;
};

struct Ablation {
  uint32_t bits = 0;
  std::string vector_row;  // of the layer AVX; empty where the machine has none
  std::vector<AblationLine> lines;
  std::vector<AblationPart> parts;
};

// `on_point` hears what is about to be measured and may throw to stop; `on_table` gets each table as it is complete.
// Throws Mismatch (aes.h) where an output differs from OpenSSL's, std::runtime_error where a call fails.
void run_rsa(const RsaSettings& settings, const std::function<void(const std::string&)>& on_point,
             const std::function<void(const RsaTable&)>& on_table);
Ablation run_rsa_ablation(const Schedule& schedule, const std::function<void(const std::string&)>& on_point);

}  // namespace stockade::bench
