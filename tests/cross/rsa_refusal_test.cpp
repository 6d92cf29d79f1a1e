// RSA where something outside it fails: STOCKADE_ERROR_MEMORY, _RANDOM and _LIBRARY. Whichever allocation, call of the
// operating system's random numbers or call of libcrypto is the one that fails, the call says so or does without, and
// leaves nothing behind.
#include <gtest/gtest.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/pkcs12.h>
#include <openssl/x509.h>

#include <algorithm>
#include <functional>

#include "cross/failing_calls.h"
#include "cross/failing_memory.h"
#include "cross/file_sample.h"
#include "cross/handles.h"
#include "cross/random_source.h"
#include "cross/rsa_sample.h"

namespace stockade::tests {
namespace {

constexpr uint64_t size = 256;
constexpr char passphrase[] = "correct horse";

// ---- key files ----

template <typename Write>
std::string written(Write write) {
  const std::shared_ptr<BIO> file(BIO_new(BIO_s_mem()), BIO_free);
  EXPECT_EQ(write(file.get()), 1);
  char* text = nullptr;
  const long length = BIO_get_mem_data(file.get(), &text);
  return {text, static_cast<size_t>(length)};
}

std::string certificate(EVP_PKEY* key) {
  const std::shared_ptr<X509> made(X509_new(), X509_free);
  X509_gmtime_adj(X509_getm_notBefore(made.get()), 0);
  X509_gmtime_adj(X509_getm_notAfter(made.get()), 3600);
  X509_set_pubkey(made.get(), key);
  EXPECT_GT(X509_sign(made.get(), key, EVP_sha256()), 0);
  return written([&](BIO* out) { return PEM_write_bio_X509(out, made.get()); });
}

// With few rounds, each of which allocates.
int write_encrypted(BIO* out, EVP_PKEY* key) {
  const std::shared_ptr<PKCS8_PRIV_KEY_INFO> info(EVP_PKEY2PKCS8(key), PKCS8_PRIV_KEY_INFO_free);
  const std::shared_ptr<X509_SIG> encrypted(
      PKCS8_encrypt(-1, EVP_aes_256_cbc(), passphrase, sizeof passphrase - 1, nullptr, 0, 5, info.get()),
      X509_SIG_free);
  return PEM_write_bio_PKCS8(out, encrypted.get());
}

struct KeyFile {
  const char* name;
  bool is_private;
  std::string content;
};

std::vector<KeyFile> key_files(const OracleRsaKey& key) {
  EVP_PKEY* const pkey = key.get();
  char* const secret = const_cast<char*>(passphrase);
  return {
      {"PKCS#8", true, private_pem(key)},
      {"PKCS#8 DER", true,
       written([&](BIO* out) { return i2d_PKCS8PrivateKey_bio(out, pkey, nullptr, nullptr, 0, nullptr, nullptr); })},
      {"PKCS#8, encrypted", true, written([&](BIO* out) { return write_encrypted(out, pkey); })},
      {"PKCS#1", true, written([&](BIO* out) {
         return PEM_write_bio_PrivateKey_traditional(out, pkey, nullptr, nullptr, 0, nullptr, nullptr);
       })},
      {"PKCS#1, encrypted", true, written([&](BIO* out) {
         return PEM_write_bio_PrivateKey_traditional(out, pkey, EVP_aes_256_cbc(), nullptr, 0, nullptr, secret);
       })},
      {"SubjectPublicKeyInfo", false, public_pem(key)},
      {"certificate", false, certificate(pkey)},
  };
}

class RsaRefusals : public testing::Test {
 protected:
  RsaRefusals() {
    reading_.struct_size = sizeof reading_;
    reading_.passphrase = passphrase;
    reading_.passphrase_length = sizeof passphrase - 1;
    // What libcrypto and the library keep for ever is made by the first call that needs it.
    char id[12];
    EXPECT_EQ(stockade_key_id(digest_.data(), digest_.size(), id), STOCKADE_OK);
    for (const KeyFile& file : key_files(oracle_)) {
      stockade_rsa_key* key = nullptr;
      EXPECT_EQ(read(file, &key), STOCKADE_OK) << file.name;
      stockade_rsa_key_free(key);
    }
  }

  stockade_status read(const KeyFile& file, stockade_rsa_key** key) {
    const auto function = file.is_private ? stockade_rsa_key_read_private : stockade_rsa_key_read_public;
    return function(key, file.content.data(), file.content.size(), &reading_);
  }

  // A key without anything that its use leaves in it.
  RsaKey fresh() { return read_private(private_pem(oracle_)); }

  void clear() {
    std::fill(out_.begin(), out_.end(), uint8_t{0xEE});
    length_ = 0;
  }
  // After a failure: nothing but what was there, or zeros.
  void expect_nothing() const {
    EXPECT_TRUE(std::all_of(out_.begin(), out_.end(), [](uint8_t byte) { return byte == 0 || byte == 0xEE; }));
    EXPECT_EQ(length_, 0U);
  }
  // OK only for what is expected.
  stockade_status right(stockade_status status, const Bytes& expected) const {
    if (status != STOCKADE_OK) return status;
    const bool same = length_ == expected.size() && std::equal(expected.begin(), expected.end(), out_.begin());
    return same ? status : STOCKADE_ERROR_SIGNATURE;
  }

  // Makes the first, second, ... call of that kind fail and every one after it, until none is left; `call` gets a fresh
  // key each time. Returns how often it failed.
  int refuse(Failing kind, const std::function<stockade_status(const stockade_rsa_key*)>& call) {
    const stockade_status expected = kind == Failing::random ? STOCKADE_ERROR_RANDOM : STOCKADE_ERROR_LIBRARY;
    for (uint64_t successes = 0; successes < 1000; ++successes) {
      const RsaKey key = fresh();
      clear();
      const FailingCalls failing(kind, successes);
      const stockade_status status = call(key.get());
      if (failing.refused() == 0) {
        EXPECT_EQ(status, STOCKADE_OK);
        return static_cast<int>(successes);
      }
      EXPECT_EQ(status, expected) << "after " << successes << " calls";
      expect_nothing();
    }
    ADD_FAILURE() << "never enough";
    return 0;
  }

  const OracleRsaKey oracle_ = oracle_rsa_key(2048);
  const RsaKey half_ = read_public(public_pem(oracle_));
  const RsaCase pkcs1_ = {STOCKADE_RSA_PKCS1V15};
  const stockade_rsa_options options_ = pkcs1_.options();
  const Bytes digest_ = Bytes(32, 9), signature_ = oracle_sign(oracle_, pkcs1_, digest_);
  const Bytes ciphertext_ = oracle_encrypt(oracle_, {}, digest_);
  Bytes out_ = Bytes(size);
  uint64_t length_ = 0;
  stockade_rsa_reading reading_ = {};
};
using RsaMemory = RsaRefusals;

// ---- memory ----

TEST_F(RsaMemory, of_a_key_that_is_read) {
  ASSERT_TRUE(libcrypto_counts());
  for (const KeyFile& file : key_files(oracle_)) {
    SCOPED_TRACE(file.name);
    stockade_rsa_key* key = nullptr;
    EXPECT_GE(sweep([&] { return read(file, &key); }, [&] { EXPECT_EQ(key, nullptr); }), 3);
    ASSERT_NE(key, nullptr);
    const RsaKey own(key);
    EXPECT_EQ(stockade_rsa_key_bits(key), 2048U);
  }
}

TEST_F(RsaMemory, of_a_key_in_a_ring) {
  for (const KeyFile& file : key_files(oracle_)) {
    SCOPED_TRACE(file.name);
    const KeyringHandle ring = keyring_of(std::vector<Bytes>{});
    const auto function = file.is_private ? stockade_keyring_add_rsa_private : stockade_keyring_add_rsa_public;
    const auto add = [&] { return function(ring.get(), file.content.data(), file.content.size(), &reading_, nullptr); };
    EXPECT_GE(sweep(add, [] {}), 3);
    // One key, however often it was tried.
    EXPECT_EQ(add(), STOCKADE_ERROR_ARGUMENT);
    const stockade_format format = format_for(ring);
    if (!file.is_private) continue;
    const Bytes text = sample_text(100);
    EXPECT_EQ(ways_to_open()[0].open(format, seal(format, text)).text, text);
  }
}

// How many it takes depends on the primes that are met.
TEST_F(RsaMemory, of_a_key_that_is_made) {
  stockade_rsa_key* key = nullptr;
  EXPECT_GE(
      sweep([&] { return stockade_rsa_key_generate(&key, 2048, 0, nullptr); }, [&] { EXPECT_EQ(key, nullptr); }, 100),
      20);
  ASSERT_NE(key, nullptr);
  stockade_rsa_key_free(key);
}

TEST_F(RsaMemory, of_the_public_half) {
  const RsaKey key = fresh();
  stockade_rsa_key* half = nullptr;
  EXPECT_GE(sweep([&] { return stockade_rsa_key_public(&half, key.get()); }, [&] { EXPECT_EQ(half, nullptr); }), 2);
  ASSERT_NE(half, nullptr);
  stockade_rsa_key_free(half);
}

TEST_F(RsaMemory, of_a_key_that_is_written) {
  const RsaKey key = fresh();
  out_.resize(stockade_rsa_key_file_bound(key.get()));
  const auto write = [&](const void* secret) {
    return sweep(
        [&] {
          clear();
          return stockade_rsa_key_write_private(key.get(), secret, secret == nullptr ? 0 : sizeof passphrase - 1,
                                                out_.data(), out_.size(), &length_);
        },
        [&] { expect_nothing(); }, 100);
  };
  EXPECT_GE(write(nullptr), 2);
  EXPECT_EQ(std::string(out_.begin(), out_.begin() + static_cast<long>(length_)), private_pem(oracle_));
  // Each of the 600,000 rounds allocates.
  EXPECT_GE(write(passphrase), 100);
  stockade_rsa_key* read_back = nullptr;
  ASSERT_EQ(stockade_rsa_key_read_private(&read_back, out_.data(), length_, &reading_), STOCKADE_OK);
  stockade_rsa_key_free(read_back);
  EXPECT_GE(sweep(
                [&] {
                  clear();
                  return stockade_rsa_key_write_public(key.get(), out_.data(), out_.size(), &length_);
                },
                [&] { expect_nothing(); }),
            1);
  EXPECT_EQ(std::string(out_.begin(), out_.begin() + static_cast<long>(length_)), public_pem(oracle_));
}

TEST_F(RsaMemory, of_a_signature) {
  const RsaKey key = fresh();
  EXPECT_GE(sweep(
                [&] {
                  clear();
                  return right(stockade_rsa_sign_digest(key.get(), &options_, digest_.data(), 32, out_.data(), size,
                                                        &length_, nullptr),
                               signature_);
                },
                [&] { expect_nothing(); }),
            5);
  const RsaKey other = fresh();
  EXPECT_GE(sweep(
                [&] {
                  clear();
                  return stockade_rsa_sign(other.get(), nullptr, digest_.data(), 32, out_.data(), size, &length_,
                                           nullptr);
                },
                [&] { expect_nothing(); }),
            5);
  EXPECT_TRUE(oracle_verify(oracle_, {}, oracle_digest("sha256", digest_), out_));
}

TEST_F(RsaMemory, of_a_verdict) {
  // What could not be verified has not been, and a wrong signature is never right for want of memory.
  EXPECT_GE(sweep(
                [&] {
                  return stockade_rsa_verify_digest(half_.get(), &options_, digest_.data(), 32, signature_.data(), size,
                                                    nullptr);
                },
                [] {}),
            2);
  Bytes wrong = signature_;
  wrong[100] ^= 1;
  for (uint64_t successes = 0; successes < 20; ++successes) {
    const FailingMemory memory(successes);
    EXPECT_NE(stockade_rsa_verify_digest(half_.get(), &options_, digest_.data(), 32, wrong.data(), size, nullptr),
              STOCKADE_OK);
  }
}

TEST_F(RsaMemory, of_encryption_and_decryption) {
  EXPECT_GE(sweep(
                [&] {
                  clear();
                  return stockade_rsa_encrypt(half_.get(), nullptr, digest_.data(), 32, out_.data(), size, &length_,
                                              nullptr);
                },
                [&] { expect_nothing(); }),
            3);
  EXPECT_EQ(oracle_decrypt(oracle_, {}, out_), digest_);
  const RsaKey key = fresh();
  EXPECT_GE(sweep(
                [&] {
                  clear();
                  return right(stockade_rsa_decrypt(key.get(), nullptr, ciphertext_.data(), size, out_.data(), size,
                                                    &length_, nullptr),
                               digest_);
                },
                [&] { expect_nothing(); }),
            5);
}

TEST_F(RsaMemory, of_bare_numbers) {
  Bytes number(size, 1);
  const RsaKey key = fresh();
  for (const auto function : {stockade_rsa_raw_private, stockade_rsa_raw_public}) {
    EXPECT_GE(sweep(
                  [&] {
                    clear();
                    return function(key.get(), number.data(), size, out_.data(), size, nullptr);
                  },
                  [&] { expect_nothing(); }),
              1);
    number = out_;
  }
  EXPECT_EQ(out_, Bytes(size, 1));
}

// Items over outputs of their own, all of which end in one way or the other.
struct Batch {
  Batch(const stockade_rsa_key* key, const Bytes& in, const Bytes& signature, uint64_t count)
      : outputs(count, Bytes(size)), items(count) {
    for (uint64_t i = 0; i < count; ++i) {
      items[i] = {key, in.data(),        in.size(),        outputs[i].data(), size,
                  0,   signature.data(), signature.size(), STOCKADE_OK};
    }
  }
  void clear() {
    for (Bytes& one : outputs) std::fill(one.begin(), one.end(), uint8_t{0xEE});
    for (stockade_rsa_item& item : items) item.out_length = 77, item.status = STOCKADE_ERROR_STATE;
  }
  // Who failed has nothing in the output, and no length.
  void expect_consistent() const {
    for (size_t i = 0; i < items.size(); ++i) {
      EXPECT_NE(items[i].status, STOCKADE_ERROR_STATE);
      if (items[i].status == STOCKADE_OK) continue;
      EXPECT_EQ(items[i].out_length, 0U) << i;
      EXPECT_TRUE(std::all_of(outputs[i].begin(), outputs[i].end(), [](uint8_t byte) {
        return byte == 0 || byte == 0xEE;
      })) << i;
    }
  }

  std::vector<Bytes> outputs;
  std::vector<stockade_rsa_item> items;
};

TEST_F(RsaMemory, of_many_operations) {
  const RsaKey key = fresh();
  constexpr uint64_t count = 9;
  struct {
    decltype(&stockade_rsa_sign_many) function;
    const Bytes* in;
  } const cases[] = {{stockade_rsa_sign_many, &digest_},
                     {stockade_rsa_verify_many, &digest_},
                     {stockade_rsa_encrypt_many, &digest_},
                     {stockade_rsa_decrypt_many, &ciphertext_}};
  for (const auto& [function, in] : cases) {
    for (const NamedEngine& engine : {all_engines()[0], all_engines()[2]}) {
      SCOPED_TRACE(engine.name);
      Batch batch(key.get(), *in, signature_, count);
      // Once before, for what the runtime of the threads allocates when they start.
      ASSERT_EQ(function(batch.items.data(), count, &options_, engine.engine), STOCKADE_OK);
      EXPECT_GE(sweep(
                    [&, call = function] {
                      batch.clear();
                      return call(batch.items.data(), count, &options_, engine.engine);
                    },
                    [&] { batch.expect_consistent(); }),
                3);
      for (const Bytes& output : batch.outputs) {
        if (function == stockade_rsa_sign_many) {
          EXPECT_EQ(output, signature_);
        } else if (function == stockade_rsa_decrypt_many) {
          EXPECT_TRUE(std::equal(digest_.begin(), digest_.end(), output.begin()));
        }
      }
    }
  }
}

TEST_F(RsaMemory, of_a_queue) {
  stockade_rsa_queue_options options = {sizeof options, 4, 100, options_};
  stockade_rsa_queue* queue = nullptr;
  const Engine engine = make_engine("threads", 2);
  EXPECT_GE(sweep([&] { return stockade_rsa_queue_create(&queue, &options, engine.get()); },
                  [&] { EXPECT_EQ(queue, nullptr); }),
            3);
  ASSERT_NE(queue, nullptr);
  const RsaKey key = fresh();
  Batch sign(key.get(), digest_, {}, 1), decrypt(key.get(), ciphertext_, {}, 1);
  EXPECT_GE(sweep(
                [&] {
                  sign.clear();
                  return stockade_rsa_queue_sign(queue, sign.items.data());
                },
                [&] { sign.expect_consistent(); }),
            5);
  EXPECT_EQ(sign.outputs[0], signature_);
  EXPECT_GE(sweep(
                [&] {
                  decrypt.clear();
                  return stockade_rsa_queue_decrypt(queue, decrypt.items.data());
                },
                [&] { decrypt.expect_consistent(); }),
            3);
  EXPECT_TRUE(std::equal(digest_.begin(), digest_.end(), decrypt.outputs[0].begin()));
  // What could not be submitted is not called back.
  sign.clear();
  int calls = 0;
  const stockade_rsa_done done = [](void* context, stockade_rsa_item*) { ++*static_cast<int*>(context); };
  {
    const FailingMemory memory(0);
    EXPECT_EQ(stockade_rsa_queue_submit_sign(queue, sign.items.data(), done, &calls), STOCKADE_ERROR_MEMORY);
  }
  EXPECT_EQ(stockade_rsa_queue_submit_sign(queue, sign.items.data(), done, &calls), STOCKADE_OK);
  stockade_rsa_queue_free(queue);
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(sign.items[0].status, STOCKADE_OK);
}

TEST_F(RsaMemory, of_a_digest) {
  const Bytes message(1000, 3), expected = oracle_digest("sha384", message);
  EXPECT_GE(sweep(
                [&] {
                  clear();
                  return right(stockade_digest("sha384", message.data(), message.size(), out_.data(), size, &length_),
                               expected);
                },
                [&] { expect_nothing(); }),
            1);
}

// ---- random numbers, and libcrypto ----

TEST_F(RsaRefusals, of_a_key_that_is_read) {
  for (const KeyFile& file : key_files(oracle_)) {
    SCOPED_TRACE(file.name);
    const auto call = [&](const stockade_rsa_key*) {
      stockade_rsa_key* key = nullptr;
      const stockade_status status = read(file, &key);
      EXPECT_EQ(key != nullptr, status == STOCKADE_OK);
      stockade_rsa_key_free(key);
      return status;
    };
    const bool encrypted = file.content.find("ENCRYPTED") != std::string::npos;
    const bool is_certificate = file.content.find("CERTIFICATE") != std::string::npos;
    // The bases of the primality tests.
    EXPECT_EQ(refuse(Failing::random, call) > 0, file.is_private);
    EXPECT_EQ(refuse(Failing::library, call) > 0, encrypted || is_certificate);
  }
}

// How often it draws depends on the primes that are met.
TEST_F(RsaRefusals, of_a_key_that_is_made) {
  for (uint64_t successes = 0; successes < 1000000; successes += successes < 50 ? 1 : successes) {
    stockade_rsa_key* made = nullptr;
    const FailingCalls failing(Failing::random, successes);
    const stockade_status status = stockade_rsa_key_generate(&made, 2048, 0, nullptr);
    const RsaKey key(made);
    EXPECT_EQ(key != nullptr, status == STOCKADE_OK);
    if (status == STOCKADE_OK) return;
    ASSERT_EQ(status, STOCKADE_ERROR_RANDOM) << "after " << successes << " calls";
  }
  FAIL() << "never enough";
}

TEST_F(RsaRefusals, of_a_key_that_is_written) {
  out_.resize(stockade_rsa_key_file_bound(half_.get()));
  const auto call = [&](const stockade_rsa_key* key) {
    return stockade_rsa_key_write_private(key, passphrase, sizeof passphrase - 1, out_.data(), out_.size(), &length_);
  };
  // Salt and IV.
  EXPECT_EQ(refuse(Failing::random, call), 2);
  EXPECT_GE(refuse(Failing::library, call), 3);
}

TEST_F(RsaRefusals, of_operations) {
  const auto sign = [&](const stockade_rsa_options* options) {
    return [this, options](const stockade_rsa_key* key) {
      return stockade_rsa_sign(key, options, digest_.data(), 32, out_.data(), size, &length_, nullptr);
    };
  };
  // The pair for blinding, and the salt of PSS.
  EXPECT_EQ(refuse(Failing::random, sign(&options_)), 1);
  EXPECT_EQ(refuse(Failing::random, sign(nullptr)), 2);
  EXPECT_GE(refuse(Failing::library, sign(&options_)), 4);
  EXPECT_GE(refuse(Failing::library, sign(nullptr)), 12);
  const auto encrypt = [&](const stockade_rsa_key* key) {
    return stockade_rsa_encrypt(key, nullptr, digest_.data(), 32, out_.data(), size, &length_, nullptr);
  };
  EXPECT_EQ(refuse(Failing::random, encrypt), 1);
  EXPECT_GE(refuse(Failing::library, encrypt), 12);
  const auto decrypt = [&](const stockade_rsa_key* key) {
    return right(stockade_rsa_decrypt(key, nullptr, ciphertext_.data(), size, out_.data(), size, &length_, nullptr),
                 digest_);
  };
  EXPECT_EQ(refuse(Failing::random, decrypt), 1);
  EXPECT_GE(refuse(Failing::library, decrypt), 12);
  const auto raw = [&](const stockade_rsa_key* key) {
    return stockade_rsa_raw_private(key, signature_.data(), size, out_.data(), size, nullptr);
  };
  EXPECT_EQ(refuse(Failing::random, raw), 1);
  EXPECT_EQ(refuse(Failing::library, raw), 0);
  const auto digest = [&](const stockade_rsa_key*) {
    return stockade_digest(nullptr, digest_.data(), 32, out_.data(), size, &length_);
  };
  EXPECT_EQ(refuse(Failing::random, digest), 0);
  EXPECT_GE(refuse(Failing::library, digest), 4);
}

TEST_F(RsaRefusals, of_a_verdict) {
  const Bytes pss = oracle_sign(oracle_, {}, digest_);
  const auto verify = [&](const stockade_rsa_key* key) {
    return stockade_rsa_verify_digest(key, nullptr, digest_.data(), 32, pss.data(), size, nullptr);
  };
  EXPECT_EQ(refuse(Failing::random, verify), 0);
  EXPECT_GE(refuse(Failing::library, verify), 12);
}

TEST_F(RsaRefusals, of_requests_in_a_queue) {
  stockade_rsa_queue* queue = nullptr;
  ASSERT_EQ(stockade_rsa_queue_create(&queue, nullptr, nullptr), STOCKADE_OK);
  for (const auto function : {stockade_rsa_queue_sign, stockade_rsa_queue_decrypt}) {
    const Bytes& in = function == stockade_rsa_queue_sign ? digest_ : ciphertext_;
    const auto call = [&](const stockade_rsa_key* key) {
      stockade_rsa_item item = {key, in.data(), in.size(), out_.data(), size, 77, nullptr, 0, STOCKADE_OK};
      const stockade_status status = function(queue, &item);
      EXPECT_EQ(item.status, status);
      length_ = item.out_length;
      return status;
    };
    EXPECT_GE(refuse(Failing::random, call), 1);
    EXPECT_GE(refuse(Failing::library, call), 12);
  }
  stockade_rsa_queue_free(queue);
}

// The host's own queue of libcrypto errors is left as it was, and what it holds explains nothing.
TEST_F(RsaRefusals, leave_no_errors_in_the_queue) {
  ERR_clear_error();
  ERR_raise(ERR_LIB_USER, ERR_R_MALLOC_FAILURE);
  const unsigned long mine = ERR_peek_last_error();
  refuse(Failing::library, [&](const stockade_rsa_key* key) {
    return stockade_rsa_sign(key, nullptr, digest_.data(), 32, out_.data(), size, &length_, nullptr);
  });
  for (const KeyFile& file : key_files(oracle_)) {
    refuse(Failing::library, [&](const stockade_rsa_key*) {
      stockade_rsa_key* key = nullptr;
      const stockade_status status = read(file, &key);
      stockade_rsa_key_free(key);
      return status;
    });
  }
  EXPECT_EQ(ERR_get_error(), mine);
  EXPECT_EQ(ERR_get_error(), 0U);
}

}  // namespace
}  // namespace stockade::tests
