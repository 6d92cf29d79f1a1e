// S4: a file, stage by stage: load, copy to the GPU, process, copy back, store. On a GPU it is the question `stages` of gpu.h;
// here are the processor's lines, which have nothing to copy.
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <map>

#include "aes.h"
#include "gpu_questions.h"
#include "stage_file.h"
#include "study_questions.h"

namespace stockade::bench {
namespace {

const AesCipher stage_cipher = {"aes-256-ctr", STOCKADE_CTR, 256};

enum Stage : size_t { load, copy_in, process, copy_out, store, total, stage_count };
constexpr std::array<const char*, stage_count> stage_names = {"load",     "copy in", "process",
                                                              "copy out", "store",   "total"};

class FileStages {
 public:
  FileStages(const StudySettings& settings, HostData& host, Buffer& loaded, Buffer& made, uint64_t size)
      : host_(host),
        loaded_(loaded),
        made_(made),
        size_(size),
        in_path_(settings.folder + "/plain"),
        out_path_(settings.folder + "/made"),
        key_(make_cipher_key(stage_cipher, host.key)) {
    unlink(in_path_.c_str());
    OpenFile(in_path_, fresh_file).write_all(host.plain.data(), size);
    const Engine engine = make_engine("auto", settings.threads);
    encrypt(host.plain.data(), host.expected.data(), engine.get());
  }
  ~FileStages() {
    unlink(in_path_.c_str());
    unlink(out_path_.c_str());
  }
  FileStages(const FileStages&) = delete;
  FileStages& operator=(const FileStages&) = delete;

  // Seconds of each stage.
  std::array<double, stage_count> run(const stockade_engine* engine) {
    std::array<double, stage_count> seconds{};
    unlink(out_path_.c_str());
    const auto timed = [&seconds](Stage stage, auto&& work) {
      const double start = clock_seconds();
      work();
      seconds[stage] = clock_seconds() - start;
      seconds[total] += seconds[stage];
    };
    timed(load, [&] { OpenFile(in_path_, existing_file).read_all(loaded_.data(), size_); });
    timed(process, [&] { encrypt(loaded_.data(), made_.data(), engine); });
    timed(store, [&] { OpenFile(out_path_, fresh_file).write_all(made_.data(), size_); });
    return seconds;
  }

  void verify(const stockade_engine* engine, const std::string& name) {
    run(engine);
    std::memset(made_.data(), 0xEE, size_);
    OpenFile(out_path_, existing_file).read_all(made_.data(), size_);
    if (std::memcmp(made_.data(), host_.expected.data(), size_) == 0) return;
    throw Mismatch(name + ": another file than that of the other engines, " + std::to_string(size_) + " bytes");
  }

 private:
  void encrypt(const uint8_t* in, uint8_t* out, const stockade_engine* engine) {
    check(stockade_encrypt(key_.get(), host_.iv, sizeof host_.iv, in, size_, out, engine), "a message");
  }

  HostData& host_;
  Buffer &loaded_, &made_;
  uint64_t size_;
  std::string in_path_, out_path_;
  Key key_;
};

// Four places in memory; the input and an output, which may lie in memory too, and a third file where there is a GPU.
std::string left_out(const StudySettings& settings, uint64_t size) {
  if (!has_room(settings.folder, 3 * size)) return "no room for the files in '" + settings.folder + "'";
  return memory_reason(7 * size);
}

void measure_size(StudyTable& table, size_t column, const std::vector<Engine>& engines, HostData& host, Buffer& loaded,
                  Buffer& made, const StudySettings& settings) {
  FileStages stages(settings, host, loaded, made, table.sizes[column]);
  std::vector<std::array<std::vector<double>, stage_count>> seconds(engines.size());
  for (size_t i = 0; i < engines.size(); ++i) stages.verify(engines[i].get(), table.lines[i * stage_count].contender);
  for (uint32_t round = 0; round < settings.schedule.rounds; ++round) {
    for (size_t turn = 0; turn < engines.size(); ++turn) {
      const size_t i = (turn + round) % engines.size();
      const auto times = stages.run(engines[i].get());
      for (size_t stage = 0; stage < stage_count; ++stage) seconds[i][stage].push_back(times[stage]);
      if (settings.stop()) throw std::runtime_error("the benchmark was stopped");
    }
  }
  for (size_t i = 0; i < engines.size(); ++i) {
    for (size_t stage = 0; stage < stage_count; ++stage) {
      const bool copies = stage == copy_in || stage == copy_out;
      table.lines[i * stage_count + stage].cells[column] =
          copies ? left_out_cell("nothing to copy") : study_cell(seconds[i][stage]);
    }
  }
}

// A line of the question `stages`, whose kernel is what others call processing.
StudyLine line_of(const GpuLine& line) {
  StudyLine made{line.cipher, line.operation, "gpu", line.form == "kernel" ? "process" : line.form, 0, 0, {}};
  for (const GpuCell& cell : line.cells) {
    StudyCell study = left_out_cell(cell.reason);
    study.samples = cell.samples;
    study.seconds = cell.seconds;
    study.low = cell.low;
    study.high = cell.high;
    made.cells.push_back(study);
  }
  return made;
}

void add_gpu(StudyTable& table, const StudySettings& settings, const StudyListener& listener) {
  if (settings.gpus.devices.empty()) {
    const std::vector<StudyCell> cells(table.sizes.size(), left_out_cell(gpu_reason(settings)));
    for (const char* stage : stage_names) {
      table.lines.push_back({stage_cipher.name, "encrypt", "gpu", stage, 0, 0, cells});
    }
    return;
  }
  GpuSettings gpu;
  gpu.questions = {"stages"};
  gpu.devices = {settings.gpus.devices[0].number};
  gpu.stage_sizes = table.sizes;
  gpu.rounds = settings.schedule.rounds;
  gpu.threads = settings.threads;
  gpu.folder = settings.folder;
  run_gpu(gpu, listener.on_point, [&table](const GpuTable& found) {
    for (const GpuLine& line : found.lines) table.lines.push_back(line_of(line));
  });
}

}  // namespace

void ask_file_stages(const StudySettings& settings, const StudyListener& listener) {
  StudyTable table{"s4",
                   "stages",
                   "one file, one stage after another, " + stage_cipher.name + " encrypt",
                   "one thread",
                   settings.stage_sizes,
                   false,
                   {}};
  std::vector<Engine> engines;
  const std::vector<StudyCell> empty(table.sizes.size());
  for (const uint32_t threads : {1U, settings.threads}) {
    const bool one = engines.empty();
    engines.push_back(one ? make_engine("serial", 1) : make_engine("threads", threads));
    const std::string name = one ? "one thread" : "all threads";
    for (const char* stage : stage_names) {
      table.lines.push_back({stage_cipher.name, "encrypt", name, stage, threads, 0, empty});
    }
  }
  std::vector<std::string> reasons;
  uint64_t largest = 16;
  for (const uint64_t size : table.sizes) {
    reasons.push_back(left_out(settings, size));
    if (reasons.back().empty()) largest = std::max(largest, size);
  }
  {
    HostData host(largest);
    Buffer loaded(largest), made(largest);
    for (size_t column = 0; column < table.sizes.size(); ++column) {
      listener.on_point("s4: the stages of " + std::to_string(table.sizes[column]) + " bytes");
      if (reasons[column].empty()) {
        measure_size(table, column, engines, host, loaded, made, settings);
      } else {
        for (StudyLine& line : table.lines) line.cells[column] = left_out_cell(reasons[column]);
      }
    }
  }
  add_gpu(table, settings, listener);
  compare_with_yardstick(table);
  listener.on_table(table);
}

}  // namespace stockade::bench
