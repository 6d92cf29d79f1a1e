#include "base/secret.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <new>
#include <utility>
#include <vector>

#include "base/sanitizers.h"

namespace stockade {
namespace {

// What memory holds now, whatever the compiler believes of it.
template <typename T>
const T& as_stored(const T& object) {
  __asm__ __volatile__("" : : "r"(&object) : "memory");
  return object;
}

TEST(Wipe, ZeroesExactlyTheRange) {
  for (size_t length = 0; length <= 130; ++length) {
    std::vector<uint8_t> bytes(length + 2, 0xa5);
    wipe(bytes.data() + 1, length);
    EXPECT_EQ(bytes.front(), 0xa5);
    EXPECT_EQ(bytes.back(), 0xa5);
    EXPECT_EQ(std::count(bytes.begin(), bytes.end(), 0), static_cast<std::ptrdiff_t>(length));
  }
  wipe(nullptr, 0);
}

TEST(Secret, StartsAtZero) {
  const Secret<std::array<uint8_t, 64>> secret;
  EXPECT_EQ(std::count(secret->begin(), secret->end(), 0), 64);
}

TEST(Secret, IsWipedAtTheEndOfItsLife) {
  using Content = std::array<uint8_t, 240>;
  alignas(Secret<Content>) static std::array<uint8_t, sizeof(Secret<Content>)> storage;
  auto* secret = new (storage.data()) Secret<Content>;
  (*secret)->fill(0x5c);
  ASSERT_EQ(std::count(as_stored(storage).begin(), as_stored(storage).end(), 0x5c), 240);
  secret->~Secret<Content>();
  EXPECT_EQ(std::count(as_stored(storage).begin(), as_stored(storage).end(), 0), std::ssize(storage));
}

TEST(SecretBuffer, IsAlignedAndAsLargeAsAsked) {
  for (const size_t size : {size_t{0}, size_t{1}, size_t{63}, size_t{64}, size_t{65}, size_t{4097}}) {
    SecretBuffer buffer(size);
    ASSERT_NE(buffer.data(), nullptr) << size;
    EXPECT_EQ(buffer.size(), size);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(buffer.data()) % 64, 0U) << size;
    std::fill_n(buffer.data(), size, uint8_t{1});
  }
}

TEST(SecretBuffer, StartsEmpty) {
  const SecretBuffer buffer;
  EXPECT_EQ(buffer.data(), nullptr);
  EXPECT_EQ(buffer.size(), 0U);
}

// More than any address space has, and small enough to be rounded up to the alignment.
constexpr size_t impossible = std::numeric_limits<size_t>::max() / 2;

// The sanitizers' allocators end the program where others return null.
constexpr bool allocation_may_fail = !STOCKADE_ADDRESS_SANITIZER && !STOCKADE_THREAD_SANITIZER;

TEST(SecretBuffer, SaysThatMemoryIsShort) {
  if (!allocation_may_fail) GTEST_SKIP() << "a failed allocation ends the program under a sanitizer";
  SecretBuffer buffer(16);
  EXPECT_FALSE(buffer.allocate(impossible));
  EXPECT_EQ(buffer.data(), nullptr);
  EXPECT_EQ(buffer.size(), 0U);
  EXPECT_TRUE(buffer.allocate(16));
}

TEST(SecretBuffer, GrowKeepsTheContent) {
  SecretBuffer buffer;
  ASSERT_TRUE(buffer.grow(10));
  for (uint8_t i = 0; i < 10; ++i) buffer.data()[i] = i;
  for (const size_t size : {size_t{10}, size_t{1000}, size_t{100000}}) {
    ASSERT_TRUE(buffer.grow(size));
    EXPECT_EQ(buffer.size(), size);
    for (uint8_t i = 0; i < 10; ++i) EXPECT_EQ(buffer.data()[i], i);
  }
  ASSERT_TRUE(buffer.grow(4));
  EXPECT_EQ(buffer.size(), 4U);
  for (uint8_t i = 0; i < 4; ++i) EXPECT_EQ(buffer.data()[i], i);
}

TEST(SecretBuffer, GrowThatFailsKeepsTheOldBuffer) {
  if (!allocation_may_fail) GTEST_SKIP() << "a failed allocation ends the program under a sanitizer";
  SecretBuffer buffer(8);
  std::fill_n(buffer.data(), 8, uint8_t{7});
  const uint8_t* before = buffer.data();
  EXPECT_FALSE(buffer.grow(impossible));
  EXPECT_EQ(buffer.data(), before);
  EXPECT_EQ(buffer.size(), 8U);
  EXPECT_EQ(std::count(buffer.data(), buffer.data() + 8, 7), 8);
}

TEST(SecretBuffer, MovesItsMemory) {
  SecretBuffer first(32);
  first.data()[31] = 9;
  const uint8_t* memory = first.data();
  SecretBuffer second(std::move(first));
  EXPECT_EQ(second.data(), memory);
  EXPECT_EQ(second.size(), 32U);
  SecretBuffer third(5);
  third = std::move(second);
  EXPECT_EQ(third.data(), memory);
  EXPECT_EQ(third.data()[31], 9);
  third.release();
  EXPECT_EQ(third.data(), nullptr);
  EXPECT_EQ(third.size(), 0U);
}

TEST(SecretBuffer, MovedFromIsEmpty) {
  SecretBuffer first(32);
  const SecretBuffer second(std::move(first));
  EXPECT_EQ(first.data(), nullptr);  // NOLINT(bugprone-use-after-move,clang-analyzer-cplusplus.Move): the subject
  EXPECT_EQ(first.size(), 0U);
}

TEST(EqualConstantTime, SeesEverySingleBit) {
  for (size_t length = 0; length <= 33; ++length) {
    std::vector<uint8_t> a(length, 0x3c), b(length, 0x3c);
    EXPECT_TRUE(equal_constant_time(a.data(), b.data(), length));
    for (size_t bit = 0; bit < 8 * length; ++bit) {
      b[bit / 8] = static_cast<uint8_t>(b[bit / 8] ^ 1 << bit % 8);
      EXPECT_FALSE(equal_constant_time(a.data(), b.data(), length)) << length << " bytes, bit " << bit;
      b[bit / 8] = a[bit / 8];
    }
  }
}

TEST(EqualConstantTime, DifferencesDoNotCancel) {
  const uint8_t a[2] = {0x0f, 0x0f};
  const uint8_t b[2] = {0xf0, 0xf0};
  EXPECT_FALSE(equal_constant_time(a, b, 2));
}

}  // namespace
}  // namespace stockade
