// Every row of the GCM table that this machine can run, kernel by kernel, against OpenSSL and against the portable row.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/field128.h"
#include "cross/guarded_memory.h"
#include "cross/oracle.h"
#include "cross/random_source.h"
#include "gcm/gcm_variants.h"

namespace stockade::gcm {
namespace {

using aes::Stores;
using tests::Bytes;
using tests::CanaryBuffer;
using tests::FencedMemory;
using tests::oracle_crypt;
using tests::oracle_seal;
using tests::RandomSource;
using tests::scaled;
using tests::Sealed;

constexpr uint64_t block_bytes = 16;
constexpr uint32_t all_key_bytes[] = {16, 24, 32};
constexpr Stores both_stores[] = {Stores::ordinary, Stores::streaming};

std::vector<std::string> row_names() {
  std::vector<std::string> names;
  for (const Variant& row : variants()) names.emplace_back(row.name);
  return names;
}

const Variant& row_named(const std::string& name) {
  return *std::find_if(variants().begin(), variants().end(), [&name](const Variant& row) { return name == row.name; });
}

// The features that the row needs and this machine lacks, by name; empty if the row can run.
std::string lacking(const Variant& row) {
  std::string names;
  for (const cpu::FeatureName& feature : cpu::feature_names) {
    if ((row.needs & ~cpu::usable() & feature.bit) != 0) names += std::string(" ") + feature.name;
  }
  return names;
}

// A key as the row makes it, in memory that was not clean before.
class RowKey {
 public:
  RowKey(const Variant& row, const Bytes& key) : kernels_(*row.kernels), parts_(std::make_unique<Parts>()) {
    std::memset(parts_.get(), 0xee, sizeof(Parts));
    kernels_.expand(key.data(), static_cast<uint32_t>(key.size()), parts_->schedule);
    kernels_.init(parts_->schedule, parts_->hash_key);
  }

  void ghash(Bytes& y, const uint8_t* in, uint64_t blocks) const {
    kernels_.ghash(parts_->hash_key, y.data(), in, blocks);
  }
  void crypt(bool opening, Bytes& counter, Bytes& y, const uint8_t* in, uint8_t* out, uint64_t blocks,
             Stores stores) const {
    (opening ? kernels_.open : kernels_.seal)(parts_->schedule, parts_->hash_key, counter.data(), y.data(), in, out,
                                              blocks, stores);
  }
  Bytes encrypt_block(const Bytes& block) const {
    Bytes out(block_bytes);
    kernels_.ecb_encrypt(parts_->schedule, block.data(), out.data(), 1, Stores::ordinary);
    return out;
  }

 private:
  struct Parts {
    aes::Schedule schedule;
    HashKey hash_key;
  };
  const Kernels& kernels_;
  std::unique_ptr<Parts> parts_;
};

// ---- SP 800-38D written out ----

Bytes lengths_block(uint64_t aad_length, uint64_t length) {
  Bytes block(block_bytes);
  store_be64(block.data(), 8 * aad_length);
  store_be64(block.data() + 8, 8 * length);
  return block;
}

Bytes padded(Bytes bytes) {
  bytes.resize((bytes.size() + block_bytes - 1) / block_bytes * block_bytes);
  return bytes;
}

// inc32 applied `n` times (§6.2).
Bytes advanced(Bytes counter, uint64_t n) {
  store_be32(counter.data() + 12, static_cast<uint32_t>(load_be32(counter.data() + 12) + n));
  return counter;
}

// §7.1 step 2 for an IV of 16 bytes is J0 = (IV·H ^ lengths)·H. This is the IV whose J0 is the one given, so that OpenSSL
// too can be made to start anywhere.
Bytes iv_for(const Bytes& key, const Bytes& j0) {
  const Bytes h = oracle_crypt(STOCKADE_ECB, STOCKADE_ENCRYPT, key, {}, Bytes(block_bytes));
  // 1/H = H^(2^128 - 2) = H^2·H^4·H^8 ...
  Field128 inverse{1, 0}, square_of = load_gcm(h.data());
  for (int i = 1; i < 128; ++i) {
    square_of = square(square_of);
    inverse = multiply(inverse, square_of);
  }
  const Bytes lengths = lengths_block(0, block_bytes);
  const Field128 inner = add(multiply(load_gcm(j0.data()), inverse), load_gcm(lengths.data()));
  Bytes iv(block_bytes);
  store_gcm(iv.data(), multiply(inner, inverse));
  return iv;
}

// A message with OpenSSL's answer.
struct Message {
  Bytes key, j0, aad, plaintext;
  Sealed sealed;
};

// Half of the counters wrap their 32 bits within the first 70 blocks.
Message random_message(uint32_t key_bytes, uint64_t length, uint64_t aad_length, RandomSource& random) {
  Message message{
      random.bytes(key_bytes), random.bytes(block_bytes), random.bytes(aad_length), random.bytes(length), {}};
  if (random.one_in(2)) store_be32(message.j0.data() + 12, static_cast<uint32_t>(0 - random.between(1, 70)));
  message.sealed = oracle_seal(message.key, iv_for(message.key, message.j0), message.aad, message.plaintext, 16);
  return message;
}

// ---- running a row ----

struct Placement {
  uint64_t in_offset, out_offset;  // from a multiple of 64
  bool in_place;                   // at out_offset
};

Placement random_placement(RandomSource& random) { return {random.below(64), random.below(64), random.one_in(3)}; }

testing::AssertionResult same(const char* what, const uint8_t* actual, const Bytes& expected) {
  const auto [a, b] = std::mismatch(expected.begin(), expected.end(), actual);
  if (a == expected.end()) return testing::AssertionSuccess();
  return testing::AssertionFailure() << what << " differs at byte " << a - expected.begin() << " of "
                                     << expected.size();
}

// Seals or opens a message of whole blocks in calls of the given sizes (in blocks), and compares everything.
testing::AssertionResult agrees(const RowKey& row, const Message& message, bool opening,
                                const std::vector<uint64_t>& calls, Stores stores, const Placement& place) {
  const Bytes& input = opening ? message.sealed.ciphertext : message.plaintext;
  const Bytes& output = opening ? message.plaintext : message.sealed.ciphertext;
  CanaryBuffer out(input.size(), place.out_offset);
  CanaryBuffer in(place.in_place ? 0 : input.size(), place.in_offset);
  uint8_t* from = place.in_place ? out.data() : in.data();
  std::copy(input.begin(), input.end(), from);

  Bytes y(block_bytes), counter = advanced(message.j0, 1);
  const Bytes aad = padded(message.aad);
  row.ghash(y, aad.data(), aad.size() / block_bytes);
  uint64_t done = 0;
  for (const uint64_t blocks : calls) {
    row.crypt(opening, counter, y, from + done, out.data() + done, blocks, stores);
    done += block_bytes * blocks;
  }
  const Bytes lengths = lengths_block(message.aad.size(), input.size());
  row.ghash(y, lengths.data(), 1);
  Bytes tag = row.encrypt_block(message.j0);
  xor_bytes(tag.data(), tag.data(), y.data(), block_bytes);

  const auto context = [&](testing::AssertionResult result) {
    return result << (opening ? " (open, " : " (seal, ") << input.size() / block_bytes << " blocks in " << calls.size()
                  << " calls, in +" << place.in_offset << ", out +" << place.out_offset
                  << (place.in_place ? ", in place" : "") << (stores == Stores::streaming ? ", streaming" : "")
                  << ", counter from " << load_be32(message.j0.data() + 12) << ")";
  };
  if (const auto result = same("the output", out.data(), output); !result) return context(result);
  if (const auto result = same("the tag", tag.data(), message.sealed.tag); !result) return context(result);
  const Bytes next = advanced(message.j0, 1 + input.size() / block_bytes);
  if (const auto result = same("the counter", counter.data(), next); !result) return context(result);
  if (!out.intact()) return context(testing::AssertionFailure() << "a byte beside the output was written");
  if (!in.intact() || !(place.in_place || std::equal(input.begin(), input.end(), from))) {
    return context(testing::AssertionFailure() << "the input was written");
  }
  return testing::AssertionSuccess();
}

// ---- the table ----

TEST(GcmTable, HasTheRowThatEveryMachineRuns) {
  ASSERT_FALSE(variants().empty());
  std::set<std::string> names;
  for (const Variant& row : variants()) EXPECT_TRUE(names.insert(row.name).second) << row.name << " stands twice";
  ASSERT_EQ(names.count("portable"), 1U);
  EXPECT_EQ(row_named("portable").needs, cpu::none);
}

TEST(GcmTable, RowsAreComplete) {
  for (const Variant& row : variants()) {
    SCOPED_TRACE(row.name);
    ASSERT_NE(row.kernels, nullptr);
    const Kernels& k = *row.kernels;
    EXPECT_TRUE(k.expand && k.ecb_encrypt && k.init && k.ghash && k.seal && k.open);
  }
}

TEST(GcmTable, ChoosesByName) {
  const Variant* chosen = nullptr;
  for (const Variant& row : variants()) {
    ASSERT_EQ(choose(row.name, ~cpu::none, &chosen), STOCKADE_OK) << row.name;
    EXPECT_EQ(chosen, &row);
    const Status without = choose(row.name, cpu::none, &chosen);
    EXPECT_EQ(without, row.needs == cpu::none ? STOCKADE_OK : STOCKADE_ERROR_UNAVAILABLE) << row.name;
  }
  const Variant* untouched = nullptr;
  for (const char* name : {"none", "reference", "VAES512", "portable ", "vaes"}) {
    EXPECT_EQ(choose(name, ~cpu::none, &untouched), STOCKADE_ERROR_UNKNOWN_NAME) << name;
  }
  EXPECT_EQ(untouched, nullptr);
}

TEST(GcmTable, ChoosesTheFirstRowThatRuns) {
  for (cpu::Features usable = 0; usable < 1U << std::size(cpu::feature_names); ++usable) {
    const auto best = std::find_if(variants().begin(), variants().end(),
                                   [usable](const Variant& row) { return (row.needs & usable) == row.needs; });
    ASSERT_NE(best, variants().end());
    const Variant* chosen = nullptr;
    ASSERT_EQ(choose("", usable, &chosen), STOCKADE_OK);
    EXPECT_EQ(chosen, &*best) << "features " << usable;
  }
}

// ---- every row ----

class GcmRow : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    const std::string lacks = lacking(row_);
    if (!lacks.empty()) GTEST_SKIP() << "this machine lacks" << lacks;
  }

  const Variant& row_ = row_named(GetParam());
  const Variant& portable_ = row_named("portable");
  RandomSource random_;
};

// 0 to 70 blocks, and counts around the widths of kernels and beyond the first cache.
std::vector<uint64_t> block_counts(RandomSource& random) {
  std::vector<uint64_t> counts;
  for (uint64_t n = 0; n <= 70; ++n) counts.push_back(n);
  counts.insert(counts.end(), {95, 96, 97, 127, 128, 129, 255, 256, 257, 511, 512, 513, 5000});
  for (int i = 0; i < 4; ++i) counts.push_back(random.between(71, 2000));
  return counts;
}

TEST_P(GcmRow, AgreesForEveryNumberOfBlocks) {
  for (const uint32_t key_bytes : all_key_bytes) {
    for (const uint64_t blocks : block_counts(random_)) {
      const Message message = random_message(key_bytes, block_bytes * blocks, random_.below(100), random_);
      const RowKey row(row_, message.key);
      for (const bool opening : {false, true}) {
        for (const Stores stores : both_stores) {
          ASSERT_TRUE(agrees(row, message, opening, {blocks}, stores, random_placement(random_)));
        }
      }
    }
  }
}

TEST_P(GcmRow, AgreesAtEveryMisalignment) {
  for (const uint64_t blocks : {uint64_t{3}, uint64_t{67}, random_.between(16, 150)}) {
    const Message message = random_message(all_key_bytes[random_.below(3)], block_bytes * blocks, 0, random_);
    const RowKey row(row_, message.key);
    for (const bool opening : {false, true}) {
      const Stores stores = both_stores[random_.below(2)];
      for (uint64_t offset = 0; offset < 64; ++offset) {
        ASSERT_TRUE(agrees(row, message, opening, {blocks}, stores, {offset, random_.below(64), false}));
        ASSERT_TRUE(agrees(row, message, opening, {blocks}, stores, {random_.below(64), offset, false}));
        ASSERT_TRUE(agrees(row, message, opening, {blocks}, stores, {0, offset, true}));
      }
    }
  }
}

TEST_P(GcmRow, CarriesCounterAndHashFromCallToCall) {
  for (uint64_t repeat = 0; repeat < scaled(60); ++repeat) {
    std::vector<uint64_t> calls;
    uint64_t blocks = 0;
    for (uint64_t n = random_.between(2, 12); n > 0; --n) {
      calls.push_back(random_.below(random_.one_in(2) ? 5 : 100));
      blocks += calls.back();
    }
    const Message message =
        random_message(all_key_bytes[repeat % 3], block_bytes * blocks, random_.below(300), random_);
    const RowKey row(row_, message.key);
    ASSERT_TRUE(agrees(row, message, repeat % 2 == 1, calls, Stores::ordinary, random_placement(random_)));
  }
}

// The counter's low 32 bits wrap after each possible number of blocks of the widest kernels, and nothing is carried.
TEST_P(GcmRow, CounterWrapsIn32Bits) {
  for (uint32_t before = 0; before <= 70; ++before) {
    Message message{random_.bytes(all_key_bytes[before % 3]), random_.bytes(block_bytes), {}, {}, {}};
    store_be32(message.j0.data() + 12, ~uint32_t{0} - before);
    message.plaintext = random_.bytes(block_bytes * (before + random_.between(1, 70)));
    message.sealed = oracle_seal(message.key, iv_for(message.key, message.j0), {}, message.plaintext, 16);
    const RowKey row(row_, message.key);
    const uint64_t blocks = message.plaintext.size() / block_bytes;
    for (const bool opening : {false, true}) {
      ASSERT_TRUE(agrees(row, message, opening, {blocks}, both_stores[before % 2], random_placement(random_)));
    }
  }
}

// A byte read or written outside ends the program.
TEST_P(GcmRow, StaysInsideItsBuffers) {
  constexpr uint64_t most = 70;
  const FencedMemory source(block_bytes * most), target(block_bytes * most);
  for (uint64_t blocks = 0; blocks <= most; ++blocks) {
    const uint64_t size = block_bytes * blocks;
    const Message message = random_message(all_key_bytes[blocks % 3], size, 0, random_);
    const RowKey row(row_, message.key);
    for (const bool back : {false, true}) {
      uint8_t* from = back ? source.back(size) : source.front();
      uint8_t* to = back ? target.back(size) : target.front();
      std::copy(message.plaintext.begin(), message.plaintext.end(), from);
      Bytes y(block_bytes), counter = advanced(message.j0, 1);
      row.crypt(false, counter, y, from, to, blocks, both_stores[blocks % 2]);
      ASSERT_TRUE(same("the ciphertext", to, message.sealed.ciphertext)) << blocks;
      Bytes hashed(block_bytes);
      row.ghash(hashed, to, blocks);
      ASSERT_EQ(y, hashed) << blocks;
      counter = advanced(message.j0, 1);
      row.crypt(true, counter, hashed, to, from, blocks, both_stores[blocks % 2]);
      ASSERT_TRUE(same("the plaintext", from, message.plaintext)) << blocks;
    }
  }
}

// From any start value, in one call and in several.
TEST_P(GcmRow, GhashAgreesWithThePortableRowAndTheField) {
  for (const uint64_t blocks : block_counts(random_)) {
    const Bytes key = random_.bytes(16), start = random_.bytes(block_bytes), in = random_.bytes(block_bytes * blocks);
    const RowKey row(row_, key), portable(portable_, key);
    const Bytes h_bytes = oracle_crypt(STOCKADE_ECB, STOCKADE_ENCRYPT, key, {}, Bytes(block_bytes));
    const Field128 h = load_gcm(h_bytes.data());
    Field128 sum = load_gcm(start.data());
    for (uint64_t i = 0; i < blocks; ++i) sum = multiply(add(sum, load_gcm(in.data() + block_bytes * i)), h);
    Bytes expected(block_bytes);
    store_gcm(expected.data(), sum);

    Bytes y = start;
    row.ghash(y, in.data(), blocks);
    ASSERT_EQ(y, expected) << blocks;
    y = start;
    portable.ghash(y, in.data(), blocks);
    ASSERT_EQ(y, expected) << blocks;
    y = start;
    const uint64_t first = random_.between(0, blocks);
    row.ghash(y, in.data(), first);
    row.ghash(y, in.data() + block_bytes * first, blocks - first);
    ASSERT_EQ(y, expected) << first << " of " << blocks;
  }
}

// Blocks of all ones are where sums of bits are largest, and of one bit where each coefficient is alone.
TEST_P(GcmRow, GhashOfExtremeBlocks) {
  const Bytes key = random_.bytes(32);
  const RowKey row(row_, key);
  const Bytes h_bytes = oracle_crypt(STOCKADE_ECB, STOCKADE_ENCRYPT, key, {}, Bytes(block_bytes));
  const Field128 h = load_gcm(h_bytes.data());
  for (uint32_t bit = 0; bit <= 128; ++bit) {
    Bytes block(block_bytes, bit == 128 ? 0xff : 0x00);
    if (bit < 128) block[bit / 8] = static_cast<uint8_t>(0x80 >> bit % 8);
    Bytes y(block_bytes), expected(block_bytes);
    row.ghash(y, block.data(), 1);
    store_gcm(expected.data(), multiply(load_gcm(block.data()), h));
    ASSERT_EQ(y, expected) << "bit " << bit;
  }
}

TEST_P(GcmRow, ReadsAtEveryMisalignmentForGhash) {
  const Bytes key = random_.bytes(16);
  const RowKey row(row_, key);
  const uint64_t blocks = random_.between(40, 100);
  const Bytes in = random_.bytes(block_bytes * blocks);
  Bytes expected(block_bytes);
  RowKey(portable_, key).ghash(expected, in.data(), blocks);
  for (uint64_t offset = 0; offset < 64; ++offset) {
    CanaryBuffer buffer(in.size(), offset);
    std::copy(in.begin(), in.end(), buffer.data());
    Bytes y(block_bytes);
    row.ghash(y, buffer.data(), blocks);
    ASSERT_EQ(y, expected) << offset;
  }
}

INSTANTIATE_TEST_SUITE_P(Rows, GcmRow, testing::ValuesIn(row_names()), [](const auto& test) { return test.param; });

}  // namespace
}  // namespace stockade::gcm
