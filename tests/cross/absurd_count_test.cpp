// Counts and lengths that no array has: every function that takes one returns a status, and nothing of the array is touched
// beyond what is there.
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

#include "cross/file_sample.h"
#include "cross/handles.h"
#include "cross/rsa_sample.h"

namespace stockade::tests {
namespace {

constexpr uint64_t absurd_counts[] = {uint64_t{1} << 46,       uint64_t{1} << 57, uint64_t{1} << 60, uint64_t{1} << 61,
                                      (uint64_t{1} << 61) + 1, uint64_t{1} << 63, UINT64_MAX - 1,    UINT64_MAX};

TEST(AbsurdCount, of_rsa_items_is_an_argument_that_is_wrong) {
  const RsaKey key = read_private(private_pem(oracle_rsa_key(2048)));
  const Bytes in(32, 1);
  Bytes out(256, 0xEE);
  for (const uint64_t count : absurd_counts) {
    for (const auto many :
         {stockade_rsa_sign_many, stockade_rsa_verify_many, stockade_rsa_encrypt_many, stockade_rsa_decrypt_many}) {
      stockade_rsa_item item = {key.get(), in.data(), 32, out.data(), 256, 77, out.data(), 256, STOCKADE_ERROR_STATE};
      EXPECT_EQ(many(&item, count, nullptr, nullptr), STOCKADE_ERROR_ARGUMENT) << count;
      EXPECT_EQ(item.status, STOCKADE_ERROR_STATE);
      EXPECT_EQ(item.out_length, 77U);
      EXPECT_EQ(many(nullptr, count, nullptr, nullptr), STOCKADE_ERROR_NULL_POINTER);
    }
  }
  EXPECT_EQ(out, Bytes(256, 0xEE));
}

TEST(AbsurdCount, of_messages_is_an_argument_that_is_wrong) {
  const Key key = make_key(STOCKADE_GCM, Bytes(16));
  Bytes data(16), iv(12), tag(16);
  alignas(16) uint8_t staging[1024];
  uint32_t verdict = 0;
  stockade_device_queue queue{};
  queue.struct_size = sizeof queue;
  for (const uint64_t count : absurd_counts) {
    stockade_message message{};
    message.key = key.get();
    message.iv = iv.data();
    message.iv_length = 12;
    message.in = message.out = data.data();
    message.length = 16;
    message.tag = tag.data();
    message.tag_length = 16;
    message.status = STOCKADE_ERROR_STATE;
    EXPECT_EQ(stockade_encrypt_many(&message, count, nullptr), STOCKADE_ERROR_ARGUMENT) << count;
    EXPECT_EQ(stockade_decrypt_many(&message, count, nullptr), STOCKADE_ERROR_ARGUMENT) << count;
    EXPECT_EQ(stockade_device_seal_many(&message, count, staging, sizeof staging, &queue), STOCKADE_ERROR_ARGUMENT);
    EXPECT_EQ(stockade_device_open_many(&message, count, &verdict, staging, sizeof staging, &queue),
              STOCKADE_ERROR_ARGUMENT);
    EXPECT_EQ(message.status, STOCKADE_ERROR_STATE);
    stockade_device_many_size(count);
  }
  EXPECT_EQ(data, Bytes(16));
}

// Whatever there are of workers, cut or not: no message is passed over and called sound.
TEST(AbsurdLength, of_messages_is_refused_in_every_mode) {
  const Bytes key_bytes(32, 7), iv(16, 1);
  for (const stockade_mode mode :
       {STOCKADE_ECB, STOCKADE_CBC, STOCKADE_CFB, STOCKADE_OFB, STOCKADE_CTR, STOCKADE_GCM}) {
    const Key key = make_key(mode, key_bytes);
    for (const uint64_t length : {UINT64_MAX, UINT64_MAX - 1, UINT64_MAX - 15, UINT64_MAX / 2}) {
      for (const char* engine : {"serial", "threads"}) {
        for (const bool encrypts : {false, true}) {
          Bytes data(64, 5), tag(16);
          stockade_message message{};
          message.key = key.get();
          message.iv = mode == STOCKADE_ECB ? nullptr : iv.data();
          message.iv_length = mode == STOCKADE_ECB ? 0 : 16;
          message.in = message.out = data.data();
          message.length = length;
          message.tag = mode == STOCKADE_GCM ? tag.data() : nullptr;
          message.tag_length = mode == STOCKADE_GCM ? 16 : 0;
          const Engine own = make_engine(engine, 2);
          const stockade_status status =
              (encrypts ? stockade_encrypt_many : stockade_decrypt_many)(&message, 1, own.get());
          EXPECT_NE(status, STOCKADE_OK) << mode << " " << length << " " << engine;
          EXPECT_EQ(message.status, status);
          EXPECT_EQ(data, Bytes(64, 5));
        }
      }
    }
  }
}

TEST(AbsurdCount, of_names_and_devices_is_an_argument_that_is_wrong) {
  const KeyringHandle ring = keyring_of({sample_key(1)});
  const Bytes sealed = seal(format_for(ring), sample_text(10));
  const char* const name = "AAAAAAAAAAA";
  Bytes out(4096);
  uint64_t length = 0;
  for (const uint32_t count : {1025U, 1U << 31, UINT32_MAX}) {
    EXPECT_EQ(stockade_header_rekey(sealed.data(), sealed.size(), ring.get(), 0, &name, count, nullptr, out.data(),
                                    out.size(), &length, nullptr),
              STOCKADE_ERROR_ARGUMENT);
    const uint32_t device = 0;
    EXPECT_EQ(stockade_engine_set_devices(make_engine("serial", 1).get(), &device, count), STOCKADE_ERROR_ARGUMENT);
  }
}

TEST(AbsurdCount, of_items_to_call_for_ends_when_one_says_so) {
  for (const uint64_t count : absurd_counts) {
    const stockade_item stop = [](void*, uint64_t) { return 1; };
    EXPECT_EQ(stockade_for_each(count, stop, nullptr, nullptr), STOCKADE_ERROR_CANCELLED);
  }
}

TEST(AbsurdLength, of_what_is_copied_is_a_status) {
  stockade_keyring* made = nullptr;
  ASSERT_EQ(stockade_keyring_create(&made), STOCKADE_OK);
  const KeyringHandle ring(made);
  const RsaKey key = read_private(private_pem(oracle_rsa_key(2048)));
  const Bytes small(64, 'x');
  Bytes out(stockade_rsa_key_file_bound(key.get()));
  uint64_t length = 0;
  char id[12];
  for (const uint64_t absurd : absurd_counts) {
    EXPECT_EQ(stockade_keyring_add_key(ring.get(), small.data(), absurd), STOCKADE_ERROR_KEY_LENGTH);
    EXPECT_EQ(stockade_keyring_add_passphrase(ring.get(), small.data(), absurd, 1), STOCKADE_ERROR_ARGUMENT);
    EXPECT_EQ(stockade_key_id(small.data(), absurd, id), STOCKADE_ERROR_KEY_LENGTH);
    stockade_key* none = nullptr;
    EXPECT_EQ(stockade_key_create(&none, STOCKADE_CTR, small.data(), absurd, nullptr), STOCKADE_ERROR_KEY_LENGTH);
    stockade_rsa_key* no_key = nullptr;
    EXPECT_EQ(stockade_rsa_key_read_public(&no_key, small.data(), absurd, nullptr), STOCKADE_ERROR_KEY_FILE);
    EXPECT_EQ(stockade_rsa_key_read_private(&no_key, small.data(), absurd, nullptr), STOCKADE_ERROR_KEY_FILE);
    EXPECT_EQ(stockade_keyring_add_rsa_public(ring.get(), small.data(), absurd, nullptr, nullptr),
              STOCKADE_ERROR_KEY_FILE);
    EXPECT_EQ(stockade_rsa_key_write_private(key.get(), small.data(), absurd, out.data(), out.size(), &length),
              STOCKADE_ERROR_ARGUMENT);
    stockade_rsa_options options{};
    options.struct_size = sizeof options;
    options.salt = STOCKADE_RSA_SALT_GIVEN;
    options.salt_length = absurd;
    EXPECT_EQ(stockade_rsa_sign_digest(key.get(), &options, small.data(), 32, out.data(), out.size(), &length, nullptr),
              STOCKADE_ERROR_MESSAGE_LENGTH);
  }
}

// What a callback throws does not go through the C interface.
TEST(ThrowingCallback, ends_the_call_with_a_status) {
  const stockade_item item = [](void*, uint64_t) -> int { throw std::runtime_error("from an item"); };
  for (const uint32_t threads : {1U, 4U}) {
    EXPECT_EQ(stockade_for_each(1000, item, nullptr, make_engine("threads", threads).get()), STOCKADE_ERROR_CANCELLED);
  }
  const KeyringHandle ring = keyring_of({sample_key(1)});
  const FileHandle file = make_file(STOCKADE_DECRYPT, format_for(ring));
  const stockade_read read = [](void*, void*, uint64_t) -> int64_t { throw std::runtime_error("from a source"); };
  Bytes out(100);
  uint64_t length = 0;
  EXPECT_EQ(stockade_file_pull(file.get(), read, nullptr, out.data(), out.size(), &length), STOCKADE_ERROR_CANCELLED);
  EXPECT_EQ(stockade_file_pull(file.get(), read, nullptr, out.data(), out.size(), &length), STOCKADE_ERROR_STATE);
}

}  // namespace
}  // namespace stockade::tests
