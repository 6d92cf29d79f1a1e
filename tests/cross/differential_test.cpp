// Every row, mode, key size, direction and engine against OpenSSL, one message at a time.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <ostream>

#include "base/bytes.h"
#include "base/sanitizers.h"
#include "cross/guarded_memory.h"
#include "cross/handles.h"
#include "cross/message.h"
#include "cross/oracle.h"
#include "cross/random_source.h"

namespace stockade::tests {
namespace {

constexpr uint64_t kib = 1024, mib = 1024 * kib;

struct Target {
  stockade_mode mode;
  Row row;
};
std::ostream& operator<<(std::ostream& stream, const Target& target) {
  return stream << target.row << " " << mode_name(target.mode);
}

std::vector<Target> targets(std::initializer_list<stockade_mode> modes) {
  std::vector<Target> list;
  for (const stockade_mode mode : modes) {
    for (const Row& row : rows_for(mode)) list.push_back({mode, row});
  }
  return list;
}
std::vector<Target> all_targets() {
  return targets({STOCKADE_ECB, STOCKADE_CBC, STOCKADE_CFB, STOCKADE_OFB, STOCKADE_CTR, STOCKADE_XTS, STOCKADE_GCM});
}
std::string target_label(const testing::TestParamInfo<Target>& info) {
  return info.param.row.name + "_" + mode_name(info.param.mode);
}

class Differential : public testing::TestWithParam<Target> {
 protected:
  stockade_mode mode() const { return GetParam().mode; }
  const Row& row() const { return GetParam().row; }
  // `count` random cases, far fewer on the slow row.
  uint64_t cases(uint64_t count) const { return scaled(row().slow() ? count / 8 + 1 : count); }
  uint32_t any_key_size() { return key_sizes(mode())[random_.below(key_sizes(mode()).size())]; }
  uint64_t any_length() { return random_length(mode(), random_); }
  Message any_message(uint32_t bits, uint64_t length) { return random_message(mode(), bits, length, random_); }
  // The message in both directions.
  void check(const Message& message, const stockade_key* key, const stockade_engine* engine,
             const Placement& placement = {}) {
    for (const stockade_direction direction : both_directions) {
      ASSERT_TRUE(agrees(message, direction, key, engine, placement));
    }
  }

  RandomSource random_;
};
INSTANTIATE_TEST_SUITE_P(Rows, Differential, testing::ValuesIn(all_targets()), target_label);

TEST_P(Differential, random_messages_on_every_engine) {
  for (const NamedEngine& engine : all_engines()) {
    SCOPED_TRACE(engine.name);
    for (const uint32_t bits : key_sizes(mode())) {
      for (uint64_t i = cases(engine.name == "serial" ? 300 : 60); i > 0; --i) {
        const Message message = any_message(bits, any_length());
        const Key key = make_key(mode(), message.key, row());
        ASSERT_NO_FATAL_FAILURE(
            check(message, key.get(), engine.engine, {random_.below(64), random_.below(64), random_.one_in(3)}));
      }
    }
  }
}

TEST_P(Differential, every_short_length) {
  const uint64_t last = row().slow() ? 150 : test_scale() < 100 ? 600 : 1200;
  for (const uint32_t bits : key_sizes(mode())) {
    const Message longest = any_message(bits, allowed_length(mode(), last));
    const Key key = make_key(mode(), longest.key, row());
    for (uint64_t length = shortest(mode()); length <= last; length += length_step(mode())) {
      Message message = longest;
      message.plaintext.resize(length);
      seal_by_openssl(message);
      ASSERT_NO_FATAL_FAILURE(check(message, key.get(), all_engines()[0].engine));
    }
  }
}

// All 64 x 64 pairs of input and output offset, and all 64 in place, at a length with a tail behind several kernel
// widths.
TEST_P(Differential, every_misalignment) {
  const Message message = any_message(any_key_size(), allowed_length(mode(), row().slow() ? 37 : 2 * 256 + 3 * 16 + 5));
  const Key key = make_key(mode(), message.key, row());
  const stockade_engine* serial = all_engines()[0].engine;
  const uint64_t stride = row().slow() || test_scale() < 100 ? 7 : 1;
  for (uint64_t in = 0; in < 64; ++in) {
    ASSERT_NO_FATAL_FAILURE(check(message, key.get(), serial, {in, in, true}));
    // At least the pairs in which one of the two is aligned, and the diagonal.
    for (uint64_t out = 0; out < 64; ++out) {
      if (in != 0 && out != 0 && in != out && (in + out) % stride != 0) continue;
      ASSERT_NO_FATAL_FAILURE(check(message, key.get(), serial, {in, out, false}));
    }
  }
}

// No byte is read or written beyond the ends: the pages around the buffers cannot be touched.
TEST_P(Differential, stays_between_fences) {
  const uint64_t last = row().slow() ? 100 : 700;
  const FencedMemory in(last + 16), out(last + 16);
  const Message longest = any_message(any_key_size(), allowed_length(mode(), last));
  const Key key = make_key(mode(), longest.key, row());
  const FencedMemory fenced_tag(16);
  for (uint64_t length = shortest(mode()); length <= last; length += length_step(mode())) {
    Message message = longest;
    message.plaintext.resize(length);
    seal_by_openssl(message);
    for (const stockade_direction direction : both_directions) {
      for (const bool at_back : {true, false}) {
        uint8_t* source = at_back ? in.back(length) : in.front();
        uint8_t* target = at_back ? out.back(length) : out.front();
        uint8_t* tag = fenced_tag.back(message.tag.size());
        std::copy(message.input(direction).begin(), message.input(direction).end(), source);
        if (direction == STOCKADE_DECRYPT) std::copy(message.tag.begin(), message.tag.end(), tag);
        ASSERT_EQ(crypt(message, direction, key.get(), source, target, tag, all_engines()[0].engine), STOCKADE_OK);
        ASSERT_TRUE(same_bytes(target, message.output(direction).data(), length)) << message.describe(direction);
        ASSERT_TRUE(same_bytes(tag, message.tag.data(), message.tag.size())) << message.describe(direction);
      }
    }
  }
}

TEST_P(Differential, long_messages_on_every_engine) {
  std::vector<uint64_t> lengths = {64 * kib - 31, 64 * kib, 64 * kib + 77};
  if (!row().slow()) lengths.insert(lengths.end(), {256 * kib + 1, mib + 13});
  if (!row().slow_in(mode())) lengths.push_back(3 * mib - 5);
  for (const uint64_t length : lengths) {
    const Message message = any_message(any_key_size(), allowed_length(mode(), length));
    const Key key = make_key(mode(), message.key, row());
    for (const NamedEngine& engine : all_engines()) {
      if (STOCKADE_THREAD_SANITIZER && engine.name == "serial") continue;  // which races with nobody
      SCOPED_TRACE(engine.name);
      for (const bool in_place : {false, true}) {
        ASSERT_NO_FATAL_FAILURE(
            check(message, key.get(), engine.engine, {random_.below(64), random_.below(64), in_place}));
      }
    }
  }
}

// Long enough for output that bypasses the caches, at offsets that do and do not allow it. Rows without AES
// instructions have one kind of store only, and get less where they are slow.
TEST_P(Differential, messages_larger_than_the_caches) {
  const bool portable = row().name == "portable";
  const uint64_t length = row().slow()             ? 200 * kib + 13
                          : row().slow_in(mode())  ? 3 * mib + 13
                          : mode() == STOCKADE_XTS ? 16 * mib
                                                   : 33 * mib + 13;
  const Message message = any_message(any_key_size(), allowed_length(mode(), length));
  const Key key = make_key(mode(), message.key, row());
  for (const NamedEngine& engine : {all_engines()[0], all_engines()[1]}) {
    if (STOCKADE_THREAD_SANITIZER && engine.name == "serial") continue;  // which races with nobody
    SCOPED_TRACE(engine.name);
    ASSERT_NO_FATAL_FAILURE(check(message, key.get(), engine.engine, {0, 0, false}));
    if (test_scale() < 100 || portable || row().slow()) continue;
    ASSERT_NO_FATAL_FAILURE(check(message, key.get(), engine.engine, {random_.below(64), 16, false}));
    ASSERT_NO_FATAL_FAILURE(check(message, key.get(), engine.engine, {random_.below(64), random_.below(64), false}));
  }
}

// --- counters ------------------------------------------------------------------------------------------------------

class CounterModes : public Differential {};
INSTANTIATE_TEST_SUITE_P(Rows, CounterModes, testing::ValuesIn(targets({STOCKADE_CTR})), target_label);

// The counter is one number of 128 bits: it carries out of every byte and wraps at the end (SP 800-38A B.1).
TEST_P(CounterModes, carry_through_all_bytes) {
  for (const uint64_t ones : {1, 2, 4, 7, 8, 9, 12, 15, 16}) {
    for (uint64_t i = cases(40); i > 0; --i) {
      Message message = any_message(any_key_size(), random_.between(1, row().slow() ? 300 : 3000));
      std::fill(message.iv.end() - static_cast<long>(ones), message.iv.end(), 0xff);
      // Back from the carry by up to as many blocks as the message has.
      message.iv[15] = static_cast<uint8_t>(message.iv[15] - random_.below(message.length() / 16 + 1) % 256);
      seal_by_openssl(message);
      const Key key = make_key(mode(), message.key, row());
      const NamedEngine& engine = all_engines()[random_.below(all_engines().size())];
      ASSERT_NO_FATAL_FAILURE(check(message, key.get(), engine.engine));
    }
  }
}

// A carry that falls on another worker's range than the message's start.
TEST_P(CounterModes, carry_in_another_range) {
  for (uint64_t i = cases(12); i > 0; --i) {
    Message message = any_message(any_key_size(), row().slow() ? 20 * kib : 300 * kib + random_.below(64));
    std::fill(message.iv.begin() + static_cast<long>(random_.below(9)), message.iv.end(), 0xff);
    store_be64(message.iv.data() + 8, ~uint64_t{0} - random_.below(message.length() / 16));
    seal_by_openssl(message);
    const Key key = make_key(mode(), message.key, row());
    for (const NamedEngine& engine : all_engines()) {
      SCOPED_TRACE(engine.name);
      ASSERT_NO_FATAL_FAILURE(check(message, key.get(), engine.engine));
    }
  }
}

// --- XTS data units ------------------------------------------------------------------------------------------------

class DataUnits : public Differential {
 protected:
  void check_units(const Bytes& key_bytes, const Bytes& number, uint64_t unit, uint64_t length,
                   const NamedEngine& engine) {
    SCOPED_TRACE(engine.name + ", unit " + std::to_string(unit) + ", " + std::to_string(length) + " bytes");
    const Key key = make_key(STOCKADE_XTS, key_bytes, row());
    const Bytes plaintext = random_.bytes(length);
    const Bytes ciphertext = oracle_units(STOCKADE_ENCRYPT, key_bytes, number, unit, plaintext);
    CanaryBuffer out(length, random_.below(64));
    ASSERT_EQ(
        stockade_encrypt_units(key.get(), number.data(), 16, unit, plaintext.data(), length, out.data(), engine.engine),
        STOCKADE_OK);
    ASSERT_TRUE(same_bytes(out.data(), ciphertext.data(), length));
    ASSERT_EQ(stockade_decrypt_units(key.get(), number.data(), 16, unit, out.data(), length, out.data(), engine.engine),
              STOCKADE_OK);
    ASSERT_TRUE(same_bytes(out.data(), plaintext.data(), length));
    ASSERT_TRUE(out.intact());
  }
};
INSTANTIATE_TEST_SUITE_P(Rows, DataUnits, testing::ValuesIn(targets({STOCKADE_XTS})), target_label);

TEST_P(DataUnits, of_any_size_and_number) {
  constexpr uint64_t usual[] = {16, 17, 31, 32, 33, 48, 64, 100, 512, 520, 1000, 4096};
  for (uint64_t i = cases(150); i > 0; --i) {
    const uint64_t unit = random_.one_in(2) ? usual[random_.below(std::size(usual))] : random_.between(16, 5000);
    uint64_t length = unit * random_.below(row().slow() ? 3 : 20);
    if (random_.one_in(2) || length == 0) length += random_.between(16, unit);
    const Bytes key = random_.bytes(random_.one_in(2) ? 32 : 64);
    ASSERT_NO_FATAL_FAILURE(
        check_units(key, random_.bytes(16), unit, length, all_engines()[random_.below(all_engines().size())]));
  }
}

TEST_P(DataUnits, whose_number_carries) {
  for (const size_t ones : {1U, 4U, 8U, 12U, 16U}) {
    Bytes number = random_.bytes(16);
    std::fill(number.begin(), number.begin() + static_cast<long>(ones), 0xff);
    number[0] = static_cast<uint8_t>(0xff - random_.below(20));
    for (const NamedEngine& engine : all_engines()) {
      ASSERT_NO_FATAL_FAILURE(check_units(random_.bytes(64), number, 48, 48 * 40 + 16, engine));
    }
  }
}

TEST_P(DataUnits, many_over_all_workers) {
  if (row().slow()) {
    check_units(random_.bytes(32), random_.bytes(16), 4096, 64 * kib + 100, all_engines()[1]);
    return;
  }
  for (const NamedEngine& engine : all_engines()) {
    ASSERT_NO_FATAL_FAILURE(check_units(random_.bytes(64), random_.bytes(16), 4096, 2 * mib + 1000, engine));
    ASSERT_NO_FATAL_FAILURE(check_units(random_.bytes(32), random_.bytes(16), 520, 520 * 1001 + 17, engine));
  }
  ASSERT_NO_FATAL_FAILURE(check_units(random_.bytes(64), random_.bytes(16), 4 * kib, 34 * mib, all_engines()[1]));
  // The largest data unit there is (2^20 blocks), twice and a bit.
  ASSERT_NO_FATAL_FAILURE(check_units(random_.bytes(64), random_.bytes(16), 16 * mib, 33 * mib + 5, all_engines()[0]));
}

TEST_P(DataUnits, in_place_over_all_workers) {
  const uint64_t length = row().slow() ? 20 * kib + 19 : mib + 100;
  const Bytes key_bytes = random_.bytes(64), number = random_.bytes(16), plaintext = random_.bytes(length);
  const Bytes ciphertext = oracle_units(STOCKADE_ENCRYPT, key_bytes, number, 1024, plaintext);
  const Key key = make_key(STOCKADE_XTS, key_bytes, row());
  for (const NamedEngine& engine : all_engines()) {
    SCOPED_TRACE(engine.name);
    Bytes buffer = plaintext;
    ASSERT_EQ(
        stockade_encrypt_units(key.get(), number.data(), 16, 1024, buffer.data(), length, buffer.data(), engine.engine),
        STOCKADE_OK);
    ASSERT_TRUE(same_bytes(buffer.data(), ciphertext.data(), length));
  }
}

// --- padding -------------------------------------------------------------------------------------------------------

class Padding : public Differential {};
INSTANTIATE_TEST_SUITE_P(Rows, Padding, testing::ValuesIn(targets({STOCKADE_ECB, STOCKADE_CBC})), target_label);

TEST_P(Padding, of_any_length) {
  for (uint64_t i = cases(300); i > 0; --i) {
    const Bytes key_bytes = random_.bytes(any_key_size() / 8), iv = random_.bytes(iv_bytes(mode()));
    const Bytes plaintext = random_.bytes(random_.below(row().slow() ? 100 : 2000));
    const Bytes ciphertext = *oracle_padded(mode(), STOCKADE_ENCRYPT, key_bytes, iv, plaintext);
    const Key key = make_key(mode(), key_bytes, row());
    const NamedEngine& engine = all_engines()[random_.below(all_engines().size())];
    SCOPED_TRACE(engine.name + ", " + std::to_string(plaintext.size()) + " bytes");
    CanaryBuffer out(ciphertext.size(), random_.below(64));
    uint64_t written = 0;
    const bool in_place = random_.one_in(3);
    std::copy(plaintext.begin(), plaintext.end(), out.data());
    ASSERT_EQ(stockade_encrypt_padded(key.get(), iv.data(), iv.size(), in_place ? out.data() : plaintext.data(),
                                      plaintext.size(), out.data(), out.size(), &written, engine.engine),
              STOCKADE_OK);
    ASSERT_EQ(written, ciphertext.size());
    ASSERT_TRUE(same_bytes(out.data(), ciphertext.data(), written));
    ASSERT_EQ(stockade_decrypt_padded(key.get(), iv.data(), iv.size(), in_place ? out.data() : ciphertext.data(),
                                      ciphertext.size(), out.data(), out.size(), &written, engine.engine),
              STOCKADE_OK);
    ASSERT_EQ(written, plaintext.size());
    ASSERT_TRUE(same_bytes(out.data(), plaintext.data(), written));
    ASSERT_TRUE(out.intact());
  }
}

// Random last blocks: mostly wrong, sometimes right, always as OpenSSL judges them; what is refused is wiped.
TEST_P(Padding, is_judged_as_by_openssl) {
  uint64_t refused = 0;
  for (uint64_t i = cases(600); i > 0; --i) {
    const Bytes key_bytes = random_.bytes(any_key_size() / 8), iv = random_.bytes(iv_bytes(mode()));
    Bytes plaintext = random_.bytes(16 * random_.between(1, 8));
    const uint64_t run_length = random_.between(1, 18), value = random_.below(19);
    std::fill(plaintext.end() - static_cast<long>(std::min<uint64_t>(run_length, 16)), plaintext.end(), value);
    const Bytes ciphertext = oracle_crypt(mode(), STOCKADE_ENCRYPT, key_bytes, iv, plaintext);
    const auto expected = oracle_padded(mode(), STOCKADE_DECRYPT, key_bytes, iv, ciphertext);
    const Key key = make_key(mode(), key_bytes, row());
    CanaryBuffer out(ciphertext.size(), 0);
    uint64_t written = 0;
    const stockade_status status =
        stockade_decrypt_padded(key.get(), iv.data(), iv.size(), ciphertext.data(), ciphertext.size(), out.data(),
                                out.size(), &written, all_engines()[i % 2].engine);
    ASSERT_TRUE(out.intact());
    if (expected) {
      ASSERT_EQ(status, STOCKADE_OK);
      ASSERT_EQ(Bytes(out.data(), out.data() + written), *expected);
    } else {
      ASSERT_EQ(status, STOCKADE_ERROR_PADDING);
      ASSERT_EQ(Bytes(out.data(), out.data() + out.size()), Bytes(out.size(), 0));
      ++refused;
    }
  }
  EXPECT_GT(refused, 0U);
}

// --- the same bytes whoever runs it --------------------------------------------------------------------------------

class SameBytes : public testing::TestWithParam<stockade_mode> {};
std::string mode_label(const testing::TestParamInfo<stockade_mode>& info) { return mode_name(info.param); }
INSTANTIATE_TEST_SUITE_P(Modes, SameBytes, testing::ValuesIn(all_modes), mode_label);

TEST_P(SameBytes, on_every_row_and_engine) {
  RandomSource random;
  for (const uint32_t bits : key_sizes(GetParam())) {
    const Message message = random_message(GetParam(), bits, allowed_length(GetParam(), 200 * kib + 13), random);
    for (const stockade_direction direction : both_directions) {
      const Bytes expected = digest(message.output(direction).data(), message.length());
      for (const Row& row : rows_for(GetParam())) {
        const Key key = make_key(GetParam(), message.key, row);
        for (const NamedEngine& engine : all_engines()) {
          if (row.slow() && engine.name != "threads x2") continue;
          Bytes out(message.length()), tag = message.tag;
          ASSERT_EQ(crypt(message, direction, key.get(), message.input(direction).data(), out.data(), tag.data(),
                          engine.engine),
                    STOCKADE_OK);
          EXPECT_EQ(digest(out.data(), out.size()), expected)
              << message.describe(direction) << " on " << row << ", " << engine.name;
          EXPECT_EQ(tag, message.tag);
        }
      }
    }
  }
}

}  // namespace
}  // namespace stockade::tests
