// One message by all ranks of a communicator: ECB, CTR, GCM. Either every rank has a piece of it, or one has it all and sends
// pieces to the others.
#pragma once

#include <cstdint>

#include "cipher/key.h"
#include "mpi/communicator.h"

namespace stockade::mpi {

// What a rank gives. One rank leads: rank 0, or the root. Of the others `iv`, `aad` and what is read of the tag and its
// length are ignored.
struct DistributedMessage {
  // OK, or what is wrong with this rank's arguments already: then the rest is not looked at, and all ranks learn of it.
  Status refused;
  stockade_direction direction;
  bool sealed;  // GCM; otherwise ECB or CTR
  const cipher::CipherKey* key;
  const uint8_t* iv;
  uint64_t iv_length;
  const uint8_t* in;
  uint64_t length;
  uint8_t* out;
  // GCM only.
  const uint8_t* aad;
  uint64_t aad_length;
  const uint8_t* tag;   // opening
  uint8_t* sealed_tag;  // sealing; may be null on ranks that do not lead
  uint64_t tag_length;
};

// What the leading rank tells the others. Lives in Secret<>.
struct MessageTerms {
  uint8_t start[16];  // CTR: the IV; GCM: the pre-counter block
  uint8_t hash[16];   // GCM: of the associated data
  uint8_t tag[16];    // GCM, opening
  uint64_t aad_length, tag_length;
  uint64_t length;  // of all; where the message is distributed every rank finds it out by itself
};

// stockade_mpi_encrypt, _decrypt, _seal and _open: the bytes of `message` are this rank's piece.
Status crypt_distributed(Communicator& communicator, const DistributedMessage& message,
                         const config::EngineChoice& engine);

// stockade_mpi_root_encrypt and so on: the bytes are those of `root`, and ignored on the others.
Status crypt_from_root(Communicator& communicator, uint32_t root, const DistributedMessage& message,
                       const config::EngineChoice& engine);

// How a message at one rank is cut: into pieces of that many bytes, a multiple of 16. Another rank has up to
// pieces_in_flight of them at a time.
inline constexpr uint32_t pieces_in_flight = 4;
inline constexpr uint64_t longest_piece = uint64_t{1} << 20;
uint64_t sent_piece_bytes(uint64_t length, uint32_t ranks);

}  // namespace stockade::mpi
