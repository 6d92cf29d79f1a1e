#include "base/secret.h"

#include <cstdlib>

namespace stockade {

namespace {
constexpr size_t alignment = 64;
size_t rounded(size_t size) { return (size + alignment - 1) / alignment * alignment; }
}  // namespace

bool SecretBuffer::allocate(size_t size) {
  release();
  if (size > SIZE_MAX - alignment) return false;
  data_ = static_cast<uint8_t*>(std::aligned_alloc(alignment, rounded(size == 0 ? 1 : size)));
  size_ = data_ == nullptr ? 0 : size;
  return data_ != nullptr;
}

bool SecretBuffer::grow(size_t size) {
  SecretBuffer larger;
  if (!larger.allocate(size)) return false;
  if (size_ != 0) std::memcpy(larger.data_, data_, size_ < size ? size_ : size);
  *this = std::move(larger);
  return true;
}

void SecretBuffer::release() {
  if (data_ == nullptr) return;
  wipe(data_, size_);
  std::free(data_);
  data_ = nullptr;
  size_ = 0;
}

}  // namespace stockade
