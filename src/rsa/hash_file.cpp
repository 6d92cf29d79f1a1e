#include "rsa/hash_file.h"

#include <openssl/evp.h>
#include <unistd.h>

#include <cerrno>

#include "base/secret.h"
#include "rsa/libcrypto.h"

namespace stockade::rsa {

Status hash_file(Hash hash, int fd, uint8_t* digest) {
  constexpr size_t piece = size_t{256} << 10;
  const ErrorScope errors;
  OSSL_LIB_CTX* const library = library_context();
  const Handle<EVP_MD, EVP_MD_free> function(library == nullptr ? nullptr
                                                                : EVP_MD_fetch(library, hash_name(hash), nullptr));
  const Handle<EVP_MD_CTX, EVP_MD_CTX_free> context(EVP_MD_CTX_new());
  if (!function || !context || EVP_DigestInit_ex2(context.get(), function.get(), nullptr) != 1) return errors.status();
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

}  // namespace stockade::rsa
