#include "cross/message.h"

#include <algorithm>
#include <cstring>

#include "cross/guarded_memory.h"
#include "cross/oracle.h"

namespace stockade::tests {

std::string Message::describe(stockade_direction direction) const {
  const uint64_t bits = key.size() * (mode == STOCKADE_XTS ? 4 : 8);
  return std::string(mode_name(mode)) + " " + std::to_string(bits) +
         (direction == STOCKADE_ENCRYPT ? " encrypt, " : " decrypt, ") + std::to_string(length()) + " bytes, iv of " +
         std::to_string(iv.size()) + ", aad of " + std::to_string(aad.size()) + ", tag of " +
         std::to_string(tag.size());
}

Message random_message(stockade_mode mode, uint32_t bits, uint64_t length, RandomSource& random) {
  Message message;
  message.mode = mode;
  message.key = random.bytes(key_bytes(mode, bits));
  message.iv = random.bytes(iv_bytes(mode));
  message.plaintext = random.bytes(length);
  if (mode == STOCKADE_GCM) {
    if (random.one_in(3)) message.iv = random.bytes(random.between(1, 40));
    message.aad = random.bytes(random.one_in(4) ? 0 : random.below(200));
    message.tag.resize(random.between(12, 16));
  }
  seal_by_openssl(message);
  return message;
}

void seal_by_openssl(Message& m) {
  if (m.mode == STOCKADE_GCM) {
    Sealed sealed = oracle_seal(m.key, m.iv, m.aad, m.plaintext, m.tag.size());
    m.ciphertext = std::move(sealed.ciphertext);
    m.tag = std::move(sealed.tag);
  } else if (m.mode == STOCKADE_XTS || !m.plaintext.empty()) {
    m.ciphertext = oracle_crypt(m.mode, STOCKADE_ENCRYPT, m.key, m.iv, m.plaintext);
  } else {
    m.ciphertext.clear();
  }
}

uint64_t random_length(stockade_mode mode, RandomSource& random) {
  uint64_t length = 0;
  switch (random.below(4)) {
    case 0:
      length = random.below(80);
      break;
    case 1:
      length = random.below(3073);
      break;
    case 2:
      length = 16 * random.between(1, 190) + random.below(3) - 1;
      break;
    default:
      length = (uint64_t{64} << random.below(5)) * random.between(1, 3) + random.below(35) - 17;
      break;
  }
  return allowed_length(mode, length);
}

stockade_status crypt(const Message& m, stockade_direction direction, const stockade_key* key, const uint8_t* in,
                      uint8_t* out, uint8_t* tag, const stockade_engine* engine) {
  if (m.mode != STOCKADE_GCM) return run(direction, key, m.iv, in, m.length(), out, engine);
  if (direction == STOCKADE_ENCRYPT) {
    return stockade_seal(key, m.iv.data(), m.iv.size(), m.aad.data(), m.aad.size(), in, m.length(), out, tag,
                         m.tag.size(), engine);
  }
  return stockade_open(key, m.iv.data(), m.iv.size(), m.aad.data(), m.aad.size(), in, m.length(), out, tag,
                       m.tag.size(), engine);
}

testing::AssertionResult same_bytes(const uint8_t* actual, const uint8_t* expected, uint64_t length) {
  if (length == 0 || std::memcmp(actual, expected, length) == 0) return testing::AssertionSuccess();
  const auto [a, e] = std::mismatch(actual, actual + length, expected);
  return testing::AssertionFailure() << "byte " << a - actual << " of " << length << " differs";
}

testing::AssertionResult agrees(const Message& m, stockade_direction direction, const stockade_key* key,
                                const stockade_engine* engine, const Placement& placement) {
  const auto failure = [&] {
    return testing::AssertionFailure() << m.describe(direction) << " on " << stockade_key_row(key) << ", in at "
                                       << placement.in_offset << ", out at " << placement.out_offset
                                       << (placement.in_place ? ", in place: " : ": ");
  };
  const Bytes& input = m.input(direction);
  CanaryBuffer in(m.length(), placement.in_offset), out(m.length(), placement.out_offset);
  CanaryBuffer tag(m.tag.size(), placement.out_offset);
  std::copy(input.begin(), input.end(), (placement.in_place ? out : in).data());
  if (direction == STOCKADE_DECRYPT) std::copy(m.tag.begin(), m.tag.end(), tag.data());
  const uint8_t* source = placement.in_place ? out.data() : in.data();
  const stockade_status status = crypt(m, direction, key, source, out.data(), tag.data(), engine);
  if (status != STOCKADE_OK) return failure() << stockade_status_name(status);
  if (auto same = same_bytes(out.data(), m.output(direction).data(), m.length()); !same) {
    return failure() << same.message();
  }
  if (!same_bytes(tag.data(), m.tag.data(), m.tag.size())) return failure() << "another tag";
  if (!placement.in_place && !same_bytes(in.data(), input.data(), m.length())) return failure() << "input changed";
  if (!out.intact() || !tag.intact() || !in.intact()) return failure() << "wrote outside the output";
  return testing::AssertionSuccess();
}

}  // namespace stockade::tests
