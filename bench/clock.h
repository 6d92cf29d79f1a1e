// How fast the core runs just now.
#pragma once

namespace stockade::bench {

// Cycles per second of the core clock, taken from a chain of dependent additions, one per cycle, against
// CLOCK_MONOTONIC. (The time-stamp counter ticks at a fixed rate whatever the core does.) Takes about 60 microseconds.
// 0 where the processor's additions are not known to take one cycle.
double core_hertz();

}  // namespace stockade::bench
