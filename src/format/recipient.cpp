#include "format/recipient.h"

#include <algorithm>
#include <cstring>

#include "base/without_throwing.h"
#include "cipher/key.h"
#include "format/base64.h"
#include "gcm/gcm.h"

namespace stockade::format {
namespace {

std::string_view scrypt_recipient(const Stanza&) { return scrypt_kind; }
bool is_pad_stanza_valid(const Stanza& stanza) { return stanza.arguments.empty(); }
std::string_view no_recipient(const Stanza&) { return {}; }

// Every kind that is known. A kind of recipient is one row here, its recipient_<kind>.cpp, and its turn in wrap_file_key
// and unwrap_file_key.
constexpr StanzaKind stanza_kinds[] = {
    {key_kind, is_key_stanza_valid, key_recipient, false},
    {rsa_kind, is_rsa_stanza_valid, rsa_recipient, true},
    {scrypt_kind, is_scrypt_stanza_valid, scrypt_recipient, false},
    {pad_kind, is_pad_stanza_valid, no_recipient, false},
};

constexpr uint8_t wrap_nonce[12] = {};

// Runs AES-256-GCM under a wrap key over one file key; `tag` is that of the ciphertext.
Status run_wrap(const uint8_t wrap_key[wrap_key_bytes], stockade_direction direction, const uint8_t* in, uint8_t* out,
                uint8_t tag[wrap_tag_bytes]) {
  Secret<cipher::CipherKey> key;
  const Status status = cipher::make_key(*key, STOCKADE_GCM, wrap_key, wrap_key_bytes, nullptr);
  if (status != STOCKADE_OK) return status;
  gcm::run_message(key->gcm, direction, wrap_nonce, sizeof wrap_nonce, nullptr, 0, in, file_key_bytes, out, tag,
                   aes::Stores::ordinary);
  return STOCKADE_OK;
}

Status unwrap_by_passphrase(const Keyring& keyring, const Header& header, const Stanza& stanza,
                            uint32_t max_work_factor, uint8_t file_key[file_key_bytes], stockade_fault& fault) {
  if (keyring.passphrase_length == 0) return STOCKADE_ERROR_NO_IDENTITY;
  const uint32_t work_factor = stanza_work_factor(stanza);
  if (work_factor > (max_work_factor == 0 ? default_max_work_factor : max_work_factor)) {
    fault.value = work_factor;
    return STOCKADE_ERROR_WORK_FACTOR;
  }
  bool opened = false;
  const Status status = unwrap_with_passphrase(keyring, stanza, file_key, &opened);
  if (status != STOCKADE_OK) return status;
  return opened ? check_header(header, file_key) : STOCKADE_ERROR_PASSPHRASE;
}

// Of symmetric keys, by position in the ring.
Status key_ids(const Keyring& keyring, std::vector<std::string>& ids) {
  for (const auto& key : keyring.keys) {
    std::string id;
    if (const Status status = key_id(*key->bytes, id); status != STOCKADE_OK) return status;
    ids.push_back(std::move(id));
  }
  return STOCKADE_OK;
}

// What has become of a stanza, or of the search for one that opens.
struct Attempt {
  bool addressed = false, opened = false;
  uint32_t private_operations = 0;
};

Status try_keys(const Keyring& keyring, const std::vector<std::string>& ids, const Stanza& stanza,
                uint8_t file_key[file_key_bytes], Attempt& attempt) {
  for (size_t i = 0; i < ids.size() && !attempt.opened; ++i) {
    if (ids[i] != key_recipient(stanza)) continue;
    attempt.addressed = true;
    const Status status = unwrap_with_key(*keyring.keys[i], stanza, file_key, &attempt.opened);
    if (status != STOCKADE_OK) return status;
  }
  return STOCKADE_OK;
}

Status try_rsa_keys(const Keyring& keyring, const Stanza& stanza, uint8_t file_key[file_key_bytes], Attempt& attempt) {
  if (attempt.private_operations == most_private_operations) return STOCKADE_OK;
  for (const auto& key : keyring.rsa_keys) {
    if (!key->private_key || key->id != rsa_recipient(stanza)) continue;
    attempt.addressed = true;
    ++attempt.private_operations;
    return unwrap_with_rsa(*key->private_key, stanza, file_key, &attempt.opened);
  }
  return STOCKADE_OK;
}

Status unwrap_by_keys(const Keyring& keyring, const Header& header, uint8_t file_key[file_key_bytes]) {
  std::vector<std::string> ids;
  if (const Status status = key_ids(keyring, ids); status != STOCKADE_OK) return status;
  Attempt attempt;
  for (const Stanza& stanza : header.stanzas) {
    Status status = STOCKADE_OK;
    if (stanza.kind == key_kind) status = try_keys(keyring, ids, stanza, file_key, attempt);
    if (stanza.kind == rsa_kind) status = try_rsa_keys(keyring, stanza, file_key, attempt);
    if (status != STOCKADE_OK) return status;
    if (attempt.opened) return check_header(header, file_key);
  }
  return attempt.addressed ? STOCKADE_ERROR_HEADER_MAC : STOCKADE_ERROR_NO_IDENTITY;
}

Status unwrap(const Keyring& keyring, const Header& header, uint32_t max_work_factor, uint8_t file_key[file_key_bytes],
              stockade_fault& fault) {
  for (const Stanza& stanza : header.stanzas) {
    if (stanza.kind != scrypt_kind) continue;
    return unwrap_by_passphrase(keyring, header, stanza, max_work_factor, file_key, fault);
  }
  return unwrap_by_keys(keyring, header, file_key);
}

// Sorted; empty where a stanza is of a kind that no keyring makes.
std::vector<std::string> known_recipients(const std::vector<Stanza>& stanzas) {
  std::vector<std::string> recipients;
  for (const Stanza& stanza : stanzas) {
    const StanzaKind* const kind = find_kind(stanza.kind);
    if (kind == nullptr) return {};
    if (const std::string_view recipient = kind->recipient(stanza); !recipient.empty()) {
      recipients.emplace_back(recipient);
    }
  }
  std::sort(recipients.begin(), recipients.end());
  return recipients;
}

// Whether one of the ring opens the header: OK if so or if it does not, else what kept it from being known.
Status opens(const Keyring& keyring, const Header& header, uint32_t max_work_factor, bool* opened) {
  Secret<uint8_t[file_key_bytes]> file_key;
  stockade_fault fault;
  const Status status = unwrap_file_key(keyring, header, max_work_factor, *file_key, fault);
  *opened = status == STOCKADE_OK;
  switch (status) {
    case STOCKADE_ERROR_NO_IDENTITY:
    case STOCKADE_ERROR_PASSPHRASE:
    case STOCKADE_ERROR_WORK_FACTOR:
    case STOCKADE_ERROR_HEADER_MAC:
      return STOCKADE_OK;
    default:
      return status;
  }
}

// Symmetric keys first.
Status wrap_for_keys(const Keyring& keyring, const uint8_t file_key[file_key_bytes], RandomSource& random,
                     std::span<Stanza> stanzas) {
  size_t done = 0;
  for (const auto& key : keyring.keys) {
    const Status status = wrap_for_key(*key, file_key, random, stanzas[done++]);
    if (status != STOCKADE_OK) return status;
  }
  return wrap_for_rsa(keyring.rsa_keys, file_key, random, stanzas.subspan(done));
}

// Sorted.
Status wanted_recipients(const Keyring& keyring, std::vector<std::string>& wanted) {
  if (const Status status = key_ids(keyring, wanted); status != STOCKADE_OK) return status;
  for (const auto& key : keyring.rsa_keys) wanted.push_back(key->id);
  if (keyring.passphrase_length != 0) wanted.emplace_back(scrypt_kind);
  std::sort(wanted.begin(), wanted.end());
  return STOCKADE_OK;
}

}  // namespace

bool Keyring::can_open() const {
  const auto is_private = [](const auto& key) { return key->private_key != nullptr; };
  return !keys.empty() || passphrase_length != 0 || std::any_of(rsa_keys.begin(), rsa_keys.end(), is_private);
}

const StanzaKind* find_kind(std::string_view name) {
  for (const StanzaKind& kind : stanza_kinds) {
    if (kind.name == name) return &kind;
  }
  return nullptr;
}

bool is_base64_of(std::string_view argument, uint64_t length) {
  std::vector<uint8_t> bytes;
  return argument.size() == base64_length(length) && decode_base64(argument, bytes);
}

std::vector<uint8_t> argument_bytes(std::string_view argument) {
  std::vector<uint8_t> bytes;
  decode_base64(argument, bytes);
  return bytes;
}

Status seal_file_key(const uint8_t wrap_key[wrap_key_bytes], const uint8_t file_key[file_key_bytes],
                     uint8_t sealed[sealed_key_bytes]) {
  return run_wrap(wrap_key, STOCKADE_ENCRYPT, file_key, sealed, sealed + file_key_bytes);
}

Status open_file_key(const uint8_t wrap_key[wrap_key_bytes], const uint8_t sealed[sealed_key_bytes],
                     uint8_t file_key[file_key_bytes], bool* opened) {
  Secret<uint8_t[file_key_bytes]> candidate;
  Secret<uint8_t[wrap_tag_bytes]> tag;
  const Status status = run_wrap(wrap_key, STOCKADE_DECRYPT, sealed, *candidate, *tag);
  if (status != STOCKADE_OK) return status;
  *opened = equal_constant_time(*tag, sealed + file_key_bytes, wrap_tag_bytes);
  if (*opened) std::memcpy(file_key, *candidate, file_key_bytes);
  return STOCKADE_OK;
}

Status wrap_file_key(const Keyring& keyring, const uint8_t file_key[file_key_bytes], RandomSource& random,
                     std::vector<Stanza>& stanzas) {
  if (keyring.empty()) return STOCKADE_ERROR_NO_IDENTITY;
  const bool passphrase = keyring.passphrase_length != 0;
  if (passphrase && keyring.has_keys()) return STOCKADE_ERROR_SCRYPT_NOT_ALONE;
  const size_t count = passphrase ? 1 : keyring.keys.size() + keyring.rsa_keys.size();
  const size_t before = stanzas.size();
  if (before + count > max_stanzas) return STOCKADE_ERROR_HEADER_TOO_LONG;
  return without_throwing([&] {
    std::vector<Stanza> wrapped(count);
    const Status status = passphrase ? wrap_for_passphrase(keyring, file_key, random, wrapped[0])
                                     : wrap_for_keys(keyring, file_key, random, wrapped);
    if (status != STOCKADE_OK) return status;
    stanzas.reserve(before + count);
    std::move(wrapped.begin(), wrapped.end(), std::back_inserter(stanzas));
    return STOCKADE_OK;
  });
}

Status unwrap_file_key(const Keyring& keyring, const Header& header, uint32_t max_work_factor,
                       uint8_t file_key[file_key_bytes], stockade_fault& fault) {
  stockade_fault found = make_fault(STOCKADE_OK);
  const Status status = without_throwing([&] { return unwrap(keyring, header, max_work_factor, file_key, found); });
  if (status == STOCKADE_OK) return status;
  wipe(file_key, file_key_bytes);
  fault = found;
  fault.status = status;
  return status;
}

Status same_recipients(const Keyring& keyring, const Header& header, uint32_t max_work_factor, bool* same) {
  *same = false;
  bool opened = keyring.rsa_keys.size() != 0 && !keyring.can_open();
  if (!opened) {
    const Status status = opens(keyring, header, max_work_factor, &opened);
    if (status != STOCKADE_OK || !opened) return status;
  }
  return without_throwing([&] {
    std::vector<std::string> wanted;
    if (const Status status = wanted_recipients(keyring, wanted); status != STOCKADE_OK) return status;
    *same = wanted == known_recipients(header.stanzas);
    return STOCKADE_OK;
  });
}

}  // namespace stockade::format
