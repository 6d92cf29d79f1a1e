// Measures every case and prints a table.
//
// usage: stockade_timing [--samples N] [--row NAME] [--case TEXT] [--seed N]
//        TEXT is a part of "operation, classes"
//        stockade_timing --self-test       a planted leak is found, and a constant comparison is not taken for one
// Exit status 1 if the time of a case depends on its class, 77 if no case was chosen: the machine lacks the row.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>

#include "base/secret.h"
#include "timing/leak_test.h"

namespace {

using namespace stockade;

constexpr size_t compared_bytes = 4096;

// As memory must not be compared; not inlined, and with loads that the compiler may not merge.
[[gnu::noinline]] bool equal_until_first_difference(const uint8_t* a, const uint8_t* b, size_t length) {
  for (size_t i = 0; i < length; ++i) {
    if (*const_cast<const volatile uint8_t*>(a + i) != b[i]) return false;
  }
  return true;
}

[[gnu::noinline]] bool equal_in_constant_time(const uint8_t* a, const uint8_t* b, size_t length) {
  return equal_constant_time(a, b, length);
}

// The difference between the classes is a byte near the beginning or near the end.
timing::Operation comparison(bool (*compare)(const uint8_t*, const uint8_t*, size_t), size_t length) {
  using Buffer = std::vector<uint8_t>;
  auto right = std::make_shared<Buffer>(length, 0x3c), buffer = std::make_shared<Buffer>(length);
  Buffer first = *right, second = *right;
  first[length / 2] ^= 1;
  second[length / 2 + 64] ^= 1;
  return {[=](uint32_t which) { timing::pick(which, first.data(), second.data(), buffer->data(), length); },
          [=] {
            volatile bool verdict = compare(right->data(), buffer->data(), length);
            (void)verdict;
          }};
}

int self_test() {
  constexpr uint64_t samples = 20000;
  int failures = 0;
  const auto demand = [&failures](bool condition, const char* what, double t) {
    std::printf("%s: %s, t = %.1f\n", condition ? "ok" : "FAILED", what, t);
    failures += !condition;
  };
  const double leak = timing::measure(comparison(equal_until_first_difference, compared_bytes), samples, 1).largest_t;
  demand(std::abs(leak) > timing::t_limit, "a comparison that ends 64 bytes earlier is found", leak);
  // Chance exceeds the limit in one of some ten thousand runs, and a busy machine may help it: one of three has to pass.
  double constant = 0;
  for (uint64_t seed = 1; seed <= 3; ++seed) {
    constant = timing::measure(comparison(equal_in_constant_time, compared_bytes), samples, seed).largest_t;
    if (std::abs(constant) < timing::t_limit) break;
  }
  demand(std::abs(constant) < timing::t_limit, "a comparison in constant time is not", constant);
  // The arithmetic: means 1 and 2, variance 1/3 · 4 of 400 numbers each (0 and 2, 1 and 3).
  timing::WelchTest known;
  for (int i = 0; i < 400; ++i) {
    known.add(0, i % 2 == 0 ? 0 : 2);
    known.add(1, i % 2 == 0 ? 1 : 3);
  }
  const double expected = -1 / std::sqrt(2 * (400.0 / 399) / 400);
  demand(std::abs(known.t() - expected) < 1e-9, "Welch's t of known numbers", known.t());
  return failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

}  // namespace

int main(int argc, char** argv) {
  uint64_t samples = 1000000, seed = 1;
  std::string row, part;
  for (int i = 1; i < argc; ++i) {
    const std::string option = argv[i];
    if (option == "--self-test" && argc == 2) return self_test();
    if (i + 1 == argc) {
      std::fprintf(stderr, "%s: unknown, or without a value\n", argv[i]);
      return 2;
    }
    const char* value = argv[++i];
    if (option == "--samples") {
      samples = std::strtoull(value, nullptr, 10);
    } else if (option == "--seed") {
      seed = std::strtoull(value, nullptr, 10);
    } else if (option == "--row") {
      row = value;
    } else if (option == "--case") {
      part = value;
    } else {
      std::fprintf(stderr, "%s: unknown option\n", option.c_str());
      return 2;
    }
  }
  if (samples < 10000) {
    std::fprintf(stderr, "--samples: at least 10000\n");
    return 2;
  }
  int measured = 0, leaks = 0;
  std::printf(
      "| operation | row | classes | samples | cycles | difference | t | t of the sample before "
      "|\n|---|---|---|---|---|---|---|---|\n");
  for (const auto& cases : {timing::bignum_cases(), timing::rsa_cases(), timing::gcm_cases()}) {
    for (const timing::Case& item : cases) {
      if (!row.empty() && row != item.row) continue;
      if ((std::string(item.name) + ", " + item.classes).find(part) == std::string::npos) continue;
      const timing::Result result = timing::measure(item.operation, samples, seed);
      std::printf("| %s | `%s` | %s | %llu | %.0f | %.1f | %.2f%s | %.2f |\n", item.name, item.row, item.classes,
                  static_cast<unsigned long long>(result.samples), result.median_cycles, result.difference,
                  result.largest_t,
                  !result.leaks() ? ""
                  : item.decides  ? " **LEAK**"
                                  : " (depends)",
                  result.carried_t);
      std::fflush(stdout);
      ++measured;
      leaks += item.decides && result.leaks();
    }
  }
  if (measured == 0) return 77;
  return leaks == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
