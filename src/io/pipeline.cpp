#include "io/pipeline.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/without_throwing.h"
#include "io/ordered.h"
#include "io/write_signals.h"

namespace stockade::io {
namespace {

// All buffers of a job together but those of slots, unless that is less than three. Only XTS data units of megabytes, and
// segments as long as slots like them, come near.
constexpr uint64_t memory_limit = uint64_t{256} << 20;

}  // namespace

bool Pipeline::prepare(Buffer& buffer) {
  if (buffer.memory.data() == nullptr && !buffer.memory.allocate(buffer_bytes())) {
    state_.fail(STOCKADE_ERROR_MEMORY);
    return false;
  }
  if (out_buffer_bytes() != 0 && buffer.out_memory.data() == nullptr &&
      !buffer.out_memory.allocate(out_buffer_bytes())) {
    state_.fail(STOCKADE_ERROR_MEMORY);
    return false;
  }
  buffer.segment.data = buffer.memory.data() + buffer_lead;
  buffer.segment.out = out_buffer_bytes() != 0 ? buffer.out_memory.data() : buffer.segment.data;
  return true;
}

// Puts the buffers of a buffer into the memory of a slot. False if that is too small.
bool Pipeline::borrow(Buffer& buffer, offload::TransferSlot& slot) {
  const offload::TransferSlot::HostRoom room = slot.lend();
  if (buffer_bytes() > room.size || std::max(buffer_bytes() - buffer_lead, out_buffer_bytes()) > room.size)
    return false;
  buffer.segment.data = room.in + buffer_lead;
  buffer.segment.out = room.out;
  return true;
}

// Reads segment_reserve bytes further than a segment goes, which shows whether it is the last one.
bool Pipeline::fill(Buffer& buffer) {
  if (buffer.segment.data == nullptr && !prepare(buffer)) return false;
  cipher::Segment& segment = buffer.segment;
  std::memcpy(segment.data - cipher::segment_margin, *carry_, cipher::segment_margin + ahead_);
  uint64_t got;
  if (!source_.read_next(segment.data + ahead_, options_.segment_bytes + cipher::segment_reserve - ahead_, &got,
                         state_))
    return false;
  got += ahead_;
  segment.offset = offset_;
  segment.last = got < options_.segment_bytes + cipher::segment_reserve;
  segment.length = segment.last ? got : options_.segment_bytes;
  buffer.taken = segment.length;
  if (!segment.last) {
    std::memcpy(*carry_, segment.data + segment.length - cipher::segment_margin,
                cipher::segment_margin + cipher::segment_reserve);
    ahead_ = cipher::segment_reserve;
  }
  offset_ += segment.length;
  return true;
}

bool Pipeline::fill_at(uint64_t index, uint64_t segments, Buffer& buffer) {
  cipher::Segment& segment = buffer.segment;
  segment.offset = index * options_.segment_bytes;
  segment.last = index == segments - 1;
  segment.length = segment.last ? source_.length() - segment.offset : options_.segment_bytes;
  buffer.taken = segment.length;
  const uint64_t before = index == 0 || options_.out_segment_bytes != 0 ? 0 : cipher::segment_margin;
  return source_.read_at(segment.offset - before, segment.data - before, before + segment.length, state_);
}

bool Pipeline::apply(Buffer& buffer, uint32_t worker) {
  cipher::Segment& segment = buffer.segment;
  const Status status = without_throwing([&] {
    if (segment.last) {
      const Status checked = source_.sized() ? STOCKADE_OK : transform_.check(segment.offset + segment.length);
      if (checked != STOCKADE_OK) return checked;
      segment.length -= options_.kept_bytes;
      std::memcpy(*kept_, segment.data + segment.length, options_.kept_bytes);
      transformed_ = segment.offset + segment.length;
    }
    segment.out_length = options_.out_segment_bytes != 0 && !segment.last ? options_.out_segment_bytes : segment.length;
    return transform_.apply(segment, {executor_, executor_.slot(worker)});
  });
  if (status != STOCKADE_OK) state_.fail(status);
  if (segment.last) end_ = out_offset(segment) + segment.out_length;
  return status == STOCKADE_OK;
}

bool Pipeline::put(Buffer& buffer) {
  // Segments in order may be of any length, and one thread writes them all.
  const uint64_t offset = options_.in_order ? sink_.written() : out_offset(buffer.segment);
  if (!sink_.write(offset, buffer.segment.out, buffer.segment.out_length, state_)) return false;
  state_.add(buffer.taken);
  return !state_.stopped();
}

// `buffer` is filled.
void Pipeline::move_in_turn(Buffer& buffer) {
  while (apply(buffer, 0) && put(buffer) && !buffer.segment.last && fill(buffer)) {
  }
}

void Pipeline::move() {
  const uint64_t most = std::max<uint64_t>(1, memory_limit / (buffer_bytes() + out_buffer_bytes()));
  if (!sink_.write(0, options_.lead, options_.lead_length, state_)) return;
  parallel::Plan plan = executor_.plan();
  if (source_.sized() && sink_.by_offset() && !options_.in_order && plan.workers > 1) {
    // Slots bring buffers with them.
    const uint64_t others = std::min<uint64_t>(plan.workers - executor_.slots(), most);
    plan.workers = static_cast<uint32_t>(std::max<uint64_t>(executor_.slots() + others, 1));
    return move_by_offset(plan);
  }
  plan.workers = static_cast<uint32_t>(std::clamp<uint64_t>(plan.workers, 1, most));
  Buffer first{};
  const bool alone = plan.workers == 1 && executor_.slots() != 0;
  if (alone && !borrow(first, *executor_.slot(0))) first = {};
  if (!fill(first)) return;
  if (plan.workers > 1 && !first.segment.last) {
    const uint32_t workers = options_.in_order ? 1 : plan.workers;
    // One more for the reader and one for the writer, and as many again so that none waits for another's pace.
    const uint64_t buffers = std::clamp<uint64_t>(2 * uint64_t{workers} + 2, 3, std::max<uint64_t>(3, most));
    if (OrderedPipeline(*this, buffers).run(first, workers)) return;
  }
  move_in_turn(first);
}

void Pipeline::conclude() {
  state_.tick(true);
  if (state_.stopped() || !source_.check_unchanged(state_)) return;
  Secret<uint8_t[cipher::segment_margin]> added;
  const Status status = without_throwing([&] { return transform_.finish(transformed_, *kept_, *added); });
  if (status != STOCKADE_OK) return state_.fail(status);
  if (options_.added_bytes != 0 && !sink_.write(end_, *added, options_.added_bytes, state_)) return;
  if (source_.settle(state_.done(), state_) && sink_.exists()) sink_.settle(state_);
}

Status Pipeline::run(TransferResult& result) {
  state_.tick(true);
  if (!state_.stopped()) {
    const WriteSignals held;
    const Status status = without_throwing([&] {
      if (executor_.slots() != 0) transform_.prepare_device_key();
      move();
      return STOCKADE_OK;
    });
    if (status != STOCKADE_OK) state_.fail(status);
    if (!state_.stopped()) conclude();
  }
  int error;
  const Status status = state_.failure(&error);
  // What the parent has written is the parent's.
  if (status != STOCKADE_OK && !state_.in_child()) sink_.take_back();
  result = {state_.done(), sink_.written()};
  if (status == STOCKADE_ERROR_IO) errno = error;
  return status;
}

}  // namespace stockade::io
