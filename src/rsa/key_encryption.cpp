#include "rsa/key_encryption.h"

#include <openssl/evp.h>
#include <openssl/objects.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include <algorithm>
#include <string>

#include "libcrypto/library.h"

namespace stockade::rsa {
namespace {

using CipherContext = libcrypto::Handle<EVP_CIPHER_CTX, EVP_CIPHER_CTX_free>;
using Cipher = libcrypto::Handle<EVP_CIPHER, EVP_CIPHER_free>;
using Digest = libcrypto::Handle<EVP_MD, EVP_MD_free>;
using Algorithm = libcrypto::Handle<X509_ALGOR, X509_ALGOR_free>;
using Pbes2 = libcrypto::Handle<PBE2PARAM, PBE2PARAM_free>;
using Pbes1 = libcrypto::Handle<PBEPARAM, PBEPARAM_free>;
using Pbkdf2 = libcrypto::Handle<PBKDF2PARAM, PBKDF2PARAM_free>;
using Scrypt = libcrypto::Handle<SCRYPT_PARAMS, SCRYPT_PARAMS_free>;

// Key files come from anywhere, and a count in one of them must not keep its reader busy for hours. Either takes seconds.
constexpr uint64_t most_iterations = 5'000'000;
// N r p: twice that of the default limit of a file's passphrase.
constexpr uint64_t most_scrypt_blocks = uint64_t{1} << 24;

// 0 where it is not a positive number.
uint64_t value_of(const ASN1_INTEGER* number) {
  uint64_t value = 0;
  return ASN1_INTEGER_get_uint64(&value, number) == 1 ? value : 0;
}

bool is_bearable(const ASN1_INTEGER* count) {
  const uint64_t value = value_of(count);
  return value != 0 && value <= most_iterations;
}

bool is_bearable(const SCRYPT_PARAMS& scrypt) {
  uint64_t left = most_scrypt_blocks;
  for (const ASN1_INTEGER* factor : {scrypt.costParameter, scrypt.blockSize, scrypt.parallelizationParameter}) {
    const uint64_t value = value_of(factor);
    if (value == 0 || value > left) return false;
    left /= value;
  }
  return true;
}

// Whether the passphrase's derivation (RFC 8018) has a count that is. What has none is left to libcrypto.
bool is_bearable(const X509_ALGOR& algorithm) {
  const auto unpack = [](const ASN1_TYPE* from, const ASN1_ITEM* as) {
    return from == nullptr ? nullptr : ASN1_TYPE_unpack_sequence(as, from);
  };
  if (OBJ_obj2nid(algorithm.algorithm) != NID_pbes2) {
    const Pbes1 one(static_cast<PBEPARAM*>(unpack(algorithm.parameter, ASN1_ITEM_rptr(PBEPARAM))));
    return !one || is_bearable(one->iter);
  }
  const Pbes2 two(static_cast<PBE2PARAM*>(unpack(algorithm.parameter, ASN1_ITEM_rptr(PBE2PARAM))));
  if (!two) return true;
  if (OBJ_obj2nid(two->keyfunc->algorithm) == NID_id_scrypt) {
    const Scrypt scrypt(static_cast<SCRYPT_PARAMS*>(unpack(two->keyfunc->parameter, ASN1_ITEM_rptr(SCRYPT_PARAMS))));
    return !scrypt || is_bearable(*scrypt);
  }
  if (OBJ_obj2nid(two->keyfunc->algorithm) != NID_id_pbkdf2) return true;
  const Pbkdf2 derivation(static_cast<PBKDF2PARAM*>(unpack(two->keyfunc->parameter, ASN1_ITEM_rptr(PBKDF2PARAM))));
  return !derivation || is_bearable(derivation->iter);
}

// Sets the context up for the algorithm and the passphrase. What libcrypto refuses here is what it does not know.
Status begin(EVP_CIPHER_CTX* context, const X509_ALGOR* algorithm, Bytes passphrase, bool encrypt) {
  const libcrypto::ErrorScope errors;
  const ASN1_OBJECT* object = nullptr;
  const void* value = nullptr;
  int type = V_ASN1_UNDEF;
  X509_ALGOR_get0(&object, &type, &value, algorithm);
  // No passphrase is one of no bytes, for which libcrypto wants a pointer all the same.
  const char* const text = passphrase.empty() ? "" : reinterpret_cast<const char*>(passphrase.data());
  const int done =
      EVP_PBE_CipherInit_ex(const_cast<ASN1_OBJECT*>(object), text, static_cast<int>(passphrase.size()),
                            algorithm->parameter, context, encrypt ? 1 : 0, libcrypto::library_context(), nullptr);
  return done == 1 ? STOCKADE_OK : errors.status(STOCKADE_ERROR_KEY_TYPE);
}

// Everything through a context that is set up. `out` gets a block more than `in` has. Decryption: PASSPHRASE if the
// padding is wrong.
Status run(EVP_CIPHER_CTX* context, Bytes in, uint8_t* out, uint64_t& length, Status otherwise) {
  const libcrypto::ErrorScope errors;
  int first = 0, second = 0;
  const bool updated = EVP_CipherUpdate(context, out, &first, in.data(), static_cast<int>(in.size())) == 1;
  if (!updated) return errors.status();
  if (EVP_CipherFinal_ex(context, out + first, &second) != 1) return errors.status(otherwise);
  length = static_cast<uint64_t>(first) + static_cast<uint64_t>(second);
  return STOCKADE_OK;
}

Status decrypt(EVP_CIPHER_CTX* context, Bytes encrypted, SecretBuffer& plain, uint64_t& length) {
  if (!plain.allocate(encrypted.size() + EVP_MAX_BLOCK_LENGTH)) return STOCKADE_ERROR_MEMORY;
  return run(context, encrypted, plain.data(), length, STOCKADE_ERROR_PASSPHRASE);
}

}  // namespace

Status decrypt_pkcs8(Bytes algorithm, Bytes encrypted, Bytes passphrase, SecretBuffer& plain, uint64_t& length) {
  const libcrypto::ErrorScope errors;
  const unsigned char* at = algorithm.data();
  const Algorithm parsed(d2i_X509_ALGOR(nullptr, &at, static_cast<long>(algorithm.size())));
  if (!parsed) return errors.status(STOCKADE_ERROR_KEY_FILE);
  if (!is_bearable(*parsed)) return STOCKADE_ERROR_KEY_FILE;
  const CipherContext context(EVP_CIPHER_CTX_new());
  if (!context || libcrypto::library_context() == nullptr) return errors.status();
  const Status status = begin(context.get(), parsed.get(), passphrase, false);
  return status == STOCKADE_OK ? decrypt(context.get(), encrypted, plain, length) : status;
}

Status encrypt_pkcs8(Bytes plain, Bytes passphrase, uint32_t iterations, RandomSource& random,
                     std::vector<uint8_t>& algorithm, std::vector<uint8_t>& encrypted) {
  const libcrypto::ErrorScope errors;
  uint8_t salt[16], iv[16];
  Status status = random.fill(salt, sizeof salt);
  if (status == STOCKADE_OK) status = random.fill(iv, sizeof iv);
  if (status != STOCKADE_OK) return status;
  if (libcrypto::library_context() == nullptr) return errors.status();
  const Algorithm made(PKCS5_pbe2_set_iv_ex(EVP_aes_256_cbc(), static_cast<int>(iterations), salt, sizeof salt, iv,
                                            NID_hmacWithSHA256, libcrypto::library_context()));
  const CipherContext context(EVP_CIPHER_CTX_new());
  if (!made || !context) return errors.status();
  status = begin(context.get(), made.get(), passphrase, true);
  if (status != STOCKADE_OK) return status == STOCKADE_ERROR_KEY_TYPE ? STOCKADE_ERROR_LIBRARY : status;
  encrypted.resize(plain.size() + EVP_MAX_BLOCK_LENGTH);
  uint64_t length = 0;
  status = run(context.get(), plain, encrypted.data(), length, STOCKADE_ERROR_LIBRARY);
  if (status != STOCKADE_OK) return status;
  encrypted.resize(length);
  algorithm.resize(static_cast<size_t>(std::max(i2d_X509_ALGOR(made.get(), nullptr), 0)));
  unsigned char* at = algorithm.data();
  return i2d_X509_ALGOR(made.get(), &at) > 0 ? STOCKADE_OK : errors.status();
}

Status decrypt_traditional(const char* header, Bytes encrypted, Bytes passphrase, SecretBuffer& plain,
                           uint64_t& length) {
  const libcrypto::ErrorScope errors;
  EVP_CIPHER_INFO info;
  std::string lines(header);  // libcrypto's parser wants to write
  if (PEM_get_EVP_CIPHER_INFO(lines.data(), &info) != 1) return errors.status(STOCKADE_ERROR_KEY_FILE);
  if (info.cipher == nullptr || libcrypto::library_context() == nullptr) return STOCKADE_ERROR_KEY_FILE;
  const Cipher cipher(EVP_CIPHER_fetch(libcrypto::library_context(), EVP_CIPHER_get0_name(info.cipher), nullptr));
  const Digest md5(EVP_MD_fetch(libcrypto::library_context(), "MD5", nullptr));
  const CipherContext context(EVP_CIPHER_CTX_new());
  if (!cipher) return errors.status(STOCKADE_ERROR_KEY_TYPE);
  if (!md5 || !context) return errors.status();
  Secret<uint8_t[EVP_MAX_KEY_LENGTH]> key;
  const uint8_t nothing[1] = {};
  // The first 8 bytes of the IV are the salt.
  if (EVP_BytesToKey(cipher.get(), md5.get(), info.iv, passphrase.empty() ? nothing : passphrase.data(),
                     static_cast<int>(passphrase.size()), 1, *key, nullptr) <= 0 ||
      EVP_DecryptInit_ex2(context.get(), cipher.get(), *key, info.iv, nullptr) != 1) {
    return errors.status();
  }
  return decrypt(context.get(), encrypted, plain, length);
}

}  // namespace stockade::rsa
