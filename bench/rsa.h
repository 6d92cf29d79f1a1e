// RSA on every row and OpenSSL: `stockade bench rsa`. Axes: size of the key, operation, operations at once, contender,
// threads. And three further questions, each with a file of its own: where the time of one decryption goes
// (rsa_ablation.cpp), what the queue for requests as they come does under load (rsa_queue.cpp), and how long keys take
// to make and to load (rsa_keys.cpp).
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "runner.h"

namespace stockade::bench {

enum class RsaOperation : uint32_t { sign, verify, encrypt, decrypt };
inline constexpr std::array<std::string_view, 4> rsa_operation_names = {"sign", "verify", "encrypt", "decrypt"};

struct RsaSettings {
  std::vector<uint32_t> bits;            // of moduli
  std::vector<uint64_t> batches;         // operations per call
  std::vector<uint32_t> threads;         // ascending
  std::vector<RsaOperation> operations;  // without those of the further questions
  std::vector<std::string> rows;         // these alone; empty: those that may be chosen by themselves and can run here
  bool chosen_row_only = false;          // else, where `rows` is empty, all of them
  Schedule schedule;
  std::vector<uint32_t> clients;  // of the queue
  double turn_seconds = 0.3;      // of load on the queue, with RSA-2048; more with longer keys
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

// All figures of one operation with a key of one size.
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

// A figure, and what the rounds gave least and most of it.
struct RsaSpread {
  double figure = 0, low = 0, high = 0;
};

// Who signs what clients ask for, and how that went.
struct RsaLoadLine {
  std::string contender;                  // "openssl", a plain pool of threads, or a row behind the queue
  std::string reason;                     // not empty: nothing was measured
  uint64_t requests = 0;                  // whose time was taken
  RsaSpread per_second;                   // the median of the rounds
  RsaSpread median_seconds, p99_seconds;  // from asking to having it, of all rounds together
  double mean_batch = 0;                  // 1 for OpenSSL
  double ratio = 0;                       // of the rate to OpenSSL's
};

// One load, on as many threads that sign for each contender.
struct RsaLoad {
  uint32_t bits = 0, threads = 1;
  uint32_t clients = 0;            // each asks again as soon as it has its signature; 0: requests come by chance
  double arrivals_per_second = 0;  // then: on average
  std::string arrivals;            // and what that is, such as "50% of what openssl can do"
  std::vector<RsaLoadLine> lines;
};

// How long one thing takes with keys of one size.
struct RsaKeyLine {
  std::string operation;  // "generate", "load private", "load public"
  std::string contender;  // "openssl" or a row
  uint64_t runs = 0;
  RsaSpread seconds;  // the median
  double p90_seconds = 0;
  double ratio = 0;  // how many times as fast as OpenSSL, by the medians
};
struct RsaKeyTable {
  uint32_t bits = 0;
  std::vector<RsaKeyLine> lines;
};

// `on_point` hears what is about to be measured and may throw to stop; `on_table` gets each table as it is complete.
// Throws Mismatch (aes.h) where an output differs from OpenSSL's, std::runtime_error where a call fails.
using OnPoint = std::function<void(const std::string&)>;
void run_rsa(const RsaSettings& settings, const OnPoint& on_point,
             const std::function<void(const RsaTable&)>& on_table);
void run_rsa_queue(const RsaSettings& settings, const OnPoint& on_point,
                   const std::function<void(const RsaLoad&)>& on_load);
// schedule.rounds: how often each is done.
void run_rsa_keys(const RsaSettings& settings, const OnPoint& on_point,
                  const std::function<void(const RsaKeyTable&)>& on_table);
Ablation run_rsa_ablation(const Schedule& schedule, const OnPoint& on_point);

}  // namespace stockade::bench
