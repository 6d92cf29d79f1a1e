// Data in a GPU's memory: every operation, one message at a time.
#include <algorithm>
#include <string>
#include <vector>

#include "gpu_questions.h"
#include "gpu_task.h"

namespace stockade::bench {
namespace {

constexpr uint64_t most_samples = 200;
// A sample is as many calls as this many bytes, one put behind the other: events around a single short one would measure
// themselves. At most so many.
constexpr uint64_t bytes_of_sample = uint64_t{16} << 20;

std::vector<GpuOperation> operations_of(const AesCipher& cipher) {
  constexpr auto encrypt = STOCKADE_ENCRYPT, decrypt = STOCKADE_DECRYPT;
  constexpr auto plain = GpuForm::out_of_place;
  switch (cipher.mode) {
    case STOCKADE_CTR:
      return {{cipher, encrypt, plain}, {cipher, encrypt, GpuForm::in_place}, {cipher, encrypt, GpuForm::bitsliced}};
    case STOCKADE_ECB:
    case STOCKADE_XTS:
      return {{cipher, encrypt, plain}, {cipher, decrypt, plain}};
    case STOCKADE_CBC:
    case STOCKADE_CFB:
      return {{cipher, decrypt, plain}};
    case STOCKADE_GCM:
      if (cipher.bits == 192) return {{cipher, encrypt, plain}, {cipher, decrypt, plain}};
      return {{cipher, encrypt, plain},
              {cipher, decrypt, plain},
              {cipher, encrypt, GpuForm::chunks},
              {cipher, decrypt, GpuForm::chunks}};
    case STOCKADE_OFB:
      break;
  }
  return {};
}

// Calls `sample`, which returns seconds, until there are enough samples.
template <typename Sample>
std::vector<double> samples(const GpuSettings& settings, Sample&& sample) {
  std::vector<double> seconds;
  double sum = 0;
  while (seconds.size() < settings.rounds || (sum < settings.sample_seconds && seconds.size() < most_samples)) {
    seconds.push_back(sample());
    sum += seconds.back();
  }
  return seconds;
}

GpuCell measure_task(GpuTask& task, uint64_t size, const GpuSettings& settings) {
  Card& card = task.card();
  for (const double end = clock_seconds() + settings.warm_seconds; clock_seconds() < end;) {
    task.launch();
    card.wait();
  }
  const uint64_t calls = std::clamp<uint64_t>(bytes_of_sample / size, 1, settings.sample_calls);
  GpuCell cell = cell_of(samples(settings,
                                 [&] {
                                   card.begin();
                                   for (uint64_t i = 0; i < calls; ++i) task.launch();
                                   return card.end() / static_cast<double>(calls);
                                 }),
                         size);
  // Without the events, which would add to it.
  cell.finish_seconds = median(samples(settings, [&] {
    const double start = clock_seconds();
    task.launch();
    card.wait();
    return clock_seconds() - start;
  }));
  return cell;
}

// The sizes that a card has room for, each once, in their order.
std::vector<uint64_t> sizes_for(uint32_t device, const std::vector<uint64_t>& wanted) {
  std::vector<uint64_t> sizes;
  for (const uint64_t size : wanted) {
    const uint64_t fitting = size_that_fits(device, size);
    if (std::find(sizes.begin(), sizes.end(), fitting) == sizes.end()) sizes.push_back(fitting);
  }
  return sizes;
}

// The operations of all ciphers with keys of that size.
std::vector<GpuOperation> operations_of(const GpuSettings& settings, uint32_t bits) {
  std::vector<GpuOperation> all;
  for (const AesCipher& cipher : settings.ciphers) {
    if (cipher.bits != bits) continue;
    const auto operations = operations_of(cipher);
    all.insert(all.end(), operations.begin(), operations.end());
  }
  return all;
}

}  // namespace

bool runs_on_gpus(const AesCipher& cipher) { return !operations_of(cipher).empty(); }

void ask_device(const GpuSettings& settings, const OnGpuPoint& on_point, const OnTable& on_table) {
  const Engine cpu = make_engine("auto", settings.threads);
  for (const uint32_t device : settings.devices) {
    const std::vector<uint64_t> sizes = sizes_for(device, settings.device_sizes);
    const uint64_t largest = *std::max_element(sizes.begin(), sizes.end());
    on_point("GPU " + std::to_string(device) + ": data to work on");
    HostData host(largest);
    Card card(device, largest);
    card.copy_in(card.first(), host.plain.data(), largest);
    for (const uint32_t bits : {128U, 192U, 256U}) {
      GpuTable table{
          "device",
          "GPU " + std::to_string(device) + ", data in its memory, keys of " + std::to_string(bits) + " bits",
          sizes,
          {}};
      for (const GpuOperation& operation : operations_of(settings, bits)) {
        GpuLine line{operation.cipher.name, operation.name(), operation.form_text(), 1, {}};
        GpuTask task(operation, card, host, cpu.get());
        for (const uint64_t size : sizes) {
          on_point(line.cipher + " " + line.operation + " " + line.form + ", " + std::to_string(size) + " bytes");
          line.cells.push_back({unfit(operation, size), {}, {}, {}, {}, {}, {}, {}});
          if (!line.cells.back().reason.empty()) continue;
          task.prepare(size);
          line.cells.back() = measure_task(task, size, settings);
        }
        table.lines.push_back(line);
      }
      if (!table.lines.empty()) on_table(table);
    }
  }
}

}  // namespace stockade::bench
