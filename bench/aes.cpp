#include "aes.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "peer_openssl.h"

namespace stockade::bench {
namespace {

constexpr uint64_t seed = 0x57060CADE;
constexpr uint64_t tag_size = 16;
// Copying fits in no message-sized figure below this; from here on it is what bounds an ideal cipher.
constexpr uint64_t memcpy_from = 1 << 20;
// Many messages of this size are as much memory as the largest message of the default run.
constexpr uint64_t many_limit = 16 << 20;

// From one message to the next of the same call. Buffers that all begin at the same place of a page compete for the same
// few lines of the cache; a program that allocates its messages one by one rarely has that, so the benchmark has not.
uint64_t stride(uint64_t size) { return (size + 63) / 64 * 64 + 5 * 64; }
// The memory from the first message to the end of the last.
uint64_t span(uint64_t size, uint32_t streams) { return (streams - 1) * stride(size) + size; }

constexpr char too_slow[] = "one call takes longer than the limit";

struct Operation {
  AesCipher cipher;
  stockade_direction direction;
  uint32_t streams;

  bool gcm() const { return cipher.mode == STOCKADE_GCM; }
  bool chained() const {
    const bool encrypts = direction == STOCKADE_ENCRYPT;
    return cipher.mode == STOCKADE_OFB || (encrypts && (cipher.mode == STOCKADE_CBC || cipher.mode == STOCKADE_CFB));
  }
  // Whether more than one thread has anything to do.
  bool splits() const { return streams > 1 || !chained(); }
  std::string name() const {
    if (gcm()) return direction == STOCKADE_ENCRYPT ? "seal" : "open";
    return direction == STOCKADE_ENCRYPT ? "encrypt" : "decrypt";
  }
};

// Why a size cannot be given to an operation; empty where it can.
std::string unfit(const Operation& operation, uint64_t size) {
  const stockade_mode mode = operation.cipher.mode;
  if ((mode == STOCKADE_ECB || mode == STOCKADE_CBC) && size % 16 != 0) return "not a multiple of 16 bytes";
  if (mode == STOCKADE_XTS && (size < 16 || (size > xts_unit && size % xts_unit != 0 && size % xts_unit < 16))) {
    return "a data unit of less than 16 bytes";
  }
  if (operation.streams > 1 && size > many_limit) return "many messages of more than 16 MiB";
  return {};
}

// The memory of one run: the same data for every contender.
struct Workspace {
  explicit Workspace(size_t size) : in(size), out(size), expected(size) {
    fill(key, sizeof key, seed);
    fill(ivs[0], sizeof ivs, seed + 1);
  }
  Buffer in, out, expected;
  uint8_t key[64];
  uint8_t ivs[many_streams][16];
  uint8_t tags[many_streams][tag_size];
  uint8_t expected_tag[tag_size];
};

[[noreturn]] void fail(const std::string& who, const std::string& what) { throw std::runtime_error(who + ": " + what); }

size_t key_length(const AesCipher& cipher) { return cipher.bits / 8 * (cipher.mode == STOCKADE_XTS ? 2 : 1); }

uint64_t iv_length(const AesCipher& cipher) {
  return cipher.mode == STOCKADE_ECB ? 0 : cipher.mode == STOCKADE_GCM ? 12 : 16;
}

// Anybody who can carry out the operation once on the workspace: in to out.
class Contender {
 public:
  Contender(std::string name, uint32_t threads) : name_(std::move(name)), threads_(threads) {}
  virtual ~Contender() = default;
  virtual void run(uint64_t iterations) = 0;
  const std::string& name() const { return name_; }
  uint32_t threads() const { return threads_; }

 private:
  std::string name_;
  uint32_t threads_;
};

class Copy : public Contender {
 public:
  Copy(Workspace& space, uint64_t bytes) : Contender("memcpy", 1), space_(space), bytes_(bytes) {}
  void run(uint64_t iterations) override {
    for (; iterations > 0; --iterations) {
      std::memcpy(space_.out.data(), space_.in.data(), bytes_);
      // The compiler must believe that each copy is looked at.
      __asm__ __volatile__("" : : "r"(space_.out.data()) : "memory");
    }
  }

 private:
  Workspace& space_;
  uint64_t bytes_;
};

class Openssl : public Contender {
 public:
  Openssl(const Operation& operation, Workspace& space, uint64_t size)
      : Contender("openssl", 1),
        operation_(operation),
        space_(space),
        size_(size),
        peer_(operation.cipher.mode, operation.cipher.bits, operation.direction, space.key) {}

  void run(uint64_t iterations) override {
    for (; iterations > 0; --iterations) {
      for (uint32_t i = 0; i < operation_.streams; ++i) {
        if (!once(i)) fail("openssl", operation_.cipher.name + " failed");
      }
    }
  }

 private:
  bool once(uint32_t stream) {
    const uint8_t* in = space_.in.data() + stream * stride(size_);
    uint8_t* out = space_.out.data() + stream * stride(size_);
    if (operation_.cipher.mode == STOCKADE_XTS && size_ > xts_unit) {
      return peer_.units(space_.ivs[stream], xts_unit, in, size_, out);
    }
    return peer_.message(space_.ivs[stream], in, size_, out, space_.tags[stream]);
  }

  Operation operation_;
  Workspace& space_;
  uint64_t size_;
  OpensslPeer peer_;
};

class Row : public Contender {
 public:
  Row(const Operation& operation, Workspace& space, uint64_t size, const std::string& row, uint32_t threads)
      : Contender(row, threads), operation_(operation), space_(space), size_(size) {
    const std::string force = (operation.gcm() ? "gcm:" : "aes:") + row;
    stockade_key* key = nullptr;
    check(stockade_key_create(&key, operation.cipher.mode, space.key, key_length(operation.cipher), force.c_str()));
    key_.reset(key);
    stockade_engine* engine = nullptr;
    check(stockade_engine_create(&engine, threads == 1 ? "serial" : "auto", threads));
    engine_.reset(engine);
    for (uint32_t i = 0; i < operation.streams; ++i) messages_.push_back(message(i));
  }

  void run(uint64_t iterations) override {
    for (; iterations > 0; --iterations) check(once());
  }

 private:
  void check(stockade_status status) const {
    if (status != STOCKADE_OK) fail("row " + name(), operation_.cipher.name + ": " + stockade_status_text(status));
  }

  stockade_message message(uint32_t stream) {
    stockade_message m{};
    m.key = key_.get();
    m.iv = space_.ivs[stream];
    m.iv_length = iv_length(operation_.cipher);
    m.in = space_.in.data() + stream * stride(size_);
    m.length = size_;
    m.out = space_.out.data() + stream * stride(size_);
    if (operation_.gcm()) {
      m.tag = space_.tags[stream];
      m.tag_length = tag_size;
    }
    return m;
  }

  stockade_status once() {
    const bool encrypts = operation_.direction == STOCKADE_ENCRYPT;
    if (messages_.size() > 1) {
      const auto call = encrypts ? stockade_encrypt_many : stockade_decrypt_many;
      return call(messages_.data(), messages_.size(), engine_.get());
    }
    const stockade_message& m = messages_[0];
    if (operation_.gcm()) {
      if (encrypts) {
        return stockade_seal(m.key, m.iv, m.iv_length, nullptr, 0, m.in, m.length, m.out, m.tag, m.tag_length,
                             engine_.get());
      }
      return stockade_open(m.key, m.iv, m.iv_length, nullptr, 0, m.in, m.length, m.out, m.tag, m.tag_length,
                           engine_.get());
    }
    if (operation_.cipher.mode == STOCKADE_XTS && size_ > xts_unit) {
      const auto call = encrypts ? stockade_encrypt_units : stockade_decrypt_units;
      return call(m.key, m.iv, m.iv_length, xts_unit, m.in, m.length, m.out, engine_.get());
    }
    const auto call = encrypts ? stockade_encrypt : stockade_decrypt;
    return call(m.key, m.iv, m.iv_length, m.in, m.length, m.out, engine_.get());
  }

  struct KeyFree {
    void operator()(stockade_key* key) const { stockade_key_free(key); }
  };
  struct EngineFree {
    void operator()(stockade_engine* engine) const { stockade_engine_free(engine); }
  };
  Operation operation_;
  Workspace& space_;
  uint64_t size_;
  std::unique_ptr<stockade_key, KeyFree> key_;
  std::unique_ptr<stockade_engine, EngineFree> engine_;
  std::vector<stockade_message> messages_;
};

// The standard's text as code: a baseline, neither fast nor split, unless somebody asks for it by name.
bool is_baseline(const std::string& row, const AesSettings& settings) {
  return row == "reference" && std::find(settings.rows.begin(), settings.rows.end(), row) == settings.rows.end();
}

// The rows for an operation, best first, each with the threads it is run on.
struct Candidate {
  std::string row;
  uint32_t threads;
};

std::vector<Candidate> candidates(const Operation& operation, const AesSettings& settings) {
  std::vector<Candidate> all;
  stockade_row row{};
  for (uint32_t i = 0; stockade_row_get(i, &row) == STOCKADE_OK; ++i) {
    if (std::string(row.primitive) != (operation.gcm() ? "gcm" : "aes") || !row.available) continue;
    const bool named = std::find(settings.rows.begin(), settings.rows.end(), row.name) != settings.rows.end();
    if (!settings.rows.empty() && !named) continue;
    for (const uint32_t threads : settings.threads) {
      if (threads == 1 || (operation.splits() && !is_baseline(row.name, settings))) all.push_back({row.name, threads});
    }
  }
  return all;
}

// Fills `in` so that the operation succeeds, and `expected` with what it must give: OpenSSL's word.
void prepare(const Operation& operation, Workspace& space, uint64_t size) {
  const uint64_t bytes = span(size, operation.streams);
  fill(space.in.data(), bytes, seed + 2);
  std::memset(space.out.data(), 0, bytes);
  if (operation.gcm() && operation.direction == STOCKADE_DECRYPT) {
    Openssl({operation.cipher, STOCKADE_ENCRYPT, operation.streams}, space, size).run(1);
    std::memcpy(space.in.data(), space.out.data(), bytes);
  }
  Openssl(operation, space, size).run(1);
  std::memcpy(space.expected.data(), space.out.data(), bytes);
  std::memcpy(space.expected_tag, space.tags[0], tag_size);
}

void verify(Contender& contender, const Operation& operation, Workspace& space, uint64_t size) {
  const bool seals = operation.gcm() && operation.direction == STOCKADE_ENCRYPT;
  const uint64_t bytes = span(size, operation.streams);
  std::memset(space.out.data(), 0, bytes);
  if (seals) std::memset(space.tags[0], 0, tag_size);
  contender.run(1);
  if (std::memcmp(space.out.data(), space.expected.data(), bytes) != 0 ||
      (seals && std::memcmp(space.tags[0], space.expected_tag, tag_size) != 0)) {
    throw Mismatch("row " + contender.name() + " and OpenSSL give different bytes for " + operation.cipher.name + " " +
                   operation.name() + ", " + std::to_string(operation.streams) + " x " + std::to_string(size) +
                   " bytes, " + std::to_string(contender.threads()) + " thread(s)");
  }
}

AesCell* find_cell(AesBlock& block, const std::string& contender, uint32_t threads, size_t column) {
  for (AesLine& line : block.lines) {
    if (line.contender == contender && line.threads == threads) return &line.cells[column];
  }
  return nullptr;
}

// What follows from the times of one column.
void derive(AesBlock& block, size_t column) {
  const AesCell* peer = find_cell(block, "openssl", 1, column);
  for (AesLine& line : block.lines) {
    AesCell& cell = line.cells[column];
    const Timing& timing = cell.timing;
    if (!timing.measured) continue;
    const auto bytes = static_cast<double>(cell.bytes);
    cell.gigabytes_per_second = bytes / timing.seconds / 1e9;
    if (line.threads == 1) cell.cycles_per_byte = timing.hertz * timing.seconds / bytes;
    if (peer != nullptr && peer->timing.measured) cell.ratio = peer->timing.seconds / timing.seconds;
    const AesCell* single = line.threads > 1 ? find_cell(block, line.contender, 1, column) : nullptr;
    if (single != nullptr && single->timing.measured) cell.speedup = single->timing.seconds / timing.seconds;
  }
}

// Whether the figures so far say that a line would need far longer than the limit in this column. Saves the time of
// finding out.
bool hopeless(const AesLine& line, size_t column, double limit_seconds) {
  if (column == 0 || !line.cells[column - 1].timing.measured) return false;
  const AesCell& last = line.cells[column - 1];
  const double seconds_per_byte = last.timing.seconds / static_cast<double>(last.bytes);
  return seconds_per_byte * static_cast<double>(line.cells[column].bytes) > 2 * limit_seconds;
}

// Why a line has no figure in a column; empty where it has.
std::string left_out(const Operation& operation, const AesSettings& settings, const AesLine& line, size_t column,
                     uint64_t size) {
  if (const std::string misfit = unfit(operation, size); !misfit.empty()) return misfit;
  if (line.contender == "memcpy" && size < memcpy_from) return "copies of less than 1 MiB";
  if (is_baseline(line.contender, settings) && size > reference_limit)
    return "slow by design, above 64 KiB by name only";
  // The yardstick is measured at any price.
  if (line.contender != "openssl" && hopeless(line, column, settings.schedule.limit_seconds)) return too_slow;
  return {};
}

std::unique_ptr<Contender> make_contender(const Operation& operation, Workspace& space, uint64_t size,
                                          const AesLine& line) {
  if (line.contender == "openssl") return std::make_unique<Openssl>(operation, space, size);
  if (line.contender == "memcpy") return std::make_unique<Copy>(space, size);
  auto row = std::make_unique<Row>(operation, space, size, line.contender, line.threads);
  verify(*row, operation, space, size);
  return row;
}

void measure_column(const Operation& operation, const AesSettings& settings, Workspace& space, AesBlock& block,
                    size_t column) {
  const uint64_t size = block.sizes[column];
  if (unfit(operation, size).empty()) prepare(operation, space, size);
  std::vector<std::unique_ptr<Contender>> contenders;
  std::vector<Work> works;
  std::vector<AesCell*> cells;
  for (AesLine& line : block.lines) {
    AesCell& cell = line.cells[column];
    cell.bytes = size * operation.streams;
    cell.reason = left_out(operation, settings, line, column, size);
    if (!cell.reason.empty()) continue;
    contenders.push_back(make_contender(operation, space, size, line));
    works.push_back([contender = contenders.back().get()](uint64_t iterations) { contender->run(iterations); });
    cells.push_back(&cell);
  }
  const auto timings = measure(works, settings.schedule);
  for (size_t i = 0; i < timings.size(); ++i) {
    cells[i]->timing = timings[i];
    if (!timings[i].measured) cells[i]->reason = too_slow;
  }
  derive(block, column);
}

std::vector<Operation> operations(const AesCipher& cipher) {
  std::vector<Operation> all{{cipher, STOCKADE_ENCRYPT, 1}};
  // The other direction of CTR and OFB is the same computation.
  const bool symmetric = cipher.mode == STOCKADE_CTR || cipher.mode == STOCKADE_OFB;
  if (all[0].chained()) all.push_back({cipher, STOCKADE_ENCRYPT, many_streams});
  if (!symmetric) all.push_back({cipher, STOCKADE_DECRYPT, 1});
  return all;
}

AesBlock make_block(const Operation& operation, const AesSettings& settings) {
  AesBlock block{operation.cipher, operation.name(), operation.streams, {}, {}};
  const stockade_mode mode = operation.cipher.mode;
  const bool selected = (mode == STOCKADE_CTR || mode == STOCKADE_GCM) && operation.cipher.bits != 192;
  for (const uint64_t size : settings.sizes) {
    if (size != settings.selective_size || selected) block.sizes.push_back(size);
  }
  const auto add = [&block](const std::string& contender, uint32_t threads) {
    block.lines.push_back({contender, threads, std::vector<AesCell>(block.sizes.size())});
  };
  add("openssl", 1);
  const bool copies = std::any_of(block.sizes.begin(), block.sizes.end(), [](uint64_t s) { return s >= memcpy_from; });
  if (mode == STOCKADE_CTR && copies) add("memcpy", 1);
  for (const Candidate& candidate : candidates(operation, settings)) add(candidate.row, candidate.threads);
  return block;
}

std::string point_text(const AesBlock& block, uint64_t size) {
  std::string text = block.cipher.name + " " + block.operation + ", " + std::to_string(size) + " bytes";
  return block.streams > 1 ? text + " x " + std::to_string(block.streams) : text;
}

}  // namespace

void run_aes(const AesSettings& settings, const std::function<void(const std::string&)>& on_point,
             const std::function<void(const AesBlock&)>& on_block) {
  uint64_t largest = 16;
  for (const uint64_t size : settings.sizes) {
    largest = std::max({largest, size, size <= many_limit ? span(size, many_streams) : 0});
  }
  Workspace space(largest);
  for (const AesCipher& cipher : settings.ciphers) {
    for (const Operation& operation : operations(cipher)) {
      AesBlock block = make_block(operation, settings);
      for (size_t column = 0; column < block.sizes.size(); ++column) {
        on_point(point_text(block, block.sizes[column]));
        measure_column(operation, settings, space, block, column);
      }
      on_block(block);
    }
  }
}

}  // namespace stockade::bench
