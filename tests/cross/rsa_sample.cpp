#include "cross/rsa_sample.h"

#include <openssl/bio.h>
#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>

#include <map>
#include <stdexcept>
#include <string_view>

namespace stockade::tests {
namespace {

using Context = std::shared_ptr<EVP_PKEY_CTX>;
using Begin = int (*)(EVP_PKEY_CTX*);
using Step = int (*)(EVP_PKEY_CTX*, unsigned char*, size_t*, const unsigned char*, size_t);

void demand(bool done, const char* what) {
  if (!done) throw std::runtime_error(std::string("OpenSSL refuses ") + what);
}

Context context_of(const OracleRsaKey& key) {
  return {EVP_PKEY_CTX_new_from_pkey(nullptr, key.get(), nullptr), EVP_PKEY_CTX_free};
}

const EVP_MD* function_of(const char* hash) {
  const EVP_MD* const function = EVP_get_digestbyname(hash);
  demand(function != nullptr, hash);
  return function;
}

const char* mask_of(const RsaCase& chosen) { return chosen.mask_hash == nullptr ? chosen.hash : chosen.mask_hash; }

int salt_of(const RsaCase& chosen) {
  constexpr int named[] = {RSA_PSS_SALTLEN_DIGEST, RSA_PSS_SALTLEN_MAX, 0, RSA_PSS_SALTLEN_AUTO};
  return chosen.salt == STOCKADE_RSA_SALT_GIVEN ? static_cast<int>(chosen.salt_length) : named[chosen.salt];
}

void set_signature(EVP_PKEY_CTX* context, const RsaCase& chosen) {
  const bool pss = chosen.padding == STOCKADE_RSA_PSS;
  demand(EVP_PKEY_CTX_set_rsa_padding(context, pss ? RSA_PKCS1_PSS_PADDING : RSA_PKCS1_PADDING) == 1, "a padding");
  demand(EVP_PKEY_CTX_set_signature_md(context, function_of(chosen.hash)) == 1, "a hash");
  if (!pss) return;
  demand(EVP_PKEY_CTX_set_rsa_pss_saltlen(context, salt_of(chosen)) == 1, "a salt");
  demand(EVP_PKEY_CTX_set_rsa_mgf1_md(context, function_of(mask_of(chosen))) == 1, "a mask");
}

void set_encryption(EVP_PKEY_CTX* context, const RsaCase& chosen) {
  demand(EVP_PKEY_CTX_set_rsa_padding(context, RSA_PKCS1_OAEP_PADDING) == 1, "OAEP");
  demand(EVP_PKEY_CTX_set_rsa_oaep_md(context, function_of(chosen.hash)) == 1, "a hash");
  demand(EVP_PKEY_CTX_set_rsa_mgf1_md(context, function_of(mask_of(chosen))) == 1, "a mask");
  if (chosen.label.empty()) return;
  void* const label = OPENSSL_memdup(chosen.label.data(), chosen.label.size());
  demand(EVP_PKEY_CTX_set0_rsa_oaep_label(context, label, static_cast<int>(chosen.label.size())) == 1, "a label");
}

template <typename Set>
Bytes run(const OracleRsaKey& key, const RsaCase& chosen, Begin begin, Set set, Step step, const Bytes& in) {
  const Context context = context_of(key);
  demand(begin(context.get()) == 1, "a key");
  set(context.get(), chosen);
  Bytes out(static_cast<size_t>(EVP_PKEY_get_size(key.get())));
  size_t length = out.size();
  out.resize(step(context.get(), out.data(), &length, in.data(), in.size()) == 1 ? length : 0);
  return out;
}

template <typename Write>
std::string pem(Write write) {
  const std::shared_ptr<BIO> file(BIO_new(BIO_s_mem()), BIO_free);
  demand(write(file.get()) == 1, "to write a key");
  char* text = nullptr;
  const long length = BIO_get_mem_data(file.get(), &text);
  return {text, static_cast<size_t>(length)};
}

using ReadFn = stockade_status (*)(stockade_rsa_key**, const void*, uint64_t, stockade_rsa_reading*);

RsaKey read(ReadFn function, const std::string& file, const char* force) {
  stockade_rsa_reading reading = {};
  reading.struct_size = sizeof reading;
  reading.force = force;
  stockade_rsa_key* key = nullptr;
  const stockade_status status = function(&key, file.data(), file.size(), &reading);
  if (status != STOCKADE_OK) throw std::runtime_error(stockade_status_name(status));
  return RsaKey(key);
}

}  // namespace

OracleRsaKey oracle_rsa_key(uint32_t bits, uint32_t number) {
  static std::map<std::pair<uint32_t, uint32_t>, OracleRsaKey> keys;
  OracleRsaKey& key = keys[{bits, number}];
  if (!key) key.reset(EVP_RSA_gen(bits), EVP_PKEY_free);
  demand(key != nullptr, "a key of that size");
  return key;
}

std::string private_pem(const OracleRsaKey& key) {
  return pem(
      [&](BIO* file) { return PEM_write_bio_PKCS8PrivateKey(file, key.get(), nullptr, nullptr, 0, nullptr, nullptr); });
}

std::string public_pem(const OracleRsaKey& key) {
  return pem([&](BIO* file) { return PEM_write_bio_PUBKEY(file, key.get()); });
}

RsaKey read_private(const std::string& file, const char* force) {
  return read(stockade_rsa_key_read_private, file, force);
}
RsaKey read_public(const std::string& file, const char* force) {
  return read(stockade_rsa_key_read_public, file, force);
}

std::vector<std::string> bignum_rows() {
  std::vector<std::string> rows;
  stockade_row row;
  for (uint32_t i = 0; stockade_row_get(i, &row) == STOCKADE_OK; ++i) {
    const std::string_view primitive = row.primitive, name = row.name;
    if (primitive == "bignum" && name != "reference" && row.available) rows.push_back("bignum:" + std::string(name));
  }
  if (rows.empty()) throw std::runtime_error("no row of bignum");
  return rows;
}

stockade_rsa_options RsaCase::options() const {
  return {sizeof(stockade_rsa_options), padding, salt, salt_length, hash, mask_hash, label.data(), label.size()};
}

Bytes oracle_digest(const char* hash, const Bytes& message) {
  Bytes digest(EVP_MAX_MD_SIZE);
  unsigned length = 0;
  demand(EVP_Digest(message.data(), message.size(), digest.data(), &length, function_of(hash), nullptr) == 1,
         "to hash");
  digest.resize(length);
  return digest;
}

Bytes oracle_sign(const OracleRsaKey& key, const RsaCase& chosen, const Bytes& digest) {
  return run(key, chosen, EVP_PKEY_sign_init, set_signature, EVP_PKEY_sign, digest);
}

bool oracle_verify(const OracleRsaKey& key, const RsaCase& chosen, const Bytes& digest, const Bytes& signature) {
  const Context context = context_of(key);
  demand(EVP_PKEY_verify_init(context.get()) == 1, "a key");
  set_signature(context.get(), chosen);
  return EVP_PKEY_verify(context.get(), signature.data(), signature.size(), digest.data(), digest.size()) == 1;
}

Bytes oracle_encrypt(const OracleRsaKey& key, const RsaCase& chosen, const Bytes& message) {
  return run(key, chosen, EVP_PKEY_encrypt_init, set_encryption, EVP_PKEY_encrypt, message);
}

Bytes oracle_decrypt(const OracleRsaKey& key, const RsaCase& chosen, const Bytes& ciphertext) {
  return run(key, chosen, EVP_PKEY_decrypt_init, set_encryption, EVP_PKEY_decrypt, ciphertext);
}

Bytes oracle_power(const OracleRsaKey& key, bool is_private, const Bytes& number) {
  const auto parameter = [&](const char* name) {
    BIGNUM* value = nullptr;
    demand(EVP_PKEY_get_bn_param(key.get(), name, &value) == 1, name);
    return std::shared_ptr<BIGNUM>(value, BN_clear_free);
  };
  const std::shared_ptr<BIGNUM> n = parameter(OSSL_PKEY_PARAM_RSA_N);
  const std::shared_ptr<BIGNUM> exponent = parameter(is_private ? OSSL_PKEY_PARAM_RSA_D : OSSL_PKEY_PARAM_RSA_E);
  const std::shared_ptr<BN_CTX> context(BN_CTX_new(), BN_CTX_free);
  const std::shared_ptr<BIGNUM> value(BN_bin2bn(number.data(), static_cast<int>(number.size()), nullptr),
                                      BN_clear_free);
  demand(BN_mod_exp(value.get(), value.get(), exponent.get(), n.get(), context.get()) == 1, "a power");
  Bytes power(number.size());
  demand(BN_bn2binpad(value.get(), power.data(), static_cast<int>(power.size())) >= 0, "a power of that length");
  return power;
}

}  // namespace stockade::tests
