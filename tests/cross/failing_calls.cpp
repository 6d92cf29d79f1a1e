#include "cross/failing_calls.h"

#include <openssl/evp.h>
#include <openssl/kdf.h>
#include <openssl/provider.h>
#include <openssl/x509.h>
#include <pthread.h>
#include <sys/random.h>

#include <atomic>
#include <cerrno>

namespace stockade::tests {
namespace {

constexpr int nothing = -1;
std::atomic<int> armed{nothing};
std::atomic<uint64_t> left{0};
std::atomic<uint64_t> refusals{0};

bool refuse(Failing kind) {
  if (armed.load() != static_cast<int>(kind)) return false;
  uint64_t now = left.load();
  while (now != 0) {
    if (left.compare_exchange_weak(now, now - 1)) return false;
  }
  refusals.fetch_add(1);
  return true;
}

}  // namespace

FailingCalls::FailingCalls(Failing kind, uint64_t successes) {
  left.store(successes);
  refusals.store(0);
  armed.store(static_cast<int>(kind));
}

FailingCalls::~FailingCalls() { armed.store(nothing); }

uint64_t FailingCalls::refused() const { return refusals.load(); }

}  // namespace stockade::tests

using stockade::tests::Failing;
using stockade::tests::refuse;

// The linker sends what calls NAME to __wrap_NAME, and __real_NAME to what was called before.
#define STOCKADE_WRAP(result, failure, name, parameters, arguments)                           \
  result __real_##name parameters;                                                            \
  result __wrap_##name parameters {                                                           \
    return refuse(Failing::library) ? static_cast<result>(failure) : __real_##name arguments; \
  }

extern "C" {

int __real_pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*start)(void*), void* argument);
int __wrap_pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*start)(void*), void* argument) {
  return refuse(Failing::thread) ? EAGAIN : __real_pthread_create(thread, attributes, start, argument);
}

ssize_t __real_getrandom(void* buffer, size_t length, unsigned int flags);
ssize_t __wrap_getrandom(void* buffer, size_t length, unsigned int flags) {
  if (!refuse(Failing::random)) return __real_getrandom(buffer, length, flags);
  errno = ENOSYS;
  return -1;
}

// What is fetched once.
STOCKADE_WRAP(OSSL_LIB_CTX*, nullptr, OSSL_LIB_CTX_new, (), ())
STOCKADE_WRAP(OSSL_PROVIDER*, nullptr, OSSL_PROVIDER_load, (OSSL_LIB_CTX * context, const char* name), (context, name))
STOCKADE_WRAP(EVP_MAC*, nullptr, EVP_MAC_fetch, (OSSL_LIB_CTX * context, const char* name, const char* properties),
              (context, name, properties))
STOCKADE_WRAP(EVP_MD*, nullptr, EVP_MD_fetch, (OSSL_LIB_CTX * context, const char* name, const char* properties),
              (context, name, properties))
STOCKADE_WRAP(EVP_KDF*, nullptr, EVP_KDF_fetch, (OSSL_LIB_CTX * context, const char* name, const char* properties),
              (context, name, properties))
STOCKADE_WRAP(EVP_MAC_CTX*, nullptr, EVP_MAC_CTX_new, (EVP_MAC * mac), (mac))

// What is called for each file.
STOCKADE_WRAP(EVP_MAC_CTX*, nullptr, EVP_MAC_CTX_dup, (const EVP_MAC_CTX* context), (context))
STOCKADE_WRAP(int, 0, EVP_MAC_init,
              (EVP_MAC_CTX * context, const unsigned char* key, size_t length, const OSSL_PARAM parameters[]),
              (context, key, length, parameters))
STOCKADE_WRAP(int, 0, EVP_MAC_update, (EVP_MAC_CTX * context, const unsigned char* data, size_t length),
              (context, data, length))
STOCKADE_WRAP(int, 0, EVP_MAC_final, (EVP_MAC_CTX * context, unsigned char* out, size_t* length, size_t size),
              (context, out, length, size))
STOCKADE_WRAP(EVP_MD_CTX*, nullptr, EVP_MD_CTX_new, (), ())
STOCKADE_WRAP(int, 0, EVP_DigestInit_ex2, (EVP_MD_CTX * context, const EVP_MD* digest, const OSSL_PARAM parameters[]),
              (context, digest, parameters))
STOCKADE_WRAP(int, 0, EVP_DigestUpdate, (EVP_MD_CTX * context, const void* data, size_t length),
              (context, data, length))
STOCKADE_WRAP(int, 0, EVP_DigestFinal_ex, (EVP_MD_CTX * context, unsigned char* out, unsigned int* length),
              (context, out, length))
STOCKADE_WRAP(EVP_CIPHER_CTX*, nullptr, EVP_CIPHER_CTX_new, (), ())
STOCKADE_WRAP(int, 0, EVP_CipherUpdate,
              (EVP_CIPHER_CTX * context, unsigned char* out, int* length, const unsigned char* in, int in_length),
              (context, out, length, in, in_length))
STOCKADE_WRAP(X509_ALGOR*, nullptr, PKCS5_pbe2_set_iv_ex,
              (const EVP_CIPHER* cipher, int iterations, unsigned char* salt, int salt_length, unsigned char* iv,
               int prf, OSSL_LIB_CTX* context),
              (cipher, iterations, salt, salt_length, iv, prf, context))
STOCKADE_WRAP(X509*, nullptr, X509_new_ex, (OSSL_LIB_CTX * context, const char* properties), (context, properties))
STOCKADE_WRAP(EVP_KDF_CTX*, nullptr, EVP_KDF_CTX_new, (EVP_KDF * kdf), (kdf))
STOCKADE_WRAP(int, 0, EVP_KDF_derive,
              (EVP_KDF_CTX * context, unsigned char* out, size_t length, const OSSL_PARAM parameters[]),
              (context, out, length, parameters))

}  // extern "C"
