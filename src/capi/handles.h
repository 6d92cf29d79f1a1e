// The handles of stockade.h that functions of several files take.
#pragma once

#include "cipher/key.h"
#include "config/environment.h"

struct stockade_engine {
  stockade::config::EngineChoice wish;
};
