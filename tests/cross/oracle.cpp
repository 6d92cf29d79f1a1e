#include "cross/oracle.h"

#include <openssl/evp.h>

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <string>

namespace stockade::tests {

namespace {

struct ContextDeleter {
  void operator()(EVP_CIPHER_CTX* context) const { EVP_CIPHER_CTX_free(context); }
};
using Context = std::unique_ptr<EVP_CIPHER_CTX, ContextDeleter>;

void require(int ok, const char* what) {
  if (ok != 1) throw std::runtime_error(std::string("OpenSSL refused: ") + what);
}

// Fetched once: the look-up by name is slower than a short message.
const EVP_CIPHER* cipher_of(stockade_mode mode, size_t key_length) {
  constexpr const char* names[] = {"ECB", "CBC", "CFB", "OFB", "CTR", "XTS", "GCM"};
  static EVP_CIPHER* fetched[7][3] = {};
  const size_t bits = key_length * (mode == STOCKADE_XTS ? 4 : 8);
  EVP_CIPHER*& cipher = fetched[mode][(bits - 128) / 64];
  if (cipher == nullptr) {
    const std::string name = "AES-" + std::to_string(bits) + "-" + names[mode];
    cipher = EVP_CIPHER_fetch(nullptr, name.c_str(), nullptr);
    if (cipher == nullptr) throw std::runtime_error("OpenSSL lacks " + name);
  }
  return cipher;
}

Context start(stockade_mode mode, stockade_direction direction, const Bytes& key, const Bytes& iv) {
  Context context(EVP_CIPHER_CTX_new());
  const int encrypting = direction == STOCKADE_ENCRYPT ? 1 : 0;
  require(EVP_CipherInit_ex2(context.get(), cipher_of(mode, key.size()), nullptr, nullptr, encrypting, nullptr),
          "cipher");
  if (mode == STOCKADE_GCM) {
    require(EVP_CIPHER_CTX_ctrl(context.get(), EVP_CTRL_AEAD_SET_IVLEN, static_cast<int>(iv.size()), nullptr),
            "IV length");
  }
  require(EVP_CipherInit_ex2(context.get(), nullptr, key.data(), mode == STOCKADE_ECB ? nullptr : iv.data(), encrypting,
                             nullptr),
          "key and IV");
  EVP_CIPHER_CTX_set_padding(context.get(), 0);
  return context;
}

// EVP counts in int, so long messages go in pieces; an XTS data unit is never that long.
uint64_t update(EVP_CIPHER_CTX* context, const uint8_t* in, uint64_t length, uint8_t* out) {
  constexpr uint64_t piece = uint64_t{1} << 28;
  uint64_t written = 0;
  for (uint64_t done = 0; done < length; done += piece) {
    const int size = static_cast<int>(std::min(piece, length - done));
    int count = 0;
    require(EVP_CipherUpdate(context, out == nullptr ? nullptr : out + written, &count, in + done, size), "data");
    written += static_cast<uint64_t>(count);
  }
  return written;
}

}  // namespace

Bytes oracle_crypt(stockade_mode mode, stockade_direction direction, const Bytes& key, const Bytes& iv,
                   const uint8_t* in, uint64_t length) {
  const Context context = start(mode, direction, key, iv);
  Bytes out(length + 16);
  const uint64_t written = update(context.get(), in, length, out.data());
  int last = 0;
  require(EVP_CipherFinal_ex(context.get(), out.data() + written, &last), "end");
  out.resize(written + static_cast<uint64_t>(last));
  if (out.size() != length) throw std::runtime_error("OpenSSL wrote another length");
  return out;
}

std::optional<Bytes> oracle_padded(stockade_mode mode, stockade_direction direction, const Bytes& key, const Bytes& iv,
                                   const Bytes& in) {
  const Context context = start(mode, direction, key, iv);
  EVP_CIPHER_CTX_set_padding(context.get(), 1);
  Bytes out(in.size() + 32);
  const uint64_t written = update(context.get(), in.data(), in.size(), out.data());
  int last = 0;
  if (EVP_CipherFinal_ex(context.get(), out.data() + written, &last) != 1) return std::nullopt;
  out.resize(written + static_cast<uint64_t>(last));
  return out;
}

Bytes oracle_units(stockade_direction direction, const Bytes& key, const Bytes& first, uint64_t unit, const Bytes& in) {
  Bytes number = first, out;
  for (uint64_t done = 0; done < in.size(); done += unit) {
    const uint64_t size = std::min<uint64_t>(unit, in.size() - done);
    const Bytes part = oracle_crypt(STOCKADE_XTS, direction, key, number, in.data() + done, size);
    out.insert(out.end(), part.begin(), part.end());
    for (uint8_t& byte : number) {
      if (++byte != 0) break;
    }
  }
  return out;
}

Sealed oracle_seal(const Bytes& key, const Bytes& iv, const Bytes& aad, const uint8_t* in, uint64_t length,
                   uint64_t tag_length) {
  const Context context = start(STOCKADE_GCM, STOCKADE_ENCRYPT, key, iv);
  update(context.get(), aad.data(), aad.size(), nullptr);
  Sealed sealed{Bytes(length + 16), Bytes(tag_length)};
  const uint64_t written = update(context.get(), in, length, sealed.ciphertext.data());
  int last = 0;
  require(EVP_CipherFinal_ex(context.get(), sealed.ciphertext.data() + written, &last), "end");
  sealed.ciphertext.resize(length);
  require(EVP_CIPHER_CTX_ctrl(context.get(), EVP_CTRL_AEAD_GET_TAG, static_cast<int>(tag_length), sealed.tag.data()),
          "tag");
  return sealed;
}

std::optional<Bytes> oracle_open(const Bytes& key, const Bytes& iv, const Bytes& aad, const Bytes& in,
                                 const Bytes& tag) {
  const Context context = start(STOCKADE_GCM, STOCKADE_DECRYPT, key, iv);
  update(context.get(), aad.data(), aad.size(), nullptr);
  Bytes out(in.size() + 16);
  update(context.get(), in.data(), in.size(), out.data());
  Bytes expected = tag;
  require(EVP_CIPHER_CTX_ctrl(context.get(), EVP_CTRL_AEAD_SET_TAG, static_cast<int>(tag.size()), expected.data()),
          "tag");
  int last = 0;
  if (EVP_CipherFinal_ex(context.get(), out.data() + in.size(), &last) != 1) return std::nullopt;
  out.resize(in.size());
  return out;
}

Bytes digest(const uint8_t* bytes, uint64_t length) {
  Bytes out(32);
  require(EVP_Digest(bytes, length, out.data(), nullptr, EVP_sha256(), nullptr), "digest");
  return out;
}

}  // namespace stockade::tests
