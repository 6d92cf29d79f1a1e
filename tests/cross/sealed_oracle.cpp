#include "cross/sealed_oracle.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/sha.h>

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

Bytes oracle_file(stockade_cipher cipher, const std::vector<Bytes>& keys, const Bytes& file_key,
                  const std::vector<Bytes>& key_salts, const Bytes& salt, const Bytes& plaintext) {
  std::string header = std::string("stockade/v1\ncipher ") + name_of(cipher) + "\n";
  for (size_t i = 0; i < keys.size(); ++i) header += key_stanza(keys[i], key_salts[i], file_key);
  constexpr uint64_t closing = 3 + 1 + 43 + 1;
  header += padding(header.size() + closing);
  header += "---";
  const Bytes mac_key = oracle_hkdf_expand(file_key, text("stockade/v1 header"), 32);
  header += " " + oracle_base64(hmac(EVP_sha256(), mac_key, text(header))) + "\n";
  const Bytes input_key = oracle_hkdf_expand(file_key, text(std::string("stockade/v1 payload ") + name_of(cipher)),
                                             cipher == STOCKADE_COBBLESTONE_128 ? 16 : 32);
  return concatenate({text(header), oracle_payload(cipher, input_key, salt, {}, plaintext)});
}

}  // namespace stockade::tests
