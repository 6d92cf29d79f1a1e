#include "cipher/device.h"

#include <algorithm>

#include "base/bytes.h"
#include "base/secret.h"
#include "cipher/check.h"
#include "cipher/key.h"

namespace stockade::cipher {

namespace {

constexpr uint64_t workspace_alignment = 16;

// The GPU that a call's data lies on, and what a launch there needs to know. UNAVAILABLE, DEVICE, DEVICE_POINTER, FORKED.
class Site {
 public:
  // `data` decides; null for none (a message without any).
  Status find(const void* data, void* stream) {
    gpu::Runtime& runtime = *offload::backend().runtime;
    uint32_t devices;
    Status status = runtime.count(devices);
    if (status != STOCKADE_OK) return status;
    gpu::Place place;
    status = runtime.locate(data, place);
    if (status != STOCKADE_OK) return status;
    if (place.side != gpu::Side::device) return STOCKADE_ERROR_DEVICE_POINTER;
    return choose(place.device, stream);
  }

  Status choose(uint32_t device, void* stream) {
    const Status status = offload::backend().runtime->facts(device, facts_);
    if (status != STOCKADE_OK) return status;
    if (facts_.capability < offload::least_capability) return STOCKADE_ERROR_UNAVAILABLE;
    device_ = device;
    queue_ = {stream, facts_.capability, facts_.multiprocessors, facts_.shared_bytes};
    return STOCKADE_OK;
  }

  // Whether further memory lies there too; null and nothing do.
  Status check(const void* data, uint64_t length) const {
    if (data == nullptr || length == 0) return STOCKADE_OK;
    gpu::Place place;
    const Status status = offload::backend().runtime->locate(data, place);
    if (status != STOCKADE_OK) return status;
    return place.side == gpu::Side::device && place.device == device_ ? STOCKADE_OK : STOCKADE_ERROR_DEVICE_POINTER;
  }

  Status check_workspace(const DeviceQueue& queue, uint64_t needed) const {
    if (needed == 0) return STOCKADE_OK;
    if (queue.workspace == nullptr || queue.workspace_size < needed) return STOCKADE_ERROR_OUTPUT_SIZE;
    if (reinterpret_cast<uintptr_t>(queue.workspace) % workspace_alignment != 0) return STOCKADE_ERROR_ARGUMENT;
    return check(queue.workspace, needed);
  }

  uint32_t device() const { return device_; }
  const gpu::Queue& queue() const { return queue_; }
  const char* name() const { return facts_.name; }

 private:
  uint32_t device_ = 0;
  gpu::DeviceFacts facts_{};
  gpu::Queue queue_{};
};

// The kernel's name for what a key does.
aes::GpuOperation operation_of(stockade_mode mode, stockade_direction direction) {
  using Operation = aes::GpuOperation;
  const bool encrypts = direction == STOCKADE_ENCRYPT;
  switch (mode) {
    case STOCKADE_ECB:
      return encrypts ? Operation::ecb_encrypt : Operation::ecb_decrypt;
    case STOCKADE_CBC:
      return Operation::cbc_decrypt;
    case STOCKADE_CFB:
      return Operation::cfb_decrypt;
    case STOCKADE_XTS:
      return encrypts ? Operation::xts_encrypt : Operation::xts_decrypt;
    default:
      return Operation::ctr;
  }
}

bool splits(const CipherKey& key, stockade_direction direction) {
  return key.mode == STOCKADE_GCM || aes::splits(key.mode, direction);
}

// What the profile calls the kernels of a mode.
tune::Operation kernels_operation_of(stockade_mode mode) {
  switch (mode) {
    case STOCKADE_ECB:
      return tune::Operation::gpu_ecb;
    case STOCKADE_CBC:
      return tune::Operation::gpu_cbc;
    case STOCKADE_CFB:
      return tune::Operation::gpu_cfb;
    case STOCKADE_XTS:
      return tune::Operation::gpu_xts;
    default:
      return tune::Operation::gpu_ctr;
  }
}

gpu::Shape shape_for(const Site& site, const CipherKey& key, stockade_direction direction, uint64_t length) {
  const aes::GpuOperation operation = operation_of(key.mode, direction);
  return offload::known_shape(kernels_operation_of(key.mode), key.bits, length, site.name(),
                              aes::default_shape(operation, site.queue().capability, length));
}

// The most that any shape needs which is known for such keys.
uint64_t workspace_on(const Site& site, const CipherKey& key, stockade_direction direction, uint64_t length,
                      uint64_t unit) {
  if (key.mode == STOCKADE_GCM) return offload::backend().gcm->workspace_bytes(site.queue());
  const aes::GpuOperation operation = operation_of(key.mode, direction);
  const gpu::Shape usual = aes::default_shape(operation, site.queue().capability);
  uint64_t most = aes::gpu_workspace_bytes(operation, site.queue(), usual, length, unit);
  for (const tune::Entry& row : tune::find_all(kernels_operation_of(key.mode), key.bits, site.name())) {
    most =
        std::max(most, aes::gpu_workspace_bytes(operation, site.queue(), offload::shape_of(row, usual), length, unit));
  }
  return most;
}

Status launch(const KeyOnDevice& key, stockade_direction direction, const Site& site, const gpu::Shape& shape,
              const uint8_t* iv, uint64_t unit, const uint8_t* in, uint64_t length, uint8_t* out, uint8_t* workspace) {
  const aes::GpuKernels& kernels = *offload::backend().aes;
  const aes::GpuOperation operation = operation_of(key.cipher.mode, direction);
  const gpu::Queue& queue = site.queue();
  const offload::DeviceKey& keys = key.device;
  switch (operation) {
    case aes::GpuOperation::ecb_encrypt:
      return kernels.ecb_encrypt(queue, shape, keys.encrypt, in, out, length);
    case aes::GpuOperation::ecb_decrypt:
      return kernels.ecb_decrypt(queue, shape, keys.decrypt, in, out, length);
    case aes::GpuOperation::cbc_decrypt:
      return kernels.cbc_decrypt(queue, shape, keys.decrypt, iv, in, out, length, workspace);
    case aes::GpuOperation::cfb_decrypt:
      return kernels.cfb_decrypt(queue, shape, keys.encrypt, iv, in, out, length, workspace);
    case aes::GpuOperation::xts_encrypt:
      return kernels.xts_encrypt(queue, shape, keys.encrypt, keys.tweak, iv, unit, in, out, length, workspace);
    case aes::GpuOperation::xts_decrypt:
      return kernels.xts_decrypt(queue, shape, keys.decrypt, keys.tweak, iv, unit, in, out, length, workspace);
    case aes::GpuOperation::ctr:
      return offload::launch_ctr(*keys.aes, queue, site.name(), keys.encrypt, iv, in, out, length);
  }
  return STOCKADE_ERROR_MODE;
}

// Arguments have been checked but for where they lie.
Status crypt_checked(const KeyOnDevice& key, stockade_direction direction, const uint8_t* iv, uint64_t unit,
                     const uint8_t* in, uint64_t length, uint8_t* out, const DeviceQueue& queue) {
  if (!splits(key.cipher, direction)) return STOCKADE_ERROR_MODE;
  if (length == 0) return STOCKADE_OK;
  Site site;
  Status status = site.find(out, queue.stream);
  if (status == STOCKADE_OK) status = site.check(in, length);
  if (status != STOCKADE_OK) return status;
  // What this launch needs: to go through all known shapes takes as long as a short message.
  const gpu::Shape shape = shape_for(site, key.cipher, direction, length);
  const aes::GpuOperation operation = operation_of(key.cipher.mode, direction);
  status = site.check_workspace(queue, aes::gpu_workspace_bytes(operation, site.queue(), shape, length, unit));
  if (status != STOCKADE_OK) return status;
  const gpu::OnDevice here(*offload::backend().runtime, site.device());
  if (here.status() != STOCKADE_OK) return here.status();
  return launch(key, direction, site, shape, iv, unit, in, length, out, queue.workspace);
}

Status check_units(const CipherKey& key, uint64_t iv_length, uint64_t unit, const uint8_t* in, uint64_t length,
                   const uint8_t* out) {
  if (key.mode != STOCKADE_XTS) return STOCKADE_ERROR_MODE;
  if (unit < aes::block_bytes || unit > aes::max_unit_bytes) return STOCKADE_ERROR_ARGUMENT;
  if (const Status status = aes::check_iv(key.mode, iv_length); status != STOCKADE_OK) return status;
  const uint64_t last = length % unit;
  if (length < aes::block_bytes || (last != 0 && last < aes::block_bytes)) return STOCKADE_ERROR_DATA_LENGTH;
  return in != out && ranges_overlap(in, length, out, length) ? STOCKADE_ERROR_OVERLAP : STOCKADE_OK;
}

gcm::GpuMessage described(const DeviceSealed& message) {
  return {message.in,
          message.out,
          message.length,
          message.aad,
          message.aad_length,
          message.tag,
          static_cast<uint32_t>(message.tag_length)};
}

Status check_sealed(const CipherKey& key, stockade_direction direction, const DeviceSealed& message) {
  return check_sealed(key, direction, message.iv, message.iv_length, message.aad, message.aad_length, message.in,
                      message.length, message.out, message.tag, message.tag_length);
}

// What all messages have in common: the tag is always there, so it decides where they lie.
Status check_places(const Site& site, const DeviceSealed& message) {
  Status status = site.check(message.in, message.length);
  if (status == STOCKADE_OK) status = site.check(message.out, message.length);
  if (status == STOCKADE_OK) status = site.check(message.aad, message.aad_length);
  return status == STOCKADE_OK ? site.check(message.tag, message.tag_length) : status;
}

bool is_word(const uint32_t* verdict) { return reinterpret_cast<uintptr_t>(verdict) % sizeof *verdict == 0; }

Status crypt_sealed(const KeyOnDevice& key, stockade_direction direction, const DeviceSealed& message,
                    uint32_t* verdict, const DeviceQueue& queue) {
  Status status = check_sealed(key.cipher, direction, message);
  if (status != STOCKADE_OK) return status;
  if (!is_word(verdict)) return STOCKADE_ERROR_ARGUMENT;
  Site site;
  status = site.find(message.tag, queue.stream);
  if (status == STOCKADE_OK) status = check_places(site, message);
  if (status == STOCKADE_OK) status = site.check(verdict, sizeof *verdict);
  if (status == STOCKADE_OK)
    status = site.check_workspace(queue, offload::backend().gcm->workspace_bytes(site.queue()));
  if (status != STOCKADE_OK) return status;
  const gpu::OnDevice here(*offload::backend().runtime, site.device());
  if (here.status() != STOCKADE_OK) return here.status();
  gcm::GpuShapes shapes = gcm::default_shapes(key.cipher.bits / 8, site.queue().capability, message.length);
  shapes.ctr = offload::known_shape(tune::Operation::gpu_gcm, key.cipher.bits, message.length, site.name(), shapes.ctr);
  Secret<gcm::MessageStart> start;
  gcm::start_message(key.cipher.gcm, message.iv, message.iv_length, *start);
  if (direction == STOCKADE_ENCRYPT) {
    return offload::backend().gcm->seal(site.queue(), shapes, key.device.gcm_key, *start, described(message),
                                        queue.workspace);
  }
  return offload::backend().gcm->open(site.queue(), shapes, key.device.gcm_key, *start, described(message), verdict,
                                      queue.workspace);
}

DeviceSealed sealed_of(const stockade_message& message) {
  return {static_cast<const uint8_t*>(message.iv),
          message.iv_length,
          static_cast<const uint8_t*>(message.aad),
          message.aad_length,
          static_cast<const uint8_t*>(message.in),
          message.length,
          static_cast<uint8_t*>(message.out),
          static_cast<uint8_t*>(message.tag),
          message.tag_length};
}

}  // namespace

Status device_workspace(const CipherKey& key, stockade_direction direction, uint32_t device, uint64_t length,
                        uint64_t unit, uint64_t* size) {
  uint32_t devices;
  if (const Status status = offload::backend().runtime->count(devices); status != STOCKADE_OK) return status;
  if (device >= devices) return STOCKADE_ERROR_ARGUMENT;
  Site site;
  const Status status = site.choose(device, nullptr);
  if (status == STOCKADE_OK) *size = workspace_on(site, key, direction, length, unit == 0 ? length : unit);
  return status;
}

Status device_crypt(const KeyOnDevice& key, stockade_direction direction, const uint8_t* iv, uint64_t iv_length,
                    const uint8_t* in, uint64_t length, uint8_t* out, const DeviceQueue& queue) {
  const Status status = check_message(key.cipher, iv, iv_length, in, length, out);
  return status == STOCKADE_OK ? crypt_checked(key, direction, iv, length, in, length, out, queue) : status;
}

Status device_crypt_units(const KeyOnDevice& key, stockade_direction direction, const uint8_t* iv, uint64_t iv_length,
                          uint64_t unit, const uint8_t* in, uint64_t length, uint8_t* out, const DeviceQueue& queue) {
  const Status status = check_units(key.cipher, iv_length, unit, in, length, out);
  return status == STOCKADE_OK ? crypt_checked(key, direction, iv, unit, in, length, out, queue) : status;
}

Status device_seal(const KeyOnDevice& key, const DeviceSealed& message, const DeviceQueue& queue) {
  return crypt_sealed(key, STOCKADE_ENCRYPT, message, nullptr, queue);
}

Status device_open(const KeyOnDevice& key, const DeviceSealed& message, uint32_t* verdict, const DeviceQueue& queue) {
  return crypt_sealed(key, STOCKADE_DECRYPT, message, verdict, queue);
}

uint64_t device_many_size(uint64_t count) { return count * sizeof(gcm::GpuBatchMessage); }

Status device_crypt_many(stockade_direction direction, stockade_message* messages, uint64_t count, uint32_t* verdicts,
                         uint8_t* staging, uint64_t staging_size, const DeviceQueue& queue) {
  if (count == 0) return STOCKADE_OK;
  if (count > UINT64_MAX / sizeof(gcm::GpuBatchMessage) || staging_size < device_many_size(count)) {
    return STOCKADE_ERROR_OUTPUT_SIZE;
  }
  if (reinterpret_cast<uintptr_t>(staging) % alignof(gcm::GpuBatchMessage) != 0 || !is_word(verdicts)) {
    return STOCKADE_ERROR_ARGUMENT;
  }
  Site site;
  Status status = site.find(messages[0].tag, queue.stream);
  if (status == STOCKADE_OK) status = site.check_workspace(queue, device_many_size(count));
  if (status == STOCKADE_OK) status = site.check(verdicts, count * sizeof *verdicts);
  if (status != STOCKADE_OK) return status;
  for (uint64_t i = 0; i < count; ++i) {
    stockade_message& message = messages[i];
    const CipherKey& key = message.key->cipher;
    const DeviceSealed sealed = sealed_of(message);
    message.status = check_sealed(key, direction, sealed);
    if (message.status == STOCKADE_OK) message.status = check_places(site, sealed);
    if (message.status != STOCKADE_OK && status == STOCKADE_OK) status = message.status;
    if (status != STOCKADE_OK) continue;
    gcm::GpuBatchMessage& place = reinterpret_cast<gcm::GpuBatchMessage*>(staging)[i];
    gcm::describe_message(key.gcm, sealed.iv, sealed.iv_length, described(sealed), place);
  }
  if (status != STOCKADE_OK) return status;
  const gpu::OnDevice here(*offload::backend().runtime, site.device());
  if (here.status() != STOCKADE_OK) return here.status();
  status = offload::backend().runtime->copy_in(site.device(), queue.stream, queue.workspace, staging,
                                               device_many_size(count));
  if (status != STOCKADE_OK) return status;
  const gcm::GpuShapes shapes = gcm::default_shapes(16, site.queue().capability);
  const auto* const batch = reinterpret_cast<const gcm::GpuBatchMessage*>(queue.workspace);
  if (direction == STOCKADE_ENCRYPT) return offload::backend().gcm->seal_batch(site.queue(), shapes, batch, count);
  return offload::backend().gcm->open_batch(site.queue(), shapes, batch, count, verdicts);
}

}  // namespace stockade::cipher
