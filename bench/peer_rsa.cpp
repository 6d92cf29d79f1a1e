#include "peer_rsa.h"

#include <openssl/rsa.h>
#include <openssl/x509.h>

#include <stdexcept>

namespace stockade::bench {
namespace {

void require(bool done, const char* what) {
  if (!done) throw std::runtime_error(std::string("libcrypto cannot ") + what);
}

}  // namespace

RsaPeer::RsaPeer(uint32_t bits) : key_(EVP_RSA_gen(bits)) {
  require(key_ != nullptr, "generate an RSA key");
  sign_ = make_context(EVP_PKEY_sign_init, RSA_PKCS1_PADDING);
  verify_ = make_context(EVP_PKEY_verify_init, RSA_PKCS1_PADDING);
  decrypt_ = make_context(EVP_PKEY_decrypt_init, RSA_NO_PADDING);
  encrypt_ = make_context(EVP_PKEY_encrypt_init, RSA_NO_PADDING);
  require(EVP_PKEY_CTX_set_signature_md(sign_.get(), EVP_sha256()) == 1, "set SHA-256");
  require(EVP_PKEY_CTX_set_signature_md(verify_.get(), EVP_sha256()) == 1, "set SHA-256");
}

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

void RsaPeer::decrypt_raw(std::span<const uint8_t> in, std::span<uint8_t> out) {
  size_t length = out.size();
  require(EVP_PKEY_decrypt(decrypt_.get(), out.data(), &length, in.data(), in.size()) == 1, "decrypt");
}

void RsaPeer::encrypt_raw(std::span<const uint8_t> in, std::span<uint8_t> out) {
  size_t length = out.size();
  require(EVP_PKEY_encrypt(encrypt_.get(), out.data(), &length, in.data(), in.size()) == 1, "encrypt");
}

}  // namespace stockade::bench
