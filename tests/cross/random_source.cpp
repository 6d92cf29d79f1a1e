#include "cross/random_source.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <random>
#include <string>

#include "base/sanitizers.h"

namespace stockade::tests {

namespace {

uint64_t number_from_environment(const char* name, uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr || *text == '\0' ? otherwise : std::strtoull(text, nullptr, 0);
}

constexpr uint64_t usual_scale = STOCKADE_THREAD_SANITIZER ? 10 : STOCKADE_ADDRESS_SANITIZER ? 20 : 100;

std::string running_test() {
  const testing::TestInfo* info = testing::UnitTest::GetInstance()->current_test_info();
  return info == nullptr ? "" : std::string(info->test_suite_name()) + "." + info->name();
}

}  // namespace

uint64_t test_seed() {
  static const uint64_t seed = number_from_environment("STOCKADE_TEST_SEED", std::random_device{}());
  return seed;
}

uint64_t test_scale() {
  static const uint64_t scale = number_from_environment("STOCKADE_TEST_SCALE", usual_scale);
  return scale;
}

uint64_t scaled(uint64_t count) {
  const uint64_t now = count * test_scale() / 100;
  return now == 0 ? 1 : now;
}

RandomSource::RandomSource(std::string_view purpose) : state_(test_seed()) {
  for (const char c : purpose) state_ = (state_ ^ static_cast<uint8_t>(c)) * 0x100000001b3;
}

RandomSource::RandomSource() : RandomSource(running_test()) {}

uint64_t RandomSource::next() {
  // SplitMix64: the state only counts, so every seed has the full period.
  uint64_t z = state_ += 0x9e3779b97f4a7c15;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

void RandomSource::fill(uint8_t* bytes, uint64_t length) {
  for (; length >= 8; bytes += 8, length -= 8) {
    const uint64_t word = next();
    std::memcpy(bytes, &word, 8);
  }
  const uint64_t word = next();
  std::memcpy(bytes, &word, length);
}

Bytes RandomSource::bytes(uint64_t length) {
  Bytes result(length);
  if (length != 0) fill(result.data(), length);
  return result;
}

}  // namespace stockade::tests
