// -> key <id, 11 characters> <salt, 22 characters>
// A symmetric key of 32 random bytes: wrap key = HKDF-Expand(SHA-512, key, "stockade/v1 key wrap" || salt, 32).
#include "base/without_throwing.h"
#include "format/base64.h"
#include "format/recipient.h"
#include "libcrypto/derive.h"
#include "libcrypto/hash.h"

namespace stockade::format {
namespace {

constexpr uint64_t id_bytes = 8;

Status derive_wrap_key(const Keyring::SymmetricKey& key, Bytes salt, uint8_t wrap_key[wrap_key_bytes]) {
  const Bytes info[] = {bytes_of("stockade/v1 key wrap"), salt};
  return libcrypto::hkdf_expand(*key.bytes, info, {wrap_key, wrap_key_bytes});
}

}  // namespace

bool is_key_stanza_valid(const Stanza& stanza) {
  return stanza.arguments.size() == 2 && is_base64_of(stanza.arguments[0], id_bytes) &&
         is_base64_of(stanza.arguments[1], stanza_salt_bytes) && stanza.body.size() == sealed_key_bytes;
}

std::string_view key_recipient(const Stanza& stanza) { return stanza.arguments[0]; }

Status key_id(std::span<const uint8_t> key, std::string& id) {
  const Bytes parts[] = {bytes_of("stockade/v1 key id"), key};
  uint8_t digest[32];
  if (const Status status = libcrypto::hash_parts(libcrypto::Hash::sha256, parts, digest); status != STOCKADE_OK)
    return status;
  return without_throwing([&] {
    id.clear();
    append_base64(id, {digest, id_bytes});
    return STOCKADE_OK;
  });
}

Status wrap_for_key(const Keyring::SymmetricKey& key, const uint8_t file_key[file_key_bytes], RandomSource& random,
                    Stanza& stanza) {
  uint8_t salt[stanza_salt_bytes];
  if (const Status status = random.fill(salt, sizeof salt); status != STOCKADE_OK) return status;
  Secret<uint8_t[wrap_key_bytes]> wrap_key;
  if (const Status status = derive_wrap_key(key, salt, *wrap_key); status != STOCKADE_OK) return status;
  std::string id;
  if (const Status status = key_id(*key.bytes, id); status != STOCKADE_OK) return status;
  return without_throwing([&] {
    std::string salt_text;
    append_base64(salt_text, salt);
    stanza = {std::string(key_kind), {id, salt_text}, std::vector<uint8_t>(sealed_key_bytes)};
    return seal_file_key(*wrap_key, file_key, stanza.body.data());
  });
}

Status unwrap_with_key(const Keyring::SymmetricKey& key, const Stanza& stanza, uint8_t file_key[file_key_bytes],
                       bool* opened) {
  *opened = false;
  return without_throwing([&] {
    Secret<uint8_t[wrap_key_bytes]> wrap_key;
    const Status status = derive_wrap_key(key, argument_bytes(stanza.arguments[1]), *wrap_key);
    return status == STOCKADE_OK ? open_file_key(*wrap_key, stanza.body.data(), file_key, opened) : status;
  });
}

}  // namespace stockade::format
