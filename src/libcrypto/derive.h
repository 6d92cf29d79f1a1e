// The keyed functions that the file format is built on. They are libcrypto's, throw nothing, and may be called from many
// threads at once. Each returns LIBRARY if libcrypto refuses.
#pragma once

#include <cstdint>
#include <span>

#include "base/bytes.h"
#include "base/status.h"

namespace stockade::libcrypto {

// RFC 5869 2.3 with SHA-512; `info` is the concatenation of its parts, of any length. `out` has at most 255 * 64 bytes, and
// is zero on an error. ARGUMENT, LIBRARY, MEMORY.
Status hkdf_expand(Bytes key, std::span<const Bytes> info, std::span<uint8_t> out);

// RFC 2104 with SHA-256. LIBRARY, MEMORY.
Status hmac_sha256(Bytes key, Bytes message, uint8_t mac[32]);

// RFC 7914 with r = 8 and p = 1; takes 2^log2_n KiB of memory (log2_n from 1 to 63). Calls that would take more than a GiB
// together wait for one another; a single one that needs more than that runs alone. ARGUMENT, LIBRARY, MEMORY.
Status scrypt(Bytes passphrase, Bytes salt, uint32_t log2_n, std::span<uint8_t> out);

}  // namespace stockade::libcrypto
