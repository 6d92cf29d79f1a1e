// Chunks of a file in runs, by all workers of an engine: each takes a run at a time, with a buffer of its own.
#pragma once

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <mutex>
#include <vector>

#include "base/fault.h"
#include "base/secret.h"
#include "base/without_throwing.h"
#include "chunked/payload.h"
#include "config/environment.h"
#include "format/file_job.h"
#include "offload/device_key.h"
#include "offload/executor.h"

namespace stockade::mpi {

// The failure that counts is that of the earliest run, whoever came first. `error` is its errno.
struct RunFailure {
  uint64_t run = UINT64_MAX;
  Status status = STOCKADE_OK;
  int error = 0;
  stockade_fault fault = make_fault(STOCKADE_OK);
};

// What a worker has for a run of `count` chunks from the `first` of those that are to be done.
struct ChunkRun {
  const offload::Worker& worker;
  const offload::DeviceKey& device_key;
  uint64_t first, count;
  uint8_t* buffer;  // of chunk_buffer bytes for each chunk
};

// Calls body(run, fault), which returns a status, until `chunks` chunks are done, or one before them has failed. errno
// is as the failed one has left it. Errors: those of `body`, MEMORY, and of Executor::acquire.
template <typename Body>
Status run_chunks_by_workers(const config::EngineChoice& engine, const chunked::PayloadKey& key, uint64_t chunks,
                             uint64_t chunk_buffer, stockade_fault& fault, Body&& body) {
  if (chunks == 0) return STOCKADE_OK;
  const uint64_t cpu_run = format::segment_chunks * chunked::chunk_bytes;
  offload::Executor executor;
  const Status gathered = executor.acquire(engine,
                                           {tune::Operation::chunks, 256, chunks * chunked::chunk_bytes,
                                            (chunks + format::segment_chunks - 1) / format::segment_chunks, false},
                                           offload::Home::ordinary);
  if (gathered != STOCKADE_OK) return gathered;
  Secret<offload::DeviceKey> device_key;
  if (executor.slots() != 0) offload::make_device_key(key.gcm, *device_key);
  const uint64_t each = std::min(chunks, executor.piece_bytes(cpu_run) / chunked::chunk_bytes);
  std::vector<SecretBuffer> buffers(executor.plan().workers);
  std::mutex mutex;
  RunFailure failure;
  const auto failed_before = [&](uint64_t run) {
    const std::lock_guard lock(mutex);
    return failure.run < run;
  };
  const auto one = [&](uint64_t run, uint32_t index) {
    RunFailure found{run, STOCKADE_ERROR_MEMORY, 0, make_fault(STOCKADE_OK)};
    SecretBuffer& buffer = buffers[index];
    if (buffer.data() != nullptr || buffer.allocate(each * chunk_buffer)) {
      const offload::Worker worker{executor, executor.slot(index)};
      const uint64_t first = run * each;
      found.status = without_throwing([&] {
        return body(ChunkRun{worker, *device_key, first, std::min(each, chunks - first), buffer.data()}, found.fault);
      });
      found.error = errno;
    }
    const std::lock_guard lock(mutex);
    if (found.status != STOCKADE_OK && run < failure.run) failure = found;
  };
  parallel::parallel_for(executor.plan(), (chunks + each - 1) / each, 1,
                         [&](uint64_t begin, uint64_t end, uint32_t index) {
                           for (uint64_t run = begin; run < end && !failed_before(run); ++run) one(run, index);
                         });
  if (failure.status == STOCKADE_OK) return STOCKADE_OK;
  fault = failure.fault;
  errno = failure.error;
  return failure.status;
}

}  // namespace stockade::mpi
