#include "rsa/rsa_test.h"

#include <gtest/gtest.h>
#include <openssl/core_names.h>
#include <openssl/param_build.h>
#include <openssl/rsa.h>

#include <initializer_list>
#include <map>
#include <stdexcept>

#include "base/random.h"
#include "cpu/features.h"
#include "cross/random_source.h"

namespace stockade::rsa {
namespace {

using Context = std::shared_ptr<BN_CTX>;

Context make_context() { return {BN_CTX_new(), BN_CTX_free}; }

std::shared_ptr<BIGNUM> empty_number() { return {BN_new(), BN_free}; }

void demand(bool done, const char* what) {
  if (!done) throw std::runtime_error(std::string("OpenSSL refuses ") + what);
}

Buffer parameter(const EVP_PKEY* key, const char* name) {
  BIGNUM* value = nullptr;
  demand(EVP_PKEY_get_bn_param(key, name, &value) == 1, name);
  Buffer bytes = bytes_of(value);
  BN_clear_free(value);
  return bytes;
}

Numbers numbers_of(const EVP_PKEY* key) {
  return {parameter(key, OSSL_PKEY_PARAM_RSA_N),         parameter(key, OSSL_PKEY_PARAM_RSA_E),
          parameter(key, OSSL_PKEY_PARAM_RSA_D),         parameter(key, OSSL_PKEY_PARAM_RSA_FACTOR1),
          parameter(key, OSSL_PKEY_PARAM_RSA_FACTOR2),   parameter(key, OSSL_PKEY_PARAM_RSA_EXPONENT1),
          parameter(key, OSSL_PKEY_PARAM_RSA_EXPONENT2), parameter(key, OSSL_PKEY_PARAM_RSA_COEFFICIENT1)};
}

OracleKey odd_key(const BIGNUM* p, const BIGNUM* q, const Buffer& e) { return oracle_key_from(numbers_from(p, q, e)); }

// 2^bits + more.
std::shared_ptr<BIGNUM> power_of_two(int bits, unsigned long more) {
  std::shared_ptr<BIGNUM> value = empty_number();
  BN_set_bit(value.get(), bits);
  BN_add_word(value.get(), more);
  return value;
}

}  // namespace

Status TestSource::fill(uint8_t* out, uint64_t length) {
  random_.fill(out, length);
  return STOCKADE_OK;
}

std::shared_ptr<BIGNUM> number(const Buffer& bytes) {
  return {BN_bin2bn(bytes.data(), static_cast<int>(bytes.size()), nullptr), BN_clear_free};
}

Buffer bytes_of(const BIGNUM* number) { return bytes_of(number, static_cast<uint64_t>(BN_num_bytes(number))); }

Buffer bytes_of(const BIGNUM* number, uint64_t length) {
  Buffer bytes(length);
  demand(BN_bn2binpad(number, bytes.data(), static_cast<int>(length)) >= 0, "a number of that length");
  return bytes;
}

const OracleKey& oracle_key(uint32_t bits) {
  static std::map<uint32_t, OracleKey> keys;
  const auto [at, fresh] = keys.try_emplace(bits);
  if (fresh) {
    EVP_PKEY* const key = EVP_RSA_gen(bits);
    demand(key != nullptr, "a key of that size");
    at->second = {{key, EVP_PKEY_free}, numbers_of(key)};
  }
  return at->second;
}

Numbers numbers_from(const BIGNUM* p, const BIGNUM* q, const Buffer& e) {
  const Context context = make_context();
  const auto n = empty_number(), p1 = empty_number(), q1 = empty_number(), phi = empty_number();
  const auto d = empty_number(), dp = empty_number(), dq = empty_number(), qinv = empty_number();
  BN_mul(n.get(), p, q, context.get());
  BN_sub(p1.get(), p, BN_value_one());
  BN_sub(q1.get(), q, BN_value_one());
  BN_mul(phi.get(), p1.get(), q1.get(), context.get());
  demand(BN_mod_inverse(d.get(), number(e).get(), phi.get(), context.get()) != nullptr, "1/e");
  BN_mod(dp.get(), d.get(), p1.get(), context.get());
  BN_mod(dq.get(), d.get(), q1.get(), context.get());
  // There is none for p = q.
  if (BN_mod_inverse(qinv.get(), q, p, context.get()) == nullptr) BN_one(qinv.get());
  return {bytes_of(n.get()),   e, bytes_of(d.get()), bytes_of(p), bytes_of(q), bytes_of(dp.get()), bytes_of(dq.get()),
          bytes_of(qinv.get())};
}

OracleKey oracle_key_from(const Numbers& numbers) {
  const std::pair<const char*, const Buffer*> parts[] = {
      {OSSL_PKEY_PARAM_RSA_N, &numbers.n},          {OSSL_PKEY_PARAM_RSA_E, &numbers.e},
      {OSSL_PKEY_PARAM_RSA_D, &numbers.d},          {OSSL_PKEY_PARAM_RSA_FACTOR1, &numbers.p},
      {OSSL_PKEY_PARAM_RSA_FACTOR2, &numbers.q},    {OSSL_PKEY_PARAM_RSA_EXPONENT1, &numbers.dp},
      {OSSL_PKEY_PARAM_RSA_EXPONENT2, &numbers.dq}, {OSSL_PKEY_PARAM_RSA_COEFFICIENT1, &numbers.qinv}};
  const std::shared_ptr<OSSL_PARAM_BLD> builder(OSSL_PARAM_BLD_new(), OSSL_PARAM_BLD_free);
  std::vector<std::shared_ptr<BIGNUM>> values;
  for (const auto& [name, bytes] : parts) {
    values.push_back(number(*bytes));
    OSSL_PARAM_BLD_push_BN(builder.get(), name, values.back().get());
  }
  const std::shared_ptr<OSSL_PARAM> parameters(OSSL_PARAM_BLD_to_param(builder.get()), OSSL_PARAM_free);
  const std::shared_ptr<EVP_PKEY_CTX> context(EVP_PKEY_CTX_new_from_name(nullptr, "RSA", nullptr), EVP_PKEY_CTX_free);
  EVP_PKEY* key = nullptr;
  EVP_PKEY_fromdata_init(context.get());
  demand(EVP_PKEY_fromdata(context.get(), &key, EVP_PKEY_KEYPAIR, parameters.get()) == 1, "a key of these numbers");
  return {{key, EVP_PKEY_free}, numbers};
}

std::shared_ptr<BIGNUM> random_prime(uint32_t bits) {
  const Context context = make_context();
  std::shared_ptr<BIGNUM> prime = empty_number();
  do {
    demand(BN_generate_prime_ex(prime.get(), static_cast<int>(bits), 0, nullptr, nullptr, nullptr) == 1, "a prime");
  } while (BN_mod_word(prime.get(), 65537) == 1 || BN_mod_word(prime.get(), 3) == 1);
  return prime;
}

std::shared_ptr<BIGNUM> prime_from(const BIGNUM* start) {
  const Context context = make_context();
  std::shared_ptr<BIGNUM> prime(BN_dup(start), BN_clear_free);
  if (!BN_is_odd(prime.get())) BN_add_word(prime.get(), 1);
  while (BN_mod_word(prime.get(), 65537) == 1 || BN_mod_word(prime.get(), 3) == 1 ||
         BN_check_prime(prime.get(), context.get(), nullptr) != 1) {
    BN_add_word(prime.get(), 2);
  }
  return prime;
}

const std::vector<OracleKey>& odd_keys() {
  static const std::vector<OracleKey> keys = [] {
    std::vector<OracleKey> made;
    const Buffer usual = {1, 0, 1}, three = {3};
    // The prime 2^127 - 1.
    Buffer wide(16, 0xff);
    wide[0] = 0x7f;
    made.push_back(odd_key(random_prime(1000).get(), random_prime(1049).get(), usual));  // 2049 bits
    made.push_back(odd_key(random_prime(1300).get(), random_prime(752).get(), three));   // q far below p
    made.push_back(odd_key(random_prime(700).get(), random_prime(1356).get(), usual));   // and far above
    made.push_back(odd_key(random_prime(1030).get(), random_prime(1027).get(), wide));   // 2057: PSS has a byte less
    // n = 2^2110 + 2^1088 a + ...: limbs of zeros.
    made.push_back(
        odd_key(prime_from(power_of_two(1087, 1).get()).get(), prime_from(power_of_two(1023, 1).get()).get(), usual));
    return made;
  }();
  return keys;
}

const bignum::Variant* test_row() {
  const bignum::Variant* row = nullptr;
  demand(bignum::choose("", cpu::usable(), &row) == STOCKADE_OK, "no row");
  return row;
}

std::vector<const bignum::Variant*> test_rows() {
  std::vector<const bignum::Variant*> rows;
  for (const bignum::Variant& row : bignum::variants()) {
    if ((row.needs & ~cpu::usable()) == 0) rows.push_back(&row);
  }
  return rows;
}

std::unique_ptr<PrivateKey> make_key(const Numbers& numbers, const bignum::Variant* row) {
  std::unique_ptr<PrivateKey> key;
  EXPECT_EQ(PrivateKey::make(numbers.view(), row, system_random(), key), STOCKADE_OK);
  return key;
}

}  // namespace stockade::rsa
