#include "gpu/runtime.h"

#include "base/forks.h"

namespace stockade::gpu {

Status Runtime::admit() {
  const uint64_t self = process_number();
  uint64_t owner = owner_.load(std::memory_order_relaxed);
  if (owner == 0 && owner_.compare_exchange_strong(owner, self)) return STOCKADE_OK;
  return owner == self ? STOCKADE_OK : STOCKADE_ERROR_FORKED;
}

Status Runtime::admit(uint32_t device) {
  if (const Status status = admit(); status != STOCKADE_OK) return status;
  uint32_t devices = known_.load(std::memory_order_relaxed);
  if (devices == 0) {
    if (const Status status = count(devices); status != STOCKADE_OK) return status;
  }
  return device < devices ? STOCKADE_OK : STOCKADE_ERROR_UNAVAILABLE;
}

Status Runtime::count(uint32_t& devices) {
  devices = 0;
  Status status = admit();
  if (status == STOCKADE_OK) status = do_count(devices);
  if (status == STOCKADE_OK) known_.store(devices, std::memory_order_relaxed);
  return status;
}

const char* Runtime::absence() {
  return admit() == STOCKADE_OK ? do_absence() : "the process was forked after a GPU had been looked for";
}

Status Runtime::facts(uint32_t device, DeviceFacts& facts) {
  facts = {};
  const Status status = admit(device);
  return status == STOCKADE_OK ? do_facts(device, facts) : status;
}

Status Runtime::free_memory(uint32_t device, uint64_t& bytes) {
  bytes = 0;
  const Status status = admit(device);
  return status == STOCKADE_OK ? do_free_memory(device, bytes) : status;
}

Status Runtime::enter(uint32_t device) {
  const Status status = admit(device);
  return status == STOCKADE_OK ? do_enter(device) : status;
}

void Runtime::leave() {
  if (admit() == STOCKADE_OK) do_leave();
}

Status Runtime::allocate(uint32_t device, uint64_t bytes, void** memory) {
  *memory = nullptr;
  const Status status = admit(device);
  return status == STOCKADE_OK ? do_allocate(device, bytes, memory) : status;
}

Status Runtime::release(uint32_t device, void* memory, uint64_t bytes) {
  const Status status = admit(device);
  return status == STOCKADE_OK ? do_release(device, memory, bytes) : status;
}

Status Runtime::allocate_pinned(uint64_t bytes, void** memory) {
  *memory = nullptr;
  const Status status = admit();
  return status == STOCKADE_OK ? do_allocate_pinned(bytes, memory) : status;
}

Status Runtime::release_pinned(void* memory) {
  const Status status = admit();
  return status == STOCKADE_OK ? do_release_pinned(memory) : status;
}

Status Runtime::register_host(void* memory, uint64_t bytes) {
  const Status status = admit();
  return status == STOCKADE_OK ? do_register_host(memory, bytes) : status;
}

Status Runtime::unregister_host(void* memory) {
  const Status status = admit();
  return status == STOCKADE_OK ? do_unregister_host(memory) : status;
}

Status Runtime::make_stream(uint32_t device, void** stream) {
  *stream = nullptr;
  const Status status = admit(device);
  return status == STOCKADE_OK ? do_make_stream(device, stream) : status;
}

Status Runtime::release_stream(uint32_t device, void* stream) {
  const Status status = admit(device);
  return status == STOCKADE_OK ? do_release_stream(device, stream) : status;
}

Status Runtime::copy_in(uint32_t device, void* stream, void* to_device, const void* from_host, uint64_t bytes) {
  const Status status = admit(device);
  return status == STOCKADE_OK && bytes != 0 ? do_copy_in(device, stream, to_device, from_host, bytes) : status;
}

Status Runtime::copy_out(uint32_t device, void* stream, void* to_host, const void* from_device, uint64_t bytes) {
  const Status status = admit(device);
  return status == STOCKADE_OK && bytes != 0 ? do_copy_out(device, stream, to_host, from_device, bytes) : status;
}

Status Runtime::fill(uint32_t device, void* stream, void* memory, uint8_t value, uint64_t bytes) {
  const Status status = admit(device);
  return status == STOCKADE_OK && bytes != 0 ? do_fill(device, stream, memory, value, bytes) : status;
}

Status Runtime::wait(uint32_t device, void* stream) {
  const Status status = admit(device);
  return status == STOCKADE_OK ? do_wait(device, stream) : status;
}

Status Runtime::make_event(uint32_t device, void** event) {
  *event = nullptr;
  const Status status = admit(device);
  return status == STOCKADE_OK ? do_make_event(device, event) : status;
}

Status Runtime::release_event(uint32_t device, void* event) {
  const Status status = admit(device);
  return status == STOCKADE_OK ? do_release_event(device, event) : status;
}

Status Runtime::record(uint32_t device, void* stream, void* event) {
  const Status status = admit(device);
  return status == STOCKADE_OK ? do_record(device, stream, event) : status;
}

Status Runtime::elapsed(uint32_t device, void* first, void* last, double& seconds) {
  seconds = 0;
  const Status status = admit(device);
  return status == STOCKADE_OK ? do_elapsed(device, first, last, seconds) : status;
}

Status Runtime::locate(const void* pointer, Place& place) {
  place = {Side::host, 0};
  const Status status = admit();
  return status == STOCKADE_OK ? do_locate(pointer, place) : status;
}

Status DeviceBuffer::allocate(Runtime& runtime, uint32_t device, uint64_t size) {
  release();
  void* memory = nullptr;
  const Status status = runtime.allocate(device, size, &memory);
  if (status == STOCKADE_OK) memory_ = {memory, {&runtime, device, size}};
  return status;
}

Status PinnedBuffer::allocate(Runtime& runtime, uint64_t size) {
  release();
  void* memory = nullptr;
  const Status status = runtime.allocate_pinned(size, &memory);
  if (status == STOCKADE_OK) memory_ = {memory, {&runtime, size}};
  return status;
}

#if !defined(STOCKADE_CUDA)

namespace {

// `count` refuses before anything else can be asked of a device, but pinned memory belongs to none.
class NoRuntime final : public Runtime {
  Status do_count(uint32_t&) override { return STOCKADE_ERROR_UNAVAILABLE; }
  const char* do_absence() override { return "this build of Stockade has no CUDA in it"; }
  Status do_facts(uint32_t, DeviceFacts&) override { return STOCKADE_ERROR_UNAVAILABLE; }
  Status do_free_memory(uint32_t, uint64_t&) override { return STOCKADE_ERROR_UNAVAILABLE; }
  Status do_enter(uint32_t) override { return STOCKADE_ERROR_UNAVAILABLE; }
  void do_leave() override {}
  Status do_allocate(uint32_t, uint64_t, void**) override { return STOCKADE_ERROR_UNAVAILABLE; }
  Status do_release(uint32_t, void*, uint64_t) override { return STOCKADE_ERROR_UNAVAILABLE; }
  Status do_allocate_pinned(uint64_t, void**) override { return STOCKADE_ERROR_UNAVAILABLE; }
  Status do_release_pinned(void*) override { return STOCKADE_ERROR_UNAVAILABLE; }
  Status do_register_host(void*, uint64_t) override { return STOCKADE_ERROR_UNAVAILABLE; }
  Status do_unregister_host(void*) override { return STOCKADE_ERROR_UNAVAILABLE; }
  Status do_make_stream(uint32_t, void**) override { return STOCKADE_ERROR_UNAVAILABLE; }
  Status do_release_stream(uint32_t, void*) override { return STOCKADE_ERROR_UNAVAILABLE; }
  Status do_copy_in(uint32_t, void*, void*, const void*, uint64_t) override { return STOCKADE_ERROR_UNAVAILABLE; }
  Status do_copy_out(uint32_t, void*, void*, const void*, uint64_t) override { return STOCKADE_ERROR_UNAVAILABLE; }
  Status do_fill(uint32_t, void*, void*, uint8_t, uint64_t) override { return STOCKADE_ERROR_UNAVAILABLE; }
  Status do_wait(uint32_t, void*) override { return STOCKADE_ERROR_UNAVAILABLE; }
  Status do_make_event(uint32_t, void**) override { return STOCKADE_ERROR_UNAVAILABLE; }
  Status do_release_event(uint32_t, void*) override { return STOCKADE_ERROR_UNAVAILABLE; }
  Status do_record(uint32_t, void*, void*) override { return STOCKADE_ERROR_UNAVAILABLE; }
  Status do_elapsed(uint32_t, void*, void*, double&) override { return STOCKADE_ERROR_UNAVAILABLE; }
  Status do_locate(const void*, Place&) override { return STOCKADE_ERROR_UNAVAILABLE; }
};

}  // namespace

Runtime& runtime() {
  static NoRuntime none;
  return none;
}

#endif

bool is_pinned(Runtime& runtime, const void* memory, uint64_t length) {
  const auto pinned = [&runtime](const uint8_t* byte) {
    Place place;
    return runtime.locate(byte, place) == STOCKADE_OK && place.side == Side::pinned;
  };
  const auto* const bytes = static_cast<const uint8_t*>(memory);
  return length != 0 && pinned(bytes) && pinned(bytes + length - 1);
}

}  // namespace stockade::gpu
