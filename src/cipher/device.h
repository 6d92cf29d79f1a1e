// Data that lies in a GPU's memory already: stockade_device_ of stockade.h. Everything is put into the caller's stream.
#pragma once

#include <cstdint>

#include "cipher/key.h"
#include "offload/backend.h"
#include "offload/device_key.h"
#include "offload/policy.h"

namespace stockade::cipher {

// stockade_device_queue.
struct DeviceQueue {
  void* stream;
  uint8_t* workspace;
  uint64_t workspace_size;
};

// A key with what kernels take of it.
struct KeyOnDevice {
  const CipherKey& cipher;
  const offload::DeviceKey& device;
};

// `unit` 0: the message is one. UNAVAILABLE, FORKED, DEVICE.
Status device_workspace(const CipherKey& key, stockade_direction direction, uint32_t device, uint64_t length,
                        uint64_t unit, uint64_t* size);

// As the functions of the same names in cipher.h, and OUTPUT_SIZE, UNAVAILABLE, DEVICE, DEVICE_POINTER, FORKED.
Status device_crypt(const KeyOnDevice& key, stockade_direction direction, const uint8_t* iv, uint64_t iv_length,
                    const uint8_t* in, uint64_t length, uint8_t* out, const DeviceQueue& queue);
Status device_crypt_units(const KeyOnDevice& key, stockade_direction direction, const uint8_t* iv, uint64_t iv_length,
                          uint64_t unit, const uint8_t* in, uint64_t length, uint8_t* out, const DeviceQueue& queue);

// One GCM message; sealing writes `tag`, opening reads it and writes `*verdict`.
struct DeviceSealed {
  const uint8_t* iv;
  uint64_t iv_length;
  const uint8_t* aad;
  uint64_t aad_length;
  const uint8_t* in;
  uint64_t length;
  uint8_t* out;
  uint8_t* tag;
  uint64_t tag_length;
};
Status device_seal(const KeyOnDevice& key, const DeviceSealed& message, const DeviceQueue& queue);
Status device_open(const KeyOnDevice& key, const DeviceSealed& message, uint32_t* verdict, const DeviceQueue& queue);

// Bytes of staging and of workspace for so many messages.
uint64_t device_many_size(uint64_t count);
// Messages whose keys are all there and of GCM. Writes each one's status; unless all are OK, nothing is launched. `verdicts` is
// null for sealing.
Status device_crypt_many(stockade_direction direction, stockade_message* messages, uint64_t count, uint32_t* verdicts,
                         uint8_t* staging, uint64_t staging_size, const DeviceQueue& queue);

}  // namespace stockade::cipher
