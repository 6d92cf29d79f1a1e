// The one place where something that depends on a secret is declared public on purpose. The linker puts these functions
// in the place of the library's (--wrap, for calls from one file to another), so that the library itself is tested as
// it is built. A result becomes public for the callers that are named only, each with the reason; for every other caller,
// and for everything else that depends on a secret, it stays a secret. A name is that of the function whose code holds the
// call once the compiler has inlined what it likes; a compiler that inlines otherwise makes a complaint, not a gap.
#include <cstdio>
#include <initializer_list>
#include <set>
#include <string>

#include "bignum/integer.h"
#include "ct/call_site.h"
#include "ct/secrets.h"
#include "rsa/padding.h"

using stockade::Status;
using stockade::bignum::Limb;
using stockade::ct::make_public;

namespace {

// Whether the code at `address` is in a function whose linker's name holds one of `names`. Callers that are not are printed,
// for whoever looks into a complaint.
bool is_called_by(const void* address, std::string_view callee, std::initializer_list<std::string_view> names) {
  const std::string_view caller = stockade::ct::function_at(address);
  for (const std::string_view name : names) {
    if (caller.find(name) != std::string_view::npos) return true;
  }
  static std::set<std::string> printed;
  const std::string line = std::string(callee) + " stays secret in " + std::string(caller);
  if (printed.insert(line).second) std::printf("ct: %s\n", line.c_str());
  return false;
}

// The number that was made of bytes last.
const Limb* just_read = nullptr;

}  // namespace

extern "C" {

// Modulus::make: the length of a modulus is public.
uint32_t __real__ZN8stockade6bignum10bit_lengthEPKmj(const Limb* a, uint32_t limbs);
uint32_t __wrap__ZN8stockade6bignum10bit_lengthEPKmj(const Limb* a, uint32_t limbs) {
  uint32_t length = __real__ZN8stockade6bignum10bit_lengthEPKmj(a, limbs);
  if (is_called_by(__builtin_return_address(0), "bit_length", {"bignum7Modulus4make"})) make_public(length);
  return length;
}

// The check of a private operation's result against the public key: whether it is right is public, and a wrong one is never
// shown.
Limb __real__ZN8stockade6bignum8is_equalEPKmS2_j(const Limb* a, const Limb* b, uint32_t limbs);
Limb __wrap__ZN8stockade6bignum8is_equalEPKmS2_j(const Limb* a, const Limb* b, uint32_t limbs) {
  Limb equal = __real__ZN8stockade6bignum8is_equalEPKmS2_j(a, b, limbs);
  if (is_called_by(__builtin_return_address(0), "is_equal", {"run_private_steps"})) make_public(equal);
  return equal;
}

// Whether the number for blinding has an inverse: it has, or the random source is broken. The test of inversion itself asks
// for no verdict.
Status __real__ZN8stockade6bignum6invertEPKmS2_jPmRm(const Limb* a, const Limb* n, uint32_t limbs, Limb* out,
                                                     Limb& exists);
Status __wrap__ZN8stockade6bignum6invertEPKmS2_jPmRm(const Limb* a, const Limb* n, uint32_t limbs, Limb* out,
                                                     Limb& exists) {
  const Status status = __real__ZN8stockade6bignum6invertEPKmS2_jPmRm(a, n, limbs, out, exists);
  if (is_called_by(__builtin_return_address(0), "invert", {"rsa8Blinding"})) make_public(exists);
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
  if (a == just_read &&
      is_called_by(__builtin_return_address(0), "is_less", {"run_private_steps", "run_public_group"})) {
    make_public(less);
  }
  just_read = nullptr;
  return less;
}

// decrypt_many: what a decryption gives to its caller. (The cases that decode call the function itself, which is not wrapped.)
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
  if (is_called_by(__builtin_return_address(0), "oaep_decode", {"decrypt_many"})) {
    make_public(status);
    make_public(length);
  }
  return status;
}
}
