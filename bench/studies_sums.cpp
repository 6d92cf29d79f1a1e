// S5: additions of numbers of 2048 bits on a GPU and on the CPU. The study gave the GPU up for them, because the copies take far
// longer than the work; whether that is so is to be seen by the side of numbers that lie there already.
#include <algorithm>
#include <cstring>
#include <memory>

#include "aes.h"
#include "bignum/integer.h"
#include "gpu_card.h"
#include "gpu_questions.h"
#include "offload/backend.h"
#include "study_questions.h"

namespace stockade::bench {
namespace {

constexpr uint64_t seed = 0xADD;

struct Numbers {
  explicit Numbers(uint64_t count)
      : a(count * big_sum_bytes), b(count * big_sum_bytes), sums(count * big_sum_bytes), carries(count) {
    fill(a.data(), a.size(), seed);
    fill(b.data(), b.size(), seed + 1);
    // Half of them carry from limb to limb as far as can be.
    for (uint64_t i = 1; i < count; i += 2) std::memset(a.data() + i * big_sum_bytes + 8, 0xFF, big_sum_bytes - 8);
  }
  static const uint64_t* limbs(const Buffer& buffer, uint64_t number = 0) {
    return reinterpret_cast<const uint64_t*>(const_cast<Buffer&>(buffer).data()) + number * big_sum_limbs;
  }

  void add(uint64_t count) {
    for (uint64_t i = 0; i < count; ++i) {
      carries[i] = static_cast<uint32_t>(
          bignum::add(limbs(a, i), limbs(b, i), const_cast<uint64_t*>(limbs(sums, i)), big_sum_limbs));
    }
  }

  Buffer a, b, sums;
  std::vector<uint32_t> carries;
};

// Both numbers and the sum in a GPU's memory and in memory that it copies from and to by itself.
class GpuNumbers {
 public:
  GpuNumbers(const StudySettings& settings, const Numbers& numbers, uint64_t count)
      : add_(settings.big_sums), card_(settings.gpus.devices[0].number, count * (2 * big_sum_bytes)) {
    gpu::Runtime& runtime = *offload::backend().runtime;
    check(pinned_.allocate(runtime, count * 2 * big_sum_bytes), "pinned memory");
    check(carries_.allocate(runtime, card_.device(), count * sizeof(uint32_t)), "GPU memory for carries");
    std::memcpy(pinned_.data(), Numbers::limbs(numbers.a), count * big_sum_bytes);
    std::memcpy(pinned_.data() + count * big_sum_bytes, Numbers::limbs(numbers.b), count * big_sum_bytes);
    all_ = count;
  }

  // Both copies and the sums.
  void whole(uint64_t count) {
    card_.copy_in(a(), pinned_.data(), count * big_sum_bytes);
    card_.copy_in(b(), pinned_.data() + all_ * big_sum_bytes, count * big_sum_bytes);
    launch(count);
    card_.copy_out(out_.data(), card_.second(), count * big_sum_bytes);
  }
  void launch(uint64_t count) {
    const gpu::OnDevice here(*offload::backend().runtime, card_.device());
    check(here.status(), "a GPU");
    check(add_(card_.launch_queue(), reinterpret_cast<const uint64_t*>(a()), reinterpret_cast<const uint64_t*>(b()),
               reinterpret_cast<uint64_t*>(card_.second()), reinterpret_cast<uint32_t*>(carries_.data()), count),
          "a launch");
  }
  void wait() { card_.wait(); }

  void verify(const Numbers& numbers, uint64_t count) {
    check(out_.allocate(*offload::backend().runtime, all_ * big_sum_bytes), "pinned memory");
    std::memset(out_.data(), 0xEE, count * big_sum_bytes);
    whole(count);
    std::vector<uint32_t> carries(count);
    card_.copy_out(carries.data(), carries_.data(), count * sizeof(uint32_t));
    if (std::memcmp(out_.data(), Numbers::limbs(numbers.sums), count * big_sum_bytes) == 0 &&
        std::equal(carries.begin(), carries.end(), numbers.carries.begin())) {
      return;
    }
    throw Mismatch("a GPU and the CPU give different sums of " + std::to_string(count) + " pairs of numbers");
  }

 private:
  uint8_t* a() const { return card_.first(); }
  uint8_t* b() const { return card_.first() + all_ * big_sum_bytes; }

  BigSums add_;
  Card card_;
  gpu::PinnedBuffer pinned_, out_;
  gpu::DeviceBuffer carries_;
  uint64_t all_ = 0;
};

std::string gpu_left_out(const StudySettings& settings, uint64_t count) {
  if (settings.gpus.devices.empty()) return gpu_reason(settings);
  if (settings.big_sums == nullptr) return "not available: built without CUDA";
  const uint64_t bytes = count * 2 * big_sum_bytes;
  return size_that_fits(settings.gpus.devices[0].number, bytes) < bytes ? "not enough memory" : "";
}

Work repeat(std::function<void()> once, std::function<void()> after = {}) {
  return [once = std::move(once), after = std::move(after)](uint64_t iterations) {
    for (; iterations > 0; --iterations) once();
    if (after) after();
  };
}

void measure_count(StudyTable& table, size_t column, const StudySettings& settings) {
  const uint64_t count = table.sizes[column];
  std::string reason = memory_reason(count * 8 * big_sum_bytes);
  if (!reason.empty()) {
    for (StudyLine& line : table.lines) line.cells.push_back(left_out_cell(reason));
    return;
  }
  Numbers numbers(count);
  numbers.add(count);
  std::vector<Work> works = {repeat([&] { numbers.add(count); })};
  std::unique_ptr<GpuNumbers> gpu;
  reason = gpu_left_out(settings, count);
  if (reason.empty()) {
    gpu = std::make_unique<GpuNumbers>(settings, numbers, count);
    gpu->verify(numbers, count);
    works.push_back(repeat([&] { gpu->whole(count); }));
    works.push_back(repeat([&] { gpu->launch(count); }, [&] { gpu->wait(); }));
  }
  const std::vector<Timing> timings = measure(works, settings.schedule);
  for (size_t i = 0; i < table.lines.size(); ++i) {
    table.lines[i].cells.push_back(i < timings.size() ? study_cell(timings[i], settings.schedule.rounds)
                                                      : left_out_cell(reason));
  }
}

}  // namespace

void ask_sums(const StudySettings& settings, const StudyListener& listener) {
  StudyTable table{
      "s5", "sums", "sums of numbers of 2048 bits, by how many are added in a call", "cpu", settings.sum_counts,
      true, {}};
  table.lines = {{"", "add", "cpu", "", 1, 0, {}},
                 {"", "add", "gpu, both copies", "", 0, 0, {}},
                 {"", "add", "gpu, in its memory", "", 0, 0, {}}};
  for (size_t column = 0; column < table.sizes.size(); ++column) {
    listener.on_point("s5: " + std::to_string(table.sizes[column]) + " additions");
    measure_count(table, column, settings);
  }
  compare_with_yardstick(table);
  listener.on_table(table);
}

}  // namespace stockade::bench
