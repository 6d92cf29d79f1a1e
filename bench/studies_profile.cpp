// S3: where the time of a message goes that a GPU encrypts, copy by copy; and counter mode without the copy in, for which the GPU
// makes the key stream and the CPU adds it.
#include <algorithm>
#include <array>
#include <cstring>

#include "aes.h"
#include "base/bytes.h"
#include "gpu_card.h"
#include "gpu_questions.h"
#include "offload/backend.h"
#include "study_questions.h"

namespace stockade::bench {
namespace {

enum Stage : size_t { copy_in, kernel, copy_out, exclusive_or, total, stage_count };
constexpr std::array<const char*, stage_count> stage_names = {"copy in", "kernel", "copy out", "xor", "total"};

struct Way {
  AesCipher cipher;
  const char* name;
  bool key_stream;  // the GPU reads zeros that it has, and the CPU adds what comes back to the message

  bool has(size_t stage) const { return stage != (key_stream ? copy_in : exclusive_or); }
};

constexpr char input_copied[] = "ctr, input copied";
const std::array<Way, 3>& ways() {
  static const std::array<Way, 3> all = {{{{"aes-128-ecb", STOCKADE_ECB, 128}, "ecb", false},
                                          {{"aes-128-ctr", STOCKADE_CTR, 128}, input_copied, false},
                                          {{"aes-128-ctr", STOCKADE_CTR, 128}, "ctr, key stream", true}}};
  return all;
}

class Profile {
 public:
  Profile(const Way& way, Card& card, HostData& host, gpu::PinnedBuffer& in, gpu::PinnedBuffer& out)
      : way_(way), card_(card), host_(host), in_(in), out_(out), key_(make_cipher_key(way.cipher, host.key)) {}

  // Seconds of each stage.
  std::array<double, stage_count> run(uint64_t size) {
    std::array<double, stage_count> seconds{};
    const auto timed = [&seconds](Stage stage, auto&& work) {
      const double start = clock_seconds();
      work();
      seconds[stage] = clock_seconds() - start;
      seconds[total] += seconds[stage];
    };
    if (!way_.key_stream) timed(copy_in, [&] { card_.copy_in(card_.first(), in_.data(), size); });
    timed(kernel, [&] {
      check(stockade_device_encrypt(key_.get(), host_.iv, iv_bytes(way_.cipher), card_.first(), size, card_.second(),
                                    &queue_),
            "stockade_device_encrypt");
      card_.wait();
    });
    timed(copy_out, [&] { card_.copy_out(out_.data(), card_.second(), size); });
    if (way_.key_stream) timed(exclusive_or, [&] { xor_bytes(out_.data(), out_.data(), in_.data(), size); });
    return seconds;
  }

  void prepare(uint64_t size, const stockade_engine* cpu) {
    uint64_t workspace = 0;
    check(stockade_device_workspace(key_.get(), STOCKADE_ENCRYPT, card_.device(), size, 0, &workspace), "a workspace");
    queue_ = card_.queue(workspace);
    if (way_.key_stream) card_.fill(card_.first(), 0, size);
    check(stockade_encrypt(key_.get(), host_.iv, iv_bytes(way_.cipher), host_.plain.data(), size, host_.expected.data(),
                           cpu),
          "a message on the CPU");
    std::memset(out_.data(), 0xEE, size);
    run(size);
    if (std::memcmp(out_.data(), host_.expected.data(), size) == 0) return;
    throw Mismatch(std::string(way_.name) + ": a GPU and the CPU give different bytes for " + std::to_string(size) +
                   " bytes");
  }

 private:
  const Way& way_;
  Card& card_;
  HostData& host_;
  gpu::PinnedBuffer &in_, &out_;
  Key key_;
  stockade_device_queue queue_{};
};

// With a line for each stage.
StudyTable empty_table(const Way& way, const StudySettings& settings, const std::vector<StudyCell>& cells) {
  StudyTable table{"s3",
                   "profile",
                   std::string(way.name) + ": pinned memory to pinned memory, one step after another",
                   way.cipher.mode == STOCKADE_CTR ? input_copied : "",
                   settings.profile_sizes,
                   false,
                   {}};
  for (size_t stage = 0; stage < stage_count; ++stage) {
    if (way.has(stage)) table.lines.push_back({way.cipher.name, "encrypt", way.name, stage_names[stage], 0, 0, cells});
  }
  return table;
}

void tell_there_is_none(const StudySettings& settings, const StudyListener& listener) {
  const std::vector<StudyCell> cells(settings.profile_sizes.size(), left_out_cell(gpu_reason(settings)));
  for (const Way& way : ways()) listener.on_table(empty_table(way, settings, cells));
}

// The largest size that the GPU has room for, and this machine: in ordinary memory twice, and in pinned memory.
uint64_t largest_size(const StudySettings& settings) {
  uint64_t largest = 16;
  for (const uint64_t size : settings.profile_sizes) {
    const bool fits = size_that_fits(settings.gpus.devices[0].number, size) == size;
    if (fits && memory_reason(4 * size).empty()) largest = std::max(largest, size);
  }
  return largest;
}

// One cell for each line of the table.
void measure_size(StudyTable& table, const Way& way, Profile& profile, uint64_t size, const stockade_engine* cpu,
                  uint32_t rounds) {
  profile.prepare(size, cpu);
  std::array<std::vector<double>, stage_count> seconds;
  for (uint32_t round = 0; round < rounds; ++round) {
    const auto times = profile.run(size);
    for (size_t stage = 0; stage < stage_count; ++stage) seconds[stage].push_back(times[stage]);
  }
  auto line = table.lines.begin();
  for (size_t stage = 0; stage < stage_count; ++stage) {
    if (way.has(stage)) (line++)->cells.push_back(study_cell(seconds[stage]));
  }
}

// To the way with the input copied.
void compare(StudyTable& table, const StudyTable& with_copy) {
  StudyTable both = with_copy;
  both.lines.insert(both.lines.end(), table.lines.begin(), table.lines.end());
  compare_with_yardstick(both);
  std::copy(both.lines.begin() + static_cast<ptrdiff_t>(with_copy.lines.size()), both.lines.end(), table.lines.begin());
}

}  // namespace

void ask_profile(const StudySettings& settings, const StudyListener& listener) {
  if (settings.gpus.devices.empty()) return tell_there_is_none(settings, listener);
  const uint64_t largest = largest_size(settings);
  HostData host(largest);
  Card card(settings.gpus.devices[0].number, largest);
  gpu::PinnedBuffer in, out;
  check(in.allocate(*offload::backend().runtime, largest), "pinned memory");
  check(out.allocate(*offload::backend().runtime, largest), "pinned memory");
  std::memcpy(in.data(), host.plain.data(), largest);
  const Engine cpu = make_engine("auto", settings.threads);
  StudyTable with_copy;
  for (const Way& way : ways()) {
    StudyTable table = empty_table(way, settings, {});
    Profile profile(way, card, host, in, out);
    for (const uint64_t size : table.sizes) {
      listener.on_point(std::string("s3: ") + way.name + ", step by step, " + std::to_string(size) + " bytes");
      if (size <= largest) {
        measure_size(table, way, profile, size, cpu.get(), settings.schedule.rounds);
      } else {
        for (StudyLine& line : table.lines) line.cells.push_back(left_out_cell("not enough memory"));
      }
    }
    if (std::strcmp(way.name, input_copied) == 0) with_copy = table;
    if (!table.yardstick.empty()) compare(table, with_copy);
    listener.on_table(table);
  }
}

}  // namespace stockade::bench
