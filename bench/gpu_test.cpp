// The benchmark of GPUs on emulated devices: every question gives its tables, no output goes unchecked, nothing is left on a
// device.
#include "gpu.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "gpu/runtime_emulated.h"
#include "gpu_card.h"
#include "gpu_questions.h"
#include "offload/backend.h"

namespace stockade::bench {
namespace {

constexpr uint64_t kib = 1024;

class Folder {
 public:
  Folder() : path_((std::filesystem::temp_directory_path() / "stockade-bench.XXXXXX").string()) {
    if (mkdtemp(path_.data()) == nullptr) throw std::runtime_error("no scratch folder");
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  const std::string& path() const { return path_; }
  bool empty() const { return std::filesystem::is_empty(path_); }

 private:
  std::string path_;
};

class GpuBench : public testing::Test {
 protected:
  GpuBench() {
    settings_.rounds = 1;
    settings_.warm_seconds = settings_.sample_seconds = 0;
    settings_.sample_calls = 2;
    settings_.threads = 2;
    settings_.devices = {0, 1};
    settings_.folder = folder_.path();
  }

  offload::Backend backend(const aes::GpuKernels& aes, const gcm::GpuKernels& gcm = gcm::gpu_kernels_emulated) {
    offload::Backend made{&runtime_, &aes, &gcm};
    made.pinned = made.staged = {2, 64 * kib};
    made.hybrid_stages = true;
    made.least_run = 16 * kib;
    made.slot_bytes = 16 * kib;
    made.hybrid_from = 16 * kib;
    return made;
  }

  std::vector<GpuTable> run(const offload::Backend& backend) {
    std::vector<GpuTable> tables;
    points_ = 0;
    const offload::ScopedBackend scope(backend);
    run_gpu(
        settings_, [this](const std::string&) { ++points_; }, [&](const GpuTable& t) { tables.push_back(t); });
    return tables;
  }

  // No table without lines, no line without figures.
  static void expect_figures(const std::vector<GpuTable>& tables) {
    ASSERT_FALSE(tables.empty());
    for (const GpuTable& table : tables) {
      EXPECT_FALSE(table.lines.empty());
      for (const GpuLine& line : table.lines) {
        ASSERT_EQ(line.cells.size(), table.sizes.size()) << line.cipher << line.form;
        for (const GpuCell& cell : line.cells) {
          if (!cell.reason.empty()) continue;
          EXPECT_GT(cell.seconds, 0) << table.question << ' ' << line.cipher << ' ' << line.form;
          EXPECT_LE(cell.low, cell.seconds);
          EXPECT_GE(cell.high, cell.seconds);
          EXPECT_GE(cell.samples, 1U);
        }
      }
    }
  }

  Folder folder_;
  gpu::EmulatedRuntime runtime_{{{}, {}}};
  GpuSettings settings_;
  int points_ = 0;
};

const std::vector<AesCipher> all_modes = {{"aes-128-ecb", STOCKADE_ECB, 128}, {"aes-256-ecb", STOCKADE_ECB, 256},
                                          {"aes-128-cbc", STOCKADE_CBC, 128}, {"aes-128-cfb", STOCKADE_CFB, 128},
                                          {"aes-128-ofb", STOCKADE_OFB, 128}, {"aes-192-ctr", STOCKADE_CTR, 192},
                                          {"aes-256-ctr", STOCKADE_CTR, 256}, {"aes-256-xts", STOCKADE_XTS, 256},
                                          {"aes-128-gcm", STOCKADE_GCM, 128}, {"aes-192-gcm", STOCKADE_GCM, 192}};

TEST_F(GpuBench, device_has_every_operation) {
  settings_.questions = {"device"};
  settings_.ciphers = all_modes;
  settings_.devices = {1};
  settings_.device_sizes = {1000, 4096, 20000};
  const auto tables = run(backend(aes::gpu_kernels_emulated));
  expect_figures(tables);
  ASSERT_EQ(tables.size(), 3U) << "one for each size of keys";
  std::multiset<std::string> lines;
  for (const GpuTable& table : tables) {
    EXPECT_EQ(table.sizes, settings_.device_sizes);
    for (const GpuLine& line : table.lines) {
      lines.insert(line.cipher + " " + line.operation + " " + line.form);
      const bool blocks = line.cipher.ends_with("ecb") || line.cipher.ends_with("cbc");
      EXPECT_EQ(line.cells[0].reason.empty(), !blocks) << line.cipher << ", 1000 bytes";
      EXPECT_EQ(line.cells[1].reason, "");
      EXPECT_GT(line.cells[1].finish_seconds, 0);
      EXPECT_GT(line.cells[1].gigabytes_per_second, 0);
    }
  }
  const std::multiset<std::string> expected = {"aes-128-cbc decrypt ",
                                               "aes-128-cfb decrypt ",
                                               "aes-128-ecb decrypt ",
                                               "aes-128-ecb encrypt ",
                                               "aes-128-gcm open ",
                                               "aes-128-gcm open chunks",
                                               "aes-128-gcm seal ",
                                               "aes-128-gcm seal chunks",
                                               "aes-192-ctr encrypt ",
                                               "aes-192-ctr encrypt bitsliced",
                                               "aes-192-ctr encrypt in place",
                                               "aes-192-gcm open ",
                                               "aes-192-gcm seal ",
                                               "aes-256-ctr encrypt ",
                                               "aes-256-ctr encrypt bitsliced",
                                               "aes-256-ctr encrypt in place",
                                               "aes-256-ecb decrypt ",
                                               "aes-256-ecb encrypt ",
                                               "aes-256-xts decrypt ",
                                               "aes-256-xts encrypt "};
  EXPECT_EQ(lines, expected);
  EXPECT_GE(points_, 60);
  EXPECT_EQ(runtime_.live(), 0U);
  EXPECT_EQ(runtime_.misuses(), 0U);
}

TEST_F(GpuBench, host_has_three_engines_and_two_kinds_of_memory) {
  settings_.questions = {"host"};
  settings_.ciphers = {
      {"aes-256-ctr", STOCKADE_CTR, 256}, {"aes-256-gcm", STOCKADE_GCM, 256}, {"aes-128-ecb", STOCKADE_ECB, 128}};
  settings_.host_sizes = {1000, 50000};
  const auto tables = run(backend(aes::gpu_kernels_emulated));
  expect_figures(tables);
  ASSERT_EQ(tables.size(), 2U);
  for (const GpuTable& table : tables) {
    ASSERT_EQ(table.lines.size(), 5U);
    EXPECT_EQ(table.lines[0].form, "threads, pageable");
    EXPECT_EQ(table.lines[1].form, "cuda, pinned");
    EXPECT_EQ(table.lines[4].form, "hybrid, pageable");
  }
  EXPECT_EQ(runtime_.live(), 0U);
  EXPECT_EQ(runtime_.misuses(), 0U);
}

TEST_F(GpuBench, stages_add_up) {
  settings_.questions = {"stages"};
  settings_.stage_sizes = {1000, 100000};
  const auto tables = run(backend(aes::gpu_kernels_emulated));
  expect_figures(tables);
  ASSERT_EQ(tables.size(), 1U);
  ASSERT_EQ(tables[0].lines.size(), 7U);
  for (size_t i = 0; i < 2; ++i) {
    double sum = 0;
    for (size_t stage = 0; stage < 5; ++stage) sum += tables[0].lines[stage].cells[i].seconds;
    EXPECT_EQ(tables[0].lines[5].form, "total");
    EXPECT_NEAR(tables[0].lines[5].cells[i].seconds, sum, 1e-9) << "of one round, the median is that round";
  }
  EXPECT_TRUE(folder_.empty());
  EXPECT_EQ(runtime_.live(), 0U);
  EXPECT_EQ(runtime_.misuses(), 0U);
}

TEST_F(GpuBench, several_are_compared_with_one) {
  settings_.questions = {"several"};
  settings_.ciphers = {{"aes-128-ctr", STOCKADE_CTR, 128}};
  settings_.several_size = 70000;
  const auto tables = run(backend(aes::gpu_kernels_emulated));
  expect_figures(tables);
  ASSERT_EQ(tables.size(), 2U);
  for (const GpuTable& table : tables) {
    ASSERT_EQ(table.lines.size(), 2U);
    EXPECT_EQ(table.lines[0].form, "GPU 0");
    EXPECT_EQ(table.lines[0].cells[0].ratio, 1);
    EXPECT_EQ(table.lines[1].form, "GPU 0,1");
    EXPECT_EQ(table.lines[1].devices, 2U);
    EXPECT_GT(table.lines[1].cells[0].ratio, 0);
  }
  settings_.devices = {1};
  EXPECT_TRUE(run(backend(aes::gpu_kernels_emulated)).empty()) << "one is not several";
  EXPECT_EQ(runtime_.live(), 0U);
}

// Emulated kernels that leave one bit of the last byte wrong: nothing of this may ever be timed.
Status wrong_ctr(const gpu::Queue& queue, const gpu::Shape& shape, const aes::RoundKeys& keys,
                 const uint8_t counter[16], aes::CounterWidth width, const uint8_t* in, uint8_t* out, uint64_t length,
                 const uint32_t* refused) {
  const Status status = aes::gpu_kernels_emulated.ctr(queue, shape, keys, counter, width, in, out, length, refused);
  if (length > 0) out[length - 1] ^= 1;
  return status;
}

Status wrong_tag(const gpu::Queue& queue, const gcm::GpuShapes& shapes, const gcm::GpuKey& key,
                 const gcm::MessageStart& start, const gcm::GpuMessage& message, void* workspace) {
  const Status status = gcm::gpu_kernels_emulated.seal(queue, shapes, key, start, message, workspace);
  message.tag[15] ^= 0x80;
  return status;
}

Status deaf_open(const gpu::Queue& queue, const gcm::GpuShapes& shapes, const gcm::GpuKey& key,
                 const gcm::MessageStart& start, const gcm::GpuMessage& message, uint32_t* refused, void* workspace) {
  const Status status = gcm::gpu_kernels_emulated.open(queue, shapes, key, start, message, refused, workspace);
  *refused = 1;
  return status;
}

TEST_F(GpuBench, a_wrong_byte_ends_the_run) {
  settings_.device_sizes = settings_.host_sizes = settings_.stage_sizes = {5000};
  settings_.several_size = 5000;
  settings_.ciphers = {{"aes-256-ctr", STOCKADE_CTR, 256}};
  aes::GpuKernels wrong = aes::gpu_kernels_emulated;
  wrong.ctr = wrong_ctr;
  for (const char* question : gpu_questions) {
    settings_.questions = {question};
    EXPECT_THROW(run(backend(wrong)), Mismatch) << question;
  }
  wrong = aes::gpu_kernels_emulated;
  wrong.ctr_bitsliced = wrong_ctr;
  settings_.questions = {"device"};
  EXPECT_THROW(run(backend(wrong)), Mismatch) << "bitsliced";
  settings_.ciphers = {{"aes-256-gcm", STOCKADE_GCM, 256}};
  gcm::GpuKernels gcm = gcm::gpu_kernels_emulated;
  gcm.seal = wrong_tag;
  EXPECT_THROW(run(backend(aes::gpu_kernels_emulated, gcm)), Mismatch) << "tag";
  gcm = gcm::gpu_kernels_emulated;
  gcm.open = deaf_open;
  EXPECT_THROW(run(backend(aes::gpu_kernels_emulated, gcm)), Mismatch) << "verdict";
  EXPECT_EQ(runtime_.live(), 0U);
}

// What is too long to be read back is compared in windows, the first and the last bytes among them.
TEST_F(GpuBench, long_outputs_are_compared_from_end_to_end) {
  const offload::Backend made = backend(aes::gpu_kernels_emulated);
  const offload::ScopedBackend scope(made);
  const uint64_t bytes = (uint64_t{20} << 20) + 12345;
  Buffer host(bytes);
  fill(host.data(), bytes, 7);
  Card card(0, bytes);
  card.copy_in(card.first(), host.data(), bytes);
  EXPECT_TRUE(card.equals(card.first(), host.data(), bytes));
  // The ends and a place in a window between them.
  for (const uint64_t at : {uint64_t{0}, bytes / 2 - 300000, bytes - 1}) {
    host.data()[at] ^= 1;
    EXPECT_FALSE(card.equals(card.first(), host.data(), bytes)) << at;
    host.data()[at] ^= 1;
  }
}

TEST_F(GpuBench, sizes_fit_the_memory) {
  gpu::EmulatedRuntime small({{100 * kib, 90, 2, 227 << 10}});
  offload::Backend made = backend(aes::gpu_kernels_emulated);
  made.runtime = &small;
  settings_.questions = {"device"};
  settings_.ciphers = {{"aes-128-ctr", STOCKADE_CTR, 128}};
  settings_.devices = {0};
  settings_.device_sizes = {16 * kib, 64 * kib, 256 * kib};
  const auto tables = run(made);
  ASSERT_EQ(tables.size(), 1U);
  EXPECT_EQ(tables[0].sizes, (std::vector<uint64_t>{16 * kib, 32 * kib}));
}

TEST_F(GpuBench, names_the_devices_or_why_there_are_none) {
  const offload::Backend made = backend(aes::gpu_kernels_emulated);
  {
    const offload::ScopedBackend scope(made);
    const GpuMachine all = look_at_gpus({});
    ASSERT_EQ(all.devices.size(), 2U);
    EXPECT_EQ(all.devices[1].number, 1U);
    EXPECT_EQ(all.devices[1].name, "emulated device 1");
    EXPECT_EQ(look_at_gpus({1}).devices.at(0).number, 1U);
    EXPECT_THROW(look_at_gpus({2}), NoGpu);
  }
  gpu::EmulatedRuntime none({}), old({{kib, 70, 2, 48 << 10}});
  for (gpu::EmulatedRuntime* runtime : {&none, &old}) {
    offload::Backend other = made;
    other.runtime = runtime;
    const offload::ScopedBackend scope(other);
    EXPECT_THROW(look_at_gpus({}), NoGpu);
  }
}

TEST(GpuBenchText, devices) {
  EXPECT_EQ(devices_text({0}), "0");
  EXPECT_EQ(devices_text({0, 1}), "0,1");
  EXPECT_EQ(devices_text({0, 1, 2, 3, 5}), "0-3,5");
}

}  // namespace
}  // namespace stockade::bench
