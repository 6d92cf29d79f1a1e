// What is refused in a message before anything is done.
#pragma once

#include <cstdint>

#include "base/status.h"
#include "cipher/key.h"

namespace stockade::cipher {

// What crypt and crypt_many refuse in a message that is not GCM: MODE, IV_LENGTH, DATA_LENGTH, DATA_TOO_LONG, OVERLAP.
Status check_message(const CipherKey& key, const uint8_t* iv, uint64_t iv_length, const uint8_t* in, uint64_t length,
                     const uint8_t* out);

// What seal and open refuse: MODE, IV_LENGTH, TAG_LENGTH, DATA_TOO_LONG, OVERLAP.
Status check_sealed(const CipherKey& key, stockade_direction direction, const uint8_t* iv, uint64_t iv_length,
                    const uint8_t* aad, uint64_t aad_length, const uint8_t* in, uint64_t length, const uint8_t* out,
                    const uint8_t* tag, uint64_t tag_length);

// What encrypt_padded and decrypt_padded refuse, with `out_needed` bytes to be written: MODE, IV_LENGTH, OUTPUT_SIZE, OVERLAP.
Status check_padded(const CipherKey& key, const uint8_t* iv, uint64_t iv_length, const uint8_t* in, uint64_t length,
                    const uint8_t* out, uint64_t out_size, uint64_t out_needed);

// What crypt_units refuses: MODE, ARGUMENT, IV_LENGTH, DATA_LENGTH, OVERLAP.
Status check_units(const CipherKey& key, const uint8_t* iv, uint64_t iv_length, uint64_t unit, const uint8_t* in,
                   uint64_t length, const uint8_t* out);

}  // namespace stockade::cipher
