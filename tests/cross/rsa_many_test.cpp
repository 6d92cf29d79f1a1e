// Many RSA operations in one call: each has its own key, outcome and output, whatever the others do and whoever runs
// them.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <thread>

#include "cross/handles.h"
#include "cross/random_source.h"
#include "cross/rsa_sample.h"

namespace stockade::tests {
namespace {

using ManyFn = stockade_status (*)(stockade_rsa_item*, uint64_t, const stockade_rsa_options*, const stockade_engine*);

// Keys of different sizes and rows, in no order.
struct KnownKey {
  OracleRsaKey oracle;
  RsaKey key;
};

std::vector<KnownKey> known_keys() {
  std::vector<KnownKey> keys;
  const std::vector<std::string> rows = bignum_rows();
  for (uint32_t i = 0; i < 5; ++i) {
    const OracleRsaKey oracle = oracle_rsa_key(i % 2 == 0 ? 2048 : 3072, i / 2);
    keys.push_back({oracle, read_private(private_pem(oracle), rows[i % rows.size()].c_str())});
  }
  return keys;
}

// Items over buffers of their own.
class Batch {
 public:
  Batch(uint64_t count, const std::vector<KnownKey>& keys, RandomSource& random) : in_(count), out_(count) {
    for (uint64_t i = 0; i < count; ++i) {
      const uint64_t which = random.below(keys.size());
      oracles_.push_back(keys[which].oracle);
      stockade_rsa_item item = {};
      item.key = keys[which].key.get();
      item.status = STOCKADE_ERROR_STATE;
      items_.push_back(item);
      out_[i].assign(stockade_rsa_key_bytes(item.key), 0xee);
      set_in(i, random.bytes(32));
    }
  }
  void set_in(uint64_t i, Bytes in) {
    in_[i] = std::move(in);
    items_[i].in = in_[i].data();
    items_[i].length = in_[i].size();
    items_[i].out = out_[i].data();
    items_[i].out_size = out_[i].size();
  }
  stockade_status run(ManyFn function, const RsaCase& chosen, const stockade_engine* engine) {
    const stockade_rsa_options options = chosen.options();
    return function(items_.data(), items_.size(), &options, engine);
  }
  uint64_t size() const { return items_.size(); }
  stockade_rsa_item& item(uint64_t i) { return items_[i]; }
  const Bytes& in(uint64_t i) const { return in_[i]; }
  const Bytes& out(uint64_t i) const { return out_[i]; }
  const OracleRsaKey& oracle(uint64_t i) const { return oracles_[i]; }

 private:
  std::vector<Bytes> in_, out_;
  std::vector<OracleRsaKey> oracles_;
  std::vector<stockade_rsa_item> items_;
};

TEST(RsaMany, signs_and_verifies_with_any_number_of_items_and_every_engine) {
  RandomSource random;
  const std::vector<KnownKey> keys = known_keys();
  for (const NamedEngine& engine : all_engines()) {
    for (const uint64_t count : {uint64_t{0}, uint64_t{1}, uint64_t{2}, uint64_t{3}, uint64_t{9}, uint64_t{70}}) {
      SCOPED_TRACE(engine.name + " with " + std::to_string(count));
      const RsaCase chosen = {random.one_in(2) ? STOCKADE_RSA_PSS : STOCKADE_RSA_PKCS1V15};
      Batch batch(count, keys, random);
      ASSERT_EQ(batch.run(stockade_rsa_sign_many, chosen, engine.engine), STOCKADE_OK);
      for (uint64_t i = 0; i < count; ++i) {
        ASSERT_EQ(batch.item(i).status, STOCKADE_OK);
        ASSERT_EQ(batch.item(i).out_length, batch.out(i).size());
        ASSERT_TRUE(oracle_verify(batch.oracle(i), chosen, batch.in(i), batch.out(i))) << i;
        batch.item(i).signature = batch.out(i).data();
        batch.item(i).signature_length = batch.out(i).size();
        batch.item(i).out = nullptr;
        batch.item(i).out_size = 0;
        batch.item(i).status = STOCKADE_ERROR_STATE;
      }
      ASSERT_EQ(batch.run(stockade_rsa_verify_many, chosen, engine.engine), STOCKADE_OK);
      for (uint64_t i = 0; i < count; ++i) EXPECT_EQ(batch.item(i).status, STOCKADE_OK);
    }
  }
}

TEST(RsaMany, encrypts_and_decrypts) {
  RandomSource random;
  const std::vector<KnownKey> keys = known_keys();
  const RsaCase chosen = {STOCKADE_RSA_PSS, "sha1", "sha256", STOCKADE_RSA_SALT_DIGEST, 0, "label"};
  for (const NamedEngine& engine : all_engines()) {
    SCOPED_TRACE(engine.name);
    Batch batch(40, keys, random);
    std::vector<Bytes> messages;
    for (uint64_t i = 0; i < batch.size(); ++i) {
      messages.push_back(random.bytes(random.between(1, 214)));
      batch.set_in(i, messages.back());
    }
    ASSERT_EQ(batch.run(stockade_rsa_encrypt_many, chosen, engine.engine), STOCKADE_OK);
    for (uint64_t i = 0; i < batch.size(); ++i) {
      ASSERT_EQ(oracle_decrypt(batch.oracle(i), chosen, batch.out(i)), messages[i]);
      batch.set_in(i, batch.out(i));
    }
    ASSERT_EQ(batch.run(stockade_rsa_decrypt_many, chosen, engine.engine), STOCKADE_OK);
    for (uint64_t i = 0; i < batch.size(); ++i) {
      const Bytes opened(batch.out(i).begin(), batch.out(i).begin() + static_cast<long>(batch.item(i).out_length));
      EXPECT_EQ(opened, messages[i]);
    }
  }
}

TEST(RsaMany, a_bad_item_has_its_own_status_and_touches_no_other) {
  RandomSource random;
  const std::vector<KnownKey> keys = known_keys();
  const RsaKey public_only = read_public(public_pem(keys[0].oracle));
  const RsaCase chosen = {STOCKADE_RSA_PKCS1V15};
  for (const NamedEngine& engine : all_engines()) {
    Batch batch(30, keys, random);
    batch.item(2).key = nullptr;
    batch.item(5).in = nullptr;
    batch.item(11).out_size = 255;
    batch.item(13).length = 31;
    batch.item(17).key = public_only.get();
    batch.item(29).in = batch.out(29).data() + 1;
    ASSERT_EQ(batch.run(stockade_rsa_sign_many, chosen, engine.engine), STOCKADE_ERROR_NULL_POINTER);
    for (uint64_t i = 0; i < batch.size(); ++i) {
      const stockade_status expected = i == 2 || i == 5 ? STOCKADE_ERROR_NULL_POINTER
                                       : i == 11        ? STOCKADE_ERROR_OUTPUT_SIZE
                                       : i == 13        ? STOCKADE_ERROR_ARGUMENT
                                       : i == 17        ? STOCKADE_ERROR_KEY_NOT_PRIVATE
                                       : i == 29        ? STOCKADE_ERROR_OVERLAP
                                                        : STOCKADE_OK;
      EXPECT_EQ(batch.item(i).status, expected) << i;
      if (expected == STOCKADE_OK) {
        EXPECT_EQ(batch.out(i), oracle_sign(batch.oracle(i), chosen, batch.in(i))) << i;
      } else {
        EXPECT_EQ(batch.item(i).out_length, 0U);
        const uint8_t left = i == 13 ? 0 : 0xee;
        EXPECT_EQ(batch.out(i), Bytes(batch.out(i).size(), left)) << i;
      }
    }
  }
}

TEST(RsaMany, a_damaged_ciphertext_leaves_zeros_and_no_length) {
  RandomSource random;
  const std::vector<KnownKey> keys = known_keys();
  Batch batch(12, keys, random);
  ASSERT_EQ(batch.run(stockade_rsa_encrypt_many, {}, nullptr), STOCKADE_OK);
  for (uint64_t i = 0; i < batch.size(); ++i) batch.set_in(i, batch.out(i));
  Bytes damaged = batch.in(7);
  damaged[random.between(1, damaged.size() - 1)] ^= 4;
  batch.set_in(7, damaged);
  ASSERT_EQ(batch.run(stockade_rsa_decrypt_many, {}, nullptr), STOCKADE_ERROR_DECRYPTION);
  for (uint64_t i = 0; i < batch.size(); ++i) {
    EXPECT_EQ(batch.item(i).status, i == 7 ? STOCKADE_ERROR_DECRYPTION : STOCKADE_OK);
    EXPECT_EQ(batch.item(i).out_length, i == 7 ? 0U : 32U);
  }
  const uint64_t most = batch.out(7).size() - 66;
  EXPECT_TRUE(std::all_of(batch.out(7).begin(), batch.out(7).begin() + static_cast<long>(most),
                          [](uint8_t byte) { return byte == 0; }));
}

TEST(RsaMany, threads_share_a_key) {
  const OracleRsaKey oracle = oracle_rsa_key(2048);
  const RsaCase chosen = {STOCKADE_RSA_PKCS1V15};
  const stockade_rsa_options options = chosen.options();
  for (const std::string& row : bignum_rows()) {
    const RsaKey key = read_private(private_pem(oracle), row.c_str());
    std::atomic<uint32_t> wrong{0};
    std::vector<std::thread> threads;
    for (uint32_t t = 0; t < 8; ++t) {
      threads.emplace_back([&, t] {
        for (uint32_t i = 0; i < 8; ++i) {
          const Bytes digest(32, static_cast<uint8_t>(t * 16 + i));
          Bytes signature(256);
          uint64_t length = 0;
          const stockade_status signed_so =
              stockade_rsa_sign_digest(key.get(), &options, digest.data(), 32, signature.data(), 256, &length, nullptr);
          if (signed_so != STOCKADE_OK || signature != oracle_sign(oracle, chosen, digest)) ++wrong;
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(wrong, 0U) << row;
  }
}

}  // namespace
}  // namespace stockade::tests
