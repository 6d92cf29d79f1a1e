// Owners for the handles of stockade.h.
#pragma once

#include <memory>

#include "stockade/stockade.h"

namespace stockade::bench {

template <auto free_handle>
struct Free {
  template <typename Handle>
  void operator()(Handle* handle) const {
    free_handle(handle);
  }
};

using Key = std::unique_ptr<stockade_key, Free<stockade_key_free>>;
using Engine = std::unique_ptr<stockade_engine, Free<stockade_engine_free>>;
using Keyring = std::unique_ptr<stockade_keyring, Free<stockade_keyring_free>>;
using RsaKey = std::unique_ptr<stockade_rsa_key, Free<stockade_rsa_key_free>>;
using RsaQueue = std::unique_ptr<stockade_rsa_queue, Free<stockade_rsa_queue_free>>;
using File = std::unique_ptr<stockade_file, Free<stockade_file_free>>;

}  // namespace stockade::bench
