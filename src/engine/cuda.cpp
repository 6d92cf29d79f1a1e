#include "engine/cuda.h"

#include <algorithm>
#include <bit>
#include <mutex>
#include <new>

#include "base/bytes.h"
#include "base/field128.h"
#include "cpu/features.h"
#include "cpu/machine.h"

namespace stockade::engine {

namespace {

constexpr uint64_t block_bytes = aes::block_bytes;
// Runs end at whole cache lines and whole steps of every kernel.
constexpr uint64_t granule_bytes = 16 * block_bytes;
// Behind the room for a run's output: a partial hash, or the verdicts on chunks. The device writes them there by itself:
// a copy of its own would cost as much as one of a hundred kilobytes.
constexpr uint64_t hash_bytes = 64;
constexpr uint64_t chunk_bytes = gcm::gpu_chunk_bytes;
constexpr uint64_t sealed_chunk_bytes = chunk_bytes + block_bytes;
// The last run has at least this much of a range that needs several, so that XTS finds its last two blocks in it.
constexpr uint64_t least_last_run = 2 * block_bytes;
constexpr uint32_t max_devices = 64;

Backend built_in() {
  Backend found{};
  found.runtime = &gpu::runtime();
  found.hybrid_stages = (cpu::usable() & cpu::aesni) == 0;
#if defined(STOCKADE_CUDA)
  found.aes = &aes::gpu_kernels_cuda;
  found.gcm = &gcm::gpu_kernels_cuda;
#endif
  return found;
}

std::atomic<const Backend*> replacement{nullptr};

bool runs_kernels(const gpu::DeviceFacts& facts) { return facts.capability >= least_capability; }

}  // namespace

const Backend& backend() {
  if (const Backend* const other = replacement.load(std::memory_order_acquire); other != nullptr) return *other;
  static const Backend own = built_in();
  return own;
}

ScopedBackend::ScopedBackend(const Backend& backend) : before_(replacement.load(std::memory_order_acquire)) {
  Lane::release_idle();
  replacement.store(&backend, std::memory_order_release);
}

ScopedBackend::~ScopedBackend() {
  Lane::release_idle();
  replacement.store(before_, std::memory_order_release);
}

Status usable_devices(uint64_t wanted, uint64_t& devices) {
  devices = 0;
  gpu::Runtime& runtime = *backend().runtime;
  uint32_t count = 0;
  if (const Status status = runtime.count(count); status != STOCKADE_OK) return status;
  for (uint32_t i = 0; i < std::min(count, max_devices); ++i) {
    gpu::DeviceFacts facts;
    if (const Status status = runtime.facts(i, facts); status != STOCKADE_OK) return status;
    if (runs_kernels(facts)) devices |= uint64_t{1} << i;
  }
  if ((wanted & ~devices) != 0) return STOCKADE_ERROR_UNAVAILABLE;
  if (wanted != 0) devices = wanted;
  return devices != 0 ? STOCKADE_OK : STOCKADE_ERROR_UNAVAILABLE;
}

namespace {

// Each lane has its share of the job, but a small job has few. `shared`: the cores have work of their own.
uint64_t lanes_for(const Backend& own, uint64_t devices, uint64_t length, uint64_t parts, Home home, bool shared) {
  const auto count = static_cast<uint32_t>(std::popcount(devices));
  uint32_t each = own.pinned.lanes;
  if (home == Home::ordinary && !shared) {
    each = std::clamp(cpu::machine().cores / count, each, std::max(each, own.staged.lanes));
  }
  const uint64_t all = std::min<uint64_t>(uint64_t{count} * each, Crew::max_lanes);
  return std::clamp<uint64_t>(std::min(parts, length / own.lane_bytes), 1, all);
}

// Lanes' workers sleep most of the time, but more threads than cores would wait for one another at the end. One at least has
// no lane.
uint32_t hybrid_workers(uint32_t lanes, const parallel::Plan& cpu) { return std::max(cpu.workers, lanes + 1); }

// What experience there is with data of host memory and a machine's first GPU; null where there is none. `bits` are counted as
// 256: data moves alike whatever the key.
const tune::Row* transfer_row(const Backend& own, Home home, uint64_t length) {
  gpu::DeviceFacts facts;
  if (home == Home::file || own.runtime->facts(0, facts) != STOCKADE_OK) return nullptr;
  const auto operation = home == Home::pinned ? tune::Operation::gpu_pinned : tune::Operation::gpu_staged;
  return tune::find(operation, 256, length, facts.name);
}

// The backend with the ring that experience has found to be better.
Backend informed(const Backend& own, Home home, uint64_t length) {
  Backend known = own;
  const tune::Row* const row = transfer_row(own, home, length);
  if (row == nullptr) return known;
  Ring& ring = home == Home::pinned ? known.pinned : known.staged;
  if (row->choice.run_bytes != 0) ring.run_bytes = row->choice.run_bytes;
  if (row->choice.lanes == 0) return known;
  // lanes_for has a range between the two where data is staged.
  known.pinned.lanes = known.staged.lanes = row->choice.lanes;
  return known;
}

uint64_t run_bytes_for(const Backend& own, Home home) {
  return home == Home::pinned ? own.pinned.run_bytes : own.staged.run_bytes;
}

// Whether a device can copy from or to the memory by itself. Where that cannot be found out, it is not asked to.
bool is_pinned(gpu::Runtime& runtime, const void* memory, uint64_t length) {
  const auto pinned = [&runtime](const uint8_t* byte) {
    gpu::Place place;
    return runtime.locate(byte, place) == STOCKADE_OK && place.side == gpu::Side::pinned;
  };
  const auto* const bytes = static_cast<const uint8_t*>(memory);
  return length != 0 && pinned(bytes) && pinned(bytes + length - 1);
}

}  // namespace

parallel::Plan plan_lanes(const config::EngineChoice& engine, uint64_t length, bool splits, parallel::Plan cpu) {
  const Backend& own = backend();
  const bool alone = engine.kind == config::Kind::cuda;
  uint64_t devices = 0;
  const bool present = usable_devices(engine.devices, devices) == STOCKADE_OK;
  if (!present || !splits || (!alone && length < own.hybrid_from)) {
    if (!alone) return cpu;
    return {config::Kind::cuda, 1, aes::Stores::ordinary, present ? "in a mode that no GPU can cut" : "and no GPU to run on"};
  }
  const auto lanes = static_cast<uint32_t>(lanes_for(own, devices, length, UINT64_MAX, Home::file, !alone));
  if (alone) return {config::Kind::cuda, lanes, aes::Stores::ordinary, "and GPUs that were asked for"};
  return {config::Kind::hybrid, hybrid_workers(lanes, cpu), cpu.stores, "are enough for GPUs and cores together"};
}

tune::Operation experience_of(stockade_mode mode) {
  switch (mode) {
    case STOCKADE_ECB:
      return tune::Operation::ecb;
    case STOCKADE_CBC:
      return tune::Operation::cbc;
    case STOCKADE_CFB:
      return tune::Operation::cfb;
    case STOCKADE_XTS:
      return tune::Operation::xts;
    case STOCKADE_GCM:
      return tune::Operation::gcm;
    default:
      return tune::Operation::ctr;
  }
}

gpu::Shape known_shape(tune::Operation operation, uint32_t bits, uint64_t length, const char* gpu,
                       const gpu::Shape& otherwise) {
  const tune::Row* const row = tune::find(operation, bits, length, gpu);
  return row == nullptr ? otherwise : shape_of(*row, otherwise);
}

gpu::Shape shape_of(const tune::Row& row, const gpu::Shape& otherwise) {
  gpu::Shape shape = otherwise;
  if (row.choice.threads != 0) shape.threads = row.choice.threads;
  if (row.choice.blocks != 0) shape.blocks_per_thread = row.choice.blocks;
  if (row.choice.per_multiprocessor != 0) shape.blocks_per_multiprocessor = row.choice.per_multiprocessor;
  return shape;
}

namespace {

// Whether an automatic engine may use GPUs for such a message: experience has something to say about it, and the process has
// looked for them before. To start a driver takes longer than most jobs.
bool may_use_gpus(const config::EngineChoice& engine, uint64_t length) {
  return engine.kind == config::Kind::automatic && engine.threads >= 1 && length >= tune::gpus_from() &&
         backend().runtime->known() != 0;
}

}  // namespace

Home home_of(const config::EngineChoice& engine, const void* in, const void* out, uint64_t length) {
  if (!config::wants_gpus(engine.kind) && !may_use_gpus(engine, length)) return Home::ordinary;
  gpu::Runtime& runtime = *backend().runtime;
  const bool pinned =
      is_pinned(runtime, in, length) && (in == out || out == nullptr || is_pinned(runtime, out, length));
  return pinned ? Home::pinned : Home::ordinary;
}

// ---- keys ----

namespace {

// FIPS 197 §5.2: the first words of the schedule are the key.
void expand_for_gpu(aes::RoundKeysFn round_keys, const aes::Schedule& schedule, uint32_t bits, aes::RoundKeys& encrypt,
                    aes::RoundKeys& decrypt) {
  Secret<uint32_t[60]> words;
  round_keys(schedule, *words);
  aes::gpu_expand(reinterpret_cast<const uint8_t*>(*words), bits / 8, encrypt, decrypt);
}

}  // namespace

void make_lane_key(const aes::Key& key, LaneKey& lane_key) {
  lane_key.aes = &key;
  lane_key.gcm = nullptr;
  const aes::RoundKeysFn round_keys = key.variant->kernels->round_keys;
  expand_for_gpu(round_keys, key.data, key.bits, lane_key.encrypt, lane_key.decrypt);
  if (key.mode != STOCKADE_XTS) return;
  Secret<aes::RoundKeys> unused;
  expand_for_gpu(round_keys, key.tweak, key.bits, lane_key.tweak, *unused);
}

void make_lane_key(const gcm::Key& key, LaneKey& lane_key) {
  lane_key.aes = nullptr;
  lane_key.gcm = &key;
  gcm::gpu_prepare(key, lane_key.gcm_key);
}

Status launch_ctr(const aes::Key& key, const gpu::Queue& queue, const char* gpu, const aes::RoundKeys& encrypt,
                  const uint8_t counter[16], const uint8_t* in, uint8_t* out, uint64_t length) {
  const aes::GpuCtrFn ctr = backend().aes->*key.gpu_ctr->ctr;
  gpu::Shape shape = key.gpu_ctr->shape(queue.capability, length);
  // Experience is had with the first row, which keys have unless another is asked for.
  if (gpu != nullptr && key.gpu_ctr == aes::gpu_ctr_variants().data()) {
    shape = known_shape(tune::Operation::gpu_ctr, key.bits, length, gpu, shape);
  }
  return ctr(queue, shape, encrypt, counter, aes::CounterWidth::bits128, in, out, length, nullptr);
}

// ---- idle lanes ----

// Memory of a device and pinned memory take milliseconds to get, so lanes outlive their job. The list is never destroyed: at
// the end of the process the driver may be gone before it.
struct LanePool {
  std::mutex mutex;
  Lane* idle = nullptr;

  // One of that device, for runs at least as long; null for none.
  Lane* find(uint32_t device, uint64_t run_bytes) {
    const std::lock_guard lock(mutex);
    for (Lane** at = &idle; *at != nullptr; at = &(*at)->next_) {
      Lane* const lane = *at;
      if (lane->device_ != device || lane->run_bytes_ < run_bytes) continue;
      *at = lane->next_;
      lane->next_ = nullptr;
      return lane;
    }
    return nullptr;
  }
  // Keeps the lane, but no more of its device than one job would have: the smallest goes. Returns the one that has to.
  Lane* add(Lane* lane) {
    const std::lock_guard lock(mutex);
    uint32_t count = 0;
    Lane** smallest = nullptr;
    lane->next_ = idle;
    idle = lane;
    for (Lane** at = &idle; *at != nullptr; at = &(*at)->next_) {
      if ((*at)->device_ != lane->device_) continue;
      ++count;
      if (smallest == nullptr || (*at)->run_bytes_ < (*smallest)->run_bytes_) smallest = at;
    }
    if (count <= std::max(lane->backend_.pinned.lanes, lane->backend_.staged.lanes)) return nullptr;
    Lane* const removed = *smallest;
    *smallest = removed->next_;
    return removed;
  }
  // Gives up those of one device, or of all. Returns whether there were any.
  bool release(uint32_t device) {
    Lane* released = nullptr;
    {
      const std::lock_guard lock(mutex);
      for (Lane** at = &idle; *at != nullptr;) {
        Lane* const lane = *at;
        if (device != every_device && lane->device_ != device) {
          at = &lane->next_;
          continue;
        }
        *at = lane->next_;
        lane->next_ = released;
        released = lane;
      }
    }
    const bool any = released != nullptr;
    while (released != nullptr) {
      Lane* const next = released->next_;
      delete released;
      released = next;
    }
    return any;
  }

  static constexpr uint32_t every_device = UINT32_MAX;
};

namespace {

LanePool& pool() {
  alignas(LanePool) static unsigned char place[sizeof(LanePool)];
  static LanePool* const made = new (place) LanePool;
  return *made;
}

bool is_lack_of_memory(Status status) {
  return status == STOCKADE_ERROR_DEVICE_MEMORY || status == STOCKADE_ERROR_MEMORY;
}

}  // namespace

void Lane::release_idle() { pool().release(LanePool::every_device); }

Status Lane::take(uint32_t device, uint64_t run_bytes, Lane** lane) {
  *lane = nullptr;
  // A forked child has a copy of the list, but not of what is behind it.
  uint32_t devices = 0;
  if (const Status status = backend().runtime->count(devices); status != STOCKADE_OK) return status;
  if (Lane* const idle = pool().find(device, run_bytes); idle != nullptr) {
    *lane = idle;
    return STOCKADE_OK;
  }
  auto* const made = new (std::nothrow) Lane(backend(), device);
  if (made == nullptr) return STOCKADE_ERROR_MEMORY;
  const Status status = made->make(run_bytes);
  if (status == STOCKADE_OK) {
    *lane = made;
  } else {
    delete made;
  }
  return status;
}

void Lane::give_back(Lane* lane, bool lost) {
  if (lost || !lane->wipe_used()) {
    delete lane;
  } else {
    delete pool().add(lane);
  }
}

// ---- one lane ----

struct Lane::Copy {
  const uint8_t* in;
  uint64_t length;
  uint8_t* out;  // may be null if nothing of it is wanted
  uint64_t out_length;
  bool keeps_input;
};

uint64_t Lane::note_bytes() const {
  return std::max(hash_bytes, capacity(run_bytes_) / sealed_chunk_bytes * sizeof(uint32_t));
}

Lane::HostRoom Lane::lend() {
  lent_ = true;
  return {in_.data(), out_.data(), capacity(run_bytes_) + host_slack};
}

Status Lane::make(uint64_t run_bytes) {
  if (const Status status = backend_.runtime->facts(device_, facts_); status != STOCKADE_OK) return status;
  if (const Status status = stream_.make(*backend_.runtime, device_); status != STOCKADE_OK) return status;
  Status status = allocate(run_bytes);
  // Idle lanes of other sizes may be what is in the way.
  if (is_lack_of_memory(status) && pool().release(device_)) status = allocate(run_bytes);
  while (is_lack_of_memory(status) && run_bytes / 2 >= backend_.least_run) {
    run_bytes /= 2;
    status = allocate(run_bytes);
  }
  return status;
}

Status Lane::allocate(uint64_t run_bytes) {
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
bool Lane::wipe_used() {
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

gpu::Queue Lane::queue() const {
  return {stream_.handle(), facts_.capability, facts_.multiprocessors, facts_.shared_bytes};
}

gpu::Shape Lane::shape(aes::GpuOperation operation) const { return aes::default_shape(operation, facts_.capability); }

uint64_t Lane::unit_workspace(uint64_t length, uint64_t unit) const {
  uint64_t most = 0;
  for (const auto operation : {aes::GpuOperation::xts_encrypt, aes::GpuOperation::xts_decrypt}) {
    most = std::max(most, aes::gpu_workspace_bytes(operation, queue(), shape(operation), length, unit));
  }
  return most;
}

// How much of `length` the next run does.
uint64_t Lane::run_length(uint64_t length) const {
  if (length <= run_bytes_) return length;
  return length - run_bytes_ < least_last_run ? run_bytes_ - granule_bytes : run_bytes_;
}

// Whether the device can copy from or to that memory by itself: the lane's own, or the caller's.
bool Lane::direct(const void* memory, uint64_t length) const {
  if (memory == nullptr || length == 0) return false;
  const auto* const bytes = static_cast<const uint8_t*>(memory);
  const auto own = [bytes](const gpu::PinnedBuffer& buffer) {
    return bytes >= buffer.data() && bytes < buffer.data() + buffer.size();
  };
  return own(in_) || own(out_) || is_pinned(*backend_.runtime, memory, length);
}

// Copies in, has transform(device_in_, device_out_) queued, copies out, and waits. The caller's output is written when all
// has gone well, or by the device itself where nobody needs the input any more.
template <typename Transform>
Status Lane::run(const Copy& copy, Transform&& transform) {
  gpu::Runtime& runtime = *backend_.runtime;
  void* const stream = stream_.handle();
  const gpu::OnDevice here(runtime, device_);
  if (here.status() != STOCKADE_OK) return here.status();
  device_used_.add(copy.length, copy.out_length);
  const bool direct_in = direct(copy.in, copy.length);
  const bool direct_out = !(copy.keeps_input && copy.in == copy.out) && direct(copy.out, copy.out_length);
  host_used_.add(direct_in ? 0 : copy.length, direct_out ? 0 : copy.out_length);
  if (!direct_in && copy.length != 0) std::memcpy(in_.data(), copy.in, copy.length);
  Status status = STOCKADE_OK;
  if (copy.length != 0) {
    status = runtime.copy_in(device_, stream, device_in_.data(), direct_in ? copy.in : in_.data(), copy.length);
  }
  if (status == STOCKADE_OK) status = transform();
  const bool comes_out = copy.out != nullptr && copy.out_length != 0;
  if (status == STOCKADE_OK && comes_out) {
    status =
        runtime.copy_out(device_, stream, direct_out ? copy.out : out_.data(), device_out_.data(), copy.out_length);
  }
  // After a failure too: nothing may be on its way to memory that the caller takes back.
  const Status waited = runtime.wait(device_, stream);
  if (status == STOCKADE_OK) status = waited;
  if (status == STOCKADE_OK && comes_out && !direct_out) std::memcpy(copy.out, out_.data(), copy.out_length);
  return status;
}

// ---- block modes ----

Status Lane::transform(const LaneKey& key, stockade_direction direction, const uint8_t chain[16], const uint8_t* in,
                       uint8_t* out, uint64_t length) {
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

Status Lane::transform_units(const LaneKey& key, stockade_direction direction, const uint8_t number[16], uint64_t unit,
                             const uint8_t* in, uint8_t* out, uint64_t length) {
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

Status Lane::crypt(const LaneKey& key, stockade_direction direction, aes::Range& range, bool keeps_input) {
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

Status Lane::crypt_units(const LaneKey& key, stockade_direction direction, UnitRange& range, bool keeps_input) {
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
Status Lane::transform_gcm(const LaneKey& key, stockade_direction direction, const uint8_t j0[16], uint64_t first_block,
                           uint64_t length) {
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

Status Lane::crypt(const LaneKey& key, stockade_direction direction, const uint8_t j0[16], GcmRange& range,
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

// ---- chunks ----

template <bool opening>
Status Lane::run_chunks(const LaneKey& key, ChunkRange& range) {
  const gcm::GpuShapes shapes = gcm::default_shapes(key.gcm->bits / 8, facts_.capability);
  const uint64_t most = capacity(run_bytes_) / sealed_chunk_bytes;
  if (most == 0) return STOCKADE_ERROR_DEVICE_MEMORY;
  while (range.count != 0) {
    const uint64_t count = std::min(range.count, most);
    const uint32_t last_length = count == range.count ? range.last_length : gcm::gpu_chunk_bytes;
    const uint64_t plain = (count - 1) * chunk_bytes + last_length;
    const uint64_t in_length = opening ? plain + count * block_bytes : plain;
    const uint64_t out_length = opening ? plain : plain + count * block_bytes;
    gcm::GpuChunks chunks{device_in_.data(), device_out_.data(), range.first, count, last_length, {}, nullptr};
    std::memcpy(chunks.base_nonce, range.base_nonce, sizeof chunks.base_nonce);
    chunks.refused = opening ? reinterpret_cast<uint32_t*>(notes()) : nullptr;
    // What no kernel has judged is refused, not what was in the place before.
    if (opening) std::memset(notes(), 0xFF, count * sizeof(uint32_t));
    const auto kernel = opening ? backend_.gcm->open_chunks : backend_.gcm->seal_chunks;
    const Status status = run({range.in, in_length, range.out, out_length, true},
                              [&] { return kernel(queue(), shapes, key.gcm_key, chunks); });
    if (status != STOCKADE_OK) return status;
    if (opening) {
      std::memcpy(range.refused, notes(), count * sizeof(uint32_t));
      range.refused += count;
    }
    range.in += in_length;
    if (range.out != nullptr) range.out += out_length;
    range.first += count;
    range.count -= count;
  }
  return STOCKADE_OK;
}

Status Lane::seal_chunks(const LaneKey& key, ChunkRange& range) { return run_chunks<false>(key, range); }
Status Lane::open_chunks(const LaneKey& key, ChunkRange& range) { return run_chunks<true>(key, range); }

// ---- packs ----

namespace {

// Up to this length one warp seals a message as fast as it needs to, and a launch does them all; longer ones have the whole
// device, one after the other.
constexpr uint64_t longest_batched = uint64_t{32} << 10;

bool is_batched(const PackedMessage& message) { return message.gcm != nullptr && message.length <= longest_batched; }

uint64_t round_up(uint64_t bytes) { return (bytes + block_bytes - 1) & ~(block_bytes - 1); }

}  // namespace

// Where the parts of a message lie, in the buffers for both ways alike.
struct Lane::PackPlace {
  uint64_t data, aad, tag;
  uint64_t refused;    // a word that `open` leaves
  uint64_t described;  // what batches are told of the message
};

// A pack is the messages' own bytes one behind the other, then what describes those that make up a batch, then a word for
// each of these.
struct Lane::PackLayout {
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

Status Lane::pack(stockade_direction direction, const PackedMessage* messages, uint64_t count, uint64_t* done) {
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

void Lane::gather_pack(stockade_direction direction, const PackedMessage* messages, const PackLayout& layout) {
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

gcm::GpuMessage Lane::device_message(stockade_direction direction, const PackedMessage& message,
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

Status Lane::launch_pack(stockade_direction direction, const PackedMessage* messages, const PackLayout& layout) {
  Secret<LaneKey> key;
  // What lies between the parts is copied out as well, and is to be nobody's secret; and a message that no kernel has judged
  // is refused.
  Status status = backend_.runtime->fill(device_, stream_.handle(), device_out_.data(), 0xFF, layout.total());
  if (status != STOCKADE_OK) return status;
  status = layout.walk(messages, [&](const PackedMessage& message, const PackPlace& place) {
    if (is_batched(message) || (message.gcm == nullptr && message.length == 0)) return STOCKADE_OK;
    if (message.gcm != nullptr) {
      if (key->gcm != message.gcm) make_lane_key(*message.gcm, *key);
      return launch_packed_gcm(*key, direction, message, place);
    }
    if (key->aes != message.aes) make_lane_key(*message.aes, *key);
    return launch_packed(*key, direction, message, place);
  });
  if (status != STOCKADE_OK || layout.batched == 0) return status;
  const gcm::GpuShapes shapes = gcm::default_shapes(32, facts_.capability);
  const auto* const described = reinterpret_cast<const gcm::GpuBatchMessage*>(device_in_.data() + layout.described());
  if (direction == STOCKADE_ENCRYPT) return backend_.gcm->seal_batch(queue(), shapes, described, layout.batched);
  auto* const refused = reinterpret_cast<uint32_t*>(device_out_.data() + layout.refused());
  return backend_.gcm->open_batch(queue(), shapes, described, layout.batched, refused);
}

Status Lane::launch_packed(const LaneKey& key, stockade_direction direction, const PackedMessage& message,
                           const PackPlace& place) {
  const uint8_t* const in = device_in_.data() + place.data;
  uint8_t* const out = device_out_.data() + place.data;
  if (message.aes->mode != STOCKADE_XTS) return transform(key, direction, message.iv, in, out, message.length);
  if (unit_workspace(message.length, message.length) > workspace_.size()) return STOCKADE_ERROR_DEVICE_MEMORY;
  return transform_units(key, direction, message.iv, message.length, in, out, message.length);
}

Status Lane::launch_packed_gcm(const LaneKey& key, stockade_direction direction, const PackedMessage& message,
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

void Lane::scatter_pack(stockade_direction direction, const PackedMessage* messages, const PackLayout& layout) {
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

// ---- crew ----

Status Crew::gather(const config::EngineChoice& engine, const parallel::Task& task, Home home) {
  const config::EngineChoice cores{config::Kind::automatic, engine.threads};
  config::Kind kind = engine.kind;
  // A file's reads and writes are as slow with GPUs as without.
  if (home != Home::file && task.parts > 1 && may_use_gpus(engine, task.bytes)) {
    const tune::Row* const row = transfer_row(backend(), home, task.bytes);
    const tune::Runner best = row == nullptr ? tune::Runner::unsaid : row->choice.runner;
    if (best == tune::Runner::cuda || best == tune::Runner::hybrid) kind = config::Kind::hybrid;
  }
  if (!config::wants_gpus(kind)) {
    plan_ = parallel::make_plan(engine, task);
    return STOCKADE_OK;
  }
  cpu_ = kind == config::Kind::hybrid;
  const bool asked = kind == engine.kind;
  const bool worthwhile =
      !cpu_ || !asked || (task.bytes >= backend().hybrid_from && (home != Home::ordinary || backend().hybrid_stages));
  const Status status = worthwhile && task.parts != 0 ? take_lanes(engine, task, home) : STOCKADE_OK;
  if (status != STOCKADE_OK && !cpu_) return status;
  if (lane_count_ == 0) {
    plan_ = parallel::make_plan(cores, task);
    return STOCKADE_OK;
  }
  plan_ = parallel::make_plan({config::Kind::threads, engine.threads}, task);
  plan_.kind = kind;
  plan_.workers = cpu_ ? hybrid_workers(lane_count_, plan_) : lane_count_;
  return STOCKADE_OK;
}

Status Crew::take_lanes(const config::EngineChoice& engine, const parallel::Task& task, Home home) {
  const Backend own = informed(backend(), home, task.bytes);
  uint64_t devices = 0;
  if (const Status status = usable_devices(engine.devices, devices); status != STOCKADE_OK) return status;
  const uint64_t wanted = lanes_for(own, devices, task.bytes, task.parts, home, cpu_);
  const uint64_t longest = run_bytes_for(own, home);
  const uint64_t share = std::clamp(task.bytes / wanted + 1, std::min(own.least_run, longest), longest);
  Status failure = STOCKADE_OK;
  uint64_t left_out = 0;
  for (uint64_t taken = 0; taken < wanted && left_out != devices;) {
    // In turn, so that few lanes are of many devices.
    for (uint64_t rest = devices & ~left_out; rest != 0 && taken < wanted; rest &= rest - 1) {
      const auto device = static_cast<uint32_t>(std::countr_zero(rest));
      Lane* lane = nullptr;
      const Status status = Lane::take(device, std::min(std::bit_ceil(share), longest), &lane);
      if (status == STOCKADE_OK) {
        lanes_[lane_count_++] = lane;
        ++taken;
        continue;
      }
      if (failure == STOCKADE_OK) failure = status;
      if (!is_lack_of_memory(status) && !cpu_) return status;
      left_out |= uint64_t{1} << device;
    }
  }
  return lane_count_ != 0 ? STOCKADE_OK : failure;
}

Crew::~Crew() {
  if (lane_count_ == 0) return;
  // All at once, for there are megabytes to wipe.
  const parallel::Plan together{config::Kind::threads, lane_count_, aes::Stores::ordinary, ""};
  parallel::parallel_for(together, lane_count_, 1, [&](uint64_t begin, uint64_t end, uint32_t) {
    for (uint64_t i = begin; i < end; ++i) Lane::give_back(lanes_[i], lost(*lanes_[i]));
  });
}

uint64_t Crew::piece_bytes(uint64_t cpu_bytes) const {
  if (lane_count_ == 0) return cpu_bytes;
  uint64_t longest = 0;
  for (uint32_t i = 0; i < lane_count_; ++i) longest = std::max(longest, lanes_[i]->run_bytes());
  // A core takes as long for a piece as a lane does for several; nobody should wait for the last of them.
  return cpu_ ? std::clamp(longest / 4, cpu_bytes, std::max(cpu_bytes, longest)) : longest;
}

void Crew::note(Status status) {
  Status none = STOCKADE_OK;
  failure_.compare_exchange_strong(none, status, std::memory_order_acq_rel);
}

void Crew::note_lost(Status status) {
  Status none = STOCKADE_OK;
  lane_failure_.compare_exchange_strong(none, status, std::memory_order_acq_rel);
}

}  // namespace stockade::engine
