// The ranks of an MPI communicator, and what they do together. Only this folder calls MPI; everything here is compiled once
// for each MPI library.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <vector>

#include "base/secret.h"
#include "base/status.h"
#include "config/environment.h"
#include "parallel/plan.h"

namespace stockade::mpi {

// Used by one thread at a time. Functions that are called collective are called by all ranks, in one order; what they
// return is the same everywhere, but for MPI, which stands for an error of the MPI library.
class Communicator {
 public:
  Communicator() = default;
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;
  // Collective.
  ~Communicator();

  // Duplicates the communicator. `layout` stands for the structures that ranks are going to send to each other, and
  // must be the same on all. Collective. ARGUMENT, STATE, MISMATCH, MPI.
  Status open(MPI_Comm communicator, uint64_t layout);
  // Initialises MPI unless that is done, and opens MPI_COMM_WORLD. MPI is finalised with the communicator if it was initialised
  // here.
  Status start(int* argc, char*** argv, uint64_t layout);
  [[noreturn]] void abort(int exit_status);

  uint32_t rank() const { return rank_; }
  uint32_t size() const { return size_; }
  uint32_t local_rank() const { return local_rank_; }
  uint32_t local_size() const { return local_size_; }
  double seconds() const { return seconds_; }

  // OK if it is that on all ranks, else what the lowest rank says for which it is not, with that rank's errno if it
  // says IO; `*rank` becomes that one, or UINT32_MAX. Collective.
  Status agree(Status mine, uint32_t* rank = nullptr);
  // The same, with what errno was when `mine` came about.
  Status agree(Status mine, int error, uint32_t* rank);
  // The same, and MISMATCH if not all ranks have the same `value`.
  Status agree_on(Status mine, uint64_t value);

  // All collective. Lengths are the same on all ranks.
  Status broadcast(void* bytes, uint64_t length, uint32_t root);
  Status gather(const void* bytes, uint64_t length, void* all);
  // The sum of the numbers of all ranks before this one, and of all.
  Status sum_before(uint64_t mine, uint64_t& before, uint64_t& total);
  // Each word becomes the XOR of those of all ranks.
  Status combine_xor(uint64_t* words, uint32_t count);

  // How many of the cores that this rank may run on are its own, at least 1, if the ranks of this machine that may run
  // on the same ones share them. Collective.
  Status share_cores(uint32_t& cores);

  // Memory for the next call, kept from one to the next; null without. Whoever uses it wipes it.
  uint8_t* scratch(uint64_t size);

  // Calls body(communicator), which returns an MPI error code, and counts its time.
  template <typename Body>
  Status call(Body&& body) {
    const double begin = MPI_Wtime();
    const int code = body(handle_);
    seconds_ += MPI_Wtime() - begin;
    return code == MPI_SUCCESS ? STOCKADE_OK : STOCKADE_ERROR_MPI;
  }

 private:
  Status find_neighbours();
  Status find_least(int64_t* words, int count);
  Status shake_hands(uint64_t layout);
  // Ends MPI without MPI_Finalize where that may never return. Collective.
  bool leaves();

  MPI_Comm handle_ = MPI_COMM_NULL, local_ = MPI_COMM_NULL;
  uint32_t rank_ = 0, size_ = 1, local_rank_ = 0, local_size_ = 1;
  double seconds_ = 0;
  SecretBuffer scratch_;
  bool finalises_ = false;
};

// Part `index` of `count` nearly equal parts of [0, items), the longer ones first.
struct Share {
  uint64_t begin, end;
};
constexpr Share share_of(uint64_t items, uint32_t index, uint32_t count) {
  const uint64_t each = items / count, longer = items % count;
  const uint64_t begin = index * each + (index < longer ? index : longer);
  return {begin, begin + each + (index < longer ? 1 : 0)};
}

// A number in the memory of rank 0 that any rank reads and adds to. That one takes no part in it, but over networks
// that cannot reach into memory the others wait until it does something else with MPI.
class SharedCounter {
 public:
  explicit SharedCounter(Communicator& communicator) : communicator_(communicator) {}
  SharedCounter(const SharedCounter&) = delete;
  SharedCounter& operator=(const SharedCounter&) = delete;
  // Collective.
  ~SharedCounter();
  // Collective. MPI.
  Status open();
  // Not collective. MPI.
  Status next(uint64_t& number);

 private:
  Communicator& communicator_;
  uint64_t* memory_ = nullptr;
  MPI_Win window_ = MPI_WIN_NULL;
};

// PendingMessages between two ranks each, all on their way at the same time. Buffers stay until wait() has returned.
class PendingMessages {
 public:
  explicit PendingMessages(Communicator& communicator) : communicator_(communicator) {}
  PendingMessages(const PendingMessages&) = delete;
  PendingMessages& operator=(const PendingMessages&) = delete;

  // Makes room for so many messages; throws std::bad_alloc.
  void reserve(uint64_t count) { requests_.reserve(count); }
  // At most 2^30 bytes. PendingMessages from one rank to another arrive in the order in which they were sent. MPI.
  Status send(uint32_t to, const uint8_t* bytes, uint64_t length);
  Status receive(uint32_t from, uint8_t* bytes, uint64_t length);
  Status wait();

 private:
  Communicator& communicator_;
  std::vector<MPI_Request> requests_;
};

// An engine for this rank: as make_engine, but for cores and GPUs that the ranks of a machine share. Collective.
Status make_rank_engine(Communicator& communicator, const char* name, uint32_t threads, config::EngineChoice& engine);

// The MPI library in its own words: one line.
const char* mpi_library();

}  // namespace stockade::mpi
