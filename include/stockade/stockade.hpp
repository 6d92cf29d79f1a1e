// Stockade for C++20: owners for the handles of stockade.h, spans for its buffers, exceptions for its statuses. Header
// only, and nothing but the C interface beneath; stockade.h says what each operation means and which status it can end
// with.
//
//   const stockade::Key key(stockade::Mode::gcm, key_bytes);
//   std::vector<std::byte> ciphertext(plaintext.size());
//   std::array<std::byte, 16> tag;
//   key.seal(iv, aad, plaintext, ciphertext, tag);
#ifndef STOCKADE_STOCKADE_HPP
#define STOCKADE_STOCKADE_HPP

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <ranges>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include "stockade/stockade.h"

namespace stockade {

// A status other than STOCKADE_OK; what() is its sentence.
class Error : public std::runtime_error {
 public:
  explicit Error(stockade_status status) : std::runtime_error(stockade_status_text(status)), status_(status) {}
  stockade_status status() const noexcept { return status_; }

 private:
  stockade_status status_;
};

// Throws Error unless the status is STOCKADE_OK.
inline void require(stockade_status status) {
  if (status != STOCKADE_OK) throw Error(status);
}

enum class Mode : std::underlying_type_t<stockade_mode> {
  ecb = STOCKADE_ECB,
  cbc = STOCKADE_CBC,
  cfb = STOCKADE_CFB,
  ofb = STOCKADE_OFB,
  ctr = STOCKADE_CTR,
  xts = STOCKADE_XTS,
  gcm = STOCKADE_GCM
};
enum class Direction : std::underlying_type_t<stockade_direction> {
  encrypt = STOCKADE_ENCRYPT,
  decrypt = STOCKADE_DECRYPT
};
enum class Padding : std::underlying_type_t<stockade_padding> {
  none = STOCKADE_PADDING_NONE,
  pkcs7 = STOCKADE_PADDING_PKCS7
};

// Anything whose elements lie side by side and are bytes: spans, vectors, arrays, strings. An array of char is left
// out, because a literal ends with a zero that nobody means.
template <typename Range>
concept ByteRange = std::ranges::contiguous_range<Range> && std::ranges::sized_range<Range> &&
    (std::same_as<std::ranges::range_value_t<Range>, std::byte> ||
     std::same_as<std::ranges::range_value_t<Range>, unsigned char> ||
     (std::same_as<std::ranges::range_value_t<Range>, char> && !std::is_array_v<std::remove_cvref_t<Range>>));

// Bytes to write, owned by somebody else.
class MutableByteView {
 public:
  constexpr MutableByteView() noexcept = default;
  constexpr MutableByteView(void* data, std::size_t size) noexcept : data_(data), size_(size) {}
  template <ByteRange Range>
  requires(!std::same_as<std::remove_cvref_t<Range>, MutableByteView> &&
           !std::is_const_v<std::remove_reference_t<
               std::ranges::range_reference_t<Range>>>) constexpr MutableByteView(Range&& range) noexcept
      : data_(std::ranges::data(range)), size_(std::ranges::size(range)) {}

  constexpr void* data() const noexcept { return data_; }
  constexpr std::size_t size() const noexcept { return size_; }

 private:
  void* data_ = nullptr;
  std::size_t size_ = 0;
};

// Bytes to read, owned by somebody else.
class ByteView {
 public:
  constexpr ByteView() noexcept = default;
  constexpr ByteView(const void* data, std::size_t size) noexcept : data_(data), size_(size) {}
  constexpr ByteView(MutableByteView bytes) noexcept : data_(bytes.data()), size_(bytes.size()) {}
  template <ByteRange Range>
  requires(!std::same_as<std::remove_cvref_t<Range>, ByteView>) constexpr ByteView(Range&& range) noexcept
      : data_(std::ranges::data(range)), size_(std::ranges::size(range)) {}

  constexpr const void* data() const noexcept { return data_; }
  constexpr std::size_t size() const noexcept { return size_; }

 private:
  const void* data_ = nullptr;
  std::size_t size_ = 0;
};

// Who runs the work. Movable.
class Engine {
 public:
  // The process default: the environment's wish, else every core, small inputs on the calling thread.
  Engine() noexcept = default;
  // "auto", "serial" or "threads"; at most `threads`, 0 for the environment's number or every core.
  explicit Engine(const char* name, std::uint32_t threads = 0) {
    stockade_engine* made = nullptr;
    require(stockade_engine_create(&made, name, threads));
    handle_.reset(made);
  }
  // Null for the process default.
  const stockade_engine* handle() const noexcept { return handle_.get(); }

 private:
  struct Free {
    void operator()(stockade_engine* engine) const noexcept { stockade_engine_free(engine); }
  };
  std::unique_ptr<stockade_engine, Free> handle_;
};

// A key for one mode; wiped when it goes. Movable, and shared by as many threads as you like. Where an operation writes
// as many bytes as it reads, `out` must have room for them (STOCKADE_ERROR_OUTPUT_SIZE) and may be the input itself.
class Key {
 public:
  // `force` names implementation rows, such as "aes:vaes256,gcm:portable"; null leaves the choice to the library.
  Key(Mode mode, ByteView bytes, const char* force = nullptr) {
    stockade_key* made = nullptr;
    require(stockade_key_create(&made, static_cast<stockade_mode>(mode), bytes.data(), bytes.size(), force));
    handle_.reset(made);
  }

  Mode mode() const noexcept { return static_cast<Mode>(stockade_key_mode(handle())); }
  std::uint32_t bits() const noexcept { return stockade_key_bits(handle()); }
  const char* row() const noexcept { return stockade_key_row(handle()); }
  const stockade_key* handle() const noexcept { return handle_.get(); }

  // How a message of `length` bytes would be run, and why.
  std::string explain(Direction direction, std::uint64_t length, const Engine& engine = {}) const {
    char text[256];
    require(stockade_explain(handle(), static_cast<stockade_direction>(direction), length, engine.handle(), text,
                             sizeof text));
    return text;
  }

  // ECB (no IV), CBC, CFB, OFB, CTR, XTS (one data unit) without padding.
  void encrypt(ByteView iv, ByteView in, MutableByteView out, const Engine& engine = {}) const {
    require_room(in, out);
    require(stockade_encrypt(handle(), iv.data(), iv.size(), in.data(), in.size(), out.data(), engine.handle()));
  }
  void decrypt(ByteView iv, ByteView in, MutableByteView out, const Engine& engine = {}) const {
    require_room(in, out);
    require(stockade_decrypt(handle(), iv.data(), iv.size(), in.data(), in.size(), out.data(), engine.handle()));
  }

  // ECB and CBC with PKCS#7 padding; returns how many bytes were written. Encryption needs room for
  // in.size() / 16 * 16 + 16 bytes, decryption for in.size().
  std::size_t encrypt_padded(ByteView iv, ByteView in, MutableByteView out, const Engine& engine = {}) const {
    std::uint64_t written = 0;
    require(stockade_encrypt_padded(handle(), iv.data(), iv.size(), in.data(), in.size(), out.data(), out.size(),
                                    &written, engine.handle()));
    return written;
  }
  std::size_t decrypt_padded(ByteView iv, ByteView in, MutableByteView out, const Engine& engine = {}) const {
    std::uint64_t written = 0;
    require(stockade_decrypt_padded(handle(), iv.data(), iv.size(), in.data(), in.size(), out.data(), out.size(),
                                    &written, engine.handle()));
    return written;
  }

  // XTS over data units of `unit` bytes, of which the first has the number `iv`.
  void encrypt_units(ByteView iv, std::uint64_t unit, ByteView in, MutableByteView out,
                     const Engine& engine = {}) const {
    require_room(in, out);
    require(stockade_encrypt_units(handle(), iv.data(), iv.size(), unit, in.data(), in.size(), out.data(),
                                   engine.handle()));
  }
  void decrypt_units(ByteView iv, std::uint64_t unit, ByteView in, MutableByteView out,
                     const Engine& engine = {}) const {
    require_room(in, out);
    require(stockade_decrypt_units(handle(), iv.data(), iv.size(), unit, in.data(), in.size(), out.data(),
                                   engine.handle()));
  }

  // GCM with a tag of 12 to 16 bytes. `open` throws STOCKADE_ERROR_AUTHENTICATION, and leaves zeros, if the tag is
  // wrong.
  void seal(ByteView iv, ByteView aad, ByteView in, MutableByteView out, MutableByteView tag,
            const Engine& engine = {}) const {
    require_room(in, out);
    require(stockade_seal(handle(), iv.data(), iv.size(), aad.data(), aad.size(), in.data(), in.size(), out.data(),
                          tag.data(), tag.size(), engine.handle()));
  }
  void open(ByteView iv, ByteView aad, ByteView in, MutableByteView out, ByteView tag,
            const Engine& engine = {}) const {
    require_room(in, out);
    require(stockade_open(handle(), iv.data(), iv.size(), aad.data(), aad.size(), in.data(), in.size(), out.data(),
                          tag.data(), tag.size(), engine.handle()));
  }

 private:
  struct Free {
    void operator()(stockade_key* key) const noexcept { stockade_key_free(key); }
  };
  static void require_room(ByteView in, MutableByteView out) {
    if (out.size() < in.size()) throw Error(STOCKADE_ERROR_OUTPUT_SIZE);
  }
  std::unique_ptr<stockade_key, Free> handle_;
};

// One message in pieces of any size. The key must outlive it. Movable, used by one thread at a time.
class Stream {
 public:
  Stream(const Key& key, Direction direction, ByteView iv, Padding padding = Padding::none, const Engine& engine = {}) {
    stockade_stream* made = nullptr;
    require(stockade_stream_create(&made, key.handle(), static_cast<stockade_direction>(direction), iv.data(),
                                   iv.size(), static_cast<stockade_padding>(padding), engine.handle()));
    handle_.reset(made);
  }

  // GCM, before the first update.
  void aad(ByteView aad) { require(stockade_stream_aad(handle_.get(), aad.data(), aad.size())); }

  // The most bytes that the next update with `length` bytes, or with 0 the end, may write.
  std::size_t bound(std::uint64_t length) const noexcept { return stockade_stream_bound(handle_.get(), length); }

  // Returns how many bytes were written.
  std::size_t update(ByteView in, MutableByteView out) {
    std::uint64_t written = 0;
    require(stockade_stream_update(handle_.get(), in.data(), in.size(), out.data(), out.size(), &written));
    return written;
  }

  // Ends the message and returns how many bytes were written. `tag` is for sealing with GCM, which writes it.
  std::size_t finish(MutableByteView out = {}, MutableByteView tag = {}) {
    std::uint64_t written = 0;
    require(stockade_stream_final(handle_.get(), out.data(), out.size(), &written, tag.data(), tag.size()));
    return written;
  }

  // Ends the opening of a GCM message: writes the plaintext only if `tag` is right.
  std::size_t finish_open(MutableByteView out, ByteView tag) {
    std::uint64_t written = 0;
    // The C interface has one pointer for both directions; this one only reads.
    void* const read_only = const_cast<void*>(tag.data());
    require(stockade_stream_final(handle_.get(), out.data(), out.size(), &written, read_only, tag.size()));
    return written;
  }

 private:
  struct Free {
    void operator()(stockade_stream* stream) const noexcept { stockade_stream_free(stream); }
  };
  std::unique_ptr<stockade_stream, Free> handle_;
};

// Runs all messages, then throws the status of the first that failed, if one did; each has its own in any case.
inline void encrypt_many(std::span<stockade_message> messages, const Engine& engine = {}) {
  require(stockade_encrypt_many(messages.data(), messages.size(), engine.handle()));
}
inline void decrypt_many(std::span<stockade_message> messages, const Engine& engine = {}) {
  require(stockade_decrypt_many(messages.data(), messages.size(), engine.handle()));
}

struct FileOptions {
  ByteView iv = {};
  ByteView aad = {};  // GCM
  Padding padding = Padding::none;
  std::uint64_t unit = 0;  // XTS: bytes per data unit; 0 for the whole file
  // Called now and then with the bytes done and in all (0 if unknown); false stops. An exception stops too and comes
  // out of the call.
  std::function<bool(std::uint64_t done, std::uint64_t total)> progress = {};
};

struct FileResult {
  std::uint64_t in_length, out_length;
};

// From one file descriptor to another, from their positions to the end of the input.
inline FileResult crypt_fd(const Key& key, Direction direction, int in_fd, int out_fd, const FileOptions& options,
                           const Engine& engine = {}) {
  struct Call {
    const FileOptions& options;
    std::exception_ptr thrown;
  } call{options, nullptr};
  stockade_file_options raw = {};
  raw.struct_size = sizeof raw;
  raw.iv = options.iv.data();
  raw.iv_length = options.iv.size();
  raw.aad = options.aad.data();
  raw.aad_length = options.aad.size();
  raw.padding = static_cast<stockade_padding>(options.padding);
  raw.unit = options.unit;
  raw.progress_context = &call;
  if (options.progress) {
    raw.progress = [](void* context, std::uint64_t done, std::uint64_t total) {
      Call& who = *static_cast<Call*>(context);
      try {
        return who.options.progress(done, total) ? 0 : 1;
      } catch (...) {
        who.thrown = std::current_exception();
        return 1;
      }
    };
  }
  const auto function = direction == Direction::encrypt ? stockade_encrypt_fd : stockade_decrypt_fd;
  const stockade_status status = function(key.handle(), in_fd, out_fd, &raw, engine.handle());
  if (call.thrown) std::rethrow_exception(call.thrown);
  require(status);
  return {raw.in_length, raw.out_length};
}

inline std::string version() { return stockade_version(); }
inline std::string build() { return stockade_build(); }

inline stockade_machine machine() {
  stockade_machine found = {};
  require(stockade_machine_get(&found));
  return found;
}

// The instruction sets that rows ask for.
inline std::vector<stockade_feature> features() {
  std::vector<stockade_feature> all;
  stockade_feature feature = {};
  while (stockade_feature_get(static_cast<std::uint32_t>(all.size()), &feature) == STOCKADE_OK) all.push_back(feature);
  return all;
}

// Every implementation row, best first within a primitive.
inline std::vector<stockade_row> rows() {
  std::vector<stockade_row> all;
  stockade_row row = {};
  stockade_status status;
  while ((status = stockade_row_get(static_cast<std::uint32_t>(all.size()), &row)) == STOCKADE_OK) all.push_back(row);
  if (status != STOCKADE_ERROR_ARGUMENT) throw Error(status);
  return all;
}

}  // namespace stockade

#endif
