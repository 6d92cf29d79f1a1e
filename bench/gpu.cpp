#include "gpu.h"

#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>

#include "capi/handles.h"
#include "cipher/key.h"
#include "config/environment.h"
#include "gpu_questions.h"
#include "offload/backend.h"

namespace stockade::bench {
namespace {

constexpr uint64_t seed = 0x6B0CADE;

uint64_t mask_of(const std::vector<uint32_t>& devices) {
  uint64_t mask = 0;
  for (const uint32_t device : devices) mask |= uint64_t{1} << device;
  return mask;
}

// 13020 is 13.2.
std::string version_text(uint32_t version) {
  return version == 0 ? "" : std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

// The kernel module says it without any library of the driver's.
std::string driver_version() {
  std::string version;
  std::ifstream("/sys/module/nvidia/version") >> version;
  return version;
}

GpuDevice look_at(uint32_t number, GpuMachine& machine) {
  gpu::DeviceFacts facts;
  check(offload::backend().runtime->facts(number, facts), "a GPU's description");
  machine.driver_cuda = version_text(facts.driver_version);
  machine.cuda = version_text(facts.runtime_version);
  return {number, facts.name, facts.bus, facts.capability, facts.multiprocessors, facts.memory, 1e3 * facts.clock_khz};
}

}  // namespace

GpuMachine look_at_gpus(const std::vector<uint32_t>& numbers) {
  gpu::Runtime& runtime = *offload::backend().runtime;
  uint32_t count = 0;
  const Status status = runtime.count(count);
  if (status == STOCKADE_ERROR_UNAVAILABLE) throw NoGpu(runtime.absence());
  check(status, "counting GPUs");
  uint64_t usable = 0;
  if (offload::usable_devices(0, usable) != STOCKADE_OK) throw NoGpu("none has compute capability 7.5 or newer");
  uint64_t wanted = mask_of(numbers);
  if (wanted == 0) wanted = config::environment().devices;
  if (wanted == 0) wanted = usable;
  GpuMachine machine;
  machine.driver = driver_version();
  for (uint32_t number = 0; number < 64; ++number) {
    const uint64_t bit = uint64_t{1} << number;
    if ((wanted & bit) == 0) continue;
    if ((usable & bit) == 0) {
      const std::string name = "number " + std::to_string(number);
      throw NoGpu(number < count ? name + " is older than compute capability 7.5" : "there is no " + name);
    }
    machine.devices.push_back(look_at(number, machine));
  }
  return machine;
}

HostData::HostData(uint64_t bytes) : plain(bytes), expected(bytes + (bytes / STOCKADE_CHUNK_BYTES + 1) * sizeof tag) {
  fill(plain.data(), bytes, seed);
  fill(key, sizeof key, seed + 1);
  fill(iv, sizeof iv, seed + 2);
  std::fill_n(tag, sizeof tag, uint8_t{0});
}

Engine make_gpu_engine(const char* name, uint32_t threads, const std::vector<uint32_t>& devices) {
  Engine engine = make_engine(name, threads);
  engine->wish.devices = mask_of(devices);
  return engine;
}

Key make_cipher_key(const AesCipher& cipher, const uint8_t* bytes) {
  stockade_key* key = nullptr;
  const uint64_t length = cipher.bits / 8 * (cipher.mode == STOCKADE_XTS ? 2 : 1);
  check(stockade_key_create(&key, cipher.mode, bytes, length, nullptr), cipher.name.c_str());
  return Key(key);
}

uint64_t iv_bytes(const AesCipher& cipher) {
  return cipher.mode == STOCKADE_ECB ? 0 : cipher.mode == STOCKADE_GCM ? 12 : 16;
}

GpuCell cell_of(const std::vector<double>& seconds, uint64_t bytes) {
  GpuCell cell;
  cell.samples = seconds.size();
  cell.seconds = median(seconds);
  cell.low = *std::min_element(seconds.begin(), seconds.end());
  cell.high = *std::max_element(seconds.begin(), seconds.end());
  if (cell.seconds > 0) cell.gigabytes_per_second = static_cast<double>(bytes) / cell.seconds / 1e9;
  return cell;
}

uint64_t host_memory() {
  return static_cast<uint64_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

double clock_seconds() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

std::string devices_text(const std::vector<uint32_t>& devices) {
  std::string text;
  for (size_t i = 0; i < devices.size(); ++i) {
    size_t end = i;
    while (end + 1 < devices.size() && devices[end + 1] == devices[end] + 1) ++end;
    if (!text.empty()) text += ",";
    text += std::to_string(devices[i]);
    if (end > i) text += (end == i + 1 ? "," : "-") + std::to_string(devices[end]);
    i = end;
  }
  return text;
}

void run_gpu(const GpuSettings& settings, const std::function<void(const std::string&)>& on_point,
             const std::function<void(const GpuTable&)>& on_table) {
  offload::Backend backend = offload::backend();
  for (offload::SlotShape* const ring : {&backend.pinned, &backend.staged}) {
    if (settings.lanes != 0) ring->slots = settings.lanes;
    if (settings.run_bytes != 0) ring->run_bytes = settings.run_bytes;
  }
  const offload::ScopedBackend scoped(backend);
  const auto asked = [&settings](const char* question) {
    return std::find(settings.questions.begin(), settings.questions.end(), question) != settings.questions.end();
  };
  if (asked("device")) ask_device(settings, on_point, on_table);
  if (asked("host")) ask_host(settings, on_point, on_table);
  if (asked("stages")) ask_stages(settings, on_point, on_table);
  if (asked("several")) ask_several(settings, on_point, on_table);
}

}  // namespace stockade::bench
