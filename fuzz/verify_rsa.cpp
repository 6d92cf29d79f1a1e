// Signatures and ciphertexts that an adversary made, against libcrypto's verdict. The input chooses the padding, the
// hashes, the length of the salt and the encoded message itself: as it is, or as the right one with some bytes changed.
// The key signs whatever that is, so that verification gets to see more than noise.
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>

#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "base/random.h"
#include "bignum/bignum_variants.h"
#include "cpu/features.h"
#include "rsa/key_files.h"
#include "rsa/operation.h"
#include "rsa_key.h"

namespace {

using namespace stockade;
using namespace stockade::rsa;
using Buffer = std::vector<uint8_t>;
using Context = std::unique_ptr<EVP_PKEY_CTX, decltype(&EVP_PKEY_CTX_free)>;

void require(bool condition) {
  if (!condition) std::abort();
}

// The same numbers for the same input, so that what was found is found again.
class Sequence final : public RandomSource {
 public:
  Status fill(uint8_t* out, uint64_t length) override {
    for (uint64_t i = 0; i < length; ++i) {
      state_ = state_ * 6364136223846793005 + 1442695040888963407;
      out[i] = static_cast<uint8_t>(state_ >> 56);
    }
    return STOCKADE_OK;
  }

 private:
  uint64_t state_ = 1;
};

// What the input decides.
class Choices {
 public:
  explicit Choices(Bytes input) : input_(input) {}
  uint32_t byte() {
    if (input_.empty()) return 0;
    const uint8_t value = input_.front();
    input_ = input_.subspan(1);
    return value;
  }
  libcrypto::Hash hash() { return static_cast<libcrypto::Hash>(byte() % libcrypto::hash_count); }
  Bytes rest() const { return input_; }

 private:
  Bytes input_;
};

struct Keys {
  std::unique_ptr<PrivateKey> ours;
  EVP_PKEY* theirs = nullptr;
  uint64_t bytes() const { return ours->public_key().bytes(); }
};

const Keys& keys() {
  static const Keys made = [] {
    Keys fresh;
    const bignum::Variant* row = nullptr;
    std::string type;
    Sequence random;
    require(bignum::choose("", cpu::usable(), &row) == STOCKADE_OK);
    const Bytes pem(reinterpret_cast<const uint8_t*>(fuzz::rsa_key_pem), sizeof fuzz::rsa_key_pem - 1);
    require(read_private_key(pem, {}, row, random, fresh.ours, type) == STOCKADE_OK);
    BIO* const in = BIO_new_mem_buf(fuzz::rsa_key_pem, -1);
    fresh.theirs = PEM_read_bio_PrivateKey(in, nullptr, nullptr, nullptr);
    BIO_free(in);
    require(fresh.theirs != nullptr);
    return fresh;
  }();
  return made;
}

Context make_context(int (*start)(EVP_PKEY_CTX*)) {
  Context context(EVP_PKEY_CTX_new(keys().theirs, nullptr), EVP_PKEY_CTX_free);
  require(context != nullptr && start(context.get()) == 1);
  return context;
}

const EVP_MD* digest_of(libcrypto::Hash hash) {
  // In the order of `Hash`.
  const EVP_MD* const digests[libcrypto::hash_count] = {EVP_sha1(),   EVP_sha224(),     EVP_sha256(),    EVP_sha384(),
                                                        EVP_sha512(), EVP_sha512_224(), EVP_sha512_256()};
  return digests[static_cast<uint32_t>(hash)];
}

// The encoded message that the input makes of a right one.
void change(Choices& choices, Buffer& encoded) {
  const bool whole = choices.byte() % 4 == 0;
  const Bytes rest = choices.rest();
  if (whole) {
    std::fill(encoded.begin(), encoded.end(), uint8_t{0});
    std::copy_n(rest.begin(), std::min(rest.size(), encoded.size()), encoded.begin());
  } else {
    for (size_t i = 0; i + 1 < rest.size(); i += 2) encoded[rest[i] % encoded.size()] ^= rest[i + 1];
  }
  // Below the modulus, whose first bit is set.
  encoded[0] &= 0x7f;
}

// encoded^d mod n, by libcrypto.
Buffer sign_raw(const Buffer& encoded) {
  const Context context = make_context(EVP_PKEY_decrypt_init);
  Buffer signature(keys().bytes());
  size_t length = signature.size();
  require(EVP_PKEY_CTX_set_rsa_padding(context.get(), RSA_NO_PADDING) == 1);
  require(EVP_PKEY_decrypt(context.get(), signature.data(), &length, encoded.data(), encoded.size()) == 1);
  return signature;
}

int salt_of(const SaltLength& salt) {
  switch (salt.kind) {
    case SaltLength::Kind::digest:
      return RSA_PSS_SALTLEN_DIGEST;
    case SaltLength::Kind::most:
      return RSA_PSS_SALTLEN_MAX;
    case SaltLength::Kind::given:
      return static_cast<int>(salt.bytes);
    default:
      return RSA_PSS_SALTLEN_AUTO;
  }
}

bool accepted_by_libcrypto(const SignaturePadding& padding, const Buffer& digest, const Buffer& signature) {
  const Context context = make_context(EVP_PKEY_verify_init);
  if (const Pss* const pss = std::get_if<Pss>(&padding); pss != nullptr) {
    require(EVP_PKEY_CTX_set_rsa_padding(context.get(), RSA_PKCS1_PSS_PADDING) == 1);
    require(EVP_PKEY_CTX_set_signature_md(context.get(), digest_of(pss->hash)) == 1);
    require(EVP_PKEY_CTX_set_rsa_mgf1_md(context.get(), digest_of(pss->mask_hash)) == 1);
    require(EVP_PKEY_CTX_set_rsa_pss_saltlen(context.get(), salt_of(pss->salt)) == 1);
  } else {
    require(EVP_PKEY_CTX_set_rsa_padding(context.get(), RSA_PKCS1_PADDING) == 1);
    require(EVP_PKEY_CTX_set_signature_md(context.get(), digest_of(std::get_if<Pkcs1>(&padding)->hash)) == 1);
  }
  return EVP_PKEY_verify(context.get(), signature.data(), signature.size(), digest.data(), digest.size()) == 1;
}

void check_signature(Choices& choices) {
  const libcrypto::Hash hash = choices.hash();
  Sequence random;
  Buffer digest(libcrypto::digest_bytes(hash), 0x5a), encoded(keys().bytes());
  SignaturePadding padding = Pkcs1{hash};
  if (choices.byte() % 2 == 0) {
    Pss pss{hash, choices.hash(), {static_cast<SaltLength::Kind>(choices.byte() % 4), choices.byte()}};
    // Signed with one length, verified with another.
    Pss signed_with = pss;
    if (choices.byte() % 2 == 0) signed_with.salt = {SaltLength::Kind::given, choices.byte()};
    const uint32_t bits = keys().ours->public_key().bits();
    if (pss_encode(signed_with, digest, bits, random, encoded) != STOCKADE_OK) return;
    padding = pss;
  } else {
    require(pkcs1_encode(std::get<Pkcs1>(padding), digest, encoded) == STOCKADE_OK);
  }
  const uint32_t cut = choices.byte();
  change(choices, encoded);
  Buffer signature = sign_raw(encoded);
  if (cut == 1) signature.pop_back();
  if (cut == 2) signature.push_back(0);
  Verification item = {&keys().ours->public_key(), digest, signature};
  const bool accepted = verify_many(padding, {&item, 1}) == STOCKADE_OK;
  require(accepted == accepted_by_libcrypto(padding, digest, signature));
}

// Whether libcrypto finds a message, and which.
bool decrypted_by_libcrypto(const Oaep& oaep, const Buffer& ciphertext, Buffer& message) {
  const Context context = make_context(EVP_PKEY_decrypt_init);
  require(EVP_PKEY_CTX_set_rsa_padding(context.get(), RSA_PKCS1_OAEP_PADDING) == 1);
  require(EVP_PKEY_CTX_set_rsa_oaep_md(context.get(), digest_of(oaep.hash)) == 1);
  require(EVP_PKEY_CTX_set_rsa_mgf1_md(context.get(), digest_of(oaep.mask_hash)) == 1);
  message.resize(keys().bytes());
  size_t length = message.size();
  const int done = EVP_PKEY_decrypt(context.get(), message.data(), &length, ciphertext.data(), ciphertext.size());
  message.resize(done == 1 ? length : 0);
  return done == 1;
}

// The masks of OAEP on the encoded message, or off it.
void mask(const Oaep& oaep, Buffer& encoded, bool on) {
  const std::span<uint8_t> seed(encoded.data() + 1, libcrypto::digest_bytes(oaep.hash));
  const std::span<uint8_t> block = std::span(encoded).subspan(1 + seed.size());
  if (on) require(libcrypto::mask_with(oaep.mask_hash, seed, block) == STOCKADE_OK);
  require(libcrypto::mask_with(oaep.mask_hash, block, seed) == STOCKADE_OK);
  if (!on) require(libcrypto::mask_with(oaep.mask_hash, seed, block) == STOCKADE_OK);
}

void check_decryption(Choices& choices) {
  const Oaep oaep{choices.hash(), choices.hash(), {}};
  Sequence random;
  Buffer encoded(keys().bytes()), ciphertext(keys().bytes());
  const Buffer sent(choices.byte() % static_cast<uint32_t>(oaep_capacity(oaep, keys().bytes()) + 1), 0x61);
  require(oaep_encode(oaep, sent, random, encoded) == STOCKADE_OK);
  // Changed under the masks, where each byte means something, or as it is.
  const bool under = choices.byte() % 2 == 0;
  if (under) mask(oaep, encoded, false);
  change(choices, encoded);
  if (under) mask(oaep, encoded, true);
  PublicOperation encryption = {&keys().ours->public_key(), encoded, ciphertext};
  require(run_public({&encryption, 1}) == STOCKADE_OK);

  Buffer theirs, ours(static_cast<uint64_t>(oaep_capacity(oaep, keys().bytes())));
  Decryption item = {keys().ours.get(), ciphertext, ours};
  const Status status = decrypt_many(oaep, {&item, 1}, random);
  require(status == STOCKADE_OK || (status == STOCKADE_ERROR_DECRYPTION && item.length == 0));
  ours.resize(item.length);
  require(decrypted_by_libcrypto(oaep, ciphertext, theirs) == (status == STOCKADE_OK) && ours == theirs);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  Choices choices({data, size});
  if (choices.byte() % 2 == 0) {
    check_signature(choices);
  } else {
    check_decryption(choices);
  }
  return 0;
}
