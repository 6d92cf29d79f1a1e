// What reading an RSA key for a handle begins with, whether it becomes a stockade_rsa_key or joins a keyring.
#pragma once

#include "base/secret.h"
#include "base/status.h"
#include "bignum/bignum_variants.h"
#include "rsa/key_files.h"
#include "stockade/stockade.h"

namespace stockade::capi {

// ARGUMENT, NULL_POINTER. Null is fine.
Status check_reading(const stockade_rsa_reading* reading);

// The row for a key, from its `force` (may be null) and the environment. UNKNOWN_NAME, UNAVAILABLE, ARGUMENT.
Status choose_row(const char* force, const bignum::Variant** row);

// How an encrypted key comes by its passphrase; empty where `reading` (may be null) has none. It refers to `reading`.
rsa::AskPassphrase asking(const stockade_rsa_reading* reading);

}  // namespace stockade::capi
