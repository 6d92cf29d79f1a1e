// S2: threads per block of the table kernels, over the size of the key and the length of the message, on data in a GPU's
// memory; and what it is worth to know the best.
#include <algorithm>

#include "aes.h"
#include "aes/aes_launch.h"
#include "capi/handles.h"
#include "gpu_card.h"
#include "gpu_questions.h"
#include "learned_choice.h"
#include "offload/backend.h"
#include "study_questions.h"

namespace stockade::bench {
namespace {

// A sample is as many launches as this many bytes, one behind the other, at most so many: events around a single short one would
// measure themselves.
constexpr uint64_t bytes_of_sample = uint64_t{4} << 20, most_calls = 32;
constexpr uint8_t noise = 0xEE;

class LaunchSweep {
 public:
  LaunchSweep(const AesCipher& cipher, Card& card, HostData& host, const stockade_engine* cpu,
              const StudySettings& settings)
      : cipher_(cipher),
        card_(card),
        host_(host),
        cpu_(cpu),
        settings_(settings),
        key_(make_cipher_key(cipher, host.key)) {
    if (key_->device_key() == nullptr) throw std::bad_alloc();
  }

  // The choices that are launched as asked. What a kernel would be given instead of others is among them already.
  std::vector<uint32_t> choices(uint64_t size) const {
    std::vector<uint32_t> possible;
    for (const uint32_t threads : settings_.block_threads) {
      const aes::TableForm form = aes::table_form(card_.launch_queue(), shape(threads, size), true, size);
      if (form.threads == threads) possible.push_back(threads);
    }
    return possible;
  }

  uint32_t built_in(uint64_t size) const {
    return aes::table_form(card_.launch_queue(), default_shape(size), true, size).threads;
  }

  void verify(const std::vector<uint32_t>& choices, uint64_t size) {
    check(stockade_encrypt(key_.get(), host_.iv, iv_bytes(cipher_), host_.plain.data(), size, host_.expected.data(),
                           cpu_),
          "a message on the CPU");
    const gpu::OnDevice here(*offload::backend().runtime, card_.device());
    check(here.status(), "a GPU");
    for (const uint32_t threads : choices) {
      card_.fill(card_.second(), noise, size);
      launch(threads, size);
      card_.wait();
      if (card_.equals(card_.second(), host_.expected.data(), size)) continue;
      throw Mismatch("a GPU with " + std::to_string(threads) +
                     " threads per block and the CPU give different bytes for " + cipher_.name + ", " +
                     std::to_string(size) + " bytes");
    }
  }

  // For each choice the seconds of a message in each round.
  std::vector<std::vector<double>> measure(const std::vector<uint32_t>& choices, uint64_t size) {
    // Once, not at each launch: it would take as long as a launch does.
    const gpu::OnDevice here(*offload::backend().runtime, card_.device());
    check(here.status(), "a GPU");
    for (const double end = clock_seconds() + settings_.warm_seconds; clock_seconds() < end;) {
      launch(choices.back(), size);
      card_.wait();
    }
    const uint64_t calls = std::clamp<uint64_t>(bytes_of_sample / size, 1, most_calls);
    std::vector<std::vector<double>> seconds(choices.size());
    for (uint32_t round = 0; round < settings_.launch_rounds; ++round) {
      for (size_t turn = 0; turn < choices.size(); ++turn) {
        // Not always behind the same neighbour's clock and caches.
        const size_t i = (turn + round) % choices.size();
        card_.begin();
        for (uint64_t call = 0; call < calls; ++call) launch(choices[i], size);
        seconds[i].push_back(card_.end() / static_cast<double>(calls));
      }
    }
    return seconds;
  }

 private:
  aes::GpuOperation operation() const {
    return cipher_.mode == STOCKADE_CTR ? aes::GpuOperation::ctr : aes::GpuOperation::ecb_encrypt;
  }
  gpu::Shape default_shape(uint64_t size) const {
    return aes::default_shape(operation(), card_.launch_queue().capability, size);
  }
  gpu::Shape shape(uint32_t threads, uint64_t size) const {
    gpu::Shape shape = default_shape(size);
    shape.threads = threads;
    return shape;
  }

  // The calling thread is on the device.
  void launch(uint32_t threads, uint64_t size) {
    const aes::GpuKernels& kernels = *offload::backend().aes;
    const aes::RoundKeys& keys = key_->device_key()->encrypt;
    const gpu::Queue queue = card_.launch_queue();
    if (cipher_.mode == STOCKADE_CTR) {
      check(kernels.ctr(queue, shape(threads, size), keys, host_.iv, aes::CounterWidth::bits128, card_.first(),
                        card_.second(), size, nullptr),
            "a launch");
    } else {
      check(kernels.ecb_encrypt(queue, shape(threads, size), keys, card_.first(), card_.second(), size), "a launch");
    }
  }

  AesCipher cipher_;
  Card& card_;
  HostData& host_;
  const stockade_engine* cpu_;
  const StudySettings& settings_;
  Key key_;
};

const char title[] = "encrypt in a GPU's memory, by threads per block";

std::vector<AesCipher> ciphers() {
  std::vector<AesCipher> all;
  for (const uint32_t bits : {128U, 192U, 256U}) {
    all.push_back({"aes-" + std::to_string(bits) + "-ecb", STOCKADE_ECB, bits});
    all.push_back({"aes-" + std::to_string(bits) + "-ctr", STOCKADE_CTR, bits});
  }
  return all;
}

StudyTable empty_table(const AesCipher& cipher, const StudySettings& settings) {
  return {"s2", "launch", cipher.name + " " + title, "", settings.launch_sizes, false, {}};
}

void tell_there_is_none(const StudySettings& settings, const StudyListener& listener) {
  for (const AesCipher& cipher : ciphers()) {
    StudyTable table = empty_table(cipher, settings);
    const std::vector<StudyCell> cells(table.sizes.size(), left_out_cell(gpu_reason(settings)));
    table.lines.push_back({cipher.name, "encrypt", "cuda", "", 0, 0, cells});
    listener.on_table(table);
  }
}

void sweep(const AesCipher& cipher, Card& card, HostData& host, const stockade_engine* cpu, uint64_t largest,
           const StudySettings& settings, const StudyListener& listener, std::vector<LaunchGain>& gains) {
  StudyTable table = empty_table(cipher, settings);
  for (const uint32_t threads : settings.block_threads) {
    const std::vector<StudyCell> cells(table.sizes.size(), left_out_cell("the kernel is not launched with so many"));
    table.lines.push_back({cipher.name, "encrypt", "cuda", "", 0, threads, cells});
  }
  LaunchSweep sweep(cipher, card, host, cpu, settings);
  for (size_t column = 0; column < table.sizes.size(); ++column) {
    const uint64_t size = table.sizes[column];
    listener.on_point("s2: " + cipher.name + ", " + std::to_string(size) + " bytes");
    const std::vector<uint32_t> choices = size > largest ? std::vector<uint32_t>() : sweep.choices(size);
    if (choices.empty()) {
      for (StudyLine& line : table.lines) line.cells[column] = left_out_cell("not enough memory");
      continue;
    }
    sweep.verify(choices, size);
    const auto seconds = sweep.measure(choices, size);
    for (size_t i = 0; i < choices.size(); ++i) {
      const auto line = std::find_if(table.lines.begin(), table.lines.end(),
                                     [&](const StudyLine& l) { return l.block_threads == choices[i]; });
      line->cells[column] = study_cell(seconds[i]);
    }
    const LearnedChoice learned = learn(seconds);
    gains.push_back({cipher.name, "encrypt", size, choices[learned.choice], sweep.built_in(size),
                     static_cast<uint32_t>(choices.size()), learned.seconds, learned.gain_over_mean,
                     learned.gain_over_worst});
  }
  listener.on_table(table);
}

}  // namespace

void ask_launch(const StudySettings& settings, const StudyListener& listener) {
  if (settings.gpus.devices.empty()) return tell_there_is_none(settings, listener);
  const uint32_t device = settings.gpus.devices[0].number;
  uint64_t largest = 16;
  for (const uint64_t size : settings.launch_sizes) {
    if (size_that_fits(device, size) == size) largest = std::max(largest, size);
  }
  const Engine cpu = make_engine("auto", settings.threads);
  HostData host(largest);
  Card card(device, largest);
  card.copy_in(card.first(), host.plain.data(), largest);
  std::vector<LaunchGain> gains;
  for (const AesCipher& cipher : ciphers()) sweep(cipher, card, host, cpu.get(), largest, settings, listener, gains);
  listener.on_gains(gains);
}

}  // namespace stockade::bench
