// From file to file, as 'stockade-mpi encrypt' does it.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <system_error>
#include <vector>

#include "bench/mpi_work.h"
#include "bench/runner.h"
#include "bench/turns.h"

namespace stockade::bench {
namespace {

using SharedJob = std::unique_ptr<stockade_shared_job, Free<stockade_shared_free>>;
using Counter = std::unique_ptr<stockade_mpi_counter, Free<stockade_mpi_counter_free>>;

constexpr uint64_t piece = uint64_t{1} << 18;

[[noreturn]] void fail(const std::string& what) { throw std::system_error(errno, std::generic_category(), what); }

void write_random(int fd, uint64_t bytes) {
  Buffer buffer(std::min(std::max<uint64_t>(bytes, 1), uint64_t{4} << 20));
  for (uint64_t offset = 0; offset < bytes;) {
    fill(buffer.data(), buffer.size(), offset);
    const ssize_t written =
        pwrite(fd, buffer.data(), std::min<uint64_t>(buffer.size(), bytes - offset), static_cast<off_t>(offset));
    if (written <= 0) fail("cannot write the file to be encrypted");
    offset += static_cast<uint64_t>(written);
  }
}

Keyring make_keyring() {
  uint8_t bytes[32];
  fill(bytes, sizeof bytes, 2);
  stockade_keyring* keyring = nullptr;
  check(stockade_keyring_create(&keyring), "stockade_keyring_create");
  Keyring owner(keyring);
  check(stockade_keyring_add_key(keyring, bytes, sizeof bytes), "stockade_keyring_add_key");
  return owner;
}

Counter make_counter(stockade_mpi_team* team) {
  stockade_mpi_counter* counter = nullptr;
  check(stockade_mpi_counter_create(&counter, team), "stockade_mpi_counter_create");
  return Counter(counter);
}

// What one rank brings to the job.
struct FileRank {
  FileRank(const MpiTask& task, const MpiFiles& files)
      : group(task.group),
        bytes(task.bytes),
        in(files.input()),
        out(files.output()),
        keyring(make_keyring()),
        engine(make_engine(task.threads == 1 ? "serial" : "threads", task.threads)) {}

  SharedJob make_job() const;
  void seal();
  void copy();
  static uint64_t next(void* context);
  static int copy_piece(void* context, uint64_t index);

  const MpiGroup& group;
  uint64_t bytes;
  int in, out;
  Keyring keyring;
  Engine engine;
  Counter counter;
  uint64_t slices = 0, slice_bytes = 0, slice = 0;
};

SharedJob FileRank::make_job() const {
  SharedJob job;
  uint8_t terms[STOCKADE_SHARED_TERMS_BYTES];
  if (group.rank() == 0) {
    stockade_format format{};
    format.struct_size = sizeof format;
    format.keyring = keyring.get();
    stockade_shared_options options{};
    options.struct_size = sizeof options;
    options.processes = group.size();
    options.journal_fd = -1;
    stockade_shared_job* made = nullptr;
    check(stockade_shared_create(&made, in, out, &format, &options, engine.get(), nullptr), "stockade_shared_create");
    job.reset(made);
    check(stockade_shared_export(made, terms), "stockade_shared_export");
  }
  check(stockade_mpi_broadcast(group.team(), 0, terms, sizeof terms), "stockade_mpi_broadcast");
  if (group.rank() != 0) {
    stockade_shared_job* made = nullptr;
    check(stockade_shared_import(&made, terms), "stockade_shared_import");
    job.reset(made);
  }
  explicit_bzero(terms, sizeof terms);
  return job;
}

uint64_t FileRank::next(void* context) {
  const FileRank& rank = *static_cast<const FileRank*>(context);
  uint64_t number = 0;
  if (stockade_mpi_counter_next(rank.counter.get(), &number) != STOCKADE_OK) return STOCKADE_NO_SLICE;
  return number < rank.slices ? number : STOCKADE_NO_SLICE;
}

void FileRank::seal() {
  const SharedJob job = make_job();
  stockade_shared_info info{};
  check(stockade_shared_info_get(job.get(), &info), "stockade_shared_info_get");
  slices = info.slices;
  slice_bytes = info.slice_bytes;
  counter = make_counter(group.team());
  stockade_shared_work work{};
  work.struct_size = sizeof work;
  work.in_fd = in;
  work.out_fd = out;
  work.journal_fd = -1;
  work.next = next;
  work.next_context = this;
  check(stockade_shared_run(job.get(), &work, engine.get()), "stockade_shared_run");
  check(stockade_mpi_agree(group.team(), STOCKADE_OK, nullptr), "stockade_mpi_agree");
  counter.reset();
  if (group.rank() == 0) check(stockade_shared_check(job.get(), out, -1, nullptr), "stockade_shared_check");
}

int FileRank::copy_piece(void* context, uint64_t index) {
  const FileRank& rank = *static_cast<const FileRank*>(context);
  const uint64_t begin = rank.slice * rank.slice_bytes, end = std::min(begin + rank.slice_bytes, rank.bytes);
  const uint64_t offset = begin + index * piece;
  if (offset >= end) return 0;
  std::vector<uint8_t> buffer(std::min(piece, end - offset));
  const ssize_t got = pread(rank.in, buffer.data(), buffer.size(), static_cast<off_t>(offset));
  return got > 0 && pwrite(rank.out, buffer.data(), static_cast<size_t>(got), static_cast<off_t>(offset)) == got ? 0
                                                                                                                 : 1;
}

// The slices are those of the job before.
void FileRank::copy() {
  if (group.rank() == 0 && ftruncate(out, 0) != 0) fail("cannot empty the output");
  counter = make_counter(group.team());
  while ((slice = next(this)) != STOCKADE_NO_SLICE) {
    const uint64_t pieces = (slice_bytes + piece - 1) / piece;
    check(stockade_for_each(pieces, copy_piece, this, engine.get()), "the copy of a slice");
  }
  counter.reset();
}

}  // namespace

MpiFiles::MpiFiles(const std::string& folder, uint64_t bytes) {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  char name[4096] = {};
  if (rank == 0) {
    (folder + "/.stockade-bench-XXXXXX").copy(name, sizeof name - 1);
    input_ = mkostemp(name, O_CLOEXEC);
    if (input_ < 0) fail("cannot make a file in '" + folder + "'");
  }
  MPI_Bcast(name, sizeof name, MPI_BYTE, 0, MPI_COMM_WORLD);
  const std::string output = std::string(name) + ".out";
  if (rank == 0) {
    output_ = open(output.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (output_ < 0) fail("cannot make '" + output + "'");
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank != 0) {
    input_ = open(name, O_RDONLY | O_CLOEXEC);
    output_ = open(output.c_str(), O_RDWR | O_CLOEXEC);
    if (input_ < 0 || output_ < 0) fail("a rank cannot open '" + std::string(name) + "', which rank 0 has made");
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) {
    unlink(name);
    unlink(output.c_str());
    write_random(input_, bytes);
    fsync(input_);
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

MpiFiles::~MpiFiles() {
  if (input_ >= 0) close(input_);
  if (output_ >= 0) close(output_);
}

MpiWork file_work(const MpiTask& task, const MpiFiles& files) {
  const auto rank = std::make_shared<FileRank>(task, files);
  return {.work = [rank] { rank->seal(); }, .copy = [rank] { rank->copy(); }, .moving = {}};
}

}  // namespace stockade::bench
