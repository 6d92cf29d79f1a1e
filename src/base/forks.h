// Whether an object was made by this process or by one that it was forked from: what must not go on in both of them asks.
#pragma once

#include <cstdint>

namespace stockade {

// A number that differs from that of every process this one descends from by fork(). It costs no system call. Processes made
// by clone() or vfork() without the C library's handlers have the number of their parent.
uint64_t process_number() noexcept;

}  // namespace stockade
