#include "rsa/der.h"

#include <openssl/crypto.h>

#include <algorithm>

namespace stockade::rsa {
namespace {

// That `der` is one SEQUENCE, of a length that is written as DER has it.
Status check_extent(Bytes der) {
  if (der.empty()) return STOCKADE_ERROR_TRUNCATED;
  if (der[0] != (V_ASN1_SEQUENCE | V_ASN1_CONSTRUCTED)) return STOCKADE_ERROR_KEY_FILE;
  if (der.size() < 2) return STOCKADE_ERROR_TRUNCATED;
  uint64_t header = 2, length = der[1];
  if (length >= 0x80) {
    const uint64_t count = length & 0x7f;
    if (count == 0 || count > 4) return STOCKADE_ERROR_KEY_FILE;
    header += count;
    if (der.size() < header) return STOCKADE_ERROR_TRUNCATED;
    length = 0;
    for (const uint8_t byte : der.subspan(2, count)) length = length << 8 | byte;
    if (length < 0x80 || length >> 8 * (count - 1) == 0) return STOCKADE_ERROR_KEY_FILE;
  }
  if (der.size() < header + length) return STOCKADE_ERROR_TRUNCATED;
  return der.size() == header + length ? STOCKADE_OK : STOCKADE_ERROR_TRAILING_DATA;
}

ASN1_STRING* string_of(const ASN1_TYPE* member) {
  const bool has_none = member->type == V_ASN1_OBJECT || member->type == V_ASN1_NULL || member->type == V_ASN1_BOOLEAN;
  return has_none ? nullptr : member->value.asn1_string;
}

}  // namespace

DerSequence::~DerSequence() { release(); }

void DerSequence::release() {
  for (int i = 0; i < count(); ++i) {
    const ASN1_STRING* const string = string_of(sk_ASN1_TYPE_value(members_, i));
    if (string == nullptr) continue;
    OPENSSL_cleanse(const_cast<unsigned char*>(ASN1_STRING_get0_data(string)),
                    static_cast<size_t>(ASN1_STRING_length(string)));
  }
  sk_ASN1_TYPE_pop_free(members_, ASN1_TYPE_free);
  members_ = nullptr;
}

Status DerSequence::parse(Bytes der) {
  release();
  const libcrypto::ErrorScope errors;
  if (const Status status = check_extent(der); status != STOCKADE_OK) return status;
  const unsigned char* at = der.data();
  members_ = d2i_ASN1_SEQUENCE_ANY(nullptr, &at, static_cast<long>(der.size()));
  return members_ != nullptr ? STOCKADE_OK : errors.status(STOCKADE_ERROR_KEY_FILE);
}

int DerSequence::type(int index) const {
  if (index >= count()) return V_ASN1_UNDEF;
  const ASN1_TYPE* const member = sk_ASN1_TYPE_value(members_, index);
  // libcrypto marks a negative one in the number itself.
  return member->type == V_ASN1_INTEGER ? ASN1_STRING_type(member->value.integer) : member->type;
}

Bytes DerSequence::bytes(int index) const {
  if (index >= count()) return {};
  const ASN1_STRING* const string = string_of(sk_ASN1_TYPE_value(members_, index));
  if (string == nullptr) return {};
  return {ASN1_STRING_get0_data(string), static_cast<size_t>(ASN1_STRING_length(string))};
}

const ASN1_OBJECT* DerSequence::object(int index) const {
  return type(index) == V_ASN1_OBJECT ? sk_ASN1_TYPE_value(members_, index)->value.object : nullptr;
}

bool DerWriter::allocate(size_t size) {
  start_ = size;
  return memory_.allocate(size);
}

void DerWriter::put(Bytes bytes) {
  start_ -= bytes.size();
  std::copy(bytes.begin(), bytes.end(), memory_.data() + start_);
}

void DerWriter::put_header(uint8_t tag, size_t content) {
  uint8_t header[2 + sizeof content];
  size_t at = sizeof header;
  size_t rest = content;
  if (content < 0x80) {
    header[--at] = static_cast<uint8_t>(content);
  } else {
    for (; rest != 0; rest >>= 8) header[--at] = static_cast<uint8_t>(rest);
    const size_t bytes = sizeof header - at;
    header[--at] = static_cast<uint8_t>(0x80 | bytes);
  }
  header[--at] = tag;
  put({header + at, sizeof header - at});
}

void DerWriter::put_integer(Bytes number) {
  number = {std::find_if(number.begin(), number.end(), [](uint8_t byte) { return byte != 0; }), number.end()};
  const size_t before = length();
  put(number);
  // Zero has one byte, and a highest bit would be a sign.
  const uint8_t zero[1] = {0};
  if (number.empty() || (number[0] & 0x80) != 0) put(zero);
  put_header(V_ASN1_INTEGER, length() - before);
}

}  // namespace stockade::rsa
