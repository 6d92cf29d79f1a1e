// The one place where something that depends on a secret is declared public on purpose. The linker puts these functions
// in the place of the library's (--wrap, for calls from one file to another), so that the library itself is tested as
// it is built. Each says why its result may be known; everything else that depends on a secret stays one.
#include "bignum/integer.h"
#include "ct/secrets.h"
#include "rsa/padding.h"

using stockade::Status;
using stockade::bignum::Limb;
using stockade::ct::make_public;

namespace {

// The number that was made of bytes last.
const Limb* just_read = nullptr;

}  // namespace

extern "C" {

// The length of a modulus is public; integers of secret length do not exist here.
uint32_t __real__ZN8stockade6bignum10bit_lengthEPKmj(const Limb* a, uint32_t limbs);
uint32_t __wrap__ZN8stockade6bignum10bit_lengthEPKmj(const Limb* a, uint32_t limbs) {
  uint32_t length = __real__ZN8stockade6bignum10bit_lengthEPKmj(a, limbs);
  make_public(length);
  return length;
}

// Between files numbers are compared for the verdict whether a result is right, and a wrong one is never shown.
Limb __real__ZN8stockade6bignum8is_equalEPKmS2_j(const Limb* a, const Limb* b, uint32_t limbs);
Limb __wrap__ZN8stockade6bignum8is_equalEPKmS2_j(const Limb* a, const Limb* b, uint32_t limbs) {
  Limb equal = __real__ZN8stockade6bignum8is_equalEPKmS2_j(a, b, limbs);
  make_public(equal);
  return equal;
}

// Whether a number has an inverse: one for blinding has, or the random source is broken.
Status __real__ZN8stockade6bignum6invertEPKmS2_jPmRm(const Limb* a, const Limb* n, uint32_t limbs, Limb* out,
                                                     Limb& exists);
Status __wrap__ZN8stockade6bignum6invertEPKmS2_jPmRm(const Limb* a, const Limb* n, uint32_t limbs, Limb* out,
                                                     Limb& exists) {
  const Status status = __real__ZN8stockade6bignum6invertEPKmS2_jPmRm(a, n, limbs, out, exists);
  make_public(exists);
  return status;
}

// Whether the input of an operation is below the modulus: it came from outside, or is an encoded message, which always
// is. Only the comparison right after reading a number is that one; those of reductions stay secret.
Limb __real__ZN8stockade6bignum10from_bytesEPKhmPmj(const uint8_t* bytes, uint64_t length, Limb* out, uint32_t limbs);
Limb __wrap__ZN8stockade6bignum10from_bytesEPKhmPmj(const uint8_t* bytes, uint64_t length, Limb* out, uint32_t limbs) {
  just_read = out;
  return __real__ZN8stockade6bignum10from_bytesEPKhmPmj(bytes, length, out, limbs);
}
Limb __real__ZN8stockade6bignum7is_lessEPKmS2_j(const Limb* a, const Limb* b, uint32_t limbs);
Limb __wrap__ZN8stockade6bignum7is_lessEPKmS2_j(const Limb* a, const Limb* b, uint32_t limbs) {
  Limb less = __real__ZN8stockade6bignum7is_lessEPKmS2_j(a, b, limbs);
  if (a == just_read) make_public(less);
  just_read = nullptr;
  return less;
}

// What a decryption gives to its caller. (The cases that decode call the function itself, which is not wrapped.)
using stockade::rsa::Oaep;
using Room = std::span<uint8_t>;
Status __real__ZN8stockade3rsa11oaep_decodeERKNS0_4OaepESt4spanIhLm18446744073709551615EES5_Rm(const Oaep& oaep,
                                                                                               Room encoded,
                                                                                               Room message,
                                                                                               uint64_t& length);
Status __wrap__ZN8stockade3rsa11oaep_decodeERKNS0_4OaepESt4spanIhLm18446744073709551615EES5_Rm(const Oaep& oaep,
                                                                                               Room encoded,
                                                                                               Room message,
                                                                                               uint64_t& length) {
  Status status = __real__ZN8stockade3rsa11oaep_decodeERKNS0_4OaepESt4spanIhLm18446744073709551615EES5_Rm(
      oaep, encoded, message, length);
  make_public(status);
  make_public(length);
  return status;
}
}
