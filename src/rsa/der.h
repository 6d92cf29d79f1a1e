// The little of DER (X.690) that RSA keys are made of: libcrypto takes sequences apart, and a writer puts them
// together.
#pragma once

#include <openssl/asn1.h>

#include <cstdint>

#include "base/bytes.h"
#include "base/secret.h"
#include "base/status.h"
#include "libcrypto/library.h"

namespace stockade::rsa {

// The members of a SEQUENCE. Wiped when it goes.
class DerSequence {
 public:
  DerSequence() = default;
  DerSequence(const DerSequence&) = delete;
  DerSequence& operator=(const DerSequence&) = delete;
  ~DerSequence();

  // `der` must be one SEQUENCE and nothing else. TRUNCATED, TRAILING_DATA, KEY_FILE, MEMORY.
  Status parse(Bytes der);

  int count() const { return sk_ASN1_TYPE_num(members_); }
  // Such as V_ASN1_INTEGER, V_ASN1_NEG_INTEGER; V_ASN1_UNDEF behind the last.
  int type(int index) const;
  // The magnitude of a non-negative INTEGER; what an OCTET STRING or a BIT STRING of whole bytes holds; the whole DER
  // of a SEQUENCE. Lives as long as this.
  Bytes bytes(int index) const;
  // Null if it is none.
  const ASN1_OBJECT* object(int index) const;

 private:
  void release();

  STACK_OF(ASN1_TYPE) * members_ = nullptr;
};

// Writes from the end to the front, so that lengths are known when they are needed.
class DerWriter {
 public:
  // Room for `size` bytes in all.
  bool allocate(size_t size);
  size_t length() const { return memory_.size() - start_; }
  Bytes written() const { return {memory_.data() + start_, length()}; }

  void put(Bytes bytes);
  // A header for the last `content` bytes that were written, which are now its content.
  void put_header(uint8_t tag, size_t content);
  // A non-negative INTEGER from big-endian bytes with any leading zeros.
  void put_integer(Bytes number);

 private:
  SecretBuffer memory_;
  size_t start_ = 0;
};

}  // namespace stockade::rsa
