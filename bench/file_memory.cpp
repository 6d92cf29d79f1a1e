// Payloads in memory: what the format costs beyond the cipher. All contenders go through the same bytes in pieces of the
// same size, `piece_bytes` for each thread.
#include <sys/types.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <vector>

#include "aes.h"
#include "file_questions.h"
#include "handles.h"
#include "runner.h"
#include "stockade/stockade.h"

namespace stockade::bench {
namespace {

constexpr uint64_t chunk = STOCKADE_CHUNK_BYTES, sealed_chunk = STOCKADE_SEALED_CHUNK_BYTES, tag_bytes = 16;
// Input and output of one core fit into its second-level cache.
constexpr uint64_t piece_bytes = 512 << 10;

// Where the bytes are: one piece again and again, which stays in the cache, or `total` bytes, each of them once.
struct Point {
  uint32_t bits;
  stockade_direction direction;
  bool cached;
  uint64_t total;  // for one thread, of plaintext; the cached pieces of several threads are as many times more

  uint64_t piece(uint32_t threads) const { return piece_bytes * threads; }
  uint64_t bytes(uint32_t threads) const { return cached ? total * threads : total; }
  uint64_t pieces(uint32_t threads) const { return bytes(threads) / piece(threads); }
  std::string cipher() const { return "aes-" + std::to_string(bits) + "-gcm"; }
};

uint64_t sealed_length(uint64_t length) { return length / chunk * sealed_chunk; }

struct Memory {
  Memory(const Point& point, uint32_t most_threads)
      : plain(point.cached ? point.piece(most_threads) : point.total),
        sealed(sealed_length(plain.size()) + 2 * sealed_chunk),
        opened(point.direction == STOCKADE_DECRYPT ? plain.size() + 2 * sealed_chunk : 0) {
    fill(plain.data(), plain.size(), 0xC0BB1E);
  }
  Buffer plain, sealed, opened;
};

// Raw AES-GCM: a message for each chunk, laid out as chunks are. One thread makes a call for each message, several share
// the messages of a piece.
class RawGcm {
 public:
  RawGcm(const Point& point, Memory& memory, uint32_t threads)
      : point_(point),
        memory_(memory),
        threads_(threads),
        engine_(make_engine(threads > 1 ? "auto" : "serial", threads)),
        piece_(point.piece(threads) / chunk) {
    stockade_key* key = nullptr;
    check(stockade_key_create(&key, STOCKADE_GCM, bench_key, point.bits / 8, nullptr), "stockade_key_create");
    key_.reset(key);
  }

  void run() {
    for (uint64_t i = 0; i < point_.pieces(threads_); ++i) run_piece(i * piece_.size());
  }

 private:
  struct Message {
    uint8_t iv[12] = {};
    uint8_t *in = nullptr, *out = nullptr, *tag = nullptr;
  };

  bool seals() const { return point_.direction == STOCKADE_ENCRYPT; }

  Message message(uint64_t number, uint64_t place) const {
    Message made;
    std::memcpy(made.iv, &number, sizeof number);
    uint8_t* sealed = memory_.sealed.data() + place * sealed_chunk;
    made.in = seals() ? memory_.plain.data() + place * chunk : sealed;
    made.out = seals() ? sealed : memory_.opened.data() + place * chunk;
    made.tag = sealed + chunk;
    return made;
  }

  void run_piece(uint64_t first) {
    for (uint64_t i = 0; i < piece_.size(); ++i) {
      piece_[i] = message(first + i, point_.cached ? i : first + i);
      if (threads_ == 1) run_one(piece_[i]);
    }
    if (threads_ > 1) run_many();
  }

  void run_one(Message& m) {
    check(seals() ? stockade_seal(key_.get(), m.iv, sizeof m.iv, nullptr, 0, m.in, chunk, m.out, m.tag, tag_bytes,
                                  engine_.get())
                  : stockade_open(key_.get(), m.iv, sizeof m.iv, nullptr, 0, m.in, chunk, m.out, m.tag, tag_bytes,
                                  engine_.get()),
          "a message");
  }

  void run_many() {
    calls_.assign(piece_.size(), {});
    for (uint64_t i = 0; i < piece_.size(); ++i) {
      stockade_message& call = calls_[i];
      call.key = key_.get();
      call.iv = piece_[i].iv;
      call.iv_length = sizeof piece_[i].iv;
      call.in = piece_[i].in;
      call.length = chunk;
      call.out = piece_[i].out;
      call.tag = piece_[i].tag;
      call.tag_length = tag_bytes;
    }
    check(seals() ? stockade_encrypt_many(calls_.data(), calls_.size(), engine_.get())
                  : stockade_decrypt_many(calls_.data(), calls_.size(), engine_.get()),
          "many messages");
  }

  Point point_;
  Memory& memory_;
  uint32_t threads_;
  Engine engine_;
  Key key_;
  std::vector<Message> piece_;
  std::vector<stockade_message> calls_;
};

// stockade_file_update, a payload of which everything but the last chunk is full.
class Payload {
 public:
  Payload(const Point& point, Memory& memory, uint32_t threads)
      : point_(point),
        memory_(memory),
        threads_(threads),
        engine_(make_engine(threads > 1 ? "auto" : "serial", threads)) {
    format_.struct_size = sizeof format_;
    format_.key = bench_key;
    format_.key_length = point.bits / 8;
    format_.cipher = point.bits == 128 ? STOCKADE_COBBLESTONE_128 : STOCKADE_COBBLESTONE_256;
  }

  void run() { point_.direction == STOCKADE_ENCRYPT ? seal() : open(); }

  // Where there is something to open: makes it, opens it, and compares.
  void prove() {
    if (point_.direction == STOCKADE_ENCRYPT) return;
    seal();
    open();
    if (std::memcmp(memory_.opened.data(), memory_.plain.data(), point_.total) != 0) {
      throw Mismatch("a payload does not decrypt to what was encrypted");
    }
  }

 private:
  File make(stockade_direction direction) {
    stockade_file* file = nullptr;
    check(stockade_file_create(&file, direction, &format_, engine_.get()), "stockade_file_create");
    return File(file);
  }

  void seal() {
    const File file = make(STOCKADE_ENCRYPT);
    uint64_t done = 0, written = 0;
    for (uint64_t i = 0; i < point_.pieces(threads_); ++i) {
      const uint64_t at = point_.cached ? 0 : i * point_.piece(threads_);
      check(stockade_file_update(file.get(), memory_.plain.data() + at, point_.piece(threads_),
                                 memory_.sealed.data() + done, memory_.sealed.size() - done, &written),
            "stockade_file_update");
      if (!point_.cached) done += written;
    }
    check(stockade_file_final(file.get(), memory_.sealed.data() + done, memory_.sealed.size() - done, &written),
          "stockade_file_final");
    sealed_length_ = done + written;
  }

  void open() {
    const File file = make(STOCKADE_DECRYPT);
    const uint64_t step = sealed_length(point_.piece(threads_));
    uint64_t done = 0, written = 0;
    for (uint64_t at = 0; at < sealed_length_; at += step) {
      check(stockade_file_update(file.get(), memory_.sealed.data() + at, std::min(step, sealed_length_ - at),
                                 memory_.opened.data() + done, memory_.opened.size() - done, &written),
            "stockade_file_update");
      done += written;
    }
    check(stockade_file_final(file.get(), memory_.opened.data() + done, memory_.opened.size() - done, &written),
          "stockade_file_final");
  }

  Point point_;
  Memory& memory_;
  uint32_t threads_;
  uint64_t sealed_length_ = 0;
  stockade_format format_ = {};
  Engine engine_;
};

// pyca/cryptography, which times itself: each line asks for one turn, and is answered with seconds and CPU seconds.
constexpr char pyca_program[] = R"(
import os, sys, time
from cryptography import cobblestone
bits, opens, cached, piece, total = (int(word) for word in sys.argv[1:])
seal, open_ = (getattr(cobblestone, f"Cobblestone{bits}{what}") for what in ("Encryptor", "Decryptor"))
key = os.urandom(bits // 8)
data = memoryview(bytearray(os.urandom(1 << 19) * ((piece if cached else total) >> 19)))
out = memoryview(bytearray(len(data) + (len(data) >> 14) * 16 + (1 << 16)))

def run(machine, source, target):
    done = 0
    for i in range(total // piece if cached else -(-len(source) // piece)):
        at = 0 if cached else i * piece
        written = machine.update_into(source[at : at + piece], target[done:])
        done += 0 if cached else written
    last = machine.finalize()
    target[done : done + len(last)] = last
    return done + len(last)

source, target, make = data, out, seal
if opens:
    source, target, make = out[: run(seal(key, b""), data, out)], memoryview(bytearray(len(out))), open_
print("ready", flush=True)
for line in sys.stdin:
    start, cpu = time.perf_counter(), time.process_time()
    run(make(key, b""), source, target)
    print(time.perf_counter() - start, time.process_time() - cpu, flush=True)
)";

FileContender pyca(const FileSettings& settings, const Point& point) {
  if (settings.python.empty()) return left_out("pyca/cryptography", not_installed);
  FileContender contender;
  contender.line.contender = "pyca/cryptography";
  contender.line.bytes = point.bytes(1);
  const auto process = std::make_shared<Coprocess>(std::vector<std::string>{
      settings.python, "-c", pyca_program, std::to_string(point.bits),
      std::to_string(static_cast<int>(point.direction == STOCKADE_DECRYPT)),
      std::to_string(static_cast<int>(point.cached)), std::to_string(point.piece(1)), std::to_string(point.total)});
  if (process->read_line() != "ready") throw std::runtime_error("pyca/cryptography does not start");
  contender.turn = [process] {
    Usage usage;
    std::istringstream answer(process->ask("go"));
    if (!(answer >> usage.seconds >> usage.cpu_seconds)) throw std::runtime_error("pyca/cryptography failed");
    return usage;
  };
  return contender;
}

template <typename Machine>
FileContender contender(const std::string& name, const Point& point, uint32_t threads,
                        const std::shared_ptr<Machine>& machine) {
  FileContender made;
  made.line.contender = name;
  made.line.threads = threads;
  made.line.bytes = point.bytes(threads);
  made.turn = [machine] { return timed([&machine] { machine->run(); }); };
  return made;
}

void ask_point(const FileSettings& settings, const Point& point, const OnTurn& on_turn, const OnPoint& on_point) {
  FilePoint result;
  result.question = "memory";
  result.name = "cobblestone-" + std::to_string(point.bits) +
                (point.direction == STOCKADE_ENCRYPT ? " encrypt" : " decrypt") +
                (point.cached ? ", in cache" : ", from memory");
  result.detail = point.cipher() + ": messages of 16 KiB; one thread is what all are compared with";
  result.yardsticks = {{point.cipher(), false}};
  // Sealed messages and payloads are not the same bytes, so each has memory of its own.
  Memory raw_memory(point, settings.threads), payload_memory(point, settings.threads);
  if (point.direction == STOCKADE_DECRYPT) {
    RawGcm({point.bits, STOCKADE_ENCRYPT, false, point.total}, raw_memory, 1).run();
  }
  std::vector<FileContender> contenders;
  for (const uint32_t threads :
       settings.threads > 1 ? std::vector<uint32_t>{1, settings.threads} : std::vector<uint32_t>{1}) {
    const auto payload = std::make_shared<Payload>(point, payload_memory, threads);
    payload->prove();
    contenders.push_back(
        contender(point.cipher(), point, threads, std::make_shared<RawGcm>(point, raw_memory, threads)));
    contenders.push_back(contender("stockade", point, threads, payload));
  }
  contenders.push_back(pyca(settings, point));
  take_turns(result, contenders, settings, on_turn);
  on_point(result);
}

}  // namespace

void ask_memory(const FileSettings& settings, const OnTurn& on_turn, const OnPoint& on_point) {
  // Whole pieces of every number of threads.
  const uint64_t step = piece_bytes * settings.threads;
  const uint64_t wanted = settings.quick ? uint64_t{64} << 20 : uint64_t{256} << 20;
  const uint64_t total = (wanted + step - 1) / step * step;
  for (const uint32_t bits : {256, 128}) {
    ask_point(settings, {bits, STOCKADE_ENCRYPT, true, total}, on_turn, on_point);
    ask_point(settings, {bits, STOCKADE_ENCRYPT, false, total}, on_turn, on_point);
    ask_point(settings, {bits, STOCKADE_DECRYPT, false, total}, on_turn, on_point);
  }
}

}  // namespace stockade::bench
