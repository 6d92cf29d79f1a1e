// Every row of the AES table that this machine can run, kernel by kernel, against OpenSSL.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <initializer_list>
#include <memory>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "aes/aes_variants.h"
#include "base/bytes.h"
#include "cross/guarded_memory.h"
#include "cross/oracle.h"
#include "cross/random_source.h"

namespace stockade::aes {
namespace {

using tests::Bytes;
using tests::CanaryBuffer;
using tests::FencedMemory;
using tests::oracle_crypt;
using tests::RandomSource;
using tests::scaled;

constexpr uint64_t block_bytes = 16;
constexpr uint32_t all_key_bytes[] = {16, 24, 32};
constexpr Stores both_stores[] = {Stores::ordinary, Stores::streaming};
constexpr Chain all_chains[] = {Chain::cbc_encrypt, Chain::cfb_encrypt, Chain::ofb};

// ---- what OpenSSL says ----

// The output and the chain value that is left.
struct Outcome {
  Bytes out, chain;
};

Bytes sum(const Bytes& a, const Bytes& b) {
  Bytes result(a.size());
  xor_bytes(result.data(), a.data(), b.data(), a.size());
  return result;
}

// The last block, or `chain` where there is none.
Bytes last_block(const Bytes& blocks, const Bytes& chain) {
  return blocks.empty() ? chain : Bytes(blocks.end() - block_bytes, blocks.end());
}

template <stockade_direction direction>
Outcome expect_ecb(const Bytes& key, const Bytes& chain, const Bytes& in) {
  return {oracle_crypt(STOCKADE_ECB, direction, key, {}, in), chain};
}

// CBC and CFB: the chain is left as the last ciphertext block.
template <stockade_mode mode, stockade_direction direction>
Outcome expect_chained(const Bytes& key, const Bytes& chain, const Bytes& in) {
  Bytes out = oracle_crypt(mode, direction, key, chain, in);
  Bytes left = last_block(direction == STOCKADE_ENCRYPT ? out : in, chain);
  return {std::move(out), std::move(left)};
}

Outcome expect_ofb(const Bytes& key, const Bytes& chain, const Bytes& in) {
  Bytes out = oracle_crypt(STOCKADE_OFB, STOCKADE_ENCRYPT, key, chain, in);
  Bytes left = last_block(sum(out, in), chain);
  return {std::move(out), std::move(left)};
}

Outcome expect_ctr(const Bytes& key, const Bytes& chain, const Bytes& in) {
  Bytes counter = chain;
  for (uint64_t i = 0; i < in.size() / block_bytes; ++i) {
    for (size_t byte = block_bytes; byte-- > 0 && ++counter[byte] == 0;) {
    }
  }
  return {oracle_crypt(STOCKADE_CTR, STOCKADE_ENCRYPT, key, chain, in), counter};
}

// From an encrypted tweak on, and for 192 bits too, which OpenSSL's XTS has not: IEEE 1619 §5.3.1 over OpenSSL's ECB.
template <stockade_direction direction>
Outcome expect_xts(const Bytes& key, const Bytes& chain, const Bytes& in) {
  Bytes tweak = chain, tweaks;
  for (uint64_t i = 0; i < in.size() / block_bytes; ++i) {
    tweaks.insert(tweaks.end(), tweak.begin(), tweak.end());
    uint32_t carry = 0;
    for (uint8_t& byte : tweak) {
      const uint32_t twice = byte * 2U + carry;
      byte = static_cast<uint8_t>(twice);
      carry = twice >> 8;
    }
    if (carry != 0) tweak[0] ^= 0x87;
  }
  return {sum(oracle_crypt(STOCKADE_ECB, direction, key, {}, sum(in, tweaks)), tweaks), tweak};
}

// ---- the kernels under one signature ----

using Run = void (*)(const Kernels& kernels, const Schedule& schedule, uint8_t chain[16], const uint8_t* in,
                     uint8_t* out, uint64_t blocks, Stores stores);

template <EcbFn Kernels::*kernel>
void run_ecb(const Kernels& kernels, const Schedule& schedule, uint8_t*, const uint8_t* in, uint8_t* out,
             uint64_t blocks, Stores stores) {
  (kernels.*kernel)(schedule, in, out, blocks, stores);
}

template <ChainedFn Kernels::*kernel>
void run_chained(const Kernels& kernels, const Schedule& schedule, uint8_t chain[16], const uint8_t* in, uint8_t* out,
                 uint64_t blocks, Stores stores) {
  (kernels.*kernel)(schedule, chain, in, out, blocks, stores);
}

template <Chain mode>
void run_sequential(const Kernels& kernels, const Schedule& schedule, uint8_t chain[16], const uint8_t* in,
                    uint8_t* out, uint64_t blocks, Stores) {
  kernels.sequential(mode, schedule, chain, in, out, blocks);
}

struct Operation {
  const char* name;
  Run run;
  Outcome (*expect)(const Bytes& key, const Bytes& chain, const Bytes& in);
};

// ChainedFn, CtrFn and XtsFn are one type.
const Operation operations[] = {
    {"ecb_encrypt", run_ecb<&Kernels::ecb_encrypt>, expect_ecb<STOCKADE_ENCRYPT>},
    {"ecb_decrypt", run_ecb<&Kernels::ecb_decrypt>, expect_ecb<STOCKADE_DECRYPT>},
    {"cbc_encrypt", run_sequential<Chain::cbc_encrypt>, expect_chained<STOCKADE_CBC, STOCKADE_ENCRYPT>},
    {"cbc_decrypt", run_chained<&Kernels::cbc_decrypt>, expect_chained<STOCKADE_CBC, STOCKADE_DECRYPT>},
    {"cfb_encrypt", run_sequential<Chain::cfb_encrypt>, expect_chained<STOCKADE_CFB, STOCKADE_ENCRYPT>},
    {"cfb_decrypt", run_chained<&Kernels::cfb_decrypt>, expect_chained<STOCKADE_CFB, STOCKADE_DECRYPT>},
    {"ofb", run_sequential<Chain::ofb>, expect_ofb},
    {"ctr", run_chained<&Kernels::ctr>, expect_ctr},
    {"xts_encrypt", run_chained<&Kernels::xts_encrypt>, expect_xts<STOCKADE_ENCRYPT>},
    {"xts_decrypt", run_chained<&Kernels::xts_decrypt>, expect_xts<STOCKADE_DECRYPT>},
};

const Operation& operation(const std::string& name) {
  return *std::find_if(std::begin(operations), std::end(operations),
                       [&name](const Operation& candidate) { return name == candidate.name; });
}

Outcome expect_lane(Chain mode, const Bytes& key, const Bytes& chain, const Bytes& in) {
  constexpr const char* names[] = {"cbc_encrypt", "cfb_encrypt", "ofb"};
  return operation(names[static_cast<uint32_t>(mode)]).expect(key, chain, in);
}

// ---- rows ----

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

// The key schedule as the row makes it, in memory that was not clean before.
class RowKey {
 public:
  RowKey(const Variant& row, const Bytes& key) : schedule_(std::make_unique<Schedule>()) {
    std::memset(schedule_.get(), 0xee, sizeof(Schedule));
    row.kernels->expand(key.data(), static_cast<uint32_t>(key.size()), *schedule_);
  }
  const Schedule& operator*() const { return *schedule_; }

 private:
  std::unique_ptr<Schedule> schedule_;
};

// Where input and output lie.
struct Placement {
  uint64_t in_offset, out_offset;  // from a multiple of 64
  bool in_place;                   // at out_offset
};

Placement random_placement(RandomSource& random) { return {random.below(64), random.below(64), random.one_in(3)}; }

// One call of a kernel, and what it must leave.
struct Call {
  const Operation& operation;
  const Kernels& kernels;
  const Schedule& schedule;
  const Bytes& chain;
  const Bytes& in;
  const Outcome& expected;
};

testing::AssertionResult same(const char* what, const uint8_t* actual, const Bytes& expected) {
  const auto [a, b] = std::mismatch(expected.begin(), expected.end(), actual);
  if (a == expected.end()) return testing::AssertionSuccess();
  return testing::AssertionFailure() << what << " differs at byte " << a - expected.begin() << " of "
                                     << expected.size();
}

testing::AssertionResult agrees(const Call& call, Stores stores, const Placement& place) {
  const auto context = [&](testing::AssertionResult result) {
    return result << " (" << call.in.size() / block_bytes << " blocks, " << call.schedule.rounds << " rounds, in +"
                  << place.in_offset << ", out +" << place.out_offset << (place.in_place ? ", in place" : "")
                  << (stores == Stores::streaming ? ", streaming)" : ", ordinary)");
  };
  CanaryBuffer out(call.in.size(), place.out_offset);
  CanaryBuffer in(place.in_place ? 0 : call.in.size(), place.in_offset);
  uint8_t* from = place.in_place ? out.data() : in.data();
  std::copy(call.in.begin(), call.in.end(), from);
  Bytes chain = call.chain;
  call.operation.run(call.kernels, call.schedule, chain.data(), from, out.data(), call.in.size() / block_bytes, stores);
  if (const auto result = same("the output", out.data(), call.expected.out); !result) return context(result);
  if (const auto result = same("the chain", chain.data(), call.expected.chain); !result) return context(result);
  if (!out.intact()) return context(testing::AssertionFailure() << "a byte beside the output was written");
  if (!in.intact() || !(place.in_place || std::equal(call.in.begin(), call.in.end(), from))) {
    return context(testing::AssertionFailure() << "the input was written");
  }
  return testing::AssertionSuccess();
}

// 0 to 70 blocks, and counts around the widths of kernels and beyond the first cache.
std::vector<uint64_t> block_counts(RandomSource& random) {
  std::vector<uint64_t> counts;
  for (uint64_t n = 0; n <= 70; ++n) counts.push_back(n);
  counts.insert(counts.end(), {95, 96, 97, 127, 128, 129, 255, 256, 257, 511, 512, 513, 5000});
  for (int i = 0; i < 4; ++i) counts.push_back(random.between(71, 2000));
  return counts;
}

// ---- the table ----

TEST(AesTable, HasTheRowsThatEveryMachineRuns) {
  ASSERT_FALSE(variants().empty());
  std::set<std::string> names;
  for (const Variant& row : variants()) EXPECT_TRUE(names.insert(row.name).second) << row.name << " stands twice";
  ASSERT_TRUE(names.count("portable") == 1 && names.count("reference") == 1);
  EXPECT_EQ(row_named("portable").needs, cpu::none);
  EXPECT_TRUE(row_named("portable").automatic);
  EXPECT_EQ(row_named("reference").needs, cpu::none);
  EXPECT_FALSE(row_named("reference").automatic);
}

TEST(AesTable, RowsAreComplete) {
  for (const Variant& row : variants()) {
    SCOPED_TRACE(row.name);
    EXPECT_GE(row.lanes, 16U);
    EXPECT_LE(row.lanes, max_lanes);
    ASSERT_NE(row.kernels, nullptr);
    const Kernels& k = *row.kernels;
    EXPECT_TRUE(k.expand && k.ecb_encrypt && k.ecb_decrypt && k.sequential && k.lanes && k.cbc_decrypt &&
                k.cfb_decrypt && k.ctr && k.xts_encrypt && k.xts_decrypt);
  }
}

TEST(AesTable, ChoosesByName) {
  const Variant* chosen = nullptr;
  for (const Variant& row : variants()) {
    ASSERT_EQ(choose(row.name, ~cpu::none, &chosen), STOCKADE_OK) << row.name;
    EXPECT_EQ(chosen, &row);
    const Status without = choose(row.name, cpu::none, &chosen);
    EXPECT_EQ(without, row.needs == cpu::none ? STOCKADE_OK : STOCKADE_ERROR_UNAVAILABLE) << row.name;
  }
  const Variant* untouched = nullptr;
  for (const char* name : {"none", "vaes", "AESNI", "portable ", "vaes5120"}) {
    EXPECT_EQ(choose(name, ~cpu::none, &untouched), STOCKADE_ERROR_UNKNOWN_NAME) << name;
  }
  EXPECT_EQ(untouched, nullptr);
}

TEST(AesTable, ChoosesTheFirstAutomaticRowThatRuns) {
  for (cpu::Features usable = 0; usable < 1U << std::size(cpu::feature_names); ++usable) {
    const auto best = std::find_if(variants().begin(), variants().end(), [usable](const Variant& row) {
      return row.automatic && (row.needs & usable) == row.needs;
    });
    ASSERT_NE(best, variants().end());
    const Variant* chosen = nullptr;
    ASSERT_EQ(choose("", usable, &chosen), STOCKADE_OK);
    EXPECT_EQ(chosen, &*best) << "features " << usable;
  }
}

// ---- every row and operation ----

class AesKernel : public testing::TestWithParam<std::tuple<std::string, size_t>> {
 protected:
  void SetUp() override {
    const std::string lacks = lacking(row_);
    if (!lacks.empty()) GTEST_SKIP() << "this machine lacks" << lacks;
  }

  const Variant& row_ = row_named(std::get<0>(GetParam()));
  const Operation& operation_ = operations[std::get<1>(GetParam())];
  RandomSource random_;
};

TEST_P(AesKernel, AgreesForEveryNumberOfBlocks) {
  for (const uint32_t key_bytes : all_key_bytes) {
    for (const uint64_t blocks : block_counts(random_)) {
      const Bytes key = random_.bytes(key_bytes), chain = random_.bytes(16), in = random_.bytes(block_bytes * blocks);
      const RowKey schedule(row_, key);
      const Outcome expected = operation_.expect(key, chain, in);
      for (const Stores stores : both_stores) {
        ASSERT_TRUE(
            agrees({operation_, *row_.kernels, *schedule, chain, in, expected}, stores, random_placement(random_)));
      }
    }
  }
}

TEST_P(AesKernel, AgreesAtEveryMisalignment) {
  const Bytes key = random_.bytes(all_key_bytes[random_.below(3)]), chain = random_.bytes(16);
  const RowKey schedule(row_, key);
  for (const uint64_t blocks : {uint64_t{3}, uint64_t{67}, random_.between(16, 150)}) {
    const Bytes in = random_.bytes(block_bytes * blocks);
    const Outcome expected = operation_.expect(key, chain, in);
    const Call call{operation_, *row_.kernels, *schedule, chain, in, expected};
    for (const Stores stores : both_stores) {
      for (uint64_t offset = 0; offset < 64; ++offset) {
        ASSERT_TRUE(agrees(call, stores, {offset, random_.below(64), false}));
        ASSERT_TRUE(agrees(call, stores, {random_.below(64), offset, false}));
        ASSERT_TRUE(agrees(call, stores, {0, offset, true}));
      }
    }
  }
}

// A byte read or written outside ends the program.
TEST_P(AesKernel, StaysInsideItsBuffers) {
  constexpr uint64_t most = 70;
  const FencedMemory source(block_bytes * most), target(block_bytes * most);
  const Bytes key = random_.bytes(32);
  const RowKey schedule(row_, key);
  for (uint64_t blocks = 0; blocks <= most; ++blocks) {
    const uint64_t size = block_bytes * blocks;
    const Bytes chain = random_.bytes(16), in = random_.bytes(size);
    const Outcome expected = operation_.expect(key, chain, in);
    for (const bool back : {false, true}) {
      uint8_t* from = back ? source.back(size) : source.front();
      uint8_t* to = back ? target.back(size) : target.front();
      std::copy(in.begin(), in.end(), from);
      Bytes left = chain;
      operation_.run(*row_.kernels, *schedule, left.data(), from, to, blocks, both_stores[blocks % 2]);
      ASSERT_TRUE(same("the output", to, expected.out)) << blocks << " blocks";
      ASSERT_EQ(left, expected.chain) << blocks << " blocks";
    }
  }
}

TEST_P(AesKernel, CarriesItsChainFromCallToCall) {
  for (uint64_t repeat = 0; repeat < scaled(30); ++repeat) {
    const Bytes key = random_.bytes(all_key_bytes[repeat % 3]);
    const RowKey schedule(row_, key);
    const uint64_t blocks = random_.between(1, 300);
    const Bytes first_chain = random_.bytes(16), in = random_.bytes(block_bytes * blocks);
    const Outcome expected = operation_.expect(key, first_chain, in);
    Bytes chain = first_chain, out(in.size());
    for (uint64_t done = 0; done < blocks;) {
      const uint64_t n = std::min(random_.below(random_.one_in(2) ? 5 : 100), blocks - done);
      operation_.run(*row_.kernels, *schedule, chain.data(), in.data() + block_bytes * done,
                     out.data() + block_bytes * done, n, Stores::ordinary);
      done += n;
    }
    ASSERT_TRUE(same("the output", out.data(), expected.out));
    ASSERT_EQ(chain, expected.chain);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Rows, AesKernel, testing::Combine(testing::ValuesIn(row_names()), testing::Range(size_t{0}, std::size(operations))),
    [](const auto& test) { return std::get<0>(test.param) + "_" + operations[std::get<1>(test.param)].name; });

// ---- every row ----

class AesRow : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    const std::string lacks = lacking(row_);
    if (!lacks.empty()) GTEST_SKIP() << "this machine lacks" << lacks;
  }

  const Variant& row_ = row_named(GetParam());
  const Kernels& kernels_ = *row_.kernels;
  RandomSource random_;
};

TEST_P(AesRow, ExpandReadsTheKeyAloneAndSaysTheRounds) {
  const FencedMemory memory(64);
  for (const uint32_t key_bytes : all_key_bytes) {
    for (const bool back : {false, true}) {
      const Bytes key = random_.bytes(key_bytes), in = random_.bytes(block_bytes * 3);
      uint8_t* at = back ? memory.back(key_bytes) : memory.front();
      std::copy(key.begin(), key.end(), at);
      Schedule schedule;
      kernels_.expand(at, key_bytes, schedule);
      EXPECT_EQ(schedule.rounds, key_bytes / 4 + 6);
      Bytes out(in.size());
      kernels_.ecb_encrypt(schedule, in.data(), out.data(), 3, Stores::ordinary);
      EXPECT_EQ(out, oracle_crypt(STOCKADE_ECB, STOCKADE_ENCRYPT, key, {}, in));
      kernels_.ecb_decrypt(schedule, out.data(), out.data(), 3, Stores::ordinary);
      EXPECT_EQ(out, in);
    }
  }
}

// All 256 values at all 16 positions of the first SubBytes; of the first InvSubBytes too, for 8192 random blocks leave one
// out with a probability of 1e-10.
TEST_P(AesRow, EveryByteGoesThroughTheSBox) {
  for (const uint32_t key_bytes : all_key_bytes) {
    const Bytes key = random_.bytes(key_bytes);
    const RowKey schedule(row_, key);
    Bytes plaintext;
    for (uint32_t value = 0; value < 256; ++value) {
      for (uint32_t i = 0; i < block_bytes; ++i) plaintext.push_back(static_cast<uint8_t>(key[i] ^ value));
    }
    Bytes out(plaintext.size());
    kernels_.ecb_encrypt(*schedule, plaintext.data(), out.data(), 256, Stores::ordinary);
    EXPECT_EQ(out, oracle_crypt(STOCKADE_ECB, STOCKADE_ENCRYPT, key, {}, plaintext));
    const Bytes ciphertext = random_.bytes(block_bytes * 8192);
    out.resize(ciphertext.size());
    kernels_.ecb_decrypt(*schedule, ciphertext.data(), out.data(), 8192, Stores::ordinary);
    EXPECT_TRUE(same("the output", out.data(), oracle_crypt(STOCKADE_ECB, STOCKADE_DECRYPT, key, {}, ciphertext)));
  }
}

TEST_P(AesRow, ManyKeysExpandRight) {
  const Bytes in = random_.bytes(block_bytes);
  for (uint64_t repeat = 0; repeat < scaled(600); ++repeat) {
    const Bytes key = random_.bytes(all_key_bytes[repeat % 3]);
    const RowKey schedule(row_, key);
    Bytes out(block_bytes);
    kernels_.ecb_encrypt(*schedule, in.data(), out.data(), 1, Stores::ordinary);
    ASSERT_EQ(out, oracle_crypt(STOCKADE_ECB, STOCKADE_ENCRYPT, key, {}, in));
    kernels_.ecb_decrypt(*schedule, out.data(), out.data(), 1, Stores::ordinary);
    ASSERT_EQ(out, in);
  }
}

// Counters that end in ff..ff at several widths, and start up to 70 blocks before the wrap.
TEST_P(AesRow, CounterWrapsAtNoBoundaryButItsEnd) {
  const Operation& ctr = operation("ctr");
  for (const uint32_t width : {8U, 16U, 32U, 64U, 96U, 128U}) {
    for (uint64_t before = 0; before <= 70; ++before) {
      const Bytes key = random_.bytes(all_key_bytes[before % 3]);
      const RowKey schedule(row_, key);
      Bytes counter = random_.bytes(16);
      std::fill(counter.end() - width / 8, counter.end(), uint8_t{0xff});
      counter[15] = static_cast<uint8_t>(counter[15] - before);
      const Bytes in = random_.bytes(block_bytes * (before + random_.between(1, 70)));
      const Outcome expected = ctr.expect(key, counter, in);
      ASSERT_TRUE(
          agrees({ctr, kernels_, *schedule, counter, in, expected}, both_stores[before % 2], random_placement(random_)))
          << width << " bits, " << before << " blocks before";
    }
  }
}

TEST_P(AesRow, XtsIsThatOfOpenSsl) {
  for (const uint32_t key_bytes : {16U, 32U}) {
    for (const uint64_t blocks : {1, 2, 7, 8, 9, 31, 32, 33, 64, 100, 1000}) {
      const Bytes key = random_.bytes(2 * key_bytes), number = random_.bytes(16);
      const Bytes data_key(key.begin(), key.begin() + key_bytes), tweak_key(key.begin() + key_bytes, key.end());
      const Bytes plaintext = random_.bytes(block_bytes * blocks);
      const Bytes ciphertext = oracle_crypt(STOCKADE_XTS, STOCKADE_ENCRYPT, key, number, plaintext);
      const RowKey schedule(row_, data_key);
      const Bytes first_tweak = oracle_crypt(STOCKADE_ECB, STOCKADE_ENCRYPT, tweak_key, {}, number);
      Bytes out(plaintext.size()), tweak = first_tweak;
      kernels_.xts_encrypt(*schedule, tweak.data(), plaintext.data(), out.data(), blocks, Stores::ordinary);
      EXPECT_EQ(out, ciphertext) << blocks;
      tweak = first_tweak;
      kernels_.xts_decrypt(*schedule, tweak.data(), out.data(), out.data(), blocks, Stores::ordinary);
      EXPECT_EQ(out, plaintext) << blocks;
    }
  }
}

// Tweaks whose top bits are all set or all clear, so that every carry of the doubling is seen.
TEST_P(AesRow, XtsTweakCarries) {
  const Bytes key = random_.bytes(16);
  const RowKey schedule(row_, key);
  for (const uint32_t fill : {0x00U, 0x80U, 0xffU, 0x01U, 0x7fU}) {
    for (const char* name : {"xts_encrypt", "xts_decrypt"}) {
      const Operation& xts = operation(name);
      const Bytes tweak(16, static_cast<uint8_t>(fill)), in = random_.bytes(block_bytes * 300);
      const Outcome expected = xts.expect(key, tweak, in);
      ASSERT_TRUE(agrees({xts, kernels_, *schedule, tweak, in, expected}, Stores::ordinary, {0, 0, false}))
          << name << ", tweak of " << fill;
    }
  }
}

// ---- lanes ----

enum class Sharing { one_key, own_keys, some_shared };

// One lane's message with its buffers.
class LaneMessage {
 public:
  LaneMessage(Chain mode, const Bytes& key, uint64_t blocks, RandomSource& random)
      : place_(random_placement(random)),
        chain_(random.bytes(16)),
        in_(random.bytes(block_bytes * blocks)),
        expected_(expect_lane(mode, key, chain_, in_)),
        source_(in_.size(), place_.in_offset),
        target_(in_.size(), place_.out_offset) {
    std::copy(in_.begin(), in_.end(), from());
  }

  // From block `first` on, with the chain value `chain`.
  Lane lane(const Schedule& schedule, uint64_t first, const uint8_t* chain) {
    Lane lane{&schedule, from() + block_bytes * first, target_.data() + block_bytes * first, {}};
    std::memcpy(lane.chain, chain, sizeof lane.chain);
    return lane;
  }
  const Bytes& chain() const { return chain_; }

  testing::AssertionResult done(const Lane& lane) {
    if (const auto result = same("the output", target_.data(), expected_.out); !result) return result;
    if (const auto result = same("the chain", lane.chain, expected_.chain); !result) return result;
    if (!target_.intact() || !source_.intact()) {
      return testing::AssertionFailure() << "a byte outside the output was written";
    }
    if (!place_.in_place && !std::equal(in_.begin(), in_.end(), from())) {
      return testing::AssertionFailure() << "the input was written";
    }
    return testing::AssertionSuccess();
  }

 private:
  uint8_t* from() { return place_.in_place ? target_.data() : source_.data(); }

  Placement place_;
  Bytes chain_, in_;
  Outcome expected_;
  CanaryBuffer source_, target_;
};

// `count` messages side by side, in two calls, the first of `split` blocks.
void run_lanes(const Variant& row, Chain mode, uint32_t count, Sharing sharing, uint64_t blocks, uint64_t split,
               RandomSource& random) {
  const uint32_t key_bytes = all_key_bytes[random.below(3)];
  std::vector<Bytes> keys;
  std::vector<RowKey> schedules;
  const uint64_t key_count = sharing == Sharing::one_key ? 1 : sharing == Sharing::own_keys ? count : (count + 2) / 3;
  for (uint64_t i = 0; i < key_count; ++i) {
    keys.push_back(random.bytes(key_bytes));
    schedules.emplace_back(row, keys.back());
  }
  std::vector<uint64_t> key_of;
  std::vector<std::unique_ptr<LaneMessage>> messages;
  std::vector<Lane> lanes;
  for (uint32_t i = 0; i < count; ++i) {
    key_of.push_back(sharing == Sharing::own_keys ? i : random.below(key_count));
    messages.push_back(std::make_unique<LaneMessage>(mode, keys[key_of[i]], blocks, random));
    lanes.push_back(messages[i]->lane(*schedules[key_of[i]], 0, messages[i]->chain().data()));
  }
  row.kernels->lanes(mode, lanes.data(), count, split);
  for (uint32_t i = 0; i < count; ++i) {
    const Lane untouched = messages[i]->lane(*schedules[key_of[i]], 0, lanes[i].chain);
    ASSERT_TRUE(lanes[i].schedule == untouched.schedule && lanes[i].in == untouched.in && lanes[i].out == untouched.out)
        << "lane " << i << " was moved";
    lanes[i] = messages[i]->lane(*schedules[key_of[i]], split, lanes[i].chain);
  }
  row.kernels->lanes(mode, lanes.data(), count, blocks - split);
  for (uint32_t i = 0; i < count; ++i) ASSERT_TRUE(messages[i]->done(lanes[i])) << "lane " << i << " of " << count;
}

TEST_P(AesRow, LanesAgreeForEveryCount) {
  for (const Chain mode : all_chains) {
    for (uint32_t count = 1; count <= row_.lanes; ++count) {
      for (const Sharing sharing : {Sharing::one_key, Sharing::own_keys, Sharing::some_shared}) {
        const uint64_t blocks = random_.one_in(4) ? random_.between(0, 80) : random_.between(0, 9);
        SCOPED_TRACE(testing::Message() << "mode " << static_cast<uint32_t>(mode) << ", " << count << " lanes, sharing "
                                        << static_cast<int>(sharing) << ", " << blocks << " blocks");
        run_lanes(row_, mode, count, sharing, blocks, random_.between(0, blocks), random_);
        if (HasFatalFailure()) return;
      }
    }
  }
}

// Each lane's input and output end or begin at memory that cannot be touched.
TEST_P(AesRow, LanesStayInsideTheirBuffers) {
  for (const Chain mode : all_chains) {
    for (const bool back : {false, true}) {
      const uint64_t blocks = random_.between(1, 20), size = block_bytes * blocks;
      const Bytes key = random_.bytes(16), in = random_.bytes(size), chain = random_.bytes(16);
      const RowKey schedule(row_, key);
      std::vector<std::unique_ptr<FencedMemory>> memory;
      std::vector<Lane> lanes;
      for (uint32_t i = 0; i < row_.lanes; ++i) {
        memory.push_back(std::make_unique<FencedMemory>(size));
        uint8_t* at = back ? memory.back()->back(size) : memory.back()->front();
        std::copy(in.begin(), in.end(), at);
        lanes.push_back({&*schedule, at, at, {}});
        std::copy(chain.begin(), chain.end(), lanes.back().chain);
      }
      kernels_.lanes(mode, lanes.data(), row_.lanes, blocks);
      const Outcome expected = expect_lane(mode, key, chain, in);
      for (const Lane& lane : lanes) ASSERT_TRUE(same("the output", lane.out, expected.out));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Rows, AesRow, testing::ValuesIn(row_names()), [](const auto& test) { return test.param; });

}  // namespace
}  // namespace stockade::aes
