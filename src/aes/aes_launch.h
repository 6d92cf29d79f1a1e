// Which table kernel runs, and on which grid: a template over the launcher (gpu/launch.h), so that the emulator runs the
// choices that a GPU runs.
#pragma once

#include <algorithm>
#include <cstring>

#include "aes/aes_bitslice_launch.h"
#include "aes/aes_cuda.h"
#include "aes/aes_table_kernels.h"
#include "base/bytes.h"
#include "base/field128.h"
#include "base/secret.h"
#include "gpu/launch.h"

namespace stockade::aes {

// SP 800-38E §4: a data unit has at most 2^20 blocks. The tables of powers (TweakKernel) end there.
inline constexpr uint64_t longest_unit = uint64_t{1} << 24;

// ---- plans ----

inline uint64_t divide_up(uint64_t n, uint64_t by) { return n / by + (n % by != 0); }

// A shape that kernels can be given.
inline gpu::Shape usable_shape(const gpu::Shape& shape) {
  gpu::Shape usable;
  usable.blocks_per_thread = shape.blocks_per_thread >= 4 ? 4 : shape.blocks_per_thread >= 2 ? 2 : 1;
  usable.threads = std::clamp(shape.threads / 32 * 32, 32u, 1024u);
  usable.blocks_per_multiprocessor = std::max(shape.blocks_per_multiprocessor, 1u);
  return usable;
}

// The kernel's form for a launch: what it is a template over, but for the rounds.
struct TableForm {
  Layout layout;
  uint32_t blocks;  // of a thread
  bool aligned;
  uint32_t threads;        // of a thread block
  uint64_t thread_blocks;  // at most

  uint64_t warps() const { return thread_blocks * (threads / 32); }
};

inline bool is_aligned(const void* pointer) { return reinterpret_cast<uintptr_t>(pointer) % 16 == 0; }

// A message of `length` bytes (not 0) is worked on by as many warps as it can occupy; only if every warp has a tile of its
// own does a thread get more than one block at a time.
inline TableForm table_form(const gpu::Queue& queue, const gpu::Shape& shape, bool aligned, uint64_t length) {
  const gpu::Shape usable = usable_shape(shape);
  TableForm form;
  form.layout = queue.shared_bytes >= table_bytes(Layout::four) ? Layout::four : Layout::two;
  form.aligned = aligned;
  form.thread_blocks = uint64_t{std::max(queue.multiprocessors, 1u)} * usable.blocks_per_multiprocessor;
  // Instances on two tables stop at two blocks: such devices have 64 registers for each of their threads.
  form.blocks = aligned ? usable.blocks_per_thread : 1;
  if (form.layout == Layout::two) form.blocks = std::min(form.blocks, 2u);
  form.threads = std::min(usable.threads, table_kernel_threads(form.blocks));
  while (form.blocks > 1 && length / (512 * form.blocks) < form.warps()) form.blocks /= 2;
  return form;
}

// The last run ends where `message_blocks` counters from `counter` on end. What a run costs beside its blocks is weighed
// against warps that wait for the last ones.
inline CtrPlan ctr_plan(const TableForm& form, const uint8_t counter[16], CounterWidth width, uint64_t length) {
  CtrPlan plan;
  plan.width = width;
  const uint64_t message_blocks = divide_up(length, 16);
  const Counter first = {load_be64(counter), load_be64(counter + 8)};
  double least_time = 0;
  for (uint32_t groups = 1; groups <= 32; groups *= 2) {
    const auto skip = static_cast<uint32_t>(first.low % (256 * groups));
    const uint64_t parts = divide_up(skip + message_blocks, 256 * groups) * (8 / form.blocks);
    // In lookups of a thread: counter_common and counter_varying once, then full blocks.
    const double part_time = 33 + 5 * form.blocks + 137 * form.blocks * groups;
    const auto warps = static_cast<double>(form.warps());
    const double time = part_time * std::max(static_cast<double>(parts) + warps / 2, warps);
    if (groups > 1 && time >= least_time) continue;
    least_time = time;
    plan.skip = skip;
    plan.groups_per_run = groups;
    plan.parts = parts;
    // Where warps have a part each at most, longer runs would leave more of them without one.
    if (2 * parts <= form.warps()) break;
  }
  plan.base = {first.high, first.low - plan.skip};
  return plan;
}

inline ChainedPlan chained_plan(const TableForm& form, uint64_t length) {
  const uint64_t tiles = divide_up(length, 512 * form.blocks);
  const uint64_t runs = std::min(tiles, form.warps());
  return {runs, tiles / runs, tiles % runs};
}

// Pieces are as long as leaves enough of them for all warps, and runs as long as the longest piece.
inline XtsPlan xts_plan(const TableForm& form, uint64_t unit, uint64_t length) {
  XtsPlan plan;
  plan.unit = std::min(unit, length);
  plan.length = length;
  plan.full_units = length / plan.unit;
  const uint64_t last_bytes = length % plan.unit;
  // The last whole block counts here even if it shares ciphertext stealing: in a shorter last unit it may not.
  const uint64_t unit_rows = divide_up(plan.unit / 16, 32);
  const uint64_t last_rows = divide_up(last_bytes == 0 ? 0 : XtsPlan::row_blocks(last_bytes), 32);
  const uint64_t rows = plan.full_units * unit_rows + last_rows;
  constexpr uint64_t most_pieces = uint64_t{piece_powers} * piece_powers;
  uint32_t rows_per_run = 32;
  while (rows_per_run > form.blocks && rows / rows_per_run < 2 * form.warps()) rows_per_run /= 2;
  plan.rows_per_piece = rows_per_run;
  while (divide_up(unit_rows, plan.rows_per_piece) > most_pieces) plan.rows_per_piece *= 2;
  plan.pieces_per_unit = static_cast<uint32_t>(divide_up(unit_rows, plan.rows_per_piece));
  plan.pieces = plan.full_units * plan.pieces_per_unit + divide_up(last_rows, plan.rows_per_piece);
  const uint64_t rows_of_piece = std::max<uint64_t>(std::min<uint64_t>(unit_rows, plan.rows_per_piece), 1);
  plan.pieces_per_run = static_cast<uint32_t>(std::max<uint64_t>(rows_per_run / rows_of_piece, 1));
  plan.runs = divide_up(plan.pieces, plan.pieces_per_run);
  plan.first_steal = plan.unit % 16 != 0 ? 0 : plan.full_units;
  const bool last_steals = last_bytes % 16 != 0;
  plan.steals = (plan.unit % 16 != 0 ? plan.full_units : 0) + (last_steals ? 1 : 0);
  return plan;
}

// ---- choosing an instance ----

// Calls run.template operator()<layout, rounds, blocks, aligned>() for the form and the number of rounds. AES-192 shares the
// instances that count their rounds, and so do all where data is not aligned: there, bytes are what takes the time.
template <Layout layout, typename Run>
Status with_form(const TableForm& form, uint32_t rounds, const Run& run) {
  if (!form.aligned) return run.template operator()<layout, any_rounds, 1, false>();
  const auto with_rounds = [&]<uint32_t blocks>() {
    if (rounds == 10) return run.template operator()<layout, 10, blocks, true>();
    if (rounds == 14) return run.template operator()<layout, 14, blocks, true>();
    return run.template operator()<layout, any_rounds, blocks, true>();
  };
  if constexpr (layout == Layout::four) {
    if (form.blocks == 4) return with_rounds.template operator()<4>();
  }
  if (form.blocks == 2) return with_rounds.template operator()<2>();
  return with_rounds.template operator()<1>();
}

template <typename Run>
Status with_instance(const gpu::Queue& queue, const TableForm& form, uint32_t rounds, const Run& run) {
  if (queue.shared_bytes < table_bytes(form.layout)) return STOCKADE_ERROR_DEVICE;
  if (form.layout == Layout::four) return with_form<Layout::four>(form, rounds, run);
  return with_form<Layout::two>(form, rounds, run);
}

// One warp at least for each of `warps` pieces of work, spread over the multiprocessors.
inline gpu::Grid table_grid(const TableForm& form, uint64_t warps) {
  const auto blocks = static_cast<uint32_t>(std::min(form.thread_blocks, warps));
  return {blocks, form.threads, table_bytes(form.layout)};
}

// For kernels that give a thread one of `items` at a time.
template <typename Kernel>
gpu::Grid item_grid(const gpu::Queue& queue, uint64_t items) {
  const uint64_t blocks =
      std::min<uint64_t>(std::max(queue.multiprocessors, 1u), divide_up(items, Kernel::max_threads));
  return {static_cast<uint32_t>(blocks), Kernel::max_threads, gpu::least_shared_bytes<Kernel>};
}

inline gpu::Quad quad_of(const uint8_t bytes[16]) {
  gpu::Quad quad;
  std::memcpy(quad.w, bytes, 16);
  return quad;
}

inline gpu::Quad quad_of(Field128 element) {
  uint8_t bytes[16];
  store_xts(bytes, element);
  return quad_of(bytes);
}

// ---- the operations ----

// The entry points of GpuKernels. `Start::on(queue)` is the launcher for a queue.
template <typename Start>
struct TableLaunches {
  // The kernel's own copy of the round keys is wiped; the launch has taken another.
  template <typename Kernel>
  static Status start(const gpu::Queue& queue, const gpu::Grid& grid, Kernel&& kernel) {
    const Status status = Start::on(queue).run(grid, kernel);
    wipe(&kernel, sizeof kernel);
    return status;
  }

  template <Cipher cipher>
  static Status ecb(const gpu::Queue& queue, const gpu::Shape& shape, const RoundKeys& keys, const uint8_t* in,
                    uint8_t* out, uint64_t length) {
    if (length < 16) return STOCKADE_OK;
    const TableForm form = table_form(queue, shape, is_aligned(in) && is_aligned(out), length);
    const uint64_t tiles = divide_up(length, 512 * form.blocks);
    return with_instance(
        queue, form, keys.rounds, [&]<Layout layout, uint32_t rounds, uint32_t blocks, bool aligned>() {
          return start(queue, table_grid(form, tiles),
                       EcbTableKernel<cipher, layout, rounds, blocks, aligned>{keys, in, out, length, tiles});
        });
  }

  static Status ctr(const gpu::Queue& queue, const gpu::Shape& shape, const RoundKeys& keys, const uint8_t counter[16],
                    CounterWidth width, const uint8_t* in, uint8_t* out, uint64_t length, const uint32_t* refused) {
    if (length == 0) return STOCKADE_OK;
    const TableForm form = table_form(queue, shape, is_aligned(in) && is_aligned(out), length);
    const CtrPlan plan = ctr_plan(form, counter, width, length);
    return with_instance(
        queue, form, keys.rounds, [&]<Layout layout, uint32_t rounds, uint32_t blocks, bool aligned>() {
          return start(queue, table_grid(form, plan.parts),
                       CtrTableKernel<layout, rounds, blocks, aligned>{keys, plan, in, out, length, refused});
        });
  }

  static Status ctr_bitsliced(const gpu::Queue& queue, const gpu::Shape& shape, const RoundKeys& keys,
                              const uint8_t counter[16], CounterWidth width, const uint8_t* in, uint8_t* out,
                              uint64_t length, const uint32_t* refused) {
    return launch_ctr_bitsliced(Start::on(queue), queue, shape, keys, counter, width, in, out, length, refused);
  }

  template <Cipher cipher>
  static Status chained(const gpu::Queue& queue, const gpu::Shape& shape, const RoundKeys& keys, const uint8_t iv[16],
                        const uint8_t* in, uint8_t* out, uint64_t length, uint8_t* workspace) {
    if (length == 0) return STOCKADE_OK;
    const TableForm form = table_form(queue, shape, is_aligned(in) && is_aligned(out), length);
    const ChainedPlan plan = chained_plan(form, length);
    const uint8_t* saved = nullptr;
    if (in == out && plan.runs > 1) {
      saved = workspace;
      const Status status = start(queue, item_grid<SaveBlocksKernel>(queue, plan.runs),
                                  SaveBlocksKernel{plan, 512 * form.blocks, in, workspace});
      if (status != STOCKADE_OK) return status;
    }
    return with_instance(queue, form, keys.rounds,
                         [&]<Layout layout, uint32_t rounds, uint32_t blocks, bool aligned>() {
                           return start(queue, table_grid(form, plan.runs),
                                        ChainedTableKernel<cipher, layout, rounds, blocks, aligned>{
                                            keys, plan, quad_of(iv), in, out, length, saved});
                         });
  }

  // Tweaks first, then rows, then what shares ciphertext stealing. (AES-192 works, though IEEE 1619 §5.1 has no such XTS.)
  template <Cipher cipher>
  static Status xts(const gpu::Queue& queue, const gpu::Shape& shape, const RoundKeys& data, const RoundKeys& tweak,
                    const uint8_t number[16], uint64_t unit, const uint8_t* in, uint8_t* out, uint64_t length,
                    uint8_t* workspace) {
    if (length == 0) return STOCKADE_OK;
    if (unit < 16 || unit > longest_unit || (length % unit != 0 && length % unit < 16))
      return STOCKADE_ERROR_DATA_LENGTH;
    // A unit that is no multiple of 16 bytes takes those behind it out of step.
    const bool aligned = is_aligned(in) && is_aligned(out) && (unit % 16 == 0 || length <= unit);
    const TableForm form = table_form(queue, shape, aligned, length);
    const XtsPlan plan = xts_plan(form, unit, length);
    Status status = make_tweaks(queue, tweak, number, plan, workspace);
    if (status == STOCKADE_OK && plan.runs > 0) {
      status =
          with_instance(queue, form, data.rounds, [&]<Layout layout, uint32_t rounds, uint32_t blocks, bool whole>() {
            return start(queue, table_grid(form, plan.runs),
                         XtsTableKernel<cipher, layout, rounds, blocks, whole>{data, plan, in, out, workspace});
          });
    }
    if (status != STOCKADE_OK || plan.steals == 0) return status;
    using Kernel = StealKernel<cipher>;
    return start(queue, item_grid<Kernel>(queue, plan.steals),
                 Kernel{data, plan, in, out, workspace + 16 * plan.pieces});
  }

  static Status make_tweaks(const gpu::Queue& queue, const RoundKeys& keys, const uint8_t number[16],
                            const XtsPlan& plan, uint8_t* workspace) {
    if (queue.shared_bytes < TweakKernel::shared_bytes) return STOCKADE_ERROR_DEVICE;
    TweakKernel kernel{};
    kernel.keys = keys;
    kernel.plan = plan;
    kernel.tweaks = workspace;
    kernel.number_low = load_le64(number);
    kernel.number_high = load_le64(number + 8);
    if (plan.pieces_per_unit > 1) {
      set_powers(kernel.low, 32 * plan.rows_per_piece, plan.pieces_per_unit);
      set_powers(kernel.high, 32 * plan.rows_per_piece * piece_powers, plan.pieces_per_unit / piece_powers + 1);
    }
    const auto last_block = [](uint64_t bytes) { return quad_of(power_of_x(bytes < 16 ? 0 : bytes / 16 - 1)); };
    kernel.steal = last_block(plan.unit);
    kernel.last_steal = last_block(plan.length % plan.unit);
    return start(queue, item_grid<TweakKernel>(queue, plan.pieces + plan.steals), kernel);
  }

  // powers[i] = a^(i · step) for i up to `count`.
  static void set_powers(gpu::Quad (&powers)[piece_powers], uint64_t step, uint64_t count) {
    const Field128 factor = power_of_x(step);
    Field128 power{1, 0};
    for (uint64_t i = 0; i < std::min<uint64_t>(piece_powers, count); ++i, power = multiply(power, factor)) {
      powers[i] = quad_of(power);
    }
  }

  static constexpr GpuKernels kernels = {
      .ecb_encrypt = ecb<Cipher::forward>,
      .ecb_decrypt = ecb<Cipher::inverse>,
      .ctr = ctr,
      .cbc_decrypt = chained<Cipher::inverse>,
      .cfb_decrypt = chained<Cipher::forward>,
      .xts_encrypt = xts<Cipher::forward>,
      .xts_decrypt = xts<Cipher::inverse>,
      .ctr_bitsliced = ctr_bitsliced,
  };
};

}  // namespace stockade::aes
