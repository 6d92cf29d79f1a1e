// Every row of the table that this machine can run, and class Modulus, against OpenSSL.
#include "bignum/modexp.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <string>
#include <tuple>

#include "bignum/bignum_variants.h"
#include "cross/big_number.h"

namespace stockade::bignum {
namespace {

using namespace tests;

Modulus make_modulus(const Limbs& n) {
  Modulus modulus;
  EXPECT_EQ(Modulus::make(n.data(), count_of(n), modulus), STOCKADE_OK);
  return modulus;
}

// 2^bits - 1.
Limbs all_ones(uint32_t bits) {
  Limbs out((bits + limb_bits - 1) / limb_bits, ~Limb{0});
  if (bits % limb_bits != 0) out.back() >>= limb_bits - bits % limb_bits;
  return out;
}

Limbs word(Limb value, uint32_t limbs) {
  Limbs out(limbs);
  out[0] = value;
  return out;
}

Limbs less_one(Limbs n) {
  --n[0];
  return n;
}

// The smallest and the largest odd number of that length, one with a hole, and random ones.
std::vector<Limbs> moduli(RandomSource& random, uint32_t bits) {
  Limbs smallest = word(1, (bits + limb_bits - 1) / limb_bits);
  smallest[(bits - 1) / limb_bits] |= Limb{1} << (bits - 1) % limb_bits;
  Limbs hole = random_odd(random, bits);
  if (hole.size() > 2) std::fill(hole.begin() + 1, hole.end() - 1, Limb{0});
  return {smallest, all_ones(bits), hole, random_odd(random, bits), random_odd(random, bits)};
}

// ---- rows ----

std::vector<std::string> row_names() {
  std::vector<std::string> names;
  for (const Variant& row : variants()) names.emplace_back(row.name);
  return names;
}

class ModexpRow : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    const auto found = std::find_if(variants().begin(), variants().end(),
                                    [](const Variant& candidate) { return GetParam() == candidate.name; });
    row = &*found;
    if ((row->needs & ~cpu::usable()) != 0) GTEST_SKIP() << "this machine lacks what the row needs";
  }

  // One power, with a fence behind the result and the exponent said to be `exponent_bits` long.
  Limbs power(ModexpFn function, const Modulus& modulus, const Limbs& base, const Limbs& exponent,
              uint32_t exponent_bits) {
    constexpr Limb fence = 0xFE9CEFE9CEFE9CE0;
    Limbs result(modulus.limbs() + 1, fence);
    const Power task{&modulus.constants(), base.data(), exponent.data(), exponent_bits, result.data()};
    EXPECT_EQ(function(&task, 1), STOCKADE_OK);
    EXPECT_EQ(result.back(), fence);
    result.pop_back();
    return result;
  }

  void check(const Limbs& n, const Limbs& base, const Limbs& exponent, uint32_t exponent_bits) {
    const Modulus modulus = make_modulus(n);
    const Limbs expected = expect_power(base, exponent, n);
    ASSERT_EQ(power(row->kernels->modexp, modulus, base, exponent, exponent_bits), expected)
        << modulus.bits() << " bits, exponent " << exponent_bits;
    ASSERT_EQ(power(row->kernels->modexp_public, modulus, base, exponent, exponent_bits), expected)
        << modulus.bits() << " bits, public exponent " << exponent_bits;
  }
  void check(const Limbs& n, const Limbs& base, const Limbs& exponent) {
    check(n, base, exponent, count_of(exponent) * limb_bits);
  }

  const Variant* row = nullptr;
};

INSTANTIATE_TEST_SUITE_P(Rows, ModexpRow, testing::ValuesIn(row_names()), [](const auto& test) { return test.param; });

// Around the ends of limbs, of digits of 52 bits and of blocks of eight of either.
constexpr uint32_t sizes[] = {2,    3,    51,   52,   53,   63,   64,   65,   102,  103,  127,  128,  129,  256,  414,
                              415,  416,  448,  511,  512,  513,  576,  768,  1000, 1022, 1023, 1024, 1025, 1038, 1039,
                              1040, 1041, 1280, 1536, 1664, 2046, 2047, 2048, 2049, 2080, 2112, 3072, 4096};

TEST_P(ModexpRow, agrees_at_every_size) {
  RandomSource random;
  for (const uint32_t bits : sizes) {
    for (const Limbs& n : moduli(random, bits)) {
      const auto exponent_bits = static_cast<uint32_t>(random.between(1, bits <= 1024 ? 400 : 130));
      const uint32_t limbs = (exponent_bits + limb_bits - 1) / limb_bits;
      check(n, random_below(random, n), random_limbs(random, exponent_bits, limbs), exponent_bits);
    }
  }
}

TEST_P(ModexpRow, agrees_at_random_sizes) {
  RandomSource random;
  for (uint64_t i = 0; i < scaled(60); ++i) {
    const auto bits = static_cast<uint32_t>(random.between(2, 2300));
    const Limbs n = random_odd(random, bits);
    const auto exponent_bits = static_cast<uint32_t>(random.between(1, 300));
    const uint32_t limbs = (exponent_bits + limb_bits - 1) / limb_bits;
    check(n, random_below(random, n), random_limbs(random, exponent_bits, limbs), exponent_bits);
  }
}

TEST_P(ModexpRow, takes_exponents_as_long_as_the_modulus) {
  RandomSource random;
  for (const uint32_t bits : {512U, 1024U, 1536U, 2048U}) {
    const Limbs n = random_odd(random, bits);
    check(n, random_below(random, n), all_ones(bits), bits);
    check(n, random_below(random, n), random_odd(random, bits), bits);
    check(n, random_below(random, n), random_odd(random, bits - 7), bits);
  }
}

TEST_P(ModexpRow, takes_the_longest_moduli) {
  RandomSource random;
  for (const uint32_t bits : {8191U, 8192U, 15360U, most_bits - 1, most_bits}) {
    const Limbs n = random_odd(random, bits);
    check(n, random_below(random, n), random_odd(random, 70), 70);
  }
  check(all_ones(most_bits), less_one(all_ones(most_bits)), word(65537, 1), 17);
}

TEST_P(ModexpRow, takes_bases_and_exponents_at_the_edges) {
  RandomSource random;
  for (const uint32_t bits : {2U, 64U, 65U, 512U, 1024U, 2048U}) {
    for (const Limbs& n : moduli(random, bits)) {
      const uint32_t limbs = count_of(n);
      for (const Limbs& base : {word(0, limbs), word(1, limbs), less_one(n), random_below(random, n)}) {
        for (const Limb exponent : {0, 1, 2, 3, 4, 65536, 65537}) {
          check(n, base, {exponent}, 17);
          check(n, base, {exponent, 0, 0});
        }
        check(n, base, {}, 0);
        check(n, base, all_ones(131), 131);
        check(n, base, {0, 1}, 65);
      }
    }
  }
}

// What the window falls on at the top of the exponent.
TEST_P(ModexpRow, takes_exponents_of_every_length) {
  RandomSource random;
  const Limbs n = random_odd(random, 192), base = random_below(random, n);
  for (uint32_t bits = 1; bits <= 330; ++bits)
    check(n, base, random_odd(random, bits < 2 ? 2 : bits), bits < 2 ? 2 : bits);
  for (const uint32_t bits : {1399U, 1400U, 1401U, 1405U, 2000U}) check(n, base, random_odd(random, bits), bits);
}

// One result may take the place of its base; sizes, exponents and counts mix.
TEST_P(ModexpRow, works_on_many_at_once) {
  RandomSource random;
  for (uint64_t count : {0, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 25}) {
    const uint64_t shapes = random.between(1, 3);
    std::vector<Modulus> made(count);
    std::vector<Limbs> bases(count), exponents(count), results(count), expected(count);
    std::vector<Power> tasks(count);
    for (uint64_t i = 0; i < count; ++i) {
      constexpr uint32_t bits[] = {1024, 512, 700};
      const Limbs n = random_odd(random, bits[random.below(shapes)]);
      const auto exponent_bits = static_cast<uint32_t>(shapes == 1 ? 256 : random.between(0, 200));
      made[i] = make_modulus(n);
      bases[i] = random_below(random, n);
      exponents[i] = random_limbs(random, exponent_bits, (exponent_bits + limb_bits - 1) / limb_bits);
      expected[i] = expect_power(bases[i], exponents[i], n);
      results[i].resize(n.size());
      Limb* const result = random.one_in(2) ? bases[i].data() : results[i].data();
      tasks[i] = {&made[i].constants(), bases[i].data(), exponents[i].data(), exponent_bits, result};
    }
    ASSERT_EQ(row->kernels->modexp(tasks.data(), count), STOCKADE_OK);
    for (uint64_t i = 0; i < count; ++i) {
      ASSERT_EQ(Limbs(tasks[i].result, tasks[i].result + made[i].limbs()), expected[i]) << i << " of " << count;
    }
  }
}

TEST_P(ModexpRow, shares_one_key_among_public_powers) {
  RandomSource random;
  const Limbs n = random_odd(random, 2048), exponent = {65537};
  const Modulus modulus = make_modulus(n);
  for (uint64_t count : {1, 2, 4, 5, 8, 11, 19}) {
    std::vector<Limbs> bases(count), results(count, Limbs(n.size()));
    std::vector<Power> tasks(count);
    for (uint64_t i = 0; i < count; ++i) {
      bases[i] = random_below(random, n);
      tasks[i] = {&modulus.constants(), bases[i].data(), exponent.data(), 17, results[i].data()};
    }
    ASSERT_EQ(row->kernels->modexp_public(tasks.data(), count), STOCKADE_OK);
    for (uint64_t i = 0; i < count; ++i) ASSERT_EQ(results[i], expect_power(bases[i], exponent, n)) << i;
  }
}

// The study's right-to-left exponentiation, out of the row's products.
TEST_P(ModexpRow, lends_its_products) {
  RandomSource random;
  const Residues& residues = row->kernels->residues;
  for (const uint32_t bits : {2U, 63U, 64U, 100U, 512U, 513U, 1024U, 1039U, 2048U, 4096U}) {
    for (const Limbs& n : moduli(random, bits)) {
      const Modulus modulus = make_modulus(n);
      const Montgomery& constants = modulus.constants();
      const Limbs base = random_below(random, n), exponent = random_odd(random, 40);
      const uint32_t words = residues.words(constants);
      Scratch power(words), square(words), scratch(residues.scratch_words(constants));
      const Limbs one = word(1, modulus.limbs());
      residues.enter(constants, one.data(), power.words, scratch.words);
      residues.enter(constants, base.data(), square.words, scratch.words);
      Limbs result(modulus.limbs());
      residues.leave(constants, square.words, result.data(), scratch.words);
      ASSERT_EQ(result, base);
      for (uint32_t i = 0; i < 40; ++i) {
        if ((exponent[0] >> i & 1) != 0) {
          residues.multiply(constants, square.words, power.words, power.words, scratch.words);
        }
        residues.square(constants, square.words, square.words, scratch.words);
      }
      residues.leave(constants, power.words, result.data(), scratch.words);
      ASSERT_EQ(result, expect_power(base, exponent, n)) << bits << " bits";
    }
  }
}

TEST(Modexp, rows_have_names_and_one_runs_anywhere) {
  const Variant* chosen = nullptr;
  ASSERT_EQ(choose("", cpu::none, &chosen), STOCKADE_OK);
  EXPECT_STREQ(chosen->name, "portable");
  ASSERT_EQ(choose("", cpu::usable(), &chosen), STOCKADE_OK);
  EXPECT_TRUE(chosen->automatic);
  for (const Variant& row : variants()) {
    EXPECT_EQ(choose(row.name, ~cpu::none, &chosen), STOCKADE_OK) << row.name;
    EXPECT_EQ(chosen, &row) << row.name;
    const Status bare = row.needs == cpu::none ? STOCKADE_OK : STOCKADE_ERROR_UNAVAILABLE;
    EXPECT_EQ(choose(row.name, cpu::none, &chosen), bare) << row.name;
  }
  EXPECT_EQ(choose("fastest", ~cpu::none, &chosen), STOCKADE_ERROR_UNKNOWN_NAME);
}

TEST(Modexp, cuts_exponents_into_windows) {
  RandomSource random;
  for (uint64_t i = 0; i < scaled(2000); ++i) {
    const auto bits = static_cast<uint32_t>(random.between(1, 260));
    const Limbs exponent = random_limbs(random, bits, (bits + limb_bits - 1) / limb_bits);
    const auto from = static_cast<uint32_t>(random.below(bits + 20)),
               width = static_cast<uint32_t>(random.between(1, 8));
    const Oracle shifted;
    BN_rshift(shifted.get(), Oracle(exponent).get(), static_cast<int>(from));
    const Limb expected = shifted.limbs(5)[0] & ((Limb{1} << width) - 1);
    ASSERT_EQ(exponent_window(exponent.data(), bits, from, width), expected) << bits << ' ' << from << ' ' << width;
  }
}

TEST(Modexp, changes_the_radix_and_back) {
  RandomSource random;
  for (uint32_t bits = 1; bits < 1200; bits += static_cast<uint32_t>(random.between(1, 9))) {
    const Limbs number = random_limbs(random, bits, (bits + limb_bits - 1) / limb_bits);
    std::vector<uint64_t> digits((bits + digit_bits + 1) / digit_bits);
    limbs_to_digits(number.data(), count_of(number), digits.data(), count_of(digits));
    const Oracle sum;
    for (size_t i = digits.size(); i-- > 0;) {
      ASSERT_EQ(digits[i] >> digit_bits, 0U);
      BN_lshift(sum.get(), sum.get(), digit_bits);
      BN_add(sum.get(), sum.get(), Oracle(digits[i]).get());
    }
    ASSERT_EQ(sum.limbs(count_of(number)), number);
    Limbs back(number.size());
    digits_to_limbs(digits.data(), count_of(digits), back.data(), count_of(back));
    ASSERT_EQ(back, number);
  }
}

// ---- Modulus ----

TEST(Modulus, refuses_what_has_no_montgomery_form) {
  Modulus modulus;
  const auto make = [&modulus](const Limbs& n) { return Modulus::make(n.data(), count_of(n), modulus); };
  EXPECT_EQ(make({}), STOCKADE_ERROR_ARGUMENT);
  for (const Limb even_or_small : {0, 1, 2, 4, 1000}) EXPECT_EQ(make({even_or_small}), STOCKADE_ERROR_ARGUMENT);
  EXPECT_EQ(make({0, 1}), STOCKADE_ERROR_ARGUMENT);
  Limbs too_long(most_limbs + 1, 1);
  EXPECT_EQ(make(too_long), STOCKADE_ERROR_ARGUMENT);
  too_long.back() = 0;
  EXPECT_EQ(make(too_long), STOCKADE_OK) << "high zero limbs do not count";
  EXPECT_EQ(modulus.limbs(), most_limbs);
  EXPECT_EQ(make({3}), STOCKADE_OK);
  EXPECT_EQ(modulus.bits(), 2U);
}

TEST(Modulus, holds_its_constants) {
  RandomSource random;
  for (const uint32_t bits : sizes) {
    for (Limbs n : moduli(random, bits)) {
      const uint32_t limbs = count_of(n);
      const Oracle number(n), expected;
      n.resize(limbs + random.below(3));
      const Modulus modulus = make_modulus(n);
      const Montgomery& constants = modulus.constants();
      ASSERT_EQ(modulus.bits(), bits);
      ASSERT_EQ(modulus.limbs(), limbs);
      ASSERT_EQ(Limbs(modulus.value(), modulus.value() + limbs), number.limbs(limbs));
      ASSERT_EQ(constants.inverse * n[0], ~Limb{0});
      ASSERT_EQ(constants.inverse52, constants.inverse & 0xFFFFFFFFFFFFF);
      ASSERT_EQ(constants.digits, (bits + 2 + 51) / 52);
      ASSERT_EQ(constants.padded, (limbs + 7) / 8 * 8);
      const auto power_of_two = [&](uint32_t exponent) {
        BN_zero(expected.get());
        BN_set_bit(expected.get(), static_cast<int>(exponent));
        require(BN_mod(expected.get(), expected.get(), number.get(), context()));
        return expected.limbs(constants.padded);
      };
      const auto digits = [&](const Limbs& a) {
        std::vector<uint64_t> out(constants.digits);
        limbs_to_digits(a.data(), count_of(a), out.data(), constants.digits);
        return out;
      };
      const auto held = [](const uint64_t* words, uint32_t count) { return Limbs(words, words + count); };
      const uint32_t r = constants.padded * limb_bits, r52 = constants.digits * digit_bits;
      ASSERT_EQ(held(constants.r, constants.padded), power_of_two(r)) << bits;
      ASSERT_EQ(held(constants.rr, constants.padded), power_of_two(2 * r)) << bits;
      ASSERT_EQ(held(constants.n52, constants.digits), digits(number.limbs(limbs))) << bits;
      ASSERT_EQ(held(constants.r52, constants.digits), digits(power_of_two(r52))) << bits;
      ASSERT_EQ(held(constants.rr52, constants.digits), digits(power_of_two(2 * r52))) << bits;
    }
  }
}

TEST(Modulus, reduces_and_multiplies) {
  RandomSource random;
  for (uint64_t i = 0; i < scaled(300); ++i) {
    const auto bits = static_cast<uint32_t>(random.between(2, 2200));
    for (const Limbs& n : moduli(random, bits)) {
      const Modulus modulus = make_modulus(n);
      const Limbs a = random_below(random, n), b = random_below(random, n);
      Limbs out(n.size());
      ASSERT_EQ(modulus.multiply(a.data(), b.data(), out.data()), STOCKADE_OK);
      ASSERT_EQ(out, expect_product(a, b, n)) << bits;
      const auto wide_limbs = static_cast<uint32_t>(random.below(4 * n.size() + 2));
      const Limbs wide = random_limbs(random, wide_limbs * limb_bits, wide_limbs);
      ASSERT_EQ(modulus.reduce(wide.data(), wide_limbs, out.data()), STOCKADE_OK);
      const Oracle expected;
      require(BN_mod(expected.get(), Oracle(wide).get(), Oracle(n).get(), context()));
      ASSERT_EQ(out, expected.limbs(count_of(n))) << bits << ", " << wide_limbs << " limbs";

      // The first factor may be anything that has as many limbs.
      const Limbs large(n.size(), ~Limb{0});
      ASSERT_EQ(modulus.multiply(large.data(), b.data(), out.data()), STOCKADE_OK);
      ASSERT_EQ(out, expect_product(large, b, n)) << bits;

      modulus.add(a.data(), b.data(), out.data());
      require(BN_mod_add(expected.get(), Oracle(a).get(), Oracle(b).get(), Oracle(n).get(), context()));
      ASSERT_EQ(out, expected.limbs(count_of(n))) << bits;
      modulus.subtract(a.data(), b.data(), out.data());
      require(BN_mod_sub(expected.get(), Oracle(a).get(), Oracle(b).get(), Oracle(n).get(), context()));
      ASSERT_EQ(out, expected.limbs(count_of(n))) << bits;
    }
  }
}

TEST(Modulus, moves) {
  RandomSource random;
  const Limbs n = random_odd(random, 300), base = random_below(random, n);
  Modulus first = make_modulus(n), second = make_modulus({5});
  second = std::move(first);
  const Modulus third(std::move(second));
  Limbs out(n.size());
  ASSERT_EQ(third.multiply(base.data(), base.data(), out.data()), STOCKADE_OK);
  EXPECT_EQ(out, expect_product(base, base, n));
  EXPECT_EQ(third.bits(), 300U);
}

}  // namespace
}  // namespace stockade::bignum
