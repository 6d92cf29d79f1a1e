#include "cpu/features.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <initializer_list>
#include <iterator>
#include <set>
#include <sstream>
#include <string>

#include "cpu/machine.h"

namespace stockade::cpu {
namespace {

constexpr Features all = aesni | clmul | avx2 | vaes | vpclmul | avx512 | adx | ifma;

// Sets or clears STOCKADE_MASK and puts back what was there.
class MaskVariable {
 public:
  explicit MaskVariable(const char* value) {
    const char* before = std::getenv(name);
    had_ = before != nullptr;
    if (had_) before_ = before;
    if (value == nullptr) {
      unsetenv(name);
    } else {
      setenv(name, value, 1);
    }
  }
  ~MaskVariable() {
    if (had_) {
      setenv(name, before_.c_str(), 1);
    } else {
      unsetenv(name);
    }
  }
  MaskVariable(const MaskVariable&) = delete;
  MaskVariable& operator=(const MaskVariable&) = delete;

 private:
  static constexpr const char* name = "STOCKADE_MASK";
  bool had_;
  std::string before_;
};

// The words after "flags" in /proc/cpuinfo: what the kernel found, and left on, by its own reading of CPUID and XCR0.
std::set<std::string> kernel_flags() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (line.rfind("flags", 0) != 0) continue;
    std::istringstream words(line.substr(line.find(':') + 1));
    return {std::istream_iterator<std::string>(words), std::istream_iterator<std::string>()};
  }
  return {};
}

TEST(Features, NamesCoverEachBitOnce) {
  Features seen = none;
  for (const FeatureName& feature : feature_names) {
    EXPECT_EQ(seen & feature.bit, none) << feature.name;
    seen |= feature.bit;
    const Mask mask = parse_mask(feature.name);
    EXPECT_TRUE(mask.valid) << feature.name;
    EXPECT_EQ(mask.hidden, feature.bit) << feature.name;
  }
  EXPECT_EQ(seen, all);
}

TEST(Features, MaskIsAListOfNames) {
  EXPECT_EQ(parse_mask("").hidden, none);
  EXPECT_TRUE(parse_mask("").valid);
  EXPECT_EQ(parse_mask("vaes,avx512").hidden, vaes | avx512);
  EXPECT_TRUE(parse_mask("vaes,avx512").valid);
  EXPECT_EQ(parse_mask("aesni,clmul,avx2,vaes,vpclmul,avx512,adx,ifma").hidden, all);
  EXPECT_EQ(parse_mask("vaes,vaes").hidden, vaes);
}

TEST(Features, MaskWithAnUnknownNameIsInvalid) {
  for (const char* text : {"sse9", "vaes,sse9", "sse9,vaes", "vaes,", ",vaes", ",", "vaes,,avx2", "VAES", " vaes",
                           "vaes avx2", "vaes256", "vae", "avx512f"}) {
    EXPECT_FALSE(parse_mask(text).valid) << '"' << text << '"';
  }
  EXPECT_EQ(parse_mask("sse9,vaes").hidden, vaes) << "a known name counts beside an unknown one";
  EXPECT_EQ(parse_mask("sse9").hidden, none);
}

TEST(Features, EnvironmentHidesWhatIsDetected) {
  {
    const MaskVariable unset(nullptr);
    EXPECT_EQ(environment_mask().hidden, none);
    EXPECT_TRUE(environment_mask().valid);
    EXPECT_EQ(usable(), detected());
  }
  for (const FeatureName& feature : feature_names) {
    const MaskVariable set(feature.name);
    EXPECT_EQ(usable(), detected() & ~feature.bit) << feature.name;
  }
  {
    const MaskVariable set("aesni,clmul,avx2,vaes,vpclmul,avx512,adx,ifma");
    EXPECT_EQ(usable(), none);
    EXPECT_EQ(detected(), detected());
  }
  {
    const MaskVariable set("nothing");
    EXPECT_FALSE(environment_mask().valid);
  }
}

TEST(Features, AgreeWithTheKernel) {
  const std::set<std::string> flags = kernel_flags();
#if !defined(__x86_64__)
  EXPECT_EQ(detected(), none);
#else
  if (flags.empty()) GTEST_SKIP() << "/proc/cpuinfo lists no flags";
  const auto has = [&flags](std::initializer_list<const char*> names) {
    for (const char* name : names) {
      if (flags.count(name) == 0) return false;
    }
    return true;
  };
  EXPECT_EQ((detected() & aesni) != 0, has({"aes", "ssse3", "sse4_1"}));
  EXPECT_EQ((detected() & clmul) != 0, has({"pclmulqdq"}));
  EXPECT_EQ((detected() & avx2) != 0, has({"avx2", "bmi2", "fma"}));
  EXPECT_EQ((detected() & vaes) != 0, has({"avx", "vaes"}));
  EXPECT_EQ((detected() & vpclmul) != 0, has({"avx", "vpclmulqdq"}));
  EXPECT_EQ((detected() & avx512) != 0, has({"avx512f", "avx512bw", "avx512dq", "avx512vl"}));
  EXPECT_EQ((detected() & adx) != 0, has({"adx", "bmi2"}));
  EXPECT_EQ((detected() & ifma) != 0, has({"avx512f", "avx512bw", "avx512dq", "avx512vl", "avx512ifma"}));
#endif
}

TEST(Machine, HasAName) {
  const std::string name = machine().name;
  EXPECT_FALSE(name.empty());
  EXPECT_LT(name.size(), sizeof machine().name);
  EXPECT_NE(name.front(), ' ');
  EXPECT_NE(name.back(), ' ');
}

TEST(Machine, CountsTheCoresOfThisProcess) {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) != 0) GTEST_SKIP() << "more than " << CPU_SETSIZE << " processors";
  EXPECT_EQ(machine().cores, static_cast<uint32_t>(CPU_COUNT(&set)));
}

TEST(Machine, CachesGrowOutwards) {
  const Machine& found = machine();
  EXPECT_TRUE(found.l1d == 0 || found.l2 == 0 || found.l1d < found.l2) << found.l1d << ", " << found.l2;
  EXPECT_TRUE(found.l2 == 0 || found.l3 == 0 || found.l2 < found.l3) << found.l2 << ", " << found.l3;
#if defined(_SC_LEVEL1_DCACHE_SIZE)
  const long configured = sysconf(_SC_LEVEL1_DCACHE_SIZE);
  EXPECT_TRUE(configured <= 0 || found.l1d == static_cast<uint64_t>(configured)) << found.l1d << ", " << configured;
#endif
}

TEST(Machine, IsReadOnce) { EXPECT_EQ(&machine(), &machine()); }

}  // namespace
}  // namespace stockade::cpu
