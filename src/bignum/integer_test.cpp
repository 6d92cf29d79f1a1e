// Integers of fixed length, against OpenSSL.
#include "bignum/integer.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "cross/big_number.h"

namespace stockade::bignum {
namespace {

using namespace tests;

constexpr Limb yes = ~Limb{0}, no = 0;

// A length in limbs, and numbers of it with bits at random.
struct Sample {
  explicit Sample(RandomSource& random, uint32_t most = 40)
      : limbs(static_cast<uint32_t>(random.between(1, most))), a(number(random)), b(number(random)) {
    if (random.one_in(10)) b = a;
    if (random.one_in(10)) b.back() = a.back();
  }
  Limbs number(RandomSource& random) const {
    return random_limbs(random, static_cast<uint32_t>(random.below(limbs * limb_bits + 1)), limbs);
  }
  uint32_t limbs;
  Limbs a, b;
};

// The number modulo 2^(64·limbs), and what is left above.
struct Cut {
  Limbs low;
  Limb high;
};
Cut cut(const Oracle& number, uint32_t limbs) {
  Limbs all = number.limbs(limbs + 1);
  const Limb high = all.back();
  all.pop_back();
  return {all, high};
}

TEST(Integer, compares) {
  RandomSource random;
  for (uint64_t i = 0; i < scaled(3000); ++i) {
    const Sample s(random, 6);
    const int order = BN_cmp(Oracle(s.a).get(), Oracle(s.b).get());
    ASSERT_EQ(is_less(s.a.data(), s.b.data(), s.limbs), order < 0 ? yes : no);
    ASSERT_EQ(is_equal(s.a.data(), s.b.data(), s.limbs), order == 0 ? yes : no);
    ASSERT_EQ(is_zero(s.a.data(), s.limbs), BN_is_zero(Oracle(s.a).get()) ? yes : no);
    ASSERT_EQ(bit_length(s.a.data(), s.limbs), Oracle(s.a).bits());
    const Limb word = random.one_in(2) ? s.a[0] : random.below(3);
    ASSERT_EQ(is_word(s.a.data(), s.limbs, word), BN_is_word(Oracle(s.a).get(), word) ? yes : no);
    Limbs out(s.limbs);
    select(yes, s.a.data(), s.b.data(), out.data(), s.limbs);
    ASSERT_EQ(out, s.a);
    select(no, s.a.data(), s.b.data(), out.data(), s.limbs);
    ASSERT_EQ(out, s.b);
    for (uint32_t k = 0; k < s.limbs * limb_bits; ++k) {
      ASSERT_EQ(bit(s.a.data(), k), static_cast<Limb>(BN_is_bit_set(Oracle(s.a).get(), static_cast<int>(k))));
      k += static_cast<uint32_t>(random.below(30));
    }
  }
  EXPECT_EQ(is_zero(nullptr, 0), yes);
  EXPECT_EQ(bit_length(nullptr, 0), 0U);
}

TEST(Integer, makes_masks_of_words) {
  for (const Limb a : {Limb{0}, Limb{1}, Limb{2}, Limb{1} << 63, ~Limb{0}, ~Limb{0} >> 1}) {
    EXPECT_EQ(zero_mask(a), a == 0 ? yes : no) << a;
    for (const Limb b : {Limb{0}, Limb{1}, Limb{1} << 63, ~Limb{0}}) EXPECT_EQ(equal_mask(a, b), a == b ? yes : no);
    EXPECT_EQ(choose_limb(yes, a, 7), a);
    EXPECT_EQ(choose_limb(no, 7, a), a);
  }
}

TEST(Integer, adds_and_subtracts) {
  RandomSource random;
  for (uint64_t i = 0; i < scaled(3000); ++i) {
    const Sample s(random);
    const Oracle expected;
    Limbs out(s.limbs), in_place = s.a;
    BN_add(expected.get(), Oracle(s.a).get(), Oracle(s.b).get());
    Cut sum = cut(expected, s.limbs);
    ASSERT_EQ(add(s.a.data(), s.b.data(), out.data(), s.limbs), sum.high);
    ASSERT_EQ(out, sum.low);
    ASSERT_EQ(add_masked(in_place.data(), s.b.data(), no, in_place.data(), s.limbs), 0U);
    ASSERT_EQ(in_place, s.a);
    ASSERT_EQ(add_masked(in_place.data(), s.b.data(), yes, in_place.data(), s.limbs), sum.high);
    ASSERT_EQ(in_place, sum.low);
    // a + b - b is a, with a borrow where there was a carry.
    ASSERT_EQ(subtract(in_place.data(), s.b.data(), in_place.data(), s.limbs), sum.high);
    ASSERT_EQ(in_place, s.a);
    ASSERT_EQ(subtract_masked(out.data(), s.b.data(), no, in_place.data(), s.limbs), 0U);
    ASSERT_EQ(in_place, out);
    ASSERT_EQ(subtract_masked(out.data(), s.b.data(), yes, out.data(), s.limbs), sum.high);
    ASSERT_EQ(out, s.a);

    const Limb word = random.one_in(3) ? ~Limb{0} : random.next();
    BN_add(expected.get(), Oracle(s.a).get(), Oracle(word).get());
    sum = cut(expected, s.limbs);
    ASSERT_EQ(add_word(s.a.data(), word, out.data(), s.limbs), sum.high);
    ASSERT_EQ(out, sum.low);
    ASSERT_EQ(subtract_word(out.data(), word, out.data(), s.limbs), sum.high);
    ASSERT_EQ(out, s.a);
  }
}

TEST(Integer, multiplies) {
  RandomSource random;
  for (uint64_t i = 0; i < scaled(2000); ++i) {
    const Sample s(random), t(random);
    const Oracle expected;
    BN_mul(expected.get(), Oracle(s.a).get(), Oracle(t.b).get(), context());
    Limbs out(s.limbs + t.limbs, 0xEE);
    multiply(s.a.data(), s.limbs, t.b.data(), t.limbs, out.data());
    ASSERT_EQ(out, expected.limbs(count_of(out)));
    BN_sqr(expected.get(), Oracle(s.a).get(), context());
    out.assign(2 * s.limbs, 0xEE);
    square(s.a.data(), s.limbs, out.data());
    ASSERT_EQ(out, expected.limbs(count_of(out)));

    out = s.b;
    const Limb word = random.next();
    const Oracle product(s.a);
    BN_mul_word(product.get(), word);
    BN_add(product.get(), product.get(), Oracle(s.b).get());
    const Cut sum = cut(product, s.limbs);
    ASSERT_EQ(add_product(s.a.data(), word, out.data(), s.limbs), sum.high);
    ASSERT_EQ(out, sum.low);
  }
}

TEST(Integer, shifts) {
  RandomSource random;
  for (uint64_t i = 0; i < scaled(3000); ++i) {
    const Sample s(random, 8);
    const auto bits = static_cast<uint32_t>(random.below((s.limbs + 2) * limb_bits));
    const Oracle expected;
    BN_rshift(expected.get(), Oracle(s.a).get(), static_cast<int>(bits));
    Limbs out = s.a;
    shift_right(out.data(), bits, out.data(), s.limbs);
    ASSERT_EQ(out, expected.limbs(s.limbs)) << bits;
    BN_lshift(expected.get(), Oracle(s.a).get(), static_cast<int>(bits));
    if (expected.bits() > s.limbs * limb_bits) {
      BN_mask_bits(expected.get(), static_cast<int>(s.limbs * limb_bits));
    }
    out = s.a;
    shift_left(out.data(), bits, out.data(), s.limbs);
    ASSERT_EQ(out, expected.limbs(s.limbs)) << bits;
  }
}

TEST(Integer, reads_and_writes_bytes) {
  RandomSource random;
  for (uint64_t i = 0; i < scaled(3000); ++i) {
    const auto length = static_cast<uint32_t>(random.below(40)), limbs = static_cast<uint32_t>(random.below(5));
    std::vector<uint8_t> bytes = random.bytes(length);
    std::fill_n(bytes.begin(), random.below(length + 1), uint8_t{0});
    const Oracle number;
    BN_bin2bn(bytes.data(), static_cast<int>(length), number.get());
    Limbs out(limbs, 0xEE);
    const bool fits = number.bits() <= limbs * limb_bits;
    ASSERT_EQ(from_bytes(bytes.data(), length, out.data(), limbs), fits ? yes : no);
    if (fits) {
      ASSERT_EQ(out, number.limbs(limbs));
    }

    const Limbs held = number.limbs(5);
    const auto shorter = static_cast<uint32_t>(random.below(50));
    std::vector<uint8_t> written(shorter, 0xEE), expected(shorter);
    const bool holds = BN_num_bytes(number.get()) <= static_cast<int>(shorter);
    ASSERT_EQ(to_bytes(held.data(), 5, written.data(), shorter), holds ? yes : no);
    if (holds) {
      BN_bn2binpad(number.get(), expected.data(), static_cast<int>(shorter));
      ASSERT_EQ(written, expected);
    }
  }
}

TEST(Integer, divides_by_words) {
  RandomSource random;
  for (uint64_t i = 0; i < scaled(5000); ++i) {
    const Sample s(random, 10);
    const auto some = static_cast<uint32_t>(random.next() >> random.between(32, 63));
    constexpr uint32_t edges[] = {1, 2, 3, 65537, 0x7FFFFFFF, 0x80000000, 0x80000001, 0xFFFFFFFE, 0xFFFFFFFF};
    const uint32_t divisor = random.one_in(2) ? edges[random.below(std::size(edges))] : some == 0 ? 1 : some;
    const Oracle quotient(s.a);
    const auto rest = static_cast<uint32_t>(BN_div_word(quotient.get(), divisor));
    Limbs out = s.a;
    ASSERT_EQ(remainder_word(s.a.data(), s.limbs, divisor), rest) << divisor;
    ASSERT_EQ(divide_word(out.data(), s.limbs, divisor, out.data()), rest) << divisor;
    ASSERT_EQ(out, quotient.limbs(s.limbs)) << divisor;
  }
}

TEST(Integer, divides) {
  RandomSource random;
  for (uint64_t i = 0; i < scaled(400); ++i) {
    const Sample s(random, 20);
    Sample t(random, 12);
    if (is_zero(t.b.data(), t.limbs)) t.b[0] = 1;
    if (random.one_in(4)) t.b.back() |= Limb{1} << 63;
    const Oracle quotient, rest;
    require(BN_div(quotient.get(), rest.get(), Oracle(s.a).get(), Oracle(t.b).get(), context()));
    Limbs out(s.limbs), left(t.limbs);
    ASSERT_EQ(divide(s.a.data(), s.limbs, t.b.data(), t.limbs, out.data(), left.data()), STOCKADE_OK);
    ASSERT_EQ(out, quotient.limbs(s.limbs));
    ASSERT_EQ(left, rest.limbs(t.limbs));
    std::fill(left.begin(), left.end(), 0);
    ASSERT_EQ(divide(s.a.data(), s.limbs, t.b.data(), t.limbs, nullptr, left.data()), STOCKADE_OK);
    ASSERT_EQ(left, rest.limbs(t.limbs));
    ASSERT_EQ(divide(s.a.data(), s.limbs, t.b.data(), t.limbs, out.data(), nullptr), STOCKADE_OK);
    ASSERT_EQ(out, quotient.limbs(s.limbs));
  }
}

TEST(Integer, finds_common_divisors) {
  RandomSource random;
  const auto check = [](const Limbs& a, const Limbs& b) {
    const Oracle expected;
    require(BN_gcd(expected.get(), Oracle(a).get(), Oracle(b).get(), context()));
    Limbs out(a.size(), 0xEE);
    ASSERT_EQ(gcd(a.data(), b.data(), count_of(a), out.data()), STOCKADE_OK);
    ASSERT_EQ(out, expected.limbs(count_of(a)));
  };
  for (uint64_t i = 0; i < scaled(600); ++i) {
    const Sample s(random, 16);
    check(s.a, s.b);
    // Both multiples of the same number, with powers of two in it.
    Limbs a(2 * s.limbs), b(2 * s.limbs), common = s.number(random);
    const auto twos = static_cast<uint32_t>(random.below(s.limbs * limb_bits));
    shift_right(common.data(), twos, common.data(), s.limbs);
    shift_left(common.data(), twos, common.data(), s.limbs);
    multiply(s.a.data(), s.limbs, common.data(), s.limbs, a.data());
    multiply(s.b.data(), s.limbs, common.data(), s.limbs, b.data());
    check(a, b);
    check(a, Limbs(a.size()));
    check(Limbs(a.size()), a);
    check(a, a);
  }
  check(Limbs(3), Limbs(3));
  for (const uint32_t limbs : {64U, most_limbs}) {
    const Limbs a = random_odd(random, limbs * limb_bits);
    check(a, random_below(random, a));
    check(Limbs(limbs, ~Limb{0}), Limbs(limbs, 0x5555555555555555));
  }
}

TEST(Integer, inverts) {
  RandomSource random;
  const auto check = [](const Limbs& a, const Limbs& n) {
    const Oracle common, expected;
    require(BN_gcd(common.get(), Oracle(a).get(), Oracle(n).get(), context()));
    const bool coprime = BN_is_one(common.get());
    if (coprime) {
      ASSERT_NE(BN_mod_inverse(expected.get(), Oracle(a).get(), Oracle(n).get(), context()), nullptr);
    }
    Limbs out(n.size(), 0xEE);
    Limb exists = 1;
    ASSERT_EQ(invert(a.data(), n.data(), count_of(n), out.data(), exists), STOCKADE_OK);
    ASSERT_EQ(exists, coprime ? yes : no);
    ASSERT_EQ(out, coprime ? expected.limbs(count_of(n)) : Limbs(n.size()));
  };
  for (uint64_t i = 0; i < scaled(1500); ++i) {
    const auto bits = static_cast<uint32_t>(random.between(2, 1100));
    Limbs n = random_odd(random, bits);
    n.resize(n.size() + random.below(2));
    const uint32_t limbs = count_of(n);
    check(random_below(random, n), n);
    check(random_limbs(random, limbs * limb_bits, limbs), n);
    Limbs edge(limbs);
    check(edge, n);
    edge[0] = 1;
    check(edge, n);
    check(n, n);
    subtract_word(n.data(), 1, edge.data(), limbs);
    check(edge, n);
    shift_right(edge.data(), 1, edge.data(), limbs);
    check(edge, n);
    check(Limbs(limbs, ~Limb{0}), n);
  }
  // A factor in common.
  for (uint64_t i = 0; i < scaled(100); ++i) {
    const Limbs p = random_odd(random, 200), q = random_odd(random, 250);
    Limbs n(p.size() + q.size()), a(p.size() + q.size());
    multiply(p.data(), count_of(p), q.data(), count_of(q), n.data());
    std::copy(p.begin(), p.end(), a.begin());
    check(a, n);
  }
  for (const uint32_t bits : {2048U, 4096U, most_bits}) {
    const Limbs n = random_odd(random, bits);
    check(random_below(random, n), n);
    check(random_below(random, n), Limbs(bits / limb_bits, ~Limb{0}));
  }
}

}  // namespace
}  // namespace stockade::bignum
