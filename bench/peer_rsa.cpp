#include "peer_rsa.h"

#include <openssl/pem.h>
#include <openssl/rsa.h>
#include <openssl/x509.h>

#include <stdexcept>

namespace stockade::bench {
namespace {

void require(bool done, const char* what) {
  if (!done) throw std::runtime_error(std::string("libcrypto cannot ") + what);
}

struct Free {
  void operator()(BIO* bio) const { BIO_free(bio); }
  void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
  void operator()(EVP_PKEY_CTX* context) const { EVP_PKEY_CTX_free(context); }
};
using Pkey = std::unique_ptr<EVP_PKEY, Free>;

// `read` is PEM_read_bio_PrivateKey or PEM_read_bio_PUBKEY.
template <typename Read>
Pkey read_pem(const std::string& pem, Read read) {
  const std::unique_ptr<BIO, Free> bio(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
  Pkey key(bio ? read(bio.get(), nullptr, nullptr, nullptr) : nullptr);
  require(key != nullptr, "read a key");
  return key;
}

}  // namespace

RsaPeer::RsaPeer(uint32_t bits) : RsaPeer(EVP_RSA_gen(bits)) {}

RsaPeer::RsaPeer(EVP_PKEY* key) : key_(key) {
  require(key_ != nullptr, "make an RSA key");
  sign_ = make_context(EVP_PKEY_sign_init, RSA_PKCS1_PADDING);
  verify_ = make_context(EVP_PKEY_verify_init, RSA_PKCS1_PADDING);
  encrypt_ = make_context(EVP_PKEY_encrypt_init, RSA_PKCS1_OAEP_PADDING);
  decrypt_ = make_context(EVP_PKEY_decrypt_init, RSA_PKCS1_OAEP_PADDING);
  encrypt_raw_ = make_context(EVP_PKEY_encrypt_init, RSA_NO_PADDING);
  decrypt_raw_ = make_context(EVP_PKEY_decrypt_init, RSA_NO_PADDING);
  for (EVP_PKEY_CTX* context : {sign_.get(), verify_.get()}) {
    require(EVP_PKEY_CTX_set_signature_md(context, EVP_sha256()) == 1, "set SHA-256");
  }
  // MGF1's follows.
  for (EVP_PKEY_CTX* context : {encrypt_.get(), decrypt_.get()}) {
    require(EVP_PKEY_CTX_set_rsa_oaep_md(context, EVP_sha256()) == 1, "set SHA-256");
  }
}

RsaPeer RsaPeer::copy() const { return RsaPeer(EVP_PKEY_dup(key_.get())); }

RsaPeer::Context RsaPeer::make_context(int (*start)(EVP_PKEY_CTX*), int padding) const {
  Context context(EVP_PKEY_CTX_new(key_.get(), nullptr));
  require(context && start(context.get()) == 1, "set up RSA");
  require(EVP_PKEY_CTX_set_rsa_padding(context.get(), padding) == 1, "set the padding");
  return context;
}

std::vector<uint8_t> RsaPeer::private_key() const {
  unsigned char* der = nullptr;
  const int length = i2d_PrivateKey(key_.get(), &der);
  require(length > 0, "write the key");
  std::vector<uint8_t> bytes(der, der + length);
  OPENSSL_clear_free(der, static_cast<size_t>(length));
  return bytes;
}

void RsaPeer::sign(std::span<const uint8_t> digest, std::span<uint8_t> signature) {
  size_t length = signature.size();
  require(EVP_PKEY_sign(sign_.get(), signature.data(), &length, digest.data(), digest.size()) == 1, "sign");
}

bool RsaPeer::verify(std::span<const uint8_t> digest, std::span<const uint8_t> signature) {
  return EVP_PKEY_verify(verify_.get(), signature.data(), signature.size(), digest.data(), digest.size()) == 1;
}

void RsaPeer::encrypt(std::span<const uint8_t> message, std::span<uint8_t> ciphertext) {
  size_t length = ciphertext.size();
  require(EVP_PKEY_encrypt(encrypt_.get(), ciphertext.data(), &length, message.data(), message.size()) == 1, "encrypt");
}

uint64_t RsaPeer::decrypt(std::span<const uint8_t> ciphertext, std::span<uint8_t> message) {
  size_t length = message.size();
  require(EVP_PKEY_decrypt(decrypt_.get(), message.data(), &length, ciphertext.data(), ciphertext.size()) == 1,
          "decrypt");
  return length;
}

void RsaPeer::decrypt_raw(std::span<const uint8_t> in, std::span<uint8_t> out) {
  size_t length = out.size();
  require(EVP_PKEY_decrypt(decrypt_raw_.get(), out.data(), &length, in.data(), in.size()) == 1, "decrypt");
}

void RsaPeer::encrypt_raw(std::span<const uint8_t> in, std::span<uint8_t> out) {
  size_t length = out.size();
  require(EVP_PKEY_encrypt(encrypt_raw_.get(), out.data(), &length, in.data(), in.size()) == 1, "encrypt");
}

void peer_generate_key(uint32_t bits) {
  const std::unique_ptr<EVP_PKEY_CTX, Free> context(EVP_PKEY_CTX_new_from_name(nullptr, "RSA", nullptr));
  require(context && EVP_PKEY_keygen_init(context.get()) == 1, "set up RSA");
  require(EVP_PKEY_CTX_set_rsa_keygen_bits(context.get(), static_cast<int>(bits)) == 1, "set the size of a key");
  EVP_PKEY* made = nullptr;
  require(EVP_PKEY_keygen(context.get(), &made) == 1, "generate a key");
  const Pkey owned(made);
}

void peer_load_private(const std::string& pem) {
  const Pkey key = read_pem(pem, PEM_read_bio_PrivateKey);
  const std::unique_ptr<EVP_PKEY_CTX, Free> context(EVP_PKEY_CTX_new(key.get(), nullptr));
  require(context && EVP_PKEY_check(context.get()) == 1, "agree with a private key");
}

void peer_load_public(const std::string& pem) { read_pem(pem, PEM_read_bio_PUBKEY); }

}  // namespace stockade::bench
