// The runtime of CUDA, which finds the driver by itself when it is first asked for a device.
#include <cuda.h>
#include <cuda_runtime_api.h>
#include <sched.h>
#include <time.h>

#include <algorithm>
#include <cstdio>
#include <mutex>
#include <new>

#include "gpu/runtime.h"

namespace stockade::gpu {

namespace {

// The error of a call, and nothing else: a failure here does not show up in the host program's cudaGetLastError, while one
// that stood there before is left to it.
template <typename Function>
cudaError_t call(Function&& function) {
  const cudaError_t before = cudaPeekAtLastError();
  const cudaError_t error = function();
  if (error != cudaSuccess && before == cudaSuccess) (void)cudaGetLastError();
  return error;
}

Status status_of(cudaError_t error, Status no_memory) {
  switch (error) {
    case cudaSuccess:
      return STOCKADE_OK;
    case cudaErrorMemoryAllocation:
      return no_memory;
    default:
      return STOCKADE_ERROR_DEVICE;
  }
}

template <typename Function>
Status try_to(Function&& function, Status no_memory = STOCKADE_ERROR_DEVICE_MEMORY) {
  return status_of(call(std::forward<Function>(function)), no_memory);
}

// cudaSetDevice would change the host program's thread for good, and putting it back would make a context on a device that
// nobody may have asked for. The driver's own stack of contexts does neither.
struct Driver {
  using Retain = CUresult (*)(CUcontext*, CUdevice);
  using Push = CUresult (*)(CUcontext);
  using Pop = CUresult (*)(CUcontext*);
  using Attributes = CUresult (*)(unsigned int, CUpointer_attribute*, void**, CUdeviceptr);
  Retain retain = nullptr;
  Push push = nullptr;
  Pop pop = nullptr;
  Attributes attributes = nullptr;

  bool load() {
    return find("cuDevicePrimaryCtxRetain", retain) && find("cuCtxPushCurrent", push) && find("cuCtxPopCurrent", pop) &&
           find("cuPointerGetAttributes", attributes);
  }

 private:
  template <typename Function>
  static bool find(const char* name, Function& function) {
    void* found = nullptr;
    cudaDriverEntryPointQueryResult result = cudaDriverEntryPointSymbolNotFound;
    const cudaError_t error = call([&] {
#if CUDART_VERSION >= 12050
      return cudaGetDriverEntryPointByVersion(name, &found, 12000, cudaEnableDefault, &result);
#else
      return cudaGetDriverEntryPoint(name, &found, cudaEnableDefault, &result);
#endif
    });
    function = reinterpret_cast<Function>(found);
    return error == cudaSuccess && result == cudaDriverEntryPointSuccess && found != nullptr;
  }
};

constexpr uint32_t max_devices = 64;

class CudaRuntime final : public Runtime {
  Status do_count(uint32_t& devices) override {
    std::call_once(counted_, [this] { look(); });
    devices = devices_;
    return status_;
  }

  const char* do_absence() override {
    uint32_t devices = 0;
    do_count(devices);
    return absence_;
  }

  Status do_facts(uint32_t device, DeviceFacts& facts) override {
    // The driver takes its time over them, and they never change.
    const std::lock_guard lock(facts_mutex_);
    if (facts_[device].capability == 0) {
      const Status status = read_facts(device, facts_[device]);
      if (status != STOCKADE_OK) return status;
    }
    facts = facts_[device];
    return STOCKADE_OK;
  }

  static Status read_facts(uint32_t device, DeviceFacts& facts) {
    const auto number = static_cast<int>(device);
    cudaDeviceProp properties;
    const cudaError_t error = call([&] { return cudaGetDeviceProperties(&properties, number); });
    if (error != cudaSuccess) return STOCKADE_ERROR_DEVICE;
    std::snprintf(facts.name, sizeof facts.name, "%s", properties.name);
    std::snprintf(facts.bus, sizeof facts.bus, "%04x:%02x:%02x.0", static_cast<unsigned>(properties.pciDomainID),
                  static_cast<unsigned>(properties.pciBusID), static_cast<unsigned>(properties.pciDeviceID));
    facts.capability = static_cast<uint32_t>(10 * properties.major + properties.minor);
    facts.multiprocessors = static_cast<uint32_t>(properties.multiProcessorCount);
    facts.shared_bytes = static_cast<uint32_t>(properties.sharedMemPerBlockOptin);
    facts.memory = properties.totalGlobalMem;
    int clock = 0, driver = 0, own = 0;
    if (call([&] { return cudaDeviceGetAttribute(&clock, cudaDevAttrClockRate, number); }) == cudaSuccess) {
      facts.clock_khz = static_cast<uint32_t>(clock);
    }
    if (call([&] { return cudaDriverGetVersion(&driver); }) == cudaSuccess) {
      facts.driver_version = static_cast<uint32_t>(driver);
    }
    if (call([&] { return cudaRuntimeGetVersion(&own); }) == cudaSuccess) {
      facts.runtime_version = static_cast<uint32_t>(own);
    }
    return STOCKADE_OK;
  }

  Status do_free_memory(uint32_t device, uint64_t& bytes) override {
    const OnDevice here(*this, device);
    if (here.status() != STOCKADE_OK) return here.status();
    size_t free = 0, all = 0;
    const Status status = try_to([&] { return cudaMemGetInfo(&free, &all); });
    bytes = free;
    return status;
  }

  Status do_enter(uint32_t device) override {
    CUcontext context = nullptr;
    if (const Status status = context_of(device, context); status != STOCKADE_OK) return status;
    return driver_.push(context) == CUDA_SUCCESS ? STOCKADE_OK : STOCKADE_ERROR_DEVICE;
  }

  void do_leave() override {
    CUcontext context = nullptr;
    (void)driver_.pop(&context);
  }

  Status do_allocate(uint32_t device, uint64_t bytes, void** memory) override {
    const OnDevice here(*this, device);
    if (here.status() != STOCKADE_OK) return here.status();
    return try_to([&] { return cudaMalloc(memory, bytes); });
  }

  Status do_release(uint32_t device, void* memory, uint64_t bytes) override {
    const OnDevice here(*this, device);
    if (here.status() != STOCKADE_OK) return here.status();
    const Status wiped = try_to([&] {
      const cudaError_t error = cudaMemsetAsync(memory, 0, bytes, cudaStreamPerThread);
      return error == cudaSuccess ? cudaStreamSynchronize(cudaStreamPerThread) : error;
    });
    const Status freed = try_to([&] { return cudaFree(memory); });
    return wiped == STOCKADE_OK ? freed : wiped;
  }

  // Of any context: portable memory is pinned for all of them. One must be there, so it is the first device's that has one.
  Status do_allocate_pinned(uint64_t bytes, void** memory) override {
    return on_any([&] {
      return try_to([&] { return cudaHostAlloc(memory, bytes, cudaHostAllocPortable); }, STOCKADE_ERROR_MEMORY);
    });
  }

  Status do_release_pinned(void* memory) override {
    return on_any([&] { return try_to([&] { return cudaFreeHost(memory); }); });
  }

  Status do_register_host(void* memory, uint64_t bytes) override {
    return on_any([&] {
      return try_to([&] { return cudaHostRegister(memory, bytes, cudaHostRegisterPortable); }, STOCKADE_ERROR_MEMORY);
    });
  }

  Status do_unregister_host(void* memory) override {
    return on_any([&] { return try_to([&] { return cudaHostUnregister(memory); }); });
  }

  Status do_make_stream(uint32_t device, void** stream) override {
    const OnDevice here(*this, device);
    if (here.status() != STOCKADE_OK) return here.status();
    cudaStream_t made = nullptr;
    const Status status = try_to([&] { return cudaStreamCreateWithFlags(&made, cudaStreamNonBlocking); });
    *stream = made;
    return status;
  }

  Status do_release_stream(uint32_t device, void* stream) override {
    const OnDevice here(*this, device);
    if (here.status() != STOCKADE_OK) return here.status();
    return try_to([&] { return cudaStreamDestroy(static_cast<cudaStream_t>(stream)); });
  }

  Status do_copy_in(uint32_t device, void* stream, void* to, const void* from, uint64_t bytes) override {
    return copy(device, stream, to, from, bytes, cudaMemcpyHostToDevice);
  }

  Status do_copy_out(uint32_t device, void* stream, void* to, const void* from, uint64_t bytes) override {
    return copy(device, stream, to, from, bytes, cudaMemcpyDeviceToHost);
  }

  Status do_fill(uint32_t device, void* stream, void* memory, uint8_t value, uint64_t bytes) override {
    const OnDevice here(*this, device);
    if (here.status() != STOCKADE_OK) return here.status();
    return try_to([&] { return cudaMemsetAsync(memory, value, bytes, static_cast<cudaStream_t>(stream)); });
  }

  // More threads wait than there may be cores, and others have copies to make meanwhile: short work is waited for with open
  // eyes, long work in naps.
  Status do_wait(uint32_t device, void* stream) override {
    const OnDevice here(*this, device);
    if (here.status() != STOCKADE_OK) return here.status();
    constexpr uint32_t glances = 50, offers = 200;
    constexpr timespec nap{0, 20'000};
    for (uint32_t i = 0;; ++i) {
      const cudaError_t error = call([&] { return cudaStreamQuery(static_cast<cudaStream_t>(stream)); });
      if (error != cudaErrorNotReady) return status_of(error, STOCKADE_ERROR_DEVICE);
      if (i < glances) continue;
      if (i < glances + offers) {
        sched_yield();
      } else {
        nanosleep(&nap, nullptr);
      }
    }
  }

  Status do_make_event(uint32_t device, void** event) override {
    const OnDevice here(*this, device);
    if (here.status() != STOCKADE_OK) return here.status();
    cudaEvent_t made = nullptr;
    const Status status = try_to([&] { return cudaEventCreate(&made); });
    *event = made;
    return status;
  }

  Status do_release_event(uint32_t device, void* event) override {
    const OnDevice here(*this, device);
    if (here.status() != STOCKADE_OK) return here.status();
    return try_to([&] { return cudaEventDestroy(static_cast<cudaEvent_t>(event)); });
  }

  Status do_record(uint32_t device, void* stream, void* event) override {
    const OnDevice here(*this, device);
    if (here.status() != STOCKADE_OK) return here.status();
    return try_to([&] { return cudaEventRecord(static_cast<cudaEvent_t>(event), static_cast<cudaStream_t>(stream)); });
  }

  Status do_elapsed(uint32_t device, void* first, void* last, double& seconds) override {
    const OnDevice here(*this, device);
    if (here.status() != STOCKADE_OK) return here.status();
    float milliseconds = 0;
    const Status status = try_to([&] {
      const cudaError_t error = cudaEventSynchronize(static_cast<cudaEvent_t>(last));
      if (error != cudaSuccess) return error;
      return cudaEventElapsedTime(&milliseconds, static_cast<cudaEvent_t>(first), static_cast<cudaEvent_t>(last));
    });
    seconds = 1e-3 * static_cast<double>(milliseconds);
    return status;
  }

  Status do_locate(const void* pointer, Place& place) override {
    uint32_t devices = 0;
    if (const Status status = do_count(devices); status != STOCKADE_OK) return status;
    // The driver's own call needs no context. What it says nothing about stays 0: memory of the host that it does not know.
    unsigned int type = 0, managed = 0;
    int device = 0;
    CUpointer_attribute wanted[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_IS_MANAGED,
                                    CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL};
    void* answers[] = {&type, &managed, &device};
    const auto address = static_cast<CUdeviceptr>(reinterpret_cast<uintptr_t>(pointer));
    if (driver_.attributes(3, wanted, answers, address) != CUDA_SUCCESS) return STOCKADE_ERROR_DEVICE;
    if (managed != 0) {
      place.side = Side::managed;
    } else if (type == CU_MEMORYTYPE_HOST) {
      place.side = Side::pinned;
    } else if (type == CU_MEMORYTYPE_DEVICE) {
      place = {Side::device, static_cast<uint32_t>(device)};
    }
    return STOCKADE_OK;
  }

  void look() {
    int devices = 0;
    const cudaError_t error = call([&] { return cudaGetDeviceCount(&devices); });
    if (error == cudaSuccess && devices > 0 && driver_.load()) {
      devices_ = std::min(static_cast<uint32_t>(devices), max_devices);
      status_ = STOCKADE_OK;
      absence_ = "";
      return;
    }
    int version = 0;
    const bool installed = call([&] { return cudaDriverGetVersion(&version); }) == cudaSuccess && version != 0;
    if (!installed) {
      absence_ = "no NVIDIA driver is installed";
    } else if (error == cudaErrorInsufficientDriver) {
      absence_ = "the NVIDIA driver is too old for this build of Stockade";
    } else if (error == cudaErrorNoDevice || (error == cudaSuccess && devices == 0)) {
      absence_ = "no GPU is present";
    } else {
      absence_ = "the NVIDIA driver reports an error";
    }
  }

  // The device's primary context, kept until the process ends.
  Status context_of(uint32_t device, CUcontext& context) {
    context = contexts_[device].load(std::memory_order_acquire);
    if (context != nullptr) return STOCKADE_OK;
    const std::lock_guard lock(mutex_);
    context = contexts_[device].load(std::memory_order_relaxed);
    if (context != nullptr) return STOCKADE_OK;
    const CUresult result = driver_.retain(&context, static_cast<CUdevice>(device));
    if (result == CUDA_ERROR_OUT_OF_MEMORY) return STOCKADE_ERROR_DEVICE_MEMORY;
    if (result != CUDA_SUCCESS) return STOCKADE_ERROR_DEVICE;
    contexts_[device].store(context, std::memory_order_release);
    return STOCKADE_OK;
  }

  // Runs body() on a device that is in use already, else on the first.
  template <typename Body>
  Status on_any(Body&& body) {
    uint32_t devices = 0;
    if (const Status status = do_count(devices); status != STOCKADE_OK) return status;
    uint32_t device = 0;
    while (device < devices && contexts_[device].load(std::memory_order_acquire) == nullptr) ++device;
    const OnDevice here(*this, device < devices ? device : 0);
    return here.status() == STOCKADE_OK ? body() : here.status();
  }

  Status copy(uint32_t device, void* stream, void* to, const void* from, uint64_t bytes, cudaMemcpyKind kind) {
    const OnDevice here(*this, device);
    if (here.status() != STOCKADE_OK) return here.status();
    return try_to([&] { return cudaMemcpyAsync(to, from, bytes, kind, static_cast<cudaStream_t>(stream)); });
  }

  std::once_flag counted_;
  uint32_t devices_ = 0;
  Status status_ = STOCKADE_ERROR_UNAVAILABLE;
  const char* absence_ = "";
  Driver driver_;
  std::mutex mutex_;
  std::atomic<CUcontext> contexts_[max_devices] = {};
  std::mutex facts_mutex_;
  DeviceFacts facts_[max_devices] = {};
};

}  // namespace

// Never destroyed: at the end of the process CUDA may be gone before its users.
Runtime& runtime() {
  alignas(CudaRuntime) static unsigned char place[sizeof(CudaRuntime)];
  static CudaRuntime* const made = new (place) CudaRuntime;
  return *made;
}

}  // namespace stockade::gpu
