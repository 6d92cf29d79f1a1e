#include "libcrypto/library.h"

#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/kdf.h>
#include <openssl/provider.h>

#include <atomic>

#include "libcrypto/hash.h"

namespace stockade::libcrypto {
namespace {

struct Library {
  Handle<OSSL_LIB_CTX, OSSL_LIB_CTX_free> context;
  Handle<OSSL_PROVIDER, OSSL_PROVIDER_unload> provider;
};

// The first fetch of a kind enters all algorithms of that kind in the context's tables, once: what libcrypto has no memory
// for then is missing as long as the context lives. A context without what the format needs is not kept.
bool fill_tables(OSSL_LIB_CTX* context) {
  for (uint32_t hash = 0; hash < hash_count; ++hash) {
    const char* const name = library_name(static_cast<Hash>(hash));
    if (!Handle<EVP_MD, EVP_MD_free>(EVP_MD_fetch(context, name, nullptr))) return false;
  }
  const Handle<EVP_MAC, EVP_MAC_free> mac(EVP_MAC_fetch(context, OSSL_MAC_NAME_HMAC, nullptr));
  const Handle<EVP_KDF, EVP_KDF_free> kdf(EVP_KDF_fetch(context, OSSL_KDF_NAME_SCRYPT, nullptr));
  const Handle<EVP_CIPHER, EVP_CIPHER_free> cipher(EVP_CIPHER_fetch(context, "AES-256-CBC", nullptr));
  return mac && kdf && cipher;
}

}  // namespace

ErrorScope::ErrorScope() : before_(ERR_peek_last_error()) { ERR_set_mark(); }

ErrorScope::~ErrorScope() { ERR_pop_to_mark(); }

Status ErrorScope::status(Status otherwise) const {
  const unsigned long last = ERR_peek_last_error();
  if (last != before_ && ERR_GET_REASON(last) == ERR_R_MALLOC_FAILURE) return STOCKADE_ERROR_MEMORY;
  // What ran out deep inside libcrypto is followed by errors that say less. Where the host has none of its own, all are
  // ours to take.
  while (before_ == 0) {
    const unsigned long error = ERR_get_error();
    if (error == 0) break;
    if (ERR_GET_REASON(error) == ERR_R_MALLOC_FAILURE) return STOCKADE_ERROR_MEMORY;
  }
  return otherwise;
}

bool ErrorScope::none() const { return ERR_peek_last_error() == before_; }

OSSL_LIB_CTX* library_context() {
  static std::atomic<Library*> made = nullptr;
  Library* library = made.load(std::memory_order_acquire);
  if (library != nullptr) return library->context.get();
  std::unique_ptr<Library> own(new (std::nothrow) Library);
  if (!own) return nullptr;
  own->context.reset(OSSL_LIB_CTX_new());
  if (own->context) own->provider.reset(OSSL_PROVIDER_load(own->context.get(), "default"));
  if (!own->provider || !fill_tables(own->context.get())) return nullptr;
  // Another thread may have been faster.
  if (made.compare_exchange_strong(library, own.get(), std::memory_order_acq_rel)) library = own.release();
  return library->context.get();
}

}  // namespace stockade::libcrypto
