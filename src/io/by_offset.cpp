// Regular files, whose segments may be read and written in any order: every worker does whole segments by itself.
#include "io/pipeline.h"
#include "io/write_signals.h"
#include "parallel/parallel_for.h"

namespace stockade::io {

// Claims segments rather than dividing them beforehand, so that the file is read and written nearly in order.
void Pipeline::move_claimed(uint32_t worker) {
  const uint64_t segments = count_segments();
  // A worker that comes late, or takes the place of one that did not come, needs no buffers.
  if (next_segment_.load() >= segments) return;
  const WriteSignals held;
  Buffer buffer{};
  offload::TransferSlot* const slot = executor_.slot(worker);
  if ((slot == nullptr || !borrow(buffer, *slot)) && !prepare(buffer)) return;
  while (!state_.stopped()) {
    const uint64_t index = next_segment_.fetch_add(1);
    if (index >= segments) break;
    if (!fill_at(index, segments, buffer) || !apply(buffer, worker) || !put(buffer)) return;
  }
}

void Pipeline::move_by_offset(parallel::Plan plan) {
  parallel::parallel_for(plan, plan.workers, 1, [&](uint64_t begin, uint64_t end, uint32_t) {
    for (uint64_t worker = begin; worker < end; ++worker) move_claimed(static_cast<uint32_t>(worker));
  });
}

}  // namespace stockade::io
