// A stream of one device with its own buffers on both sides, driven by one worker, which copies a run of the data in, has it
// transformed and copies it out again. Several slots of a device overlap those three.
#pragma once

#include <cstdint>

#include "aes/modes.h"
#include "base/secret.h"
#include "offload/backend.h"
#include "offload/device_key.h"

namespace stockade::offload {

// A part of a GCM message, from data block `first_block` on; `y` is the hash so far.
struct GcmRange {
  const uint8_t* in;
  uint8_t* out;
  uint64_t length;
  uint64_t first_block;
  uint8_t y[16];
};

// XTS data units in a row.
struct UnitRange {
  const uint8_t* in;
  uint8_t* out;
  uint64_t length;
  uint64_t unit;
  uint8_t number[16];  // of the first
};

// Chunks of a Cobblestone payload in a row (chunked/payload.h); gcm::GpuChunks in host memory.
struct ChunkRange {
  const uint8_t* in;
  uint8_t* out;  // opening: may be null where only the verdicts are wanted
  uint64_t first, count;
  uint32_t last_length;  // plaintext of the last of them
  const uint8_t* base_nonce;
  uint32_t* refused;  // opening: a word for each chunk, 0 if it is authentic; the plaintext of others is zeros
};

// A message of a pack (TransferSlot::pack).
struct PackedMessage {
  const aes::Key* aes;  // the one of the two that the message has
  const gcm::Key* gcm;
  const uint8_t* in;
  uint8_t* out;
  uint64_t length;
  const uint8_t* iv;  // XTS: the number of the data unit
  uint64_t iv_length;
  const uint8_t* aad;
  uint64_t aad_length;
  uint8_t* tag;
  uint64_t tag_length;
  Status* status;  // written: OK, or AUTHENTICATION, and `out` is all zeros
};

class TransferSlot {
 public:
  // A slot for runs of `run_bytes`, or of half as many and so on down to the backend's least if the device has no memory
  // for that; null for none. DEVICE_MEMORY, MEMORY, DEVICE, UNAVAILABLE, FORKED.
  static Status take(uint32_t device, uint64_t run_bytes, TransferSlot** slot);
  // Wipes what its buffers held of the job and keeps it for the next; with `lost`, or if the device fails meanwhile, the
  // slot is given up.
  static void give_back(TransferSlot* slot, bool lost);
  // Gives up all slots that no job has.
  static void release_idle();

  uint32_t device() const { return device_; }
  uint64_t run_bytes() const { return run_bytes_; }

  // What really fits into one run of that size: as many chunks with their tags as without.
  static constexpr uint64_t capacity(uint64_t run_bytes) { return run_bytes + (run_bytes / 1024 + 63) / 64 * 64; }

  // The slot's own pinned memory on both sides, each of capacity(run_bytes()) and host_slack bytes. Whoever has the slot may
  // keep a run's input and output there, which the device then copies from and to by itself. Wiped with the slot.
  static constexpr uint64_t host_slack = 192;
  struct HostRoom {
    uint8_t *in, *out;
    uint64_t size;
  };
  HostRoom lend();

  // These six do a range of any length in runs, and wait for each. What a run has done is taken off the range (chain, hash
  // and number included), so after a failure the range is what is left, and its input is as it was, even in place. That
  // holds where `keeps_input`; else output that replaces input may be copied over it directly, which is faster.
  // DEVICE, FORKED.
  //
  // aes::run_range for the modes and directions that split.
  Status crypt(const DeviceKey& key, stockade_direction direction, aes::Range& range, bool keeps_input);
  // aes::run_units.
  Status crypt_units(const DeviceKey& key, stockade_direction direction, UnitRange& range, bool keeps_input);
  // gcm::run_range.
  Status crypt(const DeviceKey& key, stockade_direction direction, const uint8_t j0[16], GcmRange& range,
               bool keeps_input);
  // gcm::GpuKernels::seal_chunks and open_chunks; `in` and `out` do not overlap.
  Status seal_chunks(const DeviceKey& key, ChunkRange& range);
  Status open_chunks(const DeviceKey& key, ChunkRange& range);

  // Messages of any keys in one transfer each way: as many from the first on as fit, at least one unless that alone does not
  // fit. Those are `done`; after a failure nothing of them has been written. Their modes must split.
  Status pack(stockade_direction direction, const PackedMessage* messages, uint64_t count, uint64_t* done);

 private:
  struct Copy {
    const uint8_t* in;
    uint64_t length;
    uint8_t* out;  // may be null if nothing of it is wanted
    uint64_t out_length;
    bool keeps_input;
    bool direct_in = false, direct_out = false;  // by the device itself
  };
  friend struct SlotPool;

  TransferSlot(const Backend& backend, uint32_t device) : backend_(backend), device_(device) {}
  Status make(uint64_t run_bytes);
  Status allocate(uint64_t run_bytes);
  bool wipe_used();
  gpu::Queue queue() const;
  gpu::Shape shape(aes::GpuOperation operation) const;
  uint64_t run_length(uint64_t length) const;
  uint8_t* notes() const { return out_.data() + capacity(run_bytes_) + host_slack; }
  uint64_t note_bytes() const;
  bool direct(const void* memory, uint64_t length) const;

  // Copies in, has kernel() queued, copies out, and waits.
  template <typename Kernel>
  Status run(Copy copy, Kernel&& kernel) {
    const gpu::OnDevice here(*backend_.runtime, device_);
    if (here.status() != STOCKADE_OK) return here.status();
    Status status = copy_in(copy);
    if (status == STOCKADE_OK) status = kernel();
    return copy_out(copy, status);
  }
  Status copy_in(Copy& copy);
  Status copy_out(const Copy& copy, Status status);
  Status transform(const DeviceKey& key, stockade_direction direction, const uint8_t chain[16], const uint8_t* in,
                   uint8_t* out, uint64_t length);
  Status transform_units(const DeviceKey& key, stockade_direction direction, const uint8_t number[16], uint64_t unit,
                         const uint8_t* in, uint8_t* out, uint64_t length);
  Status transform_gcm(const DeviceKey& key, stockade_direction direction, const uint8_t j0[16], uint64_t first_block,
                       uint64_t length);
  template <bool opening>
  Status run_chunks(const DeviceKey& key, ChunkRange& range);
  uint64_t unit_workspace(uint64_t length, uint64_t unit) const;
  struct PackPlace;
  struct PackLayout;
  gcm::GpuMessage device_message(stockade_direction direction, const PackedMessage& message,
                                 const PackPlace& place) const;
  void gather_pack(stockade_direction direction, const PackedMessage* messages, const PackLayout& layout);
  Status launch_pack(stockade_direction direction, const PackedMessage* messages, const PackLayout& layout);
  Status launch_packed(const DeviceKey& key, stockade_direction direction, const PackedMessage& message,
                       const PackPlace& place);
  Status launch_packed_gcm(const DeviceKey& key, stockade_direction direction, const PackedMessage& message,
                           const PackPlace& place);
  void scatter_pack(stockade_direction direction, const PackedMessage* messages, const PackLayout& layout);

  const Backend backend_;
  const uint32_t device_;
  gpu::DeviceFacts facts_{};
  uint64_t run_bytes_ = 0;
  gpu::Stream stream_;
  gpu::PinnedBuffer in_, out_;
  gpu::DeviceBuffer device_in_, device_out_, workspace_;
  // How much of the buffers has held data since they were wiped.
  struct Used {
    uint64_t in = 0, out = 0;
    void add(uint64_t in_bytes, uint64_t out_bytes) {
      in = in_bytes > in ? in_bytes : in;
      out = out_bytes > out ? out_bytes : out;
    }
  } device_used_, host_used_;
  bool lent_ = false;             // all of the host's, then
  TransferSlot* next_ = nullptr;  // in the list of the idle
};

}  // namespace stockade::offload
