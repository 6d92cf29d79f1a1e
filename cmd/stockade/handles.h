// The library's handles, freed by themselves.
#pragma once

#include <memory>

#include "stockade/stockade.h"

namespace stockade::cmd {

template <typename T, void (*Free)(T*)>
struct HandleFree {
  void operator()(T* handle) const { Free(handle); }
};

template <typename T, void (*Free)(T*)>
using Handle = std::unique_ptr<T, HandleFree<T, Free>>;

using KeyHandle = Handle<stockade_key, stockade_key_free>;
using EngineHandle = Handle<stockade_engine, stockade_engine_free>;
using KeyringHandle = Handle<stockade_keyring, stockade_keyring_free>;
using FileHandle = Handle<stockade_file, stockade_file_free>;
using ReaderHandle = Handle<stockade_reader, stockade_reader_free>;
using RsaKeyHandle = Handle<stockade_rsa_key, stockade_rsa_key_free>;
using HeaderHandle = Handle<stockade_header, stockade_header_free>;
using SharedJobHandle = Handle<stockade_shared_job, stockade_shared_free>;

}  // namespace stockade::cmd
