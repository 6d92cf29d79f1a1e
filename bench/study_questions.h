// What each file of a study gives to run_studies, and what they share.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "handles.h"
#include "peer_openssl.h"
#include "runner.h"
#include "studies.h"

namespace stockade::bench {

void ask_modes(const StudySettings& settings, const StudyListener& listener);
void ask_launch(const StudySettings& settings, const StudyListener& listener);
void ask_engines(const StudySettings& settings, const StudyListener& listener);
void ask_profile(const StudySettings& settings, const StudyListener& listener);
void ask_tables(const StudySettings& settings, const StudyListener& listener);
void ask_file_stages(const StudySettings& settings, const StudyListener& listener);
void ask_sums(const StudySettings& settings, const StudyListener& listener);

// ---- figures ----

StudyCell left_out_cell(const std::string& reason);
StudyCell study_cell(const Timing& timing, uint32_t rounds);
StudyCell study_cell(const std::vector<double>& seconds);
// "not available: " and what completes "no GPU can be used: ".
std::string gpu_reason(const StudySettings& settings);
// Why `needed` bytes of memory cannot be had; empty where they can.
std::string memory_reason(uint64_t needed);
// Fills the ratios of all lines to that of the yardstick of the same cipher, operation and stage.
void compare_with_yardstick(StudyTable& table);

// ---- a message in memory, with the key's set-up, as the studies count ----

// The same data for all contenders.
struct StudySpace {
  explicit StudySpace(uint64_t bytes);
  Buffer in, out, expected;
  uint8_t key[32], iv[16];
};

struct StudyContender {
  std::string name;
  uint32_t threads = 1;
  std::string reason = {};                 // why there is none
  bool slow = false;                       // by design: limited to textbook_seconds
  std::function<void(uint64_t)> run = {};  // encrypts so many bytes from in to out
};

// OpenSSL; a row by name on one thread; an engine. The last two need not be there. The space must outlive them.
StudyContender openssl_contender(const AesCipher& cipher, StudySpace& space);
StudyContender row_contender(const std::string& name, const std::string& row, const AesCipher& cipher,
                             StudySpace& space);
StudyContender engine_contender(const std::string& name, const char* engine, uint32_t threads, const AesCipher& cipher,
                                StudySpace& space);
// The engine `cuda` with the first GPU, from ordinary memory to ordinary memory.
StudyContender cuda_contender(const StudySettings& settings, const AesCipher& cipher, StudySpace& space);

// Measures them at all sizes of the table, to which they are appended as lines. The first leads: its output is what the
// others must give.
void measure_contenders(StudyTable& table, const AesCipher& cipher, std::vector<StudyContender>& contenders,
                        StudySpace& space, const StudySettings& settings, const StudyListener& listener);

// The largest size that has room three times; at least 16.
uint64_t study_space_bytes(const std::vector<uint64_t>& sizes);

}  // namespace stockade::bench
