// -> scrypt <salt, 22 characters> <log2 N>
// A passphrase: wrap key = scrypt(passphrase, "stockade/v1 scrypt" || salt) with r = 8 and p = 1.
#include <algorithm>
#include <charconv>

#include "base/without_throwing.h"
#include "format/base64.h"
#include "format/recipient.h"
#include "libcrypto/derive.h"

namespace stockade::format {
namespace {

constexpr std::string_view label = "stockade/v1 scrypt";
constexpr uint32_t max_log2_n = 63;

// 0 for what is no decimal number from 1 to 63, or has a leading zero.
uint32_t parse_log2_n(std::string_view text) {
  uint32_t log2_n = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), log2_n);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  return whole && text[0] != '0' && log2_n <= max_log2_n ? log2_n : 0;
}

Status derive_wrap_key(const Keyring& keyring, Bytes salt, uint32_t log2_n, uint8_t wrap_key[wrap_key_bytes]) {
  uint8_t labelled[label.size() + stanza_salt_bytes];
  std::copy_n(salt.data(), stanza_salt_bytes, std::copy(label.begin(), label.end(), labelled));
  return libcrypto::scrypt({keyring.passphrase.data(), keyring.passphrase_length}, labelled, log2_n,
                           {wrap_key, wrap_key_bytes});
}

}  // namespace

bool is_scrypt_stanza_valid(const Stanza& stanza) {
  return stanza.arguments.size() == 2 && is_base64_of(stanza.arguments[0], stanza_salt_bytes) &&
         parse_log2_n(stanza.arguments[1]) != 0 && stanza.body.size() == sealed_key_bytes;
}

uint32_t stanza_work_factor(const Stanza& stanza) { return parse_log2_n(stanza.arguments[1]); }

Status wrap_for_passphrase(const Keyring& keyring, const uint8_t file_key[file_key_bytes], RandomSource& random,
                           Stanza& stanza) {
  uint8_t salt[stanza_salt_bytes];
  if (const Status status = random.fill(salt, sizeof salt); status != STOCKADE_OK) return status;
  return without_throwing([&] {
    Secret<uint8_t[wrap_key_bytes]> wrap_key;
    const Status status = derive_wrap_key(keyring, salt, keyring.work_factor, *wrap_key);
    if (status != STOCKADE_OK) return status;
    std::string salt_text;
    append_base64(salt_text, salt);
    stanza = {std::string(scrypt_kind),
              {salt_text, std::to_string(keyring.work_factor)},
              std::vector<uint8_t>(sealed_key_bytes)};
    return seal_file_key(*wrap_key, file_key, stanza.body.data());
  });
}

Status unwrap_with_passphrase(const Keyring& keyring, const Stanza& stanza, uint8_t file_key[file_key_bytes],
                              bool* opened) {
  *opened = false;
  return without_throwing([&] {
    Secret<uint8_t[wrap_key_bytes]> wrap_key;
    const std::vector<uint8_t> salt = argument_bytes(stanza.arguments[0]);
    const Status status = derive_wrap_key(keyring, salt, stanza_work_factor(stanza), *wrap_key);
    return status == STOCKADE_OK ? open_file_key(*wrap_key, stanza.body.data(), file_key, opened) : status;
  });
}

}  // namespace stockade::format
