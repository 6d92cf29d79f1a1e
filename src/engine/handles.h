// The two handles of stockade.h that other handles and messages point to.
#pragma once

#include "engine/cipher.h"
#include "engine/engine.h"

struct stockade_key {
  stockade::engine::CipherKey cipher;
};

struct stockade_engine {
  stockade::engine::Engine wish;
};
