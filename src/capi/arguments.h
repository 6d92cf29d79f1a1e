// What the functions of stockade.h begin with: pointers, enum values and handles as a C caller passes them.
#pragma once

#include <cstdint>
#include <cstring>

#include "base/status.h"
#include "engine/engine.h"
#include "engine/handles.h"

namespace stockade::capi {

inline const uint8_t* bytes(const void* pointer) { return static_cast<const uint8_t*>(pointer); }
inline uint8_t* bytes(void* pointer) { return static_cast<uint8_t*>(pointer); }

inline bool missing(const void* pointer, uint64_t length) { return pointer == nullptr && length != 0; }

// An enum argument as the number that a C caller passed, which may be none of the enumerators.
template <typename Enum>
uint32_t number(const Enum& value) {
  static_assert(sizeof(Enum) == sizeof(uint32_t));
  uint32_t result;
  std::memcpy(&result, &value, sizeof result);
  return result;
}

inline bool valid(const stockade_mode& mode) { return number(mode) <= STOCKADE_GCM; }
inline bool valid(const stockade_direction& direction) { return number(direction) <= STOCKADE_DECRYPT; }
inline bool valid(const stockade_cipher& cipher) { return number(cipher) <= STOCKADE_COBBLESTONE_128; }
inline bool valid(const stockade_padding& padding) { return number(padding) <= STOCKADE_PADDING_PKCS7; }

inline Status resolve(const stockade_engine* handle, const engine::Engine** found) {
  if (handle == nullptr) return engine::default_engine(found);
  *found = &handle->wish;
  return STOCKADE_OK;
}

}  // namespace stockade::capi
