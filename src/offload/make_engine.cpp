#include "offload/make_engine.h"

#include <algorithm>

#include "cpu/machine.h"
#include "offload/backend.h"

namespace stockade::offload {

Status make_engine(const char* name, uint32_t threads, config::EngineChoice& engine) {
  const config::Environment& wish = config::environment();
  if (wish.status != STOCKADE_OK) return wish.status;
  if (threads > config::max_threads) return STOCKADE_ERROR_ARGUMENT;
  config::Kind kind = wish.kind;
  if (name != nullptr) {
    if (const Status status = config::parse_kind(name, kind); status != STOCKADE_OK) return status;
  }
  if (config::wants_gpus(kind)) {
    uint64_t usable = 0;
    if (const Status status = usable_devices(wish.devices, usable); status != STOCKADE_OK) return status;
  }
  if (threads == 0) threads = wish.threads;
  if (threads == 0) threads = std::clamp<uint32_t>(cpu::machine().cores, 1, config::max_threads);
  engine = {kind, kind == config::Kind::serial ? 1 : threads, wish.devices};
  return STOCKADE_OK;
}

namespace {

struct Default {
  config::EngineChoice engine;
  Status status;
};

[[gnu::noinline]] Default make_default() {
  Default made{};
  made.status = make_engine(nullptr, 0, made.engine);
  return made;
}

}  // namespace

Status default_engine(const config::EngineChoice** engine) {
  static const Default made = make_default();
  *engine = &made.engine;
  return made.status;
}

}  // namespace stockade::offload
