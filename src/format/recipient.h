// Who can open a file. One file for each kind of recipient (recipient_key.cpp, recipient_rsa.cpp,
// recipient_scrypt.cpp), which knows what its stanza looks like, how it wraps the file key, and how it finds and opens
// its own stanza again. The functions that return a status throw nothing.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.h"
#include "base/secret.h"
#include "base/status.h"
#include "format/header.h"
#include "rsa/key.h"

namespace stockade::format {

inline constexpr uint32_t default_work_factor = 17;      // log2 N of files that are made
inline constexpr uint32_t default_max_work_factor = 20;  // of files that are opened
inline constexpr uint64_t symmetric_key_bytes = 32;
// A reader tries so many RSA stanzas of one header. In a header that was made as it should be the first opens.
inline constexpr uint32_t most_private_operations = 16;

// What stockade_keyring holds.
struct Keyring {
  struct SymmetricKey {
    Secret<uint8_t[symmetric_key_bytes]> bytes;
  };
  struct RsaKey {
    std::string id;  // as in the stanza
    rsa::PublicKey public_only;
    std::unique_ptr<rsa::PrivateKey> private_key;  // or null: files can be made for the key, and not be opened with it
    const rsa::PublicKey& key() const { return private_key ? private_key->public_key() : public_only; }
  };
  std::vector<std::unique_ptr<SymmetricKey>> keys;
  std::vector<std::unique_ptr<RsaKey>> rsa_keys;  // no two of one id
  SecretBuffer passphrase;                        // empty: none
  uint64_t passphrase_length = 0;
  uint32_t work_factor = default_work_factor;

  bool has_keys() const { return !keys.empty() || !rsa_keys.empty(); }
  bool empty() const { return !has_keys() && passphrase_length == 0; }
  // Whether there is any file that it opens.
  bool can_open() const;
};

// ARGUMENT (the ring holds the key already), LIBRARY, MEMORY.
Status add_rsa_key(Keyring& keyring, rsa::PublicKey key);
Status add_rsa_key(Keyring& keyring, std::unique_ptr<rsa::PrivateKey> key);

inline constexpr std::string_view key_kind = "key", rsa_kind = "rsa-oaep-sha256", scrypt_kind = "scrypt",
                                  pad_kind = "pad";

// What is known of a kind of stanza. The table in recipient.cpp has a row for each; stanzas of other kinds are kept as
// they are.
struct StanzaKind {
  std::string_view name;
  // Whether arguments and body are those of the kind.
  bool (*is_valid)(const Stanza& stanza);
  // What stockade_header_rekey calls the recipient of a valid stanza; empty where it has none.
  std::string_view (*recipient)(const Stanza& stanza);
  // Whether a header with two stanzas for one recipient is malformed: to try a stanza costs its reader too much.
  bool once;
};
// Null for a kind that is not known.
const StanzaKind* find_kind(std::string_view name);

// The rows' functions.
bool is_key_stanza_valid(const Stanza& stanza);
bool is_rsa_stanza_valid(const Stanza& stanza);
bool is_scrypt_stanza_valid(const Stanza& stanza);
std::string_view key_recipient(const Stanza& stanza);
std::string_view rsa_recipient(const Stanza& stanza);

// 11 characters of base64. LIBRARY, MEMORY.
Status key_id(std::span<const uint8_t> key, std::string& id);
// 22 characters of base64. LIBRARY, MEMORY.
Status rsa_key_id(const rsa::PublicKey& key, std::string& id);

// A stanza that wraps the file key for one key, or for the passphrase. RANDOM, LIBRARY, MEMORY.
Status wrap_for_key(const Keyring::SymmetricKey& key, const uint8_t file_key[file_key_bytes], RandomSource& random,
                    Stanza& stanza);
Status wrap_for_passphrase(const Keyring& keyring, const uint8_t file_key[file_key_bytes], RandomSource& random,
                           Stanza& stanza);
// A stanza for each key, all in one batch. RANDOM, LIBRARY, MEMORY.
Status wrap_for_rsa(std::span<const std::unique_ptr<Keyring::RsaKey>> keys, const uint8_t file_key[file_key_bytes],
                    RandomSource& random, std::span<Stanza> stanzas);

// Opens one valid stanza of the kind. `*opened` says whether the tag, or the padding, was right; nothing else is
// written to `file_key`. It does not ask whose id the stanza bears. LIBRARY, MEMORY; with RSA also RSA_FAULT, RANDOM.
Status unwrap_with_key(const Keyring::SymmetricKey& key, const Stanza& stanza, uint8_t file_key[file_key_bytes],
                       bool* opened);
Status unwrap_with_rsa(const rsa::PrivateKey& key, const Stanza& stanza, uint8_t file_key[file_key_bytes],
                       bool* opened);
Status unwrap_with_passphrase(const Keyring& keyring, const Stanza& stanza, uint8_t file_key[file_key_bytes],
                              bool* opened);
// log2 N of a valid scrypt stanza.
uint32_t stanza_work_factor(const Stanza& stanza);

// What symmetric keys and passphrases have in common: a body that is the file key under AES-256-GCM and a wrap key of
// its own, which is used once, so that its nonce may be zero; and a salt of 16 bytes before that, as 22 characters.
inline constexpr uint64_t wrap_key_bytes = 32, wrap_tag_bytes = 16, sealed_key_bytes = file_key_bytes + wrap_tag_bytes;
inline constexpr uint64_t stanza_salt_bytes = 16;
Status seal_file_key(const uint8_t wrap_key[wrap_key_bytes], const uint8_t file_key[file_key_bytes],
                     uint8_t sealed[sealed_key_bytes]);
Status open_file_key(const uint8_t wrap_key[wrap_key_bytes], const uint8_t sealed[sealed_key_bytes],
                     uint8_t file_key[file_key_bytes], bool* opened);
// Whether an argument is the base64 of `length` bytes.
bool is_base64_of(std::string_view argument, uint64_t length);
// The bytes of an argument that is.
std::vector<uint8_t> argument_bytes(std::string_view argument);

// The same for a whole keyring: appends a stanza for each recipient. `stanzas` is as it was on an error.
// NO_IDENTITY (an empty keyring), SCRYPT_NOT_ALONE, HEADER_TOO_LONG (over max_stanzas), RANDOM, LIBRARY, MEMORY.
Status wrap_file_key(const Keyring& keyring, const uint8_t file_key[file_key_bytes], RandomSource& random,
                     std::vector<Stanza>& stanzas);

// Finds the file key with whatever of the keyring fits, and then checks the header's MAC. After most_private_operations RSA
// stanzas for keys of the ring that did not open, others are passed over. NO_IDENTITY, PASSPHRASE,
// WORK_FACTOR (fault.value: the factor asked for), HEADER_MAC (also where a stanza is for a key of the ring and does
// not open with it), RSA_FAULT, RANDOM, LIBRARY, MEMORY. `max_work_factor` 0 means the default. On an error `file_key`
// is zero.
Status unwrap_file_key(const Keyring& keyring, const Header& header, uint32_t max_work_factor,
                       uint8_t file_key[file_key_bytes], stockade_fault& fault);

// Whether the header, whose MAC has been checked, is for exactly the recipients that `keyring` would give it, in any
// order. It must open with one of them, so a passphrase is tried; a header that does not, or asks for a greater work
// factor, is not the same. A ring of nothing but RSA public keys opens nothing, and there the ids alone decide.
// RSA_FAULT, RANDOM, LIBRARY, MEMORY.
Status same_recipients(const Keyring& keyring, const Header& header, uint32_t max_work_factor, bool* same);

// stockade_header_rekey on an already parsed header of `old_length` bytes. Stanzas that stay, unknown ones too, stay as
// they are and in their order; new ones come behind them, then padding. An empty `add` is like none. NO_IDENTITY,
// PASSPHRASE, WORK_FACTOR, HEADER_MAC, UNKNOWN_NAME, SCRYPT_NOT_ALONE, ARGUMENT, HEADER_TOO_LONG, RANDOM, LIBRARY,
// MEMORY.
Status rekey_header(const Header& header, uint64_t old_length, const Keyring& identities, uint32_t max_work_factor,
                    std::span<const std::string_view> remove, const Keyring* add, RandomSource& random,
                    std::string& renewed, stockade_fault& fault);

}  // namespace stockade::format
