// Devices made of host memory, which do at once what they are told: for tests, on any machine.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "gpu/runtime.h"

namespace stockade::gpu {

struct EmulatedDevice {
  uint64_t memory = uint64_t{1} << 30;
  uint32_t capability = 90;
  uint32_t multiprocessors = 2;
  uint32_t shared_bytes = 227 << 10;
};

// What can be asked of a runtime, for faults; `any` stands for all of them but `leave`, which cannot fail.
enum class Call : uint32_t {
  any,
  count,
  facts,
  free_memory,
  enter,
  allocate,
  release,
  allocate_pinned,
  release_pinned,
  register_host,
  unregister_host,
  make_stream,
  release_stream,
  copy_in,
  copy_out,
  fill,
  wait,
  event,  // all four that are about events
  locate,
  launch
};

// The call number `nth` (from 0) of a kind, counted from when the fault was planned, fails; with `for_ever` all after it too.
struct Fault {
  static constexpr uint32_t any_device = UINT32_MAX;
  Call call = Call::any;
  uint64_t nth = 0;
  Status status = STOCKADE_ERROR_DEVICE;
  bool for_ever = false;
  uint32_t device = any_device;  // only calls that concern this one are counted
};

class EmulatedRuntime final : public Runtime {
 public:
  // None at all are "no GPU is present".
  explicit EmulatedRuntime(std::vector<EmulatedDevice> devices);
  ~EmulatedRuntime() override;

  // Replaces the plan; `clear_fault` ends it.
  void plan_fault(const Fault& fault);
  void clear_fault();
  // How many calls the plan has counted.
  uint64_t counted() const;

  // For kernels, whose launches go past the runtime: whether this one is planned to fail, and that the thread is on a device.
  // DEVICE.
  Status launch();

  // What a test wants to hear at the end: allocations, streams and events that nobody has given back, memory among them that is
  // not all zeros, and calls that a real device would have answered with an error or worse (memory of the wrong side or
  // outside an allocation, pinned memory given back with its content, a launch on no device).
  uint64_t live() const;
  bool holds_data() const;
  uint64_t misuses() const;
  uint64_t allocated(uint32_t device) const;  // bytes, now

 private:
  struct Block {
    uint32_t device;  // host_side for pinned memory
    uint64_t bytes;
    std::unique_ptr<uint8_t[]> memory;  // null for registered memory
  };
  static constexpr uint32_t host_side = UINT32_MAX;
  struct Moment {
    uint32_t device;
    std::chrono::steady_clock::time_point time;  // the clock's epoch: never recorded
  };

  Status do_count(uint32_t& devices) override;
  const char* do_absence() override;
  Status do_facts(uint32_t device, DeviceFacts& facts) override;
  Status do_free_memory(uint32_t device, uint64_t& bytes) override;
  Status do_enter(uint32_t device) override;
  void do_leave() override;
  Status do_allocate(uint32_t device, uint64_t bytes, void** memory) override;
  Status do_release(uint32_t device, void* memory, uint64_t bytes) override;
  Status do_allocate_pinned(uint64_t bytes, void** memory) override;
  Status do_release_pinned(void* memory) override;
  Status do_register_host(void* memory, uint64_t bytes) override;
  Status do_unregister_host(void* memory) override;
  Status do_make_stream(uint32_t device, void** stream) override;
  Status do_release_stream(uint32_t device, void* stream) override;
  Status do_copy_in(uint32_t device, void* stream, void* to, const void* from, uint64_t bytes) override;
  Status do_copy_out(uint32_t device, void* stream, void* to, const void* from, uint64_t bytes) override;
  Status do_fill(uint32_t device, void* stream, void* memory, uint8_t value, uint64_t bytes) override;
  Status do_wait(uint32_t device, void* stream) override;
  Status do_make_event(uint32_t device, void** event) override;
  Status do_release_event(uint32_t device, void* event) override;
  Status do_record(uint32_t device, void* stream, void* event) override;
  Status do_elapsed(uint32_t device, void* first, void* last, double& seconds) override;
  Status do_locate(const void* pointer, Place& place) override;

  Status fault(Call call, uint32_t device);
  Status misuse();
  // The block that holds the range, or null. The caller holds the mutex.
  const Block* find(const void* memory, uint64_t bytes) const;
  bool on_device(uint32_t device, const void* memory, uint64_t bytes) const;
  bool on_host(const void* memory, uint64_t bytes) const;
  bool known(uint32_t device, void* stream) const;
  // The event, or null. The caller holds the mutex.
  Moment* find_event(uint32_t device, void* event);
  void* add(uint32_t device, uint64_t bytes);
  bool remove(uint32_t device, void* memory);

  const std::vector<EmulatedDevice> devices_;
  mutable std::mutex mutex_;
  std::map<uintptr_t, Block> blocks_;
  std::map<void*, uint32_t> streams_;
  std::map<void*, Moment> events_;
  uintptr_t next_stream_ = 1;  // and event
  bool planned_ = false;
  Fault fault_;
  uint64_t counted_ = 0;
  uint64_t misuses_ = 0;
};

}  // namespace stockade::gpu
