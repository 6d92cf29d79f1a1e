// A message of any mode with the answer that OpenSSL gives, and the one-message calls under one name.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "cross/handles.h"
#include "cross/random_source.h"

namespace stockade::tests {

struct Message {
  stockade_mode mode = STOCKADE_ECB;
  Bytes key, iv, aad, plaintext;
  Bytes ciphertext, tag;  // OpenSSL's

  const Bytes& input(stockade_direction direction) const {
    return direction == STOCKADE_ENCRYPT ? plaintext : ciphertext;
  }
  const Bytes& output(stockade_direction direction) const {
    return direction == STOCKADE_ENCRYPT ? ciphertext : plaintext;
  }
  uint64_t length() const { return plaintext.size(); }
  // "ctr 256, 1000 bytes, ..." without any content.
  std::string describe(stockade_direction direction) const;
};

// Everything random; for GCM an IV of 12 bytes as a rule and of 1 to 40 otherwise, up to 200 bytes of associated data,
// and a tag of 12 to 16.
Message random_message(stockade_mode mode, uint32_t bits, uint64_t length, RandomSource& random);

// Computes `ciphertext` and `tag` (of the length that it has) from the other members.
void seal_by_openssl(Message& message);

// A length that `mode` allows, up to about three thousand bytes: small, anything, or around a multiple of a kernel's
// width.
uint64_t random_length(stockade_mode mode, RandomSource& random);

// The one-message call of the mode. When sealing, `tag` is written; when opening, it is read.
stockade_status crypt(const Message& message, stockade_direction direction, const stockade_key* key, const uint8_t* in,
                      uint8_t* out, uint8_t* tag, const stockade_engine* engine);

struct Placement {
  uint64_t in_offset = 0, out_offset = 0;  // from a multiple of 64
  bool in_place = false;                   // at out_offset
};

// Runs the call and says whether status, output, tag, untouched input and untouched surroundings are right.
testing::AssertionResult agrees(const Message& message, stockade_direction direction, const stockade_key* key,
                                const stockade_engine* engine, const Placement& placement = {});

// Equal, or else where they first differ; the content is not printed.
testing::AssertionResult same_bytes(const uint8_t* actual, const uint8_t* expected, uint64_t length);

}  // namespace stockade::tests
