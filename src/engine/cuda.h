// GPUs as workers of an engine, for data in host memory. Every operation is done by "lanes": a lane is a stream of one device
// with its own buffers on both sides, driven by one worker, which copies a run of the data in, has it transformed and copies
// it out again. Several lanes of a device overlap those three; several devices share the work as fast as each can, because
// workers take one piece after another. A worker without a lane uses the CPU's rows: that is the engine `hybrid`.
#pragma once

#include <atomic>
#include <cstdint>

#include "aes/aes_cuda.h"
#include "aes/modes.h"
#include "base/secret.h"
#include "config/environment.h"
#include "parallel/parallel_for.h"
#include "gcm/gcm_cuda.h"
#include "gpu/runtime.h"

namespace stockade::engine {

// Where a job's data lies.
enum class Home {
  pinned,    // devices copy from and to it by themselves
  ordinary,  // a lane's worker copies it to the lane's pinned memory and back
  file       // a lane's worker reads it into that memory, and writes from there
};

// The lanes of a device, and the bytes of their largest runs: a power of two up to 2^24.
struct Ring {
  uint32_t lanes;
  uint64_t run_bytes;
};

// Which GPUs there are, with which kernels, and what may be tuned without changing a result.
//
// NVIDIA H200 and 16 cores, 2026-11-22, GB/s of AES-128-CTR over 4 GiB, from host memory to host memory. Pinned, 4, 8 and 16
// lanes: 49.0, 48.8 and 47.5 in runs of 8 MiB, 48.2, 47.6 and 47.4 in runs of 4 MiB. Ordinary memory: 13.8, 20.6 and 23.4 in
// runs of 8 MiB, 13.0, 21.9 and 34.3 in runs of 4 MiB, 12.8, 22.8 and 30.0 in runs of 2 MiB. Files of 1 GiB, in memory: bound
// by what writes them, with 4 lanes 2.7 to 3.0, with 16 lanes 2.5 to 2.7.
struct Backend {
  gpu::Runtime* runtime;
  const aes::GpuKernels* aes;
  const gcm::GpuKernels* gcm;
  Ring pinned{4, uint64_t{8} << 20};
  // Where workers copy, a device has its share of the cores as lanes, but no fewer than for pinned memory and no more than so
  // many. Files have as many lanes as pinned memory, and runs of this length.
  Ring staged{16, uint64_t{4} << 20};
  // Whether `hybrid` uses devices for data in ordinary memory: a core that has AES instructions encrypts faster than it
  // copies to and fro.
  bool hybrid_stages = false;
  // A device without memory for a lane of such runs is not used. Payloads need 32 KiB, so that a sealed chunk fits.
  uint64_t least_run = uint64_t{64} << 10;
  uint64_t lane_bytes =
      uint64_t{256} << 10;  // a lane costs its transfers' start-up; a job brings each at least this much
  uint64_t hybrid_from = uint64_t{256} << 20;  // `hybrid` does shorter jobs with the CPU alone
};
const Backend& backend();

// For tests: all jobs that begin while this lives use that backend. No job may be running when it begins or ends.
class ScopedBackend {
 public:
  explicit ScopedBackend(const Backend& backend);
  ScopedBackend(const ScopedBackend&) = delete;
  ScopedBackend& operator=(const ScopedBackend&) = delete;
  ~ScopedBackend();

 private:
  const Backend* const before_;
};

// Kernels are built for compute capability 7.5 and what came after it.
inline constexpr uint32_t least_capability = 75;

// Of the devices in the bit mask `wanted` (0: all), those that can be used. UNAVAILABLE if there is none, or if the mask names
// one that does not exist or cannot be used; FORKED, DEVICE.
Status usable_devices(uint64_t wanted, uint64_t& devices);

// Who would run one message with an engine that has GPUs; `cpu` is the plan without them. Asks for devices, but takes no lane.
parallel::Plan plan_lanes(const config::EngineChoice& engine, uint64_t length, bool splits, parallel::Plan cpu);

// What experience calls a mode.
tune::Operation experience_of(stockade_mode mode);

// The shape of a kernel for data in the memory of a GPU of that name: by experience, else `otherwise`. Only what does not
// decide about results: threads, blocks of a thread, blocks of a multiprocessor.
gpu::Shape known_shape(tune::Operation operation, uint32_t bits, uint64_t length, const char* gpu,
                       const gpu::Shape& otherwise);

gpu::Shape shape_of(const tune::Row& row, const gpu::Shape& otherwise);

// Of one message, for Crew::gather. Without GPUs in the engine no driver is asked.
Home home_of(const config::EngineChoice& engine, const void* in, const void* out, uint64_t length);

// A key as kernels take it; made once for a job.
struct LaneKey {
  const aes::Key* aes = nullptr;  // the one of the two that the job has
  const gcm::Key* gcm = nullptr;
  aes::RoundKeys encrypt, decrypt, tweak;
  gcm::GpuKey gcm_key;
};
void make_lane_key(const aes::Key& key, LaneKey& lane_key);
void make_lane_key(const gcm::Key& key, LaneKey& lane_key);

// The key's variant of aes::GpuCtrFn, with the backend's kernels. `gpu`: whose experience counts; null: nobody's.
Status launch_ctr(const aes::Key& key, const gpu::Queue& queue, const char* gpu, const aes::RoundKeys& encrypt,
                  const uint8_t counter[16], const uint8_t* in, uint8_t* out, uint64_t length);

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

// Chunks of a Cobblestone payload in a row (format/cobblestone.h); gcm::GpuChunks in host memory.
struct ChunkRange {
  const uint8_t* in;
  uint8_t* out;  // opening: may be null where only the verdicts are wanted
  uint64_t first, count;
  uint32_t last_length;  // plaintext of the last of them
  const uint8_t* base_nonce;
  uint32_t* refused;  // opening: a word for each chunk, 0 if it is authentic; the plaintext of others is zeros
};

// A message of a pack (Lane::pack).
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

class Lane {
 public:
  // A lane for runs of `run_bytes`, or of half as many and so on down to the backend's least if the device has no memory
  // for that; null for none. DEVICE_MEMORY, MEMORY, DEVICE, UNAVAILABLE, FORKED.
  static Status take(uint32_t device, uint64_t run_bytes, Lane** lane);
  // Wipes what its buffers held of the job and keeps it for the next; with `lost`, or if the device fails meanwhile, the
  // lane is given up.
  static void give_back(Lane* lane, bool lost);
  // Gives up all lanes that no job has.
  static void release_idle();

  uint32_t device() const { return device_; }
  uint64_t run_bytes() const { return run_bytes_; }

  // What really fits into one run of that size: as many chunks with their tags as without.
  static constexpr uint64_t capacity(uint64_t run_bytes) { return run_bytes + (run_bytes / 1024 + 63) / 64 * 64; }

  // The lane's own pinned memory on both sides, each of capacity(run_bytes()) and host_slack bytes. Whoever has the lane may
  // keep a run's input and output there, which the device then copies from and to by itself. Wiped with the lane.
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
  Status crypt(const LaneKey& key, stockade_direction direction, aes::Range& range, bool keeps_input);
  // aes::run_units.
  Status crypt_units(const LaneKey& key, stockade_direction direction, UnitRange& range, bool keeps_input);
  // gcm::run_range.
  Status crypt(const LaneKey& key, stockade_direction direction, const uint8_t j0[16], GcmRange& range,
               bool keeps_input);
  // gcm::GpuKernels::seal_chunks and open_chunks; `in` and `out` do not overlap.
  Status seal_chunks(const LaneKey& key, ChunkRange& range);
  Status open_chunks(const LaneKey& key, ChunkRange& range);

  // Messages of any keys in one transfer each way: as many from the first on as fit, at least one unless that alone does not
  // fit. Those are `done`; after a failure nothing of them has been written. Their modes must split.
  Status pack(stockade_direction direction, const PackedMessage* messages, uint64_t count, uint64_t* done);

 private:
  struct Copy;
  friend struct LanePool;

  Lane(const Backend& backend, uint32_t device) : backend_(backend), device_(device) {}
  Status make(uint64_t run_bytes);
  Status allocate(uint64_t run_bytes);
  bool wipe_used();
  gpu::Queue queue() const;
  gpu::Shape shape(aes::GpuOperation operation) const;
  uint64_t run_length(uint64_t length) const;
  uint8_t* notes() const { return out_.data() + capacity(run_bytes_) + host_slack; }
  uint64_t note_bytes() const;
  bool direct(const void* memory, uint64_t length) const;

  template <typename Transform>
  Status run(const Copy& copy, Transform&& transform);
  Status transform(const LaneKey& key, stockade_direction direction, const uint8_t chain[16], const uint8_t* in,
                   uint8_t* out, uint64_t length);
  Status transform_units(const LaneKey& key, stockade_direction direction, const uint8_t number[16], uint64_t unit,
                         const uint8_t* in, uint8_t* out, uint64_t length);
  Status transform_gcm(const LaneKey& key, stockade_direction direction, const uint8_t j0[16], uint64_t first_block,
                       uint64_t length);
  template <bool opening>
  Status run_chunks(const LaneKey& key, ChunkRange& range);
  uint64_t unit_workspace(uint64_t length, uint64_t unit) const;
  struct PackPlace;
  struct PackLayout;
  gcm::GpuMessage device_message(stockade_direction direction, const PackedMessage& message,
                                 const PackPlace& place) const;
  void gather_pack(stockade_direction direction, const PackedMessage* messages, const PackLayout& layout);
  Status launch_pack(stockade_direction direction, const PackedMessage* messages, const PackLayout& layout);
  Status launch_packed(const LaneKey& key, stockade_direction direction, const PackedMessage& message,
                       const PackPlace& place);
  Status launch_packed_gcm(const LaneKey& key, stockade_direction direction, const PackedMessage& message,
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
  bool lent_ = false;     // all of the host's, then
  Lane* next_ = nullptr;  // in the list of the idle
};

// The workers of one job, some of them with lanes.
class Crew {
 public:
  static constexpr uint32_t max_lanes = 64;

  Crew() = default;
  Crew(const Crew&) = delete;
  Crew& operator=(const Crew&) = delete;
  ~Crew();

  // For data at `home`. With the engines of the CPU this is make_plan, takes nothing and cannot fail; but an automatic one is
  // `hybrid` where experience says so and the process has used a GPU before. With `cuda`: UNAVAILABLE, DEVICE, DEVICE_MEMORY,
  // MEMORY, FORKED; with `hybrid` a device that cannot be had is done without.
  Status gather(const config::EngineChoice& engine, const parallel::Task& task, Home home);

  const parallel::Plan& plan() const { return plan_; }
  uint32_t lanes() const { return lane_count_; }
  // Null for a worker without one.
  Lane* lane(uint32_t worker) const { return worker < lane_count_ ? lanes_[worker] : nullptr; }
  // How much a worker should be given at a time, where a CPU's worker would take `cpu_bytes`.
  uint64_t piece_bytes(uint64_t cpu_bytes) const;
  // Whether a piece that a lane has failed at must be left as it was.
  bool keeps_input() const { return cpu_; }

  // Calls body(lane, i) once for each i below `count`, in any order and by all workers; `lane` is null for a worker without
  // one. The first status that is not OK is returned, and ends the calls.
  template <typename Body>
  Status run(uint64_t count, Body&& body) {
    parallel::parallel_for(plan_, count, 1, [&](uint64_t begin, uint64_t end, uint32_t worker) {
      for (uint64_t i = begin; i < end && failure() == STOCKADE_OK; ++i) {
        if (const Status status = body(lane(worker), i); status != STOCKADE_OK) {
          note(status);
        }
      }
    });
    return failure();
  }

  // Has on_lane(lane) work if the worker has a lane and its device has not failed before. OK means that whatever is left is
  // the caller's to do with the CPU: all, or nothing, or with `hybrid` what a device has failed at. Anything else is the
  // failure of the job.
  template <typename OnLane>
  Status attempt(Lane* lane, OnLane&& on_lane) {
    if (lane != nullptr && !lost(*lane)) {
      const Status status = on_lane(*lane);
      if (status == STOCKADE_OK) return status;
      lose(*lane);
      note_lost(status);
    }
    if (cpu_) return STOCKADE_OK;
    const Status status = lane_failure_.load(std::memory_order_acquire);
    return status != STOCKADE_OK ? status : STOCKADE_ERROR_DEVICE;
  }

 private:
  Status take_lanes(const config::EngineChoice& engine, const parallel::Task& task, Home home);
  Status failure() const { return failure_.load(std::memory_order_acquire); }
  void note(Status status);
  void note_lost(Status status);
  bool lost(const Lane& lane) const { return (lost_.load(std::memory_order_acquire) >> lane.device() & 1) != 0; }
  void lose(const Lane& lane) { lost_.fetch_or(uint64_t{1} << lane.device(), std::memory_order_acq_rel); }

  parallel::Plan plan_{config::Kind::serial, 1, aes::Stores::ordinary, ""};
  bool cpu_ = true;
  uint32_t lane_count_ = 0;
  Lane* lanes_[max_lanes];
  std::atomic<uint64_t> lost_{0};  // devices, as a mask
  std::atomic<Status> failure_{STOCKADE_OK}, lane_failure_{STOCKADE_OK};
};

// One of a crew's workers, as what is to be done sees it.
struct Worker {
  Crew& crew;
  Lane* lane;  // null for one without

  template <typename OnLane>
  Status attempt(OnLane&& on_lane) const {
    return crew.attempt(lane, on_lane);
  }
};

}  // namespace stockade::engine
