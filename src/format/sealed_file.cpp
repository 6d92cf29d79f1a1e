#include "format/sealed_file.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "format/armor.h"
#include "libcrypto/derive.h"

namespace stockade::format {
namespace {

Status derive_input_key(const uint8_t file_key[file_key_bytes], stockade_cipher cipher, std::span<uint8_t> input_key) {
  const Bytes info[] = {bytes_of("stockade/v1 payload "), bytes_of(cipher_name(cipher))};
  return libcrypto::hkdf_expand({file_key, file_key_bytes}, info, input_key);
}

// Derives the payload key for the salt that stands behind the header, and compares the commitment.
template <typename Derive>
Status open_preamble(Bytes bytes, Beginning& beginning, stockade_fault& fault, Derive&& derive) {
  const uint64_t header = beginning.header_length;
  if (bytes.size() - header < chunked::preamble_bytes) {
    fault = fault_at(STOCKADE_ERROR_TRUNCATED, bytes.size());
    return fault.status;
  }
  const Bytes preamble = bytes.subspan(header, chunked::preamble_bytes);
  const Status status = derive(preamble.first(chunked::salt_bytes));
  if (status != STOCKADE_OK) {
    fault = make_fault(status);
    return status;
  }
  const uint8_t* const own = beginning.key->preamble + chunked::salt_bytes;
  if (equal_constant_time(own, preamble.data() + chunked::salt_bytes, chunked::commitment_bytes)) return STOCKADE_OK;
  fault = fault_at(STOCKADE_ERROR_COMMITMENT, header + chunked::salt_bytes);
  return fault.status;
}

Status open_payload(Bytes bytes, Beginning& beginning, stockade_fault& fault) {
  return open_preamble(bytes, beginning, fault, [&](Bytes salt) { return derive_from_file_key(beginning, salt); });
}

}  // namespace

Status derive_from_file_key(Beginning& beginning, Bytes salt) {
  Secret<uint8_t[32]> input_key;
  const std::span<uint8_t> used(*input_key, chunked::input_key_bytes(beginning.cipher));
  const Status status = derive_input_key(*beginning.file_key, beginning.cipher, used);
  return status != STOCKADE_OK ? status : chunked::derive_payload_key(*beginning.key, beginning.cipher, used, salt, {});
}

Status check_format(const FileFormat& format, stockade_direction direction) {
  const bool making = direction == STOCKADE_ENCRYPT;
  if (format.keyring == nullptr) {
    if (format.armor) return STOCKADE_ERROR_MODE;
    return format.key.size() == chunked::input_key_bytes(format.cipher) ? STOCKADE_OK : STOCKADE_ERROR_KEY_LENGTH;
  }
  if (format.keyring->empty()) return STOCKADE_ERROR_NO_IDENTITY;
  const bool mixed = format.keyring->passphrase_length != 0 && format.keyring->has_keys();
  return making && mixed ? STOCKADE_ERROR_SCRYPT_NOT_ALONE : STOCKADE_OK;
}

Status make_beginning(const FileFormat& format, RandomSource& random, Beginning& beginning,
                      std::vector<uint8_t>& bytes) {
  Status status = check_format(format, STOCKADE_ENCRYPT);
  if (status != STOCKADE_OK) return status;
  beginning.cipher = format.cipher;
  uint8_t salt[chunked::salt_bytes];
  std::string text;
  if (format.keyring != nullptr) {
    if ((status = random.fill(*beginning.file_key, file_key_bytes)) != STOCKADE_OK) return status;
    Header header;
    header.cipher = format.cipher;
    status = wrap_file_key(*format.keyring, *beginning.file_key, random, header.stanzas);
    if (status != STOCKADE_OK) return status;
    pad_header(header);
    if ((status = seal_header(header, *beginning.file_key)) != STOCKADE_OK) return status;
    text = serialise_header(header);
    if (text.size() > max_header_bytes || header.stanzas.size() > max_stanzas) return STOCKADE_ERROR_HEADER_TOO_LONG;
  }
  if ((status = random.fill(salt, chunked::salt_bytes)) != STOCKADE_OK) return status;
  status = format.keyring != nullptr
               ? derive_from_file_key(beginning, salt)
               : chunked::derive_payload_key(*beginning.key, format.cipher, format.key, salt, format.context);
  if (status != STOCKADE_OK) return status;
  beginning.header_length = text.size();
  bytes.assign(text.begin(), text.end());
  bytes.insert(bytes.end(), beginning.key->preamble, beginning.key->preamble + chunked::preamble_bytes);
  return STOCKADE_OK;
}

bool looks_armored(Bytes bytes) { return bytes.size() >= armor_begin.size() && may_be_armored(bytes); }

bool may_be_armored(Bytes bytes) {
  const uint64_t length = std::min<uint64_t>(bytes.size(), armor_begin.size());
  return length != 0 && std::memcmp(bytes.data(), armor_begin.data(), length) == 0;
}

Status open_beginning(const FileFormat& format, Bytes bytes, Beginning& beginning, stockade_fault& fault) {
  return BeginningOpener().open(format, bytes, beginning, fault);
}

Status BeginningOpener::open(const FileFormat& format, Bytes bytes, Beginning& beginning, stockade_fault& fault) {
  if (format.keyring == nullptr) {
    beginning.cipher = format.cipher;
    return open_preamble(bytes, beginning, fault, [&](Bytes salt) {
      return chunked::derive_payload_key(*beginning.key, format.cipher, format.key, salt, format.context);
    });
  }
  if (may_be_armored(bytes) && !looks_armored(bytes)) {
    fault = fault_at(STOCKADE_ERROR_TRUNCATED, bytes.size());
    return fault.status;
  }
  Status status = parser_.parse(bytes, fault);
  if (status != STOCKADE_OK) return status;
  const Header& header = parser_.header();
  beginning.header_length = parser_.length();
  if (bytes.size() - beginning.header_length < chunked::preamble_bytes) {
    // Before the passphrase is stretched, which would have to be done again with more bytes.
    fault = fault_at(STOCKADE_ERROR_TRUNCATED, bytes.size());
    return fault.status;
  }
  beginning.cipher = header.cipher;
  status = unwrap_file_key(*format.keyring, header, format.max_work_factor, *beginning.file_key, fault);
  return status != STOCKADE_OK ? status : open_payload(bytes, beginning, fault);
}

Status open_beginning_with(const uint8_t file_key[file_key_bytes], Bytes bytes, Header& header, Beginning& beginning,
                           stockade_fault& fault) {
  Status status = parse_header(bytes, header, &beginning.header_length, fault);
  if (status != STOCKADE_OK) return status;
  beginning.cipher = header.cipher;
  std::memcpy(*beginning.file_key, file_key, file_key_bytes);
  if ((status = check_header(header, file_key)) != STOCKADE_OK) {
    fault = make_fault(status);
    return status;
  }
  return open_payload(bytes, beginning, fault);
}

}  // namespace stockade::format
