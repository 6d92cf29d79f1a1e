#include "offload/device_key.h"

#include "base/secret.h"
#include "offload/backend.h"
#include "offload/policy.h"

namespace stockade::offload {

namespace {

// FIPS 197 §5.2: the first words of the schedule are the key.
void expand_for_gpu(aes::RoundKeysFn round_keys, const aes::Schedule& schedule, uint32_t bits, aes::RoundKeys& encrypt,
                    aes::RoundKeys& decrypt) {
  Secret<uint32_t[60]> words;
  round_keys(schedule, *words);
  aes::gpu_expand(reinterpret_cast<const uint8_t*>(*words), bits / 8, encrypt, decrypt);
}

}  // namespace

void make_device_key(const aes::Key& key, DeviceKey& device_key) {
  device_key.aes = &key;
  device_key.gcm = nullptr;
  const aes::RoundKeysFn round_keys = key.variant->kernels->round_keys;
  expand_for_gpu(round_keys, key.data, key.bits, device_key.encrypt, device_key.decrypt);
  if (key.mode != STOCKADE_XTS) return;
  Secret<aes::RoundKeys> unused;
  expand_for_gpu(round_keys, key.tweak, key.bits, device_key.tweak, *unused);
}

void make_device_key(const gcm::Key& key, DeviceKey& device_key) {
  device_key.aes = nullptr;
  device_key.gcm = &key;
  gcm::gpu_prepare(key, device_key.gcm_key);
}

Status launch_ctr(const aes::Key& key, const gpu::Queue& queue, const char* gpu, const aes::RoundKeys& encrypt,
                  const uint8_t counter[16], const uint8_t* in, uint8_t* out, uint64_t length) {
  const aes::GpuCtrFn ctr = backend().aes->*key.gpu_ctr->ctr;
  gpu::Shape shape = key.gpu_ctr->shape(queue.capability, length);
  // The profile was measured with the first variant, which keys have unless another is asked for.
  if (gpu != nullptr && key.gpu_ctr == aes::gpu_ctr_variants().data()) {
    shape = known_shape(tune::Operation::gpu_ctr, key.bits, length, gpu, shape);
  }
  return ctr(queue, shape, encrypt, counter, aes::CounterWidth::bits128, in, out, length, nullptr);
}

}  // namespace stockade::offload
