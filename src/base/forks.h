// Whether an object was made by this process or by one that it was forked from: what must not go on in both of them asks.
#pragma once

#include <cstdint>

namespace stockade {

// A number that differs from that of every process this one descends from, however it was made: by fork(), _Fork() or clone()
// with memory of its own. It costs no system call. (A child of vfork() shares its parent's memory, and so its number.)
uint64_t process_number() noexcept;

}  // namespace stockade
