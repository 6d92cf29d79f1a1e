#include "gpu/runtime_emulated.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <new>

namespace stockade::gpu {

namespace {

constexpr uint64_t alignment = 256;

// The devices that the calling thread is on, innermost last. Of all emulated runtimes together: a thread has but one device.
thread_local std::vector<uint32_t> entered;

// A fresh allocation holds noise, as memory of a device does.
constexpr uint8_t noise = 0xA5;

}  // namespace

EmulatedRuntime::EmulatedRuntime(std::vector<EmulatedDevice> devices) : devices_(std::move(devices)) {}
EmulatedRuntime::~EmulatedRuntime() = default;

void EmulatedRuntime::plan_fault(const Fault& fault) {
  const std::lock_guard lock(mutex_);
  planned_ = true;
  fault_ = fault;
  counted_ = 0;
}

void EmulatedRuntime::clear_fault() {
  const std::lock_guard lock(mutex_);
  planned_ = false;
}

uint64_t EmulatedRuntime::counted() const {
  const std::lock_guard lock(mutex_);
  return counted_;
}

Status EmulatedRuntime::fault(Call call, uint32_t device) {
  const std::lock_guard lock(mutex_);
  if (!planned_ || (fault_.call != Call::any && fault_.call != call)) return STOCKADE_OK;
  if (fault_.device != Fault::any_device && fault_.device != device) return STOCKADE_OK;
  const uint64_t number = counted_++;
  const bool fails = number == fault_.nth || (number > fault_.nth && fault_.for_ever);
  return fails ? fault_.status : STOCKADE_OK;
}

Status EmulatedRuntime::misuse() {
  const std::lock_guard lock(mutex_);
  ++misuses_;
  return STOCKADE_ERROR_DEVICE;
}

uint64_t EmulatedRuntime::live() const {
  const std::lock_guard lock(mutex_);
  return blocks_.size() + streams_.size() + events_.size();
}

bool EmulatedRuntime::holds_data() const {
  const std::lock_guard lock(mutex_);
  return std::any_of(blocks_.begin(), blocks_.end(), [](const auto& entry) {
    const auto* const bytes = reinterpret_cast<const uint8_t*>(entry.first);
    const bool own = entry.second.memory != nullptr;
    return own && !std::all_of(bytes, bytes + entry.second.bytes, [](uint8_t b) { return b == 0 || b == noise; });
  });
}

uint64_t EmulatedRuntime::misuses() const {
  const std::lock_guard lock(mutex_);
  return misuses_;
}

uint64_t EmulatedRuntime::allocated(uint32_t device) const {
  const std::lock_guard lock(mutex_);
  uint64_t sum = 0;
  for (const auto& [address, block] : blocks_) sum += block.device == device ? block.bytes : 0;
  return sum;
}

Status EmulatedRuntime::launch() {
  if (entered.empty()) return misuse();
  return fault(Call::launch, entered.back());
}

const EmulatedRuntime::Block* EmulatedRuntime::find(const void* memory, uint64_t bytes) const {
  const auto address = reinterpret_cast<uintptr_t>(memory);
  auto next = blocks_.upper_bound(address);
  if (next == blocks_.begin()) return nullptr;
  const auto& [begin, block] = *--next;
  return address - begin < block.bytes && bytes <= block.bytes - (address - begin) ? &block : nullptr;
}

bool EmulatedRuntime::on_device(uint32_t device, const void* memory, uint64_t bytes) const {
  const std::lock_guard lock(mutex_);
  const Block* const block = find(memory, bytes);
  return block != nullptr && block->device == device;
}

bool EmulatedRuntime::on_host(const void* memory, uint64_t) const {
  const std::lock_guard lock(mutex_);
  const Block* const block = find(memory, 1);
  return block == nullptr || block->device == host_side;
}

bool EmulatedRuntime::known(uint32_t device, void* stream) const {
  const std::lock_guard lock(mutex_);
  if (stream == nullptr) return true;  // the default stream
  const auto found = streams_.find(stream);
  return found != streams_.end() && found->second == device;
}

void* EmulatedRuntime::add(uint32_t device, uint64_t bytes) {
  std::unique_ptr<uint8_t[]> memory(new (std::nothrow) uint8_t[bytes + alignment]);
  if (memory == nullptr) return nullptr;
  std::memset(memory.get(), noise, bytes + alignment);
  const uintptr_t begin = (reinterpret_cast<uintptr_t>(memory.get()) + alignment - 1) / alignment * alignment;
  blocks_.emplace(begin, Block{device, bytes, std::move(memory)});
  return reinterpret_cast<void*>(begin);
}

bool EmulatedRuntime::remove(uint32_t device, void* memory) {
  const std::lock_guard lock(mutex_);
  const auto found = blocks_.find(reinterpret_cast<uintptr_t>(memory));
  if (found == blocks_.end() || found->second.device != device) return false;
  blocks_.erase(found);
  return true;
}

Status EmulatedRuntime::do_count(uint32_t& devices) {
  if (const Status status = fault(Call::count, Fault::any_device); status != STOCKADE_OK) return status;
  devices = static_cast<uint32_t>(devices_.size());
  return devices_.empty() ? STOCKADE_ERROR_UNAVAILABLE : STOCKADE_OK;
}

const char* EmulatedRuntime::do_absence() { return devices_.empty() ? "no GPU is present" : ""; }

Status EmulatedRuntime::do_facts(uint32_t device, DeviceFacts& facts) {
  if (const Status status = fault(Call::facts, device); status != STOCKADE_OK) return status;
  const EmulatedDevice& own = devices_[device];
  std::snprintf(facts.name, sizeof facts.name, "emulated device %u", device);
  std::snprintf(facts.bus, sizeof facts.bus, "0000:%02x:00.0", device & 0xff);
  facts.capability = own.capability;
  facts.multiprocessors = own.multiprocessors;
  facts.shared_bytes = own.shared_bytes;
  facts.memory = own.memory;
  return STOCKADE_OK;
}

Status EmulatedRuntime::do_free_memory(uint32_t device, uint64_t& bytes) {
  if (const Status status = fault(Call::free_memory, device); status != STOCKADE_OK) return status;
  bytes = devices_[device].memory - allocated(device);
  return STOCKADE_OK;
}

Status EmulatedRuntime::do_enter(uint32_t device) {
  if (const Status status = fault(Call::enter, device); status != STOCKADE_OK) return status;
  entered.push_back(device);
  return STOCKADE_OK;
}

void EmulatedRuntime::do_leave() {
  if (entered.empty()) {
    misuse();
  } else {
    entered.pop_back();
  }
}

Status EmulatedRuntime::do_allocate(uint32_t device, uint64_t bytes, void** memory) {
  if (const Status status = fault(Call::allocate, device); status != STOCKADE_OK) return status;
  const uint64_t used = allocated(device);
  const std::lock_guard lock(mutex_);
  if (bytes == 0 || bytes > devices_[device].memory - used) return STOCKADE_ERROR_DEVICE_MEMORY;
  *memory = add(device, bytes);
  return *memory != nullptr ? STOCKADE_OK : STOCKADE_ERROR_DEVICE_MEMORY;
}

// The memory is gone even if that is reported as a failure, so that no test leaks what a lost device would have taken along.
Status EmulatedRuntime::do_release(uint32_t device, void* memory, uint64_t bytes) {
  const Status status = fault(Call::release, device);
  if (!on_device(device, memory, bytes) || !remove(device, memory)) return misuse();
  return status;
}

Status EmulatedRuntime::do_allocate_pinned(uint64_t bytes, void** memory) {
  const Status status = fault(Call::allocate_pinned, Fault::any_device);
  if (status != STOCKADE_OK) return status;
  const std::lock_guard lock(mutex_);
  *memory = add(host_side, bytes);
  return *memory != nullptr ? STOCKADE_OK : STOCKADE_ERROR_MEMORY;
}

Status EmulatedRuntime::do_release_pinned(void* memory) {
  const Status status = fault(Call::release_pinned, Fault::any_device);
  bool wiped = false;
  {
    const std::lock_guard lock(mutex_);
    const Block* const block = find(memory, 1);
    const auto* const bytes = static_cast<const uint8_t*>(memory);
    wiped = block != nullptr && block->memory != nullptr &&
            std::all_of(bytes, bytes + block->bytes, [](uint8_t b) { return b == 0; });
  }
  if (!remove(host_side, memory) || !wiped) return misuse();
  return status;
}

Status EmulatedRuntime::do_register_host(void* memory, uint64_t bytes) {
  const Status status = fault(Call::register_host, Fault::any_device);
  if (status != STOCKADE_OK) return status;
  if (bytes == 0 || !on_host(memory, bytes)) return misuse();
  const std::lock_guard lock(mutex_);
  const bool fresh = blocks_.emplace(reinterpret_cast<uintptr_t>(memory), Block{host_side, bytes, nullptr}).second;
  return fresh ? STOCKADE_OK : STOCKADE_ERROR_DEVICE;
}

Status EmulatedRuntime::do_unregister_host(void* memory) {
  const Status status = fault(Call::unregister_host, Fault::any_device);
  if (!remove(host_side, memory)) return misuse();
  return status;
}

Status EmulatedRuntime::do_make_stream(uint32_t device, void** stream) {
  if (const Status status = fault(Call::make_stream, device); status != STOCKADE_OK) return status;
  const std::lock_guard lock(mutex_);
  *stream = reinterpret_cast<void*>(next_stream_++);
  streams_.emplace(*stream, device);
  return STOCKADE_OK;
}

Status EmulatedRuntime::do_release_stream(uint32_t device, void* stream) {
  const Status status = fault(Call::release_stream, device);
  if (!known(device, stream)) return misuse();
  const std::lock_guard lock(mutex_);
  streams_.erase(stream);
  return status;
}

Status EmulatedRuntime::do_copy_in(uint32_t device, void* stream, void* to, const void* from, uint64_t bytes) {
  if (const Status status = fault(Call::copy_in, device); status != STOCKADE_OK) return status;
  if (!known(device, stream) || !on_device(device, to, bytes) || !on_host(from, bytes)) return misuse();
  std::memcpy(to, from, bytes);
  return STOCKADE_OK;
}

Status EmulatedRuntime::do_copy_out(uint32_t device, void* stream, void* to, const void* from, uint64_t bytes) {
  if (const Status status = fault(Call::copy_out, device); status != STOCKADE_OK) {
    // A copy that breaks off has written something.
    if (on_host(to, bytes)) std::memset(to, noise, bytes / 2);
    return status;
  }
  if (!known(device, stream) || !on_device(device, from, bytes) || !on_host(to, bytes)) return misuse();
  std::memcpy(to, from, bytes);
  return STOCKADE_OK;
}

Status EmulatedRuntime::do_fill(uint32_t device, void* stream, void* memory, uint8_t value, uint64_t bytes) {
  if (const Status status = fault(Call::fill, device); status != STOCKADE_OK) return status;
  if (!known(device, stream) || !on_device(device, memory, bytes)) return misuse();
  std::memset(memory, value, bytes);
  return STOCKADE_OK;
}

Status EmulatedRuntime::do_wait(uint32_t device, void* stream) {
  if (const Status status = fault(Call::wait, device); status != STOCKADE_OK) return status;
  return known(device, stream) ? STOCKADE_OK : misuse();
}

EmulatedRuntime::Moment* EmulatedRuntime::find_event(uint32_t device, void* event) {
  const auto found = events_.find(event);
  return found != events_.end() && found->second.device == device ? &found->second : nullptr;
}

Status EmulatedRuntime::do_make_event(uint32_t device, void** event) {
  if (const Status status = fault(Call::event, device); status != STOCKADE_OK) return status;
  const std::lock_guard lock(mutex_);
  *event = reinterpret_cast<void*>(next_stream_++);
  events_.emplace(*event, Moment{device, {}});
  return STOCKADE_OK;
}

Status EmulatedRuntime::do_release_event(uint32_t device, void* event) {
  const Status status = fault(Call::event, device);
  {
    const std::lock_guard lock(mutex_);
    if (find_event(device, event) != nullptr) {
      events_.erase(event);
      return status;
    }
  }
  return misuse();
}

Status EmulatedRuntime::do_record(uint32_t device, void* stream, void* event) {
  if (const Status status = fault(Call::event, device); status != STOCKADE_OK) return status;
  if (known(device, stream)) {
    const std::lock_guard lock(mutex_);
    if (Moment* const moment = find_event(device, event); moment != nullptr) {
      moment->time = std::chrono::steady_clock::now();
      return STOCKADE_OK;
    }
  }
  return misuse();
}

Status EmulatedRuntime::do_elapsed(uint32_t device, void* first, void* last, double& seconds) {
  if (const Status status = fault(Call::event, device); status != STOCKADE_OK) return status;
  {
    const std::lock_guard lock(mutex_);
    const Moment* const from = find_event(device, first);
    const Moment* const to = find_event(device, last);
    constexpr std::chrono::steady_clock::time_point never;
    if (from != nullptr && to != nullptr && from->time != never && to->time != never) {
      seconds = std::chrono::duration<double>(to->time - from->time).count();
      return STOCKADE_OK;
    }
  }
  return misuse();
}

Status EmulatedRuntime::do_locate(const void* pointer, Place& place) {
  if (const Status status = fault(Call::locate, Fault::any_device); status != STOCKADE_OK) return status;
  const std::lock_guard lock(mutex_);
  const Block* const block = find(pointer, 1);
  if (block == nullptr) return STOCKADE_OK;
  place = block->device == host_side ? Place{Side::pinned, 0} : Place{Side::device, block->device};
  return STOCKADE_OK;
}

}  // namespace stockade::gpu
