// Memory that holds secrets: wiped in a way that the compiler may not remove, compared without a branch on the content.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

namespace stockade {

inline void wipe(void* data, size_t length) {
  if (length == 0) return;
  std::memset(data, 0, length);
  // The barrier reads the memory, so the stores above are not dead.
  __asm__ __volatile__("" : : "r"(data) : "memory");
}

// A value that is wiped when it goes out of scope. T must be trivially destructible.
template <typename T>
class Secret {
 public:
  Secret() = default;
  Secret(const Secret&) = delete;
  Secret& operator=(const Secret&) = delete;
  ~Secret() { wipe(&value_, sizeof value_); }
  T& operator*() { return value_; }
  const T& operator*() const { return value_; }
  T* operator->() { return &value_; }
  const T* operator->() const { return &value_; }

 private:
  T value_{};
};

// A buffer on the heap that is wiped before it is given back. `data()` is null if the allocation failed. 64-byte aligned.
class SecretBuffer {
 public:
  SecretBuffer() = default;
  explicit SecretBuffer(size_t size) { allocate(size); }
  SecretBuffer(SecretBuffer&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  SecretBuffer& operator=(SecretBuffer&& other) noexcept {
    if (this != &other) {
      release();
      data_ = std::exchange(other.data_, nullptr);
      size_ = std::exchange(other.size_, 0);
    }
    return *this;
  }
  ~SecretBuffer() { release(); }

  bool allocate(size_t size);
  // Keeps the content; the old memory is wiped. False if the allocation failed (the old content is kept).
  bool grow(size_t size);
  void release();
  uint8_t* data() { return data_; }
  const uint8_t* data() const { return data_; }
  size_t size() const { return size_; }

 private:
  uint8_t* data_ = nullptr;
  size_t size_ = 0;
};

// Equality of two byte strings in time that depends on the length only.
inline bool equal_constant_time(const uint8_t* a, const uint8_t* b, size_t length) {
  uint32_t difference = 0;
  for (size_t i = 0; i < length; ++i) {
    difference |= static_cast<uint32_t>(a[i] ^ b[i]);
    // Without the barrier the compiler may leave the loop at the first difference.
    __asm__ __volatile__("" : "+r"(difference));
  }
  return difference == 0;
}

}  // namespace stockade
