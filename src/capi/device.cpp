// stockade.h, data in a GPU's memory: the checks that every call begins with. Where memory lies is checked in cipher/device.
#include "cipher/device.h"

#include "capi/arguments.h"
#include "cipher/key.h"
#include "cipher/many.h"
#include "stockade/stockade.h"

namespace {

using namespace stockade::capi;  // NOLINT(google-build-using-namespace): this folder's own
using stockade::Status;
using stockade::cipher::DeviceQueue;
using stockade::cipher::DeviceSealed;
using stockade::cipher::KeyOnDevice;

// Calls body(key, queue) with what the handles hold. NULL_POINTER, ARGUMENT, MEMORY.
template <typename Body>
Status with(const stockade_key* key, const stockade_device_queue* queue, Body&& body) {
  if (key == nullptr || queue == nullptr) return STOCKADE_ERROR_NULL_POINTER;
  if (queue->struct_size != sizeof *queue) return STOCKADE_ERROR_ARGUMENT;
  if (missing(queue->workspace, queue->workspace_size)) return STOCKADE_ERROR_NULL_POINTER;
  const stockade::offload::DeviceKey* const device_key = key->device_key();
  if (device_key == nullptr) return STOCKADE_ERROR_MEMORY;
  return guarded([&] {
    return body(KeyOnDevice{key->cipher, *device_key},
                DeviceQueue{queue->stream, bytes(queue->workspace), queue->workspace_size});
  });
}

Status crypt(stockade_direction direction, const stockade_key* key, const void* iv, uint64_t iv_length, const void* in,
             uint64_t length, void* out, const stockade_device_queue* queue) {
  if (missing(iv, iv_length) || missing(in, length) || missing(out, length)) return STOCKADE_ERROR_NULL_POINTER;
  return with(key, queue, [&](const KeyOnDevice& keys, const DeviceQueue& where) {
    return device_crypt(keys, direction, bytes(iv), iv_length, bytes(in), length, bytes(out), where);
  });
}

Status crypt_units(stockade_direction direction, const stockade_key* key, const void* iv, uint64_t iv_length,
                   uint64_t unit, const void* in, uint64_t length, void* out, const stockade_device_queue* queue) {
  if (missing(iv, iv_length) || missing(in, length) || missing(out, length)) return STOCKADE_ERROR_NULL_POINTER;
  return with(key, queue, [&](const KeyOnDevice& keys, const DeviceQueue& where) {
    return device_crypt_units(keys, direction, bytes(iv), iv_length, unit, bytes(in), length, bytes(out), where);
  });
}

// A message of which the tag is never absent.
bool incomplete(const DeviceSealed& message) {
  return missing(message.iv, message.iv_length) || missing(message.aad, message.aad_length) ||
         missing(message.in, message.length) || missing(message.out, message.length) || message.tag == nullptr;
}

// Null pointers, and keys of other modes.
Status check_many(stockade_message* messages, uint64_t count) {
  Status first = STOCKADE_OK;
  for (uint64_t i = 0; i < count; ++i) {
    stockade_message& message = messages[i];
    const bool null = message.key == nullptr || missing(message.iv, message.iv_length) ||
                      missing(message.aad, message.aad_length) || missing(message.in, message.length) ||
                      missing(message.out, message.length) || message.tag == nullptr;
    message.status = null                                       ? STOCKADE_ERROR_NULL_POINTER
                     : message.key->cipher.mode != STOCKADE_GCM ? STOCKADE_ERROR_MODE
                                                                : STOCKADE_OK;
    if (first == STOCKADE_OK) first = message.status;
  }
  return first;
}

Status crypt_many(stockade_direction direction, stockade_message* messages, uint64_t count, uint32_t* verdicts,
                  void* staging, uint64_t staging_size, const stockade_device_queue* queue) {
  if (queue == nullptr || missing(messages, count) || missing(staging, staging_size))
    return STOCKADE_ERROR_NULL_POINTER;
  if (queue->struct_size != sizeof *queue) return STOCKADE_ERROR_ARGUMENT;
  if (impossible(count, sizeof *messages)) return STOCKADE_ERROR_ARGUMENT;
  if (missing(queue->workspace, queue->workspace_size)) return STOCKADE_ERROR_NULL_POINTER;
  if (direction == STOCKADE_DECRYPT && missing(verdicts, count)) return STOCKADE_ERROR_NULL_POINTER;
  if (const Status status = check_many(messages, count); status != STOCKADE_OK) return status;
  return guarded([&] {
    return stockade::cipher::device_crypt_many(
        direction, messages, count, verdicts, bytes(staging), staging_size,
        DeviceQueue{queue->stream, bytes(queue->workspace), queue->workspace_size});
  });
}

}  // namespace

extern "C" {

stockade_status stockade_device_workspace(const stockade_key* key, stockade_direction direction, uint32_t device,
                                          uint64_t length, uint64_t unit, uint64_t* size) {
  if (key == nullptr || size == nullptr) return STOCKADE_ERROR_NULL_POINTER;
  if (!valid(direction)) return STOCKADE_ERROR_ARGUMENT;
  return guarded(
      [&] { return stockade::cipher::device_workspace(key->cipher, direction, device, length, unit, size); });
}

stockade_status stockade_device_encrypt(const stockade_key* key, const void* iv, uint64_t iv_length, const void* in,
                                        uint64_t length, void* out, const stockade_device_queue* queue) {
  return crypt(STOCKADE_ENCRYPT, key, iv, iv_length, in, length, out, queue);
}

stockade_status stockade_device_decrypt(const stockade_key* key, const void* iv, uint64_t iv_length, const void* in,
                                        uint64_t length, void* out, const stockade_device_queue* queue) {
  return crypt(STOCKADE_DECRYPT, key, iv, iv_length, in, length, out, queue);
}

stockade_status stockade_device_encrypt_units(const stockade_key* key, const void* iv, uint64_t iv_length,
                                              uint64_t unit, const void* in, uint64_t length, void* out,
                                              const stockade_device_queue* queue) {
  return crypt_units(STOCKADE_ENCRYPT, key, iv, iv_length, unit, in, length, out, queue);
}

stockade_status stockade_device_decrypt_units(const stockade_key* key, const void* iv, uint64_t iv_length,
                                              uint64_t unit, const void* in, uint64_t length, void* out,
                                              const stockade_device_queue* queue) {
  return crypt_units(STOCKADE_DECRYPT, key, iv, iv_length, unit, in, length, out, queue);
}

stockade_status stockade_device_seal(const stockade_key* key, const void* iv, uint64_t iv_length, const void* aad,
                                     uint64_t aad_length, const void* in, uint64_t length, void* out, void* tag,
                                     uint64_t tag_length, const stockade_device_queue* queue) {
  const DeviceSealed message = {bytes(iv), iv_length,  bytes(aad), aad_length, bytes(in),
                                length,    bytes(out), bytes(tag), tag_length};
  if (incomplete(message)) return STOCKADE_ERROR_NULL_POINTER;
  return with(key, queue,
              [&](const KeyOnDevice& keys, const DeviceQueue& where) { return device_seal(keys, message, where); });
}

stockade_status stockade_device_open(const stockade_key* key, const void* iv, uint64_t iv_length, const void* aad,
                                     uint64_t aad_length, const void* in, uint64_t length, void* out, const void* tag,
                                     uint64_t tag_length, uint32_t* verdict, const stockade_device_queue* queue) {
  const DeviceSealed message = {bytes(iv), iv_length, bytes(aad), aad_length,
                                bytes(in), length,    bytes(out), bytes(const_cast<void*>(tag)),
                                tag_length};
  if (incomplete(message) || verdict == nullptr) return STOCKADE_ERROR_NULL_POINTER;
  return with(key, queue, [&](const KeyOnDevice& keys, const DeviceQueue& where) {
    return device_open(keys, message, verdict, where);
  });
}

uint64_t stockade_device_many_size(uint64_t count) { return stockade::cipher::device_many_size(count); }

stockade_status stockade_device_seal_many(stockade_message* messages, uint64_t count, void* staging,
                                          uint64_t staging_size, const stockade_device_queue* queue) {
  return crypt_many(STOCKADE_ENCRYPT, messages, count, nullptr, staging, staging_size, queue);
}

stockade_status stockade_device_open_many(stockade_message* messages, uint64_t count, uint32_t* verdicts, void* staging,
                                          uint64_t staging_size, const stockade_device_queue* queue) {
  return crypt_many(STOCKADE_DECRYPT, messages, count, verdicts, staging, staging_size, queue);
}

}  // extern "C"
