// Messages in memory: distributed over the ranks, or at rank 0.
#include <algorithm>
#include <cstring>

#include "bench/mpi_work.h"
#include "bench/runner.h"
#include "bench/turns.h"

namespace stockade::bench {
namespace {

constexpr uint8_t iv[16] = {1, 2, 3};
constexpr uint64_t block = 16;

// Everybody has the same key.
Key make_key(const MpiCipher& cipher) {
  uint8_t bytes[32];
  fill(bytes, sizeof bytes, 1);
  stockade_key* key = nullptr;
  check(stockade_key_create(&key, cipher.mode, bytes, cipher.bits / 8, nullptr), "stockade_key_create");
  return Key(key);
}

uint64_t iv_bytes(const MpiCipher& cipher) {
  return cipher.mode == STOCKADE_ECB ? 0 : cipher.mode == STOCKADE_GCM ? 12 : 16;
}

// What a rank has in memory, and works with.
struct Holding {
  explicit Holding(const MpiTask& task, uint64_t length_)
      : length(length_),
        in(std::max(length, block)),
        out(std::max(length, block)),
        key(make_key(task.cipher)),
        iv_length(iv_bytes(task.cipher)),
        engine(make_engine(task.threads == 1 ? "serial" : "threads", task.threads)) {
    fill(in.data(), in.size(), task.group.rank());
  }

  // With as many threads as the work has.
  void copy() {
    const uint64_t pieces = (length + piece - 1) / piece;
    check(stockade_for_each(pieces, copy_piece, this, engine.get()), "stockade_for_each");
  }
  static int copy_piece(void* context, uint64_t index) {
    Holding& holding = *static_cast<Holding*>(context);
    const uint64_t offset = index * piece;
    std::memcpy(holding.out.data() + offset, holding.in.data() + offset, std::min(piece, holding.length - offset));
    return 0;
  }

  static constexpr uint64_t piece = uint64_t{1} << 18;
  uint64_t length;
  Buffer in, out;
  uint8_t tag[16] = {};
  Key key;
  uint64_t iv_length;
  Engine engine;
};

}  // namespace

MpiWork distributed_work(const MpiTask& task) {
  uint64_t begin = 0, end = 0;
  check(stockade_mpi_share(task.bytes / block, task.group.rank(), task.group.size(), &begin, &end),
        "stockade_mpi_share");
  const auto holding = std::make_shared<Holding>(task, (end - begin) * block);
  const bool seals = task.cipher.mode == STOCKADE_GCM;
  const auto encrypt = [&group = task.group, holding, seals] {
    if (!seals) {
      return check(stockade_mpi_encrypt(group.team(), holding->key.get(), iv, holding->iv_length, holding->in.data(),
                                        holding->length, holding->out.data(), holding->engine.get()),
                   "stockade_mpi_encrypt");
    }
    check(stockade_mpi_seal(group.team(), holding->key.get(), iv, holding->iv_length, nullptr, 0, holding->in.data(),
                            holding->length, holding->out.data(), holding->tag, sizeof holding->tag,
                            holding->engine.get()),
          "stockade_mpi_seal");
  };
  return {.work = encrypt, .copy = [holding] { holding->copy(); }, .moving = {}};
}

MpiWork root_work(const MpiTask& task) {
  const bool root = task.group.rank() == 0;
  const auto holding = std::make_shared<Holding>(task, root ? task.bytes : task.bytes / task.group.size());
  const bool seals = task.cipher.mode == STOCKADE_GCM;
  const auto encrypt = [&group = task.group, holding, seals] {
    if (!seals) {
      return check(
          stockade_mpi_root_encrypt(group.team(), 0, holding->key.get(), iv, holding->iv_length, holding->in.data(),
                                    holding->length, holding->out.data(), holding->engine.get()),
          "stockade_mpi_root_encrypt");
    }
    check(stockade_mpi_root_seal(group.team(), 0, holding->key.get(), iv, holding->iv_length, nullptr, 0,
                                 holding->in.data(), holding->length, holding->out.data(), holding->tag,
                                 sizeof holding->tag, holding->engine.get()),
          "stockade_mpi_root_seal");
  };
  const auto copy = [root, holding] {
    if (root) holding->copy();
  };
  if (task.group.size() == 1) return {.work = encrypt, .copy = copy, .moving = {}};
  const auto moving = [root, holding, communicator = task.group.communicator(),
                       piece = static_cast<int>(task.bytes / task.group.size())] {
    uint8_t* const mine = root ? holding->out.data() : holding->in.data();
    MPI_Scatter(holding->in.data(), piece, MPI_BYTE, root ? MPI_IN_PLACE : mine, piece, MPI_BYTE, 0, communicator);
    MPI_Gather(root ? MPI_IN_PLACE : mine, piece, MPI_BYTE, holding->out.data(), piece, MPI_BYTE, 0, communicator);
  };
  return {.work = encrypt, .copy = copy, .moving = moving};
}

}  // namespace stockade::bench
