// Stockade files to try things on, and every way to open one through the C interface.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "stockade/stockade.h"

namespace stockade::tests {

using Bytes = std::vector<uint8_t>;

template <auto free_function>
struct HandleDeleter {
  template <typename Handle>
  void operator()(Handle* handle) const {
    free_function(handle);
  }
};
using KeyringHandle = std::unique_ptr<stockade_keyring, HandleDeleter<stockade_keyring_free>>;
using FileHandle = std::unique_ptr<stockade_file, HandleDeleter<stockade_file_free>>;
using ReaderHandle = std::unique_ptr<stockade_reader, HandleDeleter<stockade_reader_free>>;
using HeaderHandle = std::unique_ptr<stockade_header, HandleDeleter<stockade_header_free>>;

// These throw std::runtime_error with the status's name if the handle cannot be made.
KeyringHandle keyring_of(const std::vector<Bytes>& keys);
// A small work factor keeps the tests fast.
KeyringHandle keyring_of(std::string_view passphrase, uint32_t work_factor = 1);
FileHandle make_file(stockade_direction direction, const stockade_format& format,
                     const stockade_engine* engine = nullptr);

// 1, 2, 3, ... from `first` on, modulo 256.
Bytes sample_key(uint8_t first);
Bytes sample_text(uint64_t length);

// Neither owns what it is made of.
stockade_format format_for(const KeyringHandle& keyring);
stockade_format plain_format(const Bytes& key, const Bytes& context);
stockade_file_job file_job();

// What the format makes of a text. Throws as above.
Bytes seal(const stockade_format& format, const Bytes& text);
// Any bytes in the armor of a Stockade file, encoded by OpenSSL.
Bytes in_armor(const Bytes& file);

// For a file with one recipient.
constexpr uint64_t sample_header = 1024;
// Where a chunk of it begins.
constexpr uint64_t sample_chunk(uint64_t index) {
  return sample_header + STOCKADE_PREAMBLE_BYTES + index * STOCKADE_SEALED_CHUNK_BYTES;
}

// A fault as the library makes it: UINT64_MAX is no place.
constexpr stockade_fault fault_of(stockade_status status, uint64_t offset = UINT64_MAX, uint64_t line = 0) {
  return {status, UINT64_MAX, offset, line, 0};
}
std::string fault_sentence(const stockade_fault& fault);
// All that is in it, for messages.
std::string describe(const stockade_fault& fault);

// stockade_read_at over Bytes.
int read_bytes_at(void* context, uint64_t offset, void* buffer, uint64_t length);

// The reading end of a pipe into which a thread writes bytes.
class Feed {
 public:
  explicit Feed(Bytes bytes);
  Feed(const Feed&) = delete;
  Feed& operator=(const Feed&) = delete;
  // Takes what has not been read.
  ~Feed();
  int fd() const { return ends_[0]; }

 private:
  int ends_[2];
  Bytes bytes_;
  std::thread writer_;
};

// The writing end of a pipe from which a thread takes everything.
class Drain {
 public:
  Drain();
  Drain(const Drain&) = delete;
  Drain& operator=(const Drain&) = delete;
  ~Drain() { finish(); }
  int fd() const { return ends_[1]; }
  // Closes it and returns what came through.
  const Bytes& finish();

 private:
  int ends_[2];
  Bytes bytes_;
  std::thread reader_;
};

// What came of opening a file: the status, its fault, and what was released.
struct Opened {
  stockade_status status;
  stockade_fault fault;
  Bytes text;
};

enum class Means { push, pull, reader, file, pipe, verify_file, verify_pipe };
struct Way {
  const char* name;
  Means means;
  Opened (*open)(const stockade_format& format, const Bytes& file);
  // It looks at the length, and at the last chunk, before all else, and at nothing that it is not asked for.
  bool sees_the_end_only() const { return means == Means::reader; }
  bool releases() const { return means != Means::verify_file && means != Means::verify_pipe; }
};
const std::vector<Way>& ways_to_open();

}  // namespace stockade::tests
