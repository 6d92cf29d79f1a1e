// Faults that earlier versions had, for a build of the command with which the crash harness (tests/crash/) shows that it
// would find them. In every other build is_planted() is a constant, and what it guards is not compiled in.
#pragma once

#ifdef STOCKADE_PLANTED_FAULTS
#include <cstdlib>
#include <cstring>
#endif

namespace stockade {

enum class Fault { rekey_trusts_side_file, resume_trusts_output, zeros_are_never_written, identity_by_boot_id };

#ifdef STOCKADE_PLANTED_FAULTS
// The one that the environment variable STOCKADE_PLANTED_FAULT names.
inline bool is_planted(Fault fault) {
  static constexpr const char* names[] = {"rekey_trusts_side_file", "resume_trusts_output", "zeros_are_never_written",
                                          "identity_by_boot_id"};
  const char* const named = std::getenv("STOCKADE_PLANTED_FAULT");
  return named != nullptr && std::strcmp(named, names[static_cast<int>(fault)]) == 0;
}
#else
constexpr bool is_planted(Fault) { return false; }
#endif

}  // namespace stockade
