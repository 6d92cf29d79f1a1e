// The modes of a message, in runs through a transfer slot.
#include <algorithm>
#include <cstring>

#include "base/bytes.h"
#include "base/field128.h"
#include "base/secret.h"
#include "offload/transfer_slot.h"

namespace stockade::offload {

namespace {

constexpr uint64_t block_bytes = aes::block_bytes;

}  // namespace

Status TransferSlot::transform(const DeviceKey& key, stockade_direction direction, const uint8_t chain[16],
                               const uint8_t* in, uint8_t* out, uint64_t length) {
  using Operation = aes::GpuOperation;
  const aes::GpuKernels& kernels = *backend_.aes;
  const bool encrypts = direction == STOCKADE_ENCRYPT;
  switch (key.aes->mode) {
    case STOCKADE_ECB:
      if (encrypts) return kernels.ecb_encrypt(queue(), shape(Operation::ecb_encrypt), key.encrypt, in, out, length);
      return kernels.ecb_decrypt(queue(), shape(Operation::ecb_decrypt), key.decrypt, in, out, length);
    case STOCKADE_CTR:
      return launch_ctr(*key.aes, queue(), nullptr, key.encrypt, chain, in, out, length);
    case STOCKADE_CBC:
      return kernels.cbc_decrypt(queue(), shape(Operation::cbc_decrypt), key.decrypt, chain, in, out, length, nullptr);
    case STOCKADE_CFB:
      return kernels.cfb_decrypt(queue(), shape(Operation::cfb_decrypt), key.encrypt, chain, in, out, length, nullptr);
    case STOCKADE_XTS: {
      // Kernels take the number of a data unit and encrypt it. The tweak of a block within one is the encryption of some
      // number too, and so the range becomes a unit of its own.
      Secret<uint8_t[16]> number;
      key.aes->variant->kernels->ecb_decrypt(key.aes->tweak, chain, *number, 1, aes::Stores::ordinary);
      return transform_units(key, direction, *number, length, in, out, length);
    }
    default:
      return STOCKADE_ERROR_MODE;
  }
}

Status TransferSlot::transform_units(const DeviceKey& key, stockade_direction direction, const uint8_t number[16],
                                     uint64_t unit, const uint8_t* in, uint8_t* out, uint64_t length) {
  const bool encrypts = direction == STOCKADE_ENCRYPT;
  const auto operation = encrypts ? aes::GpuOperation::xts_encrypt : aes::GpuOperation::xts_decrypt;
  const aes::GpuXtsFn xts = encrypts ? backend_.aes->xts_encrypt : backend_.aes->xts_decrypt;
  return xts(queue(), shape(operation), encrypts ? key.encrypt : key.decrypt, key.tweak, number, unit, in, out, length,
             workspace_.data());
}

namespace {

// The chain value behind `length` bytes of ciphertext or whatever else the mode chains by.
void pass_chain(aes::Mode mode, const uint8_t* in, uint64_t length, uint8_t chain[16]) {
  const uint64_t blocks = length / block_bytes;
  if ((mode == STOCKADE_CBC || mode == STOCKADE_CFB) && blocks != 0) {
    std::memcpy(chain, in + (blocks - 1) * block_bytes, block_bytes);
  }
  aes::skip_blocks(mode, chain, blocks);
}

}  // namespace

Status TransferSlot::crypt(const DeviceKey& key, stockade_direction direction, aes::Range& range, bool keeps_input) {
  while (range.length != 0) {
    const uint64_t length = run_length(range.length);
    // Taken before the output may stand where the input did.
    Secret<uint8_t[16]> next;
    std::memcpy(*next, range.chain, block_bytes);
    pass_chain(key.aes->mode, range.in, length, *next);
    const Status status = run({range.in, length, range.out, length, keeps_input}, [&] {
      return transform(key, direction, range.chain, device_in_.data(), device_out_.data(), length);
    });
    if (status != STOCKADE_OK) return status;
    range.in += length;
    range.out += length;
    range.length -= length;
    std::memcpy(range.chain, *next, block_bytes);
  }
  return STOCKADE_OK;
}

namespace {

void pass(UnitRange& range, uint64_t length) {
  range.in += length;
  range.out += length;
  range.length -= length;
  add_le128(range.number, (length + range.unit - 1) / range.unit);
}

}  // namespace

Status TransferSlot::crypt_units(const DeviceKey& key, stockade_direction direction, UnitRange& range,
                                 bool keeps_input) {
  while (range.length != 0) {
    uint64_t length = std::min(range.length, std::max<uint64_t>(run_bytes_ / range.unit, 1) * range.unit);
    if (length > run_bytes_) {
      // A unit of several runs.
      aes::Range one{range.in, range.out, length, {}};
      aes::start_chain(*key.aes, range.number, 0, nullptr, one.chain);
      const Status status = crypt(key, direction, one, keeps_input);
      // A range of units begins with a whole one.
      if (status != STOCKADE_OK && keeps_input) aes::run_range(*key.aes, direction, one, aes::Stores::ordinary);
      wipe(one.chain, sizeof one.chain);
      if (status == STOCKADE_OK || keeps_input) pass(range, length);
      if (status != STOCKADE_OK) return status;
      continue;
    }
    while (length > range.unit && unit_workspace(length, range.unit) > workspace_.size()) {
      length = std::max<uint64_t>(length / range.unit / 2, 1) * range.unit;
    }
    if (unit_workspace(length, range.unit) > workspace_.size()) return STOCKADE_ERROR_DEVICE_MEMORY;
    const Status status = run({range.in, length, range.out, length, keeps_input}, [&] {
      return transform_units(key, direction, range.number, range.unit, device_in_.data(), device_out_.data(), length);
    });
    if (status != STOCKADE_OK) return status;
    pass(range, length);
  }
  return STOCKADE_OK;
}

// ---- GCM ----

// Kernels hash whole messages: with S = (Y ^ L)·H for the hash Y of the data and the block L of the lengths, and a mask of
// zeros, the tag that they give is S. A message that is opened in parts has its ciphertext hashed as associated data, for
// nothing can be verified before all parts are known.
Status TransferSlot::transform_gcm(const DeviceKey& key, stockade_direction direction, const uint8_t j0[16],
                                   uint64_t first_block, uint64_t length) {
  const bool opens = direction == STOCKADE_DECRYPT;
  const gcm::GpuShapes shapes = gcm::default_shapes(key.gcm->bits / 8, facts_.capability);
  const uint8_t* const in = device_in_.data();
  uint8_t* const out = device_out_.data();
  uint8_t* const hash = notes();
  gcm::GpuMessage message{};
  message.tag = hash;
  message.tag_length = block_bytes;
  gcm::MessageStart start{};
  gcm::counter_at(j0, first_block - 1, start.j0);
  if (!opens) {
    message.in = in;
    message.out = out;
    message.length = length;
    return backend_.gcm->seal(queue(), shapes, key.gcm_key, start, message, workspace_.data());
  }
  message.aad = in;
  message.aad_length = length;
  const Status status = backend_.gcm->seal(queue(), shapes, key.gcm_key, start, message, workspace_.data());
  if (status != STOCKADE_OK) return status;
  uint8_t counter[block_bytes];
  gcm::counter_at(j0, first_block, counter);
  return backend_.aes->ctr(queue(), shapes.ctr, key.gcm_key.encrypt, counter, aes::CounterWidth::bits32, in, out,
                           length, nullptr);
}

Status TransferSlot::crypt(const DeviceKey& key, stockade_direction direction, const uint8_t j0[16], GcmRange& range,
                           bool keeps_input) {
  const Field128 inverse = gcm::field_of(key.gcm_key.hash.inverse);
  while (range.length != 0) {
    const uint64_t length = run_length(range.length);
    const Status status = run({range.in, length, range.out, length, keeps_input},
                              [&] { return transform_gcm(key, direction, j0, range.first_block, length); });
    if (status != STOCKADE_OK) return status;
    // Y = S / H ^ L.
    Secret<uint8_t[16]> part;
    store_gcm(*part, multiply(load_gcm(notes()), inverse));
    uint8_t lengths[block_bytes] = {};
    store_be64(lengths + (direction == STOCKADE_DECRYPT ? 0 : 8), 8 * length);
    xor_bytes(*part, *part, lengths, block_bytes);
    const uint64_t blocks = (length + block_bytes - 1) / block_bytes;
    gcm::append_hash(*key.gcm, range.y, *part, blocks);
    range.in += length;
    range.out += length;
    range.length -= length;
    range.first_block += blocks;
  }
  return STOCKADE_OK;
}

}  // namespace stockade::offload
