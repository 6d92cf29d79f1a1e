#include "gpu/emulator.h"

#if !defined(__x86_64__)
#include <ucontext.h>
#endif

#include <algorithm>
#include <array>
#include <cstring>
#include <exception>
#include <numeric>
#include <random>
#include <stdexcept>

#include "base/sanitizers.h"

#if STOCKADE_ADDRESS_SANITIZER
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

namespace stockade::gpu {

namespace {

constexpr size_t stack_bytes = size_t{256} << 10;

struct Stack {
  std::unique_ptr<uint8_t[]> bytes;
  void* fake = nullptr;  // AddressSanitizer's, for variables whose address is taken
};

// Those of fibres that have ended, for others to come: making them anew would take longer than most kernels.
thread_local std::vector<Stack> free_stacks;

Stack take_stack() {
  if (free_stacks.empty()) return {std::make_unique_for_overwrite<uint8_t[]>(stack_bytes)};
  Stack stack = std::move(free_stacks.back());
  free_stacks.pop_back();
  return stack;
}

void give_back(Stack stack) {
#if STOCKADE_ADDRESS_SANITIZER
  // The functions at its top that never returned have left their marks there.
  constexpr size_t marked = 8192;
  __asan_unpoison_memory_region(stack.bytes.get() + stack_bytes - marked, marked);
#endif
  free_stacks.push_back(std::move(stack));
}

[[noreturn]] void fail(const char* what) { throw std::logic_error(what); }

void check_aligned(const void* at) {
  if (reinterpret_cast<uintptr_t>(at) % 16 != 0) fail("a 16-byte access is not aligned");
}

// Where something goes on that was left, on a stack of its own. `prepare` has `entry`, which must never return, begin there;
// `go` leaves the caller in `from`. swapcontext would make two system calls each time, and have AddressSanitizer sweep the
// stack: nine tenths of what a kernel takes.
#if defined(__x86_64__)
extern "C" void stockade_emulator_go(void** from, void* to);
asm(R"(
.pushsection .text
.hidden stockade_emulator_go
.globl stockade_emulator_go
.type stockade_emulator_go, @function
stockade_emulator_go:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
.size stockade_emulator_go, . - stockade_emulator_go
.popsection
)");

struct Context {
  void* stack_pointer = nullptr;

  void prepare(uint8_t* stack, void (*entry)()) {
    // System V ABI §3.2.2: a function finds its return address, here none, 8 bytes under a multiple of 16.
    auto* top = reinterpret_cast<uint64_t*>((reinterpret_cast<uintptr_t>(stack) + stack_bytes) & ~uintptr_t{15});
    std::fill(top - 8, top, 0);
    top[-2] = reinterpret_cast<uintptr_t>(entry);
    stack_pointer = top - 8;
  }
  static void go(Context& from, const Context& to) { stockade_emulator_go(&from.stack_pointer, to.stack_pointer); }
};
#else
struct Context {
  ucontext_t context;

  void prepare(uint8_t* stack, void (*entry)()) {
    getcontext(&context);
    context.uc_stack.ss_sp = stack;
    context.uc_stack.ss_size = stack_bytes;
    context.uc_link = nullptr;
    makecontext(&context, entry, 0);
  }
  static void go(Context& from, const Context& to) { swapcontext(&from.context, &to.context); }
};
#endif

// Those who wait for one another: whoever completes the number lets all go on.
struct Barrier {
  uint32_t arrived = 0;
  uint64_t generation = 0;
};

}  // namespace

class EmulatedBlock {
 public:
  EmulatedBlock(const Grid& grid, uint32_t block, const std::function<void(const EmulatedThread&)>& body,
                std::mt19937_64& random)
      : grid_(grid),
        block_(block),
        body_(body),
        random_(random),
        shared_(grid.shared_bytes / 16 + 1),
        fibres_(grid.threads),
        warps_(grid.threads / 32) {
    // What a kernel finds there is nothing to rely on. It is much: a better generator would take longer than most kernels.
    std::linear_congruential_engine<uint64_t, 6364136223846793005, 1442695040888963407, 0> noise(random_());
    for (Quad& quad : shared_) {
      for (uint32_t& word : quad.w) word = static_cast<uint32_t>(noise() >> 32);
    }
  }

  ~EmulatedBlock() {
    for (Fibre& fibre : fibres_) {
      if (fibre.done) give_back(std::move(fibre.stack));
    }
  }

  void run() {
    for (uint32_t i = 0; i < grid_.threads; ++i) start(i);
    std::vector<uint32_t> order(grid_.threads);
    std::iota(order.begin(), order.end(), 0u);
    while (finished_ < grid_.threads) {
      std::shuffle(order.begin(), order.end(), random_);
      const uint64_t before = progress_;
      for (const uint32_t i : order) {
        if (!fibres_[i].done && ready(fibres_[i])) resume(i);
        if (error_) std::rethrow_exception(error_);
      }
      if (progress_ == before) fail("threads wait for others that do not come");
    }
  }

  uint8_t* shared() { return reinterpret_cast<uint8_t*>(shared_.data()); }
  uint32_t shared_word(uint32_t offset) {
    if (offset % 4 != 0 || offset + 4 > grid_.shared_bytes) fail("a word outside the shared memory");
    uint32_t word;
    std::memcpy(&word, shared() + offset, 4);
    return word;
  }

  void meet_block(uint32_t thread) { meet(thread, barriers_[0], grid_.threads); }
  void meet_some(uint32_t thread, uint32_t barrier, uint32_t count) {
    if (barrier == 0 || barrier > 15 || count % 32 != 0) fail("no such barrier");
    meet(thread, barriers_[barrier], count);
  }
  void meet_warp(uint32_t thread) { meet(thread, warps_[thread / 32].barrier, 32); }

  // Everyone of the warp gives `words` and gets to see what all gave.
  template <typename See>
  void exchange(uint32_t thread, const std::array<uint32_t, 4>& words, See&& see) {
    Warp& warp = warps_[thread / 32];
    warp.given[thread % 32] = words;
    meet_warp(thread);
    see(warp.given);
    meet_warp(thread);
  }

 private:
  struct Fibre {
    Context context;
    Stack stack;
    Barrier* waits_for = nullptr;
    uint64_t generation = 0;
    bool done = false;
  };
  // Whom a fibre that has not begun yet belongs to.
  struct Beginning {
    EmulatedBlock* block;
    uint32_t fibre;
  };
  struct Warp {
    Barrier barrier;
    std::array<std::array<uint32_t, 4>, 32> given;
  };

  static bool ready(const Fibre& fibre) {
    return fibre.waits_for == nullptr || fibre.waits_for->generation != fibre.generation;
  }

  void start(uint32_t i) {
    fibres_[i].stack = take_stack();
    fibres_[i].context.prepare(fibres_[i].stack.bytes.get(), &EmulatedBlock::enter);
  }

  static void enter() {
    EmulatedBlock& block = *beginning_.block;
    const uint32_t i = beginning_.fibre;
    block.arrived(i);
    try {
      block.body_(EmulatedThread(block, i, block.grid_.threads, block.block_, block.grid_.blocks));
    } catch (...) {
      block.error_ = std::current_exception();
    }
    block.fibres_[i].done = true;
    ++block.finished_;
    ++block.progress_;
    block.leave(i);
  }

  void meet(uint32_t thread, Barrier& barrier, uint32_t count) {
    ++progress_;
    if (++barrier.arrived == count) {
      barrier.arrived = 0;
      ++barrier.generation;
      return;
    }
    Fibre& fibre = fibres_[thread];
    fibre.waits_for = &barrier;
    fibre.generation = barrier.generation;
    leave(thread);
    fibre.waits_for = nullptr;
  }

  void go_to(uint32_t i) {
    beginning_ = {this, i};
    Context::go(scheduler_, fibres_[i].context);
  }

  // The sanitizer must be told whose stack comes next.
#if STOCKADE_ADDRESS_SANITIZER
  void resume(uint32_t i) {
    __sanitizer_start_switch_fiber(&scheduler_fake_stack_, fibres_[i].stack.bytes.get(), stack_bytes);
    go_to(i);
    __sanitizer_finish_switch_fiber(scheduler_fake_stack_, nullptr, nullptr);
  }
  void arrived(uint32_t i) {
    __sanitizer_finish_switch_fiber(fibres_[i].stack.fake, &scheduler_stack_, &scheduler_stack_size_);
  }
  void leave(uint32_t i) {
    __sanitizer_start_switch_fiber(&fibres_[i].stack.fake, scheduler_stack_, scheduler_stack_size_);
    Context::go(fibres_[i].context, scheduler_);
    arrived(i);
  }
  void* scheduler_fake_stack_ = nullptr;
  const void* scheduler_stack_ = nullptr;
  size_t scheduler_stack_size_ = 0;
#else
  void resume(uint32_t i) { go_to(i); }
  void arrived(uint32_t) {}
  void leave(uint32_t i) { Context::go(fibres_[i].context, scheduler_); }
#endif

  static thread_local Beginning beginning_;

  const Grid& grid_;
  const uint32_t block_;
  const std::function<void(const EmulatedThread&)>& body_;
  std::mt19937_64& random_;
  std::vector<Quad> shared_;
  std::vector<Fibre> fibres_;
  std::vector<Warp> warps_;
  std::array<Barrier, 16> barriers_;
  Context scheduler_;
  uint32_t finished_ = 0;
  uint64_t progress_ = 0;
  std::exception_ptr error_;
};

thread_local EmulatedBlock::Beginning EmulatedBlock::beginning_;

uint8_t* EmulatedThread::shared() const { return home_->shared(); }
uint32_t EmulatedThread::shared_word(uint32_t offset) const { return home_->shared_word(offset); }
void EmulatedThread::sync_block() const { home_->meet_block(index); }
void EmulatedThread::sync_warp() const { home_->meet_warp(index); }
void EmulatedThread::sync_some(uint32_t barrier, uint32_t count) const { home_->meet_some(index, barrier, count); }

uint32_t EmulatedThread::shuffle(uint32_t value, uint32_t lane) const {
  uint32_t result = 0;
  home_->exchange(index, {value}, [&](const auto& given) { result = given[lane % 32][0]; });
  return result;
}

uint32_t EmulatedThread::ballot(uint32_t value) const {
  uint32_t result = 0;
  home_->exchange(index, {value}, [&](const auto& given) {
    for (uint32_t i = 0; i < 32; ++i) result |= static_cast<uint32_t>(given[i][0] != 0) << i;
  });
  return result;
}

Quad EmulatedThread::load_quad(const uint8_t* at) const {
  check_aligned(at);
  Quad quad;
  std::memcpy(&quad, at, sizeof quad);
  return quad;
}

void EmulatedThread::store_quad(uint8_t* at, Quad quad) const {
  check_aligned(at);
  std::memcpy(at, &quad, sizeof quad);
}

uint32_t EmulatedThread::atomic_add(uint32_t* at, uint32_t value) const {
  const uint32_t before = *at;
  *at += value;
  return before;
}

uint32_t EmulatedThread::atomic_xor(uint32_t* at, uint32_t value) const {
  const uint32_t before = *at;
  *at ^= value;
  return before;
}

void EmulatedThread::multiply_bits(BitSums& sums, const uint32_t (&a)[4], uint32_t offset, bool accumulate) const {
  if (offset % 128 != 0) fail("a matrix is not aligned");
  const uint32_t g = index % 32 / 4, s = index % 4;
  home_->exchange(index, {a[0], a[1], a[2], a[3]}, [&](const auto& given) {
    for (uint32_t i = 0; i < 64; ++i) {
      const uint32_t column = i / 4 * 8 + 2 * s + i % 2;
      const uint32_t lower_row = i / 2 % 2;  // whether it is row g + 8
      uint32_t ones = 0;
      for (uint32_t word = 0; word < 8; ++word) {
        const uint32_t row_bits = given[4 * g + word % 4][2 * (word / 4) + lower_row];
        ones += count_ones(row_bits & home_->shared_word(offset + bit_matrix_offset(column, word)));
      }
      sums.sum[i] = ones + (accumulate ? sums.sum[i] : 0);
    }
  });
}

void emulate(const Grid& grid, const std::function<void(const EmulatedThread&)>& body, uint64_t seed) {
  if (grid.threads == 0 || grid.threads % 32 != 0) fail("a block is made of whole warps");
  std::mt19937_64 random(seed);
  for (uint32_t block = 0; block < grid.blocks; ++block) EmulatedBlock(grid, block, body, random).run();
}

}  // namespace stockade::gpu
