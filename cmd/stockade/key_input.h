// How a raw key comes in, and how it leaves no copy behind.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace stockade::cmd {

// Bytes that are wiped. 512 are more than any key or the hex text of one.
class SecretBytes {
 public:
  static constexpr size_t capacity = 512;

  SecretBytes() = default;
  SecretBytes(const SecretBytes&) = delete;
  SecretBytes& operator=(const SecretBytes&) = delete;
  ~SecretBytes() { clear(); }

  uint8_t* data() { return bytes_; }
  const uint8_t* data() const { return bytes_; }
  size_t size() const { return size_; }
  void resize(size_t size) { size_ = size; }
  void clear();
  std::string_view text() const { return {reinterpret_cast<const char*>(bytes_), size_}; }

 private:
  uint8_t bytes_[capacity] = {};
  size_t size_ = 0;
};

// The value of --key, taken out of argv before anything else copies it and overwritten there with asterisks, so that it is
// no longer seen in the process list. `size` may be above `digits.size()`: then it was too long to keep.
struct KeyArgument {
  bool given = false;
  size_t size = 0;
  SecretBytes digits;
};
void take_key_argument(int argc, char** argv, KeyArgument& argument);

// The key of `length` bytes for `cipher`. Both throw Failure.
void key_from_argument(const KeyArgument& argument, size_t length, std::string_view cipher, SecretBytes& key);
// `path` holds exactly `length` raw bytes, or their hex digits with at most one line end after them; "-" is stdin.
void key_from_file(const std::string& path, size_t length, std::string_view cipher, SecretBytes& key);

}  // namespace stockade::cmd
