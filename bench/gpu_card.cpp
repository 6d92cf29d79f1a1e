#include "gpu_card.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "gpu_questions.h"
#include "offload/backend.h"

namespace stockade::bench {
namespace {

constexpr uint64_t tag_bytes = 16;
// Longer outputs are compared in that many windows: reading back gigabytes would take longer than the benchmark.
constexpr uint64_t windows = 16, window_bytes = uint64_t{1} << 20;

uint64_t chunk_count(uint64_t bytes) { return bytes / STOCKADE_CHUNK_BYTES + 1; }

}  // namespace

Card::Card(uint32_t device, uint64_t bytes) : runtime_(*offload::backend().runtime), device_(device) {
  const uint64_t place = bytes + chunk_count(bytes) * tag_bytes;
  check(runtime_.facts(device, facts_), "a GPU's description");
  check(stream_.make(runtime_, device), "a stream");
  check(begin_.make(runtime_, device), "an event");
  check(end_.make(runtime_, device), "an event");
  check(first_.allocate(runtime_, device, place), "GPU memory for the input");
  check(second_.allocate(runtime_, device, place), "GPU memory for the output");
  check(tag_.allocate(runtime_, device, tag_bytes), "GPU memory for a tag");
  check(verdicts_.allocate(runtime_, device, chunk_count(bytes) * sizeof(uint32_t)), "GPU memory for verdicts");
}

stockade_device_queue Card::queue(uint64_t workspace) {
  if (workspace > workspace_.size()) {
    check(workspace_.allocate(runtime_, device_, workspace), "GPU memory for a workspace");
  }
  return {sizeof(stockade_device_queue), stream_.handle(), workspace_.data(), workspace_.size()};
}

gpu::Queue Card::launch_queue() const {
  return {stream_.handle(), facts_.capability, facts_.multiprocessors, facts_.shared_bytes};
}

void Card::copy_in(uint8_t* to, const void* from, uint64_t bytes) {
  check(runtime_.copy_in(device_, stream_.handle(), to, from, bytes), "a copy to a GPU");
  wait();
}

void Card::copy_out(void* to, const void* from, uint64_t bytes) {
  check(runtime_.copy_out(device_, stream_.handle(), to, from, bytes), "a copy from a GPU");
  wait();
}

void Card::fill(void* memory, uint8_t value, uint64_t bytes) {
  check(runtime_.fill(device_, stream_.handle(), memory, value, bytes), "filling a GPU's memory");
  wait();
}

void Card::wait() { check(runtime_.wait(device_, stream_.handle()), "work on a GPU"); }

bool Card::equals(const uint8_t* device, const uint8_t* host, uint64_t bytes) {
  const bool whole = bytes <= windows * window_bytes;
  const uint64_t length = whole ? bytes : window_bytes;
  std::vector<uint8_t> copy(length);
  for (uint64_t i = 0; i < (whole ? 1 : windows); ++i) {
    const uint64_t offset =
        (bytes - length) / (windows - 1) * i + (i + 1 == windows ? (bytes - length) % (windows - 1) : 0);
    copy_out(copy.data(), device + offset, length);
    if (std::memcmp(copy.data(), host + offset, length) != 0) return false;
  }
  return true;
}

void Card::begin() { check(runtime_.record(device_, stream_.handle(), begin_.handle()), "an event"); }

double Card::end() {
  double seconds = 0;
  check(runtime_.record(device_, stream_.handle(), end_.handle()), "an event");
  check(runtime_.elapsed(device_, begin_.handle(), end_.handle(), seconds), "work on a GPU");
  return seconds;
}

uint64_t size_that_fits(uint32_t device, uint64_t wanted) {
  uint64_t free = 0;
  check(offload::backend().runtime->free_memory(device, free), "a GPU's free memory");
  const uint64_t most = std::min(free / 3, host_memory() / 4);
  while (wanted > most && wanted > 1) wanted /= 2;
  return wanted;
}

}  // namespace stockade::bench
