// STOCKADE_ERROR_RSA_FAULT: a bit that flips in either half of a private operation never leaves the library. One wrong
// signature would tell the factors of the key.
#include <gtest/gtest.h>

#include "cross/file_sample.h"
#include "cross/flipped_bit.h"
#include "cross/handles.h"
#include "cross/random_source.h"
#include "cross/rsa_sample.h"

namespace stockade::tests {
namespace {

constexpr Half both_halves[] = {Half::p, Half::q};
constexpr uint64_t size = 256, bits_of_half = 1024;

class RsaFault : public testing::TestWithParam<std::string> {
 protected:
  using Call = stockade_status (*)(const stockade_rsa_key*, const stockade_rsa_options*, const void*, uint64_t, void*,
                                   uint64_t, uint64_t*, const stockade_engine*);

  // Nothing of a result in the output.
  void expect_fault(Call call, const stockade_rsa_options* options, const Bytes& in) {
    for (const Half half : both_halves) {
      for (uint64_t i = 0; i < scaled(20); ++i) {
        const FlippedBit fault(half, random_.below(bits_of_half));
        Bytes out(size, 0xEE);
        uint64_t length = 0;
        EXPECT_EQ(call(key_.get(), options, in.data(), in.size(), out.data(), size, &length, nullptr),
                  STOCKADE_ERROR_RSA_FAULT);
        EXPECT_EQ(fault.flips(), 1U);
        EXPECT_EQ(out, Bytes(size, 0));
        EXPECT_EQ(length, 0U);
      }
    }
  }

  RandomSource random_;
  const OracleRsaKey oracle_ = oracle_rsa_key(2048);
  const RsaKey key_ = read_private(private_pem(oracle_), GetParam().c_str());
  const RsaCase pkcs1_ = {STOCKADE_RSA_PKCS1V15};
  const stockade_rsa_options options_ = pkcs1_.options();
};

INSTANTIATE_TEST_SUITE_P(Rows, RsaFault, testing::ValuesIn(bignum_rows()),
                         [](const auto& row) { return row.param.substr(7); });

TEST_P(RsaFault, of_a_signature) {
  const Bytes digest = random_.bytes(32);
  expect_fault(stockade_rsa_sign_digest, nullptr, digest);
  expect_fault(stockade_rsa_sign_digest, &options_, digest);
  expect_fault(stockade_rsa_sign, &options_, random_.bytes(1000));
  // The key is as good as before.
  Bytes out(size);
  uint64_t length = 0;
  ASSERT_EQ(stockade_rsa_sign_digest(key_.get(), &options_, digest.data(), 32, out.data(), size, &length, nullptr),
            STOCKADE_OK);
  EXPECT_EQ(out, oracle_sign(oracle_, pkcs1_, digest));
}

TEST_P(RsaFault, of_a_message) {
  expect_fault(stockade_rsa_decrypt, nullptr, oracle_encrypt(oracle_, {}, random_.bytes(40)));
}

TEST_P(RsaFault, of_a_bare_number) {
  Bytes number = random_.bytes(size);
  number[0] = 0;
  for (const Half half : both_halves) {
    const FlippedBit fault(half, random_.below(bits_of_half));
    Bytes out(size, 0xEE);
    EXPECT_EQ(stockade_rsa_raw_private(key_.get(), number.data(), size, out.data(), size, nullptr),
              STOCKADE_ERROR_RSA_FAULT);
    EXPECT_EQ(out, Bytes(size, 0));
  }
}

TEST_P(RsaFault, in_a_batch_hits_whom_it_hits) {
  constexpr uint64_t count = 70;
  const Bytes digest = random_.bytes(32), expected = oracle_sign(oracle_, pkcs1_, digest);
  const Engine serial = make_engine("serial", 1);
  for (const Half half : both_halves) {
    std::vector<Bytes> out(count, Bytes(size, 0xEE));
    std::vector<stockade_rsa_item> items;
    for (Bytes& one : out)
      items.push_back({key_.get(), digest.data(), 32, one.data(), size, 77, nullptr, 0, STOCKADE_OK});
    const uint64_t hit = random_.below(count);
    const FlippedBit fault(half, random_.below(bits_of_half), hit);
    EXPECT_EQ(stockade_rsa_sign_many(items.data(), count, &options_, serial.get()), STOCKADE_ERROR_RSA_FAULT);
    EXPECT_EQ(fault.flips(), 1U);
    for (uint64_t i = 0; i < count; ++i) {
      EXPECT_EQ(items[i].status, i == hit ? STOCKADE_ERROR_RSA_FAULT : STOCKADE_OK);
      EXPECT_EQ(items[i].out_length, i == hit ? 0 : size);
      EXPECT_EQ(out[i], i == hit ? Bytes(size) : expected);
    }
  }
}

TEST_P(RsaFault, of_a_request_in_a_queue) {
  stockade_rsa_queue* made = nullptr;
  ASSERT_EQ(stockade_rsa_queue_create(&made, nullptr, nullptr), STOCKADE_OK);
  const Bytes digest = random_.bytes(32), ciphertext = oracle_encrypt(oracle_, {}, digest);
  for (const Half half : both_halves) {
    const FlippedBit fault(half, random_.below(bits_of_half));
    for (const bool decrypt : {false, true}) {
      const Bytes& in = decrypt ? ciphertext : digest;
      Bytes out(size, 0xEE);
      stockade_rsa_item item = {key_.get(), in.data(), in.size(), out.data(), size, 77, nullptr, 0, STOCKADE_OK};
      EXPECT_EQ((decrypt ? stockade_rsa_queue_decrypt : stockade_rsa_queue_sign)(made, &item),
                STOCKADE_ERROR_RSA_FAULT);
      EXPECT_EQ(item.status, STOCKADE_ERROR_RSA_FAULT);
      EXPECT_EQ(item.out_length, 0U);
      EXPECT_EQ(out, Bytes(size, 0));
    }
  }
  stockade_rsa_queue_free(made);
}

// A file whose key meets a fault stays closed, and the fault is not taken for damage of the file.
TEST_P(RsaFault, of_a_file) {
  const std::string file = private_pem(oracle_), force = GetParam();
  stockade_rsa_reading reading = {};
  reading.struct_size = sizeof reading;
  reading.force = force.c_str();
  const KeyringHandle ring = keyring_of(std::vector<Bytes>{});
  ASSERT_EQ(stockade_keyring_add_rsa_private(ring.get(), file.data(), file.size(), &reading, nullptr), STOCKADE_OK);
  const stockade_format format = format_for(ring);
  const Bytes text = sample_text(1000), sealed = seal(format, text);
  for (const Way& way : ways_to_open()) {
    EXPECT_EQ(way.open(format, sealed).status, STOCKADE_OK) << way.name;
    for (const Half half : both_halves) {
      const FlippedBit fault(half, random_.below(bits_of_half));
      const Opened opened = way.open(format, sealed);
      EXPECT_EQ(opened.status, STOCKADE_ERROR_RSA_FAULT) << way.name;
      EXPECT_EQ(opened.fault.status, STOCKADE_ERROR_RSA_FAULT) << way.name;
      EXPECT_TRUE(opened.text.empty()) << way.name;
    }
  }
}

}  // namespace
}  // namespace stockade::tests
