#include "rsa/generate.h"

#include <gtest/gtest.h>
#include <openssl/evp.h>

#include <memory>
#include <vector>

#include "bignum/integer.h"
#include "cross/random_source.h"
#include "rsa/primality.h"
#include "rsa/rsa_test.h"

namespace stockade::rsa {
namespace {

Buffer bytes_of_limbs(const Limb* limbs, uint32_t count) {
  Buffer bytes(count * sizeof(Limb));
  bignum::to_bytes(limbs, count, bytes.data(), bytes.size());
  return rsa::bytes_of(number(bytes).get());
}

Numbers numbers_of(const PrivateKey& key) {
  const PublicKey& half = key.public_key();
  const uint32_t n = half.limbs(), p = key.p().limbs(), q = key.q().limbs();
  return {bytes_of_limbs(half.modulus().value(), n),
          bytes_of_limbs(half.exponent(), most_exponent_limbs),
          bytes_of_limbs(key.d(), n),
          bytes_of_limbs(key.p().value(), p),
          bytes_of_limbs(key.q().value(), q),
          bytes_of_limbs(key.dp(), p),
          bytes_of_limbs(key.dq(), q),
          bytes_of_limbs(key.qinv(), p)};
}

// What FIPS 186-5 A.1.1 and A.1.3 demand, said with OpenSSL's numbers.
void expect_standard(const PrivateKey& key, uint32_t bits, uint32_t exponent) {
  const Numbers numbers = numbers_of(key);
  const std::shared_ptr<BN_CTX> context(BN_CTX_new(), BN_CTX_free);
  const auto n = number(numbers.n), e = number(numbers.e), d = number(numbers.d), p = number(numbers.p),
             q = number(numbers.q);
  EXPECT_EQ(BN_num_bits(n.get()), static_cast<int>(bits));
  EXPECT_EQ(BN_is_word(e.get(), exponent), 1);
  const std::shared_ptr<BIGNUM> a(BN_new(), BN_free), b(BN_new(), BN_free), c(BN_new(), BN_free);
  for (const BIGNUM* prime : {p.get(), q.get()}) {
    EXPECT_EQ(BN_num_bits(prime), static_cast<int>(bits / 2));
    EXPECT_EQ(BN_check_prime(prime, context.get(), nullptr), 1);
    // prime^2 > 2^(bits - 1)
    BN_sqr(a.get(), prime, context.get());
    EXPECT_EQ(BN_num_bits(a.get()), static_cast<int>(bits));
  }
  BN_sub(a.get(), p.get(), q.get());
  EXPECT_GT(BN_num_bits(a.get()), static_cast<int>(bits / 2 - 100));
  EXPECT_GT(BN_num_bits(d.get()), static_cast<int>(bits / 2));
  // d = 1/e modulo the least common multiple.
  BN_sub(a.get(), p.get(), BN_value_one());
  BN_sub(b.get(), q.get(), BN_value_one());
  BN_gcd(c.get(), a.get(), b.get(), context.get());
  BN_mul(a.get(), a.get(), b.get(), context.get());
  BN_div(a.get(), nullptr, a.get(), c.get(), context.get());
  ASSERT_NE(BN_mod_inverse(b.get(), e.get(), a.get(), context.get()), nullptr);
  EXPECT_EQ(BN_cmp(b.get(), d.get()), 0);
  const OracleKey oracle = oracle_key_from(numbers);
  const std::shared_ptr<EVP_PKEY_CTX> check(EVP_PKEY_CTX_new(oracle.pkey.get(), nullptr), EVP_PKEY_CTX_free);
  EXPECT_EQ(EVP_PKEY_check(check.get()), 1);
}

class GenerateOnRow : public testing::TestWithParam<const bignum::Variant*> {};
INSTANTIATE_TEST_SUITE_P(Rows, GenerateOnRow, testing::ValuesIn(test_rows()),
                         [](const auto& row) { return std::string(row.param->name); });

TEST_P(GenerateOnRow, makes_a_key_as_the_standard_wants_it) {
  std::unique_ptr<PrivateKey> key;
  ASSERT_EQ(generate_key(2048, usual_exponent, GetParam(), system_random(), key), STOCKADE_OK);
  EXPECT_EQ(key->row(), GetParam());
  expect_standard(*key, 2048, usual_exponent);
}

TEST(RsaGenerate, makes_keys_of_many_sizes_and_exponents) {
  tests::RandomSource random;
  TestSource source(random);
  // 65'539 is prime, 3 * 5 * 7 * 11 * 13 * 17 and 2^32 - 1 = 3 * 5 * 17 * 257 * 65'537 are not.
  const std::pair<uint32_t, uint32_t> cases[] = {{2048, 65537},      {2050, 65539}, {2176, 255255},
                                                 {2558, 4294967295}, {3072, 65537}, {4096, 65537}};
  for (const auto& [bits, exponent] : cases) {
    std::unique_ptr<PrivateKey> key;
    ASSERT_EQ(generate_key(bits, exponent, test_row(), source, key), STOCKADE_OK) << bits;
    expect_standard(*key, bits, exponent);
  }
}

TEST(RsaGenerate, makes_a_new_key_each_time) {
  std::unique_ptr<PrivateKey> first, second;
  ASSERT_EQ(generate_key(2048, usual_exponent, test_row(), system_random(), first), STOCKADE_OK);
  ASSERT_EQ(generate_key(2048, usual_exponent, test_row(), system_random(), second), STOCKADE_OK);
  const Numbers a = numbers_of(*first), b = numbers_of(*second);
  EXPECT_NE(a.p, b.p);
  EXPECT_NE(a.q, b.q);
}

TEST(RsaGenerate, makes_the_same_of_the_same_random_numbers) {
  tests::RandomSource random("one"), again("one");
  TestSource source(random), same(again);
  std::unique_ptr<PrivateKey> first, second;
  ASSERT_EQ(generate_key(2048, usual_exponent, test_row(), source, first), STOCKADE_OK);
  ASSERT_EQ(generate_key(2048, usual_exponent, test_row(), same, second), STOCKADE_OK);
  EXPECT_EQ(numbers_of(*first).n, numbers_of(*second).n);
}

// A source that gives one byte only.
class StuckSource final : public RandomSource {
 public:
  explicit StuckSource(uint8_t byte) : byte_(byte) {}
  Status fill(uint8_t* out, uint64_t length) override {
    std::fill_n(out, length, byte_);
    return STOCKADE_OK;
  }

 private:
  uint8_t byte_;
};

TEST(RsaGenerate, refuses_what_it_cannot_make) {
  std::unique_ptr<PrivateKey> key;
  const auto status_of = [&key](uint32_t bits, uint32_t exponent, RandomSource& random) {
    return generate_key(bits, exponent, test_row(), random, key);
  };
  EXPECT_EQ(status_of(2046, usual_exponent, system_random()), STOCKADE_ERROR_RSA_SIZE);
  EXPECT_EQ(status_of(16386, usual_exponent, system_random()), STOCKADE_ERROR_RSA_SIZE);
  EXPECT_EQ(status_of(0, usual_exponent, system_random()), STOCKADE_ERROR_RSA_SIZE);
  EXPECT_EQ(status_of(2049, usual_exponent, system_random()), STOCKADE_ERROR_ARGUMENT);
  for (const uint32_t exponent : {0U, 1U, 3U, 65535U, 65536U, 65538U, 4294967294U}) {
    EXPECT_EQ(status_of(2048, exponent, system_random()), STOCKADE_ERROR_RSA_EXPONENT) << exponent;
  }
  EmptySource empty;
  EXPECT_EQ(status_of(2048, usual_exponent, empty), STOCKADE_ERROR_RANDOM);
  for (const uint8_t byte : {uint8_t{0x00}, uint8_t{0x5a}, uint8_t{0xff}}) {
    StuckSource stuck(byte);
    EXPECT_EQ(status_of(2048, usual_exponent, stuck), STOCKADE_ERROR_RANDOM);
  }
  EXPECT_EQ(key, nullptr);
}

// ---- the primality test ----

bool passes(const BIGNUM* candidate, uint32_t count, uint32_t* passed = nullptr) {
  Buffer bytes = rsa::bytes_of(candidate);
  const auto limbs = static_cast<uint32_t>((bytes.size() + 7) / 8);
  std::vector<Limb> words(limbs);
  bignum::from_bytes(bytes.data(), bytes.size(), words.data(), limbs);
  bignum::Modulus modulus;
  EXPECT_EQ(bignum::Modulus::make(words.data(), limbs, modulus), STOCKADE_OK);
  std::vector<Round> rounds(count, Round{&modulus, false});
  EXPECT_EQ(run_rounds(*test_row(), rounds, system_random()), STOCKADE_OK);
  uint32_t number_passed = 0;
  for (const Round& round : rounds) number_passed += round.passed ? 1 : 0;
  if (passed != nullptr) *passed = number_passed;
  return number_passed == count;
}

TEST(RsaPrimality, knows_primes_of_every_residue) {
  // p - 1 is a multiple of a high power of 2.
  for (const int twos : {1, 2, 3, 17, 64, 65, 200}) {
    const std::shared_ptr<BIGNUM> prime = random_prime(512), step(BN_new(), BN_free);
    const std::shared_ptr<BN_CTX> context(BN_CTX_new(), BN_CTX_free);
    BN_set_bit(step.get(), twos);
    BN_sub_word(prime.get(), 1);
    BN_rshift(prime.get(), prime.get(), twos);
    BN_set_bit(prime.get(), 0);  // odd, so that there are exactly so many
    BN_lshift(prime.get(), prime.get(), twos);
    BN_lshift1(step.get(), step.get());
    BN_add_word(prime.get(), 1);
    while (BN_check_prime(prime.get(), context.get(), nullptr) != 1) BN_add(prime.get(), prime.get(), step.get());
    EXPECT_TRUE(passes(prime.get(), 100)) << twos;
  }
}

// (6k + 1)(12k + 1)(18k + 1) with three primes is a Carmichael number: Fermat's test takes it for a prime.
TEST(RsaPrimality, is_not_deceived_by_carmichael_numbers) {
  const std::shared_ptr<BN_CTX> context(BN_CTX_new(), BN_CTX_free);
  const std::shared_ptr<BIGNUM> k(BN_new(), BN_free), a(BN_new(), BN_free), b(BN_new(), BN_free), c(BN_new(), BN_free);
  BN_rand(k.get(), 90, BN_RAND_TOP_ONE, BN_RAND_BOTTOM_ANY);
  const auto is_prime = [&](BIGNUM* out, unsigned long factor) {
    BN_copy(out, k.get());
    BN_mul_word(out, factor);
    BN_add_word(out, 1);
    return BN_check_prime(out, context.get(), nullptr) == 1;
  };
  while (!is_prime(a.get(), 6) || !is_prime(b.get(), 12) || !is_prime(c.get(), 18)) BN_add_word(k.get(), 1);
  BN_mul(a.get(), a.get(), b.get(), context.get());
  BN_mul(a.get(), a.get(), c.get(), context.get());
  uint32_t passed = 0;
  EXPECT_FALSE(passes(a.get(), 400, &passed));
  EXPECT_LT(passed, 200U);  // at most a quarter of all bases
}

TEST(RsaPrimality, knows_composites) {
  const std::shared_ptr<BN_CTX> context(BN_CTX_new(), BN_CTX_free);
  for (uint64_t i = tests::scaled(20); i > 0; --i) {
    const std::shared_ptr<BIGNUM> product(BN_new(), BN_free);
    BN_mul(product.get(), random_prime(300).get(), random_prime(300).get(), context.get());
    uint32_t passed = 0;
    passes(product.get(), 20, &passed);
    EXPECT_EQ(passed, 0U);
  }
}

TEST(RsaPrimality, has_the_rounds_of_the_standard) {
  // FIPS 186-5 Table B.1.
  EXPECT_EQ(rounds_for_generation(2048), 5U);
  EXPECT_EQ(rounds_for_generation(3071), 5U);
  EXPECT_EQ(rounds_for_generation(3072), 4U);
  EXPECT_EQ(rounds_for_generation(4096), 4U);
}

}  // namespace
}  // namespace stockade::rsa
