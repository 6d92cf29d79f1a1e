#include "cross/failing_memory.h"

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <new>

namespace stockade::tests {
namespace {

std::atomic<bool> armed{false};
std::atomic<uint64_t> left{0};
std::atomic<uint64_t> refusals{0};

bool refuse() {
  if (!armed.load()) return false;
  uint64_t now = left.load();
  while (now != 0) {
    if (left.compare_exchange_weak(now, now - 1)) return false;
  }
  refusals.fetch_add(1);
  return true;
}

}  // namespace

FailingMemory::FailingMemory(uint64_t successes) {
  left.store(successes);
  refusals.store(0);
  armed.store(true);
}

FailingMemory::~FailingMemory() { armed.store(false); }

uint64_t FailingMemory::refused() const { return refusals.load(); }

}  // namespace stockade::tests

using stockade::tests::refuse;

extern "C" {

void* __real_malloc(size_t size);
void* __real_calloc(size_t count, size_t size);
void* __real_realloc(void* memory, size_t size);
void* __real_aligned_alloc(size_t alignment, size_t size);
int __real_posix_memalign(void** memory, size_t alignment, size_t size);

void* __wrap_malloc(size_t size) { return refuse() ? nullptr : __real_malloc(size); }
void* __wrap_calloc(size_t count, size_t size) { return refuse() ? nullptr : __real_calloc(count, size); }
void* __wrap_realloc(void* memory, size_t size) { return refuse() ? nullptr : __real_realloc(memory, size); }
void* __wrap_aligned_alloc(size_t alignment, size_t size) {
  return refuse() ? nullptr : __real_aligned_alloc(alignment, size);
}
int __wrap_posix_memalign(void** memory, size_t alignment, size_t size) {
  return refuse() ? ENOMEM : __real_posix_memalign(memory, alignment, size);
}

}  // extern "C"

namespace {

void* allocate(size_t size) { return refuse() ? nullptr : __real_malloc(size == 0 ? 1 : size); }

void* allocate(size_t size, std::align_val_t alignment) {
  const auto step = static_cast<size_t>(alignment);
  return refuse() ? nullptr : __real_aligned_alloc(step, (size + step - 1) / step * step);
}

template <typename... Arguments>
void* allocate_or_throw(Arguments... arguments) {
  void* memory = allocate(arguments...);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

}  // namespace

void* operator new(size_t size) { return allocate_or_throw(size); }
void* operator new[](size_t size) { return allocate_or_throw(size); }
void* operator new(size_t size, std::align_val_t alignment) { return allocate_or_throw(size, alignment); }
void* operator new[](size_t size, std::align_val_t alignment) { return allocate_or_throw(size, alignment); }
void* operator new(size_t size, const std::nothrow_t&) noexcept { return allocate(size); }
void* operator new[](size_t size, const std::nothrow_t&) noexcept { return allocate(size); }
void* operator new(size_t size, std::align_val_t alignment, const std::nothrow_t&) noexcept {
  return allocate(size, alignment);
}
void* operator new[](size_t size, std::align_val_t alignment, const std::nothrow_t&) noexcept {
  return allocate(size, alignment);
}

void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, size_t, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void* memory, size_t, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, const std::nothrow_t&) noexcept { std::free(memory); }
void operator delete[](void* memory, const std::nothrow_t&) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t, const std::nothrow_t&) noexcept { std::free(memory); }
void operator delete[](void* memory, std::align_val_t, const std::nothrow_t&) noexcept { std::free(memory); }
