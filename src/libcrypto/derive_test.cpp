#include "libcrypto/derive.h"

#include <gtest/gtest.h>
#include <openssl/core_names.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/kdf.h>
#include <openssl/params.h>
#include <openssl/sha.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "cross/random_source.h"

namespace stockade::libcrypto {
namespace {

using Buffer = std::vector<uint8_t>;

Buffer from_hex(std::string_view text) {
  Buffer bytes;
  for (size_t i = 0; i + 1 < text.size(); i += 2) {
    bytes.push_back(static_cast<uint8_t>(std::stoul(std::string(text.substr(i, 2)), nullptr, 16)));
  }
  return bytes;
}

Buffer counting(uint8_t first, size_t length) {
  Buffer bytes(length);
  for (size_t i = 0; i < length; ++i) bytes[i] = static_cast<uint8_t>(first + i);
  return bytes;
}

Buffer expand(const Buffer& key, const std::vector<Buffer>& info, size_t length) {
  const std::vector<Bytes> parts(info.begin(), info.end());
  Buffer out(length, 0xAA);
  EXPECT_EQ(hkdf_expand(key, parts, out), STOCKADE_OK);
  return out;
}

// libcrypto's own HKDF, in its default library context.
Buffer oracle_expand(const Buffer& key, const Buffer& info, size_t length) {
  EVP_KDF* const kdf = EVP_KDF_fetch(nullptr, OSSL_KDF_NAME_HKDF, nullptr);
  EVP_KDF_CTX* const context = EVP_KDF_CTX_new(kdf);
  int mode = EVP_KDF_HKDF_MODE_EXPAND_ONLY;
  char digest[] = "SHA512";
  OSSL_PARAM parameters[] = {
      OSSL_PARAM_construct_int(OSSL_KDF_PARAM_MODE, &mode),
      OSSL_PARAM_construct_utf8_string(OSSL_KDF_PARAM_DIGEST, digest, 0),
      OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_KEY, const_cast<uint8_t*>(key.data()), key.size()),
      OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_INFO, const_cast<uint8_t*>(info.data()), info.size()),
      OSSL_PARAM_construct_end()};
  Buffer out(length);
  EXPECT_EQ(EVP_KDF_derive(context, out.data(), out.size(), parameters), 1);
  EVP_KDF_CTX_free(context);
  EVP_KDF_free(kdf);
  return out;
}

// Made with Python's hmac, as RFC 5869 section 2.3 says.
TEST(Hkdf, has_the_values_of_another_implementation) {
  EXPECT_EQ(
      expand(counting(0, 32), {Buffer{'i', 'n'}, Buffer{'f', 'o'}}, 100),
      from_hex("d40d67a9d7c34ec3c2c3eca41e6f25e08441c93422575b091a5d9f9cb9bd6da3f7145c42fae0a63d0c73fedacaaa63edbd"
               "d80d92f11aeaa7d8deac5ccef5e4ae89eaeee743c853e23658c065534fb881ad89cd1cf688e469ceb8a0487444195c38c8"
               "3097"));
  // Longer than the info that libcrypto's HKDF takes.
  EXPECT_EQ(
      expand(counting(0, 16), std::vector<Buffer>(20, counting(0, 256)), 76),
      from_hex("a1811460d6fc8714d563cd84c5071138c7d865f002d16da8b8f5aa443b461af6c49d7106375cf0910b542ad9f5231afc65"
               "44a5deaa00b2150322122667bc38aeffe5d6366901af1baf26c45b"));
}

TEST(Hkdf, is_that_of_libcrypto) {
  tests::RandomSource random;
  for (uint64_t i = tests::scaled(200); i > 0; --i) {
    const Buffer key = random.bytes(random.between(1, 200));
    std::vector<Buffer> parts(random.below(4));
    Buffer info;
    for (Buffer& part : parts) {
      part = random.bytes(random.below(200));
      info.insert(info.end(), part.begin(), part.end());
    }
    if (info.empty()) parts.push_back(info = {0});
    const size_t length = random.between(1, 400);
    EXPECT_EQ(expand(key, parts, length), oracle_expand(key, info, length));
  }
}

TEST(Hkdf, stops_at_255_blocks) {
  const Buffer key(32, 1);
  EXPECT_EQ(expand(key, {{1}}, 255 * 64), oracle_expand(key, {1}, 255 * 64));
  Buffer out(255 * 64 + 1, 0xAA);
  EXPECT_EQ(hkdf_expand(key, {}, out), STOCKADE_ERROR_ARGUMENT);
  EXPECT_EQ(out, Buffer(out.size(), 0));
}

TEST(Hmac, has_the_values_of_rfc_4231) {
  const struct {
    Buffer key, message;
    std::string_view mac;
  } cases[] = {
      {Buffer(20, 0x0b), from_hex("4869205468657265"),
       "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"},
      {from_hex("4a656665"), from_hex("7768617420646f2079612077616e7420666f72206e6f7468696e673f"),
       "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"},
      {Buffer(20, 0xaa), Buffer(50, 0xdd), "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe"},
  };
  for (const auto& test : cases) {
    uint8_t mac[32];
    ASSERT_EQ(hmac_sha256(test.key, test.message, mac), STOCKADE_OK);
    EXPECT_EQ(Buffer(mac, mac + 32), from_hex(test.mac));
  }
}

TEST(Hmac, is_that_of_libcrypto) {
  tests::RandomSource random;
  for (uint64_t i = tests::scaled(200); i > 0; --i) {
    const Buffer key = random.bytes(random.between(1, 200)), message = random.bytes(random.below(3000));
    uint8_t mac[32], expected[32];
    ASSERT_EQ(hmac_sha256(key, message, mac), STOCKADE_OK);
    HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()), message.data(), message.size(), expected, nullptr);
    EXPECT_EQ(Buffer(mac, mac + 32), Buffer(expected, expected + 32));
  }
}

Buffer stretch(const Buffer& passphrase, const Buffer& salt, uint32_t log2_n, size_t length) {
  Buffer out(length);
  EXPECT_EQ(scrypt(passphrase, salt, log2_n, out), STOCKADE_OK);
  return out;
}

// RFC 7914 section 12, the vector with N = 16384, r = 8 and p = 1.
TEST(Scrypt, has_the_value_of_rfc_7914) {
  const Bytes passphrase = bytes_of("pleaseletmein"), salt = bytes_of("SodiumChloride");
  EXPECT_EQ(stretch({passphrase.begin(), passphrase.end()}, {salt.begin(), salt.end()}, 14, 64),
            from_hex("7023bdcb3afd7348461c06cd81fd38ebfda8fbba904f8e3ea9b543f6545da1f2d5432955613f0fcf62d49705242a9af9"
                     "e61e85dc0d651e40dfcf017b45575887"));
}

TEST(Scrypt, is_that_of_libcrypto) {
  tests::RandomSource random;
  for (uint32_t log2_n = 1; log2_n <= 16; ++log2_n) {
    const Buffer passphrase = random.bytes(random.between(1, 100)), salt = random.bytes(34);
    Buffer expected(32);
    const uint64_t n = uint64_t{1} << log2_n;
    ASSERT_EQ(EVP_PBE_scrypt(reinterpret_cast<const char*>(passphrase.data()), passphrase.size(), salt.data(),
                             salt.size(), n, 8, 1, uint64_t{1} << 30, expected.data(), expected.size()),
              1);
    EXPECT_EQ(stretch(passphrase, salt, log2_n, 32), expected) << log2_n;
  }
}

TEST(Scrypt, refuses_work_factors_that_are_none) {
  Buffer out(32);
  EXPECT_EQ(scrypt(out, out, 0, out), STOCKADE_ERROR_ARGUMENT);
  EXPECT_EQ(scrypt(out, out, 64, out), STOCKADE_ERROR_ARGUMENT);
  EXPECT_EQ(scrypt(out, out, UINT32_MAX, out), STOCKADE_ERROR_ARGUMENT);
}

TEST(Scrypt, says_that_memory_is_out_where_no_address_space_is_large_enough) {
  Buffer out(32);
  for (uint32_t log2_n = 47; log2_n <= 63; ++log2_n) EXPECT_EQ(scrypt(out, out, log2_n, out), STOCKADE_ERROR_MEMORY);
}

TEST(Scrypt, says_that_memory_is_out_where_libcrypto_does_and_leaves_its_error_queue_alone) {
  if (std::strstr(stockade_build(), "sanitizer=none") == nullptr) {
    GTEST_SKIP() << "a sanitizer's allocator ends the process instead of refusing such an amount";
  }
  ERR_clear_error();
  ERR_raise(ERR_LIB_USER, 77);
  const unsigned long mine = ERR_peek_error();
  Buffer out(32);
  EXPECT_EQ(scrypt(out, out, 42, out), STOCKADE_ERROR_MEMORY);  // 4 PiB
  EXPECT_EQ(ERR_get_error(), mine);
  EXPECT_EQ(ERR_get_error(), 0U);
  EXPECT_EQ(scrypt(out, out, 42, out), STOCKADE_ERROR_MEMORY);
  EXPECT_EQ(ERR_get_error(), 0U);
}

TEST(Derive, gives_the_same_to_many_threads) {
  const Buffer key(32, 3);
  const Buffer expected = oracle_expand(key, {5}, 76);
  std::vector<Buffer> results(8);
  std::vector<std::thread> threads;
  for (Buffer& result : results) {
    threads.emplace_back([&] {
      for (int i = 0; i < 50; ++i) result = expand(key, {{5}}, 76);
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const Buffer& result : results) EXPECT_EQ(result, expected);
}

}  // namespace
}  // namespace stockade::libcrypto
