// A large file from and to a folder, against the same reads and writes without a cipher; and a part of it against all.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <vector>

#include "aes.h"
#include "file_questions.h"
#include "handles.h"
#include "runner.h"
#include "stockade/stockade.h"

namespace stockade::bench {
namespace {

constexpr uint64_t chunk = STOCKADE_CHUNK_BYTES, sealed_chunk = STOCKADE_SEALED_CHUNK_BYTES;
// What a worker reads and writes at once: 16 chunks.
constexpr uint64_t run_bytes = 16 * chunk, sealed_run_bytes = 16 * sealed_chunk;
constexpr uint64_t part_bytes = 1 << 20;

[[noreturn]] void fail(const std::string& what, const std::string& path) {
  throw std::runtime_error("cannot " + what + " '" + path + "': " + std::strerror(errno));
}

class OpenFile {
 public:
  OpenFile(const std::string& path, int flags) : fd_(open(path.c_str(), flags | O_CLOEXEC, 0600)) {
    if (fd_ < 0) fail("open", path);
  }
  ~OpenFile() { close(fd_); }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  int fd() const { return fd_; }

 private:
  int fd_;
};

// A new file, so that every contender writes to pages that are not there yet.
constexpr int fresh = O_RDWR | O_CREAT | O_TRUNC;

enum class Operation { encrypt, decrypt, verify };

constexpr const char* name_of(Operation operation) {
  return operation == Operation::encrypt ? "encrypt" : operation == Operation::decrypt ? "decrypt" : "verify";
}

// The large file in its forms, and the other programs.
class LargeFile {
 public:
  LargeFile(const FileSettings& settings, const OnTurn& on_turn) : settings_(settings) {
    on_turn("a file to work on");
    stockade_keyring* keyring = nullptr;
    check(stockade_keyring_create(&keyring), "stockade_keyring_create");
    keyring_.reset(keyring);
    check(stockade_keyring_add_key(keyring, bench_key, sizeof bench_key), "stockade_keyring_add_key");
    format_.struct_size = sizeof format_;
    format_.keyring = keyring;
    make_plain();
    const OpenFile in(plain(), O_RDONLY), made(sealed(), fresh);
    crypt(Operation::encrypt, in.fd(), made.fd(), nullptr);
    header_length_ = read_header_length(made.fd());
  }

  void crypt(Operation operation, int from, int to, const stockade_engine* engine) const {
    stockade_file_job job = {};
    job.struct_size = sizeof job;
    job.progress = [](void* stop, uint64_t, uint64_t) { return (*static_cast<const Stop*>(stop))() ? 1 : 0; };
    job.progress_context = const_cast<Stop*>(&settings_.stop);
    const stockade_status status =
        operation == Operation::encrypt   ? stockade_file_encrypt_fd(from, to, &format_, &job, engine)
        : operation == Operation::decrypt ? stockade_file_decrypt_fd(from, to, &format_, &job, engine)
                                          : stockade_file_verify_fd(from, &format_, &job, engine);
    check(status, name_of(operation));
  }

  // Throws Mismatch unless `path` holds `length` bytes of the plaintext from `offset`.
  void compare(const std::string& path, uint64_t offset, uint64_t length) const {
    const OpenFile expected(plain(), O_RDONLY), found(path, O_RDONLY);
    struct stat state {};
    if (fstat(found.fd(), &state) != 0) fail("look at", path);
    bool same = static_cast<uint64_t>(state.st_size) == length;
    std::vector<char> a(run_bytes), b(run_bytes);
    for (uint64_t done = 0; same && done < length; done += run_bytes) {
      const size_t size = std::min(run_bytes, length - done);
      same = pread(expected.fd(), a.data(), size, static_cast<off_t>(offset + done)) == static_cast<ssize_t>(size) &&
             pread(found.fd(), b.data(), size, static_cast<off_t>(done)) == static_cast<ssize_t>(size) &&
             std::memcmp(a.data(), b.data(), size) == 0;
    }
    if (!same) throw Mismatch("a file does not decrypt to what was encrypted");
  }

  uint64_t header_length() const { return header_length_; }
  const FileSettings& settings() const { return settings_; }
  std::string plain() const { return path("plain"); }
  std::string sealed() const { return path("sealed"); }
  // As age encrypts it.
  std::string aged() const { return path("aged"); }
  // What a contender makes.
  std::string out() const { return path("out"); }
  std::string path(const char* name) const { return settings_.folder + "/" + name; }

 private:
  void make_plain() const {
    const OpenFile file(plain(), fresh);
    Buffer piece(8 << 20);
    for (uint64_t done = 0; done < settings_.size; done += piece.size()) {
      const size_t size = std::min<uint64_t>(piece.size(), settings_.size - done);
      fill(piece.data(), size, done + 1);
      if (write(file.fd(), piece.data(), size) != static_cast<ssize_t>(size)) fail("write", plain());
      if (settings_.stop()) throw std::runtime_error("the benchmark was stopped");
    }
  }

  uint64_t read_header_length(int fd) const {
    std::vector<uint8_t> begin(1 << 16);
    const ssize_t got = pread(fd, begin.data(), begin.size(), 0);
    if (got < 0) fail("read", sealed());
    stockade_header* header = nullptr;
    check(stockade_header_parse(&header, begin.data(), static_cast<uint64_t>(got), nullptr), "stockade_header_parse");
    const uint64_t length = stockade_header_length(header);
    stockade_header_free(header);
    return length;
  }

  const FileSettings& settings_;
  Keyring keyring_;
  stockade_format format_ = {};
  uint64_t header_length_ = 0;
};

// The reads and writes of an operation and nothing else, by as many workers.
class InputOutput {
 public:
  InputOutput(const LargeFile& file, Operation operation, int in, int out, uint32_t threads)
      : file_(file), operation_(operation), in_(in), out_(out), threads_(threads) {}

  void run(const stockade_engine* engine) {
    const auto work = [](void* self, uint64_t) { return static_cast<InputOutput*>(self)->work() ? 0 : 1; };
    check(stockade_for_each(threads_, work, this, engine), "reading and writing");
  }

 private:
  // One worker: takes one run after the other.
  bool work() {
    const uint64_t size = file_.settings().size, runs = size / run_bytes + 1;
    const bool opens = operation_ != Operation::encrypt;
    const uint64_t base = file_.header_length() + STOCKADE_PREAMBLE_BYTES;
    std::vector<char> buffer(sealed_run_bytes);
    for (uint64_t run; (run = next_++) < runs && !file_.settings().stop();) {
      const uint64_t plain = std::min(run_bytes, size - run * run_bytes);
      const uint64_t sealed = plain + (plain / chunk + (run + 1 == runs ? 1 : 0)) * (sealed_chunk - chunk);
      const auto plain_at = static_cast<off_t>(run * run_bytes);
      const auto sealed_at = static_cast<off_t>(base + run * sealed_run_bytes);
      const uint64_t in_size = opens ? sealed : plain, out_size = opens ? plain : sealed;
      if (pread(in_, buffer.data(), in_size, opens ? sealed_at : plain_at) != static_cast<ssize_t>(in_size)) {
        return false;
      }
      if (operation_ == Operation::verify) continue;
      if (pwrite(out_, buffer.data(), out_size, opens ? plain_at : sealed_at) != static_cast<ssize_t>(out_size)) {
        return false;
      }
    }
    return true;
  }

  const LargeFile& file_;
  Operation operation_;
  int in_, out_;
  uint32_t threads_;
  std::atomic<uint64_t> next_ = 0;
};

// A contender of this process: `work` gets the input and a fresh output.
using FileWork = std::function<void(int in, int out)>;
FileContender in_process(const LargeFile& file, Operation operation, const std::string& name, uint32_t threads,
                         const FileWork& work) {
  FileContender contender;
  contender.line.contender = name;
  contender.line.threads = threads;
  contender.line.bytes = file.settings().size;
  contender.turn = [&file, operation, work] {
    const OpenFile in(operation == Operation::encrypt ? file.plain() : file.sealed(), O_RDONLY), out(file.out(), fresh);
    return timed([&] { work(in.fd(), out.fd()); });
  };
  return contender;
}

FileContender process(const LargeFile& file, const std::string& name, uint32_t threads,
                      const std::vector<std::string>& words) {
  FileContender contender;
  contender.line.contender = name;
  contender.line.threads = threads;
  contender.line.bytes = file.settings().size;
  contender.turn = [&file, words] {
    unlink(file.out().c_str());
    return run_process({words}, file.settings().stop);
  };
  return contender;
}

FileContender openssl_contender(const LargeFile& file, Operation operation) {
  const std::string openssl = find_program("openssl");
  if (openssl.empty()) return left_out("openssl", not_installed);
  if (operation == Operation::verify) return left_out("openssl", "CTR has nothing to verify");
  auto words = openssl_words(openssl, file.plain(), file.out());
  if (operation == Operation::decrypt) words.push_back("-d");
  return process(file, "openssl", 1, words);
}

FileContender age_contender(const LargeFile& file, Operation operation) {
  const std::optional<AgeKey> age = age_key(file.settings());
  if (!age) return left_out("age", not_installed);
  const auto sealing = [&](const std::string& out) {
    return std::vector<std::string>{age->program, "-r", age->recipient, "-o", out, file.plain()};
  };
  if (operation == Operation::encrypt) return process(file, "age", 1, sealing(file.out()));
  if (access(file.aged().c_str(), R_OK) != 0) run_process({sealing(file.aged())}, file.settings().stop);
  const std::string target = operation == Operation::verify ? "/dev/null" : file.out();
  return process(file, "age", 1, {age->program, "-d", "-i", age->file, "-o", target, file.aged()});
}

std::vector<std::string> stockade_words(const LargeFile& file, Operation operation) {
  std::vector<std::string> words{file.settings().program, name_of(operation), "-q", "-k", key_file(file.settings())};
  if (operation != Operation::verify) words.insert(words.end(), {"-o", file.out()});
  words.push_back(operation == Operation::encrypt ? file.plain() : file.sealed());
  return words;
}

void ask_operation(const LargeFile& file, Operation operation, const OnTurn& on_turn, const OnPoint& on_point) {
  const FileSettings& settings = file.settings();
  FilePoint point;
  point.question = "files";
  point.name = name_of(operation);
  const std::string bound = operation == Operation::verify ? "reads" : "reads and writes";
  point.detail = bound + ": the same ones, by as many threads, without the cipher";
  point.yardsticks = {{bound, true}, {operation == Operation::verify ? "age" : "openssl", false}};
  std::vector<Engine> engines;
  std::vector<FileContender> contenders;
  for (const uint32_t threads : {uint32_t{1}, settings.threads}) {
    if (threads == 1 && !contenders.empty()) break;
    engines.push_back(make_engine(threads == 1 ? "serial" : "threads", threads));
    const stockade_engine* engine = engines.back().get();
    contenders.push_back(
        in_process(file, operation, bound, threads, [&file, operation, threads, engine](int in, int out) {
          InputOutput(file, operation, in, out, threads).run(engine);
        }));
    // With several threads it is the default engine that answers.
    const stockade_engine* ours = threads == 1 ? engine : nullptr;
    contenders.push_back(in_process(file, operation, "stockade", threads, [&file, operation, ours](int in, int out) {
      file.crypt(operation, in, out, ours);
    }));
  }
  contenders.push_back(process(file, "stockade, command", settings.threads, stockade_words(file, operation)));
  if (operation != Operation::verify) {
    std::vector<std::string> words = stockade_words(file, operation);
    words.emplace_back("--resume");
    contenders.push_back(process(file, "stockade, --resume", settings.threads, words));
  }
  contenders.push_back(openssl_contender(file, operation));
  contenders.push_back(age_contender(file, operation));
  if (operation == Operation::decrypt) {
    const OpenFile in(file.sealed(), O_RDONLY), out(file.out(), fresh);
    file.crypt(operation, in.fd(), out.fd(), nullptr);
    file.compare(file.out(), 0, settings.size);
  }
  take_turns(point, contenders, settings, on_turn);
  on_point(point);
  unlink(file.out().c_str());
}

void ask_range(const LargeFile& file, const OnTurn& on_turn, const OnPoint& on_point) {
  const uint64_t size = file.settings().size, length = std::min(part_bytes, size / 2);
  // Across borders of chunks.
  const uint64_t offset = size / 2 - length / 2 + 1;
  FilePoint point;
  point.question = "range";
  point.name = "1 MiB out of the middle";
  point.detail = "'stockade decrypt --range' from start to exit, against all of the file";
  point.yardsticks = {{"the whole file", false}};
  const auto contender = [&file](const std::string& name, const std::vector<std::string>& words) {
    FileContender made = process(file, name, file.settings().threads, words);
    made.line.bytes = 0;
    return made;
  };
  std::vector<std::string> words = stockade_words(file, Operation::decrypt);
  std::vector<FileContender> contenders{contender("the whole file", words)};
  words.insert(words.begin() + 2, {"--range", std::to_string(offset) + ":" + std::to_string(length)});
  contenders.push_back(contender("--range", words));
  contenders.back().turn();
  file.compare(file.out(), offset, length);
  take_turns(point, contenders, file.settings(), on_turn);
  on_point(point);
}

}  // namespace

void ask_large_file(const FileSettings& settings, const OnTurn& on_turn, const OnPoint& on_point) {
  const LargeFile file(settings, on_turn);
  if (is_asked(settings, "files")) {
    for (const Operation operation : {Operation::encrypt, Operation::decrypt, Operation::verify}) {
      ask_operation(file, operation, on_turn, on_point);
    }
  }
  if (is_asked(settings, "range")) ask_range(file, on_turn, on_point);
  for (const std::string& path : {file.plain(), file.sealed(), file.out(), file.aged()}) unlink(path.c_str());
}

}  // namespace stockade::bench
