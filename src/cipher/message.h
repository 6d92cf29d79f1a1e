// One message under a key of any mode, distributed over the workers of an engine.
#pragma once

#include <cstdint>

#include "base/status.h"
#include "cipher/key.h"
#include "config/environment.h"
#include "parallel/plan.h"

namespace stockade::cipher {

// Who would run one message of `length` bytes. Of an engine with GPUs the plan names the most slots that it would have.
parallel::Plan plan_message(const CipherKey& key, stockade_direction direction, uint64_t length, bool in_place,
                            const config::EngineChoice& engine);

// The one-message calls of stockade.h. Null pointers have been refused; everything else is checked here.
Status crypt(const CipherKey& key, stockade_direction direction, const uint8_t* iv, uint64_t iv_length,
             const uint8_t* in, uint64_t length, uint8_t* out, const config::EngineChoice& engine);
Status encrypt_padded(const CipherKey& key, const uint8_t* iv, uint64_t iv_length, const uint8_t* in, uint64_t length,
                      uint8_t* out, uint64_t out_size, uint64_t* out_length, const config::EngineChoice& engine);
Status decrypt_padded(const CipherKey& key, const uint8_t* iv, uint64_t iv_length, const uint8_t* in, uint64_t length,
                      uint8_t* out, uint64_t out_size, uint64_t* out_length, const config::EngineChoice& engine);
Status crypt_units(const CipherKey& key, stockade_direction direction, const uint8_t* iv, uint64_t iv_length,
                   uint64_t unit, const uint8_t* in, uint64_t length, uint8_t* out, const config::EngineChoice& engine);
Status seal(const CipherKey& key, const uint8_t* iv, uint64_t iv_length, const uint8_t* aad, uint64_t aad_length,
            const uint8_t* in, uint64_t length, uint8_t* out, uint8_t* tag, uint64_t tag_length,
            const config::EngineChoice& engine);
Status open(const CipherKey& key, const uint8_t* iv, uint64_t iv_length, const uint8_t* aad, uint64_t aad_length,
            const uint8_t* in, uint64_t length, uint8_t* out, const uint8_t* tag, uint64_t tag_length,
            const config::EngineChoice& engine);

}  // namespace stockade::cipher
