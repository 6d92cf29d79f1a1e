#include "libcrypto/hash.h"

#include <gtest/gtest.h>
#include <openssl/evp.h>
#include <openssl/rsa.h>

#include <vector>

#include "cross/random_source.h"

// OpenSSL 3 calls its MGF1 without a key around it deprecated.
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

namespace stockade::libcrypto {
namespace {

using Buffer = std::vector<uint8_t>;

struct Known {
  Hash hash;
  const char* name;
  const EVP_MD* (*oracle)();
};
constexpr Known known[] = {
    {Hash::sha1, "sha1", EVP_sha1},
    {Hash::sha224, "sha224", EVP_sha224},
    {Hash::sha256, "sha256", EVP_sha256},
    {Hash::sha384, "sha384", EVP_sha384},
    {Hash::sha512, "sha512", EVP_sha512},
    {Hash::sha512_224, "sha512-224", EVP_sha512_224},
    {Hash::sha512_256, "sha512-256", EVP_sha512_256},
};

TEST(Hash, has_names_that_are_found_again) {
  static_assert(std::size(known) == hash_count);
  for (const Known& row : known) {
    EXPECT_STREQ(hash_name(row.hash), row.name);
    Hash found = row.hash == Hash::sha1 ? Hash::sha256 : Hash::sha1;
    ASSERT_EQ(find_hash(row.name, found), STOCKADE_OK) << row.name;
    EXPECT_EQ(found, row.hash);
    EXPECT_EQ(digest_bytes(row.hash), static_cast<uint64_t>(EVP_MD_get_size(row.oracle())));
  }
  Hash found;
  for (const char* name : {"", "md5", "SHA256", "sha256 ", "sha25"}) {
    EXPECT_EQ(find_hash(name, found), STOCKADE_ERROR_UNKNOWN_NAME) << name;
  }
}

TEST(Hash, is_that_of_libcrypto_over_any_parts) {
  tests::RandomSource random;
  for (uint64_t i = tests::scaled(50); i > 0; --i) {
    for (const Known& row : known) {
      const Buffer message = random.bytes(random.below(500));
      const size_t cut = random.between(0, message.size());
      const Bytes parts[] = {Bytes(message).first(cut), {}, Bytes(message).subspan(cut)};
      Buffer digest(digest_bytes(row.hash)), expected(digest.size());
      ASSERT_EQ(hash_parts(row.hash, parts, digest.data()), STOCKADE_OK);
      ASSERT_EQ(EVP_Digest(message.data(), message.size(), expected.data(), nullptr, row.oracle(), nullptr), 1);
      EXPECT_EQ(digest, expected) << row.name;
    }
  }
}

TEST(Hash, masks_as_libcrypto_does) {
  tests::RandomSource random;
  for (uint64_t i = tests::scaled(50); i > 0; --i) {
    for (const Known& row : known) {
      const Buffer seed = random.bytes(random.between(1, 300));
      Buffer data = random.bytes(random.below(600)), expected = data, mask(data.size());
      ASSERT_EQ(PKCS1_MGF1(mask.data(), static_cast<long>(mask.size()), seed.data(), static_cast<long>(seed.size()),
                           row.oracle()),
                0);
      for (size_t at = 0; at < data.size(); ++at) expected[at] ^= mask[at];
      ASSERT_EQ(mask_with(row.hash, seed, data), STOCKADE_OK);
      EXPECT_EQ(data, expected) << row.name;
    }
  }
}

}  // namespace
}  // namespace stockade::libcrypto
