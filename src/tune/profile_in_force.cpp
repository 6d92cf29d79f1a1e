#include "tune/profile_in_force.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "cpu/features.h"
#include "cpu/machine.h"
#include "tune/fingerprint.h"

namespace stockade::tune {

namespace {

// Larger than any profile with the most rows that a reader takes.
constexpr size_t most_bytes = size_t{1} << 20;

struct InForce {
  Profile user, built_in, gpus;
  const char* problem;
  uint32_t problem_line;
  bool has_user, has_built_in, has_gpus;
  uint64_t gpus_from;
};
// Nothing in it is allocated, and pages that no profile needs are never touched: not by a constructor either, which would
// also wipe what somebody else's static object had asked for before it ran.
constinit InForce kept{};

struct Path {
  char text[4096] = {};
};

// "" where there is none.
Path find_path() {
  Path path;
  const auto put = [&path](const char* folder, const char* below) {
    const int length = std::snprintf(path.text, sizeof path.text, "%s%s/stockade/profiles/%s.profile", folder, below,
                                     fingerprint().text);
    if (length < 0 || static_cast<size_t>(length) >= sizeof path.text) path.text[0] = '\0';
  };
  // A program with rights that its caller lacks does not read what the caller names.
  const char* const named = secure_getenv("STOCKADE_PROFILE");
  const char* const configuration = secure_getenv("XDG_CONFIG_HOME");
  const char* const home = secure_getenv("HOME");
  if (named != nullptr && named[0] != '\0') {
    if (std::strcmp(named, "none") != 0 && std::strlen(named) < sizeof path.text) std::strcpy(path.text, named);
  } else if (configuration != nullptr && configuration[0] == '/') {
    put(configuration, "");
  } else if (home != nullptr && home[0] == '/') {
    put(home, "/.config");
  }
  return path;
}

bool none_wanted() {
  const char* const named = secure_getenv("STOCKADE_PROFILE");
  return named != nullptr && std::strcmp(named, "none") == 0;
}

const char* last_part(const char* path) {
  const char* const slash = std::strrchr(path, '/');
  return slash == nullptr ? path : slash + 1;
}

void set_name(Profile& profile, const char* name) { std::snprintf(profile.name, sizeof profile.name, "%s", name); }

// The whole file, in memory of the caller's; 0 if there is none. `problem` is null unless it is there and cannot be read.
size_t read_file(const char* path, char* text, size_t size, const char*& problem) {
  problem = nullptr;
  // A pipe in its place must not keep the program waiting.
  const int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  struct stat facts;
  if (file < 0) {
    // A service may have the home folder of somebody whose folders it may not enter: nobody knows of a profile there.
    const bool there = errno != ENOENT && errno != ENOTDIR && (errno != EACCES || stat(path, &facts) == 0);
    if (there) problem = "it cannot be opened";
    return 0;
  }
  size_t used = 0;
  if (fstat(file, &facts) != 0 || !S_ISREG(facts.st_mode)) {
    problem = "it is not a file";
  } else if (static_cast<uint64_t>(facts.st_size) > size) {
    problem = "it is too long for a profile";
  } else {
    while (used < size) {
      const ssize_t read_now = read(file, text + used, size - used);
      if (read_now < 0 && errno == EINTR) continue;
      if (read_now < 0) problem = "it cannot be read";
      if (read_now <= 0) break;
      used += static_cast<size_t>(read_now);
    }
    if (used == 0 && problem == nullptr) problem = "it is empty";
  }
  close(file);
  return problem == nullptr ? used : 0;
}

void read_user(InForce& in_force) {
  static char text[most_bytes];
  const std::string_view path = user_path();
  if (path.empty()) return;
  const size_t length = read_file(path.data(), text, sizeof text, in_force.problem);
  if (length == 0) return;
  Fault fault;
  if (!read_profile({text, length}, in_force.user, fault)) {
    in_force.problem = fault.what;
    in_force.problem_line = fault.line;
  } else if (in_force.user.fingerprint[0] == '\0' || std::strcmp(in_force.user.fingerprint, fingerprint().text) != 0) {
    in_force.problem = "it was measured on another machine, or with other cores or instruction sets";
  } else {
    in_force.has_user = true;
    set_name(in_force.user, last_part(path.data()));
  }
}

// Of those that fit, the one that asks for most; among equals the one with the nearest number of cores.
void read_built_in(InForce& in_force) {
  const cpu::Features usable = cpu::usable();
  const auto distance = [](uint32_t cores) {
    const uint32_t own = cpu::machine().cores;
    return cores > own ? cores - own : own - cores;
  };
  const BuiltIn* best = nullptr;
  int best_score = -1;
  uint32_t best_distance = 0;
  Fault fault;
  for (const BuiltIn& entry : built_in()) {
    Profile& head = in_force.built_in;
    // Those about GPUs alone are looked at when there is one.
    if (!read_head(entry.text, head, fault) || head.gpu[0] != '\0') continue;
    if ((head.needs & ~usable) != 0 || (head.lacks & usable) != 0) continue;
    const int score = std::popcount(head.needs);
    const uint32_t off = distance(head.cores);
    if (score < best_score || (score == best_score && off >= best_distance)) continue;
    best = &entry;
    best_score = score;
    best_distance = off;
  }
  in_force.has_built_in = best != nullptr && read_profile(best->text, in_force.built_in, fault);
  if (in_force.has_built_in) set_name(in_force.built_in, best->name);
}

uint64_t gpus_from(const Profile& profile) {
  uint64_t from = UINT64_MAX;
  for (const Entry& row : std::span(profile.entry, profile.entries)) {
    if (row.choice.runner == Runner::cuda || row.choice.runner == Runner::hybrid) from = std::min(from, row.from);
  }
  return from;
}

const InForce& in_force() {
  static const bool read = [] {
    kept.gpus_from = UINT64_MAX;
    if (none_wanted()) return true;
    read_user(kept);
    read_built_in(kept);
    if (kept.has_user) kept.gpus_from = gpus_from(kept.user);
    if (kept.has_built_in) kept.gpus_from = std::min(kept.gpus_from, gpus_from(kept.built_in));
    return true;
  }();
  static_cast<void>(read);
  return kept;
}

// The built-in rows for GPUs of that name: those of the first GPU that anybody asks about.
const Profile* built_in_for(std::string_view gpu) {
  static const bool found = [gpu] {
    if (none_wanted()) return false;
    for (const BuiltIn& entry : built_in()) {
      Fault fault;
      if (!read_head(entry.text, kept.gpus, fault) || kept.gpus.gpu != gpu) continue;
      if (!read_profile(entry.text, kept.gpus, fault)) continue;
      set_name(kept.gpus, entry.name);
      return true;
    }
    return false;
  }();
  return found && kept.gpus.gpu == gpu ? &kept.gpus : nullptr;
}

std::atomic<bool> replaced{false};
std::atomic<const Profile*> replacement{nullptr};

}  // namespace

const Entry* find(Operation operation, uint32_t bits, uint64_t length) {
  if (replaced.load(std::memory_order_acquire)) {
    const Profile* const only = replacement.load(std::memory_order_acquire);
    return only == nullptr ? nullptr : only->find(operation, bits, length);
  }
  const InForce& known = in_force();
  const Entry* const own = known.has_user ? known.user.find(operation, bits, length) : nullptr;
  if (own != nullptr || !known.has_built_in) return own;
  return known.built_in.find(operation, bits, length);
}

namespace {

// The profile that has rows about the operation on such a GPU; null for none.
const Profile* profile_for(Operation operation, uint32_t bits, std::string_view gpu) {
  if (replaced.load(std::memory_order_acquire)) {
    const Profile* const only = replacement.load(std::memory_order_acquire);
    return only == nullptr || only->gpu != gpu ? nullptr : only;
  }
  const InForce& known = in_force();
  if (known.has_user && known.user.gpu == gpu && !known.user.find_all(operation, bits).empty()) return &known.user;
  return built_in_for(gpu);
}

}  // namespace

const Entry* find(Operation operation, uint32_t bits, uint64_t length, std::string_view gpu) {
  const Profile* const profile = profile_for(operation, bits, gpu);
  return profile == nullptr ? nullptr : profile->find(operation, bits, length);
}

std::span<const Entry> find_all(Operation operation, uint32_t bits, std::string_view gpu) {
  const Profile* const profile = profile_for(operation, bits, gpu);
  return profile == nullptr ? std::span<const Entry>() : profile->find_all(operation, bits);
}

uint64_t gpus_from() {
  if (!replaced.load(std::memory_order_acquire)) return in_force().gpus_from;
  const Profile* const only = replacement.load(std::memory_order_acquire);
  return only == nullptr ? UINT64_MAX : gpus_from(*only);
}

const Profile& profile_of(const Entry& row) {
  if (const Profile* const only = replacement.load(std::memory_order_acquire); only != nullptr) return *only;
  for (const Profile* profile : {&kept.user, &kept.gpus}) {
    if (&row >= profile->entry && &row < profile->entry + profile->entries) return *profile;
  }
  return kept.built_in;
}

std::string_view user_path() {
  static const Path path = find_path();
  return path.text;
}

Sources sources() {
  const InForce& known = in_force();
  return {known.has_user ? &known.user : nullptr, known.has_built_in ? &known.built_in : nullptr, known.problem,
          known.problem_line};
}

ScopedProfile::ScopedProfile(const Profile* profile)
    : before_(replacement.load(std::memory_order_acquire)), replaced_before_(replaced.load(std::memory_order_acquire)) {
  replacement.store(profile, std::memory_order_release);
  replaced.store(true, std::memory_order_release);
}

ScopedProfile::~ScopedProfile() {
  replacement.store(before_, std::memory_order_release);
  replaced.store(replaced_before_, std::memory_order_release);
}

}  // namespace stockade::tune
