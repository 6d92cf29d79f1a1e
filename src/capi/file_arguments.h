// What the functions of stockade.h that are about Stockade files begin with, and how they report.
#pragma once

#include <cstdint>
#include <cstring>

#include "base/fault.h"
#include "capi/arguments.h"
#include "format/recipient.h"
#include "format/sealed_file.h"

struct stockade_keyring {
  stockade::format::Keyring keyring;
};

namespace stockade::capi {

// A caller's structure whose last members came with a later version. A caller that was built before has a shorter one,
// which begins at the same `oldest` bytes; what it lacks is zero.
template <typename Options>
class Extended {
 public:
  Extended(Options& given, uint64_t oldest) : given_(given), size_(given.struct_size) {
    valid_ = size_ == sizeof(Options) || size_ == oldest;
    if (valid_) std::memcpy(static_cast<void*>(&whole_), &given, size_);
  }
  Extended(const Extended&) = delete;
  Extended& operator=(const Extended&) = delete;
  // What has been written to it is the caller's.
  ~Extended() {
    if (valid_) std::memcpy(static_cast<void*>(&given_), &whole_, size_);
  }
  bool valid() const { return valid_; }
  Options& operator*() { return whole_; }
  Options* operator->() { return &whole_; }

 private:
  Options& given_;
  const uint64_t size_;
  bool valid_;
  Options whole_{};
};

inline Status put_fault(stockade_fault* fault, const stockade_fault& found) {
  if (fault != nullptr) *fault = found;
  return found.status;
}

// With a fault that says no more than the status unless `found` is about it.
inline Status put_fault(stockade_fault* fault, Status status, const stockade_fault& found) {
  return put_fault(fault, found.status == status ? found : stockade::make_fault(status));
}

inline const format::Keyring* keyring_of(const stockade_keyring* handle) {
  return handle == nullptr ? nullptr : &handle->keyring;
}

inline Status read_format(const stockade_format* given, format::FileFormat& read) {
  if (given == nullptr) return STOCKADE_ERROR_NULL_POINTER;
  if (given->struct_size != sizeof *given || !valid(given->cipher)) return STOCKADE_ERROR_ARGUMENT;
  if (missing(given->key, given->key_length) || missing(given->context, given->context_length)) {
    return STOCKADE_ERROR_NULL_POINTER;
  }
  // Either kind of file, not something between the two.
  const bool plain = given->key_length != 0 || given->context_length != 0;
  if (plain ? given->keyring != nullptr : given->keyring == nullptr) return STOCKADE_ERROR_ARGUMENT;
  read.keyring = keyring_of(given->keyring);
  read.key = {bytes(given->key), given->key_length};
  read.context = {bytes(given->context), given->context_length};
  read.cipher = given->cipher;
  read.armor = given->armor != 0;
  read.max_work_factor = given->max_work_factor;
  return STOCKADE_OK;
}

}  // namespace stockade::capi
