// Any bytes as an RSA key: what a reader accepts it writes, in every form, and reads back to the same numbers; what it
// refuses it refuses with a status that its contract names. A private key that was written under a passphrase is also
// damaged in one byte.
//
// The passphrase is given for OpenSSL's old encryption of PEM only: how often PKCS#8's is to be hashed the file says,
// and a fuzzer soon asks for hours.
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "base/random.h"
#include "bignum/bignum_variants.h"
#include "cpu/features.h"
#include "rsa/key_files.h"

namespace {

using namespace stockade;
using namespace stockade::rsa;

constexpr char passphrase_text[] = "fuzz";

void require(bool condition) {
  if (!condition) std::abort();
}

// The same numbers for the same input, so that what was found is found again.
class Sequence final : public RandomSource {
 public:
  explicit Sequence(uint64_t seed) : state_(seed) {}
  Status fill(uint8_t* out, uint64_t length) override {
    for (uint64_t i = 0; i < length; ++i) out[i] = static_cast<uint8_t>(next() >> 56);
    return STOCKADE_OK;
  }
  uint64_t next() { return state_ = state_ * 6364136223846793005 + 1442695040888963407; }

 private:
  uint64_t state_;
};

const bignum::Variant* row() {
  static const bignum::Variant* const chosen = [] {
    const bignum::Variant* variant = nullptr;
    require(bignum::choose("", cpu::usable(), &variant) == STOCKADE_OK);
    return variant;
  }();
  return chosen;
}

Status answer(SecretBuffer& passphrase) {
  if (!passphrase.allocate(sizeof passphrase_text - 1)) return STOCKADE_ERROR_MEMORY;
  std::memcpy(passphrase.data(), passphrase_text, passphrase.size());
  return STOCKADE_OK;
}

Bytes bytes_of(const std::string& text) { return {reinterpret_cast<const uint8_t*>(text.data()), text.size()}; }
Bytes bytes_of(const SecretBuffer& buffer) { return {buffer.data(), buffer.size()}; }

bool same(const Limb* a, const Limb* b, uint32_t limbs) { return std::memcmp(a, b, limbs * sizeof(Limb)) == 0; }

bool same(const PublicKey& a, const PublicKey& b) {
  return a.bits() == b.bits() && same(a.modulus().value(), b.modulus().value(), a.limbs()) &&
         same(a.exponent(), b.exponent(), most_exponent_limbs);
}

bool same(const PrivateKey& a, const PrivateKey& b) {
  return same(a.public_key(), b.public_key()) && a.p().bits() == b.p().bits() && a.q().bits() == b.q().bits() &&
         same(a.p().value(), b.p().value(), a.p().limbs()) && same(a.q().value(), b.q().value(), a.q().limbs()) &&
         same(a.d(), b.d(), a.public_key().limbs()) && same(a.dp(), b.dp(), a.p().limbs()) &&
         same(a.dq(), b.dq(), a.q().limbs()) && same(a.qinv(), b.qinv(), a.p().limbs());
}

void require_written(const PublicKey& key) {
  std::string pem, type;
  std::vector<uint8_t> der;
  PublicKey from_pem, from_der;
  require(write_public_key(key, pem) == STOCKADE_OK && write_public_key_der(key, der) == STOCKADE_OK);
  require(read_public_key(bytes_of(pem), legacy_least_bits, row(), from_pem, type) == STOCKADE_OK);
  require(read_public_key(der, legacy_least_bits, row(), from_der, type) == STOCKADE_OK);
  require(same(key, from_pem) && same(key, from_der));
}

// One byte of the base64 becomes another. Whatever comes of it, it is not the key of another file.
void check_damaged(SecretBuffer& pem, const PrivateKey& key, Sequence& random) {
  pem.data()[random.next() % pem.size()] ^= static_cast<uint8_t>(1 << random.next() % 7);
  std::unique_ptr<PrivateKey> read;
  std::string type;
  const Status status = read_private_key(bytes_of(pem), answer, row(), random, read, type);
  require((status == STOCKADE_OK) == (read != nullptr));
  require(read == nullptr || same(key, *read));
}

void require_written(const PrivateKey& key, Sequence& random) {
  SecretBuffer plain, encrypted;
  std::unique_ptr<PrivateKey> from_plain, from_encrypted;
  std::string type;
  require(write_private_key(key, plain) == STOCKADE_OK);
  require(read_private_key(bytes_of(plain), {}, row(), random, from_plain, type) == STOCKADE_OK);
  const Bytes passphrase(reinterpret_cast<const uint8_t*>(passphrase_text), sizeof passphrase_text - 1);
  require(write_private_key(key, passphrase, random, encrypted, 1) == STOCKADE_OK);
  require(read_private_key(bytes_of(encrypted), answer, row(), random, from_encrypted, type) == STOCKADE_OK);
  require(same(key, *from_plain) && same(key, *from_encrypted));
  check_damaged(encrypted, key, random);
}

bool is_refusal(Status status, const std::string& type) {
  switch (status) {
    case STOCKADE_ERROR_KEY_TYPE:
      return !type.empty();
    case STOCKADE_ERROR_KEY_FILE:
    case STOCKADE_ERROR_KEY_NOT_PRIVATE:
    case STOCKADE_ERROR_TRUNCATED:
    case STOCKADE_ERROR_TRAILING_DATA:
    case STOCKADE_ERROR_PASSPHRASE_NEEDED:
    case STOCKADE_ERROR_PASSPHRASE:
    case STOCKADE_ERROR_RSA_SIZE:
    case STOCKADE_ERROR_RSA_MODULUS:
    case STOCKADE_ERROR_RSA_EXPONENT:
    case STOCKADE_ERROR_RSA_FACTORS:
    case STOCKADE_ERROR_RSA_PRIVATE_EXPONENT:
    case STOCKADE_ERROR_RSA_CRT:
    case STOCKADE_ERROR_RSA_PRIME:
      return true;
    default:
      return false;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const Bytes file(data, size);
  Sequence random(size);
  std::string type;
  PublicKey public_key;
  const Status status = read_public_key(file, legacy_least_bits, row(), public_key, type);
  require(status == STOCKADE_OK || is_refusal(status, type));
  if (status == STOCKADE_OK) require_written(public_key);

  type.clear();
  std::unique_ptr<PrivateKey> key;
  static constexpr uint8_t old_encryption[] = {'D', 'E', 'K', '-', 'I', 'n', 'f', 'o'};
  const bool answered = memmem(data, size, old_encryption, sizeof old_encryption) != nullptr &&
                        memmem(data, size, "BEGIN ENCRYPTED", 15) == nullptr;
  const AskPassphrase ask = answered ? AskPassphrase(answer) : AskPassphrase();
  const Status private_status = read_private_key(file, ask, row(), random, key, type);
  require(private_status == STOCKADE_OK ? key != nullptr : is_refusal(private_status, type));
  if (private_status != STOCKADE_OK) return 0;
  // An encrypted key has no public half for those who have no passphrase.
  require(status == STOCKADE_OK ? same(public_key, key->public_key()) : answered);
  require_written(*key, random);
  return 0;
}
