#include "tune/fingerprint.h"

#include <algorithm>
#include <cstdio>

#include "cpu/machine.h"

namespace stockade::tune {

Fingerprint fingerprint_of(std::string_view processor, uint32_t cores, cpu::Features features) {
  Fingerprint made;
  std::snprintf(made.machine, sizeof made.machine, "%.*s, %u core%s",
                static_cast<int>(std::min<size_t>(processor.size(), 64)), processor.data(), cores,
                cores == 1 ? "" : "s");
  // Rows are divided by bars, and profiles have no control characters.
  for (char* c = made.machine; *c != '\0'; ++c) {
    if (*c == '|' || (static_cast<uint8_t>(*c) < 0x20) || *c == 0x7F) *c = ' ';
  }
  char subject[256];
  int used = std::snprintf(subject, sizeof subject, "%s;", made.machine);
  // By name, so that the bits may be numbered otherwise some day.
  for (const cpu::FeatureName& feature : cpu::feature_names) {
    if ((features & feature.bit) == 0) continue;
    used += std::snprintf(subject + used, sizeof subject - static_cast<size_t>(used), " %s", feature.name);
  }
  // FNV-1a: different machines shall have different names of files, nobody is kept from making two that are alike.
  uint64_t hash = 0xCBF29CE484222325;
  for (int i = 0; i < used; ++i) hash = (hash ^ static_cast<uint8_t>(subject[i])) * 0x100000001B3;
  std::snprintf(made.text, sizeof made.text, "%016llx", static_cast<unsigned long long>(hash));
  return made;
}

const Fingerprint& fingerprint() {
  static const Fingerprint made = fingerprint_of(cpu::machine().name, cpu::machine().cores, cpu::usable());
  return made;
}

}  // namespace stockade::tune
