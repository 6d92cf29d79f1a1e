// Files with GPUs as workers: whoever transforms a run, the bytes are the same, and whatever fails, no half of a file is left.
// Devices are emulated, and OpenSSL stands in for their kernels.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "config/environment.h"
#include "cross/file_sample.h"
#include "cross/oracle.h"
#include "cross/oracle_kernels.h"
#include "cross/random_source.h"
#include "cross/sealed_oracle.h"
#include "cross/temporary_file.h"
#include "format/file_job.h"
#include "format/file_stream.h"
#include "format/raw_file.h"
#include "format/reader.h"
#include "offload/backend.h"
#include "offload/transfer_slot.h"
#include "slices/resume.h"
#include "slices/sliced_file.h"

namespace stockade::format {
namespace {

using gpu::Call;
using gpu::EmulatedDevice;
using gpu::EmulatedRuntime;
using tests::Bytes;
using tests::TemporaryFile;

constexpr uint64_t kib = 1024;
constexpr EmulatedDevice ample{.capability = 80};
constexpr config::EngineChoice serial{config::Kind::serial, 1};
constexpr config::EngineChoice cuda{config::Kind::cuda, 2};
constexpr config::EngineChoice hybrid{config::Kind::hybrid, 2};
constexpr stockade_direction both_directions[] = {STOCKADE_ENCRYPT, STOCKADE_DECRYPT};

// Devices for a test, whose slots do runs of `run_bytes`; a chunk fits into their least run if it does into half of that.
class Machine {
 public:
  explicit Machine(std::vector<EmulatedDevice> devices, uint64_t run_bytes = 64 * kib, uint32_t slots = 2,
                   const aes::GpuKernels& aes = tests::oracle_aes_kernels(),
                   const gcm::GpuKernels& gcm = tests::oracle_gcm_kernels())
      : runtime(std::move(devices)),
        backend_{&runtime, &aes, &gcm, {slots, run_bytes}, {slots, run_bytes}, true, std::min(run_bytes / 2, 32 * kib),
                 kib,      0},
        scope_(std::make_unique<offload::ScopedBackend>(backend_)) {
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

 private:
  offload::Backend backend_;
  std::unique_ptr<offload::ScopedBackend> scope_;
};

std::vector<EmulatedDevice> several(size_t count) { return std::vector<EmulatedDevice>(count, ample); }

// What was there before a job that may not touch it.
const Bytes untouched = {1, 2, 3};

// ---- raw files ----

struct RawCase {
  stockade_mode mode;
  stockade_direction direction;
  stockade_padding padding;
  uint64_t unit;
};
const RawCase raw_cases[] = {{STOCKADE_ECB, STOCKADE_ENCRYPT, STOCKADE_PADDING_NONE, 0},
                             {STOCKADE_ECB, STOCKADE_DECRYPT, STOCKADE_PADDING_NONE, 0},
                             {STOCKADE_ECB, STOCKADE_ENCRYPT, STOCKADE_PADDING_PKCS7, 0},
                             {STOCKADE_ECB, STOCKADE_DECRYPT, STOCKADE_PADDING_PKCS7, 0},
                             {STOCKADE_CBC, STOCKADE_DECRYPT, STOCKADE_PADDING_NONE, 0},
                             {STOCKADE_CBC, STOCKADE_DECRYPT, STOCKADE_PADDING_PKCS7, 0},
                             {STOCKADE_CFB, STOCKADE_DECRYPT, STOCKADE_PADDING_NONE, 0},
                             {STOCKADE_CTR, STOCKADE_ENCRYPT, STOCKADE_PADDING_NONE, 0},
                             {STOCKADE_CTR, STOCKADE_DECRYPT, STOCKADE_PADDING_NONE, 0},
                             {STOCKADE_XTS, STOCKADE_ENCRYPT, STOCKADE_PADDING_NONE, 0},
                             {STOCKADE_XTS, STOCKADE_DECRYPT, STOCKADE_PADDING_NONE, 0},
                             {STOCKADE_XTS, STOCKADE_ENCRYPT, STOCKADE_PADDING_NONE, 520},
                             {STOCKADE_XTS, STOCKADE_DECRYPT, STOCKADE_PADDING_NONE, 4096},
                             {STOCKADE_XTS, STOCKADE_ENCRYPT, STOCKADE_PADDING_NONE, 10000},
                             {STOCKADE_GCM, STOCKADE_ENCRYPT, STOCKADE_PADDING_NONE, 0},
                             {STOCKADE_GCM, STOCKADE_DECRYPT, STOCKADE_PADDING_NONE, 0}};
constexpr RawCase sequential_cases[] = {{STOCKADE_CBC, STOCKADE_ENCRYPT, STOCKADE_PADDING_NONE, 0},
                                        {STOCKADE_CBC, STOCKADE_ENCRYPT, STOCKADE_PADDING_PKCS7, 0},
                                        {STOCKADE_CFB, STOCKADE_ENCRYPT, STOCKADE_PADDING_NONE, 0},
                                        {STOCKADE_OFB, STOCKADE_ENCRYPT, STOCKADE_PADDING_NONE, 0},
                                        {STOCKADE_OFB, STOCKADE_DECRYPT, STOCKADE_PADDING_NONE, 0}};

// A file and what is to become of it.
struct RawSample {
  RawSample(tests::RandomSource& random, const RawCase& which, uint64_t wanted) : what(which) {
    const bool gcm = what.mode == STOCKADE_GCM;
    key_bytes = random.bytes(what.mode == STOCKADE_XTS ? 64 : 8 * random.between(2, 4));
    iv = random.bytes(what.mode == STOCKADE_ECB ? 0 : gcm ? 12 : 16);
    if (gcm) aad = random.bytes(random.below(40));
    EXPECT_EQ(cipher::make_key(key, what.mode, key_bytes.data(), key_bytes.size(), nullptr), STOCKADE_OK);
    const bool padded = what.padding == STOCKADE_PADDING_PKCS7;
    const bool whole_blocks = !padded && (what.mode == STOCKADE_ECB || what.mode == STOCKADE_CBC);
    uint64_t length = whole_blocks ? wanted / 16 * 16 : wanted;
    if (what.mode == STOCKADE_XTS && length < 16) length = 16;
    if (what.unit != 0 && length % what.unit < 16) length = std::max(length / what.unit, uint64_t{1}) * what.unit;
    plain = random.bytes(length);
    sealed = encrypted();
  }

  Bytes encrypted() const {
    if (what.mode == STOCKADE_GCM) {
      tests::Sealed made = tests::oracle_seal(key_bytes, iv, aad, plain, 16);
      made.ciphertext.insert(made.ciphertext.end(), made.tag.begin(), made.tag.end());
      return made.ciphertext;
    }
    if (what.unit != 0) return tests::oracle_units(STOCKADE_ENCRYPT, key_bytes, iv, what.unit, plain);
    if (what.padding == STOCKADE_PADDING_PKCS7) {
      return *tests::oracle_padded(what.mode, STOCKADE_ENCRYPT, key_bytes, iv, plain);
    }
    return tests::oracle_crypt(what.mode, STOCKADE_ENCRYPT, key_bytes, iv, plain);
  }

  const Bytes& in() const { return what.direction == STOCKADE_ENCRYPT ? plain : sealed; }
  const Bytes& expected() const { return what.direction == STOCKADE_ENCRYPT ? sealed : plain; }

  Status run(int in_fd, int out_fd, const config::EngineChoice& engine, uint64_t run_bytes) const {
    stockade_raw_options options{};
    options.struct_size = sizeof options;
    options.iv = iv.data();
    options.iv_length = iv.size();
    options.aad = aad.data();
    options.aad_length = aad.size();
    options.padding = what.padding;
    options.unit = what.unit;
    return crypt_fd(key, what.direction, in_fd, out_fd, options, engine, {run_bytes, 0});
  }

  std::string text(const config::EngineChoice& engine) const {
    return std::string(config::kind_name(engine.kind)) + " mode " + std::to_string(what.mode) + " direction " +
           std::to_string(what.direction) + " padding " + std::to_string(what.padding) + " unit " +
           std::to_string(what.unit) + " length " + std::to_string(in().size());
  }

  RawCase what;
  cipher::CipherKey key;
  Bytes key_bytes, iv, aad, plain, sealed;
};

constexpr uint64_t raw_lengths[] = {0, 1, 16, 33, 255, 256, 4095, 4096, 4097, 4112, 4128, 8192, 8223, 20000, 50001};

class GpuFiles : public testing::Test {
 protected:
  tests::RandomSource random_;
};

TEST_F(GpuFiles, raw_have_the_bytes_of_the_mode) {
  struct Shape {
    size_t devices;
    uint32_t slots;
  };
  for (const auto [devices, slots] : {Shape{1, 1}, Shape{1, 4}, Shape{3, 2}}) {
    Machine machine(several(devices), 4 * kib, slots);
    for (const RawCase& what : raw_cases) {
      for (const uint64_t length : raw_lengths) {
        const RawSample sample(random_, what, length);
        for (const config::EngineChoice& engine : {cuda, hybrid}) {
          SCOPED_TRACE(sample.text(engine) + " on " + std::to_string(devices));
          const uint64_t run_bytes = 256 << random_.below(6);
          const TemporaryFile in(sample.in()), out;
          ASSERT_EQ(sample.run(in.fd(), out.fd(), engine, run_bytes), STOCKADE_OK);
          ASSERT_EQ(out.content(), sample.expected());
        }
      }
    }
  }
}

TEST_F(GpuFiles, raw_go_through_pipes) {
  Machine machine(several(2), 4 * kib, 2);
  for (const RawCase& what : raw_cases) {
    for (const uint64_t length : {0, 20, 4096, 4100, 30000}) {
      const RawSample sample(random_, what, static_cast<uint64_t>(length));
      for (const config::EngineChoice& engine : {cuda, hybrid}) {
        SCOPED_TRACE(sample.text(engine));
        const TemporaryFile in(sample.in()), out;
        const tests::Feed feed(sample.in());
        ASSERT_EQ(sample.run(feed.fd(), out.fd(), engine, 512), STOCKADE_OK);
        ASSERT_EQ(out.content(), sample.expected());
        if (what.mode == STOCKADE_GCM && what.direction == STOCKADE_DECRYPT) continue;
        tests::Drain drain;
        ASSERT_EQ(sample.run(in.fd(), drain.fd(), engine, 512), STOCKADE_OK);
        ASSERT_EQ(drain.finish(), sample.expected());
      }
    }
  }
}

// What a GPU cannot do is refused before anything is written, whether there is anything to do or not.
TEST_F(GpuFiles, raw_are_refused_where_blocks_depend_on_one_another) {
  Machine machine(several(1), 4 * kib);
  for (const RawCase& what : sequential_cases) {
    for (const uint64_t length : {0, 4096, 30000}) {
      const RawSample sample(random_, what, static_cast<uint64_t>(length));
      const TemporaryFile in(sample.in()), out(untouched);
      machine.runtime.plan_fault({.call = Call::launch, .nth = UINT64_MAX});
      ASSERT_EQ(sample.run(in.fd(), out.fd(), cuda, 512), STOCKADE_ERROR_MODE);
      ASSERT_EQ(out.content(), untouched);
      out.resize(0);
      ASSERT_EQ(sample.run(in.fd(), out.fd(), hybrid, 512), STOCKADE_OK);
      ASSERT_EQ(out.content(), sample.expected());
      ASSERT_EQ(machine.runtime.counted(), 0U);
    }
  }
}

TEST_F(GpuFiles, raw_that_are_not_authentic_leave_nothing) {
  Machine machine(several(2), 4 * kib);
  for (const uint64_t length : {16, 5000, 30000}) {
    RawSample sample(random_, {STOCKADE_GCM, STOCKADE_DECRYPT, STOCKADE_PADDING_NONE, 0},
                     static_cast<uint64_t>(length));
    sample.sealed[random_.below(sample.sealed.size())] ^= static_cast<uint8_t>(1U << random_.below(8));
    for (const config::EngineChoice& engine : {cuda, hybrid}) {
      const TemporaryFile in(sample.sealed), out;
      ASSERT_EQ(sample.run(in.fd(), out.fd(), engine, 512), STOCKADE_ERROR_AUTHENTICATION);
      ASSERT_EQ(out.size(), 0U);
    }
  }
}

// ---- Stockade files ----

class GpuSealedFiles : public GpuFiles {
 protected:
  static constexpr uint8_t first_random = 17;

  GpuSealedFiles() {
    auto key = std::make_unique<Keyring::SymmetricKey>();
    random_.fill(*key->bytes, 32);
    key_bytes_ = Bytes(*key->bytes, *key->bytes + 32);
    ring_.keys.push_back(std::move(key));
    format_.keyring = &ring_;
  }

  static Bytes counting(uint8_t first, uint64_t length) {
    Bytes bytes(length);
    for (uint8_t& byte : bytes) byte = first++;
    return bytes;
  }
  Bytes expected(const Bytes& plaintext) const {
    return tests::oracle_file(format_.cipher, {key_bytes_}, counting(first_random, 32),
                              {counting(first_random + 32, 16)}, counting(first_random + 48, 24), plaintext);
  }

  Status seal(int in_fd, int out_fd, const config::EngineChoice& engine, uint64_t segment_chunks = 1) {
    job_ = {};
    job_.journal_fd = -1;
    tests::CountingRandom random(first_random);
    return encrypt_fd(format_, in_fd, out_fd, job_, engine, random, {.segment_chunks = segment_chunks});
  }
  Status open(int in_fd, int out_fd, const config::EngineChoice& engine, uint64_t segment_chunks = 1) {
    job_ = {};
    job_.journal_fd = -1;
    return decrypt_fd(format_, in_fd, out_fd, job_, engine, {.segment_chunks = segment_chunks});
  }

  struct Damage {
    uint64_t chunk, count, offset, length;
    bool operator==(const Damage&) const = default;
  };
  Status verify(int in_fd, const config::EngineChoice& engine, std::vector<Damage>& found,
                uint64_t segment_chunks = 1) {
    found.clear();
    job_ = {};
    job_.damage_context = &found;
    job_.damage = [](void* context, uint64_t chunk, uint64_t count, uint64_t offset, uint64_t length) {
      static_cast<std::vector<Damage>*>(context)->push_back({chunk, count, offset, length});
      return 0;
    };
    return verify_fd(format_, in_fd, job_, engine, {.segment_chunks = segment_chunks});
  }

  // In pieces.
  Status stream(stockade_direction direction, const Bytes& in, const config::EngineChoice& engine, Bytes& out) {
    FileStream stream(format_, direction, engine);
    tests::CountingRandom random(first_random);
    Status status = stream.start(random);
    Bytes piece;
    uint64_t written = 0;
    out.clear();
    for (uint64_t done = 0, length = 0; done < in.size() && status == STOCKADE_OK; done += length) {
      length = std::min(in.size() - done, random_.between(1, 100000));
      piece.assign(stream.bound(length), 0xEE);
      status = stream.update({in.data() + done, length}, piece, &written);
      out.insert(out.end(), piece.begin(), piece.begin() + static_cast<std::ptrdiff_t>(written));
    }
    if (status != STOCKADE_OK) return status;
    piece.assign(stream.bound(0), 0xEE);
    status = stream.finish(piece, &written);
    out.insert(out.end(), piece.begin(), piece.begin() + static_cast<std::ptrdiff_t>(written));
    return status;
  }

  Bytes key_bytes_;
  Keyring ring_;
  FileFormat format_;
  stockade_file_job job_{};
};

constexpr uint64_t sealed_lengths[] = {0, 1, 16383, 16384, 16385, 65535, 65536, 65568, 65569, 131072, 300000};

TEST_F(GpuSealedFiles, are_the_same_whoever_makes_them) {
  std::vector<Damage> none;
  for (const size_t devices : {1, 2, 3}) {
    Machine machine(several(devices));
    for (const uint64_t length : sealed_lengths) {
      format_.cipher = random_.one_in(2) ? STOCKADE_COBBLESTONE_256 : STOCKADE_COBBLESTONE_128;
      const Bytes text = random_.bytes(length), sealed = expected(text);
      for (const config::EngineChoice& engine : {serial, cuda, hybrid}) {
        const uint64_t segment_chunks = random_.between(1, 6);
        SCOPED_TRACE(testing::Message() << config::kind_name(engine.kind) << " on " << devices << ", " << length
                                        << " bytes, " << segment_chunks << " chunks at a time");
        const TemporaryFile in(text), in_sealed(sealed), out, opened;
        ASSERT_EQ(seal(in.fd(), out.fd(), engine, segment_chunks), STOCKADE_OK);
        ASSERT_EQ(out.content(), sealed);
        ASSERT_EQ(job_.out_length, sealed.size());
        ASSERT_EQ(open(in_sealed.fd(), opened.fd(), engine, segment_chunks), STOCKADE_OK);
        ASSERT_EQ(opened.content(), text);
        in_sealed.seek(0);
        ASSERT_EQ(verify(in_sealed.fd(), engine, none, segment_chunks), STOCKADE_OK);
        ASSERT_EQ(job_.out_length, length);
        Bytes streamed;
        ASSERT_EQ(stream(STOCKADE_ENCRYPT, text, engine, streamed), STOCKADE_OK);
        ASSERT_EQ(streamed, sealed);
        ASSERT_EQ(stream(STOCKADE_DECRYPT, sealed, engine, streamed), STOCKADE_OK);
        ASSERT_EQ(streamed, text);
      }
    }
  }
}

TEST_F(GpuSealedFiles, go_through_pipes) {
  Machine machine(several(2));
  for (const uint64_t length : {0, 20000, 65568, 300000}) {
    const Bytes text = random_.bytes(length), sealed = expected(text);
    for (const config::EngineChoice& engine : {cuda, hybrid}) {
      SCOPED_TRACE(testing::Message() << config::kind_name(engine.kind) << " " << length);
      const TemporaryFile out;
      {
        const tests::Feed feed(text);
        ASSERT_EQ(seal(feed.fd(), out.fd(), engine), STOCKADE_OK);
      }
      ASSERT_EQ(out.content(), sealed);
      const tests::Feed feed(sealed);
      tests::Drain drain;
      ASSERT_EQ(open(feed.fd(), drain.fd(), engine), STOCKADE_OK);
      ASSERT_EQ(drain.finish(), text);
    }
  }
}

TEST_F(GpuSealedFiles, may_be_armored) {
  Machine machine(several(1));
  format_.armor = true;
  const Bytes text = random_.bytes(100000);
  const TemporaryFile in(text), on_cpu;
  ASSERT_EQ(seal(in.fd(), on_cpu.fd(), serial), STOCKADE_OK);
  std::vector<Damage> damages;
  for (const config::EngineChoice& engine : {cuda, hybrid}) {
    machine.runtime.plan_fault({.call = Call::launch, .nth = UINT64_MAX});
    const TemporaryFile out, opened;
    in.seek(0);
    ASSERT_EQ(seal(in.fd(), out.fd(), engine), STOCKADE_OK);
    ASSERT_EQ(out.content(), on_cpu.content());
    out.seek(0);
    ASSERT_EQ(open(out.fd(), opened.fd(), engine), STOCKADE_OK);
    ASSERT_EQ(opened.content(), text);
    out.seek(0);
    ASSERT_EQ(verify(out.fd(), engine, damages), STOCKADE_OK);
    ASSERT_EQ(job_.out_length, text.size());
    // What `cuda` is asked for, a device has done.
    if (engine.kind == config::Kind::cuda) {
      EXPECT_GE(machine.runtime.counted(), 3U);
    }
  }
}

int read_from_memory(void* context, uint64_t offset, void* buffer, uint64_t length) {
  const auto& bytes = *static_cast<const Bytes*>(context);
  std::copy_n(bytes.begin() + static_cast<std::ptrdiff_t>(offset), length, static_cast<uint8_t*>(buffer));
  return 0;
}

TEST_F(GpuSealedFiles, are_read_at_any_place) {
  Machine machine(several(2));
  const Bytes text = random_.bytes(200000);
  Bytes sealed = expected(text);
  stockade_fault fault;
  for (const config::EngineChoice& engine : {cuda, hybrid}) {
    machine.runtime.plan_fault({.call = Call::launch, .nth = UINT64_MAX});
    Reader reader(read_from_memory, &sealed, sealed.size(), engine);
    ASSERT_EQ(reader.open(format_, fault), STOCKADE_OK);
    for (int i = 0; i < 20; ++i) {
      const uint64_t offset = random_.below(text.size()), length = random_.between(1, text.size() - offset);
      Bytes part(length);
      uint64_t got = 0;
      ASSERT_EQ(reader.read_at(offset, part, &got, fault), STOCKADE_OK);
      ASSERT_EQ(got, length);
      ASSERT_TRUE(std::equal(part.begin(), part.end(), text.begin() + static_cast<std::ptrdiff_t>(offset)));
    }
    if (engine.kind == config::Kind::cuda) {
      EXPECT_GE(machine.runtime.counted(), 21U);
    }
    machine.runtime.plan_fault({.call = Call::copy_in, .for_ever = true});
    Bytes part(50000, 0xEE);
    uint64_t got = 0;
    const Status status = reader.read_at(100, part, &got, fault);
    ASSERT_EQ(status, engine.kind == config::Kind::cuda ? STOCKADE_ERROR_DEVICE : STOCKADE_OK);
    ASSERT_EQ(fault.status, status);
    ASSERT_EQ(part, status == STOCKADE_OK ? Bytes(text.begin() + 100, text.begin() + 50100) : Bytes(50000));
    machine.runtime.clear_fault();
  }
}

TEST_F(GpuSealedFiles, show_the_same_damage) {
  Machine machine(several(2));
  for (int i = 0; i < 20; ++i) {
    const Bytes text = random_.bytes(random_.between(1, 400000));
    Bytes sealed = expected(text);
    for (uint64_t left = random_.between(1, 4); left != 0; --left) {
      const uint64_t begin = 1024 + chunked::preamble_bytes;
      sealed[random_.between(begin, sealed.size() - 1)] ^= static_cast<uint8_t>(1U << random_.below(8));
    }
    if (random_.one_in(3)) sealed.resize(random_.between(1024 + chunked::preamble_bytes + 16, sealed.size()));
    const TemporaryFile in(sealed);
    std::vector<Damage> as_on_cpu, damages;
    const Status status = verify(in.fd(), serial, as_on_cpu);
    const stockade_file_job by_cpu = job_;
    const TemporaryFile nothing;
    in.seek(0);
    const Status opening = open(in.fd(), nothing.fd(), serial);
    ASSERT_EQ(nothing.size(), 0U);
    for (const config::EngineChoice& engine : {cuda, hybrid}) {
      in.seek(0);
      ASSERT_EQ(verify(in.fd(), engine, damages), status);
      ASSERT_EQ(damages, as_on_cpu);
      ASSERT_EQ(job_.out_length, by_cpu.out_length);
      ASSERT_EQ(job_.fault.offset, by_cpu.fault.offset);
      ASSERT_EQ(job_.fault.chunk, by_cpu.fault.chunk);
      in.seek(0);
      const TemporaryFile out;
      ASSERT_EQ(open(in.fd(), out.fd(), engine), opening);
      ASSERT_EQ(out.size(), 0U);
      Bytes released;
      ASSERT_NE(stream(STOCKADE_DECRYPT, sealed, engine, released), STOCKADE_OK);
      ASSERT_TRUE(released.size() <= text.size() && std::equal(released.begin(), released.end(), text.begin()));
    }
  }
}

// ---- slices ----

// One slice of a shared job.
Status do_slice(const slices::SlicedFile& job, int in_fd, int out_fd, uint64_t slice,
                const config::EngineChoice& engine, uint64_t segment_chunks) {
  stockade_shared_work work{};
  work.in_fd = in_fd;
  work.out_fd = out_fd;
  work.next_context = &slice;
  work.next = [](void* context) { return std::exchange(*static_cast<uint64_t*>(context), STOCKADE_NO_SLICE); };
  return job.run(work, engine, {.segment_chunks = segment_chunks});
}

TEST_F(GpuSealedFiles, are_the_same_slice_by_slice) {
  constexpr uint64_t slice = 256 * kib;
  for (const size_t devices : {1, 3}) {
    // Lanes that like 3, 5 or 6 chunks at a time, which do not go into the 16 of a slice.
    Machine machine(several(devices), random_.one_in(3) ? 64 * kib : random_.one_in(2) ? 96 * kib : 112 * kib);
    for (const uint64_t length : {uint64_t{0}, slice + 31, slice + 32, 3 * slice - 1, 1000000UL}) {
      const Bytes text = random_.bytes(length), sealed = expected(text);
      const TemporaryFile in(text), out, in_sealed(sealed), opened(Bytes(length, 0xEE));
      slices::SlicedFile sealing, opening;
      stockade_fault fault;
      slices::Options options{.kind = STOCKADE_SHARED_ENCRYPT, .slice_bytes = slice};
      tests::CountingRandom random(first_random);
      ASSERT_EQ(sealing.create(format_, in.fd(), out.fd(), options, serial, random, fault), STOCKADE_OK);
      options.kind = STOCKADE_SHARED_DECRYPT;
      ASSERT_EQ(opening.create(format_, in_sealed.fd(), -1, options, serial, random, fault), STOCKADE_OK);
      stockade_shared_info info;
      opening.describe(info);
      const uint64_t slices = info.slices;
      sealing.describe(info);
      for (uint64_t i = 0; i < info.slices; ++i) {
        const config::EngineChoice& engine = random_.one_in(3) ? serial : random_.one_in(2) ? cuda : hybrid;
        const uint64_t segment_chunks = uint64_t{1} << random_.below(2);
        ASSERT_EQ(do_slice(sealing, in.fd(), out.fd(), info.slices - 1 - i, engine, segment_chunks), STOCKADE_OK);
      }
      ASSERT_EQ(out.content(), sealed) << length;
      // Nothing is written but the slice.
      Bytes so_far(length, 0xEE);
      for (uint64_t i = 0; i < slices; ++i) {
        const config::EngineChoice& engine = i % 3 == 0 ? cuda : i % 3 == 1 ? hybrid : serial;
        const uint64_t begin = i * slice, end = i + 1 < slices ? begin + slice : length;
        ASSERT_EQ(do_slice(opening, in_sealed.fd(), opened.fd(), i, engine, uint64_t{1} << random_.below(2)),
                  STOCKADE_OK);
        std::copy(text.begin() + static_cast<std::ptrdiff_t>(begin), text.begin() + static_cast<std::ptrdiff_t>(end),
                  so_far.begin() + static_cast<std::ptrdiff_t>(begin));
        ASSERT_EQ(opened.content(), so_far) << length << ", slice " << i;
      }
    }
  }
}

// ---- interrupted jobs ----

// Stops once so many bytes are done.
int lose_patience(void* context, uint64_t done, uint64_t) { return done >= *static_cast<uint64_t*>(context) ? 1 : 0; }

TEST_F(GpuSealedFiles, are_gone_on_with_by_any_engine) {
  Machine machine(several(2));
  constexpr config::EngineChoice engines[] = {serial, {config::Kind::threads, 3}, cuda, hybrid};
  uint64_t resumed = 0;
  for (int i = 0; i < 12; ++i) {
    const Bytes text = random_.bytes(random_.between(100000, 600000));
    const TemporaryFile in(text), sealed, opened, journals[2];
    for (const stockade_direction direction : both_directions) {
      const bool sealing = direction == STOCKADE_ENCRYPT;
      const TemporaryFile &from = sealing ? in : sealed, &to = sealing ? sealed : opened;
      Status status = STOCKADE_ERROR_CANCELLED;
      for (uint64_t patience = 0; status == STOCKADE_ERROR_CANCELLED; patience += random_.below(150000)) {
        job_ = {};
        job_.journal_fd = journals[direction].fd();
        job_.progress = lose_patience;
        job_.progress_context = &patience;
        from.seek(0);
        to.seek(0);
        const auto run = sealing ? slices::encrypt_with_journal : slices::decrypt_with_journal;
        status = run(format_, from.fd(), to.fd(), job_, ring_, engines[random_.below(4)], system_random(),
                     {.segment_chunks = 2, .progress_interval = 0, .checkpoint_interval = 0});
        resumed += job_.resumed_length != 0 ? 1 : 0;
        ASSERT_LE(job_.resumed_length, from.size());
      }
      ASSERT_EQ(status, STOCKADE_OK);
    }
    ASSERT_EQ(opened.content(), text);
  }
  EXPECT_GT(resumed, 12U);
}

// A device that fails leaves what is done, for another engine to go on with.
TEST_F(GpuSealedFiles, survive_a_device_in_their_journal) {
  Machine machine(several(1), 64 * kib, 1);
  const Bytes text = random_.bytes(500000);
  const TemporaryFile in(text), sealed, journal, opened;
  const JobPace pace{.segment_chunks = 1, .progress_interval = 0, .checkpoint_interval = 0};
  machine.runtime.plan_fault({.call = Call::launch, .nth = 4, .for_ever = true});
  job_ = {};
  job_.journal_fd = journal.fd();
  ASSERT_EQ(slices::encrypt_with_journal(format_, in.fd(), sealed.fd(), job_, ring_, cuda, system_random(), pace),
            STOCKADE_ERROR_DEVICE);
  ASSERT_EQ(job_.fault.status, STOCKADE_ERROR_DEVICE);
  machine.runtime.clear_fault();
  in.seek(0);
  sealed.seek(0);
  ASSERT_EQ(slices::encrypt_with_journal(format_, in.fd(), sealed.fd(), job_, ring_, serial, system_random(), pace),
            STOCKADE_OK);
  EXPECT_GE(job_.resumed_length, 4 * 64 * kib);
  sealed.seek(0);
  ASSERT_EQ(open(sealed.fd(), opened.fd(), serial), STOCKADE_OK);
  ASSERT_EQ(opened.content(), text);
}

// ---- faults ----

// Fails each call that a job makes of the runtime in turn.
template <typename Job>
void fail_every_call(Machine& machine, bool for_ever, const Job& job) {
  uint64_t failed[2] = {};
  for (const config::EngineChoice& engine : {cuda, hybrid}) {
    for (uint64_t nth = 0;; ++nth) {
      SCOPED_TRACE(testing::Message() << config::kind_name(engine.kind) << ", call " << nth);
      offload::TransferSlot::release_idle();
      machine.runtime.plan_fault({.nth = nth, .for_ever = for_ever});
      const TemporaryFile out;
      const auto [status, as_expected] = job(engine, out);
      const bool reached = machine.runtime.counted() > nth;
      machine.runtime.clear_fault();
      if (status == STOCKADE_OK) {
        ASSERT_TRUE(as_expected);
      } else {
        ASSERT_EQ(engine.kind, config::Kind::cuda);
        ASSERT_EQ(status, STOCKADE_ERROR_DEVICE);
        ASSERT_EQ(out.size(), 0U);
        ++failed[0];
      }
      if (!reached) break;
      ++failed[1];
      ASSERT_LT(nth, 5000U);
    }
  }
  EXPECT_GT(failed[0], 5U) << "no fault has been noticed";
  EXPECT_GT(failed[1], 20U);
}

struct Outcome {
  Status status;
  bool as_expected;
};

TEST_F(GpuSealedFiles, are_whole_or_not_there_whatever_fails) {
  const Bytes text = random_.bytes(100000), sealed = expected(text);
  for (const bool for_ever : {false, true}) {
    Machine machine(several(2), 64 * kib, 1);
    fail_every_call(machine, for_ever, [&](const config::EngineChoice& engine, const TemporaryFile& out) {
      const TemporaryFile in(text);
      const Status status = seal(in.fd(), out.fd(), engine);
      return Outcome{status, out.content() == sealed};
    });
    fail_every_call(machine, for_ever, [&](const config::EngineChoice& engine, const TemporaryFile& out) {
      const TemporaryFile in(sealed);
      const Status status = open(in.fd(), out.fd(), engine);
      return Outcome{status, out.content() == text};
    });
  }
}

TEST_F(GpuFiles, raw_are_whole_or_not_there_whatever_fails) {
  for (const RawCase& what : {raw_cases[7], raw_cases[4], raw_cases[11], raw_cases[14], raw_cases[15]}) {
    const RawSample sample(random_, what, 15000);
    SCOPED_TRACE(sample.text(cuda));
    Machine machine(several(2), 4 * kib, 1);
    fail_every_call(machine, random_.one_in(2), [&](const config::EngineChoice& engine, const TemporaryFile& out) {
      const TemporaryFile in(sample.in());
      const Status status = sample.run(in.fd(), out.fd(), engine, 512);
      return Outcome{status, out.content() == sample.expected()};
    });
  }
}

// Through the ring, where runs are transformed in place: what a slot has failed at must still be there for the CPU.
TEST_F(GpuFiles, raw_of_a_pipe_survive_faults) {
  for (const RawCase& what : {raw_cases[7], raw_cases[4], raw_cases[10], raw_cases[14]}) {
    const RawSample sample(random_, what, 15000);
    SCOPED_TRACE(sample.text(cuda));
    Machine machine(several(1), 4 * kib, 2);
    fail_every_call(machine, random_.one_in(2), [&](const config::EngineChoice& engine, const TemporaryFile& out) {
      const tests::Feed feed(sample.in());
      const Status status = sample.run(feed.fd(), out.fd(), engine, 1024);
      return Outcome{status, out.content() == sample.expected()};
    });
  }
}

// ---- devices ----

TEST_F(GpuSealedFiles, are_made_with_little_memory) {
  const Bytes text = random_.bytes(200000), sealed = expected(text);
  uint64_t made = 0, refused = 0;
  for (uint64_t memory = 300 * kib; memory >= 8 * kib; memory -= 12 * kib) {
    Machine machine({{.memory = memory, .capability = 80}});
    const TemporaryFile in(text), in_sealed(sealed), out, opened;
    const Status status = seal(in.fd(), out.fd(), cuda);
    if (status == STOCKADE_OK) {
      ++made;
      ASSERT_EQ(out.content(), sealed);
      ASSERT_EQ(open(in_sealed.fd(), opened.fd(), cuda), STOCKADE_OK) << memory;
      ASSERT_EQ(opened.content(), text);
    } else {
      ++refused;
      ASSERT_EQ(status, STOCKADE_ERROR_DEVICE_MEMORY);
      ASSERT_EQ(out.size(), 0U);
    }
    in.seek(0);
    out.resize(0);
    out.seek(0);
    ASSERT_EQ(seal(in.fd(), out.fd(), hybrid), STOCKADE_OK);
    ASSERT_EQ(out.content(), sealed);
  }
  EXPECT_GT(made, 3U);
  EXPECT_GT(refused, 0U);
}

TEST_F(GpuSealedFiles, are_refused_without_a_device) {
  Machine machine(std::vector<EmulatedDevice>{{.capability = 70}});
  const TemporaryFile in(random_.bytes(100)), out(untouched);
  out.seek(0);
  ASSERT_EQ(seal(in.fd(), out.fd(), cuda), STOCKADE_ERROR_UNAVAILABLE);
  ASSERT_EQ(out.content(), untouched);
  Bytes streamed;
  ASSERT_EQ(stream(STOCKADE_ENCRYPT, random_.bytes(20000), cuda, streamed), STOCKADE_ERROR_UNAVAILABLE);
}

// Once with the kernels themselves, as devices with and without tensor cores run them.
TEST_F(GpuSealedFiles, go_through_the_kernels) {
  for (const uint32_t capability : {75, 80, 90}) {
    Machine machine({{.capability = capability, .multiprocessors = 1}}, 64 * kib, 1, aes::gpu_kernels_emulated,
                    gcm::gpu_kernels_emulated);
    format_.cipher = random_.one_in(2) ? STOCKADE_COBBLESTONE_256 : STOCKADE_COBBLESTONE_128;
    const Bytes text = random_.bytes(random_.between(33000, 60000));
    Bytes sealed = expected(text);
    const TemporaryFile in(text), in_sealed(sealed), out, opened;
    ASSERT_EQ(seal(in.fd(), out.fd(), cuda), STOCKADE_OK);
    ASSERT_EQ(out.content(), sealed);
    ASSERT_EQ(open(in_sealed.fd(), opened.fd(), cuda), STOCKADE_OK);
    ASSERT_EQ(opened.content(), text);
    std::vector<Damage> damages;
    sealed[1024 + chunked::chunk_offset(1) + random_.below(chunked::sealed_chunk_bytes)] ^= 1;
    const TemporaryFile damaged(sealed);
    ASSERT_EQ(verify(damaged.fd(), cuda, damages), STOCKADE_ERROR_CHUNK);
    ASSERT_EQ(damages, (std::vector<Damage>{{1, 1, 1024 + chunked::chunk_offset(1), chunked::sealed_chunk_bytes}}));
  }
}

// What the tests above take for granted: that devices have worked, each of them, and for nobody who did not ask for them.
TEST_F(GpuSealedFiles, are_made_by_the_devices_that_were_named) {
  Machine machine(several(3));
  const TemporaryFile in(random_.bytes(300000));
  const auto launches = [&](const config::EngineChoice& engine, uint32_t device) {
    const TemporaryFile out;
    in.seek(0);
    machine.runtime.plan_fault({.call = Call::launch, .nth = UINT64_MAX, .device = device});
    EXPECT_EQ(seal(in.fd(), out.fd(), engine), STOCKADE_OK);
    return machine.runtime.counted();
  };
  EXPECT_GE(launches(cuda, gpu::Fault::any_device), 300000 / (64 * kib));
  EXPECT_EQ(launches({config::Kind::cuda, 2, 0b101}, 1), 0U);
  EXPECT_EQ(launches({config::Kind::automatic, 2}, gpu::Fault::any_device), 0U);
  EXPECT_EQ(launches(serial, gpu::Fault::any_device), 0U);
}

}  // namespace
}  // namespace stockade::format
