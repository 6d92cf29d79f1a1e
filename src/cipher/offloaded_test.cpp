// GPUs as workers: whoever does a piece, the bytes are OpenSSL's; and whatever fails, nothing is half done. Devices are
// emulated, and so that many cases fit into seconds, most tests put OpenSSL into the place of the kernels, which have tests
// of their own; only the last tests run those.
#include "offload/backend.h"
#include "offload/device_key.h"
#include "offload/executor.h"
#include "offload/transfer_slot.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "aes/aes_variants.h"
#include "base/bytes.h"
#include "base/field128.h"
#include "capi/handles.h"
#include "cipher/key.h"
#include "cipher/many.h"
#include "cipher/message.h"
#include "cipher/span.h"
#include "cipher/stream.h"
#include "cross/oracle.h"
#include "cross/oracle_kernels.h"
#include "cross/random_source.h"
#include "gcm/gcm_variants.h"
#include "gpu/runtime_emulated.h"
#include "offload/make_engine.h"

namespace stockade::cipher {
namespace {

using namespace offload;  // NOLINT: its machinery is what stands under these calls

using gpu::Call;
using gpu::EmulatedDevice;
using gpu::EmulatedRuntime;
using tests::Bytes;

constexpr uint64_t kib = 1024;

// ---- devices for a test ----

// Runs of 4 KiB, so that messages of a few of them have all there is to cutting.
constexpr uint64_t run_bytes = 4 * kib;

class Machine {
 public:
  explicit Machine(std::vector<EmulatedDevice> devices, uint32_t slots = 2)
      : runtime(std::move(devices)),
        backend{&runtime,
                &tests::oracle_aes_kernels(),
                &tests::oracle_gcm_kernels(),
                {slots, run_bytes},
                {slots, run_bytes},
                true,
                kib,
                2 * kib,
                0},
        scope_(std::make_unique<ScopedBackend>(backend)) {
    tests::launch_on(&runtime);
  }
  ~Machine() {
    EXPECT_FALSE(runtime.holds_data()) << "idle slots have kept data";
    scope_.reset();
    EXPECT_EQ(runtime.live(), 0U);
    EXPECT_EQ(runtime.misuses(), 0U);
    tests::launch_on(nullptr);
  }
  EmulatedRuntime runtime;
  Backend backend;

 private:
  std::unique_ptr<ScopedBackend> scope_;
};

constexpr EmulatedDevice ample{.capability = 80};
std::vector<EmulatedDevice> several(size_t count) { return std::vector<EmulatedDevice>(count, ample); }

constexpr config::EngineChoice cuda{config::Kind::cuda, 2};
constexpr config::EngineChoice hybrid{config::Kind::hybrid, 2};
constexpr stockade_direction both_directions[] = {STOCKADE_ENCRYPT, STOCKADE_DECRYPT};
constexpr stockade_mode plain_modes[] = {STOCKADE_ECB, STOCKADE_CBC, STOCKADE_CFB,
                                         STOCKADE_OFB, STOCKADE_CTR, STOCKADE_XTS};

using Key = std::unique_ptr<stockade_key>;
Key make(stockade_mode mode, const Bytes& bytes, const char* force = nullptr) {
  auto key = std::make_unique<stockade_key>();
  EXPECT_EQ(make_key(key->cipher, mode, bytes.data(), bytes.size(), force), STOCKADE_OK);
  return key;
}

bool all_zero(const Bytes& bytes) {
  return std::all_of(bytes.begin(), bytes.end(), [](uint8_t b) { return b == 0; });
}

class Offloaded : public testing::Test {
 protected:
  Bytes key_bytes(stockade_mode mode) {
    return random_.bytes(mode == STOCKADE_XTS ? 32 * random_.between(1, 2) : 8 * random_.between(2, 4));
  }
  Bytes iv(stockade_mode mode) { return random_.bytes(mode == STOCKADE_ECB ? 0 : 16); }
  static uint64_t allowed(stockade_mode mode, uint64_t length) {
    if (mode == STOCKADE_ECB || mode == STOCKADE_CBC) return length / 16 * 16;
    return mode == STOCKADE_XTS ? std::max<uint64_t>(length, 16) : length;
  }
  tests::RandomSource random_;
};

// Every way of keeping data: where it lies, and whether the output replaces it.
struct Keeping {
  bool in_place, pinned;
};
constexpr Keeping all_keepings[] = {{false, false}, {false, true}, {true, false}, {true, true}};

// Buffers kept that way, and what an operation from the one to the other leaves.
struct Buffers {
  Buffers(EmulatedRuntime& runtime_, const Bytes& data, Keeping keeping_)
      : runtime(runtime_), keeping(keeping_), in(data), out(data.size(), 0xEE) {
    if (!pinned()) return;
    EXPECT_EQ(runtime.register_host(in.data(), in.size()), STOCKADE_OK);
    EXPECT_EQ(runtime.register_host(out.data(), out.size()), STOCKADE_OK);
  }
  ~Buffers() {
    if (!pinned()) return;
    EXPECT_EQ(runtime.unregister_host(in.data()), STOCKADE_OK);
    EXPECT_EQ(runtime.unregister_host(out.data()), STOCKADE_OK);
  }
  bool pinned() const { return keeping.pinned && !in.empty(); }
  uint8_t* target() { return keeping.in_place ? in.data() : out.data(); }
  const Bytes& result() const { return keeping.in_place ? in : out; }

  EmulatedRuntime& runtime;
  const Keeping keeping;
  Bytes in, out;
};

std::string text(const config::EngineChoice& engine, stockade_mode mode, stockade_direction direction, uint64_t length,
                 Keeping keeping) {
  return std::string(config::kind_name(engine.kind)) + " mode " + std::to_string(mode) + " direction " +
         std::to_string(direction) + " length " + std::to_string(length) + (keeping.in_place ? " in place" : "") +
         (keeping.pinned ? " pinned" : "");
}

// ---- every mode ----

TEST_F(Offloaded, do_every_mode_as_the_cpu_does) {
  constexpr uint64_t lengths[] = {0,    1,    15,   16,   17,   31,    32,    33,   255,  256,
                                  271,  1000, 4080, 4095, 4096, 4097,  4111,  4112, 4113, 4128,
                                  4129, 8191, 8192, 8193, 8209, 12288, 20000, 40961};
  struct Shape {
    size_t devices;
    uint32_t slots;
  };
  for (const auto [devices, slots] : {Shape{1, 1}, Shape{1, 4}, Shape{3, 2}}) {
    Machine machine(several(devices), slots);
    for (const stockade_mode mode : plain_modes) {
      for (const stockade_direction direction : both_directions) {
        const Bytes bytes = key_bytes(mode), start = iv(mode);
        const Key key = make(mode, bytes, random_.one_in(3) ? "aes:portable" : nullptr);
        for (const uint64_t wanted : lengths) {
          const Bytes in = random_.bytes(allowed(mode, wanted));
          const Bytes expected = tests::oracle_crypt(mode, direction, bytes, start, in);
          for (const config::EngineChoice& engine : {cuda, hybrid}) {
            const Keeping keeping = all_keepings[random_.below(4)];
            SCOPED_TRACE(text(engine, mode, direction, in.size(), keeping) + " on " + std::to_string(devices));
            Buffers buffers(machine.runtime, in, keeping);
            const Status status = crypt(key->cipher, direction, start.data(), start.size(), buffers.in.data(),
                                        in.size(), buffers.target(), engine);
            if (engine.kind == config::Kind::cuda && !aes::splits(mode, direction) && !in.empty()) {
              ASSERT_EQ(status, STOCKADE_ERROR_MODE);
              ASSERT_EQ(buffers.result(), keeping.in_place ? in : Bytes(in.size(), 0xEE));
              continue;
            }
            ASSERT_EQ(status, STOCKADE_OK);
            ASSERT_EQ(buffers.result(), expected);
            if (!keeping.in_place) {
              ASSERT_EQ(buffers.in, in);
            }
          }
        }
      }
    }
  }
}

// What the tests above take for granted: that a device has worked at all.
TEST_F(Offloaded, are_what_does_the_work) {
  Machine machine(several(1));
  const Key key = make(STOCKADE_CTR, random_.bytes(16));
  Bytes data(10 * kib);
  const Bytes start(16);
  for (const config::EngineChoice& engine : {cuda, hybrid}) {
    machine.runtime.plan_fault({.call = Call::launch, .nth = UINT64_MAX});
    ASSERT_EQ(crypt(key->cipher, STOCKADE_ENCRYPT, start.data(), 16, data.data(), data.size(), data.data(), engine),
              STOCKADE_OK);
    if (engine.kind == config::Kind::cuda) {
      EXPECT_GE(machine.runtime.counted(), 3U);
    }
  }
  // Automatic work leaves devices alone, even if they are asked for nothing but their number.
  machine.runtime.plan_fault({.nth = UINT64_MAX});
  ASSERT_EQ(crypt(key->cipher, STOCKADE_ENCRYPT, start.data(), 16, data.data(), data.size(), data.data(),
                  {config::Kind::automatic, 2}),
            STOCKADE_OK);
  EXPECT_EQ(machine.runtime.counted(), 0U);
}

TEST_F(Offloaded, leave_the_chain_that_the_next_part_needs) {
  Machine machine(several(2));
  for (const stockade_mode mode : {STOCKADE_CTR, STOCKADE_CBC, STOCKADE_CFB, STOCKADE_XTS}) {
    const Bytes bytes = key_bytes(mode), start = iv(mode), in = random_.bytes(50000 / 16 * 16);
    const Bytes expected = tests::oracle_crypt(mode, STOCKADE_DECRYPT, bytes, start, in);
    const Key key = make(mode, bytes);
    for (const config::EngineChoice& engine : {cuda, hybrid}) {
      Bytes data = in;
      uint8_t chain[16];
      aes::start_chain(key->cipher.aes, start.data(), 0, nullptr, chain);
      for (uint64_t done = 0; done < data.size();) {
        const uint64_t length = std::min<uint64_t>(16 * random_.between(1, 1000), data.size() - done);
        ASSERT_EQ(crypt_span(key->cipher.aes, STOCKADE_DECRYPT, chain, data.data() + done, data.data() + done, length,
                             engine),
                  STOCKADE_OK);
        done += length;
      }
      ASSERT_EQ(data, expected) << mode;
    }
  }
}

TEST_F(Offloaded, seal_and_open) {
  for (const size_t devices : {1, 2}) {
    Machine machine(several(devices), 3);
    for (const uint64_t length : {0, 1, 16, 17, 255, 4096, 4097, 4112, 9999, 40000}) {
      const Bytes bytes = key_bytes(STOCKADE_GCM), start = random_.bytes(random_.between(1, 30));
      const Bytes aad = random_.bytes(random_.below(40)), in = random_.bytes(length);
      const uint64_t tag_length = random_.between(12, 16);
      const tests::Sealed expected = tests::oracle_seal(bytes, start, aad, in, tag_length);
      const Key key = make(STOCKADE_GCM, bytes, random_.one_in(3) ? "gcm:portable" : nullptr);
      for (const config::EngineChoice& engine : {cuda, hybrid}) {
        for (const Keeping keeping : all_keepings) {
          SCOPED_TRACE(text(engine, STOCKADE_GCM, STOCKADE_ENCRYPT, length, keeping));
          Bytes tag(tag_length);
          Buffers sealed(machine.runtime, in, keeping);
          ASSERT_EQ(seal(key->cipher, start.data(), start.size(), aad.data(), aad.size(), sealed.in.data(), length,
                         sealed.target(), tag.data(), tag_length, engine),
                    STOCKADE_OK);
          ASSERT_EQ(sealed.result(), expected.ciphertext);
          ASSERT_EQ(tag, expected.tag);
          for (const bool damaged : {false, true}) {
            if (damaged) tag[random_.below(tag_length)] ^= static_cast<uint8_t>(1U << random_.below(8));
            Buffers opened(machine.runtime, expected.ciphertext, keeping);
            ASSERT_EQ(open(key->cipher, start.data(), start.size(), aad.data(), aad.size(), opened.in.data(), length,
                           opened.target(), tag.data(), tag_length, engine),
                      damaged ? STOCKADE_ERROR_AUTHENTICATION : STOCKADE_OK);
            ASSERT_EQ(opened.result(), damaged ? Bytes(length) : in);
          }
        }
      }
    }
  }
}

// The counter of GCM has 32 bits; one of the pieces begins behind its wrap.
TEST_F(Offloaded, seal_across_the_wrap_of_the_counter) {
  Machine machine(several(1));
  const Bytes bytes = random_.bytes(32), in = random_.bytes(5 * run_bytes);
  const Key gcm = make(STOCKADE_GCM, bytes);
  for (const uint32_t blocks : {1, 100, 256, 257, 1000}) {
    uint8_t j0[16] = {}, y[16] = {}, y_cpu[16] = {};
    store_be32(j0 + 12, 0xFFFFFFFF - blocks);
    Bytes on_cpu(in.size()), on_gpu(in.size());
    gcm::run_range(gcm->cipher.gcm, STOCKADE_ENCRYPT, j0, 0, y_cpu, in.data(), on_cpu.data(), in.size(),
                   aes::Stores::ordinary);
    ASSERT_EQ(gcm_span(gcm->cipher.gcm, STOCKADE_ENCRYPT, j0, 0, y, in.data(), on_gpu.data(), in.size(), cuda),
              STOCKADE_OK);
    ASSERT_EQ(on_gpu, on_cpu) << blocks;
    ASSERT_EQ(Bytes(y, y + 16), Bytes(y_cpu, y_cpu + 16)) << blocks;
  }
}

TEST_F(Offloaded, do_data_units) {
  Machine machine(several(2));
  for (const uint64_t unit : {16, 17, 512, 520, 4096, 5000, 20000}) {
    for (const uint64_t length : {unit, 2 * unit + 16, 5 * unit, 11 * unit + unit / 2 + 8}) {
      if (length % unit != 0 && length % unit < 16) continue;
      const Bytes bytes = key_bytes(STOCKADE_XTS), in = random_.bytes(length);
      Bytes first = random_.bytes(16);
      if (random_.one_in(2)) std::fill_n(first.begin(), 8, uint8_t{0xFF});  // the number carries
      const Key key = make(STOCKADE_XTS, bytes);
      for (const stockade_direction direction : both_directions) {
        const Bytes expected = tests::oracle_units(direction, bytes, first, unit, in);
        for (const config::EngineChoice& engine : {cuda, hybrid}) {
          const Keeping keeping = all_keepings[random_.below(4)];
          SCOPED_TRACE(text(engine, STOCKADE_XTS, direction, length, keeping) + " unit " + std::to_string(unit));
          Buffers buffers(machine.runtime, in, keeping);
          ASSERT_EQ(crypt_units(key->cipher, direction, first.data(), 16, unit, buffers.in.data(), length,
                                buffers.target(), engine),
                    STOCKADE_OK);
          ASSERT_EQ(buffers.result(), expected);
        }
      }
    }
  }
}

// Units that are cut one after the other, because there are few of them.
TEST_F(Offloaded, do_long_data_units) {
  Machine machine(several(1));
  machine.backend.pinned.run_bytes = machine.backend.staged.run_bytes = 64 * kib;
  const Bytes bytes = key_bytes(STOCKADE_XTS), first = random_.bytes(16), in = random_.bytes(500 * kib + 3);
  const Key key = make(STOCKADE_XTS, bytes);
  for (const stockade_direction direction : both_directions) {
    const Bytes expected = tests::oracle_units(direction, bytes, first, 200 * kib, in);
    for (const config::EngineChoice& engine : {cuda, hybrid}) {
      Bytes data = in;
      ASSERT_EQ(crypt_units(key->cipher, direction, first.data(), 16, 200 * kib, data.data(), data.size(), data.data(),
                            engine),
                STOCKADE_OK);
      ASSERT_EQ(data, expected);
    }
  }
}

TEST_F(Offloaded, do_padded_messages) {
  Machine machine(several(2));
  for (const stockade_mode mode : {STOCKADE_ECB, STOCKADE_CBC}) {
    for (const uint64_t length : {0, 15, 16, 4096, 10001}) {
      const Bytes bytes = key_bytes(mode), start = iv(mode), in = random_.bytes(length);
      const Bytes expected = *tests::oracle_padded(mode, STOCKADE_ENCRYPT, bytes, start, in);
      const Key key = make(mode, bytes);
      for (const config::EngineChoice& engine : {cuda, hybrid}) {
        SCOPED_TRACE(std::string(config::kind_name(engine.kind)) + std::to_string(length));
        Bytes data = in;
        data.resize(expected.size());
        uint64_t written = 0;
        const Status status = encrypt_padded(key->cipher, start.data(), start.size(), data.data(), length, data.data(),
                                             data.size(), &written, engine);
        if (mode == STOCKADE_CBC && engine.kind == config::Kind::cuda) {
          ASSERT_EQ(status, STOCKADE_ERROR_MODE);
        } else {
          ASSERT_EQ(status, STOCKADE_OK);
          ASSERT_EQ(data, expected);
        }
        data = expected;
        ASSERT_EQ(decrypt_padded(key->cipher, start.data(), start.size(), data.data(), data.size(), data.data(),
                                 data.size(), &written, engine),
                  STOCKADE_OK);
        ASSERT_EQ(Bytes(data.begin(), data.begin() + static_cast<ptrdiff_t>(written)), in);
      }
    }
  }
}

TEST_F(Offloaded, do_messages_that_come_in_pieces) {
  Machine machine(several(2));
  for (const stockade_mode mode : {STOCKADE_CTR, STOCKADE_ECB, STOCKADE_XTS, STOCKADE_GCM}) {
    const Bytes bytes = key_bytes(mode), start = iv(mode), in = random_.bytes(30000);
    const bool gcm = mode == STOCKADE_GCM;
    const tests::Sealed sealed = gcm ? tests::oracle_seal(bytes, start, {}, in, 16) : tests::Sealed{};
    const Bytes expected = gcm ? sealed.ciphertext : tests::oracle_crypt(mode, STOCKADE_ENCRYPT, bytes, start, in);
    const Key key = make(mode, bytes);
    for (const config::EngineChoice& engine : {cuda, hybrid}) {
      Stream stream(key->cipher, STOCKADE_ENCRYPT, STOCKADE_PADDING_NONE, engine);
      ASSERT_EQ(stream.start(start.data(), start.size()), STOCKADE_OK);
      Bytes out(in.size() + 16), tag(gcm ? 16 : 0);
      uint64_t filled = 0, written = 0;
      for (uint64_t taken = 0; taken < in.size();) {
        const uint64_t length = std::min<uint64_t>(random_.between(1, 9000), in.size() - taken);
        ASSERT_EQ(stream.update(in.data() + taken, length, out.data() + filled, out.size() - filled, &written),
                  STOCKADE_OK);
        taken += length;
        filled += written;
      }
      ASSERT_EQ(stream.final(out.data() + filled, out.size() - filled, &written, tag.data(), tag.size()), STOCKADE_OK);
      out.resize(filled + written);
      ASSERT_EQ(out, expected) << mode;
      ASSERT_EQ(tag, sealed.tag);
    }
  }
}

TEST_F(Offloaded, end_a_stream_whose_device_fails) {
  Machine machine(several(1));
  const Key key = make(STOCKADE_CTR, random_.bytes(16));
  const Bytes start(16), in = random_.bytes(3 * run_bytes + 5);
  Stream stream(key->cipher, STOCKADE_ENCRYPT, STOCKADE_PADDING_NONE, cuda);
  ASSERT_EQ(stream.start(start.data(), 16), STOCKADE_OK);
  Bytes out(in.size(), 0xEE);
  uint64_t written = 0;
  machine.runtime.plan_fault({.call = Call::copy_out});
  EXPECT_EQ(stream.update(in.data(), in.size(), out.data(), out.size(), &written), STOCKADE_ERROR_DEVICE);
  EXPECT_TRUE(all_zero(out));
  EXPECT_EQ(stream.update(in.data(), in.size(), out.data(), out.size(), &written), STOCKADE_ERROR_STATE);
}

// ---- many messages ----

struct Entry {
  Key key;
  stockade_mode mode;
  Bytes iv, aad, in, out, tag, expected, expected_tag;
  Status status = STOCKADE_OK;
};

class ManyOnSlots : public Offloaded {
 protected:
  // `pool` of keys, so that some messages share one.
  std::vector<Entry> entries(stockade_direction direction, uint64_t count) {
    constexpr stockade_mode modes[] = {STOCKADE_ECB, STOCKADE_CBC, STOCKADE_CFB, STOCKADE_OFB,
                                       STOCKADE_CTR, STOCKADE_XTS, STOCKADE_GCM, STOCKADE_GCM};
    std::vector<Entry> made;
    for (uint64_t i = 0; i < count; ++i) {
      Entry entry;
      entry.mode = modes[random_.below(8)];
      const Bytes bytes = key_bytes(entry.mode);
      entry.key = make(entry.mode, bytes);
      const uint64_t most = i % 10 == 0 ? 60000 : 600;
      entry.in = random_.bytes(allowed(entry.mode, random_.below(most)));
      if (entry.mode == STOCKADE_GCM) {
        entry.iv = random_.bytes(random_.between(1, 20));
        entry.aad = random_.bytes(random_.below(30));
        tests::Sealed sealed = tests::oracle_seal(bytes, entry.iv, entry.aad, entry.in, 14);
        entry.expected = std::move(sealed.ciphertext);
        entry.expected_tag = entry.tag = std::move(sealed.tag);
        if (direction == STOCKADE_DECRYPT) std::swap(entry.expected, entry.in);
        if (direction == STOCKADE_ENCRYPT) std::fill(entry.tag.begin(), entry.tag.end(), uint8_t{0});
        if (direction == STOCKADE_DECRYPT && random_.one_in(4)) {
          entry.tag[3] ^= 1;
          entry.expected_tag = entry.tag;
          entry.expected = Bytes(entry.in.size());
          entry.status = STOCKADE_ERROR_AUTHENTICATION;
        }
      } else {
        entry.iv = iv(entry.mode);
        entry.expected = tests::oracle_crypt(entry.mode, direction, bytes, entry.iv, entry.in);
      }
      entry.out.assign(entry.in.size(), 0xEE);
      made.push_back(std::move(entry));
    }
    return made;
  }
  static std::vector<stockade_message> calls_of(std::vector<Entry>& entries) {
    std::vector<stockade_message> calls;
    for (Entry& e : entries) {
      calls.push_back({e.key.get(), e.iv.data(), e.iv.size(), e.aad.data(), e.aad.size(), e.in.data(), e.in.size(),
                       e.out.data(), e.tag.data(), e.tag.size(), STOCKADE_OK});
    }
    return calls;
  }
};

TEST_F(ManyOnSlots, are_those_alone) {
  for (const size_t devices : {1, 2}) {
    Machine machine(several(devices));
    // Once with messages so long for the runs that they are cut, once with long ones in packs.
    if (devices == 2) machine.backend.pinned.run_bytes = machine.backend.staged.run_bytes = 512 * kib;
    for (const config::EngineChoice& engine : {cuda, hybrid}) {
      for (const stockade_direction direction : both_directions) {
        std::vector<Entry> all = entries(direction, 200);
        std::vector<stockade_message> calls = calls_of(all);
        calls[7].iv_length = 99;
        if (all[7].mode == STOCKADE_GCM) calls[7].iv_length = 0;
        calls[8].status = STOCKADE_ERROR_STATE;  // was refused before; is left alone
        crypt_many(direction, calls.data(), calls.size(), engine);
        EXPECT_EQ(calls[7].status, STOCKADE_ERROR_IV_LENGTH);
        EXPECT_EQ(calls[8].status, STOCKADE_ERROR_STATE);
        for (size_t i = 0; i < all.size(); ++i) {
          if (i == 7 || i == 8) {
            ASSERT_EQ(all[i].out, Bytes(all[i].in.size(), 0xEE));
            continue;
          }
          SCOPED_TRACE(std::string(config::kind_name(engine.kind)) + " message " + std::to_string(i) + " mode " +
                       std::to_string(all[i].mode) + " length " + std::to_string(all[i].in.size()));
          const bool sequential = all[i].mode != STOCKADE_GCM && !aes::splits(all[i].mode, direction);
          if (sequential && engine.kind == config::Kind::cuda) {
            ASSERT_EQ(calls[i].status, STOCKADE_ERROR_MODE);
            ASSERT_EQ(all[i].out, Bytes(all[i].in.size(), 0xEE));
            continue;
          }
          ASSERT_EQ(calls[i].status, all[i].status);
          ASSERT_EQ(all[i].out, all[i].expected);
          ASSERT_EQ(all[i].tag, all[i].expected_tag);
        }
      }
    }
  }
}

// With `cuda` each message is right or zeros or untouched, and its status says so; with `hybrid` all are right.
TEST_F(ManyOnSlots, survive_every_fault) {
  for (const config::EngineChoice& engine : {cuda, hybrid}) {
    for (const stockade_direction direction : both_directions) {
      Machine machine(several(2));
      std::vector<Entry> all = entries(direction, 24);
      uint64_t failed = 0;
      for (uint64_t nth = 0;; ++nth) {
        for (Entry& e : all) std::fill(e.out.begin(), e.out.end(), uint8_t{0xEE});
        std::vector<stockade_message> calls = calls_of(all);
        machine.runtime.plan_fault({.nth = nth});
        crypt_many(direction, calls.data(), calls.size(), engine);
        const bool over = machine.runtime.counted() <= nth;
        machine.runtime.clear_fault();
        for (size_t i = 0; i < all.size(); ++i) {
          SCOPED_TRACE(std::string(config::kind_name(engine.kind)) + " fault " + std::to_string(nth) + " message " +
                       std::to_string(i));
          const bool sequential = all[i].mode != STOCKADE_GCM && !aes::splits(all[i].mode, direction);
          if (engine.kind == config::Kind::cuda && sequential) continue;
          if (calls[i].status == all[i].status) {
            ASSERT_EQ(all[i].out, all[i].expected);
            continue;
          }
          ASSERT_EQ(engine.kind, config::Kind::cuda);
          ASSERT_EQ(calls[i].status, STOCKADE_ERROR_DEVICE);
          ASSERT_TRUE(all_zero(all[i].out) || all[i].out == Bytes(all[i].out.size(), 0xEE));
          ++failed;
        }
        if (over) break;
        ASSERT_LT(nth, 5000U) << "faults do not end";
      }
      if (engine.kind == config::Kind::cuda) {
        EXPECT_GT(failed, 0U);
      }
    }
  }
}

// ---- what fails ----

// One operation on a message of several runs, for faults.
struct Operation {
  stockade_mode mode;
  stockade_direction direction;
  uint64_t unit;  // 0: the message as a whole
};
constexpr Operation operations[] = {
    {STOCKADE_CTR, STOCKADE_ENCRYPT, 0},   {STOCKADE_CBC, STOCKADE_DECRYPT, 0},    {STOCKADE_XTS, STOCKADE_DECRYPT, 0},
    {STOCKADE_XTS, STOCKADE_ENCRYPT, 512}, {STOCKADE_XTS, STOCKADE_ENCRYPT, 6000}, {STOCKADE_GCM, STOCKADE_ENCRYPT, 0},
    {STOCKADE_GCM, STOCKADE_DECRYPT, 0},
};

class Faults : public Offloaded {
 protected:
  struct Sample {
    Key key;
    Bytes iv, in, expected, tag;
  };
  Sample sample(const Operation& operation) {
    Sample made;
    const Bytes bytes = key_bytes(operation.mode);
    made.key = make(operation.mode, bytes);
    made.iv = iv(operation.mode);
    made.in = random_.bytes(7 * run_bytes / 16 * 16 + 512);
    if (operation.mode == STOCKADE_GCM) {
      tests::Sealed sealed = tests::oracle_seal(bytes, made.iv, {}, made.in, 16);
      made.expected = std::move(sealed.ciphertext);
      made.tag = std::move(sealed.tag);
      if (operation.direction == STOCKADE_DECRYPT) std::swap(made.in, made.expected);
    } else if (operation.unit != 0) {
      made.expected = tests::oracle_units(operation.direction, bytes, made.iv, operation.unit, made.in);
    } else {
      made.expected = tests::oracle_crypt(operation.mode, operation.direction, bytes, made.iv, made.in);
    }
    return made;
  }
  static Status perform(const Operation& operation, const Sample& sample, Buffers& buffers,
                        const config::EngineChoice& engine) {
    const CipherKey& key = sample.key->cipher;
    const uint64_t length = sample.in.size();
    if (operation.mode != STOCKADE_GCM && operation.unit == 0) {
      return crypt(key, operation.direction, sample.iv.data(), 16, buffers.in.data(), length, buffers.target(), engine);
    }
    if (operation.mode != STOCKADE_GCM) {
      return crypt_units(key, operation.direction, sample.iv.data(), 16, operation.unit, buffers.in.data(), length,
                         buffers.target(), engine);
    }
    Bytes tag = sample.tag;
    if (operation.direction == STOCKADE_DECRYPT) {
      return open(key, sample.iv.data(), 16, nullptr, 0, buffers.in.data(), length, buffers.target(), tag.data(), 16,
                  engine);
    }
    std::fill(tag.begin(), tag.end(), uint8_t{0});
    const Status status = seal(key, sample.iv.data(), 16, nullptr, 0, buffers.in.data(), length, buffers.target(),
                               tag.data(), 16, engine);
    EXPECT_EQ(tag, status == STOCKADE_OK ? sample.tag : Bytes(16));
    return status;
  }
  // Right, or with `cuda` refused with nothing of it left.
  static void judge(const config::EngineChoice& engine, Status status, Status planned, const Sample& sample,
                    const Buffers& buffers, uint64_t& failures) {
    if (status == STOCKADE_OK) {
      ASSERT_EQ(buffers.result(), sample.expected);
      return;
    }
    ++failures;
    ASSERT_EQ(engine.kind, config::Kind::cuda);
    ASSERT_EQ(status, planned);
    const Bytes before = buffers.keeping.in_place ? sample.in : Bytes(sample.in.size(), 0xEE);
    ASSERT_TRUE(all_zero(buffers.result()) || buffers.result() == before);
  }
};

TEST_F(Faults, of_every_call_in_turn_leave_nothing_half_done) {
  for (const config::EngineChoice& engine : {cuda, hybrid}) {
    for (const Operation& operation : operations) {
      const Sample own = sample(operation);
      const Keeping keeping = all_keepings[random_.below(4)];
      // Of a job that must make its slots, and of one that finds them.
      for (const auto& [fresh, for_ever] : {std::pair(true, false), std::pair(true, true), std::pair(false, false)}) {
        Machine machine(several(2));
        uint64_t failures = 0, nth = 0;
        // With `hybrid` the cores may be done before a slot has begun.
        for (uint32_t over = 0; over < (engine.kind == config::Kind::cuda ? 1 : 5); ++nth) {
          SCOPED_TRACE(text(engine, operation.mode, operation.direction, own.in.size(), keeping) + " unit " +
                       std::to_string(operation.unit) + " fault " + std::to_string(nth));
          if (fresh) TransferSlot::release_idle();
          Buffers buffers(machine.runtime, own.in, keeping);
          machine.runtime.plan_fault({.nth = nth, .for_ever = for_ever});
          const Status status = perform(operation, own, buffers, engine);
          over += machine.runtime.counted() <= nth;
          machine.runtime.clear_fault();
          judge(engine, status, STOCKADE_ERROR_DEVICE, own, buffers, failures);
          if (HasFatalFailure()) return;
          ASSERT_LT(nth, 3000U) << "faults do not end";
        }
        if (engine.kind == config::Kind::cuda) {
          EXPECT_GT(failures, 10U);
        }
      }
    }
  }
}

// With one of two devices dead from some moment on, `hybrid` is complete.
TEST_F(Faults, of_one_device_are_made_good_by_the_others) {
  for (const Operation& operation : operations) {
    const Sample own = sample(operation);
    for (const Call call :
         {Call::allocate, Call::copy_in, Call::launch, Call::copy_out, Call::wait, Call::make_stream}) {
      Machine machine(several(2), 1);
      Buffers buffers(machine.runtime, own.in, {random_.one_in(2), random_.one_in(2)});
      machine.runtime.plan_fault({call, random_.below(2), STOCKADE_ERROR_DEVICE, true, 1});
      ASSERT_EQ(perform(operation, own, buffers, hybrid), STOCKADE_OK);
      ASSERT_EQ(buffers.result(), own.expected);
      machine.runtime.clear_fault();
    }
  }
}

TEST_F(Faults, are_the_last_that_a_job_asks_of_a_device) {
  for (const config::EngineChoice& engine : {cuda, hybrid}) {
    Machine machine(several(1), 2);
    Executor executor;
    ASSERT_EQ(executor.acquire(engine, {tune::Operation::ctr, 128, 100 * kib, 100, false}, Home::ordinary),
              STOCKADE_OK);
    ASSERT_EQ(executor.slots(), 2U);
    TransferSlot* slot = nullptr;
    ASSERT_EQ(TransferSlot::take(0, kib, &slot), STOCKADE_OK);
    uint32_t asked = 0;
    const auto attempt = [&](Status outcome) {
      return executor.attempt(slot, [&](TransferSlot&) {
        ++asked;
        return outcome;
      });
    };
    EXPECT_EQ(attempt(STOCKADE_OK), STOCKADE_OK);
    const Status failure = engine.kind == config::Kind::cuda ? STOCKADE_ERROR_DEVICE_MEMORY : STOCKADE_OK;
    EXPECT_EQ(attempt(STOCKADE_ERROR_DEVICE_MEMORY), failure);
    EXPECT_EQ(asked, 2U);
    EXPECT_EQ(attempt(STOCKADE_OK), failure);
    EXPECT_EQ(asked, 2U);
    TransferSlot::give_back(slot, true);
    // The first failure is the job's, and ends it.
    uint32_t calls = 0;
    EXPECT_EQ(executor.run(1, [&](TransferSlot*, uint64_t) { return ++calls, STOCKADE_ERROR_DEVICE; }),
              STOCKADE_ERROR_DEVICE);
    EXPECT_EQ(executor.run(9, [&](TransferSlot*, uint64_t) { return ++calls, STOCKADE_OK; }), STOCKADE_ERROR_DEVICE);
    EXPECT_EQ(calls, 1U);
  }
}

TEST_F(Faults, say_which) {
  Machine machine(several(1));
  const Operation operation = operations[0];
  const Sample own = sample(operation);
  for (const Status planned : {STOCKADE_ERROR_DEVICE, STOCKADE_ERROR_DEVICE_MEMORY, STOCKADE_ERROR_FORKED}) {
    Buffers buffers(machine.runtime, own.in, {});
    machine.runtime.plan_fault({Call::launch, 1, planned, false});
    EXPECT_EQ(perform(operation, own, buffers, cuda), planned);
    machine.runtime.clear_fault();
    EXPECT_EQ(perform(operation, own, buffers, cuda), STOCKADE_OK) << "the next job has a fresh slot";
    EXPECT_EQ(buffers.result(), own.expected);
  }
}

// ---- devices of all sizes ----

TEST_F(Offloaded, take_smaller_runs_where_memory_is_short) {
  const Bytes bytes = random_.bytes(16), start = random_.bytes(16), in = random_.bytes(30000);
  const Bytes expected = tests::oracle_crypt(STOCKADE_CTR, STOCKADE_ENCRYPT, bytes, start, in);
  const Key key = make(STOCKADE_CTR, bytes);
  const auto run = [&](const config::EngineChoice& engine, Bytes& out) {
    return crypt(key->cipher, STOCKADE_ENCRYPT, start.data(), 16, in.data(), in.size(), out.data(), engine);
  };
  uint64_t smallest_run = UINT64_MAX;
  for (uint64_t memory = 20 * kib; memory >= 512; memory -= 512) {
    Machine machine({{.memory = memory, .capability = 80}}, 2);
    TransferSlot* slot = nullptr;
    const Status status = TransferSlot::take(0, run_bytes, &slot);
    Bytes out(in.size());
    if (status == STOCKADE_OK) {
      smallest_run = std::min(smallest_run, slot->run_bytes());
      TransferSlot::give_back(slot, false);
      ASSERT_EQ(run(cuda, out), STOCKADE_OK) << memory;
      ASSERT_EQ(out, expected) << memory;
    } else {
      ASSERT_EQ(status, STOCKADE_ERROR_DEVICE_MEMORY);
      ASSERT_EQ(run(cuda, out), STOCKADE_ERROR_DEVICE_MEMORY) << memory;
      ASSERT_TRUE(all_zero(out));
      ASSERT_EQ(run(hybrid, out), STOCKADE_OK);
      ASSERT_EQ(out, expected);
    }
  }
  EXPECT_EQ(smallest_run, kib);
  // A device that is too small is left out where there is another.
  Machine machine({{.memory = 512, .capability = 80}, {.memory = 10 * kib, .capability = 75}, ample}, 4);
  Bytes out(in.size());
  ASSERT_EQ(run(cuda, out), STOCKADE_OK);
  ASSERT_EQ(out, expected);
}

TEST_F(Offloaded, are_kept_for_the_next_job_within_bounds) {
  Machine machine(several(1), 4);
  const Key key = make(STOCKADE_CTR, random_.bytes(16));
  const Bytes start(16);
  Bytes data(100 * kib);
  uint64_t held = 0;
  for (int i = 0; i < 4; ++i) {
    ASSERT_EQ(crypt(key->cipher, STOCKADE_ENCRYPT, start.data(), 16, data.data(), data.size(), data.data(), cuda),
              STOCKADE_OK);
    EXPECT_FALSE(machine.runtime.holds_data());
    if (i > 0) {
      EXPECT_EQ(machine.runtime.live(), held);
    }
    held = machine.runtime.live();
  }
  EXPECT_GT(held, 0U);
  TransferSlot::release_idle();
  EXPECT_EQ(machine.runtime.live(), 0U);
}

// A kernel that has not run leaves no verdict: whatever was in its place, nothing counts as authentic.
TEST_F(Offloaded, refuse_what_no_kernel_has_judged) {
  Machine machine(several(1));
  gcm::GpuKernels idle = tests::oracle_gcm_kernels();
  idle.open_chunks = [](const gpu::Queue&, const gcm::GpuShapes&, const gcm::GpuKey&, const gcm::GpuChunks&) -> Status {
    return STOCKADE_OK;
  };
  idle.open_batch = [](const gpu::Queue&, const gcm::GpuShapes&, const gcm::GpuBatchMessage*, uint64_t,
                       uint32_t*) -> Status { return STOCKADE_OK; };
  machine.backend.gcm = &idle;
  const Key key = make(STOCKADE_GCM, random_.bytes(32));
  DeviceKey device_key;
  make_device_key(key->cipher.gcm, device_key);
  TransferSlot* slot = nullptr;
  ASSERT_EQ(TransferSlot::take(0, 64 * kib, &slot), STOCKADE_OK);
  const Bytes nonce(12), sealed = random_.bytes(2 * (16384 + 16)), iv = random_.bytes(12);
  Bytes out(sealed.size()), tag = random_.bytes(16);
  uint32_t refused[2] = {0, 0};
  ChunkRange range{sealed.data(), out.data(), 0, 2, 16384, nonce.data(), refused};
  ASSERT_EQ(slot->open_chunks(device_key, range), STOCKADE_OK);
  EXPECT_NE(refused[0], 0U);
  EXPECT_NE(refused[1], 0U);

  Status status = STOCKADE_OK;
  uint64_t done = 0;
  const PackedMessage message{nullptr, &key->cipher.gcm, sealed.data(), out.data(), 100, iv.data(), iv.size(), nullptr,
                              0,       tag.data(),       tag.size(),    &status};
  ASSERT_EQ(slot->pack(STOCKADE_DECRYPT, &message, 1, &done), STOCKADE_OK);
  EXPECT_EQ(done, 1U);
  EXPECT_EQ(status, STOCKADE_ERROR_AUTHENTICATION);
  EXPECT_TRUE(all_zero(Bytes(out.begin(), out.begin() + 100)));
  TransferSlot::give_back(slot, true);
}

// Jobs that ran side by side leave no more behind than one would have, and rather the large slots than the small.
TEST_F(Offloaded, are_not_kept_without_number) {
  Machine machine(several(2), 2);
  std::vector<TransferSlot*> taken;
  for (const uint64_t bytes : {kib, 4 * kib, 2 * kib, 4 * kib, kib}) {
    TransferSlot* slot = nullptr;
    ASSERT_EQ(TransferSlot::take(1, bytes, &slot), STOCKADE_OK);
    EXPECT_EQ(slot->run_bytes(), bytes);
    taken.push_back(slot);
  }
  for (TransferSlot* const slot : taken) TransferSlot::give_back(slot, false);
  const uint64_t left = machine.runtime.allocated(1);
  for (int i = 0; i < 2; ++i) {
    ASSERT_EQ(TransferSlot::take(1, kib, &taken[static_cast<size_t>(i)]), STOCKADE_OK);
    EXPECT_EQ(taken[static_cast<size_t>(i)]->run_bytes(), 4 * kib);
  }
  EXPECT_EQ(machine.runtime.allocated(1), left) << "two slots had been left";
  TransferSlot* third = nullptr;
  ASSERT_EQ(TransferSlot::take(1, kib, &third), STOCKADE_OK);
  EXPECT_GT(machine.runtime.allocated(1), left);
  for (TransferSlot* const slot : {taken[0], taken[1], third}) TransferSlot::give_back(slot, true);
  EXPECT_EQ(machine.runtime.live(), 0U);
}

// ---- engines ----

TEST(GpuEngines, need_a_usable_device) {
  config::EngineChoice made{};
  {
    Machine machine(several(0));
    EXPECT_EQ(make_engine("cuda", 1, made), STOCKADE_ERROR_UNAVAILABLE);
    EXPECT_EQ(make_engine("hybrid", 1, made), STOCKADE_ERROR_UNAVAILABLE);
    EXPECT_EQ(make_engine("auto", 1, made), STOCKADE_OK);
    const Key key = make(STOCKADE_CTR, Bytes(16));
    Bytes data(100);
    EXPECT_EQ(crypt(key->cipher, STOCKADE_ENCRYPT, Bytes(16).data(), 16, data.data(), 100, data.data(), cuda),
              STOCKADE_ERROR_UNAVAILABLE);
    EXPECT_TRUE(all_zero(data));
    EXPECT_EQ(crypt(key->cipher, STOCKADE_ENCRYPT, Bytes(16).data(), 16, data.data(), 100, data.data(), hybrid),
              STOCKADE_OK);
  }
  {
    Machine machine(std::vector<EmulatedDevice>{{.capability = 70}});
    EXPECT_EQ(make_engine("cuda", 1, made), STOCKADE_ERROR_UNAVAILABLE);
  }
  Machine machine({{.capability = 70}, ample, {.capability = 75}});
  ASSERT_EQ(make_engine("cuda", 3, made), STOCKADE_OK);
  EXPECT_EQ(made.kind, config::Kind::cuda);
  EXPECT_EQ(made.threads, 3U);
  EXPECT_EQ(made.devices, config::environment().devices);
  ASSERT_EQ(make_engine("hybrid", 3, made), STOCKADE_OK);
  EXPECT_EQ(made.kind, config::Kind::hybrid);
  uint64_t devices = 0;
  EXPECT_EQ(usable_devices(0, devices), STOCKADE_OK);
  EXPECT_EQ(devices, 6U);
  EXPECT_EQ(usable_devices(4, devices), STOCKADE_OK);
  EXPECT_EQ(devices, 4U);
  EXPECT_EQ(usable_devices(1, devices), STOCKADE_ERROR_UNAVAILABLE);
  EXPECT_EQ(usable_devices(8 | 2, devices), STOCKADE_ERROR_UNAVAILABLE);
}

TEST(GpuEngines, use_the_devices_that_were_named) {
  Machine machine(several(3));
  const Key key = make(STOCKADE_CTR, Bytes(16));
  Bytes data(100 * kib);
  ASSERT_EQ(crypt(key->cipher, STOCKADE_ENCRYPT, Bytes(16).data(), 16, data.data(), data.size(), data.data(),
                  {config::Kind::cuda, 1, 5}),
            STOCKADE_OK);
  EXPECT_GT(machine.runtime.allocated(0), 0U);
  EXPECT_EQ(machine.runtime.allocated(1), 0U);
  EXPECT_GT(machine.runtime.allocated(2), 0U);
  EXPECT_EQ(crypt(key->cipher, STOCKADE_ENCRYPT, Bytes(16).data(), 16, data.data(), data.size(), data.data(),
                  {config::Kind::cuda, 1, 8}),
            STOCKADE_ERROR_UNAVAILABLE);
}

TEST(GpuEngines, and_their_devices_are_told_of) {
  Machine machine({ample, {.capability = 70}, {.memory = 5 * kib, .capability = 90}});
  stockade_device device;
  EXPECT_EQ(stockade_device_get(0, nullptr), STOCKADE_ERROR_NULL_POINTER);
  ASSERT_EQ(stockade_device_get(1, &device), STOCKADE_OK);
  EXPECT_EQ(device.capability, 70U);
  EXPECT_EQ(device.usable, 0);
  ASSERT_EQ(stockade_device_get(2, &device), STOCKADE_OK);
  EXPECT_EQ(device.capability, 90U);
  EXPECT_EQ(device.memory, 5 * kib);
  EXPECT_NE(device.usable, 0);
  EXPECT_STRNE(device.name, "");
  EXPECT_EQ(stockade_device_get(3, &device), STOCKADE_ERROR_ARGUMENT);
  EXPECT_STREQ(stockade_device_absence(), "");

  const uint32_t good[] = {2, 0}, old[] = {0, 1}, absent[] = {3}, none[] = {64};
  stockade_engine* engine = nullptr;
  for (const char* name : {"auto", "serial", "threads"}) {
    ASSERT_EQ(stockade_engine_create(&engine, name, 1), STOCKADE_OK);
    EXPECT_STREQ(stockade_engine_name(engine), name);
    EXPECT_EQ(stockade_engine_set_devices(engine, good, 2), STOCKADE_ERROR_ARGUMENT);
    stockade_engine_free(engine);
  }
  for (const char* name : {"cuda", "hybrid"}) {
    ASSERT_EQ(stockade_engine_create(&engine, name, 1), STOCKADE_OK);
    EXPECT_STREQ(stockade_engine_name(engine), name);
    EXPECT_EQ(stockade_engine_set_devices(nullptr, good, 2), STOCKADE_ERROR_NULL_POINTER);
    EXPECT_EQ(stockade_engine_set_devices(engine, nullptr, 2), STOCKADE_ERROR_NULL_POINTER);
    EXPECT_EQ(stockade_engine_set_devices(engine, good, 2), STOCKADE_OK);
    EXPECT_EQ(engine->wish.devices, 0b101U);
    EXPECT_EQ(stockade_engine_set_devices(engine, old, 2), STOCKADE_ERROR_UNAVAILABLE);
    EXPECT_EQ(stockade_engine_set_devices(engine, absent, 1), STOCKADE_ERROR_UNAVAILABLE);
    EXPECT_EQ(stockade_engine_set_devices(engine, none, 1), STOCKADE_ERROR_ARGUMENT);
    EXPECT_EQ(engine->wish.devices, 0b101U) << "a refusal changes nothing";
    EXPECT_EQ(stockade_engine_set_devices(engine, nullptr, 0), STOCKADE_OK);
    EXPECT_EQ(engine->wish.devices, 0U);
    stockade_engine_free(engine);
  }
}

TEST(GpuEngines, are_missed_with_a_reason) {
  Machine machine(several(0));
  stockade_device device;
  EXPECT_EQ(stockade_device_get(0, &device), STOCKADE_ERROR_UNAVAILABLE);
  EXPECT_STREQ(stockade_device_absence(), "no GPU is present");
}

TEST(GpuEngines, take_lists_of_devices) {
  uint64_t devices = 0;
  ASSERT_EQ(config::parse_devices("0", devices), STOCKADE_OK);
  EXPECT_EQ(devices, 1U);
  ASSERT_EQ(config::parse_devices("63,0,2,2", devices), STOCKADE_OK);
  EXPECT_EQ(devices, 1U << 2 | 1U | uint64_t{1} << 63);
  for (const char* text : {"", ",", "0,", ",0", "64", "-1", "x", "0x1", "0;1", " 0", "0 "}) {
    EXPECT_EQ(config::parse_devices(text, devices), STOCKADE_ERROR_ARGUMENT) << text;
  }
}

TEST(GpuEngines, say_what_they_would_do) {
  Machine machine(several(2), 4);
  const Key ctr = make(STOCKADE_CTR, Bytes(16)), cbc = make(STOCKADE_CBC, Bytes(16));
  const parallel::Plan large = plan_message(ctr->cipher, STOCKADE_ENCRYPT, 1 << 20, false, cuda);
  EXPECT_EQ(large.kind, config::Kind::cuda);
  EXPECT_EQ(large.workers, 8U);
  const parallel::Plan small = plan_message(ctr->cipher, STOCKADE_ENCRYPT, 16, false, cuda);
  EXPECT_EQ(small.kind, config::Kind::cuda);
  EXPECT_EQ(small.workers, 1U);
  const parallel::Plan both = plan_message(ctr->cipher, STOCKADE_ENCRYPT, 1 << 20, false, hybrid);
  EXPECT_EQ(both.kind, config::Kind::hybrid);
  EXPECT_EQ(both.workers, 9U) << "a slot's worker sleeps most of the time";
  const parallel::Plan impossible = plan_message(cbc->cipher, STOCKADE_ENCRYPT, 1 << 20, false, hybrid);
  EXPECT_EQ(impossible.kind, config::Kind::serial);
  for (const parallel::Plan& plan : {large, small, both, impossible}) EXPECT_STRNE(plan.why, "");
  EXPECT_STREQ(config::kind_name(config::Kind::cuda), "cuda");
  EXPECT_STREQ(config::kind_name(config::Kind::hybrid), "hybrid");
}

// What a driver holds does not survive fork(); the child of a process that has used a GPU is told so.
TEST(GpuEngines, are_closed_to_a_forked_child) {
  Machine machine(several(1));
  const Key key = make(STOCKADE_CTR, Bytes(16));
  Bytes data(20 * kib);
  const Bytes start(16);
  const auto run = [&](const config::EngineChoice& engine) {
    return crypt(key->cipher, STOCKADE_ENCRYPT, start.data(), 16, data.data(), data.size(), data.data(), engine);
  };
  ASSERT_EQ(run(cuda), STOCKADE_OK);
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    alarm(20);
    config::EngineChoice made{};
    const bool refused = run(cuda) == STOCKADE_ERROR_FORKED && make_engine("cuda", 1, made) == STOCKADE_ERROR_FORKED;
    const bool undone = refused && run(hybrid) == STOCKADE_OK && all_zero(data);
    _exit(undone ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
  EXPECT_EQ(run(cuda), STOCKADE_OK);
  EXPECT_TRUE(all_zero(data)) << "the same key stream twice";
}

TEST_F(Offloaded, serve_threads_that_share_a_key) {
  Machine machine(several(2), 2);
  const Bytes bytes = random_.bytes(32), start = random_.bytes(12);
  const Key key = make(STOCKADE_GCM, bytes);
  std::vector<Bytes> messages;
  std::vector<tests::Sealed> expected;
  for (uint64_t i = 0; i < 4; ++i) {
    messages.push_back(random_.bytes(20000 + i));
    expected.push_back(tests::oracle_seal(bytes, start, {}, messages.back(), 16));
  }
  std::vector<std::thread> threads;
  std::vector<int> right(messages.size(), 0);
  for (size_t i = 0; i < messages.size(); ++i) {
    threads.emplace_back([&, i] {
      for (int repeat = 0; repeat < 5; ++repeat) {
        Bytes out(messages[i].size()), tag(16);
        const Status status = seal(key->cipher, start.data(), 12, nullptr, 0, messages[i].data(), out.size(),
                                   out.data(), tag.data(), 16, repeat % 2 == 0 ? cuda : hybrid);
        right[i] += status == STOCKADE_OK && out == expected[i].ciphertext && tag == expected[i].tag;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(right, std::vector<int>(messages.size(), 5));
}

// ---- what kernels are given of a key ----

// Every row's round keys are those of the readable one, and of FIPS 197 appendix A.1, whose words begin with the key's.
TEST_F(Offloaded, get_the_round_keys_of_the_standard) {
  constexpr uint8_t key[16] = {0x2b, 0x7e, 0x15, 0x16, 0x28, 0xae, 0xd2, 0xa6,
                               0xab, 0xf7, 0x15, 0x88, 0x09, 0xcf, 0x4f, 0x3c};
  aes::Schedule schedule;
  uint32_t words[60];
  aes::kernels_reference.expand(key, sizeof key, schedule);
  aes::kernels_reference.round_keys(schedule, words);
  EXPECT_EQ(words[4], __builtin_bswap32(0xa0fafe17));
  EXPECT_EQ(words[43], __builtin_bswap32(0xb6630ca6));
  uint32_t rows = 0;
  const auto expect_words = [&](const auto& variants, const Bytes& bytes, const Bytes& expected) {
    for (const auto& row : variants) {
      if ((row.needs & ~config::environment().usable) != 0) continue;
      row.kernels->expand(bytes.data(), static_cast<uint32_t>(bytes.size()), schedule);
      row.kernels->round_keys(schedule, words);
      EXPECT_EQ(tests::words_as_bytes(words, expected.size()), expected) << row.name;
      ++rows;
    }
  };
  for (const uint32_t bytes : {16, 24, 32}) {
    const Bytes random_key = random_.bytes(bytes);
    aes::kernels_reference.expand(random_key.data(), bytes, schedule);
    aes::kernels_reference.round_keys(schedule, words);
    const Bytes expected = tests::words_as_bytes(words, 16 * (schedule.rounds + 1));
    expect_words(aes::variants(), random_key, expected);
    expect_words(gcm::variants(), random_key, expected);
  }
  EXPECT_GE(rows, 9U);
}

// ---- the profile in force ----

// An automatic engine takes GPUs where the profile says so, and then only if the process has looked for them.
class KnownTransfers : public Offloaded {
 protected:
  // Launches of a message of 300 KiB on an automatic engine, with a profile of that row.
  uint64_t launches(Machine& machine, const std::string& subject, Keeping keeping, const std::string& gpu) {
    const auto profile = std::make_unique<tune::Profile>();
    tune::Fault fault;
    EXPECT_TRUE(tune::read_profile(
        "stockade-profile 1\ngpu " + gpu + "\n" + subject + " | 1 GB/s | - | m | 2026-11-22 | 0123456\nend 1\n",
        *profile, fault))
        << fault.what;
    const tune::ScopedProfile scoped(profile.get());
    const Bytes bytes = key_bytes(STOCKADE_CTR), start = random_.bytes(16), in = random_.bytes(300 * kib);
    const Key key = make(STOCKADE_CTR, bytes);
    Buffers buffers(machine.runtime, in, keeping);
    const config::EngineChoice automatic{config::Kind::automatic, 2};
    EXPECT_EQ(crypt(key->cipher, STOCKADE_ENCRYPT, start.data(), 16, buffers.in.data(), in.size(), buffers.target(),
                    automatic),
              STOCKADE_OK);
    EXPECT_EQ(buffers.result(), tests::oracle_crypt(STOCKADE_CTR, STOCKADE_ENCRYPT, bytes, start, in));
    const uint64_t counted = machine.runtime.counted();
    machine.runtime.clear_fault();
    return counted;
  }
  static void look(Machine& machine) {
    uint32_t devices = 0;
    EXPECT_EQ(machine.runtime.count(devices), STOCKADE_OK);
  }
  static std::string name(Machine& machine) {
    gpu::DeviceFacts facts;
    EXPECT_EQ(machine.runtime.facts(0, facts), STOCKADE_OK);
    return facts.name;
  }
  const std::string staged_ = "gpu-staged 256 0 engine=hybrid lanes=3 run=65536";
};

TEST_F(KnownTransfers, bring_devices_that_have_been_looked_for_to_an_automatic_engine) {
  Machine machine(several(1));
  // Nobody has looked yet, not even for its name.
  machine.runtime.plan_fault({.call = Call::any, .nth = UINT64_MAX});
  EXPECT_EQ(launches(machine, staged_, {}, "emulated device 0"), 0U);
  look(machine);
  ASSERT_EQ(name(machine), "emulated device 0");
  // Cores may be done before a slot has begun.
  const auto some = [&](const std::string& subject, Keeping keeping) {
    for (int i = 0; i < 50; ++i) {
      machine.runtime.plan_fault({.call = Call::launch, .nth = UINT64_MAX});
      if (launches(machine, subject, keeping, name(machine)) != 0) return true;
    }
    return false;
  };
  EXPECT_TRUE(some(staged_, {false, false}));
  EXPECT_TRUE(some(staged_, {true, false}));
  EXPECT_TRUE(some("gpu-pinned 256 0 engine=cuda lanes=2 run=65536", {false, true}));
  EXPECT_FALSE(some("gpu-pinned 256 0 engine=cuda lanes=2 run=65536", {false, false}));
  EXPECT_FALSE(some("gpu-staged 256 0 engine=threads lanes=2 run=65536", {false, false}));
  EXPECT_FALSE(some("gpu-staged 256 400000 engine=hybrid", {false, false}));
  machine.runtime.plan_fault({.call = Call::launch, .nth = UINT64_MAX});
  EXPECT_EQ(launches(machine, staged_, {}, "another"), 0U);
}

// A GPU that fails is nobody's loss where nobody has asked for it.
TEST_F(KnownTransfers, end_no_job_of_an_automatic_engine) {
  for (const Call call :
       {Call::allocate, Call::copy_in, Call::launch, Call::copy_out, Call::wait, Call::make_stream, Call::any}) {
    Machine machine(several(2));
    look(machine);
    for (const uint64_t nth : {0, 1, 5}) {
      const std::string gpu = name(machine);
      machine.runtime.plan_fault({.call = call, .nth = nth, .for_ever = true});
      launches(machine, staged_, all_keepings[random_.below(4)].in_place ? Keeping{true, false} : Keeping{}, gpu);
    }
  }
}

TEST_F(KnownTransfers, give_engines_their_lanes_and_runs) {
  Machine machine(several(1), 2);
  look(machine);
  const auto profile = std::make_unique<tune::Profile>();
  tune::Fault fault;
  ASSERT_TRUE(
      tune::read_profile("stockade-profile 1\ngpu " + name(machine) +
                             "\ngpu-pinned 256 0 engine=cuda lanes=64 run=65536 | 1 GB/s | - | m | 2026-11-22 | "
                             "0123456\nend 1\n",
                         *profile, fault));
  const tune::ScopedProfile scoped(profile.get());
  Executor executor;
  ASSERT_EQ(executor.acquire(cuda, {tune::Operation::ctr, 128, 8192 * kib, 8192, false}, Home::pinned), STOCKADE_OK);
  EXPECT_EQ(executor.slots(), std::min<uint32_t>(64, max_slots));
  EXPECT_EQ(executor.piece_bytes(kib), 64 * kib);
}

// ---- with the kernels themselves, emulated ----

TEST_F(Offloaded, run_the_kernels) {
  Machine machine({{.capability = 80, .multiprocessors = 1}}, 1);
  machine.backend.aes = &aes::gpu_kernels_emulated;
  machine.backend.gcm = &gcm::gpu_kernels_emulated;
  for (const stockade_mode mode : {STOCKADE_ECB, STOCKADE_CBC, STOCKADE_CFB, STOCKADE_CTR, STOCKADE_XTS}) {
    const Bytes bytes = key_bytes(mode), start = iv(mode), in = random_.bytes(allowed(mode, run_bytes + 1000));
    const Key key = make(mode, bytes);
    const Bytes expected = tests::oracle_crypt(mode, STOCKADE_DECRYPT, bytes, start, in);
    Bytes data = in;
    ASSERT_EQ(
        crypt(key->cipher, STOCKADE_DECRYPT, start.data(), start.size(), data.data(), data.size(), data.data(), cuda),
        STOCKADE_OK);
    ASSERT_EQ(data, expected) << mode;
  }
  const Bytes bytes = key_bytes(STOCKADE_GCM), start = random_.bytes(12), in = random_.bytes(run_bytes + 777);
  const tests::Sealed expected = tests::oracle_seal(bytes, start, {}, in, 16);
  const Key key = make(STOCKADE_GCM, bytes);
  Bytes data = in, tag(16);
  ASSERT_EQ(
      seal(key->cipher, start.data(), 12, nullptr, 0, data.data(), data.size(), data.data(), tag.data(), 16, cuda),
      STOCKADE_OK);
  ASSERT_EQ(data, expected.ciphertext);
  ASSERT_EQ(tag, expected.tag);
  ASSERT_EQ(
      open(key->cipher, start.data(), 12, nullptr, 0, data.data(), data.size(), data.data(), tag.data(), 16, cuda),
      STOCKADE_OK);
  ASSERT_EQ(data, in);
}

TEST_F(ManyOnSlots, run_the_kernels) {
  Machine machine({{.capability = 80, .multiprocessors = 1}}, 1);
  machine.backend.aes = &aes::gpu_kernels_emulated;
  machine.backend.gcm = &gcm::gpu_kernels_emulated;
  for (const stockade_direction direction : both_directions) {
    std::vector<Entry> all = entries(direction, 12);
    std::vector<stockade_message> calls = calls_of(all);
    crypt_many(direction, calls.data(), calls.size(), cuda);
    for (size_t i = 0; i < all.size(); ++i) {
      if (calls[i].status == STOCKADE_ERROR_MODE) continue;
      ASSERT_EQ(calls[i].status, all[i].status) << i;
      ASSERT_EQ(all[i].out, all[i].expected) << i;
      ASSERT_EQ(all[i].tag, all[i].expected_tag) << i;
    }
  }
}

}  // namespace
}  // namespace stockade::cipher
