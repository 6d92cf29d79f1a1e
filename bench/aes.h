// AES in every mode, every row and OpenSSL: `stockade bench aes`. Axes: cipher and operation, message size, contender,
// threads. All contenders of a point have the same key, IV and data, and give the same bytes before they are timed.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "runner.h"
#include "stockade/stockade.h"

namespace stockade::bench {

struct AesCipher {
  std::string name;  // "aes-256-gcm"
  stockade_mode mode;
  uint32_t bits;
};

struct AesSettings {
  std::vector<AesCipher> ciphers;
  std::vector<uint64_t> sizes;
  // This size is measured for CTR and GCM with 128 and 256 bits only, to keep the default run short. 0: all are alike.
  uint64_t selective_size = 0;
  std::vector<uint32_t> threads;
  std::vector<std::string> rows;  // empty: every row that this machine can run
  Schedule schedule;
};

// One figure. Where `reason` is not empty nothing was measured.
struct AesCell {
  uint64_t bytes = 0;  // per iteration: all messages together
  Timing timing;
  std::string reason;
  double gigabytes_per_second = 0;  // GB = 1e9 bytes
  double cycles_per_byte = 0;       // one thread only; 0 where the clock is unknown
  double ratio = 0;                 // OpenSSL's median time over this one's; 0 where there is none
  double speedup = 0;               // over one thread of the same row; 0 where that was not measured
};

struct AesLine {
  std::string contender;  // "openssl", "memcpy" or a row
  uint32_t threads = 1;
  std::vector<AesCell> cells;  // one for each size of the block
};

// All figures of one operation of one cipher.
struct AesBlock {
  AesCipher cipher;
  std::string operation;  // "encrypt", "decrypt", "seal" or "open"
  uint32_t streams = 1;   // independent messages per call
  std::vector<uint64_t> sizes;
  std::vector<AesLine> lines;
};

// Bytes of a data unit of XTS in messages of at least that size; a shorter message is one unit.
inline constexpr uint64_t xts_unit = 4096;
// Messages per call where the blocks of one message are a chain.
inline constexpr uint32_t many_streams = 16;
// Larger messages are not given to the row that is slow by design, 'reference', unless it is asked for by name.
inline constexpr uint64_t reference_limit = 64 << 10;

// `on_point` hears what is about to be measured and may throw to stop; `on_block` gets each block as it is complete.
// Throws Mismatch where a contender's output differs from OpenSSL's, std::runtime_error where a call fails.
struct Mismatch : std::exception {
  explicit Mismatch(std::string text) : text_(std::move(text)) {}
  const char* what() const noexcept override { return text_.c_str(); }

 private:
  std::string text_;
};
void run_aes(const AesSettings& settings, const std::function<void(const std::string&)>& on_point,
             const std::function<void(const AesBlock&)>& on_block);

}  // namespace stockade::bench
