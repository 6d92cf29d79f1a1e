#include "libcrypto/library.h"

#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/provider.h>

#include <atomic>

namespace stockade::libcrypto {
namespace {

struct Library {
  Handle<OSSL_LIB_CTX, OSSL_LIB_CTX_free> context;
  Handle<OSSL_PROVIDER, OSSL_PROVIDER_unload> provider;
};

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
  if (!own->provider) return nullptr;
  // Another thread may have been faster.
  if (made.compare_exchange_strong(library, own.get(), std::memory_order_acq_rel)) library = own.release();
  return library->context.get();
}

}  // namespace stockade::libcrypto
