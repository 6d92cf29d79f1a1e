// What only GCM has: initialisation vectors of any length, the 32-bit counter, associated data, tags, and their
// refusal.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "base/bytes.h"
#include "cross/guarded_memory.h"
#include "cross/handles.h"
#include "cross/message.h"
#include "cross/oracle.h"
#include "cross/random_source.h"

namespace stockade::tests {
namespace {

class Gcm : public testing::TestWithParam<Row> {
 protected:
  uint32_t any_key_size() { return static_cast<uint32_t>(64 * random_.between(2, 4)); }
  Message empty_message() {
    Message message;
    message.mode = STOCKADE_GCM;
    message.key = random_.bytes(any_key_size() / 8);
    message.iv = random_.bytes(12);
    message.tag.resize(16);
    return message;
  }
  const NamedEngine& any_engine() { return all_engines()[random_.below(all_engines().size())]; }
  // Fills in OpenSSL's answer and holds both directions against it.
  void check(Message& message, const NamedEngine& engine) {
    SCOPED_TRACE(engine.name);
    seal_by_openssl(message);
    const Key key = make_key(STOCKADE_GCM, message.key, GetParam());
    for (const stockade_direction direction : both_directions) {
      ASSERT_TRUE(agrees(message, direction, key.get(), engine.engine));
    }
  }

  RandomSource random_;
};
std::string row_label(const testing::TestParamInfo<Row>& info) { return info.param.name; }
INSTANTIATE_TEST_SUITE_P(Rows, Gcm, testing::ValuesIn(rows_for(STOCKADE_GCM)), row_label);

TEST_P(Gcm, iv_of_every_length) {
  for (uint64_t length = 1; length <= 128; ++length) {
    for (const uint64_t text : {0, 5, 16, 100, 1000}) {
      Message message = empty_message();
      message.iv = random_.bytes(length);
      message.plaintext = random_.bytes(text);
      ASSERT_NO_FATAL_FAILURE(check(message, all_engines()[0]));
    }
  }
}

TEST_P(Gcm, associated_data_of_every_length) {
  for (uint64_t length = 0; length <= 400; ++length) {
    Message message = empty_message();
    message.aad = random_.bytes(length);
    message.plaintext = random_.bytes(random_.below(200));
    ASSERT_NO_FATAL_FAILURE(check(message, all_engines()[0]));
  }
  for (const uint64_t length : {65536 - 1, 100000, 1048576 + 5}) {
    for (const NamedEngine& engine : all_engines()) {
      Message message = empty_message();
      message.aad = random_.bytes(length);
      message.plaintext = random_.bytes(random_.one_in(2) ? 0 : 300000);
      ASSERT_NO_FATAL_FAILURE(check(message, engine));
    }
  }
}

TEST_P(Gcm, tag_of_every_length) {
  for (uint64_t length = 12; length <= 16; ++length) {
    for (const uint64_t text : {0, 1, 16, 33, 700, 70000}) {
      Message message = empty_message();
      message.tag.resize(length);
      message.plaintext = random_.bytes(text);
      ASSERT_NO_FATAL_FAILURE(check(message, any_engine()));
    }
  }
}

// --- the counter ---------------------------------------------------------------------------------------------------

struct Element {
  uint64_t high, low;  // the first bit of the block is the highest of `high`
};
Element operator^(Element a, Element b) { return {a.high ^ b.high, a.low ^ b.low}; }

// SP 800-38D §6.3, bit by bit.
Element multiply(Element x, Element v) {
  Element z = {0, 0};
  for (int i = 0; i < 128; ++i) {
    const uint64_t bit = i < 64 ? x.high >> (63 - i) : x.low >> (127 - i);
    if (bit & 1) z = z ^ v;
    const bool reduce = v.low & 1;
    v = {v.high >> 1, v.low >> 1 | v.high << 63};
    if (reduce) v.high ^= uint64_t{0xe1} << 56;
  }
  return z;
}

// x^(2^128 - 2), the inverse.
Element inverse(Element x) {
  Element result = {uint64_t{1} << 63, 0}, square = x;
  for (int i = 1; i < 128; ++i) {
    square = multiply(square, square);
    result = multiply(result, square);
  }
  return result;
}

// The IV of 16 bytes whose pre-counter block (SP 800-38D §7.1 step 2) is `j0`: GHASH over two blocks, undone.
Bytes iv_for_counter(const Bytes& key, Element j0) {
  const Bytes zeros(16);
  const Bytes h = oracle_crypt(STOCKADE_ECB, STOCKADE_ENCRYPT, key, {}, zeros);
  const Element inverse_h = inverse({load_be64(h.data()), load_be64(h.data() + 8)});
  const Element iv = multiply(multiply(j0, inverse_h) ^ Element{0, 128}, inverse_h);
  Bytes bytes(16);
  store_be64(bytes.data(), iv.high);
  store_be64(bytes.data() + 8, iv.low);
  return bytes;
}

// inc32 (SP 800-38D §6.2): the last 32 bits wrap, the others stay, wherever in a kernel's step it happens.
TEST_P(Gcm, counter_wraps_in_32_bits_only) {
  for (uint64_t back = 0; back <= 150; ++back) {
    Message message = empty_message();
    const Element j0 = {~uint64_t{0}, ~uint64_t{0} - back};
    message.iv = iv_for_counter(message.key, j0);
    message.plaintext = random_.bytes(16 * back + random_.below(1500));
    ASSERT_NO_FATAL_FAILURE(check(message, all_engines()[0]));
  }
}

TEST_P(Gcm, counter_wraps_in_another_workers_range) {
  for (const NamedEngine& engine : all_engines()) {
    for (int i = 0; i < 6; ++i) {
      Message message = empty_message();
      message.plaintext = random_.bytes(400000 + random_.below(100));
      const uint64_t blocks = message.plaintext.size() / 16;
      message.iv = iv_for_counter(message.key, {random_.next(), ~uint64_t{0} - random_.below(blocks)});
      ASSERT_NO_FATAL_FAILURE(check(message, engine));
    }
  }
}

// --- refusal -------------------------------------------------------------------------------------------------------

struct Attempt {
  const Message& message;
  const stockade_key* key;
  const stockade_engine* engine;
};

// The message must be refused, and the output be zeros of the message's length, out of place and in place.
void expect_refused(const Attempt& a, const char* what) {
  SCOPED_TRACE(what);
  const uint64_t length = a.message.length();
  for (const bool in_place : {false, true}) {
    CanaryBuffer out(length, 1);
    Bytes tag = a.message.tag;
    std::copy(a.message.ciphertext.begin(), a.message.ciphertext.end(), out.data());
    const uint8_t* in = in_place ? out.data() : a.message.ciphertext.data();
    ASSERT_EQ(crypt(a.message, STOCKADE_DECRYPT, a.key, in, out.data(), tag.data(), a.engine),
              STOCKADE_ERROR_AUTHENTICATION);
    ASSERT_EQ(Bytes(out.data(), out.data() + length), Bytes(length, 0));
    ASSERT_TRUE(out.intact());
    ASSERT_EQ(tag, a.message.tag);
  }
}

void flip_any_bit(Bytes& bytes, RandomSource& random) {
  bytes[random.below(bytes.size())] ^= static_cast<uint8_t>(1U << random.below(8));
}

TEST_P(Gcm, any_change_is_refused_and_nothing_is_released) {
  for (uint64_t i = scaled(150); i > 0; --i) {
    const uint64_t length = i % 25 == 0 ? 300000 + random_.below(64) : random_length(STOCKADE_GCM, random_);
    const Message good = random_message(STOCKADE_GCM, any_key_size(), length, random_);
    const Key key = make_key(STOCKADE_GCM, good.key, GetParam());
    const NamedEngine& engine = any_engine();
    SCOPED_TRACE(engine.name + ", " + good.describe(STOCKADE_DECRYPT));
    ASSERT_TRUE(agrees(good, STOCKADE_DECRYPT, key.get(), engine.engine));
    const auto refused = [&](const char* what, const auto& change) {
      Message bad = good;
      change(bad);
      expect_refused({bad, key.get(), engine.engine}, what);
    };
    refused("tag", [&](Message& m) { flip_any_bit(m.tag, random_); });
    refused("iv", [&](Message& m) { flip_any_bit(m.iv, random_); });
    refused("one byte of associated data more", [](Message& m) { m.aad.push_back(0); });
    if (length != 0) refused("ciphertext", [&](Message& m) { flip_any_bit(m.ciphertext, random_); });
    if (!good.aad.empty()) refused("associated data", [&](Message& m) { flip_any_bit(m.aad, random_); });
    if (length != 0) {
      refused("one byte less", [](Message& m) {
        m.ciphertext.pop_back();
        m.plaintext.pop_back();
      });
    }
    if (HasFatalFailure()) return;
  }
}

TEST_P(Gcm, every_bit_of_the_tag_counts) {
  for (uint64_t length = 12; length <= 16; ++length) {
    Message message = empty_message();
    message.tag.resize(length);
    message.plaintext = random_.bytes(40);
    seal_by_openssl(message);
    const Key key = make_key(STOCKADE_GCM, message.key, GetParam());
    for (uint64_t bit = 0; bit < 8 * length; ++bit) {
      Message bad = message;
      bad.tag[bit / 8] ^= static_cast<uint8_t>(1U << bit % 8);
      ASSERT_NO_FATAL_FAILURE(expect_refused({bad, key.get(), all_engines()[0].engine}, "one bit"));
    }
  }
}

}  // namespace
}  // namespace stockade::tests
