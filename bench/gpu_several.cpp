// All GPUs at once: each with a message of its own in its memory, and one message in host memory for all of them.
#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "gpu_questions.h"
#include "gpu_task.h"
#include "offload/backend.h"

namespace stockade::bench {
namespace {

// Messages that each GPU is given at once, so that the launches, which follow one another, weigh nothing.
constexpr uint32_t queued = 4;

// 1, 2, 4 and so on, and all.
std::vector<size_t> counts_up_to(size_t all) {
  std::vector<size_t> counts;
  for (size_t count = 1; count < all; count *= 2) counts.push_back(count);
  counts.push_back(all);
  return counts;
}

std::vector<uint32_t> first_of(const std::vector<uint32_t>& devices, size_t count) {
  return {devices.begin(), devices.begin() + static_cast<std::ptrdiff_t>(count)};
}

// One line for each number of GPUs; `run` does work of `bytes` on the first so many, over and over, and returns its seconds.
template <typename Run>
void add_lines(GpuTable& table, const GpuSettings& settings, const AesCipher& cipher, const std::string& operation,
               const OnGpuPoint& on_point, Run&& run) {
  double one = 0;
  for (const size_t count : counts_up_to(settings.devices.size())) {
    const std::string form = "GPU " + devices_text(first_of(settings.devices, count));
    on_point(cipher.name + " " + operation + ", " + form);
    uint64_t bytes = 0;
    run(count, bytes);
    std::vector<double> seconds;
    for (uint32_t round = 0; round < settings.rounds; ++round) seconds.push_back(run(count, bytes));
    GpuCell cell = cell_of(seconds, bytes);
    if (count == 1) one = cell.gigabytes_per_second;
    if (one > 0) cell.ratio = cell.gigabytes_per_second / one;
    table.lines.push_back({cipher.name, operation, form, static_cast<uint32_t>(count), {cell}});
  }
}

void compare_devices(const GpuSettings& settings, const AesCipher& cipher, std::vector<std::unique_ptr<Card>>& cards,
                     HostData& host, uint64_t size, const OnGpuPoint& on_point, GpuTable& table) {
  const Engine cpu = make_engine("auto", settings.threads);
  std::vector<GpuTask> tasks;
  for (const auto& card : cards) {
    tasks.emplace_back(GpuOperation{cipher, STOCKADE_ENCRYPT, GpuForm::out_of_place}, *card, host, cpu.get());
    tasks.back().prepare(size);
  }
  add_lines(table, settings, cipher, "encrypt", on_point, [&](size_t count, uint64_t& bytes) {
    const double start = clock_seconds();
    for (uint32_t i = 0; i < queued; ++i) {
      for (size_t k = 0; k < count; ++k) tasks[k].launch();
    }
    for (size_t k = 0; k < count; ++k) tasks[k].card().wait();
    bytes = queued * count * size;
    return clock_seconds() - start;
  });
}

void compare_host(const GpuSettings& settings, const AesCipher& cipher, HostData& host, uint64_t size,
                  const OnGpuPoint& on_point, GpuTable& table) {
  gpu::Runtime& runtime = *offload::backend().runtime;
  gpu::PinnedBuffer in, out;
  check(in.allocate(runtime, size), "pinned memory");
  check(out.allocate(runtime, size), "pinned memory");
  std::memcpy(in.data(), host.plain.data(), size);
  const Key key = make_cipher_key(cipher, host.key);
  const uint64_t iv_length = iv_bytes(cipher);
  const Engine cpu = make_engine("auto", settings.threads);
  check(stockade_encrypt(key.get(), host.iv, iv_length, in.data(), size, host.expected.data(), cpu.get()),
        "a message on the CPU");
  add_lines(table, settings, cipher, "encrypt", on_point, [&](size_t count, uint64_t& bytes) {
    const Engine cuda = make_gpu_engine("cuda", settings.threads, first_of(settings.devices, count));
    const bool first = bytes == 0;
    if (first) std::memset(out.data(), 0xEE, size);
    const double start = clock_seconds();
    check(stockade_encrypt(key.get(), host.iv, iv_length, in.data(), size, out.data(), cuda.get()), "a message");
    const double seconds = clock_seconds() - start;
    bytes = size;
    if (first && std::memcmp(out.data(), host.expected.data(), size) != 0) {
      throw Mismatch(std::to_string(count) + " GPU(s) and the CPU give different bytes for " + cipher.name);
    }
    return seconds;
  });
}

}  // namespace

void ask_several(const GpuSettings& settings, const OnGpuPoint& on_point, const OnTable& on_table) {
  if (settings.devices.size() < 2) return;
  uint64_t size = settings.several_size;
  for (const uint32_t device : settings.devices) size = size_that_fits(device, size);
  on_point("data for several GPUs");
  HostData host(size);
  GpuTable device{"several", "a message in the memory of each", {size}, {}};
  GpuTable through{"several", "one message from pinned host memory to pinned host memory", {size}, {}};
  {
    std::vector<std::unique_ptr<Card>> cards;
    for (const uint32_t number : settings.devices) {
      cards.push_back(std::make_unique<Card>(number, size));
      cards.back()->copy_in(cards.back()->first(), host.plain.data(), size);
    }
    for (const AesCipher& cipher : settings.ciphers) {
      if (cipher.mode == STOCKADE_CTR) compare_devices(settings, cipher, cards, host, size, on_point, device);
    }
  }
  for (const AesCipher& cipher : settings.ciphers) {
    if (cipher.mode == STOCKADE_CTR) compare_host(settings, cipher, host, size, on_point, through);
  }
  for (const GpuTable& table : {device, through}) {
    if (!table.lines.empty()) on_table(table);
  }
}

}  // namespace stockade::bench
