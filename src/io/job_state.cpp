#include "io/job_state.h"

#include <poll.h>

#include <cerrno>

namespace stockade::io {

void JobState::fail(Status status, int error) {
  const std::lock_guard lock(failure_mutex_);
  if (status_ != STOCKADE_OK) return;
  status_ = status;
  error_ = error;
  stopped_.store(true, std::memory_order_release);
}

Status JobState::failure(int* error) {
  const std::lock_guard lock(failure_mutex_);
  *error = error_;
  return status_;
}

void JobState::tick(bool now) {
  if (progress_ == nullptr) return;
  const std::unique_lock lock(progress_mutex_, std::try_to_lock);
  if (!lock.owns_lock() || stopped()) return;
  const Clock::time_point time = Clock::now();
  if (!now && time - last_ < interval_) return;
  last_ = time;
  const int wish = progress_(context_, done(), total_);
  // A process that was forked there must not seal what its parent seals.
  if (in_child()) {
    fail(STOCKADE_ERROR_FORKED);
  } else if (wish != 0) {
    fail(STOCKADE_ERROR_CANCELLED);
  }
}

bool await_ready(int fd, short event, JobState& state) {
  while (!state.stopped()) {
    pollfd entry{fd, event, 0};
    const int ready = ::poll(&entry, 1, static_cast<int>(patience.count()));
    if (ready > 0) return true;
    if (ready < 0 && errno != EINTR && errno != EAGAIN) {
      state.fail(STOCKADE_ERROR_IO, errno);
    } else {
      // An interruption may be the user's wish to stop, so it is not left to the interval.
      state.tick(ready < 0);
    }
  }
  return false;
}

}  // namespace stockade::io
