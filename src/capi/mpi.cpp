// stockade_mpi.h: handles and arguments. What is wrong with one rank's arguments is handed on to where all ranks learn
// of it.
#include <mpi.h>

#include <cstdint>
#include <cstring>
#include <memory>
#include <new>

#include "base/random.h"
#include "base/secret.h"
#include "capi/arguments.h"
#include "capi/file_arguments.h"
#include "capi/handles.h"
#include "cipher/key.h"
#include "mpi/communicator.h"
#include "mpi/file.h"
#include "mpi/message.h"
#include "stockade/stockade_mpi.h"

namespace mpi = stockade::mpi;
namespace config = stockade::config;
namespace format = stockade::format;

struct stockade_mpi_team {
  mpi::Communicator team;
};

struct stockade_mpi_counter {
  mpi::SharedCounter counter;
};

struct stockade_mpi_reader {
  mpi::FileReader reader;
};

namespace {

using namespace stockade::capi;  // NOLINT(google-build-using-namespace): this folder's own
using stockade::Status;
using stockade::config::EngineChoice;

constexpr uint64_t longest_gathered = uint64_t{1} << 20;

// Of everything that ranks send each other as it lies in memory.
constexpr uint64_t layout = sizeof(mpi::MessageTerms) << 32 | sizeof(mpi::FileTerms) << 16 | sizeof(stockade_fault);

// An engine for a rank that may have been given a bad one.
Status resolve_engine(Status before, const stockade_engine* handle, EngineChoice& engine) {
  const EngineChoice* found = nullptr;
  const Status status = before != STOCKADE_OK ? before : resolve(handle, &found);
  engine = status == STOCKADE_OK ? *found : EngineChoice{config::Kind::serial, 1};
  return status;
}

// Makes a team and calls open(team).
template <typename Open>
Status make_team(stockade_mpi_team** team, Open&& open) {
  if (team == nullptr) return STOCKADE_ERROR_NULL_POINTER;
  std::unique_ptr<stockade_mpi_team> made(new (std::nothrow) stockade_mpi_team);
  if (made == nullptr) return STOCKADE_ERROR_MEMORY;
  const Status status = guarded([&] { return open(made->team); });
  if (status == STOCKADE_OK) *team = made.release();
  return status;
}

// The arguments of the eight functions for messages.
struct Arguments {
  stockade_direction direction;
  bool sealed;
  const stockade_key* key;
  const void* iv;
  uint64_t iv_length;
  const void* aad;
  uint64_t aad_length;
  const void* in;
  uint64_t length;
  void* out;
  const void* tag;
  void* sealed_tag;
  uint64_t tag_length;
  const stockade_engine* engine;
};

// `leads`: this rank's IV, associated data and tag are read; `works`: its input and output are.
mpi::DistributedMessage read_message(const Arguments& given, bool leads, bool works, EngineChoice& engine) {
  const bool seals = given.direction == STOCKADE_ENCRYPT;
  const void* const tag = seals ? given.sealed_tag : given.tag;
  const bool missing_one =
      given.key == nullptr || (works && (missing(given.in, given.length) || missing(given.out, given.length))) ||
      (leads &&
       (missing(given.iv, given.iv_length) || missing(given.aad, given.aad_length) || missing(tag, given.tag_length)));
  mpi::DistributedMessage message{};
  message.refused = resolve_engine(missing_one ? STOCKADE_ERROR_NULL_POINTER : STOCKADE_OK, given.engine, engine);
  message.direction = given.direction;
  message.sealed = given.sealed;
  message.key = given.key == nullptr ? nullptr : &given.key->cipher;
  message.iv = bytes(given.iv);
  message.iv_length = given.iv_length;
  message.in = bytes(given.in);
  message.length = works ? given.length : 0;
  message.out = bytes(given.out);
  message.aad = bytes(given.aad);
  message.aad_length = given.aad_length;
  message.tag = bytes(given.tag);
  message.sealed_tag = bytes(given.sealed_tag);
  message.tag_length = given.tag_length;
  return message;
}

Status crypt_distributed(stockade_mpi_team* team, const Arguments& given) {
  if (team == nullptr) return STOCKADE_ERROR_NULL_POINTER;
  EngineChoice engine{};
  const mpi::DistributedMessage message = read_message(given, team->team.rank() == 0, true, engine);
  return guarded([&] { return mpi::crypt_distributed(team->team, message, engine); });
}

Status crypt_from_root(stockade_mpi_team* team, uint32_t root, const Arguments& given) {
  if (team == nullptr) return STOCKADE_ERROR_NULL_POINTER;
  EngineChoice engine{};
  const bool leads = team->team.rank() == root;
  const mpi::DistributedMessage message = read_message(given, leads, leads, engine);
  return guarded([&] { return mpi::crypt_from_root(team->team, root, message, engine); });
}

// The format that rank 0 gives, and nothing of the others'.
Status read_first_format(const mpi::Communicator& team, const stockade_format* given, format::FileFormat& read) {
  return team.rank() == 0 ? read_format(given, read) : STOCKADE_OK;
}

// What keeps a rank from taking part in a file.
Status refusal(const mpi::Communicator& team, const char* path, const stockade_format* given, format::FileFormat& read,
               const stockade_engine* handle, EngineChoice& engine) {
  Status status = path == nullptr ? STOCKADE_ERROR_NULL_POINTER : read_first_format(team, given, read);
  return resolve_engine(status, handle, engine);
}

// Whether a handle can be made on every rank.
template <typename Handle>
Status agree_on_handle(mpi::Communicator& team, Handle** handle, const std::unique_ptr<Handle>& made) {
  const bool missing_one = handle == nullptr;
  return team.agree(missing_one ? STOCKADE_ERROR_NULL_POINTER : made == nullptr ? STOCKADE_ERROR_MEMORY : STOCKADE_OK);
}

}  // namespace

extern "C" {

stockade_status stockade_mpi_team_create(stockade_mpi_team** team, MPI_Comm communicator) {
  return make_team(team, [&](mpi::Communicator& made) { return made.open(communicator, layout); });
}

stockade_status stockade_mpi_team_start(stockade_mpi_team** team, int* argc, char*** argv) {
  return make_team(team, [&](mpi::Communicator& made) { return made.start(argc, argv, layout); });
}

void stockade_mpi_team_free(stockade_mpi_team* team) { delete team; }

void stockade_mpi_abort(stockade_mpi_team* team, int exit_status) {
  if (team != nullptr) team->team.abort(exit_status);
}

uint32_t stockade_mpi_rank(const stockade_mpi_team* team) { return team == nullptr ? 0 : team->team.rank(); }
uint32_t stockade_mpi_size(const stockade_mpi_team* team) { return team == nullptr ? 1 : team->team.size(); }
uint32_t stockade_mpi_local_rank(const stockade_mpi_team* team) {
  return team == nullptr ? 0 : team->team.local_rank();
}
uint32_t stockade_mpi_local_size(const stockade_mpi_team* team) {
  return team == nullptr ? 1 : team->team.local_size();
}

const char* stockade_mpi_library(void) { return mpi::mpi_library(); }

double stockade_mpi_seconds(const stockade_mpi_team* team) { return team == nullptr ? 0 : team->team.seconds(); }

stockade_status stockade_mpi_agree(stockade_mpi_team* team, stockade_status status, uint32_t* rank) {
  if (team == nullptr) return STOCKADE_ERROR_NULL_POINTER;
  return guarded([&] { return team->team.agree(status, rank); });
}

stockade_status stockade_mpi_broadcast(stockade_mpi_team* team, uint32_t root, void* data, uint64_t length) {
  if (team == nullptr) return STOCKADE_ERROR_NULL_POINTER;
  Status status = missing(data, length) ? STOCKADE_ERROR_NULL_POINTER : STOCKADE_OK;
  if (root >= team->team.size()) status = STOCKADE_ERROR_ARGUMENT;
  return guarded([&] {
    const Status agreed = team->team.agree_on(status, root ^ length << 32);
    return agreed == STOCKADE_OK ? team->team.broadcast(data, length, root) : agreed;
  });
}

stockade_status stockade_mpi_gather(stockade_mpi_team* team, const void* data, uint64_t length, void* all) {
  if (team == nullptr) return STOCKADE_ERROR_NULL_POINTER;
  Status status = missing(data, length) || missing(all, length) ? STOCKADE_ERROR_NULL_POINTER : STOCKADE_OK;
  if (length > longest_gathered) status = STOCKADE_ERROR_ARGUMENT;
  return guarded([&] {
    const Status agreed = team->team.agree_on(status, length);
    return agreed == STOCKADE_OK ? team->team.gather(data, length, all) : agreed;
  });
}

stockade_status stockade_mpi_share(uint64_t items, uint32_t index, uint32_t count, uint64_t* begin, uint64_t* end) {
  if (begin == nullptr || end == nullptr) return STOCKADE_ERROR_NULL_POINTER;
  if (index >= count) return STOCKADE_ERROR_ARGUMENT;
  const mpi::Share share = mpi::share_of(items, index, count);
  *begin = share.begin;
  *end = share.end;
  return STOCKADE_OK;
}

stockade_status stockade_mpi_counter_create(stockade_mpi_counter** counter, stockade_mpi_team* team) {
  if (team == nullptr) return STOCKADE_ERROR_NULL_POINTER;
  std::unique_ptr<stockade_mpi_counter> made(new (std::nothrow) stockade_mpi_counter{mpi::SharedCounter(team->team)});
  return guarded([&] {
    Status status = agree_on_handle(team->team, counter, made);
    if (status == STOCKADE_OK) status = made->counter.open();
    if (status == STOCKADE_OK) *counter = made.release();
    return status;
  });
}

stockade_status stockade_mpi_counter_next(stockade_mpi_counter* counter, uint64_t* number) {
  if (counter == nullptr || number == nullptr) return STOCKADE_ERROR_NULL_POINTER;
  return guarded([&] { return counter->counter.next(*number); });
}

void stockade_mpi_counter_free(stockade_mpi_counter* counter) { delete counter; }

stockade_status stockade_mpi_engine_create(stockade_engine** engine, stockade_mpi_team* team, const char* name,
                                           uint32_t threads) {
  if (team == nullptr) return STOCKADE_ERROR_NULL_POINTER;
  std::unique_ptr<stockade_engine> made(new (std::nothrow) stockade_engine);
  return guarded([&] {
    Status status = agree_on_handle(team->team, engine, made);
    if (status == STOCKADE_OK) status = mpi::make_rank_engine(team->team, name, threads, made->wish);
    if (status == STOCKADE_OK) *engine = made.release();
    return status;
  });
}

stockade_status stockade_mpi_key_create(stockade_key** key, stockade_mpi_team* team, uint32_t root, stockade_mode mode,
                                        const void* key_bytes, uint64_t length, const char* force) {
  constexpr uint64_t longest = 64;
  if (team == nullptr) return STOCKADE_ERROR_NULL_POINTER;
  mpi::Communicator& all = team->team;
  struct Given {
    stockade_mode mode;
    uint64_t length;
    uint8_t bytes[longest];
  };
  stockade::Secret<Given> given;
  Status status = key == nullptr ? STOCKADE_ERROR_NULL_POINTER : STOCKADE_OK;
  if (status == STOCKADE_OK && root >= all.size()) status = STOCKADE_ERROR_ARGUMENT;
  if (status == STOCKADE_OK && all.rank() == root) {
    if (missing(key_bytes, length)) status = STOCKADE_ERROR_NULL_POINTER;
    if (status == STOCKADE_OK && length > longest) status = STOCKADE_ERROR_KEY_LENGTH;
    if (status == STOCKADE_OK && !valid(mode)) status = STOCKADE_ERROR_ARGUMENT;
    if (status == STOCKADE_OK) {
      given->mode = mode;
      given->length = length;
      if (length != 0) std::memcpy(given->bytes, key_bytes, length);
    }
  }
  return guarded([&] {
    if (status = all.agree_on(status, root); status != STOCKADE_OK) return status;
    if (status = all.broadcast(&*given, sizeof *given, root); status != STOCKADE_OK) return status;
    stockade_key* made = nullptr;
    status = all.agree(stockade_key_create(&made, given->mode, given->bytes, given->length, force));
    if (status == STOCKADE_OK) {
      *key = made;
    } else {
      stockade_key_free(made);
    }
    return status;
  });
}

stockade_status stockade_mpi_encrypt(stockade_mpi_team* team, const stockade_key* key, const void* iv,
                                     uint64_t iv_length, const void* in, uint64_t length, void* out,
                                     const stockade_engine* engine) {
  return crypt_distributed(
      team, {STOCKADE_ENCRYPT, false, key, iv, iv_length, nullptr, 0, in, length, out, nullptr, nullptr, 0, engine});
}

stockade_status stockade_mpi_decrypt(stockade_mpi_team* team, const stockade_key* key, const void* iv,
                                     uint64_t iv_length, const void* in, uint64_t length, void* out,
                                     const stockade_engine* engine) {
  return crypt_distributed(
      team, {STOCKADE_DECRYPT, false, key, iv, iv_length, nullptr, 0, in, length, out, nullptr, nullptr, 0, engine});
}

stockade_status stockade_mpi_seal(stockade_mpi_team* team, const stockade_key* key, const void* iv, uint64_t iv_length,
                                  const void* aad, uint64_t aad_length, const void* in, uint64_t length, void* out,
                                  void* tag, uint64_t tag_length, const stockade_engine* engine) {
  return crypt_distributed(team, {STOCKADE_ENCRYPT, true, key, iv, iv_length, aad, aad_length, in, length, out, nullptr,
                                  tag, tag_length, engine});
}

stockade_status stockade_mpi_open(stockade_mpi_team* team, const stockade_key* key, const void* iv, uint64_t iv_length,
                                  const void* aad, uint64_t aad_length, const void* in, uint64_t length, void* out,
                                  const void* tag, uint64_t tag_length, const stockade_engine* engine) {
  return crypt_distributed(team, {STOCKADE_DECRYPT, true, key, iv, iv_length, aad, aad_length, in, length, out, tag,
                                  nullptr, tag_length, engine});
}

stockade_status stockade_mpi_root_encrypt(stockade_mpi_team* team, uint32_t root, const stockade_key* key,
                                          const void* iv, uint64_t iv_length, const void* in, uint64_t length,
                                          void* out, const stockade_engine* engine) {
  return crypt_from_root(
      team, root,
      {STOCKADE_ENCRYPT, false, key, iv, iv_length, nullptr, 0, in, length, out, nullptr, nullptr, 0, engine});
}

stockade_status stockade_mpi_root_decrypt(stockade_mpi_team* team, uint32_t root, const stockade_key* key,
                                          const void* iv, uint64_t iv_length, const void* in, uint64_t length,
                                          void* out, const stockade_engine* engine) {
  return crypt_from_root(
      team, root,
      {STOCKADE_DECRYPT, false, key, iv, iv_length, nullptr, 0, in, length, out, nullptr, nullptr, 0, engine});
}

stockade_status stockade_mpi_root_seal(stockade_mpi_team* team, uint32_t root, const stockade_key* key, const void* iv,
                                       uint64_t iv_length, const void* aad, uint64_t aad_length, const void* in,
                                       uint64_t length, void* out, void* tag, uint64_t tag_length,
                                       const stockade_engine* engine) {
  return crypt_from_root(
      team, root,
      {STOCKADE_ENCRYPT, true, key, iv, iv_length, aad, aad_length, in, length, out, nullptr, tag, tag_length, engine});
}

stockade_status stockade_mpi_root_open(stockade_mpi_team* team, uint32_t root, const stockade_key* key, const void* iv,
                                       uint64_t iv_length, const void* aad, uint64_t aad_length, const void* in,
                                       uint64_t length, void* out, const void* tag, uint64_t tag_length,
                                       const stockade_engine* engine) {
  return crypt_from_root(
      team, root,
      {STOCKADE_DECRYPT, true, key, iv, iv_length, aad, aad_length, in, length, out, tag, nullptr, tag_length, engine});
}

stockade_status stockade_mpi_file_write(stockade_mpi_team* team, const char* path, const stockade_format* given,
                                        const void* buffer, uint64_t offset, uint64_t length,
                                        const stockade_engine* handle, stockade_fault* fault) {
  if (team == nullptr) return put_fault(fault, stockade::make_fault(STOCKADE_ERROR_NULL_POINTER));
  format::FileFormat read;
  EngineChoice engine{};
  Status status = refusal(team->team, path, given, read, handle, engine);
  if (status == STOCKADE_OK && missing(buffer, length)) status = STOCKADE_ERROR_NULL_POINTER;
  stockade_fault found = stockade::make_fault(STOCKADE_OK);
  status = guarded([&] {
    return mpi::write_file(team->team, status, {path, &read, {bytes(buffer), length}, offset}, engine,
                           stockade::system_random(), found);
  });
  return put_fault(fault, status, found);
}

stockade_status stockade_mpi_file_read(stockade_mpi_team* team, const char* path, const stockade_format* given,
                                       void* buffer, uint64_t offset, uint64_t length, uint64_t* out_length,
                                       const stockade_engine* handle, stockade_fault* fault) {
  if (team == nullptr) return put_fault(fault, stockade::make_fault(STOCKADE_ERROR_NULL_POINTER));
  format::FileFormat read;
  EngineChoice engine{};
  Status status = refusal(team->team, path, given, read, handle, engine);
  if (status == STOCKADE_OK && (out_length == nullptr || missing(buffer, length))) status = STOCKADE_ERROR_NULL_POINTER;
  const bool has_buffer = status == STOCKADE_OK;
  stockade_fault found = stockade::make_fault(STOCKADE_OK);
  uint64_t got = 0;
  status = guarded([&] {
    mpi::FileReader reader(team->team, engine);
    const Status opened = reader.open(status, path, &read, found);
    return opened == STOCKADE_OK ? reader.read_at(opened, offset, {bytes(buffer), length}, &got, found) : opened;
  });
  if (status != STOCKADE_OK && has_buffer) stockade::wipe(buffer, length);
  if (out_length != nullptr) *out_length = got;
  return put_fault(fault, status, found);
}

stockade_status stockade_mpi_reader_create(stockade_mpi_reader** reader, stockade_mpi_team* team, const char* path,
                                           const stockade_format* given, const stockade_engine* handle,
                                           stockade_fault* fault) {
  if (team == nullptr) return put_fault(fault, stockade::make_fault(STOCKADE_ERROR_NULL_POINTER));
  format::FileFormat read;
  EngineChoice engine{};
  const Status refused = refusal(team->team, path, given, read, handle, engine);
  std::unique_ptr<stockade_mpi_reader> made(new (std::nothrow)
                                                stockade_mpi_reader{mpi::FileReader(team->team, engine)});
  stockade_fault found = stockade::make_fault(STOCKADE_OK);
  const Status status = guarded([&] {
    Status opened = agree_on_handle(team->team, reader, made);
    if (opened == STOCKADE_OK) opened = made->reader.open(refused, path, &read, found);
    if (opened == STOCKADE_OK) *reader = made.release();
    return opened;
  });
  return put_fault(fault, status, found);
}

void stockade_mpi_reader_free(stockade_mpi_reader* reader) { delete reader; }

uint64_t stockade_mpi_reader_length(const stockade_mpi_reader* reader) {
  return reader == nullptr ? 0 : reader->reader.length();
}

stockade_status stockade_mpi_reader_read_at(stockade_mpi_reader* reader, uint64_t offset, void* buffer, uint64_t length,
                                            uint64_t* out_length, stockade_fault* fault) {
  if (reader == nullptr) return put_fault(fault, stockade::make_fault(STOCKADE_ERROR_NULL_POINTER));
  const bool refused = out_length == nullptr || missing(buffer, length);
  stockade_fault found = stockade::make_fault(STOCKADE_OK);
  uint64_t got = 0;
  const Status status = guarded([&] {
    return reader->reader.read_at(refused ? STOCKADE_ERROR_NULL_POINTER : STOCKADE_OK, offset, {bytes(buffer), length},
                                  &got, found);
  });
  if (out_length != nullptr) *out_length = got;
  return put_fault(fault, status, found);
}

}  // extern "C"
