// Batches of RSA operations on the threads of an engine: what operation.h computes, in pieces that fill the lanes of a
// row; or, where workers outnumber operations, with the two powers of each operation on workers of their own. An engine
// with GPUs computes RSA on the CPU.
//
// Errors, and everything else that is not said here, are those of operation.h. `random` is asked by many threads at
// once.
#pragma once

#include <span>

#include "base/random.h"
#include "base/status.h"
#include "config/environment.h"
#include "rsa/operation.h"

namespace stockade::rsa {

Status run_private(const config::EngineChoice& engine, std::span<PrivateOperation> operations, RandomSource& random);
Status run_public(const config::EngineChoice& engine, std::span<PublicOperation> operations);

Status sign_many(const config::EngineChoice& engine, const SignaturePadding& padding, std::span<Signing> batch,
                 RandomSource& random);
Status verify_many(const config::EngineChoice& engine, const SignaturePadding& padding, std::span<Verification> batch);
Status encrypt_many(const config::EngineChoice& engine, const Oaep& oaep, std::span<Encryption> batch,
                    RandomSource& random);
Status decrypt_many(const config::EngineChoice& engine, const Oaep& oaep, std::span<Decryption> batch,
                    RandomSource& random);

// How many operations a worker takes at a time: a multiple of `filling`, which fill the lanes, unless there are too few
// for that, and so few that no worker is left with much when the others are done. At most group_size.
uint64_t operations_at_a_time(uint64_t count, uint64_t filling, uint32_t workers);

// The variant that the profile names for a batch, if this machine can run it; null for the keys' own. Never one that
// somebody has to ask for by name: `reference` is not constant-time, and a profile changes nothing but speed.
const bignum::Variant* known_row(const tune::Choice* choice);

}  // namespace stockade::rsa
