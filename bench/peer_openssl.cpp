#include "peer_openssl.h"

#include <openssl/crypto.h>

#include <algorithm>
#include <cstring>
#include <stdexcept>

namespace stockade::bench {
namespace {

const char* mode_name(stockade_mode mode) {
  switch (mode) {
    case STOCKADE_ECB:
      return "ECB";
    case STOCKADE_CBC:
      return "CBC";
    case STOCKADE_CFB:
      return "CFB";
    case STOCKADE_OFB:
      return "OFB";
    case STOCKADE_CTR:
      return "CTR";
    case STOCKADE_XTS:
      return "XTS";
    case STOCKADE_GCM:
      return "GCM";
  }
  return "";
}

}  // namespace

std::string peer_version() { return OpenSSL_version(OPENSSL_VERSION); }

OpensslPeer::OpensslPeer(stockade_mode mode, uint32_t bits, stockade_direction direction, const uint8_t* key)
    : context_(EVP_CIPHER_CTX_new()), mode_(mode), decrypts_(direction == STOCKADE_DECRYPT) {
  const std::string name = "AES-" + std::to_string(bits) + "-" + mode_name(mode);
  const std::unique_ptr<EVP_CIPHER, decltype(&EVP_CIPHER_free)> cipher(EVP_CIPHER_fetch(nullptr, name.c_str(), nullptr),
                                                                       EVP_CIPHER_free);
  if (!context_ || !cipher ||
      EVP_CipherInit_ex2(context_.get(), cipher.get(), key, nullptr, decrypts_ ? 0 : 1, nullptr) != 1 ||
      EVP_CIPHER_CTX_set_padding(context_.get(), 0) != 1) {
    throw std::runtime_error("libcrypto cannot set up " + name);
  }
}

bool OpensslPeer::rekey(const uint8_t* key) {
  return EVP_CipherInit_ex2(context_.get(), nullptr, key, nullptr, -1, nullptr) == 1;
}

// EVP counts in int.
bool OpensslPeer::update(const uint8_t* in, uint64_t length, uint8_t* out) {
  constexpr uint64_t most = uint64_t{1} << 30;
  for (uint64_t done = 0; done < length; done += most) {
    int written = 0;
    if (EVP_CipherUpdate(context_.get(), out + done, &written, in + done,
                         static_cast<int>(std::min(most, length - done))) != 1) {
      return false;
    }
  }
  return true;
}

bool OpensslPeer::message(const uint8_t* iv, const uint8_t* in, uint64_t length, uint8_t* out, uint8_t* tag) {
  EVP_CIPHER_CTX* context = context_.get();
  // ECB keeps no state between whole blocks, so there is nothing to set anew.
  if (mode_ == STOCKADE_ECB) return update(in, length, out);
  if (EVP_CipherInit_ex2(context, nullptr, nullptr, iv, -1, nullptr) != 1) return false;
  if (mode_ != STOCKADE_GCM) return update(in, length, out);
  if (decrypts_ && EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, 16, tag) != 1) return false;
  int written = 0;
  if (!update(in, length, out) || EVP_CipherFinal_ex(context, out + length, &written) != 1) return false;
  return decrypts_ || EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, 16, tag) == 1;
}

bool OpensslPeer::units(const uint8_t* iv, uint64_t unit, const uint8_t* in, uint64_t length, uint8_t* out) {
  uint8_t tweak[16];
  std::memcpy(tweak, iv, sizeof tweak);
  for (uint64_t done = 0; done < length; done += unit) {
    if (!message(tweak, in + done, std::min(unit, length - done), out + done, nullptr)) return false;
    for (size_t i = 0; i < sizeof tweak && ++tweak[i] == 0; ++i) {
    }
  }
  return true;
}

}  // namespace stockade::bench
