// stockade.h: one Stockade file by many processes.
#include <algorithm>
#include <memory>
#include <vector>

#include "base/bytes.h"
#include "base/fault.h"
#include "base/random.h"
#include "capi/arguments.h"
#include "capi/file_arguments.h"
#include "slices/sliced_file.h"
#include "stockade/stockade.h"

namespace format = stockade::format;
namespace slices = stockade::slices;

struct stockade_shared_job {
  slices::SlicedFile job;
};

namespace {

using namespace stockade::capi;  // NOLINT(google-build-using-namespace): this folder's own
using stockade::Status;
using stockade::config::EngineChoice;

Status read_options(const stockade_shared_options* given, slices::Options& read) {
  if (given == nullptr) return STOCKADE_ERROR_NULL_POINTER;
  if (given->struct_size != sizeof *given || number(given->kind) > STOCKADE_SHARED_VERIFY) {
    return STOCKADE_ERROR_ARGUMENT;
  }
  read.kind = given->kind;
  read.processes = given->processes;
  read.slice_bytes = given->slice_bytes;
  read.plain_length = given->plain_length;
  read.journal_fd = given->journal_fd;
  read.journal_keyring = keyring_of(given->journal_keyring);
  return STOCKADE_OK;
}

// Calls body(job) for a new one, which becomes the caller's if that returns OK.
template <typename Body>
Status with_new_job(stockade_shared_job** job, Body&& body) {
  return guarded([&] {
    auto made = std::make_unique<stockade_shared_job>();
    const Status status = body(made->job);
    if (status == STOCKADE_OK) *job = made.release();
    return status;
  });
}

// Calls body(work, engine) for a share of a job.
template <typename Body>
Status with_work(const stockade_shared_job* job, stockade_shared_work* caller_work, const stockade_engine* handle,
                 Body&& body) {
  if (job == nullptr || caller_work == nullptr || caller_work->next == nullptr) return STOCKADE_ERROR_NULL_POINTER;
  Extended work(*caller_work, offsetof(stockade_shared_work, accept_changed_input));
  if (!work.valid()) return STOCKADE_ERROR_ARGUMENT;
  const EngineChoice* engine = nullptr;
  Status status = resolve(handle, &engine);
  if (status == STOCKADE_OK) {
    status = guarded([&] { return body(*work, *engine); });
    if (work->fault.status == status) return status;
  }
  work->fault = stockade::make_fault(status);
  return status;
}

}  // namespace

extern "C" {

stockade_status stockade_shared_create(stockade_shared_job** job, int in_fd, int out_fd, const stockade_format* given,
                                       const stockade_shared_options* options, const stockade_engine* handle,
                                       stockade_fault* fault) {
  format::FileFormat read;
  slices::Options wanted;
  const EngineChoice* engine = nullptr;
  Status status = job == nullptr ? STOCKADE_ERROR_NULL_POINTER : read_format(given, read);
  if (status == STOCKADE_OK) status = read_options(options, wanted);
  if (status == STOCKADE_OK) status = resolve(handle, &engine);
  stockade_fault found = stockade::make_fault(status);
  if (status == STOCKADE_OK) {
    status = with_new_job(job, [&](slices::SlicedFile& made) {
      return made.create(read, in_fd, out_fd, wanted, *engine, stockade::system_random(), found);
    });
  }
  return put_fault(fault, status, found);
}

stockade_status stockade_shared_open_journal(stockade_shared_job** job, int journal_fd, const stockade_keyring* keyring,
                                             uint32_t max_work_factor, stockade_fault* fault) {
  if (job == nullptr || keyring == nullptr) {
    return put_fault(fault, stockade::make_fault(STOCKADE_ERROR_NULL_POINTER));
  }
  stockade_fault found = stockade::make_fault(STOCKADE_OK);
  const Status status = with_new_job(job, [&](slices::SlicedFile& made) {
    return made.open_journal(journal_fd, keyring->keyring, max_work_factor, found);
  });
  return put_fault(fault, status, found);
}

void stockade_shared_free(stockade_shared_job* job) { delete job; }

stockade_status stockade_shared_export(const stockade_shared_job* job, void* terms) {
  if (job == nullptr || terms == nullptr) return STOCKADE_ERROR_NULL_POINTER;
  job->job.export_terms(bytes(terms));
  return STOCKADE_OK;
}

stockade_status stockade_shared_import(stockade_shared_job** job, const void* terms) {
  if (job == nullptr || terms == nullptr) return STOCKADE_ERROR_NULL_POINTER;
  return with_new_job(job, [&](slices::SlicedFile& made) { return made.import_terms(bytes(terms)); });
}

stockade_status stockade_shared_info_get(const stockade_shared_job* job, stockade_shared_info* info) {
  if (job == nullptr || info == nullptr) return STOCKADE_ERROR_NULL_POINTER;
  job->job.describe(*info);
  return STOCKADE_OK;
}

stockade_status stockade_shared_run(const stockade_shared_job* job, stockade_shared_work* work,
                                    const stockade_engine* handle) {
  return with_work(job, work, handle, [&](stockade_shared_work& whole, const EngineChoice& engine) {
    return job->job.run(whole, engine);
  });
}

stockade_status stockade_shared_read_back(const stockade_shared_job* job, stockade_shared_work* work,
                                          const stockade_engine* handle) {
  return with_work(job, work, handle, [&](stockade_shared_work& whole, const EngineChoice& engine) {
    return job->job.read_back(whole, engine);
  });
}

stockade_status stockade_shared_missing(const stockade_shared_job* job, int journal_fd, uint64_t* slices, uint64_t size,
                                        uint64_t* count) {
  if (job == nullptr || count == nullptr || missing(slices, size)) return STOCKADE_ERROR_NULL_POINTER;
  return guarded([&] {
    std::vector<uint64_t> found;
    const Status status = job->job.find_missing(journal_fd, found);
    if (status != STOCKADE_OK) return status;
    *count = found.size();
    std::copy_n(found.begin(), std::min<uint64_t>(size, found.size()), slices);
    return STOCKADE_OK;
  });
}

stockade_status stockade_shared_check(const stockade_shared_job* job, int out_fd, int journal_fd,
                                      stockade_fault* fault) {
  if (job == nullptr) return put_fault(fault, stockade::make_fault(STOCKADE_ERROR_NULL_POINTER));
  stockade_fault found = stockade::make_fault(STOCKADE_OK);
  const Status status = guarded([&] { return job->job.check(out_fd, journal_fd, found); });
  return put_fault(fault, status, found);
}

uint64_t stockade_shared_sealed_length(const stockade_shared_job* job, uint64_t offset, uint64_t length) {
  return job == nullptr ? 0 : job->job.sealed_length(offset, length);
}

stockade_status stockade_shared_seal(const stockade_shared_job* job, uint64_t offset, const void* in, uint64_t length,
                                     void* out, const stockade_engine* handle) {
  if (job == nullptr) return STOCKADE_ERROR_NULL_POINTER;
  const uint64_t sealed = job->job.sealed_length(offset, length);
  if (missing(in, length) || missing(out, sealed)) return STOCKADE_ERROR_NULL_POINTER;
  if (stockade::ranges_overlap(in, length, out, sealed)) return STOCKADE_ERROR_OVERLAP;
  const EngineChoice* engine = nullptr;
  if (const Status status = resolve(handle, &engine); status != STOCKADE_OK) return status;
  return guarded([&] { return job->job.seal(offset, {bytes(in), length}, bytes(out), *engine); });
}

stockade_status stockade_shared_unseal(const stockade_shared_job* job, uint64_t offset, const void* in, uint64_t length,
                                       void* out, const stockade_engine* handle, stockade_fault* fault) {
  if (job == nullptr) return put_fault(fault, stockade::make_fault(STOCKADE_ERROR_NULL_POINTER));
  const uint64_t sealed = job->job.sealed_length(offset, length);
  const EngineChoice* engine = nullptr;
  Status status = missing(in, sealed) || missing(out, length) ? STOCKADE_ERROR_NULL_POINTER : STOCKADE_OK;
  if (status == STOCKADE_OK && stockade::ranges_overlap(in, sealed, out, length)) status = STOCKADE_ERROR_OVERLAP;
  if (status == STOCKADE_OK) status = resolve(handle, &engine);
  stockade_fault found = stockade::make_fault(status);
  if (status == STOCKADE_OK) {
    status = guarded([&] { return job->job.unseal(offset, bytes(in), {bytes(out), length}, *engine, found); });
  }
  return put_fault(fault, status, found);
}

}  // extern "C"
