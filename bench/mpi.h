// How work on one message and on one file scales over the ranks of an MPI run and the threads of each, beside what
// moving the same bytes without any encryption takes. Everything here is collective.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "mpi_model.h"
#include "stockade/stockade.h"

namespace stockade::bench {

// A message that the ranks have in pieces; one that rank 0 has; a file that all see; a message in the memory of each rank's
// GPU, where weak scaling is all there is.
enum class MpiForm { distributed, root, file, device };
// "distributed", "root", "file", "device"
const char* form_name(MpiForm form);

// Of messages: AES-GCM, CTR or ECB.
struct MpiCipher {
  std::string name = "aes-256-gcm";
  stockade_mode mode = STOCKADE_GCM;
  uint32_t bits = 256;
};

struct MpiSettings {
  std::vector<MpiForm> forms = {MpiForm::distributed, MpiForm::root, MpiForm::file};
  std::vector<uint32_t> ranks;    // empty: 1, 2, 4 and so on, and all
  std::vector<uint32_t> threads;  // of each rank; empty: 1, 2, 4 and so on, as far as there are cores
  std::vector<uint64_t> sizes;    // strong scaling: bytes of all ranks together; weak: of each
  std::string folder;             // that all ranks see, for `file`
  MpiCipher cipher;               // distributed and root
  uint32_t rounds = 5;
  std::function<bool()> stop;
  std::function<void(const std::string&)> on_turn;  // what is measured now
};

// One work, with the same bytes moved without encryption in turns with it.
struct MpiPoint {
  MpiForm form;
  bool weak;  // the bytes grow with the ranks
  uint32_t ranks, threads, machines;
  uint64_t bytes;                         // of all ranks together
  bool oversubscribed;                    // more threads than cores
  double seconds = 0, low = 0, high = 0;  // the median of the rounds, the fastest and the slowest
  double in_mpi = 0;                      // share of the time that ranks spent in MPI, waiting included: their mean
  // distributed: every rank copies its piece. root: rank 0 copies all. file: the ranks copy the file in slices. Else 0.
  double copy_seconds = 0;
  // root: rank 0 sends the pieces and gets them back, and nobody works on them. Else 0.
  double moving_seconds = 0;
  // Over the one rank of as many threads and, in strong scaling, as many bytes; 0 where there is none.
  double speedup = 0, efficiency = 0;
};

// Of MPI by itself, between all ranks.
struct MpiLinks {
  double latency = 0;    // seconds for an empty message from rank 0 to the last rank; 0 for one rank
  double bandwidth = 0;  // bytes per second from there and back, of 4 MiB messages
  double agreement = 0;  // seconds in which all ranks agree on a status
  double broadcast = 0;  // seconds for 512 bytes from rank 0 to all
  double number = 0;     // seconds in which the last rank gets a number of the shared counter
};

struct MpiFit {
  MpiForm form;
  uint32_t threads;
  MpiModel model;
};

struct MpiReport {
  uint32_t ranks = 1, machines = 1, cores = 1;  // cores: of the machine of rank 0 that ranks may use
  uint32_t ranks_per_machine = 1;               // the most
  MpiLinks links;
  std::vector<MpiPoint> points;
  // Of each form and number of threads that has points of several numbers of ranks without oversubscription.
  std::vector<MpiFit> fits;
};

// Only rank 0's report is complete. Throws std::runtime_error.
MpiReport measure_mpi(const MpiSettings& settings);

}  // namespace stockade::bench
