#include "cpu/machine.h"

#include <sched.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace stockade::cpu {

namespace {

// A short text of the system's. Nothing here allocates: the first to ask may be short of memory.
struct Text {
  char bytes[64] = {};
  std::string_view view() const { return bytes; }
};

#if defined(__x86_64__)
// The brand string of CPUID leaves 0x80000002 to 0x80000004, empty where the processor has none.
Text processor_name() {
  uint32_t words[12];
  Text text;
  static_assert(sizeof words < sizeof text.bytes);
  for (uint32_t i = 0; i < 3; ++i) {
    uint32_t* w = words + 4 * i;
    if (__get_cpuid(0x80000002U + i, &w[0], &w[1], &w[2], &w[3]) == 0) return text;
  }
  std::memcpy(text.bytes, words, sizeof words);
  return text;
}
#else
Text processor_name() { return {}; }
#endif

void set_name(Machine& machine) {
  const Text text = processor_name();
  std::string_view name = text.view();
  name.remove_prefix(std::min(name.find_first_not_of(' '), name.size()));
  name.remove_suffix(name.size() - (name.find_last_not_of(' ') + 1));
  utsname system;
  if (name.empty() && uname(&system) == 0) name = system.machine;
  if (name.empty()) name = "unknown";
  const size_t length = std::min(name.size(), sizeof machine.name - 1);
  std::memcpy(machine.name, name.data(), length);
  machine.name[length] = '\0';
}

uint32_t usable_cores() {
  // The kernel refuses a set smaller than its own; a machine may have more processors than cpu_set_t holds.
  for (int capacity = 1024; capacity <= 1 << 20; capacity *= 2) {
    cpu_set_t* set = CPU_ALLOC(capacity);
    if (set == nullptr) break;
    const size_t size = CPU_ALLOC_SIZE(capacity);
    CPU_ZERO_S(size, set);
    const int count = sched_getaffinity(0, size, set) == 0 ? CPU_COUNT_S(size, set) : 0;
    CPU_FREE(set);
    if (count > 0) return static_cast<uint32_t>(count);
  }
  return static_cast<uint32_t>(std::max(1L, sysconf(_SC_NPROCESSORS_ONLN)));
}

// The first line of one attribute of a cache of processor 0, empty if there is no such file.
Text cache_attribute(int index, const char* attribute) {
  char path[96];
  std::snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu0/cache/index%d/%s", index, attribute);
  Text line;
  std::FILE* file = std::fopen(path, "re");
  if (file == nullptr) return line;
  const bool read = std::fgets(line.bytes, sizeof line.bytes, file) != nullptr;
  std::fclose(file);
  line.bytes[read ? std::strcspn(line.bytes, "\n") : 0] = '\0';
  return line;
}

// "48K", "2048K", "105M"; 0 if it is none of these.
uint64_t parse_size(const Text& text) {
  char* end;
  const uint64_t number = std::strtoull(text.bytes, &end, 10);
  switch (*end) {
    case '\0':
      return number;
    case 'K':
      return number << 10;
    case 'M':
      return number << 20;
    case 'G':
      return number << 30;
    default:
      return 0;
  }
}

uint64_t configured_size(int name) { return static_cast<uint64_t>(std::max(0L, sysconf(name))); }

void set_caches(Machine& machine) {
  for (int index = 0;; ++index) {
    const Text type = cache_attribute(index, "type");
    if (type.view().empty()) break;
    if (type.view() == "Instruction") continue;
    const Text level = cache_attribute(index, "level");
    const uint64_t size = parse_size(cache_attribute(index, "size"));
    if (level.view() == "1") machine.l1d = size;
    if (level.view() == "2") machine.l2 = size;
    if (level.view() == "3") machine.l3 = size;
  }
#if defined(_SC_LEVEL1_DCACHE_SIZE)
  if (machine.l1d == 0) machine.l1d = configured_size(_SC_LEVEL1_DCACHE_SIZE);
  if (machine.l2 == 0) machine.l2 = configured_size(_SC_LEVEL2_CACHE_SIZE);
  if (machine.l3 == 0) machine.l3 = configured_size(_SC_LEVEL3_CACHE_SIZE);
#endif
}

Machine probe() {
  Machine found{};
  set_name(found);
  found.cores = usable_cores();
  set_caches(found);
  return found;
}

}  // namespace

const Machine& machine() {
  static const Machine found = probe();
  return found;
}

}  // namespace stockade::cpu
