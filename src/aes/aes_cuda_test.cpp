// AES for the GPU, in the emulator or on a device, against OpenSSL: every kernel and both table layouts, with the grids that
// a GPU is given.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "aes/aes_cuda.h"
#include "aes/aes_kernels.h"
#include "aes/aes_launch.h"
#include "aes/aes_variants.h"
#include "base/bytes.h"
#include "cross/oracle.h"
#include "cross/random_source.h"
#include "cross/test_device.h"
#include "vectors/vector_file.h"

namespace stockade::aes {
namespace {

using tests::by_device;
using tests::Bytes;
using tests::DeviceBytes;
using tests::has_its_turn;
using tests::oracle_crypt;
using tests::oracle_units;
using tests::RandomSource;
using tests::scaled;
using tests::test_device;
using tests::TestStream;

// Counter mode has two rows of kernels.
enum class Row { tables, bitsliced };

struct Kind {
  GpuOperation operation;
  Row row = Row::tables;
};
constexpr Kind all_kinds[] = {{GpuOperation::ecb_encrypt}, {GpuOperation::ecb_decrypt},
                              {GpuOperation::ctr},         {GpuOperation::ctr, Row::bitsliced},
                              {GpuOperation::cbc_decrypt}, {GpuOperation::cfb_decrypt},
                              {GpuOperation::xts_encrypt}, {GpuOperation::xts_decrypt}};

bool is_xts(GpuOperation operation) {
  return operation == GpuOperation::xts_encrypt || operation == GpuOperation::xts_decrypt;
}

bool wants_whole_blocks(GpuOperation operation) {
  return operation == GpuOperation::ecb_encrypt || operation == GpuOperation::ecb_decrypt ||
         operation == GpuOperation::cbc_decrypt;
}

// One call. The queue says which device it should be; the stream is that of whoever runs the job.
struct Job {
  GpuOperation operation;
  Row row = Row::tables;
  Bytes key;  // XTS: both halves
  Bytes iv;   // counter, initialisation vector or first unit number
  CounterWidth width = CounterWidth::bits128;
  uint64_t unit = 0;
  Bytes in;
  gpu::Queue queue;
  gpu::Shape shape;
  uint64_t in_misalignment = 0, out_misalignment = 0;
  bool in_place = false;
};

std::string text(const Job& job) {
  return "operation " + std::to_string(static_cast<uint32_t>(job.operation)) +
         (job.row == Row::bitsliced ? ", bitsliced" : "") + ", key bytes " + std::to_string(job.key.size()) +
         ", length " + std::to_string(job.in.size()) + ", unit " + std::to_string(job.unit) + ", counter bits " +
         std::to_string(static_cast<uint32_t>(job.width)) + ", multiprocessors " +
         std::to_string(job.queue.multiprocessors) + ", shared bytes " + std::to_string(job.queue.shared_bytes) +
         ", threads " + std::to_string(job.shape.threads) + ", blocks per thread " +
         std::to_string(job.shape.blocks_per_thread) + ", misalignments " + std::to_string(job.in_misalignment) +
         " and " + std::to_string(job.out_misalignment) + (job.in_place ? ", in place" : "");
}

// ---- what OpenSSL says ----

// Its CTR counts in 128 bits; blocks of counters under its ECB count as they are told to.
Bytes expect_ctr32(const Bytes& key, const Bytes& first, const Bytes& in) {
  Bytes counters;
  uint32_t low = load_be32(first.data() + 12);
  for (uint64_t done = 0; done < in.size(); done += 16, ++low) {
    counters.insert(counters.end(), first.begin(), first.end());
    store_be32(counters.data() + counters.size() - 4, low);
  }
  Bytes out = oracle_crypt(STOCKADE_ECB, STOCKADE_ENCRYPT, key, {}, counters);
  out.resize(in.size());
  xor_bytes(out.data(), out.data(), in.data(), in.size());
  return out;
}

Bytes expected(const Job& job) {
  switch (job.operation) {
    case GpuOperation::ecb_encrypt:
      return oracle_crypt(STOCKADE_ECB, STOCKADE_ENCRYPT, job.key, {}, job.in);
    case GpuOperation::ecb_decrypt:
      return oracle_crypt(STOCKADE_ECB, STOCKADE_DECRYPT, job.key, {}, job.in);
    case GpuOperation::ctr:
      if (job.width == CounterWidth::bits32) return expect_ctr32(job.key, job.iv, job.in);
      return oracle_crypt(STOCKADE_CTR, STOCKADE_ENCRYPT, job.key, job.iv, job.in);
    case GpuOperation::cbc_decrypt:
      return oracle_crypt(STOCKADE_CBC, STOCKADE_DECRYPT, job.key, job.iv, job.in);
    case GpuOperation::cfb_decrypt:
      return oracle_crypt(STOCKADE_CFB, STOCKADE_DECRYPT, job.key, job.iv, job.in);
    case GpuOperation::xts_encrypt:
      return oracle_units(STOCKADE_ENCRYPT, job.key, job.iv, job.unit, job.in);
    case GpuOperation::xts_decrypt:
      return oracle_units(STOCKADE_DECRYPT, job.key, job.iv, job.unit, job.in);
  }
  throw std::logic_error("no such operation");
}

// ---- what the kernels say ----

Status launch(const Job& job, const gpu::Queue& queue, const uint8_t* in, uint8_t* out, uint8_t* workspace,
              const uint32_t* refused) {
  const GpuKernels& kernels = test_device().aes;
  const uint64_t length = job.in.size();
  const auto key_bytes = static_cast<uint32_t>(is_xts(job.operation) ? job.key.size() / 2 : job.key.size());
  RoundKeys encrypt, decrypt, tweak, unused;
  gpu_expand(job.key.data(), key_bytes, encrypt, decrypt);
  if (is_xts(job.operation)) gpu_expand(job.key.data() + key_bytes, key_bytes, tweak, unused);
  const uint8_t* iv = job.iv.data();
  const GpuCtrFn ctr = job.row == Row::bitsliced ? kernels.ctr_bitsliced : kernels.ctr;
  switch (job.operation) {
    case GpuOperation::ecb_encrypt:
      return kernels.ecb_encrypt(queue, job.shape, encrypt, in, out, length);
    case GpuOperation::ecb_decrypt:
      return kernels.ecb_decrypt(queue, job.shape, decrypt, in, out, length);
    case GpuOperation::ctr:
      return ctr(queue, job.shape, encrypt, iv, job.width, in, out, length, refused);
    case GpuOperation::cbc_decrypt:
      return kernels.cbc_decrypt(queue, job.shape, decrypt, iv, in, out, length, workspace);
    case GpuOperation::cfb_decrypt:
      return kernels.cfb_decrypt(queue, job.shape, encrypt, iv, in, out, length, workspace);
    case GpuOperation::xts_encrypt:
      return kernels.xts_encrypt(queue, job.shape, encrypt, tweak, iv, job.unit, in, out, length, workspace);
    case GpuOperation::xts_decrypt:
      return kernels.xts_decrypt(queue, job.shape, decrypt, tweak, iv, job.unit, in, out, length, workspace);
  }
  return STOCKADE_ERROR_DEVICE;
}

// A job's memory on the device, from its launch to the comparison.
class Launched {
 public:
  Launched(TestStream& stream, const Job& job)
      : queue_(stream.queue(job.queue.capability, job.queue.multiprocessors, job.queue.shared_bytes)),
        in_(stream, job.in, job.in_misalignment),
        // Noise, of which nothing may be left.
        out_(stream, Bytes(job.in_place ? 0 : job.in.size(), 0xA5), job.out_misalignment),
        workspace_(stream, gpu_workspace_bytes(job.operation, queue_, job.shape, job.in.size(), job.unit)) {
    uint8_t* const to = job.in_place ? in_.data() : out_.data();
    status_ = launch(job, queue_, in_.data(), to, workspace_.data(), nullptr);
  }

  // Nothing around the memory may have changed, nor the input where it is not the output.
  void expect(const Job& job, const Bytes& wanted) const {
    ASSERT_EQ(status_, STOCKADE_OK);
    const Bytes found = (job.in_place ? in_ : out_).bytes();
    const auto difference = std::mismatch(wanted.begin(), wanted.end(), found.begin(), found.end());
    EXPECT_TRUE(difference.first == wanted.end() && difference.second == found.end())
        << "at byte " << difference.first - wanted.begin();
    EXPECT_TRUE(job.in_place || in_.bytes() == job.in);
    EXPECT_TRUE(in_.intact() && out_.intact() && workspace_.intact());
  }

 private:
  gpu::Queue queue_;
  DeviceBytes in_, out_, workspace_;
  Status status_;
};

void check(const Job& job, const Bytes& wanted) {
  SCOPED_TRACE(text(job));
  TestStream stream;
  Launched(stream, job).expect(job, wanted);
}

void check(const Job& job) { check(job, expected(job)); }

// ---- random jobs ----

constexpr uint32_t shared_of_hopper = 227 << 10, shared_of_ada = 99 << 10, shared_of_turing = 64 << 10;

// All multiprocessors of a real device, or few of them, whose every warp then has more to do.
uint32_t random_multiprocessors(RandomSource& random) {
  if (!test_device().emulated && random.one_in(2)) return tests::device_facts().multiprocessors;
  return static_cast<uint32_t>(random.between(1, 3));
}

gpu::Queue random_queue(RandomSource& random) {
  constexpr uint32_t all_shared[] = {shared_of_hopper, shared_of_ada, shared_of_turing};
  return {nullptr, 80, random_multiprocessors(random), all_shared[random.below(3)]};
}

gpu::Shape random_shape(RandomSource& random) {
  return {static_cast<uint32_t>(32 * random.between(1, by_device(3, 32))), 1u << random.below(3),
          static_cast<uint32_t>(random.between(1, 2))};
}

// A key that OpenSSL takes too: the halves of an XTS key differ.
Bytes random_key(GpuOperation operation, RandomSource& random) {
  if (is_xts(operation)) return random.bytes(random.one_in(2) ? 32 : 64);
  return random.bytes(16 + 8 * random.below(3));
}

Job random_job(Kind kind, uint64_t length, RandomSource& random) {
  const GpuOperation operation = kind.operation;
  Job job{};
  job.operation = operation;
  job.row = kind.row;
  job.key = random_key(operation, random);
  job.iv = random.bytes(16);
  job.width = operation == GpuOperation::ctr && random.one_in(2) ? CounterWidth::bits32 : CounterWidth::bits128;
  if (is_xts(operation) && length > longest_unit && length % longest_unit < 16) length -= 16;
  job.unit = std::clamp<uint64_t>(length, 16, longest_unit);
  job.in = random.bytes(wants_whole_blocks(operation) ? length / 16 * 16 : length);
  job.queue = random_queue(random);
  job.shape = random_shape(random);
  if (random.one_in(2)) {
    job.in_misalignment = random.below(33);
    job.out_misalignment = random.one_in(2) ? job.in_misalignment : random.below(33);
  }
  job.in_place = random.one_in(3);
  return job;
}

// Units of any size that leaves 16 bytes at least for the last of `length`.
uint64_t random_unit(uint64_t length, RandomSource& random) {
  for (;;) {
    const uint64_t unit = random.one_in(2) ? 16 * random.between(1, 80) : random.between(16, 1500);
    if (length % unit == 0 || length % unit >= 16) return unit;
  }
}

// Whether a test of every short length has time for this one: the emulator for the shortest, and for some others each time.
bool has_its_turn(uint64_t length, RandomSource& random) {
  return has_its_turn(random) && (length <= 80 || random.one_in(by_device(3, 1)));
}

// ---- the tests ----

TEST(AesCuda, Expand) {
  RandomSource random;
  for (const uint32_t key_bytes : {16u, 24u, 32u}) {
    for (uint64_t i = 0; i < scaled(50); ++i) {
      const Bytes key = random.bytes(key_bytes);
      RoundKeys encrypt, decrypt;
      gpu_expand(key.data(), key_bytes, encrypt, decrypt);
      Schedule schedule;
      kernels_reference.expand(key.data(), key_bytes, schedule);
      ASSERT_EQ(encrypt.rounds, schedule.rounds);
      ASSERT_EQ(decrypt.rounds, schedule.rounds);
      ASSERT_EQ(std::memcmp(encrypt.word, schedule.bytes, 16 * (schedule.rounds + 1)), 0);
      // The inverse cipher's first and last keys; those between are proven by the tests of decryption.
      ASSERT_EQ(std::memcmp(decrypt.word, schedule.bytes + 16 * schedule.rounds, 16), 0);
      ASSERT_EQ(std::memcmp(decrypt.word + 4 * schedule.rounds, schedule.bytes, 16), 0);
    }
  }
}

// FIPS 197 §5.1.1, figure 7: a few entries, and that the boxes are each other's inverse.
TEST(AesCuda, SubstitutionBoxes) {
  const SubstitutionBoxes& boxes = substitution_boxes;
  EXPECT_EQ(boxes.forward[0x00], 0x63);
  EXPECT_EQ(boxes.forward[0x53], 0xED);
  EXPECT_EQ(boxes.forward[0xFF], 0x16);
  for (uint32_t i = 0; i < 256; ++i) EXPECT_EQ(boxes.backward[boxes.forward[i]], i);
}

TEST(AesCuda, EveryShortLength) {
  RandomSource random;
  for (const Kind kind : all_kinds) {
    for (uint64_t length = is_xts(kind.operation) ? 16 : 0; length <= by_device(300, 1100); ++length) {
      if (!has_its_turn(length, random)) continue;
      check(random_job(kind, length, random));
      if (HasFatalFailure()) return;
    }
  }
}

TEST(AesCuda, RandomLengths) {
  RandomSource random;
  const uint64_t longest = tests::test_scale() < 100 ? 200000 : by_device(200000, uint64_t{32} << 20);
  for (const Kind kind : all_kinds) {
    for (uint64_t i = 0; i < scaled(by_device(30, 60)); ++i) {
      const uint64_t limit = random.one_in(10) ? longest : 20000;
      check(random_job(kind, random.between(is_xts(kind.operation) ? 16 : 0, limit), random));
      if (HasFatalFailure()) return;
    }
  }
}

// Lengths around the tiles of a warp, with every number of blocks per thread, in few warps, so that tiles are whole.
TEST(AesCuda, AroundTiles) {
  RandomSource random;
  for (const Kind kind : all_kinds) {
    for (const uint64_t blocks : {32u, 64u, 128u, 256u, 512u}) {
      for (const int64_t more : {-17, -16, -1, 0, 1, 16, 17}) {
        if (!has_its_turn(random)) continue;
        Job job = random_job(kind, 16 * blocks + static_cast<uint64_t>(more), random);
        job.queue.multiprocessors = 1;
        job.shape = {32, 4, 1};
        job.in_misalignment = job.out_misalignment = 0;
        check(job);
        if (HasFatalFailure()) return;
      }
    }
  }
}

// Every start within two blocks and one byte, of the input and of the output.
TEST(AesCuda, EveryOffset) {
  RandomSource random;
  constexpr uint64_t last = 32;
  for (const Kind kind : all_kinds) {
    for (uint64_t in_offset = 0; in_offset <= last; ++in_offset) {
      for (uint64_t out_offset = 0; out_offset <= last; ++out_offset) {
        // The emulator has time for the equal ones and for some others.
        if (in_offset != out_offset && test_device().emulated && !random.one_in(last)) continue;
        if (!has_its_turn(random)) continue;
        Job job = random_job(kind, random.between(16, by_device(1000, 5000)), random);
        job.in_misalignment = in_offset;
        job.out_misalignment = out_offset;
        job.in_place = false;
        check(job);
        if (HasFatalFailure()) return;
      }
    }
  }
}

// What a launch may be shaped like, on lengths that leave the last tiles to some of the warps.
TEST(AesCuda, EveryShape) {
  RandomSource random;
  const uint64_t warps = by_device(4, 32);
  for (const Kind kind : all_kinds) {
    for (const uint32_t shared_bytes : {shared_of_hopper, shared_of_turing}) {
      for (uint32_t warp = 1; warp <= warps; ++warp) {
        for (const uint32_t blocks : {1u, 2u, 4u}) {
          if (!has_its_turn(random)) continue;
          // A warp has a tile of 512 bytes for each block of a thread.
          const uint64_t tile = 512 * blocks * warp;
          Job job = random_job(kind, random.between(tile, 3 * tile), random);
          job.queue = {nullptr, 80, 1, shared_bytes};
          job.shape = {32 * warp, blocks, static_cast<uint32_t>(random.between(1, 2))};
          check(job);
          if (HasFatalFailure()) return;
        }
      }
    }
  }
}

TEST(AesCuda, DefaultShapes) {
  RandomSource random;
  for (const Kind kind : all_kinds) {
    for (const uint32_t capability : {75u, 80u, 86u, 89u, 90u, 120u}) {
      Job job = random_job(kind, tests::test_scale() < 100 ? 40000 : by_device(40000, 4000000), random);
      job.shape = kind.row == Row::bitsliced ? ctr_bitsliced_shape : default_shape(kind.operation, capability);
      EXPECT_TRUE(job.shape.threads % 32 == 0 && job.shape.threads <= 1024);
      job.queue = {nullptr, capability, static_cast<uint32_t>(by_device(1, tests::device_facts().multiprocessors)),
                   capability == 75 ? shared_of_turing : shared_of_hopper};
      check(job);
      if (HasFatalFailure()) return;
    }
  }
}

// Shared memory that no layout fits into is refused before anything is launched.
TEST(AesCuda, TooLittleSharedMemory) {
  RandomSource random;
  TestStream stream;
  for (const Kind kind : all_kinds) {
    if (kind.row == Row::bitsliced) continue;
    const Job job = random_job(kind, 64, random);
    const gpu::Queue queue = stream.queue(80, job.queue.multiprocessors, 48 << 10);
    EXPECT_EQ(launch(job, queue, tests::untouchable(), tests::untouchable(), tests::untouchable(), nullptr),
              STOCKADE_ERROR_DEVICE);
  }
  stream.wait();
}

void subtract_be128(Bytes& counter, uint64_t n) {
  const uint64_t low = load_be64(counter.data() + 8);
  store_be64(counter.data() + 8, low - n);
  if (low < n) store_be64(counter.data(), load_be64(counter.data()) - 1);
}

// Carries out of the low 8, 13, 16, ... bits of the counter, and past its end, within one launch.
TEST(AesCuda, CountersWrap) {
  RandomSource random;
  for (const Row row : {Row::tables, Row::bitsliced}) {
    for (const uint32_t bits : {8u, 9u, 13u, 16u, 24u, 32u, 40u, 56u, 64u, 88u, 104u, 128u}) {
      for (uint64_t i = 0; i < scaled(by_device(4, 20)); ++i) {
        const uint64_t limit = test_device().emulated || !random.one_in(4) ? 30000 : 3000000;
        Job job = random_job({GpuOperation::ctr, row}, random.between(1, limit), random);
        for (uint32_t bit = 0; bit < bits; ++bit) job.iv[15 - bit / 8] |= static_cast<uint8_t>(1 << bit % 8);
        subtract_be128(job.iv, random.below(job.in.size() / 16 + 1));
        check(job);
        if (HasFatalFailure()) return;
      }
    }
  }
}

// A refused message leaves zeros; its input, here memory that cannot be touched, is not read.
TEST(AesCuda, RefusedCtrWritesZeros) {
  RandomSource random;
  for (const Row row : {Row::tables, Row::bitsliced}) {
    for (const uint64_t length : {1u, 16u, 511u, 512u, 2048u, 4095u, 20001u}) {
      for (const uint64_t misalignment : {0u, 3u}) {
        const Job job = random_job({GpuOperation::ctr, row}, length, random);
        TestStream stream;
        const gpu::Queue queue = stream.queue(80, job.queue.multiprocessors, job.queue.shared_bytes);
        DeviceBytes in(stream, job.in), out(stream, random.bytes(length), misalignment), refused(stream, Bytes(4));
        const auto* const verdict = reinterpret_cast<const uint32_t*>(refused.data());
        refused.write({static_cast<uint8_t>(1u << random.below(8))}, random.below(4));
        ASSERT_EQ(launch(job, queue, tests::untouchable() + misalignment, out.data(), nullptr, verdict), STOCKADE_OK);
        EXPECT_EQ(out.bytes(), Bytes(length));
        refused.write(Bytes(4));
        ASSERT_EQ(launch(job, queue, in.data(), out.data(), nullptr, verdict), STOCKADE_OK);
        EXPECT_EQ(out.bytes(), expected(job));
        EXPECT_TRUE(in.intact() && out.intact() && refused.intact());
      }
    }
  }
}

// Length 0 launches nothing, wherever the pointers point.
TEST(AesCuda, NothingIsLaunchedForNothing) {
  RandomSource random;
  TestStream stream;
  for (const Kind kind : all_kinds) {
    Job job = random_job(kind, 0, random);
    EXPECT_EQ(launch(job, stream.queue(), nullptr, nullptr, nullptr, nullptr), STOCKADE_OK);
  }
  stream.wait();
}

Job random_large_job(RandomSource& random) {
  return random_job(all_kinds[random.below(std::size(all_kinds))], random.between(16, by_device(5000, 8000000)),
                    random);
}

// Both streams have work before either is waited for.
TEST(AesCuda, TwoStreams) {
  RandomSource random;
  TestStream one, other;
  for (uint64_t i = 0; i < scaled(by_device(5, 20)); ++i) {
    const Job first = random_large_job(random), second = random_large_job(random);
    const Launched on_one(one, first), on_other(other, second);
    on_one.expect(first, expected(first));
    on_other.expect(second, expected(second));
    if (HasFailure()) return;
  }
}

TEST(AesCuda, TwoThreads) {
  const auto work = [](const char* purpose) {
    RandomSource random(purpose);
    for (uint64_t i = 0; i < scaled(by_device(5, 30)); ++i) check(random_large_job(random));
  };
  // The oracle fetches its ciphers when they are first wanted, which is not for two at once.
  for (const Kind kind : all_kinds) {
    for (const uint64_t bytes : {16u, 24u, 32u}) {
      if (is_xts(kind.operation) && bytes == 24) continue;
      RandomSource random;
      Job job = random_job(kind, 16, random);
      job.key = random.bytes(is_xts(kind.operation) ? 2 * bytes : bytes);
      (void)expected(job);
    }
  }
  std::thread one(work, "one thread"), other(work, "another thread");
  one.join();
  other.join();
}

TEST(AesCuda, XtsUnits) {
  RandomSource random;
  for (const GpuOperation operation : {GpuOperation::xts_encrypt, GpuOperation::xts_decrypt}) {
    for (uint64_t i = 0; i < scaled(by_device(60, 250)); ++i) {
      Job job =
          random_job({operation}, random.between(16, random.one_in(10) ? by_device(30000, 3000000) : 30000), random);
      job.unit = random_unit(job.in.size(), random);
      // Numbers that carry into their upper half and past their end.
      if (random.one_in(4)) std::fill_n(job.iv.begin(), random.one_in(2) ? 8 : 16, 0xFF);
      check(job);
      if (HasFatalFailure()) return;
    }
  }
}

// A full unit that ends in a partial block has fewer blocks in rows than a last unit that is shorter by just that block.
TEST(AesCuda, XtsLastUnitWithMoreRows) {
  RandomSource random;
  for (const GpuOperation operation : {GpuOperation::xts_encrypt, GpuOperation::xts_decrypt}) {
    for (const uint64_t blocks : {1u, 2u, 32u, 33u, 64u, 65u, 129u, 1025u}) {
      const uint64_t units = random.between(1, 3);
      Job job = random_job({operation}, 0, random);
      job.unit = 16 * blocks + random.between(1, 15);
      job.in = random.bytes(units * job.unit + 16 * blocks);
      check(job);
      if (HasFatalFailure()) return;
    }
  }
}

// Sector sizes, and units so long that pieces of them begin at powers of a from both tables.
TEST(AesCuda, XtsLongUnits) {
  RandomSource random;
  for (const GpuOperation operation : {GpuOperation::xts_encrypt, GpuOperation::xts_decrypt}) {
    for (const uint64_t unit : {512u, 4096u, 65536u, 262144u + 1040u, 262144u + 7u}) {
      Job job = random_job({operation}, std::max<uint64_t>(unit, 65536) + random.between(16, 200), random);
      job.unit = unit;
      if (job.in.size() % unit != 0 && job.in.size() % unit < 16) job.in.resize(job.in.size() + 16, 7);
      job.queue.multiprocessors = 3;
      job.shape = {512, 1u << random.below(3), 2};
      job.in_misalignment = job.out_misalignment = 0;
      const bool aligned = unit % 16 == 0;
      const TableForm form = table_form(job.queue, job.shape, aligned, job.in.size());
      if (unit > 262144) {
        EXPECT_GT(xts_plan(form, unit, job.in.size()).pieces_per_unit, piece_powers);
      }
      check(job);
      if (HasFatalFailure()) return;
    }
  }
}

// The longest unit has 2^20 blocks: its plan stays within the tables of powers whatever the grid.
TEST(AesCuda, XtsPlans) {
  RandomSource random;
  for (uint64_t i = 0; i < scaled(3000); ++i) {
    const gpu::Queue queue{nullptr, 90, static_cast<uint32_t>(random.between(1, 200)), shared_of_hopper};
    const gpu::Shape shape{static_cast<uint32_t>(32 * random.between(1, 32)), 1u << random.below(3), 1};
    const uint64_t unit =
        random.one_in(4) ? uint64_t{1} << 24 : random.between(16, uint64_t{1} << random.between(5, 24));
    uint64_t length = random.between(16, uint64_t{1} << random.between(5, 40));
    if (length % unit < 16) length -= length % unit;
    if (length == 0) length = unit;
    const XtsPlan plan = xts_plan(table_form(queue, shape, random.one_in(2), length), unit, length);
    EXPECT_LE(plan.pieces_per_unit, piece_powers * piece_powers);
    EXPECT_EQ(plan.pieces_per_unit, divide_up(plan.unit / 16, 32 * plan.rows_per_piece));
    EXPECT_LE(plan.pieces * 16, length + 16);
    EXPECT_EQ(divide_up(plan.pieces, plan.pieces_per_run), plan.runs);
  }
}

TEST(AesCuda, XtsLengthsThatAreNone) {
  RandomSource random;
  TestStream stream;
  for (const auto& [unit, length] : {std::pair<uint64_t, uint64_t>{15, 64}, {(1 << 24) + 1, 64}, {64, 15}, {64, 79}}) {
    Job job = random_job({GpuOperation::xts_encrypt}, length, random);
    job.unit = unit;
    EXPECT_EQ(launch(job, stream.queue(), tests::untouchable(), tests::untouchable(), tests::untouchable(), nullptr),
              STOCKADE_ERROR_DATA_LENGTH);
  }
  stream.wait();
}

// ---- published vectors ----

void check_vector(const tests::Vector& vector, RandomSource& random) {
  struct Way {
    stockade_mode mode;
    Kind kind;
    bool encrypts;
  };
  constexpr Way ways[] = {
      {STOCKADE_ECB, {GpuOperation::ecb_encrypt}, true},  {STOCKADE_ECB, {GpuOperation::ecb_decrypt}, false},
      {STOCKADE_CTR, {GpuOperation::ctr}, true},          {STOCKADE_CTR, {GpuOperation::ctr, Row::bitsliced}, false},
      {STOCKADE_CBC, {GpuOperation::cbc_decrypt}, false}, {STOCKADE_CFB, {GpuOperation::cfb_decrypt}, false},
      {STOCKADE_XTS, {GpuOperation::xts_encrypt}, true},  {STOCKADE_XTS, {GpuOperation::xts_decrypt}, false}};
  for (const Way& way : ways) {
    if (way.mode != vector.mode) continue;
    Job job = random_job(way.kind, 0, random);
    job.key = vector.key;
    job.iv = vector.iv;
    job.width = CounterWidth::bits128;
    job.in = way.encrypts ? vector.plaintext : vector.ciphertext;
    job.unit = std::max<uint64_t>(16, job.in.size());
    check(job, way.encrypts ? vector.ciphertext : vector.plaintext);
  }
}

// Of the long collections, those that have their turn. STOCKADE_TEST_VECTORS is the folder, for a program that was moved.
void check_vectors(const char* file, bool all, RandomSource& random) {
  const char* const moved = std::getenv("STOCKADE_TEST_VECTORS");
  const auto folder = std::filesystem::path(moved != nullptr ? moved : STOCKADE_VECTOR_DIR);
  std::string error;
  const auto parsed = tests::load_vectors(folder / file, error);
  ASSERT_TRUE(parsed) << error;
  uint64_t fitting = 0;
  for (const tests::Vector& vector : parsed->vectors) {
    SCOPED_TRACE(std::string(file) + ": " + vector.name);
    const bool fits = vector.kind == tests::VectorMode::cipher && vector.result == STOCKADE_OK && !vector.padded &&
                      vector.procedure == tests::Procedure::direct && vector.mode != STOCKADE_GCM &&
                      vector.mode != STOCKADE_OFB;
    if (!fits) continue;
    ++fitting;
    if (all || (has_its_turn(random) && random.one_in(by_device(10, 1)))) check_vector(vector, random);
  }
  EXPECT_GT(fitting, 0U) << file;
}

TEST(AesCuda, PublishedVectors) {
  RandomSource random;
  for (const char* file : {"fips197.txt", "sp800_38a.txt", "rfc3686.txt", "ieee1619.txt"}) {
    check_vectors(file, true, random);
  }
  for (const char* file : {"cavp_kat.txt", "cavp_mmt.txt", "cavp_xts.txt"}) check_vectors(file, false, random);
}

}  // namespace
}  // namespace stockade::aes
