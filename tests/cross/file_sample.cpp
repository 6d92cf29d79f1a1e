#include "cross/file_sample.h"

#include <fcntl.h>
#include <openssl/evp.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <stdexcept>

#include "cross/temporary_file.h"

namespace stockade::tests {

namespace {

void require_ok(stockade_status status, const char* what) {
  if (status != STOCKADE_OK) throw std::runtime_error(std::string(what) + ": " + stockade_status_name(status));
}

void make_pipe(int ends[2]) {
  if (pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error("pipe2");
}

Bytes take_all(int fd) {
  Bytes all;
  uint8_t buffer[65536];
  for (ssize_t got; (got = read(fd, buffer, sizeof buffer)) > 0;) all.insert(all.end(), buffer, buffer + got);
  return all;
}

// --- ways to open

struct Push {
  FileHandle file;
  Bytes text = {};

  // Room of exactly the bound. What a failed call leaves there must be nothing.
  template <typename Call>
  stockade_status call(uint64_t length, const Call& body) {
    constexpr uint8_t untouched = 0xEE;
    Bytes room(stockade_file_bound(file.get(), length), untouched);
    uint64_t written = 77;
    const stockade_status status = body(room, &written);
    if (status == STOCKADE_OK) {
      text.insert(text.end(), room.begin(), room.begin() + static_cast<std::ptrdiff_t>(written));
      return status;
    }
    const bool nothing = std::all_of(room.begin(), room.end(), [](uint8_t b) { return b == 0 || b == untouched; });
    if (written != 0 || !nothing) throw std::runtime_error("a failed call has left something");
    return status;
  }
  stockade_status update(const uint8_t* in, uint64_t length) {
    return call(length, [&](Bytes& room, uint64_t* written) {
      return stockade_file_update(file.get(), in, length, room.data(), room.size(), written);
    });
  }
  stockade_status finish() {
    return call(0, [&](Bytes& room, uint64_t* written) {
      return stockade_file_final(file.get(), room.data(), room.size(), written);
    });
  }
};

Opened conclude(stockade_status status, const FileHandle& file, Bytes text) {
  Opened opened{status, {}, std::move(text)};
  require_ok(stockade_file_fault(file.get(), &opened.fault), "fault");
  return opened;
}

// `first` bytes at a time while the header can be that long, then `piece`, or more where that would be too many.
template <uint64_t first, uint64_t piece>
Opened open_by_push(const stockade_format& format, const Bytes& file) {
  Push push{make_file(STOCKADE_DECRYPT, format)};
  stockade_status status = STOCKADE_OK;
  for (uint64_t done = 0; done < file.size() && status == STOCKADE_OK;) {
    const uint64_t next = done < 2 * sample_header ? first : std::max<uint64_t>(piece, file.size() / 100);
    const uint64_t length = std::min(next, file.size() - done);
    status = push.update(file.data() + done, length);
    done += length;
  }
  if (status == STOCKADE_OK) status = push.finish();
  return conclude(status, push.file, std::move(push.text));
}

// At a time, `most`; or more behind where headers end, where that would be too many.
struct Fetching {
  const Bytes& bytes;
  uint64_t most;
  uint64_t done = 0;
};
int64_t fetch_some(void* context, void* buffer, uint64_t size) {
  Fetching& from = *static_cast<Fetching*>(context);
  const uint64_t most = from.done < 2 * sample_header ? from.most : std::max(from.most, from.bytes.size() / 2000);
  const uint64_t length = std::min({size, most, from.bytes.size() - from.done});
  if (length != 0) std::memcpy(buffer, from.bytes.data() + from.done, length);
  from.done += length;
  return static_cast<int64_t>(length);
}

template <uint64_t most, uint64_t room_bytes>
Opened open_by_pull(const stockade_format& format, const Bytes& file) {
  const FileHandle handle = make_file(STOCKADE_DECRYPT, format);
  Fetching from{file, most};
  Bytes text;
  for (;;) {
    Bytes room(room_bytes);
    uint64_t written = 77;
    const stockade_status status =
        stockade_file_pull(handle.get(), fetch_some, &from, room.data(), room.size(), &written);
    if (status != STOCKADE_OK) {
      if (written != 0 || room != Bytes(room.size())) throw std::runtime_error("a failed call has left something");
      return conclude(status, handle, std::move(text));
    }
    text.insert(text.end(), room.begin(), room.begin() + static_cast<std::ptrdiff_t>(written));
    if (written < room.size()) return conclude(status, handle, std::move(text));
  }
}

Opened open_by_reader(const stockade_format& format, const Bytes& file) {
  Opened opened{};
  stockade_reader* made = nullptr;
  opened.status = stockade_reader_create(&made, read_bytes_at, const_cast<Bytes*>(&file), file.size(), &format, nullptr,
                                         &opened.fault);
  const ReaderHandle reader(made);
  if (opened.status != STOCKADE_OK) return opened;
  opened.text.resize(stockade_reader_length(made));
  uint64_t got = 77;
  opened.status = stockade_reader_read_at(made, 0, opened.text.data(), opened.text.size(), &got, &opened.fault);
  if (opened.status != STOCKADE_OK) {
    const bool nothing = got == 0 && opened.text == Bytes(opened.text.size());
    if (!nothing) throw std::runtime_error("a failed call has left something");
  }
  opened.text.resize(got);
  return opened;
}

template <typename Output, typename Call>
Opened run_job(const Output& content, const Call& call) {
  stockade_file_job job = file_job();
  const stockade_status status = call(&job);
  return {status, job.fault, content()};
}

Opened open_file(const stockade_format& format, const Bytes& file) {
  const TemporaryFile in(file), out;
  return run_job([&] { return out.content(); },
                 [&](auto* job) { return stockade_file_decrypt_fd(in.fd(), out.fd(), &format, job, nullptr); });
}

Opened open_pipe(const stockade_format& format, const Bytes& file) {
  const Feed in(file);
  Drain out;
  return run_job([&] { return out.finish(); },
                 [&](auto* job) { return stockade_file_decrypt_fd(in.fd(), out.fd(), &format, job, nullptr); });
}

Opened verify_file(const stockade_format& format, const Bytes& file) {
  const TemporaryFile in(file);
  return run_job([] { return Bytes(); },
                 [&](auto* job) { return stockade_file_verify_fd(in.fd(), &format, job, nullptr); });
}

Opened verify_pipe(const stockade_format& format, const Bytes& file) {
  const Feed in(file);
  return run_job([] { return Bytes(); },
                 [&](auto* job) { return stockade_file_verify_fd(in.fd(), &format, job, nullptr); });
}

}  // namespace

const std::vector<Way>& ways_to_open() {
  static const std::vector<Way> ways = {
      {"push whole", Means::push, open_by_push<UINT64_MAX, UINT64_MAX>},
      {"push by 1, then 1009", Means::push, open_by_push<1, 1009>},
      {"push by a sealed chunk", Means::push, open_by_push<STOCKADE_SEALED_CHUNK_BYTES, STOCKADE_SEALED_CHUNK_BYTES>},
      {"pull whole", Means::pull, open_by_pull<UINT64_MAX, uint64_t{1} << 20>},
      {"pull by 977, fetch by 31", Means::pull, open_by_pull<31, 977>},
      {"reader", Means::reader, open_by_reader},
      {"decrypt from file to file", Means::file, open_file},
      {"decrypt from pipe to pipe", Means::pipe, open_pipe},
      {"verify a file", Means::verify_file, verify_file},
      {"verify a pipe", Means::verify_pipe, verify_pipe},
  };
  return ways;
}

KeyringHandle keyring_of(const std::vector<Bytes>& keys) {
  stockade_keyring* keyring = nullptr;
  require_ok(stockade_keyring_create(&keyring), "keyring");
  KeyringHandle made(keyring);
  for (const Bytes& key : keys) require_ok(stockade_keyring_add_key(keyring, key.data(), key.size()), "key");
  return made;
}

KeyringHandle keyring_of(std::string_view passphrase, uint32_t work_factor) {
  KeyringHandle made = keyring_of(std::vector<Bytes>());
  require_ok(stockade_keyring_add_passphrase(made.get(), passphrase.data(), passphrase.size(), work_factor),
             "passphrase");
  return made;
}

FileHandle make_file(stockade_direction direction, const stockade_format& format, const stockade_engine* engine) {
  stockade_file* file = nullptr;
  require_ok(stockade_file_create(&file, direction, &format, engine), "file");
  return FileHandle(file);
}

Bytes sample_key(uint8_t first) {
  Bytes key(32);
  for (size_t i = 0; i < key.size(); ++i) key[i] = static_cast<uint8_t>(first + i);
  return key;
}

Bytes sample_text(uint64_t length) {
  Bytes text(length);
  // No two chunks are alike, and no byte is one that tests look for as an absence of text.
  for (uint64_t i = 0; i < length; ++i) text[i] = static_cast<uint8_t>(1 + (i * 7 + i / 251) % 200);
  return text;
}

stockade_format format_for(const KeyringHandle& keyring) {
  stockade_format format = {};
  format.struct_size = sizeof format;
  format.keyring = keyring.get();
  return format;
}

stockade_format plain_format(const Bytes& key, const Bytes& context) {
  stockade_format format = {};
  format.struct_size = sizeof format;
  format.key = key.data();
  format.key_length = key.size();
  format.context = context.data();
  format.context_length = context.size();
  format.cipher = key.size() == 16 ? STOCKADE_COBBLESTONE_128 : STOCKADE_COBBLESTONE_256;
  return format;
}

stockade_file_job file_job() {
  stockade_file_job job = {};
  job.struct_size = sizeof job;
  job.journal_fd = -1;
  return job;
}

Bytes seal(const stockade_format& format, const Bytes& text) {
  const FileHandle file = make_file(STOCKADE_ENCRYPT, format);
  Bytes sealed(stockade_file_bound(file.get(), text.size()));
  uint64_t written = 0, last = 0;
  require_ok(stockade_file_update(file.get(), text.data(), text.size(), sealed.data(), sealed.size(), &written),
             "update");
  sealed.resize(written + stockade_file_bound(file.get(), 0));
  require_ok(stockade_file_final(file.get(), sealed.data() + written, sealed.size() - written, &last), "final");
  sealed.resize(written + last);
  return sealed;
}

Bytes in_armor(const Bytes& file) {
  std::string text = "-----BEGIN STOCKADE FILE-----\n";
  for (size_t done = 0; done < file.size(); done += 48) {
    unsigned char line[65];
    const int length = static_cast<int>(std::min<size_t>(48, file.size() - done));
    const int characters = EVP_EncodeBlock(line, file.data() + done, length);
    text.append(reinterpret_cast<const char*>(line), static_cast<size_t>(characters)) += '\n';
  }
  text += "-----END STOCKADE FILE-----\n";
  return Bytes(text.begin(), text.end());
}

std::string fault_sentence(const stockade_fault& fault) {
  char text[256];
  require_ok(stockade_fault_text(&fault, text, sizeof text), "sentence");
  return text;
}

std::string describe(const stockade_fault& fault) {
  const auto number = [](uint64_t value) { return value == UINT64_MAX ? "none" : std::to_string(value); };
  return std::string(stockade_status_name(fault.status)) + " chunk " + number(fault.chunk) + " offset " +
         number(fault.offset) + " line " + number(fault.line) + " value " + number(fault.value);
}

int read_bytes_at(void* context, uint64_t offset, void* buffer, uint64_t length) {
  const Bytes& bytes = *static_cast<const Bytes*>(context);
  if (offset > bytes.size() || length > bytes.size() - offset) return -1;
  if (length != 0) std::memcpy(buffer, bytes.data() + offset, length);
  return 0;
}

Feed::Feed(Bytes bytes) : bytes_(std::move(bytes)) {
  make_pipe(ends_);
  writer_ = std::thread([this] {
    for (size_t done = 0; done < bytes_.size();) {
      const ssize_t count = write(ends_[1], bytes_.data() + done, bytes_.size() - done);
      if (count <= 0) break;
      done += static_cast<size_t>(count);
    }
    close(ends_[1]);
  });
}

Feed::~Feed() {
  take_all(ends_[0]);
  writer_.join();
  close(ends_[0]);
}

Drain::Drain() {
  make_pipe(ends_);
  reader_ = std::thread([this] { bytes_ = take_all(ends_[0]); });
}

const Bytes& Drain::finish() {
  if (reader_.joinable()) {
    close(ends_[1]);
    reader_.join();
    close(ends_[0]);
  }
  return bytes_;
}

}  // namespace stockade::tests
