// key_files.h: what is written.
#include <openssl/evp.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "base/without_throwing.h"
#include "bignum/integer.h"
#include "libcrypto/library.h"
#include "rsa/der.h"
#include "rsa/key_encryption.h"
#include "rsa/key_files.h"

namespace stockade::rsa {
namespace {

constexpr uint8_t sequence = V_ASN1_SEQUENCE | V_ASN1_CONSTRUCTED;
// AlgorithmIdentifier of rsaEncryption with parameters NULL (RFC 8017 A.1).
constexpr uint8_t rsa_encryption[] = {0x30, 0x0d, 0x06, 0x09, 0x2a, 0x86, 0x48, 0x86,
                                      0xf7, 0x0d, 0x01, 0x01, 0x01, 0x05, 0x00};
constexpr size_t overhead = 256;  // of headers and versions, generously

struct Integer {
  const Limb* limbs;
  uint32_t count;
};

// Numbers as INTEGERs, last first.
Status put_integers(DerWriter& out, std::span<const Integer> integers) {
  for (size_t i = integers.size(); i-- > 0;) {
    SecretBuffer bytes(integers[i].count * sizeof(Limb));
    if (bytes.data() == nullptr) return STOCKADE_ERROR_MEMORY;
    bignum::to_bytes(integers[i].limbs, integers[i].count, bytes.data(), bytes.size());
    out.put_integer({bytes.data(), bytes.size()});
  }
  return STOCKADE_OK;
}

// RFC 8017 A.1.2 in RFC 5958 2.
Status put_private(const PrivateKey& key, DerWriter& out) {
  const PublicKey& half = key.public_key();
  const uint32_t n = half.limbs(), p = key.p().limbs(), q = key.q().limbs();
  const Limb version[] = {0};
  const Integer integers[] = {{version, 1},
                              {half.modulus().value(), n},
                              {half.exponent(), most_exponent_limbs},
                              {key.d(), n},
                              {key.p().value(), p},
                              {key.q().value(), q},
                              {key.dp(), p},
                              {key.dq(), q},
                              {key.qinv(), p}};
  if (!out.allocate((2 * n + 3 * p + 2 * q + most_exponent_limbs) * sizeof(Limb) + overhead)) {
    return STOCKADE_ERROR_MEMORY;
  }
  if (const Status status = put_integers(out, integers); status != STOCKADE_OK) return status;
  out.put_header(sequence, out.length());
  out.put_header(V_ASN1_OCTET_STRING, out.length());
  out.put(rsa_encryption);
  out.put_integer({});
  out.put_header(sequence, out.length());
  return STOCKADE_OK;
}

// RFC 8017 A.1.1 in RFC 5280 4.1.
Status put_public(const PublicKey& key, DerWriter& out) {
  const Integer integers[] = {{key.modulus().value(), key.limbs()}, {key.exponent(), most_exponent_limbs}};
  if (!out.allocate((key.limbs() + most_exponent_limbs) * sizeof(Limb) + overhead)) return STOCKADE_ERROR_MEMORY;
  if (const Status status = put_integers(out, integers); status != STOCKADE_OK) return status;
  out.put_header(sequence, out.length());
  const uint8_t no_unused_bits[1] = {0};
  out.put(no_unused_bits);
  out.put_header(V_ASN1_BIT_STRING, out.length());
  out.put(rsa_encryption);
  out.put_header(sequence, out.length());
  return STOCKADE_OK;
}

// RFC 7468 3: lines of 64 characters between two that name the content.
Status write_pem(std::string_view label, Bytes der, SecretBuffer& pem) {
  constexpr size_t line_bytes = 48, line_characters = 64;
  const size_t lines = (der.size() + line_bytes - 1) / line_bytes;
  const std::string begin = "-----BEGIN " + std::string(label) + "-----\n";
  const std::string end = "-----END " + std::string(label) + "-----\n";
  const size_t last = der.size() - (lines - 1) * line_bytes, last_characters = (last + 2) / 3 * 4;
  // libcrypto ends each line with a zero, which the next byte takes the place of.
  if (!pem.allocate(begin.size() + (lines - 1) * (line_characters + 1) + last_characters + 1 + end.size())) {
    return STOCKADE_ERROR_MEMORY;
  }
  uint8_t* at = std::copy(begin.begin(), begin.end(), pem.data());
  while (!der.empty()) {
    const Bytes line = der.first(std::min(der.size(), line_bytes));
    at += EVP_EncodeBlock(at, line.data(), static_cast<int>(line.size()));
    *at++ = '\n';
    der = der.subspan(line.size());
  }
  std::copy(end.begin(), end.end(), at);
  return STOCKADE_OK;
}

}  // namespace

Status write_private_key(const PrivateKey& key, SecretBuffer& pem) {
  return without_throwing([&] {
    DerWriter der;
    const Status status = put_private(key, der);
    return status == STOCKADE_OK ? write_pem("PRIVATE KEY", der.written(), pem) : status;
  });
}

Status write_private_key(const PrivateKey& key, Bytes passphrase, RandomSource& random, SecretBuffer& pem,
                         uint32_t iterations) {
  return without_throwing([&] {
    DerWriter plain;
    if (const Status status = put_private(key, plain); status != STOCKADE_OK) return status;
    std::vector<uint8_t> algorithm, encrypted;
    const Status status = encrypt_pkcs8(plain.written(), passphrase, iterations, random, algorithm, encrypted);
    if (status != STOCKADE_OK) return status;
    DerWriter der;
    if (!der.allocate(algorithm.size() + encrypted.size() + overhead)) return STOCKADE_ERROR_MEMORY;
    der.put(encrypted);
    der.put_header(V_ASN1_OCTET_STRING, der.length());
    der.put(algorithm);
    der.put_header(sequence, der.length());
    return write_pem("ENCRYPTED PRIVATE KEY", der.written(), pem);
  });
}

Status write_public_key(const PublicKey& key, std::string& pem) {
  return without_throwing([&] {
    DerWriter der;
    SecretBuffer text;
    Status status = put_public(key, der);
    if (status == STOCKADE_OK) status = write_pem("PUBLIC KEY", der.written(), text);
    if (status == STOCKADE_OK) pem.assign(reinterpret_cast<const char*>(text.data()), text.size());
    return status;
  });
}

Status write_public_key_der(const PublicKey& key, std::vector<uint8_t>& der) {
  return without_throwing([&] {
    DerWriter out;
    const Status status = put_public(key, out);
    if (status == STOCKADE_OK) der.assign(out.written().begin(), out.written().end());
    return status;
  });
}

}  // namespace stockade::rsa
