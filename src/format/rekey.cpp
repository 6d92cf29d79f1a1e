// Other recipients for the same file key.
#include <algorithm>

#include "format/recipient.h"

namespace stockade::format {
namespace {

// Empty for padding and for kinds that are not known.
std::string_view recipient_of(const Stanza& stanza) {
  const StanzaKind* const kind = find_kind(stanza.kind);
  return kind == nullptr ? std::string_view() : kind->recipient(stanza);
}

bool has_recipient(const std::vector<Stanza>& stanzas, std::string_view name) {
  return !name.empty() && std::any_of(stanzas.begin(), stanzas.end(),
                                      [&](const Stanza& stanza) { return recipient_of(stanza) == name; });
}

// What of the old header stays: without padding, which is made anew, and without those who shall go.
std::vector<Stanza> keep_stanzas(const Header& header, std::span<const std::string_view> remove) {
  std::vector<Stanza> kept;
  for (const Stanza& stanza : header.stanzas) {
    const std::string_view recipient = recipient_of(stanza);
    const bool goes = !recipient.empty() && std::find(remove.begin(), remove.end(), recipient) != remove.end();
    if (stanza.kind != pad_kind && !goes) kept.push_back(stanza);
  }
  return kept;
}

bool is_company_allowed(const std::vector<Stanza>& stanzas) {
  const bool passphrase =
      std::any_of(stanzas.begin(), stanzas.end(), [](const Stanza& stanza) { return stanza.kind == scrypt_kind; });
  return !passphrase || stanzas.size() == 1;
}

Status add_recipients(const Keyring& add, const uint8_t file_key[file_key_bytes], RandomSource& random,
                      std::vector<Stanza>& stanzas) {
  // Before the work that a passphrase takes.
  if (add.passphrase_length != 0 && !stanzas.empty()) return STOCKADE_ERROR_SCRYPT_NOT_ALONE;
  std::vector<Stanza> added;
  if (const Status status = wrap_file_key(add, file_key, random, added); status != STOCKADE_OK) return status;
  for (Stanza& stanza : added) {
    if (has_recipient(stanzas, recipient_of(stanza))) return STOCKADE_ERROR_ARGUMENT;
    stanzas.push_back(std::move(stanza));
  }
  return STOCKADE_OK;
}

Status rekey(const Header& header, uint64_t old_length, const uint8_t file_key[file_key_bytes],
             std::span<const std::string_view> remove, const Keyring* add, RandomSource& random, std::string& renewed) {
  for (const std::string_view name : remove) {
    if (!has_recipient(header.stanzas, name)) return STOCKADE_ERROR_UNKNOWN_NAME;
  }
  Header changed;
  changed.cipher = header.cipher;
  changed.stanzas = keep_stanzas(header, remove);
  if (add != nullptr && !add->empty()) {
    const Status status = add_recipients(*add, file_key, random, changed.stanzas);
    if (status != STOCKADE_OK) return status;
  }
  if (changed.stanzas.empty()) return STOCKADE_ERROR_ARGUMENT;
  if (!is_company_allowed(changed.stanzas)) return STOCKADE_ERROR_SCRYPT_NOT_ALONE;
  if (!pad_header(changed, old_length)) pad_header(changed);
  if (changed.stanzas.size() > max_stanzas) return STOCKADE_ERROR_HEADER_TOO_LONG;
  if (const Status status = seal_header(changed, file_key); status != STOCKADE_OK) return status;
  std::string text = serialise_header(changed);
  if (text.size() > max_header_bytes) return STOCKADE_ERROR_HEADER_TOO_LONG;
  renewed = std::move(text);
  return STOCKADE_OK;
}

}  // namespace

Status rekey_header(const Header& header, uint64_t old_length, const Keyring& identities, uint32_t max_work_factor,
                    std::span<const std::string_view> remove, const Keyring* add, RandomSource& random,
                    std::string& renewed, stockade_fault& fault) {
  Secret<uint8_t[file_key_bytes]> file_key;
  Status status = unwrap_file_key(identities, header, max_work_factor, *file_key, fault);
  if (status != STOCKADE_OK) return status;
  status = without_throwing([&] { return rekey(header, old_length, *file_key, remove, add, random, renewed); });
  if (status != STOCKADE_OK) fault = make_fault(status);
  return status;
}

}  // namespace stockade::format
