// Owners of libcrypto's objects, a library context of our own, so that neither the host's configuration nor its providers
// decide about keys and hashes, and an error queue that is left as it was.
#pragma once

#include <openssl/types.h>

#include <memory>

#include "base/status.h"
#include "base/without_throwing.h"

namespace stockade::libcrypto {

template <auto free_function>
struct Deleter {
  template <typename T>
  void operator()(T* object) const {
    free_function(object);
  }
};
template <typename T, auto free_function>
using Handle = std::unique_ptr<T, Deleter<free_function>>;

// The errors that libcrypto leaves in the thread's queue during its life are taken out of it again.
class ErrorScope {
 public:
  ErrorScope();
  ~ErrorScope();
  ErrorScope(const ErrorScope&) = delete;
  ErrorScope& operator=(const ErrorScope&) = delete;
  // MEMORY if that is what libcrypto said, else `otherwise`. Behind errors that the host has left only the last counts.
  Status status(Status otherwise = STOCKADE_ERROR_LIBRARY) const;
  // Whether libcrypto has said nothing.
  bool none() const;

 private:
  const unsigned long before_;  // left there by the host
};

// Made by the first call that succeeds, and never freed: at the end of the process other threads may still be at work.
// Null if libcrypto refuses.
OSSL_LIB_CTX* library_context();

}  // namespace stockade::libcrypto
