#include "offload/transfer_slot.h"

#include <algorithm>
#include <cstring>

#include "offload/slot_pool.h"

namespace stockade::offload {

namespace {

constexpr uint64_t block_bytes = aes::block_bytes;
// Runs end at whole cache lines and whole steps of every kernel.
constexpr uint64_t granule_bytes = 16 * block_bytes;
// Behind the room for a run's output: a partial hash, or the verdicts on chunks. The device writes them there by itself:
// a copy of its own would cost as much as one of a hundred kilobytes.
constexpr uint64_t hash_bytes = 64;
constexpr uint64_t sealed_chunk_bytes = gcm::gpu_chunk_bytes + block_bytes;
// The last run has at least this much of a range that needs several, so that XTS finds its last two blocks in it.
constexpr uint64_t least_last_run = 2 * block_bytes;

}  // namespace

uint64_t TransferSlot::note_bytes() const {
  return std::max(hash_bytes, capacity(run_bytes_) / sealed_chunk_bytes * sizeof(uint32_t));
}

TransferSlot::HostRoom TransferSlot::lend() {
  lent_ = true;
  return {in_.data(), out_.data(), capacity(run_bytes_) + host_slack};
}

Status TransferSlot::make(uint64_t run_bytes) {
  if (const Status status = backend_.runtime->facts(device_, facts_); status != STOCKADE_OK) return status;
  if (const Status status = stream_.make(*backend_.runtime, device_); status != STOCKADE_OK) return status;
  Status status = allocate(run_bytes);
  // Idle slots of other sizes may be what is in the way.
  if (is_lack_of_memory(status) && slot_pool().release(device_)) status = allocate(run_bytes);
  while (is_lack_of_memory(status) && run_bytes / 2 >= backend_.least_run) {
    run_bytes /= 2;
    status = allocate(run_bytes);
  }
  return status;
}

Status TransferSlot::allocate(uint64_t run_bytes) {
  gpu::Runtime& runtime = *backend_.runtime;
  workspace_.release();
  device_in_.release();
  device_out_.release();
  run_bytes_ = run_bytes;
  const uint64_t workspace = std::max({backend_.gcm->workspace_bytes(queue()), unit_workspace(run_bytes, run_bytes),
                                       unit_workspace(run_bytes, std::min<uint64_t>(run_bytes, 512)), block_bytes});
  Status status = workspace_.allocate(runtime, device_, workspace);
  if (status == STOCKADE_OK) status = device_in_.allocate(runtime, device_, capacity(run_bytes));
  if (status == STOCKADE_OK) status = device_out_.allocate(runtime, device_, capacity(run_bytes));
  if (status == STOCKADE_OK) status = in_.allocate(runtime, capacity(run_bytes) + host_slack);
  if (status == STOCKADE_OK) status = out_.allocate(runtime, capacity(run_bytes) + host_slack + note_bytes());
  return status;
}

// False if the device does not do it.
bool TransferSlot::wipe_used() {
  if (device_used_.in == 0 && device_used_.out == 0 && !lent_) return true;
  gpu::Runtime& runtime = *backend_.runtime;
  Status status = runtime.fill(device_, stream_.handle(), device_in_.data(), 0, device_used_.in);
  if (status == STOCKADE_OK) status = runtime.fill(device_, stream_.handle(), device_out_.data(), 0, device_used_.out);
  if (status == STOCKADE_OK) {
    status = runtime.fill(device_, stream_.handle(), workspace_.data(), 0, workspace_.size());
  }
  // The host's side meanwhile.
  wipe(in_.data(), lent_ ? in_.size() : host_used_.in);
  wipe(out_.data(), lent_ ? out_.size() : host_used_.out);
  wipe(notes(), note_bytes());
  device_used_ = host_used_ = {};
  lent_ = false;
  const Status waited = runtime.wait(device_, stream_.handle());
  return status == STOCKADE_OK && waited == STOCKADE_OK;
}

gpu::Queue TransferSlot::queue() const {
  return {stream_.handle(), facts_.capability, facts_.multiprocessors, facts_.shared_bytes};
}

gpu::Shape TransferSlot::shape(aes::GpuOperation operation) const {
  return aes::default_shape(operation, facts_.capability);
}

uint64_t TransferSlot::unit_workspace(uint64_t length, uint64_t unit) const {
  uint64_t most = 0;
  for (const auto operation : {aes::GpuOperation::xts_encrypt, aes::GpuOperation::xts_decrypt}) {
    most = std::max(most, aes::gpu_workspace_bytes(operation, queue(), shape(operation), length, unit));
  }
  return most;
}

// How much of `length` the next run does.
uint64_t TransferSlot::run_length(uint64_t length) const {
  if (length <= run_bytes_) return length;
  return length - run_bytes_ < least_last_run ? run_bytes_ - granule_bytes : run_bytes_;
}

// Whether the device can copy from or to that memory by itself: the slot's own, or the caller's.
bool TransferSlot::direct(const void* memory, uint64_t length) const {
  if (memory == nullptr || length == 0) return false;
  const auto* const bytes = static_cast<const uint8_t*>(memory);
  const auto own = [bytes](const gpu::PinnedBuffer& buffer) {
    return bytes >= buffer.data() && bytes < buffer.data() + buffer.size();
  };
  return own(in_) || own(out_) || gpu::is_pinned(*backend_.runtime, memory, length);
}

Status TransferSlot::copy_in(Copy& copy) {
  device_used_.add(copy.length, copy.out_length);
  copy.direct_in = direct(copy.in, copy.length);
  copy.direct_out = !(copy.keeps_input && copy.in == copy.out) && direct(copy.out, copy.out_length);
  host_used_.add(copy.direct_in ? 0 : copy.length, copy.direct_out ? 0 : copy.out_length);
  if (copy.length == 0) return STOCKADE_OK;
  if (!copy.direct_in) std::memcpy(in_.data(), copy.in, copy.length);
  return backend_.runtime->copy_in(device_, stream_.handle(), device_in_.data(), copy.direct_in ? copy.in : in_.data(),
                                   copy.length);
}

// The caller's output is written when all has gone well, or by the device itself where nobody needs the input any more.
Status TransferSlot::copy_out(const Copy& copy, Status status) {
  gpu::Runtime& runtime = *backend_.runtime;
  const bool comes_out = copy.out != nullptr && copy.out_length != 0;
  if (status == STOCKADE_OK && comes_out) {
    status = runtime.copy_out(device_, stream_.handle(), copy.direct_out ? copy.out : out_.data(), device_out_.data(),
                              copy.out_length);
  }
  // After a failure too: nothing may be on its way to memory that the caller takes back.
  const Status waited = runtime.wait(device_, stream_.handle());
  if (status == STOCKADE_OK) status = waited;
  if (status == STOCKADE_OK && comes_out && !copy.direct_out) std::memcpy(copy.out, out_.data(), copy.out_length);
  return status;
}

}  // namespace stockade::offload
