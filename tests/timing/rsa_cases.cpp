// RSA-2048: the decoding of OAEP alone, and private operations, decryptions and key unwrapping by each row.
#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/rsa.h>

#include <cstdlib>
#include <memory>

#include "bignum/bignum_variants.h"
#include "cpu/features.h"
#include "format/recipient.h"
#include "rsa/key.h"
#include "rsa/operation.h"
#include "rsa/padding.h"
#include "timing/leak_test.h"

namespace stockade::timing {
namespace {

using Buffer = std::vector<uint8_t>;
constexpr uint64_t size = 256;

void demand(bool condition) {
  if (!condition) std::abort();
}

Buffer parameter(const EVP_PKEY* pkey, const char* name) {
  BIGNUM* value = nullptr;
  demand(EVP_PKEY_get_bn_param(pkey, name, &value) == 1);
  Buffer bytes(static_cast<size_t>(BN_num_bytes(value)));
  BN_bn2bin(value, bytes.data());
  BN_clear_free(value);
  return bytes;
}

std::shared_ptr<rsa::PrivateKey> make_key(const bignum::Variant* row) {
  static EVP_PKEY* const pkey = EVP_RSA_gen(8 * size);
  demand(pkey != nullptr);
  const auto take = [](const char* name) { return parameter(pkey, name); };
  const Buffer n = take(OSSL_PKEY_PARAM_RSA_N), e = take(OSSL_PKEY_PARAM_RSA_E), d = take(OSSL_PKEY_PARAM_RSA_D),
               p = take(OSSL_PKEY_PARAM_RSA_FACTOR1), q = take(OSSL_PKEY_PARAM_RSA_FACTOR2),
               dp = take(OSSL_PKEY_PARAM_RSA_EXPONENT1), dq = take(OSSL_PKEY_PARAM_RSA_EXPONENT2),
               qinv = take(OSSL_PKEY_PARAM_RSA_COEFFICIENT1);
  std::unique_ptr<rsa::PrivateKey> key;
  demand(rsa::PrivateKey::make({n, e, d, p, q, dp, dq, qinv}, row, system_random(), key) == STOCKADE_OK);
  return key;
}

// ---- OAEP's decoding, which no row has a part in ----

struct Encoded {
  Buffer first = Buffer(size), second = Buffer(size), encoded = Buffer(size), message = Buffer(190);
};

// Class 0 is a good encoded message; class 1 has the byte at `wrong` changed.
Operation decode(uint64_t wrong, uint64_t length = 32) {
  auto data = std::make_shared<Encoded>();
  const Buffer message(length, 0x61);
  demand(rsa::oaep_encode({}, message, system_random(), data->first) == STOCKADE_OK);
  data->second = data->first;
  data->second[wrong] ^= 1;
  return {[=](uint32_t which) { pick(which, data->first.data(), data->second.data(), data->encoded.data(), size); },
          [=] {
            uint64_t length_out;
            rsa::oaep_decode({}, data->encoded, data->message, length_out);
          }};
}

// Two good messages.
Operation decode_lengths(uint64_t first, uint64_t second) {
  auto data = std::make_shared<Encoded>();
  demand(rsa::oaep_encode({}, Buffer(first, 0x61), system_random(), data->first) == STOCKADE_OK);
  demand(rsa::oaep_encode({}, Buffer(second, 0x16), system_random(), data->second) == STOCKADE_OK);
  return {[=](uint32_t which) { pick(which, data->first.data(), data->second.data(), data->encoded.data(), size); },
          [=] {
            uint64_t length;
            rsa::oaep_decode({}, data->encoded, data->message, length);
          }};
}

// ---- with a private key ----

struct Ciphertexts {
  std::shared_ptr<rsa::PrivateKey> key;
  Buffer first = Buffer(size), second = Buffer(size), ciphertext = Buffer(size), message = Buffer(size);
  Random random{77};
};

std::shared_ptr<Ciphertexts> make_ciphertexts(const bignum::Variant* row) {
  auto data = std::make_shared<Ciphertexts>();
  data->key = make_key(row);
  return data;
}

Operation private_operation(const bignum::Variant* row) {
  auto data = make_ciphertexts(row);
  data->first[size - 1] = 1;
  return {[=](uint32_t which) {
            data->random.fill(data->second.data(), size);
            data->second[0] = 0;
            pick(which, data->first.data(), data->second.data(), data->ciphertext.data(), size);
          },
          [=] {
            rsa::PrivateOperation operation = {data->key.get(), data->ciphertext, data->message};
            demand(rsa::run_private({&operation, 1}, system_random()) == STOCKADE_OK);
          }};
}

// A good ciphertext, and a number that decrypts to no encoded message. The highest bit of the modulus is set and that of
// both is not, so both are below it.
void good_and_bad(Ciphertexts& data, const Buffer& message) {
  do {
    rsa::Encryption item = {&data.key->public_key(), message, data.first};
    demand(rsa::encrypt_many({}, {&item, 1}, system_random()) == STOCKADE_OK);
  } while (data.first[0] > 0x7f);
  data.second = data.first;
  data.second[size - 1] ^= 1;
}

Operation decryption(const bignum::Variant* row) {
  auto data = make_ciphertexts(row);
  good_and_bad(*data, Buffer(32, 0x61));
  return {[=](uint32_t which) { pick(which, data->first.data(), data->second.data(), data->ciphertext.data(), size); },
          [=] {
            rsa::Decryption item = {data->key.get(), data->ciphertext, data->message};
            rsa::decrypt_many({}, {&item, 1}, system_random());
          }};
}

Operation unwrapping(const bignum::Variant* row) {
  auto data = make_ciphertexts(row);
  good_and_bad(*data, Buffer(format::file_key_bytes, 0x61));
  auto stanza = std::make_shared<format::Stanza>();
  stanza->kind = format::rsa_kind;
  stanza->body.resize(size);
  return {[=](uint32_t which) { pick(which, data->first.data(), data->second.data(), stanza->body.data(), size); },
          [=] {
            uint8_t file_key[format::file_key_bytes];
            bool opened;
            demand(format::unwrap_with_rsa(*data->key, *stanza, file_key, &opened) == STOCKADE_OK);
          }};
}

}  // namespace

std::vector<Case> rsa_cases() {
  std::vector<Case> cases = {
      {"OAEP decoding", "any", "good, first byte not zero", decode(0)},
      {"OAEP decoding", "any", "good, seed changed", decode(5)},
      {"OAEP decoding", "any", "good, label's hash wrong", decode(40)},
      {"OAEP decoding", "any", "good, zero padding wrong", decode(100)},
      {"OAEP decoding", "any", "empty message, longest message", decode_lengths(0, 190)},
      {"OAEP decoding", "any", "two messages of one length", decode_lengths(32, 32)},
  };
  for (const bignum::Variant& row : bignum::variants()) {
    if (!row.automatic || (row.needs & ~cpu::usable()) != 0) continue;
    cases.push_back({"private operation", row.name, "input 1, random input", private_operation(&row)});
    cases.push_back({"OAEP decryption", row.name, "good, wrong", decryption(&row)});
    cases.push_back({"unwrapping, RSA", row.name, "good, wrong", unwrapping(&row)});
  }
  return cases;
}

}  // namespace stockade::timing
