// The tables of the studies on emulated devices: every one is complete, every output is checked, and what is not there is said.
#include "studies.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <string>

#include "aes.h"
#include "bench/big_sums_kernel.h"
#include "gpu/emulator.h"
#include "gpu/runtime_emulated.h"
#include "offload/backend.h"
#include "offload/transfer_slot.h"
#include "study_questions.h"

namespace stockade::bench {
namespace {

constexpr uint64_t kib = 1024;

Status add_emulated(const gpu::Queue& queue, const uint64_t* a, const uint64_t* b, uint64_t* out, uint32_t* carries,
                    uint64_t count) {
  return launch_big_sums(gpu::EmulatedLauncher{1}, queue, BigSumKernel{a, b, out, carries, count});
}

Status add_wrongly(const gpu::Queue& queue, const uint64_t* a, const uint64_t* b, uint64_t* out, uint32_t* carries,
                   uint64_t count) {
  const Status status = add_emulated(queue, a, b, out, carries, count);
  carries[count - 1] ^= 1;
  return status;
}

class Studies : public testing::Test {
 protected:
  Studies() : folder_((std::filesystem::temp_directory_path() / "stockade-studies.XXXXXX").string()) {
    if (mkdtemp(folder_.data()) == nullptr) throw std::runtime_error("no scratch folder");
    settings_.mode_sizes = {256, 1 * kib, 4 * kib};
    settings_.launch_sizes = {64, 4 * kib};
    settings_.engine_sizes = {64, 2 * kib};
    settings_.profile_sizes = {1 * kib, 20 * kib};
    settings_.table_sizes = {1 * kib, 16 * kib};
    settings_.stage_sizes = {1000, 30000};
    settings_.sum_counts = {1, 20};
    settings_.block_threads = {64, 96, 1024};
    settings_.launch_rounds = 2;
    settings_.warm_seconds = 0;
    settings_.schedule.rounds = 1;
    settings_.schedule.sample_seconds = 0;
    settings_.schedule.limit_seconds = 60;
    settings_.threads = 2;
    settings_.folder = folder_;
    settings_.no_gpu = "there is none in this test";
    settings_.no_mpi = "there is none in this test";
    settings_.big_sums = add_emulated;
    settings_.stop = [] { return false; };
    made_ = {&runtime_, &aes::gpu_kernels_emulated, &gcm::gpu_kernels_emulated};
    made_.pinned = made_.staged = {2, 64 * kib};
    made_.least_run = 16 * kib;
    made_.slot_bytes = 16 * kib;
  }
  ~Studies() override { std::filesystem::remove_all(folder_); }

  void with_gpu() {
    const offload::ScopedBackend scope(made_);
    settings_.gpus = look_at_gpus({});
    settings_.no_gpu.clear();
  }

  void run(const std::string& study) {
    const offload::ScopedBackend scope(made_);
    settings_.studies = {study};
    tables_.clear();
    gains_.clear();
    ablations_ = points_ = 0;
    run_studies(
        settings_,
        {[this](const std::string&) { ++points_; }, [this](const StudyTable& table) { tables_.push_back(table); },
         [this](const std::vector<LaunchGain>& gains) { gains_ = gains; }, [this](const Ablation&) { ++ablations_; }});
    EXPECT_GT(tables_.size(), 0U);
    for (const StudyTable& table : tables_) {
      EXPECT_EQ(table.study, study);
      EXPECT_FALSE(table.lines.empty());
      for (const StudyLine& line : table.lines) {
        ASSERT_EQ(line.cells.size(), table.sizes.size()) << table.title << ' ' << line.contender;
        for (const StudyCell& cell : line.cells) {
          EXPECT_EQ(cell.reason.empty(), cell.seconds > 0)
              << table.title << ' ' << line.contender << ' ' << cell.reason;
          EXPECT_LE(cell.low, cell.seconds);
          EXPECT_GE(cell.high, cell.seconds);
        }
      }
    }
    EXPECT_TRUE(std::filesystem::is_empty(folder_));
    offload::TransferSlot::release_idle();
    EXPECT_EQ(runtime_.live(), 0U);
    EXPECT_EQ(runtime_.misuses(), 0U);
  }

  static std::vector<std::string> names(const StudyTable& table) {
    std::vector<std::string> found;
    for (const StudyLine& line : table.lines) {
      found.push_back(line.stage.empty() ? line.contender : line.contender + ": " + line.stage);
    }
    return found;
  }

  // The first cell of a contender; whole tables of it in `line`.
  static const StudyLine& line_of(const StudyTable& table, const std::string& contender,
                                  const std::string& stage = "") {
    for (const StudyLine& line : table.lines) {
      if (line.contender == contender && line.stage == stage) return line;
    }
    throw std::out_of_range(contender);
  }

  std::string folder_;
  gpu::EmulatedRuntime runtime_{{{}}};
  offload::Backend made_{};
  StudySettings settings_;
  std::vector<StudyTable> tables_;
  std::vector<LaunchGain> gains_;
  int ablations_ = 0, points_ = 0;
};

TEST_F(Studies, s1_compares_with_textbook_code) {
  with_gpu();
  run("s1");
  ASSERT_EQ(tables_.size(), 2U);
  for (const StudyTable& table : tables_) {
    EXPECT_EQ(names(table), (std::vector<std::string>{"openssl", "textbook", "one core", "all cores", "cuda"}));
    for (const StudyLine& line : table.lines) {
      for (size_t i = 0; i < table.sizes.size(); ++i) {
        const StudyCell& cell = line.cells[i];
        const StudyCell& textbook = line_of(table, "textbook").cells[i];
        EXPECT_DOUBLE_EQ(cell.ratio, textbook.seconds / cell.seconds);
        EXPECT_FALSE(cell.ratio_scaled);
      }
    }
  }
}

TEST_F(Studies, s1_leaves_out_what_would_take_too_long) {
  settings_.textbook_seconds = 0;
  run("s1");
  for (const StudyTable& table : tables_) {
    const StudyLine& textbook = line_of(table, "textbook");
    EXPECT_GT(textbook.cells[0].seconds, 0) << "without a time, nothing is known of how long it takes";
    for (const size_t i : {1, 2}) {
      EXPECT_TRUE(textbook.cells[i].reason.starts_with("would take")) << textbook.cells[i].reason;
      const StudyCell& one = line_of(table, "one core").cells[i];
      EXPECT_TRUE(one.ratio_scaled);
      // 4 and 16 times as long.
      EXPECT_DOUBLE_EQ(one.ratio, textbook.cells[0].seconds * static_cast<double>(table.sizes[i] / 256) / one.seconds);
    }
  }
}

TEST_F(Studies, s2_sweeps_what_the_kernels_take) {
  with_gpu();
  // 1000 is no multiple of 32, and is launched as 992.
  settings_.block_threads = {64, 96, 1000, 1024};
  run("s2");
  ASSERT_EQ(tables_.size(), 6U) << "three sizes of keys, two modes";
  for (const StudyTable& table : tables_) {
    ASSERT_EQ(table.lines.size(), 4U);
    for (const StudyLine& line : table.lines) {
      for (const StudyCell& cell : line.cells) EXPECT_EQ(cell.reason.empty(), line.block_threads != 1000);
    }
  }
  ASSERT_EQ(gains_.size(), 12U);
  for (const LaunchGain& gain : gains_) {
    EXPECT_EQ(gain.choices, 3U);
    EXPECT_TRUE(gain.block_threads == 64 || gain.block_threads == 96 || gain.block_threads == 1024);
    EXPECT_GE(gain.gain_over_worst, gain.gain_over_mean);
  }
}

// Kernels with four blocks a thread have at most 512 threads: what is launched instead of more is not passed off as more.
TEST_F(Studies, s2_leaves_out_what_is_clamped) {
  gpu::EmulatedRuntime older({{uint64_t{1} << 30, 80, 2, 163 << 10}});
  made_.runtime = &older;
  with_gpu();
  settings_.block_threads = {512, 544, 1024};
  settings_.launch_sizes = {uint64_t{16} << 10};
  run("s2");
  for (const StudyTable& table : tables_) {
    const bool ecb = table.lines[0].cipher.ends_with("ecb");
    EXPECT_EQ(table.lines[0].cells[0].reason, "");
    EXPECT_EQ(table.lines[1].cells[0].reason.empty(), !ecb);
  }
  EXPECT_EQ(older.live(), 0U);
}

TEST_F(Studies, s3_has_engines_profile_and_tables) {
  with_gpu();
  settings_.no_mpi.clear();
  settings_.run_mpi = [](const std::string& cipher, const std::vector<uint64_t>& sizes) {
    EXPECT_TRUE(cipher == "aes-128-ecb" || cipher == "aes-128-ctr");
    EXPECT_EQ(sizes, std::vector<uint64_t>{2 * kib}) << "64 bytes are too few for stockade-mpi";
    return std::vector<MpiTime>{{"root", 2 * kib, 3, 5, 2e-6, 1e-6, 3e-6}};
  };
  run("s3");
  ASSERT_EQ(tables_.size(), 6U);
  for (size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(names(tables_[i]),
              (std::vector<std::string>{"openssl", "serial", "threads", "cuda", "mpi, root", "mpi, distributed"}));
    const StudyLine& root = line_of(tables_[i], "mpi, root");
    EXPECT_EQ(root.threads, 3U);
    EXPECT_EQ(root.cells[0].reason, "stockade-mpi bench measures 1 KiB to 1 GiB");
    EXPECT_DOUBLE_EQ(root.cells[1].seconds, 2e-6);
    EXPECT_DOUBLE_EQ(root.cells[1].ratio, line_of(tables_[i], "openssl").cells[1].seconds / 2e-6);
    EXPECT_FALSE(line_of(tables_[i], "mpi, distributed").cells[1].reason.empty());
  }
  EXPECT_EQ(names(tables_[2]),
            (std::vector<std::string>{"ecb: copy in", "ecb: kernel", "ecb: copy out", "ecb: total"}));
  EXPECT_EQ(names(tables_[4]), (std::vector<std::string>{"ctr, key stream: kernel", "ctr, key stream: copy out",
                                                         "ctr, key stream: xor", "ctr, key stream: total"}));
  const StudyCell& with = line_of(tables_[3], "ctr, input copied", "total").cells[1];
  const StudyCell& without = line_of(tables_[4], "ctr, key stream", "total").cells[1];
  EXPECT_DOUBLE_EQ(without.ratio, with.seconds / without.seconds);
  EXPECT_EQ(names(tables_[5]),
            (std::vector<std::string>{"openssl", "textbook", "64 KB products", "t-tables", "aes-ni"}));
}

TEST_F(Studies, s3_tells_why_mpi_failed) {
  settings_.no_mpi.clear();
  settings_.run_mpi = [](const std::string&, const std::vector<uint64_t>&) -> std::vector<MpiTime> {
    throw std::runtime_error("mpirun says no");
  };
  run("s3");
  EXPECT_EQ(line_of(tables_[0], "mpi, root").cells[1].reason, "not available: mpirun says no");
}

TEST_F(Studies, s4_adds_up) {
  with_gpu();
  run("s4");
  ASSERT_EQ(tables_.size(), 1U);
  const StudyTable& table = tables_[0];
  for (const char* engine : {"one thread", "all threads", "gpu"}) {
    for (size_t i = 0; i < table.sizes.size(); ++i) {
      double sum = 0;
      for (const char* stage : {"load", "copy in", "process", "copy out", "store"}) {
        const StudyCell& cell = line_of(table, engine, stage).cells[i];
        EXPECT_EQ(cell.reason, cell.seconds > 0 ? "" : "nothing to copy");
        sum += cell.seconds;
      }
      EXPECT_NEAR(line_of(table, engine, "total").cells[i].seconds, sum, 1e-9) << "of one round";
    }
  }
  EXPECT_GT(line_of(table, "gpu", "total").cells[0].ratio, 0);
  EXPECT_GT(line_of(table, "gpu", "overlapped").cells[0].seconds, 0);
}

TEST_F(Studies, s5_adds_on_both_sides) {
  with_gpu();
  run("s5");
  EXPECT_EQ(ablations_, 1);
  ASSERT_EQ(tables_.size(), 1U);
  EXPECT_TRUE(tables_[0].counts_numbers);
  EXPECT_EQ(names(tables_[0]), (std::vector<std::string>{"cpu", "gpu, both copies", "gpu, in its memory"}));
  for (const StudyLine& line : tables_[0].lines) {
    for (const StudyCell& cell : line.cells) EXPECT_GT(cell.ratio, 0);
  }
}

TEST_F(Studies, without_a_gpu_its_lines_say_so) {
  const std::map<std::string, std::string> contenders = {
      {"s1", "cuda"}, {"s2", "cuda"}, {"s3", "cuda"}, {"s4", "gpu"}, {"s5", "gpu, both copies"}};
  for (const auto& [study, contender] : contenders) {
    run(study);
    const auto line = std::find_if(tables_[0].lines.begin(), tables_[0].lines.end(),
                                   [&name = contender](const StudyLine& l) { return l.contender == name; });
    ASSERT_NE(line, tables_[0].lines.end()) << study;
    for (const StudyCell& cell : line->cells) EXPECT_EQ(cell.reason, "not available: there is none in this test");
  }
  run("s5");
  settings_.big_sums = nullptr;
  with_gpu();
  run("s5");
  EXPECT_EQ(line_of(tables_[0], "gpu, in its memory").cells[0].reason, "not available: built without CUDA");
}

TEST_F(Studies, a_size_beyond_memory_is_left_out) {
  const uint64_t huge = uint64_t{1} << 50;
  settings_.mode_sizes.push_back(huge);
  settings_.stage_sizes.push_back(huge);
  settings_.sum_counts.push_back(huge / 4096);
  for (const char* study : {"s1", "s4", "s5"}) {
    run(study);
    for (const StudyLine& line : tables_[0].lines) EXPECT_FALSE(line.cells.back().reason.empty()) << study;
  }
  with_gpu();
  settings_.launch_sizes.push_back(huge);
  settings_.profile_sizes.push_back(huge);
  for (const char* study : {"s2", "s3"}) {
    run(study);
    for (const StudyTable& table : tables_) {
      if (table.sizes.back() != huge) continue;
      for (const StudyLine& line : table.lines) EXPECT_EQ(line.cells.back().reason, "not enough memory");
    }
  }
}

// Emulated kernels that leave one bit of the last byte wrong: nothing of this may ever be timed.
Status wrong_ctr(const gpu::Queue& queue, const gpu::Shape& shape, const aes::RoundKeys& keys,
                 const uint8_t counter[16], aes::CounterWidth width, const uint8_t* in, uint8_t* out, uint64_t length,
                 const uint32_t* refused) {
  const Status status = aes::gpu_kernels_emulated.ctr(queue, shape, keys, counter, width, in, out, length, refused);
  if (length > 0) out[length - 1] ^= 1;
  return status;
}

TEST_F(Studies, a_wrong_byte_ends_the_run) {
  with_gpu();
  aes::GpuKernels wrong = aes::gpu_kernels_emulated;
  wrong.ctr = wrong_ctr;
  made_.aes = &wrong;
  for (const char* study : {"s1", "s2", "s3", "s4"}) EXPECT_THROW(run(study), Mismatch) << study;
  made_.aes = &aes::gpu_kernels_emulated;
  settings_.big_sums = add_wrongly;
  EXPECT_THROW(run("s5"), Mismatch);
}

TEST_F(Studies, on_point_may_end_the_run) {
  for (const char* study : study_names) {
    settings_.studies = {study};
    StudyListener listener{[](const std::string&) { throw std::range_error("stop"); }, [](const StudyTable&) {},
                           [](const std::vector<LaunchGain>&) {}, [](const Ablation&) {}};
    if (std::string(study) == "s2") continue;  // without a GPU it measures nothing
    EXPECT_THROW(run_studies(settings_, listener), std::range_error) << study;
  }
}

}  // namespace
}  // namespace stockade::bench
