#include "base/field128.h"

#include <gtest/gtest.h>

#include <bit>

#include "cross/random_source.h"

namespace stockade {

// For gtest's comparisons.
static bool operator==(Field128 a, Field128 b) { return a.low == b.low && a.high == b.high; }

namespace {

Field128 random_element(tests::RandomSource& random) { return {random.next(), random.next()}; }

// The product bit by bit, highest coefficient first.
Field128 product_by_definition(Field128 a, Field128 b) {
  Field128 result{0, 0};
  for (int bit = 127; bit >= 0; --bit) {
    result = times_x(result);
    if ((bit >= 64 ? b.high >> (bit - 64) : b.low >> bit) & 1) result = add(result, a);
  }
  return result;
}

TEST(Field128, times_x_folds_the_top_coefficient) {
  EXPECT_EQ(times_x({1, 0}), (Field128{2, 0}));
  EXPECT_EQ(times_x({uint64_t{1} << 63, 0}), (Field128{0, 1}));
  EXPECT_EQ(times_x({0, uint64_t{1} << 63}), (Field128{0x87, 0}));
}

TEST(Field128, multiplies_as_by_definition) {
  tests::RandomSource random;
  const Field128 all_ones{~uint64_t{0}, ~uint64_t{0}};
  EXPECT_EQ(multiply(all_ones, all_ones), product_by_definition(all_ones, all_ones));
  for (int i = 0; i < 2000; ++i) {
    const Field128 a = random_element(random), b = random_element(random);
    ASSERT_EQ(multiply(a, b), product_by_definition(a, b));
    ASSERT_EQ(square(a), product_by_definition(a, a));
  }
}

TEST(Field128, multiplies_every_pair_of_single_coefficients) {
  const auto coefficient = [](int bit) {
    return bit < 64 ? Field128{uint64_t{1} << bit, 0} : Field128{0, uint64_t{1} << (bit - 64)};
  };
  for (int i = 0; i < 128; ++i) {
    for (int j = 0; j < 128; ++j) {
      ASSERT_EQ(multiply(coefficient(i), coefficient(j)), product_by_definition(coefficient(i), coefficient(j)));
    }
  }
}

TEST(Field128, powers_are_repeated_products) {
  tests::RandomSource random;
  const Field128 base = random_element(random);
  Field128 by_products{1, 0}, by_doubling{1, 0};
  for (uint64_t exponent = 0; exponent < 1000; ++exponent) {
    ASSERT_EQ(power(base, exponent), by_products) << exponent;
    ASSERT_EQ(power_of_x(exponent), by_doubling) << exponent;
    by_products = product_by_definition(by_products, base);
    by_doubling = times_x(by_doubling);
  }
  // x generates the whole group: x^(2^128 - 1) = 1, here as (x^(2^64 - 1))^(2^64 + 1).
  const Field128 part = power_of_x(~uint64_t{0});
  Field128 rest = part;
  for (int i = 0; i < 64; ++i) rest = square(rest);
  EXPECT_EQ(multiply(rest, part), (Field128{1, 0}));
}

TEST(Field128, orders_of_bits_are_those_of_the_standards) {
  // SP 800-38D §6.3: the first bit of the first byte is the constant term; IEEE 1619 §5.2: the lowest bit of it.
  const uint8_t gcm_one[16] = {0x80}, xts_one[16] = {0x01};
  EXPECT_EQ(load_gcm(gcm_one), (Field128{1, 0}));
  EXPECT_EQ(load_xts(xts_one), (Field128{1, 0}));
  const uint8_t gcm_top[16] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x01};
  const uint8_t xts_top[16] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x80};
  EXPECT_EQ(load_gcm(gcm_top), (Field128{0, uint64_t{1} << 63}));
  EXPECT_EQ(load_xts(xts_top), (Field128{0, uint64_t{1} << 63}));
  tests::RandomSource random;
  uint8_t bytes[16], back[16];
  random.fill(bytes, sizeof bytes);
  store_gcm(back, load_gcm(bytes));
  EXPECT_EQ(std::memcmp(bytes, back, sizeof bytes), 0);
  store_xts(back, load_xts(bytes));
  EXPECT_EQ(std::memcmp(bytes, back, sizeof bytes), 0);
}

}  // namespace
}  // namespace stockade
