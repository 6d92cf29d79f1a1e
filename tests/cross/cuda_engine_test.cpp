// The engines that have GPUs, on this machine's own: data in host memory, many messages and files, with OpenSSL's bytes as
// the measure. How jobs are cut and what becomes of failures is tested on emulated devices (cipher/offloaded_test.cpp).
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "cross/handles.h"
#include "cross/message.h"
#include "cross/random_source.h"
#include "cross/temporary_file.h"
#include "cross/test_device.h"
#include "gpu/runtime.h"
#include "offload/backend.h"

namespace stockade::tests {
namespace {

constexpr uint64_t kib = 1024, mib = 1024 * kib;

// Modes and directions in which a message can be cut.
bool splits(stockade_mode mode, stockade_direction direction) {
  if (mode == STOCKADE_CBC || mode == STOCKADE_CFB) return direction == STOCKADE_DECRYPT;
  return mode != STOCKADE_OFB;
}

class GpuEngine : public testing::TestWithParam<const char*> {
 protected:
  uint64_t length(stockade_mode mode) {
    const uint64_t most = random_.one_in(3) ? 40 * mib : random_.one_in(2) ? mib : 100;
    const uint64_t length = allowed_length(mode, random_.below(most));
    // One data unit is one message.
    return mode == STOCKADE_XTS ? std::min(length, 16 * mib) : length;
  }
  Message message(stockade_mode mode) {
    const auto sizes = key_sizes(mode);
    return random_message(mode, sizes[random_.below(sizes.size())], length(mode), random_);
  }

  // So that `hybrid` uses its GPUs whether that is faster or not.
  static offload::Backend eager() {
    offload::Backend backend = offload::backend();
    backend.hybrid_from = 0;
    backend.hybrid_stages = true;
    return backend;
  }

  RandomSource random_;
  const Engine engine_ = make_engine(GetParam(), 4);
  const offload::Backend backend_ = eager();
  const offload::ScopedBackend scope_{backend_};
};

INSTANTIATE_TEST_SUITE_P(All, GpuEngine, testing::Values("cuda", "hybrid"));

TEST_P(GpuEngine, gives_the_same_bytes_from_ordinary_memory) {
  for (uint64_t i = 0; i < scaled(6); ++i) {
    for (const stockade_mode mode : all_modes) {
      for (const stockade_direction direction : both_directions) {
        if (!splits(mode, direction)) continue;
        const Message one = message(mode);
        const Key key = make_key(mode, one.key);
        const Placement placement{random_.below(64), random_.below(64), random_.one_in(2)};
        ASSERT_TRUE(agrees(one, direction, key.get(), engine_.get(), placement)) << one.describe(direction);
      }
    }
  }
}

TEST_P(GpuEngine, gives_the_same_bytes_from_pinned_memory) {
  gpu::PinnedBuffer in, out;
  ASSERT_EQ(in.allocate(test_device().runtime, 41 * mib), STOCKADE_OK);
  ASSERT_EQ(out.allocate(test_device().runtime, 41 * mib), STOCKADE_OK);
  for (uint64_t i = 0; i < scaled(6); ++i) {
    for (const stockade_mode mode : all_modes) {
      for (const stockade_direction direction : both_directions) {
        if (!splits(mode, direction)) continue;
        const Message one = message(mode);
        const Key key = make_key(mode, one.key);
        uint8_t* const from = in.data() + random_.below(64);
        uint8_t* const to = random_.one_in(2) ? from : out.data() + random_.below(64);
        if (one.length() != 0) std::memcpy(from, one.input(direction).data(), one.length());
        Bytes tag = one.tag;
        if (direction == STOCKADE_ENCRYPT) std::fill(tag.begin(), tag.end(), uint8_t{0});
        ASSERT_EQ(crypt(one, direction, key.get(), from, to, tag.data(), engine_.get()), STOCKADE_OK)
            << one.describe(direction);
        ASSERT_TRUE(same_bytes(to, one.output(direction).data(), one.length())) << one.describe(direction);
        ASSERT_EQ(tag, one.tag) << one.describe(direction);
      }
    }
  }
}

TEST_P(GpuEngine, releases_nothing_of_a_damaged_message) {
  Message one = random_message(STOCKADE_GCM, 256, 20 * mib + 5, random_);
  const Key key = make_key(STOCKADE_GCM, one.key);
  one.ciphertext[random_.below(one.ciphertext.size())] ^= 1;
  Bytes out(one.length(), 0xEE);
  EXPECT_EQ(crypt(one, STOCKADE_DECRYPT, key.get(), one.ciphertext.data(), out.data(), one.tag.data(), engine_.get()),
            STOCKADE_ERROR_AUTHENTICATION);
  EXPECT_TRUE(same_bytes(out.data(), Bytes(one.length()).data(), one.length()));
}

TEST_P(GpuEngine, does_many_messages_at_once) {
  const uint64_t count = scaled(400);
  std::vector<Message> all;
  std::vector<Key> keys;
  std::vector<Bytes> outs, tags;
  std::vector<stockade_message> calls(count);
  for (uint64_t i = 0; i < count; ++i) {
    const stockade_mode mode = random_.one_in(2) ? STOCKADE_GCM : random_.one_in(2) ? STOCKADE_CTR : STOCKADE_XTS;
    all.push_back(
        random_message(mode, 256, allowed_length(mode, random_.below(random_.one_in(9) ? mib : 5000)), random_));
    keys.push_back(make_key(mode, all[i].key));
    outs.emplace_back(all[i].length(), uint8_t{0xEE});
    tags.emplace_back(all[i].tag.size());
  }
  for (uint64_t i = 0; i < count; ++i) {
    const Message& one = all[i];
    stockade_message& call = calls[i];
    call = {};
    call.key = keys[i].get();
    call.iv = one.iv.data();
    call.iv_length = one.iv.size();
    call.aad = one.aad.data();
    call.aad_length = one.aad.size();
    call.in = one.plaintext.data();
    call.length = one.length();
    call.out = outs[i].data();
    call.tag = tags[i].data();
    call.tag_length = tags[i].size();
  }
  ASSERT_EQ(stockade_encrypt_many(calls.data(), count, engine_.get()), STOCKADE_OK);
  for (uint64_t i = 0; i < count; ++i) {
    ASSERT_TRUE(same_bytes(outs[i].data(), all[i].ciphertext.data(), all[i].length()))
        << all[i].describe(STOCKADE_ENCRYPT);
    ASSERT_EQ(tags[i], all[i].tag) << all[i].describe(STOCKADE_ENCRYPT);
  }
}

TEST_P(GpuEngine, does_files) {
  for (const stockade_mode mode : {STOCKADE_CTR, STOCKADE_XTS, STOCKADE_GCM}) {
    const uint64_t bytes = mode == STOCKADE_XTS ? 9 * mib + 3 : 70 * mib + 77;
    Message one = random_message(mode, 256, bytes, random_);
    // A file has the tag behind it.
    if (mode == STOCKADE_GCM) {
      one.tag.resize(16);
      seal_by_openssl(one);
    }
    const Key key = make_key(mode, one.key);
    const TemporaryFile in(one.plaintext), out, back;
    stockade_raw_options options{};
    options.struct_size = sizeof options;
    options.iv = one.iv.data();
    options.iv_length = one.iv.size();
    options.aad = one.aad.data();
    options.aad_length = one.aad.size();
    ASSERT_EQ(stockade_raw_encrypt_fd(key.get(), in.fd(), out.fd(), &options, engine_.get()), STOCKADE_OK);
    Bytes expected = one.ciphertext;
    expected.insert(expected.end(), one.tag.begin(), one.tag.end());
    const Bytes made = out.content();
    ASSERT_EQ(made.size(), expected.size());
    ASSERT_TRUE(same_bytes(made.data(), expected.data(), made.size())) << mode_name(mode);
    out.seek(0);
    ASSERT_EQ(stockade_raw_decrypt_fd(key.get(), out.fd(), back.fd(), &options, engine_.get()), STOCKADE_OK);
    const Bytes again = back.content();
    ASSERT_EQ(again.size(), bytes);
    ASSERT_TRUE(same_bytes(again.data(), one.plaintext.data(), bytes)) << mode_name(mode);
  }
}

}  // namespace
}  // namespace stockade::tests
