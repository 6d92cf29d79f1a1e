// How a job uses GPUs: where its data lies, how many slots it gets and of what size, and the shape of a kernel, by the tuning
// profile where that knows better.
#pragma once

#include <cstdint>

#include "offload/backend.h"
#include "parallel/plan.h"

namespace stockade::offload {

// Of one job.
inline constexpr uint32_t max_slots = 64;

// Where a job's data lies.
enum class Home {
  pinned,    // devices copy from and to it by themselves
  ordinary,  // a slot's worker copies it to the slot's pinned memory and back
  file       // a slot's worker reads it into that memory, and writes from there
};

// Who would run one message with an engine that has GPUs; `cpu` is the plan without them. Asks for devices, but takes no slot.
parallel::Plan plan_slots(const config::EngineChoice& engine, uint64_t length, bool splits, parallel::Plan cpu);

// The shape of a kernel for data in the memory of a GPU of that name: by the profile, else `otherwise`. Only what does not
// decide about results: threads, blocks of a thread, blocks of a multiprocessor.
gpu::Shape known_shape(tune::Operation operation, uint32_t bits, uint64_t length, const char* gpu,
                       const gpu::Shape& otherwise);

gpu::Shape shape_of(const tune::Entry& row, const gpu::Shape& otherwise);

// Of one message, for Executor::acquire. Without GPUs in the engine no driver is asked.
Home home_of(const config::EngineChoice& engine, const void* in, const void* out, uint64_t length);

// For the executor: how many slots a job has; the workers of `hybrid`; what the tuning profile knows of such transfers, and the
// backend with that; the bytes of a run; whether an automatic engine may use GPUs.
uint64_t slots_for(const Backend& own, uint64_t devices, uint64_t length, uint64_t parts, Home home, bool shared);
uint32_t hybrid_workers(uint32_t slots, const parallel::Plan& cpu);
const tune::Entry* transfer_entry(const Backend& own, Home home, uint64_t length);
Backend informed(const Backend& own, Home home, uint64_t length);
uint64_t run_bytes_for(const Backend& own, Home home);
bool may_use_gpus(const config::EngineChoice& engine, uint64_t length);

}  // namespace stockade::offload
