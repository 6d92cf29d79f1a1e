#include "io/transfer.h"

#include <algorithm>

#include "io/descriptor.h"
#include "io/pipeline.h"

namespace stockade::io {
namespace {

// What a transfer with an input of unknown length is planned as.
constexpr uint64_t unknown_bytes = uint64_t{1} << 40;

// The workers of a transfer. MODE, and those of Executor::acquire.
Status acquire(offload::Executor& executor, const TransferOptions& options, const cipher::Transform& transform,
               const Source& source, const config::EngineChoice& engine) {
  const uint64_t length = source.sized() ? source.length() : unknown_bytes;
  const uint64_t segments = source.sized() ? cipher::last_segment(length, options.segment_bytes) + 1 : unknown_bytes;
  // Whatever the cipher: files of one are as quick to read and to write as those of another. The profile is about transfers
  // that write, which a file system does not let many do at once; those that only read are as quick as there are cores.
  const parallel::Task task{tune::Operation::files, options.discards_output ? 0U : 256U, length, segments, true};
  if (!config::wants_gpus(engine.kind) || transform.gpu_use() == cipher::GpuUse::worker) {
    return executor.acquire(engine, task, offload::Home::file);
  }
  if (transform.gpu_use() == cipher::GpuUse::none && engine.kind == config::Kind::cuda) return STOCKADE_ERROR_MODE;
  return executor.acquire({config::Kind::automatic, engine.threads}, task, offload::Home::file);
}

// How many segments are done as one: as long as slots like them, but all workers shall have some.
uint64_t segments_at_once(const offload::Executor& executor, const TransferOptions& options, const Source& source) {
  uint64_t longest = 1;
  if (executor.slots() != 0) {
    longest = offload::TransferSlot::capacity(executor.piece_bytes(options.segment_bytes)) /
              std::max(options.segment_bytes, out_bytes(options));
  } else if (executor.plan().entry != nullptr && executor.plan().entry->choice.batch != 0) {
    longest = executor.plan().entry->choice.batch;
  }
  if (longest == 1 || !source.sized()) return 1;
  return std::max<uint64_t>(1, std::min(longest, source.length() / executor.plan().workers / options.segment_bytes));
}

}  // namespace

Status run_transfer(const TransferOptions& options, cipher::Transform& transform, const config::EngineChoice& engine,
                    TransferResult& result) {
  result = {};
  Source source;
  Sink sink;
  Status status = source.open(options);
  if (status == STOCKADE_OK) status = sink.open(options);
  if (status != STOCKADE_OK) return status;
  if (options.only_regular_output && !sink.regular()) return STOCKADE_ERROR_MODE;
  if (sink.exists() && same_file(source.stat(), sink.stat())) return STOCKADE_ERROR_OVERLAP;
  if (source.sized()) status = transform.check(source.length());
  if (status == STOCKADE_OK && options.only_regular_output) status = sink.check_revocable();
  offload::Executor executor;
  if (status == STOCKADE_OK) status = acquire(executor, options, transform, source, engine);
  if (status != STOCKADE_OK) return status;
  const uint64_t at_once = segments_at_once(executor, options, source);
  TransferOptions wider = options;
  wider.segment_bytes *= at_once;
  wider.out_segment_bytes *= at_once;
  return Pipeline(wider, transform, source, sink, executor).run(result);
}

}  // namespace stockade::io
