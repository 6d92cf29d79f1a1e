// GCM's GPU kernels, in the emulator or on a device, against OpenSSL.
#include "gcm/gcm_cuda.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <thread>

#include "base/bytes.h"
#include "cross/oracle.h"
#include "cross/random_source.h"
#include "cross/test_device.h"
#include "vectors/vector_file.h"

namespace stockade::gcm {
namespace {

using tests::by_device;
using tests::Bytes;
using tests::DeviceBytes;
using tests::has_its_turn;
using tests::RandomSource;
using tests::scaled;
using tests::test_device;
using tests::TestStream;

constexpr Variant portable_row{"portable", {}, &kernels_portable};

struct Case {
  Bytes key, iv, aad, plain, ciphertext, tag;
  Key host_key;
  GpuKey gpu_key;
  MessageStart start;

  Case(RandomSource& random, uint64_t length, uint64_t aad_length, uint64_t iv_length = 12, uint64_t tag_length = 16)
      : Case(random, random.bytes(16 + 8 * random.below(3)), length, aad_length, iv_length, tag_length) {}

  Case(RandomSource& random, const Bytes& key_, uint64_t length, uint64_t aad_length, uint64_t iv_length = 12,
       uint64_t tag_length = 16)
      : key(key_), iv(random.bytes(iv_length)), aad(random.bytes(aad_length)), plain(random.bytes(length)) {
    const tests::Sealed sealed = tests::oracle_seal(key, iv, aad, plain, tag_length);
    ciphertext = sealed.ciphertext;
    tag = sealed.tag;
    prepare();
  }

  explicit Case(const tests::Vector& vector)
      : key(vector.key),
        iv(vector.iv),
        aad(vector.aad),
        plain(vector.plaintext),
        ciphertext(vector.ciphertext),
        tag(vector.tag) {
    prepare();
  }

 private:
  void prepare() {
    EXPECT_EQ(expand(host_key, &portable_row, key.data(), key.size()), STOCKADE_OK);
    gpu_prepare(host_key, gpu_key);
    start_message(host_key, iv.data(), iv.size(), start);
  }
};

struct Trial {
  uint32_t capability = 90;
  uint64_t tensor_blocks = 1;
  uint32_t hash_threads = 128, hash_blocks = 1;
  bool in_place = false;
  uint32_t misplaced_in = 0, misplaced_out = 0;
  // The shapes that a device is given where nobody asks for others, and all of the device.
  bool as_shipped = false;

  // A GPU with few multiprocessors: its grids wrap around soon.
  gpu::Queue queue(const TestStream& stream) const {
    return as_shipped ? stream.queue() : stream.queue(capability, 3, 227 << 10);
  }

  GpuShapes shapes(const gpu::Queue& queue) const {
    GpuShapes shapes = default_shapes(16, queue.capability);
    if (as_shipped) return shapes;
    shapes.ctr = {64, 1, 1};
    shapes.hash = {hash_threads, 1, hash_blocks};
    shapes.tensor_blocks = tensor_blocks;
    return shapes;
  }
};

// A message in the device's memory.
struct Placed {
  TestStream& stream;
  gpu::Queue queue;
  bool in_place;
  DeviceBytes in, out, aad, tag, workspace;

  Placed(TestStream& stream_, const Trial& trial, const Bytes& input, const Bytes& aad_, const Bytes& tag_)
      : stream(stream_),
        queue(trial.queue(stream)),
        in_place(trial.in_place),
        in(stream, input, trial.misplaced_in),
        out(stream, Bytes(in_place ? 0 : input.size(), 0xAA), trial.misplaced_out),
        aad(stream, aad_),
        tag(stream, tag_),
        workspace(stream, test_device().gcm.workspace_bytes(queue)) {}

  GpuMessage message() const {
    return {in.data(),  (in_place ? in : out).data(),     in.size(), aad.data(), aad.size(),
            tag.data(), static_cast<uint32_t>(tag.size())};
  }
  Bytes output() const { return (in_place ? in : out).bytes(); }
  bool intact() const { return in.intact() && out.intact() && aad.intact() && tag.intact() && workspace.intact(); }
};

void expect_sealed(const Case& c, const Trial& trial) {
  TestStream stream;
  const Placed placed(stream, trial, c.plain, c.aad, Bytes(c.tag.size()));
  ASSERT_EQ(test_device().gcm.seal(placed.queue, trial.shapes(placed.queue), c.gpu_key, c.start, placed.message(),
                                   placed.workspace.data()),
            STOCKADE_OK);
  // Not EXPECT_EQ: nobody wants to read megabytes.
  EXPECT_TRUE(placed.output() == c.ciphertext) << c.plain.size() << " bytes";
  EXPECT_EQ(placed.tag.bytes(), c.tag) << c.plain.size() << " bytes, " << c.aad.size() << " of associated data";
  EXPECT_TRUE(placed.intact());
}

// `damage` is what is added to the tag's byte `at`.
void expect_opened(const Case& c, const Trial& trial, uint64_t at = 0, uint8_t damage = 0) {
  Bytes tag = c.tag;
  tag[at] ^= damage;
  TestStream stream;
  const Placed placed(stream, trial, c.ciphertext, c.aad, tag);
  const DeviceBytes refused(stream, Bytes(4, 77));
  ASSERT_EQ(test_device().gcm.open(placed.queue, trial.shapes(placed.queue), c.gpu_key, c.start, placed.message(),
                                   reinterpret_cast<uint32_t*>(refused.data()), placed.workspace.data()),
            STOCKADE_OK);
  EXPECT_EQ(refused.bytes() != Bytes(4), damage != 0) << c.plain.size() << " bytes, byte " << at;
  EXPECT_TRUE(placed.output() == (damage == 0 ? c.plain : Bytes(c.plain.size()))) << c.plain.size() << " bytes";
  EXPECT_EQ(placed.tag.bytes(), tag);
  EXPECT_TRUE(placed.intact() && refused.intact());
}

// A forgery: nothing of the plaintext is there.
void expect_refused(const Case& c, const Trial& trial) {
  TestStream stream;
  const Placed placed(stream, trial, c.ciphertext, c.aad, c.tag);
  const DeviceBytes refused(stream, Bytes(4));
  ASSERT_EQ(test_device().gcm.open(placed.queue, trial.shapes(placed.queue), c.gpu_key, c.start, placed.message(),
                                   reinterpret_cast<uint32_t*>(refused.data()), placed.workspace.data()),
            STOCKADE_OK);
  EXPECT_NE(refused.bytes(), Bytes(4));
  EXPECT_EQ(placed.output(), Bytes(c.ciphertext.size()));
  EXPECT_TRUE(placed.intact() && refused.intact());
}

// The paths by which a string is hashed.
const Trial paths[] = {{.capability = 80},
                       {.capability = 90},
                       {.capability = 80, .hash_threads = 96, .hash_blocks = 3},
                       {.capability = 90, .hash_threads = 512}};

TEST(GcmCuda, EveryShortLength) {
  RandomSource random;
  const Bytes key = random.bytes(32);
  for (uint64_t length = 0; length <= 600; ++length) {
    // The emulator has time for the shortest, and for some others each time.
    if (!has_its_turn(random) || (length > 80 && !random.one_in(by_device(4, 1)))) continue;
    // Every path over and over, but not all of them each time.
    Trial trial = paths[length % 4 == 1];
    trial.in_place = random.one_in(3);
    const Case c(random, key, length, length % 3 == 0 ? random.below(70) : 0);
    expect_sealed(c, trial);
    if (length % 8 == 0) expect_opened(c, trial);
  }
}

TEST(GcmCuda, AroundTilesAndGrids) {
  RandomSource random;
  for (const Trial& path : paths) {
    for (const uint64_t blocks : {32, 64, 96, 256, 512, 1024, 2048, 6144, 6656}) {
      if (!has_its_turn(random)) continue;
      const uint64_t length = 16 * blocks + random.between(0, 40) - 20;
      const Case c(random, length, random.one_in(2) ? random.below(40) : 0);
      expect_sealed(c, path);
      if (!test_device().emulated) expect_opened(c, path);
    }
  }
}

TEST(GcmCuda, AnyLength) {
  RandomSource random;
  const uint64_t bits = tests::test_scale() < 100 ? 18 : by_device(18, 25);
  for (uint64_t i = 0; i < scaled(by_device(24, 200)); ++i) {
    Trial trial = paths[i % std::size(paths)];
    trial.in_place = random.one_in(2);
    trial.as_shipped = random.one_in(2);
    const Case c(random, random.below(uint64_t{1} << random.between(1, bits)),
                 random.below(uint64_t{1} << random.below(14)), random.one_in(3) ? random.between(1, 100) : 12,
                 random.between(12, 16));
    expect_sealed(c, trial);
    expect_opened(c, trial);
  }
}

TEST(GcmCuda, AnyAlignment) {
  RandomSource random;
  for (uint32_t misplaced = 0; misplaced <= 32; ++misplaced) {
    for (const uint64_t length : {random.below(64), random.below(3000)}) {
      if (!has_its_turn(random) || (misplaced > 16 && test_device().emulated && !random.one_in(4))) continue;
      Trial trial = paths[random.below(2)];
      trial.misplaced_in = misplaced;
      trial.misplaced_out = static_cast<uint32_t>(random.below(33));
      const Case c(random, length, 20);
      expect_sealed(c, trial);
      expect_opened(c, trial);
    }
  }
}

// All multiprocessors, each with several tiles.
TEST(GcmCuda, LongMessages) {
  if (test_device().emulated || tests::test_scale() < 20) GTEST_SKIP() << "on a GPU only";
  RandomSource random;
  for (uint64_t i = 0; i < scaled(10); ++i) {
    const Case c(random, random.between(uint64_t{1} << 20, uint64_t{1} << 26), random.below(40));
    expect_sealed(c, {.as_shipped = true});
    expect_opened(c, {.in_place = random.one_in(2), .as_shipped = true});
  }
}

// inc32 within a message, at places that no IV of 12 bytes leads to. OpenSSL takes no J0: the portable row is the oracle.
TEST(GcmCuda, CountersThatWrap) {
  RandomSource random;
  for (const uint32_t before_wrap : {0u, 1u, 2u, 255u, 256u, 257u, 4000u, 5000u}) {
    Case c(random, random.between(70000, 90000), 30);
    store_be32(c.start.j0 + 12, 0 - before_wrap);
    c.host_key.variant->kernels->ecb_encrypt(c.host_key.schedule, c.start.j0, c.start.mask, 1, aes::Stores::ordinary);
    uint8_t y[16] = {};
    hash_padded(c.host_key, y, c.aad.data(), c.aad.size());
    run_range(c.host_key, STOCKADE_ENCRYPT, c.start.j0, 0, y, c.plain.data(), c.ciphertext.data(), c.plain.size(),
              aes::Stores::ordinary);
    finish_tag(c.host_key, c.start.j0, y, c.aad.size(), c.plain.size(), c.tag.data());
    if (!has_its_turn(random)) continue;
    expect_sealed(c, paths[random.below(2)]);
    expect_opened(c, paths[0]);
  }
}

TEST(GcmCuda, EveryByteOfTheTagCounts) {
  RandomSource random;
  for (const uint64_t tag_length : {12, 15, 16}) {
    const Case c(random, 100, 10, 12, tag_length);
    for (uint64_t at = 0; at < tag_length; ++at) {
      Trial trial = paths[at % 2];
      trial.in_place = at % 3 == 0;
      expect_opened(c, trial, at, static_cast<uint8_t>(1u << random.below(8)));
    }
  }
}

struct ChunkTrial {
  uint32_t capability;
  uint32_t shared_bytes, threads;
  uint32_t misplaced_in, misplaced_out;
  uint32_t multiprocessors = 3;
};

// Ciphertext with a tag behind each chunk, by OpenSSL.
Bytes seal_chunks_by_openssl(const Bytes& key, const Bytes& nonce, uint64_t first, const Bytes& plain, uint64_t count) {
  Bytes sealed;
  for (uint64_t i = 0; i < count; ++i) {
    Bytes iv = nonce;
    for (uint32_t byte = 0; byte < 8; ++byte) iv[11 - byte] ^= static_cast<uint8_t>((first + i) >> 8 * byte);
    const uint64_t begin = i * gpu_chunk_bytes, length = std::min<uint64_t>(gpu_chunk_bytes, plain.size() - begin);
    const tests::Sealed chunk = tests::oracle_seal(key, iv, {}, plain.data() + begin, length, 16);
    sealed.insert(sealed.end(), chunk.ciphertext.begin(), chunk.ciphertext.end());
    sealed.insert(sealed.end(), chunk.tag.begin(), chunk.tag.end());
  }
  return sealed;
}

void try_chunks(RandomSource& random, const ChunkTrial& trial, uint64_t count, uint32_t last_length) {
  const Case c(random, 0, 0);
  const Bytes nonce = random.bytes(12), plain = random.bytes((count - 1) * gpu_chunk_bytes + last_length);
  const uint64_t first = random.one_in(2) ? random.below(100) : random.below(uint64_t{1} << 38) | 0xFFFFFFF8;
  const Bytes sealed = seal_chunks_by_openssl(c.key, nonce, first, plain, count);
  TestStream stream;
  const gpu::Queue queue = stream.queue(trial.capability, trial.multiprocessors, trial.shared_bytes);
  GpuShapes shapes = default_shapes(16, queue.capability);
  shapes.chunks.threads = trial.threads;
  const DeviceBytes in(stream, plain, trial.misplaced_in), out(stream, Bytes(sealed.size(), 0xAA), trial.misplaced_out);
  GpuChunks chunks = {in.data(), out.data(), first, count, last_length, {}, nullptr};
  std::copy(nonce.begin(), nonce.end(), chunks.base_nonce);
  ASSERT_EQ(test_device().gcm.seal_chunks(queue, shapes, c.gpu_key, chunks), STOCKADE_OK);
  EXPECT_TRUE(out.bytes() == sealed) << count << " chunks, the last of " << last_length;
  EXPECT_TRUE(in.intact() && out.intact());

  // Some chunks are damaged, each in one bit of its text or its tag.
  Bytes damaged = sealed, expected = plain;
  std::vector<bool> bad(count);
  for (uint64_t i = 0; i < count; ++i) {
    if (!random.one_in(3)) continue;
    bad[i] = true;
    const uint64_t length = i + 1 == count ? last_length : gpu_chunk_bytes;
    const uint64_t at = random.one_in(2) ? length + random.below(16) : random.below(length + 16);
    damaged[i * (gpu_chunk_bytes + 16) + at] ^= static_cast<uint8_t>(1u << random.below(8));
    std::fill_n(expected.begin() + static_cast<int64_t>(i * gpu_chunk_bytes), length, uint8_t{0});
  }
  const DeviceBytes back_in(stream, damaged, trial.misplaced_out),
      back(stream, Bytes(plain.size(), 0xAA), trial.misplaced_in);
  const DeviceBytes refused(stream, Bytes(4 * count, 77));
  chunks.in = back_in.data();
  chunks.out = back.data();
  chunks.refused = reinterpret_cast<uint32_t*>(refused.data());
  ASSERT_EQ(test_device().gcm.open_chunks(queue, shapes, c.gpu_key, chunks), STOCKADE_OK);
  EXPECT_TRUE(back.bytes() == expected) << count << " chunks, the last of " << last_length;
  for (uint64_t i = 0; i < count; ++i) EXPECT_EQ(refused.read(4 * i, 4) != Bytes(4), bad[i]) << "chunk " << i;
  EXPECT_TRUE(back_in.intact() && back.intact() && refused.intact());
}

TEST(GcmCuda, Chunks) {
  RandomSource random;
  constexpr ChunkTrial trials[] = {{90, 227 << 10, 128, 0, 0}, {80, 163 << 10, 64, 0, 0},  {90, 227 << 10, 512, 0, 0},
                                   {75, 64 << 10, 128, 0, 0},  {90, 227 << 10, 128, 5, 3}, {86, 99 << 10, 128, 1, 0}};
  constexpr uint32_t last_lengths[] = {0, 1, 15, 16, 17, 1000, 8192, 8200, 16367, 16368, 16383, gpu_chunk_bytes};
  for (uint32_t i = 0; i < 2 * std::size(last_lengths); ++i) {
    if (!has_its_turn(random)) continue;
    try_chunks(random, trials[i % std::size(trials)], random.between(1, 6), last_lengths[i % std::size(last_lengths)]);
    try_chunks(random, trials[i % std::size(trials)], random.between(1, 3),
               static_cast<uint32_t>(random.below(gpu_chunk_bytes)));
  }
  if (tests::test_scale() >= 20) try_chunks(random, trials[0], 15, 77);
  if (test_device().emulated || tests::test_scale() < 100) return;
  for (ChunkTrial trial : trials) {
    trial.multiprocessors = tests::device_facts().multiprocessors;
    try_chunks(random, trial, random.between(500, 3000), static_cast<uint32_t>(random.below(gpu_chunk_bytes)));
  }
}

struct BatchEntry {
  Case c;
  DeviceBytes in, aad, out, tag;
  bool in_place, bad;
};

BatchEntry batch_entry(RandomSource& random, TestStream& stream, uint64_t length, bool opening) {
  const auto place = [&] { return random.one_in(2) ? 0 : random.below(33); };
  const Case c(random, length, random.one_in(2) ? 0 : random.below(600), random.one_in(3) ? random.between(1, 60) : 12,
               random.between(12, 16));
  const Bytes& input = opening ? c.ciphertext : c.plain;
  const bool bad = opening && random.one_in(3), in_place = random.one_in(3);
  Bytes tag = opening ? c.tag : Bytes(c.tag.size());
  if (bad) tag[random.below(tag.size())] ^= static_cast<uint8_t>(1u << random.below(8));
  return {c,
          DeviceBytes(stream, input, place()),
          DeviceBytes(stream, c.aad, place()),
          DeviceBytes(stream, Bytes(in_place ? 0 : input.size(), 0xAA), place()),
          DeviceBytes(stream, tag, place()),
          in_place,
          bad};
}

void expect_of_batch(const BatchEntry& entry, bool opening, const Bytes& refused) {
  const Bytes& plain = entry.c.plain;
  const Bytes expected = !opening ? entry.c.ciphertext : entry.bad ? Bytes(plain.size()) : plain;
  EXPECT_TRUE((entry.in_place ? entry.in : entry.out).bytes() == expected) << plain.size() << " bytes";
  if (opening) {
    EXPECT_EQ(refused != Bytes(4), entry.bad) << plain.size() << " bytes";
  } else {
    EXPECT_EQ(entry.tag.bytes(), entry.c.tag) << plain.size() << " bytes";
  }
  EXPECT_TRUE(entry.in.intact() && entry.aad.intact() && entry.out.intact() && entry.tag.intact());
}

void try_batch(RandomSource& random, uint32_t shared_bytes, uint64_t count, uint64_t longest) {
  TestStream stream;
  const gpu::Queue queue = stream.queue(80, static_cast<uint32_t>(random.between(1, by_device(3, 132))), shared_bytes);
  GpuShapes shapes = default_shapes(16, 80);
  shapes.chunks.threads = 128;
  for (const bool opening : {false, true}) {
    std::vector<BatchEntry> entries;
    std::vector<GpuBatchMessage> messages(count);
    for (uint64_t i = 0; i < count; ++i) {
      entries.push_back(batch_entry(random, stream, i < 4 ? i : random.below(longest), opening));
      const BatchEntry& entry = entries.back();
      uint8_t* const out = (entry.in_place ? entry.in : entry.out).data();
      const GpuMessage message = {entry.in.data(),
                                  out,
                                  entry.in.size(),
                                  entry.aad.data(),
                                  entry.aad.size(),
                                  entry.tag.data(),
                                  static_cast<uint32_t>(entry.tag.size())};
      describe_message(entry.c.host_key, entry.c.iv.data(), entry.c.iv.size(), message, messages[i]);
    }
    const auto* const begin = reinterpret_cast<const uint8_t*>(messages.data());
    const DeviceBytes described(stream, Bytes(begin, begin + count * sizeof messages[0])),
        refused(stream, Bytes(4 * count, 77));
    const auto* const on_device = reinterpret_cast<const GpuBatchMessage*>(described.data());
    auto* const verdicts = reinterpret_cast<uint32_t*>(refused.data());
    ASSERT_EQ(opening ? test_device().gcm.open_batch(queue, shapes, on_device, count, verdicts)
                      : test_device().gcm.seal_batch(queue, shapes, on_device, count),
              STOCKADE_OK);
    for (uint64_t i = 0; i < count; ++i) expect_of_batch(entries[i], opening, refused.read(4 * i, 4));
    EXPECT_TRUE(described.intact() && refused.intact());
  }
}

TEST(GcmCuda, Batches) {
  RandomSource random;
  const uint64_t most = tests::test_scale() < 100 ? 20 : by_device(40, 1500);
  for (const uint32_t shared_bytes : {163u << 10, 64u << 10}) {
    try_batch(random, shared_bytes, 1, 10);
    try_batch(random, shared_bytes, most, 600);
    try_batch(random, shared_bytes, 5, by_device(20000, 500000));
  }
}

TEST(GcmCuda, NothingIsLaunchedForNothing) {
  RandomSource random;
  const Case c(random, 0, 0);
  TestStream stream;
  const GpuKernels& kernels = test_device().gcm;
  const GpuShapes shapes = default_shapes(16, stream.queue().capability);
  EXPECT_EQ(kernels.seal_chunks(stream.queue(), shapes, c.gpu_key, {}), STOCKADE_OK);
  EXPECT_EQ(kernels.open_chunks(stream.queue(), shapes, c.gpu_key, {}), STOCKADE_OK);
  EXPECT_EQ(kernels.seal_batch(stream.queue(), shapes, nullptr, 0), STOCKADE_OK);
  EXPECT_EQ(kernels.open_batch(stream.queue(), shapes, nullptr, 0, nullptr), STOCKADE_OK);
  stream.wait();
}

// One key between them.
TEST(GcmCuda, TwoThreads) {
  RandomSource random;
  const Case c(random, by_device(30000, 5000000), 100);
  const auto work = [&c] {
    for (uint64_t i = 0; i < scaled(by_device(2, 20)); ++i) {
      expect_sealed(c, {.in_place = i % 2 == 0, .as_shipped = true});
      expect_opened(c, {.as_shipped = true}, i % 16, static_cast<uint8_t>(i % 2));
    }
  };
  std::thread one(work), other(work);
  one.join();
  other.join();
}

// STOCKADE_TEST_VECTORS is the folder, for a program that was moved.
TEST(GcmCuda, PublishedVectors) {
  RandomSource random;
  const char* const moved = std::getenv("STOCKADE_TEST_VECTORS");
  const auto folder = std::filesystem::path(moved != nullptr ? moved : STOCKADE_VECTOR_DIR);
  for (const char* file : {"gcm_spec.txt", "cavp_gcm.txt"}) {
    const bool all = file == std::string("gcm_spec.txt");
    std::string error;
    const auto parsed = tests::load_vectors(folder / file, error);
    ASSERT_TRUE(parsed) << error;
    uint64_t fitting = 0;
    for (const tests::Vector& vector : parsed->vectors) {
      // Kernels know tags of 12 bytes and more; whoever calls them turns others away.
      if (vector.tag.size() < 12) continue;
      const Trial& path = paths[fitting++ % 2];
      if (!all && !(has_its_turn(random) && random.one_in(by_device(20, 1)))) continue;
      SCOPED_TRACE(std::string(file) + ": " + vector.name);
      const Case c(vector);
      if (vector.result == STOCKADE_OK) {
        expect_sealed(c, path);
        expect_opened(c, path);
      } else {
        expect_refused(c, path);
      }
    }
    EXPECT_GT(fitting, 0U) << file;
  }
}

// H = 0, which has no inverse, among them.
TEST(GcmCuda, PowersOfTheHashSubkey) {
  RandomSource random;
  GpuHashKey hash;
  for (uint64_t i = 0; i < 4; ++i) {
    const Bytes h = i == 0 ? Bytes(16) : random.bytes(16);
    gpu_prepare(h.data(), hash);
    const Field128 field = load_gcm(h.data());
    const auto same = [](Field128 a, Field128 b) { return a.low == b.low && a.high == b.high; };
    EXPECT_TRUE(same(field_of(hash.power[1]), field));
    if (i != 0) {
      EXPECT_TRUE(same(multiply(field_of(hash.inverse), field), {1, 0}));
    }
    uint64_t exponent = 1;
    for (uint32_t digit = 0; digit < 4; ++digit, exponent *= 64) {
      const uint64_t value = random.between(1, 15);
      EXPECT_TRUE(same(field_of(hash.power[64 * digit + value]), power(field, value * exponent)));
    }
  }
}

}  // namespace
}  // namespace stockade::gcm
