#include "cipher/key.h"

#include <string_view>

#include "aes/aes_variants.h"
#include "config/environment.h"
#include "gcm/gcm_variants.h"

namespace stockade::cipher {

tune::Operation operation_of(stockade_mode mode) {
  switch (mode) {
    case STOCKADE_ECB:
      return tune::Operation::ecb;
    case STOCKADE_CBC:
      return tune::Operation::cbc;
    case STOCKADE_CFB:
      return tune::Operation::cfb;
    case STOCKADE_XTS:
      return tune::Operation::xts;
    case STOCKADE_GCM:
      return tune::Operation::gcm;
    default:
      return tune::Operation::ctr;
  }
}

Status make_key(CipherKey& key, stockade_mode mode, const uint8_t* bytes, uint64_t length, const char* force) {
  const config::Environment& wish = config::environment();
  if (wish.status != STOCKADE_OK) return wish.status;
  std::string_view row = mode == STOCKADE_GCM ? wish.gcm_row : wish.aes_row, gpu_row = wish.gpu_ctr_row;
  config::Environment forced{};
  if (force != nullptr) {
    // A key has no engine, so a name for one would silently do nothing.
    if (std::string_view(force).find("engine:") != std::string_view::npos) return STOCKADE_ERROR_UNKNOWN_NAME;
    if (const Status status = config::parse_force(force, forced); status != STOCKADE_OK) return status;
    const std::string_view forced_row = mode == STOCKADE_GCM ? forced.gcm_row : forced.aes_row;
    if (!forced_row.empty()) row = forced_row;
    if (!forced.gpu_ctr_row.empty()) gpu_row = forced.gpu_ctr_row;
  }
  key.mode = mode;
  Status status;
  if (mode == STOCKADE_GCM) {
    const gcm::Variant* variant = nullptr;
    status = gcm::choose(row, wish.usable, &variant);
    if (status == STOCKADE_OK) status = gcm::expand(key.gcm, variant, bytes, length);
    if (status == STOCKADE_OK) key.bits = key.gcm.bits;
  } else {
    const aes::Variant* variant = nullptr;
    status = aes::choose(row, wish.usable, &variant);
    if (status == STOCKADE_OK) status = aes::expand(key.aes, variant, mode, bytes, length);
    if (status == STOCKADE_OK) key.bits = key.aes.bits;
    for (const aes::GpuCtrVariant& entry : aes::gpu_ctr_variants()) {
      if (gpu_row == entry.name) key.aes.gpu_ctr = &entry;
    }
  }
  return status;
}

}  // namespace stockade::cipher
