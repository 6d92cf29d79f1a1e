// stockade.h: handles and the checks that every call begins with. What cannot be told from the arguments alone is
// checked below, in engine and format.
#include <cstdio>
#include <new>

#include "base/forks.h"
#include "base/secret.h"
#include "capi/arguments.h"
#include "capi/handles.h"
#include "cipher/key.h"
#include "cipher/many.h"
#include "cipher/message.h"
#include "cipher/stream.h"
#include "config/environment.h"
#include "format/raw_file.h"
#include "offload/backend.h"
#include "offload/make_engine.h"
#include "stockade/stockade.h"

struct stockade_stream {
  stockade::cipher::Stream stream;
  const uint64_t process = stockade::process_number();  // a child would encrypt other plaintext under the same IV
};

namespace {

using namespace stockade::capi;  // NOLINT(google-build-using-namespace): this folder's own
using stockade::Status;
using stockade::cipher::CipherKey;
using stockade::config::EngineChoice;

constexpr uint32_t most_devices = 64;

// Calls body(key, engine) with what the handles hold.
template <typename Body>
Status with(const stockade_key* key, const stockade_engine* handle, Body&& body) {
  const EngineChoice* engine = nullptr;
  if (const Status status = resolve(handle, &engine); status != STOCKADE_OK) return status;
  return guarded([&] { return body(key->cipher, *engine); });
}

Status crypt(stockade_direction direction, const stockade_key* key, const void* iv, uint64_t iv_length, const void* in,
             uint64_t length, void* out, const stockade_engine* engine) {
  if (key == nullptr || missing(iv, iv_length) || missing(in, length) || missing(out, length)) {
    return STOCKADE_ERROR_NULL_POINTER;
  }
  return with(key, engine, [&](const CipherKey& cipher, const EngineChoice& who) {
    return stockade::cipher::crypt(cipher, direction, bytes(iv), iv_length, bytes(in), length, bytes(out), who);
  });
}

Status crypt_units(stockade_direction direction, const stockade_key* key, const void* iv, uint64_t iv_length,
                   uint64_t unit, const void* in, uint64_t length, void* out, const stockade_engine* engine) {
  if (key == nullptr || missing(iv, iv_length) || missing(in, length) || missing(out, length)) {
    return STOCKADE_ERROR_NULL_POINTER;
  }
  return with(key, engine, [&](const CipherKey& cipher, const EngineChoice& who) {
    return stockade::cipher::crypt_units(cipher, direction, bytes(iv), iv_length, unit, bytes(in), length, bytes(out),
                                         who);
  });
}

// Pointers of one message among many. Associated data or a tag that its mode cannot honour is an error here, where it
// cannot be one of the function's signature.
Status check_pointers(const stockade_message& message) {
  if (message.key == nullptr || missing(message.iv, message.iv_length) || missing(message.in, message.length) ||
      missing(message.out, message.length) || missing(message.aad, message.aad_length) ||
      missing(message.tag, message.tag_length)) {
    return STOCKADE_ERROR_NULL_POINTER;
  }
  const bool authenticates = message.key->cipher.mode == STOCKADE_GCM;
  return !authenticates && (message.aad_length != 0 || message.tag_length != 0) ? STOCKADE_ERROR_MODE : STOCKADE_OK;
}

Status crypt_many(stockade_direction direction, stockade_message* messages, uint64_t count,
                  const stockade_engine* handle) {
  if (missing(messages, count)) return STOCKADE_ERROR_NULL_POINTER;
  if (impossible(count, sizeof *messages)) return STOCKADE_ERROR_ARGUMENT;
  const EngineChoice* engine = nullptr;
  if (const Status status = resolve(handle, &engine); status != STOCKADE_OK) return status;
  for (uint64_t i = 0; i < count; ++i) messages[i].status = check_pointers(messages[i]);
  const Status thrown = guarded([&] {
    stockade::cipher::crypt_many(direction, messages, count, *engine);
    return STOCKADE_OK;
  });
  if (thrown != STOCKADE_OK) return thrown;
  for (uint64_t i = 0; i < count; ++i) {
    if (messages[i].status != STOCKADE_OK) return messages[i].status;
  }
  return STOCKADE_OK;
}

Status crypt_fd(stockade_direction direction, const stockade_key* key, int in_fd, int out_fd,
                stockade_raw_options* options, const stockade_engine* engine) {
  if (key == nullptr || options == nullptr) return STOCKADE_ERROR_NULL_POINTER;
  if (options->struct_size != sizeof *options || !valid(options->padding)) return STOCKADE_ERROR_ARGUMENT;
  if (missing(options->iv, options->iv_length) || missing(options->aad, options->aad_length)) {
    return STOCKADE_ERROR_NULL_POINTER;
  }
  return with(key, engine, [&](const CipherKey& cipher, const EngineChoice& who) {
    return stockade::format::crypt_fd(cipher, direction, in_fd, out_fd, *options, who);
  });
}

}  // namespace

extern "C" {

stockade_status stockade_key_create(stockade_key** key, stockade_mode mode, const void* key_bytes, uint64_t length,
                                    const char* force) {
  if (key == nullptr || missing(key_bytes, length)) return STOCKADE_ERROR_NULL_POINTER;
  if (!valid(mode)) return STOCKADE_ERROR_ARGUMENT;
  auto* const made = new (std::nothrow) stockade_key;
  if (made == nullptr) return STOCKADE_ERROR_MEMORY;
  const Status status =
      guarded([&] { return stockade::cipher::make_key(made->cipher, mode, bytes(key_bytes), length, force); });
  if (status == STOCKADE_OK) {
    *key = made;
  } else {
    stockade_key_free(made);
  }
  return status;
}

void stockade_key_free(stockade_key* key) { delete key; }

stockade_mode stockade_key_mode(const stockade_key* key) { return key == nullptr ? STOCKADE_ECB : key->cipher.mode; }
uint32_t stockade_key_bits(const stockade_key* key) { return key == nullptr ? 0 : key->cipher.bits; }
const char* stockade_key_row(const stockade_key* key) { return key == nullptr ? "" : key->cipher.row(); }

stockade_status stockade_engine_create(stockade_engine** engine, const char* name, uint32_t threads) {
  if (engine == nullptr) return STOCKADE_ERROR_NULL_POINTER;
  EngineChoice wish{};
  const Status status = guarded([&] { return stockade::offload::make_engine(name, threads, wish); });
  if (status != STOCKADE_OK) return status;
  auto* const made = new (std::nothrow) stockade_engine{wish};
  if (made == nullptr) return STOCKADE_ERROR_MEMORY;
  *engine = made;
  return STOCKADE_OK;
}

void stockade_engine_free(stockade_engine* engine) { delete engine; }

const char* stockade_engine_name(const stockade_engine* engine) {
  const EngineChoice* found = nullptr;
  return stockade::config::kind_name(resolve(engine, &found) == STOCKADE_OK ? found->kind
                                                                            : stockade::config::Kind::automatic);
}

stockade_status stockade_engine_set_devices(stockade_engine* engine, const uint32_t* devices, uint32_t count) {
  if (engine == nullptr || missing(devices, count)) return STOCKADE_ERROR_NULL_POINTER;
  if (!stockade::config::wants_gpus(engine->wish.kind)) return STOCKADE_ERROR_ARGUMENT;
  if (count > most_devices) return STOCKADE_ERROR_ARGUMENT;
  uint64_t wanted = 0, usable = 0;
  for (uint32_t i = 0; i < count; ++i) {
    if (devices[i] >= most_devices) return STOCKADE_ERROR_ARGUMENT;
    wanted |= uint64_t{1} << devices[i];
  }
  const Status status = guarded([&] { return stockade::offload::usable_devices(wanted, usable); });
  if (status == STOCKADE_OK) engine->wish.devices = wanted;
  return status;
}

stockade_status stockade_explain(const stockade_key* key, stockade_direction direction, uint64_t length,
                                 const stockade_engine* engine, char* text, size_t size) {
  if (key == nullptr || text == nullptr) return STOCKADE_ERROR_NULL_POINTER;
  if (!valid(direction) || size == 0) return STOCKADE_ERROR_ARGUMENT;
  return with(key, engine, [&](const CipherKey& cipher, const EngineChoice& who) {
    const auto plan = stockade::cipher::plan_message(cipher, direction, length, false, who);
    char workers[16] = "";
    if (plan.workers > 1) std::snprintf(workers, sizeof workers, " x%u", plan.workers);
    const bool streaming = plan.stores == stockade::aes::Stores::streaming;
    char source[96] = "";
    if (plan.by_entry) {
      std::snprintf(source, sizeof source, " (%s, line %u)", stockade::tune::profile_of(*plan.entry).name,
                    plan.entry->line);
    }
    std::snprintf(text, size, "%s%s, row %s, %s stores: %llu bytes %s%s", stockade::config::kind_name(plan.kind),
                  workers, cipher.row(), streaming ? "streaming" : "ordinary", static_cast<unsigned long long>(length),
                  plan.why, source);
    return STOCKADE_OK;
  });
}

stockade_status stockade_encrypt(const stockade_key* key, const void* iv, uint64_t iv_length, const void* in,
                                 uint64_t length, void* out, const stockade_engine* engine) {
  return crypt(STOCKADE_ENCRYPT, key, iv, iv_length, in, length, out, engine);
}

stockade_status stockade_decrypt(const stockade_key* key, const void* iv, uint64_t iv_length, const void* in,
                                 uint64_t length, void* out, const stockade_engine* engine) {
  return crypt(STOCKADE_DECRYPT, key, iv, iv_length, in, length, out, engine);
}

stockade_status stockade_encrypt_padded(const stockade_key* key, const void* iv, uint64_t iv_length, const void* in,
                                        uint64_t length, void* out, uint64_t out_size, uint64_t* out_length,
                                        const stockade_engine* engine) {
  if (key == nullptr || out_length == nullptr || missing(iv, iv_length) || missing(in, length) ||
      missing(out, out_size)) {
    return STOCKADE_ERROR_NULL_POINTER;
  }
  return with(key, engine, [&](const CipherKey& cipher, const EngineChoice& who) {
    return stockade::cipher::encrypt_padded(cipher, bytes(iv), iv_length, bytes(in), length, bytes(out), out_size,
                                            out_length, who);
  });
}

stockade_status stockade_decrypt_padded(const stockade_key* key, const void* iv, uint64_t iv_length, const void* in,
                                        uint64_t length, void* out, uint64_t out_size, uint64_t* out_length,
                                        const stockade_engine* engine) {
  if (key == nullptr || out_length == nullptr || missing(iv, iv_length) || missing(in, length) ||
      missing(out, out_size)) {
    return STOCKADE_ERROR_NULL_POINTER;
  }
  return with(key, engine, [&](const CipherKey& cipher, const EngineChoice& who) {
    return stockade::cipher::decrypt_padded(cipher, bytes(iv), iv_length, bytes(in), length, bytes(out), out_size,
                                            out_length, who);
  });
}

stockade_status stockade_encrypt_units(const stockade_key* key, const void* iv, uint64_t iv_length, uint64_t unit,
                                       const void* in, uint64_t length, void* out, const stockade_engine* engine) {
  return crypt_units(STOCKADE_ENCRYPT, key, iv, iv_length, unit, in, length, out, engine);
}

stockade_status stockade_decrypt_units(const stockade_key* key, const void* iv, uint64_t iv_length, uint64_t unit,
                                       const void* in, uint64_t length, void* out, const stockade_engine* engine) {
  return crypt_units(STOCKADE_DECRYPT, key, iv, iv_length, unit, in, length, out, engine);
}

stockade_status stockade_seal(const stockade_key* key, const void* iv, uint64_t iv_length, const void* aad,
                              uint64_t aad_length, const void* in, uint64_t length, void* out, void* tag,
                              uint64_t tag_length, const stockade_engine* engine) {
  if (key == nullptr || missing(iv, iv_length) || missing(aad, aad_length) || missing(in, length) ||
      missing(out, length) || missing(tag, tag_length)) {
    return STOCKADE_ERROR_NULL_POINTER;
  }
  return with(key, engine, [&](const CipherKey& cipher, const EngineChoice& who) {
    return stockade::cipher::seal(cipher, bytes(iv), iv_length, bytes(aad), aad_length, bytes(in), length, bytes(out),
                                  bytes(tag), tag_length, who);
  });
}

stockade_status stockade_open(const stockade_key* key, const void* iv, uint64_t iv_length, const void* aad,
                              uint64_t aad_length, const void* in, uint64_t length, void* out, const void* tag,
                              uint64_t tag_length, const stockade_engine* engine) {
  if (key == nullptr || missing(iv, iv_length) || missing(aad, aad_length) || missing(in, length) ||
      missing(out, length) || missing(tag, tag_length)) {
    return STOCKADE_ERROR_NULL_POINTER;
  }
  return with(key, engine, [&](const CipherKey& cipher, const EngineChoice& who) {
    return stockade::cipher::open(cipher, bytes(iv), iv_length, bytes(aad), aad_length, bytes(in), length, bytes(out),
                                  bytes(tag), tag_length, who);
  });
}

stockade_status stockade_encrypt_many(stockade_message* messages, uint64_t count, const stockade_engine* engine) {
  return crypt_many(STOCKADE_ENCRYPT, messages, count, engine);
}

stockade_status stockade_decrypt_many(stockade_message* messages, uint64_t count, const stockade_engine* engine) {
  return crypt_many(STOCKADE_DECRYPT, messages, count, engine);
}

stockade_status stockade_stream_create(stockade_stream** stream, const stockade_key* key, stockade_direction direction,
                                       const void* iv, uint64_t iv_length, stockade_padding padding,
                                       const stockade_engine* engine) {
  if (stream == nullptr || key == nullptr || missing(iv, iv_length)) return STOCKADE_ERROR_NULL_POINTER;
  if (!valid(direction) || !valid(padding)) return STOCKADE_ERROR_ARGUMENT;
  return with(key, engine, [&](const CipherKey& cipher, const EngineChoice& who) {
    auto* const made = new (std::nothrow) stockade_stream{{cipher, direction, padding, who}};
    if (made == nullptr) return STOCKADE_ERROR_MEMORY;
    const Status status = made->stream.start(bytes(iv), iv_length);
    if (status == STOCKADE_OK) {
      *stream = made;
    } else {
      delete made;
    }
    return status;
  });
}

void stockade_stream_free(stockade_stream* stream) { delete stream; }

stockade_status stockade_stream_aad(stockade_stream* stream, const void* aad, uint64_t length) {
  if (stream == nullptr || missing(aad, length)) return STOCKADE_ERROR_NULL_POINTER;
  if (stream->process != stockade::process_number()) return STOCKADE_ERROR_FORKED;
  return guarded([&] { return stream->stream.aad(bytes(aad), length); });
}

uint64_t stockade_stream_bound(const stockade_stream* stream, uint64_t length) {
  return stream == nullptr ? 0 : stream->stream.bound(length);
}

stockade_status stockade_stream_update(stockade_stream* stream, const void* in, uint64_t length, void* out,
                                       uint64_t out_size, uint64_t* out_length) {
  if (stream == nullptr || out_length == nullptr || missing(in, length) || missing(out, out_size)) {
    return STOCKADE_ERROR_NULL_POINTER;
  }
  if (stream->process != stockade::process_number()) return STOCKADE_ERROR_FORKED;
  return guarded([&] { return stream->stream.update(bytes(in), length, bytes(out), out_size, out_length); });
}

stockade_status stockade_stream_final(stockade_stream* stream, void* out, uint64_t out_size, uint64_t* out_length,
                                      void* tag, uint64_t tag_length) {
  if (stream == nullptr) return STOCKADE_ERROR_NULL_POINTER;
  if (stream->process != stockade::process_number()) return STOCKADE_ERROR_FORKED;
  return guarded([&] { return stream->stream.final(bytes(out), out_size, out_length, bytes(tag), tag_length); });
}

stockade_status stockade_raw_encrypt_fd(const stockade_key* key, int in_fd, int out_fd, stockade_raw_options* options,
                                        const stockade_engine* engine) {
  return crypt_fd(STOCKADE_ENCRYPT, key, in_fd, out_fd, options, engine);
}

stockade_status stockade_raw_decrypt_fd(const stockade_key* key, int in_fd, int out_fd, stockade_raw_options* options,
                                        const stockade_engine* engine) {
  return crypt_fd(STOCKADE_DECRYPT, key, in_fd, out_fd, options, engine);
}

}  // extern "C"
