// Many messages at once.
#pragma once

#include <cstdint>

#include "cipher/key.h"
#include "config/environment.h"

namespace stockade::cipher {

// stockade_encrypt_many and stockade_decrypt_many for the messages whose status is OK on entry, and which have a key
// and no null pointers; others are left alone. Writes each message's status. Engines of the CPU allocate nothing. With
// `cuda`, messages that must be done block after block end with MODE, and those that a device fails at with its status.
void crypt_many(stockade_direction direction, stockade_message* messages, uint64_t count,
                const config::EngineChoice& engine);

}  // namespace stockade::cipher
