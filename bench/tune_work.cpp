#include "tune_work.h"

#include <fcntl.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <optional>
#include <stdexcept>
#include <string>

#include "bignum/bignum_variants.h"
#include "capi/handles.h"
#include "cipher/chunk_span.h"
#include "config/environment.h"
#include "gpu_questions.h"
#include "handles.h"
#include "tune/profile_in_force.h"
#include "turns.h"

namespace stockade::bench {
namespace {

using tune::Choice;
using tune::Operation;
using tune::Runner;

constexpr uint64_t least_length = 64;
// Below this, output goes nowhere but into caches.
constexpr uint64_t streams_from = uint64_t{1} << 20;
// Above this, most of it is in no cache when it is read.
constexpr uint64_t large = uint64_t{16} << 20;

// 2, 4, 8 and so on, and all.
std::vector<uint32_t> worker_counts(uint32_t threads) {
  std::vector<uint32_t> counts;
  for (uint32_t count = 2; count < threads; count *= 2) counts.push_back(count);
  if (threads > 1) counts.push_back(threads);
  return counts;
}

Choice one_thread() {
  Choice choice;
  choice.runner = Runner::serial;
  return choice;
}

Choice many_threads(uint32_t workers, uint32_t threads) {
  Choice choice;
  choice.runner = Runner::threads;
  choice.workers = workers == threads ? tune::all_workers : workers;
  return choice;
}

std::vector<Choice> with_stores(const std::vector<Choice>& choices, uint64_t length) {
  std::vector<Choice> all;
  std::vector<tune::Stores> ways{tune::Stores::ordinary, tune::Stores::streaming};
  // What pushes everything else out of the last cache is not the more modest way.
  if (length > large) std::reverse(ways.begin(), ways.end());
  for (const auto stores : ways) {
    if (stores == tune::Stores::streaming && length < streams_from) continue;
    for (Choice choice : choices) {
      choice.stores = stores;
      all.push_back(choice);
    }
  }
  // One thread first, however it stores.
  std::stable_sort(all.begin(), all.end(), [](const Choice& a, const Choice& b) { return a.workers < b.workers; });
  return all;
}

std::vector<Choice> one_thread_and_many(uint32_t threads) {
  std::vector<Choice> choices{one_thread()};
  for (const uint32_t workers : worker_counts(threads)) choices.push_back(many_threads(workers, threads));
  return choices;
}

// Plans as one row says, or as the profile in force does.
class Planned : public TuneWork {
 public:
  Planned(const TuneSettings& settings, Operation operation, uint32_t bits)
      : settings_(settings),
        operation_(operation),
        bits_(bits),
        automatic_(make_engine("auto", settings.threads)),
        serial_(make_engine("serial", 1)) {}

  bool automatic_is_alone(uint64_t length) const final {
    const bool asked = !length_in_bytes() || length >= tune::least_split;
    const tune::Entry* const row = asked ? tune::find(operation_, bits_, length) : nullptr;
    if (row != nullptr && row->choice.runner != Runner::unsaid) return row->choice.runner == Runner::serial;
    return length_in_bytes() && length < tune::fall_back.share;
  }

  void run(uint64_t length, const Choice* choice, uint64_t times) final {
    if (choice == nullptr) return repeat(length, automatic_.get(), times);
    const bool serial = choice->runner == Runner::serial;
    // No plan asks the profile about less.
    if (length_in_bytes() && length < tune::least_split) return repeat(length, engine_for(*choice), times);
    row_.set(operation_, bits_, *choice);
    const tune::ScopedProfile scoped(row_.profile());
    // An automatic engine would rest now and then from a team that has lost time to other programs.
    repeat(length, serial ? automatic_.get() : engine_for(*choice), times);
  }

 protected:
  virtual void once(uint64_t length, const stockade_engine* engine) = 0;
  virtual bool length_in_bytes() const { return true; }
  const TuneSettings& settings() const { return settings_; }
  uint32_t bits() const { return bits_; }
  Operation operation() const { return operation_; }

 private:
  void repeat(uint64_t length, const stockade_engine* engine, uint64_t times) {
    for (; times > 0; --times) once(length, engine);
  }
  const stockade_engine* engine_for(const Choice& choice) {
    if (choice.runner == Runner::serial) return serial_.get();
    const uint32_t workers = choice.workers;
    if (workers != team_workers_)
      team_ = make_engine("threads", workers == tune::all_workers ? settings_.threads : workers);
    team_workers_ = workers;
    return team_.get();
  }

  const TuneSettings& settings_;
  const Operation operation_;
  const uint32_t bits_;
  const Engine automatic_, serial_;
  Engine team_;
  uint32_t team_workers_ = 0;
  OneRow row_;
};

// Memory for input and output, of the longest message.
struct Room {
  explicit Room(uint64_t bytes, uint64_t more = 0) : in(bytes), out(bytes + more) {
    fill(in.data(), bytes, 0x70E);
    fill(key, sizeof key, 1);
    fill(iv, sizeof iv, 2);
  }
  Buffer in, out;
  uint8_t key[64], iv[16], tag[16] = {};
};

class OfBytes : public Planned {
 public:
  using Planned::Planned;
  std::vector<uint64_t> lengths() const override { return tune_grid(least_length, settings().largest, 4); }
  std::vector<uint64_t> other_lengths() const override { return tune_off_grid(least_length, settings().largest, 4); }
  std::vector<Choice> candidates(uint64_t length) const override {
    // A message is cut at multiples of 256 bytes.
    const bool can_be_cut = length >= 512;
    const std::vector<Choice> choices = one_thread_and_many(can_be_cut ? settings().threads : 1);
    return length < tune::least_split ? choices : with_stores(choices, length);
  }
  void prepare(uint64_t) override {
    if (!room_) room_.emplace(settings().largest, settings().largest / 64);
  }

 protected:
  Room& room() { return *room_; }

 private:
  std::optional<Room> room_;
};

class Message : public OfBytes {
 public:
  Message(const TuneSettings& settings, Operation operation, uint32_t bits) : OfBytes(settings, operation, bits) {}
  void prepare(uint64_t length) override {
    OfBytes::prepare(length);
    if (!key_) key_ = make_cipher_key({std::string(name_of(operation())), mode(), bits()}, room().key);
  }

 protected:
  void once(uint64_t length, const stockade_engine* engine) override {
    Room& at = room();
    if (mode() == STOCKADE_GCM) {
      check(stockade_seal(key_.get(), at.iv, 12, nullptr, 0, at.in.data(), length, at.out.data(), at.tag, 16, engine),
            "seal");
    } else if (mode() == STOCKADE_XTS && length > xts_unit) {
      check(stockade_encrypt_units(key_.get(), at.iv, 16, xts_unit, at.in.data(), length, at.out.data(), engine),
            "encrypt");
    } else {
      const bool decrypts = mode() == STOCKADE_CBC || mode() == STOCKADE_CFB;
      const uint64_t iv_length = mode() == STOCKADE_ECB ? 0 : 16;
      check((decrypts ? stockade_decrypt : stockade_encrypt)(key_.get(), at.iv, iv_length, at.in.data(), length,
                                                             at.out.data(), engine),
            "encrypt");
    }
  }

 private:
  stockade_mode mode() const {
    switch (operation()) {
      case Operation::ecb:
        return STOCKADE_ECB;
      case Operation::cbc:
        return STOCKADE_CBC;
      case Operation::cfb:
        return STOCKADE_CFB;
      case Operation::xts:
        return STOCKADE_XTS;
      case Operation::gcm:
        return STOCKADE_GCM;
      default:
        return STOCKADE_CTR;
    }
  }
  Key key_;
};

// Chunks of a payload.
class Chunks : public OfBytes {
 public:
  using OfBytes::OfBytes;
  std::vector<uint64_t> lengths() const override { return tune_grid(tune::least_split, settings().largest, 4); }
  std::vector<uint64_t> other_lengths() const override {
    return tune_off_grid(tune::least_split, settings().largest, 4);
  }
  void prepare(uint64_t length) override {
    OfBytes::prepare(length);
    if (made_) return;
    const auto cipher = bits() == 128 ? STOCKADE_COBBLESTONE_128 : STOCKADE_COBBLESTONE_256;
    const uint8_t salt[chunked::salt_bytes] = {1, 2, 3};
    check(chunked::derive_payload_key(*key_, cipher, {room().key, chunked::input_key_bytes(cipher)},
                                      {salt, sizeof salt}, {}),
          "a payload's key");
    made_ = true;
  }

 protected:
  void once(uint64_t length, const stockade_engine* engine) override {
    const cipher::ChunkSpan span{0, room().in.data(), length, true, room().out.data()};
    check(cipher::seal_span(engine->wish, *key_, span), "chunks");
  }

 private:
  Secret<chunked::PayloadKey> key_;
  bool made_ = false;
};

// Many messages of 1 KiB; the length is what they cost together.
class Messages : public OfBytes {
 public:
  using OfBytes::OfBytes;
  std::vector<uint64_t> lengths() const override { return tune_grid(tune::least_split, most(), 4); }
  std::vector<uint64_t> other_lengths() const override { return tune_off_grid(tune::least_split, most(), 4); }
  std::vector<Choice> candidates(uint64_t) const override { return one_thread_and_many(settings().threads); }
  void prepare(uint64_t length) override {
    OfBytes::prepare(length);
    if (!key_) key_ = make_cipher_key({"gcm", STOCKADE_GCM, bits()}, room().key);
    const uint64_t count = length / cost_of_one;
    messages_.assign(count, {});
    tags_.assign(count * 16, 0);
    for (uint64_t i = 0; i < count; ++i) {
      messages_[i] = {key_.get(),
                      room().iv,
                      12,
                      nullptr,
                      0,
                      room().in.data() + i * size,
                      size,
                      room().out.data() + i * size,
                      tags_.data() + i * 16,
                      16,
                      STOCKADE_OK};
    }
  }
  double amount(uint64_t length) const override { return static_cast<double>(length / cost_of_one * size); }

 protected:
  void once(uint64_t, const stockade_engine* engine) override {
    check(stockade_encrypt_many(messages_.data(), messages_.size(), engine), "messages");
  }

 private:
  static constexpr uint64_t size = 1024, cost_of_one = size + 256;
  uint64_t most() const { return std::min<uint64_t>(settings().largest, uint64_t{64} << 20); }
  Key key_;
  std::vector<stockade_message> messages_;
  std::vector<uint8_t> tags_;
};

class Descriptor {
 public:
  Descriptor(const std::string& path, int flags) : fd_(open(path.c_str(), flags | O_CLOEXEC, 0600)) {
    if (fd_ < 0) throw std::runtime_error("cannot open '" + path + "': " + std::strerror(errno));
  }
  ~Descriptor() { close(fd_); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }

 private:
  int fd_;
};

// From one file to another, both in the folder.
class Files : public OfBytes {
 public:
  Files(const TuneSettings& settings, Operation operation, uint32_t bits)
      : OfBytes(settings, operation, bits), room_(room_in(settings.folder)) {
    stockade_keyring* keyring = nullptr;
    check(stockade_keyring_create(&keyring), "a keyring");
    keyring_.reset(keyring);
    const uint8_t key[32] = {0x74, 0x75, 0x6e, 0x65};
    check(stockade_keyring_add_key(keyring, key, sizeof key), "a keyring");
    format_.struct_size = sizeof format_;
    format_.keyring = keyring;
  }
  std::vector<uint64_t> lengths() const override {
    return most() < tune::least_split ? std::vector<uint64_t>{} : tune_grid(tune::least_split, most(), 4);
  }
  std::vector<uint64_t> other_lengths() const override { return tune_off_grid(tune::least_split, most(), 4); }
  std::vector<Choice> candidates(uint64_t length) const override {
    std::vector<Choice> all;
    for (const uint8_t batch : {uint8_t{1}, uint8_t{2}, uint8_t{4}}) {
      // A run has 256 KiB.
      if (batch > 1 && length < uint64_t{batch} << 20) continue;
      for (Choice choice : one_thread_and_many(settings().threads)) {
        choice.batch = batch;
        all.push_back(choice);
      }
    }
    std::stable_sort(all.begin(), all.end(), [](const Choice& a, const Choice& b) { return a.workers < b.workers; });
    return all;
  }
  void prepare(uint64_t length) override {
    OfBytes::prepare(length);
    const Descriptor file(in(), O_WRONLY | O_CREAT | O_TRUNC);
    for (uint64_t done = 0; done < length;) {
      const ssize_t written = write(file.get(), room().in.data() + done, length - done);
      if (written <= 0) throw std::runtime_error("cannot write '" + in() + "': " + std::strerror(errno));
      done += static_cast<uint64_t>(written);
    }
  }

 protected:
  void once(uint64_t, const stockade_engine* engine) override {
    const Descriptor from(in(), O_RDONLY), to(settings().folder + "/out", O_RDWR | O_CREAT | O_TRUNC);
    stockade_file_job job = {};
    job.struct_size = sizeof job;
    check(stockade_file_encrypt_fd(from.get(), to.get(), &format_, &job, engine), "a file");
  }

 private:
  std::string in() const { return settings().folder + "/in"; }
  // Beyond that a file system's own work is what is measured.
  uint64_t most() const { return std::min({settings().largest, uint64_t{256} << 20, room_}); }
  // For input and output, and for what others write meanwhile: a container's /dev/shm may have 64 MiB in all.
  static uint64_t room_in(const std::string& folder) {
    struct statvfs facts;
    if (statvfs(folder.c_str(), &facts) != 0) return 0;
    return std::bit_floor(uint64_t{facts.f_bavail} * facts.f_frsize / 3);
  }
  const uint64_t room_;
  Keyring keyring_;
  stockade_format format_ = {};
};

class Rsa : public Planned {
 public:
  Rsa(const TuneSettings& settings, Operation operation, uint32_t bits) : Planned(settings, operation, bits) {}
  // Lanes are full or not, workers have the same or not: few operations have no rule but one for each number.
  std::vector<uint64_t> lengths() const override {
    std::vector<uint64_t> lengths;
    for (uint64_t count = 1; count <= most(); count += count < 9 ? 1 : count < 12 ? 3 : std::bit_floor(count) / 2)
      lengths.push_back(count);
    return lengths;
  }
  std::vector<uint64_t> other_lengths() const override {
    std::vector<uint64_t> lengths;
    for (uint64_t count = 17; count < most(); count = count * 5 / 3) lengths.push_back(count);
    if (lengths.empty()) lengths = {3, 5, 11};
    return lengths;
  }
  std::vector<Choice> candidates(uint64_t count) const override {
    if (operation() == Operation::rsa_public) return one_thread_and_many(settings().threads);
    std::vector<Choice> all;
    for (const bignum::Variant& row : bignum::variants()) {
      if (!row.automatic || (row.needs & ~config::environment().usable) != 0) continue;
      for (Choice choice : one_thread_and_many(settings().threads)) {
        std::strncpy(choice.row, row.name, sizeof choice.row - 1);
        choice.layers = tune::Layers::together;
        if (count > 1 || choice.runner == Runner::serial) all.push_back(choice);
        if (choice.workers != tune::all_workers || 2 * count > settings().threads) continue;
        choice.layers = tune::Layers::halves;
        all.push_back(choice);
      }
    }
    std::stable_sort(all.begin(), all.end(), [](const Choice& a, const Choice& b) { return a.workers < b.workers; });
    return all;
  }
  void prepare(uint64_t count) override {
    if (!key_) make();
    items_.assign(count, {});
    for (uint64_t i = 0; i < count; ++i) {
      items_[i].key = key_.get();
      items_[i].in = digests_.data() + i * digest_bytes;
      items_[i].length = digest_bytes;
      if (operation() == Operation::rsa_private) {
        items_[i].out = signatures_.data() + i * bytes();
        items_[i].out_size = bytes();
      } else {
        items_[i].signature = signatures_.data() + i * bytes();
        items_[i].signature_length = bytes();
      }
    }
  }
  double amount(uint64_t count) const override { return static_cast<double>(count); }
  bool begins() const override { return false; }
  double near_enough() const override { return 1; }

 protected:
  void once(uint64_t count, const stockade_engine* engine) override {
    const auto call = operation() == Operation::rsa_private ? stockade_rsa_sign_many : stockade_rsa_verify_many;
    check(call(items_.data(), count, &options_, engine), "RSA");
  }
  bool length_in_bytes() const override { return false; }

 private:
  static constexpr uint64_t digest_bytes = 32;
  uint64_t bytes() const { return bits() / 8; }
  uint64_t most() const {
    const uint64_t most = bits() <= 2048 ? 64 : 16;
    return settings().full ? 4 * most : most;
  }
  void make() {
    options_.struct_size = sizeof options_;
    options_.padding = STOCKADE_RSA_PKCS1V15;
    stockade_rsa_key* key = nullptr;
    check(stockade_rsa_key_generate(&key, bits(), 0, nullptr), "a key");
    key_.reset(key);
    digests_.resize(most() * digest_bytes);
    fill(digests_.data(), digests_.size(), bits());
    signatures_.resize(most() * bytes());
    if (operation() == Operation::rsa_private) return;
    for (uint64_t i = 0; i < most(); ++i) {
      stockade_rsa_item item{};
      item.key = key;
      item.in = digests_.data() + i * digest_bytes;
      item.length = digest_bytes;
      item.out = signatures_.data() + i * bytes();
      item.out_size = bytes();
      check(stockade_rsa_sign_many(&item, 1, &options_, nullptr), "a signature");
    }
  }

  RsaKey key_;
  stockade_rsa_options options_ = {};
  std::vector<uint8_t> digests_, signatures_;
  std::vector<stockade_rsa_item> items_;
};

}  // namespace

OneRow::OneRow(const char* gpu) : profile_(std::make_unique<tune::Profile>()) {
  std::strncpy(profile_->gpu, gpu, sizeof profile_->gpu - 1);
  std::strcpy(profile_->name, "measurement");
  profile_->entries = profile_->groups = 1;
}

void OneRow::set(Operation operation, uint32_t bits, const Choice& choice) {
  profile_->entry[0] = {operation, bits, 0, choice, 1, 1};
  profile_->group[0] = {operation, bits, 0, 1};
}

std::vector<uint64_t> tune_grid(uint64_t least, uint64_t most, uint64_t factor) {
  std::vector<uint64_t> lengths;
  for (uint64_t length = least; length < most; length *= factor) lengths.push_back(length);
  lengths.push_back(most);
  return lengths;
}

std::vector<uint64_t> tune_off_grid(uint64_t least, uint64_t most, uint64_t factor) {
  std::vector<uint64_t> lengths;
  // Whole blocks, which every mode can do. 35 KB and 150 KB: pages of the web, without pictures and with them.
  for (const uint64_t page : {35'008, 150'000}) {
    if (page > least && page < most) lengths.push_back(page);
  }
  for (uint64_t length = least; length * factor <= most; length *= factor) {
    lengths.push_back(length * 13 / 8 / 16 * 16);
    lengths.push_back(length * 23 / 8 / 16 * 16);
  }
  std::sort(lengths.begin(), lengths.end());
  return lengths;
}

std::vector<uint32_t> tune_bits(const TuneSettings& settings, Operation operation) {
  switch (operation) {
    case Operation::ecb:
    case Operation::cbc:
    case Operation::cfb:
    case Operation::gpu_cbc:
    case Operation::gpu_cfb:
      // The rows of counter mode do, on GPUs those of ECB.
      if (!settings.full && !settings.by_name) return {};
      break;
    case Operation::rsa_private:
    case Operation::rsa_public:
      return settings.full ? std::vector<uint32_t>{2048, 3072, 4096} : std::vector<uint32_t>{2048, 4096};
    case Operation::files:
    case Operation::messages:
    case Operation::gpu_pinned:
    case Operation::gpu_staged:
      return {256};
    case Operation::chunks:
      if (!settings.full && !settings.by_name) return {256};
      break;
    default:
      break;
  }
  return settings.full ? std::vector<uint32_t>{128, 192, 256} : std::vector<uint32_t>{128, 256};
}

std::unique_ptr<TuneWork> make_tune_work(const TuneSettings& settings, Operation operation, uint32_t bits) {
  if (tune::on_gpu(operation)) return make_gpu_tune_work(settings, operation, bits);
  switch (operation) {
    case Operation::chunks:
      return std::make_unique<Chunks>(settings, operation, bits);
    case Operation::messages:
      return std::make_unique<Messages>(settings, operation, bits);
    case Operation::files:
      if (settings.folder.empty()) return nullptr;
      return std::make_unique<Files>(settings, operation, bits);
    case Operation::rsa_private:
    case Operation::rsa_public:
      return std::make_unique<Rsa>(settings, operation, bits);
    default:
      return std::make_unique<Message>(settings, operation, bits);
  }
}

}  // namespace stockade::bench
