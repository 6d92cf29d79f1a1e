// Other recipients for the same file key.
#include "format/rekey.h"

#include <algorithm>
#include <cstring>

#include "base/planted_fault.h"
#include "base/without_throwing.h"
#include "format/recipient.h"
#include "format/sealed_file.h"

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

namespace {

// What a disk writes whole or not at all.
constexpr uint64_t sector_bytes = 512;

bool is_zero(Bytes bytes) {
  return std::all_of(bytes.begin(), bytes.end(), [](uint8_t byte) { return byte == 0; });
}

bool is_same(Bytes a, Bytes b) { return std::equal(a.begin(), a.end(), b.begin(), b.end()); }

// Whether the outcome of opening tells something of the bytes, not of the identities, the limits or the machine.
bool is_damage(Status status) {
  switch (status) {
    case STOCKADE_ERROR_MAGIC:
    case STOCKADE_ERROR_VERSION:
    case STOCKADE_ERROR_CIPHER:
    case STOCKADE_ERROR_HEADER_TOO_LONG:
    case STOCKADE_ERROR_HEADER:
    case STOCKADE_ERROR_HEADER_MAC:
    case STOCKADE_ERROR_SCRYPT_NOT_ALONE:
    case STOCKADE_ERROR_TRUNCATED:
    case STOCKADE_ERROR_COMMITMENT:
      return true;
    default:
      return false;
  }
}

bool is_no_identity(Status status) {
  return status == STOCKADE_ERROR_NO_IDENTITY || status == STOCKADE_ERROR_PASSPHRASE;
}

// A copy that was being made when the power failed: no more than what stands in front, some sectors of it not written.
bool is_torn_copy(Bytes front, Bytes copy) {
  if (copy.size() > front.size()) return false;
  for (uint64_t at = 0; at < copy.size(); at += sector_bytes) {
    const uint64_t length = std::min<uint64_t>(sector_bytes, copy.size() - at);
    const Bytes sector = copy.subspan(at, length);
    if (!is_zero(sector) && !is_same(sector, front.subspan(at, length))) return false;
  }
  return true;
}

Status decide(Bytes front, Bytes copy, const FileFormat& format, stockade_remedy& remedy, stockade_fault& fault) {
  Beginning now, before;
  const bool lost = front.size() >= sector_bytes && is_zero(front.first(sector_bytes));
  const Status in_place = open_beginning(format, front, now, fault);
  if (!lost && (in_place == STOCKADE_ERROR_MAGIC || in_place == STOCKADE_ERROR_VERSION)) return in_place;
  if (in_place != STOCKADE_OK && !is_damage(in_place) && !is_no_identity(in_place)) return in_place;

  // The copy holds a header and what stands behind the header in the file too, and no more.
  Header header;
  stockade_fault copy_fault = make_fault(STOCKADE_OK);
  uint64_t length = 0;
  const Status parsed = parse_header(copy, header, &length, copy_fault);
  if (parsed == STOCKADE_ERROR_MEMORY) {
    fault = copy_fault;
    return parsed;
  }
  if (parsed == STOCKADE_OK && is_planted(Fault::rekey_trusts_side_file)) {
    remedy = STOCKADE_REMEDY_RESTORE;
    return STOCKADE_OK;
  }
  const bool belongs = parsed == STOCKADE_OK && copy.size() == length + chunked::preamble_bytes &&
                       front.size() >= copy.size() &&
                       is_same(copy.subspan(length), front.subspan(length, chunked::preamble_bytes));
  if (in_place == STOCKADE_OK) {
    const bool ours = belongs || is_torn_copy(front.first(now.length()), copy);
    remedy = ours ? STOCKADE_REMEDY_KEEP : STOCKADE_REMEDY_FOREIGN;
    return STOCKADE_OK;
  }
  if (!belongs) {
    if (is_no_identity(in_place)) return in_place;
    remedy = STOCKADE_REMEDY_FOREIGN;
    return STOCKADE_OK;
  }
  const Status opened = open_beginning(format, copy, before, copy_fault);
  if (is_damage(opened)) {
    if (is_no_identity(in_place)) return in_place;
    remedy = STOCKADE_REMEDY_FOREIGN;
    return STOCKADE_OK;
  }
  if (opened != STOCKADE_OK) {
    fault = copy_fault;
    return opened;
  }
  remedy = STOCKADE_REMEDY_RESTORE;
  if (!is_no_identity(in_place)) return STOCKADE_OK;
  // A header that these identities do not open may be whole all the same: its MAC is made with the same file key.
  Header renewed;
  const Status whole = open_beginning_with(*before.file_key, front, renewed, now, copy_fault);
  if (whole == STOCKADE_OK) {
    remedy = STOCKADE_REMEDY_CHOOSE;
  } else if (!is_damage(whole)) {
    fault = copy_fault;
    return whole;
  }
  return STOCKADE_OK;
}

}  // namespace

Status find_remedy(Bytes front, Bytes copy, const Keyring& identities, uint32_t max_work_factor,
                   stockade_remedy& remedy, stockade_fault& fault) {
  FileFormat format;
  format.keyring = &identities;
  format.max_work_factor = max_work_factor;
  stockade_remedy found = STOCKADE_REMEDY_FOREIGN;
  stockade_fault reason = make_fault(STOCKADE_OK);
  const Status status = without_throwing([&] { return decide(front, copy, format, found, reason); });
  if (status == STOCKADE_OK) {
    remedy = found;
  } else {
    fault = reason.status == status ? reason : make_fault(status);
  }
  return status;
}

}  // namespace stockade::format
