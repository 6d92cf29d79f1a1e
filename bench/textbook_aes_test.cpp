#include "textbook_aes.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "peer_openssl.h"
#include "runner.h"

namespace stockade::bench {
namespace {

using Encrypt = void (*)(const TableKey&, const uint8_t*, uint8_t*, uint64_t);

TEST(TextbookAes, gives_the_bytes_of_openssl) {
  constexpr size_t most = 16 * 300;
  for (const uint32_t bits : {128U, 192U, 256U}) {
    for (uint64_t seed = 1; seed <= 40; ++seed) {
      std::vector<uint8_t> key(bits / 8), in(most), out(most), expected(most);
      fill(key.data(), key.size(), seed);
      fill(in.data(), in.size(), seed + 1000);
      const uint64_t length = 16 * (seed * seed % 300);
      OpensslPeer peer(STOCKADE_ECB, bits, STOCKADE_ENCRYPT, key.data());
      ASSERT_TRUE(peer.message(nullptr, in.data(), length, expected.data(), nullptr));
      const TableKey tables = expand_table_key(key.data(), bits / 8);
      for (const Encrypt encrypt : {encrypt_by_products, encrypt_by_t_tables}) {
        std::fill(out.begin(), out.end(), 0);
        encrypt(tables, in.data(), out.data(), length);
        ASSERT_EQ(out, expected) << bits << " bits, " << length << " bytes";
        std::vector<uint8_t> both = in;
        encrypt(tables, both.data(), both.data(), length);
        ASSERT_TRUE(std::equal(both.begin(), both.begin() + static_cast<ptrdiff_t>(length), expected.begin()));
      }
    }
  }
}

// Every byte goes through every entry of the S-box at some place.
TEST(TextbookAes, all_bytes) {
  std::vector<uint8_t> key(16), in(256 * 16), out(in.size()), expected(in.size());
  fill(key.data(), key.size(), 5);
  for (size_t i = 0; i < in.size(); ++i) in[i] = static_cast<uint8_t>(i / 16 + 17 * (i % 16));
  OpensslPeer peer(STOCKADE_ECB, 128, STOCKADE_ENCRYPT, key.data());
  ASSERT_TRUE(peer.message(nullptr, in.data(), in.size(), expected.data(), nullptr));
  for (const Encrypt encrypt : {encrypt_by_products, encrypt_by_t_tables}) {
    encrypt(expand_table_key(key.data(), 16), in.data(), out.data(), in.size());
    EXPECT_EQ(out, expected);
  }
}

}  // namespace
}  // namespace stockade::bench
