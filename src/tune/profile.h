// A tuning profile: text. A line is an entry: for this operation, with keys of so many bits, from this length on,
// so and so is best; and behind bars what that was measured to be, by whom it was measured, and when:
//
//   stockade-profile 1
//   machine AMD EPYC, 2 cores
//   fingerprint 0123456789abcdef
//   # operation  bits  from  choice...  | score | runner-up | machine | date | commit
//   ctr 128 65536 engine=threads workers=2 stores=ordinary | 31.0 GB/s | engine=serial 17.2 GB/s | AMD EPYC, 2 cores | 2026-11-22 | 8ab323e
//   end 1
//
// docs/tuning.md describes it in full. A choice changes who works and how fast, never a result.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "cpu/features.h"

namespace stockade::tune {

// What is done. Lengths are bytes of one message, with `messages` of all messages of a call, with `files` of a file's
// plaintext, and with RSA operations of one call. Those that begin with gpu_ are about data in a GPU's memory, the last two
// about how host data reaches it.
enum class Operation : uint32_t {
  ecb,
  cbc,
  cfb,
  ctr,
  xts,
  gcm,
  chunks,
  messages,
  files,
  rsa_private,
  rsa_public,
  gpu_ecb,
  gpu_cbc,
  gpu_cfb,
  gpu_ctr,
  gpu_xts,
  gpu_gcm,
  gpu_pinned,
  gpu_staged
};
inline constexpr std::string_view operation_names[] = {
    "ecb",      "cbc",     "cfb",         "ctr",        "xts",       "gcm",     "chunks",
    "messages", "files",   "rsa-private", "rsa-public", "gpu-ecb",   "gpu-cbc", "gpu-cfb",
    "gpu-ctr",  "gpu-xts", "gpu-gcm",     "gpu-pinned", "gpu-staged"};
inline constexpr uint32_t operations = std::size(operation_names);

constexpr std::string_view name_of(Operation operation) { return operation_names[static_cast<uint32_t>(operation)]; }
constexpr bool on_gpu(Operation operation) { return operation >= Operation::gpu_ecb; }

enum class Runner : uint8_t { unsaid, serial, threads, cuda, hybrid };
enum class Stores : uint8_t { unsaid, ordinary, streaming };
enum class Layers : uint8_t { unsaid, together, halves };

inline constexpr uint32_t all_workers = UINT32_MAX;

// What a row says is best; what is 0, or unsaid, it does not speak of.
struct Choice {
  Runner runner = Runner::unsaid;  // engine=
  Stores stores = Stores::unsaid;  // stores=: whether output goes around the caches
  Layers layers = Layers::unsaid;  // layers=: how one private operation of RSA is divided
  uint8_t batch = 0;               // batch=: so many runs of a file are done as one, 1 to 64
  uint32_t workers = 0;            // workers=: at most so many threads, or `all`
  uint64_t share = 0;              // share=: each of them must have so many bytes to do
  char row[12] = {};               // row=: the implementation of powers for RSA
  uint16_t threads = 0;            // threads=: of a thread block, 32 to 1,024
  uint8_t blocks = 0;              // blocks=: cipher blocks of a thread at a time, 1, 2 or 4
  uint8_t per_multiprocessor = 0;  // per_sm=: thread blocks for each multiprocessor, 1 to 32
  uint8_t lanes = 0;               // lanes=: of each GPU, 1 to 64
  uint64_t run_bytes = 0;          // run=: bytes of their longest transfers, a power of two from 2^16 to 2^24

  bool operator==(const Choice&) const = default;
};

struct Entry {
  Operation operation;
  uint32_t bits;  // of the key, of the modulus
  uint64_t from;  // the smallest length
  Choice choice;
  double score;  // GB/s, or operations per second
  uint32_t line;
};

// What stands behind the bars, as it is written there.
struct Provenance {
  std::string_view score, runner_up, machine, date, commit;
};

// Why a text is no profile: `what` ends the sentence "line N: ...".
struct Fault {
  uint32_t line = 0;
  const char* what = nullptr;
};

// One row of a profile. False, and `fault.what`, for anything else.
bool read_entry(std::string_view line, Entry& row, Provenance& provenance, Fault& fault);
// "engine=threads workers=2": false, and `fault.what`.
bool read_choice(std::string_view text, Choice& choice, Fault& fault);

// The choice as it is written in a row, with a terminating zero; cut off where `size` does not suffice.
void write_choice(const Choice& choice, char* text, size_t size);

struct Profile {
  static constexpr uint32_t most_entries = 2048;
  static constexpr uint32_t most_groups = 256;

  // Rows of one operation with keys of one size, by rising `from`.
  struct Group {
    Operation operation;
    uint32_t bits;
    uint32_t begin, end;
  };

  char name[64];         // what it is called in explanations
  char machine[96];      // where it was measured
  char fingerprint[17];  // of the only machine that it is for; empty: of any that has what follows
  char gpu[64];          // whose rows those about GPUs are; empty: it has none
  cpu::Features needs;   // instruction sets
  cpu::Features lacks;   // instruction sets that a machine of this class does not have
  uint32_t cores;        // of the machine where it was measured; 0: not said
  uint32_t entries, groups;
  Entry entry[most_entries];
  Group group[most_groups];

  // The row for that length: of the keys' own size, or of the nearest there is; for ECB, CBC and CFB those of CTR will do, and on
  // GPUs those of ECB for CBC and CFB. Null:
  // the profile knows nothing about it.
  const Entry* find(Operation operation, uint32_t bits, uint64_t length) const;
  // All rows of that size or the nearest, for any length.
  std::span<const Entry> find_all(Operation operation, uint32_t bits) const;
};

// Reads all of a profile, whose rows must stand in order: by operation, as in the list above, bits and length. False, and
// the fault; then `profile` has no rows.
bool read_profile(std::string_view text, Profile& profile, Fault& fault);
// What stands before the first row, alone.
bool read_head(std::string_view text, Profile& profile, Fault& fault);

inline constexpr uint32_t profile_version = 1;

}  // namespace stockade::tune
