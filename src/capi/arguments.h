// What the functions of stockade.h begin with: pointers, enum values and handles as a C caller passes them.
#pragma once

#include <cstdint>
#include <cstring>
#include <utility>

#include "base/status.h"
#include "base/without_throwing.h"
#include "capi/handles.h"
#include "config/environment.h"
#include "offload/make_engine.h"

namespace stockade::capi {

inline const uint8_t* bytes(const void* pointer) { return static_cast<const uint8_t*>(pointer); }
inline uint8_t* bytes(void* pointer) { return static_cast<uint8_t*>(pointer); }

// Nothing may be thrown across the border: every function of stockade.h that returns a status runs in this, but for those
// that only look at their arguments and at numbers.
template <typename Body>
Status guarded(Body&& body) noexcept {
  return without_throwing(std::forward<Body>(body));
}

inline bool missing(const void* pointer, uint64_t length) { return pointer == nullptr && length != 0; }

// Whether an array of so many items cannot exist: it would reach beyond the addresses that the operating system gives out
// (2^47 on x86-64 and on Arm). The count of an array is checked before anything of it is read or written.
inline bool impossible(uint64_t count, uint64_t item_bytes) {
  constexpr uint64_t most_bytes = uint64_t{1} << 47;
  return count > most_bytes / item_bytes;
}

// An enum argument as the number that a C caller passed, which may be none of the enumerators.
template <typename Enum>
uint32_t number(const Enum& value) {
  static_assert(sizeof(Enum) == sizeof(uint32_t));
  uint32_t result;
  std::memcpy(&result, &value, sizeof result);
  return result;
}

// libcrypto counts the bytes of a passphrase in an int.
inline constexpr uint64_t longest_passphrase = INT32_MAX;

inline bool valid(const stockade_mode& mode) { return number(mode) <= STOCKADE_GCM; }
inline bool valid(const stockade_direction& direction) { return number(direction) <= STOCKADE_DECRYPT; }
inline bool valid(const stockade_cipher& cipher) { return number(cipher) <= STOCKADE_COBBLESTONE_128; }
inline bool valid(const stockade_padding& padding) { return number(padding) <= STOCKADE_PADDING_PKCS7; }

inline Status resolve(const stockade_engine* handle, const config::EngineChoice** found) {
  if (handle == nullptr) return offload::default_engine(found);
  *found = &handle->wish;
  return STOCKADE_OK;
}

}  // namespace stockade::capi
