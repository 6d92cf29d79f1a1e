// The tuning profile in force: the user's, which `stockade tune` writes, and what is built in for classes of machines.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "tune/profile.h"

namespace stockade::tune {

// Under this length a message is no work for more than one thread on any machine: waking another takes longer. No profile is
// asked, and short messages cost no look-up.
inline constexpr uint64_t least_split = uint64_t{16} << 10;

// A profile that comes with the library.
struct BuiltIn {
  const char* name;
  const char* text;
};
std::span<const BuiltIn> built_in();

// What to do where no profile knows better: a worker for each 32 KiB, which takes a core as long as it takes to wake another.
// The backoff sees to it that this costs nothing where waking takes longer. An operation of RSA is converted to bytes of the same cost.
inline constexpr Choice fall_back{.runner = Runner::threads, .workers = all_workers, .share = uint64_t{32} << 10};

// The row of the user's profile, else of the built-in one that this machine is nearest to; null: neither has any. Read once,
// by whoever asks first. Allocates nothing, and never fails.
const Entry* find(Operation operation, uint32_t bits, uint64_t length);
// The same for a GPU of that name.
const Entry* find(Operation operation, uint32_t bits, uint64_t length, std::string_view gpu);
// All rows for such a GPU, of whichever profile `find` looks into.
std::span<const Entry> find_all(Operation operation, uint32_t bits, std::string_view gpu);
// The shortest message in host memory that any row gives to GPUs; UINT64_MAX: none does.
uint64_t gpus_from();

// The profile that a row is from.
const Profile& profile_of(const Entry& row);

// Where the user's profile is, or would be: STOCKADE_PROFILE, else below XDG_CONFIG_HOME or ~/.config. Empty: there is no
// place for one, or STOCKADE_PROFILE is "none" (then nothing built in is used either).
std::string_view user_path();

// For people: what was found.
struct Sources {
  const Profile* user;      // null: none, or ignored
  const Profile* built_in;  // null: none for this class of machine
  const char* problem;      // why the user's was ignored; null if it was not
  uint32_t problem_line;    // 0: the whole
};
Sources sources();

// For tests and measurements: all plans made while this lives ask that profile alone; null: none at all. No job may be running
// when it begins or ends.
class ScopedProfile {
 public:
  explicit ScopedProfile(const Profile* profile);
  ScopedProfile(const ScopedProfile&) = delete;
  ScopedProfile& operator=(const ScopedProfile&) = delete;
  ~ScopedProfile();

 private:
  const Profile* const before_;
  const bool replaced_before_;
};

}  // namespace stockade::tune
