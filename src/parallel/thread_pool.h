// Threads that wait for work, and the calling thread with as many of them as it wants.
//
// Why not OpenMP: its runtime ends threads that the next team does not need and starts them again for the one after, so that a
// process whose messages differ in length paid more for threads than for ciphers (docs/benchmarks.md, "Threads of our own, and
// OpenMP's"). It waits for members that have not even begun, and it ends the process where no thread can be started.
#pragma once

#include <cstdint>

namespace stockade::parallel {

// Part `member` of the work; 0 is the calling thread's. Others may not come, so no part may be one that only they can do.
using PoolWork = void (*)(void* context, uint32_t member);

// Calls `work` on this thread, and with other numbers up to `workers` - 1 on threads that take part as they come; returns when
// those that have come have returned. Threads are started when they are first needed, sleep when they are not, and belong to
// the process; callers at the same time each have their own. Fewer take part where none can be started, and none inside of
// another team's work or in a child of a process that has had a team. What `work` throws ends the process.
void run_on_pool(uint32_t workers, PoolWork work, void* context) noexcept;

// Whether this thread can have a team at all: not inside of another's work, nor in a child of a process that has had one.
bool can_use_pool() noexcept;

// How long a thread that has nothing to do stays awake for what comes next, in nanoseconds.
inline constexpr int64_t pool_patience = 200'000;

}  // namespace stockade::parallel
