// stockade.h: names of things, and what this machine would do.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <iterator>
#include <span>
#include <string_view>

#include "aes/aes_variants.h"
#include "base/sanitizers.h"
#include "bignum/bignum_variants.h"
#include "config/environment.h"
#include "cpu/features.h"
#include "cpu/machine.h"
#include "gcm/gcm_variants.h"
#include "offload/backend.h"
#include "offload/make_engine.h"
#include "stockade/stockade.h"
#include "tune/fingerprint.h"
#include "tune/profile_in_force.h"

namespace {

using stockade::Status;
namespace cpu = stockade::cpu;
namespace config = stockade::config;
namespace offload = stockade::offload;

struct StatusText {
  stockade_status status;
  const char* name;
  const char* text;
};

constexpr StatusText status_texts[] = {
    {STOCKADE_OK, "STOCKADE_OK", "success"},
    {STOCKADE_ERROR_NULL_POINTER, "STOCKADE_ERROR_NULL_POINTER", "a required pointer is null"},
    {STOCKADE_ERROR_ARGUMENT, "STOCKADE_ERROR_ARGUMENT", "an argument is out of range"},
    {STOCKADE_ERROR_KEY_LENGTH, "STOCKADE_ERROR_KEY_LENGTH", "the key must have 16, 24 or 32 bytes (XTS: 32 or 64)"},
    {STOCKADE_ERROR_WEAK_KEY, "STOCKADE_ERROR_WEAK_KEY", "the two halves of the XTS key are equal"},
    {STOCKADE_ERROR_IV_LENGTH, "STOCKADE_ERROR_IV_LENGTH",
     "the IV must have 16 bytes (GCM: at least 1; ECB: none at all)"},
    {STOCKADE_ERROR_TAG_LENGTH, "STOCKADE_ERROR_TAG_LENGTH", "the tag must have 12 to 16 bytes, and only GCM has one"},
    {STOCKADE_ERROR_DATA_LENGTH, "STOCKADE_ERROR_DATA_LENGTH",
     "the data must be a multiple of 16 bytes (XTS: at least 16 bytes)"},
    {STOCKADE_ERROR_DATA_TOO_LONG, "STOCKADE_ERROR_DATA_TOO_LONG",
     "the data is longer than the mode allows (GCM: 68719476704 bytes, XTS: 16777216 bytes in a unit)"},
    {STOCKADE_ERROR_OVERLAP, "STOCKADE_ERROR_OVERLAP", "the output overlaps an input without being the same buffer"},
    {STOCKADE_ERROR_PADDING, "STOCKADE_ERROR_PADDING", "the padding is wrong: another key, another IV or damaged data"},
    {STOCKADE_ERROR_AUTHENTICATION, "STOCKADE_ERROR_AUTHENTICATION",
     "the authentication tag does not match: another key, another IV or changed data"},
    {STOCKADE_ERROR_MODE, "STOCKADE_ERROR_MODE", "the mode of this key has no such operation"},
    {STOCKADE_ERROR_STATE, "STOCKADE_ERROR_STATE", "the stream is not in a state for this call"},
    {STOCKADE_ERROR_OUTPUT_SIZE, "STOCKADE_ERROR_OUTPUT_SIZE", "the output buffer is too small"},
    {STOCKADE_ERROR_UNKNOWN_NAME, "STOCKADE_ERROR_UNKNOWN_NAME",
     "no implementation row, engine, primitive or feature has that name"},
    {STOCKADE_ERROR_UNAVAILABLE, "STOCKADE_ERROR_UNAVAILABLE",
     "this machine cannot run the implementation that was asked for"},
    {STOCKADE_ERROR_IO, "STOCKADE_ERROR_IO", "reading or writing failed"},
    {STOCKADE_ERROR_INPUT_CHANGED, "STOCKADE_ERROR_INPUT_CHANGED", "the input file changed while it was read"},
    {STOCKADE_ERROR_CANCELLED, "STOCKADE_ERROR_CANCELLED", "stopped on request"},
    {STOCKADE_ERROR_MEMORY, "STOCKADE_ERROR_MEMORY", "out of memory"},
    {STOCKADE_ERROR_MAGIC, "STOCKADE_ERROR_MAGIC", "this is not a Stockade file"},
    {STOCKADE_ERROR_VERSION, "STOCKADE_ERROR_VERSION", "the Stockade file has a version that is not known here"},
    {STOCKADE_ERROR_CIPHER, "STOCKADE_ERROR_CIPHER", "the header names a cipher that is not known here"},
    {STOCKADE_ERROR_HEADER_TOO_LONG, "STOCKADE_ERROR_HEADER_TOO_LONG",
     "the header is longer than 1 MiB or has more than 1024 stanzas"},
    {STOCKADE_ERROR_HEADER, "STOCKADE_ERROR_HEADER", "the header is malformed"},
    {STOCKADE_ERROR_SCRYPT_NOT_ALONE, "STOCKADE_ERROR_SCRYPT_NOT_ALONE",
     "a passphrase cannot stand beside another recipient"},
    {STOCKADE_ERROR_WORK_FACTOR, "STOCKADE_ERROR_WORK_FACTOR", "the work factor of the passphrase is above the limit"},
    {STOCKADE_ERROR_NO_IDENTITY, "STOCKADE_ERROR_NO_IDENTITY", "no key opens this file"},
    {STOCKADE_ERROR_PASSPHRASE, "STOCKADE_ERROR_PASSPHRASE", "the passphrase does not open this file"},
    {STOCKADE_ERROR_HEADER_MAC, "STOCKADE_ERROR_HEADER_MAC", "the header was changed after it was made"},
    {STOCKADE_ERROR_COMMITMENT, "STOCKADE_ERROR_COMMITMENT",
     "the payload does not begin as this key would have it: another key or context, or damaged data"},
    {STOCKADE_ERROR_TRUNCATED, "STOCKADE_ERROR_TRUNCATED", "the file ends too early"},
    {STOCKADE_ERROR_CHUNK, "STOCKADE_ERROR_CHUNK", "a chunk is damaged, missing or out of its place"},
    {STOCKADE_ERROR_TRAILING_DATA, "STOCKADE_ERROR_TRAILING_DATA", "there is data after the end of the file"},
    {STOCKADE_ERROR_TOO_MANY_CHUNKS, "STOCKADE_ERROR_TOO_MANY_CHUNKS", "the payload has more than 2^38 chunks"},
    {STOCKADE_ERROR_ARMOR, "STOCKADE_ERROR_ARMOR", "the armor is malformed, or not allowed here"},
    {STOCKADE_ERROR_RANDOM, "STOCKADE_ERROR_RANDOM", "the operating system gives no random bytes"},
    {STOCKADE_ERROR_JOURNAL, "STOCKADE_ERROR_JOURNAL", "the journal is damaged or belongs to another job"},
    {STOCKADE_ERROR_LIBRARY, "STOCKADE_ERROR_LIBRARY", "libcrypto refused a function that the format needs"},
    {STOCKADE_ERROR_DEVICE, "STOCKADE_ERROR_DEVICE", "the GPU or its driver reported an error"},
    {STOCKADE_ERROR_DEVICE_MEMORY, "STOCKADE_ERROR_DEVICE_MEMORY", "the GPU has not enough free memory"},
    {STOCKADE_ERROR_DEVICE_POINTER, "STOCKADE_ERROR_DEVICE_POINTER",
     "a pointer that is not to memory of the GPU where such is wanted"},
    {STOCKADE_ERROR_FORKED, "STOCKADE_ERROR_FORKED",
     "a forked process cannot use what its parent had: a GPU, a file in pieces, a queue"},
    {STOCKADE_ERROR_RSA_SIZE, "STOCKADE_ERROR_RSA_SIZE",
     "the RSA modulus has too few bits (2048 are needed, 1024 to verify old signatures), or more than 16384"},
    {STOCKADE_ERROR_RSA_MODULUS, "STOCKADE_ERROR_RSA_MODULUS", "the RSA modulus is even"},
    {STOCKADE_ERROR_RSA_EXPONENT, "STOCKADE_ERROR_RSA_EXPONENT",
     "the RSA public exponent must be odd, at least 3 and of at most 256 bits"},
    {STOCKADE_ERROR_RSA_FACTORS, "STOCKADE_ERROR_RSA_FACTORS",
     "the RSA factors are equal, too close to one another, or not those of the modulus"},
    {STOCKADE_ERROR_RSA_PRIME, "STOCKADE_ERROR_RSA_PRIME", "an RSA factor is not prime"},
    {STOCKADE_ERROR_RSA_PRIVATE_EXPONENT, "STOCKADE_ERROR_RSA_PRIVATE_EXPONENT",
     "the RSA private exponent does not belong to the public one, or is too small"},
    {STOCKADE_ERROR_RSA_CRT, "STOCKADE_ERROR_RSA_CRT",
     "the RSA key's numbers for the Chinese remainder theorem do not belong to it"},
    {STOCKADE_ERROR_KEY_FILE, "STOCKADE_ERROR_KEY_FILE",
     "this is not a key in a form that is known here, or it is malformed"},
    {STOCKADE_ERROR_KEY_TYPE, "STOCKADE_ERROR_KEY_TYPE", "the key has a type that is not supported"},
    {STOCKADE_ERROR_PASSPHRASE_NEEDED, "STOCKADE_ERROR_PASSPHRASE_NEEDED",
     "the key is encrypted and needs a passphrase"},
    {STOCKADE_ERROR_KEY_NOT_PRIVATE, "STOCKADE_ERROR_KEY_NOT_PRIVATE",
     "this is a public key where a private one is needed"},
    {STOCKADE_ERROR_MESSAGE_LENGTH, "STOCKADE_ERROR_MESSAGE_LENGTH",
     "the message, or digest and salt, is longer than the padding leaves room for in this RSA key"},
    {STOCKADE_ERROR_RSA_LENGTH, "STOCKADE_ERROR_RSA_LENGTH",
     "the ciphertext or signature has not the length of the RSA modulus"},
    {STOCKADE_ERROR_RSA_RANGE, "STOCKADE_ERROR_RSA_RANGE",
     "the ciphertext, signature or number is not below the RSA modulus"},
    {STOCKADE_ERROR_DECRYPTION, "STOCKADE_ERROR_DECRYPTION",
     "the ciphertext does not decrypt: another key, hash or label, or damaged data"},
    {STOCKADE_ERROR_SIGNATURE, "STOCKADE_ERROR_SIGNATURE",
     "the signature is not valid: another key, message or padding, or damaged data"},
    {STOCKADE_ERROR_RSA_FAULT, "STOCKADE_ERROR_RSA_FAULT",
     "a private RSA operation went wrong; its result was not released"},
    {STOCKADE_ERROR_MISMATCH, "STOCKADE_ERROR_MISMATCH",
     "the processes of the job run different builds of the library, or were told different things"},
    {STOCKADE_ERROR_MPI, "STOCKADE_ERROR_MPI", "the MPI library reported an error"},
    {STOCKADE_ERROR_INCOMPLETE, "STOCKADE_ERROR_INCOMPLETE", "slices of the shared job are still to be done"},
};

const StatusText* find(const stockade_status& status) {
  int number;
  static_assert(sizeof number == sizeof status);
  std::memcpy(&number, &status, sizeof number);
  for (const StatusText& entry : status_texts) {
    if (number == entry.status) return &entry;
  }
  return nullptr;
}

struct EngineText {
  config::Kind kind;
  const char* summary;
};

constexpr EngineText engine_texts[] = {
    {config::Kind::automatic, "every core for large inputs, the calling thread for small ones"},
    {config::Kind::serial, "the calling thread"},
    {config::Kind::threads, "every core for whatever can be cut, however small"},
    {config::Kind::cuda, "GPUs alone"},
    {config::Kind::hybrid, "GPUs and every core together"},
};

#define STOCKADE_STRING(x) #x
#define STOCKADE_NUMBER(x) STOCKADE_STRING(x)

#if defined(__clang__)
#define STOCKADE_COMPILER "clang-" STOCKADE_NUMBER(__clang_major__) "." STOCKADE_NUMBER(__clang_minor__)
#else
#define STOCKADE_COMPILER "gcc-" STOCKADE_NUMBER(__GNUC__) "." STOCKADE_NUMBER(__GNUC_MINOR__)
#endif

#if defined(__OPTIMIZE__)
#define STOCKADE_OPTIMIZED "yes"
#else
#define STOCKADE_OPTIMIZED "no"
#endif

#if defined(NDEBUG)
#define STOCKADE_ASSERTIONS "no"
#else
#define STOCKADE_ASSERTIONS "yes"
#endif

#if STOCKADE_ADDRESS_SANITIZER
#define STOCKADE_SANITIZER "address"
#elif STOCKADE_THREAD_SANITIZER
#define STOCKADE_SANITIZER "thread"
#else
#define STOCKADE_SANITIZER "none"
#endif

// "avx512 and vaes" for a set of features.
void append_names(cpu::Features features, char* text, size_t size) {
  size_t used = std::strlen(text);
  for (const cpu::FeatureName& feature : cpu::feature_names) {
    if ((features & feature.bit) == 0) continue;
    features &= ~feature.bit;
    const int length = std::snprintf(text + used, size - used, "%s%s", feature.name, features != 0 ? " and " : "");
    used += static_cast<size_t>(length);
  }
}

// What the primitives' tables have in common.
struct RowView {
  const char* primitive;
  const char* name;
  cpu::Features needs;
  bool automatic;
  bool chosen;
  bool forced;  // the environment names a row of this primitive
};

void explain(const RowView& view, cpu::Features usable, stockade_row& row) {
  const auto set = [&row](const char* text) { std::snprintf(row.reason, sizeof row.reason, "%s", text); };
  const cpu::Features lacking = view.needs & ~cpu::detected();
  const cpu::Features hidden = view.needs & ~usable;
  if (hidden != 0) {
    set("needs ");
    append_names(lacking != 0 ? lacking : hidden, row.reason, sizeof row.reason);
    const size_t used = std::strlen(row.reason);
    std::snprintf(row.reason + used, sizeof row.reason - used, "%s",
                  lacking != 0 ? ", which this processor lacks" : ", hidden by STOCKADE_MASK");
  } else if (view.chosen) {
    set(view.forced ? "named by STOCKADE_FORCE" : "best that this machine runs");
  } else if (view.forced) {
    set("STOCKADE_FORCE names another");
  } else {
    set(view.automatic ? "a better one runs" : "only by name");
  }
}

void describe(const RowView& view, cpu::Features usable, stockade_row& row) {
  row = {};
  row.primitive = view.primitive;
  row.name = view.name;
  row.available = (view.needs & ~usable) == 0;
  row.chosen = view.chosen;
  explain(view, usable, row);
}

// Describes row `index` of the table, or takes the table's length off the index and says that it is not there.
template <typename Variant>
bool describe_in(const char* primitive, std::span<const Variant> rows, const Variant* chosen, std::string_view forced,
                 cpu::Features usable, uint32_t& index, stockade_row& row) {
  if (index >= rows.size()) {
    index -= static_cast<uint32_t>(rows.size());
    return false;
  }
  const Variant& entry = rows[index];
  bool automatic = true;
  if constexpr (requires { entry.automatic; }) automatic = entry.automatic;
  describe({primitive, entry.name, entry.needs, automatic, &entry == chosen, !forced.empty()}, usable, row);
  return true;
}

}  // namespace

extern "C" {

const char* stockade_status_text(stockade_status status) {
  const StatusText* const entry = find(status);
  return entry == nullptr ? "unknown status" : entry->text;
}

const char* stockade_status_name(stockade_status status) {
  const StatusText* const entry = find(status);
  return entry == nullptr ? "unknown" : entry->name;
}

const char* stockade_version(void) {
  return STOCKADE_NUMBER(STOCKADE_VERSION_MAJOR) "." STOCKADE_NUMBER(STOCKADE_VERSION_MINOR) "." STOCKADE_NUMBER(
      STOCKADE_VERSION_PATCH);
}

stockade_status stockade_machine_get(stockade_machine* machine) {
  if (machine == nullptr) return STOCKADE_ERROR_NULL_POINTER;
  const config::EngineChoice* wish = nullptr;
  if (const Status status = offload::default_engine(&wish); status != STOCKADE_OK) return status;
  const cpu::Machine& found = cpu::machine();
  static_assert(sizeof machine->cpu == sizeof found.name);
  std::memcpy(machine->cpu, found.name, sizeof machine->cpu);
  machine->cores = found.cores;
  machine->threads = wish->threads;
  machine->l1d = found.l1d;
  machine->l2 = found.l2;
  machine->l3 = found.l3;
  return STOCKADE_OK;
}

stockade_status stockade_feature_get(uint32_t index, stockade_feature* feature) {
  if (feature == nullptr) return STOCKADE_ERROR_NULL_POINTER;
  if (index >= std::size(cpu::feature_names)) return STOCKADE_ERROR_ARGUMENT;
  const cpu::FeatureName& entry = cpu::feature_names[index];
  feature->name = entry.name;
  feature->present = (cpu::detected() & entry.bit) != 0;
  feature->masked = (cpu::environment_mask().hidden & entry.bit) != 0;
  return STOCKADE_OK;
}

stockade_status stockade_row_get(uint32_t index, stockade_row* row) {
  if (row == nullptr) return STOCKADE_ERROR_NULL_POINTER;
  const config::Environment& wish = config::environment();
  if (wish.status != STOCKADE_OK) return wish.status;
  const stockade::aes::Variant* aes_chosen = nullptr;
  const stockade::gcm::Variant* gcm_chosen = nullptr;
  Status status = stockade::aes::choose(wish.aes_row, wish.usable, &aes_chosen);
  if (status == STOCKADE_OK) status = stockade::gcm::choose(wish.gcm_row, wish.usable, &gcm_chosen);
  const stockade::bignum::Variant* bignum_chosen = nullptr;
  if (status == STOCKADE_OK) status = stockade::bignum::choose(wish.bignum_row, wish.usable, &bignum_chosen);
  if (status != STOCKADE_OK) return status;
  const bool found =
      describe_in("aes", stockade::aes::variants(), aes_chosen, wish.aes_row, wish.usable, index, *row) ||
      describe_in("gcm", stockade::gcm::variants(), gcm_chosen, wish.gcm_row, wish.usable, index, *row) ||
      describe_in("bignum", stockade::bignum::variants(), bignum_chosen, wish.bignum_row, wish.usable, index, *row);
  return found ? STOCKADE_OK : STOCKADE_ERROR_ARGUMENT;
}

stockade_status stockade_engine_get(uint32_t index, const char** name, const char** summary) {
  if (name == nullptr || summary == nullptr) return STOCKADE_ERROR_NULL_POINTER;
  if (index >= std::size(engine_texts)) return STOCKADE_ERROR_ARGUMENT;
  *name = config::kind_name(engine_texts[index].kind);
  *summary = engine_texts[index].summary;
  return STOCKADE_OK;
}

stockade_status stockade_device_get(uint32_t index, stockade_device* device) {
  if (device == nullptr) return STOCKADE_ERROR_NULL_POINTER;
  stockade::gpu::Runtime& runtime = *offload::backend().runtime;
  uint32_t count = 0;
  if (const Status status = runtime.count(count); status != STOCKADE_OK) return status;
  if (index >= count) return STOCKADE_ERROR_ARGUMENT;
  stockade::gpu::DeviceFacts facts;
  if (const Status status = runtime.facts(index, facts); status != STOCKADE_OK) return status;
  *device = {};
  std::memcpy(device->name, facts.name, std::min(sizeof device->name, sizeof facts.name) - 1);
  static_assert(sizeof device->bus == sizeof facts.bus);
  std::memcpy(device->bus, facts.bus, sizeof device->bus);
  device->capability = facts.capability;
  device->multiprocessors = facts.multiprocessors;
  device->memory = facts.memory;
  device->usable = facts.capability >= offload::least_capability;
  return STOCKADE_OK;
}

const char* stockade_device_absence(void) { return offload::backend().runtime->absence(); }

stockade_status stockade_experience_get(stockade_experience* experience) {
  if (experience == nullptr) return STOCKADE_ERROR_NULL_POINTER;
  const stockade::tune::Sources found = stockade::tune::sources();
  experience->path = stockade::tune::user_path().data();
  experience->fingerprint = stockade::tune::fingerprint().text;
  experience->user = found.user == nullptr ? nullptr : found.user->name;
  experience->problem = found.problem;
  experience->problem_line = found.problem_line;
  experience->built_in = found.built_in == nullptr ? nullptr : found.built_in->name;
  return STOCKADE_OK;
}

const char* stockade_build(void) {
  return "compiler=" STOCKADE_COMPILER " optimized=" STOCKADE_OPTIMIZED " assertions=" STOCKADE_ASSERTIONS
         " sanitizer=" STOCKADE_SANITIZER;
}

}  // extern "C"
