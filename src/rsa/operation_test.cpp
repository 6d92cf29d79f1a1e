#include "rsa/operation.h"

#include <gtest/gtest.h>
#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/rsa.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "bignum/integer.h"
#include "cross/random_source.h"
#include "rsa/rsa_test.h"

namespace stockade::rsa {
namespace {

// ---- the oracle ----

using KeyContext = std::shared_ptr<EVP_PKEY_CTX>;

KeyContext context_of(const OracleKey& key) {
  return {EVP_PKEY_CTX_new_from_pkey(nullptr, key.pkey.get(), nullptr), EVP_PKEY_CTX_free};
}

const EVP_MD* oracle_of(libcrypto::Hash hash) { return EVP_get_digestbyname(libcrypto::hash_name(hash)); }

using Begin = int (*)(EVP_PKEY_CTX*);
using Step = int (*)(EVP_PKEY_CTX*, unsigned char*, size_t*, const unsigned char*, size_t);

Buffer oracle_number(const OracleKey& key, Begin begin, Step step, const Buffer& in) {
  const KeyContext context = context_of(key);
  Buffer out(key.numbers.n.size());
  size_t length = out.size();
  EXPECT_EQ(begin(context.get()), 1);
  EXPECT_EQ(EVP_PKEY_CTX_set_rsa_padding(context.get(), RSA_NO_PADDING), 1);
  EXPECT_EQ(step(context.get(), out.data(), &length, in.data(), in.size()), 1);
  EXPECT_EQ(length, out.size());
  return out;
}

void set_oaep(EVP_PKEY_CTX* context, const Oaep& oaep) {
  EVP_PKEY_CTX_set_rsa_padding(context, RSA_PKCS1_OAEP_PADDING);
  EVP_PKEY_CTX_set_rsa_oaep_md(context, oracle_of(oaep.hash));
  EVP_PKEY_CTX_set_rsa_mgf1_md(context, oracle_of(oaep.mask_hash));
  if (oaep.label.empty()) return;
  void* const label = OPENSSL_memdup(oaep.label.data(), oaep.label.size());
  EVP_PKEY_CTX_set0_rsa_oaep_label(context, label, static_cast<int>(oaep.label.size()));
}

Buffer oracle_oaep(const OracleKey& key, const Oaep& oaep, Begin begin, Step step, const Buffer& in) {
  const KeyContext context = context_of(key);
  Buffer out(key.numbers.n.size());
  size_t length = out.size();
  EXPECT_EQ(begin(context.get()), 1);
  set_oaep(context.get(), oaep);
  EXPECT_EQ(step(context.get(), out.data(), &length, in.data(), in.size()), 1);
  out.resize(length);
  return out;
}

int oracle_salt(SaltLength salt) {
  switch (salt.kind) {
    case SaltLength::Kind::digest:
      return RSA_PSS_SALTLEN_DIGEST;
    case SaltLength::Kind::given:
      return static_cast<int>(salt.bytes);
    case SaltLength::Kind::most:
      return RSA_PSS_SALTLEN_MAX;
    default:
      return RSA_PSS_SALTLEN_AUTO;
  }
}

void set_padding(EVP_PKEY_CTX* context, const SignaturePadding& padding) {
  if (const Pss* const pss = std::get_if<Pss>(&padding); pss != nullptr) {
    EVP_PKEY_CTX_set_rsa_padding(context, RSA_PKCS1_PSS_PADDING);
    EVP_PKEY_CTX_set_signature_md(context, oracle_of(pss->hash));
    EVP_PKEY_CTX_set_rsa_mgf1_md(context, oracle_of(pss->mask_hash));
    EVP_PKEY_CTX_set_rsa_pss_saltlen(context, oracle_salt(pss->salt));
  } else {
    EVP_PKEY_CTX_set_rsa_padding(context, RSA_PKCS1_PADDING);
    EVP_PKEY_CTX_set_signature_md(context, oracle_of(std::get<Pkcs1>(padding).hash));
  }
}

Buffer oracle_signature(const OracleKey& key, const SignaturePadding& padding, const Buffer& digest) {
  const KeyContext context = context_of(key);
  Buffer signature(key.numbers.n.size());
  size_t length = signature.size();
  EXPECT_EQ(EVP_PKEY_sign_init(context.get()), 1);
  set_padding(context.get(), padding);
  EXPECT_EQ(EVP_PKEY_sign(context.get(), signature.data(), &length, digest.data(), digest.size()), 1);
  return signature;
}

bool oracle_verifies(const OracleKey& key, const SignaturePadding& padding, const Buffer& digest,
                     const Buffer& signature) {
  const KeyContext context = context_of(key);
  EXPECT_EQ(EVP_PKEY_verify_init(context.get()), 1);
  set_padding(context.get(), padding);
  return EVP_PKEY_verify(context.get(), signature.data(), signature.size(), digest.data(), digest.size()) == 1;
}

// ---- one operation ----

std::pair<Status, Buffer> private_number(const PrivateKey& key, const Buffer& in) {
  Buffer out(key.public_key().bytes(), 0xAA);
  PrivateOperation operation{&key, in, out};
  const Status status = run_private({&operation, 1}, system_random());
  EXPECT_EQ(operation.status, status);
  return {status, out};
}

std::pair<Status, Buffer> public_number(const PublicKey& key, const Buffer& in) {
  Buffer out(key.bytes(), 0xAA);
  PublicOperation operation{&key, in, out};
  const Status status = run_public({&operation, 1});
  EXPECT_EQ(operation.status, status);
  return {status, out};
}

// A random number below n, of n's length; if `edges` then sometimes one of the least and greatest.
Buffer number_below(const Buffer& n, tests::RandomSource& random, bool edges = true) {
  const std::shared_ptr<BIGNUM> limit = number(n), value(BN_new(), BN_free);
  const std::shared_ptr<BN_CTX> context(BN_CTX_new(), BN_CTX_free);
  const uint64_t kind = edges ? random.below(8) : 8;
  if (kind < 2) {
    BN_set_word(value.get(), random.below(3));
    if (kind == 1) BN_sub(value.get(), limit.get(), value.get());
  }
  if (kind >= 2 || BN_cmp(value.get(), limit.get()) >= 0) {
    BN_mod(value.get(), number(random.bytes(n.size() + 8)).get(), limit.get(), context.get());
  }
  return bytes_of(value.get(), n.size());
}

struct TestKey {
  const OracleKey* oracle;
  std::unique_ptr<PrivateKey> own;
};

// A key of each kind, for a row.
std::vector<TestKey> all_keys(const bignum::Variant* row, bool large = true) {
  std::vector<TestKey> keys;
  std::vector<uint32_t> sizes = {2048};
  if (large) sizes.insert(sizes.end(), {3072, 4096});
  for (const uint32_t bits : sizes) keys.push_back({&oracle_key(bits), make_key(oracle_key(bits).numbers, row)});
  for (const OracleKey& odd : odd_keys()) keys.push_back({&odd, make_key(odd.numbers, row)});
  return keys;
}

// Once for every row of this machine.
class RsaOfRow : public testing::TestWithParam<const bignum::Variant*> {
 protected:
  // The reference row takes its time.
  uint64_t times(uint64_t count) const {
    return tests::scaled(std::string(GetParam()->name) == "reference" ? std::max<uint64_t>(count / 20, 1) : count);
  }
  bool large() const { return std::string(GetParam()->name) != "reference"; }
};

INSTANTIATE_TEST_SUITE_P(Rows, RsaOfRow, testing::ValuesIn(test_rows()),
                         [](const auto& row) { return std::string(row.param->name); });

TEST_P(RsaOfRow, numbers_are_those_of_libcrypto) {
  tests::RandomSource random;
  for (const TestKey& key : all_keys(GetParam(), large())) {
    const Buffer& n = key.oracle->numbers.n;
    for (uint64_t i = times(20); i > 0; --i) {
      const Buffer in = number_below(n, random);
      EXPECT_EQ(private_number(*key.own, in),
                std::pair(STOCKADE_OK, oracle_number(*key.oracle, EVP_PKEY_decrypt_init, EVP_PKEY_decrypt, in)));
      EXPECT_EQ(public_number(key.own->public_key(), in),
                std::pair(STOCKADE_OK, oracle_number(*key.oracle, EVP_PKEY_encrypt_init, EVP_PKEY_encrypt, in)));
    }
  }
}

// 0, 1 and n - 1, and both factors, which have no inverse.
TEST_P(RsaOfRow, numbers_at_the_edges) {
  for (const TestKey& key : all_keys(GetParam(), false)) {
    const Numbers& numbers = key.oracle->numbers;
    const std::shared_ptr<BIGNUM> n = number(numbers.n), last(BN_dup(n.get()), BN_free);
    BN_sub_word(last.get(), 1);
    Buffer zero(numbers.n.size()), one = zero;
    one.back() = 1;
    const Buffer minus_one = bytes_of(last.get(), numbers.n.size());
    for (const Buffer& fixed : {zero, one, minus_one}) {
      EXPECT_EQ(private_number(*key.own, fixed), std::pair(STOCKADE_OK, fixed));
      EXPECT_EQ(public_number(key.own->public_key(), fixed), std::pair(STOCKADE_OK, fixed));
    }
    for (const Buffer& factor : {numbers.p, numbers.q}) {
      const Buffer in = bytes_of(number(factor).get(), numbers.n.size());
      const auto [status, out] = private_number(*key.own, in);
      ASSERT_EQ(status, STOCKADE_OK);
      EXPECT_EQ(public_number(key.own->public_key(), out), std::pair(STOCKADE_OK, in));
    }
    const Buffer nothing(numbers.n.size(), 0), all_ones(numbers.n.size(), 0xff);
    for (const Buffer& too_great : {bytes_of(n.get(), numbers.n.size()), all_ones}) {
      EXPECT_EQ(private_number(*key.own, too_great), std::pair(STOCKADE_ERROR_RSA_RANGE, nothing));
      EXPECT_EQ(public_number(key.own->public_key(), too_great), std::pair(STOCKADE_ERROR_RSA_RANGE, nothing));
    }
    for (const size_t length : {size_t{0}, numbers.n.size() - 1, numbers.n.size() + 1}) {
      EXPECT_EQ(private_number(*key.own, Buffer(length)), std::pair(STOCKADE_ERROR_RSA_LENGTH, nothing));
      EXPECT_EQ(public_number(key.own->public_key(), Buffer(length)), std::pair(STOCKADE_ERROR_RSA_LENGTH, nothing));
    }
  }
}

TEST_P(RsaOfRow, batches_of_every_length_and_many_keys) {
  tests::RandomSource random;
  const std::vector<TestKey> keys = all_keys(GetParam(), large());
  std::vector<uint64_t> lengths = {1, 2, 3, 4, 5, 7, 8, 9, 16, 63, 64, 65, 130};
  if (!large()) lengths = {1, 3, 9};
  for (const uint64_t length : lengths) {
    const bool one_key = random.one_in(2);
    std::vector<Buffer> in(length), out(length);
    std::vector<PrivateOperation> batch(length);
    std::vector<Status> expected(length, STOCKADE_OK);
    for (uint64_t i = 0; i < length; ++i) {
      const TestKey& key = keys[one_key ? 0 : random.below(keys.size())];
      in[i] = number_below(key.oracle->numbers.n, random);
      out[i].resize(in[i].size(), 0xAA);
      if (random.one_in(9)) {
        in[i] = Buffer(in[i].size(), 0xff);
        expected[i] = STOCKADE_ERROR_RSA_RANGE;
      }
      batch[i] = {key.own.get(), in[i], out[i]};
    }
    const auto failed = std::find_if(expected.begin(), expected.end(), [](Status s) { return s != STOCKADE_OK; });
    // Two parts of a batch are batches.
    const uint64_t cut = random.between(0, length);
    const Status first = run_private(std::span(batch).first(cut), system_random());
    const Status second = run_private(std::span(batch).subspan(cut), system_random());
    EXPECT_EQ(first != STOCKADE_OK ? first : second, failed == expected.end() ? STOCKADE_OK : *failed);
    std::vector<Buffer> back(length);
    std::vector<PublicOperation> check(length);
    for (uint64_t i = 0; i < length; ++i) {
      EXPECT_EQ(batch[i].status, expected[i]) << i << " of " << length;
      back[i].resize(in[i].size());
      check[i] = {&batch[i].key->public_key(), out[i], back[i]};
    }
    EXPECT_EQ(run_public(check), STOCKADE_OK);
    for (uint64_t i = 0; i < length; ++i) {
      EXPECT_EQ(back[i], expected[i] == STOCKADE_OK ? in[i] : Buffer(in[i].size())) << i << " of " << length;
    }
  }
}

// ---- signatures ----

SignaturePadding any_padding(tests::RandomSource& random) {
  const auto hash = static_cast<libcrypto::Hash>(random.below(libcrypto::hash_count)),
             mask = static_cast<libcrypto::Hash>(random.below(libcrypto::hash_count));
  if (random.one_in(3)) return Pkcs1{hash};
  constexpr SaltLength::Kind kinds[] = {SaltLength::Kind::digest, SaltLength::Kind::most, SaltLength::Kind::given};
  return Pss{hash, mask, {kinds[random.below(3)], random.below(60)}};
}

libcrypto::Hash hash_of(const SignaturePadding& padding) {
  const Pss* const pss = std::get_if<Pss>(&padding);
  return pss != nullptr ? pss->hash : std::get<Pkcs1>(padding).hash;
}

Status verified(const SignaturePadding& padding, const PublicKey& key, const Buffer& digest, const Buffer& signature) {
  Verification item{&key, digest, signature};
  const Status status = verify_many(padding, {&item, 1});
  EXPECT_EQ(item.status, status);
  return status;
}

TEST_P(RsaOfRow, signatures_both_ways) {
  tests::RandomSource random;
  const std::vector<TestKey> keys = all_keys(GetParam(), large());
  for (uint64_t i = times(120); i > 0; --i) {
    const TestKey& key = keys[random.below(keys.size())];
    const SignaturePadding padding = any_padding(random);
    const Buffer digest = random.bytes(libcrypto::digest_bytes(hash_of(padding)));
    Buffer signature(key.own->public_key().bytes());
    Signing item{key.own.get(), digest, signature};
    ASSERT_EQ(sign_many(padding, {&item, 1}, system_random()), STOCKADE_OK);
    EXPECT_TRUE(oracle_verifies(*key.oracle, padding, digest, signature));
    if (std::holds_alternative<Pkcs1>(padding)) {
      EXPECT_EQ(signature, oracle_signature(*key.oracle, padding, digest));
    }
    const PublicKey& half = key.own->public_key();
    EXPECT_EQ(verified(padding, half, digest, signature), STOCKADE_OK);
    signature = oracle_signature(*key.oracle, padding, digest);
    EXPECT_EQ(verified(padding, half, digest, signature), STOCKADE_OK);
    Buffer other = digest;
    other[random.below(other.size())] ^= static_cast<uint8_t>(1 << random.below(8));
    EXPECT_EQ(verified(padding, half, other, signature), STOCKADE_ERROR_SIGNATURE);
    signature.back() ^= 1;
    EXPECT_EQ(verified(padding, half, digest, signature), STOCKADE_ERROR_SIGNATURE);
    signature.push_back(0);
    EXPECT_EQ(verified(padding, half, digest, signature), STOCKADE_ERROR_RSA_LENGTH);
    signature.resize(signature.size() - 2);
    EXPECT_EQ(verified(padding, half, digest, signature), STOCKADE_ERROR_RSA_LENGTH);
    EXPECT_EQ(verified(padding, half, digest, Buffer(half.bytes(), 0xff)), STOCKADE_ERROR_RSA_RANGE);
  }
}

TEST(RsaSignatures, of_old_and_short_keys_are_verified_where_that_is_asked_for) {
  const OracleKey& old = oracle_key(1024);
  PublicKey key;
  ASSERT_EQ(PublicKey::make(old.numbers.public_view(), legacy_least_bits, test_row(), key), STOCKADE_OK);
  const Buffer digest(32, 9);
  const SignaturePadding paddings[] = {Pss{}, Pkcs1{}};
  for (const SignaturePadding& padding : paddings) {
    EXPECT_EQ(verified(padding, key, digest, oracle_signature(old, padding, digest)), STOCKADE_OK);
  }
}

TEST(RsaSignatures, in_a_batch_have_each_their_status) {
  const std::unique_ptr<PrivateKey> key = make_key(oracle_key(2048).numbers);
  constexpr size_t count = 70;
  std::vector<Buffer> digests(count, Buffer(32, 1)), signatures(count, Buffer(256, 0xAA));
  std::vector<Signing> batch;
  for (size_t i = 0; i < count; ++i) {
    digests[i][0] = static_cast<uint8_t>(i);
    if (i % 10 == 3) digests[i].resize(31);
    if (i % 10 == 7) signatures[i].resize(255);
    batch.push_back({key.get(), digests[i], signatures[i]});
  }
  EXPECT_EQ(sign_many(Pss{}, batch, system_random()), STOCKADE_ERROR_ARGUMENT);
  std::vector<Verification> check;
  for (size_t i = 0; i < count; ++i) {
    const bool short_digest = i % 10 == 3, short_output = i % 10 == 7;
    EXPECT_EQ(batch[i].status, short_digest   ? STOCKADE_ERROR_ARGUMENT
                               : short_output ? STOCKADE_ERROR_OUTPUT_SIZE
                                              : STOCKADE_OK);
    if (short_digest || short_output) {
      EXPECT_EQ(signatures[i], Buffer(signatures[i].size(), 0));
    }
    check.push_back({&key->public_key(), digests[i], signatures[i]});
  }
  EXPECT_EQ(verify_many(Pss{}, check), STOCKADE_ERROR_ARGUMENT);
  for (size_t i = 0; i < count; ++i) {
    EXPECT_EQ(check[i].status, i % 10 == 3   ? STOCKADE_ERROR_ARGUMENT
                               : i % 10 == 7 ? STOCKADE_ERROR_RSA_LENGTH
                                             : STOCKADE_OK);
  }
  EmptySource empty;
  batch.resize(1);
  EXPECT_EQ(sign_many(Pss{}, batch, empty), STOCKADE_ERROR_RANDOM);
  EXPECT_EQ(signatures[0], Buffer(256, 0));
  EXPECT_EQ(sign_many(Pss{}, {}, empty), STOCKADE_OK);
}

// ---- encryption ----

std::pair<Status, Buffer> decrypted(const PrivateKey& key, const Oaep& oaep, const Buffer& ciphertext) {
  Buffer message(static_cast<size_t>(oaep_capacity(oaep, key.public_key().bytes())), 0xAA);
  Decryption item{&key, ciphertext, message};
  const Status status = decrypt_many(oaep, {&item, 1}, system_random());
  EXPECT_EQ(item.status, status);
  EXPECT_TRUE(std::all_of(message.begin() + static_cast<int64_t>(item.length), message.end(),
                          [](uint8_t byte) { return byte == 0; }));
  message.resize(item.length);
  return {status, message};
}

TEST_P(RsaOfRow, encryption_both_ways) {
  tests::RandomSource random;
  const std::vector<TestKey> keys = all_keys(GetParam(), large());
  for (uint64_t i = times(120); i > 0; --i) {
    const TestKey& key = keys[random.below(keys.size())];
    const Buffer label = random.bytes(random.one_in(2) ? 0 : random.below(50));
    const Oaep oaep{static_cast<libcrypto::Hash>(random.below(libcrypto::hash_count)),
                    static_cast<libcrypto::Hash>(random.below(libcrypto::hash_count)), label};
    const PublicKey& half = key.own->public_key();
    const auto capacity = static_cast<uint64_t>(oaep_capacity(oaep, half.bytes()));
    const Buffer message = random.bytes(random.one_in(4) ? capacity : random.between(0, capacity));
    Buffer ciphertext(half.bytes());
    Encryption item{&half, message, ciphertext};
    ASSERT_EQ(encrypt_many(oaep, {&item, 1}, system_random()), STOCKADE_OK);
    EXPECT_EQ(oracle_oaep(*key.oracle, oaep, EVP_PKEY_decrypt_init, EVP_PKEY_decrypt, ciphertext), message);
    ciphertext = oracle_oaep(*key.oracle, oaep, EVP_PKEY_encrypt_init, EVP_PKEY_encrypt, message);
    EXPECT_EQ(decrypted(*key.own, oaep, ciphertext), std::pair(STOCKADE_OK, message));
    ciphertext.back() ^= 1;
    EXPECT_EQ(decrypted(*key.own, oaep, ciphertext), std::pair(STOCKADE_ERROR_DECRYPTION, Buffer()));
    ciphertext.pop_back();
    EXPECT_EQ(decrypted(*key.own, oaep, ciphertext), std::pair(STOCKADE_ERROR_RSA_LENGTH, Buffer()));
    EXPECT_EQ(decrypted(*key.own, oaep, Buffer(half.bytes(), 0xff)), std::pair(STOCKADE_ERROR_RSA_RANGE, Buffer()));
  }
}

TEST(RsaEncryption, in_a_batch_has_each_its_status) {
  const std::unique_ptr<PrivateKey> key = make_key(oracle_key(2048).numbers);
  const Oaep oaep;
  constexpr size_t count = 70;
  std::vector<Buffer> messages(count), ciphertexts(count, Buffer(256)), back(count, Buffer(190, 0xAA));
  std::vector<Encryption> batch;
  std::vector<Decryption> reverse;
  for (size_t i = 0; i < count; ++i) {
    messages[i] = Buffer(i % 10 == 3 ? 191 : i, static_cast<uint8_t>(i));
    batch.push_back({&key->public_key(), messages[i], ciphertexts[i]});
    if (i % 10 == 5) back[i].resize(189);
    reverse.push_back({key.get(), ciphertexts[i], back[i]});
  }
  EXPECT_EQ(encrypt_many(oaep, batch, system_random()), STOCKADE_ERROR_MESSAGE_LENGTH);
  EXPECT_EQ(decrypt_many(oaep, reverse, system_random()), STOCKADE_ERROR_DECRYPTION);
  for (size_t i = 0; i < count; ++i) {
    EXPECT_EQ(batch[i].status, i % 10 == 3 ? STOCKADE_ERROR_MESSAGE_LENGTH : STOCKADE_OK);
    EXPECT_EQ(reverse[i].status, i % 10 == 3   ? STOCKADE_ERROR_DECRYPTION  // of nothing but zeros
                                 : i % 10 == 5 ? STOCKADE_ERROR_OUTPUT_SIZE
                                               : STOCKADE_OK);
    Buffer expected(back[i].size());
    if (reverse[i].status == STOCKADE_OK) std::copy(messages[i].begin(), messages[i].end(), expected.begin());
    EXPECT_EQ(back[i], expected);
    EXPECT_EQ(reverse[i].length, reverse[i].status == STOCKADE_OK ? messages[i].size() : 0U);
  }
}

// ---- faults ----

// A row whose powers go wrong as a test says, and that remembers what it was given.
struct Faults {
  const bignum::Montgomery* only = nullptr;  // spoil powers modulo this alone
  bool above_modulus = false;
  bool public_power = false;
  std::set<std::vector<Limb>> bases;
};
Faults faults;

void spoil(const bignum::Power& power) {
  if (faults.above_modulus) {
    std::fill_n(power.result, power.modulus->limbs, ~Limb{0});
  } else {
    power.result[power.modulus->limbs / 2] ^= Limb{1} << 17;
  }
}

Status faulty_modexp(const bignum::Power* tasks, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    const std::vector<Limb> base(tasks[i].base, tasks[i].base + tasks[i].modulus->limbs);
    EXPECT_TRUE(faults.bases.insert(base).second) << "the same number twice";
  }
  const Status status = test_row()->kernels->modexp(tasks, count);
  for (size_t i = 0; i < count; ++i) {
    if (tasks[i].modulus == faults.only) spoil(tasks[i]);
  }
  return status;
}

Status faulty_modexp_public(const bignum::Power* tasks, size_t count) {
  const Status status = test_row()->kernels->modexp_public(tasks, count);
  for (size_t i = 0; i < count && faults.public_power; ++i) spoil(tasks[i]);
  return status;
}

const bignum::Variant* faulty_row() {
  static const bignum::Kernels kernels = [] {
    bignum::Kernels made = *test_row()->kernels;
    made.modexp = faulty_modexp;
    made.modexp_public = faulty_modexp_public;
    return made;
  }();
  static const bignum::Variant row = {"faulty", cpu::none, 1, false, &kernels};
  return &row;
}

std::vector<TestKey> faulty_keys() {
  faults = {};
  return all_keys(faulty_row(), false);
}

TEST(RsaFaults, in_either_half_release_nothing) {
  tests::RandomSource random;
  for (const TestKey& key : faulty_keys()) {
    const Buffer in = number_below(key.oracle->numbers.n, random, false), nothing(in.size());
    EXPECT_EQ(private_number(*key.own, in).first, STOCKADE_OK);
    for (const bool above : {false, true}) {
      for (const bignum::Modulus* half : {&key.own->p(), &key.own->q()}) {
        faults = {};
        faults.above_modulus = above;
        faults.only = &half->constants();
        EXPECT_EQ(private_number(*key.own, in), std::pair(STOCKADE_ERROR_RSA_FAULT, nothing));
        Buffer signature(in.size(), 0xAA), message(in.size(), 0xAA);
        const Buffer digest(32, 5);
        Signing signing{key.own.get(), digest, signature};
        EXPECT_EQ(sign_many(Pkcs1{}, {&signing, 1}, system_random()), STOCKADE_ERROR_RSA_FAULT);
        EXPECT_EQ(signature, nothing);
        Decryption decryption{key.own.get(), in, message};
        EXPECT_EQ(decrypt_many({}, {&decryption, 1}, system_random()), STOCKADE_ERROR_RSA_FAULT);
        EXPECT_EQ(message, nothing);
        EXPECT_EQ(decryption.length, 0U);
      }
    }
    // The key is as good as before.
    faults = {};
    const auto [status, out] = private_number(*key.own, in);
    EXPECT_EQ(status, STOCKADE_OK);
    EXPECT_EQ(public_number(key.own->public_key(), out), std::pair(STOCKADE_OK, in));
  }
}

TEST(RsaFaults, in_the_check_release_nothing_either) {
  tests::RandomSource random;
  const std::vector<TestKey> keys = faulty_keys();
  const Buffer in = number_below(keys[0].oracle->numbers.n, random, false);
  EXPECT_EQ(private_number(*keys[0].own, in).first, STOCKADE_OK);
  faults.public_power = true;
  EXPECT_EQ(private_number(*keys[0].own, in), std::pair(STOCKADE_ERROR_RSA_FAULT, Buffer(in.size())));
}

TEST(RsaFaults, of_a_half_on_a_thread_of_its_own_release_nothing) {
  tests::RandomSource random;
  const std::vector<TestKey> keys = faulty_keys();
  const Arrangement apart{Layers::halves, {config::Kind::serial, 1, aes::Stores::ordinary, ""}};
  for (const TestKey& key : keys) {
    const Buffer in = number_below(key.oracle->numbers.n, random, false);
    for (const bignum::Modulus* half : {&key.own->p(), &key.own->q()}) {
      faults = {};
      faults.only = &half->constants();
      Buffer out(in.size(), 0xAA);
      PrivateOperation operation{key.own.get(), in, out};
      EXPECT_EQ(run_private({&operation, 1}, system_random(), apart), STOCKADE_ERROR_RSA_FAULT);
      EXPECT_EQ(out, Buffer(in.size()));
    }
  }
}

TEST(RsaFaults, in_a_batch_hit_only_whom_they_hit) {
  tests::RandomSource random;
  const std::vector<TestKey> keys = faulty_keys();
  std::vector<Buffer> in, out;
  for (size_t i = 0; i < 20; ++i) {
    in.push_back(number_below(keys[i % keys.size()].oracle->numbers.n, random, false));
    out.emplace_back(in[i].size(), 0xAA);
  }
  std::vector<PrivateOperation> batch;
  for (size_t i = 0; i < 20; ++i) batch.push_back({keys[i % keys.size()].own.get(), in[i], out[i]});
  faults.only = &keys[1].own->q().constants();
  EXPECT_EQ(run_private(batch, system_random()), STOCKADE_ERROR_RSA_FAULT);
  for (size_t i = 0; i < 20; ++i) {
    const bool hit = i % keys.size() == 1;
    EXPECT_EQ(batch[i].status, hit ? STOCKADE_ERROR_RSA_FAULT : STOCKADE_OK);
    const Buffer expected =
        hit ? Buffer(in[i].size())
            : oracle_number(*keys[i % keys.size()].oracle, EVP_PKEY_decrypt_init, EVP_PKEY_decrypt, in[i]);
    EXPECT_EQ(out[i], expected);
  }
}

// ---- blinding ----

// The faulty row fails the test where it is given the same number twice.
TEST(RsaBlinding, never_computes_with_what_the_caller_chose) {
  const std::vector<TestKey> keys = faulty_keys();
  const TestKey& key = keys[0];
  Buffer in(256, 0);
  in.back() = 2;
  faults = {};
  for (uint32_t i = 0; i < 3 * Blinding::uses_of_r; ++i) {
    EXPECT_EQ(private_number(*key.own, in).first, STOCKADE_OK);
  }
  EXPECT_EQ(faults.bases.size(), 6 * Blinding::uses_of_r);
  std::vector<Limb> two(key.own->p().limbs(), 0);
  two[0] = 2;
  EXPECT_FALSE(faults.bases.contains(two));
}

TEST(RsaBlinding, gives_pairs_that_belong_together) {
  const std::unique_ptr<PrivateKey> key = make_key(oracle_key(2048).numbers);
  const PublicKey& half = key->public_key();
  std::set<std::vector<Limb>> seen;
  for (uint32_t i = 0; i < 2 * Blinding::uses_of_r + 1; ++i) {
    std::vector<Limb> factor(half.limbs()), inverse(half.limbs()), power(half.limbs());
    ASSERT_EQ(key->blinding().next(half, system_random(), factor.data(), inverse.data()), STOCKADE_OK);
    EXPECT_TRUE(seen.insert(factor).second);
    const bignum::Power task = {&half.modulus().constants(), inverse.data(), half.exponent(), half.exponent_bits(),
                                power.data()};
    std::vector<Limb> one(half.limbs());
    one[0] = 1;
    for (std::vector<Limb>* const number : {&factor, &inverse}) {
      ASSERT_EQ(half.modulus().multiply_montgomery(number->data(), one.data(), number->data()), STOCKADE_OK);
    }
    ASSERT_EQ(test_row()->kernels->modexp_public(&task, 1), STOCKADE_OK);
    ASSERT_EQ(half.modulus().multiply(power.data(), factor.data(), power.data()), STOCKADE_OK);
    EXPECT_NE(bignum::is_word(power.data(), half.limbs(), 1), 0U);
  }
}

// Draws nothing before the test lets it.
class HeldSource final : public RandomSource {
 public:
  Status fill(uint8_t* out, uint64_t length) override {
    asked = true;
    while (!released) std::this_thread::yield();
    return system_random().fill(out, length);
  }
  std::atomic<bool> asked{false}, released{false};
};

TEST(RsaBlinding, of_a_forked_child_is_its_own_and_waits_for_no_thread_of_the_parent) {
  const auto key = make_key(oracle_key(2048).numbers);
  const PublicKey& half = key->public_key();
  std::vector<Limb> factor(half.limbs()), inverse(half.limbs());
  const auto draw = [&] { return key->blinding().next(half, system_random(), factor.data(), inverse.data()); };
  ASSERT_EQ(draw(), STOCKADE_OK);
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  const size_t bytes = factor.size() * sizeof(Limb);
  if (child == 0) {
    alarm(60);
    const bool drawn = draw() == STOCKADE_OK;
    _exit(drawn && write(ends[1], factor.data(), bytes) == static_cast<ssize_t>(bytes) ? 0 : 1);
  }
  std::vector<Limb> of_child(half.limbs());
  ASSERT_EQ(read(ends[0], of_child.data(), bytes), static_cast<ssize_t>(bytes));
  close(ends[0]);
  close(ends[1]);
  int status = 1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  ASSERT_EQ(draw(), STOCKADE_OK);
  EXPECT_NE(factor, of_child);

  // The lock is held by a thread that the child does not have.
  HeldSource held;
  std::vector<Limb> other(half.limbs()), other_inverse(half.limbs());
  const auto fresh = make_key(oracle_key(2048).numbers);
  std::thread holder([&] { fresh->blinding().next(half, held, other.data(), other_inverse.data()); });
  while (!held.asked) std::this_thread::yield();
  const pid_t second = fork();
  ASSERT_GE(second, 0);
  if (second == 0) {
    alarm(60);
    _exit(fresh->blinding().next(half, system_random(), factor.data(), inverse.data()) == STOCKADE_OK ? 0 : 1);
  }
  ASSERT_EQ(waitpid(second, &status, 0), second);
  EXPECT_EQ(status, 0);
  held.released = true;
  holder.join();
}

TEST(RsaBlinding, needs_random_numbers_now_and_then) {
  const std::unique_ptr<PrivateKey> key = make_key(oracle_key(2048).numbers);
  const Buffer in(256, 1);
  Buffer out(256, 0xAA);
  PrivateOperation operation{key.get(), in, out};
  EmptySource empty;
  EXPECT_EQ(run_private({&operation, 1}, empty), STOCKADE_ERROR_RANDOM);
  EXPECT_EQ(out, Buffer(256));
  EXPECT_EQ(run_private({&operation, 1}, system_random()), STOCKADE_OK);
  EXPECT_EQ(run_private({&operation, 1}, empty), STOCKADE_OK);
  for (uint32_t i = 2; i < Blinding::uses_of_r; ++i) EXPECT_EQ(run_private({&operation, 1}, empty), STOCKADE_OK);
  EXPECT_EQ(run_private({&operation, 1}, empty), STOCKADE_ERROR_RANDOM);
}

TEST(RsaThreads, share_a_key) {
  tests::RandomSource random;
  const std::unique_ptr<PrivateKey> key = make_key(oracle_key(2048).numbers);
  constexpr size_t count = 8, each = 20;
  std::vector<Buffer> in, out(count * each, Buffer(256));
  for (size_t i = 0; i < count * each; ++i) in.push_back(number_below(oracle_key(2048).numbers.n, random, false));
  std::vector<std::thread> threads;
  for (size_t t = 0; t < count; ++t) {
    threads.emplace_back([&, t] {
      for (size_t i = t * each; i < (t + 1) * each; ++i) {
        PrivateOperation operation{key.get(), in[i], out[i]};
        run_private({&operation, 1}, system_random());
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (size_t i = 0; i < count * each; ++i) {
    EXPECT_EQ(public_number(key->public_key(), out[i]), std::pair(STOCKADE_OK, in[i]));
  }
}

}  // namespace
}  // namespace stockade::rsa
