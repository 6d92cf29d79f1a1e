// stockade.h: RSA keys, operations one by one and many at once, and the queue for requests as they come.
#include <algorithm>
#include <cstring>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/forks.h"
#include "base/random.h"
#include "base/secret.h"
#include "bignum/bignum_variants.h"
#include "bignum/integer.h"
#include "capi/arguments.h"
#include "capi/rsa_reading.h"
#include "libcrypto/hash.h"
#include "rsa/batch.h"
#include "rsa/generate.h"
#include "rsa/key_files.h"
#include "rsa/request_queue.h"
#include "stockade/stockade.h"

namespace libcrypto = stockade::libcrypto;
namespace rsa = stockade::rsa;

struct stockade_rsa_key {
  std::unique_ptr<rsa::PrivateKey> private_key;  // null: public
  rsa::PublicKey public_key;                     // of a public one

  const rsa::PublicKey& public_half() const { return private_key ? private_key->public_key() : public_key; }
};

namespace {

using namespace stockade::capi;  // NOLINT(google-build-using-namespace): this folder's own
using stockade::Bytes;
using stockade::SecretBuffer;
using stockade::Status;
using stockade::system_random;
using stockade::config::EngineChoice;

// ---- keys ----

// Calls body(row, key) and hands the key out if that is OK.
template <typename Body>
Status make_key(stockade_rsa_key** key, const char* force, Body&& body) {
  const stockade::bignum::Variant* row = nullptr;
  if (const Status status = choose_row(force, &row); status != STOCKADE_OK) return status;
  return guarded([&] {
    auto made = std::make_unique<stockade_rsa_key>();
    const Status status = body(row, *made);
    if (status != STOCKADE_OK) return status;
    const bool forced = force != nullptr || !stockade::config::environment().bignum_row.empty();
    if (made->private_key && !forced) made->private_key->allow_any_row();
    *key = made.release();
    return status;
  });
}

// Calls read(row, key, type), which fills the key and may name its type.
template <typename Read>
Status read_key(stockade_rsa_key** key, const void* file, uint64_t length, stockade_rsa_reading* reading, Read&& read) {
  if (key == nullptr || missing(file, length)) return STOCKADE_ERROR_NULL_POINTER;
  if (const Status status = check_reading(reading); status != STOCKADE_OK) return status;
  if (reading != nullptr) std::memset(reading->type, 0, sizeof reading->type);
  return make_key(key, reading == nullptr ? nullptr : reading->force,
                  [&](const stockade::bignum::Variant* row, stockade_rsa_key& made) {
                    std::string type;
                    const Status status = read(row, made, type);
                    if (status == STOCKADE_ERROR_KEY_TYPE && reading != nullptr) {
                      type.copy(reading->type, sizeof reading->type - 1);
                    }
                    return status;
                  });
}

Status put_file(Bytes content, void* out, uint64_t size, uint64_t* length) {
  if (size < content.size()) return STOCKADE_ERROR_OUTPUT_SIZE;
  std::memcpy(out, content.data(), content.size());
  *length = content.size();
  return STOCKADE_OK;
}

// ---- padding ----

// What stockade_rsa_options say.
struct Padding {
  rsa::SignaturePadding signature;
  rsa::Oaep oaep;
  libcrypto::Hash hash = libcrypto::Hash::sha256;
};

bool valid(const stockade_rsa_padding& padding) { return number(padding) <= STOCKADE_RSA_PKCS1V15; }
bool valid(const stockade_rsa_salt& salt) { return number(salt) <= STOCKADE_RSA_SALT_ANY; }

// Left as it is without a name.
Status find_hash(const char* name, libcrypto::Hash& hash) {
  return name == nullptr ? STOCKADE_OK : libcrypto::find_hash(name, hash);
}

rsa::SaltLength salt_of(const stockade_rsa_options& options) {
  using Kind = rsa::SaltLength::Kind;
  constexpr Kind kinds[] = {Kind::digest, Kind::most, Kind::given, Kind::any};
  return {kinds[options.salt], options.salt_length};
}

Status read_options(const stockade_rsa_options* options, Padding& read) {
  if (options == nullptr) return STOCKADE_OK;
  if (options->struct_size != sizeof *options || !valid(options->padding) || !valid(options->salt)) {
    return STOCKADE_ERROR_ARGUMENT;
  }
  if (missing(options->label, options->label_length)) return STOCKADE_ERROR_NULL_POINTER;
  Status status = find_hash(options->hash, read.hash);
  libcrypto::Hash mask_hash = read.hash;
  if (status == STOCKADE_OK) status = find_hash(options->mask_hash, mask_hash);
  if (status != STOCKADE_OK) return status;
  read.oaep = {read.hash, mask_hash, {bytes(options->label), options->label_length}};
  if (options->padding == STOCKADE_RSA_PSS) {
    read.signature = rsa::Pss{read.hash, mask_hash, salt_of(*options)};
  } else {
    read.signature = rsa::Pkcs1{read.hash};
  }
  return STOCKADE_OK;
}

// ---- items ----

enum class Work : uint32_t { sign, verify, encrypt, decrypt };

using Items = std::span<stockade_rsa_item* const>;

// Two buffers of one item: the same, or apart.
Status check_overlap(const stockade_rsa_item& item) {
  if (item.in == item.out) return STOCKADE_OK;
  return stockade::ranges_overlap(item.in, item.length, item.out, item.out_size) ? STOCKADE_ERROR_OVERLAP : STOCKADE_OK;
}

Status check_room(Work work, const Padding& padding, const stockade_rsa_item& item) {
  const rsa::PublicKey& key = item.key->public_half();
  uint64_t room = key.bytes();
  if (work == Work::encrypt && key.bits() < rsa::least_bits) return STOCKADE_ERROR_RSA_SIZE;
  if (work == Work::decrypt) {
    const int64_t capacity = rsa::oaep_capacity(padding.oaep, key.bytes());
    if (capacity < 0) return STOCKADE_ERROR_MESSAGE_LENGTH;
    room = static_cast<uint64_t>(capacity);
  }
  return item.out_size < room ? STOCKADE_ERROR_OUTPUT_SIZE : STOCKADE_OK;
}

// What can be told before anything is computed.
Status check_item(Work work, const Padding& padding, const stockade_rsa_item& item) {
  if (item.key == nullptr || missing(item.in, item.length)) return STOCKADE_ERROR_NULL_POINTER;
  if (work == Work::verify) {
    return missing(item.signature, item.signature_length) ? STOCKADE_ERROR_NULL_POINTER : STOCKADE_OK;
  }
  if (missing(item.out, item.out_size)) return STOCKADE_ERROR_NULL_POINTER;
  if ((work == Work::sign || work == Work::decrypt) && !item.key->private_key) return STOCKADE_ERROR_KEY_NOT_PRIVATE;
  const Status status = check_room(work, padding, item);
  return status == STOCKADE_OK ? check_overlap(item) : status;
}

Bytes input_of(const stockade_rsa_item& item) { return {bytes(item.in), item.length}; }
std::span<uint8_t> output_of(const stockade_rsa_item& item) {
  const uint64_t most = item.key->public_half().bytes();
  return {bytes(item.out), std::min(item.out_size, most)};
}

// Calls run(batch) for what describe(item) says of each, and takes the outcomes over; length_of(operation) is that of
// the output where there is one.
template <typename Describe, typename Run, typename LengthOf>
void run_described(Items items, Describe describe, Run run, LengthOf length_of) {
  using Operation = decltype(describe(*items[0]));
  std::vector<Operation> batch;
  batch.reserve(items.size());
  for (const stockade_rsa_item* const item : items) batch.push_back(describe(*item));
  run(std::span<Operation>(batch));
  for (size_t i = 0; i < items.size(); ++i) {
    items[i]->status = batch[i].status;
    items[i]->out_length = batch[i].status == STOCKADE_OK ? length_of(batch[i]) : 0;
  }
}

// The items have been checked.
void sign_items(const Padding& padding, Items items, const EngineChoice& engine) {
  run_described(
      items,
      [](const stockade_rsa_item& item) {
        return rsa::Signing{item.key->private_key.get(), input_of(item), output_of(item)};
      },
      [&](std::span<rsa::Signing> batch) { sign_many(engine, padding.signature, batch, system_random()); },
      [](const rsa::Signing& done) { return done.key->public_key().bytes(); });
}

void verify_items(const Padding& padding, Items items, const EngineChoice& engine) {
  run_described(
      items,
      [](const stockade_rsa_item& item) {
        const Bytes signature = {bytes(item.signature), item.signature_length};
        return rsa::Verification{&item.key->public_half(), input_of(item), signature};
      },
      [&](std::span<rsa::Verification> batch) { verify_many(engine, padding.signature, batch); },
      [](const rsa::Verification&) { return uint64_t{0}; });
}

void encrypt_items(const Padding& padding, Items items, const EngineChoice& engine) {
  run_described(
      items,
      [](const stockade_rsa_item& item) {
        return rsa::Encryption{&item.key->public_half(), input_of(item), output_of(item)};
      },
      [&](std::span<rsa::Encryption> batch) { encrypt_many(engine, padding.oaep, batch, system_random()); },
      [](const rsa::Encryption& done) { return done.key->bytes(); });
}

void decrypt_items(const Padding& padding, Items items, const EngineChoice& engine) {
  run_described(
      items,
      [](const stockade_rsa_item& item) {
        return rsa::Decryption{item.key->private_key.get(), input_of(item), output_of(item)};
      },
      [&](std::span<rsa::Decryption> batch) { decrypt_many(engine, padding.oaep, batch, system_random()); },
      [](const rsa::Decryption& done) { return done.length; });
}

void run_items(Work work, const Padding& padding, Items items, const EngineChoice& engine) {
  constexpr decltype(&sign_items) functions[] = {sign_items, verify_items, encrypt_items, decrypt_items};
  functions[static_cast<uint32_t>(work)](padding, items, engine);
}

// Checks the items and runs those that pass.
template <typename ItemAt>
Status run_all(Work work, const Padding& padding, uint64_t count, ItemAt item_at, const EngineChoice& engine) {
  const auto status_of_all = [&] {
    for (uint64_t i = 0; i < count; ++i) {
      if (item_at(i)->status != STOCKADE_OK) return item_at(i)->status;
    }
    return STOCKADE_OK;
  };
  const Status status = guarded([&] {
    std::vector<stockade_rsa_item*> good;
    good.reserve(count);
    for (uint64_t i = 0; i < count; ++i) {
      stockade_rsa_item* const item = item_at(i);
      item->out_length = 0;
      item->status = check_item(work, padding, *item);
      if (item->status == STOCKADE_OK) good.push_back(item);
    }
    run_items(work, padding, good, engine);
    return STOCKADE_OK;
  });
  if (status == STOCKADE_OK) return status_of_all();
  for (uint64_t i = 0; i < count; ++i) {
    item_at(i)->status = status;
    item_at(i)->out_length = 0;
  }
  return status;
}

Status run_many(Work work, stockade_rsa_item* items, uint64_t count, const stockade_rsa_options* options,
                const stockade_engine* handle) {
  if (missing(items, count)) return STOCKADE_ERROR_NULL_POINTER;
  if (impossible(count, sizeof *items)) return STOCKADE_ERROR_ARGUMENT;
  Padding padding;
  const EngineChoice* engine = nullptr;
  Status status = read_options(options, padding);
  if (status == STOCKADE_OK) status = resolve(handle, &engine);
  if (status != STOCKADE_OK) return status;
  return run_all(
      work, padding, count, [&](uint64_t i) { return items + i; }, *engine);
}

Status run_one(Work work, stockade_rsa_item item, const stockade_rsa_options* options, uint64_t* out_length,
               const stockade_engine* engine) {
  if (out_length == nullptr) return STOCKADE_ERROR_NULL_POINTER;
  const Status status = run_many(work, &item, 1, options, engine);
  if (status == STOCKADE_OK || work == Work::decrypt) *out_length = item.out_length;
  return status;
}

// Calls body(digest) with the digest of a message.
template <typename Body>
Status with_digest(const stockade_rsa_options* options, const void* message, uint64_t length, Body&& body) {
  if (missing(message, length)) return STOCKADE_ERROR_NULL_POINTER;
  Padding padding;
  if (const Status status = read_options(options, padding); status != STOCKADE_OK) return status;
  uint8_t digest[libcrypto::most_digest_bytes];
  const Bytes parts[] = {{bytes(message), length}};
  const Status status = guarded([&] { return libcrypto::hash_parts(padding.hash, parts, digest); });
  return status == STOCKADE_OK ? body(Bytes(digest, libcrypto::digest_bytes(padding.hash))) : status;
}

// Calls make(hash, digest) for a digest that is handed out.
template <typename Make>
Status put_digest(const char* name, void* digest, uint64_t size, uint64_t* length, Make&& make) {
  if (missing(digest, size) || length == nullptr) return STOCKADE_ERROR_NULL_POINTER;
  libcrypto::Hash hash = libcrypto::Hash::sha256;
  if (const Status status = find_hash(name, hash); status != STOCKADE_OK) return status;
  if (size < libcrypto::digest_bytes(hash)) return STOCKADE_ERROR_OUTPUT_SIZE;
  uint8_t made[libcrypto::most_digest_bytes];
  const Status status = guarded([&] { return make(hash, made); });
  return status == STOCKADE_OK ? put_file({made, libcrypto::digest_bytes(hash)}, digest, size, length) : status;
}

// ---- bare numbers ----

template <typename Operation, typename Key, typename Run>
Status run_raw(const Key* key, uint64_t key_bytes, const void* in, uint64_t length, void* out, uint64_t out_size,
               const stockade_engine* handle, Run&& run) {
  if (missing(in, length) || missing(out, out_size)) return STOCKADE_ERROR_NULL_POINTER;
  if (in != out && stockade::ranges_overlap(in, length, out, out_size)) return STOCKADE_ERROR_OVERLAP;
  if (out_size < key_bytes) return STOCKADE_ERROR_OUTPUT_SIZE;
  const EngineChoice* engine = nullptr;
  if (const Status status = resolve(handle, &engine); status != STOCKADE_OK) return status;
  Operation operation{key, {bytes(in), length}, {bytes(out), key_bytes}};
  return guarded([&] { return run(*engine, std::span<Operation>(&operation, 1)); });
}

}  // namespace

// ---- the queue ----

struct stockade_rsa_queue {
  struct Item : rsa::Request {
    stockade_rsa_item* item;
    Work work;
    stockade_rsa_done on_done;
    void* context;
  };

  Padding padding;
  std::vector<uint8_t> label;
  uint32_t threads = 1;
  const uint64_t process = stockade::process_number();  // whose threads compute: fork() copies none of them
  rsa::RequestQueue requests;                           // ends first, while the others are still there

  Status wait_for(Work work, stockade_rsa_item* item);
  Status submit(Work work, stockade_rsa_item* item, stockade_rsa_done done, void* context);
  void run(Work work, rsa::Request* const* batch, uint64_t count, const EngineChoice& engine);
};

namespace {

constexpr uint32_t usual_batch = 8, most_batch = 4096;
constexpr uint32_t longest_deadline_us = 10'000'000;

using Queue = stockade_rsa_queue;
using Item = Queue::Item;
using rsa::Request;
using rsa::RequestQueue;

// The queue has threads of its own, each of which computes whole batches. What is alone is done as soon as it can be:
// the other threads have nothing to do yet.
void run_batch(void* context, Request* const* batch, uint64_t count, bool alone) {
  using stockade::config::Kind;
  auto& queue = *static_cast<Queue*>(context);
  const EngineChoice engine = alone ? EngineChoice{Kind::automatic, queue.threads} : EngineChoice{Kind::serial, 1};
  for (const Work work : {Work::sign, Work::decrypt}) queue.run(work, batch, count, engine);
}

bool is_zero(const stockade_rsa_options& options) {
  const stockade_rsa_options zero = {};
  return std::memcmp(&options, &zero, sizeof zero) == 0;
}

Status read_queue_options(const stockade_rsa_queue_options* options, Queue& queue, RequestQueue::Limits& limits) {
  if (options == nullptr) return STOCKADE_OK;
  if (options->struct_size != sizeof *options || options->largest_batch > most_batch ||
      options->deadline_us > longest_deadline_us) {
    return STOCKADE_ERROR_ARGUMENT;
  }
  if (options->largest_batch != 0) limits.batch = options->largest_batch;
  limits.deadline = std::chrono::microseconds(options->deadline_us);
  if (is_zero(options->padding)) return STOCKADE_OK;
  const Status status = read_options(&options->padding, queue.padding);
  if (status != STOCKADE_OK) return status;
  const Bytes label = queue.padding.oaep.label;
  queue.label.assign(label.begin(), label.end());
  queue.padding.oaep.label = queue.label;
  return STOCKADE_OK;
}

}  // namespace

void stockade_rsa_queue::run(Work work, Request* const* batch, uint64_t count, const EngineChoice& engine) {
  const Status status = guarded([&] {
    std::vector<stockade_rsa_item*> items;
    items.reserve(count);
    for (uint64_t i = 0; i < count; ++i) {
      const auto& queued = *static_cast<const Item*>(batch[i]);
      if (queued.work == work) items.push_back(queued.item);
    }
    run_all(
        work, padding, items.size(), [&](uint64_t i) { return items[i]; }, engine);
    return STOCKADE_OK;
  });
  if (status == STOCKADE_OK) return;
  for (uint64_t i = 0; i < count; ++i) {
    const auto& queued = *static_cast<const Item*>(batch[i]);
    if (queued.work != work) continue;
    queued.item->status = status;
    queued.item->out_length = 0;
  }
}

Status stockade_rsa_queue::wait_for(Work work, stockade_rsa_item* item) {
  if (process != stockade::process_number()) return STOCKADE_ERROR_FORKED;
  Item queued{};
  queued.item = item;
  queued.work = work;
  const Status status = guarded([&] {
    requests.submit_and_wait(queued);
    return STOCKADE_OK;
  });
  return status == STOCKADE_OK ? item->status : status;
}

Status stockade_rsa_queue::submit(Work work, stockade_rsa_item* item, stockade_rsa_done done, void* context) {
  if (process != stockade::process_number()) return STOCKADE_ERROR_FORKED;
  auto* const queued = new (std::nothrow) Item{};
  if (queued == nullptr) return STOCKADE_ERROR_MEMORY;
  queued->item = item;
  queued->work = work;
  queued->on_done = done;
  queued->context = context;
  queued->done = [](Request& request) {
    const std::unique_ptr<Item> own(static_cast<Item*>(&request));
    // What it throws has nowhere to go: the thread is the queue's own.
    guarded([&] {
      own->on_done(own->context, own->item);
      return STOCKADE_OK;
    });
  };
  return guarded([&] {
    requests.submit(*queued);
    return STOCKADE_OK;
  });
}

extern "C" {

stockade_status stockade_rsa_key_read_public(stockade_rsa_key** key, const void* file, uint64_t length,
                                             stockade_rsa_reading* reading) {
  return read_key(key, file, length, reading, [&](const auto* row, stockade_rsa_key& made, std::string& type) {
    const bool legacy = reading != nullptr && reading->legacy != 0;
    const uint32_t fewest_bits = legacy ? rsa::legacy_least_bits : rsa::least_bits;
    return rsa::read_public_key({bytes(file), length}, fewest_bits, row, made.public_key, type);
  });
}

stockade_status stockade_rsa_key_read_private(stockade_rsa_key** key, const void* file, uint64_t length,
                                              stockade_rsa_reading* reading) {
  return read_key(key, file, length, reading, [&](const auto* row, stockade_rsa_key& made, std::string& type) {
    return rsa::read_private_key({bytes(file), length}, asking(reading), row, system_random(), made.private_key, type);
  });
}

stockade_status stockade_rsa_key_generate(stockade_rsa_key** key, uint32_t bits, uint32_t exponent, const char* force) {
  if (key == nullptr) return STOCKADE_ERROR_NULL_POINTER;
  return make_key(key, force, [&](const auto* row, stockade_rsa_key& made) {
    return rsa::generate_key(bits, exponent == 0 ? rsa::usual_exponent : exponent, row, system_random(),
                             made.private_key);
  });
}

stockade_status stockade_rsa_key_public(stockade_rsa_key** public_half, const stockade_rsa_key* key) {
  if (public_half == nullptr || key == nullptr) return STOCKADE_ERROR_NULL_POINTER;
  const rsa::PublicKey& from = key->public_half();
  return guarded([&] {
    std::vector<uint8_t> n(from.bytes()), e(rsa::most_exponent_bits / 8);
    stockade::bignum::to_bytes(from.modulus().value(), from.limbs(), n.data(), n.size());
    stockade::bignum::to_bytes(from.exponent(), rsa::most_exponent_limbs, e.data(), e.size());
    auto made = std::make_unique<stockade_rsa_key>();
    const Status status = rsa::PublicKey::make({n, e}, rsa::legacy_least_bits, from.row(), made->public_key);
    if (status == STOCKADE_OK) *public_half = made.release();
    return status;
  });
}

void stockade_rsa_key_free(stockade_rsa_key* key) { delete key; }

uint32_t stockade_rsa_key_bits(const stockade_rsa_key* key) { return key == nullptr ? 0 : key->public_half().bits(); }
uint64_t stockade_rsa_key_bytes(const stockade_rsa_key* key) { return key == nullptr ? 0 : key->public_half().bytes(); }
int stockade_rsa_key_is_private(const stockade_rsa_key* key) { return key != nullptr && key->private_key ? 1 : 0; }
const char* stockade_rsa_key_row(const stockade_rsa_key* key) {
  return key == nullptr ? "" : key->public_half().row()->name;
}

uint64_t stockade_rsa_key_file_bound(const stockade_rsa_key* key) {
  // A private key is less than five times as long as its modulus, a PEM file less than 1.4 times as long as what it
  // holds.
  return key == nullptr ? 0 : 7 * key->public_half().bytes() + 1024;
}

stockade_status stockade_rsa_key_write_private(const stockade_rsa_key* key, const void* passphrase,
                                               uint64_t passphrase_length, void* pem, uint64_t size, uint64_t* length) {
  if (key == nullptr || length == nullptr || missing(passphrase, passphrase_length) || missing(pem, size)) {
    return STOCKADE_ERROR_NULL_POINTER;
  }
  if (!key->private_key) return STOCKADE_ERROR_KEY_NOT_PRIVATE;
  const bool fits = passphrase_length != 0 && passphrase_length <= longest_passphrase;
  if (passphrase != nullptr && !fits) return STOCKADE_ERROR_ARGUMENT;
  return guarded([&] {
    SecretBuffer written;
    const Status status = passphrase == nullptr
                              ? rsa::write_private_key(*key->private_key, written)
                              : rsa::write_private_key(*key->private_key, {bytes(passphrase), passphrase_length},
                                                       system_random(), written);
    return status == STOCKADE_OK ? put_file({written.data(), written.size()}, pem, size, length) : status;
  });
}

stockade_status stockade_rsa_key_write_public(const stockade_rsa_key* key, void* pem, uint64_t size, uint64_t* length) {
  if (key == nullptr || length == nullptr || missing(pem, size)) return STOCKADE_ERROR_NULL_POINTER;
  return guarded([&] {
    std::string written;
    const Status status = rsa::write_public_key(key->public_half(), written);
    return status == STOCKADE_OK ? put_file(stockade::bytes_of(written), pem, size, length) : status;
  });
}

stockade_status stockade_digest(const char* hash, const void* message, uint64_t message_length, void* digest,
                                uint64_t size, uint64_t* length) {
  if (missing(message, message_length)) return STOCKADE_ERROR_NULL_POINTER;
  return put_digest(hash, digest, size, length, [&](libcrypto::Hash function, uint8_t* made) {
    const Bytes parts[] = {{bytes(message), message_length}};
    return libcrypto::hash_parts(function, parts, made);
  });
}

stockade_status stockade_digest_fd(const char* hash, int fd, void* digest, uint64_t size, uint64_t* length) {
  return put_digest(hash, digest, size, length,
                    [&](libcrypto::Hash function, uint8_t* made) { return libcrypto::hash_file(function, fd, made); });
}

stockade_status stockade_rsa_sign_digest(const stockade_rsa_key* key, const stockade_rsa_options* options,
                                         const void* digest, uint64_t digest_length, void* signature,
                                         uint64_t signature_size, uint64_t* signature_length,
                                         const stockade_engine* engine) {
  const stockade_rsa_item item = {key, digest, digest_length, signature, signature_size, 0, nullptr, 0, STOCKADE_OK};
  return run_one(Work::sign, item, options, signature_length, engine);
}

stockade_status stockade_rsa_sign(const stockade_rsa_key* key, const stockade_rsa_options* options, const void* message,
                                  uint64_t message_length, void* signature, uint64_t signature_size,
                                  uint64_t* signature_length, const stockade_engine* engine) {
  if (message != signature && stockade::ranges_overlap(message, message_length, signature, signature_size)) {
    return STOCKADE_ERROR_OVERLAP;
  }
  return with_digest(options, message, message_length, [&](Bytes digest) {
    return stockade_rsa_sign_digest(key, options, digest.data(), digest.size(), signature, signature_size,
                                    signature_length, engine);
  });
}

stockade_status stockade_rsa_verify_digest(const stockade_rsa_key* key, const stockade_rsa_options* options,
                                           const void* digest, uint64_t digest_length, const void* signature,
                                           uint64_t signature_length, const stockade_engine* engine) {
  stockade_rsa_item item = {key, digest, digest_length, nullptr, 0, 0, signature, signature_length, STOCKADE_OK};
  return run_many(Work::verify, &item, 1, options, engine);
}

stockade_status stockade_rsa_verify(const stockade_rsa_key* key, const stockade_rsa_options* options,
                                    const void* message, uint64_t message_length, const void* signature,
                                    uint64_t signature_length, const stockade_engine* engine) {
  return with_digest(options, message, message_length, [&](Bytes digest) {
    return stockade_rsa_verify_digest(key, options, digest.data(), digest.size(), signature, signature_length, engine);
  });
}

stockade_status stockade_rsa_capacity(const stockade_rsa_key* key, const stockade_rsa_options* options,
                                      uint64_t* length) {
  if (key == nullptr || length == nullptr) return STOCKADE_ERROR_NULL_POINTER;
  Padding padding;
  if (const Status status = read_options(options, padding); status != STOCKADE_OK) return status;
  const int64_t capacity = rsa::oaep_capacity(padding.oaep, key->public_half().bytes());
  if (capacity < 0) return STOCKADE_ERROR_MESSAGE_LENGTH;
  *length = static_cast<uint64_t>(capacity);
  return STOCKADE_OK;
}

stockade_status stockade_rsa_encrypt(const stockade_rsa_key* key, const stockade_rsa_options* options,
                                     const void* message, uint64_t message_length, void* out, uint64_t out_size,
                                     uint64_t* out_length, const stockade_engine* engine) {
  const stockade_rsa_item item = {key, message, message_length, out, out_size, 0, nullptr, 0, STOCKADE_OK};
  return run_one(Work::encrypt, item, options, out_length, engine);
}

stockade_status stockade_rsa_decrypt(const stockade_rsa_key* key, const stockade_rsa_options* options,
                                     const void* ciphertext, uint64_t ciphertext_length, void* out, uint64_t out_size,
                                     uint64_t* out_length, const stockade_engine* engine) {
  const stockade_rsa_item item = {key, ciphertext, ciphertext_length, out, out_size, 0, nullptr, 0, STOCKADE_OK};
  return run_one(Work::decrypt, item, options, out_length, engine);
}

stockade_status stockade_rsa_raw_public(const stockade_rsa_key* key, const void* in, uint64_t length, void* out,
                                        uint64_t out_size, const stockade_engine* engine) {
  if (key == nullptr) return STOCKADE_ERROR_NULL_POINTER;
  const rsa::PublicKey& half = key->public_half();
  return run_raw<rsa::PublicOperation>(
      &half, half.bytes(), in, length, out, out_size, engine,
      [](const EngineChoice& who, std::span<rsa::PublicOperation> one) { return rsa::run_public(who, one); });
}

stockade_status stockade_rsa_raw_private(const stockade_rsa_key* key, const void* in, uint64_t length, void* out,
                                         uint64_t out_size, const stockade_engine* engine) {
  if (key == nullptr) return STOCKADE_ERROR_NULL_POINTER;
  if (!key->private_key) return STOCKADE_ERROR_KEY_NOT_PRIVATE;
  return run_raw<rsa::PrivateOperation>(key->private_key.get(), key->public_half().bytes(), in, length, out, out_size,
                                        engine, [](const EngineChoice& who, std::span<rsa::PrivateOperation> one) {
                                          return rsa::run_private(who, one, system_random());
                                        });
}

stockade_status stockade_rsa_sign_many(stockade_rsa_item* items, uint64_t count, const stockade_rsa_options* options,
                                       const stockade_engine* engine) {
  return run_many(Work::sign, items, count, options, engine);
}

stockade_status stockade_rsa_verify_many(stockade_rsa_item* items, uint64_t count, const stockade_rsa_options* options,
                                         const stockade_engine* engine) {
  return run_many(Work::verify, items, count, options, engine);
}

stockade_status stockade_rsa_encrypt_many(stockade_rsa_item* items, uint64_t count, const stockade_rsa_options* options,
                                          const stockade_engine* engine) {
  return run_many(Work::encrypt, items, count, options, engine);
}

stockade_status stockade_rsa_decrypt_many(stockade_rsa_item* items, uint64_t count, const stockade_rsa_options* options,
                                          const stockade_engine* engine) {
  return run_many(Work::decrypt, items, count, options, engine);
}

stockade_status stockade_rsa_queue_create(stockade_rsa_queue** queue, const stockade_rsa_queue_options* options,
                                          const stockade_engine* engine) {
  if (queue == nullptr) return STOCKADE_ERROR_NULL_POINTER;
  const EngineChoice* who = nullptr;
  if (const Status status = resolve(engine, &who); status != STOCKADE_OK) return status;
  return guarded([&] {
    auto made = std::make_unique<stockade_rsa_queue>();
    made->threads = who->threads;
    RequestQueue::Limits limits{usual_batch, std::chrono::microseconds(0), who->threads};
    Status status = read_queue_options(options, *made, limits);
    if (status == STOCKADE_OK) status = made->requests.start(limits, run_batch, made.get());
    if (status == STOCKADE_OK) *queue = made.release();
    return status;
  });
}

void stockade_rsa_queue_free(stockade_rsa_queue* queue) {
  // In a child its threads cannot be waited for, and its lock may be held by one of them for ever. It holds no secret.
  if (queue != nullptr && queue->process == stockade::process_number()) delete queue;
}

stockade_status stockade_rsa_queue_sign(stockade_rsa_queue* queue, stockade_rsa_item* item) {
  return queue == nullptr || item == nullptr ? STOCKADE_ERROR_NULL_POINTER : queue->wait_for(Work::sign, item);
}

stockade_status stockade_rsa_queue_decrypt(stockade_rsa_queue* queue, stockade_rsa_item* item) {
  return queue == nullptr || item == nullptr ? STOCKADE_ERROR_NULL_POINTER : queue->wait_for(Work::decrypt, item);
}

stockade_status stockade_rsa_queue_submit_sign(stockade_rsa_queue* queue, stockade_rsa_item* item,
                                               stockade_rsa_done done, void* context) {
  if (queue == nullptr || item == nullptr || done == nullptr) return STOCKADE_ERROR_NULL_POINTER;
  return queue->submit(Work::sign, item, done, context);
}

stockade_status stockade_rsa_queue_submit_decrypt(stockade_rsa_queue* queue, stockade_rsa_item* item,
                                                  stockade_rsa_done done, void* context) {
  if (queue == nullptr || item == nullptr || done == nullptr) return STOCKADE_ERROR_NULL_POINTER;
  return queue->submit(Work::decrypt, item, done, context);
}

stockade_status stockade_rsa_queue_statistics_get(const stockade_rsa_queue* queue,
                                                  stockade_rsa_queue_statistics* statistics) {
  if (queue == nullptr || statistics == nullptr) return STOCKADE_ERROR_NULL_POINTER;
  if (queue->process != stockade::process_number()) return STOCKADE_ERROR_FORKED;
  return guarded([&] {
    const RequestQueue::Statistics found = queue->requests.statistics();
    *statistics = {found.requests, found.batches, found.largest_batch, static_cast<uint64_t>(found.median.count()),
                   static_cast<uint64_t>(found.p99.count())};
    return STOCKADE_OK;
  });
}

}  // extern "C"
