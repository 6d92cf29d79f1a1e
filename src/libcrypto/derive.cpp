#include "libcrypto/derive.h"

#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/kdf.h>
#include <openssl/params.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <new>

#include "base/secret.h"
#include "libcrypto/library.h"
#include "libcrypto/memory_gate.h"

namespace stockade::libcrypto {
namespace {

constexpr uint64_t sha512_bytes = 64;
constexpr uint64_t max_expand_bytes = 255 * sha512_bytes;  // RFC 5869 2.3
constexpr uint64_t scrypt_budget = uint64_t{1} << 30;      // bytes at one time
constexpr uint32_t scrypt_r = 8, scrypt_p = 1;
// 2^56 bytes: no process of today can have them. Also keeps the sums below from wrapping.
constexpr uint32_t max_log2_n = 46;

using MacContext = Handle<EVP_MAC_CTX, EVP_MAC_CTX_free>;
using KdfContext = Handle<EVP_KDF_CTX, EVP_KDF_CTX_free>;
using Mac = Handle<EVP_MAC, EVP_MAC_free>;
using Kdf = Handle<EVP_KDF, EVP_KDF_free>;

struct Functions {
  // Keyed with nothing of value. A copy that gets a key is cheaper than a context that has to look its digest up by name.
  MacContext hmac_sha256, hmac_sha512;
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

bool fetch(Functions& functions) {
  OSSL_LIB_CTX* const context = library_context();
  if (context == nullptr) return false;
  functions.hmac_sha256 = make_hmac(context, OSSL_DIGEST_NAME_SHA2_256);
  functions.hmac_sha512 = make_hmac(context, OSSL_DIGEST_NAME_SHA2_512);
  functions.scrypt.reset(EVP_KDF_fetch(context, OSSL_KDF_NAME_SCRYPT, nullptr));
  return functions.hmac_sha256 && functions.hmac_sha512 && functions.scrypt;
}

// Made by the first call, and by the next one if that failed. Never freed: at the end of the process other threads may
// still be at work, and libcrypto may already have taken itself down.
Status find_functions(const ErrorScope& errors, Functions** functions) {
  static std::atomic<Functions*> made = nullptr;
  *functions = made.load(std::memory_order_acquire);
  if (*functions != nullptr) return STOCKADE_OK;
  std::unique_ptr<Functions> own(new (std::nothrow) Functions);
  if (!own) return STOCKADE_ERROR_MEMORY;
  if (!fetch(*own)) return errors.status();
  // Another thread may have been faster.
  if (made.compare_exchange_strong(*functions, own.get(), std::memory_order_acq_rel)) *functions = own.release();
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
  Functions* functions = nullptr;
  if (const Status status = find_functions(errors, &functions); status != STOCKADE_OK) return status;
  // Not libcrypto's own HKDF, which takes no more than 2 KiB of info in version 3.0.
  const MacContext hmac(EVP_MAC_CTX_dup(functions->hmac_sha512.get()));
  if (hmac && expand(hmac.get(), key, info, out)) return STOCKADE_OK;
  wipe(out.data(), out.size());
  return errors.status();
}

Status hmac_sha256(Bytes key, Bytes message, uint8_t mac[32]) {
  const ErrorScope errors;
  Functions* functions = nullptr;
  if (const Status status = find_functions(errors, &functions); status != STOCKADE_OK) return status;
  const MacContext hmac(EVP_MAC_CTX_dup(functions->hmac_sha256.get()));
  size_t length = 0;
  const bool done = hmac && EVP_MAC_init(hmac.get(), key.data(), key.size(), nullptr) == 1 &&
                    update(hmac.get(), message) && EVP_MAC_final(hmac.get(), mac, &length, 32) == 1;
  return done ? STOCKADE_OK : errors.status();
}

Status scrypt(Bytes passphrase, Bytes salt, uint32_t log2_n, std::span<uint8_t> out) {
  if (log2_n == 0 || log2_n > 63) return STOCKADE_ERROR_ARGUMENT;
  if (log2_n > max_log2_n) return STOCKADE_ERROR_MEMORY;
  const ErrorScope errors;
  Functions* functions = nullptr;
  if (const Status status = find_functions(errors, &functions); status != STOCKADE_OK) return status;
  const uint64_t n = uint64_t{1} << log2_n;
  const uint64_t memory = n * 128 * scrypt_r;
  functions->gate.enter(memory);
  const bool done = run_scrypt(functions->scrypt.get(), passphrase, salt, n, out);
  functions->gate.leave(memory);
  return done ? STOCKADE_OK : errors.status();
}

}  // namespace stockade::libcrypto
