#include "interrupt.h"

#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <climits>
#include <cstring>

#include "ui.h"

namespace stockade::cmd::interrupt {
namespace {

std::atomic<int> caught = 0;
std::atomic<bool> report_wanted = false;
std::atomic<bool> said = false;  // that it was interrupted
// The handler reads the paths of slots that are `set` while other threads go on, so they are copies that stay where they are.
struct DoomedSlot {
  enum State : int { free, busy, set };
  std::atomic<int> state = free;
  char path[PATH_MAX];
};
DoomedSlot doomed[max_doomed];
// From here on no slot is written to any more.
std::atomic<bool> ending = false;
std::atomic<const void*> terminal = nullptr;
std::atomic<const char*> hint_text = nullptr;
timer_t grace_timer;
bool have_timer = false;

// Handlers read these from any thread.
static_assert(std::atomic<int>::is_always_lock_free && std::atomic<const char*>::is_always_lock_free);

// Long enough for every worker to finish its piece, short enough for a person at the keyboard.
constexpr itimerspec grace = {.it_interval = {0, 0}, .it_value = {0, 300'000'000}};

}  // namespace

void restore_terminal() {
  const auto* saved = static_cast<const TerminalGuard::Saved*>(terminal.load());
  if (saved != nullptr) tcsetattr(saved->fd, TCSANOW, &saved->settings);
}

namespace {

[[noreturn]] void end_now() {
  ending.store(true);
  for (const DoomedSlot& slot : doomed) {
    if (slot.state.load() == DoomedSlot::set) unlink(slot.path);
  }
  restore_terminal();
  if (said.exchange(true)) {
    // Somebody else is saying it.
    constexpr timespec moment = {0, 200'000'000};
    nanosleep(&moment, nullptr);
  } else {
    ui::end_from_signal_handler(message, hint_text.load());
  }
  _exit(exit_status());
}

void on_request(int number) {
  const int saved = errno;
  int none = 0;
  if (!caught.compare_exchange_strong(none, number) || !have_timer) end_now();
  timer_settime(grace_timer, 0, &grace, nullptr);
  errno = saved;
}

void on_grace_over(int) { end_now(); }

void on_report(int) { report_wanted.store(true); }

void handle(int number, void (*handler)(int), int flags = 0) {
  struct sigaction action {};
  action.sa_handler = handler;
  action.sa_flags = flags;
  sigemptyset(&action.sa_mask);
  sigaction(number, &action, nullptr);
}

}  // namespace

const char message[] = "interrupted";

void install() {
  handle(SIGPIPE, SIG_IGN);
  handle(SIGXFSZ, SIG_IGN);
  handle(SIGALRM, on_grace_over);
  handle(SIGUSR1, on_report, SA_RESTART);
  sigevent event{};
  event.sigev_notify = SIGEV_SIGNAL;
  event.sigev_signo = SIGALRM;
  have_timer = timer_create(CLOCK_MONOTONIC, &event, &grace_timer) == 0;
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction inherited {};
    sigaction(number, nullptr, &inherited);
    // No SA_RESTART: a read that waits for a person or a pipe returns with EINTR.
    if (inherited.sa_handler != SIG_IGN) handle(number, on_request);
  }
}

bool requested() { return caught.load() != 0; }

void answer() {
  signal(SIGALRM, SIG_IGN);
  // Further signals wait until it has been said, in this thread; in others end_now waits.
  sigset_t requests, before;
  sigemptyset(&requests);
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&requests, number);
  pthread_sigmask(SIG_BLOCK, &requests, &before);
  if (!said.exchange(true)) {
    ui::error(message);
    if (const char* text = hint()) ui::hint(text);
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

int exit_status() { return 128 + caught.load(); }

bool take_report_request() { return report_wanted.load(std::memory_order_relaxed) && report_wanted.exchange(false); }

Doomed::Doomed(const char* path) : slot_(max_doomed) {
  const size_t length = std::strlen(path);
  for (size_t i = 0; i < max_doomed && length < sizeof doomed[i].path; ++i) {
    int none = DoomedSlot::free;
    if (!doomed[i].state.compare_exchange_strong(none, DoomedSlot::busy)) continue;
    // A handler that has seen the slot's former path may still be reading it. Then the process ends, and this thread with it.
    while (ending.load()) pause();
    std::memcpy(doomed[i].path, path, length + 1);
    doomed[i].state.store(DoomedSlot::set);
    slot_ = i;
    return;
  }
}

Doomed::~Doomed() {
  if (slot_ < max_doomed) doomed[slot_].state.store(DoomedSlot::free);
}

TerminalGuard::TerminalGuard(int fd, const termios& settings) : saved_{fd, settings} { terminal.store(&saved_); }

TerminalGuard::~TerminalGuard() { terminal.store(nullptr); }

void set_hint(const char* text) { hint_text.store(text); }

const char* hint() { return hint_text.load(); }

}  // namespace stockade::cmd::interrupt
