#include "cross/guarded_memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <new>

namespace stockade::tests {

namespace {
constexpr uint64_t canary_bytes = 64;
constexpr uint8_t canary = 0xc5;
}  // namespace

CanaryBuffer::CanaryBuffer(uint64_t size, uint64_t misalignment)
    : storage_(size + 2 * canary_bytes + 128, canary), size_(size) {
  const auto start = reinterpret_cast<uintptr_t>(storage_.data()) + canary_bytes;
  data_ = storage_.data() + canary_bytes + (64 - start % 64) % 64 + misalignment;
}

bool CanaryBuffer::intact() const {
  const auto untouched = [](uint8_t byte) { return byte == canary; };
  const uint8_t* begin = storage_.data();
  return std::all_of(begin, static_cast<const uint8_t*>(data_), untouched) &&
         std::all_of(static_cast<const uint8_t*>(data_) + size_, begin + storage_.size(), untouched);
}

FencedMemory::FencedMemory(uint64_t size) {
  const auto page = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  usable_size_ = (size + page - 1) / page * page;
  mapping_size_ = usable_size_ + 2 * page;
  void* mapping = mmap(nullptr, mapping_size_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapping == MAP_FAILED) throw std::bad_alloc();
  mapping_ = static_cast<uint8_t*>(mapping);
  usable_ = mapping_ + page;
  if (usable_size_ != 0 && mprotect(usable_, usable_size_, PROT_READ | PROT_WRITE) != 0) {
    munmap(mapping_, mapping_size_);
    throw std::bad_alloc();
  }
}

FencedMemory::~FencedMemory() { munmap(mapping_, mapping_size_); }

}  // namespace stockade::tests
