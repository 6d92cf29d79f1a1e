// Keys and passphrases on their way in: bytes that are wiped, and how they are read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace stockade::cmd {

class SecretBytes {
 public:
  // The default is more than any key or the hex text of one.
  explicit SecretBytes(size_t capacity = 512);
  SecretBytes(const SecretBytes&) = delete;
  SecretBytes& operator=(const SecretBytes&) = delete;
  ~SecretBytes() { clear(); }

  uint8_t* data() { return bytes_.get(); }
  const uint8_t* data() const { return bytes_.get(); }
  size_t capacity() const { return capacity_; }
  size_t size() const { return size_; }
  // At most to the capacity; nothing is initialised or wiped.
  void resize(size_t size) { size_ = size; }
  void clear();
  // In time that depends on the sizes only.
  bool equals(const SecretBytes& other) const;
  std::string_view text() const { return {reinterpret_cast<const char*>(bytes_.get()), size_}; }

 private:
  size_t capacity_, size_ = 0;
  std::unique_ptr<uint8_t[]> bytes_;
};

// Reads to the end or until `content` is full. `what` is for messages: "the key file 'k'". "-" is standard input.
// Both throw Failure (io). Of a regular file that others than its owner may read or write there is a warning, once in a run:
// no more than that, for on some file systems every file is shown so. `is_public`: the content is no secret.
void read_secret_file(const std::string& path, const std::string& what, SecretBytes& content, bool is_public = false);
// The descriptor stays open.
void read_secret(int fd, const std::string& what, SecretBytes& content);

// Cuts off one line end, LF or CRLF, if there is one.
std::string_view without_line_end(std::string_view text);

}  // namespace stockade::cmd
