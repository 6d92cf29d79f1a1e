#include "gpu_task.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "aes/aes_bitslice_launch.h"
#include "capi/handles.h"
#include "offload/backend.h"
#include "offload/device_key.h"

namespace stockade::bench {
namespace {

constexpr uint64_t tag_bytes = 16, nonce_bytes = 12;
constexpr uint64_t chunk_bytes = STOCKADE_CHUNK_BYTES, sealed_chunk_bytes = STOCKADE_SEALED_CHUNK_BYTES;
constexpr uint64_t max_gcm_bytes = (uint64_t{1} << 36) - 32;
// What no output is by chance.
constexpr uint8_t noise = 0xEE;

}  // namespace

std::string GpuOperation::name() const {
  if (cipher.mode == STOCKADE_GCM) return direction == STOCKADE_ENCRYPT ? "seal" : "open";
  return direction == STOCKADE_ENCRYPT ? "encrypt" : "decrypt";
}

std::string GpuOperation::form_text() const {
  switch (form) {
    case GpuForm::in_place:
      return "in place";
    case GpuForm::bitsliced:
      return "bitsliced";
    case GpuForm::chunks:
      return "chunks";
    case GpuForm::out_of_place:
      break;
  }
  return {};
}

std::string unfit(const GpuOperation& operation, uint64_t size) {
  const stockade_mode mode = operation.cipher.mode;
  if ((mode == STOCKADE_ECB || mode == STOCKADE_CBC) && size % 16 != 0) return "not a multiple of 16 bytes";
  if (mode == STOCKADE_XTS && (size < 16 || (size > xts_unit && size % xts_unit != 0 && size % xts_unit < 16))) {
    return "a data unit of less than 16 bytes";
  }
  if (mode == STOCKADE_GCM && operation.form != GpuForm::chunks && size > max_gcm_bytes) return "too long for GCM";
  return {};
}

GpuTask::GpuTask(const GpuOperation& operation, Card& card, HostData& host, const stockade_engine* cpu)
    : operation_(operation),
      card_(card),
      host_(host),
      cpu_(cpu),
      key_(make_cipher_key(operation.cipher, host.key)),
      in_(opens() || operation.form == GpuForm::in_place ? card.second() : card.first()),
      out_(opens() ? card.first() : card.second()) {}

void GpuTask::prepare(uint64_t size) {
  size_ = size;
  uint64_t workspace = 0;
  check(stockade_device_workspace(key_.get(), operation_.direction, card_.device(), size,
                                  cut_into_units() ? xts_unit : 0, &workspace),
        "the size of a workspace");
  queue_ = card_.queue(workspace);
  compute_on_cpu();
  verify();
}

void GpuTask::launch() {
  // Called against a clock: nothing is put together where nothing has failed.
  if (const stockade_status status = launch_once(); status != STOCKADE_OK) {
    const std::string what = operation_.cipher.name + " " + operation_.name() + " " + operation_.form_text();
    check(status, what.c_str());
  }
}

// host.expected: the ciphertext, of which opening starts, or what decryption makes of the plain bytes.
void GpuTask::compute_on_cpu() {
  const uint64_t iv_length = iv_bytes(operation_.cipher);
  const uint8_t* const in = host_.plain.data();
  uint8_t* const out = host_.expected.data();
  if (chunks()) return seal_chunks_on_cpu();
  if (gcm()) {
    return check(stockade_seal(key_.get(), host_.iv, iv_length, nullptr, 0, in, size_, out, host_.tag, tag_bytes, cpu_),
                 "stockade_seal");
  }
  if (cut_into_units()) {
    const auto call = encrypts() ? stockade_encrypt_units : stockade_decrypt_units;
    return check(call(key_.get(), host_.iv, iv_length, xts_unit, in, size_, out, cpu_), "units on the CPU");
  }
  const auto call = encrypts() ? stockade_encrypt : stockade_decrypt;
  check(call(key_.get(), host_.iv, iv_length, in, size_, out, cpu_), "a message on the CPU");
}

// C2SP chunked encryption: the nonce of chunk k is base XOR k, and the tag follows the chunk.
void GpuTask::seal_chunks_on_cpu() {
  const uint64_t count = chunk_count();
  std::vector<stockade_message> messages(count);
  std::vector<uint8_t> nonces(nonce_bytes * count);
  for (uint64_t k = 0; k < count; ++k) {
    uint8_t* const nonce = nonces.data() + nonce_bytes * k;
    std::copy_n(host_.iv, nonce_bytes, nonce);
    for (uint32_t byte = 0; byte < 8; ++byte) nonce[11 - byte] ^= static_cast<uint8_t>(k >> 8 * byte);
    stockade_message& message = messages[k];
    message.key = key_.get();
    message.iv = nonce;
    message.iv_length = nonce_bytes;
    message.in = host_.plain.data() + k * chunk_bytes;
    message.length = std::min(chunk_bytes, size_ - k * chunk_bytes);
    message.out = host_.expected.data() + k * sealed_chunk_bytes;
    message.tag = host_.expected.data() + k * sealed_chunk_bytes + message.length;
    message.tag_length = tag_bytes;
  }
  check(stockade_encrypt_many(messages.data(), count, cpu_), "stockade_encrypt_many");
}

void GpuTask::verify() {
  const bool seals = gcm() && encrypts() && !chunks();
  card_.fill(out_, noise, result_bytes());
  card_.fill(card_.verdicts(), noise, sizeof(uint32_t) * (chunks() ? chunk_count() : 1));
  if (in_ == card_.second()) card_.copy_in(in_, opens() ? host_.expected.data() : host_.plain.data(), sealed_bytes());
  if (gcm() && !chunks()) card_.copy_in(card_.tag(), host_.tag, tag_bytes);
  if (seals) card_.fill(card_.tag(), noise, tag_bytes);
  launch();
  card_.wait();
  const uint8_t* const expected = opens() ? host_.plain.data() : host_.expected.data();
  const bool right = card_.equals(out_, expected, result_bytes()) &&
                     (!seals || card_.equals(card_.tag(), host_.tag, tag_bytes)) && (!opens() || authentic());
  if (right) return;
  throw Mismatch("GPU " + std::to_string(card_.device()) + " and the CPU give different bytes for " +
                 operation_.cipher.name + " " + operation_.name() + " " + operation_.form_text() + ", " +
                 std::to_string(size_) + " bytes");
}

bool GpuTask::authentic() {
  std::vector<uint32_t> verdicts(chunks() ? chunk_count() : 1);
  card_.copy_out(verdicts.data(), card_.verdicts(), verdicts.size() * sizeof verdicts[0]);
  return std::all_of(verdicts.begin(), verdicts.end(), [](uint32_t verdict) { return verdict == 0; });
}

stockade_status GpuTask::launch_once() {
  if (operation_.form == GpuForm::bitsliced) return launch_bitsliced();
  if (chunks()) return launch_chunks();
  return gcm() ? launch_gcm() : launch_cipher();
}

stockade_status GpuTask::launch_cipher() {
  const uint64_t iv_length = iv_bytes(operation_.cipher);
  if (cut_into_units()) {
    const auto call = encrypts() ? stockade_device_encrypt_units : stockade_device_decrypt_units;
    return call(key_.get(), host_.iv, iv_length, xts_unit, in_, size_, out_, &queue_);
  }
  const auto call = encrypts() ? stockade_device_encrypt : stockade_device_decrypt;
  return call(key_.get(), host_.iv, iv_length, in_, size_, out_, &queue_);
}

stockade_status GpuTask::launch_gcm() {
  const uint64_t iv_length = iv_bytes(operation_.cipher);
  if (encrypts()) {
    return stockade_device_seal(key_.get(), host_.iv, iv_length, nullptr, 0, in_, size_, out_, card_.tag(), tag_bytes,
                                &queue_);
  }
  return stockade_device_open(key_.get(), host_.iv, iv_length, nullptr, 0, in_, size_, out_, card_.tag(), tag_bytes,
                              card_.verdicts(), &queue_);
}

stockade_status GpuTask::launch_chunks() {
  const offload::DeviceKey* const keys = key_->device_key();
  if (keys == nullptr) return STOCKADE_ERROR_MEMORY;
  const gpu::OnDevice here(*offload::backend().runtime, card_.device());
  if (here.status() != STOCKADE_OK) return here.status();
  const gpu::Queue queue = card_.launch_queue();
  const uint64_t count = chunk_count();
  gcm::GpuChunks chunks = {
      in_, out_, 0, count, static_cast<uint32_t>(size_ - (count - 1) * chunk_bytes), {}, card_.verdicts()};
  std::copy_n(host_.iv, nonce_bytes, chunks.base_nonce);
  const auto call = encrypts() ? offload::backend().gcm->seal_chunks : offload::backend().gcm->open_chunks;
  return call(queue, gcm::default_shapes(operation_.cipher.bits / 8, queue.capability), keys->gcm_key, chunks);
}

stockade_status GpuTask::launch_bitsliced() {
  const offload::DeviceKey* const keys = key_->device_key();
  if (keys == nullptr) return STOCKADE_ERROR_MEMORY;
  const gpu::OnDevice here(*offload::backend().runtime, card_.device());
  if (here.status() != STOCKADE_OK) return here.status();
  return offload::backend().aes->ctr_bitsliced(card_.launch_queue(), aes::ctr_bitsliced_shape, keys->encrypt, host_.iv,
                                               aes::CounterWidth::bits128, in_, out_, size_, nullptr);
}

}  // namespace stockade::bench
