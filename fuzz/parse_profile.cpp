// Any bytes as a profile: what the reader accepts has rows in order whose choices are read back as they are written, and a row
// is found for any operation, size of key and length without looking outside them; what it refuses it refuses with a reason,
// and leaves no row behind.
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string_view>

#include "tune/profile.h"

namespace {

using namespace stockade;
using namespace stockade::tune;

void require(bool condition) {
  if (!condition) std::abort();
}

bool in_order(const Entry& a, const Entry& b) {
  if (a.operation != b.operation) return a.operation < b.operation;
  if (a.bits != b.bits) return a.bits < b.bits;
  return a.from < b.from;
}

void look_up(const Profile& profile) {
  for (uint32_t i = 0; i < operations; ++i) {
    for (const uint32_t bits : {0U, 128U, 192U, 256U, 2048U, UINT32_MAX}) {
      for (const uint64_t length : {uint64_t{0}, uint64_t{64}, uint64_t{1} << 20, UINT64_MAX}) {
        const Entry* const row = profile.find(static_cast<Operation>(i), bits, length);
        if (row == nullptr) continue;
        require(row >= profile.entry && row < profile.entry + profile.entries);
        require(row->from <= length);
      }
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const auto profile = std::make_unique<Profile>();
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  Fault fault;
  if (!read_profile(text, *profile, fault)) {
    require(fault.what != nullptr && profile->entries == 0);
    look_up(*profile);
    return 0;
  }
  require(profile->entries <= Profile::most_entries && profile->groups <= Profile::most_groups);
  for (uint32_t i = 0; i < profile->entries; ++i) {
    const Entry& row = profile->entry[i];
    require(i == 0 || in_order(profile->entry[i - 1], row));
    char written[512];
    write_choice(row.choice, written, sizeof written);
    Choice again;
    require(std::strlen(written) + 1 < sizeof written && read_choice(written, again, fault) && again == row.choice);
  }
  look_up(*profile);
  // The same words in the head alone.
  require(read_head(text, *profile, fault) && profile->entries == 0);
  return 0;
}
