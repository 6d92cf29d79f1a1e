// The hash functions of FIPS 180-4, and the mask of RSA's paddings that is made of them. They are libcrypto's. Nothing here
// throws; all may be called from many threads at once.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "base/bytes.h"
#include "base/status.h"

namespace stockade::libcrypto {

enum class Hash : uint32_t { sha1, sha224, sha256, sha384, sha512, sha512_224, sha512_256 };

inline constexpr uint32_t hash_count = 7;
inline constexpr uint64_t most_digest_bytes = 64;

// "sha1", "sha224", ... "sha512-256".
const char* hash_name(Hash hash);
// "SHA1", "SHA2-224", ...: what libcrypto calls it.
const char* library_name(Hash hash);
// UNKNOWN_NAME.
Status find_hash(std::string_view name, Hash& hash);
// What one digest has.
uint64_t digest_bytes(Hash hash);
// RFC 8017 9.2 note 1: the DER of DigestInfo up to the digest, parameters NULL.
Bytes digest_info_prefix(Hash hash);

// Of the concatenation of the parts; `digest` takes digest_bytes(hash). LIBRARY, MEMORY.
Status hash_parts(Hash hash, std::span<const Bytes> parts, uint8_t* digest);

// Of everything from the descriptor's position to its end; `digest` takes digest_bytes(hash). IO (errno holds the
// reason), LIBRARY, MEMORY.
Status hash_file(Hash hash, int fd, uint8_t* digest);

// data ^= MGF1(seed), as many bytes as `data` has (RFC 8017 B.2.1). LIBRARY, MEMORY.
Status mask_with(Hash hash, Bytes seed, std::span<uint8_t> data);

}  // namespace stockade::libcrypto
