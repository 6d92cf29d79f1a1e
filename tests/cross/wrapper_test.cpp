// stockade.hpp: owners, views and exceptions over the C interface.
#include "stockade/stockade.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <deque>
#include <string>
#include <string_view>
#include <utility>

#include "cross/message.h"
#include "cross/oracle.h"
#include "cross/random_source.h"
#include "cross/temporary_file.h"

namespace stockade::tests {
namespace {

// What the views take and what they leave alone, decided when this compiles.
static_assert(std::is_convertible_v<std::vector<uint8_t>&, MutableByteView>);
static_assert(std::is_convertible_v<std::array<std::byte, 4>&, MutableByteView>);
static_assert(std::is_convertible_v<std::string&, MutableByteView>);
static_assert(std::is_convertible_v<std::span<std::byte>, MutableByteView>);
static_assert(!std::is_convertible_v<const std::vector<uint8_t>&, MutableByteView>);
static_assert(!std::is_convertible_v<std::span<const std::byte>, MutableByteView>);
static_assert(!std::is_convertible_v<std::string_view, MutableByteView>);
static_assert(std::is_convertible_v<const std::vector<uint8_t>&, ByteView>);
static_assert(std::is_convertible_v<std::string_view, ByteView>);
static_assert(std::is_convertible_v<MutableByteView, ByteView>);
static_assert(!std::is_convertible_v<const char (&)[5], ByteView>);
static_assert(!std::is_convertible_v<std::vector<int>&, ByteView>);
static_assert(!std::is_convertible_v<std::deque<uint8_t>&, ByteView>);
static_assert(!std::is_copy_constructible_v<stockade::Key> && std::is_nothrow_move_constructible_v<stockade::Key>);
static_assert(!std::is_copy_constructible_v<stockade::Stream> && std::is_nothrow_move_assignable_v<stockade::Stream>);
static_assert(!std::is_copy_constructible_v<stockade::Engine> && std::is_nothrow_move_assignable_v<stockade::Engine>);

// The status that `call` throws; STOCKADE_OK if it does not.
template <typename Call>
stockade_status thrown(const Call& call) {
  try {
    call();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), stockade_status_text(error.status()));
    return error.status();
  }
  return STOCKADE_OK;
}

class Wrapper : public testing::Test {
 protected:
  Message message(stockade_mode mode, uint64_t length) { return random_message(mode, 256, length, random_); }
  RandomSource random_;
};

TEST_F(Wrapper, encrypts_and_decrypts_in_every_mode) {
  for (const stockade_mode mode :
       {STOCKADE_ECB, STOCKADE_CBC, STOCKADE_CFB, STOCKADE_OFB, STOCKADE_CTR, STOCKADE_XTS}) {
    const Message m = message(mode, 4096);
    const stockade::Key key(static_cast<Mode>(mode), m.key);
    EXPECT_EQ(key.mode(), static_cast<Mode>(mode));
    EXPECT_EQ(key.bits(), 256U);
    for (const stockade::Engine& engine :
         {stockade::Engine(), stockade::Engine("serial"), stockade::Engine("threads", 2)}) {
      Bytes out(4096);
      key.encrypt(m.iv, m.plaintext, out, engine);
      EXPECT_EQ(out, m.ciphertext);
      key.decrypt(m.iv, out, out, engine);
      EXPECT_EQ(out, m.plaintext);
    }
  }
}

TEST_F(Wrapper, seals_and_opens) {
  const Message m = message(STOCKADE_GCM, 5000);
  const stockade::Key key(Mode::gcm, m.key);
  Bytes out(5000), tag(m.tag.size());
  key.seal(m.iv, m.aad, m.plaintext, out, tag);
  EXPECT_EQ(out, m.ciphertext);
  EXPECT_EQ(tag, m.tag);
  key.open(m.iv, m.aad, out, out, tag);
  EXPECT_EQ(out, m.plaintext);
  tag[0] ^= 1;
  EXPECT_EQ(thrown([&] { key.open(m.iv, m.aad, m.ciphertext, out, tag); }), STOCKADE_ERROR_AUTHENTICATION);
  EXPECT_EQ(out, Bytes(5000));
}

TEST_F(Wrapper, pads) {
  const stockade::Key key(Mode::cbc, random_.bytes(16));
  const Bytes iv = random_.bytes(16);
  const std::string text = "padded, whatever its length";
  std::string sealed(text.size() / 16 * 16 + 16, '\0'), opened(sealed.size(), '\0');
  EXPECT_EQ(key.encrypt_padded(iv, text, sealed), 32U);
  opened.resize(key.decrypt_padded(iv, sealed, opened));
  EXPECT_EQ(opened, text);
  sealed.back() = static_cast<char>(sealed.back() ^ 1);
  opened.resize(sealed.size());
  EXPECT_EQ(thrown([&] { key.decrypt_padded(iv, sealed, opened); }), STOCKADE_ERROR_PADDING);
}

TEST_F(Wrapper, runs_data_units) {
  const Bytes key_bytes = random_.bytes(64), number = random_.bytes(16), plaintext = random_.bytes(5000);
  const Bytes expected = oracle_units(STOCKADE_ENCRYPT, key_bytes, number, 512, plaintext);
  const stockade::Key key(Mode::xts, key_bytes);
  Bytes out(5000);
  key.encrypt_units(number, 512, plaintext, out);
  EXPECT_EQ(out, expected);
  key.decrypt_units(number, 512, out, out);
  EXPECT_EQ(out, plaintext);
}

TEST_F(Wrapper, streams) {
  const Message m = message(STOCKADE_GCM, 1000);
  const stockade::Key key(Mode::gcm, m.key);
  stockade::Stream first(key, Direction::encrypt, m.iv);
  first.aad(m.aad);
  Bytes out(1000), tag(m.tag.size());
  size_t written = first.update(ByteView(m.plaintext.data(), 333), out);
  // A stream that is moved goes on where it was.
  stockade::Stream sealing = std::move(first);
  EXPECT_EQ(sealing.bound(667), 667U);
  written += sealing.update(ByteView(m.plaintext.data() + 333, 667), MutableByteView(out.data() + written, 667));
  EXPECT_EQ(sealing.finish({}, tag), 0U);
  EXPECT_EQ(written, 1000U);
  EXPECT_EQ(out, m.ciphertext);
  EXPECT_EQ(tag, m.tag);

  stockade::Stream opening(key, Direction::decrypt, m.iv);
  opening.aad(m.aad);
  EXPECT_EQ(opening.update(m.ciphertext, {}), 0U);
  Bytes plaintext(opening.bound(0));
  EXPECT_EQ(opening.finish_open(plaintext, m.tag), 1000U);
  EXPECT_EQ(plaintext, m.plaintext);
  EXPECT_EQ(thrown([&] { opening.update(m.ciphertext, {}); }), STOCKADE_ERROR_STATE);
}

TEST_F(Wrapper, runs_many) {
  const Message m = message(STOCKADE_CBC, 160);
  const stockade::Key key(Mode::cbc, m.key);
  std::array<Bytes, 5> outs;
  std::array<stockade_message, 5> messages = {};
  for (size_t i = 0; i < 5; ++i) {
    outs[i].resize(160);
    messages[i] = {key.handle(), m.iv.data(), 16, nullptr, 0, m.plaintext.data(), 160, outs[i].data(), nullptr, 0, {}};
  }
  encrypt_many(messages);
  for (const Bytes& out : outs) EXPECT_EQ(out, m.ciphertext);
  for (size_t i = 0; i < 5; ++i) messages[i].in = outs[i].data();
  messages[3].iv_length = 15;
  EXPECT_EQ(thrown([&] { decrypt_many(messages); }), STOCKADE_ERROR_IV_LENGTH);
  EXPECT_EQ(messages[3].status, STOCKADE_ERROR_IV_LENGTH);
  EXPECT_EQ(outs[4], m.plaintext);
}

TEST_F(Wrapper, moves_files) {
  const Message m = message(STOCKADE_CTR, 300000);
  const stockade::Key key(Mode::ctr, m.key);
  const TemporaryFile in(m.plaintext), out;
  uint64_t last = 0;
  FileOptions options{.iv = m.iv};
  options.progress = [&](uint64_t done, uint64_t) {
    last = done;
    return true;
  };
  const FileResult result = crypt_fd(key, Direction::encrypt, in.fd(), out.fd(), options);
  EXPECT_EQ(result.in_length, 300000U);
  EXPECT_EQ(result.out_length, 300000U);
  EXPECT_EQ(last, 300000U);
  EXPECT_EQ(out.content(), m.ciphertext);
}

TEST_F(Wrapper, stops_files) {
  const Message m = message(STOCKADE_CTR, 300000);
  const stockade::Key key(Mode::ctr, m.key);
  const TemporaryFile in(m.plaintext), out;
  FileOptions options{.iv = m.iv};
  options.progress = [](uint64_t, uint64_t) { return false; };
  EXPECT_EQ(thrown([&] { crypt_fd(key, Direction::encrypt, in.fd(), out.fd(), options); }), STOCKADE_ERROR_CANCELLED);
  // What the callback throws crosses no C frame and comes out of the call.
  options.progress = [](uint64_t, uint64_t) -> bool { throw std::domain_error("enough"); };
  EXPECT_THROW(crypt_fd(key, Direction::encrypt, in.fd(), out.fd(), options), std::domain_error);
  EXPECT_EQ(out.size(), 0U);
}

TEST_F(Wrapper, throws_what_the_c_interface_returns) {
  const Bytes bytes = random_.bytes(64);
  EXPECT_EQ(thrown([&] { stockade::Key(Mode::ctr, ByteView(bytes.data(), 15)); }), STOCKADE_ERROR_KEY_LENGTH);
  EXPECT_EQ(thrown([&] { stockade::Key(Mode::xts, Bytes(32)); }), STOCKADE_ERROR_WEAK_KEY);
  EXPECT_EQ(thrown([&] { stockade::Key(Mode::ctr, ByteView(bytes.data(), 16), "aes:none"); }),
            STOCKADE_ERROR_UNKNOWN_NAME);
  EXPECT_EQ(thrown([] { stockade::Engine("gpu"); }), STOCKADE_ERROR_UNKNOWN_NAME);
  EXPECT_EQ(thrown([] { stockade::Engine("threads", 5000); }), STOCKADE_ERROR_ARGUMENT);
  const stockade::Key key(Mode::ctr, ByteView(bytes.data(), 16));
  EXPECT_EQ(thrown([&] { stockade::Stream(key, Direction::encrypt, ByteView(bytes.data(), 12)); }),
            STOCKADE_ERROR_IV_LENGTH);
  EXPECT_EQ(thrown([&] { stockade::Stream(key, Direction::encrypt, ByteView(bytes.data(), 16), Padding::pkcs7); }),
            STOCKADE_ERROR_MODE);
}

// The C interface cannot know how large these buffers are; the views can.
TEST_F(Wrapper, refuses_an_output_that_is_too_small) {
  const stockade::Key ctr(Mode::ctr, random_.bytes(16)), gcm(Mode::gcm, random_.bytes(16)),
      xts(Mode::xts, random_.bytes(32));
  const Bytes iv = random_.bytes(16), in(64);
  Bytes small(63), tag(16);
  EXPECT_EQ(thrown([&] { ctr.encrypt(iv, in, small); }), STOCKADE_ERROR_OUTPUT_SIZE);
  EXPECT_EQ(thrown([&] { ctr.decrypt(iv, in, small); }), STOCKADE_ERROR_OUTPUT_SIZE);
  EXPECT_EQ(thrown([&] { gcm.seal(iv, {}, in, small, tag); }), STOCKADE_ERROR_OUTPUT_SIZE);
  EXPECT_EQ(thrown([&] { gcm.open(iv, {}, in, small, tag); }), STOCKADE_ERROR_OUTPUT_SIZE);
  EXPECT_EQ(thrown([&] { xts.encrypt_units(iv, 32, in, small); }), STOCKADE_ERROR_OUTPUT_SIZE);
  EXPECT_EQ(thrown([&] { xts.decrypt_units(iv, 32, in, small); }), STOCKADE_ERROR_OUTPUT_SIZE);
  EXPECT_EQ(small, Bytes(63));
}

TEST_F(Wrapper, moves_ownership) {
  const Message m = message(STOCKADE_CTR, 100);
  stockade::Key first(Mode::ctr, m.key);
  const stockade_key* handle = first.handle();
  stockade::Key second = std::move(first);
  EXPECT_EQ(second.handle(), handle);
  EXPECT_EQ(first.handle(), nullptr);  // NOLINT(bugprone-use-after-move): that it is empty is the subject
  Bytes out(100);
  EXPECT_EQ(thrown([&] { first.encrypt(m.iv, m.plaintext, out); }), STOCKADE_ERROR_NULL_POINTER);
  second.encrypt(m.iv, m.plaintext, out);
  EXPECT_EQ(out, m.ciphertext);
}

TEST_F(Wrapper, says_what_the_machine_would_do) {
  EXPECT_EQ(version(), stockade_version());
  EXPECT_EQ(build(), stockade_build());
  EXPECT_GE(machine().cores, 1U);
  EXPECT_FALSE(features().empty());
  const auto rows = stockade::rows();
  for (const char* primitive : {"aes", "gcm"}) {
    EXPECT_EQ(
        std::count_if(rows.begin(), rows.end(),
                      [&](const stockade_row& row) { return row.chosen && row.primitive == std::string(primitive); }),
        1)
        << primitive;
  }
  const stockade::Key key(Mode::ctr, random_.bytes(16));
  const std::string plan = key.explain(Direction::encrypt, 64, stockade::Engine("serial"));
  EXPECT_NE(plan.find(key.row()), std::string::npos) << plan;
  EXPECT_NE(plan.find("serial"), std::string::npos) << plan;
}

}  // namespace
}  // namespace stockade::tests
