// The kernel of big sums in the emulator, against the library's addition.
#include <gtest/gtest.h>

#include <vector>

#include "bench/big_sums_kernel.h"
#include "bench/runner.h"
#include "bignum/integer.h"
#include "gpu/emulator.h"

namespace stockade::bench {
namespace {

struct Sums {
  std::vector<uint64_t> out;
  std::vector<uint32_t> carries;
};

Sums add_emulated(const std::vector<uint64_t>& a, const std::vector<uint64_t>& b, uint32_t multiprocessors = 2) {
  const uint64_t count = a.size() / big_sum_limbs;
  Sums sums{std::vector<uint64_t>(a.size(), 0xEE), std::vector<uint32_t>(count, 7)};
  const gpu::Queue queue{nullptr, 90, multiprocessors, 0};
  EXPECT_EQ(launch_big_sums(gpu::EmulatedLauncher{3}, queue,
                            BigSumKernel{a.data(), b.data(), sums.out.data(), sums.carries.data(), count}),
            STOCKADE_OK);
  return sums;
}

void expect_sums(const std::vector<uint64_t>& a, const std::vector<uint64_t>& b, const Sums& sums) {
  std::vector<uint64_t> expected(big_sum_limbs);
  for (size_t i = 0; i < sums.carries.size(); ++i) {
    const uint64_t carry = bignum::add(&a[i * big_sum_limbs], &b[i * big_sum_limbs], expected.data(), big_sum_limbs);
    EXPECT_EQ(sums.carries[i], carry) << i;
    EXPECT_TRUE(
        std::equal(expected.begin(), expected.end(), sums.out.begin() + static_cast<ptrdiff_t>(i * big_sum_limbs)))
        << i;
  }
}

std::vector<uint64_t> numbers(size_t count, uint64_t seed) {
  std::vector<uint64_t> limbs(count * big_sum_limbs);
  fill(reinterpret_cast<uint8_t*>(limbs.data()), limbs.size() * 8, seed);
  return limbs;
}

TEST(BigSums, of_random_numbers) {
  // More numbers than warps, and fewer than those of a thread block.
  for (const size_t count : {size_t{1}, size_t{7}, size_t{8}, size_t{9}, size_t{300}}) {
    const auto a = numbers(count, 2 * count), b = numbers(count, 2 * count + 1);
    expect_sums(a, b, add_emulated(a, b));
  }
}

// Limbs of ones, zeros and what lies beside them, so that carries begin, pass and end at every limb.
TEST(BigSums, carries_go_through_every_limb) {
  constexpr uint64_t values[] = {0, 1, ~uint64_t{0}, ~uint64_t{0} - 1, uint64_t{1} << 63, (uint64_t{1} << 63) - 1};
  const size_t count = 400;
  auto a = numbers(count, 5), b = numbers(count, 6);
  for (auto* side : {&a, &b}) {
    for (uint64_t& limb : *side) limb = values[limb % std::size(values)];
  }
  // All the way from the first limb to beyond the last, and to each limb between.
  for (size_t i = 0; i < big_sum_limbs; ++i) {
    for (size_t l = 0; l < big_sum_limbs; ++l) {
      a[i * big_sum_limbs + l] = ~uint64_t{0};
      b[i * big_sum_limbs + l] = l == i ? 1 : 0;
    }
  }
  const Sums sums = add_emulated(a, b, 1);
  expect_sums(a, b, sums);
  for (size_t i = 0; i < big_sum_limbs; ++i) EXPECT_EQ(sums.carries[i], 1U) << i;
}

TEST(BigSums, of_none) {
  const Sums sums = add_emulated({}, {});
  EXPECT_TRUE(sums.out.empty());
}

}  // namespace
}  // namespace stockade::bench
