// stockade.h: Stockade files, in pieces, at any place, and as a whole.
#include <algorithm>
#include <atomic>
#include <cstring>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <vector>

#include "base/fault.h"
#include "base/random.h"
#include "base/secret.h"
#include "bignum/bignum_variants.h"
#include "capi/arguments.h"
#include "capi/file_arguments.h"
#include "capi/rsa_reading.h"
#include "chunked/payload.h"
#include "format/armor.h"
#include "format/fault_text.h"
#include "format/file_job.h"
#include "format/file_stream.h"
#include "format/header.h"
#include "format/reader.h"
#include "format/recipient.h"
#include "format/rekey.h"
#include "parallel/parallel_for.h"
#include "rsa/key_files.h"
#include "slices/resume.h"
#include "stockade/stockade.h"

namespace format = stockade::format;
namespace slices = stockade::slices;
namespace rsa = stockade::rsa;

struct stockade_file {
  format::FileStream stream;
};

struct stockade_reader {
  format::Reader reader;
};

struct stockade_header {
  format::Header header;
  uint64_t length;
  std::vector<std::string> arguments;  // of each stanza, with single spaces
};

namespace {

using namespace stockade::capi;  // NOLINT(google-build-using-namespace): this folder's own
using stockade::Bytes;
using stockade::Status;
using stockade::config::EngineChoice;

// Calls body(format, journal keyring, engine, job) for a job on descriptors.
template <typename Body>
Status with_job(const stockade_format* given, stockade_file_job* caller_job, const stockade_engine* handle,
                Body&& body) {
  if (caller_job == nullptr) return STOCKADE_ERROR_NULL_POINTER;
  Extended job(*caller_job, offsetof(stockade_file_job, accept_changed_input));
  if (!job.valid()) return STOCKADE_ERROR_ARGUMENT;
  format::FileFormat read;
  const EngineChoice* engine = nullptr;
  Status status = read_format(given, read);
  if (status == STOCKADE_OK) status = resolve(handle, &engine);
  if (status == STOCKADE_OK) {
    const format::Keyring* const journal =
        job->journal_keyring != nullptr ? keyring_of(job->journal_keyring) : read.keyring;
    status = guarded([&] { return body(read, journal, *engine, *job); });
    // What the job has found out about it is more than a status.
    if (job->fault.status == status) return status;
  }
  job->fault = stockade::make_fault(status);
  return status;
}

// Calls body(row, type) to read a key into the keyring, and tells its id.
template <typename Body>
Status with_reading(stockade_keyring* keyring, const void* file, uint64_t length, stockade_rsa_reading* reading,
                    char id[23], Body&& body) {
  if (keyring == nullptr || missing(file, length)) return STOCKADE_ERROR_NULL_POINTER;
  stockade_rsa_reading standard{};
  standard.struct_size = sizeof standard;
  stockade_rsa_reading& used = reading == nullptr ? standard : *reading;
  if (const Status status = check_reading(&used); status != STOCKADE_OK) return status;
  if (used.legacy != 0) return STOCKADE_ERROR_ARGUMENT;
  const stockade::bignum::Variant* row = nullptr;
  if (const Status status = choose_row(used.force, &row); status != STOCKADE_OK) return status;
  std::string type, name;
  const Status status = guarded([&] { return body(used, row, type, name); });
  std::memset(used.type, 0, sizeof used.type);
  type.copy(used.type, sizeof used.type - 1);
  if (id != nullptr && !name.empty()) std::memcpy(id, name.c_str(), name.size() + 1);
  return status;
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

}  // namespace

extern "C" {

stockade_status stockade_keyring_create(stockade_keyring** keyring) {
  if (keyring == nullptr) return STOCKADE_ERROR_NULL_POINTER;
  auto* const made = new (std::nothrow) stockade_keyring;
  if (made == nullptr) return STOCKADE_ERROR_MEMORY;
  *keyring = made;
  return STOCKADE_OK;
}

void stockade_keyring_free(stockade_keyring* keyring) { delete keyring; }

stockade_status stockade_keyring_add_key(stockade_keyring* keyring, const void* key, uint64_t length) {
  if (keyring == nullptr || missing(key, length)) return STOCKADE_ERROR_NULL_POINTER;
  if (length != format::symmetric_key_bytes) return STOCKADE_ERROR_KEY_LENGTH;
  return guarded([&] {
    auto added = std::make_unique<format::Keyring::SymmetricKey>();
    std::memcpy(*added->bytes, key, length);
    keyring->keyring.keys.push_back(std::move(added));
    return STOCKADE_OK;
  });
}

stockade_status stockade_keyring_add_passphrase(stockade_keyring* keyring, const void* passphrase, uint64_t length,
                                                uint32_t work_factor) {
  if (keyring == nullptr || missing(passphrase, length)) return STOCKADE_ERROR_NULL_POINTER;
  if (length == 0 || length > longest_passphrase || work_factor > 30) return STOCKADE_ERROR_ARGUMENT;
  stockade::SecretBuffer copy;
  if (!copy.allocate(length)) return STOCKADE_ERROR_MEMORY;
  std::memcpy(copy.data(), passphrase, length);
  keyring->keyring.passphrase = std::move(copy);
  keyring->keyring.passphrase_length = length;
  keyring->keyring.work_factor = work_factor == 0 ? format::default_work_factor : work_factor;
  return STOCKADE_OK;
}

stockade_status stockade_keyring_add_rsa_public(stockade_keyring* keyring, const void* file, uint64_t length,
                                                stockade_rsa_reading* reading, char id[23]) {
  return with_reading(keyring, file, length, reading, id,
                      [&](const stockade_rsa_reading&, const auto* row, std::string& type, std::string& name) {
                        rsa::PublicKey key;
                        Status status = rsa::read_public_key({bytes(file), length}, rsa::least_bits, row, key, type);
                        if (status == STOCKADE_OK) status = format::rsa_key_id(key, name);
                        return status != STOCKADE_OK ? status : format::add_rsa_key(keyring->keyring, std::move(key));
                      });
}

stockade_status stockade_keyring_add_rsa_private(stockade_keyring* keyring, const void* file, uint64_t length,
                                                 stockade_rsa_reading* reading, char id[23]) {
  return with_reading(keyring, file, length, reading, id,
                      [&](const stockade_rsa_reading& used, const auto* row, std::string& type, std::string& name) {
                        std::unique_ptr<rsa::PrivateKey> key;
                        Status status = rsa::read_private_key({bytes(file), length}, asking(&used), row,
                                                              stockade::system_random(), key, type);
                        if (status == STOCKADE_OK) status = format::rsa_key_id(key->public_key(), name);
                        return status != STOCKADE_OK ? status : format::add_rsa_key(keyring->keyring, std::move(key));
                      });
}

stockade_status stockade_random(void* out, uint64_t length) {
  if (missing(out, length)) return STOCKADE_ERROR_NULL_POINTER;
  return stockade::system_random().fill(bytes(out), length);
}

stockade_status stockade_key_id(const void* key, uint64_t length, char id[12]) {
  if (id == nullptr || missing(key, length)) return STOCKADE_ERROR_NULL_POINTER;
  if (length != format::symmetric_key_bytes) return STOCKADE_ERROR_KEY_LENGTH;
  return guarded([&] {
    std::string text;
    const Status status = format::key_id({bytes(key), length}, text);
    if (status == STOCKADE_OK) std::memcpy(id, text.c_str(), text.size() + 1);
    return status;
  });
}

stockade_status stockade_fault_text(const stockade_fault* fault, char* text, size_t size) {
  if (fault == nullptr || text == nullptr) return STOCKADE_ERROR_NULL_POINTER;
  if (size == 0) return STOCKADE_ERROR_ARGUMENT;
  format::describe(*fault, text, size);
  return STOCKADE_OK;
}

int stockade_file_detect(const void* data, uint64_t length) {
  return data != nullptr && format::looks_sealed({bytes(data), length}) ? 1 : 0;
}

stockade_status stockade_file_create(stockade_file** file, stockade_direction direction, const stockade_format* given,
                                     const stockade_engine* handle) {
  if (file == nullptr) return STOCKADE_ERROR_NULL_POINTER;
  if (!valid(direction)) return STOCKADE_ERROR_ARGUMENT;
  format::FileFormat read;
  const EngineChoice* engine = nullptr;
  Status status = read_format(given, read);
  if (status == STOCKADE_OK) status = resolve(handle, &engine);
  if (status != STOCKADE_OK) return status;
  return guarded([&] {
    auto made = std::unique_ptr<stockade_file>(new stockade_file{{read, direction, *engine}});
    const Status started = made->stream.start(stockade::system_random());
    if (started == STOCKADE_OK) *file = made.release();
    return started;
  });
}

void stockade_file_free(stockade_file* file) { delete file; }

uint64_t stockade_file_bound(const stockade_file* file, uint64_t length) {
  return file == nullptr ? 0 : file->stream.bound(length);
}

stockade_status stockade_file_update(stockade_file* file, const void* in, uint64_t length, void* out, uint64_t out_size,
                                     uint64_t* out_length) {
  if (file == nullptr || out_length == nullptr || missing(in, length) || missing(out, out_size)) {
    return STOCKADE_ERROR_NULL_POINTER;
  }
  const Status status = guarded([&] {
    return file->stream.update({bytes(in), length}, {bytes(out), out_size}, out_length);
  });
  if (status == STOCKADE_ERROR_MEMORY || status == STOCKADE_ERROR_CANCELLED) file->stream.abandon(status);
  return status;
}

stockade_status stockade_file_final(stockade_file* file, void* out, uint64_t out_size, uint64_t* out_length) {
  if (file == nullptr || out_length == nullptr || missing(out, out_size)) return STOCKADE_ERROR_NULL_POINTER;
  const Status status = guarded([&] { return file->stream.finish({bytes(out), out_size}, out_length); });
  if (status == STOCKADE_ERROR_MEMORY || status == STOCKADE_ERROR_CANCELLED) file->stream.abandon(status);
  return status;
}

stockade_status stockade_file_pull(stockade_file* file, stockade_read read, void* context, void* out, uint64_t size,
                                   uint64_t* out_length) {
  if (file == nullptr || read == nullptr || out_length == nullptr || missing(out, size)) {
    return STOCKADE_ERROR_NULL_POINTER;
  }
  const Status status = guarded([&] { return file->stream.pull(read, context, {bytes(out), size}, out_length); });
  if (status == STOCKADE_ERROR_MEMORY || status == STOCKADE_ERROR_CANCELLED) file->stream.abandon(status);
  return status;
}

stockade_status stockade_file_fault(const stockade_file* file, stockade_fault* fault) {
  if (file == nullptr || fault == nullptr) return STOCKADE_ERROR_NULL_POINTER;
  *fault = file->stream.fault();
  return STOCKADE_OK;
}

stockade_status stockade_reader_create(stockade_reader** reader, stockade_read_at read, void* context,
                                       uint64_t file_length, const stockade_format* given,
                                       const stockade_engine* handle, stockade_fault* fault) {
  if (reader == nullptr || read == nullptr) return put_fault(fault, stockade::make_fault(STOCKADE_ERROR_NULL_POINTER));
  format::FileFormat wanted;
  const EngineChoice* engine = nullptr;
  stockade_fault found = stockade::make_fault(STOCKADE_OK);
  Status status = read_format(given, wanted);
  if (status == STOCKADE_OK) status = resolve(handle, &engine);
  if (status == STOCKADE_OK) {
    status = guarded([&] {
      auto made = std::unique_ptr<stockade_reader>(new stockade_reader{{read, context, file_length, *engine}});
      const Status opened = made->reader.open(wanted, found);
      if (opened == STOCKADE_OK) *reader = made.release();
      return opened;
    });
  }
  return put_fault(fault, status, found);
}

void stockade_reader_free(stockade_reader* reader) { delete reader; }

uint64_t stockade_reader_length(const stockade_reader* reader) {
  return reader == nullptr ? 0 : reader->reader.length();
}

uint64_t stockade_reader_header_length(const stockade_reader* reader) {
  return reader == nullptr ? 0 : reader->reader.header_length();
}

stockade_status stockade_reader_read_at(const stockade_reader* reader, uint64_t offset, void* out, uint64_t length,
                                        uint64_t* out_length, stockade_fault* fault) {
  if (reader == nullptr || out_length == nullptr || missing(out, length)) {
    return put_fault(fault, stockade::make_fault(STOCKADE_ERROR_NULL_POINTER));
  }
  stockade_fault found = stockade::make_fault(STOCKADE_OK);
  const Status status = guarded([&] {
    return reader->reader.read_at(offset, {bytes(out), length}, out_length, found);
  });
  return put_fault(fault, status, found);
}

stockade_status stockade_ciphertext_range(uint64_t header_length, uint64_t offset, uint64_t length,
                                          uint64_t* file_offset, uint64_t* file_length) {
  if (file_offset == nullptr || file_length == nullptr) return STOCKADE_ERROR_NULL_POINTER;
  return format::ciphertext_range(header_length, offset, length, file_offset, file_length);
}

stockade_status stockade_file_encrypt_fd(int in_fd, int out_fd, const stockade_format* given, stockade_file_job* job,
                                         const stockade_engine* handle) {
  return with_job(given, job, handle,
                  [&](const format::FileFormat& read, const format::Keyring* journal, const EngineChoice& engine,
                      stockade_file_job& whole) {
                    stockade::RandomSource& random = stockade::system_random();
                    if (whole.journal_fd <= 0) return format::encrypt_fd(read, in_fd, out_fd, whole, engine, random);
                    // Plain Cobblestone has no file key under which a journal could be authenticated.
                    if (journal == nullptr) return STOCKADE_ERROR_MODE;
                    return slices::encrypt_with_journal(read, in_fd, out_fd, whole, *journal, engine, random);
                  });
}

stockade_status stockade_file_decrypt_fd(int in_fd, int out_fd, const stockade_format* given, stockade_file_job* job,
                                         const stockade_engine* handle) {
  return with_job(given, job, handle,
                  [&](const format::FileFormat& read, const format::Keyring* journal, const EngineChoice& engine,
                      stockade_file_job& whole) {
                    if (whole.journal_fd <= 0) return format::decrypt_fd(read, in_fd, out_fd, whole, engine);
                    if (journal == nullptr) return STOCKADE_ERROR_MODE;
                    return slices::decrypt_with_journal(read, in_fd, out_fd, whole, *journal, engine,
                                                        stockade::system_random());
                  });
}

stockade_status stockade_file_verify_fd(int in_fd, const stockade_format* given, stockade_file_job* job,
                                        const stockade_engine* handle) {
  return with_job(given, job, handle,
                  [&](const format::FileFormat& read, const format::Keyring*, const EngineChoice& engine,
                      stockade_file_job& whole) { return format::verify_fd(read, in_fd, whole, engine); });
}

stockade_status stockade_header_parse(stockade_header** header, const void* data, uint64_t length,
                                      stockade_fault* fault) {
  if (header == nullptr || missing(data, length)) {
    return put_fault(fault, stockade::make_fault(STOCKADE_ERROR_NULL_POINTER));
  }
  stockade_fault found = stockade::make_fault(STOCKADE_OK);
  const Status status = guarded([&] {
    auto made = std::make_unique<stockade_header>();
    const Status parsed = format::parse_header({bytes(data), length}, made->header, &made->length, found);
    if (parsed != STOCKADE_OK) return parsed;
    for (const format::Stanza& stanza : made->header.stanzas) made->arguments.push_back(joined(stanza.arguments));
    *header = made.release();
    return STOCKADE_OK;
  });
  return put_fault(fault, status, found);
}

void stockade_header_free(stockade_header* header) { delete header; }

uint64_t stockade_header_length(const stockade_header* header) { return header == nullptr ? 0 : header->length; }

stockade_cipher stockade_header_cipher(const stockade_header* header) {
  return header == nullptr ? STOCKADE_COBBLESTONE_256 : header->header.cipher;
}

stockade_status stockade_header_stanza(const stockade_header* header, uint32_t index, stockade_stanza* stanza) {
  if (header == nullptr || stanza == nullptr) return STOCKADE_ERROR_NULL_POINTER;
  if (index >= header->header.stanzas.size()) return STOCKADE_ERROR_ARGUMENT;
  const format::Stanza& found = header->header.stanzas[index];
  *stanza = {found.kind.c_str(), header->arguments[index].c_str(), found.body.size()};
  return STOCKADE_OK;
}

stockade_status stockade_plaintext_length(uint64_t payload_length, uint64_t* length) {
  if (length == nullptr) return STOCKADE_ERROR_NULL_POINTER;
  return stockade::chunked::plaintext_length(payload_length, length);
}

stockade_status stockade_armor_decode(const void* in, uint64_t length, int whole, void* out, uint64_t out_size,
                                      uint64_t* out_length, stockade_fault* fault) {
  if (out_length == nullptr || missing(in, length) || missing(out, out_size)) {
    return put_fault(fault, stockade::make_fault(STOCKADE_ERROR_NULL_POINTER));
  }
  stockade_fault found = stockade::make_fault(STOCKADE_OK);
  const Status status = guarded([&] {
    format::ArmorDecoder decoder;
    std::vector<uint8_t> decoded;
    Status decoding = decoder.update({bytes(in), length}, decoded, found);
    if (decoding == STOCKADE_OK && whole != 0) decoding = decoder.finish(found);
    if (decoding != STOCKADE_OK) return decoding;
    if (decoded.size() > out_size) return STOCKADE_ERROR_OUTPUT_SIZE;
    if (!decoded.empty()) std::memcpy(out, decoded.data(), decoded.size());
    *out_length = decoded.size();
    return STOCKADE_OK;
  });
  return put_fault(fault, status, found);
}

stockade_status stockade_header_rekey(const void* header, uint64_t length, const stockade_keyring* identities,
                                      uint32_t max_work_factor, const char* const* remove, uint32_t remove_count,
                                      const stockade_keyring* add, void* out, uint64_t out_size, uint64_t* out_length,
                                      stockade_fault* fault) {
  if (identities == nullptr || out_length == nullptr || missing(header, length) || missing(out, out_size) ||
      missing(remove, remove_count)) {
    return put_fault(fault, stockade::make_fault(STOCKADE_ERROR_NULL_POINTER));
  }
  // No header has so many recipients, and each is named once.
  if (remove_count > format::max_stanzas) return put_fault(fault, stockade::make_fault(STOCKADE_ERROR_ARGUMENT));
  stockade_fault found = stockade::make_fault(STOCKADE_OK);
  const Status status = guarded([&] {
    format::Header old;
    uint64_t old_length = 0;
    Status rekeyed = format::parse_header({bytes(header), length}, old, &old_length, found);
    if (rekeyed != STOCKADE_OK) return rekeyed;
    std::vector<std::string_view> removed;
    for (uint32_t i = 0; i < remove_count; ++i) {
      if (remove[i] == nullptr) return STOCKADE_ERROR_NULL_POINTER;
      removed.emplace_back(remove[i]);
    }
    std::string renewed;
    rekeyed = format::rekey_header(old, old_length, identities->keyring, max_work_factor, removed, keyring_of(add),
                                   stockade::system_random(), renewed, found);
    if (rekeyed != STOCKADE_OK) return rekeyed;
    if (renewed.size() > out_size) return STOCKADE_ERROR_OUTPUT_SIZE;
    std::memcpy(out, renewed.data(), renewed.size());
    *out_length = renewed.size();
    return STOCKADE_OK;
  });
  return put_fault(fault, status, found);
}

stockade_status stockade_header_remedy(const void* front, uint64_t front_length, const void* copy, uint64_t copy_length,
                                       const stockade_keyring* identities, uint32_t max_work_factor,
                                       stockade_remedy* remedy, stockade_fault* fault) {
  if (identities == nullptr || remedy == nullptr || missing(front, front_length) || missing(copy, copy_length)) {
    return put_fault(fault, stockade::make_fault(STOCKADE_ERROR_NULL_POINTER));
  }
  stockade_fault found = stockade::make_fault(STOCKADE_OK);
  const Status status = guarded([&] {
    return format::find_remedy({bytes(front), front_length}, {bytes(copy), copy_length}, identities->keyring,
                               max_work_factor, *remedy, found);
  });
  return put_fault(fault, status, found);
}

stockade_status stockade_for_each(uint64_t count, stockade_item item, void* context, const stockade_engine* handle) {
  if (item == nullptr) return STOCKADE_ERROR_NULL_POINTER;
  const EngineChoice* engine = nullptr;
  if (const Status status = resolve(handle, &engine); status != STOCKADE_OK) return status;
  // Items are of unknown size and worth a worker each.
  stockade::parallel::Plan plan =
      stockade::parallel::make_plan(*engine, {stockade::tune::Operation::files, 0, UINT64_MAX, count, false});
  plan.at_stake = 0;
  std::atomic<bool> stopped{false};
  std::atomic<uint64_t> next{0};
  const uint64_t workers = std::min<uint64_t>(std::max(plan.workers, 1U), count);
  const Status status = guarded([&] {
    // Each takes the next item until there is none or one has said that it is enough, however many are left then.
    stockade::parallel::parallel_for(plan, workers, 1, [&](uint64_t, uint64_t, uint32_t) {
      while (!stopped.load(std::memory_order_relaxed)) {
        const uint64_t i = next.fetch_add(1, std::memory_order_relaxed);
        if (i >= count) return;
        // What an item throws ends the call, on whichever thread it is.
        const Status done = guarded([&] { return item(context, i) != 0 ? STOCKADE_ERROR_CANCELLED : STOCKADE_OK; });
        if (done != STOCKADE_OK) stopped.store(true, std::memory_order_relaxed);
      }
    });
    return STOCKADE_OK;
  });
  if (status != STOCKADE_OK) return status;
  return stopped.load() ? STOCKADE_ERROR_CANCELLED : STOCKADE_OK;
}

}  // extern "C"
