// The tables of five published studies of parallel AES and RSA, with what is here: `stockade bench studies`. A file for each:
// modes, serial against a GPU (studies_modes.cpp); threads per block of a GPU (studies_launch.cpp); engines, the profile of a
// GPU and tables (studies_engines.cpp, studies_profile.cpp); the stages of a file (studies_stages.cpp); RSA's layers, and big
// numbers on a GPU (studies_sums.cpp).
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "big_sums.h"
#include "gpu.h"
#include "process.h"
#include "rsa.h"

namespace stockade::bench {

inline constexpr std::array<const char*, 5> study_names = {"s1", "s2", "s3", "s4", "s5"};

// What `stockade-mpi bench` measured of a message in memory, on as many ranks of one thread as there are cores.
struct MpiTime {
  std::string form;  // "root" or "distributed"
  uint64_t bytes = 0;
  uint32_t ranks = 1;
  uint64_t rounds = 0;
  double seconds = 0, low = 0, high = 0;
};
// Throws std::runtime_error where it fails.
using RunMpi = std::function<std::vector<MpiTime>(const std::string& cipher, const std::vector<uint64_t>& sizes)>;

struct StudySettings {
  std::vector<std::string> studies;
  // Bytes of messages and files; numbers to add. What does not fit into the machine is left out with a reason.
  std::vector<uint64_t> mode_sizes, launch_sizes, engine_sizes, profile_sizes, table_sizes, stage_sizes, sum_counts;
  std::vector<uint32_t> block_threads;  // of s2
  uint32_t launch_rounds = 16;          // of s2: half of them learn, half judge
  Schedule schedule;
  // Of a call of the contenders that are slow by design: what would take longer is not measured.
  double textbook_seconds = 0.5;
  double warm_seconds = 0.05;  // of work before a GPU's kernels are timed
  uint32_t threads = 1;        // of all cores
  std::string folder;          // s4: for the files, which the caller removes
  GpuMachine gpus;             // of which the first takes part; none: `no_gpu` says why
  std::string no_gpu;
  BigSums big_sums = nullptr;  // null: none are built in
  RunMpi run_mpi;              // null: `no_mpi` says why
  std::string no_mpi;
  Stop stop;
};

// One figure. Where `reason` is not empty nothing was measured.
struct StudyCell {
  std::string reason;
  uint64_t samples = 0;
  double seconds = 0, low = 0, high = 0;  // the median, the fastest, the slowest
  double ratio = 0;                       // the yardstick's time over this one's; 0: none
  // The yardstick took too long at this size: its time is that of its largest size, multiplied by how much longer this is.
  bool ratio_scaled = false;
};

struct StudyLine {
  std::string cipher, operation;  // empty: not about a cipher
  std::string contender;
  std::string stage;             // empty: all of it
  uint32_t threads = 1;          // of the CPU; 0: a GPU
  uint32_t block_threads = 0;    // of a GPU's thread block; 0: what is built in
  std::vector<StudyCell> cells;  // one for each size of the table
};

struct StudyTable {
  std::string study, name, title;
  std::string yardstick;  // whose time ratios are of; empty: no ratios
  std::vector<uint64_t> sizes;
  bool counts_numbers = false;  // sizes are numbers to add, of 2 · 256 bytes each, not bytes
  std::vector<StudyLine> lines;
};

// What the best number of threads per block is worth at one size.
struct LaunchGain {
  std::string cipher, operation;
  uint64_t message_bytes = 0;
  uint32_t block_threads = 0, built_in_threads = 0;  // that was learned, and that the library launches without
  uint32_t choices = 0;
  double seconds = 0;
  double gain_over_mean = 0, gain_over_worst = 0;  // 0.1: a tenth faster
};

// on_point hears what is about to be measured and may throw to stop; the others get each part as it is complete.
struct StudyListener {
  std::function<void(const std::string&)> on_point;
  std::function<void(const StudyTable&)> on_table;
  std::function<void(const std::vector<LaunchGain>&)> on_gains;
  std::function<void(const Ablation&)> on_ablation;
};

// Throws Mismatch (aes.h) where an output differs from OpenSSL's or the CPU's, std::runtime_error where a call fails.
void run_studies(const StudySettings& settings, const StudyListener& listener);

}  // namespace stockade::bench
