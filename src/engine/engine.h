// Who runs the work. An engine knows only "a range of independent items"; what an item is, is the caller's business.
#pragma once

#include <cstdint>
#include <string_view>
#include <type_traits>

#include "aes/aes_kernels.h"
#include "base/status.h"
#include "cpu/features.h"
#include "tune/experience.h"

namespace stockade::engine {

// The last two use GPUs: alone, or beside the CPU's cores. `automatic` does not: data in host memory reaches a GPU through a
// bus that a few cores outrun.
enum class Kind : uint32_t { automatic, serial, threads, cuda, hybrid };

// "auto", "serial", "threads", "cuda", "hybrid".
const char* kind_name(Kind kind);

// The wish: what stockade_engine holds.
struct Engine {
  Kind kind;
  uint32_t threads;      // of the CPU; at least 1
  uint64_t devices = 0;  // GPUs by number, as a bit mask; 0: all
};

// What STOCKADE_FORCE, STOCKADE_THREADS (else OMP_NUM_THREADS), STOCKADE_DEVICES and STOCKADE_MASK say, read once. `status` is
// UNKNOWN_NAME or ARGUMENT for a value that cannot be obeyed; every call that would consult it then returns that status.
struct Environment {
  Status status;
  std::string_view aes_row, gcm_row, bignum_row, gpu_ctr_row;  // names in the tables; empty: choose
  std::string_view rsa_layers;                                 // one of the names below; empty: choose
  Kind kind;
  uint32_t threads;  // 0: not given
  uint64_t devices;  // 0: not given
  cpu::Features usable;
};
const Environment& environment();

// How one private operation of RSA is divided (rsa/powers.h, in the order of its Layers).
inline constexpr std::string_view rsa_layers[] = {"together", "halves", "right-to-left", "right-to-left-halves"};

// "aes:NAME,gcm:NAME,bignum:NAME,rsa:NAME,gpu-ctr:NAME,engine:NAME", any of them, in any order; later wins. UNKNOWN_NAME for an
// unknown key, row, division or engine.
Status parse_force(std::string_view text, Environment& environment);

// "0,2": numbers of GPUs below 64, as a bit mask. ARGUMENT.
Status parse_devices(std::string_view text, uint64_t& devices);

// UNAVAILABLE for `cuda` and `hybrid` where no GPU can be used; FORKED.
Status make_engine(const char* name, uint32_t threads, Engine& engine);
Status default_engine(const Engine** engine);

// Of work whose number of workers is learned while it is done (engine/team_size.h).
struct Lesson {
  uint64_t kind = 0;             // which work that is; 0: nothing is learned
  uint16_t known = 0, most = 0;  // workers that experience has, more than one, and that there could be
  uint16_t workers = 0;          // that do it now; 1: the calling thread
  bool on_trial = false;         // whether those are not the best known ones
};

// The decision for one job.
struct Plan {
  Kind kind;         // not automatic
  uint32_t workers;  // 1 for serial
  aes::Stores stores;
  const char* why;  // static text that ends the sentence "N bytes ..."
  // What is known of the job by measurement; null: nothing.
  const tune::Row* row = nullptr;
  // What the work must be worth, in bytes, where the calling thread may do it all while the machine has no core to
  // spare for others; 0 where the workers were asked for.
  uint64_t at_stake = 0;
  bool by_row = false;  // the row has decided
  Lesson lesson = {};
};

// Where no profile knows better, each worker beyond the first must bring this much; shorter work stays on the calling
// thread unless workers are asked for.
inline constexpr uint64_t split_bytes = tune::fall_back.share;

// What is to be planned.
struct Task {
  tune::Operation operation;
  uint32_t bits;   // of the key; 0: nothing that experience could be had of
  uint64_t bytes;  // of work in all
  uint64_t parts;  // the most pieces it can be cut into
  bool in_place;   // whether output replaces input
  // The length by which experience is looked up, where that is not `bytes`.
  uint64_t length = 0;
  // A number, below 4096, of what the pace depends on besides: what is learned of work done another way is nothing to go by.
  uint16_t way = 0;
};

// Asks experience what an automatic engine does, and where stores go. What engines with GPUs do with the CPU is planned as
// for `threads`; their lanes are the business of engine/cuda.h.
Plan make_plan(const Engine& engine, const Task& task);

// Calls body(context, begin, end, worker) until [0, items) is covered, in runs of about `grain` items; workers are
// numbered from 0 to plan.workers - 1 and each runs one call at a time. Returns when all are done.
using Body = void (*)(void* context, uint64_t begin, uint64_t end, uint32_t worker);
void run(const Plan& plan, uint64_t items, uint64_t grain, Body body, void* context);

// The same with anything callable as body(begin, end, worker).
template <typename Callable>
void run(const Plan& plan, uint64_t items, uint64_t grain, Callable&& callable) {
  run(
      plan, items, grain,
      [](void* context, uint64_t begin, uint64_t end, uint32_t worker) {
        (*static_cast<std::remove_reference_t<Callable>*>(context))(begin, end, worker);
      },
      &callable);
}

// Whether what such work takes is of interest just now; and work() on the calling thread, against the clock.
bool listens(const Lesson& lesson);
void learn_alone(const Plan& plan, void (*work)(void* context), void* context);

// Where a plan has one worker: all of it, done by work() on the calling thread.
template <typename Work>
void run_alone(const Plan& plan, Work&& work) {
  if (plan.lesson.kind == 0 || !listens(plan.lesson)) return work();
  learn_alone(
      plan, [](void* context) { (*static_cast<std::remove_reference_t<Work>*>(context))(); }, &work);
}

// One file per engine; `run` picks by plan.kind.
void run_serial(uint64_t items, uint64_t grain, Body body, void* context);
void run_threads(const Plan& plan, uint64_t items, uint64_t grain, Body body, void* context);

}  // namespace stockade::engine
