// Memory that notices a byte written or read outside a buffer.
#pragma once

#include <cstdint>
#include <vector>

namespace stockade::tests {

// A buffer of any misalignment with canaries in front and behind.
class CanaryBuffer {
 public:
  // `data()` is `misalignment` bytes (0 to 63) after a multiple of 64.
  CanaryBuffer(uint64_t size, uint64_t misalignment);
  uint8_t* data() { return data_; }
  uint64_t size() const { return size_; }
  // False if anything around the buffer was changed.
  bool intact() const;

 private:
  std::vector<uint8_t> storage_;
  uint8_t* data_;
  uint64_t size_;
};

// A stretch of memory between two pages that cannot be touched: a byte too far ends the process.
class FencedMemory {
 public:
  // At least `size` usable bytes.
  explicit FencedMemory(uint64_t size);
  FencedMemory(const FencedMemory&) = delete;
  FencedMemory& operator=(const FencedMemory&) = delete;
  ~FencedMemory();
  // The first byte, after the fence in front.
  uint8_t* front() const { return usable_; }
  // `size` bytes that end at the fence behind.
  uint8_t* back(uint64_t size) const { return usable_ + usable_size_ - size; }

 private:
  uint8_t* mapping_;
  uint8_t* usable_;
  uint64_t mapping_size_, usable_size_;
};

}  // namespace stockade::tests
