// Data in host memory: the engines that have GPUs, from pinned and from ordinary memory, beside the CPU's threads.
#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "base/secret.h"
#include "gpu_questions.h"
#include "offload/backend.h"

namespace stockade::bench {
namespace {

constexpr uint64_t tag_bytes = 16;

// Where a message lies and where it goes.
struct Place {
  const char* name;
  uint8_t *in, *out;
};

// Memory that GPUs copy from and to by themselves, with the input in it.
struct PinnedPlace {
  PinnedPlace(HostData& data, uint64_t bytes) {
    gpu::Runtime& runtime = *offload::backend().runtime;
    check(in.allocate(runtime, bytes), "pinned memory");
    check(out.allocate(runtime, bytes), "pinned memory");
    std::memcpy(in.data(), data.plain.data(), bytes);
  }
  gpu::PinnedBuffer in, out;
};

class HostTask {
 public:
  HostTask(const AesCipher& cipher, HostData& data, const Place& place, const stockade_engine* engine)
      : cipher_(cipher), data_(data), place_(place), engine_(engine), key_(make_cipher_key(cipher, data.key)) {}

  stockade_status run(uint64_t size) {
    const uint64_t iv_length = iv_bytes(cipher_);
    if (cipher_.mode == STOCKADE_GCM) {
      return stockade_seal(key_.get(), data_.iv, iv_length, nullptr, 0, place_.in, size, place_.out, tag_, tag_bytes,
                           engine_);
    }
    return stockade_encrypt(key_.get(), data_.iv, iv_length, place_.in, size, place_.out, engine_);
  }

  // Keeps the output as what the others must give.
  void lead(uint64_t size) {
    check(run(size), "a message on the CPU");
    std::memcpy(data_.expected.data(), place_.out, size);
    std::memcpy(data_.tag, tag_, tag_bytes);
  }

  void verify(uint64_t size, const GpuLine& line) {
    std::memset(place_.out, 0xEE, size);
    std::memset(tag_, 0xEE, tag_bytes);
    check(run(size), line.form.c_str());
    const bool right = std::memcmp(place_.out, data_.expected.data(), size) == 0;
    if (right && (cipher_.mode != STOCKADE_GCM || std::memcmp(tag_, data_.tag, tag_bytes) == 0)) return;
    throw Mismatch("engine " + line.form + ", and the CPU give different bytes for " + cipher_.name + ", " +
                   std::to_string(size) + " bytes");
  }

 private:
  AesCipher cipher_;
  HostData& data_;
  Place place_;
  const stockade_engine* engine_;
  Key key_;
  uint8_t tag_[tag_bytes] = {};
};

struct Contender {
  GpuLine line;
  std::unique_ptr<HostTask> task;
};

GpuCell cell_of(const Timing& timing, uint64_t bytes, uint32_t rounds) {
  if (!timing.measured) return {"one call takes too long", {}, {}, {}, {}, {}, {}, {}};
  const double speed = static_cast<double>(bytes) / timing.seconds / 1e9;
  return {{}, timing.iterations * rounds, timing.seconds, timing.low, timing.high, speed, {}, {}};
}

void measure_size(std::vector<Contender>& contenders, uint64_t size, const GpuSettings& settings) {
  std::vector<Work> works;
  for (Contender& contender : contenders) {
    if (works.empty()) {
      contender.task->lead(size);
    } else {
      contender.task->verify(size, contender.line);
    }
    works.push_back([task = contender.task.get(), size](uint64_t iterations) {
      for (; iterations > 0; --iterations) check(task->run(size), "a message");
    });
  }
  Schedule schedule;
  schedule.rounds = settings.rounds;
  schedule.sample_seconds = settings.sample_seconds;
  schedule.limit_seconds = 10;
  const std::vector<Timing> timings = measure(works, schedule);
  for (size_t i = 0; i < timings.size(); ++i) {
    contenders[i].line.cells.push_back(cell_of(timings[i], size, settings.rounds));
  }
}

}  // namespace

void ask_host(const GpuSettings& settings, const OnGpuPoint& on_point, const OnTable& on_table) {
  on_point("data in host memory to work on");
  // Five places of that size are wanted, two of them in memory that is never swapped out.
  std::vector<uint64_t> sizes = settings.host_sizes;
  std::erase_if(sizes, [](uint64_t size) { return size > host_memory() / 12; });
  if (sizes.empty()) return;
  const uint64_t largest = *std::max_element(sizes.begin(), sizes.end());
  HostData data(largest);
  Buffer out(largest);
  const PinnedPlace pinned(data, largest);
  const Place ordinary_place{"pageable", data.plain.data(), out.data()};
  const Place pinned_place{"pinned", pinned.in.data(), pinned.out.data()};
  const Engine threads = make_engine("threads", settings.threads);
  const Engine cuda = make_gpu_engine("cuda", settings.threads, settings.devices);
  const Engine hybrid = make_gpu_engine("hybrid", settings.threads, settings.devices);
  for (const AesCipher& cipher : settings.ciphers) {
    if (cipher.mode != STOCKADE_CTR && cipher.mode != STOCKADE_GCM) continue;
    const char* const operation = cipher.mode == STOCKADE_GCM ? "seal" : "encrypt";
    std::vector<Contender> contenders;
    const auto add = [&](const char* name, const stockade_engine* engine, const Place& place, size_t devices) {
      GpuLine line{cipher.name, operation, std::string(name) + ", " + place.name, static_cast<uint32_t>(devices), {}};
      contenders.push_back({line, std::make_unique<HostTask>(cipher, data, place, engine)});
    };
    add("threads", threads.get(), ordinary_place, 0);
    for (const Place& place : {pinned_place, ordinary_place}) {
      add("cuda", cuda.get(), place, settings.devices.size());
      add("hybrid", hybrid.get(), place, settings.devices.size());
    }
    GpuTable table{"host", "from host memory to host memory, GPU " + devices_text(settings.devices), sizes, {}};
    for (const uint64_t size : sizes) {
      on_point(cipher.name + " from host memory, " + std::to_string(size) + " bytes");
      measure_size(contenders, size, settings);
    }
    for (Contender& contender : contenders) table.lines.push_back(std::move(contender.line));
    on_table(table);
  }
}

}  // namespace stockade::bench
