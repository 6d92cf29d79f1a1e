// stockade_device_: the same bytes as the calls for host memory, and every refusal. On emulated devices, or with
// STOCKADE_TEST_CUDA on the machine's own first GPU.
#include "cipher/device.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "cross/handles.h"
#include "cross/random_source.h"
#if !defined(STOCKADE_TEST_CUDA)
#include "gpu/runtime_emulated.h"
#endif

namespace stockade::cipher {
namespace {

using tests::Bytes;
using tests::Key;
using tests::RandomSource;
using tests::scaled;

#if defined(STOCKADE_TEST_CUDA)
constexpr bool emulated = false;
#else
constexpr bool emulated = true;
#endif

class DeviceCalls : public testing::Test {
 protected:
  void SetUp() override {
#if defined(STOCKADE_TEST_CUDA)
    uint32_t devices;
    if (offload::backend().runtime->count(devices) != STOCKADE_OK)
      GTEST_SKIP() << offload::backend().runtime->absence();
  }
#else
    use({{}, {}});
  }

  // Emulated devices in place of those before.
  void use(const std::vector<gpu::EmulatedDevice>& devices) {
    scope_.reset();
    runtime_ = std::make_unique<gpu::EmulatedRuntime>(devices);
    backend_ = std::make_unique<offload::Backend>(
        offload::Backend{runtime_.get(), &aes::gpu_kernels_emulated, &gcm::gpu_kernels_emulated});
    scope_ = std::make_unique<offload::ScopedBackend>(*backend_);
  }

 private:
  std::unique_ptr<gpu::EmulatedRuntime> runtime_;
  std::unique_ptr<offload::Backend> backend_;
  std::unique_ptr<offload::ScopedBackend> scope_;
#endif
};

// Memory of a device with its content, which begins `misaligned` bytes behind a boundary. What lies around it must stay.
class Memory {
 public:
  explicit Memory(const Bytes& content, uint64_t misaligned = 0, uint32_t device = 0)
      : device_(device), begin_(margin + misaligned), length_(content.size()) {
    Bytes all(margin + misaligned + content.size() + margin, canary);
    std::copy(content.begin(), content.end(), all.begin() + static_cast<ptrdiff_t>(begin_));
    EXPECT_EQ(buffer_.allocate(*offload::backend().runtime, device, all.size()), STOCKADE_OK);
    EXPECT_EQ(offload::backend().runtime->copy_in(device, nullptr, buffer_.data(), all.data(), all.size()),
              STOCKADE_OK);
    EXPECT_EQ(offload::backend().runtime->wait(device, nullptr), STOCKADE_OK);
  }

  uint8_t* data() const { return buffer_.data() + begin_; }

  Bytes content() const {
    Bytes all(buffer_.size());
    EXPECT_EQ(offload::backend().runtime->wait(device_, nullptr), STOCKADE_OK);
    EXPECT_EQ(offload::backend().runtime->copy_out(device_, nullptr, all.data(), buffer_.data(), all.size()),
              STOCKADE_OK);
    EXPECT_EQ(offload::backend().runtime->wait(device_, nullptr), STOCKADE_OK);
    const auto begin = all.begin() + static_cast<ptrdiff_t>(begin_), end = begin + static_cast<ptrdiff_t>(length_);
    const auto untouched = [](uint8_t byte) { return byte == canary; };
    EXPECT_TRUE(std::all_of(all.begin(), begin, untouched) && std::all_of(end, all.end(), untouched));
    return Bytes(begin, end);
  }

 private:
  static constexpr uint64_t margin = 64;
  static constexpr uint8_t canary = 0xA5;

  uint32_t device_;
  gpu::DeviceBuffer buffer_;
  uint64_t begin_, length_;
};

Key make_key(stockade_mode mode, const Bytes& bytes, const char* force = nullptr) {
  stockade_key* key = nullptr;
  EXPECT_EQ(stockade_key_create(&key, mode, bytes.data(), bytes.size(), force), STOCKADE_OK);
  return Key(key);
}

// A queue with as much workspace as a message needs.
struct Work {
  Memory workspace;
  stockade_device_queue queue;

  explicit Work(uint64_t size) : workspace(Bytes(size)) {
    queue = {sizeof queue, nullptr, size == 0 ? nullptr : workspace.data(), size};
  }
  static Work on(const Key& key, stockade_direction direction, uint64_t length, uint64_t unit = 0) {
    uint64_t size = 0;
    EXPECT_EQ(stockade_device_workspace(key.get(), direction, 0, length, unit, &size), STOCKADE_OK);
    return Work(size);
  }
};

uint64_t most_bytes() { return emulated ? 20000 : uint64_t{8} << 20; }

uint64_t random_length(RandomSource& random) {
  return random.one_in(2) ? random.below(300) : random.below(random.one_in(4) ? most_bytes() : 5000);
}

constexpr std::pair<stockade_mode, stockade_direction> block_modes[] = {
    {STOCKADE_ECB, STOCKADE_ENCRYPT}, {STOCKADE_ECB, STOCKADE_DECRYPT}, {STOCKADE_CTR, STOCKADE_ENCRYPT},
    {STOCKADE_CTR, STOCKADE_DECRYPT}, {STOCKADE_CBC, STOCKADE_DECRYPT}, {STOCKADE_CFB, STOCKADE_DECRYPT},
    {STOCKADE_XTS, STOCKADE_ENCRYPT}, {STOCKADE_XTS, STOCKADE_DECRYPT}};

TEST_F(DeviceCalls, give_the_bytes_of_host_memory) {
  RandomSource random;
  for (const auto& [mode, direction] : block_modes) {
    const auto on_host = direction == STOCKADE_ENCRYPT ? stockade_encrypt : stockade_decrypt;
    const auto on_device = direction == STOCKADE_ENCRYPT ? stockade_device_encrypt : stockade_device_decrypt;
    for (uint64_t i = 0; i < scaled(emulated ? 8 : 60); ++i) {
      const std::vector<uint32_t> sizes = tests::key_sizes(mode);
      const char* const force = random.one_in(2) ? "gpu-ctr:bitsliced" : nullptr;
      const Key key = make_key(mode, random.bytes(tests::key_bytes(mode, sizes[random.below(sizes.size())])), force);
      const Bytes iv = random.bytes(tests::iv_bytes(mode));
      const Bytes in = random.bytes(tests::allowed_length(mode, random_length(random)));
      Bytes expected(in.size());
      ASSERT_EQ(on_host(key.get(), iv.data(), iv.size(), in.data(), in.size(), expected.data(), nullptr), STOCKADE_OK);
      const bool in_place = random.one_in(3);
      const Memory from(in, random.one_in(3) ? random.below(17) : 0);
      const Memory to(Bytes(in.size(), 1), random.one_in(3) ? random.below(17) : 0);
      const Work work = Work::on(key, direction, in.size());
      ASSERT_EQ(on_device(key.get(), iv.data(), iv.size(), from.data(), in.size(), in_place ? from.data() : to.data(),
                          &work.queue),
                STOCKADE_OK);
      ASSERT_EQ((in_place ? from : to).content(), expected)
          << tests::mode_name(mode) << ", " << in.size() << " bytes, in place " << in_place;
      if (!in_place) {
        EXPECT_EQ(from.content(), in);
      }
    }
  }
}

// ---- the profile in force ----

std::string first_device() {
  gpu::DeviceFacts facts;
  EXPECT_EQ(offload::backend().runtime->facts(0, facts), STOCKADE_OK);
  return facts.name;
}

// A profile in which every mode has a row for all lengths and one for longer ones, with shapes of all that a reader takes.
std::unique_ptr<tune::Profile> random_shapes(RandomSource& random) {
  std::string text = "stockade-profile 1\ngpu " + first_device() + "\n";
  uint32_t rows = 0;
  for (const char* operation : {"gpu-ecb", "gpu-cbc", "gpu-cfb", "gpu-ctr", "gpu-xts", "gpu-gcm"}) {
    for (const uint64_t from : {0, 1000}) {
      text += std::string(operation) + " 256 " + std::to_string(from);
      text += " threads=" + std::to_string(32 * random.between(1, 32));
      text += " blocks=" + std::to_string(1U << random.below(3)) + " per_sm=" + std::to_string(random.between(1, 32));
      text += " | 1 GB/s | - | somewhere | 2026-11-22 | 0123456\n";
      ++rows;
    }
  }
  auto profile = std::make_unique<tune::Profile>();
  tune::Fault fault;
  EXPECT_TRUE(tune::read_profile(text + "end " + std::to_string(rows) + "\n", *profile, fault)) << fault.what;
  return profile;
}

TEST_F(DeviceCalls, give_the_same_bytes_in_every_shape_that_a_profile_may_have) {
  RandomSource random;
  for (uint64_t i = 0; i < scaled(emulated ? 6 : 40); ++i) {
    const auto profile = random_shapes(random);
    const tune::ScopedProfile scoped(profile.get());
    for (const auto& [mode, direction] : block_modes) {
      const auto on_host = direction == STOCKADE_ENCRYPT ? stockade_encrypt : stockade_decrypt;
      const auto on_device = direction == STOCKADE_ENCRYPT ? stockade_device_encrypt : stockade_device_decrypt;
      const Key key = make_key(mode, random.bytes(tests::key_bytes(mode, 128)));
      const Bytes iv = random.bytes(tests::iv_bytes(mode));
      const Bytes in = random.bytes(tests::allowed_length(mode, random_length(random)));
      Bytes expected(in.size());
      ASSERT_EQ(on_host(key.get(), iv.data(), iv.size(), in.data(), in.size(), expected.data(), nullptr), STOCKADE_OK);
      const Memory data(in, random.one_in(3) ? random.below(17) : 0);
      // A chain needs no more for a shorter message: who asks for the longest of theirs has enough for all.
      const bool chained = mode == STOCKADE_CBC || mode == STOCKADE_CFB;
      const Work work = Work::on(key, direction, in.size() + (chained ? 16 * random.below(2000) : 0));
      ASSERT_EQ(on_device(key.get(), iv.data(), iv.size(), data.data(), in.size(), data.data(), &work.queue),
                STOCKADE_OK)
          << tests::mode_name(mode) << ", " << in.size();
      ASSERT_EQ(data.content(), expected) << tests::mode_name(mode) << ", " << in.size();
    }
    const Key key = make_key(STOCKADE_GCM, random.bytes(16));
    const Bytes iv = random.bytes(12), in = random.bytes(random_length(random));
    Bytes expected(in.size()), tag(16);
    ASSERT_EQ(stockade_seal(key.get(), iv.data(), 12, nullptr, 0, in.data(), in.size(), expected.data(), tag.data(), 16,
                            nullptr),
              STOCKADE_OK);
    const Memory data(in), sealed_tag(Bytes(16));
    const Work work = Work::on(key, STOCKADE_ENCRYPT, in.size());
    ASSERT_EQ(stockade_device_seal(key.get(), iv.data(), 12, nullptr, 0, data.data(), in.size(), data.data(),
                                   sealed_tag.data(), 16, &work.queue),
              STOCKADE_OK);
    ASSERT_EQ(data.content(), expected);
    ASSERT_EQ(sealed_tag.content(), tag);
  }
}

// What the test above takes for granted: that launches have the shapes that the profile has, of this device and no other.
TEST_F(DeviceCalls, are_launched_in_the_shapes_that_the_profile_has) {
  static gpu::Shape launched;
  aes::GpuKernels kernels = *offload::backend().aes;
  kernels.ctr = [](const gpu::Queue&, const gpu::Shape& shape, const aes::RoundKeys&, const uint8_t*, aes::CounterWidth,
                   const uint8_t*, uint8_t*, uint64_t, const uint32_t*) -> Status {
    launched = shape;
    return STOCKADE_OK;
  };
  offload::Backend own = offload::backend();
  own.aes = &kernels;
  const offload::ScopedBackend scope(own);
  const auto threads_for = [](uint64_t length, const std::string& gpu) {
    const auto profile = std::make_unique<tune::Profile>();
    tune::Fault fault;
    EXPECT_TRUE(tune::read_profile("stockade-profile 1\ngpu " + gpu +
                                       "\ngpu-ctr 128 512 threads=96 | 1 GB/s | - | m | 2026-11-22 | 0123456\nend 1\n",
                                   *profile, fault))
        << fault.what;
    const tune::ScopedProfile scoped(profile.get());
    const Key key = make_key(STOCKADE_CTR, Bytes(16, 7));
    const Memory data(Bytes(1000));
    const stockade_device_queue queue = {sizeof queue, nullptr, nullptr, 0};
    EXPECT_EQ(stockade_device_encrypt(key.get(), Bytes(16).data(), 16, data.data(), length, data.data(), &queue),
              STOCKADE_OK);
    return launched.threads;
  };
  EXPECT_EQ(threads_for(512, first_device()), 96U);
  EXPECT_EQ(threads_for(1000, first_device()), 96U);
  EXPECT_NE(threads_for(511, first_device()), 96U);
  EXPECT_NE(threads_for(512, "another"), 96U);
}

TEST_F(DeviceCalls, use_the_counter_mode_that_the_key_names) {
  const auto refuse = [](const gpu::Queue&, const gpu::Shape&, const aes::RoundKeys&, const uint8_t*, aes::CounterWidth,
                         const uint8_t*, uint8_t*, uint64_t,
                         const uint32_t*) -> Status { return STOCKADE_ERROR_DEVICE; };
  const auto named = [](const char* force) {
    const Key key = make_key(STOCKADE_CTR, Bytes(32, 7), force);
    const Memory data(Bytes(1000));
    const Work work = Work::on(key, STOCKADE_ENCRYPT, 1000);
    return stockade_device_encrypt(key.get(), Bytes(16).data(), 16, data.data(), 1000, data.data(), &work.queue);
  };
  aes::GpuKernels kernels = *offload::backend().aes;
  offload::Backend own = offload::backend();
  own.aes = &kernels;
  const offload::ScopedBackend scope(own);
  kernels.ctr = refuse;
  EXPECT_EQ(named("gpu-ctr:bitsliced"), STOCKADE_OK);
  EXPECT_EQ(named("gpu-ctr:tables"), STOCKADE_ERROR_DEVICE);
  EXPECT_EQ(named(nullptr), STOCKADE_ERROR_DEVICE);
  std::swap(kernels.ctr, kernels.ctr_bitsliced);
  EXPECT_EQ(named("gpu-ctr:bitsliced"), STOCKADE_ERROR_DEVICE);
  EXPECT_EQ(named(nullptr), STOCKADE_OK);
}

TEST_F(DeviceCalls, do_units_as_host_memory) {
  RandomSource random;
  for (uint64_t i = 0; i < scaled(emulated ? 20 : 100); ++i) {
    const Key key = make_key(STOCKADE_XTS, random.bytes(random.one_in(2) ? 32 : 64));
    const Bytes number = random.bytes(16);
    const uint64_t unit = random.one_in(2) ? 512 : random.between(16, 3000);
    uint64_t length = random.between(16, 20 * unit);
    if (length % unit != 0 && length % unit < 16) length -= length % unit - (length < unit ? 16 : 0);
    const Bytes in = random.bytes(length);
    Bytes sealed(length);
    ASSERT_EQ(stockade_encrypt_units(key.get(), number.data(), 16, unit, in.data(), length, sealed.data(), nullptr),
              STOCKADE_OK);
    const Memory data(in);
    const Work work = Work::on(key, STOCKADE_ENCRYPT, length, unit);
    ASSERT_EQ(stockade_device_encrypt_units(key.get(), number.data(), 16, unit, data.data(), length, data.data(),
                                            &work.queue),
              STOCKADE_OK);
    ASSERT_EQ(data.content(), sealed) << unit << ", " << length;
    const Work back = Work::on(key, STOCKADE_DECRYPT, length, unit);
    ASSERT_EQ(stockade_device_decrypt_units(key.get(), number.data(), 16, unit, data.data(), length, data.data(),
                                            &back.queue),
              STOCKADE_OK);
    ASSERT_EQ(data.content(), in);
  }
}

// A GCM message on the host, sealed there, and its parts on the device.
struct Sealed {
  Bytes key_bytes, iv, aad, in, sealed, tag;
  Key key;

  explicit Sealed(RandomSource& random)
      : key_bytes(random.bytes(16 + 8 * random.below(3))),
        iv(random.bytes(random.one_in(2) ? 12 : random.between(1, 40))),
        aad(random.bytes(random.one_in(2) ? 0 : random.below(100))),
        in(random.bytes(random_length(random))),
        sealed(in.size()),
        tag(random.between(12, 16)),
        key(make_key(STOCKADE_GCM, key_bytes)) {
    EXPECT_EQ(stockade_seal(key.get(), iv.data(), iv.size(), aad.data(), aad.size(), in.data(), in.size(),
                            sealed.data(), tag.data(), tag.size(), nullptr),
              STOCKADE_OK);
  }
};

uint32_t word_of(const Memory& memory, size_t index = 0) {
  const Bytes bytes = memory.content();
  uint32_t word;
  std::memcpy(&word, bytes.data() + 4 * index, sizeof word);
  return word;
}

TEST_F(DeviceCalls, seal_and_open_as_host_memory) {
  RandomSource random;
  for (uint64_t i = 0; i < scaled(emulated ? 25 : 200); ++i) {
    const Sealed message(random);
    const uint64_t length = message.in.size();
    const Memory aad(message.aad, random.below(5)), data(message.in, random.one_in(3) ? random.below(17) : 0);
    const Memory tag(Bytes(message.tag.size()), random.below(3)), verdict(Bytes(4, 7));
    const Work work = Work::on(message.key, STOCKADE_ENCRYPT, length);
    ASSERT_EQ(
        stockade_device_seal(message.key.get(), message.iv.data(), message.iv.size(), aad.data(), message.aad.size(),
                             data.data(), length, data.data(), tag.data(), message.tag.size(), &work.queue),
        STOCKADE_OK);
    ASSERT_EQ(data.content(), message.sealed) << length;
    ASSERT_EQ(tag.content(), message.tag) << length << ", " << message.aad.size();
    const Memory out(Bytes(length, 9));
    const auto open = [&](const Memory& with) {
      return stockade_device_open(message.key.get(), message.iv.data(), message.iv.size(), aad.data(),
                                  message.aad.size(), data.data(), length, out.data(), with.data(), message.tag.size(),
                                  reinterpret_cast<uint32_t*>(verdict.data()), &work.queue);
    };
    Bytes wrong = message.tag;
    wrong[random.below(wrong.size())] ^= static_cast<uint8_t>(1 << random.below(8));
    ASSERT_EQ(open(Memory(wrong)), STOCKADE_OK);
    EXPECT_NE(word_of(verdict), 0u);
    EXPECT_EQ(out.content(), Bytes(length));
    ASSERT_EQ(open(tag), STOCKADE_OK);
    EXPECT_EQ(word_of(verdict), 0u);
    EXPECT_EQ(out.content(), message.in);
  }
}

TEST_F(DeviceCalls, run_many_messages_in_one_launch) {
  RandomSource random;
  std::vector<Sealed> sealed;
  for (uint64_t i = 0; i < (emulated ? 9u : 300u); ++i) sealed.emplace_back(random);
  const uint64_t count = sealed.size(), bad = random.below(count);
  std::vector<Memory> aads, datas, tags;
  std::vector<stockade_message> messages;
  for (const Sealed& one : sealed) {
    aads.emplace_back(one.aad);
    datas.emplace_back(one.in, random.one_in(3) ? random.below(17) : 0);
    tags.emplace_back(Bytes(one.tag.size()));
    messages.push_back({one.key.get(), one.iv.data(), one.iv.size(), aads.back().data(), one.aad.size(),
                        datas.back().data(), one.in.size(), datas.back().data(), tags.back().data(), one.tag.size(),
                        STOCKADE_ERROR_STATE});
  }
  const uint64_t size = stockade_device_many_size(count);
  const Work work(size);
  const Memory verdicts(Bytes(4 * count, 5));
  std::vector<gcm::GpuBatchMessage> staging(count);
  ASSERT_EQ(stockade_device_seal_many(messages.data(), count, staging.data(), size, &work.queue), STOCKADE_OK);
  for (uint64_t i = 0; i < count; ++i) {
    EXPECT_EQ(messages[i].status, STOCKADE_OK);
    EXPECT_EQ(datas[i].content(), sealed[i].sealed);
    EXPECT_EQ(tags[i].content(), sealed[i].tag);
  }
  Bytes wrong = sealed[bad].tag;
  wrong[0] ^= 1;
  const Memory wrong_tag(wrong);
  messages[bad].tag = wrong_tag.data();
  ASSERT_EQ(stockade_device_open_many(messages.data(), count, reinterpret_cast<uint32_t*>(verdicts.data()),
                                      staging.data(), size, &work.queue),
            STOCKADE_OK);
  for (uint64_t i = 0; i < count; ++i) {
    EXPECT_EQ(word_of(verdicts, i) != 0, i == bad);
    EXPECT_EQ(datas[i].content(), i == bad ? Bytes(sealed[i].in.size()) : sealed[i].in);
  }
  // One that cannot be run keeps all from running.
  messages[count / 2].tag_length = 17;
  EXPECT_EQ(stockade_device_seal_many(messages.data(), count, staging.data(), size, &work.queue),
            STOCKADE_ERROR_TAG_LENGTH);
  EXPECT_EQ(messages[count / 2].status, STOCKADE_ERROR_TAG_LENGTH);
  EXPECT_EQ(datas[bad].content(), Bytes(sealed[bad].in.size()));
}

TEST_F(DeviceCalls, share_a_key_among_threads) {
  RandomSource random;
  const Key key = make_key(STOCKADE_CTR, random.bytes(32));
  const Bytes in = random.bytes(3000), iv = random.bytes(16);
  Bytes expected(in.size());
  ASSERT_EQ(stockade_encrypt(key.get(), iv.data(), 16, in.data(), in.size(), expected.data(), nullptr), STOCKADE_OK);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      const Memory data(in);
      const stockade_device_queue queue = {sizeof queue, nullptr, nullptr, 0};
      EXPECT_EQ(stockade_device_encrypt(key.get(), iv.data(), 16, data.data(), in.size(), data.data(), &queue),
                STOCKADE_OK);
      EXPECT_EQ(data.content(), expected);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST_F(DeviceCalls, refuse_what_cannot_be) {
  RandomSource random;
  const Key ctr = make_key(STOCKADE_CTR, random.bytes(16)), cbc = make_key(STOCKADE_CBC, random.bytes(16));
  const Key gcm = make_key(STOCKADE_GCM, random.bytes(16)), xts = make_key(STOCKADE_XTS, random.bytes(32));
  const Memory data(random.bytes(256)), tag(Bytes(16)), verdict(Bytes(8));
  const Bytes iv = random.bytes(16);
  Bytes host(256);
  uint8_t* const d = data.data();
  const Work work(1 << 20);
  stockade_device_queue none = {sizeof none, nullptr, nullptr, 0}, odd = none, small = work.queue;
  odd.struct_size -= 8;
  small.workspace_size = 15;
  const auto encrypt = [&](const Key& key, const void* in, uint64_t length, void* out,
                           const stockade_device_queue* queue) {
    return stockade_device_encrypt(key.get(), iv.data(), 16, in, length, out, queue);
  };
  EXPECT_EQ(encrypt(ctr, d, 256, d, &none), STOCKADE_OK);
  EXPECT_EQ(encrypt(ctr, d, 0, d, &none), STOCKADE_OK);
  EXPECT_EQ(encrypt(ctr, nullptr, 0, nullptr, &none), STOCKADE_OK);
  EXPECT_EQ(encrypt(ctr, nullptr, 16, d, &none), STOCKADE_ERROR_NULL_POINTER);
  EXPECT_EQ(encrypt(ctr, d, 256, d, nullptr), STOCKADE_ERROR_NULL_POINTER);
  EXPECT_EQ(stockade_device_encrypt(nullptr, iv.data(), 16, d, 16, d, &none), STOCKADE_ERROR_NULL_POINTER);
  EXPECT_EQ(encrypt(ctr, d, 256, d, &odd), STOCKADE_ERROR_ARGUMENT);
  EXPECT_EQ(encrypt(ctr, host.data(), 256, d, &none), STOCKADE_ERROR_DEVICE_POINTER);
  EXPECT_EQ(encrypt(ctr, d, 256, host.data(), &none), STOCKADE_ERROR_DEVICE_POINTER);
  EXPECT_EQ(encrypt(ctr, d, 200, d + 16, &none), STOCKADE_ERROR_OVERLAP);
  EXPECT_EQ(encrypt(gcm, d, 256, d, &work.queue), STOCKADE_ERROR_MODE);
  EXPECT_EQ(encrypt(cbc, d, 256, d, &work.queue), STOCKADE_ERROR_MODE);
  EXPECT_EQ(encrypt(xts, d, 15, d, &work.queue), STOCKADE_ERROR_DATA_LENGTH);
  EXPECT_EQ(encrypt(xts, d, 256, d, &none), STOCKADE_ERROR_OUTPUT_SIZE);
  EXPECT_EQ(encrypt(xts, d, 256, d, &small), STOCKADE_ERROR_OUTPUT_SIZE);
  stockade_device_queue shifted = work.queue;
  shifted.workspace = static_cast<uint8_t*>(shifted.workspace) + 1;
  shifted.workspace_size -= 1;
  EXPECT_EQ(encrypt(xts, d, 256, d, &shifted), STOCKADE_ERROR_ARGUMENT);
  EXPECT_EQ(stockade_device_encrypt_units(xts.get(), iv.data(), 16, 15, d, 256, d, &work.queue),
            STOCKADE_ERROR_ARGUMENT);
  EXPECT_EQ(stockade_device_encrypt_units(ctr.get(), iv.data(), 16, 64, d, 256, d, &work.queue), STOCKADE_ERROR_MODE);
  EXPECT_EQ(stockade_device_decrypt(ctr.get(), iv.data(), 12, d, 256, d, &none), STOCKADE_ERROR_IV_LENGTH);

  const auto open = [&](void* tag_bytes, uint8_t* verdict_bytes, const stockade_device_queue* queue) {
    return stockade_device_open(gcm.get(), iv.data(), 12, nullptr, 0, d, 256, d, tag_bytes, 16,
                                reinterpret_cast<uint32_t*>(verdict_bytes), queue);
  };
  EXPECT_EQ(open(tag.data(), verdict.data(), &work.queue), STOCKADE_OK);
  EXPECT_EQ(open(host.data(), verdict.data(), &work.queue), STOCKADE_ERROR_DEVICE_POINTER);
  EXPECT_EQ(open(tag.data(), nullptr, &work.queue), STOCKADE_ERROR_NULL_POINTER);
  EXPECT_EQ(open(tag.data(), verdict.data() + 1, &work.queue), STOCKADE_ERROR_ARGUMENT);
  EXPECT_EQ(open(tag.data(), host.data(), &work.queue), STOCKADE_ERROR_DEVICE_POINTER);
  EXPECT_EQ(open(tag.data(), verdict.data(), &none), STOCKADE_ERROR_OUTPUT_SIZE);
  EXPECT_EQ(stockade_device_seal(gcm.get(), iv.data(), 12, nullptr, 0, d, 256, d, tag.data(), 11, &work.queue),
            STOCKADE_ERROR_TAG_LENGTH);
  EXPECT_EQ(stockade_device_seal(ctr.get(), iv.data(), 12, nullptr, 0, d, 256, d, tag.data(), 16, &work.queue),
            STOCKADE_ERROR_MODE);
  uint64_t size = 0;
  EXPECT_EQ(stockade_device_workspace(gcm.get(), STOCKADE_ENCRYPT, 99, 16, 0, &size), STOCKADE_ERROR_ARGUMENT);
  EXPECT_EQ(stockade_device_workspace(gcm.get(), STOCKADE_ENCRYPT, 0, 16, 0, nullptr), STOCKADE_ERROR_NULL_POINTER);

  stockade_message message = {gcm.get(), iv.data(), 12, nullptr, 0, d, 256, d, tag.data(), 16, STOCKADE_OK};
  gcm::GpuBatchMessage staging;
  const uint64_t enough = stockade_device_many_size(1);
  EXPECT_EQ(stockade_device_seal_many(&message, 1, &staging, enough, &work.queue), STOCKADE_OK);
  EXPECT_EQ(stockade_device_seal_many(&message, 0, nullptr, 0, &none), STOCKADE_OK);
  EXPECT_EQ(stockade_device_seal_many(&message, 1, &staging, enough - 1, &work.queue), STOCKADE_ERROR_OUTPUT_SIZE);
  EXPECT_EQ(stockade_device_seal_many(&message, 1, &staging, enough, &none), STOCKADE_ERROR_OUTPUT_SIZE);
  EXPECT_EQ(stockade_device_seal_many(nullptr, 1, &staging, enough, &work.queue), STOCKADE_ERROR_NULL_POINTER);
  EXPECT_EQ(stockade_device_open_many(&message, 1, nullptr, &staging, enough, &work.queue),
            STOCKADE_ERROR_NULL_POINTER);
  message.key = ctr.get();
  EXPECT_EQ(stockade_device_seal_many(&message, 1, &staging, enough, &work.queue), STOCKADE_ERROR_MODE);
  message.key = nullptr;
  EXPECT_EQ(stockade_device_seal_many(&message, 1, &staging, enough, &work.queue), STOCKADE_ERROR_NULL_POINTER);
}

#if !defined(STOCKADE_TEST_CUDA)
TEST_F(DeviceCalls, refuse_memory_of_two_devices_and_devices_that_are_none) {
  RandomSource random;
  const Key key = make_key(STOCKADE_CTR, random.bytes(16));
  const Bytes iv = random.bytes(16);
  const stockade_device_queue queue = {sizeof queue, nullptr, nullptr, 0};
  {
    const Memory first(random.bytes(64)), second(random.bytes(64), 0, 1);
    EXPECT_EQ(stockade_device_encrypt(key.get(), iv.data(), 16, first.data(), 64, second.data(), &queue),
              STOCKADE_ERROR_DEVICE_POINTER);
    EXPECT_EQ(stockade_device_encrypt(key.get(), iv.data(), 16, second.data(), 64, second.data(), &queue), STOCKADE_OK);
  }
  Bytes host(64);
  use({{.capability = 70}});
  {
    const Memory old(random.bytes(64));
    EXPECT_EQ(stockade_device_encrypt(key.get(), iv.data(), 16, old.data(), 64, old.data(), &queue),
              STOCKADE_ERROR_UNAVAILABLE);
  }
  use({});
  EXPECT_EQ(stockade_device_encrypt(key.get(), iv.data(), 16, host.data(), 64, host.data(), &queue),
            STOCKADE_ERROR_UNAVAILABLE);
  uint64_t size;
  EXPECT_EQ(stockade_device_workspace(key.get(), STOCKADE_ENCRYPT, 0, 64, 0, &size), STOCKADE_ERROR_UNAVAILABLE);
}
#endif

}  // namespace
}  // namespace stockade::cipher
