#include "parallel/thread_pool.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <chrono>
#include <mutex>

#include "base/forks.h"
#include "cpu/machine.h"
#include "parallel/no_signals.h"

namespace stockade::parallel {

namespace {

constexpr uint32_t most_members = 1024, members_per_word = 64, words = most_members / members_per_word;

int64_t now() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

void relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

class Job;

// A thread. Who has taken its bit out of `free_members` may post a job to it; it comes in if that has not been withdrawn.
struct Member {
  // idle -> posted -> inside -> idle. A caller withdraws by posted -> idle, and goes to sleep by inside -> awaited.
  enum State : uint32_t { idle, posted, inside, awaited };
  alignas(64) std::atomic<uint32_t> state{idle};
  uint32_t number = 0;
  Job* job = nullptr;
  // In a line of its own: callers look at it much more often than it changes.
  alignas(64) std::atomic<uint32_t> asleep{0};
};

// Never destroyed: threads may look at them until the process is gone.
constinit Member members[most_members];
constinit std::atomic<uint64_t> free_members[words];
constinit std::atomic<uint32_t> existing{0};
constinit std::mutex starting;
// After a thread could not be started nobody tries until then.
constinit std::atomic<int64_t> no_start_before{0};
// Whose threads they are. They do not survive fork(), and those that a child believed in would never come.
constinit std::atomic<uint64_t> team_process{0};
// Whether this thread is at work in a team.
constinit thread_local bool in_team = false;

class Job {
 public:
  Job(PoolWork work, void* context) : work_(work), context_(context) {}

  // Up to `count` members that are free; the number of those that it has then.
  uint32_t claim(uint32_t count);
  void post();
  void finish();
  // On a member's thread.
  void take_part(uint32_t number) {
    if (sleepers_.load(std::memory_order_acquire)) wake_some();
    work_(context_, number);
  }

 private:
  void wake_some();

  const PoolWork work_;
  void* const context_;
  uint32_t claimed_ = 0;
  // To wake a thread takes microseconds, so one that has been woken wakes others.
  std::atomic<bool> sleepers_{false};
  std::atomic<uint32_t> next_to_wake_{0};
  uint16_t mine_[most_members];
};

void wake(Member& member) {
  if (member.asleep.load(std::memory_order_relaxed) != 0 && member.asleep.exchange(0) != 0) member.asleep.notify_one();
}

// Until there is a job.
void wait_for_job(Member& member) {
  constexpr uint32_t between_looks_at_clock = 64;
  // More of them than cores would only be in each other's way.
  const int64_t patience = &member - members + 1 < cpu::machine().cores ? pool_patience : pool_patience / 100;
  int64_t begun = 0;
  for (uint32_t i = 1; member.state.load(std::memory_order_acquire) != Member::posted; ++i) {
    relax();
    if (i % between_looks_at_clock != 0) continue;
    const int64_t time = now();
    if (begun == 0) begun = time;
    if (time - begun < patience) {
      // Whoever else wants this core has it, and if nobody does that takes less than to wake up.
      if (time - begun > patience / 10) sched_yield();
      continue;
    }
    member.asleep.store(1, std::memory_order_relaxed);
    // Either the caller sees that it is asleep, or it sees that there is a job.
    std::atomic_thread_fence(std::memory_order_seq_cst);
    if (member.state.load(std::memory_order_acquire) != Member::posted) member.asleep.wait(1);
    member.asleep.store(0, std::memory_order_relaxed);
    begun = 0;
  }
}

void* live(void* argument) {
  Member& member = *static_cast<Member*>(argument);
  in_team = true;
  while (true) {
    wait_for_job(member);
    uint32_t state = Member::posted;
    if (!member.state.compare_exchange_strong(state, Member::inside, std::memory_order_acquire)) continue;
    member.job->take_part(member.number);
    // A full barrier: whether somebody waits is looked at after this, not before.
    if (member.state.exchange(Member::idle, std::memory_order_seq_cst) == Member::awaited) member.state.notify_one();
  }
}

// How members are started: where the process's first thread may run, and as an ordinary thread, whatever the caller that
// happens to need them first is bound to.
class Attributes {
 public:
  // Without `placed` they get what the caller has.
  explicit Attributes(bool placed) : made_(pthread_attr_init(&attributes_) == 0) {
    if (!made_) return;
    pthread_attr_setdetachstate(&attributes_, PTHREAD_CREATE_DETACHED);
    if (!placed) return;
    // The kernel refuses a set smaller than its own.
    cpu_set_t processors[8] = {};
    if (sched_getaffinity(getpid(), sizeof processors, processors) == 0)
      pthread_attr_setaffinity_np(&attributes_, sizeof processors, processors);
    const int policy = sched_getscheduler(0);
    if (policy == SCHED_FIFO || policy == SCHED_RR) pthread_attr_setinheritsched(&attributes_, PTHREAD_EXPLICIT_SCHED);
  }
  Attributes(const Attributes&) = delete;
  Attributes& operator=(const Attributes&) = delete;
  ~Attributes() {
    if (made_) pthread_attr_destroy(&attributes_);
  }

  bool start(Member& member) const {
    pthread_t thread;
    if (!made_ || pthread_create(&thread, &attributes_, live, &member) != 0) return false;
    pthread_setname_np(thread, "stockade");
    return true;
  }

 private:
  pthread_attr_t attributes_;
  const bool made_;
};

// So many more, as far as they can be had. Nobody waits for those that another caller is starting.
void start_members(uint32_t more) {
  if (existing.load(std::memory_order_relaxed) == most_members) return;
  if (now() < no_start_before.load(std::memory_order_relaxed)) return;
  const std::unique_lock lock(starting, std::try_to_lock);
  if (!lock.owns_lock()) return;
  // A member asks for that too, and must not be the first to.
  cpu::machine();
  const Attributes placed(true), as_caller(false);
  const NoSignals held;
  uint32_t number = existing.load(std::memory_order_relaxed);
  for (const uint32_t end = std::min(number + more, most_members); number < end; ++number) {
    if (!placed.start(members[number]) && !as_caller.start(members[number])) {
      constexpr int64_t a_second = 1'000'000'000;
      no_start_before.store(now() + a_second, std::memory_order_relaxed);
      break;
    }
    existing.store(number + 1, std::memory_order_release);
    free_members[number / members_per_word].fetch_or(uint64_t{1} << number % members_per_word,
                                                     std::memory_order_release);
  }
}

// Those with the lowest numbers first, so that the same data meets the same threads from call to call.
uint32_t Job::claim(uint32_t count) {
  const uint32_t used = (existing.load(std::memory_order_acquire) + members_per_word - 1) / members_per_word;
  for (uint32_t word = 0; word < used && claimed_ < count; ++word) {
    uint64_t found = free_members[word].load(std::memory_order_relaxed), taken;
    do {
      taken = 0;
      uint64_t left = found;
      for (uint32_t had = claimed_; left != 0 && had < count; ++had) {
        taken |= left & (~left + 1);
        left &= left - 1;
      }
    } while (taken != 0 && !free_members[word].compare_exchange_weak(found, found & ~taken, std::memory_order_acquire,
                                                                     std::memory_order_relaxed));
    for (; taken != 0; taken &= taken - 1) {
      mine_[claimed_++] =
          static_cast<uint16_t>(word * members_per_word + static_cast<uint32_t>(std::countr_zero(taken)));
    }
  }
  return claimed_;
}

void Job::post() {
  for (uint32_t i = 0; i < claimed_; ++i) {
    Member& member = members[mine_[i]];
    member.number = i + 1;
    member.job = this;
    member.state.store(Member::posted, std::memory_order_release);
  }
  std::atomic_thread_fence(std::memory_order_seq_cst);
  uint32_t asleep = 0;
  for (uint32_t i = 0; i < claimed_; ++i) asleep += members[mine_[i]].asleep.load(std::memory_order_relaxed);
  if (asleep == 0) return;
  sleepers_.store(true, std::memory_order_release);
  wake_some();
}

void Job::wake_some() {
  for (uint32_t woken = 0; woken < 3;) {
    const uint32_t next = next_to_wake_.fetch_add(1, std::memory_order_relaxed);
    if (next >= claimed_) return sleepers_.store(false, std::memory_order_relaxed);
    Member& member = members[mine_[next]];
    if (member.asleep.load(std::memory_order_relaxed) == 0) continue;
    wake(member);
    ++woken;
  }
}

// Who has not come by now is not waited for.
void Job::finish() {
  constexpr uint32_t looks = 2000;
  for (uint32_t i = 0; i < claimed_; ++i) {
    Member& member = members[mine_[i]];
    uint32_t state = member.state.load(std::memory_order_acquire);
    if (state == Member::posted && member.state.compare_exchange_strong(state, Member::idle, std::memory_order_acquire))
      state = Member::idle;
    for (uint32_t look = 0; state == Member::inside && look < looks; ++look) {
      relax();
      state = member.state.load(std::memory_order_acquire);
    }
    if (state == Member::inside &&
        member.state.compare_exchange_strong(state, Member::awaited, std::memory_order_acquire)) {
      while (member.state.load(std::memory_order_acquire) != Member::idle) member.state.wait(Member::awaited);
    }
  }
  for (uint32_t i = 0; i < claimed_;) {
    const uint32_t word = mine_[i] / members_per_word;
    uint64_t back = 0;
    for (; i < claimed_ && mine_[i] / members_per_word == word; ++i) back |= uint64_t{1} << mine_[i] % members_per_word;
    free_members[word].fetch_or(back, std::memory_order_release);
  }
}

}  // namespace

bool can_use_pool() noexcept {
  const uint64_t process = team_process.load(std::memory_order_relaxed);
  return !in_team && (process == 0 || process == process_number());
}

void run_on_pool(uint32_t workers, PoolWork work, void* context) noexcept {
  if (workers <= 1 || !can_use_pool()) return work(context, 0);
  team_process.store(process_number(), std::memory_order_relaxed);
  Job job(work, context);
  const uint32_t wanted = std::min(workers - 1, most_members);
  if (const uint32_t had = job.claim(wanted); had < wanted) {
    start_members(wanted - had);
    job.claim(wanted);
  }
  in_team = true;
  job.post();
  work(context, 0);
  in_team = false;
  // `work` may have called somebody who forked, and in the child nobody else is at work.
  if (can_use_pool()) job.finish();
}

}  // namespace stockade::parallel
