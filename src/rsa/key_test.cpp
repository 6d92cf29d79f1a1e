#include "rsa/key.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "bignum/integer.h"
#include "cross/random_source.h"
#include "rsa/rsa_test.h"

namespace stockade::rsa {
namespace {

Status public_status(const Numbers& numbers, uint32_t fewest_bits = least_bits) {
  PublicKey key;
  return PublicKey::make(numbers.public_view(), fewest_bits, test_row(), key);
}

Status private_status(const Numbers& numbers) {
  std::unique_ptr<PrivateKey> key;
  const Status status = PrivateKey::make(numbers.view(), test_row(), system_random(), key);
  EXPECT_EQ(key != nullptr, status == STOCKADE_OK);
  return status;
}

Buffer bytes_of_limbs(const Limb* limbs, uint32_t count) {
  Buffer bytes(count * sizeof(Limb));
  bignum::to_bytes(limbs, count, bytes.data(), bytes.size());
  return bytes;
}

// The same number?
bool same(const Buffer& a, const Buffer& b) { return BN_cmp(number(a).get(), number(b).get()) == 0; }

Buffer plus(const Buffer& bytes, long word) {
  const std::shared_ptr<BIGNUM> value = number(bytes);
  word < 0 ? BN_sub_word(value.get(), static_cast<unsigned long>(-word))
           : BN_add_word(value.get(), static_cast<unsigned long>(word));
  return bytes_of(value.get());
}

Buffer sum(const Buffer& a, const Buffer& b) {
  const std::shared_ptr<BIGNUM> value = number(a);
  BN_add(value.get(), value.get(), number(b).get());
  return bytes_of(value.get());
}

Buffer with_zeros(const Buffer& bytes, uint64_t zeros) {
  Buffer longer(zeros, 0);
  longer.insert(longer.end(), bytes.begin(), bytes.end());
  return longer;
}

TEST(RsaKey, keeps_the_numbers_that_it_is_made_of) {
  std::vector<Numbers> all = {oracle_key(2048).numbers, oracle_key(3072).numbers};
  for (const OracleKey& odd : odd_keys()) all.push_back(odd.numbers);
  for (const Numbers& numbers : all) {
    const std::unique_ptr<PrivateKey> key = make_key(numbers);
    ASSERT_NE(key, nullptr);
    const PublicKey& half = key->public_key();
    EXPECT_EQ(half.bits(), static_cast<uint32_t>(BN_num_bits(number(numbers.n).get())));
    EXPECT_EQ(half.bytes(), numbers.n.size());
    EXPECT_TRUE(same(bytes_of_limbs(half.modulus().value(), half.limbs()), numbers.n));
    EXPECT_TRUE(same(bytes_of_limbs(half.exponent(), most_exponent_limbs), numbers.e));
    EXPECT_TRUE(same(bytes_of_limbs(key->d(), half.limbs()), numbers.d));
    EXPECT_TRUE(same(bytes_of_limbs(key->p().value(), key->p().limbs()), numbers.p));
    EXPECT_TRUE(same(bytes_of_limbs(key->q().value(), key->q().limbs()), numbers.q));
    EXPECT_TRUE(same(bytes_of_limbs(key->dp(), key->p().limbs()), numbers.dp));
    EXPECT_TRUE(same(bytes_of_limbs(key->dq(), key->q().limbs()), numbers.dq));
    EXPECT_TRUE(same(bytes_of_limbs(key->qinv(), key->p().limbs()), numbers.qinv));
    EXPECT_EQ(key->row(), test_row());
  }
}

TEST(RsaKey, does_not_mind_leading_zeros) {
  Numbers numbers = oracle_key(2048).numbers;
  for (Buffer* bytes :
       {&numbers.n, &numbers.e, &numbers.d, &numbers.p, &numbers.q, &numbers.dp, &numbers.dq, &numbers.qinv}) {
    *bytes = with_zeros(*bytes, 17);
  }
  EXPECT_EQ(private_status(numbers), STOCKADE_OK);
  EXPECT_EQ(public_status(numbers), STOCKADE_OK);
}

TEST(RsaKey, refuses_moduli_of_other_sizes) {
  tests::RandomSource random;
  Numbers numbers;
  numbers.e = {1, 0, 1};
  const auto status_of = [&](uint32_t bits, uint32_t fewest) {
    numbers.n = random.bytes((bits + 7) / 8);
    numbers.n.back() |= 1;
    numbers.n[0] = static_cast<uint8_t>(1 << (bits - 1) % 8);
    return public_status(numbers, fewest);
  };
  EXPECT_EQ(status_of(2048, least_bits), STOCKADE_OK);
  EXPECT_EQ(status_of(2047, least_bits), STOCKADE_ERROR_RSA_SIZE);
  EXPECT_EQ(status_of(2047, legacy_least_bits), STOCKADE_OK);
  EXPECT_EQ(status_of(1024, legacy_least_bits), STOCKADE_OK);
  EXPECT_EQ(status_of(1023, legacy_least_bits), STOCKADE_ERROR_RSA_SIZE);
  EXPECT_EQ(status_of(3, legacy_least_bits), STOCKADE_ERROR_RSA_SIZE);
  EXPECT_EQ(status_of(16384, least_bits), STOCKADE_OK);
  EXPECT_EQ(status_of(16385, least_bits), STOCKADE_ERROR_RSA_SIZE);
  numbers.n.clear();
  EXPECT_EQ(public_status(numbers), STOCKADE_ERROR_RSA_SIZE);
  EXPECT_EQ(private_status(oracle_key(1024).numbers), STOCKADE_ERROR_RSA_SIZE);
}

TEST(RsaKey, refuses_even_moduli_and_bad_exponents) {
  Numbers numbers = oracle_key(2048).numbers;
  numbers.n.back() ^= 1;
  EXPECT_EQ(public_status(numbers), STOCKADE_ERROR_RSA_MODULUS);
  EXPECT_EQ(private_status(numbers), STOCKADE_ERROR_RSA_MODULUS);
  numbers = oracle_key(2048).numbers;
  const Buffer most(32, 0xff);
  Buffer too_much(33, 0);
  too_much.front() = too_much.back() = 1;
  for (const Buffer& e : {Buffer{}, Buffer{0}, Buffer{1}, Buffer{0, 1}, Buffer{2}, Buffer{1, 0, 0}, too_much}) {
    numbers.e = e;
    EXPECT_EQ(public_status(numbers), STOCKADE_ERROR_RSA_EXPONENT);
    EXPECT_EQ(private_status(numbers), STOCKADE_ERROR_RSA_EXPONENT);
  }
  for (const Buffer& e : {Buffer{3}, Buffer{0, 5}, most}) {
    numbers.e = e;
    EXPECT_EQ(public_status(numbers), STOCKADE_OK);
  }
}

TEST(RsaKey, refuses_factors_that_are_not_those_of_the_modulus) {
  const Numbers good = oracle_key(2048).numbers;
  Numbers numbers = good;
  std::swap(numbers.p, numbers.q);  // then dp, dq and qinv are wrong, but the factors are right
  EXPECT_EQ(private_status(numbers), STOCKADE_ERROR_RSA_CRT);
  numbers = good;
  numbers.p = plus(good.p, 2);
  EXPECT_EQ(private_status(numbers), STOCKADE_ERROR_RSA_FACTORS);
  numbers = good;
  numbers.q = plus(good.q, -1);
  EXPECT_EQ(private_status(numbers), STOCKADE_ERROR_RSA_FACTORS);
  numbers = good;
  numbers.q.clear();
  EXPECT_EQ(private_status(numbers), STOCKADE_ERROR_RSA_FACTORS);
  numbers = good;
  numbers.p = good.n;
  numbers.q = {1};
  EXPECT_EQ(private_status(numbers), STOCKADE_ERROR_RSA_FACTORS);
  numbers = good;
  numbers.p.insert(numbers.p.begin(), 1);
  EXPECT_EQ(private_status(numbers), STOCKADE_ERROR_RSA_FACTORS);
}

TEST(RsaKey, refuses_equal_close_and_lopsided_factors) {
  const std::shared_ptr<BIGNUM> p = random_prime(1024);
  EXPECT_EQ(private_status(numbers_from(p.get(), p.get())), STOCKADE_ERROR_RSA_FACTORS);
  // FIPS 186-5 A.1.3: |p - q| > 2^(1024 - 100).
  for (const auto& [distance, status] : {std::pair(2, STOCKADE_ERROR_RSA_FACTORS),
                                         std::pair(923, STOCKADE_ERROR_RSA_FACTORS), std::pair(925, STOCKADE_OK)}) {
    const std::shared_ptr<BIGNUM> step(BN_new(), BN_free), q(BN_new(), BN_free);
    BN_set_bit(step.get(), distance);
    BN_sub(q.get(), p.get(), step.get());
    const std::shared_ptr<BIGNUM> below = prime_from(q.get());
    // Which of the two is the greater does not matter.
    EXPECT_EQ(private_status(numbers_from(p.get(), below.get())), status) << distance;
    EXPECT_EQ(private_status(numbers_from(below.get(), p.get())), status) << distance;
  }
  EXPECT_EQ(private_status(numbers_from(random_prime(1538).get(), random_prime(511).get())),
            STOCKADE_ERROR_RSA_FACTORS);
  EXPECT_EQ(private_status(numbers_from(random_prime(1537).get(), random_prime(512).get())), STOCKADE_OK);
}

TEST(RsaKey, refuses_factors_that_are_not_prime) {
  const std::shared_ptr<BN_CTX> context(BN_CTX_new(), BN_CTX_free);
  const std::shared_ptr<BIGNUM> p = random_prime(1024), product(BN_new(), BN_free), n(BN_new(), BN_free);
  do {
    BN_mul(product.get(), random_prime(512).get(), random_prime(512).get(), context.get());
    BN_mul(n.get(), p.get(), product.get(), context.get());
  } while (BN_num_bits(n.get()) != 2048);
  // All that can be said of exponents holds for composite numbers too.
  EXPECT_EQ(private_status(numbers_from(p.get(), product.get())), STOCKADE_ERROR_RSA_PRIME);
  EXPECT_EQ(private_status(numbers_from(product.get(), p.get())), STOCKADE_ERROR_RSA_PRIME);
}

TEST(RsaKey, refuses_private_exponents_that_do_not_fit) {
  const Numbers good = oracle_key(2048).numbers;
  Numbers numbers = good;
  for (const long step : {-2L, -1L, 1L, 2L}) {
    numbers.d = plus(good.d, step);
    EXPECT_EQ(private_status(numbers), STOCKADE_ERROR_RSA_PRIVATE_EXPONENT);
  }
  for (const Buffer& d : {Buffer{}, Buffer{1}, good.n, sum(good.n, good.d), Buffer(300, 0xff)}) {
    numbers.d = d;
    EXPECT_EQ(private_status(numbers), STOCKADE_ERROR_RSA_PRIVATE_EXPONENT);
  }
}

// What Wiener's attack and its successors need: an e as long as n, or a d of half its length or less.
TEST(RsaKey, refuses_short_private_exponents) {
  const Numbers good = oracle_key(2048).numbers;
  EXPECT_EQ(private_status(numbers_from(number(good.p).get(), number(good.q).get(), good.d)),
            STOCKADE_ERROR_RSA_EXPONENT);
  Numbers numbers = good;
  numbers.d = Buffer(128, 0xff);
  EXPECT_EQ(private_status(numbers), STOCKADE_ERROR_RSA_PRIVATE_EXPONENT);
}

// d + k lcm(p - 1, q - 1) does what d does; every one below n is taken.
TEST(RsaKey, takes_private_exponents_of_either_definition) {
  const std::shared_ptr<BN_CTX> context(BN_CTX_new(), BN_CTX_free);
  const Numbers good = oracle_key(2048).numbers;
  const std::shared_ptr<BIGNUM> p = number(plus(good.p, -1)), q = number(plus(good.q, -1));
  const std::shared_ptr<BIGNUM> gcd(BN_new(), BN_free), lcm(BN_new(), BN_free), d(BN_new(), BN_free);
  BN_gcd(gcd.get(), p.get(), q.get(), context.get());
  BN_mul(lcm.get(), p.get(), q.get(), context.get());
  BN_div(lcm.get(), nullptr, lcm.get(), gcd.get(), context.get());
  BN_mod(d.get(), number(good.d).get(), lcm.get(), context.get());
  const std::shared_ptr<BIGNUM> n = number(good.n);
  for (int i = 0; i < 3; ++i) {
    Numbers numbers = good;
    numbers.d = bytes_of(d.get());
    EXPECT_EQ(private_status(numbers),
              BN_cmp(d.get(), n.get()) < 0 ? STOCKADE_OK : STOCKADE_ERROR_RSA_PRIVATE_EXPONENT);
    BN_add(d.get(), d.get(), lcm.get());
  }
}

TEST(RsaKey, refuses_numbers_of_the_remainder_theorem_that_do_not_fit) {
  const Numbers good = oracle_key(2048).numbers;
  const Buffer Numbers::*const members[] = {&Numbers::dp, &Numbers::dq, &Numbers::qinv};
  const Buffer Numbers::*const moduli[] = {&Numbers::p, &Numbers::q, &Numbers::p};
  for (int i = 0; i < 3; ++i) {
    const auto status_with = [&](const Buffer& value) {
      Numbers numbers = good;
      numbers.*const_cast<Buffer Numbers::*>(members[i]) = value;
      return private_status(numbers);
    };
    const Buffer& right = good.*members[i];
    EXPECT_EQ(status_with(right), STOCKADE_OK);
    for (const Buffer& wrong : {Buffer{}, plus(right, 1), plus(right, -1), sum(right, good.*moduli[i]),
                                sum(right, plus(good.*moduli[i], -1)), Buffer(200, 0xff)}) {
      EXPECT_EQ(status_with(wrong), STOCKADE_ERROR_RSA_CRT) << i;
    }
  }
}

TEST(RsaKey, says_that_there_are_no_random_numbers) {
  EmptySource empty;
  std::unique_ptr<PrivateKey> key;
  EXPECT_EQ(PrivateKey::make(oracle_key(2048).numbers.view(), test_row(), empty, key), STOCKADE_ERROR_RANDOM);
  EXPECT_EQ(key, nullptr);
}

}  // namespace
}  // namespace stockade::rsa
