// One message that arrives in pieces (the stockade_stream of stockade.h).
#pragma once

#include <cstdint>

#include "base/secret.h"
#include "cipher/key.h"
#include "cipher/span.h"

namespace stockade::cipher {

// Three ways, by mode:
//  - CTR, CFB, OFB and sealing GCM write every byte at once and keep what is left of a key stream block;
//  - ECB, CBC and XTS write whole blocks and hold back what the end of the message may still need;
//  - opening GCM keeps all ciphertext until its tag has been verified.
// Functions take pointers as stockade.h does; `start` comes first and once. The key must outlive the stream.
class Stream {
 public:
  Stream(const CipherKey& key, stockade_direction direction, stockade_padding padding,
         const config::EngineChoice& engine)
      : key_(key), direction_(direction), padding_(padding), engine_(engine) {}

  // IV_LENGTH, MODE (padding for a mode without it).
  Status start(const uint8_t* iv, uint64_t iv_length);
  Status aad(const uint8_t* aad, uint64_t length);
  uint64_t bound(uint64_t length) const;
  Status update(const uint8_t* in, uint64_t length, uint8_t* out, uint64_t out_size, uint64_t* out_length);
  Status final(uint8_t* out, uint64_t out_size, uint64_t* out_length, uint8_t* tag, uint64_t tag_length);

 private:
  struct State {
    uint8_t chain[16];       // not GCM: as of crypt_span, for the next block
    uint8_t held[32];        // input that waits for more
    uint8_t key_stream[16];  // of the block that is in part done
    uint8_t last_block[16];  // GCM: what the hash has of that block, or of the associated data's last one
    uint8_t j0[16];          // GCM
    uint8_t hash[16];        // GCM: of the associated data and of all whole ciphertext blocks
  };

  bool gcm() const { return key_.mode == STOCKADE_GCM; }
  bool opening() const { return gcm() && direction_ == STOCKADE_DECRYPT; }
  bool blockwise() const { return key_.mode == STOCKADE_ECB || key_.mode == STOCKADE_CBC || key_.mode == STOCKADE_XTS; }
  bool unpads() const { return padding_ == STOCKADE_PADDING_PKCS7 && direction_ == STOCKADE_DECRYPT; }
  // How many bytes are held back once `total` have been taken.
  uint64_t held_after(uint64_t total) const;
  // Exactly how many bytes the next update writes.
  uint64_t writes(uint64_t length) const;
  bool too_long(uint64_t length) const;

  void finish_aad();
  void hash_last_block(uint64_t used);
  Status span(const uint8_t* in, uint8_t* out, uint64_t length);
  void begin_key_stream();
  void use_key_stream(const uint8_t* in, uint8_t* out, uint64_t length);
  Status update_bytes(const uint8_t* in, uint64_t length, uint8_t* out);
  Status update_blocks(const uint8_t* in, uint64_t length, uint8_t* out, uint64_t written);
  Status keep(const uint8_t* in, uint64_t length);

  Status finish(uint8_t* out, uint64_t out_size, uint64_t* out_length, uint8_t* tag, uint64_t tag_length);
  Status finish_blocks(uint8_t* out, uint64_t out_size, uint64_t* out_length);
  Status finish_padded(uint8_t* out, uint64_t out_size, uint64_t* out_length);
  Status finish_unpadded(uint8_t* out, uint64_t out_size, uint64_t* out_length);
  Status finish_open(uint8_t* out, uint64_t out_size, uint64_t* out_length, const uint8_t* tag, uint64_t tag_length);

  const CipherKey& key_;
  const stockade_direction direction_;
  const stockade_padding padding_;
  const config::EngineChoice engine_;
  Secret<State> state_;
  uint64_t aad_total_ = 0;
  uint64_t total_ = 0;     // bytes taken
  uint64_t held_ = 0;      // of them in state_->held
  bool aad_done_ = false;  // an update has come
  bool ended_ = false;     // by `final`, or by a device that failed
  SecretBuffer kept_;      // opening: the first total_ bytes are the ciphertext
};

}  // namespace stockade::cipher
