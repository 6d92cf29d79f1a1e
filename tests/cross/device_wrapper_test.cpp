// stockade.hpp on data in a GPU's memory: the bytes of the calls for host memory, and refusals as exceptions.
#include "stockade/stockade.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <deque>

#include "cross/random_source.h"
#include "cross/test_device.h"
#include "offload/backend.h"

namespace stockade::tests {
namespace {

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

class DeviceWrapper : public testing::Test {
 protected:
  DeviceBytes on_device(const Bytes& content) { return {stream_, content}; }
  static MutableByteView view(const DeviceBytes& memory) { return {memory.data(), memory.size()}; }
  static uint32_t* word(const DeviceBytes& memory) { return reinterpret_cast<uint32_t*>(memory.data()); }
  DeviceQueue queue(MutableByteView workspace = {}) const { return {stream_.queue().stream, workspace}; }
  // What `run(queue)` leaves in a workspace of the size that the key asks for.
  template <typename Run>
  void with_workspace(const stockade::Key& key, Direction direction, uint64_t length, uint64_t unit, const Run& run) {
    const DeviceBytes workspace(stream_, Bytes(key.device_workspace(direction, device_number, length, unit)));
    run(queue(view(workspace)));
    EXPECT_TRUE(workspace.intact());
  }

  RandomSource random_;

 private:
  const offload::Backend backend_{&test_device().runtime, &test_device().aes, &test_device().gcm};
  const offload::ScopedBackend scope_{backend_};

 protected:
  TestStream stream_;
};

TEST_F(DeviceWrapper, encrypts_and_decrypts) {
  const stockade::Key key(Mode::ctr, random_.bytes(32));
  const Bytes iv = random_.bytes(16), text = random_.bytes(5001);
  Bytes expected(text.size());
  key.encrypt(iv, text, expected);
  const DeviceBytes in = on_device(text), out = on_device(Bytes(text.size()));
  EXPECT_EQ(key.device_workspace(Direction::encrypt, device_number, text.size()), 0U);
  key.device_encrypt(iv, view(in), view(out), queue());
  EXPECT_EQ(out.bytes(), expected);
  key.device_decrypt(iv, view(out), view(out), queue());
  EXPECT_EQ(out.bytes(), text);
  EXPECT_TRUE(in.intact() && out.intact());
}

TEST_F(DeviceWrapper, runs_data_units) {
  const stockade::Key key(Mode::xts, random_.bytes(64));
  const Bytes number = random_.bytes(16), text = random_.bytes(3000);
  Bytes expected(text.size());
  key.encrypt_units(number, 512, text, expected);
  const DeviceBytes data = on_device(text);
  with_workspace(key, Direction::encrypt, text.size(), 512, [&](const DeviceQueue& where) {
    key.device_encrypt_units(number, 512, view(data), view(data), where);
  });
  EXPECT_EQ(data.bytes(), expected);
  with_workspace(key, Direction::decrypt, text.size(), 512, [&](const DeviceQueue& where) {
    key.device_decrypt_units(number, 512, view(data), view(data), where);
  });
  EXPECT_EQ(data.bytes(), text);
}

TEST_F(DeviceWrapper, seals_and_opens) {
  const stockade::Key key(Mode::gcm, random_.bytes(32));
  const Bytes iv = random_.bytes(12), aad_bytes = random_.bytes(20), text = random_.bytes(5000);
  Bytes expected(text.size()), expected_tag(16);
  key.seal(iv, aad_bytes, text, expected, expected_tag);
  const DeviceBytes aad = on_device(aad_bytes), data = on_device(text), tag = on_device(Bytes(16));
  const DeviceBytes opened = on_device(Bytes(text.size(), 9)), verdict = on_device(Bytes(4, 7));
  with_workspace(key, Direction::encrypt, text.size(), 0, [&](const DeviceQueue& where) {
    key.device_seal(iv, view(aad), view(data), view(data), view(tag), where);
  });
  EXPECT_EQ(data.bytes(), expected);
  EXPECT_EQ(tag.bytes(), expected_tag);
  expected_tag[3] ^= 1;
  const DeviceBytes wrong = on_device(expected_tag);
  with_workspace(key, Direction::decrypt, text.size(), 0, [&](const DeviceQueue& where) {
    key.device_open(iv, view(aad), view(data), view(opened), view(wrong), word(verdict), where);
    EXPECT_NE(verdict.bytes(), Bytes(4));
    EXPECT_EQ(opened.bytes(), Bytes(text.size()));
    key.device_open(iv, view(aad), view(data), view(opened), view(tag), word(verdict), where);
    EXPECT_EQ(verdict.bytes(), Bytes(4));
    EXPECT_EQ(opened.bytes(), text);
  });
}

TEST_F(DeviceWrapper, runs_many) {
  constexpr size_t count = 3;
  const stockade::Key key(Mode::gcm, random_.bytes(16));
  std::array<Bytes, count> ivs, texts;
  std::deque<DeviceBytes> datas, tags;
  std::array<stockade_message, count> messages = {};
  for (size_t i = 0; i < count; ++i) {
    ivs[i] = random_.bytes(12);
    texts[i] = random_.bytes(100 * i + 7);
    datas.push_back(on_device(texts[i]));
    tags.push_back(on_device(Bytes(16)));
    messages[i] = {key.handle(),    ivs[i].data(),  12, nullptr, 0, datas[i].data(), texts[i].size(),
                   datas[i].data(), tags[i].data(), 16, {}};
  }
  const uint64_t size = device_many_size(count);
  std::vector<std::max_align_t> staging(size / sizeof(std::max_align_t) + 1);
  const MutableByteView staged(staging.data(), size);
  const DeviceBytes workspace = on_device(Bytes(size)), verdicts = on_device(Bytes(4 * count, 7));
  device_seal_many(messages, staged, queue(view(workspace)));
  for (size_t i = 0; i < count; ++i) {
    Bytes expected(texts[i].size()), expected_tag(16);
    key.seal(ivs[i], {}, texts[i], expected, expected_tag);
    EXPECT_EQ(datas[i].bytes(), expected);
    EXPECT_EQ(tags[i].bytes(), expected_tag);
  }
  tags[1].write(Bytes(16));
  device_open_many(messages, word(verdicts), staged, queue(view(workspace)));
  for (size_t i = 0; i < count; ++i) {
    EXPECT_EQ(verdicts.read(4 * i, 4) == Bytes(4), i != 1);
    EXPECT_EQ(datas[i].bytes(), i == 1 ? Bytes(texts[i].size()) : texts[i]);
  }
  messages[2].tag_length = 11;
  EXPECT_EQ(thrown([&] { device_seal_many(messages, staged, queue(view(workspace))); }), STOCKADE_ERROR_TAG_LENGTH);
  EXPECT_EQ(thrown([&] { device_open_many(messages, word(verdicts), {}, queue(view(workspace))); }),
            STOCKADE_ERROR_OUTPUT_SIZE);
}

TEST_F(DeviceWrapper, throws_what_the_c_interface_returns) {
  const stockade::Key ctr(Mode::ctr, random_.bytes(16)), cbc(Mode::cbc, random_.bytes(16)),
      gcm(Mode::gcm, random_.bytes(16)), xts(Mode::xts, random_.bytes(32));
  const Bytes iv = random_.bytes(16);
  const DeviceBytes data = on_device(Bytes(64)), small = on_device(Bytes(63)), tag = on_device(Bytes(16));
  Bytes host(64);
  EXPECT_EQ(thrown([&] { ctr.device_encrypt(iv, view(data), host, queue()); }), STOCKADE_ERROR_DEVICE_POINTER);
  EXPECT_EQ(thrown([&] { cbc.device_encrypt(iv, view(data), view(data), queue()); }), STOCKADE_ERROR_MODE);
  EXPECT_EQ(thrown([&] { xts.device_encrypt(iv, view(data), view(data), queue()); }), STOCKADE_ERROR_OUTPUT_SIZE);
  EXPECT_EQ(thrown([&] { ctr.device_workspace(Direction::encrypt, 9999, 64); }), STOCKADE_ERROR_ARGUMENT);
  // The C interface cannot know how large these are; the views can.
  EXPECT_EQ(thrown([&] { ctr.device_encrypt(iv, view(data), view(small), queue()); }), STOCKADE_ERROR_OUTPUT_SIZE);
  EXPECT_EQ(thrown([&] { ctr.device_decrypt(iv, view(data), view(small), queue()); }), STOCKADE_ERROR_OUTPUT_SIZE);
  EXPECT_EQ(thrown([&] { xts.device_encrypt_units(iv, 32, view(data), view(small), queue()); }),
            STOCKADE_ERROR_OUTPUT_SIZE);
  EXPECT_EQ(thrown([&] { xts.device_decrypt_units(iv, 32, view(data), view(small), queue()); }),
            STOCKADE_ERROR_OUTPUT_SIZE);
  with_workspace(gcm, Direction::encrypt, 64, 0, [&](const DeviceQueue& where) {
    EXPECT_EQ(thrown([&] { gcm.device_seal(iv, {}, view(data), view(small), view(tag), where); }),
              STOCKADE_ERROR_OUTPUT_SIZE);
    EXPECT_EQ(thrown([&] { gcm.device_open(iv, {}, view(data), view(small), view(tag), word(tag), where); }),
              STOCKADE_ERROR_OUTPUT_SIZE);
  });
  EXPECT_EQ(small.bytes(), Bytes(63));
}

TEST_F(DeviceWrapper, lists_devices) {
  const std::vector<stockade_device> found = devices();
  ASSERT_FALSE(found.empty());
  EXPECT_EQ(found[device_number].capability, device_facts().capability);
  EXPECT_EQ(device_absence(), "");
}

}  // namespace
}  // namespace stockade::tests
