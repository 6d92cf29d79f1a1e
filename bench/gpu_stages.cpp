// Where the time goes when a file is encrypted on a GPU: read all of it, copy it in, run the kernel, copy it out, write all
// of it. And what is left of that when everything overlaps, as in `stockade raw encrypt --engine cuda`.
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

#include "gpu_card.h"
#include "gpu_questions.h"
#include "offload/backend.h"
#include "stage_file.h"

namespace stockade::bench {
namespace {

const AesCipher stage_cipher = {"aes-256-ctr", STOCKADE_CTR, 256};

enum Stage : size_t { load, copy_in, kernel, copy_out, store, total, overlapped, stage_count };
constexpr std::array<const char*, stage_count> stage_names = {"load",  "copy in", "kernel",    "copy out",
                                                              "store", "total",   "overlapped"};

class StageRun {
 public:
  StageRun(const GpuSettings& settings, HostData& host, uint64_t size)
      : host_(host),
        size_(size),
        device_(settings.devices[0]),
        in_path_(settings.folder + "/plain"),
        out_path_(settings.folder + "/staged"),
        whole_path_(settings.folder + "/overlapped"),
        key_(make_cipher_key(stage_cipher, host.key)),
        engine_(make_gpu_engine("cuda", settings.threads, {device_})),
        card_(device_, size) {
    check(pinned_.allocate(*offload::backend().runtime, size), "pinned memory");
    uint64_t workspace = 0;
    check(stockade_device_workspace(key_.get(), STOCKADE_ENCRYPT, device_, size, 0, &workspace), "a workspace");
    queue_ = card_.queue(workspace);
    clear();
    OpenFile(in_path_, fresh_file).write_all(host.plain.data(), size);
    const Engine cpu = make_engine("auto", settings.threads);
    check(
        stockade_encrypt(key_.get(), host.iv, sizeof host.iv, host.plain.data(), size, host.expected.data(), cpu.get()),
        "a message on the CPU");
  }
  ~StageRun() {
    clear();
    unlink(in_path_.c_str());
  }
  StageRun(const StageRun&) = delete;
  StageRun& operator=(const StageRun&) = delete;

  // Seconds of each stage.
  std::array<double, stage_count> run() {
    std::array<double, stage_count> seconds{};
    clear();
    const auto timed = [&seconds](Stage stage, auto&& work) {
      const double start = clock_seconds();
      work();
      seconds[stage] = clock_seconds() - start;
    };
    timed(load, [&] { OpenFile(in_path_, existing_file).read_all(pinned_.data(), size_); });
    timed(copy_in, [&] { card_.copy_in(card_.first(), pinned_.data(), size_); });
    timed(kernel, [&] { launch(); });
    timed(copy_out, [&] { card_.copy_out(pinned_.data(), card_.second(), size_); });
    timed(store, [&] { OpenFile(out_path_, fresh_file).write_all(pinned_.data(), size_); });
    for (size_t stage = load; stage < total; ++stage) seconds[total] += seconds[stage];
    timed(overlapped, [&] { run_overlapped(); });
    return seconds;
  }

  void verify() {
    run();
    for (const std::string& path : {out_path_, whole_path_}) {
      const OpenFile file(path, existing_file);
      struct stat state {};
      std::memset(pinned_.data(), 0xEE, size_);
      const bool complete = fstat(file.fd(), &state) == 0 && static_cast<uint64_t>(state.st_size) == size_;
      if (complete) file.read_all(pinned_.data(), size_);
      if (complete && std::memcmp(pinned_.data(), host_.expected.data(), size_) == 0) continue;
      throw Mismatch("the GPU and the CPU give different files of " + std::to_string(size_) + " bytes: '" + path + "'");
    }
  }

 private:
  void launch() {
    check(stockade_device_encrypt(key_.get(), host_.iv, sizeof host_.iv, card_.first(), size_, card_.second(), &queue_),
          "stockade_device_encrypt");
    card_.wait();
  }

  void run_overlapped() {
    const OpenFile in(in_path_, existing_file), out(whole_path_, fresh_file);
    stockade_raw_options options{};
    options.struct_size = sizeof options;
    options.iv = host_.iv;
    options.iv_length = sizeof host_.iv;
    check(stockade_raw_encrypt_fd(key_.get(), in.fd(), out.fd(), &options, engine_.get()), "stockade_raw_encrypt_fd");
  }

  void clear() {
    unlink(out_path_.c_str());
    unlink(whole_path_.c_str());
  }

  HostData& host_;
  uint64_t size_;
  uint32_t device_;
  std::string in_path_, out_path_, whole_path_;
  Key key_;
  Engine engine_;
  Card card_;
  gpu::PinnedBuffer pinned_;
  stockade_device_queue queue_{};
};

std::string left_out(const GpuSettings& settings, uint64_t size) {
  // The input and both outputs.
  if (!has_room(settings.folder, 3 * size)) return "no room for the files";
  if (size_that_fits(settings.devices[0], size) < size) return "not enough memory";
  return {};
}

}  // namespace

void ask_stages(const GpuSettings& settings, const OnGpuPoint& on_point, const OnTable& on_table) {
  uint64_t largest = 16;
  for (const uint64_t size : settings.stage_sizes) {
    if (left_out(settings, size).empty()) largest = std::max(largest, size);
  }
  HostData host(largest);
  GpuTable table{"stages",
                 "one file through GPU " + devices_text({settings.devices[0]}) + ", pinned memory",
                 settings.stage_sizes,
                 {}};
  for (const char* name : stage_names) table.lines.push_back({stage_cipher.name, "encrypt", name, 1, {}});
  for (const uint64_t size : settings.stage_sizes) {
    on_point("the stages of " + std::to_string(size) + " bytes");
    const std::string reason = left_out(settings, size);
    std::array<std::vector<double>, stage_count> seconds;
    if (reason.empty()) {
      StageRun stages(settings, host, size);
      stages.verify();
      for (uint32_t round = 0; round < settings.rounds; ++round) {
        const auto times = stages.run();
        for (size_t stage = 0; stage < stage_count; ++stage) seconds[stage].push_back(times[stage]);
      }
    }
    for (size_t stage = 0; stage < stage_count; ++stage) {
      GpuCell cell;
      cell.reason = reason;
      table.lines[stage].cells.push_back(reason.empty() ? cell_of(seconds[stage], size) : cell);
    }
  }
  on_table(table);
}

}  // namespace stockade::bench
