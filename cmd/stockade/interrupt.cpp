#include "interrupt.h"

#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>

#include "ui.h"

namespace stockade::cmd::interrupt {
namespace {

std::atomic<int> caught = 0;
std::atomic<const char*> doomed = nullptr;
timer_t grace_timer;
bool have_timer = false;

// Handlers read these from any thread.
static_assert(std::atomic<int>::is_always_lock_free && std::atomic<const char*>::is_always_lock_free);

// Long enough for every worker to finish its piece, short enough for a person at the keyboard.
constexpr itimerspec grace = {.it_interval = {0, 0}, .it_value = {0, 300'000'000}};

[[noreturn]] void end_now() {
  if (const char* path = doomed.load()) unlink(path);
  ui::error_from_signal_handler(message, std::strlen(message));
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

void handle(int number, void (*handler)(int)) {
  struct sigaction action {};
  action.sa_handler = handler;
  sigemptyset(&action.sa_mask);
  // No SA_RESTART: a read that waits for a person or a pipe returns with EINTR.
  sigaction(number, &action, nullptr);
}

}  // namespace

const char message[] = "interrupted";

void install() {
  handle(SIGPIPE, SIG_IGN);
  handle(SIGXFSZ, SIG_IGN);
  handle(SIGALRM, on_grace_over);
  sigevent event{};
  event.sigev_notify = SIGEV_SIGNAL;
  event.sigev_signo = SIGALRM;
  have_timer = timer_create(CLOCK_MONOTONIC, &event, &grace_timer) == 0;
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction inherited {};
    sigaction(number, nullptr, &inherited);
    if (inherited.sa_handler != SIG_IGN) handle(number, on_request);
  }
}

bool requested() { return caught.load() != 0; }

int exit_status() { return 128 + caught.load(); }

void remove_at_end(const char* path) { doomed.store(path); }

}  // namespace stockade::cmd::interrupt
