#include "cross/sealed_oracle.h"

#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/sha.h>
#include <openssl/x509.h>

#include <memory>

#include "cross/oracle.h"

namespace stockade::tests {
namespace {

Bytes concatenate(const std::vector<Bytes>& parts) {
  Bytes all;
  for (const Bytes& part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}

Bytes text(const std::string& characters) { return Bytes(characters.begin(), characters.end()); }

Bytes hmac(const EVP_MD* hash, const Bytes& key, const Bytes& message) {
  Bytes mac(EVP_MAX_MD_SIZE);
  unsigned length = 0;
  HMAC(hash, key.data(), static_cast<int>(key.size()), message.data(), message.size(), mac.data(), &length);
  mac.resize(length);
  return mac;
}

const char* name_of(stockade_cipher cipher) {
  return cipher == STOCKADE_COBBLESTONE_128 ? "cobblestone-128" : "cobblestone-256";
}

std::string key_stanza(const Bytes& key, const Bytes& salt, const Bytes& file_key) {
  const Bytes named = concatenate({text("stockade/v1 key id"), key});
  Bytes id = digest(named.data(), named.size());
  id.resize(8);
  const Bytes wrap_key = oracle_hkdf_expand(key, concatenate({text("stockade/v1 key wrap"), salt}), 32);
  const Sealed sealed = oracle_seal(wrap_key, Bytes(12), {}, file_key, 16);
  // 48 bytes are 64 characters: one full line, and an empty one that ends the body.
  return "-> key " + oracle_base64(id) + " " + oracle_base64(salt) + "\n" +
         oracle_base64(concatenate({sealed.ciphertext, sealed.tag})) + "\n\n";
}

// RFC 8017 B.2.1 with SHA-256.
Bytes masked(Bytes data, const Bytes& seed) {
  for (uint8_t number = 0; uint64_t{number} * 32 < data.size(); ++number) {
    const Bytes input = concatenate({seed, {0, 0, 0, number}}), mask = digest(input.data(), input.size());
    for (uint64_t i = 0; i < 32 && number * 32 + i < data.size(); ++i) data[number * 32 + i] ^= mask[i];
  }
  return data;
}

// RFC 8017 7.1.1 step 2 with SHA-256, for a modulus of `length` bytes.
Bytes oaep(const Bytes& message, const std::string& label, const Bytes& seed, uint64_t length) {
  const Bytes start = digest(reinterpret_cast<const uint8_t*>(label.data()), label.size());
  const Bytes zeros(length - message.size() - 2 * 32 - 2);
  const Bytes block = masked(concatenate({start, zeros, {1}, message}), seed);
  return concatenate({{0}, masked(seed, block), block});
}

using Number = std::unique_ptr<BIGNUM, decltype(&BN_free)>;

Number parameter(const EVP_PKEY* key, const char* name) {
  BIGNUM* value = nullptr;
  EVP_PKEY_get_bn_param(key, name, &value);
  return {value, BN_free};
}

Bytes power(const EVP_PKEY* key, const Bytes& number) {
  const Number n = parameter(key, OSSL_PKEY_PARAM_RSA_N), e = parameter(key, OSSL_PKEY_PARAM_RSA_E);
  const Number value(BN_bin2bn(number.data(), static_cast<int>(number.size()), nullptr), BN_free);
  const std::unique_ptr<BN_CTX, decltype(&BN_CTX_free)> context(BN_CTX_new(), BN_CTX_free);
  BN_mod_exp(value.get(), value.get(), e.get(), n.get(), context.get());
  Bytes out(number.size());
  BN_bn2binpad(value.get(), out.data(), static_cast<int>(out.size()));
  return out;
}

std::string pad_stanza(uint64_t zeros) {
  std::string body = oracle_base64(Bytes(zeros)), lines;
  for (; body.size() >= 64; body.erase(0, 64)) lines += body.substr(0, 64) + "\n";
  return "-> pad\n" + lines + body + "\n";
}

// Padding for a header of `length` bytes without it, looked for by trying: no stanza, one, or two of which the first is as
// small as can be.
std::string padding(uint64_t length) {
  for (uint64_t whole = (length + 1023) / 1024 * 1024;; whole += 1024) {
    if (whole == length) return "";
    for (uint64_t zeros = 0; zeros < 1024; ++zeros) {
      if (length + pad_stanza(zeros).size() == whole) return pad_stanza(zeros);
    }
    for (uint64_t first = 0; first < 4; ++first) {
      for (uint64_t zeros = 0; zeros < 1024; ++zeros) {
        const std::string both = pad_stanza(first) + pad_stanza(zeros);
        if (length + both.size() == whole) return both;
      }
    }
  }
}

}  // namespace

Bytes oracle_hkdf_expand(const Bytes& key, const Bytes& info, uint64_t length) {
  Bytes out, block;
  for (uint8_t i = 1; out.size() < length; ++i) {
    block = hmac(EVP_sha512(), key, concatenate({block, info, {i}}));
    out.insert(out.end(), block.begin(), block.end());
  }
  out.resize(length);
  return out;
}

std::string oracle_base64(const Bytes& bytes) {
  std::string encoded(bytes.size() / 3 * 4 + 8, '\0');
  encoded.resize(static_cast<size_t>(
      EVP_EncodeBlock(reinterpret_cast<unsigned char*>(encoded.data()), bytes.data(), static_cast<int>(bytes.size()))));
  while (encoded.ends_with('=')) encoded.pop_back();
  return encoded;
}

Bytes oracle_payload(stockade_cipher cipher, const Bytes& input_key, const Bytes& salt, const Bytes& context,
                     const Bytes& plaintext) {
  const std::string aead = cipher == STOCKADE_COBBLESTONE_128 ? "AEAD_AES_128_GCM" : "AEAD_AES_256_GCM";
  const Bytes info = concatenate({text("c2sp.org/chunked-encryption@v1+" + aead), {0}, salt, context});
  const Bytes derived = oracle_hkdf_expand(input_key, info, input_key.size() + 12 + 32);
  const auto split = derived.begin() + static_cast<std::ptrdiff_t>(input_key.size());
  const Bytes key(derived.begin(), split), base(split, split + 12), commitment(split + 12, derived.end());
  Bytes payload = concatenate({salt, commitment});
  for (uint64_t chunk = 0, done = 0;; ++chunk) {
    const uint64_t length = std::min<uint64_t>(16384, plaintext.size() - done);
    Bytes nonce = base;
    for (int i = 0; i < 8; ++i) nonce[static_cast<size_t>(11 - i)] ^= static_cast<uint8_t>(chunk >> (8 * i));
    const Sealed sealed = oracle_seal(key, nonce, {}, plaintext.data() + done, length, 16);
    payload.insert(payload.end(), sealed.ciphertext.begin(), sealed.ciphertext.end());
    payload.insert(payload.end(), sealed.tag.begin(), sealed.tag.end());
    done += length;
    if (length < 16384) return payload;
  }
}

std::string oracle_rsa_stanza(const EVP_PKEY* key, const Bytes& seed, const Bytes& file_key) {
  uint8_t* info = nullptr;
  const int length = i2d_PUBKEY(key, &info);
  Bytes id = digest(info, static_cast<uint64_t>(length));
  OPENSSL_free(info);
  id.resize(16);
  const auto bytes = static_cast<uint64_t>(EVP_PKEY_get_size(key));
  std::string body = oracle_base64(power(key, oaep(file_key, "stockade/v1", seed, bytes))), lines;
  for (; body.size() >= 64; body.erase(0, 64)) lines += body.substr(0, 64) + "\n";
  return "-> rsa-oaep-sha256 " + oracle_base64(id) + "\n" + lines + body + "\n";
}

Bytes oracle_file_of(stockade_cipher cipher, const std::string& stanzas, const Bytes& file_key, const Bytes& salt,
                     const Bytes& plaintext) {
  std::string header = std::string("stockade/v1\ncipher ") + name_of(cipher) + "\n" + stanzas;
  constexpr uint64_t closing = 3 + 1 + 43 + 1;
  header += padding(header.size() + closing);
  header += "---";
  const Bytes mac_key = oracle_hkdf_expand(file_key, text("stockade/v1 header"), 32);
  header += " " + oracle_base64(hmac(EVP_sha256(), mac_key, text(header))) + "\n";
  const Bytes input_key = oracle_hkdf_expand(file_key, text(std::string("stockade/v1 payload ") + name_of(cipher)),
                                             cipher == STOCKADE_COBBLESTONE_128 ? 16 : 32);
  return concatenate({text(header), oracle_payload(cipher, input_key, salt, {}, plaintext)});
}

Bytes oracle_file(stockade_cipher cipher, const std::vector<Bytes>& keys, const Bytes& file_key,
                  const std::vector<Bytes>& key_salts, const Bytes& salt, const Bytes& plaintext) {
  std::string stanzas;
  for (size_t i = 0; i < keys.size(); ++i) stanzas += key_stanza(keys[i], key_salts[i], file_key);
  return oracle_file_of(cipher, stanzas, file_key, salt, plaintext);
}

}  // namespace stockade::tests
