// What Stockade uses of a GPU's driver, as an abstract class: the CUDA runtime (runtime_cuda.cpp), none at all (a build
// without CUDA, runtime.cpp), or devices made of host memory (runtime_emulated.h), for tests.
//
// Every failure is a Status at once: UNAVAILABLE where there is no such device, DEVICE for what the device or its driver
// reports (errors of earlier work on a stream included: they are reported, never cleared away), DEVICE_MEMORY, MEMORY for
// pinned memory, and FORKED: a driver's state does not survive fork(), so a process other than that of the first call is
// turned away before it touches the driver. Nothing here throws. All functions may be called by many threads at once.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "base/secret.h"
#include "base/status.h"

namespace stockade::gpu {

struct DeviceFacts {
  char name[256];
  char bus[16];         // PCI domain:bus:device.function
  uint32_t capability;  // 90 for compute capability 9.0
  uint32_t multiprocessors;
  uint32_t shared_bytes;  // the most shared memory that a block may ask for
  uint64_t memory;        // in all, in bytes
  uint32_t clock_khz;     // the highest of its cores; 0 unknown
  uint32_t driver_version,
      runtime_version;  // of CUDA, 13000 for 13.0: what the driver can do, what runs here; 0 unknown
};

// Where a pointer points. `pinned` is host memory that a device can copy from and to by itself, registered memory too;
// `managed` moves between both sides and may be used as either.
enum class Side : uint32_t { host, pinned, device, managed };
struct Place {
  Side side;
  uint32_t device;  // of Side::device only
};

class Runtime {
 public:
  Runtime() = default;
  Runtime(const Runtime&) = delete;
  Runtime& operator=(const Runtime&) = delete;
  virtual ~Runtime() = default;

  // How many devices there are, at least 1. Makes no context. UNAVAILABLE (`absence` says why), FORKED.
  Status count(uint32_t& devices);
  // Why `count` gave none: static text that completes "no GPU can be used: ...". Empty if there is one.
  const char* absence();
  // How many `count` has found so far; 0: it has not been asked, or found none. Asks no driver.
  uint32_t known() const { return known_.load(std::memory_order_relaxed); }
  // Makes no context.
  Status facts(uint32_t device, DeviceFacts& facts);

  Status free_memory(uint32_t device, uint64_t& bytes);

  // Makes the device the calling thread's own for launches of kernels, until `leave`, which restores what was before. Pairs
  // nest. Use OnDevice.
  Status enter(uint32_t device);
  void leave();

  // 256-byte aligned. DEVICE_MEMORY.
  Status allocate(uint32_t device, uint64_t bytes, void** memory);
  // Wipes all of it first. Work with it must have ended.
  Status release(uint32_t device, void* memory, uint64_t bytes);
  // Host memory that all devices copy from and to at full speed. Whoever releases it has wiped it. MEMORY.
  Status allocate_pinned(uint64_t bytes, void** memory);
  Status release_pinned(void* memory);
  // Makes the caller's memory pinned, and ends that. Costs more than copying it once.
  Status register_host(void* memory, uint64_t bytes);
  Status unregister_host(void* memory);

  // A queue of work of its own, not held up by the default stream.
  Status make_stream(uint32_t device, void** stream);
  Status release_stream(uint32_t device, void* stream);
  // These two return when the copy is queued if the host's side is pinned; until `wait` returns, neither side may be touched.
  Status copy_in(uint32_t device, void* stream, void* to_device, const void* from_host, uint64_t bytes);
  Status copy_out(uint32_t device, void* stream, void* to_host, const void* from_device, uint64_t bytes);
  Status fill(uint32_t device, void* stream, void* memory, uint8_t value, uint64_t bytes);
  // Until all work of the stream has been done, and whether it went well.
  Status wait(uint32_t device, void* stream);

  // A moment in a stream's work, to measure by: when everything put into the stream before `record` has been done.
  Status make_event(uint32_t device, void** event);
  Status release_event(uint32_t device, void* event);
  Status record(uint32_t device, void* stream, void* event);
  // Waits for the last of two and tells how far apart they were by the device's own clock.
  Status elapsed(uint32_t device, void* first, void* last, double& seconds);

  Status locate(const void* pointer, Place& place);

 private:
  // Whether this process may go on to the driver. OK, FORKED.
  Status admit();
  Status admit(uint32_t device);

  virtual Status do_count(uint32_t& devices) = 0;
  virtual const char* do_absence() = 0;
  virtual Status do_facts(uint32_t device, DeviceFacts& facts) = 0;
  virtual Status do_free_memory(uint32_t device, uint64_t& bytes) = 0;
  virtual Status do_enter(uint32_t device) = 0;
  virtual void do_leave() = 0;
  virtual Status do_allocate(uint32_t device, uint64_t bytes, void** memory) = 0;
  virtual Status do_release(uint32_t device, void* memory, uint64_t bytes) = 0;
  virtual Status do_allocate_pinned(uint64_t bytes, void** memory) = 0;
  virtual Status do_release_pinned(void* memory) = 0;
  virtual Status do_register_host(void* memory, uint64_t bytes) = 0;
  virtual Status do_unregister_host(void* memory) = 0;
  virtual Status do_make_stream(uint32_t device, void** stream) = 0;
  virtual Status do_release_stream(uint32_t device, void* stream) = 0;
  virtual Status do_copy_in(uint32_t device, void* stream, void* to, const void* from, uint64_t bytes) = 0;
  virtual Status do_copy_out(uint32_t device, void* stream, void* to, const void* from, uint64_t bytes) = 0;
  virtual Status do_fill(uint32_t device, void* stream, void* memory, uint8_t value, uint64_t bytes) = 0;
  virtual Status do_wait(uint32_t device, void* stream) = 0;
  virtual Status do_make_event(uint32_t device, void** event) = 0;
  virtual Status do_release_event(uint32_t device, void* event) = 0;
  virtual Status do_record(uint32_t device, void* stream, void* event) = 0;
  virtual Status do_elapsed(uint32_t device, void* first, void* last, double& seconds) = 0;
  virtual Status do_locate(const void* pointer, Place& place) = 0;

  std::atomic<uint64_t> owner_{0};  // the process_number() of the first call
  std::atomic<uint32_t> known_{0};  // how many devices, once they have been counted
};

// The machine's own. The first call does nothing but return it: no driver is looked for before a device is.
Runtime& runtime();

// Lets the calling thread launch kernels on a device while this lives.
class OnDevice {
 public:
  OnDevice(Runtime& runtime, uint32_t device) : runtime_(runtime), status_(runtime.enter(device)) {}
  OnDevice(const OnDevice&) = delete;
  OnDevice& operator=(const OnDevice&) = delete;
  ~OnDevice() {
    if (status_ == STOCKADE_OK) runtime_.leave();
  }
  Status status() const { return status_; }

 private:
  Runtime& runtime_;
  const Status status_;
};

// The four below own what they hold, and give it back wiped; if that fails the device is lost, and what was on it. They must
// not outlive the runtime; one that lives as long as the process is to be left to its end.
class DeviceBuffer {
 public:
  // What was held before is given back. DEVICE_MEMORY, DEVICE.
  Status allocate(Runtime& runtime, uint32_t device, uint64_t size);
  void release() { memory_.reset(); }
  uint8_t* data() const { return static_cast<uint8_t*>(memory_.get()); }
  uint64_t size() const { return data() != nullptr ? memory_.get_deleter().size : 0; }

 private:
  struct Release {
    Runtime* runtime;
    uint32_t device;
    uint64_t size;
    void operator()(void* memory) const { runtime->release(device, memory, size); }
  };
  std::unique_ptr<void, Release> memory_{nullptr, {}};
};

class PinnedBuffer {
 public:
  // MEMORY.
  Status allocate(Runtime& runtime, uint64_t size);
  void release() { memory_.reset(); }
  uint8_t* data() const { return static_cast<uint8_t*>(memory_.get()); }
  uint64_t size() const { return data() != nullptr ? memory_.get_deleter().size : 0; }

 private:
  struct Release {
    Runtime* runtime;
    uint64_t size;
    void operator()(void* memory) const {
      wipe(memory, size);
      runtime->release_pinned(memory);
    }
  };
  std::unique_ptr<void, Release> memory_{nullptr, {}};
};

template <Status (Runtime::*make_one)(uint32_t, void**), Status (Runtime::*release_one)(uint32_t, void*)>
class Handle {
 public:
  // What was held before is given back. DEVICE.
  Status make(Runtime& runtime, uint32_t device) {
    release();
    void* made = nullptr;
    const Status status = (runtime.*make_one)(device, &made);
    if (status == STOCKADE_OK) handle_ = {made, {&runtime, device}};
    return status;
  }
  void release() { handle_.reset(); }
  void* handle() const { return handle_.get(); }

 private:
  struct Release {
    Runtime* runtime;
    uint32_t device;
    void operator()(void* handle) const { (runtime->*release_one)(device, handle); }
  };
  std::unique_ptr<void, Release> handle_{nullptr, {}};
};

using Stream = Handle<&Runtime::make_stream, &Runtime::release_stream>;
using Event = Handle<&Runtime::make_event, &Runtime::release_event>;

// Whether a device can copy from or to the memory by itself. Where that cannot be found out: no.
bool is_pinned(Runtime& runtime, const void* memory, uint64_t length);

}  // namespace stockade::gpu
