#include "libcrypto/hash.h"

#include <openssl/evp.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>

#include "base/secret.h"
#include "libcrypto/library.h"

namespace stockade::libcrypto {
namespace {

using DigestContext = Handle<EVP_MD_CTX, EVP_MD_CTX_free>;
using Digest = Handle<EVP_MD, EVP_MD_free>;

struct Row {
  const char* name;
  const char* library_name;
  uint64_t bytes;
  uint8_t prefix[19];
  uint8_t prefix_bytes;
};

// In the order of the enumeration.
constexpr Row rows[hash_count] = {
    {"sha1", "SHA1", 20, {0x30, 0x21, 0x30, 0x09, 6, 5, 0x2b, 0x0e, 3, 2, 0x1a, 5, 0, 4, 20}, 15},
    {"sha224", "SHA2-224", 28, {0x30, 0x2d, 0x30, 13, 6, 9, 0x60, 0x86, 0x48, 1, 0x65, 3, 4, 2, 4, 5, 0, 4, 28}, 19},
    {"sha256", "SHA2-256", 32, {0x30, 0x31, 0x30, 13, 6, 9, 0x60, 0x86, 0x48, 1, 0x65, 3, 4, 2, 1, 5, 0, 4, 32}, 19},
    {"sha384", "SHA2-384", 48, {0x30, 0x41, 0x30, 13, 6, 9, 0x60, 0x86, 0x48, 1, 0x65, 3, 4, 2, 2, 5, 0, 4, 48}, 19},
    {"sha512", "SHA2-512", 64, {0x30, 0x51, 0x30, 13, 6, 9, 0x60, 0x86, 0x48, 1, 0x65, 3, 4, 2, 3, 5, 0, 4, 64}, 19},
    {"sha512-224",
     "SHA2-512/224",
     28,
     {0x30, 0x2d, 0x30, 13, 6, 9, 0x60, 0x86, 0x48, 1, 0x65, 3, 4, 2, 5, 5, 0, 4, 28},
     19},
    {"sha512-256",
     "SHA2-512/256",
     32,
     {0x30, 0x31, 0x30, 13, 6, 9, 0x60, 0x86, 0x48, 1, 0x65, 3, 4, 2, 6, 5, 0, 4, 32},
     19},
};

const Row& row(Hash hash) { return rows[static_cast<uint32_t>(hash)]; }

// Fetched once for each hash and never freed. Null if libcrypto refuses.
const EVP_MD* fetched(Hash hash) {
  static std::atomic<EVP_MD*> made[hash_count];
  std::atomic<EVP_MD*>& slot = made[static_cast<uint32_t>(hash)];
  EVP_MD* digest = slot.load(std::memory_order_acquire);
  if (digest != nullptr) return digest;
  OSSL_LIB_CTX* const context = library_context();
  Digest own(context == nullptr ? nullptr : EVP_MD_fetch(context, row(hash).library_name, nullptr));
  if (!own) return nullptr;
  if (slot.compare_exchange_strong(digest, own.get(), std::memory_order_acq_rel)) digest = own.release();
  return digest;
}

bool digest_of(EVP_MD_CTX* context, const EVP_MD* digest, std::span<const Bytes> parts, uint8_t* out) {
  bool done = EVP_DigestInit_ex2(context, digest, nullptr) == 1;
  for (const Bytes part : parts) done = done && EVP_DigestUpdate(context, part.data(), part.size()) == 1;
  return done && EVP_DigestFinal_ex(context, out, nullptr) == 1;
}

}  // namespace

const char* hash_name(Hash hash) { return row(hash).name; }

const char* library_name(Hash hash) { return row(hash).library_name; }

Status find_hash(std::string_view name, Hash& hash) {
  const Row* const found = std::find_if(std::begin(rows), std::end(rows), [&](const Row& r) { return name == r.name; });
  if (found == std::end(rows)) return STOCKADE_ERROR_UNKNOWN_NAME;
  hash = static_cast<Hash>(found - rows);
  return STOCKADE_OK;
}

uint64_t digest_bytes(Hash hash) { return row(hash).bytes; }

Bytes digest_info_prefix(Hash hash) { return {row(hash).prefix, row(hash).prefix_bytes}; }

Status hash_parts(Hash hash, std::span<const Bytes> parts, uint8_t* digest) {
  const ErrorScope errors;
  const DigestContext context(EVP_MD_CTX_new());
  const EVP_MD* const function = fetched(hash);
  const bool done = context && function != nullptr && digest_of(context.get(), function, parts, digest);
  return done ? STOCKADE_OK : errors.status();
}

Status hash_file(Hash hash, int fd, uint8_t* digest) {
  constexpr size_t piece = size_t{256} << 10;
  const ErrorScope errors;
  const DigestContext context(EVP_MD_CTX_new());
  const EVP_MD* const function = fetched(hash);
  if (!context || function == nullptr || EVP_DigestInit_ex2(context.get(), function, nullptr) != 1) {
    return errors.status();
  }
  SecretBuffer buffer;
  if (!buffer.allocate(piece)) return STOCKADE_ERROR_MEMORY;
  while (true) {
    const ssize_t got = ::read(fd, buffer.data(), piece);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return STOCKADE_ERROR_IO;
    if (got == 0) break;
    if (EVP_DigestUpdate(context.get(), buffer.data(), static_cast<size_t>(got)) != 1) return errors.status();
  }
  return EVP_DigestFinal_ex(context.get(), digest, nullptr) == 1 ? STOCKADE_OK : errors.status();
}

Status mask_with(Hash hash, Bytes seed, std::span<uint8_t> data) {
  const ErrorScope errors;
  const DigestContext context(EVP_MD_CTX_new());
  const EVP_MD* const function = fetched(hash);
  if (!context || function == nullptr) return errors.status();
  Secret<uint8_t[most_digest_bytes]> block;
  uint32_t number = 0;
  for (uint64_t done = 0; done < data.size(); done += digest_bytes(hash)) {
    uint8_t counter[4];
    store_be32(counter, number++);
    const Bytes parts[] = {seed, counter};
    if (!digest_of(context.get(), function, parts, *block)) return errors.status();
    uint8_t* const out = data.data() + done;
    xor_bytes(out, out, *block, std::min(digest_bytes(hash), data.size() - done));
  }
  return STOCKADE_OK;
}

}  // namespace stockade::libcrypto
