// Engines by name, with the threads and the GPUs that this process may use.
#pragma once

#include <cstdint>

#include "base/status.h"
#include "config/environment.h"

namespace stockade::offload {

// `name` null: STOCKADE_FORCE's, else "auto"; `threads` 0: STOCKADE_THREADS', else the machine's cores. ARGUMENT, UNKNOWN_NAME;
// UNAVAILABLE for `cuda` and `hybrid` where no GPU can be used; FORKED, DEVICE.
Status make_engine(const char* name, uint32_t threads, config::EngineChoice& engine);
// That of make_engine(nullptr, 0), made once.
Status default_engine(const config::EngineChoice** engine);

}  // namespace stockade::offload
