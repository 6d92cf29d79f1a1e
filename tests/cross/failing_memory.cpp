#include "cross/failing_memory.h"

#include <openssl/crypto.h>

#include <atomic>
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

// A library that is loaded, whose calls the linker of this program does not see: it is given these instead. The calls made
// here are counted as all others.
void* allocate(size_t size, const char*, int) { return std::malloc(size); }
void* reallocate(void* memory, size_t size, const char*, int) { return std::realloc(memory, size); }
void release(void* memory, const char*, int) { std::free(memory); }
const bool given = CRYPTO_set_mem_functions(allocate, reallocate, release) == 1;

}  // namespace

bool libcrypto_counts() { return given; }

FailingMemory::FailingMemory(uint64_t successes) {
  left.store(successes);
  refusals.store(0);
  armed.store(true);
}

FailingMemory::~FailingMemory() { armed.store(false); }

uint64_t FailingMemory::refused() const { return refusals.load(); }

}  // namespace stockade::tests

using stockade::tests::refuse;

// The linker sends what calls NAME to __wrap_NAME, and __real_NAME to what was called before. For C++ these are the
// mangled names of operator new: replacing the operators themselves would collide with the sanitizers, which do so too.
#define STOCKADE_WRAP(name, parameters, arguments) \
  void* __real_##name parameters;                  \
  void* __wrap_##name parameters { return refuse() ? nullptr : __real_##name arguments; }
#define STOCKADE_WRAP_THROWING(name, parameters, arguments) \
  void* __real_##name parameters;                           \
  void* __wrap_##name parameters {                          \
    if (refuse()) throw std::bad_alloc();                   \
    return __real_##name arguments;                         \
  }

extern "C" {

STOCKADE_WRAP(malloc, (size_t size), (size))
STOCKADE_WRAP(calloc, (size_t count, size_t size), (count, size))
STOCKADE_WRAP(realloc, (void* memory, size_t size), (memory, size))
STOCKADE_WRAP(aligned_alloc, (size_t alignment, size_t size), (alignment, size))
STOCKADE_WRAP_THROWING(_Znwm, (size_t size), (size))
STOCKADE_WRAP_THROWING(_Znam, (size_t size), (size))
STOCKADE_WRAP_THROWING(_ZnwmSt11align_val_t, (size_t size, size_t alignment), (size, alignment))
STOCKADE_WRAP_THROWING(_ZnamSt11align_val_t, (size_t size, size_t alignment), (size, alignment))
STOCKADE_WRAP(_ZnwmRKSt9nothrow_t, (size_t size, const std::nothrow_t* tag), (size, tag))
STOCKADE_WRAP(_ZnamRKSt9nothrow_t, (size_t size, const std::nothrow_t* tag), (size, tag))
STOCKADE_WRAP(_ZnwmSt11align_val_tRKSt9nothrow_t, (size_t size, size_t alignment, const std::nothrow_t* tag),
              (size, alignment, tag))
STOCKADE_WRAP(_ZnamSt11align_val_tRKSt9nothrow_t, (size_t size, size_t alignment, const std::nothrow_t* tag),
              (size, alignment, tag))

}  // extern "C"
