// Powers are the same however they are divided.
#include "rsa/powers.h"

#include <gtest/gtest.h>

#include <array>

#include "bignum/integer.h"
#include "bignum/modexp.h"
#include "cross/random_source.h"
#include "rsa/rsa_test.h"

namespace stockade::rsa {
namespace {

using bignum::Limb;
using bignum::Modulus;
using bignum::Power;

constexpr Layers all_layers[] = {Layers::together, Layers::halves, Layers::right_to_left, Layers::right_to_left_halves};

parallel::Plan plan_of(uint32_t workers) {
  const config::Kind kind = workers == 1 ? config::Kind::serial : config::Kind::threads;
  return {kind, workers, aes::Stores::ordinary, ""};
}

std::vector<Limb> random_limbs(tests::RandomSource& random, uint32_t limbs) {
  const Buffer bytes = random.bytes(uint64_t{limbs} * sizeof(Limb));
  std::vector<Limb> made(limbs);
  bignum::from_bytes(bytes.data(), bytes.size(), made.data(), limbs);
  return made;
}

// Bases and exponents of one batch, over odd moduli of several lengths; exponents with no bit, one and all among them.
struct Sample {
  explicit Sample(tests::RandomSource& random) {
    constexpr uint32_t lengths[] = {16, 16, 9, 24, 1};
    for (uint32_t i = 0; i < count; ++i) {
      std::vector<Limb> n = random_limbs(random, lengths[i]);
      n[0] |= 1;
      n.back() |= Limb{1} << 62;
      EXPECT_EQ(Modulus::make(n.data(), lengths[i], moduli[i]), STOCKADE_OK);
      bases[i] = random_limbs(random, lengths[i]);
      bases[i].back() &= ~Limb{0} >> 2;
      exponents[i] = random_limbs(random, lengths[i]);
      if (i == 1) std::fill(exponents[i].begin(), exponents[i].end(), ~Limb{0});
      if (i == 2) std::fill(exponents[i].begin(), exponents[i].end(), Limb{0});
      bits[i] = i == 4 ? 1 : lengths[i] * bignum::limb_bits;
      if (i == 4) exponents[i][0] &= 1;
      results[i].assign(lengths[i], 0xAA);
    }
  }
  std::vector<Power> powers() {
    std::vector<Power> made;
    for (uint32_t i = 0; i < count; ++i) {
      made.push_back({&moduli[i].constants(), bases[i].data(), exponents[i].data(), bits[i], results[i].data()});
    }
    return made;
  }

  static constexpr uint32_t count = 5;
  std::array<Modulus, count> moduli;
  std::array<std::vector<Limb>, count> bases, exponents, results;
  std::array<uint32_t, count> bits{};
};

TEST(Powers, are_the_same_however_they_are_divided) {
  tests::RandomSource random;
  for (int round = 0; round < 3; ++round) {
    Sample sample(random);
    const bignum::Variant* reference = nullptr;
    ASSERT_EQ(bignum::choose("reference", ~cpu::Features{0}, &reference), STOCKADE_OK);
    ASSERT_EQ(run_powers(*reference, sample.powers(), {}), STOCKADE_OK);
    const auto expected = sample.results;
    for (const bignum::Variant* const row : test_rows()) {
      for (const Layers layers : all_layers) {
        for (const uint32_t workers : {1, 2, 3, 4, 7}) {
          for (auto& result : sample.results) std::fill(result.begin(), result.end(), Limb{0xAA});
          EXPECT_EQ(run_powers(*row, sample.powers(), {layers, plan_of(workers)}), STOCKADE_OK);
          EXPECT_EQ(sample.results, expected) << row->name << " " << static_cast<uint32_t>(layers) << " " << workers;
        }
      }
    }
  }
}

TEST(Powers, may_overwrite_their_bases) {
  tests::RandomSource random;
  Sample sample(random);
  ASSERT_EQ(run_powers(*test_row(), sample.powers(), {}), STOCKADE_OK);
  const auto bases = sample.bases;
  for (const Layers layers : all_layers) {
    sample.bases = bases;
    std::vector<Power> powers = sample.powers();
    for (uint32_t i = 0; i < Sample::count; ++i) powers[i].result = sample.bases[i].data();
    EXPECT_EQ(run_powers(*test_row(), powers, {layers, plan_of(2)}), STOCKADE_OK);
    EXPECT_EQ(sample.bases, sample.results);
  }
}

TEST(Powers, of_nothing_are_no_work) {
  for (const Layers layers : all_layers) EXPECT_EQ(run_powers(*test_row(), {}, {layers, plan_of(2)}), STOCKADE_OK);
}

TEST(Layers, have_the_names_that_the_environment_knows) {
  EXPECT_EQ(find_layers("together"), Layers::together);
  EXPECT_EQ(find_layers("halves"), Layers::halves);
  EXPECT_EQ(find_layers("right-to-left"), Layers::right_to_left);
  EXPECT_EQ(find_layers("right-to-left-halves"), Layers::right_to_left_halves);
  EXPECT_EQ(find_layers("both"), std::nullopt);
  EXPECT_EQ(find_layers(""), std::nullopt);
  for (const std::string_view name : config::rsa_layers) EXPECT_TRUE(find_layers(name).has_value());
}

}  // namespace
}  // namespace stockade::rsa
