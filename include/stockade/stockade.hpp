// Stockade for C++20: owners for the handles of stockade.h, spans for its buffers, exceptions for its statuses. Header
// only, and nothing but the C interface beneath; stockade.h says what each operation means and which status it can end
// with.
//
//   const stockade::Key key(stockade::Mode::gcm, key_bytes);
//   std::vector<std::byte> ciphertext(plaintext.size());
//   std::array<std::byte, 16> tag;
//   key.seal(iv, aad, plaintext, ciphertext, tag);
//
//   stockade::Keyring keyring;
//   keyring.add_key(key_bytes);
//   stockade::encrypt_file(in_fd, out_fd, {.keyring = &keyring});
#ifndef STOCKADE_STOCKADE_HPP
#define STOCKADE_STOCKADE_HPP

#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <ranges>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "stockade/stockade.h"

namespace stockade {

// One sentence for a fault.
inline std::string fault_text(const stockade_fault& fault) {
  char text[256];
  stockade_fault_text(&fault, text, sizeof text);
  return text;
}

// A status other than STOCKADE_OK. what() is its sentence, or that of the fault, which says where, if one came with it.
class Error : public std::runtime_error {
 public:
  explicit Error(stockade_status status)
      : std::runtime_error(stockade_status_text(status)), fault_{status, UINT64_MAX, UINT64_MAX, 0, 0} {}
  explicit Error(const stockade_fault& fault) : std::runtime_error(fault_text(fault)), fault_(fault) {}
  stockade_status status() const noexcept { return fault_.status; }
  // Where something is wrong. UINT64_MAX, and 0 for the line, stand for no place.
  const stockade_fault& fault() const noexcept { return fault_; }

 private:
  stockade_fault fault_;
};

// Throws Error unless the status is STOCKADE_OK.
inline void require(stockade_status status) {
  if (status != STOCKADE_OK) throw Error(status);
}
// The same with the fault that a call has left, if it is about this status.
inline void require(stockade_status status, const stockade_fault& fault) {
  if (status != STOCKADE_OK) throw fault.status == status ? Error(fault) : Error(status);
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
  // "auto", "serial", "threads", "cuda" or "hybrid"; at most `threads`, 0 for the environment's number or every core.
  explicit Engine(const char* name, std::uint32_t threads = 0) {
    stockade_engine* made = nullptr;
    require(stockade_engine_create(&made, name, threads));
    handle_.reset(made);
  }
  // The GPUs of a "cuda" or "hybrid" engine; none means all.
  void set_devices(std::span<const std::uint32_t> devices) {
    require(stockade_engine_set_devices(handle_.get(), devices.data(), static_cast<std::uint32_t>(devices.size())));
  }
  // Null for the process default.
  const stockade_engine* handle() const noexcept { return handle_.get(); }

 private:
  struct Free {
    void operator()(stockade_engine* engine) const noexcept { stockade_engine_free(engine); }
  };
  std::unique_ptr<stockade_engine, Free> handle_;
};

// Where calls on data in a GPU's memory go. Owns nothing.
struct DeviceQueue {
  void* stream = nullptr;          // a cudaStream_t of the GPU that the data lies on; null for its default stream
  MutableByteView workspace = {};  // memory of that GPU, of Key::device_workspace bytes; empty where that is 0

  // As the C interface takes it.
  stockade_device_queue native() const noexcept {
    return {sizeof(stockade_device_queue), stream, workspace.data(), workspace.size()};
  }
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

  // The same on data in a GPU's memory: views other than those of IVs are made from device pointers, such as
  // ByteView(device_pointer, length). All return when the work is in the queue's stream.
  std::uint64_t device_workspace(Direction direction, std::uint32_t device, std::uint64_t length,
                                 std::uint64_t unit = 0) const {
    std::uint64_t size = 0;
    require(
        stockade_device_workspace(handle(), static_cast<stockade_direction>(direction), device, length, unit, &size));
    return size;
  }
  void device_encrypt(ByteView iv, ByteView in, MutableByteView out, const DeviceQueue& queue) const {
    require_room(in, out);
    const stockade_device_queue native = queue.native();
    require(stockade_device_encrypt(handle(), iv.data(), iv.size(), in.data(), in.size(), out.data(), &native));
  }
  void device_decrypt(ByteView iv, ByteView in, MutableByteView out, const DeviceQueue& queue) const {
    require_room(in, out);
    const stockade_device_queue native = queue.native();
    require(stockade_device_decrypt(handle(), iv.data(), iv.size(), in.data(), in.size(), out.data(), &native));
  }
  void device_encrypt_units(ByteView iv, std::uint64_t unit, ByteView in, MutableByteView out,
                            const DeviceQueue& queue) const {
    require_room(in, out);
    const stockade_device_queue native = queue.native();
    require(
        stockade_device_encrypt_units(handle(), iv.data(), iv.size(), unit, in.data(), in.size(), out.data(), &native));
  }
  void device_decrypt_units(ByteView iv, std::uint64_t unit, ByteView in, MutableByteView out,
                            const DeviceQueue& queue) const {
    require_room(in, out);
    const stockade_device_queue native = queue.native();
    require(
        stockade_device_decrypt_units(handle(), iv.data(), iv.size(), unit, in.data(), in.size(), out.data(), &native));
  }
  void device_seal(ByteView iv, ByteView aad, ByteView in, MutableByteView out, MutableByteView tag,
                   const DeviceQueue& queue) const {
    require_room(in, out);
    const stockade_device_queue native = queue.native();
    require(stockade_device_seal(handle(), iv.data(), iv.size(), aad.data(), aad.size(), in.data(), in.size(),
                                 out.data(), tag.data(), tag.size(), &native));
  }
  // Leaves 0 in `*verdict`, memory of the GPU, if the tag is right; else another number, and zeros in `out`.
  void device_open(ByteView iv, ByteView aad, ByteView in, MutableByteView out, ByteView tag, std::uint32_t* verdict,
                   const DeviceQueue& queue) const {
    require_room(in, out);
    const stockade_device_queue native = queue.native();
    require(stockade_device_open(handle(), iv.data(), iv.size(), aad.data(), aad.size(), in.data(), in.size(),
                                 out.data(), tag.data(), tag.size(), verdict, &native));
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

// Many GCM messages in a GPU's memory, in one launch. `staging` is host memory of at least device_many_size bytes; it and the
// queue's workspace, of as many, must stay as they are until the stream has come past. `verdicts`, memory of the GPU, has a
// word for each message.
inline std::uint64_t device_many_size(std::uint64_t count) noexcept { return stockade_device_many_size(count); }
inline void device_seal_many(std::span<stockade_message> messages, MutableByteView staging, const DeviceQueue& queue) {
  const stockade_device_queue native = queue.native();
  require(stockade_device_seal_many(messages.data(), messages.size(), staging.data(), staging.size(), &native));
}
inline void device_open_many(std::span<stockade_message> messages, std::uint32_t* verdicts, MutableByteView staging,
                             const DeviceQueue& queue) {
  const stockade_device_queue native = queue.native();
  require(
      stockade_device_open_many(messages.data(), messages.size(), verdicts, staging.data(), staging.size(), &native));
}

namespace detail {

// Keeps what a callback throws while the C frames that called it are left, and throws it again behind them.
class Callbacks {
 public:
  // What `body` returns, or `failure`, which tells the C interface to stop, if it throws. For any number of threads.
  template <typename Result, typename Body>
  Result guard(Result failure, Body&& body) noexcept {
    try {
      return body();
    } catch (...) {
      const std::lock_guard lock(mutex_);
      if (!thrown_) thrown_ = std::current_exception();
      return failure;
    }
  }
  void rethrow() const {
    if (thrown_) std::rethrow_exception(thrown_);
  }

 private:
  std::mutex mutex_;
  std::exception_ptr thrown_;
};

}  // namespace detail

// Called now and then with the bytes done and in all (0 if unknown); false stops. An exception stops too and comes out of
// the call that it was given to.
using Progress = std::function<bool(std::uint64_t done, std::uint64_t total)>;

struct RawOptions {
  ByteView iv = {};
  ByteView aad = {};  // GCM
  Padding padding = Padding::none;
  std::uint64_t unit = 0;  // XTS: bytes per data unit; 0 for the whole file
  Progress progress = {};
};

struct RawResult {
  std::uint64_t in_length, out_length;
};

// One message from one file descriptor to another, from their positions to the end of the input.
inline RawResult raw_crypt_fd(const Key& key, Direction direction, int in_fd, int out_fd, const RawOptions& options,
                              const Engine& engine = {}) {
  struct Call : detail::Callbacks {
    const Progress& progress;
    explicit Call(const Progress& wish) : progress(wish) {}
  } call(options.progress);
  stockade_raw_options raw = {};
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
      return who.guard(1, [&] { return who.progress(done, total) ? 0 : 1; });
    };
  }
  const auto function = direction == Direction::encrypt ? stockade_raw_encrypt_fd : stockade_raw_decrypt_fd;
  const stockade_status status = function(key.handle(), in_fd, out_fd, &raw, engine.handle());
  call.rethrow();
  require(status);
  return {raw.in_length, raw.out_length};
}

enum class Cipher : std::underlying_type_t<stockade_cipher> {
  cobblestone_256 = STOCKADE_COBBLESTONE_256,
  cobblestone_128 = STOCKADE_COBBLESTONE_128
};

// Fills `out` from the operating system's random number generator.
inline void random(MutableByteView out) { require(stockade_random(out.data(), out.size())); }

// The 11 characters by which a header calls a symmetric key.
inline std::string key_id(ByteView key) {
  char id[12];
  require(stockade_key_id(key.data(), key.size(), id));
  return id;
}

// A key of another type than RSA: KEY_TYPE. type() names it, such as "EC".
class KeyTypeError : public Error {
 public:
  explicit KeyTypeError(const char* type) : Error(STOCKADE_ERROR_KEY_TYPE), type_(type) {}
  const std::string& type() const noexcept { return type_; }

 private:
  std::string type_;
};

// How the file of an RSA key is read.
struct RsaReading {
  bool legacy = false;                           // public keys from 1,024 bits on, which only verify
  std::function<std::string()> passphrase = {};  // asked once, if the key is encrypted
  const char* force = nullptr;                   // such as "bignum:avx2"
};

namespace detail {

// Calls function(native) with the reading as the C interface takes it.
template <typename Function>
void with_rsa_reading(const RsaReading& reading, Function&& function) {
  struct Call : Callbacks {
    const RsaReading& reading;
    explicit Call(const RsaReading& wish) : reading(wish) {}
  } call(reading);
  stockade_rsa_reading native = {};
  native.struct_size = sizeof native;
  native.legacy = reading.legacy ? 1 : 0;
  native.force = reading.force;
  native.ask_context = &call;
  if (reading.passphrase) {
    native.ask = [](void* context, void* out, std::uint64_t size) {
      Call& who = *static_cast<Call*>(context);
      return who.guard(std::int64_t{-1}, [&] {
        const std::string answer = who.reading.passphrase();
        if (answer.size() > size) return std::int64_t{-1};
        answer.copy(static_cast<char*>(out), answer.size());
        return static_cast<std::int64_t>(answer.size());
      });
    };
  }
  const stockade_status status = function(native);
  call.rethrow();
  if (status == STOCKADE_ERROR_KEY_TYPE) throw KeyTypeError(native.type);
  require(status);
}

}  // namespace detail

// Who shall be able to open a file, or by whom one is to be opened. Movable; shared by threads once it is complete.
class Keyring {
 public:
  Keyring() {
    stockade_keyring* made = nullptr;
    require(stockade_keyring_create(&made));
    handle_.reset(made);
  }

  // 32 random bytes.
  Keyring& add_key(ByteView key) {
    require(stockade_keyring_add_key(handle_.get(), key.data(), key.size()));
    return *this;
  }
  // `work_factor` is log2 N of scrypt for files that are made; 0 for the usual one.
  Keyring& add_passphrase(std::string_view passphrase, std::uint32_t work_factor = 0) {
    require(stockade_keyring_add_passphrase(handle_.get(), passphrase.data(), passphrase.size(), work_factor));
    return *this;
  }
  // An RSA key from a file in memory, whatever form it has: for a public one files can be made, a private one opens them
  // too. `id` (may be null) gets the 22 characters by which a header calls it. KeyTypeError for keys of other types.
  Keyring& add_rsa_public(ByteView file, const RsaReading& reading = {}, std::string* id = nullptr) {
    return add_rsa(stockade_keyring_add_rsa_public, file, reading, id);
  }
  Keyring& add_rsa_private(ByteView file, const RsaReading& reading = {}, std::string* id = nullptr) {
    return add_rsa(stockade_keyring_add_rsa_private, file, reading, id);
  }
  const stockade_keyring* handle() const noexcept { return handle_.get(); }

 private:
  struct Free {
    void operator()(stockade_keyring* keyring) const noexcept { stockade_keyring_free(keyring); }
  };
  Keyring& add_rsa(decltype(&stockade_keyring_add_rsa_public) function, ByteView file, const RsaReading& reading,
                   std::string* id) {
    char name[23] = {};
    detail::with_rsa_reading(reading, [&](stockade_rsa_reading& native) {
      return function(handle_.get(), file.data(), file.size(), &native, name);
    });
    if (id != nullptr) *id = name;
    return *this;
  }
  std::unique_ptr<stockade_keyring, Free> handle_;
};

// What a file consists of: a Stockade file if there is a keyring, else plain Cobblestone. Owns nothing.
struct Format {
  const Keyring* keyring = nullptr;
  ByteView key = {};      // plain Cobblestone: 32 random bytes, or 16 for Cipher::cobblestone_128
  ByteView context = {};  // plain Cobblestone
  Cipher cipher = Cipher::cobblestone_256;
  bool armor = false;                 // a Stockade file that is made
  std::uint32_t max_work_factor = 0;  // opening with a passphrase; 0 for the usual limit

  // As the C interface takes it; good while what it names is.
  stockade_format native() const noexcept {
    stockade_format made = {};
    made.struct_size = sizeof made;
    made.keyring = keyring == nullptr ? nullptr : keyring->handle();
    made.key = key.data();
    made.key_length = key.size();
    made.context = context.data();
    made.context_length = context.size();
    made.cipher = static_cast<stockade_cipher>(cipher);
    made.armor = armor ? 1 : 0;
    made.max_work_factor = max_work_factor;
    return made;
  }
};

// Whether bytes (as many as there are, up to 64) begin like a Stockade file, armored or not.
inline bool detect_file(ByteView bytes) noexcept { return stockade_file_detect(bytes.data(), bytes.size()) != 0; }

// Fetches the next bytes of an input: returns how many, 0 only at its end, negative on an error (errno holds the reason);
// or throws.
template <typename Callable>
concept ReadFunction = std::is_invocable_r_v<std::int64_t, Callable&, std::span<std::byte>>;

// A Stockade file, or plain Cobblestone, that is made or opened front to back. What the format names, and the engine, must
// outlive it. Movable, used by one thread at a time. Only once `finish` has returned, or `pull` has written less than it
// had room for, is the file complete, or known to be.
class FileStream {
 public:
  FileStream(Direction direction, const Format& format, const Engine& engine = {}) {
    const stockade_format native = format.native();
    stockade_file* made = nullptr;
    require(stockade_file_create(&made, static_cast<stockade_direction>(direction), &native, engine.handle()));
    handle_.reset(made);
  }

  // The most bytes that the next update with `length` bytes, or with 0 the end, may write.
  std::size_t bound(std::uint64_t length) const noexcept { return stockade_file_bound(handle_.get(), length); }

  // Push: both return how many bytes were written.
  std::size_t update(ByteView in, MutableByteView out) {
    std::uint64_t written = 0;
    require_intact(stockade_file_update(handle_.get(), in.data(), in.size(), out.data(), out.size(), &written));
    return written;
  }
  std::size_t finish(MutableByteView out) {
    std::uint64_t written = 0;
    require_intact(stockade_file_final(handle_.get(), out.data(), out.size(), &written));
    return written;
  }

  // Pull: has `read` fetch as much as it takes to fill `out`; returns how many bytes were written, fewer only at the end.
  template <ReadFunction Read>
  std::size_t pull(Read&& read, MutableByteView out) {
    struct Call : detail::Callbacks {
      Read& read;
      explicit Call(Read& wish) : read(wish) {}
    } call(read);
    const auto fetch = [](void* context, void* buffer, std::uint64_t size) {
      Call& who = *static_cast<Call*>(context);
      const std::span room(static_cast<std::byte*>(buffer), size);
      return who.guard(std::int64_t{-1}, [&] { return static_cast<std::int64_t>(who.read(room)); });
    };
    std::uint64_t written = 0;
    const stockade_status status = stockade_file_pull(handle_.get(), fetch, &call, out.data(), out.size(), &written);
    call.rethrow();
    require_intact(status);
    return written;
  }

 private:
  struct Free {
    void operator()(stockade_file* file) const noexcept { stockade_file_free(file); }
  };
  void require_intact(stockade_status status) const {
    if (status == STOCKADE_OK) return;
    stockade_fault fault = {};
    stockade_file_fault(handle_.get(), &fault);
    require(status, fault);
  }
  std::unique_ptr<stockade_file, Free> handle_;
};

// Any part of the plaintext of a Stockade file that is not armored, or of plain Cobblestone. The engine must outlive it.
// Movable, and shared by as many threads as its function may be.
class Reader {
 public:
  // Fetches exactly as many bytes as there is room for, from an offset of the file; throws if it cannot.
  using ReadAt = std::function<void(std::uint64_t offset, std::span<std::byte> out)>;

  Reader(ReadAt read, std::uint64_t file_length, const Format& format, const Engine& engine = {})
      : read_(std::make_unique<ReadAt>(std::move(read))) {
    const stockade_format native = format.native();
    stockade_reader* made = nullptr;
    stockade_fault fault = {};
    const stockade_status status =
        stockade_reader_create(&made, fetch, read_.get(), file_length, &native, engine.handle(), &fault);
    rethrow();
    require(status, fault);
    handle_.reset(made);
  }
  // A regular file (else STOCKADE_ERROR_MODE), of which the descriptor must stay open; its position is of no concern.
  Reader(int fd, const Format& format, const Engine& engine = {})
      : Reader([fd](std::uint64_t offset, std::span<std::byte> out) { read_descriptor(fd, offset, out); },
               descriptor_length(fd), format, engine) {}

  // Bytes of plaintext, and of header before the payload.
  std::uint64_t length() const noexcept { return stockade_reader_length(handle_.get()); }
  std::uint64_t header_length() const noexcept { return stockade_reader_header_length(handle_.get()); }

  // Fills `out` from an offset of the plaintext and returns how many bytes were read: fewer where it ends before that.
  std::size_t read_at(std::uint64_t offset, MutableByteView out) const {
    std::uint64_t got = 0;
    stockade_fault fault = {};
    const stockade_status status = stockade_reader_read_at(handle_.get(), offset, out.data(), out.size(), &got, &fault);
    rethrow();
    require(status, fault);
    return got;
  }

 private:
  struct Free {
    void operator()(stockade_reader* reader) const noexcept { stockade_reader_free(reader); }
  };

  // The C interface fetches on the thread that asked for something, so each thread keeps what was thrown on it.
  static std::exception_ptr& thrown() noexcept {
    static thread_local std::exception_ptr kept;
    return kept;
  }
  static int fetch(void* context, std::uint64_t offset, void* out, std::uint64_t length) noexcept {
    try {
      (*static_cast<const ReadAt*>(context))(offset, {static_cast<std::byte*>(out), length});
      return 0;
    } catch (...) {
      thrown() = std::current_exception();
      return -1;
    }
  }
  static void rethrow() {
    if (thrown()) std::rethrow_exception(std::exchange(thrown(), nullptr));
  }

  static std::uint64_t descriptor_length(int fd) {
    struct stat found;
    if (::fstat(fd, &found) != 0) throw Error(STOCKADE_ERROR_IO);
    if (!S_ISREG(found.st_mode)) throw Error(STOCKADE_ERROR_MODE);
    return static_cast<std::uint64_t>(found.st_size);
  }
  static void read_descriptor(int fd, std::uint64_t offset, std::span<std::byte> out) {
    while (!out.empty()) {
      const ssize_t got = ::pread(fd, out.data(), out.size(), static_cast<off_t>(offset));
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) {
        const stockade_status status = got < 0 ? STOCKADE_ERROR_IO : STOCKADE_ERROR_INPUT_CHANGED;
        throw Error(stockade_fault{status, UINT64_MAX, offset, 0, 0});
      }
      offset += static_cast<std::uint64_t>(got);
      out = out.subspan(static_cast<std::size_t>(got));
    }
  }

  std::unique_ptr<ReadAt> read_;  // stays where it is when the reader moves
  std::unique_ptr<stockade_reader, Free> handle_;
};

struct FileRange {
  std::uint64_t offset, length;
};

// Which bytes of a file, whole chunks behind a header of `header_length` bytes, hold `length` bytes of plaintext from
// `offset`. The file may end before that.
inline FileRange ciphertext_range(std::uint64_t header_length, std::uint64_t offset, std::uint64_t length) {
  FileRange range = {};
  require(stockade_ciphertext_range(header_length, offset, length, &range.offset, &range.length));
  return range;
}

// Bytes of plaintext in a payload of `payload_length` bytes, if it is intact.
inline std::uint64_t plaintext_length(std::uint64_t payload_length) {
  std::uint64_t length = 0;
  require(stockade_plaintext_length(payload_length, &length));
  return length;
}

// A run of neighbouring damaged chunks: `count` chunks from `chunk`, `length` bytes of the file from `offset`.
struct Damage {
  std::uint64_t chunk, count, offset, length;
};

struct FileOptions {
  Progress progress = {};
  // Resumption: a regular file that keeps the state of the job; -1 for none. stockade_file_job says what it takes.
  int journal_fd = -1;
  const Keyring* journal_keyring = nullptr;  // who can read the journal; null for the format's
  // verify_file: all that is damaged is added to it, also when the call then throws the first of it. May be null.
  std::vector<Damage>* damage = nullptr;
  bool accept_changed_input = false;  // stockade_file_job says what it risks
};

struct FileResult {
  std::uint64_t in_length;       // bytes of input read
  std::uint64_t out_length;      // bytes written; verify_file: of intact plaintext
  std::uint64_t resumed_length;  // bytes of input that a former job had done
};

namespace detail {

// A stockade_file_job whose callbacks are the functions of FileOptions.
class FileJob {
 public:
  explicit FileJob(const FileOptions& options) : options_(options) {
    job_.struct_size = sizeof job_;
    job_.progress_context = job_.damage_context = this;
    if (options.progress) job_.progress = report_progress;
    if (options.damage != nullptr) job_.damage = report_damage;
    job_.journal_fd = options.journal_fd;
    job_.journal_keyring = options.journal_keyring == nullptr ? nullptr : options.journal_keyring->handle();
    job_.accept_changed_input = options.accept_changed_input ? 1 : 0;
  }
  FileJob(const FileJob&) = delete;
  FileJob& operator=(const FileJob&) = delete;

  stockade_file_job* native() noexcept { return &job_; }

  // What came of it. Throws what a callback has thrown, else Error.
  FileResult conclude(stockade_status status) const {
    callbacks_.rethrow();
    require(status, job_.fault);
    return {job_.in_length, job_.out_length, job_.resumed_length};
  }

 private:
  static int report_progress(void* context, std::uint64_t done, std::uint64_t total) {
    FileJob& job = *static_cast<FileJob*>(context);
    return job.callbacks_.guard(1, [&] { return job.options_.progress(done, total) ? 0 : 1; });
  }
  static int report_damage(void* context, std::uint64_t chunk, std::uint64_t count, std::uint64_t offset,
                           std::uint64_t length) {
    FileJob& job = *static_cast<FileJob*>(context);
    return job.callbacks_.guard(1, [&] {
      job.options_.damage->push_back({chunk, count, offset, length});
      return 0;
    });
  }

  const FileOptions& options_;
  Callbacks callbacks_;
  stockade_file_job job_ = {};
};

}  // namespace detail

// From one file descriptor to another, from their positions to the end of the input.
inline FileResult encrypt_file(int in_fd, int out_fd, const Format& format, const FileOptions& options = {},
                               const Engine& engine = {}) {
  const stockade_format native = format.native();
  detail::FileJob job(options);
  return job.conclude(stockade_file_encrypt_fd(in_fd, out_fd, &native, job.native(), engine.handle()));
}
inline FileResult decrypt_file(int in_fd, int out_fd, const Format& format, const FileOptions& options = {},
                               const Engine& engine = {}) {
  const stockade_format native = format.native();
  detail::FileJob job(options);
  return job.conclude(stockade_file_decrypt_fd(in_fd, out_fd, &native, job.native(), engine.handle()));
}
// Opens every chunk and writes nothing. Throws the first damage after it has found all.
inline FileResult verify_file(int in_fd, const Format& format, const FileOptions& options = {},
                              const Engine& engine = {}) {
  const stockade_format native = format.native();
  detail::FileJob job(options);
  return job.conclude(stockade_file_verify_fd(in_fd, &native, job.native(), engine.handle()));
}

// What a SharedJob is about.
enum class SharedKind : std::underlying_type_t<stockade_shared_kind> {
  encrypt = STOCKADE_SHARED_ENCRYPT,
  decrypt = STOCKADE_SHARED_DECRYPT,
  verify = STOCKADE_SHARED_VERIFY
};

// stockade_shared_options says what these mean.
struct SharedOptions {
  SharedKind kind = SharedKind::encrypt;
  std::uint32_t processes = 1;
  std::uint64_t slice_bytes = 0;
  std::uint64_t plain_length = 0;
  int journal_fd = -1;
  const Keyring* journal_keyring = nullptr;
};

struct SharedWork {
  int in_fd = -1, out_fd = -1, journal_fd = -1;
  std::function<std::optional<std::uint64_t>()> next;  // the slice to do next, or none
  Progress progress = {};
  std::uint64_t total = 0;                // for `progress`: bytes of input that are expected
  std::vector<Damage>* damage = nullptr;  // verify: all that is damaged is added to it
  bool accept_changed_input = false;      // stockade_file_job says what it risks
};

struct SharedResult {
  std::uint64_t slices, in_length, out_length;
};

// One Stockade file by many processes; stockade.h says how they go about it.
class SharedJob {
 public:
  SharedJob(int in_fd, int out_fd, const Format& format, const SharedOptions& options, const Engine& engine = {}) {
    stockade_shared_options wish = {};
    wish.struct_size = sizeof wish;
    wish.kind = static_cast<stockade_shared_kind>(options.kind);
    wish.processes = options.processes;
    wish.slice_bytes = options.slice_bytes;
    wish.plain_length = options.plain_length;
    wish.journal_fd = options.journal_fd;
    wish.journal_keyring = options.journal_keyring == nullptr ? nullptr : options.journal_keyring->handle();
    const stockade_format native = format.native();
    stockade_shared_job* made = nullptr;
    stockade_fault fault = {};
    require(stockade_shared_create(&made, in_fd, out_fd, &native, &wish, engine.handle(), &fault), fault);
    handle_.reset(made);
  }
  static SharedJob from_journal(int journal_fd, const Keyring& keyring, std::uint32_t max_work_factor = 0) {
    stockade_shared_job* made = nullptr;
    stockade_fault fault = {};
    require(stockade_shared_open_journal(&made, journal_fd, keyring.handle(), max_work_factor, &fault), fault);
    return SharedJob(made);
  }
  // The STOCKADE_SHARED_TERMS_BYTES bytes of a job in another process, its file key among them.
  using Terms = std::array<std::byte, STOCKADE_SHARED_TERMS_BYTES>;
  static SharedJob from_terms(const Terms& terms) {
    stockade_shared_job* made = nullptr;
    require(stockade_shared_import(&made, terms.data()));
    return SharedJob(made);
  }
  void write_terms(Terms& terms) const { require(stockade_shared_export(handle_.get(), terms.data())); }

  stockade_shared_info info() const {
    stockade_shared_info info = {};
    require(stockade_shared_info_get(handle_.get(), &info));
    return info;
  }

  // Does slices until there is no next one. Throws what a callback has thrown, else Error; verify throws the first damage
  // after it has found all.
  SharedResult run(const SharedWork& work, const Engine& engine = {}) const {
    return call(stockade_shared_run, work, engine);
  }
  // Reads back slices that were done and compares them with the journal. Throws CHUNK where one is not what was written.
  SharedResult read_back(const SharedWork& work, const Engine& engine = {}) const {
    return call(stockade_shared_read_back, work, engine);
  }

  // The slices that the journal does not have as done, ascending.
  std::vector<std::uint64_t> missing(int journal_fd) const {
    std::vector<std::uint64_t> slices(info().slices);
    std::uint64_t count = 0;
    require(stockade_shared_missing(handle_.get(), journal_fd, slices.data(), slices.size(), &count));
    slices.resize(count);
    return slices;
  }
  // Throws unless the output is complete.
  void check(int out_fd, int journal_fd = -1) const {
    stockade_fault fault = {};
    require(stockade_shared_check(handle_.get(), out_fd, journal_fd, &fault), fault);
  }

  // Chunks in memory, of a piece of the plaintext from `offset` on. `out` is as long as sealed_length says, or `in` is.
  std::uint64_t sealed_length(std::uint64_t offset, std::uint64_t length) const noexcept {
    return stockade_shared_sealed_length(handle_.get(), offset, length);
  }
  void seal(std::uint64_t offset, ByteView in, MutableByteView out, const Engine& engine = {}) const {
    if (out.size() < sealed_length(offset, in.size())) throw Error(STOCKADE_ERROR_OUTPUT_SIZE);
    require(stockade_shared_seal(handle_.get(), offset, in.data(), in.size(), out.data(), engine.handle()));
  }
  void unseal(std::uint64_t offset, ByteView in, MutableByteView out, const Engine& engine = {}) const {
    if (in.size() != sealed_length(offset, out.size())) throw Error(STOCKADE_ERROR_ARGUMENT);
    stockade_fault fault = {};
    require(stockade_shared_unseal(handle_.get(), offset, in.data(), out.size(), out.data(), engine.handle(), &fault),
            fault);
  }

  const stockade_shared_job* handle() const noexcept { return handle_.get(); }

 private:
  struct Free {
    void operator()(stockade_shared_job* job) const noexcept { stockade_shared_free(job); }
  };
  explicit SharedJob(stockade_shared_job* made) noexcept : handle_(made) {}

  using Function = stockade_status (*)(const stockade_shared_job*, stockade_shared_work*, const stockade_engine*);
  SharedResult call(Function function, const SharedWork& work, const Engine& engine) const {
    struct Call : detail::Callbacks {
      const SharedWork& work;
      explicit Call(const SharedWork& given) : work(given) {}
    } callbacks(work);
    stockade_shared_work native = {};
    native.struct_size = sizeof native;
    native.in_fd = work.in_fd;
    native.out_fd = work.out_fd;
    native.journal_fd = work.journal_fd;
    native.total = work.total;
    native.accept_changed_input = work.accept_changed_input ? 1 : 0;
    native.next_context = native.progress_context = native.damage_context = &callbacks;
    native.next = [](void* context) {
      Call& who = *static_cast<Call*>(context);
      return who.guard(std::uint64_t{STOCKADE_NO_SLICE}, [&] { return who.work.next().value_or(STOCKADE_NO_SLICE); });
    };
    if (work.progress) {
      native.progress = [](void* context, std::uint64_t done, std::uint64_t total) {
        Call& who = *static_cast<Call*>(context);
        return who.guard(1, [&] { return who.work.progress(done, total) ? 0 : 1; });
      };
    }
    if (work.damage != nullptr) {
      native.damage = [](void* context, std::uint64_t chunk, std::uint64_t count, std::uint64_t offset,
                         std::uint64_t length) {
        Call& who = *static_cast<Call*>(context);
        return who.guard(1, [&] {
          who.work.damage->push_back({chunk, count, offset, length});
          return 0;
        });
      };
    }
    const stockade_status status = function(handle_.get(), &native, engine.handle());
    callbacks.rethrow();
    require(status, native.fault);
    return {native.slices, native.in_length, native.out_length};
  }

  std::unique_ptr<stockade_shared_job, Free> handle_;
};

struct Stanza {
  std::string kind;       // such as "key", "scrypt", "pad"
  std::string arguments;  // separated by single spaces
  std::uint64_t body_length;
};

// What the header at the start of some bytes says, unauthenticated. Movable.
class Header {
 public:
  explicit Header(ByteView bytes) {
    stockade_header* made = nullptr;
    stockade_fault fault = {};
    require(stockade_header_parse(&made, bytes.data(), bytes.size(), &fault), fault);
    handle_.reset(made);
  }

  std::uint64_t length() const noexcept { return stockade_header_length(handle_.get()); }
  Cipher cipher() const noexcept { return static_cast<Cipher>(stockade_header_cipher(handle_.get())); }
  std::vector<Stanza> stanzas() const {
    std::vector<Stanza> all;
    stockade_stanza stanza = {};
    while (stockade_header_stanza(handle_.get(), static_cast<std::uint32_t>(all.size()), &stanza) == STOCKADE_OK) {
      all.push_back({stanza.kind, stanza.arguments, stanza.body_length});
    }
    return all;
  }

 private:
  struct Free {
    void operator()(stockade_header* header) const noexcept { stockade_header_free(header); }
  };
  std::unique_ptr<stockade_header, Free> handle_;
};

// Decodes an armored file, or the beginning of one if not `whole`.
inline std::vector<std::byte> decode_armor(ByteView in, bool whole = true) {
  std::vector<std::byte> out(in.size() / 4 * 3 + 3);
  std::uint64_t length = 0;
  stockade_fault fault = {};
  require(stockade_armor_decode(in.data(), in.size(), whole ? 1 : 0, out.data(), out.size(), &length, &fault), fault);
  out.resize(length);
  return out;
}

// A header for the same payload and other recipients: without those of `remove` (key ids, and "scrypt" for a passphrase),
// and with those of `add`, which may be null. The file key stays the same, so whoever had it keeps it.
inline std::vector<std::byte> rekey(ByteView header, const Keyring& identities, const std::vector<std::string>& remove,
                                    const Keyring* add = nullptr, std::uint32_t max_work_factor = 0) {
  std::vector<const char*> names;
  for (const std::string& name : remove) names.push_back(name.c_str());
  std::vector<std::byte> out(std::size_t{1} << 20);  // the longest that a header can be
  std::uint64_t length = 0;
  stockade_fault fault = {};
  const stockade_status status =
      stockade_header_rekey(header.data(), header.size(), identities.handle(), max_work_factor, names.data(),
                            static_cast<std::uint32_t>(names.size()), add == nullptr ? nullptr : add->handle(),
                            out.data(), out.size(), &length, &fault);
  require(status, fault);
  out.resize(length);
  return out;
}

// What is to be done where the replacement of a header was interrupted: stockade_header_remedy.
inline stockade_remedy header_remedy(ByteView front, ByteView copy, const Keyring& identities,
                                     std::uint32_t max_work_factor = 0) {
  stockade_remedy remedy = STOCKADE_REMEDY_FOREIGN;
  stockade_fault fault = {};
  const stockade_status status = stockade_header_remedy(front.data(), front.size(), copy.data(), copy.size(),
                                                        identities.handle(), max_work_factor, &remedy, &fault);
  require(status, fault);
  return remedy;
}

// Calls item(i) for every i below `count`, on the engine's workers and in no order. An exception keeps further ones from
// starting and comes out of the call.
template <std::invocable<std::uint64_t> Item>
void for_each(std::uint64_t count, Item&& item, const Engine& engine = {}) {
  struct Call : detail::Callbacks {
    Item& item;
    explicit Call(Item& wish) : item(wish) {}
  } call(item);
  const auto run = [](void* context, std::uint64_t index) {
    Call& who = *static_cast<Call*>(context);
    return who.guard(1, [&] {
      who.item(index);
      return 0;
    });
  };
  const stockade_status status = stockade_for_each(count, run, &call, engine.handle());
  call.rethrow();
  require(status);
}

// ---- RSA ----

// Padding of signatures and of encryption, in which nothing that is left as it is means PSS or OAEP with SHA-256.
struct RsaPadding {
  bool pkcs1 = false;  // signatures: PKCS#1 v1.5 in place of PSS
  stockade_rsa_salt salt = STOCKADE_RSA_SALT_DIGEST;
  std::uint64_t salt_length = 0;  // with STOCKADE_RSA_SALT_GIVEN
  const char* hash = nullptr;
  const char* mask_hash = nullptr;
  ByteView label = {};  // OAEP

  // As the C interface takes it.
  stockade_rsa_options native() const noexcept {
    return {sizeof(stockade_rsa_options),
            pkcs1 ? STOCKADE_RSA_PKCS1V15 : STOCKADE_RSA_PSS,
            salt,
            salt_length,
            hash,
            mask_hash,
            label.data(),
            label.size()};
  }
};

// An RSA key, public or private; wiped when it goes. Movable, and shared by as many threads as you like.
class RsaKey {
 public:
  // From a file in memory, whatever form it has. KeyTypeError for keys of other types.
  static RsaKey read_public(ByteView file, const RsaReading& reading = {}) {
    return read(stockade_rsa_key_read_public, file, reading);
  }
  static RsaKey read_private(ByteView file, const RsaReading& reading = {}) {
    return read(stockade_rsa_key_read_private, file, reading);
  }
  // `exponent` 0 means 65,537.
  static RsaKey generate(std::uint32_t bits, std::uint32_t exponent = 0, const char* force = nullptr) {
    stockade_rsa_key* made = nullptr;
    require(stockade_rsa_key_generate(&made, bits, exponent, force));
    return RsaKey(made);
  }
  RsaKey public_half() const {
    stockade_rsa_key* made = nullptr;
    require(stockade_rsa_key_public(&made, handle()));
    return RsaKey(made);
  }

  std::uint32_t bits() const noexcept { return stockade_rsa_key_bits(handle()); }
  std::size_t bytes() const noexcept { return stockade_rsa_key_bytes(handle()); }
  bool is_private() const noexcept { return stockade_rsa_key_is_private(handle()) != 0; }
  const char* row() const noexcept { return stockade_rsa_key_row(handle()); }
  const stockade_rsa_key* handle() const noexcept { return handle_.get(); }

  // PKCS#8 in PEM, a secret that the caller wipes; under a passphrase if it is not empty.
  std::string private_pem(ByteView passphrase = {}) const {
    return pem([&](char* out, std::uint64_t size, std::uint64_t* length) {
      return stockade_rsa_key_write_private(handle(), passphrase.size() == 0 ? nullptr : passphrase.data(),
                                            passphrase.size(), out, size, length);
    });
  }
  // SubjectPublicKeyInfo in PEM.
  std::string public_pem() const {
    return pem([&](char* out, std::uint64_t size, std::uint64_t* length) {
      return stockade_rsa_key_write_public(handle(), out, size, length);
    });
  }

  // Of a message, which is hashed, and of a digest.
  std::vector<std::byte> sign(ByteView message, const RsaPadding& padding = {}, const Engine& engine = {}) const {
    return run(stockade_rsa_sign, message, padding, engine);
  }
  std::vector<std::byte> sign_digest(ByteView digest, const RsaPadding& padding = {}, const Engine& engine = {}) const {
    return run(stockade_rsa_sign_digest, digest, padding, engine);
  }
  // Throw STOCKADE_ERROR_SIGNATURE, among others, unless the signature is right.
  void verify(ByteView message, ByteView signature, const RsaPadding& padding = {}, const Engine& engine = {}) const {
    const stockade_rsa_options native = padding.native();
    require(stockade_rsa_verify(handle(), &native, message.data(), message.size(), signature.data(), signature.size(),
                                engine.handle()));
  }
  void verify_digest(ByteView digest, ByteView signature, const RsaPadding& padding = {},
                     const Engine& engine = {}) const {
    const stockade_rsa_options native = padding.native();
    require(stockade_rsa_verify_digest(handle(), &native, digest.data(), digest.size(), signature.data(),
                                       signature.size(), engine.handle()));
  }

  // OAEP. The message is a secret that the caller wipes.
  std::vector<std::byte> encrypt(ByteView message, const RsaPadding& padding = {}, const Engine& engine = {}) const {
    return run(stockade_rsa_encrypt, message, padding, engine);
  }
  std::vector<std::byte> decrypt(ByteView ciphertext, const RsaPadding& padding = {}, const Engine& engine = {}) const {
    return run(stockade_rsa_decrypt, ciphertext, padding, engine);
  }
  // The most bytes that a message can have.
  std::size_t capacity(const RsaPadding& padding = {}) const {
    const stockade_rsa_options native = padding.native();
    std::uint64_t length = 0;
    require(stockade_rsa_capacity(handle(), &native, &length));
    return length;
  }

 private:
  struct Free {
    void operator()(stockade_rsa_key* key) const noexcept { stockade_rsa_key_free(key); }
  };
  using ReadFn = stockade_status (*)(stockade_rsa_key**, const void*, std::uint64_t, stockade_rsa_reading*);
  using RunFn = decltype(&stockade_rsa_sign);

  explicit RsaKey(stockade_rsa_key* made) noexcept : handle_(made) {}

  static RsaKey read(ReadFn function, ByteView file, const RsaReading& reading) {
    stockade_rsa_key* made = nullptr;
    detail::with_rsa_reading(
        reading, [&](stockade_rsa_reading& native) { return function(&made, file.data(), file.size(), &native); });
    return RsaKey(made);
  }

  template <typename Write>
  std::string pem(Write&& write) const {
    std::string text(stockade_rsa_key_file_bound(handle()), '\0');
    std::uint64_t length = 0;
    require(write(text.data(), text.size(), &length));
    text.resize(length);
    return text;
  }

  std::vector<std::byte> run(RunFn function, ByteView in, const RsaPadding& padding, const Engine& engine) const {
    const stockade_rsa_options native = padding.native();
    std::vector<std::byte> out(bytes());
    std::uint64_t length = 0;
    require(function(handle(), &native, in.data(), in.size(), out.data(), out.size(), &length, engine.handle()));
    out.resize(length);
    return out;
  }

  std::unique_ptr<stockade_rsa_key, Free> handle_;
};

// Run all items, then throw the status of the first that failed, if one did; each has its own in any case.
inline void rsa_sign_many(std::span<stockade_rsa_item> items, const RsaPadding& padding = {},
                          const Engine& engine = {}) {
  const stockade_rsa_options native = padding.native();
  require(stockade_rsa_sign_many(items.data(), items.size(), &native, engine.handle()));
}
inline void rsa_verify_many(std::span<stockade_rsa_item> items, const RsaPadding& padding = {},
                            const Engine& engine = {}) {
  const stockade_rsa_options native = padding.native();
  require(stockade_rsa_verify_many(items.data(), items.size(), &native, engine.handle()));
}
inline void rsa_encrypt_many(std::span<stockade_rsa_item> items, const RsaPadding& padding = {},
                             const Engine& engine = {}) {
  const stockade_rsa_options native = padding.native();
  require(stockade_rsa_encrypt_many(items.data(), items.size(), &native, engine.handle()));
}
inline void rsa_decrypt_many(std::span<stockade_rsa_item> items, const RsaPadding& padding = {},
                             const Engine& engine = {}) {
  const stockade_rsa_options native = padding.native();
  require(stockade_rsa_decrypt_many(items.data(), items.size(), &native, engine.handle()));
}

// Signatures and decryptions as a server's threads ask for them, computed in batches. Ends when all are done.
class RsaQueue {
 public:
  explicit RsaQueue(const RsaPadding& padding = {}, std::uint32_t largest_batch = 0, std::uint32_t deadline_us = 0,
                    const Engine& engine = {}) {
    const stockade_rsa_queue_options options = {sizeof options, largest_batch, deadline_us, padding.native()};
    stockade_rsa_queue* made = nullptr;
    require(stockade_rsa_queue_create(&made, &options, engine.handle()));
    handle_.reset(made);
  }

  // Return when it is done. For any thread.
  std::vector<std::byte> sign_digest(const RsaKey& key, ByteView digest) {
    return run(stockade_rsa_queue_sign, key, digest);
  }
  std::vector<std::byte> decrypt(const RsaKey& key, ByteView ciphertext) {
    return run(stockade_rsa_queue_decrypt, key, ciphertext);
  }
  stockade_rsa_queue_statistics statistics() const {
    stockade_rsa_queue_statistics found = {};
    require(stockade_rsa_queue_statistics_get(handle_.get(), &found));
    return found;
  }
  // For the calls that do not wait.
  stockade_rsa_queue* handle() const noexcept { return handle_.get(); }

 private:
  struct Free {
    void operator()(stockade_rsa_queue* queue) const noexcept { stockade_rsa_queue_free(queue); }
  };
  std::vector<std::byte> run(decltype(&stockade_rsa_queue_sign) function, const RsaKey& key, ByteView in) {
    std::vector<std::byte> out(key.bytes());
    stockade_rsa_item item = {key.handle(), in.data(), in.size(), out.data(), out.size(), 0, nullptr, 0, STOCKADE_OK};
    require(function(handle_.get(), &item));
    out.resize(item.out_length);
    return out;
  }
  std::unique_ptr<stockade_rsa_queue, Free> handle_;
};

inline std::string version() { return stockade_version(); }
inline std::string build() { return stockade_build(); }

inline stockade_machine machine() {
  stockade_machine found = {};
  require(stockade_machine_get(&found));
  return found;
}

// What is known by measurement to be best here, and where from.
inline stockade_experience experience() {
  stockade_experience found{};
  require(stockade_experience_get(&found));
  return found;
}

// The instruction sets that rows ask for.
inline std::vector<stockade_feature> features() {
  std::vector<stockade_feature> all;
  stockade_feature feature = {};
  while (stockade_feature_get(static_cast<std::uint32_t>(all.size()), &feature) == STOCKADE_OK) all.push_back(feature);
  return all;
}

// The GPUs, by number as in CUDA. Of none, device_absence says why; it is empty where there is one.
inline std::vector<stockade_device> devices() {
  std::vector<stockade_device> all;
  stockade_device device = {};
  stockade_status status;
  while ((status = stockade_device_get(static_cast<std::uint32_t>(all.size()), &device)) == STOCKADE_OK) {
    all.push_back(device);
  }
  if (status != STOCKADE_ERROR_ARGUMENT && status != STOCKADE_ERROR_UNAVAILABLE) throw Error(status);
  return all;
}
inline std::string device_absence() { return stockade_device_absence(); }

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
