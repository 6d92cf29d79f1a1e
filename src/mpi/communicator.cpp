#include "mpi/communicator.h"

#include <sched.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "config/environment.h"
#include "mpi/finalize.h"
#include "offload/backend.h"
#include "offload/make_engine.h"

namespace stockade::mpi {

namespace {

// MPI counts with int.
constexpr uint64_t longest_transfer = uint64_t{1} << 30;

int as_rank(uint32_t rank) { return static_cast<int>(rank); }

// What ranks of one build have in common. It never changes its own layout, or ranks could not tell that they differ.
struct Greeting {
  char version[24];
  uint64_t layout;
};

// The verdict of one rank as a number, so that the smallest of all is what they agree on: the rank, its status, its
// errno. Signed, because MPICH 4.0.2 takes the largest uint64_t for the smallest.
constexpr int64_t all_is_well = INT64_MAX;

int64_t verdict_of(uint32_t rank, Status status, int error) {
  if (status == STOCKADE_OK) return all_is_well;
  return int64_t{rank} << 32 | static_cast<int64_t>(status) << 16 | (static_cast<int64_t>(error) & 0xffff);
}

Status accept(int64_t verdict) {
  if (verdict == all_is_well) return STOCKADE_OK;
  const auto status = static_cast<Status>(verdict >> 16 & 0xffff);
  if (status == STOCKADE_ERROR_IO) errno = static_cast<int>(verdict & 0xffff);
  return status;
}

// Numbers of 64 cores in each word, as many as sched_getaffinity(2) tells.
constexpr uint32_t core_words = CPU_SETSIZE / 64;

void find_cores(uint64_t cores[core_words]) {
  cpu_set_t set;
  CPU_ZERO(&set);
  // Fails where there are more of them: then every rank counts as one that may run everywhere.
  const bool told = sched_getaffinity(0, sizeof set, &set) == 0;
  for (uint32_t core = 0; core < CPU_SETSIZE; ++core) {
    if (!told || CPU_ISSET(core, &set)) cores[core / 64] |= uint64_t{1} << core % 64;
  }
}

uint64_t count_cores(const uint64_t cores[core_words]) {
  uint64_t count = 0;
  for (uint32_t i = 0; i < core_words; ++i) count += static_cast<uint64_t>(std::popcount(cores[i]));
  return count;
}

// The one of the set bits that comes to `turn` if they are given out again and again.
uint64_t bit_in_turn(uint64_t bits, uint32_t turn) {
  for (uint32_t skipped = turn % static_cast<uint32_t>(std::popcount(bits)); skipped != 0; --skipped) bits &= bits - 1;
  return bits & (~bits + 1);
}

// All that the MPI library says of itself.
const char* library_text() {
  static const char* const text = [] {
    static char buffer[MPI_MAX_LIBRARY_VERSION_STRING];
    int length = 0;
    return MPI_Get_library_version(buffer, &length) == MPI_SUCCESS ? static_cast<const char*>(buffer) : "";
  }();
  return text;
}

}  // namespace

Communicator::~Communicator() {
  if (finalises_ && leaves()) return;
  if (local_ != MPI_COMM_NULL) MPI_Comm_free(&local_);
  if (handle_ != MPI_COMM_NULL) MPI_Comm_free(&handle_);
  if (finalises_) MPI_Finalize();
}

Status Communicator::open(MPI_Comm communicator, uint64_t layout) {
  int initialised = 0, finalised = 0, between = 0;
  if (MPI_Initialized(&initialised) != MPI_SUCCESS || MPI_Finalized(&finalised) != MPI_SUCCESS) {
    return STOCKADE_ERROR_MPI;
  }
  if (initialised == 0 || finalised != 0 || has_left()) return STOCKADE_ERROR_STATE;
  if (communicator == MPI_COMM_NULL) return STOCKADE_ERROR_ARGUMENT;
  if (MPI_Comm_test_inter(communicator, &between) != MPI_SUCCESS) return STOCKADE_ERROR_MPI;
  if (between != 0) return STOCKADE_ERROR_ARGUMENT;
  int rank = 0, size = 1;
  const bool opened = MPI_Comm_dup(communicator, &handle_) == MPI_SUCCESS &&
                      MPI_Comm_set_errhandler(handle_, MPI_ERRORS_RETURN) == MPI_SUCCESS &&
                      MPI_Comm_rank(handle_, &rank) == MPI_SUCCESS && MPI_Comm_size(handle_, &size) == MPI_SUCCESS;
  if (!opened) return STOCKADE_ERROR_MPI;
  rank_ = static_cast<uint32_t>(rank);
  size_ = static_cast<uint32_t>(size);
  const Status status = shake_hands(layout);
  return status == STOCKADE_OK ? find_neighbours() : status;
}

Status Communicator::start(int* argc, char*** argv, uint64_t layout) {
  int initialised = 0;
  if (MPI_Initialized(&initialised) != MPI_SUCCESS) return STOCKADE_ERROR_MPI;
  if (initialised == 0) {
    int level;
    if (MPI_Init_thread(argc, argv, MPI_THREAD_FUNNELED, &level) != MPI_SUCCESS) return STOCKADE_ERROR_MPI;
    finalises_ = true;
  }
  return open(MPI_COMM_WORLD, layout);
}

bool Communicator::leaves() {
  // Ranks of one machine have better ways than TCP.
  if (handle_ == MPI_COMM_NULL || local_ == MPI_COMM_NULL || local_size_ == size_) return false;
  Launcher launcher(std::getenv("PMI_FD"));
  const bool wishes = launcher.there() && may_never_finalise(library_text());
  int64_t all_wish = wishes ? 1 : 0;
  if (find_least(&all_wish, 1) != STOCKADE_OK || all_wish == 0) return false;
  leave(launcher, handle_);
  return true;
}

void Communicator::abort(int exit_status) {
  MPI_Abort(handle_, exit_status);
  std::_Exit(exit_status);
}

Status Communicator::shake_hands(uint64_t layout) {
  Greeting own{}, first{};
  std::strncpy(own.version, stockade_version(), sizeof own.version - 1);
  own.layout = layout;
  first = own;
  if (const Status status = broadcast(&first, sizeof first, 0); status != STOCKADE_OK) return status;
  const bool same = std::memcmp(&own, &first, sizeof own) == 0;
  return agree(same ? STOCKADE_OK : STOCKADE_ERROR_MISMATCH);
}

Status Communicator::find_neighbours() {
  int rank = 0, size = 1;
  const Status status = call([&](MPI_Comm all) {
    const int code = MPI_Comm_split_type(all, MPI_COMM_TYPE_SHARED, as_rank(rank_), MPI_INFO_NULL, &local_);
    return code == MPI_SUCCESS ? MPI_Comm_set_errhandler(local_, MPI_ERRORS_RETURN) : code;
  });
  if (status != STOCKADE_OK || MPI_Comm_rank(local_, &rank) != MPI_SUCCESS ||
      MPI_Comm_size(local_, &size) != MPI_SUCCESS) {
    return STOCKADE_ERROR_MPI;
  }
  local_rank_ = static_cast<uint32_t>(rank);
  local_size_ = static_cast<uint32_t>(size);
  return STOCKADE_OK;
}

Status Communicator::agree(Status mine, uint32_t* rank) { return agree(mine, errno, rank); }

Status Communicator::agree(Status mine, int error, uint32_t* rank) {
  int64_t verdict = verdict_of(rank_, mine, error);
  if (const Status status = find_least(&verdict, 1); status != STOCKADE_OK) return status;
  if (rank != nullptr) *rank = verdict == all_is_well ? UINT32_MAX : static_cast<uint32_t>(verdict >> 32);
  return accept(verdict);
}

Status Communicator::agree_on(Status mine, uint64_t value) {
  // A rank that has failed says nothing about the value: no number is above what it says.
  const auto word = static_cast<int64_t>(value);
  const bool counts = mine == STOCKADE_OK;
  int64_t words[3] = {verdict_of(rank_, mine, errno), counts ? word : INT64_MAX, counts ? ~word : INT64_MAX};
  if (const Status status = find_least(words, 3); status != STOCKADE_OK) return status;
  const Status status = accept(words[0]);
  return status == STOCKADE_OK && words[1] != ~words[2] ? STOCKADE_ERROR_MISMATCH : status;
}

Status Communicator::find_least(int64_t* words, int count) {
  return call([&](MPI_Comm all) { return MPI_Allreduce(MPI_IN_PLACE, words, count, MPI_INT64_T, MPI_MIN, all); });
}

Status Communicator::broadcast(void* bytes, uint64_t length, uint32_t root) {
  auto* const begin = static_cast<uint8_t*>(bytes);
  for (uint64_t done = 0; done < length;) {
    const uint64_t part = std::min(length - done, longest_transfer);
    const Status status = call(
        [&](MPI_Comm all) { return MPI_Bcast(begin + done, static_cast<int>(part), MPI_BYTE, as_rank(root), all); });
    if (status != STOCKADE_OK) return status;
    done += part;
  }
  return STOCKADE_OK;
}

Status Communicator::gather(const void* bytes, uint64_t length, void* all_bytes) {
  const int count = static_cast<int>(length);
  return call([&](MPI_Comm all) { return MPI_Allgather(bytes, count, MPI_BYTE, all_bytes, count, MPI_BYTE, all); });
}

Status Communicator::sum_before(uint64_t mine, uint64_t& before, uint64_t& total) {
  before = 0;
  const Status status = call([&](MPI_Comm all) { return MPI_Exscan(&mine, &before, 1, MPI_UINT64_T, MPI_SUM, all); });
  // MPI leaves open what rank 0 gets.
  if (rank_ == 0) before = 0;
  if (status != STOCKADE_OK) return status;
  total = before + mine;
  return broadcast(&total, sizeof total, size_ - 1);
}

Status Communicator::combine_xor(uint64_t* words, uint32_t count) {
  return call([&](MPI_Comm all) {
    return MPI_Allreduce(MPI_IN_PLACE, words, static_cast<int>(count), MPI_UINT64_T, MPI_BXOR, all);
  });
}

Status Communicator::share_cores(uint32_t& cores) {
  uint64_t usable[core_words] = {};
  find_cores(usable);
  const uint64_t own = count_cores(usable);
  uint64_t wanted = own;
  const Status status = call([&](MPI_Comm) {
    const int code = MPI_Allreduce(MPI_IN_PLACE, usable, core_words, MPI_UINT64_T, MPI_BOR, local_);
    return code != MPI_SUCCESS ? code : MPI_Allreduce(MPI_IN_PLACE, &wanted, 1, MPI_UINT64_T, MPI_SUM, local_);
  });
  cores = static_cast<uint32_t>(std::max<uint64_t>(1, own * count_cores(usable) / wanted));
  return status;
}

uint8_t* Communicator::scratch(uint64_t size) {
  if (scratch_.size() < size && !scratch_.allocate(size)) return nullptr;
  return scratch_.data();
}

SharedCounter::~SharedCounter() {
  if (window_ == MPI_WIN_NULL) return;
  MPI_Win_unlock_all(window_);
  MPI_Win_free(&window_);
}

Status SharedCounter::open() {
  const MPI_Aint bytes = communicator_.rank() == 0 ? sizeof *memory_ : 0;
  const Status status = communicator_.call([&](MPI_Comm all) {
    int code = MPI_Win_allocate(bytes, sizeof *memory_, MPI_INFO_NULL, all, &memory_, &window_);
    if (code == MPI_SUCCESS) code = MPI_Win_set_errhandler(window_, MPI_ERRORS_RETURN);
    if (code == MPI_SUCCESS) code = MPI_Win_lock_all(MPI_MODE_NOCHECK, window_);
    if (code != MPI_SUCCESS || communicator_.rank() != 0) return code;
    *memory_ = 0;
    return MPI_Win_sync(window_);
  });
  // Nobody asks before it is 0.
  return communicator_.agree(status);
}

Status SharedCounter::next(uint64_t& number) {
  const uint64_t one = 1;
  return communicator_.call([&](MPI_Comm) {
    const int code = MPI_Fetch_and_op(&one, &number, MPI_UINT64_T, 0, 0, MPI_SUM, window_);
    return code == MPI_SUCCESS ? MPI_Win_flush(0, window_) : code;
  });
}

Status PendingMessages::send(uint32_t to, const uint8_t* bytes, uint64_t length) {
  MPI_Request request;
  const Status status = communicator_.call([&](MPI_Comm all) {
    return MPI_Isend(bytes, static_cast<int>(length), MPI_BYTE, as_rank(to), 0, all, &request);
  });
  if (status == STOCKADE_OK) requests_.push_back(request);
  return status;
}

Status PendingMessages::receive(uint32_t from, uint8_t* bytes, uint64_t length) {
  MPI_Request request;
  const Status status = communicator_.call([&](MPI_Comm all) {
    return MPI_Irecv(bytes, static_cast<int>(length), MPI_BYTE, as_rank(from), 0, all, &request);
  });
  if (status == STOCKADE_OK) requests_.push_back(request);
  return status;
}

Status PendingMessages::wait() {
  const Status status = communicator_.call(
      [&](MPI_Comm) { return MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE); });
  requests_.clear();
  return status;
}

Status make_rank_engine(Communicator& communicator, const char* name, uint32_t threads, config::EngineChoice& engine) {
  uint32_t cores = 1;
  if (const Status status = communicator.share_cores(cores); status != STOCKADE_OK) return status;
  Status status = offload::make_engine(name, threads, engine);
  const bool asked = threads != 0 || config::environment().threads != 0;
  if (status == STOCKADE_OK && !asked && engine.kind != config::Kind::serial)
    engine.threads = std::min(engine.threads, cores);
  if (status == STOCKADE_OK && config::wants_gpus(engine.kind) && engine.devices == 0) {
    uint64_t usable = 0;
    status = offload::usable_devices(0, usable);
    if (status == STOCKADE_OK) engine.devices = bit_in_turn(usable, communicator.local_rank());
  }
  return communicator.agree(status);
}

const char* mpi_library() {
  static const char* const text = [] {
    static char buffer[MPI_MAX_LIBRARY_VERSION_STRING];
    std::strcpy(buffer, library_text());
    // Open MPI goes on behind a comma, MPICH on further lines.
    buffer[std::strcspn(buffer, ",\n")] = '\0';
    std::replace(buffer, buffer + std::strlen(buffer), '\t', ' ');
    return static_cast<const char*>(buffer);
  }();
  return text;
}

}  // namespace stockade::mpi
