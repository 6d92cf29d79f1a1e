// What only a real GPU can show: the driver behind gpu::Runtime, launches that it refuses, and messages past 4 GiB.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <optional>

#include "aes/aes_bitslice_launch.h"
#include "aes/aes_variants.h"
#include "base/bytes.h"
#include "cross/launch_probe.h"
#include "cross/oracle.h"
#include "cross/random_source.h"
#include "cross/test_device.h"

namespace stockade::tests {
namespace {

using gpu::Side;

gpu::Runtime& runtime() { return test_device().runtime; }

// ---- the driver ----

TEST(CudaRuntime, tells_its_devices) {
  uint32_t devices = 0;
  ASSERT_EQ(runtime().count(devices), STOCKADE_OK);
  EXPECT_STREQ(runtime().absence(), "");
  for (uint32_t device = 0; device < devices; ++device) {
    gpu::DeviceFacts facts;
    uint64_t free = 0;
    ASSERT_EQ(runtime().facts(device, facts), STOCKADE_OK);
    EXPECT_STRNE(facts.name, "");
    EXPECT_EQ(std::strlen(facts.bus), 12U) << facts.bus;
    EXPECT_GE(facts.multiprocessors, 1U);
    EXPECT_GE(facts.shared_bytes, 48U << 10);
    ASSERT_EQ(runtime().free_memory(device, free), STOCKADE_OK);
    EXPECT_LE(free, facts.memory);
  }
  gpu::DeviceFacts facts;
  EXPECT_EQ(runtime().facts(devices, facts), STOCKADE_ERROR_UNAVAILABLE);
  EXPECT_EQ(gpu::OnDevice(runtime(), devices).status(), STOCKADE_ERROR_UNAVAILABLE);
}

TEST(CudaRuntime, copies_both_ways_and_fills) {
  RandomSource random;
  for (const uint64_t length : {uint64_t{1}, uint64_t{1000}, random.between(1 << 20, 1 << 24)}) {
    const Bytes data = random.bytes(length);
    gpu::DeviceBuffer device;
    gpu::PinnedBuffer pinned;
    gpu::Stream stream;
    ASSERT_EQ(device.allocate(runtime(), device_number, length), STOCKADE_OK);
    ASSERT_EQ(pinned.allocate(runtime(), length), STOCKADE_OK);
    ASSERT_EQ(stream.make(runtime(), device_number), STOCKADE_OK);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(device.data()) % 256, 0U);
    std::copy(data.begin(), data.end(), pinned.data());
    const uint64_t filled = length / 2;
    void* const queue = stream.handle();
    ASSERT_EQ(runtime().copy_in(device_number, queue, device.data(), pinned.data(), length), STOCKADE_OK);
    ASSERT_EQ(runtime().fill(device_number, queue, device.data(), 0x55, filled), STOCKADE_OK);
    Bytes back(length);
    ASSERT_EQ(runtime().copy_out(device_number, queue, back.data(), device.data(), length), STOCKADE_OK);
    ASSERT_EQ(runtime().wait(device_number, queue), STOCKADE_OK);
    Bytes expected = data;
    std::fill_n(expected.begin(), filled, uint8_t{0x55});
    EXPECT_TRUE(back == expected) << length;
  }
}

TEST(CudaRuntime, tells_pointers_apart) {
  Bytes own(100000);
  gpu::DeviceBuffer device;
  gpu::PinnedBuffer pinned;
  ASSERT_EQ(device.allocate(runtime(), device_number, 100), STOCKADE_OK);
  ASSERT_EQ(pinned.allocate(runtime(), 100), STOCKADE_OK);
  const auto side = [](const void* pointer) {
    gpu::Place place{Side::managed, 77};
    EXPECT_EQ(runtime().locate(pointer, place), STOCKADE_OK);
    return place.side;
  };
  EXPECT_EQ(side(own.data() + 50000), Side::host);
  EXPECT_EQ(side(pinned.data() + 99), Side::pinned);
  EXPECT_EQ(side(device.data() + 99), Side::device);
  ASSERT_EQ(runtime().register_host(own.data(), own.size()), STOCKADE_OK);
  EXPECT_EQ(side(own.data() + 50000), Side::pinned);
  EXPECT_NE(runtime().register_host(own.data(), own.size()), STOCKADE_OK) << "twice";
  ASSERT_EQ(runtime().unregister_host(own.data()), STOCKADE_OK);
  EXPECT_EQ(side(own.data() + 50000), Side::host);
}

// More than there is: a status, after which everything works as before.
TEST(CudaRuntime, memory_ends) {
  gpu::DeviceBuffer buffer;
  EXPECT_EQ(buffer.allocate(runtime(), device_number, 2 * device_facts().memory), STOCKADE_ERROR_DEVICE_MEMORY);
  EXPECT_EQ(buffer.data(), nullptr);
  EXPECT_EQ(buffer.allocate(runtime(), device_number, 100), STOCKADE_OK);
}

// CUDA's state does not survive fork(): the child is told so before anything reaches the driver.
TEST(CudaRuntime, turns_a_forked_child_away) {
  TestStream stream;
  const DeviceBytes device(stream, Bytes(16, 3));
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    uint32_t devices = 0;
    void* memory = nullptr;
    gpu::Place place;
    const Status all[] = {runtime().count(devices), runtime().allocate(device_number, 16, &memory),
                          runtime().enter(device_number), runtime().locate(device.data(), place)};
    _exit(std::all_of(std::begin(all), std::end(all), [](Status s) { return s == STOCKADE_ERROR_FORKED; }) ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  EXPECT_EQ(device.bytes(), Bytes(16, 3)) << "the parent is as it was";
}

// ---- launches ----

TEST(CudaLaunch, of_a_shape_that_the_device_cannot_run_is_a_status) {
  TestStream stream;
  DeviceBytes word(stream, Bytes(4));
  auto* const count = reinterpret_cast<uint32_t*>(word.data());
  gpu::Queue queue = stream.queue();
  EXPECT_EQ(launch_probe(queue, {1, 1056, 0}, count), STOCKADE_ERROR_DEVICE) << "more threads than any block has";
  EXPECT_EQ(launch_probe(queue, {0, 32, 0}, count), STOCKADE_ERROR_DEVICE) << "no blocks";
  EXPECT_EQ(launch_probe(queue, {1, 32, queue.shared_bytes + 1024}, count), STOCKADE_ERROR_DEVICE) << "too much memory";
  EXPECT_EQ(word.bytes(), Bytes(4)) << "nothing has run";
  EXPECT_EQ(launch_probe(queue, {3, probe_max_threads, queue.shared_bytes}, count), STOCKADE_OK);
  uint32_t counted;
  std::memcpy(&counted, word.bytes().data(), sizeof counted);
  EXPECT_EQ(counted, 3 * probe_max_threads) << "a refusal leaves nothing behind";
  EXPECT_TRUE(word.intact());
}

// A queue that promises memory which the device has not.
TEST(CudaLaunch, of_more_memory_than_there_is_is_a_status) {
  TestStream stream;
  const DeviceBytes word(stream, Bytes(4));
  gpu::Queue queue = stream.queue();
  queue.shared_bytes += 1 << 20;
  // The kernel of the test before has been given its memory already, so what is asked for must be more.
  EXPECT_EQ(launch_probe(queue, {1, 32, queue.shared_bytes}, reinterpret_cast<uint32_t*>(word.data())),
            STOCKADE_ERROR_DEVICE);
  EXPECT_EQ(word.bytes(), Bytes(4));
}

// ---- messages past 4 GiB ----

// Text of which every 64 MiB are other random bytes, made and compared by the piece. Plaintext and result lie on the device.
class Large : public testing::Test {
 protected:
  static constexpr uint64_t piece = uint64_t{64} << 20, length = (uint64_t{5} << 30) - 16;

  void SetUp() override {
    uint64_t free = 0;
    ASSERT_EQ(runtime().free_memory(device_number, free), STOCKADE_OK);
    if (free < 2 * length + (uint64_t{1} << 30)) GTEST_SKIP() << "the card has too little memory";
    if (test_scale() < 100) GTEST_SKIP() << "at full scale only";
    noise_ = random_.bytes(piece);
    stream_.emplace();
    in_.emplace(*stream_, length);
    out_.emplace(*stream_, length);
    for (uint64_t at = 0; at < length; at += piece) in_->write(text(at), at);
  }

  // Of the piece that begins there.
  Bytes text(uint64_t at) const {
    Bytes bytes(noise_.begin(), noise_.begin() + static_cast<int64_t>(std::min(piece, length - at)));
    for (uint64_t i = 0; i + 8 <= bytes.size(); i += 4096) store_le64(&bytes[i], load_le64(&bytes[i]) + at + 1);
    return bytes;
  }

  // expected(text, at) is what a piece should have become.
  template <typename Expected>
  void expect_pieces(Expected&& expected) {
    for (uint64_t at = 0; at < length; at += piece) {
      const Bytes plain = text(at);
      ASSERT_TRUE(out_->read(at, plain.size()) == expected(plain, at)) << "in the piece at " << at;
    }
    EXPECT_TRUE(in_->intact() && out_->intact());
  }

  static Bytes counter_after(Bytes counter, uint64_t blocks) {
    const uint64_t low = load_be64(counter.data() + 8);
    store_be64(counter.data() + 8, low + blocks);
    if (low + blocks < low) store_be64(counter.data(), load_be64(counter.data()) + 1);
    return counter;
  }

  aes::RoundKeys encrypt_keys(const Bytes& key) const {
    aes::RoundKeys encrypt, decrypt;
    aes::gpu_expand(key.data(), static_cast<uint32_t>(key.size()), encrypt, decrypt);
    return encrypt;
  }

  void check_ctr(aes::GpuCtrFn ctr, const gpu::Shape& shape) {
    const Bytes key = random_.bytes(32);
    Bytes counter = random_.bytes(16);
    // It carries into its upper half somewhere in the message.
    store_be64(counter.data() + 8, 0 - random_.between(1, length / 16));
    ASSERT_EQ(ctr(stream_->queue(), shape, encrypt_keys(key), counter.data(), aes::CounterWidth::bits128, in_->data(),
                  out_->data(), length, nullptr),
              STOCKADE_OK);
    expect_pieces([&](const Bytes& plain, uint64_t at) {
      return oracle_crypt(STOCKADE_CTR, STOCKADE_ENCRYPT, key, counter_after(counter, at / 16), plain);
    });
  }

  RandomSource random_;
  Bytes noise_;
  std::optional<TestStream> stream_;
  std::optional<DeviceBytes> in_, out_;
};

TEST_F(Large, counter_mode) {
  check_ctr(test_device().aes.ctr, aes::default_shape(aes::GpuOperation::ctr, device_facts().capability));
}

TEST_F(Large, bitsliced_counter_mode) { check_ctr(test_device().aes.ctr_bitsliced, aes::ctr_bitsliced_shape); }

TEST_F(Large, chained_mode_in_place) {
  const Bytes key = random_.bytes(16), iv = random_.bytes(16);
  aes::RoundKeys encrypt, decrypt;
  aes::gpu_expand(key.data(), 16, encrypt, decrypt);
  const gpu::Queue queue = stream_->queue();
  constexpr auto operation = aes::GpuOperation::cbc_decrypt;
  const gpu::Shape shape = aes::default_shape(operation, queue.capability);
  const DeviceBytes workspace(*stream_, aes::gpu_workspace_bytes(operation, queue, shape, length, 0));
  for (uint64_t at = 0; at < length; at += piece) out_->write(text(at), at);
  ASSERT_EQ(test_device().aes.cbc_decrypt(queue, shape, decrypt, iv.data(), out_->data(), out_->data(), length,
                                          workspace.data()),
            STOCKADE_OK);
  Bytes chain = iv;
  expect_pieces([&](const Bytes& cipher, uint64_t) {
    Bytes plain = oracle_crypt(STOCKADE_CBC, STOCKADE_DECRYPT, key, chain, cipher);
    chain.assign(cipher.end() - 16, cipher.end());
    return plain;
  });
  EXPECT_TRUE(workspace.intact());
}

TEST_F(Large, data_units) {
  const Bytes key = random_.bytes(64), first = random_.bytes(16);
  constexpr uint64_t unit = 4096;
  constexpr auto operation = aes::GpuOperation::xts_encrypt;
  const gpu::Queue queue = stream_->queue();
  const gpu::Shape shape = aes::default_shape(operation, queue.capability);
  const DeviceBytes workspace(*stream_, aes::gpu_workspace_bytes(operation, queue, shape, length, unit));
  ASSERT_EQ(test_device().aes.xts_encrypt(queue, shape, encrypt_keys({key.begin(), key.begin() + 32}),
                                          encrypt_keys({key.begin() + 32, key.end()}), first.data(), unit, in_->data(),
                                          out_->data(), length, workspace.data()),
            STOCKADE_OK);
  expect_pieces([&](const Bytes& plain, uint64_t at) {
    Bytes number = first;
    const uint64_t low = load_le64(number.data());
    store_le64(number.data(), low + at / unit);
    if (low + at / unit < low) store_le64(number.data() + 8, load_le64(number.data() + 8) + 1);
    return oracle_units(STOCKADE_ENCRYPT, key, number, unit, plain);
  });
  EXPECT_TRUE(workspace.intact());
}

TEST_F(Large, sealed_and_opened) {
  const Bytes key = random_.bytes(16), iv = random_.bytes(12), aad = random_.bytes(100);
  Bytes all;
  all.reserve(length);
  for (uint64_t at = 0; at < length; at += piece) {
    const Bytes plain = text(at);
    all.insert(all.end(), plain.begin(), plain.end());
  }
  const Sealed sealed = oracle_seal(key, iv, aad, all, 16);
  constexpr gcm::Variant row{"portable", {}, &gcm::kernels_portable};
  gcm::Key host_key;
  gcm::GpuKey gpu_key;
  gcm::MessageStart start;
  ASSERT_EQ(gcm::expand(host_key, &row, key.data(), key.size()), STOCKADE_OK);
  gcm::gpu_prepare(host_key, gpu_key);
  gcm::start_message(host_key, iv.data(), iv.size(), start);
  const gpu::Queue queue = stream_->queue();
  const gcm::GpuShapes shapes = gcm::default_shapes(16, queue.capability);
  const DeviceBytes workspace(*stream_, test_device().gcm.workspace_bytes(queue));
  const DeviceBytes device_aad(*stream_, aad), tag(*stream_, Bytes(16)), refused(*stream_, Bytes(4, 77));
  gcm::GpuMessage message = {in_->data(), out_->data(), length, device_aad.data(), aad.size(), tag.data(), 16};
  ASSERT_EQ(test_device().gcm.seal(queue, shapes, gpu_key, start, message, workspace.data()), STOCKADE_OK);
  EXPECT_EQ(tag.bytes(), sealed.tag);
  expect_pieces([&](const Bytes& plain, uint64_t at) {
    const auto begin = sealed.ciphertext.begin() + static_cast<int64_t>(at);
    return Bytes(begin, begin + static_cast<int64_t>(plain.size()));
  });
  message.in = out_->data();
  ASSERT_EQ(test_device().gcm.open(queue, shapes, gpu_key, start, message, reinterpret_cast<uint32_t*>(refused.data()),
                                   workspace.data()),
            STOCKADE_OK);
  EXPECT_EQ(refused.bytes(), Bytes(4));
  expect_pieces([](const Bytes& plain, uint64_t) { return plain; });
  EXPECT_TRUE(workspace.intact());
}

}  // namespace
}  // namespace stockade::tests
