// Many short messages in one transfer each way.
#include <algorithm>
#include <cstring>

#include "base/bytes.h"
#include "base/secret.h"
#include "offload/transfer_slot.h"

namespace stockade::offload {

namespace {

constexpr uint64_t block_bytes = aes::block_bytes;
// Up to this length one warp seals a message as fast as it needs to, and a launch does them all; longer ones have the whole
// device, one after the other.
constexpr uint64_t longest_batched = uint64_t{32} << 10;

bool is_batched(const PackedMessage& message) { return message.gcm != nullptr && message.length <= longest_batched; }

uint64_t round_up(uint64_t bytes) { return (bytes + block_bytes - 1) & ~(block_bytes - 1); }

}  // namespace

// Where the parts of a message lie, in the buffers for both ways alike.
struct TransferSlot::PackPlace {
  uint64_t data, aad, tag;
  uint64_t refused;    // a word that `open` leaves
  uint64_t described;  // what batches are told of the message
};

// A pack is the messages' own bytes one behind the other, then what describes those that make up a batch, then a word for
// each of these.
struct TransferSlot::PackLayout {
  uint64_t count = 0, body = 0, batched = 0;

  uint64_t described() const { return body; }
  uint64_t refused() const { return round_up(described() + batched * sizeof(gcm::GpuBatchMessage)); }
  uint64_t total() const { return round_up(refused() + batched * sizeof(uint32_t)); }

  static uint64_t body_of(const PackedMessage& message) {
    const uint64_t data = round_up(message.length);
    if (message.gcm == nullptr) return data;
    return data + round_up(message.aad_length) + block_bytes + (is_batched(message) ? 0 : block_bytes);
  }

  // As many of the messages as `limit` bytes have room for.
  PackLayout(const PackedMessage* messages, uint64_t available, uint64_t limit) {
    for (; count < available; ++count) {
      const PackedMessage& message = messages[count];
      PackLayout longer = *this;
      // Neither sum can wrap.
      if (message.length > limit || message.aad_length > limit) return;
      longer.body += body_of(message);
      longer.batched += is_batched(message);
      if (longer.total() > limit) return;
      body = longer.body;
      batched = longer.batched;
    }
  }

  // Calls visit(message, place) for each until one returns a status that is not OK.
  template <typename Visit>
  Status walk(const PackedMessage* messages, Visit&& visit) const {
    uint64_t at = 0, batch_index = 0;
    Status status = STOCKADE_OK;
    for (uint64_t i = 0; i < count && status == STOCKADE_OK; ++i) {
      const PackedMessage& message = messages[i];
      PackPlace place{at, at + round_up(message.length), 0, 0, 0};
      if (message.gcm != nullptr) {
        place.tag = place.aad + round_up(message.aad_length);
        place.refused = is_batched(message) ? refused() + batch_index * sizeof(uint32_t) : place.tag + block_bytes;
        place.described = described() + batch_index * sizeof(gcm::GpuBatchMessage);
        batch_index += is_batched(message);
      }
      at += body_of(message);
      status = visit(message, place);
    }
    return status;
  }
};

Status TransferSlot::pack(stockade_direction direction, const PackedMessage* messages, uint64_t count, uint64_t* done) {
  *done = 0;
  const PackLayout layout(messages, count, run_bytes_);
  if (layout.count == 0) return STOCKADE_OK;
  gpu::Runtime& runtime = *backend_.runtime;
  void* const stream = stream_.handle();
  const gpu::OnDevice here(runtime, device_);
  if (here.status() != STOCKADE_OK) return here.status();
  device_used_.add(layout.total(), layout.total());
  host_used_.add(layout.total(), layout.total());
  gather_pack(direction, messages, layout);
  Status status = runtime.copy_in(device_, stream, device_in_.data(), in_.data(), layout.total());
  if (status == STOCKADE_OK) status = launch_pack(direction, messages, layout);
  if (status == STOCKADE_OK) {
    status = runtime.copy_out(device_, stream, out_.data(), device_out_.data(), layout.total());
  }
  const Status waited = runtime.wait(device_, stream);
  if (status == STOCKADE_OK) status = waited;
  if (status != STOCKADE_OK) return status;
  scatter_pack(direction, messages, layout);
  *done = layout.count;
  return STOCKADE_OK;
}

void TransferSlot::gather_pack(stockade_direction direction, const PackedMessage* messages, const PackLayout& layout) {
  layout.walk(messages, [&](const PackedMessage& message, const PackPlace& place) {
    uint8_t* const to = in_.data();
    if (message.length != 0) std::memcpy(to + place.data, message.in, message.length);
    if (message.gcm == nullptr) return STOCKADE_OK;
    if (message.aad_length != 0) std::memcpy(to + place.aad, message.aad, message.aad_length);
    if (direction == STOCKADE_DECRYPT) std::memcpy(to + place.tag, message.tag, message.tag_length);
    if (!is_batched(message)) return STOCKADE_OK;
    Secret<gcm::GpuBatchMessage> described;
    gcm::describe_message(*message.gcm, message.iv, message.iv_length, device_message(direction, message, place),
                          *described);
    std::memcpy(to + place.described, &*described, sizeof *described);
    return STOCKADE_OK;
  });
}

gcm::GpuMessage TransferSlot::device_message(stockade_direction direction, const PackedMessage& message,
                                             const PackPlace& place) const {
  const bool opens = direction == STOCKADE_DECRYPT;
  return {device_in_.data() + place.data,
          device_out_.data() + place.data,
          message.length,
          device_in_.data() + place.aad,
          message.aad_length,
          (opens ? device_in_.data() : device_out_.data()) + place.tag,
          static_cast<uint32_t>(message.tag_length)};
}

Status TransferSlot::launch_pack(stockade_direction direction, const PackedMessage* messages,
                                 const PackLayout& layout) {
  Secret<DeviceKey> key;
  // What lies between the parts is copied out as well, and is to be nobody's secret; and a message that no kernel has judged
  // is refused.
  Status status = backend_.runtime->fill(device_, stream_.handle(), device_out_.data(), 0xFF, layout.total());
  if (status != STOCKADE_OK) return status;
  status = layout.walk(messages, [&](const PackedMessage& message, const PackPlace& place) {
    if (is_batched(message) || (message.gcm == nullptr && message.length == 0)) return STOCKADE_OK;
    if (message.gcm != nullptr) {
      if (key->gcm != message.gcm) make_device_key(*message.gcm, *key);
      return launch_packed_gcm(*key, direction, message, place);
    }
    if (key->aes != message.aes) make_device_key(*message.aes, *key);
    return launch_packed(*key, direction, message, place);
  });
  if (status != STOCKADE_OK || layout.batched == 0) return status;
  const gcm::GpuShapes shapes = gcm::default_shapes(32, facts_.capability);
  const auto* const described = reinterpret_cast<const gcm::GpuBatchMessage*>(device_in_.data() + layout.described());
  if (direction == STOCKADE_ENCRYPT) return backend_.gcm->seal_batch(queue(), shapes, described, layout.batched);
  auto* const refused = reinterpret_cast<uint32_t*>(device_out_.data() + layout.refused());
  return backend_.gcm->open_batch(queue(), shapes, described, layout.batched, refused);
}

Status TransferSlot::launch_packed(const DeviceKey& key, stockade_direction direction, const PackedMessage& message,
                                   const PackPlace& place) {
  const uint8_t* const in = device_in_.data() + place.data;
  uint8_t* const out = device_out_.data() + place.data;
  if (message.aes->mode != STOCKADE_XTS) return transform(key, direction, message.iv, in, out, message.length);
  if (unit_workspace(message.length, message.length) > workspace_.size()) return STOCKADE_ERROR_DEVICE_MEMORY;
  return transform_units(key, direction, message.iv, message.length, in, out, message.length);
}

Status TransferSlot::launch_packed_gcm(const DeviceKey& key, stockade_direction direction, const PackedMessage& message,
                                       const PackPlace& place) {
  const gcm::GpuShapes shapes = gcm::default_shapes(message.gcm->bits / 8, facts_.capability);
  Secret<gcm::MessageStart> start;
  gcm::start_message(*message.gcm, message.iv, message.iv_length, *start);
  const gcm::GpuMessage described = device_message(direction, message, place);
  if (direction == STOCKADE_ENCRYPT) {
    return backend_.gcm->seal(queue(), shapes, key.gcm_key, *start, described, workspace_.data());
  }
  auto* const refused = reinterpret_cast<uint32_t*>(device_out_.data() + place.refused);
  return backend_.gcm->open(queue(), shapes, key.gcm_key, *start, described, refused, workspace_.data());
}

void TransferSlot::scatter_pack(stockade_direction direction, const PackedMessage* messages, const PackLayout& layout) {
  layout.walk(messages, [&](const PackedMessage& message, const PackPlace& place) {
    const uint8_t* const from = out_.data();
    uint32_t refused = 0;
    if (message.gcm != nullptr && direction == STOCKADE_DECRYPT) {
      std::memcpy(&refused, from + place.refused, sizeof refused);
    }
    if (refused != 0) {
      wipe(message.out, message.length);
    } else if (message.length != 0) {
      std::memcpy(message.out, from + place.data, message.length);
    }
    if (message.gcm != nullptr && direction == STOCKADE_ENCRYPT) {
      std::memcpy(message.tag, from + place.tag, message.tag_length);
    }
    *message.status = refused != 0 ? STOCKADE_ERROR_AUTHENTICATION : STOCKADE_OK;
    return STOCKADE_OK;
  });
}

}  // namespace stockade::offload
