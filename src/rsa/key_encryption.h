// Private keys under a passphrase, as libcrypto decrypts and encrypts them.
#pragma once

#include <cstdint>
#include <vector>

#include "base/bytes.h"
#include "base/random.h"
#include "base/secret.h"
#include "base/status.h"

namespace stockade::rsa {

// RFC 5958 3: `algorithm` is the DER of an AlgorithmIdentifier, of PBES1, PBES2 or PKCS#12. `plain` has `length` bytes.
// KEY_TYPE (libcrypto does not know the algorithm), KEY_FILE (over five million iterations), PASSPHRASE, LIBRARY, MEMORY.
Status decrypt_pkcs8(Bytes algorithm, Bytes encrypted, Bytes passphrase, SecretBuffer& plain, uint64_t& length);

// PBES2 (RFC 8018 6.2) with AES-256-CBC and PBKDF2 of HMAC-SHA-256; says in `algorithm` how. RANDOM, LIBRARY, MEMORY.
Status encrypt_pkcs8(Bytes plain, Bytes passphrase, uint32_t iterations, RandomSource& random,
                     std::vector<uint8_t>& algorithm, std::vector<uint8_t>& encrypted);

// What follows the lines "Proc-Type: 4,ENCRYPTED" and "DEK-Info: CIPHER,IV" of a PEM file; `header` is those lines.
// KEY_TYPE, KEY_FILE, PASSPHRASE, LIBRARY, MEMORY.
Status decrypt_traditional(const char* header, Bytes encrypted, Bytes passphrase, SecretBuffer& plain,
                           uint64_t& length);

}  // namespace stockade::rsa
