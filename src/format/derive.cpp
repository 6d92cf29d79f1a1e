#include "format/derive.h"

#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/kdf.h>
#include <openssl/params.h>
#include <openssl/provider.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <new>

#include "base/secret.h"
#include "format/memory_gate.h"

namespace stockade::format {
namespace {

constexpr uint64_t sha512_bytes = 64;
constexpr uint64_t max_expand_bytes = 255 * sha512_bytes;  // RFC 5869 2.3
constexpr uint64_t scrypt_budget = uint64_t{1} << 30;      // bytes at one time
constexpr uint32_t scrypt_r = 8, scrypt_p = 1;
// 2^56 bytes: no process of today can have them. Also keeps the sums below from wrapping.
constexpr uint32_t max_log2_n = 46;

template <auto free_function>
struct Deleter {
  template <typename T>
  void operator()(T* object) const {
    free_function(object);
  }
};
using Provider = std::unique_ptr<OSSL_PROVIDER, Deleter<OSSL_PROVIDER_unload>>;
using LibraryContext = std::unique_ptr<OSSL_LIB_CTX, Deleter<OSSL_LIB_CTX_free>>;
using MacContext = std::unique_ptr<EVP_MAC_CTX, Deleter<EVP_MAC_CTX_free>>;
using DigestContext = std::unique_ptr<EVP_MD_CTX, Deleter<EVP_MD_CTX_free>>;
using KdfContext = std::unique_ptr<EVP_KDF_CTX, Deleter<EVP_KDF_CTX_free>>;
using Mac = std::unique_ptr<EVP_MAC, Deleter<EVP_MAC_free>>;
using Digest = std::unique_ptr<EVP_MD, Deleter<EVP_MD_free>>;
using Kdf = std::unique_ptr<EVP_KDF, Deleter<EVP_KDF_free>>;

// The errors that libcrypto leaves in the thread's queue during its life are taken out of it again.
class ErrorScope {
 public:
  ErrorScope() : before_(ERR_peek_last_error()) { ERR_set_mark(); }
  ~ErrorScope() { ERR_pop_to_mark(); }
  Status status() const {
    const unsigned long last = ERR_peek_last_error();
    const bool of_ours = last != before_;
    return of_ours && ERR_GET_REASON(last) == ERR_R_MALLOC_FAILURE ? STOCKADE_ERROR_MEMORY : STOCKADE_ERROR_LIBRARY;
  }

 private:
  const unsigned long before_;  // left there by the host
};

struct Library {
  LibraryContext context;
  Provider provider;
  // Keyed with nothing of value. A copy that gets a key is cheaper than a context that has to look its digest up by name.
  MacContext hmac_sha256, hmac_sha512;
  Digest sha256;
  Kdf scrypt;
  MemoryGate gate{scrypt_budget};
};

MacContext make_hmac(OSSL_LIB_CTX* context, const char* digest) {
  const Mac mac(EVP_MAC_fetch(context, OSSL_MAC_NAME_HMAC, nullptr));
  MacContext hmac(mac ? EVP_MAC_CTX_new(mac.get()) : nullptr);
  const OSSL_PARAM parameters[] = {
      OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, const_cast<char*>(digest), 0),
      OSSL_PARAM_construct_end()};
  const uint8_t no_key[1] = {};
  if (hmac && EVP_MAC_init(hmac.get(), no_key, sizeof no_key, parameters) != 1) hmac.reset();
  return hmac;
}

bool fill(Library& library) {
  library.context.reset(OSSL_LIB_CTX_new());
  OSSL_LIB_CTX* const context = library.context.get();
  if (context == nullptr) return false;
  library.provider.reset(OSSL_PROVIDER_load(context, "default"));
  if (!library.provider) return false;
  library.hmac_sha256 = make_hmac(context, OSSL_DIGEST_NAME_SHA2_256);
  library.hmac_sha512 = make_hmac(context, OSSL_DIGEST_NAME_SHA2_512);
  library.sha256.reset(EVP_MD_fetch(context, OSSL_DIGEST_NAME_SHA2_256, nullptr));
  library.scrypt.reset(EVP_KDF_fetch(context, OSSL_KDF_NAME_SCRYPT, nullptr));
  return library.hmac_sha256 && library.hmac_sha512 && library.sha256 && library.scrypt;
}

// Made by the first call, and by the next one if that failed. Never freed: at the end of the process other threads may
// still be at work, and libcrypto may already have taken itself down.
Status find_library(const ErrorScope& errors, Library** library) {
  static std::atomic<Library*> made = nullptr;
  *library = made.load(std::memory_order_acquire);
  if (*library != nullptr) return STOCKADE_OK;
  std::unique_ptr<Library> own(new (std::nothrow) Library);
  if (!own) return STOCKADE_ERROR_MEMORY;
  if (!fill(*own)) return errors.status();
  // Another thread may have been faster.
  if (made.compare_exchange_strong(*library, own.get(), std::memory_order_acq_rel)) *library = own.release();
  return STOCKADE_OK;
}

bool update(EVP_MAC_CTX* hmac, Bytes bytes) {
  return bytes.empty() || EVP_MAC_update(hmac, bytes.data(), bytes.size()) == 1;
}

bool expand(EVP_MAC_CTX* hmac, Bytes key, std::span<const Bytes> info, std::span<uint8_t> out) {
  if (EVP_MAC_init(hmac, key.data(), key.size(), nullptr) != 1) return false;
  Secret<uint8_t[sha512_bytes]> block;
  uint8_t counter = 0;
  for (uint64_t done = 0; done < out.size(); done += sha512_bytes) {
    if (counter != 0) {
      if (EVP_MAC_init(hmac, nullptr, 0, nullptr) != 1 || !update(hmac, *block)) return false;
    }
    for (const Bytes part : info) {
      if (!update(hmac, part)) return false;
    }
    ++counter;
    size_t length = 0;
    if (!update(hmac, {&counter, 1}) || EVP_MAC_final(hmac, *block, &length, sha512_bytes) != 1) return false;
    std::copy_n(*block, std::min(sha512_bytes, out.size() - done), out.data() + done);
  }
  return true;
}

bool run_scrypt(EVP_KDF* scrypt, Bytes passphrase, Bytes salt, uint64_t n, std::span<uint8_t> out) {
  const KdfContext context(EVP_KDF_CTX_new(scrypt));
  if (!context) return false;
  uint32_t r = scrypt_r, p = scrypt_p;
  uint64_t memory =
      (n + 64) * 128 * scrypt_r;  // what it works on and a little more; without, libcrypto stops at 32 MiB
  const OSSL_PARAM parameters[] = {
      OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_PASSWORD, const_cast<uint8_t*>(passphrase.data()),
                                        passphrase.size()),
      OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_SALT, const_cast<uint8_t*>(salt.data()), salt.size()),
      OSSL_PARAM_construct_uint64(OSSL_KDF_PARAM_SCRYPT_N, &n),
      OSSL_PARAM_construct_uint32(OSSL_KDF_PARAM_SCRYPT_R, &r),
      OSSL_PARAM_construct_uint32(OSSL_KDF_PARAM_SCRYPT_P, &p),
      OSSL_PARAM_construct_uint64(OSSL_KDF_PARAM_SCRYPT_MAXMEM, &memory),
      OSSL_PARAM_construct_end()};
  return EVP_KDF_derive(context.get(), out.data(), out.size(), parameters) == 1;
}

}  // namespace

Status hkdf_expand(Bytes key, std::span<const Bytes> info, std::span<uint8_t> out) {
  wipe(out.data(), out.size());
  if (out.size() > max_expand_bytes) return STOCKADE_ERROR_ARGUMENT;
  const ErrorScope errors;
  Library* crypto = nullptr;
  if (const Status status = find_library(errors, &crypto); status != STOCKADE_OK) return status;
  // Not libcrypto's own HKDF, which takes no more than 2 KiB of info in version 3.0.
  const MacContext hmac(EVP_MAC_CTX_dup(crypto->hmac_sha512.get()));
  if (hmac && expand(hmac.get(), key, info, out)) return STOCKADE_OK;
  wipe(out.data(), out.size());
  return errors.status();
}

Status hmac_sha256(Bytes key, Bytes message, uint8_t mac[32]) {
  const ErrorScope errors;
  Library* crypto = nullptr;
  if (const Status status = find_library(errors, &crypto); status != STOCKADE_OK) return status;
  const MacContext hmac(EVP_MAC_CTX_dup(crypto->hmac_sha256.get()));
  size_t length = 0;
  const bool done = hmac && EVP_MAC_init(hmac.get(), key.data(), key.size(), nullptr) == 1 &&
                    update(hmac.get(), message) && EVP_MAC_final(hmac.get(), mac, &length, 32) == 1;
  return done ? STOCKADE_OK : errors.status();
}

Status sha256(std::span<const Bytes> parts, uint8_t digest[32]) {
  const ErrorScope errors;
  Library* crypto = nullptr;
  if (const Status status = find_library(errors, &crypto); status != STOCKADE_OK) return status;
  const DigestContext context(EVP_MD_CTX_new());
  bool done = context && EVP_DigestInit_ex2(context.get(), crypto->sha256.get(), nullptr) == 1;
  for (const Bytes part : parts) done = done && EVP_DigestUpdate(context.get(), part.data(), part.size()) == 1;
  done = done && EVP_DigestFinal_ex(context.get(), digest, nullptr) == 1;
  return done ? STOCKADE_OK : errors.status();
}

Status scrypt(Bytes passphrase, Bytes salt, uint32_t log2_n, std::span<uint8_t> out) {
  if (log2_n == 0 || log2_n > 63) return STOCKADE_ERROR_ARGUMENT;
  if (log2_n > max_log2_n) return STOCKADE_ERROR_MEMORY;
  const ErrorScope errors;
  Library* crypto = nullptr;
  if (const Status status = find_library(errors, &crypto); status != STOCKADE_OK) return status;
  const uint64_t n = uint64_t{1} << log2_n;
  const uint64_t memory = n * 128 * scrypt_r;
  crypto->gate.enter(memory);
  const bool done = run_scrypt(crypto->scrypt.get(), passphrase, salt, n, out);
  crypto->gate.leave(memory);
  return done ? STOCKADE_OK : errors.status();
}

}  // namespace stockade::format
