// Files in the raw formats: the bytes of the mode and nothing else, but for a GCM tag of 16 bytes behind the
// ciphertext.
#pragma once

#include <cstdint>

#include "base/status.h"
#include "cipher/key.h"
#include "cipher/transform.h"
#include "config/environment.h"

namespace stockade::format {

// How finely a file is cut and reported. The bytes do not depend on it.
struct FilePace {
  uint64_t segment_bytes = cipher::default_segment_bytes;  // rounded to what the mode can be cut at
  uint32_t progress_interval = 100;                        // milliseconds
};

// stockade_raw_encrypt_fd and stockade_raw_decrypt_fd. A ciphertext shorter than a GCM tag is an AUTHENTICATION error, for it
// may have been cut by anyone. A padded ciphertext that is empty or no multiple of 16 bytes is a DATA_LENGTH error.
// Associated data, padding or a unit for a mode that has none is a MODE error.
Status crypt_fd(const cipher::CipherKey& key, stockade_direction direction, int in_fd, int out_fd,
                stockade_raw_options& options, const config::EngineChoice& engine, const FilePace& pace = {});

}  // namespace stockade::format
