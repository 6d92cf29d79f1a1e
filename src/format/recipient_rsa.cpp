// -> rsa-oaep-sha256 <id, 22 characters>
// An RSA key: the file key in RSAES-OAEP (RFC 8017 7.1) with SHA-256, MGF1 with SHA-256, and the label "stockade/v1".
#include <cstring>

#include "base/without_throwing.h"
#include "format/base64.h"
#include "format/recipient.h"
#include "libcrypto/derive.h"
#include "libcrypto/hash.h"
#include "rsa/key_files.h"
#include "rsa/operation.h"

namespace stockade::format {
namespace {

constexpr uint64_t id_bytes = 16;
constexpr uint64_t least_body_bytes = rsa::least_bits / 8, most_body_bytes = bignum::most_bits / 8;

rsa::Oaep oaep() {
  return {.hash = libcrypto::Hash::sha256, .mask_hash = libcrypto::Hash::sha256, .label = bytes_of("stockade/v1")};
}

Status add(Keyring& keyring, std::unique_ptr<Keyring::RsaKey> added) {
  if (const Status status = rsa_key_id(added->key(), added->id); status != STOCKADE_OK) return status;
  for (const auto& key : keyring.rsa_keys) {
    if (key->id == added->id) return STOCKADE_ERROR_ARGUMENT;
  }
  keyring.rsa_keys.push_back(std::move(added));
  return STOCKADE_OK;
}

}  // namespace

bool is_rsa_stanza_valid(const Stanza& stanza) {
  return stanza.arguments.size() == 1 && is_base64_of(stanza.arguments[0], id_bytes) &&
         stanza.body.size() >= least_body_bytes && stanza.body.size() <= most_body_bytes;
}

std::string_view rsa_recipient(const Stanza& stanza) { return stanza.arguments[0]; }

Status rsa_key_id(const rsa::PublicKey& key, std::string& id) {
  return without_throwing([&] {
    std::vector<uint8_t> der;
    if (const Status status = rsa::write_public_key_der(key, der); status != STOCKADE_OK) return status;
    const Bytes parts[] = {der};
    uint8_t digest[32];
    if (const Status status = libcrypto::hash_parts(libcrypto::Hash::sha256, parts, digest); status != STOCKADE_OK)
      return status;
    id.clear();
    append_base64(id, {digest, id_bytes});
    return STOCKADE_OK;
  });
}

Status add_rsa_key(Keyring& keyring, rsa::PublicKey key) {
  return without_throwing([&] {
    auto added = std::make_unique<Keyring::RsaKey>();
    added->public_only = std::move(key);
    return add(keyring, std::move(added));
  });
}

Status add_rsa_key(Keyring& keyring, std::unique_ptr<rsa::PrivateKey> key) {
  return without_throwing([&] {
    auto added = std::make_unique<Keyring::RsaKey>();
    added->private_key = std::move(key);
    return add(keyring, std::move(added));
  });
}

Status wrap_for_rsa(std::span<const std::unique_ptr<Keyring::RsaKey>> keys, const uint8_t file_key[file_key_bytes],
                    RandomSource& random, std::span<Stanza> stanzas) {
  return without_throwing([&] {
    std::vector<rsa::Encryption> batch;
    for (size_t i = 0; i < keys.size(); ++i) {
      const rsa::PublicKey& key = keys[i]->key();
      stanzas[i] = {std::string(rsa_kind), {keys[i]->id}, std::vector<uint8_t>(key.bytes())};
      batch.push_back({.key = &key, .message = {file_key, file_key_bytes}, .ciphertext = stanzas[i].body});
    }
    return rsa::encrypt_many(oaep(), batch, random);
  });
}

Status unwrap_with_rsa(const rsa::PrivateKey& key, const Stanza& stanza, uint8_t file_key[file_key_bytes],
                       bool* opened) {
  *opened = false;
  if (stanza.body.size() != key.public_key().bytes()) return STOCKADE_OK;
  SecretBuffer message(static_cast<size_t>(rsa::oaep_capacity(oaep(), stanza.body.size())));
  if (message.data() == nullptr) return STOCKADE_ERROR_MEMORY;
  rsa::Decryption decryption{.key = &key, .ciphertext = stanza.body, .message = {message.data(), message.size()}};
  const Status status = rsa::decrypt_many(oaep(), {&decryption, 1}, system_random());
  // A number that is not below the modulus is damage like any other.
  if (status == STOCKADE_ERROR_DECRYPTION || status == STOCKADE_ERROR_RSA_RANGE) return STOCKADE_OK;
  if (status != STOCKADE_OK || decryption.length != file_key_bytes) return status;
  std::memcpy(file_key, message.data(), file_key_bytes);
  *opened = true;
  return STOCKADE_OK;
}

}  // namespace stockade::format
