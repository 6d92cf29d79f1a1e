// What the user asks for: engines by name, and the variables STOCKADE_FORCE, STOCKADE_THREADS, STOCKADE_DEVICES and
// STOCKADE_MASK.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/status.h"
#include "cpu/features.h"

namespace stockade::config {

// The last two use GPUs: alone, or beside the CPU's cores. `automatic` does not: data in host memory reaches a GPU through a
// bus that a few cores outrun.
enum class Kind : uint32_t { automatic, serial, threads, cuda, hybrid };

// "auto", "serial", "threads", "cuda", "hybrid".
const char* kind_name(Kind kind);
constexpr bool wants_gpus(Kind kind) { return kind == Kind::cuda || kind == Kind::hybrid; }

// Who is to do the work: what stockade_engine holds.
struct EngineChoice {
  Kind kind;
  uint32_t threads;      // of the CPU; at least 1
  uint64_t devices = 0;  // GPUs by number, as a bit mask; 0: all
};

inline constexpr uint32_t max_threads = 4096;

// What STOCKADE_FORCE, STOCKADE_THREADS (else OMP_NUM_THREADS), STOCKADE_DEVICES and STOCKADE_MASK say, read once. `status` is
// UNKNOWN_NAME or ARGUMENT for a value that cannot be obeyed; every call that would consult it then returns that status.
struct Environment {
  Status status;
  std::string_view aes_row, gcm_row, bignum_row, gpu_ctr_row;  // names in the tables; empty: choose
  std::string_view rsa_layers;                                 // one of the names below; empty: choose
  Kind kind;
  uint32_t threads;  // 0: not given
  uint64_t devices;  // 0: not given
  cpu::Features usable;
};
const Environment& environment();

// How one private operation of RSA is divided (rsa/powers.h, in the order of its Layers).
inline constexpr std::string_view rsa_layers[] = {"together", "halves", "right-to-left", "right-to-left-halves"};

// "aes:NAME,gcm:NAME,bignum:NAME,rsa:NAME,gpu-ctr:NAME,engine:NAME", any of them, in any order; later wins. UNKNOWN_NAME for an
// unknown key, row, division or engine.
Status parse_force(std::string_view text, Environment& environment);

// "0,2": numbers of GPUs below 64, as a bit mask. ARGUMENT.
Status parse_devices(std::string_view text, uint64_t& devices);

// UNKNOWN_NAME.
Status parse_kind(std::string_view name, Kind& kind);

}  // namespace stockade::config
